#!/usr/bin/env python3
"""Which requests hold a core: `tools/conform/stretches.py [NAME ...] [--lanes N] [--out FILE]`.

A node with one core and 60,000 documents is asked for one kind of thing at a time, by a few connections at once:
pages of ten thousand hits, sorts, aggregations of many buckets, costly queries, long batches, listings. What its watch
tells in the log of tasks that held the core for more than 5 ms is told by kind (processor time, so that others on the
machine do not count). Ends with 1 where there is any.
"""

import argparse
import asyncio
import datetime
import itertools
import json
import os
import random
import re
import subprocess
import sys
from pathlib import Path

from overload import DOCS, WORDS, Wire, docs, message, traps
from server import ROOT, Server

UNITS = {"ms": 1, "s": 1e3, "µs": 1e-3}
HELD = re.compile(r"a core was held for ([0-9.]+)(ms|s|µs) by")


def kinds(key, rng):
    """Requests by name."""
    words = " ".join(rng.choices(WORDS, k=30))
    match, ids = {"match": {"text": words}}, [str(at) for at in range(10_000)]

    def search(body, index="big", query=""):
        return lambda: message("POST", f"/{index}/_search{query}", key, body)

    def aggs(how, query=None):
        return search({"size": 0, "aggs": {"a": how}} | ({"query": query} if query else {}))

    def post(target, body, kind="application/json"):
        return lambda: message("POST", target, key, body, kind)

    page = {"size": 10_000, "_source": False}
    many = json.dumps({"query": match, "size": 50})
    filters = {f"f{at}": {"range": {"n": {"gte": at * 10_000}}} for at in range(50)}
    spans = [{"span_term": {"text": word}} for word in WORDS[:8]]
    ranges = [{"range": {"n": {"gte": at, "lt": at + 50}}} for at in range(0, 50_000, 100)]
    generator = {"field": "text", "suggest_mode": "always"}
    count = itertools.count()
    return {
        "hits": search({"size": 10_000, "query": match}),
        "hits without source": search(page | {"query": match}),
        "hits by fields": search(page | {"fields": ["*"]}),
        "hits by columns": search(page | {"docvalue_fields": ["n", "tag", "at"]}),
        "hits far behind": search({"from": 9_000, "size": 1_000, "query": match}),
        "highlight": search({"size": 1_000, "query": match, "highlight": {"fields": {"text": {}}}}),
        "plain highlighter": search({"size": 2, "query": {"match_phrase": {"text": {"query": " ".join(WORDS[:2]), "slop": 100_000}}}, "highlight": {
            "type": "plain", "fields": {"text": {"number_of_fragments": 0}}}}, "long"),
        "explain": search({"size": 500, "query": match, "explain": True}),
        "profile": search({"query": match, "profile": True}),
        "sort by text": search(page | {"sort": ["tag"]}),
        "sort by number": search(page | {"sort": [{"n": "desc"}]}),
        "sort by date and score": search(page | {"sort": ["at", "_score"], "query": match}),
        "sort by three keys": traps(key, rng)["sorted"],
        "sort by what is missing": search(page | {"sort": [
            {f"none-{at}": {"missing": "m" * 1_000, "unmapped_type": "keyword"}} for at in range(10)]}),
        "search after": search(page | {"sort": ["n", {"tag": "desc"}], "search_after": [100, "a"]}),
        "collapse": search({"size": 1_000, "collapse": {"field": "n"}}),
        "collapse with hits": search({"size": 100, "collapse": {"field": "tag", "inner_hits": {"name": "x", "size": 100}}}),
        "rescore": search({"size": 1_000, "query": match, "rescore": {"window_size": 10_000, "query": {
            "rescore_query": {"match_phrase": {"text": {"query": " ".join(WORDS[:3]), "slop": 10}}}}}}),
        "functions": search({"query": {"function_score": {"query": {"match_all": {}}, "functions": [
            {"random_score": {"seed": 1, "field": "n"}}, {"field_value_factor": {"field": "n", "modifier": "log1p"}}]}}}),
        "regexp": search({"query": {"regexp": {"text": ".*a.*b?.*"}}}),
        "wildcard": search({"query": {"wildcard": {"tag": "*1*"}}}),
        "words near words": search({"query": {"match": {"text": {"query": words, "fuzziness": 2}}}}),
        "terms": search({"query": {"terms": {"n": list(range(20_000))}}}),
        "ranges": search({"query": {"bool": {"should": ranges}}}),
        "many overlapping ranges": search({"size": 0, "timeout": "1s", "aggs": {"a": {"range": {"field": "n", "ranges": [{"from": 0}] * 20_000}}}}),
        "ranges in ranges": search({"size": 0, "aggs": {"a": {"range": {"field": "n", "ranges": [{"from": 0}] * 2_000}, "aggs": {"b": {"range": {"field": "n", "ranges": [{"from": 0}] * 2_000}}}}}}),
        "spans": search({"query": {"span_near": {"clauses": spans, "slop": 50, "in_order": False}}}),
        "phrase": search({"query": {"match_phrase": {"text": {"query": words, "slop": 100}}}}),
        "more like this": search({"query": {"more_like_this": {"fields": ["text"], "like": [words], "min_term_freq": 1, "max_query_terms": 500}}}),
        "phrase suggester": search({"suggest": {"text": words, "p": {"phrase": {"field": "text", "max_errors": 5, "direct_generator": [generator]}}}}),
        "terms of numbers": aggs({"terms": {"field": "n", "size": 50_000}}),
        "terms in terms": aggs({"terms": {"field": "tag", "size": 10_000}, "aggs": {"x": {"terms": {"field": "n", "size": 20}}, "c": {"cardinality": {"field": "n"}}}}),
        "histogram": aggs({"histogram": {"field": "n", "interval": 20, "min_doc_count": 1}}),
        "dates": aggs({"date_histogram": {"field": "at", "fixed_interval": "10m"}, "aggs": {"p": {"percentiles": {"field": "n"}}}}),
        "composite": aggs({"composite": {"size": 10_000, "sources": [{"a": {"terms": {"field": "tag"}}}, {"b": {"terms": {"field": "n"}}}]}}),
        "multi_terms": aggs({"multi_terms": {"terms": [{"field": "tag"}, {"field": "n"}], "size": 10_000}}),
        "significant text": aggs({"significant_text": {"field": "text"}}, {"match": {"text": WORDS[0]}}),
        "rare terms": aggs({"rare_terms": {"field": "n", "max_doc_count": 100}}),
        "percentiles": aggs({"percentiles": {"field": "n", "tdigest": {"compression": 1_000}}}),
        "deviation": aggs({"terms": {"field": "n", "size": 10_000}, "aggs": {"m": {"median_absolute_deviation": {"field": "n"}}}}),
        "filters that meet": aggs({"adjacency_matrix": {"filters": filters}}),
        "pipelines": aggs({"histogram": {"field": "n", "interval": 20}, "aggs": {"s": {"sum": {"field": "n"}}, "d": {"derivative": {"buckets_path": "s"}}, "c": {"cumulative_sum": {"buckets_path": "s"}}}}),
        "bulk": post("/flood/_bulk", docs(rng, 5_000), "application/x-ndjson"),
        # Their buffer is not emptied meanwhile.
        "bulk of many small ones": post("/unseen/_bulk", b'{"index":{}}\n{}\n' * 60_000, "application/x-ndjson"),
        "mget": post("/big/_mget", {"ids": ids}),
        "msearch": post("/_msearch", (f'{{"index":"big"}}\n{many}\n' * 200).encode(), "application/x-ndjson"),
        "scroll": search({"size": 10_000, "_source": False}, query="?scroll=10s"),
        "update by query": post("/flood/_update_by_query?conflicts=proceed&max_docs=5000", {}),
        "delete by query": post("/flood/_delete_by_query?conflicts=proceed&max_docs=5000", {"query": {"match_all": {}}}),
        "reindex": post("/_reindex?max_docs=5000", {"source": {"index": "big"}, "dest": {"index": "copy"}}),
        "merge": post("/big/_forcemerge?max_num_segments=1", b""),
        "shards of many copies": lambda: message("GET", "/_cat/shards?h=index", key),
        "aliases that are not there": post("/_aliases", {"actions": [
            {"remove": {"index": "big", "aliases": [f"none-{at}" for at in range(100_000)], "must_exist": True}}]}),
        "aliases of many indices": lambda: message("POST", "/_aliases", key, {"actions": [
            {"add": {"indices": ["many-*"], "aliases": [f"name-{next(count)}" for _ in range(300)]}}]}),
        "aliases by a pattern": post("/_aliases", {"actions": [{"remove": {"indices": ["many-*"], "aliases": ["name-*1"]}}]}),
        "state": lambda: message("GET", "/_cluster/state", key),
    }


async def go(server, options):
    host, port = server.url.split("//", 1)[1].rsplit(":", 1)
    _, _, made = server.request("POST", "/_security/api_key", {"name": "one"})
    rng = random.Random(7)
    requests = kinds(f"ApiKey {made['encoded']}", rng)
    fields = {"text": {"type": "text"}, "tag": {"type": "keyword"}, "n": {"type": "long"}, "at": {"type": "date"}}
    for index in ("big", "flood"):
        server.request("PUT", f"/{index}", {"settings": {"number_of_replicas": 0, "requests.cache.enable": False}, "mappings": {"properties": fields}})
    server.request("PUT", "/long", {"settings": {"number_of_replicas": 0, "highlight.max_analyzed_offset": 10_000_000, "requests.cache.enable": False}, "mappings": {"properties": fields}})
    server.request("PUT", "/long/_doc/1", {"text": " ".join(rng.choices(WORDS, k=100_000))})
    server.request("PUT", "/wide", {"settings": {"number_of_shards": 100, "number_of_replicas": 1000, "requests.cache.enable": False}})
    # What is said of many indices stands beside mappings whose text is 20 MB.
    for at in range(100):
        server.request("PUT", f"/many-{at}", {"settings": {"number_of_replicas": 0}})
    server.request("PUT", "/many-*/_mapping", {"properties": {"y" * 220 + str(at): {"type": "text"} for at in range(900)}})
    server.request("PUT", "/unseen", {"settings": {"number_of_replicas": 0, "refresh_interval": -1}})
    for _ in range(DOCS // 1_000):
        server.request("POST", "/big/_bulk", docs(rng, 1_000))
    server.request("POST", "/_refresh")
    rows = []
    for name in options.names or requests:
        begin, statuses = server.log.stat().st_size, {}

        async def lane(name=name, statuses=statuses):
            wire = Wire(host, int(port))
            for _ in range(2):
                status, _, _ = await asyncio.wait_for(wire.ask(requests[name]()), 120)
                statuses[status] = statuses.get(status, 0) + 1
            wire.close()

        await asyncio.gather(*(lane() for _ in range(options.lanes)))
        # Lines are written a moment later.
        await asyncio.sleep(0.2)
        told = server.log.read_bytes()[begin:].decode("utf-8", "replace")
        held = [float(number) * UNITS[unit] for number, unit in HELD.findall(told)]
        long = [ms for ms in held if ms > 5]
        rows.append((name, ", ".join(f"{status}: {count}" for status, count in sorted(statuses.items())), len(long), max(long, default=0)))
        print(f"{name:24} {rows[-1][1]:12} " + (f"{len(long)} times, {max(long):.1f} ms at most" if long else "never"), flush=True)
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--lanes", type=int, default=3)
    parser.add_argument("--out")
    options = parser.parse_args()
    # The log tells what held the core.
    os.environ["CORELODE_LOG"] = "info,corelode_runtime=debug,runtime=debug"
    with Server(args=["-E", "xpack.security.http.ssl.enabled=false", "-E", "oauth.enabled=false", "--memory", "2gb"], cores=1) as server:
        rows = asyncio.run(go(server, options))
    if options.out:
        commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, capture_output=True, text=True).stdout.strip()
        command = " ".join(["tools/conform/stretches.py", *sys.argv[1:]])
        head = [f"# What holds a core, {datetime.date.today()}", "",
                f"Command: `{command}`; commit {commit}; one core, {DOCS:,} documents, {options.lanes} connections; tasks that held",
                "the core for more than 5 ms of its processor time.", "",
                "| asked for | answers | times | longest, ms |", "|---|---|---|---|"]
        Path(options.out).write_text("\n".join([*head, *(f"| {name} | {told} | {count} | {most:.1f} |" for name, told, count, most in rows)]) + "\n")
    return 1 if any(count for _, _, count, _ in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
