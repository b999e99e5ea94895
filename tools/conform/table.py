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
aggregations, queries, templates, analysis; tier 3 the rest. What a tier's tests ask of features that are
[not there yet](endpoints.md) fails; each failure is named below, with the feature it asks for.

"""

#: What a failed test asks for, by words of its name or of its answer; the first that fits counts.
REASONS = [
    ("scripts", r"conditional|predicate|options in lines|script|painless|lang_mustache|_render|search.template|msearch_template|/template|context="),
    ("ingest pipelines", r"ingest|pipeline|grok|geoip|ip_location"),
    ("snapshots", r"snapshot|repositor"),
    ("joins (`has_child`, `parent_id`)", r"family/aggs|has_child|has_parent|parent_id|\\bjoin\\b"),
    ("`geo_shape`", r"geo_shape|geoshape"),
    ("vectors", r"knn|dense_vector"),
    ("lifecycles, downsampling, time series", r"lifecycle|downsample|time_series|_ilm"),
    ("searches that go on in the background", r"async_search"),
    ("map tiles", r"_mvt|searchmvt"),
    ("profiles of users", r"user_profile|profile"),
    ("parameters that OpenSearch alone gives to `match_only_text`", r"match_only_text"),
    ("indices that are sorted (`index.sort.*`)", r"index.sort|from sorted"),
    ("templates that are there from the start, which [are not](differences.md)", r"cat.component_templates"),
    ("`_terms_enum`", r"terms_enum"),
    ("a placeholder in a text, which the runner sends as it stands", r"api_key_update"),
    ("the request cache, which [is not there](no-effect.md)", r"request_cache"),
    ("merging of results in steps, which [is not told](differences.md)", r"num_reduce_phases"),
    ("shards passed over beforehand, which [are not told](differences.md)", r"_shards.skipped"),
    ("medians of `unsigned_long` that OpenSearch reckons with overflow", r"sort_unsigned_long"),
]


def failures(log):
    """Failed tests of one log, each with what it asks for."""
    found = []
    lines = log.read_text(errors="replace").splitlines()
    for at, line in enumerate(lines):
        if not line.startswith("FAIL "):
            continue
        name = line[5:].strip()
        told = [name]
        for more in lines[at + 1 : at + 4]:
            if more.startswith("FAIL "):
                break
            told.append(more)
        text = " ".join(told)
        fits = (reason for reason, words in REASONS if re.search(words, text, re.IGNORECASE))
        found.append((name, next(fits, None)))
    return found


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
    asked, others = {}, []
    for log in sorted(folder.glob("*.log")):
        for name, reason in failures(log):
            if reason:
                asked.setdefault(reason, []).append(f"{log.stem}: {name}")
            else:
                others.append(f"{log.stem}: {name}")
    text += "| asks for | tests |\n|---|---:|\n"
    for reason, names in sorted(asked.items(), key=lambda item: -len(item[1])):
        text += f"| {reason} | {len(names)} |\n"
    text += f"| something else | {len(others)} |\n\n"
    text += "".join(f"- {name}\n" for name in others) if others else "Nothing else fails.\n"
    target.write_text(text)


if __name__ == "__main__":
    main()
