"""The backward pass of its rank in which a message takes part.

Only the order of calls decides, not references to tensors, garbage collection or the ranks' speed.

The sender's end, in its first pass. A Send takes part in a pass

- that reaches its token, an empty tensor: `loss = join(loss, token)`, or token.sum().backward() on a rank without a loss;
- that reaches no token, if it is the first such pass after the Send: therefore a token may be dropped. (In grad() only if
  the Send leads to a requested input, to an unanswered Recv, or to a collective that is reached.) A Send whose token was
  passed to join(), or with own_pass=True, takes part only in a pass that reaches the token;
- that reaches other tokens and frees nodes of the graph that the Send needs.

The receiver's end, in its first pass. The pass that reaches y sends the gradient. If a pass does not reach y, zeros are
sent, but only when this rank next waits for others: in this pass, or in a later collective, receive or wait() of a handle.
Until then a later pass may still reach y. So the sender never waits for a rank that itself waits, and passes that do not
wait may process received tensors one by one. Zeros are not sent for

- a message with own_pass=True or passed to join(): it waits for the pass that reaches it;
- a tensor that led to a Send without a pass so far: it waits for the pass of that Send;
- a message if no pass has started since its reception.

These get zeros when the communicator is freed or the rank ends. grad() with retain_graph or create_graph sends them at once,
since its caller uses the gradients of each pass. A pass consumes the messages that it took part in, or did not reach, unless
it keeps the graph. Reaching a consumed message is a RuntimeError.

After a pass that kept the graph, a Send that took part by its token does so again only by its token. One that took part
without a path to it can't know whether the other rank's next pass reaches y. So when that pass starts, the receiver's end
sends a status: REACHED, NOT_REACHED, or CLOSED, the last one. Thus the passes of the two ranks match one to one, until the
receiver's end closes the message: after MAX_MISSES backward() passes (8 times as many of grad()) that did not reach y; or
once y's graph is freed, when a pass starts or a message or a collective is called. No gradient depends on the latter. The
same holds for gradients that a create_graph pass sent, from the first pass on: no token leads to them.

Each end processes its messages from newest to oldest. An end's actions depend only on newer messages of its own rank, so no
two ranks wait for each other's status. If one process holds both ends, no status is needed: the Send takes part where y is
reached, and has a gradient of zeros elsewhere.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import threading
import warnings
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from autograd.core.engine import running, survey
from autograd.core.graph import Node
from autograd.core.tensor import edge_of

from ..autograd import Tensor, as_tensor
from ..comm import Communicator, Handle
from ..comm.handle import obligations
from ..comm.messages import ZEROS, Message, gradient_tag, status_tag
from ..comm.watchdog.call_site import Site, at_site, user_site
from .message_states import CLOSED, DUE, FRESH, HELD, LAST, REACHED, RECEIVER, SENDER, Event, State, Table

WARN_AT = 1000                       # pending messages without a backward pass, from which to warn
MAX_MISSES = 16                      # backward() passes that do not reach a message with a kept graph, before it is closed


MSG_SENT = ("took part in an earlier backward pass, which reached no token. Join it to the loss it belongs to, "
            "join(loss, token), or send it with own_pass=True, before such a pass begins")
MSG_ZEROS = ("took part in an earlier backward pass, which did not reach the received tensor, so zeros were sent when this "
             "rank next waited for others (or ended). Receive it after that pass, or pass own_pass=True or call "
             "join(loss, y): then it waits for the pass that reaches it")
MSG_EXPIRED = (f"was kept by a pass with retain_graph or create_graph, but the next {MAX_MISSES} backward passes did not "
               "reach it, so it was closed")


class PendingMessage:
    """One end of a recorded message whose gradient has not been sent (or received) yet."""

    table: Table
    texts: dict[State, str]                          # errors: which earlier pass consumed the message, and what to do

    def __init__(self, comm: Communicator, rank: int | None, peer: int, tag: int, own_pass: bool = False) -> None:
        self.comm: Communicator = comm
        self.rank: int | None = rank
        self.peer: int = peer
        self.local: bool = peer in comm.held         # whether both ends are in this process
        self.number = -1
        self.like: tuple[tuple[int, ...], np.dtype[Any]] = ((), np.dtype(float))      # shape and dtype
        self.own_pass = own_pass                     # takes part only in passes that reach it
        self.state: State = State.NEW if tag >= 0 else State.KEPT                     # tag < 0: a gradient
        self.node: weakref.ref[Node] | None = None   # of the user's tensor
        self.site: Site | None = user_site() if tag >= 0 else None  # the user's line

    def happens(self, event: Event) -> None:
        """Change the state, and run the action."""
        self.state, action = self.table.get((self.state, event), (self.state, None))
        if action is not None:
            action(self)

    def set_result(self, tensor: Tensor) -> None:
        """Store a weak reference to the node of the tensor that the user gets."""
        assert tensor.edge is not None
        self.node = weakref.ref(tensor.edge[0])

    def is_closed(self) -> bool:
        """Whether no further pass will take part."""
        return self.state not in FRESH and self.state not in HELD

    def is_open(self) -> bool:
        """Whether a backward pass may still take part in the message."""
        return self.state in FRESH or (self.state in HELD and not self.comm.freed)

    def awaits_first_pass(self) -> bool:
        """Whether no pass has taken part yet, and the other end (in another process) waits for one."""
        return self.state in FRESH and not (self.local or self.own_pass)

    def is_dropped(self) -> bool:
        """Whether the graph behind the user's tensor is freed: then no pass can reach it. This decides only which memory
        is freed.
        """
        return self.node is None or self.node() is None

    def is_reached_by(self, members: set[Node]) -> bool:
        """Whether the node of the user's tensor is one of a pass's nodes."""
        return self.node is not None and self.node() in members

    def take_part(self) -> bool:
        """Record that the gradient is sent or received in the running pass. Returns whether it is the last gradient: the
        pass frees its graph.
        """
        keep = bool(running.passes and running.passes[-1].keep)
        if keep or not self.local:                   # an end whose other end is in this process stays open
            self.happens(Event.KEEPS if keep else Event.FREES)
        return not keep

    def check(self, name: str, way: str) -> None:
        """RuntimeError if an earlier pass that did not reach the user's tensor consumed the message."""
        if self.state in self.texts:
            message = f"message {self.number} {way} rank {self.peer}{at_site(self.site)}"
            raise RuntimeError(f"{name}: {message} {self.texts[self.state]}")

    def on_pass_start(self, pass_start: PassStart) -> None:
        """Decide, at the start of a pass, whether this message takes part in it."""
        raise NotImplementedError


class PendingSend(PendingMessage):
    """The sender's end, which receives a gradient."""

    table = SENDER
    texts: dict[State, str] = {State.USED_UP: MSG_SENT}              # noqa: RUF012
    gradient_edge: Any = None                        # the edge that receives the gradient; keeps the graph alive
    gradient_handle: Handle | None = None            # the gradient, while it is being received
    partner: PendingRecv | None = None               # the other end, if this process holds it
    partner_not_reached: bool = False                # the pass does not reach the other end

    def start_receiving(self) -> None:
        """Start to receive the gradient."""
        if not self.partner_not_reached:
            self.gradient_handle = self.comm.post_recv(self.peer, gradient_tag(self.number), self.rank)

    def gradient(self, completed: Callable[[Handle], Tensor]) -> Tensor:
        """The gradient; `completed` makes a Tensor of the received message's Handle. Zeros if the pass does not reach the
        receiver's end in this process.
        """
        if self.partner_not_reached:
            return as_tensor(np.zeros(*self.like))
        if self.gradient_handle is None:
            self.start_receiving()
        handle, self.gradient_handle = self.gradient_handle, None
        assert handle is not None
        message: Message = handle.wait()
        self.take_part()
        if int(message.note) & LAST and not self.local:
            self.happens(Event.FREES)
        return completed(handle)

    def on_pass_start(self, pass_start: PassStart) -> None:
        """Take part according to the receiver's status; the first time, as this end decides (PassStart.joining_sends)."""
        joins = False
        if self.local:
            partner = self.partner
            self.partner_not_reached = partner is not None and not partner.is_reached_by(pass_start.members)
            if partner is not None and partner.is_dropped():
                self.happens(Event.DROPPED)
            else:
                joins = partner is not None and not self.partner_not_reached
        elif self in pass_start.joining_sends:
            self.happens(Event.JOINS)
            joins = True
        elif self.state is State.KEPT:
            status = self.comm.post_recv(self.peer, status_tag(self.number), self.rank).wait().note
            joins = status == REACHED
            if status == CLOSED:
                self.happens(Event.DROPPED)
        elif self.state is State.BY_TOKEN and self.is_dropped():
            self.happens(Event.DROPPED)
        if joins:
            pass_start.join(self)

    def free_graph(self) -> None:
        """Free the graph: no gradient will arrive."""
        self.gradient_edge = None


class PendingRecv(PendingMessage):
    """The receiver's end, which sends a gradient."""

    table = RECEIVER
    texts: dict[State, str] = {State.USED_UP: MSG_ZEROS, State.EXPIRED: MSG_EXPIRED}             # noqa: RUF012
    misses: int = 0                                  # passes since one with a kept graph that did not reach it, in eighths

    def on_pass_start(self, pass_start: PassStart) -> None:
        """Notify the sender whether this pass sends a gradient; the first time, record whether zeros will be due."""
        reached, keeps = self.is_reached_by(pass_start.members), pass_start.keeps_graph
        if self.local:
            if self.is_dropped():                    # its PendingSend decides
                self.happens(Event.DROPPED)
            return
        if self.state in HELD:
            self.misses = 0 if reached else self.misses + (8 if pass_start.accumulate else 1)
            if self.misses > 8 * MAX_MISSES or self.is_dropped():
                self.happens(Event.CLOSES)
                return
        elif self.own_pass and not reached:
            return
        self.happens(Event.REACHED if reached else Event.MISSED_KEEPING if keeps else Event.MISSED)
        if (self.state is State.MISSED_KEEPING and not pass_start.accumulate
                and not pass_start.leads_to_pending_send(self)):
            self.happens(Event.ANSWERED)

    def settle_later(self) -> None:
        """Send the zeros that are due before this rank next waits for others."""
        pending.settle_before_waiting()

    def watch_graph(self) -> None:
        """The graph is kept: the sender expects statuses until close_dropped_messages()."""
        if not self.local:
            pending.with_kept_graph.append(self)

    def send_zeros(self, last: int) -> None:
        """Send zeros as the gradient, since no pass reached the received tensor. last: LAST, or 0."""
        if not last:
            self.watch_graph()
        self._post(np.zeros(*self.like), gradient_tag(self.number), ZEROS | last)

    def send_status(self, status: float) -> None:
        """Notify the sender whether the coming pass sends a gradient."""
        self._post(np.zeros(0), status_tag(self.number), status)

    def close(self) -> None:
        """No further pass will take part: send zeros, or notify the sender not to wait for a status any more."""
        if not self.local:
            self.happens(Event.CLOSES)

    def _post(self, array: np.ndarray[Any, Any], tag: int, note: float) -> None:
        """Send a gradient or a status to the other end."""
        self.comm.post_send(array, self.peer, tag, note, self.rank)


class _PendingMessages(threading.local):
    """The pending messages of one thread, in the order of the calls."""

    def __init__(self) -> None:
        self.messages: list[PendingMessage] = []
        self.with_kept_graph: list[PendingRecv] = []               # their senders may expect a status in each pass
        self.communicators: list[Communicator] = []  # that had messages
        self.warned: bool = False

    def add(self, message: PendingMessage) -> None:
        """Add a message that the next backward pass must process."""
        running.joining = senders_joining
        if isinstance(message, PendingRecv):
            if message.local:
                for sent in reversed(self.messages):
                    if isinstance(sent, PendingSend) and sent.comm is message.comm and sent.number == message.number:
                        sent.partner = message
                        break
            elif message.comm not in self.communicators:
                self.communicators.append(message.comm)
                obligations.close = close
                if threading.current_thread() is threading.main_thread():
                    atexit.unregister(_at_exit)      # registered last, called first: before the communicator's own
                    atexit.register(_at_exit, os.getpid())
        self.messages.append(message)
        if message.state is State.KEPT and isinstance(message, PendingRecv):
            message.watch_graph()
        if len(self.messages) >= WARN_AT and not self.warned:
            self.messages = [m for m in self.messages if m.is_open()]
            if len(self.messages) >= WARN_AT:
                self.warned = True
                warnings.warn(f"{WARN_AT} messages that require gradients were sent or received without a backward pass; "
                              "they are kept until one starts. Evaluate inside no_grad()", RuntimeWarning, stacklevel=4)

    def settle_before_waiting(self) -> None:
        """Send zeros to the other ends before this rank next waits for others."""
        obligations.settle = self.settle

    def settle(self) -> None:
        """Send the zeros that are due, except for tensors that led to a Send without a pass."""
        due = [m for m in self.messages if m.state in DUE]
        if due:
            behind = nodes_behind(pending_send_roots(self.messages), self.messages)
            for message in reversed(due):
                message.happens(Event.POSTPONED if message.is_reached_by(behind) else Event.ANSWERED)


pending: _PendingMessages = _PendingMessages()


def nodes_behind(roots: Iterable[Any], messages: Iterable[PendingMessage]) -> set[Any]:
    """All nodes that the edges lead to, also through messages of which this process holds both ends."""
    order, leaves = survey(list(roots))
    found = {*order, *leaves}
    local = {m for m in messages if isinstance(m, PendingSend) and m.partner is not None and not m.is_closed()}
    while more := {m for m in local if m.partner.is_reached_by(found)}:              # type: ignore[union-attr]
        local -= more
        order, leaves = survey([m.gradient_edge for m in more])
        found.update(order, leaves)
    return found


def pending_send_roots(messages: Iterable[PendingMessage]) -> list[Any]:
    """The edges of Sends to other processes that have had no pass."""
    return [m.gradient_edge for m in messages if isinstance(m, PendingSend) and m.state in FRESH and not m.local]


class PassStart:
    """A backward pass that starts: the nodes it reaches, and the Sends that join it without being reached."""

    def __init__(self, order: Sequence[Any], targets: list[Any] | None, keep: bool, accumulate: bool,
                 messages: Sequence[PendingMessage]) -> None:
        self.members: set[Any] = set(order)
        self.targets: list[Any] | None = targets
        self.keeps_graph: bool = keep
        self.accumulate: bool = accumulate
        self.messages = messages
        self.roots: list[Any] = []
        self.joining_sends: set[PendingSend] = self._choose([m for m in messages if isinstance(m, PendingSend)])

    def _choose(self, sends: list[PendingSend]) -> set[PendingSend]:
        """The Sends that take part for the first time although the pass does not reach their tokens."""
        waits = [m for m in sends if m.awaits_first_pass() and not m.is_reached_by(self.members)]
        if not waits or not any(m.is_reached_by(self.members) for m in sends):
            return {m for m in waits if self.leads_to_target(m.gradient_edge)}
        joining: set[PendingSend] = set()
        if self.keeps_graph:
            return joining
        freed = {node for node in self.members if node.saved is not None or node.always_runs}
        graphs = {m: nodes_behind([m.gradient_edge], self.messages) for m in waits}
        while more := [m for m in graphs if not freed.isdisjoint(graphs[m]) and self.leads_to_target(m.gradient_edge)]:
            for m in more:
                joining.add(m)
                freed |= graphs.pop(m)
        return joining

    def leads_to_target(self, root: Any) -> bool:
        """Whether gradients from `root` reach an input requested from grad(), or continue to other ranks through nodes of
        the pass.
        """
        if self.targets is None:
            return True
        behind = nodes_behind([root], self.messages)
        asked = {node for node, _ in self.targets} | {node for node in self.members if node.always_runs}
        return not asked.isdisjoint(behind) or any(
            isinstance(m, PendingRecv) and m.awaits_first_pass() and m.is_reached_by(behind) for m in self.messages)

    def leads_to_pending_send(self, message: PendingRecv) -> bool:
        """Whether the received tensor led to a Send that has had no pass and does not join this one."""
        others = pending_send_roots(m for m in self.messages if m not in self.joining_sends)
        return message.is_reached_by(nodes_behind(others, self.messages))

    def join(self, message: PendingSend) -> None:
        """Add a Send to the pass, and the nodes behind it."""
        self.roots.append(message.gradient_edge)
        self.members.update(survey([message.gradient_edge])[0])


def close_dropped_messages() -> None:
    """Close received messages whose graphs are freed, which ends the exchange of statuses. Called with each message and
    collective.
    """
    if pending.with_kept_graph:
        pending.with_kept_graph = [m for m in pending.with_kept_graph if m.is_open()]
        for message in pending.with_kept_graph:
            if message.is_dropped():
                message.close()


def senders_joining(order: list[Any], targets: list[Any] | None, keep: bool, accumulate: bool) -> list[Any]:
    """Start a backward pass over `order`. Returns the edges of the Sends that join it although no path leads to them."""
    messages = pending.messages = [m for m in pending.messages if m.is_open()]
    if not messages:
        return []
    pass_start = PassStart(order, targets, keep, accumulate, messages)
    for message in reversed(messages):
        message.on_pass_start(pass_start)
    pending.messages = [m for m in messages if m.is_open()]
    return pass_start.roots


def close(comm: Communicator | None = None) -> None:
    """Close all received messages of a communicator that is freed, or (None) of a rank that ends."""
    for message in reversed(pending.messages):
        if isinstance(message, PendingRecv) and comm in (None, message.comm) and not message.comm.freed:
            message.close()
    pending.messages = [m for m in pending.messages if m.is_open()]


def _at_exit(process: int) -> None:
    """Close all messages when the script ends; not in a forked child."""
    if os.getpid() == process:
        close()


@contextlib.contextmanager
def discarded_messages() -> Iterator[None]:
    """Context in which recorded messages are discarded at the end, on all ranks: no later pass takes part in them, and
    passes inside do not take part in earlier messages.
    """
    obligations.before_waiting()
    before, kept, pending.messages, pending.with_kept_graph = pending.messages, pending.with_kept_graph, [], []
    try:
        yield
    finally:
        pending.messages, pending.with_kept_graph = before, kept


def next_pass_joins_a_send(tensors: Sequence[Tensor]) -> bool:
    """Whether the next pass to these tensors takes part in a Send whose token is unused."""
    targets = [edge_of(t) for t in tensors if t.requires_grad]
    pass_start = PassStart([], targets, True, False, pending.messages)
    sends = [m for m in pending.messages if isinstance(m, PendingSend) and not m.is_closed() and not m.own_pass]
    return any(pass_start.leads_to_target(m.gradient_edge) for m in sends)
