"""Tensors by themselves: flags, gradients, NumPy, copies, in-place writes."""

import contextlib
import copy
import pickle

import numpy as np
import pytest

import autograd as ag
from autograd.nn import Parameter

pytestmark = pytest.mark.quick


def test_flags():
    x = ag.ones(2)
    assert x.is_leaf and not x.requires_grad and x.grad_fn is None
    x.requires_grad_()
    y = x * 2
    with pytest.raises(RuntimeError, match="leaf variables"):
        y.requires_grad = False
    y.requires_grad = True
    with pytest.raises(RuntimeError, match="floating point"):
        ag.tensor([1, 2], requires_grad=True)
    assert not y.detach().requires_grad and Parameter(ag.ones(1)).requires_grad


def test_assigning_grad_is_checked():
    x = ag.ones(3, requires_grad=True)
    for bad, error in ((ag.ones(2), RuntimeError), (ag.ones(3, dtype=ag.float64), RuntimeError), (3, TypeError), (x, RuntimeError)):
        with pytest.raises(error):
            x.grad = bad
    x.grad = ag.ones(3)
    x.grad = None


def test_numpy_shares_memory_and_refuses_to_lose_a_gradient():
    array = np.ones(3)
    x = ag.from_numpy(array)
    x.add_(1)
    assert array.tolist() == [2, 2, 2] and x.numpy() is array and np.asarray(x).sum() == 6
    x.requires_grad_()
    with pytest.raises(RuntimeError, match=r"detach\(\).numpy"):
        x.numpy()
    with pytest.raises(RuntimeError, match="detach"):
        np.asarray(x)
    assert x.detach().numpy() is array
    assert isinstance(np.exp(ag.ones(2)), ag.Tensor)


def test_scalars_and_containers():
    with pytest.raises(RuntimeError, match="2 elements"):
        ag.ones(2).item()
    with pytest.raises(RuntimeError, match="ambiguous"):
        bool(ag.ones(2))
    with pytest.raises(TypeError, match="0-d"):
        len(ag.tensor(1.0))
    assert float(ag.tensor(2.5)) == 2.5 and [1, 2, 3][ag.tensor(1)] == 2 and 1.0 in ag.ones(2)
    assert [t.tolist() for t in ag.tensor([[1, 2], [3, 4]])] == [[1, 2], [3, 4]]
    x = ag.tensor([1.5, 2.5])
    assert len({x, x}) == 1 and x.size() == (2,) and x.size(0) == 2 and x.dim() == 1 and x.numel() == 2


def test_copies():
    x = ag.ones(2, requires_grad=True)
    (x * 2).sum().backward()
    y = copy.deepcopy(x)
    assert y.grad.tolist() == [2, 2] and y.requires_grad and not np.shares_memory(x.array, y.array)
    with pytest.raises(RuntimeError, match="deepcopy"):
        copy.deepcopy(x * 2)
    z = pickle.loads(pickle.dumps(Parameter(ag.ones(3))))
    assert isinstance(z, Parameter) and z.requires_grad


@pytest.mark.parametrize("make", [lambda t: t.ones(2), lambda t: t.ones(2, requires_grad=True), lambda t: t.nn.Parameter(t.ones(2)), lambda t: t.ones(4)[1:3]])
def test_copies_have_the_attributes_that_users_assign(make):
    """In pickles, copies and deep copies, like PyTorch; a Parameter's deep copy has none there either."""
    torch = pytest.importorskip("torch")
    found = []
    for t in (ag, torch):
        x = make(t)
        x.tag, x.other = "first", [t.zeros(1)]
        if x.requires_grad:
            (x * 3).sum().backward()
        made = [pickle.loads(pickle.dumps(x)), pickle.loads(pickle.dumps(x, 2)), copy.copy(x), copy.deepcopy(x)]
        found.append([(getattr(y, "tag", None), len(getattr(y, "other", [])), y.requires_grad, y.tolist()) for y in made])
    assert found[0] == found[1]


def test_in_place_writes_count_and_are_caught():
    x = ag.tensor([1.0, 2.0], requires_grad=True)
    with pytest.raises(RuntimeError, match="leaf Variable"):
        x.add_(1)
    with pytest.raises(RuntimeError, match="view of a leaf"):
        x[0].add_(1)
    with ag.no_grad():
        x.add_(1)
    assert x._version == 1
    y = x.exp()
    y.mul_(2)
    with pytest.raises(RuntimeError, match="output 0.*version 1; expected version 0"):
        y.sum().backward()
    h = x * 1
    z = h * h
    h[0] = 5.0
    with pytest.raises(RuntimeError, match="modified by an inplace"):
        z.sum().backward()
    alias = (x * 3).tanh()
    other = alias.detach()
    other.zero_()
    with pytest.raises(RuntimeError, match="modified by an inplace"):
        alias.sum().backward()
    assert alias._version == other._version == 1


def test_in_place_gradients():
    x = ag.tensor([1.0, 2.0, 3.0], dtype=ag.float64, requires_grad=True)
    y = x * 2
    y.add_(x)
    y *= 3
    y[1:] = y[:2].clone() * 10
    y.backward(ag.ones(3, dtype=ag.float64))
    assert x.grad.tolist() == [9 + 90, 90, 0]
    with pytest.raises(RuntimeError, match="broadcast shape"):
        ag.ones(1).add_(ag.ones(3))
    with pytest.raises(RuntimeError, match="can't be cast"):
        ag.ones(1, dtype=ag.int64).add_(0.5)
    z = ag.zeros(2, 2)
    z[0] = ag.tensor([1.0, 2.0])
    z.fill_(7).copy_(ag.ones(2))
    assert z.tolist() == [[1, 1], [1, 1]]


def test_replacing_data_is_not_silent():
    w = ag.ones(2, requires_grad=True)
    y = (w * w).sum()
    w.data = ag.zeros(2)
    with pytest.raises(RuntimeError, match="modified"):
        y.backward()


def test_repr():
    assert repr(ag.tensor([1.0, 2.0], requires_grad=True)) == "tensor([1., 2.], requires_grad=True)"
    assert repr(ag.ones(1, dtype=ag.float64) * 2) == "tensor([2.], dtype=float64)"
    assert "Parameter containing" in repr(Parameter(ag.ones(1)))


def test_numpy_of_a_tensor_that_requires_grad_needs_no_grad():
    x = ag.ones(2, requires_grad=True)
    y = x * 2
    for call in (x.numpy, y.numpy, lambda: np.asarray(x), lambda: np.array(y)):
        with pytest.raises(RuntimeError, match="detach"):
            call()
        with ag.no_grad():
            assert isinstance(call(), np.ndarray)
    with ag.no_grad():
        assert np.shares_memory(x.numpy(), x.array)


def test_grad_can_be_deleted():
    x = ag.ones(2, requires_grad=True)
    x.sum().backward()
    del x.grad
    assert x.grad is None
    del x.grad
    x.sum().backward()
    assert x.grad.tolist() == [1, 1]


def test_a_method_called_on_no_tensor_does_not_crash():
    """list(map(ag.Tensor.item, numbers)): a compiled method has to check its self."""
    for name in [name for name in dir(ag.Tensor) if not name.startswith("__") and callable(getattr(ag.Tensor, name))]:
        for arguments in ((1,), (1, 1), (None,), ("a", 1)):
            with contextlib.suppress(Exception):
                getattr(ag.Tensor, name)(*arguments)
    for name in ("detach", "dim", "item", "numel", "size", "tolist"):
        with pytest.raises(TypeError, match=rf"Tensor.{name}\(\) requires a Tensor, not int"):
            getattr(ag.Tensor, name)(1)
