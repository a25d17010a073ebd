"""Passes whose gradients are more than numbers in a bucket: autograd.grad() with respect to parameters, and create_graph.

Their gradients are averaged by one recorded collective at the end of the pass, on a communicator of their own: on all ranks,
in the order of the parameters, whatever order they came in.
"""

from __future__ import annotations

from typing import Any

from autograd import Tensor
from autograd.core.walk import running

from .pass_ends import at_end
from .sink import calls_in
from .synchronised import averaged
from .weights import ForwardCall


class GraphPasses:
    """These passes of one reducer."""

    def __init__(self, reducer: Any) -> None:
        self.reducer = reducer
        self._comm: Any = None
        self._asked: dict[Any, tuple[set[ForwardCall], list[Tensor]]] = {}    # grad() passes: calls, parameters asked for
        self._before: list[tuple[Tensor, Any]] = []

    @property
    def comm(self) -> Any:
        """Made on first use, which all ranks come to together."""
        if self._comm is None:
            self._comm = self.reducer.users_comm.duplicate()
        return self._comm

    def calls_in(self, walk: Any) -> set[ForwardCall]:
        """The calls of the module that a pass comes from, before they are reached."""
        return calls_in(walk.marked(), self.reducer)

    # --- autograd.grad() ----------------------------------------------------------------------------------------------

    def meet(self, walk: Any, call: ForwardCall | None) -> None:
        """A grad() pass has come by: if it asks for parameters, average them when it ends."""
        reducer = self.reducer
        if not reducer.enabled:
            return
        if walk not in self._asked:
            if walk.targets is None:
                return
            asked = [p for _, p in reducer.named if p.accumulator is not None and p.accumulator() in walk.targets]
            if not asked:
                return
            reducer.refuse_graphs("autograd.grad() with respect to parameters", kept=False)
            if reducer.joined is not None:
                raise NotImplementedError("autograd.grad() with respect to parameters inside join(): ranks that have run "
                                          "out of batches can't take part in it")
            self._asked = {w: entry for w, entry in self._asked.items() if w in _running(walk)}
            reducer.meet_training(self.calls_in(walk))
            self._asked[walk] = (set(), asked)
            at_end(walk, reducer.number, lambda: self._finish_asked(walk))
        if call is not None:
            self._asked[walk][0].add(call)

    def averages(self, walk: Any) -> bool:
        """Whether this grad() pass asks for parameters, and its gradients are averaged when it ends."""
        return walk in self._asked

    def _finish_asked(self, walk: Any) -> None:
        """The end of a grad() pass: put the averages where it will find them."""
        calls, asked = self._asked.pop(walk)
        places = [walk.watch.get(p.accumulator(), {}).get(0, []) for p in asked]
        found = [next((place[0] for place in held if place), None) for held in places]
        for g, held in zip(self._averaged(found, asked, calls), places, strict=True):
            for place in held:
                place[:] = [] if g is None else [g]

    def _averaged(self, grads: list[Any], params: list[Tensor], calls: set[ForwardCall]) -> list[Any]:
        """Averaged over ranks by what the calls count."""
        reducer = self.reducer
        weights, kept = reducer.weights, (reducer.weights.calls, reducer.weights.passes)
        weights.calls, weights.passes = calls, []
        try:
            factor, weight = weights.final()
        finally:
            weights.calls, weights.passes = kept
        try:
            return averaged(grads, params, self.comm, factor, weight, reducer=reducer, calls=calls)
        except FloatingPointError:
            reducer.refuse(float("nan"))
            raise

    # --- backward(create_graph=True) ----------------------------------------------------------------------------------

    def start(self) -> None:
        """A recorded pass has begun: put aside what .grad holds, so that it is averaged alone."""
        reducer = self.reducer
        reducer.refuse_graphs("backward(create_graph=True)")
        if reducer.joined is not None:
            raise NotImplementedError("backward(create_graph=True) inside join(): ranks that have run out of batches can't "
                                      "take part in it")
        if reducer.weights.passes:
            raise NotImplementedError("backward(create_graph=True) can't follow passes inside no_sync(): zero_grad() first")
        self._before = [(p, p._grad) for _, p in reducer.named if p._grad is not None and not _used(reducer, p)]
        for p, _ in self._before:
            p._grad = None

    def finish(self) -> None:
        """The end of a recorded pass: .grad gets the averages, with their graph."""
        reducer = self.reducer
        params = [p for _, p in reducer.named]
        found = self._averaged([p._grad for p in params], params, set(reducer.weights.calls))
        before = {id(p): g for p, g in self._before}
        self._before = []
        for p, g in zip(params, found, strict=True):
            held = before.get(id(p))
            p._grad = held if g is None else g if held is None else held + g


def _used(reducer: Any, p: Tensor) -> bool:
    """Whether a parameter's gradient of this pass has come already."""
    place = reducer.places[p]
    return bool(place.bucket.used[place.number])


def _running(walk: Any) -> list[Any]:
    """The passes that this thread is inside."""
    return list(running.walks) + [walk]
