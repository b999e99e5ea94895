"""Connections that say nothing: `python3 tools/conform/silent.py`.

A node with 64 MiB has places for some hundred connections. Somebody opens two thousand that never send a
byte, and renews them; meanwhile clients with a password connect, one after the other, and each must be
served. So must one that asked before and kept its connection. With TLS (no handshake begins) and without.
"""

import base64
import http.client
import resource
import socket
import ssl
import sys
import time

from server import PASSWORD, Server

SILENT, ROUNDS, EACH = 2_000, 3, 20


def connection(server, secure):
    place = server.url.split("//", 1)[1].rsplit(":", 1)
    if not secure:
        return http.client.HTTPConnection(place[0], int(place[1]), timeout=10)
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    return http.client.HTTPSConnection(place[0], int(place[1]), timeout=10, context=context)


def status(wire, headers):
    wire.request("GET", "/", headers=headers)
    answer = wire.getresponse()
    answer.read()
    return answer.status


def story(secure):
    with Server(secure=secure, cores=1, args=("--memory", "64mb")) as server:
        host, port = server.url.split("//", 1)[1].rsplit(":", 1)
        headers = {"Authorization": "Basic " + base64.b64encode(f"elastic:{PASSWORD}".encode()).decode()}
        kept = connection(server, secure)
        assert status(kept, headers) == 200
        served = refused = 0
        for _ in range(ROUNDS):
            silent = []
            for _ in range(SILENT):
                try:
                    silent.append(socket.create_connection((host, int(port)), timeout=5))
                except OSError:
                    pass
            for _ in range(EACH):
                wire = connection(server, secure)
                try:
                    served += status(wire, headers) == 200
                except OSError:
                    refused += 1
                wire.close()
                time.sleep(0.05)
            for one in silent:
                one.close()
        try:
            still = status(kept, headers)
        except (OSError, http.client.HTTPException) as error:
            still = repr(error)
        return served, refused, still


def main():
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    if most != resource.RLIM_INFINITY and most < SILENT + 100:
        print(f"SKIP: {most} files may be open, the story needs {SILENT + 100}")
        return 0
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    failed = 0
    for secure in (True, False):
        served, refused, still = story(secure)
        good = refused == 0 and served == ROUNDS * EACH and still == 200
        failed += not good
        how = "TLS" if secure else "plain"
        print(f"{'ok' if good else 'FAILED'} {how}: {served} served, {refused} refused, the one that was kept: {still}", flush=True)
    print(f"{2 - failed} passed, {failed} failed")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
