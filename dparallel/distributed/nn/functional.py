"""torch.distributed.nn.functional: collectives that return new tensors and are recorded for backward.

All ranks call them, and all call backward: gradients are those of the sum of all ranks' losses. They apply the Functions of
dparallel.functions. Ranks are global ranks.
"""

from __future__ import annotations

from ...autograd import Tensor, cat, stack
from ...comm import Communicator
from ...functions import AllGather, AllReduce, AllToAll, Broadcast, Gather, Reduce, ReduceScatter, Scatter
from ..arguments import ReduceOp, array_of, arrays_of, op_name, split_sizes
from ..groups import Group, ProcessGroup, get_group_rank, member_of


def _group_and_comm(group: Group, name: str) -> tuple[ProcessGroup, Communicator]:
    """The group and its communicator; ValueError if this rank is not in it."""
    pg = member_of(group, name)
    if pg is None:
        raise ValueError(f"{name}: this rank is not in the group")
    return pg, pg.communicator


def all_reduce(tensor: Tensor, op: ReduceOp = ReduceOp.SUM, group: Group = None) -> Tensor:
    """The reduction of the tensors of all ranks, on each rank."""
    pg, comm = _group_and_comm(group, "all_reduce")
    with pg.raise_on_all_ranks("all_reduce"):
        array_of(tensor, "tensor")
        name = op_name(op)
    return AllReduce.apply(tensor, comm=comm, op=name)


def reduce(tensor: Tensor, dst: int, op: ReduceOp = ReduceOp.SUM, group: Group = None) -> Tensor:
    """The reduction of the tensors of all ranks, on rank dst; on other ranks the detached tensor."""
    pg, comm = _group_and_comm(group, "reduce")
    with pg.raise_on_all_ranks("reduce"):
        array_of(tensor, "tensor")
        root, name = get_group_rank(pg, dst), op_name(op)
    result = Reduce.apply(tensor, comm=comm, op=name, root=root)
    return result if comm.rank == root else tensor.detach() + result.sum()     # an empty sum, for backward only


def broadcast(tensor: Tensor, src: int, group: Group = None) -> Tensor:
    """The tensor of rank src, on each rank."""
    pg, comm = _group_and_comm(group, "broadcast")
    with pg.raise_on_all_ranks("broadcast"):
        array_of(tensor, "tensor")
        root = get_group_rank(pg, src)
    return Broadcast.apply(tensor, comm=comm, root=root)


def gather(tensor: Tensor, dst: int = 0, group: Group = None) -> tuple[Tensor, ...]:
    """The tensors of all ranks, on rank dst; tensors of zeros on other ranks."""
    pg, comm = _group_and_comm(group, "gather")
    with pg.raise_on_all_ranks("gather"):
        array_of(tensor, "tensor")
        root = get_group_rank(pg, dst)
    result = Gather.apply(tensor.unsqueeze(0), comm=comm, root=root)
    return result.unbind(0) if comm.rank == root else tuple(result.sum().expand(tensor.shape) for _ in range(comm.size))


def scatter(tensors: list[Tensor], src: int = 0, group: Group = None) -> Tensor:
    """This rank's tensor in the list of rank src. Other ranks' lists are ignored, and get zero gradients."""
    pg, comm = _group_and_comm(group, "scatter")
    with pg.raise_on_all_ranks("scatter"):
        root = get_group_rank(pg, src)
        arrays_of(tensors, "tensors", comm.size)
        rows = stack(list(tensors))
    return Scatter.apply(rows, comm=comm, root=root).squeeze(0)


def all_gather(tensor: Tensor, group: Group = None) -> tuple[Tensor, ...]:
    """The tensors of all ranks, on each rank: a tuple."""
    pg, comm = _group_and_comm(group, "all_gather")
    with pg.raise_on_all_ranks("all_gather"):
        array_of(tensor, "tensor")
    return AllGather.apply(tensor.unsqueeze(0), comm=comm).unbind(0)


def reduce_scatter(output: Tensor, input_list: list[Tensor], op: ReduceOp = ReduceOp.SUM, group: Group = None) -> Tensor:
    """The reduction of all ranks' input_list[i], on rank i. `output` is not written."""
    pg, comm = _group_and_comm(group, "reduce_scatter")
    with pg.raise_on_all_ranks("reduce_scatter"):
        arrays_of(input_list, "input_list", comm.size)
        rows, name = stack(list(input_list)), op_name(op)
    return ReduceScatter.apply(rows, comm=comm, op=name, sizes=[1] * comm.size).squeeze(0)


def all_to_all(output_tensor_list: list[Tensor], input_tensor_list: list[Tensor], group: Group = None) -> tuple[Tensor, ...]:
    """Every rank's tensor for this rank, in the shapes of output_tensor_list, which is not written."""
    pg, comm = _group_and_comm(group, "all_to_all")
    with pg.raise_on_all_ranks("all_to_all"):
        arrays_of(input_tensor_list, "input_tensor_list", comm.size)
        arrays_of(output_tensor_list, "output_tensor_list", comm.size)
    flat = cat([x.reshape(-1) for x in input_tensor_list])
    result = AllToAll.apply(flat, comm=comm, sizes=[x.numel() for x in input_tensor_list])
    _check_room(result, sum(x.numel() for x in output_tensor_list), "all_to_all")
    pieces = result.split([x.numel() for x in output_tensor_list])
    return tuple(piece.reshape(x.shape) for piece, x in zip(pieces, output_tensor_list, strict=True))


def all_to_all_single(output: Tensor, input: Tensor, output_split_sizes: list[int] | None = None,
                      input_split_sizes: list[int] | None = None, group: Group = None) -> Tensor:
    """The rows that all ranks send to this rank, in rank order, in the shape of `output`, which is not written."""
    pg, comm = _group_and_comm(group, "all_to_all_single")
    with pg.raise_on_all_ranks("all_to_all_single"):
        sizes = split_sizes(input_split_sizes, array_of(input, "input"), comm.size)
        split_sizes(output_split_sizes, array_of(output, "output"), comm.size)
    result = AllToAll.apply(input, comm=comm, sizes=sizes)
    _check_room(result, output.numel(), "all_to_all_single")
    return result.reshape(output.shape)


def _check_room(received: Tensor, room: int, name: str) -> None:
    """RuntimeError, on this rank alone, if it receives another number of elements than it expects."""
    if received.numel() != room:
        raise RuntimeError(f"{name}: {received.numel()} elements were received, but this rank expects {room}; ranks must "
                           "send the sizes that others expect")


__all__ = ["all_gather", "all_reduce", "all_to_all", "all_to_all_single", "broadcast", "gather", "reduce", "reduce_scatter",
           "scatter"]
