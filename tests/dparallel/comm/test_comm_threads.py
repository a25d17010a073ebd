"""run_ranks: results, failures, ranks that leave or never come."""

import contextvars
import re
import threading
import time

import numpy as np
import pytest
from raised import raises

import autograd as ag
from dparallel import CollectiveError, RankFailure, run_ranks
from dparallel.comm import threads

pytestmark = pytest.mark.quick
SETTING = contextvars.ContextVar("setting", default="unset")


def test_results_come_in_rank_order_with_arguments():
    def body(comm, a, b):
        time.sleep(0.02 * (3 - comm.rank))
        return comm.rank, comm.size, comm.held, a + b

    assert run_ranks(3, body, 1, 2) == [(r, 3, (r,), 3) for r in range(3)]


def test_ranks_have_the_callers_context_and_their_own_changes():
    def body(comm):
        before = SETTING.get()
        SETTING.set(f"rank {comm.rank}")
        comm.barrier()
        return before, SETTING.get()

    token = SETTING.set("outside")
    try:
        assert run_ranks(2, body) == [("outside", "rank 0"), ("outside", "rank 1")]
        assert SETTING.get() == "outside"
    finally:
        SETTING.reset(token)


class Planted(Exception):
    def __init__(self, code, what):
        super().__init__(f"{what} {code}")
        self.code = code


def fails_on_rank_one(comm):
    comm.barrier()
    if comm.rank == 1:
        raise Planted(7, "planted")
    comm.allreduce([np.ones(1)])


def test_ranks_draw_their_own_random_numbers():
    """As processes do: a script seeds, and makes its model, on every rank."""
    def seeded(comm):
        ag.manual_seed(5 + comm.rank % 2)
        comm.barrier()
        return ag.rand(3).tolist()

    def drawn(comm):
        first = ag.rand(2).tolist() if comm.rank else None
        comm.barrier()
        return first or ag.rand(2).tolist()

    ag.manual_seed(1)
    unseeded = run_ranks(3, drawn), ag.rand(1).item()
    assert len({tuple(x) for x in unseeded[0]}) == 3
    ag.manual_seed(1)
    assert (run_ranks(3, drawn), ag.rand(1).item()) == unseeded
    got = run_ranks(3, seeded)
    for rank in range(3):
        ag.manual_seed(5 + rank % 2)
        assert got[rank] == ag.rand(3).tolist()


def test_the_first_failure_is_raised_itself_and_the_others_are_released():
    before = set(threading.enumerate())
    with pytest.raises(Planted, match="rank 1 of 3 failed") as caught:
        run_ranks(3, fails_on_rank_one)
    assert "had not ended" not in "\n".join([*caught.value.args[:1], *getattr(caught.value, "__notes__", [])])
    assert caught.value.code == 7 and caught.value.args[0].startswith("planted 7")
    assert "fails_on_rank_one" in [entry.name for entry in caught.traceback]
    assert not [t for t in set(threading.enumerate()) - before if t.name.startswith("rank ")]


def test_a_cause_is_kept():
    def body(comm):
        try:
            {}["missing"]
        except KeyError as error:
            raise ValueError("outer") from error

    with pytest.raises(ValueError, match="outer") as caught:
        run_ranks(1, body)
    assert isinstance(caught.value.__cause__, KeyError)


def test_a_rank_that_returns_early():
    with pytest.raises(RankFailure, match=re.escape("rank 1 waits in allreduce(op='sum') of float64 (2,), but rank 0 has "
                                                    "returned without it: rank 0 has returned; rank 1 waits")):
        run_ranks(2, lambda comm: comm.allreduce([np.ones(2)]) if comm.rank else None)


def test_a_rank_that_never_comes():
    told = threading.Event()

    def body(comm):
        if comm.rank == 0:
            told.wait(60)
        try:
            comm.barrier()
        finally:
            told.set()

    with pytest.raises(RankFailure, match=r"waited 0.2 s in barrier.*rank 0 is not in a collective; rank 1 waits"):
        run_ranks(2, body, timeout=0.2)


def test_a_deadlock_names_where_everyone_is():
    def body(comm):
        other = comm.duplicate()
        (comm if comm.rank else other).any(True)

    with pytest.raises(RankFailure, match=r"waited 2 s.*rank 0 waits in any\(\) at .*test_comm_threads.*: .comm if "
                       r"comm.rank else other..any.True.; rank 1 waits in any\(\) at .*test_comm_threads"):
        run_ranks(2, body, timeout=2)
    raises(RankFailure, r"deadlock: every rank waits for another: rank 0 waits in any\(\) at", run_ranks, 2, body)


def test_a_rank_that_does_not_end_is_left_behind(monkeypatch):
    monkeypatch.setattr(threads, "GRACE", 0.2)
    release = threading.Event()

    def body(comm):
        if comm.rank == 0:
            release.wait(20)
        else:
            raise ValueError("planted")

    raises(ValueError, r"ranks \[0\] had not ended", run_ranks, 2, body)
    release.set()


def test_an_interrupt_releases_the_ranks():
    released, over = [], threading.Event()

    def body(comm):
        try:
            comm.barrier()
        except RankFailure as error:
            released.append(str(error))
            raise

    real = threads.ThreadExchange.join

    def interrupted(exchange):
        while not exchange.waiting:
            time.sleep(0.01)
        raise KeyboardInterrupt

    threads.ThreadExchange.join = interrupted
    try:
        raises(KeyboardInterrupt, None, lambda: run_ranks(2, lambda comm: body(comm) if comm.rank else over.wait(60)))
    finally:
        over.set()
        threads.ThreadExchange.join = real
    deadline = time.monotonic() + 30
    while not released and time.monotonic() < deadline:
        time.sleep(0.01)
    assert "KeyboardInterrupt" in released[0]


def test_skips_and_exits_pass_through():
    def body(comm):
        if comm.rank == 1:
            raise SystemExit(3)
        comm.barrier()

    with pytest.raises(SystemExit) as caught:
        run_ranks(2, body)
    assert caught.value.code == 3


def test_abort_ends_all():
    def body(comm):
        if comm.rank == 1:
            comm.abort("no more")
        comm.barrier()

    raises(RankFailure, "rank 1 aborted: no more", run_ranks, 3, body)


def test_sum_in_place_is_checked_here():
    with pytest.raises(CollectiveError, match="the shapes differ"):
        run_ranks(2, lambda comm: comm.sum_in_place([np.ones(1 + comm.rank)]))


def test_notes_on_python_3_10():
    class Old(Exception):
        add_note = property()                        # raises AttributeError: hasattr is False

    error = Old("text", 1)
    threads.add_note(error, "rank 1 of 2 failed")
    assert error.args == ("text\nrank 1 of 2 failed", 1)


@pytest.mark.parametrize("size", [0, -1, 2.0, "2", None])
def test_bad_numbers_of_ranks(size):
    raises(ValueError, "size must be an integer of at least 1", run_ranks, size, print)
