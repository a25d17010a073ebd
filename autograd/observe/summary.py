"""summary(): a model's modules as a table, in torchinfo's form: shapes, parameters, multiplications, sizes."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np

from ..base import docstrings as _docstrings
from ..base.notebook import escaped
from ..base.pytree import nested_values
from ..core.modes import no_grad
from ..core.tensor import Tensor, result
from ..nn.module import Module
from ..nn.module_hooks import register_module_forward_hook, register_module_forward_pre_hook
from .flop_counter import FlopCounterMode

TITLES = {"input_size": "Input Shape", "output_size": "Output Shape", "num_params": "Param #", "params_percent": "Param %",
          "kernel_size": "Kernel Shape", "mult_adds": "Mult-Adds", "trainable": "Trainable"}
OF_CALLS = {"input_size", "output_size", "mult_adds"}            # columns that need a forward pass
SETTINGS = ("ascii_only", "depth", "var_names", "hide_recursive_layers")
SCALES = ((1e12, "T"), (1e9, "G"), (1e6, "M"))


def summary(model: Module, input_size: Any = None, input_data: Any = None, batch_dim: int | None = None,
            cache_forward_pass: bool | None = None, col_names: Iterable[str] | None = None, col_width: int = 25,
            depth: int = 3, device: Any = None, dtypes: Sequence[Any] | None = None, mode: str = "eval",
            row_settings: Iterable[str] | None = None, verbose: int | None = None, **kwargs: Any) -> ModelStatistics:
    """Print and return a table of the model's modules in the order in which a forward pass calls them.

    The pass records no gradients. Mult-adds are half of the operations that FlopCounterMode counts. Further keyword
    arguments go to the model."""
    if not isinstance(model, Module):
        raise TypeError(f"summary(model={model!r}): a Module is needed")
    if input_size is not None and input_data is not None:
        raise RuntimeError("Only one of (input_data, input_size) should be specified.")
    if cache_forward_pass:
        raise NotImplementedError("summary(cache_forward_pass=True): passes are not kept; keep what summary() returns")
    if device is not None and str(device) != "cpu":
        raise NotImplementedError(f"summary(device={device!r}): models are on the CPU")
    if batch_dim is not None and input_size is None:
        raise NotImplementedError(f"summary(batch_dim={batch_dim}) without input_size: give input_data with its batch")
    given = input_size is not None or input_data is not None
    columns = tuple(col_names) if col_names is not None else ("output_size", "num_params") if given else ("num_params",)
    settings = {"depth"} if row_settings is None else set(row_settings)
    verbose = (0 if hasattr(sys, "ps1") else 1) if verbose is None else verbose
    for name, value, known in (("mode", {mode}, ("train", "eval")), ("col_names", set(columns), TITLES),
                               ("row_settings", settings, SETTINGS), ("verbose", {verbose}, (0, 1, 2))):
        if value - set(known):
            raise ValueError(f"{name}: {', '.join(map(repr, value - set(known)))} is none of {', '.join(map(repr, known))}")
    if col_width <= 0:
        raise ValueError(f"Column width must be greater than 0: col_width={col_width}")
    if not given and OF_CALLS & set(columns):
        raise ValueError(f"You must pass input_data or input_size in order to use columns: {OF_CALLS & set(columns)}")

    arguments = made_inputs(input_size, batch_dim, dtypes) if input_size is not None else input_data
    rows = called(model, arguments, kwargs, mode) if given else [LayerInfo(place) for place in places_of(model)]
    found = ModelStatistics(with_containers(rows), bytes_of(arguments), given,
                            Format(columns, col_width, depth, settings, verbose == 2))
    if verbose:
        print(found)
    return found


def made_inputs(input_size: Any, batch_dim: int | None, dtypes: Sequence[Any] | None) -> list[Tensor]:
    """Create inputs of these shapes."""
    if not isinstance(input_size, (list, tuple)) or not input_size:
        raise TypeError(f"input_size must be a shape or a list of shapes, but got {input_size!r}")
    shapes = [input_size] if isinstance(input_size[0], int) else list(input_size)
    if any(size <= 0 for shape in shapes for size in shape):
        raise ValueError(f"input_size must be positive, but got {input_size!r}")
    kinds = [np.dtype(d) for d in dtypes] if dtypes is not None else [np.dtype(np.float32)] * len(shapes)
    if len(kinds) != len(shapes):
        raise ValueError(f"dtypes: {len(kinds)} for {len(shapes)} inputs")
    if batch_dim is not None:
        shapes = [(*shape[:batch_dim], 1, *shape[batch_dim:]) for shape in shapes]
    return [result(np.ones(s, d) if d.kind in "fcV" else np.zeros(s, d)) for s, d in zip(shapes, kinds, strict=True)]


# --- rows -------------------------------------------------------------------------------------------------------------

class Counted(NamedTuple):
    """A parameter of a row's module, or of one below."""

    name: str
    shape: list[int]
    size: int                                        # elements that are not pruned
    identity: int


class Place:
    """The position of a module in the model."""

    def __init__(self, module: Module, name: str, around: tuple[Place, ...]) -> None:
        self.module: Module = module
        self.name: str = name
        self.around: tuple[Place, ...] = around


class LayerInfo:
    """A row of a summary(): a call of a module, or a module that contains called ones."""

    num_params: int
    trainable_params: int
    param_bytes: int

    def __init__(self, place: Place) -> None:
        self.place: Place = place
        self.module: Module = place.module
        self.var_name: str = place.name
        self.depth: int = len(place.around)
        self.class_name: str = type(place.module).__name__
        self.is_leaf_layer: bool = next(place.module.children(), None) is None
        self.is_recursive = False                    # the module has a row above
        self.depth_index = 0                         # among those of its depth
        self.input_size: list[int] = []
        self.output_size: list[int] = []
        self.output_bytes = 0
        self.flops = self.flops_inside = 0           # of the call, and of calls of modules inside
        self.num_params = self.trainable_params = self.param_bytes = 0
        self.own_params = 0                          # without those of modules below with rows of their own
        self.parameters: list[Counted] = []

    def count_parameters(self) -> None:
        """Count the parameters of the module and its submodules."""
        for name, p in self.module.named_parameters():
            mask = getattr(self.module, f"{name.removesuffix('_orig')}_mask", None) if name.endswith("_orig") else None
            count = p.numel() if mask is None else int(mask.sum())
            self.num_params += count
            self.trainable_params += count * p.requires_grad
            self.param_bytes += count * p.element_size()
            shape = list(p.shape)
            if name == "weight" and len(shape) > 1:
                shape[:2] = shape[1::-1]
            self.parameters.append(Counted(name if mask is None else name.removesuffix("_orig"), shape, count, id(p)))

    @property
    def macs(self) -> int:
        """Multiply-adds of the call, without those of submodules."""
        return (self.flops - self.flops_inside) // 2

    @property
    def trainable(self) -> str:
        """Whether its parameters require grad: "True", "Partial" or "False"; "--" without parameters."""
        if not self.num_params:
            return "--"
        return {0: "False", self.num_params: "True"}.get(self.trainable_params, "Partial")

    def __repr__(self) -> str:
        return f"{self.class_name}: {self.depth}"


def places_of(model: Module) -> list[Place]:
    """All modules with their positions; a shared module appears once per position."""
    places: list[Place] = []

    def visit(name: str, module: Module, around: tuple[Place, ...]) -> None:
        places.append(Place(module, name, around))
        below = (*around, places[-1])
        for key, child in module._modules.items():
            if child is not None:
                visit(key, child, below)

    visit(type(model).__name__, model, ())
    return places


def called(model: Module, arguments: Any, kwargs: dict[str, Any], mode: str) -> list[LayerInfo]:
    """The calls of one forward pass."""
    places: dict[Module, list[Place]] = {}
    for place in places_of(model):
        places.setdefault(place.module, []).append(place)
    rows: list[LayerInfo] = []
    running: list[tuple[LayerInfo, int]] = []        # including what was counted before

    def enter(module: Module, args: Any) -> None:
        if module in places:
            inside = [p for p in places[module] if running and running[-1][0].place in p.around]
            rows.append(LayerInfo((inside or places[module])[-1]))
            running.append((rows[-1], counter.get_total_flops()))

    def leave(module: Module, args: Any, output: Any) -> None:
        if module in places:
            row, before = running.pop()
            row.flops = counter.get_total_flops() - before
            if running:
                running[-1][0].flops_inside += row.flops
            row.input_size, row.output_size = shape_of(args), shape_of(output)
            first = first_tensor(output)
            row.output_bytes = 0 if first is None else first.nbytes

    with modules_in(model, mode), FlopCounterMode(display=False) as counter, no_grad():
        hooks = register_module_forward_pre_hook(enter), register_module_forward_hook(leave)
        try:
            if isinstance(arguments, Mapping):
                model(**arguments, **kwargs)
            else:
                model(*(arguments if isinstance(arguments, (list, tuple)) else (arguments,)), **kwargs)
        except Exception as error:
            raise RuntimeError(f"summary(): the model's forward failed with {type(error).__name__}: {error}; it got inputs "
                               f"of shape {shape_of(arguments)} and reached {rows[-1] if rows else 'no module'}") from error
        finally:
            for hook in hooks:
                hook.remove()
    return rows


@contextmanager
def modules_in(model: Module, mode: str) -> Iterator[None]:
    """Put all modules into train or eval mode in a block."""
    before = [(module, module.training) for module in model.modules()]
    model.train(mode == "train")
    try:
        yield
    finally:
        for module, training in before:
            module.training = training


def with_containers(rows: list[LayerInfo]) -> list[LayerInfo]:
    """The rows, each preceded by rows of the containers around it that are not called (ModuleList)."""
    out: list[LayerInfo] = []
    path: list[LayerInfo] = []                       # the rows around the current one, by depth
    indices: dict[int, int] = {}
    seen: set[Module] = set()

    def add(row: LayerInfo) -> None:
        del path[row.depth:]
        path.append(row)
        indices[row.depth] = row.depth_index = indices.get(row.depth, 0) + 1
        row.is_recursive = row.module in seen
        seen.add(row.module)
        row.count_parameters()
        out.append(row)

    for row in rows:
        for depth, place in enumerate(row.place.around):
            if depth >= len(path) or path[depth].place is not place:
                add(LayerInfo(place))
        add(row)

    for row in out:
        below = {id(p) for module in row.module.modules() if module is not row.module and module in seen
                 for p in module.parameters()}
        row.own_params = sum(counted.size for counted in row.parameters if counted.identity not in below)
    return out


def first_tensor(value: Any) -> Any:
    """The first tensor of nested lists, of a dict's last value; None if there is none."""
    if isinstance(value, (Tensor, np.ndarray)):
        return value
    if isinstance(getattr(value, "data", None), Tensor):             # a PackedSequence
        return value.data
    if isinstance(value, Mapping):
        value = list(value.values())[-1:]
    if isinstance(value, (list, tuple)):
        return next((found for v in value if (found := first_tensor(v)) is not None), None)
    return None


def shape_of(value: Any) -> list[int]:
    """The shape of the first tensor; [] if there is none."""
    first = first_tensor(value)
    return [] if first is None else list(first.shape)


def bytes_of(value: Any) -> int:
    """The bytes of all tensors in nested lists and dicts."""
    return sum(int(x.nbytes) for x in nested_values(value) if isinstance(x, (Tensor, np.ndarray)))


# --- the table ----------------------------------------------------------------------------------------------------------

class Format:
    """The columns of the table and their widths."""

    def __init__(self, columns: tuple[str, ...], width: int, depth: int, settings: set[str], verbose: bool) -> None:
        self.columns: tuple[str, ...] = columns
        self.width: int = width
        self.depth: int = depth
        self.settings: set[str] = settings
        self.verbose: bool = verbose
        self.name_width = 40

    def line(self, name: str, values: Mapping[str, str]) -> str:
        """A row of the table."""
        cells = [f"{values.get(column, ''):<{self.width}}" for column in self.columns]
        return " ".join([f"{name:<{self.name_width}}", *cells]).rstrip()

    def indented(self, depth: int, text: str) -> str:
        """A name at its depth."""
        ascii_only = "ascii_only" in self.settings
        branch = ("+ ", "+ ") if ascii_only else ("├─", "└─")
        if depth < 2:
            return (branch[0] if depth else "") + text
        return ("|    " if ascii_only else "│    ") * (depth - 1) + branch[1] + text

    def title(self, row: LayerInfo) -> str:
        """The name of a row."""
        name = f" ({row.var_name})" if "var_names" in self.settings else ""
        index = f": {row.depth}-{row.depth_index}" if row.depth and "depth" in self.settings else ""
        return row.class_name + name + index

    def header(self) -> str:
        """The row of titles."""
        name = " (var_name)" if "var_names" in self.settings else ""
        return self.line(f"Layer (type{name}{':depth-idx' if 'depth' in self.settings else ''})", TITLES)

    def cells(self, row: LayerInfo, total: int) -> dict[str, str]:
        """The columns of a row. At the last depth they include the figures of modules below."""
        whole = row.is_leaf_layer or row.depth == self.depth
        params = row.num_params if whole else row.own_params
        macs = row.flops // 2 if whole else row.macs
        share = f"{params / total:>7.2%}" if params > 0 and total else "     --"
        number = "--" if params <= 0 else f"{params:,}" if row.trainable_params else f"({params:,})"
        again = row.is_recursive and row.num_params > 0
        kernel = getattr(row.module, "kernel_size", None)
        return {"input_size": str(row.input_size or "--"), "output_size": str(row.output_size or "--"),
                "num_params": "(recursive)" if again else number,
                "params_percent": "(recursive)" if row.is_recursive else share,
                "kernel_size": str(list(kernel) if isinstance(kernel, tuple) else kernel or "--"),
                "mult_adds": f"{macs:,}" if macs else "--", "trainable": row.trainable}

    def rows(self, row: LayerInfo, total: int) -> Iterator[str]:
        """The lines of a row: its own, and with verbose=2 one for each parameter."""
        yield self.line(self.indented(row.depth, self.title(row)), self.cells(row, total))
        if self.verbose:
            shown = [p for p in row.parameters if row.depth or "." not in p.name]
            for place, p in enumerate(shown):
                branch = "└─" if place == len(shown) - 1 else "├─"
                yield self.line(self.indented(row.depth + 1, p.name),
                                {"kernel_size": str(p.shape), "num_params": f"{branch}{p.size:,}"})


class ModelStatistics:
    """Result of summary(): the rows (summary_list) and the totals; its text is the table."""

    def __init__(self, rows: list[LayerInfo], input_bytes: int, ran: bool, form: Format) -> None:
        self.summary_list: list[LayerInfo] = rows
        self.total_input: int = input_bytes
        self.ran: bool = ran
        self.formatting: Format = form
        model = rows[0]                              # parameters that modules share count once
        self.total_params: int = model.num_params
        self.trainable_params: int = model.trainable_params
        self.total_param_bytes: int = model.param_bytes
        self.total_mult_adds: int = model.flops // 2
        # outputs of layers with parameters, and their gradients
        self.total_output_bytes: int = 2 * sum(row.output_bytes for row in rows if row.is_leaf_layer and row.num_params)
        longest = max(len(form.title(row)) + 5 * row.depth + 1 for row in rows)
        if longest >= form.name_width:
            form.name_width = math.ceil(longest / 5) * 5

    def __repr__(self) -> str:
        form = self.formatting
        divider = "=" * (form.name_width + form.width * len(form.columns))
        lines = [divider, form.header(), divider]
        for row in self.summary_list:
            if row.depth <= form.depth and not (row.is_recursive and "hide_recursive_layers" in form.settings):
                lines += form.rows(row, self.total_params)
        lines += [divider, f"Total params: {self.total_params:,}", f"Trainable params: {self.trainable_params:,}",
                  f"Non-trainable params: {self.total_params - self.trainable_params:,}"]
        if self.ran:
            scale, unit = next(((s, u) for s, u in SCALES if self.total_mult_adds >= s), SCALES[-1])
            scaled = self.total_mult_adds / scale
            sizes = {"Input size": self.total_input, "Forward/backward pass size": self.total_output_bytes,
                     "Params size": self.total_param_bytes}
            sizes["Estimated Total Size"] = sum(sizes.values())
            lines += [f"Total mult-adds ({unit}): {scaled:,.{0 if scaled.is_integer() else 2}f}", divider,
                      *(f"{name} (MB): {size / 1e6:0.2f}" for name, size in sizes.items())]
        return "\n".join([*lines, divider])

    def _repr_html_(self) -> str:
        return f"<pre>{escaped(repr(self))}</pre>"


_docstrings.complete(globals(), "observe", "utils.summary.")
