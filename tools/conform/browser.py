"""A browser without a window, for the pages of the authorization server: cookies, forms, no scripts.

    visitor = Browser(server)
    visitor.login("ann", PASSWORD)
    page = visitor.get("/account/apps")
    visitor.submit(page, "/account/apps", action="revoke", grant="7")

Redirects are not followed: a test says where it wants to be led. Nothing here imports anything
beyond the standard library.
"""

import html
import http.client
import re
import urllib.parse
from collections import namedtuple

from server import note, SECRET_NAMES

Page = namedtuple("Page", "status headers text path")


class Browser:
    """One browser: its cookies, and where it is."""

    def __init__(self, server):
        self.server = server
        # Behind a proxy that ends TLS the pages have another origin than the address.
        self.origin = getattr(server, "origin", server.url)
        self.cookies = {}

    def request(self, method, path, body=None, kind=None, headers=()):
        """One request, cookies kept; answers a page."""
        split = urllib.parse.urlsplit(self.server.url)
        if split.scheme == "https":
            connection = http.client.HTTPSConnection(split.hostname, split.port, context=self.server.context(), timeout=30)
        else:
            connection = http.client.HTTPConnection(split.hostname, split.port, timeout=30)
        sent = {"User-Agent": "conform"}
        if self.cookies:
            sent["Cookie"] = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
        if kind:
            sent["Content-Type"] = kind
        sent.update(headers)
        try:
            connection.request(method, path, body, sent)
            answer = connection.getresponse()
            text = answer.read().decode("utf-8", "replace")
            for line in answer.headers.get_all("Set-Cookie") or []:
                name, value = line.split(";")[0].split("=", 1)
                assert "Secure" in line and "HttpOnly" in line and "SameSite=Lax" in line, line
                if "Max-Age=0" in line:
                    self.cookies.pop(name, None)
                else:
                    self.cookies[name] = value
                    note(value)
            note(query(answer.headers.get("Location") or "").get("code"))
            return Page(answer.status, answer.headers, text, path)
        finally:
            connection.close()

    def get(self, path):
        return self.request("GET", path)

    def post(self, path, fields, headers=None):
        """A form, as a page of this origin would send it."""
        headers = {"Origin": self.origin} if headers is None else headers
        for name, value in fields:
            note(value) if name in SECRET_NAMES else None
        body = urllib.parse.urlencode(fields)
        return self.request("POST", path, body, "application/x-www-form-urlencoded", headers)

    def upload(self, path, fields, files=()):
        """A multipart form; `files` are (field, name, bytes)."""
        mark = "conformance"
        parts = []
        for name, value in fields:
            parts.append(f'--{mark}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'.encode())
        for field, name, content in files:
            head = f'--{mark}\r\nContent-Disposition: form-data; name="{field}"; filename="{name}"\r\n\r\n'
            parts.append(head.encode() + content + b"\r\n")
        body = b"".join(parts) + f"--{mark}--\r\n".encode()
        return self.request("POST", path, body, f"multipart/form-data; boundary={mark}", {"Origin": self.origin})

    def login(self, user, password, request=""):
        """Signs in; answers the page of the POST."""
        page = self.get("/login" + (f"?request={request}" if request else ""))
        return self.submit(page, "/login", username=user, password=password)

    def submit(self, page, to, /, **fields):
        """Sends the first form of a page that posts to `to`, its hidden fields included."""
        return self.post(to, hidden(page, to) + pairs(fields))


def pairs(fields):
    """Fields as pairs; a list gives several."""
    out = []
    for name, value in fields.items():
        out += [(name, one) for one in value] if isinstance(value, list) else [(name, value)]
    return out


def hidden(page, action):
    """Hidden fields of the first form of a page that posts to `action`."""
    for form in re.findall(r"<form.*?</form>", page.text, re.S):
        if f'action="{html.escape(action)}"' in form:
            found = re.findall(r'<input type="hidden" name="([^"]*)" value="([^"]*)"', form)
            return [(html.unescape(name), html.unescape(value)) for name, value in found]
    raise AssertionError(f"no form for {action} in {page.status} {page.text}")


def query(location):
    """Parameters of an address."""
    return dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(location).query, keep_blank_values=True))


def code_element(page, name):
    """Text of `<code class="name">`."""
    found = re.search(rf'<code class="{name}">([^<]*)</code>', page.text)
    return html.unescape(found.group(1)) if found else None
