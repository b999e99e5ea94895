"""Bad requests, and what Elasticsearch 8 answers: `python3 tools/conform/errors.py [--url URL] [--only CHAPTER] [--secure]`.

The table is `error_cases.py`. Each case runs on the same few small indices, which no case changes; it needs the program
alone. Every answer but the transport's own must be in Elasticsearch's form: `root_cause` below `error`, the same status
in the body as on the wire, `X-elastic-product` among the headers.
"""

import argparse
import base64
import http.client
import json
import sys
import urllib.parse

from error_cases import CHAPTERS, PREPARE
from server import PASSWORD, Server


class Door:
    """Sends requests, one connection each: a bad one may cost its connection."""

    def __init__(self, url, context=None, secure=False):
        self.at = urllib.parse.urlsplit(url)
        self.context = context
        self.headers = {}
        if secure:
            self.headers["Authorization"] = "Basic " + base64.b64encode(f"elastic:{PASSWORD}".encode()).decode()

    def request(self, method, path, body):
        """Status, headers and text of an answer. Behind ` TYPE ` in the path stands the content type (`-`: none)."""
        headers = dict(self.headers)
        path, _, kind = path.partition(" TYPE ")
        data = None
        if body is not None:
            data = body.encode() if isinstance(body, str) else json.dumps(body, separators=(",", ":")).encode()
            headers["Content-Type"] = "application/x-ndjson" if path.startswith(("/_bulk", "/_msearch")) else "application/json"
        if kind == "-":
            del headers["Content-Type"]
        elif kind:
            headers["Content-Type"] = kind
            # Else the answer is of that kind, too.
            headers["Accept"] = "application/json"
        if self.at.scheme == "https":
            link = http.client.HTTPSConnection(self.at.netloc, timeout=30, context=self.context)
        else:
            link = http.client.HTTPConnection(self.at.netloc, timeout=30)
        try:
            link.request(method, path, body=data, headers=headers)
            answer = link.getresponse()
            return answer.status, answer.headers, answer.read().decode()
        finally:
            link.close()


def innermost(error):
    """The last cause of an error."""
    failed = error.get("failed_shards")
    if failed:
        error = failed[0]["reason"]
    while error.get("caused_by"):
        error = error["caused_by"]
    return error


def item_error(answer):
    """The error of the first item that has one."""
    for item in answer.get("items") or answer.get("responses") or answer.get("docs"):
        if "error" not in item:
            item = next(iter(item.values()))
        if isinstance(item, dict) and "error" in item:
            return item["error"]
    raise ValueError("no item failed")


def judge(case, status, headers, text):
    """What is wrong with an answer; nothing where it is right."""
    _, _, _, wanted_status, kind, reason = case[:6]
    cause = case[6] if len(case) > 6 else None
    if status != wanted_status:
        return f"status {status}, expected {wanted_status}: {text[:400]}"
    if kind == "EMPTY":
        return text or None
    if headers.get("X-elastic-product") != "Elasticsearch" and "too_long" not in (kind or ""):
        return "no X-elastic-product"
    if kind == "BODY":
        return None if reason in text else text[:400]
    answer = json.loads(text)
    if kind is None:
        error = answer["error"]
        return None if isinstance(error, str) and error.startswith(reason) else f"{error!r}"
    where, _, kind = kind.rpartition(" ")
    error = item_error(answer) if where == "ITEM" else answer["error"]
    if where != "ITEM" and (answer.get("status") != status or not error.get("root_cause")):
        return f"not in Elasticsearch's form: {text[:300]}"
    if where == "SPEE":
        if error["type"] != "search_phase_execution_exception" or error["reason"] != "all shards failed":
            return f"{error['type']}: {error['reason']}"
        error = (error.get("failed_shards") or [{"reason": error["root_cause"][0]}])[0]["reason"]
    if where == "INNER":
        error = innermost(error)
    if error["type"] != kind or not (error["reason"] or "").startswith(reason):
        return f"{error['type']}: {error['reason'][:400]}"
    if cause is None:
        return None
    name, wanted = cause
    if "." in name:
        return None if error.get(name) == wanted else f"{name} is {error.get(name)}"
    found = error.get("caused_by") or {}
    if found.get("type") != name or not found.get("reason", "").startswith(wanted):
        return f"caused by {found.get('type')}: {str(found.get('reason'))[:300]}"
    return None


def run(door, only):
    """Runs the table; how many failed."""
    for method, path, body in PREPARE:
        status, _, text = door.request(method, path, body)
        assert status in (200, 201), f"{method} {path}: {status} {text}"
    passed, failed, later = 0, 0, 0
    for chapter, cases in CHAPTERS.items():
        if only and only not in chapter:
            continue
        for case in cases:
            kinds = [part for part in case if isinstance(part, str) and part.startswith("LATER ")]
            if kinds:
                later += 1
                print(f"SKIP {chapter}: {case[0]} {case[1]} {json.dumps(case[2])[:120]}: needs {kinds[0][6:]}")
                continue
            try:
                wrong = judge(case, *door.request(*case[:3]))
            except (OSError, ValueError, KeyError, TypeError, http.client.HTTPException) as error:
                wrong = repr(error)
            if wrong:
                failed += 1
                print(f"FAIL {chapter}: {case[0]} {case[1][:90]} {json.dumps(case[2])[:200]}\n     wanted {case[3:]}"[:700])
                print(f"     {wrong}")
            else:
                passed += 1
    print(f"{passed} passed, {failed} failed, {later} skipped")
    return failed


def main():
    """Runs the table on a server of its own, or on the one at `--url`."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--url", help="a server without security, whose indices may be written over")
    parser.add_argument("--only", help="one chapter, by a part of its name")
    parser.add_argument("--secure", action="store_true", help="over HTTPS, with a password")
    asked = parser.parse_args()
    if asked.url:
        return 1 if run(Door(asked.url), asked.only) else 0
    with Server(secure=asked.secure) as server:
        door = Door(server.url, server.context(), asked.secure)
        return 1 if run(door, asked.only) else 0


if __name__ == "__main__":
    sys.exit(main())
