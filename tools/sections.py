"""The docstrings of dparallel, dparallel/*/_docstrings.py, and of SummaryWriter.

A docstring is the summary in the code, followed by the sections of docs/docstrings/dparallel/*.txt and autograd/*.txt: arguments of the function
and of its families, result, errors, example. docs/docstrings/README describes the tables. Nothing of dparallel is imported.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path

from .docstrings import OUT, ROOT, TABLES, Entry, module_text, read_tables, wrapped

PACKAGE = ROOT / "dparallel"


def definitions(body: list[ast.stmt], prefix: str) -> Iterator[tuple[str, ast.ClassDef | ast.FunctionDef]]:
    """The functions, classes and methods of a module, with their paths."""
    for node in body:
        if isinstance(node, (ast.ClassDef, ast.FunctionDef)):
            yield prefix + node.name, node
        if isinstance(node, ast.ClassDef):
            yield from definitions(node.body, f"{prefix}{node.name}.")


def parameters(node: ast.ClassDef | ast.FunctionDef) -> list[str]:
    """The names of the arguments of a function, or of a class's constructor: its own, or its annotated fields."""
    if isinstance(node, ast.ClassDef):
        for inner in node.body:
            if isinstance(inner, ast.FunctionDef) and inner.name == "__init__":
                return parameters(inner)
        return [field.target.id for field in node.body if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name)]
    found = node.args
    names = [argument.arg for argument in [*found.posonlyargs, *found.args]]
    names += [f"*{found.vararg.arg}"] if found.vararg else []
    names += [argument.arg for argument in found.kwonlyargs]
    return names + ([f"**{found.kwarg.arg}"] if found.kwarg else [])


def sections(entry: Entry, kin: list[Entry], names: list[str]) -> list[str]:
    """The lines of the sections: what an entry says, then what its families say of these arguments."""
    arguments: list[str] = []
    together = {name: key for key in entry.arguments for name in key.split(", ")}        # "device_ids, output_device: ..."
    for name in dict.fromkeys([*(together.get(name, name) for name in names), *entry.arguments]):
        table = next((table for table in (entry, *kin) if name in table.arguments), None)
        if table is not None:
            kind = table.kinds.get(name)
            arguments += wrapped(f"{name}{f' ({kind})' if kind else ''}: {table.arguments[name]}.")
    returns = entry.returns or next((table.returns for table in kin if table.returns), "")
    errors = dict.fromkeys(entry.errors + [error for table in kin for error in table.errors])
    parts = {"Args": arguments, "Attributes": [line for text in entry.attributes for line in wrapped(f"{text}.")],
             "Returns": wrapped(f"{returns}.") if returns else [],
             "Raises": [line for error in errors for line in wrapped(f"{error}.")],
             "Example": [f"    {line}" for line in entry.example]}
    return [line for title, lines in parts.items() if lines for line in ("", f"{title}:", *lines)]


def complete(package: Path, tables: Path) -> tuple[dict[tuple[str, str], str], list[str]]:
    """({(module, path in it): docstring} of what the tables of a package describe, what is lacking)."""
    entries, families = read_tables(tables)
    found: dict[tuple[str, str], str] = {}
    lacking: list[str] = []
    for file in sorted(package.rglob("*.py")):
        module = ".".join(file.relative_to(package).with_suffix("").parts).removesuffix(".__init__")
        if not any(path.startswith(f"{module}.") for path in entries):
            continue
        for path, node in definitions(ast.parse(file.read_text(encoding="utf-8")).body, f"{module}."):
            kin = [entry for patterns, entry in families if any(fnmatchcase(path, pattern) for pattern in patterns)]
            summary, entry = ast.get_docstring(node), entries.pop(path, None)
            if summary and entry and any(f"\n{title}:\n" in summary for title in ("Args", "Attributes", "Returns", "Raises", "Example")):
                lacking.append(f"{path}: the docstring in the code has sections, and so has a table")
            if summary and entry and (lines := sections(entry, kin, parameters(node))):
                found[module, path.removeprefix(f"{module}.")] = "\n".join([summary, *lines])
    return found, lacking + [f"{path}: in a table, but not in the code" for path in entries]


def files() -> tuple[dict[Path, str], list[str]]:
    """({path: text} of the modules, what is lacking)."""
    ours, lacking = complete(PACKAGE, TABLES / "dparallel")
    rooms: dict[str, dict[str, str]] = {}
    for (module, path), text in ours.items():
        rooms.setdefault(module.partition(".")[0], {})[f"dparallel.{module}:{path}"] = text
    writer, more = complete(ROOT / "autograd", TABLES / "autograd")           # can't be imported without tensorboard
    board = {f"utils.tensorboard.{path}": text for (_, path), text in writer.items()}
    return {**{PACKAGE / room / "_docstrings.py": module_text(texts) for room, texts in rooms.items()},
            OUT / "tensorboard.py": module_text(board)}, lacking + more
