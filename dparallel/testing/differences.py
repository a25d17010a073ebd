"""gradcheck and gradgradcheck over ranks: each element of each rank's inputs is perturbed while all ranks call the
function.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from autograd.transforms.forward_ad import dual_level, make_dual, unpack_dual
from autograd.transforms.gradcheck import overlap

from ..autograd import GradcheckError, Tensor, from_numpy, no_grad, tensor
from ..comm import Communicator, communicator
from ..comm.base import Array
from ..functions.pending_messages import discarded_messages
from ..pytree.tree import PyTree, tree_leaves_with_path, tree_map
from .factors import common_factor
from .recorded_call import (
    RecordedCall,
    differentiable_tensors,
    gather_from_all,
    gradients,
    inner_product,
    raise_on_all_ranks,
    with_empty_parts,
    zero_of_sent_gradients,
)

MAX_LISTED = 5                            # mismatches that an error lists


class Mismatch(NamedTuple):
    """A derivative whose numerical and analytical values differ. element: None along a random direction. missing: backward
    returned None."""

    rank: int
    path: str
    element: tuple[int, ...] | None
    numerical: float
    analytical: float
    missing: bool = False

    def __str__(self) -> str:
        where = "along a random direction" if self.element is None else f"element {list(self.element)}"
        return (f"rank {self.rank}, input {self.path}, {where}: numerical {self.numerical:.10g}, "
                f"analytical {self.analytical:.10g}" + " (backward returned None)" * self.missing)


def gradcheck(func: Callable[..., Any], inputs: PyTree, comm: Communicator | None = None, *, eps: float = 1e-6,
              atol: float = 1e-5, rtol: float = 1e-3, raise_exception: bool = True, nondet_tol: float = 0.0,
              check_undefined_grad: bool = True, check_grad_dtypes: bool = False, check_batched_grad: bool = False,
              check_batched_forward_grad: bool = False, check_forward_ad: bool = False, check_backward_ad: bool = True,
              fast_mode: bool = False, masked: bool | None = None) -> bool:
    """autograd.gradcheck over all ranks of comm, for functions that call collectives. Collective; returns the same on every
    rank.

    The loss is <output, u> for a random u on each rank, summed over ranks. Each element of inputs that require grad is
    changed by eps in turn, and the change of the loss is compared with the gradient of backward.
    """
    for flag, name in ((check_batched_grad, "check_batched_grad"),
                       (check_batched_forward_grad, "check_batched_forward_grad"), (masked, "masked")):
        if flag:
            raise NotImplementedError(f"gradcheck({name}=True) is not implemented")
    if not check_backward_ad and not check_forward_ad:
        raise ValueError("Expected at least one of check_forward_ad or check_backward_ad to be True")
    comm = communicator(comm)
    run = _Run(func, inputs, comm, eps, fast_mode)
    try:
        with discarded_messages():
            run.trace()
            analytical = run.analytical(nondet_tol, check_grad_dtypes) if check_backward_ad or not check_forward_ad else None
            run.compare(analytical, rtol, atol, check_forward_ad)
            if check_undefined_grad and check_backward_ad and run.traced.recorded:
                run.check_undefined(rtol, atol)
    except GradcheckError:
        if raise_exception:
            raise
        return False
    return True


class _Run:
    """One gradcheck: this rank's arguments and inputs, and the layout of every rank's inputs."""

    def __init__(self, func: Callable[..., Any], inputs: PyTree, comm: Communicator, eps: float, fast: bool) -> None:
        args = list(inputs) if isinstance(inputs, (tuple, list)) else [inputs]
        self.func, self.comm, self.eps, self.fast = func, comm, eps, fast
        self.args = with_empty_parts(args, comm)
        self.sources = [(path, x) for path, x in tree_leaves_with_path(self.args)
                        if isinstance(x, Tensor) and x.requires_grad and x.dtype.kind in "fcV"]
        raise_on_all_ranks(comm, overlap(list(tree_leaves_with_path(self.args))), RuntimeError)
        self.rng = np.random.default_rng([11, comm.rank])
        self.layout = gather_from_all(comm, [(path, x.shape, x.dtype.kind) for path, x in self.sources])
        if not any(self.layout):                     # the same on every rank
            raise ValueError("gradcheck expects at least one input tensor to require gradient, but none of the inputs have "
                             "requires_grad=True, on any rank.")
        if any(x.dtype.itemsize < (16 if x.dtype.kind == "c" else 8) for _, x in self.sources):
            warnings.warn("An input requires gradient and is not of double precision. This check will likely fail if all "
                          "the inputs are not of double precision floating point.", stacklevel=3)

    def trace(self) -> None:
        """Call the function once, recorded."""
        self.traced = RecordedCall(self.func, self.args, self.comm, GradcheckError)
        self.us = [tensor(self._random(y.shape, y.dtype), dtype=y.dtype) for y in self.traced.outputs]

    def _random(self, shape: Sequence[int], dtype: np.dtype[Any]) -> Array:
        """Random numbers of a shape, complex if the dtype is."""
        array = np.asarray(self.rng.standard_normal(shape))
        return array + 1j * self.rng.standard_normal(shape) if dtype.kind == "c" else array

    def _vector_jacobian_product(self, us: Sequence[Tensor], outputs: Sequence[Tensor] | None = None) -> list[Array]:
        """The gradients of <outputs, us> with respect to the inputs, as arrays; zeros where a gradient is None."""
        xs = [x for _, x in self.sources]
        grads = gradients(self.traced.outputs if outputs is None else outputs, xs, us) if self.traced.recorded else \
            [None] * len(xs)
        wrong = next((f"the gradient of input {path} has shape {list(g.shape)}, the input {list(x.shape)}" for (path, x), g
                      in zip(self.sources, grads, strict=True) if g is not None and g.shape != x.shape), "")
        raise_on_all_ranks(self.comm, wrong, GradcheckError)
        self.dtypes = [None if g is None else g.dtype for g in grads]
        return [np.zeros(x.shape, x.dtype) if g is None else g.detach().numpy().copy()
                for x, g in zip(xs, grads, strict=True)]

    def analytical(self, nondet_tol: float, check_dtypes: bool) -> list[Array]:
        """The gradients of backward. GradcheckError if a second backward differs by more than nondet_tol."""
        first, second = self._vector_jacobian_product(self.us), self._vector_jacobian_product(self.us)
        difference = max((float(np.max(np.abs(a - b), initial=0)) for a, b in zip(first, second, strict=True)), default=0.0)
        problem = "" if difference <= nondet_tol else (
            "Backward is not reentrant, i.e., running backward with same input and grad_output multiple times gives "
            f"different values: they differ by {difference:g}, nondet_tol is {nondet_tol:g}")
        raise_on_all_ranks(self.comm, problem, GradcheckError)
        wrong = [f"the gradient of input {path} has dtype {dtype}, the input {x.dtype}" for (path, x), dtype in
                 zip(self.sources, self.dtypes, strict=True) if dtype is not None and dtype != x.dtype]
        raise_on_all_ranks(self.comm, wrong[0] if wrong and check_dtypes else "", GradcheckError)
        return first

    # --- the loss at perturbed inputs ------------------------------------------------------------

    def _loss(self) -> float:
        """The sum of all ranks' losses at the current inputs."""
        with no_grad():
            return self.comm.total(inner_product(self.traced.outputs_for(self.args), self.us))

    def _numerical_derivative(self, rank: int, number: int, direction: Array | None) -> float:
        """The numerical derivative of the loss along a direction of one rank's input (read on that rank only)."""
        values = []
        here = rank == self._rank
        x = self.sources[number][1] if here else None
        before = np.empty(0) if x is None else x.array.copy()
        for sign in (1, -1):
            if x is not None and direction is not None:
                np.copyto(x.array, before + sign * self.eps * direction)
            try:
                values.append(self._loss())
            finally:
                if x is not None:
                    np.copyto(x.array, before)
        return (values[0] - values[1]) / (2 * self.eps)

    @property
    def _rank(self) -> int:
        """This process's index in `layout`."""
        return self.comm.rank if len(self.comm.held) == 1 else 0

    def _perturbations(self) -> Iterator[tuple[int, int, tuple[int, ...] | None, Any]]:
        """Rank, input, element and direction of every perturbation, in the same order on all ranks."""
        for rank, inputs in enumerate(self.layout):
            for number, (_, shape, kind) in enumerate(inputs):
                if self.fast:
                    here = rank == self._rank
                    yield rank, number, None, self._random(shape, np.dtype("c16" if kind == "c" else "f8")) if here else None
                    continue
                for element in np.ndindex(*shape):
                    for unit in (1, 1j) if kind == "c" else (1,):
                        direction = np.zeros(shape, "c16" if kind == "c" else "f8")
                        direction[element] = unit
                        yield rank, number, element, direction

    def compare(self, analytical: list[Array] | None, rtol: float, atol: float, forward: bool) -> None:
        """Compare numerical and analytical derivatives. GradcheckError on all ranks with the mismatches of any."""
        wrong: list[Mismatch] = []
        directions = [self._random(x.shape, x.dtype) for _, x in self.sources]
        slope = 0.0                                  # this rank's part of the loss's derivative along `directions`
        for rank, number, element, direction in self._perturbations():
            if self.fast and forward and rank == self._rank:
                directions[number] = direction
            numerical = self._numerical_derivative(rank, number, direction)
            if rank != self._rank:
                continue
            weight = 1.0 if element is None else float(np.vdot(direction, directions[number]).real)
            slope += numerical * weight
            if analytical is not None:
                expected = float(np.vdot(direction, analytical[number]).real)
                if not np.isclose(expected, numerical, rtol=rtol, atol=atol, equal_nan=True):
                    missing = self.traced.recorded and self.dtypes[number] is None
                    wrong.append(Mismatch(rank, self.sources[number][0], element, numerical, expected, missing))
        self._raise_mismatches(wrong, "Jacobian mismatch")
        if forward:
            self._check_forward_mode(directions, slope, rtol, atol)

    def _raise_mismatches(self, wrong: list[Mismatch], title: str) -> None:
        """GradcheckError on all ranks if any rank has mismatches."""
        mismatches = [mismatch for of_rank in gather_from_all(self.comm, wrong) for mismatch in of_rank]
        if mismatches:
            lines = "".join(f"\n  {mismatch}" for mismatch in mismatches[:MAX_LISTED])
            more = f"\n  and {len(mismatches) - MAX_LISTED} more" if len(mismatches) > MAX_LISTED else ""
            hint = common_factor([(m.analytical, m.numerical) for m in mismatches], self.comm.size)
            raise GradcheckError(f"{title} over {self.comm.size} ranks, {len(mismatches)} derivatives:{lines}{more}{hint}")

    # --- other checks -----------------------------------------------------------------------------------------------

    def _check_forward_mode(self, directions: list[Array], slope: float, rtol: float, atol: float) -> None:
        """Compare forward mode's tangents, along the directions of all ranks' inputs, with the numerical `slope`."""
        tangent_of = {id(x): v for (_, x), v in zip(self.sources, directions, strict=True)}
        with dual_level():
            args = tree_map(self.args, lambda x: make_dual(x, tensor(tangent_of[id(x)], dtype=x.dtype))
                            if id(x) in tangent_of else x)
            outputs = differentiable_tensors(self.func(*args))
            tangents = [unpack_dual(outputs[number]).tangent for number in self.traced.recorded_outputs]
            analytical = self.comm.total(inner_product(tangents, self.us))
        numerical = self.comm.total(slope)
        if not np.isclose(analytical, numerical, rtol=rtol, atol=atol):
            raise GradcheckError(f"Jacobian computed with forward mode mismatch over {self.comm.size} ranks: along a "
                                 f"random direction numerical {numerical:.10g}, analytical {analytical:.10g}"
                                 + common_factor([(analytical, numerical)], self.comm.size))

    def check_undefined(self, rtol: float, atol: float) -> None:
        """Check that zero gradients give zeros, and that gradients from one output at a time sum to those from all."""
        zeros = self._vector_jacobian_product([u * 0 for u in self.us])
        bad = [path for (path, _), g in zip(self.sources, zeros, strict=True) if np.any(g != 0)]
        problem = f"Expected the gradient of zero output gradients to be zero, for input {bad[0]}" if bad else ""
        raise_on_all_ranks(self.comm, problem, GradcheckError)
        counts = gather_from_all(self.comm, len(self.us))
        if counts[0] < 2 or len(set(counts)) > 1:
            return
        total = self._vector_jacobian_product(self.us)
        parts = [self._vector_jacobian_product([u], [y]) for y, u in zip(self.traced.outputs, self.us, strict=True)]
        bad = [path for number, (path, _) in enumerate(self.sources) if not np.allclose(
            sum(part[number] for part in parts), total[number], rtol=rtol, atol=atol, equal_nan=True)]
        problem = "" if not bad else (
            f"with one output's gradient at a time, the others undefined (None), the gradients of input {bad[0]} do not add "
            "up: expected backward to treat undefined output gradients as zeros")
        raise_on_all_ranks(self.comm, problem, GradcheckError)


def gradgradcheck(func: Callable[..., Any], inputs: PyTree, grad_outputs: PyTree = None, comm: Communicator | None = None, *,
                  eps: float = 1e-6, atol: float = 1e-5, rtol: float = 1e-3, gen_non_contig_grad_outputs: bool = False,
                  raise_exception: bool = True, nondet_tol: float = 0.0, check_undefined_grad: bool = True,
                  check_grad_dtypes: bool = False, check_batched_grad: bool = False, check_fwd_over_rev: bool = False,
                  check_rev_over_rev: bool = True, fast_mode: bool = False, masked: bool = False) -> bool:
    """gradcheck of func's backward pass, by the inputs and the outputs' gradients. For other arguments, see gradcheck()."""
    if isinstance(grad_outputs, Communicator) and comm is None:      # as positional argument of check_adjoint and gradcheck
        grad_outputs, comm = None, grad_outputs
    if not check_fwd_over_rev and not check_rev_over_rev:
        raise ValueError("Expected at least one of check_fwd_over_rev or check_rev_over_rev to be True")
    comm = communicator(comm)
    args = with_empty_parts(list(inputs) if isinstance(inputs, (tuple, list)) else [inputs], comm)
    sources = _sources(args)
    problem = "" if sources else ("gradgradcheck requires an input that requires grad on every rank; on a rank without a "
                                  "part pass None or an empty tensor, shape (0,), that requires grad")
    raise_on_all_ranks(comm, problem, ValueError)
    with discarded_messages():
        traced = RecordedCall(func, args, comm, GradcheckError)
    raise_on_all_ranks(comm, "" if traced.recorded else "gradgradcheck: no output requires grad, on any rank", ValueError)
    seeds = _output_gradients(traced.outputs, grad_outputs, comm, gen_non_contig_grad_outputs)

    def backward_pass(args: list[Any], output_gradients: list[Tensor]) -> list[Tensor]:
        call = RecordedCall(func, args, comm, GradcheckError)
        input_gradients = gradients(call.outputs, _sources(args), output_gradients, create_graph=True)
        return [g for g in input_gradients if g is not None] or zero_of_sent_gradients(output_gradients)

    return gradcheck(backward_pass, [args, seeds], comm, eps=eps, atol=atol, rtol=rtol, raise_exception=raise_exception,
                     nondet_tol=nondet_tol, check_undefined_grad=check_undefined_grad, check_grad_dtypes=check_grad_dtypes,
                     check_batched_grad=check_batched_grad, check_forward_ad=check_fwd_over_rev,
                     check_backward_ad=check_rev_over_rev, fast_mode=fast_mode, masked=masked)


def _sources(args: PyTree) -> list[Tensor]:
    """The inputs that require grad."""
    return [x for x in differentiable_tensors(args) if x.requires_grad]


def _output_gradients(outputs: list[Tensor], given: PyTree, comm: Communicator, non_contiguous: bool) -> list[Tensor]:
    """A gradient for each output that requires grad itself: `given`, or random numbers."""
    if given is not None:
        seeds = [s.detach().requires_grad_() for s in differentiable_tensors(given)]
        raise_on_all_ranks(comm, "" if [s.shape for s in seeds] == [y.shape for y in outputs] else
               f"grad_outputs of shapes {[tuple(s.shape) for s in seeds]} for outputs of shapes "
               f"{[tuple(y.shape) for y in outputs]}", ValueError)
        return seeds
    rng = np.random.default_rng([13, comm.rank])
    seeds = []
    for y in outputs:
        pairs = rng.standard_normal((*y.shape, 2))
        pairs = (pairs + 1j * rng.standard_normal(pairs.shape) if y.dtype.kind == "c" else pairs).astype(y.dtype)
        seeds.append(from_numpy(pairs[..., 0] if non_contiguous else pairs[..., 0].copy()).requires_grad_())
    return seeds
