"""Every public class, function and method says in a docstring what a reader needs: three words at the least."""

import ast
import functools
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SHORTEST = 3                         # words; "The loss." says nothing that the name does not


def bases_of(node):
    """The names of a class's bases, without modules and parameters of types."""
    return {ast.unparse(base).partition("[")[0].rpartition(".")[2] for base in node.bases} - {node.name}


@functools.cache
def parsed(path):
    """The body of a module."""
    return ast.parse(path.read_text()).body


def statements(body):
    """The statements of a body and those inside them; no expression holds one."""
    for node in body:
        yield node
        yield from statements(inner for inner in ast.iter_child_nodes(node) if not isinstance(inner, ast.expr))


def classes(files):
    """{name of a class: (names of its bases, its methods with docstrings)}; classes of one name count together."""
    found = {}
    for node in (node for file in files for node in statements(parsed(file)) if isinstance(node, ast.ClassDef)):
        bases, methods = found.setdefault(node.name, (set(), set()))
        bases |= bases_of(node)
        methods |= {inner.name for inner in node.body if isinstance(inner, ast.FunctionDef) and ast.get_docstring(inner)}
    return found


def inherits(known, bases, method):
    """Whether a base of a class documents this method: help() of the class shows that docstring."""
    return any(method in known[base][1] or inherits({**known, base: ((), ())}, known[base][0], method) for base in bases
               if base in known)


def undocumented(body, prefix="", known=None, bases=()):
    """Names of public definitions in a class or module body whose docstring is missing or too short."""
    for node in body:
        if isinstance(node, ast.FunctionDef) and not ast.get_docstring(node) and inherits(known or {}, bases, node.name):
            continue
        if isinstance(node, (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)) and not node.name.startswith("_"):
            name = prefix + node.name
            marks = [ast.unparse(mark).rpartition(".")[2] for mark in node.decorator_list]
            if len((ast.get_docstring(node) or "").split()) < SHORTEST and not {"overload", "setter", "deleter"} & {*marks}:
                yield name
            if isinstance(node, ast.ClassDef):
                yield from undocumented(node.body, f"{name}.", known, bases_of(node))
        elif isinstance(node, (ast.If, ast.Try)) and ast.unparse(getattr(node, "test", node)) != "TYPE_CHECKING":
            yield from undocumented(node.body, prefix, known, bases)


def rooms():
    for package in ("autograd", "dparallel", "launch"):
        for room in sorted((ROOT / package).iterdir()):
            if room.suffix == ".py" or (room / "__init__.py").exists():
                yield room.relative_to(ROOT).as_posix()


KNOWN = classes(file for package in ("autograd", "dparallel") for file in (ROOT / package).rglob("*.py"))


@pytest.mark.parametrize("room", list(rooms()))
def test_docstrings_have_three_words(room):
    path = ROOT / room
    found = [f"{file.relative_to(ROOT)}: {name}" for file in (sorted(path.rglob("*.py")) if path.is_dir() else [path])
             for name in undocumented(ast.parse(file.read_text()).body, known=KNOWN)]
    assert not found, "\n".join(found)


def test_the_check_finds_what_it_looks_for():
    text = '"""M."""\nclass A:\n    """x."""\n    def f(self): ...\n    def _g(self): ...\ndef h():\n    """Says what it returns."""\n'
    assert list(undocumented(ast.parse(text).body)) == ["A", "A.f"]
    known = {"A": ((), {"f"}), "B": (("A", "B"), ())}
    assert inherits(known, ["B"], "f") and not inherits(known, ["B"], "g")
