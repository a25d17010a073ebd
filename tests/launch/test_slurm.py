"""dprun and world() under Slurm: a real one of two nodes on this machine, started by slurm_cluster.sh. And without one, what is read
from the environment."""

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from launch import cli, mpirun, slurm

ROOT = Path(__file__).parent.parent.parent
sys.path.insert(0, str(ROOT / "tests"))

from test_tutorial import steps  # noqa: E402

CLUSTER = Path(__file__).with_name("slurm_cluster.sh")
LACKING = [name for name in ("munged", "slurmctld", "slurmd", "srun", "sbatch") if shutil.which(name) is None]


@pytest.mark.parametrize("nodes, names", [
    ("node1", ["node1"]), ("a,b", ["a", "b"]), ("node[1-3,7]", ["node1", "node2", "node3", "node7"]),
    ("n[08-10],login", ["n08", "n09", "n10", "login"]), ("r[1-2]c[1,3]-ib", ["r1c1-ib", "r1c3-ib", "r2c1-ib", "r2c3-ib"])])
def test_names_of_nodes(nodes, names):
    assert slurm.expand(nodes) == names


def test_the_allocation(monkeypatch):
    for name in [name for name in os.environ if name.startswith("SLURM_")]:
        monkeypatch.delenv(name)
    assert slurm.allocation() is None and slurm.started_by_srun() == 0
    for name, value in {"SLURM_JOB_ID": "7", "SLURM_JOB_NODELIST": "n[1-3]", "SLURM_TASKS_PER_NODE": "2(x2),1", "SLURM_CPUS_PER_TASK": "4"}.items():
        monkeypatch.setenv(name, value)
    assert slurm.allocation() == (["n1", "n2", "n3"], [2, 2, 1], 4)
    monkeypatch.setenv("SLURM_STEP_NUM_TASKS", "5")
    monkeypatch.setenv("SLURM_PROCID", "0")
    assert slurm.started_by_srun() == 5


def test_the_batch_script(capsys):
    assert cli.main(["--print-sbatch", "-n", "4", "--threads", "2", "--grace", "20", "train.py", "-n", "3"]) == 0
    text = capsys.readouterr().out
    assert text.startswith("#!/bin/bash\n#SBATCH --job-name=train\n#SBATCH --ntasks=4\n#SBATCH --cpus-per-task=2\n#SBATCH --signal=B:USR1@50\n#SBATCH --requeue\n")
    assert text.endswith("exec dprun --requeue --threads 2 --grace 20 train.py -n 3\n") and "--no-kill" not in text
    assert cli.main(["--print-sbatch", "--restarts", "1", "train.py"]) == 0 and "#SBATCH --no-kill\n" in capsys.readouterr().out


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    """Slurm's commands here talk to a cluster that is started for these tests."""
    if LACKING:
        pytest.skip(f"no {', '.join(LACKING)}: tests/launch/slurm_cluster.sh install")
    if os.geteuid() != 0:
        pytest.skip("a Slurm for tests is started as root")
    folder = tmp_path_factory.mktemp("slurm")
    done = subprocess.run([CLUSTER, "start", folder], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                          text=True, timeout=100) if not os.environ.get("SLURM_CONF") else None
    if done is not None and done.returncode:
        pytest.skip(f"Slurm does not start here: {done.stderr}")
    def run(*command, timeout=100):
        env = {name: value for name, value in mpirun.outer().items() if name not in ("RANK", "WORLD_SIZE", "OMP_NUM_THREADS")}
        return subprocess.run([*map(str, command)], env={"SLURM_CONF": str(folder / "slurm.conf"), **env, "PYTHONPATH": str(ROOT)}, cwd=folder,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=timeout).stdout
    yield run
    if done is not None:
        subprocess.run([CLUSTER, "stop", folder], timeout=30)


def until(true, limit=120):
    """Whether it has become true in time."""
    deadline = time.monotonic() + limit
    while not true():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.3)
    return True


SIZES = """
import os
from dparallel import world
comm = world()
print("rank", comm.rank, "of", comm.size, *[os.environ.get(name) for name in ("GROUP_RANK", "GROUP_WORLD_SIZE", "OMP_NUM_THREADS")], flush=True)
comm.barrier()
"""


@pytest.fixture
def sizes(tmp_path):
    path = tmp_path / "sizes.py"
    path.write_text(SIZES)
    return path


def test_srun_without_what_mpi_needs_is_an_error_on_each(cluster, sizes):
    said = cluster("srun", "--mpi=none", "-N2", "-n2", sys.executable, sizes)
    assert said.count("RuntimeError: srun started this process as one of 2 (SLURM_STEP_NUM_TASKS), but MPI sees 1") == 2 and "rank" not in said.split()
    assert "rank 0 of 1" in cluster("srun", "--mpi=none", "-n1", sys.executable, sizes)
    assert "srun has started dprun 2 times; start it once" in cluster("srun", "-n2", sys.executable, "-m", "launch", sizes)


def test_srun_with_pmi2(cluster, sizes):
    """MPICH joins; Open MPI, which knows PMIx alone, is an error on each."""
    said = cluster("srun", "--mpi=pmi2", "-N2", "-n2", sys.executable, sizes)
    if mpirun.find().family == "mpich":
        assert "rank 0 of 2" in said and "rank 1 of 2" in said, said
    else:
        assert said.count("RuntimeError: the launcher announced 2 ranks, but MPI sees 1") == 2, said


def test_a_batch_job_has_its_ranks_hosts_and_cores_from_the_allocation(cluster, sizes, tmp_path):
    out = tmp_path / "out"                           # not `sbatch -W`, which asks every half minute
    cluster("sbatch", "-N2", "--ntasks-per-node=2", "--cpus-per-task=2", "-o", out, "--wrap", f"{sys.executable} -m launch {sizes}; echo over")
    said = until(lambda: out.exists() and "over" in out.read_text()) and out.read_text()
    for rank in range(4):
        assert f"rank {rank} of 4 {rank // 2} 2 2\n" in said, said
    assert "4 ranks on 2 hosts by" in said


PREEMPTED = """
import os, sys, time
from dparallel import graceful_exit, world
comm, run = world(), os.environ.get("SLURM_RESTART_COUNT", "0")
with graceful_exit(save=lambda: print("saved by", comm.rank, flush=True)) as stop:
    for step in range(2 if run == "1" else 1000):
        time.sleep(0.1)
        print("step", step, flush=True)
        if stop.requested():
            break
print("finished run", run, flush=True)
"""


@pytest.mark.parametrize("signal", [["-b", "-s", "USR1"], ["-f", "-s", "TERM"]], ids=["--signal", "preemption"])
def test_a_job_that_is_preempted_saves_and_goes_back_to_the_queue(cluster, tmp_path, signal):
    """The signal of `--signal=B:USR1@60`; and what preemption sends to every process of the job, mpirun among them."""
    script, batch, out = tmp_path / "train.py", tmp_path / "batch", tmp_path / "out"
    script.write_text(PREEMPTED)
    text = cluster(sys.executable, "-m", "launch", "--print-sbatch", "-n", "2", script)
    batch.write_text(text.replace("exec dprun", f"exec {sys.executable} -m launch"))
    job = cluster("sbatch", "--parsable", "-N2", "-o", out, batch).strip()
    def seen(*words):
        return until(lambda: out.exists() and all(word in out.read_text() for word in words))
    assert seen("step 1\n"), out.read_text()
    cluster("scancel", *signal, job)
    assert seen("saved by 0", "saved by 1", "with exit code 75"), out.read_text()
    def waits():
        return "PENDING" in cluster("squeue", "-h", "-j", job, "-o", "%T")
    assert until(waits), out.read_text()
    cluster("scontrol", "update", f"JobId={job}", "StartTime=now+3")         # not in two minutes; at once, slurmd takes it for the one that ended
    assert seen("finished run 1") and "finished run 0" not in out.read_text(), out.read_text()


def test_the_tutorial(cluster, tmp_path):
    """docs/tutorial_hosts.md, step 3: the batch script that its command prints runs its script."""
    (text,) = [text for name, text, _, _ in steps("tutorial_hosts") if name == "train.py"]
    (command,) = [command for _, _, command, _ in steps("tutorial_hosts") if "--print-sbatch" in command]
    (tmp_path / "train.py").write_text(text)
    batch = cluster(sys.executable, "-m", "launch", *command.split()[1:])
    (tmp_path / "job.sh").write_text(batch.replace("exec dprun", f"cd {tmp_path}; exec {sys.executable} -m launch"))
    cluster("sbatch", "-N2", "-o", tmp_path / "out", tmp_path / "job.sh")
    assert until(lambda: (tmp_path / "out").exists() and "75 steps, 2 ranks, loss 0.19" in (tmp_path / "out").read_text()), (tmp_path / "out").read_text()


LOST = """
import os, time
from dparallel import world
comm = world()
print("ranks", comm.size, "on", os.environ["SLURMD_NODENAME"], flush=True)
while comm.size > 1:
    comm.barrier()
    time.sleep(0.1)
"""


def test_a_job_that_loses_a_node_goes_on_without_it(cluster, tmp_path):
    """Slurm ends the step and takes the node from the job, also when it answers again, as it does here at once."""
    script, out = tmp_path / "train.py", tmp_path / "out"
    script.write_text(LOST)
    cluster("sbatch", "--no-kill", "-N2", "-n2", "-o", out, "--wrap", f"exec {sys.executable} -m launch --restarts 2 {script}")
    def seen(*words):
        return until(lambda: out.exists() and all(word in out.read_text(errors="replace") for word in words))
    assert seen("ranks 2 on node1", "ranks 2 on node2"), out.read_text()
    cluster("scontrol", "update", "nodename=node2", "state=down", "reason=test")
    assert seen("dprun: the job restarts in 1 s", "dprun: 1 of 2 hosts respond: 1 of 2 ranks", "ranks 1 on node1"), out.read_text(errors="replace")
    cluster("scontrol", "update", "nodename=node2", "state=resume")
