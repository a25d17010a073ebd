"""check_adjoint(): compares a collective's backward with the adjoint of its forward, over all ranks, for random numbers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from autograd.transforms.gradcheck import MSG_NONE

from ..autograd import Tensor, grad, no_grad, tensor
from ..comm import Communicator, communicator
from ..comm.base import Array
from ..functions.pending_messages import discarded_messages
from ..pytree.tree import tree_map
from .factors import common_factor
from .recorded_call import (
    RecordedCall,
    gather_from_all,
    gradients,
    inner_product,
    is_differentiable,
    name,
    raise_on_all_ranks,
    with_empty_parts,
    zero_of_sent_gradients,
)

LINEARITY_RTOL = 1e-9                        # relative difference of A(x + v) and A x + A v below which A is linear
STEP, STEP_RTOL = 1e-4, 1e-7         # of fourth-order differences, and their accuracy


def check_adjoint(collective: Callable[..., Any], xs: Sequence[Any], comm: Communicator | None = None,
                  rng: np.random.Generator | None = None, *, order: int = 2, rtol: float = 1e-10) -> None:
    """Assert that backward is the adjoint: <A x, u> == <x, A' u>, summed over all ranks, for random u. Collective.

    Floats are checked as float64, complex numbers as complex128. A nonlinear function is compared with its derivative at xs
    by differences, to 7 digits.
    """
    comm = communicator(comm)
    if order not in (1, 2):
        raise ValueError(f"check_adjoint(order={order!r}): 1, or 2 to check the backward pass of the backward pass too")
    rng = np.random.default_rng([7, comm.rank]) if rng is None else rng
    xs = [xs] if isinstance(xs, (Tensor, np.ndarray, dict)) else xs
    with discarded_messages():
        check = _AdjointCheck(collective, [tree_map(x, _to_leaf) for x in with_empty_parts(xs, comm)], comm, rng, rtol)
        grads = check.check_first_derivative(order)
        if order > 1:
            check.check_second_derivative(grads)


def _to_leaf(x: Any) -> Any:
    """A float or complex array as a leaf in double precision, an integer array as a tensor, other objects unchanged."""
    if is_differentiable(x):
        array = x.detach().numpy() if isinstance(x, Tensor) else np.asarray(x)
        return tensor(array.astype(np.complex128 if array.dtype.kind == "c" else np.float64), requires_grad=True)
    return tensor(x) if isinstance(x, np.ndarray) and x.dtype.kind in "biu" else x


class _AdjointCheck:
    """One check: the recorded call, and a random direction u for each output."""

    def __init__(self, collective: Callable[..., Any], args: list[Any], comm: Communicator, rng: np.random.Generator,
                 rtol: float) -> None:
        self.collective, self.args, self.comm, self.rng, self.rtol = collective, args, comm, rng, rtol
        self.inputs: list[Tensor] = []
        self.missing: list[int] = []                 # inputs for which backward returned None
        tree_map(args, self._collect)
        self.traced = RecordedCall(collective, args, comm)
        problem = "" if self.traced.recorded else f"no output of {name(collective)} requires grad, on any rank"
        raise_on_all_ranks(comm, problem, AssertionError)
        self.outputs = self.traced.outputs
        narrow = [str(y.dtype) for y in self.outputs if y.dtype.itemsize < (16 if y.dtype.kind == "c" else 8)]
        self.narrow = next((names[0] for names in gather_from_all(comm, narrow) if names), "")
        self.us = [tensor(self._random(y), requires_grad=True) for y in self.outputs]
        self.linear = self._is_linear()
        self.rtol = rtol if self.linear else max(rtol, STEP_RTOL)

    def _collect(self, leaf: Any) -> Any:
        """Add a leaf that requires grad to the inputs."""
        if isinstance(leaf, Tensor) and leaf.requires_grad:
            self.inputs.append(leaf)
        return leaf

    def _random(self, like: Tensor) -> Array:
        """Random numbers in the shape of a tensor, complex if it is."""
        array = np.asarray(self.rng.standard_normal(like.shape))
        return array + 1j * self.rng.standard_normal(like.shape) if like.dtype.kind == "c" else array

    def _outputs(self, arrays: Sequence[Array]) -> list[Array]:
        """The outputs, as arrays, for other values of the inputs."""
        values = iter(arrays)
        args = tree_map(self.args, lambda leaf: tensor(next(values)) if isinstance(leaf, Tensor) and leaf.requires_grad
                       else leaf)
        with no_grad():
            return [y.array for y in self.traced.outputs_for(args)]

    def _is_linear(self) -> bool:
        """Whether A(x + v) == A x + A v, on all ranks together."""
        vs = [self._random(x) for x in self.inputs]
        at_sum, at_v = self._outputs([x.array + v for x, v in zip(self.inputs, vs, strict=True)]), self._outputs(vs)
        error = [s - a - y.array for s, a, y in zip(at_sum, at_v, self.outputs, strict=True)]
        error_norm, norm = (self.comm.total(float(sum(np.vdot(a, a).real for a in arrays))) for arrays in (error, at_sum))
        return bool(error_norm <= LINEARITY_RTOL**2 * norm)

    def _derivative(self, vs: Sequence[Array]) -> list[Tensor]:
        """The derivative of the outputs along vs: A v, or J v by fourth-order differences."""
        if self.linear:
            return [tensor(y) for y in self._outputs(vs)]
        far: list[Array] = []
        near: list[Array] = []
        for factor, differences in ((2, far), (1, near)):
            ahead, behind = (self._outputs([x.array + sign * factor * STEP * v for x, v in
                                            zip(self.inputs, vs, strict=True)]) for sign in (1, -1))
            differences.extend([a - b for a, b in zip(ahead, behind, strict=True)])
        return [tensor((8 * n - f) / (12 * STEP)) for n, f in zip(near, far, strict=True)]

    def check_first_derivative(self, order: int) -> list[Tensor | None]:
        """Compare <A v, u> with <v, A' u>, with v = x if A is linear. Returns the gradients A' u."""
        grads = gradients(self.outputs, self.inputs, self.us, create_graph=order > 1)
        self.missing = [number for number, g in enumerate(grads) if g is None]
        mismatch = next((f"the gradient of an input of shape {tuple(x.shape)} has shape {tuple(g.shape)}" for x, g in
                    zip(self.inputs, grads, strict=True) if g is not None and g.shape != x.shape), "")
        raise_on_all_ranks(self.comm, mismatch, AssertionError)
        if self.linear:
            vs, derivative, letter = list(self.inputs), self.outputs, "x"
        else:
            vs, letter = [tensor(self._random(x)) for x in self.inputs], "v"
            derivative = self._derivative([v.array for v in vs])
        self._compare(f"<A {letter}, u>", inner_product(derivative, self.us), f"<{letter}, A' u>", inner_product(vs, grads))
        return grads

    def check_second_derivative(self, grads: Sequence[Tensor | None]) -> None:
        """Check that the backward of the backward is the collective itself: <A' u, v> == <u, A v>."""
        vs = [tensor(self._random(x)) for x in self.inputs]
        pairs = [(g, v) for g, v in zip(grads, vs, strict=True) if g is not None]
        if not pairs:
            pairs = [(zero, zero.detach()) for zero in zero_of_sent_gradients(self.us)]
        what, problem = name(self.collective), ""
        if self.inputs and not pairs:
            problem = (f"the gradient of no input of {what} depends on its outputs here, so the backward pass of the "
                       "backward pass would exclude this rank: pass None on a rank without a part, and use it")
        if any(not g.requires_grad for g, _ in pairs):
            problem = (f"the backward pass of {what} is not recorded: it must call its partner's apply, not work on arrays, "
                    "and the partner must record on every rank")
        raise_on_all_ranks(self.comm, problem, AssertionError)
        seconds = grad([g for g, _ in pairs], self.us, [v for _, v in pairs], allow_unused=True) if pairs else []
        derivative = self._derivative([v.array for v in vs])
        self._compare("<A' u, v> by its own backward", inner_product(self.us, seconds) if pairs else 0.0, "<u, A v>",
                      inner_product(self.us, derivative), "the second derivative is wrong")

    def _compare(self, left: str, left_value: float, right: str, right_value: float, what: str = "") -> None:
        """AssertionError unless the two values, summed over processes, are equal."""
        a, b = self.comm.total(left_value), self.comm.total(right_value)
        if np.isclose(a, b, rtol=self.rtol, atol=self.rtol):
            return
        hint = common_factor([(a, b) if what else (b, a)], self.comm.size) or (f"; {what}" if what else "")
        note = "" if self.linear else " (A: the derivative, for the function is not linear)"
        if self.narrow:
            note += f"; inputs are checked in double precision, but an output is {self.narrow}: the function rounds"
        note += "".join(f"; {MSG_NONE.format(number)}" for number in
                        sorted({number for of_rank in gather_from_all(self.comm, self.missing) for number in of_rank}))
        raise AssertionError(f"{self.comm.size} ranks: {left} = {a:.12g}, {right} = {b:.12g}{hint}{note}")
