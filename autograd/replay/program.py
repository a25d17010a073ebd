"""The program of a traced step: its calls as the source of one Python function, and that function."""

from __future__ import annotations

import linecache
import weakref
from itertools import count
from typing import Any

import numpy as np

from ..core.engine import running
from ..kernels.products import affine, bound, product
from .calls import Call, Held, Value
from .gradients import TAKING
from .tracer import Tracer

_numbers = count(1)
MANY = 1 << 16                       # elements: below, the maximum of an array and zeros takes 1 us, with the number 0 3.5


class Program:
    """What replays run: `run()` makes the calls; arrays of arguments and results are `inputs` and `outputs`."""

    def __init__(self, tracer: Tracer, results: list[Value], fresh: set[int]) -> None:
        """results: the values that the step returns. fresh: numbers of values that each step makes anew, unseen."""
        self.names: dict[str, Any] = {"copyto": np.copyto, "maximum": np.maximum}
        self._zeros: dict[Any, Any] = {}
        self.texts: list[str] = []
        self._constants: dict[int, str] = {}
        self.results = results
        calls = used_only(tracer.calls, self.results)
        for value in tracer.values:
            maker = value.maker
            if maker is not None and maker.out and not (value.adopted and value.uses == 1):
                value.fixed = True
        lines = [f"copyto({self.text(v)}, {self.constant(first)})" for v, first in tracer.outside
                 if v.number in tracer.written and v.number in fresh]
        for call in calls:
            lines += self.lines(call)
        returned = ", ".join(self.text(v) for v in self.results)
        body = "".join(f"    {line}\n" for line in lines)
        self.source = f"def replay():\n{body}    return ({returned}{',' if self.results else ''})\n"
        self.passes = any("begin_pass" in line for line in lines)
        self.file = f"<trace {next(_numbers)}>"
        linecache.cache[self.file] = (len(self.source), None, self.source.splitlines(True), self.file)
        weakref.finalize(self, linecache.cache.pop, self.file, None)         # 10 kB for each trace otherwise
        exec(compile(self.source, self.file, "exec"), self.names)
        self.function = self.names["replay"]

    def run(self) -> Any:
        """Make the calls; the arrays that the step returns."""
        if not self.passes:
            return self.function()
        depth = len(running.passes)
        try:
            return self.function()
        finally:
            del running.passes[depth:]

    # --- text ---------------------------------------------------------------------------------------------------------

    def lines(self, call: Call) -> list[str]:
        """The lines of one call."""
        values = [v for v in call.outs if v is not None]
        arguments = [self.text(a) for a in call.args]
        if call.function in TAKING and call.args[1].fixed:
            arguments[1] += ".copy()"                # others see that memory
        arguments += [f"{key}={self.text(value)}" for key, value in call.settings.items()]
        head = f"{self.constant(call.function, call.label)}({', '.join(arguments)}"
        if call.single and len(values) == 1 and values[0].fixed:
            target = self.text(values[0])
            quick = self._quick(call, values[0], target)
            if quick:
                return quick
            return [head + call.out.format(target) + ")"] if call.out else [f"copyto({target}, {head}))"]
        if not values:
            return [head + ")"]
        anew = bound(*(a.array for a in call.args)) if call.function is product and self._settled(call) else None
        if anew is not None:
            return [f"v{values[0].number} = {self.constant(anew, call.label)}()"]
        names = [f"v{v.number}" if v is not None else "_" for v in call.outs]
        copies = [f"copyto({self.text(v)}, v{v.number})" for v in values if v.fixed]
        return [f"{', '.join(names)}{'' if call.single else ','} = {head})", *copies]

    @staticmethod
    def _settled(call: Call) -> bool:
        """Whether all arrays that a call works on stay where they are."""
        return all(not isinstance(a, Value) or a.fixed for a in call.args)

    def _quick(self, call: Call, out: Value, target: str) -> list[str]:
        """Quicker lines for what works on fixed memory; none if there are no quicker ones. The same bits."""
        if not self._settled(call):
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

    def text(self, thing: Any) -> str:
        """An argument as Python source: a variable's name, a bound array's, or a literal."""
        if isinstance(thing, Value):
            if not thing.fixed:
                return f"v{thing.number}"
            name = f"b{thing.number}"
            self.names[name] = thing.array
            return name
        if thing is None or type(thing) in (bool, int, str):
            return repr(thing)
        return self.constant(thing.thing if isinstance(thing, Held) else thing)

    def constant(self, thing: Any, label: str = "c") -> str:
        """A name for an object."""
        name = self._constants.get(id(thing))
        if name is None:
            stem = "".join(c if c.isalnum() else "_" for c in label)
            name = stem if stem not in self.names and stem.isidentifier() and label != "c" else f"{stem}_{len(self.names)}"
            self._constants[id(thing)] = name
            self.names[name] = thing
        return name


def used_only(calls: list[Call], results: list[Value]) -> list[Call]:
    """The calls without those that only read what nobody uses, and passes in which nothing runs unseen."""
    used = {id(a) for call in calls for a in call.args if isinstance(a, Value)} | {id(v) for v in results}
    kept = [c for c in calls if not c.optional or any(v.fixed or id(v) in used for v in c.outs if v is not None)]
    if any(c.label == "arrived" or c.label.endswith("Backward") for c in kept):
        return kept
    return [c for c in kept if c.label not in ("begin_pass", "end_of_pass")]
