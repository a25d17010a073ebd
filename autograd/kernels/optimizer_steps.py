"""Steps of optimizers on vectors, in place: one pass where loops are compiled, several of NumPy's otherwise."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..base.types import Array
from .loops import FLOAT32, FLOAT64, kernels_for


def adam(p: Array, g: Array, m: Array, v: Array, largest: Array | None, *, t: float, lr: float, beta1: float, beta2: float,
         eps: float, decay: float, decoupled: bool, maximize: bool) -> None:
    """Step t of Adam (AdamW if decoupled; AMSGrad if there is an array `largest`).

    670,000 float32 parameters: 0.11 ms compiled, 1.28 ms in NumPy. In float64 both round alike.
    """
    size, scale = lr / (1 - beta1 ** t), 1 / math.sqrt(1 - beta2 ** t)
    shrink = 1 - lr * decay if decoupled else 1.0
    step = loop("adam", p, g, m, v) if largest is None else None
    if step is not None:
        step(p, g, m, v, p.size, shrink, 0.0 if decoupled else decay, -1.0 if maximize else 1.0, beta1, 1 - beta1, beta2,
             1 - beta2, scale, eps, size)
        return
    if decoupled and decay:
        p *= shrink
    if maximize or (decay and not decoupled):
        g = descent(p, g.copy(), maximize, 0.0 if decoupled else decay)
    scratch = moments(g, m, v, beta1, beta2)
    if largest is not None:
        v = np.maximum(largest, v, out=largest)
    np.sqrt(v, out=scratch)
    scratch *= scale
    scratch += eps
    np.divide(m, scratch, out=scratch)
    scratch *= size
    p -= scratch


def moments(g: Array, m: Array, v: Array, beta1: float, beta2: float) -> Array:
    """Move the running means m of g and v of g^2 on; returns scratch memory of their size."""
    scratch = g * (1 - beta1)
    m *= beta1
    m += scratch
    np.multiply(g, g, out=scratch)
    scratch *= 1 - beta2
    v *= beta2
    v += scratch
    return scratch


def sgd(p: Array, g: Array, v: Array | None, *, lr: float, momentum: float, dampening: float, decay: float, nesterov: bool,
        maximize: bool, fresh: bool) -> None:
    """A step of gradient descent, with momentum if there is a velocity v; the first one is the gradient itself."""
    sign = -1.0 if maximize else 1.0
    step = loop("sgd" if v is None else "sgd_momentum", p, g, v)
    if step is not None and v is None:
        step(p, g, p.size, lr, decay, sign)
        return
    if step is not None:
        step(p, g, v, p.size, lr, decay, sign, momentum, 1 - dampening, nesterov, fresh)
        return
    g = descent(p, g.copy(), maximize, decay)
    if v is None:
        g *= lr
    else:
        if fresh:
            v[...] = g
        else:
            v *= momentum
            v += g if dampening == 0 else (1 - dampening) * g
        if nesterov:
            g += momentum * v
            g *= lr
        else:
            np.multiply(v, lr, out=g)
    p -= g


def loop(name: str, *arrays: Array | None) -> Any:
    """The kernel of this name for these arrays, if they are all float32, or float64; else None."""
    double = arrays[0].dtype is FLOAT64  # type: ignore[union-attr]
    kernels = kernels_for(*arrays, dtype=FLOAT64 if double else FLOAT32)
    return None if kernels is None else getattr(kernels, f"{name}_double" if double else name)


def descent(p: Array, g: Array, maximize: bool, decay: float) -> Array:
    """The gradient to go down along, with weight decay as the gradient of |p|^2 / 2 has it. Overwrites g."""
    if maximize:
        np.negative(g, out=g)
    if decay:
        g += decay * p
    return g
