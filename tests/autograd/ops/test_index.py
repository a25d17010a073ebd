"""Indexing in PyTorch's forms; gather, scatter and their kin: dtypes, in-place forms, errors."""

import itertools

import numpy as np
import pytest
from both import torch

import autograd as ag

pytestmark = pytest.mark.quick

F = ag.nn.functional

PIECES = [lambda t: 1, lambda t: -1, lambda t: slice(None), lambda t: slice(0, None, 2), lambda t: None, lambda t: ..., lambda t: True, lambda t: [1, 0],
          lambda t: t.tensor([[0], [1]]), lambda t: t.tensor([True, False]), lambda t: t.tensor(1), lambda t: np.int64(0), lambda t: np.array([1, 1]),
          lambda t: t.from_numpy(np.eye(2) > 0), lambda t: t.tensor([0, 1], dtype=t.int32), lambda t: False, lambda t: np.array([1, 0], np.int8),
          lambda t: [t.tensor([1]), 0], lambda t: [np.True_, np.False_], lambda t: [1.0, 0]]


@pytest.mark.skipif(torch is None, reason="PyTorch, the yardstick, is not installed")
@pytest.mark.filterwarnings("ignore")
def test_like_pytorch():
    """All triples of pieces: the same result, or the same kind of error."""
    data = np.arange(16.0).reshape(2, 2, 2, 2)
    triples = list(itertools.product(PIECES, repeat=3))[::3] + list(itertools.product(PIECES, repeat=1)) + list(itertools.product(PIECES, repeat=2))
    for pieces in triples:
        outcomes = []
        for t in (torch, ag):
            try:
                outcomes.append(t.from_numpy(data)[tuple(p(t) for p in pieces)])
            except Exception as error:
                outcomes.append(type(error))
        theirs, mine = outcomes
        index = [p(torch) for p in pieces]
        if isinstance(theirs, type):
            assert mine is theirs, index
        else:
            np.testing.assert_array_equal(mine.numpy(), theirs.numpy(), err_msg=str(index))


WAYS = ("read", "read and differentiate", "write", "write and differentiate", "write tangents", "replay")


def used(t, way, index, many):
    """What x[index] gives, or what x is after x[index] = value, and the gradient or tangent of x."""
    x = t.from_numpy(np.arange(30.0).reshape(5, 3, 2))
    if way == "read":
        return x[index], None
    if way == "read and differentiate":
        y = x.requires_grad_() * 1
        return y[index], t.autograd.grad((y[index] ** 2).sum(), x)[0]
    value = t.arange(x[index].numel(), dtype=t.float64).reshape(x[index].shape) if many else t.tensor(7.0, dtype=t.float64)
    if way == "write tangents":
        with t.autograd.forward_ad.dual_level():
            y = t.autograd.forward_ad.make_dual(x, x * 10) * 1
            y[index] = t.autograd.forward_ad.make_dual(value, value * 3)
            return tuple(part.clone() for part in t.autograd.forward_ad.unpack_dual(y))

    def step(x):
        y = x * 1
        y[index] = value
        return y

    if way == "write and differentiate":
        y = step(x.requires_grad_())
        return y, t.autograd.grad((y ** 2).sum(), x)[0]
    if t is ag and way == "replay":
        step = ag.trace_step(step, x)
        step(x * 2)
    return step(x), None


@pytest.mark.skipif(torch is None, reason="PyTorch, the yardstick, is not installed")
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("way", WAYS)
def test_every_use_reads_an_index_the_same_way(way):
    """Single pieces, tuples and lists of pieces: a list that holds sequences counts as a tuple."""
    parts = [2, -1, slice(1, 3), None, ..., [0, 2], (0, 2), [[0, 2], [2, 1]], range(2), lambda t: np.array([[0, 2]]), lambda t: t.tensor([2, 0]),
             lambda t: t.tensor(1)]
    parts = parts[:-1] if way == "replay" else parts             # a trace refuses to read a number from a tensor
    indices = [*([p] for p in parts), *([a, b] for a in parts for b in parts)]
    for many, parts in itertools.product((False, True), indices):
        for form in (tuple, list):
            def index(t, parts=parts, form=form):
                made = [p(t) if callable(p) else p for p in parts]
                return made[0] if form is list and len(made) == 1 else form(made)

            outcomes = []
            for t in (torch, ag):
                try:
                    outcomes.append([v if v is None else v.detach().numpy() for v in used(t, way, index(t), many)])
                except (IndexError, TypeError, ValueError) as error:
                    outcomes.append(type(error))
            theirs, mine = outcomes
            if isinstance(theirs, type) or isinstance(mine, type):
                assert mine is theirs, (parts, form)
            else:
                for a, b in zip(mine, theirs, strict=True):
                    np.testing.assert_array_equal(a, b, err_msg=f"{parts} as a {form.__name__}")


def test_overwritten_values_get_no_gradient():
    """Of several values for one element the last is written, and alone has a derivative; PyTorch's gradient counts both."""
    x, value = ag.zeros(4, dtype=ag.float64), ag.tensor([1.0, 2.0, 3.0], dtype=ag.float64, requires_grad=True)
    assert ag.gradcheck(lambda v: x.index_put((ag.tensor([1, 3, 1]),), v), (value,))
    assert ag.gradgradcheck(lambda v: x.index_put((ag.tensor([1, 3, 1]),), v) ** 2, (value,))
    y = x * value.sum()
    y[[1, 1]] = value[0]
    assert ag.autograd.grad(y.sum(), value)[0].tolist() == [1.0, 0.0, 0.0]


def test_lists_tuples_and_numbers():
    x = ag.arange(12.0).reshape(3, 4)
    assert x[[0, 2]].shape == (2, 4) and x[(0, 2)].item() == 2 and x[[]].shape == (0, 4) and x[range(2)].shape == (2, 4)
    assert x[(0, 1), (1, 2)].tolist() == [1, 6] and x[[True, False, True]].shape == (2, 4)
    with pytest.warns(UserWarning, match="non-tuple sequence"):
        assert x[[[0, 1], [1, 2]]].tolist() == [1, 6]
    with pytest.warns(UserWarning, match="uint8"):
        assert x[ag.tensor([1, 0, 1], dtype=ag.uint8)].shape == (2, 4)
    assert ag.tensor(3.0)[None].shape == ag.tensor(3.0)[True].shape == (1,) and x[x > 5].shape == (6,)


@pytest.mark.parametrize("index, error, words", [
    (5, IndexError, "index 5 is out of bounds for dimension 0 with size 3"), ((0, 7), IndexError, "dimension 1 with size 4"), ((0, 0, 0), IndexError, "too many indices"),
    (slice(None, None, -1), ValueError, "step must be greater than zero"), (slice(None, None, 0), ValueError, "zero"), (1.0, IndexError, "only integers"),
    (ag.tensor([0, 9]), IndexError, "out of bounds"), (ag.tensor([1.0]), IndexError, "long, int, byte or bool"), (ag.tensor([True, False]), IndexError, "shape of the mask"),
    ((ag.tensor([0, 1]), ag.tensor([0, 1, 2])), IndexError, "could not be broadcast"), (ag.tensor([1], dtype=ag.int16), IndexError, "long, int")])
def test_index_errors(index, error, words):
    with pytest.raises(error, match=words):
        ag.arange(12.0).reshape(3, 4)[index]


def test_a_changed_index_is_found_out():
    x, index = ag.arange(4.0).requires_grad_(), ag.tensor([0, 1])
    for y in (x[index], x.gather(0, index), x.index_select(0, index)):
        index.add_(1)
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            y.sum().backward()
    mask = ag.tensor([True, False, True, False])
    y = x[mask]
    mask.logical_not_() if hasattr(mask, "logical_not_") else mask.copy_(~mask)
    y.sum().backward()
    assert x.grad.tolist() == [1, 0, 1, 0]


def test_in_place_forms():
    x = ag.zeros(2, 3)
    rows, ones = ag.tensor([1, 1]), ag.ones(2, 3)
    assert x.index_add_(0, rows, ones) is x and x.tolist() == [[0, 0, 0], [2, 2, 2]]
    x.masked_fill_(x == 0, 5), x.scatter_(1, ag.tensor([[2], [0]]), 7.0), x.index_fill_(1, ag.tensor([1]), -1)
    assert x.tolist() == [[5, -1, 7], [7, -1, 2]]
    x.scatter_add_(0, ag.tensor([[1, 1, 1]]), ones), x.put_(ag.tensor([0]), ag.tensor([9.0])), x.index_put_((ag.tensor([0]), ag.tensor([2])), ag.tensor(4.0))
    assert x.tolist() == [[9, -1, 4], [8, 0, 3]]
    x.masked_scatter_(x > 5, ag.tensor([1.0, 2.0])), x.index_copy_(1, ag.tensor([1]), ag.tensor([[6.0], [6.0]])), x.scatter_reduce_(0, ag.tensor([[0, 0, 0]]), ones * 9, "amax")
    assert x.tolist() == [[9, 9, 9], [2, 6, 3]]


def test_integers_and_booleans():
    x = ag.tensor([[1, 2], [3, 4]])
    index = ag.tensor([[0, 0], [0, 0]])
    assert [x.scatter_reduce(0, index, x * -3, r).tolist()[0] for r in ("sum", "prod", "mean", "amax", "amin")] == [[-11, -16], [27, 144], [-4, -6], [1, 2], [-9, -12]]
    assert x.scatter_reduce(0, index, x, "amax", include_self=False).tolist() == [[3, 4], [3, 4]]
    flags = x > 2
    assert flags.scatter_reduce(0, index, flags, "sum").tolist() == [[True, True], [True, True]] and flags.nonzero().tolist() == [[1, 0], [1, 1]]
    assert x.masked_fill(flags, 1.7).tolist() == [[1, 2], [1, 1]] and x.take(ag.tensor([-1])).tolist() == [4]
    assert x.scatter(0, index[:1], 2, reduce="multiply").tolist() == [[2, 4], [3, 4]]


def test_places():
    x = ag.tensor([[0, 1], [2, 0]])
    assert [i.tolist() for i in ag.nonzero(x, as_tuple=True)] == [[0, 1], [1, 0]] and ag.argwhere(ag.tensor(3)).shape == (1, 0)
    assert ag.nonzero_static(x, size=3, fill_value=9).tolist() == [[0, 1], [1, 0], [9, 9]]
    assert [i.tolist() for i in ag.unravel_index(ag.tensor([3, 5]), (2, 3))] == [[1, 1], [0, 2]]
    assert F.one_hot(ag.tensor([0, 2])).tolist() == [[1, 0, 0], [0, 0, 1]] and F.one_hot(ag.tensor([1]), 4).shape == (1, 4)
    assert ag.repeat_interleave(ag.tensor([2, 0, 1])).tolist() == [0, 0, 2]


def test_as_strided_scatter_gives_the_overwritten_elements_nothing():
    """Where PyTorch 2.13 gives them what src should get, and the others nothing."""
    x, src = ag.zeros(3, 3, requires_grad=True), ag.ones(2, 2, requires_grad=True)
    y = ag.as_strided_scatter(x, src, (2, 2), (4, 2), 0)
    y.sum().backward()
    assert y.tolist() == [[1, 0, 1], [0, 1, 0], [1, 0, 0]] and x.grad.tolist() == [[0, 1, 0], [1, 0, 1], [0, 1, 1]] and src.grad.sum().item() == 4


@pytest.mark.parametrize("call, error, words", [
    (lambda x, i: x.gather(0, i + 5), RuntimeError, "out of bounds"), (lambda x, i: x.gather(0, i - 1), RuntimeError, "index -1"), (lambda x, i: x.gather(0, i[0]), RuntimeError, "same number of dimensions"),
    (lambda x, i: x.gather(0, i.float()), RuntimeError, "int32/int64"), (lambda x, i: x.gather(0, i, sparse_grad=True), NotImplementedError, "sparse_grad"),
    (lambda x, i: x.scatter(0, i, x.double()), RuntimeError, "equal to src.dtype"), (lambda x, i: x.scatter(0, i, x[:, :1]), RuntimeError, "no larger size than src"),
    (lambda x, i: x.scatter(0, i, x, reduce="sum"), RuntimeError, "add or multiply"), (lambda x, i: x.scatter_reduce(0, i, x, "max"), RuntimeError, "got max"),
    (lambda x, i: x.index_select(0, i), IndexError, "vector"), (lambda x, i: x.index_select(0, i[0] + 3), IndexError, "out of range"), (lambda x, i: x.index_add(0, i[0], x[0]), RuntimeError, "dimensionality"),
    (lambda x, i: x.index_copy(0, i[0], x[:1]), IndexError, "Number of indices"), (lambda x, i: x.index_fill(0, i[0], x), RuntimeError, "0-dimensional value"),
    (lambda x, i: x.index_reduce(0, i[0], x, "sum"), RuntimeError, "got sum"), (lambda x, i: x.masked_fill(i, 0), RuntimeError, "boolean"), (lambda x, i: x.masked_fill(x > 0, x), RuntimeError, "0-dimensional"),
    (lambda x, i: x.masked_scatter(x > 0, x[0, :1]), RuntimeError, "Number of elements"), (lambda x, i: x.take(i + 9), IndexError, "of 4 elements"), (lambda x, i: x.put(i, x[0]), IndexError, "same number of elements"),
    (lambda x, i: ag.index_put(x, (i,), 1.0), TypeError, "must be Tensor"), (lambda x, i: ag.index_put(x, (i,), i), RuntimeError, "dtypes match"), (lambda x, i: ag.select_scatter(x, x, 0, 0), RuntimeError, "slice size"),
    (lambda x, i: x.repeat_interleave(ag.tensor([1, 2, 3]), 0), RuntimeError, "same size as input"), (lambda x, i: F.one_hot(i.int()), RuntimeError, "LongTensor"), (lambda x, i: F.one_hot(i, 1), RuntimeError, "smaller than num_classes")])
def test_errors(call, error, words):
    with pytest.raises(error, match=words):
        call(ag.ones(2, 2), ag.tensor([[0, 1], [1, 0]]))


WRITES = {
    "number": lambda t, x, v: x.__setitem__(0, v), "slice": lambda t, x, v: x.__setitem__(slice(0, 2), v), "list": lambda t, x, v: x.__setitem__([0, 1], v),
    "tensor": lambda t, x, v: x.__setitem__(t.tensor([0, 1]), v), "mask": lambda t, x, v: x.__setitem__(t.tensor([True, True, False, False]), v),
    "everything": lambda t, x, v: x.__setitem__(..., v), "True": lambda t, x, v: x.__setitem__(True, v), "False": lambda t, x, v: x.__setitem__(False, v),
    "True, many": lambda t, x, v: x.__setitem__(True, v.expand(4) if v.ndim else v.expand(2).repeat(2)),
    "slice and mask": lambda t, x, v: x[None].__setitem__((slice(None), t.tensor([True, True, False, False])), v),
    "list and mask": lambda t, x, v: x[None].__setitem__(([0, 0], t.tensor([True, True, False, False])), v),
    "index_put_": lambda t, x, v: x.index_put_((t.tensor([0, 1]),), v), "put_": lambda t, x, v: x.put_(t.tensor([0]), v.reshape(-1)[:1]),
    "index_put_ mask": lambda t, x, v: x.index_put_((t.tensor([True, True, False, False]),), v),
    "index_put_ accumulate": lambda t, x, v: x.index_put_((t.tensor([True, True, False, False]),), v, accumulate=True),
    "fill_": lambda t, x, v: x.fill_(v), "copy_": lambda t, x, v: x.copy_(v if v.ndim == 0 else v[0]),
    "scatter_": lambda t, x, v: x.scatter_(0, t.tensor([1]), v.reshape(-1)), "index_copy_": lambda t, x, v: x.index_copy_(0, t.tensor([1]), v.reshape(-1)[:1]),
    "index_add_": lambda t, x, v: x.index_add_(0, t.tensor([1]), v.reshape(-1)[:1]), "index_fill_": lambda t, x, v: x.index_fill_(0, t.tensor([1]), v)}
WRITTEN = {
    "1.5": lambda t: 1.5, "0-d": lambda t: t.tensor(1.5), "one": lambda t: t.tensor([1.5]), "two": lambda t: t.tensor([1.5, 2.5]), "double": lambda t: t.tensor(2.5, dtype=t.float64),
    "int32": lambda t: t.tensor([7], dtype=t.int32), "int": lambda t: 3, "bool": lambda t: True, "1j": lambda t: 1j, "1+0j": lambda t: 1 + 0j, "complex": lambda t: t.tensor(2j),
    "complex without": lambda t: t.tensor(2 + 0j), "300": lambda t: 300, "nan": lambda t: float("nan"), "-1": lambda t: -1, "None": lambda t: None}


@pytest.mark.skipif(torch is None, reason="PyTorch, the yardstick, is not installed")
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("dtype", ["int64", "uint8", "float32", "bool", "complex64"])
@pytest.mark.parametrize("form", WRITES)
def test_what_may_be_written_like_pytorch(form, dtype):
    """Each form of writing, with each kind of value: the same result, or an error of the same class."""
    for name, value in WRITTEN.items():
        outcomes = []
        for t in (torch, ag):
            x = t.zeros(4, dtype=getattr(t, dtype))
            try:
                WRITES[form](t, x, value(t))
                outcomes.append(x.tolist())
            except Exception as error:
                outcomes.append(type(error))
        theirs, mine = outcomes
        if name == "nan" and theirs != mine and dtype == "bool":
            continue
        assert str(mine) == str(theirs), (form, dtype, name)


def test_arrays_and_lists_do_not_lose_their_fractions():
    x = ag.zeros(4, dtype=ag.int64)
    for index in (slice(0, 2), [0, 1], ag.tensor([True, True, False, False])):
        for value in (np.array([1.5, 2.5]), [1.5, 2.5], np.array([1j, 2])):
            with pytest.raises(RuntimeError, match="cannot be converted to type int64"):
                x[index] = value
        x[index] = [7, 8]
        assert x.tolist() == [7, 8, 0, 0]
