"""SIGTERM and SIGUSR1: the step ends, the script saves, all ranks leave together; a second signal, or the grace time's end, ends at once."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from dparallel import Devices, graceful_exit
from launch import mpirun

ROOT = Path(__file__).parent.parent.parent
TRAIN = """
import ctypes, os, sys, time
from pathlib import Path
from dparallel import graceful_exit, world
how, folder = sys.argv[1], Path(sys.argv[2])
comm = world()
with graceful_exit(save=lambda: (time.sleep(0.8), print(f"rank {comm.rank} saved", flush=True))) as stop:
    (folder / f"up{comm.rank}").write_text(str(os.getpid()))
    if how in ("CDLL", "PyDLL"):                 # blocked in C code for ever, without the GIL and with it: no byte code runs
        lock = ctypes.create_string_buffer(64)
        for _ in range(2):
            getattr(ctypes, how)(None).pthread_mutex_lock(lock)
    for step in range(3000):
        time.sleep(600 if how == "slow" else 0.05)
        if stop.requested():
            if how == "break":
                break
            stop.exit()
print("not reached", flush=True)
"""


@pytest.fixture
def start(tmp_path):
    """start(how, command before the script) runs TRAIN: its process, and the process numbers of the ranks when they train."""
    def start(how, *command, **changes):
        script = tmp_path / "train.py"
        script.write_text(TRAIN)
        process = subprocess.Popen([sys.executable, *command, script, how, tmp_path], env={**mpirun.outer(), "PYTHONPATH": str(ROOT), **changes},
                                   stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        started.append(process)
        ranks, deadline = 2 if command else 1, time.monotonic() + 120
        while len(list(tmp_path.glob("up*"))) < ranks and process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.05)
        time.sleep(0.3)                              # the files are written
        return process, [int((tmp_path / f"up{rank}").read_text()) for rank in range(ranks)]
    started = []
    yield start
    for process in started:
        if process.poll() is None:
            process.kill()
        process.communicate()


needs_mpi = pytest.mark.skipif(not any(os.access(Path(folder) / "mpirun", os.X_OK) for folder in [Path(sys.executable).parent,
                               *os.environ["PATH"].split(os.pathsep)]), reason="no mpirun")
DPRUN = ("-m", "launch", "-q", "-n", "2")


@needs_mpi
@pytest.mark.parametrize("number, how, to", [(signal.SIGUSR1, "exit", "dprun"), (signal.SIGTERM, "break", "rank")])
def test_ranks_end_their_step_save_and_leave_together(start, number, how, to):
    """Saving takes 0.8 s: Open MPI's mpirun, asked by SIGTERM, kills its ranks after 0.5 s."""
    process, ranks = start(how, *DPRUN)
    os.kill(process.pid if to == "dprun" else ranks[1], number)
    said, _ = process.communicate(timeout=120)
    assert process.returncode == 75, said
    assert sorted(said.splitlines()) == ["dprun: the job ended after a step, on request, with exit code 75", "rank 0 saved", "rank 1 saved"]


@needs_mpi
def test_a_scheduler_that_signals_mpirun_and_ranks_too(start):
    """Slurm signals every process of a batch job."""
    process, ranks = start("break", *DPRUN)
    mpirun_process = int(Path(f"/proc/{ranks[0]}/stat").read_text().rpartition(")")[2].split()[1])
    for pid in (process.pid, mpirun_process, *ranks):
        os.kill(pid, signal.SIGTERM)
    said, _ = process.communicate(timeout=120)
    assert process.returncode == 75 and said.count("saved") == 2, said


@needs_mpi
def test_the_end_of_the_grace_time_ends_the_job(start):
    process, _ = start("slow", *DPRUN, "--grace", "1")
    process.send_signal(signal.SIGTERM)
    said, _ = process.communicate(timeout=120)
    assert process.returncode == 128 + signal.SIGTERM and "had not ended its step and saved 1 s after SIGTERM" in said


@needs_mpi
@pytest.mark.parametrize("how, told", [("CDLL", True), ("PyDLL", False)])
def test_ranks_that_are_in_C_code_at_the_end_of_the_grace_time(start, how, told):
    process, _ = start(how, *DPRUN, "--grace", "0.5")
    process.send_signal(signal.SIGTERM)
    said, _ = process.communicate(timeout=60)
    assert process.returncode == 128 + signal.SIGTERM and ("had not ended its step and saved 0.5 s after SIGTERM" in said) == told, said


@needs_mpi
def test_a_second_signal_ends_the_job_at_once(start):
    process, _ = start("slow", *DPRUN, "--grace", "600")
    for _ in range(2):
        process.send_signal(signal.SIGTERM)
        time.sleep(0.5)
    assert process.wait(60) == 128 + signal.SIGTERM


@pytest.mark.parametrize("how, grace, code, said", [
    ("break", "30", 75, "rank 0 saved\n"),
    *[(how, "0.5", 143, "dparallel: rank 0 had not ended its step and saved 0.5 s after SIGTERM\n") for how in ("slow", "CDLL")]])
def test_without_ranks(start, how, grace, code, said):
    process, _ = start(how, DPARALLEL_GRACE_SECONDS=grace)
    process.send_signal(signal.SIGTERM)
    assert process.communicate(timeout=60)[0] == said and process.returncode == code


def test_a_second_signal_after_a_second(start):
    process, _ = start("slow", DPARALLEL_GRACE_SECONDS="600")
    for _ in range(2):
        process.send_signal(signal.SIGUSR1)
        time.sleep(1.2)
    assert process.wait(60) == -signal.SIGUSR1


CHILD = """
import os, signal, time
from dparallel import Devices, graceful_exit
with graceful_exit(Devices(1), grace=0.2) as stop:
    child = os.fork()
    if not child:
        time.sleep(60)
    time.sleep(0.2)
    os.kill(child, signal.SIGTERM)
    print(os.WTERMSIG(os.waitpid(child, 0)[1]), flush=True)
    time.sleep(0.5)
print("goes on")
"""


def test_the_signal_of_a_forked_child_is_not_its_parents():
    """A loader ends its workers by SIGTERM."""
    done = subprocess.run([sys.executable, "-c", CHILD], env={**mpirun.outer(), "PYTHONPATH": str(ROOT)}, capture_output=True, text=True, timeout=60)
    assert (done.stdout, done.returncode) == ("15\ngoes on\n", 0), done.stderr


def test_other_readers_of_signal_numbers_still_get_them():
    """asyncio's add_signal_handler() needs them."""
    numbers, theirs = os.pipe()
    os.set_blocking(theirs, False)
    signal.set_wakeup_fd(theirs)
    try:
        with pytest.raises(SystemExit), graceful_exit(Devices(1)) as stop:
            os.kill(os.getpid(), signal.SIGUSR1)
            assert os.read(numbers, 1)[0] == signal.SIGUSR1 and stop.requested()
    finally:
        assert signal.set_wakeup_fd(-1) == theirs
        os.close(numbers)
        os.close(theirs)


def test_the_block_leaves_things_as_they_were():
    before = signal.getsignal(signal.SIGTERM)
    with graceful_exit(Devices(1)) as stop:
        assert not stop.requested() and signal.getsignal(signal.SIGTERM) != before
        with pytest.raises(RuntimeError, match=r"after requested\(\) has returned True"):
            stop.exit()
    assert signal.getsignal(signal.SIGTERM) is before
    with pytest.raises(SystemExit) as left, graceful_exit(Devices(1), code=99) as stop:
        os.kill(os.getpid(), signal.SIGUSR1)
        assert stop.requested()
    assert left.value.code == 99 and signal.getsignal(signal.SIGTERM) is before
    with pytest.raises(KeyError), graceful_exit(Devices(1)) as stop:                  # an error is an error
        os.kill(os.getpid(), signal.SIGUSR1)
        assert stop.requested()
        raise KeyError


@pytest.mark.parametrize("value", [0, -1])
def test_a_grace_time_that_is_none(value, monkeypatch):
    with pytest.raises(ValueError, match="seconds above 0"):
        graceful_exit(Devices(1), grace=value)
    monkeypatch.setenv("DPARALLEL_GRACE_SECONDS", str(value))
    with pytest.raises(ValueError, match="DPARALLEL_GRACE_SECONDS must be"):
        graceful_exit(Devices(1))
