"""Stories of tokens at the store: what they open, and everything that they do not."""

import base64
import hashlib
import json
import re
import time

from browser import Browser, query
from oauth_kit import PEOPLE, ask, basic, bearer, client, exchange, expect, form, granted, reads, refresh, secret, test, tokens


@test
def filters_travel_with_the_grant(server):
    details = [{"type": "index_access", "indices": ["orders-*"], "actions": ["read"], "query": {"term": {"customer.keyword": "acme"}}, "fields": ["number", "customer"]}]
    made = client(server, authorization_details_types=["index_access"])
    visitor = Browser(server)
    page = visitor.get(ask(made["client_id"], authorization_details=json.dumps(details)))
    request = query(page.headers["Location"])["request"]
    visitor.login("ann", PEOPLE["ann"], request)
    page = visitor.get(f"/consent?request={request}")
    assert "acme" in page.text, page.text
    done = visitor.submit(page, "/consent", detail="0", decision="allow")
    got = expect(exchange(server, made, secret(query(done.headers["Location"])["code"])), 200)
    assert got["authorization_details"] == details, got
    found = expect(reads(server, got["access_token"]), 200)
    assert found["hits"]["total"]["value"] == 2, found
    assert all(set(hit["_source"]) <= {"number", "customer"} for hit in found["hits"]["hits"]), found
    headers = bearer(got["access_token"])
    count = expect(server.request("GET", "/orders-1/_count", headers=headers, auth=False), 200)
    assert count["count"] == 2
    assert expect(server.request("GET", "/orders-1/_doc/0", headers=headers, auth=False), 200)["_source"] == {"number": 0, "customer": "acme"}
    expect(server.request("GET", "/orders-1/_doc/2", headers=headers, auth=False), 404)
    for bad in ['[{"type":"other"}]', '[{"type":"index_access","indices":["orders-1"],"actions":["read"],"query":{"script":{}}}]',
                '[{"type":"index_access","indices":["*"],"actions":["read"]}]']:
        page = visitor.get(ask(made["client_id"], authorization_details=bad))
        assert query(page.headers["Location"])["error"] == "invalid_authorization_details", bad


@test
def each_entry_keeps_its_own_rights(server):
    for number, (customer, total) in enumerate([("acme", 5), ("other", 7), ("third", 9)]):
        body = {"customer": customer, "total": total, "note": f"note of {customer}"}
        expect(server.request("PUT", f"/orders-kinds/_doc/{number}", body), 201)
    expect(server.request("POST", "/orders-kinds/_refresh"), 200)
    entry = {"type": "index_access", "indices": ["orders-kinds"], "actions": ["read"]}
    details = [
        dict(entry, query={"term": {"customer.keyword": "acme"}}, fields=["customer", "total"]),
        dict(entry, query={"terms": {"customer.keyword": ["acme", "other"]}}, fields=["note"]),
    ]
    headers = granted(server, client(server, authorization_details_types=["index_access"]), details)
    get = lambda path, body=None: server.request("POST" if body else "GET", path, body, headers, auth=False)
    found = expect(get("/orders-kinds/_search"), 200)
    seen = {hit["_id"]: set(hit["_source"]) for hit in found["hits"]["hits"]}
    assert seen == {"0": {"customer", "total", "note"}, "1": {"note"}}, seen
    assert found["_shards"]["total"] == 1 and found["hits"]["total"]["value"] == 2, found
    assert expect(get("/orders-kinds/_count"), 200)["count"] == 2
    assert set(expect(get("/orders-kinds/_doc/1"), 200)["_source"]) == {"note"}
    expect(get("/orders-kinds/_doc/2"), 404)
    # A field that only the first entry shows finds, sorts and counts the first entry's documents alone.
    for what, body in [
        ("query", {"query": {"range": {"total": {"gte": 0}}}}),
        ("text", {"query": {"match": {"customer": "other acme third"}}}),
    ]:
        found = expect(get("/orders-kinds/_search", body), 200)
        assert [hit["_id"] for hit in found["hits"]["hits"]] == ["0"], (what, found)
    found = expect(get("/orders-kinds/_search", {"sort": [{"total": {"order": "desc", "missing": 0}}],
                                                 "aggs": {"t": {"sum": {"field": "total"}}, "c": {"terms": {"field": "customer.keyword"}}}}), 200)
    assert found["hits"]["hits"][0]["_id"] == "0" and found["hits"]["hits"][0]["sort"] == [5], found
    assert "7" not in json.dumps([hit["sort"] for hit in found["hits"]["hits"]]), found
    aggs = found["aggregations"]
    assert aggs["t"]["value"] == 5 and [bucket["key"] for bucket in aggs["c"]["buckets"]] == ["acme"], aggs
    text = json.dumps(expect(get("/orders-kinds/_search", {"query": {"match": {"note": "note"}}, "highlight": {"fields": {"*": {}}}, "fields": ["*"]}), 200))
    assert "third" not in text and '"customer": ["other"]' not in text, text
    explained = expect(get("/orders-kinds/_explain/1", {"query": {"match": {"customer": "other"}}}), 200)
    assert explained["matched"] is False, explained
    scrolled = expect(get("/orders-kinds/_search?scroll=1m", {"size": 1}), 200)
    ids = [hit["_id"] for hit in scrolled["hits"]["hits"]]
    while scrolled["hits"]["hits"]:
        scrolled = expect(get("/_search/scroll", {"scroll_id": scrolled["_scroll_id"], "scroll": "1m"}), 200)
        ids += [hit["_id"] for hit in scrolled["hits"]["hits"]]
    assert sorted(ids) == ["0", "1"], ids
    shown = expect(get("/orders-kinds/_mapping"), 200)["orders-kinds"]["mappings"]["properties"]
    assert set(shown) == {"customer", "total", "note"}, shown


@test
def an_update_tells_nothing_to_who_may_not_read(server):
    expect(server.request("PUT", "/orders-blind/_doc/1?refresh=true", {"n": 1, "note": "private"}), 201)
    made = client(server, scope="index:orders-*:write index:orders-*:read")
    headers = bearer(tokens(server, made, scope="index:orders-*:write")["access_token"])
    send = lambda path, body: server.request("POST", path, body, headers, auth=False)
    expect(send("/orders-blind/_update/1?_source=true", {"doc": {"n": 2}}), 403)
    expect(send("/orders-blind/_update/1", {"doc": {"n": 2}, "_source": ["note"]}), 403)
    lines = '{"update":{"_index":"orders-blind","_id":"1","_source":true}}\n{"doc":{"n":3}}\n'
    item = expect(send("/_bulk", lines), 200)["items"][0]["update"]
    assert item["status"] == 403 and "private" not in json.dumps(item), item
    # A right guess looks like a wrong one.
    for note in ["private", "wrong"]:
        made_so = expect(send("/orders-blind/_update/1", {"doc": {"note": note}}), 200)
        assert made_so["result"] == "updated", made_so
    both = bearer(tokens(server, made, scope="index:orders-*:write index:orders-*:read")["access_token"])
    told = expect(server.request("POST", "/orders-blind/_update/1?_source=true", {"doc": {"note": "wrong"}}, both, auth=False), 200)
    assert told["result"] == "noop" and told["get"]["_source"]["note"] == "wrong", told


@test
def an_update_stays_within_its_filter(server):
    for number, customer in enumerate(["acme", "other"]):
        body = {"customer": customer, "total": number, "note": "private"}
        expect(server.request("PUT", f"/orders-within/_doc/{number}", body), 201)
    expect(server.request("POST", "/orders-within/_refresh"), 200)
    entry = {"type": "index_access", "indices": ["orders-*"], "actions": ["read", "write"], "query": {"term": {"customer.keyword": "acme"}}}
    made = client(server, scope="index:orders-*:read index:orders-*:write", authorization_details_types=["index_access"])
    headers = granted(server, made, [entry])
    send = lambda path, body, how=headers: server.request("POST", path, body, how, auth=False)
    done = expect(send("/orders-within/_update/0?_source=true", {"doc": {"total": 7}}), 200)
    assert done["result"] == "updated" and done["get"]["_source"] == {"customer": "acme", "total": 7, "note": "private"}, done
    assert expect(send("/orders-within/_update/0", {"doc": {"total": 7}}), 200)["result"] == "noop"
    # Neither a hidden document is changed, which looks absent, nor a seen one out of sight.
    expect(send("/orders-within/_update/1", {"doc": {"total": 8}}), 404)
    expect(send("/orders-within/_update/0", {"doc": {"customer": "other"}}), 403)
    expect(send("/orders-within/_update/9", {"doc": {"total": 8}}), 404)
    expect(send("/orders-within/_update/9", {"doc": {"total": 8}, "upsert": {"customer": "other"}}), 403)
    made_so = expect(send("/orders-within/_update/9?_source=true", {"doc": {"customer": "acme"}, "doc_as_upsert": True}), 201)
    assert made_so["result"] == "created" and made_so["get"]["_source"] == {"customer": "acme"}, made_so
    again = expect(send("/orders-within/_update/9", {"doc": {"total": 3}, "upsert": {"customer": "acme"}}), 200)
    assert again["result"] == "updated", again
    expect(send("/orders-within/_update/9?if_seq_no=0&if_primary_term=1", {"doc": {"total": 4}}), 409)
    expect(send("/orders-within/_update/0", {"script": {"source": "ctx._source.total = 1"}}), 403)
    expect(send("/orders-within/_doc/0?version=99&version_type=external", {"customer": "acme"}), 403)
    lines = '{"update":{"_index":"orders-within","_id":"0"}}\n{"doc":{"total":5}}\n{"update":{"_index":"orders-within","_id":"1"}}\n{"doc":{"total":5}}\n'
    items = [item["update"]["status"] for item in expect(send("/_bulk", lines), 200)["items"]]
    assert items == [200, 404], items
    whole = expect(server.request("GET", "/orders-within/_doc/1"), 200)["_source"]
    assert whole == {"customer": "other", "total": 1, "note": "private"}, whole
    # Who does not see a field leaves it as it is, and writes no document that would get it.
    fields = granted(server, made, [dict(entry, fields=["customer", "total"])])
    done = expect(send("/orders-within/_update/0?_source=true", {"doc": {"total": 6}}, fields), 200)
    assert done["get"]["_source"] == {"customer": "acme", "total": 6}, done
    kept = expect(server.request("GET", "/orders-within/_source/0"), 200)
    assert kept == {"customer": "acme", "total": 6, "note": "private"}, kept
    expect(send("/orders-within/_update/0", {"doc": {"note": "mine"}}, fields), 403)
    expect(send("/orders-within/_update/9", {"doc": {"note": "mine"}}, fields), 403)
    assert expect(send("/orders-within/_update/9", {"doc": {"total": 6}}, fields), 200)["result"] == "updated"
    # Nor does it make of a document one of which more is seen.
    open_too = dict(entry, query={"term": {"customer.keyword": "other"}})
    both = granted(server, made, [dict(entry, fields=["customer", "total"]), open_too])
    expect(send("/orders-within/_update/0", {"doc": {"total": 8}}, both), 200)
    expect(send("/orders-within/_update/0", {"doc": {"customer": "other"}}, both), 403)
    expect(send("/orders-within/_update/9", {"doc": {"customer": "other"}}, both), 200)


@test
def an_entry_that_is_held_in_part_says_what_it_may_become(server):
    made = client(server, scope="index:*:all", authorization_details_types=["index_access"])
    entry = {"type": "index_access", "indices": ["orders-*", "bills-1"], "actions": ["all"], "fields": ["total"]}
    visitor = Browser(server)
    page = visitor.get(ask(made["client_id"], authorization_details=json.dumps([entry])))
    request = query(page.headers["Location"])["request"]
    visitor.login("ann", PEOPLE["ann"], request)
    page = visitor.get(f"/consent?request={request}")
    told = " ".join(page.text.split())
    # It is granted whole, and works as far as its owner's rights go, whenever that is.
    assert "Read, add, change and delete documents in orders-*" in told, told
    most = "so does this, up to: Do everything with orders-*, any that match; Do everything with bills-1." in told
    assert most, told
    done = visitor.submit(page, "/consent", detail="0", decision="allow")
    expect(exchange(server, made, secret(query(done.headers["Location"])["code"])), 200)
    told = " ".join(visitor.get("/account/apps").text.split())
    assert "only the fields total" in told and "as your rights grow, up to: Do everything with orders-*" in told, told


@test
def an_application_learns_no_names(server):
    expect(server.request("PUT", "/_security/role/watcher", {"cluster": ["monitor"], "indices": []}), 200)
    asked = "cluster:monitor index:orders-*:read index:orders-*:write"
    made = client(server, scope=asked)
    # What the owner does not hold is not granted.
    assert tokens(server, made, scope=asked)["scope"] == "index:orders-*:read index:orders-*:write"
    expect(server.request("PUT", "/_security/user/ann", {"roles": ["reader", "watcher"]}), 200)
    got = tokens(server, made, scope=asked)
    assert got["scope"] == asked, got["scope"]
    headers = bearer(got["access_token"])
    get = lambda path, how=headers: server.request("GET", path, headers=how, auth=False)
    for level in ["indices", "shards"]:
        told = expect(get(f"/_cluster/health?level={level}"), 200)
        assert "orders-1" in told["indices"] and "bills-1" not in told["indices"], told["indices"].keys()
    whole = expect(server.request("GET", "/_cluster/health?level=indices"), 200)
    assert "bills-1" in whole["indices"] and told["active_shards"] == whole["active_shards"], "and is told how all of it is"
    for path in ["/_cluster/health/bills-1?timeout=0s", "/_cluster/health/nothing-1?timeout=0s"]:
        expect(get(path), 403)
    assert "bills-1" not in json.dumps(expect(get("/_cluster/health/b*?level=indices"), 200))
    # Work belongs to whoever began it.
    lines = "".join('{"index":{"_index":"bills-many"}}\n{"n":%d}\n' % number for number in range(60))
    expect(server.request("POST", "/_bulk?refresh=true", lines), 200)
    slow = "_update_by_query?wait_for_completion=false&scroll_size=10&requests_per_second=10"
    foreign = expect(server.request("POST", f"/bills-many/{slow}"), 200)["task"]
    own = expect(server.request("POST", f"/orders-1/{slow}", headers=headers, auth=False), 200)["task"]
    expect(get(f"/_tasks/{foreign}"), 404)
    expect(get(f"/_tasks/{own}"), 200)
    for path in ["/_tasks?detailed=true", "/_cat/tasks?detailed=true", "/_tasks?group_by=parents&detailed=true"]:
        told = json.dumps(expect(get(path), 200))
        assert "bills-many" not in told and foreign not in told, told
    assert foreign in json.dumps(expect(server.request("GET", "/_tasks?detailed=true"), 200))
    expect(server.request("POST", f"/_tasks/{foreign}/_cancel"), 200)
    # Who may not change settings does not hear what is wrong with a change.
    for body in [{}, {"persistent": {}}, {"persistent": {"no.such": 1}}]:
        expect(server.request("PUT", "/_cluster/settings", body, headers, auth=False), 403)
    expect(server.request("PUT", "/_cluster/settings", {}), 400)
    expect(server.request("PUT", "/_security/user/ann", {"roles": ["reader"]}), 200)
    # A page that counts what an application asked for would tell which names are there.
    names = ["bills-1", "nothing-1", "bills-*", "nothing-*"]
    scope = " ".join(f"index:{name}:read" for name in names) + " index:orders-1:read"
    made = client(server, scope=scope)
    visitor = Browser(server)
    page = visitor.get(ask(made["client_id"], scope=scope))
    page = visitor.login("ann", PEOPLE["ann"], query(page.headers["Location"])["request"])
    shown = visitor.get(page.headers["Location"]).text
    for there, absent in [("bills-1", "nothing-1"), ("bills-*", "nothing-*")]:
        sentence = lambda name: re.search(re.escape(f"in {name}") + "([^<;]*)", shown)[1].rstrip(".")
        assert sentence(there) == sentence(absent), (sentence(there), sentence(absent))
    assert "in orders-1<" in shown, "what is one's own is told"


@test
def no_alias_takes_a_name_of_the_server(server):
    """An alias of a reserved name could be reached at no plain path."""
    expect(server.request("PUT", "/orders-names", {}), 200)
    add = {"actions": [{"add": {"index": "orders-names", "alias": "token"}}]}
    for method, path, body in [
        ("POST", "/_aliases", add),
        ("PUT", "/orders-names/_alias/login", None),
        ("PUT", "/orders-named", {"aliases": {"par": {}}}),
        ("PUT", "/_index_template/named", {"index_patterns": ["orders-named*"], "template": {"aliases": {"consent": {}}}}),
        ("PUT", "/_component_template/named", {"template": {"aliases": {"consent": {}}}}),
    ]:
        refused = expect(server.request(method, path, body), 400)
        assert refused["error"]["type"] == "invalid_alias_name_exception", refused
    # Of such a template no name is known before its index is made.
    template = {"index_patterns": ["tok*"], "template": {"aliases": {"{index}en": {}}}}
    expect(server.request("PUT", "/_index_template/halves", template), 200)
    refused = expect(server.request("PUT", "/tok", {}), 400)
    assert refused["error"]["type"] == "invalid_alias_name_exception", refused
    expect(server.request("DELETE", "/_index_template/halves"), 200)
    expect(server.request("DELETE", "/orders-names"), 200)


@test
def a_data_stream_is_limited_as_its_name_is(server):
    template = {"index_patterns": ["orders-flow*"], "data_stream": {}, "priority": 500,
                "template": {"mappings": {"properties": {"customer": {"type": "keyword"}, "note": {"type": "keyword"}}}}}
    expect(server.request("PUT", "/_index_template/flow", template), 200)
    for number, customer in enumerate(["acme", "other"]):
        body = {"@timestamp": "2026-11-22", "customer": customer, "note": "private"}
        expect(server.request("PUT", f"/orders-flow/_create/{number}?refresh=true", body), 201)
    expect(server.request("PUT", "/_security/role/flows", {"indices": [{"names": ["orders-flow*"], "privileges": ["all"]}]}), 200)
    expect(server.request("PUT", "/_security/user/ann", {"roles": ["reader", "flows"]}), 200)
    backing = expect(server.request("GET", "/_data_stream/orders-flow"), 200)["data_streams"][0]["indices"][0]["index_name"]
    entry = {"type": "index_access", "indices": ["orders-flow*"], "actions": ["read", "create"], "query": {"term": {"customer": "acme"}},
             "fields": ["@timestamp", "customer"]}
    headers = granted(server, client(server, scope="index:orders-*:read index:orders-*:create", authorization_details_types=["index_access"]), [entry])
    send = lambda method, path, body=None: server.request(method, path, body, headers, auth=False)
    for name in ["orders-flow", backing, "orders-f*", ".ds-orders-flow-*", "*"]:
        found = expect(send("GET", f"/{name}/_search?expand_wildcards=all"), 200)
        assert [hit["_id"] for hit in found["hits"]["hits"]] == ["0"], (name, found)
        assert set(found["hits"]["hits"][0]["_source"]) == {"@timestamp", "customer"}, found
        assert expect(send("GET", f"/{name}/_count?expand_wildcards=all"), 200)["count"] == 1, name
    expect(send("GET", f"/{backing}/_doc/0"), 200)
    expect(send("GET", f"/{backing}/_doc/1"), 404)
    docs = expect(send("POST", "/_mget", {"docs": [{"_index": backing, "_id": "1"}, {"_index": backing, "_id": "0"}]}), 200)["docs"]
    assert [doc["found"] for doc in docs] == [False, True], docs
    assert "note" not in json.dumps(expect(send("GET", "/orders-flow/_mapping"), 200))
    expect(send("PUT", "/orders-flow/_create/2", {"@timestamp": "2026-11-22", "customer": "acme"}), 201)
    expect(send("PUT", "/orders-flow/_create/3", {"@timestamp": "2026-11-22", "customer": "other"}), 403)
    expect(send("PUT", "/orders-flow/_create/3", {"@timestamp": "2026-11-22", "customer": "acme", "note": "mine"}), 403)
    for method, path in [("DELETE", "/_data_stream/orders-flow"), ("POST", "/orders-flow/_rollover"), ("DELETE", f"/{backing}/_doc/0")]:
        expect(send(method, path), 403)
    expect(server.request("DELETE", "/_data_stream/orders-flow"), 200)
    expect(server.request("DELETE", "/_index_template/flow"), 200)
    expect(server.request("PUT", "/_security/user/ann", {"roles": ["reader"]}), 200)


@test
def a_token_can_end_itself(server):
    made = client(server)
    got = tokens(server, made)
    headers, other = bearer(got["access_token"]), tokens(server, made)["access_token"]
    expect(server.request("DELETE", "/_security/oauth2/token", {"token": other}, headers, auth=False), 403)
    expect(reads(server, other), 200)
    ended = expect(server.request("DELETE", "/_security/oauth2/token", {"token": got["access_token"]}, headers, auth=False), 200)
    assert ended["invalidated_tokens"] == 1, ended
    expect(reads(server, got["access_token"]), 401)
    ended = expect(server.request("DELETE", "/_security/oauth2/token", {"token": got["access_token"]}), 200)
    assert ended["previously_invalidated_tokens"] == 1, ended
    expect(server.request("DELETE", "/_security/oauth2/token", {"token": "core_at_junk"}), 404)


@test
def a_token_opens_no_back_door(server):
    made = client(server, scope="index:*:all")
    token = tokens(server, made, scope="index:*:all")["access_token"]
    # Whoever may grant keys cannot make one of an application's token: it would hold all roles.
    body = {"grant_type": "access_token", "access_token": token, "api_key": {"name": "stolen"}}
    expect(server.request("POST", "/_security/api_key/grant", body), 401)
    raw = lambda path: server.raw(f"GET {path} HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer {token}\r\n\r\n")
    for path in ["/orders-1/../_cluster/settings", "/%2e%2e/orders-1/_search", "/orders-1/_doc/%00", "/orders-1%5C_search",
                 "/orders-1/_search#x", "//orders-1/_search", "/orders-1/./_search", "/orders%2F1/_search", "/authorize/..", "/%2e/token"]:
        answer = raw(path)
        assert answer.startswith(b"HTTP/1.1 400") and b"onnection: close" in answer, (path, answer)


@test
def only_an_access_token_opens_anything(server):
    made = client(server)
    got = tokens(server, made)
    token = got["access_token"]
    changed = token[:-1] + ("a" if token[-1] != "a" else "b")
    for other in [got["refresh_token"], made["client_secret"], changed, token + "x", token.upper(), "core_at_" + "A" * 49, "a" * 5000]:
        status, headers, _ = reads(server, other)
        assert status == 401 and 'error="invalid_token"' in str(headers.get_all("WWW-Authenticate")), (other[:12], status)
    # One changed bit below a checksum that fits.
    sealed = base64.urlsafe_b64decode(token[len("core_at_"):][:43] + "=")
    for bit in range(0, 256, 5):
        body = bytearray(sealed)
        body[bit // 8] ^= 1 << (bit % 8)
        text = "core_at_" + base64.urlsafe_b64encode(bytes(body)).decode().rstrip("=")
        bits = int.from_bytes(hashlib.sha256(text.encode()).digest()[:4], "big") >> 2
        text += "".join("abcdefghijklmnopqrstuvwxyz234567"[bits >> (25 - 5 * at) & 31] for at in range(6))
        assert reads(server, text)[0] == 401, bit
    expect(exchange(server, made, got["refresh_token"]), 400, "invalid_grant")
    expect(refresh(server, made, token), 400, "invalid_grant")
    twice = f"GET /orders-1/_search HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer {token}\r\nAuthorization: Bearer {token}\r\n\r\n"
    assert server.raw(twice).startswith(b"HTTP/1.1 400")
    for text in ["state=a%0d%0aSet-Cookie:x=1", "scope=self%00", "login_hint=%ff"]:
        answer = server.raw(f"GET /authorize?response_type=code&client_id={made['client_id']}&{text} HTTP/1.1\r\nHost: h\r\n\r\n")
        assert answer.startswith(b"HTTP/1.1 400") and b"Location" not in answer, answer


@test
def work_that_lasts_ends_with_its_grant(server):
    lines = "".join('{"index":{"_index":"orders-many"}}\n{"n":%d}\n' % number for number in range(300))
    expect(server.request("POST", "/_bulk?refresh=true", lines), 200)
    made = client(server, scope="index:orders-*:read index:orders-*:write")
    got = tokens(server, made, scope="index:orders-*:read index:orders-*:write")
    headers = bearer(got["access_token"])
    path = "/orders-many/_update_by_query?wait_for_completion=false&scroll_size=10&requests_per_second=20"
    task = expect(server.request("POST", path, headers=headers, auth=False), 200)["task"]
    expect(form(server, "/revoke", {"token": got["refresh_token"], "client_id": made["client_id"], "client_secret": made["client_secret"]}), 200)
    for _ in range(100):
        seen = expect(server.request("GET", f"/_tasks/{task}"), 200)
        if seen["completed"]:
            break
        time.sleep(0.1)
    assert seen["completed"] and "security_exception" in json.dumps(seen), seen


@test
def a_later_user_of_the_same_name_is_another(server):
    PEOPLE["tmp"] = secret("tmp-knows-this-5")
    user = {"password": PEOPLE["tmp"], "roles": ["reader"]}
    expect(server.request("PUT", "/_security/user/tmp", user), 200)
    made = client(server)
    got = tokens(server, made, user="tmp")
    expect(reads(server, got["access_token"]), 200)
    expect(server.request("DELETE", "/_security/user/tmp"), 200)
    expect(reads(server, got["access_token"]), 401)
    expect(server.request("PUT", "/_security/user/tmp", dict(user, roles=["superuser"])), 200)
    expect(reads(server, got["access_token"]), 401)
    expect(refresh(server, made, got["refresh_token"]), 400, "invalid_grant")
    expect(server.request("DELETE", "/_security/user/tmp"), 200)


@test
def names_do_not_widen_a_grant(server):
    roles = {"indices": [{"names": ["*"], "privileges": ["all"]}]}
    expect(server.request("PUT", "/_security/role/everything", roles), 200)
    expect(server.request("PUT", "/_security/user/ann", {"roles": ["everything"]}), 200)
    made = client(server, scope="index:acts-*:all index:nest-*:read")
    got = tokens(server, made, scope="index:acts-*:all")
    headers = bearer(got["access_token"])
    expect(server.request("PUT", "/bills-1/_alias/acts-bills", {}), 200)
    for method, path, body in [
        ("GET", "/acts-bills/_search", None), ("GET", "/acts-bills/_doc/1", None), ("GET", "/acts-bills/_mapping", None),
        ("PUT", "/acts-bills/_doc/77", {"a": 1}), ("GET", "/acts-bills/_count", None),
    ]:
        status, _, answer = server.request(method, path, body, headers, auth=False)
        assert status == 403, (path, status, answer)
    for path in ["/acts-*/_search", "/acts-*,-none/_search", "/acts-*/_field_caps?fields=*", "/acts-*/_mapping", "/acts-*/_search_shards"]:
        shrunk = expect(server.request("GET", path, headers=headers, auth=False), 200)
        assert "bills-1" not in json.dumps(shrunk), (path, shrunk)
    item = expect(server.request("POST", "/_mget", {"docs": [{"_index": "acts-bills", "_id": "1"}]}, headers, auth=False), 200)["docs"][0]
    assert "_source" not in item, item
    expect(server.request("DELETE", "/bills-1/_alias/acts-bills"), 200)
    expect(server.request("PUT", "/_security/user/ann", {"roles": ["reader"]}), 200)


@test
def hidden_fields_are_hidden_inside_of_hits(server):
    mapping = {"mappings": {"properties": {"nested": {"type": "nested"}}}}
    expect(server.request("PUT", "/orders-nested", mapping), 200)
    expect(server.request("PUT", "/orders-nested/_doc/1?refresh=true", {"nested": [{"s": "hidden-word", "v": "seen"}]}), 201)
    rule = {"indices": [{"names": ["orders-nested"], "privileges": ["read"], "field_security": {"grant": ["*"], "except": ["nested.s"]}}]}
    expect(server.request("PUT", "/_security/role/half", rule), 200)
    expect(server.request("PUT", "/_security/user/eve", {"password": secret("eve-knows-this-4"), "roles": ["half"]}), 200)
    inner = {"query": {"nested": {"path": "nested", "query": {"match_all": {}}, "inner_hits": {}}}}
    top = {"size": 0, "aggs": {"n": {"nested": {"path": "nested"}, "aggs": {"t": {"top_hits": {}}}}}}
    for body in [inner, top, {"query": {"match_all": {}}}]:
        found = expect(server.request("POST", "/orders-nested/_search", body, basic("eve", "eve-knows-this-4")), 200)
        text = json.dumps(found)
        assert "seen" in text and "hidden-word" not in text, text


@test
def tokens_may_not_do_what_administrators_do(server):
    made = client(server, scope="index:*:all cluster:monitor")
    got = tokens(server, made, scope="index:*:all cluster:monitor")
    headers = bearer(got["access_token"])
    for method, path, body in [
        ("GET", "/_security/user", None), ("POST", "/_security/api_key", {"name": "x"}), ("GET", "/_oauth/client", None),
        ("PUT", "/_cluster/settings", {"persistent": {"search.max_buckets": 100}}), ("PUT", "/_security/user/eve", {"password": "long-enough", "roles": []}),
        ("POST", "/_security/oauth2/token", {"grant_type": "client_credentials"}),
    ]:
        status, _, answer = server.request(method, path, body, headers, auth=False)
        assert status == 403, (path, status, answer)
    who = expect(server.request("GET", "/_security/_authenticate", headers=headers, auth=False), 200)
    assert who["username"] == "ann" and who["oauth"]["client_id"] == made["client_id"]
    status, _, _ = server.request("GET", "/orders-1/_search", headers=dict(headers, **{"es-security-runas-user": "bob"}), auth=False)
    assert status == 403, status
    for name in ["token", "authorize", "_oauth", "account"]:
        line = json.dumps({"index": {"_index": name}}) + "\n{}\n"
        item = expect(server.request("POST", "/_bulk", line), 200)["items"][0]["index"]
        assert item["status"] == 400 and item["error"]["type"] == "invalid_index_name_exception", item
    status, _, body = server.request("GET", "/bills-1/_search", headers=headers, auth=False)
    assert status == 403, "ann herself may not read bills"


@test
def rights_are_those_of_this_moment(server):
    made = client(server)
    got = tokens(server, made)
    expect(reads(server, got["access_token"]), 200)
    expect(server.request("PUT", "/_security/user/ann", {"roles": []}), 200)
    expect(reads(server, got["access_token"]), 403)
    renewed = expect(refresh(server, made, got["refresh_token"]), 200)
    assert renewed["scope"] == "index:orders-*:read"
    expect(server.request("PUT", "/_security/user/ann", {"roles": ["reader"]}), 200)
    expect(reads(server, renewed["access_token"]), 200)
    expect(server.request("PUT", "/_security/user/ann/_disable"), 200)
    expect(reads(server, renewed["access_token"]), 401)
    expect(refresh(server, made, renewed["refresh_token"]), 400, "invalid_grant")
    expect(server.request("PUT", "/_security/user/ann/_enable"), 200)
    expect(reads(server, renewed["access_token"]), 200)
    suspended = expect(server.request("POST", f"/_oauth/client/{made['client_id']}/_suspend"), 200)
    assert suspended == {"client_id": made["client_id"], "status": "suspended"}
    expect(reads(server, renewed["access_token"]), 401)
    expect(server.request("POST", f"/_oauth/client/{made['client_id']}/_approve"), 200)
    expect(reads(server, renewed["access_token"]), 401)
    again = tokens(server, made)
    grants = expect(server.request("GET", f"/_oauth/grant?username=ann&client_id={made['client_id']}"), 200)["grants"]
    assert len(grants) == 1, grants
    assert expect(server.request("DELETE", f"/_oauth/grant/{grants[0]['id']}"), 200) == {"found": True}
    expect(server.request("DELETE", f"/_oauth/grant/{grants[0]['id']}"), 404)
    expect(reads(server, again["access_token"]), 401)
