"""The official Python client 8.19 as its users write it: `python3 tools/conform/client_python.py`.

Synchronous and asynchronous, over HTTPS with the CA's fingerprint pinned; `helpers.bulk`,
`helpers.parallel_bulk`, `helpers.streaming_bulk`, `helpers.async_bulk`, conflicts, errors. Says so
and ends with 0 where the client is not installed (`pip install -r tools/conform/requirements.txt`).
"""

import asyncio
import sys
import traceback

try:
    from elasticsearch import (
        AsyncElasticsearch, AuthenticationException, BadRequestError, ConflictError, Elasticsearch,
        NotFoundError, helpers,
    )
except ImportError:
    print("SKIP: the Python client is not installed")
    print("0 passed, 0 failed, 1 skipped")
    sys.exit(0)

from server import PASSWORD, Server

WORDS = "amber basalt cedar delta ember fjord garnet harbor iris juniper kelp lagoon".split()


def documents(count):
    """A small corpus whose counts are known by arithmetic."""
    for number in range(count):
        yield {
            "number": number,
            "word": WORDS[number % len(WORDS)],
            "text": f"{WORDS[number % 12]} and {WORDS[(number * 7) % 12]} and {WORDS[(number // 12) % 12]}",
            "even": number % 2 == 0,
            "at": f"2026-01-{number % 28 + 1:02d}T00:00:00Z",
        }


def synchronous(client):
    info = client.info()
    assert info["version"]["number"].startswith("8.")
    assert client.ping()
    client.indices.create(index="sync", mappings={"properties": {"word": {"type": "keyword"}}})
    assert client.indices.exists(index="sync")
    try:
        client.indices.create(index="sync")
        raise AssertionError("a second create must fail")
    except BadRequestError as error:
        assert error.error == "resource_already_exists_exception", error
    answer = client.index(index="sync", id="a", document={"word": "x", "n": 1}, refresh="wait_for")
    assert answer["result"] == "created"
    try:
        client.create(index="sync", id="a", document={})
        raise AssertionError("a create of an existing id must fail")
    except ConflictError as error:
        assert error.status_code == 409
    got = client.get(index="sync", id="a")
    answer = client.index(
        index="sync", id="a", document={"word": "y", "n": 2},
        if_seq_no=got["_seq_no"], if_primary_term=got["_primary_term"],
    )
    assert answer["_version"] == 2 and answer["result"] == "updated"
    assert client.get_source(index="sync", id="a") == {"word": "y", "n": 2}
    assert client.exists(index="sync", id="a") and not client.exists(index="sync", id="b")
    got = client.mget(index="sync", ids=["a", "b"])
    assert [doc["found"] for doc in got["docs"]] == [True, False]
    try:
        client.get(index="sync", id="b")
        raise AssertionError("a missing document must be NotFoundError")
    except NotFoundError as error:
        assert error.status_code == 404
    assert client.delete(index="sync", id="a")["result"] == "deleted"
    mapping = client.indices.get_mapping(index="sync")
    assert mapping["sync"]["mappings"]["properties"]["n"] == {"type": "long"}, mapping
    assert client.cluster.health(wait_for_status="yellow")["status"] in ("green", "yellow")
    tokens = client.indices.analyze(analyzer="standard", text="The QUICK fox")["tokens"]
    assert [token["token"] for token in tokens] == ["the", "quick", "fox"]
    client.indices.delete(index="sync")


def bulk_helpers(client):
    count = 5000
    actions = ({"_index": "bulk", "_id": str(doc["number"]), "_source": doc} for doc in documents(count))
    ok, errors = helpers.bulk(client, actions, chunk_size=500, refresh="wait_for")
    assert (ok, errors) == (count, []), (ok, errors)
    assert client.count(index="bulk")["count"] == count
    answer = client.search(index="bulk", query={"term": {"word.keyword": "cedar"}}, track_total_hits=True)
    expected = sum(1 for doc in documents(count) if doc["word"] == "cedar")
    assert answer["hits"]["total"]["value"] == expected, answer["hits"]["total"]
    answer = client.search(
        index="bulk", size=100, sort=[{"number": "desc"}],
        query={"bool": {"must": [{"match": {"text": "fjord"}}], "filter": [{"range": {"number": {"lt": 1000}}}]}},
    )
    want = [doc["number"] for doc in documents(1000) if "fjord" in doc["text"].split()][::-1][:100]
    assert [hit["_source"]["number"] for hit in answer["hits"]["hits"]] == want

    # Deep paging sees each document once.
    seen, after = [], None
    while True:
        page = client.search(
            index="bulk", size=700, sort=[{"at": "asc"}, {"number": "asc"}], query={"match_all": {}},
            **({"search_after": after} if after else {}),
        )["hits"]["hits"]
        if not page:
            break
        seen += [hit["_source"]["number"] for hit in page]
        after = page[-1]["sort"]
    assert sorted(seen) == list(range(count)) and len(seen) == count

    parallel = ({"_index": "parallel", "_source": doc} for doc in documents(count))
    done = sum(ok for ok, _ in helpers.parallel_bulk(client, parallel, thread_count=4, chunk_size=250))
    assert done == count
    client.indices.refresh(index="parallel")
    assert client.count(index="parallel")["count"] == count

    mixed = [
        {"_op_type": "create", "_index": "bulk", "_id": "0", "_source": {}},
        {"_op_type": "index", "_index": "bulk", "_id": "new", "_source": {"number": "x"}},
        {"_op_type": "delete", "_index": "bulk", "_id": "1"},
    ]
    statuses = [
        list(item.values())[0]["status"]
        for _, item in helpers.streaming_bulk(client, mixed, raise_on_error=False)
    ]
    assert statuses == [409, 400, 200], statuses
    client.indices.delete(index="bulk,parallel")


def wrong_password(server):
    client = Elasticsearch(server.url, ca_certs=server.ca, basic_auth=("elastic", "wrong"))
    try:
        client.info()
        raise AssertionError("a wrong password must fail")
    except AuthenticationException as error:
        assert error.status_code == 401
    finally:
        client.close()


async def asynchronous(server):
    # aiohttp compares the fingerprint of the certificate itself, never of its authority.
    async with AsyncElasticsearch(
        server.url, ssl_assert_fingerprint=server.fingerprint("http.crt"),
        basic_auth=("elastic", PASSWORD),
    ) as client:
        await client.indices.create(index="async")
        actions = ({"_index": "async", "_id": str(doc["number"]), "_source": doc} for doc in documents(2000))
        ok, errors = await helpers.async_bulk(client, actions, chunk_size=200)
        assert ok == 2000 and not errors
        await client.indices.refresh(index="async")
        answers = await asyncio.gather(*(
            client.search(index="async", query={"match": {"text": word}}, size=0, track_total_hits=True)
            for word in WORDS * 4
        ))
        for word, answer in zip(WORDS * 4, answers):
            want = sum(1 for doc in documents(2000) if word in doc["text"].split())
            assert answer["hits"]["total"]["value"] == want, (word, answer["hits"]["total"], want)
        await client.indices.delete(index="async")


def main():
    failed = passed = 0
    with Server() as server:
        pinned = Elasticsearch(
            server.url, ssl_assert_fingerprint=server.fingerprint(), basic_auth=("elastic", PASSWORD)
        )
        stories = [
            ("synchronous", lambda: synchronous(pinned)),
            ("bulk helpers", lambda: bulk_helpers(pinned)),
            ("a wrong password", lambda: wrong_password(server)),
            ("asynchronous", lambda: asyncio.run(asynchronous(server))),
        ]
        for name, story in stories:
            try:
                story()
                passed += 1
                print(f"ok    {name}")
            except Exception:
                failed += 1
                print(f"FAIL  {name}")
                traceback.print_exc()
        pinned.close()
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
