"""PyTorch's names that are not here: what code that imports torch gets for them under dparallel.torch_alias.

Three rules. A name of NAMES exists and raises NotImplementedError when it is used. An import statement can import any other
absent name, which also raises when it is used; but where a `try` around the statement handles ImportError, the import raises
it, and the code takes its fallback. Every other query (hasattr, getattr, find_spec, import_module) finds no such name.

Standard library only. Read first: this page.
"""

from __future__ import annotations

import ast
import functools
import linecache
from dis import opmap
from types import FrameType
from typing import Any, NoReturn

# module: names that published packages mention without using them: in annotations, isinstance(), tables of dtypes
NAMES: dict[str, str] = {
    "torch": "",
}


class AbsentError(NotImplementedError, AttributeError):
    """Raised when an absent name is used. It is an AttributeError too, so hasattr() and getattr() work as ever."""


class Absent(type):
    """The metaclass of absent names. They are classes, so annotations, isinstance(), `Name | None` and subclasses work."""

    absent: str

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


@functools.cache
def named() -> frozenset[str]:
    """All names of NAMES, with their modules, and these modules."""
    return frozenset({*NAMES, *(f"{module}.{name}" for module, names in NAMES.items() for name in names.split())})


def find(module: str, name: str, frame: FrameType) -> Absent:
    """The absent name of a module that the frame mentions; AttributeError if by the rules it is not there.

    Args:
        module: As it was imported, "torch.nn".
        name: The attribute.
        frame: The code that mentions it.
    """
    full = f"{module}.{name}"
    if full in named() or (not name.startswith("__") and unguarded(frame, "IMPORT_FROM")):
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


__all__ = ["NAMES", "Absent", "AbsentError", "absent", "find", "named", "unguarded"]
