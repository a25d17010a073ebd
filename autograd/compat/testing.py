"""assert_close(): values compared as torch.testing compares them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from ..base import docstrings as _docstrings
from ..base.dtypes import category, promote
from ..base.size import Size
from ..core.tensor import Tensor

# dtype: relative and absolute tolerance; all others are compared exactly
TOLERANCES = {"float16": (1e-3, 1e-5), "bfloat16": (1.6e-2, 1e-5), "float32": (1.3e-6, 1e-5), "float64": (1e-7, 1e-7),
              "complex64": (1.3e-6, 1e-5), "complex128": (1e-7, 1e-7)}


def assert_close(actual: Any, expected: Any, *, allow_subclasses: bool = True, rtol: float | None = None,
                 atol: float | None = None, equal_nan: bool = False, check_device: bool = True, check_dtype: bool = True,
                 check_layout: bool = True, check_stride: bool = False,
                 msg: str | Callable[[str], str] | None = None) -> None:
    """AssertionError unless |actual - expected| <= atol + rtol * |expected| for all elements."""
    if (rtol is None) != (atol is None):
        raise ValueError(f"rtol and atol must both be specified or both be unspecified, but got rtol={rtol} and atol={atol}")
    for path, a, e in pairs(actual, expected, "", allow_subclasses):
        text = difference(a, e, rtol, atol, equal_nan, check_dtype, check_stride)
        if text:
            text += f"\n\nThe failure occurred for item {path}" if path else ""
            raise AssertionError(msg(text) if callable(msg) else msg or text)


def pairs(actual: Any, expected: Any, path: str, subclasses: bool) -> Iterator[tuple[str, Any, Any]]:
    """The values to compare, with where they are."""
    if not subclasses and type(actual) is not type(expected):
        raise TypeError(f"Expected type equality if allow_subclasses=False, but got {type(actual)} and {type(expected)}.")
    if isinstance(actual, Mapping) and isinstance(expected, Mapping):
        if actual.keys() != expected.keys():
            missing, additional = (sorted(x.keys() - y.keys(), key=str) for x, y in ((expected, actual), (actual, expected)))
            raise AssertionError("The keys of the mappings do not match:\n"
                                 f"Missing keys in the actual mapping: {missing}\n"
                                 f"Additional keys in the actual mapping: {additional}")
        for key in actual:
            yield from pairs(actual[key], expected[key], f"{path}[{key!r}]", subclasses)
    elif all(isinstance(value, Sequence) and not isinstance(value, str) for value in (actual, expected)):
        if len(actual) != len(expected):
            raise AssertionError(f"The length of the sequences mismatch: {len(actual)} != {len(expected)}")
        for number, (a, e) in enumerate(zip(actual, expected, strict=True)):
            yield from pairs(a, e, f"{path}[{number}]", subclasses)
    else:
        yield path, actual, expected


def difference(actual: Any, expected: Any, rtol: float | None, atol: float | None, equal_nan: bool, check_dtype: bool,
               check_stride: bool) -> str:
    """What differs between two values; "" if they are close."""
    if actual is None or expected is None:
        return "" if actual is expected else f"None mismatch: {actual} is not {expected}"
    numbers = [isinstance(value, (bool, int, float, complex)) for value in (actual, expected)]
    try:
        a, e = (value.detach().array if isinstance(value, Tensor) else np.asarray(value) for value in (actual, expected))
        kinds = category(a.dtype), category(e.dtype)
    except (TypeError, ValueError):
        raise TypeError("No comparison pair was able to handle inputs of type "
                        f"{type(actual)} and {type(expected)}.") from None
    if all(numbers) and check_dtype and type(actual) is not type(expected):
        return f"The (d)types do not match: {type(actual)} != {type(expected)}."
    if not all(numbers):
        if any(numbers) and not isinstance(actual if numbers[1] else expected, np.generic):
            raise TypeError(f"No comparison pair was able to handle inputs of type {type(actual)} and {type(expected)}.")
        if a.shape != e.shape:
            return f"The values for attribute 'shape' do not match: {Size(a.shape)} != {Size(e.shape)}."
        if check_dtype and a.dtype != e.dtype:
            return f"The values for attribute 'dtype' do not match: {a.dtype} != {e.dtype}."
        if check_stride and a.strides != e.strides:
            steps = [tuple(step // x.itemsize for step in x.strides) for x in (a, e)]
            return f"The values for attribute 'stride()' do not match: {steps[0]} != {steps[1]}."
    relative, absolute = (max(TOLERANCES.get(x.dtype.name, (0.0, 0.0))[which] for x in (a, e)) for which in (0, 1))
    relative, absolute = relative if rtol is None else rtol, absolute if atol is None else atol
    common = promote(a.dtype, e.dtype)
    a, e = (x.astype(np.float64 if common.kind == "V" or common.name == "float16" else common) for x in (a, e))
    with np.errstate(all="ignore"):
        close = np.isclose(a, e, relative, absolute, equal_nan) if max(kinds) > 1 or relative or absolute else a == e
        if close.all():
            return ""
        if common.kind == "b":
            a, e = a.astype(np.uint8), e.astype(np.uint8)
        gap = np.where(a > e, a - e, e - a) if common.kind in "iub" else np.abs(a - e)
        ratio = gap / np.abs(e)
        if common.kind in "iub" and not all(numbers):        # PyTorch divides integers in float32
            ratio = ratio.astype(np.float32)
    if all(numbers):
        head = f"Scalars are not {'close' if relative or absolute else 'equal'}!\n\nExpected {expected} but got {actual}."
        return (f"{head}\nAbsolute difference: {gap.item()}" + limit(absolute) +
                f"\nRelative difference: {ratio.item()}" + limit(relative))
    wrong = ~close
    share = f"{wrong.sum()} / {wrong.size} ({100 * wrong.sum() / wrong.size:.1f}%)"
    lines = []
    for name, values, allowed in (("absolute", gap, absolute), ("relative", ratio, relative)):
        masked = np.where(wrong, values, -np.inf)
        flat = int(np.argmax(masked))
        at = tuple(int(i) for i in np.unravel_index(flat, a.shape))
        place = f" at index {at}" if a.ndim else ""
        lines.append(f"Greatest {name} difference: {values.flat[flat].item()}{place}{limit(allowed)}")
    return (f"Tensor-likes are not {'close' if relative or absolute else 'equal'}!\n\nMismatched elements: {share}\n"
            + "\n".join(lines))


def limit(allowed: float) -> str:
    """The tolerance, for a message."""
    return f" (up to {allowed} allowed)" if allowed else ""


_docstrings.complete(globals(), "compat", "testing.")
