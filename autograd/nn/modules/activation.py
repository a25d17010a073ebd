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
    """max(x, 0), element by element.

    Args:
        inplace (bool): Whether the result is written to input's memory. Default: False.

    Example:
        >>> ag.nn.ReLU()(ag.tensor([-1.0, 2.0]))
        tensor([0., 2.])
    """

    def forward(self, input: Tensor) -> Tensor:
        """input of any shape -> the same shape and dtype. With inplace=True the result is written into input's memory."""
        return F.relu(input, self.inplace)


class SELU(InPlace):
    """scale * elu(x), with the constants that keep mean 0 and variance 1. Klambauer et al. 2017.

    Args:
        inplace (bool): Whether the result is written to input's memory. Default: False.

    Example:
        >>> ag.nn.SELU()(ag.tensor([-1.0, 2.0]))
        tensor([-1.1113,  2.1014])
    """

    def forward(self, input: Tensor) -> Tensor:
        """input of any shape -> the same shape and dtype. With inplace=True the result is written into input's memory."""
        return F.selu(input, self.inplace)


class SiLU(InPlace):
    """x * sigmoid(x), element by element; also called swish. Elfwing et al. 2017 (arXiv:1702.03118).

    Args:
        inplace (bool): Whether the result is written to input's memory. Default: False.

    Example:
        >>> ag.nn.SiLU()(ag.tensor([-1.0, 2.0]))
        tensor([-0.2689,  1.7616])
    """

    def forward(self, input: Tensor) -> Tensor:
        """input of any shape -> the same shape and dtype. With inplace=True the result is written into input's memory."""
        return F.silu(input, self.inplace)


class Mish(InPlace):
    """x * tanh(softplus(x)), element by element. Misra 2019 (arXiv:1908.08681).

    Args:
        inplace (bool): Whether the result is written to input's memory. Default: False.

    Example:
        >>> ag.nn.Mish()(ag.tensor([-1.0, 2.0]))
        tensor([-0.3034,  1.9440])
    """

    def forward(self, input: Tensor) -> Tensor:
        """input of any shape -> the same shape and dtype. With inplace=True the result is written into input's memory."""
        return F.mish(input, self.inplace)


class Hardsigmoid(Module):
    """A piecewise linear sigmoid: 0 for x <= -3, x / 6 + 1 / 2 between, 1 for x >= 3.

    Args:
        inplace (bool): Whether the result is written to input's memory. Default: False.

    Example:
        >>> ag.nn.Hardsigmoid()(ag.tensor([-4.0, 0.0, 4.0]))
        tensor([0.0000, 0.5000, 1.0000])
    """

    def __init__(self, inplace: bool = False) -> None:
        self.inplace = inplace

    def forward(self, input: Tensor) -> Tensor:
        """input of any shape -> the same shape and dtype. With inplace=True the result is written into input's memory."""
        return F.hardsigmoid(input, self.inplace)


class Hardswish(Module):
    """x * hardsigmoid(x), element by element. Howard et al. 2019 (arXiv:1905.02244).

    Args:
        inplace (bool): Whether the result is written to input's memory. Default: False.

    Example:
        >>> ag.nn.Hardswish()(ag.tensor([-4.0, 1.0, 4.0]))
        tensor([-0.0000, 0.6667, 4.0000])
    """

    def __init__(self, inplace: bool = False) -> None:
        self.inplace = inplace

    def forward(self, input: Tensor) -> Tensor:
        """input of any shape -> the same shape and dtype. With inplace=True the result is written into input's memory."""
        return F.hardswish(input, self.inplace)


class Hardtanh(Module):
    """x clamped to [min_val, max_val]. AssertionError unless max_val > min_val.

    Args:
        min_val (float): The lower limit. Default: -1.0.
        max_val (float): The upper limit. Default: 1.0.
        inplace (bool): Whether the result is written to input's memory. Default: False.
        min_value (float): The older name of min_val.
        max_value (float): The older name of max_val.

    Raises:
        AssertionError: max_val must be larger than min_val, got {self.min_val} and {self.max_val}.

    Example:
        >>> ag.nn.Hardtanh()(ag.tensor([-2.0, 0.5, 2.0]))
        tensor([-1.0000,  0.5000,  1.0000])
    """

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
    """x clamped to [0, 6]. Howard et al. 2017 (arXiv:1704.04861).

    Args:
        inplace (bool): Whether the result is written to input's memory. Default: False.

    Example:
        >>> ag.nn.ReLU6()(ag.tensor([-1.0, 2.0, 8.0]))
        tensor([0., 2., 6.])
    """

    def __init__(self, inplace: bool = False) -> None:
        super().__init__(0.0, 6.0, inplace)

    def extra_repr(self) -> str:
        """"inplace=True" if the module works in place, else the empty string."""
        return "inplace=True" if self.inplace else ""


class Threshold(Module):
    """x where x > threshold, the constant `value` elsewhere.

    Args:
        threshold (float): The limit.
        value (float): What elements become.
        inplace (bool): Whether the result is written to input's memory. Default: False.

    Example:
        >>> ag.nn.Threshold(1., 0.)(ag.tensor([-1.0, 0.5, 2.0]))
        tensor([0., 0., 2.])
    """

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
    """leaky_relu with a slope per element, drawn from U(lower, upper) in training mode; the mean of the two in
    evaluation mode. Xu et al. 2015 (arXiv:1505.00853).

    Args:
        lower (float): The smallest slope. Default: 0.125.
        upper (float): The largest slope. Default: 0.3333333333333333.
        inplace (bool): Whether the result is written to input's memory. Default: False.

    Example:
        >>> ag.nn.RReLU().eval()(ag.tensor([-3.0, 2.0]))
        tensor([-0.6875,  2.0000])
    """

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
    """x where x > 0, negative_slope * x elsewhere.

    Args:
        negative_slope (float): The slope below 0. Default: 0.01.
        inplace (bool): Whether the result is written to input's memory. Default: False.

    Example:
        >>> ag.nn.LeakyReLU()(ag.tensor([-1.0, 2.0]))
        tensor([-0.0100,  2.0000])
    """

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
    """x where x > 0, alpha * (exp(x) - 1) elsewhere. Clevert et al. 2015 (arXiv:1511.07289).

    Args:
        alpha (float): Where the negative part tends to, negated. Default: 1.0.
        inplace (bool): Whether the result is written to input's memory. Default: False.

    Example:
        >>> ag.nn.ELU()(ag.tensor([-1.0, 2.0]))
        tensor([-0.6321,  2.0000])
    """

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
    """x where x > 0, alpha * (exp(x / alpha) - 1) elsewhere. Barron 2017 (arXiv:1704.07483).

    Args:
        alpha (float): Where the negative part tends to, negated. Default: 1.0.
        inplace (bool): Whether the result is written to input's memory. Default: False.

    Example:
        >>> ag.nn.CELU()(ag.tensor([-1.0, 2.0]))
        tensor([-0.6321,  2.0000])
    """

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
    """leaky_relu with a learned slope: one for all, or one per channel (dimension 1). He et al. 2015
    (arXiv:1502.01852).

    Args:
        num_parameters (int): Number of slopes: 1, or one for each channel. Default: 1.
        init (float): The slope to begin with. Default: 0.25.
        device (device): The CPU, under any of its names.
        dtype (dtype): Of the parameters; the default dtype if None.

    Example:
        >>> ag.nn.PReLU()(ag.tensor([-4.0, 2.0]))
        tensor([-1.,  2.], grad_fn=<PreluKernelBackward0>)
        >>> layer = ag.nn.PReLU()
        >>> layer.reset_parameters()
    """

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
    """a * sigmoid(b), where a and b are the two halves of the input along dim. Dauphin et al. 2016 (arXiv:1612.08083).

    Args:
        dim (int): The dimension. Default: -1.

    Example:
        >>> ag.nn.GLU()(ag.tensor([[1.0, 2.0, 0.0, 0.0]]))
        tensor([[0.5000, 1.0000]])
    """

    def __init__(self, dim: int = -1) -> None:
        self.dim = dim

    def forward(self, input: Tensor) -> Tensor:
        """input of even size along dim -> half that size along dim. RuntimeError if the size is odd."""
        return F.glu(input, self.dim)

    def extra_repr(self) -> str:
        """The dimension that is halved, as repr() shows it."""
        return format_attributes(self, "dim")


class GELU(Module):
    """x * Phi(x), Phi the standard normal distribution function; approximate="tanh" uses the tanh formula of the
    paper. Hendrycks & Gimpel 2016 (arXiv:1606.08415).

    Args:
        approximate (str): "none" or "tanh". Default: 'none'.

    Example:
        >>> ag.nn.GELU()(ag.tensor([-1.0, 0.0, 1.0]))
        tensor([-0.1587,  0.0000,  0.8413])
    """

    def __init__(self, approximate: str = "none") -> None:
        self.approximate = approximate

    def forward(self, input: Tensor) -> Tensor:
        """input of any shape -> the same shape and dtype."""
        return F.gelu(input, approximate=self.approximate)

    def extra_repr(self) -> str:
        """The name of the approximation, as repr() shows it."""
        return f"approximate={self.approximate!r}"


class Hardshrink(Module):
    """x where |x| > lambd, 0 elsewhere.

    Args:
        lambd (float): Half the width of what becomes 0. Default: 0.5.

    Example:
        >>> ag.nn.Hardshrink()(ag.tensor([-1.0, 0.3, 2.0]))
        tensor([-1.,  0.,  2.])
    """

    def __init__(self, lambd: float = 0.5) -> None:
        self.lambd = lambd

    def forward(self, input: Tensor) -> Tensor:
        """input of any shape -> the same shape and dtype."""
        return F.hardshrink(input, self.lambd)

    def extra_repr(self) -> str:
        """The bound lambd, as repr() shows it."""
        return str(self.lambd)


class Softshrink(Module):
    """x - lambd where x > lambd, x + lambd where x < -lambd, 0 between.

    Args:
        lambd (float): Half the width of what becomes 0. Default: 0.5.

    Example:
        >>> ag.nn.Softshrink()(ag.tensor([-1.0, 0.3, 2.0]))
        tensor([-0.5000,  0.0000,  1.5000])
    """

    def __init__(self, lambd: float = 0.5) -> None:
        self.lambd = lambd

    def forward(self, input: Tensor) -> Tensor:
        """input of any shape -> the same shape and dtype."""
        return F.softshrink(input, self.lambd)

    def extra_repr(self) -> str:
        """The bound lambd, as repr() shows it."""
        return str(self.lambd)


class Softplus(Module):
    """log(1 + exp(beta * x)) / beta; x itself where beta * x > threshold, to avoid overflow.

    Args:
        beta (float): How sharp the bend is. Default: 1.0.
        threshold (float): From where the result is linear. Default: 20.0.

    Example:
        >>> ag.nn.Softplus()(ag.tensor([-1.0, 0.0, 30.0]))
        tensor([ 0.3133,  0.6931, 30.0000])
    """

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
    """1 / (1 + exp(-x)), element by element.

    Raises:
        TypeError: {...}.__init__() got {what}.

    Example:
        >>> ag.nn.Sigmoid()(ag.tensor([-2.0, 0.0, 2.0]))
        tensor([0.1192, 0.5000, 0.8808])
    """

    def forward(self, input: Tensor) -> Tensor:
        """input of any shape -> the same shape and dtype."""
        return F.sigmoid(input)


class Tanh(Module):
    """The hyperbolic tangent, element by element.

    Raises:
        TypeError: {...}.__init__() got {what}.

    Example:
        >>> ag.nn.Tanh()(ag.tensor([-1.0, 0.0, 1.0]))
        tensor([-0.7616,  0.0000,  0.7616])
    """

    def forward(self, input: Tensor) -> Tensor:
        """input of any shape -> the same shape and dtype."""
        return F.tanh(input)


class LogSigmoid(Module):
    """log(sigmoid(x)), computed without overflow or underflow.

    Raises:
        TypeError: {...}.__init__() got {what}.

    Example:
        >>> ag.nn.LogSigmoid()(ag.tensor([-2.0, 0.0, 200.0]))
        tensor([-2.1269, -0.6931,  0.0000])
    """

    def forward(self, input: Tensor) -> Tensor:
        """input of any shape -> the same shape and dtype."""
        return F.logsigmoid(input)


class Softsign(Module):
    """x / (1 + |x|), element by element.

    Raises:
        TypeError: {...}.__init__() got {what}.

    Example:
        >>> ag.nn.Softsign()(ag.tensor([-1.0, 3.0]))
        tensor([-0.5000,  0.7500])
    """

    def forward(self, input: Tensor) -> Tensor:
        """input of any shape -> the same shape and dtype."""
        return F.softsign(input)


class Tanhshrink(Module):
    """x - tanh(x), element by element.

    Raises:
        TypeError: {...}.__init__() got {what}.

    Example:
        >>> ag.nn.Tanhshrink()(ag.tensor([-1.0, 3.0]))
        tensor([-0.2384,  2.0049])
    """

    def forward(self, input: Tensor) -> Tensor:
        """input of any shape -> the same shape and dtype."""
        return F.tanhshrink(input)


class Softmin(Module):
    """exp(-x) divided by its sum along dim.

    Args:
        dim (int): The dimension.

    Example:
        >>> ag.nn.Softmin(dim=1)(ag.tensor([[1.0, 2.0]]))
        tensor([[0.7311, 0.2689]])
    """

    def __init__(self, dim: int | None = None) -> None:
        self.dim = dim

    def forward(self, input: Tensor) -> Tensor:
        """input of any shape -> the same shape; slices along dim sum to 1."""
        return F.softmin(input, self.dim, _stacklevel=5)

    def extra_repr(self) -> str:
        """The dimension of the sum, as repr() shows it."""
        return format_attributes(self, "dim")


class Softmax(Module):
    """exp(x) divided by its sum along dim. With dim=None a dimension is chosen by the input's ndim, with a warning.

    Args:
        dim (int): The dimension.

    Example:
        >>> ag.nn.Softmax(dim=1)(ag.tensor([[1.0, 2.0], [3.0, 3.0]]))
        tensor([[0.2689, 0.7311],
                [0.5000, 0.5000]])
    """

    def __init__(self, dim: int | None = None) -> None:
        self.dim = dim

    def forward(self, input: Tensor) -> Tensor:
        """input of any shape -> the same shape; slices along dim sum to 1."""
        return F.softmax(input, self.dim, _stacklevel=5)

    def extra_repr(self) -> str:
        """The dimension of the sum, as repr() shows it."""
        return format_attributes(self, "dim")


class LogSoftmax(Module):
    """log(softmax(x)) along dim, computed as x - logsumexp(x).

    Args:
        dim (int): The dimension.

    Example:
        >>> ag.nn.LogSoftmax(dim=1)(ag.tensor([[1.0, 2.0]]))
        tensor([[-1.3133, -0.3133]])
    """

    def __init__(self, dim: int | None = None) -> None:
        self.dim = dim

    def forward(self, input: Tensor) -> Tensor:
        """input of any shape -> the same shape."""
        return F.log_softmax(input, self.dim, _stacklevel=5)

    def extra_repr(self) -> str:
        """The dimension of the sum, as repr() shows it."""
        return format_attributes(self, "dim")


class Softmax2d(Module):
    """softmax over the channels of each pixel of (n, c, h, w) or (c, h, w).

    Raises:
        TypeError: {...}.__init__() got {what}.

    Example:
        >>> ag.nn.Softmax2d()(ag.ones(1, 2, 1, 1)).flatten()
        tensor([0.5000, 0.5000])
    """

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
