"""Element types: promotion, limits, the default dtype, conversions, and what a tensor says of itself."""

import copy
import itertools
import pickle

import numpy as np
import pytest

import autograd as ag

NAMES = ["bool", "uint8", "int8", "int16", "int32", "int64", "float16", "float32", "float64", "complex64", "complex128"]


def name(dtype):
    return str(dtype).removeprefix("torch.")


@pytest.mark.parametrize("a, b", list(itertools.product(NAMES, NAMES)))
def test_promotion_like_pytorch(a, b):
    torch = pytest.importorskip("torch")
    if "float16" in (a, b) and ("complex" in a or "complex" in b):
        pytest.skip("complex32, which NumPy does not have")

    def all_of(t):
        x, y = getattr(t, a), getattr(t, b)
        tensors = [(t.ones(2, dtype=x), t.ones(n, dtype=y)) for n in ((2,), ())]
        return [name(t.promote_types(x, y)), t.can_cast(x, y), *(name(t.result_type(*pair)) for pair in tensors)]

    assert all_of(ag) == all_of(torch)


@pytest.mark.parametrize("a", [*NAMES, True, 2, 2.5, 1j])
@pytest.mark.parametrize("number", [True, 2, 2.5, 1j])
def test_numbers_like_pytorch(a, number):
    torch = pytest.importorskip("torch")
    if a == "float16" and number == 1j:
        pytest.skip("complex32, which NumPy does not have")

    def kind(t):
        x = t.ones(2, dtype=getattr(t, a)) if isinstance(a, str) else a
        return name(t.result_type(x, number)), name(t.result_type(number, x))

    assert kind(ag) == kind(torch)


@pytest.mark.parametrize("dtype", NAMES)
def test_limits_like_pytorch(dtype):
    torch = pytest.importorskip("torch")
    kind = "iinfo" if "int" in dtype else "finfo"
    if dtype == "bool":
        with pytest.raises(TypeError, match="finfo"):
            ag.finfo(ag.bool)
        return
    ours, theirs = (getattr(t, kind)(getattr(t, dtype)) for t in (ag, torch))
    fields = ("bits", "max", "min", "dtype") + (("eps", "tiny", "smallest_normal") if kind == "finfo" else ())
    assert [getattr(ours, f) for f in fields] == [getattr(theirs, f) for f in fields]
    assert repr(ours) == repr(theirs)
    others = [name for name in NAMES if name != "bool" and ("int" in name) == (kind == "iinfo")]
    assert [ours == getattr(ag, kind)(getattr(ag, name)) for name in others] == [theirs == getattr(torch, kind)(getattr(torch, name)) for name in others]


@pytest.mark.parametrize("dtype", [ag.float64, ag.float16])
def test_default_dtype(dtype):
    assert ag.get_default_dtype() == ag.float32
    ag.set_default_dtype(dtype)
    try:
        made = [ag.tensor(1.0), ag.tensor([]), ag.zeros(2), ag.ones(2), ag.empty(2), ag.full((2,), 1.0), ag.arange(2.0), ag.linspace(0, 1, 3),
                ag.eye(2), ag.rand(2), ag.randn(2), ag.hann_window(3), ag.normal(0, 1, (2,)), ag.scalar_tensor(1), ag.tensor([1, 2]) * 1.5,
                ag.tensor([1, 2]) / 2, ag.exp(ag.tensor([1])), ag.nn.Linear(2, 2).weight, ag.where(ag.tensor([True]), 1.0, 0.0)]
        assert [x.dtype for x in made] == [dtype] * len(made) and ag.finfo().dtype == dtype.name
        assert repr(made[0]) == "tensor(1.)" and repr(ag.ones(1, dtype=ag.float32)) == "tensor([1.], dtype=float32)"
    finally:
        ag.set_default_dtype(ag.float32)
    for wrong in (ag.int32, "float32", float):
        with pytest.raises(TypeError, match="floating-point"):
            ag.set_default_dtype(wrong)


TEXTS = """x.to('cpu') is x | x.to() is x | x.to(None) is x | x.to(t.float32) is x | x.to(t.float64).dtype | x.to('cpu', t.float64).dtype | x.to(i).dtype | x.to('float64') | x.to(float).dtype
x.to(t.float32, True, True) is x | x.to(device='cpu', dtype=t.int32, non_blocking=True, copy=True).dtype | x.to(dtype=t.float64, memory_format=t.channels_last) | x.to(other=i) | x.to(None, t.float64).dtype
[t.zeros(1, dtype=d).type() for d in (t.uint16, t.uint32, t.uint64)] | t.finfo(t.bfloat16) | x.type() | x.type(t.float64).dtype | x.type('torch.LongTensor').dtype | x.bool().type() | x.type_as(i).dtype | x.float() is x | x.double().dtype | x.half().dtype | x.long().dtype | x.int().dtype
x.short().dtype | x.char().dtype | x.byte().dtype | x.cfloat().dtype | x.cdouble().dtype | x.bool().dtype | x.type('nonsense')
repr(x.device) | x.device == t.device('cpu') | x.device == 'cpu' | x.layout is t.strided | x.is_cuda, x.is_sparse, x.is_quantized, x.is_meta, x.is_cpu, x.is_mps | x.itemsize, x.nbytes, x.element_size()
x.stride(), x.stride(0), x.stride(-1) | x.stride(5) | x[1].storage_offset(), x.storage_offset(), x[:, 1:].storage_offset() | x.is_contiguous(), x.t().is_contiguous(), x[:, 1].stride() | x[:, :1].is_contiguous()
t.zeros(0, 3).stride() | t.zeros(3, 0, 2).stride() | t.zeros(1, 3, 1).stride() | t.tensor(1.).stride() | t.zeros(2, 3, 4, 5).to(memory_format=t.channels_last).stride() | t.zeros(2, 3, 4, 5).is_contiguous(memory_format=t.channels_last)
t.zeros(2, 3, 4, 5).to(memory_format=t.channels_last).is_contiguous(memory_format=t.channels_last) | x.get_device() | x.cpu() is x | x.pin_memory() | x.is_same_size(i), x.is_set_to(x), x.is_set_to(x[:]), x.is_set_to(x.t())
x.nelement(), x.ndimension(), x.dim(), x.numel() | x.is_signed(), i.bool().is_signed(), i.byte().is_signed() | x.is_complex(), x.is_floating_point(), i.is_floating_point(), x.is_conj(), x.is_shared() | complex(x.sum())
t.is_tensor(x), t.is_tensor(1), t.is_floating_point(x), t.is_complex(x), t.numel(x) | t.is_nonzero(t.tensor([0.])) | t.is_nonzero(t.tensor([])) | t.is_nonzero(t.tensor([1, 2])) | x.is_nonzero()
t.device('cpu:0'), t.device('cpu', 0), str(t.device('cpu:0')), t.device('cuda', 1), t.device('cuda:1').index, t.device('cpu').index | t.device('foo') | t.device('cpu:x') | t.device('cpu:0', 1) | {t.device('cpu'): 1}[t.device('cpu')]
t.finfo(t.int32) | t.iinfo(t.float32) | t.iinfo(t.bool) | t.zero_(t.ones(2)).tolist() | t.int is t.int32, t.short is t.int16, t.cfloat is t.complex64, t.half is t.float16, t.long is t.int64, t.double is t.float64
f'{t.tensor(1.2345):.2f}', f'{t.tensor(7):3d}' | f'{x:.2f}' | t.pi, t.inf, t.e, t.newaxis"""

TEXTS += """
x.dense_dim(), x.sparse_dim(), x.dim_order(), x.t().dim_order(), x.to_dense() is x | list(reversed(i.tolist())) | reversed(x + i).tolist() | x.resolve_conj() is x
i.clone().apply_(lambda v: v * 2).tolist() | t.ones(2, 3).map_(t.arange(3.), lambda a, b: a + b).tolist() | t.ones(2, requires_grad=True).apply_(abs) | x.apply_(3)
t.add(t.ones(3), 1, out=t.zeros(1).expand(3))"""


@pytest.mark.parametrize("text", TEXTS.replace("\n", " | ").split(" | "))
def test_tensors_say_of_themselves_what_pytorch_says(text):
    torch = pytest.importorskip("torch")

    def outcome(t):
        try:
            return str(eval(text, {"t": t, "x": t.zeros(2, 3), "i": t.arange(3)})).replace("torch.float", "float").replace("torch.", "")
        except Exception as error:
            return type(error).__name__

    assert outcome(ag).replace("torch.", "") == outcome(torch)


def test_addresses():
    x = ag.zeros(2, 3)
    assert x.data_ptr() == x.array.ctypes.data and x[1].data_ptr() == x.data_ptr() + 12 and ag.zeros(0).data_ptr() == 0


def test_bfloat16():
    pytest.importorskip("ml_dtypes")
    x = ag.tensor([1.0, 2.123])
    half = x.bfloat16()
    assert half.dtype == ag.bfloat16 and half.itemsize == 2 and half.float().tolist() == [1.0, 2.125] and half.is_floating_point()
    assert repr(half) == "tensor([1.0000, 2.1250], dtype=bfloat16)" and (half + x).dtype == ag.float32 and half.type() == "torch.BFloat16Tensor"
    assert ag.promote_types(ag.bfloat16, ag.float16) == ag.float32 and ag.promote_types(ag.bfloat16, ag.int64) == ag.bfloat16
    assert x.requires_grad_().bfloat16().requires_grad and half.requires_grad_().requires_grad


TAKE_A_DTYPE = {
    "ones": lambda x, d: ag.ones(2, dtype=d), "tensor": lambda x, d: ag.tensor([1.0], dtype=d),
    "zeros_like": lambda x, d: ag.zeros_like(x, dtype=d), "rand": lambda x, d: ag.rand(2, dtype=d),
    "to": lambda x, d: x.to(d), "to(dtype=)": lambda x, d: x.to(dtype=d), "type": lambda x, d: x.type(d),
    "view": lambda x, d: x.view(d), "sum": lambda x, d: x.sum(dtype=d), "mean": lambda x, d: ag.mean(x, dtype=d),
    "softmax": lambda x, d: ag.softmax(x, 0, dtype=d), "cumsum": lambda x, d: x.cumsum(0, dtype=d),
    "norm": lambda x, d: ag.linalg.vector_norm(x, dtype=d), "Module.to": lambda x, d: ag.nn.Linear(2, 2).to(d),
    "Module.to(dtype=)": lambda x, d: ag.nn.Linear(2, 2).to(dtype=d), "Module.type": lambda x, d: ag.nn.Linear(2, 2).type(d),
    "Module.to(device, dtype)": lambda x, d: ag.nn.Linear(2, 2).to("cpu", d), "Linear": lambda x, d: ag.nn.Linear(2, 2, dtype=d),
    "set_default_dtype": lambda x, d: ag.set_default_dtype(d), "finfo": lambda x, d: ag.finfo(d),
    "promote_types": lambda x, d: ag.promote_types(d, ag.float32), "itemsize": lambda x, d: d.itemsize,
    "numpy": lambda x, d: x.numpy().astype(d), "np.zeros": lambda x, d: np.zeros(2, d)}


@pytest.mark.parametrize("use", [*TAKE_A_DTYPE, "Tensor.bfloat16", "Module.bfloat16", "ones(dtype='bfloat16')"])
def test_without_ml_dtypes_bfloat16_is_one_error_that_names_it(monkeypatch, use):
    monkeypatch.setitem(__import__("sys").modules, "ml_dtypes", None)
    x = ag.ones(2)
    calls = {"Tensor.bfloat16": x.bfloat16, "Module.bfloat16": ag.nn.Linear(2, 2).bfloat16,
             "ones(dtype='bfloat16')": lambda: ag.ones(2, dtype="bfloat16")}
    with pytest.raises(ModuleNotFoundError, match="pip install ml_dtypes"):
        calls.get(use, lambda: TAKE_A_DTYPE[use](x, ag.bfloat16))()


def test_without_ml_dtypes_code_may_compare_with_bfloat16(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "ml_dtypes", None)
    assert ag.ones(1).dtype not in (ag.float16, ag.bfloat16) and repr(ag.bfloat16) == "bfloat16"
    assert np.dtype("float32") == ag.float32 and isinstance(ag.float32, ag.dtype)


@pytest.mark.parametrize("kind", [*NAMES, "bfloat16", "uint16", "uint32", "uint64"])
def test_what_a_dtype_says_like_pytorch(kind):
    torch = pytest.importorskip("torch")

    def told(t):
        d = getattr(t, kind)
        same = [pickle.loads(pickle.dumps(d)), copy.copy(d), copy.deepcopy(d), t.zeros(2, dtype=d).dtype, t.empty(0, dtype=d).clone().dtype]
        try:
            wide = repr(d.to_complex())
        except RuntimeError:
            wide = "no complex one"
        return (repr(d), str(d), f"{d}", d.is_floating_point, d.is_complex, d.is_signed, d.itemsize, wide, repr(d.to_real()),
                [s is d for s in same], isinstance(d, t.dtype), {d: 1}[d], d == d, d != t.bool, d in (t.float32, d), d == None, d != None)      # noqa: E711

    mine, theirs = told(ag), told(torch)
    if kind == "float16":                            # NumPy has no complex32
        mine, theirs = (told[:7] + told[8:] for told in (mine, theirs))
    assert mine == theirs


@pytest.mark.parametrize("kind", [*NAMES, "bfloat16"])
def test_numpy_takes_a_dtype_for_its_own(kind):
    d, own = getattr(ag, kind), np.dtype(getattr(ag, kind))
    assert type(own) is type(np.dtype(own)) and np.zeros(2, d).dtype == d and np.zeros(2).astype(d).dtype is np.zeros(0, own).dtype
    assert d == own and own == d and hash(d) == hash(own) and d in {own: 1} and own in {d: 1} and ag.zeros(2, dtype=own).dtype is d
    assert (d.kind, d.name, d.char, d.type) == (own.kind, own.name, own.char, own.type) and np.result_type(d, d) == d
    assert d == own.type and (kind == "bfloat16" or d == kind) and d != "nonsense" and d is not None and ag.dtype(kind) is d
    assert ag.zeros(2, dtype=d).numpy().dtype == d and ag.as_tensor(np.zeros(2, d)).dtype is d
    with pytest.raises(TypeError, match="tensors hold"):
        ag.dtype("U3")
