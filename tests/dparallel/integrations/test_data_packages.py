"""Hugging Face's datasets and tokenizers in the loader, Optuna's study on ranks, torchmetrics: each as it is published."""

import os

import numpy as np
import pytest

import autograd as ag
import dparallel
from autograd.utils.data import DataLoader

pytestmark = pytest.mark.filterwarnings("ignore")
N = 10


def numbers(batches):
    return [batch["y"].tolist() for batch in batches]


def test_datasets(monkeypatch, tmp_path):
    monkeypatch.setitem(os.environ, "HF_HOME", str(tmp_path))
    monkeypatch.setitem(os.environ, "HF_DATASETS_OFFLINE", "1")
    datasets = pytest.importorskip("datasets", reason="datasets is not installed")
    from datasets.distributed import split_dataset_by_node
    rows = datasets.Dataset.from_dict({"x": [[float(i), i + 1.0] for i in range(N)], "y": list(range(N)), "s": [str(i) for i in range(N)]})
    arrays = rows.with_format("numpy")
    first = next(iter(DataLoader(arrays, batch_size=4)))
    assert first["x"].shape == (4, 2) and first["x"].dtype == ag.float32 and first["y"].tolist() == [0, 1, 2, 3] and list(first["s"]) == ["0", "1", "2", "3"]
    assert sorted(sum(numbers(DataLoader(arrays, batch_size=4, shuffle=True)), [])) == list(range(N))
    pytest.importorskip("torch") and np.testing.assert_array_equal(next(iter(DataLoader(rows.with_format("torch"), batch_size=4)))["x"], first["x"])
    for context in (None, "fork"):
        assert numbers(DataLoader(arrays, batch_size=4, num_workers=2, multiprocessing_context=context)) == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9]]
    seen = dparallel.run_ranks(3, lambda comm: numbers(DataLoader(arrays, batch_size=4, sampler=dparallel.DistributedSampler(arrays, comm=comm, shuffle=False, uneven=True))))
    assert sorted(sum(sum(seen, []), [])) == list(range(N))
    nodes = [sum(numbers(DataLoader(split_dataset_by_node(arrays, rank=rank, world_size=3), batch_size=2)), []) for rank in range(3)]
    assert sorted(sum(nodes, [])) == list(range(N))

    def stream(shards=4):
        return rows.to_iterable_dataset(num_shards=shards).with_format("numpy")

    assert numbers(DataLoader(stream(), batch_size=4)) == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9]]
    for shards, workers, context in [(4, 2, None), (4, 2, "fork"), (2, 3, None)]:                    # each row once, by whatever worker
        assert sorted(sum(numbers(DataLoader(stream(shards), batch_size=3, num_workers=workers, multiprocessing_context=context)), [])) == list(range(N))
    halves = [sum(numbers(DataLoader(split_dataset_by_node(stream(), rank=rank, world_size=2), batch_size=3)), []) for rank in range(2)]
    assert sorted(sum(halves, [])) == list(range(N)) and halves[0] and halves[1]
    for workers, shards, read in [(0, 4, 1), (0, 1, 3), (1, 1, 2), (2, 1, 0), (2, 1, 3), (2, 4, 2), (3, 2, 4)]:
        loader, later, whole = (DataLoader(stream(shards), batch_size=2, num_workers=workers) for _ in range(3))
        every, reading = numbers(whole), iter(loader)
        before = [next(reading)["y"].tolist() for _ in range(read)]
        later.load_state_dict(loader.state_dict())
        assert before + numbers(later) == every and numbers(later) == every and sorted(sum(every, [])) == list(range(N))
        later.load_state_dict(whole.state_dict())                         # of a pass that has ended: the next one is whole
        assert numbers(later) == every
    for persistent in (False, True):
        orders = rows.to_iterable_dataset(num_shards=2).shuffle(seed=0).with_format("numpy")
        loader, seen = DataLoader(orders, batch_size=5, num_workers=2, persistent_workers=persistent), set()
        for epoch in range(3):
            orders.set_epoch(epoch)
            seen.add(str(numbers(loader)))
        assert len(seen) == 3
    assert datasets.Dataset.from_dict({"x": ag.ones(3, 2)})[0] == {"x": [1.0, 1.0]}


def test_tokenizers(monkeypatch):
    tokenizers = pytest.importorskip("tokenizers", reason="tokenizers is not installed")
    monkeypatch.setenv("TOKENIZERS_PARALLELISM", "false")                  # else it warns of each fork
    texts = ["a small text", "another small text here", "a text"]
    tokenizer = tokenizers.Tokenizer(tokenizers.models.WordLevel(unk_token="?"))
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    tokenizer.train_from_iterator(texts, tokenizers.trainers.WordLevelTrainer(special_tokens=["?", "_"]))
    tokenizer.enable_padding(pad_id=1, pad_token="_")

    def batch(lines):
        found = tokenizer.encode_batch(lines)
        return ag.tensor([line.ids for line in found]), ag.tensor([line.attention_mask for line in found])

    for settings in ({}, {"num_workers": 2}, {"num_workers": 2, "multiprocessing_context": "fork"}):
        (ids, mask), (last, _) = DataLoader(texts, batch_size=2, collate_fn=batch, **settings)
        assert ids.shape == (2, 4) and ids.dtype == ag.int64 and mask.tolist() == [[1, 1, 1, 0], [1, 1, 1, 1]] and ids[0, 3] == 1
        assert tokenizer.decode(last[0].tolist()) == "a text"


def test_optuna():
    optuna = pytest.importorskip("optuna", reason="optuna is not installed")
    optuna.logging.set_verbosity(optuna.logging.ERROR)

    def search(comm):
        study = optuna.create_study(sampler=optuna.samplers.RandomSampler(0), pruner=optuna.pruners.ThresholdPruner(upper=2.0)) if comm.rank == 0 else None
        seen = []

        def objective(trial):
            x, kind = trial.suggest_float("x", -3, 3), trial.suggest_categorical("kind", ["a", "b"])
            seen.append((trial.number, x, kind, trial.suggest_int("n", 1, 3), trial.params))
            for step in range(2):
                trial.report(x**2, step)
                if trial.should_prune():
                    raise optuna.TrialPruned()
            return comm.total(x**2) / comm.size

        dparallel.DistributedTrial.optimize(study, objective, n_trials=12, comm=comm)
        return seen, study and [(trial.state.name, trial.params) for trial in study.trials], study and study.best_value

    found = dparallel.run_ranks(3, search)
    assert found[0][0] == found[1][0] == found[2][0] and len(found[0][0]) == 12
    states = [state for state, _ in found[0][1]]
    assert set(states) == {"PRUNED", "COMPLETE"} and [params for _, params in found[0][1]] == [row[4] for row in found[0][0]]
    assert found[0][2] == pytest.approx(min(row[1] ** 2 for row in found[0][0]))


def test_torchmetrics():
    """It takes PyTorch's tensors only, on the memory of ours; over ranks dparallel.metrics are exact."""
    torchmetrics = pytest.importorskip("torchmetrics", reason="torchmetrics is not installed")
    torch = pytest.importorskip("torch", reason="torch is not installed")
    scores, targets = ag.randn(40, 4).softmax(1), ag.randint(0, 4, (40,))
    for theirs, ours in [(torchmetrics.classification.MulticlassF1Score(4), dparallel.metrics.F1Score(4)), (torchmetrics.classification.MulticlassAUROC(4), dparallel.metrics.AUROC()),
                         (torchmetrics.classification.MulticlassConfusionMatrix(4), dparallel.metrics.ConfusionMatrix(4)),
                         (torchmetrics.classification.MulticlassRecall(4, average="weighted"), dparallel.metrics.Recall(4, average="weighted"))]:
        ours.update(scores, targets)
        np.testing.assert_allclose(ours.compute(), theirs(torch.from_dlpack(scores), torch.from_dlpack(targets)).numpy(), rtol=1e-5)
