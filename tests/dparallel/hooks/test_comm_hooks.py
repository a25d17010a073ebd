"""The library of comm hooks: means as exact as they promise, bitwise the same on all ranks, and they train the digits."""

import functools
import re
import warnings
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_digits

import autograd as ag
import autograd.nn.functional as F
from autograd import nn, optim
from dparallel import DataParallel, assert_same_everywhere, hooks, run_ranks
from dparallel.comm import Communicator
from dparallel.hooks.encoded_sums import BFloat16, Int8, start_allreduce_encoded
from dparallel.hooks.model_averaging import PeriodicModelAverager, PostLocalSGDOptimizer
from dparallel.hooks.powersgd import orthonormal_columns

SPLITS = hasattr(Communicator, "split")
EXACT = {"rtol": 1e-12, "atol": 1e-12}
ALL = {                                              # a hook, its state, and how close one step's mean is
    "allreduce": (lambda: None, hooks.allreduce_hook, EXACT),
    "fp16": (lambda: None, hooks.fp16_compress_hook, {"rtol": 2e-3, "atol": 2e-4}),
    "bf16": (lambda: None, hooks.bf16_compress_hook, {"rtol": 2e-2, "atol": 1e-2}),
    "fp16(allreduce)": (lambda: None, hooks.fp16_compress_wrapper(hooks.allreduce_hook), {"rtol": 2e-3, "atol": 2e-4}),
    "bf16(allreduce)": (lambda: None, hooks.bf16_compress_wrapper(hooks.allreduce_hook), {"rtol": 2e-2, "atol": 1e-2}),
    "powersgd, all ranks": (lambda: hooks.PowerSGDState(None, 9, 0, 1e-9, False, False), hooks.powerSGD_hook, EXACT),
    "batched powersgd, all ranks": (lambda: hooks.PowerSGDState(None, 99, 0, 1e-9, False, False), hooks.batched_powerSGD_hook, EXACT),
    "topk, all": (lambda: hooks.TopKState(1.0), hooks.topk_hook, {"rtol": 1e-6, "atol": 1e-7}),
    "int8": (lambda: hooks.QuantizationState(chunk=4), hooks.quantization_hook, {"rtol": 0.02, "atol": 0.05}),
    "int8 per channel": (lambda: None, hooks.quantization_perchannel_hook, {"rtol": 0.02, "atol": 0.2}),
    "int8 per tensor": (lambda: None, hooks.quantization_pertensor_hook, {"rtol": 0.02, "atol": 0.2}),
    "post-local, before": (lambda: hooks.PostLocalSGDState(), hooks.post_localSGD_hook, EXACT),
}
if SPLITS:
    ALL["hierarchical"] = lambda: hooks.HierarchicalState(ranks_per_node=2), hooks.hierarchical_hook, EXACT
    ALL["hierarchical by host"] = lambda: hooks.HierarchicalState(), hooks.hierarchical_hook, EXACT


class Net(nn.Module):
    def __init__(self, dtype=ag.float64):
        super().__init__()
        rng = np.random.default_rng(0)
        self.a, self.b = nn.Linear(4, 6), nn.Linear(6, 3, bias=False)
        self.cube, self.none = nn.Parameter(ag.ones(3, 2, 2)), nn.Parameter(ag.ones(0))
        self.to(dtype)
        for p in self.parameters():
            p.data = ag.tensor(rng.standard_normal(p.shape), dtype=p.dtype)

    def forward(self, x):
        y = self.b(self.a(x).tanh())
        return y * self.cube.sum((1, 2)) + self.none.sum()


def rows_of(comm):
    """Unequal shares; rank 0 has none where there are others."""
    sizes = [0 if r == 0 and comm.size > 1 else r + 1 for r in range(comm.size)]
    start = sum(sizes[:comm.rank])
    return slice(start, start + sizes[comm.rank]), sum(sizes)


def loss_of(model, x):
    return (model(ag.from_numpy(x)) ** 2).sum() / max(len(x), 1)


@pytest.mark.parametrize("name", list(ALL))
@pytest.mark.parametrize("dtype", [ag.float64, ag.float32, ag.float16], ids=["float64", "float32", "float16"])
def test_a_mean_over_ranks(comm, name, dtype):
    make, hook, close = ALL[name]
    loose = {ag.float64: close, ag.float32: {k: max(v, 2e-5) for k, v in close.items()},
             ag.float16: {k: max(v, 0.03) for k, v in close.items()}}[dtype]
    rows, total = rows_of(comm)
    x = np.random.default_rng(1).standard_normal((total, 4)).astype(dtype)
    one, model = Net(), DataParallel(Net(dtype), comm=comm, batch="own", bucket_cap_mb=0.0002)
    model.register_comm_hook(make(), hook)
    loss_of(one, x.astype(np.float64)).backward()
    loss_of(model, x[rows]).backward()
    scale = max(np.abs(p.grad.numpy()).max(initial=0) for p in one.parameters())
    for p, q in zip(model.parameters(), one.parameters(), strict=True):
        assert p.grad.dtype == dtype
        np.testing.assert_allclose(p.grad.numpy().astype(float) / scale, q.grad.numpy() / scale, **loose)
    assert_same_everywhere([(n, p.grad) for n, p in model.named_parameters()], comm)


# --- it trains ---------------------------------------------------------------------------------------------------------

def digits():
    images, labels = load_digits(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(images))[:960]
    return (images / 16).astype(np.float32)[order], labels[order]


X, T = digits()


def net():
    rng = np.random.default_rng(2)
    made = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 10))
    for p in made.parameters():
        p.data = ag.from_numpy((rng.standard_normal(p.shape) / np.sqrt(p.shape[-1])).astype(np.float32))
    return made


def train(comm, state, hook, optimizer=None, epochs=12, log=None):
    model = DataParallel(net(), comm=comm, batch="own", bucket_cap_mb=0.0093)      # the largest weight alone

    def counted(state, bucket):
        handle = hook(state, bucket)

        def note(handle):
            log.append((bucket.bytes_sent, bucket.array.nbytes))
            return handle.value()

        return handle.then(note) if log is not None and hasattr(handle, "then") else handle

    model.register_comm_hook(state, counted)
    step = (optimizer or (lambda params: optim.SGD(params, lr=0.05, momentum=0.9)))(model.parameters())
    for epoch in range(epochs):
        order = np.random.default_rng([3, epoch]).permutation(len(X))
        for first in range(0, len(X), 60):
            mine = order[first:first + 60][comm.rank::comm.size]
            step.zero_grad()
            F.cross_entropy(model(ag.from_numpy(X[mine])), ag.from_numpy(T[mine])).backward()
            step.step()
    with ag.no_grad():
        return model, F.cross_entropy(model.module(ag.from_numpy(X)), ag.from_numpy(T)).item()


@pytest.fixture(scope="module")
def plain_loss():
    return run_ranks(1, lambda comm: train(comm, None, hooks.allreduce_hook)[1])[0]


# name: state, hook, the loss above the plain average's that is allowed, the bytes sent of 100 plain ones (at most)
TRAINED = {
    "fp16": (lambda: None, hooks.fp16_compress_hook, 0.005, 50),
    "bf16": (lambda: None, hooks.bf16_compress_hook, 0.005, 50),
    "int8": (lambda: hooks.QuantizationState(), hooks.quantization_hook, 0.005, 27),
    "powersgd": (lambda: hooks.PowerSGDState(matrix_approximation_rank=2, start_powerSGD_iter=10), hooks.powerSGD_hook, 0.01, 15),
    "fp16(powersgd)": (lambda: hooks.PowerSGDState(matrix_approximation_rank=2, start_powerSGD_iter=10),
                       hooks.fp16_compress_wrapper(hooks.powerSGD_hook), 0.01, 8),
    "batched powersgd": (lambda: hooks.PowerSGDState(matrix_approximation_rank=2, start_powerSGD_iter=10), hooks.batched_powerSGD_hook, 0.1, 12),
    "topk": (lambda: hooks.TopKState(0.05, start_iter=30), hooks.topk_hook, 0.03, 25),
}


@pytest.mark.parametrize("size", [2, 3])
@pytest.mark.parametrize("name", list(TRAINED))
def test_the_digits(name, size, plain_loss):
    make, hook, allowed, percent = TRAINED[name]

    def check(comm):
        log = []
        model, loss = train(comm, make(), hook, log=log)
        assert_same_everywhere(model, comm)
        sent, whole = np.sum(log, axis=0)
        return loss, 100 * sent / whole

    for loss, share in run_ranks(size, check):
        assert loss < plain_loss + allowed and plain_loss < 0.1, (loss, plain_loss)
        assert share <= percent, share


# --- memory ------------------------------------------------------------------------------------------------------------

REMEMBERING = {
    "int8": (lambda: hooks.QuantizationState(chunk=8), hooks.quantization_hook),
    "powersgd": (lambda: hooks.PowerSGDState(None, 1, 2, 1), hooks.powerSGD_hook),
    "topk": (lambda: hooks.TopKState(0.2, start_iter=1), hooks.topk_hook),
}


def steps(comm, model, rows, count, start=0):
    optimizer = optim.SGD(model.parameters(), lr=0.05)
    for step in range(start, start + count):
        x = np.random.default_rng([4, step]).standard_normal((rows_of(comm)[1], 4))
        optimizer.zero_grad()
        loss_of(model, x[rows]).backward()
        optimizer.step()


@pytest.mark.parametrize("name", list(REMEMBERING))
def test_state_goes_on_where_it_was_saved(comm, name):
    """Also with other buckets afterwards: what is remembered belongs to parameters."""
    make, hook = REMEMBERING[name]
    rows, _ = rows_of(comm)

    def wrapped(cap, state):
        model = DataParallel(Net(), comm=comm, batch="own", bucket_cap_mb=cap)
        model.register_comm_hook(state, hook)
        return model

    through, state = make(), make()
    whole, first = wrapped(0.0002, through), wrapped(0.0002, state)
    steps(comm, whole, rows, 6)
    steps(comm, first, rows, 3)
    again = make()
    again.load_state_dict(state.state_dict())
    second = wrapped(0.0002, again)
    second.load_state_dict(first.state_dict())
    steps(comm, second, rows, 3, start=3)
    for p, q in zip(second.parameters(), whole.parameters(), strict=True):
        assert p.detach().numpy().tobytes() == q.detach().numpy().tobytes()
    assert set(again.residuals.by_name) == {n for n, _ in Net().named_parameters()}
    assert comm.any(any(r.any() for r in again.residuals.by_name.values()))
    other = make()
    other.load_state_dict(state.state_dict())
    rebuilt = wrapped(25, other)                       # one bucket instead of several
    rebuilt.load_state_dict(first.state_dict())
    steps(comm, rebuilt, rows, 1, start=3)
    if name == "powersgd":                             # compresses by the matrix: the buckets can't be seen at all
        third = make()
        third.load_state_dict(state.state_dict())
        small = wrapped(0.0002, third)
        small.load_state_dict(first.state_dict())
        steps(comm, small, rows, 1, start=3)
        for p, q in zip(small.parameters(), rebuilt.parameters(), strict=True):
            np.testing.assert_allclose(p.detach().numpy(), q.detach().numpy(), **EXACT)


@pytest.mark.parametrize("name", list(REMEMBERING))
def test_nothing_is_lost_for_good(comm, name):
    """Error feedback: the same gradient again and again is sent in full in the long run."""
    make, hook = REMEMBERING[name]
    state, rng = make(), np.random.default_rng([5, comm.rank])
    model = DataParallel(nn.Linear(8, 8, dtype=ag.float64), comm=comm, batch="own", average="ranks")
    model.register_comm_hook(state, hook)
    g = rng.standard_normal((8, 8))
    total = np.zeros((8, 8))
    for _ in range(60):
        model.zero_grad()
        (model(ag.eye(8, dtype=ag.float64)) * ag.from_numpy(g)).sum().backward()
        total += model.module.weight.grad.numpy()
    mean = comm.allreduce([g.T])[0] / comm.size
    np.testing.assert_allclose(total / 60, mean, atol=0.25 * np.abs(mean).max())


def test_local_sgd_leaves_ranks_apart_until_they_are_averaged(plain_loss):
    def check(comm):
        made = lambda params: PostLocalSGDOptimizer(optim.SGD(params, lr=0.05, momentum=0.9), PeriodicModelAverager(5, 30, comm))
        model, loss = train(comm, hooks.PostLocalSGDState(None, None, 30), hooks.post_localSGD_hook, made)
        apart = comm.any(bool(np.ptp(comm.allgather([next(model.parameters()).detach().numpy()[None]])[0], axis=0).max()))
        averager = PeriodicModelAverager(1, 0, comm)
        averager.average_parameters(model.parameters())
        assert_same_everywhere(model, comm)
        return loss, apart

    for size in (2, 3):
        for loss, apart in run_ranks(size, check):
            assert loss < plain_loss + 0.06 and apart


def test_local_sgd_in_groups_and_the_optimizer_s_state(comm):
    model = DataParallel(Net(), comm=comm, batch="own")
    subgroup = comm.split(comm.rank // 2, comm.rank) if SPLITS else comm
    model.register_comm_hook(hooks.PostLocalSGDState(None, subgroup, 1), hooks.post_localSGD_hook)
    params = list(model.parameters())
    optimizer = PostLocalSGDOptimizer(optim.SGD(params, lr=0.1, momentum=0.9), PeriodicModelAverager(2, 1, comm))
    for step in range(4):
        optimizer.zero_grad()
        loss_of(model, np.random.default_rng([6, step, comm.rank]).standard_normal((2, 4))).backward()
        optimizer.step()
    assert_same_everywhere([(n, p.grad) for n, p in model.named_parameters()], subgroup)
    assert_same_everywhere(model, comm)                # the fourth step averaged
    saved = optimizer.state_dict()
    assert saved["step"] == 4 and optimizer.state[params[0]] is optimizer.optim.state[params[0]]
    again = PostLocalSGDOptimizer(optim.SGD(params, lr=0.5), PeriodicModelAverager(2, 1, comm))
    again.load_state_dict(saved)
    assert again.averager.step == 4 and again.param_groups[0]["lr"] == 0.1 and again.param_groups is again.optim.param_groups


def test_noop_leaves_each_rank_its_own(comm):
    model, alone = DataParallel(Net(), comm=comm, batch="own", average="ranks"), Net()
    model.register_comm_hook(None, hooks.noop_hook)
    x = np.random.default_rng([7, comm.rank]).standard_normal((2, 4))
    loss_of(model, x).backward()
    loss_of(alone, x).backward()
    for p, q in zip(model.parameters(), alone.parameters(), strict=True):
        np.testing.assert_allclose(p.grad.numpy(), q.grad.numpy(), **EXACT)


# --- the parts -----------------------------------------------------------------------------------------------------------

def test_bfloat16_rounds_to_nearest_even():
    x = np.array([1.0, 1 + 2**-8, 1 + 3 * 2**-8, -1 - 2**-7, 3e38, 3.4e38, np.inf, -np.inf, np.nan, 1e-40, 0.0, -0.0], np.float32)
    found = BFloat16().decode(BFloat16().encode(x))
    expected = [1.0, 1.0, 1 + 2**-6, -1 - 2**-7, np.float32(3.00405527e38), np.inf, np.inf, -np.inf, np.nan]
    np.testing.assert_allclose(found[:9], expected, rtol=1e-6)
    assert found[9] == 2.0**-133 and np.signbit(found[11]) and not np.signbit(found[10])


@pytest.mark.parametrize("n", [1, 4, 5, 23])
def test_int8_keeps_half_a_step_and_spoils_what_is_not_finite(n):
    codec, x = Int8(5), np.random.default_rng(n).standard_normal(n)
    back = codec.decode(codec.encode(x))[:n]
    for start in range(0, n, 5):
        part = slice(start, start + 5)
        assert np.abs(back[part] - x[part]).max() <= np.abs(x[part]).max() / 254 * 1.001
    x[0] = np.inf
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        back = codec.decode(codec.encode(x))[:n]
    assert np.isnan(back[:5]).all() and np.isfinite(back[5:]).all()
    assert not codec.decode(codec.encode(np.zeros(n))).any()


def test_a_sum_of_narrow_numbers_does_not_overflow(comm):
    x = np.full(7, 100.0)
    total = start_allreduce_encoded(comm, x, Int8(3)).wait()
    np.testing.assert_allclose(total, 100.0 * comm.size, rtol=0.01)


@pytest.mark.parametrize("epsilon", [0, 1e-8])
def test_orthogonal_columns(epsilon):
    made = np.random.default_rng(8).standard_normal((6, 3))
    q = orthonormal_columns(made, epsilon)
    np.testing.assert_allclose(q.T @ q, np.eye(3), atol=1e-6)
    np.testing.assert_allclose(q @ (q.T @ made), made, atol=1e-6)
    assert np.isfinite(orthonormal_columns(np.zeros((6, 2)), epsilon)).all()


def test_refusals():
    for bad in (lambda: hooks.PowerSGDState(start_powerSGD_iter=1), lambda: hooks.PowerSGDState(matrix_approximation_rank=0),
                lambda: hooks.TopKState(0), lambda: hooks.TopKState(1.5), lambda: hooks.QuantizationState(chunk=0),
                lambda: hooks.HierarchicalState(ranks_per_node=0)):
        with pytest.raises(ValueError, match=r"=|Expect"):
            bad()


def test_the_example_in_the_documentation(comm):
    page = (Path(__file__).parents[3] / "docs" / "comm_hooks.md").read_text()
    code = re.findall(r"```python\n(.*?)```", page, re.S)[-1]
    names = {"net": Net(ag.float32), "DataParallel": functools.partial(DataParallel, comm=comm, batch="own")}
    exec(code, names)
    model = names["model"]
    loss_of(model, np.random.default_rng([9, comm.rank]).standard_normal((2, 4)).astype(np.float32)).backward()
    for _, p in model.named_parameters():
        assert set(np.abs(p.grad.numpy()).reshape(-1).tolist()) <= {0.0, np.float32(0.01)}
    assert_same_everywhere([(n, p.grad) for n, p in model.named_parameters()], comm)


@pytest.mark.mpi
def test_mpi4pys_communicator_will_do_everywhere():
    from mpi4py import MPI

    import dparallel
    from dparallel import DataParallel, clip_grad_norm_, hooks, metrics

    comm = MPI.COMM_WORLD.Split(0, -MPI.COMM_WORLD.rank)
    net = DataParallel(ag.nn.Linear(2, 1), comm=comm)
    net.register_comm_hook(comm, hooks.fp16_compress_hook)
    net(ag.ones(3, 2)).sum().backward()
    clip_grad_norm_(net.parameters(), 1.0, comm=comm)
    assert metrics.reduce_metrics({"rank": comm.rank}, comm=comm)["rank"] == (comm.size - 1) / 2
    assert len(dparallel.GlobalBatchSampler(range(10 * comm.size), comm.size, comm=comm)) == 10
    assert dparallel.gather(dparallel.scatter(ag.ones(8), comm), comm).sum() == (8 if comm.rank == 0 else 0)
