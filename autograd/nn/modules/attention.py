"""MultiheadAttention as a module."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...base.types import DeviceLike, DTypeLike
from ...core.tensor import Parameter, Tensor
from ...ops.creation.fill import empty
from ...ops.nn.attention import multi_head_attention_forward
from ...ops.pointwise.where import where
from ...ops.shape import expand, reshape, transpose
from .. import init
from ..module import Module
from .linear import Linear


class NonDynamicallyQuantizableLinear(Linear):
    """Linear, under the name that PyTorch's output projection shows."""


class MultiheadAttention(Module):
    """Attention in num_heads subspaces, Vaswani et al. 2017 (arXiv:1706.03762).

    query (l, n, embed_dim), key (s, n, kdim), value (s, n, vdim), n first if batch_first, or without n. Parameters:
    in_proj_weight (3 embed_dim, embed_dim), or q_, k_ and v_proj_weight if kdim or vdim differ; in_proj_bias, out_proj;
    bias_k, bias_v: one more key and value; add_zero_attn: one more, of zeros."""

    out_proj: NonDynamicallyQuantizableLinear

    def __init__(self, embed_dim: int, num_heads: int, dropout: float = 0.0, bias: bool = True, add_bias_kv: bool = False,
                 add_zero_attn: bool = False, kdim: int | None = None, vdim: int | None = None, batch_first: bool = False,
                 device: DeviceLike = None, dtype: DTypeLike = None) -> None:
        if embed_dim <= 0 or num_heads <= 0:
            raise ValueError(f"embed_dim and num_heads must be greater than 0, got embed_dim={embed_dim} and "
                             f"num_heads={num_heads} instead")
        super().__init__()
        self.embed_dim: int = embed_dim
        self.num_heads: int = num_heads
        self.head_dim: int = embed_dim // num_heads
        self.kdim: int = embed_dim if kdim is None else kdim
        self.vdim: int = embed_dim if vdim is None else vdim
        self._qkv_same_embed_dim = self.kdim == embed_dim and self.vdim == embed_dim
        self.dropout: float = dropout
        self.batch_first: bool = batch_first
        self.add_zero_attn: bool = add_zero_attn
        if self.head_dim * num_heads != embed_dim:
            raise AssertionError("embed_dim must be divisible by num_heads")
        same, e = self._qkv_same_embed_dim, embed_dim
        shapes: dict[str, tuple[int, ...] | None] = {
            "q_proj_weight": None if same else (e, e), "k_proj_weight": None if same else (e, self.kdim),
            "v_proj_weight": None if same else (e, self.vdim), "in_proj_weight": (3 * e, e) if same else None,
            "in_proj_bias": (3 * e,) if bias else None}
        more = (1, 1, e) if add_bias_kv else None
        for name, shape in [*shapes.items(), ("bias_k", more), ("bias_v", more)]:
            made = None if shape is None else Parameter(empty(shape, device=device, dtype=dtype))
            self.register_parameter(name, made)
        self.out_proj = NonDynamicallyQuantizableLinear(e, e, bias=bias, device=device, dtype=dtype)
        self._reset_parameters()

    def _reset_parameters(self) -> None:
        """Xavier's distributions, biases 0."""
        for weight in (self.in_proj_weight, self.q_proj_weight, self.k_proj_weight, self.v_proj_weight):
            if weight is not None:
                init.xavier_uniform_(weight)
        if self.in_proj_bias is not None:
            init.constant_(self.in_proj_bias, 0.0)
            init.constant_(self.out_proj.bias, 0.0)  # type: ignore[arg-type]
        for bias in (self.bias_k, self.bias_v):
            if bias is not None:
                init.normal_(bias, 0.0, 1 / math.sqrt(self.embed_dim))      # Xavier's, for embed_dim in and out

    def forward(self, query: Tensor, key: Tensor, value: Tensor, key_padding_mask: Tensor | None = None,
                need_weights: bool = True, attn_mask: Tensor | None = None, average_attn_weights: bool = True,
                is_causal: bool = False) -> tuple[Tensor, Tensor | Any]:
        """query, key and value, of the shapes that the class's text gives -> (output (l, n, embed_dim), weights (n, l, s),
        the mean over heads, (n, heads, l, s) if not average_attn_weights, None if not need_weights). Masks: True where a key
        is left out, or numbers that are added; key_padding_mask (n, s), attn_mask (l, s) or (n heads, l, s). is_causal says
        that attn_mask, which must be given, is the causal one."""
        turned = self.batch_first and query.ndim == 3
        key_padding_mask, attn_mask = added(key_padding_mask, query.dtype), added(attn_mask, query.dtype)
        if turned:
            own = key is query and value is query    # stays visible: one product projects all three
            shared = value is key
            query = transpose(query, 0, 1)
            key = query if own else transpose(key, 0, 1)
            value = key if shared else transpose(value, 0, 1)
        out, weights = multi_head_attention_forward(
            query, key, value, self.embed_dim, self.num_heads, self.in_proj_weight, self.in_proj_bias, self.bias_k,
            self.bias_v, self.add_zero_attn, self.dropout, self.out_proj.weight, self.out_proj.bias, self.training,
            key_padding_mask, need_weights, attn_mask, not self._qkv_same_embed_dim, self.q_proj_weight,
            self.k_proj_weight, self.v_proj_weight, None, None, average_attn_weights, is_causal)
        return transpose(out, 0, 1) if turned else out, weights

    def merge_masks(self, attn_mask: Tensor | None, key_padding_mask: Tensor | None,
                    query: Tensor) -> tuple[Any, int | None]:
        """Both masks as one, for query (n, l, e), and its kind: 1 key_padding_mask alone, 2 (n, heads, l, l), None none."""
        if attn_mask is None:
            return key_padding_mask, None if key_padding_mask is None else 1
        n, length, _ = query.shape
        full = (n, self.num_heads, length, length)
        merged = reshape(attn_mask, full if attn_mask.ndim == 3 else (1, 1, length, length))
        merged = expand(merged, full)
        if key_padding_mask is not None:
            merged = merged + reshape(key_padding_mask, (n, 1, 1, length))
        return merged, 2

    in_proj_weight: Parameter | None
    q_proj_weight: Parameter | None
    k_proj_weight: Parameter | None
    v_proj_weight: Parameter | None
    in_proj_bias: Parameter | None
    bias_k: Parameter | None
    bias_v: Parameter | None


def added(mask: Tensor | None, dtype: DTypeLike, name: str = "mask") -> Any:
    """A mask as numbers to add to the scores: -inf for True."""
    if not isinstance(mask, Tensor) or mask.dtype.kind in "fV":
        return mask
    if mask.dtype.kind != "b":
        raise AssertionError(f"only bool and floating types of {name} are supported")
    return where(mask, np.asarray(-np.inf, dtype), np.asarray(0, dtype))


__all__ = ["MultiheadAttention"]
