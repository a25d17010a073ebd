"""What mpirun and MPI print when ranks have ended: dprun holds it back, and shows it if it has no report of its own."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

RULE = rb"(?P<rule>-{60,74}|={60,})\n"
TITLES = (rb"(?:MPI_ABORT was invoked|prterun (?:has exited|noticed|detected)|mpirun (?:has exited|noticed|detected)|"
          rb"An MPI communication peer|A daemon failed|=   BAD TERMINATION)")
LINES = (rb"^(?:\[warn\] Epoll|Abort\(-?\d+\) on node |\[(?:mpiexec|proxy)[^\]\n]*\] |"
         rb"\[[^\s\]]+:\d+\] (?:\*\*\* |plm:[rs]sh: Warning: |UNSUPPORTED DAEMON ERROR STATE)|"
         rb"YOUR APPLICATION TERMINATED WITH|This typically refers to a problem with|Please see the FAQ page for debugging)"
         rb"[^\n]*\n")
ENDS = re.compile(rb"^\n?" + RULE + TITLES + rb".*?\n(?P=rule)\n|" + LINES, re.S | re.M)
# one of these is in each message
SIGNS = (b"-" * 60, b"=" * 60, b"] *** ", b"] plm:", b"] UNSUPP", b"[warn] Epoll", b"Abort(", b"[mpiexec", b"[proxy",
         b"APPLICATION TERM", b"typically refers", b"see the FAQ")
TITLED = re.compile(rb"\n?" + RULE + TITLES)
BEGUN = re.compile(rb"^\n?" + RULE + rb"(?:" + TITLES + rb".*)?\Z", re.S | re.M)
DEATHS = (re.compile(rb"MPI_ABORT was invoked on rank (?P<rank>\d+).*?Errorcode: (?P<abort>-?\d+)", re.S),
          re.compile(rb"^Abort\((?P<abort>-?\d+)\) on node (?P<rank>\d+) ", re.M),
          re.compile(rb"process rank (?P<rank>\d+) with PID \d+ on node (?P<host>\S+) exited on\s+signal (?P<signal>\d+)"),
          re.compile(rb"process rank (?P<rank>\d+) with PID \d+ on node (?P<host>\S+) (?P<improper>exiting\s+improperly)"),
          re.compile(rb"Process name: \[\S+,(?P<rank>\d+)\]\s+Exit code: +(?P<code>\d+)"),
          re.compile(rb"=   PID (?P<pid>\d+) RUNNING AT (?P<host>\S+)\n=   EXIT CODE: (?P<signal>\d+)"))
REPORT = re.compile(rb"^(?:\[[^\n]*)?dprun: rank \d+ of \d+ on \S+ failed with exit code \d+$", re.M)


@dataclass
class Messages:
    """The messages held back.

    reported: whether a rank without dprun's folder, on another host, has printed its report. unfinished: file descriptors
    whose last line lacks its end, such as a progress bar.
    """

    verbose: bool = False                            # show them at once
    held: list[bytes] = field(default_factory=list)
    reported: bool = False
    unfinished: set[int] = field(default_factory=set)

    def sort(self, text: bytes) -> tuple[bytes, bytes]:
        """The lines to show, and those at the end that may begin a message; complete messages are held back."""
        self.reported = self.reported or (b"dprun: rank" in text and REPORT.search(text) is not None)
        if text == b"\n":                            # Hydra's begin with an empty line
            return b"", text
        if not any(sign in text for sign in SIGNS):
            return text, b""
        text = ENDS.sub(self._hold, text)
        begun = BEGUN.search(text)
        return (text, b"") if begun is None else (text[:begun.start()], text[begun.start():])

    def _hold(self, found: re.Match[bytes]) -> bytes:
        """Hold a message back; what is left of it in the text."""
        self.held.append(found[0].lstrip(b"\n"))
        return found[0] if self.verbose else b""

    def text(self) -> str:
        """All messages that were not shown."""
        return "" if self.verbose else b"".join(self.held).decode(errors="replace")

    def death(self, processes: Mapping[int, int]) -> dict[str, str]:
        """The first rank that ended, its host, and its signal, exit code or MPI_Abort's code, as far as a message names
        them; "improper" if it did not finalize MPI. processes: ranks by process number.
        """
        text = b"".join(self.held)
        found = next((match for death in DEATHS if (match := death.search(text))), None)
        named = {name: value.decode() for name, value in found.groupdict().items()} if found else {}
        if (rank := processes.get(int(named.get("pid", -1)))) is not None:
            named["rank"] = str(rank)
        return named if "rank" in named else {}
