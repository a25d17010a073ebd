"""torch.distributed's barriers, and its block of coalesced collectives."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from datetime import timedelta

import numpy as np

from .arguments import finish_call, group_of_call, on_cpu
from .groups import Group, checked_timeout, get_global_rank, is_member
from .work import Work


def barrier(group: Group = None, async_op: bool = False, device_ids: object = None,
            timeout: timedelta | None = None) -> Work | None:
    """Synchronize all ranks: block until every rank has called barrier()."""
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
    """A barrier that raises, on all ranks, if a rank is late. The error names it; the late rank raises when it calls."""
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
    waiting = {rank: comm.start_recv(rank, tag) for rank in range(1, comm.size)}
    for rank, handle in waiting.items():
        while not handle.done() and time.monotonic() < deadline and (wait_all_ranks or not missing):
            time.sleep(1e-3)
        if not handle.done():
            missing.append(rank)
    text = "" if not missing else (
        f"monitored_barrier: rank{'s' * (len(missing) > 1)} {', '.join(str(get_global_rank(group, p)) for p in missing)} "
        f"did not call within {limit:g} s")
    if missing and not wait_all_ranks:
        text = f"monitored_barrier: rank {get_global_rank(group, missing[0])} did not call within {limit:g} s"
    for rank, handle in waiting.items():
        comm.send(np.frombuffer(text.encode(), np.uint8), rank, tag)    # also to late ranks
        if rank not in missing:
            handle.wait()
    pg.late += [waiting[rank] for rank in missing]
    if text:
        raise RuntimeError(text)


class Coalesced:
    """The value of coalescing_manager(): the Works appended to it."""

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
    """A block of collectives of one group, with append(work) and wait().

    PyTorch sends them together at the end of the block; here each is sent when it is called, with the same results.
    """
    is_member(group)
    on_cpu(device, "_coalescing_manager")
    coalesced = Coalesced()
    yield coalesced
    if not async_ops:
        coalesced.wait()
