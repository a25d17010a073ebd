"""Module: a plain object whose attributes are parameters, buffers and other modules, found by walking them in order.

Attributes stay where Python keeps them: reading `self.weight` costs what any attribute costs, and there is one list of
what a module holds, its __dict__. `_parameters`, `_buffers` and `_modules` are views of it, for code that knows PyTorch's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from ..base.dtypes import bfloat16
from ..base.types import DeviceLike, DTypeLike, MemoryFormat
from ..core.modes import no_grad
from ..core.primitive import primitive
from ..core.tensor import Parameter, Tensor
from ..ops.creation.fill import empty_like, zeros_like
from ..ops.pointwise.cast import cast
from .extra_repr import format_attributes
from .module_hooks import Hooked, of_all_modules
from .notebook import html_of
from .parameter import is_lazy
from .registry import Buffer, Members
from .state import IncompatibleKeys, Stateful

if TYPE_CHECKING:
    from typing_extensions import Self

KINDS = ("parameter", "buffer", "module")            # of what a module holds


class Module(Hooked, Stateful):
    """Base class of all layers and models: assign parameters and modules as attributes, and implement forward()."""

    training: bool = True
    call_super_init: bool = False
    _shown = ""                                      # the attributes that extra_repr() shows; "inplace?": if it is True

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        """No effect: members are ordinary attributes. With the class attribute call_super_init the next class of the MRO
        receives the arguments; otherwise arguments are a TypeError.
        """
        if self.call_super_init:
            super().__init__(*args, **kwargs)
        elif args or kwargs:
            what = f"an unexpected keyword argument {next(iter(kwargs))!r}" if kwargs else (
                f"{len(args) + 1} positional arguments where 1 is taken")
            raise TypeError(f"{type(self).__name__}.__init__() got {what}")

    def __setattr__(self, name: str, value: Any) -> None:
        """Set any attribute. A parameter, module or buffer can be replaced by another one, or by None."""
        held = self.__dict__
        if isinstance(value, (Parameter, Hooked)):
            value = of_all_modules.added("parameter" if isinstance(value, Parameter) else "module", self, name, value)
            if "_buffer_names" in held:
                held["_buffer_names"].pop(name, None)
        elif value is not None and name in held:
            before = held[name]
            kind = ("parameter" if isinstance(before, Parameter) else "child module" if isinstance(before, Module)
                    else "buffer" if name in held.get("_buffer_names", ()) and not isinstance(value, Tensor) else None)
            if kind is not None:
                raise TypeError(f"cannot assign {type(value).__name__!r} object as {kind} '{name}' (a {kind} or None "
                                f"expected)")
        if isinstance(value, Buffer):
            self._check_name("buffer", name, self._buffers)
            held.setdefault("_buffer_names", {})[name] = value.persistent
        if name in held.get("_buffer_names", ()):
            value = of_all_modules.added("buffer", self, name, value)
        object.__setattr__(self, name, value)

    def __getattr__(self, name: str) -> Any:
        """The member of this name. Python calls this for attributes that it did not find, subclasses by
        super().__getattr__."""
        if not isinstance(name, str) or not any(name in Members(self, kind) for kind in KINDS):
            if hasattr(type(self), name):            # a property that raised AttributeError: its own error
                return object.__getattribute__(self, name)
            raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'", name=name, obj=self)
        return self.__dict__[name]

    def __dir__(self) -> list[str]:
        return [name for name in super().__dir__() if not name[0].isdigit()]     # those of a Sequential are no attributes

    # --- what it holds ----------------------------------------------------------------------------------------------

    def _check_name(self, kind: str, name: str, known: Any) -> None:
        """KeyError or TypeError if a parameter, buffer or module cannot have this name."""
        if not isinstance(name, str):
            raise TypeError(f"{kind} name should be a string. Got {type(name).__name__}")
        if "." in name:
            raise KeyError(f'{kind} name can\'t contain "."; got {name!r}')
        if not name:
            raise KeyError(f'{kind} name can\'t be empty string ""')
        if hasattr(self, name) and name not in known:
            raise KeyError(f"attribute {name!r} already exists")

    def register_buffer(self, name: str, tensor: Tensor | None, persistent: bool = True) -> None:
        """Add a tensor that is not a parameter, but part of the state.

        Args:
            name (str): New name, without dots.
            tensor (Tensor): Buffer; None only reserves the name.
            persistent (bool): If True, state_dict() includes it. Default: True.

        Raises:
            TypeError: `tensor` is neither a Tensor nor None, or `name` is not a str.
            KeyError: The name is taken, empty, or contains a dot.
        """
        self._check_name("buffer", name, self._buffers)
        if tensor is not None and not isinstance(tensor, Tensor):
            raise TypeError(f"cannot assign '{type(tensor).__name__}' object to buffer '{name}' (Tensor or None required)")
        self.__dict__.setdefault("_buffer_names", {})[name] = persistent
        self.__dict__[name] = of_all_modules.added("buffer", self, name, tensor)

    def register_parameter(self, name: str, param: Parameter | None) -> None:
        """Add a parameter, like assigning the attribute.

        Args:
            name (str): New name, without dots.
            param (Parameter): Parameter; None only reserves the name.

        Raises:
            TypeError: `param` is neither a Parameter nor None, or `name` is not a str.
            KeyError: The name is taken, empty, or contains a dot.

        Example:
            >>> layer = ag.nn.Linear(2, 2)
            >>> layer.register_parameter("scale", ag.nn.Parameter(ag.ones(2)))
            >>> layer.scale.tolist()
            [1.0, 1.0]
        """
        self._check_name("parameter", name, self._parameters)
        if param is not None and not isinstance(param, Parameter):
            raise TypeError(f"cannot assign '{type(param).__name__}' object to parameter '{name}' (Parameter or None "
                            "required)")
        if param is None:
            self.__dict__.setdefault("_none", {})[name] = "parameter"
        setattr(self, name, param)

    def add_module(self, name: str, module: Module | None) -> None:
        """Add a submodule, like assigning the attribute; the name may be a number.

        Args:
            name (str): New name, without dots.
            module (Module): Submodule; None only reserves the name.

        Raises:
            TypeError: `module` is neither a Module nor None, or `name` is not a str.
            KeyError: The name is taken, empty, or contains a dot.
        """
        self._check_name("module", name, self._modules)
        if module is not None and not isinstance(module, Module):
            kind = type(module)
            raise TypeError(f"{'' if kind.__module__ == 'builtins' else kind.__module__ + '.'}{kind.__qualname__} is not a "
                            "Module subclass")
        if module is None:
            self.__dict__.setdefault("_none", {})[name] = "module"
        setattr(self, name, module)

    register_module = add_module

    @property
    def _parameters(self) -> Members:
        return Members(self, "parameter")

    @property
    def _buffers(self) -> Members:
        return Members(self, "buffer")

    @property
    def _modules(self) -> Members:
        return Members(self, "module")

    def get_submodule(self, target: str) -> Module:
        """The submodule with a dotted name; "" is this module.

        Args:
            target (str): Dotted name, as from named_modules().

        Raises:
            AttributeError: There is no such attribute, or it is not a module.
        """
        module: Any = self
        for name in target.split(".") if target else ():
            if not hasattr(module, name):
                raise AttributeError(f"{type(module).__name__} has no attribute `{name}`")
            module = getattr(module, name)
            if not isinstance(module, Module):
                raise AttributeError(f"`{name}` is not an nn.Module")
        return module                                # type: ignore[no-any-return]

    def set_submodule(self, target: str, module: Module, strict: bool = False) -> None:
        """Set the submodule with a dotted name.

        Args:
            target (str): Dotted name.
            module (Module): New submodule.
            strict (bool): If True, replaces an existing one only. Default: False.

        Raises:
            ValueError: `target` is empty.
            AttributeError: A module on the path is missing, or the submodule is, and `strict` is True.
        """
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
        if name not in Members(parent, kind):
            raise AttributeError(f"`{name}` is not a {kind}")
        return getattr(parent, name)

    def get_parameter(self, target: str) -> Parameter:
        """The parameter with a dotted name.

        Args:
            target (str): Dotted name.

        Raises:
            AttributeError: There is no such parameter.
        """
        return self._get_leaf(target, "parameter")   # type: ignore[no-any-return]

    def get_buffer(self, target: str) -> Tensor:
        """The buffer with a dotted name.

        Args:
            target (str): Dotted name.

        Raises:
            AttributeError: There is no such buffer.
        """
        return self._get_leaf(target, "buffer")      # type: ignore[no-any-return]

    def direct_modules(self) -> Iterator[tuple[str, Module]]:
        """The direct submodules by attribute name; shared ones under each name."""
        for name, value in list(self.__dict__.items()):
            if isinstance(value, Module):
                yield name, value

    def named_children(self) -> Iterator[tuple[str, Module]]:
        """The direct submodules, each once, by attribute name."""
        seen: set[Module] = set()
        for name, module in self.direct_modules():
            if module not in seen:
                seen.add(module)
                yield name, module

    def children(self) -> Iterator[Module]:
        """The direct submodules, each once."""
        return (module for _, module in self.named_children())

    def named_modules(self, memo: set[Any] | None = None, prefix: str = "",
                      remove_duplicate: bool = True) -> Iterator[tuple[str, Module]]:
        """This module and all submodules by dotted name.

        Args:
            memo (set): Modules to skip.
            prefix (str): Name of this module. Default: ''.
            remove_duplicate (bool): If True, yields shared ones once. Default: True.
        """
        memo = set() if memo is None else memo
        if self in memo:
            return
        if remove_duplicate:
            memo.add(self)
        yield prefix, self
        for name, module in self.direct_modules():
            yield from module.named_modules(memo, f"{prefix}.{name}" if prefix else name, remove_duplicate)

    def modules(self) -> Iterator[Module]:
        """This module and all below it."""
        return (module for _, module in self.named_modules())

    def direct_parameters(self) -> Iterator[tuple[str, Tensor]]:
        """The direct parameters. In a replica they are copies whose graph leads back to the original's."""
        replaced = self.__dict__.get("_replica_parameters", ())
        for name, value in self.__dict__.items():
            if isinstance(value, Parameter) or (name in replaced and isinstance(value, Tensor)):
                yield name, value

    def direct_buffers(self, persistent_only: bool = False) -> Iterator[tuple[str, Tensor]]:
        """The buffers of this module itself."""
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
        """All parameters by dotted name.

        Args:
            prefix (str): Prefix of the names. Default: ''.
            recurse (bool): If True, includes submodules. Default: True.
            remove_duplicate (bool): If True, yields shared ones once. Default: True.
        """
        return self._named(lambda module: module.direct_parameters(), prefix, recurse, remove_duplicate)

    def parameters(self, recurse: bool = True) -> Iterator[Parameter]:
        """All parameters, shared ones once.

        Args:
            recurse (bool): If True, includes submodules. Default: True.
        """
        return (value for _, value in self.named_parameters(recurse=recurse))

    def named_buffers(self, prefix: str = "", recurse: bool = True,
                      remove_duplicate: bool = True) -> Iterator[tuple[str, Tensor]]:
        """All buffers by dotted name.

        Args:
            prefix (str): Prefix of the names. Default: ''.
            recurse (bool): If True, includes submodules. Default: True.
            remove_duplicate (bool): If True, yields shared ones once. Default: True.
        """
        return self._named(lambda module: module.direct_buffers(), prefix, recurse, remove_duplicate)

    def buffers(self, recurse: bool = True) -> Iterator[Tensor]:
        """All buffers.

        Args:
            recurse (bool): If True, includes submodules. Default: True.
        """
        return (value for _, value in self.named_buffers(recurse=recurse))

    def _held_arrays(self) -> Iterator[tuple[str, str, Any]]:
        """What its own tensors are for, for memory_summary()."""
        yield from (("parameters", "", p) for _, p in self.direct_parameters())
        yield from (("buffers", "", buffer) for _, buffer in self.direct_buffers())

    # --- modes and types ----------------------------------------------------------------------------------------------

    def train(self, mode: bool = True) -> Self:
        """Set training mode of this module and its submodules. Returns self.

        Args:
            mode (bool): True for training, False for evaluation. Default: True.

        Raises:
            ValueError: `mode` is not a bool.
        """
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
        """Reset the gradients of all parameters.

        Args:
            set_to_none (bool): If True, sets .grad to None instead of zeros. Default: True.
        """
        for p in self.parameters():
            if set_to_none or p._grad is None:
                p._grad = None
            else:
                p.grad = zeros_like(p)

    def requires_grad_(self, requires_grad: bool = True) -> Self:
        """Set requires_grad of all parameters. Returns self.

        Args:
            requires_grad (bool): New value. Default: True.
        """
        for p in self.parameters():
            p.requires_grad = requires_grad
        return self

    def apply(self, fn: Callable[[Module], Any]) -> Self:
        """Call fn on every submodule and on this module. Returns self.

        Args:
            fn (callable): Function of a module; its result is ignored.

        Example:
            >>> net = ag.nn.Sequential(ag.nn.Linear(2, 1), ag.nn.ReLU())
            >>> _ = net.apply(lambda module: print(type(module).__name__))
            Linear
            ReLU
            Sequential
        """
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
        """Give all parameters and buffers uninitialized memory. Returns self.

        Args:
            device (device): Only the CPU.
            recurse (bool): If True, includes submodules. Default: True.

        Example:
            >>> ag.nn.Linear(2, 1).to_empty(device="cpu").weight.shape
            Size([1, 2])
        """
        return self._apply(lambda t: empty_like(t, device=device), recurse)

    def compile(self, *args: Any, **kwargs: Any) -> None:
        """No effect, like autograd.compile().

        Args:
            *args, **kwargs: No effect.

        Example:
            >>> ag.nn.Linear(2, 1).compile()
        """

    def to(self, *args: Any, dtype: DTypeLike = None, device: DeviceLike = None, non_blocking: bool = False,
           copy: bool | None = None, memory_format: MemoryFormat | None = None) -> Self:
        """Cast floating point and complex parameters and buffers, in place. Returns self.

        As in PyTorch a real dtype drops imaginary parts; double(), float() and half() leave complex tensors unchanged.

        Args:
            dtype (dtype): Floating point or complex dtype.
            device (device): Only the CPU.
            non_blocking (bool): No effect. Default: False.
            copy (bool): Not accepted.
            memory_format (memory_format): Memory format of parameters and buffers of 4 or 5 dimensions.

        Raises:
            RuntimeError: `copy` is given: to() changes the module in place.
            TypeError: The arguments are not (device, dtype), (dtype) or (tensor), or the dtype is an integer or bool.
            NotImplementedError: `device` is not the CPU.

        Example:
            >>> ag.nn.Linear(1, 1).to(ag.float64).weight.dtype
            torch.float64
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
        """Cast all parameters and buffers. Returns self.

        Args:
            dst_type (dtype): New dtype.

        Example:
            >>> ag.nn.Linear(1, 1).type(ag.float64).weight.dtype
            torch.float64
        """
        return self._apply(lambda t: cast(t, dst_type))

    def _floating(self, dtype: DTypeLike) -> Self:
        return self._apply(lambda t: cast(t, dtype) if t.array.dtype.kind in "fV" else t)

    def double(self) -> Self:
        """Cast floating point parameters and buffers to float64; complex ones stay. Returns self."""
        return self._floating(np.float64)

    def float(self) -> Self:
        """Cast floating point parameters and buffers to float32; complex ones stay. Returns self.

        Example:
            >>> ag.nn.Linear(1, 1, dtype=ag.float64).float().weight.dtype
            torch.float32
        """
        return self._floating(np.float32)

    def half(self) -> Self:
        """Cast floating point parameters and buffers to float16; complex ones stay. Returns self.

        Example:
            >>> ag.nn.Linear(1, 1).half().weight.dtype
            torch.float16
        """
        return self._floating(np.float16)

    def bfloat16(self) -> Self:
        """Cast floating point parameters and buffers to bfloat16; complex ones stay. Returns self.

        Example:
            >>> ag.nn.Linear(1, 1).bfloat16().weight.dtype
            torch.bfloat16
        """
        return self._floating(bfloat16())

    def cpu(self) -> Self:
        """Return self: modules are always on the CPU.

        Example:
            >>> ag.nn.Linear(1, 1).cpu()
            Linear(in_features=1, out_features=1, bias=True)
        """
        return self

    def cuda(self, device: DeviceLike = None) -> Self:
        """Not implemented: there is no other device.

        Args:
            device (device): Ignored.

        Raises:
            NotImplementedError: Always.

        Example:
            >>> ag.nn.Linear(1, 1).cuda()
            Traceback (most recent call last):
            NotImplementedError: ...
        """
        raise NotImplementedError("cuda(): modules live in the CPU's memory")

    def _get_name(self) -> str:
        """The name that print() shows."""
        return type(self).__name__

    def extra_repr(self) -> str:
        """The text between the parentheses of repr().

        Example:
            >>> ag.nn.Linear(2, 3).extra_repr()
            'in_features=2, out_features=3, bias=True'
        """
        return format_attributes(self, self._shown)

    def __repr__(self) -> str:
        extra = self.extra_repr()
        lines = [f"({name}): {module!r}".replace("\n", "\n  ") for name, module in self.direct_modules()]
        name = self._get_name()
        if not lines and "\n" not in extra:
            return f"{name}({extra})"
        lines = [*(extra.split("\n") if extra else []), *lines]
        return f"{name}(\n  " + "\n  ".join(lines) + "\n)"

    def _repr_html_(self) -> str:
        return html_of(self)


__all__ = ["IncompatibleKeys", "Module"]
