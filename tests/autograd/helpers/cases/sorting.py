"""Rows for sorting, selection and quantiles."""

from .row import Case

CASES = [Case(name, call, [(4, 5)], distinct=True) for name, call in [
    ("sort", lambda t, x: t.sort(x).values), ("sort descending", lambda t, x: x.sort(0, descending=True)[0]),
    ("sort stable", lambda t, x: t.sort(x, dim=1, stable=True)[0]), ("msort", lambda t, x: t.msort(x)),
    ("topk", lambda t, x: t.topk(x, 2).values), ("topk smallest", lambda t, x: x.topk(3, 0, largest=False)[0]),
    ("kthvalue", lambda t, x: t.kthvalue(x, 2).values), ("kthvalue keepdim", lambda t, x: x.kthvalue(3, 0, True)[0]),
    ("median", lambda t, x: t.median(x)), ("median dim", lambda t, x: t.median(x, 1).values),
    ("nanmedian", lambda t, x: x.nanmedian()), ("nanmedian dim", lambda t, x: x.nanmedian(0, keepdim=True)[0]),
    ("mode", lambda t, x: t.mode(x).values), ("mode dim", lambda t, x: x.mode(0, True)[0]),
    ("quantile", lambda t, x: t.quantile(x, 0.3)), ("quantile dim", lambda t, x: x.quantile(0.7, 1, True)),
    ("nanquantile", lambda t, x: t.nanquantile(x, 0.4, dim=0))]]
CASES += [Case(f"quantile {how}", lambda t, x, how=how: t.quantile(x, t.tensor([0.1, 0.5, 0.95], dtype=x.dtype), 0, interpolation=how),
               [(4, 5)], distinct=True) for how in ("linear", "lower", "higher", "midpoint", "nearest")]
CASES += [Case("quantile of q", lambda t, x, q: t.quantile(x, q), [(6,), (2,)], (0.13, 0.87), distinct=True)]
