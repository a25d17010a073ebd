"""Differentiable: programs of a function whose results have a graph: its forward pass, and a backward pass of its own.

Both are one recording, of the function and of grad() of its results, cut where the backward pass begins.
"""

from __future__ import annotations

import copy
import weakref
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..core.backward import grad
from ..core.function import Function
from ..core.modes import GRAD, enable_grad, modes
from ..core.tensor import Tensor, result
from .checks.bindings import Bindings
from .checks.state import Snapshot
from .errors import TraceError
from .programs.engines import Engine
from .recorded import Recorded, perturbed
from .recording.calls import Array, Value, root_of
from .recording.nests import Nest
from .recording.tracer import Tracer

MSG_AGAIN = ("compile: {name} can't be differentiated twice, or after a later call with retain_graph: it draws random "
             "numbers or changes buffers, so that its forward pass can't run again; call the function without compile()")


class Differentiable(Recorded):
    """Recorded, whose results have a node. While the backward pass of a call is pending, its memory is in use."""

    def __init__(self, step: Callable[..., Any], arguments: Nest, before: Snapshot, roots: Sequence[object], engine: Engine,
                 bindings: Bindings, scaled: bool, live: Sequence[bool]) -> None:
        """live: for each tensor of the result, whether it has a graph."""
        self.live = live
        self.calls = 0
        self.pending: Callable[[], Any] | None = None        # a reference to the node of the last call
        super().__init__(step, arguments, before, roots, engine, bindings, scaled)

    def _run_step(self, tracer: Tracer, inputs: list[Tensor]) -> Any:
        """Run the function and differentiate its results: they and the gradients."""
        returned = super()._run_step(tracer, inputs)
        outs = [t for t, live in zip(Nest(returned).tensors, self.live, strict=True) if live]
        tracer.mark = tracer.calls[-1] if tracer.calls else None
        ids = set(map(id, inputs))
        held = [t for t, _, tracked in tracer.guards.values() if tracked & GRAD and id(t) not in ids]
        self.targets = [*inputs, *held]
        wanted = [t for t in self.targets if t.tracked & GRAD]
        seeds = [np.cos(np.arange(t.array.size)).reshape(t.array.shape).astype(t.array.dtype) for t in outs]
        self.example_seeds = [g.copy() for g in seeds]
        self.seeds = seeds if tracer.examples else [perturbed(g) for g in seeds]
        for g in self.seeds:
            tracer.value(g)
        grads = iter(grad(outs, wanted, [result(g) for g in self.seeds], allow_unused=True))
        found = [next(grads) if t.tracked & GRAD else None for t in self.targets]
        tracer.has_grad = [g is not None for g in found]
        return returned, [g for g in found if g is not None]

    def _make(self, tracer: Tracer, fresh: set[int]) -> None:
        """Make the two programs. The first also returns the memory that the second reads, which gets it as arguments."""
        count = len(self.live)
        cut = 0 if tracer.mark is None else tracer.calls.index(tracer.mark) + 1
        before, after = tracer.calls[:cut], tracer.calls[cut:]
        made = {id(root_of(v.array)): v for call in reversed(before) for v in call.outs if v is not None}
        results, grads = tracer.results[:count], tracer.results[count:]
        kept: dict[int, Value] = {}
        for x in [x for call in after for x in (*call.args, *call.settings.values())] + grads:
            if isinstance(x, Value) and id(root_of(x.array)) in made:
                whole = kept[id(root_of(x.array))] = made[id(root_of(x.array))]
                tracer.fix(whole)
                if whole.array.size != root_of(whole.array).size:
                    line, label = getattr(whole.maker, "line", ""), getattr(whole.maker, "label", "")
                    raise TraceError(f"trace: {line}: the backward pass reads memory of which {label} makes only a part")
        self.outs, self.has_grad = count, tracer.has_grad
        self.pure = not tracer.written and not tracer.primitives
        self.returned = tracer.returned.form_of_first()
        forward, backward = copy.copy(tracer), copy.copy(tracer)
        forward.calls, backward.calls, backward.outside = before, after, []
        self.program = self.engine.make(forward, [*results, *kept.values()], fresh, self.inputs)
        self.backward = self.engine.make(backward, grads, fresh,
                                         [*self.inputs, *(v.array for v in kept.values()), *self.seeds])

    def describe(self) -> str:
        """The sources of both programs."""
        return f"{self.program.source}{super().describe().replace(self.program.source, self.backward.source)}"

    @property
    def busy(self) -> bool:
        """Whether the backward pass of the last call is pending."""
        return self.pending is not None and self.pending() is not None

    def run(self, tensors: Sequence[Tensor]) -> Any:
        """Run the forward program, and record its node."""
        outs = CompiledFunction.apply(self, *tensors, *self.targets[len(tensors):])
        return self.returned.unflatten(list(outs))

    def run_all(self, arrays: Sequence[Array]) -> list[Array]:
        """The results and gradients for these arrays, for a comparison with the step."""
        outs = self.program.run(arrays)
        return [*outs[:self.outs], *self.backward.run([*arrays, *outs[self.outs:], *self.example_seeds])]

    def again(self, ctx: Any, gs: Sequence[Tensor]) -> list[Tensor | None]:
        """The gradients by an eager run."""
        if not self.pure:
            raise RuntimeError(MSG_AGAIN.format(name=getattr(self.step, "__name__", "the function")))
        tensors = ctx.saved_tensors
        with enable_grad():
            outs = Nest(self.step(*self.arguments.unflatten(list(tensors[:len(self.inputs)])))).tensors
        pairs = [(t, g) for t, g, live in zip(outs, gs, self.live, strict=True) if live]
        create = bool(modes.recording & GRAD)
        wanted = [t for t in tensors if t.requires_grad]
        found = iter(grad([t for t, _ in pairs], wanted, [g for _, g in pairs], create_graph=create, allow_unused=True))
        return [next(found) if t.requires_grad else None for t in tensors]


class CompiledFunction(Function):
    """One call of a Differentiable."""

    @staticmethod
    def forward(ctx: Any, recorded: Differentiable, *tensors: Tensor) -> Any:
        """Run the forward program."""
        made = recorded.program.run([x.array for x in tensors[:len(recorded.inputs)]])
        outs = tuple([result(a) for a in made[:recorded.outs]])
        ctx.kept = made[recorded.outs:]
        recorded.calls += 1
        ctx.recorded, ctx.number = recorded, recorded.calls
        recorded.pending = weakref.ref(ctx)
        ctx.save_for_backward(*tensors)
        ctx.mark_non_differentiable(*[t for t, live in zip(outs, recorded.live, strict=True) if not live])
        return outs

    @staticmethod
    def backward(ctx: Any, *gs: Tensor) -> Any:
        """Run the backward program; under create_graph, or after a later call, run the function again."""
        recorded: Differentiable = ctx.recorded
        if ctx.number != recorded.calls or modes.recording & GRAD:
            return (None, *recorded.again(ctx, gs))
        inputs = [x.array for x in ctx.saved_tensors[:len(recorded.inputs)]]
        seeds = [g.array for g, live in zip(gs, recorded.live, strict=True) if live]
        with recorded.lock:
            grads = iter(recorded.backward.run([*inputs, *ctx.kept, *seeds]))
        recorded.pending = None
        return (None, *[result(next(grads)) if has else None for has in recorded.has_grad])


__all__ = ["CompiledFunction", "Differentiable"]
