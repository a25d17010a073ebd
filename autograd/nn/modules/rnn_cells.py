"""RNNCell, LSTMCell, GRUCell: one step of a recurrent layer, for models with a loop of their own."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from ...base.types import DeviceLike, DTypeLike
from ...core.tensor import Parameter, Tensor
from ...ops.creation.fill import empty
from ...ops.nn.rnn import recurrent
from ...ops.shape import squeeze, unsqueeze
from .. import init
from ..module import Module


def each(function: Callable[..., Any], states: Any) -> Any:
    """function(h) for one state, a tuple of function(h) for an LSTM's two states, None for None."""
    return None if states is None else function(states) if isinstance(states, Tensor) else tuple(map(function, states))


class RNNCellBase(Module):
    """Base of the cells. Parameters: weight_ih (chunks * hidden, input), weight_hh (chunks * hidden, hidden), bias_ih and
    bias_hh (chunks * hidden,)."""

    def __init__(self, input_size: int, hidden_size: int, bias: bool, num_chunks: int, device: DeviceLike = None,
                 dtype: DTypeLike = None) -> None:
        super().__init__()
        self.input_size: int = input_size
        self.hidden_size: int = hidden_size
        self.bias: bool = bias
        gates = num_chunks * hidden_size
        for name, shape in (("weight_ih", (gates, input_size)), ("weight_hh", (gates, hidden_size)),
                            ("bias_ih", (gates,)), ("bias_hh", (gates,))):
            wanted = bias or name.startswith("weight")
            self.register_parameter(name, Parameter(empty(shape, device=device, dtype=dtype)) if wanted else None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw every parameter from U(-b, b), b = 1 / sqrt(hidden_size)."""
        bound = 1.0 / math.sqrt(self.hidden_size) if self.hidden_size > 0 else 0
        for weight in self.parameters():
            init.uniform_(weight, -bound, bound)

    def _step(self, mode: str, input: Tensor, hx: Any) -> Any:
        """The states after one step, as a tuple."""
        name = type(self).__name__
        if input.ndim not in (1, 2):
            raise ValueError(f"{name}: Expected input to be 1D or 2D, got {input.ndim}D instead")
        given = () if hx is None else tuple(hx) if mode == "LSTM" else (hx,)
        for number, h in enumerate(given):
            if h.ndim not in (1, 2):
                which = f"hx[{number}]" if mode == "LSTM" else "hidden"
                raise ValueError(f"{name}: Expected {which} to be 1D or 2D, got {h.ndim}D instead")
        batched = input.ndim == 2
        if not batched:
            input, given = unsqueeze(input, 0), each(lambda h: unsqueeze(h, 0), given)
        _check_shapes(input, given, self.input_size, self.hidden_size)
        states = (*given, None, None)[:2]
        _, *after = recurrent(input, self.weight_ih, self.weight_hh, self.bias_ih, self.bias_hh, None, *states, cell=mode,
                              sizes=(input.shape[0],), reverse=False)
        return tuple(after) if batched else each(lambda h: squeeze(h, 0), tuple(after))

    def extra_repr(self) -> str:
        text = f"{self.input_size}, {self.hidden_size}" + ("" if self.bias is True else f", bias={self.bias}")
        nonlinearity = self.__dict__.get("nonlinearity", "tanh")
        return text + ("" if nonlinearity == "tanh" else f", nonlinearity={nonlinearity}")

    weight_ih: Parameter
    weight_hh: Parameter
    bias_ih: Parameter | None
    bias_hh: Parameter | None


def _check_shapes(input: Tensor, given: tuple[Any, ...], input_size: int, hidden_size: int) -> None:
    """RuntimeError unless input and states fit the weights and one another."""
    if input.shape[1] != input_size:
        raise RuntimeError(f"input has inconsistent input_size: got {input.shape[1]} expected {input_size}")
    for number, h in enumerate(given):
        if h.shape[0] != input.shape[0]:
            raise RuntimeError(f"Input batch size {input.shape[0]} doesn't match hidden{number} batch size {h.shape[0]}")
        if h.shape[1] != hidden_size:
            raise RuntimeError(f"hidden{number} has inconsistent hidden_size: got {h.shape[1]}, expected {hidden_size}")


class RNNCell(RNNCellBase):
    """h' = act(W_ih x + b_ih + W_hh h + b_hh), act tanh or relu: x (b, input_size) or (input_size,)."""

    def __init__(self, input_size: int, hidden_size: int, bias: bool = True, nonlinearity: str = "tanh",
                 device: DeviceLike = None, dtype: DTypeLike = None) -> None:
        super().__init__(input_size, hidden_size, bias, 1, device, dtype)
        self.nonlinearity = nonlinearity

    def forward(self, input: Tensor, hx: Tensor | None = None) -> Tensor:
        """input (b, input_size) or (input_size,), and the state hx (b, hidden_size) or (hidden_size,), zeros if None -> the
        next state, of hx's shape."""
        if self.nonlinearity not in ("tanh", "relu"):
            raise RuntimeError(f"Unknown nonlinearity: {self.nonlinearity}")
        return self._step(f"RNN_{self.nonlinearity.upper()}", input, hx)[0]     # type: ignore[no-any-return]


class LSTMCell(RNNCellBase):
    """(h', c') of an LSTM: x (b, input_size) or (input_size,), states (h, c)."""

    def __init__(self, input_size: int, hidden_size: int, bias: bool = True, device: DeviceLike = None,
                 dtype: DTypeLike = None) -> None:
        super().__init__(input_size, hidden_size, bias, 4, device, dtype)

    def forward(self, input: Tensor, hx: tuple[Tensor, Tensor] | None = None) -> tuple[Tensor, Tensor]:
        """input (b, input_size) or (input_size,), and the states hx = (h, c), each (b, hidden_size) or (hidden_size,), zeros
        if None -> the next (h, c)."""
        return self._step("LSTM", input, hx)         # type: ignore[no-any-return]


class GRUCell(RNNCellBase):
    """h' of a GRU: x (b, input_size) or (input_size,)."""

    def __init__(self, input_size: int, hidden_size: int, bias: bool = True, device: DeviceLike = None,
                 dtype: DTypeLike = None) -> None:
        super().__init__(input_size, hidden_size, bias, 3, device, dtype)

    def forward(self, input: Tensor, hx: Tensor | None = None) -> Tensor:
        """input (b, input_size) or (input_size,), and the state hx (b, hidden_size) or (hidden_size,), zeros if None -> the
        next state, of hx's shape."""
        return self._step("GRU", input, hx)[0]       # type: ignore[no-any-return]
