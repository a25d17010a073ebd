"""The check of a recording: a replay must leave the same results, tensors, gradients and Python numbers as the step."""

from __future__ import annotations

from collections.abc import Callable

from ...core.tensor import result
from ..errors import TraceError
from ..recording.calls import Array
from ..recording.nests import Nest
from .compare import bitwise_equal, equal_settings
from .state import Snapshot

CHECKED = 4                          # steps: gradients are often added up over 2 or 4
MSG_DIFFERS = ("trace: {name} differs between the step and its replay: the step does something that was not recorded, on "
               "plain arrays or in Python")
MSG_COUNTED = ("trace: the step changes {counted} in Python, and its replays do not: what depends on such a number stays as "
               "it was when the step was recorded")
MSG_RETURNED = ("trace: the step returns a {kind} of Python that changes ({one!r:.60}, then {two!r:.60}): a replay would "
                "return the same for ever. Return tensors, and read it outside")


def copied(returned: object) -> Nest:
    """The result of a step with its tensors copied, since later steps may write to them."""
    nest = Nest(returned)
    nest.tensors = [result(t.array.copy()) for t in nest.tensors]
    return nest


def compare_results(expected: list[Nest], got: list[Nest]) -> None:
    """Compare the results of steps with those of replays: TraceError if a bit differs."""
    for number, (one, two) in enumerate(zip(expected, got, strict=True), 1):
        for n, (e, g) in enumerate(zip(one.tensors, two.tensors, strict=True)):
            if not bitwise_equal(e.array, g.array):
                raise TraceError(MSG_DIFFERS.format(name=f"result {n} of step {number} of {len(got)}"))
        for e, g in zip(one.constants, two.constants, strict=True):
            if not equal_settings(e, g):
                raise TraceError(MSG_RETURNED.format(kind=type(e).__name__, one=g, two=e))


def compare_tensors(before: Snapshot, after: Snapshot, alike: Callable[[Array, Array], bool] = bitwise_equal, *,
                    leaves: bool = True) -> None:
    """Compare the tensors of `before`, in their present state after replays, with their copies after steps: TraceError if
    they are not alike. leaves: whether those that require grad are compared too, not only their gradients."""
    watched = {t for t, _, _, _ in before.tensors}
    for t, values, _, gradient in after.tensors:
        if t not in watched:
            continue
        if (leaves or not t.tracked) and not alike(values, t.array):
            raise TraceError(MSG_DIFFERS.format(name=f"a tensor of shape {list(t.shape)}"))
        g = None if t._grad is None else t._grad.array
        if not (g is gradient is None or (g is not None and gradient is not None and alike(gradient, g))):
            raise TraceError(MSG_DIFFERS.format(name=f"the gradient of a tensor of shape {list(t.shape)}"))


def changed_numbers(steps: Snapshot, replays: Snapshot) -> str:
    """The Python numbers that differ after steps and after replays, in words; "" if there are none."""
    left = replays.numbers()
    changed = [f"{name} ({left[key][1]}, then {value})" for key, (name, value) in steps.numbers().items()
               if key in left and not equal_settings(left[key][1], value)]
    return ", ".join(changed[:3]) + (f" and {len(changed) - 3} more" if len(changed) > 3 else "")


__all__ = ["CHECKED", "MSG_COUNTED", "changed_numbers", "compare_results", "compare_tensors", "copied"]
