"""Steps of optimizers on vectors, in place: one pass where loops are compiled, several of NumPy's otherwise."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..base.types import Array
from .loops import FLOAT32, FLOAT64, kernels_for

Rate = float | Array                 # a number, or an array of one number: rounds alike with an array of its dtype


def adam(p: Array, g: Array, m: Array, v: Array, largest: Array | None = None, *, size: Rate, scale: Rate, beta1: Rate,
         rest1: Rate, beta2: Rate, rest2: Rate, eps: Rate, maximize: bool, decay: Rate | None, shrink: Rate | None) -> None:
    """A step of Adam (AMSGrad if there is an array `largest`); `size` and `scale` correct the bias.

    670,000 float32 parameters: 0.11 ms compiled, 1.28 ms in NumPy. In float64 both round alike.
    """
    step = loop("adam", p, g, m, v) if largest is None else None
    if step is not None:
        step(p, g, m, v, p.size, 1.0 if shrink is None else shrink, 0.0 if decay is None else decay,
             -1.0 if maximize else 1.0, beta1, rest1, beta2, rest2, scale, eps, size)
        return
    g = descent(p, g, maximize=maximize, decay=decay, shrink=shrink)
    scratch = moments(g, m, v, beta1, rest1, beta2, rest2)
    if largest is not None:
        v = np.maximum(largest, v, out=largest)
    np.sqrt(v, out=scratch)
    scratch *= scale
    scratch += eps
    np.divide(m, scratch, out=scratch)
    scratch *= size
    p -= scratch


def moments(g: Array, m: Array, v: Array, beta1: Rate, rest1: Rate, beta2: Rate, rest2: Rate) -> Array:
    """Move the running means m of g and v of g^2 on; returns scratch memory of their size."""
    scratch = g * rest1
    m *= beta1
    m += scratch
    np.multiply(g, g, out=scratch)
    scratch *= rest2
    v *= beta2
    v += scratch
    return scratch


def sgd(p: Array, g: Array, v: Array | None = None, *, lr: Rate, momentum: Rate | None, share: Rate | None, nesterov: bool,
        maximize: bool, decay: Rate | None, shrink: None = None) -> None:
    """A step of gradient descent, with momentum if there is a velocity v, to which `share` of the gradient is added."""
    step = loop("sgd" if v is None else "sgd_momentum", p, g, v)
    if step is not None:
        options = lr, 0.0 if decay is None else decay, -1.0 if maximize else 1.0
        if v is None:
            step(p, g, p.size, *options)
        else:
            step(p, g, v, p.size, *options, momentum, 1.0 if share is None else share, nesterov)
        return
    g = descent(p, g, maximize=maximize, decay=decay)
    if v is not None:
        v *= momentum
        v += g if share is None else share * g
        g = g + momentum * v if nesterov else v
    p -= lr * g


def loop(name: str, *arrays: Array | None) -> Any:
    """The kernel of this name for these arrays, if they are all float32, or float64; else None."""
    double = arrays[0].dtype is FLOAT64  # type: ignore[union-attr]
    kernels = kernels_for(*arrays, dtype=FLOAT64 if double else FLOAT32)
    return None if kernels is None else getattr(kernels, f"{name}_double" if double else name)


def descent(p: Array, g: Array, out: Array | None = None, *, maximize: bool, decay: Rate | None = None,
            shrink: Rate | None = None) -> Array:
    """Shrink p, and return the gradient to go down along, with weight decay as the gradient of decay |p|^2 / 2 has it."""
    if shrink is not None:
        p *= shrink
    if maximize:
        g = np.negative(g, out=out)
    if decay is not None:
        g = np.add(g, decay * p, out=out)
    return g
