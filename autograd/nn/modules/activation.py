"""Activations: modules around one function each, most of them without parameters."""

from __future__ import annotations

from typing import Any

from ...core.tensor import Parameter
from ...ops.creation.fill import empty
from .. import functional as F
from .. import init as initial
from ..module import Module
from .shown import shown


class InPlace(Module):
    """The base of activations that take nothing but `inplace`, and show it."""

    def __init__(self, inplace: bool = False) -> None:
        self.inplace = inplace

    def extra_repr(self) -> str:
        """Nothing, or inplace."""
        return shown(self, "", self.inplace)


class ReLU(InPlace):
    """max(x, 0)."""

    def forward(self, input: Any) -> Any:
        """Into the input's memory if inplace."""
        return F.relu(input, self.inplace)


class SELU(InPlace):
    """scale * elu(x), with the constants that keep mean 0 and variance 1. Klambauer et al. 2017."""

    def forward(self, input: Any) -> Any:
        """Into the input's memory if inplace."""
        return F.selu(input, self.inplace)


class SiLU(InPlace):
    """x sigmoid(x)."""

    def forward(self, input: Any) -> Any:
        """Into the input's memory if inplace."""
        return F.silu(input, self.inplace)


class Mish(InPlace):
    """x tanh(softplus(x))."""

    def forward(self, input: Any) -> Any:
        """Into the input's memory if inplace."""
        return F.mish(input, self.inplace)


class Hardsigmoid(Module):
    """sigmoid as three straight lines: 0, x / 6 + 1 / 2, 1."""

    def __init__(self, inplace: bool = False) -> None:
        self.inplace = inplace

    def forward(self, input: Any) -> Any:
        """Into the input's memory if inplace."""
        return F.hardsigmoid(input, self.inplace)


class Hardswish(Module):
    """x hardsigmoid(x)."""

    def __init__(self, inplace: bool = False) -> None:
        self.inplace = inplace

    def forward(self, input: Any) -> Any:
        """Into the input's memory if inplace."""
        return F.hardswish(input, self.inplace)


class Hardtanh(Module):
    """x between min_val and max_val, the nearer of them elsewhere."""

    def __init__(self, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False, min_value: float | None = None,
                 max_value: float | None = None) -> None:
        self.min_val = min_val if min_value is None else min_value        # the older names
        self.max_val = max_val if max_value is None else max_value
        self.inplace = inplace
        if not self.max_val > self.min_val:
            raise AssertionError(f"max_val must be larger than min_val, got {self.min_val} and {self.max_val}")

    def forward(self, input: Any) -> Any:
        """Into the input's memory if inplace."""
        return F.hardtanh(input, self.min_val, self.max_val, self.inplace)

    def extra_repr(self) -> str:
        """The limits."""
        return shown(self, "min_val max_val", self.inplace)


class ReLU6(Hardtanh):
    """x between 0 and 6."""

    def __init__(self, inplace: bool = False) -> None:
        super().__init__(0.0, 6.0, inplace)

    def extra_repr(self) -> str:
        """Nothing, or inplace."""
        return "inplace=True" if self.inplace else ""


class Threshold(Module):
    """x above the threshold, a constant elsewhere."""

    def __init__(self, threshold: float, value: float, inplace: bool = False) -> None:
        self.threshold, self.value, self.inplace = threshold, value, inplace

    def forward(self, input: Any) -> Any:
        """Into the input's memory if inplace."""
        return F.threshold(input, self.threshold, self.value, self.inplace)

    def extra_repr(self) -> str:
        """The threshold and the constant."""
        return shown(self, "threshold value", self.inplace)


class RReLU(Module):
    """leaky_relu with slopes drawn between lower and upper while training, and their mean otherwise."""

    def __init__(self, lower: float = 1 / 8, upper: float = 1 / 3, inplace: bool = False) -> None:
        self.lower, self.upper, self.inplace = lower, upper, inplace

    def forward(self, input: Any) -> Any:
        """Into the input's memory if inplace."""
        return F.rrelu(input, self.lower, self.upper, self.training, self.inplace)

    def extra_repr(self) -> str:
        """The range of slopes."""
        return shown(self, "lower upper", self.inplace)


class LeakyReLU(Module):
    """x where positive, negative_slope * x elsewhere."""

    def __init__(self, negative_slope: float = 1e-2, inplace: bool = False) -> None:
        self.negative_slope, self.inplace = negative_slope, inplace

    def forward(self, input: Any) -> Any:
        """Into the input's memory if inplace."""
        return F.leaky_relu(input, self.negative_slope, self.inplace)

    def extra_repr(self) -> str:
        """The slope."""
        return shown(self, "negative_slope", self.inplace)


class ELU(Module):
    """x where positive, alpha (exp(x) - 1) elsewhere."""

    def __init__(self, alpha: float = 1.0, inplace: bool = False) -> None:
        self.alpha, self.inplace = alpha, inplace

    def forward(self, input: Any) -> Any:
        """Into the input's memory if inplace."""
        return F.elu(input, self.alpha, self.inplace)

    def extra_repr(self) -> str:
        """alpha."""
        return shown(self, "alpha", self.inplace)


class CELU(Module):
    """x where positive, alpha (exp(x / alpha) - 1) elsewhere."""

    def __init__(self, alpha: float = 1.0, inplace: bool = False) -> None:
        self.alpha, self.inplace = alpha, inplace

    def forward(self, input: Any) -> Any:
        """Into the input's memory if inplace."""
        return F.celu(input, self.alpha, self.inplace)

    def extra_repr(self) -> str:
        """alpha."""
        return shown(self, "alpha", self.inplace)


class PReLU(Module):
    """leaky_relu whose slope is learned: one, or one for each channel (dimension 1)."""

    weight: Any

    def __init__(self, num_parameters: int = 1, init: float = 0.25, device: Any = None, dtype: Any = None) -> None:
        self.num_parameters, self.init = num_parameters, init
        self.weight = Parameter(empty(num_parameters, device=device, dtype=dtype))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """All slopes to the initial one."""
        initial.constant_(self.weight, self.init)

    def forward(self, input: Any) -> Any:
        """prelu."""
        return F.prelu(input, self.weight)

    def extra_repr(self) -> str:
        """The number of slopes."""
        return shown(self, "num_parameters")


class GLU(Module):
    """The first half along dim, gated by the sigmoid of the second."""

    def __init__(self, dim: int = -1) -> None:
        self.dim = dim

    def forward(self, input: Any) -> Any:
        """glu."""
        return F.glu(input, self.dim)

    def extra_repr(self) -> str:
        """dim."""
        return shown(self, "dim")


class GELU(Module):
    """x times the normal distribution function of x; approximate="tanh" for the older formula."""

    def __init__(self, approximate: str = "none") -> None:
        self.approximate = approximate

    def forward(self, input: Any) -> Any:
        """gelu."""
        return F.gelu(input, approximate=self.approximate)

    def extra_repr(self) -> str:
        """Which formula."""
        return f"approximate={self.approximate!r}"


class Hardshrink(Module):
    """x where |x| > lambd, else 0."""

    def __init__(self, lambd: float = 0.5) -> None:
        self.lambd = lambd

    def forward(self, input: Any) -> Any:
        """hardshrink."""
        return F.hardshrink(input, self.lambd)

    def extra_repr(self) -> str:
        """lambd."""
        return str(self.lambd)


class Softshrink(Module):
    """x moved towards 0 by lambd, and 0 within it."""

    def __init__(self, lambd: float = 0.5) -> None:
        self.lambd = lambd

    def forward(self, input: Any) -> Any:
        """softshrink."""
        return F.softshrink(input, self.lambd)

    def extra_repr(self) -> str:
        """lambd."""
        return str(self.lambd)


class Softplus(Module):
    """log(1 + exp(beta x)) / beta; x itself where beta x > threshold."""

    def __init__(self, beta: float = 1.0, threshold: float = 20.0) -> None:
        self.beta, self.threshold = beta, threshold

    def forward(self, input: Any) -> Any:
        """softplus."""
        return F.softplus(input, self.beta, self.threshold)

    def extra_repr(self) -> str:
        """beta and threshold."""
        return shown(self, "beta threshold")


class Sigmoid(Module):
    """1 / (1 + exp(-x))."""

    def forward(self, input: Any) -> Any:
        """sigmoid."""
        return F.sigmoid(input)


class Tanh(Module):
    """The hyperbolic tangent."""

    def forward(self, input: Any) -> Any:
        """tanh."""
        return F.tanh(input)


class LogSigmoid(Module):
    """log(sigmoid(x))."""

    def forward(self, input: Any) -> Any:
        """logsigmoid."""
        return F.logsigmoid(input)


class Softsign(Module):
    """x / (1 + |x|)."""

    def forward(self, input: Any) -> Any:
        """softsign."""
        return F.softsign(input)


class Tanhshrink(Module):
    """x - tanh(x)."""

    def forward(self, input: Any) -> Any:
        """tanhshrink."""
        return F.tanhshrink(input)


class Softmin(Module):
    """softmax of -x along dim."""

    def __init__(self, dim: int | None = None) -> None:
        self.dim = dim

    def forward(self, input: Any) -> Any:
        """softmin."""
        return F.softmin(input, self.dim, _stacklevel=5)

    def extra_repr(self) -> str:
        """dim."""
        return shown(self, "dim")


class Softmax(Module):
    """exp(x) over its sum along dim."""

    def __init__(self, dim: int | None = None) -> None:
        self.dim = dim

    def forward(self, input: Any) -> Any:
        """softmax."""
        return F.softmax(input, self.dim, _stacklevel=5)

    def extra_repr(self) -> str:
        """dim."""
        return shown(self, "dim")


class LogSoftmax(Module):
    """log(softmax(x)) along dim."""

    def __init__(self, dim: int | None = None) -> None:
        self.dim = dim

    def forward(self, input: Any) -> Any:
        """log_softmax."""
        return F.log_softmax(input, self.dim, _stacklevel=5)

    def extra_repr(self) -> str:
        """dim."""
        return shown(self, "dim")


class Softmax2d(Module):
    """softmax over the channels of (n, c, h, w) or (c, h, w)."""

    def forward(self, input: Any) -> Any:
        """Along the third dimension from the end."""
        if input.ndim not in (3, 4):
            raise ValueError(f"Softmax2d: expected input to be 3D or 4D, got {input.ndim}D instead")
        return F.softmax(input, -3, _stacklevel=5)


__all__ = [
    "CELU",
    "ELU",
    "GELU",
    "GLU",
    "SELU",
    "Hardshrink",
    "Hardsigmoid",
    "Hardswish",
    "Hardtanh",
    "LeakyReLU",
    "LogSigmoid",
    "LogSoftmax",
    "Mish",
    "PReLU",
    "RReLU",
    "ReLU",
    "ReLU6",
    "SiLU",
    "Sigmoid",
    "Softmax",
    "Softmax2d",
    "Softmin",
    "Softplus",
    "Softshrink",
    "Softsign",
    "Tanh",
    "Tanhshrink",
    "Threshold",
]
