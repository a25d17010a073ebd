"""Gradients are made in their buckets where that is safe, and counted in a unit that changes no bit of them."""

import numpy as np
import pytest

import autograd as ag
from autograd import nn
from autograd.core.grad_buffers import set_grad_buffer
from autograd.nn import functional as F
from dparallel import CollectiveError, DataParallel, world

USES = {"once": lambda w, b, x: F.linear(x, w, b), "twice": lambda w, b, x: F.linear(F.linear(x, w, b), w, b),
        "with another rule": lambda w, b, x: F.linear(x, w, b) + (w * w).sum()}


@pytest.mark.parametrize("use", USES.values(), ids=USES)
@pytest.mark.parametrize("hooked", ["", "tensor", "node", "output"])
@pytest.mark.parametrize("passes", [1, 2])
def test_a_gradient_in_its_home_is_the_same(use, hooked, passes):
    """Whatever else uses or watches the leaf; what a hook has seen stays as it was."""
    rng = np.random.default_rng(3)
    x, values = rng.normal(size=(6, 5)), (rng.normal(size=(5, 5)), rng.normal(size=5))
    found, homes = [], [np.full((5, 5), np.nan), np.full(5, np.nan)]
    for at_home in (False, True):
        seen = []
        w, b = leaves = [ag.tensor(v, requires_grad=True) for v in values]
        for leaf, home in zip(leaves, homes, strict=True):
            if at_home:
                set_grad_buffer(leaf, home)
        for _ in range(passes):
            y = use(w, b, ag.tensor(x))
            if hooked == "tensor":
                w.register_hook(seen.append)
            elif hooked == "node":
                w.view_as(w).grad_fn.next_functions[0][0].register_hook(lambda *grads: None)
            elif hooked == "output":
                y.grad_fn.register_hook(lambda inputs, outputs: seen.extend(g for g in inputs if g is not None))
            y.tanh().sum().backward()
        found.append([w.grad.numpy().copy(), b.grad.numpy().copy(), *(g.numpy().copy() for g in seen)])
        for home in homes:
            home += 1e3 * at_home                    # the next step's: nobody else may see it
        assert all((g.numpy() == kept).all() for g, kept in zip(seen, found[-1][2:], strict=True))
    for plain, own in zip(*found, strict=True):
        np.testing.assert_array_equal(plain, own)


def test_a_large_product_is_written_into_the_bucket(comm):
    model = DataParallel(nn.Linear(90, 70), comm=comm, batch="own")
    x = ag.tensor(np.random.default_rng(1).normal(size=(50, 90)).astype(np.float32))
    for _ in range(2):
        model.zero_grad()
        model(x).square().mean().backward()
    own = nn.Linear(90, 70)
    own.load_state_dict(model.module.state_dict())
    own(x).square().mean().backward()
    np.testing.assert_allclose(model.module.weight.grad.numpy(), own.weight.grad.numpy(), rtol=2e-5, atol=1e-7)


@pytest.mark.parametrize("rows", [[8, 8, 8, 8], [10, 10, 10, 10], [3, 7, 1, 5], [0, 5, 2, 9]])
@pytest.mark.parametrize("first", [1, 6, 64])
def test_the_unit_of_weights_changes_no_bit(comm, rows, first):
    """Gradients after a first pass of other rows are bitwise those of a model without it."""
    def gradients(comm, warmed):
        net = nn.Linear(4, 3).float()
        with ag.no_grad():
            net.weight.copy_(ag.tensor(np.linspace(-1, 1, 12).reshape(3, 4).astype(np.float32)))
            net.bias.zero_()
        model = DataParallel(net, comm=comm, batch="own")
        for n in [first] * warmed + [rows[comm.rank % 4]] * 2:
            model.zero_grad()
            model(batch(comm, n)).exp().mean(1).sum().backward()
        return [p.grad.numpy().copy() for p in model.parameters()]

    def batch(comm, n):
        return ag.tensor(np.random.default_rng(10 + comm.rank).normal(size=(n, 4)).astype(np.float32))

    for cold, warm in zip(gradients(comm, False), gradients(comm, True), strict=True):
        np.testing.assert_array_equal(cold, warm)


def test_a_rank_that_raised_in_its_first_pass_counts_in_the_same_unit(comm):
    """All of its buckets had left, so the others went on, and know the unit."""
    def raises(g):
        raise ValueError("a hook of the input's")

    model = DataParallel(nn.Linear(4, 3), comm=comm, batch="own")
    x = ag.tensor(np.full((32, 4), 1.0 + comm.rank, np.float32))
    watched = x.clone().requires_grad_() * 1
    if comm.rank == comm.size - 1:
        watched.register_hook(raises)
        with pytest.raises(ValueError, match="a hook of"):
            model(watched).sum(1).mean().backward()
    else:
        model(watched).sum(1).mean().backward()
    model.zero_grad()
    model(x).sum(1).mean().backward()
    np.testing.assert_allclose(model.module.weight.grad.numpy(), (comm.size + 1) / 2, rtol=1e-6)


@pytest.mark.mpi
@pytest.mark.parametrize("bad", [0, -1])
def test_ranks_whose_first_pass_met_others_sums_count_in_one_unit(bad):
    """One bucket had left before a rank raised. The error on all ranks is at the next one, and the step after it is right."""
    comm, rounds = world(), []
    failing = comm.rank == bad % comm.size
    if comm.size == 1 or comm.node().size < comm.size:
        pytest.skip("needs ranks that share memory")

    def planted(g):
        if not rounds and failing:
            raise ZeroDivisionError

    model = DataParallel(nn.Sequential(nn.Linear(4, 4), nn.Linear(4, 3)), bucket_cap_mb=1e-5)
    model.module[0].bias.register_hook(planted)
    x = ag.tensor(np.full((2 + 4 * comm.rank, 4), 1.0 + comm.rank, np.float32))
    for error in [ZeroDivisionError] * failing + [CollectiveError]:
        with pytest.raises(error):
            model(x).sum(1).mean().backward()
        rounds.append(error)
    for _ in range(2):
        model.zero_grad()
        model(x).sum(1).mean().backward()
        rows = 2 + 4 * np.arange(comm.size)
        h = np.stack([model.module[0](x[:1] * 0 + 1 + r).detach().numpy()[0] for r in range(comm.size)])
        np.testing.assert_allclose(model.module[1].weight.grad.numpy()[0], rows @ h / rows.sum(), rtol=1e-5)


@pytest.mark.parametrize("seed", [False, True])
def test_a_gradient_that_the_next_pass_is_computed_from(comm, seed):
    """It lies where the product of inputs and gradients is to be written."""
    net = nn.Linear(64, 64)
    model = DataParallel(net, comm=comm, batch="own")
    for _ in range(2):
        model.zero_grad()
        model(ag.ones(64, 64)).square().mean().backward()
    old, like = net.weight.grad, nn.Linear(64, 64)
    like.load_state_dict(net.state_dict())
    for module, x in ((like, old.clone()), (model, old)):
        model.zero_grad()
        y = module(ag.ones(64, 64) if seed else x)
        y.backward(x) if seed else y.square().mean().backward()
    np.testing.assert_allclose(net.weight.grad.numpy(), like.weight.grad.numpy(), rtol=1e-4, atol=1e-7)
