"""The rooms keep to the budget of lines in ARCHITECTURE.md: `python -m tools.size --write`, with the reason, where one may not."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))
from tools import size  # noqa: E402

IN_GIT = subprocess.run(["git", "rev-parse"], cwd=ROOT, capture_output=True).returncode == 0
LONGEST = 600                                        # lines of a file
LONGER = {"autograd/nn/module.py": 700}              # one class, with PyTorch's 70 methods


def over(found, budget):
    """Rooms with more than 5 % (and 20 lines) over their budget, or without one."""
    return {room: (count, budget.get(room)) for room, count in found.items()
            if room not in budget or any(now > most * 1.05 + 20 for now, most in zip(count, budget[room]))}


def test_the_counter():
    text = '"""Two\nlines."""\n\n# a comment\nx = """no\ndocstring"""\n\n\ndef f():\n    """One."""\n    return x      # said\n'
    assert size.counted(text) == (4, 3)
    assert over({"a": (126, 10), "b": (10, 10), "c": (1, 1)}, {"a": (100, 10), "b": (100, 100)}) == {"a": ((126, 10), (100, 10)), "c": ((1, 1), None)}


@pytest.mark.skipif(not IN_GIT, reason="git's list of files says what counts")
def test_rooms_keep_to_their_budget():
    found, budget = size.rooms(), size.budget()
    assert not over(found, budget) and len(budget) > 30, over(found, budget)
    gone = budget.keys() - found.keys()
    assert not gone, f"ARCHITECTURE.md has a budget for rooms that are not there: {gone}"


@pytest.mark.skipif(not IN_GIT, reason="git's list of files says what counts")
def test_files_are_as_long_as_their_idea():
    lines = {str(path.relative_to(ROOT)): path.read_text().count("\n") for path in size.sources()}
    longer = {name: count for name, count in lines.items() if count > LONGER.get(name, LONGEST)}
    assert not longer, f"more than {LONGEST} lines: {longer}"
    assert all(lines[name] > LONGEST for name in LONGER), "shorter now: take it off the list"


def classes_longer_than(most, text):
    """Names of the classes whose docstring has more lines."""
    if "class " not in text:
        return set()
    return {node.name for node in ast.walk(ast.parse(text)) if isinstance(node, ast.ClassDef) and ast.get_docstring(node, False)
            and node.body[0].end_lineno - node.body[0].lineno >= most}


@pytest.mark.skipif(not IN_GIT, reason="git's list of files says what counts")
def test_docstrings_of_classes_have_at_most_30_lines():
    assert classes_longer_than(2, 'class A:\n    """Two\n    lines."""\nclass B:\n    """Three\n\n    lines."""\n') == {"B"}
    found = {name for path in size.sources() for name in classes_longer_than(30, path.read_text())}
    assert not found, "arguments, errors and examples are tables: docs/docstrings"
