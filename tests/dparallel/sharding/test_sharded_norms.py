"""Clipping by the norm of gradients that lie in slices, and ZeroRedundancyOptimizer beside a plain DataParallel."""

import numpy as np
import pytest
from raised import raises
from sharded_models import FEATURES, adamw, batches, make_mlp, make_net, same, same_state, share, train, values, wrap

import autograd as ag
import autograd.nn.functional as F
from autograd import nn, optim
from autograd.optim.lr_scheduler import StepLR
from dparallel import Devices, PeriodicModelAverager, ZeroRedundancyOptimizer, clip_grad_norm_, run_ranks
from dparallel.sharding import model_memory


def one_backward(comm, shard):
    model = wrap(make_net(), comm, shard)
    x, t = batches(1)[0]
    rows = share(comm, "uneven")
    F.cross_entropy(model(ag.from_numpy(x[rows])), ag.from_numpy(t[rows])).backward()
    return model


@pytest.mark.parametrize(("shard", "order"), [("optimizer", 2), ("gradients", 2), ("parameters", 2), ("gradients", 1),
                                              ("gradients", 3.5), ("parameters", float("inf")), ("optimizer", float("-inf"))])
def test_clipping_by_the_norm_of_the_wholes(comm, shard, order):
    model, plain = one_backward(comm, shard), one_backward(comm, None)          # of all kinds of parameters
    extra = nn.Parameter(ag.ones(3, dtype=ag.float64))               # replicated: counts once
    extra.grad = ag.full((3,), 0.5, dtype=ag.float64)
    other = nn.Parameter(ag.ones(3, dtype=ag.float64))
    other.grad = extra.grad.clone()
    norm = nn.utils.clip_grad_norm_([*model.parameters(), extra], 0.1, order)
    expected = nn.utils.clip_grad_norm_([*plain.parameters(), other], 0.1, order)
    np.testing.assert_allclose(norm.numpy(), expected.numpy(), rtol=1e-12)
    np.testing.assert_allclose(extra.grad.numpy(), other.grad.numpy(), rtol=1e-12)
    for p, q in zip(model.parameters(), plain.parameters(), strict=True):
        assert (p.grad is None) == (q.grad is None)
        if comm.size > 1 and q.grad is not None:
            np.testing.assert_allclose(p.grad.numpy().reshape(-1),
                                       q.grad.numpy().reshape(-1)[p.shard.start:p.shard.stop], rtol=1e-12)


@pytest.mark.threads(3)
def test_a_norm_that_is_not_finite_on_one_rank_is_an_error_on_all(comm):
    model = wrap(make_mlp(), comm, 2)
    model(ag.ones(1, FEATURES, dtype=ag.float64)).sum().backward()
    if comm.rank == 1:
        next(p for p in model.parameters() if p.numel()).grad.fill_(float("nan"))
    with pytest.raises(RuntimeError, match="non-finite"):
        nn.utils.clip_grad_norm_(model.parameters(), 1.0, error_if_nonfinite=True)
    raises(NotImplementedError, "norm_type=0", lambda: nn.utils.clip_grad_norm_(model.parameters(), 1.0, 0))


def test_clipping_of_complex_gradients_over_ranks():
    def check(comm):
        p = nn.Parameter(ag.zeros(2, dtype=ag.complex64))
        p.grad = ag.tensor([3.0, 4j], dtype=ag.complex64) * (1 if comm.rank else 0)
        norm = clip_grad_norm_([p], 1.0, comm=comm)
        return norm.item(), p.grad.tolist()

    (norm, _), (other, clipped) = run_ranks(2, check)
    assert norm == other == 5 and clipped == pytest.approx([0.6, 0.8j], rel=1e-5)


def test_generators_that_are_used_up_are_noticed():
    def check(comm):
        for call in (lambda ps: clip_grad_norm_(ps, 1.0, comm=comm), lambda ps: PeriodicModelAverager(1, process_group=comm).average_parameters(ps),
                     lambda ps: model_memory(ps)):
            used = make_mlp().parameters()
            list(used)
            with pytest.warns(UserWarning, match="empty generator"):
                call(used)

    check(Devices(1))


WHOLE = {                                            # what would be another number on each rank
    "norm": lambda g: g.norm(), "function": lambda g: ag.norm(g, 2.0), "linalg": lambda g: ag.linalg.vector_norm(g, float("inf")), "l1": lambda g: g.norm(1),
    "pow": lambda g: g.pow(2).sum(), "**": lambda g: (g ** 2).sum(), "product": lambda g: (g * g).sum(), "square": lambda g: ag.sum(g.square()),
    "largest": lambda g: g.abs().max(), "detached": lambda g: g.detach().norm(), "data": lambda g: g.data.norm(2), "float": lambda g: g.float().norm(),
    "clone": lambda g: g.clone().norm(), "cat": lambda g: ag.cat([g.flatten(), g.flatten()]).norm(), "total": lambda g: nn.utils.get_total_norm([g]),
    "mean": lambda g: g.pow(2).mean(), "std": lambda g: g.std(), "dot": lambda g: g.view(-1).dot(g.view(-1)), "matmul": lambda g: g.view(-1) @ g.view(-1),
    "einsum": lambda g: ag.einsum("i,i->", g.view(-1), g.view(-1)), "vector": lambda g: nn.utils.parameters_to_vector([g]).norm(),
    "median": lambda g: g.median(), "quantile": lambda g: g.flatten().quantile(0.5), "topk": lambda g: g.abs().flatten().topk(1), "sort": lambda g: g.flatten().sort(),
    "kthvalue": lambda g: g.flatten().kthvalue(1), "unique": lambda g: g.unique(), "svd": lambda g: ag.linalg.svdvals(g.view(-1, 1))}
ELEMENTWISE = {
    "mul_": lambda p: p.grad.mul_(2), "clamp_": lambda p: p.grad.clamp_(-1, 1), "assigned": lambda p: setattr(p, "grad", p.grad * 0.5), "copy_": lambda p: p.grad.copy_(ag.ones_like(p)),
    "momentum": lambda p: ag.zeros_like(p).mul_(0.9).add_(p.grad, alpha=0.1).norm(), "finite": lambda p: bool(ag.isfinite(p.grad).all()), "repr": lambda p: repr(p.grad),
    "numpy": lambda p: np.linalg.norm(p.grad.numpy()), "sign": lambda p: ag.where(p.grad > 0, p.grad.sign(), 0.0), "equal": lambda p: ag.equal(p.grad, p.grad)}


@pytest.mark.threads(2)
def test_norms_of_slices_are_refused_and_elementwise_code_runs(comm, shard):
    model = one_backward(comm, shard)
    p = max((p for p in model.parameters() if p.grad is not None), key=lambda p: p.numel())
    for name, call in WHOLE.items():
        with pytest.raises(RuntimeError, match="this rank's elements of the gradient"):
            call(p.grad)
            raise AssertionError(name)
    for call in ELEMENTWISE.values():
        call(p)
    assert p.grad.numpy().max() == 1 and type(p.grad.numpy()) is np.ndarray and p.grad is p.grad
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    nn.utils.clip_grad_value_(model.parameters(), 0.5)
    optim.AdamW(model.parameters()).step()


# --- ZeroRedundancyOptimizer ----------------------------------------------------------------------------------------------


def groups(model):
    named = list(model.named_parameters())
    return [{"params": [p for _, p in named if p.ndim >= 2]},
            {"params": [p for _, p in named if p.ndim < 2], "weight_decay": 0.0, "lr": 0.05}]


@pytest.mark.parametrize("kind", [optim.SGD, optim.AdamW])
def test_zero_redundancy_equals_the_plain_optimizer(comm, kind):
    options = {"lr": 0.02, "weight_decay": 0.1, **({"momentum": 0.9} if kind is optim.SGD else {})}

    def run(comm, make):
        model = wrap(make_net(), comm, None)
        optimizer = make(groups(model))
        scheduler = StepLR(optimizer, 2, 0.5)
        for epoch in range(3):
            train(model, optimizer, comm, steps=1, seed=epoch)
            scheduler.step()
        return values(model.state_dict()), optimizer

    weights, optimizer = run(comm, lambda params: ZeroRedundancyOptimizer(params, kind, process_group=comm, **options))
    expected, plain = run(comm, lambda params: kind(params, **options))
    same(weights, expected)
    raises(RuntimeError, "not been consolidated on this rank", optimizer.state_dict)
    last = comm.size - 1
    optimizer.consolidate_state_dict(to=last)
    if comm.rank == last:
        same_state(optimizer.state_dict(), plain.state_dict())
    elif comm.size > 1:
        raises(RuntimeError, "consolidate", optimizer.state_dict)
    held = sum(t.numel() for state in optimizer.optim.state.values() for t in state.values() if t.ndim)
    whole = sum(t.numel() for state in plain.state.values() for t in state.values() if t.ndim)
    assert abs(held - whole / comm.size) <= 24           # what is unused has no state, and lies on one rank or two


def test_zero_redundancy_state_moves_between_numbers_of_ranks():
    def first(comm):
        model = wrap(make_mlp(), comm, None)
        optimizer = ZeroRedundancyOptimizer(model.named_parameters(), optim.AdamW, comm, lr=0.02)
        train(model, optimizer, comm)
        optimizer.param_groups[0]["lr"] = 0.03       # as a schedule does after a step
        optimizer.consolidate_state_dict()
        return model.state_dict(), optimizer.state_dict() if comm.rank == 0 else None

    def rest(comm, saved, make):
        model = wrap(make_mlp(), comm, None)
        optimizer = make(model.named_parameters(), comm)
        model.load_state_dict(saved[0])
        optimizer.load_state_dict(saved[1])
        train(model, optimizer, comm, seed=9)
        return values(model.state_dict())

    saved = run_ranks(3, first)[0]
    assert saved[1]["param_groups"][0]["lr"] == 0.03
    expected = rest(Devices(1), saved, lambda params, comm: adamw(params))
    for size in (1, 2, 5):
        for weights in run_ranks(size, rest, saved, lambda params, comm: ZeroRedundancyOptimizer(params, optim.AdamW, comm, lr=1)):
            same(weights, expected)


@pytest.mark.threads(2)
def test_zero_redundancy_refusals(comm):
    net = make_mlp()
    with pytest.raises(NotImplementedError, match="overlap_with_ddp"):
        ZeroRedundancyOptimizer(net.parameters(), optim.SGD, comm, overlap_with_ddp=True, lr=0.1)
    raises(NotImplementedError, "LAMB", lambda: ZeroRedundancyOptimizer(net.parameters(), optim.LAMB, comm, lr=0.1))
    raises(TypeError, "optimizer_class", lambda: ZeroRedundancyOptimizer(net.parameters(), "SGD", comm, lr=0.1))
    raises(TypeError, "process_group", lambda: ZeroRedundancyOptimizer(net.parameters(), optim.SGD, "all", lr=0.1))
    model = wrap(make_mlp(), comm, 1)
    with pytest.raises(ValueError, match="already are slices"):
        ZeroRedundancyOptimizer(model.parameters(), optim.SGD, comm, lr=0.1)
    with pytest.raises(RuntimeError, match="sharded DataParallel"):
        ZeroRedundancyOptimizer(model.module.parameters(), optim.SGD, comm, lr=0.1)
