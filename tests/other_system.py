"""Runs code as on other systems: `python tests/other_system.py CODE darwin win32`. What a system lacks is taken away first."""

import builtins
import ctypes
import importlib
import mmap
import os
import pkgutil
import signal
import socket
import sys

LACKING = {
    "win32": {
        "modules": "fcntl resource pwd grp termios tty pty posix syslog readline",
        "os": "fork forkpty register_at_fork sched_getaffinity sched_setaffinity getuid geteuid getgid getegid sysconf mkfifo "
              "O_DIRECTORY O_NONBLOCK O_CLOEXEC O_SYNC memfd_create killpg getpgid setsid posix_fallocate posix_fadvise "
              "pread pwrite preadv uname getloadavg fchmod chown lchown nice wait3 wait4 WNOHANG statvfs getpgrp",
        "signal": "SIGUSR1 SIGUSR2 SIGHUP SIGKILL SIGCHLD SIGALRM SIGSTOP SIGCONT SIGQUIT SIGPIPE SIGBUS pthread_sigmask "
                  "pthread_kill sigwait SIG_BLOCK SIG_UNBLOCK SIG_SETMASK setitimer alarm siginterrupt sigpending",
        "socket": "AF_UNIX socketpair SCM_RIGHTS CMSG_LEN send_fds recv_fds",
        "mmap": "MAP_PRIVATE MAP_SHARED MAP_ANONYMOUS MAP_ANON PROT_READ PROT_WRITE PROT_EXEC MADV_DONTNEED",
    },
    "darwin": {
        "modules": "",
        "os": "sched_getaffinity sched_setaffinity memfd_create posix_fadvise posix_fallocate",
        "signal": "sigtimedwait SIGRTMIN",
        "socket": "",
        "mmap": "",
    },
}


def become(system):
    """Take away what the system lacks. Python's own modules, and other packages', have been imported before."""
    for name in [name for name in sys.modules if name.partition(".")[0] in ("autograd", "dparallel", "launch")]:
        del sys.modules[name]
    lacking = LACKING[system]
    for module in (os, signal, socket, mmap):
        for name in lacking[module.__name__].split():
            if hasattr(module, name):
                delattr(module, name)
    for name in lacking["modules"].split():
        sys.modules[name] = None                     # `import name` is a ModuleNotFoundError then
    really_open, library = builtins.open, ctypes.CDLL

    def without_proc(file, *args, **kwargs):
        if str(file).startswith(("/proc/", "/sys/", "/dev/shm")):
            raise FileNotFoundError(2, "No such file or directory", file)
        return really_open(file, *args, **kwargs)

    def named(name, *args, **kwargs):
        if name is None and system == "win32":
            raise TypeError("bad argument type for built-in operation")
        return library(name, *args, **kwargs)

    builtins.open, ctypes.CDLL, sys.platform = without_proc, named, system


def every_module():
    """Import all modules of the three packages; the failures by name."""
    failed = {}
    for package in ("autograd", "dparallel", "launch"):
        for info in pkgutil.walk_packages(importlib.import_module(package).__path__, package + ".", onerror=lambda name: None):
            if ".native" in info.name or info.name.startswith("dparallel.autograd.") or info.name.endswith("__main__"):
                continue
            try:
                importlib.import_module(info.name)
            except Exception as error:
                failed[info.name] = repr(error)
    return failed


if __name__ == "__main__":
    sys.path[0] = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    before = every_module()                          # with all that they import
    for system in sys.argv[2:]:                      # the later lack more
        become(system)
        exec(sys.argv[1])
