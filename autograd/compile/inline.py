"""Inlining: a small rule is recorded as the NumPy calls that it makes, so that a replay makes only these, into fixed memory.

The rule runs on Watched arrays, in a copy whose calls of other functions are observed (`instrumented`). A kernel is recorded
as the ufuncs that it calls, or as one call if it does anything else. A rule that does more than call ufuncs and kernels, on
arrays that the tracer knows, on constants and on numbers, raises NotInlinable and stays one call of the program.
"""

from __future__ import annotations

import contextlib
import functools
import sys
import threading
import types
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from ..base.dtypes import TensorDType
from ..base.types import DTypeLike
from ..core.operation import Operation
from ..kernels.halves import converted
from ..kernels.matmul import matmul
from ..kernels.products import affine, product
from ..kernels.where import masked
from .calls import Array, Call, name_of

if TYPE_CHECKING:
    pass

VIEWS: set[Any] = {np.swapaxes, np.transpose, np.moveaxis, np.reshape, np.expand_dims, np.squeeze, np.broadcast_to}
PLAIN = (bool, int, float, complex)
KERNELS, INSTRUMENTED = "autograd.kernels.", "__instrumented__"
TAKES_OUT: set[Any] = {product, affine, masked, matmul}                     # kernels that take memory for their result


class NotInlinable(Exception):
    """The rule does something other than calling ufuncs and kernels."""


class _Recording(threading.local):
    """The attempt of the rule that this thread runs now."""

    attempt: Any = None              # an Attempt, while a rule runs


recording: _Recording = _Recording()


def cast(x: Array, dtype: DTypeLike) -> Array:
    """x converted to dtype, as a call of its own in the program."""
    return converted(x, dtype)


class Flags:
    """The flags of a Watched array that a rule may read; all others raise NotInlinable."""

    def __init__(self, flags: Any) -> None:
        self.c_contiguous: bool = flags.c_contiguous
        self.f_contiguous: bool = flags.f_contiguous
        self.writeable: bool = flags.writeable

    def __getattr__(self, name: str) -> Any:
        raise NotInlinable


class Watched(np.ndarray):
    """An array whose ufuncs are recorded. All that could read its values unobserved raises NotInlinable."""

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, out: Any = None, **settings: Any) -> Any:
        if recording.attempt is None:
            raise NotInlinable
        if method not in ("__call__", "reduce") or ufunc.nout != 1 or in_kernel(sys._getframe(1)):
            raise NotInlinable
        args = [operand(x) for x in inputs]
        operands = [as_plain(x) for x in inputs]
        if out is not None:                          # in place
            if method == "reduce" or settings or not isinstance(out[0], Watched):
                raise NotInlinable
            target = operand(out[0])
            if target.number >= 0:                   # a value of the step: the rule would write to it twice
                raise NotInlinable
            ufunc(*operands, as_plain(out[0]))
            safe = all(not isinstance(x, np.ndarray) or x.dtype is out[0].dtype for x in inputs)
            recording.attempt.append(Call(ufunc, (*args, target), {} if safe else {"casting": "same_kind"}), None)
            return out[0]
        function: Any = ufunc if method == "__call__" else ufunc.reduce
        made = np.asarray(function(*operands, **settings))
        if ufunc is np.matmul and settings == {"order": "C"} and made.flags.c_contiguous:
            settings = {}                            # replays pass memory for the result
        label = f"{ufunc.__name__}.reduce" if method == "reduce" else name_of(function)
        recording.attempt.append(Call(function, tuple(args), settings, label=label), made)
        return made.view(Watched)

    def __getitem__(self, index: Any) -> Any:
        if not (isinstance(index, tuple) and all(i is None or isinstance(i, slice) for i in index)):
            raise NotInlinable
        return super().__getitem__(index)            # a view

    def astype(self, dtype: Any, *, copy: bool = True) -> Any:  # type: ignore[override]
        """The array in another dtype, recorded as a call of cast()."""
        return self if self.dtype == dtype and not copy else opaque_call(cast, (self, np.dtype(dtype)))

    def view(self, kind: Any) -> Any:  # type: ignore[override]
        """The array as another class of arrays; its bits as another dtype are NotInlinable."""
        if not isinstance(kind, type) or not issubclass(kind, np.ndarray):
            raise NotInlinable
        return super().view(kind)

    @property
    def flags(self) -> Any:
        """The layout and writeable flags. Kernels that take addresses read others first, which raise NotInlinable."""
        return Flags(as_plain(self).flags)

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        if function not in VIEWS or kwargs:
            raise NotInlinable
        made = function(*[as_plain(a) for a in args])
        if not isinstance(made, np.ndarray) or not isinstance(args[0], Watched) or not np.may_share_memory(made, args[0]):
            raise NotInlinable
        return made.view(Watched)                    # a view: of no call

    def _escapes(self, *args: Any, **kwargs: Any) -> Any:
        raise NotInlinable

    item = tolist = tobytes = __bool__ = __float__ = __int__ = __index__ = __complex__ = _escapes
    __setitem__ = __iter__ = copy = fill = sort = put = itemset = dot = take = _escapes
    ctypes = property(_escapes)
    __array_interface__ = property(_escapes)


# --- calls of kernels ---------------------------------------------------------------------------------------------------

def instrumented(function: Any) -> Any:
    """A copy of one of this package's functions that observes the calls of other such functions; other callables as they
    are."""
    if not is_internal(function):
        return function
    namespace = {name: substitute(value) for name, value in function.__globals__.items()}
    namespace[INSTRUMENTED] = True
    cells = tuple([types.CellType(substitute(cell.cell_contents)) for cell in function.__closure__ or ()])
    copy = types.FunctionType(function.__code__, namespace, function.__name__, function.__defaults__, cells)
    copy.__kwdefaults__ = function.__kwdefaults__
    return copy


def substitute(value: Any) -> Any:
    """The value of a global name in an instrumented function: functions and Operations of this package are observed."""
    if is_internal(value):
        return functools.partial(observed_call, value)
    if isinstance(value, type) and issubclass(value, Operation):
        return types.SimpleNamespace(apply=functools.partial(observed_apply, value))
    if isinstance(value, types.MethodType) and value.__name__ == "apply" and isinstance(value.__self__, type) and (
            issubclass(value.__self__, Operation)):
        return functools.partial(observed_apply, value.__self__)
    return value


def in_kernel(frame: Any) -> bool:
    """Whether a ufunc was called by a kernel that is not instrumented, and may do more than call ufuncs."""
    while frame.f_globals["__name__"].startswith("numpy"):
        frame = frame.f_back
    return frame.f_globals["__name__"].startswith(KERNELS) and INSTRUMENTED not in frame.f_globals


def is_internal(function: object) -> bool:
    """Whether this is a Python function of this package, and not a compiled one."""
    return type(function) is types.FunctionType and function.__module__.startswith("autograd.")


def observed_call(function: Callable[..., Any], *args: Any, **settings: Any) -> Any:
    """Call a function of this package. A kernel is recorded as its ufuncs if these give its result, else as one call."""
    if not any(isinstance(x, Watched) for x in (*args, *settings.values())):
        return function(*args, **settings)
    if not function.__module__.startswith(KERNELS):
        return instrumented(function)(*args, **settings)
    if function.__annotations__.get("return") != "None":     # a kernel that writes to an argument would do so twice
        mark = recording.attempt.mark()
        with contextlib.suppress(NotInlinable, TypeError, ValueError, AttributeError, IndexError):
            made = instrumented(function)(*args, **settings)
            if isinstance(made, Watched):
                return made
        recording.attempt.undo(mark)
    return opaque_call(function, args, settings)


def observed_apply(operation: type[Operation], *args: Any, **settings: Any) -> Any:
    """operation.apply() within a rule, where it is forward on arrays."""
    if not any(isinstance(x, Watched) for x in args):
        return operation.apply(*args, **settings)
    if any(x.dtype.kind == "V" for x in args if isinstance(x, np.ndarray)):
        raise NotInlinable                                         # bfloat16 is computed in float32
    return instrumented(operation.forward)(operation.node(), *args, **settings)


def opaque_call(function: Callable[..., Any], args: tuple[Any, ...],
                settings: Mapping[str, Any] = MappingProxyType({})) -> Any:
    """Record a kernel as one call. It returns a new array, or writes to its first argument and returns None."""
    while args and args[-1] is None and not settings:        # out=None, which a replay may replace
        args = args[:-1]
    call = Call(function, tuple([operand(x) for x in args]), {name: operand(x) for name, x in settings.items()})
    made = function(*[as_plain(x) for x in args], **{name: as_plain(x) for name, x in settings.items()})
    if made is None and call.args[0].number >= 0:            # a value of the step: the rule would write to it twice
        raise NotInlinable
    if made is not None and (not isinstance(made, np.ndarray) or recording.attempt.lookup(made) is not None):
        raise NotInlinable                                         # several arrays, no array, or one of its arguments
    call.out = ", out={}" if made is not None and function in TAKES_OUT and made.flags.c_contiguous and not settings else ""
    recording.attempt.append(call, made)
    return None if made is None else made.view(Watched)


def as_plain(x: Any) -> Any:
    """A Watched array as a plain np.ndarray; anything else as it is."""
    return x.view(np.ndarray) if isinstance(x, Watched) else x


def operand(x: Any) -> Any:
    """The operand of a recorded call: the Value of an array; constants and numbers as they are."""
    if isinstance(x, np.ndarray):
        value = recording.attempt.lookup(as_plain(x)) if recording.attempt is not None else None
        if value is None and (x.flags.writeable or x.base is not None):
            raise NotInlinable
        return x if value is None else value         # a read-only constant, which compare() checks
    if x is not None and type(x) not in PLAIN and not isinstance(x, (np.generic, np.dtype, TensorDType)):
        raise NotInlinable
    return x


def watched_values(saved: Any) -> Any:
    """Saved values of a rule, arrays among them as Watched arrays."""
    if isinstance(saved, (tuple, list)):
        return tuple([watched_values(v) for v in saved])
    return saved.view(Watched) if isinstance(saved, np.ndarray) else saved


def arrays_in(saved: Any) -> list[Array]:
    """All arrays among the saved values of a rule."""
    if isinstance(saved, (tuple, list)):
        return [array for v in saved for array in arrays_in(v)]
    return [saved] if isinstance(saved, np.ndarray) else []
