"""Collectives by hypothesis, with the strategies that users get: shapes, dtypes, roots, unequal pieces."""

import numpy as np
import pytest

pytest.importorskip("hypothesis")
from hypothesis import given, settings
from hypothesis import strategies as st

from dparallel import AllGather, AllToAll, Gather, Scatter, run_ranks
from dparallel.testing import check_adjoint
from dparallel.testing.strategies import dims, dtypes, exchanges, numbers, pieces, roots, seeds, shapes, splits

SIZE = 3
QUICK = settings(deadline=None, max_examples=15, derandomize=True, database=None)


@QUICK
@given(shape=shapes(), dtype=dtypes(), root=roots(SIZE), seed=seeds())
def test_values_of_all_shapes_and_dtypes(shape, dtype, root, seed):
    everyone = [numbers(shape, dtype, seed=seed, rank=rank) for rank in range(SIZE)]
    assert all(x.shape == shape and x.dtype == dtype for x in everyone)

    def program(comm):
        mine = everyone[comm.rank]
        return comm.broadcast(mine if comm.rank == root else None, root)[0], comm.allreduce([mine])[0]

    for copy, total in run_ranks(SIZE, program):
        assert copy.dtype == dtype and np.array_equal(copy, everyone[root])
        if dtype.kind in "iu":
            assert np.array_equal(total, sum(everyone[1:], everyone[0]))
        elif dtype.kind == "b":
            assert np.array_equal(total, np.logical_or.reduce(everyone))


@QUICK
@given(data=st.data(), seed=seeds(), root=roots(SIZE))
def test_adjoints_of_unequal_pieces(data, seed, root):
    rows, dim = data.draw(pieces(SIZE)), data.draw(dims(2))
    sizes, table = data.draw(splits(SIZE, sum(rows))), data.draw(exchanges(SIZE))
    assert len(sizes) == SIZE and sum(sizes) == sum(rows) and min(sizes) >= 0

    def program(comm):
        def own(n):
            return numbers((n, 2) if dim in (0, -2) else (2, n), seed=seed, rank=comm.rank)

        check_adjoint(lambda x: AllGather.apply(x, comm=comm, dim=dim), [own(rows[comm.rank])], comm)
        check_adjoint(lambda x: Gather.apply(x, comm=comm, dim=dim, root=root), [own(rows[comm.rank])], comm)
        check_adjoint(lambda x: Scatter.apply(x, comm=comm, dim=dim, root=root, sizes=sizes if comm.rank == root else None),
                      [own(sum(rows)) if comm.rank == root else None], comm)
        check_adjoint(lambda x: AllToAll.apply(x, comm=comm, dim=dim, sizes=table[comm.rank]), [own(sum(table[comm.rank]))], comm)

    run_ranks(SIZE, program)
