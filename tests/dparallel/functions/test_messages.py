"""Send, Recv and the rest: exact adjoints, to second order, in all directions; unused results neither hang nor lose gradients."""

import warnings

import numpy as np
import pytest
from raised import raises

import autograd as ag
from autograd import forward_ad
from dparallel import (
    AllReduce,
    Barrier,
    CollectiveError,
    Devices,
    Irecv,
    Isend,
    Permute,
    RankFailure,
    Recv,
    Scan,
    Send,
    SendRecv,
    Wait,
    check_adjoint,
    join,
    run_ranks,
)
from dparallel.functions import pending_messages as messages
from dparallel.testing import gradcheck, gradgradcheck

pytestmark = pytest.mark.quick


def rng_of(comm, case=0):
    return np.random.default_rng([comm.rank, case, comm.size])


def tuple_of(y):
    return y if isinstance(y, tuple) else (y,)


def halves(comm):
    """Pairs that leave some ranks out."""
    return [(rank, (rank + 1) % comm.size) for rank in range(0, comm.size, 2)]


COLLECTIVES = {
    "ring": lambda c, by: lambda *xs: SendRecv.apply(*xs, comm=c, by=by),
    "line": lambda c, by: lambda *xs: SendRecv.apply(*xs, comm=c, by=by, ring=False),
    "line, started": lambda c, by: lambda *xs: SendRecv.start(*xs, comm=c, by=by, ring=False).wait(),
    "permute": lambda c, by: lambda *xs: Permute.apply(*xs, comm=c, pairs=[(p, (by - p) % c.size) for p in range((c.size + 1) // 2)]),
    "permute, halves": lambda c, by: lambda *xs: Permute.apply(*xs, comm=c, pairs=halves(c)),
    "scan": lambda c, by: lambda *xs: Scan.apply(*xs, comm=c, reverse=by < 0, exclusive=bool(by % 2)),
    "scan, started": lambda c, by: lambda *xs: Wait.apply(Scan.start(*xs, comm=c, reverse=by < 0, exclusive=bool(by % 2))),
    "barrier": lambda c, by: lambda *xs: Barrier.apply(*xs, comm=c),
}


@pytest.mark.parametrize("name", COLLECTIVES)
@pytest.mark.devices
def test_backward_of_collectives_is_the_adjoint(comm, name):
    for by in range(-comm.size, comm.size + 1):
        rng = rng_of(comm, by + 9)
        check_adjoint(COLLECTIVES[name](comm, by), [rng.standard_normal((2, 3)) for _ in comm.held], comm, rng)
        check_adjoint(COLLECTIVES[name](comm, by), [rng.standard_normal(()) for _ in comm.held], comm, rng)


@pytest.mark.parametrize("name", COLLECTIVES)
@pytest.mark.devices
def test_forward_mode_of_collectives(comm, name):
    """They are linear: the tangents are what they make of the tangents; also where only one rank has some."""
    rng = rng_of(comm)
    call, xs = COLLECTIVES[name](comm, 1), [ag.tensor(rng.standard_normal(3)) for _ in comm.held]
    for everyone in (True, False):
        ts = [ag.tensor(rng.standard_normal(3)) * (everyone or rank == 0) for rank in comm.held]
        expected = tuple_of(call(*ts))
        with forward_ad.dual_level():
            duals = [forward_ad.make_dual(x, t) if everyone or rank == 0 else x for rank, x, t in zip(comm.held, xs, ts)]
            for y, t in zip(tuple_of(call(*duals)), expected, strict=True):
                tangent = forward_ad.unpack_dual(y).tangent
                np.testing.assert_allclose(0 * t.numpy() if tangent is None else tangent.numpy(), t.numpy(), rtol=1e-12)


@pytest.mark.devices
def test_pairs_may_be_an_iterator_and_may_change_before_backward(comm):
    back = [((rank + 1) % comm.size, rank) for rank in range(comm.size)]
    for make in (lambda: iter(back), lambda: list(back)):
        pairs, xs = make(), [ag.ones(2, requires_grad=True) for _ in comm.held]
        ys = tuple_of(Permute.apply(*xs, comm=comm, pairs=pairs))
        if isinstance(pairs, list):
            pairs.clear()
        sum((y * (rank + 1)).sum() for rank, y in zip(comm.held, ys, strict=True)).backward()
        assert [x.grad.tolist() for x in xs] == [[(rank - 1) % comm.size + 1.0] * 2 for rank in comm.held]


@pytest.mark.devices
def test_values_of_scan_and_barrier(comm):
    xs = [ag.tensor(float(rank + 1), dtype=ag.float64) for rank in comm.held]
    for kind, expected in (({}, lambda p: sum(range(p + 2))), ({"exclusive": True}, lambda p: sum(range(p + 1))),
                           ({"reverse": True}, lambda p: sum(range(p + 1, comm.size + 1))),
                           ({"reverse": True, "exclusive": True}, lambda p: sum(range(p + 2, comm.size + 1)))):
        assert [y.item() for y in tuple_of(Scan.apply(*xs, comm=comm, **kind))] == [expected(p) for p in comm.held]
    assert [y.item() for y in tuple_of(Barrier.apply(*xs, comm=comm))] == [x.item() for x in xs]
    assert Barrier.apply(comm=comm) is None


# --- Send and Recv -------------------------------------------------------------------------------------------------------


def ring(comm, by, style, tag=0):
    """xs -> what each rank here receives from the one `by` before it, by messages; with tokens in several styles."""
    def call(*xs):
        n, sent, got = comm.size, [], []
        for rank, x in zip(comm.held, xs, strict=True):
            ends = {"comm": comm, "dest": (rank + by) % n, "tag": tag, "rank": rank}
            sent.append(Isend.apply(x, **ends) if style == "handles" else Send.apply(x, **ends))
        tokens = [handle.wait() if style == "handles" else handle for handle in sent]
        if style == "dropped":
            del tokens, sent
        for rank in comm.held:
            ends = {"comm": comm, "source": (rank - by) % n, "tag": tag, "rank": rank}
            got.append(Wait.apply(Irecv.apply(**ends)) if style == "handles" else Recv.apply(**ends))
        if style in ("joined", "handles"):
            got[0] = join(got[0], *tokens)
        return tuple(got) + (tuple(tokens) if style == "outputs" else ())

    return call


@pytest.mark.parametrize("style", ["dropped", "held", "joined", "outputs", "handles"])
@pytest.mark.devices
def test_backward_of_messages_is_the_adjoint(comm, style):
    for by in range(-comm.size, comm.size + 1):
        rng = rng_of(comm, by + 9)
        check_adjoint(ring(comm, by, style, tag=abs(by)), [rng.standard_normal((rank + 1, 3)) for rank in comm.held], comm, rng)
        check_adjoint(ring(comm, by, style), [rng.standard_normal(()) for _ in comm.held], comm, rng)


@pytest.mark.parametrize("style", ["dropped", "held", "joined", "handles"])
@pytest.mark.devices
def test_second_derivatives_of_messages_by_differences(comm, style):
    xs = [ag.tensor(rng_of(comm, rank).standard_normal(2), requires_grad=True) for rank in comm.held]
    for power in (1, 3):                         # linear: the gradient does not depend on x; else it does
        call = ring(comm, 1, style)
        assert gradgradcheck(lambda *xs, call=call, power=power: [y ** power for y in call(*xs)], xs, comm=comm)
    assert gradcheck(ring(comm, 1, style), xs, comm)      # nothing waits for a pass before


def test_one_message_is_checked_to_second_order(comm):
    """The receiver's x has no part: the second pass over what it sent back is its only one."""
    def call(x):
        return Recv.apply(source=0, comm=comm) ** 2 if comm.rank else Send.apply(x, dest=1, comm=comm)

    if comm.size == 2:
        check_adjoint(call, [rng_of(comm).standard_normal(3)], comm)
        assert gradgradcheck(call, [ag.tensor(rng_of(comm).standard_normal(3), requires_grad=True)], comm)


@pytest.mark.devices
def test_second_order_equals_one_process(comm):
    """A cubic penalty on the gradient, through messages, in plain backward passes."""
    n = comm.size
    data = [np.random.default_rng(p).standard_normal(3) for p in range(n)]
    ones = [ag.tensor(x, requires_grad=True) for x in data]
    g = ag.grad(sum((x * ones[p - 1] ** 3).sum() for p, x in enumerate(ones)), ones, create_graph=True)
    ag.backward(sum((v ** 2).sum() for v in g))
    mine = [ag.tensor(data[rank], requires_grad=True) for rank in comm.held]
    got = ring(comm, 1, "dropped")(*mine)
    gs = ag.grad(sum((x * y ** 3).sum() for x, y in zip(mine, got, strict=True)), mine, create_graph=True)
    sum((v ** 2).sum() for v in gs).backward()
    for rank, x in zip(comm.held, mine, strict=True):
        np.testing.assert_allclose(x.grad.numpy(), ones[rank].grad.numpy(), rtol=1e-10)


@pytest.mark.parametrize("held", [False, True])
def test_what_nobody_uses_neither_hangs_nor_loses_gradients(comm, held):
    """As in other toolkits' documentation: without a dummy in the loss the sender's gradient is 1 there, where 2 is right."""
    n, last = comm.size, comm.rank == comm.size - 1
    x = ag.ones(2, dtype=ag.float64, requires_grad=True)
    token = Send.apply(x * 1, comm=comm, dest=(comm.rank + 1) % n)
    if not held:
        del token
    y = Recv.apply(comm=comm, source=(comm.rank - 1) % n)
    if not held and last:
        del y                                    # its sender gets zeros, and does not wait
    (x.sum() if last else (x + y).sum()).backward()
    receiver_uses_it = (comm.rank + 1) % n != n - 1
    assert x.grad.tolist() == [2.0 if receiver_uses_it else 1.0] * 2
    x.grad = None
    (AllReduce.apply(x, comm=comm)).sum().backward()           # and the next pass is as ever
    assert x.grad.tolist() == [float(n)] * 2


def test_a_rank_without_a_loss_calls_backward_on_its_token(comm):
    if comm.size == 1:
        return
    w = ag.full((2,), comm.rank + 1.0, dtype=ag.float64, requires_grad=True)
    if comm.rank == 0:
        Send.apply(w * w, comm=comm, dest=1).sum().backward()
    elif comm.rank < comm.size - 1:
        Send.apply(w * Recv.apply(comm=comm, source=comm.rank - 1), comm=comm, dest=comm.rank + 1).sum().backward()
    else:
        (w * Recv.apply(comm=comm, source=comm.rank - 1)).sum().backward()
    product = np.prod(np.arange(1.0, comm.size + 1))
    assert w.grad.tolist() == pytest.approx([product / w[0].item() * (2 if comm.rank == 0 else 1)] * 2)


def test_micro_batches_whose_tokens_are_held_keep_their_own_passes(comm):
    """Two stages; the first goes back batch by batch, newest or oldest first, and messages pair up by number."""
    if comm.size == 1 or comm.rank > 1:
        return
    for order in ([0, 1, 2], [2, 0, 1]):
        w = ag.tensor([2.0], dtype=ag.float64, requires_grad=True)
        seen = []
        if comm.rank == 0:
            tokens = [Send.apply(w * b, comm=comm, dest=1) for b in range(3)]
            for b in order:
                tokens[b].sum().backward()
                seen.append(w.grad.item())
        else:
            ys = [Recv.apply(comm=comm, source=0) for _ in range(3)]
            for b in [1, 2, 0]:
                (ys[b] * w * 10 ** b).sum().backward()
        if comm.rank == 0:
            assert seen == list(np.cumsum([2.0 * b * 10 ** b for b in order]))
        else:
            assert w.grad.item() == sum(2.0 * b * 10 ** b for b in range(3))


@pytest.mark.devices
def test_shapes_dtypes_and_recording(comm):
    n = comm.size
    for x in (ag.tensor([1, 2]), ag.tensor(True), ag.ones(0, 3), ag.ones(2, 3, dtype=ag.float16).T, ag.tensor(2.5, dtype=ag.float32)):
        for rank in comm.held:
            assert not Send.apply(x, comm=comm, dest=(rank + 1) % n, rank=rank).requires_grad
        for rank in comm.held:
            y = Recv.apply(comm=comm, source=(rank - 1) % n, like=x, rank=rank)
            assert y.dtype == x.dtype and y.tolist() == x.tolist() and not y.requires_grad
    for x in ([1.5, 2.0], 3, np.float32(4)):     # as collectives take them
        for rank in comm.held:
            assert Send.apply(x, comm=comm, dest=(rank + 1) % n, rank=rank).shape == (0,)
        assert [Recv.apply(comm=comm, source=(rank - 1) % n, rank=rank).tolist() for rank in comm.held] == [x] * len(comm.held)
    w = ag.ones(2, dtype=ag.float32, requires_grad=True)
    for recorded in (True, False):
        with ag.set_grad_enabled(recorded):
            tokens = [Send.apply(w, comm=comm, dest=(rank + 1) % n, rank=rank) for rank in comm.held]
            ys = [Recv.apply(comm=comm, source=(rank - 1) % n, rank=rank) for rank in comm.held]
        assert all(t.requires_grad == recorded and t.shape == (0,) for t in tokens)
        assert all(y.requires_grad == recorded and y.is_leaf != recorded for y in ys)
        if recorded:
            assert type(ys[0].grad_fn).__name__ == "RecvBackward"
            ag.backward([y.sum() for y in ys])
            assert w.grad.dtype == ag.float32 and w.grad.tolist() == [len(ys)] * 2
    for rank in comm.held:
        Send.apply(ag.ones(2), comm=comm, dest=(rank + 1) % n, rank=rank)
    for rank in comm.held:
        with pytest.raises(CollectiveError, match=r"received float32 \(2,\), but like= requires float64 \(2,\)"):
            Recv.apply(comm=comm, source=(rank - 1) % n, like=np.ones(2), rank=rank)


def test_both_send_much_first(comm):
    x = ag.ones(500_000, dtype=ag.float64, requires_grad=True)
    Send.apply(x * (comm.rank + 1), comm=comm, dest=(comm.rank + 1) % comm.size)
    y = Recv.apply(comm=comm, source=(comm.rank - 1) % comm.size)
    (y * (comm.rank + 1)).sum().backward()
    assert x.grad[0].item() == (comm.rank + 1) * ((comm.rank + 1) % comm.size + 1)


# --- mistakes ------------------------------------------------------------------------------------------------------------


def test_the_receiver_does_not_record(comm):
    w = ag.ones(2, requires_grad=True)
    token = Send.apply(w, comm=comm, dest=(comm.rank + 1) % comm.size)
    with ag.no_grad(), pytest.raises(RuntimeError, match=r"rank \d sent a tensor that requires grad, .* not recorded here"):
        Recv.apply(comm=comm, source=(comm.rank - 1) % comm.size)
    messages.pending.messages.clear()
    del token


@pytest.mark.threads(2)
def test_the_receiver_never_calls_backward(comm):
    """It ends, and what it received had no part in a loss."""
    w = ag.ones(2, requires_grad=True)
    if comm.rank == 0:
        Send.apply(w, comm=comm, dest=1).sum().backward()
        assert w.grad.tolist() == [0, 0]
    else:
        Recv.apply(comm=comm, source=0)


def test_the_receiver_waits_before_it_calls_backward():
    def body(comm):
        w = ag.ones(2, requires_grad=True)
        if comm.rank == 0:
            Send.apply(w, comm=comm, dest=1).sum().backward()
        else:
            Recv.apply(comm=comm, source=0)
        comm.barrier()

    with pytest.raises(RankFailure, match=r"rank 0 waits in recv\(source=1, gradient of message 0\) .*; rank 1 waits in barrier"):
        run_ranks(2, body)


@pytest.mark.threads(2)
def test_a_message_that_an_earlier_pass_took_up(comm):
    w = ag.ones(2, requires_grad=True)
    result = Send.apply(w, comm=comm, dest=1) if comm.rank == 0 else Recv.apply(source=0, comm=comm)
    (w * 2).sum().backward()                     # nothing uses it yet
    assert w.grad.tolist() == [2, 2]
    comm.barrier()
    name = "Recv: message 0 from rank 0" if comm.rank else "Send: message 0 to rank 1"
    raises(RuntimeError, f"{name} at .* took part in an earlier backward pass", lambda: result.sum().backward())


def test_one_process_knows_that_a_pass_does_not_reach_the_other_end():
    comm = Devices(1)
    w = ag.ones(2, requires_grad=True)
    token = Send.apply(w, comm=comm, dest=0)
    y = Recv.apply(comm=comm, source=0)
    (w * 2).sum().backward()
    assert w.grad.tolist() == [2, 2]
    y.sum().backward()
    token.sum().backward()
    assert w.grad.tolist() == [3, 3]


def test_grad_takes_up_only_what_leads_to_an_input_that_is_asked_for():
    comm = Devices(1)
    w, z = ag.ones(2, requires_grad=True), ag.ones(2, requires_grad=True)
    Send.apply(w * 3, comm=comm, dest=0)
    y = Recv.apply(comm=comm, source=0)
    assert ag.grad((z * z).sum(), z)[0].tolist() == [2, 2]
    assert ag.grad((y * z).sum(), w)[0].tolist() == [3, 3]


@pytest.mark.threads(1)
def test_many_messages_without_backward_are_told(comm):
    w = ag.ones(1, requires_grad=True)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for _ in range(messages.WARN_AT // 2):
            Send.apply(w, comm=comm, dest=0)
            Recv.apply(comm=comm, source=0)
    (w * 2).sum().backward()
    assert w.grad.item() == 2 and "Evaluate inside no_grad()" in str(caught[0].message) and len(caught) == 1


def test_join_and_forward_mode_and_wrong_arguments():
    comm = Devices(1)
    x = ag.ones(2, requires_grad=True)
    assert join(x).tolist() == [1, 1] and join(x, None).grad_fn is not None
    token = Send.apply(x * 2, comm=comm, dest=0)
    Recv.apply(comm=comm, source=0)
    assert "SendBackward" in str(join(x, [token], None).grad_fn.next_functions)
    raises(TypeError, "or of a handle.s wait", lambda: join(x, Isend.apply(x.detach(), comm=comm, dest=0)))
    Recv.apply(comm=comm, source=0)
    raises(TypeError, "one of torch.int64", lambda: join(ag.tensor([1])))
    raises(TypeError, "not float", join, 1.0)
    raises(ValueError, "dest=1 is not one of the ranks 0 to 0", Send.apply, x, comm=comm, dest=1)
    raises(ValueError, "tag=-1 is not one of", Send.apply, x, comm=comm, dest=0, tag=-1)
    raises(TypeError, "neither a Communicator nor an mpi4py", Send.apply, x, comm="world", dest=0)
    with forward_ad.dual_level():                        # see test_messages_forward_mode.py
        Send.apply(forward_ad.make_dual(ag.ones(2), 3 * ag.ones(2)), comm=comm, dest=0)
        y = forward_ad.unpack_dual(Recv.apply(comm=comm, source=0))
        assert y.primal.tolist() == [1, 1] and y.tangent.tolist() == [3, 3]
