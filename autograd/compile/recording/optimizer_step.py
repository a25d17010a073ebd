"""The step of an optimizer in native code: update() is recorded on Watched arrays, with its rates as arguments.

Before each run of a program its StepPlan writes the rates of this step to memory that the program reads.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...base.types import Array
from ...optim.optimizer import Optimizer
from ...optim.step_plan import Part, StepPlan, refusal
from .attempt import Attempt
from .calls import Call
from .inline import Watched, instrumented, opaque_call
from .values import Values


class OptimizerStep:
    """The recorded calls of one step, parameter by parameter."""

    def __init__(self, plan: StepPlan, calls: list[Call]) -> None:
        self.plan = plan
        self.calls = calls


def recorded_step(tracer: Values, optimizer: Optimizer, closure: Any = None) -> OptimizerStep | str:
    """The step that the optimizer is about to make, or why it has to be called."""
    reason = refusal(optimizer, closure)
    if reason:
        return reason
    plan = StepPlan(optimizer)  # type: ignore[arg-type]
    written = [array for part in plan.parts for array in (part.values, *part.arrays)]
    before = [array.copy() for array in written]
    attempt = Attempt(tracer, writes=True)
    try:
        for part in plan.parts:
            reason = reason or record(tracer, attempt, optimizer, part)
    finally:
        for array, contents in zip(written, before, strict=True):
            array[...] = contents
    if reason:
        return reason
    for value in attempt.values:
        tracer.register(value)
    return OptimizerStep(plan, attempt.calls)


def record(tracer: Values, attempt: Attempt, optimizer: Any, part: Part) -> str:
    """Record update() for each parameter of a part. Returns why that is impossible, or ""."""
    tracer.operand(part.rates)
    arguments = {name: watched(tracer, x) if isinstance(x, np.ndarray) else x for name, x in part.arguments.items()}
    start = 0
    for p in part.params:
        here = slice(start, start + p.array.size)
        start = here.stop
        g = p._grad.array  # type: ignore[union-attr]
        if not g.flags.c_contiguous or g.dtype != part.values.dtype:
            return "a gradient is not contiguous"
        vectors = [watched(tracer, array[here]) for array in (part.values, *part.arrays)]
        gradient = watched(tracer, g.reshape(-1))

        def update(gradient: Any = gradient, vectors: Any = vectors) -> bool:
            g = opaque_call(np.array, (gradient,)) if optimizer.overwrites else gradient
            instrumented(type(optimizer).update)(vectors[0], g, *vectors[1:], **arguments)
            return True

        if not attempt.run(update):
            return "its update does more than NumPy's arithmetic"
    return ""


def watched(tracer: Values, array: Array) -> Array:
    """The array as a rule sees it."""
    return tracer.operand(array).array.view(Watched)
