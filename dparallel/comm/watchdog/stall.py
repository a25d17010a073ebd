"""The watchdog of an MPI rank: it reports which rank waits where when a job stalls.

A daemon thread wakes about once a second, reads what the communicators of this process wait in (one attribute each), and
writes it to the board of the host's ranks. A rank that has waited in a collective longer than DPARALLEL_STALL_SECONDS
reports every rank's position, once for all of them. It ends the job after ten times the limit, or as DPARALLEL_STALL_ABORT
says. It also ends the job if a rank that is waited for has left its script, or if ranks wait for each other.

In a job that survives failed ranks it also kills a process of its host that has not updated the board for some time (stopped
by SIGSTOP, or swapped out), so that the others can continue.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import json
import math
import os
import re
import signal
import sys
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

from ..environment import environment, leave_mark, write_whole
from ..lost import RankLost
from ..mpi.mpi_types import Intracomm, MPIModule
from .board import Board
from .call_site import at_site, blocked_site
from .relay import Relay
from .vitals import vitals
from .waits import State, Wait, deadlock, departed_rank, is_certain, report

LIMIT = 60.0                         # seconds
FROZEN = 30.0                        # seconds without a sign of life, after which a process counts as dead (--survive)
UNHEARD = 5.0                        # seconds in which MPI must report a process that is gone (it takes 0.1)
PATIENCE = 10                        # times the limit, after which a stall ends the job
# threads that call no collective
HARMLESS = ("MainThread", "dparallel watchdog", "dparallel grace", "tqdm_monitor", "TMonitor")
SETTLED = 5.0                        # seconds for a message in flight, before its wait counts as hopeless
PUBLISH_EVERY = 0.95                 # seconds between two reports of a rank's progress: each second
LONG = 2.0                           # seconds of waiting from which hosts exchange states
FOLDER = os.path.abspath(__file__).rsplit(os.sep, 2)[0] + os.sep       # dparallel/comm, where threads wait
MESSAGE = re.compile(r"(?:recv|send)\((?:source|dest)=(\d+)(?:.*?tag[ =](\d+))?")


class StallSettings:
    """The environment's limit (seconds, 0: none), abort (at the limit; None: after PATIENCE times), and check. ValueError if
    a limit is not a number."""

    def __init__(self) -> None:
        text = environment.text("DPARALLEL_STALL_SECONDS")
        frozen = environment.text("DPARALLEL_FROZEN_SECONDS")
        self.survives: bool = environment.survive_size > 0
        self.frozen: float = 0.0 if not self.survives else stall_seconds(frozen) if frozen else FROZEN
        self.limit: float = stall_seconds(text) if text else LIMIT
        self.check: bool = environment.check
        self.abort: bool | None = environment.stall_abort

    @property
    def ends_after(self) -> float:
        """Seconds of waiting after which the job is ended."""
        return math.inf if self.abort is False else self.limit * (1 if self.abort else PATIENCE)

    @property
    def period(self) -> float:
        """Seconds between two checks."""
        shortest = min((limit for limit in (self.limit, self.frozen) if limit), default=5.0)
        return max(0.05, min(1.0, shortest / 5))


@functools.cache
def stall_settings() -> StallSettings:
    """The settings of this process, read once."""
    return StallSettings()


def stall_limit(seconds: float, abort: bool | None = None) -> None:
    """Make this rank report a stall after `seconds` in one collective.

    Overrides DPARALLEL_STALL_SECONDS and DPARALLEL_STALL_ABORT; it may be called at any time, on each rank separately.
    """
    settings = stall_settings()
    settings.limit = stall_seconds(seconds)
    settings.abort = settings.abort if abort is None else bool(abort)


def stall_seconds(value: Any) -> float:
    """A limit as a number of seconds, 0 for none; ValueError for anything else."""
    with contextlib.suppress(TypeError, ValueError):
        if 0 <= float(value) < math.inf:
            return float(value)
    raise ValueError(f"a stall limit must be a number of seconds, 0 for no watchdog, not {value!r} "
                     "(DPARALLEL_STALL_SECONDS, dprun --stall, stall_limit())")


class ObservedWait:
    """A wait that a check observed, and when it was first observed; `token` distinguishes waits of one communicator."""

    def __init__(self, comm: Any, waiting: Any, entered: int, since: float) -> None:
        self.what: str = description(waiting)
        self.key: Any = comm.key
        self.members: Any = comm.members
        self.since: float = since
        self.entered = entered
        self.token: Any = waiting if isinstance(waiting, str) else getattr(waiting, "number", self.entered)
        # seconds of waiting after which the next report is due; 0: none yet
        self.reported_after: float = 0.0

    @classmethod
    def observe(cls, comm: Any, now: float) -> ObservedWait | None:
        """A communicator's wait; None if it does not wait, or continued during this call: text and number would not
        match."""
        entered, waiting = comm.entered, comm.waiting
        if waiting is None:
            return None
        observed = cls(comm, waiting, entered, now)
        return observed if comm.waiting is waiting and comm.entered == entered else None

    def merged_with(self, old: ObservedWait | None) -> ObservedWait:
        """`old` if it is the same wait, else this one. Texts are compared by identity: each message has its own."""
        if old is not None and (old.token is self.token or (isinstance(old.token, int) and old.token == self.token)):
            return old
        return self

    def wait(self, now: float) -> Wait:
        """The wait in the form sent to other ranks. If the text names no other rank, the peers are unknown."""
        if isinstance(self.token, int):
            return Wait(self.what, self.key, self.token, self.members, now - self.since)
        message = MESSAGE.match(self.what)
        peers = [self.members[int(message[1])]] if message and int(message[1]) < len(self.members) else []
        tag = (message and message[2]) or ""
        return Wait(self.what, self.key, self.entered, self.members, now - self.since, peers, tag)


class Watch:
    """The watchdog of rank `rank` of `size`. `end(code)` ends the job.

    A communicator that joins has a `key` (the same on all its ranks, and unique), `members` (by their number in the job),
    `entered` (collectives so far), and `waiting`: None, or what it waits in: a Call, a handle with the `number` of its
    collective, an array that is summed; or a text, such as "recv(source=1)".
    """

    def __init__(self, rank: int, size: int, end: Callable[[int], None]) -> None:
        self.rank: int = rank
        self.size: int = size
        self._end = end
        self.settings: StallSettings = stall_settings()
        self.board: Board | None = None
        self._relay: Relay | None = None             # to other hosts
        self._shared = False
        self._spread = False                         # over several hosts
        self.latest: Any = None                      # the last collective that was entered, and where in check mode
        self.latest_site: Any = None
        self._comms: dict[str, Any] = {}
        self._seen: dict[str, ObservedWait] = {}             # the waits of the last check, by communicator
        self._checked_at = time.monotonic()              # when that was
        self._published: dict[str, Any] = {}             # this rank's progress as last published
        self._published_at = self._relayed_at = -math.inf    # when; when progress was last exchanged with other hosts
        self._requested = (0, -math.inf)                 # the rank of another host that requested progress, and when
        self._thread: threading.Thread | None = None
        self._stop = threading.Event()
        self._process = os.getpid()
        self._started = start_of(self._process)
        self._gone: dict[int, float] = {}            # when processes of this host were first seen to be gone

    def join(self, comm: Any) -> None:
        """Watch a communicator; the first one starts the thread."""
        self._comms[comm.key] = comm
        self._begin()

    def _begin(self) -> None:
        """Start the thread unless it runs, if there are other ranks, or a dprun that may request progress."""
        if self._thread is None and (self.size > 1 or environment.report_folder):
            self._thread = threading.Thread(target=self._run, name="dparallel watchdog", daemon=True)
            self._thread.start()
            atexit.register(self._announce_exit)

    def part(self, comm: Any) -> None:
        """Stop watching a communicator."""
        self._comms.pop(comm.key, None)

    def communicators(self) -> list[Any]:
        """The watched communicators: all of this process that are not freed."""
        return list(self._comms.values())

    def share(self, mpi: MPIModule, comm: Intracomm, again: bool = False) -> None:
        """Create the board and the relay, in which ranks see each other's states. comm: all ranks of the job, or (again) the
        survivors of a death. Collective."""
        if self._shared and not (again and self._spread):        # not `board is None`, which may hold on some ranks only
            return
        node = comm.Split_type(mpi.COMM_TYPE_SHARED)
        if not self._shared:
            self.board = Board.shared(node, self.size, members_of(node, mpi.COMM_WORLD))
        self._relay = Relay.create(comm, mpi, node)
        self._spread = self._spread or self._relay is not None
        self._shared = True
        self._publish(State(self.rank, time.monotonic(), process=os.getpid(), started=self._started))
        self._begin()                                # a spare has no communicator, but must show that it is alive
        node.Free()

    # --- the thread ---------------------------------------------------------------------------------------------------

    def _run(self) -> None:
        while not self._stop.wait(self.settings.period):
            try:
                if self.size > 1 and (self.settings.limit or self.settings.frozen):
                    self._check()
                else:
                    now = time.monotonic()
                    self._publish_progress(State(self.rank, now), now)
            except RankLost:                         # of the relay, until the next membership
                self._relay = None
            except Exception as error:               # a failing watchdog must not end the job
                sys.stderr.write(f"dparallel: the stall watchdog of rank {self.rank} failed: {error!r}\n")
                return

    def _check(self) -> None:
        """Publish this rank's state, and report if there is something to report."""
        now = time.monotonic()
        between = now - self._checked_at
        mine = self._state(now)
        leave_mark("position", mine.line(now, math.inf))
        self._publish_progress(mine, now)
        states = self._publish(mine)
        if self.settings.survives:
            beside = self._beside()
            self._end_if_unheard(beside, states, now)
            if self.settings.frozen and between < self.settings.frozen:      # else this one was frozen itself
                self._kill_frozen(beside, now)
        if not self.settings.limit:
            return
        if self._relay is not None and self._relay.is_leader:
            self._exchange(self._relay, now, between)
        if mine.wait is None or not mine.wait.seconds or not self._all_reported(states, now - mine.wait.seconds, now):
            return
        limit, observed = self.settings.limit + self._grace_seconds(states), self._seen[mine.wait.key]
        reason = departed_rank(states, min(limit, SETTLED))
        if reason:
            self._report(f"{reason}; the job is ended", states, now, True)
            return
        reason = deadlock(states, min(limit, SETTLED))
        late = mine.wait.seconds >= limit            # by then no other thread will resolve a deadlock either
        last = self.settings.ends_after + limit - self.settings.limit
        if reason and (late or not observed.reported_after):
            ends = late or bool(self.settings.abort) or self.settings.check or is_certain(states)
        elif mine.wait.seconds >= (observed.reported_after or limit):
            reason, ends = f"stalled: no progress for {mine.wait.seconds:.0f} s", mine.wait.seconds >= last
        else:
            return
        observed.reported_after = min(max(limit, 2 * mine.wait.seconds), max(limit, last))
        outlook = "; the job is ended" if ends else f" (after {last:.0f} s the job is ended)" if last < math.inf else ""
        self._report(reason + outlook, states, now, ends)

    def _publish_progress(self, mine: State, now: float) -> None:
        """Publish this rank's progress, at most once a second."""
        if now - self._published_at < PUBLISH_EVERY:
            mine.vitals = self._published
            return
        self._published_at = now
        wait = mine.wait.seconds if mine.wait is not None else 0.0       # not counted before it ends
        inside = "" if mine.wait is None else ("in " if wait < 1 else f"waits {wait:.0f} s in ") + mine.wait.what
        doing = (inside + at_site(mine.site)).strip()
        self._published = mine.vitals = {**vitals.measure(now, wait), "doing": doing}
        leave_mark("top", json.dumps({**mine.vitals, "time": time.time()}))

    def _beside(self) -> dict[int, dict[str, Any]]:
        """The board's entries of this host's other ranks that have not left."""
        return {} if self.board is None else {rank: item for rank, item in self.board.read().items() if rank != self.rank
                                              and rank in self.board.local_ranks and not item["left"]}

    def _end_if_unheard(self, beside: dict[int, dict[str, Any]], states: dict[int, State], now: float) -> None:
        """End the job if a process of this host is gone without MPI's report: by C's exit(n) or _exit(n) with n above 0
        (observed with Open MPI 5.0.11)."""
        for rank, item in beside.items():
            if item["started"] < 0 or is_ours(item["process"], item["started"]):
                continue
            since = self._gone.setdefault(rank, now)
            if now - since >= UNHEARD and rank not in dead_ranks():
                self._report(f"rank {rank} has ended by C's exit() or _exit(), which MPI does not report to the others: "
                             "they would wait for ever; the job is ended", states, now, True)

    def _kill_frozen(self, beside: dict[int, dict[str, Any]], now: float) -> None:
        """Kill the processes of this host that have shown no sign of life for longer than the limit."""
        for rank, item in beside.items():
            silent = now - item["time"]
            if silent > self.settings.frozen and is_ours(item["process"], item["started"]):
                with contextlib.suppress(OSError):
                    os.kill(item["process"], signal.SIGKILL)
                    if self.board is not None and self.board.claim(now, min(1.0, self.settings.frozen)):
                        sys.stderr.write(f"dparallel: killed rank {rank}, which showed no sign of life for {silent:.0f} s "
                                         "(--frozen)\n")
                        sys.stderr.flush()

    def _all_reported(self, states: dict[int, State], since: float, now: float) -> bool:
        """Whether all ranks of this host have published a state since a wait began, or have had the time to."""
        local_ranks = () if self.board is None else self.board.local_ranks
        return now - since >= 3 * self.settings.period or all(
            rank in states and (states[rank].left or states[rank].time >= since) for rank in local_ranks)

    def _exchange(self, relay: Relay, now: float, between: float) -> None:
        """Write other hosts' states to the board; send ours if some rank has waited for long. between: seconds between
        checks."""
        if self.board is None:
            return
        for item in relay.received(now):
            if "claimed" in item:
                self.board.claim(now, 0.0)
            elif "requests" in item:
                self._requested = (item["requests"], now)
            elif "progress" in item:
                progress = {**item["progress"], "time": time.time() - now + item["time"]}
                leave_mark("top", json.dumps(progress), str(item["of_rank"]))
            else:                                    # older rather than newer than it is: it was stored since then
                self.board.write({**item, "time": item["time"] - between})
        if now - self._relayed_at >= PUBLISH_EVERY:
            self._relay_vitals(relay, now)
        items, fresh = self.board.read(), now - 3 * self.settings.period
        long = min(LONG, self.settings.limit / 4)
        if any(item["wait"] and item["wait"]["seconds"] >= long and item["time"] > fresh for item in items.values()):
            relay.send([item for rank, item in items.items() if rank in self.board.local_ranks], now)

    def _relay_vitals(self, relay: Relay, now: float) -> None:
        """Request the other hosts' progress, if `dprun --top` runs here; send this host's to a host that requests it."""
        self._relayed_at, (asker, asked_at) = now, self._requested
        if environment.is_watched:
            relay.send([{"time": now, "requests": relay.comm.rank}], now)
        if self.board is not None and now - asked_at < 3 * PUBLISH_EVERY:
            relay.send([{"time": item["time"], "progress": item["vitals"], "of_rank": rank}
                        for rank, item in self.board.read().items() if rank in self.board.local_ranks], now, [asker])

    def _grace_seconds(self, states: dict[int, State]) -> float:
        """Extra seconds in which another host, with a lower waiting rank, may make the report."""
        waiting = [state.rank for state in states.values() if state.wait is not None]
        return 0.0 if self.board is None or min(waiting) in self.board.local_ranks else 3 * self.settings.period

    def _state(self, now: float) -> State:
        """This rank's state: its longest wait, or the line that its main thread executes."""
        lost, self._checked_at = now - self._checked_at - self.settings.period, now
        if lost > min(self.settings.limit, SETTLED) / 2:         # stopped, as by Ctrl-Z: this does not count as waiting
            for old in self._seen.values():                      # a message that has arrived since is still to be received
                old.since = now if isinstance(old.token, str) else old.since + lost
        comms = list(self._comms.values())
        new = [wait for comm in comms if (wait := ObservedWait.observe(comm, now)) is not None]
        observed = {wait.key: wait.merged_with(self._seen.get(wait.key)) for wait in new}
        self._seen = observed
        state = State(self.rank, now, {comm.key: comm.entered for comm in comms}, process=os.getpid(), started=self._started)
        state.site = str(blocked_site(FOLDER) or "")
        state.threads = any(thread.name not in HARMLESS for thread in threading.enumerate())
        if observed:
            state.wait = min(observed.values(), key=lambda wait: wait.since).wait(now)
        elif self.latest is not None:
            state.last = description(self.latest) + at_site(self.latest_site)
        return state

    def _publish(self, mine: State) -> dict[int, State]:
        """Write this rank's state on the board. Returns the states of all ranks on it, if this rank waits."""
        if self.board is None:
            return {self.rank: mine}
        self.board.write({**vars(mine), "wait": mine.wait and vars(mine.wait)})
        if mine.wait is None:                        # no decision is needed
            return {self.rank: mine}
        items = self.board.read().values()
        states = [State(**{**item, "wait": item["wait"] and Wait(**item["wait"])}) for item in items]
        return {**{state.rank: state for state in states}, self.rank: mine}

    def _report(self, title: str, states: dict[int, State], now: float, ends: bool) -> None:
        """Write the report, unless another rank just has, and end the job if `ends`."""
        if self.board is not None and not self.board.claim(now, min(self.settings.limit, SETTLED)):
            return
        if self._relay is not None:
            with contextlib.suppress(RankLost):
                self._relay.send([{"time": now, "claimed": True}], now)
        text = report(title, states, range(self.size), now, 3 * self.settings.period + 2)
        leave_mark("stalled")
        left = ends and write_report(self.rank, text)
        if not left:
            sys.stderr.write(text + "\n")
            sys.stderr.flush()
        if ends:
            self._end(1)

    def _announce_exit(self) -> None:
        """When Python exits: publish that this rank has left."""
        if os.getpid() != self._process:             # a forked child's end
            return
        self._stop.set()
        if self._thread is not None:
            self._thread.join(2.0)
        error = getattr(sys, "last_exc", None) or getattr(sys, "last_value", None)
        state = self._state(time.monotonic())
        state.wait, state.site = None, ""
        state.left = f"has left its script after {one_line(error)}" if error else "has left its script"
        with contextlib.suppress(ValueError, OSError):
            self._publish(state)
        if self._relay is not None:
            with contextlib.suppress(RankLost):
                self._relay.announce_exit(vars(state), state.time)


@functools.cache
def watch(mpi: MPIModule) -> Watch:
    """This process's watchdog, given the module mpi4py.MPI; its thread starts with the first communicator."""
    return Watch(mpi.COMM_WORLD.rank, mpi.COMM_WORLD.size, end_job)


def dead_ranks() -> set[int]:
    """The ranks of the job whose deaths MPI has detected; all ranks, if this thread may not call MPI."""
    mpi = sys.modules["mpi4py.MPI"]
    world = mpi.COMM_WORLD
    if mpi.Query_thread() != mpi.THREAD_MULTIPLE:
        return set(range(world.size))
    with contextlib.suppress(mpi.Exception):
        world.Iprobe(mpi.ANY_SOURCE, 0)              # lets MPI progress
    failed = world.Get_failed()
    return set(failed.Translate_ranks(range(failed.size), world.Get_group()))


def start_of(process: int) -> int:
    """When a process was started, in the system's ticks, which a later one with its number differs in; -1 if unknown."""
    try:
        with open(f"/proc/{process}/stat", encoding="utf-8") as file:
            return int(file.read().rpartition(")")[2].split()[19])
    except (OSError, ValueError, IndexError):
        return -1


def is_ours(process: int, started: int) -> bool:
    """Whether the process with that number is still the one that was started then."""
    return started >= 0 and start_of(process) == started


def end_job(code: int) -> None:
    """End all ranks from a thread, while the main one may be blocked in MPI; if MPI does not allow it, end this process."""
    mpi = sys.modules.get("mpi4py.MPI")
    if mpi is not None and mpi.Is_initialized() and not mpi.Is_finalized() and mpi.Query_thread() == mpi.THREAD_MULTIPLE:
        mpi.COMM_WORLD.Abort(code)
    os._exit(code)


def description(waiting: Any) -> str:
    """What a rank waits in, as text: a call, a handle, a text, or the array of an unchecked sum."""
    if hasattr(waiting, "dtype") and hasattr(waiting, "nbytes"):
        return f"sum_in_place of {waiting.dtype} {waiting.shape}"
    return str(waiting)[:400]


def one_line(error: BaseException) -> str:
    """An exception in one line; if its message is a worker's traceback, with the last line, which names the error."""
    first, *more = str(error).strip().splitlines() or [""]
    return type(error).__name__ + (f": {first}" if first else "") + (f" ... {more[-1]}" if more else "")


def write_report(rank: int, text: str, code: int = 1) -> bool:
    """Write a text that dprun shows last, and the job's exit code; False without dprun on this machine."""
    folder = environment.report_folder
    if not folder:
        return False
    item = {"rank": rank, "time": time.time(), "code": code, "text": text, "remedy": "", "how": "ended the job"}
    try:
        write_whole(os.path.join(folder, f"{rank}.json"), json.dumps(item))
    except OSError:
        return False
    return True


def members_of(comm: Intracomm, world: Intracomm) -> Sequence[int]:
    """The ranks of an MPI communicator by their number in another one."""
    group = comm.Get_group()
    return list(group.Translate_ranks(range(comm.size), world.Get_group()))
