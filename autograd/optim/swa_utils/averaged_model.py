"""AveragedModel and update_bn: a model with averaged parameters, and its batch norm statistics."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from copy import deepcopy
from typing import Any

from ...base.dtypes import int64
from ...base.training import reported
from ...base.types import DeviceLike
from ...core.modes import no_grad
from ...core.primitive import primitive
from ...nn import Module
from ...ops.creation.create import tensor
from .averages import get_swa_avg_fn


class AveragedModel(Module):
    """A copy of a model whose parameters are averages over time. Izmailov et al. 2018 (arXiv:1803.05407).

    update_parameters(model) updates the equal mean, or the average of avg_fn or multi_avg_fn."""

    n_averaged: Any

    def __init__(self, model: Module, device: DeviceLike = None, avg_fn: Callable[..., Any] | None = None,
                 multi_avg_fn: Any = None, use_buffers: bool = False) -> None:
        super().__init__()
        if avg_fn is not None and multi_avg_fn is not None:
            raise AssertionError("Only one of avg_fn and multi_avg_fn should be provided")
        self.module: Module = deepcopy(model)
        if device is not None:
            self.module = self.module.to(device)
        self.register_buffer("n_averaged", tensor(0, dtype=int64))
        self.avg_fn: Callable[..., Any] | None = avg_fn
        self.multi_avg_fn: Callable[..., Any] | None = multi_avg_fn
        self.use_buffers: bool = use_buffers

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        return self.module(*args, **kwargs)

    @primitive
    @reported("average")
    @no_grad()
    def update_parameters(self, model: Module) -> None:
        """Update the averages with the present parameters of the model."""
        def tensors(of: Module) -> list[Any]:
            return [*of.parameters(), *(of.buffers() if self.use_buffers else ())]

        averaged, current = tensors(self.module), [value.detach() for value in tensors(model)]
        if self.n_averaged.item() == 0:
            for target, source in zip(averaged, current, strict=True):
                target.copy_(source)
        elif self.multi_avg_fn is not None:
            self._by_dtype(averaged, current)
        else:
            average = self.avg_fn or get_swa_avg_fn()
            for target, source in zip(averaged, current, strict=True):
                target.copy_(average(target.detach(), source, self.n_averaged))
        if not self.use_buffers:
            for target, source in zip(self.module.buffers(), model.buffers(), strict=True):
                target.copy_(source.detach())
        self.n_averaged += 1

    def _by_dtype(self, averaged: list[Any], current: list[Any]) -> None:
        """Call multi_avg_fn once for each dtype."""
        average = self.multi_avg_fn
        assert average is not None
        for dtype in dict.fromkeys(value.dtype for value in averaged):
            pairs = [(a.detach(), c) for a, c in zip(averaged, current, strict=True) if a.dtype == dtype]
            average([a for a, _ in pairs], [c for _, c in pairs], self.n_averaged)


@no_grad()
def update_bn(loader: Iterable[Any], model: Module, device: DeviceLike = None) -> None:
    """Recompute the running statistics of batch norm layers, as equal means over the loader's batches.

    An averaged model requires this, since its statistics belong to other weights. Of a list or tuple only the first
    element is used."""
    momenta = {}
    for module in model.modules():
        if any("BatchNorm" in base.__name__ for base in type(module).__mro__):
            module.reset_running_stats()
            momenta[module] = module.momentum
            module.momentum = None
    if not momenta:
        return
    was_training = model.training
    model.train()
    for batch in loader:
        given = batch[0] if isinstance(batch, (list, tuple)) else batch
        model(given if device is None else given.to(device))
    for module, momentum in momenta.items():
        module.momentum = momentum
    model.train(was_training)
