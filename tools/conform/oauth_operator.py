"""Stories of the operator: registration, limits, logs, what a kill leaves; told last, for some slow others down."""

import base64
import json

from browser import Browser, hidden
from oauth_kit import (
    CALLBACK, PEOPLE, approve, ask, at_once, audited, basic, bearer, client, exchange, expect, form, prepare, reads, refresh, secret, slowed, test, tokens,
)
from server import Server


@test
def strangers_scripts_read_nothing(server):
    own, other = client(server), client(server, redirect_uris=["https://other.example/cb"], token_endpoint_auth_method="none")

    def allowed(origin, made, proof=None):
        fields = {"grant_type": "refresh_token", "refresh_token": "x", "client_id": made["client_id"]}
        fields.update({"client_secret": proof} if proof else {})
        return form(server, "/token", fields, {"Origin": origin})[1].get("Access-Control-Allow-Origin")

    assert allowed("https://app.example", own, own["client_secret"]) == "https://app.example"
    assert allowed("https://other.example", other) == "https://other.example"
    # Nobody writes this port, and no browser.
    usual = client(server, redirect_uris=["https://usual.example:443/cb"], token_endpoint_auth_method="none")
    assert allowed("https://usual.example", usual) == "https://usual.example"
    assert allowed("https://usual.example:443", usual) is None
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
        users = expect(server.request("GET", "/_security/user"), 200)
        assert "eve" not in users and "eve2" not in users, "not begun"
        lines = [json.loads(line) for line in (logs / "audit.json").read_text().splitlines()]
        last = [(line["event"], line["outcome"]) for line in lines if line["path"] == "/_security/user/eve3"]
        assert last == [("change", "begun"), ("user_changed", "ok")], last


@test
def nobody_registers_by_themselves(server):
    expect(server.request("POST", "/register", {"redirect_uris": [CALLBACK]}, auth=False), 404)
    status, headers, told = server.request("GET", "/.well-known/oauth-authorization-server", auth=False)
    assert status == 200 and headers["Access-Control-Allow-Origin"] == "*", headers
    assert told["issuer"] == server.url and "registration_endpoint" not in told, told
    assert told["code_challenge_methods_supported"] == ["S256"] and told["response_types_supported"] == ["code"]
    _, headers, _ = server.request("GET", "/orders-1/_search", auth=False)
    assert f'resource_metadata="{server.url}/.well-known/oauth-protected-resource"' in str(headers.get_all("WWW-Authenticate")), headers
    for path in ["/.well-known/oauth-authorization-server/tenant", "/.well-known/oauth-protected-resource/x", "/.well-known/openid-configuration", "/jwks", "/userinfo"]:
        expect(server.request("GET", path, auth=False), 404, "invalid_request")
    resource = expect(server.request("GET", "/.well-known/oauth-protected-resource", headers={"Host": "evil.example"}, auth=False), 200)
    assert resource["authorization_servers"] == [server.url], resource


@test
def who_registers_alone_may_little(_):
    with Server(args=["-E", "oauth.registration.mode=open", "-E", "oauth.limit.register=50"]) as server:
        prepare(server)
        told = expect(server.request("GET", "/.well-known/oauth-authorization-server", auth=False), 200)
        assert told["registration_endpoint"] == f"{server.url}/register", told
        post = lambda body: server.request("POST", "/register", body, auth=False)
        good = {"redirect_uris": [CALLBACK], "client_name": "Found it", "scope": "index:orders-*:read", "unknown": {"is": "ignored"}}
        for body, word in [
            ({}, "invalid_redirect_uri"), (dict(good, redirect_uris=["http://app.example/cb"]), "invalid_redirect_uri"),
            (dict(good, redirect_uris=["javascript:x"]), "invalid_redirect_uri"), (dict(good, redirect_uris="x"), "invalid_redirect_uri"),
            (dict(good, response_types=["token"]), "invalid_client_metadata"), (dict(good, response_types=["code", "token"]), "invalid_client_metadata"),
            (dict(good, response_types=[]), "invalid_client_metadata"), (dict(good, grant_types=["implicit"]), "invalid_client_metadata"),
            (dict(good, grant_types=["client_credentials"]), "invalid_client_metadata"), (dict(good, scope="index:*:write"), "invalid_client_metadata"),
            (dict(good, token_endpoint_auth_method="private_key_jwt"), "invalid_client_metadata"), (dict(good, jwks={"keys": []}), "invalid_client_metadata"),
            (dict(good, dpop_bound_access_tokens=True), "invalid_client_metadata"), (dict(good, software_statement="e30.e30.x"), "unapproved_software_statement"),
            (dict(good, client_name="a\u202eb"), "invalid_client_metadata"), ([], "invalid_client_metadata"),
        ]:
            expect(post(body), 400, word)
        status, headers, made = post(good)
        assert status == 201 and headers["Cache-Control"] == "no-store", (status, made)
        assert made["client_secret_expires_at"] == 0 and made["response_types"] == ["code"] and made["grant_types"] == ["authorization_code"], made
        assert made["token_endpoint_auth_method"] == "client_secret_basic" and "unknown" not in made, made
        visitor = Browser(server)
        page = visitor.get(ask(made["client_id"], scope="index:orders-*:read"))
        assert page.status == 400 and "Location" not in page.headers, "errors of strangers are told on a page"
        challenge = {"code_challenge": "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM", "code_challenge_method": "S256"}
        back = approve(server, visitor, "ann", made["client_id"], **challenge)
        verifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
        got = expect(exchange(server, made, back["code"], code_verifier=verifier), 200)
        assert "refresh_token" not in got, "it did not register for one"
        expect(reads(server, got["access_token"]), 200)
        page = visitor.get(ask(made["client_id"], scope="index:orders-*:read", **challenge))
        page = visitor.get(page.headers["Location"])
        assert "not reviewed" in page.text.lower() and 'name="remember"' not in page.text, page.text
        # RFC 7592: whoever holds its own token reads, replaces and removes it.
        path, own = f"/register/{made['client_id']}", bearer(made["registration_access_token"])
        for headers in [{}, bearer("x"), bearer(got["access_token"])]:
            assert server.request("GET", path, headers=headers, auth=False)[0] == 401, headers
        assert server.request("GET", "/register/unknown", headers=own, auth=False)[0] == 401
        shown = expect(server.request("GET", path, headers=own, auth=False), 200)
        assert shown["client_id"] == made["client_id"] and "client_secret" not in shown, shown
        put = lambda body: server.request("PUT", path, body, own, auth=False)
        changed = dict(good, client_id=made["client_id"], redirect_uris=[CALLBACK + "2"])
        expect(put(good), 400, "invalid_client_metadata")
        for field in ["registration_access_token", "registration_client_uri", "client_secret_expires_at", "client_id_issued_at"]:
            expect(put(dict(changed, **{field: 1})), 400, "invalid_client_metadata")
        assert expect(put(changed), 200)["redirect_uris"] == [CALLBACK + "2"]
        assert server.request("DELETE", path, headers=own, auth=False)[0] == 204
        assert server.request("GET", path, headers=own, auth=False)[0] == 401
        expect(reads(server, got["access_token"]), 401)
    token = secret("an-initial-token-of-the-operator")
    with Server(args=["-E", "oauth.registration.mode=token", "-E", f"oauth.registration.token={token}", "-E", "oauth.limit.register=6"]) as server:
        for headers in [{}, bearer("wrong"), {"Authorization": "Basic eDp5"}]:
            status, found, body = server.request("POST", "/register", {"redirect_uris": [CALLBACK]}, headers, auth=False)
            assert status == 401 and found["WWW-Authenticate"].startswith("Bearer"), (status, body)
        post = lambda **fields: server.request("POST", "/register", dict({"redirect_uris": [CALLBACK]}, **fields), bearer(token), auth=False)
        made = expect(post(scope="index:*:all", grant_types=["authorization_code", "refresh_token"]), 201)
        assert made["scope"] == "index:*:all", made
        public = expect(post(token_endpoint_auth_method="none"), 201)
        assert "client_secret" not in public, public
        expect(post(), 201)
        status, headers, _ = post()
        assert status == 429 and int(headers["Retry-After"]) > 0, "six an hour from one address"


@test
def the_audit_log_says_who_and_why(server):
    made = client(server)
    pending = client(server, status="pending")
    public = client(server, token_endpoint_auth_method="none", application_type="native", redirect_uris=["http://127.0.0.1/cb"])
    grant = {"grant_type": "refresh_token", "refresh_token": "x"}
    for fields in [
        {"client_id": made["client_id"], "secret": "wrong"}, {"client_id": made["client_id"]}, {"client_id": "nobody-like-this"}, {},
        {"client_id": pending["client_id"], "secret": pending["client_secret"]}, {"client_id": public["client_id"], "secret": "x"},
        {"client_id": made["client_id"], "client_assertion": "x"},
    ]:
        expect(form(server, "/token", dict(grant, **fields)), 401, "invalid_client")
    got = tokens(server, made)
    id = expect(server.request("GET", f"/_oauth/grant?client_id={made['client_id']}"), 200)["grants"][0]["id"]
    expect(server.request("DELETE", f"/_oauth/grant/{id}"), 200)
    expect(server.request("POST", "/_oauth/client", {"client_name": "", "redirect_uris": []}), 400)
    lines = audited(server)
    of = lambda event, **wanted: [line for line in lines if line["event"] == event and all(line.get(name) == value for name, value in wanted.items())]
    reasons = [line["reason"] for line in of("client_auth_failed")]
    for reason in [
        "the secret is wrong or over", "the secret is missing", "no such client", "no client is named", "the client is not approved",
        "a public client has no secret", "assertions are not offered",
    ]:
        assert reason in reasons, (reason, reasons)
    assert of("client_registered", client=made["client_id"], user="elastic", outcome="ok"), "by /_oauth/client"
    refused = of("client_registered", outcome="failed")
    assert refused and all(line["reason"] and "client" not in line for line in refused), refused
    revoked = of("consent_revoked", grant=id)
    assert revoked and revoked[0]["client"] == made["client_id"] and revoked[0]["owner"] == "ann", revoked
    assert of("token_issued", grant=id), "known by the same name in each line"
    expect(reads(server, got["access_token"]), 401)
    for password in ["dev-knows-another-1", PEOPLE["dev"]]:
        expect(server.request("POST", "/_security/user/dev/_password", {"password": secret(password)}), 200)
    expect(server.request("POST", "/_security/user/_password", {"password": PEOPLE["dev"]}, basic("dev", PEOPLE["dev"])), 200)
    lines = audited(server)
    assert of("password_reset", user="elastic") and of("password_changed", user="dev"), "one's own, and another's"


@test
def the_audit_log_names_keys_tokens_and_items(server):
    role = {"cluster": ["manage_own_api_key"], "indices": [{"names": ["own-*"], "privileges": ["all"]}]}
    expect(server.request("PUT", "/_security/role/owner_of_some", role), 200)
    password = secret("looks-after-some-1")
    expect(server.request("PUT", "/_security/user/some", {"password": password, "roles": ["owner_of_some"]}), 200)
    some = basic("some", password)
    items = '{"index":{"_index":"bills-1"}}\n{"a":1}\n{"delete":{"_index":"bills-2","_id":"1"}}\n{"index":{"_index":"own-1"}}\n{"a":1}\n'
    expect(server.request("POST", "/_bulk", items, some, auth=False), 200)
    expect(server.request("POST", "/_msearch", '{"index":"bills-3"}\n{}\n', some, auth=False), 200)
    expect(server.request("POST", "/_mget", {"docs": [{"_index": "bills-4", "_id": "1"}]}, some, auth=False), 200)
    key = expect(server.request("POST", "/_security/api_key", {"name": "told"}), 200)
    secret(key["api_key"])
    expect(server.request("DELETE", "/_security/api_key", {"ids": [key["id"]]}), 200)
    expect(server.request("GET", "/", headers={"Authorization": "ApiKey " + key["encoded"]}, auth=False), 401)
    made = expect(server.request("POST", "/_security/oauth2/token", {"grant_type": "client_credentials"}), 200)
    token = secret(made["access_token"])
    expect(server.request("DELETE", "/_security/oauth2/token", {"token": token}), 200)
    expect(server.request("GET", "/", headers={"Authorization": "Bearer " + token}, auth=False), 401)
    expect(server.request("POST", "/_security/role", {"roles": {"many_1": {}, "many_2": {}}}), 200)
    expect(server.request("DELETE", "/_security/role", {"names": ["many_1", "many_2"]}), 200)
    lines = audited(server)
    of = lambda event, **wanted: [line for line in lines if line["event"] == event and all(line.get(name) == value for name, value in wanted.items())]
    denied = [line["reason"] for line in of("access_denied", user="some")]
    for index in ["bills-1", "bills-2", "bills-3", "bills-4"]:
        assert sum(f"[{index}]" in reason for reason in denied) == 1, (index, denied)
    assert not any("[own-1]" in reason for reason in denied), denied
    for event in ["api_key_created", "api_key_invalidated"]:
        assert of(event, target_key=key["id"], target_key_name="told"), event
    failed = of("login_failed", scheme="ApiKey", api_key=key["id"])
    assert failed and "invalidated" in failed[0]["reason"], failed
    issued = of("token_issued", target_user="elastic", path="/_security/oauth2/token")
    name = issued[-1]["target_token"]
    assert of("token_revoked", target_token=name) and of("login_failed", scheme="Bearer", token=name), name
    for event in ["role_changed", "role_deleted"]:
        assert of(event, target_role="many_1,many_2"), event


@test
def what_is_shown_is_no_number(server):
    made = client(server, scope="index:orders-*:read self")
    first, second = tokens(server, made), tokens(server, made)
    proof = basic(made["client_id"], made["client_secret"])
    narrow = expect(refresh(server, made, second["refresh_token"], scope="index:orders-1:read"), 200)
    names = []
    for got in [first, second, narrow]:
        told = expect(form(server, "/introspect", {"token": got["access_token"]}, proof), 200)
        who = expect(server.request("GET", "/_security/_authenticate", headers=bearer(got["access_token"]), auth=False), 200)
        assert len(told["jti"]) == 32 and set(told["jti"]) <= set("0123456789abcdef"), told
        assert len(who["oauth"]["grant_id"]) == 43, who
        names.append((told["jti"], who["oauth"]["grant_id"]))
    assert len({jti for jti, _ in names}) == 3, names
    assert names[0][1] != names[1][1] and names[1][1] == names[2][1], "a narrowed token belongs to its family"
    listed = {grant["id"] for grant in expect(server.request("GET", f"/_oauth/grant?client_id={made['client_id']}"), 200)["grants"]}
    assert listed == {names[0][1], names[1][1]}, listed
    for guess in ["1", "2", "3", names[0][1][:-1], names[0][1].swapcase()]:
        expect(server.request("DELETE", f"/_oauth/grant/{guess}"), 404)
    owner = Browser(server)
    owner.login("ann", PEOPLE["ann"])
    page = owner.get("/account/apps")
    assert names[0][1] in page.text and owner.submit(page, "/account/apps", action="revoke", grant="1").status in (403, 404)
    expect(reads(server, first["access_token"]), 200)


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
    waits = slowed(lambda: attacker.login("bob", "wrong"))
    assert waits(attacker.login("bob", PEOPLE["bob"])), "a right password waits too"
    known.cookies.pop("__Host-sid")
    assert known.login("bob", PEOPLE["bob"]).status == 303, "the owner's own browser is not shut out"


@test
def a_password_is_what_it_looks_like(server):
    written, typed = secret("stra\u00dfe \ufb01ne u\u0308ber"), secret("stra\u00dfe fine \u00fcber")
    expect(server.request("PUT", "/_security/user/uni", {"password": written, "roles": []}), 200)
    for password in [written, typed]:
        assert Browser(server).login("uni", password).status == 303, password
        header = {"Authorization": "Basic " + base64.b64encode(f"uni:{password}".encode()).decode()}
        expect(server.request("GET", "/_security/_authenticate", headers=header, auth=False), 200)
    visitor = Browser(server)
    visitor.login("uni", typed)
    for new in ["password1", "short", "stra\u00dfe"]:
        page = visitor.submit(visitor.get("/account/security"), "/account/security", password=typed, new_password=new, new_password_again=new)
        assert page.status == 400, (new, page.status)
    other = Browser(server)
    other.login("uni", typed)
    before, long = visitor.cookies["__Host-sid"], secret("\u00e4" * 128)
    page = visitor.submit(visitor.get("/account/security"), "/account/security", password=typed, new_password=long, new_password_again=long)
    assert page.status in (200, 303) and visitor.cookies["__Host-sid"] != before, "another session, the same person"
    assert other.get("/account/apps").headers["Location"] == "/login", "and the others end"
    assert Browser(server).login("uni", long[:-1]).status == 400, "no password is cut"
    assert Browser(server).login("uni", long).status == 303
