"""Connections that keep the server waiting: `python3 tools/conform/silent.py [--last | --brief]`.

A node with 64 MiB has places for some hundred connections, and one with 1,000 descriptors for some more. Somebody
opens two thousand that send nothing, or half a head, or the beginning of a body without a password, or that were
served once and stay, or ask what anybody may, or do not take their answers, and renews them; meanwhile clients with a password connect, one after the other, and each
must be served.
So must one that asked before and kept its connection.

Last, fifteen hundred ask over TLS, again and again, and read nothing, of a node with 256 MiB: there it is memory that
lacks. Newcomers must be served, bulks of one that was served before as well, the process must stay within its setting
but for its program, and its log must say what happens. Then a hundred connections of a user who may read ask for two
megabytes, again and again, and read nothing: who has shown who it is is not sent away for it, so others may be refused,
but the process must stay within its setting all the same, and serve as before once they are gone. `--last` runs these
two stories alone; `--brief` asks each story once instead of three times, and waits less.
"""

import base64
import http.client
import json
import os
import resource
import socket
import ssl
import sys
import threading
import time

from server import PASSWORD, Server

BRIEF = "--brief" in sys.argv
SILENT, ROUNDS, EACH = 2_000, 1 if BRIEF else 3, 15
DEAF, MEMORY_MIB, FILLING, LONG = 1_500, 256, 120, 8 if BRIEF else 20
READERS, READING, READER = 100, 6 if BRIEF else 12, "no-reader-at-all"
HEADERS = {"Authorization": "Basic " + base64.b64encode(f"elastic:{PASSWORD}".encode()).decode()}
# What whoever keeps the server waiting sends, and nothing after it.
NOTHING = b""
HALF_A_HEAD = b"GET / HTTP/1.1\r\nHost: h\r\nX: "
HALF_A_BODY = b"POST /_bulk HTTP/1.1\r\nHost: h\r\nContent-Type: application/x-ndjson\r\nContent-Length: 200\r\n\r\nab"
MUCH_OF_A_BODY = HALF_A_BODY.replace(b"200", b"90000")
ANYBODYS = b"OPTIONS / HTTP/1.1\r\nHost: h\r\n\r\n"
# Each answer, a refusal, is as long; nobody reads them.
UNREAD = (b"GET /_search HTTP/1.1\r\nHost: h\r\nX-Opaque-Id: " + b"A" * 15_000 + b"\r\n\r\n") * 100
# Answers larger than all buffers between here and there.
UNREAD_FOR_LONG = UNREAD.replace(b"/_search", b"/nope") * 3
LARGE = (
    b"GET /kept/_search?size=1000 HTTP/1.1\r\nHost: h\r\nAuthorization: Basic "
    + base64.b64encode(f"reader:{READER}".encode())
    + b"\r\n\r\n"
)
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


def deaf(server, held, stop, says=UNREAD_FOR_LONG, again=BLANK, most=DEAF):
    """Asks again and again over TLS and reads nothing; comes back where it was sent away."""
    host, port = server.url.split("//", 1)[1].rsplit(":", 1)
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    while not stop.is_set():
        if len(held) >= most:
            time.sleep(0.001)
            one, rest = held.pop(0)
            rest = asked(one, rest or again)
            if rest is None:
                one.close()
            else:
                held.append((one, rest))
            continue
        try:
            one = socket.socket()
            one.settimeout(5)
            one.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
            one.connect((host, int(port)))
            one = context.wrap_socket(one)
            one.setblocking(False)
            held.append((one, asked(one, says)))
        except OSError:
            time.sleep(0.001)


def asked(one, rest):
    """Sends as much as goes; what is left, None where the other side has ended it."""
    try:
        while rest:
            rest = rest[one.send(rest[:16_384]):]
    except (ssl.SSLWantWriteError, ssl.SSLWantReadError):
        return rest
    except OSError:
        return None
    return rest


def most_mib(server):
    """The most that the process ever was, but for what a file backs."""
    return (kib(server, "VmHWM") - kib(server, "RssFile")) >> 10


def kib(server, name):
    with open(f"/proc/{server.process.pid}/status") as lines:
        return next(int(line.split()[1]) for line in lines if line.startswith(name + ":"))


def processor(server):
    """Seconds that the process has worked."""
    with open(f"/proc/{server.process.pid}/stat") as line:
        words = line.read().rsplit(")", 1)[1].split()
    return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")


def bulk(wire, characters=500):
    """Writes some documents; what is wrong with that, or None."""
    line = json.dumps({"text": "x" * characters})
    body = f'{{"index":{{}}}}\n{line}\n' * 200
    wire.request("POST", "/kept/_bulk", body, {**HEADERS, "Content-Type": "application/x-ndjson"})
    answer = wire.getresponse()
    text = answer.read()
    return None if answer.status == 200 and not json.loads(text)["errors"] else f"{answer.status} {text[:400]}"


def unread_for_long(cores=1):
    with Server(cores=cores, args=["--memory", f"{MEMORY_MIB}mb"]) as server:
        kept = connection(server)
        wrong = [why for why in [bulk(kept)] if why]
        held, stop = [], threading.Event()
        crowd = threading.Thread(target=deaf, args=(server, held, stop))
        crowd.start()
        served = refused = bulks = 0
        # Whoever comes while all of them are answered waits for a core, not for memory.
        end, busy = time.monotonic() + FILLING, True
        while (len(held) < DEAF or busy) and time.monotonic() < end:
            before = processor(server)
            time.sleep(1)
            busy = processor(server) - before > 0.2
        end = time.monotonic() + LONG
        while time.monotonic() < end:
            wire = connection(server)
            try:
                served += status(wire) == 200
            except (OSError, http.client.HTTPException):
                refused += 1
            wire.close()
            try:
                why, bulks = bulk(kept), bulks + 1
            except (OSError, http.client.HTTPException) as error:
                why, kept = repr(error), connection(server)
            wrong += [why] if why else []
            time.sleep(0.05)
        stop.set()
        crowd.join()
        most = most_mib(server)
        is_told = "is all but used up while" in server.tail(200)
        good = not wrong and refused == 0 and served > 0 and most <= MEMORY_MIB and is_told
        print(
            f"{'ok' if good else 'FAILED'} answers that nobody takes, TLS, {MEMORY_MIB} MiB: {len(held)} came, {served} served, "
            f"{refused} refused, {bulks} bulks, {len(wrong)} of them in vain, {most} MiB at most, {'told' if is_told else 'not told'}",
            flush=True,
        )
        print("\n".join(sorted(set(wrong))[:5]), end="\n" if wrong else "")
        return good


def unread_by_reader(cores=1):
    with Server(cores=cores, args=["--memory", f"{MEMORY_MIB}mb"]) as server:
        kept = connection(server)
        wrong = [why for why in (bulk(kept, 2_000) for _ in range(50)) if why]
        role = {"indices": [{"names": ["kept"], "privileges": ["read"]}]}
        for path, body in [("role/reads", role), ("user/reader", {"password": READER, "roles": ["reads"]})]:
            kept.request("PUT", f"/_security/{path}", json.dumps(body), {**HEADERS, "Content-Type": "application/json"})
            answer = kept.getresponse()
            wrong += [f"{answer.status}"] if answer.status != 200 else []
            answer.read()
        held, stop, answers = [], threading.Event(), {}
        crowd = threading.Thread(target=deaf, args=(server, held, stop, LARGE * 60, LARGE, READERS))
        crowd.start()
        end = time.monotonic() + READING
        while time.monotonic() < end:
            try:
                why = bulk(kept)
            except (OSError, http.client.HTTPException) as error:
                why, kept = repr(error), connection(server)
            said = why[:3] if why else "200"
            answers[said] = answers.get(said, 0) + 1
            time.sleep(0.05)
        stop.set()
        crowd.join()
        for one, _ in held:
            one.close()
        time.sleep(2)
        after = bulk(connection(server))
        most = most_mib(server)
        good = not wrong and set(answers) <= {"200", "429"} and after is None and most <= MEMORY_MIB
        print(
            f"{'ok' if good else 'FAILED'} answers that a user does not take, TLS, {MEMORY_MIB} MiB: {len(held)} came, "
            f"bulks {answers}, then {after or 'one'}, {most} MiB at most",
            flush=True,
        )
        print("\n".join(sorted(set(wrong))[:5]), end="\n" if wrong else "")
        return good


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
    if sys.argv[1:] == ["--last"]:
        stories = []
    failed = 0
    for name, says, how in stories:
        served, refused, still = story(says, **how)
        # Who was served once is nobody's better, where all were.
        good = refused == 0 and served == ROUNDS * EACH and (still == 200 or says is BLANK)
        failed += not good
        print(f"{'ok' if good else 'FAILED'} {name}: {served} served, {refused} refused, the one that was kept: {still}", flush=True)
    last = [unread_for_long, unread_by_reader]
    failed += sum(not one() for one in last)
    print(f"{len(stories) + len(last) - failed} passed, {failed} failed")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
