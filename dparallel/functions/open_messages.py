"""Which backward pass of its rank a message takes part in: both of its ends in one pass each, or neither.

The first time:

- Recv: the pass that reaches y. Send: the pass that reaches the token, an empty tensor: `loss = join(loss, token)`, or
  token.sum().backward() on a rank that has no loss of its own.
- A Send whose token is not used, and a Recv whose y is not used, take part in the next pass that this thread begins (a
  Send in grad() only if it leads to an input that is asked for, or to a Recv or a collective that is reached). So it is
  right to drop the token: no gradient is lost, and nobody waits for one; a y that is not used sends back zeros. What is
  held and not yet used waits for its own pass if this one reaches another Send by its token (for a y: another message; or
  if it is a grad()): with several graphs at once, hold each one's token and join it.
- A pass uses up a message that it took in this way, unless it keeps the graph (retain_graph, create_graph). Reaching one
  that is used up by its token, or by y, is a RuntimeError.

After a pass that kept the graph:

- A Send that took part by its token does so again by its token only.
- A Send that no path led to can't know whether the next pass of the other rank reaches y. So as that begins, it sends a
  word: yes, no, or that y's graph is gone (which it also says when it next calls a message or a collective); and the Send
  takes part accordingly. Thus, as long as neither end has done with the message, passes of the two ranks meet one to one.
- So do gradients that a create_graph pass sent, from the first: no token leads to them.

Each end goes through its messages newest first. What an end says, or does, depends on newer messages of its rank alone, so
no two ranks wait for each other's word. Where one process holds both ends, no word is needed: a Send takes part where y is
reached, and else has a gradient of zeros.
"""

from __future__ import annotations

import contextlib
import sys
import threading
import warnings
import weakref
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from autograd import Tensor, as_tensor
from autograd.engine import survey
from autograd.tensor import edge_of
from autograd.walk import running

from ..comm import Communicator, Handle
from ..comm.messages import Message, gradient_tag, word_tag

MANY = 1000                          # messages without a backward pass, at which to warn
LAST = 16                            # in a gradient's note, beside GRAD and DUAL: no other one will come
NO, YES, GONE = 0.0, 1.0, 2.0        # words


class Open:
    """A recorded message whose gradient has not gone its way yet; one end of it."""

    def __init__(self, comm: Communicator, place: int | None, other: int, tag: int) -> None:
        self.comm, self.place, self.other = comm, place, other
        self.local = other in comm.held              # both ends are in this process
        self.number = -1
        self.like: Any = None                        # (shape, dtype)
        self.again = tag < 0                         # a pass that kept the graph has come by, or made it
        self.done = False                            # no pass will come by
        self.taken = False                           # took part by no path of the graph
        self.held: Any = None                        # weak: the tensor that the user got
        self.node: Any = None                        # weak: the node behind that
        self.uses = 0                                # references to its edge, where nothing uses it

    def opened(self, tensor: Tensor) -> None:
        """Note the tensor that the user gets."""
        assert tensor.edge is not None
        self.held, self.node = weakref.ref(tensor), weakref.ref(tensor.edge[0])
        self.uses = sys.getrefcount(tensor.edge)

    def goes_on(self) -> bool:
        """Whether a pass may come by."""
        return not self.done and not (self.again and self.comm.freed)

    def gone(self) -> bool:
        """Whether no graph leads to the user's tensor any more."""
        return self.node is None or self.node() is None

    def reached(self, members: set[Any]) -> bool:
        """Whether a path of a pass over these nodes leads here."""
        return not self.gone() and self.node() in members

    def unused(self, held_too: bool) -> bool:
        """Whether no node uses the user's tensor: it was dropped or (if `held_too`) is held, no more."""
        if self.gone():
            return True
        tensor = self.held()
        return held_too and tensor is not None and sys.getrefcount(tensor.edge) == self.uses

    def run(self, keep: bool | None = None) -> bool:
        """The message's gradient goes its way in this pass; whether it is the last, for the pass does not keep the graph."""
        keep = bool(running.walks and running.walks[-1].keep) if keep is None else keep
        self.again = self.again or keep
        self.done = not keep and not self.local
        return not keep

    def check(self, name: str, way: str) -> None:
        """RuntimeError if a pass that nothing led from has used the message up."""
        if self.taken and self.done:
            raise RuntimeError(
                f"{name}: message {self.number} {way} place {self.other} took part in an earlier backward pass, which began "
                "while nothing used its result. Join it to the loss it belongs to before such a pass begins")

    def meet(self, beginning: Beginning) -> None:
        """A pass begins: take part or not."""
        raise NotImplementedError


class Sent(Open):
    """The sender's end: it receives a gradient."""

    root: Any = None                                 # the edge of what has the gradient: kept, so that it is not lost
    coming: Handle | None = None                     # the gradient, if it is being received
    partner: Received | None = None                  # the other end, if it is here
    silent = False                                   # the pass does not reach that one

    def __init__(self, comm: Communicator, place: int | None, other: int, tag: int) -> None:
        super().__init__(comm, place, other, tag)
        self.taken = tag < 0                         # no path leads to a gradient that is sent

    def expect(self) -> None:
        """Begin to receive the gradient."""
        if not self.silent:
            self.coming = self.comm.fetch(self.other, gradient_tag(self.number), self.place)

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
            mine = not self.reached(beginning.members) and self.unused(not beginning.sends)
            if mine and beginning.wants(self.root):
                self.taken = True
                beginning.join(self)
        elif self.taken:
            word = self.comm.fetch(self.other, word_tag(self.number), self.place).wait().note
            if word == GONE:
                self.forget()
            elif word == YES:
                beginning.join(self)
        elif self.gone():
            self.forget()

    def forget(self) -> None:
        """No gradient will come: let go of the graph."""
        self.done, self.root = True, None


class Received(Open):
    """The receiver's end: it sends a gradient."""

    def meet(self, beginning: Beginning) -> None:
        """Say whether a gradient will come. The first time, send zeros if nothing uses the tensor."""
        if self.local:
            self.done = self.gone()                  # its Sent asks
        elif self.again:
            self.tell_if_gone()
            if not self.done:
                self._post(np.zeros(0), word_tag(self.number), YES if self.reached(beginning.members) else NO)
        elif not self.reached(beginning.members) and self.unused(not beginning.messages):
            self.taken = True
            last = self.run(beginning.keep)
            self._post(np.zeros(*self.like), gradient_tag(self.number), LAST if last else 0)

    def run(self, keep: bool | None = None) -> bool:
        """If the graph is kept, the other end asks for words from now on."""
        before, last = self.again, super().run(keep)
        if self.again and not before:
            waiting.kept.append(self)
        return last

    def tell_if_gone(self) -> None:
        """Let the other end's next pass not wait for one of this rank."""
        if not self.done and not self.local and self.gone():
            self.done = True
            self._post(np.zeros(0), word_tag(self.number), GONE)

    def _post(self, array: Any, tag: int, note: float) -> None:
        self.comm.post(array, self.other, tag, note, self.place)


class _Waiting(threading.local):
    """The open messages of this thread, in order."""

    def __init__(self) -> None:
        self.messages: list[Open] = []
        self.kept: list[Received] = []               # those whose other ends may ask for a word in each pass
        self.warned = False

    def add(self, message: Open) -> None:
        """Let a message wait for the next pass."""
        running.joining = take_part
        if isinstance(message, Received) and message.local:
            for sent in reversed(self.messages):
                if isinstance(sent, Sent) and sent.comm is message.comm and sent.number == message.number:
                    sent.partner = message
                    break
        self.messages.append(message)
        if message.again and isinstance(message, Received):
            self.kept.append(message)
        if len(self.messages) >= MANY and not self.warned:
            self.messages = [m for m in self.messages if m.goes_on()]
            if len(self.messages) >= MANY:
                self.warned = True
                warnings.warn(f"{MANY} messages were sent or received with a gradient to come, and no backward pass began: "
                              "they are kept until one does. Evaluate inside no_grad()", RuntimeWarning, stacklevel=4)


waiting = _Waiting()


class Beginning:
    """A backward pass that begins: what it reaches, and which Sends join it."""

    def __init__(self, order: Sequence[Any], targets: list[Any] | None, keep: bool, messages: Sequence[Open]) -> None:
        self.members, self.targets, self.keep = set(order), targets, keep
        reached = [m for m in messages if m.reached(self.members)]
        self.sends = any(isinstance(m, Sent) for m in reached)       # some by their tokens
        self.messages = bool(reached) or targets is not None
        self.roots: list[Any] = []

    def wants(self, root: Any) -> bool:
        """Whether gradients from there go to what is asked for; or on to other ranks, by nodes that the pass comes by."""
        if self.targets is None:
            return True
        order, uses = survey([root])
        asked = {node for node, _ in self.targets} | {node for node in self.members if node.always_runs}
        return not asked.isdisjoint([*order, *uses])

    def join(self, message: Sent) -> None:
        """A Send takes part; and what its tensor was made of."""
        self.roots.append(message.root)
        stack = [message.root[0]]
        while stack:
            node = stack.pop()
            if node not in self.members:
                self.members.add(node)
                stack.extend(edge[0] for edge in node.edges if edge is not None)


def tell_gone() -> None:
    """A message or a collective is called: ranks whose Sends wait for word of graphs that are gone need not wait longer."""
    if waiting.kept:
        waiting.kept = [m for m in waiting.kept if m.goes_on()]
        for message in waiting.kept:
            message.tell_if_gone()


def take_part(order: list[Any], targets: list[Any] | None, keep: bool) -> list[Any]:
    """A backward pass over `order` begins: the edges of the Sends that take part though no path leads there."""
    messages = waiting.messages = [m for m in waiting.messages if m.goes_on()]
    if not messages:
        return []
    beginning = Beginning(order, targets, keep, messages)
    for message in reversed(messages):
        message.meet(beginning)
    waiting.messages = [m for m in messages if m.goes_on()]
    return beginning.roots


@contextlib.contextmanager
def thrown_away() -> Iterator[None]:
    """What is recorded inside is dropped afterwards, on all ranks: its messages wait for no later pass, and passes inside
    leave those from before alone."""
    before, kept, waiting.messages, waiting.kept = waiting.messages, waiting.kept, [], []
    try:
        yield
    finally:
        waiting.messages, waiting.kept = before, kept


def sends_gradients_of(tensors: Sequence[Tensor]) -> bool:
    """Whether the next pass to these tensors takes up a Send that nothing uses."""
    targets = [edge_of(t) for t in tensors if t.requires_grad]
    beginning = Beginning([], targets, True, [])
    return any(isinstance(m, Sent) and not m.done and m.unused(True) and beginning.wants(m.root)
               for m in waiting.messages)
