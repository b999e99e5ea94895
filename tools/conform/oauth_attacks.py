"""Stories of attacks on what browsers, parsers and people are shown; each is a row of docs/SECURITY.md."""

import json
import socket
import threading
import urllib.parse

from browser import Browser, hidden, query
from oauth_kit import CALLBACK, PEOPLE, approve, ask, client, exchange, expect, form, reads, refresh, secret, test, tokens
from server import PASSWORD, Server

CHALLENGE = {"code_challenge": "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM", "code_challenge_method": "S256"}
VERIFIER = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"


@test
def what_comes_back_is_the_clients_own(server):
    uri = "https://app.example/cb?keep=%41+b&x"
    made = client(server, redirect_uris=[uri])
    for state in ["a b&c=d%25+#/?\u00e4\u20ac", "x" * 2048, "'\"<>"]:
        visitor = Browser(server)
        back = approve(server, visitor, "ann", made["client_id"], state=state)
        assert back["state"] == state and back["iss"] == server.url and "code" in back, back
        page = visitor.get(ask(made["client_id"], state=state, response_type="token"))
        assert page.headers["Location"].startswith(uri + "&error="), page.headers["Location"]
        assert query(page.headers["Location"])["state"] == state
    page = Browser(server).get(ask(made["client_id"], state="x" * 2049))
    assert query(page.headers["Location"])["error"] == "invalid_request", "a state has its bounds"
    # Where one goes after signing in stands in no address.
    visitor = Browser(server)
    assert visitor.get("/login?request=junk").status == 400
    page = visitor.get("/login?return_to=https://evil.example&next=//evil.example")
    page = visitor.submit(page, "/login", username="ann", password=PEOPLE["ann"])
    assert page.headers["Location"] == "/account/apps", page.headers
    # A second scope is no way to more of it.
    got = tokens(server, made)
    fields = [("grant_type", "refresh_token"), ("refresh_token", got["refresh_token"]), ("client_id", made["client_id"]),
              ("secret", made["client_secret"]), ("scope", "index:orders-*:read"), ("scope", "index:*:all")]
    kind = {"Content-Type": "application/x-www-form-urlencoded"}
    expect(server.request("POST", "/token", urllib.parse.urlencode(fields), kind, auth=False), 400, "invalid_request")
    expect(refresh(server, made, got["refresh_token"]), 200)


@test
def every_page_wears_its_guards(server):
    made = client(server)
    visitor, reviewer = Browser(server), Browser(server)
    request = query(visitor.get(ask(made["client_id"])).headers["Location"])["request"]
    pages = [visitor.get(f"/login?request={request}"), visitor.get("/login"), visitor.get("/authorize?client_id=x"), visitor.get("/no-such-page/../x")]
    visitor.login("ann", PEOPLE["ann"], request)
    pages += [visitor.get(path) for path in [
        f"/consent?request={request}", "/account/apps", "/account/sessions", "/account/security", "/device", "/apps", "/apps/new", "/logout",
        "/admin/apps", "/apps/nothing", "/consent?request=junk",
    ]]
    reviewer.login("elastic", PASSWORD)
    pages.append(reviewer.get("/admin/apps"))
    for page in pages:
        if not (page.headers["content-type"] or "").startswith("text/html"):
            assert page.status == 400, page
            continue
        policy = page.headers["Content-Security-Policy"]
        assert policy.startswith("default-src 'none'; style-src 'self'; img-src 'self';") and "frame-ancestors 'none'" in policy, policy
        assert "base-uri 'none'" in policy and "unsafe" not in policy and "form-action 'self'" in policy, policy
        wanted = {"X-Frame-Options": "DENY", "X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer", "Cache-Control": "no-store",
                  "Pragma": "no-cache", "Cross-Origin-Opener-Policy": "same-origin"}
        for name, value in wanted.items():
            assert page.headers[name] == value, (page.path, name, page.headers[name])
        assert "publickey-credentials-get=(self)" in page.headers["Permissions-Policy"], page.path
        assert "<script" not in page.text and " onclick" not in page.text and "style=" not in page.text, page.path
        assert page.headers.get("Access-Control-Allow-Origin") is None, page.path
    # After a form nobody sends the form again, password and all.
    other = Browser(server)
    page = other.login("ann", PEOPLE["ann"])
    assert page.status == 303, "never 307 or 308"


@test
def names_and_looks_deceive_nobody(server):
    developer, reviewer = Browser(server), Browser(server)
    client(server, client_name="Invoices")
    developer.login("dev", PEOPLE["dev"])

    def register(name, **more):
        page = developer.get("/apps/new")
        fields = [("application_type", "web"), ("client_name", name), ("redirect_uris", CALLBACK), ("scope", "index:orders-*:read"),
                  ("description", "<img src=x onerror=alert(1)>"), ("scope_reason", "\"><svg onload=alert(1)>"), ("confidential", "confidential")]
        return developer.upload("/apps/new", hidden(page, "/apps/new") + fields + list(more.items()))

    for name in ["a\u202eb", "a\u200bb", "", "x" * 65]:
        page = register(name)
        assert page.status == 400 and 'id="client_name-trouble"' in page.text, (name, page.status)
    for name in ["<script>alert(1)</script>", "Inv\u043eices"]:
        assert register(name).status == 303, name
    reviewer.login("elastic", PASSWORD)
    page = reviewer.get("/admin/apps")
    assert "<script" not in page.text and "<svg onload" not in page.text and "<img src=x" not in page.text, "escaped"
    assert "&lt;script&gt;" in page.text and "looks like" in page.text.lower(), page.text
    for decided in ["reject", "reject"]:
        page = reviewer.get("/admin/apps")
        reviewer.submit(page, "/admin/apps", decision=decided)
    # A program on this computer cannot prove who it is: its owner is asked each time.
    public = client(server, token_endpoint_auth_method="none", application_type="native", redirect_uris=["http://127.0.0.1/cb"])
    owner = Browser(server)
    uri = "http://127.0.0.1:51004/cb"
    for _ in range(2):
        page = owner.get(ask(public["client_id"], redirect_uri=uri, scope="index:orders-*:read", **CHALLENGE))
        request = query(page.headers["Location"])["request"]
        if page.headers["Location"].startswith("/login"):
            owner.login("ann", PEOPLE["ann"], request)
        page = owner.get(f"/consent?request={request}")
        assert page.status == 200 and "this computer" in page.text.lower() and 'name="remember"' not in page.text, page.text
        page = owner.submit(page, "/consent", scope="index:orders-*:read", remember="true", decision="allow")
        code = secret(query(page.headers["Location"])["code"])
        expect(exchange(server, public, code, redirect_uri=uri, code_verifier=VERIFIER), 200)
    page = owner.get(ask(public["client_id"], redirect_uri=uri, scope="index:orders-*:read", prompt="none", **CHALLENGE))
    assert query(page.headers["Location"])["error"] == "consent_required", page.headers["Location"]
    # Ports are free on the two loopback addresses and nowhere else.
    for wrong in ["http://127.0.0.2:51004/cb", "http://localhost:51004/cb", "http://0.0.0.0:51004/cb", "http://127.1:51004/cb", "http://2130706433/cb",
                  "http://127.0.0.1:0/cb", "http://127.0.0.1:65536/cb", "http://127.0.0.1:51004/cb/", "http://127.0.0.1:51004/cb?x=1", "https://127.0.0.1/cb"]:
        page = owner.get(ask(public["client_id"], redirect_uri=wrong, **CHALLENGE))
        assert page.status == 400 and "Location" not in page.headers, wrong


@test
def nothing_is_fetched(_):
    listener = socket.create_server(("127.0.0.1", 0))
    listener.settimeout(0.2)
    address = f"http://127.0.0.1:{listener.getsockname()[1]}"
    came = []

    def wait():
        while not came:
            try:
                came.append(listener.accept())
            except TimeoutError:
                if done.is_set():
                    return

    done = threading.Event()
    waiting = threading.Thread(target=wait)
    waiting.start()
    with Server(args=["-E", "oauth.registration.mode=open"]) as server:
        body = {"redirect_uris": [CALLBACK]}
        for field in ["logo_uri", "client_uri", "jwks_uri", "policy_uri", "tos_uri", "sector_identifier_uri", "initiate_login_uri"]:
            # Whoever would look would be heard, whatever the scheme.
            told = server.request("POST", "/register", dict(body, **{field: f"{address.replace('http:', 'https:')}/x"}), auth=False)
            expect(told, 400 if field == "jwks_uri" else 201)
        for client_id in [f"{address}/client", "https://app.example/client.json"]:
            assert Browser(server).get(ask(client_id)).status == 400, client_id
        made = client(server, logo_uri=f"{address}/logo.png")
        page = Browser(server).get(ask(made["client_id"], request_uri=f"{address}/request"))
        assert query(page.headers["Location"])["error"] == "request_uri_not_supported", page.headers["Location"]
        page = Browser(server).get(ask(made["client_id"], request="e30.e30."))
        assert query(page.headers["Location"])["error"] == "request_not_supported", page.headers["Location"]
    done.set()
    waiting.join()
    listener.close()
    assert not came, "something was fetched"


@test
def requests_are_cut_in_one_way(server):
    made = client(server)
    body = f"grant_type=refresh_token&refresh_token=x&client_id={made['client_id']}&secret={made['client_secret']}"
    head = "POST /token HTTP/1.1\r\nHost: h\r\nContent-Type: application/x-www-form-urlencoded\r\n"
    length = f"Content-Length: {len(body)}\r\n"
    good = server.raw(f"{head}{length}Connection: close\r\n\r\n{body}")
    assert good.startswith(b"HTTP/1.1 400") and b"invalid_grant" in good, good
    for extra in [
        length + "Transfer-Encoding: chunked\r\n", length + f"Content-Length: {len(body) + 1}\r\n", f"Content-Length: +{len(body)}\r\n",
        f"Content-Length: {len(body)} \r\n x: folded\r\n", "Transfer-Encoding: gzip, chunked\r\n", "Transfer-Encoding: identity\r\n",
        length + "Secret header: x\r\n", length + "x : y\r\n",
    ]:
        answer = server.raw(f"{head}{extra}\r\n{body}")
        assert answer.startswith(b"HTTP/1.1 400") and b"onnection: close" in answer and b"invalid_grant" not in answer, (extra, answer)
    answer = server.raw((head + length + "\r\n" + body).replace("\r\n", "\n"))
    assert b"invalid_grant" not in answer, "lines end in CR LF"
    for host in ["", "Host: h\r\nHost: h\r\n", "Host: me@h\r\n", "Host: h/a\r\n"]:
        answer = server.raw((head + length + "\r\n" + body).replace("Host: h\r\n", host, 1))
        assert answer.startswith(b"HTTP/1.1 400") and b"onnection: close" in answer and b"invalid_grant" not in answer, (host, answer)
    # Parameters of the query are no parameters of the body, and a body of another kind is none.
    expect(form(server, "/token?client_id=x", {"grant_type": "refresh_token"}), 400, "invalid_request")
    for kind in ["text/plain", "application/json", "multipart/form-data; boundary=x"]:
        expect(server.request("POST", "/token", body, {"Content-Type": kind}, auth=False), 400, "invalid_request")
    charset = {"Content-Type": "application/x-www-form-urlencoded; charset=UTF-8"}
    expect(server.request("POST", "/token", body, charset, auth=False), 400, "invalid_grant")
    for part in ["&scope=%ff", "&scope=%00", "&scope=%c0%af", "&scope=a%0db"]:
        expect(server.request("POST", "/token", body + part, charset, auth=False), 400, "invalid_request")
    status, _, told = reads(server, "eyJhbGciOiJub25lIn0.e30.")
    assert status == 401 and "eyJ" not in json.dumps(told), "no token of another's making"
