"""For those who write collectives: check_adjoint, and ranks as threads to run it on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from autograd import Tensor, backward, grad, tensor

from .comm import Communicator, Devices, run_ranks
from .verification import assert_same_everywhere


def check_adjoint(collective: Callable[..., Any], xs: Sequence[Any], comm: Communicator,
                  rng: np.random.Generator | None = None, *, order: int = 2, rtol: float = 1e-10) -> None:
    """Assert that backward is the adjoint: <A x, u> == <x, A' u>, summed over all places, for random u.

    collective(*xs) returns one Tensor or a tuple; xs are this process's inputs (arrays or Tensors, float64), different
    ones on every rank. Called by all ranks together. order=2 also differentiates the backward pass: A'u is linear in u,
    and its own backward must be A again. Raises AssertionError on every rank, with both numbers, and says so when they
    differ by a factor that is the number of places.

    >>> check_adjoint(lambda x: AllReduce.apply(x, comm=comm), [rng.standard_normal(3)], comm, rng)
    """
    rng = np.random.default_rng([7, comm.rank]) if rng is None else rng
    inputs = [tensor(x.array if isinstance(x, Tensor) else x, dtype=np.float64, requires_grad=True) for x in xs]
    outputs = _tuple(collective(*inputs))
    us = [tensor(rng.standard_normal(y.shape), requires_grad=True) for y in outputs]
    grads = grad(list(outputs), inputs, us, create_graph=order > 1, allow_unused=True)
    forward = comm.total(_inner(outputs, us))
    reverse = comm.total(_inner(inputs, grads))
    _compare("<A x, u>", forward, "<x, A' u>", reverse, comm, rtol)
    if order > 1:
        _check_second(inputs, grads, us, comm, rng, rtol, collective)


def _check_second(inputs: list[Tensor], grads: Sequence[Any], us: list[Tensor], comm: Communicator, rng: Any,
                  rtol: float, collective: Callable[..., Any]) -> None:
    """The backward of the backward must be the collective itself: <A' u, v> == <u, A v>."""
    vs = [tensor(rng.standard_normal(x.shape)) for x in inputs]
    pairs = [(g, v) for g, v in zip(grads, vs, strict=True) if g is not None]
    lost = comm.total(float(any(not g.requires_grad for g, _ in pairs) or (bool(inputs) and not pairs)))
    assert not lost, (f"{comm.size} places: the backward pass of {_name(collective)} is not recorded on all of them: "
                      "it must call its partner's apply, not work on arrays, and the partner must record on every rank")
    seconds = grad([g for g, _ in pairs], us, [v for _, v in pairs], allow_unused=True)
    again = _tuple(collective(*vs))
    _compare("<A' u, v> by its own backward", comm.total(_inner(us, seconds)), "<u, A v>",
             comm.total(_inner(us, again)), comm, rtol, "the second derivative is wrong")


def _compare(left: str, a: float, right: str, b: float, comm: Communicator, rtol: float, what: str = "") -> None:
    if np.isclose(a, b, rtol=rtol, atol=rtol):
        return
    hint = f"; {what}" if what else ""
    for factor, words in ((comm.size, "too small"), (1 / comm.size, "too large")):
        if comm.size > 1 and b and np.isclose(a / b, factor, rtol=1e-6):
            hint = (f"; the gradient is off by exactly {comm.size}, {words}: collectives here have the gradients of the "
                    "SUM of all places' losses, and only DataParallel divides")
    raise AssertionError(f"{comm.size} places: {left} = {a:.12g}, {right} = {b:.12g}{hint}")


def _inner(xs: Sequence[Any], ys: Sequence[Any]) -> float:
    return float(sum(np.vdot(x.array, y.array) for x, y in zip(xs, ys, strict=True) if y is not None))


def _tuple(value: Any) -> tuple[Any, ...]:
    return tuple(value) if isinstance(value, (tuple, list)) else (value,)


def _name(function: Any) -> str:
    return getattr(function, "__qualname__", repr(function))


__all__ = ["Devices", "assert_same_everywhere", "backward", "check_adjoint", "run_ranks"]
