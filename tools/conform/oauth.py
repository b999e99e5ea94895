"""The authorization server from outside: `python3 tools/conform/oauth.py [NAME…]`.

Each test is a short story against a release binary over HTTPS: the flow as owners, developers and
reviewers walk it (`oauth_flow`), what tokens open at the store (`oauth_rights`), then what an operator
sees (`oauth_operator`). At the end everything that the server wrote is searched for every secret that
the stories made.
"""

import sys
import time
import traceback

import oauth_flow  # noqa: F401 (its stories)
import oauth_attacks  # noqa: F401
import oauth_rights  # noqa: F401
import oauth_owner  # noqa: F401
import oauth_operator  # noqa: F401
from oauth_kit import TESTS, prepare
from server import SECRETS, Server


def search_for_secrets(server):
    """Nothing that the server wrote, in logs or on disk, holds a secret."""
    assert len(SECRETS) > 1, "the stories make secrets"
    server.search(everything=True)


def main():
    wanted = sys.argv[1:]
    passed = failed = 0
    # All stories come from one address.
    with Server(args=["-E", "oauth.limit.login=1000", "-E", "oauth.limit.authorize=100000"]) as server:
        prepare(server)
        stories = [story for story in TESTS if not wanted or story.__name__ in wanted]
        for story in stories + [search_for_secrets]:
            begin = time.monotonic()
            try:
                story(server)
                passed += 1
                print(f"ok   {story.__name__} ({time.monotonic() - begin:.1f} s)")
            except Exception:
                failed += 1
                print(f"FAIL {story.__name__}")
                traceback.print_exc(limit=3)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
