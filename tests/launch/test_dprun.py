"""dprun on real ranks: output, exit codes, tracebacks, signals, remedies."""

import os
import re
import select
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from launch import cli, job, mpirun

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
    if what == "interrupt": raise KeyboardInterrupt
    if what == "crash":
        import ctypes
        ctypes.string_at(0)
    if what == "hook":
        sys.excepthook = lambda kind, error, trace: print("my own words on", error, file=sys.stderr)
        inner()
if what == "signal":
    import signal
    signal.signal(signal.SIGUSR1, lambda *a: (print("got USR1", flush=True), sys.exit(0)))
if what in ("sleep", "signal"):
    open(sys.argv[2] + str(comm.rank), "w").write(str(os.getpid()))
    time.sleep(300)
if what == "all": raise ValueError("planted everywhere")
comm.Barrier()
assert __name__ == "__main__" and os.path.basename(__file__) == "script.py" and os.path.isabs(__file__) and sys.path[0] == os.path.dirname(os.path.abspath(__file__))
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
    return subprocess.run([sys.executable, "-m", "launch", "-q", *map(str, args)], capture_output=True, text=True, timeout=200,
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


def test_tagged_lines_are_whole(tmp_path):
    path = tmp_path / "pieces.py"
    path.write_text("""
import os, sys
from mpi4py import MPI
rank = MPI.COMM_WORLD.rank
letter = "abc"[rank]
for i in range(40):
    sys.stdout.write(letter * 3000); sys.stdout.flush()
    os.write(1, letter.encode() * 3000 + b"\\n")
print("to stderr", file=sys.stderr)
print(letter, "not ended", end="", flush=True)
os.kill(os.getpid(), 9) if rank == 1 and len(sys.argv) > 1 else None
""")
    done = dprun("-n", 3, "--tag", path)
    assert sorted(done.stderr.splitlines()) == [f"[{rank}] to stderr" for rank in range(3)]
    wanted = [line for rank in range(3) for line in [f"[{rank}] {'abc'[rank] * 6000}"] * 40 + [f"[{rank}] {'abc'[rank]} not ended"]]
    assert sorted(done.stdout.splitlines()) == sorted(wanted)
    killed = dprun("-n", 2, "--tag", path, "kill")
    assert killed.returncode == 137 and "[1] b not ended\n" in killed.stdout              # nothing is lost with the rank


def test_without_tags_pieces_of_lines_show_at_once(tmp_path):
    path = tmp_path / "bar.py"
    path.write_text("""
import os, sys, time
from mpi4py import MPI
if MPI.COMM_WORLD.rank == 0:
    sys.stderr.write("\\r 50% of it")
    sys.stderr.flush()
print("a line", input() if MPI.COMM_WORLD.rank == 0 else "")
""")
    env = {name: value for name, value in environment().items() if name != "PYTHONUNBUFFERED"}
    with subprocess.Popen([sys.executable, "-m", "launch", "-q", "-n", "2", path], env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE) as process:
        ready, _, _ = select.select([process.stderr], [], [], 120)
        if not ready:
            process.terminate()
        assert ready and os.read(process.stderr.fileno(), 100) == b"\r 50% of it"         # while rank 0 waits for its input
        out, _ = process.communicate(b"from stdin\n", timeout=120)
    assert process.returncode == 0 and b"a line from stdin" in out


def test_the_traceback_of_the_rank_that_raised_comes_last_and_once(script):
    done = dprun("-n", 2, script, "raise")
    assert done.returncode == 1
    text = done.stdout + done.stderr
    assert text.count("planted on purpose") == 2            # the source line and the message: one traceback
    assert text.count("Traceback (most recent call last)") == 1
    last = done.stderr.rstrip().splitlines()
    assert last[-1] == "dprun: rank 1 of 2 failed with exit code 1" and last[-2] == "KeyError: 'planted on purpose'"
    assert "runpy" not in text and 'script.py", line' in text and "in inner" in text


def test_a_rank_that_crashes_shows_where(script):
    done = dprun("-n", 2, script, "crash")
    assert done.returncode == 128 + signal.SIGSEGV and done.stderr.splitlines()[-1] == "dprun: rank 1 of 2 crashed"
    assert done.stderr.count("Segmentation fault\n\n") == 1 and 'script.py", line' in done.stderr


def test_the_scripts_own_excepthook_is_used(script):
    done = dprun("-n", 2, script, "hook")
    assert done.returncode == 1 and done.stderr.splitlines()[-2] == "my own words on 'planted on purpose'"
    assert "Traceback" not in done.stderr


def test_where_reports_cannot_be_left_the_traceback_goes_to_stderr(script):
    rank = Path(mpirun.__file__).with_name("rank.py")
    done = subprocess.run([sys.executable, rank, script, "all"], capture_output=True, text=True, timeout=200,
                          env=environment(DPRUN_REPORT_DIR="/nowhere/at/all"))
    assert done.returncode == 1 and done.stderr.count("ValueError: planted everywhere") == 1


def test_a_launch_module_of_the_users_is_not_in_the_way(tmp_path):
    (tmp_path / "launch.py").write_text("raise ImportError('the wrong launch')\n")
    (tmp_path / "mine.py").write_text("import sys; print('arguments', sys.argv[1:])\n")
    done = subprocess.run([sys.executable, "-c", f"import sys; sys.path[0] = {str(ROOT)!r}; from launch.cli import main; sys.exit(main())",
                           "-n", "1", "mine.py", "a"], cwd=tmp_path, capture_output=True, text=True, timeout=200)
    assert done.returncode == 0 and "arguments ['a']" in done.stdout, done.stderr


def test_the_first_report_of_a_rank_stands(tmp_path):
    """The watchdog's, which ends its process by os._exit() where MPI_Abort returns."""
    path = tmp_path / "reported.py"
    path.write_text("import os\nfrom dparallel.comm.watchdog.stall import end_job, write_report\nwrite_report(0, 'the reason', 3)\nend_job(3)\n")
    done = dprun("-n", 1, path)
    assert done.returncode == 3 and done.stderr == "the reason\ndprun: rank 0 of 1 ended the job\n"


def test_all_ranks_fail(script):
    done = dprun("-n", 2, script, "all")
    assert done.returncode == 1 and done.stderr.count("Traceback") == 1 and "planted everywhere" in done.stderr


def test_a_rank_that_raises_before_mpi_starts(script):
    done = dprun("-n", 2, script, "raise-early")
    assert done.returncode == 1 and "planted before MPI" in done.stderr.splitlines()[-2]


@pytest.mark.parametrize("what, code, words", [("exit", 3, "exit code 3"), ("message", 1, "a last word"), ("kill", 137, "signal 9"), ("interrupt", 130, "KeyboardInterrupt")])
def test_exit_codes(script, what, code, words):
    done = dprun("-n", 2, script, what)
    assert done.returncode == code and words in done.stderr
    assert done.stderr.count("a last word") == (what == "message")


LEAVING = """
import multiprocessing, os, sys, time
what = sys.argv[1]
from mpi4py import MPI
if what == "python" and MPI.COMM_WORLD.rank == 1:
    os._exit(0)
if what == "C" and MPI.COMM_WORLD.rank == 1:
    import ctypes
    ctypes.CDLL(None)._exit(0)
if what == "C, waited for":
    if MPI.COMM_WORLD.rank == 1:
        import ctypes
        ctypes.CDLL(None)._exit(0)
    MPI.COMM_WORLD.Barrier()
if what == "waited for":
    if MPI.COMM_WORLD.rank == 1:
        from os import _exit
        _exit(0)
    MPI.COMM_WORLD.Barrier()
if what == "child":
    if os.fork() == 0:
        os._exit(0)
    os.wait()
MPI.COMM_WORLD.Barrier() if what in ("child", "finalized", "exit") else None
if what == "replaced":
    MPI.Finalize()
    os.execv(sys.executable, [sys.executable, "-c", ""])
if what == "finalized":
    MPI.Finalize()
    time.sleep(int(os.environ["RANK"]))              # one leaves a second before the other
    os._exit(0)
if what == "exit":
    sys.exit(0)
"""


@pytest.mark.parametrize("what", ["python", "waited for", "C", "C, waited for"])
def test_a_rank_that_leaves_while_mpi_runs_is_a_failure(tmp_path, what):
    """Also with exit code 0, which MPICH's mpirun takes for success."""
    path = tmp_path / "leaving.py"
    path.write_text(LEAVING)
    done = dprun("-n", 2, "--timeout", 60, path, what)
    assert done.returncode not in (0, 124), done.stderr
    if what[0] == "C":
        assert "1 of 2 ended without finalizing MPI" in done.stderr or "mpirun's message above" in done.stderr
    else:
        assert "os._exit(0) while MPI runs" in done.stderr and "dprun: rank 1 of 2 failed" in done.stderr
        assert "leaving.py" in done.stderr


@pytest.mark.parametrize("what", ["child", "finalized", "exit", "replaced"])
def test_a_rank_may_leave_after_mpi(tmp_path, what):
    if what == "replaced" and mpirun.find().family == "mpich":
        pytest.skip("MPICH's mpirun takes it for a failure; dprun --check says so")
    path = tmp_path / "leaving.py"
    path.write_text(LEAVING)
    done = dprun("-n", 2, "--timeout", 60, path, what)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("first", ["", "from mpi4py import MPI\n"], ids=["MPI not started", "MPI started"])
@pytest.mark.parametrize("there", [[0], [0, 2]], ids=str)
def test_ranks_that_leave_without_world_are_told_to_those_that_wait_in_it(tmp_path, first, there):
    path = tmp_path / "one.py"
    path.write_text(f"import os\n{first}if int(os.environ['RANK']) in {there}:\n    from dparallel import world\n    world()\n")
    done = dprun("-n", 3, "--timeout", 60, path)
    left = "ranks 1, 2|rank [12]" if there == [0] else "rank 1"         # one is enough: others may not have come there yet
    assert done.returncode == 1, done.stderr
    assert re.search(rf"dprun: ({left}) left the script without dparallel\.world\(\), which all ranks call together", done.stderr), done.stderr
    ranks = "|".join(map(str, there))
    assert re.search(rf"rank ({ranks}) waits in world\(\) at .*one.py:\d: world\(\)", done.stderr), done.stderr


def test_lines_of_ranks_are_not_mixed_without_tags_either(tmp_path):
    """Open MPI's own forwarding tore 3,591 of 90,000."""
    path = tmp_path / "lines.py"
    path.write_text("import os\nfor i in range(4000): print('abc'[int(os.environ['RANK'])] * (50 + i % 300))\n")
    lines = dprun("-n", 3, path).stdout.splitlines()
    assert len(lines) == 12000 and all(len(set(line)) == 1 for line in lines)


@pytest.mark.parametrize("endless", ["yes", "sleep 100"])
def test_standard_input_that_never_ends(tmp_path, endless):
    path = tmp_path / "reads.py"
    path.write_text("import os, sys\nfrom mpi4py import MPI\nif os.environ['RANK'] == '0' and len(sys.argv) > 1: print(input())\n")
    with subprocess.Popen(endless.split(), stdout=subprocess.PIPE) as source:
        done = subprocess.run([sys.executable, "-m", "launch", "-q", "-n", "2", path, *(["read"] if endless == "yes" else [])],
                              env=environment(), stdin=source.stdout, capture_output=True, text=True, timeout=100)
        source.kill()
    assert (done.returncode, done.stdout.split(), done.stderr) == (0, ["y"] if endless == "yes" else [], "")


POSITIONS = """
import os, sys, threading, time
import numpy as np
from dparallel import world
comm = world()
one, other = comm.duplicate(), comm.duplicate()
def lost():
    time.sleep(2.5)
    os.kill(os.getpid(), 9)
if sys.argv[1] == "killed" and comm.rank == 1:
    lost()
if sys.argv[1] == "code" and comm.rank == 1:
    os._exit(9)
if sys.argv[1] == "ring":
    (one if comm.rank else other).barrier()
comm.barrier()
"""


@pytest.mark.parametrize("what, code, words", [
    ("killed", 137, [r"rank 0 has waited .* in barrier\(\) at .*script.py:16", r"rank 1 is not in a collective; it is at .*script.py:[89], in lost"]),
    ("code", 9, ["dprun: rank 1 of 2 failed with exit code 9", r"script.py\", line 13, in <module>\n    os._exit\(9\)"]),        # the code that MPICH's mpirun has for SIGKILL, too
    ("ring", 1, ["deadlock: rank 0 waits for rank 1, which waits for rank 0; the job is ended"])], ids=lambda x: x if isinstance(x, str) else "")
def test_where_the_ranks_were(tmp_path, what, code, words):
    """A killed rank; a deadlock that nothing can resolve, which does not wait for the limit."""
    path = tmp_path / "script.py"
    path.write_text(POSITIONS)
    done = dprun("-n", 2, "--timeout", 50, path, what)
    assert done.returncode == code, done.stderr
    assert all(re.search(each, done.stderr) for each in words), done.stderr


def test_an_exit_deep_in_a_library_names_the_line_of_the_script(tmp_path):
    (tmp_path / "library.py").write_text("import os\ndef one():\n    two()\ndef two():\n    three()\ndef three():\n    four()\ndef four():\n    os._exit(7)\n")
    path = tmp_path / "script.py"
    path.write_text("import library\ndef call():\n    library.one()\ncall()\n")
    done = dprun("-n", 1, path)
    assert done.returncode == 7 and re.findall(r'File ".*?(\w+\.py)", line (\d+)', done.stderr) == [
        ("script.py", "3"), ("library.py", "5"), ("library.py", "7"), ("library.py", "9")], done.stderr


def test_a_stall_ends_the_job_after_ten_times_the_limit_which_is_told_at_the_start(tmp_path):
    path = tmp_path / "script.py"
    path.write_text("import time\nfrom dparallel import world\nif world().rank: time.sleep(100)\nworld().barrier()\n")
    done = subprocess.run([sys.executable, "-m", "launch", "-n", "2", "--stall", "0.3", "--timeout", "60", path], capture_output=True,
                          text=True, timeout=200, env=environment())
    assert done.returncode == 1 and re.match(r"dprun: 2 ranks by (Open MPI|MPICH|Intel MPI) [\d.]+; a stall of 3 s ends the job", done.stderr)
    assert "(after 3 s the job is ended)" in done.stderr and re.search(r"no progress for \d s; the job is ended", done.stderr)


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


def heeded():
    """Signals as in a terminal: under nohup, or in the background of a script, some are ignored, and dprun respects that."""
    for number in (signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)


@pytest.fixture
def sleeping(script, tmp_path):
    """start(what) starts a job that sleeps: dprun's process, and the ranks' process ids."""
    def start(what="sleep", **changes):
        errors = (tmp_path / "errors").open("w+")
        process = subprocess.Popen([sys.executable, "-m", "launch", "-n", "2", script, what, str(tmp_path / "pid")],
                                   env=environment(**changes), stdout=subprocess.PIPE, stderr=errors, preexec_fn=heeded)
        started.append((process, errors))
        pids = []
        deadline = time.monotonic() + 120
        while len(pids) < 2 and time.monotonic() < deadline and process.poll() is None:
            time.sleep(0.1)
            pids = [int(p.read_text()) for p in tmp_path.glob("pid*") if p.read_text()]
        errors.seek(0)
        assert len(pids) == 2, f"{process.poll()}: {errors.read()}"
        return process, pids
    started = []
    yield start
    for process, errors in started:
        process.stdout.close()
        errors.close()
        if process.poll() is None:
            process.terminate()
            process.wait(30)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_signals_end_every_rank(sleeping, number):
    process, pids = sleeping()
    process.send_signal(number)
    assert process.wait(90) == 128 + number
    assert not any(runs(pid) for pid in pids)


def test_user_signals_reach_the_ranks(sleeping):
    process, _ = sleeping("signal")
    process.send_signal(signal.SIGUSR1)
    assert process.wait(90) == 0 and process.stdout.read().count(b"got USR1") == 2


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs Linux's F_SETSIG")
def test_no_rank_outlives_a_killed_dprun(sleeping):
    process, pids = sleeping()
    process.kill()
    process.wait(30)
    deadline = time.monotonic() + 60
    while any(runs(pid) for pid in pids) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not any(runs(pid) for pid in pids)


@pytest.mark.skipif(not os.path.isdir("/proc"), reason="needs /proc")
def test_a_killed_job_leaves_no_files(sleeping, tmp_path):
    """Open MPI names a job's folder after mpirun's process number, and does not start where one that was killed has left it:
    in a container, where numbers come again, a job in some hundred. Here the folder is inside dprun's, which goes with it."""
    folder = tmp_path / "tmp"
    folder.mkdir()
    process, pids = sleeping(TMPDIR=str(folder))
    assert [path.name[:6] for path in folder.iterdir()] == ["dprun-"]
    above = [pids[0]]                                # up to mpirun; MPICH has a daemon between
    while (parent := int(Path(f"/proc/{above[-1]}/stat").read_text().rpartition(")")[2].split()[1])) != process.pid:
        above.append(parent)
    for pid in [*reversed(above), *pids[1:]]:        # mpirun first: killed after its daemon, MPICH's may say 255 before
        os.kill(pid, signal.SIGKILL)
    assert process.wait(60) == 137 and not list(folder.iterdir())


@pytest.mark.parametrize("given, seen", [({"TMPDIR": "/var/tmp"}, "/var/tmp"), ({}, "None"), ({"TMPDIR": ""}, "None")])
def test_ranks_have_the_temporary_folder_of_the_user(tmp_path, monkeypatch, given, seen):
    monkeypatch.delenv("TMPDIR", raising=False)
    script = tmp_path / "tmp.py"
    script.write_text("import os\nprint(os.environ.get('TMPDIR'), 'DPRUN_TMPDIR' in os.environ)\n")
    done = dprun("-n", 2, script, **given)
    assert done.stdout.splitlines() == [f"{seen} False"] * 2, done.stderr
    done = dprun("-n", 1, "-x", "TMPDIR=/usr/tmp", script, **given)
    assert done.stdout == "/usr/tmp False\n", done.stderr


def test_without_a_home(script):
    """Open MPI does not start without one; containers often have none."""
    env = {name: value for name, value in environment().items() if name != "HOME"}
    done = subprocess.run([sys.executable, "-m", "launch", "-n", "2", script, "go"], capture_output=True, text=True, timeout=200,
                          env=env)
    assert done.returncode == 0 and "rank 1 of 2" in done.stdout, done.stderr


def test_without_a_folder_for_temporary_files(script, monkeypatch, capsys):
    monkeypatch.setattr(tempfile, "mkdtemp", lambda *_: (_ for _ in ()).throw(FileNotFoundError("no usable folder")))
    assert cli.main(["-n", "1", script]) == 2
    assert "no usable folder); set TMPDIR to one that can be written" in capsys.readouterr().err


@pytest.mark.skipif(mpirun.find().family != "openmpi", reason="Open MPI's parameters")
def test_parameters_of_the_same_purpose_are_no_conflict(tmp_path):
    script = tmp_path / "s.py"
    script.write_text("print('here')\n")
    major = mpirun.find().major
    for name in ("tmpdir_base", "local_tmpdir_base"):
        flag = f"--prtemca prte_{name}" if major >= 5 else f"--mca orte_{name}"
        done = dprun("-n", 1, "--mpi-args", f"{flag} {tmp_path}", script)
        assert done.stdout == "here\n", done.stderr


@pytest.mark.skipif(not os.path.isdir("/proc"), reason="needs /proc")
def test_what_a_failed_rank_started_ends_too(tmp_path):
    script = tmp_path / "parent.py"
    script.write_text("import subprocess, sys\nprint(subprocess.Popen(['sleep', '60'], stdout=2).pid, flush=True)\nsys.exit(4)\n")
    done = dprun("-n", 1, script)
    assert done.returncode == 4 and not runs(int(done.stdout))


def test_timeout(script, tmp_path):
    done = dprun("-n", 2, "--timeout", 3, script, "sleep", tmp_path / "pid")
    assert done.returncode == 124 and "--timeout" in done.stderr


def test_inside_a_rank_it_starts_a_job_of_its_own(tmp_path):
    inner = tmp_path / "inner.py"
    inner.write_text("from mpi4py import MPI\nprint('inner', MPI.COMM_WORLD.size, flush=True)\n")
    outer = tmp_path / "outer.py"
    outer.write_text("import subprocess, sys\nsys.exit(subprocess.run([sys.executable, '-m', 'launch', '-n', '2', sys.argv[1]]).returncode)\n")
    done = dprun("-n", 1, outer, inner)
    assert done.returncode == 0 and done.stdout.count("inner 2") == 2, done.stdout + done.stderr


def test_no_mpi_library(tmp_path):
    script = tmp_path / "s.py"
    script.write_text("from mpi4py import MPI\n")
    done = dprun("-n", 2, script, MPI4PY_LIBMPI="/nowhere/libmpi.so")
    if done.returncode == 0:
        pytest.skip("this mpi4py is linked with its MPI library")
    assert done.returncode == 2 and done.stderr.splitlines()[-1].startswith("dprun: mpi4py finds no MPI library (cannot load")
    assert done.stderr.endswith("run: pip install 'dparallel[mpi]'\n") and "Traceback" not in done.stderr


def fake(tmp_path, text):
    """An mpirun that is a shell script."""
    path = tmp_path / "mpirun"
    path.write_text(f"#!/bin/sh\n[ \"$1\" = --version ] && {{ echo 'HYDRA build details: MPICH'; exit 0; }}\nshift 2\n{text}\n")
    path.chmod(0o755)
    return path


@pytest.mark.skipif(mpirun.find().family != "openmpi", reason="the fake is MPICH's")
def test_an_mpirun_of_another_mpi(tmp_path):
    script = tmp_path / "s.py"
    script.write_text("from mpi4py import MPI\nprint('of', MPI.COMM_WORLD.size)\n")
    each = 'PMI_SIZE=2 PMI_RANK=0 "$@" & PMI_SIZE=2 PMI_RANK=1 "$@" & wait'
    done = dprun("-n", 2, "--mpirun", fake(tmp_path, each), script)
    last = done.stderr.splitlines()[-1]
    assert done.returncode == 2 and "mpirun started 2 ranks, but each saw itself alone" in last and "--mpirun" in last
    done = dprun("-n", 2, "--mpirun", fake(tmp_path, "exit 16"), script)
    assert done.returncode == 2 and "belongs to another MPI than the library that mpi4py loads (Open MPI" in done.stderr


def test_an_mpirun_that_does_not_end(tmp_path):
    path = fake(tmp_path, "trap '' TERM\nsh -c 'trap \"\" TERM; sleep 600' &\necho $!\nsleep 600; sleep 600")
    done = dprun("-n", 2, "--timeout", "3", "--mpirun", path, "-m", "platform")
    assert done.returncode == 124 and not runs(int(done.stdout))


@pytest.mark.parametrize("family, code, shown", [("mpich", 9, 137), ("mpich", 77, 77), ("openmpi", 9, 9), ("openmpi", 137, 137), ("openmpi", -15, 143)])
def test_hydras_exit_code_is_the_bare_signal(family, code, shown):
    assert job.shell(code, mpirun.Mpi("mpirun", family, 5)) == shown
