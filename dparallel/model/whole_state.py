"""WholeState: names, state and whole values of the module inside a DataParallel, whatever its sharding."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, Protocol

from autograd.core.primitive import primitive

from ..autograd import is_grad_enabled
from ..comm import CollectiveError, Devices
from ..consistency.verification import first_difference
from .config import Config
from .gradient_sum import GradientSum


class WholeState:
    """Delegates to the module and, if it is sharded, to the reducer that has its slices."""

    def __init__(self, config: Config[Any], summed: GradientSum) -> None:
        self.config: Config[Any] = config
        self.module: Any = config.module
        self.summed: GradientSum = summed

    @contextmanager
    def summon(self, writeback: bool = True) -> Iterator[None]:
        """The body of DataParallel.summon_full_params()."""
        sharded = self.summed.sharded
        if sharded is None:
            yield
        else:
            with sharded.summon(writeback):
                yield

    def named_parameters(self, prefix: str, recurse: bool, remove_duplicate: bool) -> Iterator[tuple[str, Any]]:
        """The module's parameters; if sharded, this rank's slices of them."""
        sharded = self.summed.sharded
        owner = self.module.named_parameters if sharded is None else sharded.named_slices
        return owner(prefix, recurse, remove_duplicate)

    def tensor_paths(self, names: Iterable[str]) -> dict[str, str]:
        """The body of DataParallel._tensor_paths()."""
        if self.summed.sharded is not None:
            raise NotImplementedError(f"functional_call() of a DataParallel with shard={self.config.stage}: its parameters "
                                      "are slices; call model.module, inside model.summon_full_params()")
        if is_grad_enabled():
            self.summed.complete()                   # of the parameters, not of what is put into their places
        inner = self.module
        own = {name for name, _ in [*inner.named_parameters(remove_duplicate=False),
                                    *inner.named_buffers(remove_duplicate=False)]}
        bare = {name: name if name in own else name.removeprefix("module.") for name in names}
        paths = inner._tensor_paths(bare.values()) if hasattr(inner, "_tensor_paths") else {n: n for n in bare.values()}
        return {name: f"module.{paths[key]}" for name, key in bare.items()}

    def local(self) -> Any:
        """The body of DataParallel.local_state()."""
        state = self.module.state_dict(keep_vars=True)
        sharded = self.summed.sharded
        slices = {} if sharded is None else sharded.slices
        for name, value in state.items():
            state[name] = slices.get(id(value), value)
        return state

    def slices_changed(self) -> None:
        """The body of DataParallel.slices_changed()."""
        sharded = self.summed.sharded
        if sharded is not None:
            sharded.refresh(sharded.units)

    def load(self, state_dict: Any, strict: bool, assign: bool) -> Any:
        """The body of DataParallel.load_state_dict()."""
        bare = {key.removeprefix("module."): value for key, value in state_dict.items()}
        if assign and self.summed.sharded is not None:
            raise NotImplementedError("load_state_dict(assign=True): a sharded module keeps its memory; use assign=False")
        with self.summon():
            own = self.module.state_dict(keep_vars=True)
            return self.module.load_state_dict(state_dict if set(state_dict) & set(own) else bare, strict, assign)


class Counts(Protocol):
    """The interface of a DataParallel for verify_weights()."""

    forwards: int


@primitive
def verify_weights(model: Counts, config: Config[Any]) -> None:
    """In every verify_every-th forward pass, compare the weights of all ranks. In stage 3 ranks have different slices."""
    model.forwards += 1
    assert config.verify_every
    if model.forwards % config.verify_every or config.stage == 3 or isinstance(config.ranks, Devices):
        return
    weights = [(name, p) for name, p in config.module.named_parameters() if name not in config.ignored]
    difference = first_difference(weights, config.ranks)
    if difference:
        raise CollectiveError(f"the weights are not the same on all ranks before forward {model.forwards}: {difference}")
