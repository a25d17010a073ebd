"""Every public class, function and method says in a docstring what a reader needs: three words at the least."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SHORTEST = 3                         # words; "The loss." says nothing that the name does not


def undocumented(body, prefix=""):
    """Names of public definitions in a class or module body whose docstring is missing or too short."""
    for node in body:
        if isinstance(node, (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)) and not node.name.startswith("_"):
            name = prefix + node.name
            marks = [ast.unparse(mark).rpartition(".")[2] for mark in node.decorator_list]
            if len((ast.get_docstring(node) or "").split()) < SHORTEST and not {"overload", "setter", "deleter"} & {*marks}:
                yield name
            if isinstance(node, ast.ClassDef):
                yield from undocumented(node.body, f"{name}.")
        elif isinstance(node, (ast.If, ast.Try)) and ast.unparse(getattr(node, "test", node)) != "TYPE_CHECKING":
            yield from undocumented(node.body, prefix)


def rooms():
    for package in ("autograd", "dparallel", "launch"):
        for room in sorted((ROOT / package).iterdir()):
            if room.suffix == ".py" or (room / "__init__.py").exists():
                yield room.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("room", list(rooms()))
def test_docstrings_have_three_words(room):
    path = ROOT / room
    found = [f"{file.relative_to(ROOT)}: {name}" for file in (sorted(path.rglob("*.py")) if path.is_dir() else [path])
             for name in undocumented(ast.parse(file.read_text()).body)]
    assert not found, "\n".join(found)


def test_the_check_finds_what_it_looks_for():
    text = '"""M."""\nclass A:\n    """x."""\n    def f(self): ...\n    def _g(self): ...\ndef h():\n    """Says what it returns."""\n'
    assert list(undocumented(ast.parse(text).body)) == ["A", "A.f"]
