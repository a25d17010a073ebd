"""Module: a plain object whose attributes are parameters, buffers and other modules, found by walking them in order."""

from __future__ import annotations

import copy
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from ..graph import RemovableHandle, shared_counter
from ..mode import no_grad
from ..ops.cast import cast
from ..ops.create import zeros_like
from ..tensor import Parameter, Tensor


class IncompatibleKeys(NamedTuple):
    """What load_state_dict(strict=False) could not match."""

    missing_keys: list[str]
    unexpected_keys: list[str]


class Module:
    """The base of all layers and models: assign parameters and modules as attributes, write forward().

    >>> class Net(Module):
    ...     def __init__(self):
    ...         super().__init__()
    ...         self.hidden = Linear(64, 128)
    ...     def forward(self, x):
    ...         return self.hidden(x).relu()
    """

    training: bool = True

    def __init__(self) -> None:
        """Nothing to set up: attributes are found where they are."""

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Compute the output. Overridden by every module."""
        raise NotImplementedError(f'Module [{type(self).__name__}] is missing the required "forward" function')

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        hooks = self.__dict__.get("_hooks")
        if hooks is None:
            return self.forward(*args, **kwargs)
        for hook in list(hooks["pre"].values()):
            changed = hook(self, args)
            if changed is not None:
                args = changed if isinstance(changed, tuple) else (changed,)
        output = self.forward(*args, **kwargs)
        for hook in list(hooks["post"].values()):
            changed = hook(self, args, output)
            output = output if changed is None else changed
        return output

    def _hook_dict(self, kind: str) -> dict[int, Any]:
        return self.__dict__.setdefault("_hooks", {"pre": {}, "post": {}})[kind]

    def register_forward_pre_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call hook(module, args) before forward; what it returns replaces the arguments."""
        return RemovableHandle(self._hook_dict("pre"), hook)

    def register_forward_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call hook(module, args, output) after forward; what it returns replaces the output."""
        return RemovableHandle(self._hook_dict("post"), hook)

    # --- what it holds ----------------------------------------------------------------------------------------------

    def register_buffer(self, name: str, tensor: Tensor | None, persistent: bool = True) -> None:
        """Hold a tensor that is no parameter but part of the state (unless not persistent)."""
        if "." in name or not name:
            raise KeyError(f'buffer name can\'t contain "." or be empty: {name!r}')
        if tensor is not None and not isinstance(tensor, Tensor):
            raise TypeError(f"cannot assign {type(tensor).__name__} object to buffer '{name}' (Tensor or None required)")
        self.__dict__.setdefault("_buffer_names", {})[name] = persistent
        setattr(self, name, tensor)

    def register_parameter(self, name: str, param: Parameter | None) -> None:
        """The same as assigning the attribute."""
        if param is not None and not isinstance(param, Parameter):
            raise TypeError(f"cannot assign {type(param).__name__} object to parameter '{name}' (Parameter or None "
                            "required)")
        setattr(self, name, param)

    def add_module(self, name: str, module: Module | None) -> None:
        """The same as assigning the attribute."""
        if module is not None and not isinstance(module, Module):
            raise TypeError(f"{type(module).__name__} is not a Module subclass")
        setattr(self, name, module)

    def named_children(self) -> Iterator[tuple[str, Module]]:
        """The modules held directly, by attribute name."""
        for name, value in self.__dict__.items():
            if isinstance(value, Module):
                yield name, value

    def children(self) -> Iterator[Module]:
        """The modules held directly."""
        return (module for _, module in self.named_children())

    def named_modules(self, memo: set[int] | None = None, prefix: str = "",
                      remove_duplicate: bool = True) -> Iterator[tuple[str, Module]]:
        """This module and all below it, each once, by dotted name."""
        memo = set() if memo is None else memo
        if id(self) in memo and remove_duplicate:
            return
        memo.add(id(self))
        yield prefix, self
        for name, module in self.named_children():
            yield from module.named_modules(memo, f"{prefix}.{name}" if prefix else name, remove_duplicate)

    def modules(self) -> Iterator[Module]:
        """This module and all below it."""
        return (module for _, module in self.named_modules())

    def own_parameters(self) -> Iterator[tuple[str, Tensor]]:
        """The parameters held directly. In a replica they are copies that lead back to the original's."""
        replaced = self.__dict__.get("_replica_parameters", ())
        for name, value in self.__dict__.items():
            if isinstance(value, Parameter) or (name in replaced and isinstance(value, Tensor)):
                yield name, value

    def own_buffers(self, persistent_only: bool = False) -> Iterator[tuple[str, Tensor]]:
        """The buffers held directly."""
        for name, persistent in self.__dict__.get("_buffer_names", {}).items():
            value = self.__dict__.get(name)
            if value is not None and (persistent or not persistent_only):
                yield name, value

    def _named(self, find: Callable[[Module], Iterator[tuple[str, Tensor]]], prefix: str, recurse: bool,
               remove_duplicate: bool) -> Iterator[tuple[str, Tensor]]:
        seen: set[int] = set()
        modules = self.named_modules(prefix=prefix, remove_duplicate=remove_duplicate) if recurse else [(prefix, self)]
        for path, module in modules:
            for name, value in find(module):
                if id(value) not in seen or not remove_duplicate:
                    seen.add(id(value))
                    yield (f"{path}.{name}" if path else name), value

    def named_parameters(self, prefix: str = "", recurse: bool = True,
                         remove_duplicate: bool = True) -> Iterator[tuple[str, Any]]:
        """All parameters by dotted name, a shared one once."""
        return self._named(lambda module: module.own_parameters(), prefix, recurse, remove_duplicate)

    def parameters(self, recurse: bool = True) -> Iterator[Any]:
        """All parameters, a shared one once."""
        return (value for _, value in self.named_parameters(recurse=recurse))

    def named_buffers(self, prefix: str = "", recurse: bool = True,
                      remove_duplicate: bool = True) -> Iterator[tuple[str, Tensor]]:
        """All buffers by dotted name."""
        return self._named(lambda module: module.own_buffers(), prefix, recurse, remove_duplicate)

    def buffers(self, recurse: bool = True) -> Iterator[Tensor]:
        """All buffers."""
        return (value for _, value in self.named_buffers(recurse=recurse))

    # --- state in and out ---------------------------------------------------------------------------------------------

    def state_dict(self, *, prefix: str = "", keep_vars: bool = False) -> dict[str, Tensor]:
        """Parameters and persistent buffers by dotted name, sharing memory with the module."""
        state: dict[str, Tensor] = OrderedDict()
        for path, module in self.named_modules(remove_duplicate=False):
            for name, value in [*module.own_parameters(), *module.own_buffers(persistent_only=True)]:
                key = prefix + (f"{path}.{name}" if path else name)
                state[key] = value if keep_vars else value.detach()
        return state

    def load_state_dict(self, state_dict: Mapping[str, Any], strict: bool = True,
                        assign: bool = False) -> IncompatibleKeys:
        """Copy values into parameters and buffers by name; RuntimeError, and nothing changed, if any does not fit."""
        if assign:
            raise NotImplementedError("load_state_dict(assign=True) is not implemented")
        own = self.state_dict(keep_vars=True)
        missing = [key for key in own if key not in state_dict]
        unexpected = [key for key in state_dict if key not in own]
        errors = []
        if strict and unexpected:
            errors.append("Unexpected key(s) in state_dict: " + ", ".join(f'"{k}"' for k in unexpected) + ".")
        if strict and missing:
            errors.append("Missing key(s) in state_dict: " + ", ".join(f'"{k}"' for k in missing) + ".")
        values = {}
        for key, value in own.items():
            if key in state_dict:
                given = state_dict[key]
                values[key] = given.array if isinstance(given, Tensor) else np.asarray(given)
                if values[key].shape != value.shape:
                    errors.append(f"size mismatch for {key}: copying a param with shape {list(values[key].shape)} from "
                                  f"checkpoint, the shape in current model is {list(value.shape)}.")
        if errors:
            raise RuntimeError(f"Error(s) in loading state_dict for {type(self).__name__}:\n\t" + "\n\t".join(errors))
        for key, array in values.items():
            np.copyto(own[key].array, array, casting="unsafe")
            shared_counter(own[key]).value += 1
        return IncompatibleKeys(missing, unexpected)

    # --- modes and types ----------------------------------------------------------------------------------------------

    def train(self, mode: bool = True) -> Any:
        """Set training mode here and below. Returns self."""
        if not isinstance(mode, bool):
            raise ValueError("training mode is expected to be boolean")
        for module in self.modules():
            module.training = mode
        return self

    def eval(self) -> Any:
        """Set evaluation mode here and below. Returns self."""
        return self.train(False)

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Forget (or fill with zeros) the gradients of all parameters."""
        for p in self.parameters():
            if set_to_none or p._grad is None:
                p._grad = None
            else:
                p.grad = zeros_like(p)

    def requires_grad_(self, requires_grad: bool = True) -> Any:
        """Set requires_grad of all parameters. Returns self."""
        for p in self.parameters():
            p.requires_grad = requires_grad
        return self

    def apply(self, fn: Callable[[Module], Any]) -> Any:
        """Call fn on every module below and on this one. Returns self."""
        for module in self.children():
            module.apply(fn)
        fn(self)
        return self

    def to(self, *args: Any, dtype: Any = None, device: Any = None, non_blocking: bool = False) -> Any:
        """Cast floating point parameters and buffers; device can only be "cpu". Returns self."""
        for arg in args:
            if isinstance(arg, str) and arg.split(":")[0] in ("cpu", "cuda", "mps"):
                device = arg
            else:
                dtype = arg.dtype if isinstance(arg, Tensor) else arg
        if device is not None and str(device).split(":")[0] != "cpu":
            raise NotImplementedError(f"to(device={device!r}): modules live in the CPU's memory")
        if dtype is not None:
            with no_grad():
                for value in [*self.parameters(), *self.buffers()]:
                    if value.dtype.kind == "f" and value.dtype != np.dtype(dtype):
                        value.data = cast(value, dtype)
                        value._grad = None if value._grad is None else cast(value._grad, dtype)
        return self

    def double(self) -> Any:
        """to(float64)."""
        return self.to(dtype=np.float64)

    def float(self) -> Any:
        """to(float32)."""
        return self.to(dtype=np.float32)

    def cpu(self) -> Any:
        """This module, which is on the CPU already."""
        return self

    def extra_repr(self) -> str:
        """What print() shows between the parentheses."""
        return ""

    def __repr__(self) -> str:
        lines = [f"({name}): {module!r}".replace("\n", "\n  ") for name, module in self.named_children()]
        body = self.extra_repr()
        if not lines:
            return f"{type(self).__name__}({body})"
        return f"{type(self).__name__}({body}\n  " + "\n  ".join(lines) + "\n)"


def copy_module(module: Module) -> Module:
    """A shallow copy: the same parameters, buffers and children in an object of its own."""
    return copy.copy(module)
