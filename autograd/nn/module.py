"""Module: the base class of layers and models.

As in PyTorch, a module's state is in plain dicts: `_parameters`, `_buffers`, `_modules`, and one for each kind of hook.
Assigning a Parameter, Buffer or Module to an attribute puts it into its dict (`__setattr__`). Reading the attribute finds it
there (`__getattr__`), and everything else walks the dicts.

The arguments, errors and examples of its methods are in docs/docstrings/layers.txt.
"""

from __future__ import annotations

import copy
import functools
import warnings
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..base.dtypes import bfloat16
from ..base.types import Array, DeviceLike, DTypeLike, MemoryFormat
from ..core.graph import RemovableHandle, shared_counter
from ..core.modes import changed, no_grad, process
from ..core.primitive import primitive
from ..core.tensor import Parameter, Tensor, result
from ..kernels.halves import copy_into
from ..ops.creation.fill import empty_like, zeros_like
from ..ops.pointwise.cast import cast
from ..spans.spans import MODULE, profilers, record_function
from .extra_repr import format_attributes
from .members import KINDS, STATE, Members
from .module_hooks import MSG_MIXED, BackwardHook, any_global, backward_hooks, global_hooks, hook_output
from .notebook import html_of
from .parameter import MSG_SHAPE, Buffer, is_lazy

if TYPE_CHECKING:
    from typing_extensions import Self

    from .module_hooks import Arguments, Forward, Output, PostHook, PreHook

EXTRA = "_extra_state"
MSG_POST_HOOK = ("Hooks registered with ``register_load_state_dict_post_hook`` are not expected to return new values, if "
                 "incompatible_keys need to be modified, it should be done inplace.")


class IncompatibleKeys(NamedTuple):
    """Names that load_state_dict(strict=False) could not match."""

    missing_keys: list[str]
    unexpected_keys: list[str]

    def __repr__(self) -> str:
        if not self.missing_keys and not self.unexpected_keys:
            return "<All keys matched successfully>"
        return f"IncompatibleKeys(missing_keys={self.missing_keys}, unexpected_keys={self.unexpected_keys})"


class Module:
    """Base class of all layers and models: assign parameters and modules as attributes, and implement forward()."""

    training: bool = True
    call_super_init: bool = False
    _shown = ""                                      # the attributes that extra_repr() shows; "inplace?": if it is True
    _version: int = 1                                # of the class's format: in _metadata of states, and passed to loading
    _is_full_backward_hook: bool | None = None       # None: there has been no backward hook

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        """Create the dicts. Arguments are a TypeError, unless call_super_init passes them to the next class of the MRO."""
        if not self.call_super_init and (args or kwargs):
            what = f"an unexpected keyword argument {next(iter(kwargs))!r}" if kwargs else (
                f"{len(args) + 1} positional arguments where 1 is taken")
            raise TypeError(f"{type(self).__name__}.__init__() got {what}")
        for name, kind in STATE.items():
            self.__dict__.setdefault(name, kind())
        if self.call_super_init:
            super().__init__(*args, **kwargs)

    # --- attributes ---------------------------------------------------------------------------------------------------

    def __getattr__(self, name: str) -> Any:
        """The parameter, buffer or module of this name. Python calls this for names that are no ordinary attributes."""
        for kind in KINDS:
            members = self.__dict__.get(kind, ())
            if name in members:
                return members[name]
        if name in STATE:                            # of a class that does not call super().__init__()
            return self.__dict__.setdefault(name, STATE[name]())
        if hasattr(type(self), name):                # a property that raised AttributeError: its own error
            return object.__getattribute__(self, name)
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'", name=name, obj=self)

    def __setattr__(self, name: str, value: Any) -> None:
        """Set any attribute. A parameter, buffer or module can be replaced by another one, or by None."""
        if isinstance(value, (Parameter, Module)):
            return self._put("_parameters" if isinstance(value, Parameter) else "_modules", name, value)
        for kind in KINDS:
            if name in self.__dict__.get(kind, ()):
                break
        else:
            if not isinstance(value, Buffer):
                object.__setattr__(self, name, Members(value) if value.__class__ is dict and name in KINDS else value)
                changed()
                return
            kind = "_buffers"
        if value is not None and not (kind == "_buffers" and isinstance(value, Tensor)):
            word = "child module" if kind == "_modules" else KINDS[kind]
            raise TypeError(f"cannot assign {type(value).__name__!r} object as {word} '{name}' (a {word} or None expected)")
        if isinstance(value, Buffer):
            return self.register_buffer(name, value, value.persistent)
        return self._put(kind, name, value)

    def __delattr__(self, name: str) -> None:
        for kind in KINDS:
            if self.__dict__.get(kind, {}).pop(name, self) is not self:
                self._non_persistent_buffers_set.discard(name)
                return
        object.__delattr__(self, name)
        changed()

    def __dir__(self) -> list[str]:
        names = [*super().__dir__(), *self._parameters, *self._buffers, *self._modules]
        return [name for name in names if not name[0].isdigit()]         # those of a Sequential are no attributes

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        for name in (*KINDS, "_non_persistent_buffers_set"):         # copy.copy() passes those of the original
            held = getattr(self, name)
            self.__dict__[name] = Members(held) if name in KINDS else copy.copy(held)

    def _put(self, kind: str, name: str, value: Any) -> None:
        """Put a parameter, buffer or module, after the hooks of its registration, into the dict `kind` alone."""
        if value is not None or kind != "_parameters":
            for hook in global_hooks[kind].values():
                given = hook(self, name, value)
                value = value if given is None else given
        for other in KINDS:
            if other != kind and name in getattr(self, other):
                del getattr(self, other)[name]
        if kind != "_buffers":
            self._non_persistent_buffers_set.discard(name)
        self.__dict__.pop(name, None)
        dict.__setitem__(getattr(self, kind), name, value)
        changed()

    def _register(self, kind: str, name: str, value: Any, cls: type, wrong: str) -> None:
        """Put a value, or None, under a new name. KeyError or TypeError where that can't be."""
        if not isinstance(name, str):
            raise TypeError(f"{KINDS[kind]} name should be a string. Got {type(name).__name__}")
        if "." in name:
            raise KeyError(f'{KINDS[kind]} name can\'t contain "."; got {name!r}')
        if not name:
            raise KeyError(f'{KINDS[kind]} name can\'t be empty string ""')
        if name not in getattr(self, kind) and hasattr(self, name):
            raise KeyError(f"attribute {name!r} already exists")
        if value is not None and not isinstance(value, cls):
            given = type(value)
            home = "" if given.__module__ == "builtins" else f"{given.__module__}."
            raise TypeError(wrong.format(name=name, given=given.__name__, full=f"{home}{given.__qualname__}"))
        self._put(kind, name, value)

    def register_buffer(self, name: str, tensor: Tensor | None, persistent: bool = True) -> None:
        """Add a tensor that is not a parameter, but part of the state."""
        self._register("_buffers", name, tensor, Tensor,
                       "cannot assign '{given}' object to buffer '{name}' (Tensor or None required)")
        (self._non_persistent_buffers_set.discard if persistent else self._non_persistent_buffers_set.add)(name)

    def register_parameter(self, name: str, param: Parameter | None) -> None:
        """Add a parameter, like assigning the attribute."""
        self._register("_parameters", name, param, Parameter,
                       "cannot assign '{given}' object to parameter '{name}' (Parameter or None required)")

    def add_module(self, name: str, module: Module | None) -> None:
        """Add a submodule, like assigning the attribute; the name may be a number."""
        self._register("_modules", name, module, Module, "{full} is not a Module subclass")

    register_module = add_module

    # --- members by dotted name ---------------------------------------------------------------------------------------

    def get_submodule(self, target: str) -> Module:
        """The submodule with a dotted name; "" is this module."""
        module: Any = self
        for name in target.split(".") if target else ():
            if not hasattr(module, name):
                raise AttributeError(f"{type(module).__name__} has no attribute `{name}`")
            module = getattr(module, name)
            if not isinstance(module, Module):
                raise AttributeError(f"`{name}` is not an nn.Module")
        return module                                # type: ignore[no-any-return]

    def set_submodule(self, target: str, module: Module, strict: bool = False) -> None:
        """Set the submodule with a dotted name."""
        path, _, name = target.rpartition(".")
        if not target:
            raise ValueError("Cannot set the submodule without a target name!")
        parent = self.get_submodule(path)
        if strict and not hasattr(parent, name):
            raise AttributeError(f"{type(parent).__name__} has no attribute `{name}`")
        setattr(parent, name, module)

    def _get_leaf(self, target: str, kind: str) -> Any:
        path, _, name = target.rpartition(".")
        parent = self.get_submodule(path)
        if not hasattr(parent, name):
            raise AttributeError(f"{type(parent).__name__} has no attribute `{name}`")
        if name not in getattr(parent, kind):
            raise AttributeError(f"`{name}` is not a {KINDS[kind]}")
        return getattr(parent, name)

    def get_parameter(self, target: str) -> Parameter:
        """The parameter with a dotted name."""
        return self._get_leaf(target, "_parameters")         # type: ignore[no-any-return]

    def get_buffer(self, target: str) -> Tensor:
        """The buffer with a dotted name."""
        return self._get_leaf(target, "_buffers")            # type: ignore[no-any-return]

    def named_modules(self, memo: set[Any] | None = None, prefix: str = "",
                      remove_duplicate: bool = True) -> Iterator[tuple[str, Module]]:
        """This module and all submodules by dotted name."""
        memo = set() if memo is None else memo
        if self in memo:
            return
        if remove_duplicate:
            memo.add(self)
        yield prefix, self
        for name, module in list(self._modules.items()):
            if module is not None:
                yield from module.named_modules(memo, f"{prefix}.{name}" if prefix else name, remove_duplicate)

    def modules(self) -> Iterator[Module]:
        """This module and all below it."""
        return (module for _, module in self.named_modules())

    def named_children(self) -> Iterator[tuple[str, Module]]:
        """The direct submodules, each once, by attribute name."""
        seen: set[Any] = {None}
        for name, module in list(self._modules.items()):
            if module not in seen:
                seen.add(module)
                yield name, module

    def children(self) -> Iterator[Module]:
        """The direct submodules, each once."""
        return (module for _, module in self.named_children())

    def _named_members(self, get_members_fn: Callable[[Module], Iterable[tuple[str, Any]]], prefix: str = "",
                       recurse: bool = True, remove_duplicate: bool = True) -> Iterator[tuple[str, Any]]:
        """What get_members_fn gives of each module, by dotted name, but for None."""
        seen: set[int] = set()
        modules = self.named_modules(prefix=prefix, remove_duplicate=remove_duplicate) if recurse else [(prefix, self)]
        for path, module in modules:
            for name, value in get_members_fn(module):
                if value is not None and not (remove_duplicate and id(value) in seen):
                    seen.add(id(value))
                    yield (f"{path}.{name}" if path else name), value

    def named_parameters(self, prefix: str = "", recurse: bool = True,
                         remove_duplicate: bool = True) -> Iterator[tuple[str, Any]]:
        """All parameters by dotted name."""
        return self._named_members(lambda module: module._parameters.items(), prefix, recurse, remove_duplicate)

    def parameters(self, recurse: bool = True) -> Iterator[Parameter]:
        """All parameters, shared ones once."""
        return (value for _, value in self.named_parameters(recurse=recurse))

    def named_buffers(self, prefix: str = "", recurse: bool = True,
                      remove_duplicate: bool = True) -> Iterator[tuple[str, Tensor]]:
        """All buffers by dotted name."""
        return self._named_members(lambda module: module._buffers.items(), prefix, recurse, remove_duplicate)

    def buffers(self, recurse: bool = True) -> Iterator[Tensor]:
        """Iterate over all buffers."""
        return (value for _, value in self.named_buffers(recurse=recurse))

    def _own_state(self) -> dict[str, Tensor]:
        """The parameters and persistent buffers of this module itself."""
        return {name: value for name, value in (*self._parameters.items(), *self._buffers.items())
                if value is not None and name not in self._non_persistent_buffers_set}

    def _held_arrays(self) -> Iterator[tuple[str, str, Any]]:
        """What its own tensors are for, for memory_summary()."""
        yield from (("parameters", "", p) for p in self._parameters.values() if p is not None)
        yield from (("buffers", "", buffer) for buffer in self._buffers.values() if buffer is not None)

    def _replicate_for_data_parallel(self) -> Self:
        """A shallow copy with its own dicts, in which DataParallel replaces tensors and modules."""
        replica = object.__new__(type(self))
        Module.__setstate__(replica, self.__dict__)
        return replica

    # --- calls and hooks ----------------------------------------------------------------------------------------------

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Compute the output; every subclass overrides it."""
        raise NotImplementedError(f'Module [{type(self).__name__}] is missing the required "forward" function')

    if TYPE_CHECKING:                                # a call takes and gives what forward does
        def __call__(self: Forward[Arguments, Output], *args: Arguments.args, **kwargs: Arguments.kwargs) -> Output: ...
    else:
        def __call__(self, *args: Any, **kwargs: Any) -> Any:
            if profilers:
                with record_function(f"nn.Module: {type(self).__name__}", None, MODULE, id(self)):
                    return self._call_hooked(args, kwargs)
            if (self._forward_hooks or self._forward_pre_hooks or self._backward_hooks or self._backward_pre_hooks
                    or any_global):
                return self._call_hooked(args, kwargs)
            return self.forward(*args, **kwargs)

    def _call_hooked(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Run forward with all hooks, global hooks first; after an error run the hooks registered with always_call."""
        called: set[int] = set()
        output = None
        try:
            for number, pre in (*global_hooks["_forward_pre_hooks"].items(), *self._forward_pre_hooks.items()):
                args, kwargs = self._replaced_arguments(number, pre, args, kwargs)
            full, old = backward_hooks(self)
            before = [*global_hooks["_backward_pre_hooks"].values(), *self._backward_pre_hooks.values()]
            crossing = BackwardHook(self, full, before) if full or before else None
            if crossing is not None:
                args = crossing.enter(args)
            output = self.forward(*args, **kwargs)
            for number, hook in (*global_hooks["_forward_hooks"].items(), *self._forward_hooks.items()):
                called.add(number)
                changed = self._call_forward_hook(number, hook, args, kwargs, output)
                output = output if changed is None else changed
            if crossing is not None:
                output = crossing.leave(output)
            if old:
                hook_output(self, old, args, output)
            return output
        except Exception:
            always = {*global_hooks["_forward_hooks_always_called"], *self._forward_hooks_always_called} - called
            for number, hook in (*global_hooks["_forward_hooks"].items(), *self._forward_hooks.items()):
                if number in always:
                    try:                             # its own errors must not hide forward's
                        self._call_forward_hook(number, hook, args, kwargs, output)
                    except Exception as error:
                        warnings.warn("module forward hook with ``always_call=True`` raised an exception that was silenced "
                                      f"as another error was raised in forward: {error}", stacklevel=2)
            raise

    def _replaced_arguments(self, number: int, hook: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, Any]:
        """The arguments after one forward pre-hook."""
        if number not in self._forward_pre_hooks_with_kwargs:
            changed = hook(self, args)
            return args if changed is None else changed if isinstance(changed, tuple) else (changed,), kwargs
        changed = hook(self, args, kwargs)
        if changed is None:
            return args, kwargs
        if not isinstance(changed, tuple) or len(changed) != 2:
            raise RuntimeError(f"forward pre-hook must return None or a tuple of (new_args, new_kwargs), but got {changed}.")
        return changed

    def _call_forward_hook(self, number: int, hook: Any, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> Any:
        if number in self._forward_hooks_with_kwargs or number in global_hooks["_forward_hooks_with_kwargs"]:
            return hook(self, args, kwargs, output)
        return hook(self, args, output)

    def _add_hook(self, hooks: Any, hook: Any, prepend: bool = False, *flags: dict[int, bool]) -> RemovableHandle:
        handle = RemovableHandle(hooks, hook, *flags)
        if prepend:
            hooks.move_to_end(handle.id, last=False)
        return handle

    def register_forward_pre_hook(self, hook: PreHook, *, prepend: bool = False,
                                  with_kwargs: bool = False) -> RemovableHandle:
        """Register a hook that is called before forward as hook(module, args); its result replaces the arguments."""
        return self._add_hook(self._forward_pre_hooks, hook, prepend,
                              *[self._forward_pre_hooks_with_kwargs] * bool(with_kwargs))

    def register_forward_hook(self, hook: PostHook, *, prepend: bool = False, with_kwargs: bool = False,
                              always_call: bool = False) -> RemovableHandle:
        """Register a hook that is called after forward as hook(module, args, output); its result replaces the output."""
        return self._add_hook(self._forward_hooks, hook, prepend, *[self._forward_hooks_with_kwargs] * bool(with_kwargs),
                              *[self._forward_hooks_always_called] * bool(always_call))

    def register_full_backward_pre_hook(self, hook: Callable[[Any, Any], Any], prepend: bool = False) -> RemovableHandle:
        """Register hook(module, grad_output), called before backward; its result replaces the gradients of the outputs."""
        return self._add_hook(self._backward_pre_hooks, hook, prepend)

    def register_full_backward_hook(self, hook: Callable[[Any, Any, Any], Any], prepend: bool = False) -> RemovableHandle:
        """Register hook(module, grad_input, grad_output), called after backward; its result replaces grad_input.

        grad_input has one entry per positional argument, None for arguments that are not tensors.
        """
        if self._is_full_backward_hook is False:
            raise RuntimeError(MSG_MIXED.format(where="on a single Module"))
        self._is_full_backward_hook = True
        return self._add_hook(self._backward_hooks, hook, prepend)

    def register_backward_hook(self, hook: Callable[[Any, Any, Any], Any]) -> RemovableHandle:
        """Older form of register_full_backward_hook(): grad_input is that of the node that made the output."""
        if self._is_full_backward_hook is True:
            raise RuntimeError(MSG_MIXED.format(where="on a single Module"))
        self._is_full_backward_hook = False
        return self._add_hook(self._backward_hooks, hook)

    # --- state_dict ---------------------------------------------------------------------------------------------------

    def register_state_dict_pre_hook(self, hook: Callable[..., None]) -> RemovableHandle:
        """Register hook(module, prefix, keep_vars), called before the module's state is collected."""
        return self._add_hook(self._state_dict_pre_hooks, hook)

    def register_state_dict_post_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Register hook(module, state_dict, prefix, local_metadata), called after the module's state is collected."""
        return self._add_hook(self._state_dict_hooks, functools.partial(_giving_nothing, hook))

    def _register_state_dict_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """The older form: what the hook returns replaces the state."""
        return self._add_hook(self._state_dict_hooks, hook)

    def register_load_state_dict_pre_hook(self, hook: Callable[..., None]) -> RemovableHandle:
        """Register hook(module, state_dict, prefix, metadata, strict, missing, unexpected, errors), called before a load."""
        return self._add_hook(self._load_state_dict_pre_hooks, hook)

    def _register_load_state_dict_pre_hook(self, hook: Callable[..., None], with_module: bool = False) -> RemovableHandle:
        """The older form: hook gets no module, unless with_module."""
        return self.register_load_state_dict_pre_hook(hook if with_module else functools.partial(_without_module, hook))

    def register_load_state_dict_post_hook(self, hook: Callable[..., None]) -> RemovableHandle:
        """Register hook(module, incompatible_keys), called after loading."""
        return self._add_hook(self._load_state_dict_post_hooks, hook)

    def get_extra_state(self) -> Any:
        """State of the module besides tensors; override it together with set_extra_state(). RuntimeError otherwise."""
        raise RuntimeError("Reached a code path in Module.get_extra_state() that should never be called.")

    def set_extra_state(self, state: Any) -> None:
        """Restore the state from get_extra_state()."""
        raise RuntimeError("Reached a code path in Module.set_extra_state() that should never be called.")

    def state_dict(self, *args: Any, destination: Any = None, prefix: str = "", keep_vars: bool = False) -> dict[str, Any]:
        """Parameters and persistent buffers by dotted name, sharing memory with the module.

        The attribute `_metadata` of the dict maps each module to the `_version` of its class, as in PyTorch.
        """
        given: Any = (*args, *(destination, prefix, keep_vars)[len(args):])
        destination, prefix, keep_vars = given
        if destination is None:
            destination = OrderedDict()
            destination._metadata = OrderedDict()    # type: ignore[attr-defined]   # read by load_state_dict
        local_metadata = {"version": self._version}
        if hasattr(destination, "_metadata"):
            destination._metadata[prefix[:-1]] = local_metadata
        for hook in list(self._state_dict_pre_hooks.values()):
            hook(self, prefix, keep_vars)
        self._save_to_state_dict(destination, prefix, keep_vars)
        for name, module in self._modules.items():
            if module is not None:
                module.state_dict(destination=destination, prefix=f"{prefix}{name}.", keep_vars=keep_vars)
        for hook in list(self._state_dict_hooks.values()):
            changed = hook(self, destination, prefix, local_metadata)
            destination = destination if changed is None else changed
        return destination

    def _save_to_state_dict(self, destination: Any, prefix: str, keep_vars: bool) -> None:
        """Write this module's own state to `destination`; modules with an unusual state override this."""
        for name, value in self._own_state().items():
            destination[prefix + name] = value if keep_vars else value.detach()
        if type(self).get_extra_state is not Module.get_extra_state:
            destination[prefix + EXTRA] = self.get_extra_state()

    def load_state_dict(self, state_dict: Mapping[str, Any], strict: bool = True, assign: bool = False) -> IncompatibleKeys:
        """Copy values into parameters and buffers by name; on an error nothing changes."""
        if not isinstance(state_dict, Mapping):
            raise TypeError(f"Expected state_dict to be dict-like, got {type(state_dict)}.")
        keys = IncompatibleKeys([], [])
        errors: list[str] = []
        pending: list[Callable[[], None]] = []
        versions = getattr(state_dict, "_metadata", None) or {}

        def load(module: Module, state: dict[str, Any], prefix: str) -> None:
            metadata = {**versions.get(prefix[:-1], {}), "assign_to_params_buffers": assign, "pending": pending}
            module._load_from_state_dict(state, prefix, metadata, True, keys.missing_keys, keys.unexpected_keys, errors)
            for name, child in module._modules.items():
                if child is not None:
                    start = f"{prefix}{name}."
                    load(child, OrderedDict((k, v) for k, v in state.items() if k.startswith(start)), start)
            for hook in list(module._load_state_dict_post_hooks.values()):
                if hook(module, keys) is not None:
                    raise AssertionError(MSG_POST_HOOK)

        load(self, OrderedDict(state_dict), "")      # a copy: a module's own loading may change it
        if strict:
            errors[:0] = [f"{what} key(s) in state_dict: " + ", ".join(f'"{k}"' for k in names) + ". "
                          for what, names in (("Missing", keys.missing_keys), ("Unexpected", keys.unexpected_keys)) if names]
        if errors:
            raise RuntimeError(f"Error(s) in loading state_dict for {type(self).__name__}:\n\t" + "\n\t".join(errors))
        for change in pending:
            change()
        return keys

    def _load_from_state_dict(self, state_dict: dict[str, Any], prefix: str, local_metadata: dict[str, Any], strict: bool,
                              missing_keys: list[str], unexpected_keys: list[str], error_msgs: list[str]) -> None:
        """Check this module's own values, and append the copies to make to `pending`; modules with an unusual state
        override this."""
        for hook in list(self._load_state_dict_pre_hooks.values()):
            hook(self, state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs)
        pending = local_metadata.get("pending", [])
        own = self._own_state()
        for name, value in own.items():
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
                pending.append(functools.partial(setattr, self, name, _like(value, given, array)))
            else:
                pending.append(functools.partial(_copy, value, array))
        extra = type(self).set_extra_state is not Module.set_extra_state
        if extra and prefix + EXTRA in state_dict:
            pending.append(lambda: self.set_extra_state(state_dict[prefix + EXTRA]))
        elif extra and strict:
            missing_keys.append(prefix + EXTRA)
        for key in state_dict if strict else ():
            first, dot, _ = key[len(prefix):].partition(".")
            known = self._modules.get(first) is not None if dot else extra if first == EXTRA else first in own
            if key.startswith(prefix) and not known:
                unexpected_keys.append(key)

    # --- modes, gradients, types and text -----------------------------------------------------------------------------

    def train(self, mode: bool = True) -> Self:
        """Set training mode of this module and its submodules. Returns self."""
        if not isinstance(mode, bool):
            raise ValueError("training mode is expected to be boolean")
        for module in self.modules():
            module.training = mode
        return self

    def eval(self) -> Self:
        """Set evaluation mode of this module and its submodules. Returns self."""
        return self.train(False)

    @primitive
    def zero_grad(self, set_to_none: bool = True) -> None:
        """Reset the gradients of all parameters."""
        for p in self.parameters():
            if set_to_none or p._grad is None:
                p._grad = None
            else:
                p.grad = zeros_like(p)

    def requires_grad_(self, requires_grad: bool = True) -> Self:
        """Set requires_grad of all parameters. Returns self."""
        for p in self.parameters():
            p.requires_grad = requires_grad
        return self

    def apply(self, fn: Callable[[Module], Any]) -> Self:
        """Call fn on every submodule and on this module. Returns self."""
        for module in self.children():
            module.apply(fn)
        fn(self)
        return self

    def _apply(self, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> Self:
        """Replace the memory of every parameter and buffer by the result of fn. Returns self."""
        with no_grad():
            for value in [*self.parameters(recurse), *self.buffers(recurse)]:
                changed = fn(value.data if is_lazy(value) else value.detach())     # an alias shares the counter of writes
                if changed.array is not value.array:
                    value.data = changed
                    if value._grad is not None:
                        value._grad = fn(value._grad)
        return self

    def to_empty(self, *, device: DeviceLike, recurse: bool = True) -> Self:
        """Give all parameters and buffers uninitialized memory. Returns self."""
        return self._apply(lambda t: empty_like(t, device=device), recurse)

    def compile(self, *args: Any, **kwargs: Any) -> None:
        """Compile forward() in place; the arguments are those of autograd.compile()."""
        self.forward = process.compile(self.forward, *args, **kwargs)      # type: ignore[method-assign]

    def to(self, *args: Any, dtype: DTypeLike = None, device: DeviceLike = None, non_blocking: bool = False,
           copy: bool | None = None, memory_format: MemoryFormat | None = None) -> Self:
        """Cast floating point and complex parameters and buffers, in place. Returns self.

        As in PyTorch a real dtype drops imaginary parts; double(), float() and half() leave complex tensors unchanged.
        """
        rest = list(args)                            # (tensor, ...), (dtype, ...) or (device, dtype, ...)
        first = rest.pop(0) if rest else None
        if isinstance(first, Tensor):
            dtype = first.dtype
        elif hasattr(first, "index") or type(first) is int or (
                isinstance(first, str) and first.split(":")[0] in ("cpu", "cuda", "mps", "meta")):
            device = first
        elif first is not None:
            dtype = np.dtype(first)
        if rest and not isinstance(first, Tensor) and (first is None or device is first):
            if isinstance(rest[0], bool):
                raise TypeError(f"Module.to({first!r}, {rest[0]}): a dtype follows the device; pass non_blocking by name")
            dtype = dtype if rest[0] is None else np.dtype(rest[0])
            rest.pop(0)
        if copy is not None or (len(rest) == 2 and isinstance(rest[1], bool)):
            raise RuntimeError("Module.to() does not accept the argument copy: it changes the module in place")
        if len(rest) > 1 or not all(isinstance(a, bool) for a in rest):
            raise TypeError("Module.to() takes (device, dtype, non_blocking), (dtype, non_blocking) or (tensor, "
                            f"non_blocking), but got {args}")
        if device is not None and str(device).split(":")[0] != "cpu":
            raise NotImplementedError(f"to(device={str(device)!r}): modules live in the CPU's memory")
        if dtype is not None:
            if np.dtype(dtype).kind not in "fcV":
                raise TypeError(f"nn.Module.to only accepts floating point or complex dtypes, but got desired dtype={dtype}")
            self._apply(lambda t: cast(t, dtype) if t.array.dtype.kind in "fcV" else t)
        if memory_format is not None:
            self._apply(lambda t: t.contiguous(memory_format=memory_format) if t.ndim in (4, 5) else t)
        return self

    def type(self, dst_type: Any) -> Self:
        """Cast all parameters and buffers. Returns self."""
        return self._apply(lambda t: cast(t, dst_type))

    def _floating(self, dtype: DTypeLike) -> Self:
        return self._apply(lambda t: cast(t, dtype) if t.array.dtype.kind in "fV" else t)

    def double(self) -> Self:
        """Cast floating point parameters and buffers to float64; complex ones stay. Returns self."""
        return self._floating(np.float64)

    def float(self) -> Self:
        """Cast floating point parameters and buffers to float32; complex ones stay. Returns self."""
        return self._floating(np.float32)

    def half(self) -> Self:
        """Cast floating point parameters and buffers to float16; complex ones stay. Returns self."""
        return self._floating(np.float16)

    def bfloat16(self) -> Self:
        """Cast floating point parameters and buffers to bfloat16; complex ones stay. Returns self."""
        return self._floating(bfloat16())

    def cpu(self) -> Self:
        """Return self: modules are always on the CPU."""
        return self

    def cuda(self, device: DeviceLike = None) -> Self:
        """Not implemented: there is no other device."""
        raise NotImplementedError("cuda(): modules live in the CPU's memory")

    def _get_name(self) -> str:
        """The name that print() shows."""
        return type(self).__name__

    def extra_repr(self) -> str:
        """The text between the parentheses of repr()."""
        return format_attributes(self, self._shown)

    def __repr__(self) -> str:
        extra = self.extra_repr()
        lines = [f"({name}): {module!r}".replace("\n", "\n  ") for name, module in self._modules.items()]
        name = self._get_name()
        if not lines and "\n" not in extra:
            return f"{name}({extra})"
        lines = [*(extra.split("\n") if extra else []), *lines]
        return f"{name}(\n  " + "\n  ".join(lines) + "\n)"

    def _repr_html_(self) -> str:
        return html_of(self)


def _without_module(hook: Callable[..., None], module: Module, *args: Any) -> None:
    """Call a loading hook of the older form. At module level, so that modules with hooks can be pickled."""
    hook(*args)


def _giving_nothing(hook: Callable[..., Any], *args: Any) -> None:
    """Call a state_dict post-hook, which must not return a value."""
    if hook(*args) is not None:
        raise RuntimeError("state_dict post-hook must return None")


def _copy(value: Tensor, array: Array) -> None:
    copy_into(value.array, array)
    shared_counter(value).value += 1


def _like(value: Tensor, given: Tensor, array: Array) -> Tensor:
    """The given tensor as an object of value's kind: a Parameter stays one, with its requires_grad."""
    if isinstance(value, Parameter):
        return given if isinstance(given, Parameter) else Parameter(array, requires_grad=value.requires_grad)
    return given if isinstance(given, Tensor) else result(array)


__all__ = ["IncompatibleKeys", "Module"]
