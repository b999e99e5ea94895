"""Power cuts under bulk load: `python3 tools/conform/powercut.py [--rounds 5] [--seed N]`.

The data folder lies on an ext4 file system of its own, in an image on a loop device. While writers
are at work the file system is shut down (the ioctl EXT4_IOC_SHUTDOWN): nothing more reaches the
device, what the kernel had not written is lost, and every later call fails. The node must notice
and end with code 74, without acknowledging anything more; then the file system is mounted again,
the node started, and asked for everything: `loss.py` says what must hold.

What this does not do: take away what the device itself had taken in but not flushed. The
simulation does (it drops, tears and garbles unsynced sectors).

Needs root and loop devices; elsewhere it says SKIP and why. The seed is printed.
"""

import argparse
import random
import subprocess
import sys
import time

from loss import Facts, prepare
from server import Server
from volume import WITH_JOURNAL, WITHOUT_JOURNAL, Volume

LOG_FAILED = 74


def end_of(server):
    """How the process ended, whose disk is gone; it is asked a last write where it does not know yet."""
    for _ in range(20):
        try:
            return server.process.wait(0.5)
        except subprocess.TimeoutExpired:
            pass
        try:
            status, _, answer = server.request("POST", "/noticed/_doc", {"a": 1}, timeout=10)
        except OSError:
            continue
        assert status >= 400, f"acknowledged without a disk: {answer}"
    raise AssertionError("the node lives on without a disk")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--writers", type=int, default=4)
    parser.add_argument("--ids", type=int, default=1000)
    parser.add_argument("--batch", type=int, default=120)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().getrandbits(32))
    options = parser.parse_args()
    why = Volume.impossible()
    if why:
        print(f"SKIP: {why}")
        return 0
    print(f"seed {options.seed}")
    chance = random.Random(options.seed)
    facts = Facts(options.ids)
    with Volume(1024) as volume, Server(data=volume.path / "data") as server:
        prepare(server)
        for number in range(options.rounds):
            threads = facts.load(server, chance, options.writers, options.batch)
            time.sleep(chance.uniform(0.2, 1.5))
            journal = chance.choice([WITHOUT_JOURNAL, WITHOUT_JOURNAL, WITH_JOURNAL])
            volume.cut_power(journal)
            code = end_of(server)
            assert code == LOG_FAILED, f"it ended with {code}:\n{server.tail()}"
            facts.join(threads)
            volume.power_on()
            server.start()
            count = facts.check(server)
            print(f"cut {number + 1}: code {code}, {count} acknowledged writes, none lost", flush=True)
        server.stop()
    print(f"{facts.acknowledged} acknowledged writes over {options.rounds} power cuts, 0 lost")
    print(f"{options.rounds} passed, 0 failed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
