"""Tensors as text: letter for letter PyTorch's (but "float64" for "torch.float64")."""

import numpy as np
import pytest

import autograd as ag

torch = pytest.importorskip("torch")

SHAPES = [(), (1,), (5,), (40,), (3, 4), (2, 3, 4), (1200,), (40, 40), (7, 150), (0,), (0, 3), (2, 0, 3), (5, 5, 5, 20), (1001,)]
SPECIAL = [[np.nan], [np.inf, -np.inf, 1], [np.nan, 1.5], [0, np.nan], [0.0, 0], [1, 10000.0], [1e8], [1e9, 1], [1e-5], [1, 1e-5], [-1, 2], [1e-5, 0],
           [123456789.0], [0.1, 1000], [0.1, 100.0], [1e38, -1e38], [-0.0], [np.nan, -np.inf, 100000.5], [1e20], [1e-30, 1.0]]


def samples():
    rng = np.random.default_rng(0)
    for dtype in ("float32", "float64", "float16", "int64", "uint8", "bool", "complex64"):
        for shape in SHAPES:
            for scale in (1, 1000, 1e-6):
                values = rng.standard_normal(shape) * scale
                values = values + 1j * values[::-1] if dtype == "complex64" and shape else values > 0 if dtype == "bool" else values
                values = abs(values) % 200 if dtype == "uint8" else values
                yield np.array(values, dtype)
            yield np.array(np.ones(shape) * rng.integers(0, 9, shape), dtype)
    for values in SPECIAL:
        yield np.array(values, "float32")
        yield np.array(values, "float64")


SAMPLES = list(samples())


def check(arrays):
    for array in arrays:
        kinds = [lambda t: t] + [lambda t: t.requires_grad_(), lambda t: t.requires_grad_() * 1] * (array.dtype.kind in "fc")
        for make in kinds:
            ours, theirs = repr(make(ag.from_numpy(array.copy()))), repr(make(torch.from_numpy(array.copy())))
            if "torch." in theirs:                   # shorter without it, so that lines may end elsewhere
                ours, theirs = " ".join(ours.split()), " ".join(theirs.replace("torch.", "").split())
            assert ours == theirs


def test_like_pytorch():
    check(SAMPLES)


@pytest.mark.parametrize("options", [
    {"precision": 2}, {"profile": "short"}, {"sci_mode": True}, {"sci_mode": False}, {"edgeitems": 1, "threshold": 10}, {"linewidth": 40},
    {"profile": "full", "threshold": 2000}, {"edgeitems": 0, "threshold": 3}], ids=str)
def test_options_like_pytorch(options):
    try:
        for t in (ag, torch):
            t.set_printoptions(**options)
        check(SAMPLES[::4])
    finally:
        for t in (ag, torch):
            t.set_printoptions(profile="default")


def test_others():
    assert repr(ag.nn.Parameter(ag.ones(2))) == repr(torch.nn.Parameter(torch.ones(2)))
    assert f"{ag.tensor(2.5):.2f} {ag.tensor(3)}" == "2.50 3" and str(ag.ones(1)) == "tensor([1.])"
    with pytest.raises(ValueError, match="profile"):
        ag.set_printoptions(profile="wide")
    assert ag.get_printoptions()["edgeitems"] == 3


def test_tangents_are_shown():
    def shown(lib, fw):
        x = lib.ones(2)
        with fw.dual_level():
            dual = fw.make_dual(x, lib.ones(2))
            wide = fw.make_dual(lib.ones(2, 30), lib.zeros(2, 30)) * 2
            return [repr(t) for t in (dual, dual * 2, fw.make_dual(lib.ones(1), x[:1]), x, wide)]

    assert shown(ag, ag.forward_ad) == shown(torch, torch.autograd.forward_ad)


def test_large_tensors_are_not_copied():
    import tracemalloc

    x = ag.ones(1, dtype=ag.bfloat16).expand(10**9)  # 2 GB if it were copied
    tracemalloc.start()
    try:
        text = repr(x)
        assert tracemalloc.get_traced_memory()[1] < 10**6
    finally:
        tracemalloc.stop()
    assert text == "tensor([1., 1., 1.,  ..., 1., 1., 1.], dtype=bfloat16)"
