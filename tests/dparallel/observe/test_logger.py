"""Logger: lines of all ranks' rows, whatever rows each rank has; what it writes to; what it refuses."""

import importlib.util
import json
import math
import os
import subprocess
import sys
import time
from types import SimpleNamespace

import numpy as np
import pytest
from raised import raises

import autograd as ag
from autograd import nn, optim
from dparallel import CollectiveError, DataParallel, Join, Logger, run_ranks, verify
from dparallel.comm.preemption import Preempted
from dparallel.comm.watchdog.vitals import vitals
from dparallel.observe.logs.interval import ROOM
from dparallel.observe.logs.outputs import Console, JsonLines


class Lines:
    """An output that keeps what it is given."""

    def __init__(self):
        self.lines, self.closed = [], 0

    def write(self, step, time, values):
        self.lines.append((step, dict(values)))

    def close(self):
        self.closed += 1


def batches(seed=0, steps=10, most=7):
    """Rows of all steps; the first and the last few steps have few."""
    rng = np.random.default_rng(seed)
    return [np.round(rng.standard_normal(rng.integers(1, most)) * 64) / 64 for _ in range(steps)]


def expected(rows_of_steps, every):
    """What one process with all rows logs."""
    lines = []
    for start in range(0, len(rows_of_steps), every):
        part = rows_of_steps[start:start + every]
        rows = np.concatenate(part)
        lines.append((min(start + every, len(rows_of_steps)), {"loss": rows.sum() / len(rows), "n": float(len(rows))}))
    return lines


@pytest.mark.devices
def test_as_one_process(comm):
    """Unequal rows, ranks without any, steps that are no multiple of the interval: the numbers of one process, exactly, since
    rows are multiples of 1/64 and weights small."""
    steps, out = batches(), Lines()
    with Logger(every=4, reduce={"n": "sum"}, console=False, outputs=[out], comm=comm) as log:
        for rows in steps:
            mine = comm.share(rows)
            total = ag.tensor(float(mine.sum()) if len(mine) else 0.0, dtype=ag.float64, requires_grad=True)
            if len(mine):
                log({"loss": total * 1.0 if len(mine) == 1 else total / len(mine)}, n=np.int64(len(mine)), rows=len(mine))
            elif comm.rank % 2:
                log()
            else:
                log(loss=math.nan, n=0, rows=0)
        assert log.step == 10
    want = expected(steps, 4)
    if comm.rank == 0:
        assert [step for step, _ in out.lines] == [step for step, _ in want] == [4, 8, 10] and out.closed == 1
        for (_, line), (_, values) in zip(out.lines, want):
            assert list(line) == ["loss", "n"] and line["n"] == values["n"]
            assert line["loss"] == pytest.approx(values["loss"], rel=1e-15, abs=1e-17)
    else:
        assert out.lines == [] and out.closed == 0
    log.close()                                  # a second time


@pytest.mark.devices
def test_now_flush_and_last(comm):
    out = Lines()
    log = Logger(every=100, reduce={"lr": "last", "k": "sum"}, console=False, outputs=[out], step=7, comm=comm)
    for k in range(3):
        log(loss=comm.rank + 1, rows=1, lr=0.1 * (k + 1) + comm.rank, k=1)
    processes = comm.size if len(comm.held) == 1 else 1
    found = log.now({"test/loss": comm.rank if comm.rank else math.nan}, rows=comm.rank)
    mean = sum(r * r for r in range(processes)) / max(1, sum(range(processes)))
    assert found == {"test/loss": mean} if processes > 1 else math.isnan(found["test/loss"])
    assert log.now() == {}                       # nobody has anything
    log.flush()
    log.flush()                                  # nothing since
    log(loss=2.0, lr=1.0, k=1)
    log.close()
    if comm.rank == 0:
        assert out.lines[1:] == [(10, {"loss": (processes + 1) / 2, "lr": 0.1 * 3, "k": 3.0 * processes}),
                                 (11, {"loss": 2.0, "lr": 1.0, "k": processes})]
        assert out.lines[0][0] == 10
    raises(RuntimeError, "closed", log, loss=1.0)
    raises(RuntimeError, "closed", log.flush)


def test_nobody_waits(comm):
    """Rank 0 makes 50 intervals before the others have made one: it is not held up, and the lines are right in the end."""
    out = Lines()
    log = Logger(every=2, console=False, outputs=[out], comm=comm)
    if comm.rank == 0:
        for k in range(100):
            log(x=k)
    comm.barrier()
    if comm.rank:
        for _ in range(3):
            log(x=0, rows=3)
    log.close()
    if comm.rank == 0:
        others = comm.size - 1
        assert [step for step, _ in out.lines] == list(range(2, 101, 2))
        assert out.lines[0][1]["x"] == 1 / (2 + 6 * others) and out.lines[1][1]["x"] == 5 / (2 + 3 * others)
        assert [line["x"] for _, line in out.lines[2:]] == [k + 0.5 for k in range(4, 100, 2)]
    assert log.step == 100


@pytest.mark.parametrize("together", [False, True])
def test_join(comm, together):
    """Ranks run out of batches: rank 0 first, which writes lines of names that it has never met. In Join([model, log]) the
    lines come while the others go on."""
    out, net = Lines(), nn.Linear(2, 1)
    model = DataParallel(net, comm=comm)
    optimizer = optim.SGD(model.parameters(), lr=0.1)
    log = Logger(every=2, console=False, outputs=[out], comm=comm, reduce={"rows": "sum"})
    rng, steps = np.random.default_rng(comm.rank), 3 + 4 * comm.rank
    with Join([model, log]) if together else model.join():
        for step in range(steps):
            loss = model(ag.tensor(rng.standard_normal((comm.rank + 1, 2)), dtype=ag.float32)).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            log({"rows": comm.rank + 1, **({"late": step} if step >= 6 else {})}, loss=loss, rows=comm.rank + 1)
    assert comm.rank or not together or len(out.lines) >= (min(log.step, 6) - 1) // 2
    log.close()
    if comm.rank == 0:
        last = 3 + 4 * (comm.size - 1)
        assert log.step == last and [step for step, _ in out.lines] == [*range(2, last + 1, 2), *([last] if last % 2 else [])]
        assert sum(line["rows"] for _, line in out.lines) == sum((3 + 4 * r) * (r + 1) for r in range(comm.size))
        assert [("late" in line) for step, line in out.lines] == [step > 6 for step, _ in out.lines]
    verify(model)


def test_other_names_are_an_error_on_all_ranks(comm):
    log = Logger(every=1, console=False, comm=comm)
    if comm.size > 1:
        try:
            log(**{"loss" if comm.rank != 1 else "lost": 1.0})
            log.flush()
        except CollectiveError as error:
            own = "lost" if comm.rank == 1 else "loss"
            others = ", ".join(str(rank) for rank in range(comm.size) if rank != 1)
            assert f"here they are ['{own}']" in str(error) and f"(alike on ranks {others} | 1)" in str(error)
        else:
            raise AssertionError("no error")
        comm.barrier()
        raises(CollectiveError, "different names", lambda: log.now({"a" if comm.rank else "b": 1}))
        for settings in ({"every": 2 + comm.rank}, {"reduce": {"x": "sum"} if comm.rank else {}}, {"step": comm.rank}):
            with pytest.raises(CollectiveError, match=r"Logger\(\): rank 1 has every, step, reduce"):
                Logger(console=False, comm=comm, **settings)
    log._leave()


def test_an_output_that_fails_is_an_error_on_all_ranks(on_ranks, tmp_path):
    (tmp_path / "file").write_text("")

    def check(comm):
        with pytest.raises((CollectiveError, OSError), match=r"could not open|Not a directory|exists"):
            Logger(jsonl=tmp_path / "file" / "log", comm=comm)
        with pytest.raises(ValueError if comm.rank == 1 else CollectiveError, match="rows"):
            log = Logger(console=False, comm=comm)
            if comm.size == 1:
                raise CollectiveError("rows")
            log.now(x=1, rows=-1 if comm.rank == 1 else 1)

    on_ranks(check)


def test_an_error_in_the_block(comm):
    """No rank waits for others then; what is complete is written, and outputs are closed."""
    out = Lines()
    with pytest.raises(KeyError), Logger(every=1, console=False, outputs=[out], comm=comm) as log:
        log(x=1.0)
        comm.barrier()
        if comm.rank == comm.size - 1:
            raise KeyError
        log(x=2.0)
        raise KeyError
    assert comm.rank or (out.lines[0] == (1, {"x": 1.0}) and out.closed == 1)


def test_preempted_ranks_leave_together(comm):
    """What was logged since the last line is written."""
    out = Lines()
    with pytest.raises(Preempted), Logger(every=10, console=False, outputs=[out], comm=comm) as log:
        log(x=comm.rank)
        comm.barrier()
        raise Preempted(75)
    assert out.lines == ([(1, {"x": (comm.size - 1) / 2})] if comm.rank == 0 else [])


@pytest.mark.parametrize("arguments, error, text", [
    ({"every": 0}, ValueError, "at least 1"), ({"every": 2.5}, TypeError, "whole number"), ({"step": -1}, ValueError, "at least 0"),
    ({"every": True}, TypeError, "whole number"), ({"wandb": "mine"}, TypeError, "a dict, True or False"), ({"mlflow": 1}, TypeError, "mlflow=1"),
    ({"reduce": ["x"]}, TypeError, "a dict"), ({"reduce": {"x": "max"}}, ValueError, "'mean', 'sum', 'last'"), ({"outputs": [print]}, TypeError, "write"),
])
def test_arguments(arguments, error, text):
    raises(error, text, lambda: Logger(console=False, **arguments))


def test_values():
    out = Lines()
    log = Logger(every=1, console=False, outputs=[out])
    for bad, error, text in ((ag.ones(2), ValueError, r"\[2\]"), ([1, 2], TypeError, "list"), ("3", TypeError, "str '3'"),
                             (1j, TypeError, "complex"), (None, TypeError, "NoneType"), (np.array("x"), TypeError, "number"),
                             (ag.tensor(1j), TypeError, "number"), (np.ones((2, 0)), ValueError, r"\[2, 0\]")):
        raises(error, text, log, x=bad)
    raises(TypeError, "x is both in", log, {"x": 1}, x=2)
    raises(TypeError, "not list", log, [1, 2])
    raises(ValueError, "too large", lambda: log(x=10**400))
    for rows in (-1, math.nan, math.inf):
        raises(ValueError, "rows", log, x=1, rows=rows)
    for name in ("step", "time", "", 3):
        raises(ValueError, "cannot name a value", log, {name: 1})
    raises(ValueError, f"number {ROOM + 1}", lambda: log({f"x{k}": k for k in range(ROOM + 1)}))
    raises(TypeError, "str", log, fine=1.0, bad="x")
    assert log.step == 0
    log.flush()
    assert all("fine" not in line for _, line in out.lines)                # all are checked before one counts
    out.lines.clear()
    loss = (ag.tensor([[2.0]], requires_grad=True) * 3)
    log(a=loss, b=np.float16(0.5), c=True, d=ag.tensor(1.5, dtype=ag.bfloat16), e=math.inf, f=-math.inf, g=math.nan, h=10**12)
    log.close()
    assert str(out.lines[-1]) == "(1, {'a': 6.0, 'b': 0.5, 'c': 1.0, 'd': 1.5, 'e': inf, 'f': -inf, 'g': nan, 'h': 1000000000000.0})"


def test_the_last_loss_is_told():
    log = Logger(console=False)
    log({"train/loss": 0.25})
    assert vitals.loss == 0.25
    log({"train/loss": math.nan}, rows=0)
    assert vitals.loss == 0.25
    log(loss=ag.tensor(2.0))
    assert vitals.loss == 2.0
    log.close()


def test_json_lines(tmp_path):
    """A line that a crash has cut is dropped when the file is opened again; nan and infinities are texts."""
    path = tmp_path / "runs" / "log.jsonl"
    for k in range(2):
        with Logger(jsonl=path, console=False, step=k) as log:
            log(x=math.nan, y=-math.inf, z=k)
        with open(path, "a") as file:
            file.write('{"step": 9, "ti' if k else "")
    JsonLines(path).close()
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert [(line["step"], line["x"], line["y"], line["z"]) for line in lines] == [(1, "nan", "-inf", 0), (2, "nan", "-inf", 1)]
    (tmp_path / "cut").write_bytes(b"x" * 10000)
    JsonLines(tmp_path / "cut").close()
    assert (tmp_path / "cut").read_bytes() == b""


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
def test_a_full_disk_is_named(monkeypatch, tmp_path):
    full = JsonLines("/dev/full")
    raises(OSError, "No space.*/dev/full", full.write, 1, 0.0, {"x": 1.0})
    lines = JsonLines(tmp_path / "lines")
    monkeypatch.setattr(lines, "_file", SimpleNamespace(write=lambda line: len(line) - 1))
    raises(OSError, "No space.*lines", lines.write, 1, 0.0, {"x": 1.0})


def test_console(capsys):
    console = Console(frozenset({"n"}))
    console.write(5, 10.0, {"loss": 0.123456789, "n": 100.0})
    console.write(10, 14.0, {"loss": math.nan, "n": 100.0})
    assert capsys.readouterr().out == "step 5  loss 0.123457  n 100\nstep 10  loss nan  n 100 (25/s)\n"


def test_console_above_a_bar(tmp_path):
    pytest.importorskip("tqdm")
    script = ("import sys\nfrom tqdm import tqdm\nfrom dparallel.observe.logs.outputs import Console\nfor k in tqdm(range(3), file=sys.stdout, mininterval=0):\n"
              "    Console().write(k, 0.0, {'x': 1.0})\n")
    out = subprocess.run([sys.executable, "-c", script], capture_output=True, check=True).stdout.decode()
    assert [line.rpartition("\r")[2] for line in out.split("\n")[:3]] == [f"step {k}  x 1" for k in range(3)], repr(out)


@pytest.mark.skipif(not any(map(importlib.util.find_spec, ("tensorboard", "tensorboardX"))), reason="needs tensorboard or tensorboardX")
def test_tensorboard(tmp_path):
    def check(comm):
        with Logger(tensorboard=tmp_path, console=False, every=1, comm=comm) as log:
            log(loss=comm.rank, rows=comm.rank)

    run_ranks(3, check)
    assert len(list(tmp_path.iterdir())) == 1
    if importlib.util.find_spec("tensorboard"):
        from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
        events = EventAccumulator(str(tmp_path)).Reload()
        assert [(event.step, event.value) for event in events.Scalars("loss")] == [(1, np.float32(5 / 3))]


def test_wandb(tmp_path, monkeypatch):
    pytest.importorskip("wandb")
    monkeypatch.setenv("WANDB_MODE", "offline")
    monkeypatch.setenv("WANDB_SILENT", "true")
    import wandb
    with Logger(wandb={"project": "p", "dir": str(tmp_path)}, console=False, every=1) as log:
        run = wandb.run
        log(loss=0.5)
        log(loss=math.nan, n=3)
    assert wandb.run is None and run is not None
    for _ in range(200):                             # its service writes the end when finish() has returned
        written = next(tmp_path.rglob("*.wandb")).read_bytes()                # records, not compressed
        if b"loss" in written and b"0.5" in written and b"NaN" in written:
            break
        time.sleep(0.1)
    else:
        raise AssertionError(written)
    with wandb.init(project="p", dir=str(tmp_path)) as run:                  # the user's own
        with Logger(wandb=True, console=False, every=1) as log:
            log(loss=0.25)
        assert wandb.run is run


def test_mlflow(tmp_path, monkeypatch):
    mlflow = pytest.importorskip("mlflow")
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    mlflow.set_tracking_uri((tmp_path / "runs").as_uri())
    mlflow.set_experiment("mine")
    with Logger(mlflow={"run_name": "first"}, console=False, every=1) as log:
        log(loss=0.5)
        run = mlflow.active_run().info.run_id
        log(loss=0.25)
    assert mlflow.active_run() is None
    history = mlflow.MlflowClient().get_metric_history(run, "loss")
    assert [(m.step, m.value) for m in history] == [(1, 0.5), (2, 0.25)]


@pytest.mark.parametrize("name", ["wandb", "mlflow", "tensorboard"])
def test_what_is_not_installed_is_named(name, monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "autograd.utils.tensorboard" if name == "tensorboard" else name, None)
    with pytest.raises(ImportError, match=f"pip install {name}"):
        Logger(console=False, **{name: tmp_path if name == "tensorboard" else True})
