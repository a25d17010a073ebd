"""The files of checkpoints: what is complete, damaged, superfluous; disks that fail; threads, time, memory."""

import json
import os
import shutil
import subprocess
import sys
import textwrap
import threading
import warnings
from pathlib import Path

import numpy as np
import pytest
from raised import raises

import autograd as ag
from autograd import nn, optim
from dparallel import DataParallel, run_ranks
from dparallel.checkpoint import Checkpointer, CheckpointError, Keep, checkpointer, files, host_copies, timing, writing
from dparallel.checkpoint.keeping import Kept
from dparallel.comm import threads

ROOT = Path(__file__).parents[3]


def net(value=0.0):
    module = nn.Sequential(nn.Linear(3, 2), nn.Linear(2, 2))
    for p in module.parameters():
        p.array.fill(value)
    return module


def save(folder, steps, value=None, **options):
    """Checkpoints after these steps, whose weights are the number of the step."""
    for step in steps:
        metric = options.get("metric", {}).get(step)
        with Checkpointer(folder, model=net(step if value is None else value), keep=options.get("keep")) as checkpoint:
            checkpoint.save(step, metric=metric)


def restored(folder, step=None):
    module = net(-1)
    found = Checkpointer(folder, model=module).restore(step)
    return found, float(module[0].weight.array[0, 0])


# --- what is complete ---------------------------------------------------------------------------------------------------

def test_files_are_what_other_programs_read(tmp_path):
    safetensors = pytest.importorskip("safetensors.numpy")
    with Checkpointer(tmp_path, model=net(2), counts={"n": 3}) as checkpoint:
        checkpoint.save(7, metric=0.5)
    (folder,) = tmp_path.glob("step-*")
    assert sorted(path.name for path in folder.iterdir()) == ["manifest.json", "rank-00000.safetensors"]
    manifest = json.loads((folder / "manifest.json").read_text())
    assert (manifest["format"], manifest["version"], manifest["step"], manifest["ranks"], manifest["metric"]) == (
        "dparallel.checkpoint", 1, 7, 1, 0.5)
    assert manifest["tensors"]["model.module.0.weight"]["shape"] == [2, 3]
    found = safetensors.load_file(folder / "rank-00000.safetensors")
    assert (found["model.module.0.weight"] == 2).all() and found["model.module.0.weight"].dtype == np.float32


FAILURES = {"shard": (files, "write_shard"), "list and manifest": (files, "write_json"), "sync": (files, "sync_folder")}


@pytest.mark.parametrize("what", FAILURES)
@pytest.mark.parametrize("background", [False, True])
def test_the_newest_complete_one_loads_and_the_next_save_removes_half_written_ones(what, background, tmp_path, monkeypatch):
    save(tmp_path, [1, 2])
    module, name = FAILURES[what]
    calls = []

    def broken(*args):
        calls.append(args)
        raise OSError(28, "No space left on device", str(args[0]))

    checkpoint = Checkpointer(tmp_path, model=net(3), background=background)
    with monkeypatch.context() as patch:
        patch.setattr(module, name, broken)
        with pytest.raises(CheckpointError, match="No space left on device: .*step-00000003|No space left on device: " + str(tmp_path)):
            checkpoint.save(3)
            checkpoint.wait()
    assert calls and restored(tmp_path) == (2, 2)
    (tmp_path / ".probe-0123-1").touch()
    (tmp_path / "step-00000009").mkdir()
    (tmp_path / "step-00000009" / ".manifest.json.1.tmp").touch()
    checkpoint.save(5)
    checkpoint.close()
    assert restored(tmp_path) == (5, 3)
    assert [path.name for path in sorted(tmp_path.iterdir())] == ["step-00000002", "step-00000005"]


def test_a_run_that_goes_back_writes_beside_the_later_ones(tmp_path):
    save(tmp_path, [1, 2, 3])
    save(tmp_path, [2], value=20)
    assert restored(tmp_path) == (2, 20) and restored(tmp_path, 3) == (3, 3)
    assert Checkpointer(tmp_path, model=net()).steps() == [1, 2, 3, 2]


@pytest.mark.parametrize("ranks", [1, 2])
def test_a_changed_byte_is_an_error_that_names_the_file(ranks, tmp_path):
    def begin(comm):
        model = DataParallel(net(1), comm=comm, shard=3)
        optimizer = optim.Adam(model.parameters())
        (model(ag.ones(2, 3)) ** 2).sum().backward()
        optimizer.step()
        with Checkpointer(tmp_path, model=model, optimizer=optimizer, comm=comm) as checkpoint:
            checkpoint.save(1)

    def look(comm):
        model = DataParallel(net(1), comm=comm)
        Checkpointer(tmp_path, model=model, optimizer=optim.Adam(model.parameters()), comm=comm).restore()

    run_ranks(ranks, begin)
    (folder,) = tmp_path.glob("step-*")
    run_ranks(1, look)
    rng = np.random.default_rng(0)
    for path in sorted(folder.iterdir()):
        good = path.read_bytes()
        places = [0, 1, 8, 9, len(good) // 2, len(good) - 1, *rng.integers(0, len(good), 4).tolist()]
        for place in dict.fromkeys(places):
            bad = bytearray(good)
            bad[place] ^= 1
            path.write_bytes(bad)
            for size in (1, 2) if place == len(good) // 2 else (1,):
                raises(CheckpointError, path.name, run_ranks, size, look)
        for cut in (good[:-1], good[:5], b"", good + b"x"):
            path.write_bytes(cut)
            raises(CheckpointError, path.name, run_ranks, 1, look)
        path.write_bytes(good)
    (folder / "rank-00000.safetensors").unlink()
    raises(CheckpointError, "rank-00000.safetensors is damaged.*No such file", run_ranks, 1, look)


# --- disks that fail ----------------------------------------------------------------------------------------------------

def errors_on(size, work):
    def caught(comm):
        try:
            work(comm)
        except CheckpointError as error:
            return str(error)
        return None

    return run_ranks(size, caught)


def test_a_folder_that_can_not_be_written_is_an_error_before_the_first_step(tmp_path, monkeypatch):
    def make(folder):
        return errors_on(3, lambda comm: Checkpointer(folder(comm.rank), model=net(), comm=comm))

    (tmp_path / "file").touch()
    (text,) = set(make(lambda rank: tmp_path / "file"))
    assert f"rank 0: the folder {tmp_path / 'file'} cannot be created: File exists" in text
    (text,) = set(make(lambda rank: tmp_path / "file" / "below"))
    assert "Not a directory" in text
    (text,) = set(make(lambda rank: tmp_path / str(rank)))
    assert f"rank 1: the folder {tmp_path / '1'} does not exist on every rank: all ranks must share it" in text
    (tmp_path / "1").mkdir()
    (tmp_path / "2").mkdir()
    (text,) = set(make(lambda rank: tmp_path / str(rank)))
    assert f"rank 1: the folder {tmp_path / '1'} does not show the files of rank 0, 2: all ranks must share it" in text
    assert list((tmp_path / "1").iterdir()) == []
    really = open

    def read_only(path, *args, **more):
        if ".probe" in str(path):
            raise OSError(30, "Read-only file system", str(path))
        return really(path, *args, **more)

    monkeypatch.setattr("builtins.open", read_only)
    (text,) = set(make(lambda rank: tmp_path / "new"))
    assert "can't write into " in text and "Read-only file system" in text
    monkeypatch.undo()
    full = os.statvfs(tmp_path)
    monkeypatch.setattr(os, "statvfs", lambda path: type("Full", (), {"f_bavail": 0, "f_frsize": full.f_frsize})())
    (text,) = set(make(lambda rank: tmp_path / "new"))
    assert text.startswith("all ranks: the disk of ") and "has 0 bytes free, and the weights alone take 56" in text


@pytest.mark.parametrize("background", [False, True])
def test_a_rank_that_fails_is_one_error_on_all_or_a_warning(background, tmp_path, monkeypatch):
    """The training thread of every rank hears of it at the next save() or wait(); then it goes on, and saves again."""
    really = files.write_shard

    def write(path, arrays, *mode):
        if "rank-00001" in path and "step-00000002" in path:
            raise OSError(28, "No space left on device", path)
        return really(path, arrays, *mode)

    monkeypatch.setattr(files, "write_shard", write)

    def work(comm, on_error):
        model = DataParallel(net(1), comm=comm)
        checkpoint = Checkpointer(tmp_path / on_error, model=model, comm=comm, background=background, on_error=on_error)
        for step in (1, 2, 3, 4):
            if step != 4 or on_error == "continue":
                checkpoint.save(step)
        checkpoint.close()
        return checkpoint.last_error, checkpoint.steps()

    (text,) = set(errors_on(3, lambda comm: work(comm, "raise")))
    assert text.startswith("the checkpoint of step 2 was not saved: rank 1: writing ") and "No space left on device: " in text
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        found = run_ranks(3, lambda comm: work(comm, "continue"))
    assert {text.partition(":")[0] for text, _ in found} == {"the checkpoint of step 2 was not saved"}
    assert [steps for _, steps in found] == [[3, 4]] * 3
    assert sum("training continues with the complete checkpoints" in str(w.message) for w in heard) == 1
    raises(ValueError, "on_error='ignore' must be one of", Checkpointer, tmp_path, on_error="ignore")


def test_a_full_disk(tmp_path):
    """A limit on the size of files, and a small file system where one can be mounted: told before or while it is written."""
    code = textwrap.dedent("""
        import resource, signal, sys
        from autograd import nn
        from dparallel.checkpoint import CheckpointError, Checkpointer
        model = nn.Linear(300, 300)
        if sys.argv[2] == "limit":
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
        checkpoint = Checkpointer(sys.argv[1], model=model, on_error="continue", keep=None)
        for step in (1, 2, 3, 4, 5):
            checkpoint.save(step)
            checkpoint.wait()
        print("saved", checkpoint.steps(), checkpoint.last_error)
    """)

    def said(folder, how):
        done = subprocess.run([sys.executable, "-W", "ignore", "-c", code, str(folder), how], cwd=ROOT, capture_output=True, text=True,
                              timeout=100)
        return done.stdout + done.stderr

    assert "saved [] the checkpoint of step 5 was not saved: writing " in (text := said(tmp_path / "limit", "limit")), text
    assert "File too large" in text
    small = tmp_path / "small"
    small.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1500k", "tmpfs", small], capture_output=True).returncode:
        return
    try:
        text = said(small, "all")
        assert "saved [1, 2, 3, 4] the disk of" in text and "bytes free, and the checkpoint takes 36" in text
        assert "CheckpointError: the disk of" in (text := said(small, "all")) and "the weights alone take 361,200" in text
    finally:
        subprocess.run(["umount", small], check=True)


# --- what stays ---------------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("keep, metric, expected", [
    (1, {}, [9]), (3, {}, [7, 8, 9]), (None, {}, list(range(1, 10))), (Keep(2, every=4), {}, [4, 8, 9]),
    (Keep(1, best=2), {2: 0.1, 3: 0.5, 5: 0.2, 6: float("nan")}, [2, 5, 9]),
    (Keep(1, best=1, mode="max"), {2: 0.1, 3: 0.5, 5: 0.2}, [3, 9])])
def test_keep(keep, metric, expected, tmp_path):
    save(tmp_path, range(1, 10), keep=keep, metric=metric)
    assert Checkpointer(tmp_path, model=net()).steps() == expected
    assert restored(tmp_path, expected[0]) == (expected[0], expected[0])
    assert len(list(tmp_path.glob("step-*"))) == len(expected)


def test_keep_says_what_it_takes():
    for wrong in ({"newest": 0}, {"best": -1}, {"every": 0}, {"mode": "least"}, {"newest": True}):
        raises(ValueError, "Keep: ", lambda: Keep(**wrong))
    raises(TypeError, "keep='2' must be a number", Checkpointer, "nowhere", keep="2")
    assert Keep(1).superfluous([Kept(1, 5, None, "a"), Kept(2, 3, None, "b")]) == [Kept(1, 5, None, "a")]


def test_every(tmp_path, monkeypatch):
    """By steps without a message; by rank 0's clock with few, and due at the same call on all ranks."""
    with Checkpointer(tmp_path / "steps", model=net(), keep=None) as checkpoint:
        assert [step for step in range(1, 20) if checkpoint.every(step, steps=6)] == [6, 12, 18] == checkpoint.steps()
    for wrong in ({}, {"steps": 1, "seconds": 1}, {"steps": 0}, {"steps": 1.5}, {"seconds": -1}, {"steps": True}):
        raises(ValueError, "every", lambda: checkpoint.every(1, **wrong))

    def check(comm):
        clock = [0.0]
        asked = []
        from_first = checkpointer.Ranks.from_first

        due = timing.Due(checkpointer.Ranks(comm), lambda: clock[0])
        due.ranks.from_first = lambda value: (asked.append(value), from_first(due.ranks, value))[1]
        times = []
        for _ in range(5000):
            clock[0] += 0.01 * (1 + comm.rank)       # only rank 0's counts
            if due.now(10.0):
                times.append(round(clock[0] / (1 + comm.rank), 2))
                due.saved()
        return times, len(asked)

    found = run_ranks(3, check)
    assert found[0] == found[1] == found[2] and len(found[0][0]) == 4 and found[0][1] < 100
    assert all(10 <= b - a < 10.2 for a, b in zip([0, *found[0][0]], found[0][0], strict=False))


# --- threads ------------------------------------------------------------------------------------------------------------

def test_the_state_is_that_of_the_call_and_the_thread_calls_no_collective(tmp_path, monkeypatch):
    """Training changes everything while a slow disk writes; collectives are only in the threads of ranks."""
    go_on = threading.Event()
    callers = set()
    really, put = files.write_shard, threads.ThreadComm._put

    def slow(path, arrays, *mode):
        assert go_on.wait(30)
        return really(path, arrays, *mode)

    def seen(self, call, item):
        callers.add(threading.current_thread().name)
        return put(self, call, item)

    monkeypatch.setattr(files, "write_shard", slow)
    monkeypatch.setattr(threads.ThreadComm, "_put", seen)

    def work(comm):
        model = DataParallel(net(1), comm=comm)
        counts = {"n": [1]}
        with Checkpointer(tmp_path, model=model, comm=comm, counts=counts) as checkpoint:
            checkpoint.save(1)
            for p in model.parameters():
                p.array.fill(7)
            counts["n"][0] = 2
            comm.barrier()
            go_on.set()
        again = net(0)
        counts = {}
        Checkpointer(tmp_path, model=DataParallel(again, comm=comm), comm=comm, counts=counts).restore()
        assert all((p.array == 1).all() for p in again.parameters()) and counts == {"n": [1]}

    run_ranks(2, work)
    assert callers and not any("checkpoint" in name for name in callers)


def test_a_block_that_fails_leaves_no_thread(tmp_path, monkeypatch):
    """The lists of ranks that will not come are not waited for."""
    def work(comm):
        with Checkpointer(tmp_path, model=DataParallel(net(1), comm=comm), comm=comm) as checkpoint:
            if comm.rank == 1:
                monkeypatch.setattr(files, "write_shard", None)
            comm.barrier()
            checkpoint.save(1)
            raise KeyError("of the user's")

    raises(KeyError, "of the user's", run_ranks, 2, work)
    assert not any(thread.name.startswith("checkpoint") for thread in threading.enumerate())
    monkeypatch.undo()
    assert Checkpointer(tmp_path, model=net()).restore() == 0


def test_after_the_end_of_the_program_rank_0_does_not_wait_for_ever(tmp_path, monkeypatch):
    monkeypatch.setattr(writing, "LEFT_ALONE", 0.0)
    monkeypatch.setattr(threading.main_thread(), "is_alive", lambda: False)
    job = writing.Job(files.head(1, 1, 2, None), "step-00000001", 0, {}, {"tensors": {}, "own": {}, "trees": {}, "own_trees": {}})
    (tmp_path / job.name).mkdir()
    writer = writing.Writer(str(tmp_path), job, None, [], None, [])
    writer.start(True)
    assert writer.shard_written() == "" and "rank-00001.json did not come" in writer.completed()


# --- memory -------------------------------------------------------------------------------------------------------------

def memory_of(base, hosts):
    class Copies(host_copies.MemoryCopies):
        def __init__(self, identity, ranks, folder):
            here = base / f"host-{hosts[ranks.rank]}"
            here.mkdir(exist_ok=True)
            super().__init__(identity, ranks, folder, hosts=hosts, base=str(here))

    return Copies


@pytest.mark.parametrize("hosts, after", [([0, 0, 0], [0, 0, 0]), ([0, 0, 2], [0, 0, 2]), ([0, 0, 2, 2], [0, 0, 2]), ([0, 1, 2], [0, 1, 1, 2])])
def test_a_state_comes_back_from_memory(hosts, after, tmp_path, monkeypatch):
    """Also one that the disk does not have, on other ranks, and after each host was lost, if there are several."""
    def run(comm, hosts, steps):
        monkeypatch.setattr(checkpointer, "MemoryCopies", memory_of(tmp_path, hosts))
        model = DataParallel(net(comm.size), comm=comm, shard=2)
        optimizer = optim.Adam(model.parameters(), lr=0.1)
        checkpoint = Checkpointer(tmp_path / "run", model=model, optimizer=optimizer, comm=comm, memory=True)
        found = checkpoint.restore()
        for step in range(found + 1, found + steps + 1):
            optimizer.zero_grad()
            (model(ag.ones(2, 3)) ** 2).sum().backward()
            optimizer.step()
            checkpoint.save(step, disk=step == 1)
        checkpoint.wait()
        return found, model.state_dict()["0.weight"].numpy().copy()

    begun = run_ranks(len(hosts), lambda comm: run(comm, hosts, 3))
    kept = tmp_path / "kept"
    for lost in sorted(set(hosts)):
        for host in set(hosts):
            if not (kept / f"host-{host}").exists():
                shutil.copytree(tmp_path / f"host-{host}", kept / f"host-{host}")
            shutil.rmtree(tmp_path / f"host-{host}")
            if host != lost or len(set(hosts)) == 1:
                shutil.copytree(kept / f"host-{host}", tmp_path / f"host-{host}")
        again = run_ranks(len(after), lambda comm: run(comm, after, 0))
        assert [step for step, _ in again] == [3] * len(after)
        for _, weight in again:
            np.testing.assert_array_equal(weight, begun[0][1])
    for host in set(hosts) | set(after):
        shutil.rmtree(tmp_path / f"host-{host}", ignore_errors=True)
    assert run_ranks(1, lambda comm: run(comm, [0], 0))[0][0] == 1                # nothing is left but the disk


def test_memory_is_bounded_and_given_back(tmp_path, monkeypatch):
    monkeypatch.setattr(host_copies.private, "SHARED", str(tmp_path / "shm"))
    (tmp_path / "shm").mkdir()
    checkpoint = Checkpointer(tmp_path / "run", model=net(), memory=True)
    for step in range(1, 5):
        checkpoint.save(step)
    checkpoint.wait()
    (held,) = (tmp_path / "shm").iterdir()
    assert sorted(path.name for path in held.iterdir()) == ["00000003", "00000004"]
    shutil.rmtree(tmp_path / "run")                  # another folder of the same name is another run
    other = Checkpointer(tmp_path / "run", model=net(), memory=True)
    assert other.restore() == 0 and not held.exists()
    other.save(1)
    other.close()
    assert list((tmp_path / "shm").iterdir()) == []
    raises(ValueError, "needs Checkpointer", lambda: Checkpointer(tmp_path / "run", model=net()).save(1, disk=False))


def test_a_damaged_copy_in_memory_is_an_error(tmp_path, monkeypatch):
    monkeypatch.setattr(host_copies.private, "SHARED", str(tmp_path / "shm"))
    (tmp_path / "shm").mkdir()
    checkpoint = Checkpointer(tmp_path / "run", model=net(), memory=True)
    checkpoint.save(1)
    checkpoint.wait()
    (path,) = (tmp_path / "shm").glob("*/*/*.safetensors")
    bad = bytearray(path.read_bytes())
    bad[-1] ^= 1
    path.write_bytes(bad)
    with pytest.raises(CheckpointError, match="rank-00000.safetensors is damaged"):
        Checkpointer(tmp_path / "run", model=net(), memory=True).restore()
