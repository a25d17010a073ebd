"""einops.layers.autograd: Rearrange, Reduce and EinMix as modules, implemented by einops' own classes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..core.tensor import Tensor
from ..nn.init import uniform_
from ..nn.module import Module
from ..nn.parameter import Parameter
from ..ops.creation.fill import zeros
from ..ops.linalg.einsum import einsum

if TYPE_CHECKING:
    RearrangeMixin: Any = object
    ReduceMixin: Any = object
    EinmixMixin: Any = object
else:
    from einops.layers import RearrangeMixin, ReduceMixin
    from einops.layers._einmix import _EinmixMixin as EinmixMixin


class Rearrange(RearrangeMixin, Module):
    """einops.rearrange as a module.

    >>> Rearrange("b c h w -> b (c h w)")(ag.zeros(2, 3, 4, 4)).shape
    torch.Size([2, 48])
    """

    def forward(self, input: Tensor) -> Tensor:
        return self._apply_recipe(input)


class Reduce(ReduceMixin, Module):
    """einops.reduce as a module.

    >>> Reduce("b c (h 2) (w 2) -> b c h w", "max")(ag.zeros(2, 3, 4, 4)).shape
    torch.Size([2, 3, 2, 2])
    """

    def forward(self, input: Tensor) -> Tensor:
        return self._apply_recipe(input)


class EinMix(EinmixMixin, Module):
    """einops' linear layer along any of the dimensions, with a weight and a bias of given axes.

    >>> EinMix("t b c -> t b out", weight_shape="c out", bias_shape="out", c=10, out=20)(ag.zeros(3, 4, 10)).shape
    torch.Size([3, 4, 20])
    """

    weight: Any
    bias: Any

    def _create_parameters(self, weight_shape: Any, weight_bound: float, bias_shape: Any, bias_bound: float) -> None:
        self.weight = Parameter(uniform_(zeros(tuple(weight_shape)), -weight_bound, weight_bound))
        self.bias = None if bias_shape is None else Parameter(uniform_(zeros(tuple(bias_shape)), -bias_bound, bias_bound))

    def _create_rearrange_layers(self, pre_reshape_pattern: str | None, pre_reshape_lengths: dict[str, int] | None,
                                 post_reshape_pattern: str | None, post_reshape_lengths: dict[str, int] | None) -> None:
        pairs = ("pre_rearrange", pre_reshape_pattern, pre_reshape_lengths), (
            "post_rearrange", post_reshape_pattern, post_reshape_lengths)
        for name, pattern, lengths in pairs:
            setattr(self, name, None if pattern is None else Rearrange(pattern, **(lengths or {})))

    def forward(self, input: Tensor) -> Tensor:
        if self.pre_rearrange is not None:
            input = self.pre_rearrange(input)
        out = einsum(self.einsum_pattern, input, self.weight)
        if self.bias is not None:
            out = out + self.bias
        return out if self.post_rearrange is None else self.post_rearrange(out)
