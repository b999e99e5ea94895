"""The official Python client 9, which asks for version 9 of the language: index, helpers, errors; then logs in a data
stream that rolls over, and what is asked of them."""

import asyncio
import sys

from elasticsearch import AsyncElasticsearch, BadRequestError, Elasticsearch, NotFoundError, helpers

url, password, ca = sys.argv[1:]
with Elasticsearch(url, basic_auth=("elastic", password), ca_certs=ca) as client:
    assert client.info()["version"]["number"].startswith("8.")
    client.indices.create(index="nine", mappings={"properties": {"word": {"type": "keyword"}}})
    documents = ({"_index": "nine", "_id": n, "n": n, "word": f"w{n % 5}"} for n in range(500))
    count, errors = helpers.bulk(client, documents, refresh=True)
    assert (count, errors) == (500, []), (count, errors)
    found = client.search(index="nine", query={"term": {"word": "w3"}}, size=1)
    assert found["hits"]["total"]["value"] == 100
    assert sum(1 for _ in helpers.scan(client, index="nine", size=120)) == 500
    try:
        client.get(index="nine", id="none")
        raise AssertionError("a missing document must be missed")
    except NotFoundError:
        pass
    client.indices.delete(index="nine")

    client.indices.put_index_template(
        name="app", index_patterns=["app-logs"], data_stream={}, priority=200,
        template={"settings": {"number_of_replicas": 0}, "mappings": {"properties": {
            "@timestamp": {"type": "date"}, "level": {"type": "keyword"}, "message": {"type": "text"}, "ms": {"type": "long"}}}},
    )
    lines = [
        {"_op_type": "create", "_index": "app-logs", "@timestamp": f"2026-03-{n % 30 + 1:02d}T{n % 24:02d}:00:00Z",
         "level": ("info", "warn", "error")[n % 3], "message": f"request {n} took long" if n % 7 == 0 else f"request {n}", "ms": n}
        for n in range(600)
    ]
    for ok, item in helpers.parallel_bulk(client, lines[:300], thread_count=3, chunk_size=50):
        assert ok, item
    rolled = client.indices.rollover(alias="app-logs")
    assert rolled["rolled_over"] and rolled["new_index"].endswith("-000002"), rolled
    for ok, item in helpers.streaming_bulk(client, lines[300:], chunk_size=64):
        assert ok, item
    client.indices.refresh(index="app-logs")
    stream = client.indices.get_data_stream(name="app-logs")["data_streams"][0]
    assert (stream["generation"], len(stream["indices"])) == (2, 2), stream
    try:
        client.index(index="app-logs", id="1", document={"@timestamp": "2026-01-01"}, op_type="index")
        raise AssertionError("a data stream takes creates only")
    except BadRequestError as error:
        assert "create" in str(error), error
    answer = client.search(
        index="app-logs", size=2, sort=[{"@timestamp": "desc"}, {"ms": "desc"}], highlight={"fields": {"message": {}}},
        query={"bool": {"must": [{"match": {"message": "long"}}], "filter": [{"terms": {"level": ["warn", "error"]}}]}},
        aggs={"levels": {"terms": {"field": "level"}, "aggs": {"slow": {"percentiles": {"field": "ms", "percents": [50]}}}},
              "days": {"date_histogram": {"field": "@timestamp", "fixed_interval": "10d"}}},
    )
    want = [n for n in range(0, 600, 7) if n % 3]
    assert answer["hits"]["total"]["value"] == len(want), answer["hits"]["total"]
    assert {bucket["key"]: bucket["doc_count"] for bucket in answer["aggregations"]["levels"]["buckets"]} == {
        "warn": sum(1 for n in want if n % 3 == 1), "error": sum(1 for n in want if n % 3 == 2)}
    assert "<em>long</em>" in answer["hits"]["hits"][0]["highlight"]["message"][0]
    assert sum(bucket["doc_count"] for bucket in answer["aggregations"]["days"]["buckets"]) == len(want)
    done = client.update_by_query(index="app-logs", query={"term": {"level": "info"}}, wait_for_completion=False)
    state = client.tasks.get(task_id=done["task"], wait_for_completion=True)
    assert state["completed"] and state["response"]["updated"] == 200 and state["response"]["throttled"] == "0s", state
    caps = client.field_caps(index="app-logs", fields=["ms", "message"])
    assert set(caps["fields"]) == {"ms", "message"}, caps
    explained = client.explain(index=answer["hits"]["hits"][0]["_index"], id=answer["hits"]["hits"][0]["_id"], query={"match": {"message": "long"}})
    assert explained["matched"]
    client.indices.delete_data_stream(name="app-logs")
    client.indices.delete_index_template(name="app")


async def at_once():
    async with AsyncElasticsearch(url, basic_auth=("elastic", password), ca_certs=ca) as client:
        documents = [{"_index": "nine", "_id": n, "n": n} for n in range(200)]
        assert await helpers.async_bulk(client, documents, refresh="wait_for") == (200, [])
        counts = await asyncio.gather(*(client.count(index="nine", query={"range": {"n": {"lt": n}}}) for n in range(0, 200, 10)))
        assert [count["count"] for count in counts] == list(range(0, 200, 10))
        scanned = [hit["_source"]["n"] async for hit in helpers.async_scan(client, index="nine", size=50)]
        assert sorted(scanned) == list(range(200)), len(scanned)
        await client.indices.delete(index="nine")


asyncio.run(at_once())
print("ok")
