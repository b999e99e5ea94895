#!/usr/bin/env python3
"""Shows that each model of what cores share can fail: every planted fault must be found.

    python3 tools/planted_models.py

A copy of the sources is made in a temporary folder, one line of `engine/env` is changed in it, and the models
run as `.ci/loom` runs them. A fault that no model finds, or a line that is no longer there, ends with exit code 1.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

# Where, what stands there, what is planted, and a word of what must fail.
FAULTS = [
    ("mailbox wakes nobody", "mailbox.rs", "inner.messages.push_back(message);\n            inner.rouse()", "inner.messages.push_back(message);\n            None::<Waker>", "mailbox"),
    ("the last sender leaves unheard", "mailbox.rs", "if inner.sender_count == 0 { inner.rouse() } else { None }", "None::<Waker>", "mailbox"),
    ("a receiver is not known to be gone", "mailbox.rs", "            inner.receiver = Receiving::Gone;\n            inner.weight = 0;", "            inner.weight = 0;", "mailbox"),
    ("a sleeper is told to the mailbox too late", "mailbox.rs", "inner.receiver = Receiving::Asleep(context.waker().clone());\n            }", "drop(inner);\n                lock(&self.shared.inner).receiver = Receiving::Asleep(context.waker().clone());\n            }", "mailbox"),
    ("the version rises before its value is there", "published.rs", "let mut slot = lock(&self.slot);\n            self.version.fetch_add(1, Ordering::Release);", "self.version.fetch_add(1, Ordering::Release);\n            let mut slot = lock(&self.slot);", "published"),
    ("the version does not rise", "published.rs", "            self.version.fetch_add(1, Ordering::Release);\n", "", "published"),
    ("an old view never ends", "published.rs", "        drop(before);\n", "        std::mem::forget(before);\n", "published"),
    ("a score is written over", "rising.rs", "self.0.fetch_max(score.to_bits(), Ordering::Relaxed);", "self.0.store(score.to_bits(), Ordering::Relaxed);", "rising"),
    ("two cores take the same memory", "budget.rs", "    let taken = from.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |current| {\n        let rest = current.checked_sub(bytes)?;\n        (rest >= left).then_some(rest)\n    });\n    taken.is_ok()", "    let current = from.load(Ordering::Relaxed);\n    let Some(rest) = current.checked_sub(bytes) else { return false };\n    if rest >= left {\n        from.store(rest, Ordering::Relaxed);\n    }\n    rest >= left", "budget"),
    ("a lease that ends keeps its spare", "budget/lease.rs", "        self.pool.free.fetch_add(spare, Ordering::Relaxed);\n    }\n}\n\n/// One core's way", "        let _ = spare;\n    }\n}\n\n/// One core's way", "budget"),
    ("an answer wakes nobody", "reply.rs", "            waker.wake();\n", "            drop(waker);\n", "reply"),
    ("a reply that is dropped tells nobody", "reply.rs", "        self.end(None);\n", "", "reply"),
    ("a task is armed again by a plain store", "turns.rs", "self.is_woken.swap(false, Ordering::AcqRel);", "self.is_woken.store(false, Ordering::Release);", "turns"),
    ("a task is never armed again", "turns.rs", "        self.is_woken.swap(false, Ordering::AcqRel);\n", "", "turns"),
    ("the driver is noted after it looked", "turns.rs", "        woken.1 = Some(context.waker().clone());", "        drop(woken);\n        lock(&self.0).1 = Some(context.waker().clone());", "turns"),
]


def copy_into(folder):
    """The workspace as links, `engine/env` as files of its own."""
    for entry in ROOT.iterdir():
        if entry.name not in ("engine", "target", ".git"):
            (folder / entry.name).symlink_to(entry)
    (folder / "engine").mkdir()
    for entry in (ROOT / "engine").iterdir():
        if entry.name != "env":
            (folder / "engine" / entry.name).symlink_to(entry)
    for path in sorted((ROOT / "engine/env").rglob("*")):
        place = folder / path.relative_to(ROOT)
        if path.is_file():
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(path.read_bytes())


def models(folder, only):
    """Runs the models of one module; exit code and what was printed."""
    environment = {**os.environ, "RUSTFLAGS": "--cfg loom", "LOOM_MAX_PREEMPTIONS": "3", "CARGO_TARGET_DIR": str(ROOT / "target/loom-planted")}
    command = ["cargo", "test", "--quiet", "--release", "--package", "corelode-env", "--lib", f"{only}::model"]
    try:
        done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=300)
    except subprocess.TimeoutExpired:
        return 1, "test result: FAILED (it never ends)"
    return done.returncode, done.stdout + done.stderr


def main():
    missed = []
    with tempfile.TemporaryDirectory(prefix="corelode-models-") as name:
        folder = Path(name)
        copy_into(folder)
        for module in sorted({only for *_, only in FAULTS}):
            code, told = models(folder, module)
            if code != 0:
                sys.exit(f"the models of {module} fail without a fault:\n{told}")
        for what, file, stands, planted, only in FAULTS:
            path = folder / "engine/env/src" / file
            whole = path.read_text()
            if whole.count(stands) != 1:
                sys.exit(f"{what}: {file} has {whole.count(stands)} of\n{stands}")
            path.write_text(whole.replace(stands, planted))
            code, told = models(folder, only)
            path.write_text(whole)
            if code != 0 and "test result: FAILED" not in told and "panicked" not in told and "deadlock" not in told:
                sys.exit(f"{what}: it does not build:\n{told}")
            print(f"{'found ' if code else 'MISSED'}  {file:13} {what}", flush=True)
            if code == 0:
                missed.append(what)
    print(f"{len(FAULTS) - len(missed)} of {len(FAULTS)} found")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
