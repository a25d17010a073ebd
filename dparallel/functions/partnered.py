"""Partnered: a collective whose adjoint is another one, its partner; and its non-blocking form.

`y = F.apply(x)` is one node, whose backward applies the partner. `h = F.start(x)`, `y = h.wait()` are two:

    forward                                     backward, newest node first
    h = F.start(x)      starts F                y: Wait     starts the partner on y's gradient
    ... other work                              ...         gradients of the other work
    y = h.wait()        completes F             h: Start    completes the partner: x's gradient

so computation between start and wait overlaps with communication in both passes. It also does in passes over the backward
pass, since the partner is started and waited for by these same two nodes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from autograd.core.primitive import side_effect

from ..autograd import Function, Tensor, as_tensor, is_grad_enabled
from ..comm import Communicator, Handle, communicator
from .collective import NO_PART, Collective, PerRank, one_per_rank, reshaped_gradients, shapes_of
from .wait_order import StartedCollective, assign_number, register, reserve_numbers

Partner = tuple[type["Partnered"], dict[str, Any]]                          # a class and its settings
Issue = tuple[type["Partnered"], tuple[Any, ...], dict[str, Any]]          # a class, its inputs and its settings


class Partnered(Collective):
    """Base of the built-in collectives: a subclass defines how it is issued and which partner computes its gradient."""

    # issue(ctx, blocking, xs, *, comm, ...) starts the collective on the inputs xs, completes it if `blocking`, and returns
    # the Handle of a list of arrays, one for each local rank. It stores in ctx what adjoint() and finish() need, and saves
    # the inputs that they read for backward; issue_recorded() stores the inputs' shapes.
    issue: ClassVar[Callable[..., Handle]]

    @staticmethod
    def adjoint(ctx: Any) -> Partner:
        """The partner's class and its settings."""
        raise NotImplementedError

    @staticmethod
    def finish(ctx: Any, grads: PerRank) -> PerRank:
        """The inputs' gradients from the partner's results: in the inputs' shapes, zeros where an input was not read."""
        return reshaped_gradients(grads, ctx.shapes)

    @classmethod
    def tangent_collective(cls, ctx: Any, tangents: tuple[Any, ...]) -> Issue:
        """The collective that computes the outputs' tangents, with its inputs and settings: a linear one is its own."""
        return cls, tangents, ctx.settings

    @classmethod
    def issue_blocking(cls, ctx: Any, xs: tuple[Any, ...], **settings: Any) -> PerRank:
        """The body of forward(): issue the collective and wait; a Tensor for each local rank."""
        ctx.settings = settings
        return one_per_rank(cls.issue_recorded(ctx, True, xs).wait())

    @classmethod
    def issue_recorded(cls, ctx: Any, blocking: bool, xs: tuple[Any, ...]) -> Handle:
        """Call issue() with ctx's settings; if the call is recorded, store the inputs' shapes."""
        handle = cls.issue(ctx, blocking, xs, **ctx.settings)
        if ctx.agreed:
            ctx.shapes = shapes_of(xs)
        return handle

    @staticmethod
    def backward(ctx: Any, *gs: Tensor) -> PerRank:
        """The gradients of the inputs: apply the partner to the outputs' gradients, on every rank that reached this node."""
        partner, settings = ctx.function.adjoint(ctx)
        with ctx.settings["comm"].in_backward_of(ctx.number):
            return ctx.function.finish(ctx, partner.apply(*gs, **settings))

    @staticmethod
    def jvp(ctx: Any, *tangents: Tensor | None) -> tuple[Tensor | None, ...]:
        """Apply tangent_collective(), on all ranks."""
        function, inputs, settings = ctx.function.tangent_collective(ctx, tangents_or_zeros(ctx, tangents))
        out = function.apply(*inputs, **settings)
        return differentiable_tangents(out, ctx)

    @classmethod
    def start(cls, *args: Any, comm: Communicator | None = None, **settings: Any) -> Pending:
        """Start the collective without waiting. Returns a Pending, whose wait() returns the result.

        Computation between start() and wait() overlaps with the communication, also in backward. All ranks call start() in
        the same order; each may wait at any time. Inputs must not be written to before wait().
        """
        side_effect("a collective that start() begins")
        comm = communicator(comm)
        cls._check_arguments(comm, args, settings)
        pending = PendingCollective(cls)
        token = Start.apply(*args, comm=comm, pending=pending, settings=settings)
        if token.requires_grad and not comm.alone:
            register(pending)
        return Pending(token, pending)


def tangents_or_zeros(ctx: Any, tangents: tuple[Tensor | None, ...]) -> tuple[Tensor, ...]:
    """The tangents; zeros of the input's shape and dtype if an input has none."""
    metas = ctx.meta or [()] * len(tangents)
    return tuple(t if t is not None else as_tensor(np.zeros(*meta) if meta else NO_PART)
                 for t, meta in zip(tangents, metas, strict=True))


def differentiable_tangents(tangents: PerRank, ctx: Any) -> tuple[Tensor | None, ...]:
    """The outputs' tangents; None for outputs of integers."""
    many = tangents if isinstance(tangents, tuple) else (tangents,)
    return tuple(t if dtype is not None and dtype.kind in "fcV" else None
                 for t, (_, dtype) in zip(many, ctx.output_meta, strict=True))


class PendingCollective(StartedCollective):
    """The state shared by a Start and its Wait: the collective in flight in forward, in backward, and in forward mode."""

    def __init__(self, function: type[Partnered]) -> None:
        self.function = function
        self.handle: Any = None                      # of the arrays
        self.back: Any = None                        # the partner's Pending, while a backward pass is between the two
        self.tangent: Any = None                     # the Pending of the outputs' tangents

    def wait(self, token: Tensor) -> PerRank:
        """Wait, and record the Wait with the number reserved for it, if any."""
        if is_grad_enabled():
            reserve_numbers(self)
        value: PerRank = Wait.apply(token, pending=self)
        for t in value if isinstance(value, tuple) else (value,):
            if t.edge is not None:
                assign_number(self, t.edge[0])
        return value


class Pending:
    """The result of start(): wait() returns the result, done() tests for completion without blocking."""

    def __init__(self, token: Tensor, pending: PendingCollective) -> None:
        self._token, self._pending = token, pending
        self._value: PerRank | None = None

    def wait(self) -> PerRank:
        """The result of apply(), recorded at this call. Further calls return the same result."""
        if self._value is None or (is_grad_enabled() and self._token.requires_grad and not _recorded(self._value)):
            self._value = self._pending.wait(self._token)
        return self._value

    def done(self) -> bool:
        """Whether wait() would return without blocking."""
        return bool(self._pending.handle.done())


def _recorded(value: PerRank) -> bool:
    """Whether a result was recorded: not if it was waited for in no_grad. Integer outputs count as recorded."""
    return any(t.requires_grad or t.dtype.kind not in "fcV" for t in (value if isinstance(value, tuple) else (value,)))


class Start(Collective):
    """The inputs -> a token, on which Wait depends."""

    reserves_numbers = False

    @staticmethod
    def forward(ctx: Any, *xs: Any, comm: Communicator, pending: PendingCollective, settings: dict[str, Any]) -> Tensor:
        """Start the collective."""
        ctx.settings, ctx.pending = {"comm": comm, **settings}, pending
        pending.handle = pending.function.issue_recorded(ctx, False, xs)
        return as_tensor(np.zeros(()))

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> PerRank:
        """Wait for the partner, which Wait's backward has started."""
        partner, ctx.pending.back = ctx.pending.back, None
        return ctx.pending.function.finish(ctx, partner.wait())

    @staticmethod
    def jvp(ctx: Any, *tangents: Tensor | None) -> Tensor:
        """Start the collective of the tangents, on all ranks."""
        function, inputs, settings = ctx.pending.function.tangent_collective(ctx, tangents_or_zeros(ctx, tangents))
        ctx.pending.tangent = function.start(*inputs, **settings)
        return as_tensor(np.zeros(()))


class Wait(Function):
    """The token -> the collective's result. Recorded if Start was, so on all ranks or on none."""

    always_runs = True

    @staticmethod
    def forward(ctx: Any, token: Tensor, *, pending: PendingCollective) -> PerRank:
        """Complete the collective."""
        ctx.pending = pending
        return one_per_rank(pending.handle.wait())

    @staticmethod
    def backward(ctx: Any, *gs: Tensor) -> Tensor:
        """Start the partner on the outputs' gradients."""
        (start, _), = ctx.edges
        partner, settings = ctx.pending.function.adjoint(start)
        with start.settings["comm"].in_backward_of(start.number):
            ctx.pending.back = partner.start(*gs, **settings)
        return as_tensor(np.zeros(()))

    @staticmethod
    def jvp(ctx: Any, token: Tensor | None) -> tuple[Tensor | None, ...]:
        """Complete the collective of the tangents."""
        return differentiable_tangents(ctx.pending.tangent.wait(), ctx)
