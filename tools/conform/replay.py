"""Replay beside bulk indexing: `python3 tools/conform/replay.py [--docs 300000]`.

Documents are written in bulk, as fast as they are taken, into an index with a shard for each core that
never flushes; then the process is killed. What the next start takes until each shard serves again is
the replay. It must not be slower than the writing was, and each document must be there.

Both are also measured in processor time, which says whether all cores were at it.
"""

import argparse
import json
import os
import random
import sys
import threading
import time

from loss import Wire
from server import Server

INDEX = "replayed"
BATCH = 1000


def processor_s(pid):
    """Seconds of processors that a process has used."""
    with open(f"/proc/{pid}/stat", encoding="ascii") as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def bodies(docs):
    """Bulk bodies of documents like log lines."""
    chance = random.Random(7)
    words = [f"word{number}" for number in range(5000)]
    made = []
    for start in range(0, docs, BATCH):
        lines = []
        for number in range(start, min(start + BATCH, docs)):
            lines.append('{"index":{}}')
            text = " ".join(chance.choices(words, k=20))
            lines.append(json.dumps({"number": number, "host": f"host{number % 50}", "took": chance.random(), "text": text}))
        made.append("\n".join(lines) + "\n")
    return made


def write(server, made):
    """Sends all bodies on four connections; answers seconds."""
    left, lock = list(reversed(made)), threading.Lock()
    errors = []

    def send():
        wire = Wire(server)
        while True:
            with lock:
                if not left:
                    return
                body = left.pop()
            status, answer = wire.ask("POST", f"/{INDEX}/_bulk?filter_path=errors", body)
            if status != 200 or answer["errors"]:
                errors.append(answer)
                return

    begun = time.monotonic()
    threads = [threading.Thread(target=send) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors, errors[0]
    return time.monotonic() - begun


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--docs", type=int, default=300_000)
    parser.add_argument("--cores", type=int, default=os.cpu_count())
    options = parser.parse_args()
    made = bodies(options.docs)
    size = sum(len(body) for body in made)
    with Server(secure=False, cores=options.cores) as server:
        settings = {
            "number_of_shards": options.cores,
            "refresh_interval": "-1",
            "translog.flush_threshold_size": "100gb",
        }
        status, _, answer = server.request("PUT", f"/{INDEX}", {"settings": settings})
        assert status == 200, answer
        before = processor_s(server.process.pid)
        took = write(server, made)
        used = processor_s(server.process.pid) - before
        print(f"{options.docs} documents, {size >> 20} MiB, {options.cores} cores")
        print(f"written in {took:.2f} s ({options.docs / took:,.0f} a second), {used:.2f} s of processors")
        server.kill()
        begun = time.monotonic()
        server.start(timeout=300)
        replayed = time.monotonic() - begun
        used = processor_s(server.process.pid)
        status, _, answer = server.request("POST", f"/{INDEX}/_refresh")
        status, _, answer = server.request("GET", f"/{INDEX}/_count")
        assert answer["count"] == options.docs, answer
        status, _, answer = server.request("GET", f"/{INDEX}/_recovery")
        # What the memory for buffers did not hold is in segments by now: it is not read from the log again.
        recovered = [shard["translog"]["recovered"] for shard in answer[INDEX]["shards"]]
        rate = sum(recovered) / replayed
        each = " + ".join(map(str, recovered))
        print(f"replayed {each} operations in {replayed:.2f} s ({rate:,.0f} a second), {used:.2f} s of processors")
    is_fast = rate >= options.docs / took
    print(f"{int(is_fast)} passed, {int(not is_fast)} failed")
    return int(not is_fast)


if __name__ == "__main__":
    sys.exit(main())
