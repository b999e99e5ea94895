#!/usr/bin/env python3
"""Rights, told by the official Python client: basic, api_key and bearer_auth, each against what the
owner of some orders lets it see. Starts a throw-away node; see server.py."""

import json
import sys

try:
    from elasticsearch import (
        ApiError,
        AuthenticationException,
        AuthorizationException,
        BadRequestError,
        Elasticsearch,
        NotFoundError,
    )
except ImportError:
    print("SKIP: the Python client is not installed")
    print("0 passed, 0 failed, 1 skipped")
    sys.exit(0)

import server as nodes

PASSWORD = nodes.PASSWORD
ORDERS = {
    "1": {"customer": "acme", "total": 10, "card": {"number": "4111"}, "note": "red shoes"},
    "2": {"customer": "acme", "total": 20, "card": {"number": "4222"}, "note": "blue shoes"},
    "3": {"customer": "other", "total": 30, "card": {"number": "4333"}, "note": "red hat"},
}


def check(condition, what):
    if not condition:
        raise SystemExit(f"FAIL {what}")
    print(f"ok   {what}")


def refused(call, kind, what):
    try:
        call()
    except kind as error:
        check(True, what)
        return error
    raise SystemExit(f"FAIL {what}: it was let through")


def prepare(admin):
    admin.indices.create(
        index="orders-1",
        mappings={
            "properties": {
                "customer": {"type": "keyword"},
                "total": {"type": "long"},
                "card": {"properties": {"number": {"type": "keyword"}}},
                "note": {"type": "text", "fields": {"raw": {"type": "keyword"}}},
            }
        },
    )
    for key, order in ORDERS.items():
        admin.index(index="orders-1", id=key, document=order)
    admin.indices.refresh(index="orders-1")
    admin.security.put_role(
        name="acme",
        cluster=["manage_own_api_key", "manage_token"],
        indices=[
            {
                "names": ["orders-*"],
                "privileges": ["read", "view_index_metadata"],
                "query": {"term": {"customer": "acme"}},
                "field_security": {"grant": ["*"], "except": ["card"]},
            }
        ],
    )
    admin.security.put_user(username="ann", password="a long sentence", roles=["acme"])


def sees_only_acme(client, who):
    hits = client.search(index="orders-*", sort="total")["hits"]["hits"]
    check([hit["_id"] for hit in hits] == ["1", "2"], f"{who}: search shows its documents")
    check(all("card" not in hit["_source"] for hit in hits), f"{who}: sources lack hidden fields")
    check(client.count(index="orders-1")["count"] == 2, f"{who}: count")
    check("card" not in client.get(index="orders-1", id="1")["_source"], f"{who}: get")
    check(not client.exists(index="orders-1", id="3"), f"{who}: a hidden document looks absent")
    found = client.mget(index="orders-1", ids=["1", "3", "9"])["docs"]
    check([doc["found"] for doc in found] == [True, False, False], f"{who}: mget")
    hidden = client.search(index="orders-1", query={"term": {"card.number": "4111"}})
    check(hidden["hits"]["total"]["value"] == 0, f"{who}: hidden fields cannot be asked for")
    found = client.search(
        index="orders-1",
        size=0,
        aggs={
            "customers": {"terms": {"field": "customer"}},
            "everything": {"global": {}, "aggs": {"sum": {"sum": {"field": "total"}}}},
            "cards": {"terms": {"field": "card.number"}},
        },
    )["aggregations"]
    buckets = {bucket["key"]: bucket["doc_count"] for bucket in found["customers"]["buckets"]}
    check(buckets == {"acme": 2}, f"{who}: aggregations")
    check(found["everything"]["doc_count"] == 2, f"{who}: global aggregations")
    check(found["everything"]["sum"]["value"] == 30, f"{who}: sums")
    check(found["cards"]["buckets"] == [], f"{who}: aggregations on hidden fields are empty")
    query = {"match": {"note": "red"}}
    hits = client.search(
        index="orders-1",
        query=query,
        explain=True,
        fields=["*"],
        highlight={"fields": {"*": {}}},
        sort=["_score", "total"],
    )["hits"]["hits"]
    check([hit["_id"] for hit in hits] == ["1"], f"{who}: match")
    check("acme" not in str(hits[0]["_explanation"]), f"{who}: explanations hide the filter")
    check(not [name for name in hits[0]["fields"] if "card" in name], f"{who}: fields")
    refused(
        lambda: client.explain(index="orders-1", id="3", query=query),
        NotFoundError,
        f"{who}: a hidden document is not explained",
    )
    refused(
        lambda: client.search(
            index="orders-1", suggest={"s": {"text": "shos", "term": {"field": "note"}}}
        ),
        ApiError,
        f"{who}: suggestions under a filter are refused",
    )
    caps = client.field_caps(index="orders-1", fields="*")["fields"]
    check(not [name for name in caps if "card" in name], f"{who}: field capabilities")
    mapping = client.indices.get_mapping(index="orders-1")["orders-1"]["mappings"]["properties"]
    check(sorted(mapping) == ["customer", "note", "total"], f"{who}: mappings")
    page = client.search(index="orders-1", size=1, sort="_doc", scroll="1m")
    rest = client.scroll(scroll_id=page["_scroll_id"])["hits"]["hits"]
    ids = sorted(hit["_id"] for hit in page["hits"]["hits"] + rest)
    check(ids == ["1", "2"], f"{who}: scroll")
    error = refused(
        lambda: client.index(index="orders-1", id="1", document={}),
        AuthorizationException,
        f"{who}: may not write",
    )
    check("is unauthorized for" in str(error), f"{who}: the denial says why")
    refused(
        lambda: client.search(index="secrets"),
        AuthorizationException,
        f"{who}: a name it may not ask for is refused, there or not",
    )
    check(client.search(index="*")["hits"]["total"]["value"] == 2, f"{who}: wildcards shrink")


def by_expression(admin, client):
    """A role whose indices are named by an expression of Lucene's, and by one that is none."""
    for index in ("log-1", "log-x"):
        admin.index(index=index, id="1", document={"a": 1}, refresh=True)
    admin.security.put_role(
        name="logs", indices=[{"names": ["/log-[0-9]+/"], "privileges": ["read"]}], run_as=["a?n"]
    )
    admin.security.put_user(username="leo", password="a long sentence", roles=["logs"])
    leo = client(basic_auth=("leo", "a long sentence"))
    check(leo.search(index="log-1")["hits"]["total"]["value"] == 1, "an expression names an index")
    refused(lambda: leo.search(index="log-x"), AuthorizationException, "and not its neighbour")
    found = leo.search(index="log-*")["hits"]["hits"]
    check([hit["_index"] for hit in found] == ["log-1"], "a star reaches what the expression names")
    for names, held in ((["log-7"], True), (["log-*"], False), (["log-x"], False)):
        asked = leo.security.has_privileges(index=[{"names": names, "privileges": ["read"]}])
        check(asked["has_all_requested"] is held, f"has_privileges tells it of {names}")
    error = refused(
        lambda: admin.security.put_role(
            name="broken", indices=[{"names": ["/log-[/"], "privileges": ["read"]}]
        ),
        ApiError,
        "an expression that is none is refused",
    )
    check(error.status_code == 400, "by 400")


def main():
    with nodes.Server() as server:
        def client(**credential):
            return Elasticsearch(server.url, ca_certs=server.ca, **credential)

        admin = client(basic_auth=("elastic", PASSWORD))
        prepare(admin)
        ann = client(basic_auth=("ann", "a long sentence"))
        sees_only_acme(ann, "basic")

        key = ann.security.create_api_key(name="ann's")
        by_key = client(api_key=key["encoded"])
        sees_only_acme(by_key, "api key")
        narrow = ann.security.create_api_key(
            name="narrow",
            role_descriptors={"none": {"indices": [{"names": ["x"], "privileges": ["all"]}]}},
        )
        refused(
            lambda: client(api_key=narrow["encoded"]).search(index="orders-1"),
            AuthorizationException,
            "api key: descriptors narrow",
        )
        wide = ann.security.create_api_key(
            name="wide",
            role_descriptors={"all": {"indices": [{"names": ["*"], "privileges": ["all"]}]}},
        )
        sees_only_acme(client(api_key=wide["encoded"]), "api key with wide descriptors")

        token = ann.security.get_token(
            grant_type="password", username="ann", password="a long sentence"
        )
        by_token = client(bearer_auth=token["access_token"])
        sees_only_acme(by_token, "bearer")
        refused(
            lambda: admin.security.get_token(grant_type="refresh_token", refresh_token=token["refresh_token"]),
            BadRequestError,
            "a refresh token is of use to its maker alone",
        )
        again = ann.security.get_token(
            grant_type="refresh_token", refresh_token=token["refresh_token"]
        )
        check(again["refresh_token"] != token["refresh_token"], "refresh tokens rotate")

        ann.security.invalidate_api_key(ids=[key["id"]], owner=True)
        refused(by_key.info, AuthenticationException, "an invalidated key is out at once")
        admin.security.put_role(name="acme", indices=[])
        refused(
            lambda: by_token.search(index="orders-1"),
            AuthorizationException,
            "a role that is taken away bites at once",
        )
        admin.security.disable_user(username="ann")
        refused(ann.info, AuthenticationException, "a disabled user is out at once")
        refused(by_token.info, AuthenticationException, "its tokens too")
        admin.security.enable_user(username="ann")
        admin.security.delete_user(username="ann")
        refused(by_token.info, AuthenticationException, "a deleted user's tokens are dead")
        by_expression(admin, client)
        refused(
            lambda: admin.security.put_role(name="x", cluster=["nonsense"]),
            ApiError,
            "a privilege that means nothing is refused",
        )
        told = server.log.read_text(errors="replace")
        audit = (server.data / "logs" / "audit.json").read_text()
        secrets = [PASSWORD, "a long sentence", key["api_key"], key["encoded"], narrow["api_key"]]
        secrets += [wide["api_key"], token["access_token"], token["refresh_token"]]
        secrets += [again["access_token"], again["refresh_token"]]
        check(not [one for one in secrets if one in told or one in audit], "no secret in any log")
        events = {json.loads(line)["event"] for line in audit.splitlines()}
        wanted = {"api_key_created", "api_key_invalidated", "access_denied", "login_failed"}
        check(wanted <= events, "the audit log has what happened")
    print("all well")


if __name__ == "__main__":
    sys.exit(main())
