"""Rows for indexing: x[...], gather and scatter, rows, masks, parts."""

from .row import Case


def whole(t, *rows):
    return t.tensor(list(rows))


PLACES = [[0, 1, 1], [2, 0, 0]]
CASES = [Case(f"getitem {name}", call, [(3, 4, 2)]) for name, call in [
    ("int then list", lambda t, x: x[0, :, [1, 0, 1]]), ("list, slice, list", lambda t, x: x[[0, 1], 1:, [1, 0]]),
    ("arrays that broadcast", lambda t, x: x[whole(t, [0], [2]), whole(t, 1, -1, 1)]), ("mask of two", lambda t, x: x[x[..., 0] > 0]),
    ("mask in the middle", lambda t, x: x[:, whole(t, True, False, True, True)]), ("True", lambda t, x: x[True]), ("0-d", lambda t, x: x[t.tensor(1), ..., 0]),
    ("None between", lambda t, x: x[[0, 2], None, [1, 1]]), ("steps", lambda t, x: x[::2, 1:4:2]), ("ends first", lambda t, x: x[:, [0, 0, 3], [1, 1, 0]])]]

CASES += [Case(name, call, [(3, 4)]) for name, call in [
    ("gather smaller", lambda t, x: t.gather(x, 0, whole(t, [2, 2], [0, 2]))), ("take", lambda t, x: t.take(x, whole(t, [0, -1], [5, 0]))),
    ("take_along_dim", lambda t, x: t.take_along_dim(x, whole(t, [3], [0], [0]), 1)), ("repeat_interleave each", lambda t, x: t.repeat_interleave(x, whole(t, 2, 0, 1), 0)),
    ("scatter number", lambda t, x: t.scatter(x, 1, whole(t, [0, 2]), 5.0)), ("index_fill", lambda t, x: x.index_fill(1, whole(t, 0, 3, 0), 2.0)),
    ("masked_fill", lambda t, x: x.masked_fill(x > 0, 1.5)), ("masked_select", lambda t, x: t.masked_select(x, whole(t, True, False, True, False)))]]

CASES += [Case(name, call, shapes) for name, call, shapes in [
    ("scatter", lambda t, x, y: t.scatter(x, 0, whole(t, [0, 1, 2], [2, 0, 1]), y), [(3, 4), (2, 3)]),
    ("scatter_add", lambda t, x, y: t.scatter_add(x, 1, whole(t, *PLACES), y), [(3, 4), (2, 3)]),
    ("index_add", lambda t, x, y: t.index_add(x, 1, whole(t, 0, 3, 0), y, alpha=2), [(2, 4), (2, 3)]),
    ("index_copy", lambda t, x, y: t.index_copy(x, 0, whole(t, 2, 0), y), [(3, 4), (2, 4)]),
    ("index_fill tensor", lambda t, x, y: x.index_fill(0, whole(t, 0, 2), y), [(3, 4), ()]),
    ("index_put", lambda t, x, y: t.index_put(x, (whole(t, 0, 2), whole(t, 1, 3)), y), [(3, 4), (2,)]),
    ("index_put broadcast", lambda t, x, y: t.index_put(x, (whole(t, 0, 2),), y), [(3, 4), (1, 1)]),
    ("index_put accumulate", lambda t, x, y: t.index_put(x, (whole(t, 0, 0, 2),), y, accumulate=True), [(3, 4), (3, 4)]),
    ("put", lambda t, x, y: t.put(x, whole(t, 0, 5), y), [(2, 3), (2,)]), ("put accumulate", lambda t, x, y: t.put(x, whole(t, 5, 5), y, True), [(2, 3), (2,)]),
    ("masked_fill tensor", lambda t, x, y: x.masked_fill(x > 0, y), [(3, 4), ()]),
    ("masked_scatter", lambda t, x, y: x.masked_scatter(x > 0.5, y), [(2, 3), (8,)]),
    ("select_scatter", lambda t, x, y: t.select_scatter(x, y, 1, 2), [(3, 4), (3,)]),
    ("slice_scatter", lambda t, x, y: t.slice_scatter(x, y, 1, 0, 4, 2), [(3, 4), (3, 2)]),
    ("diagonal_scatter", lambda t, x, y: t.diagonal_scatter(x, y, 1), [(3, 4), (3,)])]]

CASES += [Case(f"{name} {reduce} {include}", lambda t, x, y, name=name, reduce=reduce, include=include, index=index:
               getattr(t, name)(x, 1, whole(t, *index), y, reduce, include_self=include), [(2, 4), (2, 3)], distinct=True)
          for name, index in (("scatter_reduce", PLACES), ("index_reduce", [3, 0, 3]))
          for reduce in ("sum", "prod", "mean", "amax", "amin") for include in (True, False)
          if (name, reduce) != ("index_reduce", "sum")]
