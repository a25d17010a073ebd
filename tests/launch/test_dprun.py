"""dprun on real ranks: output, exit codes, tracebacks, signals, remedies."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from launch import cli, mpirun

try:
    mpirun.find()
except mpirun.LaunchError:
    pytest.skip("no mpirun", allow_module_level=True)

ROOT = Path(__file__).parent.parent.parent
SCRIPT = """
import os, sys, time
what = sys.argv[1]
if what.endswith("-early"):
    if os.environ.get("OMPI_COMM_WORLD_RANK", os.environ.get("PMI_RANK")) == "1":
        raise KeyError("planted before MPI")
from mpi4py import MPI
comm = MPI.COMM_WORLD
print(f"rank {comm.rank} of {comm.size} argv={sys.argv[1:]} threads={os.environ.get('OMP_NUM_THREADS')} X={os.environ.get('X')}", flush=True)
def inner():
    raise KeyError("planted on purpose")
if comm.rank == 1:
    if what == "raise": inner()
    if what == "exit": sys.exit(3)
    if what == "message": sys.exit("a last word")
    if what == "kill": os.kill(os.getpid(), 9)
if what == "sleep":
    open(sys.argv[2] + str(comm.rank), "w").write(str(os.getpid()))
    time.sleep(100)
if what == "all": raise ValueError("planted everywhere")
comm.Barrier()
assert __name__ == "__main__" and os.path.basename(__file__) == "script.py" and sys.path[0] == os.path.dirname(os.path.abspath(__file__))
"""


@pytest.fixture
def script(tmp_path):
    path = tmp_path / "script.py"
    path.write_text(SCRIPT)
    return str(path)


def environment(**changes):
    env = {k: v for k, v in os.environ.items() if k != "OMP_NUM_THREADS"}
    return {**env, "PYTHONPATH": str(ROOT), **changes}


def dprun(*args, **changes):
    return subprocess.run([sys.executable, "-m", "launch", *map(str, args)], capture_output=True, text=True, timeout=60,
                          env=environment(**changes))


def test_ranks_arguments_threads_and_variables(script):
    done = dprun("-n", 3, "--threads", 2, "-x", "X=5", script, "go", "--flag", "-n", "7")
    assert done.returncode == 0, done.stderr
    for rank in range(3):
        assert f"rank {rank} of 3 argv=['go', '--flag', '-n', '7'] threads=2 X=5" in done.stdout


def test_threads_default_to_the_cores_shared(script):
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    assert f"threads={max(1, cores // 2)} " in dprun("-n", 2, script, "go").stdout
    assert "threads=3 " in dprun("-n", 2, script, "go", OMP_NUM_THREADS="3").stdout


def test_tags(script):
    lines = dprun("-n", 2, "--tag", script, "go").stdout.splitlines()
    assert sorted(line[:12] for line in lines) == ["[0] rank 0 o", "[1] rank 1 o"]


def test_the_traceback_of_the_rank_that_raised_comes_last_and_once(script):
    done = dprun("-n", 2, script, "raise")
    assert done.returncode == 1
    text = done.stdout + done.stderr
    assert text.count("planted on purpose") == 2            # the source line and the message: one traceback
    assert text.count("Traceback (most recent call last)") == 1
    last = done.stderr.rstrip().splitlines()
    assert last[-1] == "dprun: rank 1 of 2 failed with exit code 1" and last[-2] == "KeyError: 'planted on purpose'"
    assert "runpy" not in text and 'script.py", line' in text and "in inner" in text


def test_all_ranks_fail(script):
    done = dprun("-n", 2, script, "all")
    assert done.returncode == 1 and done.stderr.count("Traceback") == 1 and "planted everywhere" in done.stderr


def test_a_rank_that_raises_before_mpi_starts(script):
    done = dprun("-n", 2, script, "raise-early")
    assert done.returncode == 1 and "planted before MPI" in done.stderr.splitlines()[-2]


@pytest.mark.parametrize("what, code, words", [("exit", 3, "exit code 3"), ("message", 1, "a last word"), ("kill", 137, "signal 9")])
def test_exit_codes(script, what, code, words):
    done = dprun("-n", 2, script, what)
    assert done.returncode == code and words in done.stderr
    assert done.stderr.count("a last word") == (what == "message")


def test_syntax_errors_and_modules(tmp_path):
    bad = tmp_path / "bad.py"
    bad.write_text("x = = 1\n")
    done = dprun("-n", 2, bad)
    assert done.returncode == 1 and done.stderr.count("SyntaxError") == 1
    plain = tmp_path / "plain.py"
    plain.write_text("print('no MPI here')\n")
    assert dprun("-n", 2, plain).stdout.count("no MPI here") == 2
    assert dprun("-n", 2, "-m", "platform").returncode == 0


def runs(pid):
    """Whether a process is there and not just waiting to be buried by its parent."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_signals_end_every_rank(script, tmp_path, number):
    process = subprocess.Popen([sys.executable, "-m", "launch", "-n", "2", script, "sleep", str(tmp_path / "pid")],
                               env=environment(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    pids = []
    deadline = time.monotonic() + 30
    while len(pids) < 2 and time.monotonic() < deadline:
        time.sleep(0.1)
        pids = [int(p.read_text()) for p in tmp_path.glob("pid*") if p.read_text()]
    assert len(pids) == 2
    process.send_signal(number)
    assert process.wait(30) == 128 + number
    assert not any(runs(pid) for pid in pids)


def test_timeout(script, tmp_path):
    start = time.monotonic()
    done = dprun("-n", 2, "--timeout", 3, script, "sleep", tmp_path / "pid")
    assert done.returncode == 124 and time.monotonic() - start < 25 and "--timeout" in done.stderr


@pytest.mark.parametrize("args, words", [
    (["-n", "0", "x.py"], "'0' is not a positive number"), (["-n", "two", "x.py"], "'two' is not"), (["-n", "2", "nowhere.py"], "no script 'nowhere.py'"),
    (["-n", "2", "--mpirun", "/nowhere/mpirun", "-m", "platform"], "no mpirun at"), (["-n", "2", "-x", "NOT_SET_AT_ALL", "-m", "platform"], "NOT_SET_AT_ALL"),
    (["-n", "2", "--hostfile", "nowhere", "-m", "platform"], "no host file")])
def test_one_line_with_the_remedy(args, words):
    done = dprun(*args)
    assert done.returncode == 2 and words in done.stderr and len(done.stderr.strip().splitlines()) == 1


def test_no_mpirun_anywhere(monkeypatch, tmp_path, capsys):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    assert cli.main(["-n", "2", "-m", "platform"]) == 2
    assert capsys.readouterr().err == "dprun: no mpirun found beside Python or on the PATH; run: pip install 'dparallel[mpi]'\n"


def test_no_mpi4py(monkeypatch, capsys):
    monkeypatch.setattr(cli.importlib.util, "find_spec", lambda name: None)
    assert cli.main(["-n", "2", "-m", "platform"]) == 2
    assert "pip install 'dparallel[mpi]'" in capsys.readouterr().err


def test_no_mpi_library(tmp_path):
    script = tmp_path / "s.py"
    script.write_text("raise RuntimeError('cannot load MPI library\\nlibmpi.so: not found')\n")
    assert dprun("-n", 2, script).stderr.splitlines()[-1] == "dprun: the MPI library can't be loaded; run: pip install 'dparallel[mpi]'"


@pytest.mark.parametrize("version, present, absent", [
    ("HYDRA build details:", ["-genvlist X", "-hosts a,b", "-prepend-rank"], ["--oversubscribe", "--bind-to"]),
    ("Intel(R) MPI Library", ["-hosts a,b"], ["--oversubscribe"]),
    ("mpirun (Open MPI) 4.1.6", ["--oversubscribe", "--bind-to none", "--host a,b", "-x X", "--tag-output"], ["-hosts"])])
def test_the_command_for_each_mpi(tmp_path, capsys, monkeypatch, version, present, absent):
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    fake = tmp_path / "mpirun"
    fake.write_text(f"#!/bin/sh\necho '{version}'\n")
    fake.chmod(0o755)
    assert cli.main(["-n", "4", "--mpirun", str(fake), "-H", "a,b", "-x", "X=1", "--tag", "--mpi-args", "--foo 'b c'", "--dry-run", "-m", "platform"]) == 0
    line = capsys.readouterr().out
    assert line.startswith("X=1 ") and "-n 4" in line and "--foo 'b c'" in line and f"{sys.executable} -m launch.rank -m platform" in line
    assert all(p in line for p in present) and not any(a in line for a in absent)
    fake.write_text("#!/bin/sh\necho something else\n")
    assert cli.main(["-n", "4", "--mpirun", str(fake), "--dry-run", "-m", "platform"]) == 2


def test_inside_a_rank_it_starts_a_job_of_its_own(tmp_path):
    inner = tmp_path / "inner.py"
    inner.write_text("from mpi4py import MPI\nprint('inner', MPI.COMM_WORLD.size, flush=True)\n")
    outer = tmp_path / "outer.py"
    outer.write_text("import subprocess, sys\nsys.exit(subprocess.run([sys.executable, '-m', 'launch', '-n', '2', sys.argv[1]]).returncode)\n")
    done = dprun("-n", 1, outer, inner)
    assert done.returncode == 0 and done.stdout.count("inner 2") == 2, done.stdout + done.stderr
