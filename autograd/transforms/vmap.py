"""vmap: a function of one sample, mapped over a batch. What tensors are inside, and how operations run: core/batching.py."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from types import CellType, FunctionType
from typing import Any, NamedTuple, NoReturn, ParamSpec, TypeVar

from ..base import docstrings as _docstrings
from ..base.dtypes import can_cast
from ..base.hidden import Hidden, NeedsLoop
from ..base.pytree import nested_map, nested_values
from ..core.batching import (
    Batched,
    Level,
    dispatch,
    here,
    level_of,
    looped,
    run,
    side_by_side,
    warn_of,
    whole,
)
from ..core.function import Function
from ..core.interceptors import Interceptor, install, remove, this_thread
from ..core.modes import is_grad_enabled
from ..core.tensor import Tensor
from ..modes.random import get_rng_state, set_rng_state
from ..ops.index import is_basic
from ..ops.pointwise.comparison import equal
from ..ops.shape import cat, expand, movedim, narrow, stack, unbind
from ..spans.spans import count_batching, entered
from ..tensor_api.binding import AUGMENTED, RESHAPING

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")

MSG_RANDOM = ("vmap: called random operation while in randomness error mode. Please either use the 'same' or 'different' "
              "randomness flags on vmap or perform the randomness operation out of vmap")
MSG_SHARED = ("vmap: {name} would write values of samples to a tensor that is the same for all samples: the shape {shape} "
              "has no room for them. Use an operation that is not in-place, or map over that tensor too")


def vmap(func: Callable[Arguments, Result], in_dims: Any = 0, out_dims: Any = 0, randomness: str = "error", *,
         chunk_size: int | None = None) -> Callable[Arguments, Result]:
    """Vectorize func, written for one sample, over a dimension of its arguments.

    func is called once. Its tensors have the shape of one sample, and operations compute all samples at once. An operation
    without a rule for batches is called for each sample, and a function that backpropagates by itself, or whose results
    have a size that depends on values, is called for each sample as a whole; either is said once by a UserWarning."""
    if randomness not in ("error", "different", "same"):
        raise RuntimeError(f"Only allowed values for randomness are 'error', 'different', or 'same'. Got {randomness}")
    checked_chunks(chunk_size, "vmap")
    known: dict[Any, str] = {}                       # which functions had to be called for each sample, and why

    @functools.wraps(func)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        if not isinstance(in_dims, (int, tuple, list)):
            raise ValueError("vmap: expected `in_dims` to be int or a (potentially nested) tuple matching the structure of "
                             f"inputs, got: {type(in_dims)}.")
        dims = _spread(in_dims if isinstance(in_dims, int) else tuple(in_dims), args, "in_dims")
        given = _leaves(args)
        size = _size(given, dims)
        batches = [x if dim is None or dim % x.ndim == 0 else movedim(x, dim, 0) for x, dim in zip(given, dims, strict=True)]
        if chunk_size is None or chunk_size >= size:
            return _placed(*_mapped(func, args, batches, dims, kwargs, size, randomness, known), out_dims, size)
        outs = []
        for begin in range(0, size, chunk_size):
            count = min(chunk_size, size - begin)
            part = [x if dim is None else narrow(x, 0, begin, count) for x, dim in zip(batches, dims, strict=True)]
            outs.append(_mapped(func, args, part, dims, kwargs, count, randomness, known))
        tree = outs[0][0]
        columns = zip(*[values for _, values in outs], strict=True)
        return _placed(tree, [(cat([x for x, _ in column]), True) if column[0][1] else column[0] for column in columns],
                       out_dims, size)
    return wrapper


def checked_chunks(chunk_size: int | None, caller: str) -> None:
    """ValueError unless chunk_size is None or positive."""
    if chunk_size is not None and chunk_size <= 0:
        raise ValueError(f"{caller}: `chunk_size` should be greater than 0.")


# --- arguments and results ----------------------------------------------------------------------------------------------

def _leaves(nested: Any) -> list[Any]:
    return list(nested_values(nested))


def _like(tree: Any, values: Sequence[Any]) -> Any:
    remaining = iter(values)
    return nested_map(lambda _: next(remaining), tree)


def _spread(prefix: Any, tree: Any, what: str) -> list[Any]:
    """For each leaf of the tree what the prefix says of it: one value for all leaves under it, or a tree of values."""
    if not isinstance(prefix, (tuple, list, dict)):
        return [prefix] * len(_leaves(tree))
    if not isinstance(tree, dict if isinstance(prefix, dict) else (tuple, list)) or len(prefix) != len(tree):
        raise ValueError(f"vmap: {what} {prefix!r} does not fit the structure of {type(tree).__name__} it is for")
    pairs = [(prefix[key], tree[key]) for key in tree] if isinstance(prefix, dict) else zip(prefix, tree, strict=True)
    return [value for one, item in pairs for value in _spread(one, item, what)]


def _size(given: Sequence[Any], dims: Sequence[Any]) -> int:
    """How many samples the arguments have."""
    sizes = []
    for x, dim in zip(given, dims, strict=True):
        if dim is None:
            continue
        if not isinstance(x, Tensor):
            raise ValueError(f"vmap: Got in_dim={dim} for an input but the input is of type {type(x)}. We cannot vmap over "
                             "non-Tensor arguments, please use None as the respective in_dim")
        if not -x.dim() <= dim < x.dim():
            raise ValueError(f"vmap: Got in_dim={dim} for some input, but that input is a Tensor of dimensionality "
                             f"{x.dim()} so expected in_dim to satisfy -{x.dim()} <= in_dim < {x.dim()}.")
        sizes.append(x.shape[dim])
    if not sizes:
        raise ValueError("vmap: Expected at least one Tensor to vmap over: every in_dim is None")
    if len(set(sizes)) > 1:
        raise ValueError("vmap: Expected all tensors to have the same size in the mapped dimension, got sizes "
                         f"{sizes} for the mapped dimension")
    return int(sizes[0])


def _placed(tree: Any, values: Sequence[tuple[Any, bool]], out_dims: Any, size: int) -> Any:
    """The results, their samples where out_dims says. values: (tensor, whether it has samples along its first dimension)."""
    dims = _spread(out_dims if isinstance(out_dims, int) or out_dims is None else tuple(out_dims),
                   tree if isinstance(out_dims, int) or isinstance(tree, tuple) else (tree,), "out_dims")
    placed = []
    for (x, mapped), dim in zip(values, dims, strict=True):
        if dim is None:
            if mapped:
                raise ValueError("vmap: can not return a BatchedTensor when out_dim is None: say where its samples are")
            placed.append(x)
            continue
        x = x if mapped else expand(x, (size, *x.shape))
        placed.append(movedim(x, 0, dim) if dim % x.ndim else x)
    return _like(tree, placed)


# --- one call -----------------------------------------------------------------------------------------------------------

def _mapped(func: Callable[..., Any], args: Any, batches: Sequence[Any], dims: Sequence[Any], kwargs: dict[str, Any],
            size: int, randomness: str, known: dict[Any, str]) -> tuple[Any, list[tuple[Any, bool]]]:
    """(what func returned, for each tensor in it: its samples and True, or the one tensor for all and False)."""
    if None in known and size:
        return _stacked(_each(func, args, batches, dims, kwargs, size, randomness))
    level = Level(size, randomness)
    watch = level.watch = Watch()
    level.known = known
    entered()                                        # what another thread's vmap() may have left
    _enter(level)
    try:
        inside = [x if dim is None else level.wrapped(x) for x, dim in zip(batches, dims, strict=True)]
        out = func(*_like(args, inside), **kwargs)
        found = []
        for one in _leaves(out):
            if not isinstance(one, Tensor):
                raise ValueError(f"vmap: `f` must only return Tensors, got type {type(one)}")
            found.append((level.raw(one), level.has(one)))
        return out, found
    except NeedsLoop as reason:
        if reason.level is not level:
            raise
        said = str(reason)
    finally:
        level.open = False
        _leave(level)
    if watch.wrote:
        raise RuntimeError(f"vmap: the function can't be mapped: {said} has no batched rule, and a loop over the samples "
                           "would repeat what it has already written in place. Leave the writes out, or loop by hand")
    if not size:
        raise NotImplementedError(f"vmap: 0 samples, and {said} has no batched rule: what func returns is found by "
                                  "calling it with a sample")
    warn_of(said)
    known[None] = said
    if watch.state is not None:
        set_rng_state(watch.state)
    return _stacked(_each(func, args, batches, dims, kwargs, size, randomness))


def _enter(level: Level) -> None:
    """This thread's operations take batches of the level."""
    count_batching(1, dispatch)
    install(level.watch)
    here.level = level


def _leave(level: Level) -> None:
    """Undo _enter()."""
    here.level = level.outer
    remove(level.watch)
    count_batching(-1, dispatch)


def _each(func: Callable[..., Any], args: Any, batches: Sequence[Any], dims: Sequence[Any], kwargs: dict[str, Any],
          size: int, randomness: str) -> list[Any]:
    """What func returned for each sample."""
    begin = get_rng_state() if randomness != "different" else None
    given = iter([None if dim is None else unbind(x, 0) for x, dim in zip(batches, dims, strict=True)])
    columns = [_column(one, [next(given) for _ in _leaves(one)], size) for one in args]
    outs = []
    for sample in zip(*columns, strict=True):
        if begin is not None and randomness == "same":
            set_rng_state(begin)
        outs.append(func(*sample, **kwargs))
    if begin is not None and randomness == "error" and not equal(begin, get_rng_state()):
        raise RuntimeError(MSG_RANDOM)
    return outs


def _column(tree: Any, leaves: list[Any], size: int) -> Sequence[Any]:
    """One argument of func for each sample. leaves: the samples of each of its leaves; None for what is one for all."""
    if all(samples is None for samples in leaves):
        return [tree] * size
    if isinstance(tree, Tensor):
        return leaves[0]                             # type: ignore[no-any-return]
    columns = [[x] * size if samples is None else samples for x, samples in zip(_leaves(tree), leaves, strict=True)]
    return [_like(tree, sample) for sample in zip(*columns, strict=True)]


def _stacked(outs: list[Any]) -> tuple[Any, list[tuple[Any, bool]]]:
    """_mapped()'s result, of one for each sample."""
    if isinstance(outs[0], Tensor):
        return outs[0], [(stack(outs), True)]
    for one in _leaves(outs):
        if not isinstance(one, Tensor):
            raise ValueError(f"vmap: `f` must only return Tensors, got type {type(one)}")
    return outs[0], [(stack(list(column)), True) for column in zip(*[_leaves(out) for out in outs], strict=True)]


def differentiated(level: Level, func: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """func(*args, **kwargs) for a derivative inside vmap(). Where func has to be called for each sample, it alone is, and a
    backward pass goes through all calls: 0.7 of the time of a loop of derivatives."""
    key = getattr(func, "__code__", func)
    watch = level.watch
    before = watch.wrote, watch.draws
    if key not in level.known:
        try:
            return func(*args, **kwargs)
        except NeedsLoop as reason:
            if reason.level is not level or (watch.wrote, watch.draws) != before or not level.size:
                raise
            level.known[key] = str(reason)
            warn_of(str(reason))
    given = [*_leaves(args), *_leaves(kwargs)]
    batches, dims = [level.raw(x) for x in given], [0 if level.has(x) else None for x in given]
    _leave(level)
    level.paused = True
    try:
        each = iter(_by_sample(func, level, {}) or [func] * level.size)
        outs = _each(lambda *args: next(each)(*args[:-1], **args[-1]), (*args, kwargs), batches, dims, {}, level.size,
                     level.randomness)
        if any(not isinstance(x, Tensor) or level.has(x) for x in _leaves(outs)):
            raise level.refusal(level.known[key])
        out, values = _stacked(outs)
    except NeedsLoop as reason:                      # func has batches elsewhere, in attributes for example
        if reason.level is level:
            level.known.pop(key, None)
        raise
    finally:
        level.paused = False
        _enter(level)
    return _like(out, [level.wrapped(x) for x, _ in values])


def _by_sample(value: Any, level: Level, seen: dict[int, Any]) -> list[Any] | None:
    """For each sample what a value is for it; None if it holds no batches. A function gets a closure and defaults of its own
    for each. seen: the answers by id, None while one is being found."""
    if level.has(value):
        return list(unbind(level.raw(value), 0))
    if not isinstance(value, (FunctionType, functools.partial, list, tuple, dict)):
        return None
    if id(value) in seen:
        return seen[id(value)]                       # type: ignore[no-any-return]
    seen[id(value)] = None
    cells: Sequence[CellType] = ()
    if isinstance(value, FunctionType):
        cells = value.__closure__ or ()
        parts = [*map(_content, cells), value.__defaults__, value.__kwdefaults__]
    else:
        parts = [value.func, value.args, value.keywords] if isinstance(value, functools.partial) else _leaves(value)
    columns = [_by_sample(part, level, seen) for part in parts]
    if all(column is None for column in columns):
        return None
    found = seen[id(value)] = []
    for sample in zip(*[[part] * level.size if column is None else column
                        for part, column in zip(parts, columns, strict=True)], strict=True):
        if isinstance(value, FunctionType):
            own = [cell if column is None and part is not value else CellType(part)
                   for cell, column, part in zip(cells, columns, sample, strict=False)]
            found.append(FunctionType(value.__code__, value.__globals__, value.__name__, sample[-2], tuple(own)))
            found[-1].__kwdefaults__ = sample[-1]
            for cell, part in zip(own, sample, strict=False):
                if part is value:                    # which calls itself
                    cell.cell_contents = found[-1]
        elif isinstance(value, functools.partial):
            found.append(functools.partial(sample[0], *sample[1], **sample[2]))
        else:
            found.append(_like(value, sample))
    return found


def _content(cell: CellType) -> Any:
    """What a variable of a closure is; None before it is assigned."""
    try:
        return cell.cell_contents
    except ValueError:
        return None


class Watch(Interceptor):
    """Sees what a thread in vmap() does besides operations of tensors: functions of arrays, draws, writes. Other events go
    to the interceptor that was there before."""

    sees_calls = True

    def __init__(self) -> None:
        self.beneath: Interceptor = this_thread.call_watcher or Interceptor()
        self.wrote = False                           # to a tensor without samples
        self.state: Any = None                       # of the default generator, before the first draw
        self.draws = 0
        for event in ("shortcut", "computed", "operated", "refuse", "function", "value_read", "grad_assigned", "side_effect",
                      "backward_pass"):
            if type(self).__dict__.get(event) is None:
                setattr(self, event, getattr(self.beneath, event))

    def entered(self) -> bool:
        """Functions are applied by dispatch(), or as they are."""
        return True if type(self.beneath) is Interceptor else self.beneath.entered()

    def refuse(self, reason: str) -> NoReturn:
        """Loop over the samples, unless the interceptor that was there before refuses this."""
        if type(self.beneath) is not Interceptor or here.level is None:
            self.beneath.refuse(reason)
        raise here.level.refusal("a backward pass over local devices")

    def primitive(self, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """A function of arrays: with batches by its rule or for each sample; without, for each sample if it draws and these
        are to differ."""
        level = level_of(args, kwargs) or here.level
        if level is None:
            return self.beneath.primitive(function, args, kwargs)
        before = self.draws

        def call(*args: Any, **kwargs: Any) -> Any:
            return self.primitive(function, args, kwargs)

        if level_of(args, kwargs) is not None:
            if level.randomness == "same":
                call = repeating(call)
            out = run(level, call, function, args, kwargs)
        else:
            here.level = level.outer
            try:
                out = call(*args, **kwargs)
                if self.draws > before and level.randomness == "different":
                    out = level.wrapped(side_by_side(level, [out, *[call(*args, **kwargs) for _ in range(level.size - 1)]]))
            finally:
                here.level = level
        if self.draws > before and level.randomness == "error":
            raise RuntimeError(MSG_RANDOM)
        return out

    def shortcut(self, function: Callable[..., bool], args: tuple[Any, ...]) -> bool:
        """A short way, if all samples go it."""
        level = level_of(args, None)
        if level is None:
            return self.beneath.shortcut(function, args)
        return getattr(function, "batched", None) is whole and self.shortcut(function, tuple([level.raw(x) for x in args]))

    def drawn(self) -> None:
        """Outside of a primitive, which counts, a draw is one for all samples."""
        self.draws += 1
        if self.state is None:
            self.state = get_rng_state()
        if here.level is not None and here.level.randomness != "same":
            if here.level.randomness == "error":
                raise RuntimeError(MSG_RANDOM)
            raise here.level.refusal("a random operation")
        self.beneath.drawn()

    def value_written(self, array: Any, source: Any, index: Any) -> None:
        """Refuse samples written to what is one for all."""
        if type(source) is Hidden or level_of(index if isinstance(index, tuple) else (index,), None) is not None:
            raise RuntimeError(MSG_SHARED.format(name="an in-place operation", shape=list(array.shape)))
        self.wrote = True
        self.beneath.value_written(array, source, index)


def repeating(call: Callable[..., Any]) -> Callable[..., Any]:
    """The call, which draws the same numbers each time."""
    began: list[Any] = []

    def again(*args: Any, **kwargs: Any) -> Any:
        if began:
            set_rng_state(began[0])
        else:
            began.append(get_rng_state())
        return call(*args, **kwargs)
    return again


# --- Functions ----------------------------------------------------------------------------------------------------------

class VmapInfo(NamedTuple):
    """What Function.vmap is handed first."""

    batch_size: int
    randomness: str


def _function_rule(level: Level, call: Any, args: tuple[Any, ...], settings: dict[str, Any]) -> Any:
    """The rule of a user's Function: its own vmap(), if it has one. With generate_vmap_rule it is applied to each sample
    without a word."""
    function = call.__self__
    if function.vmap is Function.vmap:
        return looped(level, call, args, settings) if function.generate_vmap_rule else NotImplemented
    in_dims = tuple([0 if level.has(x) else None for x in args])
    out, out_dims = function.vmap(VmapInfo(level.size, level.randomness), in_dims, *[level.raw(x) for x in args], **settings)
    several = isinstance(out, (tuple, list))
    outs, dims = list(out) if several else [out], _spread(out_dims, out, "out_dims") if several else [out_dims]
    moved = [x if not isinstance(x, Tensor) else level.front(x) if dim is None else movedim(x, dim, 0)
             for x, dim in zip(outs, dims, strict=True)]
    return tuple(moved) if several else moved[0]


Function.batched = staticmethod(_function_rule)      # type: ignore[attr-defined]


# --- writes -------------------------------------------------------------------------------------------------------------

def _in_place(name: str) -> Callable[..., Any]:
    """The in-place method of this name for Batched tensors."""
    plain = name[:-1]

    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        own = self.array.level
        level = level_of((self, *args), kwargs)
        if level is not own:
            raise RuntimeError(MSG_SHARED.format(name=name, shape=list(self.shape)))
        if plain == "copy":
            value = args[0]
        elif plain in ("fill", "zero"):
            value = args[0] if args else 0
        elif hasattr(Tensor, plain):
            recorded = is_grad_enabled() and any(isinstance(x, Tensor) and x.requires_grad for x in (self, *args))
            old = self.clone() if recorded else self  # what is saved for backward may be what is written to
            value = getattr(old, plain)(*args, **kwargs)
        else:
            return _write_each(self, name, lambda x, *args: getattr(x, name)(*args, **kwargs), args)
        return _write(self, value, name)

    method.__name__ = method.__qualname__ = name
    return method


def _write(x: Any, value: Any, name: str) -> Any:
    """The samples of x become those of value."""
    level = x.array.level
    if isinstance(value, Tensor):
        if value.ndim > x.ndim or (name != "copy_" and value.ndim and value.shape != x.shape):
            raise RuntimeError(f"{name}: output with shape {list(x.shape)} doesn't match the broadcast shape "
                               f"{list(value.shape)}")
        if name != "copy_" and not can_cast(value.dtype, x.dtype):
            raise RuntimeError(f"{name}: result type {value.dtype} can't be cast to the desired output type {x.dtype}")
    inner, here.level = here.level, level.outer
    try:
        level.raw(x).copy_(level.aligned(value, x.ndim) if isinstance(value, Tensor) else value)
    finally:
        here.level = inner
    return x


def _write_each(x: Any, name: str, call: Callable[..., Any], args: tuple[Any, ...]) -> Any:
    """call(x, *args), which writes to x, for each sample."""
    level = x.array.level
    before = level.watch.draws
    if level.randomness == "same":
        call = repeating(call)
    inner, here.level = here.level, level.outer
    try:
        value = level.raw(x)
        rest: Any = iter([value.select(0, number) for number in range(level.size)])
        looped(level, lambda *args: (call(next(rest), *args), None)[1], args, {})
    finally:
        here.level = inner
    if level.watch.draws == before:
        warn_of(name)
    elif level.randomness == "error":
        raise RuntimeError(MSG_RANDOM)
    return x


def _set_item(self: Any, index: Any, value: Any) -> None:
    """self[index] = value, of each sample."""
    if level_of(index if isinstance(index, tuple) else (index,), None) is None and is_basic(index, self.shape):
        self[index].copy_(value)
        return
    _write_each(self, "item assignment", lambda x, index, value: x.__setitem__(index, value), (index, value))


def _reshaping(name: str) -> Callable[..., Any]:
    """The in-place form of an operation that gives a view."""
    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        self.array = getattr(self, name)(*args, **kwargs).array
        return self
    return method


def _refused(name: str) -> Callable[..., Any]:
    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        raise RuntimeError(f"vmap: {name}() is not supported inside vmap")
    return method


def _requires_grad(self: Any, requires_grad: bool = True) -> Any:
    self.requires_grad = requires_grad


def bind() -> None:
    """Give Batched its in-place methods."""
    for name in dir(Tensor):
        if name.endswith("_") and not name.endswith("__"):
            setattr(Batched, name, _reshaping(name[:-1]) if name[:-1] in RESHAPING else _in_place(name))
    for name, target in AUGMENTED.items():
        setattr(Batched, name, getattr(Batched, target))
    for name in ("resize_", "resize_as_", "detach_", "register_hook", "register_post_accumulate_grad_hook", "retain_grad"):
        setattr(Batched, name, _refused(name))
    Batched.__setitem__ = _set_item                  # type: ignore[assignment,method-assign]
    Batched.requires_grad_ = _requires_grad          # type: ignore[assignment,method-assign]


bind()


_docstrings.complete(globals(), "transforms", "func.")
