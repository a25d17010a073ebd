"""Metrics, evaluation, samplers, clipping and linear scaling: over ranks as in one process."""

import copy

import numpy as np
import pytest
from raised import raises

import autograd as ag
import autograd.nn.functional as F
from autograd import nn, optim
from autograd.optim.lr_scheduler import ChainedScheduler, MultiStepLR
from autograd.utils.data import DataLoader, Dataset, TensorDataset
from dparallel import (
    CollectiveError,
    DataParallel,
    Devices,
    DistributedSampler,
    clip_grad_norm_,
    evaluate,
    linear_scaling,
    run_ranks,
)
from dparallel.evaluation.metrics import Accuracy, Mean, Sum, reduce_metrics

pytestmark = pytest.mark.quick
ROWS = 17


def rows(size=ROWS):
    rng = np.random.default_rng(0)
    return ag.from_numpy(rng.standard_normal((size, 4))), ag.from_numpy(rng.integers(0, 3, size))


def net():
    made = nn.Sequential(nn.Linear(4, 5), nn.BatchNorm1d(5), nn.Dropout(0.5), nn.Linear(5, 3)).double()
    for number, p in enumerate(made.parameters()):
        p.data = ag.from_numpy(np.random.default_rng(number).standard_normal(p.shape))
    return made


def right(output, target):
    return (output.argmax(1) == target).double()


@pytest.mark.parametrize("size", [0, 1, ROWS])
@pytest.mark.devices
def test_evaluation_counts_every_row_once(comm, size):
    """Also with fewer rows than ranks, and without any."""
    x, t = rows(size)
    model = DataParallel(net(), comm=comm)
    model.module[2].eval()
    found = evaluate(model, TensorDataset(x, t), {"loss": F.cross_entropy, "right": right, "top": Accuracy(top_k=2),
                                                  "rows": Rows()}, batch_size=3)
    assert list(found) == ["loss", "right", "top", "rows"] and found["rows"] == size
    assert model.training and model.module[1].training and not model.module[2].training
    if not size:
        assert np.isnan([found["loss"], found["right"], found["top"]]).all()
        return
    whole = net().eval()
    y = whole(x)
    np.testing.assert_allclose(found["loss"], F.cross_entropy(y, t).item(), rtol=1e-12)
    assert found["right"] == right(y, t).numpy().sum() / size
    order = np.argsort(-y.detach().numpy(), 1)[:, :2]
    assert found["top"] == (order == t.numpy()[:, None]).any(1).sum() / size


class Rows(Sum):
    def update(self, output, target):
        super().update(len(target))


def test_evaluation_of_loaders(comm):
    x, t = rows()
    dataset = TensorDataset(x, t)
    metrics = {"loss": F.cross_entropy}
    expected = F.cross_entropy(net().eval()(x), t).item()
    for options in ({"uneven": True}, {"uneven": True, "shuffle": False}):
        loader = DataLoader(dataset, batch_size=4, sampler=DistributedSampler(dataset, comm=comm, **options))
        np.testing.assert_allclose(evaluate(net(), loader, metrics, comm=comm)["loss"], expected, rtol=1e-12)
    batches = [(x[i::comm.size], t[i::comm.size]) for i in range(comm.size)][comm.rank:comm.rank + 1]
    np.testing.assert_allclose(evaluate(net(), batches, metrics, comm=comm)["loss"], expected, rtol=1e-12)
    if ROWS % comm.size:
        loader = DataLoader(dataset, batch_size=4, sampler=DistributedSampler(dataset, comm=comm))
        raises(ValueError, "uneven=True", lambda: evaluate(net(), loader, metrics, comm=comm))


def test_a_failure_on_one_rank_ends_evaluation_on_all(comm):
    class Broken(Dataset):
        def __len__(self):
            return 6

        def __getitem__(self, i):
            if i == comm.size - 1:
                raise OSError("planted")
            return np.zeros(4), 0

    with pytest.raises(OSError if comm.rank == comm.size - 1 else CollectiveError, match="planted"):
        evaluate(net(), Broken(), {"loss": F.cross_entropy}, comm=comm)
    if comm.size > 1:
        with pytest.raises(CollectiveError, match="same metrics"):
            evaluate(net(), [], {f"loss {comm.rank}": F.cross_entropy}, comm=comm)


def test_metrics_add_up(comm):
    sizes = [(3 * r) % 4 for r in range(comm.size)]          # the first has none
    start, n = sum(sizes[:comm.rank]), sizes[comm.rank]
    values = np.random.default_rng(1).standard_normal(sum(sizes))
    mine = values[start:start + n]
    one, each, total = Mean(comm), Mean(comm), Sum(comm)
    with np.errstate(invalid="ignore"):
        one.update(mine.sum() / n if n else float("nan"), weight=n)
    each.update(ag.from_numpy(mine))
    total.update(mine)
    expected = values.mean() if len(values) else float("nan")
    for metric in (one, each):
        np.testing.assert_allclose(metric.compute(), expected, rtol=1e-12)
    np.testing.assert_allclose(total.compute(), values.sum(), rtol=1e-12, atol=1e-12)
    again = Mean(comm)
    again.load_state_dict(one.state_dict())
    one.reset()
    np.testing.assert_allclose(again.compute(), expected, rtol=1e-12)
    assert np.isnan(one.compute())

    names = [("a", mine.sum() / max(n, 1)), ("b", 2.0 if n else float("nan"))]
    found = reduce_metrics(dict(names if comm.rank % 2 else names[::-1]), n, comm)
    np.testing.assert_allclose(found["a"], expected, rtol=1e-12)
    assert found["b"] == 2 or not len(values)


def test_metrics_that_differ_between_ranks_are_an_error(comm):
    if comm.size > 1:
        with pytest.raises(CollectiveError, match=f"rank {comm.size - 1} has \\['b'\\]"):
            reduce_metrics({"b" if comm.rank == comm.size - 1 else "a": 1.0}, comm=comm)
    raises(ValueError, "weight -1", lambda: reduce_metrics({"a": 1.0}, -1 if comm.rank == 0 else 1, comm))


def test_accuracy():
    scores = ag.tensor([[0.1, 0.9, 0.0], [0.5, 0.2, 0.3], [0.4, 0.4, 0.2]])
    for k, expected in ((1, 2 / 3), (2, 1.0)):
        metric = Accuracy(Devices(1), top_k=k)
        metric.update(scores, ag.tensor([1, 2 if k == 2 else 0, 1]))
        assert metric.compute() == expected
    metric = Accuracy(Devices(1), ignore_index=-1)
    metric.update(ag.tensor([1, 2, 2]), ag.tensor([1, 2, -1]))
    assert metric.compute() == 1
    metric.update(scores.reshape(1, 3, 3), ag.tensor([[1, 0, 0]]))
    assert metric.totals[1] == 5
    raises(ValueError, "shape", lambda: metric.update(scores, ag.tensor([1, 2])))
    raises(ValueError, "weight", lambda: Mean(Devices(1)).update(1.0, weight=-1))


@pytest.mark.devices
def test_sampler_takes_its_rank_from_the_communicator(comm):
    sampler = DistributedSampler(range(ROWS), uneven=True, comm=comm)
    sampler.set_epoch(3)
    everyone = sorted(sum(comm.allgather_object([list(sampler)] * len(comm.held))[::len(comm.held)], []))
    assert everyone == list(range(ROWS))
    same = DistributedSampler(range(ROWS), comm=comm)
    assert len(list(same)) == len(same) == -(-ROWS // (comm.size if len(comm.held) < comm.size else 1))
    assert list(DistributedSampler(range(10), 4, 1, shuffle=False)) == [1, 5, 9]


# --- clipping -------------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("order", [1, 2, 3, float("inf")])
def test_clipping_after_data_parallel(comm, order):
    x, t = rows()
    whole, model = net().eval(), DataParallel(net().eval(), comm=comm)
    F.cross_entropy(whole(x), t).backward()
    F.cross_entropy(model(x[comm.rank::comm.size]), t[comm.rank::comm.size]).backward()
    expected = nn.utils.clip_grad_norm_(whole.parameters(), 0.1, order)
    np.testing.assert_allclose(clip_grad_norm_(model.parameters(), 0.1, order).item(), expected.item(), rtol=1e-11)
    for p, q in zip(model.parameters(), whole.parameters(), strict=True):
        np.testing.assert_allclose(p.grad.numpy(), q.grad.numpy(), rtol=1e-11, atol=1e-14)


@pytest.mark.parametrize("order", [1, 2, 3, float("inf"), float("-inf")])
def test_clipping_of_parameters_that_are_spread_over_ranks(comm, order):
    values = [np.random.default_rng([2, r]).standard_normal(r + (comm.size == 1)) for r in range(comm.size)]
    whole, mine = nn.Parameter(ag.zeros(1)), [nn.Parameter(ag.zeros(1)), nn.Parameter(ag.zeros(1))]
    whole.data = ag.zeros(sum(len(v) for v in values), dtype=ag.float64)
    whole.grad = ag.from_numpy(np.concatenate(values))
    mine[0].data = ag.zeros(len(values[comm.rank]), dtype=ag.float64)
    mine[0].grad = ag.from_numpy(values[comm.rank].copy())            # the second has no gradient
    expected = nn.utils.clip_grad_norm_(whole, 0.3, order)
    np.testing.assert_allclose(clip_grad_norm_(mine, 0.3, order, comm=comm).item(), expected.item(), rtol=1e-12)
    start = sum(len(v) for v in values[:comm.rank])
    np.testing.assert_allclose(mine[0].grad.numpy(), whole.grad.numpy()[start:start + len(values[comm.rank])], rtol=1e-12)
    if comm.size > 1:
        if comm.rank == comm.size - 1:
            mine[0].grad[0] = float("nan")
        raises(RuntimeError, "nan", clip_grad_norm_, mine, 1.0, 2, error_if_nonfinite=True, comm=comm)


# --- linear scaling ---------------------------------------------------------------------------------------------------

def rates(schedule, optimizer, steps):
    out = []
    for _ in range(steps):
        out.append(optimizer.param_groups[0]["lr"])
        optimizer.step()
        schedule.step()
    return out


def test_linear_scaling():
    make = lambda: optim.SGD([{"params": [nn.Parameter(ag.zeros(1))]}], lr=0.1)
    optimizer = make()
    np.testing.assert_allclose(rates(linear_scaling(optimizer, 8, 7), optimizer, 9), [0.1 * k for k in (1, 2, 3, 4, 5, 6, 7, 8, 8)])
    optimizer = make()
    np.testing.assert_allclose(rates(linear_scaling(optimizer, 4), optimizer, 3), [0.4] * 3)
    optimizer = make()
    np.testing.assert_allclose(rates(linear_scaling(optimizer, 0.5, 5), optimizer, 3), [0.05] * 3)
    optimizer = make()
    both = ChainedScheduler([linear_scaling(optimizer, 3, 2), MultiStepLR(optimizer, [4])])
    np.testing.assert_allclose(rates(both, optimizer, 6), [0.1, 0.2, 0.3, 0.3, 0.03, 0.03])
    for bad in ((0, 1), (float("inf"), 1), (2, -1)):
        raises(ValueError, "linear_scaling", lambda: linear_scaling(make(), *bad))


def test_without_a_communicator_threads_use_the_one_of_the_model():
    x, t = rows(5)
    found = run_ranks(2, lambda comm: evaluate(DataParallel(net(), comm=comm), TensorDataset(x, t), {"top": Accuracy()}))
    assert found[0] == found[1] == evaluate(net(), TensorDataset(x, t), {"top": Accuracy()})


def test_a_sharded_model_is_evaluated_whole(comm):
    """Ranks have unequal numbers of batches, so parameters can't be gathered layer by layer."""
    x, t = rows(7)
    metrics = {"loss": F.cross_entropy}
    model = DataParallel(net(), comm=comm, shard="parameters")
    found = evaluate(model, TensorDataset(x, t), metrics, batch_size=2)
    np.testing.assert_allclose(found["loss"], evaluate(net(), TensorDataset(x, t), metrics, comm=comm)["loss"], rtol=1e-12)
    F.cross_entropy(model(x), t).backward()                           # and it trains on


# --- buffers of a model that was trained ---------------------------------------------------------------------------------

class Counts(nn.Module):
    def __init__(self, rank):
        super().__init__()
        self.fc, self.norm, self.rank = nn.Linear(2, 2), nn.BatchNorm1d(2), rank
        self.register_buffer("seen", ag.tensor(0))

    def forward(self, x):
        if self.training:
            self.seen += 1 + self.rank
        return self.norm(self.fc(x))


def buffers_of(net):
    return [b.numpy().copy() for b in net.buffers()]


@pytest.mark.parametrize("settings", [{}, {"evaluation_buffers": "mean"}, {"broadcast_buffers": False}, {"shard": "parameters"},
                                      {"shard": "optimizer"}, {"average": "ranks", "evaluation_buffers": "mean"}])
@pytest.mark.parametrize("way", ["no_grad", "recorded", "module", "evaluate", "trained without a graph", "copy"])
def test_all_ranks_evaluate_one_model(comm, settings, way):
    model = DataParallel(Counts(comm.rank), comm=comm, **settings)
    for _ in range(2):
        model.train()
        for step in range(2):
            y = model(ag.full((3, 2), float(comm.rank + step)) + ag.rand(3, 2))
            if way == "trained without a graph":
                with ag.no_grad():
                    model(ag.rand(3, 2))
            elif step:
                y.sum().backward()
        own = [comm.allgather_object([b]) for b in buffers_of(model.module)]
        evaluated = model
        if way == "copy" and not model.shard:
            evaluated = copy.deepcopy(model)
        evaluated.eval() if way != "module" else evaluated.module.eval()
        if way == "evaluate":
            rows = TensorDataset(ag.rand(4, 2), ag.zeros(4))
            evaluate(model, rows, {"loss": lambda y, t: y.mean(1)}, comm=comm)
        else:
            with ag.enable_grad() if way == "recorded" else ag.no_grad():
                for _ in range(1 + comm.rank):   # the first is collective, no other
                    evaluated(ag.rand(2, 2)) if model.shard != 3 else evaluated.synchronise_buffers()
        mean = settings.get("evaluation_buffers") == "mean"
        for b, ranks in zip(buffers_of(evaluated.module), own, strict=True):
            if settings.get("broadcast_buffers") is False:
                np.testing.assert_array_equal(b, ranks[comm.rank])
            elif mean and b.dtype.kind == "f":
                np.testing.assert_allclose(b, sum(ranks) / comm.size, rtol=1e-6)
            else:
                np.testing.assert_array_equal(b, ranks[0])


def test_a_mean_that_would_not_be_computed_is_refused():
    net = Counts(0)
    for settings in ({"broadcast_buffers": False}, {"reproducible": 2}, {"comm": Devices(2)}):
        with pytest.raises(ValueError, match="evaluation_buffers='mean' has no effect with"):
            DataParallel(net, evaluation_buffers="mean", **settings)
    DataParallel(net, evaluation_buffers="mean")     # one process of a script for several


def test_one_rank_that_evaluates_alone(comm):
    """By model.module, or with buffers that are alike, no other rank is needed; else it is an error on all, no hang."""
    if comm.size == 1:
        return
    model = DataParallel(Counts(0), comm=comm)
    with ag.no_grad():
        if comm.rank == 0:
            model.eval()
            model(ag.rand(2, 2))                 # before any training
            model.train()
    model(ag.rand(3, 2)).sum().backward()
    if comm.rank == 0:
        model.module.eval()(ag.rand(2, 2))
        model.module.train()
        evaluate(model, [(ag.rand(2, 2), ag.zeros(2))], {"loss": lambda y, t: y.mean(1)}, comm=Devices(1))
    comm.barrier()
    with pytest.raises(CollectiveError, match=r"(?s)on some ranks only, call model.module.*forward_in_evaluation_mode"):
        if comm.rank == 0:
            model.eval()
            model(ag.rand(2, 2))
        comm.barrier()
