"""ZeroRedundancyOptimizer: an optimizer whose state is in slices over ranks, beside a plain DataParallel."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from autograd.core.tensor import result
from autograd.optim import LBFGS, Optimizer
from autograd.optim.optimizer import evaluate

from ..comm import Communicator, communicator
from .optimizer_state import check_elementwise, cut_state, full_state, local_state
from .parameters import ParameterSlice
from .unit import Unit, grouped, refresh

UNIT_BYTES = 25 * 2**20


class ZeroRedundancyOptimizer(Optimizer):
    """optimizer_class over `params`, with its state sharded over ranks (ZeRO stage 1, under PyTorch's name).

    Parameters, which move to flat buffers, gradients and results are whole on every rank; a step updates this rank's
    elements and gathers the others'. consolidate_state_dict(to=0), on all ranks, makes state_dict() whole on one rank.
    """

    def __init__(self, params: Any, optimizer_class: type[Optimizer], process_group: Communicator | None = None,
                 parameters_as_bucket_view: bool = False, overlap_with_ddp: bool = False, **defaults: Any) -> None:
        if overlap_with_ddp:
            raise NotImplementedError("overlap_with_ddp=True: use DataParallel(shard=...), where sums overlap with backward")
        if not (isinstance(optimizer_class, type) and issubclass(optimizer_class, Optimizer)):
            raise TypeError(f"optimizer_class must be a class of optimizers, not {optimizer_class!r}")
        comm = communicator(process_group)
        if len(comm.held) > 1:
            raise TypeError(f"process_group must be a Communicator over ranks, not {comm!r}")
        self.comm: Communicator = comm.duplicate()
        self.units: list[Unit] = []
        self.slices: dict[int, ParameterSlice] = {}
        self.optim: Any = None                       # PyTorch's name for the optimizer over slices
        self._full: dict[str, Any] | None = None
        super().__init__(params, defaults)
        self.optim = optimizer_class([self._sliced(group) for group in self.param_groups], **defaults)
        self.defaults: dict[str, Any] = self.optim.defaults
        self._take_options()

    def stepped_by(self, optimizer: Any) -> None:
        """The optimizer over slices was created. NotImplementedError if it requires whole parameters."""
        check_elementwise(optimizer, LBFGS)

    def _sliced(self, group: dict[str, Any]) -> dict[str, Any]:
        """The group with slices instead of parameters."""
        names = group.get("param_names") or [f"parameter {len(self.slices) + i}" for i in range(len(group["params"]))]
        for p in group["params"]:
            if isinstance(p, ParameterSlice):
                raise ValueError("ZeroRedundancyOptimizer requires whole parameters; those of a sharded DataParallel "
                                 "already are slices: pass them to an ordinary optimizer")
        for named in grouped(list(zip(names, group["params"], strict=True)), UNIT_BYTES):
            unit = Unit(len(self.units), named, self.comm, self)
            unit.take_memory()
            self.units.append(unit)
            self.slices.update({id(p): s for p, s in zip(unit.params, unit.slices, strict=True)})
        return {**group, "params": [self.slices[id(p)] for p in group["params"]]}

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        """Add a parameter group."""
        super().add_param_group(param_group)
        if self.optim is not None:
            self.optim.add_param_group(self._sliced(self.param_groups[-1]))
            self._take_options()

    def _take_options(self) -> None:
        for mine, theirs in zip(self.param_groups, self.optim.param_groups, strict=True):
            mine.update({name: value for name, value in theirs.items() if name not in ("params", "param_names")})

    def _give_options(self) -> None:
        for mine, theirs in zip(self.param_groups, self.optim.param_groups, strict=True):
            theirs.update({name: value for name, value in mine.items() if name not in ("params", "param_names")})

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Update this rank's elements, and gather all. Collective. Returns the closure's loss, or None."""
        loss = evaluate(closure)
        self._give_options()
        for unit in self.units:
            replaced = unit.replaced()
            if replaced is not None:
                raise RuntimeError(f"the memory of {replaced!r} was replaced (by .data = or a cast) after "
                                   "ZeroRedundancyOptimizer had taken it; change it in place, or before")
            for p, s in zip(unit.params, unit.slices, strict=True):
                g = p.grad
                s.gradient = None if g is None else result(
                    g.array.reshape(-1)[s.shard.start:s.shard.stop].reshape(s.array.shape))
        try:
            self.optim.step()
        finally:
            for s in self.slices.values():
                s.gradient = None
        refresh(self.units)
        self._full = None
        return loss

    # --- state ----------------------------------------------------------------------------------------------------------

    def local_state(self) -> dict[str, Any]:
        """The state as stored on this rank, in slices, with the current options. Not collective."""
        self._give_options()
        return local_state(self.optim)

    def consolidate_state_dict(self, to: int = 0) -> None:
        """Gather the whole state on rank `to`, for state_dict() there. All ranks call it together."""
        packed = full_state(self.optim, self.local_state(), to)
        self._full = packed if self.comm.rank == to else None

    def state_dict(self) -> dict[str, Any]:
        """The whole state. RuntimeError unless consolidate_state_dict() has gathered it here since the last step."""
        if self._full is None:
            raise RuntimeError("Optimizer state has not been consolidated on this rank. Please call "
                               "`consolidate_state_dict(to=...)` on all ranks beforehand if you meant to save the global "
                               "state.")
        return self._full

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Load this rank's share of a whole state, saved on any number of ranks, or by optimizer_class itself."""
        self.optim.load_state_dict(cut_state(self.optim, state_dict))
        self._take_options()
        self._full = None
