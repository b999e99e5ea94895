"""One throw-away Corelode process for the tests that speak only HTTP.

    with Server() as server:
        server.request("GET", "/")

The program is found at CORELODE_BIN, else target/release/corelode. Each server has a data folder
of its own below a temporary folder, binds free ports of the loopback address, and is told its
password. Nothing here imports anything beyond the standard library.
"""

import base64
import hashlib
import json
import os
import shutil
import signal
import socket
import ssl
import subprocess
import tempfile
import time
import urllib.error
import urllib.request
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PASSWORD = "correct-horse-battery"

# Everything that was made in this process and nobody else may know: what servers wrote is searched for it.
SECRETS = {PASSWORD}

# Members of bodies, and fields of forms, that are secrets.
SECRET_NAMES = {
    "access_token", "refresh_token", "registration_access_token", "client_secret", "secret", "device_code", "code", "code_verifier",
    "request_uri", "api_key", "encoded", "password", "csrf_token", "new_password", "old_password",
}


def note(value):
    """Notes a secret. Short ones are no secrets: they would be found anywhere."""
    if isinstance(value, str) and len(value) >= 12:
        SECRETS.add(value)


def note_all(body):
    """Notes the secrets of a body or an answer."""
    if isinstance(body, dict):
        for name, value in body.items():
            note(value) if name in SECRET_NAMES else note_all(value)
    elif isinstance(body, list):
        for value in body:
            note_all(value)


def binary():
    """The program under test."""
    return os.environ.get("CORELODE_BIN") or str(ROOT / "target" / "release" / "corelode")


class Server:
    """A running node; `secure=False` turns security off (plain HTTP)."""

    def __init__(self, secure=True, data=None, args=(), cores=None, log=None, files=None):
        self.secure = secure
        self.folder = Path(tempfile.mkdtemp(prefix="corelode-test-"))
        self.data = Path(data) if data else self.folder / "data"
        self.ready_file = self.folder / "ready.json"
        self.args = list(args)
        self.cores = cores
        # Descriptors that it may have; the caller's bound where none is named.
        self.files = files
        self.log = Path(log) if log else self.folder / "server.log"
        self.process = None
        self.ready = None
        self.http = "127.0.0.1:0"

    def start(self, timeout=60):
        """Starts the process and waits for its ready file."""
        command = [
            binary(), "serve", "--data", str(self.data), "--http", self.http,
            "--transport", "127.0.0.1:0", "--ready-file", str(self.ready_file),
        ]
        if self.cores:
            command += ["--cores", str(self.cores)]
        if not self.secure:
            command += ["-E", "xpack.security.enabled=false"]
        command += self.args
        if self.ready_file.exists():
            self.ready_file.unlink()
        environment = dict(os.environ, ELASTIC_PASSWORD=PASSWORD)
        if self.files:
            command = ["prlimit", f"--nofile={self.files}:{self.files}", *command]
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=environment
            )
        deadline = time.monotonic() + timeout
        while not self.ready_file.exists():
            if self.process.poll() is not None:
                raise RuntimeError(
                    f"the server ended with {self.process.returncode}:\n{self.tail()}"
                )
            if time.monotonic() > deadline:
                raise RuntimeError(f"no ready file after {timeout} s:\n{self.tail()}")
            time.sleep(0.01)
        self.ready = json.loads(self.ready_file.read_text())
        self.url = self.ready["http"]
        # A restart comes back to the same address, so clients need not be told.
        self.http = self.url.split("//", 1)[1]
        return self

    def tail(self, lines=30):
        """The last lines of the server's log."""
        if not self.log.exists():
            return ""
        return "\n".join(self.log.read_text(errors="replace").splitlines()[-lines:])

    @property
    def ca(self):
        return self.ready.get("ca")

    def fingerprint(self, name="http_ca.crt"):
        """SHA-256 of the HTTP CA (or the first certificate of another file) in hexadecimal."""
        pem = Path(self.ca).with_name(name).read_text()
        pem = pem[: pem.index("-----END CERTIFICATE-----")] + "-----END CERTIFICATE-----\n"
        return hashlib.sha256(ssl.PEM_cert_to_DER_cert(pem)).hexdigest()

    def context(self):
        """A TLS context that trusts this server's CA only."""
        return ssl.create_default_context(cafile=self.ca) if self.secure else None

    def request(self, method, path, body=None, headers=None, auth=True, timeout=60):
        """One request; answers (status, headers, body as JSON where it is JSON)."""
        headers = dict(headers or {})
        data = None
        if body is not None:
            if isinstance(body, (dict, list)):
                data = json.dumps(body).encode()
                headers.setdefault("Content-Type", "application/json")
            else:
                data = body.encode() if isinstance(body, str) else body
                headers.setdefault("Content-Type", "application/x-ndjson")
        if self.secure and auth:
            token = base64.b64encode(f"elastic:{PASSWORD}".encode()).decode()
            headers.setdefault("Authorization", f"Basic {token}")
        request = urllib.request.Request(self.url + path, data=data, headers=headers, method=method)
        if isinstance(body, dict):
            note_all(body)
        try:
            with urllib.request.urlopen(request, timeout=timeout, context=self.context()) as answer:
                found = decode(answer.headers, answer.read())
                if path.startswith(("/_security", "/_oauth", "/token", "/par", "/device_authorization", "/register")):
                    note_all(found)
                return answer.status, answer.headers, found
        except urllib.error.HTTPError as error:
            return error.code, error.headers, decode(error.headers, error.read())

    def search(self, everything=False):
        """Searches what the server wrote for what nobody may know: its output and logs, or all of its folder."""
        folder = self.data if everything else self.data / "logs"
        paths = [self.log] + [path for path in folder.glob("**/*") if path.is_file()]
        for path in paths:
            written = path.read_bytes() if path.exists() else b""
            found = [text for text in SECRETS if text.encode() in written]
            assert not found, f"{len(found)} secrets stand in {path.name}: {found[0][:12]}…"

    def raw(self, text, timeout=10):
        """Bytes as they are, over TLS where it is on; answers what comes until the other side is silent."""
        host, port = self.url.split("//", 1)[1].rsplit(":", 1)
        with socket.create_connection((host.strip("[]"), int(port)), timeout=timeout) as plain:
            context = self.context()
            with context.wrap_socket(plain, server_hostname=host.strip("[]")) if context else plain as stream:
                stream.sendall(text.encode() if isinstance(text, str) else text)
                stream.settimeout(2)
                answer = b""
                try:
                    while part := stream.recv(65536):
                        answer += part
                except (TimeoutError, ConnectionError, ssl.SSLError):
                    pass
                return answer

    def kill(self):
        """kill -9, as a power switch would for the process."""
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def stop(self, timeout=30):
        """SIGTERM; answers the exit code."""
        if self.process and self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(timeout)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
                raise RuntimeError(f"did not stop within {timeout} s:\n{self.tail()}")
        return self.process.returncode if self.process else None

    def __enter__(self):
        return self.start()

    def __exit__(self, *failure):
        try:
            if self.process and self.process.poll() is None:
                self.process.kill()
                self.process.wait()
            if not (failure and failure[0]):
                self.search()
        finally:
            if failure and failure[0]:
                print(f"--- server log ---\n{self.tail()}")
            shutil.rmtree(self.folder, ignore_errors=True)


def decode(headers, raw):
    """JSON as JSON, everything else as text."""
    if "json" in (headers.get("content-type") or "") and raw:
        return json.loads(raw)
    return raw.decode(errors="replace")
