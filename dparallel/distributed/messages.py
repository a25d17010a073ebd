"""torch.distributed's messages from one rank to another, and its collectives of Python objects.

A send is copied and never waits for its receiver. recv writes into the tensor that it is given, unrecorded; Send and Recv
of dparallel are recorded. Objects are pickled: receive them from ranks that you trust.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import numpy as np

from autograd import Tensor

from ..comm import Handle
from ..pytree import objects
from .collectives import array_of, came, entered, on_cpu
from .groups import ProcessGroup, get_global_rank, place_of
from .work import Work


def _peer(group: ProcessGroup, rank: int | None, group_rank: int | None, name: str) -> int:
    place = place_of(group, rank, group_rank, name)
    if place == group.rank():
        end = "destination" if "send" in name else "source"
        raise ValueError(f"Invalid {end} rank: {end} rank should not be the same as the rank of the current process.")
    return place


def send(tensor: Tensor, dst: int | None = None, group: Any = None, tag: int = 0, group_dst: int | None = None) -> None:
    """Send a copy of the tensor to rank dst (of the job; group_dst: of the group)."""
    members = entered(group, "send")
    if members is not None:
        members.communicator.send(array_of(tensor, "tensor"), _peer(members, dst, group_dst, "send"), tag)


def isend(tensor: Tensor, dst: int | None = None, group: Any = None, tag: int = 0,
          group_dst: int | None = None) -> Work | None:
    """send, without a copy: the tensor must not be changed before wait(), which waits until the message is taken."""
    members = entered(group, "isend")
    if members is None:
        return None
    handle = members.communicator.start_send(array_of(tensor, "tensor"), _peer(members, dst, group_dst, "isend"), tag)
    return Work(handle, lambda found: [tensor])


def recv(tensor: Tensor, src: int | None = None, group: Any = None, tag: int = 0, group_src: int | None = None) -> int:
    """Write the next message from rank src (default: from any rank) with this tag into the tensor; the sender's global
    rank. RuntimeError if its dtype or number of elements is another one. -1 where this rank is not in the group."""
    work = irecv(tensor, src, group, tag, group_src)
    return -1 if work is None else work.source_rank()


def irecv(tensor: Tensor, src: int | None = None, group: Any = None, tag: int = 0,
          group_src: int | None = None) -> Work | None:
    """recv, not waited for: its Work tells source_rank(). From any rank, it takes its message when it is waited for, or
    asked whether it is complete."""
    members = entered(group, "irecv")
    if members is None:
        return None
    array_of(tensor, "tensor")
    comm = members.communicator
    if src is None and group_src is None:
        handle: Handle = comm.start_recv_any(tag)
    else:
        place = _peer(members, src, group_src, "irecv")
        handle = comm.start_recv(place, tag).then(lambda h: (place, h.value()))
    sender: list[int] = []

    def finish(found: Any) -> list[Any]:
        sender.append(members.ranks[found[0]])
        return [came(tensor, found[1], f"recv from rank {sender[0]}")]

    return Work(handle, finish, lambda: sender[0])


class P2POp:
    """One of the messages of batch_isend_irecv: op is isend or irecv, peer the other rank (group_peer: in the group)."""

    def __init__(self, op: Callable[..., Any], tensor: Tensor, peer: int | None = None, group: Any = None, tag: int = 0,
                 group_peer: int | None = None) -> None:
        if op not in (isend, irecv):
            raise ValueError("Invalid ``op``. Expected ``op`` to be of type ``isend`` or ``irecv`` of this package.")
        array_of(tensor, "tensor")
        self.op, self.tensor, self.peer, self.group, self.tag, self.group_peer = op, tensor, peer, group, tag, group_peer

    def __repr__(self) -> str:
        return f"P2POp({self.op.__name__}, peer={self.peer}, tag={self.tag}, {tuple(self.tensor.shape)})"


def batch_isend_irecv(p2p_op_list: list[P2POp]) -> list[Work]:
    """Start all messages of a list of P2POps, in any order: their Works. ValueError if it holds something else."""
    if not isinstance(p2p_op_list, (list, tuple)) or not all(isinstance(op, P2POp) for op in p2p_op_list):
        raise ValueError("Invalid ``p2p_op_list``. Each op is expected to to be of type ``P2POp``.")
    works = [op.op(op.tensor, op.peer, op.group, op.tag, op.group_peer) for op in p2p_op_list]
    return [work for work in works if work is not None]


# --- Python objects --------------------------------------------------------------------------------------------------------

def all_gather_object(object_list: list[Any], obj: Any, group: Any = None) -> None:
    """Overwrite the list, which has an item for each rank, with copies of all ranks' obj."""
    members = entered(group, "all_gather_object")
    if members is not None:
        objects.all_gather_object(object_list, obj, members.communicator)


def gather_object(obj: Any, object_gather_list: list[Any] | None = None, dst: int | None = None, group: Any = None,
                  group_dst: int | None = None) -> None:
    """Overwrite the list of rank dst (default 0), which has an item for each rank, with copies of all ranks' obj."""
    members = entered(group, "gather_object")
    if members is None:
        return
    with members.telling("gather_object"):
        root = place_of(members, dst, group_dst, "gather_object", 0)
        if object_gather_list and members.rank() != root:
            raise ValueError("Argument ``object_gather_list`` must NOT be specified on non-destination ranks.")
    objects.gather_object(obj, object_gather_list, root, members.communicator)


def broadcast_object_list(object_list: list[Any], src: int | None = None, group: Any = None, device: Any = None,
                          group_src: int | None = None) -> None:
    """Overwrite the list's items with those of rank src (default 0); the lists are equally long. device: the CPU."""
    members = entered(group, "broadcast_object_list")
    if members is None:
        return
    with members.telling("broadcast_object_list"):
        on_cpu(device, "broadcast_object_list")
        root = place_of(members, src, group_src, "broadcast_object_list", 0)
    objects.broadcast_object_list(object_list, root, members.communicator)


def scatter_object_list(scatter_object_output_list: list[Any], scatter_object_input_list: list[Any] | None = None,
                        src: int | None = None, group: Any = None, group_src: int | None = None) -> None:
    """The first item of every rank's output list becomes a copy of the item for it in the input list of rank src."""
    members = entered(group, "scatter_object_list")
    if members is None:
        return
    with members.telling("scatter_object_list"):
        root = place_of(members, src, group_src, "scatter_object_list", 0)
    objects.scatter_object_list(scatter_object_output_list, scatter_object_input_list, root, members.communicator)


def send_object_list(object_list: list[Any], dst: int | None = None, group: Any = None, device: Any = None,
                     group_dst: int | None = None, use_batch: bool = False) -> None:
    """Send copies of the list's items to rank dst. use_batch: whether PyTorch batches; messages never block here."""
    members = entered(group, "send_object_list")
    if members is None:
        return
    on_cpu(device, "send_object_list")
    data = np.frombuffer(pickle.dumps(list(object_list)), np.uint8)
    members.communicator.send(data, _peer(members, dst, group_dst, "send_object_list"))


def recv_object_list(object_list: list[Any], src: int | None = None, group: Any = None, device: Any = None,
                     group_src: int | None = None, use_batch: bool = False) -> int:
    """Overwrite the list's items with those that rank src (default: any) sends; the sender's global rank. RuntimeError if
    it sends more or fewer."""
    members = entered(group, "recv_object_list")
    if members is None:
        return -1
    on_cpu(device, "recv_object_list")
    comm = members.communicator
    if src is None and group_src is None:
        place, data = comm.start_recv_any().wait()
    else:
        place = _peer(members, src, group_src, "recv_object_list")
        data = comm.recv(place)
    found = pickle.loads(data.tobytes())
    if len(found) != len(object_list):
        raise RuntimeError(f"recv_object_list: {len(found)} objects came, for a list of {len(object_list)}")
    object_list[:] = found
    return get_global_rank(members, place)
