"""Averaged: gradients averaged over ranks as a recorded call, for grad() and create_graph.

With c_r = w_r / (sum of w), DataParallel trains on the sum over ranks of c_r * loss_r. If rank s's loss contains the
averaged gradient a = sum over r of c_r g_r, that objective's derivative reaches g_r as c_r * (sum over s of c_s u_s), with
u_s the derivative of rank s's loss with respect to a. What rank r sends back through its own graph is multiplied by c_r in
the end, so it starts from the sum of c_s u_s: the backward of the weighted mean is the weighted mean itself, to any order.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from typing import Any

import numpy as np

from autograd import Function, Tensor, as_tensor
from autograd.core.modes import GRAD

from ..comm import Communicator
from ..nests.vectors import views


class Averaged(Function):
    """Tensors of every rank -> their sum over ranks, each multiplied by its rank's share, on every rank. Collective.

    Like Sink, its backward tells the reducer that a pass comes from these calls of the module: on a rank without rows, or
    with a loss that is linear, no other node of that pass may know.
    """

    always_runs = True
    asks = True

    @classmethod
    def records(cls, node: Any, tracked: int, settings: dict[str, Any]) -> int:
        """Always where recording is on: the same on all ranks, whatever they hold."""
        node.agreed = GRAD
        return GRAD

    @staticmethod
    def forward(ctx: Any, *gs: Tensor, comm: Communicator, share: float, reducer: Any, calls: Collection[Any]) -> Any:
        """One allreduce of all of them."""
        ctx.reducer, ctx.calls = reducer, calls
        ctx.settings = {"comm": comm, "share": share, "reducer": reducer, "calls": calls}
        flat = np.concatenate([g.array.reshape(-1) for g in gs]) * share if share else np.zeros(
            sum(g.array.size for g in gs), np.result_type(*[g.array.dtype for g in gs]))
        total = comm.allreduce([flat])[0]
        return tuple(as_tensor((view if g.array.dtype.kind == "c" else view.real).astype(g.array.dtype))
                     for g, view in zip(gs, views(total, [g.array.shape for g in gs]), strict=True))

    @staticmethod
    def backward(ctx: Any, *us: Tensor) -> Any:
        """Itself."""
        for call in ctx.calls or (None,):
            ctx.reducer.begin(call)
        return Averaged.apply(*us, **ctx.settings)


def averaged(grads: Sequence[Any], likes: Sequence[Any], comm: Communicator, factor: float, weight: float, *,
             reducer: Any, calls: Collection[Any]) -> list[Any]:
    """The gradients (None: unused here) averaged over ranks; None where no rank has one. Collective.

    factor, weight: as Weights.final() gives them. likes: the parameters. FloatingPointError if a weight is not finite: the
    caller knows what that stands for.
    """
    used = np.array([g is not None for g in grads], np.float64)
    summed = comm.allreduce([np.append(used, weight)])[0]
    total = float(summed[-1])
    if not math.isfinite(total):
        raise FloatingPointError("a rank's weight is not finite")
    share = factor / (total or 1.0)
    filled = [as_tensor(np.zeros_like(p.array)) if g is None else g for g, p in zip(grads, likes, strict=True)]
    results = Averaged.apply(*filled, comm=comm, share=share, reducer=reducer, calls=tuple(calls))
    return [y if n else None for y, n in zip(results, summed[:-1], strict=True)]
