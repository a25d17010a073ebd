"""The compiled core: found where it fits, and the sources where it does not. Both ways run the other tests."""

import ast
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import autograd as ag
from autograd.base import extensions as compiled

ROOT = Path(ag.__file__).parent


def run(code, *options, **changes):

    done = subprocess.run([sys.executable, *options, "-c", code], capture_output=True, text=True,
                          env={**os.environ, "PYTHONPATH": str(ROOT.parent), **changes})
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def test_all_of_the_core_is_compiled_or_none():
    files = [Path(sys.modules[f"autograd.{name}"].__file__) for name in compiled.CORE]
    assert {file.is_relative_to(compiled.NATIVE) for file in files} == {compiled.in_use}
    assert ag.show_config()["compiled core"] is compiled.in_use


def test_the_sources_can_be_asked_for():
    assert run("import autograd; print(autograd.show_config()['compiled core'], autograd.core.graph.__file__)",
               DPARALLEL_PURE="1") == ["False", str(ROOT / "core" / "graph.py")]


def test_a_core_made_from_other_sources_is_not_used(tmp_path, monkeypatch):
    monkeypatch.delenv("DPARALLEL_PURE", raising=False)
    assert not compiled.prefer(tmp_path)
    Path(compiled.stamp(tmp_path)).write_text(compiled.fingerprint().replace("graph.py", "grape.py"))
    with pytest.warns(UserWarning, match="have changed since it was compiled"):
        assert not compiled.prefer(tmp_path)


def test_a_broken_core_is_not_used(tmp_path, monkeypatch):
    monkeypatch.delenv("DPARALLEL_PURE", raising=False)
    Path(compiled.stamp(tmp_path)).write_text(compiled.fingerprint())
    (tmp_path / f"graph{compiled.SUFFIX}").write_bytes(b"no library")
    with pytest.warns(UserWarning, match="can't be loaded"):
        assert not compiled.prefer(tmp_path)


def test_a_core_of_another_python_is_said(tmp_path, monkeypatch):
    monkeypatch.delenv("DPARALLEL_PURE", raising=False)
    Path(compiled.stamp(tmp_path).replace(compiled.SUFFIX, ".cpython-39-other.so")).write_text("")
    with pytest.warns(UserWarning, match=r"for other Pythons \(\.cpython-39-other\.so\), not for this one"):
        assert not compiled.prefer(tmp_path)
    monkeypatch.setenv("DPARALLEL_PURE", "1")
    assert not compiled.prefer(tmp_path)


def test_a_build_that_failed_is_said_once(tmp_path, monkeypatch):
    monkeypatch.delenv("DPARALLEL_PURE", raising=False)
    assert not compiled.prefer(tmp_path / "nothing") and not compiled.failure(tmp_path)
    Path(compiled.note(tmp_path)).write_text("CompileError('no cc')")
    for name, value in {"DPARALLEL_PURE": "1", "PMI_RANK": "1"}.items():         # neither where it is not wanted, nor by all
        with monkeypatch.context() as other:
            other.setenv(name, value)
            assert not compiled.prefer(tmp_path)
    with pytest.warns(UserWarning, match=r"was not compiled when it was installed \(CompileError\('no cc'\)\)"):
        assert not compiled.prefer(tmp_path)
    assert not compiled.prefer(tmp_path)
    assert compiled.failure(tmp_path) == "CompileError('no cc')"
    assert [path.name for path in tmp_path.iterdir()] == [Path(compiled.note(tmp_path)).name]       # what pip knows of, and removes


def test_setup_leaves_the_reason_of_a_failed_build(tmp_path):
    for name in ("setup.py", "pyproject.toml", "README.md", "LICENSE"):
        (tmp_path / name).write_bytes((ROOT.parent / name).read_bytes())
    for name in ("__init__", "environment", "extensions", "version"):
        (tmp_path / "autograd" / "base").mkdir(parents=True, exist_ok=True)
        (tmp_path / "autograd" / "base" / f"{name}.py").write_bytes((ROOT / "base" / f"{name}.py").read_bytes())
    done = subprocess.run([sys.executable, "setup.py", "build_ext", "--inplace"], cwd=tmp_path, capture_output=True, text=True,
                          env={k: v for k, v in os.environ.items() if k != "DPARALLEL_PURE"})
    assert done.returncode == 0 and "core is not compiled" in done.stderr         # there are no sources
    assert compiled.failure(tmp_path / "autograd" / "native") in done.stderr.replace("\n", " ")


def test_declarations_are_those_of_the_sources():
    """Each class of a .pxd has the fields that its source names in __slots__, and every module of the core has a .pxd."""
    seen = 0
    for name in compiled.CORE:
        source = ROOT / f"{name.replace('.', '/')}.py"
        slots = {}
        for node in ast.walk(ast.parse(source.read_text())):
            if isinstance(node, ast.ClassDef):
                for line in node.body:
                    if isinstance(line, ast.Assign) and ast.unparse(line.targets[0]) == "__slots__":
                        slots[node.name] = set(ast.literal_eval(line.value)) - {"__dict__", "__weakref__"}
        for declared in re.split(r"^cdef class ", source.with_suffix(".pxd").read_text(), flags=re.M)[1:]:
            fields = {field.strip() for line in re.findall(r"^    cdef public \S+ (.*)$", declared, re.M)
                      for field in line.split(",")}
            kind = re.match(r"\w+", declared)[0]
            if kind in slots:
                assert fields == slots[kind], kind
                seen += 1
    assert seen >= 8


@pytest.mark.parametrize("pure", ["0", "1"])
def test_numpys_warnings_are_silent(pure):
    run("""
import autograd as ag
x = ag.zeros(2, requires_grad=True)
(x.log() * x / x - 1 / x).sum().backward()
(ag.full((2,), 1e30) * 1e30) > 1 / x
""", "-W", "error::RuntimeWarning", DPARALLEL_PURE=pure)


def test_classes_of_users_work_both_ways():
    class Mine(ag.Tensor):
        pass

    x = ag.ones(2, requires_grad=True)
    y = Mine([1.0, 2.0])
    y.note = x.note = "user's"
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        x.nothing  # noqa: B018
    z = (x * y).sum()
    z.grad_fn.mine = 3
    z.backward()
    assert x.grad.tolist() == [1, 2] and z.grad_fn.mine == 3 and y.note == x.note == "user's"
    with pytest.raises((AttributeError, TypeError)):
        Mine.__new__(Mine) * 2                           # no array in it: an error, no crash
