"""kill -9 at random moments under bulk load: `python3 tools/conform/kill.py [--rounds 5] [--seed N]`.

The process is killed, started again, and asked for everything: `loss.py` says what must hold. The
seed is printed.
"""

import argparse
import random
import sys
import time

from loss import Facts, prepare
from server import Server


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--writers", type=int, default=4)
    parser.add_argument("--ids", type=int, default=1000)
    parser.add_argument("--batch", type=int, default=120)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().getrandbits(32))
    options = parser.parse_args()
    print(f"seed {options.seed}")
    chance = random.Random(options.seed)
    facts = Facts(options.ids)
    with Server() as server:
        prepare(server)
        for number in range(options.rounds):
            threads = facts.load(server, chance, options.writers, options.batch)
            time.sleep(chance.uniform(0.2, 1.5))
            server.kill()
            facts.join(threads)
            server.start()
            count = facts.check(server)
            print(f"round {number + 1}: {count} acknowledged writes, none lost", flush=True)
    print(f"{facts.acknowledged} acknowledged writes over {options.rounds} kills, 0 lost")
    print(f"{options.rounds} passed, 0 failed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
