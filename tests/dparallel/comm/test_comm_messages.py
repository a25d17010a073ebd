"""Messages between ranks, permutations, scans: values for all dtypes, shapes, tags and orders, and their errors."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from numpy_collectives import DTYPES, TOLERANCE, UFUNCS, numbers
from raised import raises

from dparallel import CollectiveError, Devices, RankFailure, run_ranks

SHAPES = [(), (0,), (3,), (2, 0, 3), (4, 1, 2)]
LAYOUTS = {"C": np.array, "transposed": lambda x: np.array(x.T, order="C").T, "every other": lambda x: np.repeat(x, 2, -1)[..., ::2] if x.ndim else x}


def same(got, expected):
    assert got.dtype == expected.dtype and got.shape == expected.shape and got.flags.c_contiguous
    np.testing.assert_array_equal(got, expected)


def ways(comm):
    """For each local rank of a ring: the rank, the next one and the one before it."""
    n = comm.size
    return [(rank, (rank + 1) % n, (rank - 1) % n) for rank in comm.held]


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.devices
def test_all_arrays_pass(comm, dtype, layout):
    for case, shape in enumerate(SHAPES):
        for rank, after, _ in ways(comm):
            comm.send(LAYOUTS[layout](numbers(rank, shape, dtype, case)), after, case, rank=rank)
        for rank, _, before in ways(comm):
            same(comm.recv(before, case, rank=rank), numbers(before, shape, dtype, case))


@pytest.mark.devices
def test_order_within_a_tag_and_tags_among_each_other(comm):
    for rank, after, _ in ways(comm):
        for number in range(4):
            comm.send(np.array(10 * rank + number), after, number % 2, rank=rank)
    for rank, _, before in ways(comm):
        first = comm.start_recv(before, 1, rank=rank)
        second = comm.start_recv(before, 1, rank=rank)
        assert [comm.recv(before, 0, rank=rank).item() for _ in range(2)] == [10 * before, 10 * before + 2]
        assert [second.wait().item(), first.wait().item()] == [10 * before + 3, 10 * before + 1]
        assert first.done() and first.wait() is first.wait()


@pytest.mark.devices
def test_a_sent_array_may_be_changed_and_all_may_send_much_first(comm):
    for rank, after, _ in ways(comm):
        x = np.full(300_000, float(rank))
        comm.send(x, after, rank=rank)
        x[:] = -1
    for rank, _, before in ways(comm):
        same(comm.recv(before, rank=rank), np.full(300_000, float(before)))
    handles = [comm.start_send(np.full(300_000, float(rank)), after, 7, rank=rank) for rank, after, _ in ways(comm)]
    for rank, _, before in ways(comm):
        assert comm.recv(before, 7, like=np.empty(300_000), rank=rank)[0] == before
    assert [handle.wait() for handle in handles] == [None] * len(handles)


def test_sendrecv(comm):
    ((_, after, before),) = ways(comm)
    same(comm.sendrecv(numbers(comm.rank, (2, comm.rank)), after, before, 3, 3), numbers(before, (2, before)))


@pytest.mark.devices
def test_permute_and_shift(comm):
    n = comm.size
    xs = [numbers(rank, (rank % 3, 2), DTYPES[rank % len(DTYPES)]) for rank in range(n)]
    mine = [xs[rank] for rank in comm.held]
    rng = np.random.default_rng(5)
    for _ in range(4):
        pairs = list(zip(rng.permutation(n).tolist(), rng.permutation(n).tolist(), strict=True))[:rng.integers(n + 1)]
        for got in (comm.permute(mine, pairs), comm.start_permute(mine, pairs).wait()):
            for rank, y in zip(comm.held, got, strict=True):
                source = next((s for s, d in pairs if d == rank), None)
                same(y, np.empty(0, xs[rank].dtype) if source is None else xs[source])
                assert not any(np.shares_memory(x, y) for x in mine)
    for by in range(-n, n + 1):
        for rank, y in zip(comm.held, comm.shift(mine, by), strict=True):
            same(y, xs[(rank - by) % n])
        for rank, y in zip(comm.held, comm.start_shift(mine, by, ring=False).wait(), strict=True):
            same(y, xs[rank - by] if 0 <= rank - by < n else np.empty(0, xs[rank].dtype))


@pytest.mark.parametrize("op", UFUNCS)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.devices
def test_scans(comm, op, dtype):
    if np.dtype(dtype).kind == "c" and op in ("max", "min"):
        return

    def expected(xs, reverse, own, rank):
        part = xs[rank + (not own):] if reverse else xs[:rank + own]
        if not part:
            lowest = {"sum": 0, "prod": 1}
            if np.dtype(dtype).kind in "iu":
                lowest |= {"max": np.iinfo(dtype).min, "min": np.iinfo(dtype).max}
            return np.full(xs[0].shape, (lowest | {"max": -np.inf, "min": np.inf} | lowest if dtype != "bool" else lowest | {"max": 0, "min": 1})[op], dtype)
        total = part[0].astype(np.float32) if dtype == "float16" else part[0]
        for x in part[1:]:
            total = UFUNCS[op](total, x)
        return total.astype(dtype)

    xs = [numbers(rank, (2, 3), dtype) for rank in range(comm.size)]
    mine = [xs[rank].T.copy().T for rank in comm.held]
    for own, name in ((True, "scan"), (False, "exscan")):
        for reverse in (False, True):
            for got in (getattr(comm, name)(mine, op, reverse=reverse),
                        getattr(comm, f"start_{name}")(mine, op, reverse=reverse).wait()):
                for rank, y in zip(comm.held, got, strict=True):
                    assert y.dtype == dtype
                    np.testing.assert_allclose(y, expected(xs, reverse, own, rank), TOLERANCE.get(dtype, 0), 1e-5)


EVERYWHERE = {
    "pairs no pairs": (lambda c, x: c.permute(x, [0]), "pairs must be .source, dest. of ranks"),
    "pairs outside": (lambda c, x: c.permute(x, [(0, c.size)]), "ranks are 0 to"),
    "pairs twice": (lambda c, x: c.permute(x, [(0, 0), (0, 0)]), "a source once and a dest once"),
    "shift by a fraction": (lambda c, x: c.shift(x, 0.5), "a shift is an integer"),
    "objects": (lambda c, x: c.shift([np.array([None])] * len(x)), "dtype object can't be sent"),
    "unknown op": (lambda c, x: c.scan(x, "median"), "op 'median'"),
    "complex": (lambda c, x: c.scan([1j * v for v in x], "max"), "complex numbers have no max"),
    "too many": (lambda c, x: c.scan([*x, *x]), "pass a list of"),
}


@pytest.mark.parametrize("name", EVERYWHERE)
@pytest.mark.devices
def test_wrong_everywhere(comm, name):
    call, text = EVERYWHERE[name]
    raises(CollectiveError, text, lambda: call(comm, [np.ones(2) for _ in comm.held]))
    assert comm.total(1.0) > 0


def test_wrong_on_one_rank_is_an_error_on_all(comm):
    if comm.size == 1:
        return
    last = comm.rank == comm.size - 1
    for call, text in ((lambda: comm.shift([np.ones(2)], 2 if last else 1), "different pairs" if comm.size > 2 else ""),
                       (lambda: comm.scan([np.ones(3 if last else 2)]), "the shapes differ"),
                       (lambda: comm.scan([np.ones(2)], reverse=last), "different collectives")):
        if text:
            raises(CollectiveError, text, call)
    assert comm.total(1.0) == comm.size


@pytest.mark.devices
def test_what_cannot_be_sent_is_an_error_at_both_ends(comm):
    for bad, text in ((np.array([None]), "dtype object can't be sent"), (None, "None instead of an array"),
                      (np.ma.array([1.0], mask=[1]), "masked"), (np.ones((1,) * 9), "at most 8 dimensions")):
        for rank, after, _ in ways(comm):
            raises(CollectiveError, f"rank {rank}: send.dest={after}, tag=2.: .*{text}", comm.send, bad, after, 2, rank=rank)
        for rank, _, before in ways(comm):
            with pytest.raises(CollectiveError, match=f"recv.source={before}, tag=2.: rank {before} could not send it: .*{text}"):
                comm.recv(before, 2, rank=rank)
    for rank, after, _ in ways(comm):
        comm.send(np.ones(3), after, rank=rank)
    for rank, _, before in ways(comm):
        with pytest.raises(CollectiveError, match=r"received float64 \(3,\), but like= requires float32 \(2,\)"):
            comm.recv(before, like=np.ones(2, np.float32), rank=rank)


@pytest.mark.parametrize("wrong", [{"dest": -1}, {"dest": 99}, {"dest": "next"}, {"tag": -1}, {"tag": 0.5}, {"tag": 2**62}, {"rank": 77}], ids=str)
@pytest.mark.devices
def test_wrong_ends(comm, wrong):
    raises(ValueError, f"{next(iter(wrong))}=", lambda: comm.send(np.ones(2), **{"dest": 0, "rank": comm.rank} | wrong))


def test_local_devices_say_which_rank_and_send_first():
    raises(ValueError, "holds ranks 0 to 1: pass rank=", lambda: Devices(2).send(np.ones(2), 1))
    with pytest.raises(CollectiveError, match=r"recv\(source=1, tag=0\) on device 0: nothing has been sent"):
        Devices(2).recv(1, rank=0)


# --- what never meets --------------------------------------------------------------------------------------------------


def test_both_receive_first():
    with pytest.raises(RankFailure, match=r"waited 2 s in recv\(source=\d, tag=4\): rank 0 waits in recv\(source=1, tag=4\) at .*; rank 1 waits"):
        run_ranks(2, lambda comm: comm.recv(1 - comm.rank, 4), timeout=2)


def test_the_sender_returns_without_sending():
    def body(comm):
        if comm.rank == 1:
            comm.recv(0)

    raises(RankFailure, r"rank 1 waits in recv\(source=0, tag=0\), but rank 0 has returned", run_ranks, 3, body)


def test_a_message_that_nobody_receives():
    def body(comm):
        if comm.rank == 0:
            comm.send(np.ones(3), 1, 5)

    raises(RankFailure, r"never received: rank 0: send\(dest=1\) of float64 \(3,\) .*tag 5", run_ranks, 2, body)


def test_the_end_of_a_rank_whose_message_nobody_receives_is_told(tmp_path):
    script = tmp_path / "lost.py"
    script.write_text("import numpy as np\nfrom dparallel import world\nc = world()\n"
                      "if c.rank == 0:\n    c.send(np.ones(3), 1)\nc.barrier()\nprint('at the end')\n")
    root = Path(__file__).parents[3]
    path = os.pathsep.join([str(root), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run([sys.executable, "-m", "launch", "-n", "2", "--threads", "1", str(script)], text=True, timeout=200,
                          cwd=root, env=os.environ | {"PYTHONPATH": path}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    assert done.stdout.count("at the end") == 2, done.stdout
    assert "rank 0 of 2 ended, but messages that it sent were never received: send(dest=1) of float64 (3,)" in done.stdout, done.stdout


@pytest.mark.mpi
def test_free_tells_what_was_never_received_on_all_ranks():
    from dparallel import world
    comm = world().duplicate()
    if comm.rank == 0:
        comm.send(np.ones(200_000), comm.size - 1, 5)
        comm.send(np.ones(2), comm.size - 1, 5)
    if comm.rank == comm.size - 1:
        comm.start_recv(0, 6)
    raises(CollectiveError, r"never received: rank 0: send\(dest=\d\) of float64 \(2,\)", comm.free)
    comm.free()                                      # again: nothing
    assert world().total(1.0) == world().size


@pytest.mark.mpi
def test_many_elements_go_in_pieces():
    from dparallel import world
    comm = world().duplicate()
    comm.max_count, n = 29, comm.size
    for count in (28, 29, 30, 58, 100):
        comm.send(numbers(comm.rank, count), (comm.rank + 1) % n)
        same(comm.recv((comm.rank - 1) % n), numbers((comm.rank - 1) % n, count))
        same(comm.shift([numbers(comm.rank, count)])[0], numbers((comm.rank - 1) % n, count))
        np.testing.assert_allclose(comm.scan([numbers(comm.rank, count)])[0], sum(numbers(p, count) for p in range(comm.rank + 1)))
    comm.free()
