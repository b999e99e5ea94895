"""The door, walked through once by hand-made requests: `python3 tools/conform/smoke.py`.

Each test is a short story against a release binary with security on. The last line counts them.
"""

import base64
import collections
import gzip
import json
import socket
import sys
import threading
import traceback

from server import PASSWORD, Server

TESTS = []


def test(story):
    TESTS.append(story)
    return story


@test
def the_root_names_the_product(server):
    status, headers, body = server.request("GET", "/")
    assert status == 200, (status, body)
    assert headers["X-elastic-product"] == "Elasticsearch"
    assert body["version"]["number"].startswith("8."), body
    assert body["tagline"] == "You Know, for Search"


@test
def no_password_is_401_and_a_wrong_one_too(server):
    status, headers, body = server.request("GET", "/", auth=False)
    assert status == 401, (status, body)
    assert "Basic" in headers["WWW-Authenticate"], headers
    assert body["error"]["type"] == "security_exception", body
    status, _, _ = server.request("GET", "/", headers={"Authorization": "Basic ZWxhc3RpYzp3cm9uZw=="})
    assert status == 401


@test
def a_document_is_written_read_found_and_deleted(server):
    status, _, body = server.request("PUT", "/library/_doc/1", {"title": "The quick brown fox", "year": 1987})
    assert (status, body["result"], body["_seq_no"], body["_version"]) == (201, "created", 0, 1), body
    status, _, body = server.request("GET", "/library/_doc/1")
    assert status == 200 and body["_source"] == {"title": "The quick brown fox", "year": 1987}, body
    server.request("POST", "/library/_refresh")
    status, _, body = server.request("POST", "/library/_search", {"query": {"match": {"title": "FOX"}}})
    assert body["hits"]["total"] == {"value": 1, "relation": "eq"}, body
    assert abs(body["hits"]["hits"][0]["_score"] - 0.2876821) < 1e-6, body
    status, _, body = server.request("DELETE", "/library/_doc/1")
    assert body["result"] == "deleted" and body["_version"] == 2, body
    status, _, body = server.request("GET", "/library/_doc/1")
    assert status == 404 and body["found"] is False
    server.request("DELETE", "/library")


@test
def bulk_items_stand_alone(server):
    lines = [
        {"index": {"_index": "b", "_id": "1"}}, {"n": 1},
        {"create": {"_index": "b", "_id": "1"}}, {"n": 2},
        {"index": {"_index": "b", "_id": "2"}}, {"n": "not a number"},
        {"delete": {"_index": "b", "_id": "9"}},
        {"index": {"_index": "B", "_id": "1"}}, {"n": 1},
    ]
    body = "".join(json.dumps(line) + "\n" for line in lines)
    status, _, answer = server.request("POST", "/_bulk?refresh=true", body)
    assert status == 200 and answer["errors"] is True, answer
    statuses = [list(item.values())[0]["status"] for item in answer["items"]]
    assert statuses == [201, 409, 400, 404, 400], answer
    status, _, answer = server.request("GET", "/b/_count")
    assert answer["count"] == 1, answer
    server.request("DELETE", "/b")


@test
def bad_requests_name_the_culprit(server):
    server.request("PUT", "/bad", {"mappings": {"properties": {"n": {"type": "long"}}}})
    cases = [
        ("POST", "/bad/_search", '{"query":', 400, "x_content_e_o_f_exception"),
        ("POST", "/bad/_search", {"query": {"matchh": {}}}, 400, "parsing_exception"),
        ("POST", "/bad/_search", {"querry": {}}, 400, "parsing_exception"),
        ("POST", "/bad/_doc", {"n": "x"}, 400, "document_parsing_exception"),
        ("PUT", "/bad", {}, 400, "resource_already_exists_exception"),
        ("PUT", "/Bad", {}, 400, "invalid_index_name_exception"),
        ("GET", "/missing/_search", None, 404, "index_not_found_exception"),
        ("GET", "/bad/_search?sizee=1", None, 400, "illegal_argument_exception"),
        ("POST", "/_bulk", '{"index":{"_index":"bad"}}\n{}', 400, "illegal_argument_exception"),
    ]
    for method, path, body, want_status, want_type in cases:
        headers = {"Content-Type": "application/json"} if body is not None else {}
        status, _, answer = server.request(method, path, body, headers=headers)
        assert status == want_status, (method, path, body, status, answer)
        assert answer["error"]["type"] == want_type, (method, path, body, answer)
    server.request("DELETE", "/bad")


@test
def unknown_paths_and_methods_answer_as_elasticsearch(server):
    status, _, body = server.request("GET", "/x/y/z/q")
    assert status == 400 and body == {"error": "no handler found for uri [/x/y/z/q] and method [GET]"}, body
    status, headers, body = server.request("GET", "/_bulk")
    assert status == 405 and "POST" in headers["Allow"], (status, body)


@test
def gzip_head_and_pretty(server):
    server.request("PUT", "/g/_doc/1?refresh=true", {"a": 1})
    packed = gzip.compress(json.dumps({"query": {"match_all": {}}}).encode())
    status, _, body = server.request(
        "POST", "/g/_search", packed,
        headers={"Content-Encoding": "gzip", "Content-Type": "application/json"},
    )
    assert status == 200 and body["hits"]["total"]["value"] == 1, body
    status, headers, body = server.request("HEAD", "/g/_doc/1")
    assert status == 200 and body == ""
    status, _, _ = server.request("HEAD", "/nothing")
    assert status == 404
    server.request("DELETE", "/g")


def connect(server):
    host, port = server.http.rsplit(":", 1)
    return server.context().wrap_socket(socket.create_connection((host, int(port)), 10), server_hostname=host)


@test
def conflicting_lengths_close_the_connection_with_400(server):
    with connect(server) as wire:
        wire.sendall(b"POST /_bulk HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n")
        answer = wire.recv(4096)
    assert answer.startswith(b"HTTP/1.1 400"), answer


@test
def pipelined_requests_are_answered_in_order(server):
    token = base64.b64encode(f"elastic:{PASSWORD}".encode()).decode()
    one = f"GET /missing-%d/_doc/1 HTTP/1.1\r\nHost: a\r\nAuthorization: Basic {token}\r\n\r\n"
    with connect(server) as wire:
        wire.sendall("".join(one % at for at in range(50)).encode())
        reader = wire.makefile("rb")
        for at in range(50):
            line = reader.readline()
            assert line.startswith(b"HTTP/1.1 404"), (at, line)
            length = 0
            while (line := reader.readline()) not in (b"\r\n", b""):
                if line.lower().startswith(b"content-length:"):
                    length = int(line.split(b":")[1])
            body = reader.read(length)
            assert f"missing-{at}]".encode() in body, (at, body)


@test
def a_restart_keeps_everything(server):
    for number in range(20):
        server.request("PUT", f"/kept/_doc/{number}", {"n": number})
    code = server.stop()
    assert code == 0, code
    server.start()
    status, _, body = server.request("GET", "/kept/_count")
    assert body["count"] == 20, body
    server.kill()
    server.start()
    status, _, body = server.request("GET", "/kept/_doc/7")
    assert body["_source"] == {"n": 7} and body["_seq_no"] == 7, body
    server.request("DELETE", "/kept")


@test
def who_is_told_that_an_index_exists_finds_it(_):
    """Many write into indices that none has made yet, as shippers of logs do when the day ends."""
    statuses = collections.Counter()
    with Server(cores=1, args=("-E", "xpack.security.http.ssl.enabled=false", "-E", "oauth.enabled=false")) as server:
        host, port = server.http.rsplit(":", 1)
        key = base64.b64encode(f"elastic:{PASSWORD}".encode()).decode()

        def ask(wire, method, path):
            wire.sendall(f"{method} {path} HTTP/1.1\r\nHost: a\r\nAuthorization: Basic {key}\r\n\r\n".encode())
            answer = b""
            while b"\r\n\r\n" not in answer:
                answer += wire.recv(65_536)
            head, body = answer.split(b"\r\n\r\n", 1)
            length = int(head.lower().split(b"content-length:")[1].split(b"\r\n")[0])
            while len(body) < length:
                body += wire.recv(65_536)
            return int(head[9:12])

        def write():
            with socket.create_connection((host, int(port)), 30) as wire:
                for number in range(150):
                    made = ask(wire, "PUT", f"/day-{number}")
                    statuses[made, ask(wire, "GET", f"/day-{number}")] += 1

        writers = [threading.Thread(target=write) for _ in range(8)]
        for one in writers:
            one.start()
        for one in writers:
            one.join()
    assert sum(statuses.values()) == 8 * 150, statuses
    assert {after for _, after in statuses} == {200}, statuses


def main():
    failed = 0
    with Server() as server:
        for story in TESTS:
            try:
                story(server)
                print(f"ok    {story.__name__}")
            except Exception:
                failed += 1
                print(f"FAIL  {story.__name__}")
                traceback.print_exc()
        if server.process.poll() is None:
            code = server.stop()
            if code != 0:
                failed += 1
                print(f"FAIL  a clean stop exits 0, not {code}")
    print(f"{len(TESTS) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
