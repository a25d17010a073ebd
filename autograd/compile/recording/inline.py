"""Inlining: a rule is recorded as the NumPy calls that it makes.

The rule runs on Watched arrays, in a copy whose calls of other functions are observed (`instrumented`). A kernel is recorded
as the ufuncs that it calls, or as one call if it does anything else. A rule that does more than call ufuncs and kernels, on
arrays that the tracer knows, on constants and on numbers, raises NotInlinable and stays one call of the program.

For programs in Python, small rules are inlined where that gives the same bits. For native code, rules are taken `apart`:
accelerators decline Watched arrays, so that each rule runs in its NumPy form, and all of that is recorded.
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

from ...base.dtypes import TensorDType
from ...core.operation import Operation
from ...kernels.accelerators import Accelerator
from ...kernels.matmul import matmul
from ...kernels.products import affine, product
from ...kernels.where import masked
from ...kernels.windows import WindowGeometry
from ..checks.state import names_in
from .apart import ANSWERS, CHECKS, IN_PYTHON, LIBRARY, OF_LAYOUT, REPLACED, WHOLE
from .calls import Array, Call, cast, element, fill, name_of, pick, update

if TYPE_CHECKING:
    from .attempt import Attempt

VIEWS: set[Any] = {np.swapaxes, np.transpose, np.moveaxis, np.reshape, np.expand_dims, np.squeeze, np.broadcast_to, np.flip}
PLAIN = (bool, int, float, complex)
KERNELS, INSTRUMENTED = "autograd.kernels.", "__instrumented__"
TAKES_OUT: set[Any] = {product, affine, masked, matmul}                     # kernels that take memory for their result

class NotInlinable(Exception):
    """The rule does something other than calling ufuncs and kernels."""


def current() -> Attempt:
    """The attempt of the rule that this thread runs."""
    if recording.attempt is None:
        raise NotInlinable
    return recording.attempt


class _Recording(threading.local):
    """The attempt of the rule that this thread runs now."""

    attempt: Attempt | None = None   # while a rule runs


recording: _Recording = _Recording()


class Flags:
    """The flags of a Watched array that a rule may read; all others raise NotInlinable.

    Kernels read `carray` before they take an address: where rules are taken apart it is False, and they decline."""

    def __init__(self, flags: Any) -> None:
        self.c_contiguous: bool = flags.c_contiguous
        self.f_contiguous: bool = flags.f_contiguous
        self.writeable: bool = flags.writeable

    def __getattr__(self, name: str) -> Any:
        if name in ("carray", "aligned", "owndata") and current().apart:
            return False
        raise NotInlinable


class Watched(np.ndarray):
    """An array whose ufuncs are recorded. All that could read its values unobserved raises NotInlinable."""

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, out: Any = None, **settings: Any) -> Any:
        attempt = current()
        if method == "at" and attempt.apart and len(inputs) == 3:
            return put_at(inputs[0], ufunc.__name__, inputs[2], inputs[1])
        if method not in ("__call__", "reduce", "accumulate") or ufunc.nout != 1 or (
                not attempt.apart and in_kernel(sys._getframe(1))):
            raise NotInlinable
        args = [operand(x) for x in inputs]
        operands = [as_plain(x) for x in inputs]
        function: Any = ufunc if method == "__call__" else getattr(ufunc, method)
        if settings.get("where", False) is True:
            del settings["where"]
        if out is not None:                          # in place
            if method != "__call__" or settings or not isinstance(out[0], Watched):
                raise NotInlinable
            if not out[0].size:
                return out[0]
            target = writable(out[0])
            ufunc(*operands, out=as_plain(out[0]), casting="same_kind")
            safe = all(not isinstance(x, np.ndarray) or x.dtype is out[0].dtype for x in inputs)
            attempt.append(Call(ufunc, (*args, target), {} if safe else {"casting": "same_kind"}), None)
            return out[0]
        made = np.asarray(function(*operands, **settings))
        if ufunc is np.matmul and settings == {"order": "C"} and made.flags.c_contiguous:
            settings = {}                            # replays pass memory for the result
        label = name_of(function) if method == "__call__" else f"{ufunc.__name__}.{method}"
        attempt.append(Call(function, tuple(args), settings, label=label), made)
        return made.view(Watched)

    def __getitem__(self, index: Any) -> Any:
        if not is_view(index):
            if not current().apart:
                raise NotInlinable
            return opaque_call(pick, (self, *parts_of(index, self.ndim)))
        made = super().__getitem__(index)
        return made if isinstance(made, Watched) else opaque_call(element, (self, index))

    def __setitem__(self, index: Any, value: Any) -> None:
        """self[slices] = value, or self[mask] = number, of an array that the rule made."""
        if not current().apart:
            raise NotInlinable
        if is_view(index):
            part = super().__getitem__(index)
            if not isinstance(part, Watched):
                part = as_plain(self)[(*index, ...) if isinstance(index, tuple) else (index, ...)].view(Watched)
            if not part.size:
                return
            target, source = writable(self) and operand(part), operand(value)
            np.copyto(as_plain(part), as_plain(value), casting="unsafe")
            current().append(Call(np.copyto, (target, source), {"casting": "unsafe"}, label="copyto"), None)
        elif isinstance(index, Watched) and index.dtype == bool and index.shape == self.shape and np.ndim(value) == 0:
            copyto(self, value, where=index)
        else:
            put_at(self, "copy", value, index)

    def __iter__(self) -> Any:
        if not current().apart or not self.ndim:
            raise NotInlinable
        return iter([self[i, ...] for i in range(len(self))])

    def diagonal(self, *place: Any) -> Any:  # type: ignore[override]
        """A view, which may be written to if the array may."""
        plain = as_plain(self)
        made = plain.diagonal(*place)
        made.flags.writeable = plain.flags.writeable
        return made.view(Watched)

    def argmax(self, axis: Any = None, out: Any = None, *, keepdims: bool = False) -> Any:  # type: ignore[override]
        """np.argmax of the array."""
        return recorded(np.argmax, self, axis=axis, keepdims=keepdims)

    def argmin(self, axis: Any = None, out: Any = None, *, keepdims: bool = False) -> Any:  # type: ignore[override]
        """np.argmin of the array."""
        return recorded(np.argmin, self, axis=axis, keepdims=keepdims)

    def reshape(self, *shape: Any, **settings: Any) -> Any:  # type: ignore[override]
        """A view, or a recorded copy in C order and a view of that."""
        made = super().reshape(*shape, **settings)
        if self.size and recording.attempt is not None and not np.may_share_memory(as_plain(made), as_plain(self)):
            return opaque_call(np.array, (self,), {"order": "C"}).reshape(*shape, **settings)
        return made

    def astype(self, dtype: Any, *, copy: bool = True) -> Any:  # type: ignore[override]
        """The array in another dtype, recorded as a call of cast()."""
        return self if self.dtype == dtype and not copy else opaque_call(cast, (self, np.dtype(dtype)))

    def take(self, indices: Any, axis: Any = None, out: Any = None, mode: Any = "raise") -> Any:  # type: ignore[override]
        """np.take of the array."""
        if out is not None or mode != "raise" or not current().apart:
            raise NotInlinable
        return recorded(np.take, self, indices, axis=axis)

    def ravel(self, order: Any = "C") -> Any:
        """A view, or a recorded copy as a vector."""
        return self.reshape(-1) if order == "C" and current().apart else self._escapes()

    def copy(self, order: Any = "C") -> Any:
        """A copy, recorded where rules are taken apart."""
        if not current().apart:
            raise NotInlinable
        return opaque_call(np.array, (self,), {"order": order})

    def sum(self, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: bool = False, **settings: Any) -> Any:  # type: ignore[override]
        """np.add.reduce of the array."""
        if out is not None or settings:
            raise NotInlinable
        return np.add.reduce(self, axis=axis, dtype=dtype, keepdims=keepdims)  # type: ignore[call-overload]

    def mean(self, axis: int) -> Any:  # type: ignore[override]
        """The sum along one dimension over its size."""
        return np.add.reduce(self, axis=axis) / self.dtype.type(self.shape[axis])

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
        apart = current().apart
        if apart and function in (np.shape, np.ndim, np.size, np.result_type):
            return function(*[as_plain(a) for a in args], **kwargs)
        own = vars(NUMPY).get(function.__name__) if apart and function not in VIEWS else None
        if own is not None:
            return own(*args, **kwargs)
        if function not in VIEWS or (kwargs and not apart):
            raise NotInlinable
        made = function(*[as_plain(a) for a in args], **kwargs)
        if not isinstance(made, np.ndarray) or not isinstance(args[0], Watched) or (made.size and not np.may_share_memory(
                made, as_plain(args[0]))):
            raise NotInlinable
        return made.view(Watched)                    # a view: of no call

    def _escapes(self, *args: Any, **kwargs: Any) -> Any:
        raise NotInlinable

    item = tolist = tobytes = __bool__ = __float__ = __int__ = __index__ = __complex__ = _escapes
    fill = sort = put = itemset = dot = argsort = partition = choose = _escapes
    compress = cumsum = cumprod = std = var = nonzero = repeat = searchsorted = trace = _escapes
    ctypes = property(_escapes)
    __array_interface__ = property(_escapes)


# --- calls of kernels ---------------------------------------------------------------------------------------------------

def instrumented(function: Any) -> Any:
    """A copy of one of this package's functions that observes the calls of other such functions; other callables as they
    are."""
    function = IN_PYTHON.get(function, function) if current().apart else function
    if not is_internal(function):
        return function
    copies = current().copies
    copy = copies.get(function)
    if copy is None:
        namespace = {**function.__globals__, INSTRUMENTED: True}
        for name in names_in(function.__code__):
            if name in namespace:
                namespace[name] = substitute(namespace[name])
        cells = tuple([types.CellType(substitute(cell.cell_contents)) for cell in function.__closure__ or ()])
        copy = types.FunctionType(function.__code__, namespace, function.__name__, function.__defaults__, cells)
        copy.__kwdefaults__ = function.__kwdefaults__
        copies[function] = copy
    return copy


def substitute(value: Any) -> Any:
    """The value of a global name in an instrumented function: functions and Operations of this package are observed. In a
    rule that is taken apart there are no accelerators, and NumPy's functions of arrays are recorded."""
    if hasattr(value, "batched") and callable(getattr(value, "forward", None)) and not isinstance(value, type):
        return functools.partial(observed_call, value.forward)       # an operation of one input, which may be compiled
    if is_internal(value):
        copies = current().copies
        observed: Any = copies.get((value,))         # one for each: rules compare functions
        if observed is None:
            observed = copies[value,] = functools.partial(observed_call, value)
            observed.__name__ = value.__name__
        return observed
    if type(value) is dict and any(map(is_internal, value.values())):
        return {key: substitute(rule) for key, rule in value.items()}
    if isinstance(value, type) and issubclass(value, Operation):
        rules = {"forward": value.forward, "backward": value.backward} if current().apart else {}
        return types.SimpleNamespace(apply=functools.partial(observed_apply, value), node=value.node,
                                     **{name: functools.partial(observed_call, rule) for name, rule in rules.items()})
    if isinstance(value, types.MethodType) and value.__name__ == "apply" and isinstance(value.__self__, type) and (
            issubclass(value.__self__, Operation)):
        return functools.partial(observed_apply, value.__self__)
    if current().apart:
        if value is np:
            return NUMPY
        if isinstance(value, Accelerator):
            return DECLINED
        if isinstance(value, types.ModuleType) and value.__name__.startswith(KERNELS):
            return Observed(value)
    return value


class Observed:
    """A module of kernels as rules see it."""

    def __init__(self, module: types.ModuleType) -> None:
        self._module = module

    def __getattr__(self, name: str) -> Any:
        return substitute(getattr(self._module, name))


class Declined:
    """Any accelerator as a rule that is taken apart sees it: there is none."""

    library = None

    def for_size(self, size: int) -> None:
        """None: NumPy does the work."""


DECLINED = Declined()


# --- NumPy as rules see it ----------------------------------------------------------------------------------------------

class Numpy(types.ModuleType):
    """The module numpy in a rule that is taken apart: its functions of Watched arrays are recorded as calls."""

    def __init__(self) -> None:
        super().__init__("numpy")
        for name in RECORDED:
            setattr(self, name, functools.partial(recorded, getattr(np, name)))
        for name in ("zeros", "zeros_like", "empty", "empty_like", "full", "full_like", "ones", "ones_like"):
            setattr(self, name, functools.partial(filled, getattr(np, name)))
        self.asarray = self.asanyarray = asarray
        self.ascontiguousarray = contiguous
        self.copyto = copyto
        self.reshape = reshape
        self.broadcast_arrays = broadcast_arrays
        self.bincount = bincount
        for name, ufunc in REDUCED.items():
            setattr(self, name, functools.partial(reduced, ufunc))

    def __getattr__(self, name: str) -> Any:
        return getattr(np, name)


RECORDED = """take where concatenate stack clip cumsum repeat tile roll flip einsum tensordot dot take_along_axis array copy
    vstack hstack diff trace outer argmax argmin argsort sort vdot""".split()
REDUCED = {"sum": np.add, "prod": np.multiply, "max": np.maximum, "min": np.minimum, "amax": np.maximum, "amin": np.minimum,
           "any": np.logical_or, "all": np.logical_and}


def reduced(ufunc: np.ufunc, x: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: bool = False,
            **settings: Any) -> Any:
    """np.sum, np.max and their like."""
    if out is not None:
        raise NotInlinable
    return ufunc.reduce(x, axis=axis, dtype=dtype, keepdims=keepdims, **settings)


def recorded(function: Callable[..., Any], *args: Any, **settings: Any) -> Any:
    """A function of NumPy, recorded as one call if it gets a Watched array."""
    if not any(map(holds_watched, (*args, *settings.values()))):
        return function(*args, **settings)
    out = settings.pop("out", None)
    if out is None:
        return opaque_call(function, args, settings)
    if isinstance(out, Watched):
        raise NotInlinable
    call = Call(function, tuple(map(operand, args)), settings)           # in the order of memory of `out`
    current().append(call, function(*map(as_plain, args), **settings, out=out))
    return out.view(Watched)


def asarray(x: Any, dtype: Any = None, **settings: Any) -> Any:
    """np.asarray, which keeps the class of Watched arrays."""
    if isinstance(x, Watched):
        return x if dtype is None or x.dtype == dtype else opaque_call(cast, (x, np.dtype(dtype)))
    return np.asarray(x, dtype, **settings)


def contiguous(x: Any, dtype: Any = None) -> Any:
    """np.ascontiguousarray: a copy is recorded."""
    if not isinstance(x, Watched):
        return np.ascontiguousarray(x, dtype)
    x = asarray(x, dtype)
    return x if as_plain(x).flags.c_contiguous else opaque_call(np.array, (x,), {"order": "C"})


def reshape(x: Any, shape: Any) -> Any:
    """np.reshape: a copy is recorded."""
    return x.reshape(shape)


def broadcast_arrays(*arrays: Any) -> tuple[Any, ...]:
    """np.broadcast_arrays, whose results are views."""
    shape = np.broadcast_shapes(*[np.shape(as_plain(x)) for x in arrays])
    return tuple([np.broadcast_to(x, shape) for x in arrays])


def filled(function: Callable[..., Any], *args: Any, **settings: Any) -> Any:
    """np.zeros, np.empty and their like: an array that the rule may write to."""
    made = function(*[as_plain(x) for x in args], **{name: as_plain(x) for name, x in settings.items()})
    if made.dtype.kind not in "fiub":
        return made
    number = 0 if "empty" in function.__name__ or not made.size else made.flat[0].item()
    current().append(Call(fill, (number,), label="full"), made)
    return made.view(Watched)


def bincount(index: Any, minlength: int) -> Any:
    """np.bincount of an array of known places."""
    if not isinstance(index, Watched):
        return np.bincount(index, minlength=minlength)
    made = filled(np.zeros, minlength, np.int64)
    put_at(made, "add", 1, index)
    return made


def parts_of(index: Any, ndim: int) -> tuple[Any, ...]:
    """The parts of an index, one a dimension: slices, integers and arrays of integers."""
    parts = index if isinstance(index, tuple) else (index,)
    dots = [n for n, i in enumerate(parts) if i is ...]
    if len(dots) > 1 or any(i is None or (isinstance(i, np.ndarray) and i.dtype.kind == "b") for i in parts):
        raise NotInlinable
    for n in dots:
        parts = (*parts[:n], *[slice(None)] * (ndim - len(parts) + 1), *parts[n + 1:])
    return parts


def put_at(target: Any, name: str, value: Any, index: Any) -> None:
    """target[index] = value, or combined with it by the ufunc `name` one by one, of an array that the rule made."""
    if not current().apart or not isinstance(target, Watched):
        raise NotInlinable
    opaque_call(update, (target, name, value, *parts_of(index, target.ndim)))


def copyto(target: Any, source: Any, casting: Any = "same_kind", where: Any = True) -> None:
    """np.copyto to an array that the rule made."""
    if not isinstance(target, Watched):
        if any(map(holds_watched, (source, where))):
            raise NotInlinable
        return np.copyto(target, source, casting, where)
    if not target.size:
        return None
    args = writable(target), operand(source)
    mask = {} if where is True else {"where": operand(where)}
    np.copyto(as_plain(target), as_plain(source), casting, as_plain(where))
    current().append(Call(np.copyto, args, {"casting": casting, **mask}, label="copyto"), None)
    return None


NUMPY = Numpy()


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
    if not any(map(holds_watched, (*args, *settings.values()))):
        return function(*args, **settings)
    attempt = current()
    if attempt.apart and function in ANSWERS:
        return ANSWERS[function]
    if attempt.apart and function in CHECKS:
        check = Call(function, tuple([operand(x) for x in args]))
        check.checks = True
        return attempt.append(check, None)
    if attempt.apart and function in OF_LAYOUT:
        return function(*map(as_plain, args))
    if attempt.apart and function in REPLACED:
        return instrumented(REPLACED[function])(*args)
    if attempt.apart and function in LIBRARY:
        return library_call(function, args)
    if attempt.apart and function in WHOLE:
        return opaque_call(function, args, settings)
    if not function.__module__.startswith(KERNELS):
        return instrumented(function)(*args, **settings)
    if attempt.apart and function.__annotations__.get("return") == "None":
        return instrumented(function)(*args, **settings)
    if function.__annotations__.get("return") != "None":     # a kernel that writes to an argument would do so twice
        mark = attempt.mark()
        with contextlib.suppress(NotInlinable, TypeError, ValueError, AttributeError, IndexError):
            made = instrumented(function)(*args, **settings)
            if isinstance(made, Watched) or (attempt.apart and not isinstance(made, np.ndarray)):
                return made                          # taken apart, also if it declines (None) or gives several arrays
        attempt.undo(mark)
    return opaque_call(function, args, settings)


def observed_apply(operation: type[Operation], *args: Any, **settings: Any) -> Any:
    """operation.apply() within a rule, where it is forward on arrays."""
    if not any(isinstance(x, Watched) for x in args):
        return operation.apply(*args, **settings)
    if any(x.dtype.kind == "V" for x in args if isinstance(x, np.ndarray)):
        raise NotInlinable                                         # bfloat16 is computed in float32
    return instrumented(operation.forward)(operation.node(), *args, **settings)


def holds_watched(x: object) -> bool:
    """Whether an argument is a Watched array, or a list or tuple with one."""
    return isinstance(x, Watched) or (isinstance(x, (tuple, list)) and any(map(holds_watched, x)))


def opaque_call(function: Callable[..., Any], args: tuple[Any, ...],
                settings: Mapping[str, Any] = MappingProxyType({})) -> Any:
    """Record a kernel as one call. It returns a new array, or writes to its first argument and returns None."""
    attempt = current()
    while args and args[-1] is None and not settings:        # out=None, which a replay may replace
        args = args[:-1]
    call = Call(function, tuple([operand(x) for x in args]), {  # out=: new memory of the rule, whose layout the result has
        name: operand(x) for name, x in settings.items() if name != "out" or isinstance(x, Watched)})
    made = function(*[as_plain(x) for x in args], **{name: as_plain(x) for name, x in settings.items()})
    if isinstance(made, np.generic) and attempt.apart:
        made = np.asarray(made)
    if made is None and not attempt.owns(call.args[0]):      # a value of the step: the rule would write to it twice
        raise NotInlinable
    if made is not None and (not isinstance(made, np.ndarray) or attempt.lookup(made) is not None):
        raise NotInlinable                                         # several arrays, no array, or one of its arguments
    call.out = ", out={}" if made is not None and function in TAKES_OUT and made.flags.c_contiguous and not settings else ""
    attempt.append(call, made)
    return None if made is None else made.view(Watched)


def library_call(function: Callable[..., Any], args: tuple[Any, ...]) -> Any:
    """Record a kernel of a library as one call that primitives.py knows; None if the library does not take the arrays."""
    attempt = current()
    for x in args:
        if type(x) is np.ndarray and attempt.lookup(x) is None:          # of the rule's own, which the library may write to
            attempt.append(Call(np.array, (x.copy(),)), x)
    operands = tuple([x if isinstance(x, WindowGeometry) else operand(x) for x in args])
    made = function(*map(as_plain, args))
    found = {id(a): a for a in arrays_in(made)}
    new = [a for a in found.values() if attempt.lookup(a) is None]
    if new:
        attempt.append(Call(function, operands), *new)
    return watched_as(made, {key: a.view(Watched) for key, a in found.items()})


def watched_as(made: Any, found: dict[int, Any]) -> Any:
    """A kernel's result with its arrays replaced by those found by id."""
    return tuple([watched_as(x, found) for x in made]) if isinstance(made, tuple) else found.get(id(made), made)


def as_plain(x: Any) -> Any:
    """A Watched array as a plain np.ndarray, also in tuples and lists; anything else as it is."""
    if isinstance(x, (tuple, list)) and holds_watched(x):
        return type(x)([as_plain(item) for item in x])
    return x.view(np.ndarray) if isinstance(x, Watched) else x


def is_view(index: Any) -> bool:
    """Whether an index of these parts gives a view: slices and None; where rules are taken apart also integers and `...`."""
    if not isinstance(index, tuple):
        index = (index,)
        if not current().apart:
            return False
    more = (int, type(...)) if current().apart else ()
    return all(i is None or isinstance(i, (slice, *more)) for i in index)


def operand(x: Any) -> Any:
    """The operand of a recorded call: the Value of an array; constants and numbers as they are."""
    if isinstance(x, np.ndarray):
        attempt = current()
        if not x.size and attempt.apart:             # it has no elements to be found by
            return as_plain(x)
        value = attempt.lookup(as_plain(x))
        if value is None and (isinstance(x, Watched) if attempt.apart else x.flags.writeable or x.base is not None):
            raise NotInlinable
        # a read-only constant, or one that a rule made of constants: compare() checks that it is one
        return x if value is None else value
    if type(x) in (tuple, list) and current().apart:
        return type(x)([operand(item) for item in x])
    if x is not None and type(x) not in PLAIN and not isinstance(x, (np.generic, np.dtype, TensorDType)) and not (
            current().apart and (isinstance(x, (str, slice)) or x is ...)):
        raise NotInlinable
    return x


def writable(x: Watched) -> Any:
    """The Value of an array that the rule made, which it may write to: it would write to a value of the step twice."""
    value = operand(x)
    if not current().owns(value):
        raise NotInlinable
    return value


def watched_values(saved: Any, attempt: Attempt) -> Any:
    """Saved values of a rule, arrays among them as Watched arrays, except for constants of the rule."""
    if isinstance(saved, (tuple, list)):
        return tuple([watched_values(v, attempt) for v in saved])
    known = isinstance(saved, np.ndarray) and (not attempt.apart or not saved.size or attempt.lookup(saved) is not None)
    return saved.view(Watched) if known else saved


def arrays_in(saved: Any) -> list[Array]:
    """All arrays among the saved values of a rule."""
    if isinstance(saved, (tuple, list)):
        return [array for v in saved for array in arrays_in(v)]
    return [saved] if isinstance(saved, np.ndarray) else []
