"""Weight normalisation by a hook: w = g v / |v|, g and v parameters. Salimans & Kingma 2016 (arXiv:1602.07868)."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

from ...base import docstrings as _docstrings
from ...core.modes import no_grad
from ...core.tensor import Parameter, Tensor
from ...ops.linalg.norms import vector_norm
from ..parameter import refuse_lazy

if TYPE_CHECKING:
    from ...nn.module import Module


def norm_except_dim(v: Tensor, dim: int) -> Tensor:
    """The norms of v's slices along dim, with v's number of dimensions; of the whole, without any, for dim -1."""
    if dim == -1:
        return vector_norm(v)
    others = [d for d in range(v.ndim) if d != dim % v.ndim]
    return vector_norm(v, 2, others, keepdim=True) if others else abs(v)


def normalized(v: Tensor, g: Tensor, dim: int) -> Tensor:
    """g v / |v|."""
    return v * (g / norm_except_dim(v, dim))


class WeightNorm:
    """The hook: before each forward the weight is computed from its length <name>_g and direction <name>_v."""

    def __init__(self, name: str, dim: int | None) -> None:
        self.name: str = name
        self.dim: int = -1 if dim is None else dim

    def compute_weight(self, module: Module) -> Tensor:
        """g * v / |v| from the module's parameters <name>_g and <name>_v."""
        return normalized(getattr(module, self.name + "_v"), getattr(module, self.name + "_g"), self.dim)

    @staticmethod
    def apply(module: Module, name: str, dim: int | None) -> WeightNorm:
        """Replace the parameter `name` by its norm <name>_g and direction <name>_v, and register the hook. RuntimeError if
        the parameter has one."""
        warnings.warn("`torch.nn.utils.weight_norm` is deprecated in favor of "
                      "`torch.nn.utils.parametrizations.weight_norm`.", FutureWarning, stacklevel=3)
        if any(isinstance(hook, WeightNorm) and hook.name == name for hook in module._forward_pre_hooks.values()):
            raise RuntimeError(f"Cannot register two weight_norm hooks on the same parameter {name}")
        hook = WeightNorm(name, dim)
        refuse_lazy(module, "WeightNorm", "weight normalization")
        weight = getattr(module, name)
        del module._parameters[name]
        with no_grad():
            module.register_parameter(name + "_g", Parameter(norm_except_dim(weight, hook.dim)))
        module.register_parameter(name + "_v", Parameter(weight.detach()))
        setattr(module, name, hook.compute_weight(module))
        module.register_forward_pre_hook(hook)
        return hook

    def remove(self, module: Any) -> None:
        """Make the weight a parameter again."""
        with no_grad():
            weight = self.compute_weight(module)
        delattr(module, self.name)
        del module._parameters[self.name + "_g"], module._parameters[self.name + "_v"]
        setattr(module, self.name, Parameter(weight))

    def __call__(self, module: Module, inputs: tuple[Any, ...]) -> None:
        setattr(module, self.name, self.compute_weight(module))


def weight_norm(module: Module, name: str = "weight", dim: int | None = 0) -> Any:
    """Train the magnitude and the direction of a weight separately. Returns module."""
    WeightNorm.apply(module, name, dim)
    return module


def remove_weight_norm(module: Any, name: str = "weight") -> Any:
    """Undo weight_norm(). Returns module."""
    return remove_hook(module, WeightNorm, name, "weight_norm")


def remove_hook(module: Any, kind: type, name: str, called: str) -> Any:
    """Remove the forward pre-hook of this kind and name. Returns module."""
    for number, hook in module._forward_pre_hooks.items():
        if isinstance(hook, kind) and hook.name == name:     # type: ignore[attr-defined]
            hook.remove(module)                              # type: ignore[attr-defined]
            del module._forward_pre_hooks[number]
            return module
    raise ValueError(f"{called} of '{name}' not found in {module}")


__all__ = ["WeightNorm", "remove_weight_norm", "weight_norm"]

_docstrings.complete(globals(), "nn_utils", "nn.utils.")
