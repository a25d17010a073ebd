"""Making tensors, against PyTorch: the same expression with `t` as autograd and as torch."""

import pickle

import numpy as np
import pytest

import autograd as ag

pytestmark = pytest.mark.quick
torch = pytest.importorskip("torch")

SAME = """t.tensor([np.float64(1.)]) | t.tensor([np.float32(1.), 2.]) | t.tensor([np.array([1., 2.]), np.array([1., 2.])]) | t.tensor(np.int16(1))
t.tensor([t.tensor(1.), 2]) | t.tensor([t.tensor([1.]), 2]) | t.tensor([True, 2, 3.5]) | t.tensor([True, 2]) | t.tensor(1j) | t.tensor([]) | t.tensor([[], []])
t.tensor(None) | t.tensor({}) | t.tensor("a") | t.tensor(["a"]) | t.tensor([[1, 2], [3]]) | t.tensor(np.array([None]))
t.tensor(300, dtype=t.uint8) | t.tensor([-1], dtype=t.uint8) | t.tensor(1.5, dtype=t.int32) | t.tensor(1e40, dtype=t.float32) | t.tensor(2**70) | t.tensor([2**63])
t.tensor([1, 2], requires_grad=True) | t.tensor(range(4)) | t.tensor(1j, dtype=t.float32) | t.tensor([1., 2.], requires_grad=True)
t.from_numpy([1]) | t.from_numpy(np.array(['a'])) | t.from_numpy(np.float64(3)) | t.from_numpy(np.arange(3, dtype=np.int8))
t.zeros(-1) | t.zeros(2.5) | t.zeros((2, 'a')) | t.zeros() | t.zeros(()) | t.zeros(2, 3) | t.zeros([2, 3]) | t.zeros(size=(2,)) | t.zeros(2, dtype=t.int64, requires_grad=True)
t.zeros(2, pin_memory=True) | t.zeros(2, device='foo') | t.zeros(2, device=t.device('cpu')) | t.zeros(2, layout=t.strided)
t.zeros(2, out=t.ones(3), dtype=t.float64) | t.zeros(2, out=t.ones(2, dtype=t.int64)) | t.ones(2, 0, dtype=t.bool) | t.zeros(2, dtype=float)
t.full((2,), 1) | t.full((2,), True) | t.full((2,), 1.5, dtype=t.int64) | t.full((2,), t.tensor(3.)) | t.full((2,), t.tensor([3.])) | t.full(2, 3.) | t.full((2,), 3., out=t.zeros(2, dtype=t.int64))
t.full_like(t.zeros(2, dtype=t.int32), 2.7) | t.full_like(t.zeros(2, dtype=t.uint8), 300) | t.empty((2, 3), memory_format=t.channels_last) | t.zeros_like([1])
t.zeros_like(t.zeros(2, 3).t()).stride() | t.zeros_like(t.zeros(2, 3, 4, 5), memory_format=t.channels_last).stride() | t.zeros_like(t.zeros(2, 6)[:, ::2]).stride()
t.ones_like(t.zeros(2, 3, 4).permute(1, 0, 2)).stride() | t.empty_like(t.zeros(2, 3), dtype=t.int8).dtype == t.int8 | t.ones_like(t.zeros(2), requires_grad=True)
t.empty_strided((2, 3), (1, 2)).stride() | t.empty_strided((2, 3), (0, 1)).stride() | t.empty_strided((2, 3), (-1, 1)) | t.empty_strided((2, 3), (1,))
t.empty_permuted((2, 3, 4), (1, 0, 2)).stride() | t.empty_permuted((2, 3, 4), (1, 1, 2)) | t.empty_permuted((), ()).shape == ()
t.arange(5.) | t.arange(0, 5, 2) | t.arange(1, 0) | t.arange(0, 1, 0) | t.arange(5, 0, -2) | t.arange(0, 1, .3) | t.arange(t.tensor(5)) | t.arange(0., float('nan'))
t.arange(5, dtype=t.uint8) | t.arange(0, 2.5, dtype=t.int64) | t.arange(3, out=t.zeros(1)) | t.arange(True) | t.arange(5, dtype=t.bool) | t.arange(start=1, end=3) | t.arange(end=3)
t.linspace(0, 1, 0) | t.linspace(0, 1, 1) | t.linspace(0, 1, -1) | t.linspace(0, 9, 5, dtype=t.int64) | t.linspace(t.tensor(0), t.tensor(1.), 3) | t.linspace(t.tensor([0]), 1, 3) | t.linspace(0, 1, 3.)
t.logspace(0, 2, 3) | t.logspace(0, 2, 3, base=2) | t.logspace(0, 2, 3, base=2, dtype=t.int64) | t.eye(2, 3) | t.eye(-1) | t.eye(2, dtype=t.bool) | t.eye(2, out=t.zeros(2, 2, dtype=t.float64))
t.scalar_tensor(3) | t.scalar_tensor(True) | t.asarray([1., 2]) | t.asarray(np.array([1.]), copy=False) | t.asarray([1.], copy=False) | t.asarray(t.zeros(2), dtype=t.int64, copy=False)
t.asarray(t.zeros(2, requires_grad=True)) | t.asarray(t.zeros(2), requires_grad=True) | t.asarray(bytearray(8)) | t.as_tensor(np.array([1.])) | t.as_tensor(t.zeros(2, requires_grad=True), dtype=t.float64)
t.frombuffer(bytearray(8), dtype=t.int32) | t.frombuffer(bytearray(8), dtype=t.int32, count=1, offset=4) | t.frombuffer(bytearray(7), dtype=t.int32) | t.frombuffer(bytearray(8), dtype=t.int32, count=3)
t.frombuffer(bytearray(8), dtype=t.int32, count=0) | t.frombuffer(bytearray(8), dtype=t.int32, offset=9) | t.frombuffer(bytearray(0), dtype=t.int32)
t.zeros(2).new_tensor([1, 2]) | t.zeros(2, dtype=t.int64).new_tensor([1.5, 2]) | t.zeros(2).new_zeros(2, 3) | t.zeros(2).new_full((2,), 3) | t.zeros(2).new_ones((2,), dtype=t.int64)
t.zeros(2, dtype=t.float64).new_empty(3).dtype == t.float64 | t.zeros(2).new_empty_strided((2, 2), (1, 2)).stride()
t.hann_window(5) | t.hann_window(5, False) | t.hann_window(1) | t.hann_window(0) | t.hann_window(-1) | t.hann_window(5, dtype=t.int64) | t.hann_window(5.) | t.hamming_window(5, True, .5, .5)
t.hamming_window(6) | t.kaiser_window(5, True, 12.) | t.kaiser_window(1, False) | t.kaiser_window(6, False) | t.blackman_window(6, dtype=t.float64) | t.bartlett_window(5) | t.bartlett_window(2, False)
t.signal.windows.nuttall(5) | t.signal.windows.gaussian(6, std=2.) | t.signal.windows.exponential(5, sym=False, center=1.) | t.signal.windows.kaiser(4, beta=-1) | t.signal.windows.cosine(5, dtype=t.int64)"""


def outcome(text, t):
    try:
        return eval(text, {"t": t, "np": np})
    except Exception as error:
        return type(error)


@pytest.mark.parametrize("text", [part.strip() for line in SAME.splitlines() for part in line.split(" | ")])
@pytest.mark.filterwarnings("ignore")
def test_like_pytorch(text):
    ours, theirs = outcome(text, ag), outcome(text, torch)
    if not isinstance(theirs, torch.Tensor):
        assert ours == theirs
        return
    assert isinstance(ours, ag.Tensor), ours
    assert str(theirs.dtype) == str(ours.dtype) and tuple(theirs.shape) == ours.shape and theirs.requires_grad == ours.requires_grad
    np.testing.assert_allclose(ours.detach().numpy(), theirs.detach().numpy(), rtol=1e-6, atol=1e-7)


def test_shared_memory_and_warnings():
    array = np.zeros(3)
    x = ag.from_numpy(array)
    x.fill_(2)
    assert array.tolist() == [2, 2, 2] and ag.as_tensor(array).array is array and ag.asarray(array).array is array
    assert ag.asarray(array, copy=True).array is not array and ag.tensor(array).array is not array
    array.flags.writeable = False
    with pytest.warns(UserWarning, match="not writable"):
        ag.from_numpy(array)
    with pytest.warns(UserWarning, match="not writable"):
        ag.frombuffer(b"12345678", dtype=ag.int32)
    with pytest.warns(UserWarning, match="copy construct"):
        ag.tensor(ag.ones(2))
    buffer = bytearray(8)
    ag.frombuffer(buffer, dtype=ag.int32).fill_(1)
    assert buffer == np.ones(2, np.int32).tobytes()


@pytest.mark.parametrize("call, words", [
    (lambda: ag.zeros(2, device="cuda:1"), "device='cuda:1'"), (lambda: ag.zeros(2, layout=ag.sparse_coo), "sparse_coo"),
    (lambda: ag.rand(2, device="meta"), "meta"), (lambda: ag.ones(2).cuda(), "cuda"), (lambda: ag.ones(2).to("mps"), "mps")])
def test_what_is_refused_is_named(call, words):
    with pytest.raises(NotImplementedError, match=words):
        call()


def test_dlpack_both_ways():
    theirs = torch.arange(3)
    x = ag.from_dlpack(theirs)
    x += 1
    assert theirs.tolist() == [1, 2, 3] and torch.from_dlpack(x).tolist() == [1, 2, 3]
    assert np.shares_memory(np.from_dlpack(ag.ones(2).detach()), np.zeros(0)) is False
    with pytest.raises(BufferError, match="require gradient"):
        np.from_dlpack(ag.ones(2, requires_grad=True))


NESTED = """[[t.tensor([1.0])]] | [[t.tensor(1.0)]] | [t.tensor([1.0]), t.tensor([2.0])] | [t.tensor([[1.0]])] | [[t.tensor([1.0]), 2.0]]
    [2.0, t.tensor([1.0])] | [t.tensor([1]), 3.5] | [[t.tensor([1]), t.tensor([2])], [t.tensor([3]), t.tensor([4])]] | ((t.tensor([1]),),)
    [t.tensor([1.0, 2.0]), t.tensor([2.0, 3.0])] | [t.tensor([])] | [[t.tensor([1.0, 2.0])]] | [np.array([1.0, 2.0]), np.array([3.0, 4.0])]
    [[np.array([1.0])]] | [np.float32(1), 2] | [t.tensor([1.5]), t.tensor([1])] | [t.tensor(True), t.tensor([False])]
    [t.tensor([1.0], dtype=t.float64)] | [[1.0], t.tensor([2.0])]"""


@pytest.mark.parametrize("text", [part.strip() for line in NESTED.splitlines() for part in line.split(" | ")])
@pytest.mark.parametrize("form", ["t.tensor({})", "t.as_tensor({})", "t.zeros(1).new_tensor({})", "t.asarray({})"])
@pytest.mark.filterwarnings("ignore")
def test_tensors_in_lists_count_as_numbers(text, form):
    test_like_pytorch(form.format(text))


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64, np.complex64, np.bool_])
def test_unpickled_numbers_have_numpys_own_dtype(dtype):
    """By which kernels recognize them: an unpickled array's dtype is a copy, and NumPy passes it on to results."""
    array = pickle.loads(pickle.dumps(np.zeros(3, dtype)))
    assert array.dtype is not np.dtype(dtype)
    made = [ag.from_numpy(array), ag.tensor(array), ag.as_tensor(array), pickle.loads(pickle.dumps(ag.zeros(3, dtype=np.dtype(dtype))))]
    assert all(t.array.dtype is np.dtype(dtype) for t in made) and np.shares_memory(made[0].numpy(), array)
