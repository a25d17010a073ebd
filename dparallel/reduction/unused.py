"""Parameters that got no gradient, named in the same backward pass; and optimisers that step on gradients not summed yet."""

from __future__ import annotations

import warnings
import weakref
from collections.abc import Collection, Sequence
from typing import Any

import numpy as np

from autograd import Tensor
from autograd.optim import Optimizer
from autograd.optim.optimizer import register_optimizer_step_pre_hook

SHOWN = 8                            # names in one message


class Unused:
    """What became of unused parameters. find: True takes them as meant; False warns once, naming them; "error" raises on
    every rank. static_graph: the same ones are used in every pass, or all ranks raise."""

    def __init__(self, find: Any = False, static_graph: bool = False) -> None:
        self.find, self.static_graph = find, static_graph
        self.everywhere: list[str] = []              # unused on all ranks in the last summed pass
        self.somewhere: dict[str, int] = {}          # used on some ranks only: on how many
        self._first: dict[str, int] | None = None
        self._reported: set[str] = set()
        self._steps: Any = None                      # the handle of the hook of all optimisers
        self._watched: dict[int, str] = {}           # names of the parameters whose gradients wait, by id

    @property
    def watches(self) -> bool:
        """Whether look() has something to compare or to take back, though all parameters were used."""
        return self.static_graph or bool(self.everywhere or self.somewhere)

    def look(self, named: Sequence[tuple[str, Tensor]], counts: dict[str, int], ranks: int, *,
             counted_elsewhere: Collection[Tensor], some_ended: bool) -> None:
        """After the sum of all flags, which is the same on all ranks, and so is what follows. counts: on how many of `ranks`
        each parameter was used. counted_elsewhere: by another reducer. some_ended: ranks that have run out of batches use
        nothing. Not called as long as nothing is unused, or was in the pass before."""
        if self.static_graph:
            self._compare(counts)
        self.everywhere = [name for name, p in named if counts[name] == 0 and p not in counted_elsewhere]
        self.somewhere = {} if some_ended else {n: counts[n] for n, _ in named if 0 < counts[n] < ranks}
        if self.find is True or not (self.everywhere or self.somewhere):
            return
        text = self._text(named, ranks)
        if self.find == "error" and text:
            raise RuntimeError(f"{text}; find_unused_parameters=True says that this is meant")
        news = {*self.everywhere, *self.somewhere} - self._reported
        if news and text:
            self._reported |= news
            warnings.warn(f"{text}. find_unused_parameters=True says that this is meant, 'error' makes it an error",
                          UserWarning, stacklevel=2)

    def _text(self, named: Sequence[tuple[str, Tensor]], ranks: int) -> str:
        frozen = {name for name, p in named if not p.requires_grad}
        parts = []
        if self.everywhere:
            names = [f"{n} (requires_grad is off)" if n in frozen else n for n in self.everywhere]
            parts.append(f"{len(names)} of {len(named)} parameters got no gradient on any rank, and keep the .grad "
                         f"they had: {listed(names)}")
        if self.somewhere:
            parts.append("used on some ranks only, and counted as zero on the others: "
                         + listed([f"{n} (on {c} of {ranks})" for n, c in self.somewhere.items()]))
        return "DataParallel, in this backward pass: " + "; ".join(parts) if parts else ""

    def _compare(self, counts: dict[str, int]) -> None:
        if self._first is None:
            self._first = counts
        elif counts != self._first:
            changed = [name for name, count in counts.items() if count != self._first[name]]
            raise RuntimeError("Your training graph has changed in this iteration, which static_graph=True does not expect: "
                               f"parameters that are used on other ranks than in the first: {listed(changed)}")

    # --- steps on gradients that were not summed ----------------------------------------------------------------------

    def watch_steps(self, named: Sequence[tuple[str, Tensor]]) -> None:
        """Gradients wait for their sum: warn if an optimiser steps on them. No optimiser is hooked at other times."""
        self._watched = {id(p): name for name, p in named}
        if self._steps is None:
            unused = weakref.ref(self)               # the hook outlives the model
            self._steps = register_optimizer_step_pre_hook(lambda optimizer, *_: warn_of_step(optimizer, unused()))

    def forget_steps(self) -> None:
        """They are summed, or gone."""
        if self._steps is not None:
            self._steps.remove()
            self._steps = None


def warn_of_step(optimizer: Optimizer, unused: Unused | None) -> None:
    """Name the parameters whose gradients are this rank's alone."""
    names = {} if unused is None else unused._watched
    found = [names[id(p)] for group in optimizer.param_groups for p in group["params"]
             if id(p) in names and p._grad is not None and np.any(p._grad.array)]
    if found:
        warnings.warn(f"{type(optimizer).__name__}.step() on gradients that were not summed over ranks, as backward() ran "
                      f"inside no_sync(): {listed(found)}. Ranks now drift apart; run the last backward() before a step "
                      "outside no_sync()", UserWarning, stacklevel=4)


def listed(names: list[str]) -> str:
    """The first names, and how many more there are."""
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return ", ".join(names[:SHOWN]) + more
