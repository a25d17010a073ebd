"""The stub files that type checkers and editors read: autograd/**/*.pyi, from the tables that bind names at run time.

nn/parallel.pyi and distributed/ pass on what dparallel provides under these names (base/plugins.py), which running code finds
by itself and checkers would not. core/tensor_methods.pyi has Tensor's operators, methods and properties (core/tensor.py takes it as the base class, for checkers
alone); the others have the functions of the modules beside them. Names, arguments and defaults are those of the functions at
run time, types their annotations. Where these say nothing, the function was made by a declaration (core/declare.py), of tensors
that give a tensor: PARAMETERS has the types of its arguments by name. FORMS has functions whose result depends on an argument.
"""

from __future__ import annotations

import ast
import builtins
import importlib
import inspect
import sys
import types
import typing
from pathlib import Path

import autograd as ag
from autograd import ops
from autograd.base import plugins
from autograd.base import types as base_types
from autograd.base.devices import Constant
from autograd.core import types as core_types
from autograd.core.tensor import Tensor, TensorBase
from autograd.tensor_api import binding

ROOT = Path(__file__).parent.parent
DOORS = ("linalg", "fft", "special", "nn.functional")    # modules that only pass functions of ops on
HEAD = '"""Written by tools/write.py from what is bound at run time: do not edit."""\n\n'
KNOWN = {**{name: f"autograd.base.types:{name}" for name in base_types.__all__},
         **{name: f"autograd.core.types:{name}" for name in core_types.__all__},
         "Any": "typing:Any", "Sequence": "collections.abc:Sequence", "Iterator": "collections.abc:Iterator",
         "TypeGuard": "typing:TypeGuard", "Iterable": "collections.abc:Iterable", "Mapping": "collections.abc:Mapping",
         "Callable": "collections.abc:Callable", "Generator": "autograd.modes.random:Generator", "np": "numpy",
         "overload": "typing:overload", "Literal": "typing:Literal", "Self": "typing_extensions:Self", "Tensor": "autograd.core.tensor:Tensor",
         "TensorBase": "autograd.core.tensor:TensorBase", "EllipsisType": "types:EllipsisType",
         "UntypedStorage": "autograd.tensor_api.storage:UntypedStorage",
         "TypedStorage": "autograd.tensor_api.storage:TypedStorage", "Number": "autograd.base.types:Number", "Size": "autograd.base.size:Size",
         "TensorDType": "autograd.base.dtypes:TensorDType"}

VALUE = "Tensor | Number | Array | np.generic"                       # an operand beside a Tensor
INDEX = "int | slice | EllipsisType | Tensor | Array | list[Any] | range | tuple[Any, ...] | None"
DATA = "Tensor | Number | Array | np.generic | Sequence[Any]"
SIZES = "int | Tensor | Sequence[int]"
SIZED = ("size", "shape", "dims", "repeats")                         # keywords for what may be given one by one, too
# types of arguments that a function leaves open, by the argument's name; "function.argument" comes first
PARAMETERS = {
    "out": "Tensor | None", "dtype": "DTypeLike", "device": "DeviceLike", "other": VALUE, "exponent": VALUE, "dim": "int",
    "axis": "int | None", "min": f"{VALUE} | None", "max": f"{VALUE} | None", "weight": "Tensor",
    "bias": "Tensor | None", "weights": "Tensor | None", "running_mean": "Tensor | None", "running_var": "Tensor | None",
    "source": "int | Sequence[int]", "destination": "int | Sequence[int]", "args": SIZES, "sizes": SIZES, "size": SIZES,
    "shape": "Sequence[int]", "dims": "int | Sequence[int]", "tensors": "Tensor | Sequence[Tensor]", "tensor": "Tensor",
    "normalized_shape": "SizeLike", "output_size": "int | Sequence[int | None] | None", "stride": "SizeLike",
    "padding": "SizeLike | str", "dilation": "SizeLike", "output_padding": "SizeLike", "index": "Tensor",
    "obj": DATA, "ext_tensor": "object", "buffer": "object", "matrices": "Tensor", "shapes": "SizeLike", "n": "int",
    "bernoulli.p": "Tensor | float | None", "values": "Tensor", "histogram.range": "Sequence[float] | None",
    "histogramdd.range": "Sequence[float] | None", "histogramdd.bins": "int | Sequence[int] | Sequence[Tensor]",
    "alpha": "Number", "value": "Tensor | Number", "start": "int | Tensor", "random_.to": "int | None",
    "repeats": "Sequence[int] | None", "indices_or_sections": "int | Tensor | Sequence[int]", "dx": "Number",
    "tensordot.dims": "int | Sequence[int] | Sequence[Sequence[int]] | Tensor", "batch_norm.weight": "Tensor | None",
    "meshgrid.tensors": "Tensor | Sequence[Tensor]",
    "aminmax.out": "Sequence[Tensor] | None", "histogram.out": "Sequence[Tensor] | None", "matrix_norm.dim": "Sequence[int]", "linalg.norm.dim": "Dims", "steps": "int", "low": "int", "high": "int", "M": "Tensor | None", "p": "float | str | None", "ord": "float | str | None",
    "tol": "Tensor | float | None", "atol": "Tensor | float | None", "rtol": "Tensor | float | None",
    "rcond": "Tensor | float | None", "offsets": "Tensor | None", "scale_factor": "float | Sequence[float] | None",
    "kernel_size": "SizeLike", "static_k": "Tensor | None", "static_v": "Tensor | None",
    "inputs": "Tensor | Sequence[Tensor] | None", "src": f"{VALUE} | Sequence[Any]", "new.data": DATA, "options": "Any",
    "__dlpack__.stream": "int | None", "__dlpack__.dl_device": "tuple[int, int] | None",
    "mask": "Tensor", "indices": "Tensor", "data": DATA, "fill_value": "Number", "generator": "Generator | None",
}
# functions that also take a number for a tensor, beside another tensor
PARAMETERS |= dict.fromkeys((
    "bitwise_and.input", "bitwise_or.input", "bitwise_xor.input", "bitwise_left_shift.input", "bitwise_right_shift.input",
    "bucketize.input", "float_power.input", "remainder.input", "searchsorted.input", "xlogy.input", "xlog1py.input",
    "zeta.input"), "Tensor | Number")
FIRST = ("data", "obj", "ext_tensor", "buffer", "shapes", "sizes", "n")    # first arguments that are no tensor


def defaulted(text: str, optional: bool) -> str:
    """A type, with None where that is the default."""
    return f"{text} | None" if optional and "None" not in text else text


class Stub:
    """The text of one stub file, and what it has to import."""

    def __init__(self, module: str, taken: set[str], owner: str) -> None:
        self.module, self.taken = module, taken               # taken: names that the file defines, which hide others
        self.owner = owner                                    # what its functions are written after: "ag", "Tensor", "linalg"
        self.imports: dict[str, set[str]] = {}
        self.lines: list[str] = []
        self.open: list[str] = []                             # arguments and results that stayed Any

    def name(self, name: str, namespace: dict[str, typing.Any]) -> str:
        """How the file writes a name of an annotation, which it imports."""
        if name in KNOWN:
            home, _, original = KNOWN[name].partition(":")
        elif hasattr(builtins, name):
            if name not in self.taken or name == "None":
                return name
            home, original = "builtins", name
        else:
            value = namespace[name]
            home, original = value.__module__, value.__qualname__
        if not original:
            self.imports.setdefault("", set()).add("import numpy as np")
            return name
        same = name in ("Tensor", "Generator") and self.module == "autograd"      # which the file imports anyway
        shown = f"_{name}" if name in self.taken and not same else name
        original = f"{original} as {name}" if same else original
        self.imports.setdefault(home, set()).add(original if shown == original or same else f"{original} as {shown}")
        return shown

    def type(self, text: str, namespace: dict[str, typing.Any]) -> str:
        """An annotation, in the names of this file."""
        stub = self

        class Renamed(ast.NodeTransformer):
            def visit_Name(self, node: ast.Name) -> ast.AST:
                return ast.parse(stub.name(node.id, namespace), mode="eval").body

            def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
                if isinstance(node.value, ast.Name) and node.value.id == "builtins":
                    return self.visit_Name(ast.Name(node.attr))
                self.generic_visit(node)
                return node

        return ast.unparse(Renamed().visit(ast.parse(text, mode="eval")).body)

    def signature(self, name: str, function: typing.Any, first: str, returns: str = "", drop: tuple[str, ...] = ()) -> str:
        """The arguments and the result of a function, as a stub writes them; `first`, where given, for the first argument."""
        namespace = {**vars(typing), **namespace_of(function)}
        parts, starred = [], False
        parameters = list(full_signature(function).parameters.values())
        several = any(p.kind is p.VAR_POSITIONAL for p in parameters)
        sizes = next((p.name for p in parameters if several and p.kind is p.KEYWORD_ONLY and p.name in SIZED), "")
        for i, p in enumerate(parameters):
            if p.name in drop:
                continue
            if first and i == 0:
                parts.append(first)
                if p.kind is not p.VAR_POSITIONAL:
                    continue
            if p.kind is p.VAR_POSITIONAL and sizes:             # zeros(2, 3), zeros((2, 3)), zeros(size=(2, 3)); not zeros()
                parts += [f"{sizes}: {self.type(SIZES, namespace)}", f"*more: {self.type(SIZES, namespace)}"]
                continue
            if p.name == sizes:
                continue
            if p.kind is p.KEYWORD_ONLY and not starred:
                starred = True
                if not any(q.kind is q.VAR_POSITIONAL for q in parameters):
                    parts.append("*")
            text = self.annotation(name, p, i == 0 and not first)
            mark = {p.VAR_POSITIONAL: "*", p.VAR_KEYWORD: "**"}.get(p.kind, "")
            part = f"{mark}{p.name}: {self.type(text, namespace)}"
            if p.default is not p.empty:
                plain = p.default is None or type(p.default) in (bool, int, float, str)
                part += f" = {p.default!r}" if plain and repr(p.default) not in ("inf", "nan") else " = ..."
            parts.append(part)
            if p.kind is p.POSITIONAL_ONLY and not (parameters[i + 1:] and parameters[i + 1].kind is p.POSITIONAL_ONLY):
                parts.append("/")
        result = returns or RESULTS.get(name) or annotated(inspect.signature(function).return_annotation)
        if name in RESULTS and not returns:
            return f"({', '.join(parts)}) -> {self.type(result, namespace)}"
        result = "Tensor" if result in ("", "Any", "Operand") else result.replace("Any", "Tensor").replace(
            "dtype[Tensor]", "dtype[Any]").replace("Operand", "Tensor").replace("TensorOrArray", "Tensor")
        return f"({', '.join(parts)}) -> {self.type(result, namespace)}"

    def annotation(self, name: str, p: inspect.Parameter, first: bool) -> str:
        """The type of an argument."""
        text, optional = annotated(p.annotation), p.default is None
        for key in (f"{self.owner}.{name}.{p.name}", f"{name}.{p.name}"):
            if key in PARAMETERS:
                return defaulted(PARAMETERS[key], optional)
        if first and text == "Any" and p.name in FIRST:
            return PARAMETERS[p.name]
        if text == "Operand" or (first and text in ("", "Any")):
            return defaulted("Tensor", optional)
        if text in ("Sequence[Any]",) and p.name == "tensors":
            return "Sequence[Tensor]"
        if text in ("", "Any", "object"):
            if p.name in PARAMETERS:
                return defaulted(PARAMETERS[p.name], optional)
            if p.kind is not p.VAR_KEYWORD:
                self.open.append(f"{name}({p.name})")
            return "Any"
        return text

    def define(self, name: str, function: typing.Any, indent: str = "", first: str = "", **options: typing.Any) -> None:
        """The function, or its forms."""
        method = bool(indent)
        first = "self" if method else first
        base = name.removesuffix("_copy")
        if base != name and name not in FORMS and (hasattr(function, "__signature__") or any(
                p.kind is p.VAR_KEYWORD for p in inspect.signature(function).parameters.values())):
            source, own = getattr(ag, base, None) or getattr(Tensor, base), inspect.signature(function)
            parameters = dict(full_signature(source).parameters)
            if "out" in own.parameters:
                added("out", own.parameters["out"].annotation, parameters)
            function = documented(source, function, own.replace(parameters=[*parameters.values()]))
        if name.endswith("_with_indices"):
            function = documented(getattr(ag.nn.functional, name.removesuffix("_with_indices")), function)
            options.update(returns="tuple[Tensor, Tensor]", drop=("return_indices",))
        returns = options.get("returns", "")
        forms = FORMS.get(f"{self.owner}.{name}") or FORMS.get(name) or (FORMS.get(name[:-1]) if returns == "Self" else None)
        about = inspect.getdoc(function) or ""
        lines = about.strip().split("\n\n")[0].splitlines() if about else []
        about = " ".join(line.strip() for line in lines).replace("\\", "\\\\").replace('"""', "'''")
        body = f'\n{indent}    """{about}"""' if about else " ..."
        if about.endswith('"'):
            body = f'\n{indent}    """{about} """'
        if forms:
            for form in forms:
                tree = ast.parse(f"def f{form}: ...").body[0]
                assert isinstance(tree, ast.FunctionDef) and tree.returns is not None
                for a in [*tree.args.posonlyargs, *tree.args.args, *tree.args.kwonlyargs,
                          *filter(None, (tree.args.vararg, tree.args.kwarg))]:
                    assert a.annotation is not None, (name, form)
                    a.annotation = ast.parse(self.type(ast.unparse(a.annotation), vars(typing)), mode="eval").body
                if first:
                    outs = [i for i, a in enumerate(tree.args.kwonlyargs) if a.arg == "out"]
                    for i in outs:
                        del tree.args.kwonlyargs[i], tree.args.kw_defaults[i]
                    tree.args.args[0].arg, tree.args.args[0].annotation = first, None
                result = self.type(returns or ast.unparse(tree.returns), namespace_of(function))
                if len(forms) > 1:
                    self.lines.append(f"{indent}@{self.name('overload', {})}")
                self.lines.append(f"{indent}def {name}({ast.unparse(tree.args)}) -> {result}:{body}")
        else:
            own = next(iter(inspect.signature(function).parameters), "") if first else ""
            shown = [function, *(renamed(function, *pair) for pair in required_aliases(function).items() if pair[1] != own)]
            for each in shown:
                if len(shown) > 1:
                    self.lines.append(f"{indent}@{self.name('overload', {})}")
                self.lines.append(f"{indent}def {name}{self.signature(name, each, first, **options)}:{body}")

    def text(self) -> str:
        """The file."""
        plain, here, lines = self.imports.get("", ()), self.module.split("."), []
        for home, names in sorted((home, names) for home, names in self.imports.items() if home):
            shown = relative(home, here) if home.split(".")[0] == "autograd" else home
            lines += [f"from {shown} import {name}" for name in sorted(names)]
        return HEAD + "\n".join([*sorted(plain), *lines, "", *self.lines]) + "\n"


def relative(home: str, here: list[str]) -> str:
    """`home` as a relative import of the package `here`."""
    parts, up = home.split("."), 0
    while here[:len(here) - up] != parts[:len(here) - up]:
        up += 1
    return "." * (up + 1) + ".".join(parts[len(here) - up:])


NUMPY_NAMES = {"axis": "dim", "keepdims": "keepdim"}      # that reductions take


def full_signature(function: typing.Any) -> inspect.Signature:
    """A function's signature, with the arguments that its decorators add: `out`, and aliases that may be left out."""
    signature = inspect.signature(function)
    if hasattr(function, "__signature__"):
        return signature
    parameters, shown = dict(signature.parameters), function
    while hasattr(shown, "__wrapped__"):
        file = Path(shown.__code__.co_filename).stem
        free = dict(zip(shown.__code__.co_freevars, (c.cell_contents for c in shown.__closure__ or ()), strict=True))
        names = {}
        if file == "out" or (file == "dims" and "writing" in free):
            result = RESULTS.get(function.__name__) or annotated(signature.return_annotation)
            several = "tuple" in result or hasattr(namespace_of(function).get(result), "_fields")
            added("out", "Sequence[Tensor] | None" if several else "Tensor | None", parameters)
        if file == "dims" and "writing" in free:
            names = NUMPY_NAMES
        if file == "_names":
            names = free.get("names", {})
        for other, name in names.items():
            if name in parameters and parameters[name].default is not inspect.Parameter.empty:
                added(other, annotated(parameters[name].annotation), parameters)
        shown = shown.__wrapped__
    last = [p for p in parameters.values() if p.kind is p.VAR_KEYWORD]
    return signature.replace(parameters=[*(p for p in parameters.values() if p.kind is not p.VAR_KEYWORD), *last])


def required_aliases(function: typing.Any) -> dict[str, str]:
    """Further names of arguments that must be given: softmax(x, axis=0)."""
    found: dict[str, str] = {}
    parameters = inspect.signature(function).parameters
    while not hasattr(function, "__signature__") and hasattr(function, "__wrapped__"):
        file, cells = Path(function.__code__.co_filename).stem, dict(
            zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
        if file == "_names" and "names" in cells:
            found.update(cells["names"].cell_contents)
        elif file == "dims" and "writing" in cells:
            found.update(NUMPY_NAMES)
        function = function.__wrapped__
    return {other: name for other, name in found.items()
            if name in parameters and parameters[name].default is inspect.Parameter.empty}


def renamed(function: typing.Any, other: str, name: str) -> typing.Any:
    """The function with one argument under another name, as a keyword."""
    signature = full_signature(function)
    made = []
    for p in signature.parameters.values():
        after = any(q.kind is q.KEYWORD_ONLY for q in made)
        kind = p.KEYWORD_ONLY if after and p.kind is p.POSITIONAL_OR_KEYWORD else p.kind
        made.append(p.replace(name=other, kind=p.KEYWORD_ONLY) if p.name == name else p.replace(kind=kind))
    return documented(function, function, signature.replace(parameters=made))


def added(name: str, annotation: str, parameters: dict[str, inspect.Parameter]) -> None:
    """Put a keyword that may be left out among the parameters."""
    if name not in parameters:
        text = defaulted(annotation, True)
        parameters[name] = inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=text)


def namespace_of(function: typing.Any) -> dict[str, typing.Any]:
    """The names that a function's annotations are written in."""
    return getattr(inspect.unwrap(function), "__globals__", {})


def annotated(annotation: typing.Any) -> str:
    """An annotation as text; "" where there is none."""
    if annotation is inspect.Parameter.empty:
        return ""
    return annotation if isinstance(annotation, str) else getattr(annotation, "__name__", str(annotation))


# --- forms: functions whose result depends on an argument -----------------------------------------------------------------

OUT = "out: Tensor | None = None"
PAIR = [f"(input: Tensor, *, {OUT}) -> Tensor",
        "(input: Tensor, dim: int, keepdim: bool = False, *, out: Sequence[Tensor] | None = None) -> ValuesIndices",
        "(input: Tensor, *, axis: int, keepdims: bool = False) -> ValuesIndices"]
BEST = [f"(input: Tensor, *, {OUT}) -> Tensor",
        "(input: Tensor, dim: int, keepdim: bool = False, *, out: Sequence[Tensor] | None = None) -> ValuesIndices",
        "(input: Tensor, *, axis: int, keepdims: bool = False) -> ValuesIndices",
        f"(input: Tensor, other: Tensor, *, {OUT}) -> Tensor"]
ONE_OR_MORE = ["(input: Tensor, /) -> Tensor", "(first: Tensor, second: Tensor, /, *tensors: Tensor) -> tuple[Tensor, ...]",
               "(tensors: Sequence[Tensor], /) -> tuple[Tensor, ...]"]
WHERE = [f"(condition: Tensor, input: {VALUE}, other: {VALUE}, *, {OUT}) -> Tensor",
         "(condition: Tensor) -> tuple[Tensor, ...]"]


def pooling() -> list[str]:
    """max_pool1d to 3d: with return_indices a pair."""
    shared = ("input: Tensor, kernel_size: SizeLike, stride: SizeLike | None = None, padding: SizeLike = 0, "
              "dilation: SizeLike = 1, ceil_mode: bool = False")
    return with_indices(shared)


def with_indices(shared: str, more: str = "") -> list[str]:
    """The forms of a function that takes return_indices after the arguments `shared`, before `more`."""
    rest = f", {more}" if more else ""
    return [f"({shared}, return_indices: Literal[False] = False{rest}) -> Tensor",
            f"({shared}, *, return_indices: Literal[True]{rest}) -> tuple[Tensor, Tensor]",
            f"({shared}, return_indices: bool = False{rest}) -> Tensor | tuple[Tensor, Tensor]"]


FORMS: dict[str, list[str]] = {
    "max": BEST, "min": BEST, "median": PAIR, "nanmedian": PAIR,
    **{f"atleast_{n}d": ONE_OR_MORE for n in (1, 2, 3)},
    **{f"max_pool{n}d": pooling() for n in (1, 2, 3)},
    **{f"adaptive_max_pool{n}d": with_indices("input: Tensor, output_size: int | Sequence[int | None] | None") for n in (1, 2, 3)},
    "ag.adaptive_max_pool1d": ["(input: Tensor, output_size: SizeLike) -> tuple[Tensor, Tensor]"],
    **{f"fractional_max_pool{n}d": with_indices(
        "input: Tensor, kernel_size: SizeLike, output_size: SizeLike | None = None, output_ratio: float | Sequence[float] | None = None",
        "_random_samples: Tensor | None = None") for n in (2, 3)},
    "where": WHERE, "Tensor.where": [f"(self: Tensor, condition: Tensor, other: {VALUE}) -> Tensor"],
    "Tensor.trace": ["(self: Tensor) -> Tensor"],
    "size": ["(self: Tensor, dim: None = None) -> Size", "(self: Tensor, dim: int) -> int"],
    "unsqueeze": ["(input: Tensor, dim: int) -> Tensor", "(input: Tensor, *, axis: int) -> Tensor"],
    "scatter": [f"(input: Tensor, dim: int, index: Tensor, src: {VALUE}, *, reduce: str | None = None, {OUT}) -> Tensor",
                f"(input: Tensor, dim: int, index: Tensor, *, value: Tensor | Number, reduce: str | None = None, {OUT}) -> Tensor"],
    "random_": [f"(self: Tensor, {given}*, generator: Generator | None = None) -> Tensor"
                for given in ("", "to: int, ", "from_: int, to: int | None, ")],
    "view": [f"(self: Tensor, size: {SIZES}, *more: {SIZES}) -> Tensor", "(self: Tensor) -> Tensor",
             "(self: Tensor, dtype: TensorDType | np.dtype[Any] | type) -> Tensor"],
    "view_copy": [f"(input: Tensor, size: {SIZES}, *more: {SIZES}, {OUT}) -> Tensor",
                  f"(input: Tensor, dtype: TensorDType | np.dtype[Any] | type, *, {OUT}) -> Tensor"],
    "nonzero": [f"(input: Tensor, *, {OUT}, as_tuple: Literal[False] = False) -> Tensor",
                "(input: Tensor, *, out: None = None, as_tuple: Literal[True]) -> tuple[Tensor, ...]"],
    "stride": ["(self: Tensor) -> tuple[int, ...]", "(self: Tensor, dim: int) -> int"],
    "type": ["(self: Tensor, dtype: None = None, non_blocking: bool = False) -> str", "(self: Tensor, dtype: TensorDType | np.dtype[Any] | type | str, non_blocking: bool = False) -> Tensor"],
    "to": [f"(self: Tensor, {first}, non_blocking: bool = False, copy: bool = False, *, "
           "memory_format: MemoryFormat | None = ...) -> Tensor"
           for first in ("device: DeviceLike, dtype: DTypeLike = None", "dtype: DTypeLike", "other: Tensor")] +
          ["(self: Tensor, *, dtype: DTypeLike = None, device: DeviceLike = None, non_blocking: bool = False, "
           "copy: bool = False, memory_format: MemoryFormat | None = ...) -> Tensor"],
    "arange": [f"({given}*, {OUT}, dtype: DTypeLike = None, layout: Layout | None = None, device: DeviceLike = None, "
               "pin_memory: bool = False, requires_grad: bool = False) -> Tensor"
               for given in ("end: Number | Tensor, ",
                             "start: Number | Tensor, end: Number | Tensor, step: Number | Tensor = 1, ")],
    "trace": ["(input: Tensor) -> Tensor",
              "(input: Callable[..., Any], example_inputs: Any = (), *, check: bool = True) -> Any"],
    "unique": ["(input: Tensor, sorted: bool = True, return_inverse: Literal[False] = False, "
               "return_counts: Literal[False] = False, dim: int | None = None) -> Tensor",
               "(input: Tensor, sorted: bool = True, return_inverse: bool = False, return_counts: bool = False, "
               "dim: int | None = None) -> tuple[Tensor, ...]"],
    "unique_consecutive": ["(input: Tensor, return_inverse: Literal[False] = False, "
                           "return_counts: Literal[False] = False, dim: int | None = None) -> Tensor",
                           "(input: Tensor, return_inverse: bool = False, return_counts: bool = False, "
                           "dim: int | None = None) -> tuple[Tensor, ...]"],
    "alias_copy": [f"(input: Tensor, *, {OUT}) -> Tensor"],
    "einsum": ["(equation: str, *operands: Tensor | Sequence[Tensor]) -> Tensor",
               "(operand: Tensor, sublist: Sequence[int | EllipsisType], /, *args: Tensor | Sequence[int | EllipsisType]) -> Tensor"],
    "__getitem__": [f"(self: Tensor, index: {INDEX}) -> Tensor"],
    "__setitem__": [f"(self: Tensor, index: {INDEX}, value: {VALUE} | list[Any] | tuple[Any, ...]) -> None"],
    "__init__": [f"(self: Tensor, *data: {DATA}, device: DeviceLike = None) -> None"],
    "__iter__": ["(self: Tensor) -> Iterator[Tensor]"],
    "__complex__": ["(self: Tensor) -> complex"],
    "randint": [f"({given}*, generator: Generator | None = None, {OUT}, dtype: DTypeLike = None, "
                "layout: Layout | None = None, device: DeviceLike = None, pin_memory: bool = False, "
                "requires_grad: bool = False) -> Tensor"
                for given in ("high: int, size: Sequence[int], ", "low: int, high: int, size: Sequence[int], ")],
    "randint_like": [f"(input: Tensor, {given}*, generator: Generator | None = None, dtype: DTypeLike = None, "
                     "layout: Layout | None = None, device: DeviceLike = None, pin_memory: bool = False, "
                     "requires_grad: bool = False, memory_format: MemoryFormat | None = None) -> Tensor"
                     for given in ("high: int | Tensor, ", "low: int, high: int, ")],
    "_is_view": ["(self: Tensor) -> bool"], "__array_function__": [
        "(self: Tensor, function: Callable[..., Any], types: Iterable[type], args: tuple[Any, ...], "
        "kwargs: dict[str, Any]) -> Any"],
    "is_tensor": ["(obj: object) -> TypeGuard[Tensor]"],
}
RESULTS = {"unbind_copy": "tuple[Tensor, ...]", "split_copy": "tuple[Tensor, ...]",
           "split_with_sizes_copy": "tuple[Tensor, ...]", "__dlpack__": "Any"}
WITH_OUT = ("add", "floor_divide", "mul", "sub", "true_divide")                # methods that take out= as well
PROPERTY = {"device": "device", "layout": "Layout", "itemsize": "int", "nbytes": "int", "_base": "Tensor | None"}


# --- the files -------------------------------------------------------------------------------------------------------------

def methods() -> Stub:
    """core/tensor_methods.pyi."""
    own = {name for name in vars(TensorBase) if name not in vars(Tensor)} - {"size"} | {"__array_ufunc__", "__hash__"}
    names = [name for name in sorted({*vars(Tensor), "size"}) if name not in own and (
        callable(getattr(Tensor, name)) or isinstance(vars(Tensor)[name], property)) and name not in (
        "__class__", "__doc__", "__dict__", "__weakref__", "__module__", "__getattr__", "__firstlineno__")]
    stub = Stub("autograd.core", {*names, *dir(TensorBase)}, "Tensor")
    reflected = {f"__r{name}__" for name in binding.BINARY} | {"__rdiv__"}
    stub.lines.append("class TensorMethods(" + stub.name("TensorBase", {}) + "):")
    stub.lines.append('    """The operators, methods and properties that tensor_api/binding.py binds to Tensor."""\n')
    for name in names:
        value = vars(Tensor).get(name, getattr(Tensor, name))
        if isinstance(value, property):
            kind = PROPERTY.get(name) or ("bool" if name.startswith("is_") else "Tensor")
            shown = stub.type(kind, {"device": ag.device})
            about = (value.__doc__ or "").partition("\n")[0]
            stub.lines.append(f"    @property\n    def {name}(self) -> {shown}:" + (
                f'\n        """{about}"""' if about and "<" not in about else " ..."))
            if value.fset is not None:
                stub.lines.append(f"    @{name}.setter\n    def {name}(self, value: {stub.type(VALUE, {})}) -> None: ...")
        elif name in binding.OPERATORS or name in reflected or name in binding.AUGMENTED:
            if name in FORMS:
                stub.define(name, value, "    ")
                continue
            unary = name in ("__neg__", "__pos__", "__abs__", "__invert__")
            result = stub.name("Self", {}) if name in binding.AUGMENTED else stub.name("Tensor", {})
            other = "" if unary else f", other: {stub.type(VALUE, {})}"
            mark = "  # type: ignore[override]" if name in ("__eq__", "__ne__") else ""
            stub.lines.append(f"    def {name}(self{other}) -> {result}: ...{mark}")
        else:
            function, returns = getattr(Tensor, name), ""
            if name.endswith("_") and not name.startswith("_"):
                returns, function = "Self", in_place(name)
            stub.define(name, function, "    ", returns=returns, drop=() if name in WITH_OUT else ("out",))
    return stub


def in_place(name: str) -> typing.Any:
    """What has the arguments of a method that writes in place."""
    function, base, families = getattr(Tensor, name), name[:-1], ops.families()[1]
    if base in binding.RESHAPING:
        return getattr(binding.RESHAPING[base], base)
    if name in families and name not in listed(families[name], "METHODS"):
        family = importlib.import_module(f"autograd.ops.{families[name]}")
        return documented(getattr(family, f"{base}_method", None) or getattr(family, base), function)
    return function


def documented(function: typing.Any, source: typing.Any, signature: inspect.Signature | None = None) -> typing.Any:
    """A function of the signature of one and the docstring of another."""
    def shown() -> None: ...
    shown.__signature__ = signature or full_signature(function)            # type: ignore[attr-defined]
    shown.__doc__, shown.__wrapped__ = source.__doc__, function     # type: ignore[attr-defined]
    return shown


def listed(family: str, kind: str) -> typing.Any:
    """One of the lists that a module of operations ends in."""
    return getattr(importlib.import_module(f"autograd.ops.{family}"), kind, ())


def door(name: str) -> Stub:
    """The stub of a module that passes functions on."""
    module = importlib.import_module(f"autograd.{name}")
    stub = Stub(f"autograd.{name}".rpartition(".")[0], set(module.__all__), name)
    stub.lines.append("__all__ = [" + ", ".join(f'"{n}"' for n in sorted(module.__all__)) + "]\n")
    for shown in sorted(module.__all__):
        value = getattr(module, shown)
        if isinstance(value, type):
            stub.imports.setdefault(value.__module__, set()).add(f"{value.__name__} as {shown}")
        else:
            stub.define(shown, value)
    return stub


def package() -> Stub:
    """autograd/__init__.pyi: what __init__.py imports, and the functions."""
    tree = ast.parse((ROOT / "autograd/__init__.py").read_text())
    origin: dict[str, str] = {}
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and node.level:
            for alias in node.names:
                shown = alias.asname or alias.name
                if shown == "*":
                    module = importlib.import_module(f"autograd.{node.module}")
                    origin.update((n, f"autograd.{node.module}:{n}") for n in module.__all__)
                else:
                    origin[shown] = f"autograd.{node.module}:{alias.name}" if node.module else f"autograd:{alias.name}"
    origin.update((name, f"autograd.{home}:{name}") for name, home in ag.HOMES.items() if not home.startswith("ops."))
    functions = {n: getattr(ag, n) for n in ops.families()[0]}
    written = {n for n in dir(Tensor) if n.endswith("_") and not n.startswith("_")} - {*functions}     # ag.exp_(x)
    names = sorted({*filter(str.isidentifier, ag.__all__), *functions, *written, "bfloat16", "__version__"} - {"dtypes", "extensions"})
    stub = Stub("autograd", set(names), "ag")
    for name in names:
        value = getattr(ag, name, None)
        if name in functions and (name not in origin or name == "trace"):
            stub.define(name, value)
        elif name in written:
            stub.define(name, in_place(name), first="input: Tensor, /", returns="Tensor", drop=("out",))
        elif isinstance(value, types.ModuleType):
            stub.imports.setdefault(".", set()).add(f"{name} as {name}")
        elif isinstance(value, Constant):
            stub.lines.append(f"{name}: {type(value).__name__}")
        elif isinstance(value, ag.dtype) or name == "bfloat16":
            stub.lines.append(f"{name}: {stub.type('TensorDType', {})}")
        elif name in origin:
            home, _, original = origin[name].partition(":")
            stub.imports.setdefault(home if home != "autograd" else ".", set()).add(f"{original} as {name}")
        elif name in ("e", "inf", "nan", "pi"):
            stub.imports.setdefault("math", set()).add(f"{name} as {name}")
        elif name == "newaxis":
            stub.lines.append("newaxis: None")
        else:
            kind = type(value)
            stub.lines.append(f"{name}: {stub.name(kind.__name__, {kind.__name__: kind})}")
    return stub


def provided() -> dict[str, str]:
    """The stubs of modules that a plugin provides, and of the modules in these, by path: they import its names."""
    made = {}
    for home in ("autograd.nn.parallel", "autograd.distributed"):
        importlib.import_module(home)
        inside = {name: module for name, module in sys.modules.items() if name == home or (
            name.startswith(f"{home}.") and module is not sys.modules[home] and hasattr(module, "__all__"))}
        for name, module in inside.items():
            source = plugins.provided(home).__name__ if name == home else module.__name__
            package = home == "autograd.distributed" and (name == home or any(n.startswith(f"{name}.") for n in inside))
            path = name.removeprefix("autograd.").replace(".", "/") + ("/__init__" if package else "")
            names = sorted(module.__all__)
            made[path] = (HEAD + "".join(f"from {source} import {n} as {n}\n" for n in names)
                          + "\n__all__ = [" + ", ".join(f'"{n}"' for n in names) + "]\n")
    return made


def files() -> dict[Path, str]:
    """All stub files: path, text. TypeError where an argument has no type: give it an annotation, or put it in PARAMETERS."""
    made = {"core/tensor_methods": methods(), "__init__": package(), **{name.replace(".", "/"): door(name) for name in DOORS}}
    for path, stub in made.items():
        if stub.open:
            raise TypeError(f"{path}.pyi: arguments without a type: {', '.join(stub.open)}")
    texts = {**{path: stub.text() for path, stub in made.items()}, **provided()}
    return {ROOT / f"autograd/{path}.pyi": text for path, text in texts.items()}
