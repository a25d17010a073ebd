"""The folder of compiled programs: loaded by later processes, repaired, refused where it is not safe, shared by ranks."""

import os
import stat
import subprocess
import sys
import textwrap

import numpy as np
import pytest
from programs import new

from autograd.compile.lowering.ir import Op
from autograd.compile.native import BuildError, Native, available, build

pytestmark = [pytest.mark.skipif(bool(available()), reason=available())]


@pytest.fixture
def home(tmp_path, monkeypatch):
    """An empty folder of programs."""
    path = tmp_path / "programs"
    monkeypatch.setenv("AUTOGRAD_COMPILE_CACHE", str(path))
    return path


def made(home):
    """The programs' files in the folder."""
    return sorted(p.name for p in home.iterdir()) if home.exists() else []


def program(number=2.0):
    """A small program of its own text, its result and what that should be."""
    out = new((5,), "f4")
    return [Op("map", "copy", [out], [number])], out, np.full(5, number, "f4")


def works(number=2.0):
    """Compile and run it; whether this process had it compiled."""
    ops, out, expected = program(number)
    native = Native(ops)
    native.run()
    np.testing.assert_array_equal(native.array(out), expected)
    return native._library.compiled


def test_loaded_the_second_time(home, monkeypatch):
    assert works()
    assert len(made(home)) == 1 and stat.S_IMODE(home.stat().st_mode) == 0o700
    monkeypatch.setattr(build, "compile_in_child", None)
    assert not works()
    with pytest.raises(TypeError):                   # another program is compiled
        works(3.0)


def test_a_second_process_compiles_nothing_and_loads_no_compiler(home):
    script = textwrap.dedent("""
        import sys
        import test_build
        compiled = test_build.works()
        print(compiled, "llvmlite.binding" in sys.modules)
    """)
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([os.path.dirname(__file__), os.getcwd()])}
    command = [sys.executable, "-c", script]
    first = [subprocess.Popen(command, env=env, stdout=subprocess.PIPE, text=True) for _ in range(2)]      # two ranks at once
    answers = sorted(p.communicate()[0] for p in first)
    library = made(home)[0].endswith(".so")
    assert answers == [f"False {not library}\n", f"True {not library}\n"]
    assert subprocess.run(command, env=env, stdout=subprocess.PIPE, text=True, check=True).stdout == answers[0]
    assert len(made(home)) == 1


@pytest.mark.parametrize("damage", [b"", b"\x7fELF", None])
def test_damaged_files_are_made_again(home, damage):
    works()
    path = home / made(home)[0]
    contents = path.read_bytes()[:-1000] if damage is None else damage
    path.unlink()                                    # this process has the old file mapped
    path.write_bytes(contents)
    path.chmod(0o600)
    assert works()
    assert not works()


def test_folders_that_others_may_write_are_not_used(home):
    home.mkdir(mode=0o777)
    home.chmod(0o777)
    assert works() and not made(home)


@pytest.mark.parametrize("where", ["", "/proc/none", "file/below"])
def test_no_folder(tmp_path, monkeypatch, where):
    """The program is compiled in memory: no folder is wanted, it can't be made, or a file is in its place."""
    (tmp_path / "file").touch()
    monkeypatch.setenv("AUTOGRAD_COMPILE_CACHE", str(tmp_path / where) if where.startswith("file") else where)
    assert works()


def test_full_disk(home, monkeypatch):
    """The folder exists but takes no file."""
    original = build.compile_in_child
    monkeypatch.setattr(build, "compile_in_child", lambda text, output: original(text, output if output == "-" else "/proc/none/x"))
    assert works() and not made(home)


def test_a_dead_compiler_hangs_nobody(home):
    """The lock of a process that was killed while it compiled is free."""
    script = textwrap.dedent("""
        import os, test_build
        from autograd.compile.native import build
        build.compile_in_child = lambda *args: os._exit(9)
        test_build.works()
    """)
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([os.path.dirname(__file__), os.getcwd()])}
    assert subprocess.run([sys.executable, "-c", script], env=env, check=False).returncode == 9
    assert [name.endswith(".lock") for name in made(home)] == [True]
    assert works()
    assert [name.endswith(".lock") for name in made(home)] == [False]


def test_old_programs_are_removed(home, monkeypatch):
    monkeypatch.setattr(build, "KEPT", 2)
    for number in range(4):
        works(float(number))
    assert len(made(home)) == 2 and not works(3.0)


def test_an_error_of_llvm_says_what(home):
    with pytest.raises(BuildError, match="expected"):
        build.Library("define nonsense")
