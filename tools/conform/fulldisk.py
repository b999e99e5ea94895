"""A disk that fills up under writes: `python3 tools/conform/fulldisk.py`.

The data folder lies on a small file system of its own. What must hold:

1. when the disk is full, writes get 429 with a reason that names the disk, and nothing of them is there
   (files of the logs that stand already are written full first: what is taken then is durable, and found);
2. reads and searches go on, and all that was acknowledged is there;
3. small changes (of scripts, of roles) are taken until only what is kept back is left, and then get 429; passwords
   are changed, accounts disabled and keys taken back all the same, and indices are deleted, also while somebody
   else takes all the room that this gives back (dozens: what is kept back has an end); the room is used again;
4. within five seconds after room is made, writes are taken again, without anybody doing anything;
5. a node that starts on a full disk serves what it has, and takes writes once there is room;
6. after all that, a kill and a start lose nothing.

The same on a disk in memory, where the last write before it is full is a short one.

`--storm SECONDS` does something else: writers overwrite and delete the same documents (`loss.py`) while the disk fills
up and empties and the node is killed, all at random; after each round, full or not, nothing acknowledged may be lost,
and writes must be taken again within five seconds once there is room.

Needs root and loop devices; elsewhere it says SKIP and why.
"""

import argparse
import json
import random
import sys
import time

import loss
from loss import Wire
from server import Server
from volume import Memory, Volume

# What Elasticsearch allows itself is a minute; here it is promised sooner.
RESUMED_S = 5
# On a full disk every write is refused for so long without a break, which is reached in so long: merges
# that were under way may first give room back, which is taken away again.
REFUSED_S, SETTLED_S = 2, 30
KEPT = "kept"
GONE = "gone"


class Store:
    """Writes until the disk refuses, and remembers what was acknowledged."""

    def __init__(self, server):
        self.server, self.wire = server, Wire(server)
        self.acked = {KEPT: set(), GONE: set()}
        self.refused = {KEPT: set(), GONE: set()}
        self.next_id = 0
        self.reasons = set()

    def reconnect(self):
        self.wire = Wire(self.server)

    def write(self, index, count=20, size=16000):
        """One bulk request; answers how many items were refused."""
        ids = list(range(self.next_id, self.next_id + count))
        self.next_id += count
        lines = []
        for doc_id in ids:
            lines.append(json.dumps({"index": {"_index": index, "_id": str(doc_id)}}))
            lines.append(json.dumps({"number": doc_id, "text": f"word{doc_id}", "blob": random.randbytes(size // 2).hex()}))
        status, body = self.wire.ask("POST", "/_bulk", "\n".join(lines) + "\n")
        if status == 429:
            self.reasons.add(body["error"]["reason"])
            self.refused[index] |= set(ids)
            return count
        assert status == 200, body
        refused = 0
        for doc_id, item in zip(ids, body["items"]):
            item = item["index"]
            if item["status"] == 201:
                self.acked[index].add(doc_id)
                continue
            assert item["status"] == 429, f"a full disk is no {item['status']}: {item}"
            self.reasons.add(f"{item['error']['type']}: {item['error']['reason']}")
            self.refused[index].add(doc_id)
            refused += 1
        return refused

    def fill(self, index, attempts=3000):
        """Writes until nothing is taken any more."""
        for _ in range(attempts):
            if self.write(index) == 20 and self.write(index) == 20:
                return
        raise AssertionError("the disk never filled up")

    def stays_refused(self, index, volume):
        """Takes all room, again where some was given back, until nothing is taken for a while."""
        begun, since = time.monotonic(), None
        while since is None or time.monotonic() - since < REFUSED_S:
            volume.fill()
            if self.write(index) < 20:
                since = None
            elif since is None:
                since = time.monotonic()
            assert time.monotonic() - begun < SETTLED_S, "a full disk takes writes"
            time.sleep(0.02)

    def check(self, index):
        """All that was acknowledged is there, and nothing that was refused."""
        acked = self.acked[index]
        ids = [str(doc_id) for doc_id in sorted(acked | self.refused[index])]
        for at in range(0, len(ids), 500):
            status, answer = self.wire.ask(
                "POST", f"/{index}/_mget?_source=number", {"ids": ids[at : at + 500]}
            )
            assert status == 200, answer
            for doc in answer["docs"]:
                assert "error" not in doc, doc
                assert doc["found"] == (int(doc["_id"]) in acked), doc
        status, answer = self.wire.ask("POST", f"/{index}/_refresh")
        assert status == 200 and answer["_shards"]["failed"] == 0, answer
        for some in random.sample(sorted(acked), min(len(acked), 20)):
            status, answer = self.wire.ask("GET", f"/{index}/_search?q=text:word{some}")
            assert status == 200 and answer["_shards"]["failed"] == 0, answer
            assert [hit["_id"] for hit in answer["hits"]["hits"]] == [str(some)], answer

    def resumes(self, index):
        """Seconds until a write is taken."""
        begun = time.monotonic()
        self.reasons.clear()
        while time.monotonic() - begun < 30:
            if self.write(index, count=1, size=10) == 0:
                return time.monotonic() - begun
            time.sleep(0.05)
        _, shards = self.wire.ask("GET", f"/_cat/shards/{index}?format=json&h=shard,state,unassigned.details")
        raise AssertionError(f"writes are refused for 30 s although there is room: {sorted(self.reasons)}, {shards}")


# What takes the room that is left for small changes: each anew, under few names.
SMALL = [
    ("/_scripts/small", lambda number: {"script": {"lang": "painless", "source": f"return {number}"}}),
    ("/_security/role/small", lambda number: {"cluster": ["monitor"], "metadata": {"number": number}}),
]
LITTLE, LEAVERS = 24, ["left0", "left1", "left2"]


def prepare(store):
    """Indices, accounts and a key that are to go on a full disk; the id of the key."""
    for number in range(LITTLE):
        status, answer = store.wire.ask("PUT", f"/little{number}", {"settings": {"number_of_shards": 1}})
        assert status == 200, answer
    for name in LEAVERS:
        status, answer = store.wire.ask("PUT", f"/_security/user/{name}", {"password": "long-enough-1", "roles": []})
        assert status == 200, answer
    status, answer = store.wire.ask("POST", "/_security/api_key", {"name": "left"})
    assert status == 200, answer
    return answer["id"]


def small_change(store, path, body, number):
    status, answer = store.wire.ask("PUT", f"{path}{number % 20}", body(number))
    assert status in (200, 429), answer
    return status == 200


def withdraw(say, volume, store, key):
    """What takes rights away and what gives room back goes on where nothing else does."""
    for path, body in SMALL:
        taken = 0
        volume.fill()
        while small_change(store, path, body, taken):
            taken += 1
            assert taken < 3000, f"a full disk takes {path}"
            volume.fill()
        say(f"{path}: {taken} changes found room, then 429")
    for method, path, body in [
        ("POST", f"/_security/user/{LEAVERS[0]}/_password", {"password": "long-enough-2"}),
        ("PUT", f"/_security/user/{LEAVERS[1]}/_disable", None),
        ("DELETE", f"/_security/user/{LEAVERS[2]}", None),
        ("DELETE", "/_security/api_key", {"ids": [key]}),
    ]:
        volume.fill()
        status, answer = store.wire.ask(method, path, body)
        assert status == 200, f"{method} {path} on a full disk: {answer}"
    for number in range(LITTLE):
        volume.fill()
        status, answer = store.wire.ask("DELETE", f"/little{number}")
        assert status == 200, f"deleting on a full disk: {answer}"
    say(f"a password, an account, a user, a key and {LITTLE} indices withdrawn")


def merge(store):
    """Asks for one segment: why there is no room for it."""
    status, answer = store.wire.ask("POST", f"/{KEPT}/_forcemerge?max_num_segments=1")
    if status == 429:
        return [answer["error"]["reason"]]
    assert status in (200, 503), answer
    return [failure["reason"]["reason"] for failure in answer["_shards"].get("failures", [])]


def begin_by_query(store):
    """Updates some documents in the background: the task, and how many these are."""
    some = {"query": {"range": {"number": {"lt": 100}}}}
    status, answer = store.wire.ask("POST", f"/{KEPT}/_count", some)
    assert status == 200 and answer["count"] > 0, answer
    count = answer["count"]
    status, answer = store.wire.ask("POST", f"/{KEPT}/_update_by_query?wait_for_completion=false", some)
    assert status == 200, answer
    return answer["task"], count


def ends_by_query(say, store, task, count):
    """What found no room is tried again: with room, all is updated."""
    status, answer = store.wire.ask("GET", f"/_tasks/{task}?wait_for_completion=true&timeout=25s")
    assert status == 200 and answer["completed"], answer
    done = answer["response"]
    assert (done["updated"], done["failures"]) == (count, []), done
    say(f"{count} documents updated by query, begun on the full disk; {done['retries']['bulk']} tried again")
    assert done["retries"]["bulk"] > 0, done


def story(say, volume, server):
    store = Store(server)
    if isinstance(volume, Memory):
        # No watermark stops the writes before the disk does.
        setting = {"persistent": {"cluster.routing.allocation.disk.threshold_enabled": False}}
        status, answer = store.wire.ask("PUT", "/_cluster/settings", setting)
        assert status == 200, answer
    # Somebody else's files, which give the room back later.
    volume.fill(leave=volume.free_bytes() - (60 << 20))
    for index in (KEPT, GONE):
        settings = {"number_of_shards": 2, "index.translog.flush_threshold_size": "4mb"}
        # Random digits that nothing is made of but room.
        mappings = {"properties": {"blob": {"type": "keyword", "index": False, "doc_values": False}}}
        status, answer = store.wire.ask("PUT", f"/{index}", {"settings": settings, "mappings": mappings})
        assert status == 200, answer
        for _ in range(10):
            store.write(index)
    store.wire.ask("POST", f"/{KEPT}/_refresh")
    key = prepare(store)

    store.fill(KEPT)
    say(f"filled by documents: {volume.free_bytes() >> 10} KiB left, {sorted(store.reasons)[:3]}")
    for reason in store.reasons:
        assert "disk" in reason, reason
    store.check(KEPT)
    store.check(GONE)
    say("reads go on")

    store.stays_refused(KEPT, volume)
    store.check(KEPT)
    store.check(GONE)
    withdraw(say, volume, store, key)
    status, answer = store.wire.ask("DELETE", f"/{GONE}")
    assert status == 200, f"deleting on a full disk: {answer}"
    say(f"filled to the last byte, an index deleted: {volume.free_bytes() >> 10} KiB left")
    assert volume.free_bytes() > 0, "deleting gives room back"

    store.stays_refused(KEPT, volume)
    reasons = merge(store)
    say(f"a merge on the full disk: {reasons or 'there was none to do'}")
    assert all("disk" in reason or "bytes are free" in reason for reason in reasons), reasons
    store.check(KEPT)
    store.stays_refused(KEPT, volume)
    task, count = begin_by_query(store)
    store.stays_refused(KEPT, volume)
    volume.empty()
    took = store.resumes(KEPT)
    say(f"room was made: writes are taken after {took:.1f} s")
    assert took <= RESUMED_S, took
    ends_by_query(say, store, task, count)
    store.check(KEPT)
    for path, body in SMALL:
        begun = time.monotonic()
        while not small_change(store, path, body, 0):
            assert time.monotonic() - begun <= RESUMED_S, f"{path} is refused although there is room"
            time.sleep(0.1)

    volume.fill(leave=volume.free_bytes() - (60 << 20))
    store.fill(KEPT)
    server.kill()
    volume.fill()
    server.start()
    store.reconnect()
    store.check(KEPT)
    store.stays_refused(KEPT, volume)
    store.check(KEPT)
    say("killed and started on a full disk: reads go on, writes are refused")
    volume.empty()
    took = store.resumes(KEPT)
    say(f"room was made: writes are taken after {took:.1f} s")
    assert took <= RESUMED_S, took
    store.check(KEPT)

    server.kill()
    server.start()
    store.reconnect()
    store.check(KEPT)
    say(f"killed and started: all {len(store.acked[KEPT])} acknowledged documents are there")
    assert server.stop() == 0


def storm(say, volume, server, seconds, seed):
    """Rounds of writes, fills, kills; nothing acknowledged is lost, and writes must go on after each."""
    store, chance = Store(server), random.Random(seed)
    settings = {"number_of_shards": 2, "index.translog.flush_threshold_size": "4mb"}
    mappings = {"properties": {"blob": {"type": "keyword", "index": False, "doc_values": False}}}
    status, answer = store.wire.ask("PUT", f"/{KEPT}", {"settings": settings, "mappings": mappings})
    assert status == 200, answer
    loss.prepare(server, **{"index.translog.flush_threshold_size": "4mb"})
    facts = loss.Facts(400, filler_bytes=16000)

    end, rounds, longest = time.monotonic() + seconds, 0, 0.0
    while time.monotonic() < end:
        rounds += 1
        threads = facts.load(server, chance, 3, 40)
        time.sleep(chance.random())
        volume.fill(leave=chance.choice([0, 0, 1 << 20, 3 << 20]))
        time.sleep(2 * chance.random())
        if chance.random() < 0.4:
            server.kill()
            facts.join(threads)
            volume.fill()
            server.start()
            store.reconnect()
            facts.check(server)
            threads = facts.load(server, chance, 3, 40)
            time.sleep(chance.random())
        elif chance.random() < 0.5:
            facts.end(threads)
            facts.check(server)
        volume.empty()
        took = store.resumes(KEPT)
        assert took <= RESUMED_S, f"round {rounds}: {took:.1f} s"
        longest = max(longest, took)
        facts.end(threads)
        facts.check(server)
    store.check(KEPT)
    told = f"{rounds} rounds, writes went on after {longest:.1f} s at most"
    say(f"seed {seed}: {told}; {facts.acknowledged + len(store.acked[KEPT])} acknowledged writes, none lost")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--size-mib", type=int, default=256)
    parser.add_argument("--storm", type=int, metavar="SECONDS")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()

    def say(sentence):
        print(sentence, flush=True)

    passed = 0
    for kind in (Volume, Memory):
        say(f"-- {kind.__doc__.splitlines()[0]}")
        why = kind.impossible()
        if why:
            say(f"SKIP: {why}")
            continue
        with kind(options.size_mib) as volume, Server(data=volume.path / "data", secure=True) as server:
            if options.storm:
                storm(say, volume, server, options.storm, options.seed)
            else:
                story(say, volume, server)
        passed += 1
    print(f"{passed} passed, 0 failed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
