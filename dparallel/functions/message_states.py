"""The states of a message's two ends, and what each event does to them; pending_messages.py decides which event happens."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import Any

LAST = 16                            # in a gradient's note, beside GRAD and DUAL: no further gradient will follow
NOT_REACHED, REACHED, CLOSED = 0.0, 1.0, 2.0        # status messages: will the coming pass send a gradient


class State(Enum):
    """The state of one end of a message."""

    NEW = "no pass has taken part"
    JOINED = "a Send is in the running pass, which has no path to its token"
    MISSED = "a pass that frees its graph did not reach the received tensor: zeros are due"
    MISSED_KEEPING = "a pass that keeps its graph did not reach the received tensor: zeros are due"
    BY_TOKEN = "a graph is kept: a Send takes part in passes that reach its token"
    KEPT = "a graph is kept: a status is sent when a pass starts"
    ZEROS_KEPT = "as KEPT, after zeros"
    CLOSED = "no further pass takes part"
    USED_UP = "as CLOSED; it is an error to reach the tensor, which the last pass did not reach"
    EXPIRED = "as CLOSED; it is an error to reach the tensor, whose kept graph was given up"


class Event(Enum):
    """What changes the state of an end."""

    JOINS = "a pass takes a Send along without a path to its token"
    REACHED = "a pass that starts reaches the received tensor"
    MISSED = "a pass that starts and frees its graph does not reach the received tensor"
    MISSED_KEEPING = "a pass that starts and keeps its graph does not reach the received tensor"
    KEEPS = "the gradient is sent or received in a pass that keeps its graph"
    FREES = "the last gradient is sent or received"
    DROPPED = "no pass can reach the tensor any more, or the other end is closed"
    ANSWERED = "this rank waits for others: zeros that are due are sent"
    POSTPONED = "zeros that are due are not sent: the tensor led to a Send without a pass"
    CLOSES = "the rank gives the message up, or ends"


Action = Callable[[Any], object]                     # gets the message, in its new state
Row = tuple[set[State], Event, State | None, Action | None]     # None: the same state; no action

FRESH = {State.NEW, State.JOINED, State.MISSED, State.MISSED_KEEPING}          # no gradient was sent or received
DUE = {State.MISSED, State.MISSED_KEEPING}
HELD = {State.BY_TOKEN, State.KEPT, State.ZEROS_KEPT}
STATUS = {State.KEPT, State.ZEROS_KEPT}

Table = dict[tuple[State, Event], tuple[State, Action | None]]


def by_state(*rows: Row) -> Table:
    """(state, event) -> (the next state, action). An event that a state has no row for does nothing."""
    found: Table = {}
    for states, event, after, action in rows:
        for state in states:
            if (state, event) in found:
                raise ValueError(f"two rows for {state} and {event}")
            found[state, event] = after or state, action
    return found


SENDER = by_state(
    (FRESH, Event.JOINS, State.JOINED, None),
    ({State.NEW}, Event.KEEPS, State.BY_TOKEN, None),
    ({State.JOINED}, Event.KEEPS, State.KEPT, None),
    ({State.NEW, State.BY_TOKEN}, Event.FREES, State.CLOSED, None),
    ({State.JOINED, State.KEPT}, Event.FREES, State.USED_UP, None),
    ({State.NEW, State.BY_TOKEN}, Event.DROPPED, State.CLOSED, lambda message: message.free_graph()),
    ({State.KEPT}, Event.DROPPED, State.USED_UP, lambda message: message.free_graph()))
RECEIVER = by_state(
    (FRESH, Event.REACHED, State.NEW, None),
    (STATUS, Event.REACHED, None, lambda message: message.send_status(REACHED)),
    (FRESH, Event.MISSED, State.MISSED, lambda message: message.settle_later()),
    (FRESH, Event.MISSED_KEEPING, State.MISSED_KEEPING, lambda message: message.settle_later()),
    (STATUS, Event.MISSED, None, lambda message: message.send_status(NOT_REACHED)),
    (STATUS, Event.MISSED_KEEPING, None, lambda message: message.send_status(NOT_REACHED)),
    (FRESH, Event.KEEPS, State.KEPT, lambda message: message.watch_graph()),
    ({*FRESH, State.KEPT}, Event.FREES, State.CLOSED, None),
    ({State.ZEROS_KEPT}, Event.FREES, State.EXPIRED, None),
    ({State.NEW, State.KEPT}, Event.DROPPED, State.CLOSED, None),
    ({State.MISSED}, Event.ANSWERED, State.USED_UP, lambda message: message.send_zeros(LAST)),
    ({State.MISSED_KEEPING}, Event.ANSWERED, State.ZEROS_KEPT, lambda message: message.send_zeros(0)),
    (DUE, Event.POSTPONED, State.NEW, None),
    (FRESH, Event.CLOSES, State.USED_UP, lambda message: message.send_zeros(LAST)),
    (STATUS, Event.CLOSES, State.EXPIRED, lambda message: message.send_status(CLOSED)))
