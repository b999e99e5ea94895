"""Exit codes that a machine has to be ill for: `python3 tools/conform/exits.py`.

71  the kernel forbids `io_uring_setup`, as container runtimes do (a seccomp filter, set up here);
71  too little memory may be locked (a user without privileges and a low limit);
71  too few files may be open for the cores that were asked for;
74  the log cannot be written: files may not grow beyond a limit (RLIMIT_FSIZE: the next file of the
    log is written short, then EFBIG), and nothing is acknowledged that is not there after the next
    start;
74  the same at the first start, and where its disk (in memory) has too little room: the sentence names
    the remedy.

(A disk that goes away altogether, code 74 as well: `powercut.py`.)
"""

import ctypes
import json
import os
import resource
import shutil
import struct
import subprocess
import sys
import tempfile

from loss import Wire
from server import Server, binary
from volume import Memory

IO_URING_SETUP = 425
MACHINE, LOG = 71, 74
INDEX = "lines"


def forbid_io_uring():
    """Lets `io_uring_setup` fail with EPERM in this process and all that follows."""
    libc = ctypes.CDLL(None, use_errno=True)
    # Load the number of the call; where it is io_uring_setup: errno EPERM; else go on.
    program = b"".join(
        struct.pack("HBBI", *line)
        for line in [
            (0x20, 0, 0, 0),
            (0x15, 0, 1, IO_URING_SETUP),
            (0x06, 0, 0, 0x00050001),
            (0x06, 0, 0, 0x7FFF0000),
        ]
    )
    buffer = ctypes.create_string_buffer(program)
    header = struct.pack("HxxxxxxP", 4, ctypes.addressof(buffer))
    if libc.prctl(38, 1, 0, 0, 0) or libc.prctl(22, 2, header, 0, 0):
        raise OSError(ctypes.get_errno(), "no seccomp here")


def without_privileges():
    """Another user, who may lock nothing."""
    resource.setrlimit(resource.RLIMIT_MEMLOCK, (65536, 65536))
    os.setgid(65534)
    os.setuid(65534)


def ends(prepare, code, words, parent=None, more=()):
    """The program ends at its start, with this code and a sentence that has these words."""
    folder = tempfile.mkdtemp(prefix="corelode-exits-", dir=parent)
    os.chmod(folder, 0o777)
    try:
        done = subprocess.run(
            [binary(), "serve", "--data", f"{folder}/data", "--http", "127.0.0.1:0", "--transport", "127.0.0.1:0", *more],
            stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60, preexec_fn=prepare,
        )
    finally:
        shutil.rmtree(folder)
    told = done.stdout + done.stderr
    assert done.returncode == code, f"{done.returncode}: {told}"
    for word in words:
        assert word in told, f"{word} is missing in: {told}"
    assert "panicked" not in told, told


def machine_without_io_uring():
    ends(forbid_io_uring, MACHINE, ["io_uring_setup", "seccomp"])


def machine_without_locked_memory():
    if os.geteuid() != 0:
        return "not root: no other user can be taken"
    if not os.access(binary(), os.X_OK) or os.stat(os.path.dirname(binary())).st_mode & 5 != 5:
        return "the program lies where no other user reaches it"
    ends(without_privileges, MACHINE, ["RLIMIT_MEMLOCK", "ulimit -l"])
    return None


def few_files():
    resource.setrlimit(resource.RLIMIT_NOFILE, (1000, 1000))


def machine_without_files_for_its_cores():
    ends(few_files, MACHINE, ["RLIMIT_NOFILE", "ulimit -n", "--cores"], more=("--cores", "999"))


def files_that_stay_short():
    resource.setrlimit(resource.RLIMIT_FSIZE, (100 << 10, 100 << 10))


def first_log_that_may_not_grow():
    ends(files_that_stay_short, LOG, ["log-000001", "File too large", "ulimit -f"])


def first_log_without_room():
    why = Memory.impossible()
    if why:
        return why
    with Memory(1) as volume:
        ends(lambda: None, LOG, ["log-000001", "No space left on device", "make room"], volume.path)
    return None


def log_that_cannot_be_written():
    limit = 3 << 19
    server = Server(secure=False)
    original = subprocess.Popen

    def limited(command, **options):
        # The kernel sends a signal too, which ends a process that does not ignore it: ours does.
        def prepare():
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

        return original(command, preexec_fn=prepare, **options)

    subprocess.Popen = limited
    try:
        server.start()
    finally:
        subprocess.Popen = original
    try:
        acked = set()
        wire = Wire(server)
        try:
            for start in range(0, 100_000, 50):
                lines = []
                for number in range(start, start + 50):
                    lines.append(json.dumps({"index": {"_id": str(number)}}))
                    lines.append(json.dumps({"number": number, "text": "x" * 500}))
                status, answer = wire.ask("POST", f"/{INDEX}/_bulk", "\n".join(lines) + "\n")
                assert status == 200, answer
                acked |= {it["index"]["_id"] for it in answer["items"] if it["index"]["status"] == 201}
        except OSError:
            pass
        except Exception as error:  # http.client's own kinds of a broken connection
            assert type(error).__module__ == "http.client", error
        code = server.process.wait(30)
        assert code == LOG, f"it ended with {code}:\n{server.tail()}"
        assert "the log failed" in server.tail() and "panicked" not in server.tail(), server.tail()
        assert acked, "something was written before"
        server.start()
        ids = sorted(acked)
        status, answer = Wire(server).ask("POST", f"/{INDEX}/_mget?_source=false", {"ids": ids})
        assert status == 200 and all(doc.get("found") for doc in answer["docs"]), "acknowledged and lost"
        assert server.stop() == 0
    finally:
        server.__exit__()
    print(f"  {len(acked)} acknowledged writes before the log failed, all there")


def main():
    failed = 0
    stories = [
        machine_without_io_uring, machine_without_locked_memory, machine_without_files_for_its_cores, first_log_that_may_not_grow,
        first_log_without_room, log_that_cannot_be_written,
    ]
    for story in stories:
        name = story.__name__.replace("_", " ")
        try:
            why = story()
            print(f"SKIP {name}: {why}" if why else f"ok {name}", flush=True)
        except (AssertionError, OSError) as error:
            failed += 1
            print(f"FAILED {name}: {error}", flush=True)
    print(f"{len(stories) - failed} passed, {failed} failed")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
