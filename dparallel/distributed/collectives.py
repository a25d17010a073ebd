"""torch.distributed's collectives. They write into their argument tensors and are not recorded for backward; those of
dparallel.distributed.nn are.

They call the collectives of dparallel.comm, where the ranks' calls are compared first, so a mistake on one rank is an
error on all. With async_op=True a call returns a Work as soon as all ranks have called; its tensors are written by wait()
or is_completed().

Writing is an in-place operation that is not recorded: a backward pass that needs the old value, or that passes from the new
value to where the old one came from, raises an error that names the collective. With async_op=True that holds from the
start on. Tensors may have any memory format. Ranks outside `group` get None and a warning.
"""

from __future__ import annotations

import contextlib
import enum
import operator
import time
from collections.abc import Callable, Iterator, Sequence
from datetime import timedelta
from typing import Any, TypeAlias

import numpy as np

from autograd.core.primitive import side_effect

from ..autograd import Tensor
from ..comm import Handle
from .groups import Group, ProcessGroup, checked_timeout, get_global_rank, is_member, member_of, place_of
from .work import Work
from .writes import check_output, overwritten, write


class RedOpType(enum.Enum):
    """The operation of a reduction. AVG: for floats and complex numbers; BAND, BOR, BXOR: for integers and bools.

    Example:
        >>> import dparallel.distributed as dist
        >>> dist.ReduceOp.SUM, dist.ReduceOp.AVG
        (<RedOpType.SUM: 0>, <RedOpType.AVG: 1>)
    """

    SUM, AVG, PRODUCT, MIN, MAX, BAND, BOR, BXOR, PREMUL_SUM = range(9)

    def __repr__(self) -> str:
        return f"<RedOpType.{self.name}: {self.value}>"


ReduceOp: TypeAlias = RedOpType
reduce_op: TypeAlias = RedOpType
Array: TypeAlias = np.ndarray[Any, Any]
OP_NAMES = {ReduceOp.SUM: "sum", ReduceOp.AVG: "mean", ReduceOp.PRODUCT: "prod", ReduceOp.MIN: "min", ReduceOp.MAX: "max",
         ReduceOp.BAND: "band", ReduceOp.BOR: "bor", ReduceOp.BXOR: "bxor"}


class PremulSum:
    """A reduction: the sum of all ranks' tensors, each multiplied by its rank's factor.

    Args:
        factor (Tensor or float): What this rank's tensor is multiplied by; a Tensor has one element.

    Example:
        >>> import dparallel
        >>> import dparallel.distributed as dist
        >>> def main(comm):
        ...     dist.init_process_group(comm=comm)
        ...     x = ag.ones(2)
        ...     dist.all_reduce(x, op=dist._make_nccl_premul_sum(1.0 + dist.get_rank()))
        ...     dist.destroy_process_group()
        ...     return x.tolist()
        >>> dparallel.run_ranks(2, main)
        [[3.0, 3.0], [3.0, 3.0]]
    """

    def __init__(self, factor: Tensor | float) -> None:
        self.factor: float | Array = factor.item() if isinstance(factor, Tensor) else factor


Op: TypeAlias = ReduceOp | PremulSum


def op_name(op: Op) -> str:
    """The name that dparallel.comm has for a ReduceOp. TypeError if op is not a ReduceOp."""
    if not isinstance(op, RedOpType):
        raise TypeError(f"op={op!r} is not a ReduceOp, such as ReduceOp.SUM")
    if op is ReduceOp.PREMUL_SUM:
        raise TypeError("ReduceOp.PREMUL_SUM needs a factor: pass _make_nccl_premul_sum(factor)")
    return OP_NAMES[op]


def _op_and_arrays(op: Op, *arrays: Array) -> tuple[str, list[Array]]:
    """The name of a reduction, and the arrays (of one dtype) to be reduced. Errors are PyTorch's."""
    dtype = arrays[0].dtype
    if isinstance(op, PremulSum):
        return "sum", [(x * np.asarray(op.factor)).astype(dtype) for x in arrays]
    name = op_name(op)
    if dtype.kind == "c" and op not in (ReduceOp.SUM, ReduceOp.AVG, ReduceOp.PRODUCT):
        raise ValueError(f"all_reduce does not support {op} on complex tensors")
    if name == "mean" and dtype.kind in "biu":
        raise RuntimeError(f"ReduceOp.AVG: the mean of {dtype} can't be cast to {dtype}; convert to floats first")
    if name in ("band", "bor", "bxor") and dtype.kind not in "biu":
        raise RuntimeError(f"Cannot use ReduceOp.{op.name} with non-integral dtype {dtype}")
    return name, list(arrays)


def array_of(tensor: Tensor, name: str, output: bool = False) -> Array:
    """The array of a tensor. TypeError, with the name of the argument, if it is not a Tensor; ValueError or RuntimeError if
    it is an output and can't be written to."""
    if not isinstance(tensor, Tensor):
        raise TypeError(f"Invalid function argument. Expected parameter `{name}` of type Tensor but got {type(tensor)} "
                        "instead.")
    if output:
        check_output(tensor, name)
    return tensor.array


def arrays_of(tensors: Sequence[Tensor], name: str, count: int | None = None, output: bool = False) -> list[Array]:
    """The arrays of a list of `count` tensors of one dtype. TypeError, RuntimeError or ValueError with the argument's
    name."""
    if not isinstance(tensors, (list, tuple)) or not all(isinstance(x, Tensor) for x in tensors):
        raise TypeError(f"Invalid function argument. Expected parameter `{name}` of type List[Tensor] but got "
                        f"{type(tensors)} of {sorted({type(x).__name__ for x in tensors})}" if isinstance(tensors, list)
                        else f"{name} is a list of Tensors, not {type(tensors)}")
    if count is not None and len(tensors) != count:
        raise RuntimeError(f"{name}: a list of {count} tensors, one for each rank of the group, not {len(tensors)}")
    if len({x.dtype for x in tensors}) > 1:
        raise ValueError(f"{name}: Invalid usage of tensors with different dtypes: "
                         f"{', '.join(sorted({str(x.dtype) for x in tensors}))}")
    return [array_of(x, name, output) for x in tensors]


def check_like(array: Array, like: Array, name: str, shape: Sequence[int] | None = None) -> None:
    """Raise unless an array to be written has the dtype of `like`, and its shape (or `shape`)."""
    expected = like.shape if shape is None else shape
    if array.dtype != like.dtype:
        raise ValueError(f"{name}: Invalid usage of tensors with different dtypes: {array.dtype}, {like.dtype}")
    if tuple(array.shape) != tuple(expected):
        raise RuntimeError(f"{name}: invalid tensor size (expected {tuple(expected)}, got {tuple(array.shape)})")


def check_numel(array: Array, like: Array, count: int, name: str) -> None:
    """Raise unless an array to be written has the dtype of `like` and `count` elements."""
    if array.dtype != like.dtype:
        raise ValueError(f"{name}: Invalid usage of tensors with different dtypes: {array.dtype}, {like.dtype}")
    if array.size != count:
        raise RuntimeError(f"{name}: invalid tensor size (expected {count} elements, got {array.size} in {array.shape})")


def group_of_call(group: Group, name: str) -> ProcessGroup | None:
    """The group of a collective that is called; None if this rank is not in it. Completed Works are dropped."""
    side_effect(f"{name} of dparallel.distributed")
    pg = member_of(group, name)
    if pg is not None and pg.pending:
        pg.pending = [work for work in pg.pending if not work.is_completed()]
    return pg


def finish_call(group: ProcessGroup, name: str, handle: Handle, outputs: Sequence[Tensor],
                pieces: Callable[[Any], Sequence[Array]], async_op: bool, returned: list[Any] | None = None) -> Work | None:
    """The Work of a collective. Unless async_op, complete earlier ones and this one, and return None.

    outputs: the tensors that are written on this rank. pieces: a function of the handle's value, the array for each.
    returned: the Work's result(). Default: None, the outputs.
    """
    writer = f"{name} of dparallel.distributed"

    def finish(value: Any) -> list[Any]:
        for output, piece in zip(outputs, pieces(value) if outputs else (), strict=True):
            overwritten(output, writer)
            write(output, piece)
        return list(outputs) if returned is None else returned

    work = Work(handle, finish)
    if async_op:
        for output in outputs:
            overwritten(output, f"a pending {writer}")
        group.pending.append(work)
        return work
    group.settle()
    work.wait()
    return None


def all_reduce(tensor: Tensor, op: Op = ReduceOp.SUM, group: Group = None, async_op: bool = False) -> Work | None:
    """Reduce the tensors of all ranks, of one dtype and shape, into each of them.

    Args:
        tensor (Tensor): Of the same shape and dtype on all ranks; it is overwritten.
        op (ReduceOp): The operation: SUM, AVG, PRODUCT, MIN, MAX, BAND, BOR, BXOR, or _make_nccl_premul_sum().
            Default: SUM.
        group (ProcessGroup): The ranks that take part. Default: None, the default group.
        async_op (bool): True: do not wait, and return a Work. Default: False.

    Returns:
        Work or None: The Work if async_op; None otherwise, and on ranks outside the group.

    Raises:
        TypeError: an argument is not a Tensor, or not a list of Tensors, or op is not a ReduceOp.
        ValueError: an order or bits of complex numbers are asked for, or the group was destroyed.
        RuntimeError: the operation has no result in this dtype: AVG of integers, BAND, BOR or BXOR of floats.
        CollectiveError: the ranks' calls differ, for example in dtype, shape or operation.

    Example:
        >>> import dparallel
        >>> import dparallel.distributed as dist
        >>> def main(comm):
        ...     dist.init_process_group(comm=comm)
        ...     x = ag.tensor([1.0, 2.0]) * (1 + dist.get_rank())
        ...     dist.all_reduce(x, op=dist.ReduceOp.AVG)
        ...     dist.destroy_process_group()
        ...     return x.tolist()
        >>> dparallel.run_ranks(2, main)
        [[1.5, 3.0], [1.5, 3.0]]
    """
    pg = group_of_call(group, "all_reduce")
    if pg is None:
        return None
    with pg.raise_on_all_ranks("all_reduce"):
        name, (x,) = _op_and_arrays(op, array_of(tensor, "tensor", output=True))
    handle = pg.issue("allreduce", [x], blocking=not async_op, op=name)
    return finish_call(pg, "all_reduce", handle, [tensor], lambda result: [result[0]], async_op)


def all_reduce_coalesced(tensors: Sequence[Tensor], op: Op = ReduceOp.SUM, group: Group = None,
                         async_op: bool = False) -> Work | None:
    """all_reduce of several tensors of one dtype, in one message.

    Args:
        tensors (list of Tensor): Of one dtype; shapes as on the other ranks. They are overwritten.
        op (ReduceOp): The operation: SUM, AVG, PRODUCT, MIN, MAX, BAND, BOR, BXOR, or _make_nccl_premul_sum().
            Default: SUM.
        group (ProcessGroup): The ranks that take part. Default: None, the default group.
        async_op (bool): True: do not wait, and return a Work. Default: False.

    Returns:
        Work or None: The Work if async_op; None otherwise, and on ranks outside the group.

    Raises:
        TypeError: tensors is not a list of Tensors, or op is not a ReduceOp.
        ValueError: the list is empty, or has several dtypes.
        RuntimeError: the operation has no result in this dtype: AVG of integers, BAND, BOR or BXOR of floats.
        CollectiveError: the ranks' calls differ, for example in dtype, shape or operation.

    Example:
        >>> import dparallel
        >>> import dparallel.distributed as dist
        >>> def main(comm):
        ...     dist.init_process_group(comm=comm)
        ...     x, y = ag.ones(2), ag.full((1, 1), 3.0)
        ...     dist.all_reduce_coalesced([x, y])
        ...     dist.destroy_process_group()
        ...     return x.tolist(), y.tolist()
        >>> dparallel.run_ranks(2, main)
        [([2.0, 2.0], [[6.0]]), ([2.0, 2.0], [[6.0]])]
    """
    pg = group_of_call(group, "all_reduce_coalesced")
    if pg is None:
        return None
    with pg.raise_on_all_ranks("all_reduce_coalesced"):
        arrays = arrays_of(tensors, "tensors", output=True)
        if not arrays:
            raise ValueError("all_reduce_coalesced: tensors is an empty list")
        name, xs = _op_and_arrays(op, *arrays)
    flat = np.concatenate([x.reshape(-1) for x in xs])
    handle = pg.issue("allreduce", [flat], blocking=not async_op, op=name, shapes=[x.shape for x in xs])
    cuts = np.cumsum([x.size for x in xs])[:-1]
    return finish_call(pg, "all_reduce_coalesced", handle, tensors, lambda result: np.split(result[0], cuts), async_op)


def reduce(tensor: Tensor, dst: int | None = None, op: Op = ReduceOp.SUM, group: Group = None, async_op: bool = False,
           group_dst: int | None = None) -> Work | None:
    """Reduce the tensors of all ranks into that of rank dst (a global rank; group_dst: a group rank).

    Args:
        tensor (Tensor): Of the same shape and dtype on all ranks; that of the receiver is overwritten.
        dst (int): The global rank of the receiver.
        op (ReduceOp): The operation: SUM, AVG, PRODUCT, MIN, MAX, BAND, BOR, BXOR, or _make_nccl_premul_sum().
            Default: SUM.
        group (ProcessGroup): The ranks that take part. Default: None, the default group.
        async_op (bool): True: do not wait, and return a Work. Default: False.
        group_dst (int): The group rank of the receiver, in place of dst. Default: None.

    Returns:
        Work or None: The Work if async_op; None otherwise, and on ranks outside the group.

    Raises:
        TypeError: an argument is not a Tensor, or not a list of Tensors, or op is not a ReduceOp.
        ValueError: the other rank is given twice or not at all, or is not in the group.
        RuntimeError: the operation has no result in this dtype: AVG of integers, BAND, BOR or BXOR of floats.
        CollectiveError: the ranks' calls differ, for example in dtype, shape or operation.

    Example:
        >>> import dparallel
        >>> import dparallel.distributed as dist
        >>> def main(comm):
        ...     dist.init_process_group(comm=comm)
        ...     x = ag.tensor([1, 2]) * (1 + dist.get_rank())
        ...     dist.reduce(x, dst=0)                    # rank 1 keeps its own
        ...     dist.destroy_process_group()
        ...     return x.tolist()
        >>> dparallel.run_ranks(2, main)
        [[3, 6], [2, 4]]
    """
    pg = group_of_call(group, "reduce")
    if pg is None:
        return None
    with pg.raise_on_all_ranks("reduce"):
        root = place_of(pg, dst, group_dst, "reduce")
        here = pg.rank() == root
        name, (x,) = _op_and_arrays(op, array_of(tensor, "tensor", output=here))
    handle = pg.issue("reduce", [x], blocking=not async_op, op=name, root=root)
    return finish_call(pg, "reduce", handle, [tensor] if here else [], lambda result: [result], async_op, [tensor])


def broadcast(tensor: Tensor, src: int | None = None, group: Group = None, async_op: bool = False,
              group_src: int | None = None) -> Work | None:
    """Write the tensor of rank src (a global rank; group_src: a group rank) into those of all ranks.

    Args:
        tensor (Tensor): Of the same number of elements and dtype on all ranks; overwritten on those that receive.
        src (int): The global rank of the sender.
        group (ProcessGroup): The ranks that take part. Default: None, the default group.
        async_op (bool): True: do not wait, and return a Work. Default: False.
        group_src (int): The group rank of the sender, in place of src. Default: None.

    Returns:
        Work or None: The Work if async_op; None otherwise, and on ranks outside the group.

    Raises:
        TypeError: an argument is not a Tensor, or not a list of Tensors.
        ValueError: the other rank is given twice or not at all, or is not in the group.
        RuntimeError: the sender's tensor has another dtype or number of elements.

    Example:
        >>> import dparallel
        >>> import dparallel.distributed as dist
        >>> def main(comm):
        ...     dist.init_process_group(comm=comm)
        ...     x = ag.tensor([1.0, 2.0]) * dist.get_rank()
        ...     dist.broadcast(x, src=1)
        ...     dist.destroy_process_group()
        ...     return x.tolist()
        >>> dparallel.run_ranks(2, main)
        [[1.0, 2.0], [1.0, 2.0]]
    """
    pg = group_of_call(group, "broadcast")
    if pg is None:
        return None
    with pg.raise_on_all_ranks("broadcast"):
        root = place_of(pg, src, group_src, "broadcast")
        here = pg.rank() == root
        x = array_of(tensor, "tensor", output=not here)
    handle = pg.issue("broadcast", x if here else None, blocking=not async_op, root=root, room=x)
    return finish_call(pg, "broadcast", handle, [] if here else [tensor], lambda result: [result[0]], async_op,
                       [tensor])


def all_gather(tensor_list: list[Tensor], tensor: Tensor, group: Group = None, async_op: bool = False) -> Work | None:
    """Write the tensor of each rank i, all of one dtype and shape, into tensor_list[i].

    Args:
        tensor_list (list of Tensor): One for each rank, of tensor's shape and dtype; they are overwritten.
        tensor (Tensor): What this rank sends, of the same shape and dtype on all ranks.
        group (ProcessGroup): The ranks that take part. Default: None, the default group.
        async_op (bool): True: do not wait, and return a Work. Default: False.

    Returns:
        Work or None: The Work if async_op; None otherwise, and on ranks outside the group.

    Raises:
        TypeError: an argument is not a Tensor, or not a list of Tensors.
        RuntimeError: an output has another shape, or the list has not a tensor for each rank.
        ValueError: the tensors have several dtypes, or there is no default group.
        CollectiveError: the ranks' calls differ, for example in dtype, shape or operation.

    Example:
        >>> import dparallel
        >>> import dparallel.distributed as dist
        >>> def main(comm):
        ...     dist.init_process_group(comm=comm)
        ...     found = [ag.zeros(2) for _ in range(2)]
        ...     dist.all_gather(found, ag.full((2,), 5.0 + dist.get_rank()))
        ...     dist.destroy_process_group()
        ...     return [x.tolist() for x in found]
        >>> dparallel.run_ranks(2, main)
        [[[5.0, 5.0], [6.0, 6.0]], [[5.0, 5.0], [6.0, 6.0]]]
    """
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
    """Write the tensors of all ranks into output_tensor, in rank order: concatenated along dimension 0, or stacked in a
    new first dimension.

    Args:
        output_tensor (Tensor): Has input_tensor's dtype, and as many elements as the inputs of all ranks; it is
            overwritten.
        input_tensor (Tensor): What this rank sends, of the same shape and dtype on all ranks.
        group (ProcessGroup): The ranks that take part. Default: None, the default group.
        async_op (bool): True: do not wait, and return a Work. Default: False.

    Returns:
        Work or None: The Work if async_op; None otherwise, and on ranks outside the group.

    Raises:
        TypeError: an argument is not a Tensor, or not a list of Tensors.
        ValueError: the dtypes differ, or there is no default group.
        RuntimeError: output_tensor has another number of elements.
        CollectiveError: the ranks' calls differ, for example in dtype, shape or operation.

    Example:
        >>> import dparallel
        >>> import dparallel.distributed as dist
        >>> def main(comm):
        ...     dist.init_process_group(comm=comm)
        ...     found = ag.zeros(4)
        ...     dist.all_gather_into_tensor(found, ag.full((2,), 5.0 + dist.get_rank()))
        ...     dist.destroy_process_group()
        ...     return found.tolist()
        >>> dparallel.run_ranks(2, main)
        [[5.0, 5.0, 6.0, 6.0], [5.0, 5.0, 6.0, 6.0]]
    """
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
    """all_gather of several tensors of one dtype, in one message: output_tensor_lists[i] gets the tensors of rank i.

    Args:
        output_tensor_lists (list of list of Tensor): For each rank, tensors of the shapes of input_tensor_list;
            they are overwritten.
        input_tensor_list (list of Tensor): What this rank sends, of one dtype.
        group (ProcessGroup): The ranks that take part. Default: None, the default group.
        async_op (bool): True: do not wait, and return a Work. Default: False.

    Returns:
        Work or None: The Work if async_op; None otherwise, and on ranks outside the group.

    Raises:
        TypeError: an argument is not a Tensor, or not a list of Tensors.
        RuntimeError: an output has another shape, or the list has not a tensor for each rank.
        ValueError: the tensors have several dtypes, or there is no default group.
        CollectiveError: the ranks' calls differ, for example in dtype, shape or operation.

    Example:
        >>> import dparallel
        >>> import dparallel.distributed as dist
        >>> def main(comm):
        ...     dist.init_process_group(comm=comm)
        ...     sent = [ag.full((2,), 5.0 + dist.get_rank()), ag.ones(1)]
        ...     found = [[ag.zeros(2), ag.zeros(1)] for _ in range(2)]
        ...     dist.all_gather_coalesced(found, sent)
        ...     dist.destroy_process_group()
        ...     return [[x.tolist() for x in row] for row in found]
        >>> dparallel.run_ranks(2, main)
        [[[[5.0, 5.0], [1.0]], [[6.0, 6.0], [1.0]]], [[[5.0, 5.0], [1.0]], [[6.0, 6.0], [1.0]]]]
    """
    pg = group_of_call(group, "all_gather_coalesced")
    if pg is None:
        return None
    with pg.raise_on_all_ranks("all_gather_coalesced"):
        xs = arrays_of(input_tensor_list, "input_tensor_list")
        if not isinstance(output_tensor_lists, (list, tuple)) or len(output_tensor_lists) != pg.size() or not xs:
            raise RuntimeError(f"all_gather_coalesced: output_tensor_lists has a list for each of {pg.size()} ranks, "
                               "of as many tensors as input_tensor_list, which is not empty")
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
    """Write the tensors of all ranks into gather_list of rank dst (default 0); other ranks pass None.

    Args:
        tensor (Tensor): What this rank sends, of the same shape and dtype on all ranks.
        gather_list (list of Tensor): On the receiver one for each rank, of that shape and dtype, which are
            overwritten; None on the others.
        dst (int): The global rank of the receiver. Default: None, 0.
        group (ProcessGroup): The ranks that take part. Default: None, the default group.
        async_op (bool): True: do not wait, and return a Work. Default: False.
        group_dst (int): The group rank of the receiver, in place of dst. Default: None.

    Returns:
        Work or None: The Work if async_op; None otherwise, and on ranks outside the group.

    Raises:
        TypeError: an argument is not a Tensor, or not a list of Tensors.
        ValueError: gather_list is missing on the receiver or given on another rank, a dtype differs, or the rank is
            given twice or not in the group.
        RuntimeError: an output has another shape, or the list has not a tensor for each rank.
        CollectiveError: the ranks' calls differ, for example in dtype, shape or operation.

    Example:
        >>> import dparallel
        >>> import dparallel.distributed as dist
        >>> def main(comm):
        ...     dist.init_process_group(comm=comm)
        ...     found = [ag.zeros(1), ag.zeros(1)] if dist.get_rank() == 0 else None
        ...     dist.gather(ag.ones(1) * dist.get_rank(), found, dst=0)
        ...     dist.destroy_process_group()
        ...     return found and [x.tolist() for x in found]
        >>> dparallel.run_ranks(2, main)
        [[[0.0], [1.0]], None]
    """
    pg = group_of_call(group, "gather")
    if pg is None:
        return None
    with pg.raise_on_all_ranks("gather"):
        root = place_of(pg, dst, group_dst, "gather", 0)
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
    """Write scatter_list[i] of rank src (default 0) into rank i's tensor; other ranks pass None.

    Args:
        tensor (Tensor): Of the same shape and dtype on all ranks; it is overwritten.
        scatter_list (list of Tensor): On the sender one for each rank, of that shape and dtype; None on the others.
        src (int): The global rank of the sender. Default: None, 0.
        group (ProcessGroup): The ranks that take part. Default: None, the default group.
        async_op (bool): True: do not wait, and return a Work. Default: False.
        group_src (int): The group rank of the sender, in place of src. Default: None.

    Returns:
        Work or None: The Work if async_op; None otherwise, and on ranks outside the group.

    Raises:
        TypeError: an argument is not a Tensor, or not a list of Tensors.
        ValueError: scatter_list is missing on the sender or given on another rank, a dtype differs, or the rank is
            given twice or not in the group.
        RuntimeError: a part has another shape, or the list has not a tensor for each rank.

    Example:
        >>> import dparallel
        >>> import dparallel.distributed as dist
        >>> def main(comm):
        ...     dist.init_process_group(comm=comm)
        ...     parts = [ag.tensor([1.0]), ag.tensor([2.0])] if dist.get_rank() == 0 else None
        ...     x = ag.zeros(1)
        ...     dist.scatter(x, parts, src=0)
        ...     dist.destroy_process_group()
        ...     return x.tolist()
        >>> dparallel.run_ranks(2, main)
        [[1.0], [2.0]]
    """
    pg = group_of_call(group, "scatter")
    if pg is None:
        return None
    with pg.raise_on_all_ranks("scatter"):
        root = place_of(pg, src, group_src, "scatter", 0)
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
    """Reduce all ranks' input_list[i] into rank i's output.

    Args:
        output (Tensor): Overwritten with this rank's part; of the same shape and dtype on all ranks.
        input_list (list of Tensor): One for each rank, of output's shape and dtype.
        op (ReduceOp): The operation: SUM, AVG, PRODUCT, MIN, MAX, BAND, BOR, BXOR, or _make_nccl_premul_sum().
            Default: SUM.
        group (ProcessGroup): The ranks that take part. Default: None, the default group.
        async_op (bool): True: do not wait, and return a Work. Default: False.

    Returns:
        Work or None: The Work if async_op; None otherwise, and on ranks outside the group.

    Raises:
        TypeError: an argument is not a Tensor, or not a list of Tensors, or op is not a ReduceOp.
        RuntimeError: an output has another shape, or the list has not a tensor for each rank.
        ValueError: the tensors have several dtypes, or there is no default group.
        RuntimeError: the operation has no result in this dtype: AVG of integers, BAND, BOR or BXOR of floats.
        CollectiveError: the ranks' calls differ, for example in dtype, shape or operation.

    Example:
        >>> import dparallel
        >>> import dparallel.distributed as dist
        >>> def main(comm):
        ...     dist.init_process_group(comm=comm)
        ...     x = ag.zeros(1)
        ...     dist.reduce_scatter(x, [ag.tensor([1.0]), ag.tensor([10.0])])
        ...     dist.destroy_process_group()
        ...     return x.tolist()
        >>> dparallel.run_ranks(2, main)
        [[2.0], [20.0]]
    """
    pg = group_of_call(group, "reduce_scatter")
    if pg is None:
        return None
    with pg.raise_on_all_ranks("reduce_scatter"):
        parts, target = arrays_of(input_list, "input_list", pg.size()), array_of(output, "output", output=True)
        for part in parts:
            check_like(part, target, "reduce_scatter")
        name, (x,) = _op_and_arrays(op, np.stack(parts))
    handle = pg.issue("reduce_scatter", [x], blocking=not async_op, op=name, sizes=[1] * pg.size())
    return finish_call(pg, "reduce_scatter", handle, [output], lambda result: [result[0][0]], async_op)


def reduce_scatter_tensor(output: Tensor, input: Tensor, op: Op = ReduceOp.SUM, group: Group = None,
                          async_op: bool = False) -> Work | None:
    """Reduce all ranks' inputs, and split the result, flattened, evenly: the i-th part is rank i's output.

    Args:
        output (Tensor): Overwritten with this rank's part; of the same shape and dtype on all ranks.
        input (Tensor): Of output's dtype, with as many elements as the outputs of all ranks.
        op (ReduceOp): The operation: SUM, AVG, PRODUCT, MIN, MAX, BAND, BOR, BXOR, or _make_nccl_premul_sum().
            Default: SUM.
        group (ProcessGroup): The ranks that take part. Default: None, the default group.
        async_op (bool): True: do not wait, and return a Work. Default: False.

    Returns:
        Work or None: The Work if async_op; None otherwise, and on ranks outside the group.

    Raises:
        TypeError: an argument is not a Tensor, or not a list of Tensors, or op is not a ReduceOp.
        ValueError: the dtypes differ, or there is no default group.
        RuntimeError: input has another number of elements, or the operation has no result in this dtype.
        CollectiveError: the ranks' calls differ, for example in dtype, shape or operation.

    Example:
        >>> import dparallel
        >>> import dparallel.distributed as dist
        >>> def main(comm):
        ...     dist.init_process_group(comm=comm)
        ...     x = ag.zeros(1)
        ...     dist.reduce_scatter_tensor(x, ag.tensor([1.0, 10.0]))
        ...     dist.destroy_process_group()
        ...     return x.tolist()
        >>> dparallel.run_ranks(2, main)
        [[2.0], [20.0]]
    """
    pg = group_of_call(group, "reduce_scatter_tensor")
    if pg is None:
        return None
    with pg.raise_on_all_ranks("reduce_scatter_tensor"):
        target, source = array_of(output, "output", output=True), array_of(input, "input")
        check_numel(source, target, pg.size() * target.size, "reduce_scatter_tensor")
        name, (x,) = _op_and_arrays(op, source.reshape(pg.size(), -1))
    handle = pg.issue("reduce_scatter", [x], blocking=not async_op, op=name, sizes=[1] * pg.size())
    return finish_call(pg, "reduce_scatter_tensor", handle, [output], lambda result: [result[0]], async_op)


def all_to_all(output_tensor_list: list[Tensor], input_tensor_list: list[Tensor], group: Group = None,
               async_op: bool = False) -> Work | None:
    """Send input_tensor_list[i] to rank i, and write the tensor that rank i sends into output_tensor_list[i]. Shapes may
    differ between pairs of ranks.

    Args:
        output_tensor_list (list of Tensor): One for each rank, of the number of elements that it sends; they are
            overwritten.
        input_tensor_list (list of Tensor): One for each rank, all of one dtype.
        group (ProcessGroup): The ranks that take part. Default: None, the default group.
        async_op (bool): True: do not wait, and return a Work. Default: False.

    Returns:
        Work or None: The Work if async_op; None otherwise, and on ranks outside the group.

    Raises:
        TypeError: an argument is not a Tensor, or not a list of Tensors.
        ValueError: the dtypes differ, or there is no default group.
        RuntimeError: a list has not a tensor for each rank, or a rank is sent another number of elements than it
            has room for.

    Example:
        >>> import dparallel
        >>> import dparallel.distributed as dist
        >>> def main(comm):
        ...     dist.init_process_group(comm=comm)
        ...     sent = [ag.tensor([10.0 * dist.get_rank() + to]) for to in range(2)]
        ...     found = [ag.zeros(1), ag.zeros(1)]
        ...     dist.all_to_all(found, sent)
        ...     dist.destroy_process_group()
        ...     return [x.item() for x in found]
        >>> dparallel.run_ranks(2, main)
        [[0.0, 10.0], [1.0, 11.0]]
    """
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
    """Split input along its first dimension, evenly or in input_split_sizes, send the i-th part to rank i, and write the
    received parts, in rank order, into output.

    Args:
        output (Tensor): Of input's dtype and its shape but for the number of rows; it is overwritten.
        input (Tensor): Has one dimension or more; its rows are sent.
        output_split_sizes (list of int): How many rows come from each rank. Default: None, the same number.
        input_split_sizes (list of int): How many rows go to each rank. Default: None, the same number.
        group (ProcessGroup): The ranks that take part. Default: None, the default group.
        async_op (bool): True: do not wait, and return a Work. Default: False.

    Returns:
        Work or None: The Work if async_op; None otherwise, and on ranks outside the group.

    Raises:
        TypeError: an argument is not a Tensor, or not a list of Tensors.
        ValueError: the dtypes differ, or there is no default group.
        RuntimeError: the sizes do not sum to the rows, the shapes do not fit, or a rank is sent other rows than it
            has room for.

    Example:
        >>> import dparallel
        >>> import dparallel.distributed as dist
        >>> def main(comm):
        ...     dist.init_process_group(comm=comm)
        ...     found = ag.zeros(2)
        ...     dist.all_to_all_single(found, ag.arange(2.0) + 10 * dist.get_rank())
        ...     dist.destroy_process_group()
        ...     return found.tolist()
        >>> dparallel.run_ranks(2, main)
        [[0.0, 10.0], [1.0, 11.0]]
    """
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


def split_sizes(sizes: Sequence[int] | None, x: Array, count: int) -> list[int]:
    """The number of rows for each rank: `sizes`, or an even split. RuntimeError if they do not sum to the array's rows."""
    if not x.ndim:
        raise RuntimeError("all_to_all_single: a 0-d tensor has no rows to split")
    if sizes is None or (isinstance(sizes, Sequence) and not len(sizes)):
        if x.shape[0] % count:
            raise RuntimeError(f"Tensor's dim 0 ({x.shape[0]}) does not divide equally across group size {count}")
        return [x.shape[0] // count] * count
    try:
        whole = [operator.index(size) for size in sizes]
    except TypeError:
        raise TypeError(f"split sizes are whole numbers of rows, one for each of {count} ranks, not {sizes!r}") from None
    if len(whole) != count or sum(whole) != x.shape[0] or min(whole) < 0:
        raise RuntimeError(f"Split sizes doesn't match total dim 0 size: {whole}, for {count} ranks and {x.shape[0]} rows")
    return whole


def _check_sizes(group: ProcessGroup, name: str, sizes: list[int], expected: list[int]) -> None:
    """Raise, on all ranks, if a rank is sent other sizes than it expects."""
    (received,) = group.communicator.alltoall_sizes([sizes])
    if group.communicator.any(received != expected):
        raise RuntimeError(f"{name}: what ranks send is not what others have room for: this rank is sent {received} "
                           f"elements or rows, by rank, and has room for {expected}")


def barrier(group: Group = None, async_op: bool = False, device_ids: object = None,
            timeout: timedelta | None = None) -> Work | None:
    """Wait until all ranks of the group have called barrier(). device_ids: for the backend "nccl" only, and ignored.

    Args:
        group (ProcessGroup): The ranks that take part. Default: None, the default group.
        async_op (bool): True: do not wait, and return a Work. Default: False.
        device_ids: Ignored with the backend "nccl"; None with others.
        timeout (timedelta): How long to wait. Default: None, until the group's timeout.

    Returns:
        Work or None: The Work if async_op; None otherwise, and on ranks outside the group.

    Raises:
        RuntimeError: device_ids with another backend, or the time is over.
        ValueError: there is no default group, or the group was destroyed.

    Example:
        >>> import dparallel
        >>> import dparallel.distributed as dist
        >>> def main(comm):
        ...     dist.init_process_group(comm=comm)
        ...     dist.barrier()
        ...     dist.destroy_process_group()
        ...     return 'together'
        >>> dparallel.run_ranks(2, main)
        ['together', 'together']
    """
    pg = group_of_call(group, "barrier")
    if pg is None:
        return None
    with pg.raise_on_all_ranks("barrier"):
        checked_timeout(timeout)
        if device_ids is not None and pg.backend != "nccl":
            raise RuntimeError(f"Function argument device_ids not supported for the selected backend {pg.backend}")
    handle = pg.issue("allreduce", [np.zeros(1, np.int8)], blocking=False)
    if async_op or timeout is None:
        return finish_call(pg, "barrier", handle, [], lambda result: [], async_op)
    Work(handle, lambda result: []).wait(timeout)
    return None


def monitored_barrier(group: Group = None, timeout: timedelta | None = None, wait_all_ranks: bool = False) -> None:
    """A barrier that raises RuntimeError, on all ranks, with the name of a rank that does not call it within timeout (the
    group's by default); the late rank raises when it calls. wait_all_ranks: name all late ranks.

    Args:
        group (ProcessGroup): The ranks that take part. Default: None, the default group.
        timeout (timedelta): How long to wait. Default: None, the group's timeout.
        wait_all_ranks (bool): Whether the error names all late ranks, or the first. Default: False.

    Raises:
        RuntimeError: a rank did not come within the timeout.
        ValueError: there is no default group, or the group was destroyed.

    Example:
        >>> import dparallel
        >>> import dparallel.distributed as dist
        >>> def main(comm):
        ...     dist.init_process_group(comm=comm)
        ...     dist.monitored_barrier()
        ...     dist.destroy_process_group()
        ...     return 'together'
        >>> dparallel.run_ranks(2, main)
        ['together', 'together']
    """
    pg = group_of_call(group, "monitored_barrier")
    if pg is None:
        return
    comm, tag = pg.communicator, pg.communicator.max_tag
    limit = (pg.timeout if timeout is None else timeout).total_seconds()
    if comm.rank:
        comm.send(np.zeros(1, np.int8), 0, tag)
        text = comm.recv(0, tag).tobytes().decode()
        if text:
            raise RuntimeError(text)
        return
    deadline = time.monotonic() + limit
    missing: list[int] = []
    waiting = {place: comm.start_recv(place, tag) for place in range(1, comm.size)}
    for place, handle in waiting.items():
        while not handle.done() and time.monotonic() < deadline and (wait_all_ranks or not missing):
            time.sleep(1e-3)
        if not handle.done():
            missing.append(place)
    text = "" if not missing else (
        f"monitored_barrier: rank{'s' * (len(missing) > 1)} {', '.join(str(get_global_rank(group, p)) for p in missing)} "
        f"did not come within {limit:g} s")
    if missing and not wait_all_ranks:
        text = f"monitored_barrier: rank {get_global_rank(group, missing[0])} did not come within {limit:g} s"
    for place, handle in waiting.items():
        comm.send(np.frombuffer(text.encode(), np.uint8), place, tag)    # also to late ranks
        if place not in missing:
            handle.wait()
    pg.late += [waiting[place] for place in missing]
    if text:
        raise RuntimeError(text)


class Coalesced:
    """The value of coalescing_manager(): the Works that were appended to it."""

    def __init__(self) -> None:
        self.works: list[Work] = []

    def append(self, work: Work | None) -> None:
        """Add a Work for which wait() waits."""
        if work is not None:
            self.works.append(work)

    def wait(self) -> None:
        """Wait for all appended Works."""
        for work in self.works:
            work.wait()


@contextlib.contextmanager
def coalescing_manager(group: Group = None, device: object = None, async_ops: bool = False) -> Iterator[Coalesced]:
    """A block of collectives of one group. PyTorch sends them together at the end of the block; here each one is sent
    where it is called, with the same results. Appended Works are waited for at the end of the block, or, with
    async_ops=True, by wait().

    Args:
        group (ProcessGroup): The ranks that take part. Default: None, the default group.
        device: None or the CPU. Default: None.
        async_ops (bool): Whether wait() waits for the appended Works, in place of the end of the block. Default:
            False.

    Returns:
        Coalesced: The block's value, with append(work) and wait().

    Raises:
        ValueError: group is not a group.
        NotImplementedError: device is not the CPU.

    Example:
        >>> import dparallel
        >>> import dparallel.distributed as dist
        >>> def main(comm):
        ...     dist.init_process_group(comm=comm)
        ...     x = ag.ones(1)
        ...     with dist._coalescing_manager(async_ops=True) as coalesced:
        ...         coalesced.append(dist.all_reduce(x, async_op=True))
        ...     coalesced.wait()
        ...     dist.destroy_process_group()
        ...     return x.tolist()
        >>> dparallel.run_ranks(2, main)
        [[2.0], [2.0]]
    """
    is_member(group)
    on_cpu(device, "_coalescing_manager")
    coalesced = Coalesced()
    yield coalesced
    if not async_ops:
        coalesced.wait()


def on_cpu(device: object, name: str) -> None:
    """Raise NotImplementedError for a device other than the CPU."""
    if device is not None and str(device).partition(":")[0] != "cpu":
        raise NotImplementedError(f"{name}(device={device!r}): there are no devices but the CPU here")
