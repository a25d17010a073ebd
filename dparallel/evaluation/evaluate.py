"""Evaluation of one model on data that are spread over ranks: every row counts once."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

from autograd import Tensor, no_grad
from autograd.nn import Module
from autograd.utils import data

from ..comm import CollectiveError, Communicator, communicator
from ..data.samplers import DistributedSampler
from ..hooks.bucket_hook import on_all_ranks
from ..model.data_parallel import DataParallel
from .metrics import Mean, Metric

Function = Callable[[Any, Any], Any]


def evaluate(model: Module, source: Any, metrics: dict[str, Metric | Function], *, batch_size: int = 256,
             comm: Communicator | None = None) -> dict[str, float]:
    """The metrics of the model in evaluation mode, over all rows of all ranks, the same on every rank. Collective.

    source: a Dataset of (input, target) rows, the same on every rank, of which each rank takes its share, each row once; or
    an iterable of (inputs, targets) batches, this rank's share, of any number (a DataLoader; ValueError if its sampler
    repeats rows). metrics: functions of (output, target) that give a mean over the batch's rows (0-d), or one value for each
    row; or Metric objects, which are reset, and updated with both. Means count by rows. An exception on one rank is a
    CollectiveError on the others. comm: default that of a DataParallel, or world(). A model with shard="parameters" is
    whole on each rank while it is evaluated.

    >>> evaluate(model, test_set, {"loss": F.cross_entropy, "accuracy": Accuracy()})
    {'loss': 0.14, 'accuracy': 0.97}
    """
    comm = communicator(model.comm if comm is None and isinstance(model, DataParallel) else comm)
    net = model.module if isinstance(model, DataParallel) and not comm.alone else model       # ranks may have more batches
    everyone = comm.allgather_object([sorted(metrics)] * len(comm.held))
    if any(names != everyone[0] for names in everyone):
        raise CollectiveError(f"evaluate: all ranks pass the same metrics, not {everyone}")
    means = {name: metric if isinstance(metric, Metric) else Mean(comm) for name, metric in metrics.items()}
    for mean in means.values():
        mean.reset()
    whole = model.summon_full_params(writeback=False) if isinstance(model, DataParallel) else contextlib.nullcontext()
    with whole, on_all_ranks(comm, f"evaluate() failed on rank {comm.rank}"), evaluating(model), no_grad():
        for x, target in _batches(source, batch_size, comm):
            output = net(x)
            for name, metric in metrics.items():
                if isinstance(metric, Metric):
                    metric.update(output, target)
                else:
                    _count(means[name], name, metric(output, target), len(target))
    found = {name: means[name].compute(comm) for name in sorted(means)}
    return {name: found[name] for name in metrics}


def _count(mean: Any, name: str, value: Any, rows: int) -> None:
    """Add what a function made of a batch."""
    size = value.numel() if isinstance(value, Tensor) else 1
    if size == 1 and getattr(value, "ndim", 0) == 0:
        mean.update(value, weight=rows)
    elif size == rows:
        mean.update(value)
    else:
        raise ValueError(f"evaluate: {name} made {list(value.shape)} of a batch of {rows} rows; a mean over the rows, or "
                         "one value for each row, is expected")


def _batches(source: Any, batch_size: int, comm: Communicator) -> Any:
    """This rank's batches."""
    if isinstance(source, data.Dataset) and not isinstance(source, data.IterableDataset):
        rows: Any = source
        each_once = DistributedSampler(rows, shuffle=False, uneven=True, comm=comm)
        return data.DataLoader(rows, batch_size=batch_size, sampler=each_once)
    sampler: Any = getattr(getattr(source, "batch_sampler", None), "sampler", None) or getattr(source, "sampler", None)
    if isinstance(sampler, data.DistributedSampler) and sampler.total_size != len(sampler.dataset):
        raise ValueError(f"evaluate: the loader's DistributedSampler has {sampler.total_size} rows for a dataset of "
                         f"{len(sampler.dataset)}: rows would count twice, or not at all; make it with uneven=True")
    return source


@contextlib.contextmanager
def evaluating(model: Module) -> Iterator[None]:
    """The model in evaluation mode, and afterwards each of its modules in the mode it was in."""
    before = [(module, module.training) for module in model.modules()]
    model.eval()
    try:
        yield
    finally:
        for module, training in before:
            module.training = training


__all__ = ["evaluate", "evaluating"]
