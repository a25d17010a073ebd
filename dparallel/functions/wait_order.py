"""The order in which backward starts the partners of started collectives: the reverse of the starts, not of the waits.

All ranks start collectives in one order, but each may wait for them in another. In backward the node of wait() starts the
partner, and nodes run by decreasing number. For all ranks to start the same partner, a Wait must run after the nodes of all
collectives and messages called after its Start. It depends on its Start alone, so any number above that of its Start is
valid. Therefore, when a later collective is waited for or called, or a message is passed, each collective that is still
outstanding reserves its Wait's number at that moment. A Wait without a reserved number keeps the number of its own call,
and with it the largest overlap.
"""

from __future__ import annotations

import threading
import weakref

from autograd.core.graph import Node, next_number


class StartedCollective:
    """A collective between start and wait, with the number reserved for its Wait; None: the number of the wait() call."""

    reserved_number: int | None = None


class _Outstanding(threading.local):
    """The recorded collectives that this thread has started and not waited for, in order."""

    def __init__(self) -> None:
        self.collectives: list[weakref.ref[StartedCollective]] = []


_outstanding = _Outstanding()


def register(collective: StartedCollective) -> None:
    """Add a recorded collective that has been started."""
    _outstanding.collectives.append(weakref.ref(collective))


def reserve_numbers(waited: StartedCollective | None = None) -> None:
    """Reserve a number for the Wait of each outstanding collective that was started before `waited` (None: of all).

    Called when a collective or a message is called, or when a started collective is waited for.
    """
    if not _outstanding.collectives:
        return
    alive = [(ref, collective) for ref in _outstanding.collectives if (collective := ref()) is not None]
    for _, collective in alive:
        if collective is waited:
            break
        if collective.reserved_number is None:
            collective.reserved_number = next_number()
    _outstanding.collectives = [ref for ref, collective in alive if collective is not waited]


def assign_number(collective: StartedCollective, node: Node) -> None:
    """Give the recorded Wait node the number reserved for it, if there is one."""
    if collective.reserved_number is not None:
        node.seq = collective.reserved_number
