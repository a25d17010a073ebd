"""Local SGD: models are averaged every few steps, instead of gradients in every step (Stich 2019, arXiv:1805.09767)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from autograd.base.arguments import listed
from autograd.core.graph import shared_counter
from autograd.optim import Optimizer

from ..autograd import Tensor
from ..comm import Communicator, communicator
from ..pytree.flat_arrays import map_flattened


class PeriodicModelAverager:
    """Averages parameters over ranks in every `period`-th step after `warmup_steps`."""

    def __init__(self, period: int, warmup_steps: int = 0, process_group: Communicator | None = None) -> None:
        if warmup_steps < 0:
            raise ValueError("Arg ``warmup_steps`` must be a non-negative number.")
        if period < 1:
            raise ValueError("Arg ``period`` must be a positive value.")
        self.period: int = period
        self.warmup_steps: int = warmup_steps
        self.process_group: Communicator | None = process_group
        self.step: int = 0

    def average_parameters(self, params: Iterable[Tensor | dict[str, Any]]) -> None:
        """Count a step, and average in every `period`-th."""
        if self.step >= self.warmup_steps and (self.step - self.warmup_steps) % self.period == 0:
            average_parameters(params, self.process_group)
        self.step += 1


def average_parameters(params: Iterable[Tensor | dict[str, Any]], process_group: Communicator | None = None) -> None:
    """Overwrite the parameters, the same on each rank, with their means over ranks: one message for each dtype."""
    comm = communicator(process_group)
    tensors: list[Tensor] = [p for item in listed("average_parameters: `params`", params)
                             for p in (item["params"] if isinstance(item, dict) else [item])]
    if comm.size > 1:
        means = map_flattened([p.array / comm.size for p in tensors], lambda x: comm.allreduce([x])[0])
        for p, mean in zip(tensors, means, strict=True):
            np.copyto(p.array, mean)
            shared_counter(p).value += 1


class PostLocalSGDOptimizer(Optimizer):
    """An optimizer that calls averager.average_parameters() after each step.

    Use it with post_localSGD_hook: the averager's warmup_steps should equal the hook's start_localSGD_iter. state_dict()
    includes the averager's step.
    """

    def __init__(self, optim: Optimizer, averager: PeriodicModelAverager) -> None:
        if not hasattr(optim, "param_groups"):
            raise TypeError(f"PostLocalSGDOptimizer(optim={optim!r}): pass an Optimizer of autograd.optim")
        self.optim: Optimizer = optim
        self.averager: PeriodicModelAverager = averager
        self.param_groups: list[dict[str, Any]] = optim.param_groups
        self.defaults: dict[str, Any] = optim.defaults

    @property
    def state(self) -> Any:                          # type: ignore[override]
        """The state of the wrapped optimizer, by parameter."""
        return self.optim.state

    def __repr__(self) -> str:
        return repr(self.optim)

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Run the wrapped optimizer's step, then the averager's. Returns the closure's loss, or None."""
        loss = self.optim.step(closure)
        self.averager.average_parameters(self.optim.param_groups)
        return loss

    def state_dict(self) -> dict[str, Any]:
        """The wrapped optimizer's state and the averager's "step"."""
        return {**self.optim.state_dict(), "step": self.averager.step}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Restore both; the averager starts at step 0 if the dict has no "step"."""
        self.optim.load_state_dict({key: value for key, value in state_dict.items() if key != "step"})
        self.averager.step = state_dict.get("step", 0)
        self.param_groups = self.optim.param_groups

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Clear the gradients of the wrapped optimizer's parameters."""
        self.optim.zero_grad(set_to_none)

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        """Add a parameter group to the wrapped optimizer."""
        self.optim.add_param_group(param_group)
