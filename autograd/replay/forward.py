"""What the core tells of calls: declared operations, Operations and Functions, written down."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..core.graph import Node
from ..core.primitive import unobserved
from ..core.tensor import Tensor
from .attempt import Attempt
from .calls import OURS, Array, Call, place
from .errors import TraceError
from .inline import Watched, arrays_in, opened, plain
from .nodes import FunctionAgain, OperationAgain, apply
from .values import Values

SMALL = 1 << 16                      # elements: for larger arrays the way to the kernel costs nothing
LEAVES = {"array", "data", "numpy"}                  # attributes of a Tensor that show its memory


class Forward(Values):
    """The part of a Tracer that is told of calls."""

    def __init__(self) -> None:
        super().__init__()
        self._nodes: dict[Node, Any] = {}            # of operations with a ctx: what runs them again
        self._entering = False

    def computed(self, forward: Callable[..., Any], arrays: tuple[Any, ...], inputs: tuple[Any, ...], out: Any) -> None:
        """A declared operation has computed out.array = forward(*arrays); they are those of `inputs`, maybe cast."""
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
        self._new(out)

    def compute(self, forward: Callable[..., Any], args: tuple[Any, ...], made: Array) -> None:
        """made = forward(*args): as ufuncs if it is so simple."""
        if self.find(made) is not None:
            return                                   # a view of what is fixed by now, or nothing new
        if isinstance(forward, np.ufunc) or not self._inlined(forward, args, made):
            call = Call(forward, tuple(self.argument(a) for a in args))
            self.add(call, made)

    def _inlined(self, function: Callable[..., Any], args: tuple[Any, ...], made: Array) -> bool:
        """Try to write a call down as the ufuncs inside it."""
        arrays = tuple(a.view(Watched) if isinstance(a, np.ndarray) else a for a in args)
        attempt = Attempt(self)
        out = attempt.run(lambda: opened(function)(*arrays))
        if not attempt.gives(out, made):
            return False
        attempt.keep({place(out): made})
        return True

    def operated(self, operation: Any, node: Any, args: tuple[Any, ...], arrays: list[Any], settings: dict[str, Any],
                 out: Any) -> None:
        """An Operation has run forward on `arrays`."""
        self._check_modes()
        for x in args:
            self.guard(x)
        outs = out if isinstance(out, tuple) else (out,)
        known = [self._places.get(place(o.array)) for o in outs]
        runner = OperationAgain(operation, node)
        if known == [None] and self._operation_inlined(operation, runner, arrays, settings, outs[0]):
            if outs[0].edge is not None and outs[0].edge[0] is node:
                self._nodes[node] = runner
            self._new(outs)
            return
        values = tuple(self.argument(a) for a in arrays)
        settings = {name: self.argument(v) if isinstance(v, np.ndarray) else v for name, v in settings.items()}
        call = Call(runner.forward, values, settings, label=operation.__name__)
        call.single = not isinstance(out, tuple)
        self.calls.append(call)
        call.outs = [self.value(o.array, call) if k is None else None for o, k in zip(outs, known, strict=True)]
        if any(o.edge is not None and o.edge[0] is node for o in outs):
            self._nodes[node] = runner
        self._new(outs)

    def _operation_inlined(self, operation: Any, runner: OperationAgain, arrays: list[Any], settings: dict[str, Any],
                           out: Any) -> bool:
        """Try to write a small built-in Operation down as the ufuncs inside it; its ctx keeps what it saved for good."""
        made = out.array
        if any(holds_array(value) or callable(value) for value in settings.values()) or any(
                isinstance(a, np.ndarray) and a.size > SMALL for a in (*arrays, made)):
            return False
        for a in arrays:
            if isinstance(a, np.ndarray):
                self.operand(a)
        watched = [a.view(Watched) if isinstance(a, np.ndarray) else a for a in arrays]
        attempt = Attempt(self)
        got = attempt.run(lambda: opened(operation.forward)(runner.empty_ctx(), *watched, **settings))
        ctx = runner.ctx
        if not attempt.gives(got, made) or any(holds_array(v) for n, v in vars(ctx).items()):
            return False
        if not all(attempt.knows(v) for v in arrays_in(ctx.saved)):
            return False
        attempt.keep({place(got): made})
        ctx.saved = self._settled(ctx.saved, got, made)
        runner.inlined = True
        return True

    def _settled(self, saved: Any, got: Any, made: Array) -> Any:
        """What a rule saved, as plain arrays, with the step's own result in the place of the attempt's."""
        if isinstance(saved, tuple):
            return tuple([self._settled(v, got, made) for v in saved])
        if not isinstance(saved, np.ndarray):
            return saved
        return made if place(saved) == place(got) else plain(saved)

    def entered(self) -> bool:
        """Whether apply() is called by function(), below."""
        entering, self._entering = self._entering, False
        return entering

    def function(self, cls: Any, args: tuple[Any, ...], settings: dict[str, Any]) -> Any:
        """A Function: what it calls is recorded, if that is all it does; else its forward and backward are called again."""
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
                    self._new(out)
                    return out
            except TraceError:
                pass
            finally:
                self._entering = False
            self._undo(*mark)
        return self._function_again(cls, args, settings)

    def _function_again(self, cls: Any, args: tuple[Any, ...], settings: dict[str, Any]) -> Any:
        with unobserved():
            out = apply(cls, *args, **settings)
        outs = out if isinstance(out, tuple) else (out,)
        tensors = [o for o in outs if isinstance(o, Tensor)]
        node = next((o.edge[0] for o in tensors if o.edge is not None), None)
        if node is not None and getattr(node, "dirty", None):
            self.refuse(f"{cls.__name__} writes to its inputs (mark_dirty)")
        for x in args:
            if isinstance(x, Tensor):
                self.fixed(x.array)
        runner = FunctionAgain(cls, args, settings)
        call = Call(runner.forward, (), label=cls.__name__)
        call.single = len(tensors) == 1
        known = [self._places.get(place(t.array)) if t.array.size else None for t in tensors]
        self.calls.append(call)
        call.outs = [self.value(t.array, call) if k is None else None for t, k in zip(tensors, known, strict=True)]
        if node is not None:
            self._nodes[node] = runner
        self._new(tuple(tensors))
        return out


def holds_array(value: Any) -> bool:
    """Whether an attribute of a ctx is an array, or a nest with one."""
    return isinstance(value, (np.ndarray, Tensor)) or (
        isinstance(value, (tuple, list)) and any(map(holds_array, value)))


def transparent(cls: Any) -> bool:
    """Whether a Function may be taken apart: ours, if it says so; the user's, if its text does not name what leads past
    recorded calls."""
    if cls.__module__.partition(".")[0] in OURS:
        return bool(cls.transparent)
    codes = [getattr(getattr(cls, name), "__code__", None) for name in ("forward", "backward", "setup_context")]
    return all(code is not None and not LEAVES & set(code.co_names) for code in codes)
