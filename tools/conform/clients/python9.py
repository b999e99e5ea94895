"""The official Python client 9, which asks for version 9 of the language: index, helpers, errors."""

import sys

from elasticsearch import Elasticsearch, NotFoundError, helpers

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
print("ok")
