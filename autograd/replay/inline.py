"""Small rules taken apart into the NumPy calls that they consist of, so that a replay makes just these, into fixed memory.

A rule is run on Watched arrays. Where it does anything but ufuncs, and kernels that say so by `kernel()`, on arrays that the
tracer knows, on constants and on numbers, it stays one call of the program.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import numpy as np

from ..kernels.halves import converted
from ..kernels.products import affine, product
from ..kernels.threads import matmul
from ..kernels.where import masked
from .calls import Array, Call, name_of

VIEWS = {np.swapaxes, np.transpose, np.moveaxis, np.reshape, np.expand_dims, np.squeeze, np.broadcast_to}
PLAIN = (bool, int, float, complex)
INTO = {product, affine, masked, matmul}                     # kernels that take memory for what they give


class Opaque(Exception):
    """This rule is not only ufuncs."""


class _Recording(threading.local):
    """The calls of the rule that this thread runs."""

    lookup: Callable[[Array], Any] | None = None
    new: Callable[[Call, Array | None], Any] | None = None


recording = _Recording()


def cast(x: Array, dtype: Any) -> Array:
    """x in another dtype."""
    return converted(x, dtype)


class Flags:
    """What a rule may ask of how a Watched array lies."""

    def __init__(self, flags: Any) -> None:
        self.c_contiguous, self.f_contiguous, self.writeable = flags.c_contiguous, flags.f_contiguous, flags.writeable

    def __getattr__(self, name: str) -> Any:
        raise Opaque


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
            safe = all(not isinstance(x, np.ndarray) or x.dtype is out[0].dtype for x in inputs)
            recording.new(Call(ufunc, (*args, target), {} if safe else {"casting": "same_kind"}), None)
            return out[0]
        function: Any = ufunc if method == "__call__" else ufunc.reduce
        made = np.asarray(function(*operands, **settings))
        if ufunc is np.matmul and settings == {"order": "C"} and made.flags.c_contiguous:
            settings = {}                            # memory for the result will be given
        label = f"{ufunc.__name__}.reduce" if method == "reduce" else name_of(function)
        recording.new(Call(function, tuple(args), settings, label=label), made)
        return made.view(Watched)

    @staticmethod
    def kernel(function: Any, *inputs: Any) -> Any:
        """A kernel's own call with these arrays: recorded whole. It gives a new array, or None and writes to the first."""
        if recording.lookup is None or recording.new is None:
            raise Opaque
        call = Call(function, tuple([known(x) for x in inputs]))
        made = function(*[plain(x) for x in inputs])
        if made is None and call.args[0].number >= 0:                # not made by this rule: it would be written to twice
            raise Opaque
        call.out = ", out={}" if function in INTO and made.flags.c_contiguous else ""
        recording.new(call, made)
        return None if made is None else made.view(Watched)

    def __getitem__(self, index: Any) -> Any:
        if not (isinstance(index, tuple) and all(i is None or isinstance(i, slice) for i in index)):
            raise Opaque
        return super().__getitem__(index)            # a view

    def astype(self, dtype: Any, *, copy: bool = True) -> Any:  # type: ignore[override]
        """A cast is a call too."""
        return self if self.dtype == dtype and not copy else self.kernel(cast, self, np.dtype(dtype))

    @property
    def flags(self) -> Any:
        """Some: kernels that take addresses ask for others first."""
        return Flags(plain(self).flags)

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
    __setitem__ = __iter__ = copy = fill = sort = put = itemset = dot = take = _escapes
    ctypes = property(_escapes)
    __array_interface__ = property(_escapes)


def plain(x: Any) -> Any:
    """A Watched array as NumPy's."""
    return x.view(np.ndarray) if isinstance(x, Watched) else x


def known(x: Any) -> Any:
    """An operand as the program has it."""
    if isinstance(x, np.ndarray):
        value = recording.lookup(plain(x)) if recording.lookup is not None else None
        if value is None and (x.flags.writeable or x.base is not None):
            raise Opaque
        return x if value is None else value         # a constant, if nobody can write to it: compare() looks at it
    if type(x) not in PLAIN and not isinstance(x, (np.generic, np.dtype)):
        raise Opaque
    return x


def watching(saved: Any) -> Any:
    """What a rule saved, with Watched arrays."""
    if isinstance(saved, (tuple, list)):
        return tuple([watching(v) for v in saved])
    return saved.view(Watched) if isinstance(saved, np.ndarray) else saved


def arrays_in(saved: Any) -> list[Array]:
    """The arrays in what a rule saved."""
    if isinstance(saved, (tuple, list)):
        return [array for v in saved for array in arrays_in(v)]
    return [saved] if isinstance(saved, np.ndarray) else []
