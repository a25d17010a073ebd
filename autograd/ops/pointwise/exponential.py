"""Exponentials and logarithms."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ...base.types import Array
from ...core.declare import elementwise
from ...kernels import activations
from ...kernels.halves import converted
from ...kernels.logarithms import logaddexp as kernel
from ...kernels.memory_format import order_of
from .._kinds import only, tensors
from .where import where

if TYPE_CHECKING:
    from ...core.types import Declared

LN2, LN10 = float(np.log(2)), float(np.log(10))

exp: Declared = elementwise("Exp", np.exp, lambda g, z: g * z, floats=True)
exp2: Any = elementwise("Exp2", np.exp2, lambda g, z: g * z * LN2, floats=True)
expm1: Declared = elementwise("Expm1", np.expm1, lambda g, z: g * (z + 1), floats=True)
log: Any = elementwise("Log", np.log, lambda g, x: g / x, floats=True)
log2: Declared = elementwise("Log2", np.log2, lambda g, x: g / (x * LN2), floats=True)
log10: Declared = elementwise("Log10", np.log10, lambda g, x: g / (x * LN10), floats=True)
log1p: Declared = elementwise("Log1p", np.log1p, lambda g, x: g / (x + 1), floats=True)


def logistic(x: Array) -> Array:
    """1 / (1 + exp(-x)) of arrays: accurate for large -x too; exp may overflow to inf."""
    x = np.asarray(x)
    quick = activations.forward("sigmoid", x)
    if quick is not None:
        return quick
    if x.dtype == np.float16:
        return converted(logistic(converted(x, np.float32)), np.float16)
    e = np.negative(x, out=np.empty_like(x, order=order_of(x)))
    np.exp(e, out=e)
    e += 1
    return np.divide(1, e, out=e)


sigmoid: Any = elementwise("Sigmoid", logistic, lambda g, z: g * (z * (1 - z)), floats=True)
# sigmoid in the rules of others: its derivative, from x, keeps its digits where z is near 1
tailed_sigmoid: Any = elementwise("Sigmoid", logistic, lambda g, x: g * (tailed_sigmoid(x) * tailed_sigmoid(-x)),
                                  floats=True)


def _apart(x: Any, y: Any) -> Any:
    """x - y, 0 for equal infinities."""
    return where((x == y) & (abs(x) == np.inf), 0.0, x - y)


logaddexp: Declared = elementwise("Logaddexp", tensors("logaddexp", only("fc", "logaddexp", kernel)),
                        lambda g, x, y: g * tailed_sigmoid(_apart(x, y)), lambda g, x, y: g * tailed_sigmoid(_apart(y, x)))
logaddexp2: Declared = elementwise("Logaddexp2", tensors("logaddexp2", only("f", "logaddexp2", np.logaddexp2)),
                         lambda g, x, y: g * tailed_sigmoid(_apart(x, y) * LN2),
                         lambda g, x, y: g * tailed_sigmoid(_apart(y, x) * LN2))


__all__ = ["exp", "exp2", "expm1", "log", "log1p", "log2", "log10", "logaddexp", "logaddexp2", "sigmoid"]
METHODS = __all__
IN_PLACE = ["exp", "exp2", "expm1", "log", "log10", "log1p", "log2", "sigmoid"]
