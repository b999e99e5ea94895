"""Connections that keep the server waiting: `python3 tools/conform/silent.py`.

A node with 64 MiB has places for some hundred connections, and one with 1,000 descriptors for some more. Somebody
opens two thousand that send nothing, or half a head, or the beginning of a body without a password, or that were
served once and stay, or ask what anybody may, or do not take their answers, and renews them; meanwhile clients with a password connect, one after the other, and each
must be served.
So must one that asked before and kept its connection.
"""

import base64
import http.client
import resource
import socket
import ssl
import sys
import time

from server import PASSWORD, Server

SILENT, ROUNDS, EACH = 2_000, 3, 15
HEADERS = {"Authorization": "Basic " + base64.b64encode(f"elastic:{PASSWORD}".encode()).decode()}
# What whoever keeps the server waiting sends, and nothing after it.
NOTHING = b""
HALF_A_HEAD = b"GET / HTTP/1.1\r\nHost: h\r\nX: "
HALF_A_BODY = b"POST /_bulk HTTP/1.1\r\nHost: h\r\nContent-Type: application/x-ndjson\r\nContent-Length: 200\r\n\r\nab"
MUCH_OF_A_BODY = HALF_A_BODY.replace(b"200", b"90000")
ANYBODYS = b"OPTIONS / HTTP/1.1\r\nHost: h\r\n\r\n"
# Each answer, a refusal, is as long; nobody reads them.
UNREAD = (b"GET /_search HTTP/1.1\r\nHost: h\r\nX-Opaque-Id: " + b"A" * 15_000 + b"\r\n\r\n") * 100
BLANK = b"GET /_cluster/health HTTP/1.1\r\nHost: h\r\n\r\n"


def connection(server):
    host, port = server.url.split("//", 1)[1].rsplit(":", 1)
    if server.url.startswith("http:"):
        return http.client.HTTPConnection(host, int(port), timeout=10)
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    return http.client.HTTPSConnection(host, int(port), timeout=10, context=context)


def status(wire):
    wire.request("GET", "/", headers=HEADERS)
    answer = wire.getresponse()
    answer.read()
    return answer.status


def crowd(server, says):
    """Those who keep the server waiting."""
    host, port = server.url.split("//", 1)[1].rsplit(":", 1)
    for _ in range(SILENT):
        try:
            one = socket.socket()
            one.settimeout(5)
            if says is UNREAD:
                one.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
            one.connect((host, int(port)))
            if says is UNREAD:
                one.setblocking(False)
                one.send(says)
            elif says:
                one.sendall(says)
            yield one
        except OSError:
            pass


def story(says, tls=True, **how):
    args = ["--memory", "64mb" if "files" not in how else "512mb"]
    if not tls:
        args += ["-E", "xpack.security.http.ssl.enabled=false", "-E", "oauth.enabled=false"]
    with Server(cores=1, args=args, **how) as server:
        kept = connection(server)
        assert status(kept) == 200
        served = refused = 0
        for _ in range(ROUNDS):
            waiting = list(crowd(server, says))
            for _ in range(EACH):
                wire = connection(server)
                try:
                    served += status(wire) == 200
                except (OSError, http.client.HTTPException):
                    refused += 1
                wire.close()
                time.sleep(0.05)
            for one in waiting:
                one.close()
        try:
            still = status(kept)
        except (OSError, http.client.HTTPException) as error:
            still = repr(error)
        return served, refused, still


def main():
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    if most != resource.RLIM_INFINITY and most < SILENT + 100:
        print(f"SKIP: {most} files may be open, the story needs {SILENT + 100}")
        return 0
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    stories = [
        ("nothing, TLS", NOTHING, {"secure": True}),
        ("nothing, plain", NOTHING, {"secure": False}),
        ("half a head, plain", HALF_A_HEAD, {"secure": False}),
        ("half a body, plain", HALF_A_BODY, {"secure": False}),
        ("much of a body, plain", MUCH_OF_A_BODY, {"secure": False}),
        ("a request, and then nothing, plain", BLANK, {"secure": False}),
        ("nothing, TLS, few descriptors", NOTHING, {"secure": True, "files": 1_000}),
        ("half a head, plain, few descriptors", HALF_A_HEAD, {"secure": False, "files": 1_000}),
        ("what anybody may ask, plain", ANYBODYS, {"tls": False}),
        ("answers that nobody takes, plain", UNREAD, {"tls": False}),
        ("answers that nobody takes, plain, few descriptors", UNREAD, {"tls": False, "files": 300}),
    ]
    failed = 0
    for name, says, how in stories:
        served, refused, still = story(says, **how)
        # Who was served once is nobody's better, where all were.
        good = refused == 0 and served == ROUNDS * EACH and (still == 200 or says is BLANK)
        failed += not good
        print(f"{'ok' if good else 'FAILED'} {name}: {served} served, {refused} refused, the one that was kept: {still}", flush=True)
    print(f"{len(stories) - failed} passed, {failed} failed")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
