"""Call: one rank's arguments of a collective, and the rules by which the calls of all ranks must match.

Before a checked collective all ranks see each other's Call and apply the same RULES to the same calls. (Over MPI a Call is
a header of 128 bytes, in shared memory on one host, else sent by an allgather.) So a mistake on one rank raises the same
CollectiveError on every rank and never hangs. For this a rank must not raise earlier: its Call holds what is wrong with its
own input.
"""

from __future__ import annotations

import hashlib
import math
import operator
import struct
from collections.abc import Callable, Collection, Sequence
from typing import Any, TypeAlias

import numpy as np

from autograd.base.dtypes import bfloat16_or_name

DTYPES = [np.dtype(name) for name in (
    "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
    "float16", "float32", "float64", "complex64", "complex128")]
DTYPES += [d for d in [bfloat16_or_name()] if isinstance(d, np.dtype)]      # last, and only where ml_dtypes is installed
CODES = {dtype: code for code, dtype in enumerate(DTYPES)}
BITWISE = ["band", "bor", "bxor"]     # of integers; of bools the logical ones
OPS = ["sum", "prod", "max", "min", "mean", *BITWISE]
TIES = ["split", "first"]             # which ranks get the gradient of a max or min, see functions/reductions.py
NAMES = ["broadcast", "reduce", "scatter", "gather", "allreduce", "allgather", "reduce_scatter", "alltoall", "barrier",
         "any", "total", "rows", "alltoall_sizes", "broadcast_object", "allgather_object", "sum_in_place", "agree",
         "gather_object", "scatter_object"]
SCANS = ["scan", "exscan", "reverse_scan", "reverse_exscan"]
NAMES += ["send", "permute", *SCANS, "duplicate", "backward_in_evaluation_mode",
          "forward_in_evaluation_mode"]
Buffer: TypeAlias = Any               # bytes, a bytearray, or an array of bytes
NUMBERS = {name: number for number, name in enumerate(NAMES)}
ROOTED = {"broadcast", "reduce", "scatter", "gather", "broadcast_object", "gather_object", "scatter_object"}
FROM_ROOT = {"broadcast", "scatter", "broadcast_object", "scatter_object"}
REDUCTIONS = {"reduce", "allreduce", "reduce_scatter", "sum_in_place", *SCANS}
CONCATENATING = {"gather", "allgather", "alltoall", "alltoall_sizes", "gather_object"}
SPLITTING = {"scatter", "reduce_scatter", "alltoall", "scatter_object"}
ROOT_RESULT = {"reduce", "gather", "gather_object"}     # the root's result; others return one for each local rank
WITH_DIM = SPLITTING | CONCATENATING
MAX_DIMS = 8
# name, root, op, dtype, ndim, key, error and backward_of; value, or dim and ties; the shape
HEADER = struct.Struct(f"=7qd{MAX_DIMS}q")
BACKWARD_OF_AT, VALUE_AT = 6 * 8, 7 * 8  # offsets of backward_of and value, in bytes
VALUED = {"any", "total", "agree", "send"}      # the calls whose value counts

HINTS = {"backward_in_evaluation_mode": "; is a model in eval() on some ranks, in train() on others?",
         "forward_in_evaluation_mode": "; is a model in eval() on some ranks, in train() on others? Its first forward "
                                       "pass in eval() after training synchronizes buffers across ranks; to evaluate "
                                       "on some ranks only, call model.module",
         "agree": "; agree() decides whether to record a node: are some ranks in no_grad()?"}


class CollectiveError(ValueError):
    """The calls of a communicator's ranks do not match, or one is invalid. All ranks raise it with the same text."""


class Call:
    """One rank's part in a collective: its name, settings, and the dtype and shape of the rank's array.

    x          the rank's array, with rows as its first dimension; None if it has none
    dim        the dimension of the rows in the caller's array
    room       on a rank that receives from the root: an array like the expected one
    sizes      how the rows are split over ranks; of joined arrays, their shapes
    key        a checksum of sizes, shapes or pairs that the caller passed, else 0; of a message, its number
    value      a number sent with the call
    error      what is wrong with this call alone
    function   the Function that called, for error texts
    backward_of   in backward, the number of the recorded collective whose gradient this computes; else 0
    """

    __slots__ = ("backward_of", "dim", "dtype", "error", "function", "key", "name", "op", "root", "shape", "sizes", "ties",
                 "value")

    def __init__(self, name: str, size: int, x: Any = None, *, root: Any = 0, op: Any = "sum", sizes: Any = None,
                 value: Any = 0.0, error: str = "", dim: Any = 0, ties: Any = "split", function: str = "",
                 room: Any = None, shapes: Any = None) -> None:
        self.name: str = name
        self.root: Any = root
        self.op: Any = op
        self.key: int = 0
        self.value: float = 0.0
        self.function: str = function
        self.backward_of: int = 0
        self.dim: Any = dim
        self.ties: Any = ties
        if op.__class__ is str and op == "avg":      # PyTorch's word
            self.op = "mean"
        self.dtype: Any = None if x is None else x.dtype
        self.shape: tuple[int, ...] = () if x is None else x.shape
        self.sizes: tuple[Any, ...] | None = None
        self.error: str = (error or self._settings_error(size, value) or (self._array_error() if x is not None else "")
                      or (self._sizes_error(size, sizes) if name in SPLITTING else ""))
        if room is not None and x is None:
            self.dtype, self.shape = room.dtype, room.shape
            self.error = self.error or self._array_error()
        if shapes is not None:
            self.sizes, self.key = tuple(shapes), checksum(shapes)

    def _settings_error(self, size: int, value: Any) -> str:
        try:
            self.root = operator.index(self.root)
        except Exception:                            # converting runs the object's own code: all ranks must raise
            return f"root {self.root!r} is not a rank"
        if not 0 <= self.root < size:
            return f"root {self.root} is not one of the ranks 0 to {size - 1}"
        try:
            self.value = float(bool(value) if self.name == "any" else value)
        except Exception:                            # the same
            return (f"flag {value!r} is neither true nor false" if self.name == "any" else
                    f"value {value!r} is not a number")
        if not isinstance(self.op, str) or self.op not in OPS:
            return f"op {self.op!r} is not one of {', '.join(OPS)}" + ("" if isinstance(self.op, str) else
                                                                        "; pass the operation's name")
        if not isinstance(self.ties, str) or self.ties not in TIES:
            return f"ties {self.ties!r} is not one of {', '.join(TIES)}"
        if self.dim.__class__ is int and self.dim == 0:
            return ""
        try:
            self.dim = operator.index(self.dim)
        except Exception:                            # the same
            return f"dim {self.dim!r} is not an integer"
        return "" if -MAX_DIMS <= self.dim < MAX_DIMS else f"dim {self.dim} is out of range"

    def _array_error(self) -> str:
        if self.dtype not in CODES:
            return f"arrays of dtype {self.dtype} can't be sent; only numbers and bool in native byte order can"
        if len(self.shape) > MAX_DIMS:
            return f"arrays have at most {MAX_DIMS} dimensions, not {len(self.shape)}"
        if self.dtype.kind == "c" and self.op in ("max", "min") and self.name in REDUCTIONS:
            return f"complex numbers have no {self.op}"
        if self.name in SCANS and self.op not in ("sum", "prod", "max", "min"):
            return f"{self.name} has no op {self.op!r}"
        if self.op in BITWISE and self.dtype.kind not in "biu" and self.name in REDUCTIONS:
            return f"{self.dtype} has no {self.op}: only integers and bools have"
        if self.dtype.kind in "biu" and self.op == "mean" and self.name in REDUCTIONS:
            return f"the mean of {self.dtype} is not a {self.dtype}; convert to floats first"
        return ""

    def _sizes_error(self, size: int, sizes: Any) -> str:
        if sizes is not None:
            try:
                self.sizes = tuple(operator.index(n) for n in sizes)
            except Exception:                        # the same
                return f"sizes must be row counts, one for each of {size} ranks, not {sizes!r}"
            if len(self.sizes) != size:
                return f"{len(self.sizes)} sizes {list(self.sizes)} for {size} ranks"
            if min(self.sizes) < 0:
                return f"negative sizes in {list(self.sizes)}"
            self.key = checksum(self.sizes)
        if self.dtype is None:                       # scatter, not the root: only the root knows the rows
            return ""
        if not self.shape:
            return f"a 0-d array has no rows for {self.name}; reshape it to (1,)"
        rows = self.shape[0]
        if self.sizes is None:
            self.sizes = tuple(even_split(rows, size))
        elif sum(self.sizes) != rows:
            return (f"sizes {list(self.sizes)} add up to {sum(self.sizes)}, but the array has {rows} rows; pass one size "
                    f"per rank, or none for an even split {even_split(rows, size)}")
        return ""

    def pack_into(self, buffer: Buffer) -> None:
        """Write the call as a header of HEADER.size bytes; of an invalid call only its name and an error flag."""
        if self.error:
            HEADER.pack_into(buffer, 0, NUMBERS[self.name], 0, 0, -1, 0, 0, 1, 0.0, *(0,) * MAX_DIMS)
            return
        shape = self.shape
        value = self.value if self.name in VALUED else 2 * self.dim + TIES.index(self.ties)
        HEADER.pack_into(buffer, 0, NUMBERS[self.name], self.root, OPS.index(self.op),
                         -1 if self.dtype is None else CODES[self.dtype], len(shape), self.key, 2 * self.backward_of, value,
                         *shape, *(0,) * (MAX_DIMS - len(shape)))

    @staticmethod
    def unpack(header: Buffer) -> Call:
        """The call that pack_into() wrote, without sizes and the text of its error."""
        number, root, op, dtype, ndim, key, error, value, *shape = HEADER.unpack(header)
        call = Call.__new__(Call)
        call.name, call.root, call.op, call.key, call.value = NAMES[number], root, OPS[op], key, value
        call.dtype, call.shape = None if dtype < 0 else DTYPES[dtype], tuple(shape[:ndim])
        call.backward_of, error = divmod(error, 2)
        call.sizes, call.error, call.function = None, "bad input" if error else "", ""
        call.dim, call.ties = divmod(int(value), 2) if not error and call.name not in VALUED else (0, 0)
        call.ties = TIES[call.ties]
        return call

    def __str__(self) -> str:
        settings = [f"op={self.op!r}"] if self.name in REDUCTIONS else []
        settings += [f"root={self.root!r}"] if self.name in ROOTED else []
        settings += [f"{'sizes' if self.name in SPLITTING else 'shapes'}={list(self.sizes)}"] \
            if self.key and self.sizes and self.name != "permute" else []
        settings += [f"pairs={list(zip(self.sizes[::2], self.sizes[1::2], strict=True))}"] \
            if self.name == "permute" and self.sizes is not None else []
        settings += [f"dest={self.root}"] if self.name == "send" else []
        settings += [f"dim={self.dim!r}"] if self.dim.__class__ is not int or self.dim else []
        settings += [f"ties={self.ties!r}"] if self.ties != "split" else []
        array = "" if self.dtype is None else f" of {self.dtype} {self.shape}"
        return (f"{self.name}({', '.join(settings)}){array}" + (f" before {self.function}" if self.function else "")
                + (f", the gradient of recorded collective {self.backward_of}" if self.backward_of else "")
                + (f": {self.error}" if self.error else ""))


def checksum(sizes: Sequence[Any]) -> int:
    """A 56-bit hash of the sizes, never 0."""
    digest = hashlib.blake2b(repr(list(sizes)).encode(), digest_size=7).digest()
    return int.from_bytes(digest, "little") + 1


def even_split(rows: int, size: int) -> list[int]:
    """rows split over size ranks as evenly as possible, larger shares first: even_split(5, 3) is [2, 2, 1]."""
    share, rest = divmod(rows, size)
    return [share + (rank < rest) for rank in range(size)]


def first_with_rows(calls: Sequence[Call]) -> Call:
    """The first call whose array has rows; the others must match its dtype and trailing shape. Shape (0,) means no part."""
    return next((call for call in calls if call.shape != (0,)), calls[0])


Rule = Callable[[Sequence[Call]], str]               # the calls of all ranks -> why they do not match, or ""


def _names_mismatch(calls: Sequence[Call]) -> str:
    if all(call.name == calls[0].name for call in calls):
        return ""
    arrays = any(call.dtype is not None for call in calls)
    hint = next((text for name, text in HINTS.items() if any(call.name == name for call in calls)
                 and (arrays or name != "agree")), "")           # a call without an array is not a Function's
    return "ranks call different collectives" + hint


def _bad_inputs(calls: Sequence[Call]) -> str:
    ranks = [str(rank) for rank, call in enumerate(calls) if call.error]
    return f"invalid input on rank{'s' * (len(ranks) > 1)} {', '.join(ranks)}" if ranks else ""


def _backward_mismatch(calls: Sequence[Call]) -> str:
    if len({call.backward_of for call in calls if call.backward_of}) <= 1:
        return ""
    return ("backward passes reach different collectives; every rank's loss must use the output of each collective "
            "(multiplied by zero, if necessary), and backward passes must run in the same order on all ranks")


def _same(attribute: str, text: str) -> Rule:
    """The rule that an attribute is the same in all calls."""
    read = operator.attrgetter(attribute)

    def rule(calls: Sequence[Call]) -> str:
        first = read(calls[0])
        return text if any(read(call) != first for call in calls) else ""

    return rule


def _dims_mismatch(calls: Sequence[Call]) -> str:
    """All ranks must use the same dimension; -1 may stand for the last one."""
    if not any(call.dim for call in calls):
        return ""
    first = calls[0]
    reference = calls[first.root] if first.name == "scatter" else first_with_rows(calls)
    n = max(len(reference.shape), 1)
    if reference.shape == (0,):                      # no rank has a part: any dimension is valid
        return ""
    if not all(-n <= call.dim < n for call in calls):
        return f"dim is out of range for arrays of {n} dimension{'s' * (n > 1)}"
    return "" if all(call.dim % n == reference.dim % n for call in calls) else "ranks pass different dims"


def _rows_mismatch(calls: Sequence[Call]) -> str:
    """Arrays that are concatenated have one dtype and one shape beyond the rows; shape (0,) means no part."""
    reference = first_with_rows(calls)
    full = [call for call in calls if call.shape != (0,)]
    if any(call.dtype != reference.dtype for call in full):
        return "the dtypes differ"
    if any(call.shape[1:] != reference.shape[1:] or len(call.shape) != len(reference.shape) for call in full):
        return "the shapes differ beyond the first dimension"
    return ""


def _sizes_mismatch(calls: Sequence[Call]) -> str:
    """scatter: sizes passed on other ranks must equal the root's; reduce_scatter: all must be equal."""
    first = calls[0]
    if not any(call.key for call in calls):
        return ""
    reference = calls[first.root] if first.name == "scatter" else first
    even = checksum(even_split(reference.shape[0], len(calls)))
    not_given = 0 if first.name == "scatter" else even
    expected = reference.key or even
    return "" if all((call.key or not_given) in (expected, 0) for call in calls) else "ranks pass different sizes"


def _room_mismatch(calls: Sequence[Call]) -> str:
    """Ranks that pass `room` must expect the root's dtype and number of elements."""
    root = calls[0].root
    sent = calls[root]
    waiting = [(rank, call) for rank, call in enumerate(calls) if rank != root and call.dtype is not None]
    if any(call.dtype != sent.dtype for _, call in waiting):
        return "the dtypes differ"
    if sent.name == "broadcast":
        fits = all(math.prod(call.shape) == math.prod(sent.shape) for _, call in waiting)
    else:                                            # sizes that the root chose are not in its header
        rows, width = even_split(sent.shape[0], len(calls)), math.prod(sent.shape[1:])
        fits = sent.key != 0 or all(math.prod(call.shape) == rows[rank] * width for rank, call in waiting)
    return "" if fits else "the root sends another number of elements than a rank expects"


# Collectives and the rule that they must obey. The first broken rule is reported: later rules may rely on earlier ones.
RULES: tuple[tuple[Collection[str], Rule], ...] = (
    (NAMES, _bad_inputs),
    (NAMES, _names_mismatch),
    (NAMES, _backward_mismatch),
    (ROOTED, _same("root", "ranks pass different roots")),
    (REDUCTIONS, _same("op", "ranks pass different ops")),
    (REDUCTIONS, _same("ties", "ranks pass different ties")),
    (REDUCTIONS, _same("dtype", "the dtypes differ")),
    (REDUCTIONS, _same("shape", "the shapes differ")),
    (WITH_DIM, _dims_mismatch),
    (CONCATENATING, _rows_mismatch),
    ({"permute"}, _same("key", "ranks pass different pairs")),
    ({"allreduce", "allgather"}, _same("key", "the shapes of the joined arrays differ")),
    ({"scatter", "reduce_scatter"}, _sizes_mismatch),
    ({"broadcast", "scatter"}, _room_mismatch))
EQUAL = set(NAMES) - WITH_DIM - {"broadcast"}        # calls that match if they are equal
RULES_OF = {name: [rule for names, rule in RULES if name in names] for name in NAMES}


def mismatch(calls: Sequence[Call]) -> str:
    """Why the calls of all ranks do not match: the text of the first broken rule; "" if they match."""
    first = calls[0]
    if first.name in EQUAL and not first.error:      # most are
        for call in calls:
            if (call.name != first.name or call.error or call.backward_of != first.backward_of or call.root != first.root
                    or call.op != first.op or call.ties != first.ties or call.dtype != first.dtype
                    or call.shape != first.shape or call.key != first.key):
                break
        else:
            return ""
    return next((reason for rule in RULES_OF[calls[0].name] if (reason := rule(calls))), "")


def collective_error(reason: str, texts: Sequence[str], more: str = "") -> CollectiveError:
    """The error that every rank raises: the reason, each rank's call, and further text."""
    groups: dict[str, list[int]] = {}
    for rank, text in enumerate(texts):
        groups.setdefault(text, []).append(rank)
    lines = [f"\n  {_ranks(ranks)}: {text}" for text, ranks in groups.items()]
    return CollectiveError(f"collective of {len(texts)} ranks rejected, {reason}:" + "".join(lines) + more)


def _ranks(ranks: list[int]) -> str:
    """Ranks as text: [0, 1, 2, 5] as "ranks 0-2, 5"."""
    runs: list[list[int]] = []
    for rank in ranks:
        if runs and runs[-1][1] == rank - 1:
            runs[-1][1] = rank
        else:
            runs.append([rank, rank])
    text = ", ".join(str(a) if a == b else f"{a}-{b}" for a, b in runs)
    return f"rank {text}" if len(ranks) == 1 else f"ranks {text}"


def check(calls: Sequence[Call]) -> None:
    """Raise collective_error() if the calls of all ranks do not match."""
    reason = mismatch(calls)
    if reason:
        raise collective_error(reason, [str(call) for call in calls])
