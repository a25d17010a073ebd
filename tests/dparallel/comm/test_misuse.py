"""Planted mistakes on real ranks: each ends, or is told, in bounded time, naming every rank and the user's line.

(`dprun` and plain mpirun start the scripts: this file itself runs serially.)
"""

import os
import re
import subprocess
import sys
import traceback
from pathlib import Path

import numpy as np
import pytest

import autograd as ag
from autograd import nn
from dparallel import DataParallel
from launch import mpirun

pytestmark = pytest.mark.jobs

try:
    MPIRUN = mpirun.find()
except mpirun.LaunchError:
    pytest.skip("no mpirun", allow_module_level=True)

ROOT = Path(__file__).parents[3]
HEAD = """
import sys, time
import numpy as np
from dparallel import world
comm = world()
odd = comm.rank == comm.size - 1
x = [np.ones(3, np.float32)]
"""
PLAIN = [MPIRUN.path, *(["--allow-run-as-root", "--oversubscribe", "--bind-to", "none"] if MPIRUN.family == "openmpi" else [])]


class Done:
    """What a job came to."""

    def __init__(self, line, limit=200, **env):
        env = {k: v for k, v in os.environ.items() if not k.startswith("DPARALLEL_")} | {
            "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"} | env
        done = subprocess.run(list(map(str, line)), env=env, text=True, timeout=limit, errors="replace",
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.code, self.text = done.returncode, done.stdout

    def shows(self, *patterns, code=None):
        """Assert what is printed, one after the other, and the exit code (None: a failure)."""
        rest = self.text
        for pattern in patterns:
            found = re.search(pattern, rest)
            assert found, f"no {pattern!r} here:\n{rest}\n--- in all:\n{self.text}"
            rest = rest[found.end():]
        assert self.code == code if code is not None else self.code != 0, self.text
        return self


@pytest.fixture
def script(tmp_path):
    def write(text, head=HEAD):
        (tmp_path / "train.py").write_text(head + text)
        return tmp_path / "train.py"
    return write


def dprun(ranks, path, *options, args=()):
    return Done([sys.executable, "-m", "launch", "-n", ranks, "--threads", 1, *options, path, *args])


# --- a rank leaves -----------------------------------------------------------------------------------------------------


EARLY = """
def main():
    for step in range(3):
        if odd and step == 1:
            return
        comm.allreduce(x)
main()
"""


@pytest.mark.parametrize("ranks, options, last", [(2, [], ""), (4, ["--check"], r" at \S*train.py:13, in main: comm.allreduce\(x\)")])
def test_a_rank_that_returns_early(script, ranks, options, last):
    gone = ranks - 1
    done = dprun(ranks, script(EARLY), *options).shows(
        rf"dparallel: rank {gone} has left its script, but rank \d still waits for it; the job is ended",
        *[rf"rank {rank} has waited [\d.]+ s in allreduce\(op='sum'\) of float32 \(3,\) at \S*train.py:13, in main: "
          r"comm.allreduce\(x\)" for rank in range(gone)],
        rf"rank {gone} has left its script \(last collective: allreduce\(op='sum'\) of float32 \(3,\){last}\)",
        r"dprun: rank \d of \d ended the job", code=1)
    assert done.text.count("has left its script, but") == 1


def test_a_rank_that_ends_in_an_error_under_plain_mpirun(script):
    path = script("def step():\n    if odd: raise ValueError('planted')\n    comm.broadcast(x[0], root=1)\nstep()\n")
    done = Done([*PLAIN, "-n", 2, sys.executable, path]).shows("ValueError: planted")
    assert "rank 1 has left its script after ValueError: planted, but rank 0 still waits" in done.text
    assert re.search(r"rank 0 has waited .* in broadcast\(root=1\) at \S*train.py:10, in step: comm.broadcast", done.text)
    done = Done([*PLAIN, "-n", 2, sys.executable, "-m", "mpi4py", path]).shows("ValueError: planted")
    assert done.text.count("ValueError: planted") == 1


def test_a_rank_that_leaves_its_loop(script):
    """Gradients are summed on a communicator of their own: no header meets another one."""
    path = script("""
from autograd import nn, ones
from dparallel import DataParallel
model = DataParallel(nn.Linear(4, 2))
for step in range(3):
    if odd and step == 2:
        break
    model(ones(2, 4)).sum().backward()
accuracy = comm.total(1.0)
""")
    dprun(2, path, "--check").shows(
        "dparallel: deadlock: rank 0 waits for rank 1, which waits for rank 0; the job is ended",
        r"rank 0 has waited [\d.]+ s in sum_in_place of float32 \(\d+,\) .*train.py:15: .*sum\(\).backward\(\)",
        r"rank 1 has waited [\d.]+ s in total\(\) .*train.py:16: accuracy = comm.total\(1.0\)")
    dprun(3, path, "--stall", 1).shows("dparallel: deadlock: rank .*; the job is ended", r"sum_in_place of float32 \(\d+,\)",
                                       r"rank 2 has waited [\d.]+ s in total\(\)")


@pytest.mark.parametrize("slow", ["none", "odd", "not odd"])
def test_a_rank_that_caught_its_error_and_leaves_one_step_early(script, slow):
    """Sums of different vectors meet, once; after that the ranks count alike, so who has left is known at once. Some ranks
    are slow: between their nodes they see that the others are at another vector, with buckets of their own still to leave."""
    done = dprun(3, script("""
import autograd as ag, time
from autograd import nn
from dparallel import CollectiveError, DataParallel
net = nn.Sequential(*[nn.Linear(8, 8) for _ in range(4)])
model = DataParallel(net, bucket_cap_mb=0.0001)
step = 0
def planted(g):
    if odd and step == 1: raise ZeroDivisionError
net[1].weight.register_hook(planted)
for layer in net: layer.weight.register_hook(lambda g: time.sleep(0.03) if SLOW else None)
for step in range(4):
    try: model(ag.ones(2, 8)).sum().backward()
    except ZeroDivisionError: pass
    except CollectiveError as error: print(error, flush=True)
""".replace("SLOW", slow.replace("none", "False"))), "--check").shows("ranks sum different vectors:",
                       r"ranks? [\d, -]+: sum_in_place of float32 \(\d+,\), vector \d+ of the communicator at \S*train.py:20: try")
    assert len(set(re.findall(r"vector \d+ of", done.text))) == 2
    assert re.search(r"rank 2 has left its script, .*; the job is ended", done.text)
    assert re.search(r"rank 2 has left its script \(last collective: sum_in_place at \S*train.py:20: try", done.text)
    assert done.text.count("ranks sum different vectors:") == 3


# --- ranks that do not meet --------------------------------------------------------------------------------------------


def test_what_ranks_call_differently_is_one_error_everywhere(script):
    dprun(3, script("""
from dparallel import CollectiveError
cases = [
    lambda: comm.allreduce(x) if odd else comm.barrier(),
    lambda: comm.allreduce([np.ones(3 + odd)]),
    lambda: comm.allreduce([np.ones(3, "f4" if odd else "f8")]),
    lambda: comm.broadcast(x[0], root=int(odd)),
    lambda: comm.duplicate() if odd else comm.any(True),
    lambda: comm.start_allreduce(x) if odd else comm.gather(x),
]
texts = []
for case in cases:
    try:
        case()
    except CollectiveError as error:
        texts.append(str(error))
assert len(texts) == len(cases) and comm.allgather_object([texts]) == [texts] * 3
if odd:
    print(*texts, sep="\\n")
"""), "--stall", 10).shows(
        r"different collectives:\n  ranks 0-1: barrier\(\) at \S*train.py:11, .*\n  rank 2: allreduce\(.*\) of float32 \(3,\) at",
        r"the shapes differ:\n  ranks 0-1: .*float64 \(3,\) at \S*train.py:12.*\n  rank 2: .*float64 \(4,\) at \S*train.py:12",
        r"the dtypes differ:\n  ranks 0-1: .*float64 .*\n  rank 2: .*float32", "different roots", "duplicate", "gather", code=0)


def test_check_mode_tells_where_ranks_parted(script):
    done = dprun(2, script("""
if not odd:
    comm.allreduce(x)
comm.allreduce(x)
if odd:
    time.sleep(1.5)
comm.broadcast(x[0])
"""), "--check").shows(
        r"rank 0: allreduce\(op='sum'\) of float32 \(3,\) at \S*train.py:11: comm.allreduce\(x\) \(waited \d+.\d s\)",
        r"rank 1: broadcast\(root=0\) at \S*train.py:14: comm.broadcast\(x\[0\]\) \(waited \d+.\d s\)",
        r"ranks first diverged in collective number 1:",
        r"rank 0: .*train.py:10: comm.allreduce", r"rank 1: .*train.py:11: comm.allreduce")
    early, late = [float(seconds) for seconds in re.findall(r"\(waited ([\d.]+) s\)", done.text)][:2]
    assert early > late


def test_unchecked_sums(script):
    """In check mode their calls are compared too; without it the watchdog sees what met."""
    path = script("h = comm.start_sum_in_place(x) if odd else comm.allreduce(x)\nif odd: h.wait()\n")
    dprun(2, path, "--check").shows(r"rank 0: allreduce\(.*train.py:8", r"rank 1: sum_in_place\(op='sum'\) of float32 \(3,\) at")
    dprun(2, path, "--stall", 1).shows(
        "rank 0 and rank 1 are in different collectives; the job is ended", r"rank 0 has .* in allreduce",
        r"rank 1 has waited .* in sum_in_place of float32 \(3,\) at \S*train.py:9: if odd: h.wait\(\)")
    path = script("comm.sum_in_place([np.ones(3 + odd)])\n")
    dprun(2, path, "--check").shows("the shapes differ", r"sum_in_place.* \(3,\) at", r"sum_in_place.* \(4,\) at")


def test_ranks_that_all_wait_for_a_message(script):
    dprun(3, script("""
source = (comm.rank + 1) % 3
comm.barrier()
comm.recv(source, 3)
comm.send(x[0], source)
"""), "--stall", 1).shows("deadlock: rank 0 waits for rank 1, which waits for rank 2, which waits for rank 0; the job is ended",
                          *[rf"rank {r} has waited .* in recv\(source={(r + 1) % 3}, tag=3\) at \S*train.py:11" for r in range(3)])


# --- a rank is late ----------------------------------------------------------------------------------------------------


# until the board says that somebody has reported, and where that ends the job, until it ends
LATE = """
def slow():
    while not any(comm.watch.board._memory[comm.size * 16384:][:8]) or comm.watch.settings.abort: time.sleep(0.1)
if odd:
    slow()
comm.gather(x, root=1)
print("went on")
"""
LATE_REPORT = (r"dparallel: stalled: no progress for \d+ s", r"rank 0 has waited [\d.]+ s in gather\(root=1\) of float32 "
               r"\(3,\) at \S*train.py:13: comm.gather", r"not in a collective; it is at \S*train.py:10, in slow: while ")


def test_a_late_rank_is_told_once_and_waited_for(script):
    done = dprun(3, script(LATE), "--stall", 2).shows(*LATE_REPORT, code=0)
    assert done.text.count("stalled") == 1 and done.text.count("went on") == 3


def test_on_request_a_stall_ends_the_job(script):
    done = dprun(2, script(LATE), "--stall", 1, "--stall-abort").shows(*LATE_REPORT, "dprun: rank 0 of 2 ended the job", code=1)
    assert "went on" not in done.text and len(re.findall(r"stalled: no progress for \d+ s; the job is ended", done.text)) == 1


def test_variables_mean_the_same_under_plain_mpirun(script):
    path = script("from dparallel import stall_limit\n" + LATE.replace("if odd", """
if len(sys.argv) > 1:
    stall_limit(0)
    slow = lambda: time.sleep(3)
if odd"""))
    line = [*PLAIN, "-n", 2, sys.executable, path]
    done = Done(line, DPARALLEL_STALL_SECONDS="1", DPARALLEL_STALL_ABORT="1").shows("dparallel: stalled", "rank 1 is not in")
    assert "went on" not in done.text
    assert "stalled" not in Done([*line, "quiet"], DPARALLEL_STALL_SECONDS="1").shows(code=0).text


DIFFERENT = """
from autograd import nn, ones
from dparallel import CollectiveError, DataParallel, SyncBatchNorm
model = DataParallel(nn.Sequential(nn.Linear(4, 2), SyncBatchNorm(2)), broadcast_buffers=False)
if odd:
    model.eval()
try:
    loss = model(ones(2, 4)).sum()
    loss.backward()
except CollectiveError as error:
    print(error, flush=True)
model = DataParallel(nn.Linear(4, 2))
if odd:
    model.register_comm_hook(None, lambda state, bucket: bucket.buffer())
model(ones(2, 4)).sum().backward()
"""


def test_evaluation_mode_and_a_hook_on_one_rank_only(script):
    done = dprun(3, script(DIFFERENT), "--stall", 30).shows(
        r"is a model in eval\(\) on some ranks, in train\(\) on others\?:",
        r"ranks 0-1: agree\(\) before \w+ at \S*train.py:15: loss = model\(ones\(2, 4\)\).sum\(\)",
        r"rank 2: backward_in_evaluation_mode\(\) at \S*train.py:16: loss.backward\(\)",
        r"RuntimeError: rank 2: the comm hook <lambda> is registered here, but not on all ranks")
    assert done.text.count("in train() on others?") == 3 and "waited" not in done.text


# --- a rank raises -----------------------------------------------------------------------------------------------------


RAISES = """
import autograd as ag
from autograd import nn
from autograd.utils.data import DataLoader, Dataset
from dparallel import DataParallel
what = sys.argv[1]
def plant(where):
    if odd and what == where:
        raise ValueError("planted in " + where)
class Net(nn.Linear):
    def forward(self, x):
        plant("forward")
        return super().forward(x)
class Identity(ag.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 1
    @staticmethod
    def backward(ctx, g):
        plant("backward")
        return g
class Rows(Dataset):
    def __len__(self):
        return 8
    def __getitem__(self, i):
        if i == 5:
            plant("loader")
        return np.ones(4, np.float32)
model = DataParallel(Net(4, 2))
model.module.weight.register_hook(lambda g: plant("hook"))
for x in DataLoader(Rows(), batch_size=2, num_workers=1):
    Identity.apply(model(x)).sum().backward()
comm.barrier()
"""


def test_a_wait_for_what_precedes_a_function_names_the_function(script):
    text = """
import autograd as ag
from dparallel import AllReduce
def step(make):
    return make.apply(ag.ones(3, requires_grad=True), comm=comm)
if odd:
    try:
        comm.total(1.0)
    except ValueError as error:
        print(str(error).replace("\\n", " "))
else:
    try:
        step(AllReduce)
    except ValueError:
        step(AllReduce)
"""
    done = dprun(2, script(text)).shows(code=1)
    assert re.search(r"different collectives:   rank 0: agree\(\) before AllReduce at .*rank 1: total\(\)", done.text), done.text
    assert re.search(r"rank 0 has waited \S+ s in agree\(\) before AllReduce at .*return make.apply", done.text), done.text


@pytest.mark.parametrize("ranks, where", [(2, "forward"), (3, "backward"), (2, "hook"), (4, "loader")])
def test_a_rank_that_raises(script, ranks, where):
    done = dprun(ranks, script(RAISES), args=[where]).shows(
        "Traceback", "line 16, in plant", f"ValueError: planted in {where}", f"dprun: rank {ranks - 1} of {ranks} failed", code=1)
    assert done.text.count("line 16, in plant") == 1 and done.text.count("dprun: rank") == 1
    assert "dparallel: " not in done.text


def test_a_local_replica_that_raises():
    class Sometimes(nn.Linear):
        def forward(self, x):
            if (x.array == 7).any():
                raise ValueError("planted")
            return super().forward(x)

    x = np.ones((4, 3), np.float32)
    x[2:] = 7
    with pytest.raises(ValueError, match="Caught ValueError in replica 1 on device 1: planted") as caught:
        DataParallel(Sometimes(3, 2), devices=2)(ag.from_numpy(x))
    frames = traceback.extract_tb(caught.value.__cause__.__traceback__)
    assert frames[-1].line == 'raise ValueError("planted")' and frames[-1].name == "forward"


def test_a_local_replica_whose_backward_raises():
    class Planted(ag.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.odd = bool((x.array == 7).any())
            return x * 1

        @staticmethod
        def backward(ctx, g):
            if ctx.odd:
                raise KeyError("planted")
            return g

    class Last(nn.Linear):
        def forward(self, x):
            return Planted.apply(super().forward(x) * 0 + x)

    x = np.ones((6, 3), np.float32)
    x[4:] = 7
    loss = DataParallel(Last(3, 3), devices=3)(ag.from_numpy(x)).sum()
    with pytest.raises(KeyError, match="Caught KeyError in replica 2 on device 2: 'planted'") as caught:
        loss.backward()
    frames = traceback.extract_tb(caught.value.__cause__.__traceback__)
    assert frames[-1].line == 'raise KeyError("planted")' and frames[-1].name == "backward"


def test_options_reach_the_ranks():
    done = dprun(2, __file__, "--dry-run", "--check", "--stall", "0", "--stall-abort").shows(code=0)
    for text in ("DPARALLEL_CHECK=1", "DPARALLEL_STALL_SECONDS=0", "DPARALLEL_STALL_ABORT=1"):
        assert text in done.text
    assert "DPARALLEL" not in dprun(2, __file__, "--dry-run").text
    dprun(2, __file__, "--stall", "soon").shows("--stall: 'soon' is not a positive number of seconds", code=2)


# --- several hosts -----------------------------------------------------------------------------------------------------

HOSTS = """
import sys, time
import numpy as np
from mpi4py import MPI
from dparallel.comm.watchdog import stall
stall.near = lambda mpi: mpi.COMM_WORLD.Split(mpi.COMM_WORLD.rank % 2)       # even ranks see each other, and odd ones
""" + HEAD


@pytest.mark.parametrize("who, options", [(1, []), (0, ["--check"]), (3, [])])
def test_a_rank_that_leaves_on_another_host(script, who, options):
    dprun(4, script(f"if comm.rank == {who}: sys.exit()\ncomm.allreduce(x)\n", HOSTS), *options).shows(
        rf"dparallel: rank {who} has left its script, but rank \d still waits for it; the job is ended",
        r"rank \d has waited [\d.]+ s in allreduce.* at \S*train.py:15: comm.allreduce\(x\)", code=1)


def test_a_deadlock_over_hosts(script):
    dprun(3, script("comm.recv(source=(comm.rank + 1) % 3)\n", HOSTS), "--check").shows(
        r"dparallel: deadlock: rank \d waits for rank \d, which waits for rank \d, which waits for rank \d; the job is ended",
        *[rf"rank {rank} has waited [\d.]+ s in recv\(source={(rank + 1) % 3}, tag=0\)" for rank in range(3)], code=1)


@pytest.mark.parametrize("late", [0, 1])
def test_one_report_of_a_stall_over_hosts(script, late):
    """The other host's claim comes first, or its report is the only one: a report names every rank."""
    done = dprun(4, script(f"comm.barrier()\nif comm.rank == {late}: time.sleep(7)\ncomm.allreduce(x)\n", HOSTS), "--stall", 4).shows(
        r"dparallel: stalled: no progress for \d+ s", code=0)
    assert done.text.count("stalled") == 1
    assert re.search(rf"rank {late} is not in a collective; it is at \S*train.py:15: ", done.text)
    for rank in {0, 1, 2, 3} - {late}:
        assert re.search(rf"rank {rank} has waited [\d.]+ s in allreduce", done.text)


def test_hosts_part_in_peace(script):
    """Ranks end at different times, one after MPI was ended by hand; nothing is said."""
    done = dprun(3, script("comm.allreduce(x)\ntime.sleep(comm.rank)\nif odd: MPI.Finalize()\ntime.sleep(1.5)\n", HOSTS), "-q")
    assert (done.code, done.text) == (0, "")
