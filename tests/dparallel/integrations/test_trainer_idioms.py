"""Accelerate's, Lightning's and Optuna's habits on ranks, and metrics that are exact over them."""

import shutil
import tempfile
import time

import numpy as np
import pytest
from raised import raises

import autograd as ag
import dparallel
from autograd import nn, optim
from autograd.utils.data import DataLoader, TensorDataset
from dparallel import CollectiveError, DistributedSampler, GlobalBatchSampler, gather_for_metrics, metrics
from dparallel.checkpoint import CheckpointError
from dparallel.comm import Devices

RNG = np.random.default_rng(0)
SCORES, TARGETS = RNG.standard_normal((23, 4)).round(1), RNG.integers(0, 4, 23)
VALUES, RIGHT = RNG.standard_normal(23) + 1e6, RNG.standard_normal(23) + 1e6


def test_main_process(on_ranks, capsys):
    order = []

    def check(comm):
        main = dparallel.main_process(comm)
        assert bool(main) == (comm.rank == 0) and str(comm.size) in repr(main)
        with main as first:
            assert first is main
            time.sleep(0.02 if comm.rank == 0 else 0)
            order.append(comm.rank)
        comm.barrier()
        assert comm.rank != 0 or order[0] == 0
        assert dparallel.on_main_process(lambda x: x + 1, comm)(1) == (2 if comm.rank == 0 else None) and dparallel.rank_zero_only is dparallel.on_main_process
        dparallel.print_once("once", 2, comm=comm, sep="-")
        with pytest.raises(ValueError if comm.rank == 0 else CollectiveError, match="no file" if comm.rank == 0 else "failed on rank 0: ValueError: no file"), main:
            if comm.rank == 0:
                raise ValueError("no file")
            raise AssertionError("the others must not run it")
        comm.barrier()

    on_ranks(check)
    assert capsys.readouterr().out.count("once-2\n") <= 1                  # on MPI's rank 0 only


@pytest.mark.parametrize("rows", [7, 12, 1])
@pytest.mark.parametrize("workers", [0, 2])
def test_gather_for_metrics(comm, rows, workers):
    data = TensorDataset(ag.arange(rows), ag.arange(2.0 * rows).reshape(rows, 2))
    size = comm.size if comm.held == (comm.rank,) else 1

    def seen(sampler, loader=True, **settings):
        batches = DataLoader(data, num_workers=workers, **({"sampler": sampler, "batch_size": 2, **settings} if not settings.get("batch_sampler") else settings))
        found = [gather_for_metrics({"x": x, "y": (y * ag.ones(2, requires_grad=True), x.numpy())}, batches if loader else None, comm=comm) for x, y in batches]
        for each in found:
            assert type(each["y"][1]) is np.ndarray and not each["y"][0].requires_grad and each["y"][0].shape == (len(each["x"]), 2)
            np.testing.assert_array_equal(each["y"][0][:, 0], 2.0 * each["x"])
        return sorted(np.concatenate([each["x"].numpy() for each in found]).tolist()) if found else []

    plain = lambda **more: DistributedSampler(data, comm=comm, shuffle=True, **more)
    for _ in range(2):                                               # another pass too
        assert seen(plain()) == list(range(rows))
    assert len(seen(plain(), loader=False)) == -(-rows // size) * size       # without the loader nothing is known of them
    if rows >= size:
        assert len(seen(plain(drop_last=True))) == rows // size * size
        assert seen(None, batch_sampler=GlobalBatchSampler(data, max(4, size), comm=comm)) == list(range(rows))
    per_rank = -(-rows // size)
    if per_rank % 2:
        assert len(seen(plain(), drop_last=True)) == (per_rank - 1) * size    # the repeated ones were in the batch left out
    else:
        assert seen(plain(), drop_last=True) == list(range(rows))


def test_gather_for_metrics_of_other_things(comm):
    n, rank = comm.size, comm.rank
    uneven = gather_for_metrics(ag.full((rank,), float(rank)), comm=comm)
    assert uneven.tolist() == [float(r) for r in range(n) for _ in range(r)]
    assert gather_for_metrics(ag.tensor(float(rank)), comm=comm).tolist() == gather_for_metrics(float(rank), comm=comm).tolist() == list(range(n))
    assert gather_for_metrics([f"row {rank}"], comm=comm) == [f"row {r}" for r in range(n)]
    assert gather_for_metrics({"text": "a", "rank": rank}, comm=comm) == [{"text": "a", "rank": r} for r in range(n)]
    if n > 1:
        raises(CollectiveError, "different structures", lambda: gather_for_metrics([ag.ones(1)] * (1 + rank % 2), comm=comm))
        raises(CollectiveError, None, lambda: gather_for_metrics(ag.ones(1, 1 + rank % 2), comm=comm))
    return comm.barrier()


def test_save_all_and_load_all(comm):
    folder = comm.broadcast_object(tempfile.mkdtemp() if comm.rank == 0 else None, 0)
    make = lambda: dparallel.DataParallel(nn.Linear(3, 2), comm=comm)
    model, progress = make(), {"epoch": 3, "rank": comm.rank}
    optimizer = optim.Adam(model.parameters(), lr=0.1)
    model(ag.ones(2, 3)).sum().backward()
    optimizer.step()
    for step in (5, 7):
        dparallel.save_all(f"{folder}/run", model, optimizer, step=step, progress=progress)
    with ag.random.fork_rng():
        ag.manual_seed(9)
        other = make()
    second, back = optim.Adam(other.parameters(), lr=0.5), {"epoch": 0, "rank": -1}
    assert dparallel.load_all(f"{folder}/run", other, second, progress=back) == 7 and back == progress
    assert ag.equal(other.module.weight, model.module.weight) and second.param_groups[0]["lr"] == 0.1
    with pytest.raises(CheckpointError, match="no complete checkpoint of step 5"):
        dparallel.load_all(f"{folder}/run", other, second, step=5, progress=back)      # keep=1
    raises(CheckpointError, "no folder .*nowhere", lambda: dparallel.load_all(f"{folder}/nowhere", other))
    raises(CheckpointError, "give it the same", lambda: dparallel.load_all(f"{folder}/run", other))
    comm.barrier()
    if comm.rank == 0:
        shutil.rmtree(folder)


MAKE = {
    "matrix": lambda: metrics.ConfusionMatrix(4), "f1": lambda: metrics.F1Score(4), "f1 micro": lambda: metrics.F1Score(4, average="micro"),
    "f1 weighted": lambda: metrics.F1Score(4, average="weighted"), "f1 each": lambda: metrics.F1Score(4, average=None), "precision": lambda: metrics.Precision(4),
    "recall": lambda: metrics.Recall(4, ignore_index=2), "auroc": lambda: metrics.AUROC(), "auroc weighted": lambda: metrics.AUROC(average="weighted"),
    "auroc each": lambda: metrics.AUROC(average=None, ignore_index=1), "mse": lambda: metrics.MeanSquaredError(), "rmse": lambda: metrics.MeanSquaredError(squared=False),
    "mae": lambda: metrics.MeanAbsoluteError(), "r2": lambda: metrics.R2Score(), "binary": lambda: metrics.AUROC(),
}


def rows_of(name):
    if name in ("mse", "rmse", "mae", "r2"):
        return VALUES, RIGHT
    return (SCORES[:, 0], TARGETS > 1) if name == "binary" else (SCORES, TARGETS)


def test_metrics_are_those_of_all_rows(comm):
    """Pieces of unequal length, and none on the last rank."""
    for name, make in MAKE.items():
        output, target = rows_of(name)
        whole, mine = make(), make()
        whole.update(ag.tensor(output), ag.tensor(target))
        if comm.rank < comm.size - 1 or comm.size == 1:
            ends = np.linspace(0, 1, max(comm.size, 2)) ** 2 * len(output)
            part = slice(int(ends[comm.rank]), int(ends[comm.rank + 1]))
            middle = (part.start + part.stop) // 2
            for rows in (slice(part.start, middle), slice(middle, part.stop)):
                mine.update(output[rows], target[rows])
        expected = whole.compute(Devices(1))
        for _ in range(2):                                           # computing changes nothing
            np.testing.assert_allclose(mine.compute(comm), expected, rtol=1e-9, err_msg=name)
        again = make()
        again.load_state_dict(mine.state_dict())
        np.testing.assert_allclose(again.compute(comm), expected, rtol=1e-9, err_msg=name)
        mine.reset()
        assert np.isnan(mine.compute(comm)).all() if name != "matrix" else not mine.compute(comm).any()


def test_metrics_refuse():
    for call, words in [(lambda: metrics.F1Score(3, average="mean"), "average='mean' must be one of"), (lambda: metrics.ConfusionMatrix(1), "num_classes=1 must be at least 2"),
                        (lambda: metrics.F1Score(3).update([0, 3], [0, 1]), "class 3 among the outputs, of 3 classes"), (lambda: metrics.F1Score(3).update([0, 1], [0, -1]), "class -1 among the targets"),
                        (lambda: metrics.F1Score(3).update(SCORES, TARGETS[:4]), r"outputs of shape \[23, 4\] for targets of shape \[4\]"), (lambda: metrics.AUROC().update(SCORES, TARGETS[:4]), "AUROC: scores of shape"),
                        (lambda: metrics.AUROC().update(SCORES[:, 0], TARGETS), "none of the 2 classes"), (lambda: metrics.R2Score().update(VALUES, RIGHT[:1]), "R2Score: outputs of shape")]:
        raises(ValueError, words, call)


class Pruned(Exception):
    pass


Pruned.__name__ = "TrialPruned"                                            # as Optuna's


class Study:
    def __init__(self):
        self.values, self.reports = [], []

    def optimize(self, objective, n_trials, timeout=None, catch=()):
        for number in range(n_trials):
            try:
                self.values.append(objective(Trial(self, number)))
            except Pruned:
                self.values.append("pruned")
            except catch:
                self.values.append("failed")


class Trial:
    def __init__(self, study, number):
        self.study, self.number, self.params = study, number, {}

    def suggest_float(self, name, low, high, *, step=None, log=False):
        if low > high:
            raise ValueError("low > high")
        return self.params.setdefault(name, low + (high - low) * (self.number + 1) / 10)

    def suggest_categorical(self, name, choices):
        return self.params.setdefault(name, choices[self.number % len(choices)])

    def report(self, value, step):
        self.study.reports.append((self.number, value, step))

    def should_prune(self):
        return self.number == 1

    def set_user_attr(self, key, value):
        pass


def test_trials_on_ranks(on_ranks):
    def check(comm):
        study, seen = Study() if comm.rank == 0 else None, []

        def objective(trial):
            seen.append((trial.number, trial.suggest_float("lr", 0, 1), trial.suggest_categorical("kind", ["a", "b"]), trial.params))
            trial.report(seen[-1][1] + comm.rank, 1)
            if trial.should_prune():
                raise Pruned()
            if trial.number == 2:
                raise KeyError("on all ranks")
            return seen[-1][1] + comm.rank

        def alone(trial):                                                # one rank fails, the others wait for it in a collective
            if trial.number == 0 and comm.rank == comm.size - 1:
                raise OSError("disk")
            return float(comm.allreduce([np.ones(1)])[0][0])

        if comm.size > 1:
            with pytest.raises(OSError if comm.rank == comm.size - 1 else CollectiveError):
                dparallel.DistributedTrial.optimize(Study() if comm.rank == 0 else None, alone, 2, comm=comm)
            other = Study() if comm.rank == 0 else None
            dparallel.DistributedTrial.optimize(other, alone, 2, catch=(OSError, CollectiveError), comm=comm)
            assert comm.rank or other.values == ["failed", comm.size]
        dparallel.DistributedTrial.optimize(study, objective, 4, catch=(KeyError,), comm=comm)
        assert [row[:3] for row in seen] == [(0, 0.1, "a"), (1, 0.2, "b"), (2, 0.3, "a"), (3, 0.4, "b")] and seen[-1][3] == {"lr": 0.4, "kind": "b"}
        assert comm.rank or (study.values == [0.1, "pruned", "failed", 0.4] and study.reports == [(0, 0.1, 1), (1, 0.2, 1), (2, 0.3, 1), (3, 0.4, 1)])

        def wrong(trial):
            trial.suggest_float("lr", 2, 1)

        with pytest.raises(ValueError if comm.rank == 0 else CollectiveError, match="low > high"):
            dparallel.DistributedTrial.optimize(study, wrong, 1, comm=comm)
        raises(TypeError, "rank 0 passes Optuna's trial", dparallel.DistributedTrial, None, comm)
        raises(ValueError, "n_trials, timeout", dparallel.DistributedTrial.optimize, study, wrong, comm=comm)
        comm.barrier()

    on_ranks(check)
    with pytest.raises(AttributeError, match="has no 'suggest'"):
        dparallel.DistributedTrial(Trial(Study(), 0), Devices(1)).suggest("x")
