"""autograd.grad() and create_graph through DataParallel: averaged over ranks, and right to second order."""

import contextlib
import copy
import warnings

import numpy as np
import pytest
from filled_models import filled

import autograd as ag
import dparallel.distributed as dist
from autograd import nn, optim
from dparallel import DataParallel

pytestmark = pytest.mark.quick

warnings.filterwarnings("ignore", message="Using backward")
FEATURES = 3


def make():
    return filled(nn.Sequential(nn.Linear(FEATURES, 4), nn.Tanh(), nn.Linear(4, 2)).double())


def rows_of(rank, size, average):
    """Unequal rows where they count; one rank has none."""
    return 2 if average != "rows" else 0 if rank == 0 and size > 1 else rank + 1


def piece(rank, rows):
    return ag.from_numpy(np.random.default_rng(rank).standard_normal((rows, FEATURES)))


def loss_of(net, x, average):
    total = (net(x) ** 2).sum()
    return total if average == "sum" else total / max(len(x), 1)


def objective(net, size, average):
    """What all ranks train on, in one process."""
    rows = [rows_of(r, size, average) for r in range(size)]
    if average == "rows":
        return loss_of(net, ag.cat([piece(r, n) for r, n in enumerate(rows)]), average)
    return sum(loss_of(net, piece(r, n), average) for r, n in enumerate(rows)) / (size if average == "ranks" else 1)


def same(found, expected, rtol=1e-12):
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_allclose(a.detach().numpy(), b.detach().numpy(), rtol=rtol, atol=rtol)


@pytest.mark.parametrize("average", ["rows", "ranks", "sum"])
def test_grad_is_averaged(comm, average):
    model, one = DataParallel(make(), comm=comm, batch="own", average=average), make()
    x = piece(comm.rank, rows_of(comm.rank, comm.size, average))
    params = list(model.parameters())
    same(ag.grad(loss_of(model, x, average), params), ag.grad(objective(one, comm.size, average), list(one.parameters())))
    some = ag.grad(loss_of(model, x, average), {"w": params[2]})
    same([some["w"]], ag.grad(objective(one, comm.size, average), list(one.parameters())[2:3]))
    assert all(p.grad is None for p in params)
    loss_of(model, x, average).backward()
    one.zero_grad()
    objective(one, comm.size, average).backward()
    same([p.grad for p in params], [p.grad for p in one.parameters()])


def penalty(gs):
    return sum((g ** 2).sum() for g in gs)


@pytest.mark.parametrize("average", ["rows", "ranks"])
@pytest.mark.parametrize("way", ["grad", "backward"])
def test_second_order(comm, average, way):
    """A penalty on the gradient with respect to parameters: its own gradient, and a third derivative."""
    model, one = DataParallel(make(), comm=comm, batch="own", average=average), make()
    x = piece(comm.rank, rows_of(comm.rank, comm.size, average))

    def once(net, loss):
        params = list(net.parameters())
        if way == "grad":
            first = ag.grad(loss, params, create_graph=True)
        else:
            loss.backward(create_graph=True)
            first = [p.grad for p in params]
            net.zero_grad()
        return params, first

    params, first = once(model, loss_of(model, x, average))
    others, expected = once(one, objective(one, comm.size, average))
    same(first, expected)
    second = ag.grad(penalty(first), params, create_graph=True)
    second_expected = ag.grad(penalty(expected), others, create_graph=True)
    same(second, second_expected, 1e-11)
    penalty(second).backward()
    penalty(second_expected).backward()
    same([p.grad for p in params], [p.grad for p in others], 1e-10)


def test_five_steps_with_a_penalty_on_the_weights_gradient(comm):
    """The loss itself and the penalty in one backward: rank-dependent losses, not replicated ones."""
    model, one = DataParallel(make(), comm=comm, batch="own"), make()
    x = piece(comm.rank, rows_of(comm.rank, comm.size, "rows"))
    for net, loss in ((model, lambda: loss_of(model, x, "rows")), (one, lambda: objective(one, comm.size, "rows"))):
        optimizer = optim.SGD(net.parameters(), lr=0.01)
        for _ in range(5):
            optimizer.zero_grad()
            value = loss()
            first = ag.grad(value, list(net.parameters()), create_graph=True)
            (value + 0.1 * penalty(first)).backward()
            optimizer.step()
    same(list(model.parameters()), list(one.parameters()), 1e-11)


def test_recorded_gradients_add_to_what_is_there(comm):
    model = DataParallel(make(), comm=comm, batch="own")
    x = piece(comm.rank, rows_of(comm.rank, comm.size, "rows"))
    loss_of(model, x, "rows").backward()
    once = [p.grad.numpy().copy() for p in model.parameters()]
    loss_of(model, x, "rows").backward(create_graph=True)
    for p, g in zip(model.parameters(), once, strict=True):
        np.testing.assert_allclose(p.grad.detach().numpy(), 2 * g, rtol=1e-12)


def test_grad_inside_no_sync_and_of_inputs_stays_here(comm):
    model, one = DataParallel(make(), comm=comm, batch="own"), make()
    x = piece(comm.rank, comm.rank + 1).requires_grad_()
    with model.no_sync():
        mine = ag.grad(loss_of(model, x, "rows"), list(model.parameters()))
    same(mine, ag.grad(loss_of(one, x, "rows"), list(one.parameters())))
    same(ag.grad(loss_of(model, x, "rows"), x), ag.grad(loss_of(one, x, "rows"), x))


def test_parameters_that_some_ranks_do_not_use(comm):
    class Branches(nn.Module):
        def __init__(self):
            self.a, self.b, self.c = (nn.Linear(FEATURES, 1).double() for _ in range(3))
            filled(self)

        def forward(self, x, both):
            return self.a(x) + self.b(x) if both else self.a(x)

    model, one = DataParallel(Branches(), comm=comm, average="ranks", batch="own"), Branches()
    params = list(model.parameters())
    found = ag.grad(model(piece(comm.rank, 2), comm.rank == 0).sum(), params, allow_unused=True)
    total = sum(one(piece(r, 2), r == 0).sum() for r in range(comm.size)) / comm.size
    expected = ag.grad(total, list(one.parameters()), allow_unused=True)
    assert [g is None for g in found] == [g is None for g in expected] == [False] * 4 + [True] * 2
    same(found[:4], expected[:4])


def input_penalty(net, x):
    """A penalty on the gradient with respect to inputs, of a sum of outputs: its seed is a constant, without a graph."""
    x = x.detach().requires_grad_()
    g, = ag.grad(net(x).sum(), x, create_graph=True)
    return (g ** 2).sum() / max(len(x), 1)


@pytest.mark.parametrize("way", ["grad", "backward"])
def test_a_penalty_whose_graph_does_not_reach_the_outputs(comm, way):
    model, one = DataParallel(make(), comm=comm, batch="own", find_unused_parameters=True), make()
    x = piece(comm.rank, rows_of(comm.rank, comm.size, "rows"))
    everything = ag.cat([piece(r, rows_of(r, comm.size, "rows")) for r in range(comm.size)])

    def gradients(net, rows):
        weights = [p for p in net.parameters() if p.ndim == 2]
        if way == "grad":
            return ag.grad(input_penalty(net, rows), weights)
        input_penalty(net, rows).backward()
        return [p.grad for p in weights]

    same(gradients(model, x), gradients(one, everything))


def test_third_derivatives_of_a_loss_that_is_linear_in_the_outputs(comm):
    model, one = DataParallel(make(), comm=comm, batch="own"), make()
    x = piece(comm.rank, rows_of(comm.rank, comm.size, "rows"))
    everything = ag.cat([piece(r, rows_of(r, comm.size, "rows")) for r in range(comm.size)])

    def third(net, rows):
        value = net(rows).sum() / max(len(rows), 1)
        for _ in range(3):
            gs = ag.grad(value, list(net.parameters()), create_graph=True, allow_unused=True)
            value = penalty([g for g in gs if g is not None])
        return [g for g in gs if g is not None]

    same(third(model, x), third(one, everything), 1e-9)


def test_second_order_where_a_ranks_gradients_are_zero(comm):
    """Classes of no rows: this rank's gradients are constants, and still it takes part in the next average."""
    model, one = DataParallel(make(), comm=comm, batch="own"), make()
    rows = [rows_of(r, comm.size, "rows") for r in range(comm.size)]
    everything = ag.cat([piece(r, n) for r, n in enumerate(rows)])

    def second(net, x):
        loss = nn.functional.cross_entropy(net(x), ag.from_numpy(np.zeros(len(x), np.int64)))
        params = list(net.parameters())
        return ag.grad(penalty(ag.grad(loss, params, create_graph=True)), params)

    same(second(model, piece(comm.rank, rows[comm.rank])), second(one, everything), 1e-11)


def adapted(net, support, query, steps, way):
    """MAML: the loss of `query` with weights that `steps` of gradient descent on `support` have made, with their graph."""
    weights = fast = dict(net.named_parameters())
    with net.no_sync() if way == "no_sync" else contextlib.nullcontext():
        for step in range(steps):
            y = net(support) if way == "called" and step == 0 else ag.func.functional_call(net, fast, (support,))
            gs = ag.grad((y ** 2).mean(), list(fast.values()), create_graph=way != "first order")
            fast = {name: w - 0.1 * g for (name, w), g in zip(fast.items(), gs, strict=True)}
    assert all(fast[name] is not w for name, w in weights.items())
    return (ag.func.functional_call(net, fast, (query,)).sin() ** 2).mean()


MAML = {"rows": DataParallel, "copied": lambda net, comm: copy.deepcopy(DataParallel(net, comm=comm)), "buckets": lambda net, comm: nn.DataParallel(net, comm=comm, bucket_cap_mb=1e-5),
        "devices": lambda net, comm: DataParallel(net, comm=comm, batch="own", devices=2),
        "reproducible": lambda net, comm: DataParallel(net, comm=comm, reproducible=4),
        "ddp": lambda net, comm: dist.DistributedDataParallel(net)}


@pytest.mark.parametrize("steps", [1, 2])
@pytest.mark.parametrize("way", ["called", "functional", "first order", "no_sync"])
@pytest.mark.parametrize("wrapper", MAML)
def test_fast_weights(comm, wrapper, way, steps):
    """Gradients are those of one process with all rows; in no_sync(), and as in PyTorch under DistributedDataParallel, each
    rank takes its own inner steps. Support and query have different numbers of rows."""
    if wrapper == "reproducible" and (way == "no_sync" or 4 % comm.size):
        return
    even = wrapper == "reproducible"
    rows = [(4, 4) if even else (r + 2, 2 * (comm.size - r)) for r in range(comm.size)]
    support, query = ([piece(10 * r + k, n[k]) for r, n in enumerate(rows)] for k in (0, 1))
    dist.init_process_group(comm=comm)
    model, one = MAML[wrapper](make(), comm), make()
    one.no_sync = contextlib.nullcontext
    if wrapper == "ddp" or way == "no_sync":
        counts = [1 if wrapper == "ddp" else n for _, n in rows]
        for r, n in enumerate(counts):
            (adapted(one, support[r], query[r], steps, way) * n / sum(counts)).backward()
    else:
        adapted(one, ag.cat(support), ag.cat(query), steps, way).backward()
    for _ in range(2):
        model.zero_grad()
        adapted(model, support[comm.rank], query[comm.rank], steps, way).backward()
        same([p.grad for p in model.parameters()], [p.grad for p in one.parameters()], 1e-11)
    if wrapper == "copied":                      # nor is the first pass one with other tensors in the parameters' places
        model, one = MAML[wrapper](make(), comm), make()
        for net, x in ((model, query[comm.rank]), (one, ag.cat(query))):
            ag.func.functional_call(net, {n: p * 2 for n, p in net.named_parameters()}, (x,)).square().mean().backward()
        same([p.grad for p in model.parameters()], [p.grad for p in one.parameters()], 1e-11)
    foreign = {name: p.detach().requires_grad_() for name, p in model.named_parameters()}
    if comm.size > 1 and not even:
        with pytest.raises(RuntimeError, match="was replaced after the model was wrapped"):
            ag.func.functional_call(model, foreign, (query[comm.rank],)).sum().backward()
    dist.destroy_process_group()


def test_a_loss_that_counts_nothing_can_not_use_averages(comm):
    model = DataParallel(make(), comm=comm)
    params = list(model.parameters())
    first = ag.grad(loss_of(model, piece(comm.rank, 2), "rows"), params, create_graph=True)
    loss = penalty(first)
    with model.weighted(comm.rank):
        if comm.size > 1:
            with pytest.raises(RuntimeError, match="weight 0 on this rank depends on averaged gradients"):
                loss.backward()
