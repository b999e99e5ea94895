"""Stories of owners, developers and programs: the flow, and what is tried against each of its steps."""

import base64
import hashlib
import json
import secrets
import urllib.parse

from browser import Browser, code_element, hidden, query
from oauth_kit import (
    CALLBACK, PEOPLE, approve, ask, at_once, audited, basic, bearer, client, exchange, expect, form, reads, refresh, secret, test, tokens,
)
from server import PASSWORD


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
    noted = [line for line in audited(server) if line["event"] == "client_approved" and line.get("application") == reference]
    assert [(line["outcome"], line["client"], line["user"]) for line in noted] == [("ok", client_id, "elastic")], noted
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
    suspended = client(server)
    expect(server.request("POST", f"/_oauth/client/{suspended['client_id']}/_suspend"), 200)
    for bad in [pending, suspended]:
        page = visitor.get(ask(bad["client_id"]))
        assert page.status == 400 and page.text == visitor.get(ask("unknown")).text, "one page for all"


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
    lines = audited(server)
    reuse = [line for line in lines if line["event"] == "refresh_reuse" and line.get("client") == made["client_id"]]
    assert reuse and reuse[0]["user"] == "ann" and reuse[0]["grant"] and len(reuse[0]["token"]) == 16, reuse
    assert all(line.get("request_id") for line in lines[-5:]), lines[-5:]


@test
def races_have_one_winner(server):
    made = client(server)
    code = approve(server, Browser(server), "ann", made["client_id"])["code"]
    answers = at_once(8, lambda: exchange(server, made, code))
    won = [answer[2] for answer in answers if answer[0] == 200]
    assert len(won) == 1, [answer[0] for answer in answers]
    secret(won[0]["refresh_token"])
    expect(reads(server, secret(won[0]["access_token"])), 401)
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
    # What somebody put into the browser becomes nobody's session, and one that is there ends with the next sign-in.
    visitor.cookies["__Host-sid"] = planted = "A" * 43
    assert visitor.get("/account/apps").headers["Location"] == "/login"
    assert visitor.post("/login", fields, {"Origin": "null", "Sec-Fetch-Site": "same-origin"}).status == 303
    first = secret(visitor.cookies["__Host-sid"])
    assert visitor.get("/account/apps").status == 200
    assert visitor.login("ann", PEOPLE["ann"], request).status == 303
    session = secret(visitor.cookies["__Host-sid"])
    assert len({planted, first, session}) == 3, "a new one each time"
    before = Browser(server)
    for old in [planted, first]:
        before.cookies["__Host-sid"] = old
        assert before.get("/account/apps").headers["Location"] == "/login", "the old one ended"
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
    token = tokens(server, made)["access_token"]
    expect(server.request("GET", f"/orders-1/_search?access_token={token}", auth=False), 400)
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
    assertion = {"client_assertion_type": "urn:ietf:params:oauth:client-assertion-type:jwt-bearer", "client_assertion": "e30.e30.x"}
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
        # Assertions are not offered; beside a secret they are a second way.
        (dict(assertion, client_id=name), {}, 401, "invalid_client"),
        (dict(assertion, client_id=name, secret=key), {}, 400, "invalid_request"),
        (dict(assertion, client_id=name, client_secret=key), {}, 400, "invalid_request"),
        (assertion, basic(name, key), 400, "invalid_request"),
        ({"client_id": name, "secret": key, "unknown": "x"}, {}, 400, "invalid_grant"),
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
    # What nobody knows is ignored, however often it comes.
    unknown = urllib.parse.urlencode(list(good.items()) + [("utm", "1"), ("utm", "2")] + list(proof.items()))
    expect(server.request("POST", "/token", unknown, kind, auth=False), 400, "invalid_grant")
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
def proofs_of_possession_are_refused_by_name(server):
    made = client(server)
    code = approve(server, Browser(server), "ann", made["client_id"])["code"]
    body = {"grant_type": "authorization_code", "code": code, "client_id": made["client_id"], "secret": made["client_secret"]}
    for proof in ["junk", "e30.e30.x"]:
        expect(form(server, "/token", body, {"DPoP": proof}), 400, "invalid_dpop_proof")
    got = expect(form(server, "/token", body), 200)
    assert got["token_type"] == "Bearer", "and nothing was spent"
    wanted = {"client_id": made["client_id"], "secret": made["client_secret"], "response_type": "code"}
    expect(form(server, "/par", wanted, {"DPoP": "junk"}), 400, "invalid_dpop_proof")
    expect(form(server, "/par", dict(wanted, dpop_jkt="x" * 43)), 400, "invalid_request")
    status, headers, _ = server.request(
        "GET", "/orders-1/_search", headers={"Authorization": f"DPoP {got['access_token']}"}, auth=False)
    assert status == 401, status
    told = expect(server.request("GET", "/.well-known/oauth-authorization-server", auth=False), 200)
    assert "dpop_signing_alg_values_supported" not in told and "jwks_uri" not in told, told
    assert server.request("GET", "/jwks", auth=False)[0] == 404, "tokens that say nothing need no keys"


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
    assert secret(got["access_token"]) and got["scope"] == "self", got
    got = expect(form(server, "/token", {"grant_type": "client_credentials", "scope": "index:bills-*:read"}, proof), 200)
    secret(got["access_token"])
    assert "refresh_token" not in got and got["scope"] == "index:bills-*:read", got
    expect(reads(server, got["access_token"], "bills-1"), 200)
    expect(reads(server, got["access_token"]), 403)
    expect(form(server, "/token", {"grant_type": "client_credentials", "scope": "index:bills-*:write"}, proof), 400, "invalid_scope")
