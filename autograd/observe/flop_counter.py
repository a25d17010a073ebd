"""FlopCounterMode: the floating point operations of a block, by module and operation, as PyTorch counts them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any
from warnings import warn
from weakref import WeakKeyDictionary

import numpy as np

from ..base import docstrings as _docstrings
from ..base.name_collision import public
from ..core.function import Function
from ..core.graph import FREED, Node
from ..core.interceptors import Interceptor, Run, install, remove, this_thread
from ..core.operation import Operation
from ..core.tensor import Tensor
from ..spans.spans import OPERATION, names
from .module_tracker import GLOBAL, ModuleTracker
from .profiler.flops import of_call, of_node, rule_of

Key = str | type[Function]                           # "aten.mm", or a Function's class
Formula = Callable[..., int]
SUFFIXES = ("", "K", "M", "B", "T")
flop_registry: dict[Key, Formula] = {}               # registered by register_flop_formula()


def register_flop_formula(targets: Key | Iterable[Key], get_raw: bool = False) -> Callable[[Formula], Formula]:
    """Decorator: register a FLOP formula for operations or Functions."""
    given = [targets] if isinstance(targets, (str, type)) else list(targets)

    def register(formula: Formula) -> Formula:
        found = formula if get_raw else of_shapes(formula)
        for target in given:
            key = key_of(target)
            if key in flop_registry:
                raise RuntimeError(f"duplicate registrations for {target}")
            flop_registry[key] = found
        return found

    return register


def of_shapes(formula: Formula) -> Formula:
    """A formula of shapes as one of tensors."""
    def of_tensors(*args: Any, out_val: Any, **settings: Any) -> int:
        return formula(*map(shaped, args), out_shape=shaped(out_val), **{k: shaped(v) for k, v in settings.items()})

    return of_tensors


def shaped(value: Any) -> Any:
    """The shape of a tensor, those of a tuple of them, anything else as it is."""
    if isinstance(value, Tensor):
        return value.shape
    return tuple(map(shaped, value)) if isinstance(value, (tuple, list)) else value


def sizes(values: Iterable[Any]) -> list[list[int]]:
    """The shape of each tensor or array, [] of anything else."""
    return [list(v.shape) if isinstance(v, (Tensor, np.ndarray)) else [] for v in values]


def key_of(target: Any) -> Key:
    """Check the key of a custom formula: ValueError for an invalid one, NotImplementedError for an operation not counted."""
    if isinstance(target, type) and issubclass(target, Function):
        return target
    if not isinstance(target, str) or not target.startswith("aten."):
        raise ValueError(f"a formula is for an operation, named as in \"aten.mm\", or for a Function's class, but got "
                         f"{target!r} of type {type(target).__name__}")
    getattr(public(), target.removeprefix("aten."), None)          # its module is loaded
    name = target.replace("aten.", "aten::", 1)
    if (name, OPERATION) in names and name not in told() and name not in ("aten::bmm", "aten::baddbmm"):
        raise NotImplementedError(f"a formula for {target!r}: the counter does not see calls of this "
                                  "operation by name, as of elementwise, in-place and composed operations; count them with "
                                  "autograd.profiler.profile(with_flops=True)")
    return target


def told() -> set[str]:
    """The names of the operations of which counters are notified."""
    found: set[str] = set()
    kinds: list[type] = [Operation]
    for kind in kinds:
        kinds += kind.__subclasses__()
        found.add(names[kind.span][0])  # type: ignore[attr-defined]
    return found


def checked(key: Key, formula: Any) -> Formula:
    """A callable formula. TypeError if it is not callable."""
    if not callable(formula):
        raise TypeError(f"FlopCounterMode(custom_mapping={{{key!r}: {formula!r}}}): a function of the shapes is needed")
    return formula if getattr(formula, "_get_raw", False) else of_shapes(formula)


class FlopCounterMode:
    """Count the floating point operations of a `with` block in this thread, forward and backward, as PyTorch does.

    Counted are matrix products, convolutions, attention and recurrent layers; a multiply-add is two operations. As in
    PyTorch, elementwise operations and matrix-vector products are not. Nor are products inside the derivatives of other
    operations (inv, cdist)."""

    flop_registry: dict[Key, Formula]

    def __init__(self, mods: Any = None, depth: int | None = 2, display: bool = True,
                 custom_mapping: dict[Key, Formula] | None = None) -> None:
        if mods is not None:
            warn("mods argument is not needed anymore, you can stop passing it", stacklevel=2)
        if custom_mapping is not None and not isinstance(custom_mapping, Mapping):
            raise TypeError(f"FlopCounterMode(custom_mapping={custom_mapping!r}): functions by operation are needed")
        self.flop_counts: dict[str, dict[Any, int]] = defaultdict(lambda: defaultdict(int))
        self.depth: int | None = depth
        self.display: bool = display
        self.flop_registry = {**flop_registry, **{key_of(k): checked(k, f) for k, f in (custom_mapping or {}).items()}}
        self.mod_tracker: ModuleTracker = ModuleTracker()

    def __enter__(self) -> FlopCounterMode:
        self._calls = Calls(self)
        self.flop_counts.clear()
        self.mod_tracker.__enter__()
        install(self._calls)
        return self

    def __exit__(self, *exception: object) -> None:
        remove(self._calls)
        self.mod_tracker.__exit__()
        if self.display:
            print(self.get_table(self.depth))

    def count(self, key: Key, flops: int) -> None:
        """Add operations to "Global", and inside the block to all modules that this thread is in."""
        for parent in self.mod_tracker.parents:
            self.flop_counts[parent][key] += flops

    def get_total_flops(self) -> int:
        """The number of operations in the block."""
        return sum(self.flop_counts[GLOBAL].values())

    def get_flop_counts(self) -> dict[str, dict[Any, int]]:
        """Counts by module ("Global" for all) and operation ("aten.mm")."""
        return {module: dict(counts) for module, counts in self.flop_counts.items()}

    def get_table(self, depth: int | None = None) -> str:
        """The counts as a table, in PyTorch's form."""
        depth = self.depth if depth is None else depth
        total = self.get_total_flops()
        suffix = max(0, min(len(SUFFIXES) - 1, (len(str(total)) - 2) // 3))

        def rows_of(module: str, indent: str) -> list[tuple[str, str, str]]:
            counts = self.flop_counts[module]
            return [(indent + name, in_units(flops, suffix), percent(flops, total)) for name, flops in
                    [(module, sum(counts.values())), *((f" - {named(key)}", flops) for key, flops in counts.items())]]

        rows: list[tuple[str, str, str]] = []
        covered = False                              # whether one module contains all of them
        for module in sorted(self.flop_counts):
            level = module.count(".")
            if module != GLOBAL and (depth is None or level < depth):
                covered |= sum(self.flop_counts[module].values()) >= total
                rows += rows_of(module, " " * level)
        if not covered:
            rows = rows_of(GLOBAL, "") + [(f" {name}", flops, share) for name, flops, share in rows]
        return aligned(("Module", "FLOP", "% Total"), rows)


class Calls(Interceptor):
    """Notifies a counter of the calls and nodes of this thread, and passes calls on to the surrounding counter."""

    sees_calls = True

    def __init__(self, counter: FlopCounterMode) -> None:
        around = this_thread.call_watcher
        if around is not None and not isinstance(around, Calls):
            raise RuntimeError("FlopCounterMode can't count inside a step that is being recorded for replay: count the step "
                               "where it is called without trace_step")
        self.counter: FlopCounterMode = counter
        self.around: Calls | None = around
        self.shapes: WeakKeyDictionary[Node, list[Any]] = WeakKeyDictionary()       # of the inputs of nodes that are counted
        self.applying: bool = False                  # a Function with a formula

    def operated(self, operation: Any, node: Any, args: tuple[Any, ...], arrays: list[Any], settings: dict[str, Any],
                 out: Any) -> None:
        """Count a call."""
        name = names[operation.span][0]
        key, counted = name.replace("::", "."), of_call(name, sizes(args), settings)
        if key in ("aten.mm", "aten.addmm") and counted is not None:
            key = str(counted[0])                    # of three dimensions or more, "aten.bmm" and "aten.baddbmm"
        formula = self.counter.flop_registry.get(key)
        if formula is not None:
            self.counter.count(key, formula(*args, out_val=out, **settings))
        elif counted is not None:
            self.counter.count(*counted)
        if self.around is not None:
            self.around.operated(operation, node, args, arrays, settings, out)

    def entered(self) -> bool:
        """A Function is counted by the operations that it calls, unless it has a formula: function() checks that."""
        entered, self.applying = self.applying, False
        return entered

    def function(self, function: Any, args: tuple[Any, ...], settings: dict[str, Any]) -> Any:
        """Apply a Function; count it if it has a formula."""
        self.applying = True
        out = function.apply(*args, **settings)
        calls: Calls | None = self
        while calls is not None:
            formula = calls.counter.flop_registry.get(function)
            if formula is not None:
                calls.counter.count(function, formula(*args, out_val=out, **settings))
            calls = calls.around
        return out

    def recorded(self, node: Node, inputs: tuple[Any, ...], outputs: tuple[Any, ...]) -> None:
        """Record the shapes of a call that backward will count."""
        if rule_of(node) is not None:
            self.shapes[node] = sizes(inputs)

    def running(self, node: Node, g: Any, create: bool, run: Run) -> Any:
        """Count a node that computes on arrays. Under create_graph=True it calls operations on Tensors, which are counted
        as calls."""
        rule = None if create or not self.counter.mod_tracker.is_here else rule_of(node)
        if rule is not None and node.saved is not FREED:
            key, flops = of_node(node, rule, g, self.shapes.get(node))
            if flops:
                self.counter.count(key, flops)
        return run(node, g, create)


def named(key: Key) -> str:
    """A key as the table shows it."""
    return key if isinstance(key, str) else key.__name__


def in_units(flops: int, suffix: int) -> str:
    """A number in thousands, millions and so on."""
    return f"{flops / 1000 ** suffix:.3f}{SUFFIXES[suffix]}" if suffix else str(flops)


def percent(flops: int, total: int) -> str:
    """A share of the total."""
    return f"{flops / total:.2%}" if total else "0%"


def aligned(header: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> str:
    """A table as tabulate's plainest: the first column to the left, the others to the right; PyTorch prints this one."""
    widths = [max(len(head) + 2, *(len(row[i]) for row in rows)) for i, head in enumerate(header)]

    def line(cells: Iterable[str]) -> str:
        texts = [cell.rjust(w) if i else cell.ljust(w) for i, (cell, w) in enumerate(zip(cells, widths, strict=True))]
        return "  ".join(texts)

    return "\n".join([line(header), line("-" * w for w in widths), *map(line, rows)])


_docstrings.complete(globals(), "observe", "utils.flop_counter.")
