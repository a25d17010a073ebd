"""CopyToRanks and ReduceFromRanks: gradients of one loss that every rank computes alike."""

import numpy as np
import pytest

import autograd as ag
from dparallel import AllReduce, CopyToRanks, ReduceFromRanks
from dparallel.testing import check_adjoint, explain_factor


def as_tuple(y):
    return y if isinstance(y, tuple) else (y,)


def columns(comm, w):
    cuts = np.array_split(np.arange(w.shape[1]), comm.size)
    return [w[:, cuts[rank].tolist()] for rank in comm.held]


def numbers(*shape, seed):
    return ag.tensor(np.random.default_rng(seed).standard_normal(shape), requires_grad=True)


def split_layer(comm, xs, a, b):
    """tanh(x A) B with the columns of A and the rows of B split over ranks; each rank has x, and gets the result."""
    xs = as_tuple(CopyToRanks.apply(*xs, comm=comm))
    parts = [(x @ a_part).tanh() @ b_part.T for x, a_part, b_part in zip(xs, columns(comm, a), columns(comm, b.T))]
    return as_tuple(ReduceFromRanks.apply(*parts, comm=comm))


def trained(comm, layer, ranks):
    """Outputs, gradients and second-order gradients; of x for each rank held, of the weights for this process."""
    xs, a, b = [numbers(4, 3, seed=1) for _ in range(ranks)], numbers(3, 7, seed=2), numbers(7, 2, seed=3)
    ys = layer([x.exp() for x in xs], a, b)
    gs = ag.grad([(y ** 3).sum() for y in ys], xs, create_graph=True)
    ag.backward([(g ** 2).sum() for g in gs])            # the second order stays in the convention
    return [*ys], [*gs], [x.grad for x in xs], [a.grad, b.grad]


@pytest.mark.devices
def test_a_split_layer_has_the_gradients_of_one_process(comm):
    *ours, weights = trained(comm, lambda xs, a, b: split_layer(comm, xs, a, b), len(comm.held))
    *one, (a, b) = trained(comm, lambda xs, a, b: [(xs[0] @ a).tanh() @ b], 1)
    for held, expected in zip(ours, one):
        for value in held:
            np.testing.assert_allclose(value.detach().numpy(), expected[0].detach().numpy(), rtol=1e-9)
    for value, expected in zip(weights, (a, b)):     # each process has the gradient of its own part
        parts = comm.allgather_object([value.numpy()] * len(comm.held))
        np.testing.assert_allclose(sum(parts) if len(comm.held) == 1 else parts[0], expected.numpy(), rtol=1e-9)


def test_without_the_pair_the_checker_says_off_by_exactly_n(comm):
    x = numbers(4, seed=1)
    loss = (AllReduce.apply(x, comm=comm) ** 2).sum()            # the same on every rank
    (g,) = ag.grad(loss, x)
    y = numbers(4, seed=1)
    (right,) = ag.grad((ReduceFromRanks.apply(y, comm=comm) ** 2).sum(), y)
    hint = explain_factor(g.numpy(), right.numpy(), comm.size)
    assert (f"off by exactly {comm.size}" in hint and "CopyToRanks" in hint) if comm.size > 1 else hint == ""
    for function in (CopyToRanks, ReduceFromRanks):             # they are not in the sum's convention
        if comm.size > 1:
            with pytest.raises(AssertionError, match="ranks"):
                check_adjoint(lambda x, f=function: f.apply(x, comm=comm), [np.random.default_rng(comm.rank).standard_normal(3)], comm)


def test_recorded_on_all_ranks_or_on_none(comm):
    x = ag.ones(2, dtype=ag.float64, requires_grad=comm.rank == 0)
    y = CopyToRanks.apply(x, comm=comm)
    assert y.requires_grad and not CopyToRanks.apply(ag.ones(1), comm=comm).requires_grad
    (y * (comm.rank + 1)).sum().backward()
    if comm.rank == 0:
        assert x.grad.tolist() == [comm.size * (comm.size + 1) / 2] * 2
