"""Send, Recv, Isend, Irecv, Wait, join: messages between two places. The gradient of a message is a message back.

    rank 0:  token = Send.apply(x, dest=1)            backward: receives x's gradient from rank 1
    rank 1:  y = Recv.apply(source=0)                 backward: sends y's gradient to rank 0

Send is recorded if x requires grad, and the message says so: Recv is recorded then, too. A gradient names the message
that it belongs to, so tags and the order of backward's messages cannot be mixed up, and sends do not wait.

Which backward pass of its rank a message takes part in:

- Recv: the pass that reaches y. Send: the pass that reaches the token, an empty tensor: `loss = join(loss, token)`, or
  token.sum().backward() on a rank that has no loss of its own.
- A Send whose token is not used, and a Recv whose y is not used, take part in the next pass that this thread begins (a
  Send in grad() only if it leads to an input that is asked for). So it is right to drop the token: no gradient is lost, and
  nobody waits for one; a y that is not used sends back zeros. What is held and not yet used waits for its own pass if this
  one reaches another Send by its token (for a y: another message; or if it is a grad()): with several graphs at once, hold
  each one's token and join it.
- A pass uses up a message that it took in this way, unless it keeps the graph (retain_graph, create_graph): then the next
  pass takes it again, and must be the next on both ranks. Reaching one that is used up by its token, or by y, is a
  RuntimeError.

In a dual level x's tangent travels with it, and y has it (forward mode).

Where the other rank never sends the gradient (it does not call backward, say) the wait for it ends as that of recv does,
named as "gradient of message n".
"""

from __future__ import annotations

import contextlib
import sys
import threading
import warnings
import weakref
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from autograd import Function, Tensor, as_tensor, stack
from autograd.engine import survey
from autograd.forward_ad import make_dual, unpack_dual
from autograd.mode import DUAL, GRAD, modes
from autograd.tensor import edge_of
from autograd.traced import refuse
from autograd.walk import running

from ..comm import Communicator, Handle, communicator
from ..comm.messages import Message, call_text, check_like
from .turns import overtake

MSG_TRACED = "messages (Send, Recv, Isend, Irecv) can't be recorded: call the step itself"
WITH_TANGENT = DUAL                  # in a message's note, beside GRAD: x and its tangent came, one on the other
MANY = 1000                          # messages without a backward pass, at which to warn


# --- which messages wait for a backward pass ------------------------------------------------------------------------------

class Open:
    """A recorded message whose gradient has not gone its way yet; one end of it."""

    def __init__(self, comm: Communicator, place: int | None, other: int) -> None:
        self.comm, self.place, self.other = comm, place, other
        self.number = -1
        self.done = self.taken = False               # its backward has run; by no path of the graph
        self.held: Any = None                        # weak: the tensor that the user got
        self.node: Any = None                        # weak: the node behind that
        self.uses = 0                                # references to its edge, where nothing uses it

    def opened(self, tensor: Tensor) -> None:
        """Note the tensor that the user gets."""
        assert tensor.edge is not None
        self.held, self.node = weakref.ref(tensor), weakref.ref(tensor.edge[0])
        self.uses = sys.getrefcount(tensor.edge)

    def unused(self, held_too: bool) -> bool:
        """Whether no node uses the user's tensor: it was dropped or (if `held_too`) is held, no more."""
        if self.node is None or self.node() is None:
            return True
        tensor = self.held()
        return held_too and tensor is not None and sys.getrefcount(tensor.edge) == self.uses

    def run(self, keep: bool | None = None) -> None:
        """The message's gradient goes its way in this pass, its last unless the pass keeps the graph."""
        keep = bool(running.walks and running.walks[-1].keep) if keep is None else keep
        self.done = not keep

    def check(self, name: str, way: str) -> None:
        """RuntimeError if a pass that nothing led from has used the message up."""
        if self.taken and self.done:
            raise RuntimeError(
                f"{name}: message {self.number} {way} place {self.other} took part in an earlier backward pass, which began "
                "while nothing used its result. Join it to the loss it belongs to before such a pass begins")


class Sent(Open):
    """The sender's end: it receives a gradient."""

    root: Any = None                                 # the edge of what has the gradient: kept, so that it is not lost
    coming: Handle | None = None                     # the gradient, if it is being received

    def gradient(self) -> Handle:
        """A Handle of the gradient's Message."""
        return self.comm.fetch(self.other, -1 - self.number, self.place)


class Received(Open):
    """The receiver's end: it sends a gradient."""

    like: Any = None                                 # (shape, dtype)

    def refuse(self, keep: bool) -> None:
        """Send zeros."""
        self.taken = True
        self.run(keep)
        self.comm.post(np.zeros(*self.like), self.other, -1 - self.number, 0.0, self.place)


class _Waiting(threading.local):
    """The open messages of this thread, in order."""

    def __init__(self) -> None:
        self.messages: list[Any] = []
        self.warned = False

    def add(self, message: Open) -> None:
        """Let a message wait for the next pass."""
        running.joining = take_part
        self.messages.append(message)
        if len(self.messages) >= MANY and not self.warned:
            self.messages = [m for m in self.messages if not m.done]
            if len(self.messages) >= MANY:
                self.warned = True
                warnings.warn(f"{MANY} messages were sent or received with a gradient to come, and no backward pass began: "
                              "they are kept until one does. Evaluate inside no_grad()", RuntimeWarning, stacklevel=4)


waiting = _Waiting()


def take_part(order: list[Any], targets: list[Any] | None, keep: bool) -> list[Any]:
    """A backward pass over `order` begins: the edges of the Sends that take part though no path leads there. Receives that
    nothing uses are answered with zeros."""
    messages = waiting.messages = [m for m in waiting.messages if not m.done]
    if not messages:
        return []
    members = set(order)
    reached = {m for m in messages if m.node is not None and m.node() in members}
    sends = any(isinstance(m, Sent) for m in reached)
    roots = []
    for m in messages:
        others = sends if isinstance(m, Sent) else bool(reached) or targets is not None
        if m in reached or not m.unused(not others):
            continue
        if isinstance(m, Received):
            m.refuse(keep)
        elif targets is None or _leads_to(m.root, targets):
            m.taken = True
            roots.append(m.root)
    return roots


@contextlib.contextmanager
def thrown_away() -> Iterator[None]:
    """What is recorded inside is dropped afterwards, on all ranks: its messages wait for no later pass, and passes inside
    leave those from before alone."""
    before, waiting.messages = waiting.messages, []
    try:
        yield
    finally:
        waiting.messages = before


def sends_gradients_of(tensors: Sequence[Tensor]) -> bool:
    """Whether the next pass to these tensors takes up a Send that nothing uses."""
    targets = [edge_of(t) for t in tensors if t.requires_grad]
    return any(isinstance(m, Sent) and not m.done and m.unused(True) and _leads_to(m.root, targets)
               for m in waiting.messages)


def _leads_to(root: Any, targets: list[Any]) -> bool:
    order, uses = survey([root])
    return not {node for node, _ in targets}.isdisjoint([*order, *uses])


# --- the Functions --------------------------------------------------------------------------------------------------------

class Post(Function):
    """x -> an empty tensor; x goes to another place. Its backward receives the gradient."""

    always_runs = True
    asks = True

    @classmethod
    def records(cls, node: Any, tracked: int, settings: dict[str, Any]) -> int:
        """If x requires grad; the message says so."""
        settings["note"] += tracked & modes.recording & GRAD
        return tracked & GRAD

    @staticmethod
    def forward(ctx: Any, x: Any, *links: Tensor, message: Sent, tag: int, note: float) -> Tensor:
        """comm.post."""
        ctx.message = message
        array = x.array if isinstance(x, Tensor) else x
        array = array.copy(order="C") if type(array) is np.ndarray else array
        message.number = message.comm.post(array, message.other, tag, note, message.place)[0]
        return as_tensor(np.zeros(0))

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> Any:
        """Recv."""
        message = ctx.message
        message.run()
        coming, message.coming = message.coming, None
        y = Recv.complete(coming or message.gradient(), message.comm, message.other, -1 - message.number, message.place,
                          link=link(ctx))
        return y, *[None] * (len(ctx.edges) - 1)


def link(node: Any) -> Tensor:
    """A tensor that leads to a node: the gradient of a message depends on it, so that a pass over the backward pass comes by
    both ends of the message, or by none."""
    tensor = as_tensor(np.zeros(0))
    tensor.edge, tensor.tracked = (node, 0), GRAD
    return tensor


def posted(x: Any, comm: Communicator, dest: int, tag: int, place: int | None,
           *links: Tensor) -> tuple[Tensor, Sent]:
    """Send x, and its tangent if it has one; Post's tensor, and the message."""
    refuse(MSG_TRACED)
    overtake()
    message = Sent(comm, place, dest)
    primal, tangent = unpack_dual(x) if isinstance(x, Tensor) else (x, None)
    sent, note = (x, 0.0) if tangent is None else (stack([primal, tangent]), float(WITH_TANGENT))
    tensor = Post.apply(sent, *links, message=message, tag=tag, note=note)
    if tensor.edge is not None:
        message.root = tensor.edge
        waiting.add(message)
    return tensor, message


class Send(Function):
    """Send x to place `dest` -> a token, an empty tensor; see above which backward pass brings x's gradient.

    x is copied, and nothing is waited for: two ranks may both send first, whatever the size. place: which of the places
    held here sends, where there are several (there, send before you receive). ValueError if dest or tag is none,
    CollectiveError at both ends if x can't be sent.

    >>> token = Send.apply(x, dest=1)
    """

    always_runs = True

    @classmethod
    def apply(cls, x: Any, *, dest: int, comm: Any = None, tag: int = 0,       # type: ignore[override]
              place: int | None = None) -> Any:
        """Send x."""
        comm = communicator(comm)
        return cls.token(*posted(x, comm, dest, comm.user_tag(tag), place))

    @classmethod
    def token(cls, tensor: Tensor, message: Sent) -> Tensor:
        """The user's token."""
        token: Tensor = super().apply(tensor, message=message)
        if token.edge is not None:
            message.opened(token)
        return token

    @staticmethod
    def forward(ctx: Any, tensor: Tensor, *, message: Sent) -> Tensor:
        """The same."""
        ctx.message = message
        return tensor

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> Any:
        """Begin to receive the gradient, for Post: what runs between the two does not wait for it."""
        message = ctx.message
        message.check("Send", "to")
        message.coming = message.gradient()
        return g


class Recv(Function):
    """The tensor that place `source` sent with this tag; any shape and dtype, or those of `like`, else CollectiveError.

    It requires grad if the sender's did; RuntimeError if gradients are off here then. Its gradient is sent back.

    >>> y = Recv.apply(source=0)
    """

    always_runs = True
    asks = True

    @classmethod
    def records(cls, node: Any, tracked: int, settings: dict[str, Any]) -> int:
        """If the sender's was."""
        node.agreed = int(settings["came"].note) & GRAD
        return int(node.agreed)

    @classmethod
    def apply(cls, *, source: int, comm: Any = None, tag: int = 0, like: Any = None,       # type: ignore[override]
              place: int | None = None) -> Any:
        """Receive."""
        comm = communicator(comm)
        refuse(MSG_TRACED)
        number = comm.user_tag(tag)
        return cls.complete(comm.fetch(source, number, place), comm, source, number, place, like)

    @classmethod
    def complete(cls, handle: Handle, comm: Communicator, source: int, tag: int, place: int | None,
                 like: Any = None, link: Any = None) -> Any:
        """Wait for the message, and record it."""
        came: Message = handle.wait()
        overtake()
        dual = bool(int(came.note) & WITH_TANGENT)
        check_like(came.array[0] if dual else came.array, like, call_text("recv", "source", source, tag))
        if dual and modes.level is None:
            raise RuntimeError(f"Recv: place {source} sent a tensor with a tangent, but no dual level is open here. Enter "
                               "one on both ranks or on none, or send what unpack_dual() gives")
        if int(came.note) & GRAD and not modes.recording & GRAD:
            raise RuntimeError(f"Recv: place {source} sent a tensor that requires grad, and waits for its gradient in "
                               "backward, but gradients are not recorded here. Use no_grad() (in backward: create_graph) on "
                               "both ranks or on none, or send x.detach()")
        message = Received(comm, place, source)
        message.number, message.like = came.number, (came.array.shape, came.array.dtype)
        y: Tensor = super().apply(link, came=came, message=message)
        if y.edge is not None:
            message.opened(y)
            waiting.add(message)
        return make_dual(y[0], y[1]) if dual else y

    @staticmethod
    def forward(ctx: Any, link: Any, *, came: Message, message: Received) -> Tensor:
        """What came."""
        ctx.message = message
        return as_tensor(came.array)

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> None:
        """Send."""
        message = ctx.message
        message.check("Recv", "from")
        message.run()
        posted(g, message.comm, message.other, -1 - message.number, message.place,
               *[link(ctx)] if g.tracked else [])


class Isend:
    """Send in two parts: apply() sends (a copy of) x and returns a handle whose wait() returns the token.

    In backward, wait's part begins to receive the gradient and Isend's part waits for it, so what was computed in between
    overlaps with the message in both directions.

    >>> handle = Isend.apply(x, dest=1)
    >>> y = work(z)
    >>> loss = join(loss_of(y), Wait.apply(handle))
    """

    @staticmethod
    def apply(x: Any, *, dest: int, comm: Any = None, tag: int = 0, place: int | None = None) -> Handle:
        """Send x."""
        comm = communicator(comm)
        tensor, message = posted(x, comm, dest, comm.user_tag(tag), place)
        return Handle(lambda: Send.token(tensor, message), lambda: True)


class Irecv:
    """Recv, not waited for: apply() returns a handle whose wait() returns the tensor.

    >>> handle = Irecv.apply(source=0)
    >>> y = Wait.apply(handle)
    """

    @staticmethod
    def apply(*, source: int, comm: Any = None, tag: int = 0, like: Any = None, place: int | None = None) -> Handle:
        """Start to receive."""
        comm = communicator(comm)
        refuse(MSG_TRACED)
        number = comm.user_tag(tag)
        handle = comm.fetch(source, number, place)
        return Handle(lambda: Recv.complete(handle, comm, source, number, place, like), handle.done)


class Wait:
    """Wait.apply(handle) is handle.wait(), for handles of Isend and Irecv and for what start() of a collective returns."""

    @staticmethod
    def apply(handle: Any) -> Any:
        """handle.wait()."""
        return handle.wait()


class Join(Function):
    """x as it is, depending on further tensors."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, *others: Tensor) -> Tensor:
        """x."""
        return x

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> Any:
        """To x; what the others get is nothing, but backward comes by."""
        return g, *[None] * (len(ctx.edges) - 1)


def join(x: Tensor, *tokens: Any) -> Tensor:
    """x as it is, such that a backward pass through it runs the Sends of the tokens (and Recvs of unused tensors), too.
    Tokens may come in lists; None is no token.

    TypeError if x is no tensor of floating point or complex numbers, or a token is no tensor.

    >>> loss = join(loss, token)
    """
    if not isinstance(x, Tensor) or x.array.dtype.kind not in "fc":
        raise TypeError("join(x, *tokens): x is a tensor that can have a gradient, not "
                        + (f"one of {x.dtype}" if isinstance(x, Tensor) else type(x).__name__))
    links = [t for token in tokens for t in (token if isinstance(token, (list, tuple)) else [token]) if t is not None]
    for t in links:
        if not isinstance(t, Tensor):
            raise TypeError(f"join(x, *tokens): a token is the tensor that Send gives, or a handle's wait(), not {t!r}")
    return Join.apply(x, *links)


__all__ = ["Irecv", "Isend", "Recv", "Send", "Wait", "join"]
