"""Other clients, each with a short real story: `python3 tools/conform/clients.py [NAME…]`.

The JavaScript client 8, the Go client 8, the Python client 9, elasticdump, curator. Each is installed below
`target/conform-clients` by its own package manager; where that or the registry is missing, the story
says SKIP and why. Status 1 where a story failed.
"""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

from server import PASSWORD, ROOT, Server

STORIES = ROOT / "tools" / "conform" / "clients"
HOME = ROOT / "target" / "conform-clients"


class Skip(Exception):
    """The story cannot be told here."""


def call(command, folder, timeout=300, environment=None):
    """Runs a command; its output, or an error with its last lines."""
    done = subprocess.run(
        [str(part) for part in command], cwd=folder, timeout=timeout, text=True, check=False,
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        env={**os.environ, **(environment or {})},
    )
    if done.returncode != 0:
        raise RuntimeError(f"{Path(str(command[0])).name}: {done.stdout[-1500:]}")
    return done.stdout


def install(command, folder, environment=None):
    """As `call`; what fails here is the registry's business."""
    try:
        call(command, folder, environment=environment)
    except (RuntimeError, subprocess.TimeoutExpired) as error:
        raise Skip(f"cannot be installed here: {str(error).strip().splitlines()[-1][:160]}") from error


def need(program):
    """The program's path."""
    found = shutil.which(program)
    if not found:
        raise Skip(f"{program} is not here")
    return found


def folder_of(name):
    """A folder to install in."""
    folder = HOME / name
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def javascript(server):
    node, npm, folder = need("node"), need("npm"), folder_of("javascript")
    (folder / "package.json").write_text('{"name":"story","private":true,"type":"module"}')
    if not (folder / "node_modules" / "@elastic" / "elasticsearch").exists():
        install([npm, "install", "--no-audit", "--no-fund", "@elastic/elasticsearch@8"], folder)
    shutil.copy(STORIES / "story.mjs", folder)
    call([node, "story.mjs", server.url, PASSWORD, server.ca], folder)


def golang(server):
    go, folder = need("go"), folder_of("go")
    shutil.copy(STORIES / "story.go", folder)
    if not (folder / "go.sum").exists():
        (folder / "go.mod").unlink(missing_ok=True)
        install([go, "mod", "init", "story"], folder)
        install([go, "get", "github.com/elastic/go-elasticsearch/v8@v8.19.0"], folder)
    # What is missing is fetched first, so that a story that does not compile fails.
    install([go, "mod", "tidy"], folder)
    # Minutes, where nothing is compiled yet and others have the processors.
    call([go, "build", "-o", "story", "story.go"], folder, timeout=900)
    call([folder / "story", server.url, PASSWORD, server.ca], folder)


def venv(folder, *packages):
    """A Python with these packages."""
    python = folder / "bin" / "python"
    # One that was ended amid its making has no pip.
    if not python.exists() or subprocess.run([python, "-m", "pip", "--version"], capture_output=True).returncode:
        install([sys.executable, "-m", "venv", "--clear", str(folder)], folder)
    install([python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *packages], folder)
    return python


def python9(server):
    python = venv(folder_of("python9"), "elasticsearch[async]==9.*")
    call([python, STORIES / "python9.py", server.url, PASSWORD, server.ca], HOME)


def elasticdump(server):
    """Settings, mapping, aliases and documents out of one index, into files, into another; the two are the same."""
    npm, folder = need("npm"), folder_of("elasticdump")
    program = folder / "node_modules" / ".bin" / "elasticdump"
    (folder / "package.json").write_text('{"name":"story","private":true}')
    if not program.exists():
        install([npm, "install", "--no-audit", "--no-fund", "elasticdump@6"], folder)
    lines = "".join(f'{{"index":{{"_id":"{n}"}}}}\n{{"n":{n},"word":"w{n % 3}","text":"Über {n}"}}\n' for n in range(300))
    shape = {
        "settings": {"number_of_replicas": 0, "analysis": {"analyzer": {"plain": {"tokenizer": "whitespace", "filter": ["lowercase"]}}}},
        "mappings": {"properties": {"text": {"type": "text", "analyzer": "plain"}, "n": {"type": "long"}, "word": {"type": "keyword"}}},
        "aliases": {"dumped": {"filter": {"term": {"word": "w1"}}}},
    }
    assert server.request("PUT", "/dump-source", shape)[0] == 200
    assert server.request("POST", "/dump-source/_bulk?refresh=true", lines)[0] == 200
    scheme, rest = server.url.split("://")
    url = f"{scheme}://elastic:{PASSWORD}@{rest}"
    environment = {"NODE_EXTRA_CA_CERTS": str(server.ca), "NODE_TLS_REJECT_UNAUTHORIZED": "0"}
    for kind in ("settings", "mapping", "data", "alias"):
        file = folder / f"{kind}.json"
        file.unlink(missing_ok=True)
        call([program, f"--input={url}/dump-source", f"--output={file}", f"--type={kind}"], folder, environment=environment)
        if kind == "alias":
            # It gives aliases to the index that the file names, whatever the output says.
            file.write_text(file.read_text().replace("dump-source", "dump-target"))
        call([program, f"--input={file}", f"--output={url}/dump-target", f"--type={kind}"], folder, environment=environment)
    assert server.request("POST", "/dump-target/_refresh")[0] == 200

    def all_of(index):
        query = {"size": 1000, "sort": ["n"], "query": {"match_all": {}}}
        hits = server.request("POST", f"/{index}/_search", query)[2]["hits"]["hits"]
        return [(hit["_id"], hit["_source"]) for hit in hits]

    assert len(all_of("dump-source")) == 300
    assert all_of("dump-target") == all_of("dump-source")
    mappings = [server.request("GET", f"/{name}/_mapping")[2][name] for name in ("dump-source", "dump-target")]
    assert mappings[0] == mappings[1], mappings
    aliases = [server.request("GET", f"/{name}/_alias")[2][name] for name in ("dump-source", "dump-target")]
    assert aliases[0] == {"aliases": shape["aliases"]}, aliases
    assert aliases[0] == aliases[1], aliases

    def settings(index):
        told = server.request("GET", f"/{index}/_settings?flat_settings")[2][index]["settings"]
        own = ("index.uuid", "index.creation_date", "index.provided_name")
        return {name: value for name, value in told.items() if name not in own}

    assert settings("dump-source")["index.analysis.analyzer.plain.filter"] == ["lowercase"], settings("dump-source")
    assert settings("dump-target") == settings("dump-source"), (settings("dump-target"), settings("dump-source"))


def curator(server):
    """Deletes what is old by name, keeps the rest; then a week's upkeep of an index that rolls over."""
    folder = folder_of("curator")
    venv(folder, "elasticsearch-curator==8.*")
    for name in ("logs-2020.01.01", "logs-2020.01.02", "kept"):
        assert server.request("PUT", f"/{name}", {})[0] == 200
    config = {"elasticsearch": {
        "client": {"hosts": [server.url], "ca_certs": str(server.ca)},
        "other_settings": {"username": "elastic", "password": PASSWORD},
    }}
    (folder / "config.yml").write_text(json.dumps(config))

    def act(*steps):
        # JSON is YAML.
        actions = {at: {"action": action, "options": options, **where} for at, (action, options, where) in enumerate(steps, 1)}
        (folder / "actions.yml").write_text(json.dumps({"actions": actions}))
        call([folder / "bin" / "curator", "--config", folder / "config.yml", folder / "actions.yml"], folder)

    def named(prefix):
        return {"filtertype": "pattern", "kind": "prefix", "value": prefix}

    age = {"filtertype": "age", "source": "name", "direction": "older", "timestring": "%Y.%m.%d", "unit": "days", "unit_count": 30}
    act(("delete_indices", {"ignore_empty_list": False}, {"filters": [named("logs-"), age]}))
    left = [row["index"] for row in server.request("GET", "/_cat/indices/logs-*,kept?format=json&h=index")[2]]
    assert left == ["kept"], left

    assert server.request("PUT", "/events-000001", {"aliases": {"events": {"is_write_index": True}}})[0] == 200
    lines = "".join('{"index":{}}\n{"n":%d}\n' % n for n in range(50))
    for _ in range(3):
        assert server.request("POST", "/events/_bulk?refresh=true", lines)[0] == 200
    first = {"filters": [named("events-000001")]}
    act(
        ("rollover", {"name": "events", "conditions": {"max_docs": 10}}, {}),
        ("replicas", {"count": 0}, first),
        ("forcemerge", {"max_num_segments": 1, "ignore_empty_list": True}, first),
        ("index_settings", {"index_settings": {"index": {"blocks": {"write": True}}}}, first),
        ("alias", {"name": "archive"}, {"add": first}),
        ("create_index", {"name": "made", "extra_settings": {"settings": {"number_of_replicas": 0}}}, {}),
        ("close", {}, {"filters": [named("made")]}),
    )
    aliases = server.request("GET", "/_alias/events,archive")[2]
    assert sorted(aliases) == ["events-000001", "events-000002"], aliases
    assert "archive" in aliases["events-000001"]["aliases"], aliases
    settings = server.request("GET", "/events-000001/_settings")[2]["events-000001"]["settings"]["index"]
    assert (settings["number_of_replicas"], settings["blocks"]["write"]) == ("0", "true"), settings
    segments = server.request("GET", "/_cat/segments/events-000001?format=json&h=segment")[2]
    assert len(segments) == 1, segments
    rows = {row["index"]: row["status"] for row in server.request("GET", "/_cat/indices/made,events-*?format=json&h=index,status")[2]}
    assert rows == {"made": "close", "events-000001": "open", "events-000002": "open"}, rows


ALL = {"javascript": javascript, "go": golang, "python9": python9, "elasticdump": elasticdump, "curator": curator}


def main():
    passed = failed = skipped = 0
    for name in sys.argv[1:] or ALL:
        try:
            with Server() as server:
                ALL[name](server)
            passed += 1
            print(f"ok   {name}", flush=True)
        except Skip as reason:
            skipped += 1
            print(f"SKIP {name}: {reason}", flush=True)
        except Exception as error:  # every failure of a story is told, and the next one begins
            failed += 1
            print(f"FAIL {name}: {type(error).__name__}: {error}", flush=True)
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
