"""Scaled dot product attention: one node for the scores, their softmax and the weighted sum of the values."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...base.errors import check_broadcast
from ...core.casting import casts_lower
from ...core.random import default_generator
from ...core.tensor import Tensor
from ...core.traced import again
from ...kernels import attention as kernel
from ...kernels.products import product
from .._declare import Operation
from ..linalg.matmul import matrices
from ..pointwise.cast import cast
from ..pointwise.choice import where
from ..pointwise.exponential import exp
from ..reductions.reduce import add_up, sum
from ..shape import expand, mT, reshape, unsqueeze


class Attention(Operation, name="ScaledDotProductAttention"):
    """softmax(q k^T scale + bias) v, over the keys that are `allowed`; a row with none is 0. `keep` is dropout's mask."""

    mixes = True

    @staticmethod
    def forward(ctx: Any, q: Any, k: Any, v: Any, bias: Any, allowed: Any, keep: Any, *, scale: float, kept: float,
                causal: bool = False) -> Any:
        """The kernel where it applies. The probabilities, or what it keeps instead, are for an ordinary backward pass."""
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
    def backward(ctx: Any, g: Any) -> Any:
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


def causal_mask(q: Any, k: Any) -> Any:
    """True where a key is not after its query."""
    return np.tri(q.shape[-2], k.shape[-2], dtype=bool)


def _finite_maximum(scores: Any) -> Any:
    """The largest score of each row; 0 where all are -inf."""
    top = np.maximum.reduce(scores, axis=-1, keepdims=True, initial=-np.inf)
    top[top == -np.inf] = 0
    return top


def _probabilities(q: Any, k: Any, bias: Any, allowed: Any, scale: float) -> Any:
    """The forward's probabilities once more, recorded."""
    scores = matrices(q * scale, mT(k))
    if bias is not None:
        scores = scores + bias
    if allowed is not None:
        scores = where(allowed, scores, -math.inf)
    p = exp(scores - _finite_maximum(scores.array))
    total = sum(p, -1, keepdim=True)
    return p / where(total == 0, 1.0, total)


def repeat_heads(x: Any, times: int) -> Any:
    """Each head, dimension -3, `times` times in a row."""
    if times == 1:
        return x
    *batch, heads, length, size = x.shape
    return reshape(expand(unsqueeze(x, -3), (*batch, heads, times, length, size)), (*batch, heads * times, length, size))


@casts_lower
def scaled_dot_product_attention(query: Any, key: Any, value: Any, attn_mask: Any = None, dropout_p: float = 0.0,
                                 is_causal: bool = False, scale: float | None = None, enable_gqa: bool = False) -> Any:
    """softmax(query key^T scale + mask) value: query (..., l, e), key (..., s, e), value (..., s, d) -> (..., l, d).

    attn_mask: True where a key counts, or numbers that are added to the scores. is_causal: query i sees keys 0 to i.
    scale: 1 / sqrt(e) if None. enable_gqa: groups of queries' heads (dimension -3) share a head of key and value.
    """
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
        keep = again(_mask, (*batch, query.shape[-2], key.shape[-2]), dropout_p)
    size = query.array.shape[-1]
    factor = (1 / math.sqrt(size) if size else 1.0) if scale is None else float(scale)
    given: Any = query, key, value, bias
    half = query.dtype == np.float16
    if half:                                         # half precision is computed in single
        given = tuple(None if x is None else cast(x, np.float32) for x in given)
    out = Attention.apply(*given, allowed, keep, scale=factor, causal=is_causal,
                          kept=1 / (1 - dropout_p) if dropout_p < 1 else 0.0)
    return cast(out, query.dtype) if half else out


def _mask(shape: tuple[int, ...], p: float) -> Any:
    """True with probability 1 - p."""
    return default_generator().numpy.random(shape, np.float32) >= p


def _check(query: Any, key: Any, value: Any, attn_mask: Any, dropout_p: float, is_causal: bool) -> None:
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


def _shared_heads(query: Any, x: Any) -> Any:
    """x with as many heads as query has."""
    if x.ndim < 3 or query.ndim < 3 or x.shape[-3] == 0 or query.shape[-3] % x.shape[-3]:
        raise RuntimeError("Number of heads in key and value must divide the number of heads in query, but got query "
                           f"{list(query.shape)} and {list(x.shape)}")
    return repeat_heads(x, query.shape[-3] // x.shape[-3])


__all__: list[str] = []
METHODS: list[str] = []
