"""RNN, LSTM and GRU: layers over sequences, each layer and direction one operation over all steps."""

from __future__ import annotations

import math
import numbers
import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, overload

from ...base.types import DeviceLike, DTypeLike
from ...core.casting import eligible
from ...core.modes import modes
from ...core.tensor import Parameter, Tensor
from ...ops.creation.fill import empty
from ...ops.index import index_select
from ...ops.nn.dropout import dropout
from ...ops.nn.rnn import recurrent
from ...ops.shape import cat, squeeze, stack, transpose, unbind, unsqueeze
from .. import init
from ..module import Module
from ..utils.rnn import PackedSequence
from .rnn_cells import GRUCell, LSTMCell, RNNCell, RNNCellBase, each

GATES = {"LSTM": 4, "GRU": 3, "RNN_TANH": 1, "RNN_RELU": 1}


class RNNBase(Module):
    """Base of RNN, LSTM and GRU: parameters, checks and the loop over layers and directions.

    Parameters of layer 0 are weight_ih_l0 (gates * hidden, input), weight_hh_l0 (gates * hidden, hidden), bias_ih_l0 and
    bias_hh_l0 (gates * hidden,), and with a projection weight_hr_l0 (proj, hidden); _l1 for layer 1; _reverse for the second
    direction."""

    def __init__(self, mode: str, input_size: int, hidden_size: int, num_layers: int = 1, bias: bool = True,
                 batch_first: bool = False, dropout: float = 0.0, bidirectional: bool = False, proj_size: int = 0,
                 device: DeviceLike = None, dtype: DTypeLike = None) -> None:
        super().__init__()
        _check_settings(input_size, hidden_size, num_layers, bias, batch_first, dropout, proj_size)
        if mode not in GATES:
            raise ValueError("Unrecognized RNN mode: " + mode)
        self.mode: str = mode
        self.input_size: int = input_size
        self.hidden_size: int = hidden_size
        self.num_layers: int = num_layers
        self.bias: bool = bias
        self.batch_first: bool = batch_first
        self.dropout: float = float(dropout)
        self.bidirectional: bool = bidirectional
        self.proj_size: int = proj_size
        size = proj_size or hidden_size
        gates = GATES[mode] * hidden_size
        self._all_weights: list[list[str]] = []
        for layer in range(num_layers):
            features = input_size if layer == 0 else size * (2 if bidirectional else 1)
            shapes: dict[str, tuple[int, ...]] = {"weight_ih": (gates, features), "weight_hh": (gates, size)}
            if bias:
                shapes |= {"bias_ih": (gates,), "bias_hh": (gates,)}
            if proj_size:
                shapes["weight_hr"] = (proj_size, hidden_size)
            for suffix in ("", "_reverse") if bidirectional else ("",):
                self._all_weights.append([f"{name}_l{layer}{suffix}" for name in shapes])
                for name, shape in zip(self._all_weights[-1], shapes.values(), strict=True):
                    setattr(self, name, Parameter(empty(shape, device=device, dtype=dtype)))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw every parameter from U(-b, b), b = 1 / sqrt(hidden_size)."""
        bound = 1.0 / math.sqrt(self.hidden_size)
        for weight in self.parameters():
            init.uniform_(weight, -bound, bound)

    @property
    def all_weights(self) -> list[list[Any]]:
        """The parameters by layer and direction: a list of lists."""
        return [[getattr(self, name) for name in names] for names in self._all_weights]

    @property
    def _flat_weights_names(self) -> list[str]:
        return [name for names in self._all_weights for name in names]

    @property
    def _flat_weights(self) -> list[Any]:
        return [getattr(self, name, None) for name in self._flat_weights_names]

    def flatten_parameters(self) -> None:
        """Does nothing: in PyTorch it arranges weights in one block for cuDNN."""

    # --- checks -----------------------------------------------------------------------------------------------------

    def check_input(self, input: Tensor, batch_sizes: Tensor | None) -> None:
        """ValueError unless input's dtype is the weights', RuntimeError unless its dimensions and features fit."""
        weight = self._flat_weights[0]
        if input.dtype != weight.dtype and (modes.autocast is None or not eligible(input) or not eligible(weight)):
            raise ValueError(f"RNN input dtype ({input.dtype}) does not match weight dtype ({weight.dtype}). Convert input: "
                             f"input.to({weight.dtype}), or convert model: model.to({input.dtype})")
        expected = 3 if batch_sizes is None else 2
        if input.ndim != expected:
            raise RuntimeError(f"input must have {expected} dimensions, got {input.ndim}")
        if input.shape[-1] != self.input_size:
            raise RuntimeError(f"input.size(-1) must be equal to input_size. Expected {self.input_size}, got "
                               f"{input.shape[-1]}")

    def _batch(self, input: Tensor, batch_sizes: Tensor | None) -> int:
        return int(batch_sizes[0]) if batch_sizes is not None else input.shape[0 if self.batch_first else 1]

    def get_expected_hidden_size(self, input: Tensor, batch_sizes: Tensor | None) -> tuple[int, int, int]:
        """The shape of h: (layers * directions, batch, proj_size or hidden_size)."""
        return (self.num_layers * (2 if self.bidirectional else 1), self._batch(input, batch_sizes),
                self.proj_size or self.hidden_size)

    def check_hidden_size(self, hx: Tensor, expected_hidden_size: tuple[int, ...],
                          msg: str = "Expected hidden size {}, got {}") -> None:
        """RuntimeError unless hx has expected_hidden_size; `msg` is formatted with both shapes."""
        if tuple(hx.shape) != tuple(expected_hidden_size):
            raise RuntimeError(msg.format(tuple(expected_hidden_size), list(hx.shape)))

    def check_forward_args(self, input: Tensor, hidden: Any, batch_sizes: Tensor | None) -> None:
        """Check the input and the initial states: see check_input and check_hidden_size."""
        self.check_input(input, batch_sizes)
        self.check_hidden_size(hidden, self.get_expected_hidden_size(input, batch_sizes))

    def permute_hidden(self, hx: Any, permutation: Tensor | None) -> Tensor:
        """The states with the sequences of the batch (dimension 1) permuted."""
        return hx if permutation is None else index_select(hx, 1, permutation)

    # --- forward ------------------------------------------------------------------------------------------------------

    if TYPE_CHECKING:                                # as forward, for each kind of input
        @overload                                    # type: ignore[override]
        def __call__(self, input: PackedSequence, hx: Tensor | None = None) -> tuple[PackedSequence, Tensor]: ...
        @overload
        def __call__(self, input: Tensor, hx: Tensor | None = None) -> tuple[Tensor, Tensor]: ...
        def __call__(self, input: Any, hx: Any = None) -> Any: ...

    def forward(self, input: Tensor | PackedSequence,
                hx: Tensor | Sequence[Tensor] | None = None) -> tuple[Tensor | Any, Any]:
        """input (t, b, input_size), (b, t, input_size) if batch_first, (t, input_size) or a PackedSequence, and the initial
        states hx -> (outputs, final states). States are (layers * directions, b, proj_size or hidden_size), without b for an
        unbatched input; of an LSTM two, (h, c), with c of hidden_size; zeros if hx is None."""
        if isinstance(input, PackedSequence):
            x, batch_sizes, order, back = input
            hx = None if hx is None else self.permute_hidden(hx, order)
            self._check(x, hx, batch_sizes)
            y, states = self._layers(x, hx, tuple(batch_sizes.tolist()))
            return PackedSequence(y, batch_sizes, order, back), self.permute_hidden(states, back)
        name = "RNN" if self.mode.startswith("RNN") else self.mode
        if input.ndim not in (2, 3):
            raise ValueError(f"{name}: Expected input to be 2D or 3D, got {input.ndim}D instead")
        batched = input.ndim == 3
        self._check_dimensions(hx, batched)
        dim = 0 if self.batch_first else 1
        x = input
        if not batched:
            x, hx = unsqueeze(input, dim), each(lambda h: unsqueeze(h, 1), hx)
        self._check(x, hx, None)
        y, states = self._layers(transpose(x, 0, 1) if self.batch_first else x, hx, None)
        y = transpose(y, 0, 1) if self.batch_first else y
        return (y, states) if batched else (squeeze(y, dim), each(lambda h: squeeze(h, 1), states))

    def _check(self, input: Tensor, hx: Tensor | Sequence[Tensor] | None, batch_sizes: Tensor | None) -> None:
        if hx is None:
            self.check_input(input, batch_sizes)
        else:
            self.check_forward_args(input, hx, batch_sizes)

    def _check_dimensions(self, hx: Any, batched: bool) -> None:
        """RuntimeError unless the states have a batch dimension exactly where the input has one."""
        given = () if hx is None else hx if self.mode == "LSTM" else (hx,)
        expected, what = (3, "batched 3-D") if batched else (2, "unbatched 2-D")
        if any(h.ndim != expected for h in given):
            names, got = (("hx and cx", f"({hx[0].ndim}-D, {hx[1].ndim}-D) tensors") if self.mode == "LSTM"
                          else ("hx", f"{hx.ndim}-D tensor"))
            raise RuntimeError(f"For {what} input, {names} should also be {expected}-D but got {got}")

    def _layers(self, x: Tensor, hx: Tensor | Sequence[Tensor] | None, sizes: tuple[int, ...] | None) -> Any:
        """All layers, one after another, each in one or both directions."""
        directions = 2 if self.bidirectional else 1
        given = [unbind(h, 0) for h in (() if hx is None else hx if self.mode == "LSTM" else (hx,))]
        finals: list[Any] = []
        for layer in range(self.num_layers):
            outs = []
            for direction in range(directions):
                at = layer * directions + direction
                h, c = ([rows[at] for rows in given] + [None, None])[:2]
                y, *states = recurrent(x, *self._weights(at), h, c, cell=self.mode, sizes=sizes, reverse=direction == 1)
                outs.append(y)
                finals.append(states)
            x = cat(outs, -1) if directions == 2 else outs[0]
            if self.dropout and self.training and layer < self.num_layers - 1:
                x = dropout(x, self.dropout)
        stacked = tuple(stack(list(states), 0) if len(states) > 1 else unsqueeze(states[0], 0)
                        for states in zip(*finals, strict=True))
        return x, stacked if self.mode == "LSTM" else stacked[0]

    def _weights(self, at: int) -> list[Any]:
        """weight_ih, weight_hh, bias_ih, bias_hh, weight_hr of a layer and direction, None where there is none."""
        weights = [getattr(self, name) for name in self._all_weights[at]]
        if not self.bias:
            weights[2:2] = [None, None]
        return weights if self.proj_size else [*weights, None]

    def extra_repr(self) -> str:
        text = f"{self.input_size}, {self.hidden_size}"
        defaults = {"proj_size": 0, "num_layers": 1, "bias": True, "batch_first": False, "dropout": 0,
                    "bidirectional": False}
        return text + "".join(f", {name}={getattr(self, name)}" for name, default in defaults.items()
                              if getattr(self, name) != default)


def _check_settings(input_size: int, hidden_size: int, num_layers: int, bias: bool, batch_first: bool, dropout: Any,
                    proj_size: int) -> None:
    """ValueError or TypeError for what no layer can have."""
    if not isinstance(dropout, numbers.Number) or isinstance(dropout, bool) or not 0 <= dropout <= 1:  # type: ignore[operator]
        raise ValueError("dropout should be a number in range [0, 1] representing the probability of an element being "
                         "zeroed")
    if dropout > 0 and num_layers == 1:                                         # type: ignore[operator]
        warnings.warn("dropout option adds dropout after all but last recurrent layer, so non-zero dropout expects "
                      f"num_layers greater than 1, but got dropout={dropout} and num_layers={num_layers}", stacklevel=4)
    for name, value, kind in (("bias", bias, bool), ("batch_first", batch_first, bool), ("input_size", input_size, int),
                              ("hidden_size", hidden_size, int)):
        if not isinstance(value, kind):
            raise TypeError(f"{name} should be of type {kind.__name__}, got: {type(value).__name__}")
    for name, value in (("input_size", input_size), ("hidden_size", hidden_size), ("num_layers", num_layers)):
        if value <= 0:
            raise ValueError(f"{name} must be greater than zero")
    if proj_size < 0:
        raise ValueError("proj_size should be a positive integer or zero to disable projections")
    if proj_size >= hidden_size:
        raise ValueError("proj_size has to be smaller than hidden_size")


class RNN(RNNBase):
    """h = act(W_ih x + b_ih + W_hh h + b_hh), act tanh or relu. Elman 1990."""

    def __init__(self, input_size: int, hidden_size: int, num_layers: int = 1, nonlinearity: str = "tanh",
                 bias: bool = True, batch_first: bool = False, dropout: float = 0.0, bidirectional: bool = False,
                 device: DeviceLike = None, dtype: DTypeLike = None, **more: Any) -> None:
        _no_projection(more)
        if nonlinearity not in ("tanh", "relu"):
            raise ValueError(f"Unknown nonlinearity '{nonlinearity}'. Select from 'tanh' or 'relu'.")
        super().__init__(f"RNN_{nonlinearity.upper()}", input_size, hidden_size, num_layers, bias, batch_first, dropout,
                         bidirectional, device=device, dtype=dtype)
        self.nonlinearity = nonlinearity


class LSTM(RNNBase):
    """c = f c + i g, h = o tanh(c) (projected to proj_size), gates i, f, o = sigmoid and g = tanh of W_ih x + W_hh h + b.

    Hochreiter & Schmidhuber 1997; states (h, c)."""

    def __init__(self, input_size: int, hidden_size: int, num_layers: int = 1, bias: bool = True,
                 batch_first: bool = False, dropout: float = 0.0, bidirectional: bool = False, proj_size: int = 0,
                 device: DeviceLike = None, dtype: DTypeLike = None) -> None:
        super().__init__("LSTM", input_size, hidden_size, num_layers, bias, batch_first, dropout, bidirectional, proj_size,
                         device, dtype)

    if TYPE_CHECKING:
        @overload                                    # type: ignore[override]
        def __call__(self, input: PackedSequence, hx: Sequence[Tensor] | None = None) -> tuple[
            PackedSequence, tuple[Tensor, Tensor]]: ...
        @overload
        def __call__(self, input: Tensor, hx: Sequence[Tensor] | None = None) -> tuple[Tensor, tuple[Tensor, Tensor]]: ...
        def __call__(self, input: Any, hx: Any = None) -> Any: ...

    def get_expected_cell_size(self, input: Tensor, batch_sizes: Tensor | None) -> tuple[int, int, int]:
        """The shape of c: (layers * directions, batch, hidden_size)."""
        return (*self.get_expected_hidden_size(input, batch_sizes)[:2], self.hidden_size)

    def check_forward_args(self, input: Tensor, hidden: Any, batch_sizes: Tensor | None) -> None:
        """Check the input and both initial states (h, c)."""
        self.check_input(input, batch_sizes)
        self.check_hidden_size(hidden[0], self.get_expected_hidden_size(input, batch_sizes),
                               "Expected hidden[0] size {}, got {}")
        self.check_hidden_size(hidden[1], self.get_expected_cell_size(input, batch_sizes),
                               "Expected hidden[1] size {}, got {}")

    def permute_hidden(self, hx: Any, permutation: Tensor | None) -> Any:
        """Both states with the sequences of the batch (dimension 1) permuted."""
        return hx if permutation is None else tuple(index_select(h, 1, permutation) for h in hx)


class GRU(RNNBase):
    """h = (1 - z) n + z h, r and z = sigmoid of W_ih x + W_hh h + b, n = tanh(W_in x + b_in + r (W_hn h + b_hn)).

    Cho et al. 2014 (arXiv:1406.1078)."""

    def __init__(self, input_size: int, hidden_size: int, num_layers: int = 1, bias: bool = True,
                 batch_first: bool = False, dropout: float = 0.0, bidirectional: bool = False, device: DeviceLike = None,
                 dtype: DTypeLike = None, **more: Any) -> None:
        _no_projection(more)
        super().__init__("GRU", input_size, hidden_size, num_layers, bias, batch_first, dropout, bidirectional,
                         device=device, dtype=dtype)


def _no_projection(more: dict[str, Any]) -> None:
    """ValueError for proj_size, TypeError for any other unknown argument."""
    if "proj_size" in more:
        raise ValueError("proj_size argument is only supported for LSTM, not RNN or GRU")
    if more:
        raise TypeError(f"got an unexpected keyword argument {next(iter(more))!r}")


__all__ = ["GRU", "LSTM", "RNN", "GRUCell", "LSTMCell", "RNNBase", "RNNCell", "RNNCellBase"]
