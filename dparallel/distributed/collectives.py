"""torch.distributed's collectives. They write into their arguments, unrecorded; those of dparallel.distributed.nn are
recorded.

dparallel.comm compares the ranks' calls first, so a mistake on one rank is an error on all. With async_op=True a call
returns a Work as soon as all ranks have called; wait() or is_completed() writes its tensors. A backward pass that needs an
overwritten value raises an error that names the collective. On ranks outside `group` the functions warn and return None.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..autograd import Tensor
from .arguments import (
    Op,
    ReduceOp,
    array_of,
    arrays_of,
    check_like,
    check_numel,
    finish_call,
    group_of_call,
    op_and_arrays,
    split_sizes,
)
from .groups import Group, ProcessGroup, group_rank_of
from .work import Work


def all_reduce(tensor: Tensor, op: Op = ReduceOp.SUM, group: Group = None, async_op: bool = False) -> Work | None:
    """Reduce the tensor data across all ranks so that every rank gets the result."""
    pg = group_of_call(group, "all_reduce")
    if pg is None:
        return None
    with pg.raise_on_all_ranks("all_reduce"):
        name, (x,) = op_and_arrays(op, array_of(tensor, "tensor", output=True))
    handle = pg.issue("allreduce", [x], blocking=not async_op, op=name)
    return finish_call(pg, "all_reduce", handle, [tensor], lambda result: [result[0]], async_op)


def all_reduce_coalesced(tensors: Sequence[Tensor], op: Op = ReduceOp.SUM, group: Group = None,
                         async_op: bool = False) -> Work | None:
    """Reduce several tensors of one dtype across all ranks, in one message."""
    pg = group_of_call(group, "all_reduce_coalesced")
    if pg is None:
        return None
    with pg.raise_on_all_ranks("all_reduce_coalesced"):
        arrays = arrays_of(tensors, "tensors", output=True)
        if not arrays:
            raise ValueError("all_reduce_coalesced: tensors is an empty list")
        name, xs = op_and_arrays(op, *arrays)
    flat = np.concatenate([x.reshape(-1) for x in xs])
    handle = pg.issue("allreduce", [flat], blocking=not async_op, op=name, shapes=[x.shape for x in xs])
    cuts = np.cumsum([x.size for x in xs])[:-1]
    return finish_call(pg, "all_reduce_coalesced", handle, tensors, lambda result: np.split(result[0], cuts), async_op)


def reduce(tensor: Tensor, dst: int | None = None, op: Op = ReduceOp.SUM, group: Group = None, async_op: bool = False,
           group_dst: int | None = None) -> Work | None:
    """Reduce the tensor data across all ranks onto rank dst."""
    pg = group_of_call(group, "reduce")
    if pg is None:
        return None
    with pg.raise_on_all_ranks("reduce"):
        root = group_rank_of(pg, dst, group_dst, "reduce")
        here = pg.rank() == root
        name, (x,) = op_and_arrays(op, array_of(tensor, "tensor", output=here))
    handle = pg.issue("reduce", [x], blocking=not async_op, op=name, root=root)
    return finish_call(pg, "reduce", handle, [tensor] if here else [], lambda result: [result], async_op, [tensor])


def broadcast(tensor: Tensor, src: int | None = None, group: Group = None, async_op: bool = False,
              group_src: int | None = None) -> Work | None:
    """Broadcast the tensor of rank src to all ranks."""
    pg = group_of_call(group, "broadcast")
    if pg is None:
        return None
    with pg.raise_on_all_ranks("broadcast"):
        root = group_rank_of(pg, src, group_src, "broadcast")
        here = pg.rank() == root
        x = array_of(tensor, "tensor", output=not here)
    handle = pg.issue("broadcast", x if here else None, blocking=not async_op, root=root, room=x)
    return finish_call(pg, "broadcast", handle, [] if here else [tensor], lambda result: [result[0]], async_op,
                       [tensor])


def all_gather(tensor_list: list[Tensor], tensor: Tensor, group: Group = None, async_op: bool = False) -> Work | None:
    """Gather tensors from all ranks in a list: tensor_list[i] gets that of rank i."""
    pg = group_of_call(group, "all_gather")
    if pg is None:
        return None
    with pg.raise_on_all_ranks("all_gather"):
        x, outputs = array_of(tensor, "tensor"), arrays_of(tensor_list, "tensor_list", pg.size(), output=True)
        for output in outputs:
            check_like(output, x, "all_gather")
    handle = pg.issue("allgather", [x[None]], blocking=not async_op)
    return finish_call(pg, "all_gather", handle, tensor_list, lambda result: result[0], async_op)


def all_gather_into_tensor(output_tensor: Tensor, input_tensor: Tensor, group: Group = None,
                           async_op: bool = False) -> Work | None:
    """Gather tensors from all ranks in one tensor, in rank order: concatenated along dimension 0, or stacked before it."""
    pg = group_of_call(group, "all_gather_into_tensor")
    if pg is None:
        return None
    with pg.raise_on_all_ranks("all_gather_into_tensor"):
        x, output = array_of(input_tensor, "input_tensor"), array_of(output_tensor, "output_tensor", True)
        check_numel(output, x, pg.size() * x.size, "all_gather_into_tensor")
    handle = pg.issue("allgather", [x[None]], blocking=not async_op)
    return finish_call(pg, "all_gather_into_tensor", handle, [output_tensor], lambda result: [result[0]], async_op)


def all_gather_coalesced(output_tensor_lists: list[list[Tensor]], input_tensor_list: list[Tensor], group: Group = None,
                         async_op: bool = False) -> Work | None:
    """Gather several tensors of one dtype, in one message: output_tensor_lists[i] gets those of rank i."""
    pg = group_of_call(group, "all_gather_coalesced")
    if pg is None:
        return None
    with pg.raise_on_all_ranks("all_gather_coalesced"):
        xs = arrays_of(input_tensor_list, "input_tensor_list")
        if not isinstance(output_tensor_lists, (list, tuple)) or len(output_tensor_lists) != pg.size() or not xs:
            raise RuntimeError(f"all_gather_coalesced: output_tensor_lists must have a list for each of {pg.size()} ranks, "
                               "of as many tensors as input_tensor_list, which must not be empty")
        for outputs in output_tensor_lists:
            for output, x in zip(arrays_of(outputs, "output_tensor_lists", len(xs), True), xs, strict=True):
                check_like(output, x, "all_gather_coalesced")
    flat = np.concatenate([x.reshape(-1) for x in xs])
    handle = pg.issue("allgather", [flat[None]], blocking=not async_op, shapes=[x.shape for x in xs])
    cuts = np.cumsum([x.size for x in xs])[:-1]
    flat_outputs = [output for outputs in output_tensor_lists for output in outputs]
    return finish_call(pg, "all_gather_coalesced", handle, flat_outputs,
                       lambda result: [piece for row in result[0] for piece in np.split(row, cuts)], async_op,
                       list(output_tensor_lists))


def gather(tensor: Tensor, gather_list: list[Tensor] | None = None, dst: int | None = None, group: Group = None,
           async_op: bool = False, group_dst: int | None = None) -> Work | None:
    """Gather tensors of all ranks in a list on rank dst."""
    pg = group_of_call(group, "gather")
    if pg is None:
        return None
    with pg.raise_on_all_ranks("gather"):
        root = group_rank_of(pg, dst, group_dst, "gather", 0)
        x, here = array_of(tensor, "tensor"), pg.rank() == root
        outputs = list(gather_list or ())
        if outputs and not here:
            raise ValueError("Argument ``gather_list`` must NOT be specified on non-destination ranks.")
        if here and not outputs:
            raise ValueError("Argument ``gather_list`` must be specified on destination rank.")
        for output in arrays_of(outputs, "gather_list", pg.size(), output=True) if here else ():
            check_like(output, x, "gather")
    handle = pg.issue("gather", [x[None]], blocking=not async_op, root=root)
    return finish_call(pg, "gather", handle, outputs, lambda result: result, async_op)


def scatter(tensor: Tensor, scatter_list: list[Tensor] | None = None, src: int | None = None, group: Group = None,
            async_op: bool = False, group_src: int | None = None) -> Work | None:
    """Scatter a list of tensors of rank src: rank i gets scatter_list[i]."""
    pg = group_of_call(group, "scatter")
    if pg is None:
        return None
    with pg.raise_on_all_ranks("scatter"):
        root = group_rank_of(pg, src, group_src, "scatter", 0)
        x, here = array_of(tensor, "tensor", output=True), pg.rank() == root
        parts = list(scatter_list or ())
        if parts and not here:
            raise ValueError("Argument ``scatter_list`` must NOT be specified on non-source ranks.")
        if here and not parts:
            raise ValueError("Argument ``scatter_list`` must be specified on source rank.")
        for part in arrays_of(parts, "scatter_list", pg.size()) if here else ():
            check_like(part, x, "scatter")
    rows = np.stack([part.array for part in parts]) if here else None
    handle = pg.issue("scatter", rows, blocking=not async_op, root=root, room=x)
    return finish_call(pg, "scatter", handle, [tensor], lambda result: [result[0][0]], async_op)


def reduce_scatter(output: Tensor, input_list: list[Tensor], op: Op = ReduceOp.SUM, group: Group = None,
                   async_op: bool = False) -> Work | None:
    """Reduce, then scatter a list of tensors: rank i's output is the reduction of all ranks' input_list[i]."""
    pg = group_of_call(group, "reduce_scatter")
    if pg is None:
        return None
    with pg.raise_on_all_ranks("reduce_scatter"):
        parts, target = arrays_of(input_list, "input_list", pg.size()), array_of(output, "output", output=True)
        for part in parts:
            check_like(part, target, "reduce_scatter")
        name, (x,) = op_and_arrays(op, np.stack(parts))
    handle = pg.issue("reduce_scatter", [x], blocking=not async_op, op=name, sizes=[1] * pg.size())
    return finish_call(pg, "reduce_scatter", handle, [output], lambda result: [result[0][0]], async_op)


def reduce_scatter_tensor(output: Tensor, input: Tensor, op: Op = ReduceOp.SUM, group: Group = None,
                          async_op: bool = False) -> Work | None:
    """Reduce, then scatter a tensor: the result, flattened, is split evenly, and rank i gets part i."""
    pg = group_of_call(group, "reduce_scatter_tensor")
    if pg is None:
        return None
    with pg.raise_on_all_ranks("reduce_scatter_tensor"):
        target, source = array_of(output, "output", output=True), array_of(input, "input")
        check_numel(source, target, pg.size() * target.size, "reduce_scatter_tensor")
        name, (x,) = op_and_arrays(op, source.reshape(pg.size(), -1))
    handle = pg.issue("reduce_scatter", [x], blocking=not async_op, op=name, sizes=[1] * pg.size())
    return finish_call(pg, "reduce_scatter_tensor", handle, [output], lambda result: [result[0]], async_op)


def all_to_all(output_tensor_list: list[Tensor], input_tensor_list: list[Tensor], group: Group = None,
               async_op: bool = False) -> Work | None:
    """Scatter a list of tensors to all ranks: output_tensor_list[i] gets rank i's tensor for this rank, of any shape."""
    pg = group_of_call(group, "all_to_all")
    if pg is None:
        return None
    with pg.raise_on_all_ranks("all_to_all"):
        xs = arrays_of(input_tensor_list, "input_tensor_list", pg.size())
        outputs = arrays_of(output_tensor_list, "output_tensor_list", pg.size(), output=True)
        if xs[0].dtype != outputs[0].dtype:
            raise ValueError("all_to_all: Invalid usage of tensors with different dtypes: "
                             f"{xs[0].dtype}, {outputs[0].dtype}")
    sizes, expected = [x.size for x in xs], [x.size for x in outputs]
    _check_sizes(pg, "all_to_all", sizes, expected)
    flat = np.concatenate([x.reshape(-1) for x in xs])
    handle = pg.issue("alltoall", [flat], blocking=not async_op, sizes=[sizes])
    cuts = np.cumsum(expected)[:-1]
    return finish_call(pg, "all_to_all", handle, output_tensor_list, lambda result: np.split(result[0], cuts), async_op)


def all_to_all_single(output: Tensor, input: Tensor, output_split_sizes: list[int] | None = None,
                      input_split_sizes: list[int] | None = None, group: Group = None,
                      async_op: bool = False) -> Work | None:
    """Split input's rows, scatter the parts to all ranks, and concatenate the received ones in output, in rank order."""
    pg = group_of_call(group, "all_to_all_single")
    if pg is None:
        return None
    with pg.raise_on_all_ranks("all_to_all_single"):
        x, target = array_of(input, "input"), array_of(output, "output", output=True)
        sizes = split_sizes(input_split_sizes, x, pg.size())
        expected = split_sizes(output_split_sizes, target, pg.size())
        check_like(target, x, "all_to_all_single", (target.shape[0], *x.shape[1:]))
    _check_sizes(pg, "all_to_all_single", sizes, expected)
    handle = pg.issue("alltoall", [x], blocking=not async_op, sizes=[sizes])
    return finish_call(pg, "all_to_all_single", handle, [output], lambda result: [result[0]], async_op)


def _check_sizes(group: ProcessGroup, name: str, sizes: list[int], expected: list[int]) -> None:
    """Raise, on all ranks, if a rank is sent other sizes than it expects."""
    (received,) = group.communicator.alltoall_sizes([sizes])
    if group.communicator.any(received != expected):
        raise RuntimeError(f"{name}: sent and expected sizes differ: this rank receives {received} elements or rows, by "
                           f"rank, but expects {expected}")
