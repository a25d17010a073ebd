"""PyTorch's names that are not here: what code that imports torch gets for them under dparallel.torch_alias.

Three rules. The names of the tables here exist. An import statement can import any other absent name, which raises
NotImplementedError when it is used; but where a `try` around the statement handles ImportError, the import raises it, and
the code takes its fallback. Every other query (hasattr, getattr, find_spec, import_module) finds no such name.

Standard library only. Read first: this page."""

from __future__ import annotations

import ast
import functools
import linecache
from abc import ABCMeta
from dataclasses import make_dataclass
from dis import opmap
from types import FrameType
from typing import Any, NoReturn

# module: names that raise NotImplementedError when they are used; packages have them in annotations, isinstance() and tables
NAMES: dict[str, str] = {
    "torch": "Event SymBool SymFloat SymInt Tag TensorType chalf complex32 float4_e2m1fn_x2 qint8 qint32 quint8",
    "torch._C": "Graph Value",
    "torch._dynamo.eval_frame": "OptimizedModule",
    "torch.distributed.tensor": "DTensor",
    "torch.distributed.device_mesh": "DeviceMesh",
    "torch.export": "Dim ExportedProgram export load save",
    "torch.fx": "Graph GraphModule Interpreter Node Proxy Tracer",
    "torch.fx.graph": "Graph Node",
    "torch.fx.graph_module": "GraphModule",
    "torch.fx.node": "Argument Node Target",
    "torch.fx.proxy": "Proxy",
}


# module: classes of plain values, with their fields, by which packages describe what they would do over several devices
VALUES: dict[str, str] = {
    "torch.distributed.tensor": "Partial(reduce_op) Placement Replicate Shard(dim)",
    "torch.distributed.tensor.placement_types": "Partial(reduce_op) Placement Replicate Shard(dim) "
                                                "_StridedShard(dim,split_factor)",
}
# module: decorators, and functions that register something with an exporter or compiler, none of which is here
MARKS: dict[str, str] = {
    "torch._dynamo": "allow_in_graph assume_constant_result disable mark_dynamic mark_static_address",
    "torch.onnx": "register_custom_op_symbolic",
    "torch.onnx.symbolic_helper": "parse_args",
}
# dtypes of 8 bits: eps, largest, smallest normal and smallest number. They can be compared, and be keys; no tensor has them
FLOAT8 = {"float8_e4m3fn": (0.125, 448.0, 2.0**-6, -448.0), "float8_e4m3fnuz": (0.125, 240.0, 2.0**-7, -240.0),
          "float8_e5m2": (0.25, 57344.0, 2.0**-14, -57344.0), "float8_e5m2fnuz": (0.125, 57344.0, 2.0**-15, -57344.0),
          "float8_e8m0fnu": (1.0, 2.0**127, 2.0**-127, 2.0**-127)}


class AbsentError(NotImplementedError, AttributeError):
    """Raised when an absent name is used. It is an AttributeError too, so hasattr() and getattr() work as ever."""


class Absent(ABCMeta):
    """The metaclass of absent names. They are classes, so annotations, isinstance(), `Name | None` and subclasses work, of
    abstract classes too."""

    absent: str

    def __new__(cls, name: str, bases: tuple[type, ...], namespace: dict[str, Any], **settings: Any) -> Absent:
        """The class; settings are for an __init_subclass__ that is not here."""
        return super().__new__(cls, name, bases, namespace)

    def __call__(cls, *args: Any, **kwargs: Any) -> NoReturn:
        derived = f": {cls.__name__} needs it" if "absent" not in vars(cls) else ""
        raise AbsentError(f"{cls.absent} is not in dparallel{derived}")

    def __getattr__(cls, name: str) -> NoReturn:
        if name.startswith("__"):
            raise AttributeError(name)
        raise AbsentError(f"{cls.absent} is not in dparallel, so it has no {name!r}")

    def __getitem__(cls, item: Any) -> Any:
        return cls


@functools.cache
def absent(name: str) -> Absent:
    """The class that stands for an absent name, such as "torch.distributed.rpc.RRef"."""
    module, _, last = name.rpartition(".")
    return Absent(last, (), {"absent": name, "__module__": module})


class AbsentOperator:
    """An operator of PyTorch's own under torch.ops, such as torch.ops.aten.add.Tensor: a key in exporters' tables."""

    def __init__(self, name: str) -> None:
        self.absent = name

    def __getattr__(self, name: str) -> AbsentOperator:
        if name.startswith("__"):
            raise AttributeError(name)
        return operator(f"{self.absent}.{name}")

    def __call__(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise AbsentError(f"{self.absent} is not in dparallel: call the operation by its name in torch")

    def __repr__(self) -> str:
        return self.absent


operator = functools.cache(AbsentOperator)


def mark(*args: Any, **kwargs: Any) -> Any:
    """A decorator, with arguments or without: it returns its function."""
    return args[0] if len(args) == 1 and not kwargs and callable(args[0]) else lambda function: function


@functools.cache
def named() -> dict[str, Any]:
    """What stands for the names of the tables."""
    found: dict[str, Any] = {f"torch.{name}": Float8(name) for name in FLOAT8}
    for table, make in ((NAMES, absent), (MARKS, lambda full: mark), (VALUES, value_class)):
        for module, names in table.items():
            found.update({f"{module}.{name.partition('(')[0]}": make(f"{module}.{name}") for name in names.split()})
    return found


@functools.cache
def modules() -> frozenset[str]:
    """The modules of the tables."""
    return frozenset({*NAMES, *MARKS, *VALUES})


def value_class(full: str) -> type[Any]:
    """A class of values with the fields of "torch.x.Name(field,...)"."""
    return fields_class(full.partition("(")[0].rpartition(".")[2], full.partition("(")[2].rstrip(")"))


@functools.cache
def fields_class(name: str, fields: str) -> type[Any]:
    """One class for each name, whichever module has it."""
    base = object if name == "Placement" else fields_class("Placement", "")
    return make_dataclass(name, [(field, Any, None) for field in fields.split(",") if field], bases=(base,), frozen=True)


class Float8:
    """A dtype of 8 bits. finfo() knows it."""

    itemsize, is_floating_point, is_complex, is_signed = 1, True, False, True

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return f"torch.{self.name}"

    def __reduce__(self) -> Any:
        return named_now, (f"torch.{self.name}",)

    @property
    def dtype(self) -> NoReturn:
        """NotImplementedError: NumPy looks for this attribute when a tensor of it is made."""
        raise AbsentError(f"torch.{self.name} is not in dparallel: no tensor has this dtype")

    def finfo(self) -> tuple[str, int, float, float, float, float, float]:
        """dtype, bits, eps, max, min, smallest normal, resolution."""
        eps, high, tiny, low = FLOAT8[self.name]
        return self.name, 8, eps, high, low, tiny, 1.0


def named_now(name: str) -> Any:
    """One of named(), for a pickle."""
    return named()[name]


def find(module: str, name: str, frame: FrameType) -> Any:
    """The absent name of a module that the frame mentions; AttributeError if by the rules it is not there.

    Args:
        module: As it was imported, "torch.nn".
        name: The attribute.
        frame: The code that mentions it.
    """
    full = f"{module}.{name}"
    if full in named():
        return named()[full]
    if not name.startswith("__") and unguarded(frame, "IMPORT_FROM"):
        return absent(full)
    raise AttributeError(f"module {module!r} has no attribute {name!r} in dparallel")


def unguarded(frame: FrameType | None, statement: str) -> bool:
    """Whether a frame is at an import statement ("IMPORT_FROM" or "IMPORT_NAME") that does not handle ImportError."""
    if frame is None or frame.f_code.co_code[frame.f_lasti] != opmap[statement]:
        return False
    error = ImportError if statement == "IMPORT_FROM" else ModuleNotFoundError
    return not any(handles(expression, error, frame) for expression in handlers(frame))


def handlers(frame: FrameType) -> list[ast.expr | None]:
    """The exceptions handled around a frame's line, in its function: of `except` and suppress(); None for all."""
    lines = linecache.getlines(frame.f_code.co_filename, frame.f_globals)
    try:
        tree = parsed("".join(lines))
    except SyntaxError:                              # a notebook's cell with commands, a template
        return []
    return around(tree, frame.f_lineno) or []


@functools.lru_cache(maxsize=8)
def parsed(text: str) -> ast.Module:
    """The syntax tree of a file."""
    return ast.parse(text)


def around(node: ast.AST, line: int) -> list[ast.expr | None] | None:
    """What is handled around the import statement of a line below a node; None if it is not there."""
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        return [] if node.lineno <= line <= (node.end_lineno or node.lineno) else None
    for field, value in ast.iter_fields(node):
        for child in value if isinstance(value, list) else [value]:
            if not isinstance(child, (ast.stmt, ast.ExceptHandler)) and type(child).__name__ != "match_case":
                continue
            found = around(child, line)
            if found is None:
                continue
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                return found
            if isinstance(node, ast.Try) and field == "body":
                return [*found, *(handler.type for handler in node.handlers)]
            if isinstance(node, ast.With):
                return [*found, *(argument for item in node.items if isinstance(item.context_expr, ast.Call)
                                  and ast.unparse(item.context_expr.func).endswith("suppress")
                                  for argument in item.context_expr.args)]
            return found
    return None


def handles(expression: ast.expr | None, error: type[Exception], frame: FrameType) -> bool:
    """Whether `except expression` catches an error."""
    if expression is None:
        return True
    try:
        value = eval(compile(ast.Expression(expression), "<except>", "eval"), frame.f_globals, frame.f_locals)
        return issubclass(error, value)
    except Exception:                                # an expression that fails, or is no exception, catches nothing
        return False


__all__ = ["NAMES", "Absent", "AbsentError", "absent", "find", "modules", "named", "operator", "unguarded"]
