"""The stub files are what make_stubs.py writes, name all that is bound at run time, and checkers find mistakes by them."""

import ast
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import make_stubs
import pytest

import autograd as ag

ROOT = Path(__file__).parent.parent.parent
GOOD, BAD = (Path(__file__).parent / "typed" / name for name in ("good.py", "bad.py"))
PYRIGHT = shutil.which("pyright", path=str(Path(sys.executable).parent)) or shutil.which("pyright")


def definitions(path, owner=None):
    body = ast.parse((ROOT / path).read_text()).body
    if owner:
        body = next(node for node in body if isinstance(node, ast.ClassDef) and node.name == owner).body
    return {node.name: node for node in body if isinstance(node, ast.FunctionDef)}, {
        *(node.name for node in body if isinstance(node, ast.FunctionDef)),
        *(alias.asname or alias.name for node in body if isinstance(node, ast.ImportFrom) for alias in node.names),
        *(node.target.id for node in body if isinstance(node, ast.AnnAssign))}


def test_files_are_what_is_generated():
    differ = [str(path) for path, text in make_stubs.files().items() if path.read_text() != text]
    assert not differ, "run python tests/autograd/make_stubs.py --write"


def test_every_method_and_every_function_is_there():
    functions, names = definitions("autograd/__init__.pyi")
    assert {*filter(str.isidentifier, ag.__all__)} - {"dtypes", "extensions"} <= names and len(functions) > 400
    methods, _ = definitions("autograd/core/tensor_methods.pyi", "TensorMethods")
    inherited = {*dir(ag.Tensor.__mro__[1])}
    assert {name for name in dir(ag.Tensor) if not name.startswith("_")} <= {*methods} | inherited and len(methods) > 550


def test_results_are_of_the_types_that_stubs_say():
    """Of each method that needs no argument."""
    methods, _ = definitions("autograd/core/tensor_methods.pyi", "TensorMethods")
    kinds = {"Tensor": ag.Tensor, "Self": ag.Tensor, "_bool": bool, "_int": int, "str": str, "tuple[Tensor, ...]": tuple,
             "tuple[_int, ...]": tuple, "tuple[Tensor, Tensor]": tuple}
    called = 0
    for name, node in methods.items():
        required = len(node.args.args) - len(node.args.defaults) - 1 + sum(d is None for d in node.args.kw_defaults)
        if node.decorator_list or name.startswith("__") or required or name in ("cuda", "pin_memory", "backward"):
            continue
        for x in (ag.rand(3, 3) + ag.eye(3), ag.ones(3, 3, dtype=ag.int64), ag.ones(4).bool(), ag.ones(1, dtype=ag.complex64)):
            try:
                result = getattr(x, name)()
            except (RuntimeError, NotImplementedError, TypeError, IndexError):
                continue
            kind = kinds.get(ast.unparse(node.returns), tuple)
            assert isinstance(result, kind), f"{name}() gave a {type(result).__name__}, not {ast.unparse(node.returns)}"
            called += 1
            break
    assert called > 200


def refused(done):
    """file name: its lines with errors."""
    found = {GOOD.name: {}, BAD.name: {}}
    for path, line, text in done:
        if Path(path).name in found:
            found[Path(path).name].setdefault(line, text)
    return found


def judged(found):
    """Every line of the bad uses, and no other, was refused."""
    lines = BAD.read_text().splitlines()
    bad = {number for number, line in enumerate(lines, 1) if line.endswith("# bad")}
    assert len(bad) > 40 and not found[GOOD.name], found[GOOD.name]
    assert bad <= {*found[BAD.name]}, [lines[number - 1] for number in sorted(bad - {*found[BAD.name]})]
    assert {*found[BAD.name]} <= bad, {number: found[BAD.name][number] for number in sorted({*found[BAD.name]} - bad)}


def test_mypy_refuses_what_is_wrong():
    pytest.importorskip("mypy")
    done = subprocess.run([sys.executable, "-m", "mypy", GOOD, BAD], cwd=ROOT, capture_output=True, text=True)
    assert not done.stderr
    errors = re.findall(r"^(.+?):(\d+): error: (.*)", done.stdout, re.M)
    judged(refused((path, int(line), text) for path, line, text in errors))


@pytest.mark.skipif(PYRIGHT is None, reason="pyright is not installed: pip install pyright, which needs Node.js")
def test_pyright_refuses_what_is_wrong():
    done = subprocess.run([PYRIGHT, "--pythonpath", sys.executable, "--outputjson", GOOD, BAD], cwd=ROOT, capture_output=True, text=True)
    report = json.loads(done.stdout)["generalDiagnostics"]
    judged(refused((d["file"], d["range"]["start"]["line"] + 1, d["message"]) for d in report
                   if d["severity"] == "error" or d.get("rule") == "reportAttributeAccessIssue"))
