"""torch.distributed's collectives: they write into the tensors that they are given, and autograd does not record them.

dparallel.distributed.nn has the recorded ones. All of them are collectives of dparallel.comm: the ranks' calls are compared
first, so a mistake on one rank is an error on all. With async_op=True a call returns a Work as soon as all ranks have
called; its tensors are written when it is waited for, or asked whether it is complete.

What is written counts as a write in place: a backward pass that needs the old value is an error. Tensors may lie in any
order in memory. Ranks that are not in `group` get None and a warning.
"""

from __future__ import annotations

import contextlib
import enum
import time
from collections.abc import Callable, Iterator, Sequence
from datetime import timedelta
from typing import Any, TypeAlias

import numpy as np

from autograd import Tensor, as_tensor, no_grad
from autograd.core.primitive import side_effect

from ..comm import Handle
from .groups import ProcessGroup, get_global_rank, is_member, member_of, place_of
from .work import Work


class RedOpType(enum.Enum):
    """How a reduction combines. AVG: of floats and complex numbers; BAND, BOR, BXOR: of integers and bools."""

    SUM, AVG, PRODUCT, MIN, MAX, BAND, BOR, BXOR, PREMUL_SUM = range(9)

    def __repr__(self) -> str:
        return f"<RedOpType.{self.name}: {self.value}>"


ReduceOp: TypeAlias = RedOpType
reduce_op: TypeAlias = RedOpType
NAMES = {ReduceOp.SUM: "sum", ReduceOp.AVG: "mean", ReduceOp.PRODUCT: "prod", ReduceOp.MIN: "min", ReduceOp.MAX: "max",
         ReduceOp.BAND: "band", ReduceOp.BOR: "bor", ReduceOp.BXOR: "bxor"}


class PremulSum:
    """The sum of what all ranks bring, each times its factor."""

    def __init__(self, factor: Any) -> None:
        self.factor = factor.item() if isinstance(factor, Tensor) else factor


def op_name(op: Any) -> str:
    """A ReduceOp as dparallel's functions name it. TypeError if it is none."""
    if not isinstance(op, RedOpType):
        raise TypeError(f"op={op!r} is not a ReduceOp, such as ReduceOp.SUM")
    if op is ReduceOp.PREMUL_SUM:
        raise TypeError("ReduceOp.PREMUL_SUM needs a factor: pass _make_nccl_premul_sum(factor)")
    return NAMES[op]


def _reduced(op: Any, *arrays: Any) -> tuple[str, list[Any]]:
    """A reduction's name, and what is to be sent of these arrays of one dtype; the errors are PyTorch's."""
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


def array_of(tensor: Any, name: str) -> np.ndarray[Any, Any]:
    """A tensor's values. TypeError, naming the argument, if it is none."""
    if not isinstance(tensor, Tensor):
        raise TypeError(f"Invalid function argument. Expected parameter `{name}` of type Tensor but got {type(tensor)} "
                        "instead.")
    return tensor.array


def arrays_of(tensors: Any, name: str, count: int | None = None) -> list[np.ndarray[Any, Any]]:
    """The values of a list of tensors of one dtype; `count` of them. TypeError or RuntimeError, naming the argument."""
    if not isinstance(tensors, (list, tuple)) or not all(isinstance(x, Tensor) for x in tensors):
        raise TypeError(f"Invalid function argument. Expected parameter `{name}` of type List[Tensor] but got "
                        f"{type(tensors)} of {sorted({type(x).__name__ for x in tensors})}" if isinstance(tensors, list)
                        else f"{name} is a list of Tensors, not {type(tensors)}")
    if count is not None and len(tensors) != count:
        raise RuntimeError(f"{name}: a list of {count} tensors, one for each rank of the group, not {len(tensors)}")
    if len({x.dtype for x in tensors}) > 1:
        raise ValueError(f"{name}: Invalid usage of tensors with different dtypes: "
                         f"{', '.join(sorted({str(x.dtype) for x in tensors}))}")
    return [x.array for x in tensors]


def alike(array: Any, like: Any, name: str, shape: Any = None) -> None:
    """Raise if an array to be written has not the dtype of another one, and its shape, or the given one."""
    wanted = like.shape if shape is None else shape
    if array.dtype != like.dtype:
        raise ValueError(f"{name}: Invalid usage of tensors with different dtypes: {array.dtype}, {like.dtype}")
    if tuple(array.shape) != tuple(wanted):
        raise RuntimeError(f"{name}: invalid tensor size (expected {tuple(wanted)}, got {tuple(array.shape)})")


def counted(array: Any, like: Any, count: int, name: str) -> None:
    """Raise if an array to be written has not the dtype of another one, or not this many elements."""
    if array.dtype != like.dtype:
        raise ValueError(f"{name}: Invalid usage of tensors with different dtypes: {array.dtype}, {like.dtype}")
    if array.size != count:
        raise RuntimeError(f"{name}: invalid tensor size (expected {count} elements, got {array.size} in {array.shape})")


def write(tensor: Tensor, value: Any) -> Tensor:
    """Write values of as many elements into a tensor, unrecorded."""
    with no_grad():
        tensor.detach().copy_(as_tensor(value).reshape(tensor.shape))
    return tensor


def came(tensor: Tensor, value: Any, name: str) -> Tensor:
    """Write what another rank sent, which is only known now. RuntimeError if it does not fit."""
    if value.dtype != tensor.dtype or value.size != tensor.array.size:
        raise RuntimeError(f"{name}: {value.dtype} {value.shape} came, for a tensor of {tensor.dtype} {tuple(tensor.shape)}"
                           "; all ranks pass tensors of one dtype and shape")
    return write(tensor, value)


def entered(group: Any, name: str) -> ProcessGroup | None:
    """The group of a collective; None where this rank is not in it."""
    side_effect(f"{name} of dparallel.distributed")
    found = member_of(group, name)
    if found is not None and found.pending:
        found.pending = [work for work in found.pending if not work.is_completed()]
    return found


def done(group: ProcessGroup, handle: Handle, finish: Callable[[Any], list[Any]], async_op: bool) -> Work | None:
    """The Work of a collective; None, when it is complete, unless async_op. What was started before is completed first."""
    work = Work(handle, finish)
    if async_op:
        group.pending.append(work)
        return work
    group.settle()
    work.wait()
    return None


def all_reduce(tensor: Tensor, op: Any = ReduceOp.SUM, group: Any = None, async_op: bool = False) -> Work | None:
    """Combine the tensors of all ranks, of one dtype and shape, into each of them.

    >>> dist.all_reduce(loss, op=dist.ReduceOp.AVG)
    """
    members = entered(group, "all_reduce")
    if members is None:
        return None
    with members.telling("all_reduce"):
        name, (x,) = _reduced(op, array_of(tensor, "tensor"))
    handle = members.issue("allreduce", [x], blocking=not async_op, op=name)
    return done(members, handle, lambda found: [write(tensor, found[0])], async_op)


def all_reduce_coalesced(tensors: Sequence[Tensor], op: Any = ReduceOp.SUM, group: Any = None,
                         async_op: bool = False) -> Work | None:
    """all_reduce of several tensors of one dtype, in one message."""
    members = entered(group, "all_reduce_coalesced")
    if members is None:
        return None
    with members.telling("all_reduce_coalesced"):
        arrays = arrays_of(tensors, "tensors")
        if not arrays:
            raise ValueError("all_reduce_coalesced: tensors is an empty list")
        name, xs = _reduced(op, *arrays)
    flat = np.concatenate([x.reshape(-1) for x in xs])
    handle = members.issue("allreduce", [flat], blocking=not async_op, op=name)

    def finish(found: Any) -> list[Any]:
        pieces = np.split(found[0], np.cumsum([x.size for x in xs])[:-1])
        return [write(tensor, piece) for tensor, piece in zip(tensors, pieces, strict=True)]

    return done(members, handle, finish, async_op)


def reduce(tensor: Tensor, dst: int | None = None, op: Any = ReduceOp.SUM, group: Any = None, async_op: bool = False,
           group_dst: int | None = None) -> Work | None:
    """Combine the tensors of all ranks into that of rank dst (of the job; group_dst: of the group). Others keep theirs."""
    members = entered(group, "reduce")
    if members is None:
        return None
    with members.telling("reduce"):
        root = place_of(members, dst, group_dst, "reduce")
        name, (x,) = _reduced(op, array_of(tensor, "tensor"))
    handle = members.issue("reduce", [x], blocking=not async_op, op=name, root=root)
    here = members.rank() == root
    return done(members, handle, lambda found: [write(tensor, found) if here else tensor], async_op)


def broadcast(tensor: Tensor, src: int | None = None, group: Any = None, async_op: bool = False,
              group_src: int | None = None) -> Work | None:
    """Write the tensor of rank src (of the job; group_src: of the group) into those of all."""
    members = entered(group, "broadcast")
    if members is None:
        return None
    with members.telling("broadcast"):
        root = place_of(members, src, group_src, "broadcast")
        x = array_of(tensor, "tensor")
    here = members.rank() == root
    handle = members.issue("broadcast", x if here else None, blocking=not async_op, root=root)
    return done(members, handle, lambda found: [tensor if here else came(tensor, found[0], "broadcast")], async_op)


def all_gather(tensor_list: list[Tensor], tensor: Tensor, group: Any = None, async_op: bool = False) -> Work | None:
    """Write the tensors of all ranks, of one dtype and shape, into the list's: that of rank i into tensor_list[i]."""
    members = entered(group, "all_gather")
    if members is None:
        return None
    with members.telling("all_gather"):
        x, outputs = array_of(tensor, "tensor"), arrays_of(tensor_list, "tensor_list", members.size())
        for output in outputs:
            alike(output, x, "all_gather")
    handle = members.issue("allgather", [x[None]], blocking=not async_op)
    return done(members, handle, lambda found: list(map(write, tensor_list, found[0])), async_op)


def all_gather_into_tensor(output_tensor: Tensor, input_tensor: Tensor, group: Any = None,
                           async_op: bool = False) -> Work | None:
    """Write the tensors of all ranks one after the other into output_tensor, which is as many times as large: their rows
    one below the other, or stacked in a new first dimension."""
    members = entered(group, "all_gather_into_tensor")
    if members is None:
        return None
    with members.telling("all_gather_into_tensor"):
        x, output = array_of(input_tensor, "input_tensor"), array_of(output_tensor, "output_tensor")
        counted(output, x, members.size() * x.size, "all_gather_into_tensor")
    handle = members.issue("allgather", [x[None]], blocking=not async_op)
    return done(members, handle, lambda found: [write(output_tensor, found[0])], async_op)


def all_gather_coalesced(output_tensor_lists: list[list[Tensor]], input_tensor_list: list[Tensor], group: Any = None,
                         async_op: bool = False) -> Work | None:
    """all_gather of several tensors of one dtype, in one message: output_tensor_lists[i] are the tensors of rank i."""
    members = entered(group, "all_gather_coalesced")
    if members is None:
        return None
    with members.telling("all_gather_coalesced"):
        xs = arrays_of(input_tensor_list, "input_tensor_list")
        if not isinstance(output_tensor_lists, (list, tuple)) or len(output_tensor_lists) != members.size() or not xs:
            raise RuntimeError(f"all_gather_coalesced: output_tensor_lists has a list for each of {members.size()} ranks, "
                               "of as many tensors as input_tensor_list, which is not empty")
        for outputs in output_tensor_lists:
            for output, x in zip(arrays_of(outputs, "output_tensor_lists", len(xs)), xs, strict=True):
                alike(output, x, "all_gather_coalesced")
    flat = np.concatenate([x.reshape(-1) for x in xs])
    handle = members.issue("allgather", [flat[None]], blocking=not async_op)

    def finish(found: Any) -> list[Any]:
        cuts = np.cumsum([x.size for x in xs])[:-1]
        for outputs, row in zip(output_tensor_lists, found[0], strict=True):
            for output, piece in zip(outputs, np.split(row, cuts), strict=True):
                write(output, piece)
        return output_tensor_lists

    return done(members, handle, finish, async_op)


def gather(tensor: Tensor, gather_list: list[Tensor] | None = None, dst: int | None = None, group: Any = None,
           async_op: bool = False, group_dst: int | None = None) -> Work | None:
    """Write the tensors of all ranks into gather_list of rank dst (default 0); other ranks pass none."""
    members = entered(group, "gather")
    if members is None:
        return None
    with members.telling("gather"):
        root = place_of(members, dst, group_dst, "gather", 0)
        x, here = array_of(tensor, "tensor"), members.rank() == root
        given = list(gather_list or ())
        if given and not here:
            raise ValueError("Argument ``gather_list`` must NOT be specified on non-destination ranks.")
        if here and not given:
            raise ValueError("Argument ``gather_list`` must be specified on destination rank.")
        for output in arrays_of(given, "gather_list", members.size()) if here else ():
            alike(output, x, "gather")
    handle = members.issue("gather", [x[None]], blocking=not async_op, root=root)
    return done(members, handle, lambda found: list(map(write, given, found)) if here else [], async_op)


def scatter(tensor: Tensor, scatter_list: list[Tensor] | None = None, src: int | None = None, group: Any = None,
            async_op: bool = False, group_src: int | None = None) -> Work | None:
    """Write scatter_list[i] of rank src (default 0) into rank i's tensor; other ranks pass no list."""
    members = entered(group, "scatter")
    if members is None:
        return None
    with members.telling("scatter"):
        root = place_of(members, src, group_src, "scatter", 0)
        x, here = array_of(tensor, "tensor"), members.rank() == root
        given = list(scatter_list or ())
        if given and not here:
            raise ValueError("Argument ``scatter_list`` must NOT be specified on non-source ranks.")
        if here and not given:
            raise ValueError("Argument ``scatter_list`` must be specified on source rank.")
        for part in arrays_of(given, "scatter_list", members.size()) if here else ():
            alike(part, x, "scatter")
    rows = np.stack([part.array for part in given]) if here else None
    handle = members.issue("scatter", rows, blocking=not async_op, root=root)
    return done(members, handle, lambda found: [came(tensor, found[0][0], "scatter")], async_op)


def reduce_scatter(output: Tensor, input_list: list[Tensor], op: Any = ReduceOp.SUM, group: Any = None,
                   async_op: bool = False) -> Work | None:
    """Combine all ranks' input_list[i] into rank i's output."""
    members = entered(group, "reduce_scatter")
    if members is None:
        return None
    with members.telling("reduce_scatter"):
        parts, target = arrays_of(input_list, "input_list", members.size()), array_of(output, "output")
        for part in parts:
            alike(part, target, "reduce_scatter")
        name, (x,) = _reduced(op, np.stack(parts))
    handle = members.issue("reduce_scatter", [x], blocking=not async_op, op=name, sizes=[1] * members.size())
    return done(members, handle, lambda found: [write(output, found[0][0])], async_op)


def reduce_scatter_tensor(output: Tensor, input: Tensor, op: Any = ReduceOp.SUM, group: Any = None,
                          async_op: bool = False) -> Work | None:
    """Combine all ranks' inputs, and cut the result evenly, in the order of memory: the i-th part is rank i's output."""
    members = entered(group, "reduce_scatter_tensor")
    if members is None:
        return None
    with members.telling("reduce_scatter_tensor"):
        target, given = array_of(output, "output"), array_of(input, "input")
        counted(given, target, members.size() * target.size, "reduce_scatter_tensor")
        name, (x,) = _reduced(op, given.reshape(members.size(), -1))
    handle = members.issue("reduce_scatter", [x], blocking=not async_op, op=name, sizes=[1] * members.size())
    return done(members, handle, lambda found: [write(output, found[0])], async_op)


def all_to_all(output_tensor_list: list[Tensor], input_tensor_list: list[Tensor], group: Any = None,
               async_op: bool = False) -> Work | None:
    """Send input_tensor_list[i] to rank i, and write what comes from it into output_tensor_list[i]. Of any shapes, as long
    as sender and receiver agree."""
    members = entered(group, "all_to_all")
    if members is None:
        return None
    with members.telling("all_to_all"):
        xs = arrays_of(input_tensor_list, "input_tensor_list", members.size())
        outputs = arrays_of(output_tensor_list, "output_tensor_list", members.size())
        if xs[0].dtype != outputs[0].dtype:
            raise ValueError("all_to_all: Invalid usage of tensors with different dtypes: "
                             f"{xs[0].dtype}, {outputs[0].dtype}")
    sizes, wanted = [x.size for x in xs], [x.size for x in outputs]
    _expected(members, "all_to_all", sizes, wanted)
    flat = np.concatenate([x.reshape(-1) for x in xs])
    handle = members.issue("alltoall", [flat], blocking=not async_op, sizes=[sizes])

    def finish(found: Any) -> list[Any]:
        pieces = np.split(found[0], np.cumsum(wanted)[:-1])
        return [write(tensor, piece) for tensor, piece in zip(output_tensor_list, pieces, strict=True)]

    return done(members, handle, finish, async_op)


def all_to_all_single(output: Tensor, input: Tensor, output_split_sizes: list[int] | None = None,
                      input_split_sizes: list[int] | None = None, group: Any = None,
                      async_op: bool = False) -> Work | None:
    """Cut input along its first dimension, evenly or in input_split_sizes, send the i-th part to rank i, and write what
    comes, in the order of ranks, into output."""
    members = entered(group, "all_to_all_single")
    if members is None:
        return None
    with members.telling("all_to_all_single"):
        x, target = array_of(input, "input"), array_of(output, "output")
        sizes = split_sizes(input_split_sizes, x, members.size())
        wanted = split_sizes(output_split_sizes, target, members.size())
        alike(target, x, "all_to_all_single", (target.shape[0], *x.shape[1:]))
    _expected(members, "all_to_all_single", sizes, wanted)
    handle = members.issue("alltoall", [x], blocking=not async_op, sizes=[sizes])
    return done(members, handle, lambda found: [write(output, found[0])], async_op)


def split_sizes(sizes: Any, x: Any, count: int) -> list[int]:
    """The rows for each rank: given, or even. RuntimeError if they don't fit the array."""
    if not x.ndim:
        raise RuntimeError("all_to_all_single: a 0-d tensor has no rows to split")
    if sizes is None or not len(sizes):
        if x.shape[0] % count:
            raise RuntimeError(f"Tensor's dim 0 ({x.shape[0]}) does not divide equally across group size {count}")
        return [x.shape[0] // count] * count
    if len(sizes) != count or sum(sizes) != x.shape[0] or min(sizes) < 0:
        raise RuntimeError(f"Split sizes doesn't match total dim 0 size: {list(sizes)}, for {count} ranks and {x.shape[0]} "
                           "rows")
    return [int(size) for size in sizes]


def _expected(group: ProcessGroup, name: str, sizes: list[int], wanted: list[int]) -> None:
    """Raise, on all ranks, if what some rank is sent is not what it has room for."""
    (coming,) = group.communicator.alltoall_sizes([sizes])
    if group.communicator.any(coming != wanted):
        raise RuntimeError(f"{name}: what ranks send is not what others have room for: this rank is sent {coming} elements "
                           f"or rows, by rank, and has room for {wanted}")


def barrier(group: Any = None, async_op: bool = False, device_ids: Any = None,
            timeout: timedelta | None = None) -> Work | None:
    """Wait until all ranks of the group are here. device_ids is for NCCL, where it does nothing on a CPU."""
    members = entered(group, "barrier")
    if members is None:
        return None
    with members.telling("barrier"):
        if device_ids is not None and members.backend != "nccl":
            raise RuntimeError(f"Function argument device_ids not supported for the selected backend {members.backend}")
    handle = members.issue("allreduce", [np.zeros(1, np.int8)], blocking=False)
    if async_op or timeout is None:
        return done(members, handle, lambda found: [], async_op)
    Work(handle, lambda found: []).wait(timeout)
    return None


def monitored_barrier(group: Any = None, timeout: timedelta | None = None, wait_all_ranks: bool = False) -> None:
    """A barrier that names a rank that does not come within timeout (the group's by default): RuntimeError on all
    ranks, on one that is late when it comes. wait_all_ranks: name all that are missing."""
    members = entered(group, "monitored_barrier")
    if members is None:
        return
    comm, tag = members.communicator, members.communicator.max_tag
    limit = (members.timeout if timeout is None else timeout).total_seconds()
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
        comm.send(np.frombuffer(text.encode(), np.uint8), place, tag)    # also to those that are late
        if place not in missing:
            handle.wait()
    members.late += [waiting[place] for place in missing]
    if text:
        raise RuntimeError(text)


class Coalesced:
    """What coalescing_manager() gives: the Works that were appended to it."""

    def __init__(self) -> None:
        self.works: list[Work] = []

    def append(self, work: Work | None) -> None:
        """Let wait() wait for this one too."""
        if work is not None:
            self.works.append(work)

    def wait(self) -> None:
        """Wait for all of them."""
        for work in self.works:
            work.wait()


@contextlib.contextmanager
def coalescing_manager(group: Any = None, device: Any = None, async_ops: bool = False) -> Iterator[Coalesced]:
    """A block of collectives of one group. PyTorch sends them together as the block ends; here each one is sent where it
    is called, with the same results. Works that are appended are waited for as the block ends, with async_ops=True by
    wait(). device: the CPU. ValueError for what is no group.

    >>> with dist._coalescing_manager(async_ops=True) as coalesced:
    ...     dist.all_reduce(a)
    ...     dist.all_reduce(b)
    >>> coalesced.wait()
    """
    is_member(group)
    on_cpu(device, "_coalescing_manager")
    coalesced = Coalesced()
    yield coalesced
    if not async_ops:
        coalesced.wait()


def on_cpu(device: Any, name: str) -> None:
    """NotImplementedError for a device that is not the CPU."""
    if device is not None and str(device).partition(":")[0] != "cpu":
        raise NotImplementedError(f"{name}(device={device!r}): there are no devices but the CPU here")
