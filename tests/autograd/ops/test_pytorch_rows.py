"""Rows from PyTorch's own test files that once failed here: values, aliasing, strides, and the kind of an error."""

import copy
import warnings

import pytest

import autograd as ag

ROWS = [
    "x = t.arange(6.).view(2, 3).t(); x.resize_(6); r = x", "x = t.arange(6.).view(2, 3).t(); x.resize_(2, 2); r = x",
    "x = t.arange(6.)[::2]; x.resize_(3, 1); r = x", "x = t.arange(6.)[::2]; x.resize_(5); r = x",
    "x = t.arange(48.).view(2, 3, 4, 2); x.resize_(4, 2, 3, 2, memory_format=t.channels_last); r = [x, x.stride()]",
    "x = t.arange(48.); x.resize_(4, 2, 3, 1, 2, memory_format=t.channels_last_3d); r = [x, x.stride()]",
    "x = t.ones(2, 2); x.resize_(2, 2, memory_format=t.preserve_format)", "x = t.ones(2, 2); x.resize_(-1, 2)",
    "x = t.empty(2, 3).t(); x.resize_as_(x); r = x.stride()",
    "x = t.zeros(240); x.resize_as_(t.ones(4, 5, 6, 2).contiguous(memory_format=t.channels_last), "
    "memory_format=t.preserve_format); r = x.stride()",
    "x = t.zeros(240); x.resize_as_(t.ones(4, 5, 6, 2), memory_format=t.channels_last); r = x.stride()",
    "x = t.arange(10.)[::2]; y = x.ravel(); y[0] = 9; r = [x, y, y.stride()]", "x = t.arange(3.); y = x.ravel(); y[0] = 9; r = x",
    "x = t.empty(0); y = t.arange(6.).view(2, 3); x.set_(y); y[0] = 7; r = x",
    "x = t.empty(0); y = t.arange(6.).view(2, 3).t(); x.set_(y); x[0, 0] = 8; r = [y, x.stride()]",
    "x = t.empty(0); x.set_(t.arange(6.), 1, (2, 2)); r = x", "x = t.empty(0); x.set_(t.arange(6.), 1, (2, 2), (2, 1)); r = x",
    "x = t.empty(0); y = t.arange(6.); x.set_(y.storage(), 2, (3,), (1,)); x[0] = 50; r = y",
    "x = t.empty(0); x.set_(t.arange(6.).untyped_storage()); r = x", "x = t.ones(3); x.set_(); r = x",
    "t.ones(3).set_(t.ones(2).long())", "t.ones(3).set_('a')", "t.ones(3, requires_grad=True).set_(t.ones(3))",
    "x = t.ones(2, 2); s = x.storage(); s[0] = 5; s[2:4] = 6; r = x", "del t.ones(2)[0]",
    "x = t.arange(6.).view(2, 3); w = deepcopy([x, x.t(), x[1], x[:, 1]]); w[1][0, 1] = 9; r = [*w, w[1].stride(), x]",
    "x = t.ones(2, 2); w = deepcopy([x.view(4), x]); w[0].add_(1); r = [*w, x]",
    "x = t.arange(6.).view(2, 3).t(); r = deepcopy(x).stride()", "r = deepcopy(t.arange(6.)[::2])", "r = deepcopy(t.ones(3).expand(2, 3))",
    "y = t.ones(3, requires_grad=True) * 2; b = y.detach()[1:]; w = deepcopy([b]); w[0][0] = 5; r = [w[0], b]",
    *[f"x = t.ones(2).{d}(); t.{f}(x, out=t.zeros(2, dtype=t.{o}))" for f in (
        "abs", "ceil", "conj_physical", "floor", "nan_to_num", "neg", "round", "sgn", "sign", "trunc", "argmax")
      for d, o in (("float", "float64"), ("double", "float32"), ("int", "float32"), ("float", "float32"))],
    *[f"x = t.ones(2, 2); r = t.{f}(x, out=t.zeros(2, 2, dtype=t.{o}))" for f in (
        "abs", "frac", "tril", "triu") for o in ("float64", "float32")],
    "r = t.abs(t.ones(2, dtype=t.complex64), out=t.zeros(2))", "r = t.exp2(t.ones(2), out=t.zeros(2, dtype=t.float64))",
    "t.where(t.ones(2).bool(), t.ones(2), t.ones(2), out=t.zeros(2, dtype=t.float64))", "t.mm(t.ones(2, 2), t.ones(2, 2), "
    "out=t.zeros(2, 2).double())", "t.clamp(t.ones(2), 0, 1, out=t.zeros(2).double())",
    "t.index_select(t.ones(2), 0, t.tensor([0]), out=t.zeros(1).double())", "t.amax(t.ones(2, 2), 0, out=t.zeros(2).double())",
    "t.sort(t.ones(2), out=(t.zeros(2).double(), t.zeros(2).long()))",
    *[f"t.{f}(t.ones(2, 2), 0, dtype=t.float64, out=t.zeros({s}))" for f, s in (
        ("sum", "2"), ("prod", "2"), ("mean", "2"), ("nansum", "2"), ("cumsum", "2, 2"), ("cumprod", "2, 2"))],
    *[f"r = t.{f}(t.ones(2, 2), 0, dtype=t.float64, out=t.zeros({s}).double())" for f, s in (("sum", "2"), ("cumsum", "2, 2"))],
    "r = t.linalg.vector_norm(t.ones(2), dtype=t.float64, out=t.zeros(()).double())", "t.linalg.vector_norm(t.ones(2), "
    "dtype=t.float64, out=t.zeros(()))",
    "r = t.linalg.vector_norm(t.ones(2) * 1j, dtype=t.complex128, out=t.zeros(()).double())",
    "t.add(t.ones(2), t.ones(2), alpha=1j)", "r = t.add(t.ones(2) * 1j, t.ones(2), alpha=1j)", "t.sub(t.ones(2), 1, alpha=1j)",
    *[f"t.addr(t.ones(2, 2), t.ones(2), t.ones(2), {a}={v})" for a in ("alpha", "beta") for v in ("True", "1j")],
    *[f"r = t.addr(t.ones(2, 2, dtype=t.complex64), t.ones(2), t.ones(2), {a}=1j)" for a in ("alpha", "beta")],
    *[f"t.take_along_dim(t.ones(2, 3), t.zeros(2, 3, dtype=t.{d}), 0)" for d in ("bool", "int32", "float32")],
    *[f"r = t.linalg.vector_norm(t.ones(2, dtype=t.bfloat16), dtype=t.{d})" for d in ("float32", "float64", "complex64")],
    *[f"r = t.multinomial(t.ones(0, 3), {n}, replacement={b}).shape" for n in (1, 2) for b in (True, False)],
    "t.manual_seed(2**64)", "t.manual_seed(-2**63 - 1)", "t.broadcast_shapes(1.0)", "t.broadcast_shapes((1,), 2.5)",
    "'a' in t.ones(2)", "[1] in t.ones(2)", "None in t.ones(2)", "r = [1 in t.ones(2), t.tensor(2.) in t.ones(2), True in t.ones(2)]",
    "r = t.ones(2).new(size=(2, 3)).shape", "t.ones(4).tensor_split(t.tensor(1.5))", "t.ones(4).tensor_split(t.ones(2, 2).long())",
    "t.empty(0, 3)[t.tensor([0])]", "t.tensor(1)[0]",
]


def outcome(t, row):
    names = {"t": t, "deepcopy": copy.deepcopy, "r": None}
    try:
        exec(row, names)
    except Exception as error:
        return type(error).__name__
    return [x.tolist() if isinstance(x, t.Tensor) else x for x in (names["r"] if isinstance(names["r"], list) else [names["r"]])]


@pytest.mark.parametrize("row", ROWS)
def test_the_same_as_pytorch(row):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch = pytest.importorskip("torch")
        assert outcome(ag, row) == outcome(torch, row)
