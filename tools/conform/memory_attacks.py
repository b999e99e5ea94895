"""The kinds of requests that `memory.py` makes: each is a function of a run that answers how often it got which
status and reason."""

import base64
import gzip
import json
import random
import re
import socket
import threading
import time
from collections import Counter
from contextlib import contextmanager
from typing import NamedTuple

MIB = 1 << 20
LANES = 12
ND = "application/x-ndjson"
PACKED = {"Content-Encoding": "gzip"}


class Answer(NamedTuple):
    """An answer; status 0 where there was none, the reason is then the client's."""

    status: int
    reason: str
    body: bytes


def spread(run, requests, lanes=LANES):
    """Does requests on some connections at once."""
    left, lock, found = list(requests), threading.Lock(), Counter()

    def lane():
        wire = run.wire()
        while True:
            with lock:
                if not left:
                    break
                request = left.pop()
            answer = wire.ask(*request)
            parts = inner(answer)
            with lock:
                found[(answer.status, answer.reason)] += 1
                found.update(parts)
        wire.close()

    threads = [threading.Thread(target=lane) for _ in range(lanes)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return found


@contextmanager
def many(run):
    """Forty indices of one document, `many0` to `many39`, for a while."""
    wire = run.wire()
    for n in range(40):
        wire.ask("PUT", f"/many{n}/_doc/1", {"k": "a"})
    wire.ask("POST", "/_refresh")
    try:
        yield wire
    finally:
        for n in range(40):
            wire.ask("DELETE", f"/many{n}")
        wire.close()


def inner(answer):
    """Refusals inside of an answer that is 200 as a whole."""
    found = Counter()
    if answer.status == 200 and answer.body.startswith(b'{"took"') and b'"responses"' in answer.body[:40]:
        for one in json.loads(answer.body)["responses"]:
            if one.get("status", 200) >= 400:
                cause = (one["error"].get("root_cause") or [one["error"]])[0]
                found[(one["status"], cause["type"])] += 1
    return found


def told(begin):
    """Status and reason of an answer's first bytes."""
    status = int(begin[9:12])
    kind = re.search(rb'"type":"(\w+)"', begin)
    return status, kind[1].decode() if kind and status >= 400 else ""


def search(body, path="/big/_search"):
    return ("POST", path, body)


# Answers


def slow_readers(run):
    """Answers of some MiB that nobody reads."""
    found, lines = Counter(), []
    body = b'{"query":{"match_all":{}}}'
    head = (
        "POST /large/_search?size=10000 HTTP/1.1\r\nHost: h\r\n"
        f"Authorization: {run.keys['attacker']}\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    ).encode()
    for _ in range(100):
        line = socket.create_connection(run.place, timeout=30)
        line.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        line.sendall(head + body)
        lines.append(line)
    time.sleep(8)
    for line in lines:
        try:
            found[told(line.recv(2048))] += 1
        except (OSError, ValueError) as error:
            found[(0, type(error).__name__)] += 1
        line.close()
    return found


def large_pages(run):
    return spread(run, [search({"query": {"match_all": {}}}, "/large/_search?size=10000")] * 60)


def wide_windows(run):
    """Pages beyond what an index allows, then within what it was told to allow."""
    order = [{"tag": "asc"}, {"n": "desc"}, {"at": "asc"}, {"word": "asc"}, "_doc"]
    asked = [search({"from": 10**9, "size": 10_000}), search({"size": 10**8})]
    run.wire().ask("PUT", "/big/_settings", {"index.max_result_window": 2_000_000_000})
    asked += [search({"size": count, "sort": order, "_source": False}) for count in (60_000, 10**6, 10**9) for _ in range(12)]
    asked += [search({"from": 1_999_000_000, "size": 10})] * 12
    found = spread(run, asked)
    run.wire().ask("PUT", "/big/_settings", {"index.max_result_window": None})
    return found


def many_gets(run):
    docs = [{"_index": "large", "_id": str(number % 40)} for number in range(3_000)]
    return spread(run, [("POST", "/_mget", {"docs": docs}), ("POST", "/large/_mget", {"ids": [str(n) for n in range(40)]})] * 10)


def many_searches(run):
    whole = b'{"index":"large"}\n{"size":40}\n' * 1_000
    small = b'{"index":"big"}\n{"size":100,"query":{"match_all":{}}}\n' * 3_000
    return spread(run, [("POST", "/_msearch", whole, ND), ("POST", "/_msearch", small, ND)] * 4)


def highlights(run):
    marks = {"fields": {"text": {"number_of_fragments": 10_000, "fragment_size": 50}}, "max_analyzed_offset": 999_999}
    whole = {"fields": {"*": {"number_of_fragments": 0}}, "pre_tags": ["<" + "b" * 1_000 + ">"], "post_tags": ["</b>"], "max_analyzed_offset": 999_999}
    query = {"query_string": {"query": "word1* OR word2* OR word3*", "default_field": "text"}}
    asked = [search({"size": 40, "query": query, "highlight": kind}, "/large/_search") for kind in (marks, whole)]
    return spread(run, asked * 12)


def vectors_of_terms(run):
    explained = [("GET", f"/large/_termvectors/{n % 40}?term_statistics=true&positions=true&offsets=true") for n in range(60)]
    body = json.dumps({"docs": [{"_index": "large", "_id": str(n % 40), "term_statistics": True} for n in range(400)]}).encode()
    return spread(run, explained + [("POST", "/_mtermvectors", body)] * 6)


# Aggregations


def best_of_buckets(run):
    tops = [{"terms": {"field": "n", "size": size}, "aggs": {"a": {"top_hits": {"size": 100}}}} for size in (20_000, 60_000)]
    return spread(run, [search({"size": 0, "aggs": {"a": agg}}) for agg in tops] * 12)


def deep_buckets(run):
    deep = {"cardinality": {"field": "n"}}
    for level in range(8):
        deep = {"terms": {"field": "n" if level % 2 else "tag", "size": 1000}, "aggs": {"a": deep}}
    wide = {"terms": {"field": "n", "size": 65_000}, "aggs": {"b": {"terms": {"field": "tag", "size": 500}}}}
    digests = {"terms": {"field": "n", "size": 65_000}, "aggs": {"b": {"percentiles": {"field": "n"}}, "c": {"cardinality": {"field": "n", "precision_threshold": 40_000}}}}
    return spread(run, [search({"size": 0, "aggs": {"a": agg}}) for agg in (deep, wide, digests)] * 12)


def wide_aggregations(run):
    sources = [{f"s{n}": {"terms": {"field": field}}} for n, field in enumerate(("n", "word", "tag"))]
    pages = {"composite": {"size": 65_000, "sources": sources}, "aggs": {"t": {"top_metrics": {"metrics": {"field": "n"}, "sort": {"at": "asc"}}}}}
    narrow = {"date_histogram": {"field": "at", "fixed_interval": "1ms"}}
    empty = {"histogram": {"field": "n", "interval": 1e-9, "min_doc_count": 0}}
    many = {f"a{n}": {"terms": {"field": "word", "size": 60_000, "shard_size": 60_000}} for n in range(50)}
    texts = {"significant_text": {"field": "text", "size": 10_000, "min_doc_count": 1}}
    scripted = {"scripted_metric": {
        "init_script": "state.l = []", "map_script": "for (int i = 0; i < 1000; ++i) { state.l.add('x' + i) }",
        "combine_script": "return state.l", "reduce_script": "return states",
    }}
    filters = {"filters": {"filters": {f"f{n}": {"term": {"n": n}} for n in range(5_000)}}, "aggs": {"h": {"top_hits": {"size": 100}}}}
    asked = [{"a": agg} for agg in (pages, narrow, empty, texts, scripted, filters)] + [many]
    return spread(run, [search({"size": 0, "aggs": aggs}) for aggs in asked] * 6)


# Queries


def long_words(run):
    """Buckets, orders and groups by keywords of 30,000 bytes."""
    wire, rng = run.wire(), random.Random(3)
    fields = {"k": {"type": "keyword"}, "g": {"type": "keyword"}}
    wire.ask("PUT", "/attacked-words", {"settings": {"refresh_interval": "-1"}, "mappings": {"properties": fields}})
    for _ in range(30):
        docs = [{"k": rng.randbytes(15_000).hex(), "g": [f"{n}" for n in range(5)]} for _ in range(100)]
        body = b"".join(b'{"index":{}}\n' + json.dumps(doc).encode() + b"\n" for doc in docs)
        for _ in range(100):
            if wire.ask("POST", "/attacked-words/_bulk?filter_path=errors", body, ND).status != 429:
                break
            time.sleep(0.1)
    wire.ask("POST", "/attacked-words/_refresh")
    wire.ask("POST", "/attacked-words/_flush")
    words = {"field": "k", "size": 60_000}
    buckets = [
        {"terms": words},
        {"composite": {"size": 60_000, "sources": [{"a": {"terms": {"field": "k"}}}]}},
        {"multi_terms": {"terms": [{"field": "k"}, {"field": "g"}], "size": 60_000}},
        {"rare_terms": {"field": "k", "max_doc_count": 100}},
        {"significant_terms": {**words, "min_doc_count": 1}},
        {"terms": {"field": "g"}, "aggs": {"b": {"terms": words}}},
        {"terms": words, "aggs": {"t": {"top_hits": {"size": 1, "sort": [{"k": "desc"}]}}}},
    ]
    bodies = [{"size": 0, "aggs": {"a": one}} for one in buckets]
    bodies += [
        {"size": 10_000, "_source": False, "sort": ["k", "_doc"]},
        {"size": 10_000, "_source": False, "docvalue_fields": ["k"]},
        {"size": 10_000, "collapse": {"field": "k", "inner_hits": {"name": "x", "size": 10}}},
        {"size": 10_000, "_source": False, "sort": ["k"], "search_after": ["a" * 30_000]},
    ]
    found = Counter()
    for body in bodies:
        found += spread(run, [search(body, "/attacked-words/_search")] * 6, 6)
    return found


def long_lists(run):
    words = [f"word{n} {n}" for n in range(60_000)]
    numbers = list(range(65_000))
    several = {"bool": {"should": [{"terms": {"word": words[:20_000]}} for _ in range(8)]}}
    clauses = b'{"query":{"bool":{"should":[' + b'{"match_all":{}},' * (MIB // 4) + b'{"match_all":{}}]}}}'
    commas = b'{"query":{"terms":{"n":[' + b"1," * (4 * MIB) + b"1]}}}"
    ids = {"ids": {"values": [str(n) for n in range(100_000)]}}
    asked = [search({"query": query}) for query in ({"terms": {"word": words}}, {"terms": {"n": numbers}}, several, ids)]
    return spread(run, (asked + [search(clauses), search(commas)]) * 6)


def explosions(run):
    """Patterns that stand for most words, or for many states."""
    patterns = [
        {"wildcard": {"word": {"value": "*o*r*d*1*"}}},
        {"wildcard": {"word": {"value": "*" * 5_000 + "a"}}},
        {"wildcard": {"text": {"value": "*?" * 400}}},
        {"regexp": {"word": {"value": "(.*a){20}", "max_determinized_states": 2_000_000_000}}},
        {"regexp": {"word": {"value": "(a|b|c|d){1,1000}(x|y){1,1000}", "max_determinized_states": 2_000_000_000}}},
        {"regexp": {"word": {"value": "(.*[a-z]){1,500}"}}},
        {"regexp": {"word": {"value": "(a|b)*a(a|b){40}", "max_determinized_states": 2_000_000_000}}},
        {"regexp": {"word": {"value": "((((w|o)*r)*d)*[0-9 ]*)*" * 20}}},
        {"regexp": {"word": {"value": "x{100000}"}}},
        {"fuzzy": {"word": {"value": "word100 1", "max_expansions": 1_000_000, "fuzziness": 2}}},
        {"fuzzy": {"text": {"value": "w" * 4_000, "max_expansions": 1_000_000}}},
        {"prefix": {"word": {"value": "w", "rewrite": "scoring_boolean"}}},
        {"match_phrase_prefix": {"text": {"query": "word1 w", "max_expansions": 1_000_000}}},
        {"query_string": {"query": "w* AND *1* AND /w.*/ AND word1~2", "default_field": "*"}},
        {"intervals": {"text": {"all_of": {"intervals": [{"wildcard": {"pattern": "w*"}}] * 20}}}},
        {"span_multi": {"match": {"prefix": {"text": {"value": "w"}}}}},
        {"more_like_this": {"fields": ["text"], "like": ["word1 " * 100_000] * 20, "max_query_terms": 100_000, "min_term_freq": 1}},
    ]
    return spread(run, [search({"query": pattern, "size": 1_000}) for pattern in patterns] * 6)


def deep_trees(run):
    """Objects inside of objects, in queries, documents and aggregations."""
    depth = 20_000
    query = b'{"query":' + b'{"bool":{"must":' * depth + b'{"match_all":{}}' + b"}}" * depth + b"}"
    doc = b'{"a":' * depth + b"1" + b"}" * depth
    lists = b'{"n":' + b"[" * 1_000_000 + b"]" * 1_000_000 + b"}"
    aggs = b'{"aggs":' + b'{"a":{"global":{},"aggs":' * 2_000 + b"{}" + b"}}" * 2_000 + b"}"
    asked = [("POST", "/big/_search", query), ("POST", "/attacked-trees/_doc", doc), ("POST", "/attacked-trees/_doc", lists), ("POST", "/big/_search", aggs)]
    return spread(run, asked * 6)


def suggestions(run):
    rng = random.Random(7)
    text = " ".join(f"word{rng.randrange(3000)}x" for _ in range(50))
    terms = {f"s{n}": {"text": text, "term": {"field": "text", "suggest_mode": "always", "size": 1_000, "max_inspections": 100_000}} for n in range(40)}
    phrase = {"p": {"text": text, "phrase": {"field": "text", "size": 1_000, "max_errors": 10, "direct_generator": [{"field": "text", "suggest_mode": "always", "size": 1_000}]}}}
    return spread(run, [search({"suggest": terms}), search({"suggest": phrase})] * 8)


def documents_of_suggestions(run):
    """Options with tags, and with the documents that they lead to: a search of a few kilobytes."""
    wire = run.wire()
    mapping = {"settings": {"number_of_replicas": 0}, "mappings": {"properties": {"s": {"type": "completion"}, "t": {"type": "text"}, "f": {"enabled": False}}}}
    assert wire.ask("PUT", "/offers", mapping).status == 200
    long = "f" * 4_000
    for start in range(0, 2_000, 200):
        lines = (json.dumps({"index": {}}) + "\n" + json.dumps({"s": f"sugg {n}", "t": f"quick w{n}", "f": {"f": long}}) for n in range(start, start + 200))
        assert wire.ask("POST", "/offers/_bulk", ("\n".join(lines) + "\n").encode()).status == 200
    wire.ask("POST", "/offers/_refresh")
    text = " ".join(f"w{n}" for n in range(200))
    terms = {f"s{n}": {"text": text, "term": {"field": "t", "size": 1_000, "suggest_mode": "always", "min_word_length": 1}} for n in range(20)}
    generator = {"field": "t", "suggest_mode": "always", "size": 100, "min_word_length": 1}
    tagged = {"field": "t", "size": 1_000, "max_errors": 5, "confidence": 0, "direct_generator": [generator], "highlight": {"pre_tag": "p" * 5_000, "post_tag": "q" * 5_000}}
    phrases = {f"s{n}": {"text": "w0x w1x w2x w3x w4x", "phrase": tagged} for n in range(20)}
    completions = {f"s{n}": {"prefix": "sugg", "completion": {"field": "s", "size": 1_000}} for n in range(50)}
    requests = [search({"size": 0, "suggest": asked}, "/offers/_search") for asked in (terms, phrases, completions)] * 2
    found = spread(run, requests)
    wire.ask("DELETE", "/offers")
    return found


def automata(run):
    """Expressions that each become a large automaton, by the thousand, and over many indices."""
    expressions = [{"regexp": {"k": {"value": f"({'x' * 400}|{'y' * 390}{n:04d})*.*[a-f]{{1,50}}"}}} for n in range(2_000)]
    long = [{"regexp": {"k": f"{n:03d}{'x' * 890}.*"}} for n in range(100)]
    near = {"match": {"k": {"query": " ".join(f"handbook{n}" for n in range(200)), "fuzziness": "AUTO"}}}
    requests = [search({"query": {"bool": {"should": expressions}}}, "/many0/_search"), search({"query": {"bool": {"should": long}}}, "/many*/_search"), search({"query": near}, "/many*/_search")] * 2
    with many(run):
        return spread(run, requests, lanes=2)


def empty_buckets(run):
    """Buckets without documents, which a request says once: between two bounds with much below each, and ranges in ranges of many indices."""
    below = {f"s{n}": {"terms": {"field": "tag"}} for n in range(40)}
    bounds = {"histogram": {"field": "none", "interval": 1, "min_doc_count": 0, "extended_bounds": {"min": 0, "max": 65_000}}, "aggs": below}
    ranges = [{"from": n, "to": n + 1} for n in range(240)]
    inner = {"b": {"range": {"field": "none", "ranges": ranges}}}
    requests = [search({"size": 0, "aggs": {"a": bounds}}), search({"size": 0, "aggs": {"a": {"range": {"field": "none", "ranges": ranges}, "aggs": inner}}}, "/many*/_search")]
    with many(run):
        return spread(run, requests * 4, lanes=2)


def looked_up(run):
    """A list of twenty thousand words that stands in one document and in hundreds of clauses, of one index and of many."""
    wire = run.wire()
    wire.ask("PUT", "/attacked-list", {"mappings": {"properties": {"k": {"type": "keyword", "index": False, "doc_values": False}}}})
    wire.ask("PUT", "/attacked-list/_doc/1?refresh=true", {"k": [f"{'word' * 6}{n:05d}" for n in range(20_000)]})
    lookup = {"index": "attacked-list", "id": "1", "path": "k"}
    clauses = [{"terms": {"k.keyword": lookup, "boost": 1 + n}} for n in range(400)]
    filters = {"filters": {"filters": [{"terms": {"k.keyword": lookup}} for _ in range(300)]}}
    body = {"query": {"bool": {"should": clauses}}}
    requests = [search(body, "/many0/_search"), search(body, "/many*/_search"), search({"size": 0, "aggs": {"a": filters}}, "/many*/_search")]
    requests += [("POST", "/many*/_count", body), ("POST", "/many0/_delete_by_query", body)]
    with many(run):
        return spread(run, requests * 3, lanes=3)


def long_results(run):
    """Keys of thirty kilobytes that a script or a sort gives each document, and hundreds of pipelines in each bucket."""
    wire = run.wire()
    docs = "".join(f'{{"index":{{}}}}\n{{"n":{n},"k":"k{n % 100}"}}\n' for n in range(10_000))
    wire.ask("PUT", "/attacked-long", {"mappings": {"properties": {"n": {"type": "long"}, "k": {"type": "keyword"}}}})
    wire.ask("POST", "/attacked-long/_bulk?refresh=true", docs.encode(), ND)
    script = {"source": "params.p+doc['n'].value", "params": {"p": "x" * 30_000}}
    scripted = {f"a{n}": {"terms": {"script": script, "size": 10_000}} for n in range(4)}
    missing = [{f"none{n}": {"unmapped_type": "keyword", "missing": "m" * 30_000}} for n in range(10)]
    sums = {f"c{n}": {"cumulative_sum": {"buckets_path": "m"}} for n in range(300)}
    bounds = {"histogram": {"field": "none", "interval": 1, "min_doc_count": 0, "extended_bounds": {"min": 0, "max": 60_000}}}
    piped = {"histogram": {"field": "n", "interval": 1}, "aggs": {"m": {"max": {"field": "n"}}, **sums}}
    requests = [search({"size": 0, "aggs": scripted}, "/attacked-long/_search"), search({"size": 10_000, "_source": False, "sort": missing}, "/attacked-long/_search")]
    requests += [search({"size": 0, "aggs": {"a": one}}, "/attacked-long/_search") for one in (piped, {**bounds, "aggs": piped["aggs"]})]
    ties = {f"x{n}": {"max_bucket": {"buckets_path": "a>_count"}} for n in range(300)}
    requests += [search({"size": 0, "aggs": {"a": bounds, **ties}}, "/attacked-long/_search")]
    return spread(run, requests * 4, lanes=2)


# What stays


def users_and_roles(run):
    """Users, roles, role mappings and privileges with notes of half a megabyte."""
    notes = {"m": "x" * 400_000}
    user = {"password": "some-password", "roles": [f"{n:03d}" + "r" * 400 for n in range(300)], "metadata": notes}
    privileges = {f"p{n}": {"actions": [f"a:{'b' * 100}"] * 20} for n in range(100)}
    kinds = {
        "role": {"cluster": ["monitor"], "metadata": notes},
        "role_mapping": {"enabled": True, "roles": ["r"], "rules": {"field": {"username": "*"}}, "metadata": notes},
        "user": user,
    }
    found = Counter()
    for kind, body in kinds.items():
        found += spread(run, [("PUT", f"/_security/{kind}/attacked-{n}", body) for n in range(120)], 4)
    found += spread(run, [("PUT", "/_security/privilege", {f"attacked{n}": privileges}) for n in range(100)], 4)
    wire = run.wire()
    for kind in kinds:
        for n in range(120):
            wire.ask("DELETE", f"/_security/{kind}/attacked-{n}")
    wire.close()
    return found


def wide_changes(run):
    """One mapping for many indices, and names of aliases for each of many, several changes at once."""
    wire = run.wire()
    for n in range(100):
        wire.ask("PUT", f"/many{n}", {"settings": {"number_of_shards": 1}})
    wide = {"properties": {f"{'f' * 200}{n}": {"type": "keyword", "meta": {"a": "b" * 40}} for n in range(800)}}
    add = lambda names, **more: {"actions": [{"add": {"indices": ["many*"], "aliases": names, **more}}]}
    filtered = add([f"attacked-f{n}" for n in range(300)], filter={"terms": {"k": ["z" * 100] * 200}})
    requests = [("PUT", "/many*/_mapping", wide)] * 4 + [("POST", "/_aliases", filtered)] * 4
    requests += [("POST", "/_aliases", add([f"attacked-{at}-{n}" for n in range(500)])) for at in range(40)]
    found = spread(run, requests, 4)
    for n in range(100):
        wire.ask("DELETE", f"/many{n}")
    wire.close()
    return found



def moments(run):
    """Points in time and scrolls by the thousand."""
    found = spread(run, [("POST", "/big/_pit?keep_alive=5s", b"")] * 2_000)
    found += spread(run, [search({"size": 1_000}, "/big/_search?scroll=5s")] * 1_000)
    # They end by themselves, and make room for what the next kind keeps.
    time.sleep(10)
    return found


def kept_views(run):
    """Each point in time keeps documents that were overwritten since."""
    found, wire, rng = Counter(), run.wire(), random.Random(7)
    for _ in range(150):
        body = b"".join(
            json.dumps({"index": {"_id": str(n)}}).encode() + b"\n" + json.dumps({"text": f"{rng.random()} " * 1_500}).encode() + b"\n" for n in range(30)
        )
        for request in (("POST", "/attacked-views/_bulk?refresh=true&filter_path=errors", body, ND), ("POST", "/attacked-views/_pit?keep_alive=1m", b"")):
            answer = wire.ask(*request)
            found[(answer.status, answer.reason)] += 1
    return found


def many_indices(run):
    asked = [("PUT", f"/attacked-{n}", {"settings": {"number_of_shards": 1}}) for n in range(300)]
    found = spread(run, asked)
    return found + spread(run, [("POST", f"/attacked-{n}/_doc", {"text": "x" * 1_000, f"f{n}": n}) for n in range(300)])


def many_mappings(run):
    """What indices, templates and settings of the cluster hold at rest, each with names of its own."""

    def fields(n):
        pair = {"type": "text", "fields": {"k": {"type": "keyword"}}}
        return {"mappings": {"properties": {f"field_number_{n}_{at}": pair for at in range(490)}}}

    found = spread(run, [("PUT", f"/attacked-{n}", fields(n)) for n in range(200)], 4)
    noted = {"mappings": {"_meta": {"note": "y" * 900_000}}}
    found += spread(run, [("PUT", f"/attacked-noted-{n}", noted) for n in range(100)], 4)
    names = [f"attacked-{n}" for n in range(100)]
    found += spread(run, [("PUT", f"/_component_template/{name}", {"template": fields(name)}) for name in names], 4)
    wire = run.wire()
    for name in names:
        wire.ask("DELETE", f"/_component_template/{name}")
    wire.close()
    return found


def answers_of_the_state(run):
    """What many indices of many fields are, all of it, in many ways at once."""
    fields = lambda n: {f"field_number_{n}_{at}": {"type": "text", "fields": {"k": {"type": "keyword"}}} for at in range(490)}
    found = spread(run, [("PUT", f"/attacked-s{n}", {"mappings": {"properties": fields(n)}}) for n in range(60)], 4)
    paths = (
        "/_field_caps?fields=*",
        "/_mapping/field/*?include_defaults",
        "/_mapping/field/*.k",
        "/_mapping?pretty",
        "/attacked-*?pretty",
        "/_cluster/state",
        "/_cluster/state?format=yaml",
        "/_cluster/state?format=smile",
        "/_mapping?format=cbor",
        "/_all/_settings?include_defaults&flat_settings",
    )
    for path in paths:
        found += spread(run, [("GET", path)] * 24, 24)
    return found


def deep_margins(run):
    """Small documents that are mostly margin once they are laid out."""
    wire = run.wire()
    wire.ask("PUT", "/attacked-deep", {"mappings": {"properties": {"o": {"type": "object", "enabled": False}}}})
    tree = 1
    for _ in range(800):
        tree = {"a": tree}
    for n in range(200):
        wire.ask("PUT", f"/attacked-deep/_doc/{n}", {"o": tree})
    wire.ask("POST", "/attacked-deep/_refresh")
    wire.close()
    return spread(run, [("GET", f"/attacked-deep/_search?size=200&{laid}", None) for laid in ("pretty", "format=yaml")] * 4, 4)


def many_fields(run):
    found = Counter()
    wire = run.wire()
    wire.ask("PUT", "/attacked-fields", {"settings": {"index.mapping.total_fields.limit": 1_000_000}})
    for limit in (None, 1):
        index = "attacked-fields" if limit is None else "attacked-few"
        asked = [("POST", f"/{index}/_doc", {f"f{lane}_{n}": "some words here" for n in range(2_000)}) for lane in range(20)]
        found += spread(run, asked, 4)
    return found


# Bodies


def half_bodies(run):
    """Bodies that are announced, begun, and never ended."""
    lines, found = [], Counter()
    head = (
        "POST /small/_bulk HTTP/1.1\r\nHost: h\r\n"
        f"Authorization: {run.keys['attacker']}\r\nContent-Type: {ND}\r\nContent-Length: {90 * MIB}\r\n\r\n"
    ).encode()
    for _ in range(400):
        try:
            line = socket.create_connection(run.place, timeout=2)
            lines.append(line)
            line.sendall(head + b'{"index":{}}\n')
            line.setblocking(False)
        except OSError:
            continue
    end = time.monotonic() + 8
    while time.monotonic() < end:
        for line in lines:
            try:
                line.send(b"x" * 65_536)
            except OSError:
                pass
        time.sleep(0.05)
    for line in lines:
        try:
            begin = line.recv(2048)
            if begin:
                found[told(begin)] += 1
        except (OSError, ValueError):
            pass
        line.close()
    return found


def many_connections(run):
    """Heads that never end, on more connections than there is memory for."""
    lines = []
    for _ in range(4_000):
        try:
            line = socket.create_connection(run.place, timeout=2)
            line.sendall(b"GET / HTTP/1.1\r\nHost: h\r\nX-Slow: " + b"x" * 6_000)
            lines.append(line)
        except OSError:
            break
    time.sleep(4)
    for line in lines:
        line.close()
    return Counter()


def bombs(run):
    spaces = gzip.compress(b" " * (90 * MIB), 9)
    zeros = gzip.compress(b'{"index":{}}\n{"text":"' + b"a " * (40 * MIB) + b'"}\n', 9)
    query = gzip.compress(b'{"query":{"terms":{"n":[' + b"1," * (40 * MIB) + b"1]}}}", 9)
    over = gzip.compress(b"x" * (200 * MIB), 9)
    asked = [("POST", "/small/_bulk", body, ND, PACKED) for body in (spaces, zeros, over)]
    return spread(run, (asked + [("POST", "/big/_search", query, "application/json", PACKED)]) * 6)


def large_bulks(run):
    big = json.dumps({"text": "x" * (2 * MIB)}).encode()
    lines = b"".join(b'{"index":{}}\n' + big + b"\n" for _ in range(12))
    many = b'{"index":{}}\n{}\n' * 400_000
    words = json.dumps({"text": " ".join(f"u{n}" for n in range(150_000))}).encode()
    unlike = b"".join(b'{"index":{}}\n' + words + b"\n" for _ in range(8))
    return spread(run, [("POST", "/attacked-bulk/_bulk?filter_path=errors", body, ND) for body in (lines, many, unlike)] * 8)


def analyses(run):
    deep = {"tokenizer": {"type": "ngram", "min_gram": 1, "max_gram": 2}, "text": "abcdefghij" * 100_000}
    return spread(run, [("POST", "/_analyze", {"analyzer": "standard", "text": "a " * MIB}), ("POST", "/_analyze", deep)] * 8)


# Scripts


def scripts(run):
    """Updates whose scripts make garbage."""
    sources = [
        "List l = []; while (true) { l.add('xxxxxxxxxxxxxxxx' + l.size()) }",
        "String s = 'x'; while (true) { s += s }",
        "String s = 'x'; for (int i = 0; i < 24; ++i) { s += s } ctx._source.big = s",
        "Map m = [:]; for (int i = 0; i < 10000000; ++i) { m.put('k' + i, [i, i, i]) } ctx._source.m = m",
        "def a = new long[2000000000]; ctx._source.a = a[0]",
        "StringBuilder b = new StringBuilder(); while (true) { b.append('yyyyyyyyyyyyyyyyyyyyyyyyy') }",
        "List l = []; l.add(l); ctx._source.l = l",
        "String s = 'x'; for (int i = 0; i < 20; ++i) { s += s } List l = []; for (int i = 0; i < 100000; ++i) { l.add(s) } ctx._source.l = l",
        "def l = [ctx._source]; for (int i = 0; i < 40; ++i) { l = [l, l] } ctx._source.l = l",
    ]
    asked = [("POST", f"/small/_update/{n}", {"script": {"source": source}}) for n, source in enumerate(sources)]
    fields = {f"f{n}": {"script": {"source": "String s = 'x'; for (int i = 0; i < 14; ++i) { s += s } return s"}} for n in range(30)}
    asked += [search({"size": 10_000, "script_fields": fields})]
    asked += [("POST", "/big/_update_by_query?conflicts=proceed&max_docs=2000", {"script": {"source": sources[2]}})]
    return spread(run, asked * 6)


def templates(run):
    source = "{{#toJson}}l{{/toJson}}" * 2_000
    body = {"source": source, "params": {"l": ["x" * 1_000] * 200}}
    loop = {"source": '{"query":{"terms":{"tag":[' + "{{#l}}" * 4 + '"{{.}}",' + "{{/l}}" * 4 + '"x"]}}}', "params": {"l": list(range(300))}}
    return spread(run, [("POST", "/_render/template", body), ("POST", "/big/_search/template", body), ("POST", "/_render/template", loop)] * 8)


# Long keys, and answers that nobody reads


def long_keys(run):
    """Buckets and hits by 3,000 keywords of 30,000 letters (90 MB)."""
    fields = {"k": {"type": "keyword"}, "g": {"type": "keyword"}}
    run.wire().ask("PUT", "/attacked-keys", {"settings": {"refresh_interval": "-1"}, "mappings": {"properties": fields}})
    rng = random.Random(3)
    for _ in range(30):
        docs = [json.dumps({"k": rng.randbytes(15_000).hex(), "g": [str(n) for n in range(5)]}) for _ in range(100)]
        body = "".join(f'{{"index":{{}}}}\n{doc}\n' for doc in docs).encode()
        for _ in range(200):
            if run.wire().ask("POST", "/attacked-keys/_bulk?filter_path=errors", body, ND).body == b'{"errors":false}':
                break
            time.sleep(0.1)
    for order in ("_refresh", "_flush"):
        run.wire().ask("POST", f"/attacked-keys/{order}")
    by_key = {"terms": {"field": "k", "size": 60_000}}
    aggs = [
        by_key,
        {"terms": {"field": "k"}},
        {"terms": {"field": "g"}, "aggs": {"b": by_key}},
        {**by_key, "aggs": {"t": {"top_hits": {"size": 1, "sort": [{"k": "desc"}]}}}},
        {"composite": {"size": 60_000, "sources": [{"a": {"terms": {"field": "k"}}}]}},
        {"multi_terms": {"terms": [{"field": "k"}, {"field": "g"}], "size": 60_000}},
        {"rare_terms": {"field": "k", "max_doc_count": 100}},
        {"significant_terms": {"field": "k", "min_doc_count": 1, "size": 60_000}},
        {"top_metrics": {"metrics": {"field": "k"}, "sort": {"k": "asc"}, "size": 10}},
    ]
    bodies = [{"size": 0, "aggs": {"a": agg}} for agg in aggs]
    bodies.append({"size": 10_000, "_source": False, "sort": ["k"]})
    bodies.append({"size": 10_000, "_source": False, "docvalue_fields": ["k"]})
    bodies.append({"size": 10_000, "collapse": {"field": "k", "inner_hits": {"name": "x", "size": 10}}})
    found = Counter()
    for body in bodies:
        found += spread(run, [search(body, "/attacked-keys/_search")] * 6, 6)
    return found


def long_notes(run):
    """Templates, roles and mappings of roles with much noted on them, shown to many at once."""
    note = {f"k{n}": "x" * 1_000 for n in range(400)}
    role = {"cluster": ["monitor"], "metadata": note}
    kinds = [
        ("/_component_template", {"template": {}, "_meta": note}),
        ("/_security/role", role),
        ("/_security/role_mapping", {"roles": ["a"], "enabled": True, "rules": {"field": {"username": "a"}}, "metadata": note}),
    ]
    wire, found, made, end = run.wire(), Counter(), [], time.monotonic() + 20
    for path, body in kinds:
        for number in range(20):
            answer = wire.ask("PUT", f"{path}/attacked{number}", body)
            while answer.status == 429 and len(made) < 100 and time.monotonic() < end:
                time.sleep(0.05)
                answer = wire.ask("PUT", f"{path}/attacked{number}", body)
            found[(answer.status, answer.reason)] += 1
            if answer.status == 200:
                made.append(f"{path}/attacked{number}")
    wire.close()
    found += spread(run, [("GET", path) for path, _ in kinds for _ in range(24)], 24)
    found += spread(run, [("GET", path) for path in ("/_cat/component_templates", "/_cat/templates")] * 12, 24)
    found += spread(run, [("DELETE", path) for path in made], 4)
    return found


def long_texts(run):
    """Aliases, settings, templates and tasks of long texts, looked at by many at once: all of it, or names alone."""
    wire, found = run.wire(), Counter()

    def begin(method, path, body):
        answer = wire.ask(method, path, body)
        found[(answer.status, answer.reason)] += 1

    for name in ("attacked-a", "attacked-b", "attacked-c"):
        begin("PUT", f"/{name}", {"settings": {"number_of_replicas": 0, "index.lifecycle.name": "n" * MIB}})
    for number, routing in enumerate(("r" * MIB, "r" * MIB, "\u0001" * (MIB // 2), '"' * MIB)):
        action = {"add": {"index": "attacked-a", "alias": f"attacked-{number}", "index_routing": routing}}
        begin("POST", "/_aliases", {"actions": [action]})
    noted = {f"cluster.metadata.attacked{number}": "v" * MIB for number in range(4)}
    begin("PUT", "/_cluster/settings", {"persistent": noted})
    patterns = [f"{number}{'p' * 200}" for number in range(5_000)]
    begin("PUT", "/_template/attacked", {"index_patterns": patterns, "aliases": {f"attacked-{n}": {} for n in range(5_000)}})
    begin("PUT", "/_component_template/attacked", {"template": {}})
    mentions = {"index_patterns": ["attacked-none"], "composed_of": ["attacked"] * 50_000}
    begin("PUT", f"/_index_template/attacked{'x' * 200}", mentions)
    # They wait for their speed.
    work = "/small/_update_by_query?wait_for_completion=false&requests_per_second=0.01&scroll_size=1"
    headers = {"X-Opaque-Id": "o" * 8_000}
    found += spread(run, [("POST", work, {"query": {"match_all": {}}}, "application/json", headers)] * 1_000, 8)
    paths = (
        "/_cat/aliases?h=a",
        "/_cat/aliases?h=ri,routing.index,routingIndex&format=json",
        "/_cat/aliases?format=cbor",
        "/_alias",
        "/_alias?filter_path=x",
        "/_cat/templates?h=name",
        "/_cat/templates",
        "/_cat/component_templates?h=name",
        "/_settings?include_defaults",
        "/_all?filter_path=x",
        "/_cluster/settings?include_defaults",
        "/_cat/tasks?detailed&h=*",
        "/_tasks?detailed",
        "/_tasks?group_by=parents&filter_path=x",
        "/_tasks?group_by=none&format=yaml",
    )
    for path in paths:
        found += spread(run, [("GET", path)] * 24, 24)
    found += spread(run, [("PUT", "/_cluster/settings", {"persistent": {"cluster.metadata.a": "1"}})] * 24, 24)
    begin("POST", "/_tasks/_cancel", None)
    begin("PUT", "/_cluster/settings", {"persistent": {"cluster.metadata.*": None}})
    for path in ("/_template/attacked", f"/_index_template/attacked{'x' * 200}", "/_component_template/attacked"):
        begin("DELETE", path, None)
    wire.close()
    return found


def said_once(run):
    """What a request says once and makes many times: for each item, each shard, each document of a batch."""
    wire = run.wire()
    docs = "".join(f'{{"index":{{"_id":"{n}"}}}}\n{{"a":1}}\n' for n in range(2_000))
    wire.ask("POST", "/attacked-once/_bulk?refresh=true", docs.encode(), ND)
    wire.ask("PUT", "/attacked-kept", {"mappings": {"enabled": False}})
    wire.ask("PUT", "/attacked-kept/_doc/1", {"text": "x" * 80_000})
    template = json.dumps({"query": {"match": {"t": "x" * 60_000}}})
    wire.ask("PUT", "/_scripts/attacked", {"script": {"lang": "mustache", "source": template}})
    long, lists = "a" * 3_800, "p," * 1_800
    ids = json.dumps({"ids": ["1"] * 20_000})
    items = {"_mget": (ids, "application/json"), "_bulk": ('{"index":{}}\n{}\n' * 20_000, ND), "_msearch": ("{}\n{}\n" * 20_000, ND)}
    requests = [("POST", f"/{long}/{api}", *body) for api, body in items.items()]
    requests += [("POST", f"/attacked-once/_bulk?{name}={long}", *items["_bulk"]) for name in ("routing", "pipeline")]
    requests += [("POST", f"/attacked-once/_mget?{name}={lists}", ids, "application/json") for name in ("_source", "stored_fields")]
    requests += [("POST", "/attacked-once/_mtermvectors?fields=" + lists, json.dumps({"ids": ["1"] * 9_000}), "application/json")]
    requests += [("POST", "/attacked-kept/_bulk?_source=true", '{"update":{"_id":"1"}}\n{"doc":{"c":1}}\n' * 5_000, ND)]
    requests += [("POST", "/attacked-once/_msearch/template", '{}\n{"id":"attacked"}\n' * 3_000, ND)]
    requests += [("POST", "/big/_search", b"\xa1equery\xa1eterms\xa1an\x9a\x00\x4c\x4b\x40" + b"\xf5" * 5_000_000, "application/cbor")]
    grows = {"script": {"source": "ctx._source.b=params.p", "params": {"p": "y" * 100_000}}}
    requests += [("POST", "/attacked-once/_update_by_query?scroll_size=2000&conflicts=proceed", grows)]
    bad = {"query": {"term": {"n": "x" * 500_000}}}
    spread(run, [("PUT", f"/attacked-n{n}", {"mappings": {"properties": {"n": {"type": "long"}}}}) for n in range(50)], 4)
    requests += [("POST", "/attacked-n*/_search", bad), ("POST", "/attacked-n*/_count", bad)]
    requests += [("POST", "/attacked-n*/_validate/query?explain=true&all_shards=true", bad)]
    told = {"histogram": {"field": "a", "interval": 0.0002, "format": "x" * 50_000 + "0", "extended_bounds": {"min": 1, "max": 2}}}
    requests += [("POST", "/attacked-once/_search", {"size": 0, "aggs": {"a": told}})]
    found = Counter()
    for request in requests:
        found += spread(run, [request] * 4, 4)
    wire.ask("DELETE", "/_scripts/attacked")
    wire.close()
    return found


def unread(run, requests):
    """Requests (body, times) one behind the other on each of 400 connections, in turns, which read nothing."""
    head = f"POST /big/_search HTTP/1.1\r\nHost: h\r\nAuthorization: {run.keys['attacker']}\r\nContent-Type: application/json\r\n"
    texts = [(f"{head}Content-Length: {len(body)}\r\n\r\n{body}" * times).encode() for body, times in requests]
    lines = []
    for number in range(400):
        try:
            line = socket.create_connection(run.place, timeout=2)
        except OSError:
            break
        line.setblocking(False)
        lines.append([line, texts[number % len(texts)], 0])
    end = time.monotonic() + 10
    while time.monotonic() < end:
        for one in lines:
            line, text, sent = one
            try:
                one[2] += line.send(text[sent : sent + 65_536])
            except OSError:
                pass
        time.sleep(0.01)
    for line, _, _ in lines:
        line.close()
    return Counter()


CLAUSES = '{"query":{"bool":{"should":[' + '{"term":{"n":1}},' * 3_000 + '{"term":{"n":2}}]}}}'


def many_requests_unread(run):
    """Searches for pages, and by clauses."""
    page = json.dumps({"query": {"match": {"text": "word1 word2"}}, "size": 100})
    return unread(run, [(CLAUSES, 60), (page, 2_000)])


def many_clauses_unread(run):
    """Searches by three thousand clauses on numbers alone."""
    return unread(run, [(CLAUSES, 60)])


def growing_documents(run):
    """Small documents that a script makes large, in twenty slices of each of two works by query."""
    lines = b"".join(b'{"index":{}}\n{"n":1}\n' for _ in range(100))
    for number in range(2):
        spread(run, [("PUT", f"/attacked-{number}", {"settings": {"number_of_replicas": 0, "refresh_interval": -1}})], 1)
        spread(run, [("POST", f"/attacked-{number}/_bulk?refresh=true", lines)], 1)
    script = {"source": "ctx._source.t = params.t", "params": {"t": "x" * 700_000}}
    return spread(run, [("POST", f"/attacked-{number}/_update_by_query?slices=20", {"script": script}) for number in range(2)], 2)


def all_at_once(run):
    """Heavy searches of many kinds, at random, by 32 callers at once: what each holds before it is paid adds up."""
    rng = random.Random(5)
    script = {"source": "params.p + doc['n'].value", "params": {"p": "x" * 30_000}}
    metrics = [{"field": "word"}, {"field": "n"}, {"field": "at"}] * 30
    inner = [
        {"top_metrics": {"metrics": metrics, "sort": {"n": "desc"}, "size": 10}},
        {"top_hits": {"size": 100}},
        {"range": {"field": "n", "ranges": [{"from": n, "to": n + 1} for n in range(1_000)]}},
        {"max": {"field": "n", "format": "'" + "x" * 9_000 + "'0"}},
        {"auto_date_histogram": {"field": "at", "buckets": 2_000, "format": "'" + "x" * 3_000 + "'yyyy"}},
        {"percentiles": {"field": "n"}},
    ]
    aggs = [{"terms": {"field": "n", "size": 10_000}, "aggs": {"a": agg}} for agg in inner]
    aggs += [
        {"terms": {"script": script, "size": 10_000}},
        {"cardinality": {"script": script, "precision_threshold": 40_000}},
        {"histogram": {"field": "n", "interval": 1, "min_doc_count": 0}, "aggs": {"c": {"value_count": {"field": "n"}}}},
        {"composite": {"size": 65_000, "sources": [{"n": {"terms": {"field": "n"}}}, {"w": {"terms": {"field": "word"}}}]}},
    ]
    words = [f"word{n}" for n in range(12_000)]
    bodies = [{"size": 0, "aggs": {"a": agg}} for agg in aggs] + [
        {"size": 10_000, "_source": False, "sort": [{f"z{n}": {"unmapped_type": "keyword", "missing": "m" * 30_000}} for n in range(10)]},
        {"size": 10_000, "sort": [{"word": "asc"}, {"n": "desc"}]},
        {"query": {"bool": {"should": [{"terms": {"word": words, "boost": n}} for n in range(1, 8)]}}},
        {"size": 1_000, "query": {"match_all": {}}, "highlight": {"fields": {"text": {"highlight_query": {"terms": {"text": words}}}}}},
    ]
    return spread(run, [search(rng.choice(bodies)) for _ in range(800)], 32)


def analysis_that_grows(run):
    """Texts that character filters and lists of words make large, of `_analyze`, told with all steps and without."""
    doubled = {"type": "mapping", "mappings": ["a => " + "a" * 200]}
    words = ", ".join(f"w{n}" for n in range(2_000))
    bodies = [
        {"tokenizer": "keyword", "char_filter": [doubled] * 5, "text": "a" * 100},
        {"tokenizer": "keyword", "char_filter": [{"type": "mapping", "mappings": ["a => " + "a" * 50]}] * 2, "text": "a" * 100, "explain": True},
        {"tokenizer": "keyword", "char_filter": [{"type": "pattern_replace", "pattern": "a", "replacement": "x" * 10_000}], "text": "a" * 100_000},
        {"tokenizer": "whitespace", "filter": [{"type": "synonym", "synonyms": [words]}], "text": "a"},
        {"tokenizer": "whitespace", "filter": [{"type": "shingle", "min_shingle_size": 2, "max_shingle_size": 4, "token_separator": "x" * 100_000}], "text": "a " * 3_000},
    ]
    found = Counter()
    for body in bodies:
        found += spread(run, [("POST", "/_analyze", body)] * 48, 16)
    return found


def ranges_of_words(run):
    """Ranges of words by the thousand, open at their end."""
    bodies = [
        {"query": {"query_string": {"query": "{a TO *} " * 1_000, "fields": ["text", "word"]}}},
        {"query": {"bool": {"should": [{"range": {"text": {"gt": "a", "boost": n + 1}}} for n in range(1_000)]}}},
        {"query": {"bool": {"should": [{"bool": {"should": [{"range": {"n": {"gt": n}}}, {"term": {"tag": "t1"}}]}} for n in range(500)]}}},
        {"query": {"bool": {"should": [{"bool": {"should": [{"exists": {"field": "n"}}] * 3, "minimum_should_match": 2}} for n in range(300)]}}},
    ]
    found = Counter()
    for body in bodies:
        for lanes in (1, 4):
            found += spread(run, [search(body)] * lanes, lanes)
    return found


def tokens(run):
    """Tokens of the store's own kind, as many as are given."""
    run.server.request("POST", "/_security/user/attacker", {"password": "correct-horse-battery", "roles": ["superuser"]})
    key = "Basic " + base64.b64encode(b"attacker:correct-horse-battery").decode()
    found, end = Counter(), time.monotonic() + 30

    def lane():
        wire = type(run.wire())(run.place, key)
        mine = Counter()
        while time.monotonic() < end:
            answer = wire.ask("POST", "/_security/oauth2/token", {"grant_type": "client_credentials"})
            mine[(answer.status, answer.reason)] += 1
        wire.close()
        found.update(mine)

    threads = [threading.Thread(target=lane) for _ in range(LANES)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    run.server.request("DELETE", "/_security/user/attacker")
    return found


def read_ahead(run):
    """Long waits one behind the other, on connections that were served once, while bodies that do not end take memory."""
    key = f"Authorization: {run.keys['attacker']}\r\n"
    hello = f"GET / HTTP/1.1\r\nHost: h\r\n{key}\r\n".encode()
    pads = [f"X-A: {'a' * size}\r\nX-B: {'b' * size}\r\n" for size in (400, 7_000)]
    waits = [f"GET /_cluster/health?wait_for_nodes=%3E9&timeout=10m HTTP/1.1\r\nHost: h\r\n{key}{pad}\r\n".encode() * 64 for pad in pads]
    lines = []
    for number in range(600):
        try:
            line = socket.create_connection(run.place, timeout=2)
            line.sendall(hello)
            line.settimeout(10)
            line.recv(4_096)
        except OSError:
            break
        line.setblocking(False)
        lines.append([line, waits[number % 2], 0])
    for size in (60, 8):
        line = socket.create_connection(run.place, timeout=10)
        head = f"POST /attacked/_bulk HTTP/1.1\r\nHost: h\r\n{key}Content-Type: {ND}\r\nContent-Length: {size << 20}\r\n\r\n"
        try:
            line.sendall(head.encode() + b"x" * ((size << 20) - 65_536))
        except OSError:
            pass
        lines.append([line, b"", 0])
    end = time.monotonic() + 10
    while time.monotonic() < end:
        for one in lines:
            line, text, sent = one
            try:
                one[2] += line.send(text[sent : sent + 65_536])
            except OSError:
                pass
        time.sleep(0.01)
    for line, _, _ in lines:
        line.close()
    return Counter()


ALL = {
    name.replace("_", " "): attack
    for name, attack in list(globals().items())
    if callable(attack) and getattr(attack, "__module__", None) == __name__ and name not in ("Answer", "spread", "many", "inner", "told", "search", "unread")
}
