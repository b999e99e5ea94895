"""Real OAuth clients at the authorization server: `python3 tools/conform/client_oauth.py`.

Authlib and requests-oauthlib (Python), oauth4webapi, openid-client and simple-oauth2 (npm), the
crate `oauth2` (Rust): code with and without PKCE, refresh, client credentials, device, introspection, revocation, PAR, discovery; then
the token opens documents through the official `elasticsearch` client as `bearer_auth`, which sees
exactly what was granted. What is not installed is skipped with a word
(`pip install -r tools/conform/requirements.txt`; CONFORM_NPM names a folder with the packages of npm).
"""

import os
import shutil
import subprocess
import sys
import traceback
from urllib.parse import urlencode

from browser import Browser, query
from oauth_kit import PEOPLE, client, prepare
from server import ROOT, Server, note

CALLBACK = "https://app.example/cb"


def allow(server, address):
    """The owner's part: from the address that the library made to the redirect's address."""
    owner = Browser(server)
    assert address.startswith(server.url), address
    page = owner.get(address[len(server.url):])
    assert page.status == 303, (page.status, page.text)
    request = query(page.headers["Location"])["request"]
    owner.login("ann", PEOPLE["ann"], request)
    page = owner.get(f"/consent?request={request}")
    page = owner.submit(page, "/consent", scope="index:orders-*:read", decision="allow")
    assert page.status == 302, (page.status, page.text)
    return page.headers["Location"]


def sees_what_was_granted(server, token):
    """The official client of the store, with the token."""
    from elasticsearch import AuthorizationException, Elasticsearch

    trust = {"ca_certs": server.ca} if server.url.startswith("https") else {}
    store = Elasticsearch(server.url, bearer_auth=token, **trust)
    assert store.search(index="orders-*")["hits"]["total"]["value"] == 3
    for forbidden in [lambda: store.search(index="bills-1"), lambda: store.index(index="orders-1", document={})]:
        try:
            forbidden()
            raise AssertionError("beyond the grant")
        except AuthorizationException as error:
            assert error.status_code == 403
    store.close()


def authlib(server):
    from authlib.integrations.requests_client import OAuth2Session

    made = client(server)
    for pkce in [False, True]:
        session = OAuth2Session(
            made["client_id"], made["client_secret"], scope="index:orders-*:read", redirect_uri=CALLBACK,
            code_challenge_method="S256" if pkce else None,
        )
        session.verify, session.trust_env = server.ca, False
        verifier = {"code_verifier": "v" * 50} if pkce else {}
        told = session.get(f"{server.url}/.well-known/oauth-authorization-server", withhold_token=True).json()
        address, state = session.create_authorization_url(told["authorization_endpoint"], **verifier)
        back = allow(server, address)
        token = session.fetch_token(told["token_endpoint"], authorization_response=back, state=state, **verifier)
        assert token["scope"] == "index:orders-*:read", token
        sees_what_was_granted(server, token["access_token"])
        renewed = session.refresh_token(told["token_endpoint"], refresh_token=token["refresh_token"])
        assert renewed["access_token"] != token["access_token"]
        active = session.introspect_token(told["introspection_endpoint"], token=renewed["access_token"]).json()
        assert active["active"], active
        assert session.revoke_token(told["revocation_endpoint"], token=renewed["refresh_token"]).status_code == 200
        active = session.introspect_token(told["introspection_endpoint"], token=renewed["access_token"]).json()
        assert active == {"active": False}, active
    # Pushed: the library makes the request, and knows the handle's place in the address.
    session = OAuth2Session(made["client_id"], made["client_secret"], scope="index:orders-*:read", redirect_uri=CALLBACK)
    session.verify, session.trust_env = server.ca, False
    address, state = session.create_authorization_url(told["authorization_endpoint"])
    pushed = session.post(
        told["pushed_authorization_request_endpoint"], data=query(address), auth=(made["client_id"], made["client_secret"]),
        withhold_token=True).json()
    back = allow(server, f"{told['authorization_endpoint']}?" + urlencode({"client_id": made["client_id"], "request_uri": pushed["request_uri"]}))
    sees_what_was_granted(server, session.fetch_token(told["token_endpoint"], authorization_response=back, state=state)["access_token"])
    made = service(server)
    session = OAuth2Session(made["client_id"], made["client_secret"], scope="index:orders-*:read")
    session.verify, session.trust_env = server.ca, False
    token = session.fetch_token(f"{server.url}/token", grant_type="client_credentials")
    sees_what_was_granted(server, token["access_token"])
    made = native(server)
    session = OAuth2Session(made["client_id"], token_endpoint_auth_method="none")
    session.verify, session.trust_env = server.ca, False
    wanted = {"client_id": made["client_id"], "scope": "index:orders-*:read"}
    begun = session.post(told["device_authorization_endpoint"], data=wanted, withhold_token=True).json()
    device(server, begun["user_code"])
    token = session.fetch_token(
        told["token_endpoint"], grant_type="urn:ietf:params:oauth:grant-type:device_code", device_code=begun["device_code"])
    sees_what_was_granted(server, token["access_token"])


def requests_oauthlib(server):
    """It knows nothing of introspection, pushed requests and discovery."""
    from oauthlib.oauth2 import BackendApplicationClient, DeviceClient
    from requests_oauthlib import OAuth2Session

    made = client(server)
    proof = {"client_id": made["client_id"], "client_secret": made["client_secret"]}
    for pkce in [None, "S256"]:
        session = OAuth2Session(made["client_id"], redirect_uri=CALLBACK, scope=["index:orders-*:read"], pkce=pkce)
        session.trust_env, session.verify = False, server.ca
        address, _ = session.authorization_url(f"{server.url}/authorize")
        back = allow(server, address)
        token = session.fetch_token(f"{server.url}/token", authorization_response=back, client_secret=made["client_secret"])
        sees_what_was_granted(server, token["access_token"])
        renewed = session.refresh_token(f"{server.url}/token", **proof)
        sees_what_was_granted(server, renewed["access_token"])
        address, headers, body = session._client.prepare_token_revocation_request(
            f"{server.url}/revoke", renewed["refresh_token"], token_type_hint="refresh_token")
        answer = session.post(address, data=body, headers=headers, auth=tuple(proof.values()), withhold_token=True)
        assert answer.status_code == 200, answer.text
        assert session.get(f"{server.url}/orders-1/_search").status_code == 401, "revoked"
    own = service(server)
    backend = OAuth2Session(client=BackendApplicationClient(own["client_id"], scope=["index:orders-*:read"]))
    backend.trust_env, backend.verify = False, server.ca
    token = backend.fetch_token(f"{server.url}/token", client_secret=own["client_secret"])
    sees_what_was_granted(server, token["access_token"])
    public = native(server)
    session = OAuth2Session(client=DeviceClient(public["client_id"], scope=["index:orders-*:read"]))
    session.trust_env, session.verify = False, server.ca
    wanted = {"client_id": public["client_id"], "scope": "index:orders-*:read"}
    begun = session.post(f"{server.url}/device_authorization", data=wanted, withhold_token=True).json()
    device(server, begun["user_code"])
    body = session._client.prepare_request_body(begun["device_code"], include_client_id=True)
    token = session.post(
        f"{server.url}/token", data=body, headers={"Content-Type": "application/x-www-form-urlencoded"}, withhold_token=True).json()
    sees_what_was_granted(server, token["access_token"])


def service(server):
    """A client that acts for itself."""
    return client(server, application_type="service", redirect_uris=[], service_account="ann")


def native(server):
    """A client that keeps no secret."""
    return client(server, token_endpoint_auth_method="none", application_type="native", redirect_uris=["http://127.0.0.1/cb"])


def device(server, code):
    """The owner's part for a device."""
    owner = Browser(server)
    owner.login("ann", PEOPLE["ann"])
    page = owner.submit(owner.get("/device"), "/device", user_code=code)
    page = owner.submit(page, "/device", scope="index:orders-*:read", decision="allow")
    assert "connected" in page.text, page.text


def npm(server, story, tokens):
    """A story of client_oauth.mjs, decided here."""
    folder = os.environ.get("CONFORM_NPM") or str(ROOT / "target" / "conform-npm")
    if not shutil.which("node") or not os.path.isdir(os.path.join(folder, "node_modules", story)):
        raise ImportError(f"node, or {story} in {folder}, is not there")
    # A module finds its packages beside itself.
    program = os.path.join(folder, "client_oauth.mjs")
    shutil.copyfile(ROOT / "tools" / "conform" / "client_oauth.mjs", program)
    made, public, own = client(server), native(server), service(server)
    words = [made["client_id"], made["client_secret"], public["client_id"], own["client_id"], own["client_secret"]]
    process = subprocess.Popen(
        ["node", program, story, server.url, *words],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=dict(os.environ, NODE_EXTRA_CA_CERTS=server.ca))
    drive(server, process, tokens)


def drive(server, process, tokens, revoked=0):
    """A program's part of a story: decides where a person has to, and tries as many tokens as it must bring,
    and as many that it revoked before."""
    seen = gone = 0
    for line in process.stdout:
        word, _, value = line.strip().partition(" ")
        answer = "go on"
        if word == "open" and "#" in value:
            device(server, value.split("#")[1])
            answer = server.url
        elif word == "open":
            answer = allow(server, value)
        elif word == "token":
            note(value)
            sees_what_was_granted(server, value)
            seen += 1
        elif word == "gone":
            status, _, told = server.request("GET", "/orders-1/_search", headers={"Authorization": f"Bearer {value}"})
            assert status == 401, (status, told)
            gone += 1
        elif word == "done":
            break
        process.stdin.write(answer + "\n")
        process.stdin.flush()
    assert process.wait(60) == 0 and (seen, gone) == (tokens, revoked), (process.returncode, seen, gone)


def oauth4webapi(server):
    npm(server, "oauth4webapi", 6)


def openid_client(server):
    npm(server, "openid-client", 5)


def simple_oauth2(server):
    npm(server, "simple-oauth2", 3)


def rust_oauth2(server):
    """A program of its own, built here."""
    folder = ROOT / "tools" / "conform" / "clients" / "oauth2"
    target = str(ROOT / "target" / "conform-oauth2")
    built = shutil.which("cargo") and subprocess.run(
        ["cargo", "build", "--quiet", "--manifest-path", str(folder / "Cargo.toml"), "--target-dir", target], check=False)
    if not built or built.returncode != 0:
        raise ImportError("the crate oauth2 cannot be built here")
    made, public, own = client(server), native(server), service(server)
    words = [server.url, server.ca, made["client_id"], made["client_secret"], public["client_id"], own["client_id"], own["client_secret"]]
    process = subprocess.Popen([f"{target}/debug/conform-oauth2", *words], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    drive(server, process, 4, revoked=1)


def main():
    # Another authority of the machine must not stand in for the one that is pinned here.
    for name in ["REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "SSL_CERT_FILE"]:
        os.environ.pop(name, None)
    passed = failed = skipped = 0
    with Server(args=["-E", "oauth.limit.login=1000"]) as server:
        prepare(server)
        for story in [authlib, requests_oauthlib, oauth4webapi, openid_client, simple_oauth2, rust_oauth2]:
            try:
                story(server)
                passed += 1
                print(f"ok   {story.__name__}")
            except ImportError as error:
                skipped += 1
                print(f"SKIP {story.__name__}: {error}")
            except Exception:
                failed += 1
                print(f"FAIL {story.__name__}")
                traceback.print_exc(limit=4)
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
