"""Detection of changes to a wrapped model, and broadcasts of rank 0's values."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterable
from operator import is_not
from typing import Any

import numpy as np

from autograd.core.overwrites import keep_saved, overwrite
from autograd.nn import Module, SyncBatchNorm

from ..autograd import Tensor, as_tensor
from ..comm import Communicator
from ..pytree.flat_arrays import map_flattened


def broadcast_state(module: Module, comm: Communicator, root: int = 0, ignored: Collection[str] = (),
                    buffers: bool = True) -> None:
    """Overwrite parameters (and buffers) with root's."""
    named = [*module.named_parameters(), *(module.named_buffers() if buffers else ())]
    broadcast_tensors([t for name, t in named if name not in ignored], comm, root)


def broadcast_tensors(values: list[Tensor], comm: Communicator, root: int = 0) -> None:
    """Overwrite tensors, the same list on every rank, with root's values: one message per dtype. Values that nodes have
    saved of buffers do not change.
    """
    roots = map_flattened([t.array for t in values], lambda x: comm.broadcast(x, root)[0])
    if comm.rank != root:
        overwrite(values, roots)


class BufferSync:
    """Keeps the buffers that follow rank 0's equal on all ranks.

    watch: of the model. comm: the ranks. enabled: False if each rank has its own buffers. mean: average buffers of floats
    before an evaluation. changed: a forward pass in training mode may have changed them since they were equal; the same on
    all ranks.
    """

    def __init__(self, watch: ModelWatch, comm: Communicator, enabled: bool, mean: bool = False,
                 changed: bool = False) -> None:
        self.watch: ModelWatch = watch
        self.comm: Communicator = comm
        self.enabled: bool = enabled and not comm.alone
        self.mean: bool = mean
        self.changed: bool = changed

    def buffers(self) -> list[Tensor]:
        """The buffers, as of the watch's last look(); values that nodes save from now on do not change."""
        buffers = self.watch.buffers() if self.enabled else []
        if buffers:
            keep_saved(buffers)
        return buffers

    def broadcast(self, root: int = 0) -> None:
        """Give all ranks root's buffers. Collective."""
        buffers = self.buffers()
        if buffers:
            broadcast_tensors(buffers, self.comm, root)

    def before_pass(self) -> None:
        """Called before a pass at whose end buffers are broadcast: passes without a graph since then may have changed them.
        Collective in that case.
        """
        if self.changed:
            self.after_pass()
        else:
            self.buffers()

    def after_pass(self) -> None:
        """Give all ranks rank 0's buffers, including those that the pass has registered. Collective."""
        self.watch.look()
        self.broadcast()
        self.changed = False

    def before_evaluation(self) -> None:
        """If training has changed the buffers, give all ranks rank 0's, or their mean. Collective in that case."""
        if not self.changed:
            return
        self.watch.look()                            # modules may have been added
        buffers = self.buffers()
        if buffers:
            self.comm.named_barrier("forward_in_evaluation_mode")
            averaged = [b for b in buffers if self.mean and b.array.dtype.kind in "fcV"]
            if averaged:
                overwrite(averaged, map_flattened([b.array for b in averaged],
                                                  lambda x: self.comm.allreduce([x], "mean")[0]))
            broadcast_tensors([b for b in buffers if not any(b is other for other in averaged)], self.comm)
        self.changed = False


class ModelWatch:
    """Detects that a model differs from the one that was wrapped. look() is cheap enough for every step: it compares the
    contents of the modules' own dicts, and walks the tree only if one of them has changed.
    """

    def __init__(self, module: Module, ignored: Collection[str]) -> None:
        self.module: Module = module
        self.ignored: Collection[str] = ignored
        self.wrapped: dict[str, Any] = {name: p for name, p in module.named_parameters() if name not in ignored}
        self._frozen = [(name, p) for name, p in self.wrapped.items() if not p.requires_grad]
        self._dtypes = [p.array.dtype for p in self.wrapped.values()]
        self.fast: dict[Tensor, Tensor] = {}         # parameter -> what is computed from parameters, and in its place
        self._remember()

    def _remember(self) -> None:
        modules = list(self.module.modules())
        self._dicts = [d for m in modules for d in (m._parameters, m._buffers, m._modules)]
        held = [(d, key, value) for d in self._dicts for key, value in d.items() if value is not None
                and getattr(value, "requires_grad", True)]
        self._keys, self._values = [(d, key) for d, key, _ in held], [value for *_, value in held]
        self._sizes = list(map(len, self._dicts))
        self._buffers = [(m._buffers, key) for prefix, m in self.module.named_modules() for key in m._buffers
                         if f"{prefix}.{key}".lstrip(".") not in self.ignored]
        self.has_buffers = bool(self._buffers)       # and what else evaluation may change
        self.synchronised = [m for m in modules if isinstance(m, SyncBatchNorm)]

    def evaluates(self) -> bool:
        """Whether a SyncBatchNorm is in evaluation mode, and skips its collectives."""
        return not all(m.training for m in self.synchronised)

    def buffers(self) -> list[Tensor]:
        """The module's buffers, as of the last look(), without walking the tree."""
        found = [d.get(key) for d, key in self._buffers]
        return [b for b in found if b is not None]

    def look(self) -> str:
        """What has changed since; "" if nothing has."""
        self.fast = {}
        if (any(map(is_not, [d.get(key) for d, key in self._keys], self._values))
                or list(map(len, self._dicts)) != self._sizes):
            problem = self._compare()
            if problem:
                return problem
            if not self.fast:                        # which functional_call() removes again
                self._remember()
        for name, p in self._frozen:
            if p.requires_grad:
                return (f"{name} requires grad now but did not when the model was wrapped, so its gradient would not be "
                        "synchronized; wrap the model again")
        dtypes = [p.array.dtype for p in self.wrapped.values()]
        if dtypes != self._dtypes:
            name, now, before = next(found for found in zip(self.wrapped, dtypes, self._dtypes, strict=True)
                                     if found[1] != found[2])
            now, before = (as_tensor(np.empty(0, dtype)).dtype for dtype in (now, before))       # as PyTorch names them
            return (f"parameter {name} is {now} now but was {before} when the model was wrapped, and gradients are summed "
                    "in that dtype; convert the model first (`model.to(dtype)`), then wrap it")
        return ""

    def _compare(self) -> str:
        now = {name: p for name, p in self.module.named_parameters() if name not in self.ignored}
        leaves = {p.accumulator() for p in self.wrapped.values() if p.accumulator is not None}
        for name, p in now.items():
            if name not in self.wrapped:
                return f"parameter {name} was added after the model was wrapped; wrap it again"
            given = p is not self.wrapped[name] and (p.requires_grad or self.wrapped[name].requires_grad)
            if given and leaves.isdisjoint(graph([p], leaves)):
                return (f"parameter {name} was replaced after the model was wrapped, so its gradient would not be "
                        "synchronized; write values in place (`with no_grad(): p.copy_(...)`), or wrap the model again")
        self.fast = {p: now[name] for name, p in self.wrapped.items() if name in now and now[name] is not p}
        gone = [name for name in self.wrapped if name not in now]
        return f"parameter {gone[0]} was removed after the model was wrapped; wrap it again" if gone else ""


def graph(tensors: Iterable[Tensor], ends: Collection[Any] = ()) -> set[Any]:
    """The nodes that tensors come from, until one of `ends` is found: fast weights are a parameter less its gradient, so
    nearest first."""
    waiting = deque(t.grad_fn for t in tensors if t.grad_fn is not None)
    seen: set[Any] = {*waiting}
    while waiting and seen.isdisjoint(ends):
        new = {edge[0] for edge in waiting.popleft().edges if edge is not None} - seen
        seen |= new
        waiting.extend(new)
    return seen
