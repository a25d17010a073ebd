"""What is known of ranks that wait: who will never come, who waits for whom; the board; the user's line."""

import gc
import mmap
import os
import subprocess
import sys
import threading
import types
import weakref
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import dparallel.comm
from dparallel.comm import CollectiveError, run_ranks
from dparallel.comm.watchdog import call_site as site
from dparallel.comm.watchdog import stall
from dparallel.comm.watchdog.board import SLOT, Board
from dparallel.comm.watchdog.waits import State, Wait, deadlock, departed_rank, needed, report


def waits(rank, key="0.0", number=1, counts=None, members=(0, 1, 2), seconds=3.0, what="barrier()", peers=None, time=100.0):
    return State(rank, time, {"0.0": 0, "0.1": 0} | {key: number} | (counts or {}),
                 Wait(what, key, number, members, seconds, peers), "train.py:7: comm.barrier()")


def busy(rank, **counts):
    return State(rank, 100.0, {key.replace("c", "0."): n for key, n in counts.items()}, None, "train.py:9: work()")


def states(*given):
    return {state.rank: state for state in given}


def test_only_who_has_not_come_is_needed():
    s = states(waits(0, number=2), busy(1, c0=2), busy(2, c0=1))
    assert needed(s[0], s) == [2] and needed(s[1], s) == []
    assert needed(s[0], states(s[0], State(1, 100.0))) == []             # nothing is known of its communicators


def test_a_rank_that_has_left():
    left = busy(1, c0=1)
    left.left = "has left its script"
    assert "rank 1 has left its script, but rank 0 still" in departed_rank(states(waits(0, number=2), left), 5)
    left.counts["0.0"] = 2                                               # it started its part, and MPI goes on with it
    assert departed_rank(states(waits(0, number=2), left), 5) == ""
    message = waits(0, peers=[1], what="recv(source=1)")
    left.time = 97.5                                                     # it may have sent it just before
    assert "still waits" in departed_rank(states(message, left), 2) and departed_rank(states(message, left), 2.6) == ""


def test_a_ring_is_a_deadlock():
    a, b = waits(0, "0.0", 4, {"0.1": 1}), waits(1, "0.1", 2, {"0.0": 3}, what="total()")
    assert deadlock(states(a, b, busy(2, c0=3, c1=1)), 5) == "deadlock: rank 0 waits for rank 1, which waits for rank 0"
    three = states(waits(0, peers=[1]), waits(1, peers=[2]), waits(2, peers=[0]), waits(3, peers=[0]))
    assert deadlock(three, 2).endswith("rank 0 waits for rank 1, which waits for rank 2, which waits for rank 0")
    assert deadlock(three, 5) == ""                                      # messages may be on their way


@pytest.mark.parametrize("tag", ["3", "4"])
def test_a_large_message_on_its_way_is_no_deadlock(tag):
    def wait(rank, text):
        return State(rank, 109.0, {}, stall.ObservedWait(SimpleNamespace(key="0.0", members=[0, 1], entered=0), text, 0, 99.0).wait(109.0))

    receives, sends = wait(0, "recv(source=1, tag=3)"), wait(1, f"send(dest=0) of float32 (9, 9), tag {tag}")
    assert bool(deadlock(states(receives, sends), 5)) == (tag == "4")    # of another tag it will never be received


@pytest.mark.parametrize("what", ["a rank is busy", "it has come already", "not at the same time", "too short", "one collective"])
def test_what_is_no_deadlock(what):
    a, b = waits(0, "0.0", 4, {"0.1": 1}, (0, 1)), waits(1, "0.1", 2, {"0.0": 3}, (0, 1))
    assert deadlock(states(a, b), 5)
    if what == "a rank is busy":
        b.wait = None
    elif what == "it has come already":
        b.counts["0.0"] = 4
    elif what == "not at the same time":
        b.time -= 3.5
    elif what == "too short":
        b.wait.seconds = 0.5
    else:
        b = waits(1, "0.0", 4, {"0.1": 1}, (0, 1))
    assert deadlock(states(a, b), 5) == ""


def test_unchecked_collectives_that_meet():
    a, b = waits(0, what="sum_in_place of float32 (3,)"), waits(1, what="allreduce(op='sum') of float32 (3,)")
    assert deadlock(states(a, b), 5) == "rank 0 and rank 1 are in different collectives"


def test_a_report_names_every_rank():
    left = State(2, 90.0, {}, None, "", "allreduce() at train.py:3", "has left its script")
    lines = report("stalled", states(waits(0, time=99.0), busy(1), left), range(5), 100.0, 9).splitlines()
    assert lines[:4] == ["dparallel: stalled", "  rank 0 has waited 4.0 s in barrier() at train.py:7: comm.barrier()",
                         "  rank 1 is not in a collective; it is at train.py:9: work()",
                         "  rank 2 has left its script (last collective: allreduce() at train.py:3)"]
    assert lines[4].startswith("  ranks 3, 4: on another host") and len(lines) == 5
    assert "not heard from for 20 s" in report("stalled", states(busy(1)), range(2), 120.0, 9)


def test_the_board(tmp_path):
    path = tmp_path / "board"
    path.write_bytes(bytes(10 * SLOT))
    file = os.open(path, os.O_RDWR)
    first, second = (Board(file, mmap.mmap(file, 0), 9, [4, 7]) for _ in range(2))
    assert first.read() == {}
    first.write({"rank": 4, "counts": {"0.0": 1}})
    second.write({"rank": 7, "counts": {str(n): n for n in range(5000)}})
    assert second.read() == first.read() == {4: {"rank": 4, "counts": {"0.0": 1}}, 7: {"rank": 7, "counts": {}}}
    second.write({"rank": 0})                                            # of another host, by way of the relay
    assert list(first.read()) == [0, 4, 7]
    first._memory[4 * SLOT + 9:4 * SLOT + 10] = b"?"                     # as seen while it is being written
    assert list(second.read()) == [0, 7]
    assert first.claim(100.0, 5) and not second.claim(102.0, 5) and second.claim(105.0, 5)


@pytest.fixture
def watched():
    """A rank's watchdog, not running, its communicator, and a board of two ranks that answers at once."""
    watch = stall.Watch(0, 2, lambda code: watch.ended.append(code))
    watch.settings, watch.ended, watch.others, watch._checked_at = stall.StallSettings(), [], {}, 100.0
    comm = SimpleNamespace(key="0.0", members=[0, 1], entered=1, waiting="recv(source=1, tag=0)")
    watch._comms["0.0"] = comm
    watch.board = SimpleNamespace(local_ranks={0, 1}, write=lambda item: None, read=lambda: watch.others, claim=lambda *_: True)
    return watch, comm


def test_time_in_which_a_process_was_stopped_is_no_time_of_waiting(watched):
    """Ctrl-Z for a minute, a debugger, a loaded machine. A message that came meanwhile has still to be taken."""
    watch, comm = watched
    assert [watch._state(t).wait.seconds for t in (101.0, 102.0, 162.0, 163.0)] == [0, 1, 0, 1]
    comm.waiting = SimpleNamespace(number=1)
    assert [watch._state(t).wait.seconds for t in (201.0, 202.0, 262.0, 263.0)] == [0, 1, 2, 3]


@pytest.mark.parametrize("what", ["it is done", "it is in the next one"])
def test_what_goes_on_while_it_is_looked_at_is_no_wait(watched, what):
    """The text of one collective under the number of the next would be a clash with other ranks."""
    watch, comm = watched

    class Sum:
        def __str__(self):
            comm.waiting = None if what == "it is done" else "total()"
            comm.entered += what != "it is done"
            return "sum_in_place of float32 (3,)"

    comm.waiting = Sum()
    assert watch._state(101.0).wait is None


def test_a_report_waits_until_all_have_said_where_they_are(watched, monkeypatch, capsys):
    """A rank's last word may be from before this wait began; one that says nothing is waited for for three looks."""
    watch, comm = watched
    comm.waiting = SimpleNamespace(number=1)
    left = {"rank": 1, "time": 90.0, "counts": {"0.0": 0}, "wait": None, "site": "", "last": "", "left": "has left"}
    other = {"rank": 2, "time": 100.5, "counts": {"0.0": 0}, "wait": None, "site": "", "last": "", "left": ""}
    watch.board.local_ranks, watch.others, ends = {0, 1, 2}, {1: left, 2: other}, []
    comm.members = [0, 1, 2]
    for now in (101.0, 102.0, 103.0, 104.0):
        monkeypatch.setattr(stall.time, "monotonic", lambda now=now: now)
        watch._check()
        ends.append(len(watch.ended))
    assert ends == [0, 0, 0, 1]
    watch.others[2] = {**other, "time": 104.0}
    watch._seen["0.0"].since = 103.5
    watch._check()
    assert len(watch.ended) == 2 and capsys.readouterr().err.count("rank 1 has left, but rank") == 2


def test_word_from_another_host_is_as_old_as_the_time_between_two_looks(watched):
    """It may have come just after the last one; taken for newer it shows ranks in a ring that have long gone on."""
    watch, _ = watched
    relay, written = SimpleNamespace(received=lambda now: [{"rank": 1, "time": now - 2, "wait": None}], send=print), []
    watch.board.write = written.append
    watch._exchange(relay, 120.0, 9.0)
    assert written[0]["time"] == 120.0 - 2 - 9.0


def test_the_users_line():
    found = site.user_site()
    assert found.file == __file__ and found.function == "test_the_users_line"
    assert str(found).endswith(f"test_watchdog.py:{found.line}, in test_the_users_line: found = site.user_site()")
    assert site.at_site(None) == "" and site.at_site(found).startswith(" at ")
    error = run_ranks(2, lambda comm: error_of(comm.barrier if comm.rank else lambda: comm.rows([np.ones(2)])))[0]
    assert "in error_of:" in error and "threads.py" not in error         # no line of the packages themselves
    assert str(Path(dparallel.comm.__file__).parent) + os.sep == stall.FOLDER


def error_of(call):
    try:
        call()
    except CollectiveError as error:
        return str(error)


def test_the_limit(monkeypatch):
    for bad in ("soon", "-1", "inf", "nan"):
        monkeypatch.setenv("DPARALLEL_STALL_SECONDS", bad)
        with pytest.raises(ValueError, match="a stall limit must be a number of seconds"):
            stall.StallSettings()
    monkeypatch.setenv("DPARALLEL_STALL_SECONDS", "0")
    monkeypatch.setenv("DPARALLEL_CHECK", "no")
    settings = stall.StallSettings()
    assert (settings.limit, settings.check, settings.abort) == (0.0, False, None)
    monkeypatch.delenv("DPARALLEL_STALL_SECONDS")
    monkeypatch.setenv("DPARALLEL_CHECK", "1")
    assert (stall.StallSettings().limit, stall.StallSettings().check, stall.StallSettings().abort) == (60.0, True, None)
    monkeypatch.setenv("DPARALLEL_STALL_SECONDS", "20")
    assert stall.StallSettings().abort
    monkeypatch.delenv("DPARALLEL_CHECK")
    for text, ends in ((None, 200.0), ("1", 20.0), ("0", float("inf"))):
        if text:
            monkeypatch.setenv("DPARALLEL_STALL_ABORT", text)
        assert stall.StallSettings().ends_after == ends


def test_nothing_starts_a_thread_without_ranks():
    code = "import threading, dparallel; dparallel.Devices(1).barrier(); dparallel.world(); assert threading.active_count() == 1"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_frame_between_lines_is_where_its_function_begins():
    """Another thread's frame may have no line number at the moment that the watchdog looks."""
    code = (lambda: None).__code__.replace(co_filename="/home/user/train.py", co_firstlineno=7)
    found = site.site_of(SimpleNamespace(f_code=code, f_lineno=None, f_back=None))
    assert found.line == 7 and "train.py:7" in str(found)


def test_looking_at_other_threads_holds_nothing_of_theirs():
    """What their frames refer to, a step's tensors, must be free when they are done, without Python's cycle collector."""
    observed, looking, looked = [], threading.Event(), threading.Event()

    def work():
        held = np.ones(3)
        observed.append(weakref.ref(held))
        looking.set()
        looked.wait()

    gc.disable()
    try:
        thread = threading.Thread(target=work)
        thread.start()
        looking.wait()
        site.blocked_site(threading.__file__)
        looked.set()
        thread.join()
        assert observed[0]() is None
    finally:
        gc.enable()


def test_what_is_no_frame_ends_the_search_for_a_line():
    """CPython 3.11 gave a cell as the frame above one that another thread was leaving: the watchdog ended."""
    assert site.site_of(types.CellType(None)) is None


def test_how_a_script_ended_is_one_line():
    assert stall.one_line(KeyboardInterrupt()) == "KeyboardInterrupt"
    assert stall.one_line(ValueError("planted")) == "ValueError: planted"
    error = ValueError("Caught KeyError in DataLoader worker thread 0.\nOriginal Traceback:\n  File\nKeyError: 9\n")
    assert stall.one_line(error) == "ValueError: Caught KeyError in DataLoader worker thread 0. ... KeyError: 9"
