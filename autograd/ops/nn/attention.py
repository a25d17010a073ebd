"""Attention: scaled_dot_product_attention(), and multi_head_attention_forward(), which projects and splits into heads."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...base.errors import check_broadcast
from ...base.types import Array
from ...core.batching import Level
from ...core.casting import casts_lower
from ...core.operation import Operation
from ...core.tensor import Tensor
from ...core.types import Context, Gradients, TensorOrArray
from ...kernels import attention as kernel
from ...kernels.products import product
from ...modes.random import keep_mask
from ..linalg.matmul import linear, matmul, matrices
from ..pointwise.cast import cast
from ..pointwise.exponential import exp
from ..pointwise.where import where
from ..reductions.reduce import add_up, mean, sum
from ..shape import cat, expand, mT, narrow, reshape, squeeze, transpose, unsqueeze
from .dropout import dropout
from .softmax import softmax


def _attention_rule(level: Level, call: Any, args: Any, settings: Any) -> Any:
    """ScaledDotProductAttention's rule for batches: samples are one more leading dimension."""
    ndim = max([x.ndim for x in args if x is not None])
    return call(*[level.aligned(level.batch(x), ndim) for x in args[:3]], *[level.aligned(x, ndim) for x in args[3:]],
                **settings)


class ScaledDotProductAttention(Operation):
    """softmax(q k^T scale + bias) v, over the keys that are `allowed`; a row with none is 0. `keep` is dropout's mask."""

    batched = _attention_rule

    mixes = True

    @staticmethod
    def forward(ctx: Context, q: Array, k: Array, v: Array, bias: Array | None, allowed: Array | None, keep: Array | None, *,
                scale: float, kept: float, causal: bool = False) -> Array:
        """The kernel where it applies. Saves the probabilities, or what the kernel saves instead, for an ordinary backward
        pass."""
        ctx.scales = scale, kept, causal
        if bias is None and allowed is None and keep is None:
            made = kernel.forward(q, k, v, causal, scale)
            if made is not None:
                ctx.save(q, k, v, bias, allowed, keep, made[1])
                return made[0]
        allowed = causal_mask(q, k) if causal else allowed
        p = product(q * np.asarray(scale, q.dtype), np.swapaxes(k, -1, -2))
        if bias is not None:
            p = p + bias
        if allowed is not None:
            p = np.where(allowed, p, np.asarray(-np.inf, p.dtype))
        p -= _finite_maximum(p)
        np.exp(p, out=p)
        total = np.add.reduce(p, axis=-1, keepdims=True)
        total[total == 0] = 1
        p /= total
        ctx.save(q, k, v, bias, allowed, keep, (p,))     # in a tuple: a number to the graph, freed with the rest
        return product(p if keep is None else p * (keep * np.asarray(kept, p.dtype)), v)

    @staticmethod
    def backward(ctx: Any, g: Any) -> Gradients:
        """Through the sum to the probabilities, through the softmax to the scores, through the product to q and k."""
        q, k, v, bias, allowed, keep, known = ctx.values
        scale, kept, causal = ctx.scales
        recorded = isinstance(g, Tensor)
        if len(known) == 3 and not recorded:
            return *kernel.backward(g, q, k, v, known, causal, scale), None, None, None
        allowed = causal_mask(q, k) if causal else allowed
        p = _probabilities(q, k, bias, allowed, scale) if recorded else known[0]
        mask = None if keep is None else keep * np.asarray(kept, q.dtype)
        gq = gk = gv = gs = None
        if ctx.needs(2):
            gv = matrices(mT(p if mask is None else p * mask), g)
        if ctx.needs(0) or ctx.needs(1) or ctx.needs(3):
            gp = matrices(g, mT(v))
            gp = (gp if mask is None else gp * mask) * p
            gs = gp - p * (sum(gp, -1, keepdim=True) if recorded else add_up(gp, (gp.ndim - 1,), True))
            gq = matrices(gs, k) * scale if ctx.needs(0) else None
            gk = matrices(mT(gs), q) * scale if ctx.needs(1) else None
        return gq, gk, gv, gs if ctx.needs(3) else None, None, None


def causal_mask(q: TensorOrArray, k: TensorOrArray) -> Array:
    """True where a key is not after its query."""
    return np.tri(q.shape[-2], k.shape[-2], dtype=bool)


def _finite_maximum(scores: Array) -> Array:
    """The largest score of each row; 0 where all are -inf."""
    top = np.maximum.reduce(scores, axis=-1, keepdims=True, initial=-np.inf)
    top[top == -np.inf] = 0
    return top


def _probabilities(q: Tensor, k: Tensor, bias: Tensor | None, allowed: Array | None, scale: float) -> Tensor:
    """Recompute the forward's probabilities, recorded for a second derivative."""
    scores = matrices(q * scale, mT(k))
    if bias is not None:
        scores = scores + bias
    if allowed is not None:
        scores = where(allowed, scores, -math.inf)
    p = exp(scores - _finite_maximum(scores.array))
    total = sum(p, -1, keepdim=True)
    return p / where(total == 0, 1.0, total)


def repeat_heads(x: Tensor, times: int) -> Tensor:
    """Each head, dimension -3, `times` times in a row."""
    if times == 1:
        return x
    *batch, heads, length, size = x.shape
    return reshape(expand(unsqueeze(x, -3), (*batch, heads, times, length, size)), (*batch, heads * times, length, size))


@casts_lower
def scaled_dot_product_attention(query: Tensor, key: Tensor, value: Tensor, attn_mask: Tensor | None = None,
                                 dropout_p: float = 0.0, is_causal: bool = False, scale: float | None = None,
                                 enable_gqa: bool = False) -> Tensor:
    """softmax(query key^T scale + mask) value: query (..., l, e), key (..., s, e), value (..., s, d) -> (..., l, d)."""
    _check(query, key, value, attn_mask, dropout_p, is_causal)
    if enable_gqa:
        key, value = _shared_heads(query, key), _shared_heads(query, value)
    shapes = [x.array.shape[:-2] for x in (query, key, value)]
    batch = shapes[0]
    if shapes.count(batch) < 3:
        check_broadcast(*shapes)
        batch = np.broadcast_shapes(*shapes[:2])
    allowed = bias = None
    if attn_mask is not None:
        allowed, bias = (attn_mask.array, None) if attn_mask.dtype.kind == "b" else (None, attn_mask)
    keep = None
    if dropout_p:
        keep = keep_mask((*batch, query.shape[-2], key.shape[-2]), dropout_p)
    size = query.array.shape[-1]
    factor = (1 / math.sqrt(size) if size else 1.0) if scale is None else float(scale)
    given: Any = query, key, value, bias
    half = query.dtype == np.float16
    if half:                                         # half precision is computed in single
        given = tuple(None if x is None else cast(x, np.float32) for x in given)
    out = ScaledDotProductAttention.apply(*given, allowed, keep, scale=factor, causal=is_causal,
                          kept=1 / (1 - dropout_p) if dropout_p < 1 else 0.0)
    return cast(out, query.dtype) if half else out


def _check(query: Tensor, key: Tensor, value: Tensor, attn_mask: Tensor | None, dropout_p: float, is_causal: bool) -> None:
    q, k, v = query.array.shape, key.array.shape, value.array.shape
    shapes = "query {}, key {}, value {}".format
    if not query.dtype == key.dtype == value.dtype:
        raise RuntimeError("Expected query, key, and value to have the same dtype, but got query.dtype: "
                           f"{query.dtype} key.dtype: {key.dtype} and value.dtype: {value.dtype} instead.")
    if query.dtype.kind not in "fV":
        raise NotImplementedError(f"scaled_dot_product_attention is not implemented for {query.dtype}")
    if min(len(q), len(k), len(v)) < 2:
        raise RuntimeError("Expected query, key, and value to all be  at least 2 dimensional, but got "
                           + shapes(list(q), list(k), list(v)))
    if q[-1] != k[-1] or k[-2] != v[-2]:
        raise RuntimeError("scaled_dot_product_attention: query and key must agree in their last dimension, key and value "
                           "in the one before: got " + shapes(list(q), list(k), list(v)))
    if attn_mask is not None:
        if is_causal:
            raise RuntimeError("scaled_dot_product_attention: Explicit attn_mask should not be set when is_causal=True")
        if attn_mask.dtype.kind != "b" and attn_mask.dtype != query.dtype:
            raise RuntimeError("Expected attn_mask dtype to be bool or to match query dtype, but got attn_mask.dtype: "
                               f"{attn_mask.dtype} and query.dtype: {query.dtype} instead.")
    if not 0 <= dropout_p <= 1:
        raise RuntimeError(f"dropout probability has to be between 0 and 1, but got {dropout_p}")


def _shared_heads(query: Tensor, x: Tensor) -> Tensor:
    """x with as many heads as query has."""
    if x.ndim < 3 or query.ndim < 3 or x.shape[-3] == 0 or query.shape[-3] % x.shape[-3]:
        raise RuntimeError("Number of heads in key and value must divide the number of heads in query, but got query "
                           f"{list(query.shape)} and {list(x.shape)}")
    return repeat_heads(x, query.shape[-3] // x.shape[-3])


def multi_head_attention_forward(query: Tensor, key: Tensor, value: Tensor, embed_dim_to_check: int, num_heads: int,
                                 in_proj_weight: Tensor | None, in_proj_bias: Tensor | None, bias_k: Tensor | None,
                                 bias_v: Tensor | None, add_zero_attn: bool, dropout_p: float, out_proj_weight: Tensor,
                                 out_proj_bias: Tensor | None, training: bool = True, key_padding_mask: Tensor | None = None,
                                 need_weights: bool = True, attn_mask: Tensor | None = None,
                                 use_separate_proj_weight: bool = False, q_proj_weight: Tensor | None = None,
                                 k_proj_weight: Tensor | None = None, v_proj_weight: Tensor | None = None,
                                 static_k: Any = None, static_v: Any = None, average_attn_weights: bool = True,
                                 is_causal: bool = False) -> tuple[Any, Any]:
    """(output, attention weights or None): query (l, n, e), key and value (s, n, e), or without n.

    The weights are (n, l, s), the mean over heads, or (n, heads, l, s) if not average_attn_weights. Masks: True (or -inf)
    where a key is left out; key_padding_mask (n, s), attn_mask (l, s) or (n * heads, l, s)."""
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


def _attend(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None, dropout_p: float, need_weights: bool, is_causal: bool,
            n: int) -> Any:
    """The attention of each head, (n * heads, l, d), and its weights if they are wanted."""
    if need_weights:
        scores = matmul(q * math.sqrt(1 / q.shape[-1]), mT(k))
        attention = softmax(scores if mask is None else scores + mask, -1)
        attention = dropout(attention, dropout_p) if dropout_p > 0 else attention
        return matmul(attention, v), attention
    return scaled_dot_product_attention(q, k, v, mask, dropout_p, is_causal), None


def _batched(query: Tensor, key: Tensor, value: Tensor, key_padding_mask: Tensor | None, attn_mask: Tensor | None,
             num_heads: int) -> bool:
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


def _check_sizes(query: Tensor, key: Tensor, value: Tensor, embed_dim: int, num_heads: int, separate: bool) -> None:
    size = query.shape[-1]
    if size != embed_dim:
        raise AssertionError(f"was expecting embedding dimension of {embed_dim}, but got {size}")
    if size % num_heads:
        raise AssertionError(f"embed_dim {embed_dim} not divisible by num_heads {num_heads}")
    if separate and key.shape[:2] != value.shape[:2]:
        raise AssertionError(f"key's sequence and batch dims {key.shape[:2]} do not match value's {value.shape[:2]}")
    if not separate and key.shape != value.shape:
        raise AssertionError(f"key shape {key.shape} does not match value shape {value.shape}")


def _added(mask: Tensor | None, name: str, dtype: np.dtype[Any]) -> Tensor | None:
    """A mask as numbers to add to the scores."""
    if mask is None:
        return None
    if mask.dtype.kind in "fV":
        return mask
    if mask.dtype.kind != "b":
        raise AssertionError(f"only bool and floating types of {name} are supported, not {mask.dtype}")
    return where(mask, np.asarray(-np.inf, dtype), np.asarray(0, dtype))


def _checked_mask(mask: Tensor | None, matrix: tuple[int, int], heads: int) -> Tensor | None:
    """attn_mask with three dimensions."""
    if mask is None:
        return None
    expected = matrix if mask.ndim == 2 else (heads, *matrix)
    if mask.shape != expected:
        raise RuntimeError(f"The shape of the {mask.ndim}D attn_mask is {tuple(mask.shape)}, but should be {expected}.")
    return unsqueeze(mask, 0) if mask.ndim == 2 else mask


def _projected(query: Tensor, key: Tensor, value: Tensor, weights: Any, bias: Tensor | None) -> list[Any]:
    """query, key and value times their parts of the weights; bias (3 e,)."""
    size = query.shape[-1]
    if isinstance(weights, Tensor):
        if query is key and key is value:
            projected = linear(query, weights, bias)
            return [narrow(projected, -1, i * size, size) for i in range(3)]
        weights = [narrow(weights, 0, i * size, size) for i in range(3)]
    for name, weight in zip(("q_proj_weight", "k_proj_weight", "v_proj_weight"), weights, strict=True):
        if weight is None:
            raise AssertionError(f"use_separate_proj_weight is True but {name} is None")
    biases = [None] * 3 if bias is None else [narrow(bias, 0, i * size, size) for i in range(3)]
    return [linear(x, w, b) for x, w, b in zip((query, key, value), weights, biases, strict=True)]


def _heads(x: Tensor, num_heads: int, head: int) -> Tensor:
    """(s, n, heads * d) as (n * heads, s, d)."""
    return transpose(reshape(x, (x.shape[0], x.shape[1] * num_heads, head)), 0, 1)


def _static(x: Any, heads: int, head: int, name: str) -> Any:
    if x.shape[0] != heads or x.shape[2] != head:
        raise AssertionError(f"expecting {name}.size(0) of {heads} and {name}.size(2) of {head}, but got {tuple(x.shape)}")
    return x


def _wider(mask: Tensor | None, added: int) -> Any:
    """A mask with columns of 0 for the keys that were added."""
    if mask is None or not added:
        return mask
    return cat([mask, np.zeros((*mask.shape[:-1], added), mask.dtype)], -1)


def _merged(attn_mask: Tensor | None, key_padding_mask: Tensor | None, n: int, num_heads: int, keys: int) -> Any:
    """Both masks as one, for scores of (n * heads, l, s)."""
    if key_padding_mask is None:
        return attn_mask
    if key_padding_mask.shape != (n, keys):
        raise AssertionError(f"expecting key_padding_mask shape of {(n, keys)}, but got {tuple(key_padding_mask.shape)}")
    padding = reshape(expand(reshape(key_padding_mask, (n, 1, 1, keys)), (n, num_heads, 1, keys)), (n * num_heads, 1, keys))
    return padding if attn_mask is None else attn_mask + padding

__all__: list[str] = []
