"""Multi-head attention as one function: projections, attention of each head, projection of the result."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...core.tensor import Tensor
from ..linalg.matmul import linear, matmul
from ..pointwise.choice import where
from ..reductions.reduce import mean
from ..shape import cat, expand, mT, narrow, reshape, squeeze, transpose, unsqueeze
from .attention import scaled_dot_product_attention
from .dropout import dropout
from .softmax import softmax


def multi_head_attention_forward(
        query: Any, key: Any, value: Any, embed_dim_to_check: int, num_heads: int, in_proj_weight: Any, in_proj_bias: Any,
        bias_k: Any, bias_v: Any, add_zero_attn: bool, dropout_p: float, out_proj_weight: Any, out_proj_bias: Any,
        training: bool = True, key_padding_mask: Any = None, need_weights: bool = True, attn_mask: Any = None,
        use_separate_proj_weight: bool = False, q_proj_weight: Any = None, k_proj_weight: Any = None,
        v_proj_weight: Any = None, static_k: Any = None, static_v: Any = None, average_attn_weights: bool = True,
        is_causal: bool = False) -> tuple[Any, Any]:
    """(output, attention weights or None): query (l, n, e), key and value (s, n, e), or without n.

    The weights are (n, l, s), the mean over heads, or (n, heads, l, s) if not average_attn_weights. Masks: True (or
    -inf) where a key is left out; key_padding_mask (n, s), attn_mask (l, s) or (n * heads, l, s).
    """
    batched = _batched(query, key, value, key_padding_mask, attn_mask, num_heads)
    if not batched:
        query, key, value = (unsqueeze(x, 1) for x in (query, key, value))
        key_padding_mask = None if key_padding_mask is None else unsqueeze(key_padding_mask, 0)
    length, n, size = query.shape
    _check_sizes(query, key, value, embed_dim_to_check, num_heads, use_separate_proj_weight)
    key_padding_mask = _added(key_padding_mask, "key_padding_mask", query.dtype)
    if is_causal and attn_mask is None:
        raise RuntimeError("Need attn_mask if specifying the is_causal hint.")
    if is_causal and key_padding_mask is None and not need_weights:
        attn_mask = None                             # the hint says it all
    else:
        attn_mask, is_causal = _added(attn_mask, "attn_mask", query.dtype), False
    weights = (q_proj_weight, k_proj_weight, v_proj_weight) if use_separate_proj_weight else in_proj_weight
    q, k, v = _projected(query, key, value, weights, in_proj_bias)
    attn_mask = _checked_mask(attn_mask, (length, key.shape[0]), n * num_heads)
    added = 0
    if (bias_k is None) != (bias_v is None):
        raise AssertionError("bias_k and bias_v must be given both or neither")
    if bias_k is not None:
        if static_k is not None or static_v is not None:
            raise AssertionError("bias cannot be added to static key or value.")
        k, v = (cat([x, expand(b, (1, n, size))]) for x, b in ((k, bias_k), (v, bias_v)))
        added += 1
    head = size // num_heads
    q = _heads(q, num_heads, head)
    k = _heads(k, num_heads, head) if static_k is None else _static(static_k, n * num_heads, head, "static_k")
    v = _heads(v, num_heads, head) if static_v is None else _static(static_v, n * num_heads, head, "static_v")
    if add_zero_attn:
        zero = np.zeros((n * num_heads, 1, head), k.dtype)
        k, v = cat([k, zero], 1), cat([v, zero], 1)
        added += 1
    mask = _merged(_wider(attn_mask, added), _wider(key_padding_mask, added), n, num_heads, k.shape[1])
    out, attention = _attend(q, k, v, mask, dropout_p if training else 0.0, need_weights, is_causal, n)
    out = linear(reshape(transpose(out, 0, 1), (length * n, size)), out_proj_weight, out_proj_bias)
    out = reshape(out, (length, n, out.shape[1]))
    if attention is not None:
        attention = reshape(attention, (n, num_heads, length, k.shape[1]))
        attention = mean(attention, 1) if average_attn_weights else attention
    if not batched:
        out, attention = squeeze(out, 1), None if attention is None else squeeze(attention, 0)
    return out, attention


def _attend(q: Any, k: Any, v: Any, mask: Any, dropout_p: float, need_weights: bool, is_causal: bool, n: int) -> Any:
    """The attention of each head, (n * heads, l, d), and its weights if they are wanted."""
    if need_weights:
        scores = matmul(q * math.sqrt(1 / q.shape[-1]), mT(k))
        attention = softmax(scores if mask is None else scores + mask, -1)
        attention = dropout(attention, dropout_p) if dropout_p > 0 else attention
        return matmul(attention, v), attention
    return scaled_dot_product_attention(q, k, v, mask, dropout_p, is_causal), None


def _batched(query: Any, key: Any, value: Any, key_padding_mask: Any, attn_mask: Any, num_heads: int) -> bool:
    """Whether the inputs have a batch dimension. AssertionError where they do not fit one another."""
    if query.ndim not in (2, 3):
        raise AssertionError(f"query should be unbatched 2D or batched 3D tensor but received {query.ndim}-D query tensor")
    if key.ndim != query.ndim or value.ndim != query.ndim:
        raise AssertionError(f"For {query.ndim}-D `query`, expected `key` and `value` to be {query.ndim}-D but found "
                             f"{key.ndim}-D and {value.ndim}-D tensors respectively")
    if key_padding_mask is not None and key_padding_mask.ndim != query.ndim - 1:
        raise AssertionError(f"For {query.ndim}-D `query`, expected `key_padding_mask` to be None or {query.ndim - 1}-D but "
                             f"found {key_padding_mask.ndim}-D tensor instead")
    if attn_mask is not None and attn_mask.ndim not in (2, 3):
        raise AssertionError(f"expected `attn_mask` to be None, 2-D or 3-D but found {attn_mask.ndim}-D tensor instead")
    if query.ndim == 2 and attn_mask is not None and attn_mask.ndim == 3:
        expected = (num_heads, query.shape[0], key.shape[0])
        if attn_mask.shape != expected:
            raise AssertionError(f"Expected `attn_mask` shape to be {expected} but got {attn_mask.shape}")
    return query.ndim == 3


def _check_sizes(query: Any, key: Any, value: Any, embed_dim: int, num_heads: int, separate: bool) -> None:
    size = query.shape[-1]
    if size != embed_dim:
        raise AssertionError(f"was expecting embedding dimension of {embed_dim}, but got {size}")
    if size % num_heads:
        raise AssertionError(f"embed_dim {embed_dim} not divisible by num_heads {num_heads}")
    if separate and key.shape[:2] != value.shape[:2]:
        raise AssertionError(f"key's sequence and batch dims {key.shape[:2]} do not match value's {value.shape[:2]}")
    if not separate and key.shape != value.shape:
        raise AssertionError(f"key shape {key.shape} does not match value shape {value.shape}")


def _added(mask: Any, name: str, dtype: Any) -> Any:
    """A mask as numbers to add to the scores."""
    if mask is None:
        return None
    if mask.dtype.kind in "fV":
        return mask
    if mask.dtype.kind != "b":
        raise AssertionError(f"only bool and floating types of {name} are supported, not {mask.dtype}")
    return where(mask, np.asarray(-np.inf, dtype), np.asarray(0, dtype))


def _checked_mask(mask: Any, matrix: tuple[int, int], heads: int) -> Any:
    """attn_mask with three dimensions."""
    if mask is None:
        return None
    expected = matrix if mask.ndim == 2 else (heads, *matrix)
    if mask.shape != expected:
        raise RuntimeError(f"The shape of the {mask.ndim}D attn_mask is {tuple(mask.shape)}, but should be {expected}.")
    return unsqueeze(mask, 0) if mask.ndim == 2 else mask


def _projected(query: Any, key: Any, value: Any, weights: Any, bias: Any) -> list[Any]:
    """query, key and value times their parts of the weights; bias (3 e,)."""
    size = query.shape[-1]
    if isinstance(weights, Tensor):
        if query is key and key is value:
            return [narrow(linear(query, weights, bias), -1, i * size, size) for i in range(3)]
        weights = [narrow(weights, 0, i * size, size) for i in range(3)]
    for name, weight in zip(("q_proj_weight", "k_proj_weight", "v_proj_weight"), weights, strict=True):
        if weight is None:
            raise AssertionError(f"use_separate_proj_weight is True but {name} is None")
    biases = [None] * 3 if bias is None else [narrow(bias, 0, i * size, size) for i in range(3)]
    return [linear(x, w, b) for x, w, b in zip((query, key, value), weights, biases, strict=True)]


def _heads(x: Any, num_heads: int, head: int) -> Any:
    """(s, n, heads * d) as (n * heads, s, d)."""
    return transpose(reshape(x, (x.shape[0], x.shape[1] * num_heads, head)), 0, 1)


def _static(x: Any, heads: int, head: int, name: str) -> Any:
    if x.shape[0] != heads or x.shape[2] != head:
        raise AssertionError(f"expecting {name}.size(0) of {heads} and {name}.size(2) of {head}, but got {tuple(x.shape)}")
    return x


def _wider(mask: Any, added: int) -> Any:
    """A mask with columns of 0 for the keys that were added."""
    if mask is None or not added:
        return mask
    return cat([mask, np.zeros((*mask.shape[:-1], added), mask.dtype)], -1)


def _merged(attn_mask: Any, key_padding_mask: Any, n: int, num_heads: int, keys: int) -> Any:
    """Both masks as one, for scores of (n * heads, l, s)."""
    if key_padding_mask is None:
        return attn_mask
    if key_padding_mask.shape != (n, keys):
        raise AssertionError(f"expecting key_padding_mask shape of {(n, keys)}, but got {tuple(key_padding_mask.shape)}")
    padding = reshape(expand(reshape(key_padding_mask, (n, 1, 1, keys)), (n, num_heads, 1, keys)), (n * num_heads, 1, keys))
    return padding if attn_mask is None else attn_mask + padding


__all__: list[str] = []
METHODS: list[str] = []
