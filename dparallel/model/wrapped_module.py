"""What a DataParallel is as a Module: names, state and whole values of the module in it, copies, checks of its weights."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import fields
from typing import Any

from autograd.core.primitive import primitive
from autograd.nn import Module

from ..autograd import is_grad_enabled
from ..comm import CollectiveError, Communicator, Devices, communicator
from ..consistency.verification import first_difference
from ..reduction.unused import UnusedParameters
from ..sharding import ShardedReducer
from .config import Config
from .model_state import BufferSync

# what a DataParallel sets from its arguments, or creates when it is used
CREATED = {"module", "comm", "devices", "batch", "average", "dim", "bucket_cap_mb", "forward_sync_buffers", "ignored",
           "output_rank", "shard", "shard_units", "verify_every", "_config", "_unused", "_watch", "_buffer_sync",
           "_virtual", "_compute", "_incomplete", "_join_block", "_reducer", "_summed_forward", "_recorded_alone"}


class WrappedModule(Module):
    """The part of DataParallel that delegates to the module inside: names, state, whole parameters, copies. Without sharding
    it delegates everything.
    """

    module: Module
    comm: Communicator
    shard: int
    verify_every: int
    ignored: frozenset[str]
    _reducer: Any
    _config: Config[Any]
    _unused: UnusedParameters
    _buffer_sync: BufferSync
    _complete: Any
    forwards: int = 0                               # with gradients: counted where verify_every is set

    @property
    def _sharded(self) -> ShardedReducer | None:
        """The reducer of a model that is sharded over several ranks."""
        return self._reducer if isinstance(self._reducer, ShardedReducer) else None

    @contextmanager
    def summon_full_params(self, writeback: bool = True) -> Iterator[None]:
        """A block in which the parameters of `module` are whole, whatever the sharding; all ranks enter it together.

        With shard="optimizer" and shard="gradients" parameters are always whole, and changes persist.

        Args:
            writeback (bool): With shard="parameters", keep changes made in place in the block; all ranks make the same.
                Default: True.
        """
        if self._sharded is None:
            yield
        else:
            with self._sharded.summon(writeback):
                yield

    def named_parameters(self, prefix: str = "", recurse: bool = True,
                         remove_duplicate: bool = True) -> Iterator[tuple[str, Any]]:
        """The module's parameters, names without a prefix; if sharded, this rank's slices of them. Yields (name, Parameter)
        pairs.

        Args:
            prefix (str): Put before each name. Default: "".
            recurse (bool): Include those of submodules. Default: True.
            remove_duplicate (bool): Yield a parameter with several names once. Default: True.
        """
        if self._sharded is not None:
            return self._sharded.named_slices(prefix, recurse, remove_duplicate)
        return self.module.named_parameters(prefix, recurse, remove_duplicate)

    def named_buffers(self, prefix: str = "", recurse: bool = True,
                      remove_duplicate: bool = True) -> Iterator[tuple[str, Any]]:
        """The module's buffers, named like the parameters; see named_parameters(). Yields (name, Tensor) pairs.

        (named_modules() has this module, then "module" and what is below: paths, for get_submodule().)
        """
        return self.module.named_buffers(prefix, recurse, remove_duplicate)

    def _tensor_paths(self, names: Iterable[str]) -> dict[str, str]:
        """The paths from this module to the tensors of these names, with or without "module.", as a dict; for
        functional_call(). NotImplementedError if the model is sharded, so its parameters are slices.
        """
        if self._sharded is not None:
            raise NotImplementedError(f"functional_call() of a DataParallel with shard={self.shard}: its parameters are "
                                      "slices; call model.module, inside model.summon_full_params()")
        if is_grad_enabled():
            self._complete()                         # of the parameters, not of what is put into their places
        inner: Any = self.module
        own = {name for name, _ in [*inner.named_parameters(remove_duplicate=False),
                                    *inner.named_buffers(remove_duplicate=False)]}
        bare = {name: name if name in own else name.removeprefix("module.") for name in names}
        paths = inner._tensor_paths(bare.values()) if isinstance(inner, WrappedModule) else {n: n for n in bare.values()}
        return {name: f"module.{paths[key]}" for name, key in bare.items()}

    def state_dict(self, *args: Any, destination: Any = None, prefix: str = "", keep_vars: bool = False) -> dict[str, Any]:
        """The module's whole state, names without a prefix. With shard="parameters" all ranks call it together.

        Args:
            destination (dict): Gets the entries. Default: a new dict.
            prefix (str): Put before each name. Default: "".
            keep_vars (bool): Return the parameters themselves, not detached tensors. Default: False.
        """
        with self.summon_full_params(writeback=False):
            return self.module.state_dict(*args, destination=destination, prefix=prefix, keep_vars=keep_vars)

    def local_state(self) -> Any:
        """The module's state as stored on this rank, without communication; sharded parameters as ParameterSlices."""
        state = self.module.state_dict(keep_vars=True)
        slices = {} if self._sharded is None else self._sharded.slices
        for name, value in state.items():
            state[name] = slices.get(id(value), value)
        return state

    def slices_changed(self) -> None:
        """Gather again the parameters that stay whole, after a write to slices. Collective."""
        if self._sharded is not None:
            self._sharded.refresh(self._sharded.units)

    def load_state_dict(self, state_dict: Any, strict: bool = True, assign: bool = False) -> Any:
        """Load names with or without PyTorch's prefix "module.". Returns the missing and the unexpected names.

        Args:
            state_dict (dict): Values by name.
            strict (bool): Raise for missing and unexpected names. Default: True.
            assign (bool): Use the passed tensors as parameters, instead of copying into the existing ones. Default: False.

        Raises:
            NotImplementedError: assign=True for a sharded model.
            RuntimeError: names (if strict) or shapes do not match.
        """
        bare = {key.removeprefix("module."): value for key, value in state_dict.items()}
        if assign and self._sharded is not None:
            raise NotImplementedError("load_state_dict(assign=True): a sharded module keeps its memory; use assign=False")
        with self.summon_full_params():
            own = self.module.state_dict(keep_vars=True)
            return self.module.load_state_dict(state_dict if set(state_dict) & set(own) else bare, strict, assign)

    @primitive
    def _verify_weights(self) -> None:
        """Every verify_every-th time, compare the weights of all ranks. In stage 3 ranks hold different slices."""
        self.forwards += 1
        if self.forwards % self.verify_every or self.shard == 3 or isinstance(self.comm, Devices):
            return
        weights = [(name, p) for name, p in self.module.named_parameters() if name not in self.ignored]
        difference = first_difference(weights, self.comm)
        if difference:
            raise CollectiveError(f"the weights are not the same on all ranks before forward {self.forwards}: "
                                  f"{difference}")

    # --- copies and pickles -----------------------------------------------------------------------------------------------

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        """A DataParallel of a copy of the module, as averages of weights are; without the comm hook that was registered.
        Not collective: its buckets are created when it is trained, if it ever is."""
        if self._sharded is not None:
            raise NotImplementedError(f"a copy of a DataParallel with shard={self.shard}: wrap a copy of the module before "
                                      "it is sharded, and load_state_dict(model.state_dict())")
        new: Any = self.__class__.__new__(self.__class__)
        memo[id(self)] = new
        new.__setstate__(copy.deepcopy(self._pickled(), memo))
        new._buffer_sync.changed = self._buffer_sync.changed
        return new

    def __getstate__(self) -> Any:
        """The module, the arguments, and attributes of the user's own. TypeError if ranks have slices of the module."""
        if self.shard:
            raise TypeError(f"a DataParallel with shard={self._config.shard!r} can't be pickled: each rank has its slices. "
                            "Save model.state_dict(), which all ranks call together, or wrap the module without shard=")
        return self._pickled()

    def _pickled(self) -> dict[str, Any]:
        config = self._config
        arguments = {each.name: getattr(config, each.name) for each in fields(config) if each.init}
        if config.comm is not None:                  # that of mpi4py has no name elsewhere
            arguments["comm"] = communicator(config.comm)
        return {"arguments": {**arguments, "module": self.module}, "unused": (self._unused.find, self._unused.static_graph),
                "attributes": {key: value for key, value in vars(self).items() if key not in CREATED}}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """A DataParallel over the ranks of this job. Not collective: its reducer is created when it is trained."""
        new: Any = self
        new._configure(Config(**state["arguments"]))
        vars(new).update(state["attributes"], _unused=UnusedParameters(*state["unused"]))
        if new._nan is not None:
            new._nan.watch_parameters(new.module)


__all__ = ["WrappedModule"]
