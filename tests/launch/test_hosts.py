"""dprun over two hosts by ssh: network namespaces of this machine, made by two_hosts.sh."""

import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from dparallel.observe.timeline.clocks import Clock, Offset
from dparallel.observe.timeline.report import Report
from dparallel.observe.timeline.run import read
from launch import mpirun
from launch.hosts import Host, hosts_of

ROOT = Path(__file__).parent.parent.parent
sys.path.insert(0, str(ROOT / "tests"))

from test_tutorial import differs, steps  # noqa: E402

HOSTS = Path(__file__).with_name("two_hosts.sh")
LACKING = [name for name in ("ip", "unshare", "ssh", "sshd") if shutil.which(name, path=os.environ["PATH"] + ":/usr/sbin:/sbin") is None]


class Options:
    hosts, hostfile = None, None


def test_hosts_and_their_slots(tmp_path):
    given = Options()
    given.hosts = "a:4,b"
    assert hosts_of(given) == [Host("a", 4), Host("b", 0)]
    given.hosts, given.hostfile = None, str(tmp_path / "hosts")
    Path(given.hostfile).write_text("# all\na slots=4 max-slots=8\n\nb:2 # the second\nc\n")
    assert hosts_of(given) == [Host("a", 4), Host("b", 2), Host("c", 0)]


@pytest.fixture(scope="module")
def start(tmp_path_factory):
    """start(script's text, options) runs dprun on the first of two hosts: its process."""
    if LACKING:
        pytest.skip(f"no {', '.join(LACKING)}: Debian's iproute2, openssh-server, openssh-client")
    if os.geteuid() != 0:
        pytest.skip("network namespaces are made as root")
    folder = tmp_path_factory.mktemp("hosts")
    env = {**mpirun.outer(), "PYTHONPATH": str(ROOT), "PATH": os.environ["PATH"] + ":/usr/sbin:/sbin"}
    done = subprocess.run([HOSTS, "start", folder], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                          timeout=60, env=env)
    if done.returncode:
        pytest.skip(f"no two hosts can be made here: {done.stderr}")
    def start(text, *options):
        (folder / "script.py").write_text(text)
        return subprocess.Popen([HOSTS, "run", folder, sys.executable, "-m", "launch", "-H", "10.77.0.1:2,10.77.0.2:2", "--ssh", folder / "ssh",
                                 "-x", "PYTHONPATH", *options, folder / "script.py"], env=env, stdout=subprocess.PIPE,
                                stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, text=True, preexec_fn=os.setsid)
    yield start
    subprocess.run([HOSTS, "stop", folder], timeout=30, env=env)


def until(process, words):
    """The output until a line with these words."""
    said = ""
    for line in process.stdout:
        said += line
        if words in line:
            break
    return said


def test_ranks_of_two_hosts_with_cores_of_their_own(start):
    process = start("import os\nfrom dparallel import world\ncomm = world()\n"
                    "print('sum', comm.rank, comm.size, comm.total(comm.rank), os.environ['GROUP_RANK'], os.environ['LOCAL_RANK'], flush=True)\n",
                    "-n", "4", "--check", "--threads", "1")
    said, _ = process.communicate(timeout=100)
    for rank in range(4):
        assert f"sum {rank} 4 6.0 {rank // 2} {rank % 2}\n" in said and f"dprun: rank {rank} of 4 on dp{rank // 2 + 1}: cores " in said, said


def test_a_rank_of_another_host_that_raises_has_one_report_too(start):
    process = start("from dparallel import world\ncomm = world()\nif comm.rank: raise ValueError('planted')\ncomm.barrier()\n",
                    "-q", "-n", "2", "-H", "10.77.0.1:1,10.77.0.2:1")
    said, _ = process.communicate(timeout=100)
    assert process.returncode == 1 and said.count("Traceback") == 1 and said.startswith("Traceback"), said
    assert re.search(r"ValueError: planted\ndprun: rank 1 of 2 (on dp2 )?failed with exit code 1\n\Z", said), said


def test_a_host_that_does_not_answer_is_named(start):
    process = start("", "-q", "-n", "2", "-H", "10.77.0.1:1,10.77.0.9:1")
    said, _ = process.communicate(timeout=100)
    assert process.returncode not in (0, 124) and re.fullmatch(r"dprun: host 10\.77\.0\.9 can't be reached by .*/ssh.*\n", said), said


PREEMPTED = """
import time
from dparallel import graceful_exit, world
comm = world()
with graceful_exit(save=lambda: print("saved", comm.rank, flush=True)) as stop:
    for step in range(1000):
        time.sleep(0.1)
        print("step", step, flush=True) if comm.rank == 1 else None
        if stop.requested():
            break
"""


def test_ranks_of_two_hosts_save_when_dprun_is_asked_to_end(start):
    process = start(PREEMPTED, "-n", "2", "-H", "10.77.0.1:1,10.77.0.2:1")
    assert "step 2" in until(process, "step 2")
    os.kill(process.pid, signal.SIGTERM)             # exec: dprun itself
    said, _ = process.communicate(timeout=100)
    assert process.returncode == 75 and "saved 0" in said and "saved 1" in said, said


def test_top_shows_ranks_of_both_hosts(start):
    """Ranks of the other host, which has no folder of dprun's, tell by way of the watchdogs while someone looks."""
    process = start("""
import os, socket, time
if socket.gethostname() == "dp2":
    os.environ.pop("DPRUN_REPORT_DIR", None)         # the two share a file system, which hosts do not
import autograd as ag
from autograd import optim
from dparallel import world
comm = world()
optimizer = optim.SGD([ag.ones(3, requires_grad=True)], lr=0.1)
print("ready", flush=True)
while True:
    comm.barrier()
    optimizer.step()
    time.sleep(0.05)
""", "-n", "4")
    assert "ready" in until(process, "ready")
    try:
        for _ in range(20):
            shown = subprocess.run([sys.executable, "-m", "launch", "--top", str(process.pid)], capture_output=True, text=True,
                                   env={**os.environ, "PYTHONPATH": str(ROOT)}).stdout
            rows = [line.split()[:4] for line in shown.splitlines()[4:]]
            if len(rows) == 4 and all(row[2].isdigit() and row[3] != "-" for row in rows):
                break
        assert [row[:2] for row in rows] == [["0", "dp1"], ["1", "dp1"], ["2", "dp2"], ["3", "dp2"]], shown
        assert all(int(row[2]) > 0 for row in rows) and "4 running" in shown, shown
    finally:
        os.kill(process.pid, signal.SIGTERM)
        process.communicate(timeout=100)


def test_a_host_that_is_lost_takes_its_ranks_with_it(start):
    process = start("""
import os, socket, time
from dparallel import world
comm = world()
print("ranks", comm.size, socket.gethostname(), flush=True)
if socket.gethostname() == "dp2":
    os.kill(os.getpid(), 9)
comm.barrier()
""", "-n", "2", "-H", "10.77.0.1:1,10.77.0.2:1", "--restarts", "3", "--min-n", "1")   # the link may go down late
    assert "restarts in" in until(process, "restarts in")
    subprocess.run(["ip", "-n", "dp2", "link", "set", "dpv2", "down"], check=True)
    try:
        said, _ = process.communicate(timeout=100)
    finally:
        subprocess.run(["ip", "-n", "dp2", "link", "set", "dpv2", "up"], check=True)
    assert process.returncode == 0 and "1 of 2 hosts respond: 1 of 2 ranks" in said and "ranks 1 dp1" in said, said


RECORDED = """
import os, sys, time
import autograd as ag
from autograd import nn
from dparallel import DataParallel, world
comm = world()
model = DataParallel(nn.Linear(8, 4))
optimizer = ag.optim.SGD(model.parameters(), lr=0.1)
for step in range(20):
    time.sleep(0.01 * (comm.rank == 1))
    model(ag.ones(4, 8)).sum().backward()
    optimizer.step()
    if step == 15 and comm.rank == 1 and {killed}:
        os.kill(os.getpid(), 9)
"""


@pytest.mark.parametrize("killed", [False, True])
def test_a_timeline_of_two_hosts(start, tmp_path, killed):
    """The hosts are one machine, whose clock is one: what is measured between them is 0, within the bound that is written down."""
    process = start(RECORDED.format(killed=killed), "-n", "2", "-H", "10.77.0.1:1,10.77.0.2:1", "--timeline", tmp_path / "run.json.gz")
    said, _ = process.communicate(timeout=100)
    assert (process.returncode != 0) == killed, said
    run = read(tmp_path / "run.json.gz")
    assert [rank.info["host"] for rank in run.ranks] == ["dp1", "dp2"] and not run.missing
    near, far = (rank.info["offsets"] for rank in run.ranks)
    assert all(offset["offset"] == 0 for offset in near)
    assert len(far) >= 1 + (not killed) and all(abs(offset["offset"]) <= offset["bound"] for offset in far), far
    undisturbed = Clock([Offset(**offset) for offset in far]).offsets       # a busy machine answers late: such a one is left out
    assert run.bound > 0 and run.ranks[1].info["drift_measured"] == (len(undisturbed) > 1)
    data = Report(run).data
    assert data["steps"]["count"] >= 14 and data["hosts"] == ["dp1", "dp2"]
    assert data["clock_bound_us"] == pytest.approx(run.bound / 1000)
    causes = [(cause["rank"], cause["part"]) for cause in data["causes"] if cause["part"] != "other process"]
    assert causes[0][0] == 1 and causes[0][1] in ("script", "start"), causes


@pytest.mark.parametrize("page, script, arguments", [("tutorial", "ranks.py", []), ("tutorial_hosts", "train.py", ["two"])])
def test_tutorials(start, tmp_path, page, script, arguments):
    """The page's command with -H, one rank on each of two hosts: it prints what the page says."""
    files = {name: text for name, text, _, _ in steps(page) if name}
    (said,) = [said for _, _, command, said in steps(page) if "-H" in command]
    text = f"import os, socket, sys\nos.chdir({str(tmp_path)!r})\nsys.argv[1:] = {arguments}\n" + files[script]
    process = start(text + 'print("on", socket.gethostname())\n', "-q", "-n", "2", "-H", "10.77.0.1:1,10.77.0.2:1")
    printed, _ = process.communicate(timeout=120)
    assert process.returncode == 0 and not differs(said + "on dp1\non dp2\n", printed), printed
