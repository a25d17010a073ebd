"""Parameters of several DataParallels, as a trunk under two heads: each pass counts their gradients for one of them."""

from __future__ import annotations

from typing import Any

from autograd import Tensor

MSG_WEIGHTS = ("one backward pass comes from two DataParallels that share {name}, and this rank's losses do not count the "
               "same in both ({one:g} and {other:g}), so what the sum counts is unknown; call backward() for each of them, "
               "or wrap both in one module")


class Sharing:
    """What one reducer shares with others. In a pass that comes from several of them the one that was made last sums."""

    def __init__(self, reducer: Any) -> None:
        self.reducer, self.order = reducer, 0
        self.params: dict[Any, None] = {}
        self.elsewhere: set[Tensor] = set()          # that another one counts in the pass that is running

    def meet(self, p: Tensor, tally: Any) -> None:
        """p had this tally before the reducer took it."""
        other = getattr(tally, "reducer", None)
        if other is not None and other is not self.reducer:
            self.order = max(self.order, other.sharing.order + 1)
            self.params[p] = other.sharing.params[p] = None

    def claim(self, walk: Any) -> None:
        """A pass begins: what is shared is counted here, unless a later one takes part too."""
        self.elsewhere.clear()
        for p in self.params:
            place, hooks = self.reducer.places[p], p.hooks
            other = hooks.tally.reducer
            if other is not self.reducer and other._pass is walk:
                self._compare(other, walk, place.name)
                if other.sharing.order > self.order:
                    self.elsewhere.add(p)
                    continue
                other.sharing.elsewhere.add(p)
            hooks.home, hooks.tally = place.view, place.bucket

    def _compare(self, other: Any, walk: Any, name: str) -> None:
        """Tell all ranks if the two reducers would weight a gradient otherwise."""
        counts = [r.weights.of(r.graph_passes.calls_in(walk))[0] for r in (self.reducer, other)]
        if counts[0] != counts[1] and self.reducer.comm.size > 1:
            text = MSG_WEIGHTS.format(name=name, one=counts[1], other=counts[0])
            self.reducer.weights.problem = self.reducer.weights.problem or text
