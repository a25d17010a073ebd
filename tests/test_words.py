"""Words that a reader would stop at: docstrings, comments and pages use the field's instead. What communicates is a rank or a device."""

import ast
import inspect
import io
import re
import subprocess
import tokenize
from pathlib import Path

import dparallel
from dparallel import comm, distributed, hooks, metrics, testing

ROOT = Path(__file__).parent.parent
BANNED = re.compile(r"\b(told|whoever|nobody|anybody|somebody|midst|wants|takes away|comes to be)\b")
PLACE = re.compile(r"(?<![a-z])places?(?![a-z])|Places?(?![a-z])")           # not "replace" and "placeholder"
IN_PLACE = re.compile(r"in_place|IN_PLACE")


def tracked(*patterns):
    return subprocess.run(["git", "-C", str(ROOT), "ls-files", *patterns], capture_output=True, text=True, check=True).stdout.split()


def prose(source):
    """(line, text) of the docstrings and comments of a module."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)) and ast.get_docstring(node, clean=False):
            yield node.body[0].lineno, ast.get_docstring(node, clean=False)
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string


def test_docstrings_and_comments():
    found = [f"{name}:{line}: {text}" for name in tracked("autograd/*.py", "dparallel/*.py", "launch/*.py", "tools/*.py", "examples/*.py")
             if BANNED.search(source := (ROOT / name).read_text())     # of few, and tokens take a while
             for line, text in prose(source) if BANNED.search(text)]
    assert not found, "\n".join(found)


def test_pages():
    found = [f"{name}:{number}: {line}" for name in tracked("*.md", "docs/docstrings") if name != "CHANGELOG.md"
             for number, line in enumerate((ROOT / name).read_text().splitlines(), 1) if BANNED.search(line)]
    assert not found, "\n".join(found)


def named(thing):
    """The names of a public object: of its methods, and of their arguments."""
    for name, member in [("", thing), *(vars(thing).items() if inspect.isclass(thing) else ())]:
        if not name.startswith("_"):
            yield name
            if inspect.isfunction(getattr(member, "__func__", member)):
                yield from inspect.signature(getattr(member, "__func__", member)).parameters


def test_public_names_say_rank_or_device():
    found = {f"{module.__name__}.{public}: {name}" for module in (dparallel, comm, distributed, hooks, metrics, testing)
             for public in module.__all__ for name in (public, *named(getattr(module, public))) if PLACE.search(IN_PLACE.sub("", name))}
    assert not found, found


def test_the_patterns_find_what_they_are_for():
    assert all(PLACE.search(IN_PLACE.sub("", name)) for name in ("place", "CopyToPlaces", "PerPlace", "local_place", "places_of"))
    assert not any(PLACE.search(IN_PLACE.sub("", name)) for name in ("replace", "placeholder", "sum_in_place", "replaced", "start_sum_in_place"))
