"""A line search for the strong Wolfe conditions: Nocedal & Wright, Numerical Optimization, algorithms 3.5 and 3.6.

Trial steps come from cubic interpolation. PyTorch's choices (constants, safeguards, when to stop) are followed, because a
minimiser that takes other steps gives other results."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ..base.types import Array

ARMIJO, CURVATURE = 1e-4, 0.9        # c1 and c2 of the conditions
SMALLEST = 1e-9                      # a bracket in which no element moves by more is not narrowed further


class Point(NamedTuple):
    """A trial: step t along the direction, the function there, its gradient, and its slope along the direction."""

    t: float
    f: float
    g: Array
    slope: float


def cubic_minimum(a: Point, b: Point, low: float, high: float) -> float:
    """The minimum of the cubic through two points with their slopes, within [low, high]; the middle if there is none."""
    a, b = (a, b) if a.t <= b.t else (b, a)
    d1 = a.slope + b.slope - 3 * (a.f - b.f) / (a.t - b.t)
    square = d1 * d1 - a.slope * b.slope
    if not square >= 0:
        return (low + high) / 2
    d2 = float(np.sqrt(square))
    bottom = b.slope - a.slope + 2 * d2
    t = float(np.float64(b.t) - (b.t - a.t) * (np.float64(b.slope + d2 - d1) / bottom))
    return min(max(t, low), high)


class LineSearch:
    """Search along d from a start with value f and slope `slope`; evaluate(t) gives the value and the gradient at t."""

    evaluations: int
    trials: int

    def __init__(self, evaluate: Callable[[float], tuple[float, Array]], d: Array, start: Point,
                 most: int = 25) -> None:
        self.evaluate: Callable[[float], tuple[float, Array]] = evaluate
        self.d: Array = d
        self.start: Point = start
        self.most: int = most
        self.evaluations = self.trials = 0

    def point(self, t: float) -> Point:
        """Evaluate at t."""
        f, g = self.evaluate(t)
        self.evaluations += 1
        return Point(t, f, g, float(g @ self.d))

    def armijo(self, p: Point) -> bool:
        """Whether the function has decreased enough (Armijo's condition)."""
        return not p.f > self.start.f + ARMIJO * p.t * self.start.slope

    def curved(self, p: Point) -> bool:
        """Whether the slope is flat enough."""
        return abs(p.slope) <= -CURVATURE * self.start.slope

    def run(self, t: float) -> Point:
        """The point found; `evaluations` counts what it took."""
        bracket = self.bracket(t)
        return bracket[0] if len(bracket) == 1 else self.zoom(bracket)

    def bracket(self, t: float) -> list[Point]:
        """One point that fulfils the conditions, or two with such a point between them."""
        before, now = self.start, self.point(t)
        while self.trials < self.most:
            if not self.armijo(now) or (self.trials > 1 and now.f >= before.f):
                return [before, now]
            if self.curved(now):
                return [now]
            if now.slope >= 0:
                return [before, now]
            t = cubic_minimum(before, now, now.t + 0.01 * (now.t - before.t), now.t * 10)
            before, now = now, self.point(t)
            self.trials += 1
        return [self.start, now]

    def zoom(self, bracket: list[Point]) -> Point:
        """Narrow the bracket down; the lowest point of it."""
        low, high = sorted(bracket, key=lambda p: p.f)
        stuck, largest = False, float(np.abs(self.d).max())
        while self.trials < self.most and abs(high.t - low.t) * largest >= SMALLEST:
            left, right = min(low.t, high.t), max(low.t, high.t)
            t = cubic_minimum(low, high, left, right)
            t, stuck = self.off_the_ends(t, left, right, stuck)
            now = self.point(t)
            self.trials += 1
            if not self.armijo(now) or now.f >= low.f:
                high = now
                low, high = (low, high) if low.f <= high.f else (high, low)
                continue
            done = self.curved(now)
            if not done and now.slope * (high.t - low.t) >= 0:
                high = low
            low = now
            if done:
                break
        return low

    @staticmethod
    def off_the_ends(t: float, left: float, right: float, stuck: bool) -> tuple[float, bool]:
        """t moved off the ends of the bracket, if it is at one or came near one twice; and whether it came near one now."""
        margin = 0.1 * (right - left)
        if not min(right - t, t - left) < margin:
            return t, False
        if not (stuck or t >= right or t <= left):
            return t, True
        return (right - margin if abs(t - right) < abs(t - left) else left + margin), False
