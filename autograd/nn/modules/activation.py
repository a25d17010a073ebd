"""Activations: modules around one function each, most of them without parameters."""

from __future__ import annotations

from ...base.types import DeviceLike, DTypeLike
from ...core.tensor import Parameter, Tensor
from ...ops.creation.fill import empty
from .. import functional as F
from .. import init as initial
from ..module import Module


class _Elementwise(Module):
    """Base of the activations that change no shape."""

    def forward(self, input: Tensor) -> Tensor:
        """input of any shape -> the same shape and dtype. With inplace=True the result is written into input's memory."""
        raise NotImplementedError


class InPlace(_Elementwise):
    """Base of the activations whose only argument is `inplace`; repr() shows it when it is True."""

    _shown = "inplace?"

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace


class ReLU(InPlace):
    """Element-wise max(x, 0)."""

    def forward(self, input: Tensor) -> Tensor:
        return F.relu(input, self.inplace)


class SELU(InPlace):
    """scale * elu(x), with the constants that keep mean 0 and variance 1. Klambauer et al. 2017."""

    def forward(self, input: Tensor) -> Tensor:
        return F.selu(input, self.inplace)


class SiLU(InPlace):
    """Element-wise x * sigmoid(x), also called swish. Elfwing et al. 2017 (arXiv:1702.03118)."""

    def forward(self, input: Tensor) -> Tensor:
        return F.silu(input, self.inplace)


class Mish(InPlace):
    """Element-wise x * tanh(softplus(x)). Misra 2019 (arXiv:1908.08681)."""

    def forward(self, input: Tensor) -> Tensor:
        return F.mish(input, self.inplace)


class Hardsigmoid(_Elementwise):
    """A piecewise linear sigmoid: 0 for x <= -3, x / 6 + 1 / 2 between, 1 for x >= 3."""

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace

    def forward(self, input: Tensor) -> Tensor:
        return F.hardsigmoid(input, self.inplace)


class Hardswish(_Elementwise):
    """Element-wise x * hardsigmoid(x). Howard et al. 2019 (arXiv:1905.02244)."""

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace

    def forward(self, input: Tensor) -> Tensor:
        return F.hardswish(input, self.inplace)


class Hardtanh(_Elementwise):
    """Clamp x to [min_val, max_val]."""

    _shown = "min_val max_val inplace?"

    def __init__(self, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False, min_value: float | None = None,
                 max_value: float | None = None) -> None:
        super().__init__()
        self.min_val: float = min_val if min_value is None else min_value  # the older names
        self.max_val: float = max_val if max_value is None else max_value
        self.inplace = inplace
        if not self.max_val > self.min_val:
            raise AssertionError(f"max_val must be larger than min_val, got {self.min_val} and {self.max_val}")

    def forward(self, input: Tensor) -> Tensor:
        return F.hardtanh(input, self.min_val, self.max_val, self.inplace)


class ReLU6(Hardtanh):
    """Clamp x to [0, 6]. Howard et al. 2017 (arXiv:1704.04861)."""

    _shown = "inplace?"

    def __init__(self, inplace: bool = False) -> None:
        super().__init__(0.0, 6.0, inplace)


class Threshold(_Elementwise):
    """x where x > threshold, the constant `value` elsewhere."""

    _shown = "threshold value inplace?"

    def __init__(self, threshold: float, value: float, inplace: bool = False) -> None:
        super().__init__()
        self.threshold: float = threshold
        self.value: float = value
        self.inplace: bool = inplace

    def forward(self, input: Tensor) -> Tensor:
        return F.threshold(input, self.threshold, self.value, self.inplace)


class RReLU(_Elementwise):
    """leaky_relu with a slope per element, drawn from U(lower, upper) in training mode; the mean of the two in evaluation
    mode. Xu et al. 2015 (arXiv:1505.00853)."""

    _shown = "lower upper inplace?"

    def __init__(self, lower: float = 1 / 8, upper: float = 1 / 3, inplace: bool = False) -> None:
        super().__init__()
        self.lower: float = lower
        self.upper: float = upper
        self.inplace: bool = inplace

    def forward(self, input: Tensor) -> Tensor:
        return F.rrelu(input, self.lower, self.upper, self.training, self.inplace)


class LeakyReLU(_Elementwise):
    """x where x > 0, negative_slope * x elsewhere."""

    _shown = "negative_slope inplace?"

    def __init__(self, negative_slope: float = 1e-2, inplace: bool = False) -> None:
        super().__init__()
        self.negative_slope: float = negative_slope
        self.inplace: bool = inplace

    def forward(self, input: Tensor) -> Tensor:
        return F.leaky_relu(input, self.negative_slope, self.inplace)


class ELU(_Elementwise):
    """x where x > 0, alpha * (exp(x) - 1) elsewhere. Clevert et al. 2015 (arXiv:1511.07289)."""

    _shown = "alpha inplace?"

    def __init__(self, alpha: float = 1.0, inplace: bool = False) -> None:
        super().__init__()
        self.alpha: float = alpha
        self.inplace: bool = inplace

    def forward(self, input: Tensor) -> Tensor:
        return F.elu(input, self.alpha, self.inplace)


class CELU(_Elementwise):
    """x where x > 0, alpha * (exp(x / alpha) - 1) elsewhere. Barron 2017 (arXiv:1704.07483)."""

    _shown = "alpha inplace?"

    def __init__(self, alpha: float = 1.0, inplace: bool = False) -> None:
        super().__init__()
        self.alpha: float = alpha
        self.inplace: bool = inplace

    def forward(self, input: Tensor) -> Tensor:
        return F.celu(input, self.alpha, self.inplace)


class PReLU(Module):
    """leaky_relu with a learned slope: one for all, or one per channel (dimension 1). He et al. 2015 (arXiv:1502.01852)."""

    _shown = "num_parameters"
    weight: Parameter

    def __init__(self, num_parameters: int = 1, init: float = 0.25, device: DeviceLike = None,
                 dtype: DTypeLike = None) -> None:
        super().__init__()
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


class GLU(Module):
    """a * sigmoid(b), where a and b are the two halves of the input along dim. Dauphin et al. 2016 (arXiv:1612.08083)."""

    _shown = "dim"

    def __init__(self, dim: int = -1) -> None:
        super().__init__()
        self.dim = dim

    def forward(self, input: Tensor) -> Tensor:
        """input of even size along dim -> half that size along dim. RuntimeError if the size is odd."""
        return F.glu(input, self.dim)


class GELU(_Elementwise):
    """x * Phi(x), Phi the standard normal distribution function; approximate="tanh" uses the tanh formula of the paper.
    Hendrycks & Gimpel 2016 (arXiv:1606.08415)."""

    def __init__(self, approximate: str = "none") -> None:
        super().__init__()
        self.approximate = approximate

    def forward(self, input: Tensor) -> Tensor:
        return F.gelu(input, approximate=self.approximate)

    def extra_repr(self) -> str:
        return f"approximate={self.approximate!r}"


class Hardshrink(_Elementwise):
    """x where |x| > lambd, 0 elsewhere."""

    def __init__(self, lambd: float = 0.5) -> None:
        super().__init__()
        self.lambd = lambd

    def forward(self, input: Tensor) -> Tensor:
        return F.hardshrink(input, self.lambd)

    def extra_repr(self) -> str:
        return str(self.lambd)


class Softshrink(_Elementwise):
    """x - lambd where x > lambd, x + lambd where x < -lambd, 0 between."""

    def __init__(self, lambd: float = 0.5) -> None:
        super().__init__()
        self.lambd = lambd

    def forward(self, input: Tensor) -> Tensor:
        return F.softshrink(input, self.lambd)

    def extra_repr(self) -> str:
        return str(self.lambd)


class Softplus(_Elementwise):
    """log(1 + exp(beta * x)) / beta; x itself where beta * x > threshold, to avoid overflow."""

    _shown = "beta threshold"

    def __init__(self, beta: float = 1.0, threshold: float = 20.0) -> None:
        super().__init__()
        self.beta: float = beta
        self.threshold: float = threshold

    def forward(self, input: Tensor) -> Tensor:
        return F.softplus(input, self.beta, self.threshold)


class Sigmoid(_Elementwise):
    """Element-wise 1 / (1 + exp(-x))."""

    def forward(self, input: Tensor) -> Tensor:
        return F.sigmoid(input)


class Tanh(_Elementwise):
    """Element-wise hyperbolic tangent."""

    def forward(self, input: Tensor) -> Tensor:
        return F.tanh(input)


class LogSigmoid(_Elementwise):
    """log(sigmoid(x)), computed without overflow or underflow."""

    def forward(self, input: Tensor) -> Tensor:
        return F.logsigmoid(input)


class Softsign(_Elementwise):
    """Element-wise x / (1 + |x|)."""

    def forward(self, input: Tensor) -> Tensor:
        return F.softsign(input)


class Tanhshrink(_Elementwise):
    """Element-wise x - tanh(x)."""

    def forward(self, input: Tensor) -> Tensor:
        return F.tanhshrink(input)


class Softmin(Module):
    """exp(-x) divided by its sum along dim."""

    _shown = "dim"

    def __init__(self, dim: int | None = None) -> None:
        super().__init__()
        self.dim = dim

    def forward(self, input: Tensor) -> Tensor:
        """input of any shape -> the same shape; slices along dim sum to 1."""
        return F.softmin(input, self.dim, _stacklevel=5)


class Softmax(Module):
    """exp(x) divided by its sum along `dim`; with dim=None the input's ndim selects one, with a warning."""

    _shown = "dim"

    def __init__(self, dim: int | None = None) -> None:
        super().__init__()
        self.dim = dim

    def forward(self, input: Tensor) -> Tensor:
        """input of any shape -> the same shape; slices along dim sum to 1."""
        return F.softmax(input, self.dim, _stacklevel=5)


class LogSoftmax(Module):
    """log(softmax(x)) along dim, computed as x - logsumexp(x)."""

    _shown = "dim"

    def __init__(self, dim: int | None = None) -> None:
        super().__init__()
        self.dim = dim

    def forward(self, input: Tensor) -> Tensor:
        """input of any shape -> the same shape."""
        return F.log_softmax(input, self.dim, _stacklevel=5)


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
