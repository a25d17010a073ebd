"""LBFGS: quasi-Newton steps with a line search."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..core.graph import shared_counter
from ..core.modes import enable_grad
from ..core.tensor import Tensor, result
from .arguments import check_lr, number
from .flat import Array
from .line_search import LineSearch, Point
from .optimizer import Optimizer, ParamsT

LEAST_CURVATURE = 1e-10              # a pair (s, y) is remembered only if s'y is above


class LBFGS(Optimizer):
    """Limited-memory BFGS, Nocedal & Wright, algorithm 7.4: step(closure) runs up to max_iter iterations.

    Each iteration moves by t along d = -H g, with H from the last history_size updates; t is lr, or comes from the line
    search "strong_wolfe". All parameters form one vector; the state belongs to the first."""

    def __init__(self, params: ParamsT, lr: float | Tensor = 1, max_iter: int = 20, max_eval: int | None = None,
                 tolerance_grad: float = 1e-7, tolerance_change: float = 1e-9, history_size: int = 100,
                 line_search_fn: str | None = None) -> None:
        check_lr(lr)
        super().__init__(params, {
            "lr": lr, "max_iter": max_iter, "max_eval": max_iter * 5 // 4 if max_eval is None else max_eval,
            "tolerance_grad": tolerance_grad, "tolerance_change": tolerance_change, "history_size": history_size,
            "line_search_fn": line_search_fn})
        if len(self.param_groups) != 1:
            raise ValueError("LBFGS doesn't support per-parameter options (parameter groups)")

    def step(self, closure: Callable[[], Any] | None = None) -> Tensor:
        """Minimize the loss that closure computes; returns its initial value."""
        if closure is None:
            raise TypeError("LBFGS.step() needs a closure that recomputes the loss")
        if len(self.param_groups) != 1:
            raise AssertionError(f"Expected exactly one param_group, but got {len(self.param_groups)}")
        group = self.param_groups[0]
        if group["line_search_fn"] not in (None, "strong_wolfe"):
            raise RuntimeError("only 'strong_wolfe' is supported")
        state = self.state[group["params"][0]]
        state.setdefault("func_evals", 0)
        state.setdefault("n_iter", 0)
        first, loss, g = self._value(closure)
        state["func_evals"] += 1
        if np.abs(g).max() > group["tolerance_grad"]:
            self._iterate(closure, group, state, loss, g)
        return first

    def _iterate(self, closure: Callable[[], Any], group: dict[str, Any], state: dict[str, Any], loss: float,
                 g: Array) -> None:
        """Iterations from where the loss is `loss` and its gradient g, until a limit is met."""
        lr, flat = number(group["lr"]), group["tolerance_change"]
        evaluations, iterations = 1, 0
        while iterations < group["max_iter"]:
            iterations += 1
            state["n_iter"] += 1
            d = self._direction(state, g, group["history_size"])
            state["d"], state["prev_flat_grad"], state["prev_loss"] = result(d), result(g.copy()), loss
            slope, before = float(g @ d), loss
            t = min(1.0, float(1.0 / np.linalg.norm(g, 1))) * lr if state["n_iter"] == 1 else lr
            state["t"] = t
            if slope > -flat:
                break
            if group["line_search_fn"] is not None:
                t, loss, g, made = self._search(closure, t, d, Point(0.0, loss, g, slope),
                                                group["max_eval"] - evaluations)
                state["t"] = t
            else:
                self._add(t, d)
                made = 0
                if iterations != group["max_iter"]:
                    _, loss, g = self._value(closure)
                    made = 1
            evaluations += made
            state["func_evals"] += made
            if (evaluations >= group["max_eval"] or np.abs(g).max() <= group["tolerance_grad"]
                    or np.abs(d * t).max() <= flat or abs(loss - before) < flat):
                break

    @staticmethod
    def _direction(state: dict[str, Any], g: Array, history: int) -> Array:
        """-H g by the two loops over the remembered pairs, after remembering the last step."""
        if state["n_iter"] == 1:
            state.update(old_dirs=[], old_stps=[], ro=[], H_diag=1)
            return -g
        y = g - state["prev_flat_grad"].array
        s = state["d"].array * number(state["t"])
        curvature = float(y @ s)
        changes, steps, inverse = state["old_dirs"], state["old_stps"], state["ro"]
        if curvature > LEAST_CURVATURE:
            if len(changes) == history:
                for remembered in (changes, steps, inverse):
                    remembered.pop(0)
            changes.append(result(y))
            steps.append(result(s))
            inverse.append(_scalar(1.0 / curvature, g))
            state["H_diag"] = _scalar(curvature / float(y @ y), g)
        state.setdefault("al", [None] * history)
        q = -g
        for i in reversed(range(len(changes))):
            state["al"][i] = _scalar(float(steps[i].array @ q) * number(inverse[i]), g)
            q -= state["al"][i].array * changes[i].array
        q *= number(state["H_diag"])
        for i in range(len(changes)):
            beta = float(changes[i].array @ q) * number(inverse[i])
            q += (number(state["al"][i]) - beta) * steps[i].array
        return q

    def _search(self, closure: Callable[[], Any], t: float, d: Array, start: Point, most: int
                ) -> tuple[float, float, Array, int]:
        """Move along d to a point of the strong Wolfe conditions: step, loss and gradient there, and evaluations made."""
        params = self.param_groups[0]["params"]
        origin = [p.array.copy() for p in params]

        def restore() -> None:
            for p, array in zip(params, origin, strict=True):
                p.array[...] = array

        def at(t: float) -> tuple[float, Array]:
            self._add(t, d)
            _, loss, g = self._value(closure)
            restore()
            return loss, g

        search = LineSearch(at, d, start, most)
        found = search.run(t)
        self._add(found.t, d)
        return found.t, found.f, found.g, search.evaluations

    def _value(self, closure: Callable[[], Any]) -> tuple[Any, float, Array]:
        """What closure returns, as a number, and the gradients as one vector."""
        with enable_grad():
            loss = closure()
        parts = [np.zeros(p.array.size, p.array.dtype) if p._grad is None else p._grad.array.reshape(-1)
                 for p in self._params]
        return loss, float(loss), np.concatenate([_real(part) for part in parts])

    @property
    def _params(self) -> list[Tensor]:
        params: list[Tensor] = self.param_groups[0]["params"]
        return params

    def _add(self, t: float, d: Array) -> None:
        """Move all parameters by t along d."""
        start = 0
        for p in self._params:
            size = p.array.size * (2 if p.array.dtype.kind == "c" else 1)
            part = d[start:start + size]
            start += size
            part = part.view(p.array.dtype) if p.array.dtype.kind == "c" else part
            p.array += (t * part).reshape(p.array.shape).astype(p.array.dtype, copy=False)
            shared_counter(p).value += 1


def _scalar(value: float, like: Array) -> Tensor:
    """A number as a 0-d tensor of the state."""
    return result(np.array(value, like.dtype))


def _real(vector: Array) -> Array:
    """Complex numbers as pairs of real ones."""
    return vector.view(vector.real.dtype) if vector.dtype.kind == "c" else vector
