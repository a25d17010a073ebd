"""check_adjoint: is backward the adjoint of forward, over all places, for random numbers?"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from autograd import Tensor, grad, no_grad, tensor

from ..comm import Communicator, communicator
from ..functions.pending_messages import discarded_messages
from ..pytree.tree import tree_map
from .factors import common_factor
from .pullback import Traced, everyones, gradients, inner, is_part, name, nothing_of, refuse, with_empty_parts

LINEAR = 1e-9                        # how far A(x + v) may be from A x + A v, relative, for A to count as linear
STEP, STEP_RTOL = 1e-4, 1e-7         # of fourth-order differences, and how exact they are


def check_adjoint(collective: Callable[..., Any], xs: Sequence[Any], comm: Communicator | None = None,
                  rng: np.random.Generator | None = None, *, order: int = 2, rtol: float = 1e-10) -> None:
    """Assert that backward is the adjoint: <A x, u> == <x, A' u>, summed over all places, for random u.

    Called by all ranks of comm (default: world()) together, with other numbers on each. xs are this process's arguments
    of `collective`: arrays or Tensors, or pytrees of them (tuples, lists, dicts, dataclasses), and so are its results.
    Floats are checked as float64, complex numbers as complex128; None stands for no part; integers and what is no tensor
    are passed along. order=2 also differentiates the backward pass: A'u is linear in u, and its own backward must be A
    again. A function that is not linear is checked against its derivative at xs by differences, to 7 digits.

    Raises AssertionError on every rank, with both numbers, and says so when they differ by a factor that is the number of
    places; also where backward would hang, because an output is not recorded on every rank.

    >>> check_adjoint(lambda x: AllReduce.apply(x, comm=comm), [rng.standard_normal(3)], comm, rng)
    """
    comm = communicator(comm)
    if order not in (1, 2):
        raise ValueError(f"check_adjoint(order={order!r}): 1, or 2 to check the backward pass of the backward pass too")
    rng = np.random.default_rng([7, comm.rank]) if rng is None else rng
    xs = [xs] if isinstance(xs, (Tensor, np.ndarray, dict)) else xs
    with discarded_messages():
        check = _Check(collective, [tree_map(x, _source) for x in with_empty_parts(xs, comm)], comm, rng, rtol)
        grads = check.first(order)
        if order > 1:
            check.second(grads)


def _source(x: Any) -> Any:
    """A float or complex array as a leaf in double precision; an integer one as a tensor; all else as it is."""
    if is_part(x):
        array = x.detach().numpy() if isinstance(x, Tensor) else np.asarray(x)
        return tensor(array.astype(np.complex128 if array.dtype.kind == "c" else np.float64), requires_grad=True)
    return tensor(x) if isinstance(x, np.ndarray) and x.dtype.kind in "biu" else x


class _Check:
    """One check: the arguments, a direction v for each of them and a u for each output."""

    def __init__(self, collective: Callable[..., Any], args: list[Any], comm: Communicator, rng: Any, rtol: float) -> None:
        self.collective, self.args, self.comm, self.rng, self.rtol = collective, args, comm, rng, rtol
        self.inputs: list[Tensor] = []
        tree_map(args, self._collect)
        self.traced = Traced(collective, args, comm)
        refuse(comm, "" if self.traced.recorded else f"no output of {name(collective)} requires grad, on any rank",
               AssertionError)
        self.outputs = self.traced.outputs
        narrow = [str(y.dtype) for y in self.outputs if y.dtype.itemsize < (16 if y.dtype.kind == "c" else 8)]
        self.narrow = next((names[0] for names in everyones(comm, narrow) if names), "")
        self.us = [tensor(self._random(y), requires_grad=True) for y in self.outputs]
        self.linear = self._is_linear()
        self.rtol = rtol if self.linear else max(rtol, STEP_RTOL)

    def _collect(self, leaf: Any) -> Any:
        if isinstance(leaf, Tensor) and leaf.requires_grad:
            self.inputs.append(leaf)
        return leaf

    def _random(self, like: Tensor) -> Any:
        array = np.asarray(self.rng.standard_normal(like.shape))
        return array + 1j * self.rng.standard_normal(like.shape) if like.dtype.kind == "c" else array

    def _outputs(self, arrays: Sequence[Any]) -> list[Any]:
        """The outputs for other inputs, as arrays."""
        values = iter(arrays)
        args = tree_map(self.args, lambda leaf: tensor(next(values)) if isinstance(leaf, Tensor) and leaf.requires_grad
                       else leaf)
        with no_grad():
            return [y.array for y in self.traced.again(args)]

    def _is_linear(self) -> bool:
        """Whether A(x + v) == A x + A v, on all places together."""
        vs = [self._random(x) for x in self.inputs]
        moved, step = self._outputs([x.array + v for x, v in zip(self.inputs, vs, strict=True)]), self._outputs(vs)
        rest = [m - s - y.array for m, s, y in zip(moved, step, self.outputs, strict=True)]
        off, whole = (self.comm.total(float(sum(np.vdot(a, a).real for a in arrays))) for arrays in (rest, moved))
        return bool(off <= LINEAR**2 * whole)

    def _derivative(self, vs: Sequence[Any]) -> list[Tensor]:
        """What the collective makes of a small step along vs, per unit of it: A v, or J v by differences."""
        if self.linear:
            return [tensor(y) for y in self._outputs(vs)]
        far: list[Any] = []
        near: list[Any] = []
        for factor, found in ((2, far), (1, near)):
            ahead, behind = (self._outputs([x.array + sign * factor * STEP * v for x, v in
                                            zip(self.inputs, vs, strict=True)]) for sign in (1, -1))
            found.extend([a - b for a, b in zip(ahead, behind, strict=True)])
        return [tensor((8 * n - f) / (12 * STEP)) for n, f in zip(near, far, strict=True)]

    def first(self, order: int) -> list[Any]:
        """<A v, u> against <v, A' u>, with v = x where A is linear; the gradients A' u."""
        grads = gradients(self.outputs, self.inputs, self.us, create_graph=order > 1)
        bad = next((f"the gradient of an input of shape {tuple(x.shape)} has shape {tuple(g.shape)}" for x, g in
                    zip(self.inputs, grads, strict=True) if g is not None and g.shape != x.shape), "")
        refuse(self.comm, bad, AssertionError)
        if self.linear:
            vs, pushed, letter = list(self.inputs), self.outputs, "x"
        else:
            vs, letter = [tensor(self._random(x)) for x in self.inputs], "v"
            pushed = self._derivative([v.array for v in vs])
        self._compare(f"<A {letter}, u>", inner(pushed, self.us), f"<{letter}, A' u>", inner(vs, grads))
        return grads

    def second(self, grads: Sequence[Any]) -> None:
        """The backward of the backward must be the collective itself: <A' u, v> == <u, A v>."""
        vs = [tensor(self._random(x)) for x in self.inputs]
        pairs = [(g, v) for g, v in zip(grads, vs, strict=True) if g is not None]
        if not pairs:
            pairs = [(zero, zero.detach()) for zero in nothing_of(self.us)]
        what, lost = name(self.collective), ""
        if self.inputs and not pairs:
            lost = (f"the gradient of no input of {what} depends on its outputs here, so the backward pass of the backward "
                    "pass would leave this rank out: pass None where a place has no part, and use it")
        if any(not g.requires_grad for g, _ in pairs):
            lost = (f"the backward pass of {what} is not recorded: it must call its partner's apply, not work on arrays, "
                    "and the partner must record on every rank")
        refuse(self.comm, lost, AssertionError)
        seconds = grad([g for g, _ in pairs], self.us, [v for _, v in pairs], allow_unused=True) if pairs else []
        again = self._derivative([v.array for v in vs])
        self._compare("<A' u, v> by its own backward", inner(self.us, seconds) if pairs else 0.0, "<u, A v>",
                      inner(self.us, again), "the second derivative is wrong")

    def _compare(self, left: str, mine: float, right: str, other: float, what: str = "") -> None:
        """Equal after summing over processes, or AssertionError."""
        a, b = self.comm.total(mine), self.comm.total(other)
        if np.isclose(a, b, rtol=self.rtol, atol=self.rtol):
            return
        hint = common_factor([(a, b) if what else (b, a)], self.comm.size) or (f"; {what}" if what else "")
        about = "" if self.linear else " (A: the derivative, for the function is not linear)"
        if self.narrow:
            about += f"; inputs are checked in double precision, but an output is {self.narrow}: the function rounds"
        raise AssertionError(f"{self.comm.size} places: {left} = {a:.12g}, {right} = {b:.12g}{hint}{about}")
