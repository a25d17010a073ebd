"""Rows for products, factorisations, solvers and norms. Vectors that are free in sign enter in products that are not."""

import math

from .row import Case, F


def regular(t, x):
    """Square matrices far from singular, with eigenvalues and singular values far apart."""
    return 0.3 * x + scale(t, x.shape[-1], x.dtype)


def scale(t, n, dtype):
    return t.eye(n, dtype=dtype) * t.arange(1, n + 1, dtype=dtype)


def hermitian(t, x):
    return regular(t, x) + regular(t, x).mT


def positive(t, x):
    return x @ x.mT + 2 * scale(t, x.shape[-1], x.dtype)


PRODUCTS = [
    Case("mm", lambda t, x, y: t.mm(x, y), [(3, 4), (4, 2)]), Case("bmm", lambda t, x, y: t.bmm(x, y), [(2, 3, 4), (2, 4, 2)]),
    Case("mv", lambda t, x, y: t.mv(x, y), [(3, 4), (4,)]), Case("dot", lambda t, x, y: t.dot(x, y), [(4,), (4,)]),
    Case("vdot", lambda t, x, y: t.vdot(x, y), [(4,), (4,)]), Case("outer", lambda t, x, y: t.outer(x, y), [(3,), (4,)]),
    Case("inner", lambda t, x, y: t.inner(x, y), [(2, 4), (3, 2, 4)]),
    Case("matmul stacked", lambda t, x, y: t.matmul(x, y), [(2, 3, 2, 4), (4, 2)]),
    Case("addmm", lambda t, x, y, z: t.addmm(x, y, z, beta=0.5, alpha=2), [(2,), (3, 4), (4, 2)]),
    Case("addmv", lambda t, x, y, z: t.addmv(x, y, z, beta=0.5), [(3,), (3, 4), (4,)]),
    Case("addr", lambda t, x, y, z: t.addr(x, y, z, alpha=3), [(3, 2), (3,), (2,)]),
    Case("addbmm", lambda t, x, y, z: t.addbmm(x, y, z, alpha=2), [(3, 2), (2, 3, 4), (2, 4, 2)]),
    Case("baddbmm", lambda t, x, y, z: t.baddbmm(x, y, z, beta=3), [(3, 2), (2, 3, 4), (2, 4, 2)]),
    Case("multi_dot", lambda t, x, y, z: t.linalg.multi_dot([x, y, z]), [(3,), (3, 4), (4, 2)]),
    Case("chain_matmul", lambda t, x, y, z: t.chain_matmul(x, y, z), [(2, 3), (3, 1), (1, 2)]),
    Case("tensordot", lambda t, x, y: t.tensordot(x, y, 2), [(2, 3, 4), (3, 4, 2)]),
    Case("tensordot dims", lambda t, x, y: t.tensordot(x, y, dims=([0, 2], [1, 0])), [(2, 3, 4), (4, 2, 2)]),
    Case("kron", lambda t, x, y: t.kron(x, y), [(2, 3), (2,)]), Case("cross", lambda t, x, y: t.cross(x, y, dim=0), [(3, 2), (3, 2)]),
    Case("linalg.cross", lambda t, x, y: t.linalg.cross(x, y), [(4, 1, 3), (1, 2, 3)]),
    Case("vecdot", lambda t, x, y: t.linalg.vecdot(x, y, dim=0), [(3, 2), (3, 1)]),
    Case("vander", lambda t, x: t.linalg.vander(x, N=4), [(2, 3)]), Case("trace", lambda t, x: t.trace(x), [(3, 4)]),
    Case("diagonal", lambda t, x: t.linalg.diagonal(x, offset=1), [(2, 3, 4)]),
    Case("bilinear", lambda t, x, y, w, b: F(t).bilinear(x, y, w, b), [(2, 3), (2, 4), (2, 3, 4), (2,)])]

EINSUM = [Case(f"einsum {equation}", lambda t, *xs, equation=equation: t.einsum(equation, *xs), shapes) for equation, shapes in [
    ("ij,jk->ik", [(2, 3), (3, 4)]), ("ij,jk", [(2, 3), (3, 4)]), ("bhid,bhjd->bhij", [(2, 2, 3, 2), (2, 2, 4, 2)]),
    ("ii->i", [(3, 3)]), ("ii", [(3, 3)]), ("ijj->ji", [(2, 3, 3)]), ("...ij,...jk->...ik", [(2, 2, 3), (3, 2)]),
    ("i,j->ji", [(2,), (3,)]), ("ij->", [(2, 3)]), ("ij,ij->i", [(2, 3), (2, 3)]), ("ij,k->i", [(2, 3), (2,)]),
    ("bi,ijk,bk->bj", [(2, 3), (3, 2, 4), (2, 4)]), ("ij,jk,kl,lm->im", [(2, 3), (3, 2), (2, 3), (3, 2)]),
    ("ij,jk->ik", [(2, 1), (3, 4)]), ("a...b->...a", [(2, 3, 1, 2)]), ("ba,b", [(2, 3), (2,)]), (",i->i", [(), (3,)]),
    ("iij,jii->ij", [(2, 2, 3), (3, 2, 2)])]]
EINSUM += [Case("einsum lists", lambda t, x, y: t.einsum(x, [..., 0, 1], y, [1, 2], [..., 2, 0]), [(2, 2, 3), (3, 2)])]

SOLVE = [Case(name, call, shapes) for name, call, shapes in [
    ("inv", lambda t, x: t.linalg.inv(regular(t, x)), [(2, 3, 3)]), ("inv_ex", lambda t, x: t.linalg.inv_ex(regular(t, x))[0], [(3, 3)]),
    ("solve", lambda t, x, y: t.linalg.solve(regular(t, x), y), [(2, 3, 3), (3, 2)]),
    ("solve vector", lambda t, x, y: t.linalg.solve(regular(t, x), y), [(2, 3, 3), (2, 3)]),
    ("solve right", lambda t, x, y: t.linalg.solve(regular(t, x), y, left=False), [(3, 3), (2, 3)]),
    ("solve_triangular", lambda t, x, y: t.linalg.solve_triangular(regular(t, x), y, upper=True), [(2, 3, 3), (3, 2)]),
    ("solve_triangular right", lambda t, x, y: t.linalg.solve_triangular(regular(t, x), y, upper=False, left=False), [(3, 3), (2, 3)]),
    ("solve_triangular unit", lambda t, x, y: t.linalg.solve_triangular(x, y, upper=False, unitriangular=True), [(3, 3), (3, 2)]),
    ("triangular_solve", lambda t, x, y: t.triangular_solve(y, regular(t, x), transpose=True)[0], [(3, 3), (3, 2)]),
    ("tensorinv", lambda t, x: t.linalg.tensorinv((regular(t, x)).reshape(2, 3, 6)), [(6, 6)]),
    ("tensorsolve", lambda t, x, y: t.linalg.tensorsolve(regular(t, x).reshape(2, 3, 6), y), [(6, 6), (2, 3)]),
    ("det", lambda t, x: t.linalg.det(x), [(2, 3, 3)]), ("slogdet", lambda t, x: t.linalg.slogdet(x)[1], [(2, 3, 3)]),
    ("logdet", lambda t, x: t.logdet(positive(t, x)), [(3, 3)]), ("cholesky", lambda t, x: t.linalg.cholesky(positive(t, x)), [(2, 3, 3)]),
    ("cholesky upper", lambda t, x: t.linalg.cholesky(positive(t, x), upper=True), [(3, 3)]),
    ("cholesky_solve", lambda t, x, y: t.cholesky_solve(y, t.linalg.cholesky(positive(t, x))), [(3, 3), (3, 2)]),
    ("cholesky_inverse", lambda t, x: t.cholesky_inverse(t.linalg.cholesky(positive(t, x))), [(3, 3)]),
    ("lu", lambda t, x: t.linalg.lu(x)[1] @ (t.linalg.lu(x)[2] ** 2), [(3, 4)]), ("lu tall", lambda t, x: t.linalg.lu(x)[1] @ (t.linalg.lu(x)[2] ** 2), [(4, 3)]),
    ("lu_solve", lambda t, x, y: t.linalg.lu_solve(*t.linalg.lu_factor(regular(t, x)), y), [(2, 3, 3), (3, 2)]),
    ("lu_solve adjoint", lambda t, x, y: t.linalg.lu_solve(*t.linalg.lu_factor(regular(t, x)), y, left=False, adjoint=True), [(3, 3), (2, 3)]),
    ("qr", lambda t, x: t.linalg.qr(x)[0] ** 2 @ t.linalg.qr(x)[1] ** 2, [(2, 4, 3)]),
    ("qr wide", lambda t, x: t.linalg.qr(x)[0] ** 2 @ t.linalg.qr(x)[1] ** 2, [(2, 3)]),
    ("svd U, Vh", lambda t, x: svd_products(t, x), [(3, 2)]), ("svd wide", lambda t, x: svd_products(t, x), [(2, 3)]),
    ("svdvals", lambda t, x: t.linalg.svdvals(x), [(2, 3, 2)]), ("eigh", lambda t, x: eigen_products(t, hermitian(t, x)), [(2, 3, 3)]),
    ("eigvalsh", lambda t, x: t.linalg.eigvalsh(hermitian(t, x)), [(3, 3)]), ("pinv", lambda t, x: t.linalg.pinv(x), [(4, 2)]),
    ("pinv wide", lambda t, x: t.linalg.pinv(x), [(2, 4)]), ("lstsq", lambda t, x, y: t.linalg.lstsq(x, y)[0], [(4, 2), (4, 3)]),
    ("householder_product", lambda t, x, y: t.linalg.householder_product(x, y), [(3, 2), (2,)]),
    ("ormqr", lambda t, x, y, z: t.ormqr(x, y, z, transpose=True), [(3, 2), (2,), (3, 2)]),
    ("matrix_power", lambda t, x: t.linalg.matrix_power(x, 3), [(2, 2, 2)]),
    ("matrix_power negative", lambda t, x: t.linalg.matrix_power(regular(t, x), -2), [(3, 3)]),
    ("matrix_exp", lambda t, x: t.linalg.matrix_exp(x), [(2, 2, 2)])]]

NORMS = [Case(f"vector_norm {ord} {dim}", lambda t, x, ord=ord, dim=dim: t.linalg.vector_norm(x, ord, dim), [(3, 4)], (-1.1, 2.4), distinct=True, kinks=(0,))
         for ord, dim in [(2, None), (1, 1), (0.5, 1), (3, (0, 1)), (math.inf, 0), (-math.inf, 1), (1.5, 0), (-1, 1)]]
NORMS += [Case(f"matrix_norm {ord}", lambda t, x, ord=ord: t.linalg.matrix_norm(x, ord), [(2, 3, 2)], (-1.1, 2.4), distinct=True, kinks=(0,))
          for ord in ("fro", "nuc", 2, -2, 1, -1, math.inf, -math.inf)]
NORMS += [Case(f"cond {p}", lambda t, x, p=p: t.linalg.cond(regular(t, x), p), [(3, 3)]) for p in (None, -2)]


def svd_products(t, x):
    u, s, vh = t.linalg.svd(x, full_matrices=False)
    return (u * s ** 2) @ vh + t.einsum("ik,k,kj->ij", u ** 2, s, vh ** 2)


def eigen_products(t, x):
    values, v = t.linalg.eigh(x)
    return (v * values[..., None, :] ** 2) @ v.mT + v ** 2


FFT = [Case(f"{name} {settings}", lambda t, x, name=name, settings=settings: t.view_as_real(getattr(t.fft, name)(x, **settings).resolve_conj()), [(3, 4)])
       for name, settings in [("fft", {}), ("ifft", {"n": 6, "norm": "ortho"}), ("rfft", {"norm": "forward"}), ("rfft", {"n": 3, "dim": 0}),
                              ("fft2", {}), ("ifftn", {"s": (2, 5)}), ("rfft2", {"norm": "ortho"}), ("rfftn", {}), ("ihfft", {}), ("ihfftn", {})]]
FFT += [Case(f"{name} {settings}", lambda t, x, y, name=name, settings=settings: getattr(t.fft, name)(t.complex(x, y), **settings), [(3, 4), (3, 4)])
        for name, settings in [("irfft", {}), ("irfft", {"n": 5, "norm": "ortho"}), ("irfft2", {"norm": "forward"}), ("irfftn", {"s": (3, 5)}),
                               ("hfft", {"n": 5}), ("hfft2", {}), ("hfftn", {})]]
FFT += [Case("fftshift", lambda t, x: t.fft.fftshift(x, 1), [(2, 5)]), Case("ifftshift", lambda t, x: t.fft.ifftshift(x), [(2, 5)]),
        Case("power spectrum", lambda t, x: t.fft.rfft(x).real ** 2 + t.fft.rfft(x).imag ** 2, [(5,)]),
        Case("complex", lambda t, x, y: t.view_as_real(t.complex(x, y)), [(3,), (3,)]),
        Case("polar", lambda t, x, y: t.view_as_real(t.polar(x, y)), [(3,), (3,)], (0.5, 2)),
        Case("angle", lambda t, x, y: t.angle(t.complex(x, y)), [(3,), (3,)], (0.5, 2))]

CASES = PRODUCTS + EINSUM + SOLVE + NORMS + FFT
