"""Small rules taken apart into the NumPy calls that they consist of, so that a replay makes just these, into fixed memory.

A rule is run on Watched arrays, in a copy whose calls of kernels are seen (`opened`). A kernel becomes the ufuncs inside it,
or one call if it is more than that. Where the rule itself does anything but that, on arrays that the tracer knows, on
constants and on numbers, it stays one call of the program.
"""

from __future__ import annotations

import contextlib
import functools
import sys
import threading
import types
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

from ..core.operation import Operation
from ..kernels.halves import converted
from ..kernels.products import affine, product
from ..kernels.threads import matmul
from ..kernels.where import masked
from .calls import Array, Call, name_of

VIEWS = {np.swapaxes, np.transpose, np.moveaxis, np.reshape, np.expand_dims, np.squeeze, np.broadcast_to}
PLAIN = (bool, int, float, complex)
KERNELS, OPENED = "autograd.kernels.", "__opened__"
INTO = {product, affine, masked, matmul}                     # kernels that take memory for what they give


class Opaque(Exception):
    """This rule is not only ufuncs."""


class _Recording(threading.local):
    """The calls of the rule that this thread runs."""

    attempt: Any = None


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
        if recording.attempt is None:
            raise Opaque
        if method not in ("__call__", "reduce") or ufunc.nout != 1 or in_kernel(sys._getframe(1)):
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
            recording.attempt.new(Call(ufunc, (*args, target), {} if safe else {"casting": "same_kind"}), None)
            return out[0]
        function: Any = ufunc if method == "__call__" else ufunc.reduce
        made = np.asarray(function(*operands, **settings))
        if ufunc is np.matmul and settings == {"order": "C"} and made.flags.c_contiguous:
            settings = {}                            # memory for the result will be given
        label = f"{ufunc.__name__}.reduce" if method == "reduce" else name_of(function)
        recording.attempt.new(Call(function, tuple(args), settings, label=label), made)
        return made.view(Watched)

    def __getitem__(self, index: Any) -> Any:
        if not (isinstance(index, tuple) and all(i is None or isinstance(i, slice) for i in index)):
            raise Opaque
        return super().__getitem__(index)            # a view

    def astype(self, dtype: Any, *, copy: bool = True) -> Any:  # type: ignore[override]
        """A cast is a call too."""
        return self if self.dtype == dtype and not copy else whole(cast, (self, np.dtype(dtype)))

    def view(self, kind: Any) -> Any:  # type: ignore[override]
        """The same array for NumPy alone; not its bits as another dtype."""
        if not isinstance(kind, type) or not issubclass(kind, np.ndarray):
            raise Opaque
        return super().view(kind)

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


# --- calls of kernels ---------------------------------------------------------------------------------------------------

def opened(function: Any) -> Any:
    """A copy of a Python function of ours in which the functions of ours that it calls are seen."""
    if not ours(function):
        return function
    around = {name: stand_for(value) for name, value in function.__globals__.items()}
    around[OPENED] = True
    cells = tuple([types.CellType(stand_for(cell.cell_contents)) for cell in function.__closure__ or ()])
    copy = types.FunctionType(function.__code__, around, function.__name__, function.__defaults__, cells)
    copy.__kwdefaults__ = function.__kwdefaults__
    return copy


def stand_for(value: Any) -> Any:
    """What an opened function finds under a name: our functions and Operations so that what they call is seen."""
    if ours(value):
        return functools.partial(through, value)
    if isinstance(value, type) and issubclass(value, Operation):
        return types.SimpleNamespace(apply=functools.partial(applied, value))
    if isinstance(value, types.MethodType) and value.__name__ == "apply" and isinstance(value.__self__, type) and (
            issubclass(value.__self__, Operation)):
        return functools.partial(applied, value.__self__)
    return value


def in_kernel(frame: Any) -> bool:
    """Whether a ufunc was called by a kernel that is not opened: the kernel may do more than that, unseen."""
    while frame.f_globals["__name__"].startswith("numpy"):
        frame = frame.f_back
    return frame.f_globals["__name__"].startswith(KERNELS) and OPENED not in frame.f_globals


def ours(function: Any) -> bool:
    """Whether this is a Python function of this package, not compiled."""
    return type(function) is types.FunctionType and function.__module__.startswith("autograd.")


def through(function: Any, *args: Any, **settings: Any) -> Any:
    """A call of one of our functions: of a kernel the ufuncs inside it, if these give its result; else the kernel itself."""
    if not any(isinstance(x, Watched) for x in (*args, *settings.values())):
        return function(*args, **settings)
    if not function.__module__.startswith(KERNELS):
        return opened(function)(*args, **settings)
    if function.__annotations__.get("return") != "None":     # what writes to an argument is not tried: it would do so twice
        mark = recording.attempt.mark()
        with contextlib.suppress(Opaque, TypeError, ValueError, AttributeError, IndexError):
            made = opened(function)(*args, **settings)
            if isinstance(made, Watched):
                return made
        recording.attempt.undo(mark)
    return whole(function, args, settings)


def applied(operation: Any, *args: Any, **settings: Any) -> Any:
    """operation.apply() in a rule: on arrays that is its forward."""
    if not any(isinstance(x, Watched) for x in args):
        return operation.apply(*args, **settings)
    if any(x.dtype.kind == "V" for x in args if isinstance(x, np.ndarray)):
        raise Opaque                                         # bfloat16 is computed in float32
    return opened(operation.forward)(operation.node(), *args, **settings)


def whole(function: Any, args: tuple[Any, ...], settings: Mapping[str, Any] = MappingProxyType({})) -> Any:
    """A call of a kernel, recorded as it is. The kernel returns a new array, or None and writes to its first argument."""
    while args and args[-1] is None and not settings:        # out=None, which a replay may replace
        args = args[:-1]
    call = Call(function, tuple([known(x) for x in args]), {name: known(x) for name, x in settings.items()})
    made = function(*[plain(x) for x in args], **{name: plain(x) for name, x in settings.items()})
    if made is None and call.args[0].number >= 0:            # not made by this rule: it would be written to twice
        raise Opaque
    if made is not None and (not isinstance(made, np.ndarray) or recording.attempt.lookup(made) is not None):
        raise Opaque                                         # several arrays, or none, or one that it was given
    call.out = ", out={}" if made is not None and function in INTO and made.flags.c_contiguous and not settings else ""
    recording.attempt.new(call, made)
    return None if made is None else made.view(Watched)


def plain(x: Any) -> Any:
    """A Watched array as NumPy's."""
    return x.view(np.ndarray) if isinstance(x, Watched) else x


def known(x: Any) -> Any:
    """An operand as the program has it."""
    if isinstance(x, np.ndarray):
        value = recording.attempt.lookup(plain(x)) if recording.attempt is not None else None
        if value is None and (x.flags.writeable or x.base is not None):
            raise Opaque
        return x if value is None else value         # a constant, if nobody can write to it: compare() looks at it
    if x is not None and type(x) not in PLAIN and not isinstance(x, (np.generic, np.dtype)):
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
