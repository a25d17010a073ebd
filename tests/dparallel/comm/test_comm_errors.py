"""A mistake on any rank is one CollectiveError with the same text on every rank, and the communicator goes on."""

import re

import numpy as np
import pytest

from dparallel import CollectiveError

pytestmark = pytest.mark.quick
ONE, MAT = np.ones(2), np.ones((4, 3))


def each(comm, x):
    return [x for _ in comm.held]


def last(comm, odd, usual):
    """`odd` on the last rank, `usual` on the others."""
    return [odd if rank == comm.size - 1 else usual for rank in comm.held]


class Unwilling:
    """An object whose conversions raise what nobody expects: the other ranks must hear of it, not wait."""

    def __array__(self, dtype=None, copy=None):
        raise RuntimeError("unwilling")

    def _convert(self):
        raise RuntimeError("unwilling")

    __iter__ = __float__ = __index__ = __bool__ = _convert


def all_on_first(comm):
    return [comm.size] + [0] * (comm.size - 1)


# What every rank can do wrong: name -> (call, what the message says).
EVERYWHERE = {
    "root too large": (lambda c: c.broadcast(ONE, root=c.size), r"root \d is not one of the ranks 0 to \d"),
    "root negative": (lambda c: c.reduce(each(c, ONE), root=-1), r"root -1 is not one of the ranks"),
    "root no number": (lambda c: c.gather(each(c, ONE), root="zero"), "root 'zero'"),
    "root a fraction": (lambda c: c.scatter(MAT, root=0.5), "root 0.5"),
    "root huge": (lambda c: c.broadcast(ONE, root=2**80), "is not one of the ranks"),
    "root an array": (lambda c: c.broadcast(ONE, root=np.zeros(2, int)), "is not a rank"),
    "root unwilling": (lambda c: c.scatter(MAT, root=Unwilling()), "is not a rank"),
    "unknown op": (lambda c: c.allreduce(each(c, ONE), "median"), "op 'median' is not one of sum, prod, max, min, mean"),
    "op no text": (lambda c: c.allreduce(each(c, ONE), None), "op None is not one of"),
    "op a list": (lambda c: c.allreduce(each(c, ONE), ["sum"]), r"op \['sum'\] is not one of"),
    "op an array": (lambda c: c.allreduce(each(c, ONE), ONE), r"op array\(.*\) is not one of"),
    "objects": (lambda c: c.allreduce(each(c, np.array([None, 1]))), "dtype object can't be sent"),
    "text": (lambda c: c.allgather(each(c, np.array(["a"]))), "dtype <U1 can't be sent"),
    "structures": (lambda c: c.allgather(each(c, np.zeros(2, "i4,f4"))), "can't be sent"),
    "dates": (lambda c: c.allgather(each(c, np.zeros(2, "M8[s]"))), "can't be sent"),
    "long double": (lambda c: c.allreduce(each(c, np.zeros(2, "g"))), "can't be sent"),
    "foreign byte order": (lambda c: c.allreduce(each(c, np.zeros(2, ">f8"))), "native byte order"),
    "None": (lambda c: c.allreduce(each(c, None)), "None instead of an array"),
    "None to broadcast": (lambda c: c.broadcast(None), "None instead of an array"),
    "masked arrays": (lambda c: c.allreduce(each(c, np.ma.array([1.0, 2.0], mask=[0, 1]))), "the mask would be lost"),
    "objects that won't": (lambda c: c.allreduce(each(c, Unwilling())), "not an array: unwilling"),
    "ragged list": (lambda c: c.allreduce(each(c, [[1], [1, 2]])), "not an array"),
    "nine dimensions": (lambda c: c.allreduce(each(c, np.ones((1,) * 9))), "at most 8 dimensions, not 9"),
    "complex max": (lambda c: c.reduce(each(c, ONE + 1j), op="max"), "complex numbers have no max"),
    "bare array": (lambda c: c.allreduce(np.ones(c.size)), r"pass a list of \d arrays, one for each local rank, .*not ndarray"),
    "too many arrays": (lambda c: c.gather(each(c, ONE) + [ONE]), r"pass a list of \d arrays"),
    "scatter of 0-d": (lambda c: c.scatter(np.array(1.0)), "a 0-d array has no rows for scatter"),
    "reduce_scatter of 0-d": (lambda c: c.reduce_scatter(each(c, np.array(1.0))), "a 0-d array has no rows"),
    "alltoall of 0-d": (lambda c: c.alltoall(each(c, np.array(1.0))), "a 0-d array has no rows"),
    "scatter sizes short": (lambda c: c.scatter(MAT, [4] + [0] * c.size), r"sizes \[4.*\] for \d ranks"),
    "scatter sizes sum": (lambda c: c.scatter(MAT, [3] * c.size), r"add up to \d+, but the array has 4 rows"),
    "scatter sizes negative": (lambda c: c.scatter(MAT, [5] * (c.size - 1) + [-1]), "negative sizes"),
    "scatter sizes fractions": (lambda c: c.scatter(MAT, [4.0] + [0.0] * (c.size - 1)), "sizes must be row counts"),
    "scatter sizes number": (lambda c: c.scatter(MAT, 4), "sizes must be row counts"),
    "scatter sizes unwilling": (lambda c: c.scatter(MAT, Unwilling()), "sizes must be row counts"),
    "reduce_scatter sizes": (lambda c: c.reduce_scatter(each(c, MAT), [5] * c.size), "add up to"),
    "alltoall sizes flat": (lambda c: c.alltoall(each(c, MAT), [2] * len(c.held)), "sizes must be row counts"),
    "alltoall sizes missing": (lambda c: c.alltoall(each(c, MAT), []), "sizes must be one list for each"),
    "alltoall sizes sum": (lambda c: c.alltoall(each(c, MAT), each(c, [9] * c.size)), "add up to"),
    "alltoall_sizes": (lambda c: c.alltoall_sizes(each(c, [1] * (c.size + 1))), "row counts"),
    "alltoall_sizes negative": (lambda c: c.alltoall_sizes(each(c, [-1] * c.size)), "row counts"),
    "rows": (lambda c: c.rows(ONE), "pass a list"),
    "total of text": (lambda c: c.total("many"), "value 'many' is not a number"),
    "total of the unwilling": (lambda c: c.total(Unwilling()), "is not a number"),
    "any of an array": (lambda c: c.any(ONE), r"flag array\(.*\) is neither true nor false"),
    "any of the unwilling": (lambda c: c.any(Unwilling()), "is neither true nor false"),
    "unpicklable": (lambda c: c.allgather_object(each(c, lambda: 0)), "function can't be pickled"),
    "bare object": (lambda c: c.allgather_object("text" * 9), "pass a list of"),
    "unpicklable to broadcast": (lambda c: c.broadcast_object(lambda: 0), "function can't be pickled"),
    "object's root": (lambda c: c.broadcast_object(1, root=c.size), "is not one of the ranks"),
    "object's root an array": (lambda c: c.broadcast_object(1, root=np.zeros(2, int)), "is not a rank"),
}
# What one rank does otherwise than the others.
DISAGREE = {
    "shapes": (lambda c: c.allreduce(last(c, MAT, ONE)), "the shapes differ"),
    "shapes in reduce": (lambda c: c.reduce(last(c, MAT[:3], MAT)), "the shapes differ"),
    "shapes in reduce_scatter": (lambda c: c.reduce_scatter(last(c, MAT[:3], MAT)), "the shapes differ"),
    "0-d and a vector": (lambda c: c.allreduce(last(c, np.array(1.0), np.ones(1))), "the shapes differ"),
    "dtypes": (lambda c: c.allreduce(last(c, ONE.astype("f"), ONE)), "the dtypes differ"),
    "dtypes in gather": (lambda c: c.gather(last(c, ONE.astype("f"), ONE)), "the dtypes differ"),
    "widths": (lambda c: c.allgather(last(c, MAT[:, :2], MAT)), "the shapes differ beyond the first dimension"),
    "dimensions": (lambda c: c.gather(last(c, ONE, MAT)), "the shapes differ beyond the first dimension"),
    "0-d in allgather": (lambda c: c.allgather(last(c, np.array(1.0), ONE)), "the shapes differ beyond"),
    "widths in alltoall": (lambda c: c.alltoall(last(c, MAT[:, :2], MAT)), "the shapes differ beyond"),
    "one bad input": (lambda c: c.allreduce(last(c, np.array("a"), ONE)), r"invalid input on rank \d:"),
    "one bad size": (lambda c: c.alltoall(each(c, MAT), last(c, [9] * c.size, [4] + [0] * (c.size - 1))), "invalid input on"),
    "one unpicklable": (lambda c: c.allgather_object(last(c, lambda: 0, 1)), "can't be pickled"),
}
# What needs a process for each rank.
RANKS = {
    "collectives": (lambda c: c.allreduce([ONE]) if c.rank else c.allgather([ONE]), "ranks call different collectives"),
    "barrier": (lambda c: c.barrier() if c.rank else c.any(True), "ranks call different collectives"),
    "objects and arrays": (lambda c: c.broadcast(ONE) if c.rank else c.broadcast_object(1), "ranks call different collectives"),
    "roots": (lambda c: c.broadcast(ONE, root=c.rank), "ranks pass different roots"),
    "roots of gather": (lambda c: c.gather([ONE], root=c.rank), "ranks pass different roots"),
    "ops": (lambda c: c.allreduce([ONE], "max" if c.rank else "sum"), "ranks pass different ops"),
    "scatter sizes": (lambda c: c.scatter(np.ones(c.size), all_on_first(c) if c.rank else None), "pass different sizes"),
    "scatter sizes of root": (lambda c: c.scatter(np.ones(c.size), [1] * c.size if c.rank else all_on_first(c)),
                              "pass different sizes"),
    "reduce_scatter sizes": (lambda c: c.reduce_scatter([np.ones(c.size)], all_on_first(c) if c.rank else None),
                             "pass different sizes"),
    "another's bad op": (lambda c: c.allreduce([ONE], ONE if c.rank else "sum"), r"invalid input on ranks? [1-9, ]+:"),
    "another's bad flag": (lambda c: c.any(ONE if c.rank else True), r"invalid input on ranks? [1-9, ]+:"),
    "another's bad sizes": (lambda c: c.scatter(MAT, Unwilling() if c.rank else None), r"invalid input on ranks? [1-9, ]+:"),
    "another's bad root": (lambda c: c.broadcast(ONE, root=99 if c.rank else 0), r"invalid input on ranks? [1-9, ]+:"),
    "nothing to scatter": (lambda c: c.scatter(None if c.rank == 0 else MAT), "None instead of an array"),
    "non-blocking": (lambda c: (c.start_allreduce([ONE]) if c.rank else c.start_allgather([ONE])).wait(), "different coll"),
}


def refused_everywhere(comm, mistake, words):
    with pytest.raises(CollectiveError, match=words) as caught:
        mistake(comm)
    text = str(caught.value)
    assert text.startswith(f"collective of {comm.size} ranks rejected, ")
    assert isinstance(caught.value, ValueError)
    assert set(comm.allgather_object([text for _ in comm.held])) == {text}
    np.testing.assert_array_equal(comm.allreduce(each(comm, ONE))[0], ONE * comm.size)       # all is well again


@pytest.mark.parametrize("name", EVERYWHERE)
def test_a_mistake_of_all(name, on_all_kinds):
    on_all_kinds(lambda comm: refused_everywhere(comm, *EVERYWHERE[name]))


@pytest.mark.parametrize("name", DISAGREE)
@pytest.mark.devices
def test_a_mistake_of_one(name, comm):
    if comm.size > 1:
        refused_everywhere(comm, *DISAGREE[name])
        refused_everywhere(comm, *DISAGREE[name])                      # nor is a refused call remembered as good


@pytest.mark.parametrize("name", RANKS)
def test_ranks_that_disagree(name, comm):
    if comm.size > 1:
        refused_everywhere(comm, *RANKS[name])


def test_the_message_tells_what_each_rank_called(comm):
    if comm.size < 2:
        return
    with pytest.raises(CollectiveError) as caught:
        comm.reduce([np.ones((2, 3), "f" if comm.rank else "d")], root=1, op="max")
    others = "rank 1" if comm.size == 2 else f"ranks 1-{comm.size - 1}"
    line = test_the_message_tells_what_each_rank_called.__code__.co_firstlineno + 4
    where = rf"at .*test_comm_errors.py:{line}, in test_the_message_tells_what_each_rank_called: comm.reduce\(\[np.ones"
    assert re.match(rf"collective of {comm.size} ranks rejected, the dtypes differ:\n"
                    rf"  rank 0: reduce\(op='max', root=1\) of float64 \(2, 3\) {where}.*\n"
                    rf"  {others}: reduce\(op='max', root=1\) of float32 \(2, 3\) {where}", str(caught.value))


def test_who_passes_sizes_to_scatter_may_repeat_the_roots(comm):
    sizes = [2] + [0] * (comm.size - 2) + [3] if comm.size > 1 else [5]
    x = np.arange(5.0)
    mine = {"all": True, "root only": comm.rank == 0, "another only": comm.rank == comm.size - 1}
    for who in ("all", "root only"):
        piece = comm.scatter(x if comm.rank == 0 else None, sizes if mine[who] else None)[0]
        assert len(piece) == sizes[comm.rank]
    even = [len(part) for part in np.array_split(x, comm.size)]
    piece = comm.scatter(x if comm.rank == 0 else None, even if mine["another only"] else None)[0]
    assert len(piece) == even[comm.rank]
    assert len(comm.reduce_scatter([x], even if comm.rank else None)[0]) == even[comm.rank]
