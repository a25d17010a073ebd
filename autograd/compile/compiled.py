"""Compiled: what compile() returns: a function with a program for each form of its arguments."""

from __future__ import annotations

import contextlib
import functools
import sys
import threading
import weakref
from collections.abc import Callable, Collection, Sequence
from typing import Any

import numpy as np

from ..base.dtypes import default
from ..base.errors import warn_user
from ..core.modes import GRAD, state
from ..core.primitive import this_thread, watchers
from ..core.tensor import Parameter, Tensor
from ..kernels.fastest_product import adopt, table
from ..kernels.malloc import give_back
from ..kernels.threads import number
from .checks.bindings import PLAIN, Binding, Bindings, is_module
from .checks.check import changed_numbers, compare_tensors
from .checks.scout import Scout
from .checks.state import Snapshot, reachable
from .differentiable import Differentiable
from .errors import TraceError
from .native.build import processor
from .programs.engines import Engine
from .recorded import OtherValues, Recorded
from .recording.nests import Nest
from .settings import Settings
from .split import split

PATIENCE = 60.0                      # seconds that a thread waits for another one's recording, which changes parameters
LIMIT = 8                            # programs of one function, as PyTorch's recompile_limit
MSG_EAGER = "compile: {name} runs eagerly: {reason}"
MSG_PARTS = "compile: {name} is compiled in parts, since a line of it runs in Python: {reason}"
MSG_LIMIT = ("{limit} programs were made for it, and the last one does not fit this call: {reason}. Pass what changes as a "
             "tensor of one shape, or compile a smaller part")
MSG_OTHERS = "another rank can't compile it"
FAILED = "this rank can't compile its step"          # to the other ranks
RAISED = "recorded with other values it raises"
MSG_DIFFERS = "its program differs from it ({what}): it computes on plain arrays, or changes state in Python"

everything: weakref.WeakSet[Compiled] = weakref.WeakSet()


class Compiled:
    """A function that compile() has wrapped. `function` is the function itself; program() is the text of its programs."""

    eager_calls: Any = None                          # a dict from the keys of calls that can't be compiled to the reasons

    def __init__(self, function: Callable[..., Any], settings: Settings) -> None:
        functools.update_wrapper(self, function, updated=())
        self.function = function
        self.settings = settings
        self.name: str = getattr(function, "__qualname__", type(function).__name__)
        self._lock = threading.Lock()                # one thread at a time records
        self.reset()
        everything.add(self)

    def reset(self) -> None:
        """Drop all programs."""
        self.programs: dict[Any, list[Recorded]] = {}
        self.eager_calls = {}
        self.parts: Callable[..., Any] | None = None         # the function, compiled in parts
        self.made = 0
        self._calls = 0
        self._ranks: Any = None
        self._warned: set[str] = set()

    def __get__(self, obj: object, cls: type | None = None) -> Any:
        """A method of its class's objects, like a function."""
        return self if obj is None else functools.partial(self, obj)

    def __reduce__(self) -> Any:
        return Compiled, (self.function, self.settings)

    def program(self) -> str:
        """The programs so far, one call a line, and the reasons for calls that run eagerly."""
        texts = [program.describe() for programs in self.programs.values() for program in programs]
        parts = [] if self.parts is None else [part.program() for part in parts_of(self.parts)]
        return "\n".join([*texts, *parts, *(f"# eager: {reason}" for reason in self.eager_calls.values())])

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        modes = state()
        recording = modes["recording"]
        if recording > GRAD or (watchers and this_thread.call_watcher is not None):
            return self.function(*args, **kwargs)    # anomaly mode, forward mode; inside of another recording
        tensors: Sequence[Any] = args
        parts: list[Any] = []
        for x in args if not kwargs else ("",):
            if x.__class__ is not Tensor or x.array.__class__ is not np.ndarray:
                nest = Nest((args, kwargs))
                tensors = nest.tensors
                parts = key_of(nest)
                break
            array = x.array
            parts += (array.shape, array.dtype, x.tracked)
        key = (recording, modes["inference"], modes["autocast"], default.dtype, number(), *parts)
        if self._ranks is not None:
            return self._call_on_ranks(key, tensors, args, kwargs)
        found = self._find(key)
        if found is None:
            return self._new(key, args, kwargs)
        try:
            return found.run(tensors)
        except TraceError:                           # a test of values came out otherwise than when it was recorded
            self.programs[key].remove(found)
            return self._new(key, args, kwargs)
        finally:
            found.lock.release()

    def _find(self, key: Any) -> Recorded | None:
        """A program for a key whose guards hold, locked; None if there is none."""
        for program in self.programs.get(key, ()):
            if program.lock.acquire(blocking=False):
                if not program.busy and not program.guards.problem():
                    return program
                program.lock.release()
        return None

    def _call_on_ranks(self, key: Any, tensors: Sequence[Tensor], args: Any, kwargs: Any) -> Any:
        """A call of a function with collectives. All ranks must record in the same call, since recording runs the function
        more often: so a rank that lacks a program waits for the calls 2, 4, 8, 16, ..., in which ranks agree to record."""
        self._calls += 1
        found = self._find(key)
        ready = found is not None or key in self.eager_calls or self.made >= LIMIT
        if self._calls & (self._calls - 1) == 0 and self._ranks.any(not ready):
            if found is not None:
                found.lock.release()
                self.programs[key].remove(found)
            return self._new(key, args, kwargs)
        if found is None:
            return self.function(*args, **kwargs)
        try:
            return found.run(tensors)
        except TraceError:
            return self.function(*args, **kwargs)
        finally:
            found.lock.release()

    def _new(self, key: Any, args: Any, kwargs: Any) -> Any:
        """Run the function for a call that no program fits, and compile it if that is possible."""
        if key in self.eager_calls and self.parts is not None:
            return self.parts(*args, **kwargs)
        if key in self.eager_calls or sys.getprofile() is not None or not self._lock.acquire(timeout=PATIENCE):
            return self.function(*args, **kwargs)
        with contextlib.ExitStack() as stack:
            stack.callback(self._lock.release)
            found = None if self._ranks is not None else self._find(key)
            if found is not None:                    # another thread has made it meanwhile
                stack.callback(found.lock.release)
                with contextlib.suppress(TraceError):
                    return found.run(Nest((args, kwargs)).tensors)
            if self.made >= LIMIT and self._ranks is None:
                fitting = self.programs.get(key)
                reason = fitting[-1].guards.problem() if fitting else "arguments of other shapes, dtypes or values"
                self._refuse(MSG_LIMIT.format(limit=LIMIT, reason=reason or "its backward pass is pending"), None)
                return self.function(*args, **kwargs)
            for program in [p for programs in self.programs.values() for p in programs if p is not found]:
                stack.enter_context(program.lock)    # recording changes parameters for a while
            self.made += 1
            stack.callback(give_back)
            return Compilation(self, key, args, kwargs).run()

    def _refuse(self, reason: str, key: Any) -> None:
        """Note why calls with a key run eagerly; with fullgraph raise it."""
        if key is not None:
            self.eager_calls[key] = reason
        if self.settings.fullgraph:
            raise TraceError(f"compile: {self.name} can't be compiled as a whole: {reason}")
        if reason not in self._warned and not self.settings.quiet:
            self._warned.add(reason)
            warn_user((MSG_EAGER if self.parts is None else MSG_PARTS).format(name=self.name, reason=reason))

    def _split(self, lines: Collection[int], names: Collection[str]) -> None:
        """Compile the function in parts around these lines, and statements with these names, if that is possible."""
        settings = self.settings._replace(quiet=True)
        self.parts = split(self.function, lines, names, lambda part: Compiled(part, settings))


class Compilation:
    """One call of a Compiled that records it."""

    def __init__(self, compiled: Compiled, key: Any, args: Any, kwargs: Any) -> None:
        self.compiled = compiled
        self.key = key
        self.args, self.kwargs = args, kwargs
        self.arguments = Nest((args, kwargs))
        self.roots = (compiled.function, *(x for x in self.arguments.constants if not isinstance(x, PLAIN)))
        objects = reachable(self.roots)
        self.ranks = ranks_of(objects)
        self.models = [obj for obj in objects if hasattr(type(obj), "before_recording")] if self.ranks is not None else []
        self.program: Any = None
        self.before: Any = None                      # a Snapshot of the state after the first run
        self.effects: list[Binding] = []             # Python state that the function changes

    def run(self) -> Any:
        """Run the function; then record it in the state that it left. Returns the function's result."""
        compiled = self.compiled
        start = Snapshot(self.roots) if compiled.settings.fullgraph else None
        self.scout = Scout(getattr(compiled.function, "__code__", None))
        with self.scout:
            out = compiled.function(*self.args, **self.kwargs)
        self.returned = Nest(out)
        compiled._ranks = self.ranks
        reason = self._together(self._prepare)
        notes: list[str] = []
        for engine in () if reason else compiled.settings.engines:
            reason = self._together(self._record, engine)
            if reason.startswith(RAISED):            # on all ranks
                reason = self._together(self._record, engine, True)
            reason = reason or self._together(self._make, engine) or self._together(self._compare)
            if not reason:
                del self.program.expected, self.program.after
                self.program.notes = notes
                compiled.programs.setdefault(self.key, []).insert(0, self.program)
                return out
            notes.append(f"# not native: {reason}\n")
        if start is not None:
            start.restore()
        elif self.ranks is None and compiled.parts is None:
            lines, names = {line for _, line in self.scout.reasons}, {b.name for b in self.effects}
            if lines | names:
                compiled._split(lines, names)
        compiled._refuse(reason, self.key)
        return out

    def _together(self, part: Callable[..., str], *args: Any) -> str:
        """Run one part on all ranks: why it failed on this or another one; "" if it did not.

        A rank that fails refuses the others' next collective, so that they fail there: they may be anywhere in the step.
        """
        with contextlib.ExitStack() as stack:
            models = [stack.enter_context(model) for model in [model.recording() for model in self.models] if model]
            reason = text = ""
            try:
                reason = part(*args)
            except TraceError as error:
                reason = str(error).removeprefix("trace: ").removeprefix("replay: ")
            except Exception as error:               # of the engine, of the function, or of another rank
                how = RAISED if isinstance(error, OtherValues) else f"recording it raised {type(error).__name__}"
                reason = f"{how}: {error}"
                text = reason if FAILED in reason else ""
            if self.ranks is None:
                return reason
            for model in models if reason else ():
                model.start_missing_sums()
            refused = bool(text)
            try:
                if reason and not refused:
                    self.ranks.refuse(f"{FAILED}: {reason}")
                elif not reason:
                    self.ranks.barrier()
            except Exception as error:
                text = str(error)
                if FAILED not in text:
                    raise
            if text and self.before is not None:
                for model in models:
                    model.drop()
                self.before.restore()
        if text.count(FAILED) == text.count(f"{FAILED}: {RAISED}"):
            return RAISED if text else ""
        return MSG_OTHERS if refused or not reason else reason

    def _prepare(self) -> str:
        """Why the function can't be compiled, from its first run; "" if it may be possible."""
        for x in self.arguments.constants:
            if isinstance(x, (np.ndarray, np.generic)):
                return "an argument is a NumPy array: pass a tensor"
        for t in self.arguments.tensors:
            if type(t) not in (Tensor, Parameter) or type(t.array) is not np.ndarray:
                return f"an argument is a {type(t).__name__} of a class of its own"
        if self.scout.reasons:
            return self.scout.reasons[0][0]
        tensors = self.returned.tensors
        self.live = [t.edge is not None and t.edge[0] not in self.scout.ran for t in tensors]
        if any(t.tracked and t.edge is None for t in tensors):
            return "it returns a leaf that requires grad, which a program would copy"
        if any(self.live) and self.scout.ran:
            return "it returns a tensor with a graph after a backward pass of its own"
        if any(self.live) and self.ranks is not None:
            return "it is a forward pass on several ranks: compile the whole step, or the module inside"
        give_back()
        self.before = Snapshot(self.roots)
        self.bindings = Bindings(self.roots)
        if self.bindings.iterators:
            return f"it reaches an iterator ({self.bindings.iterators[0]}), which recording would advance"
        return ""

    def _record(self, engine: Engine, scaled: bool = False) -> str:
        """Record the function as a program. Returns why that is impossible, or ""."""
        function = functools.partial(call, self.compiled.function)
        given = function, self.arguments, self.before, self.roots, engine, self.bindings, scaled
        self.program = Differentiable(*given, self.live) if any(self.live) else Recorded(*given)
        self.effects = self.program.effects
        if self.effects:
            return f"it changes {self.effects[0].label} in Python"
        self.program.guard([m for m in self.before.modules if is_module(m)], self.bindings.read(), self.bindings.names)
        return ""

    def _make(self, engine: Engine) -> str:
        """Make the program. Of several ranks the first one does so before the others, which then find its native code in the
        folder of compiled programs, and take the libraries that it has chosen for products: all must round alike."""
        ranks, first = self.ranks, ""
        if ranks is None or not engine.apart:
            self.program.make()
            return ""
        if getattr(ranks, "rank", 0) == 0:
            try:
                self.program.make()
            except Exception as error:
                first = f"{type(error).__name__}: {error}"
        reason, processors, choices = ranks.broadcast_object((first, processor(), table()))
        if reason:
            return str(reason)
        if processors != processor():
            return "ranks run on unlike processors, whose native code rounds differently"
        if getattr(ranks, "rank", 0) != 0:
            adopt(choices)
            self.program.make()
        return ""

    def _compare(self) -> str:
        """How a run of the program differs from the recorded run of the function; "" if it does not."""
        program = self.program
        try:
            got = program.run_all([t.array for t in self.arguments.tensors])
            for number, (one, two) in enumerate(zip(program.expected, got, strict=True)):
                if not program.alike(one, two):
                    return MSG_DIFFERS.format(what=f"result {number}")
            compare_tensors(self.before, program.after, program.alike, leaves=not program.engine.tolerance)
            numbers = changed_numbers(program.after, Snapshot(self.roots))
            return f"it changes {numbers} in Python" if numbers else ""
        finally:
            self.before.restore()


def call(function: Callable[..., Any], args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    """Call a function with arguments from a nest."""
    return function(*args, **kwargs)


def ranks_of(objects: Sequence[Any]) -> Any:
    """The communicator of other ranks that these objects use: they, or a model on several ranks; None if there is none."""
    for obj in objects:
        comm = obj.comm if hasattr(type(obj), "before_recording") else obj
        if hasattr(type(comm), "named_barrier") and not comm.alone:
            return comm
    return None


def parts_of(function: Any) -> list[Compiled]:
    """The compiled parts of what split() made."""
    cells = getattr(function, "__func__", function).__closure__ or ()
    return [cell.cell_contents for cell in cells if isinstance(cell.cell_contents, Compiled) and (
        "__part_" in cell.cell_contents.function.__name__)]


def key_of(nest: Nest) -> list[Any]:
    """What a nest of arguments has in common with others that one program fits."""
    parts: list[Any] = [_hashable(nest.form)]
    for t in nest.tensors:
        parts += (t.array.shape, t.array.dtype, t.tracked, type(t))
    return parts


def _hashable(form: Any) -> Any:
    """A form of a nest with its constants by value, and other objects by identity."""
    if isinstance(form, int):
        return form
    kind, cls, parts = form
    if kind == "other":
        if isinstance(parts, (np.ndarray, np.generic)):      # eager whatever it holds: one notice, one entry
            return (type(parts),)
        return (type(parts), parts) if isinstance(parts, PLAIN) else (type(parts), id(parts))
    if kind == "dict":
        return (cls, *((key, _hashable(part)) for key, part in parts.items()))
    return (cls, *map(_hashable, parts))


__all__ = ["Compiled", "everything"]
