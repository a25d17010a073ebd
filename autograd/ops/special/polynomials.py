"""Orthogonal polynomials p_n(x), of tensors of arguments and of degrees. PyTorch gives them no derivative."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...core.declare import elementwise
from ...core.tensor import Tensor
from ...core.types import Declared, TensorOrNumber
from ...kernels import orthogonal
from .._kinds import in_floats, undifferentiable


def _polynomial(name: str, kernel: Callable[..., Any]) -> Callable[..., Any]:
    words = "".join(word.title() for word in name.split("_"))
    value = elementwise(f"Special{words}", in_floats(kernel), undifferentiable(name), undifferentiable(name), real=True)

    def polynomial(input: Tensor, n: TensorOrNumber, *, out: Tensor | None = None) -> Tensor:
        return value(input, n, out=out)

    polynomial.__name__ = polynomial.__qualname__ = name
    polynomial.__doc__ = f"{name} of degree n at input."
    return polynomial


chebyshev_polynomial_t: Declared = _polynomial("chebyshev_polynomial_t", orthogonal.chebyshev_t)
chebyshev_polynomial_u: Declared = _polynomial("chebyshev_polynomial_u", orthogonal.chebyshev_u)
chebyshev_polynomial_v: Declared = _polynomial("chebyshev_polynomial_v", orthogonal.chebyshev_v)
chebyshev_polynomial_w: Declared = _polynomial("chebyshev_polynomial_w", orthogonal.chebyshev_w)
shifted_chebyshev_polynomial_t: Declared
shifted_chebyshev_polynomial_t = _polynomial("shifted_chebyshev_polynomial_t", orthogonal.shifted(orthogonal.chebyshev_t))
shifted_chebyshev_polynomial_u: Declared
shifted_chebyshev_polynomial_u = _polynomial("shifted_chebyshev_polynomial_u", orthogonal.shifted(orthogonal.chebyshev_u))
shifted_chebyshev_polynomial_v: Declared
shifted_chebyshev_polynomial_v = _polynomial("shifted_chebyshev_polynomial_v", orthogonal.shifted(orthogonal.chebyshev_v))
shifted_chebyshev_polynomial_w: Declared
shifted_chebyshev_polynomial_w = _polynomial("shifted_chebyshev_polynomial_w", orthogonal.shifted(orthogonal.chebyshev_w))
hermite_polynomial_h: Declared = _polynomial("hermite_polynomial_h", orthogonal.hermite_h)
hermite_polynomial_he: Declared = _polynomial("hermite_polynomial_he", orthogonal.hermite_he)
laguerre_polynomial_l: Declared = _polynomial("laguerre_polynomial_l", orthogonal.laguerre_l)
legendre_polynomial_p: Declared = _polynomial("legendre_polynomial_p", orthogonal.legendre_p)
