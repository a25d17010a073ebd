"""The part of a Tracer that records calls which make nodes: declared operations, Operations and Functions."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from types import SimpleNamespace
from typing import Any

import numpy as np

from ...core.interceptors import without_watcher
from ...core.operation import Operation, OperationNode
from ...core.tensor import Tensor
from ..checks.state import is_user_code
from ..errors import TraceError
from .attempt import Attempt
from .calls import Array, Call, Location, location
from .inline import Watched, arrays_in, as_plain, instrumented, is_internal, observed_call, substitute, watched_values
from .nodes import FunctionReplay, OperationReplay, apply
from .values import Values

SMALL = 1 << 16                      # elements: for larger arrays the overhead of calling a kernel does not count
DIRECT_ACCESS = {"array", "data", "numpy"}           # attributes of a Tensor that expose its memory


class Forward(Values):
    """Records declared operations, Operations and Functions; see core/primitive.py for the events."""

    def __init__(self, apart: bool = False, first: Any = None) -> None:
        super().__init__(apart, first)
        self._entering = False

    def computed(self, forward: Callable[..., Any], arrays: tuple[Any, ...], inputs: tuple[Any, ...], out: Tensor) -> None:
        """Record a declared operation: out.array = forward(*arrays), the arrays of `inputs`, maybe cast."""
        self._check_modes()
        for x in inputs:
            self.guard(x)
        given = list(arrays)
        for number, (a, x) in enumerate(zip(arrays, inputs)):  # noqa: B905 - settings come after the inputs
            if isinstance(x, Tensor) and isinstance(a, np.ndarray) and a is not x.array and self.find(a) is None:
                cast = Call(np.ndarray.astype, (self.operand(x.array), a.dtype), label="astype")
                self.add(cast, a)
            given[number] = a
        self.compute(forward, tuple(given), out.array)
        self._note_tensors(out)

    def compute(self, forward: Callable[..., Any], args: tuple[Any, ...], made: Array) -> None:
        """Record made = forward(*args): as NumPy calls if possible, else as one call."""
        if self.apart:
            for a in arrays_in(args):                # first of all, so that a view of one is found to be one
                self.operand(a)
        if self.find(made) is not None:
            return                                   # a view of a fixed value, or an array that has a value
        if isinstance(forward, np.ufunc) or not self._inline_call(forward, args, made):
            call = Call(forward, tuple(self.argument(a) for a in args))
            self.add(call, made)

    def _inline_call(self, function: Callable[..., Any], args: tuple[Any, ...], made: Array) -> bool:
        """Try to record a call as the NumPy calls that it makes; whether that was possible."""
        arrays = tuple(a.view(Watched) if isinstance(a, np.ndarray) else a for a in args)
        attempt = Attempt(self)
        out = attempt.run(lambda: observed_call(function, *arrays) if self.apart else instrumented(function)(*arrays))
        if not attempt.reproduces(out, made):
            return False
        attempt.commit([(out, made)])
        return True

    def operated(self, operation: type[Operation], node: OperationNode, args: tuple[Any, ...], arrays: list[Any],
                 settings: dict[str, Any], out: Tensor | tuple[Tensor, ...]) -> None:
        """Record an Operation, whose forward has run on `arrays`."""
        self._check_modes()
        for x in args:
            self.guard(x)
        outs = out if isinstance(out, tuple) else (out,)
        runner = OperationReplay(operation, node)
        if self.apart:
            for a in arrays_in((*arrays,)):          # first of all, so that a view of one is found to be one
                self.operand(a)
        known = [self.find(o.array) if self.apart else self._by_location.get(location(o.array)) for o in outs]
        if self.apart and None not in known and all(o.array.size for o in outs):        # views: of no call
            operation.forward(runner.empty_ctx(), *arrays, **settings)
            runner.inlined = True
        elif None not in known or (len(known) > 1 and not self.apart) or not self._inline_operation(
                operation, runner, arrays, settings, outs):
            values = tuple(self.argument(a) for a in arrays)
            settings = {name: self.argument(v) if isinstance(v, np.ndarray) else v for name, v in settings.items()}
            call = Call(runner.forward, values, settings, label=operation.__name__)
            call.single = not isinstance(out, tuple)
            self.calls.append(call)
            call.outs = [self.value(o.array, call) if k is None else None for o, k in zip(outs, known, strict=True)]
        if any(o.edge is not None and o.edge[0] is node for o in outs):
            self._nodes[node] = runner
        self._note_tensors(outs)

    def _inline_operation(self, operation: type[Operation], runner: OperationReplay, arrays: list[Any],
                          settings: dict[str, Any], outs: tuple[Tensor, ...]) -> bool:
        """Try to record an Operation as the NumPy calls that its forward makes: a small one, if rules are not taken apart.
        Its ctx keeps what this run saved."""
        made = [o.array for o in outs]
        functions = {name: value for name, value in settings.items() if callable(value)}
        if any(not self.apart or not is_internal(getattr(f, "func", f)) for f in functions.values()) or (not self.apart and (
                any(map(holds_array, settings.values()))
                or any(isinstance(a, np.ndarray) and a.size > SMALL for a in (*arrays, *made)))):
            return False
        for a in arrays_in((*arrays, *settings.values())):
            self.operand(a)
        watched = [a.view(Watched) if isinstance(a, np.ndarray) else a for a in arrays]
        attempt = Attempt(self)
        settings = {name: watched_values(value, attempt) if arrays_in(value) else value for name, value in settings.items()}

        def rule() -> Any:
            given = {name: self._observed(f, attempt) for name, f in functions.items()}
            return instrumented(operation.forward)(runner.empty_ctx(), *watched, **{**settings, **given})

        changed = [x.array for f in functions.values() for x in getattr(f, "args", ()) if isinstance(x, Tensor)]
        before = [a.copy() for a in changed]         # the operation itself has run
        got = attempt.run(rule)
        for array, contents in zip(changed, before, strict=True):
            array[...] = contents
        gots = got if isinstance(got, tuple) else (got,)
        ctx = runner.ctx
        if len(gots) != len(made) or not all(map(attempt.reproduces, gots, made)):
            return False
        kept = [ctx.saved] if not self.apart else [ctx.saved, *vars(ctx).values()]
        if not self.apart and any(holds_array(v) for v in vars(ctx).values()):
            return False
        if not all(attempt.is_known(v) for saved in kept for v in arrays_in(saved)):
            return False
        replaced = attempt.commit([*zip(gots, made, strict=True)])
        ctx.saved = plain_saved(ctx.saved, replaced)
        for name, value in vars(ctx).items():
            if arrays_in(value):
                vars(ctx)[name] = plain_saved(value, replaced)
        runner.inlined = True
        for array in changed:
            self._note_write(array)
        return True

    def _observed(self, function: Any, attempt: Attempt) -> Any:
        """A setting that is a function of this package, as a rule sees it. Tensors that it is bound to may be written to."""
        if not isinstance(function, partial):
            return substitute(function)

        def stand_in(x: Any) -> Any:
            if not isinstance(x, Tensor):
                return x
            self.guard(x)
            value = self.operand(x.array)
            attempt.observed.append(value.array)
            return SimpleNamespace(array=value.array.view(Watched), counter=None, edge=None)

        return partial(substitute(function.func), *map(stand_in, function.args), **function.keywords)

    def entered(self) -> bool:
        """Whether apply() is called by function(), below; tested once per call."""
        entering, self._entering = self._entering, False
        return entering

    def function(self, cls: Any, args: tuple[Any, ...], settings: dict[str, Any]) -> Any:
        """Record a Function: by the operations that it calls if it does nothing else, else replays call it again."""
        self._check_modes()
        for x in args:
            self.guard(x)
        if transparent(cls):
            mark = len(self.calls), len(self.values), len(self.outside)
            self._entering = True
            try:
                out = apply(cls, *args, **settings)
                if all(not isinstance(o, Tensor) or self.find(o.array) is not None
                       for o in (out if isinstance(out, tuple) else (out,))):
                    self._note_tensors(out)
                    return out
            except TraceError:
                pass
            finally:
                self._entering = False
            self._rollback(*mark)
        return self._record_function(cls, args, settings)

    def _record_function(self, cls: Any, args: tuple[Any, ...], settings: dict[str, Any]) -> Any:
        with without_watcher():
            out = apply(cls, *args, **settings)
        outs = out if isinstance(out, tuple) else (out,)
        tensors = [o for o in outs if isinstance(o, Tensor)]
        node = next((o.edge[0] for o in tensors if o.edge is not None), None)
        if node is not None and getattr(node, "dirty", None):
            self.refuse(f"{cls.__name__} writes to its inputs (mark_dirty)")
        pinned = [self.operand(self.fixed(x.array)) for x in args if isinstance(x, Tensor)]
        runner = FunctionReplay(cls, args, settings)
        call = Call(runner.forward, (), label=cls.__name__)
        call.pinned = pinned
        call.single = len(tensors) == 1
        known = [self._by_location.get(location(t.array)) if t.array.size else None for t in tensors]
        self.calls.append(call)
        call.outs = [self.value(t.array, call) if k is None else None for t, k in zip(tensors, known, strict=True)]
        if node is not None:
            self._nodes[node] = runner
        self._note_tensors(tuple(tensors))
        return out


def plain_saved(saved: Any, replaced: dict[Location, Array]) -> Any:
    """Saved values as plain arrays, where results of the attempt are replaced by those of the step itself."""
    if isinstance(saved, (tuple, list)):
        return tuple([plain_saved(v, replaced) for v in saved])
    return replaced.get(location(saved), as_plain(saved)) if isinstance(saved, np.ndarray) else saved


def holds_array(value: object) -> bool:
    """Whether an attribute of a ctx is an array or Tensor, or a tuple or list with one."""
    return isinstance(value, (np.ndarray, Tensor)) or (
        isinstance(value, (tuple, list)) and any(map(holds_array, value)))


def transparent(cls: Any) -> bool:
    """Whether a Function may be recorded by the operations that it calls: a library's if it is marked so, a user's if its
    code names none of DIRECT_ACCESS."""
    if not is_user_code(cls.__module__):
        return bool(cls.transparent)
    codes = [getattr(getattr(cls, name), "__code__", None) for name in ("forward", "backward", "setup_context")]
    return all(code is not None and not DIRECT_ACCESS & set(code.co_names) for code in codes)
