"""What many indices cost: `python3 tools/conform/indices.py [--count 1000] [--fields 100]`.

Makes empty indices one after the other, gives each so many fields, and prints what each step took,
what memory and disk came to, and how long answers about all of them take: each table of `_cat`, each
call of statistics, while the indices are open and when they are closed. The figures that are promised
stand beside those that were found; the exit code is 1 where one is not kept. A call is judged by the
best of several answers: what others do on the machine is not its cost.
"""

import argparse
import http.client
import json
import sys
import time
from pathlib import Path

from server import Server


def resident_mib(pid):
    """Memory of the process that is in use."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) / 1024
    return 0.0


def disk_mib(folder):
    """Room that the folder's files take on the disk."""
    return sum(file.stat().st_blocks * 512 for file in Path(folder).rglob("*") if file.is_file()) / 2**20


TABLES = [
    "aliases", "allocation", "component_templates", "count", "fielddata", "health", "indices", "master", "nodeattrs", "nodes",
    "pending_tasks", "plugins", "recovery", "repositories", "segments", "shards", "tasks", "templates", "thread_pool",
]

# Answers about all indices, or about what holds them.
CALLS = [
    *(f"/_cat/{table}" for table in TABLES),
    "/_cat/indices?h=*", "/_cat/shards?h=*", "/_cat/nodes?h=*",
    "/_stats", "/_stats?level=shards", "/_stats?level=cluster", "/_stats?forbid_closed_indices=false&expand_wildcards=all",
    "/_stats?forbid_closed_indices=false&expand_wildcards=all&level=shards",
    "/_cluster/stats", "/_nodes/stats", "/_nodes/stats?level=indices", "/_nodes/stats?level=shards", "/_nodes/usage",
    "/_data_stream/_stats", "/*/_field_usage_stats", "/_segments", "/_recovery", "/_prometheus",
    "/_cluster/health?level=indices", "/_cluster/health?level=shards", "/_cluster/state",
]

# Answers of each call, the best of which counts.
ANSWERS = 7


class Wire:
    """One kept-alive connection, so that no handshake is timed."""

    def __init__(self, server):
        host, port = server.http.rsplit(":", 1)
        self.wire = http.client.HTTPConnection(host, int(port), timeout=120)

    def ask(self, method, path, body=None):
        """Milliseconds that the answer took; it must be a success."""
        data = None if body is None else json.dumps(body)
        begin = time.perf_counter()
        self.wire.request(method, path, data, {"Content-Type": "application/json"} if data else {})
        answer = self.wire.getresponse()
        text = answer.read()
        took = (time.perf_counter() - begin) * 1000
        assert answer.status == 200, (method, path, answer.status, text[:500])
        return took


def share(times, part):
    """The time below which that share of `times` lies."""
    return sorted(times)[min(len(times) - 1, int(len(times) * part))]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=1000, help="indices (1000)")
    parser.add_argument("--fields", type=int, default=100, help="fields of each (100)")
    options = parser.parse_args()
    kept = True

    def told(what, found, unit, most=None):
        nonlocal kept
        kept = kept and (most is None or found <= most)
        promise = "" if most is None else f"  (at most {most} {unit})"
        print(f"{what:<82} {found:>9.2f} {unit}{promise}", flush=True)

    with Server(secure=False) as server:
        wire = Wire(server)
        wire.ask("PUT", "/warm", {"settings": {"number_of_replicas": 0}})
        wire.ask("DELETE", "/warm")
        memory, disk = resident_mib(server.process.pid), disk_mib(server.data)
        times = []
        for number in range(options.count):
            body = {"settings": {"number_of_replicas": 0}}
            times.append(wire.ask("PUT", f"/many-{number:05}", body))
        told("creating an index, median", share(times, 0.5), "ms", 20)
        told("creating an index, 99 of 100", share(times, 0.99), "ms")
        told(f"memory of {options.count} empty indices", resident_mib(server.process.pid) - memory, "MiB", 100)
        told(f"disk of {options.count} empty indices", disk_mib(server.data) - disk, "MiB", 1024)

        def answers(state):
            for path in CALLS:
                best = min(wire.ask("GET", path) for _ in range(ANSWERS))
                told(f"{state}: GET {path}", best, "ms", 50)

        answers("open")
        fields = {f"field_{at:03}": {"type": "keyword"} for at in range(options.fields)}
        times = []
        for number in range(options.count):
            times.append(wire.ask("PUT", f"/many-{number:05}/_mapping", {"properties": fields}))
        told(f"mapping {options.fields} fields, median", share(times, 0.5), "ms")
        told(f"memory with {options.count} x {options.fields} fields", resident_mib(server.process.pid) - memory, "MiB")
        times = []
        for number in range(min(options.count, 200)):
            alias = {"actions": [{"add": {"index": f"many-{number:05}", "alias": "all"}}]}
            times.append(wire.ask("POST", "/_aliases", alias))
        told("a change of the whole state: logged, published, answered", share(times, 0.5), "ms", 5)
        answers(f"{options.fields} fields")
        wire.ask("PUT", "/_cluster/settings", {"transient": {"action.destructive_requires_name": False}})
        told("closing all", wire.ask("POST", "/many-*/_close"), "ms")
        answers("closed")
        told("opening all", wire.ask("POST", "/many-*/_open"), "ms")
        begin = time.perf_counter()
        server.stop()
        told("stopping", (time.perf_counter() - begin) * 1000, "ms")
        begin = time.perf_counter()
        server.start()
        told("starting again", (time.perf_counter() - begin) * 1000, "ms")
    return 0 if kept else 1


if __name__ == "__main__":
    sys.exit(main())
