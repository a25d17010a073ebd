"""Sharding together with the rest of DataParallel: given weights, skipped steps, logging, ignored names; what raises."""

import math

import numpy as np
import pytest
from raised import raises
from sharded_models import FEATURES, STAGES, batches, make_mlp, same, sgd, share, train, values, wrap

import autograd as ag
import autograd.nn.functional as F
from autograd import nn
from dparallel import DataParallel, SyncBatchNorm, clip_grad_norm_, run_ranks


def loss_of(model, comm, number=0):
    x, t = batches(number + 1)[number]
    rows = share(comm, "uneven")
    return F.cross_entropy(model(ag.from_numpy(x[rows])), ag.from_numpy(t[rows]))


class Normed(nn.Module):
    """Ranks leave out a layer each, so that gradients are complete before or after SyncBatchNorm's backward."""

    def __init__(self, comm):
        super().__init__()
        self.comm = comm
        self.first, self.norm = nn.Linear(8, 8), SyncBatchNorm(8)
        self.layers = nn.ModuleList([nn.Linear(8, 8) for _ in range(comm.size + 1)])

    def forward(self, x):
        x = self.norm(self.first(x))
        for number, layer in enumerate(self.layers):
            if number != self.comm.rank:
                x = layer(x)
        return x


def test_buckets_that_are_full_before_and_after_collectives_of_the_pass(comm, shard):
    def total(comm, shard):
        ag.manual_seed(0)
        model = DataParallel(Normed(comm).double(), comm=comm, batch="own", shard=shard, bucket_cap_mb=0.0001,
                             find_unused_parameters=True)
        x = ag.from_numpy(np.random.default_rng(comm.rank).standard_normal((4, 8)))
        optimizer = sgd(model.parameters())
        for _ in range(2):
            optimizer.zero_grad()
            model(x).pow(2).mean().backward()
        return sum(float(np.abs(p.grad.numpy()).sum()) for p in model.parameters() if p.grad is not None)

    np.testing.assert_allclose(comm.total(total(comm, shard)), total(comm, None))


@pytest.mark.parametrize("average", ["rows", "ranks", "sum"])
def test_given_weights_and_micro_batches(on_ranks, shard, average):
    """Weights that differ over ranks and passes, 0 on one of them, whose gradient is nan."""
    def run(comm, kind):
        model = wrap(make_mlp(), comm, kind, average=average)
        optimizer = sgd(model.parameters())
        for step in range(3):
            optimizer.zero_grad()
            for part in range(3):
                with model.no_sync(part < 2), model.weighted((comm.rank + part + step) % 3 + (comm.size == 1)):
                    loss = loss_of(model, comm, part)
                    if comm.size > 1 and (comm.rank + part + step) % 3 == 0:
                        loss = loss * math.nan
                    loss.backward()
            optimizer.step()
        return values(model.state_dict())

    on_ranks(lambda comm: same(run(comm, shard), run(comm, None)))


def test_a_bad_weight_is_one_error_on_all_ranks(comm, shard):
    model = wrap(make_mlp(), comm, shard)
    optimizer = sgd(model.parameters())
    last = comm.size - 1
    with (pytest.raises(RuntimeError, match=f"rank {last}: weighted.*a weight must be finite"),
          model.weighted(-1 if comm.rank == last else 1)):
        loss_of(model, comm).backward()
    assert all(p.grad is None for p in model.parameters())
    train(model, optimizer, comm, steps=2)
    plain = wrap(make_mlp(), comm, None)
    train(plain, sgd(plain.parameters()), comm, steps=2)
    same(values(model.state_dict()), values(plain.state_dict()))


@pytest.mark.parametrize("shard", [1, 2])
@pytest.mark.parametrize("where", ["forward", "backward", "nan"])
def test_skipped_steps(on_ranks, shard, where):
    """A rank that fails in forward, in the middle of backward, or has a gradient that is not finite: all skip the step."""
    def planted(g):
        raise MemoryError("planted")

    def run(comm, kind):
        model = wrap(make_mlp(), comm, kind)
        optimizer = sgd(model.parameters())
        skipped = []
        for number in range(4):
            optimizer.zero_grad()
            odd = number == 2 and comm.rank == comm.size - 1
            with model.skipping() as step:
                if odd and where == "forward":
                    raise MemoryError("planted")
                watch = model.module[2].register_forward_hook(lambda module, args, y: y.register_hook(planted) and None) \
                    if odd and where == "backward" else None
                try:
                    loss = loss_of(model, comm, number)
                    (loss * math.nan if odd and where == "nan" else loss).backward()
                finally:
                    if watch is not None:
                        watch.remove()
            skipped.append(step.skipped)
            if step.skipped:
                assert all(p.grad is None for p in model.parameters())
                assert where == "nan" or f"rank {comm.size - 1}: MemoryError: planted" in step.reason
            else:
                optimizer.step()
        assert skipped == [False, False, True, False] and model.skipped_steps == 1
        return values(model.state_dict())

    on_ranks(lambda comm: same(run(comm, shard), run(comm, None)))


@pytest.mark.threads(3)
def test_logging_and_unused_parameters(comm, shard):
    class Two(nn.Module):
        def __init__(self):
            super().__init__()
            self.used, self.unused = nn.Linear(3, 3), nn.Linear(3, 2)

        def forward(self, x):
            return self.used(x)

    model = DataParallel(Two(), comm=comm, shard=shard, find_unused_parameters=True)
    model(ag.ones(2, 3)).sum().backward()
    assert model.unused_parameters() == ["unused.weight", "unused.bias"]
    assert [name for name, p in model.named_parameters() if p.grad is not None] == ["used.weight", "used.bias"]
    known = model.logging_data()
    assert known["shard"] == shard and known["backward_passes_summed"] == 1
    assert sum(known["bucket_sizes"]) == known["bytes_sent"] == known["total_parameter_size_bytes"] == 20 * 4
    assert known["avg_forward_compute_time"] > 0 and shard in model.report()
    strict = DataParallel(Two(), comm=comm, shard=shard, find_unused_parameters="error")
    raises(RuntimeError, "unused.weight", lambda: strict(ag.ones(2, 3)).sum().backward())


def test_sync_batch_norm_and_static_graph(comm):
    def run(comm, kind):
        net = nn.Sequential(make_mlp(), SyncBatchNorm(4, process_group=comm).double(), nn.Linear(4, 4).double())
        with ag.no_grad():
            for p in net[2].parameters():
                p.copy_(ag.arange(p.numel(), dtype=ag.float64).reshape(*p.shape) * 0.1)
        model = wrap(net, comm, kind, static_graph=True)
        train(model, sgd(model.parameters()), comm, steps=3)
        return values(model.state_dict())

    expected = run(comm, None)
    for shard in STAGES:
        same(run(comm, shard), expected)


def test_ignored_parameters_stay_each_ranks_own(comm, shard):
    net = make_mlp()
    with ag.no_grad():
        net[2].bias.fill_(comm.rank)
    model = wrap(net, comm, shard, parameters_to_ignore=["2.bias"])
    optimizer = sgd(model.parameters())
    loss_of(model, comm).backward()
    own = dict(model.named_parameters())["2.bias"]
    assert own is net[2].bias and own.grad is not None
    own.grad = None
    optimizer.step()
    assert (own == comm.rank).all() and (model.state_dict()["2.bias"] == comm.rank).all()


def test_clipping_over_the_ranks_of_a_communicator(comm, shard):
    """comm= sums over what each rank holds: slices, counted once each; without it the slices know their ranks."""
    model, again, plain = (wrap(make_mlp(), comm, kind) for kind in (shard, shard, None))
    for m in (model, again, plain):
        loss_of(m, comm).backward()
    expected = nn.utils.clip_grad_norm_(plain.parameters(), 0.1)
    np.testing.assert_allclose(clip_grad_norm_(model.parameters(), 0.1).item(), expected.item(), rtol=1e-11)
    np.testing.assert_allclose(clip_grad_norm_(again.parameters(), 0.1, comm=comm).item(), expected.item(), rtol=1e-11)
    for p, q in zip(model.parameters(), again.parameters(), strict=True):
        np.testing.assert_allclose(p.grad.numpy(), q.grad.numpy(), rtol=1e-11)


@pytest.mark.parametrize("average", ["rows", "ranks", "sum"])
@pytest.mark.parametrize("wire, rtol", [("float16", 2e-3), ("bfloat16", 2e-2), ("float32", 1e-6), ("float64", 1e-12)])
def test_gradients_in_another_dtype_on_the_wire(comm, wire, rtol, average, shard):
    """Uneven rows, and for a rank of three none; float16 does not overflow, though gradients times rows would."""
    def gradients(comm, shard, loud, **options):
        model = wrap(make_mlp(), comm, shard, average=average, **options)
        with model.weighted(comm.rank * 200 if average != "ranks" and comm.size > 1 else 1.0):
            (loud * loss_of(model, comm)).backward()
        if shard is None or comm.size == 1:
            return model, [p.grad.numpy() for p in model.parameters()]
        slices = [(p.shard, p.grad.numpy().reshape(-1)) for p in model.parameters()]
        return model, [comm.allgather([g])[0].reshape(part.shape) for part, g in slices]

    loud = 1000.0 if wire == "float16" else 1.0
    _, plain = gradients(comm, None, loud)
    model, found = gradients(comm, shard, loud, mixed_precision=wire)
    for a, b in zip(found, plain, strict=True):
        np.testing.assert_allclose(a, b, rtol=rtol, atol=rtol * np.abs(b).max())
    sent = model.logging_data()["bytes_sent_last"]
    assert comm.size == 1 or sent == sum(g.size for g in plain) * np.dtype("u2" if wire == "bfloat16" else wire).itemsize
    train(model, sgd(model.parameters()), comm, steps=2)


def test_a_bad_weight_on_one_rank_with_another_dtype_on_the_wire(comm):
    for shard in STAGES:
        model = wrap(make_mlp(), comm, shard, mixed_precision="bfloat16")
        with pytest.raises(RuntimeError, match="weighted.*a weight must be finite"), model.weighted(-1 if comm.rank == 0 else 1):
            loss_of(model, comm).backward()
        train(model, sgd(model.parameters()), comm, steps=1)


@pytest.mark.parametrize("shard", STAGES[:2])
def test_second_derivatives_with_respect_to_whole_parameters(on_ranks, shard):
    """A penalty on the norm of the averaged gradients, trained: the same as without sharding."""
    def run(comm, shard):
        model = wrap(make_mlp(), comm, shard)
        optimizer = sgd(model.parameters())
        for step in range(2):
            optimizer.zero_grad()
            loss = loss_of(model, comm, step)
            grads = ag.grad(loss, list(model.module.parameters()), create_graph=True)
            (loss + sum((g * g).sum() for g in grads)).backward()
            optimizer.step()
        return values(model.state_dict()) | {f"grad {i}": g.detach().numpy() for i, g in enumerate(grads)}

    on_ranks(lambda comm: same(run(comm, shard), run(comm, None)))


@pytest.mark.threads(2)
def test_what_does_not_go_together_names_both(comm, shard):
    for option in ({"reproducible": 2}, {"devices": 2},
                   {"delay_all_reduce_named_params": True}):
        net = make_mlp()
        if "delay_all_reduce_named_params" in option:
            named = list(net.named_parameters())[:1]
            option = {"delay_all_reduce_named_params": named, "param_to_hook_all_reduce": named[0][1]}
        with pytest.raises(NotImplementedError, match=rf"shard= with {next(iter(option))}"):
            DataParallel(net, comm=comm, shard=shard, **option)
    with pytest.raises(NotImplementedError, match="shard with float16"):
        DataParallel(make_mlp().to(np.float16), comm=comm, shard=shard)
    model = wrap(make_mlp(), comm, shard)
    raises(NotImplementedError, r"join\(\) with shard=", model.join)
    if shard == "parameters":
        raises(NotImplementedError, r"skipping\(\) with shard=", model.skipping)
    x = ag.ones(2, FEATURES, dtype=ag.float64)
    with pytest.raises(NotImplementedError, match=r"autograd.grad\(\).*with shard="):
        ag.grad(model(x).sum(), list(model.parameters()), allow_unused=True)
    if shard == "parameters":
        with pytest.raises(NotImplementedError, match=r"autograd.grad\(\) with respect to parameters with shard=3"):
            ag.grad(model(x).sum(), list(model.module.parameters()))
    with pytest.raises(NotImplementedError, match=r"backward\(create_graph=True\) with shard="):
        model(x).sum().backward(create_graph=True)
    model.zero_grad()
    train(model, sgd(model.parameters()), comm, steps=2)     # it goes on


def test_verify_every_does_not_go_with_join_or_the_roots_batch():
    def check(comm):
        with pytest.raises(NotImplementedError, match=r"join\(\) with verify_every="):
            DataParallel(make_mlp(), comm=comm, verify_every=2).join()
        with pytest.raises(NotImplementedError, match="verify_every=2 with batch='root'"):
            DataParallel(make_mlp(), comm=comm, batch="root", verify_every=2)
        raises(ValueError, "shard_units", lambda: DataParallel(make_mlp(), comm=comm, shard_units=nn.Linear))

    run_ranks(2, check)
    model = DataParallel(make_mlp(), devices=2, verify_every=1)                  # one process: nothing to compare
    assert model(ag.ones(2, FEATURES, dtype=ag.float64)).shape == (2, 4)
