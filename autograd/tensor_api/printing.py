"""Tensors as text, laid out as PyTorch's: aligned columns, four digits, only the edges of large tensors."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..base import dtypes
from ..base.notebook import escaped
from ..base.placeholder_array import AbsentArray
from ..base.types import Array
from ..core.forward_mode import tangent_of
from ..core.tensor import Tensor

PROFILES: dict[str, tuple[int, float, int, int]] = {
    "default": (4, 1000, 3, 80), "short": (2, 1000, 2, 80), "full": (4, math.inf, 3, 80)}


class Options:
    """How this process prints tensors, see set_printoptions()."""

    def __init__(self) -> None:
        self.precision, self.threshold, self.edgeitems, self.linewidth = PROFILES["default"]
        self.sci_mode: bool | None = None


options: Options = Options()


def set_printoptions(precision: int | None = None, threshold: float | None = None, edgeitems: int | None = None,
                     linewidth: int | None = None, profile: str | None = None, sci_mode: bool | None = None) -> None:
    """How tensors are printed: digits after the point, from how many elements on only `edgeitems` at each edge are shown,
    characters a line, scientific notation (None: where numbers need it). profile: "default", "short" or "full"."""
    if profile is not None:
        if profile not in PROFILES:
            raise ValueError(f"profile must be one of {', '.join(PROFILES)}, not {profile!r}")
        options.precision, options.threshold, options.edgeitems, options.linewidth = PROFILES[profile]
    for name, value in {"precision": precision, "threshold": threshold, "edgeitems": edgeitems,
                        "linewidth": linewidth}.items():
        if value is not None:
            setattr(options, name, value)
    options.sci_mode = sci_mode


def get_printoptions() -> dict[str, Any]:
    """The options of set_printoptions() that are in force."""
    return dict(vars(options))


class Format:
    """One format for all elements, so that they align: whole numbers ("2."), fixed point or scientific."""

    def __init__(self, values: Array) -> None:
        self.floating: bool = values.dtype.kind == "f"
        self.whole: bool = True
        self.scientific: bool = False
        self.width: int = 1
        if not self.floating:
            self.width = max([len(str(v)) for v in values.ravel().tolist()], default=1)
            return
        values = values.astype(np.float64)
        telling = values[np.isfinite(values) & (values != 0)]
        if telling.size:
            sizes = np.abs(telling)
            low, high = sizes.min(), sizes.max()
            self.whole = bool(np.all(telling == np.ceil(telling)))
            self.scientific = bool(high / low > 1000 or high > 1e8 or (low < 1e-4 and not self.whole))
            if options.sci_mode is not None:
                self.scientific = options.sci_mode
            pattern = f".{options.precision}e" if self.scientific else ".0f" if self.whole else f".{options.precision}f"
            dot = self.whole and not self.scientific
            self.width = max(1, *(len(format(v, pattern)) + dot for v in telling.tolist()))

    def __call__(self, value: float) -> str:
        if not self.floating:
            text = str(value)
        elif self.scientific:
            text = format(value, f"{self.width}.{options.precision}e")
        elif self.whole:
            text = format(value, ".0f") + ("." if math.isfinite(value) else "")
        else:
            text = format(value, f".{options.precision}f")
        return text.rjust(self.width)


class ComplexFormat:
    """Real and imaginary parts, each in its own format."""

    def __init__(self, values: Any) -> None:
        self.real: Format = Format(values.real)
        self.imaginary: Format = Format(values.imag)
        self.width: int = self.real.width + self.imaginary.width + 1

    def __call__(self, value: complex) -> str:
        imaginary = (self.imaginary(value.imag) + "j").lstrip()
        return self.real(value.real) + ("" if imaginary[0] in "+-" else "+") + imaginary


def edges(array: Array) -> Array:
    """The elements that are shown of a large array: the first and last few of each dimension."""
    n = options.edgeitems
    for axis, size in enumerate(array.shape):
        if size > 2 * n:
            before = (slice(None),) * axis           # slices: np.take() would copy all of an expanded array
            first, last = (*before, slice(n)), (*before, slice(size - n, size))
            array = np.concatenate([array[first], array[last]], axis)
    return array


def single(array: Array) -> Array:
    """An array as float32 if its numbers have 16 bits."""
    return array.astype(np.float32) if array.dtype == np.float16 or array.dtype.kind == "V" else array


def row(array: Array, indent: int, short: bool, form: Format | ComplexFormat) -> str:
    """A vector, broken into lines of the line width."""
    n = options.edgeitems
    if short and not n:
        texts = ["..."]
    elif short and array.size > 2 * n:
        texts = [*map(form, single(array[:n]).tolist()), " ...", *map(form, single(array[array.size - n:]).tolist())]
    else:
        texts = [form(v) for v in single(array).tolist()]
    each = max(1, (options.linewidth - indent) // (form.width + 2))
    lines = [", ".join(texts[i:i + each]) for i in range(0, len(texts), each)]
    return "[" + (",\n" + " " * (indent + 1)).join(lines) + "]"


def block(array: Array, indent: int, short: bool, form: Any) -> str:
    """An array as nested brackets, an empty line more between blocks for each dimension."""
    if array.ndim == 0:
        return form(single(array).item())
    if array.ndim == 1:
        return row(array, indent, short, form)
    n, size = options.edgeitems, array.shape[0]
    shown: list[Any] = list(range(size)) if not short or size <= 2 * n else [*range(n), None, *range(size - n, size)]
    parts = ["..." if i is None else block(array[i], indent + 1, short, form) for i in shown]
    return "[" + ("," + "\n" * (array.ndim - 1) + " " * (indent + 1)).join(parts) + "]"


def elements(array: Array, indent: int) -> str:
    """The elements of an array that has some."""
    array = np.asarray(array)                        # of a part of a gradient too, which refuses reductions
    short = array.size > options.threshold
    shown = single(edges(array) if short else array)
    return block(array, indent, short, (ComplexFormat if array.dtype.kind == "c" else Format)(shown))


def text_of(tensor: Tensor) -> str:
    """tensor(...) with what is not obvious: size of an empty one, dtype, grad_fn or requires_grad, tangent."""
    prefix = "tensor("
    array, notes = tensor.array, []
    usual = (dtypes.default.dtype, dtypes.to_complex(dtypes.default.dtype), dtypes.int64, dtypes.bool_)
    if array.size == 0:
        text = "[]"
        if array.ndim != 1:
            notes.append(f"size={tuple(array.shape)}")
        if array.dtype != dtypes.default.dtype:
            notes.append(f"dtype={array.dtype}")
    else:
        absent = isinstance(array, AbsentArray)
        text = repr(array) if absent else elements(array, len(prefix))
        if absent or not options.edgeitems:
            notes.append(f"size={tuple(array.shape)}")
        if array.dtype not in usual:
            notes.append(f"dtype={array.dtype}")
    if tensor.edge is not None:
        notes.append(f"grad_fn=<{tensor.edge[0].name()}>")
    elif tensor.requires_grad:
        notes.append("requires_grad=True")
    tangent = tangent_of(tensor)
    if tangent is not None:
        notes.append(f"tangent={text_of(tangent)}")
    text = prefix + text
    length = len(text) - text.rfind("\n") + 1        # of the last line, with what separates a note from it
    for note in notes:
        if length + len(note) + 2 > options.linewidth:
            text += ",\n" + " " * len(prefix) + note
            length = len(prefix) + len(note)
        else:
            text += ", " + note
            length += len(note) + 2
    return text + ")"


def format_of(tensor: Tensor, spec: str) -> str:
    """format(tensor, ".3f") and the like, of a tensor of no dimensions; others take no format."""
    if tensor.array.ndim == 0 and type(tensor) is Tensor:
        return format(tensor.array.item(), spec)
    return object.__format__(tensor, spec)


def html_of(tensor: Tensor) -> str:
    """What a notebook shows: type, shape and dtype, and below the text that print() shows, which leaves out many values."""
    array, about = tensor.array, type(tensor).__name__
    if not isinstance(array, AbsentArray):
        about += f" {list(array.shape)} {array.dtype}{', requires_grad' if tensor.requires_grad else ''}"
    return f"<div><code>{escaped(about)}</code><pre>{escaped(repr(tensor))}</pre></div>"


METHODS: dict[str, Any] = {"__repr__": text_of, "__format__": format_of, "_repr_html_": html_of}
