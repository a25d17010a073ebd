"""Arguments of torch.distributed's collectives: reductions, checks of tensors, and the Work of a call."""

from __future__ import annotations

import enum
import operator
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np

from autograd.core.primitive import side_effect

from ..autograd import Tensor
from ..comm import Handle
from .groups import Group, ProcessGroup, member_of
from .work import Work
from .writes import check_output, overwritten, write


class RedOpType(enum.Enum):
    """The operation of a reduction. AVG: for floats and complex numbers; BAND, BOR, BXOR: for integers and bools."""

    SUM, AVG, PRODUCT, MIN, MAX, BAND, BOR, BXOR, PREMUL_SUM = range(9)

    def __repr__(self) -> str:
        return f"<RedOpType.{self.name}: {self.value}>"


ReduceOp: TypeAlias = RedOpType
reduce_op: TypeAlias = RedOpType
Array: TypeAlias = np.ndarray[Any, Any]
OP_NAMES = {ReduceOp.SUM: "sum", ReduceOp.AVG: "mean", ReduceOp.PRODUCT: "prod", ReduceOp.MIN: "min", ReduceOp.MAX: "max",
         ReduceOp.BAND: "band", ReduceOp.BOR: "bor", ReduceOp.BXOR: "bxor"}


class PremulSum:
    """A reduction: the sum of all ranks' tensors, each multiplied by its rank's factor."""

    def __init__(self, factor: Tensor | float) -> None:
        self.factor: float | Array = factor.item() if isinstance(factor, Tensor) else factor


Op: TypeAlias = ReduceOp | PremulSum


def op_name(op: Op) -> str:
    """The name of a ReduceOp in dparallel.comm. TypeError if op is not a ReduceOp."""
    if not isinstance(op, RedOpType):
        raise TypeError(f"op={op!r} is not a ReduceOp, such as ReduceOp.SUM")
    if op is ReduceOp.PREMUL_SUM:
        raise TypeError("ReduceOp.PREMUL_SUM needs a factor: pass _make_nccl_premul_sum(factor)")
    return OP_NAMES[op]


def op_and_arrays(op: Op, *arrays: Array) -> tuple[str, list[Array]]:
    """The name of a reduction, and the arrays (of one dtype) to reduce. Errors are PyTorch's."""
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
    """The array of a tensor. TypeError with the argument's name if it is none; ValueError or RuntimeError for a bad
    output."""
    if not isinstance(tensor, Tensor):
        raise TypeError(f"Invalid function argument. Expected parameter `{name}` of type Tensor but got {type(tensor)} "
                        "instead.")
    if output:
        check_output(tensor, name)
    return tensor.array


def arrays_of(tensors: Sequence[Tensor], name: str, count: int | None = None, output: bool = False) -> list[Array]:
    """The arrays of `count` tensors of one dtype. TypeError, RuntimeError or ValueError with the argument's name."""
    if not isinstance(tensors, (list, tuple)) or not all(isinstance(x, Tensor) for x in tensors):
        raise TypeError(f"Invalid function argument. Expected parameter `{name}` of type List[Tensor] but got "
                        f"{type(tensors)} of {sorted({type(x).__name__ for x in tensors})}" if isinstance(tensors, list)
                        else f"{name} must be a list of Tensors, not {type(tensors)}")
    if count is not None and len(tensors) != count:
        raise RuntimeError(f"{name} must be a list of {count} tensors, one for each rank of the group, not {len(tensors)}")
    if len({x.dtype for x in tensors}) > 1:
        raise ValueError(f"{name}: Invalid usage of tensors with different dtypes: "
                         f"{', '.join(sorted({str(x.dtype) for x in tensors}))}")
    return [array_of(x, name, output) for x in tensors]


def check_like(array: Array, like: Array, name: str, shape: Sequence[int] | None = None) -> None:
    """Raise unless an output array has the dtype of `like`, and its shape (or `shape`)."""
    expected = like.shape if shape is None else shape
    if array.dtype != like.dtype:
        raise ValueError(f"{name}: Invalid usage of tensors with different dtypes: {array.dtype}, {like.dtype}")
    if tuple(array.shape) != tuple(expected):
        raise RuntimeError(f"{name}: invalid tensor size (expected {tuple(expected)}, got {tuple(array.shape)})")


def check_numel(array: Array, like: Array, count: int, name: str) -> None:
    """Raise unless an output array has the dtype of `like` and `count` elements."""
    if array.dtype != like.dtype:
        raise ValueError(f"{name}: Invalid usage of tensors with different dtypes: {array.dtype}, {like.dtype}")
    if array.size != count:
        raise RuntimeError(f"{name}: invalid tensor size (expected {count} elements, got {array.size} in {array.shape})")


def group_of_call(group: Group, name: str) -> ProcessGroup | None:
    """The group of a collective call; None if this rank is not in it. Completed Works are dropped."""
    side_effect(f"{name} of dparallel.distributed")
    pg = member_of(group, name)
    if pg is not None and pg.pending:
        pg.pending = [work for work in pg.pending if not work.is_completed()]
    return pg


def finish_call(group: ProcessGroup, name: str, handle: Handle, outputs: Sequence[Tensor],
                pieces: Callable[[Any], Sequence[Array]], async_op: bool, returned: list[Any] | None = None) -> Work | None:
    """The Work of a collective. Unless async_op, complete earlier ones and this one, and return None.

    outputs: the tensors written on this rank; pieces: the handle's value to their arrays; returned: the Work's result(), by
    default the outputs.
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
        raise TypeError(f"split sizes must be integers, one for each of {count} ranks, not {sizes!r}") from None
    if len(whole) != count or sum(whole) != x.shape[0] or min(whole) < 0:
        raise RuntimeError(f"Split sizes doesn't match total dim 0 size: {whole}, for {count} ranks and {x.shape[0]} rows")
    return whole


def on_cpu(device: object, name: str) -> None:
    """Raise NotImplementedError for a device other than the CPU."""
    if device is not None and str(device).partition(":")[0] != "cpu":
        raise NotImplementedError(f"{name}(device={device!r}): the only device is the CPU")
