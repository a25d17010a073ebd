"""evaluate(): metrics of a model over data that are split across ranks. Every row counts once."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, cast

from autograd.nn import Module
from autograd.utils import data

from ..autograd import Tensor, no_grad
from ..comm import CollectiveError, Communicator, communicator, on_all_ranks
from ..data.samplers import DistributedSampler
from ..model.data_parallel import DataParallel
from .metrics import Mean, Metric

MetricFunction = Callable[[Any, Any], "Tensor | float"]


def evaluate(model: Module, source: data.Dataset[Any] | Iterable[Any], metrics: dict[str, Metric | MetricFunction], *,
             batch_size: int = 256, comm: Communicator | None = None) -> dict[str, float]:
    """Metrics of the model in evaluation mode, over all rows of all ranks: a dict of floats, equal on every rank.
    Collective.

    The buffers of a DataParallel are synchronized first (DataParallel.synchronise_buffers()); with another comm, such as
    Devices(1) on one rank, this rank's own are used. An exception on one rank is a CollectiveError on the others. With
    shard="parameters" the parameters are gathered on each rank meanwhile.
    """
    if not isinstance(metrics, Mapping):
        raise TypeError(f"evaluate(metrics={metrics!r}): pass a dict of functions and Metric objects by name")
    comm = communicator(model.comm if comm is None and isinstance(model, DataParallel) else comm)
    # ranks may have different numbers of batches, and a call of DataParallel may be collective
    net = model.module if isinstance(model, DataParallel) and not model.comm.alone else model
    names_of_ranks = comm.allgather_object([sorted(metrics)] * len(comm.held))
    if any(names != names_of_ranks[0] for names in names_of_ranks):
        raise CollectiveError(f"evaluate: all ranks must pass the same metrics, not {names_of_ranks}")
    means = {name: metric if isinstance(metric, Metric) else Mean(comm) for name, metric in metrics.items()}
    for mean in means.values():
        mean.reset()
    full_params = model.summon_full_params(writeback=False) if isinstance(model, DataParallel) else contextlib.nullcontext()
    with full_params, on_all_ranks(comm, f"evaluate() failed on rank {comm.rank}"), evaluating(model), no_grad():
        if isinstance(model, DataParallel) and comm.size == model.comm.size:
            model.synchronise_buffers()
        for x, target in _batches(source, batch_size, comm):
            output = net(x)
            for name, metric in metrics.items():
                if isinstance(metric, Metric):
                    metric.update(output, target)
                else:
                    _update_mean(means[name], name, metric(output, target), len(target))
    values = {name: means[name].compute(comm) for name in sorted(means)}       # in one order on all ranks
    return {name: values[name] for name in metrics}


def _update_mean(mean: Metric, name: str, value: Any, rows: int) -> None:
    """Add a function's result for a batch: a mean over its rows, or one value for each row."""
    size = value.numel() if isinstance(value, Tensor) else 1
    if size == 1 and getattr(value, "ndim", 0) == 0:
        mean.update(value, weight=rows)
    elif size == rows:
        mean.update(value)
    else:
        raise ValueError(f"evaluate: {name} made {list(value.shape)} of a batch of {rows} rows; a mean over the rows, or "
                         "one value for each row, is expected")


def _batches(source: data.Dataset[Any] | Iterable[Any], batch_size: int, comm: Communicator) -> Iterable[Any]:
    """This rank's batches of the source."""
    if isinstance(source, data.Dataset) and not isinstance(source, data.IterableDataset):
        dataset: Any = source                        # with a length
        sampler: Any = DistributedSampler(dataset, shuffle=False, uneven=True, comm=comm)
        return data.DataLoader(dataset, batch_size=batch_size, sampler=sampler)
    sampler = getattr(getattr(source, "batch_sampler", None), "sampler", None) or getattr(source, "sampler", None)
    if isinstance(sampler, data.DistributedSampler) and sampler.total_size != len(sampler.dataset):
        raise ValueError(f"evaluate: the loader's DistributedSampler has {sampler.total_size} rows for a dataset of "
                         f"{len(sampler.dataset)}: rows would count twice, or not at all; make it with uneven=True")
    return cast(Iterable[Any], source)


@contextlib.contextmanager
def evaluating(model: Module) -> Iterator[None]:
    """Set the model to evaluation mode for the block; afterwards each module returns to its earlier mode."""
    modes = [(module, module.training) for module in model.modules()]
    model.eval()
    try:
        yield
    finally:
        for module, training in modes:
            module.training = training
