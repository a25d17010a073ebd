"""Gradients of convolutions, as functions: torch.nn.grad."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..core.backward import grad
from ..core.modes import enable_grad
from ..core.tensor import Tensor
from ..ops.creation.fill import zeros
from ..ops.nn.convolution import conv1d, conv2d, conv3d

DOC = """The gradient of conv{n}d for its {wanted}.

Args:
    {first}
    {second}
    grad_output (Tensor): Gradient for the output.
    stride (int or tuple): Default: 1.
    padding (int or tuple): Default: 0.
    dilation (int or tuple): Default: 1.
    groups (int): Default: 1.

Returns:
    Tensor: Of shape `{wanted}_size`.

Example:
    >>> y, w = ag.ones(1, 1{ones}, 3), ag.ones(1, 1{ones}, 1)
    >>> ag.nn.grad.conv{n}d_{wanted}({call}, y).flatten()
    {result}
"""


def gradient(n: int, convolve: Callable[..., Tensor], wanted: str) -> Callable[..., Tensor]:
    """The function conv{n}d_input or _weight. A convolution is linear in each: any values may stand for the wanted."""
    def found(known: dict[str, Any], size: Any, grad_output: Tensor, *settings: Any) -> Tensor:
        with enable_grad():
            point = zeros(*size, dtype=grad_output.dtype).requires_grad_()
            output = convolve(*({"input": point, "weight": point} | known).values(), None, *settings)
        return grad(output, [point], grad_output, create_graph=grad_output.requires_grad)[0]  # type: ignore[return-value]

    def of_input(input_size: Any, weight: Tensor, grad_output: Tensor, stride: Any = 1, padding: Any = 0, dilation: Any = 1,
                 groups: int = 1) -> Tensor:
        return found({"weight": weight}, input_size, grad_output, stride, padding, dilation, groups)

    def of_weight(input: Tensor, weight_size: Any, grad_output: Tensor, stride: Any = 1, padding: Any = 0, dilation: Any = 1,
                  groups: int = 1) -> Tensor:
        return found({"input": input}, weight_size, grad_output, stride, padding, dilation, groups)

    function, first, second, call, result = {
        "input": (of_input, "input_size (sequence of int): Shape of the input.",
                  "weight (Tensor): Weight of the convolution.", "y.shape, w", "tensor([1., 1., 1.])"),
        "weight": (of_weight, "input (Tensor): Input of the convolution.",
                   "weight_size (sequence of int): Shape of the weight.", "y, w.shape", "tensor([3.])")}[wanted]
    function.__name__ = function.__qualname__ = f"conv{n}d_{wanted}"
    function.__doc__ = DOC.format(n=n, wanted=wanted, first=first, second=second, call=call, result=result,
                                  ones=", 1" * (n - 1))
    return function


conv1d_input, conv1d_weight = gradient(1, conv1d, "input"), gradient(1, conv1d, "weight")
conv2d_input, conv2d_weight = gradient(2, conv2d, "input"), gradient(2, conv2d, "weight")
conv3d_input, conv3d_weight = gradient(3, conv3d, "input"), gradient(3, conv3d, "weight")

__all__ = ["conv1d_input", "conv1d_weight", "conv2d_input", "conv2d_weight", "conv3d_input", "conv3d_weight"]
