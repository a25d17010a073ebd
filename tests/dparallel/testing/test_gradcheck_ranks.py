"""gradcheck and gradgradcheck over ranks pass what is right, and name rank, input and element of what is not."""

import dataclasses
import warnings

import numpy as np
import pytest
from raised import raises

import autograd as ag
from dparallel import AllGather, AllReduce, Broadcast, Collective, CopyToRanks, Gather, Reduce, ReduceFromRanks, Scatter
from dparallel.testing import GradcheckError, check_adjoint, explain_factor, gradcheck, gradgradcheck


def leaf(comm, *shape, seed=0, **settings):
    rng = np.random.default_rng([seed, comm.rank])
    return ag.tensor(rng.standard_normal(shape), requires_grad=True, **settings)


def as_tuple(y):
    return y if isinstance(y, tuple) else (y,)


class WrongOn(Collective):
    """The sum over ranks of x**3; `mistake` says what one rank's backward does."""

    @staticmethod
    def forward(ctx, x, *, comm, mistake):
        ctx.comm, ctx.mistake = comm, mistake
        ctx.save_for_backward(x)
        return ag.from_numpy(comm.allreduce([x.array ** 3])[0])

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        g = 3 * x * x * AllReduce.apply(g, comm=ctx.comm)
        return ctx.mistake(ctx.comm, g)


def one_element(comm, g):
    if comm.rank == comm.size - 1:
        g = g + ag.tensor([[0.0, 0], [0, 0.25]], dtype=ag.float64)
    return g


MISTAKES = {
    "element": (one_element, r"rank {last}, input \[0\], element \[1, 1\]: numerical -?\d.*, analytical"),
    "factor": (lambda comm, g: g / comm.size, "off by exactly {size} = the number of ranks, too small"),
    "summed twice": (lambda comm, g: g * comm.size, "off by exactly {size} = the number of ranks, too large"),
    "twice too small": (lambda comm, g: g / comm.size ** 2, "number of ranks squared, too small"),
    "none on a rank": (lambda comm, g: None if comm.rank == comm.size - 1 else g, r"rank {last}, input \[0\], element \[0, 0\]"),
}


@pytest.mark.parametrize("fast", [False, True])
@pytest.mark.parametrize("name", list(MISTAKES))
def test_planted_mistakes_are_named_on_every_rank(comm, name, fast):
    mistake, words = MISTAKES[name]
    words = words.replace(r"element \[1, 1\]", "along a random").replace(r"element \[0, 0\]", "along a random") if fast else words
    if comm.size == 1 and ("factor" in name or "twice" in name):
        return None
    x = leaf(comm, 2, 2)

    def call(x):
        return WrongOn.apply(x, comm=comm, mistake=mistake)

    expected = words.replace("{last}", str(comm.size - 1)).replace("{size}", str(comm.size))
    with pytest.raises(GradcheckError, match=expected.split(": numerical")[0] if fast else expected) as caught:
        gradcheck(call, [x], comm, fast_mode=fast)
    assert gradcheck(call, [x], comm, fast_mode=fast, raise_exception=False) is False
    texts = comm.allgather_object([str(caught.value)])
    assert len(set(texts)) == 1


@pytest.mark.parametrize("fast", [False, True])
@pytest.mark.devices
def test_right_ones_pass_on_all_ranks(comm, fast):
    xs = [leaf(comm, 2, 3, seed=rank) for rank in comm.held]
    shared = leaf(comm, 2)

    def call(xs, shared):
        cubes = [x ** 3 * (rank + 1) for rank, x in zip(comm.held, xs)]
        return {"sum": AllReduce.apply(*cubes, comm=comm), "all": AllGather.apply(*xs, comm=comm), "own": shared.exp()}

    assert gradcheck(call, [xs, shared], comm, fast_mode=fast, check_grad_dtypes=True)
    assert gradgradcheck(call, [xs, shared], comm=comm, fast_mode=fast)


@pytest.mark.devices
def test_roots_and_ranks_without_a_part(comm):
    for root in range(comm.size):
        x = leaf(comm, 2, seed=root) if root in comm.held else None
        assert gradcheck(lambda x, root=root: Broadcast.apply(x, comm=comm, root=root), [x], comm)
        assert gradgradcheck(lambda x, root=root: [y * y for y in as_tuple(Broadcast.apply(x, comm=comm, root=root))], [x], comm=comm)
        check_adjoint(lambda x, root=root: Broadcast.apply(x, comm=comm, root=root), [x], comm)
    ys = [leaf(comm, rank, 2, seed=rank) for rank in comm.held]
    assert gradcheck(lambda *ys: Gather.apply(*ys, comm=comm, root=comm.size - 1) ** 2, ys, comm)
    zs = [leaf(comm, seed=rank) for rank in comm.held]                    # 0-d
    assert gradgradcheck(lambda *zs: Reduce.apply(*[z.sin() for z in zs], comm=comm), zs, comm=comm, gen_non_contig_grad_outputs=True)


def test_only_one_rank_has_inputs_that_require_grad(comm):
    x = ag.ones(2, dtype=ag.float64, requires_grad=comm.rank == comm.size - 1)
    assert gradcheck(lambda x: AllReduce.apply(x * x, comm=comm), [x], comm)
    if comm.size > 1:
        with pytest.raises(ValueError, match="rank.* 0.*requires an input that requires grad on every rank"):
            gradgradcheck(lambda x: AllReduce.apply(x * x, comm=comm), [x], comm=comm)
    with pytest.raises(ValueError, match="at least one input tensor to require gradient"):
        gradcheck(lambda x: AllReduce.apply(x, comm=comm), [ag.ones(2)], comm)


def test_outputs_that_do_not_lead_back_on_one_rank(comm):
    """Instead of a backward pass that waits for ever: an error on all ranks."""
    if comm.size == 1:
        return
    x = leaf(comm, 2)

    def call(x):
        y = AllReduce.apply(x, comm=comm)
        return y.detach() if comm.rank == 1 else y

    for error, run in ((GradcheckError, gradcheck), (AssertionError, check_adjoint)):
        raises(error, f"rank 1 of {comm.size}: no output of .*call depends", run, call, [x], comm)


def test_functions_without_any_gradient_must_be_constant(comm):
    x = leaf(comm, 2)
    assert gradcheck(lambda x: x.detach() * 0 + 1, [x], comm)
    raises(GradcheckError, "analytical 0", lambda: gradcheck(lambda x: AllReduce.apply(x.detach(), comm=comm), [x], comm))
    raises(AssertionError, "requires grad", lambda: check_adjoint(lambda x: x.detach(), [x], comm))


def test_random_backwards_and_undefined_gradients(comm):
    class Noisy(ag.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1

        @staticmethod
        def backward(ctx, g):
            return g + np.random.default_rng().standard_normal() * 1e-3

    class Twins(ag.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.set_materialize_grads(False)
            return x * 1, x * 2

        @staticmethod
        def backward(ctx, g, h):
            return None if g is None or h is None else g + 2 * h

    x = leaf(comm, 2)
    raises(GradcheckError, "not reentrant", gradcheck, Noisy.apply, x, comm)
    assert gradcheck(Noisy.apply, x, comm, nondet_tol=1, atol=1, check_undefined_grad=False)
    raises(GradcheckError, "undefined", lambda: gradcheck(lambda x: Twins.apply(AllReduce.apply(x, comm=comm)), x, comm))
    assert gradcheck(lambda x: Twins.apply(AllReduce.apply(x, comm=comm)), x, comm, check_undefined_grad=False)
    for name in ("check_batched_grad", "masked", "check_batched_forward_grad"):
        raises(NotImplementedError, name, lambda: gradcheck(Noisy.apply, x, comm, **{name: True}))
    assert gradgradcheck(lambda x: AllReduce.apply(x ** 2, comm=comm), x, comm)      # by position, as gradcheck's


def test_second_order_mistakes(comm):
    class Cube(ag.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x ** 3

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            return 3 * x * x.detach() * g

    x = leaf(comm, 2)

    def call(x):
        return AllReduce.apply(Cube.apply(x), comm=comm)

    assert gradcheck(call, x, comm)
    raises(GradcheckError, r"input \[0\]\[0\], element \[0\]", gradgradcheck, call, x, comm=comm)


def test_forward_mode(comm):
    x = leaf(comm, 2, 2)
    assert gradcheck(lambda x: x.exp() * x, x, comm, check_forward_ad=True)
    assert gradcheck(lambda x: x.exp() * x, x, comm, check_forward_ad=True, fast_mode=True)
    assert gradcheck(lambda x: x.exp() * x, x, comm, check_forward_ad=True, check_backward_ad=False)


@dataclasses.dataclass
class Batch:
    x: object
    rows: object
    name: str = "b"
    more: object = None


@pytest.mark.parametrize("kind", ["real", "complex"])
@pytest.mark.devices
def test_nests_integers_and_complex_numbers(comm, kind):
    def numbers(*shape, seed):
        rng = np.random.default_rng([seed, comm.rank])
        return rng.standard_normal(shape) + (1j * rng.standard_normal(shape) if kind == "complex" else 0)

    rows = np.arange(3)[::-1]

    def call(batch, options):
        assert batch.name == "given" and batch.rows.dtype == ag.int64 and options["flag"] is True
        ys = as_tuple(AllReduce.apply(*batch.x, comm=comm))
        picked = [y[batch.rows] for y in ys]
        return Batch(picked, batch.rows, more={"w": (options["w"] * 2, None, "text")})

    xs = [numbers(3, 2, seed=rank) for rank in comm.held]
    check_adjoint(call, [Batch(xs, rows, "given"), {"flag": True, "w": numbers(2, seed=9)}], comm)
    leaves = [ag.tensor(x, requires_grad=True) for x in xs]
    inputs = [Batch(leaves, ag.tensor(rows.copy()), "given"), {"flag": True, "w": ag.tensor(numbers(2, seed=9), requires_grad=True)}]
    assert gradcheck(call, inputs, comm)


def test_a_function_that_is_not_linear_is_checked_at_its_inputs(comm):
    x = leaf(comm, 2, 2)
    check_adjoint(lambda x: AllReduce.apply(x ** 3, comm=comm) + 1, [x], comm)
    for mistake, words in ((one_element, "not linear"), (lambda comm, g: g / comm.size, "off by exactly")):
        if comm.size > 1 or words == "not linear":
            with pytest.raises(AssertionError, match=words):
                check_adjoint(lambda x, m=mistake: WrongOn.apply(x, comm=comm, mistake=m), [x], comm, order=1)


def test_explain_factor():
    right = np.array([1.0, -2.0, 0.0])
    assert "exactly 3 = the number of ranks, too small" in explain_factor(right / 3, right, 3)
    assert "exactly 3 = the number of ranks, too large" in explain_factor(right * 3, right, 3)
    assert "exactly 9 = the number of ranks squared, too large" in explain_factor(right * 9, right, 3)
    for given, size in ((right, 3), (right * 2, 3), (right * 1, 1), (right * [3, 3, 1] + [0, 0, 1], 3), (right * np.nan, 3)):
        assert explain_factor(given, right, size) == ""


def test_single_precision_warns(on_ranks):
    def check(comm):
        x = ag.ones(1, requires_grad=True)
        gradcheck(lambda x: AllReduce.apply(x, comm=comm), x, comm, eps=1e-2, atol=1e-2)

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        raises(UserWarning, "double precision", on_ranks, check)


@pytest.mark.devices
def test_inputs_are_as_before(comm):
    x = leaf(comm, 2)
    before = x.detach().numpy().copy()
    gradcheck(lambda x: Scatter.apply(x, comm=comm), [x], comm)
    assert np.array_equal(x.detach().numpy(), before) and x.grad is None


def test_forward_mode_through_collectives(comm):
    x = leaf(comm, 2, 2)
    for function in (AllReduce, AllGather, CopyToRanks, ReduceFromRanks):
        assert gradcheck(lambda x, f=function: f.apply(x.exp(), comm=comm), x, comm, check_forward_ad=True, check_backward_ad=False)

    class Half(Collective):
        @staticmethod
        def forward(ctx, x, *, comm):
            ctx.comm = comm
            return ag.from_numpy(comm.allreduce([x.array])[0])

        @staticmethod
        def backward(ctx, g):
            return AllReduce.apply(g, comm=ctx.comm)

        @staticmethod
        def jvp(ctx, t):
            return AllReduce.apply(t, comm=ctx.comm) / 2

    with pytest.raises(GradcheckError, match="forward mode mismatch"):
        gradcheck(lambda x: Half.apply(x, comm=comm), x, comm, check_forward_ad=True)


def test_overlapping_inputs_are_refused_on_every_rank(comm):
    x = ag.ones(1, dtype=ag.float64).expand(2) if comm.rank == 0 else ag.ones(2, dtype=ag.float64)
    with pytest.raises(RuntimeError, match="overlap in memory"):
        gradcheck(lambda x: AllReduce.apply(x, comm=comm), [x.requires_grad_()], comm)
