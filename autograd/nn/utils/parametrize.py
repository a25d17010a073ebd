"""Parametrizations: a parameter that is computed, each time it is read, from others that the optimizer sees.

The module gets a class of its own, a subclass with a property in the parameter's place; the originals live in
`module.parametrizations.<name>`."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from ...base import docstrings as _docstrings
from ...base.types import DTypeLike
from ...core.modes import no_grad
from ...core.tensor import Parameter, Tensor
from ..module import Module
from ..modules.container import ModuleDict, ModuleList


class _Cache:
    """The tensors computed since the outermost cached() was entered."""

    depth = 0
    values: dict[tuple[int, str], Any]

    def __init__(self) -> None:
        self.values = {}


_cache = _Cache()


@contextmanager
def cached() -> Iterator[None]:
    """Inside, each parametrized tensor is computed once, however often it is read. The values are dropped at the end of the
    outermost block."""
    _cache.depth += 1
    try:
        yield
    finally:
        _cache.depth -= 1
        if not _cache.depth:
            _cache.values.clear()


def _store(module: Module, name: str, tensor: Tensor) -> None:
    """A Parameter as a parameter, any other tensor as a buffer."""
    if isinstance(tensor, Parameter):
        module.register_parameter(name, tensor)
    else:
        module.register_buffer(name, tensor)


class ParametrizationList(ModuleList):
    """The parametrizations of one tensor, first to last, and what the first is applied to: `original`, or `original0`,
    `original1`, ... if its right_inverse gives several tensors. register_parametrization() makes it; calling it computes the
    tensor."""

    def __init__(self, modules: Iterable[Module], original: Tensor, unsafe: bool = False) -> None:
        modules = list(modules)
        if not modules:
            raise ValueError("ParametrizationList requires one or more modules.")
        super().__init__(modules)
        self.unsafe = unsafe
        shape, dtype = original.shape, original.dtype
        with no_grad():
            new: Any = original
            for module in reversed(modules):
                new = _inverted(module, new)
        if not isinstance(new, (Tensor, Sequence)):
            raise ValueError(f"'right_inverse' must return a Tensor or a Sequence of tensors (list, tuple...). Got "
                             f"{type(new).__name__}")
        self.is_tensor: bool = isinstance(new, Tensor)
        self.ntensors: int = 1 if isinstance(new, Tensor) else len(new)
        if isinstance(new, Tensor):
            if new.dtype != dtype:
                raise ValueError("When `right_inverse` outputs one tensor, it may not change the dtype.\noriginal.dtype: "
                                 f"{dtype}\nright_inverse(original).dtype: {new.dtype}")
            _accept(original, new)
            _store(self, "original", original)
        else:
            for number, part in enumerate(new):
                self._store_original(number, part, original)
        if not unsafe:
            _demand_same_form(self(), shape, dtype, "Registering a parametrization")

    def _store_original(self, number: int, part: Any, original: Tensor) -> None:
        if not isinstance(part, Tensor):
            raise ValueError("'right_inverse' must return a Tensor or a Sequence of tensors (list, tuple...). Got element "
                             f"{number} of the sequence with type {type(part).__name__}.")
        if isinstance(original, Parameter):
            part = Parameter(part.detach(), original.requires_grad)
        _store(self, f"original{number}", part)

    def right_inverse(self, value: Tensor) -> None:
        """Set the originals from which `value` is computed."""
        with no_grad():
            new: Any = value
            for module in reversed(list(self)):
                if not hasattr(module, "right_inverse"):
                    raise RuntimeError(f"parametrization {type(module).__name__} does not implement right_inverse.")
                new = module.right_inverse(new)
        if self.is_tensor:
            if not isinstance(new, Tensor):
                raise ValueError(f"`right_inverse` should return a tensor. Got {type(new).__name__}")
        elif not isinstance(new, Sequence):
            raise ValueError(f"'right_inverse' must return a sequence of tensors. Got {type(new).__name__}.")
        elif len(new) != self.ntensors:
            raise ValueError(f"'right_inverse' must return a sequence of tensors of length {self.ntensors}. Got a sequence "
                             f"of length {len(new)}.")
        parts = [new] if self.is_tensor else list(new)
        for name, part in zip(self._names(), parts, strict=True):
            original = getattr(self, name)
            if not isinstance(part, Tensor) or part.dtype != original.dtype:
                got = part.dtype if isinstance(part, Tensor) else type(part).__name__
                raise ValueError(f"The tensor returned by `right_inverse` has dtype {got} while `{name}` has dtype "
                                 f"{original.dtype}")
        for name, part in zip(self._names(), parts, strict=True):
            _accept(getattr(self, name), part)

    def _names(self) -> list[str]:
        return ["original"] if self.is_tensor else [f"original{n}" for n in range(self.ntensors)]

    def forward(self) -> Tensor:
        first, *rest = self
        x = first(*(getattr(self, name) for name in self._names()))
        for module in rest:
            x = module(x)
        return x

    original: Any


def _inverted(module: Module, value: Tensor) -> Tensor:
    """right_inverse(value); the value itself where there is none."""
    if not hasattr(module, "right_inverse"):
        return value
    try:
        return module.right_inverse(value)
    except NotImplementedError:
        return value


def _accept(tensor: Tensor, value: Tensor) -> None:
    """Give a parameter or buffer another value, it itself staying what optimizers hold."""
    if value.array is not tensor.array:
        tensor.data = value.detach()


def _demand_same_form(x: Tensor, shape: Sequence[int], dtype: DTypeLike, what: str) -> None:
    """ValueError unless x is a tensor of this shape and dtype."""
    if not isinstance(x, Tensor):
        raise ValueError(f"A parametrization must return a tensor. Got {type(x).__name__}.")
    if x.dtype != dtype:
        raise ValueError(f"{what} may not change the dtype of the tensor, unless `unsafe` flag is enabled.\nunparametrized "
                         f"dtype: {dtype}\nparametrized dtype: {x.dtype}")
    if x.shape != shape:
        raise ValueError(f"{what} may not change the shape of the tensor, unless `unsafe` flag is enabled.\nunparametrized "
                         f"shape: {shape}\nparametrized shape: {x.shape}")


# --- the class of a parametrized module -------------------------------------------------------------------------------

def _no_pickling(module: Any) -> Any:
    raise RuntimeError("Serialization of parametrized modules is only supported through state_dict()")


def _deepcopy(module: Any, memo: dict[int, Any]) -> Any:
    twin = memo[id(module)] = object.__new__(type(module))
    twin.__dict__ = copy.deepcopy(module.__dict__, memo)
    return twin


def _parametrized_class(module: Module) -> None:
    """Give the module a subclass of its class, which can hold properties."""
    cls = type(module)
    held: dict[str, Any] = {"__getstate__": _no_pickling, "__module__": cls.__module__}
    if not hasattr(cls, "__deepcopy__"):
        held["__deepcopy__"] = _deepcopy
    module.__class__ = type(f"Parametrized{cls.__name__}", (cls,), held)


def _property(name: str) -> property:
    """Computes the tensor, or looks it up inside cached(); assigning goes through right_inverse."""
    def get(module: Module) -> Tensor:
        parametrization = module.parametrizations[name]
        if not _cache.depth:
            return parametrization()
        key = (id(module), name)
        if key not in _cache.values:
            _cache.values[key] = parametrization()
        return _cache.values[key]

    def setter(module: Any, value: Any) -> None:
        module.parametrizations[name].right_inverse(value)

    return property(get, setter)


# --- what users call --------------------------------------------------------------------------------------------------

def register_parametrization(module: Module, tensor_name: str, parametrization: Module, *, unsafe: bool = False) -> Any:
    """module.<tensor_name> becomes parametrization(<what it was>), on top of earlier parametrizations. What is trained is
    the original, module.parametrizations.<tensor_name>.original.

    right_inverse of the parametrization, if it has one, gives the original for a wanted value: for the present one now, and
    for those that are assigned to module.<tensor_name> later."""
    parametrization.train(module.training)
    if is_parametrized(module, tensor_name):
        if not unsafe:
            _check_another(module, tensor_name, parametrization)
        module.parametrizations[tensor_name].append(parametrization)
        module.parametrizations[tensor_name].unsafe |= unsafe
    elif tensor_name in module._buffers or tensor_name in module._parameters:
        parametrizations = ParametrizationList([parametrization], getattr(module, tensor_name), unsafe)
        held = module._buffers if tensor_name in module._buffers else module._parameters
        del held[tensor_name]
        if not is_parametrized(module):
            _parametrized_class(module)
            module.parametrizations = ModuleDict()
        setattr(type(module), tensor_name, _property(tensor_name))
        module.parametrizations[tensor_name] = parametrizations
    else:
        raise ValueError(f"Module '{module}' does not have a parameter, a buffer, or a parametrized element with name "
                         f"'{tensor_name}'")
    return module


def _check_another(module: Any, name: str, parametrization: Any) -> None:
    """ValueError if a further parametrization changes dtype or shape, there or back."""
    y = getattr(module, name)
    x = parametrization(y)
    _demand_same_form(x, y.shape, y.dtype, "Registering a parametrization")
    back = _inverted(parametrization, x)
    if not isinstance(back, Tensor):
        raise ValueError(f"parametrization.right_inverse must return a tensor. Got: {type(back).__name__}")
    _demand_same_form(back, y.shape, y.dtype, "The right_inverse of a parametrization")


def is_parametrized(module: Module, tensor_name: str | None = None) -> bool:
    """Whether the module has a parametrization, or one of the named tensor."""
    held = getattr(module, "parametrizations", None)
    if not isinstance(held, ModuleDict):
        return False
    return len(held) > 0 if tensor_name is None else tensor_name in held


def remove_parametrizations(module: Any, tensor_name: str, leave_parametrized: bool = True) -> Any:
    """Remove the parametrizations of a tensor, which becomes an ordinary one again."""
    if not is_parametrized(module, tensor_name):
        raise ValueError(f"Module {module} does not have a parametrization on {tensor_name}")
    parametrizations = module.parametrizations[tensor_name]
    if parametrizations.is_tensor:
        original = parametrizations.original
        if leave_parametrized:
            with no_grad():
                _accept(original, getattr(module, tensor_name))
    elif leave_parametrized:
        value = getattr(module, tensor_name)
        original = Parameter(value.detach()) if value.requires_grad else value
    else:
        raise ValueError("Cannot leave unparametrized (`leave_parametrized=False`) a tensor that is parametrized in terms "
                         "of a sequence of tensors.")
    delattr(type(module), tensor_name)
    del module.parametrizations[tensor_name]
    _store(module, tensor_name, original)
    if not is_parametrized(module):
        del module._modules["parametrizations"]
        module.__class__ = type(module).__bases__[0]
    return module


def type_before_parametrizations(module: Any) -> type:
    """The class of a module before parametrization."""
    return type(module).__bases__[0] if is_parametrized(module) else type(module)


def transfer_parametrizations_and_params(from_module: Any, to_module: Any, tensor_name: str | None = None) -> Any:
    """Transfer parametrizations and original tensors to another module.

    Both modules then share the originals; a tensor that to_module lacks is created."""
    if is_parametrized(from_module):
        for name in list(from_module.parametrizations) if tensor_name is None else [tensor_name]:
            given = from_module.parametrizations[name]
            if not hasattr(to_module, name):
                setattr(to_module, name, Parameter(getattr(from_module, name).detach()))
            for parametrization in given:
                register_parametrization(to_module, name, parametrization)
            for part in given._names():
                setattr(to_module.parametrizations[name], part, getattr(given, part))
    return to_module


__all__ = ["ParametrizationList", "cached", "is_parametrized", "register_parametrization", "remove_parametrizations",
           "transfer_parametrizations_and_params", "type_before_parametrizations"]

_docstrings.complete(globals(), "nn_utils", "nn.utils.parametrize.")
