"""Messages over several passes: graphs kept and not used, penalties, rows of a Jacobian; and passes from one end of many."""

import numpy as np
import pytest

import autograd as ag
from dparallel import AllReduce, Devices, RankFailure, Recv, Send, join, run_ranks
from dparallel.functions.message_states import FRESH, HELD, RECEIVER, SENDER, Event, State, by_state
from dparallel.functions.pending_messages import MAX_MISSES
from dparallel.functions.pending_messages import pending as kept
from dparallel.testing import gradcheck, gradgradcheck


def leaf(comm, seed=0, n=2):
    return ag.tensor(np.random.default_rng([seed, comm.rank]).standard_normal(n), requires_grad=True)


def round_the_ring(x, comm, held=None):
    """The tensor of the rank before; the token is dropped, or kept in a list."""
    token = Send.apply(x, dest=(comm.rank + 1) % comm.size, comm=comm)
    if held is not None:
        held.append(token)
    return Recv.apply(source=(comm.rank - 1) % comm.size, comm=comm)


def pending():
    return [m for m in kept.messages if not m.is_closed()]


@pytest.mark.parametrize("power", [1, 2])
@pytest.mark.parametrize("keep", ["gradients", "tokens", "all", "nothing"])
def test_graphs_of_passes_that_no_pass_uses_up(comm, power, keep):
    """Linear (the gradient has no graph) or not, whatever is held: each step's gradient is right, and all comes to an end."""
    w, held, tokens = leaf(comm), [], [] if keep in ("tokens", "all") else None
    for _ in range(4):
        y = round_the_ring(w * w, comm, tokens)
        loss = (y ** power).sum()
        g, = ag.grad(loss, w, create_graph=True)
        mine = w.detach().numpy()
        np.testing.assert_allclose(g.detach().numpy(), 2 * mine * power * (mine ** 2) ** (power - 1))
        held.append({"gradients": g, "tokens": None, "all": (y, loss, g), "nothing": None}[keep])
        del y, loss, g
    held.clear()
    tokens = None
    for _ in range(2):
        (w * 3).sum().backward()
    assert pending() == []
    np.testing.assert_allclose(w.grad.numpy(), 6)


@pytest.mark.parametrize("joined", [False, True])
@pytest.mark.parametrize("power", [1, 2, 3])
def test_gradient_penalties_in_every_way_equal_one_process(comm, power, joined):
    """The penalty alone, with its loss, and in the next step's pass."""
    n = comm.size
    all_x = [np.random.default_rng([5, rank]).standard_normal(2) for rank in range(n)]

    def one_process(weight, twice):
        xs = [ag.tensor(x, requires_grad=True) for x in all_x]
        losses = [((rank + 1) * (xs[rank - 1] * xs[rank - 1]) ** power * (1 + 0 * xs[rank])).sum() for rank in range(n)]
        gs = ag.grad(sum(losses), xs, create_graph=True)
        total = sum((g ** 2).sum() for g in gs) + weight * sum(losses)
        total = total + (sum((x ** 3).sum() for x in xs) if twice else 0)
        total.backward()
        return xs[comm.rank].grad.numpy()

    def mine(weight, twice):
        x = ag.tensor(all_x[comm.rank], requires_grad=True)
        tokens = []
        y = round_the_ring(x * x, comm, tokens)
        loss = ((comm.rank + 1) * y ** power).sum()
        if joined:
            loss = join(loss, *tokens)
        tokens.clear()
        g, = ag.grad(loss, x, create_graph=True)
        if twice:                                # another graph is walked in between
            other = ag.grad((round_the_ring(x, comm) ** 3).sum(), x)[0]
            np.testing.assert_allclose(other.numpy(), 3 * all_x[comm.rank] ** 2)
        total = (g ** 2).sum() + (weight * loss if weight else 0) + ((x ** 3).sum() if twice else 0)
        total.backward()
        return x.grad.numpy()

    for weight in (0, 1):
        for twice in (False, True):
            np.testing.assert_allclose(mine(weight, twice), one_process(weight, twice), rtol=1e-10)


@pytest.mark.parametrize("end", ["sender", "receiver"])
def test_only_one_end_uses_the_gradient_of_the_gradient(comm, end):
    """A penalty on one rank; the other one's second pass is that of its loss, or of nothing."""
    if comm.size == 1 or comm.rank > 1:
        return
    w = ag.tensor([2.0 + comm.rank], dtype=ag.float64, requires_grad=True)
    if comm.rank == 0:
        Send.apply(w * w, dest=1, comm=comm)
        g, = ag.grad((w * 0).sum(), w, create_graph=True)          # d(b a^4)/da = 4 b a^3
        assert g.item() == 4 * 3 * 8
        ((g ** 2).sum() if end == "sender" else (w * 0).sum()).backward()
        expected = 2 * 96 * 12 * 3 * 4 if end == "sender" else 2 * 16 * 4 * 8       # penalty (4 b a^3)^2, or (a^4)^2
        assert w.grad.item() == expected
    else:
        y = Recv.apply(source=0, comm=comm)
        g, = ag.grad((w * y ** 2).sum(), w, create_graph=True)
        assert g.item() == 16
        ((g ** 2).sum() if end == "receiver" else (w * 0).sum()).backward()
        assert w.grad is None if end == "receiver" else w.grad.item() == 2 * 96 * 4 * 8


@pytest.mark.parametrize("create", [False, True])
def test_rows_of_a_jacobian_one_by_one(comm, create):
    """Each row is a pass of its own, from a node of its own; a row may come from an end that nothing was sent to."""
    x = leaf(comm, n=3)
    y = round_the_ring(x * x, comm)
    z = ag.cat([y ** 2, x[:1]])                  # the last row leads to no message
    for row in (0, 3, 1, 2, 3):
        g, = ag.grad(z[row], x, retain_graph=True, create_graph=create, allow_unused=True)
        expected = np.zeros(3)
        expected[row % 3] = 1 if row == 3 else 4 * x[row].item() ** 3
        np.testing.assert_allclose(g.detach().numpy(), expected)


def test_ranks_that_come_by_at_different_rows(comm):
    """In one pass only some of the ranks reach what they received."""
    x = leaf(comm)
    y = round_the_ring(x * 2, comm)
    for turn in range(2 * comm.size):
        loss = (y * (turn + 1)).sum() if turn % comm.size == comm.rank or turn == 0 else (x * 5).sum()
        g, = ag.grad(loss, x, retain_graph=True, materialize_grads=True)
        right = (comm.rank + 1) % comm.size
        sent = 2 * (turn + 1) if turn % comm.size == right or turn == 0 else 0
        own = 0 if turn % comm.size == comm.rank or turn == 0 else 5
        assert g.tolist() == [sent + own] * 2, turn


def test_a_graph_that_only_the_sender_keeps(comm):
    if comm.size == 1 or comm.rank > 1:
        return
    w = ag.ones(2, dtype=ag.float64, requires_grad=True)
    if comm.rank == 0:
        Send.apply(w * 3, dest=1, comm=comm)
        (w * 0).sum().backward(retain_graph=True)
    else:
        (Recv.apply(source=0, comm=comm) * w).sum().backward()
    (w * 1).sum().backward()
    assert w.grad.tolist() == [4.0, 4.0]


def test_third_derivatives(comm):
    x = leaf(comm)
    y = round_the_ring(x * x, comm)
    g, = ag.grad((y ** 3).sum(), x, create_graph=True)             # x^6
    h, = ag.grad(g.sum(), x, create_graph=True)
    k, = ag.grad(h.sum(), x, create_graph=True)
    np.testing.assert_allclose(k.detach().numpy(), 120 * x.detach().numpy() ** 3)
    (k ** 2).sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), 2 * 120 ** 2 * 3 * x.detach().numpy() ** 5)
    del g, h, k, y
    for _ in range(3):
        (x * 1).sum().backward()
    assert pending() == []


def test_a_rank_whose_graph_is_gone_need_not_have_as_many_passes(comm):
    def kept():
        x = leaf(comm)
        y = round_the_ring(x * 2, comm)
        ag.grad(y.sum(), x, create_graph=True)
        ag.grad((y ** 2).sum(), x, retain_graph=True)

    kept()
    total = AllReduce.apply(ag.ones(1), comm=comm)
    if comm.rank == 0:
        for _ in range(3):
            x = leaf(comm)
            (x * 2).sum().backward()
            assert x.grad.tolist() == [2, 2] and total.item() == comm.size
        assert pending() == []
    comm.barrier()


@pytest.mark.parametrize("grads", [False, True])
def test_a_kept_graph_that_many_passes_do_not_reach_is_given_up(comm, grads):
    """Also where a variable still leads to it."""
    x, w = leaf(comm), leaf(comm)
    y = round_the_ring(x * 2, comm)
    loss = (y ** 2).sum()
    loss.backward(retain_graph=True)
    for _ in range((8 if grads else 1) * MAX_MISSES + 1):
        assert pending() != [] or comm.size == 1
        ag.grad(w.sum(), w) if grads else w.sum().backward()
    if comm.size > 1:
        assert pending() == []
        with pytest.raises(RuntimeError, match="was kept by a pass with retain_graph .* closed"):
            loss.backward()


def test_a_rank_that_passes_on_what_it_got_does_so_in_grad_too(comm):
    """What rank 1 sends leads to nothing that is asked for there, but to what it received, which the pass reaches."""
    if comm.size == 1 or comm.rank > 1:
        return
    w = ag.tensor([3.0], dtype=ag.float64, requires_grad=True)
    if comm.rank == 0:
        Send.apply(w * w, dest=1, comm=comm)
        assert ag.grad((Recv.apply(source=1, comm=comm) ** 2).sum(), w)[0].item() == 4 * 4 * 27 + 6 * 3
    else:
        y = Recv.apply(source=0, comm=comm)
        Send.apply(y * 2, dest=0, comm=comm)
        assert ag.grad((y * w).sum(), w)[0].item() == 9


def test_graphs_of_a_communicator_that_was_given_back(comm):
    group, x = comm.duplicate(), leaf(comm)
    y = round_the_ring(x * 2, group)
    ag.grad((y ** 2).sum(), x, create_graph=True)
    group.free()
    del y
    (x * AllReduce.apply(ag.ones(1), comm=comm)).sum().backward()
    assert x.grad.tolist() == [comm.size] * 2


def test_a_pass_that_no_other_rank_has_is_told():
    def body(comm):
        w = ag.ones(2, requires_grad=True)
        if comm.rank == 0:
            Send.apply(w * 3, dest=1, comm=comm)
            (w * 0).sum().backward(retain_graph=True)
            (w * 0).sum().backward()
        else:
            (Recv.apply(source=0, comm=comm) * w).sum().backward(retain_graph=True)
        comm.barrier()

    with pytest.raises(RankFailure, match=r"rank 0 waits in recv\(source=1, status of the gradient of message 0\) .*; rank 1 waits in barrier"):
        run_ranks(2, body)


# --- one process holds both ends -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("used", [[0], [1], [0, 2], []])
@pytest.mark.parametrize("style", ["dropped", "held", "joined"])
def test_a_pass_from_some_of_the_received_tensors(used, style):
    comm = Devices(3)
    xs, hs = [ag.tensor([rank + 1.0], requires_grad=True) for rank in range(3)], ()
    for keep in (True, True, False):                 # a new graph each time
        tokens = [Send.apply(x * x, dest=rank, comm=comm, rank=rank) for rank, x in enumerate(xs)]
        ys = [Recv.apply(source=rank, comm=comm, rank=rank) for rank in range(3)]
        if style == "dropped":
            tokens.clear()
        loss = sum([(ys[rank] ** 2).sum() for rank in used], start=0 * sum(x.sum() for x in xs))
        if style == "joined":
            loss = join(loss, *tokens)
        gs = ag.grad(loss, xs, retain_graph=keep, create_graph=keep)
        assert [g.item() for g in gs] == [4 * x.item() ** 3 if rank in used else 0 for rank, x in enumerate(xs)]
        if keep and used:
            hs = ag.grad(sum(g.sum() for g in gs), xs, create_graph=True, materialize_grads=True)
            assert [h.item() for h in hs] == [12 * x.item() ** 2 if rank in used else 0 for rank, x in enumerate(xs)]
    rest = [rank for rank in range(3) if rank not in used]
    if rest and style != "joined":                   # what was not reached waits for its own pass
        gs = ag.grad(sum(ys[rank].sum() for rank in rest), xs, materialize_grads=True)
        assert [g.item() for g in gs] == [2 * x.item() if rank in rest else 0 for rank, x in enumerate(xs)]
    del ys, loss, gs, hs
    (xs[0] * 2).sum().backward()
    assert pending() == []


def test_the_checkers_on_devices_ask_for_one_output_at_a_time():
    comm = Devices(2)

    def ring(a, b):
        for rank, x in enumerate((a, b)):
            Send.apply(x * x, dest=1 - rank, comm=comm, rank=rank)
        return tuple(Recv.apply(source=1 - rank, comm=comm, rank=rank) ** 2 for rank in range(2))

    xs = [ag.tensor([1.5, 2.0], dtype=ag.float64, requires_grad=True), ag.tensor([0.5], dtype=ag.float64, requires_grad=True)]
    assert gradcheck(ring, xs, comm) and gradgradcheck(ring, xs, comm=comm)


# --- the table of states ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("table", [SENDER, RECEIVER])
def test_states_of_messages(table):
    """Each state of an end is reached from its first ones; closed ones stay so."""
    states, new = {State.NEW, State.KEPT}, True
    while new:
        new = {after for (state, _), (after, _) in table.items() if state in states} - states
        states |= new
    assert {state for state, _ in table if state not in FRESH} <= states
    closed = {State.CLOSED, State.USED_UP, State.EXPIRED}
    assert not closed & {state for state, _ in table} and closed & states and not closed & (FRESH | HELD)
    assert FRESH | HELD | closed == set(State) and not FRESH & HELD


def test_rows_of_the_table_do_not_contradict():
    row = {State.NEW}, Event.KEEPS, State.KEPT, None
    assert by_state(row) == {(State.NEW, Event.KEEPS): (State.KEPT, None)}
    with pytest.raises(ValueError, match="two rows"):
        by_state(row, row)
