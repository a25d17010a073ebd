"""world(): which communicator a process gets, from how it was started. And local devices' own matters."""

import os
import subprocess
import sys

import numpy as np
import pytest
from raised import raises

from dparallel import Devices
from dparallel.comm import launched_size
from dparallel.comm.environment import SIZES
from dparallel.comm.job import OTHER_LAUNCHERS, launcher

ALL = (*SIZES, "PMIX_RANK", "SLURM_NTASKS", *(name for _, size, rank, *_ in OTHER_LAUNCHERS for name in (size, rank)),
       "SLURM_PTY_PORT")
STEP = {"SLURM_NTASKS": "2", "SLURM_STEP_NUM_TASKS": "2", "SLURM_PROCID": "1"}
TORCHRUN = {"WORLD_SIZE": "2", "RANK": "0", "LOCAL_RANK": "0", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "29500"}


@pytest.fixture
def only(monkeypatch):
    """only(variables): no other launcher's variable is set."""
    def leave(variables):
        for name in ALL:
            monkeypatch.delenv(name, raising=False)
        for name, value in variables.items():
            monkeypatch.setenv(name, value)
    return leave


@pytest.mark.parametrize("found, size", [
    ({}, 0),
    ({"OMPI_COMM_WORLD_SIZE": "4", "PMIX_RANK": "1"}, 4),
    ({"PMI_SIZE": "3"}, 3),
    ({"MPI_LOCALNRANKS": "2"}, 2),
    ({"PMI_SIZE": "8", "MPI_LOCALNRANKS": "2"}, 8),
    ({"SLURM_NTASKS": "16"}, 0),                     # a batch script's own process
    ({"SLURM_NTASKS": "16", "PMIX_RANK": "3"}, 16),
    ({"PMIX_RANK": "0"}, 1), ({"PMIX_RANK": "3"}, 4),
    ({"PMI_SIZE": "many"}, 0),
], ids=str)
def test_launchers(found, size, only):
    only(found)
    assert launched_size() == size


def python(code, **variables):
    kept = {name: value for name, value in os.environ.items() if name not in ALL}
    return subprocess.run([sys.executable, "-c", code], env=kept | variables, capture_output=True, text=True, timeout=200)


def test_without_a_launcher_mpi_is_not_touched():
    done = python("import sys; from dparallel.comm import world, Devices; c = world()\n"
                  "assert type(c) is Devices and c.size == 1 and world() is c\n"
                  "assert not any(name.startswith('mpi4py') for name in sys.modules)")
    assert done.returncode == 0, done.stderr


def test_another_mpis_launcher():
    done = python("from dparallel.comm import world; world()", PMI_SIZE="4")
    assert done.returncode != 0
    assert "the launcher announced 4 ranks, but MPI sees 1" in done.stderr.splitlines()[-1]
    assert "Start with dprun" in done.stderr.splitlines()[-1]


@pytest.mark.parametrize("found, name", [
    (STEP, "srun"),
    ({"FLUX_JOB_SIZE": "4", "FLUX_TASK_RANK": "0"}, "flux run"),
    ({"PALS_LOCAL_SIZE": "2", "PALS_RANKID": "5"}, "mpiexec of PALS"),
    ({"JSM_NAMESPACE_SIZE": "2", "JSM_NAMESPACE_RANK": "1"}, "jsrun"),
    (TORCHRUN, "torchrun, or a program that sets RANK and WORLD_SIZE,"),
    ({"PBS_NP": "2", "PBS_VNODENUM": "1"}, "pbsdsh"), ({"LSB_DJOB_NUMPROC": "2", "LSF_PM_TASKID": "2"}, "blaunch"),
    ({"PBS_NP": "2", "PBS_VNODENUM": "0"}, None), ({"LSB_DJOB_NUMPROC": "2", "LSF_PM_TASKID": "1"}, None),        # batch scripts
    # no launcher of many: an allocation, a batch script, a shell of srun's, one task, what was left in the environment
    ({"SLURM_NTASKS": "2", "SLURM_NPROCS": "2", "SLURM_JOB_ID": "7"}, None),
    ({"SLURM_NTASKS": "2", "SLURM_PROCID": "0", "SLURM_JOB_ID": "7"}, None),
    ({**STEP, "SLURM_PTY_PORT": "45583"}, None),
    ({**STEP, "SLURM_STEP_NUM_TASKS": "1"}, None),
    ({**TORCHRUN, "WORLD_SIZE": "1"}, None),
    ({"WORLD_SIZE": "4"}, None), ({"RANK": "4"}, None), ({"WORLD_SIZE": "two", "RANK": "0"}, None),
    # mpirun inside an allocation's step, or where RANK and WORLD_SIZE are set beforehand: MPI's own word counts
    ({**STEP, "OMPI_COMM_WORLD_SIZE": "1"}, "the launcher"), ({**TORCHRUN, "PMI_SIZE": "1"}, "the launcher"),
], ids=str)
def test_who_started_this_process(found, name, only):
    only(found)
    started = launcher()
    assert (started and started.name) == name


@pytest.mark.parametrize("found, words", [
    (STEP, "srun started this process as one of 2 (SLURM_STEP_NUM_TASKS), but MPI sees 1: each would train alone. Remedy: "
           "srun --mpi=pmix"),
    (TORCHRUN, "torchrun, or a program that sets RANK and WORLD_SIZE, started this process as one of 2 (WORLD_SIZE), but MPI sees 1: "
               "each would train alone. Remedy: start with `dprun -n 2 ...`")], ids=["srun", "torchrun"])
@pytest.mark.parametrize("use", ["from dparallel import world; world()", "from dparallel import DataParallel; from autograd "
                                 "import nn; DataParallel(nn.Linear(2, 2))"])
def test_processes_that_mpi_does_not_join(found, words, use):
    """Not one lone training each."""
    done = python(use, **found)
    assert done.returncode != 0
    last = done.stderr.splitlines()[-1]
    assert last.startswith(f"RuntimeError: {words}") and last.endswith("pass comm=Devices(1)")
    alone = python("from dparallel import DataParallel, Devices; from autograd import nn; "
                   "print(DataParallel(nn.Linear(2, 2), comm=Devices(1)).comm.size)", **found)
    assert alone.stdout == "1\n", alone.stderr


def test_processes_that_mpi_does_not_join_without_mpi(tmp_path):
    (tmp_path / "mpi4py.py").write_text("raise ImportError('no mpi4py here')")
    path = os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", os.getcwd())])
    last = python("from dparallel import world; world()", PYTHONPATH=path, **TORCHRUN).stderr.splitlines()[-1]
    assert last.startswith("RuntimeError: this process was started as one of 2 MPI ranks, by torchrun") and "(WORLD_SIZE)" in last
    assert "Run: pip install 'dparallel[mpi]', and start with `dprun -n 2 ...`" in last


def test_no_mpi_library(tmp_path):
    (tmp_path / "mpi4py.py").write_text("raise RuntimeError('cannot load MPI library\\nlibmpi.so: no such file')")
    path = os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", os.getcwd())])
    done = python("from dparallel.comm import world; world()", PMI_SIZE="2", PYTHONPATH=path)
    last = done.stderr.splitlines()[-1]
    assert last.startswith("RuntimeError: this process was started as one of 2 MPI ranks, but MPI can't be loaded")
    assert "libmpi.so: no such file" in last and last.endswith("Run: pip install 'dparallel[mpi]'")


@pytest.mark.parametrize("size", [0, -1, 1.5, "2", None])
def test_bad_numbers_of_devices(size):
    raises(ValueError, "pass a number of devices, at least 1", Devices, size)


def test_devices_hold_all_ranks():
    comm = Devices(np.int64(3))
    assert (comm.size, comm.held, comm.rank, comm.kind) == (3, (0, 1, 2), 0, "devices")
    assert repr(comm) == "<Devices of 3 ranks, local: 0, 1, 2>"
    raises(SystemExit, "enough", comm.abort, "enough")
