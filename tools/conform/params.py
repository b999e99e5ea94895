"""Every parameter of every call that is there: `CORELODE_KIT=… python3 tools/conform/params.py [--url URL] [--only CALL] [-v]`.

The calls and the kinds of their parameters are those of the kit's specification of Elasticsearch; which calls are there
says `docs/api/endpoints.md`. Each parameter is sent with a good value, which no call may refuse as unknown or unreadable,
and with a bad one, which must be refused with 400 (flags, numbers, times, choices). One that no call knows must be refused
by its name. What differs on purpose is in `KEPT`, with the reason.
"""

import argparse
import json
import os
import re
import sys
import urllib.parse
from pathlib import Path

from errors import Door
from server import ROOT, Server

# Parameters that take what is no value of their kind, there and here.
KEPT = {
    ("nodes.stats", "groups"): "names of groups, whatever the specification says",
    ("update_by_query", "version_type"): "no effect on either side",
    ("search", "suggest_mode"): "read where there is a suggest_field",
    ("indices.validate_query", "default_operator"): "read where there is a q",
}

# Of these a table takes any word: what is not known is passed over.
TABLE_WORDS = ("bytes", "time", "h")

# What stands for the parts of a path.
PARTS = {"index": "a", "id": "1", "name": "t", "alias": "al", "target": "b", "new_index": "b-000002", "fields": "k", "field": "k",
         "metric": None, "index_metric": None, "node_id": "_local", "task_id": "abc:1", "scroll_id": "abc", "context": "filter",
         "username": "u", "application": "app", "realms": "r", "service": "kibana", "namespace": "elastic", "uid": "u_x",
         "thread_pool_patterns": "get", "repository": "r", "snapshot": "s", "block": "write"}

# Bodies without which a call says nothing of its parameters.
BODIES = {
    "bulk": '{"delete":{"_index":"a","_id":"none"}}\n',
    "msearch": '{"index":"a"}\n{}\n',
    "msearch_template": '{"index":"a"}\n{"source":"{}"}\n',
    "mget": {"docs": [{"_index": "a", "_id": "1"}]},
    "mtermvectors": {"docs": [{"_index": "a", "_id": "1"}]},
    "index": {"k": "v"}, "create": {"k": "v"}, "update": {"doc": {"k": "v"}},
    "explain": {"query": {"match_all": {}}}, "delete_by_query": {"query": {"match_none": {}}},
    "reindex": {"source": {"index": "a"}, "dest": {"index": "b"}}, "field_caps": {"fields": ["*"]},
    "indices.put_settings": {"index.priority": 2}, "indices.put_mapping": {"properties": {"x": {"type": "long"}}},
    "cluster.put_settings": {"persistent": {"search.max_buckets": 1000}},
    "indices.update_aliases": {"actions": [{"add": {"index": "a", "alias": "al"}}]},
    "put_script": {"script": {"lang": "painless", "source": "1"}}, "render_search_template": {"source": "{}"},
    "search_template": {"source": "{}"}, "scroll": {"scroll_id": "abc"}, "clear_scroll": {"scroll_id": "abc"},
    "indices.put_index_template": {"index_patterns": ["zz-*"]}, "indices.put_template": {"index_patterns": ["zy-*"]},
    "cluster.put_component_template": {"template": {}}, "indices.analyze": {"text": "a"},
    "rank_eval": {"requests": [], "metric": {"dcg": {}}}, "close_point_in_time": {"id": "abc"},
    "indices.simulate_template": {"index_patterns": ["zx-*"]}, "scripts_painless_execute": {"script": {"source": "1"}},
}

# Values of a kind: good ones by name where the kind alone does not say them, and bad ones.
GOOD = {
    "boolean": "true", "number": "1", "int": "1", "long": "1", "time": "1s", "date": "1", "bytes": "b", "enum": None,
    "list": "k", "string": "1", "boolean|long": "true", "number|string": "1",
}
NAMED = {
    "routing": "r", "sort": "k", "q": "k:v", "expand_wildcards": "open", "filter_path": "x", "wait_for_active_shards": "1",
    "search_type": "query_then_fetch", "bytes": "b", "time": "ms", "level": "shards", "scroll": "1m", "keep_alive": "1m",
    "wait_for_status": "red", "wait_for_nodes": ">=1", "group_by": "none", "refresh": "true", "wait_for_events": "normal",
    "version_type": "external", "op_type": "index", "conflicts": "proceed", "slices": "1", "metric": "_all", "timeout": "100ms",
    "wait_for_timeout": "100ms", "master_timeout": "1s", "wait_for_completion_timeout": "100ms", "default_operator": "OR", "df": "k",
    "analyzer": "standard", "stored_fields": "k", "min_compatible_shard_node": "8.0.0", "status": "all", "type": "cpu", "h": "index",
    "s": "index", "ccs_minimize_roundtrips": "true", "fields": "k", "actions": "*", "nodes": "_local", "filters": "-metadata",
    "types": "keyword", "features": "settings", "include_defaults": "true", "preference": "_local", "lang": "painless",
    "parent_task_id": "abc:1", "include_unmapped": "true", "max_docs": "1", "from": "0", "size": "1", "ids": "x", "realm_name": "r",
    "if_seq_no": "1", "if_primary_term": "1", "version": "1", "pre_filter_shard_size": "1", "batched_reduce_size": "2",
    "requests_per_second": "1", "wait_for_metadata_version": "1", "grant_type": "x", "suggest_mode": "missing",
}
OWN = {("xpack.info", "categories"): "build"}
OWN |= {(name, "s"): column for name, column in {
    "cat.allocation": "node", "cat.component_templates": "name", "cat.count": "count", "cat.fielddata": "id", "cat.health": "status",
    "cat.master": "id", "cat.nodeattrs": "node", "cat.nodes": "ip", "cat.pending_tasks": "source", "cat.plugins": "name",
    "cat.repositories": "id", "cat.tasks": "action", "cat.templates": "name", "cat.thread_pool": "name"}.items()}
BAD = {"boolean": "maybe", "number": "x1", "int": "x1", "long": "x1", "time": "1x", "enum": "no-such-word"}

UNKNOWN = "no_such_parameter"


def calls():
    """Names of the calls that are there, from the page that says so."""
    text = (ROOT / "docs" / "api" / "endpoints.md").read_text()
    for line in text.splitlines():
        found = re.match(r"\| `([a-z_.]+)` \| (.*?) \| (there|part) \|", line)
        if found:
            yield found.group(1)


def specification(kit, name):
    path = kit / "conformance" / "es8" / "api" / f"{name}.json"
    return json.loads(path.read_text())[name] if path.exists() else None


def target(name, spec):
    """The method and path to send: that of the most parts that all have a value."""
    best = None
    for path in spec["url"]["paths"]:
        parts = re.findall(r"\{(\w+)\}", path["path"])
        if "deprecated" in path or any(PARTS.get(part, "x") is None for part in parts):
            continue
        text = re.sub(r"\{(\w+)\}", lambda it: PARTS.get(it.group(1), "x"), path["path"])
        if best is None or len(parts) > best[2]:
            best = (path["methods"][0], text, len(parts))
    return best and best[:2]


def good(name, kind, options):
    if kind == "boolean":
        return "true"
    if name in NAMED and not (options and NAMED[name] not in options):
        return NAMED[name]
    if options:
        return next((it for it in options if it), "")
    return GOOD.get(kind, "1")


class Walk:
    def __init__(self, door, verbose):
        self.door, self.verbose = door, verbose
        self.count, self.faults = 0, []

    def ask(self, name, method, path, query):
        self.count += 1
        body = BODIES.get(name)
        text = path + "?" + urllib.parse.urlencode(query)
        status, _, answer = self.door.request(method, text, body)
        if self.verbose:
            print(name, method, text, status, answer[:160].replace("\n", " "))
        return status, answer

    def fault(self, name, parameter, what):
        if (name, parameter) not in KEPT and ("*", parameter) not in KEPT:
            self.faults.append(f"{name} {parameter}: {what}")

    def call(self, name, spec):
        found = target(name, spec)
        if not found:
            return
        method, path = found
        head = method == "HEAD"
        status, answer = self.ask(name, method, path, {UNKNOWN: "1"})
        if status != 400 or not head and f"unrecognized parameter: [{UNKNOWN}]" not in answer:
            self.fault(name, UNKNOWN, f"{status} {answer[:200]}")
        for parameter, about in spec.get("params", {}).items():
            kind, options = about.get("type", "string"), about.get("options")
            value = OWN.get((name, parameter)) or good(parameter, kind, options)
            status, answer = self.ask(name, method, path, {parameter: value})
            unread = re.search(r"unrecognized parameter|[Ff]ailed to parse|No enum|unknown value", answer)
            if status >= 500 or unread or status == 406 or head and status == 400:
                self.fault(name, parameter, f"good [{value}]: {status} {answer[:300]}")
            bad = BAD.get(kind) if not (kind == "list" or options and kind not in ("enum",)) else None
            if kind == "list" and options:
                bad = "no-such-word"
            if bad is None or name.startswith("cat.") and parameter in TABLE_WORDS:
                continue
            status, answer = self.ask(name, method, path, {parameter: bad})
            if status != 400 or "unrecognized parameter" in answer:
                self.fault(name, parameter, f"bad [{bad}]: {status} {answer[:300]}")


def prepare(door, name):
    """The same few things before each call, whatever the one before it did."""
    block = {"index.blocks.write": name in ("indices.clone", "indices.shrink", "indices.split")}
    for method, path, body in [
        ("DELETE", "/a,b,b-000002?ignore_unavailable=true", None),
        ("PUT", "/a", {"mappings": {"properties": {"k": {"type": "keyword"}}}, "aliases": {"al": {}}}),
        ("PUT", "/a/_doc/1?refresh=true", {"k": "v"}),
        ("PUT", "/a/_settings", block),
    ]:
        status, _, answer = door.request(method, path, body)
        assert status in (200, 201, 400), answer


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--url", help="a running node without security")
    parser.add_argument("--only", help="calls whose name begins so")
    parser.add_argument("-v", "--verbose", action="store_true", help="print each answer")
    options = parser.parse_args()
    if not os.environ.get("CORELODE_KIT"):
        print("SKIP: CORELODE_KIT does not name the kit")
        return 0
    kit = Path(os.environ["CORELODE_KIT"])

    def walk(url):
        it = Walk(Door(url), options.verbose)
        for name in calls():
            spec = specification(kit, name)
            if spec and name.startswith(options.only or ""):
                prepare(it.door, name)
                it.call(name, spec)
        return it

    if options.url:
        it = walk(options.url)
    else:
        with Server(secure=False) as server:
            it = walk(f"http://{server.http}")
    print(f"{it.count} requests, {len(it.faults)} faults")
    for fault in it.faults:
        print(fault)
    return 1 if it.faults else 0


if __name__ == "__main__":
    sys.exit(main())
