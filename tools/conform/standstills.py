"""Of the stretches that a server's log tells, how much the processor itself stood still.

A stretch is counted in processor time, and the kernel of a virtual machine counts as such also what the machine below it
takes without saying so. `perf record` asks each processor a thousand times a second what it does; where it was not asked
for longer, nothing ran on it that could have given way: neither a task of the server's nor anything else.
"""

import bisect
import json
import shutil
import subprocess
import tempfile
import time
from datetime import datetime
from pathlib import Path

HZ = 1_000
LONG_MS = 5.0
LOG = "info,runtime=debug"
UNITS = {"ms": 1.0, "µs": 1e-3, "s": 1e3}


class Standstills:
    """Samples of one processor, from its making to `end`."""

    def __init__(self, processor):
        if not shutil.which("perf"):
            raise SystemExit("--examine needs `perf` (linux-tools), and the right to look at a processor")
        self.folder = tempfile.TemporaryDirectory()
        self.data = Path(self.folder.name) / "perf.data"
        self.offset = time.time() - time.monotonic()
        words = ["perf", "record", "-q", "-k", "CLOCK_MONOTONIC", "-e", "cpu-clock", "-F", str(HZ), "-C", str(processor)]
        self.process = subprocess.Popen([*words, "-o", str(self.data)], stdout=subprocess.DEVNULL)

    def end(self):
        """Ends; the gaps longer than two samples: begin and end in seconds of the wall clock, in order."""
        self.process.terminate()
        self.process.wait(60)
        words = ["perf", "script", "-i", str(self.data), "-F", "time"]
        told = subprocess.run(words, capture_output=True, text=True, check=True).stdout.split()
        times = sorted(float(word.rstrip(":")) + self.offset for word in told)
        self.folder.cleanup()
        assert len(times) > HZ, "perf saw nothing"
        return times, [(a, b) for a, b in zip(times, times[1:]) if b - a > 2 / HZ]


def stretches(log):
    """Those above 5 ms that a log tells: end in seconds of the wall clock, length in ms, task."""
    found = []
    for line in Path(log).read_text(errors="replace").splitlines():
        if "a core was held for" not in line:
            continue
        told = json.loads(line)
        _, _, rest = told["message"].partition("a core was held for ")
        length, _, task = rest.partition(" by ")
        unit = next(unit for unit in UNITS if length.endswith(unit))
        end = datetime.fromisoformat(told["timestamp"].replace("Z", "+00:00")).timestamp()
        found.append((end, float(length[: -len(unit)]) * UNITS[unit], task))
    return [stretch for stretch in found if stretch[1] > LONG_MS]


def ran_ms(stretch, gaps):
    """How long the processor ran in a stretch: its length without what it stood still."""
    end, length, _ = stretch
    # The log is written some microseconds after the stretch.
    begin, end = end - length / 1e3 - 0.0005, end + 0.0005
    still = 0.0
    for a, b in gaps[max(0, bisect.bisect_left(gaps, (begin,)) - 1) :]:
        if a >= end:
            break
        # What comes before the first sample missed may have run.
        still += max(0.0, min(b, end) - max(a + 1 / HZ, begin)) * 1e3
    return max(0.0, length - still)


def told(log, samples):
    """The longest stretch without standstills in ms, how many were looked at, and a sentence."""
    times, gaps = samples
    found = [stretch for stretch in stretches(log) if times[0] < stretch[0] < times[-1]]
    ran = [(ran_ms(stretch, gaps), *stretch[1:]) for stretch in found]
    # Those below 5 ms are not in the log.
    longest = max((ms for ms, *_ in ran), default=0.0)
    long = [f"{ms:.2f} of {length:.2f} ms by {task}" for ms, length, task in sorted(ran, reverse=True) if ms > LONG_MS]
    still = sum(b - a for a, b in gaps)
    sentence = (
        f"of {len(found)} above {LONG_MS:g} ms of processor time the processor ran {longest:.2f} ms at most; it stood still "
        f"{len(gaps)} times for more than {2_000 / HZ:g} ms, {max((b - a for a, b in gaps), default=0) * 1e3:.1f} ms at most, {still:.1f} s in all"
    )
    return longest, len(found), sentence + "".join(f"; {one}" for one in long)
