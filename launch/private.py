"""Files and folders that only this user can access, and a check of existing ones: see docs/security.md.

A folder with a guessable name in /tmp or /dev/shm, and each file, link or FIFO in it, may be another user's. folder() and
regular() reject what another user owns or can write to. dparallel imports this module as dprun.private.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import stat
import time
from importlib import import_module
from typing import Any

fcntl: Any
try:
    import fcntl
except ImportError:                                  # Windows
    fcntl = None

SHARED = "/dev/shm"
JOB = "dprun-"                                       # begins the name of a job's shared memory, before a random word
LEFT = "dparallel-left-"                             # likewise what a job leaves to the next one
WORD = re.compile(r"[0-9a-f]{32}")
LOCK = "lock"                                        # the file in such a folder that its process has locked
NO_FOLLOW = getattr(os, "O_NOFOLLOW", 0)
CLOSED = getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)


def folder(path: str, make: bool = True) -> str:
    """The path of a folder of this user with mode 0700: created here, or found and checked.

    PermissionError if another user owns it or can access it, or if it is a link; OSError if there is none.
    """
    if make:
        with contextlib.suppress(FileExistsError):
            os.mkdir(path, 0o700)
    if not hasattr(os, "geteuid"):                   # Windows: temporary files lie in the user's own folder
        return path
    above = os.stat(os.path.dirname(os.path.abspath(path)))
    if make and (above.st_uid not in (0, os.geteuid()) or above.st_mode & (stat.S_IWOTH | stat.S_ISVTX) == stat.S_IWOTH):
        raise PermissionError(f"{path} is in a folder in which another user can rename it: it is not used")
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | NO_FOLLOW | CLOSED)
    except NotADirectoryError:                       # so says Linux of a link, too
        raise PermissionError(f"{path} is not a folder, or is a link: this user did not create it") from None
    try:
        check(path, os.fstat(descriptor))
    finally:
        os.close(descriptor)
    return path


def check(path: str, status: os.stat_result, closed: int = 0o077) -> None:
    """PermissionError unless this user owns the file with this status, and no other user has one of the rights `closed`."""
    if not hasattr(os, "geteuid"):
        return
    if status.st_uid != os.geteuid():
        raise PermissionError(f"{path} belongs to user {status.st_uid}, but this is user {os.geteuid()}: it is not used")
    if status.st_mode & closed:
        raise PermissionError(f"{path} has mode {stat.S_IMODE(status.st_mode):04o}, open to other users: it is not "
                              "used")


def regular(path: str, flags: int = os.O_RDONLY, *, private: bool = False) -> int:
    """The descriptor of a regular file, opened without waiting for a FIFO. PermissionError for anything else and, if
    `private`, for a file that another user owns or can access."""
    try:
        descriptor = os.open(path, flags | NO_FOLLOW | CLOSED, 0o666)
    except OSError as error:
        if os.path.islink(path) or os.path.isdir(path):
            raise PermissionError(f"{path} is not a regular file: it is not opened") from error
        raise
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise PermissionError(f"{path} is not a regular file: it is not opened")
        if private:
            check(path, status)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def new_file(path: str) -> int:
    """The descriptor of a new file with mode 0600. FileExistsError if the name exists, even as a link."""
    return os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | NO_FOLLOW | CLOSED, 0o600)


def in_memory() -> str:
    """The folder of the host's shared memory, for files that outlive a process; the temporary folder if there is none."""
    return SHARED if os.access(SHARED, os.W_OK | os.X_OK) else import_module("tempfile").gettempdir()


def token() -> str:
    """A random word of 128 bits."""
    return os.urandom(16).hex()


class Held:
    """A new private folder that this process holds, by a lock on a file in it, until close() deletes it.

    The system releases a killed process's lock, and a later swept() deletes the folder. Children that inherit the descriptor
    `lock` hold it, too. -1: this system has no such locks.
    """

    def __init__(self, place: str, prefix: str) -> None:
        while True:
            self.word: str = token()
            self.path: str = os.path.join(place, prefix + self.word)
            os.mkdir(self.path, 0o700)
            if fcntl is None:
                self.lock: int = -1
                return
            file = os.path.join(self.path, LOCK)
            self.lock = new_file(file)
            if locked(self.lock) and os.path.exists(file):
                return
            self.close()                             # swept() of another process came first

    def close(self) -> None:
        """Delete the folder."""
        shutil.rmtree(self.path, ignore_errors=True)
        if self.lock >= 0:
            os.close(self.lock)
            self.lock = -1

    def __enter__(self) -> Held:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


def locked(descriptor: int) -> bool:
    """Whether this process has the lock of a file now; also where its file system has no locks."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        pass
    return True


def swept() -> None:
    """Delete folders in the host's memory left by killed processes of this user; on shared disks a lock may be one
    host's."""
    try:
        names = os.listdir(SHARED) if fcntl is not None else []
    except OSError:
        return
    for name in names:
        if name.startswith((JOB, LEFT)):
            with contextlib.suppress(OSError):       # another user's, or of none that holds it, or deleted meanwhile
                path = folder(os.path.join(SHARED, name), make=False)
                file = regular(os.path.join(path, LOCK), private=True)
                try:
                    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    shutil.rmtree(path, ignore_errors=True)
                finally:
                    os.close(file)


def word(path: str) -> str:
    """The random word in a file that only this user can read; a new one if there is no file, or others can read it.
    PermissionError if another user created it, or it is not a regular file."""
    until = time.monotonic() + 1.0                   # another process may have made it and not written it yet
    while True:
        with contextlib.suppress(FileNotFoundError):
            with open(regular(path), "rb") as file:
                status, text = os.fstat(file.fileno()), file.read(64).decode("ascii", "replace")
            check(path, status, 0)
            if not status.st_mode & 0o077 and WORD.fullmatch(text):
                return text
            if text or time.monotonic() > until:
                os.unlink(path)
            else:
                time.sleep(0.01)
                continue
        with contextlib.suppress(FileExistsError), open(new_file(path), "wb") as new:
            new.write(token().encode())


def user_folder(of_host: bool = False) -> str:
    """A folder that all processes of this user find: the cache folder, which hosts may share, or the temporary folder (the
    first choice if of_host). PermissionError if neither is available."""
    cache = os.environ.get("XDG_CACHE_HOME", "") or os.path.join(os.path.expanduser("~"), ".cache")
    user = os.geteuid() if hasattr(os, "geteuid") else 0
    places = [os.path.join(cache, "dparallel")] if os.path.isabs(cache) else []
    problems = []
    places.insert(0 if of_host else len(places), os.path.join(import_module("tempfile").gettempdir(), f"dparallel-{user}"))
    for path in places:
        try:
            os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
            return folder(path)
        except OSError as error:
            problems.append(str(error))
    raise PermissionError(f"no folder is accessible to this user alone ({'; '.join(problems)}): set XDG_CACHE_HOME or "
                          "TMPDIR to a folder of your own")


def user_word(name: str) -> str:
    """The random word of that name, which this user's processes share."""
    return word(os.path.join(user_folder(), name))
