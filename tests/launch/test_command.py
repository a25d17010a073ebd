"""dprun's command line: what it asks of which mpirun, and the one line with the remedy when nothing can be started."""

import importlib.util
import os
import shutil
import sys

import pytest

from launch import cli, mpirun, report


@pytest.fixture
def fake(tmp_path):
    """fake(version) is an mpirun that says it is of that version."""
    def make(version):
        path = tmp_path / "mpirun"
        path.write_text(f"#!/bin/sh\necho '{version}'\n")
        path.chmod(0o755)
        return str(path)
    return make


def dry(capsys, *args):
    assert cli.main([*map(str, args), "--dry-run", "-m", "platform"]) == 0
    return capsys.readouterr().out


@pytest.mark.parametrize("args, words", [
    (["-n", "0", "x.py"], "'0' is not a positive number"), (["-n", "two", "x.py"], "'two' is not"), (["-n", "2", "nowhere.py"], "no script 'nowhere.py'"),
    (["-n", "2", "--mpirun", "/nowhere/mpirun", "-m", "platform"], "no mpirun at"), (["-n", "2", "-x", "NOT_SET_AT_ALL", "-m", "platform"], "NOT_SET_AT_ALL"),
    (["-n", "2", "--hostfile", "nowhere", "-m", "platform"], "no host file"),
    (["-n", "2", "python", "x.py", "-v"], "dprun -n 2 x.py -v"), (["-n", "2", sys.executable, "x.py"], "is an interpreter"),
    (["-n", "2", "/usr/bin/python3.11"], "dprun -n 2 script.py"),
    (["-n", "-3", "x.py"], "'-3'"), (["-n", "2"], "SCRIPT"), (["x.py"], "-n/--np"), (["-n", "2", "-m", "no_such_module.part"], "no module 'no_such_module'"),
    (["-n", "2", "--threads", "0", "x.py"], "'0'"), (["-n", "2", "--timeout", "nan", "x.py"], "'nan' is not"), (["-n", "2", "--timeout", "-1", "x.py"], "'-1' is not"),
    (["-n", "2", "--time", "3", "x.py"], "--time"), (["-n", "2", "-x", "=5", "-m", "platform"], "-x =5")])
def test_one_line_with_the_remedy(args, words, capsys):
    try:
        code = cli.main(args)
    except SystemExit as error:                      # as argparse ends
        code = error.code
    said = capsys.readouterr().err
    assert code == 2 and words in said and len(said.strip().splitlines()) == 1


def test_no_mpirun_anywhere(monkeypatch, tmp_path, capsys):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    assert cli.main(["-n", "2", "-m", "platform"]) == 2
    assert capsys.readouterr().err == "dprun: no mpirun found beside Python or on the PATH; run: pip install 'dparallel[mpi]'\n"


def test_no_mpi4py(monkeypatch, capsys):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    assert cli.main(["-n", "2", "-m", "platform"]) == 2
    assert "pip install 'dparallel[mpi]'" in capsys.readouterr().err


@pytest.mark.parametrize("version, present, absent", [
    ("HYDRA build details:", ["-hosts a,b", "-prepend-rank"], ["--oversubscribe", "--bind-to", "root", "-x "]),
    ("Intel(R) MPI Library", ["-hosts a,b", "-prepend-rank"], ["--oversubscribe", "root"]),
    ("mpirun (Open MPI) 4.1.6", ["--oversubscribe", "--bind-to none", "--host a,b", "-x X", "-x OMP_NUM_THREADS", "--tag-output", "plm_rsh_args -oConnect"], ["-hosts", "--stream-buffering"]),
    ("mpirun (Open MPI) 5.0.11", ["--oversubscribe", "--bind-to none", "--stream-buffering 0", "plm_ssh_args -oConnectTimeout=10"], ["-hosts"])])
def test_the_command_for_each_mpi(fake, capsys, monkeypatch, version, present, absent):
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    which = shutil.which
    monkeypatch.setattr(shutil, "which", lambda name, **options: "/ssh" if name == "ssh" else which(name, **options))
    words = "-n", 4, "--mpirun", fake(version), "-H", "a,b", "-x", "X=1", "--tag", "--mpi-args", "--foo 'b c'"
    line = dry(capsys, *words)
    assert "oConnect" not in dry(capsys, *words, "--ssh", "other")
    monkeypatch.setenv("SLURM_JOB_ID", "1")                          # there srun starts ranks
    assert "oConnect" not in dry(capsys, *words)
    assert line.startswith("DPRUN_HOSTS=a,b HYDRA_LAUNCHER_EXTRA_ARGS=-oConnectTimeout=10 MASTER_ADDR=a TORCHELASTIC_") and " X=1 " in line and "-n 4" in line and "--foo 'b c'" in line and line.endswith("launch/rank.py -m platform\n") and sys.executable in line
    flags = line.partition(sys.executable)[0]
    assert all(p in flags for p in present) and not any(a in flags.partition("/mpirun")[2] for a in absent)


def test_an_mpirun_of_nobodys(fake, capsys):
    assert cli.main(["-n", "4", "--mpirun", fake("something else"), "--dry-run", "-m", "platform"]) == 2
    assert "it prints 'something else'" in capsys.readouterr().err


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="needs users")
@pytest.mark.parametrize("uid", [0, 1000])
def test_root_is_allowed_where_one_is_root(fake, capsys, monkeypatch, uid):
    monkeypatch.setattr(os, "geteuid", lambda: uid)
    assert ("--allow-run-as-root" in dry(capsys, "-n", 2, "--mpirun", fake("Open MPI"))) == (uid == 0)


def test_the_users_own_binding_and_mapping_replace_ours(fake, capsys):
    line = dry(capsys, "-n", 2, "--mpirun", fake("Open MPI"), "--mpi-args", "--bind-to core --map-by node")
    assert line.count("--bind-to") == 1 and "--oversubscribe" not in line


def test_threads_where_ranks_are_spread_over_hosts(fake, capsys, monkeypatch, tmp_path):
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    monkeypatch.setattr(mpirun, "cores", lambda: 8)
    run = ["-n", 8, "--mpirun", fake("Open MPI")]
    hosts = tmp_path / "hosts"
    hosts.write_text("# all of them\na slots=4\n\nb slots=4 # the second\n")
    for more, threads in ((["-H", "a:4,b:4"], 2), (["--hostfile", hosts], 2), ([], 1), (["--threads", 3], 3), (["-x", "OMP_NUM_THREADS=5"], None)):
        line = dry(capsys, *run, *more)
        assert (f"OMP_NUM_THREADS={threads} OPENBLAS_NUM_THREADS={threads}" if threads else "OMP_NUM_THREADS=5") in line
        assert f"MKL_NUM_THREADS={threads}" in line or threads is None
    assert f"--hostfile {hosts}" in dry(capsys, *run, "--hostfile", hosts)


def test_the_mpirun_beside_python_comes_before_the_paths(fake, monkeypatch, tmp_path):
    beside = fake("mpirun (Open MPI) 5.0.11")
    other = tmp_path / "other"
    other.mkdir()
    (other / "mpiexec").write_text("#!/bin/sh\necho HYDRA\n")
    (other / "mpiexec").chmod(0o755)
    monkeypatch.setenv("PATH", f"{other}:{os.environ['PATH']}")
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    assert mpirun.find() == (beside, "openmpi", 5, "Open MPI 5.0.11")
    os.remove(beside)
    monkeypatch.setenv("PATH", f"{other}:/bin")
    assert mpirun.find() == (str(other / "mpiexec"), "mpich", 0, "MPICH")


def test_marks_of_an_outer_job_are_not_passed_on(monkeypatch):
    marks, settings = {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_SIZE", "PRTE_LAUNCHED"}, {"OMPI_MCA_btl", "PRTE_MCA_x", "PMIX_MCA_gds"}
    for name in marks | settings:
        monkeypatch.setenv(name, "1")
    assert not marks & mpirun.outer().keys() and settings <= mpirun.outer().keys()


def test_the_first_report_is_shown_and_the_others_are_named(tmp_path, capsys):
    for rank, when in ((0, 3.0), (2, 1.0), (1, 2.0)):
        (tmp_path / f"{rank}.json").write_text(f'{{"rank": {rank}, "time": {when}, "code": {rank + 5}, "text": "of rank {rank}", "remedy": ""}}')
    (tmp_path / "3.crash").touch()
    (tmp_path / "3.json.part").write_text("{")
    report.show(report.read(str(tmp_path)), 4)
    assert capsys.readouterr().err == "of rank 2\ndprun: rank 2 of 4 failed with exit code 7; so did ranks 0, 1\n"
