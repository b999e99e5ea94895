"""kill -9 at random moments under bulk load: `python3 tools/conform/kill.py [--rounds 5] [--seed N]`.

Several writers send `_bulk` requests (index, create and delete over a common set of ids) and note
what each item was answered. The process is killed, started again, and asked for everything:

1. every acknowledged write is there, with its version and sequence number, unless a later one of
   the same id took its place;
2. nothing is there twice, and nothing that was never sent;
3. no (primary term, sequence number) is given to two operations.

A write that was sent but not answered may be there or not: both are right. The seed is printed.
"""

import argparse
import http.client
import json
import random
import sys
import threading
import time
from base64 import b64encode

from server import PASSWORD, Server

INDEX = "killed"
IDS = 400


class Writer(threading.Thread):
    """Sends bulk requests until the connection breaks; each writer owns its ids (id mod writers)."""

    def __init__(self, server, number, writers, seed, facts):
        super().__init__(daemon=True)
        self.server, self.number, self.writers = server, number, writers
        self.random = random.Random(seed)
        self.facts = facts
        self.error = None

    def run(self):
        token = b64encode(f"elastic:{PASSWORD}".encode()).decode()
        headers = {"Authorization": f"Basic {token}", "Content-Type": "application/x-ndjson"}
        host, port = self.server.http.rsplit(":", 1)
        try:
            wire = http.client.HTTPSConnection(host, int(port), timeout=30, context=self.server.context())
            while True:
                sent, lines = [], []
                for _ in range(self.random.randint(1, 60)):
                    doc_id = self.random.randrange(IDS // self.writers) * self.writers + self.number
                    kind = self.random.choice(["index", "index", "index", "create", "delete"])
                    stamp = self.random.getrandbits(48)
                    lines.append(json.dumps({kind: {"_index": INDEX, "_id": str(doc_id)}}))
                    if kind != "delete":
                        lines.append(json.dumps({"stamp": stamp, "writer": self.number, "text": f"stamp {stamp}"}))
                    sent.append((doc_id, kind, stamp))
                for doc_id, kind, stamp in sent:
                    self.facts[doc_id]["open"].append((kind, stamp))
                wire.request("POST", "/_bulk", "\n".join(lines) + "\n", headers)
                answer = wire.getresponse()
                body = json.loads(answer.read())
                if answer.status == 429:
                    for doc_id, kind, stamp in sent:
                        self.facts[doc_id]["open"].remove((kind, stamp))
                    continue
                assert answer.status == 200, body
                for (doc_id, kind, stamp), item in zip(sent, body["items"]):
                    item = item[kind]
                    fact = self.facts[doc_id]
                    fact["open"].remove((kind, stamp))
                    if item["status"] in (200, 201) or item.get("result") == "not_found":
                        fact["acked"].append(
                            (item["_primary_term"], item["_seq_no"], item["_version"], kind, stamp)
                        )
                    elif item["status"] not in (409, 429):
                        raise AssertionError(f"unexpected item: {item}")
        except (OSError, http.client.HTTPException):
            return
        except Exception as error:  # told by the main thread
            self.error = error


def check(server, facts, history):
    """Compares what the store says with what was acknowledged; answers the acknowledged count."""
    server.request("POST", f"/{INDEX}/_refresh")
    found, after = {}, None
    while True:
        body = {"size": 1000, "sort": [{"stamp": "asc"}], "seq_no_primary_term": True, "version": True}
        if after:
            body["search_after"] = after
        status, _, answer = server.request("POST", f"/{INDEX}/_search", body)
        assert status == 200 and answer["_shards"]["failed"] == 0, answer
        hits = answer["hits"]["hits"]
        if not hits:
            break
        for hit in hits:
            assert hit["_id"] not in found, f"{hit['_id']} is there twice"
            found[hit["_id"]] = hit
        after = hits[-1]["sort"]
    total = 0
    for doc_id, fact in facts.items():
        total += len(fact["acked"])
        for term, seq_no, _, kind, stamp in fact["acked"]:
            # A document found after a kill is noted again as an index: what was put counts.
            what = (doc_id, None if kind == "delete" else stamp)
            known = history.setdefault((term, seq_no), what)
            assert known == what, f"({term}, {seq_no}) given twice: {known}, {what}"
        last = max(fact["acked"], default=None)
        status, _, got = server.request("GET", f"/{INDEX}/_doc/{doc_id}")
        hit = found.get(str(doc_id))
        assert (hit is not None) == got.get("found", False), f"{doc_id}: search and get disagree"
        if hit is not None:
            assert (hit["_seq_no"], hit["_version"]) == (got["_seq_no"], got["_version"]), (hit, got)
        stamp = got["_source"]["stamp"] if got.get("found") else None
        possible = {s if kind != "delete" else None for kind, s in fact["open"]}
        settled = None if last is None or last[3] == "delete" else last[4]
        assert stamp == settled or stamp in possible, (
            f"{doc_id}: found {stamp}, acknowledged {last}, unanswered {fact['open']}"
        )
        if stamp == settled and stamp is not None and stamp not in possible:
            assert (got["_seq_no"], got["_version"], got["_primary_term"]) == (last[1], last[2], last[0]), (got, last)
        if last is not None and got.get("found"):
            assert got["_version"] >= last[2], (got, last)
        # What stands now is settled for the next round.
        if got.get("found"):
            fact["acked"] = [(got["_primary_term"], got["_seq_no"], got["_version"], "index", stamp)]
        elif last is not None:
            fact["acked"] = [last] if last[3] == "delete" else []
        fact["open"] = []
    return total


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--writers", type=int, default=4)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().getrandbits(32))
    options = parser.parse_args()
    print(f"seed {options.seed}")
    chance = random.Random(options.seed)
    facts = {doc_id: {"acked": [], "open": []} for doc_id in range(IDS)}
    history, acknowledged = {}, 0
    with Server() as server:
        server.request("PUT", f"/{INDEX}", {"mappings": {"properties": {"stamp": {"type": "long"}}}})
        for number in range(options.rounds):
            writers = [
                Writer(server, at, options.writers, chance.getrandbits(32), facts)
                for at in range(options.writers)
            ]
            for writer in writers:
                writer.start()
            time.sleep(chance.uniform(0.2, 1.5))
            server.kill()
            for writer in writers:
                writer.join(60)
                if writer.error:
                    raise writer.error
            server.start()
            count = check(server, facts, history)
            acknowledged += count
            print(f"round {number + 1}: {count} acknowledged writes, none lost")
    print(f"{acknowledged} acknowledged writes over {options.rounds} kills, 0 lost")
    print(f"{options.rounds} passed, 0 failed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
