"""Parameters of several DataParallels, as a trunk under two heads: each pass counts their gradients for one of them."""

from __future__ import annotations

from typing import Any

from autograd import Tensor
from autograd.core.walk import running

MSG_WEIGHTS = ("one backward pass comes from two DataParallels that share {name}, and this rank's losses do not count the "
               "same in both ({one:g} and {other:g}), so what the sum counts is unknown; call backward() for each of them, "
               "or wrap both in one module")
MSG_WAITING = ("gradients of {name} wait to be summed with those of another DataParallel, which shares it and whose "
               "no_sync() they come from; sum them first, by a backward() of that one outside of no_sync()")


class Sharing:
    """What one reducer shares with others. In a pass that comes from several of them the one that was made last sums."""

    def __init__(self, reducer: Any) -> None:
        self.reducer, self.order = reducer, 0
        self.params: dict[Any, None] = {}
        self.elsewhere: set[Tensor] = set()          # that another one counts in the pass that is running
        self.prepared: set[Tensor] = set()           # whose earlier gradients another one has seen to in that pass

    def meet(self, p: Tensor, tally: Any) -> None:
        """p had this tally before the reducer took it."""
        other = getattr(tally, "reducer", None)
        if other is not None and other is not self.reducer:
            self.order = max(self.order, other.sharing.order + 1)
            self.params[p] = other.sharing.params[p] = None

    def claim(self, walk: Any) -> None:
        """A pass begins: what is shared is counted here, unless a later one takes part too."""
        self.elsewhere.clear()
        self.prepared.clear()
        others: dict[Any, tuple[bool, str]] = {}     # whether they take part, and the first parameter
        for p in self.params:
            place, hooks = self.reducer.places[p], p.hooks
            other = hooks.tally.reducer
            if other is not self.reducer:
                if other not in others:
                    others[other] = other._pass is walk or bool(other.graph_passes.calls_in(walk)), place.name
                if others[other][0] and other.sharing.order > self.order:
                    self.elsewhere.add(p)
                    continue
                if others[other][0]:
                    other.sharing.elsewhere.add(p)
                    self._take(other, p, walk)
            hooks.home, hooks.tally = place.view, place.bucket
        for other, (too, name) in others.items():
            if too:
                self._compare(other, walk, name)
            self._compare_passes(other, too, name)

    def _compare_passes(self, other: Any, too: bool, name: str) -> None:
        """Whether gradients wait, from passes inside no_sync(), that the one which sums now would not count as its own."""
        if other._pass is not running.walks[-1]:
            other.forget_dropped()                   # while it can be told: this pass may bring gradients
        one, two = [[] if not r.weights.passes or r.dropped() else r.weights.passes for r in (self.reducer, other)]
        if too:
            if other.sharing.order > self.order:
                one, two = two, one
            if not two or one == two:                # all that waits, the later one counts
                return
        if two:
            self._tell(MSG_WAITING.format(name=name))

    def _take(self, other: Any, p: Tensor, walk: Any) -> None:
        """What another one has put aside of p is this one's to bring back."""
        if other._pass is walk:
            self.prepared.add(p)
        for name in ("_set_aside", "_restored"):
            for entry in [e for e in getattr(other, name) if e[0] is p]:
                getattr(self.reducer, name).append(entry)
            setattr(other, name, [e for e in getattr(other, name) if e[0] is not p])

    def _compare(self, other: Any, walk: Any, name: str) -> None:
        """Whether the two reducers would weight a gradient otherwise."""
        counts = [r.weights.of(r.graph_passes.calls_in(walk))[0] for r in (self.reducer, other)]
        if counts[0] != counts[1]:
            self._tell(MSG_WEIGHTS.format(name=name, one=counts[1], other=counts[0]))

    def _tell(self, text: str) -> None:
        """All ranks are to hear of it."""
        if self.reducer.comm.size > 1:
            self.reducer.weights.problem = self.reducer.weights.problem or text
