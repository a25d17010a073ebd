"""The stub files (tools/stubs.py) name all that is bound at run time, and checkers find mistakes by them."""

import ast
import inspect
import itertools
import json
import os
import pydoc
import re
import rlcompleter
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import autograd as ag
import dparallel

ROOT = Path(__file__).parents[3]
GOOD, BAD, TRAINING = (Path(__file__).parent / name for name in ("good.py", "bad.py", "training.py"))
PYRIGHT = shutil.which("pyright", path=str(Path(sys.executable).parent)) or shutil.which("pyright")


def definitions(path, owner=None):
    body = ast.parse((ROOT / path).read_text()).body
    if owner:
        body = next(node for node in body if isinstance(node, ast.ClassDef) and node.name == owner).body
    return {node.name: node for node in body if isinstance(node, ast.FunctionDef)}, {
        *(node.name for node in body if isinstance(node, ast.FunctionDef)),
        *(alias.asname or alias.name for node in body if isinstance(node, ast.ImportFrom) for alias in node.names),
        *(node.target.id for node in body if isinstance(node, ast.AnnAssign))}


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
             "tuple[_int, ...]": tuple, "tuple[Tensor, Tensor]": tuple, "UntypedStorage": ag.storage.UntypedStorage,
             "TypedStorage": ag.storage.TypedStorage}
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
    found = {GOOD.name: {}, BAD.name: {}, TRAINING.name: {}}
    for path, line, text in done:
        if Path(path).name in found:
            found[Path(path).name].setdefault(line, text)
    return found


def judged(found):
    """Every line of the bad uses, and no other, was refused."""
    assert not found[GOOD.name], found[GOOD.name]
    for file, least in ((BAD, 40), (TRAINING, 25)):
        lines, refused_here = file.read_text().splitlines(), found[file.name]
        bad = {number for number, line in enumerate(lines, 1) if line.endswith("# bad")}
        assert len(bad) > least
        assert bad <= {*refused_here}, [lines[number - 1] for number in sorted(bad - {*refused_here})]
        assert {*refused_here} <= bad, {number: refused_here[number] for number in sorted({*refused_here} - bad)}


def test_mypy_refuses_what_is_wrong():
    pytest.importorskip("mypy")
    done = subprocess.run([sys.executable, "-m", "mypy", GOOD, BAD, TRAINING], cwd=ROOT, capture_output=True, text=True)
    assert not done.stderr
    errors = re.findall(r"^(.+?):(\d+): error: (.*)", done.stdout, re.M)
    judged(refused((path, int(line), text) for path, line, text in errors))


NEEDS_PYRIGHT = pytest.mark.skipif(PYRIGHT is None, reason="pyright is not installed: pip install pyright[nodejs]")


@NEEDS_PYRIGHT
def test_pyright_refuses_what_is_wrong():
    done = subprocess.run([PYRIGHT, "--pythonpath", sys.executable, "--outputjson", GOOD, BAD, TRAINING], cwd=ROOT, capture_output=True, text=True)
    report = json.loads(done.stdout)["generalDiagnostics"]
    judged(refused((d["file"], d["range"]["start"]["line"] + 1, d["message"]) for d in report
                   if d["severity"] == "error" or d.get("rule") == "reportAttributeAccessIssue"))


@NEEDS_PYRIGHT
@pytest.mark.parametrize("package", ["autograd", "dparallel"])
def test_public_names_have_types(package, tmp_path):
    """By pyright's report on completeness: attributes and variables whose types it has to guess count as missing."""
    done = subprocess.run([PYRIGHT, "--pythonpath", sys.executable, "--verifytypes", package, "--ignoreexternal", "--outputjson"],
                          cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True)
    report = json.loads(done.stdout)["typeCompleteness"]
    missing = [s["name"] for s in report["symbols"] if s["isExported"] and not s["isTypeKnown"]]
    assert len(report["symbols"]) > 3000 and report["completenessScore"] >= 0.95, missing[:50]


def completions(text, names):
    completer = rlcompleter.Completer(names)
    return set(itertools.takewhile(lambda found: found is not None, (completer.complete(text, i) for i in itertools.count())))


def test_lazy_names_are_listed_completed_and_explained():
    """dir(), completion and help() know names before anything has used them: in a young process."""
    names = {"ag": ag, "dparallel": dparallel, "x": ag.ones(2)}
    for text, expected in (("ag.linalg.in", "ag.linalg.inv("), ("ag.exp", "ag.expm1("), ("ag.clamp_", "ag.clamp_("), ("x.masked_f", "x.masked_fill_("),
                           ("ag.nn.functional.scaled", "ag.nn.functional.scaled_dot_product_attention("),
                           ("ag.optim.lr_scheduler.CosineAnnealingL", "ag.optim.lr_scheduler.CosineAnnealingLR("),
                           ("dparallel.pred", "dparallel.predict("), ("dparallel.tim", "dparallel.timeline("),
                           ("dparallel.check", "dparallel.checkpoint"), ("ag.nn.Data", "ag.nn.DataParallel(")):
        assert expected in completions(text, names), text
    for module in (ag, ag.nn, ag.nn.functional, ag.nn.parallel, ag.linalg, ag.fft, ag.special, ag.optim, ag.utils.data, dparallel,
                   dparallel.distributed):
        assert {*module.__all__} <= {*dir(module)}, module.__name__
    for name in ("autograd.exp", "autograd.linalg.inv", "autograd.Tensor.masked_fill_", "dparallel.predict", "dparallel.survive",
                 "autograd.nn.functional.relu", "autograd.functional.jacobian"):
        head, _, signature = pydoc.render_doc(name, renderer=pydoc.plaintext).partition("\n\n")
        assert f"{name.rpartition('.')[2]}(" in signature.splitlines()[0], (name, head, signature[:200])


def test_signatures_say_the_arguments():
    """inspect.signature of methods and functions names their arguments."""
    tensor = {name: getattr(ag.Tensor, name) for name in dir(ag.Tensor) if not name.startswith("__")}
    functions = {name: getattr(ag, name) for name in ag.HOMES}
    vague = {"args", "kwargs", "settings"}
    for name, function in [*tensor.items(), *functions.items()]:
        if inspect.isroutine(function):
            shown = [p.name for p in inspect.signature(function).parameters.values()
                     if p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]
            assert len(vague.intersection(shown)) < 2, f"{name}{inspect.signature(function)}"
    assert str(inspect.signature(ag.Tensor.add_)) == "(self: 'Tensor', other: 'TensorOrArray | Number', alpha: 'Number' = 1) -> 'Tensor'"
    assert "out" not in inspect.signature(ag.Tensor.exp_).parameters
