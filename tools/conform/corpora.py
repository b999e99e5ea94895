"""Real corpora through `_bulk`, then 200 fixed queries against a plain reading of the same documents.

    CORELODE_KIT=… python3 tools/conform/corpora.py [--only cities,ecommerce] [--seed 7] [--keep]

For each corpus: load, compare the count, run its queries, compare total and (up to 10,000) every
matching id; sorted queries must give the very order. The reading shares no code with the server:
it walks the documents and asks each one. Without the kit it says SKIP. Prints load time, and beside
what is promised: from exec to the first answer (of the node as it is shipped: over TLS, to a caller whose
password is checked) with nothing and with everything loaded, memory with nothing loaded, how long a document
waits until a search finds it. Ends with `N passed, N failed`;
the exit code is 1 where a query or a promise failed.
"""

import argparse
import base64
import contextlib
import http.client
import json
import os
import random
import re
import socket
import ssl
import subprocess
import sys
import threading
import time
from datetime import datetime
from pathlib import Path

from server import PASSWORD, Server

KEYWORD = {"type": "keyword"}
MAPPINGS = {
    "enwiki": {"properties": {"id": KEYWORD, "section": KEYWORD}},
    "cities": {"properties": {"country_code": KEYWORD, "timezone": KEYWORD, "location": {"type": "object"}}},
    "nycflights": {},
    "weblogs": {},
    "ecommerce": {},
    # A text in this log of the kit is an object in the two others.
    "weblogs-samples": {},
    "nycflights-weather": {},
}
# Loaded and counted; their fields are asked about in the five before.
COUNTED = ("weblogs-samples", "nycflights-weather")

# A word as UAX #29 with Lucene's StandardTokenizer sees it, for scripts that put spaces between
# words: letters join over one of : . ' ’ ·, digits over one of . , ; ' ’, both over _.
LETTER, DIGIT = r"[^\W\d_]", r"\d"
WORD = re.compile(
    rf"(?:{LETTER}(?:[:.'’‘·‧․＇．](?={LETTER}))?|{DIGIT}(?:[.,;'’‘․＇．](?={DIGIT}))?|_)+"
)


def words(text):
    """Tokens of `text`, lower case; tokens without letter or digit are none."""
    return [w for w in (m.group(0).lower() for m in WORD.finditer(text)) if w.strip("_")]


def unpack(kit, name):
    """Documents of a corpus as JSON lines."""
    data = kit / "data"

    def lines(path):
        with subprocess.Popen(["zstd", "-dcq", str(data / path)], stdout=subprocess.PIPE) as source:
            yield from source.stdout

    if name == "enwiki":
        with subprocess.Popen(["zstd", "-dcq", str(data / "enwiki/articles.ndjson.zst")], stdout=subprocess.PIPE) as source:
            with subprocess.Popen(
                [sys.executable, str(data / "tools/wiki_passages.py")], stdin=source.stdout, stdout=subprocess.PIPE
            ) as passages:
                yield from passages.stdout
    elif name == "weblogs":
        for part in ("apache-2015-05", "nasa-1995-08-01"):
            yield from lines(f"weblogs/{part}.ndjson.zst")
    else:
        yield from lines({
            "cities": "cities/cities.ndjson.zst", "nycflights": "nycflights/flights.ndjson.zst",
            "nycflights-weather": "nycflights/weather.ndjson.zst", "ecommerce": "ecommerce/ecommerce.ndjson.zst",
            "weblogs-samples": "weblogs/opensearch-sample-logs.ndjson.zst",
        }[name])


def values(doc, path):
    """All values at a dotted path, arrays flattened."""
    found = [doc]
    for part in path.split("."):
        found = [
            item[part] for value in found
            for item in (value if isinstance(value, list) else [value])
            if isinstance(item, dict) and item.get(part) is not None
        ]
    return [item for value in found for item in (value if isinstance(value, list) else [value]) if item is not None]


def millis(text):
    """Milliseconds since 1970 of an ISO date with a zone."""
    return round(datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp() * 1000)


class Corpus:
    """Documents with what the queries need precomputed: tokens of text fields only once."""

    def __init__(self, docs, text_fields):
        self.docs = docs
        self.postings = {field: {} for field in text_fields}
        for at, doc in enumerate(docs):
            for field in text_fields:
                place = 0
                for value in values(doc, field):
                    tokens = words(str(value))
                    for offset, token in enumerate(tokens):
                        self.postings[field].setdefault(token, {}).setdefault(at, []).append(place + offset)
                    place += len(tokens) + 100

    def term(self, field, word):
        return set(self.postings[field].get(word, ()))

    def phrase(self, field, phrase):
        lists = [self.postings[field].get(word, {}) for word in phrase]
        both = set(lists[0]).intersection(*lists[1:])
        return {
            at for at in both
            if any(all(start + n in lists[n][at] for n in range(len(phrase))) for start in lists[0][at])
        }

    def where(self, keep):
        return {at for at, doc in enumerate(self.docs) if keep(doc)}


def queries(name, corpus, chance):
    """(query, expected set of documents, sort or None), 40 a corpus."""
    text, keyword, number, date, flag, sort = {
        "enwiki": ("text", "section", "length", None, None, "article_id"),
        "cities": ("name", "country_code", "population", None, None, "population"),
        "nycflights": ("airline", "carrier.keyword", "distance", "@timestamp", "cancelled", "distance"),
        "weblogs": ("message", "url.extension.keyword", "http.response.bytes", "@timestamp", None, "@timestamp"),
        "ecommerce": ("customer_full_name", "day_of_week.keyword", "total_quantity", "order_date", None, "order_id"),
    }[name]
    path = keyword.removesuffix(".keyword")
    vocabulary = sorted(
        word for word, docs in corpus.postings[text].items() if re.fullmatch("[a-z]{3,}", word) and len(docs) >= 3
    )
    common = sorted(vocabulary, key=lambda word: -len(corpus.postings[text][word]))[:200]
    terms = sorted({value for doc in corpus.docs[:20000] for value in values(doc, path) if isinstance(value, str) and len(value) < 200})
    numbers = sorted({value for doc in corpus.docs[:20000] for value in values(doc, number)})
    dates = sorted({value for doc in corpus.docs[:20000] for value in values(doc, date)}) if date else []

    def word():
        return chance.choice(common if chance.random() < 0.5 else vocabulary)

    def numeric(low, high):
        return corpus.where(lambda doc: any(low <= value < high for value in values(doc, number)))

    def match_any():
        some = [word() for _ in range(chance.randint(1, 3))]
        return {"match": {text: " ".join(some)}}, set().union(*(corpus.term(text, w) for w in some))

    def match_all_of():
        some = [chance.choice(common) for _ in range(2)]
        query = {"match": {text: {"query": " ".join(some), "operator": "and"}}}
        return query, corpus.term(text, some[0]) & corpus.term(text, some[1])

    def phrase():
        while True:
            doc = chance.choice(corpus.docs)
            tokens = [token for value in values(doc, text)[:1] for token in words(str(value))]
            if len(tokens) >= 2:
                at = chance.randrange(len(tokens) - 1)
                some = tokens[at:at + chance.randint(2, 3)]
                if all(re.fullmatch("[a-z]+", token) for token in some):
                    return {"match_phrase": {text: " ".join(some)}}, corpus.phrase(text, some)

    def term():
        value = chance.choice(terms)
        return {"term": {keyword: value}}, corpus.where(lambda doc: value in values(doc, path))

    def terms_query():
        some = chance.sample(terms, min(3, len(terms)))
        return {"terms": {keyword: some}}, corpus.where(lambda doc: any(value in some for value in values(doc, path)))

    def number_range():
        low, high = sorted([chance.choice(numbers), chance.choice(numbers)])
        return {"range": {number: {"gte": low, "lt": high}}}, numeric(low, high)

    def date_range():
        low, high = sorted([chance.choice(dates), chance.choice(dates)], key=millis)
        first, last = millis(low), millis(high)
        return (
            {"range": {date: {"gt": low, "lte": high}}},
            corpus.where(lambda doc: any(first < millis(value) <= last for value in values(doc, date))),
        )

    def boolean():
        value = chance.choice([True, False])
        return {"term": {flag: value}}, corpus.where(lambda doc: value in values(doc, flag))

    def exists():
        field = chance.choice([number, path, text])
        named = {path: keyword}.get(field, field)
        return {"exists": {"field": named}}, corpus.where(lambda doc: bool(
            [v for v in values(doc, field) if not (named.endswith(".keyword") and len(str(v)) > 256)]
        ))

    def compound():
        must, in_must = match_any()
        filter_, in_filter = number_range()
        must_not, in_not = term()
        query = {"bool": {"must": [must], "filter": [filter_], "must_not": [must_not]}}
        return query, (in_must & in_filter) - in_not

    def should():
        parts = [match_any(), term(), number_range()]
        query = {"bool": {"should": [part[0] for part in parts], "minimum_should_match": 2}}
        count = {}
        for _, docs in parts:
            for doc in docs:
                count[doc] = count.get(doc, 0) + 1
        return query, {doc for doc, times in count.items() if times >= 2}

    kinds = [match_any, match_all_of, phrase, term, terms_query, number_range, exists, compound, should]
    kinds += [date_range] if date else []
    kinds += [boolean] if flag else []
    made = []
    while len(made) < 40:
        kind = kinds[len(made) % len(kinds)]
        query, expected = kind()
        made.append((query, expected, sort if len(made) % 4 == 3 else None))
    return made


def key(doc, field):
    """What a descending sort compares: the greatest value; none sorts last."""
    found = values(doc, field)
    if not found:
        return None
    return max(millis(value) if isinstance(value, str) else value for value in found)


def run(server, name, corpus, chance):
    failed = 0
    for at, (query, expected, sort) in enumerate(queries(name, corpus, chance)):
        body = {"query": query, "size": 10000, "track_total_hits": True, "_source": False}
        if sort:
            body["sort"] = [{sort: "desc"}]
        status, _, answer = server.request("POST", f"/{name}/_search", body, timeout=120)
        problem = None
        if status != 200:
            problem = f"status {status}: {json.dumps(answer)[:300]}"
        elif answer["hits"]["total"] != {"value": len(expected), "relation": "eq"}:
            problem = f"total {answer['hits']['total']}, expected {len(expected)}"
        else:
            hits = answer["hits"]["hits"]
            ids = [int(hit["_id"]) for hit in hits]
            if len(set(ids)) != len(ids) or not set(ids) <= expected or len(ids) != min(10000, len(expected)):
                wrong = sorted(set(ids) ^ expected)[:5]
                problem = f"ids differ: {wrong}"
            if not problem and sort:
                order = [key(corpus.docs[i], sort) for i in ids]
                want = sorted(
                    (key(corpus.docs[i], sort) for i in expected), key=lambda v: (v is None, -(v or 0))
                )[:10000]
                if order != want:
                    problem = "the order differs"
            scores = [hit["_score"] for hit in hits]
            if not problem and not sort and scores != sorted(scores, reverse=True):
                problem = "scores are not in order"
        if problem:
            failed += 1
            print(f"FAIL  {name} {at}: {problem}\n      {json.dumps(query, ensure_ascii=False)}", flush=True)
    return failed


def first_answer(server):
    """Milliseconds from exec to the first answer to elastic with its password, over TLS, and the memory in MiB
    right after it. A node that runs is stopped first, and comes back to its address."""
    host, port = server.http.rsplit(":", 1)
    if server.process:
        assert server.stop(60) == 0
    # On a first start nobody knows the certificates yet.
    context = ssl._create_unverified_context()
    token = base64.b64encode(f"elastic:{PASSWORD}".encode()).decode()
    answered = []

    def ask():
        while not answered and time.monotonic() < begin + 60:
            try:
                wire = http.client.HTTPSConnection(host, int(port), timeout=10, context=context)
                wire.request("GET", "/", headers={"Authorization": f"Basic {token}"})
                if wire.getresponse().status == 200:
                    answered.append(time.monotonic())
                    answered.append(resident_mib(server.process.pid))
            except OSError:
                time.sleep(0.001)

    begin = time.monotonic()
    asking = threading.Thread(target=ask)
    asking.start()
    server.start()
    asking.join()
    return (answered[0] - begin) * 1000, answered[1]


def resident_mib(pid):
    """Memory of the process that is in use."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) / 1024
    return 0.0


def searchable_ms(server, rounds=20):
    """The longest that a document waited, from its answer to the search that found it."""
    server.request("PUT", "/waiting", {"settings": {"number_of_replicas": 0}})
    longest = 0.0
    for number in range(rounds):
        server.request("PUT", f"/waiting/_doc/{number}", {"number": number})
        begin = time.monotonic()
        while True:
            query = {"query": {"term": {"number": number}}, "size": 0}
            _, _, answer = server.request("POST", "/waiting/_search", query)
            if answer["hits"]["total"]["value"] == 1:
                break
            time.sleep(0.005)
        longest = max(longest, time.monotonic() - begin)
    server.request("DELETE", "/waiting")
    return longest * 1000


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--only", default=",".join(MAPPINGS))
    parser.add_argument("--seed", type=int, default=7)
    options = parser.parse_args()
    if not os.environ.get("CORELODE_KIT"):
        print("SKIP: CORELODE_KIT does not name the data kit")
        print("0 passed, 0 failed, 1 skipped")
        return 0
    kit = Path(os.environ["CORELODE_KIT"])
    passed = failed = 0
    kept = True

    def told(what, found, unit, most):
        nonlocal kept
        kept = kept and found <= most
        print(f"{what:<52} {found:>8.1f} {unit}  (at most {most} {unit})", flush=True)

    server = Server()
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        server.http = f"127.0.0.1:{probe.getsockname()[1]}"
    with contextlib.ExitStack() as stack:
        stack.push(server.__exit__)
        took, memory = first_answer(server)
        print(f"{'exec to the first answer of a first start':<52} {took:>8.1f} ms", flush=True)
        told("memory after it", memory, "MiB", 50)
        took, memory = first_answer(server)
        told("exec to the first answer, nothing loaded", took, "ms", 100)
        told("memory after it, nothing loaded", memory, "MiB", 50)
        told("from an answer to being found, longest of 20", searchable_ms(server), "ms", 1000)
        for name in options.only.split(","):
            server.request("PUT", f"/{name}", {"mappings": MAPPINGS[name], "settings": {"number_of_replicas": 0}})
            docs, batch, sent, begin, busy = [], [], 0, time.monotonic(), 0.0

            def flush():
                nonlocal sent, busy
                started = time.monotonic()
                status, _, answer = server.request("POST", f"/{name}/_bulk", b"".join(batch), timeout=120)
                busy += time.monotonic() - started
                bad = status != 200 or answer["errors"]
                if bad:
                    first = next((i for i in answer.get("items", []) if "error" in i["index"]), answer)
                    raise SystemExit(f"{name}: bulk failed: {json.dumps(first)[:500]}")
                sent += sum(map(len, batch))
                batch.clear()

            for line in unpack(kit, name):
                batch.append(b'{"index":{"_id":"%d"}}\n' % len(docs) + line)
                docs.append(json.loads(line))
                if len(batch) == 5000:
                    flush()
            if batch:
                flush()
            server.request("POST", f"/{name}/_refresh", timeout=120)
            _, _, answer = server.request("GET", f"/{name}/_count")
            assert answer["count"] == len(docs), (name, answer, len(docs))
            print(
                f"{name}: {len(docs)} documents, {sent / 1e6:.1f} MB; the server worked {busy:.2f} s "
                f"({len(docs) / busy:,.0f} docs/s, {sent / 1e6 / busy:.1f} MB/s), one connection", flush=True,
            )
            if name in COUNTED:
                continue
            text = {"enwiki": "text", "cities": "name", "nycflights": "airline", "weblogs": "message",
                    "ecommerce": "customer_full_name"}[name]
            wrong = run(server, name, Corpus(docs, [text]), random.Random(options.seed))
            failed += wrong
            passed += 40 - wrong
        told("exec to the first answer, everything loaded", first_answer(server)[0], "ms", 500)
        for name in options.only.split(","):
            _, _, answer = server.request("GET", f"/{name}/_count")
            print(f"{name}: {answer['count']} after the restart")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not kept else 0


if __name__ == "__main__":
    sys.exit(main())
