"""state_dict() and load_state_dict() of modules; loading changes all tensors or, on an error, none."""

from __future__ import annotations

import functools
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..base.types import Array
from ..core.graph import RemovableHandle, shared_counter
from ..core.tensor import Parameter, Tensor, result
from ..kernels.halves import copy_into
from .parameter import MSG_SHAPE, is_lazy

if TYPE_CHECKING:
    from ..nn.module import Module

EXTRA = "_extra_state"


class IncompatibleKeys(NamedTuple):
    """Names that load_state_dict(strict=False) could not match."""

    missing_keys: list[str]
    unexpected_keys: list[str]

    def __repr__(self) -> str:
        if not self.missing_keys and not self.unexpected_keys:
            return "<All keys matched successfully>"
        return f"IncompatibleKeys(missing_keys={self.missing_keys}, unexpected_keys={self.unexpected_keys})"


class Stateful:
    """The part of Module that implements state_dict and load_state_dict.

    _version: version of the class's format, stored in the `_metadata` of states and passed in local_metadata to loading.
    """

    _version: int = 1

    if TYPE_CHECKING:
        def direct_modules(self) -> Iterator[tuple[str, Any]]: ...
        def direct_parameters(self) -> Iterator[tuple[str, Tensor]]: ...
        def direct_buffers(self, persistent_only: bool = False) -> Iterator[tuple[str, Tensor]]: ...
        def _hook_dict(self, kind: str) -> OrderedDict[int, Any]: ...
        def _hooks_of(self, kind: str) -> list[Any]: ...

    # --- hooks and extra state ------------------------------------------------------------------------------------

    def register_state_dict_pre_hook(self, hook: Callable[..., None]) -> RemovableHandle:
        """Register hook(module, prefix, keep_vars), called before the module's state is collected.

        Args:
            hook (callable): Hook, whose result is ignored.

        Example:
            >>> layer = ag.nn.Identity()
            >>> handle = layer.register_state_dict_pre_hook(lambda module, prefix, keep_vars: print("saving"))
            >>> layer.state_dict()
            saving
            OrderedDict()
        """
        return RemovableHandle(self._hook_dict("state_pre"), hook)

    def register_state_dict_post_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Register hook(module, state_dict, prefix, local_metadata), called after the module's state is collected.

        Args:
            hook (callable): Hook, which may change the dict in place.

        Example:
            >>> layer = ag.nn.Identity()
            >>> handle = layer.register_state_dict_post_hook(lambda module, state, prefix, _: state.update(version=2))
            >>> layer.state_dict()
            OrderedDict([('version', 2)])
        """
        return RemovableHandle(self._hook_dict("state"), functools.partial(_giving_nothing, hook))

    def _register_state_dict_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """The older form: what the hook returns replaces the state."""
        return RemovableHandle(self._hook_dict("state"), hook)

    def register_load_state_dict_pre_hook(self, hook: Callable[..., None]) -> RemovableHandle:
        """Register hook(module, state_dict, prefix, metadata, strict, missing, unexpected, errors), called before loading.

        Args:
            hook (callable): Hook, which may change the dict in place.

        Example:
            >>> layer = ag.nn.Identity()
            >>> handle = layer.register_load_state_dict_pre_hook(lambda module, state, *others: state.pop("version"))
            >>> layer.load_state_dict({"version": 2})
            <All keys matched successfully>
        """
        return RemovableHandle(self._hook_dict("load_pre"), hook)

    def _register_load_state_dict_pre_hook(self, hook: Callable[..., None], with_module: bool = False) -> RemovableHandle:
        """The older form: hook gets no module, unless with_module."""
        if with_module:
            return self.register_load_state_dict_pre_hook(hook)
        return self.register_load_state_dict_pre_hook(functools.partial(_without_module, hook))

    def register_load_state_dict_post_hook(self, hook: Callable[..., None]) -> RemovableHandle:
        """Register hook(module, incompatible_keys), called after loading.

        Args:
            hook (callable): Hook, which may change the lists of keys in place.

        Example:
            >>> layer = ag.nn.Identity()
            >>> handle = layer.register_load_state_dict_post_hook(lambda module, keys: keys.unexpected_keys.clear())
            >>> layer.load_state_dict({"version": ag.ones(1)})
            <All keys matched successfully>
        """
        return RemovableHandle(self._hook_dict("load"), hook)

    def get_extra_state(self) -> Any:
        """State of the module besides tensors; override it together with set_extra_state().

        Raises:
            RuntimeError: The class does not implement it.

        Example:
            >>> class Counter(ag.nn.Module):
            ...     count = 0
            ...     def get_extra_state(self):
            ...         return {"count": self.count}
            ...     def set_extra_state(self, state):
            ...         self.count = state["count"]
            >>> counter = Counter()
            >>> counter.set_extra_state({"count": 3})
            >>> counter.get_extra_state(), counter.state_dict()["_extra_state"]
            ({'count': 3}, {'count': 3})
        """
        raise RuntimeError("Reached a code path in Module.get_extra_state() that should never be called.")

    def set_extra_state(self, state: Any) -> None:
        """Restore the state from get_extra_state(), whose example applies.

        Args:
            state: Result of get_extra_state().

        Raises:
            RuntimeError: The class does not implement it.

        Example:
            >>> class Counter(ag.nn.Module):
            ...     def set_extra_state(self, state):
            ...         self.count = state["count"]
            >>> Counter().set_extra_state({"count": 3})
        """
        raise RuntimeError("Reached a code path in Module.set_extra_state() that should never be called.")

    # --- out ----------------------------------------------------------------------------------------------------------

    def state_dict(self, *args: Any, destination: Any = None, prefix: str = "", keep_vars: bool = False) -> dict[str, Any]:
        """Parameters and persistent buffers by dotted name, sharing memory with the module.

        The attribute `_metadata` of the dict maps each module to the `_version` of its class, as in PyTorch.

        Args:
            destination (dict): Dict to fill; a new one if None.
            prefix (str): Prefix of the names. Default: ''.
            keep_vars (bool): If True, the values are the parameters themselves, not detached. Default: False.
        """
        if args:
            given = dict(zip(("destination", "prefix", "keep_vars"), args, strict=False))
            destination, prefix, keep_vars = (given.get("destination", destination), given.get("prefix", prefix),
                                              given.get("keep_vars", keep_vars))
        if destination is None:
            destination = OrderedDict()
            destination._metadata = OrderedDict()    # type: ignore[attr-defined]   # read by load_state_dict
        local_metadata = {"version": self._version}
        if hasattr(destination, "_metadata"):
            destination._metadata[prefix[:-1]] = local_metadata
        for hook in self._hooks_of("state_pre"):
            hook(self, prefix, keep_vars)
        self._save_to_state_dict(destination, prefix, keep_vars)
        for name, module in self.direct_modules():
            module.state_dict(destination=destination, prefix=f"{prefix}{name}.", keep_vars=keep_vars)
        for hook in self._hooks_of("state"):
            changed = hook(self, destination, prefix, local_metadata)
            destination = destination if changed is None else changed
        return destination

    def _save_to_state_dict(self, destination: Any, prefix: str, keep_vars: bool) -> None:
        """Write this module's own state to `destination`; modules with an unusual state override this."""
        for name, value in [*self.direct_parameters(), *self.direct_buffers(persistent_only=True)]:
            destination[prefix + name] = value if keep_vars else value.detach()
        if type(self).get_extra_state is not Stateful.get_extra_state:
            destination[prefix + EXTRA] = self.get_extra_state()

    # --- in -----------------------------------------------------------------------------------------------------------

    def load_state_dict(self, state_dict: Mapping[str, Any], strict: bool = True,
                        assign: bool = False) -> IncompatibleKeys:
        """Copy values into parameters and buffers by name; on an error nothing changes.

        Args:
            state_dict (Mapping[str, Any]): Result of state_dict().
            strict (bool): If True, the names must match exactly. Default: True.
            assign (bool): If True, uses the given tensors instead of copying them. Default: False.

        Raises:
            TypeError: `state_dict` is not a mapping.
            RuntimeError: A name is missing or unexpected (strict), or a shape does not match.
        """
        if not isinstance(state_dict, Mapping):
            raise TypeError(f"Expected state_dict to be dict-like, got {type(state_dict)}.")
        missing: list[str] = []
        unexpected: list[str] = []
        errors: list[str] = []
        pending: list[Callable[[], None]] = []
        metadata = {"assign_to_params_buffers": assign, "pending": pending}
        copied = OrderedDict(state_dict)             # a module's own loading may change it
        versions = getattr(state_dict, "_metadata", None) or {}
        _load(self, copied, "", metadata, versions, (missing, unexpected, errors))
        if strict and unexpected:
            errors.insert(0, "Unexpected key(s) in state_dict: " + ", ".join(f'"{k}"' for k in unexpected) + ". ")
        if strict and missing:
            errors.insert(0, "Missing key(s) in state_dict: " + ", ".join(f'"{k}"' for k in missing) + ". ")
        if errors:
            raise RuntimeError(f"Error(s) in loading state_dict for {type(self).__name__}:\n\t" + "\n\t".join(errors))
        for copy in pending:
            copy()
        return IncompatibleKeys(missing, unexpected)

    def _load_from_state_dict(self, state_dict: dict[str, Any], prefix: str, local_metadata: dict[str, Any], strict: bool,
                              missing_keys: list[str], unexpected_keys: list[str], error_msgs: list[str]) -> None:
        """Check this module's own values, and append the copies to make to `pending`; modules with an unusual state
        override this."""
        for hook in self._hooks_of("load_pre"):
            hook(self, state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs)
        pending = local_metadata.get("pending", [])
        direct = dict([*self.direct_parameters(), *self.direct_buffers(persistent_only=True)])
        for name, value in direct.items():
            key = prefix + name
            if key not in state_dict:
                if strict:
                    missing_keys.append(key)
                continue
            given = state_dict[key]
            if is_lazy(given):
                if is_lazy(value):
                    continue
                raise RuntimeError(MSG_SHAPE)
            array = given.array if isinstance(given, Tensor) else np.asarray(given)
            if value.array.ndim == 0 and array.shape == (1,):
                array = array[0]
            if array.shape != value.array.shape:
                error_msgs.append(f"size mismatch for {key}: copying a param with shape {list(array.shape)} from "
                                  f"checkpoint, the shape in current model is {list(value.shape)}.")
            elif local_metadata.get("assign_to_params_buffers"):
                pending.append(lambda name=name, value=value, given=given, array=array:
                               setattr(self, name, _like(value, given, array)))
            else:
                pending.append(lambda value=value, array=array: _copy(value, array))
        if type(self).set_extra_state is not Stateful.set_extra_state:
            if prefix + EXTRA in state_dict:
                pending.append(lambda: self.set_extra_state(state_dict[prefix + EXTRA]))
            elif strict:
                missing_keys.append(prefix + EXTRA)
        if strict:
            unexpected_keys += _strangers(state_dict, prefix, direct, {name for name, _ in self.direct_modules()}, self)


def _without_module(hook: Callable[..., None], module: Module, *args: Any) -> None:
    """Call a loading hook of the older form. At module level, so that modules with hooks can be pickled."""
    hook(*args)


def _giving_nothing(hook: Callable[..., Any], *args: Any) -> None:
    """Call a state_dict post-hook, which must not return a value."""
    if hook(*args) is not None:
        raise RuntimeError("state_dict post-hook must return None")


def _load(module: Any, state_dict: dict[str, Any], prefix: str, metadata: dict[str, Any], versions: Mapping[str, Any],
          lists: tuple[list[str], list[str], list[str]]) -> None:
    """Load a module and its submodules, each from the keys with its prefix."""
    module._load_from_state_dict(state_dict, prefix, {**versions.get(prefix[:-1], {}), **metadata}, True, *lists)
    for name, child in module.direct_modules():
        start = f"{prefix}{name}."
        _load(child, OrderedDict((k, v) for k, v in state_dict.items() if k.startswith(start)), start, metadata,
              versions, lists)
    for hook in module._hooks_of("load"):
        if hook(module, IncompatibleKeys(lists[0], lists[1])) is not None:
            raise AssertionError("Hooks registered with ``register_load_state_dict_post_hook`` are not expected to return "
                                 "new values, if incompatible_keys need to be modified, it should be done inplace.")


def _strangers(state_dict: dict[str, Any], prefix: str, direct: dict[str, Any], children: set[str],
               module: Any) -> list[str]:
    """The keys under prefix that neither this module nor one of its children knows."""
    unknown = []
    for key in state_dict:
        if not key.startswith(prefix):
            continue
        first, dot, _ = key[len(prefix):].partition(".")
        if key[len(prefix):] == EXTRA:
            if type(module).set_extra_state is Stateful.set_extra_state:
                unknown.append(key)
        elif (first not in children) if dot else (first not in direct):
            unknown.append(key)
    return unknown


def _copy(value: Tensor, array: Array) -> None:
    copy_into(value.array, array)
    shared_counter(value).value += 1


def _like(value: Tensor, given: Tensor, array: Array) -> Tensor:
    """The given tensor as an object of value's kind: a Parameter stays one, with its requires_grad."""
    if isinstance(value, Parameter):
        return given if isinstance(given, Parameter) else Parameter(array, requires_grad=value.requires_grad)
    return given if isinstance(given, Tensor) else result(array)
