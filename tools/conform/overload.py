#!/usr/bin/env python3
"""A node that is asked for more than it can do: one caller floods it while another goes on as before.

    python3 tools/conform/overload.py [--minutes 10] [--memory 512mb] [--times 4] [--out bench/records/NAME.md]
    python3 tools/conform/overload.py --examine     # the same, with `perf`: whether the processor ran in each stretch above 5 ms
    python3 tools/conform/overload.py --brief       # 20 seconds: memory, statuses and counts alone

The server runs on one processor (--cores 1), this client on another. In turn: the peak of the flooding
caller (closed loop, beside the quiet one, whose work is there in the flood, too), a quiet caller alone, both at once (open loop, --times the peak), in
five parts, the peak and the quiet caller alone looked at behind each; then the quiet
caller by turns alone and beside 2,000 connections that never finish a request; bodies and requests made to take
memory. The full run begins and ends with an empty loop on both processors: what that stands still for is the machine's.
The peak and "alone" are what was measured on both sides of what is compared with them. At each moment the
process must stay below its memory setting; in the full run times are judged too. Exit code 1 where a promise is broken.
"""

import argparse
import asyncio
import gc
import gzip
import itertools
import json
import os
import platform
import random
import re
import subprocess
import sys
import time
from datetime import date
from pathlib import Path

import standstills
from server import PASSWORD, ROOT, Server

DOCS = 60_000
WORDS = [f"word{n}" for n in range(3_000)]
ALLOWED = {200, 201, 400, 404, 409, 413, 429}


EMPTY_LOOP = """
import sys, time
last = time.monotonic(); end = last + float(sys.argv[1]); longest = 0.0; above = 0
while last < end:
    now = time.monotonic()
    longest = max(longest, now - last); above += now - last > 0.001
    last = now
print(longest * 1e3, above)
"""


def machine_alone(processors, seconds):
    """How long an empty loop stands still on each of these processors at once: the machine's own share of each
    stretch and of each slowest answer. A virtual machine whose host has others to serve stands still for long."""
    loops = []
    for processor in processors:
        command = ["taskset", "-c", str(processor), sys.executable, "-c", EMPTY_LOOP, str(seconds)]
        loops.append(subprocess.Popen(command, stdout=subprocess.PIPE, text=True))
    found = [loop.communicate()[0].split() for loop in loops]
    longest, above = max(float(gap) for gap, _ in found), sum(int(count) for _, count in found)
    return f"stood still for {longest:.1f} ms at most, {above} times above 1 ms in {seconds} s"


class Wire:
    """One connection; a request at a time."""

    def __init__(self, host, port):
        self.place = (host, port)
        self.streams = None

    async def ask(self, request):
        """Status, head, body; a connection that was closed is made anew."""
        for attempt in range(2):
            if self.streams is None:
                self.streams = await asyncio.open_connection(*self.place, limit=1 << 20)
            reader, writer = self.streams
            try:
                writer.write(request)
                head = await reader.readuntil(b"\r\n\r\n")
                low = head.lower()
                at = low.find(b"content-length:")
                length = int(low[at + 15 : low.find(b"\r\n", at)]) if at >= 0 else 0
                body = await reader.readexactly(length) if length else b""
                if b"connection: close" in low:
                    self.close()
                return int(head[9:12]), low, body
            except (ConnectionError, asyncio.IncompleteReadError):
                self.close()
                if attempt:
                    raise

    def close(self):
        if self.streams:
            self.streams[1].close()
            self.streams = None


def message(method, path, key, body=None, kind="application/json", fields=""):
    head = f"{method} {path} HTTP/1.1\r\nHost: h\r\nAuthorization: {key}\r\n{fields}"
    if body is None:
        return (head + "\r\n").encode()
    body = body if isinstance(body, bytes) else json.dumps(body).encode()
    return f"{head}Content-Type: {kind}\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body


def docs(rng, count, index=None):
    lines = []
    for _ in range(count):
        lines.append(json.dumps({"index": {"_index": index} if index else {}}))
        lines.append(
            json.dumps(
                {
                    "text": " ".join(rng.choices(WORDS, k=30)),
                    "tag": f"t{rng.randrange(200)}",
                    "n": rng.randrange(1_000_000),
                    "at": 1_600_000_000_000 + rng.randrange(10**10),
                }
            )
        )
    return ("\n".join(lines) + "\n").encode()


def flood(rng, key):
    """One request of the flooding caller: searches with aggregations, and bulk requests."""
    if rng.random() < 0.3:
        return message("POST", "/flood/_bulk", key, docs(rng, 200), "application/x-ndjson")
    words = " ".join(rng.choices(WORDS, k=3))
    inner = {"n": {"percentiles": {"field": "n"}}, "c": {"cardinality": {"field": "n"}}}
    body = {
        "size": 10,
        "query": {"bool": {"should": [{"match_all": {}}, {"match": {"text": words}}]}},
        "aggs": {"t": {"terms": {"field": "tag", "size": 200}, "aggs": inner}},
    }
    return message("POST", "/big/_search", key, body)


def quiet(rng, key):
    """One request of the other caller: a search, a read, a write."""
    kind = rng.random()
    if kind < 0.6:
        body = {"query": {"match": {"text": " ".join(rng.choices(WORDS, k=2))}}, "aggs": {"t": {"terms": {"field": "tag"}}}}
        return message("POST", "/big/_search", key, body)
    if kind < 0.8:
        return message("GET", f"/small/_doc/{rng.randrange(100)}", key)
    return message("PUT", f"/small/_doc/{rng.randrange(100)}", key, {"n": rng.randrange(1000)})


class Watch:
    """Memory of the process that no file backs, looked at ten times a second."""

    def __init__(self, pid):
        self.path = Path(f"/proc/{pid}/status")
        self.most = 0

    def look(self):
        for line in self.path.read_text().splitlines():
            if line.startswith("RssAnon:"):
                kib = int(line.split()[1])
                self.most = max(self.most, kib * 1024)
                return kib * 1024
        return 0

    async def run(self):
        while True:
            self.look()
            await asyncio.sleep(0.1)


def part(times, share):
    """The time below which that share of them lies, in ms."""
    times = sorted(times)
    return times[min(len(times) - 1, int(len(times) * share))] * 1e3 if times else float("nan")


class Tally:
    """Answers by status, with how long they took; those that went well by their method, too."""

    def __init__(self):
        self.times = {}
        self.kinds = {}
        self.lost = 0
        self.without_hint = 0
        # Why requests were refused, and how long each took.
        self.reasons = {}

    def add(self, status, head, took, request=b" ", body=b""):
        self.times.setdefault(status, []).append(took)
        if status in (200, 201):
            self.kinds.setdefault(request[: request.index(b" ")].decode(), []).append(took)
        if status == 429:
            self.without_hint += b"retry-after:" not in head
            # Numbers aside, so that a reason is told once.
            reason = re.search(rb'"reason":"((?:[^"\\]|\\.)*)"', body)
            told = re.sub(r"[0-9.]+", "N", reason[1].decode("utf-8", "replace")) if reason else "none told"
            self.reasons.setdefault(told, []).append(took)

    def take_in(self, other):
        """The answers of another, too."""
        for mine, theirs in ((self.times, other.times), (self.kinds, other.kinds), (self.reasons, other.reasons)):
            for key, times in theirs.items():
                mine.setdefault(key, []).extend(times)
        self.lost += other.lost
        self.without_hint += other.without_hint

    def count(self, *statuses):
        return sum(len(self.times.get(status, ())) for status in statuses)

    @property
    def good(self):
        return self.count(200, 201)

    def percentile(self, share, *statuses):
        return part([t for s in statuses for t in self.times.get(s, ())], share)

    def by_kind(self):
        """Of searches, reads and writes: the median and the 99th of a hundred."""
        named = {"POST": "searches", "GET": "reads", "PUT": "writes"}
        told = [(named[kind], times) for kind, times in sorted(self.kinds.items()) if kind in named]
        return ", ".join(f"{name} {part(times, 0.5):.2f} and {part(times, 0.99):.2f}" for name, times in told)

    def why(self):
        """Why requests were refused: how often, and the 99th of a hundred in ms."""
        told = sorted(self.reasons.items(), key=lambda reason: -len(reason[1]))
        return "; ".join(f"{len(times):,} times {why} (p99 {part(times, 0.99):.2f})" for why, times in told)

    def __str__(self):
        return ", ".join(f"{status}: {len(times):,}" for status, times in sorted(self.times.items())) + (
            f", lost: {self.lost}" if self.lost else ""
        )


async def once(wire, request, tally):
    begun = time.perf_counter()
    try:
        status, head, body = await asyncio.wait_for(wire.ask(request), 60)
        tally.add(status, head, time.perf_counter() - begun, request, body)
    except (OSError, asyncio.IncompleteReadError, asyncio.TimeoutError):
        wire.close()
        tally.lost += 1


async def closed_loop(place, requests, seconds, connections):
    """As many as are answered."""
    tally, end = Tally(), time.perf_counter() + seconds

    async def one():
        wire = Wire(*place)
        while time.perf_counter() < end:
            await once(wire, next(requests), tally)
        wire.close()

    await asyncio.gather(*(one() for _ in range(connections)))
    return tally


async def open_loop(place, requests, rate, seconds, connections_max):
    """Requests at their times, whatever becomes of those before."""
    tally, idle, made, tasks = Tally(), [], 0, set()
    begun = time.perf_counter()
    count = 0
    while (now := time.perf_counter() - begun) < seconds:
        due = int(now * rate)
        while count < due:
            count += 1
            if idle:
                wire = idle.pop()
            elif made < connections_max:
                wire, made = Wire(*place), made + 1
            else:
                # All connections wait: the client itself is the bound now.
                break

            async def go(wire=wire):
                await once(wire, next(requests), tally)
                idle.append(wire)

            task = asyncio.create_task(go())
            tasks.add(task)
            task.add_done_callback(tasks.discard)
        await asyncio.sleep(0.001)
    if tasks:
        await asyncio.wait(tasks, timeout=60)
    for wire in idle:
        wire.close()
    return tally


async def calm_caller(place, key, rate, seconds, rng_seed=7):
    """The quiet caller in a process of its own, so that it does not wait for a busy client: its tally."""
    words = [sys.executable, __file__, "--quiet-caller", json.dumps([*place, key, rate, seconds, rng_seed])]
    process = await asyncio.create_subprocess_exec(*words, stdout=asyncio.subprocess.PIPE)
    out, _ = await process.communicate()
    told, tally = json.loads(out), Tally()
    tally.times = {int(status): times for status, times in told["times"].items()}
    tally.kinds, tally.lost = told["kinds"], told["lost"]
    tally.without_hint, tally.reasons = told["without_hint"], told["reasons"]
    return tally


def run_calm_caller(host, port, key, rate, seconds, seed):
    """What the process of the quiet caller does; first among the processes of its processor where that is allowed."""
    try:
        # Before the flooding client also where that was begun with a priority.
        os.setpriority(os.PRIO_PROCESS, 0, max(-20, os.getpriority(os.PRIO_PROCESS, 0) - 15))
    except OSError:
        pass
    rng = random.Random(seed)
    calms = itertools.cycle([quiet(rng, key) for _ in range(300)])
    gc.disable()
    tally = asyncio.run(open_loop((host, port), calms, rate, seconds, 200))
    print(json.dumps({name: getattr(tally, name) for name in ("times", "kinds", "lost", "without_hint", "reasons")}))


async def late(seconds):
    """How late this process wakes from a sleep of a millisecond, at the 99th of a hundred, in ms."""
    samples, end = [], time.perf_counter() + seconds
    while (before := time.perf_counter()) < end:
        await asyncio.sleep(0.001)
        samples.append(time.perf_counter() - before - 0.001)
    return sorted(samples)[int(len(samples) * 0.99)] * 1e3 if samples else 0.0


async def loris(place, key, count, seconds):
    """Connections that send a byte now and then, in heads and in bodies."""
    streams = []
    for number in range(count):
        try:
            reader, writer = await asyncio.open_connection(*place)
        except OSError:
            continue
        if number % 2:
            writer.write(f"POST /small/_doc HTTP/1.1\r\nHost: h\r\nAuthorization: {key}\r\nContent-Type: application/json\r\nContent-Length: 5000\r\n\r\n{{".encode())
        else:
            writer.write(b"GET / HTTP/1.1\r\nHost: h\r\nX-Slow: ")
        streams.append(writer)
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        for number in range(0, len(streams), 50):
            for writer in streams[number : number + 50]:
                # The server ends a head that takes too long.
                if not writer.is_closing():
                    writer.write(b"x")
            await asyncio.sleep(0.01)
        await asyncio.sleep(0.5)
    for writer in streams:
        writer.close()
    return len(streams)


def traps(key, rng):
    """Requests made to take memory, by name."""
    mib = 1 << 20
    big = json.dumps({"text": "x" * (2 * mib)}).encode()
    lines = b"".join(b'{"index":{}}\n' + big + b"\n" for _ in range(12))
    bomb = gzip.compress(b" " * (90 * mib), 9)
    tree = b'{"query":{"terms":{"n":[' + b"1," * (4 * mib) + b"1]}}}"
    nested = b'{"query":{"bool":{"should":[' + b'{"match_all":{}},' * (mib // 4) + b'{"match_all":{}}]}}}'
    packed = "Content-Encoding: gzip\r\n"
    deep = {"cardinality": {"field": "n"}}
    for level in range(8):
        deep = {"terms": {"field": "n" if level % 2 else "tag", "size": 1000}, "aggs": {"a": deep}}
    tops = {"terms": {"field": "n", "size": 10_000}, "aggs": {"a": {"top_hits": {"size": 100}}}}
    return {
        "large bulk": lambda: message("POST", "/large/_bulk", key, lines, "application/x-ndjson"),
        "gzip": lambda: message("POST", "/large/_bulk", key, bomb, "application/x-ndjson", packed),
        "many terms": lambda: message("POST", "/big/_search", key, tree),
        "many clauses": lambda: message("POST", "/big/_search", key, nested),
        "all sources": lambda: message("POST", "/large/_search?size=10000", key, {"query": {"match_all": {}}}),
        "sorted": lambda: message("POST", "/big/_search", key, {"size": 10_000, "sort": [{"tag": "asc"}, {"n": "desc"}, "_doc"]}),
        "buckets": lambda: message("POST", "/big/_search", key, {"size": 0, "aggs": {"a": {"terms": {"field": "n", "size": 65_000}, "aggs": {"b": {"terms": {"field": "tag", "size": 500}}}}}}),
        "deep buckets": lambda: message("POST", "/big/_search", key, {"size": 0, "aggs": {"a": deep}}),
        "best of buckets": lambda: message("POST", "/big/_search", key, {"size": 0, "aggs": {"a": tops}}),
        "scroll": lambda: message("POST", "/large/_search?scroll=1m&size=100", key, {}),
        "moment": lambda: message("POST", "/large/_pit?keep_alive=1m", key, b""),
        "several": lambda: message("POST", "/_msearch", key, (b'{"index":"large"}\n{"size":1000}\n') * 50, "application/x-ndjson"),
        "suggest": lambda: message("POST", "/big/_search", key, {"suggest": {f"s{n}": {"text": " ".join(rng.choices(WORDS, k=50)), "term": {"field": "text", "suggest_mode": "always"}} for n in range(50)}}),
        "analyze": lambda: message("POST", "/_analyze", key, {"analyzer": "standard", "text": "a " * mib}),
    }


async def hostile(place, key, rng, share):
    """Requests made to take memory; each must be answered, whatever the answer."""
    tally, kinds, names = Tally(), traps(key, rng), []
    for _ in range(share):
        for name, make in kinds.items():
            names.append((name, make))
    rng.shuffle(names)
    statuses = {}

    async def lane(requests):
        wire = Wire(*place)
        for name, make in requests:
            before = {s: len(t) for s, t in tally.times.items()}
            begun = time.perf_counter()
            try:
                status, head, body = await asyncio.wait_for(wire.ask(make()), 120)
                tally.add(status, head, time.perf_counter() - begun)
                statuses.setdefault(name, []).append(status)
                if status == 429 and b"circuit_breaking_exception" not in body and b"es_rejected_execution_exception" not in body:
                    statuses[name].append(-1)
            except (OSError, asyncio.IncompleteReadError, asyncio.TimeoutError, asyncio.LimitOverrunError) as error:
                wire.close()
                tally.lost += 1
                statuses.setdefault(name, []).append(type(error).__name__)
            del before
        wire.close()

    lanes = 16
    await asyncio.gather(*(lane(names[at::lanes]) for at in range(lanes)))
    return tally, statuses


def size(text):
    units = {"mb": 1 << 20, "gb": 1 << 30}
    return int(text[:-2]) * units[text[-2:].lower()]


class Run:
    def __init__(self, options):
        self.options = options
        self.broken = []
        self.rows = []
        # Stretches above 5 ms, as the node counts them.
        self.long = 0

    def row(self, what, told, promised="", kept=True):
        self.rows.append((what, told, promised, "" if kept else "**broken**"))
        print(f"{'      ' if kept else 'BROKEN'} {what}: {told}{f' (promised: {promised})' if promised else ''}", flush=True)
        if not kept:
            self.broken.append(what)

    def judged(self, what, told, promised, kept):
        """Times are told, but not judged, in the brief run."""
        self.row(what, told, promised, kept or self.options.brief)

    def beside(self, what, calm, other, most):
        """Judges the 99th of a hundred of a caller beside others by that of the same caller alone."""
        calm99, other99 = calm.percentile(0.99, 200, 201), other.percentile(0.99, 200, 201)
        told = f"p50 {other.percentile(0.5, 200, 201):.2f} ms, p99 {other99:.2f} ms ({other}); alone p99 {calm99:.2f} ms ({calm}); {other99 / calm99:.2f} of alone"
        self.judged(what, told, f"p99 at most {most} of alone", other99 <= most * calm99)

    async def go(self, server):
        options, rng = self.options, random.Random(7)
        host, port = server.url.split("//", 1)[1].rsplit(":", 1)
        place = (host, int(port))
        keys = {}
        for name in ("flood", "quiet"):
            status, _, made = server.request("POST", "/_security/api_key", {"name": name})
            assert status == 200, made
            keys[name] = f"ApiKey {made['encoded']}"
            fields = {"text": {"type": "text"}, "tag": {"type": "keyword"}, "n": {"type": "long"}, "at": {"type": "date"}}
        fill = {
            # A flood of searches that were answered before would ask for nothing.
            "settings": {"number_of_shards": 1, "number_of_replicas": 0, "requests.cache.enable": False},
            "mappings": {"properties": fields},
        }
        for index in ("big", "flood", "small", "large"):
            server.request("PUT", f"/{index}", fill)
        count = 5_000 if options.brief else DOCS
        for _ in range(count // 1_000):
            server.request("POST", "/big/_bulk", docs(rng, 1_000))
        for number in range(100):
            server.request("PUT", f"/small/_doc/{number}", {"n": number})
        server.request("POST", "/_refresh")
        watch = Watch(server.process.pid)
        self.row("memory at rest", f"{watch.look() >> 20} MiB")
        watching = asyncio.create_task(watch.run())
        limit, brief = size(options.memory), options.brief
        warm, alone, flooded = (2, 2, 3) if brief else (15, options.alone, options.minutes * 60)

        # Made ahead, so that making them does not hold the client up.
        floods = [flood(rng, keys["flood"]) for _ in range(300)]
        next_flood = itertools.cycle(floods)
        rate = 20

        async def peak_now():
            tally, _ = await asyncio.gather(
                closed_loop(place, next_flood, warm, 32), calm_caller(place, keys["quiet"], rate, warm)
            )
            return tally.good / warm, tally

        await closed_loop(place, next_flood, warm / 3, 32)
        peak, tally = await peak_now()
        self.row("peak of the flooding caller, 32 connections, beside the quiet one", f"{peak:,.0f}/s ({tally})")

        # The flood's own index grows meanwhile, and merges what came, and a machine is not the same for ten minutes: the
        # peak, and the quiet caller alone, are looked at in between, too.
        parts = 1 if brief or options.minutes < 5 else 5
        noise, other, lag, peaks = Tally(), Tally(), 0, [peak]
        calm = await calm_caller(place, keys["quiet"], rate, alone)
        calms = [calm.percentile(0.99, 200, 201)]
        for _ in range(parts):
            more, calmer, behind = await asyncio.gather(
                open_loop(place, next_flood, peak * options.times, flooded / parts, 2_000),
                calm_caller(place, keys["quiet"], rate, flooded / parts),
                late(flooded / parts),
            )
            noise.take_in(more)
            other.take_in(calmer)
            lag = max(lag, behind)
            grown, tally = await peak_now()
            peaks.append(grown)
            # What the flood left to do (merges, flushes) is none of the quiet caller's work.
            for _ in range(0 if brief else 60):
                _, _, stats = server.request("GET", "/_stats/merge,docs")
                if stats["_all"]["total"]["merges"]["current"] == 0:
                    break
                await asyncio.sleep(1)
            after = await calm_caller(place, keys["quiet"], rate, alone)
            calms.append(after.percentile(0.99, 200, 201))
            calm.take_in(after)
        self.row("the quiet caller alone, before the flood and after each part of it", f"p99 {', '.join(f'{at:.2f}' for at in calms)} ms ({calm})")
        self.row("its peak in between and after it", f"{', '.join(f'{at:,.0f}/s' for at in peaks[1:])} ({tally} at last)")
        # Of each part the mean of the peak before it and after it.
        good, peak = noise.good / flooded, (sum(peaks) - (peaks[0] + peaks[-1]) / 2) / parts
        self.judged(f"flood of {options.times} times the peak for {flooded} s", f"{noise}; answered well {good:,.0f}/s, {good / peak:.0%} of the peak, {peak:,.0f}/s", "at least 85 %", good >= 0.85 * peak)
        p429 = noise.percentile(0.99, 429)
        self.row("lateness of the flooding client itself", f"p99 {lag:.2f} ms")
        self.judged("refusals of the flood", f"p50 {noise.percentile(0.5, 429):.2f} ms, p99 {p429:.2f} ms", "p99 at most 5 ms", not p429 > 5)
        self.row("refusals without Retry-After", str(noise.without_hint + other.without_hint), "none", noise.without_hint + other.without_hint == 0)
        self.row("why the flood was refused", noise.why() or "not at all")
        why = other.why()
        self.row("refusals of the quiet caller", f"{other.count(429)}{': ' if why else ''}{why}", "none", other.count(429) == 0 or brief)
        for tally in (noise, other):
            strange = set(tally.times) - ALLOWED
            self.row("statuses beyond those told", ", ".join(map(str, strange)) or "none", "none", not strange)

        self.beside("the quiet caller beside the flood", calm, other, 1.5)
        self.row("the quiet caller by kind, p50 and p99 in ms", f"alone: {calm.by_kind()}; beside the flood: {other.by_kind()}")

        connections, rounds = (300, 1) if brief else (2_000, 6)
        calm, beside = Tally(), Tally()
        for turn in range(rounds):
            # More often than beside the flood, so that one in a hundred is more than twelve.
            calm.take_in(await calm_caller(place, keys["quiet"], 5 * rate, alone / rounds, turn))
            holding = asyncio.create_task(loris(place, keys["flood"], connections, alone / rounds + 3))
            await asyncio.sleep(1 if brief else 3)
            beside.take_in(await calm_caller(place, keys["quiet"], 5 * rate, alone / rounds, turn))
            held = await holding
        self.beside(f"the quiet caller beside {held:,} slow connections, {rounds} turns", calm, beside, 1.3)
        self.row("refusals of the quiet caller beside them", str(beside.count(429)), "none", beside.count(429) == 0)
        self.row("most memory so far", f"{watch.most >> 20} MiB", options.memory, watch.most <= limit)

        self.stretches(server, "longest stretch on a core")

        tally, statuses = await hostile(place, keys["flood"], rng, 1 if brief else 12)
        for name, found in sorted(statuses.items()):
            told = ", ".join(f"{s}: {found.count(s)}" for s in sorted(set(found), key=str))
            # More tokens than may be told is 500 in Elasticsearch, too.
            allowed = ALLOWED | {500} if name == "analyze" else ALLOWED
            kept = all(isinstance(s, int) and s in allowed for s in found)
            self.row(f"made to take memory: {name}", told, "an answer, each time", kept)
        self.row("most memory", f"{watch.most >> 20} MiB", options.memory, watch.most <= limit)
        self.stretches(server, "longest stretch with what is made to take memory")
        await asyncio.sleep(0 if brief else 5)
        status, _, _ = server.request("GET", "/small/_doc/1")
        self.row("afterwards a read answers", str(status), "200", status == 200)
        self.row("memory afterwards", f"{watch.look() >> 20} MiB")
        watching.cancel()

    def stretches(self, server, what):
        """The longest that a core was held since the start."""
        _, _, stats = server.request("GET", "/_nodes/stats/process")
        cores = next(iter(stats["nodes"].values()))["process"]["cores"]
        longest = max(core["longest_stretch_in_micros"] for core in cores) / 1e3
        long = sum(core["long_stretches"] for core in cores)
        self.long = max(self.long, long)
        # With --examine what the processor itself stood still is told apart at the end, and the rest is judged.
        self.judged(what, f"{longest:.2f} ms ({long} above 5 ms)", "at most 5 ms", longest <= 5 or self.options.examine)

    def write(self, path):
        commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, capture_output=True, text=True).stdout.strip()
        processor = next((l.split(":")[1].strip() for l in Path("/proc/cpuinfo").read_text().splitlines() if l.startswith("model name")), platform.machine())
        out = [
            f"# Overload, {date.today()}",
            "",
            f"Command: `{' '.join(['tools/conform/overload.py', *sys.argv[1:]])}`; commit {commit}; {processor}, the server on one processor and the",
            f"client on another; memory setting {self.options.memory}.",
            "",
            "| what | told | promised | |",
            "|---|---|---|---|",
        ]
        out += [f"| {' | '.join(row)} |" for row in self.rows]
        Path(path).write_text("\n".join(out) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--memory", default="512mb")
    parser.add_argument("--times", type=float, default=4)
    parser.add_argument("--alone", type=int, default=60, help="seconds of the quiet caller alone, and beside slow connections")
    parser.add_argument("--brief", action="store_true")
    parser.add_argument("--out")
    parser.add_argument("--log", help="keep what the server says; with CORELODE_LOG=debug it names what held a core")
    parser.add_argument("--examine", action="store_true", help="look with perf whether the processor ran in each stretch that is too long")
    parser.add_argument("--quiet-caller", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.quiet_caller:
        run_calm_caller(*json.loads(options.quiet_caller))
        return 0
    run = Run(options)
    processors = sorted(os.sched_getaffinity(0))
    args = ["-E", "xpack.security.http.ssl.enabled=false", "-E", "oauth.enabled=false", "--memory", options.memory]
    loops = "an empty loop on each of the two processors"
    if not options.brief:
        run.row(f"{loops} before", machine_alone({processors[0], processors[-1]}, 10))
    # The server inherits the first processor; the client then moves to the last.
    os.sched_setaffinity(0, processors[:1])
    if options.examine:
        os.environ["CORELODE_LOG"] = standstills.LOG
    with Server(args=args, cores=1, log=options.log) as server:
        os.sched_setaffinity(0, processors[-1:])
        samples = standstills.Standstills(processors[0]) if options.examine else None
        asyncio.run(run.go(server))
        os.sched_setaffinity(0, processors)
        if samples:
            longest, looked_at, told = standstills.told(server.log, samples.end())
            # A stretch that the log does not tell, or that came before the samples, is judged as the node counted it.
            told += "" if looked_at >= run.long else f"; the node counted {run.long}"
            run.judged("the same without what the processor stood still", told, "at most 5 ms", longest <= 5 and looked_at >= run.long)
        code = server.stop()
        run.row("exit code", str(code), "0", code == 0)
    if not options.brief:
        run.row(f"{loops} after", machine_alone({processors[0], processors[-1]}, 10))
    if options.out:
        run.write(options.out)
    print("kept" if not run.broken else f"broken: {', '.join(run.broken)}")
    return 1 if run.broken else 0


if __name__ == "__main__":
    sys.exit(main())
