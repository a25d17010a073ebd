"""Clipping by the norm of all gradients, also if each rank has different parameters. sharding uses norm_over_ranks()."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from autograd.base.arguments import listed
from autograd.kernels.halves import converted
from autograd.nn.utils import clip_grad_norm_ as clip_local_grad_norm_
from autograd.nn.utils import clip_grads_with_norm_, get_total_norm

from ..autograd import Tensor, as_tensor
from ..comm import Communicator, communicator, on_all_ranks


def clip_grad_norm_(parameters: Tensor | Iterable[Tensor], max_norm: float, norm_type: float | str = 2.0,
                    error_if_nonfinite: bool = False, foreach: bool | None = None, *,
                    comm: Communicator | None = None) -> Tensor:
    """Scale the gradients in place so that their norm is at most max_norm. Returns the norm before, a 0-d Tensor, equal on
    every rank.

    Without comm it is nn.utils.clip_grad_norm_: correct after DataParallel's backward, because all ranks then have the same
    gradients, and for the parameters of a sharded model. With comm, each rank has different parameters (stages of a
    pipeline, shards of a layer) or none, and the norm is that of all ranks' gradients; the call is collective. A parameter
    that k ranks have counts k times.
    """
    comm = None if comm is None else communicator(comm)
    if comm is None or comm.alone:
        return clip_local_grad_norm_(parameters, max_norm, norm_type, error_if_nonfinite, foreach)
    with on_all_ranks(comm, "clip_grad_norm_"):
        tensors = [parameters] if isinstance(parameters, Tensor) else listed("clip_grad_norm_: `parameters`", parameters)
        grads = [p._grad for p in tensors if p._grad is not None and p._grad.numel()]
        for g in grads:
            if g.dtype.kind not in "fcV":
                raise RuntimeError(f"clip_grad_norm_: expected floating point or complex gradients, not {g.dtype}")
        wide_grads = [as_tensor(converted(g.array, np.result_type(g.array, np.float64))) for g in grads]
        order = float(norm_type)
        check_order(order)
        local_norm = float(get_total_norm(wide_grads, order)) if wide_grads else None
    total = as_tensor(np.asarray(norm_over_ranks(local_norm, order, comm)))
    if error_if_nonfinite and not np.isfinite(total.array):
        raise RuntimeError(f"clip_grad_norm_: the norm of order {norm_type} of all ranks' gradients is {total.item()}, so "
                           "they can't be clipped; error_if_nonfinite=False scales them all the same")
    clip_grads_with_norm_(tensors, max_norm, total, foreach)
    return total


def check_order(order: float) -> None:
    """NotImplementedError for a norm that can't be computed from those of the ranks."""
    if order == 0:
        raise NotImplementedError("clip_grad_norm_: norm_type=0 counts parameters, but here they are on several ranks")


def norm_over_ranks(local_norm: float | None, order: float, comm: Communicator) -> float:
    """The norm of order `order` of all ranks' values, from the norm of this rank's values (None: it has none).
    Collective."""
    check_order(order)
    if np.isinf(order):
        empty_norm = 0.0 if order > 0 else np.inf
        norm = np.array(empty_norm if local_norm is None else local_norm)
        return float(comm.allreduce([norm], "max" if order > 0 else "min")[0])
    return float(np.float64(comm.total(0.0 if local_norm is None else local_norm ** order)) ** (1 / order))
