"""Handles may be waited for in another order on each rank, with other calls in between: gradients are the same."""

import numpy as np
import pytest

import autograd as ag
from autograd import forward_ad
from autograd.utils.checkpoint import checkpoint
from dparallel import AllReduce, CollectiveError, Recv, Send


def waited(handles, order):
    """Their results by number, waited for in that order."""
    found = {number: handles[number].wait() for number in order}
    return [found[number] for number in range(len(handles))]


def orders(comm, count):
    """For several rounds: in which order this rank waits; other ranks do otherwise."""
    for shift in range(count):
        turned = [(number + shift * comm.rank) % count for number in range(count)]
        yield turned
        yield turned[::-1] if comm.rank % 2 else turned


def test_gradients_do_not_depend_on_the_order_of_waits_to_second_order(comm):
    def results(order):
        x = ag.tensor(np.random.default_rng(comm.rank).standard_normal(2), requires_grad=True)
        if order is None:
            ys = [AllReduce.apply(x * (k + 1), comm=comm) for k in range(3)]
        else:
            ys = waited([AllReduce.start(x * (k + 1), comm=comm) for k in range(3)], order)
        g, = ag.grad(sum((10 ** k * (y ** 3)).sum() for k, y in enumerate(ys)), x, create_graph=True)
        (g ** 2).sum().backward()
        return g.detach().numpy(), x.grad.numpy()

    expected = results(None)
    for order in orders(comm, 3):
        for a, b in zip(results(order), expected, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-12)


def test_as_reported(comm):
    """It was [18, 36] where [16, 32] is right."""
    x = ag.tensor([1.0, 2.0], dtype=ag.float64, requires_grad=True)
    handles = [AllReduce.start(x, comm=comm), AllReduce.start(2 * x, comm=comm)]
    a, b = waited(handles, [0, 1] if comm.rank == 0 else [1, 0])
    (a * x.detach() + b * 3 * (comm.rank + 1)).sum().backward()
    total = sum(3 * (rank + 1) for rank in range(comm.size))
    assert x.grad.tolist() == [comm.size * 1 + 2 * total, comm.size * 2 + 2 * total]


def other(comm, what, x):
    """What comes between start and wait: a collective, one inside checkpoint, or a message to the next rank."""
    if what == "apply":
        return AllReduce.apply(x, comm=comm)
    if what == "checkpoint":
        return checkpoint(lambda v: AllReduce.apply(v * v, comm=comm) * v, x, use_reentrant=True)
    if comm.rank == 0 < comm.size - 1:
        Send.apply(x * x, dest=comm.size - 1, comm=comm)
    return Recv.apply(source=0, comm=comm) * x if comm.rank == comm.size - 1 > 0 else x * 1


@pytest.mark.parametrize("what", ["apply", "checkpoint", "message"])
def test_other_calls_between_start_and_wait_on_some_ranks_only(comm, what):
    def results(late):
        x = ag.tensor(np.random.default_rng(comm.rank).standard_normal(2), requires_grad=True)
        w = ag.tensor(np.random.default_rng(9 + comm.rank).standard_normal(2), requires_grad=True)
        handle = AllReduce.start(x * 2, comm=comm)
        y = None if late else handle.wait()
        z = other(comm, what, w)
        y = handle.wait() if late else y
        ((y ** 2).sum() + 10 * (z ** 2).sum()).backward()
        return x.grad.numpy(), w.grad.numpy()

    expected = results(False)
    for late in (comm.rank % 2 == 0, comm.rank % 2 == 1, True):
        for a, b in zip(results(late), expected, strict=True):
            np.testing.assert_array_equal(a, b)


def test_forward_mode_and_forward_over_reverse_with_waits_in_other_orders(comm):
    def results(order):
        rng = np.random.default_rng(comm.rank)
        x, t = ag.tensor(rng.standard_normal(2), requires_grad=True), ag.tensor(rng.standard_normal(2))
        with forward_ad.dual_level():
            dual = forward_ad.make_dual(x, t)
            ys = waited([AllReduce.start(dual * (k + 1), comm=comm) for k in range(2)], order)
            loss = sum((10 ** k * y ** 3).sum() for k, y in enumerate(ys))
            g, = ag.grad(loss, x, create_graph=True)
            found = [forward_ad.unpack_dual(loss).tangent, g, forward_ad.unpack_dual(g).tangent]
            second, = ag.grad((found[0] ** 2).sum(), x)
        return [v.detach().numpy() for v in (*found, second)]

    for order in orders(comm, 2):
        for a, b in zip(results(order), results([0, 1]), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-12)


def test_two_communicators_whose_handles_are_waited_for_in_other_orders(comm):
    comms = comm, comm.duplicate()
    x = ag.tensor([1.0 + comm.rank], dtype=ag.float64, requires_grad=True)
    handles = [AllReduce.start(x * (k + 1), comm=c) for k, c in enumerate(comms)]
    a, b = waited(handles, [0, 1] if comm.rank % 2 else [1, 0])
    (a + 10 * b).sum().backward()
    assert x.grad.item() == 21 * comm.size
    comms[1].free()


def test_waits_in_the_order_of_starts_overlap_in_backward_too(comm):
    """A wait that nothing overtook keeps its own place: its partner starts before the work after start() goes back."""
    x = ag.ones(2, requires_grad=True)
    first, second = (AllReduce.start(x, comm=comm) for _ in range(2))
    between = x * 2
    a, b = first.wait(), second.wait()
    assert between.grad_fn._sequence_nr() < a.grad_fn._sequence_nr() < b.grad_fn._sequence_nr()


@pytest.mark.parametrize("go", [lambda x, c: AllReduce.apply(x, comm=c), lambda x, c: AllReduce.start(x, comm=c).wait()])
@pytest.mark.parametrize("create", [False, True])
def test_ranks_whose_passes_come_by_different_collectives_are_told(comm, go, create):
    """They were summed with each other: the shapes are the same."""
    x = ag.ones(2, requires_grad=True)
    for _ in range(2):                           # and all is well afterwards
        ys = [go(x * (k + 1), comm) for k in range(comm.size)]
        if comm.size > 1:
            with pytest.raises(CollectiveError, match="backward passes reach different collectives") as caught:
                ag.grad(ys[comm.rank].sum(), x, create_graph=create)
            assert "the gradient of recorded collective" in str(caught.value)
        ys = [go(x * (k + 1), comm) for k in range(2)]
        g, = ag.grad(sum(y.sum() for y in ys), x, create_graph=create)
        assert g.tolist() == [3 * comm.size] * 2
