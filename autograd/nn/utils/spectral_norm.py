"""Spectral normalisation by a hook: w divided by its largest singular value. Miyato et al. 2018 (arXiv:1802.05957)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...base import docstrings as _docstrings
from ...core.modes import no_grad
from ...core.tensor import Parameter, Tensor
from ...ops.linalg.matmul import dot, mv
from ...ops.nn.normalization import normalize
from ...ops.random.draw import randn
from ...ops.shape import clone, permute, reshape, t
from ..modules.conv import ConvTranspose1d, ConvTranspose2d, ConvTranspose3d
from ..parameter import refuse_lazy
from .weight_norm import remove_hook

if TYPE_CHECKING:
    from ...nn.module import Module


def as_matrix(weight: Tensor, dim: int) -> Tensor:
    """The weight as a matrix with a row for each index of dim."""
    if dim != 0:
        weight = permute(weight, (dim, *(d for d in range(weight.ndim) if d != dim)))
    return reshape(weight, (weight.shape[0], -1))


def default_dim(module: Any, dim: int | None) -> int:
    """dim; if that is None, the dimension of a module's outputs."""
    return (1 if isinstance(module, (ConvTranspose1d, ConvTranspose2d, ConvTranspose3d)) else 0) if dim is None else dim


def unit(size: int, like: Tensor, eps: float) -> Tensor:
    """A random vector of length 1."""
    return normalize(randn(size, dtype=like.dtype), dim=0, eps=eps)


class SpectralNorm:
    """The hook: while training a power iteration improves <name>_u and <name>_v; the weight is <name>_orig / (u W v)."""

    def __init__(self, name: str = "weight", n_power_iterations: int = 1, dim: int = 0, eps: float = 1e-12) -> None:
        if n_power_iterations <= 0:
            raise ValueError(f"Expected n_power_iterations to be positive, but got n_power_iterations={n_power_iterations}")
        self.name: str = name
        self.n_power_iterations: int = n_power_iterations
        self.dim: int = dim
        self.eps: float = eps

    def reshape_weight_to_matrix(self, weight: Tensor) -> Tensor:
        """The weight as a matrix with a row for each index of dim."""
        return as_matrix(weight, self.dim)

    def compute_weight(self, module: Module, do_power_iteration: bool) -> Tensor:
        """The normalised weight; with power iterations u and v are updated first, in place, since replicas share them."""
        weight, u, v = (getattr(module, self.name + end) for end in ("_orig", "_u", "_v"))
        matrix = self.reshape_weight_to_matrix(weight)
        if do_power_iteration:
            with no_grad():
                for _ in range(self.n_power_iterations):
                    v.copy_(normalize(mv(t(matrix), u), dim=0, eps=self.eps))
                    u.copy_(normalize(mv(matrix, v), dim=0, eps=self.eps))
                u, v = clone(u), clone(v)            # a second forward must not change what this one's backward needs
        return weight / dot(u, mv(matrix, v))

    def remove(self, module: Any) -> None:
        """Make the weight a parameter again."""
        with no_grad():
            weight = self.compute_weight(module, False)
        delattr(module, self.name)
        for end in ("_u", "_v"):
            del module._buffers[self.name + end]
        del module._parameters[self.name + "_orig"]
        module.register_parameter(self.name, Parameter(weight))

    def __call__(self, module: Module, inputs: tuple[Any, ...]) -> None:
        setattr(module, self.name, self.compute_weight(module, module.training))

    @staticmethod
    def apply(module: Module, name: str, n_power_iterations: int, dim: int, eps: float) -> SpectralNorm:
        """Replace the parameter."""
        if any(isinstance(hook, SpectralNorm) and hook.name == name for hook in module._forward_pre_hooks.values()):
            raise RuntimeError(f"Cannot register two spectral_norm hooks on the same parameter {name}")
        hook = SpectralNorm(name, n_power_iterations, dim, eps)
        weight = module._parameters[name]
        if weight is None:
            raise ValueError(f"`SpectralNorm` cannot be applied as parameter `{name}` is None")
        refuse_lazy(module, "SpectralNorm", "spectral normalization")
        with no_grad():
            rows, columns = hook.reshape_weight_to_matrix(weight).shape
            u, v = unit(rows, weight, eps), unit(columns, weight, eps)
        del module._parameters[name]
        module.register_parameter(name + "_orig", weight)
        setattr(module, name, weight.detach())
        module.register_buffer(name + "_u", u)
        module.register_buffer(name + "_v", v)
        module.register_forward_pre_hook(hook)
        return hook


def spectral_norm(module: Module, name: str = "weight", n_power_iterations: int = 1, eps: float = 1e-12,
                  dim: int | None = None) -> Any:
    """Divide a weight by its largest singular value, estimated by power iteration. Returns module."""
    SpectralNorm.apply(module, name, n_power_iterations, default_dim(module, dim), eps)
    return module


def remove_spectral_norm(module: Any, name: str = "weight") -> Any:
    """Undo spectral_norm(). Returns module."""
    return remove_hook(module, SpectralNorm, name, "spectral_norm")


__all__ = ["SpectralNorm", "remove_spectral_norm", "spectral_norm"]

_docstrings.complete(globals(), "nn_utils", "nn.utils.")
