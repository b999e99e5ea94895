#!/usr/bin/env python3
"""What a node writes about its callers: the slow log of each way to search, strangers in the audit log.

    CORELODE_BIN=target/debug/corelode python3 tools/conform/logs.py
"""

import json
import time

from server import Server

SHARDS = 2


def lines_of(path):
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def told_by(server, about):
    """The lines that `about` makes in the slow log, when no more come."""
    before = len(lines_of(server.data / "logs" / "slow.json"))
    answer = about()
    assert answer[0] == 200, answer
    seen, deadline = -1, time.monotonic() + 10
    while time.monotonic() < deadline:
        lines = lines_of(server.data / "logs" / "slow.json")[before:]
        if lines and len(lines) == seen:
            break
        seen = len(lines)
        time.sleep(0.2)
    return lines, answer[2]


def phases(lines):
    """How many lines each phase has, and what they say of the kind of search."""
    counts = {}
    for line in lines:
        phase = line["log.logger"].rsplit(".", 1)[-1]
        counts[phase] = counts.get(phase, 0) + 1
    kinds = {line["elasticsearch.slowlog.search_type"] for line in lines if "elasticsearch.slowlog.search_type" in line}
    return counts, kinds


def slow_log(server):
    nothing = {f"index.search.slowlog.threshold.{phase}.trace": "0ms" for phase in ("query", "fetch")}
    shape = {"settings": {"number_of_shards": SHARDS, "number_of_replicas": 0, **nothing}}
    assert server.request("PUT", "/slow", shape)[0] == 200
    bulk = "".join('{"index":{"_id":"%d"}}\n{"n":%d}\n' % (n, n) for n in range(50))
    assert server.request("POST", "/slow/_bulk?refresh=true", bulk)[0] == 200
    # Hits of one score come in the order of the shards, so one shard alone fills the page.
    both = {"query": SHARDS, "fetch": 1}
    plain, dfs = {"QUERY_THEN_FETCH"}, {"DFS_QUERY_THEN_FETCH"}
    query = {"query": {"range": {"n": {"gte": 7}}}, "size": 10}

    def search(target, body=query, method="POST"):
        return told_by(server, lambda: server.request(method, target, body))

    lines, _ = search("/slow/_search")
    assert phases(lines) == (both, plain), lines
    lines, _ = search("/slow/_search?search_type=dfs_query_then_fetch")
    assert phases(lines) == (both, dfs), lines
    assert json.loads(lines[0]["elasticsearch.slowlog.source"]) == query, lines[0]
    lines, _ = search("/slow/_count", {"query": query["query"]})
    assert phases(lines) == ({"query": SHARDS}, plain), lines
    lines, page = search("/slow/_search?scroll=1m")
    assert phases(lines) == (both, plain), lines
    lines, _ = search("/_search/scroll", {"scroll_id": page["_scroll_id"], "scroll": "1m"})
    assert phases(lines) == (both, plain), lines
    assert json.loads(lines[0]["elasticsearch.slowlog.source"])["query"] == query["query"], lines[0]
    moment = server.request("POST", "/slow/_pit?keep_alive=1m")[2]["id"]
    lines, _ = search("/_search", {**query, "pit": {"id": moment}})
    assert phases(lines) == (both, plain), lines
    lines, done = search("/slow/_delete_by_query?refresh", {"query": {"term": {"n": 3}}})
    assert done["deleted"] == 1, done
    assert phases([line for line in lines if "search_type" in " ".join(line)])[0] == both, lines
    # Where nothing is set nothing is told.
    assert server.request("PUT", "/slow/_settings", dict.fromkeys(nothing))[0] == 200
    before = len(lines_of(server.data / "logs" / "slow.json"))
    assert server.request("POST", "/slow/_search", query)[0] == 200
    time.sleep(1)
    assert len(lines_of(server.data / "logs" / "slow.json")) == before


def strangers(server):
    for _ in range(40):
        assert server.request("GET", "/_cluster/health", auth=False)[0] == 401
    deadline = time.monotonic() + 10
    while True:
        events = [line for line in lines_of(server.data / "logs" / "audit.json") if line["event"] == "anonymous_access_denied"]
        if events or time.monotonic() > deadline:
            break
        time.sleep(0.2)
    # A line a core and minute, and not forty.
    assert 1 <= len(events) <= 2 * 2, events
    assert events[0]["path"] == "/_cluster/health" and events[0]["count"] == "1", events[0]
    assert "missing authentication credentials" in events[0]["reason"], events[0]


if __name__ == "__main__":
    with Server(cores=2) as server:
        slow_log(server)
        strangers(server)
    print("all well")
