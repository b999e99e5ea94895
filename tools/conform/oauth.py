"""The authorization server from outside: `python3 tools/conform/oauth.py [NAME…]`.

Each test is a short story against a release binary over HTTPS: the flow as owners, developers and
reviewers walk it, then the attacks that it must withstand. At the end everything that the server
printed or wrote to a log is searched for every secret that the stories made.
"""

import base64
import hashlib
import json
import secrets
import sys
import threading
import time
import traceback
import urllib.parse

from browser import Browser, code_element, hidden, query
from server import PASSWORD, Server

TESTS = []
SECRETS = {PASSWORD}
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


@test
def the_flow_as_it_was_first_described(server):
    developer, reviewer, owner = Browser(server), Browser(server), Browser(server)
    assert developer.login("dev", PEOPLE["dev"]).headers["Location"] == "/account/apps"
    page = developer.get("/apps/new")
    fields = hidden(page, "/apps/new") + [
        ("application_type", "web"), ("client_name", "Order charts"), ("redirect_uris", CALLBACK),
        ("scope", "index:orders-*:read"), ("scope_reason", "charts"), ("confidential", "confidential"),
    ]
    png = base64.b64decode("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==")
    wrong = developer.upload("/apps/new", fields, [("logo", "a.png", b"<svg/>")])
    assert wrong.status == 400 and 'id="logo-trouble"' in wrong.text, wrong.text
    page = developer.upload("/apps/new", fields, [("logo", "a.png", png)])
    assert page.status == 303, (page.status, page.text)
    app = page.headers["Location"]
    page = developer.get(app)
    assert code_element(page, "client_id") is None and "waits for a reviewer" in page.text
    assert Browser(server).get(app).headers["Location"] == "/login"
    assert reviewer.login("elastic", PASSWORD).status == 303
    page = reviewer.get("/admin/apps")
    assert "Order charts" in page.text and "app.example" in page.text and "client_secret" not in page.text
    assert developer.get("/admin/apps").status == 403
    reference = app.rsplit("/", 1)[1]
    assert ("app", reference) in hidden(page, "/admin/apps")
    page = reviewer.submit(page, "/admin/apps", decision="approve")
    assert page.status == 303, page.text
    page = developer.get(app)
    client_id = code_element(page, "client_id")
    assert len(client_id) == 32 and code_element(page, "client_secret") is None
    page = developer.submit(page, app, action="show_secret")
    key = secret(code_element(page, "client_secret"))
    assert key.startswith("core_cs_"), page.text
    assert code_element(developer.get(app), "client_secret") is None, "shown once"
    logo = developer.get(f"/logo/{client_id}")
    assert logo.headers["content-type"] == "image/png" and "sandbox" in logo.headers["Content-Security-Policy"]
    made = {"client_id": client_id, "client_secret": key}
    back = approve(server, owner, "ann", client_id)
    assert back["state"] == "xyz" and back["iss"] == server.url, back
    status, headers, body = exchange(server, made, back["code"])
    assert status == 200, body
    assert headers["content-type"] == "application/json;charset=UTF-8", headers
    assert headers["Cache-Control"] == "no-store" and headers["Pragma"] == "no-cache"
    assert set(body) == {"access_token", "token_type", "expires_in", "refresh_token", "scope"}, body
    assert body["token_type"] == "Bearer" and body["expires_in"] == 1200 and body["scope"] == "index:orders-*:read"
    hits = expect(reads(server, body["access_token"]), 200)
    assert hits["hits"]["total"]["value"] == 3
    status, headers, denied = server.request(
        "PUT", "/orders-1/_doc/9", {"a": 1}, bearer(body["access_token"]), auth=False)
    assert status == 403 and headers["WWW-Authenticate"] == 'Bearer error="insufficient_scope", scope="index:orders-1:write"', headers
    assert "OAuth client" in denied["error"]["reason"], denied
    again = expect(refresh(server, made, body["refresh_token"]), 200)
    assert again["access_token"] != body["access_token"] and again["refresh_token"] != body["refresh_token"]
    page = owner.get("/account/apps")
    assert "Order charts" in page.text
    page = owner.submit(page, "/account/apps", action="revoke")
    assert page.status == 303 and page.headers["Location"] == "/account/apps"
    status, headers, _ = reads(server, again["access_token"])
    assert status == 401, status


@test
def nobody_is_sent_to_a_stranger(server):
    made = client(server)
    visitor = Browser(server)
    tricks = [
        "https://app.example.evil/cb", "https://evil@app.example/cb", "https://app.example/cb/../cb", "https://app.example/%63b",
        "https://app.example/cb%2f", "https://APP.example/cb", "https://app.example:443/cb", "https://app.example/cb#x",
        "https://app.example/cb?x=1", "https://app.example\\@evil/cb", "//app.example/cb", "http://app.example/cb", "javascript:alert(1)",
    ]
    for uri in tricks:
        page = visitor.get(ask(made["client_id"], redirect_uri=uri))
        assert page.status == 400 and "Location" not in page.headers, (uri, page.status)
        assert page.headers["content-type"].startswith("text/html") and page.headers["X-Frame-Options"] == "DENY"
    for path in [
        ask("unknown"), ask(None), ask(made["client_id"]) + "&client_id=x",
        ask(made["client_id"], redirect_uri=CALLBACK) + "&redirect_uri=" + urllib.parse.quote(CALLBACK, safe=""),
        ask(made["client_id"], request_uri="urn:ietf:params:oauth:request_uri:nope"), "/authorize?client_id=%ff",
    ]:
        page = visitor.get(path)
        assert page.status == 400 and "Location" not in page.headers, (path, page.status)
    two = client(server, redirect_uris=[CALLBACK, CALLBACK + "2"])
    assert visitor.get(ask(two["client_id"])).status == 400
    pending = client(server, status="pending")
    assert visitor.get(ask(pending["client_id"])).text == visitor.get(ask("unknown")).text


@test
def what_the_client_did_wrong_is_told_to_the_client(server):
    made = client(server)
    visitor = Browser(server)
    cases = [
        ({"response_type": "token"}, "unsupported_response_type"), ({"response_type": None}, "invalid_request"),
        ({"scope": "index:orders-*:write"}, "invalid_scope"), ({"scope": "index:*:read"}, "invalid_scope"),
        ({"scope": "everything"}, "invalid_scope"), ({"scope": "self  self"}, "invalid_scope"),
        ({"resource": "https://other.example"}, "invalid_target"), ({"response_mode": "fragment"}, "invalid_request"),
        ({"code_challenge": "x" * 43}, "invalid_request"), ({"code_challenge": "x" * 43, "code_challenge_method": "plain"}, "invalid_request"),
        ({"code_challenge": "short", "code_challenge_method": "S256"}, "invalid_request"), ({"prompt": "none"}, "login_required"),
        ({"request": "x"}, "request_not_supported"), ({"request_uri": "https://a.example/r"}, "request_uri_not_supported"),
        ({"authorization_details": "[]"}, "invalid_authorization_details"), ({"prompt": "none login"}, "invalid_request"),
    ]
    for parameters, word in cases:
        page = visitor.get(ask(made["client_id"], **parameters))
        assert page.status == 302, (parameters, page.status, page.text)
        back = query(page.headers["Location"])
        assert page.headers["Location"].startswith(CALLBACK + "?")
        assert (back["error"], back["state"], back["iss"]) == (word, "xyz", server.url), (parameters, back)
    page = visitor.get(ask(made["client_id"]) + "&state=again")
    assert query(page.headers["Location"]).get("state") is None and page.status == 302
    page = visitor.get(ask(made["client_id"], response_type="token", state="a\r\nSet-Cookie: x=y"))
    assert page.status in (302, 400) and "x=y" not in (page.headers.get("Set-Cookie") or "")


@test
def a_code_is_used_once_by_its_own_client(server):
    made, other = client(server), client(server)
    code = approve(server, Browser(server), "ann", made["client_id"])["code"]
    expect(exchange(server, other, code), 400, "invalid_grant")
    expect(exchange(server, made, code, redirect_uri=CALLBACK + "x"), 400, "invalid_grant")
    expect(exchange(server, made, code), 400, "invalid_grant")
    code = approve(server, Browser(server), "ann", made["client_id"])["code"]
    expect(exchange(server, other, code), 400, "invalid_grant")
    got = expect(exchange(server, made, code), 200)
    expect(exchange(server, made, code), 400, "invalid_grant")
    expect(reads(server, got["access_token"]), 401)
    expect(refresh(server, made, got["refresh_token"]), 400, "invalid_grant")
    for wrong in [got["refresh_token"], got["access_token"], "x", "core_ac_" + "A" * 49]:
        expect(exchange(server, made, wrong), 400, "invalid_grant")


@test
def pkce_cannot_be_stripped(server):
    verifier = secret(secrets.token_urlsafe(40))
    challenge = base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).rstrip(b"=").decode()
    made = client(server)
    public = client(server, token_endpoint_auth_method="none", application_type="native", redirect_uris=["http://127.0.0.1/cb"])
    assert "client_secret" not in public

    def code(of, **more):
        return approve(server, Browser(server), "ann", of["client_id"], **more)["code"]

    with_challenge = {"code_challenge": challenge, "code_challenge_method": "S256"}
    expect(exchange(server, made, code(made, **with_challenge)), 400, "invalid_grant")
    burnt = code(made, **with_challenge)
    expect(exchange(server, made, burnt, code_verifier="y" * 43), 400, "invalid_grant")
    expect(exchange(server, made, burnt, code_verifier=verifier), 400, "invalid_grant")
    expect(exchange(server, made, code(made), code_verifier=verifier), 400, "invalid_grant")
    expect(exchange(server, made, code(made, **with_challenge), code_verifier="short"), 400, "invalid_request")
    expect(exchange(server, made, code(made, **with_challenge), code_verifier=verifier), 200)
    page = Browser(server).get(ask(public["client_id"], redirect_uri="http://127.0.0.1:51004/cb"))
    assert query(page.headers["Location"])["error"] == "invalid_request", "public clients must use PKCE"
    uri = "http://127.0.0.1:51004/cb"
    got = code(public, redirect_uri=uri, **with_challenge)
    expect(exchange(server, public, got, redirect_uri=uri, code_verifier=verifier), 200)


@test
def refresh_tokens_rotate_and_theft_is_noticed(server):
    made, other = client(server), client(server)
    got = tokens(server, made)
    expect(refresh(server, other, got["refresh_token"]), 400, "invalid_grant")
    expect(refresh(server, made, got["refresh_token"], scope="index:orders-*:write"), 400, "invalid_scope")
    first = expect(refresh(server, made, got["refresh_token"]), 200)
    retried = expect(refresh(server, made, got["refresh_token"]), 200)
    assert retried["refresh_token"] == first["refresh_token"], "a retry gets the same successor"
    narrow = expect(refresh(server, made, first["refresh_token"], scope="index:orders-1:read"), 200)
    assert narrow["scope"] == "index:orders-1:read"
    expect(reads(server, narrow["access_token"]), 200)
    expect(refresh(server, made, got["refresh_token"]), 400, "invalid_grant")
    expect(reads(server, narrow["access_token"]), 401)
    expect(refresh(server, made, narrow["refresh_token"]), 400, "invalid_grant")
    owner = Browser(server)
    owner.login("ann", PEOPLE["ann"])
    page = owner.get("/account/apps")
    assert "used twice" in page.text and made["client_name"] in page.text, page.text
    assert owner.submit(page, "/account/apps", action="understood").status == 303
    assert "used twice" not in owner.get("/account/apps").text
    lines = [json.loads(line) for line in (server.data / "logs" / "audit.json").read_text().splitlines()]
    reuse = [line for line in lines if line["event"] == "refresh_reuse" and line.get("client") == made["client_id"]]
    assert reuse and reuse[0]["user"] == "ann" and reuse[0]["grant"] and len(reuse[0]["token"]) == 16, reuse
    assert all(line.get("request_id") for line in lines[-5:]), lines[-5:]


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


@test
def races_have_one_winner(server):
    made = client(server)
    code = approve(server, Browser(server), "ann", made["client_id"])["code"]
    answers = at_once(8, lambda: exchange(server, made, code))
    assert sum(answer[0] == 200 for answer in answers) <= 1, [answer[0] for answer in answers]
    got = tokens(server, made)
    answers = at_once(8, lambda: refresh(server, made, got["refresh_token"]))
    successors = {answer[2]["refresh_token"] for answer in answers if answer[0] == 200}
    assert len(successors) == 1, successors
    device = client(server, token_endpoint_auth_method="none", application_type="native", redirect_uris=["http://127.0.0.1/cb"])
    begun = expect(form(server, "/device_authorization", {"client_id": device["client_id"], "scope": "index:orders-*:read"}), 200)
    visitor = Browser(server)
    visitor.login("ann", PEOPLE["ann"])
    page = visitor.submit(visitor.get("/device"), "/device", user_code=begun["user_code"])
    visitor.submit(page, "/device", scope="index:orders-*:read", decision="allow")
    poll = {"grant_type": "urn:ietf:params:oauth:grant-type:device_code", "device_code": secret(begun["device_code"]), "client_id": device["client_id"]}
    answers = at_once(8, lambda: form(server, "/token", poll))
    won = [answer[2] for answer in answers if answer[0] == 200]
    assert len(won) == 1, [answer[0] for answer in answers]
    secret(won[0]["access_token"]), secret(won[0].get("refresh_token"))


@test
def consent_gives_what_was_asked_and_ticked(server):
    made = client(server, scope="index:orders-*:read index:orders-*:write self")
    visitor = Browser(server)
    page = visitor.get(ask(made["client_id"], scope="index:orders-*:read index:orders-*:write"))
    request = query(page.headers["Location"])["request"]
    visitor.login("ann", PEOPLE["ann"], request)
    page = visitor.get(f"/consent?request={request}")
    assert "app.example" in page.text and "ann" in page.text and "https://app.example" in page.headers["Content-Security-Policy"]
    done = visitor.submit(page, "/consent", scope=["index:orders-*:read", "index:*:all"], decision="allow")
    got = expect(exchange(server, made, secret(query(done.headers["Location"])["code"])), 200)
    assert got["scope"] == "index:orders-*:read", got
    assert visitor.submit(page, "/consent", scope="index:orders-*:read", decision="allow").status == 403, "decided once"
    page = visitor.get(ask(made["client_id"]))
    request = query(page.headers["Location"])["request"]
    page = visitor.get(f"/consent?request={request}")
    denied = visitor.submit(page, "/consent", decision="deny")
    assert query(denied.headers["Location"])["error"] == "access_denied"
    assert visitor.submit(page, "/consent", scope="self", decision="allow").status == 403, "back and allow must fail"
    assert visitor.get(f"/consent?request={request}").status == 400
    nothing = visitor.get(ask(made["client_id"], scope="index:orders-*:read"))
    page = visitor.get(nothing.headers["Location"])
    empty = visitor.submit(page, "/consent", decision="allow")
    assert query(empty.headers["Location"])["error"] == "access_denied", "nothing ticked is a refusal"


@test
def a_remembered_consent_is_not_asked_again(server):
    made = client(server, scope="index:orders-*:read index:orders-*:write")
    visitor = Browser(server)
    page = visitor.get(ask(made["client_id"], scope="index:orders-*:read"))
    request = query(page.headers["Location"])["request"]
    visitor.login("ann", PEOPLE["ann"], request)
    page = visitor.get(f"/consent?request={request}")
    visitor.submit(page, "/consent", scope="index:orders-*:read", remember="true", decision="allow")
    again = visitor.get(ask(made["client_id"], scope="index:orders-1:read", prompt="none"))
    assert again.status == 302 and "code" in query(again.headers["Location"]), again.headers
    for more in [{"scope": "index:orders-*:write"}, {"scope": "index:orders-*:read", "prompt": "consent"}]:
        page = visitor.get(ask(made["client_id"], **more))
        assert page.headers["Location"].startswith("/consent"), (more, page.headers["Location"])


@test
def forms_come_from_our_own_pages(server):
    made = client(server)
    visitor = Browser(server)
    page = visitor.get(ask(made["client_id"]))
    request = query(page.headers["Location"])["request"]
    login = visitor.get(f"/login?request={request}")
    fields = hidden(login, "/login") + [("username", "ann"), ("password", PEOPLE["ann"])]
    for headers in [{}, {"Origin": "https://evil.example"}, {"Origin": "null"}, {"Sec-Fetch-Site": "cross-site"}, {"Origin": "null", "Sec-Fetch-Site": "cross-site"}]:
        assert visitor.post("/login", fields, headers).status == 403, headers
    assert visitor.post("/login", [pair for pair in fields if pair[0] != "csrf_token"]).status == 403
    assert Browser(server).post("/login", fields).status == 403, "another browser's token"
    old = dict(visitor.cookies)
    assert visitor.post("/login", fields, {"Origin": "null", "Sec-Fetch-Site": "same-origin"}).status == 303
    session = secret(visitor.cookies["__Host-sid"])
    assert session != old.get("__Host-sid")
    page = visitor.get(f"/consent?request={request}")
    good = hidden(page, "/consent") + [("scope", "self"), ("decision", "allow")]
    assert visitor.post("/consent", good, {"Origin": "https://evil.example"}).status == 403
    assert visitor.post("/consent", [("csrf_token", "x")] + good[1:]).status == 403
    stranger = Browser(server)
    stranger.login("bob", PEOPLE["bob"])
    assert stranger.post("/consent", good).status == 403, "a request belongs to its browser"
    for path in ["/authorize", "/consent", "/login", "/token"]:
        answer = visitor.request("HEAD", path)
        assert answer.status == 405 and "Allow" in answer.headers and "Set-Cookie" not in answer.headers, path
    answer = server.request("GET", "/orders-1/_search", headers={"Cookie": f"__Host-sid={session}"}, auth=False)
    expect(answer, 401)
    page = visitor.get("/logout")
    assert page.status == 200 and visitor.get("/account/apps").status == 200, "GET /logout does nothing"
    assert visitor.submit(page, "/logout").headers["Location"] == "/login"
    visitor.cookies["__Host-sid"] = session
    assert visitor.get("/account/apps").headers["Location"] == "/login", "a session that ended stays ended"


@test
def clients_say_who_they_are_in_one_way(server):
    made = client(server)
    public = client(server, token_endpoint_auth_method="none", application_type="native", redirect_uris=["http://127.0.0.1/cb"])
    good = {"grant_type": "refresh_token", "refresh_token": "x"}
    name, key = made["client_id"], made["client_secret"]
    cases = [
        ({"client_id": name, "secret": key}, {}, 400, "invalid_grant"),
        ({"client_id": name, "client_secret": key}, {}, 400, "invalid_grant"),
        ({}, basic(name, key), 400, "invalid_grant"),
        ({"client_id": name}, basic(name, key), 400, "invalid_grant"),
        ({"client_id": name, "secret": key, "client_secret": key}, {}, 400, "invalid_request"),
        ({"client_id": name, "secret": key}, basic(name, key), 400, "invalid_request"),
        ({"client_id": "other"}, basic(name, key), 400, "invalid_request"),
        ({"client_id": name, "secret": key + "x"}, {}, 401, "invalid_client"),
        ({"client_id": name}, {}, 401, "invalid_client"),
        ({}, {}, 401, "invalid_client"),
        ({"client_id": "unknown", "secret": "x"}, {}, 401, "invalid_client"),
        ({"client_id": public["client_id"], "secret": "x"}, {}, 401, "invalid_client"),
        ({"client_id": public["client_id"]}, {}, 400, "invalid_grant"),
    ]
    for fields, headers, status, word in cases:
        answer = form(server, "/token", dict(good, **fields), headers)
        expect(answer, status, word)
        assert answer[1]["Cache-Control"] == "no-store", fields
        if status == 401:
            assert answer[1]["WWW-Authenticate"] == 'Basic realm="oauth"', answer[1]
    proof = {"client_id": name, "secret": key}
    expect(form(server, "/token", proof), 400, "invalid_request")
    expect(form(server, "/token", dict(proof, grant_type="password")), 400, "unsupported_grant_type")
    expect(form(server, "/token", dict(proof, grant_type="client_credentials")), 400, "unauthorized_client")
    expect(form(server, "/token?grant_type=refresh_token", proof), 400, "invalid_request")
    expect(server.request("POST", "/token", dict(proof, grant_type="refresh_token"), auth=False), 400, "invalid_request")
    twice = urllib.parse.urlencode(list(good.items()) + [("grant_type", "refresh_token")] + list(proof.items()))
    kind = {"Content-Type": "application/x-www-form-urlencoded"}
    expect(server.request("POST", "/token", twice, kind, auth=False), 400, "invalid_request")
    expect(server.request("POST", "/token", "x=" + "y" * 70000, kind, auth=False), 413, "invalid_request")
    status, headers, _ = server.request("GET", "/token", auth=False)
    assert status == 405 and headers["Allow"] == "POST"
    fresh = client(server)
    wrong = dict(good, client_id=fresh["client_id"], secret="wrong")
    for _ in range(10):
        expect(form(server, "/token", wrong), 401, "invalid_client")
    status, headers, _ = form(server, "/token", wrong)
    assert status == 429 and int(headers["Retry-After"]) <= 60, (status, headers)
    assert form(server, "/token", dict(wrong, secret=fresh["client_secret"]))[0] == 429, "whatever the secret"


@test
def revocation_and_introspection_tell_strangers_nothing(server):
    made, other = client(server), client(server)
    got = tokens(server, made)
    proof, foreign = basic(made["client_id"], made["client_secret"]), basic(other["client_id"], other["client_secret"])
    active = expect(form(server, "/introspect", {"token": got["access_token"]}, proof), 200)
    assert active["active"] and active["client_id"] == made["client_id"] and "username" not in active, active
    assert expect(form(server, "/introspect", {"token": got["refresh_token"]}, proof), 200)["active"]
    for token in [got["access_token"], got["refresh_token"], "x", "core_at_" + "A" * 49]:
        assert expect(form(server, "/introspect", {"token": token}, foreign), 200) == {"active": False}
        status, _, body = form(server, "/revoke", {"token": token}, foreign)
        assert (status, body) == (200, ""), (status, body)
    expect(reads(server, got["access_token"]), 200)
    expect(form(server, "/introspect", {"token": got["access_token"]}), 401, "invalid_client")
    told = expect(server.request("POST", "/introspect", f"token={got['access_token']}", {"Content-Type": "application/x-www-form-urlencoded"}), 200)
    assert told["username"] == "ann", told
    expect(form(server, "/revoke", {}, proof), 400, "invalid_request")
    expect(form(server, "/revoke", {"token": got["access_token"], "token_type_hint": "nonsense"}, proof), 200)
    expect(reads(server, got["access_token"]), 401)
    renewed = expect(refresh(server, made, got["refresh_token"]), 200)
    expect(form(server, "/revoke", {"token": renewed["refresh_token"]}, proof), 200)
    expect(reads(server, renewed["access_token"]), 401)
    assert expect(form(server, "/introspect", {"token": renewed["access_token"]}, proof), 200) == {"active": False}


@test
def requests_can_be_pushed(server):
    made, other = client(server, require_pushed_authorization_requests=True), client(server)
    proof = {"client_id": made["client_id"], "client_secret": made["client_secret"]}
    wanted = dict(proof, response_type="code", scope="index:orders-*:read", state="s", redirect_uri=CALLBACK)
    assert Browser(server).get(ask(made["client_id"])).status == 400, "this client must push"
    expect(form(server, "/par", dict(wanted, redirect_uri="https://evil.example/")), 400, "invalid_request")
    expect(form(server, "/par", dict(wanted, scope="index:*:all")), 400, "invalid_scope")
    expect(form(server, "/par", dict(wanted, request_uri="urn:x")), 400, "invalid_request")
    expect(form(server, "/par", dict(wanted, client_secret="x")), 401, "invalid_client")
    pushed = expect(form(server, "/par", wanted), 201)
    assert pushed["expires_in"] == 60
    handle = secret(pushed["request_uri"])
    path = "/authorize?" + urllib.parse.urlencode({"client_id": made["client_id"], "request_uri": handle, "scope": "index:*:all"})
    visitor = Browser(server)
    assert visitor.get(path.replace(made["client_id"], other["client_id"])).status == 400
    page = visitor.get(path)
    request = query(page.headers["Location"])["request"]
    visitor.login("ann", PEOPLE["ann"], request)
    page = visitor.get(f"/consent?request={request}")
    done = visitor.submit(page, "/consent", scope="index:orders-*:read", decision="allow")
    got = expect(exchange(server, made, secret(query(done.headers["Location"])["code"])), 200)
    assert got["scope"] == "index:orders-*:read"
    assert visitor.get(path).status == 400, "a handle is used once"


@test
def a_device_is_let_in_by_its_person(server):
    grant = "urn:ietf:params:oauth:grant-type:device_code"
    made = client(server, token_endpoint_auth_method="none", application_type="native", redirect_uris=["http://127.0.0.1/cb"])
    begun = expect(form(server, "/device_authorization", {"client_id": made["client_id"], "scope": "index:orders-*:read"}), 200)
    secret(begun["device_code"])
    assert begun["interval"] == 5 and begun["expires_in"] == 600 and len(begun["user_code"]) == 9, begun
    poll = {"grant_type": grant, "device_code": begun["device_code"], "client_id": made["client_id"]}
    expect(form(server, "/token", poll), 400, "authorization_pending")
    expect(form(server, "/token", poll), 400, "slow_down")
    visitor = Browser(server)
    assert visitor.get("/device").headers["Location"] == "/login"
    visitor.login("ann", PEOPLE["ann"])
    page = visitor.get("/device")
    assert visitor.submit(page, "/device", user_code="BBBB-BBBB").status == 400
    page = visitor.submit(page, "/device", user_code=begun["user_code"].lower().replace("-", " "))
    assert page.status == 200 and "Order" not in page.text and begun["user_code"] in page.text, page.text
    done = visitor.submit(page, "/device", scope="index:orders-*:read", decision="allow")
    assert done.status == 200 and "connected" in done.text
    got = expect(form(server, "/token", poll), 200)
    secret(got["access_token"]), secret(got.get("refresh_token"))
    expect(reads(server, got["access_token"]), 200)
    expect(form(server, "/token", poll), 400, "invalid_grant")
    assert visitor.submit(visitor.get("/device"), "/device", user_code=begun["user_code"]).status == 400, "spent"
    refused = expect(form(server, "/device_authorization", {"client_id": made["client_id"]}), 200)
    page = visitor.submit(visitor.get("/device"), "/device", user_code=refused["user_code"])
    visitor.submit(page, "/device", decision="deny")
    poll["device_code"] = secret(refused["device_code"])
    expect(form(server, "/token", poll), 400, "access_denied")
    for _ in range(3):
        visitor.submit(visitor.get("/device"), "/device", user_code="CCCC-CCCC")
    assert visitor.submit(visitor.get("/device"), "/device", user_code="CCCC-CCCC").status == 429


@test
def a_service_acts_for_itself(server):
    made = client(server, application_type="service", redirect_uris=[], service_account="bob", scope="index:bills-*:read")
    proof = basic(made["client_id"], made["client_secret"])
    got = expect(form(server, "/token", {"grant_type": "client_credentials"}, proof), 200)
    secret(got["access_token"])
    assert "refresh_token" not in got and got["scope"] == "index:bills-*:read", got
    expect(reads(server, got["access_token"], "bills-1"), 200)
    expect(reads(server, got["access_token"]), 403)
    expect(form(server, "/token", {"grant_type": "client_credentials", "scope": "index:bills-*:write"}, proof), 400, "invalid_scope")


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
    found = expect(get("/orders-kinds/_search", {"sort": [{"total": {"order": "desc", "missing": 0, "unmapped_type": "long"}}],
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
def strangers_scripts_read_nothing(server):
    own, other = client(server), client(server, redirect_uris=["https://other.example/cb"], token_endpoint_auth_method="none")

    def allowed(origin, made, proof=None):
        fields = {"grant_type": "refresh_token", "refresh_token": "x", "client_id": made["client_id"]}
        fields.update({"client_secret": proof} if proof else {})
        return form(server, "/token", fields, {"Origin": origin})[1].get("Access-Control-Allow-Origin")

    assert allowed("https://app.example", own, own["client_secret"]) == "https://app.example"
    assert allowed("https://other.example", other) == "https://other.example"
    assert allowed("https://other.example", own, own["client_secret"]) is None, "another client's"
    assert allowed("https://app.example", own, "wrong") is None, "nobody proved anything"
    proof = dict(basic(own["client_id"], own["client_secret"]), Origin="https://app.example")
    assert form(server, "/introspect", {"token": "x"}, proof)[1].get("Access-Control-Allow-Origin") is None
    answer = server.raw("GET /.well-known/oauth-authorization-server HTTP/1.1\r\nHost: evil.example\r\nX-Forwarded-Host: evil.example\r\n\r\n")
    assert b"evil" not in answer, answer
    wrong = {"grant_type": "refresh_token", "refresh_token": "x", "client_id": own["client_id"], "client_secret": "no"}
    for number in range(12):
        last = form(server, "/token", wrong, {"X-Forwarded-For": f"192.0.2.{number}"})
    assert last[0] == 429, "a header from anybody moves nobody to another address"


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
def hashing_is_bounded_and_the_rest_goes_on(_):
    with Server(args=["-E", "oauth.hashing.threads=1", "-E", "oauth.hashing.queue=1"]) as server:
        tries = iter(range(100))
        answers = at_once(30, lambda: server.request("GET", "/", headers=basic(f"nobody{next(tries)}", "wrong-password"), auth=False))
        found = sorted({answer[0] for answer in answers})
        assert found == [401, 429], found
        assert all(answer[1].get("Retry-After") for answer in answers if answer[0] == 429)
        expect(server.request("GET", "/"), 200)


@test
def in_strict_mode_what_cannot_be_noted_is_not_done(_):
    with Server(args=["-E", "oauth.audit.strict=true"]) as server:
        user = {"password": secret("eve-knows-this-6"), "roles": []}
        logs = server.data / "logs"
        # A file stands where the folder would be.
        logs.write_text("")
        for method, path, body in [("PUT", "/_security/user/eve", user), ("PUT", "/_security/user/eve2", user)]:
            status, headers, _ = server.request(method, path, body)
            assert status == 503, (path, status)
        assert server.request("GET", "/login", auth=False)[0] == 503
        expect(server.request("GET", "/_cluster/health"), 200)
        logs.unlink()
        expect(server.request("PUT", "/_security/user/eve3", user), 200)
        assert "eve2" not in expect(server.request("GET", "/_security/user"), 200), "not begun"
        events = [json.loads(line)["event"] for line in (logs / "audit.json").read_text().splitlines()]
        assert "user_changed" in events, events


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


@test
def nobody_registers_by_themselves(server):
    expect(server.request("POST", "/register", {"redirect_uris": [CALLBACK]}, auth=False), 404)
    status, headers, told = server.request("GET", "/.well-known/oauth-authorization-server", auth=False)
    assert status == 200 and headers["Access-Control-Allow-Origin"] == "*", headers
    assert told["issuer"] == server.url and "registration_endpoint" not in told, told
    assert told["code_challenge_methods_supported"] == ["S256"] and told["response_types_supported"] == ["code"]
    _, headers, _ = server.request("GET", "/orders-1/_search", auth=False)
    assert f'resource_metadata="{server.url}/.well-known/oauth-protected-resource"' in str(headers.get_all("WWW-Authenticate")), headers
    resource = expect(server.request("GET", "/.well-known/oauth-protected-resource", headers={"Host": "evil.example"}, auth=False), 200)
    assert resource["authorization_servers"] == [server.url], resource


@test
def a_kill_forgets_nothing(server):
    made = client(server)
    kept, ended = tokens(server, made), tokens(server, made)
    used = approve(server, Browser(server), "ann", made["client_id"])["code"]
    expect(exchange(server, made, used), 200)
    waiting = approve(server, Browser(server), "ann", made["client_id"])["code"]
    expect(form(server, "/revoke", {"token": ended["refresh_token"]}, basic(made["client_id"], made["client_secret"])), 200)
    server.kill()
    server.start()
    expect(reads(server, kept["access_token"]), 200)
    expect(reads(server, ended["access_token"]), 401)
    expect(exchange(server, made, used), 400, "invalid_grant")
    expect(exchange(server, made, waiting), 200)
    expect(exchange(server, made, waiting), 400, "invalid_grant")


@test
def guessing_a_password_becomes_slow_and_tells_nothing(server):
    pages = []
    for name in ["bob", "nobody-of-this-name"]:
        visitor = Browser(server)
        page = visitor.login(name, "wrong")
        assert page.status == 400
        text = page.text.replace(name, "X")
        for _, value in hidden(page, "/login"):
            text = text.replace(value, "") if value else text
        pages.append(text)
    assert pages[0] == pages[1], "an unknown name looks like a known one"
    known = Browser(server)
    assert known.login("bob", PEOPLE["bob"]).status == 303
    attacker = Browser(server)
    statuses = [attacker.login("bob", "wrong").status for _ in range(8)]
    assert 429 in statuses, statuses
    page = attacker.login("bob", PEOPLE["bob"])
    assert page.status == 429 and int(page.headers["Retry-After"]) >= 1, "a right password waits too"
    known.cookies.pop("__Host-sid")
    assert known.login("bob", PEOPLE["bob"]).status == 303, "the owner's own browser is not shut out"


def search_for_secrets(server):
    """Nothing that the server wrote holds a secret."""
    texts = [server.log.read_text(errors="replace")]
    texts += [path.read_text(errors="replace") for path in (server.data / "logs").glob("**/*") if path.is_file()]
    found = [text for text in SECRETS for written in texts if text in written]
    assert not found, f"{len(found)} secrets stand in logs: {found[0][:12]}…"


def main():
    wanted = sys.argv[1:]
    passed = failed = 0
    # All stories come from one address.
    with Server(args=["-E", "oauth.limit.login=1000"]) as server:
        prepare(server)
        stories = [story for story in TESTS if not wanted or story.__name__ in wanted]
        for story in stories + [search_for_secrets]:
            begin = time.monotonic()
            try:
                story(server)
                passed += 1
                print(f"ok   {story.__name__} ({time.monotonic() - begin:.1f} s)")
            except Exception:
                failed += 1
                print(f"FAIL {story.__name__}")
                traceback.print_exc(limit=3)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
