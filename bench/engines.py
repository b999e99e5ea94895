"""Prints the record of bench/engines from what the sides printed: indexing, answers compared, times.

engines.py WORK ROUNDS
"""

import json
import statistics
import subprocess
import sys

work, rounds = sys.argv[1], int(sys.argv[2])


def compared(title, ours, theirs, *options):
    """How many answers agree, by class where some do not."""
    command = ["python3", f"{work}/peers/compare.py", ours, theirs, *options]
    lines = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    apart = [line for line in lines[:-1] if not line.rstrip().endswith("differ    0")]
    print(f"{title}: {lines[-1]}.", end="")
    if apart:
        named = (line.split() for line in apart)
        print(" Apart:", ", ".join(f"{it[0]} {it[1]} {it[5]} of {int(it[3]) + int(it[5])}" for it in named) + ".", end="")
    print("\n")


def read(sides):
    """(class, command) to side to the lines of its rounds."""
    rows = {}
    for side, name in sides.items():
        for at in range(1, rounds + 1):
            for line in open(f"{work}/search-{name}.{at}"):
                found = json.loads(line)
                rows.setdefault((found["class"], found["command"]), {}).setdefault(side, []).append(found)
    return rows


def middle(lines, key):
    return statistics.median(line[key] for line in lines)


def table(sides):
    """A row a class and command; answers (wins, losses) by class."""
    rows = read(sides)
    peers = [side for side in sides if side != "corelode"]
    head = ["class", "command", "queries", "corelode", "p50", "p99", "whole", *(x for p in peers for x in (p, "p50", "p99")), "ratio to the better"]
    print("| " + " | ".join(head) + " |\n|" + "---|" * len(head))
    won, lost = 0, []
    for (name, command), by in sorted(rows.items()):
        if "corelode" not in by or len(by) == 1:
            continue
        ours = middle(by["corelode"], "mean_us")
        cells = [name, command, str(by["corelode"][0]["queries"]), f"{ours:.1f}", f'{middle(by["corelode"], "p50_us"):.1f}', f'{middle(by["corelode"], "p99_us"):.0f}', f'{middle(by["corelode"], "whole_us"):.1f}']
        best = min(middle(by[p], "mean_us") for p in peers if p in by)
        for p in peers:
            cells += [f'{middle(by[p], "mean_us"):.1f}', f'{middle(by[p], "p50_us"):.1f}', f'{middle(by[p], "p99_us"):.0f}'] if p in by else ["–"] * 3
        ratio = ours / best
        cells.append(f"**{ratio:.2f}**" if ratio > 1 else f"{ratio:.2f}")
        print("| " + " | ".join(cells) + " |")
        if ratio > 1:
            lost.append(f"{name} {command} {ratio:.2f}")
        else:
            won += 1
    print()
    return won, lost


print("\n## Indexing, one core, with source\n")
print("| side | corpus | documents a second | MB a second | all in one segment after, s | segment, MB |\n|---|---|---|---|---|---|")
for line in open(f"{work}/indexed"):
    it = json.loads(line)
    settled = it.get("one_segment_s", it.get("settled_s"))
    size = it.get("segment_bytes", it.get("disk_bytes"))
    print(f'| {it["peer"]} | {it["corpus"]} | {it["docs_per_s"]:,.0f} | {it["mb_per_s"]:.1f} | {settled:.1f} | {size / 1e6:.1f} |')
print("\nOurs parses, routes, versions and logs each document, and acknowledges it after an fsync; the peers commit once.\n")

print("## Answers compared\n")
compared("corelode and tantivy", f"{work}/c.res", f"{work}/t.res")
compared("corelode and Lucene", f"{work}/c.res", f"{work}/l.res", "--scale", str(1 / 2.2))
compared("corelode and Lucene, cities", f"{work}/c-cities.res", f"{work}/l-cities.res")

print("## Times\n")
print("Microseconds a query: the median over the rounds of each class's mean (and p50, p99). The peers time a query whose words")
print("were read before, until its hits or its number are found; so is ours; `whole` goes from a body of JSON to an answer with")
print("ids. As for the peers, `top10` wants no number of matches; `top100c` wants the exact one.\n")
won, lost = table({"corelode": "c", "tantivy": "t", "lucene": "l"})
more, others = table({"corelode": "cc", "lucene": "lc"})
print(f"No slower than the better of the peers: {won + more} of {won + more + len(lost) + len(others)}. Slower:", ", ".join(lost + others) or "none", end=".\n")
