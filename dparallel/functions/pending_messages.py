"""Which backward pass of its rank a message takes part in. It depends on the order of calls, and on nothing else: not on
who holds a tensor, on the garbage collector or on who is faster.

The sender's end, the first time. A Send takes part in a pass

- that reaches its token, an empty tensor: `loss = join(loss, token)`, or token.sum().backward() on a rank without a loss;
- that reaches no token, if it is the first such one after the Send: so it is right to drop the token. (grad(): only if the
  Send leads to an input that is asked for, to a Recv that is not answered, or to a collective that is reached.) A Send whose
  token was handed to join(), or that has own_pass=True, does not: only a pass that reaches the token has it;
- that reaches other tokens and uses up what the Send needs: nodes of its graph that the pass frees.

The receiver's end, the first time. The gradient goes in the pass that reaches y. What a pass does not reach is answered with
zeros, but not before this rank waits for others: in this pass, or in a call of a collective, a receive or a handle's wait()
after it; until then a later pass may reach y. So the sender never waits for a rank that waits, too, and passes that wait for
nobody may take what was received one by one. Not answered with zeros is

- what has own_pass=True or was handed to join(): it waits for the pass that reaches it;
- what led to a Send that has had no pass yet: it waits for that Send's;
- what no pass passed by.

These get zeros when the communicator is freed or the rank ends. grad() with retain_graph or create_graph answers at once:
its caller looks at the gradients of each pass. A pass uses up a message that it had, or passed by, unless it keeps the
graph. Reaching one that is used up is a RuntimeError.

After a pass that kept the graph:

- A Send that took part by its token does so again by its token only.
- A Send that no path led to can't know whether the next pass of the other rank reaches y. So as that begins, it sends a
  word: yes, no, or that it is the last word; and the Send takes part accordingly. Thus, as long as neither end has done with
  the message, passes of the two ranks meet one to one. The last word comes after MISSES backward() passes, or 8 times as
  many of grad(), that did not reach y; or once y's graph is gone, as a pass begins or a message or a collective is called.
  No gradient depends on the latter: what is gone is not reached. It only lets the other end stop asking.
- So do gradients that a create_graph pass sent, from the first: no token leads to them.

Each end goes through its messages newest first. What an end says, or does, depends on newer messages of its rank alone, so
no two ranks wait for each other's word. Where one process holds both ends, no word is needed: a Send takes part where y is
reached, and else has a gradient of zeros.
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

from autograd import Tensor, as_tensor
from autograd.core.engine import running, survey
from autograd.core.tensor import edge_of

from ..comm import Communicator, Handle
from ..comm.handle import obligations
from ..comm.messages import ZEROS, Message, gradient_tag, status_tag
from ..comm.watchdog.call_site import at_site, user_site

MANY = 1000                          # messages without a backward pass, at which to warn
LAST = 16                            # in a gradient's note, beside GRAD and DUAL: no other one will come
NO, YES, GONE = 0.0, 1.0, 2.0        # words
MISSES = 16                          # backward() passes that do not reach a kept message, after which it is given up


class Open:
    """A recorded message whose gradient has not gone its way yet; one end of it."""

    def __init__(self, comm: Communicator, place: int | None, other: int, tag: int, own_pass: bool = False) -> None:
        self.comm, self.place, self.other = comm, place, other
        self.local = other in comm.held              # both ends are in this process
        self.number = -1
        self.like: Any = None                        # (shape, dtype)
        self.own_pass = own_pass                     # takes part in passes that reach it, and in no other
        self.again = tag < 0                         # a pass that kept the graph has come by, or made it
        self.done = False                            # no pass will come by
        self.taken = False                           # took part by no path of the graph
        self.node: Any = None                        # weak: the node behind the tensor that the user got
        self.site = user_site() if tag >= 0 else None     # the user's line

    def opened(self, tensor: Tensor) -> None:
        """Note the tensor that the user gets."""
        assert tensor.edge is not None
        self.node = weakref.ref(tensor.edge[0])

    def goes_on(self) -> bool:
        """Whether a pass may come by."""
        return not self.done and not (self.again and self.comm.freed)

    def due(self) -> bool:
        """Whether no pass has come by yet, and the other end waits for one."""
        return not (self.local or self.again or self.own_pass or self.done)

    def gone(self) -> bool:
        """Whether no graph leads to the user's tensor any more: then no pass will reach it. This only tells what memory may
        be given back."""
        return self.node is None or self.node() is None

    def reached(self, members: set[Any]) -> bool:
        """Whether a path of a pass over these nodes leads here."""
        return not self.gone() and self.node() in members

    def run(self) -> bool:
        """The message's gradient goes its way in this pass; whether it is the last, for the pass does not keep the graph."""
        keep = bool(running.passes and running.passes[-1].keep)
        self.again = self.again or keep
        self.done = not keep and not self.local
        return not keep

    def check(self, name: str, way: str) -> None:
        """RuntimeError if a pass that nothing led from has used the message up."""
        if self.taken and self.done:
            message = f"message {self.number} {way} place {self.other}{at_site(self.site)}"
            raise RuntimeError(f"{name}: {message} {self.used_up()}")

    def used_up(self) -> str:
        """The text that says which earlier pass used the message up, and what to do."""
        raise NotImplementedError

    def meet(self, beginning: Beginning) -> None:
        """A pass begins: take part or not."""
        raise NotImplementedError


class Sent(Open):
    """The sender's end: it receives a gradient."""

    root: Any = None                                 # the edge of what has the gradient: kept, so that it is not lost
    coming: Handle | None = None                     # the gradient, if it is being received
    partner: Received | None = None                  # the other end, if it is here
    silent = False                                   # the pass does not reach that one

    def __init__(self, comm: Communicator, place: int | None, other: int, tag: int, own_pass: bool = False) -> None:
        super().__init__(comm, place, other, tag, own_pass)
        self.taken = tag < 0                         # no path leads to a gradient that is sent

    def expect(self) -> None:
        """Begin to receive the gradient."""
        if not self.silent:
            self.coming = self.comm.post_recv(self.other, gradient_tag(self.number), self.place)

    def take(self, completed: Callable[[Handle], Tensor]) -> Tensor:
        """The gradient, by what makes a tensor of the received message."""
        if self.silent:
            return as_tensor(np.zeros(*self.like))
        if self.coming is None:
            self.expect()
        handle, self.coming = self.coming, None
        assert handle is not None
        message: Message = handle.wait()
        self.run()
        self.done = self.done or (bool(int(message.note) & LAST) and not self.local)
        return completed(handle)

    def meet(self, beginning: Beginning) -> None:
        """Join, as the other end says; the first time, as this one does."""
        if self.local:
            partner = self.partner
            self.silent = partner is not None and not partner.reached(beginning.members)
            if partner is not None and partner.gone():
                self.forget()
            elif partner is not None and not self.silent:
                beginning.join(self)
        elif not self.again:
            if self in beginning.chosen:
                self.taken = True
                beginning.join(self)
        elif self.taken:
            word = self.comm.post_recv(self.other, status_tag(self.number), self.place).wait().note
            if word == GONE:
                self.forget()
            elif word == YES:
                beginning.join(self)
        elif self.gone():
            self.forget()

    def used_up(self) -> str:
        """It took part in a pass that nothing led from."""
        return ("took part in an earlier backward pass, which reached no token. Join it to the loss it belongs to, "
                "join(loss, token), or send it with own_pass=True, before such a pass begins")

    def forget(self) -> None:
        """No gradient will come: let go of the graph."""
        self.done, self.root = True, None


class Received(Open):
    """The receiver's end: it sends a gradient."""

    missed = 0                                       # how long passes after one that kept the graph have not reached it
    passed = False                                   # a pass has not reached it, and it is not answered yet
    keep = False                                     # whether that pass kept its graph

    def meet(self, beginning: Beginning) -> None:
        """Say whether a gradient will come; the first time, note whether zeros are owed."""
        reached = self.reached(beginning.members)
        if self.local:
            self.done = self.gone()                  # its Sent asks
        elif self.again:
            self.missed = 0 if reached else self.missed + (8 if beginning.accumulate else 1)
            if self.missed > 8 * MISSES or self.gone():
                self.close()
            else:
                self._post(np.zeros(0), status_tag(self.number), YES if reached else NO)
        elif reached:
            self.passed = False
        elif not self.own_pass:
            self.passed, self.keep = True, beginning.keep
            if beginning.keep and not beginning.accumulate and not beginning.leads_on(self):
                self.answer()
            else:
                waiting.owe()

    def answer(self) -> None:
        """Send zeros as the gradient, since no pass reached the received tensor."""
        self.passed, self.taken = False, True
        self.again, self.done = self.again or self.keep, not self.keep
        if self.keep:
            waiting.kept.append(self)
        self._post(np.zeros(*self.like), gradient_tag(self.number), ZEROS | (0 if self.keep else LAST))

    def run(self) -> bool:
        """The gradient is sent: nothing is owed. If the graph is kept, the other end asks for words from now on."""
        self.passed, before = False, self.again
        last = super().run()
        if self.again and not before and not self.local:
            waiting.kept.append(self)
        return last

    def used_up(self) -> str:
        """Zeros were sent, or the last word."""
        if self.again:
            return (f"was kept by a pass with retain_graph or create_graph, but {MISSES} backward passes after that did not "
                    "reach it, and it was given up")
        return ("took part in an earlier backward pass, which did not reach what was received, and was answered with zeros "
                "when this rank next waited for others (or ended). Receive it after that pass, or with own_pass=True: "
                "then it waits for the pass that reaches it. join(loss, y) says the same")

    def close(self) -> None:
        """No pass will come by: answer, or let the other end's next pass not wait for one of this rank."""
        if not self.done and not self.local:
            if self.again:
                self.done = self.taken = True
                self._post(np.zeros(0), status_tag(self.number), GONE)
            else:
                self.keep = False
                self.answer()

    def _post(self, array: Any, tag: int, note: float) -> None:
        self.comm.post_send(array, self.other, tag, note, self.place)


class _Waiting(threading.local):
    """The open messages of this thread, in order."""

    def __init__(self) -> None:
        self.messages: list[Open] = []
        self.kept: list[Received] = []               # those whose other ends may ask for a word in each pass
        self.known: list[Any] = []                   # communicators that had messages
        self.warned = False

    def add(self, message: Open) -> None:
        """Let a message wait for the next pass."""
        running.joining = take_part
        if isinstance(message, Received):
            if message.local:
                for sent in reversed(self.messages):
                    if isinstance(sent, Sent) and sent.comm is message.comm and sent.number == message.number:
                        sent.partner = message
                        break
            elif message.comm not in self.known:
                self.known.append(message.comm)
                obligations.close = close
                if threading.current_thread() is threading.main_thread():
                    atexit.unregister(_at_exit)      # last registered, first called: before the communicator's own
                    atexit.register(_at_exit, os.getpid())
        self.messages.append(message)
        if message.again and isinstance(message, Received) and not message.local:
            self.kept.append(message)
        if len(self.messages) >= MANY and not self.warned:
            self.messages = [m for m in self.messages if m.goes_on()]
            if len(self.messages) >= MANY:
                self.warned = True
                warnings.warn(f"{MANY} messages were sent or received with a gradient to come, and no backward pass began: "
                              "they are kept until one does. Evaluate inside no_grad()", RuntimeWarning, stacklevel=4)

    def owe(self) -> None:
        """Zeros are to be sent before this rank waits for others."""
        obligations.settle = self.settle

    def settle(self) -> None:
        """Send the zeros that are owed, but for what led to a Send that has had no pass."""
        owed = [m for m in self.messages if isinstance(m, Received) and m.passed]
        if owed:
            behind = nodes_behind(not_passed(self.messages), self.messages)
            for message in reversed(owed):
                message.passed = False               # or it waits for that Send's pass
                if not message.reached(behind):
                    message.answer()


waiting = _Waiting()


def nodes_behind(roots: Iterable[Any], messages: Iterable[Open]) -> set[Any]:
    """All nodes that some edges lead to; also by way of messages of which this process holds both ends."""
    order, leaves = survey(list(roots))
    found = {*order, *leaves}
    local = {m for m in messages if isinstance(m, Sent) and m.partner is not None and not m.done}
    while more := {m for m in local if m.partner.reached(found)}:              # type: ignore[union-attr]
        local -= more
        order, leaves = survey([m.root for m in more])
        found.update(order, leaves)
    return found


def not_passed(messages: Iterable[Open]) -> list[Any]:
    """The edges of Sends to other processes that have had no pass."""
    return [m.root for m in messages if isinstance(m, Sent) and not (m.local or m.again or m.done)]


class Beginning:
    """A backward pass that begins: what it reaches, and which Sends join it."""

    def __init__(self, order: Sequence[Any], targets: list[Any] | None, keep: bool, accumulate: bool,
                 messages: Sequence[Open]) -> None:
        self.members, self.targets, self.keep, self.accumulate = set(order), targets, keep, accumulate
        self.messages = messages
        self.roots: list[Any] = []
        self.chosen = self._choose([m for m in messages if isinstance(m, Sent)])

    def _choose(self, sends: list[Sent]) -> set[Sent]:
        """The Sends that take part for the first time though no path leads to their tokens."""
        waits = [m for m in sends if m.due() and not m.reached(self.members)]
        if not waits or not any(m.reached(self.members) for m in sends):
            return {m for m in waits if self.wants(m.root)}
        chosen: set[Sent] = set()
        if self.keep:
            return chosen
        freed = {node for node in self.members if node.saved is not None or node.always_runs}
        graphs = {m: nodes_behind([m.root], self.messages) for m in waits}
        while more := [m for m in graphs if not freed.isdisjoint(graphs[m]) and self.wants(m.root)]:
            for m in more:
                chosen.add(m)
                freed |= graphs.pop(m)
        return chosen

    def wants(self, root: Any) -> bool:
        """Whether gradients from there go to what is asked for; or on to other ranks, by nodes that the pass comes by."""
        if self.targets is None:
            return True
        behind = nodes_behind([root], self.messages)
        asked = {node for node, _ in self.targets} | {node for node in self.members if node.always_runs}
        return not asked.isdisjoint(behind) or any(isinstance(m, Received) and m.due() and m.reached(behind)
                                                   for m in self.messages)

    def leads_on(self, message: Received) -> bool:
        """Whether what was received led to a Send that has had no pass, and has none now."""
        return message.reached(nodes_behind(not_passed(m for m in self.messages if m not in self.chosen), self.messages))

    def join(self, message: Sent) -> None:
        """A Send takes part; and what its tensor was made of."""
        self.roots.append(message.root)
        self.members.update(survey([message.root])[0])


def tell_gone() -> None:
    """A message or a collective is called: ranks whose Sends ask in each pass about graphs that are gone need not go on."""
    if waiting.kept:
        waiting.kept = [m for m in waiting.kept if m.goes_on()]
        for message in waiting.kept:
            if message.gone():
                message.close()


def take_part(order: list[Any], targets: list[Any] | None, keep: bool, accumulate: bool) -> list[Any]:
    """A backward pass over `order` begins: the edges of the Sends that take part though no path leads there."""
    messages = waiting.messages = [m for m in waiting.messages if m.goes_on()]
    if not messages:
        return []
    beginning = Beginning(order, targets, keep, accumulate, messages)
    for message in reversed(messages):
        message.meet(beginning)
    waiting.messages = [m for m in messages if m.goes_on()]
    return beginning.roots


def close(comm: Any = None) -> None:
    """A communicator is given back, or (None) this rank ends: no message that was received there waits for a pass."""
    for message in reversed(waiting.messages):
        if isinstance(message, Received) and comm in (None, message.comm) and not message.comm.freed:
            message.close()
    waiting.messages = [m for m in waiting.messages if m.goes_on()]


def _at_exit(process: int) -> None:
    """The script ends; not that of a forked child."""
    if os.getpid() == process:
        close()


@contextlib.contextmanager
def thrown_away() -> Iterator[None]:
    """What is recorded inside is dropped afterwards, on all ranks: its messages wait for no later pass, and passes inside
    leave those from before alone."""
    obligations.before_waiting()
    before, kept, waiting.messages, waiting.kept = waiting.messages, waiting.kept, [], []
    try:
        yield
    finally:
        waiting.messages, waiting.kept = before, kept


def sends_gradients_of(tensors: Sequence[Tensor]) -> bool:
    """Whether the next pass to these tensors takes up a Send that nothing uses."""
    targets = [edge_of(t) for t in tensors if t.requires_grad]
    beginning = Beginning([], targets, True, False, waiting.messages)
    return any(isinstance(m, Sent) and not m.done and not m.own_pass and beginning.wants(m.root) for m in waiting.messages)
