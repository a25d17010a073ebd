"""Tracer: told of each call of a step while it runs, it writes down the program.

The arrays of the recorded run are kept: they are the memory that replays write to.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np

from ..function import FunctionNode
from ..graph import Node
from ..mode import DUAL, modes
from ..tensor import Tensor
from ..traced import TraceError, here, tracers, unseen
from ..walk import running
from .attempt import Attempt
from .backward import TracedWalk
from .calls import OURS, Array, Call, Value, inside, owner_of, place, user_line
from .gradients import Gradients
from .inline import Watched, plain
from .nodes import FunctionAgain, OperationAgain, run_again, watched_twin

SMALL = 1 << 16                      # elements: for larger arrays the way to the kernel costs nothing
LEAVES = {"array", "data", "numpy"}                  # attributes of a Tensor that show its memory


class Tracer:
    """Records the calls of one thread from `with tracer:` on."""

    def __init__(self) -> None:
        self.calls: list[Call] = []
        self.values: list[Value] = []
        self.outside: list[tuple[Value, Array]] = []     # what was there before, or made unseen; with its first contents
        self.guards: dict[int, tuple[Tensor, Array, int]] = {}       # tensors from outside: where they were, and tracked
        self.gradients = Gradients(self)
        self._places: dict[Any, Value] = {}
        self._owners: dict[int, list[Value]] = {}
        self._entering = False
        self.written: set[int] = set()               # numbers of the values that the step writes to
        self._nodes: dict[Node, Any] = {}            # of operations with a ctx: what runs them again
        self._made: set[int] = set()                 # ids of Tensors that the step made
        self._kept: list[Any] = []                   # so that ids stay unique

    def __enter__(self) -> Tracer:
        tracers.append(self)
        here.tracer = self
        return self

    def __exit__(self, *exception: object) -> None:
        here.tracer = None
        tracers.remove(self)

    def refuse(self, reason: str) -> NoReturn:
        """End the trace with an error that names the user's line."""
        raise TraceError(f"trace: {user_line()}: {reason}")

    # --- values -------------------------------------------------------------------------------------------------------

    def value(self, array: Array, maker: Call | None = None) -> Value:
        """A new value."""
        value = Value(-1, array, maker)
        self.register(value)
        return value

    def register(self, value: Value) -> None:
        """Take up a value, under the next number."""
        value.number = len(self.values)
        self.values.append(value)
        if value.array.size:
            self._places[place(value.array)] = value
            self._owners.setdefault(id(owner_of(value.array)), []).append(value)

    def find(self, array: Array) -> Value | None:
        """The value that an array is, or a fixed one that it is a part of; None for what the trace does not know."""
        found = self._places.get(place(array)) if array.size else None
        if found is None:
            for whole in reversed(self._owners.get(id(owner_of(array)), ())):
                if array.size and inside(array, whole.array):
                    self.fix(whole)
                    return self.value(array)
            return None
        return found

    def operand(self, array: Array) -> Value:
        """The value that an array is; what nobody made in a recorded call is used where it is."""
        found = self.find(array)
        if found is None:
            found = self.value(array)
            self.outside.append((found, array.copy()))
        found.uses += 1
        return found

    def fix(self, value: Value) -> None:
        """Let a value live where it does now: somebody holds a view of it, or its array itself."""
        if value.fixed:
            return
        value.fixed = True
        for other in self._owners[id(owner_of(value.array))]:
            self.fix(other)

    def fixed(self, array: Array) -> Array:
        """An array whose memory is to hold its values in every replay."""
        self.fix(self.operand(array))
        return array

    def argument(self, x: Any) -> Any:
        """An operand of a call: a Value for an array, other things as they are."""
        if isinstance(x, np.ndarray):
            return self.operand(x)
        if isinstance(x, Tensor):
            self.guard(x)
            return self.operand(x.array)
        return x

    def guard(self, tensor: Any) -> None:
        """Remember a tensor from outside."""
        if isinstance(tensor, Tensor) and tensor.edge is None and id(tensor) not in self.guards and (
                id(tensor) not in self._made):
            self.guards[id(tensor)] = (tensor, tensor.array, tensor.tracked)

    def add(self, call: Call, *arrays: Any) -> None:
        """Append a call that made these arrays."""
        self.calls.append(call)
        for array in arrays:
            call.outs.append(self.made(call, array) if isinstance(array, np.ndarray) else None)

    def made(self, call: Call, array: Array) -> Value | None:
        """The value of an output; None where the call returned what it was given."""
        known = self._places.get(place(array)) if array.size else None
        return self.value(array, call) if known is None else None

    def _new(self, outs: Any) -> None:
        """Tensors that the step made are no outsiders."""
        for out in outs if isinstance(outs, tuple) else (outs,):
            if isinstance(out, Tensor):
                self._made.add(id(out))
                self._kept.append(out)

    # --- what the core tells ------------------------------------------------------------------------------------------

    def called(self, forward: Callable[..., Any], args: tuple[Any, ...], inputs: tuple[Any, ...], out: Tensor) -> None:
        """A declared operation has computed out.array = forward(*args); args are the arrays of `inputs`, maybe cast."""
        self._check_modes()
        for x in inputs:
            self.guard(x)
        given = list(args)
        for number, (a, x) in enumerate(zip(args, inputs)):  # noqa: B905 - settings come after the inputs
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
        out = attempt.run(lambda: function(*arrays))
        if not attempt.gives(out, made):
            return False
        attempt.keep({place(out): made})
        return True

    def operated(self, cls: Any, node: Any, args: tuple[Any, ...], arrays: list[Any], settings: dict[str, Any],
                 out: Any) -> None:
        """An Operation has run forward on `arrays`."""
        self._check_modes()
        for x in args:
            self.guard(x)
        outs = out if isinstance(out, tuple) else (out,)
        known = [self._places.get(place(o.array)) for o in outs]
        runner = OperationAgain(cls, node)
        if known == [None] and self._operation_inlined(runner, arrays, settings, outs[0]):
            if outs[0].edge is not None and outs[0].edge[0] is node:
                self._nodes[node] = runner
            self._new(outs)
            return
        values = tuple(self.argument(a) for a in arrays)
        call = Call(runner.forward, values, settings, label=f"{cls.__name__}")
        call.single = not isinstance(out, tuple)
        self.calls.append(call)
        call.outs = [self.value(o.array, call) if k is None else None for o, k in zip(outs, known, strict=True)]
        if any(o.edge is not None and o.edge[0] is node for o in outs):
            self._nodes[node] = runner
        self._new(outs)

    def _operation_inlined(self, runner: OperationAgain, arrays: list[Any], settings: dict[str, Any], out: Any) -> bool:
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
        got = attempt.run(lambda: runner.forward(*watched, **settings))
        ctx = runner.ctx
        if not attempt.gives(got, made) or any(holds_array(v) for n, v in vars(ctx).items()):
            return False
        saved = ctx.saved or ()
        if not all(isinstance(v, Watched) and attempt.lookup(plain(v)) is not None for v in saved):
            return False
        attempt.keep({place(got): made})
        if ctx.saved is not None:
            ctx.saved = tuple([made if place(v) == place(got) else plain(v) for v in saved])
        runner.inlined = True
        return True

    def _backward_inlined(self, runner: OperationAgain, node: Node, g: Any) -> Any:
        """The same for its backward: the gradients, or None where it must stay a call."""
        backward = runner.backward(node)
        watched = [v.view(Watched) for v in runner.ctx.saved or ()]
        runner.ctx.edges = tuple([None if edge is None else True for edge in node.edges])
        kept, runner.ctx.saved = runner.ctx.saved, None if runner.ctx.saved is None else watched
        attempt = Attempt(self)
        self.operand(g)
        grads = attempt.run(lambda: backward(g.view(Watched)))
        runner.ctx.saved = kept
        if grads is None or not all(x is None or attempt.knows(x) for x in grads):
            for array in kept or ():
                self.fixed(array)
            return None
        return attempt.keep_all(grads)

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
                out = cls.apply(*args, **settings)
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

    def _undo(self, calls: int, values: int, outside: int) -> None:
        """Forget what was recorded since."""
        for value in self.values[values:]:
            if self._places.get(place(value.array)) is value:
                del self._places[place(value.array)]
            self._owners[id(owner_of(value.array))].remove(value)
        del self.calls[calls:], self.values[values:], self.outside[outside:]

    def _function_again(self, cls: Any, args: tuple[Any, ...], settings: dict[str, Any]) -> Any:
        with unseen():
            out = cls.apply(*args, **settings)
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

    def wrote(self, array: Array, source: Any) -> None:
        """source (an array, or a number) was written to all of array."""
        target = self.fixed(array)
        self._note_write(array)
        self.calls.append(Call(np.copyto, (self.operand(target), self.argument(source)), label="copyto"))

    def assigned(self, array: Array, index: Any, source: Any) -> None:
        """array[index] = source."""
        self.fixed(array)
        self._note_write(array)
        self.calls.append(Call(np.ndarray.__setitem__, (self.operand(array), *self.index(index), self.argument(source)),
                               label="setitem"))

    def _note_write(self, array: Array) -> None:
        for value in self._owners.get(id(owner_of(array)), ()):
            if value.maker is None:
                self.written.add(value.number)

    def index(self, index: Any) -> tuple[Any, ...]:
        """An index that has no arrays, or is one."""
        if isinstance(index, (Tensor, np.ndarray)):
            return (self.argument(index),)
        if isinstance(index, tuple) and any(isinstance(i, (Tensor, np.ndarray, list)) for i in index):
            self.refuse("an assignment with several arrays as indices can't be recorded")
        return (index,)

    def again(self, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Code that is to run in each replay."""
        self.gradients.settle()
        for x in (*args, *kwargs.values()):
            if isinstance(x, (Tensor, np.ndarray)):
                self.fixed(x.array if isinstance(x, Tensor) else x)
        with unseen():
            out = function(*args, **kwargs)
        call = Call(function, args, kwargs)
        call.settings = {key: Held(a) for key, a in kwargs.items()}
        call.args = tuple(Held(a) if isinstance(a, (np.ndarray, Tensor)) else a for a in args)
        array = out.array if isinstance(out, Tensor) else out
        if isinstance(out, Tensor):
            call.function = lambda *a, **k: function(*a, **k).array
            self._new(out)
        self.calls.append(call)
        if isinstance(array, np.ndarray) and (array.size == 0 or place(array) not in self._places):
            call.outs = [self.value(array, call)]
        self.gradients.look()
        return out

    def decided(self, function: Callable[..., bool], args: tuple[Any, ...]) -> bool:
        """A branch that depends on values."""
        with unseen():
            answer = bool(function(*args))
        where = user_line()

        def ask(*arrays: Any) -> None:
            if bool(function(*arrays)) is not answer:
                raise TraceError(f"replay: {where}: a branch that depends on values went another way than when the step was "
                                 "recorded; call the step itself for such a batch, or trace it with one")

        self.calls.append(Call(ask, tuple(self.argument(a) for a in args), label="decided"))
        return answer

    def _check_modes(self) -> None:
        if modes.recording & DUAL:
            self.refuse("forward mode can't be recorded")
        if modes.saving:
            self.refuse("saved_tensors_hooks (and checkpoint()) can't be recorded")

    # --- backward -----------------------------------------------------------------------------------------------------

    def walk(self, create: bool, *given: Any) -> Any:
        """The Walk of a backward pass that begins."""
        if create:
            self.refuse("backward with create_graph=True can't be recorded")
        return TracedWalk(self, create, *given)

    def run_node(self, node: Node, g: Any) -> Any:
        """node.run(g), written down."""
        runner = self._nodes.get(node)
        if isinstance(node, FunctionNode) and runner is None:
            mark = len(self.calls), len(self.values), len(self.outside)
            try:
                grads = node.run(g, False)
                if all(x is None or self.find(x) is not None for x in grads):
                    return grads
            except TraceError:
                pass
            self._undo(*mark)
        elif runner is None or (getattr(runner, "inlined", False) and isinstance(g, np.ndarray)):
            grads = self._inlined_node(node, g) if runner is None else self._backward_inlined(runner, node, g)
            if grads is not None:
                return grads
        with unseen():
            grads = [np.asarray(x) if isinstance(x, np.generic) else x for x in node.run(g, False)]
        gs = tuple(self.argument(x) for x in (g if node.outputs > 1 else (g,)))
        if runner is None:
            kept = node.saved if isinstance(node.saved, tuple) else ()
            for saved in (*kept, *vars(node).values()):
                array = getattr(saved, "array", saved)
                if isinstance(array, np.ndarray):
                    self.fixed(array)
            call = Call(run_again(node), gs, label=node.name())
        else:
            call = Call(runner.backward(node), gs, label=f"{node.name()}")
        call.single = False
        self.calls.append(call)
        for grad in grads:
            known = isinstance(grad, np.ndarray) and grad.size and place(grad) in self._places
            call.outs.append(self.value(grad, call) if isinstance(grad, np.ndarray) and not known else None)
        return grads

    def _inlined_node(self, node: Node, g: Any) -> Any:
        """The rules of a declared operation, as ufuncs."""
        if not isinstance(g, np.ndarray) or node.outputs > 1:
            return None
        self.operand(g)
        attempt = Attempt(self)
        other = watched_twin(node)
        grads = attempt.run(lambda: other.run(g.view(Watched), False))
        if grads is None or not all(x is None or attempt.knows(x) for x in grads):
            return None
        return attempt.keep_all(grads)

    def plus(self, held: Array, value: Array) -> Array:
        """held + value."""
        total: Array = np.asarray(np.add(held, value))
        self.add(Call(np.add, (self.operand(held), self.operand(value))), total)
        return total

    def leaf_hook(self, hook: Callable[..., Any], leaf: Tensor) -> None:
        """A post-accumulate hook; one that says it is `opaque` is called again in replays."""
        if getattr(hook, "opaque", False):
            with unseen():
                hook(leaf)
            self.calls.append(Call(hook, (Held(leaf),), label="arrived"))
        else:
            hook(leaf)

    def end_pass(self, walk: Any) -> None:
        """The nodes of a pass have run: its callbacks are called, in replays too."""
        with unseen():
            while walk.callbacks:
                walk.callbacks.pop(0)()
        self.calls.append(Call(end_of_pass, (), label="end_of_pass"))
        self.gradients.look()


def holds_array(value: Any) -> bool:
    """Whether an attribute of a ctx is an array, or a nest with one."""
    return isinstance(value, (np.ndarray, np.generic, Tensor)) or (
        isinstance(value, (tuple, list)) and any(map(holds_array, value)))


def transparent(cls: Any) -> bool:
    """Whether a Function may be taken apart: the user's, if its text does not name what leads past recorded calls."""
    home = cls.__module__.partition(".")[0]
    codes = [getattr(getattr(cls, name), "__code__", None) for name in ("forward", "backward", "setup_context")]
    return home not in OURS and all(code is not None and not LEAVES & set(code.co_names) for code in codes)


def end_of_pass() -> None:
    """In a replay: call what the pass's opaque hooks have queued."""
    walk = running.walks[-1]
    while walk.callbacks:
        walk.callbacks.pop(0)()
    running.walks.pop()


class Held:
    """An argument that is handed over as the very object."""

    __slots__ = ("thing",)

    def __init__(self, thing: Any) -> None:
        self.thing = thing
