"""The pages in a real browser: `python3 tools/conform/pages.py [--pictures DIR]`.

Headless Chromium with scripts off, by keyboard where a person would use it: register, review, approve,
sign in, consent, callback, token, search, revoke, 401. Then each page once more, wide and at 320 pixels,
light and dark, in English and, where words are longer, in German: nothing is wider than the window, and
axe-core (where CONFORM_NPM has it) finds nothing serious. Skipped with a word where Playwright or Chromium is missing.
"""

import http.server
import os
import shutil
import socket
import sys
import tempfile
import threading
from pathlib import Path

try:
    from playwright.sync_api import sync_playwright
except ImportError:
    print("SKIP: Playwright is not installed")
    print("0 passed, 0 failed, 1 skipped")
    sys.exit(0)

from browser import query
from oauth_kit import PEOPLE, ask, client, exchange, prepare, reads
from server import PASSWORD, ROOT, Server

CHROMIUM = next((path for path in map(shutil.which, ["chromium", "chromium-browser", "google-chrome"]) if path), None)


class Application(http.server.BaseHTTPRequestHandler):
    """The application to which the browser comes back."""

    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"back at the application")

    def log_message(self, *_):
        pass


class ApplicationV6(http.server.ThreadingHTTPServer):
    """The same at an IPv6 address."""

    address_family = socket.AF_INET6


def port(kind=http.server.ThreadingHTTPServer, host="127.0.0.1"):
    """Serves the callback; answers its port."""
    server = kind((host, 0), Application)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server.server_port


def application():
    """Serves the callback on a free port; answers its address."""
    return f"http://127.0.0.1:{port()}/callback"


def submit(page, selector):
    """Presses a button with the keyboard, and waits for the next page."""
    page.focus(selector)
    with page.expect_navigation():
        page.keyboard.press("Enter")


def sign_in(page, url, user, password):
    page.goto(f"{url}/login")
    give_password(page, user, password)


def give_password(page, user, password):
    """Fills the form by keyboard: the name has the focus from the start."""
    page.wait_for_selector("#username:focus")
    page.keyboard.type(user)
    page.keyboard.press("Tab")
    page.wait_for_selector("#password:focus")
    page.keyboard.type(password)
    with page.expect_navigation():
        page.keyboard.press("Enter")


def walk(browser, server):
    """The whole flow, scripts off; answers the pages to look at again, with who sees them."""
    url = server.url
    callback = application()

    def person(name, password):
        context = browser.new_context(ignore_https_errors=True, java_script_enabled=False)
        page = context.new_page()
        sign_in(page, url, name, password)
        assert page.url == f"{url}/account/apps", page.url
        return context, page

    dev_context, dev = person("dev", PEOPLE["dev"])
    dev.goto(f"{url}/apps/new")
    for field, value in {
        "client_name": "Order charts", "redirect_uris": callback, "scope": "index:orders-*:read index:orders-*:write",
        "description": "Draws what you sold.", "scope_reason": "To draw it, and to note what was seen.",
    }.items():
        dev.fill(f"#{field}", value)
    dev.uncheck("#require_pkce")
    submit(dev, "main button")
    app = dev.url
    admin_context, admin = person("elastic", PASSWORD)
    admin.goto(f"{url}/admin/apps")
    submit(admin, "button[value=approve]")
    dev.goto(app)
    client_id = dev.inner_text("code.client_id")
    submit(dev, "button[value=show_secret]")
    made = {"client_id": client_id, "client_secret": dev.inner_text("code.client_secret")}
    owner_context = browser.new_context(ignore_https_errors=True, java_script_enabled=False)
    owner = owner_context.new_page()
    owner.goto(f"{url}/authorize?response_type=code&client_id={client_id}&scope=index%3Aorders-*%3Aread%20index%3Aorders-*%3Awrite&state=s")
    give_password(owner, "ann", PEOPLE["ann"])
    assert "/consent?request=" in owner.url, (owner.url, owner.inner_text("main"))
    owner.uncheck("input[value='index:orders-*:write']")
    # Enter on a permission decides nothing, and what was unticked stays so.
    owner.focus("input[name=scope]")
    owner.keyboard.press("Enter")
    owner.wait_for_timeout(1000)
    assert "/consent?request=" in owner.url, owner.url
    assert not owner.is_checked("input[value='index:orders-*:write']")
    assert owner.is_checked("input[value='index:orders-*:read']")
    submit(owner, "button[value=allow]")
    back = query(owner.url)
    assert owner.url.startswith(callback) and back["state"] == "s" and back["iss"] == url, owner.url
    status, _, token = exchange(server, made, back["code"])
    assert status == 200 and token["scope"] == "index:orders-*:read", token
    assert reads(server, token["access_token"])[0] == 200
    owner.goto(f"{url}/authorize?response_type=code&client_id={client_id}&scope=index%3Aorders-*%3Aread&state=t")
    consent = owner.url
    owner.goto(f"{url}/account/apps")
    submit(owner, "button[value=revoke]")
    assert reads(server, token["access_token"])[0] == 401
    dev.goto(f"{url}/apps/new")
    dev.fill("#client_name", "Order chart")
    dev.fill("#redirect_uris", "http://charts.example/callback")
    submit(dev, "main button")
    assert "/apps/R-" in dev.url
    return [
        (owner_context, consent), (owner_context, f"{url}/account/apps"), (owner_context, f"{url}/account/sessions"),
        (owner_context, f"{url}/account/security"), (owner_context, f"{url}/device"), (owner_context, f"{url}/login"),
        (owner_context, f"{url}/authorize?client_id=unknown"), (dev_context, app), (dev_context, f"{url}/apps/new"),
        (dev_context, f"{url}/apps"), (admin_context, f"{url}/admin/apps"),
    ]


def led_on(browser, server):
    """A form that ends at the client: the policy of its page must let the browser go there."""
    made = client(server, redirect_uris=["http://app.example/cb"], allow_insecure_redirect=True)
    context = browser.new_context(ignore_https_errors=True, java_script_enabled=False)
    page = context.new_page()
    address = server.url + ask(made["client_id"], scope="index:orders-*:read")
    page.goto(address)
    give_password(page, "ann", PEOPLE["ann"])
    page.check("input[name=remember]")
    submit(page, "button[value=allow]")
    assert page.url.startswith("http://app.example/cb?code="), page.url
    # The session is over, the consent is remembered: the sign-in itself leads to the client.
    context.clear_cookies(name="__Host-sid")
    page.goto(address)
    give_password(page, "ann", PEOPLE["ann"])
    assert page.url.startswith("http://app.example/cb?code="), page.url
    context.close()
    try:
        number = port(ApplicationV6, "::1")
    except OSError:
        print("SKIP: there is no IPv6 here")
        return
    made = client(server, redirect_uris=["http://[::1]/cb"], application_type="native")
    page = browser.new_context(ignore_https_errors=True, java_script_enabled=False).new_page()
    page.goto(server.url + ask(made["client_id"], scope="index:orders-*:read", redirect_uri=f"http://[::1]:{number}/cb"))
    give_password(page, "ann", PEOPLE["ann"])
    submit(page, "button[value=allow]")
    assert page.url.startswith(f"http://[::1]:{number}/cb?code="), page.url


SHAPES = [
    ("en", "light", 1200), ("en", "dark", 1200), ("en", "light", 320), ("en", "dark", 320),
    ("de", "dark", 1200), ("de", "light", 320),
]


def look(browser, pages, pictures, axe):
    """Every page in each of these shapes; answers what is wrong."""
    wrong = []
    for number, (context, address) in enumerate(pages):
        for language, scheme, width in SHAPES:
            seen = browser.new_context(
                ignore_https_errors=True, bypass_csp=True, color_scheme=scheme, locale=language,
                viewport={"width": width, "height": 800}, storage_state=context.storage_state())
            page = seen.new_page()
            page.goto(address)
            name = f"{number:02d}-{language}-{scheme}-{width}"
            spoken = page.get_attribute("html", "lang")
            if spoken != language:
                wrong.append(f"{name} {address}: it is in {spoken}")
            if pictures:
                page.screenshot(path=str(pictures / f"{name}.png"), full_page=True)
            over = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
            if over > 0:
                wrong.append(f"{name} {address}: {over} pixels wider than the window")
            if axe:
                page.add_script_tag(path=str(axe))
                found = page.evaluate("axe.run()")["violations"]
                wrong += [f"{name} {address}: {one['id']} ({one['impact']}): {one['nodes'][0]['html'][:120]}"
                          for one in found if one["impact"] in ("serious", "critical")]
            seen.close()
    return wrong


def main():
    if not CHROMIUM:
        print("SKIP: Chromium is not installed")
        print("0 passed, 0 failed, 1 skipped")
        return 0
    pictures = Path(sys.argv[2]) if sys.argv[1:2] == ["--pictures"] else None
    if pictures:
        pictures.mkdir(parents=True, exist_ok=True)
    folder = Path(os.environ.get("CONFORM_NPM") or ROOT / "target" / "conform-npm")
    axe = folder / "node_modules" / "axe-core" / "axe.min.js"
    with tempfile.TemporaryDirectory() as profile, Server(args=["-E", "oauth.limit.login=1000"]) as server, sync_playwright() as play:
        prepare(server)
        browser = play.chromium.launch(executable_path=CHROMIUM, args=[
            "--no-sandbox", f"--crash-dumps-dir={profile}", f"--host-resolver-rules=MAP app.example 127.0.0.1:{port()}"])
        pages = walk(browser, server)
        print("ok   the flow, scripts off, by keyboard")
        led_on(browser, server)
        print("ok   forms that end at the client lead there")
        wrong = look(browser, pages, pictures, axe if axe.exists() else None)
        browser.close()
    for line in wrong:
        print(f"FAIL {line}")
    words = "" if axe.exists() else " (axe-core is not there: contrast and names were not judged)"
    if not wrong:
        print(f"ok   {len(pages)} pages in {len(SHAPES)} shapes{words}")
    print(f"{2 + (not wrong)} passed, {int(bool(wrong))} failed")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
