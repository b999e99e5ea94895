"""Stories of what an owner relies on over time: who owns an application, what ends with what, what takes as
long as people take, and addresses of pages where the issuer has a path."""

import secrets

from browser import Browser, code_element, hidden, query
from oauth_kit import (
    CALLBACK, PEOPLE, approve, ask, audited, bearer, client, exchange, expect, form, reads, refresh, secret, slowed, test, tokens,
)
from server import PASSWORD, Server

DEVICE = "urn:ietf:params:oauth:grant-type:device_code"
LOOPBACK = "http://[::1]:33749/cb"


def signed_in(server, user, password=None):
    visitor = Browser(server)
    page = visitor.login(user, password or PEOPLE[user])
    assert page.status == 303, (page.status, page.text)
    return visitor


def register(visitor, **fields):
    """An application by the form; answers its page's path."""
    page = visitor.get("/apps/new")
    body = {
        "application_type": "web", "client_name": f"Orders {secrets.token_hex(3)}", "redirect_uris": CALLBACK,
        "scope": "index:orders-*:read", "confidential": "confidential", "require_pkce": "true",
    }
    body.update(fields)
    page = visitor.upload("/apps/new", hidden(page, "/apps/new") + [pair for pair in body.items() if pair[1]])
    assert page.status == 303, (page.status, page.text)
    return page.headers["Location"], body


def change(visitor, app, body):
    page = visitor.get(app)
    return visitor.upload(app, hidden(page, app) + [pair for pair in body.items() if pair[1]])


def decide(reviewer, app, decision="approve", **fields):
    """The reviewer's word on one application; answers its card as it was shown."""
    reference = app.rsplit("/", 1)[1]
    page = reviewer.get("/admin/apps")
    card = next(card for card in page.text.split("<article")[1:] if reference in card)
    token = dict(hidden(page, "/admin/apps"))["csrf_token"]
    version = card.split('name="version" value="')[1].split('"')[0]
    body = [("csrf_token", token), ("app", reference), ("version", version), ("decision", decision)] + list(fields.items())
    assert reviewer.post("/admin/apps", body).status == 303
    return card


@test
def a_later_user_of_the_name_gets_no_application(server):
    body = {"password": secret("first-of-the-name-1"), "roles": ["reader"]}
    expect(server.request("PUT", "/_security/user/pat", body), 200)
    reviewer = signed_in(server, "elastic", PASSWORD)
    first = signed_in(server, "pat", body["password"])
    app, _ = register(first)
    decide(reviewer, app)
    assert app in first.get("/apps").text
    service = client(server, application_type="service", redirect_uris=[], grant_types=["client_credentials"], service_account="pat")
    own = {"grant_type": "client_credentials", "client_id": service["client_id"], "secret": service["client_secret"]}
    expect(form(server, "/token", own), 200)
    expect(server.request("DELETE", "/_security/user/pat"), 200)
    body["password"] = secret("second-of-the-name-2")
    expect(server.request("PUT", "/_security/user/pat", body), 200)
    later = signed_in(server, "pat", body["password"])
    assert app not in later.get("/apps").text
    assert later.get(app).status == 404
    token = dict(hidden(later.get("/apps/new"), "/apps/new"))["csrf_token"]
    shown = later.upload(app, [("csrf_token", token), ("action", "show_secret")])
    assert shown.status == 404 and code_element(shown, "client_secret") is None
    expect(form(server, "/token", own), 400, "unauthorized_client")
    expect(server.request("POST", f"/_oauth/client/{service['client_id']}/_rotate_secret"), 400)


@test
def what_waits_on_the_way_can_be_taken_back(server):
    made, other = client(server), client(server)
    owner = Browser(server)
    page = owner.get(ask(made["client_id"], scope="index:orders-*:read"))
    owner.login("ann", PEOPLE["ann"], query(page.headers["Location"])["request"])

    def let_in():
        page = owner.get(ask(made["client_id"], scope="index:orders-*:read", prompt="consent"))
        page = owner.get(page.headers["Location"])
        assert "Please decide before" in page.text, page.text
        done = owner.submit(page, "/consent", scope="index:orders-*:read", remember="true", decision="allow")
        return secret(query(done.headers["Location"])["code"])

    def asks_nothing():
        page = owner.get(ask(made["client_id"], scope="index:orders-*:read", prompt="none"))
        return "code" in query(page.headers["Location"])

    code = let_in()
    assert asks_nothing()
    page = owner.get("/account/apps")
    assert made["client_name"] in page.text and ("client", made["client_id"]) in hidden_of(page, made["client_name"])
    done = owner.post("/account/apps", hidden_of(page, made["client_name"]) + [("action", "revoke")])
    assert done.status == 303, done.text
    expect(exchange(server, made, code), 400, "invalid_grant")
    assert not asks_nothing() and made["client_name"] not in owner.get("/account/apps").text
    code = let_in()
    got = expect(exchange(server, other, approve(server, owner, "ann", other["client_id"])["code"]), 200)
    assert owner.submit(owner.get("/account/apps"), "/account/apps", action="revoke_all").status == 303
    expect(exchange(server, made, code), 400, "invalid_grant")
    expect(reads(server, got["access_token"]), 401)
    assert not asks_nothing()
    stranger = signed_in(server, "bob")
    token = dict(hidden(stranger.get("/account/security"), "/account/security"))["csrf_token"]
    assert stranger.post("/account/apps", [("csrf_token", token), ("client", made["client_id"]), ("action", "revoke")]).status == 404


def hidden_of(page, name):
    """Hidden fields of the card that bears this name."""
    card = next(card for card in page.text.split("<article")[1:] if name in card)
    return hidden(page._replace(text=card), "/account/apps")


@test
def a_device_gets_what_its_owner_has_and_no_more(server):
    made = client(server, grant_types=[DEVICE, "refresh_token"], redirect_uris=[], token_endpoint_auth_method="none")

    def begin(user, decision="allow"):
        begun = expect(form(server, "/device_authorization", {"client_id": made["client_id"], "scope": "index:orders-*:read"}), 200)
        secret(begun["device_code"])
        visitor = signed_in(server, user)
        page = visitor.submit(visitor.get("/device"), "/device", user_code=begun["user_code"])
        return begun, visitor.submit(page, "/device", scope="index:orders-*:read", decision=decision)

    def poll(begun):
        return form(server, "/token", {"grant_type": DEVICE, "client_id": made["client_id"], "device_code": begun["device_code"]})

    begun, page = begin("bob")
    assert page.status == 200 and "Nothing to give" in page.text, page.text
    expect(poll(begun), 400, "access_denied")
    begun, _ = begin("ann")
    expect(server.request("POST", f"/_oauth/client/{made['client_id']}/_suspend"), 200)
    expect(server.request("POST", f"/_oauth/client/{made['client_id']}/_approve"), 200)
    expect(poll(begun), 400, "invalid_grant")
    begun, _ = begin("ann")
    expect(server.request("PUT", "/_security/user/ann/_disable"), 200)
    expect(server.request("PUT", "/_security/user/ann/_enable"), 200)
    expect(poll(begun), 400, "invalid_grant")
    begun, page = begin("ann")
    assert "is connected" in page.text
    expect(poll(begun), 200)


@test
def a_suspension_ends_when_somebody_says_so(server):
    developer, reviewer = signed_in(server, "dev"), signed_in(server, "elastic", PASSWORD)
    app, body = register(developer)
    reference = app.rsplit("/", 1)[1]
    decide(reviewer, app)
    record = f"/_oauth/client/{reference}"
    expect(server.request("POST", f"{record}/_suspend"), 200)
    body["redirect_uris"] = "https://other.example/cb"
    assert change(developer, app, body).status == 303
    seen = expect(server.request("GET", record), 200)
    assert seen["redirect_uris"] == [CALLBACK] and seen["proposal"]["redirect_uris"] == ["https://other.example/cb"], seen
    assert expect(server.request("POST", f"{record}/_approve"), 200)["status"] == "approved"
    seen = expect(server.request("GET", record), 200)
    assert seen["redirect_uris"] == [CALLBACK] and "proposal" in seen, "the end of a suspension takes no change over"
    expect(server.request("POST", f"{record}/_suspend"), 200)
    card = decide(reviewer, app)
    assert "This application is suspended" in card, card
    seen = expect(server.request("GET", record), 200)
    assert seen["status"] == "suspended" and seen["redirect_uris"] == ["https://other.example/cb"], seen
    assert "proposal" not in seen
    assert expect(server.request("POST", f"{record}/_approve"), 200)["status"] == "approved"


@test
def a_reviewer_says_whether_pkce_is_a_must(server):
    developer, reviewer = signed_in(server, "dev"), signed_in(server, "elastic", PASSWORD)
    for choice, public in [("false", False), ("true", False), ("false", True)]:
        app, _ = register(developer, confidential="public" if public else "confidential", require_pkce="" if choice == "true" else "true")
        card = decide(reviewer, app, require_pkce=choice)
        assert ('name="require_pkce"' in card) != public, card
        seen = expect(server.request("GET", f"/_oauth/client/{app.rsplit('/', 1)[1]}"), 200)
        assert seen["require_pkce"] == (public or choice == "true"), seen


@test
def a_change_under_review_keeps_all_it_says(_):
    initial = secret("initial-access-token-1")
    with Server(args=["-E", "oauth.registration.mode=token", "-E", f"oauth.registration.token={initial}"]) as server:
        asked = {"redirect_uris": [CALLBACK], "client_name": "Charts", "grant_types": ["authorization_code"]}
        made = expect(server.request("POST", "/register", asked, bearer(initial)), 201)
        own, path = bearer(made["registration_access_token"]), f"/register/{made['client_id']}"
        asked.update(
            client_id=made["client_id"], client_name="Other charts", grant_types=["authorization_code", "refresh_token"],
            token_endpoint_auth_method="client_secret_post", require_pushed_authorization_requests=True)
        told = expect(server.request("PUT", path, asked, own), 200)
        assert told["client_name"] == "Charts" and told["grant_types"] == ["authorization_code"], "what is registered now"
        seen = expect(server.request("GET", f"/_oauth/client/{made['client_id']}"), 200)["proposal"]
        expect(server.request("POST", f"/_oauth/client/{made['client_id']}/_approve"), 200)
        told = expect(server.request("GET", path, headers=own), 200)
        for record in [seen, told]:
            wrong = {name: record.get(name) for name in asked if name in record and record[name] != asked[name]}
            assert not wrong and record["require_pushed_authorization_requests"] is True, (wrong, record)


@test
def pages_lead_where_the_browser_must_go_on(server):
    made = client(server, redirect_uris=[CALLBACK, LOOPBACK])
    for callback, source in [(CALLBACK, "https://app.example"), (LOOPBACK, "http:")]:
        visitor = Browser(server)
        page = visitor.get(ask(made["client_id"], redirect_uri=callback, scope="index:orders-*:read"))
        request = query(page.headers["Location"])["request"]
        page = visitor.get(f"/login?request={request}")
        policy = f"form-action 'self' {source};"
        assert policy in page.headers["Content-Security-Policy"], page.headers["Content-Security-Policy"]
        assert "Please sign in before" in page.text
        visitor.submit(page, "/login", username="ann", password=PEOPLE["ann"])
        page = visitor.get(f"/consent?request={request}")
        assert policy in page.headers["Content-Security-Policy"], page.headers["Content-Security-Policy"]
    page = visitor.get("/login")
    assert "form-action 'self';" in page.headers["Content-Security-Policy"]


@test
def a_stranger_keeps_nobody_from_a_new_password(server):
    body = {"password": secret("old-password-of-zoe-1"), "roles": []}
    expect(server.request("PUT", "/_security/user/zoe", body), 200)
    owner, stranger = signed_in(server, "zoe", body["password"]), Browser(server)
    seen = [stranger.login("zoe", f"guess-{guess}").status for guess in range(8)]
    assert 429 in seen, seen
    page = owner.get("/account/security")
    new = secret("new-password-of-zoe-2")

    def give(old, new, again=None):
        return owner.submit(page, "/account/security", password=old, new_password=new, new_password_again=again or new)

    for wide in ["ｐａｓｓｗｏｒｄ", "PASSWORD１"]:
        refused = give(body["password"], wide)
        assert refused.status == 400 and "tried first" in refused.text, refused.text
    refused = give(body["password"], new, "other-password-3")
    assert refused.status == 400 and refused.text.count("autofocus") == 1, refused.text
    done = give(body["password"], new)
    assert done.status == 200 and "was changed" in done.text, (done.status, done.text)
    page = owner.get("/account/security")
    first = give("wrong", new)
    assert first.status == 400, first
    waits = slowed(lambda: give("wrong", new))
    assert waits(give(new, secret("new-password-of-zoe-3"))), "a right password waits too"


@test
def a_reset_by_an_administrator_ends_what_was_given(server):
    body = {"password": secret("old-password-of-lee-1"), "roles": ["reader"]}
    PEOPLE["lee"] = body["password"]
    expect(server.request("PUT", "/_security/user/lee", body), 200)
    made = client(server)
    for way in ["/_security/user/lee", "/_security/user/lee/_password"]:
        got = tokens(server, made, "lee")
        expect(server.request("PUT", "/_security/user/lee", {"roles": ["reader"], "full_name": "Lee"}), 200)
        expect(reads(server, got["access_token"]), 200)
        PEOPLE["lee"] = secret(f"new-password-of-lee-{secrets.token_hex(4)}")
        changed = {"password": PEOPLE["lee"]} | ({"roles": ["reader"]} if way.endswith("lee") else {})
        expect(server.request("PUT", way, changed), 200)
        expect(reads(server, got["access_token"]), 401)
        expect(refresh(server, made, got["refresh_token"]), 400, "invalid_grant")


@test
def the_audit_log_names_schemes_and_no_headers(server):
    got = tokens(server, client(server))
    token = got["access_token"]
    for header in [token, f"Bearer\t{token}", "elastic:" + PASSWORD, f"Basic\t{PASSWORD}", f"Nonsense {token}"]:
        assert server.request("GET", "/orders-1/_search", headers={"Authorization": header}, auth=False)[0] in (400, 401)
    swapped = {"grant_type": "refresh_token", "refresh_token": "x", "client_id": token, "secret": "x"}
    expect(form(server, "/token", swapped), 401, "invalid_client")
    lines = audited(server)
    failed = [line for line in lines if line["event"] == "login_failed" and line.get("path") == "/orders-1/_search"]
    refused = [line for line in lines if line["event"] == "client_auth_failed"]
    assert len(failed) >= 5 and refused and not refused[-1].get("client"), (failed[-5:], refused[-1:])
    log = (server.data / "logs" / "audit.json").read_text()
    assert token not in log and PASSWORD not in log
    schemes = {line.get("scheme") or None for line in lines}
    assert schemes <= {None, "Basic", "Bearer", "ApiKey", "DPoP"}, schemes


@test
def scripts_of_a_client_read_its_answers_once_it_is_known(server):
    made = client(server, token_endpoint_auth_method="none", application_type="browser")
    fields = {"client_id": made["client_id"], "grant_type": "refresh_token", "refresh_token": "x"}
    origin = {"Origin": "https://app.example"}
    _, headers, _ = form(server, "/token", fields, origin)
    assert headers["Access-Control-Allow-Origin"] == "https://app.example", headers
    for wrong in [{"client_id": made["client_id"]}, dict(fields, secret="a", client_secret="a"), dict(fields, secret="a")]:
        status, headers, _ = form(server, "/token", wrong, origin)
        assert status in (400, 401) and "Access-Control-Allow-Origin" not in headers, (wrong, headers)


@test
def pages_lie_below_the_path_of_the_issuer(_):
    """Behind a proxy that keeps the path, and behind one that takes it away."""
    with Server(args=["-E", "oauth.issuer=https://id.example/es"]) as server:
        server.origin = "https://id.example"
        from oauth_kit import prepare
        prepare(server)
        made = client(server)
        for base in ["/es", ""]:
            visitor = Browser(server)
            page = visitor.get(base + ask(made["client_id"], scope="index:orders-*:read"))
            login = page.headers["Location"]
            assert page.status == 303 and login.startswith("/es/login?request="), (base, page.headers)
            assert visitor.get("/es/account/apps").headers["Location"] == "/es/login"
            page = visitor.get(base + login[3:])
            assert 'href="/es/login/style.css"' in page.text and '="/login' not in page.text, page.text
            assert visitor.get(base + "/login/style.css").status == 200
            fields = hidden(page, "/es/login") + [("username", "ann"), ("password", PEOPLE["ann"])]
            page = visitor.post(base + "/login", fields)
            consent = page.headers["Location"]
            assert page.status == 303 and consent.startswith("/es/consent?request="), page.headers
            page = visitor.get(base + consent[3:])
            body = hidden(page, "/es/consent") + [("scope", "index:orders-*:read"), ("decision", "allow")]
            back = query(visitor.post(base + "/consent", body).headers["Location"])
            assert back["iss"] == "https://id.example/es", back
            got = {"grant_type": "authorization_code", "code": back["code"], "client_id": made["client_id"], "secret": made["client_secret"]}
            got = expect(form(server, base + "/token", got), 200)
            expect(server.request("GET", "/orders-1/_search", headers=bearer(got["access_token"]), auth=False), 200)
            for path in ["/account/apps", "/account/sessions", "/account/security", "/apps", "/apps/new", "/device", "/logout", "/nothing"]:
                page = visitor.get(base + path) if path != "/nothing" else visitor.get(base + "/apps/x/y/z")
                for attribute in ["href", "action", "src"]:
                    assert f' {attribute}="/' not in page.text.replace(f' {attribute}="/es/', ""), (path, page.text)
        for well_known in ["/.well-known/oauth-authorization-server/es", "/es/.well-known/oauth-authorization-server"]:
            told = expect(server.request("GET", well_known, auth=False), 200)
            assert told["issuer"] == "https://id.example/es" and told["token_endpoint"] == "https://id.example/es/token", told
        assert server.request("GET", "/es/_search", auth=True)[0] == 404, "the index es, which is not there"
        assert server.request("GET", "/other/token", auth=False)[0] in (401, 404)


@test
def an_account_of_the_file_is_told_that_it_has_no_pages(_):
    with Server() as server:
        import subprocess
        from server import binary
        name, password = "filer", secret("in-the-file-I-am-1")
        subprocess.run([binary(), "users", "useradd", name, "-p", password, "-r", "superuser", "--data", str(server.data)], check=True, capture_output=True)
        visitor = Browser(server)
        page = visitor.login(name, password)
        assert page.status == 400 and "kept in a file" in page.text and "__Host-sid" not in visitor.cookies, (page.status, page.text)
        assert "kept in a file" not in visitor.login(name, "wrong-password").text
