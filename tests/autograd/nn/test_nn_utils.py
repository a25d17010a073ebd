"""nn.utils: clipping gradients, parameters as a vector."""

import numpy as np
import pytest
from both import LIBS

import autograd as ag


def parameters(lib, dtypes=("float32", "float32", "float32")):
    rng = np.random.default_rng(0)
    ps = []
    for shape, dtype in zip([(3, 2), (4,), ()], dtypes):
        p = lib.nn.Parameter(lib.tensor(rng.standard_normal(shape), dtype=getattr(lib, dtype)))
        p.grad = lib.tensor(rng.standard_normal(shape) * 3, dtype=getattr(lib, dtype))
        ps.append(p)
    ps.append(lib.nn.Parameter(lib.ones(2)))         # without a gradient
    return ps


def grads(ps):
    return [None if p.grad is None else np.array(p.grad.tolist()) for p in ps]


def compare(call):
    found = [call(lib) for lib in LIBS]
    for a, b in zip(found[0], found[-1]):
        if a is None:
            assert b is None
        else:
            np.testing.assert_allclose(a, b, rtol=2e-6)
    return found[0]


@pytest.mark.parametrize("norm_type", [1, 2, 2.5, 0, float("inf"), "inf", -float("inf")])
@pytest.mark.parametrize("max_norm", [0.5, 100])
def test_clip_grad_norm(norm_type, max_norm):
    def call(lib):
        ps = parameters(lib)
        total = lib.nn.utils.clip_grad_norm_(ps, max_norm, norm_type=norm_type)
        return [total.item(), *grads(ps)]

    compare(call)


def test_parts_and_forms(lib):
    u = lib.nn.utils
    ps = parameters(lib)
    total = u.get_total_norm([p.grad for p in ps if p.grad is not None])
    expected = np.sqrt(sum((g ** 2).sum() for g in grads(ps) if g is not None))
    assert total.item() == pytest.approx(expected, rel=1e-6) and not total.requires_grad and total.dtype == lib.float32
    u.clip_grads_with_norm_(ps, 1.0, total)
    assert u.get_total_norm([p.grad for p in ps[:3]]).item() == pytest.approx(1, rel=1e-5)
    before = ps[0].grad
    assert u.clip_grad_norm_(iter(ps), 0.5, foreach=False).item() == pytest.approx(1, rel=1e-5) and ps[0].grad is before
    assert u.clip_grad_norm_(ps[0], 10.0).ndim == 0
    assert u.clip_grad_norm_([], 1.0).item() == 0 and u.get_total_norm([]).item() == 0
    with pytest.warns(UserWarning, match="empty generator"):
        u.clip_grad_norm_((p for p in []), 1.0)
    with pytest.warns(FutureWarning, match="clip_grad_norm_"):
        u.clip_grad_norm(ps, 1.0)
    ps[0].grad = lib.full((3, 2), float("nan"))
    with pytest.raises(RuntimeError, match="order 2.0 for gradients from `parameters` is non-finite"):
        u.clip_grad_norm_(ps, 1.0, error_if_nonfinite=True)
    assert np.isnan(u.clip_grad_norm_(ps, 1.0).item())


def test_mixed_dtypes():
    def call(lib):
        ps = parameters(lib, ("float32", "float64", "float16"))
        total = lib.nn.utils.clip_grad_norm_(ps, 0.5)
        return [np.array(total.item()), *grads(ps)[:2]]

    compare(call)


def test_clip_grad_value():
    def call(lib):
        ps = parameters(lib)
        assert lib.nn.utils.clip_grad_value_(ps, 0.7) is None
        lib.nn.utils.clip_grad_value_(ps[0], 0.2)
        return grads(ps)

    compare(call)


def test_clipping_counts_as_a_write(lib):
    p = lib.nn.Parameter(lib.ones(2))
    p.grad = lib.ones(2)
    q = lib.ones(2, requires_grad=True)
    y = (p.grad * q).sum()
    lib.nn.utils.clip_grad_norm_(p, 0.5)
    with pytest.raises(RuntimeError, match="modified by an inplace"):
        y.backward()


def test_parameters_and_vectors(lib):
    u = lib.nn.utils
    model = lib.nn.Sequential(lib.nn.Linear(3, 2), lib.nn.Linear(2, 1))
    vector = u.parameters_to_vector(model.parameters())
    assert tuple(vector.shape) == (11,) and vector.requires_grad
    vector.sum().backward()
    assert all(p.grad.tolist() == lib.ones(*p.shape).tolist() for p in model.parameters())
    u.vector_to_parameters(lib.arange(11, dtype=lib.float32), model.parameters())
    assert model[0].weight.tolist() == [[0, 1, 2], [3, 4, 5]] and model[1].bias.tolist() == [10]
    assert all(p.requires_grad and p.is_leaf for p in model.parameters())
    with pytest.raises(TypeError, match=r"expected .*Tensor, but got: .*list"):
        u.vector_to_parameters([1.0], model.parameters())


def test_names():
    assert ag.nn.utils.clip_grad.clip_grad_norm_ is ag.nn.utils.clip_grad_norm_


@pytest.mark.parametrize("order", [1, 2, 3, float("inf")])
def test_clip_grad_norm_of_complex_numbers(order):
    def call(lib):
        p = lib.nn.Parameter(lib.zeros(3, dtype=lib.complex64))
        q = lib.nn.Parameter(lib.zeros(2))
        p.grad, q.grad = lib.tensor([3 + 4j, 12, 84j], dtype=lib.complex64), lib.tensor([5.0, -1.0])
        total = lib.nn.utils.clip_grad_norm_([p, q], 1.0, norm_type=order)
        return [lib.nn.utils.get_total_norm([p.grad]).item(), total.item(), *grads([p, q])]

    compare(call)


def test_clip_grad_value_refuses_complex_numbers():
    p, q = ag.nn.Parameter(ag.zeros(1)), ag.nn.Parameter(ag.zeros(2, dtype=ag.complex64))
    p.grad, q.grad = ag.tensor([5.0]), ag.tensor([3 + 4j, 12])
    with pytest.raises(RuntimeError, match="complex"):
        ag.nn.utils.clip_grad_value_([p, q], 1.0)
    assert p.grad.item() == 5                        # nothing was changed


@pytest.mark.parametrize("scale", [1e30, 1e-30])
def test_clip_grad_norm_at_the_ends_of_the_range(scale):
    p = ag.nn.Parameter(ag.zeros(2))
    p.grad = ag.tensor([3.0, 4.0]) * scale
    assert ag.nn.utils.clip_grad_norm_([p], scale).item() == pytest.approx(5 * scale, rel=1e-6)
    assert p.grad.tolist() == pytest.approx([0.6 * scale, 0.8 * scale] if scale > 1 else [3e-30, 4e-30], rel=1e-6)


@pytest.mark.parametrize("call", [lambda u, ps: u.clip_grad_norm_(ps, 1.0), lambda u, ps: u.clip_grad_value_(ps, 1.0),
                                  lambda u, ps: u.get_total_norm(ps), lambda u, ps: u.clip_grads_with_norm_(ps, 1.0, ag.tensor(2.0)),
                                  lambda u, ps: u.vector_to_parameters(ag.ones(6), ps), lambda u, ps: ag.optim.SGD([{"params": ps}], 0.1),
                                  lambda u, ps: ag.optim.SGD([ag.nn.Parameter(ag.ones(1))], 0.1).add_param_group({"params": ps})])
def test_a_generator_that_is_used_up_is_noticed(call):
    used = ag.nn.Linear(2, 2).parameters()
    list(used)
    with pytest.warns(UserWarning, match="empty generator"):
        call(ag.nn.utils, used)
