"""Forward mode through Send and Recv, alone and over reverse."""

import numpy as np
import pytest

import autograd as ag
import autograd.transforms.forward_ad as fwAD
from dparallel import Irecv, Isend, Recv, Send, Wait, join


def ring(x, comm, waiting):
    """What comes from the left, sent to the right; and the token."""
    right, left = (comm.rank + 1) % comm.size, (comm.rank - 1) % comm.size
    if waiting:
        sent, came = Isend.apply(x, dest=right, comm=comm), Irecv.apply(source=left, comm=comm)
        return Wait.apply(came), Wait.apply(sent)
    token = Send.apply(x, dest=right, comm=comm)
    return Recv.apply(source=left, comm=comm), token


def values(rank, seed=0):
    return np.random.default_rng([seed, rank]).standard_normal((2, 3))


@pytest.mark.parametrize("waiting", [False, True])
def test_tangents_travel_with_values(comm, waiting):
    left = (comm.rank - 1) % comm.size
    with fwAD.dual_level():
        x = fwAD.make_dual(ag.tensor(values(comm.rank)), ag.tensor(values(comm.rank, 1)))
        y, _ = ring(x.sin(), comm, waiting)
        primal, tangent = fwAD.unpack_dual(y * y)
    s, c = np.sin(values(left)), np.cos(values(left))
    np.testing.assert_allclose(primal.numpy(), s * s, rtol=1e-12)
    np.testing.assert_allclose(tangent.numpy(), 2 * s * c * values(left, 1), rtol=1e-12)


def test_a_rank_without_a_tangent_sends_none(comm):
    with fwAD.dual_level():
        x = ag.tensor(values(comm.rank))
        if comm.rank == 0:
            x = fwAD.make_dual(x, ag.ones(2, 3, dtype=ag.float64))
        y, _ = ring(x * 2, comm, False)
        tangent = fwAD.unpack_dual(y).tangent
        assert (tangent.tolist() == [[2.0] * 3] * 2) if (comm.rank - 1) % comm.size == 0 else tangent is None


def test_forward_over_reverse(comm):
    """f = sum of y^3 over all ranks, y what came: f'' t = 6 x t, as the tangent of the gradient."""
    data, direction = values(comm.rank), values(comm.rank, 1)
    with fwAD.dual_level():
        x = fwAD.make_dual(ag.tensor(data, requires_grad=True), ag.tensor(direction))
        y, token = ring(x, comm, False)
        (g,) = ag.grad(join((y ** 3).sum(), token), x, create_graph=True)
        hvp = fwAD.unpack_dual(g).tangent
    np.testing.assert_allclose(hvp.detach().numpy(), 6 * data * direction, rtol=1e-12)


def test_reverse_over_forward(comm):
    """The same as the gradient of the tangent."""
    data, direction = values(comm.rank), values(comm.rank, 1)
    x = ag.tensor(data, requires_grad=True)
    with fwAD.dual_level():
        y, token = ring(fwAD.make_dual(x, ag.tensor(direction)), comm, False)
        tangent = fwAD.unpack_dual(join((y ** 3).sum(), token)).tangent
    tangent.backward()
    np.testing.assert_allclose(x.grad.numpy(), 6 * data * direction, rtol=1e-12)


@pytest.mark.threads(2)
def test_a_tangent_for_a_rank_without_a_level_is_an_error(comm):
    if comm.rank == 0:
        with fwAD.dual_level():
            Send.apply(fwAD.make_dual(ag.ones(2), ag.ones(2)), dest=1, comm=comm)
    else:
        with pytest.raises(RuntimeError, match="rank 0 sent a tensor with a tangent, but no dual level"):
            Recv.apply(source=0, comm=comm)


@pytest.mark.threads(2)
def test_like_is_compared_with_the_value(comm):
    with fwAD.dual_level():
        if comm.rank == 0:
            Send.apply(fwAD.make_dual(ag.ones(2), ag.ones(2)), dest=1, comm=comm)
        else:
            assert Recv.apply(source=0, comm=comm, like=ag.ones(2)).shape == (2,)
