"""Writes docs/api/conformance.md out of what tools/conform/run left behind.

    table.py FOLDER FILE

Every suite's log ends in a line of counts; the table holds those lines, by suite and tier, and the
commit and date of the run. Nothing else is judged here.
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
aggregations, queries, templates, analysis; tier 3 the rest. What a tier's tests ask of features that are
[not there yet](endpoints.md) fails; nothing is hidden.

"""


def main():
    folder, target = Path(sys.argv[1]), Path(sys.argv[2])
    rows = []
    for log in sorted(folder.glob("*.log")):
        lines = [line for line in log.read_text(errors="replace").splitlines() if line.strip()]
        last = lines[-1].strip() if lines else "no answer"
        counts = re.search(r"(\d+) passed, (\d+) failed(?:, (\d+) skipped)?", last)
        if counts:
            passed, failed, skipped = (int(part or 0) for part in counts.groups())
            share = 100 * passed / max(passed + failed, 1)
            rows.append(f"| {log.stem} | {passed} | {failed} | {skipped} | {share:.1f} % |")
        else:
            rows.append(f"| {log.stem} | | | | {last} |")
    commit = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=False
    ).stdout.strip()
    text = HEAD + f"Run on {date.today()}, commit {commit or 'unknown'}.\n\n"
    text += "| suite | passed | failed | skipped | of those run |\n|---|---:|---:|---:|---:|\n"
    target.write_text(text + "\n".join(rows) + "\n")


if __name__ == "__main__":
    main()
