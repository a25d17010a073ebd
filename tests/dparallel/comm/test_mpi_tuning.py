"""Settings of the MPI library: made where it knows them, and never over somebody's choice."""

import os
import subprocess
import sys

import pytest

from dparallel.comm.mpi import tuning

NAME = next(iter(tuning.PREFERRED))
ASKED = """
from mpi4py import MPI
from dparallel.comm.mpi import communicator as mpi, tuning
print(MPI.get_vendor()[0], mpi.PREFERENCES[{name!r}], tuning.prefer(MPI.__file__, MPI.Query_thread())[{name!r}])
"""


def asked(**environment):
    """The MPI, whether the first process of it set the variable, and whether a second attempt did."""
    done = subprocess.run([sys.executable, "-c", ASKED.format(name=NAME)], env={**os.environ, **environment},
                          capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def test_set_once_and_not_over_a_choice():
    *vendor, first, second = asked()
    if vendor != ["Open", "MPI"]:
        pytest.skip(f"{vendor} has no such variable")
    assert (first, second) == ("True", "False")
    assert asked(**{f"OMPI_MCA_{NAME}": "1"})[-2:] == ["False", "False"]


def test_a_library_without_the_interface():
    assert tuning.prefer(None, 0) == {NAME: False}


def test_a_variable_that_is_not_there(monkeypatch):
    pytest.importorskip("mpi4py")
    code = ("from mpi4py import MPI; from dparallel.comm.mpi import tuning\n"
            "tuning.PREFERRED = {'no such variable': 1}; print(tuning.prefer(MPI.__file__, 0))")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert "{'no such variable': False}" in done.stdout, done.stderr
