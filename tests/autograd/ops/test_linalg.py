"""Linear algebra, einsum, Fourier transforms: errors, odd forms, singular matrices, complex numbers."""

import contextlib
import ctypes

import numpy as np
import pytest

import autograd as ag
from autograd import linalg
from autograd.kernels import lu as kernel
from autograd.kernels.accelerators import Missing
from autograd.kernels.lapack import PATTERNS, Lapack, lapack, load


def random(*shape, seed=0, dtype=ag.float64):
    return ag.from_numpy(np.random.default_rng(seed).standard_normal(shape)).to(dtype)


SINGULAR = ag.tensor([[1.0, 2.0], [2.0, 4.0]])


@pytest.mark.parametrize("call, error, words", [
    (lambda: ag.mm(ag.ones(2), ag.ones(2, 2)), RuntimeError, "self must be a matrix"),
    (lambda: ag.bmm(ag.ones(2, 3, 4), ag.ones(3, 4, 2)), RuntimeError, r"\[2, 4\] but got: \[3, 4\]"),
    (lambda: ag.ones(2, 2) @ ag.ones(2, 2, dtype=ag.float64), RuntimeError, "torch.float32 != torch.float64"),
    (lambda: ag.ones(2, 2, dtype=ag.bool) @ ag.ones(2, 2, dtype=ag.bool), NotImplementedError, "Bool"),
    (lambda: ag.dot(ag.ones(2), ag.ones(3)), RuntimeError, "same number of elements, but got 2 and 3"),
    (lambda: ag.outer(ag.ones(2, 2), ag.ones(3)), RuntimeError, "Expected 1-D argument self"),
    (lambda: ag.addmm(ag.ones(3), ag.ones(2, 2), ag.ones(2, 2)), RuntimeError, "must match the existing size"),
    (lambda: ag.baddbmm(ag.ones(1), ag.ones(2, 2, 2), ag.ones(3, 2, 2)), RuntimeError, "number of batches, got 2 and 3"),
    (lambda: ag.einsum("ij,jk", ag.ones(2, 2)), RuntimeError, r"fewer operands were provided \(1\)"),
    (lambda: ag.einsum("ij->ii", ag.ones(2, 2)), RuntimeError, "more than once in the output"),
    (lambda: ag.einsum("ij->k", ag.ones(2, 2)), RuntimeError, "k does not appear"),
    (lambda: ag.einsum("i1", ag.ones(2, 2)), RuntimeError, "invalid subscript '1'"),
    (lambda: ag.einsum("i", ag.ones(2, 2)), RuntimeError, r"subscripts in the equation \(1\) does not match the number of dimensions \(2\)"),
    (lambda: ag.einsum("ij,ij", ag.ones(2, 2), ag.ones(3, 2)), RuntimeError, r"\[2, 2\], \[3, 2\]"),
    (lambda: ag.einsum("ii", ag.ones(2, 3)), RuntimeError, "sizes don't match, 3 != 2"),
    (lambda: ag.tensordot(ag.ones(2, 3), ag.ones(2, 3), 1), RuntimeError, "first has size 3 in dim 1 and second has size 2"),
    (lambda: linalg.multi_dot([ag.ones(2, 2)]), RuntimeError, "at least 2 tensors"),
    (lambda: linalg.cross(ag.ones(4), ag.ones(4)), RuntimeError, "length 3. Got 4 and 4"),
    (lambda: linalg.inv(ag.ones(2, 3)), RuntimeError, "square matrices, but they are 2 by 3"),
    (lambda: linalg.inv(ag.ones(2)), RuntimeError, "at least 2 dimensions"),
    (lambda: linalg.det(ag.ones(2, 2, dtype=ag.int64)), RuntimeError, "floating point or complex tensor as input. Got torch.int64"),
    (lambda: linalg.svd(ag.ones(2, 2, dtype=ag.float16)), RuntimeError, "Low precision"),
    (lambda: linalg.inv(SINGULAR), linalg.LinAlgError, r"diagonal element 2 is zero.*\[2, 2\]"),
    (lambda: linalg.inv(ag.stack([ag.eye(2), SINGULAR])), linalg.LinAlgError, "Batch element 1"),
    (lambda: linalg.solve(SINGULAR, ag.ones(2)), linalg.LinAlgError, "singular"),
    (lambda: linalg.solve(ag.eye(2), ag.ones(3, 1)), RuntimeError, "2x2 and 3x1"),
    (lambda: linalg.solve(ag.eye(2), ag.ones(2, 1, dtype=ag.float64)), RuntimeError, "A of type torch.float32 and B of type torch.float64"),
    (lambda: linalg.lu_factor(SINGULAR), linalg.LinAlgError, r"U\[2,2\] is zero"),
    (lambda: linalg.cholesky(-ag.eye(2)), linalg.LinAlgError, "minor of order 1"),
    (lambda: linalg.eigh(ag.eye(2), "X"), RuntimeError, "'L' or 'U', but got X"),
    (lambda: linalg.qr(ag.eye(2), "full"), RuntimeError, "unrecognized mode 'full'"),
    (lambda: linalg.matrix_norm(ag.eye(2), 3), RuntimeError, "Order 3"),
    (lambda: linalg.vector_norm(ag.zeros(0), float("inf")), RuntimeError, "empty dimension"),
    (lambda: linalg.svd(ag.tensor([[float("nan"), 1.0], [1.0, 1.0]])), linalg.LinAlgError, "non-finite"),
    (lambda: ag.fft.fft(ag.ones(3), 0), RuntimeError, r"data points \(0\)"),
    (lambda: ag.fft.fft(ag.ones(3), norm="full"), RuntimeError, 'mode: "full"'),
    (lambda: ag.fft.fft2(ag.ones(3, 3), dim=(0, 0)), RuntimeError, "unique"),
    (lambda: ag.fft.rfft(ag.ones(3).to(ag.complex64)), RuntimeError, "real input"),
    (lambda: ag.imag(ag.ones(2)), RuntimeError, "non-complex"),
    (lambda: ag.view_as_complex(ag.ones(3)), RuntimeError, "size 2"),
])
def test_errors(call, error, words):
    with pytest.raises(error, match=words):
        call()


def test_a_singular_matrix_is_an_error_of_its_own_class():
    assert issubclass(linalg.LinAlgError, RuntimeError)
    inverse, info = linalg.inv_ex(ag.stack([SINGULAR, 2 * ag.eye(2)]))
    assert info.tolist() == [2, 0] and info.dtype == ag.int32
    assert np.isnan(inverse[0].numpy()).all() and inverse[1].tolist() == [[0.5, 0], [0, 0.5]]
    factor, info = linalg.cholesky_ex(ag.stack([-ag.eye(2), ag.eye(2)]))
    assert info.tolist() == [1, 0] and factor[1].tolist() == [[1, 0], [0, 1]]
    assert linalg.solve_ex(SINGULAR, ag.ones(2)).info.item() == 2
    assert linalg.cond(SINGULAR, 1).item() == np.inf


def test_beta_0_ignores_what_input_holds():
    x = ag.full((2, 2), float("nan"), requires_grad=True)
    y = ag.addmm(x, ag.eye(2), ag.eye(2), beta=0)
    assert y.tolist() == [[1, 0], [0, 1]]
    y.sum().backward()
    assert x.grad.tolist() == [[0, 0], [0, 0]]


def test_in_place_and_out():
    x = ag.zeros(2, 2)
    assert x.addmm_(ag.eye(2), ag.eye(2), beta=0, alpha=3) is x and x.tolist() == [[3, 0], [0, 3]]
    ag.matmul(x, x, out=x)
    assert x.tolist() == [[9, 0], [0, 9]]
    q, r = ag.empty(2, 2), ag.empty(2, 2)
    assert linalg.qr(x, out=(q, r)).Q is q


def test_the_gradient_of_a_determinant_where_it_is_0():
    x = ag.from_numpy(np.array([[1.0, 2, 3], [2, 4, 6], [1, 0, 1]])).requires_grad_()
    ag.det(x).backward()
    np.testing.assert_allclose(x.grad.numpy(), [[4, 4, -4], [-2, -2, 2], [0, 0, 0]], atol=1e-12)
    y = ag.from_numpy(np.array([[1.0, 2], [2, 4]])).requires_grad_()
    (g,) = ag.grad(ag.det(y), y, create_graph=True)
    np.testing.assert_allclose(g.detach().numpy(), [[4, -2], [-2, 1]], atol=1e-12)
    (h,) = ag.grad(g[0, 0], y)
    np.testing.assert_allclose(h.numpy(), [[0, 0], [0, 1]], atol=1e-12)


def test_lu_of_many_and_of_large_matrices():
    for shape in [(3, 2, 70, 70), (50, 80), (80, 50), (0, 3, 3), (2, 0, 3)]:
        a = random(*shape)
        p, low, high = linalg.lu(a)
        np.testing.assert_allclose((p @ low @ high).numpy(), a.numpy(), atol=1e-12)
    a, b = random(40, 40), random(40, 3, seed=1)
    np.testing.assert_allclose(linalg.lu_solve(*linalg.lu_factor(a), b).numpy(), np.linalg.solve(a.numpy(), b.numpy()), rtol=1e-9)


def test_matrix_exp_of_small_and_large():
    turn = ag.tensor([[0.0, -1.0], [1.0, 0.0]], dtype=ag.float64)
    for t in (1e-3, 1.0, 300.0):
        want = [[np.cos(t), -np.sin(t)], [np.sin(t), np.cos(t)]]
        np.testing.assert_allclose(linalg.matrix_exp(t * turn).numpy(), want, atol=1e-11)
    np.testing.assert_allclose(linalg.matrix_exp(ag.stack([0 * turn, 2 * turn])).numpy()[0], np.eye(2))


def test_lstsq_of_every_driver():
    a, b = random(2, 5, 3), random(2, 5, 2, seed=1)
    for driver in (None, "gels", "gelsy", "gelsd", "gelss"):
        out = linalg.lstsq(a, b, driver=driver)
        np.testing.assert_allclose(out.solution.numpy(), np.linalg.pinv(a.numpy()) @ b.numpy(), rtol=1e-10)
        assert out.rank.tolist() == ([] if driver == "gels" else [3, 3])
        assert out.residuals.shape == ((0,) if driver in (None, "gelsy") else (2, 2))
        assert out.singular_values.shape == ((2, 3) if driver in ("gelsd", "gelss") else (0,))


def test_rcond_of_lstsq_by_driver():
    """"gels" has no rank; LAPACK's "gelsd" reads numbers outside of (0, 1), "gelss" negative ones, as machine precision."""
    u, v = (np.linalg.qr(random(n, 3, seed=n).numpy())[0] for n in (5, 3))
    a, b = ag.tensor(u @ np.diag([1.0, 1e-2, 1e-5]) @ v.T), random(5, 2)
    for driver, rcond, rank in ((None, 1e-3, 2), ("gelsy", 0.1, 1), ("gelsd", 1e-3, 2), ("gelss", 1e-3, 2), ("gelss", 0.1, 1), ("gelsd", 0.0, 3),
                                ("gelsd", 1.0, 3), ("gelsd", -1.0, 3), ("gelss", -1, 3), ("gels", 0.1, 3), (None, np.float64(1e-3), 2)):
        out = linalg.lstsq(a, b, rcond, driver=driver)
        kept = np.diag([1.0, 1e2, 1e5] * (np.arange(3) < rank))
        np.testing.assert_allclose(out.solution.numpy(), v @ kept @ u.T @ b.numpy(), rtol=1e-6, err_msg=f"{driver} {rcond}")
        assert driver == "gels" or out.rank.item() == rank
    with pytest.raises(TypeError, match="'rcond' must be float, not str"):
        linalg.lstsq(a, b, "0.1")


def test_qr_without_q_and_square_q():
    a = random(4, 3).requires_grad_()
    q, r = linalg.qr(a, "r")
    assert q.shape == (0,) and r.shape == (3, 3)
    with pytest.raises(RuntimeError, match="mode='r'"):
        r.sum().backward()
    q, r = linalg.qr(a, "complete")
    assert q.shape == (4, 4) and r.shape == (4, 3)
    with pytest.raises(RuntimeError, match="nrows > ncols"):
        r.sum().backward()


def test_condition_numbers_twice():
    a = (random(3, 3) + 3 * ag.eye(3, dtype=ag.float64)).requires_grad_()
    ag.gradgradcheck(lambda a: linalg.cond(a, "fro"), (a,))
    ag.gradcheck(lambda a: linalg.cond(a, 1), (a,))


def test_eigenvalues_of_any_matrix():
    a = random(3, 3).requires_grad_()
    values, vectors = linalg.eig(a)
    assert values.dtype == ag.complex128
    np.testing.assert_allclose((a.detach().numpy() @ vectors.detach().numpy()), (vectors * values).detach().numpy(), atol=1e-12)
    ag.gradcheck(lambda a: linalg.eigvals(a).real.sum() + (linalg.eigvals(a).imag ** 2).sum(), (a,))


def test_einsum_at_its_edges():
    x = random(2, 3)
    assert ag.einsum("ij->ij", [x]).shape == (2, 3)
    assert ag.einsum("Ba", random(2, 3)).shape == (2, 3) and ag.einsum("aB", random(2, 3)).shape == (3, 2)
    view = ag.einsum("ij->ji", x)
    assert np.shares_memory(view.numpy(), x.numpy())
    assert ag.einsum("...,...", x, random(3)).shape == (2, 3)
    assert ag.einsum("...->", x).shape == ()
    np.testing.assert_allclose(ag.einsum("i...,j...->ij", x, x).numpy(), x.numpy() @ x.numpy().T)


def test_fourier_transforms_and_their_inverses():
    x = random(4, 5)
    np.testing.assert_allclose(ag.fft.irfft(ag.fft.rfft(x), 5).numpy(), x.numpy(), atol=1e-12)
    np.testing.assert_allclose(ag.fft.ifft2(ag.fft.fft2(x)).real.numpy(), x.numpy(), atol=1e-12)
    np.testing.assert_allclose(ag.fft.hfft(ag.fft.ihfft(x), 5).numpy(), x.numpy(), atol=1e-12)
    assert ag.fft.rfft(x.to(ag.float32)).dtype == ag.complex64 and ag.fft.fft(ag.arange(3)).dtype == ag.complex64
    np.testing.assert_allclose(ag.fft.fftfreq(5, 0.5).numpy(), np.fft.fftfreq(5, 0.5), rtol=1e-6)
    np.testing.assert_allclose(ag.fft.rfftfreq(6, dtype=ag.float64).numpy(), np.fft.rfftfreq(6))


def test_gradients_of_complex_numbers_are_conjugate():
    z = ag.from_numpy(np.array([3 + 4j, 1 - 2j])).requires_grad_()
    (z.real ** 2 + 3 * z.imag).sum().backward()
    np.testing.assert_allclose(z.grad.numpy(), [6 + 3j, 2 + 3j])
    w = ag.from_numpy(np.array([[1j, 2.0], [1.0, 1 - 1j]]))
    z.grad = None
    (w @ z).real.sum().backward()                    # the gradient of Re(w z) is conj(w)
    np.testing.assert_allclose(z.grad.numpy(), np.conj(w.numpy()).sum(0))


def test_views_of_complex_numbers():
    z = ag.from_numpy(np.array([3 + 4j, 1 - 2j]))
    for view in (z.real, z.imag, ag.view_as_real(z)):
        assert np.shares_memory(view.numpy(), z.numpy())
    assert not ag.is_complex(z.real) and ag.is_complex(z)
    assert ag.angle(ag.tensor([-1.0, 2.0])).tolist() == [pytest.approx(np.pi), 0]
    assert random(2, 3).mH.shape == (3, 2) and random(2, 3).H.shape == (3, 2)


def test_low_rank_factors_of_a_matrix_of_low_rank():
    a = random(6, 2) @ random(2, 5, seed=1)
    for x in (a, a.mT):
        u, s, v = ag.svd_lowrank(x, q=3)
        np.testing.assert_allclose(((u * s) @ v.mT).numpy(), x.numpy(), atol=1e-10)
    u, s, v = ag.pca_lowrank(a)
    np.testing.assert_allclose(((u * s) @ v.mT).numpy(), (a - a.mean(0)).numpy(), atol=1e-10)
    with pytest.raises(ValueError, match="min"):
        ag.svd_lowrank(a, q=7)


@pytest.mark.parametrize("shape", [(), (1,), (5,), (3, 1), (1, 5), (3, 5)])
@pytest.mark.parametrize("factors", [(1, 1), (0.5, 2), (0, -1), (2, 0)])
def test_addmm_in_one_node_as_in_parts(shape, factors):
    beta, alpha = factors
    rng = np.random.default_rng(0)
    arrays = [rng.standard_normal(s).astype(np.float32) for s in (shape, (3, 4), (4, 5), (3, 5))]

    def run(compute):
        xs = [ag.tensor(a, requires_grad=True) for a in arrays[:3]]
        y = compute(*xs)
        first = ag.grad((y * y * ag.tensor(arrays[3])).sum(), xs, create_graph=True)
        second = ag.grad(sum((g * g).sum() for g in first), xs, allow_unused=True)
        return [y, *first, *[s if s is not None else ag.zeros(()) for s in second]]

    one = run(lambda b, x, w: ag.addmm(b, x, w, beta=beta, alpha=alpha))
    stacks = run(lambda b, x, w: ag.baddbmm(b, x[None], w[None], beta=beta, alpha=alpha)[0])
    parts = run(lambda b, x, w: beta * b + alpha * (x @ w))
    assert one[0].grad_fn.name() == "AddmmBackward0" and all(edge[0].is_leaf for edge in one[0].grad_fn.next_functions)
    for a, b, c in zip(one, stacks, parts, strict=True):
        np.testing.assert_allclose(a.detach().numpy(), c.detach().numpy(), rtol=2e-4, atol=1e-4)
        np.testing.assert_allclose(b.detach().numpy(), c.detach().numpy(), rtol=2e-4, atol=1e-4)


LAYOUTS = {
    "rows": lambda x: x, "columns": lambda x: np.ascontiguousarray(np.swapaxes(x, -1, -2)).swapaxes(-1, -2),
    "part of rows": lambda x: np.concatenate([x, x], -1)[..., :x.shape[-1]], "part of columns": lambda x: np.concatenate(
        [x, x], -2).swapaxes(-1, -2).copy().swapaxes(-1, -2)[..., :x.shape[-2], :],
    "every second": lambda x: np.repeat(np.repeat(x, 2, -1), 2, -2)[..., ::2, ::2], "turned round": lambda x: x[..., ::-1, ::-1].copy()[..., ::-1, ::-1]}


def libraries():
    """NumPy's LAPACK, NumPy without it, and SciPy's, whose integers have 32 bits, where that is installed."""
    yield "found", lapack.library
    yield "absent", None
    try:
        import scipy.linalg._fblas as other
    except ImportError:
        return
    for pattern in PATTERNS:
        with contextlib.suppress(AttributeError):
            yield f"SciPy's {pattern}", Lapack(ctypes.CDLL(other.__file__), pattern)
            return


@pytest.mark.parametrize("library", [pytest.param(found, id=name) for name, found in libraries()])
@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
def test_triangular_systems_and_factors_of_any_layout(library, dtype, monkeypatch):
    """Every order of memory, triangle, and stack; one library after the other, by residuals."""
    monkeypatch.setattr(kernel, "lapack_for", lambda *arrays: library)
    rng, close = np.random.default_rng(0), {"rtol": 0, "atol": 1e-4 if np.dtype(dtype).itemsize < 16 and dtype != "float64" else 1e-10}

    def draw(*shape):
        x = rng.uniform(-1, 1, shape)
        return (x + 1j * rng.uniform(-1, 1, shape) if "complex" in dtype else x).astype(dtype)

    for n, stack_a, stack_b, k in [(1, (), (), 1), (5, (), (), 3), (4, (2,), (2,), 2), (40, (), (), 7), (6, (3,), (2, 3), 1), (6, (2, 1), (3,), 4), (13, (9,), (), 2),
                                   (3, (20,), (20,), 2), (0, (), (), 2), (3, (), (), 0), (3, (0,), (0,), 2)]:
        for name in LAYOUTS:
            a = LAYOUTS[name](draw(*stack_a, n, n) / (1 + n // 4) + 3 * np.eye(n, dtype=dtype))
            b = LAYOUTS[name](draw(*stack_b, n, k))
            for upper in (True, False):
                for unit in (True, False):
                    before = a.copy(), b.copy()
                    x = kernel.solve_triangular(a, b, upper, unit)
                    t = np.triu(a, int(unit)) if upper else np.tril(a, -int(unit))
                    t = t + np.eye(n, dtype=dtype) if unit else t
                    assert x.dtype == b.dtype and x.shape == np.broadcast_shapes(stack_a, stack_b) + (n, k)
                    np.testing.assert_allclose(t @ x, np.broadcast_to(b, x.shape), **close)
                    assert (a == before[0]).all() and (b == before[1]).all()
            wide = LAYOUTS[name](draw(*stack_a, n, n + 2)) if stack_b else LAYOUTS[name](draw(*stack_a, n + 2, n))
            factors, pivots, info = kernel.lu_factor(wide)
            m, c = wide.shape[-2:]
            low = np.tril(factors[..., :min(m, c)], -1) + np.eye(m, min(m, c), dtype=dtype)
            order = kernel.permutation(pivots, m)
            np.testing.assert_allclose(low @ np.triu(factors[..., :min(m, c), :]), np.take_along_axis(wide, order[..., None], -2), **close)
            assert pivots.dtype == info.dtype == np.int32 and info.shape == stack_a and not info.any() and np.abs(low).max(initial=0) <= 1 + 1e-6 \
                if "float" in dtype else not info.any()


def test_zeros_on_the_diagonal_are_told_alike(monkeypatch):
    x = np.array([[[1.0, 2.0, 0.0], [2.0, 4.0, 0.0], [0.0, 0.0, 1.0]], np.eye(3)])
    infos, solutions = [], []
    for library in (lapack.library, None):
        monkeypatch.setattr(kernel, "lapack_for", lambda *arrays, library=library: library)
        infos.append(kernel.lu_factor(x)[2].tolist())
        solutions.append(kernel.solve_triangular(np.array([[1.0, 2.0], [0.0, 0.0]]), np.ones((2, 1)), True, False))
    assert infos == [[2, 0]] * 2 and np.isinf(solutions).all()


@pytest.mark.parametrize("change", ["pivots", "values", "names", "solutions"])
def test_a_library_that_is_not_what_it_seems_is_not_used(change, monkeypatch):
    """Wrong names, pivots of another width, wrong numbers: an error as it is loaded, and NumPy's way after that."""
    class Other:
        def __getitem__(self, name):
            if change == "names":
                raise AttributeError(name)
            return lambda *args: None

    if change in ("pivots", "values", "solutions"):
        for method in ("factor", "solve"):
            real = getattr(Lapack, method)

            def wrong(self, x, *rest, real=real, method=method):
                out = real(self, x, *rest)
                if method == "factor" and change == "pivots":
                    return out[0] * 3, out[1]
                if (method, change) in (("factor", "values"), ("solve", "solutions")):
                    (x if method == "factor" else rest[0])[...] *= 2
                return out

            monkeypatch.setattr(Lapack, method, wrong)
    else:
        monkeypatch.setattr(ctypes, "CDLL", lambda *args: Other())
    if lapack.library is not None:
        with pytest.raises((OSError, Missing), match="wrongly|known name"):
            load()


@pytest.mark.parametrize("dtype", [ag.float64, ag.complex128])
@pytest.mark.parametrize("shape, k", [((6, 4), 4), ((5, 5), 3), ((2, 1, 4, 3), 3), ((4, 2), 0), ((3, 0), 0)])
def test_products_of_reflections_one_by_one(shape, k, dtype):
    """For any tau, also where 1 - tau v v^H is no reflection."""
    v, tau = random(*shape, dtype=dtype), random(*shape[:-2], k, seed=1, dtype=dtype)
    if dtype == ag.complex128:
        v, tau = v + 1j * random(*shape, seed=2), tau - 1j * random(*shape[:-2], k, seed=3)
    m, n = shape[-2:]
    q = np.broadcast_to(np.eye(m, dtype=v.dtype), (*shape[:-2], m, m))
    for i in range(k):
        column = (np.tril(v.numpy(), -1) + np.eye(m, n))[..., i:i + 1]
        q = q - q @ (tau.numpy()[..., i:i + 1, None] * column @ np.swapaxes(column, -1, -2).conj())
    np.testing.assert_allclose(linalg.householder_product(v, tau).numpy(), q[..., :n], atol=1e-10, rtol=1e-10)
    other = random(*shape[:-2], m, 2, seed=4, dtype=dtype)
    for transpose in (False, True):
        whole = np.swapaxes(q, -1, -2).conj() if transpose else q
        np.testing.assert_allclose(ag.ormqr(v, tau, other, transpose=transpose).numpy(), whole @ other.numpy(), atol=1e-10, rtol=1e-10)
        np.testing.assert_allclose(ag.ormqr(v, tau, other.mT, left=False, transpose=transpose).numpy(), other.mT.numpy() @ whole, atol=1e-10, rtol=1e-10)


def test_infinite_right_hand_sides_stay_in_their_columns():
    factors, pivots = linalg.lu_factor(random(4, 4))
    b = ag.ones(4, 2, dtype=ag.float64)
    b[0, 1] = float("inf")
    assert linalg.lu_solve(factors, pivots, b)[:, 0].isfinite().all()
