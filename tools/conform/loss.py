"""What a store must still hold after its process, its machine or its room has gone: for `kill`, `powercut`, `fulldisk`.

Several writers send `_bulk` requests (index, create and delete over a common set of ids) and note
what each item was answered, while somebody refreshes, flushes and merges. When the node is back, or
they were told to end, `Facts.check` asks for everything:

1. every acknowledged write is there, with its version and sequence number, unless a later one of
   the same id took its place;
2. nothing is there twice, and nothing that was never sent;
3. no (primary term, sequence number) is given to two operations.

A write that was sent but not answered may be there or not: both are right.
"""

import http.client
import json
import random
import threading
import time
from base64 import b64encode

from server import PASSWORD

INDEX = "lossless"
# A refusal that is meant to be tried again.
TRY_AGAIN = 429


class Wire:
    """One connection that is kept open."""

    def __init__(self, server):
        token = b64encode(f"elastic:{PASSWORD}".encode()).decode()
        self.headers = {"Content-Type": "application/x-ndjson"}
        if server.secure:
            self.headers["Authorization"] = f"Basic {token}"
        host, port = server.http.rsplit(":", 1)
        if server.secure:
            self.wire = http.client.HTTPSConnection(host, int(port), timeout=30, context=server.context())
        else:
            self.wire = http.client.HTTPConnection(host, int(port), timeout=30)

    def ask(self, method, path, body=None):
        """Status and body of one request."""
        headers = dict(self.headers)
        if isinstance(body, (dict, list)):
            body = json.dumps(body)
            headers["Content-Type"] = "application/json"
        self.wire.request(method, path, body, headers)
        answer = self.wire.getresponse()
        raw = answer.read()
        return answer.status, json.loads(raw) if raw else None


class Writer(threading.Thread):
    """Sends bulk requests until the connection breaks or it is over; each writer owns its ids (id mod writers)."""

    def __init__(self, server, facts, number, writers, seed, batch):
        super().__init__(daemon=True)
        self.server, self.number, self.writers, self.batch = server, number, writers, batch
        self.random = random.Random(seed)
        self.facts, self.filler_bytes, self.over = facts.by_id, facts.filler_bytes, facts.over
        self.error = None

    def run(self):
        try:
            wire = Wire(self.server)
            while not self.over.is_set():
                self.send(wire)
        except (OSError, http.client.HTTPException):
            return
        except Exception as error:  # told by the main thread
            self.error = error

    def send(self, wire):
        sent, lines = [], []
        for _ in range(self.random.randint(1, self.batch)):
            doc_id = self.random.randrange(len(self.facts) // self.writers) * self.writers + self.number
            kind = self.random.choice(["index", "index", "index", "create", "delete"])
            stamp = self.random.getrandbits(48)
            lines.append(json.dumps({kind: {"_index": INDEX, "_id": str(doc_id)}}))
            if kind != "delete":
                doc = {"stamp": stamp, "writer": self.number, "text": f"stamp {stamp}"}
                if self.filler_bytes:
                    doc["filler"] = self.random.randbytes(self.filler_bytes // 2).hex()
                lines.append(json.dumps(doc))
            sent.append((doc_id, kind, stamp))
        for doc_id, kind, stamp in sent:
            self.facts[doc_id]["open"].append((kind, stamp))
        status, body = wire.ask("POST", "/_bulk", "\n".join(lines) + "\n")
        if status == TRY_AGAIN:
            for doc_id, kind, stamp in sent:
                self.facts[doc_id]["open"].remove((kind, stamp))
            return
        assert status == 200, body
        for (doc_id, kind, stamp), item in zip(sent, body["items"]):
            item = item[kind]
            fact = self.facts[doc_id]
            if item["status"] == 503:
                # The shard failed under it: the write may be there or not.
                continue
            fact["open"].remove((kind, stamp))
            if item["status"] in (200, 201) or item.get("result") == "not_found":
                fact["acked"].append((item["_primary_term"], item["_seq_no"], item["_version"], kind, stamp))
            elif item["status"] not in (409, TRY_AGAIN):
                raise AssertionError(f"unexpected item: {item}")


class Keeper(threading.Thread):
    """Refreshes, flushes and merges at random until the connection breaks or it is over."""

    def __init__(self, server, seed, over):
        super().__init__(daemon=True)
        self.server, self.random, self.over, self.error = server, random.Random(seed), over, None

    def run(self):
        try:
            wire = Wire(self.server)
            while not self.over.is_set():
                time.sleep(self.random.uniform(0.02, 0.3))
                what = self.random.choice(["_refresh", "_refresh", "_flush", "_forcemerge?max_num_segments=1"])
                wire.ask("POST", f"/{INDEX}/{what}")
        except (OSError, http.client.HTTPException):
            return


class Facts:
    """What was sent and what was answered; each document takes so many bytes more."""

    def __init__(self, ids, filler_bytes=0):
        self.filler_bytes = filler_bytes
        # Tells those that write to end.
        self.over = threading.Event()
        self.by_id = {doc_id: {"acked": [], "open": []} for doc_id in range(ids)}
        self.history = {}
        self.acknowledged = 0
        # Sequence numbers are a shard's: which one holds an id.
        self.shard_of = {}

    def load(self, server, chance, writers, batch):
        """Threads that write, all begun; each ends when its connection breaks, or when told (`end`)."""
        self.over.clear()
        threads = [
            Writer(server, self, number, writers, chance.getrandbits(32), batch) for number in range(writers)
        ]
        threads.append(Keeper(server, chance.getrandbits(32), self.over))
        for thread in threads:
            thread.start()
        return threads

    def end(self, threads):
        """Tells them to end, and waits for them."""
        self.over.set()
        self.join(threads)

    @staticmethod
    def join(threads):
        """Waits for them; an error of any is raised here."""
        for thread in threads:
            thread.join(60)
            assert not thread.is_alive(), "a writer still waits for its answer"
            if thread.error:
                raise thread.error

    def found(self, wire):
        """All documents, by a search."""
        status, answer = wire.ask("POST", f"/{INDEX}/_refresh")
        assert status == 200 and answer["_shards"]["failed"] == 0, answer
        found, after = {}, None
        while True:
            body = {"size": 1000, "sort": [{"stamp": "asc"}], "seq_no_primary_term": True, "version": True}
            if after:
                body["search_after"] = after
            status, answer = wire.ask("POST", f"/{INDEX}/_search", body)
            assert status == 200 and answer["_shards"]["failed"] == 0, answer
            hits = answer["hits"]["hits"]
            if not hits:
                return found
            for hit in hits:
                assert hit["_id"] not in found, f"{hit['_id']} is there twice"
                found[hit["_id"]] = hit
            after = hits[-1]["sort"]

    def check(self, server):
        """Compares what the store says with what was acknowledged; answers how many writes were."""
        wire = Wire(server)
        if not self.shard_of:
            for doc_id in self.by_id:
                status, answer = wire.ask("GET", f"/{INDEX}/_search_shards?routing={doc_id}")
                assert status == 200, answer
                self.shard_of[doc_id] = answer["shards"][0][0]["shard"]
        found = self.found(wire)
        status, answer = wire.ask("POST", f"/{INDEX}/_mget", {"ids": [str(doc_id) for doc_id in self.by_id]})
        assert status == 200, answer
        total = 0
        for (doc_id, fact), got in zip(self.by_id.items(), answer["docs"]):
            assert got["_id"] == str(doc_id) and "error" not in got, got
            total += len(fact["acked"]) - fact.pop("settled", 0)
            self.check_document(doc_id, fact, got, found.get(str(doc_id)))
        self.acknowledged += total
        return total

    def check_document(self, doc_id, fact, got, hit):
        for term, seq_no, _, kind, stamp in fact["acked"]:
            # A document found again is noted as an index: what was put counts.
            what = (doc_id, None if kind == "delete" else stamp)
            known = self.history.setdefault((self.shard_of[doc_id], term, seq_no), what)
            assert known == what, f"({term}, {seq_no}) given twice: {known}, {what}"
        last = max(fact["acked"], default=None)
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
            told = (got["_seq_no"], got["_version"], got["_primary_term"])
            assert told == (last[1], last[2], last[0]), (got, last)
        if last is not None and got.get("found"):
            assert got["_version"] >= last[2], (got, last)
        # What stands now is settled for the next round, and counted already.
        if got.get("found"):
            fact["acked"] = [(got["_primary_term"], got["_seq_no"], got["_version"], "index", stamp)]
        elif last is not None:
            fact["acked"] = [last] if last[3] == "delete" else []
        fact["settled"] = len(fact["acked"])
        fact["open"] = []


def prepare(server, **settings):
    """Makes the index: two shards, so that both cores have one."""
    # Random digits that nothing is made of but room.
    filler = {"type": "keyword", "index": False, "doc_values": False}
    properties = {"stamp": {"type": "long"}, "filler": filler}
    body = {"settings": {"number_of_shards": 2, **settings}, "mappings": {"properties": properties}}
    status, _, answer = server.request("PUT", f"/{INDEX}", body)
    assert status == 200, answer
