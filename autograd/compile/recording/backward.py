"""The part of a Tracer that records backward passes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...core.engine import BackwardPass, running
from ...core.function import FunctionNode
from ...core.graph import FREED, Node
from ...core.interceptors import without_watcher
from ...core.tensor import Tensor
from ..errors import TraceError
from .attempt import Attempt
from .calls import Array, Call, Constant, Value, effect, location
from .forward import Forward
from .gradients import Gradients
from .inline import Watched, arrays_in, as_plain, instrumented, watched_values
from .nodes import OperationReplay, backward_of, watched_twin
from .traced_pass import GraphPass, TracedPass, count


class Backward(Forward):
    """Runs the nodes of a backward pass and records what each computes."""

    gradients: Gradients

    def backward_pass(self, create: bool, *given: Any) -> Any:
        """Create the pass object for a backward pass, see engine.run_backward."""
        return (GraphPass if create else TracedPass)(self, create, *given)

    def run_node(self, node: Node, g: Any, frees: bool) -> Any:
        """Run a node and record it: as NumPy calls if possible, else as one call. frees: it runs no more."""
        runner = self._nodes.get(node)
        if isinstance(node, FunctionNode) and runner is None:
            mark = len(self.calls), len(self.values), len(self.outside)
            try:
                grads = node.run(g, False)
                if all(x is None or self.find(x) is not None for x in grads):
                    return grads
            except TraceError:
                pass
            self._rollback(*mark)
        elif runner is None or (getattr(runner, "inlined", False) and (self.apart or isinstance(g, np.ndarray))):
            grads = self._inline_rule(node, g) if runner is None else self._inline_backward(runner, node, g)
            if grads is not None:
                if frees and self.apart:             # native programs have memory of their own for what it has saved
                    node.saved = FREED
                    self._nodes.pop(node, None)
                return grads
        with without_watcher():
            grads = [np.asarray(x) if isinstance(x, np.generic) else x for x in node.run(g, False)]
        gs = tuple(self.argument(x) for x in (g if node.outputs > 1 else (g,)))
        if runner is None:
            pinned: list[Value] = []
            saved_values = node.saved if isinstance(node.saved, tuple) else ()
            for saved in (*saved_values, *vars(node).values()):
                array = getattr(saved, "array", saved)
                if isinstance(array, np.ndarray):
                    self.fixed(array)
                    pinned.append(self.operand(array))
            call = Call(backward_of(node), gs, label=node.name())
            call.pinned = pinned
        else:
            call = Call(runner.backward(node), gs, label=f"{node.name()}")
            if self.apart and getattr(runner, "inlined", False):                # its forward is not called in runs
                saved = arrays_in((runner.ctx.saved, *vars(runner.ctx).values()))
                call.pinned = [self.operand(self.fixed(a)) for a in saved]
        call.single = False
        self.calls.append(call)
        for grad in grads:
            known = isinstance(grad, np.ndarray) and grad.size and location(grad) in self._by_location
            call.outs.append(self.value(grad, call) if isinstance(grad, np.ndarray) and not known else None)
        return grads

    def _inline_backward(self, runner: OperationReplay, node: Node, g: Any) -> Any:
        """Record an inlined Operation's backward as NumPy calls: its gradients, or None where it must stay one call."""
        ctx, attempt = runner.ctx, Attempt(self)
        unwatched, attributes = ctx.saved, {n: v for n, v in vars(ctx).items() if arrays_in(v)}
        ctx.edges = tuple([None if edge is None else True for edge in node.edges])
        gs = [None if x is None else self.operand(x).array.view(Watched) for x in (g if isinstance(g, list) else [g])]

        def rule() -> Any:
            ctx.saved = watched_values(unwatched, attempt)
            vars(ctx).update({name: watched_values(value, attempt) for name, value in attributes.items()})
            return runner.backward(node, instrumented)(*gs)

        grads = attempt.run(rule)
        ctx.saved = unwatched
        vars(ctx).update(attributes)
        if not self._matches_node(attempt, grads, node, g):
            for array in arrays_in((unwatched, *attributes.values())):
                self.fixed(array)
            return None
        return attempt.commit_gradients(grads)

    def _matches_node(self, attempt: Attempt, grads: Sequence[Array | None] | None, node: Node, g: Any) -> bool:
        """Whether an attempt's gradients are those of the node itself, and come from recorded calls."""
        if grads is None or not all(x is None or attempt.is_known(x) for x in grads):
            return False
        with without_watcher():
            wanted = node.run(g, False)
        return len(wanted) == len(grads) and all(attempt.matches(as_plain(x), None if y is None else np.asarray(y))
                                                 for x, y in zip(grads, wanted, strict=True))

    def _inline_rule(self, node: Node, g: Any) -> Any:
        """Record the rules of a declared operation as NumPy calls: the gradients, or None where it must stay one call."""
        if not isinstance(g, np.ndarray) or node.outputs > 1:
            return None
        watched, attempt = self.operand(g).array.view(Watched), Attempt(self)
        grads = attempt.run(lambda: watched_twin(node).run(watched, False))
        return attempt.commit_gradients(grads) if self._matches_node(attempt, grads, node, g) else None

    def record_sum(self, pending: Array, value: Array) -> Array:
        """Add two gradients of one tensor, and record that."""
        total: Array = np.asarray(np.add(pending, value))
        self.add(Call(np.add, (self.operand(pending), self.operand(value))), total)
        return total

    def record_count(self, leaf: Tensor) -> None:
        """Count the gradient of a leaf that has a counter, now and in replays."""
        with without_watcher():
            count(leaf)
        self.calls.append(effect(Call(count, (Constant(leaf),), label="count")))

    def end_pass(self, backward_pass: BackwardPass) -> None:
        """Call the callbacks of a pass whose nodes have run, now and in replays."""
        with without_watcher():
            while backward_pass.callbacks:
                backward_pass.callbacks.pop(0)()
        self.calls.append(effect(Call(end_of_pass, (), label="end_of_pass")))
        self.gradients.rescan()


def end_of_pass() -> None:
    """In a replay: call the callbacks that counters have queued on the pass, and end it."""
    backward_pass = running.passes[-1]
    while backward_pass.callbacks:
        backward_pass.callbacks.pop(0)()
    running.passes.pop()
