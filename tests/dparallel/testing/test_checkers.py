"""check_adjoint must fail on planted mistakes: wrong root, factor, slice, missing sum, wrong second order."""

import re

import numpy as np
import pytest
from raised import raises

import autograd as ag
from dparallel import (
    AllGather,
    AllReduce,
    Broadcast,
    Collective,
    CollectiveError,
    Devices,
    Reduce,
    assert_same_everywhere,
    check_adjoint,
)
from dparallel.testing import gradcheck

pytestmark = pytest.mark.quick


def planted(name, forward, backward):
    return type(name, (Collective,), {"forward": staticmethod(forward), "backward": staticmethod(backward)})


def keep(ctx, x, *, comm):
    ctx.comm = comm
    return ag.from_numpy(comm.allreduce([x.array])[0])


def gathered(ctx, x, *, comm):
    ctx.comm, ctx.rows = comm, len(x)
    return ag.from_numpy(comm.allgather([x.array])[0])


def broadcast(ctx, x, *, comm):
    ctx.comm = comm
    return ag.from_numpy(comm.broadcast(x.array, 0)[0])


def own_slice(ctx, g):
    return g[ctx.comm.rank * ctx.rows:(ctx.comm.rank + 1) * ctx.rows]


MISTAKES = {
    "wrong factor": (planted("Mean", keep, lambda ctx, g: AllReduce.apply(g, comm=ctx.comm) / float(ctx.comm.size)), "off by exactly"),
    "replicated convention": (planted("Identity", keep, lambda ctx, g: g * 1), "u>"),
    "missing sum": (planted("Slice", gathered, own_slice), "u>"),
    "wrong slice": (planted("WrongSlice", gathered, lambda ctx, g: own_slice(ctx, AllReduce.apply(g, comm=ctx.comm)).flip(0) * 1), "u>"),
    "wrong root": (planted("WrongRoot", broadcast, lambda ctx, g: wrong_root(ctx, g)), "u>"),
    "wrong second order": (planted("Detached", keep, lambda ctx, g: ag.from_numpy(ctx.comm.allreduce([g.array])[0])), "not recorded"),
    "wrong value at second order": (planted("Twice", keep, lambda ctx, g: Half.apply(g, comm=ctx.comm)), "second derivative is wrong"),
}


def wrong_root(ctx, g):
    total = Reduce.apply(g, comm=ctx.comm, root=ctx.comm.size - 1)
    return total if total.shape == g.shape else g * 0


class Half(Collective):
    """The right values, with a derivative that forgets the sum."""

    @staticmethod
    def forward(ctx, x, *, comm):
        return ag.from_numpy(comm.allreduce([x.array])[0])

    @staticmethod
    def backward(ctx, g):
        return g * 1


@pytest.mark.parametrize("name", list(MISTAKES))
def test_planted_mistakes_are_caught(comm, name):
    function, words = MISTAKES[name]
    if comm.size == 1 and name != "wrong second order":
        return
    rng = np.random.default_rng([3, comm.rank])
    with pytest.raises(AssertionError, match=words):
        check_adjoint(lambda x: function.apply(x, comm=comm), [rng.standard_normal((3, 2))], comm, rng)


def with_none(ctx, x, y, *, comm):
    ctx.comm = comm
    return ag.from_numpy(comm.allreduce([x.array])[0] + comm.allreduce([y.array])[0])


Forgetful = planted("Forgetful", with_none, lambda ctx, g: (AllReduce.apply(g, comm=ctx.comm), None))


def test_a_backward_that_returns_none_is_named(comm):
    rng = np.random.default_rng([3, comm.rank])
    arrays = [rng.standard_normal(3) for _ in range(2)]
    with pytest.raises(AssertionError, match="backward returned None for input 1, which requires grad: its gradient counts as zero"):
        check_adjoint(lambda x, y: Forgetful.apply(x, y, comm=comm), arrays, comm, rng)
    if comm.size > 1:
        with pytest.raises(AssertionError) as caught:
            check_adjoint(lambda x: MISTAKES["wrong factor"][0].apply(x, comm=comm), arrays[:1], comm, rng)
        assert "None" not in str(caught.value)
    inputs = [ag.tensor(array, requires_grad=True) for array in arrays]
    for fast in (False, True):
        with pytest.raises(RuntimeError, match=r"input \[1\].*analytical 0 \(backward returned None\)"):
            gradcheck(lambda x, y: Forgetful.apply(x, y, comm=comm), inputs, comm, fast_mode=fast)


def test_a_class_for_one_tensor_on_devices_is_told_of_kinds():
    comm, xs = Devices(2), [np.ones(3), np.ones(3)]
    words = re.escape('tensor runs on threads and MPI ranks: @pytest.mark.ranks(kinds=("threads", "mpi"))')
    one = planted("One", keep, lambda ctx, g: AllReduce.apply(g, comm=ctx.comm))
    raises(TypeError, r"One.forward\(\) with 2 arguments: too many positional.*" + words, check_adjoint, lambda *xs: one.apply(*xs, comm=comm), xs, comm)
    raises(CollectiveError, "not 1 arrays.*" + words, check_adjoint, lambda x: one.apply(x, comm=comm), xs[:1], comm)
    with pytest.raises(TypeError) as caught:
        one.apply(ag.ones(1), ag.ones(1), comm=Devices(1))
    assert "kinds=" not in str(caught.value)


def test_right_ones_pass(comm):
    rng = np.random.default_rng([3, comm.rank])
    for function in (AllReduce, AllGather):
        check_adjoint(lambda x, f=function: f.apply(x, comm=comm), [rng.standard_normal((3, 2))], comm, rng)
    check_adjoint(lambda x: Broadcast.apply(x, comm=comm), [rng.standard_normal(3) if comm.rank == 0 else np.empty(0)], comm, rng)


def test_assert_same_everywhere_names_the_first_difference(comm):
    named = [("a", ag.ones(2)), ("b", ag.ones(3) * (1 + (comm.rank == comm.size - 1) * 1e-7))]
    if comm.size == 1:
        return assert_same_everywhere(named, comm)
    raises(AssertionError, f"b differs between rank 0 and rank {comm.size - 1}", assert_same_everywhere, named, comm)
    assert_same_everywhere(named[:1], comm)


@pytest.mark.parametrize("wrong", ["factor", "sign", "term", "second order"])
def test_gradcheck_fails_on_planted_mistakes(wrong):
    class Cube(ag.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x * x

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            return {"factor": 2 * x * x * g, "sign": -3 * x * x * g, "term": 3 * x * x * g + 1e-3,
                    "second order": 3 * (x * x.detach()) * g}[wrong]

    x = ag.randn(4, dtype=ag.float64, requires_grad=True)
    if wrong == "second order":
        assert ag.gradcheck(Cube.apply, x) and ag.gradcheck(Cube.apply, x, fast_mode=True)
        raises(ag.GradcheckError, None, ag.gradgradcheck, Cube.apply, x)
        return
    raises(ag.GradcheckError, None, ag.gradcheck, Cube.apply, x)
    assert ag.gradcheck(Cube.apply, x, raise_exception=False) is False


def test_check_adjoint_names_an_output_of_lower_precision(comm):
    with pytest.raises(AssertionError, match="an output is torch.float32: the function rounds"):
        check_adjoint(lambda x: AllReduce.apply(x.to(ag.float32), comm=comm), [np.arange(1.0, 4.0) / 7], comm)
