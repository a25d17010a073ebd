"""Checkpoints of the whole state: a run that was stopped goes on as if it had not been, on any number of ranks."""

import collections
import functools
import random

import numpy as np
import pytest
from checkpointed import BATCH, ROWS, Run, same, shared_folder
from raised import raises

import autograd as ag
from autograd import nn, optim
from autograd.optim import lr_scheduler
from autograd.utils.data import DataLoader, RandomSampler, TensorDataset
from dparallel import DataParallel, hooks, run_ranks
from dparallel.checkpoint import Checkpointer, CheckpointError
from dparallel.comm import launched_size

REAL = launched_size() > 0                           # then each rank has the streams of its process to itself


def seeded(rank):
    ag.manual_seed(rank)
    np.random.seed(rank)
    random.seed(rank)


@pytest.mark.parametrize("shard, sampler, workers", [
    (None, "global", 0), (1, "distributed", 0), (2, "global", 2), (3, "distributed", 2), ("zero", "global", 0)])
def test_on_the_same_ranks_it_is_bitwise_the_run_that_was_not_stopped(comm, shard, sampler, workers):
    options = {"shard": shard, "sampler": sampler, "workers": workers, "dropout": 0.3, "noise": REAL or comm.size == 1}
    with shared_folder(comm) as folder, ag.random.using_generator(ag.Generator()):
        whole = Run(comm, folder + "/whole", **options)
        seeded(comm.rank)
        expected = whole.steps(13).everything()
        stopped = Run(comm, folder, **options)
        seeded(comm.rank)
        stopped.steps(9, save_at=(3, 8)).checkpoint.close()
        resumed = Run(comm, folder, seed=5, **options)
        seeded(77)
        assert resumed.checkpoint.restore() == 8
        same(resumed.steps(13, 8).everything(), expected)


PAIRS = [(3, 1), (3, 2), (3, 5), (3, 8), (1, 3), (2, 3), (5, 3), (8, 2)]
STAGES = [None, 1, 2, 3]


@functools.cache
def undisturbed(shard):
    def run(comm):
        with shared_folder(comm) as folder:
            return Run(comm, folder, shard=shard, normalised=False).steps(13).weights()

    return run_ranks(1, run)[0]


@pytest.mark.parametrize("before, after, shard", [
    *((*pair, STAGES[i % 4]) for i, pair in enumerate(PAIRS)), (2, 5, 2), (3, 2, 3), (3, 5, "zero")])
def test_on_another_number_of_ranks(before, after, shard, tmp_path):
    """Each sample of an epoch once, weights to rounding; and with another stage of sharding."""
    def begin(comm):
        Run(comm, tmp_path, shard=shard, normalised=False).steps(8, save_at=[8]).checkpoint.close()

    run_ranks(before, begin)
    for stage in {shard, shard if shard == "zero" else STAGES[(STAGES.index(shard) + 1) % 4]}:
        def go_on(comm, stage=stage):
            run = Run(comm, tmp_path, shard=stage, seed=5, normalised=False)
            assert run.checkpoint.restore() == 8
            return run.steps(13, 8).weights()

        for weights in run_ranks(after, go_on):
            same(weights, undisturbed(shard), exact=False)


def as_many_batches(size):
    """The smallest batch size above 1 with which uneven shares have as many batches on all ranks."""
    few, many = ROWS // size, -(-ROWS // size)
    return next(b for b in range(2, ROWS) if -(-few // b) == -(-many // b))


@pytest.mark.parametrize("sampler, batch", [("global", 7), ("distributed", 3)])
@pytest.mark.parametrize("before, after", [*PAIRS, (3, 3), (8, 1)])
def test_each_sample_of_the_epoch_is_seen_once(before, after, sampler, batch, tmp_path):
    """Also with another batch size, and after a checkpoint at the last batch of an epoch or the first of the next."""
    for at in ((2, 5) if before % 2 else (6, 9)):
        folder = tmp_path / str(at)

        def begin(comm, folder=folder, at=at):
            run = Run(comm, folder, sampler=sampler, batch=BATCH if sampler == "global" else as_many_batches(comm.size))
            run.steps(at, save_at=[at]).checkpoint.close()
            return run

        def go_on(comm, folder=folder):
            run = Run(comm, folder, sampler=sampler, batch=max(batch, comm.size), seed=5)
            run.checkpoint.restore()
            for epoch in range(run.progress["epoch"], 4):
                run.sampler.set_epoch(epoch)
                run.seen += [(epoch, numbers.tolist()) for (numbers,) in run.loader]
            return run

        epochs = collections.defaultdict(list)
        for run in [*run_ranks(before, begin), *run_ranks(after, go_on)]:
            for epoch, numbers in run.seen:
                epochs[epoch] += numbers
        assert len(epochs) == 4 and all(sorted(seen) == list(range(ROWS)) for seen in epochs.values()), at


@pytest.mark.parametrize("before, after", [(2, 4), (4, 1), (1, 8)])
def test_with_virtual_shards_it_is_bitwise_the_same_on_another_number_of_ranks(before, after, tmp_path):
    options = {"reproducible": 8, "dropout": 0.3, "batch": 16}

    def alone(work):
        def on_this_rank(comm):
            with ag.random.using_generator(ag.Generator()):
                return work(comm)

        return on_this_rank

    def begin(comm):
        run = Run(comm, tmp_path, **options)
        ag.manual_seed(comm.rank)                    # rank 0's stream is what counts
        run.steps(6, save_at=[6]).checkpoint.close()

    def go_on(comm):
        run = Run(comm, tmp_path, seed=5, **options)
        run.checkpoint.restore()
        return run.steps(9, 6).weights()

    def whole(comm):
        run = Run(comm, tmp_path / "whole", **options)
        ag.manual_seed(0)
        return run.steps(9).weights()

    run_ranks(before, alone(begin))
    (expected,) = run_ranks(1, alone(whole))
    for found in run_ranks(after, alone(go_on)):
        same(found, expected)


def test_streams_on_more_ranks(tmp_path):
    """Equal streams stay equal; of different ones new ranks get others, the same each time."""
    def save(comm, equal):
        with ag.random.using_generator(ag.Generator()):
            ag.manual_seed(1 if equal else comm.rank)
            Checkpointer(tmp_path / str(equal), comm=comm, background=False).save(1)

    def drawn(comm, equal):
        with ag.random.using_generator(ag.Generator()):
            Checkpointer(tmp_path / str(equal), comm=comm).restore()
            return ag.rand(1).item()

    for equal in (True, False):
        run_ranks(2, lambda comm, equal=equal: save(comm, equal))
        found = run_ranks(4, lambda comm, equal=equal: drawn(comm, equal))
        assert len(set(found)) == (1 if equal else 4)
        assert found == run_ranks(4, lambda comm, equal=equal: drawn(comm, equal))


OPTIMIZERS = [optim.SGD, optim.Adam, optim.AdamW, optim.Adamax, optim.NAdam, optim.RAdam, optim.Adagrad, optim.Adadelta, optim.RMSprop,
              optim.Rprop, optim.ASGD, optim.LBFGS, optim.Adafactor, optim.LAMB, optim.LARS, optim.Muon]
SCHEDULES = {
    "StepLR": (2,), "MultiStepLR": ([2, 4],), "ConstantLR": (), "LinearLR": (), "ExponentialLR": (0.9,), "PolynomialLR": (9,),
    "CosineAnnealingLR": (9,), "CosineAnnealingWarmRestarts": (3,), "OneCycleLR": (0.1, 20), "ReduceLROnPlateau": (),
    "CyclicLR": (0.01, 0.1), "LambdaLR": (lambda n: 0.9 ** n,), "MultiplicativeLR": (lambda n: 0.9,)}


@pytest.mark.parametrize("kind", OPTIMIZERS, ids=lambda kind: kind.__name__)
def test_every_optimiser_goes_on_bitwise(kind, tmp_path):
    more = {"momentum": 0.9} if kind in (optim.SGD,) else {}
    trained(lambda params: kind([p for p in params if kind is not optim.Muon or p.ndim == 2], lr=0.01, **more), None, tmp_path)


@pytest.mark.parametrize("name", [*SCHEDULES, "SequentialLR", "ChainedScheduler"])
def test_every_schedule_goes_on(name, tmp_path):
    def schedule(optimizer):
        if name in SCHEDULES:
            return getattr(lr_scheduler, name)(optimizer, *SCHEDULES[name])
        parts = [lr_scheduler.ConstantLR(optimizer, 0.1), lr_scheduler.ExponentialLR(optimizer, 0.9)]
        return lr_scheduler.SequentialLR(optimizer, parts, [3]) if name == "SequentialLR" else lr_scheduler.ChainedScheduler(parts)

    trained(lambda params: optim.SGD(params, lr=0.1, momentum=0.9), schedule, tmp_path)


def trained(make, schedule, folder):
    """Three steps, a checkpoint, three more; and the last three again from the checkpoint, by other objects."""
    found = []
    for again in (False, True):
        ag.manual_seed(5 if again else 0)
        net = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2, bias=False))
        optimizer = make(net.parameters())
        scheduler = schedule(optimizer) if schedule else None
        checkpoint = Checkpointer(folder, model=net, optimizer=optimizer, scheduler=scheduler)
        for step in range(checkpoint.restore() if again else 0, 6):
            x = ag.tensor(np.random.default_rng(step).standard_normal((5, 3)).astype(np.float32))

            def closure(x=x, net=net, optimizer=optimizer):
                optimizer.zero_grad()
                loss = (net(x) ** 2).mean()
                loss.backward()
                return loss

            loss = optimizer.step(closure)
            if scheduler is not None:
                scheduler.step(*([loss.item()] if isinstance(scheduler, lr_scheduler.ReduceLROnPlateau) else []))
            if step == 2 and not again:
                checkpoint.save(3)
        checkpoint.close()
        found.append({**{k: v.numpy().copy() for k, v in net.state_dict().items()}, "lr": optimizer.param_groups[0]["lr"]})
    same(found[1], found[0])


def test_what_users_hold(tmp_path):
    """Dicts, lists, tensors, arrays, generators and objects of any name; of every dtype and layout; shared between names."""
    bfloat16 = pytest.importorskip("ml_dtypes").bfloat16

    class Counter:
        def __init__(self):
            self.n = 0

        def state_dict(self):
            return {"n": self.n}

        def load_state_dict(self, state):
            self.n = state["n"]

    rng = np.random.default_rng(0)
    arrays = {"bf": np.arange(5).astype(bfloat16), "c": np.arange(6).reshape(2, 3) * (1 + 2j), "zero": np.array(2.5), "none": np.zeros((0, 3)),
              "turned": np.asfortranarray(rng.standard_normal((3, 4))), "big": np.arange(3, dtype=">f8"), "flag": np.array([True, False])}

    def make(full):
        tensor = ag.tensor([1.0, 2.0] if full else [0.0, 0.0])
        return {"progress": {"epoch": 4, 7: ("a", None, float("inf")), "nest": [{1, 2}, 2 ** 70]} if full else {},
                "log": [1.5, "text", ag.tensor([3])] if full else [], "weight": tensor, "array": np.arange(3.0) if full else np.zeros(3),
                "generator": ag.Generator().manual_seed(1 if full else 2), "bits": np.random.default_rng(3 if full else 4),
                "counter": Counter(), "arrays": dict(arrays) if full else {}, "averaged": nn.Linear(2, 2),
                "twice": [tensor, tensor] if full else []}

    old, new = make(True), make(False)
    old["counter"].n = 9
    Checkpointer(tmp_path, background=False, **old).save(12)
    assert Checkpointer(tmp_path, **new).restore() == 12
    assert new["progress"] == old["progress"] and new["log"][:2] == old["log"][:2] and new["counter"].n == 9
    assert new["weight"].tolist() == [1, 2] and new["array"].tolist() == [0, 1, 2] and new["log"][2].tolist() == [3]
    assert new["generator"].numpy.random() == old["generator"].numpy.random() and new["bits"].random() == old["bits"].random()
    same({k: v.numpy() for k, v in new["averaged"].state_dict().items()}, {k: v.numpy() for k, v in old["averaged"].state_dict().items()})
    for name, array in arrays.items():
        assert new["arrays"][name].dtype == array.dtype.newbyteorder("=") and new["arrays"][name].shape == array.shape
        np.testing.assert_array_equal(new["arrays"][name], array)
    for wrong, text in ((3, "epoch is a int, which restore"), (object(), "restore\\(\\) could not change")):
        raises(TypeError, text, Checkpointer, tmp_path, epoch=wrong)
    with pytest.raises(CheckpointError, match=r"obj\['odd'\]\['x'\] is a builtins.object|is a object"):
        Checkpointer(tmp_path / "b", odd={"x": object()}).save(1)


def test_several_models_and_what_does_not_fit(tmp_path):
    nets = [nn.Linear(2, 2), nn.Linear(3, 1)]
    optimizers = {"g": optim.SGD(nets[0].parameters(), lr=0.1), "d": optim.Adam(nets[1].parameters())}
    Checkpointer(tmp_path, model=nets, optimizer=optimizers, background=False).save(3)
    others = [nn.Linear(2, 2), nn.Linear(3, 1)]
    more = {"g": optim.SGD(others[0].parameters(), lr=0.2), "d": optim.Adam(others[1].parameters())}
    assert Checkpointer(tmp_path, model=others, optimizer=more).restore() == 3
    assert (others[1].weight.array == nets[1].weight.array).all() and more["g"].param_groups[0]["lr"] == 0.1
    with pytest.raises(CheckpointError, match=r"holds model.0, model.1, optimizer.g, optimizer.d, random; .* was given model, random"):
        Checkpointer(tmp_path, model=nets[0]).restore()
    wrong = [nn.Linear(2, 5), nn.Linear(3, 1)]
    with pytest.raises(CheckpointError, match=r"model.0 cannot restore its saved state: RuntimeError(?s:.*)size mismatch"):
        Checkpointer(tmp_path, model=wrong, optimizer=more).restore()
    raises(TypeError, "random= is the name", Checkpointer, tmp_path, random={})
    assert Checkpointer(tmp_path / "new", model=nets).restore() == 0
    with pytest.raises(CheckpointError, match=r"no complete checkpoint of step 7: there are \[3\]"):
        Checkpointer(tmp_path, model=nets, optimizer=optimizers).restore(7)


def test_what_ranks_hold_apart_comes_back_apart(tmp_path):
    """Ignored parameters, buffers that are not synchronised, a hook's residuals; on other ranks: an error, rank 0's."""
    def make(comm, ignored=("1.weight",)):
        net = nn.Sequential(nn.BatchNorm1d(3), nn.Linear(3, 3), nn.Linear(3, 1))
        model = DataParallel(net, comm=comm, parameters_to_ignore=ignored, broadcast_buffers=False)
        if comm.size > 1:
            state = hooks.TopKState(0.3)
            model.register_comm_hook(state, hooks.topk_hook)
        optimizer = optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
        return model, optimizer, Checkpointer(tmp_path, model=model, optimizer=optimizer, comm=comm)

    def step(model, optimizer, comm, number):
        x = np.random.default_rng([number, comm.rank]).standard_normal((4, 3)).astype(np.float32)
        optimizer.zero_grad()
        (model(ag.tensor(x)) ** 2).mean().backward()
        optimizer.step()

    def check(comm):
        ag.manual_seed(comm.rank)
        model, optimizer, checkpoint = make(comm)
        for number in range(3):
            step(model, optimizer, comm, number)
        checkpoint.save(3)
        step(model, optimizer, comm, 3)              # while it is written
        checkpoint.close()
        expected = {k: v.numpy().copy() for k, v in model.state_dict().items()}
        model, optimizer, checkpoint = make(comm)
        checkpoint.restore()
        step(model, optimizer, comm, 3)
        same({k: v.numpy() for k, v in model.state_dict().items()}, expected)
        return expected["0.running_mean"].tobytes(), expected["1.weight"].tobytes()

    assert len(set(run_ranks(2, check))) == 2
    with pytest.raises(CheckpointError, match=r"the 2 ranks saved different values of parameter '1.weight', so 1 ranks cannot continue from it"):
        run_ranks(1, lambda comm: make(comm)[2].restore())


def test_a_loader_in_an_order_of_its_own_needs_as_many_ranks(tmp_path):
    def check(comm, restore):
        data = TensorDataset(ag.arange(20))
        sampler = RandomSampler(data, generator=ag.Generator().manual_seed(comm.rank))
        loader = DataLoader(data, 2, sampler=sampler)
        next(iter(loader))
        checkpoint = Checkpointer(tmp_path, loader=loader, comm=comm)
        if restore:
            checkpoint.restore()
        else:
            checkpoint.save(1)
            checkpoint.close()

    run_ranks(2, lambda comm: check(comm, False))
    run_ranks(2, lambda comm: check(comm, True))
    with pytest.raises(CheckpointError, match="each in its own order, so 3 ranks cannot redistribute the remaining samples; use a GlobalBatchSampler"):
        run_ranks(3, lambda comm: check(comm, True))
