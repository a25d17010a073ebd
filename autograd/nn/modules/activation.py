"""Activations: modules around one function each, most of them without parameters."""

from __future__ import annotations

from ...base.types import DeviceLike, DTypeLike
from ...core.tensor import Parameter, Tensor
from ...ops.creation.fill import empty
from .. import functional as F
from .. import init as initial
from ..module import Module
from .extra_repr import format_attributes


class InPlace(Module):
    """Base of the activations whose only argument is `inplace`; repr() shows it when it is True."""

    def __init__(self, inplace: bool = False) -> None:
        self.inplace = inplace

    def extra_repr(self) -> str:
        """"inplace=True" if the module works in place, else the empty string."""
        return format_attributes(self, "", self.inplace)


class ReLU(InPlace):
    """Element-wise max(x, 0)."""

    def forward(self, input: Tensor) -> Tensor:
        """input of any shape -> the same shape and dtype. With inplace=True the result is written into input's memory."""
        return F.relu(input, self.inplace)


class SELU(InPlace):
    """scale * elu(x), with the constants that keep mean 0 and variance 1. Klambauer et al. 2017."""

    def forward(self, input: Tensor) -> Tensor:
        """input of any shape -> the same shape and dtype. With inplace=True the result is written into input's memory."""
        return F.selu(input, self.inplace)


class SiLU(InPlace):
    """Element-wise x * sigmoid(x), also called swish. Elfwing et al. 2017 (arXiv:1702.03118)."""

    def forward(self, input: Tensor) -> Tensor:
        """input of any shape -> the same shape and dtype. With inplace=True the result is written into input's memory."""
        return F.silu(input, self.inplace)


class Mish(InPlace):
    """Element-wise x * tanh(softplus(x)). Misra 2019 (arXiv:1908.08681)."""

    def forward(self, input: Tensor) -> Tensor:
        """input of any shape -> the same shape and dtype. With inplace=True the result is written into input's memory."""
        return F.mish(input, self.inplace)


class Hardsigmoid(Module):
    """A piecewise linear sigmoid: 0 for x <= -3, x / 6 + 1 / 2 between, 1 for x >= 3."""

    def __init__(self, inplace: bool = False) -> None:
        self.inplace = inplace

    def forward(self, input: Tensor) -> Tensor:
        """input of any shape -> the same shape and dtype. With inplace=True the result is written into input's memory."""
        return F.hardsigmoid(input, self.inplace)


class Hardswish(Module):
    """Element-wise x * hardsigmoid(x). Howard et al. 2019 (arXiv:1905.02244)."""

    def __init__(self, inplace: bool = False) -> None:
        self.inplace = inplace

    def forward(self, input: Tensor) -> Tensor:
        """input of any shape -> the same shape and dtype. With inplace=True the result is written into input's memory."""
        return F.hardswish(input, self.inplace)


class Hardtanh(Module):
    """Clamp x to [min_val, max_val]."""

    def __init__(self, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False, min_value: float | None = None,
                 max_value: float | None = None) -> None:
        self.min_val: float = min_val if min_value is None else min_value  # the older names
        self.max_val: float = max_val if max_value is None else max_value
        self.inplace = inplace
        if not self.max_val > self.min_val:
            raise AssertionError(f"max_val must be larger than min_val, got {self.min_val} and {self.max_val}")

    def forward(self, input: Tensor) -> Tensor:
        """input of any shape -> the same shape and dtype. With inplace=True the result is written into input's memory."""
        return F.hardtanh(input, self.min_val, self.max_val, self.inplace)

    def extra_repr(self) -> str:
        """The two limits and, where set, inplace, as repr() shows them."""
        return format_attributes(self, "min_val max_val", self.inplace)


class ReLU6(Hardtanh):
    """Clamp x to [0, 6]. Howard et al. 2017 (arXiv:1704.04861)."""

    def __init__(self, inplace: bool = False) -> None:
        super().__init__(0.0, 6.0, inplace)

    def extra_repr(self) -> str:
        """"inplace=True" if the module works in place, else the empty string."""
        return "inplace=True" if self.inplace else ""


class Threshold(Module):
    """x where x > threshold, the constant `value` elsewhere."""

    def __init__(self, threshold: float, value: float, inplace: bool = False) -> None:
        self.threshold: float = threshold
        self.value: float = value
        self.inplace: bool = inplace

    def forward(self, input: Tensor) -> Tensor:
        """input of any shape -> the same shape and dtype. With inplace=True the result is written into input's memory."""
        return F.threshold(input, self.threshold, self.value, self.inplace)

    def extra_repr(self) -> str:
        """The threshold, the constant and, where set, inplace, as repr() shows them."""
        return format_attributes(self, "threshold value", self.inplace)


class RReLU(Module):
    """leaky_relu with a slope per element, drawn from U(lower, upper) in training mode; the mean of the two in evaluation
    mode. Xu et al. 2015 (arXiv:1505.00853)."""

    def __init__(self, lower: float = 1 / 8, upper: float = 1 / 3, inplace: bool = False) -> None:
        self.lower: float = lower
        self.upper: float = upper
        self.inplace: bool = inplace

    def forward(self, input: Tensor) -> Tensor:
        """input of any shape -> the same shape and dtype. With inplace=True the result is written into input's memory."""
        return F.rrelu(input, self.lower, self.upper, self.training, self.inplace)

    def extra_repr(self) -> str:
        """The range of slopes and, where set, inplace, as repr() shows them."""
        return format_attributes(self, "lower upper", self.inplace)


class LeakyReLU(Module):
    """x where x > 0, negative_slope * x elsewhere."""

    def __init__(self, negative_slope: float = 1e-2, inplace: bool = False) -> None:
        self.negative_slope: float = negative_slope
        self.inplace: bool = inplace

    def forward(self, input: Tensor) -> Tensor:
        """input of any shape -> the same shape and dtype. With inplace=True the result is written into input's memory."""
        return F.leaky_relu(input, self.negative_slope, self.inplace)

    def extra_repr(self) -> str:
        """The slope and, where set, inplace, as repr() shows them."""
        return format_attributes(self, "negative_slope", self.inplace)


class ELU(Module):
    """x where x > 0, alpha * (exp(x) - 1) elsewhere. Clevert et al. 2015 (arXiv:1511.07289)."""

    def __init__(self, alpha: float = 1.0, inplace: bool = False) -> None:
        self.alpha: float = alpha
        self.inplace: bool = inplace

    def forward(self, input: Tensor) -> Tensor:
        """input of any shape -> the same shape and dtype. With inplace=True the result is written into input's memory."""
        return F.elu(input, self.alpha, self.inplace)

    def extra_repr(self) -> str:
        """alpha and, where set, inplace, as repr() shows them."""
        return format_attributes(self, "alpha", self.inplace)


class CELU(Module):
    """x where x > 0, alpha * (exp(x / alpha) - 1) elsewhere. Barron 2017 (arXiv:1704.07483)."""

    def __init__(self, alpha: float = 1.0, inplace: bool = False) -> None:
        self.alpha: float = alpha
        self.inplace: bool = inplace

    def forward(self, input: Tensor) -> Tensor:
        """input of any shape -> the same shape and dtype. With inplace=True the result is written into input's memory."""
        return F.celu(input, self.alpha, self.inplace)

    def extra_repr(self) -> str:
        """alpha and, where set, inplace, as repr() shows them."""
        return format_attributes(self, "alpha", self.inplace)


class PReLU(Module):
    """leaky_relu with a learned slope: one for all, or one per channel (dimension 1). He et al. 2015 (arXiv:1502.01852)."""

    weight: Parameter

    def __init__(self, num_parameters: int = 1, init: float = 0.25, device: DeviceLike = None,
                 dtype: DTypeLike = None) -> None:
        self.num_parameters: int = num_parameters
        self.init: float = init
        self.weight = Parameter(empty(num_parameters, device=device, dtype=dtype))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Set every slope to `init`."""
        initial.constant_(self.weight, self.init)

    def forward(self, input: Tensor) -> Tensor:
        """input (n, c, ...), with c == num_parameters unless that is 1 -> the same shape and dtype."""
        return F.prelu(input, self.weight)

    def extra_repr(self) -> str:
        """The number of slopes, as repr() shows it."""
        return format_attributes(self, "num_parameters")


class GLU(Module):
    """a * sigmoid(b), where a and b are the two halves of the input along dim. Dauphin et al. 2016 (arXiv:1612.08083)."""

    def __init__(self, dim: int = -1) -> None:
        self.dim = dim

    def forward(self, input: Tensor) -> Tensor:
        """input of even size along dim -> half that size along dim. RuntimeError if the size is odd."""
        return F.glu(input, self.dim)

    def extra_repr(self) -> str:
        """The dimension that is halved, as repr() shows it."""
        return format_attributes(self, "dim")


class GELU(Module):
    """x * Phi(x), Phi the standard normal distribution function; approximate="tanh" uses the tanh formula of the paper.
    Hendrycks & Gimpel 2016 (arXiv:1606.08415)."""

    def __init__(self, approximate: str = "none") -> None:
        self.approximate = approximate

    def forward(self, input: Tensor) -> Tensor:
        """input of any shape -> the same shape and dtype."""
        return F.gelu(input, approximate=self.approximate)

    def extra_repr(self) -> str:
        """The name of the approximation, as repr() shows it."""
        return f"approximate={self.approximate!r}"


class Hardshrink(Module):
    """x where |x| > lambd, 0 elsewhere."""

    def __init__(self, lambd: float = 0.5) -> None:
        self.lambd = lambd

    def forward(self, input: Tensor) -> Tensor:
        """input of any shape -> the same shape and dtype."""
        return F.hardshrink(input, self.lambd)

    def extra_repr(self) -> str:
        """The bound lambd, as repr() shows it."""
        return str(self.lambd)


class Softshrink(Module):
    """x - lambd where x > lambd, x + lambd where x < -lambd, 0 between."""

    def __init__(self, lambd: float = 0.5) -> None:
        self.lambd = lambd

    def forward(self, input: Tensor) -> Tensor:
        """input of any shape -> the same shape and dtype."""
        return F.softshrink(input, self.lambd)

    def extra_repr(self) -> str:
        """The bound lambd, as repr() shows it."""
        return str(self.lambd)


class Softplus(Module):
    """log(1 + exp(beta * x)) / beta; x itself where beta * x > threshold, to avoid overflow."""

    def __init__(self, beta: float = 1.0, threshold: float = 20.0) -> None:
        self.beta: float = beta
        self.threshold: float = threshold

    def forward(self, input: Tensor) -> Tensor:
        """input of any shape -> the same shape and dtype."""
        return F.softplus(input, self.beta, self.threshold)

    def extra_repr(self) -> str:
        """beta and threshold, as repr() shows them."""
        return format_attributes(self, "beta threshold")


class Sigmoid(Module):
    """Element-wise 1 / (1 + exp(-x))."""

    def forward(self, input: Tensor) -> Tensor:
        """input of any shape -> the same shape and dtype."""
        return F.sigmoid(input)


class Tanh(Module):
    """Element-wise hyperbolic tangent."""

    def forward(self, input: Tensor) -> Tensor:
        """input of any shape -> the same shape and dtype."""
        return F.tanh(input)


class LogSigmoid(Module):
    """log(sigmoid(x)), computed without overflow or underflow."""

    def forward(self, input: Tensor) -> Tensor:
        """input of any shape -> the same shape and dtype."""
        return F.logsigmoid(input)


class Softsign(Module):
    """Element-wise x / (1 + |x|)."""

    def forward(self, input: Tensor) -> Tensor:
        """input of any shape -> the same shape and dtype."""
        return F.softsign(input)


class Tanhshrink(Module):
    """Element-wise x - tanh(x)."""

    def forward(self, input: Tensor) -> Tensor:
        """input of any shape -> the same shape and dtype."""
        return F.tanhshrink(input)


class Softmin(Module):
    """exp(-x) divided by its sum along dim."""

    def __init__(self, dim: int | None = None) -> None:
        self.dim = dim

    def forward(self, input: Tensor) -> Tensor:
        """input of any shape -> the same shape; slices along dim sum to 1."""
        return F.softmin(input, self.dim, _stacklevel=5)

    def extra_repr(self) -> str:
        """The dimension of the sum, as repr() shows it."""
        return format_attributes(self, "dim")


class Softmax(Module):
    """exp(x) divided by its sum along `dim`; with dim=None the input's ndim selects one, with a warning."""

    def __init__(self, dim: int | None = None) -> None:
        self.dim = dim

    def forward(self, input: Tensor) -> Tensor:
        """input of any shape -> the same shape; slices along dim sum to 1."""
        return F.softmax(input, self.dim, _stacklevel=5)

    def extra_repr(self) -> str:
        """The dimension of the sum, as repr() shows it."""
        return format_attributes(self, "dim")


class LogSoftmax(Module):
    """log(softmax(x)) along dim, computed as x - logsumexp(x)."""

    def __init__(self, dim: int | None = None) -> None:
        self.dim = dim

    def forward(self, input: Tensor) -> Tensor:
        """input of any shape -> the same shape."""
        return F.log_softmax(input, self.dim, _stacklevel=5)

    def extra_repr(self) -> str:
        """The dimension of the sum, as repr() shows it."""
        return format_attributes(self, "dim")


class Softmax2d(Module):
    """Softmax over the channels of each pixel of (n, c, h, w) or (c, h, w)."""

    def forward(self, input: Tensor) -> Tensor:
        """input (n, c, h, w) or (c, h, w) -> the same shape. ValueError for another number of dimensions."""
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
