"""Rows for reductions, running forms, norms and distances."""

import numpy as np

from .row import Case

POSITIVE = (0.3, 2.0)
NAN = float("nan")


def holes(t, x):
    """x with nan in two places."""
    mask = np.zeros(tuple(x.shape), bool)
    mask.reshape(-1)[[1, 4]] = True
    return t.where(t.from_numpy(mask), NAN, x)


def zeros(t, x, *places):
    """x with exact zeros in some places."""
    mask = np.ones(tuple(x.shape))
    mask.reshape(-1)[list(places)] = 0
    return x * t.from_numpy(mask).to(x.dtype)


SUMS = [Case(name, call, [(3, 4)]) for name, call in [
    ("nansum", lambda t, x: t.nansum(holes(t, x), 1)), ("nanmean", lambda t, x: holes(t, x).nanmean(0, keepdim=True)),
    ("sum axis", lambda t, x: x.sum(axis=1, keepdims=True)), ("sum_to_size", lambda t, x: x.sum_to_size(3, 1)),
    ("mean of nothing named", lambda t, x: x.mean(())), ("sum dtype", lambda t, x: x.sum(0, dtype=x.dtype))]]

SPREAD = [Case(name, call, [(3, 4)]) for name, call in [
    ("var unbiased", lambda t, x: t.var(x, False)), ("var dim unbiased keepdim", lambda t, x: x.var(1, False, True)),
    ("var correction", lambda t, x: x.var((0, 1), correction=0.5)), ("std unbiased", lambda t, x: x.std(unbiased=False)),
    ("std dims", lambda t, x: t.std(x, [0], correction=2, keepdim=True)),
    ("var_mean", lambda t, x: t.stack(t.var_mean(x, 0))), ("std_mean", lambda t, x: t.stack(t.std_mean(x, 1, False))),
    ("cov", lambda t, x: t.cov(x)), ("cov of a vector", lambda t, x: x.reshape(-1).cov(correction=0)),
    ("cov weights", lambda t, x: t.cov(x, fweights=t.tensor([1, 2, 0, 3]))), ("corrcoef", lambda t, x: t.corrcoef(x))]]
SPREAD += [Case("cov aweights", lambda t, x, w: t.cov(x, aweights=w * w), [(3, 4), (4,)], POSITIVE)]

PRODUCTS = [Case(f"{name} {shape} {where}", lambda t, x, name=name, args=args, where=where: getattr(t, name)(zeros(t, x, *where), *args),
                 [shape], (-1.5, 1.5)) for name, shape, args, where in [
    ("prod", (3, 4), (), ()), ("prod", (2, 3), (), (1,)), ("prod", (2, 3), (), (1, 4)), ("prod", (3, 4), (1,), (2,)),
    ("prod", (3, 4), (0, True), (1, 5, 7)), ("prod", (), (), ()), ("prod", (2, 0), (1,), ()), ("cumprod", (3, 4), (1,), ()),
    ("cumprod", (3, 4), (1,), (1, 4, 6, 11)), ("cumprod", (2, 3, 2), (1,), (0, 5)), ("cumprod", (), (0,), ())]]

RUNNING = [Case(name, call, [(3, 5)], distinct=True) for name, call in [
    ("cumsum", lambda t, x: t.cumsum(x, 1)), ("cumsum method", lambda t, x: x.cumsum(0)),
    ("cummax", lambda t, x: t.cummax(x, 1).values), ("cummin", lambda t, x: x.cummin(0)[0]),
    ("logcumsumexp", lambda t, x: t.logcumsumexp(x, 1)), ("logcumsumexp wide", lambda t, x: t.logcumsumexp(x * 30, 0)),
    ("diff", lambda t, x: t.diff(x, 2)), ("diff dim", lambda t, x: x.diff(dim=0, prepend=x[:1] * 2, append=x[:1])),
    ("trapezoid", lambda t, x: t.trapezoid(x, dx=0.5)), ("trapezoid dim", lambda t, x: t.trapezoid(x, dim=0)),
    ("trapz x", lambda t, x: t.trapz(x, x * x)), ("cumulative_trapezoid", lambda t, x: t.cumulative_trapezoid(x, t.exp(x[0]))),
    ("gradient", lambda t, x: t.stack(t.gradient(x, spacing=2.0))),
    ("gradient edge", lambda t, x: t.gradient(x, dim=1, edge_order=2)[0]),
    ("gradient places", lambda t, x: t.gradient(x, spacing=[t.cumsum(t.exp(x[0]), 0)], dim=1, edge_order=2)[0])]]

EXTREMES = [Case(name, call, [(3, 4)], distinct=True) for name, call in [
    ("aminmax", lambda t, x: t.stack(t.aminmax(x))), ("aminmax dim", lambda t, x: t.stack(x.aminmax(dim=1))),
    ("max other", lambda t, x: t.max(x, other=x * x)), ("min keyword", lambda t, x: t.min(x, dim=-1, keepdim=True).values),
    ("logsumexp dims", lambda t, x: t.logsumexp(x, (0, 1))), ("logsumexp keepdim", lambda t, x: x.logsumexp(-1, True)),
    ("softmin", lambda t, x: t.nn.functional.softmin(x, 1)), ("max of one", lambda t, x: t.max(x[0, 0], 0).values)]]

NORMS = [Case(f"norm {p}", lambda t, x, p=p: t.norm(x, p), [(3, 4)], (-1.5, 2.0), distinct=True, kinks=(0,))
         for p in (0.5, 1, 1.5, 2, 3, -1, float("inf"), -float("inf"), "fro", "nuc")]
NORMS += [Case(name, call, [(4, 3)]) for name, call in [
    ("norm dim", lambda t, x: x.norm(2, 1)), ("norm dims", lambda t, x: x.norm(3.0, (0, 1), True)),
    ("norm nuc wide", lambda t, x: t.norm(t.stack([x, x * x]), "nuc", (2, 1))), ("renorm", lambda t, x: t.renorm(x, 2, 0, 1.0)),
    ("renorm dim", lambda t, x: x.renorm(1, -1, 2.0))]]
NORMS += [Case(f"dist {p}", lambda t, x, y, p=p: t.dist(x, y, p), [(3, 4), (4,)], kinks=(0,)) for p in (2, 1.5)]

CASES = SUMS + SPREAD + PRODUCTS + RUNNING + EXTREMES + NORMS
