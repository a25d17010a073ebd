"""In-place operations on tensors that show elements several times: which of them write, and what, as in PyTorch."""

import warnings

import numpy as np
import pytest

import autograd as ag

torch = pytest.importorskip("torch")

BASES = {
    "rows": lambda t, dtype: t.tensor([0.25, 0.5, 0.75]).to(dtype).expand(3, 3),
    "columns": lambda t, dtype: t.tensor([[0.25], [0.5], [0.75]]).to(dtype).expand(3, 3),
    "one": lambda t, dtype: t.tensor(0.25).to(dtype).expand(3, 3),
    "no_repetition": lambda t, dtype: t.tensor([[0.25], [0.5], [0.75]]).to(dtype).expand(3, 1),
}


def full(t, x):
    return t.tensor(np.arange(9.0).reshape(3, 3) / 10).to(x.dtype)


def picks(t):
    return t.tensor([0, 2])


def places(t):
    return t.tensor([[0, 2, 1], [1, 0, 2], [2, 1, 0]])


def sevens(t, x):
    return t.tensor([7.0, 8.0]).to(x.dtype)


# Arguments of the methods that take neither nothing, nor one tensor, nor one number.
ARGUMENTS = {
    "index_fill_": lambda t, x: [(0, picks(t), 7), (1, picks(t), 7), (0, t.tensor([0, 0]), t.tensor(7.0)), (5, picks(t), 7)],
    "masked_fill_": lambda t, x: [(full(t, x) > 0.4, 7), (t.zeros(3, 3, dtype=t.bool), 7), (t.tensor([True, False, False]), 7)],
    "masked_scatter_": lambda t, x: [(full(t, x) > 0.4, full(t, x))],
    "fill_": lambda t, x: [(7,), (t.tensor(7.0),)],
    "index_put_": lambda t, x: [((picks(t),), sevens(t, x)[0]), ((picks(t), picks(t)), sevens(t, x)), ((picks(t),), sevens(t, x)[0], True),
                                ((picks(t), t.tensor([0, 0])), sevens(t, x), True), ((picks(t), t.tensor([1, 1])), sevens(t, x))],
    "put_": lambda t, x: [(picks(t), sevens(t, x)), (picks(t), sevens(t, x), True)],
    "scatter_": lambda t, x: [(0, places(t), full(t, x)), (0, places(t), 7.0)],
    "scatter_add_": lambda t, x: [(0, places(t), full(t, x))],
    "scatter_reduce_": lambda t, x: [(0, places(t), full(t, x), "sum")],
    "index_add_": lambda t, x: [(0, picks(t), full(t, x)[:2, :x.shape[1]])],
    "index_copy_": lambda t, x: [(0, picks(t), full(t, x)[:2, :x.shape[1]])],
    "index_reduce_": lambda t, x: [(0, picks(t), full(t, x)[:2, :x.shape[1]], "prod")],
    "copy_": lambda t, x: [(full(t, x)[:, :x.shape[1]],)],
    "addmm_": lambda t, x: [(full(t, x), full(t, x)[:, :x.shape[1]])],
    "addbmm_": lambda t, x: [(full(t, x)[None], full(t, x)[None, :, :x.shape[1]])],
    "addr_": lambda t, x: [(full(t, x)[0], full(t, x)[0, :x.shape[1]])],
    "renorm_": lambda t, x: [(2, 0, 1.0)], "cumsum_": lambda t, x: [(0,)], "cumprod_": lambda t, x: [(0,)],
    "lerp_": lambda t, x: [(x.clone() + 1, 0.5)], "addcmul_": lambda t, x: [(x.clone(), x.clone())],
    "addcdiv_": lambda t, x: [(x.clone(), x.clone())], "clamp_": lambda t, x: [(0.3, 0.6)], "clip_": lambda t, x: [(0.3, 0.6)],
    "mvlgamma_": lambda t, x: [(1,)], "polygamma_": lambda t, x: [(1,)], "unsqueeze_": lambda t, x: [(0,)],
    "transpose_": lambda t, x: [(0, 1)], "swapaxes_": lambda t, x: [(0, 1)], "swapdims_": lambda t, x: [(0, 1)],
    "as_strided_": lambda t, x: [((3,), (1,))], "fill_diagonal_": lambda t, x: [(7.0,), (7.0, True)],
    **{name: lambda t, x: [()] for name in ("uniform_", "normal_", "random_")}, "bernoulli_": lambda t, x: [(0.5,)],
    "geometric_": lambda t, x: [(0.5,)],
    "tril_": lambda t, x: [(), (1,), (-1,)], "triu_": lambda t, x: [(), (1,), (-1,)],
}
WHOLE = ("bitwise", "gcd", "lcm", "__iand__", "__ior__", "__ixor__", "__ilshift__", "__irshift__")
RANDOM = ("random_", "normal_", "cauchy_", "exponential_", "log_normal_", "uniform_", "geometric_", "bernoulli_")
# The first three do not write; a Python function given to the others is called once for each place, in PyTorch with what
# an earlier call has written, here with the old element.
OTHER = ("resize_", "resize_as_", "set_", "apply_", "map_", "map2_")
ASSIGNMENTS = {
    "row": lambda t, x: (0, 7), "all": lambda t, x: (slice(None), 7), "part": lambda t, x: ((slice(0, 2), slice(0, 1)), 7),
    "list": lambda t, x: ([0, 2], 7), "list_rows": lambda t, x: ([0, 2], full(t, x)[:2, :x.shape[1]]), "list_twice": lambda t, x: ([2, 2, 0], 7),
    "mask": lambda t, x: (x > 0.4, 7), "mask_of_rows": lambda t, x: (t.tensor([True, False, True]), 7),
    "mask_tensor": lambda t, x: (x > 0.4, t.tensor(7.0).to(x.dtype)), "element": lambda t, x: ((0, 0), 7),
    "row_tensor": lambda t, x: (0, full(t, x)[0, :x.shape[1]]), "column": lambda t, x: ((slice(None), 0), full(t, x)[0]),
    "ellipsis": lambda t, x: (..., full(t, x)[:, :x.shape[1]]), "picked": lambda t, x: (picks(t), sevens(t, x)[:, None]),
    "nothing": lambda t, x: (t.tensor([], dtype=t.int64), 7), "mixed": lambda t, x: ((slice(None), [0, 0]), 7),
    "no_mask": lambda t, x: (x > 100, 7), "new_axis": lambda t, x: ((None, 0), 7), "true": lambda t, x: (True, 7),
}
AUGMENTED = [f"__i{name}__" for name in ("add", "sub", "mul", "truediv", "pow", "floordiv", "mod", "and", "or", "xor", "lshift", "rshift")]
METHODS = sorted(name for name in dir(ag.Tensor) if name.endswith("_") and not name.startswith("_") and name not in OTHER) + AUGMENTED


def calls(t, name, x):
    if name in ARGUMENTS:
        return ARGUMENTS[name](t, x)
    return [(), (x.clone(),), (2,)][name in AUGMENTED:]


def outcome(t, name, base, number):
    """What the tensor is afterwards, or the error; None for arguments that PyTorch's method does not take."""
    x = BASES[base](t, t.int64 if name.startswith(WHOLE) else t.float64)
    t.manual_seed(0)
    try:
        if name in ASSIGNMENTS:
            x[ASSIGNMENTS[name](t, x)[0]] = ASSIGNMENTS[name](t, x)[1]
        else:
            getattr(x, name)(*calls(t, name, x)[number])
    except TypeError:
        return None
    except (RuntimeError, IndexError) as error:
        return "several" if "more than one element" in str(error) else type(error).__name__
    return x.detach().numpy().copy()


@pytest.mark.parametrize("base", BASES)
@pytest.mark.parametrize("name", [*METHODS, *ASSIGNMENTS])
def test_writes_as_pytorch(name, base):
    if name not in ASSIGNMENTS:
        assert hasattr(torch.Tensor, name)
    compared = 0
    for number in range(1 if name in ASSIGNMENTS else len(calls(torch, name, BASES[base](torch, torch.float64)))):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            theirs = outcome(torch, name, base, number)
            if theirs is None:
                continue
            mine = outcome(ag, name, base, number)
        compared += 1
        if isinstance(theirs, str):
            assert isinstance(mine, str) and mine == theirs, (number, theirs, mine)
        elif name in RANDOM:
            assert mine.shape == theirs.shape
        else:
            np.testing.assert_allclose(mine, theirs, rtol=1e-9, err_msg=str(number))
    assert compared or name.startswith(("addmv", "baddbmm"))   # their tensors have other shapes


@pytest.mark.parametrize("write", [
    lambda x, v: x.masked_fill_(ag.tensor([[True, False, False], [False, False, True], [False] * 3]), v[0]),
    lambda x, v: x.index_fill_(1, ag.tensor([1]), v[0]), lambda x, v: x.index_put_((ag.tensor([0, 2, 1]), ag.tensor([0, 1, 0])), v),
    lambda x, v: x.index_put_((ag.tensor([0, 2, 1]), ag.tensor([0, 1, 0])), v, True), lambda x, v: x.__setitem__([0, 2], v[1]),
    lambda x, v: x.__setitem__([2, 1], v * v), lambda x, v: x.__setitem__([0], v[None, None]), lambda x, v: x.fill_(3), lambda x, v: x.tril_(),
    lambda x, v: x.fill_diagonal_(2)])
def test_gradients_through_the_write(write):
    def written(w, v):
        base = w * w
        write(base.expand(3, 3), v)
        return base

    def seen(w, v):
        return (written(w, v).expand(3, 3) * ag.arange(9.0, dtype=ag.float64).reshape(3, 3)).sum()

    w, v = (ag.tensor(values, dtype=ag.float64, requires_grad=True) for values in ([1.0, 2, 3], [5.0, 6, 7]))
    ag.gradcheck(written, [w, v])
    ag.gradcheck(seen, [w, v])


@pytest.mark.parametrize("shape", [(3,), (2, 3, 3), (3, 3, 3), (7, 3), (3, 7), (1, 4), (0, 0), ()])
@pytest.mark.parametrize("wrap", [False, True])
def test_fill_diagonal(shape, wrap):
    found = []
    for t in (torch, ag):
        try:
            found.append(t.zeros(shape).fill_diagonal_(5, wrap).tolist())
        except RuntimeError:
            found.append("raises")
    assert found[0] == found[1]


@pytest.mark.parametrize("fast_mode", [False, True])
def test_gradcheck_refuses_inputs_that_overlap(fast_mode):
    """Changing one element would change another."""
    memory = ag.arange(6, dtype=ag.float64)
    overlapping = [[ag.ones(1, dtype=ag.float64).expand(2)], [memory.as_strided((3, 2), (1, 1))], [memory[:4], memory[2:]]]
    for inputs in overlapping:
        xs = [x.detach().requires_grad_() for x in inputs]
        for check in (ag.gradcheck, ag.gradgradcheck):
            with pytest.raises(RuntimeError, match="overlap in memory"):
                check(lambda *xs: sum((x * x).sum() for x in xs), xs, fast_mode=fast_mode, raise_exception=False)
    apart = [x.detach().requires_grad_() for x in (memory[::2], memory[1::2])]
    assert ag.gradcheck(lambda x, y: (x * y).sum(), apart, fast_mode=fast_mode)
