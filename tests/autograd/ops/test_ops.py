"""Every row of the table: values and first and second derivatives, against differences and against PyTorch."""

import numpy as np
import pytest
from both import needs_torch, torch
from cases import CASES

import autograd as ag
from autograd.core.recording import Output


def leaves(arrays):
    return [ag.tensor(a, requires_grad=True) for a in arrays]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_derivatives(case):
    """First ones: whole Jacobians. Second ones: one random direction of each input and output, in which a wrong element shows
    too; the tolerance is 1/100 of the default, as sums are compared. test_like_pytorch compares such directions to 1e-9."""
    xs = leaves(case.inputs())
    ag.gradcheck(lambda *xs: case.call(ag, *xs), xs)
    if case.second:
        ag.gradgradcheck(lambda *xs: case.call(ag, *xs), xs, gen_non_contig_grad_outputs=True, fast_mode=True, rtol=1e-5)


@needs_torch
@pytest.mark.parametrize("case", CASES, ids=str)
def test_like_pytorch(case):
    """Values, gradients for random output gradients, and gradients of a random function of those."""
    arrays = case.inputs(seed=1)
    results = []
    for t, xs in ((ag, leaves(arrays)), (torch, [torch.tensor(a, requires_grad=True) for a in arrays])):
        rng = np.random.default_rng(3)
        y = case.call(t, *xs)
        u = t.from_numpy(rng.standard_normal(tuple(y.shape))).requires_grad_()
        grads = t.autograd.grad(y, xs, u, create_graph=True) if t is torch else t.grad(y, xs, u, create_graph=True)
        total = sum((g * t.from_numpy(rng.standard_normal(tuple(g.shape)))).sum() for g in grads)
        grad = t.autograd.grad if t is torch else t.grad
        seconds = grad(total, [*xs, u], allow_unused=True) if total.requires_grad else [None] * (len(xs) + 1)
        results.append((y, grads, seconds))
    (y, grads, seconds), (y_torch, grads_torch, seconds_torch) = results
    assert tuple(y.shape) == tuple(y_torch.shape)
    np.testing.assert_allclose(y.detach().numpy(), y_torch.detach().numpy(), rtol=1e-12, atol=1e-12)
    for ours, theirs in zip(grads, grads_torch, strict=True):
        np.testing.assert_allclose(ours.detach().numpy(), theirs.detach().numpy(), rtol=1e-10, atol=1e-12)
    for ours, theirs in zip(seconds, seconds_torch, strict=True):
        a, b = (0.0 if s is None else s.detach().numpy(force=True) for s in (ours, theirs))
        np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_other_memory_layouts_and_float32(case):
    """Non-contiguous inputs give the same; float32 stays float32, also in the gradients."""
    arrays = case.inputs()
    y = case.call(ag, *leaves(arrays))
    wide = [np.stack([a, a], -1)[..., 0] for a in arrays]
    xs = [ag.from_numpy(a[::1] if a.ndim else a).requires_grad_() for a in wide]
    np.testing.assert_allclose(case.call(ag, *xs).detach().numpy(), y.detach().numpy(), rtol=1e-12, atol=1e-12)
    if "weight" in case.name:
        return
    xs = [ag.tensor(a, dtype=ag.float32, requires_grad=True) for a in arrays]
    z = case.call(ag, *xs)
    if "soft" not in case.name:
        np.testing.assert_allclose(z.detach().numpy(), y.detach().numpy(), rtol=2e-4, atol=2e-5)
    assert z.dtype == ag.float32
    z.sum().backward()
    assert all(x.grad is None or (x.grad.dtype == ag.float32 and x.grad.shape == x.shape) for x in xs)


def graph_of(y):
    """All nodes that y comes from."""
    nodes, stack = {}, [y.grad_fn]
    while stack:
        node = stack.pop()
        if node is not None and node not in nodes:
            nodes[node] = None
            stack += [edge[0] for edge in node.next_functions]
    return nodes


@pytest.mark.parametrize("case", CASES, ids=str)
def test_writes_before_and_after(case):
    """A write to the inputs before the call, and an alias of the output, change nothing; a write to the output after the
    call is an error, or changes nothing either."""
    xs = leaves(case.inputs())
    y = case.call(ag, *xs)
    u = ag.from_numpy(np.random.default_rng(3).standard_normal(tuple(y.shape)))
    expected = [None if g is None else g.numpy() for g in ag.grad(y, xs, u, allow_unused=True)]

    def check(y):
        for g, e in zip(ag.grad(y, xs, u, allow_unused=True, retain_graph=True), expected, strict=True):
            assert (g is None) == (e is None)
            if e is not None:
                np.testing.assert_allclose(g.numpy(), e, rtol=1e-12, atol=1e-14)

    with ag.no_grad():
        for x in xs:
            x.add_(0)                                # as an optimiser does
    y = case.call(ag, *xs)
    alias = y.detach()
    check(y.view_as(y))
    try:
        alias.add_(1)
    except RuntimeError as error:                    # an expanded output
        assert "single memory location" in str(error)
        return
    outputs = [value for node in graph_of(y) for value in node.saved or () if type(value) is Output]
    if any(np.shares_memory(value.array, y.array) for value in outputs):
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            check(y)
    else:
        try:
            check(y)
        except RuntimeError as error:
            assert "modified by an inplace operation" in str(error)


@needs_torch
@pytest.mark.parametrize("a", ["bool", "uint8", "int32", "int64", "float16", "float32", "float64"])
@pytest.mark.parametrize("b", ["bool", "uint8", "int32", "int64", "float16", "float32", "float64", 2, 2.5, True])
@pytest.mark.parametrize("zero_dim", [False, True])
def test_promotion_like_pytorch(a, b, zero_dim):
    def make(t, name, shape):
        return t.ones(shape, dtype=getattr(t, name)) if isinstance(name, str) else name

    for name in ("add", "mul", "div", "maximum", "eq"):
        if name == "maximum" and not isinstance(b, str):
            continue
        ours, theirs = (getattr(t, name)(make(t, a, (2,)), make(t, b, () if zero_dim else (2,))) for t in (ag, torch))
        assert str(ours.dtype) == str(theirs.dtype), (name, a, b)
        ours, theirs = (make(t, a, (2,)) + make(t, b, () if zero_dim else (2,)) for t in (ag, torch))
        assert str(ours.dtype) == str(theirs.dtype)


def test_at_the_edge_of_domains():
    x = ag.tensor([0.0, -0.0, 1.0], dtype=ag.float64, requires_grad=True)
    (ag.relu(x) + ag.abs(x)).sum().backward()
    assert x.grad.tolist() == [0, 0, 2]
    x = ag.tensor([0.0, 0.0], dtype=ag.float64, requires_grad=True)
    ag.pow(x, ag.tensor([2.0, 0.0], dtype=ag.float64)).sum().backward()
    assert x.grad.tolist() == [0, 0]
    x = ag.tensor([3.0, 3.0, 1.0], requires_grad=True)
    ag.amax(x).backward()
    assert x.grad.tolist() == [0.5, 0.5, 0]
    x.grad = None
    x.max(0)[0].backward()
    assert x.grad.tolist() == [1, 0, 0]
    assert ag.log(ag.tensor(0.0)).item() == -np.inf


@pytest.mark.parametrize("call, error, words", [
    (lambda: ag.ones(2, 3) @ ag.ones(2, 3), RuntimeError, "2x3 and 2x3"),
    (lambda: ag.ones(6).reshape(4, -1), RuntimeError, "invalid for input of size 6"),
    (lambda: ag.ones(2, 3).sum(5), IndexError, r"\[-2, 1\], but got 5"),
    (lambda: ag.cat([ag.ones(2, 3), ag.ones(3, 2)]), RuntimeError, "Sizes of tensors must match"),
    (lambda: ag.ones(3).expand(2, 4), RuntimeError, "must match the existing size"),
    (lambda: ag.ones(2, dtype=ag.int64).mean(), RuntimeError, "floating point"),
    (lambda: ag.nn.functional.cross_entropy(ag.ones(2, 3), ag.tensor([0, 3])), IndexError, "Target 3 is out of bounds"),
    (lambda: ag.nn.functional.cross_entropy(ag.ones(2, 3), ag.tensor([0])), ValueError, "target of shape"),
    (lambda: ag.nn.functional.conv2d(ag.ones(1, 2, 4, 4), ag.ones(3, 1, 3, 3)), RuntimeError, "channels"),
    (lambda: ag.nn.functional.conv2d(ag.ones(1, 1, 2, 2), ag.ones(3, 1, 3, 3)), RuntimeError, "Kernel size"),
    (lambda: ag.nn.functional.max_pool2d(ag.ones(1, 1, 2, 2), 3), RuntimeError, "too small"),
    (lambda: ag.zeros(2, device="cuda"), NotImplementedError, "device='cuda'"),
    (lambda: ag.ones(2, 2).permute(0, 0), RuntimeError, "each of the 2 dimensions once"),
    (lambda: ag.tensor([1.0, 2.0]) + "x", TypeError, "unsupported"),
    (lambda: ag.tensor(["a"]), ValueError, "cannot make a tensor"),
])
def test_errors_name_shapes_and_remedies(call, error, words):
    with pytest.raises(error, match=words):
        call()


def test_operators_with_numbers_arrays_and_reversed_sides():
    x = ag.tensor([1.0, 2.0, 4.0], requires_grad=True)
    y = 2 - x / 4 + 8 / x - (-x) * 3 + x ** 2 + 2 ** x + np.array([1, 2, 3], np.float32) * x
    v = np.array([1.0, 2.0, 4.0])
    np.testing.assert_allclose(y.detach().numpy(), 2 - v / 4 + 8 / v + v * 3 + v ** 2 + 2 ** v + np.array([1, 2, 3]) * v, rtol=1e-6)
    y.sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), -0.25 - 8 / v**2 + 3 + 2 * v + 2 ** v * np.log(2) + np.array([1, 2, 3]), rtol=1e-6)
    assert ((x > 1) & (x < 4)).tolist() == [False, True, False]
    assert (ag.tensor([7, -7]) // 2).tolist() == [3, -4] and (ag.tensor([7, -7]) % 4).tolist() == [3, 1]
