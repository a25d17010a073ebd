"""The backward passes of a traced step, written down."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.engine import running
from ..core.function import FunctionNode
from ..core.graph import Node
from ..core.primitive import unobserved
from ..core.tensor import Tensor
from .attempt import Attempt, alike
from .calls import Array, Call, Held, place
from .errors import TraceError
from .forward import Forward
from .gradients import Gradients
from .inline import Watched, arrays_in, opened, plain, watching
from .nodes import OperationAgain, run_again, watched_twin
from .traced_walk import TracedPass, count


class Backward(Forward):
    """The part of a Tracer that runs nodes."""

    gradients: Gradients

    def backward_pass(self, create: bool, *given: Any) -> Any:
        """The object of a backward pass that begins."""
        if create:
            self.refuse("backward with create_graph=True can't be recorded")
        return TracedPass(self, create, *given)

    def run_node(self, node: Node, g: Any) -> Any:
        """node.run(g), written down."""
        runner = self._nodes.get(node)
        if isinstance(node, FunctionNode) and runner is None:
            mark = len(self.calls), len(self.values), len(self.outside)
            try:
                grads = node.run(g, False)
                if all(x is None or self.find(x) is not None for x in grads):
                    return grads
            except TraceError:
                pass
            self._undo(*mark)
        elif runner is None or (getattr(runner, "inlined", False) and isinstance(g, np.ndarray)):
            grads = self._inlined_node(node, g) if runner is None else self._backward_inlined(runner, node, g)
            if grads is not None:
                return grads
        with unobserved():
            grads = [np.asarray(x) if isinstance(x, np.generic) else x for x in node.run(g, False)]
        gs = tuple(self.argument(x) for x in (g if node.outputs > 1 else (g,)))
        if runner is None:
            kept = node.saved if isinstance(node.saved, tuple) else ()
            for saved in (*kept, *vars(node).values()):
                array = getattr(saved, "array", saved)
                if isinstance(array, np.ndarray):
                    self.fixed(array)
            call = Call(run_again(node), gs, label=node.name())
        else:
            call = Call(runner.backward(node), gs, label=f"{node.name()}")
        call.single = False
        self.calls.append(call)
        for grad in grads:
            known = isinstance(grad, np.ndarray) and grad.size and place(grad) in self._places
            call.outs.append(self.value(grad, call) if isinstance(grad, np.ndarray) and not known else None)
        return grads

    def _backward_inlined(self, runner: OperationAgain, node: Node, g: Any) -> Any:
        """The same for its backward: the gradients, or None where it must stay a call."""
        backward = runner.backward(node, opened)
        watched = watching(runner.ctx.saved)
        runner.ctx.edges = tuple([None if edge is None else True for edge in node.edges])
        kept, runner.ctx.saved = runner.ctx.saved, watched
        attempt = Attempt(self)
        self.operand(g)
        grads = attempt.run(lambda: backward(g.view(Watched)))
        runner.ctx.saved = kept
        if not self._right(attempt, grads, node, g):
            for array in arrays_in(kept):
                self.fixed(array)
            return None
        return attempt.keep_all(grads)

    def _right(self, attempt: Attempt, grads: Any, node: Node, g: Any) -> bool:
        """Whether an attempt's gradients are bitwise those of the node itself, and made by known calls."""
        if grads is None or not all(x is None or attempt.knows(x) for x in grads):
            return False
        with unobserved():
            wanted = node.run(g, False)
        return len(wanted) == len(grads) and all(alike(None if x is None else plain(x), None if y is None else np.asarray(y))
                                                 for x, y in zip(grads, wanted, strict=True))

    def _inlined_node(self, node: Node, g: Any) -> Any:
        """The rules of a declared operation, as ufuncs."""
        if not isinstance(g, np.ndarray) or node.outputs > 1:
            return None
        self.operand(g)
        attempt = Attempt(self)
        other = watched_twin(node)
        grads = attempt.run(lambda: other.run(g.view(Watched), False))
        return attempt.keep_all(grads) if self._right(attempt, grads, node, g) else None

    def plus(self, held: Array, value: Array) -> Array:
        """held + value."""
        total: Array = np.asarray(np.add(held, value))
        self.add(Call(np.add, (self.operand(held), self.operand(value))), total)
        return total

    def counted(self, leaf: Tensor) -> None:
        """A leaf that somebody counts has got its gradient: it is counted in replays too."""
        with unobserved():
            count(leaf)
        self.calls.append(Call(count, (Held(leaf),), label="arrived"))

    def end_pass(self, walk: Any) -> None:
        """The nodes of a pass have run: its callbacks are called, in replays too."""
        with unobserved():
            while walk.callbacks:
                walk.callbacks.pop(0)()
        self.calls.append(Call(end_of_pass, (), label="end_of_pass"))
        self.gradients.look()


def end_of_pass() -> None:
    """In a replay: call what the pass's tallies have queued."""
    walk = running.passes[-1]
    while walk.callbacks:
        walk.callbacks.pop(0)()
    running.passes.pop()
