"""KL(p || q) = E_p log(p / q), in closed form for pairs of distributions."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from ..core.tensor import Tensor
from ..ops.creation.fill import full_like, zeros_like
from ..ops.nn.activation import softplus
from ..ops.pointwise.where import where
from .bernoulli import Bernoulli
from .categorical import Categorical, OneHotCategorical
from .distribution import Distribution
from .independent import Independent, summed
from .normal import Normal
from .uniform import Uniform

FORMULAS: dict[tuple[type, type], Callable[[Any, Any], Any]] = {}


def register_kl(type_p: type, type_q: type) -> Callable[[Any], Any]:
    """Decorator that registers f(p, q) as the divergence for these two classes and their subclasses."""
    def decorate(function: Any) -> Any:
        FORMULAS[type_p, type_q] = function
        return function

    return decorate


def kl_divergence(p: Distribution, q: Distribution) -> Tensor:
    """KL(p || q) in nats, of shape batch_shape, by the formula registered for the nearest base classes."""
    for one in type(p).__mro__:
        for other in type(q).__mro__:
            if (one, other) in FORMULAS:
                return FORMULAS[one, other](p, q)
    raise NotImplementedError(f"No KL(p || q) is implemented for p type {type(p).__name__} and q type {type(q).__name__}")


def _unless(value: Tensor, condition: Tensor, other: float) -> Tensor:
    return where(condition, full_like(value, other), value)


@register_kl(Normal, Normal)
def _normal(p: Normal, q: Normal) -> Tensor:
    ratio = (p.scale / q.scale).pow(2)
    return 0.5 * (ratio + ((p.loc - q.loc) / q.scale).pow(2) - 1 - ratio.log())


@register_kl(Categorical, Categorical)
def _categorical(p: Categorical, q: Categorical) -> Tensor:
    terms = p.probs * (p.logits - q.logits)
    terms = _unless(terms, (q.probs == 0).expand_as(terms), math.inf)
    return where((p.probs == 0).expand_as(terms), zeros_like(terms), terms).sum(-1)


@register_kl(OneHotCategorical, OneHotCategorical)
def _one_hot(p: OneHotCategorical, q: OneHotCategorical) -> Tensor:
    return _categorical(p, q)


@register_kl(Bernoulli, Bernoulli)
def _bernoulli(p: Bernoulli, q: Bernoulli) -> Tensor:
    ones = p.probs * (softplus(-q.logits) - softplus(-p.logits))
    zeros = (1 - p.probs) * (softplus(q.logits) - softplus(p.logits))
    ones = _unless(_unless(ones, q.probs == 0, math.inf), p.probs == 0, 0.0)
    return ones + _unless(_unless(zeros, q.probs == 1, math.inf), p.probs == 1, 0.0)


@register_kl(Uniform, Uniform)
def _uniform(p: Uniform, q: Uniform) -> Tensor:
    return _unless(((q.high - q.low) / (p.high - p.low)).log(), (q.low > p.low) | (q.high < p.high), math.inf)


@register_kl(Independent, Independent)
def _independent(p: Independent, q: Independent) -> Tensor:
    if p.reinterpreted_batch_ndims != q.reinterpreted_batch_ndims:
        raise NotImplementedError("KL of Independents needs the same reinterpreted_batch_ndims")
    return summed(kl_divergence(p.base_dist, q.base_dist), p.reinterpreted_batch_ndims)


__all__ = ["kl_divergence", "register_kl"]
