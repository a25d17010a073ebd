"""Small rules taken apart into the NumPy calls that they consist of, so that a replay makes just these, into fixed memory.

A rule is run on Watched arrays. Where it does anything but ufuncs on arrays that the tracer knows and on Python numbers,
it stays one call of the program.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import numpy as np

from ..kernels.products import product
from .calls import Array, Call, name_of

VIEWS = {np.swapaxes, np.transpose, np.moveaxis, np.reshape, np.expand_dims, np.squeeze, np.broadcast_to}
PLAIN = (bool, int, float, complex)


class Opaque(Exception):
    """This rule is not only ufuncs."""


class _Recording(threading.local):
    """The calls of the rule that this thread runs."""

    lookup: Callable[[Array], Any] | None = None
    new: Callable[[Call, Array | None], Any] | None = None


recording = _Recording()


class Watched(np.ndarray):
    """An array whose ufuncs are recorded; what else could let its values escape, unseen, is Opaque."""

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, out: Any = None, **settings: Any) -> Any:
        if recording.lookup is None or recording.new is None:
            raise Opaque
        if method not in ("__call__", "reduce") or ufunc.nout != 1:
            raise Opaque
        args = [known(x) for x in inputs]
        operands = [plain(x) for x in inputs]
        if out is not None:                          # in place
            if method == "reduce" or settings or not isinstance(out[0], Watched):
                raise Opaque
            target = known(out[0])
            if target.number >= 0:                   # not made by this rule: it would be written to twice
                raise Opaque
            ufunc(*operands, plain(out[0]))
            recording.new(Call(ufunc, (*args, target), {"casting": "same_kind"}), None)
            return out[0]
        function: Any = ufunc if method == "__call__" else ufunc.reduce
        if ufunc is np.matmul and settings == {"order": "C"}:        # what product() does with a Watched array
            function, settings = product, {}
        made = np.asarray(function(*operands, **settings))
        label = f"{ufunc.__name__}.reduce" if method == "reduce" else name_of(function)
        call = Call(function, tuple(args), settings, label=label)
        if function is product:
            call.out = ", out={}" if made.flags.c_contiguous else ""
        recording.new(call, made)
        return made.view(Watched)

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        if function not in VIEWS or kwargs:
            raise Opaque
        made = function(*[plain(a) for a in args])
        if not isinstance(made, np.ndarray) or not isinstance(args[0], Watched) or not np.may_share_memory(made, args[0]):
            raise Opaque
        return made.view(Watched)                    # a view: of no call

    def _escapes(self, *args: Any, **kwargs: Any) -> Any:
        raise Opaque

    item = tolist = tobytes = __bool__ = __float__ = __int__ = __index__ = __complex__ = _escapes
    __getitem__ = __setitem__ = __iter__ = astype = copy = fill = sort = put = itemset = dot = take = _escapes
    ctypes = property(_escapes)
    __array_interface__ = property(_escapes)


def plain(x: Any) -> Any:
    """A Watched array as NumPy's."""
    return x.view(np.ndarray) if isinstance(x, Watched) else x


def known(x: Any) -> Any:
    """An operand as the program has it."""
    if isinstance(x, np.ndarray):
        value = recording.lookup(plain(x)) if recording.lookup is not None else None
        if value is None:
            raise Opaque
        return value
    if type(x) not in PLAIN:
        raise Opaque
    return x
