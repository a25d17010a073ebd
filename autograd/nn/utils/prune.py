"""Pruning: <name>_orig * <name>_mask replaces the parameter <name> before every forward.

A pruning method computes the mask of zeros and ones. A PruningContainer holds several methods of one parameter; each prunes
what the previous ones left. remove() makes the product the parameter again."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from numbers import Integral, Real
from typing import Any

from ...base import docstrings as _docstrings
from ...core.tensor import Parameter, Tensor
from ...ops.creation.fill import ones_like, zeros_like
from ...ops.index import index_put
from ...ops.linalg.norms import norm
from ...ops.pointwise.sign import abs
from ...ops.random.draw import rand, rand_like
from ...ops.reductions.sorting import kthvalue, topk
from ..module import Module
from .convert_parameters import parameters_to_vector


class BasePruningMethod(ABC):
    """Base of pruning methods: a forward pre-hook that applies a mask.

    Subclasses implement compute_mask(). PRUNING_TYPE selects what it receives after other methods: the remaining elements as
    a vector ("unstructured"), the channels along `dim` that are not all zero ("structured"), or everything ("global")."""

    PRUNING_TYPE: str
    _tensor_name: str | None = None

    def __call__(self, module: Module, inputs: Any) -> None:
        """Before a forward: compute the pruned tensor from <name>_orig and the mask."""
        setattr(module, str(self._tensor_name), self.apply_mask(module))

    @abstractmethod
    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """Compute the mask; zeros of `default_mask` must stay."""

    def apply_mask(self, module: Module) -> Tensor:
        """Compute <name>_orig * <name>_mask."""
        if self._tensor_name is None:
            raise AssertionError(f"Module {module} has to be pruned")
        mask, orig = (getattr(module, self._tensor_name + end) for end in ("_mask", "_orig"))
        return mask.to(dtype=orig.dtype) * orig      # type: ignore[no-any-return]

    @classmethod
    def apply(cls, module: Module, name: str, *args: Any, importance_scores: Tensor | None = None,
              **kwargs: Any) -> BasePruningMethod:
        """Prune a parameter, or prune it further."""
        method: BasePruningMethod = cls(*args, **kwargs)
        method._tensor_name = name
        before = [(number, hook) for number, hook in _pruning_hooks(module) if hook._tensor_name == name]
        if len(before) > 1:
            raise AssertionError(f"Avoid adding multiple pruning hooks to the same tensor {name} of module {module}. Use a "
                                 "PruningContainer.")
        for number, hook in before:
            container = hook if isinstance(hook, PruningContainer) else PruningContainer(hook)
            container.add_pruning_method(method)
            method = container
            del module._forward_pre_hooks[number]
        orig = getattr(module, name)
        if importance_scores is not None and importance_scores.shape != orig.shape:
            raise AssertionError(f"importance_scores should have the same shape as parameter {name} of {module}, got "
                                 f"{importance_scores.shape} vs {orig.shape}")
        if before:
            default_mask = getattr(module, name + "_mask").detach().clone()
        else:
            module.register_parameter(name + "_orig", orig)
            del module._parameters[name]
            default_mask = ones_like(orig)
        try:
            scores = orig if importance_scores is None else importance_scores
            module.register_buffer(name + "_mask", method.compute_mask(scores, default_mask=default_mask))
            setattr(module, name, method.apply_mask(module))
            module.register_forward_pre_hook(method)
        except Exception:
            if not before:                           # the module as it was
                del module._parameters[name + "_orig"]
                module.register_parameter(name, orig)
            raise
        return method

    def prune(self, t: Tensor, default_mask: Tensor | None = None, importance_scores: Tensor | None = None) -> Tensor:
        """Prune a tensor, without a module."""
        if importance_scores is not None and importance_scores.shape != t.shape:
            raise AssertionError("importance_scores should have the same shape as tensor t, got "
                                 f"{importance_scores.shape} vs {t.shape}")
        scores = t if importance_scores is None else importance_scores
        return t * self.compute_mask(scores, default_mask=ones_like(t) if default_mask is None else default_mask)

    def remove(self, module: Module) -> None:
        """Make the pruned tensor the parameter again, the same object as before; its zeros stay."""
        name = self._tensor_name
        if name is None:
            raise AssertionError(f"Module {module} has to be pruned before pruning can be removed")
        weight = self.apply_mask(module)
        if hasattr(module, name):
            delattr(module, name)
        orig: Parameter = module._parameters[name + "_orig"]
        orig.data = weight.data
        del module._parameters[name + "_orig"], module._buffers[name + "_mask"]
        setattr(module, name, orig)


class PruningContainer(BasePruningMethod):
    """The pruning methods of one parameter, in order; applying a second method creates a container."""

    def __init__(self, *args: BasePruningMethod) -> None:
        self._pruning_methods: tuple[BasePruningMethod, ...] = ()
        if len(args) == 1:
            self._tensor_name = args[0]._tensor_name
        for method in args:
            self.add_pruning_method(method)

    def add_pruning_method(self, method: Any) -> None:
        """Append a method."""
        if not isinstance(method, BasePruningMethod):
            raise TypeError(f"{type(method)} is not a BasePruningMethod subclass")
        if self._tensor_name != method._tensor_name:
            raise ValueError(f"Can only add pruning methods acting on the parameter named '{self._tensor_name}' to "
                             f"PruningContainer {self}. Found '{method._tensor_name}'")
        self._pruning_methods += (method,)

    def __len__(self) -> int:
        return len(self._pruning_methods)

    def __iter__(self) -> Iterator[BasePruningMethod]:
        return iter(self._pruning_methods)

    def __getitem__(self, idx: Any) -> Any:
        return self._pruning_methods[idx]

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """Combine the mask so far with that of the last method, which receives the part of t that its PRUNING_TYPE selects.
        """
        method: Any = self._pruning_methods[-1]
        if method.PRUNING_TYPE == "unstructured":
            part: Any = default_mask == 1
        elif method.PRUNING_TYPE == "structured":
            if not hasattr(method, "dim"):
                raise AttributeError('Pruning methods of PRUNING_TYPE "structured" need to have the attribute `dim` '
                                     "defined.")
            dim = method.dim if method.dim >= 0 else t.ndim + method.dim
            if dim < 0:
                raise IndexError(f"Index is out of bounds for tensor with dimensions {t.ndim}")
            part = _channels(t, dim, default_mask.sum(dim=[d for d in range(t.ndim) if d != dim]) != 0)
        elif method.PRUNING_TYPE == "global":
            part = (slice(None),) * t.ndim
        else:
            raise ValueError(f"Unrecognized PRUNING_TYPE {method.PRUNING_TYPE}")
        mask: Tensor = default_mask.to(dtype=t.dtype, copy=True)
        mask[part] = method.compute_mask(t[part], default_mask=default_mask[part]).to(dtype=t.dtype)
        return mask


class Identity(BasePruningMethod):
    """Prune nothing, but create <name>_orig and a mask of ones."""

    PRUNING_TYPE: str = "unstructured"

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """The mask so far, unchanged."""
        return default_mask

    @classmethod
    def apply(cls, module: Module, name: str) -> BasePruningMethod:  # type: ignore[override]
        """Give a parameter a mask of ones: see BasePruningMethod.apply()."""
        return super().apply(module, name)


class _Unstructured(BasePruningMethod):
    """Base of methods that prune single elements."""

    PRUNING_TYPE: str = "unstructured"

    def __init__(self, amount: float) -> None:
        _validate_pruning_amount_init(amount)
        self.amount = amount


class RandomUnstructured(_Unstructured):
    """Prune random elements."""

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """Zero random elements. ValueError if `amount` exceeds the number of elements."""
        return _without(default_mask, rand_like(t), _number(self.amount, t.numel()), largest=True)

    @classmethod
    def apply(cls, module: Module, name: str, amount: float) -> BasePruningMethod:  # type: ignore[override]
        """Prune random elements of a parameter: see BasePruningMethod.apply()."""
        return super().apply(module, name, amount=amount)


class L1Unstructured(_Unstructured):
    """Prune the elements with the smallest absolute values."""

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """Zero the smallest absolute values. ValueError if `amount` exceeds the number of elements."""
        return _without(default_mask, abs(t), _number(self.amount, t.numel()), largest=False)

    @classmethod
    def apply(cls, module: Module, name: str, amount: float,  # type: ignore[override]
              importance_scores: Tensor | None = None) -> BasePruningMethod:
        """Prune the elements with the smallest absolute values: see BasePruningMethod.apply()."""
        return super().apply(module, name, amount=amount, importance_scores=importance_scores)


class RandomStructured(BasePruningMethod):
    """Prune random channels along `dim`."""

    PRUNING_TYPE: str = "structured"

    def __init__(self, amount: float, dim: int = -1) -> None:
        _validate_pruning_amount_init(amount)
        self.amount: float = amount
        self.dim: int = dim

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """Zero random channels."""
        _validate_structured_pruning(t)
        _validate_pruning_dim(t, self.dim)
        channels = t.shape[self.dim]
        number = _number(self.amount, channels)
        if number == 0:
            return default_mask
        drawn = rand(channels)
        return _only(default_mask, t, self.dim, drawn > kthvalue(drawn, k=number).values)

    @classmethod
    def apply(cls, module: Module, name: str, amount: float, dim: int = -1) -> BasePruningMethod:  # type: ignore[override]
        """Prune random channels of a parameter: see BasePruningMethod.apply()."""
        return super().apply(module, name, amount=amount, dim=dim)


class LnStructured(BasePruningMethod):
    """Prune the channels along `dim` with the smallest norms."""

    PRUNING_TYPE: str = "structured"

    def __init__(self, amount: float, n: Any, dim: int = -1) -> None:
        _validate_pruning_amount_init(amount)
        self.amount: float = amount
        self.n: float = n
        self.dim: int = dim

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """Zero the channels with the smallest norms."""
        _validate_structured_pruning(t)
        _validate_pruning_dim(t, self.dim)
        channels = t.shape[self.dim]
        number = _number(self.amount, channels)
        if number == 0:
            return default_mask
        return _only(default_mask, t, self.dim, topk(_compute_norm(t, self.n, self.dim), k=channels - number).indices)

    @classmethod
    def apply(cls, module: Module, name: str, amount: float, n: Any, dim: int,  # type: ignore[override]
              importance_scores: Tensor | None = None) -> BasePruningMethod:
        """Prune the channels of a parameter with the smallest norms: see BasePruningMethod.apply()."""
        return super().apply(module, name, amount=amount, n=n, dim=dim, importance_scores=importance_scores)


class CustomFromMask(BasePruningMethod):
    """Prune by a given mask."""

    PRUNING_TYPE: str = "global"

    def __init__(self, mask: Tensor) -> None:
        self.mask = mask

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """Multiply the mask so far by the given one."""
        if default_mask.shape != self.mask.shape:
            raise AssertionError(f"default_mask shape {default_mask.shape} must match self.mask shape {self.mask.shape}")
        return default_mask * self.mask.to(dtype=default_mask.dtype)

    @classmethod
    def apply(cls, module: Module, name: str, mask: Tensor) -> BasePruningMethod:  # type: ignore[override]
        """Prune a parameter by the mask: see BasePruningMethod.apply()."""
        return super().apply(module, name, mask=mask)


# --- on a module ------------------------------------------------------------------------------------------------------

def identity(module: Any, name: str) -> Any:
    """Give a parameter a mask of ones, which prunes nothing."""
    Identity.apply(module, name)
    return module


def random_unstructured(module: Any, name: str, amount: float) -> Any:
    """Prune random elements of a parameter."""
    RandomUnstructured.apply(module, name, amount)
    return module


def l1_unstructured(module: Any, name: str, amount: float, importance_scores: Tensor | None = None) -> Any:
    """Prune the elements of a parameter with the smallest absolute values."""
    L1Unstructured.apply(module, name, amount=amount, importance_scores=importance_scores)
    return module


def random_structured(module: Any, name: str, amount: float, dim: int) -> Any:
    """Prune random channels of a parameter along `dim`."""
    RandomStructured.apply(module, name, amount, dim)
    return module


def ln_structured(module: Any, name: str, amount: float, n: Any, dim: int, importance_scores: Tensor | None = None) -> Any:
    """Prune the channels of a parameter along `dim` with the smallest Ln norms."""
    LnStructured.apply(module, name, amount, n, dim, importance_scores=importance_scores)
    return module


def global_unstructured(parameters: Any, pruning_method: Any, importance_scores: Any = None, **kwargs: Any) -> None:
    """Prune several parameters together, as if they were one vector."""
    if not isinstance(parameters, Iterable):
        raise TypeError("global_unstructured(): parameters is not an Iterable")
    importance_scores = {} if importance_scores is None else importance_scores
    if not isinstance(importance_scores, dict):
        raise TypeError("global_unstructured(): importance_scores must be of type dict")
    parameters = list(parameters)
    scores = parameters_to_vector([importance_scores.get((module, name), getattr(module, name))
                                   for module, name in parameters])
    before = parameters_to_vector([getattr(module, name + "_mask", ones_like(getattr(module, name)))
                                   for module, name in parameters])
    method = pruning_method(**kwargs)
    if method.PRUNING_TYPE != "unstructured":
        raise TypeError(f'Only "unstructured" PRUNING_TYPE supported for the `pruning_method`. Found method '
                        f"{pruning_method} of type {method.PRUNING_TYPE}")
    mask = PruningContainer(method).compute_mask(scores, before)
    start = 0
    for module, name in parameters:
        param = getattr(module, name)
        custom_from_mask(module, name, mask=mask[start:start + param.numel()].view_as(param))
        start += param.numel()


def custom_from_mask(module: Any, name: str, mask: Tensor) -> Any:
    """Prune a parameter by a given mask."""
    CustomFromMask.apply(module, name, mask)
    return module


def remove(module: Any, name: str) -> Any:
    """Make the pruned tensor the parameter again, the same object as before; its zeros stay and can be trained."""
    for number, hook in _pruning_hooks(module):
        if hook._tensor_name == name:
            hook.remove(module)
            del module._forward_pre_hooks[number]
            return module
    raise ValueError(f"Parameter '{name}' of module {module} has to be pruned before pruning can be removed")


def is_pruned(module: Module) -> bool:
    """Whether a parameter of the module or of a submodule is pruned."""
    return any(_pruning_hooks(each) for each in module.modules())


# --- their parts ------------------------------------------------------------------------------------------------------

def _pruning_hooks(module: Any) -> list[tuple[int, BasePruningMethod]]:
    """The pruning methods among a module's forward pre-hooks, with their numbers."""
    return [(number, hook) for number, hook in module._forward_pre_hooks.items() if isinstance(hook, BasePruningMethod)]


def _channels(t: Tensor, dim: int, chosen: Any) -> tuple[Any, ...]:
    """The index of some channels along dim."""
    index: list[Any] = [slice(None)] * t.ndim
    index[dim] = chosen
    return tuple(index)


def _without(mask: Tensor, scores: Tensor, number: int, largest: bool) -> Tensor:
    """A copy of the mask with `number` more zeros, at the largest or the smallest scores."""
    if number == 0:
        return mask.clone()                          # type: ignore[no-any-return]
    places = topk(scores.reshape(-1), k=number, largest=largest).indices
    flat = index_put(mask.reshape(-1), (places,), zeros_like(mask.reshape(-1)[:1]))
    return flat.reshape(mask.shape)                  # type: ignore[no-any-return]


def _only(mask: Tensor, t: Tensor, dim: int, chosen: Tensor) -> Tensor:
    """The mask, with zeros in all channels along dim but the chosen ones."""
    made = zeros_like(t)
    made[_channels(t, dim, chosen)] = 1
    return made * mask.to(dtype=made.dtype)          # type: ignore[no-any-return]


def _number(amount: float, size: int) -> int:
    """The number of elements to prune of `size`. ValueError if there are not so many."""
    number = _compute_nparams_toprune(amount, size)
    _validate_pruning_amount(number, size)
    return number


def _validate_pruning_amount_init(amount: Any) -> None:
    """TypeError or ValueError unless `amount` is a fraction in [0, 1] or a number of at least 0."""
    if not isinstance(amount, Real):
        raise TypeError(f"Invalid type for amount: {amount}. Must be int or float.")
    if amount < 0 or (not isinstance(amount, Integral) and float(amount) > 1.0):
        raise ValueError(f"amount={amount} should either be a float in the range [0, 1] or a non-negative integer")


def _validate_pruning_amount(amount: Any, tensor_size: int) -> None:
    """ValueError if the number to prune exceeds the number of elements."""
    if isinstance(amount, Integral) and int(amount) > tensor_size:
        raise ValueError(f"amount={amount} should be smaller than the number of parameters to prune={tensor_size}")


def _validate_structured_pruning(t: Tensor) -> None:
    """ValueError unless a tensor has channels: two dimensions or more."""
    if t.ndim <= 1:
        raise ValueError("Structured pruning can only be applied to multidimensional tensors. Found tensor of shape "
                         f"{t.shape} with {t.ndim} dims")


def _compute_nparams_toprune(amount: Any, tensor_size: int) -> int:
    """How many of `tensor_size` a fraction is; a number is itself."""
    return int(amount) if isinstance(amount, Integral) else round(amount * tensor_size)


def _validate_pruning_dim(t: Tensor, dim: int) -> None:
    """IndexError if a tensor has no dimension `dim`."""
    if dim >= t.ndim:
        raise IndexError(f"Invalid index {dim} for tensor of size {t.shape}")


def _compute_norm(t: Tensor, n: Any, dim: int) -> Tensor:
    """The Ln norm of each channel along dim."""
    dims = list(range(t.ndim))
    dims.remove(dims[dim] if dim < 0 else dim)
    return norm(t, p=n, dim=dims)                    # type: ignore[no-any-return]


__all__ = ["BasePruningMethod", "CustomFromMask", "Identity", "L1Unstructured", "LnStructured", "PruningContainer",
           "RandomStructured", "RandomUnstructured", "custom_from_mask", "global_unstructured", "identity", "is_pruned",
           "l1_unstructured", "ln_structured", "random_structured", "random_unstructured", "remove"]

_docstrings.complete(globals(), "nn_utils", "nn.utils.prune.")
