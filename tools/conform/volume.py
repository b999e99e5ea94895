"""A small file system of its own, in an image on a loop device, that can lose its power.

Where the caller is not root, or the machine has no loop devices, `Volume.impossible()` says why, and
whoever asked says SKIP.
"""

import fcntl
import os
import shutil
import struct
import subprocess
import tempfile
from pathlib import Path

# EXT4_IOC_SHUTDOWN: _IOR('X', 125, __u32).
SHUTDOWN = 0x8004587D
# What happens to the journal: it is written out, or what is in memory is lost with the rest.
WITH_JOURNAL, WITHOUT_JOURNAL = 1, 2


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise OSError(f"{' '.join(map(str, command))}: {(done.stderr or done.stdout).strip()}")
    return done.stdout.strip()


class Volume:
    """An ext4 file system of `size_mib`; `with` mounts it and takes it away."""

    def __init__(self, size_mib):
        self.size_mib = size_mib
        self.folder = None
        self.device = None
        self.is_mounted = False

    @staticmethod
    def impossible():
        """Why there can be none here; nothing where there can."""
        if os.geteuid() != 0:
            return "not root: loop devices cannot be mounted"
        for program in ("mkfs.ext4", "losetup", "mount", "umount"):
            if not shutil.which(program, path=f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin"):
                return f"there is no {program}"
        try:
            with Volume(16):
                return None
        except OSError as error:
            return f"no loop devices here: {error}"

    def __enter__(self):
        self.folder = Path(tempfile.mkdtemp(prefix="corelode-volume-"))
        self.path = self.folder / "mounted"
        self.path.mkdir()
        image = self.folder / "image"
        try:
            with open(image, "wb") as file:
                file.truncate(self.size_mib << 20)
            run("mkfs.ext4", "-q", "-F", "-m", "0", image)
            try:
                self.device = run("losetup", "-f", "--show", "--direct-io=on", image)
            except OSError:
                self.device = run("losetup", "-f", "--show", image)
            self.mount()
        except OSError:
            self.__exit__()
            raise
        return self

    def __exit__(self, *failure):
        try:
            if self.is_mounted:
                self.unmount()
            if self.device:
                run("losetup", "-d", self.device)
        finally:
            shutil.rmtree(self.folder, ignore_errors=True)

    def mount(self):
        run("mount", "-t", "ext4", self.device, self.path)
        self.is_mounted = True

    def unmount(self):
        run("umount", self.path)
        self.is_mounted = False

    def cut_power(self, journal):
        """From now on nothing reaches the device, and every call fails; what the kernel holds is lost."""
        handle = os.open(self.path, os.O_RDONLY)
        try:
            fcntl.ioctl(handle, SHUTDOWN, struct.pack("I", journal))
        finally:
            os.close(handle)

    def power_on(self):
        """Mounts again, which replays the file system's journal."""
        self.unmount()
        self.mount()

    def free_bytes(self):
        stat = os.statvfs(self.path)
        return stat.f_bavail * stat.f_frsize

    def fill(self, leave=0):
        """Takes all room but `leave` bytes, in files that are no business of the store."""
        number = 0
        while self.free_bytes() > leave:
            number += 1
            ballast = self.path / f"ballast-{number}"
            handle = os.open(ballast, os.O_CREAT | os.O_WRONLY)
            try:
                os.posix_fallocate(handle, 0, max(self.free_bytes() - leave, 4096))
            except OSError:
                # The file system's own books take a little.
                piece = 1 << 20
                at = os.fstat(handle).st_size
                while piece >= 4096:
                    try:
                        if self.free_bytes() - piece < leave:
                            raise OSError("enough")
                        at += os.pwrite(handle, b"x" * piece, at)
                    except OSError:
                        piece >>= 1
                if number > 20:
                    return
            finally:
                os.close(handle)

    def empty(self):
        """Gives all of that room back."""
        for ballast in self.path.glob("ballast-*"):
            ballast.unlink()


class Memory(Volume):
    """A file system of `size_mib` in memory, whose last write before it is full is a short one."""

    @staticmethod
    def impossible():
        """Why there can be none here; nothing where there can."""
        if os.geteuid() != 0:
            return "not root: nothing can be mounted"
        try:
            with Memory(1):
                return None
        except OSError as error:
            return f"no file systems in memory here: {error}"

    def __enter__(self):
        self.folder = Path(tempfile.mkdtemp(prefix="corelode-memory-"))
        self.path = self.folder / "mounted"
        self.path.mkdir()
        try:
            self.mount()
        except OSError:
            self.__exit__()
            raise
        return self

    def mount(self):
        run("mount", "-t", "tmpfs", "-o", f"size={self.size_mib}m", "tmpfs", self.path)
        self.is_mounted = True
