"""What a place asks of a collective, and whether what all places ask fits together.

Every checked collective first lets all places see each other's Call (over MPI: one allgather of 128 bytes). All of them
reach the same verdict, so a mistake on one rank is the same CollectiveError on every rank, never a hang. For this to
work nothing may be raised before: what a place finds wrong with its own input goes into its Call.
"""

from __future__ import annotations

import hashlib
import operator
import struct
from collections.abc import Sequence
from typing import Any

import numpy as np

from autograd.base.dtypes import bfloat16_or_name

DTYPES = [np.dtype(name) for name in (
    "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
    "float16", "float32", "float64", "complex64", "complex128")]
DTYPES += [d for d in [bfloat16_or_name()] if isinstance(d, np.dtype)]      # last, and only where ml_dtypes is installed
CODES = {dtype: code for code, dtype in enumerate(DTYPES)}
BITWISE = ["band", "bor", "bxor"]     # of integers; of bools the logical ones
OPS = ["sum", "prod", "max", "min", "mean", *BITWISE]
TIES = ["split", "first"]             # who has the gradient of a max or min, see functions/reductions.py
NAMES = ["broadcast", "reduce", "scatter", "gather", "allreduce", "allgather", "reduce_scatter", "alltoall", "barrier",
         "any", "total", "rows", "alltoall_sizes", "broadcast_object", "allgather_object", "sum_in_place", "agree",
         "gather_object", "scatter_object"]
SCANS = ["scan", "exscan", "reverse_scan", "reverse_exscan"]
NAMES += ["send", "permute", *SCANS, "duplicate", "backward_in_evaluation_mode"]
NUMBERS = {name: number for number, name in enumerate(NAMES)}
ROOTED = {"broadcast", "reduce", "scatter", "gather", "broadcast_object", "gather_object", "scatter_object"}
FROM_ROOT = {"broadcast", "scatter", "broadcast_object", "scatter_object"}
REDUCTIONS = {"reduce", "allreduce", "reduce_scatter", "sum_in_place", *SCANS}
JOINING = {"gather", "allgather", "alltoall", "alltoall_sizes", "gather_object"}
CUTTING = {"scatter", "reduce_scatter", "alltoall", "scatter_object"}
ONE_RESULT = {"reduce", "gather", "gather_object"}     # root's; others give a list, an array for each place held
WITH_DIM = CUTTING | JOINING
MAX_DIMS = 8
# Name, root, op, dtype, ndim, checksum of given sizes, error and `answers`; a number, or dim and ties; the shape.
HEADER = struct.Struct(f"=7qd{MAX_DIMS}q")
ANSWERS_AT, VALUE_AT = 6 * 8, 7 * 8  # where they and the number are, in bytes
VALUED = {"any", "total", "agree", "send"}      # the calls that bring one

HINTS = {"backward_in_evaluation_mode": "; is a model in eval() on some places, in train() on others?",
         "agree": "; agree() asks whether to record: are some places in no_grad()?"}


class CollectiveError(ValueError):
    """The places of a communicator do not ask for one and the same possible collective."""


class Call:
    """One place's part in a collective: which one, its settings, and the dtype and shape of its array.

    x is None where the place brings no array. `sizes` is how the rows are cut, `given` a checksum of it if the caller
    passed it (else 0), `value` a number that travels with the call, `error` what is wrong with the call taken alone.
    The rows of x are in front; `dim` is where the caller has them. `before`, for texts: the Function that follows.
    `answers`: in backward, the number of the recorded collective whose gradient this is; else 0.
    """

    __slots__ = ("answers", "before", "dim", "dtype", "error", "given", "name", "op", "root", "shape", "sizes", "ties",
                 "value")

    def __init__(self, name: str, size: int, x: Any = None, *, root: Any = 0, op: Any = "sum", sizes: Any = None,
                 value: Any = 0.0, error: str = "", dim: Any = 0, ties: Any = "split", before: str = "") -> None:
        self.name, self.root, self.op, self.given, self.value = name, root, op, 0, 0.0
        self.before, self.answers = before, 0
        self.dim, self.ties = dim, ties
        if op.__class__ is str and op == "avg":      # PyTorch's word
            self.op = "mean"
        self.dtype: Any = None if x is None else x.dtype
        self.shape: tuple[int, ...] = () if x is None else x.shape
        self.sizes: tuple[int, ...] | None = None
        self.error = (error or self._wrong_settings(size, value) or (self._wrong_array() if x is not None else "")
                      or (self._wrong_sizes(size, sizes) if name in CUTTING else ""))

    def _wrong_settings(self, size: int, value: Any) -> str:
        try:
            self.root = operator.index(self.root)
        except Exception:                            # converting runs the object's own code: all ranks must hear of it
            return f"root {self.root!r} is not the number of a place"
        if not 0 <= self.root < size:
            return f"root {self.root} is not one of the places 0 to {size - 1}"
        try:
            self.value = float(bool(value) if self.name == "any" else value)
        except Exception:                            # likewise
            return (f"flag {value!r} is neither true nor false" if self.name == "any" else
                    f"value {value!r} is not a number")
        if not isinstance(self.op, str) or self.op not in OPS:
            return f"op {self.op!r} is not one of {', '.join(OPS)}" + ("" if isinstance(self.op, str) else
                                                                        "; operations go by their names here")
        if not isinstance(self.ties, str) or self.ties not in TIES:
            return f"ties {self.ties!r} is not one of {', '.join(TIES)}"
        if self.dim.__class__ is int and self.dim == 0:
            return ""
        try:
            self.dim = operator.index(self.dim)
        except Exception:                            # likewise
            return f"dim {self.dim!r} is not the number of a dimension"
        return "" if -MAX_DIMS <= self.dim < MAX_DIMS else f"dim {self.dim} is out of range"

    def _wrong_array(self) -> str:
        if self.dtype not in CODES:
            return f"arrays of dtype {self.dtype} can't be sent; numbers and bool in native byte order can"
        if len(self.shape) > MAX_DIMS:
            return f"arrays have at most {MAX_DIMS} dimensions here, not {len(self.shape)}"
        if self.dtype.kind == "c" and self.op in ("max", "min") and self.name in REDUCTIONS:
            return f"complex numbers have no {self.op}"
        if self.name in SCANS and self.op not in ("sum", "prod", "max", "min"):
            return f"{self.name} has no op {self.op!r}"
        if self.op in BITWISE and self.dtype.kind not in "biu" and self.name in REDUCTIONS:
            return f"{self.dtype} has no {self.op}: integers and bools have"
        if self.dtype.kind in "biu" and self.op == "mean" and self.name in REDUCTIONS:
            return f"the mean of {self.dtype} is no {self.dtype}; convert to floats first"
        return ""

    def _wrong_sizes(self, size: int, sizes: Any) -> str:
        if sizes is not None:
            try:
                self.sizes = tuple(operator.index(n) for n in sizes)
            except Exception:                        # likewise
                return f"sizes are row counts, one for each of {size} places, not {sizes!r}"
            if len(self.sizes) != size:
                return f"{len(self.sizes)} sizes {list(self.sizes)} for {size} places"
            if min(self.sizes) < 0:
                return f"negative sizes in {list(self.sizes)}"
            self.given = checksum(self.sizes)
        if self.dtype is None:                       # scatter, not the root: only the root knows the rows
            return ""
        if not self.shape:
            return f"a 0-d array has no rows for {self.name}; reshape it to (1,)"
        rows = self.shape[0]
        if self.sizes is None:
            self.sizes = tuple(even_split(rows, size))
        elif sum(self.sizes) != rows:
            return (f"sizes {list(self.sizes)} add up to {sum(self.sizes)}, the array has {rows} rows; pass one size per "
                    f"place, or none for an even split {even_split(rows, size)}")
        return ""

    def pack_into(self, buffer: Any) -> None:
        """Write the call as a header; of a wrong call only the name, since its text follows."""
        if self.error:
            HEADER.pack_into(buffer, 0, NUMBERS[self.name], 0, 0, -1, 0, 0, 1, 0.0, *(0,) * MAX_DIMS)
            return
        shape = self.shape
        value = self.value if self.name in VALUED else 2 * self.dim + TIES.index(self.ties)
        HEADER.pack_into(buffer, 0, NUMBERS[self.name], self.root, OPS.index(self.op),
                         -1 if self.dtype is None else CODES[self.dtype], len(shape), self.given, 2 * self.answers, value,
                         *shape, *(0,) * (MAX_DIMS - len(shape)))

    @staticmethod
    def unpack(header: Any) -> Call:
        """The call that pack_into() wrote, without sizes and its error's text."""
        number, root, op, dtype, ndim, given, error, value, *shape = HEADER.unpack(header)
        call = Call.__new__(Call)
        call.name, call.root, call.op, call.given, call.value = NAMES[number], root, OPS[op], given, value
        call.dtype, call.shape = None if dtype < 0 else DTYPES[dtype], tuple(shape[:ndim])
        call.answers, error = divmod(error, 2)
        call.sizes, call.error, call.before = None, "bad input" if error else "", ""
        call.dim, call.ties = divmod(int(value), 2) if not error and call.name not in VALUED else (0, 0)
        call.ties = TIES[call.ties]
        return call

    def __str__(self) -> str:
        settings = [f"op={self.op!r}"] if self.name in REDUCTIONS else []
        settings += [f"root={self.root!r}"] if self.name in ROOTED else []
        settings += [f"sizes={list(self.sizes)}"] if self.given and self.sizes and self.name != "permute" else []
        settings += [f"pairs={list(zip(self.sizes[::2], self.sizes[1::2], strict=True))}"] \
            if self.name == "permute" and self.sizes is not None else []
        settings += [f"dest={self.root}"] if self.name == "send" else []
        settings += [f"dim={self.dim!r}"] if self.dim.__class__ is not int or self.dim else []
        settings += [f"ties={self.ties!r}"] if self.ties != "split" else []
        array = "" if self.dtype is None else f" of {self.dtype} {self.shape}"
        return (f"{self.name}({', '.join(settings)}){array}" + (f" before {self.before}" if self.before else "")
                + (f", the gradient of recorded collective {self.answers}" if self.answers else "")
                + (f": {self.error}" if self.error else ""))


def checksum(sizes: Sequence[int]) -> int:
    """A number that differs for different sizes, never 0."""
    digest = hashlib.blake2b(repr(list(sizes)).encode(), digest_size=7).digest()
    return int.from_bytes(digest, "little") + 1


def even_split(rows: int, size: int) -> list[int]:
    """rows over size places, as evenly as can be, the first ones one larger."""
    share, rest = divmod(rows, size)
    return [share + (place < rest) for place in range(size)]


def leader(calls: Sequence[Call]) -> Call:
    """The first call with rows, whose dtype and trailing shape count; shape (0,) stands for no part."""
    return next((call for call in calls if call.shape != (0,)), calls[0])


def verdict(calls: Sequence[Call]) -> str:
    """Why the calls of all places do not fit together; empty if they do."""
    first = calls[0]
    if any(call.name != first.name for call in calls):
        arrays = any(call.dtype is not None for call in calls)
        hint = next((text for name, text in HINTS.items() if any(call.name == name for call in calls)
                     and (arrays or name != "agree")), "")       # of calls without arrays none is a Function's
        return "the places call different collectives" + hint
    if any(call.error for call in calls):
        return "bad input on place " + ", ".join(str(place) for place, call in enumerate(calls) if call.error)
    if len({call.answers for call in calls if call.answers}) > 1:
        return ("their backward passes come by different collectives; every place's loss must use what came out of each "
                "(times zero, if need be), and passes come in the same order everywhere")
    if first.name in ROOTED and any(call.root != first.root for call in calls):
        return "the places name different roots"
    if first.name in REDUCTIONS:
        if any(call.op != first.op for call in calls):
            return "the places name different ops"
        if any(call.ties != first.ties for call in calls):
            return "the places break ties differently"
        if any(call.dtype != first.dtype for call in calls):
            return "the dtypes differ"
        if any(call.shape != first.shape for call in calls):
            return "the shapes differ"
    if first.name in WITH_DIM and any(call.dim for call in calls) and (reason := _dims_verdict(calls)):
        return reason
    if first.name in JOINING:
        lead = leader(calls)
        full = [call for call in calls if call.shape != (0,)]
        if any(call.dtype != lead.dtype for call in full):
            return "the dtypes differ"
        if any(call.shape[1:] != lead.shape[1:] or len(call.shape) != len(lead.shape) for call in full):
            return "the shapes differ beyond the first dimension"
    if first.name == "permute" and any(call.given != first.given for call in calls):
        return "the places name different pairs"
    return _sizes_verdict(calls)


def _dims_verdict(calls: Sequence[Call]) -> str:
    """All places mean the same dimension; -1 may stand for the last one."""
    first = calls[0]
    lead = calls[first.root] if first.name == "scatter" else leader(calls)
    n = max(len(lead.shape), 1)
    if lead.shape == (0,):                           # no place has a part: any dimension will do
        return ""
    if not all(-n <= call.dim < n for call in calls):
        return f"dim is out of range for arrays of {n} dimension{'s' * (n > 1)}"
    return "" if all(call.dim % n == lead.dim % n for call in calls) else "the places name different dims"


def _sizes_verdict(calls: Sequence[Call]) -> str:
    """scatter: who passes sizes must agree with the root; reduce_scatter: all agree."""
    first = calls[0]
    if first.name not in ("scatter", "reduce_scatter") or not any(call.given for call in calls):
        return ""
    lead = calls[first.root] if first.name == "scatter" else first
    even = checksum(even_split(lead.shape[0], len(calls)))
    silent = 0 if first.name == "scatter" else even
    wanted = lead.given or even
    return "" if all((call.given or silent) in (wanted, 0) for call in calls) else "the places pass different sizes"


def explain(reason: str, texts: Sequence[str], more: str = "") -> CollectiveError:
    """The error that every place raises: the reason, what each place called, and what more is known."""
    groups: dict[str, list[int]] = {}
    for place, text in enumerate(texts):
        groups.setdefault(text, []).append(place)
    lines = [f"\n  {_places(places)}: {text}" for text, places in groups.items()]
    return CollectiveError(f"collective of {len(texts)} places refused, {reason}:" + "".join(lines) + more)


def _places(places: list[int]) -> str:
    """[0, 1, 2, 5] as "places 0-2, 5"."""
    runs: list[list[int]] = []
    for place in places:
        if runs and runs[-1][1] == place - 1:
            runs[-1][1] = place
        else:
            runs.append([place, place])
    text = ", ".join(str(a) if a == b else f"{a}-{b}" for a, b in runs)
    return f"place {text}" if len(places) == 1 else f"places {text}"


def check(calls: Sequence[Call]) -> None:
    """Raise what every place raises, if the calls of all places do not fit."""
    reason = verdict(calls)
    if reason:
        raise explain(reason, [str(call) for call in calls])
