"""Writes docs/api/conformance.md out of what tools/conform/run left behind.

    table.py FOLDER FILE

Every suite's log ends in a line of counts; the table holds those lines, by suite and tier, those of the
recorded answers also by group, and the commit and date of the run. Nothing else is judged here.
"""

import re
import subprocess
import sys
from datetime import date
from pathlib import Path

HEAD = """# What the peers' tests say

Made by `tools/conform/run --table` (see [TESTING.md](../TESTING.md)); do not edit. The suites lie in a kit
outside this repository: the REST tests of OpenSearch, those that Elasticsearch's clients share, those of
Elasticsearch 6's modules, answers recorded from a peer (`golden`), and judged corpora whose ranks and scores
are Lucene's (`relevance`). Tier 1 is documents, indices, mappings, basic search, `_cat` and the cluster; tier 2
aggregations, queries, templates, analysis; tier 3 the rest. Each test that failed stands below with the first
thing that it met and did not want; what it lacks is not judged here. What is not there stands in
[endpoints.md](endpoints.md), what is otherwise in [differences.md](differences.md). Two of the tests on security keep a
value and name it later where the kit's runner does not put it in (inside a body that is a text: `60_api_key_update`; in a
member of a kept object: `50_user_profile`): asked by hand with the value in its place, both are answered as they want.

"""

#: So much is told of what a test met.
TOLD_MAX = 200


def failures(log):
    """Failed tests of one log, each with the first thing that it met."""
    lines = log.read_text(errors="replace").splitlines()
    for at, line in enumerate(lines):
        if line.startswith("FAIL "):
            # Between a name and what follows it may stand how far the run has come.
            behind = (more for more in lines[at + 1 :] if not re.match(r"\[\d+/\d+\]$", more.strip()))
            after = next(behind, "")
            yield line[5:].strip(), met(after.strip()) if after.startswith(" ") else ""


def met(text):
    """One line of a log: of an error that was answered, its reason."""
    head, brace, answer = text.partition('{"error":')
    if brace and (reason := re.search(r'"(?:reason|error)":"((?:[^"\\\\]|\\\\.)*)', brace + answer)):
        text = head + reason[1].replace('\\"', '"')
    text = text if len(text) <= TOLD_MAX else text[:TOLD_MAX] + "…"
    return text.replace("`", "'")


def groups(log):
    """Counts of the groups of one log's cases, as rows: those of the recorded answers, by what they are about."""
    counted = re.compile(r"(\w+) +(\d+) passed +(\d+) failed")
    for line in log.read_text(errors="replace").splitlines():
        if counts := counted.fullmatch(line.strip()):
            name, passed, failed = counts[1], int(counts[2]), int(counts[3])
            yield row(f"{log.stem}, {name}", passed, failed, 0)


def row(name, passed, failed, skipped):
    share = 100 * passed / max(passed + failed, 1)
    return f"| {name} | {passed} | {failed} | {skipped} | {share:.1f} % |"


def commit(folder):
    """That of the server that was asked, as it said when it began; else of this folder."""
    for log in sorted(folder.glob("*.server")):
        if said := re.search(r"\(commit ([0-9a-f]{8})", log.read_text(errors="replace")):
            return said[1]
    here = ["git", "rev-parse", "--short", "HEAD"]
    return subprocess.run(here, capture_output=True, text=True, check=False).stdout.strip()


def main():
    folder, target = Path(sys.argv[1]), Path(sys.argv[2])
    rows = []
    for log in sorted(folder.glob("*.log")):
        lines = [line for line in log.read_text(errors="replace").splitlines() if line.strip()]
        last = lines[-1].strip() if lines else "no answer"
        counts = re.search(r"(\d+) passed, (\d+) failed(?:, (\d+) skipped)?", last)
        if counts:
            passed, failed, skipped = (int(part or 0) for part in counts.groups())
            rows.append(row(log.stem, passed, failed, skipped))
            rows.extend(sorted(groups(log)))
        else:
            rows.append(f"| {log.stem} | | | | {last} |")
    text = HEAD + f"Run on {date.today()}, commit {commit(folder) or 'unknown'}.\n\n"
    text += "| suite | passed | failed | skipped | of those run |\n|---|---:|---:|---:|---:|\n"
    text += "\n".join(rows) + "\n\n## What fails\n\n"
    failed = 0
    for log in sorted(folder.glob("*.log")):
        for name, told in failures(log):
            failed += 1
            text += f"- {log.stem}: {name}" + (f": `{told}`\n" if told else "\n")
    text += "" if failed else "Nothing.\n"
    target.write_text(text)


if __name__ == "__main__":
    main()
