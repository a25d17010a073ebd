"""world(): which communicator a process gets, from how it was started. And local devices' own matters."""

import os
import subprocess
import sys

import numpy as np
import pytest

from dparallel import Devices
from dparallel.comm import launched_size
from dparallel.comm.given import SIZE_VARIABLES

ALL = (*SIZE_VARIABLES, "PMIX_RANK", "SLURM_NTASKS")


@pytest.mark.parametrize("found, size", [
    ({}, 0),
    ({"OMPI_COMM_WORLD_SIZE": "4", "PMIX_RANK": "1"}, 4),
    ({"PMI_SIZE": "3"}, 3),
    ({"MPI_LOCALNRANKS": "2"}, 2),
    ({"PMI_SIZE": "8", "MPI_LOCALNRANKS": "2"}, 8),
    ({"SLURM_NTASKS": "16"}, 0),                     # a batch script's own process
    ({"SLURM_NTASKS": "16", "PMIX_RANK": "3"}, 16),
    ({"PMIX_RANK": "0"}, 1),
    ({"PMI_SIZE": "many"}, 0),
], ids=str)
def test_launchers(found, size, monkeypatch):
    for name in ALL:
        monkeypatch.delenv(name, raising=False)
    for name, value in found.items():
        monkeypatch.setenv(name, value)
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


def test_no_mpi_library(tmp_path):
    package = tmp_path / "mpi4py"
    package.mkdir()
    (package / "__init__.py").write_text("raise RuntimeError('cannot load MPI library\\nlibmpi.so: no such file')")
    path = os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", os.getcwd())])
    done = python("from dparallel.comm import world; world()", PMI_SIZE="2", PYTHONPATH=path)
    last = done.stderr.splitlines()[-1]
    assert last.startswith("RuntimeError: this process was started as one of 2 MPI ranks, but MPI can't be loaded")
    assert "libmpi.so: no such file" in last and last.endswith("Run: pip install 'dparallel[mpi]'")


@pytest.mark.parametrize("size", [0, -1, 1.5, "2", None])
def test_bad_numbers_of_devices(size):
    with pytest.raises(ValueError, match="a whole number of places, at least one"):
        Devices(size)


def test_devices_hold_all_places():
    comm = Devices(np.int64(3))
    assert (comm.size, comm.held, comm.rank, comm.kind) == (3, (0, 1, 2), 0, "devices")
    assert repr(comm) == "<Devices of 3 places, holding 0, 1, 2>"
    with pytest.raises(SystemExit, match="enough"):
        comm.abort("enough")
