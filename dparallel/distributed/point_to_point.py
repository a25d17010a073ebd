"""torch.distributed's point-to-point messages and its collectives of Python objects.

send() copies its tensor and does not wait for the receiver. recv() writes into its tensor, unrecorded; dparallel.Send and
dparallel.Recv are recorded. Objects are pickled: receive them from trusted ranks only.
"""

from __future__ import annotations

import contextlib
import pickle
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ..autograd import Tensor
from ..comm import Handle
from ..pytree import objects
from .arguments import array_of, group_of_call, on_cpu
from .groups import Group, ProcessGroup, get_global_rank, group_rank_of
from .work import Work
from .writes import overwritten, write


def _peer(group: ProcessGroup, rank: int | None, group_rank: int | None, name: str) -> int:
    """The group rank of the other rank of a message; ValueError if it is this rank."""
    peer = group_rank_of(group, rank, group_rank, name)
    if peer == group.rank():
        end = "destination" if "send" in name else "source"
        raise ValueError(f"Invalid {end} rank: {end} rank should not be the same as the rank of the current process.")
    return peer


@contextlib.contextmanager
def _raise_on_receiver(group: ProcessGroup, rank: int | None, group_rank: int | None, tag: int, name: str) -> Iterator[None]:
    """A block that prepares a message: an exception here is a CollectiveError on the receiver, which would wait."""
    try:
        yield
    except Exception as error:
        comm = group.communicator
        with contextlib.suppress(ValueError):        # without a valid receiver no rank waits for this message
            peer = _peer(group, rank, group_rank, name)
            comm.refuse_message(f"{name}: {type(error).__name__}: {error}", peer, comm.user_tag(tag))
        raise


def send(tensor: Tensor, dst: int | None = None, group: Group = None, tag: int = 0, group_dst: int | None = None) -> None:
    """Send a copy of the tensor to rank dst."""
    pg = group_of_call(group, "send")
    if pg is not None:
        with _raise_on_receiver(pg, dst, group_dst, tag, "send"):
            x = array_of(tensor, "tensor")
        pg.communicator.send(x, _peer(pg, dst, group_dst, "send"), tag)


def isend(tensor: Tensor, dst: int | None = None, group: Group = None, tag: int = 0,
          group_dst: int | None = None) -> Work | None:
    """Start a send without a copy: see send(). Do not change the tensor before wait(), which waits for the receiver."""
    pg = group_of_call(group, "isend")
    if pg is None:
        return None
    with _raise_on_receiver(pg, dst, group_dst, tag, "isend"):
        x = array_of(tensor, "tensor")
    return Work(pg.communicator.start_send(x, _peer(pg, dst, group_dst, "isend"), tag), lambda _: [tensor])


def recv(tensor: Tensor, src: int | None = None, group: Group = None, tag: int = 0, group_src: int | None = None) -> int:
    """Receive the next message with this tag. Returns the sender's global rank; -1 on ranks outside the group."""
    work = irecv(tensor, src, group, tag, group_src)
    return -1 if work is None else work.source_rank()


def irecv(tensor: Tensor, src: int | None = None, group: Group = None, tag: int = 0,
          group_src: int | None = None) -> Work | None:
    """Start a recv: see recv(). Work.source_rank() is the sender. From any rank, wait() or is_completed() receives."""
    pg = group_of_call(group, "irecv")
    if pg is None:
        return None
    array_of(tensor, "tensor", output=True)
    comm = pg.communicator
    if src is None and group_src is None:
        handle: Handle = comm.start_recv_any(tag)
    else:
        peer = _peer(pg, src, group_src, "irecv")
        handle = comm.start_recv(peer, tag).then(lambda h: (peer, h.value()))
    sender: list[int] = []

    def finish(received: tuple[int, Any]) -> list[Tensor]:
        sender.append(pg.ranks[received[0]])
        value, room = received[1], tensor.array
        if value.dtype != room.dtype or value.size != room.size:
            raise RuntimeError(f"recv from rank {sender[0]}: received {value.dtype} {value.shape} for a tensor of "
                               f"{room.dtype} {room.shape}; both ranks must pass the same dtype and number of elements")
        overwritten(tensor, "recv of dparallel.distributed")
        return [write(tensor, value)]

    overwritten(tensor, "a pending irecv of dparallel.distributed")
    return Work(handle, finish, lambda: sender[0])


class P2POp:
    """One of the messages of batch_isend_irecv()."""

    def __init__(self, op: Callable[..., Any], tensor: Tensor, peer: int | None = None, group: Group = None, tag: int = 0,
                 group_peer: int | None = None) -> None:
        if op not in (isend, irecv):
            raise ValueError("Invalid ``op``. Expected ``op`` to be of type ``isend`` or ``irecv`` of this package.")
        array_of(tensor, "tensor")
        self.op: Callable[..., Any] = op
        self.tensor: Tensor = tensor
        self.peer: int | None = peer
        self.group: Group = group
        self.tag: int = tag
        self.group_peer: int | None = group_peer

    def __repr__(self) -> str:
        return f"P2POp({self.op.__name__}, peer={self.peer}, tag={self.tag}, {tuple(self.tensor.shape)})"


def batch_isend_irecv(p2p_op_list: list[P2POp]) -> list[Work]:
    """Start all messages of a list and return their Works, one for each message of a group with this rank."""
    if not isinstance(p2p_op_list, (list, tuple)) or not all(isinstance(op, P2POp) for op in p2p_op_list):
        raise ValueError("Invalid ``p2p_op_list``. Each op is expected to to be of type ``P2POp``.")
    works = [op.op(op.tensor, op.peer, op.group, op.tag, op.group_peer) for op in p2p_op_list]
    return [work for work in works if work is not None]


# --- Python objects --------------------------------------------------------------------------------------------------------

def all_gather_object(object_list: list[Any], obj: Any, group: Group = None) -> None:
    """Gather picklable objects from all ranks in a list."""
    pg = group_of_call(group, "all_gather_object")
    if pg is not None:
        objects.all_gather_object(object_list, obj, pg.communicator)


def gather_object(obj: Any, object_gather_list: list[Any] | None = None, dst: int | None = None, group: Group = None,
                  group_dst: int | None = None) -> None:
    """Gather picklable objects of all ranks in a list on rank dst."""
    pg = group_of_call(group, "gather_object")
    if pg is None:
        return
    with pg.raise_on_all_ranks("gather_object"):
        root = group_rank_of(pg, dst, group_dst, "gather_object", 0)
        if object_gather_list and pg.rank() != root:
            raise ValueError("Argument ``object_gather_list`` must NOT be specified on non-destination ranks.")
    objects.gather_object(obj, object_gather_list, root, pg.communicator)


def broadcast_object_list(object_list: list[Any], src: int | None = None, group: Group = None, device: object = None,
                          group_src: int | None = None) -> None:
    """Broadcast the picklable objects in the list of rank src to all ranks."""
    pg = group_of_call(group, "broadcast_object_list")
    if pg is None:
        return
    with pg.raise_on_all_ranks("broadcast_object_list"):
        on_cpu(device, "broadcast_object_list")
        root = group_rank_of(pg, src, group_src, "broadcast_object_list", 0)
    objects.broadcast_object_list(object_list, root, pg.communicator)


def scatter_object_list(scatter_object_output_list: list[Any], scatter_object_input_list: list[Any] | None = None,
                        src: int | None = None, group: Group = None, group_src: int | None = None) -> None:
    """Scatter picklable objects of rank src: each rank gets its item."""
    pg = group_of_call(group, "scatter_object_list")
    if pg is None:
        return
    with pg.raise_on_all_ranks("scatter_object_list"):
        root = group_rank_of(pg, src, group_src, "scatter_object_list", 0)
    objects.scatter_object_list(scatter_object_output_list, scatter_object_input_list, root, pg.communicator)


def send_object_list(object_list: list[Any], dst: int | None = None, group: Group = None, device: object = None,
                     group_dst: int | None = None, use_batch: bool = False) -> None:
    """Send copies of the list's picklable items to rank dst."""
    pg = group_of_call(group, "send_object_list")
    if pg is None:
        return
    with _raise_on_receiver(pg, dst, group_dst, 0, "send_object_list"):
        on_cpu(device, "send_object_list")
        data = np.frombuffer(pickle.dumps(list(object_list)), np.uint8)
    pg.communicator.send(data, _peer(pg, dst, group_dst, "send_object_list"))


def recv_object_list(object_list: list[Any], src: int | None = None, group: Group = None, device: object = None,
                     group_src: int | None = None, use_batch: bool = False) -> int:
    """Receive objects from send_object_list(). Returns the sender's global rank; -1 on ranks outside the group."""
    pg = group_of_call(group, "recv_object_list")
    if pg is None:
        return -1
    on_cpu(device, "recv_object_list")
    comm = pg.communicator
    if src is None and group_src is None:
        peer, data = comm.start_recv_any().wait()
    else:
        peer = _peer(pg, src, group_src, "recv_object_list")
        data = comm.recv(peer)
    objects_received = pickle.loads(data.tobytes())
    if len(objects_received) != len(object_list):
        raise RuntimeError(f"recv_object_list: received {len(objects_received)} objects for a list of {len(object_list)}")
    object_list[:] = objects_received
    return get_global_rank(pg, peer)
