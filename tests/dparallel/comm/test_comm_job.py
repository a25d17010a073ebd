"""The tests' own safety under mpirun: a failure or a hang on one rank ends the job, told once, with a non-zero code."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.jobs
TESTS = Path(__file__).parents[2]


def job(tmp_path, text, *options, ranks=2):
    """Run a file of tests on ranks, with the conftest of these tests; exit code and output."""
    (tmp_path / "test_planted.py").write_text("import time, pytest\nfrom dparallel import world\n" + text)
    path = os.pathsep.join([str(TESTS), str(TESTS.parent), os.environ.get("PYTHONPATH", "")])
    pytest_args = ["-p", "conftest", "-p", "no:cacheprovider", "-q", "--color=no", "--rootdir", str(tmp_path), *options]
    done = subprocess.run([sys.executable, "-m", "launch", "-n", str(ranks), "--threads", "1", "-m", "pytest", *pytest_args,
                           str(tmp_path / "test_planted.py")],
                          cwd=TESTS.parent, env=os.environ | {"PYTHONPATH": path}, text=True, timeout=200,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    return done.returncode, done.stdout


def test_all_is_well(tmp_path):
    code, output = job(tmp_path, "def test_good(on_all_kinds):\n    on_all_kinds(lambda comm: comm.barrier())\n"
                                    "def test_serial():\n    assert False\n")
    assert code == 0, output
    assert output.count("1 passed, 1 deselected") == 1, output       # serial tests are left out, rank 1 is quiet


@pytest.mark.parametrize("rank", [0, 1])
def test_a_failure_on_one_rank(tmp_path, rank):
    code, output = job(tmp_path, f"""
def test_bad(on_all_kinds):
    def check(comm):
        print("printed before")
        assert comm.rank != {rank}, "planted"
        comm.barrier()
    on_all_kinds(check)
""")
    assert code != 0
    assert output.count("failed in call") == 1 and f"rank {rank} of 2: failed in call" in output, output
    assert "AssertionError: planted" in output and "printed before" in output


def test_a_failure_on_all_ranks_is_told_once(tmp_path):
    code, output = job(tmp_path, "def test_bad(on_all_kinds):\n    on_all_kinds(lambda comm: comm.barrier() or 1 / 0)\n", ranks=3)
    assert code != 0
    assert len(re.findall(r"rank \d of 3: failed in call", output)) == 1, output


def test_a_file_that_one_rank_cannot_import(tmp_path):
    code, output = job(tmp_path, "if world().rank == 1:\n    raise ImportError('planted')\n"
                                    "def test_good(on_all_kinds):\n    on_all_kinds(lambda comm: comm.barrier())\n")
    assert code != 0
    assert output.count("rank 1 of 2: can't collect") == 1 and "ImportError: planted" in output, output


def test_a_hang_ends_with_tracebacks(tmp_path):
    code, output = job(tmp_path, """
def where_it_hangs(comm):
    if comm.rank == 0:
        time.sleep(90)
    comm.barrier()
def test_hang(on_all_kinds):
    on_all_kinds(where_it_hangs)
""", "-o", "ranks_timeout=5")
    assert code != 0
    assert "Timeout" in output and "where_it_hangs" in output, output


def test_requests_under_way_at_the_end_do_no_harm(tmp_path):
    """Nobody waits before Python ends, and MPI ends after it."""
    script = tmp_path / "leaves.py"
    script.write_text("import numpy as np\nfrom dparallel import world\n"
                      "comm = world().duplicate()\n"
                      "for _ in range(5):\n    comm.start_sum_in_place([np.ones(3_000_000)])\nprint('leaving')\n")
    path = os.pathsep.join([str(TESTS.parent), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run([sys.executable, "-m", "launch", "-n", "3", "--threads", "1", str(script)], text=True, timeout=200,
                          cwd=TESTS.parent, env=os.environ | {"PYTHONPATH": path}, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT)
    assert done.returncode == 0 and done.stdout.count("leaving") == 3, done.stdout
