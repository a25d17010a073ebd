"""Partnered: a collective whose adjoint is another one, its partner; and its form that does not wait.

`y = F.apply(x)` is one node, whose backward applies the partner. `h = F.start(x)`, `y = h.wait()` are two:

    forward                                     backward, newest node first
    h = F.start(x)      starts F                y: Wait     starts the partner on y's gradient
    ... other work                              ...         gradients of the other work
    y = h.wait()        completes F             h: Start    completes the partner: x's gradient

so what is computed between start and wait overlaps with communication in both passes, and, since the partner is started
and waited for by these same two nodes, in passes over the backward pass, too.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from autograd import Function, Tensor, as_tensor, is_grad_enabled
from autograd.core.primitive import side_effect

from ..comm import Communicator, Handle, communicator
from .collective import NO_PART, Collective, one_per_place, shaped, shapes_of
from .wait_order import Turn, overtake, settle, started


class Partnered(Collective):
    """The base of the built-in collectives. A subclass says how it begins, and which partner gives its gradient."""

    # begin(ctx, now, xs, *, comm, ...): start the collective (complete it if `now`) on the inputs xs; the Handle of a list
    # of arrays, one for each place held. Keeps in ctx what adjoint() and finish() need, and what xs they read, in
    # saved_tensors; the shapes of xs are kept for it.
    begin: ClassVar[Callable[..., Handle]]

    @staticmethod
    def adjoint(ctx: Any) -> tuple[type[Partnered], dict[str, Any]]:
        """The partner and its settings."""
        raise NotImplementedError

    @staticmethod
    def finish(ctx: Any, grads: Any) -> Any:
        """The gradients of the inputs from what the partner gave: in the inputs' shapes, zeros where they were not read."""
        return shaped(grads, ctx.shapes)

    @classmethod
    def push(cls, ctx: Any, tangents: tuple[Any, ...]) -> tuple[type[Partnered], tuple[Any, ...], dict[str, Any]]:
        """The collective that makes the outputs' tangents, its inputs and its settings: a linear one is its own."""
        return cls, tangents, ctx.settings

    @classmethod
    def run(cls, ctx: Any, xs: tuple[Any, ...], **settings: Any) -> Any:
        """What forward does."""
        ctx.settings = settings
        return one_per_place(cls.launch(ctx, True, xs).wait())

    @classmethod
    def launch(cls, ctx: Any, now: bool, xs: tuple[Any, ...]) -> Handle:
        """begin() with ctx's settings; if it is recorded, the inputs' shapes are kept."""
        handle = cls.begin(ctx, now, xs, **ctx.settings)
        if ctx.agreed:
            ctx.shapes = shapes_of(xs)
        return handle

    @staticmethod
    def backward(ctx: Any, *gs: Tensor) -> Any:
        """The gradients of the inputs: apply the partner to the outputs' gradients, on every rank that reached this
        node.
        """
        partner, settings = ctx.function.adjoint(ctx)
        with ctx.settings["comm"].answering(ctx.number):
            return ctx.function.finish(ctx, partner.apply(*gs, **settings))

    @staticmethod
    def jvp(ctx: Any, *tangents: Any) -> Any:
        """What push() says, on all ranks."""
        function, inputs, settings = ctx.function.push(ctx, directions(ctx, tangents))
        out = function.apply(*inputs, **settings)
        return differentiable(out, ctx)

    @classmethod
    def start(cls, *args: Any, comm: Communicator | None = None, **settings: Any) -> Pending:
        """apply, not waited for: its result is what the handle's wait() returns.

        What is computed between start() and wait() overlaps with the communication, also in backward. Call start() on
        every rank, in the same order; each rank waits when it likes. Inputs must not be written to before wait().

        >>> h = AllReduce.start(x, comm=comm)
        >>> y = work(z)
        >>> total = h.wait() + y
        """
        side_effect("a collective that start() begins")
        comm = communicator(comm)
        flight = Flight(cls)
        token = Start.apply(*args, comm=comm, flight=flight, settings=settings)
        if token.requires_grad and not comm.alone:
            started(flight)
        return Pending(token, flight)


def directions(ctx: Any, tangents: tuple[Any, ...]) -> tuple[Any, ...]:
    """The tangents, zeros (of the input's shape and dtype) where there is none."""
    metas = ctx.meta or [()] * len(tangents)
    return tuple(t if t is not None else as_tensor(np.zeros(*meta) if meta else NO_PART)
                 for t, meta in zip(tangents, metas, strict=True))


def differentiable(tangents: Any, ctx: Any) -> Any:
    """The outputs' tangents, None for outputs of integers."""
    many = tangents if isinstance(tangents, tuple) else (tangents,)
    return tuple(t if dtype is not None and dtype.kind in "fcV" else None
                 for t, (_, dtype) in zip(many, ctx.output_meta, strict=True))


class Flight(Turn):
    """A collective on its way between a Start and its Wait: in forward, in backward, and in forward mode."""

    def __init__(self, function: type[Partnered]) -> None:
        self.function = function
        self.handle: Any = None                      # of the arrays
        self.back: Any = None                        # the partner's Pending, while a backward pass is between the two
        self.tangent: Any = None                     # the Pending of the outputs' tangents

    def wait(self, token: Tensor) -> Any:
        """Wait, recorded as if it had been called at its turn."""
        if is_grad_enabled():
            overtake(self)
        value = Wait.apply(token, flight=self)
        for t in value if isinstance(value, tuple) else (value,):
            if t.edge is not None:
                settle(self, t.edge[0])
        return value


class Pending:
    """What start() returns: wait() gives the result, done() says without blocking whether it has come."""

    def __init__(self, token: Tensor, flight: Flight) -> None:
        self._token, self._flight, self._value = token, flight, None

    def wait(self) -> Any:
        """What apply() would have returned, recorded here. May be called again: it is the same then."""
        if self._value is None or (is_grad_enabled() and self._token.requires_grad and not _recorded(self._value)):
            self._value = self._flight.wait(self._token)
        return self._value

    def done(self) -> bool:
        """Whether wait() would return at once."""
        return bool(self._flight.handle.done())


def _recorded(value: Any) -> bool:
    """False for what was waited for in no_grad; outputs of integers are never recorded."""
    return any(t.requires_grad or t.dtype.kind not in "fcV" for t in (value if isinstance(value, tuple) else (value,)))


class Start(Collective):
    """The inputs -> a token, on which Wait depends."""

    overtakes = False

    @staticmethod
    def forward(ctx: Any, *xs: Any, comm: Communicator, flight: Flight, settings: dict[str, Any]) -> Tensor:
        """Start the collective."""
        ctx.settings, ctx.flight = {"comm": comm, **settings}, flight
        flight.handle = flight.function.launch(ctx, False, xs)
        return as_tensor(np.zeros(()))

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> Any:
        """Wait for the partner, which Wait's backward has started."""
        pending, ctx.flight.back = ctx.flight.back, None
        return ctx.flight.function.finish(ctx, pending.wait())

    @staticmethod
    def jvp(ctx: Any, *tangents: Any) -> Any:
        """Start the collective that makes the tangents, on all ranks."""
        function, inputs, settings = ctx.flight.function.push(ctx, directions(ctx, tangents))
        ctx.flight.tangent = function.start(*inputs, **settings)
        return as_tensor(np.zeros(()))


class Wait(Function):
    """The token -> what the collective gave. Recorded where Start was, that is on all ranks or on none."""

    always_runs = True

    @staticmethod
    def forward(ctx: Any, token: Tensor, *, flight: Flight) -> Any:
        """Complete the collective."""
        ctx.flight = flight
        return one_per_place(flight.handle.wait())

    @staticmethod
    def backward(ctx: Any, *gs: Tensor) -> Any:
        """Start the partner."""
        (start, _), = ctx.edges
        partner, settings = ctx.flight.function.adjoint(start)
        with start.settings["comm"].answering(start.number):
            ctx.flight.back = partner.start(*gs, **settings)
        return as_tensor(np.zeros(()))

    @staticmethod
    def jvp(ctx: Any, token: Any) -> Any:
        """Complete the tangents."""
        return differentiable(ctx.flight.tangent.wait(), ctx)
