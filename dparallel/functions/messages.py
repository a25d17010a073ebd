"""Send, Recv, Isend, Irecv, Wait, join: point-to-point messages. The gradient of a message is a message in the opposite
direction.

    rank 0:  token = Send.apply(x, dest=1)            backward: receives x's gradient from rank 1
    rank 1:  y = Recv.apply(source=0)                 backward: sends y's gradient to rank 0

Send is recorded if x requires grad; the message carries that flag, and Recv is recorded accordingly. A gradient carries the
number of its message, so neither tags nor the order of messages in backward can mismatch, and sends do not block.

pending_messages.py decides in which backward pass of its rank a message takes part. In a dual level (forward mode) x's
tangent is sent with x.

If the other rank never sends the gradient (for example because it does not call backward), the wait ends as that of recv
does: with an error that names it "gradient of message n".
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from autograd.core.graph import Node
from autograd.core.modes import DUAL, GRAD, modes
from autograd.core.primitive import side_effect
from autograd.transforms.forward_ad import make_dual, unpack_dual

from ..autograd import Function, Tensor, as_tensor, stack
from ..comm import Communicator, Handle, communicator
from ..comm.messages import Array, Message, call_text, check_like, gradient_tag
from .message_states import LAST
from .partnered import Pending
from .pending_messages import PendingMessage, PendingRecv, PendingSend, close_dropped_messages, pending
from .wait_order import reserve_numbers

MESSAGES = "messages (Send, Recv, Isend, Irecv)"
WITH_TANGENT = DUAL                  # in a message's note, beside GRAD: x and its tangent are stacked


class Post(Function):
    """Send x to another rank; return an empty tensor. Backward completes the reception of x's gradient."""

    always_runs = True
    asks = True

    @classmethod
    def records(cls, node: Any, tracked: int, settings: dict[str, Any]) -> int:
        """Record if x requires grad; the flag is added to the message's note."""
        settings["note"] += tracked & modes.recording & GRAD
        return tracked & GRAD

    @staticmethod
    def forward(ctx: Any, x: Tensor | Array, *links: Tensor, message: PendingSend, tag: int, note: float) -> Tensor:
        """Send a copy of x (an array, or what the communicator converts to one) and return an empty tensor."""
        ctx.message = message
        array = x.array if isinstance(x, Tensor) else x
        array = array.copy(order="C") if type(array) is np.ndarray else array
        message.number = message.comm.post_send(array, message.peer, tag, note, message.rank)[0]
        if isinstance(x, Tensor):                    # a list or number, which is converted, gets no gradient
            message.like = (array.shape, array.dtype)
        return as_tensor(np.zeros(0))

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> tuple[Tensor | None, ...]:
        """The gradient of x, received by Recv; None for the links."""
        message = ctx.message
        gradient = message.gradient(lambda handle: Recv.complete(
            handle, message.comm, message.peer, gradient_tag(message.number), message.rank, link=link(ctx)))
        return gradient, *[None] * (len(ctx.edges) - 1)


def link(node: Node) -> Tensor:
    """An empty tensor whose edge leads to `node`. The gradient of a message depends on it, so that a pass over the backward
    pass reaches both ends of the message or neither.
    """
    tensor = as_tensor(np.zeros(0))
    tensor.edge, tensor.tracked = (node, 0), GRAD
    return tensor


def post(x: Tensor | Array, comm: Communicator, dest: int, tag: int, rank: int | None,
           *links: Tensor, note: int = 0, own_pass: bool = False) -> tuple[Tensor, PendingSend]:
    """Send x, with its tangent if it has one: the Tensor that Post returned, and the pending message."""
    side_effect(MESSAGES)
    reserve_numbers()
    close_dropped_messages()
    message = PendingSend(comm, rank, dest, tag, own_pass)
    primal: Any
    primal, tangent = unpack_dual(x) if isinstance(x, Tensor) else (x, None)
    sent, dual = (x, 0) if tangent is None else (stack([primal, tangent]), WITH_TANGENT)
    tensor = Post.apply(sent, *links, message=message, tag=tag, note=float(note | dual))
    if tensor.edge is not None:
        message.gradient_edge = tensor.edge
        pending.add(message)
    return tensor, message


class Send(Function):
    """Send x to rank `dest`; returns a token, an empty tensor.

    x is copied and the call does not block: two ranks may both send first, whatever the size. A process that holds several
    ranks must send before it receives. pending_messages.py says which backward pass receives x's gradient.
    """

    always_runs = True

    @classmethod
    def apply(cls, x: Tensor | Array, *, dest: int, comm: Communicator | None = None, tag: int = 0,       # type: ignore[override]
              rank: int | None = None, own_pass: bool = False) -> Tensor:
        """Send a copy of x and return the token."""
        comm = communicator(comm)
        return cls.token(*post(x, comm, dest, comm.user_tag(tag), rank, own_pass=own_pass))

    @classmethod
    def token(cls, tensor: Tensor, message: PendingSend) -> Tensor:
        """The user's token, recorded on the result of Post."""
        token: Tensor = super().apply(tensor, message=message)
        if token.edge is not None:
            message.set_result(token)
        return token

    @staticmethod
    def forward(ctx: Any, tensor: Tensor, *, message: PendingSend) -> Tensor:
        """Post's empty tensor -> the same tensor, as the token."""
        ctx.message = message
        return tensor

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> Tensor:
        """Start to receive the gradient; Post's backward completes it, and nodes that run in between overlap with it."""
        message = ctx.message
        message.check("Send", "to")
        message.start_receiving()
        return g


class Recv(Function):
    """Receive the tensor that a rank sent; its shape and dtype are the sender's.

    The result requires grad if the sender's x did. Its gradient is sent back; zeros are sent if no backward pass reaches it
    before this rank waits for others.
    """

    always_runs = True
    asks = True

    @classmethod
    def records(cls, node: Any, tracked: int, settings: dict[str, Any]) -> int:
        """Record if the sender has recorded its Send."""
        node.agreed = int(settings["received"].note) & GRAD
        return int(node.agreed)

    @classmethod
    def apply(cls, *, source: int, comm: Communicator | None = None, tag: int = 0,         # type: ignore[override]
              like: Tensor | Array | None = None, rank: int | None = None, own_pass: bool = False) -> Tensor:
        """Receive and return a Tensor; blocks until the message has arrived."""
        comm = communicator(comm)
        side_effect(MESSAGES)
        close_dropped_messages()
        number = comm.user_tag(tag)
        return cls.complete(comm.post_recv(source, number, rank), comm, source, number, rank, like, own_pass=own_pass)

    @classmethod
    def complete(cls, handle: Handle, comm: Communicator, source: int, tag: int, rank: int | None,
                 like: Tensor | Array | None = None, link: Tensor | None = None, own_pass: bool = False) -> Tensor:
        """Wait for the message and record its reception."""
        received: Message = handle.wait()
        reserve_numbers()
        dual = bool(int(received.note) & WITH_TANGENT)
        check_like(received.array[0] if dual else received.array, like, call_text("recv", "source", source, tag))
        if dual and modes.level is None:
            raise RuntimeError(f"Recv: rank {source} sent a tensor with a tangent, but no dual level is open here. Enter "
                               "one on both ranks or on none, or send the primal of unpack_dual()")
        if int(received.note) & GRAD and not modes.recording & GRAD:
            raise RuntimeError(f"Recv: rank {source} sent a tensor that requires grad, and waits for its gradient in "
                               "backward, but gradients are not recorded here. Use no_grad() (in backward: create_graph) on "
                               "both ranks or on none, or send x.detach()")
        message = PendingRecv(comm, rank, source, tag, own_pass)
        message.number, message.like = received.number, (received.array.shape, received.array.dtype)
        y: Tensor = super().apply(link, received=received, message=message)
        if y.edge is not None:
            message.set_result(y)
            pending.add(message)
        return make_dual(y[0], y[1]) if dual else y

    @staticmethod
    def forward(ctx: Any, link: Tensor | None, *, received: Message, message: PendingRecv) -> Tensor:
        """The received array as a Tensor."""
        ctx.message = message
        return as_tensor(received.array)

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> None:
        """Send the gradient back to the sender."""
        message = ctx.message
        message.check("Recv", "from")
        last = message.take_part()
        post(g, message.comm, message.peer, gradient_tag(message.number), message.rank,
               *[link(ctx)] if g.tracked else [], note=LAST if last else 0)


class Isend:
    """Non-blocking Send: apply() sends a copy of x and returns a Handle whose wait() returns the token.

    In backward, the node of wait() starts to receive the gradient and Isend's node waits for it: computation between the two
    overlaps with the message in both directions.
    """

    @staticmethod
    def apply(x: Tensor | Array, *, dest: int, comm: Communicator | None = None, tag: int = 0, rank: int | None = None,
              own_pass: bool = False) -> Handle:
        """Send a copy of x and return a Handle of the token. Arguments and errors: see Send.apply()."""
        comm = communicator(comm)
        tensor, message = post(x, comm, dest, comm.user_tag(tag), rank, own_pass=own_pass)
        return Handle(lambda: Send.token(tensor, message), lambda: True)


class Irecv:
    """Non-blocking Recv: apply() returns a Handle whose wait() returns the Tensor."""

    @staticmethod
    def apply(*, source: int, comm: Communicator | None = None, tag: int = 0, like: Tensor | Array | None = None,
              rank: int | None = None, own_pass: bool = False) -> Handle:
        """Start to receive and return a Handle of the Tensor. Arguments: see Recv.apply(), whose errors wait() raises."""
        comm = communicator(comm)
        side_effect(MESSAGES)
        number = comm.user_tag(tag)
        handle = comm.post_recv(source, number, rank)
        return Handle(lambda: Recv.complete(handle, comm, source, number, rank, like, own_pass=own_pass), handle.done)


class Wait:
    """Complete a handle of Isend, Irecv or of a collective's start(): Wait.apply(handle) is handle.wait()."""

    @staticmethod
    def apply(handle: Handle | Pending) -> Any:
        """Block until the operation has completed. Returns its result, a token, a Tensor or a tuple of Tensors, or raises
        its error.
        """
        return handle.wait()


class Join(Function):
    """Identity on x that also depends on further tensors."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, *others: Tensor) -> Tensor:
        """x and any number of other tensors -> x."""
        if modes.level is not None:
            ctx.others = others
        return x

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> tuple[Tensor | None, ...]:
        """g for x, None for the others: the pass reaches their nodes without a gradient."""
        return g, *[None] * (len(ctx.edges) - 1)

    @staticmethod
    def jvp(ctx: Any, tangent: Tensor | None, *_: Tensor | None) -> Tensor | None:
        """x's tangent, joined to the others, too: a backward pass through the tangent reaches the messages."""
        return None if tangent is None else Join.apply(tangent, *ctx.others)


def join(x: Tensor, *tokens: Tensor | Sequence[Tensor | None] | None) -> Tensor:
    """Return x, such that a backward pass through it also runs the Sends of the tokens (and the Recvs of unused tensors).

    From now on these messages take part only in passes that reach them.
    """
    if not isinstance(x, Tensor) or x.array.dtype.kind not in "fcV":
        raise TypeError("join(x, *tokens): x must be a tensor that can have a gradient, not "
                        + (f"one of {x.dtype}" if isinstance(x, Tensor) else type(x).__name__))
    links: list[Any] = [t for token in tokens for t in (token if isinstance(token, (list, tuple)) else [token])
                        if t is not None]
    for t in links:
        if not isinstance(t, Tensor):
            raise TypeError(f"join(x, *tokens): a token must be the result of Send or of a handle's wait(), not {t!r}")
    for t in links:
        message = getattr(t.edge[0], "message", None) if t.edge is not None else None
        if isinstance(message, PendingMessage):
            message.own_pass = True
    return Join.apply(x, *links)


__all__ = ["Irecv", "Isend", "Recv", "Send", "Wait", "join"]
