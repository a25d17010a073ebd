"""Point-to-point messages: send, recv, sendrecv; and the collectives permute and shift.

A message is a header (a Call: dtype, shape, number) and its data, so the receiver need not know them in advance. Messages
between two ranks with one tag arrive in the order of the sends. A send never waits for its receiver; a message occupies
memory until it is received.

A process that holds several ranks (local devices) names one with `rank=`, and must send before it receives. permute and
shift are collectives: checked, and the same on every kind of communicator.
"""

from __future__ import annotations

import operator
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from time import perf_counter_ns
from typing import Any, NamedTuple

import numpy as np

from autograd.core.tensor import TensorBase
from autograd.spans.spans import MESSAGE, complete, record_function, recorders

from .handle import Handle
from .header import Call, CollectiveError, checksum

Array = np.ndarray[Any, Any]
ArrayOrTensor = Array | TensorBase
INVALID = -1.0                       # the note of a message that has an error text instead of data
ZEROS = 32                           # in the note of a gradient: it is zero, and may stay unreceived


class Message(NamedTuple):
    """A received message: the array, the message's number, and the sender's note."""

    array: Array
    number: int
    note: float


class Messages(ABC):
    """The point-to-point messages of a communicator."""

    size: int
    held: tuple[int, ...]
    freed = False                                    # by free()
    abandoned = False                                # a rank of it was lost: see lost.py

    # --- one message --------------------------------------------------------------------------------------------------

    def send(self, x: Array, dest: int, tag: int = 0, *, rank: int | None = None) -> None:
        """Send a copy of x to rank `dest` without waiting for the receiver."""
        self.post_send(np.array(x, order="C") if type(x) is np.ndarray else x, dest, self.user_tag(tag), rank=rank)

    def recv(self, source: int, tag: int = 0, *, like: ArrayOrTensor | None = None, rank: int | None = None) -> Array:
        """Receive the next message from a rank with this tag."""
        return self.start_recv(source, tag, like=like, rank=rank).wait()

    def start_send(self, x: Array, dest: int, tag: int = 0, *, rank: int | None = None) -> Handle[None]:
        """Start a send: see send(). Do not change x, which is not copied, before wait(), which waits for the receiver."""
        return self.post_send(x, dest, self.user_tag(tag), rank=rank)[1]

    def start_recv(self, source: int, tag: int = 0, *, like: ArrayOrTensor | None = None,
                   rank: int | None = None) -> Handle[Array]:
        """Start a recv: see recv(). Receives with one source and tag match messages in the order of their starts."""
        return received(self.post_recv(source, self.user_tag(tag), rank=rank), like, source, tag)

    def start_recv_any(self, tag: int = 0, *, rank: int | None = None) -> Handle[tuple[int, Array]]:
        """Start receiving the first message with this tag from any rank. The Handle gives (source, array)."""
        local_rank, number = self._local_rank(rank), self.user_tag(tag)
        taken: list[tuple[int, Handle]] = []

        def poll() -> bool:
            if not taken:
                order = [(self._last_source + 1 + step) % self.size for step in range(self.size)]      # round robin
                source = next((peer for peer in order if self._probe(local_rank, peer, number)), None)
                if source is not None:
                    self._last_source = source
                    taken.append((source, self.start_recv(source, tag, rank=rank)))
            return bool(taken)

        def finish() -> tuple[int, Array]:
            self._poll_until(poll, f"recv(source=any, tag={number})")
            source, handle = taken[0]
            return source, handle.wait()

        return Handle(finish, lambda: poll() and taken[0][1].done())

    _last_source = -1

    def sendrecv(self, x: Array, dest: int, source: int, sendtag: int = 0, recvtag: int = 0, *,
                 like: ArrayOrTensor | None = None, rank: int | None = None) -> Array:
        """Send x to `dest` and receive from `source`."""
        self.send(x, dest, sendtag, rank=rank)
        return self.recv(source, recvtag, like=like, rank=rank)

    # --- collectives -------------------------------------------------------------------------------------------------

    def permute(self, xs: Sequence[Array], pairs: Sequence[tuple[int, int]]) -> list[Array]:
        """Move each source's array to its dest, for pairs (source, dest). A rank is at most once a source and once a dest.

        A rank that is no dest gets an empty array of shape (0,). Arrays may have any dtypes and shapes.
        """
        return self._permute(xs, pairs, True).wait()

    def start_permute(self, xs: Sequence[Array], pairs: Sequence[tuple[int, int]]) -> Handle[list[Array]]:
        """Start a permute: see permute()."""
        return self._permute(xs, pairs, False)

    def shift(self, xs: Sequence[Array], by: int = 1, *, ring: bool = True) -> list[Array]:
        """Move each rank's array `by` ranks further: around the ring, or, with ring=False, along the line."""
        return self.permute(xs, shift_pairs(self.size, by, ring))

    def start_shift(self, xs: Sequence[Array], by: int = 1, *, ring: bool = True) -> Handle[list[Array]]:
        """Start a shift: see shift()."""
        return self.start_permute(xs, shift_pairs(self.size, by, ring))

    # --- with numbers and notes, for the Functions --------------------------------------------------------------------

    def post_send(self, x: Any, dest: Any, tag: int, note: float = 0.0, rank: int | None = None) -> tuple[int, Handle]:
        """Send x without a copy, with a note. Returns the message's number, and a Handle to wait for before x may change."""
        local_rank, peer = self._local_rank(rank), self._rank_number(dest, "dest")
        array, problem = sendable(x)
        call = Call("send", self.size, array, root=peer, value=note, error=problem)
        if call.error:
            self.refuse_message(call.error, peer, tag, local_rank)
            raise CollectiveError(f"rank {local_rank}: {call_text('send', 'dest', peer, tag)}: {call.error}")
        self._with_number(call)
        if not recorders:
            return call.key, self._send_message(local_rank, peer, tag, call, array)
        with record_function("dparallel::send", None, MESSAGE, array.nbytes, self.message_flight(local_rank, call.key)):
            return call.key, self._send_message(local_rank, peer, tag, call, array)

    def refuse_message(self, reason: str, dest: int, tag: int, rank: int | None = None) -> None:
        """Send the reason why there is no message; the receiver raises it as a CollectiveError."""
        text = np.frombuffer(reason.encode(), np.uint8)
        notice = self._with_number(Call("send", self.size, text, root=dest, value=INVALID))
        self._send_message(self._local_rank(rank), dest, tag, notice, text)

    def post_recv(self, source: Any, tag: int, rank: int | None = None) -> Handle:
        """A Handle of the next Message from source with this tag: its array, number and note."""
        local_rank, peer = self._local_rank(rank), self._rank_number(source, "source")
        what = call_text("recv", "source", peer, tag)
        return self._receive_message(local_rank, peer, tag, what).then(lambda h: self._taken(what, peer, h.value()))

    def _taken(self, what: str, source: int, pair: tuple[Call, Array]) -> Message:
        """The Message that has arrived, recorded in a timeline."""
        if recorders:
            now = perf_counter_ns()
            complete("dparallel::recv", MESSAGE, now, now, pair[1].nbytes, self.message_flight(source, pair[0].key))
        return _to_message(what, source, pair)

    flights = 0                                      # the number of the communicator's name in spans, << 40

    def message_flight(self, source: int, key: int) -> int:
        """The number of a message in a timeline, unique on its communicator for 2**24 messages."""
        return self.flights + ((source & 0xFFFF) << 24 | key & 0xFFFFFF)

    def _with_number(self, call: Call) -> Call:
        """The call with a number that no other message of this process on this communicator has."""
        call.key, self._messages = self._messages, self._messages + 1
        return call

    _messages = 0                                    # sent so far

    def user_tag(self, tag: Any) -> int:
        """A user's tag as an int."""
        try:
            number = operator.index(tag)
        except TypeError:
            raise ValueError(f"tag={tag!r} must be an integer of at least 0") from None
        if not 0 <= number <= self.max_tag:
            raise ValueError(f"tag={number} is not one of 0 to {self.max_tag}")
        return number

    def _rank_number(self, rank: Any, name: str) -> int:
        try:
            number = operator.index(rank)
        except TypeError:
            raise ValueError(f"{name}={rank!r} must be a rank, an integer") from None
        if not 0 <= number < self.size:
            raise ValueError(f"{name}={number} is not one of the ranks 0 to {self.size - 1}")
        return number

    def _local_rank(self, rank: int | None) -> int:
        """The local rank that sends or receives; ValueError if it is not local, or there are several and none is passed."""
        if rank is None and len(self.held) > 1:
            raise ValueError(f"this process holds ranks {self.held[0]} to {self.held[-1]}: pass rank= to choose which "
                             "sends or receives, or use permute or shift, which take one array for each")
        number = self.held[0] if rank is None else self._rank_number(rank, "rank")
        if number not in self.held:
            raise ValueError(f"rank={number} is not a local rank; local ranks: {', '.join(map(str, self.held))}")
        return number

    def _permute(self, xs: Any, pairs: Any, blocking: bool) -> Handle:
        arrays, error = self._checked_arrays(xs)
        flat, problem = flat_pairs(pairs, self.size)
        calls = [Call("permute", self.size, x, error=error or problem) for x in arrays]
        for call in calls:
            call.sizes, call.key = flat, checksum(flat)
        return self._blocked_issue(calls, arrays, blocking)

    # --- implemented by each kind of communicator ------------------------------------------------------------------------

    max_tag = 2**20 - 1                              # every MPI allows at least this

    @abstractmethod
    def _send_message(self, local_rank: int, peer: int, tag: int, call: Call, x: Array) -> Handle:
        """Send call and x, contiguous, from a local rank to `peer`; x is not copied if possible."""

    @abstractmethod
    def _receive_message(self, local_rank: int, peer: int, tag: int, what: str) -> Handle:
        """A Handle of the next (call, array) from `peer` to a local rank. what: the call as text, for errors."""

    @abstractmethod
    def _probe(self, local_rank: int, peer: int, tag: int) -> bool:
        """Whether the next message from `peer` to a local rank with this tag has arrived."""

    @abstractmethod
    def _poll_until(self, poll: Callable[[], bool], what: str) -> None:
        """Call poll() until it is true; raise an error if it never can be."""

    @abstractmethod
    def _checked_arrays(self, xs: Any) -> tuple[list[Array], str]: ...

    @abstractmethod
    def _blocked_issue(self, calls: list[Call], arrays: list[Array], blocking: bool) -> Handle: ...


def _to_message(what: str, source: int, pair: tuple[Call, Array]) -> Message:
    """The Message of a received pair; CollectiveError if the sender could not send it."""
    call, array = pair
    if call.value == INVALID:
        raise CollectiveError(f"{what}: rank {source} could not send it: {array.tobytes().decode()}")
    return Message(array, call.key, call.value)


def received(handle: Handle, like: ArrayOrTensor | None, source: int, tag: int) -> Handle:
    """A Handle of a Message's array; CollectiveError unless it has the dtype and shape of `like`."""
    def checked(handle: Handle) -> Array:
        array: Array = handle.value().array
        check_like(array, like, call_text("recv", "source", source, tag))
        return array

    return handle.then(checked)


def check_like(array: Array, like: ArrayOrTensor | None, what: str) -> None:
    """CollectiveError unless the array is of the dtype and shape of `like` (an array, a Tensor, or None: any)."""
    if like is not None and not (hasattr(like, "dtype") and hasattr(like, "shape")):
        raise TypeError(f"{what}: like={like!r} must be an array or a Tensor")
    if like is not None and (array.dtype, array.shape) != (np.dtype(like.dtype), tuple(like.shape)):
        raise CollectiveError(f"{what}: received {array.dtype} {array.shape}, but like= requires {np.dtype(like.dtype)} "
                              f"{tuple(like.shape)}; sender and receiver must agree")


def gradient_tag(number: int) -> int:
    """The tag of the gradient of a message."""
    return -1 - 2 * number


def status_tag(number: int) -> int:
    """The tag of messages that say whether a pass sends the gradient of message `number`, for senders that wait for it."""
    return -2 - 2 * number


def is_status(tag: int) -> bool:
    """Whether a tag is a status_tag."""
    return tag < 0 and tag % 2 == 0


def may_stay_unreceived(tag: int, note: float) -> bool:
    """Whether a message may legitimately stay unreceived: a status, or a gradient of zeros."""
    return is_status(tag) or (tag < 0 and note >= 0 and bool(int(note) & ZEROS))


def call_text(name: str, end: str, rank: int, tag: int) -> str:
    """A message as text, for errors and the watchdog."""
    what = "status of the gradient of message {}" if is_status(tag) else "gradient of message {}"
    return f"{name}({end}={rank}, " + (f"tag={tag})" if tag >= 0 else what.format((-1 - tag) // 2) + ")")


def sendable(x: Any) -> tuple[Array, str]:
    """x as a contiguous array, and the reason why it can't be sent, or ""."""
    if x is None or isinstance(x, np.ma.MaskedArray):
        return np.empty(0), "None instead of an array" if x is None else "masked arrays can't be sent"
    try:
        return np.asarray(x, order="C"), ""
    except Exception as error:                       # converting runs the object's own code: the receiver must raise
        return np.empty(0), f"not an array: {error}"


def shift_pairs(size: int, by: Any, ring: bool = True) -> list[tuple[int, int]]:
    """The pairs (rank, rank + by) of all ranks; without a ring only those inside the line."""
    try:
        step = operator.index(by)
    except TypeError:
        return [(-1, -1)]                            # permute rejects it on all ranks
    if ring:
        return [(rank, (rank + step) % size) for rank in range(size)]
    return [(rank, rank + step) for rank in range(size) if 0 <= rank + step < size]


def flat_pairs(pairs: Any, size: int) -> tuple[tuple[int, ...], str]:
    """The pairs as one flat tuple, and what is wrong with them, or ""."""
    try:
        flat = tuple(operator.index(n) for source, dest in pairs for n in (source, dest))
    except Exception:                                # converting runs the object's own code: all ranks must raise
        return (), f"pairs must be (source, dest) of ranks, not {pairs!r}"
    if any(not 0 <= n < size for n in flat):
        return (), f"pairs {list(pairs)!r}: ranks are 0 to {size - 1}, and a shift is an integer"
    if len(set(flat[::2])) < len(flat) // 2 or len(set(flat[1::2])) < len(flat) // 2:
        return (), f"pairs {list(pairs)!r}: a rank may be a source once and a dest once"
    return flat, ""
