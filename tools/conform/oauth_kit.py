"""What the stories of the authorization server share: people, clients, and the steps that all of them take.

Whatever stories make that nobody else may know goes through `secret` or is noted by the server's own
requests; at the end everything written is searched for it.
"""

import base64
import json
import secrets
import threading
import time
import urllib.parse

from browser import Browser, query
from server import SECRETS, note_all

TESTS = []
CALLBACK = "https://app.example/cb"
PEOPLE = {"ann": "ann-knows-this-1", "bob": "bob-knows-this-2", "dev": "dev-knows-this-3"}


def test(story):
    TESTS.append(story)
    return story


def secret(value):
    """Notes a secret for the search at the end."""
    if value:
        SECRETS.add(value)
    return value


def expect(answer, status, word=None):
    """Checks a status, and an OAuth error's word."""
    found, headers, body = answer
    assert found == status, (found, status, body)
    if word:
        assert isinstance(body, dict) and body.get("error") == word, body
    return body


def form(server, path, fields, headers=None):
    """A form posted by a program."""
    note_all(dict(fields))
    headers = dict(headers or {}, **{"Content-Type": "application/x-www-form-urlencoded"})
    return server.request("POST", path, urllib.parse.urlencode(fields), headers, auth=False)


def basic(name, password):
    pair = f"{urllib.parse.quote_plus(name)}:{urllib.parse.quote_plus(password)}"
    return {"Authorization": "Basic " + base64.b64encode(pair.encode()).decode()}


def bearer(token):
    return {"Authorization": f"Bearer {token}"}


def prepare(server):
    """People, roles and documents."""
    roles = {
        "reader": {"indices": [{"names": ["orders-*"], "privileges": ["read", "write", "view_index_metadata"]}]},
        "clerk": {"indices": [{"names": ["bills-*"], "privileges": ["all"]}]},
    }
    for name, role in roles.items():
        expect(server.request("PUT", f"/_security/role/{name}", role), 200)
    for name, password in PEOPLE.items():
        secret(password)
        body = {"password": password, "roles": ["reader"] if name == "ann" else ["clerk"] if name == "bob" else []}
        expect(server.request("PUT", f"/_security/user/{name}", body), 200)
    for number, customer in enumerate(["acme", "acme", "other"]):
        body = {"number": number, "customer": customer, "note": "private"}
        expect(server.request("PUT", f"/orders-1/_doc/{number}?refresh=true", body), 201)
    expect(server.request("PUT", "/bills-1/_doc/1?refresh=true", {"total": 5}), 201)


def client(server, **fields):
    """A client made by an administrator; answers its record with id and secret."""
    body = {"client_name": f"App {secrets.token_hex(3)}", "redirect_uris": [CALLBACK], "scope": "index:orders-*:read"}
    body.update(fields)
    made = expect(server.request("POST", "/_oauth/client", body), 201)
    secret(made.get("client_secret"))
    return made


def ask(client_id, **parameters):
    fields = {"response_type": "code", "client_id": client_id, "state": "xyz"}
    fields.update(parameters)
    return "/authorize?" + urllib.parse.urlencode({name: value for name, value in fields.items() if value is not None})


def approve(server, visitor, user, client_id, scope="index:orders-*:read", **parameters):
    """Walks from /authorize to the redirect; answers its parameters."""
    page = visitor.get(ask(client_id, scope=scope, **parameters))
    assert page.status == 303, (page.status, page.text)
    location = page.headers["Location"]
    if location.startswith("/login"):
        page = visitor.login(user, PEOPLE[user], query(location)["request"])
        assert page.status == 303, (page.status, page.text)
        location = page.headers["Location"]
    assert location.startswith("/consent"), location
    page = visitor.get(location)
    assert page.status == 200, (page.status, page.text)
    page = visitor.submit(page, "/consent", scope=scope.split(" "), decision="allow")
    assert page.status == 302, (page.status, page.text)
    back = query(page.headers["Location"])
    secret(back.get("code"))
    return back


def exchange(server, made, code, **fields):
    body = {"grant_type": "authorization_code", "code": code, "client_id": made["client_id"], "secret": made.get("client_secret")}
    body.update(fields)
    answer = form(server, "/token", {name: value for name, value in body.items() if value})
    if answer[0] == 200:
        secret(answer[2]["access_token"]), secret(answer[2].get("refresh_token"))
    return answer


def refresh(server, made, token, **fields):
    body = {"grant_type": "refresh_token", "refresh_token": token, "client_id": made["client_id"], "client_secret": made.get("client_secret")}
    body.update(fields)
    answer = form(server, "/token", {name: value for name, value in body.items() if value})
    if answer[0] == 200:
        secret(answer[2]["access_token"]), secret(answer[2].get("refresh_token"))
    return answer


def tokens(server, made, user="ann", **parameters):
    back = approve(server, Browser(server), user, made["client_id"], **parameters)
    return expect(exchange(server, made, back["code"]), 200)


def reads(server, token, index="orders-1"):
    return server.request("GET", f"/{index}/_search", headers=bearer(token), auth=False)


def at_once(count, job):
    """Runs a job on many threads at the same moment."""
    answers, gate = [], threading.Barrier(count)

    def run():
        gate.wait()
        answers.append(job())

    threads = [threading.Thread(target=run) for _ in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return answers


def slowed(guess):
    """Guesses until one must wait for four seconds and more; answers how to judge a page that was asked for next. The
    first delay is a second, which a slow machine may need for one guess; each guess doubles it."""
    end = time.monotonic() + 60
    while True:
        assert time.monotonic() < end, "guesses do not become slow"
        asked, page = time.monotonic(), guess()
        if page.status == 400:
            continue
        assert page.status == 429, page.status
        wait = int(page.headers["Retry-After"])
        assert wait >= 1, wait
        if wait >= 4:
            break
        time.sleep(wait)

    def waits(page):
        if page.status == 429:
            return int(page.headers["Retry-After"]) >= 1
        return time.monotonic() - asked > wait - 1

    return waits


def audited(server):
    """The lines of the audit log, those of all that was asked before: they are written beside the answers."""
    mark = f"mark-{secrets.token_hex(6)}"
    expect(server.request("PUT", f"/_security/role/{mark}", {}), 200)
    for _ in range(100):
        text = (server.data / "logs" / "audit.json").read_text()
        if mark in text and text.endswith("\n"):
            return [json.loads(line) for line in text.splitlines() if mark not in line]
        time.sleep(0.05)
    raise AssertionError("a line of the audit log is missing after five seconds")


def granted(server, made, details, user="ann"):
    """A token for entries of authorization_details, all ticked; answers its headers."""
    visitor = Browser(server)
    page = visitor.get(ask(made["client_id"], authorization_details=json.dumps(details)))
    request = query(page.headers["Location"])["request"]
    visitor.login(user, PEOPLE[user], request)
    page = visitor.get(f"/consent?request={request}")
    ticked = [str(at) for at in range(len(details))]
    done = visitor.submit(page, "/consent", detail=ticked, decision="allow")
    got = expect(exchange(server, made, secret(query(done.headers["Location"])["code"])), 200)
    return bearer(got["access_token"])
