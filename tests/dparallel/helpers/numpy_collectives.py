"""What every collective must give, in plain NumPy, and the calls to compare with it.

Every process can make the arrays of all ranks (they differ by rank, and their numbers depend on nothing else), so
each computes by itself what it must receive.
"""

from functools import reduce

import numpy as np

DTYPES = ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
          "float16", "float32", "float64", "complex64", "complex128"]
NAMES = ["broadcast", "reduce", "scatter", "gather", "allreduce", "allgather", "reduce_scatter", "alltoall"]
REDUCTIONS = ["reduce", "allreduce", "reduce_scatter"]
ROOTED = ["broadcast", "reduce", "scatter", "gather"]
UFUNCS = {"sum": np.add, "prod": np.multiply, "max": np.maximum, "min": np.minimum}
TOLERANCE = {"float16": 2e-3, "float32": 1e-5, "float64": 1e-13, "complex64": 1e-5, "complex128": 1e-13}


def numbers(rank, shape, dtype="float64", case=0):
    rng = np.random.default_rng([11, rank, case])
    kind = np.dtype(dtype).kind
    if kind in "iu":
        return rng.integers(0, 5, shape).astype(dtype)
    if kind == "b":
        return rng.random(shape) < 0.5
    x = rng.standard_normal(shape) + (1j * rng.standard_normal(shape) if kind == "c" else 0)
    return np.asarray(x, dtype)


def cuts(n, case=0):
    """Unequal row counts for n ranks; some are 0."""
    return [(3 * rank + 2 + case) % 4 for rank in range(n)]


def even(rows, n):
    return [len(part) for part in np.array_split(np.arange(rows), n)]


def expected(name, xs, rank, root=0, op="sum", sizes=None):
    """What `rank` gets, given the arrays of all ranks. sizes of alltoall: a list per rank."""
    n, absent = len(xs), np.empty(0, xs[0].dtype)
    if name == "broadcast":
        return xs[root]
    if name == "scatter":
        return np.split(xs[root], np.cumsum(sizes or even(len(xs[root]), n))[:-1])[rank]
    if name in ("gather", "allgather"):
        full = [x.reshape(1) if x.ndim == 0 else x for x in xs if x.shape != (0,)]
        return absent if name == "gather" and rank != root else np.concatenate(full) if full else absent
    if name == "alltoall":
        pieces = [np.split(x, np.cumsum(sizes[p] if sizes else even(len(x), n))[:-1])[rank] for p, x in enumerate(xs)]
        full = [piece for piece, x in zip(pieces, xs, strict=True) if x.shape != (0,)]
        return np.concatenate(full) if full else absent
    wide = [x.astype(np.float32) if x.dtype == np.float16 else x for x in xs]
    total = reduce(UFUNCS[op], wide).astype(xs[0].dtype)
    if name == "reduce_scatter":
        return np.split(total, np.cumsum(sizes or even(len(total), n))[:-1])[rank]
    return absent if name == "reduce" and rank != root else total


def call(comm, name, mine, root=0, op="sum", sizes=None, started=False):
    """Run the collective on this process's arrays; the results, one for each held rank that gets one."""
    function = getattr(comm, f"start_{name}" if started else name)
    settings = {"root": root} if name in ROOTED else {}
    settings |= {"op": op} if name in REDUCTIONS else {}
    if sizes is not None:
        settings["sizes"] = [sizes[rank] for rank in comm.held] if name == "alltoall" else sizes
    if name in ("broadcast", "scatter"):
        mine = mine[comm.held.index(root)] if root in comm.held else None
    out = function(mine, **settings)
    out = out.wait() if started else out
    return [out] if name in ("reduce", "gather") else out


def compare(comm, name, xs, layout=np.array, **settings):
    """Both the blocking and the non-blocking form give what NumPy gives, in fresh arrays, and leave the input alone."""
    ranks = comm.held
    if name in ("reduce", "gather"):
        root = settings.get("root", 0)
        ranks = [root if root in comm.held else comm.held[0]]
    wanted = [expected(name, xs, rank, **settings) for rank in ranks]
    for started in (False, True):
        mine = [layout(xs[rank]) for rank in comm.held]
        got = call(comm, name, mine, started=started, **settings)
        note = f"{name} on {comm!r}: {settings}, started={started}, {xs[0].dtype} {[x.shape for x in xs]}"
        assert isinstance(got, list) and len(got) == len(wanted), note
        for x, y in zip(got, wanted, strict=True):
            assert type(x) is np.ndarray and x.dtype == y.dtype and x.shape == y.shape, (note, x, y)
            assert x.flags.c_contiguous and x.flags.writeable, note
            np.testing.assert_allclose(x, y, rtol=TOLERANCE.get(str(y.dtype), 0), atol=TOLERANCE.get(str(y.dtype), 0),
                                       err_msg=note)
        for i, x in enumerate(got):
            assert not any(np.may_share_memory(x, other) for other in mine + got[:i]), f"aliased: {note}"
        for x, rank in zip(mine, comm.held, strict=True):
            np.testing.assert_array_equal(x, xs[rank], err_msg=note)


def row_counts(name, n, sizes):
    """How many rows each rank brings for these sizes."""
    if sizes is None:
        return {"gather": [3, 0, 2, 1, 4][:n], "allgather": [0, 2, 3, 1, 1][:n],
                "alltoall": [4, 1, 0, 5, 2][:n]}.get(name, [5] * n)
    return [sum(s) for s in sizes] if name == "alltoall" else [sum(sizes)] * n


def sized(name, n, case=0):
    """Unequal sizes as the collective takes them; None for those that take none."""
    if name in ("scatter", "reduce_scatter"):
        return cuts(n, case)
    return [cuts(n, case + rank) for rank in range(n)] if name == "alltoall" else None
