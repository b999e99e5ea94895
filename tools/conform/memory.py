#!/usr/bin/env python3
"""Requests made to take memory, each kind alone and many at once, against a node with little of it.

    python3 tools/conform/memory.py [--memory 128mb] [--cores 2] [--only NAME] [--out bench/records/NAME.md]

The kinds stand in `memory_attacks`. While a kind runs, another caller reads, searches and writes. A kind is kept
where the process lives; each of its requests got an answer of 2xx or 4xx, and each 429 or 400 names a reason; the
other caller was served each time; and the memory that no file backs (RssAnon and RssShmem of
/proc/PID/status, looked at each 20 ms) stayed within the setting. The last kind, `start`, is none of requests: a
node that is killed has more in its logs than the setting allows, and starts. Exit code 1 where one is not kept.
"""

import argparse
import http.client
import json
import os
import platform
import random
import re
import subprocess
import sys
import threading
import time
from collections import Counter
from datetime import date
from pathlib import Path

import memory_attacks
from memory_attacks import Answer
from server import ROOT, Server

# What `_analyze` answers above 10,000 tokens, as Elasticsearch does.
MANY_TOKENS = (500, "illegal_state_exception")

WORDS = [f"word{n}" for n in range(3_000)]


def size(text):
    units = {"mb": 1 << 20, "gb": 1 << 30}
    return int(text[:-2]) * units[text[-2:].lower()]


class Wire:
    """One connection of one caller; a request at a time."""

    def __init__(self, place, key):
        self.place, self.key, self.line = place, key, None

    def ask(self, method, path, body=None, kind="application/json", fields=None, timeout=120):
        """Status, reason (the error's type, where there is one), body."""
        if isinstance(body, (dict, list)):
            body = json.dumps(body).encode()
        head = {"Authorization": self.key, **(fields or {})}
        if body is not None:
            head["Content-Type"] = kind
        for attempt in range(2):
            if self.line is None:
                self.line = http.client.HTTPConnection(*self.place, timeout=timeout)
            try:
                self.line.request(method, path, body, head)
                answer = self.line.getresponse()
                found = answer.read()
                return Answer(answer.status, reason(answer.status, found), found)
            except (http.client.RemoteDisconnected, BrokenPipeError, ConnectionResetError) as error:
                self.close()
                if attempt:
                    return Answer(0, type(error).__name__, b"")
            except (OSError, http.client.HTTPException) as error:
                self.close()
                return Answer(0, type(error).__name__, b"")
        raise AssertionError("two attempts end in an answer")

    def close(self):
        if self.line:
            self.line.close()
        self.line = None


def reason(status, body):
    """The type of an error, that of its cause where it has one."""
    if status < 400:
        return ""
    if not body.startswith(b"{"):
        # As text, YAML, CBOR: the first name of an error, which is that of the cause.
        kind = re.search(rb"\w+_exception", body)
        return kind[0].decode() if kind else ""
    error = json.loads(body).get("error", {})
    if isinstance(error, str):
        return error
    causes = error.get("root_cause") or [error]
    return causes[0].get("type") or error.get("type", "")


class Watch(threading.Thread):
    """Memory of the process that no file backs."""

    def __init__(self, server):
        super().__init__(daemon=True)
        self.server, self.most, self.is_over = server, 0, False

    def look(self):
        try:
            lines = Path(f"/proc/{self.server.process.pid}/status").read_text().splitlines()
        except OSError:
            return 0
        found = sum(int(line.split()[1]) << 10 for line in lines if line.startswith(("RssAnon:", "RssShmem:")))
        self.most = max(self.most, found)
        return found

    def run(self):
        while not self.is_over:
            self.look()
            time.sleep(0.02)


class Other(threading.Thread):
    """The caller who does nothing wrong."""

    def __init__(self, place, key):
        super().__init__(daemon=True)
        self.wire, self.answers, self.slowest, self.is_over = Wire(place, key), Counter(), 0.0, False
        self.refused = []

    def run(self):
        turn = 0
        while not self.is_over:
            turn += 1
            begun = time.monotonic()
            if turn % 3 == 0:
                asked = "GET", "/small/_doc/1"
            elif turn % 3 == 1:
                asked = "POST", "/big/_search", {"query": {"match": {"text": f"word{turn % 3000}"}}}
            else:
                asked = "PUT", f"/small/_doc/{turn % 100}", {"n": turn}
            answer = self.wire.ask(*asked)
            if answer.status not in (200, 201):
                self.refused.append(f"{asked[0]} {asked[1]}: {answer.status} {answer.body[:400]!r}")
            self.slowest = max(self.slowest, time.monotonic() - begun)
            self.answers[(answer.status, answer.reason)] += 1
            time.sleep(0.05)


class Run:
    def __init__(self, options, server):
        self.options, self.server = options, server
        host, port = server.url.split("//", 1)[1].rsplit(":", 1)
        self.place = (host, int(port))
        self.keys, self.rows, self.broken = {}, [], []
        for name in ("attacker", "other"):
            status, _, made = server.request("POST", "/_security/api_key", {"name": name})
            assert status == 200, made
            self.keys[name] = f"ApiKey {made['encoded']}"
        self.limit = size(options.memory)

    def wire(self):
        return Wire(self.place, self.keys["attacker"])

    def fill(self):
        """What the attacks ask for: many small documents, a few large ones."""
        wire, rng = self.wire(), random.Random(7)
        fields = {"text": {"type": "text"}, "tag": {"type": "keyword"}, "n": {"type": "long"}, "at": {"type": "date"}, "word": {"type": "keyword"}}
        settings = {"number_of_shards": 2, "number_of_replicas": 0, "requests.cache.enable": False}
        for index in ("big", "small", "large"):
            answer = wire.ask("PUT", f"/{index}", {"settings": settings, "mappings": {"properties": fields}})
            assert answer.status == 200, answer
        for start in range(0, self.options.docs, 1_000):
            lines = []
            for number in range(start, start + 1_000):
                text = " ".join(rng.choices(WORDS, k=30))
                doc = {"text": text, "tag": f"t{number % 200}", "n": number, "at": 1_600_000_000_000 + number * 7_919, "word": f"{text[:12]} {number}"}
                lines += [json.dumps({"index": {"_id": str(number)}}), json.dumps(doc)]
            body = ("\n".join(lines) + "\n").encode()
            for _ in range(200):
                answer = patiently(wire, "POST", "/big/_bulk?filter_path=errors,items.*.status", body)
                assert answer.status == 200, answer
                refused = {item["index"]["status"] for item in json.loads(answer.body)["items"]} - {200, 201}
                if not refused:
                    break
                assert refused == {429}, refused
                time.sleep(0.1)
            else:
                raise AssertionError("the documents are refused again and again")
        for number in range(40):
            text = " ".join(rng.choices(WORDS, k=64_000))
            answer = patiently(wire, "PUT", f"/large/_doc/{number}", json.dumps({"text": text, "n": number}).encode())
            assert answer.status == 201, answer
        for number in range(100):
            answer = patiently(wire, "PUT", f"/small/_doc/{number}", json.dumps({"n": number}).encode())
        answer = wire.ask("POST", "/_refresh")
        assert answer.status == 200, answer
        wire.ask("POST", "/_flush")

    def one(self, name, attack):
        watch, other = Watch(self.server), Other(self.place, self.keys["other"])
        watch.start()
        other.start()
        begun = time.monotonic()
        found = attack(self)
        took = time.monotonic() - begun
        other.is_over = watch.is_over = True
        other.join()
        watch.join()
        told = ", ".join(f"{status} {why}".strip() + f": {count}" for (status, why), count in sorted(found.items()))
        lives = self.server.process.poll() is None
        strange = [(status, why) for status, why in found if not (200 <= status < 300 or (400 <= status < 500 and why) or (status, why) == MANY_TOKENS)]
        refused = {key: count for key, count in other.answers.items() if key[0] not in (200, 201)}
        faults = []
        if watch.most > self.limit:
            faults.append("memory")
        if strange:
            faults.append(f"answers {strange}")
        if refused:
            faults.append(f"the other caller got {refused}")
        if not lives:
            faults.append(f"the process ended with {self.server.process.poll()}")
        row = (name, f"{watch.most / (1 << 20):.0f} MiB", told, f"{sum(other.answers.values())}, slowest {other.slowest * 1e3:.0f} ms", f"{took:.1f} s", "; ".join(faults))
        self.rows.append(row)
        print(" | ".join(row), flush=True)
        for line in other.refused:
            print(f"    {line}", flush=True)
        if faults:
            self.broken.append(name)
        if not lives:
            print(self.server.tail(), flush=True)
            self.server.start()
        self.rest()

    def rest(self):
        """Waits until what the attack took is given back, at most 10 s: each kind is judged alone."""
        wire = self.wire()
        wire.ask("DELETE", "/_search/scroll/_all")
        made = json.loads(wire.ask("GET", "/_cat/indices/attacked-*?format=json&h=index").body or b"[]")
        names = [line["index"] for line in made] if isinstance(made, list) else []
        for start in range(0, len(names), 50):
            wire.ask("DELETE", "/" + ",".join(names[start : start + 50]))
        wire.close()
        end = time.monotonic() + 10
        watch = Watch(self.server)
        while watch.look() > self.limit // 2 and time.monotonic() < end:
            time.sleep(0.1)

    def start(self):
        """A node of its own, with 24,000 documents in the logs of 40 shards (240 MB), is killed and starts."""
        indices, batches, docs = 40, 6, 100
        args = ["-E", "oauth.enabled=false", "--memory", "2gb"]
        with Server(secure=False, args=args, cores=self.options.cores) as server:
            settings = {"number_of_replicas": 0, "refresh_interval": "-1", "index.translog.flush_threshold_size": "512mb"}
            for number in range(indices):
                status, _, made = server.request("PUT", f"/start-{number}", {"settings": settings, "mappings": {"dynamic": False}})
                assert status == 200, made
                for batch in range(batches):
                    lines = []
                    for at in range(docs):
                        lines += ['{"index":{"_id":"%d"}}' % (batch * docs + at), json.dumps({"text": os.urandom(5_000).hex()})]
                    status, _, made = server.request("POST", f"/start-{number}/_bulk", "\n".join(lines) + "\n")
                    assert status == 200 and not made["errors"], made
            server.kill()
            server.args[-1] = self.options.memory
            watch = Watch(server)
            watch.start()
            begun = time.monotonic()
            server.start(timeout=120)
            server.request("GET", "/_cluster/health?wait_for_no_initializing_shards=true&timeout=120s", timeout=150)
            took = time.monotonic() - begun
            server.request("POST", "/_refresh")
            status, _, counted = server.request("GET", "/_count")
            watch.is_over = True
            watch.join()
            faults = ["memory"] if watch.most > self.limit else []
            if status != 200 or counted["count"] != indices * batches * docs or counted["_shards"]["failed"]:
                faults.append(f"documents: {counted}")
            row = ("start", f"{watch.most / (1 << 20):.0f} MiB", f"{status}: 1", "", f"{took:.1f} s", "; ".join(faults))
            self.rows.append(row)
            print(" | ".join(row), flush=True)
            if faults:
                self.broken.append("start")

    def write(self, path):
        git = subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, capture_output=True, text=True)
        out = [
            f"# Requests made to take memory, {date.today()}",
            "",
            f"Command: `{' '.join(['python3 tools/conform/memory.py', *sys.argv[1:]])}`; commit {git.stdout.strip()}; {platform.machine()}, {os.cpu_count()} cores.",
            f"Setting: `--memory {self.options.memory}`. Memory is RssAnon + RssShmem of the process, the most of one look each 20 ms.",
            "",
            "| kind | most memory | answers | of the other caller | took | broken |",
            "|---|---|---|---|---|---|",
        ]
        out += [f"| {' | '.join(row)} |" for row in self.rows]
        Path(path).write_text("\n".join(out) + "\n")


def patiently(wire, method, path, body):
    """As `ask`, again after a while where there was no memory."""
    for _ in range(200):
        answer = wire.ask(method, path, body)
        if answer.status != 429:
            return answer
        time.sleep(0.1)
    return answer


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--memory", default="128mb")
    parser.add_argument("--cores", type=int, default=os.cpu_count())
    parser.add_argument("--docs", type=int, default=60_000)
    parser.add_argument("--only", action="append", help="a kind; may be repeated")
    parser.add_argument("--out")
    options = parser.parse_args()
    args = ["-E", "xpack.security.http.ssl.enabled=false", "-E", "oauth.enabled=false", "--memory", options.memory]
    with Server(args=args, cores=options.cores) as server:
        run = Run(options, server)
        run.fill()
        print(f"at rest: {Watch(server).look() >> 20} MiB", flush=True)
        for name, attack in memory_attacks.ALL.items():
            if not options.only or name in options.only:
                run.one(name, attack)
        if not options.only or "start" in options.only:
            run.start()
        answer = run.wire().ask("GET", "/small/_doc/1")
        print(f"at the end: {Watch(server).look() >> 20} MiB, a read answers {answer.status}", flush=True)
        code = server.stop()
        if answer.status != 200 or code != 0:
            run.broken.append(f"the end: {answer.status}, exit code {code}")
    if options.out:
        run.write(options.out)
    print(f"{len(run.rows) - len(run.broken)} passed, {len(run.broken)} failed")
    return 1 if run.broken else 0


if __name__ == "__main__":
    sys.exit(main())
