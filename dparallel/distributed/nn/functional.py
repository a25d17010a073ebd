"""Collectives that return new tensors, and that autograd records: torch.distributed.nn.functional.

All ranks call them, and all call backward: gradients are those of the sum of all ranks' losses. They are the Functions of
dparallel, see dparallel.functions; second derivatives and forward mode work as there. Ranks are global ranks.
"""

from __future__ import annotations

from typing import Any

from autograd import Tensor, cat, stack

from ...comm import Communicator
from ...functions import AllGather, AllReduce, AllToAll, Broadcast, Gather, Reduce, ReduceScatter, Scatter
from ..collectives import ReduceOp, op_name, split_sizes
from ..groups import ProcessGroup, get_group_rank, member_of


def _members(group: Any, name: str) -> tuple[ProcessGroup, Communicator]:
    found = member_of(group, name)
    if found is None:
        raise ValueError(f"{name}: this rank is not in the group")
    return found, found.communicator


def all_reduce(tensor: Tensor, op: Any = ReduceOp.SUM, group: Any = None) -> Tensor:
    """The tensors of all ranks combined, on each."""
    comm = _members(group, "all_reduce")[1]
    return AllReduce.apply(tensor, comm=comm, op=op_name(op))


def reduce(tensor: Tensor, dst: int, op: Any = ReduceOp.SUM, group: Any = None) -> Tensor:
    """The tensors of all ranks combined, on rank dst; its own, without its gradient, on others."""
    members, comm = _members(group, "reduce")
    root = get_group_rank(members, dst)
    found = Reduce.apply(tensor, comm=comm, op=op_name(op), root=root)
    return found if comm.rank == root else tensor.detach() + found.sum()     # an empty one: backward goes by it


def broadcast(tensor: Tensor, src: int, group: Any = None) -> Tensor:
    """The tensor of rank src, on each."""
    members, comm = _members(group, "broadcast")
    return Broadcast.apply(tensor, comm=comm, root=get_group_rank(members, src))


def gather(tensor: Tensor, dst: int = 0, group: Any = None) -> tuple[Tensor, ...]:
    """The tensors of all ranks, on rank dst; as many of zeros on others."""
    members, comm = _members(group, "gather")
    root = get_group_rank(members, dst)
    found = Gather.apply(tensor.unsqueeze(0), comm=comm, root=root)
    return found.unbind(0) if comm.rank == root else tuple(found.sum().expand(tensor.shape) for _ in range(comm.size))


def scatter(tensors: list[Tensor], src: int = 0, group: Any = None) -> Tensor:
    """The tensor for this rank of rank src's list; what other ranks pass is not read, and gets zeros as its gradient."""
    members, comm = _members(group, "scatter")
    return Scatter.apply(stack(list(tensors)), comm=comm, root=get_group_rank(members, src)).squeeze(0)


def all_gather(tensor: Tensor, group: Any = None) -> tuple[Tensor, ...]:
    """The tensors of all ranks, on each."""
    comm = _members(group, "all_gather")[1]
    return AllGather.apply(tensor.unsqueeze(0), comm=comm).unbind(0)


def reduce_scatter(output: Tensor, input_list: list[Tensor], op: Any = ReduceOp.SUM, group: Any = None) -> Tensor:
    """All ranks' input_list[i] combined, on rank i. output is not written: the result is what is returned."""
    comm = _members(group, "reduce_scatter")[1]
    return ReduceScatter.apply(stack(list(input_list)), comm=comm, op=op_name(op), sizes=[1] * comm.size).squeeze(0)


def all_to_all(output_tensor_list: list[Tensor], input_tensor_list: list[Tensor], group: Any = None) -> tuple[Tensor, ...]:
    """What each rank has for this one in its input_tensor_list, in the shapes of output_tensor_list, which is not
    written."""
    comm = _members(group, "all_to_all")[1]
    flat = cat([x.reshape(-1) for x in input_tensor_list])
    found = AllToAll.apply(flat, comm=comm, sizes=[x.numel() for x in input_tensor_list])
    pieces = found.split([x.numel() for x in output_tensor_list])
    return tuple(piece.reshape(x.shape) for piece, x in zip(pieces, output_tensor_list, strict=True))


def all_to_all_single(output: Tensor, input: Tensor, output_split_sizes: list[int] | None = None,
                      input_split_sizes: list[int] | None = None, group: Any = None) -> Tensor:
    """The rows that each rank sends to this one, in the order of ranks; output, which is not written, says how many."""
    comm = _members(group, "all_to_all_single")[1]
    found = AllToAll.apply(input, comm=comm, sizes=split_sizes(input_split_sizes, input.array, comm.size))
    return found.reshape(output.shape)


__all__ = ["all_gather", "all_reduce", "all_to_all", "all_to_all_single", "broadcast", "gather", "reduce", "reduce_scatter",
           "scatter"]
