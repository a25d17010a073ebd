"""Reductions with an op, along any dim, in every dtype: gradients to second order against one process; and mistakes."""

import functools
import operator

import numpy as np
import pytest
from numpy_collectives import DTYPES

import autograd as ag
from dparallel import (
    AllGather,
    AllReduce,
    AllToAll,
    Broadcast,
    CollectiveError,
    Gather,
    Reduce,
    ReduceScatter,
    Scatter,
    check_adjoint,
    run_ranks,
)

FORMS = {"apply": lambda F, *xs, **settings: F.apply(*xs, **settings),
         "start": lambda F, *xs, **settings: F.start(*xs, **settings).wait()}


def tuple_of(y):
    return y if isinstance(y, tuple) else (y,)


def all_ranks(comm, shape, case, dtype="float64"):
    """The same numbers on every rank: an input for every rank; zeros, ties and ones among them."""
    rng = np.random.default_rng([case, comm.size])
    x = rng.integers(-2, 3, (comm.size, *shape)) + np.where(rng.random((comm.size, *shape)) < 0.5, rng.random(shape), 0)
    return (x + 1j * rng.standard_normal(x.shape) if np.dtype(dtype).kind == "c" else x).astype(dtype)


def in_one_process(x, op, ties):
    """op over the first dimension, as autograd has it."""
    if op in ("max", "min") and ties == "first":
        return (x.max(0) if op == "max" else x.min(0))[0]
    if op == "prod":
        return functools.reduce(operator.mul, list(x))       # x.prod() has no complex derivative
    return {"sum": x.sum, "mean": x.mean, "avg": x.mean, "max": x.amax, "min": x.amin}[op](0)


def pieces_of(comm, F, root, y):
    """What F gives each held rank of the reduced y: all, nothing, or a piece of dim 1."""
    sizes = [len(part) for part in np.array_split(np.arange(y.shape[1]), comm.size)]
    if F is ReduceScatter:
        return y.split(sizes, 1)
    return [y if F is AllReduce or rank == root else None for rank in range(comm.size)]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("dtype", ["float64", "complex128"])
@pytest.mark.parametrize(("op", "ties"), [("sum", "split"), ("mean", "split"), ("avg", "split"), ("prod", "split"), ("max", "split"),
                                          ("max", "first"), ("min", "split"), ("min", "first")])
@pytest.mark.parametrize("F", [AllReduce, Reduce, ReduceScatter], ids=lambda F: F.__name__)
def test_first_and_second_derivatives_equal_one_process(on_all_kinds, F, op, ties, dtype, form):
    if np.dtype(dtype).kind == "c" and op in ("max", "min"):
        pytest.skip("complex numbers have no max")

    def check(comm):
        root = comm.size - 1
        settings = {AllReduce: {}, Reduce: {"root": root}, ReduceScatter: {"dim": -1}}[F]
        X, U, V = (all_ranks(comm, (3, 4), case, dtype) for case in range(3))
        xs = [ag.tensor(X[rank], requires_grad=True) for rank in comm.held]
        ys = tuple_of(FORMS[form](F, *xs, comm=comm, op=op, ties=ties, **settings))
        one = ag.tensor(X, requires_grad=True)
        parts = pieces_of(comm, F, root, in_one_process(one, op, ties))
        shown = [root] if F is Reduce and len(comm.held) > 1 else comm.held
        for y, rank in zip(ys, shown, strict=True):
            if parts[rank] is not None:
                np.testing.assert_allclose(y.detach().numpy(), parts[rank].detach().numpy(), rtol=1e-12)

        weights = [np.zeros(0) if part is None else U[rank].reshape(-1)[:part.numel()].reshape(part.shape)
                   for rank, part in enumerate(parts)]
        us = [ag.tensor(weights[rank] if parts[rank] is not None else np.zeros(y.shape, dtype), requires_grad=True)
              for y, rank in zip(ys, shown, strict=True)]
        gs = ag.grad(list(ys), xs, us, create_graph=True)
        used = [rank for rank, part in enumerate(parts) if part is not None]
        all_us = [ag.tensor(weights[rank], requires_grad=True) for rank in used]
        (g,) = ag.grad([parts[rank] for rank in used], [one], all_us, create_graph=True)
        for mine, rank in zip(gs, comm.held, strict=True):
            np.testing.assert_allclose(mine.detach().numpy(), g[rank].detach().numpy(), rtol=1e-10, atol=1e-10)

        second = ag.grad(list(gs), [*xs, *us], [ag.tensor(V[rank]) for rank in comm.held], allow_unused=True)
        wanted = ag.grad([g], [one, *all_us], [ag.tensor(V)], allow_unused=True)
        for mine, rank in zip(second, comm.held, strict=False):
            expected = np.zeros((3, 4)) if wanted[0] is None else wanted[0][rank].numpy()
            got = np.zeros((3, 4)) if mine is None else mine.numpy()
            np.testing.assert_allclose(got, expected, rtol=1e-9, atol=1e-9)
        for mine, rank in zip(second[len(xs):], shown, strict=True):
            if rank in used:
                np.testing.assert_allclose(mine.numpy(), wanted[1 + used.index(rank)].numpy(), rtol=1e-9, atol=1e-9)

    on_all_kinds(check)


@pytest.mark.devices
def test_ties_and_nan_in_max(comm):
    n = comm.size
    X = np.stack([[1.0, p == 0, p, -p, 2.0, np.nan if p == n - 1 else p] for p in range(n)])
    for op, ties in (("max", "split"), ("max", "first"), ("min", "split")):
        xs = [ag.tensor(X[p], requires_grad=True) for p in comm.held]
        ag.backward([y.sum() for y in tuple_of(AllReduce.apply(*xs, comm=comm, op=op, ties=ties))])
        best = X.max(0) if op == "max" else X.min(0)
        winners = (best == X) | (np.isnan(best) & np.isnan(X))
        share = winners / winners.sum(0) if ties == "split" else winners & (np.cumsum(winners, 0) == 1)
        for x, p in zip(xs, comm.held, strict=True):
            np.testing.assert_allclose(x.grad.numpy(), n * share[p])


@pytest.mark.devices
def test_products_with_zeros_have_every_derivative(comm):
    """Zeros on one, two and three ranks: where one is zero its derivative lives, where two are the mixed one does."""
    n = comm.size
    X = np.stack([[0.0 if p < zeros else p + 2.0 for zeros in range(4)] for p in range(n)])
    def loss(x):
        return (x.prod(0) ** 2).sum() + x.prod(0).sum()
    one = ag.tensor(X, requires_grad=True)
    (g,) = ag.grad(loss(one), one, create_graph=True)
    (wanted,) = ag.grad((g ** 2).sum(), one)
    xs = [ag.tensor(X[p], requires_grad=True) for p in comm.held]
    ys = tuple_of(AllReduce.apply(*xs, comm=comm, op="prod"))
    here = [((y ** 2).sum() + y.sum()) * float(p == 0) for y, p in zip(ys, comm.held, strict=True)]
    gs = ag.grad(here, xs, create_graph=True)
    ag.backward([(g * g).sum() for g in gs])
    for x, p in zip(xs, comm.held, strict=True):
        np.testing.assert_allclose(x.grad.numpy(), wanted[p].numpy(), rtol=1e-10)


DIMS = {"Scatter": (Scatter, True), "Gather": (Gather, False), "AllGather": (AllGather, False), "ReduceScatter": (ReduceScatter, False),
        "AllToAll": (AllToAll, False)}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("dim", [-3, -2, -1, 0, 1, 2])
@pytest.mark.parametrize("name", DIMS)
@pytest.mark.devices
def test_any_dim(comm, name, dim, form):
    F, from_root = DIMS[name]
    rng = np.random.default_rng([comm.rank, dim + 3])
    shape = [2, 3, 4]
    uneven = name in ("Gather", "AllGather", "AllToAll")
    def x(rank):
        return rng.standard_normal([s + (rank if uneven and i == dim % 3 else 0) for i, s in enumerate(shape)])
    xs = [x(0) if 0 in comm.held else np.empty(0)] if from_root else [x(rank) for rank in comm.held]
    check_adjoint(lambda *xs: FORMS[form](F, *xs, comm=comm, dim=dim), xs, comm, rng)
    everyone = comm.allgather_object([[x] for x in xs][:1] if from_root else [[x] for x in xs]) if not from_root else None
    ys = tuple_of(FORMS[form](F, *[ag.tensor(x) for x in xs], comm=comm, dim=dim))
    assert all(y.array.flags.c_contiguous for y in ys)
    if name == "AllGather":
        for y in ys:
            np.testing.assert_array_equal(y.numpy(), np.concatenate([x for (x,) in everyone], dim))
    elif name == "ReduceScatter":
        for y, rank in zip(ys, comm.held, strict=True):
            total = sum(x for (x,) in everyone)
            np.testing.assert_allclose(y.numpy(), np.array_split(total, comm.size, dim)[rank], rtol=1e-12)
    elif name == "AllToAll":
        for y, rank in zip(ys, comm.held, strict=True):
            pieces = [np.array_split(x, comm.size, dim)[rank] for (x,) in everyone]
            np.testing.assert_array_equal(y.numpy(), np.concatenate(pieces, dim))


MISTAKES = {
    "dim too large": (lambda go, c, x: go(AllGather, x, comm=c, dim=2 if c.rank else 0), "dim"),
    "dim no number": (lambda go, c, x: go(Gather, x, comm=c, dim="rows" if c.rank else 0), "is not an integer"),
    "dims differ": (lambda go, c, x: go(AllGather, x, comm=c, dim=min(c.rank, 1)), "different dims"),
    "dims differ by sign": (lambda go, c, x: go(AllToAll, x, comm=c, dim=-1 if c.rank else 0), "different dims"),
    "MPI's op": (lambda go, c, x: go(AllReduce, x, comm=c, op=object() if c.rank else "sum"), "pass the operation's name"),
    "ops differ": (lambda go, c, x: go(AllReduce, x, comm=c, op="mean" if c.rank else "sum"), "different ops"),
    "ties": (lambda go, c, x: go(AllReduce, x, comm=c, op="max", ties="last" if c.rank else "first"), "ties 'last' is not one of"),
    "ties differ": (lambda go, c, x: go(ReduceScatter, x, comm=c, op="max", ties="split" if c.rank else "first"), "ranks pass different ties"),
    "mean of integers": (lambda go, c, x: go(AllReduce, ag.tensor([1, 2]), comm=c, op="mean"), "convert to floats"),
    "integers among floats": (lambda go, c, x: go(AllReduce, ag.tensor([1, 2]) if c.rank else x, comm=c), "differ"),
    "None on the root": (lambda go, c, x: go(Scatter, None, comm=c), "None instead of an array"),
    "text on the root": (lambda go, c, x: go(Broadcast, "x" if c.rank == 0 else None, comm=c), "can't be sent"),
    "sizes no list": (lambda go, c, x: go(AllToAll, x, comm=c, sizes=3 if c.rank else None), "sizes"),
    "two inputs for one rank": (lambda go, c, x: go(AllReduce, *([x, x] if c.rank else [x]), comm=c), "pass a list of 1 arrays"),
    "no_grad on one": (lambda go, c, x: no_grad_on_rank_1(go, c, x), "no_grad"),
}


def no_grad_on_rank_1(go, comm, x):
    with ag.set_grad_enabled(comm.rank != 1):
        return go(AllReduce, x, comm=comm)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_on_one_rank_is_the_same_error_on_all(comm, name, form):
    call, text = MISTAKES[name]
    if comm.size == 1:
        return
    x = ag.ones(comm.size, comm.size, dtype=ag.float64, requires_grad=True)
    with pytest.raises(CollectiveError, match=text) as caught:
        call(FORMS[form], comm, x)
    texts = comm.allgather_object([str(caught.value)])
    assert len(set(texts)) == 1
    assert AllReduce.apply(x, comm=comm).sum().item() == comm.size ** 3      # nothing is left over


LINEAR = {"AllReduce": {}, "Reduce": {}, "AllGather": {"dim": -1}, "Gather": {}, "ReduceScatter": {}, "AllToAll": {"dim": 1},
          "Broadcast": {}, "Scatter": {}}
FUNCTIONS = {F.__name__: F for F in (AllReduce, Reduce, AllGather, Gather, ReduceScatter, AllToAll, Broadcast, Scatter)}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", LINEAR)
@pytest.mark.devices
def test_every_dtype_passes(comm, name, form):
    """Also bool and integers, which are not recorded; float16 and complex numbers with their gradients."""
    for dtype in DTYPES:
        floating = np.dtype(dtype).kind in "fc"
        inputs = comm.held[:1] if name in ("Broadcast", "Scatter") else comm.held
        xs = [ag.tensor((np.arange(12).reshape(3, 4) % 5 + p).astype(dtype), requires_grad=floating) for p in inputs]
        ys = tuple_of(FORMS[form](FUNCTIONS[name], *xs, comm=comm, **LINEAR[name]))
        assert all(y.dtype == np.dtype(dtype) and y.requires_grad == floating for y in ys), dtype
        if floating:
            gs = ag.grad(list(ys), xs, [ag.ones(*y.shape, dtype=y.dtype) for y in ys], allow_unused=True)
            assert all(g is None or (g.dtype == x.dtype and g.shape == x.shape) for g, x in zip(gs, xs, strict=True))


@pytest.mark.devices
def test_numpy_arrays_and_numbers_are_taken_as_tensors(comm):
    ys = tuple_of(AllReduce.apply(*[np.full(2, p) for p in comm.held], comm=comm))
    assert ys[0].tolist() == [sum(range(comm.size))] * 2 and isinstance(ys[0], ag.Tensor)
    assert tuple_of(Broadcast.apply(2.5, comm=comm))[0].item() == 2.5


def test_complex_gradients_are_pytorchs():
    torch = pytest.importorskip("torch")
    rng = np.random.default_rng(0)
    X = rng.standard_normal((3, 2)) + 1j * rng.standard_normal((3, 2))
    U = rng.standard_normal((3, 2)) + 1j * rng.standard_normal((3, 2))

    def check(comm):
        x = ag.tensor(X[comm.rank], requires_grad=True)
        AllReduce.apply(x, comm=comm, op="prod").backward(ag.tensor(U[comm.rank]))
        return x.grad.numpy()

    x = torch.tensor(X, requires_grad=True)
    x.prod(0).backward(torch.tensor(U.sum(0)))
    np.testing.assert_allclose(np.stack(run_ranks(3, check)), x.grad.numpy(), rtol=1e-12)
