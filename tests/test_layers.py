"""Who may import whom. A room is a folder or a lone module right under a package; it imports rooms of lines above its own."""

import ast
import functools
import re
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.quick
ROOT = Path(__file__).parent.parent
PACKAGES = ("autograd", "dparallel", "launch")
ORDER = {
    "autograd": """
        base torch_names spans
        kernels backends
        core distributed
        modes
        ops
        amp tensor_api compat signal
        transforms nn linalg
        observe optim serialization distributions
        compile
        cuda cpu utils integrations jit""",
    "dparallel": """
        same_modules
        autograd
        comm
        functions data consistency
        pytree
        hooks replicas
        reduction
        sharding testing
        model
        evaluation distributed checkpoint observe
        survival integrations torch_alias""",
}
FLOOR = {(package, room): number for package, text in ORDER.items()
         for number, line in enumerate(text.splitlines()) for room in line.split()}
INNER_IMPORTS = {("dparallel/comm/job.py", f"dparallel.comm.mpi.{name}")          # world() alone starts MPI
                 for name in ("communicator", "membership")}


def name_of(path):
    parts = list(path.relative_to(ROOT).with_suffix("").parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


FILES = {name_of(path): path for package in PACKAGES for path in sorted((ROOT / package).rglob("*.py"))}


@functools.cache
def is_door(name):
    """A module right under a package (or in autograd.autograd) that only passes names on."""
    statements = ast.parse(FILES[name].read_text()).body
    return (name.count(".") == 1 or name.startswith("autograd.autograd")) and len(statements) <= 15 and not any(
        isinstance(s, (ast.FunctionDef, ast.ClassDef)) for s in statements)


@functools.cache
def imports(name):
    """(module, imported name or None, inside a function) for every import of the file."""
    path, found = FILES[name], []
    here = name.split(".") if path.name == "__init__.py" else name.split(".")[:-1]

    def visit(node, inside):
        if isinstance(node, ast.Import):
            found.extend((alias.name, None, inside) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            stem = [*here[:len(here) - node.level + 1], *filter(None, [node.module])] if node.level else [node.module]
            for alias in node.names:
                target = ".".join([*stem, alias.name])
                found.append((target, None, inside) if target in FILES else (".".join(stem), alias.name, inside))
        elif not isinstance(node, ast.expr):         # which holds no statement
            for child in ast.iter_child_nodes(node):
                visit(child, inside or isinstance(node, ast.FunctionDef))

    visit(ast.parse(path.read_text()), False)
    return found


@pytest.mark.parametrize("name", [name for name in FILES if name not in PACKAGES])
def test_imports_point_down(name):
    package, room = name.split(".")[:2]
    text = FILES.get(f"{package}.{room}").read_text()
    declared = re.search(r"^May import: (.*?)\. Read first: (\S+?\.py|this page)", text, re.M)
    for target, imported, inside in imports(name):
        top, _, rest = target.partition(".")
        if top not in PACKAGES:
            continue
        other = rest.split(".")[0]
        assert not (imported or "").startswith("_") or imported.startswith("__") or is_door(name), f"the private {imported} of {target}"
        assert not inside or (str(FILES[name].relative_to(ROOT)), target) in INNER_IMPORTS, f"{target} is imported in a function"
        assert not (package == "autograd" and top != "autograd") and not (package == "launch" and top != "launch"), target
        assert target != "autograd" or package != "dparallel" or room == "autograd", "HIPS's may have the name: ..autograd"
        if top != package or other == room or is_door(name) or package == "launch" or target == "dparallel.autograd":
            continue
        assert (package, other) in FLOOR, f"{name} imports {target}, which is a door: import what is behind it"
        assert FLOOR[package, other] < FLOOR[package, room], f"{name} imports {target}, which is not below it"
        assert declared is None or other in declared[1].split(", "), f"{room}/__init__.py does not say that it imports {other}"


@pytest.mark.parametrize("room", [".".join(room) for room in FLOOR])
def test_rooms_say_what_they_are(room):
    text = ast.get_docstring(ast.parse(FILES[room].read_text()))
    first = re.search(r"Read first: ([\w/]+\.py)?", text)
    assert first or FILES[room].name != "__init__.py" or len(list(FILES[room].parent.rglob("*.py"))) < 6
    assert not first or not first[1] or (FILES[room].parent / first[1]).exists(), first[1]


def test_only_the_communicator_of_mpi_imports_mpi4py():
    assert [name for name in FILES if any(t.split(".")[0] == "mpi4py" for t, _, _ in imports(name))] == [
        f"dparallel.comm.mpi.{name}" for name in ("communicator", "membership", "operations", "surviving")]


def test_launch_is_standard_library_only():
    found = {t.split(".")[0] for name in FILES if name.startswith("launch") for t, _, _ in imports(name)}
    assert found <= {"launch", *sys.stdlib_module_names}
