"""gradcheck and gradgradcheck over ranks: every rank's inputs are moved in turn while all ranks run the function."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from autograd import GradcheckError, Tensor, from_numpy, no_grad, tensor
from autograd.transforms.forward_ad import dual_level, make_dual, unpack_dual

from ..comm import Communicator, communicator
from ..functions.pending_messages import discarded_messages
from ..pytree.tree import tree_leaves_with_path, tree_map
from .factors import common_factor
from .pullback import Traced, everyones, floating, gradients, inner, nothing_of, refuse, with_empty_parts

SHOWN = 5                            # mismatches that the error lists


class Mismatch(NamedTuple):
    """One derivative that two ways of computing it do not agree on; `element` is None along a random direction."""

    rank: int
    path: str
    element: tuple[int, ...] | None
    numerical: Any
    analytical: Any

    def __str__(self) -> str:
        where = "along a random direction" if self.element is None else f"element {list(self.element)}"
        return (f"rank {self.rank}, input {self.path}, {where}: numerical {self.numerical:.10g}, "
                f"analytical {self.analytical:.10g}")


def gradcheck(func: Callable[..., Any], inputs: Any, comm: Communicator | None = None, *, eps: float = 1e-6,
              atol: float = 1e-5, rtol: float = 1e-3, raise_exception: bool = True, nondet_tol: float = 0.0,
              check_undefined_grad: bool = True, check_grad_dtypes: bool = False, check_batched_grad: bool = False,
              check_batched_forward_grad: bool = False, check_forward_ad: bool = False, check_backward_ad: bool = True,
              fast_mode: bool = False, masked: bool | None = None) -> bool:
    """autograd.gradcheck over all ranks of comm (default: world()), which call it together: func may call collectives.

    The loss is <output, u> for a random u on each rank, summed over ranks. Each element of each rank's inputs that
    require grad is moved by eps in turn, while all ranks run func, and the change of the loss compared with what backward
    gives. inputs: this rank's arguments (pytrees of Tensors too); None where it has no part. fast_mode moves each input
    along one random direction instead. Also checked: the same from two backward passes (nondet_tol), zeros from zeros,
    and outputs without a gradient (check_undefined_grad), dtypes, forward mode (check_forward_ad).

    GradcheckError, the same on every rank, names rank, input, element and both numbers; or False is returned.

    >>> gradcheck(lambda x: AllReduce.apply(x * x, comm=comm), [x], comm)
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
    """One gradcheck: this rank's arguments, and where every rank's inputs are."""

    def __init__(self, func: Callable[..., Any], inputs: Any, comm: Communicator, eps: float, fast: bool) -> None:
        args = list(inputs) if isinstance(inputs, (tuple, list)) else [inputs]
        self.func, self.comm, self.eps, self.fast = func, comm, eps, fast
        self.args = with_empty_parts(args, comm)
        self.sources = [(path, x) for path, x in tree_leaves_with_path(self.args)
                        if isinstance(x, Tensor) and x.requires_grad and x.dtype.kind in "fcV"]
        self.rng = np.random.default_rng([11, comm.rank])
        self.layout = everyones(comm, [(path, x.shape, x.dtype.kind) for path, x in self.sources])
        if not any(self.layout):                     # the same on every rank
            raise ValueError("gradcheck expects at least one input tensor to require gradient, but none of the inputs have "
                             "requires_grad=True, on any rank.")
        if any(x.dtype.itemsize < (16 if x.dtype.kind == "c" else 8) for _, x in self.sources):
            warnings.warn("An input requires gradient and is not of double precision. This check will likely fail if all "
                          "the inputs are not of double precision floating point.", stacklevel=3)

    def trace(self) -> None:
        """Run the function once, recorded."""
        self.traced = Traced(self.func, self.args, self.comm, GradcheckError)
        self.us = [tensor(self._random(y.shape, y.dtype), dtype=y.dtype) for y in self.traced.outputs]

    def _random(self, shape: Any, dtype: Any) -> Any:
        array = np.asarray(self.rng.standard_normal(shape))
        return array + 1j * self.rng.standard_normal(shape) if dtype.kind == "c" else array

    def _pull(self, us: Sequence[Any], outputs: Sequence[Any] | None = None) -> list[Any]:
        """The gradients of <outputs, us> by the inputs, as arrays; zeros where there is none."""
        xs = [x for _, x in self.sources]
        found = gradients(self.traced.outputs if outputs is None else outputs, xs, us) if self.traced.recorded else \
            [None] * len(xs)
        wrong = next((f"the gradient of input {path} has shape {list(g.shape)}, the input {list(x.shape)}" for (path, x), g
                      in zip(self.sources, found, strict=True) if g is not None and g.shape != x.shape), "")
        refuse(self.comm, wrong, GradcheckError)
        self.dtypes = [None if g is None else g.dtype for g in found]
        return [np.zeros(x.shape, x.dtype) if g is None else g.detach().numpy().copy()
                for x, g in zip(xs, found, strict=True)]

    def analytical(self, nondet_tol: float, check_dtypes: bool) -> list[Any]:
        """What backward gives, twice the same."""
        first, second = self._pull(self.us), self._pull(self.us)
        far = max((float(np.max(np.abs(a - b), initial=0)) for a, b in zip(first, second, strict=True)), default=0.0)
        refuse(self.comm, "" if far <= nondet_tol else "Backward is not reentrant, i.e., running backward with same input "
               f"and grad_output multiple times gives different values: they differ by {far:g}, nondet_tol is "
               f"{nondet_tol:g}", GradcheckError)
        wrong = [f"the gradient of input {path} has dtype {dtype}, the input {x.dtype}" for (path, x), dtype in
                 zip(self.sources, self.dtypes, strict=True) if dtype is not None and dtype != x.dtype]
        refuse(self.comm, wrong[0] if wrong and check_dtypes else "", GradcheckError)
        return first

    # --- the loss moved ---------------------------------------------------------------------------------------------

    def _loss(self) -> float:
        """The sum of all ranks' losses."""
        with no_grad():
            return self.comm.total(inner(self.traced.again(self.args), self.us))

    def _slope(self, rank: int, number: int, direction: Any) -> float:
        """The loss's derivative along a direction of one rank's input; `direction` is read on that rank only."""
        values = []
        here = rank == self._rank
        x = self.sources[number][1] if here else None
        before = np.empty(0) if x is None else x.array.copy()
        for sign in (1, -1):
            if x is not None:
                np.copyto(x.array, before + sign * self.eps * direction)
            try:
                values.append(self._loss())
            finally:
                if x is not None:
                    np.copyto(x.array, before)
        return (values[0] - values[1]) / (2 * self.eps)

    @property
    def _rank(self) -> int:
        """This process's number among those that `layout` lists."""
        return self.comm.rank if len(self.comm.held) == 1 else 0

    def _moves(self) -> Iterator[tuple[int, int, tuple[int, ...] | None, Any]]:
        """Rank, input, element and direction of every move, the same on all ranks."""
        for rank, inputs in enumerate(self.layout):
            for number, (_, shape, kind) in enumerate(inputs):
                if self.fast:
                    mine = rank == self._rank
                    yield rank, number, None, self._random(shape, np.dtype("c16" if kind == "c" else "f8")) if mine else None
                    continue
                for element in np.ndindex(*shape):
                    for unit in (1, 1j) if kind == "c" else (1,):
                        direction = np.zeros(shape, "c16" if kind == "c" else "f8")
                        direction[element] = unit
                        yield rank, number, element, direction

    def compare(self, analytical: list[Any] | None, rtol: float, atol: float, forward: bool) -> None:
        """Move everything; GradcheckError on all ranks with the first mismatch on any."""
        wrong: list[Mismatch] = []
        along = [self._random(x.shape, x.dtype) for _, x in self.sources]
        slope = 0.0                                  # this rank's part of the loss's change along `along`
        for rank, number, element, direction in self._moves():
            if self.fast and forward and rank == self._rank:
                along[number] = direction
            found = self._slope(rank, number, direction)
            if rank != self._rank:
                continue
            share = 1.0 if element is None else float(np.vdot(direction, along[number]).real)
            slope += found * share
            if analytical is not None:
                given = float(np.vdot(direction, analytical[number]).real)
                if not np.isclose(given, found, rtol=rtol, atol=atol, equal_nan=True):
                    wrong.append(Mismatch(rank, self.sources[number][0], element, found, given))
        self._raise(wrong, "Jacobian mismatch")
        if forward:
            self._check_tangent(along, slope, rtol, atol)

    def _raise(self, wrong: list[Mismatch], title: str) -> None:
        everyone = [mismatch for theirs in everyones(self.comm, wrong) for mismatch in theirs]
        if everyone:
            lines = "".join(f"\n  {mismatch}" for mismatch in everyone[:SHOWN])
            more = f"\n  and {len(everyone) - SHOWN} more" if len(everyone) > SHOWN else ""
            hint = common_factor([(m.analytical, m.numerical) for m in everyone], self.comm.size)
            raise GradcheckError(f"{title} over {self.comm.size} places, {len(everyone)} derivatives:{lines}{more}{hint}")

    # --- other checks -----------------------------------------------------------------------------------------------

    def _check_tangent(self, along: list[Any], slope: float, rtol: float, atol: float) -> None:
        """Forward mode: the outputs' tangents along all ranks' directions at once, against differences."""
        directions = {id(x): v for (_, x), v in zip(self.sources, along, strict=True)}
        with dual_level():
            args = tree_map(self.args, lambda x: make_dual(x, tensor(directions[id(x)], dtype=x.dtype))
                           if id(x) in directions else x)
            outputs = floating(self.func(*args))
            tangents = [unpack_dual(outputs[number]).tangent for number in self.traced.leading]
            given = self.comm.total(inner(tangents, self.us))
        found = self.comm.total(slope)
        if not np.isclose(given, found, rtol=rtol, atol=atol):
            raise GradcheckError(f"Jacobian computed with forward mode mismatch over {self.comm.size} places: along a "
                                 f"random direction numerical {found:.10g}, analytical {given:.10g}"
                                 + common_factor([(given, found)], self.comm.size))

    def check_undefined(self, rtol: float, atol: float) -> None:
        """Zeros give zeros; and with one output's gradient at a time, the rest undefined, the parts add up to the whole."""
        nothing = self._pull([u * 0 for u in self.us])
        bad = [path for (path, _), g in zip(self.sources, nothing, strict=True) if np.any(g != 0)]
        refuse(self.comm, f"Expected the gradient of zero output gradients to be zero, for input {bad[0]}" if bad else "",
               GradcheckError)
        counts = everyones(self.comm, len(self.us))
        if counts[0] < 2 or len(set(counts)) > 1:
            return
        whole = self._pull(self.us)
        parts = [self._pull([u], [y]) for y, u in zip(self.traced.outputs, self.us, strict=True)]
        bad = [path for number, (path, _) in enumerate(self.sources) if not np.allclose(
            sum(part[number] for part in parts), whole[number], rtol=rtol, atol=atol, equal_nan=True)]
        refuse(self.comm, f"with one output's gradient at a time, the others undefined (None), the gradients of input "
               f"{bad[0]} do not add up: expected backward to treat undefined output gradients as zeros" if bad else "",
               GradcheckError)


def gradgradcheck(func: Callable[..., Any], inputs: Any, grad_outputs: Any = None, comm: Communicator | None = None, *,
                  eps: float = 1e-6, atol: float = 1e-5, rtol: float = 1e-3, gen_non_contig_grad_outputs: bool = False,
                  raise_exception: bool = True, nondet_tol: float = 0.0, check_undefined_grad: bool = True,
                  check_grad_dtypes: bool = False, check_batched_grad: bool = False, check_fwd_over_rev: bool = False,
                  check_rev_over_rev: bool = True, fast_mode: bool = False, masked: bool = False) -> bool:
    """gradcheck, over all ranks, of the backward pass of func: by the inputs and by the output gradients.

    grad_outputs: this rank's, one for each of its outputs; random ones by default; a communicator in its place is comm.
    The other arguments are gradcheck's.

    >>> gradgradcheck(lambda x: AllReduce.apply(x ** 3, comm=comm), [x], comm=comm)
    """
    if isinstance(grad_outputs, Communicator) and comm is None:      # where check_adjoint and gradcheck have it
        grad_outputs, comm = None, grad_outputs
    if not check_fwd_over_rev and not check_rev_over_rev:
        raise ValueError("Expected at least one of check_fwd_over_rev or check_rev_over_rev to be True")
    comm = communicator(comm)
    args = with_empty_parts(list(inputs) if isinstance(inputs, (tuple, list)) else [inputs], comm)
    sources = _sources(args)
    refuse(comm, "" if sources else "gradgradcheck needs an input that requires grad on every rank; where a rank has no "
           "part, None or an empty tensor, shape (0,), that requires grad", ValueError)
    with discarded_messages():
        traced = Traced(func, args, comm, GradcheckError)
    refuse(comm, "" if traced.recorded else "gradgradcheck: no output requires grad, on any rank", ValueError)
    seeds = _seeds(traced.outputs, grad_outputs, comm, gen_non_contig_grad_outputs)

    def backward_pass(args: list[Any], seeds: list[Any]) -> Any:
        again = Traced(func, args, comm, GradcheckError)
        found = gradients(again.outputs, _sources(args), seeds, create_graph=True)
        return [g for g in found if g is not None] or nothing_of(seeds)

    return gradcheck(backward_pass, [args, seeds], comm, eps=eps, atol=atol, rtol=rtol, raise_exception=raise_exception,
                     nondet_tol=nondet_tol, check_undefined_grad=check_undefined_grad, check_grad_dtypes=check_grad_dtypes,
                     check_batched_grad=check_batched_grad, check_forward_ad=check_fwd_over_rev,
                     check_backward_ad=check_rev_over_rev, fast_mode=fast_mode, masked=masked)


def _sources(args: Any) -> list[Tensor]:
    return [x for x in floating(args) if x.requires_grad]


def _seeds(outputs: list[Tensor], given: Any, comm: Communicator, non_contiguous: bool) -> list[Tensor]:
    """A gradient for each output, that requires grad itself."""
    if given is not None:
        seeds = [s.detach().requires_grad_() for s in floating(given)]
        refuse(comm, "" if [s.shape for s in seeds] == [y.shape for y in outputs] else
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
