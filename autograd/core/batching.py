"""The tensors inside vmap(), which hold a batch of samples for a function written for one sample, and their operations.

A Batched tensor has the shape of one sample; its `value` is a Tensor of all samples along a first dimension. While a thread
is in vmap(), operations pass their calls to dispatch() (spans.call). A call with a Batched tensor uses the operation's rule,
`batched(level, call, args, settings)`, which calls operations on the values; the results are Batched again. Rules are beside
the operations; most are one of the family rules below. An operation without a rule is called once per sample.

The only graph is that of the values. Since samples do not depend on each other, the gradients of a batch are an ordinary
backward pass through it, and derivatives inside vmap() need no rules of their own. The tensors that a function
differentiates must have their own dimension of samples for this: see Level.spread().

Nested vmap() calls nest Batched tensors; the outer call's dimension comes first in memory.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from types import MethodDescriptorType
from typing import Any, NoReturn

import numpy as np

from ..base.dtypes import result_type
from ..base.errors import warn_user
from ..base.hidden import Hidden, NeedsLoop
from .backward import StackGradients
from .operation import Cast, Conj, Expand, Join, SumTo
from .tensor import Tensor, TensorBase, result, start

Call = Callable[..., Any]
Args = tuple[Any, ...]
Settings = dict[str, Any]
ndarray = np.ndarray
ARRAYS = (TensorBase, np.ndarray, Hidden)             # values with dimensions
of_methods: dict[Any, Call] = {}                     # rules of NumPy's methods, which take no attributes
said: set[str] = set()                               # operations already warned about

MSG_ENDED = "vmap: {what} of a tensor of a vmap() call that has ended: return tensors from the function, don't keep them"
MSG_ITEM = ("vmap: It looks like you're calling {what} on a Tensor. We don't support vmap over calling {what} on a Tensor: "
            "a batch has a value for each sample. Use operations on tensors, or call the function for each sample.")
MSG_BRANCH = ("vmap: It looks like you're attempting to use a Tensor in some data-dependent control flow: samples of a "
              "batch may go different ways. Use where(), or call the function for each sample.")


class Here(threading.local):
    """The innermost vmap() call that this thread is in."""

    level: Level | None = None


here: Here = Here()


class Batched(Tensor):
    """A tensor inside vmap(): one sample to the function, all samples in `value`."""

    @property
    def value(self) -> Tensor:
        """A Tensor of all samples."""
        return self.array.value                      # type: ignore[no-any-return]

    @property
    def requires_grad(self) -> bool:
        """Whether the samples do."""
        return self.value.requires_grad

    @requires_grad.setter
    def requires_grad(self, flag: bool) -> None:
        raise RuntimeError("You are attempting to call Tensor.requires_grad_() inside of a function being transformed by "
                           "vmap. This is unsupported: use grad(), vjp() or jacrev() of autograd.func, or set it outside")

    @property
    def is_leaf(self) -> bool:
        """Whether no operation made the samples."""
        return self.value.is_leaf

    @property
    def grad_fn(self) -> Any:
        """The node that made the samples."""
        return self.value.grad_fn

    def detach(self) -> Tensor:
        """The same samples without their graph."""
        return self.array.tensor()                   # type: ignore[no-any-return]

    def item(self) -> NoReturn:
        """Refused: each sample has its own."""
        raise RuntimeError(MSG_ITEM.format(what=".item()"))

    def tolist(self) -> NoReturn:
        """Refused: each sample has its own."""
        raise RuntimeError(MSG_ITEM.format(what=".tolist()"))

    def numpy(self, *, force: bool = False) -> NoReturn:
        """Refused: each sample has its own."""
        raise RuntimeError(MSG_ITEM.format(what=".numpy()"))

    def __index__(self) -> NoReturn:
        raise RuntimeError(MSG_ITEM.format(what="index()"))

    def __contains__(self, value: Any) -> NoReturn:
        raise RuntimeError(MSG_BRANCH)

    def __bool__(self) -> NoReturn:
        raise RuntimeError(MSG_BRANCH)

    def __repr__(self) -> str:
        return f"Batched({self.array.level.size} samples, value={self.value!r})"


class Level:
    """One call of vmap()."""

    def __init__(self, size: int, randomness: str) -> None:
        self.size = size
        self.randomness = randomness
        self.outer = here.level
        self.depth: int = 1 if self.outer is None else self.outer.depth + 1
        self.open = True
        self.paused = False                          # while a function is called once per sample
        self.known: dict[Any, str] = {}              # the functions that have to be, with the reason
        self.watch: Any = None                       # the interceptor of the function's other calls, see transforms/vmap.py

    def has(self, x: Any) -> bool:
        """Whether x is a batch of this level, a Tensor or the array of one."""
        kind = x.__class__
        return bool((kind is Batched and x.array.level is self) or (kind is Hidden and x.level is self))

    def raw(self, x: Any) -> Any:
        """All samples of a batch, along the first dimension; other values unchanged."""
        if x.__class__ is Batched and x.array.level is self:
            return x.array.value
        if x.__class__ is Hidden and x.level is self:
            return x.value.array
        return x

    def front(self, x: Any) -> Any:
        """All samples of x; if x is not a batch, x broadcast over the samples without a copy. Numbers unchanged."""
        if self.has(x):
            return self.raw(x)
        if isinstance(x, Tensor):
            return Expand.apply(x, shape=(self.size, *x.shape))
        if x.__class__ is Hidden:                    # of an outer level
            return self.front(x.tensor()).array
        return np.broadcast_to(x, (self.size, *x.shape)) if isinstance(x, ndarray) else x

    def batch(self, x: Any) -> Any:
        """x as a batch: a Tensor or an array without samples is broadcast."""
        return x if self.has(x) or not isinstance(x, ARRAYS) else self.wrapped(self.front(x))

    def aligned(self, x: Any, ndim: int) -> Any:
        """The samples of a batch with `ndim` dimensions each, so that they broadcast as one sample does."""
        if not self.has(x):
            return x
        value = self.raw(x)
        missing = ndim + 1 - value.ndim
        return value if missing <= 0 else value.reshape((self.size, *(1,) * missing, *value.shape[1:]))

    def wrapped(self, value: Any) -> Any:
        """A Tensor, or each Tensor of a tuple, as a batch; arrays as arrays, None unchanged."""
        if isinstance(value, TensorBase):
            shape = value.array.shape
            out: Any = TensorBase.__new__(Batched)
            start(out, Hidden(self, value, shape[1:], value.array.dtype))
            return out
        if isinstance(value, (tuple, list)):
            return type(value)([self.wrapped(one) for one in value])
        return self.wrapped(result(value)).array if isinstance(value, (ndarray, Hidden)) else value

    def spread(self, x: Tensor) -> Tensor:
        """x with a dimension of samples for this level and each outer one, outermost first; broadcast where it has none."""
        if self.has(x):
            return x.array.value if self.outer is None else self.outer.spread(x.array.value)  # type: ignore[no-any-return]
        inner = x if self.outer is None else self.outer.spread(x)
        lead = self.depth - 1
        shape = inner.shape
        inner = inner.reshape((*shape[:lead], 1, *shape[lead:]))
        return Expand.apply(inner, shape=(*shape[:lead], self.size, *shape[lead:]))    # type: ignore[no-any-return]

    def gathered(self, x: Tensor) -> Tensor:
        """A Batched tensor of a result of spread(), or of a gradient of it."""
        return self.wrapped(x if self.outer is None else self.outer.gathered(x))       # type: ignore[no-any-return]

    def refusal(self, what: str) -> BaseException:
        """The exception to raise where the samples themselves are needed: a request to loop, or an error after the call."""
        return NeedsLoop(self, what) if self.open else RuntimeError(MSG_ENDED.format(what=what))


def within(level: Level | None, x: Any, outwards: Callable[[Level, Tensor], Tensor]) -> Any:
    """outwards(level, x) if x may be a batch of deeper levels: apply it to their values and exchange the dimensions."""
    if level is None:
        return x
    if x.__class__ is Batched and x.array.level.depth > level.depth:
        own = x.array.level
        if outwards is Level.spread:
            return own.wrapped(within(level, x.value, outwards).movedim(level.depth, 0))
        return own.wrapped(within(level, x.value.movedim(0, level.depth), outwards))
    return outwards(level, x)


# --- calls ------------------------------------------------------------------------------------------------------------

def level_of(args: Sequence[Any], settings: Settings | None) -> Level | None:
    """The deepest level that a batch among the arguments is of."""
    found: Any = None
    for x in (*args, *settings.values()) if settings else args:
        kind = x.__class__
        if kind is Batched or kind is Hidden:
            level = x.array.level if kind is Batched else x.level
            if found is None or level.depth > found.depth:
                found = level
        elif kind is tuple or kind is list:
            level = level_of(x, None)
            if level is not None and (found is None or level.depth > found.depth):
                found = level
    return found


def dispatch(function: Call, args: Args, settings: Settings | None) -> Any:
    """The result of an operation's call with batches, or NotImplemented if it has none."""
    level = level_of(args, settings)
    if level is None:
        return NotImplemented
    return run(level, function, getattr(function, "__self__", function), args, settings or {})


def run(level: Level, call: Call, owner: Any, args: Args, settings: Settings) -> Any:
    """call(*args, **settings) by the rule of its owner, else once per sample."""
    if not level.open:
        raise RuntimeError(MSG_ENDED.format(what=name_of(owner)))
    if settings.get("out") is not None:
        raise RuntimeError(f"vmap: {name_of(owner)}(out=) is not supported inside vmap; use the result")
    rule = getattr(owner, "batched", None) or of_methods.get(owner)
    inner, here.level = here.level, level.outer
    try:
        out = NotImplemented if rule is None else rule(level, call, args, settings)
        if out is NotImplemented:
            warn_of(name_of(owner))
            out = looped(level, call, args, settings)
        return level.wrapped(out)
    finally:
        here.level = inner


def name_of(owner: Any) -> str:
    """The name of an operation."""
    return str(getattr(owner, "__name__", None) or type(owner).__name__)


def warn_of(name: str) -> None:
    """Warn, once for each operation, that it is called once per sample."""
    if name not in said:
        said.add(name)
        warn_user(f"vmap: no batched rule for '{name}': it is called for each sample, one after the other")


def looped(level: Level, call: Call, args: Args, settings: Settings) -> Any:
    """call(*args, **settings) once per sample; the results are stacked."""
    split: dict[int, Any] = {}

    def sample(x: Any, number: int) -> Any:
        if x.__class__ is tuple or x.__class__ is list:
            return type(x)([sample(one, number) for one in x])
        if not level.has(x):
            return x
        if id(x) not in split:
            value = level.raw(x)
            split[id(x)] = value.unbind(0) if isinstance(value, Tensor) else value
        return split[id(x)][number]

    outs = [call(*[sample(x, number) for x in args], **{name: sample(x, number) for name, x in settings.items()})
            for number in range(level.size)]
    return side_by_side(level, outs)


def side_by_side(level: Level, outs: list[Any]) -> Any:
    """Stack the results of calls on single samples along a first dimension."""
    first = outs[0]
    if isinstance(first, (tuple, list)):
        columns = [side_by_side(level, list(column)) for column in zip(*outs, strict=True)]
        return columns if isinstance(first, list) else tuple(columns)
    if isinstance(first, Tensor):
        return StackGradients.apply(*outs)
    if isinstance(first, (ndarray, np.generic, Hidden)):
        return StackGradients.apply(*[result(one) for one in outs]).array
    if all(one == first for one in outs):
        return first
    raise level.refusal(f"a function that returned {type(first).__name__}s")


def maps(rule: Call) -> Call:
    """Declare the rule of a function of arrays; used below @primitive or @shortcut."""
    def declared(function: Any) -> Any:
        if isinstance(function, MethodDescriptorType):
            of_methods[function] = rule
        else:
            function.batched = rule
        return function
    return declared


# --- rules of families ------------------------------------------------------------------------------------------------

def elementwise(level: Level, call: Call, args: Args, settings: Settings) -> Any:
    """The rule of elementwise operations that broadcast."""
    every = (*args, *settings.values())
    ndim = max([x.ndim for x in every if isinstance(x, ARRAYS)])
    if not getattr(getattr(call, "__self__", None), "mixes", True):
        args = tuple([level.batch(x) for x in args])   # the gradients of such an Operation have the shape of its result
    operands = [level.aligned(x, ndim) for x in args]
    if len(args) == 2 and isinstance(args[0], TensorBase) and isinstance(args[1], TensorBase):
        a, b = args[0].array, args[1].array
        if a.dtype != b.dtype and a.ndim != b.ndim and not (a.ndim and b.ndim):
            dtype = result_type(a, b)                # of samples: 0-d tensors have a lower priority, a batch of them has not
            operands = [x if x.dtype == dtype else Cast.apply(x, dtype=dtype) for x in operands]
    return call(*operands, **{name: level.aligned(x, ndim) for name, x in settings.items()})


def shifted(value: Any) -> Any:
    """Convert a dimension of a sample, or several, to dimensions of the batch."""
    if isinstance(value, (tuple, list)):
        return tuple([shifted(one) for one in value])
    return value if value is None else value + 1


def along(*dims: str, shape: str = "") -> Call:
    """The rule of operations on dimensions that the settings `dims` name, counted from the front; `shape`: the setting that
    is a shape."""
    def rule(level: Level, call: Call, args: Args, settings: Settings) -> Any:
        given = {name: shifted(x) if name in dims else (level.size, *x) if name == shape and x is not None else level.raw(x)
                 for name, x in settings.items()}
        return call(*[level.front(x) for x in args], **given)
    return rule


def placed(*dims: int, shape: int = -1) -> Call:
    """along() for declared operations: the indices of the arguments that are dimensions, and of the one that is a shape."""
    def rule(level: Level, call: Call, args: Args, settings: Settings) -> Any:
        return call(*[level.raw(x) if not number else shifted(x) if number in dims else
                      (level.size, *x) if number == shape else x for number, x in enumerate(args)], **settings)
    return rule


def leading(level: Level, call: Call, args: Args, settings: Settings) -> Any:
    """The rule of operations on the last dimensions, such as matrices, with any number of others before them."""
    ndim = max([x.ndim for x in args if isinstance(x, ARRAYS)])
    return call(*[level.aligned(level.batch(x), ndim) for x in args], **settings)


def merged(x: Any) -> Any:
    """Samples of batches as one batch: (size, n, ...) -> (size * n, ...)."""
    return x.reshape((x.shape[0] * x.shape[1], *x.shape[2:]))


def samples(*shared: int, data: tuple[str, ...] = ()) -> Call:
    """The rule of operations on the samples of a batch, one by one, along dimension 0 of each tensor and of the arrays that
    are the settings `data`, but not of the arguments `shared`: where these are batches, it is NotImplemented."""
    def rule(level: Level, call: Call, args: Args, settings: Settings) -> Any:
        if any(level.has(args[number]) for number in shared if number < len(args)):
            return NotImplemented
        counts = [x.shape[0] for number, x in enumerate(args) if level.has(x)]
        given = [x if number in shared or not isinstance(x, ARRAYS) else merged(level.front(x))
                 for number, x in enumerate(args)]
        settings = {name: merged(level.front(x)) if name in data and x is not None else x for name, x in settings.items()}
        return split_again(level, call(*given, **settings), counts[0] if counts else None)
    return rule


def split_again(level: Level, out: Any, count: int | None) -> Any:
    """Undo merged() for a result, or for each of several."""
    if isinstance(out, tuple):
        return tuple([split_again(level, one, count) for one in out])
    count = out.shape[0] // level.size if count is None else count
    return out.reshape((level.size, count, *out.shape[1:]))


def whole(level: Level, call: Call, args: Args, settings: Settings) -> Any:
    """The rule of functions of arrays that may be called with all samples at once."""
    return call(*[level.raw(x) for x in args], **{name: level.raw(x) for name, x in settings.items()})


def _sum_to(level: Level, call: Call, args: Args, settings: Settings) -> Any:
    g, shape = args[0], settings["shape"]
    kept = (level.size, *(1,) * (g.ndim - len(shape)), *shape)
    return call(level.raw(g), shape=kept).reshape((level.size, *shape))


def _expand(level: Level, call: Call, args: Args, settings: Settings) -> Any:
    shape = settings["shape"]
    return call(level.aligned(args[0], len(shape)), shape=(level.size, *shape))


def _stack(level: Level, call: Call, args: Args, settings: Settings) -> Any:
    return call(*[level.front(x) for x in args]).movedim(0, 1)


# the operations of the core itself
for _operation, _rule in ((Cast, elementwise), (Conj, elementwise), (Join, whole), (SumTo, _sum_to), (Expand, _expand),
                          (StackGradients, _stack)):
    _operation.batched = staticmethod(_rule)
