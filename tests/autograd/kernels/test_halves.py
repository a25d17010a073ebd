"""Conversions between float16 and wider floats: NumPy's bits for every value, and no floating-point flag for each number."""

import numpy as np
import pytest

import autograd as ag
import autograd.nn.functional as F
from autograd.kernels.halves import converted, copy_into, scale
from autograd.kernels.loops import loops
from dparallel.comm.reference import combined
from dparallel.hooks.encoded_sums import BFloat16, Float16, Int8

ALL = np.arange(1 << 16, dtype=np.uint16).view(np.float16)
BITS = {2: np.uint16, 4: np.uint32, 8: np.uint64}
QUIET = {2: 0x200, 4: 0x400000, 8: 1 << 51}          # the bit that quiet nan have


@pytest.fixture(params=["compiled", "numpy"])
def kernels(request, monkeypatch):
    if request.param == "numpy":
        monkeypatch.setattr(loops, "library", None)
    elif loops.library is None:
        pytest.skip("loops are not compiled here, or switched off")


def bits(x):
    return x.view(BITS[x.itemsize])


def numpys(x, dtype):
    with np.errstate(all="ignore"):
        return x.astype(dtype)


def same(found, expected, source):
    """Whether the bits are equal; signalling nan may have become quiet ones."""
    quiet = ~np.isnan(source) | ((bits(source) & BITS[source.itemsize](QUIET[source.dtype.itemsize])) != 0)
    return (found.dtype == expected.dtype and (np.isnan(found) == np.isnan(expected)).all()
            and (np.signbit(found) == np.signbit(expected)).all() and (bits(found)[quiet] == bits(expected)[quiet]).all())


def edges(dtype):
    """Each half, what lies between it and the next one, and the nearest numbers on both sides of these."""
    finite = np.sort(ALL[np.isfinite(ALL)].astype(dtype))
    points = np.concatenate([finite, (finite[1:] + finite[:-1]) / 2, dtype([65519.996, 65520, 65536, 1e30, np.inf])])
    points = np.concatenate([points, -points])
    near = [np.nextafter(points, dtype(to)) for to in (np.inf, -np.inf)]
    return np.concatenate([points, *near, dtype([0.0, -0.0, np.nan])])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_every_half_there_and_back(kernels, dtype):
    wide = converted(ALL, dtype)
    assert same(wide, ALL.astype(dtype), ALL)
    assert same(converted(wide, np.float16), numpys(wide, np.float16), wide)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_every_tie_and_its_neighbours(kernels, dtype):
    x = edges(dtype)
    assert (bits(converted(x, np.float16)) == bits(numpys(x, np.float16))).all()


def test_patterns_of_all_kinds(kernels):
    rng = np.random.default_rng(0)
    any_bits = rng.integers(0, 1 << 32, 3_000_000, dtype=np.uint32).view(np.float32)
    small = np.arange(0x33000000 - 4096, 0x38800000 + 4096, 127, dtype=np.uint32).view(np.float32)        # become subnormal
    double = np.exp(rng.uniform(-20, 13, 1_000_000)) * rng.choice([-1, 1], 1_000_000)
    for x in (any_bits, small, -small, double, rng.integers(0, 1 << 64, 300_000, dtype=np.uint64).view(np.float64)):
        assert same(converted(x, np.float16), numpys(x, np.float16), x)


def test_float64_is_rounded_once(kernels):
    """Next to what lies between two halves: by way of float32 it would be rounded up."""
    x = np.tile([1 + 2.0 ** -11 + 2.0 ** -40, 1 + 2.0 ** -11 - 2.0 ** -40, 2.0 ** -25 + 2.0 ** -60, 65520 - 2.0 ** -20], 1000)
    assert (converted(x, np.float16)[:4] == np.float16([1 + 2.0 ** -10, 1, 2.0 ** -24, 65504])).all()


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_bfloat16_is_that_of_its_package(kernels, dtype):
    brain = pytest.importorskip("ml_dtypes").bfloat16
    x = np.random.default_rng(0).integers(0, 1 << 32, 1_000_000, dtype=np.uint32).view(np.float32)
    x = np.concatenate([x, np.float32([3.4e38, -3.4e38, 1e-45, 1e-40, np.inf, -np.inf, np.nan, -np.nan])])
    with np.errstate(all="ignore"):
        x = x.astype(dtype).reshape(-1, 8).T
        found, expected = converted(x, brain), x.astype(brain)
        assert found.dtype == brain and (found.view(np.uint16) == expected.view(np.uint16)).all()
        back = converted(found, dtype)
        assert back.dtype == dtype and np.array_equal(back, found.astype(dtype), equal_nan=True)
    every = np.arange(1 << 16, dtype=np.uint16)
    assert (BFloat16().decode(every).view(np.uint32) == every.astype(np.uint32) << 16).all()


@pytest.mark.parametrize("view", [lambda x: x, lambda x: x.T, lambda x: x.transpose(0, 2, 3, 1), lambda x: x.transpose(2, 0, 3, 1),
                                  lambda x: x[::-1, :, 1:], lambda x: x[:, ::2], lambda x: x[:1].repeat(1, 0)[0, 0, 0, :0],
                                  lambda x: np.broadcast_to(x[:1], (5, *x.shape[1:])), lambda x: x[0, 0, 0, 0]])
def test_layouts(kernels, view):
    x = np.random.default_rng(0).standard_normal((4, 16, 9, 20)).astype(np.float32) * np.float32(1e-5)
    for y in (view(x), view(converted(x, np.float16)), view(x.astype(np.float64))):
        for dtype in (np.float16, np.float32, np.float64):
            found, expected = converted(y, dtype), numpys(y, dtype)
            assert found.shape == expected.shape and found.dtype == dtype and not np.shares_memory(found, y)
            assert (bits(found) == bits(expected)).all()
            if y.flags.c_contiguous:
                assert found.flags.c_contiguous
    assert converted(x, np.float32, copy=False) is x


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_bfloat16_rounds_to_nearest_even(kernels, dtype):
    types = pytest.importorskip("ml_dtypes")
    x = np.random.default_rng(0).integers(0, 1 << 32, 100_000, dtype=np.uint32).view(np.float32)
    x = x[~np.isnan(x)].astype(dtype)
    codec = BFloat16()
    rows = codec.encode(x)
    assert (rows == x.astype(types.bfloat16).view(np.uint16)).all()
    assert np.isnan(codec.decode(codec.encode(np.array([np.nan, -np.nan] * 1000, dtype)))).all()


def tensor(x):
    return ag.tensor(x, requires_grad=True)


def backward(f):
    def both(x):
        t = tensor(x)
        f(t).backward()
        return t.grad.numpy()
    return both


SMALL = np.float32([1.1e-7, -3.3e-6, 2.7e-8, 1e-9, 5e-5] * 1000).reshape(50, 100)
HALF = numpys(SMALL, np.float16)
# each converts, and none may raise a flag for each number: that is what takes 65 ns
CONVERSIONS = {
    "half()": lambda: tensor(SMALL).half(), "to()": lambda: tensor(SMALL).to(ag.float16), "from float64": lambda: tensor(SMALL.astype(float)).half(),
    "copy_": lambda: ag.zeros(50, 100, dtype=ag.float16).copy_(ag.tensor(SMALL)),
    "gradient of half()": lambda: backward(lambda t: t.half().float().sum())(SMALL),
    "gradient of float()": lambda: backward(lambda t: (t.float() * 1.1e-7).sum())(HALF),
    "Module.half()": lambda: ag.nn.Linear(100, 50).half(), "sum": lambda: tensor(HALF).sum(1), "mean": lambda: tensor(HALF).mean(1),
    "cumsum": lambda: tensor(HALF).cumsum(1), "prod": lambda: tensor(HALF).prod(1), "softmax": lambda: F.softmax(tensor(HALF) - 9e4, 1),
    "log_softmax": lambda: F.log_softmax(tensor(HALF), 1), "var": lambda: tensor(HALF).var(1), "sigmoid": lambda: ag.sigmoid(tensor(HALF) - 12),
    "conv2d": lambda: F.conv2d(tensor(HALF.reshape(1, 1, 50, 100)), ag.ones(1, 1, 3, 3, dtype=ag.float16) / 3),
    "fp16 hook": lambda: Float16().decode(Float16().encode(SMALL.reshape(-1))), "bf16 hook": lambda: BFloat16().encode(SMALL.reshape(-1)),
    "int8 hook": lambda: Int8(512).encode(SMALL.reshape(-1)), "sum over ranks": lambda: combined([HALF, HALF[::-1]], "sum"),
    "mean over ranks": lambda: combined([HALF, HALF, HALF], "mean"), "weights of ranks": lambda: scale(HALF.copy(), 0.3),
    "into": lambda: copy_into(HALF.copy(), SMALL), "copy_ of an array": lambda: tensor(HALF).detach().copy_(SMALL),
    "assigned": lambda: ag.tensor(HALF).__setitem__(slice(None), ag.tensor(SMALL)), "out=": lambda: ag.mul(ag.tensor(SMALL), 1.0, out=ag.tensor(HALF)),
    "tensor(array)": lambda: ag.tensor(SMALL, dtype=ag.float16), "asarray": lambda: np.asarray(ag.tensor(SMALL), np.float16),
    "product": lambda: tensor(HALF) * tensor(HALF), "by a number": lambda: tensor(HALF) * 0.7 / 3, "in place": lambda: ag.tensor(HALF).mul_(0.7).add_(ag.tensor(SMALL)),
    "gradient of a product": lambda: backward(lambda t: (t * 0.7 * t).float().sum())(HALF), "mixed": lambda: backward(lambda t: (t * ag.tensor(SMALL)).sum())(HALF),
    "mse_loss": lambda: backward(lambda t: F.mse_loss(t, ag.zeros(50, 100, dtype=ag.float16), reduction="sum"))(HALF), "lerp": lambda: ag.tensor(HALF).lerp(ag.tensor(HALF[::-1].copy()), 0.3),
    "addcmul": lambda: ag.addcmul(ag.tensor(HALF), ag.tensor(HALF), ag.tensor(HALF)), "dropout": lambda: F.dropout(tensor(HALF), 0.3), "gelu": lambda: F.gelu(tensor(HALF)),
    "layer_norm": lambda: F.layer_norm(tensor(HALF), (100,), ag.tensor(HALF[0])), "normal_": lambda: ag.tensor(HALF).normal_(0, 1e-6), "init": lambda: ag.nn.init.uniform_(ag.tensor(HALF), 0, 1e-6),
    "load_state_dict": lambda: layer(HALF).load_state_dict(layer(SMALL).state_dict()), "optimizer's state": lambda: adam(HALF).load_state_dict(adam(SMALL).state_dict()),
    "Adam": lambda: adam(HALF), "SGD": lambda: stepped(ag.optim.SGD, HALF, lr=0.3, momentum=0.9, weight_decay=0.1), "avg_pool2d": lambda: F.avg_pool2d(tensor(HALF)[None], 2),
    "accumulated": lambda: [loss.backward() for t in [tensor(HALF)] for loss in [(t * 0.7).sum() for _ in range(3)]], "clip_grad_norm_": lambda: clipped(HALF),
}


def layer(x):
    made = ag.nn.Linear(100, 50, bias=False)
    made.weight = ag.nn.Parameter(ag.tensor(x))
    return made


def stepped(kind, x, **settings):
    p = ag.nn.Parameter(ag.tensor(x))
    p.grad = ag.tensor(x)
    optimizer = kind([p], **settings)
    optimizer.step()
    return optimizer


def clipped(x):
    p = ag.nn.Parameter(ag.tensor(x))
    p.grad = ag.tensor(x)
    ag.nn.utils.clip_grads_with_norm_([p], 1e-3, ag.tensor(2e-3, dtype=ag.float16))


def adam(x):
    return stepped(ag.optim.Adam, x, lr=1e-6)


@pytest.mark.parametrize("name", CONVERSIONS)
def test_no_flag_for_each_small_number(kernels, name):
    with np.errstate(under="raise"):
        CONVERSIONS[name]()


def test_too_large_is_infinite_without_a_warning(kernels, recwarn):
    for size in (3, 5000):
        x = np.full(size, 1e6, np.float32)
        assert np.isinf(ag.tensor(x).half().numpy()).all() and np.isinf(Float16().encode(-x)).all()
    assert not recwarn.list


@pytest.mark.parametrize("compute, x", [
    (lambda t: 4000 * t.cumprod(0)[-1], [0.03, 1, 1, 1]), (lambda t: 4000 * t.prod(), [0.03, 1, 1, 1]), (lambda t: ag.renorm(t[None], 2, 0, 1.)[0, 0], [3e4, 6e4, 2e4]),
    (lambda t: ag.renorm(t[None], 2, 0, 1.)[0, 0], [3e-4, 4e-4]), (lambda t: ag.atan2(t[0], t[1]), [3e-4, 4e-4]), (lambda t: ag.atan2(t[0], t[1]), [3e3, 4e3]),
    (lambda t: t.norm(3), [1e-3, 2e-3]), (lambda t: t.std(), [3e3, 5e3])], ids=["cumprod", "prod", "renorm", "renorm small", "atan2 small", "atan2", "norm 3", "std"])
def test_derivatives_in_range_do_not_leave_it_on_the_way(compute, x):
    half = ag.tensor(x, dtype=ag.float16)
    for derivative in (ag.func.grad, ag.func.hessian):
        expected, found = derivative(compute)(half.double()).numpy(), derivative(compute)(half).double().numpy()
        close = np.abs(found - expected) <= 1e-2 * np.abs(expected) + 1e-3 * np.abs(expected).max() + 1e-7
        assert (close | (np.abs(expected) > 65504)).all(), (derivative, found, expected)


RNG = np.random.default_rng(5)
INPUTS = {
    "all halves": ALL.astype(np.float32), "random": RNG.standard_normal((30, 70)).astype(np.float32), "small": SMALL, "of float64": SMALL.astype(np.float64),
    "subnormal": RNG.integers(0, 1 << 23, (20, 90), dtype=np.uint32).view(np.float32), "subnormal float64": RNG.integers(0, 1 << 52, 3000, dtype=np.uint64).view(np.float64),
    "0-d": np.array(3e-8, np.float32), "empty": np.zeros((0, 3), np.float32), "strided": np.repeat(SMALL, 2, 1)[:, ::2], "transposed": SMALL.T, "few": SMALL[0, :5],
    "turned": SMALL[::-1], "repeated": np.broadcast_to(SMALL[:1], SMALL.shape), "inf and nan": np.float32([np.inf, -np.inf, np.nan, -0.0, 7e4, 65519.996, 65520] * 20),
}


def to_numpy(t):
    return t.detach().numpy()


# an array as a tensor would be made of it, float16 numbers like them; what NumPy does with the same
ALIKE = {
    "tensor": (lambda x, h: to_numpy(ag.tensor(x, dtype=ag.float16)), lambda x, h: x.astype(np.float16)),
    "as_tensor": (lambda x, h: to_numpy(ag.as_tensor(x, dtype=ag.float16)), lambda x, h: x.astype(np.float16)),
    "asarray": (lambda x, h: np.asarray(ag.tensor(x), np.float16), lambda x, h: x.astype(np.float16)),
    "copy_": (lambda x, h: to_numpy(ag.tensor(h).copy_(ag.tensor(x))), lambda x, h: x.astype(np.float16)),
    "assigned": (lambda x, h: np.asarray([ag_assigned(h, x)])[0], lambda x, h: x.astype(np.float16)),
    "out=": (lambda x, h: to_numpy(ag.mul(ag.tensor(x), 3.0, out=ag.tensor(h))), lambda x, h: (x * x.dtype.type(3)).astype(np.float16)),
    "mixed": (lambda x, h: to_numpy(ag.tensor(h) + ag.tensor(x)), lambda x, h: np.asarray(h + x)), "mixed product": (lambda x, h: to_numpy(ag.tensor(x) * ag.tensor(h)), lambda x, h: np.asarray(x * h)),
    "compared": (lambda x, h: to_numpy(ag.tensor(x) > ag.tensor(h)), lambda x, h: np.asarray(x > h)), "complex": (lambda x, h: to_numpy(ag.tensor(h).to(ag.complex64)), lambda x, h: h.astype(np.complex64)),
    "int32": (lambda x, h: to_numpy(ag.tensor(np.nan_to_num(h, posinf=0, neginf=0)).int()), lambda x, h: np.nan_to_num(h, posinf=0, neginf=0).astype(np.int32)),
    "sum": (lambda x, h: to_numpy(ag.tensor(h) + ag.tensor(h)), lambda x, h: h + h), "difference": (lambda x, h: to_numpy(ag.tensor(h) - 0.1), lambda x, h: h - np.float16(0.1)),
    "product": (lambda x, h: to_numpy(ag.tensor(h) * 0.7), lambda x, h: h * np.float16(0.7)), "quotient": (lambda x, h: to_numpy(3.0 / ag.tensor(h)), lambda x, h: np.float16(3) / h),
    "square root": (lambda x, h: to_numpy(ag.tensor(h).sqrt()), lambda x, h: np.sqrt(h)), "joined": (lambda x, h: to_numpy(ag.stack([ag.tensor(h), ag.tensor(x)])), lambda x, h: np.stack([h, x])),
    "big-endian": (lambda x, h: converted(x.astype(x.dtype.newbyteorder(">")), np.float16), lambda x, h: x.astype(np.float16)),
    "to big-endian": (lambda x, h: converted(x, ">f2").astype(np.float16), lambda x, h: x.astype(np.float16)),
    "read-only": (lambda x, h: converted(read_only(x), np.float16), lambda x, h: x.astype(np.float16)), "gradient": (lambda x, h: gradient_of(h, x), lambda x, h: x.astype(np.float16)),
}


def ag_assigned(h, x):
    t = ag.tensor(h)
    t[...] = ag.tensor(x)
    return t.numpy()


def read_only(x):
    x = x.copy()
    x.flags.writeable = False
    return x


def gradient_of(h, x):
    t = ag.tensor(h, requires_grad=True)
    t.to(ag.tensor(x).dtype).backward(ag.tensor(x))
    return t.grad.numpy()


@pytest.mark.parametrize("kind", INPUTS)
@pytest.mark.parametrize("name", ALIKE)
def test_bits_are_numpys(kernels, name, kind):
    x = INPUTS[kind]
    with np.errstate(all="ignore"):
        h = np.asarray(x.astype(np.float16))
        found, expected = np.asarray(ALIKE[name][0](x, h)), np.asarray(ALIKE[name][1](x, h))
    assert found.dtype == expected.dtype and found.shape == expected.shape
    nan = np.isnan(expected)
    assert (np.isnan(found) == nan).all() and found[~nan].tobytes() == expected[~nan].tobytes()


def test_a_mapped_file_is_converted_like_an_array(kernels, tmp_path):
    SMALL.tofile(tmp_path / "x")
    with np.errstate(under="raise"):
        found = ag.tensor(np.memmap(tmp_path / "x", np.float32, "r", shape=SMALL.shape), dtype=ag.float16)
    assert (bits(found.numpy()) == bits(HALF)).all()
