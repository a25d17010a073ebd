"""Reports of parameters that got no gradient, in the same backward pass, and of optimizer steps on gradients that are not
summed yet."""

from __future__ import annotations

import warnings
import weakref
from collections.abc import Collection, Sequence
from typing import Any

import numpy as np

from autograd.optim import Optimizer
from autograd.optim.optimizer import register_optimizer_step_pre_hook

from ..autograd import Tensor
from ..consistency.verification import abbreviated


class UnusedParameters:
    """Which parameters some ranks have not used. find: True accepts them; False warns once, naming them; "error" raises on
    every rank. static_graph: all ranks raise unless every pass uses the same parameters."""

    def __init__(self, find: bool | str = False, static_graph: bool = False) -> None:
        self.find: bool | str = find
        self.static_graph: bool = static_graph
        self.everywhere: list[str] = []              # unused on all ranks in the last summed pass
        self.somewhere: dict[str, int] = {}          # used on some ranks only, and their number
        self._first_counts: dict[str, int] | None = None
        self._reported: set[str] = set()
        self._step_hook: Any = None                      # the handle of a hook for all optimizers
        self._waiting_names: dict[int, str] = {}           # of parameters whose gradients wait, by id

    def update(self, named: Sequence[tuple[str, Tensor]], counts: dict[str, int], ranks: int, *,
             counted_elsewhere: Collection[Tensor], some_ended: bool) -> None:
        """Warn or raise after a pass; the same on all ranks. counts: how many of `ranks` used each parameter.

        counted_elsewhere: parameters of another reducer. some_ended: ranks that have run out of batches use no parameter.
        Not called if all are used, and were in the pass before.
        """
        if self.static_graph:
            self._check_static_graph(counts)
        self.everywhere = [name for name, p in named if counts[name] == 0 and p not in counted_elsewhere]
        self.somewhere = {} if some_ended else {n: counts[n] for n, _ in named if 0 < counts[n] < ranks}
        if self.find is True or not (self.everywhere or self.somewhere):
            return
        text = self._text(named, ranks)
        if self.find == "error" and text:
            raise RuntimeError(f"{text}; find_unused_parameters=True allows this")
        news = {*self.everywhere, *self.somewhere} - self._reported
        if news and text:
            self._reported |= news
            warnings.warn(f"{text}. find_unused_parameters=True allows this silently, 'error' makes it an error",
                          UserWarning, stacklevel=2)

    def _text(self, named: Sequence[tuple[str, Tensor]], ranks: int) -> str:
        """The warning; "" if there is nothing to warn of."""
        frozen = {name for name, p in named if not p.requires_grad}
        parts = []
        if self.everywhere:
            names = [f"{n} (requires_grad is off)" if n in frozen else n for n in self.everywhere]
            parts.append(f"{len(names)} of {len(named)} parameters got no gradient on any rank and keep their "
                         f".grad: {abbreviated(names)}")
        if self.somewhere:
            parts.append("used on some ranks only, with zeros from the others: "
                         + abbreviated([f"{n} (on {c} of {ranks})" for n, c in self.somewhere.items()]))
        return "DataParallel, in this backward pass: " + "; ".join(parts) if parts else ""

    def _check_static_graph(self, counts: dict[str, int]) -> None:
        """RuntimeError if the counts differ from those of the first pass."""
        if self._first_counts is None:
            self._first_counts = counts
        elif counts != self._first_counts:
            changed = [name for name, count in counts.items() if count != self._first_counts[name]]
            raise RuntimeError("Your training graph has changed in this iteration, which static_graph=True does not allow: "
                               f"parameters used on other ranks than in the first: {abbreviated(changed)}")

    # --- steps on gradients that were not summed ----------------------------------------------------------------------

    def watch_steps(self, named: Sequence[tuple[str, Tensor]]) -> None:
        """While gradients wait for their sum, warn if an optimizer steps on them."""
        self._waiting_names = {id(p): name for name, p in named}
        if self._step_hook is None:
            unused = weakref.ref(self)               # the hook may outlive the model
            self._step_hook = register_optimizer_step_pre_hook(
                lambda optimizer, *_: warn_of_step(optimizer, unused()))

    def forget_steps(self) -> None:
        """The waiting gradients are summed or cleared: stop watching."""
        if self._step_hook is not None:
            self._step_hook.remove()
            self._step_hook = None


def warn_of_step(optimizer: Optimizer, unused: UnusedParameters | None) -> None:
    """Warn if the optimizer steps on gradients of this rank alone, naming the parameters."""
    names = {} if unused is None else unused._waiting_names
    found = [names[id(p)] for group in optimizer.param_groups for p in group["params"]
             if id(p) in names and p.grad is not None and np.any(p.grad.array)]
    if found:
        warnings.warn(f"{type(optimizer).__name__}.step() on gradients that were not summed over ranks, because "
                      f"backward() ran inside no_sync(): {abbreviated(found)}. Ranks now diverge; run the last backward() "
                      "before a step outside no_sync()", UserWarning, stacklevel=4)
