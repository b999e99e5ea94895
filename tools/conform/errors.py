"""Bad requests, and what Elasticsearch 8 answers: `python3 tools/conform/errors.py [--url URL]`.

One table, in the shape of a catalogue: request, status, type, how the reason begins. `SPEE` in front of a type
means that it stands below a search_phase_execution_exception, in each failed shard. Each case runs on the
same two small indices, which no case changes; it needs the program alone.
"""

import json
import sys
import urllib.error
import urllib.request

from server import Server

IAE = "illegal_argument_exception"
PARSE = "parse_exception"
PARSING = "parsing_exception"
XCP = "x_content_parse_exception"
VALID = "action_request_validation_exception"
NAME = "invalid_index_name_exception"
MAPPER = "mapper_parsing_exception"
QSE = "SPEE query_shard_exception"
NOT_FOUND = "index_not_found_exception"

#: method, path, body (text: as it is; None: none), status, type, start of the reason. A type of None means that
#: `error` is a sentence.
CASES = [
    # transport
    ("GET", "/_bulk", None, 405, None, "Incorrect HTTP method for uri [/_bulk] and method [GET], allowed: [POST, PUT]"),
    ("POST", "/", None, 405, None, "Incorrect HTTP method for uri [/] and method [POST], allowed: ["),
    ("GET", "/x/y/z/q", None, 400, None, "no handler found for uri [/x/y/z/q] and method [GET]"),
    ("GET", "/a/_foo", None, 405, None, "Incorrect HTTP method for uri [/a/_foo] and method [GET], allowed: [POST]"),
    ("GET", "/_cat/nope", None, 405, None, "Incorrect HTTP method for uri [/_cat/nope] and method [GET], allowed: [POST]"),
    ("GET", "/_foo", None, 400, NAME, "Invalid index name [_foo], must not start with '_'."),
    ("GET", "/foo", None, 404, NOT_FOUND, "no such index [foo]"),
    ("GET", "/a/_search?sizee=1", None, 400, IAE, "request [/a/_search] contains unrecognized parameter: [sizee]"),
    ("GET", "/_cluster/health?foo&bar=1", None, 400, IAE, "request [/_cluster/health] contains unrecognized parameters: [bar], [foo]"),
    ("GET", "/_cluster/health?levle=shards", None, 400, IAE, "request [/_cluster/health] contains unrecognized parameter: [levle] -> did you mean [level]?"),
    ("GET", "/a/_search?size=a", None, 400, IAE, "Failed to parse int parameter [size] with value [a]"),
    ("GET", "/?pretty=foo", None, 400, IAE, "Failed to parse value [foo] as only [true] or [false] are allowed."),
    ("GET", "/_search?ignore_unavailable=foo", None, 400, IAE, "Could not convert [ignore_unavailable] to boolean"),
    ("GET", "/_search?expand_wildcards=foo", None, 400, IAE, "No valid expand wildcard value [foo]"),
    ("GET", "/_search?timeout=foo", None, 400, IAE, "failed to parse setting [timeout] with value [foo] as a time value: unit is missing or unrecognized"),
    ("PUT", "/a/_doc/9?refresh=foo", {}, 400, IAE, "Unknown value for refresh: [foo]."),
    ("PUT", "/a/_doc/9?op_type=foo", {}, 400, IAE, "opType must be 'create' or 'index', found: [foo]"),
    ("PUT", "/a/_doc/9?version=1&version_type=foo", {}, 400, IAE, "No version type match [foo]"),
    ("GET", "/_search?search_type=foo", None, 400, IAE, "No search type for [foo]"),
    ("GET", "/_search?preference=_foo", None, 400, IAE, "no Preference for [_foo]"),
    ("GET", "/_search?source=%7B%7D", None, 500, "illegal_state_exception", "source and source_content_type parameters are required"),
    ("GET", "/?a=%zz", None, 400, "bad_parameter_exception", "java.lang.IllegalArgumentException: "),
    ("GET", "/_cat/indices?s=nope", None, 500, "unsupported_operation_exception", "Unable to sort by unknown sort key `nope`"),
    ("GET", "/?format=xml", None, 400, IAE, "unknown format [xml]"),
    # malformed JSON
    ("POST", "/a/_search", "{query:{}}", 400, XCP, "[1:2] Unexpected character ('q' (code 113)): was expecting double-quote to start field name"),
    ("POST", "/a/_search", '{"a":1,}', 400, XCP, "[1:8] Unexpected character ('}' (code 125)): was expecting double-quote to start field name"),
    ("POST", "/a/_search", "foo", 400, XCP, "[1:4] Unrecognized token 'foo': was expecting"),
    ("POST", "/a/_search", '{"size":1,"size":2}', 400, XCP, "[1:17] Duplicate field 'size'"),
    ("POST", "/a/_search", '{"query"', 400, "x_content_e_o_f_exception", "[1:9] Unexpected end-of-input"),
    ("PUT", "/b", "{", 400, PARSE, "Failed to parse content to map"),
    # names and lifecycle
    ("PUT", "/a*b", None, 400, NAME, "Invalid index name [a*b], must not contain the following characters"),
    ("PUT", "/a%23b", None, 400, NAME, "Invalid index name [a#b], must not contain '#'"),
    ("PUT", "/a:b", None, 400, NAME, "Invalid index name [a:b], must not contain ':'"),
    ("PUT", "/-a", None, 400, NAME, "Invalid index name [-a], must not start with '_', '-', or '+'"),
    ("PUT", "/..", None, 400, NAME, "Invalid index name [..], must not be '.' or '..'"),
    ("PUT", "/A", None, 400, NAME, "Invalid index name [A], must be lowercase"),
    ("PUT", "/" + "a" * 256, None, 400, NAME, "Invalid index name [" + "a" * 256 + "], index name is too long, (256 > 255)"),
    ("PUT", "/al", None, 400, NAME, "Invalid index name [al], already exists as alias"),
    ("PUT", "/a", None, 400, "resource_already_exists_exception", "index [a/"),
    ("PUT", "/b", {"foo": {}}, 400, PARSE, "unknown key [foo] for create index"),
    ("PUT", "/b", {"mappings": []}, 400, PARSE, "key [mappings] must be an object"),
    ("PUT", "/b", {"settings": {"index.foo": 1}}, 400, IAE, "unknown setting [index.foo] please check that any required plugins are installed"),
    ("PUT", "/b", {"settings": {"number_of_shard": 1}}, 400, IAE, "unknown setting [index.number_of_shard] did you mean [index.number_of_shards]?"),
    ("PUT", "/b", {"settings": {"number_of_shards": 0}}, 400, IAE, "Failed to parse value [0] for setting [index.number_of_shards] must be >= 1"),
    ("PUT", "/b", {"settings": {"number_of_shards": 1025}}, 400, IAE, "Failed to parse value [1025] for setting [index.number_of_shards] must be <= 1024"),
    ("PUT", "/b", {"settings": {"number_of_replicas": -1}}, 400, IAE, "Failed to parse value [-1] for setting [index.number_of_replicas] must be >= 0"),
    ("DELETE", "/*", None, 400, IAE, "Wildcard expressions or all indices are not allowed"),
    ("DELETE", "/_all", None, 400, IAE, "Wildcard expressions or all indices are not allowed"),
    ("DELETE", "/al", None, 400, IAE, "The provided expression [al] matches an alias, specify the corresponding concrete indices instead."),
    ("PUT", "/a/_block/foo", None, 400, IAE, "No block found with name foo"),
    ("PUT", "/a/_settings", {"number_of_shards": 2}, 400, IAE, "Can't update non dynamic settings [[index.number_of_shards]] for open indices [[a/"),
    # missing indices
    ("GET", "/nope/_search", None, 404, NOT_FOUND, "no such index [nope]"),
    ("GET", "/nope/_count", None, 404, NOT_FOUND, "no such index [nope]"),
    ("GET", "/nope/_doc/1", None, 404, NOT_FOUND, "no such index [nope]"),
    ("GET", "/nope/_mapping", None, 404, NOT_FOUND, "no such index [nope]"),
    ("GET", "/_cat/indices/nope", None, 404, NOT_FOUND, "no such index [nope]"),
    ("GET", "/_cat/count/nope", None, 404, NOT_FOUND, "no such index [nope]"),
    ("GET", "/nope*/_search?allow_no_indices=false", None, 404, NOT_FOUND, "no such index [nope*]"),
    ("GET", "/-x/_search", None, 404, NOT_FOUND, "no such index [-x]"),
    # mappings
    ("PUT", "/b", {"mappings": {"properties": {"f": {"type": "foo"}}}}, 400, MAPPER, "Failed to parse mapping: The mapper type [foo] declared on field [f] does not exist."),
    ("PUT", "/a/_mapping", {"properties": {"f": {"type": "foo"}}}, 400, MAPPER, "The mapper type [foo] declared on field [f] does not exist."),
    ("PUT", "/a/_mapping", {"properties": {"f": {"foo": 1}}}, 400, MAPPER, "No type specified for field [f]"),
    ("PUT", "/a/_mapping", {"properties": {"f": "text"}}, 400, MAPPER, "Expected map for property [fields] on field [f] but got a class java.lang.String"),
    ("PUT", "/a/_mapping", {"properties": {"f": {"type": "text", "foo": 1}}}, 400, MAPPER, "unknown parameter [foo] on mapper [f] of type [text]"),
    ("PUT", "/a/_mapping", {"foo": {}}, 400, MAPPER, "Root mapping definition has unsupported parameters:  [foo : {}]"),
    ("PUT", "/a/_mapping", {"properties": {"n": {"type": "text"}}}, 400, IAE, "mapper [n] cannot be changed from type [long] to [text]"),
    # documents
    ("PUT", "/a/_doc/9", {"n": "abc"}, 400, "document_parsing_exception", "[1:6] failed to parse field [n] of type [long] in document with id '9'. Preview of field's value: 'abc'"),
    ("PUT", "/a/_doc/9", "", 400, PARSE, "request body is required"),
    ("PUT", "/a/_doc/" + "x" * 513, {}, 400, VALID, "Validation Failed: 1: id"),
    ("PUT", "/a/_create/1", {}, 409, "version_conflict_engine_exception", "[1]: version conflict, document already exists (current version [1])"),
    ("PUT", "/a/_doc/1?if_seq_no=7&if_primary_term=1", {}, 409, "version_conflict_engine_exception", "[1]: version conflict, required seqNo [7], primary term [1]. current document has seqNo [0] and primary term [1]"),
    ("PUT", "/a/_doc/1?version=1&version_type=external", {}, 409, "version_conflict_engine_exception", "[1]: version conflict, current version [1] is higher or equal to the one provided [1]"),
    ("POST", "/_bulk", '{"upsert":{}}\n{}\n', 400, IAE, "Malformed action/metadata line [1], expected field [create], [delete], [index] or [update] but found [upsert]"),
    ("POST", "/_bulk", '{"index":{"_index":"a"}}\n{}', 400, IAE, "The bulk request must be terminated by a newline [\\n]"),
    ("POST", "/a/_update/77", {"doc": {}}, 404, "document_missing_exception", "[77]: document missing"),
    # searching
    ("POST", "/a/_search", {"foo": 1}, 400, PARSING, "Unknown key for a VALUE_NUMBER in [foo]."),
    ("POST", "/a/_search", [], 400, PARSING, "Expected [START_OBJECT] but found [START_ARRAY]"),
    ("POST", "/a/_search", {"from": -1}, 400, IAE, "[from] parameter cannot be negative but was [-1]"),
    ("POST", "/a/_search", {"from": 9_999, "size": 10}, 400, "SPEE " + IAE, "Result window is too large, from + size must be less than or equal to: [10000] but was [10009]."),
    ("POST", "/a/_search", {"sort": "zz"}, 400, QSE, "No mapping found for [zz] in order to sort on"),
    ("POST", "/a/_search", {"sort": "t"}, 400, "SPEE " + IAE, "Fielddata is disabled on [t] in [a]."),
    ("POST", "/a/_search", {"collapse": {"field": "zz"}}, 400, "SPEE " + IAE, "no mapping found for `zz` in order to collapse on"),
    ("POST", "/a/_count", {"size": 1}, 400, PARSING, "request does not support [size]"),
    ("GET", "/_search?batched_reduce_size=1", None, 400, IAE, "batchedReduceSize must be >= 2"),
    # queries
    ("POST", "/a/_search", {"query": {}}, 400, IAE, "query malformed, empty clause found at [1:"),
    ("POST", "/a/_search", {"query": {"foo": {}}}, 400, PARSING, "unknown query [foo]"),
    ("POST", "/a/_search", {"query": {"mtch": {}}}, 400, PARSING, "unknown query [mtch] did you mean [match]?"),
    ("POST", "/a/_search", {"query": {"match_all": 1}}, 400, PARSING, "[match_all] query malformed, no start_object after query name"),
    ("POST", "/a/_search", {"query": {"match": {"t": {"query": "x", "foo": 1}}}}, 400, PARSING, "[match] query does not support [foo]"),
    ("POST", "/a/_search", {"query": {"match": {"t": "x", "k": "y"}}}, 400, PARSING, "[match] query doesn't support multiple fields, found [t] and [k]"),
    ("POST", "/a/_search", {"query": {"match": {"t": {}}}}, 400, PARSING, "No text specified for text query"),
    ("POST", "/a/_search", {"query": {"term": {"n": "abc"}}}, 400, QSE, 'failed to create query: For input string: "abc"'),
    ("POST", "/a/_search", {"query": {"term": {"k": ["a"]}}}, 400, PARSING, "[term] query does not support array of values"),
    ("POST", "/a/_search", {"query": {"terms": {"k": "a"}}}, 400, PARSING, "[terms] query does not support [k]"),
    ("POST", "/a/_search", {"query": {"exists": {}}}, 400, PARSING, "[exists] must be provided with a [field]"),
    ("POST", "/a/_search", {"query": {"range": {"d": {"gte": "foo"}}}}, 400, "SPEE " + PARSE, "failed to parse date field [foo] with format [strict_date_optional_time||epoch_millis]"),
    # other calls
    ("GET", "/_cluster/health?wait_for_status=foo", None, 400, IAE, "No enum constant org.elasticsearch.cluster.health.ClusterHealthStatus.FOO"),
    ("GET", "/_nodes/stats/foo", None, 400, IAE, "request [/_nodes/stats/foo] contains unrecognized metric: [foo]"),
    ("GET", "/_nodes/stats/transprot", None, 400, IAE, "request [/_nodes/stats/transprot] contains unrecognized metric: [transprot] -> did you mean [transport]?"),
    ("GET", "/a/_stats/foo", None, 400, IAE, "request [/a/_stats/foo] contains unrecognized metric: [foo]"),
    ("PUT", "/_cluster/settings", {}, 400, VALID, "Validation Failed: 1: no settings to update;"),
    ("PUT", "/_cluster/settings", {"persistent": {"foo.bar": 1}}, 400, IAE, "persistent setting [foo.bar], not recognized"),
    ("PUT", "/_cluster/settings", {"transient": {"path.data": "x"}}, 400, IAE, "transient setting [path.data], not dynamically updateable"),
    ("PUT", "/_cluster/settings", {"persistent": {"search.max_buckets": "x"}}, 400, IAE, "Failed to parse value [x] for setting [search.max_buckets]"),
    ("GET", "/_tasks/foo", None, 400, IAE, "malformed task id foo"),
    ("GET", "/_tasks/foo:1", None, 404, "resource_not_found_exception", "task [foo:1] belongs to the node [foo] which isn't part of the cluster and there is no record of the task"),
    ("POST", "/_aliases", {"actions": [{"foo": {}}]}, 400, XCP, "[1:20] [aliases] failed to parse field [actions]"),
    ("POST", "/_aliases", {"actions": []}, 400, IAE, "No action specified"),
    ("POST", "/_analyze", {}, 400, VALID, "Validation Failed: 1: text is missing;"),
    ("GET", "/_index_template/nope", None, 404, "resource_not_found_exception", "index template matching [nope] not found"),
    ("GET", "/_component_template/nope", None, 404, "resource_not_found_exception", "component template matching [nope] not found"),
    ("POST", "/_cluster/allocation/explain", {"index": "a"}, 400, VALID, "Validation Failed: 1: shard must be specified;2: primary must be specified;"),
    ("POST", "/_cluster/voting_config_exclusions", None, 400, IAE, "You must set [node_names] or [node_ids]"),
    ("POST", "/_reindex", {"source": {"index": "a"}, "dest": {}}, 400, VALID, "Validation Failed: 1: index must be specified;"),
    ("GET", "/_health_report/foo", None, 404, "resource_not_found_exception", "Did not find indicator foo"),
]


def request(url, method, path, body):
    """Status and body of one request."""
    headers = {}
    data = None
    if body is not None:
        data = body.encode() if isinstance(body, str) else json.dumps(body, separators=(",", ":")).encode()
        headers["Content-Type"] = "application/x-ndjson" if path.startswith("/_bulk") else "application/json"
    asked = urllib.request.Request(url + path, data=data, headers=headers, method=method)
    try:
        with urllib.request.urlopen(asked, timeout=30) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


def judge(case, status, text):
    """What is wrong with an answer; nothing where it is right."""
    _, _, _, wanted_status, kind, reason = case
    if status != wanted_status:
        return f"status {status}, expected {wanted_status}: {text[:300]}"
    error = json.loads(text)["error"]
    if kind is None:
        return None if isinstance(error, str) and error.startswith(reason) else f"{error!r}"
    if kind.startswith("SPEE "):
        kind = kind[5:]
        if error["type"] != "search_phase_execution_exception" or error["reason"] != "all shards failed":
            return f"{error['type']}: {error['reason']}"
        error = (error.get("failed_shards") or [{"reason": error["root_cause"][0]}])[0]["reason"]
    if error["type"] != kind or not error["reason"].startswith(reason):
        return f"{error['type']}: {error['reason'][:300]}"
    return None


def prepare(url):
    """The two indices that every case runs on."""
    mapping = {"properties": {"t": {"type": "text"}, "k": {"type": "keyword"}, "n": {"type": "long"}, "d": {"type": "date"}}}
    body = {"mappings": mapping, "aliases": {"al": {}}, "settings": {"number_of_replicas": 0}}
    assert request(url, "PUT", "/a", body)[0] == 200
    assert request(url, "PUT", "/a/_doc/1?refresh=true", {"t": "x", "k": "x", "n": 1})[0] == 201


def run(url):
    """Runs the table; how many failed."""
    prepare(url)
    failed = 0
    for case in CASES:
        wrong = judge(case, *request(url, *case[:3]))
        if wrong:
            failed += 1
            print(f"FAIL {case[0]} {case[1][:80]} {json.dumps(case[2])}\n     {wrong}")
    print(f"{len(CASES) - failed} passed, {failed} failed, 0 skipped")
    return failed


def main():
    if len(sys.argv) == 3 and sys.argv[1] == "--url":
        return 1 if run(sys.argv[2]) else 0
    with Server(secure=False) as server:
        return 1 if run(server.url) else 0


if __name__ == "__main__":
    sys.exit(main())
