"""The recipes of CONTRIBUTING.md: each is applied to a copy of the repository, and its check must pass there, and only then.

A block of code that begins with "# new file PATH" is written there. A block of kind `diff` names a file in its first line;
its lines with a "+" are put after the last of the lines above them, which must be in the file once.
"""

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.jobs
ROOT = Path(__file__).parent.parent
SECTIONS = re.split(r"^### ", (ROOT / "CONTRIBUTING.md").read_text(), flags=re.M)[1:]
RECIPES = {text.split("\n")[0]: re.split(r"^## ", text, flags=re.M)[0] for text in SECTIONS}
COPIED = ("autograd", "dparallel", "launch", "dprun.py", "pyproject.toml", "docs", "tests", "tools")


def left_out(folder, names):
    """What the copy lacks: benchmarks, hidden files, and what the build has made."""
    found = shutil.ignore_patterns("bench", "*.so", ".*")(folder, names)
    return found | {"native"} if Path(folder).name == "autograd" else found


def blocks(recipe):
    """(kind, text) of a recipe's blocks of code."""
    return re.findall(r"^```(\w+)\n(.*?)^```", recipe, re.S | re.M)


def applied(recipe, folder):
    """Write the recipe's files and changes; the paths that it touched."""
    touched = []
    for kind, text in blocks(recipe):
        first, _, rest = text.partition("\n")
        if kind == "python" and first.startswith("# new file "):
            path = folder / first.removeprefix("# new file ")
            assert path.parent.is_dir() and not path.exists(), f"{path} is there already, or has no folder"
            path.write_text(rest)
        else:
            assert kind == "diff" and first.startswith("--- "), f"{first!r} says neither which file is new nor which is changed"
            path = folder / first.removeprefix("--- ")
            lines = rest.splitlines()
            anchor = "\n".join(line[1:] for line in lines if not line.startswith("+")) + "\n"
            added = "".join(f"{line[1:]}\n" for line in lines if line.startswith("+"))
            before = path.read_text()
            assert before.count(anchor) == 1, f"{path} has {before.count(anchor)} times:\n{anchor}"
            path.write_text(before.replace(anchor, anchor + added))
        touched.append(path)
    return touched


def commands(recipe):
    """The commands of the sentence that begins with "Check:", those that can run on any machine."""
    check = re.search(r"^Check: (.*?)(\n\n|\Z)", recipe, re.S | re.M)[1]
    return [" ".join(command.split()) for command in re.findall(r"`(python [^`]*)`", check)]


def run(command, folder):
    environment = {**os.environ, "PYTHONPATH": str(folder), "DPARALLEL_PURE": "1",
                   "PYTEST_ADDOPTS": "-p no:hypothesispytest"}       # 1 s to import
    return subprocess.run([sys.executable, *shlex.split(command)[1:]], cwd=folder, env=environment, capture_output=True, text=True,
                          timeout=280)


@pytest.fixture
def copy(tmp_path):
    for name in COPIED:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, tmp_path / name, ignore=left_out)
        else:
            shutil.copy(ROOT / name, tmp_path / name)
    return tmp_path


def test_there_are_five():
    kinds = ("operation", "layer", "collective", "comm hook", "optimizer")
    assert list(RECIPES) == [f"A new {kind}" for kind in kinds]


@pytest.mark.parametrize("title", list(RECIPES))
def test_the_recipe_works(title, copy):
    touched = applied(RECIPES[title], copy)
    found = commands(RECIPES[title])
    assert found, "no command to check it"
    for path in touched:
        assert not path.name.startswith("test_") or any(str(path.relative_to(copy)) in command for command in found)
    for command in found:
        done = run(command, copy)
        assert done.returncode == 0, f"{command}\n{done.stdout[-3000:]}{done.stderr[-3000:]}"
        assert " passed" in done.stdout or "pytest" not in command


@pytest.mark.parametrize("title, right, wrong", [
    ("A new operation", "g / (3 * z * z)", "g / (2 * z * z)"), ("A new layer", ".square()", ".abs()"),
    ("A new collective", "Mirror.apply(*gs, comm=ctx.comm)", "gs if len(gs) > 1 else gs[0] * 2"),
    ("A new comm hook", "np.clip(handle.value(), -limit, limit)", "handle.value()"), ("A new optimizer", "m *= b2", "m *= b1")])
def test_the_check_finds_a_mistake(title, right, wrong, copy):
    """A recipe's check is worth something: a mistake in what it adds fails it."""
    assert RECIPES[title].count(right) >= 1
    applied(RECIPES[title].replace(right, wrong), copy)
    for command in commands(RECIPES[title]):
        done = run(command, copy)
        if "pytest" in command:
            break
    assert done.returncode == 1 and " failed" in done.stdout, done.stdout[-3000:]
