"""The documents name what is there: paths, modules, names, links, make's targets; the index lists every page.

CHANGELOG.md may name what was once there; its links are checked.
"""

import ast
import functools
import importlib
import importlib.util
import itertools
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "tests"))

from test_layers import ORDER  # noqa: E402

PAGES = {str(path.relative_to(ROOT)): path.read_text() for path in sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
         if path.parent.name != "site"}                                                # its links are the site's: MkDocs checks them
PRESENT = {name: text for name, text in PAGES.items() if name != "CHANGELOG.md"}
MADE = set(re.findall(r"^# new file (\S+)", PAGES["CONTRIBUTING.md"], re.M))           # by the recipes, in a copy
ELSEWHERE = {"autograd/native", "examples/X.py"}              # made by the compiler; any of the examples
NEEDS = {"autograd.utils.tensorboard": ("tensorboard", "tensorboardX")}                # one of them
USERS_FILES = {"train.py", "ranks.py", "script.py", "X.py"}
PATH = re.compile(r"(?<![\w./-])((?:autograd|autograd_plugins|dparallel|launch|tests|docs|examples)/[\w./-]*\w)")


def code_spans(text):
    """What stands between single backticks, outside blocks of code."""
    return re.findall(r"`([^`\n]+)`", re.sub(r"^```.*?^```", "", text, flags=re.S | re.M))


@functools.cache
def file_names():
    return {path.name for package in ("autograd", "dparallel", "launch", "tests", "docs", "examples") for path in (ROOT / package).rglob("*.py")}


@pytest.mark.parametrize("name", PRESENT)
def test_paths_exist(name):
    text = re.sub(r"\]\([^)]*\)", "]", PRESENT[name])                  # links have a test of their own
    for path in PATH.findall(text):
        if path not in MADE | ELSEWHERE:
            assert (ROOT / path).exists() or (ROOT / path).with_suffix("").is_dir(), f"{name} names {path}, which is not there"
    for picture in re.findall(r"^```text\n(.*?)^```", text, re.S | re.M):
        for path in re.findall(r"(?<![\w/])\w+(?:/\w+)+\.py", picture):
            assert any((ROOT / package / path).exists() for package in ("", "autograd", "dparallel")), f"{name}'s picture names {path}"
    for span in code_spans(text):
        for file in re.findall(r"(?<![\w/.])(\w+\.py)\b", span):
            assert file in file_names() | {"setup.py"} | USERS_FILES | {Path(made).name for made in MADE}, f"{name} names {file}"


def resolve(name):
    """The module or attribute that a dotted name means; AttributeError or ImportError if there is none."""
    if name.startswith("dparallel.torch_alias"):     # importing it would change what torch is in this process
        return importlib.util.find_spec(name)
    module, _, rest = name.partition(".")
    thing = importlib.import_module(module)
    for part in filter(None, rest.split(".")):
        module = f"{module}.{part}"
        try:
            thing = getattr(thing, part)
        except AttributeError:
            thing = importlib.import_module(module)
    return thing


@pytest.mark.parametrize("name", PRESENT)
def test_names_exist(name):
    for span in code_spans(PRESENT[name].partition("\n## ")[2] if name == "docs/operations.md" else PRESENT[name]):
        for package, rest in re.findall(r"(?<![\w./])(autograd|dparallel|ag)\.((?:\w+\.)*\w+)", span):
            dotted = f"{'autograd' if package == 'ag' else package}.{rest}"
            try:
                resolve(dotted)
            except (AttributeError, ImportError) as error:
                if error.name == "llvmlite":         # the module is there, and needs the extra fast
                    continue
                raise AssertionError(f"{name} names {dotted}: {error}") from None


@pytest.mark.parametrize("name", PRESENT)
def test_imports_in_blocks_of_code_work(name):
    for block in re.findall(r"^```python\n(.*?)^```", PRESENT[name], re.S | re.M):
        try:
            tree = ast.parse(block)
        except SyntaxError:
            continue                                 # a sketch with "..." where there is no expression
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and not node.level and node.module.split(".")[0] in ("autograd", "dparallel"):
                if not any(map(importlib.util.find_spec, NEEDS.get(node.module, ["ast"]))):
                    pytest.skip(f"{node.module} needs one of {', '.join(NEEDS[node.module])}")
                for alias in node.names:
                    if f"{node.module.replace('.', '/')}.py" not in MADE:
                        resolve(f"{node.module}.{alias.name}")


@pytest.mark.parametrize("name", PAGES)
def test_links_resolve(name):
    for target in re.findall(r"\]\(([^)\s]+)\)", PAGES[name]):
        if "://" in target:
            continue
        file, _, anchor = target.partition("#")
        path = (ROOT / name).parent / file if file else ROOT / name
        assert path.exists(), f"{name} links to {target}"
        if anchor:
            headings = re.findall(r"^#+ (.*)$", path.read_text(), re.M)
            assert anchor in {re.sub(r"[^\w -]", "", heading).lower().replace(" ", "-") for heading in headings}, target


@pytest.mark.parametrize("name", PRESENT)
def test_targets_of_make_exist(name):
    targets = set(re.findall(r"^(\w+):", (ROOT / "Makefile").read_text(), re.M))
    spans = [*code_spans(PRESENT[name]), *re.findall(r"^    (make .*)$", PRESENT[name], re.M)]
    named = {match[1] for span in spans if (match := re.match(r"make (\w+)", span))}
    assert named <= targets, named - targets


def test_the_index_lists_every_page():
    linked = set(re.findall(r"^- \[.*?\]\(([\w/]+\.md)\)", PAGES["docs/README.md"], re.M))
    assert linked == {name.removeprefix("docs/") for name in PAGES if name.startswith("docs/") and name != "docs/README.md"}
    for line in PAGES["docs/README.md"].split("\n- ")[1:]:
        assert re.match(r"\[([\w/.]+\.md)\]\(\1\): [\w`]", line), f"a page without a sentence: {line}"


@pytest.mark.parametrize("package", ORDER)
def test_the_picture_shows_the_layers_that_are_checked(package):
    """The lines under a package's name, upside down: highest rooms first."""
    picture = re.search(rf"^{package}\n((?:  .*\n)+)", PAGES["ARCHITECTURE.md"], re.M)[1]
    shown = [sorted(line.partition("|")[0].split()) for line in picture.splitlines()]
    assert shown[::-1] == [sorted(line.split()) for line in ORDER[package].strip().splitlines()]


def test_no_private_places():
    """No path of a machine, no registry's address."""
    tracked = subprocess.run(["git", "-C", str(ROOT), "ls-files", "*.md"], capture_output=True, text=True).stdout.split()
    for name in tracked:
        assert not re.search(r"(?<![\w.])/(work|home|root)/|index-url|pypi\.", (ROOT / name).read_text()), name


def test_the_suite_runs_each_file_once():
    import run_all
    parts = (run_all.JOBS, run_all.YOUNG, run_all.LOCAL, run_all.COMMANDS, run_all.DPARALLEL, run_all.FIRST_ROOMS, run_all.REST)
    assert sorted(itertools.chain(*parts)) == run_all.FILES and all(parts)
    assert len(run_all.FILES) == len({path.name for path in run_all.FILES}), "pytest imports test files by name: each needs its own"
