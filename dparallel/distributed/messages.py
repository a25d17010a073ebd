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
from .collectives import array_of, group_of_call, on_cpu
from .groups import Group, ProcessGroup, get_global_rank, place_of
from .work import Work
from .writes import overwritten, write


def _peer(group: ProcessGroup, rank: int | None, group_rank: int | None, name: str) -> int:
    """The group rank of the other rank of a message; ValueError if it is this rank."""
    place = place_of(group, rank, group_rank, name)
    if place == group.rank():
        end = "destination" if "send" in name else "source"
        raise ValueError(f"Invalid {end} rank: {end} rank should not be the same as the rank of the current process.")
    return place


@contextlib.contextmanager
def _raise_on_receiver(group: ProcessGroup, rank: int | None, group_rank: int | None, tag: int, name: str) -> Iterator[None]:
    """A block that prepares what is sent. Its exception is raised here, and as a CollectiveError on the receiver, which
    would otherwise wait."""
    try:
        yield
    except Exception as error:
        comm = group.communicator
        with contextlib.suppress(ValueError):        # without a valid receiver nobody waits for this message
            place = _peer(group, rank, group_rank, name)
            comm.refuse_message(f"{name}: {type(error).__name__}: {error}", place, comm.user_tag(tag))
        raise


def send(tensor: Tensor, dst: int | None = None, group: Group = None, tag: int = 0, group_dst: int | None = None) -> None:
    """Send a copy of the tensor to rank dst (a global rank; group_dst: a group rank).

    Args:
        tensor (Tensor): Of any shape and dtype.
        dst (int): The global rank of the receiver.
        group (ProcessGroup): The ranks that take part. Default: None, the default group.
        tag (int): A number, 0 or more, that the sender and the receiver pass alike. Default: 0.
        group_dst (int): The group rank of the receiver, in place of dst. Default: None.

    Raises:
        TypeError: an argument is not a Tensor, or not a list of Tensors.
        ValueError: the other rank is given twice or not at all, is this rank, or is not in the group.

    Example:
        >>> import dparallel
        >>> import dparallel.distributed as dist
        >>> def main(comm):
        ...     dist.init_process_group(comm=comm)
        ...     x = ag.full((2,), float(dist.get_rank()))
        ...     if dist.get_rank() == 0:
        ...         dist.send(x + 5, dst=1)
        ...     else:
        ...         dist.recv(x, src=0)
        ...     dist.destroy_process_group()
        ...     return x.tolist()
        >>> dparallel.run_ranks(2, main)
        [[0.0, 0.0], [5.0, 5.0]]
    """
    pg = group_of_call(group, "send")
    if pg is not None:
        with _raise_on_receiver(pg, dst, group_dst, tag, "send"):
            x = array_of(tensor, "tensor")
        pg.communicator.send(x, _peer(pg, dst, group_dst, "send"), tag)


def isend(tensor: Tensor, dst: int | None = None, group: Group = None, tag: int = 0,
          group_dst: int | None = None) -> Work | None:
    """Send without a copy: the tensor must not be changed before wait(), which waits until the message is received.

    Args:
        tensor (Tensor): Of any shape and dtype.
        dst (int): The global rank of the receiver.
        group (ProcessGroup): The ranks that take part. Default: None, the default group.
        tag (int): A number, 0 or more, that the sender and the receiver pass alike. Default: 0.
        group_dst (int): The group rank of the receiver, in place of dst. Default: None.

    Returns:
        Work or None: The pending message; None on ranks outside the group.

    Raises:
        TypeError: an argument is not a Tensor, or not a list of Tensors.
        ValueError: the other rank is given twice or not at all, is this rank, or is not in the group.

    Example:
        >>> import dparallel
        >>> import dparallel.distributed as dist
        >>> def main(comm):
        ...     dist.init_process_group(comm=comm)
        ...     x = ag.full((2,), float(dist.get_rank()))
        ...     if dist.get_rank() == 0:
        ...         dist.isend(x + 5, dst=1).wait()
        ...     else:
        ...         dist.recv(x, src=0)
        ...     dist.destroy_process_group()
        ...     return x.tolist()
        >>> dparallel.run_ranks(2, main)
        [[0.0, 0.0], [5.0, 5.0]]
    """
    pg = group_of_call(group, "isend")
    if pg is None:
        return None
    with _raise_on_receiver(pg, dst, group_dst, tag, "isend"):
        x = array_of(tensor, "tensor")
    return Work(pg.communicator.start_send(x, _peer(pg, dst, group_dst, "isend"), tag), lambda _: [tensor])


def recv(tensor: Tensor, src: int | None = None, group: Group = None, tag: int = 0, group_src: int | None = None) -> int:
    """Write the next message from rank src (default: from any rank) with this tag into the tensor. Returns the
    sender's global rank, or -1 if this rank is not in the group. RuntimeError if the dtype or number of elements differs.

    Args:
        tensor (Tensor): Of the dtype and number of elements of the message; it is overwritten.
        src (int): The global rank of the sender. Default: None, any rank.
        group (ProcessGroup): The ranks that take part. Default: None, the default group.
        tag (int): A number, 0 or more, that the sender and the receiver pass alike. Default: 0.
        group_src (int): The group rank of the sender, in place of src. Default: None.

    Returns:
        int: The sender's global rank; -1 on ranks outside the group.

    Raises:
        TypeError: an argument is not a Tensor, or not a list of Tensors.
        ValueError: the sender is given twice, is this rank, or is not in the group.
        RuntimeError: a message of another dtype or number of elements has come.

    Example:
        >>> import dparallel
        >>> import dparallel.distributed as dist
        >>> def main(comm):
        ...     dist.init_process_group(comm=comm)
        ...     x, sender = ag.zeros(2), None
        ...     if dist.get_rank() == 0:
        ...         dist.send(ag.ones(2), dst=1)
        ...     else:
        ...         sender = dist.recv(x)
        ...     dist.destroy_process_group()
        ...     return x.tolist(), sender
        >>> dparallel.run_ranks(2, main)
        [([0.0, 0.0], None), ([1.0, 1.0], 0)]
    """
    work = irecv(tensor, src, group, tag, group_src)
    return -1 if work is None else work.source_rank()


def irecv(tensor: Tensor, src: int | None = None, group: Group = None, tag: int = 0,
          group_src: int | None = None) -> Work | None:
    """Start a recv; source_rank() of its Work is the sender's global rank. From any rank, it takes a message in wait() or
    is_completed() only.

    Args:
        tensor (Tensor): Of the dtype and number of elements of the message; it is overwritten.
        src (int): The global rank of the sender. Default: None, any rank.
        group (ProcessGroup): The ranks that take part. Default: None, the default group.
        tag (int): A number, 0 or more, that the sender and the receiver pass alike. Default: 0.
        group_src (int): The group rank of the sender, in place of src. Default: None.

    Returns:
        Work or None: The pending message; None on ranks outside the group.

    Raises:
        TypeError: an argument is not a Tensor, or not a list of Tensors.
        ValueError: the sender is given twice, is this rank, or is not in the group.
        RuntimeError: a message of another dtype or number of elements has come; wait() raises it.

    Example:
        >>> import dparallel
        >>> import dparallel.distributed as dist
        >>> def main(comm):
        ...     dist.init_process_group(comm=comm)
        ...     x = ag.zeros(2)
        ...     if dist.get_rank() == 0:
        ...         dist.send(ag.ones(2), dst=1)
        ...     else:
        ...         dist.irecv(x, src=0).wait()
        ...     dist.destroy_process_group()
        ...     return x.tolist()
        >>> dparallel.run_ranks(2, main)
        [[0.0, 0.0], [1.0, 1.0]]
    """
    pg = group_of_call(group, "irecv")
    if pg is None:
        return None
    array_of(tensor, "tensor", output=True)
    comm = pg.communicator
    if src is None and group_src is None:
        handle: Handle = comm.start_recv_any(tag)
    else:
        place = _peer(pg, src, group_src, "irecv")
        handle = comm.start_recv(place, tag).then(lambda h: (place, h.value()))
    sender: list[int] = []

    def finish(received: tuple[int, Any]) -> list[Tensor]:
        sender.append(pg.ranks[received[0]])
        value, room = received[1], tensor.array
        if value.dtype != room.dtype or value.size != room.size:
            raise RuntimeError(f"recv from rank {sender[0]}: {value.dtype} {value.shape} came, for a tensor of {room.dtype} "
                               f"{room.shape}; both ranks pass tensors of one dtype and number of elements")
        overwritten(tensor, "recv of dparallel.distributed")
        return [write(tensor, value)]

    overwritten(tensor, "a pending irecv of dparallel.distributed")
    return Work(handle, finish, lambda: sender[0])


class P2POp:
    """One of the messages of batch_isend_irecv: op is isend or irecv, peer the other rank (group_peer: in the group).

    Args:
        op: dist.isend or dist.irecv.
        tensor (Tensor): What is sent, or overwritten.
        peer (int): The other rank's global rank. Default: None, group_peer.
        group (ProcessGroup): The ranks that take part. Default: None, the default group.
        tag (int): A number, 0 or more, that the sender and the receiver pass alike. Default: 0.
        group_peer (int): The other rank's group rank, in place of peer. Default: None.

    Raises:
        ValueError: op is neither isend nor irecv.
        TypeError: tensor is not a Tensor.

    Example:
        >>> import dparallel.distributed as dist
        >>> dist.P2POp(dist.isend, ag.ones(2), peer=1)
        P2POp(isend, peer=1, tag=0, (2,))
    """

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
    """Start all messages of a list of P2POps, and return their Works. ValueError if an item is not a P2POp.

    Args:
        p2p_op_list (list of P2POp): The messages.

    Returns:
        list of Work: One for each message of a group with this rank.

    Raises:
        ValueError: an item is not a P2POp, or names a wrong rank.

    Example:
        >>> import dparallel
        >>> import dparallel.distributed as dist
        >>> def main(comm):
        ...     dist.init_process_group(comm=comm)
        ...     x, other = ag.zeros(1), 1 - dist.get_rank()
        ...     sent = ag.ones(1) * dist.get_rank()
        ...     for work in dist.batch_isend_irecv([dist.P2POp(dist.isend, sent, other), dist.P2POp(dist.irecv, x, other)]):
        ...         _ = work.wait()
        ...     dist.destroy_process_group()
        ...     return x.tolist()
        >>> dparallel.run_ranks(2, main)
        [[1.0], [0.0]]
    """
    if not isinstance(p2p_op_list, (list, tuple)) or not all(isinstance(op, P2POp) for op in p2p_op_list):
        raise ValueError("Invalid ``p2p_op_list``. Each op is expected to to be of type ``P2POp``.")
    works = [op.op(op.tensor, op.peer, op.group, op.tag, op.group_peer) for op in p2p_op_list]
    return [work for work in works if work is not None]


# --- Python objects --------------------------------------------------------------------------------------------------------

def all_gather_object(object_list: list[Any], obj: Any, group: Group = None) -> None:
    """Overwrite the list, which has an item for each rank, with copies of all ranks' obj.

    Args:
        object_list (list): Has an item for each rank; they are overwritten.
        obj: What this rank sends; it must pickle.
        group (ProcessGroup): The ranks that take part. Default: None, the default group.

    Raises:
        ValueError: there is no default group, or the group was destroyed.

    Example:
        >>> import dparallel
        >>> import dparallel.distributed as dist
        >>> def main(comm):
        ...     dist.init_process_group(comm=comm)
        ...     found = [None, None]
        ...     dist.all_gather_object(found, {'rank': dist.get_rank()})
        ...     dist.destroy_process_group()
        ...     return found
        >>> dparallel.run_ranks(2, main)
        [[{'rank': 0}, {'rank': 1}], [{'rank': 0}, {'rank': 1}]]
    """
    pg = group_of_call(group, "all_gather_object")
    if pg is not None:
        objects.all_gather_object(object_list, obj, pg.communicator)


def gather_object(obj: Any, object_gather_list: list[Any] | None = None, dst: int | None = None, group: Group = None,
                  group_dst: int | None = None) -> None:
    """Overwrite the list of rank dst (default 0), which has an item for each rank, with copies of all ranks' obj.

    Args:
        obj: What this rank sends; it must pickle.
        object_gather_list (list): On the receiver, has an item for each rank, which are overwritten; None on the
            others.
        dst (int): The global rank of the receiver. Default: None, 0.
        group (ProcessGroup): The ranks that take part. Default: None, the default group.
        group_dst (int): The group rank of the receiver, in place of dst. Default: None.

    Raises:
        ValueError: object_gather_list is given on another rank than the receiver, or the rank is given twice or not
            in the group.

    Example:
        >>> import dparallel
        >>> import dparallel.distributed as dist
        >>> def main(comm):
        ...     dist.init_process_group(comm=comm)
        ...     found = [None, None] if dist.get_rank() == 0 else None
        ...     dist.gather_object('abc'[dist.get_rank()], found)
        ...     dist.destroy_process_group()
        ...     return found
        >>> dparallel.run_ranks(2, main)
        [['a', 'b'], None]
    """
    pg = group_of_call(group, "gather_object")
    if pg is None:
        return
    with pg.raise_on_all_ranks("gather_object"):
        root = place_of(pg, dst, group_dst, "gather_object", 0)
        if object_gather_list and pg.rank() != root:
            raise ValueError("Argument ``object_gather_list`` must NOT be specified on non-destination ranks.")
    objects.gather_object(obj, object_gather_list, root, pg.communicator)


def broadcast_object_list(object_list: list[Any], src: int | None = None, group: Group = None, device: object = None,
                          group_src: int | None = None) -> None:
    """Overwrite the list's items with those of rank src (default 0); all lists have the same length. device: the CPU.

    Args:
        object_list (list): Of the same length on all ranks; overwritten on those that receive. Items must pickle.
        src (int): The global rank of the sender. Default: None, 0.
        group (ProcessGroup): The ranks that take part. Default: None, the default group.
        device: None or the CPU. Default: None.
        group_src (int): The group rank of the sender, in place of src. Default: None.

    Raises:
        ValueError: the root is given twice, or is not in the group.
        NotImplementedError: device is not the CPU.

    Example:
        >>> import dparallel
        >>> import dparallel.distributed as dist
        >>> def main(comm):
        ...     dist.init_process_group(comm=comm)
        ...     found = ['a', {'b': 1}] if dist.get_rank() == 0 else [None, None]
        ...     dist.broadcast_object_list(found, src=0)
        ...     dist.destroy_process_group()
        ...     return found
        >>> dparallel.run_ranks(2, main)
        [['a', {'b': 1}], ['a', {'b': 1}]]
    """
    pg = group_of_call(group, "broadcast_object_list")
    if pg is None:
        return
    with pg.raise_on_all_ranks("broadcast_object_list"):
        on_cpu(device, "broadcast_object_list")
        root = place_of(pg, src, group_src, "broadcast_object_list", 0)
    objects.broadcast_object_list(object_list, root, pg.communicator)


def scatter_object_list(scatter_object_output_list: list[Any], scatter_object_input_list: list[Any] | None = None,
                        src: int | None = None, group: Group = None, group_src: int | None = None) -> None:
    """Overwrite the first item of each rank's output list with a copy of that rank's item in the input list of rank src.

    Args:
        scatter_object_output_list (list): Has one item or more; the first is overwritten.
        scatter_object_input_list (list): On the sender, an item for each rank, which must pickle; None on the
            others.
        src (int): The global rank of the sender. Default: None, 0.
        group (ProcessGroup): The ranks that take part. Default: None, the default group.
        group_src (int): The group rank of the sender, in place of src. Default: None.

    Raises:
        ValueError: the root is given twice, or is not in the group.

    Example:
        >>> import dparallel
        >>> import dparallel.distributed as dist
        >>> def main(comm):
        ...     dist.init_process_group(comm=comm)
        ...     found = [None]
        ...     dist.scatter_object_list(found, ['a', 'b'] if dist.get_rank() == 0 else None)
        ...     dist.destroy_process_group()
        ...     return found
        >>> dparallel.run_ranks(2, main)
        [['a'], ['b']]
    """
    pg = group_of_call(group, "scatter_object_list")
    if pg is None:
        return
    with pg.raise_on_all_ranks("scatter_object_list"):
        root = place_of(pg, src, group_src, "scatter_object_list", 0)
    objects.scatter_object_list(scatter_object_output_list, scatter_object_input_list, root, pg.communicator)


def send_object_list(object_list: list[Any], dst: int | None = None, group: Group = None, device: object = None,
                     group_dst: int | None = None, use_batch: bool = False) -> None:
    """Send copies of the list's items to rank dst. use_batch: ignored, as sends do not block.

    Args:
        object_list (list): The objects, which must pickle.
        dst (int): The global rank of the receiver.
        group (ProcessGroup): The ranks that take part. Default: None, the default group.
        device: None or the CPU. Default: None.
        group_dst (int): The group rank of the receiver, in place of dst. Default: None.
        use_batch (bool): Ignored. Default: False.

    Raises:
        ValueError: the other rank is given twice or not at all, is this rank, or is not in the group.
        NotImplementedError: device is not the CPU.

    Example:
        >>> import dparallel
        >>> import dparallel.distributed as dist
        >>> def main(comm):
        ...     dist.init_process_group(comm=comm)
        ...     found = [None, None]
        ...     if dist.get_rank() == 0:
        ...         dist.send_object_list(['a', 1], dst=1)
        ...     else:
        ...         sender = dist.recv_object_list(found, src=0)
        ...     dist.destroy_process_group()
        ...     return found
        >>> dparallel.run_ranks(2, main)
        [[None, None], ['a', 1]]
    """
    pg = group_of_call(group, "send_object_list")
    if pg is None:
        return
    with _raise_on_receiver(pg, dst, group_dst, 0, "send_object_list"):
        on_cpu(device, "send_object_list")
        data = np.frombuffer(pickle.dumps(list(object_list)), np.uint8)
    pg.communicator.send(data, _peer(pg, dst, group_dst, "send_object_list"))


def recv_object_list(object_list: list[Any], src: int | None = None, group: Group = None, device: object = None,
                     group_src: int | None = None, use_batch: bool = False) -> int:
    """Overwrite the list's items with those that rank src (default: any) sends. Returns the sender's global rank.
    RuntimeError if it sends another number of items.

    Args:
        object_list (list): Has as many items as are sent; they are overwritten.
        src (int): The global rank of the sender. Default: None, any rank.
        group (ProcessGroup): The ranks that take part. Default: None, the default group.
        device: None or the CPU. Default: None.
        group_src (int): The group rank of the sender, in place of src. Default: None.
        use_batch (bool): Ignored. Default: False.

    Returns:
        int: The sender's global rank; -1 on ranks outside the group.

    Raises:
        ValueError: the sender is given twice, is this rank, or is not in the group.
        RuntimeError: another number of items has come.
        NotImplementedError: device is not the CPU.

    Example:
        >>> import dparallel
        >>> import dparallel.distributed as dist
        >>> def main(comm):
        ...     dist.init_process_group(comm=comm)
        ...     found = [None, None]
        ...     if dist.get_rank() == 0:
        ...         dist.send_object_list(['a', 1], dst=1)
        ...     else:
        ...         sender = dist.recv_object_list(found, src=0)
        ...     dist.destroy_process_group()
        ...     return found
        >>> dparallel.run_ranks(2, main)
        [[None, None], ['a', 1]]
    """
    pg = group_of_call(group, "recv_object_list")
    if pg is None:
        return -1
    on_cpu(device, "recv_object_list")
    comm = pg.communicator
    if src is None and group_src is None:
        place, data = comm.start_recv_any().wait()
    else:
        place = _peer(pg, src, group_src, "recv_object_list")
        data = comm.recv(place)
    objects_received = pickle.loads(data.tobytes())
    if len(objects_received) != len(object_list):
        raise RuntimeError(f"recv_object_list: {len(objects_received)} objects came, for a list of {len(object_list)}")
    object_list[:] = objects_received
    return get_global_rank(pg, place)
