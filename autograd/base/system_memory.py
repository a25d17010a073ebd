"""The operating system's figures of this process's memory, and its limits: Linux only.

Resident is what of the memory of a process lies in RAM. It is counted by pages; pages that several processes share count in
each of them (Rss), or in each by its share (Pss). proc(5) has the files, cgroups(7) the limits."""

from __future__ import annotations

import ctypes
import os
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from pathlib import Path
try:
    import resource
except ImportError:                                  # Windows
    resource = None                                  # type: ignore[assignment]

PAGE = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096
PRESENT = np.uint64(1 << 63)                         # of an entry of /proc/self/pagemap
NONE = 1 << 62                                       # larger limits are none: cgroups write 2^63 less a page
PYTHON = re.compile(r"(allocated blocks|available blocks|unused pools|pool headers|quantization|arena alignment)"
                    r"[^=\n]*= *([\d,]+)")       # in the figures of Python's allocator
HEADER = re.compile(r"([0-9a-f]+)-([0-9a-f]+) (\S+) \S+ \S+ \d+\s*(.*)")


class Mapping(NamedTuple):
    """A stretch of addresses: a file's, or one of its own."""

    start: int
    end: int
    permissions: str                                 # such as rw-p; p: private, s: shared
    name: str                                        # of the file, [heap], or ""
    rss: int
    pss: int

    @property
    def is_shared(self) -> bool:
        """Whether other processes may write to it too."""
        return self.permissions.endswith("s")

    @property
    def is_file(self) -> bool:
        """Whether it is (a private copy of) a file: a library, the interpreter."""
        return self.name.startswith("/") and not self.is_shared


def mappings() -> list[Mapping]:
    """All of this process, in order of address; 10 ms. [] where there is no /proc."""
    found: list[Mapping] = []
    try:
        lines = text("/proc/self/smaps").splitlines()
    except OSError:
        return []
    for line in lines:
        key, _, value = line.partition(":")
        if key == "Rss":
            found[-1] = found[-1]._replace(rss=int(value.split()[0]) * 1024)
        elif key == "Pss":
            found[-1] = found[-1]._replace(pss=int(value.split()[0]) * 1024)
        else:
            header = HEADER.match(line)
            if header:
                start, end, permissions, name = header.groups()
                found.append(Mapping(int(start, 16), int(end, 16), permissions, name, 0, 0))
    return found


def status(key: str) -> int | None:
    """Bytes of a line of /proc/self/status, such as VmHWM; None where there is none."""
    return field("/proc/self/status", key)


def text(path: str) -> str:
    """The text of a small file."""
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read()


def field(path: str, key: str) -> int | None:
    """Bytes of the line `key: n kB` of a file."""
    try:
        found = re.search(rf"^{key}:\s+(\d+) kB", text(path), re.M)
    except OSError:
        return None
    return int(found[1]) * 1024 if found else None


def resident() -> int | None:
    """Bytes of this process in RAM; None where the system doesn't tell."""
    return status("VmRSS")


def peak() -> int | None:
    """The most that ever was in RAM, or since reset_peak()."""
    most = status("VmHWM")
    if most is None and resource is not None:
        most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    return most


def reset_peak() -> bool:
    """Let peak() begin anew; False where the system won't."""
    try:
        with open("/proc/self/clear_refs", "w", encoding="ascii") as file:
            file.write("5")
    except OSError:
        return False
    return True


def in_ram(ranges: Sequence[tuple[int, int]]) -> list[int]:
    """How many bytes of each range of addresses are in RAM. A range below 16 pages is counted whole, since pages of a
    heap in use are in RAM; so is every range where the system doesn't tell."""
    try:
        with open("/proc/self/pagemap", "rb", buffering=0) as file:
            return [end - start if end - start < 16 * PAGE else present(file, start, end) for start, end in ranges]
    except OSError:
        return [end - start for start, end in ranges]


def present(file: Any, start: int, end: int) -> int:
    """Bytes of one range in RAM."""
    first, last = start // PAGE, -(-end // PAGE)
    file.seek(first * 8)
    entries = np.frombuffer(file.read((last - first) * 8), np.uint64)
    if len(entries) < last - first:
        return end - start
    here = (entries & PRESENT) != 0
    outside = int(here[0]) * (start - first * PAGE) + int(here[-1]) * (last * PAGE - end)
    return int(here.sum()) * PAGE - outside


class MallocInfo(ctypes.Structure):
    """glibc's struct mallinfo2."""

    _fields_ = tuple((name, ctypes.c_size_t) for name in (
        "arena", "ordblks", "smblks", "hblks", "hblkhd", "usmblks", "fsmblks", "uordblks", "fordblks", "keepcost"))


def malloc_info() -> Any:
    """What glibc's malloc says of itself: arena, hblkhd (mapped one by one), fordblks (free); None of other libraries."""
    if sys.platform != "linux":
        return None
    try:
        function: Callable[[], Any] = ctypes.CDLL(None).mallinfo2
    except (OSError, AttributeError):
        return None
    function.restype = MallocInfo                    # type: ignore[attr-defined]
    return function()


class PythonInfo(NamedTuple):
    """What Python's allocator of small objects holds."""

    used: int                                        # bytes of objects, and of gaps between them
    free: int                                        # bytes that are kept for new objects


def python_info() -> PythonInfo | None:
    """What Python's allocator says of itself; None where it is another one (PYTHONMALLOC, free threads), or where the C
    library is not POSIX's."""
    text, size = ctypes.c_void_p(), ctypes.c_size_t()
    try:
        library = ctypes.CDLL(None)
        opened, tell = library.open_memstream, ctypes.pythonapi._PyObject_DebugMallocStats
    except (AttributeError, TypeError):              # TypeError: on Windows
        return None
    opened.restype = ctypes.c_void_p
    file = ctypes.c_void_p(opened(ctypes.byref(text), ctypes.byref(size)))
    if not file:
        return None
    tell(file)
    library.fclose(file)
    told = ctypes.string_at(text, size.value).decode() if text else ""
    library.free(text)
    numbers = {key: int(number.replace(",", "")) for key, number in PYTHON.findall(told)}
    if "allocated blocks" not in numbers:
        return None
    free = sum(numbers.pop(key, 0) for key in ("available blocks", "unused pools"))
    return PythonInfo(sum(numbers.values()), free)


class Limit(NamedTuple):
    """A limit: `what` sets it, and so many bytes are left below it."""

    left: int
    what: str
    of_host: bool                                    # whether all processes of the host share it


def limits(proc: str = "/proc", cgroups: str = "/sys/fs/cgroup") -> list[Limit]:
    """The limits on this process's memory, the tightest first.

    What the kernel could free (its cache of files) counts as free, in cgroups too. proc, cgroups: where these are."""
    found: list[Limit] = []
    available = field(f"{proc}/meminfo", "MemAvailable")
    if available is not None:
        found.append(Limit(available, "the host's free memory (MemAvailable)", True))
    found += cgroup_limits(proc, cgroups)
    if resource is not None:
        for kind, key, text in ((resource.RLIMIT_AS, "VmSize", "ulimit -v"), (resource.RLIMIT_DATA, "VmData", "ulimit -d")):
            limit, used = resource.getrlimit(kind)[0], field(f"{proc}/self/status", key)
            if limit != resource.RLIM_INFINITY and limit < NONE and used is not None:
                found.append(Limit(max(limit - used, 0), text, False))
    return sorted(found)


def cgroup_limits(proc: str, cgroups: str) -> Iterator[Limit]:
    """Those of this process's groups and of the groups around them, of both versions of cgroups."""
    try:
        lines = text(os.path.join(proc, "self/cgroup")).splitlines()
    except OSError:
        return
    Path = import_module("pathlib").Path             # importing it takes 3 ms
    for line in lines:
        number, controllers, path = line.split(":", 2)
        if number == "0":
            yield from limits_of(Path(cgroups), path, "memory.max", "memory.current", "inactive_file")
        elif "memory" in controllers.split(","):
            yield from limits_of(Path(cgroups, "memory"), path, "memory.limit_in_bytes", "memory.usage_in_bytes",
                                 "total_inactive_file")


def limits_of(top: Path, path: str, limit_file: str, used_file: str, freeable: str) -> Iterator[Limit]:
    """The limits of a group and those around it. In a container its own group may be mounted as the top one."""
    here = top / path.strip("/")
    for folder in [here, *(p for p in here.parents if p == top or top in p.parents)]:
        try:
            limit = (folder / limit_file).read_text().strip()
            if limit == "max" or int(limit) >= NONE:
                continue
            used = int((folder / used_file).read_text())
            cache = re.search(rf"^{freeable} (\d+)", (folder / "memory.stat").read_text(), re.M)
        except (OSError, ValueError):
            continue
        left = int(limit) - used + (int(cache[1]) if cache else 0)
        yield Limit(max(left, 0), f"the control group {folder} ({limit_file} {int(limit) / 1e9:.2f} GB)", True)
