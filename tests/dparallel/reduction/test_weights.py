"""What ranks count: rows, tokens, nothing; over several passes; equal to one process with everything, to 1e-12."""

import warnings
from types import SimpleNamespace

import numpy as np
import pytest

import autograd as ag
from autograd import nn, optim
from dparallel import CollectiveError, DataParallel
from dparallel.reduction import unused

pytestmark = pytest.mark.quick
FEATURES = 5


def make(dtype=ag.float64):
    net = nn.Sequential(nn.Linear(FEATURES, 6), nn.Tanh(), nn.Linear(6, 3)).to(dtype)
    for number, p in enumerate(net.parameters()):
        p.data = ag.tensor(np.random.default_rng(number).standard_normal(p.shape), dtype=dtype)
    return net


def piece(rank, number, rows):
    return ag.from_numpy(np.random.default_rng([rank, number]).standard_normal((rows, FEATURES)))


def mean_loss(model, x):
    """A mean over rows; nan where there are none, as losses are."""
    return (model(x) ** 2).sum() / float(len(x)) if len(x) else (model(x) ** 2).sum() * float("nan")


def expect(model, one, rtol=1e-12):
    for p, q in zip(model.parameters(), one.parameters(), strict=True):
        np.testing.assert_allclose(p.grad.numpy(), q.grad.numpy(), rtol=rtol, atol=rtol)


def sizes(size, passes):
    """Rows of each rank in each pass: unequal, some empty."""
    return [[(3 * rank + 2 * number) % 5 if (rank, number) != (0, 0) else 4 for number in range(passes)]
            for rank in range(size)]


@pytest.mark.parametrize("set_to_none", [True, False])
def test_unequal_micro_batches_equal_one_process_on_all_rows(comm, set_to_none):
    """Losses are divided by the number of passes, as in PyTorch; passes have different numbers of rows, or none."""
    model, one = DataParallel(make(), comm=comm, batch="own", bucket_cap_mb=0.0001), make()
    table = sizes(comm.size, 3)
    for _ in range(2):
        model.zero_grad(set_to_none=set_to_none)
        one.zero_grad()
        for number in range(3):
            with model.no_sync(number < 2):
                (mean_loss(model, piece(comm.rank, number, table[comm.rank][number])) / 3).backward()
        mean_loss(one, ag.cat([piece(r, n, table[r][n]) for r in range(comm.size) for n in range(3)])).backward()
        expect(model, one)


@pytest.mark.parametrize("average", ["rows", "ranks", "sum"])
@pytest.mark.parametrize("where", ["forward", "backward", "both"])
def test_given_weights(comm, average, where):
    """Tokens: some ranks have none. After three passes the mean over all tokens, without dividing by three."""
    model, one = DataParallel(make(), comm=comm, batch="own", average=average), make()
    tokens = [[(7 * rank + 3 * number) % 4 * 2.5 + (rank == comm.size - 1) for number in range(3)] for rank in range(comm.size)]

    def loss_of(net, rank, number):
        x = piece(rank, number, 3)
        loss = mean_loss(net, x)
        return loss * tokens[rank][number] if average == "sum" else loss

    for number in range(3):
        weight = tokens[comm.rank][number]
        with model.no_sync(number < 2):
            if where == "forward":
                with model.weighted(weight):
                    loss = loss_of(model, comm.rank, number)
                loss.backward()
            elif where == "backward":
                loss = loss_of(model, comm.rank, number)
                with model.weighted(np.float32(weight)):
                    loss.backward()
            else:
                with model.weighted(ag.tensor(weight)):
                    loss_of(model, comm.rank, number).backward()
    total = sum(map(sum, tokens))
    for rank in range(comm.size):
        for number in range(3):
            loss = mean_loss(one, piece(rank, number, 3))
            (loss * (tokens[rank][number] / total)).backward()
    expect(model, one)


def test_a_weight_of_zero_hides_nan(comm):
    model, one = DataParallel(make(), comm=comm, batch="own"), make()
    x = piece(comm.rank, 0, 2) * (float("nan") if comm.rank == 0 and comm.size > 1 else 1.0)
    with model.weighted(float(comm.rank or comm.size == 1)):
        mean_loss(model, x).backward()
    total = sum(range(comm.size)) or 1.0
    sum((mean_loss(one, piece(r, 0, 2)) * ((r or comm.size == 1) / total) for r in range(comm.size)),
        ag.tensor(0.0, dtype=ag.float64)).backward()
    expect(model, one)


def test_several_calls_are_one_loss(comm):
    """Two calls in one block count once; two calls outside count their rows together."""
    for given in (True, False):
        model, one = DataParallel(make(), comm=comm, batch="own"), make()
        rows = comm.rank + 1

        def pair(net, rank):
            return ((net(piece(rank, 0, rank + 1)) - net(piece(rank, 1, rank + 1))) ** 2).sum() / (rank + 1)

        if given:
            with model.weighted(rows):
                loss = pair(model, comm.rank)
        else:
            loss = pair(model, comm.rank)
        loss.backward()
        total = sum(r + 1 for r in range(comm.size))
        sum(pair(one, r) * ((r + 1) / total) for r in range(comm.size)).backward()
        expect(model, one)


@pytest.mark.parametrize("average", ["rows", "ranks", "sum"])
@pytest.mark.parametrize("passes", [1, 3])
def test_gradients_that_are_kept_are_added_to(comm, average, passes):
    """Without zero_grad the next sum adds up, also after passes of different weights."""
    model, found = DataParallel(make(), comm=comm, batch="own", average=average), []
    for _ in range(3):
        for number in range(passes):
            with model.no_sync(number < passes - 1):
                mean_loss(model, piece(comm.rank, number, comm.rank + number + 1)).backward()
        found.append([p.grad.numpy().copy() for p in model.parameters()])
    for a, b, c in zip(*found, strict=True):
        np.testing.assert_allclose(b, 2 * a, rtol=1e-11)
        np.testing.assert_allclose(c, 3 * a, rtol=1e-11)


def test_dropped_passes_do_not_count(comm):
    model, one = DataParallel(make(), comm=comm, batch="own"), make()
    for set_to_none in (True, False):
        with model.no_sync():
            mean_loss(model, piece(comm.rank, 0, 9 - comm.rank)).backward()
        model.zero_grad(set_to_none=set_to_none)
        one.zero_grad()
        mean_loss(model, piece(comm.rank, 1, comm.rank + 1)).backward()
        mean_loss(one, ag.cat([piece(r, 1, r + 1) for r in range(comm.size)])).backward()
        expect(model, one)


@pytest.mark.parametrize("weight", [-1, float("nan"), float("inf"), "many", None])
def test_a_bad_weight_is_an_error_on_all_ranks(comm, weight):
    model = DataParallel(make(), comm=comm, batch="own")
    with (pytest.raises(RuntimeError, match=f"rank {comm.size - 1}: weighted\\("),
          model.weighted(weight if comm.rank == comm.size - 1 else 3)):
        mean_loss(model, piece(comm.rank, 0, 2)).backward()
    mean_loss(model, piece(comm.rank, 0, 2)).backward()          # all is well again
    assert all(p.grad is not None for p in model.parameters())


def test_half_precision_does_not_overflow(comm):
    """Gradients near float16's end, times rows, would be infinite."""
    model, one = DataParallel(make(ag.float16), comm=comm, batch="own"), make(ag.float16)
    x = ag.ones(300 + comm.rank, FEATURES, dtype=ag.float16)
    (model(x).sum() * (1000.0 / len(x))).backward()
    y = ag.ones(1, FEATURES, dtype=ag.float16)
    (one(y).sum() * 1000.0).backward()
    expect(model, one, 2e-2)
    assert all(np.isfinite(p.grad.numpy()).all() for p in model.parameters())


def test_a_step_on_gradients_that_were_not_summed_is_named(on_ranks, monkeypatch):
    told = []                                    # the ranks' threads share Python's filters of warnings
    monkeypatch.setattr(unused, "warnings", SimpleNamespace(warn=lambda text, *_, **__: told.append(text)))

    def check(comm):
        model = DataParallel(make(), comm=comm, batch="own", verify_every=0)          # or the checksum would be an error first
        optimizer = optim.SGD(model.parameters(), lr=0.1)
        with model.no_sync():
            mean_loss(model, piece(comm.rank, 0, 2)).backward()
        comm.barrier()
        optimizer.step()
        comm.barrier()
        assert len(told) == (1 if comm.kind == "mpi" else comm.size)
        assert "SGD.step() on gradients that were not summed over ranks" in told[0] and "2.weight" in told[0]
        for clear in (lambda: mean_loss(model, piece(comm.rank, 0, 2)).backward(), optimizer.zero_grad):
            clear()
            optimizer.step()
        comm.barrier()
        assert len(told) == (1 if comm.kind == "mpi" else comm.size)

    on_ranks(check)


class Tempered(nn.Module):
    """A parameter that only the loss uses: its gradient comes before backward reaches the outputs."""

    def __init__(self):
        self.layer, self.scale = nn.Linear(FEATURES, 3, bias=False), nn.Parameter(ag.tensor(1.5))
        self.double()
        self.layer.weight.data = ag.tensor(np.random.default_rng(0).standard_normal((3, FEATURES)))

    def forward(self, x):
        return self.layer(x)


@pytest.mark.parametrize("way", ["rows", "weighted", "sum", "sum twice", "graph"])
def test_a_parameter_that_only_the_loss_uses(on_ranks, way):
    def check(comm):
        average = "sum" if "sum" in way else "rows"
        model, one = DataParallel(Tempered(), comm=comm, batch="own", average=average), Tempered()
        table = [[rank + 1, 2 * rank + 3] for rank in range(comm.size)]

        def loss(net, own, x):
            total = ((net(x) * own.scale) ** 2).sum()
            return total if average == "sum" else total / float(len(x))

        for number in range(2):
            rows = table[comm.rank][number]
            with model.no_sync(number == 0 and way in ("rows", "weighted", "sum")):
                value = loss(model, model.module, piece(comm.rank, number, rows))
                if way == "weighted":
                    with model.weighted(rows):
                        value.backward()
                elif way == "rows":
                    (value / 2).backward()
                else:
                    value.backward(create_graph=way == "graph" and number == 1)
        both = [ag.cat([piece(r, n, table[r][n]) for r in range(comm.size)]) for n in range(2)]
        if way == "graph":
            for x in both:
                loss(one, one, x).backward()
        else:
            loss(one, one, ag.cat(both)).backward()
        for p, q in zip(model.parameters(), one.parameters(), strict=True):
            np.testing.assert_allclose(p.grad.detach().numpy(), q.grad.numpy(), rtol=1e-12)

    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Using backward")
        on_ranks(check)


@pytest.mark.parametrize("first", [0, 1, 2])
def test_micro_batches_whose_gradient_is_zero_count(comm, first):
    """A hinge that is satisfied on all rows: zeros that wait for their sum are no gradients that the user dropped."""
    def hinge(net, x, satisfied):
        return ag.relu(1 - net(x) - 1000.0 * satisfied).sum()

    model, one = DataParallel(make(), comm=comm, batch="own"), make()
    table = [[rank + 1, 2 * rank + 3, 2] for rank in range(comm.size)]
    for number, rows in enumerate(table[comm.rank]):
        with model.no_sync(number < 2), model.weighted(rows):
            (hinge(model, piece(comm.rank, number, rows), number == first) / rows).backward()
    total = sum(hinge(one, piece(r, n, rows), n == first) for r in range(comm.size) for n, rows in enumerate(table[r]))
    (total / sum(map(sum, table))).backward()
    expect(model, one)


@pytest.mark.parametrize("set_to_none", [True, False])
def test_no_warning_of_a_step_after_dropped_or_empty_gradients(comm, set_to_none):
    model = DataParallel(make(), comm=comm, batch="own")
    optimizer = optim.SGD(model.parameters(), lr=0.1)
    for rows in (2, 0 if comm.rank == 0 else 2):
        with model.no_sync():
            model(piece(comm.rank, 0, rows)).sum().backward()
        if rows == 2:
            optimizer.zero_grad(set_to_none=set_to_none)
        model(piece(comm.rank, 1, rows)).sum().backward()
        assert model._sum.reducer.unused._step_hook is None              # the hook that warns
        optimizer.zero_grad(set_to_none=set_to_none)


class Complex(nn.Module):
    """Complex and real parameters, which lie in buckets of their own, whose flags and weights are real."""

    def __init__(self):
        rng = np.random.default_rng(0)
        self.w = nn.Parameter(ag.from_numpy(rng.standard_normal((FEATURES, 3)) + 1j * rng.standard_normal((FEATURES, 3))))
        self.b = nn.Parameter(ag.from_numpy(rng.standard_normal(3)))

    def forward(self, x):
        return ((x.to(ag.complex128) @ self.w).abs() ** 2).sum(1, keepdim=True) * self.b


@pytest.mark.parametrize("cap", [25, 1e-6])
def test_complex_parameters(comm, cap):
    model, one = DataParallel(Complex(), comm=comm, batch="own", bucket_cap_mb=cap), Complex()
    x, everything = piece(comm.rank, 0, comm.rank), ag.cat([piece(r, 0, r) for r in range(comm.size)])
    if comm.size == 1:
        x = everything = piece(0, 0, 2)
    for _ in range(2):                           # also after buckets were filled anew
        model.zero_grad()
        mean_loss(model, x).backward()
    mean_loss(one, everything).backward()
    expect(model, one)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = ag.grad(mean_loss(model, x), list(model.parameters()))
    for g, q in zip(found, one.parameters(), strict=True):
        np.testing.assert_allclose(g.numpy(), q.grad.numpy(), rtol=1e-12)
    if comm.size > 1:
        narrow = DataParallel(Complex(), comm=comm, batch="own", mixed_precision="float16")
        with pytest.raises((NotImplementedError, CollectiveError), match="gradients of w are complex"):
            mean_loss(narrow, x).backward()
