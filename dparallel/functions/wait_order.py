"""When the partner of a started collective begins in backward: in the reversed order of starts, whatever the order of waits.

Ranks start collectives in one order, but may wait for them in any. In backward Wait begins the partner, and nodes run newest
first: so that ranks begin the same one, a Wait must run after all that was started or called after its Start. It depends
on that Start alone, so it may run as late as just before it. Hence whatever is overtaken, a collective that is still under
way when a later one is waited for or called, or a message passed, takes its number there and then, and its Wait will have
it. A Wait that was not overtaken keeps its own number, and all the overlap.
"""

from __future__ import annotations

import threading
import weakref
from typing import Any

from autograd.core.graph import next_number


class Turn:
    """A collective between start and wait: which number its Wait has, where it is not that of the time of wait()."""

    number: int | None = None


class _UnderWay(threading.local):
    """What this thread has started with a gradient to come, and not waited for; in order."""

    def __init__(self) -> None:
        self.turns: list[weakref.ref[Turn]] = []


_under_way = _UnderWay()


def started(turn: Turn) -> None:
    """A recorded collective is under way."""
    _under_way.turns.append(weakref.ref(turn))


def overtake(waited: Turn | None = None) -> None:
    """A collective or a message is called, or one that was started is waited for: what was started before, and is still
    under way, takes its number."""
    if not _under_way.turns:
        return
    found = [(ref, turn) for ref in _under_way.turns if (turn := ref()) is not None]
    for _, turn in found:
        if turn is waited:
            break
        if turn.number is None:
            turn.number = next_number()
    _under_way.turns = [ref for ref, turn in found if turn is not waited]


def settle(turn: Turn, node: Any) -> None:
    """The Wait of a turn has been recorded: it gets the number that was taken for it."""
    if turn.number is not None:
        node.seq = turn.number
