"""Lowering: the recorded calls of a step as operations of ir.py. A call without a meaning stays a call of Python."""

from __future__ import annotations

import math
from collections import Counter
from itertools import accumulate
from typing import Any

import numpy as np

from ...base.types import Array
from ...core.grad_buffers import counter_of
from ...core.tensor import Tensor
from ...kernels import scatter
from ...optim.step_plan import StepPlan
from ..native import unsupported
from ..recording import gradients
from ..recording.calls import Call, Constant, Value, root_of, update
from ..recording.effects import assign_parts
from ..recording.traced_pass import count, count_all
from ..recording.tracer import Tracer
from .ir import Op, Ref, Storage
from .meanings import ALIASES, RULES, Meanings
from .operands import NoMeaning, as_value, flat
from .primitives import PRIMITIVES
from .python_call import PythonCall, laid_as

MARKS = ("begin_pass", "end_of_pass", "start_counter")       # of a pass, for the counters of DataParallel


class NotNative(Exception):
    """A step can't be compiled to native code."""


class Lowering(Meanings):
    """The operations of a recording (`ops`), with what Python does before and after them."""

    def __init__(self, tracer: Tracer, results: list[Value]) -> None:
        super().__init__()
        self.pinned: set[Storage] = set()            # read from the memory of the recording
        self._draws_first, self._effects, self._rates_change = True, False, False
        self.plan: StepPlan | None = None            # of the optimizer whose step is native
        self.python: Counter[str] = Counter()        # calls that stay Python's: how often
        self.grads: dict[Tensor, Ref | None] = {}    # the .grad of a leaf so far: None where it was cleared
        self.needed: list[Tensor] = []               # leaves whose .grad before the run is read
        self.added: dict[Tensor, Storage] = {}       # leaves whose .grad before the run is added to
        self._bound: dict[Tensor, Array] = {}        # what the recorded step had in .grad
        # gradients that counters wait for: DataParallel's. How many leaves each has in each pass, and those counted so far
        begun = accumulate([int(call.label == "begin_pass") for call in tracer.calls])
        self.counters = Counter((number, counter_of(call.args[0].value))
                                for number, call in zip(begun, tracer.calls, strict=True) if call.function is count)
        self._arrived: dict[Any, list[Tensor]] = {}
        self._begun = 0                              # passes so far
        self._stage = 0
        self._copies: list[Op] = []                  # of gradients to their buffers
        made = {id(root_of(v.array)) for v in tracer.values if v.maker is not None}
        self._used = {id(root_of(v.array)) for v in tracer.values if v.uses}
        for value in tracer.values:
            if value.maker is None and id(root_of(value.array)) not in made:
                self._outside(value.array)
        for call in tracer.calls:
            mark = len(self.ops), dict(self._current), self.plan
            try:
                self._lower(call)
                reason = next(filter(None, [unsupported(op) for op in self.ops[mark[0]:] if op.kind != "call"]), "")
            except NoMeaning as error:
                reason = str(error)
            for op in self.ops[mark[0]:]:
                op.stage = self._stage
            if reason:
                del self.ops[mark[0]:]
                self._current, self.plan = mark[1:]
                self._python(call, reason)
        self.results: list[Ref] = [self.ref(v) for v in results]
        self._settle_gradients()
        for ref in self.results:
            ref.storage.keep = True
        self._drop_unused()

    # --- calls ------------------------------------------------------------------------------------------------------

    def _lower(self, call: Call) -> None:
        self._label = label = call.label
        function, args = call.function, [a.value if isinstance(a, Constant) else a for a in call.args]
        outs = [v.array for v in call.outs if v is not None]
        if label in MARKS or function in GRADIENT_CALLS or label == "Optimizer.zero_grad":
            return self._counted(call, args) if self.counters else self._gradients(call, args)
        if call.step is not None:
            return self._optimizer_step(call)
        if call.effect:
            raise NoMeaning("an effect")
        name = ALIASES.get(getattr(function, "__name__", ""), getattr(function, "__name__", ""))
        if name == "accumulate":
            return self._accumulate(call.label.partition(".")[0], args[0], outs[0], call.settings)
        if name == "reduce":
            return self._reduce(call.label.partition(".")[0], args[0], outs[0], call.settings)
        rule = RULES.get(function) or PRIMITIVES.get(function)
        if rule is not None:
            return rule(self, args, outs, call.settings)
        if isinstance(function, np.ufunc) or name in ("erf", "power_of_two"):
            return self._ufunc(function, name, args, outs, call.settings)
        raise NoMeaning("no meaning")

    def _optimizer_step(self, call: Call) -> None:
        step = call.step
        if isinstance(step, str):
            raise NoMeaning(step)
        if self._rates_change or self.plan is not None:
            raise NoMeaning("it follows another step, of an optimizer or a scheduler")
        first = len(self.ops)
        for inner in step.calls:
            self._lower(inner)
        for op in self.ops[first:]:                  # the bits of an eager step, which another rank may make
            op.exact = True
        self._label, self.plan = call.label, step.plan

    # --- gradients ----------------------------------------------------------------------------------------------------

    def _gradients(self, call: Call, args: list[Any]) -> None:
        """What binds, adds to or clears .grad."""
        if call.label in MARKS or self._clears(call, args):
            return
        if call.label == "Optimizer.zero_grad":
            raise NoMeaning("zero_grad(set_to_none=False)")
        leaf = args[0]
        if call.function is gradients.grad_array:
            if leaf not in self.grads:
                raise NoMeaning("of before the step")
            self._fetch(leaf, call.outs[0].array)  # type: ignore[union-attr]
        elif call.function is gradients.overwrite:
            return
        elif call.function is gradients.adopt:
            raise NoMeaning("an assignment to .grad")
        else:
            self._deliver(leaf, self.ref(args[1]), call.function is gradients.adopt_or_add)

    def _clears(self, call: Call, args: list[Any]) -> bool:
        """Whether a call sets .grad of leaves to None, which is noted."""
        if call.label == "Optimizer.zero_grad" and len(args) == 1 and not call.settings:
            self.grads.update(dict.fromkeys(p for group in args[0].param_groups for p in group["params"]))
            return True
        if call.function is gradients.clear_grad:
            self.grads[args[0]] = None
            return True
        return False

    def _counted(self, call: Call, args: list[Any]) -> None:
        """As _gradients(), for leaves with buffers and counters. Python binds each .grad to the buffer, and counts: in one
        call when all leaves of a counter have their gradients, which starts the sum over ranks."""
        leaf: Any = args[0] if args else None
        function = call.function
        self._begun += call.label == "begin_pass"
        self._stage += call.label == "end_of_pass"   # what follows reads sums over ranks, and must be alike on all
        self._clears(call, args)                     # and so does Python
        if function in (gradients.adopt_or_add, gradients.accumulate) and self.grads.get(leaf, leaf) is None:
            buffer = None if leaf.hooks is None else leaf.hooks.grad_buffer
            if buffer is not None and buffer.dtype == args[1].array.dtype:
                self.grads[leaf] = self.put("map", "copy", self.ref(as_value(buffer)), [self.ref(args[1])])
                self._copies.append(self.ops[-1])
                return
        elif function is gradients.grad_array and self.grads.get(leaf) is not None:
            self._fetch(leaf, call.outs[0].array)  # type: ignore[union-attr]
            return
        elif function is count and self.grads.get(leaf) is not None:
            counter = self._begun, counter_of(leaf)
            arrived = self._arrived.setdefault(counter, [])
            arrived.append(leaf)
            if len(arrived) == self.counters[counter]:
                made = PythonCall(Call(count_all, (Constant(arrived),)), {})
                made.buffers = {x: self.grads[x] for x in arrived}
                reads = [*made.buffers.values()]
                self.ops.append(Op("call", "count", reads, reads, function=made))
                self.python["count (DataParallel)"] += 1
            return
        raise NoMeaning("a counter of gradients")

    def _write_in_place(self) -> None:
        """Let what makes a gradient write it to its buffer, where nothing else reads it."""
        reads = Counter(s for op in self.ops for s in op.reads())
        for copy in self._copies:
            made, out = copy.ins[0], copy.out
            if (made.storage.outside or made.storage.keep or reads[made.storage] != 1 or made.offset
                    or made.strides != out.strides or made.storage.size != math.prod(out.shape)):
                continue
            self.ops.remove(copy)
            for op in self.ops:
                for ref in op.outs:
                    if ref.storage is made.storage:
                        ref.storage, ref.offset = out.storage, ref.offset + out.offset

    def _deliver(self, leaf: Tensor, g: Ref, adopts: bool) -> None:
        """Add a gradient to .grad, or bind .grad to it where the step has cleared it; to its very memory if it `adopts`."""
        if leaf not in self.grads:                   # .grad of before the run, or zeros
            memory = np.zeros(leaf.array.shape, leaf.array.dtype)
            self.added[leaf] = self._storage(memory, Storage(memory.size, memory.dtype, memory))
            self.grads[leaf] = self.ref(as_value(memory))
        before, shape = self.grads[leaf], leaf.array.shape
        if before is not None:
            self.put("map", "add", before, [before, g])
        elif adopts and not g.storage.outside and g.storage.size == leaf.array.size and g.storage.dtype == leaf.array.dtype:
            self.grads[leaf] = g
        else:
            self.grads[leaf] = self.put("map", "copy", self.temporary(shape, leaf.array.dtype, like=g), [g])

    def _fetch(self, leaf: Tensor, array: Array) -> None:
        """`array` is what the recorded step had in .grad."""
        bound = self.grads.get(leaf)
        if bound is not None:
            if bound.storage.dtype != array.dtype or not laid_as(array, bound):
                raise NotNative("a gradient with another layout")
            self._storage(root_of(array), bound.storage)
            self._bound[leaf] = array

    def _settle_gradients(self) -> None:
        """Give gradients memory from outside, after all writes to .grad."""
        if self.counters:
            self._write_in_place()
            self.grads = {}
        for leaf, ref in self.grads.items():
            if ref is None:
                continue
            if leaf in self._bound:
                ref = self.grads[leaf] = self.ref(as_value(self._bound[leaf]))
            if not ref.storage.outside:
                ref.storage.array, ref.storage.keep = np.empty(ref.storage.size, ref.storage.dtype), True

    # --- calls of Python ----------------------------------------------------------------------------------------------

    def _python(self, call: Call, reason: str) -> None:
        """Add a call that Python makes, between stretches of native code."""
        if call.optional:
            out = call.outs[0]
            if out is None or (not out.uses if self.counters else id(root_of(out.array)) not in self._used):
                return
        why = f"{call.label} ({reason})"
        values = [x for a in (*call.args, *call.settings.values()) for x in (a if type(a) in (tuple, list) else (a,))
                  if isinstance(x, Value)]
        try:
            made = PythonCall(call, {id(x): self._home(x) for x in values})
        except NoMeaning as error:
            raise NotNative(f"{call.label}: {error}") from None
        reads = [*made.refs.values(), *map(self._pin, call.pinned)]
        for value in call.outs:
            if value is None:
                continue
            root = root_of(value.array)
            memory = flat(root, value.array.dtype)
            self._storage(root, Storage(memory.size, memory.dtype, memory))
            made.outs[value] = self.ref(value)
        outs = [*made.outs.values()]
        if writes_first(call):
            outs.append(made.refs[id(call.args[0])])
        elif not call.optional and self._can_precede(call, reads):
            self.first.append(made)
            self._early.update(ref.storage for ref in made.outs.values())
            if not call.checks:
                self.python[why] += 1
            return
        self.python[why] += 1
        if call.effect or (call.function in GRADIENT_CALLS and (self.counters or not call.optional)):
            # it may read and write whatever Python reaches
            bound = {leaf: self._home(ref) for leaf, ref in self.grads.items() if ref is not None}
            made.gradients = {} if self.counters else {**bound}
            reads += bound.values()
            outs += reads
        self.ops.append(Op("call", call.label, outs, reads, function=made, label=call.label))

    def _can_precede(self, call: Call, reads: list[Ref]) -> bool:
        """Whether a call can be made before the native code: it reads arguments and constants alone. Draws stay in order."""
        before = not self._effects and not call.effect and call.function not in GRADIENT_CALLS and (
            (call.draws and self._draws_first) or call.checks or not call.draws) and all(
            r.storage in self._early and r.storage not in self._written for r in reads)
        self._draws_first = self._draws_first and (before or not call.draws)
        self._effects = self._effects or call.effect
        self._rates_change |= call.effect and call.label != "Optimizer.zero_grad" and getattr(
            call.function, "__module__", "").startswith("autograd.optim")
        return before

    def _pin(self, x: Value) -> Ref:
        """The Ref of an array that Python reads from the memory of the recording."""
        ref = self._home(x)
        self.pinned.add(ref.storage)
        if not ref.storage.outside:
            ref.storage.array = flat(root_of(x.array), ref.storage.dtype)
        return ref

    def _drop_unused(self) -> None:
        """Drop operations whose results nothing reads."""
        wanted: set[Storage] = {r.storage for r in (*self.results, *filter(None, self.grads.values()))}
        kept: list[Op] = []
        for op in reversed(self.ops):
            reads_gradient = isinstance(op.function, PythonCall) and op.function.call.optional
            if (op.kind == "call" and not reads_gradient) or any(
                    (s.outside and not reads_gradient) or s in wanted for s in op.writes()):
                wanted |= op.reads()
                kept.append(op)
                if reads_gradient and not self.counters:
                    self.needed.append(op.function.call.args[0])  # type: ignore[union-attr]
        self.ops = kept[::-1]


def writes_first(call: Call) -> bool:
    """Whether a call writes to its first argument: an assignment, or a kernel that returns None."""
    return call.function in WRITES_FIRST or not (
        call.outs or call.effect or call.checks or call.function in GRADIENT_CALLS or not call.args
        or not isinstance(call.args[0], Value))


WRITES_FIRST = {np.ndarray.__setitem__, assign_parts, np.copyto, update, scatter.add_rows}         # to their first argument
GRADIENT_CALLS = {gradients.adopt, gradients.adopt_or_add, gradients.clear_grad, gradients.accumulate, gradients.overwrite,
                  gradients.grad_array, count}
