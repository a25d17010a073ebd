"""Operations that move elements: what is a view, dtypes, odd forms, errors."""

import numpy as np
import pytest

import autograd as ag

pytestmark = pytest.mark.quick
F = ag.nn.functional


def shares(x, y):
    return np.shares_memory(x.array, y.array)


@pytest.mark.parametrize("see", [
    lambda x: x.view(8, 3), lambda x: x.t().view(6, 2, 2).transpose(0, 2), lambda x: x.unsqueeze(0).squeeze(), lambda x: x.T, lambda x: x[1], lambda x: x[1, 2],
    lambda x: x[:, ::2], lambda x: x[None, ..., 1], lambda x: x.diagonal(), lambda x: x.unfold(1, 2, 1), lambda x: x.split(2)[1], lambda x: x.unbind(1)[3],
    lambda x: x.narrow(0, 1, 2), lambda x: x.select(1, 0), lambda x: x.tensor_split(3)[2], lambda x: x.as_strided((2, 2), (1, 1), 3),
    lambda x: x.unflatten(1, (3, -1)), lambda x: x.movedim(0, 1), lambda x: x.expand(2, 4, 6), lambda x: x.swapaxes(0, 1), lambda x: x[()]])
def test_views_share_memory_and_count_writes(see):
    x = ag.arange(24.0).reshape(4, 6)
    y = see(x)
    assert shares(x, y)
    before = y._version
    x.add_(1)
    assert y._version == before + 1
    np.testing.assert_array_equal(y.numpy(), see(x).numpy())


def test_views_can_be_written_to():
    x = ag.zeros(4, 4)
    x.diagonal().add_(1), x.unfold(1, 2, 2)[0].add_(1), x[2, 3].add_(5), x.unbind()[3].add_(7)
    assert x.tolist() == [[2, 1, 1, 1], [0, 1, 0, 0], [0, 0, 1, 5], [7, 7, 7, 8]]


def test_reshape_copies_only_where_it_must():
    x = ag.arange(24.0).reshape(2, 3, 4)
    assert shares(x, x.reshape(6, 4)) and shares(x, x.transpose(0, 1).reshape(3, 2, 2, 2)) and shares(x, x[:, 1].reshape(2, 2, 2))
    y = x.transpose(1, 2)
    copied = y.reshape(-1)
    assert not shares(y, copied) and copied.tolist() == y.array.reshape(-1).tolist()
    z = x.clone().requires_grad_()
    z.transpose(1, 2).reshape(-1)[3].backward()                  # (0, 1, 0) of the transpose
    assert np.flatnonzero(z.grad.array).tolist() == [1]
    with pytest.raises(RuntimeError, match="view size is not compatible"):
        y.view(-1)


def test_sizes_come_one_by_one_as_a_sequence_or_by_name():
    x = ag.arange(6)
    for y in (x.reshape(2, 3), x.reshape((2, 3)), x.reshape([2, -1]), x.reshape(shape=(2, 3)), x.view(size=(2, 3)), ag.reshape(x, (2, 3)),
              x.reshape(ag.tensor(2), np.int64(3))):
        assert y.tolist() == [[0, 1, 2], [3, 4, 5]]
    assert x.repeat(2).shape == x.repeat((2,)).shape == x.repeat(repeats=(2,)).shape == (12,)
    assert ag.permute(x.view(2, 3), dims=(1, 0)).shape == (3, 2) and x.expand(size=(2, 6)).shape == (2, 6)


def test_bytes_as_another_dtype():
    x = ag.tensor([1.0, 2.0])
    assert x.view(ag.int32).tolist() == [1065353216, 1073741824] and x.view(ag.float64).shape == (1,)
    with pytest.raises(RuntimeError, match="cannot be read"):
        ag.zeros(3).view(ag.float64)


def test_joined_dtypes():
    whole, small, real = ag.tensor([1]), ag.tensor([2], dtype=ag.int32), ag.tensor([0.5], requires_grad=True)
    assert ag.cat([whole, small]).dtype == ag.int64 and ag.stack([whole, real]).dtype == ag.float32
    ag.cat([whole, real, ag.tensor([1.0], dtype=ag.float64)]).sum().backward()
    assert real.grad.dtype == ag.float32
    out = ag.empty(0)
    assert ag.cat([ag.ones(2), ag.zeros(1)], out=out) is out and out.tolist() == [1, 1, 0]
    assert ag.block_diag().shape == (1, 0) and ag.cat([ag.zeros(0), ag.ones(2, 2)]).shape == (2, 2)


def test_split_and_unbind_are_one_node():
    x = ag.ones(4, 2, requires_grad=True)
    parts = x.split(2)
    assert parts[0].grad_fn is parts[1].grad_fn and parts[1].output_nr == 1 and x.unbind()[2].grad_fn.name() == "UnbindBackward0"
    (parts[1] * 3).sum().backward()
    assert x.grad.tolist() == [[0, 0], [0, 0], [3, 3], [3, 3]]
    assert len(ag.zeros(0, 3).chunk(2)) == 2 and ag.zeros(0, 2).unbind() == () and [len(p) for p in ag.ones(7).chunk(3)] == [3, 3, 1]


def test_memory_formats():
    x = ag.arange(24.0).reshape(1, 2, 3, 4)
    last = x.contiguous(memory_format=ag.channels_last)
    assert last.tolist() == x.tolist() and last.array.transpose(0, 2, 3, 1).flags.c_contiguous
    assert last.clone().array.strides == last.array.strides and last.clone(memory_format=ag.contiguous_format).array.flags.c_contiguous
    assert last.contiguous(memory_format=ag.channels_last) is last and x.contiguous() is x
    with pytest.raises(RuntimeError, match="rank 4"):
        x[0].contiguous(memory_format=ag.channels_last)


def test_integers_and_booleans_move_too():
    x = ag.arange(6).reshape(2, 3)
    assert F.pad(x, (1, 0), value=7).tolist() == [[7, 0, 1, 2], [7, 3, 4, 5]] and F.pad(x > 2, (1, 0)).dtype == ag.bool
    assert F.pad(x[None], (2, 1), "reflect").tolist() == [[[2, 1, 0, 1, 2, 1], [5, 4, 3, 4, 5, 4]]]
    assert x.tril().tolist() == [[0, 0, 0], [3, 4, 0]] and x.rot90().tolist() == [[2, 5], [1, 4], [0, 3]]
    assert ag.tril_indices(3, 3, -1).tolist() == [[1, 2, 2], [0, 0, 1]] and x.roll(1).tolist() == [[5, 0, 1], [2, 3, 4]]
    assert ag.zeros(3, 3).add_(1).triu_(1).tolist() == [[0, 1, 1], [0, 0, 1], [0, 0, 0]]
    assert ag.combinations(ag.arange(3), with_replacement=True).tolist() == [[0, 0], [0, 1], [0, 2], [1, 1], [1, 2], [2, 2]]
    assert ag.broadcast_shapes((3, 1), 2, (4, 1, 1)) == (4, 3, 2) and ag.atleast_1d(ag.tensor(1), x)[0].shape == (1,)


@pytest.mark.parametrize("call, error, words", [
    (lambda x: x.reshape(5), RuntimeError, r"shape '\[5\]' is invalid for input of size 6"), (lambda x: x.reshape(-1, -1), RuntimeError, "only one dimension"),
    (lambda x: x.reshape(-2, 3), RuntimeError, "invalid shape dimension -2"), (lambda x: x[:0].reshape(0, -1), RuntimeError, "ambiguous"),
    (lambda x: x.transpose(0, 2), IndexError, "got 2"), (lambda x: x.permute(0), RuntimeError, "2 dimensions"), (lambda x: ag.movedim(x, (0, 0), (0, 1)), RuntimeError, "repeated dim"),
    (lambda x: x.expand(3, 3), RuntimeError, "must match the existing size"), (lambda x: x.expand(3), RuntimeError, "number of sizes"), (lambda x: x.expand(-1, 2, 3), RuntimeError, "leading"),
    (lambda x: x.unflatten(1, (2, 2)), RuntimeError, "don't multiply up"), (lambda x: x.flatten(1, 0), RuntimeError, "start_dim"), (lambda x: x[0].mT, RuntimeError, "1-D"),
    (lambda x: ag.cat([]), ValueError, "non-empty"), (lambda x: ag.stack([]), RuntimeError, "non-empty"), (lambda x: ag.cat([x, 3]), TypeError, "element 1"),
    (lambda x: ag.cat([x, x[0]]), RuntimeError, "same number of dimensions"), (lambda x: ag.cat([x, x.t()]), RuntimeError, "Expected size 3 but got size 2"),
    (lambda x: ag.cat([x[0, 0]]), RuntimeError, "zero-dimensional"), (lambda x: ag.stack([x, x[0]]), RuntimeError, "at entry 1"), (lambda x: x.narrow(0, 1, 2), RuntimeError, "exceeds"),
    (lambda x: x.select(0, 2), IndexError, "out of range"), (lambda x: x.split(0), RuntimeError, "split_size can only be 0"), (lambda x: x.split([1, 2]), RuntimeError, "sum exactly to 2"),
    (lambda x: x.chunk(0), RuntimeError, "greater than 0"), (lambda x: x.hsplit(2), RuntimeError, "not divisible"), (lambda x: x.dsplit(1), RuntimeError, "at least 3"),
    (lambda x: x.roll((1, 2), 0), RuntimeError, "must align"), (lambda x: x.repeat(2), RuntimeError, "can not be smaller"), (lambda x: x.unfold(0, 3, 1), RuntimeError, "maximum size"),
    (lambda x: x[0].tril(), RuntimeError, "at least 2"), (lambda x: x.diagonal(0, 1, 1), RuntimeError, "identical"), (lambda x: x.as_strided((9,), (1,)), RuntimeError, "out of bounds"),
    (lambda x: F.pad(x, (1,)), RuntimeError, "divisible by 2"), (lambda x: F.pad(x, (3, 0), "reflect"), RuntimeError, "less than the corresponding"),
    (lambda x: F.pad(x, (1, 1), "mirror"), NotImplementedError, "mirror"), (lambda x: F.pad(x, (-4, 0)), RuntimeError, "negative output"), (lambda x: x[0].unbind(2), IndexError, "got 2"),
    (lambda x: ag.meshgrid(x), RuntimeError, "0D or 1D"), (lambda x: ag.broadcast_shapes((2,), (3,)), RuntimeError, "single shape"), (lambda x: x.flip(0, 0), RuntimeError, "multiple times")])
def test_errors(call, error, words):
    with pytest.raises(error, match=words):
        call(ag.arange(6.0).reshape(2, 3))


COPIES = {"clone": lambda x: x.clone(), "double": lambda x: x.double(), "half": lambda x: x.half(), "copy": lambda x: x.to(x.dtype, copy=True),
          "empty_like": ag.empty_like, "zeros_like": ag.zeros_like, "rand_like": ag.rand_like, "sigmoid": ag.sigmoid, "plus": lambda x: x + 1,
          "nan_to_num": ag.nan_to_num, "gradient": lambda x: ag.grad((y := x.clone().requires_grad_()).exp().sum(), y)[0]}


@pytest.mark.parametrize("name", COPIES)
def test_what_is_made_of_an_expanded_tensor_lies_by_rows(name):
    """So that view(-1) works, as in PyTorch."""
    for x in (ag.ones(2, 3).expand(4, 2, 3), ag.ones(2, 1, 3).expand(2, 5, 3), ag.ones(700, 1).expand(700, 3)):
        assert COPIES[name](x).view(-1).shape == (x.numel(),)
    assert COPIES[name](ag.ones(3, 2).t()[None]).stride()[1:] == (1, 2)
