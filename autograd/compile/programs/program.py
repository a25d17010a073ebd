"""Program: the calls of a recorded step as the source of one Python function, and that function compiled."""

from __future__ import annotations

import linecache
import weakref
from itertools import count
from typing import TYPE_CHECKING, Any

import numpy as np

from ...core.engine import running
from ...kernels.products import affine, bound, product
from ...spans.spans import OPERATION, PASS, begin, end, number_of, profilers, record_function
from ..recording.calls import Call, Constant, Value
from ..recording.gradients import ADOPTING
from ..recording.tracer import Tracer

if TYPE_CHECKING:
    from collections.abc import Callable

_numbers = count(1)
MANY = 1 << 16                       # elements: below, the maximum of an array and zeros takes 1 us, with the number 0 3.5


class Program:
    """The function that a replay runs, and its source."""

    def __init__(self, tracer: Tracer, results: list[Value], fresh: set[int]) -> None:
        """results: the values that the step returns. fresh: numbers of the values that each step makes outside of recorded
        calls."""
        self.names: dict[str, Any] = {"copyto": np.copyto, "maximum": np.maximum}
        self._zeros: dict[Any, Any] = {}
        self.texts: list[str] = []
        self._constants: dict[int, str] = {}
        self.results = results
        calls = without_unused(tracer.calls, self.results)
        for value in tracer.values:
            maker = value.maker
            if maker is not None and maker.out and not (value.adopted and value.uses == 1):
                value.fixed = True
        begins = [f"copyto({self.text(v)}, {self.constant(first)})" for v, first in tracer.outside
                  if v.number in tracer.written and v.number in fresh]
        plain: list[str] = []
        spanned: list[str] = []                      # the same with each call as a span, for a profiler
        for call in calls:
            lines = self.lines(call)
            plain += lines
            number = number_of(f"replay::{call.label}", OPERATION)
            spanned += [f"span = span_begins({number})", *lines, "span_ends(span)"]
        self.source: str = self.source_of([*begins, *plain])
        self.recorded_source: str = self.source_of([*begins, *spanned])
        self.recorded_function: Any = None
        self.passes: bool = any("begin_pass" in line for line in plain)
        self.file: str = f"<trace {next(_numbers)}>"
        linecache.cache[self.file] = (len(self.source), None, self.source.splitlines(True), self.file)
        weakref.finalize(self, linecache.cache.pop, self.file, None)         # 10 kB for each trace otherwise
        exec(compile(self.source, self.file, "exec"), self.names)
        self.function: Callable[..., Any] = self.names["replay"]

    def run(self) -> Any:
        """Run the function; the arrays that the step returns."""
        function = self.recorded() if profilers else self.function
        with record_function("autograd::replay", None, PASS):
            if not self.passes:
                return function()
            depth = len(running.passes)
            try:
                return function()
            finally:
                del running.passes[depth:]

    def recorded(self) -> Any:
        """The function with a span around each call, created on first use."""
        if self.recorded_function is None:
            names = {**self.names, "span_begins": begin, "span_ends": end}
            exec(compile(self.recorded_source, f"{self.file} recorded", "exec"), names)
            self.recorded_function = names["replay"]
        return self.recorded_function

    def source_of(self, lines: list[str]) -> str:
        """The source of a function of these lines that returns the results."""
        returned = ", ".join(self.text(v) for v in self.results)
        return "def replay():\n" + "".join(f"    {line}\n" for line in lines) + (
            f"    return ({returned}{',' if self.results else ''})\n")

    # --- text ---------------------------------------------------------------------------------------------------------

    def lines(self, call: Call) -> list[str]:
        """The source lines of one call."""
        values = [v for v in call.outs if v is not None]
        arguments = [self.text(a) for a in call.args]
        if call.function in ADOPTING and call.args[1].fixed:
            arguments[1] += ".copy()"                # other arrays share that memory
        arguments += [f"{key}={self.text(value)}" for key, value in call.settings.items()]
        head = f"{self.constant(call.function, call.label)}({', '.join(arguments)}"
        if call.single and len(values) == 1 and values[0].fixed:
            target = self.text(values[0])
            quick = self._fast_lines(call, values[0], target)
            if quick:
                return quick
            return [head + call.out.format(target) + ")"] if call.out else [f"copyto({target}, {head}))"]
        if not values:
            return [head + ")"]
        bound_product = bound(*(a.array for a in call.args)) if call.function is product and self._all_fixed(call) else None
        if bound_product is not None:
            return [f"v{values[0].number} = {self.constant(bound_product, call.label)}()"]
        names = [f"v{v.number}" if v is not None else "_" for v in call.outs]
        copies = [f"copyto({self.text(v)}, v{v.number})" for v in values if v.fixed]
        return [f"{', '.join(names)}{'' if call.single else ','} = {head})", *copies]

    @staticmethod
    def _all_fixed(call: Call) -> bool:
        """Whether all arrays that a call reads are in fixed memory."""
        return all(not isinstance(a, Value) or a.fixed for a in call.args)

    def _fast_lines(self, call: Call, out: Value, target: str) -> list[str]:
        """Faster source lines for a call on fixed memory, which give the same bits; [] if there are none."""
        if not self._all_fixed(call):
            return []
        if call.function in (product, affine):
            x, y, *bias = [a.array if isinstance(a, Value) else a for a in call.args]
            run = bound(x, y if not bias else y.T, out.array, add=bool(bias))
            filled = [f"copyto({target}, {self.text(call.args[2])})"] if bias else []
            return [] if run is None else [*filled, f"{self.constant(run, call.label)}()"]
        if call.function is np.maximum and call.args[1] == 0 and isinstance(call.args[1], int) and out.array.size < MANY:
            zeros = self._zeros.setdefault((out.array.shape, out.array.strides, out.array.dtype), np.zeros_like(out.array))
            return [f"maximum({self.text(call.args[0])}, {self.constant(zeros, 'zeros')}, out={target})"]
        return []

    def text(self, value: object) -> str:
        """An argument as Python source: the name of a variable or of a bound array, or a literal."""
        if isinstance(value, Value):
            if not value.fixed:
                return f"v{value.number}"
            name = f"b{value.number}"
            self.names[name] = value.array
            return name
        if value is None or type(value) in (bool, int, str):
            return repr(value)
        return self.constant(value.value if isinstance(value, Constant) else value)

    def constant(self, value: object, label: str = "c") -> str:
        """The name of an object in the function's globals; it is bound on first use."""
        name = self._constants.get(id(value))
        if name is None:
            stem = "".join(c if c.isalnum() else "_" for c in label)
            name = stem if stem not in self.names and stem.isidentifier() and label != "c" else f"{stem}_{len(self.names)}"
            self._constants[id(value)] = name
            self.names[name] = value
        return name


def without_unused(calls: list[Call], results: list[Value]) -> list[Call]:
    """The calls, without reads that no call uses, and without marks of passes in which only recorded calls run."""
    used = {id(a) for call in calls for a in call.args if isinstance(a, Value)} | {id(v) for v in results}
    used_calls = [c for c in calls if not c.optional or any(v.fixed or id(v) in used for v in c.outs if v is not None)]
    if any(c.label == "count" or c.label.endswith("Backward") for c in used_calls):
        return used_calls
    return [c for c in used_calls if c.label not in ("begin_pass", "end_of_pass")]
