"""docs/security.md, sentence by sentence: what another user of the host can plant, reach and read."""

import json
import operator
import os
import pickle
import random
import re
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
import tracemalloc
import zipfile
import zlib
from collections import OrderedDict
from contextlib import nullcontext, suppress
from datetime import timedelta
from functools import reduce
from pathlib import Path

import numpy as np
import pytest

import autograd as ag
import dparallel.distributed as dist
from autograd.utils.data import DataLoader
from dparallel import DistributedSampler, GlobalBatchSampler
from dparallel.checkpoint import Checkpointer, CheckpointError, files, host_copies
from dparallel.checkpoint.checkpointer import parts_of, take_back
from dparallel.checkpoint.errors import Ranks
from dparallel.checkpoint.manifest import checked_manifest
from dparallel.checkpoint.reading import Saved
from dparallel.comm import world
from dparallel.distributed import tcp_store
from dparallel.survival.recovery import check_parts, left_by_the_job_before
from launch import mpirun, private, rank, restarts, top

ROOT = Path(__file__).parent.parent
OTHER = 65534                                        # nobody
root = pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can make files of another user")


def sources():
    """Our modules and examples."""
    return [path for folder in ("autograd", "dparallel", "launch", "examples") for path in sorted((ROOT / folder).rglob("*.py"))]


# --- planted files ------------------------------------------------------------------------------------------------------

def planted_folder(path, how):
    """A folder as another user could have made it."""
    if how == "link":
        (path.parent / "elsewhere").mkdir(mode=0o700, exist_ok=True)
        path.symlink_to(path.parent / "elsewhere")
    elif how == "fifo":
        os.mkfifo(path, 0o600)
    elif how == "file":
        path.touch(0o600)
    else:
        path.mkdir(mode=0o700)
        if how == "owner":
            os.chown(path, OTHER, OTHER)
        else:
            path.chmod(how)


FOLDERS = ["link", "fifo", "file", 0o777, 0o750, 0o701, 0o1777, pytest.param("owner", marks=root)]


@pytest.mark.parametrize("how", FOLDERS)
def test_a_planted_folder_is_refused(how, tmp_path):
    planted_folder(tmp_path / "planted", how)
    with pytest.raises(PermissionError, match="planted"):
        private.folder(str(tmp_path / "planted"))


@pytest.mark.parametrize("how", ["link", "dangling", "fifo", "socket", "folder", "device", 0o644, 0o606, 0o660, pytest.param("owner", marks=root)])
def test_a_planted_file_is_refused(how, tmp_path):
    path = tmp_path / "planted"
    (tmp_path / "target").touch(0o600)
    if how in ("link", "dangling", "device"):
        path.symlink_to({"link": tmp_path / "target", "dangling": tmp_path / "none", "device": "/dev/zero"}[how])
    elif how == "fifo":
        os.mkfifo(path, 0o600)
    elif how == "socket":
        with socket.socket(socket.AF_UNIX) as server:
            server.bind(str(path))
    elif how == "folder":
        path.mkdir()
    else:
        path.touch(0o600)
        if how == "owner":
            os.chown(path, OTHER, OTHER)
        else:
            path.chmod(how)
    with pytest.raises(OSError, match="planted"):
        private.regular(str(path), private=True)
    with pytest.raises(FileExistsError):
        private.new_file(str(path))
    assert (tmp_path / "target").stat().st_size == 0


@pytest.mark.parametrize("how", [0o777, pytest.param("owner", marks=root)])
def test_a_folder_that_others_could_replace_is_refused(how, tmp_path):
    (tmp_path / "above").mkdir()
    if how == "owner":
        os.chown(tmp_path / "above", OTHER, OTHER)
    else:
        (tmp_path / "above").chmod(how)
    with pytest.raises(PermissionError, match="can rename it"):
        private.folder(str(tmp_path / "above" / "made"))
    if how == 0o777:
        (tmp_path / "above").chmod(0o1777)
        private.folder(str(tmp_path / "above" / "made"))


def test_what_is_made_is_closed_to_others(tmp_path):
    before = os.umask(0)
    try:
        path = private.folder(str(tmp_path / "made"))
        os.close(private.new_file(os.path.join(path, "file")))
    finally:
        os.umask(before)
    assert os.stat(path).st_mode & 0o777 == 0o700 and os.stat(os.path.join(path, "file")).st_mode & 0o777 == 0o600
    assert private.folder(path) == path


# --- checkpoints in memory ----------------------------------------------------------------------------------------------

@pytest.fixture
def shm(tmp_path, monkeypatch):
    """A folder in the place of /dev/shm."""
    for module in (host_copies.private, private):         # dprun.private and launch.private
        monkeypatch.setattr(module, "SHARED", str(tmp_path / "shm"))
    (tmp_path / "shm").mkdir(mode=0o1777)
    return tmp_path / "shm"


def saved_in_memory(folder, value):
    state = {"weight": value}
    checkpoint = Checkpointer(folder, state=state, memory=True)
    checkpoint.save(1, disk=False)
    checkpoint.wait()


def restored(folder):
    state = {"weight": None}
    return Checkpointer(folder, state=state, memory=True).restore(), state["weight"]


def test_copies_in_memory_are_private(shm, tmp_path):
    before = os.umask(0)
    try:
        saved_in_memory(tmp_path / "run", 1.0)
    finally:
        os.umask(before)
    (word,) = (tmp_path / "run").glob(".identity-*")
    assert word.stat().st_mode & 0o777 == 0o600
    (held,) = shm.iterdir()
    assert held.name.endswith(word.read_text()) and len(word.read_text()) == 32
    for path in [held, *held.rglob("*")]:
        assert path.stat().st_mode & 0o077 == 0, path
    assert restored(tmp_path / "run") == (1, 1.0)


@pytest.mark.parametrize("how", ["link", 0o755, pytest.param("owner", marks=root)])
def test_another_users_copies_are_refused(how, shm, tmp_path):
    """Also if the word in the folder's name became known."""
    saved_in_memory(tmp_path / "run", 666.0)
    (held,) = shm.iterdir()
    if how == "link":
        held.rename(shm / "elsewhere")
        held.symlink_to(shm / "elsewhere")
    elif how == "owner":
        os.chown(held, OTHER, OTHER)
    else:
        held.chmod(how)
    with pytest.raises(CheckpointError, match="is not used|did not create it"):
        restored(tmp_path / "run")


@pytest.mark.parametrize("name", ["rank-00000.json", "rank-00000.safetensors"])
@pytest.mark.parametrize("how", ["link", "fifo", 0o644, pytest.param("owner", marks=root)])
def test_a_planted_file_among_the_copies_is_refused(name, how, shm, tmp_path):
    saved_in_memory(tmp_path / "run", 1.0)
    (path,) = shm.glob(f"*/*/{name}")
    if how == "fifo":
        path.unlink()
        os.mkfifo(path)
    elif how == "link":
        path.rename(path.with_suffix(".moved"))
        path.symlink_to(path.with_suffix(".moved"))
    elif how == "owner":
        os.chown(path, OTHER, OTHER)
    else:
        path.chmod(how)
    with pytest.raises(CheckpointError, match=name):
        restored(tmp_path / "run")


def test_the_word_in_the_folder(shm, tmp_path):
    """Another user's is refused; a copy that others can read is no secret, and is replaced."""
    saved_in_memory(tmp_path / "run", 1.0)
    (word,) = (tmp_path / "run").glob(".identity-*")
    before = word.read_text()
    word.chmod(0o644)
    assert restored(tmp_path / "run") == (0, None)
    assert word.read_text() != before and word.stat().st_mode & 0o777 == 0o600
    word.write_text("../../../etc")
    assert restored(tmp_path / "run") == (0, None) and len(word.read_text()) == 32
    if os.geteuid() == 0:
        os.chown(word, OTHER, OTHER)
        with pytest.raises(CheckpointError, match="belongs to user 65534"):
            restored(tmp_path / "run")
    word.unlink()
    word.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(CheckpointError, match="not a regular file"):
        restored(tmp_path / "run")
    assert not (tmp_path / "elsewhere").exists()


# --- what a job leaves to the next one ----------------------------------------------------------------------------------

def test_what_is_no_data_can_not_be_left_to_another_job():
    """run.keep() says so under --grow, before the loop."""
    with pytest.raises(CheckpointError, match=r"run.keep\(\): under --grow .* obj\['things'\]\['f'\] is a function"):
        check_parts(parts_of({"things": {"f": lambda: 0}}))
    check_parts(parts_of({"things": {"f": 1, "x": np.ones(2)}}))


@pytest.mark.parametrize("left", ["", "5" * 32])
def test_a_job_reads_what_dprun_names_only(left, shm, monkeypatch):
    """A state under every name that could be guessed, and under the one that is given, but another user's."""
    for name in [f"dparallel-{socket.gethostname()}-{number}-state" for number in range(50)]:
        (shm / name).write_bytes(b"\x80\x04cos\nsystem\n")
    monkeypatch.setenv("DPARALLEL_SURVIVE_FROM", left)
    if left:
        (shm / (private.LEFT + left)).mkdir(mode=0o755)
        with pytest.raises(CheckpointError, match="is not used"):
            left_by_the_job_before(parts_of({"things": {"x": 1}}))
    else:
        assert left_by_the_job_before(parts_of({"things": {"x": 1}})) is None


def test_the_names_of_states_are_random_and_given_by_dprun(shm):
    states = restarts.States()
    first = states.next()
    assert first["DPARALLEL_SURVIVE_FROM"] == "" and len(first["DPARALLEL_SURVIVE_STATE"]) == 32
    states.keep()
    second = states.next()
    assert second["DPARALLEL_SURVIVE_FROM"] == first["DPARALLEL_SURVIVE_STATE"] != second["DPARALLEL_SURVIVE_STATE"]
    assert {path.name for path in shm.iterdir()} == {private.LEFT + one["DPARALLEL_SURVIVE_STATE"] for one in (first, second)}
    states.close()
    assert list(Path(shm).iterdir()) == []


HOLD = """
import os, subprocess, sys, time
from launch import private
held = private.Held(sys.argv[1], private.JOB)
if sys.argv[2] == "child":
    subprocess.Popen([sys.executable, "-c", "import time; print('held', flush=True); time.sleep(60)"], pass_fds=[held.lock])
else:
    print("held", flush=True)
print(os.getpid(), flush=True)
time.sleep(60)
"""


@pytest.mark.parametrize("whose", ["process", "child"])
def test_the_folder_of_a_killed_process_is_deleted_by_the_next(whose, shm):
    """Not while a child of it that has the lock lives, as mpirun of a killed dprun."""
    process = subprocess.Popen([sys.executable, "-c", HOLD, str(shm), whose], env={**os.environ, "PYTHONPATH": str(ROOT)}, stdout=subprocess.PIPE,
                               text=True, start_new_session=True)
    try:
        assert {process.stdout.readline(), process.stdout.readline()} == {"held\n", f"{process.pid}\n"}
        (folder,) = shm.iterdir()
        private.swept()
        assert folder.is_dir() and folder.stat().st_mode & 0o777 == 0o700
        process.kill()
        process.wait()
        private.swept()
        assert folder.exists() == (whose == "child")
    finally:
        os.killpg(process.pid, signal.SIGKILL) if whose == "child" else process.kill()
    until = time.monotonic() + 10
    while folder.exists() and time.monotonic() < until:
        private.swept()
    assert not folder.exists()


def test_what_is_not_held_is_not_deleted(shm):
    """What ranks on other hosts have left, another user's folder, one that others can reach, and links."""
    for name in ("left", "open", "linked", "other"):
        path = shm / f"{private.LEFT}{name}"
        path.mkdir(mode=0o700)
        (path / "kept").touch(0o600)
        if name != "left":
            (path / private.LOCK).touch(0o600)
    (shm / f"{private.LEFT}open").chmod(0o777)
    (shm / f"{private.LEFT}linked").rename(shm / "elsewhere")
    (shm / f"{private.LEFT}linked").symlink_to(shm / "elsewhere")
    (shm / f"{private.JOB}file").touch()
    if os.geteuid() == 0:
        os.chown(shm / f"{private.LEFT}other", OTHER, OTHER)
    else:
        shutil.rmtree(shm / f"{private.LEFT}other")
    before = set(shm.rglob("*"))
    private.swept()
    assert set(shm.rglob("*")) == before
    held = private.Held(str(shm), private.LEFT)
    shutil.rmtree(held.path)                         # its place in the row is given up, and taken again without a lock
    os.mkdir(held.path, 0o700)
    private.swept()
    assert os.path.isdir(held.path)
    held.close()
    assert set(shm.rglob("*")) == before


def test_a_folder_swept_before_it_is_locked_is_made_again(shm, monkeypatch):
    swept = []

    def locked(descriptor, locked=private.locked):
        if not swept:
            swept.append(private.swept())
        return locked(descriptor)

    monkeypatch.setattr(private, "locked", locked)
    with private.Held(str(shm), private.JOB) as held:
        assert swept and os.listdir(held.path) == [private.LOCK] and len(list(shm.iterdir())) == 1
        private.swept()
        assert os.path.isdir(held.path)
    assert list(shm.iterdir()) == []


# --- forged checkpoints -------------------------------------------------------------------------------------------------

REMOVED, DEEP, NAN, TWICE = object(), object(), object(), object()
VALUES = [REMOVED, DEEP, NAN, TWICE, None, True, False, -1, 0, 1, 7, 2**32, 2**63, 10**400, 1.5, -0.5, 1e999, "", "0", "x", "..", "../rank-00000.safetensors",
          "/etc/passwd", "rank-00000.safetensors\0", [], [0], [[]], [-1], [None], {}, {"x": 0}, {"$": []}, {"$": "set", "items": [[]]},
          {"$": "int", "value": "x"}, {"$": "tensor", "name": "none"}, {"$": "dict", "pairs": [[[], 0]]}]


def fields_of(value, path=()):
    """The way to every field of nested JSON."""
    yield path
    for key, item in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        yield from fields_of(item, (*path, key))


def forged(content, path, value):
    """The JSON text with another value at that place."""
    content = json.loads(json.dumps(content))
    at = content
    for key in path[:-1]:
        at = at[key]
    if value is REMOVED:
        del at[path[-1]]
        return json.dumps(content)
    if value in (DEEP, NAN, TWICE):
        at[path[-1]] = "MARK"
        text = {DEEP: "[" * 100_000 + "]" * 100_000, NAN: "NaN", TWICE: '{"x": 0, "x": 1}'}[value]
        return json.dumps(content).replace('"MARK"', text)
    at[path[-1]] = value
    return json.dumps(content).replace("Infinity", "1e999")


def write_sealed(path, text):
    """A file with the checksum that a forger computes, too."""
    path.write_bytes(files.SEAL % zlib.crc32(text[1:].encode()) + text[1:].encode())


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory):
    """The folder of a checkpoint with every kind of field, its manifest, and what restores it."""
    folder = tmp_path_factory.mktemp("forged")

    def things():
        model = ag.nn.Sequential(ag.nn.Linear(2, 1))
        state = {"t": (1, 2.5), "s": {1}, "n": np.float32(2), "p": {1: "a", (2, 3): b"b"}, "a": np.arange(3), "c": 1j, "o": OrderedDict(x=None),
                 "d": ag.float64, "w": ag.nn.Parameter(ag.ones(2)), "z": np.zeros((0, 2))}
        return {"model": model, "optimizer": ag.optim.SGD(model.parameters(), lr=0.1, momentum=0.9), "state": state}

    with Checkpointer(folder, **things()) as saver:
        saver.save(3, metric=0.5)
    path = folder / "step-00000003" / "manifest.json"
    return path, json.loads(path.read_text()), parts_of(things()), Ranks(world())


def test_every_field_of_a_manifest(checkpoint):
    """Any other value is a CheckpointError, or one that could have been saved; it never is another error, or a hang."""
    path, content, parts, ranks = checkpoint
    whole = path.read_bytes()
    del content["crc32"]
    refused = taken = 0
    ways = list(fields_of(content))[1:]
    rng = random.Random(0)                           # all of the fields, and of each some of the values
    for way, value in [(one, value) for one in ways for value in rng.sample(VALUES, 10 if "trees" not in one else 1)]:
        if forged(content, way, value) == json.dumps(content):
            continue
        write_sealed(path, forged(content, way, value))
        try:
            (kept,) = files.complete(str(path.parents[1]))
            assert type(kept.step) is int and kept.step >= 0
            saved = Saved(str(path.parent), files.read_manifest(str(path.parent)), lambda file: str(path.parent / file))
            take_back(parts, saved, ranks)
            taken += 1
            assert way[0] in ("number", "step", "metric", "library", "trees", "own", "tensors"), (way, value)
        except CheckpointError as error:
            refused += 1
            assert str(path.parent) in str(error)
            if "trees" not in way and isinstance(way[-1], str) and not isinstance(value, type(reduce(operator.getitem, way, content))) and value not in \
                    (DEEP, NAN, TWICE):
                assert str(path) in str(error) and [key for key in way if isinstance(key, str)][-1] in str(error), (way, value, error)
    write_sealed(path, json.dumps({**content, "more": 1}))
    with pytest.raises(CheckpointError, match=r"manifest.json: more is unknown"):
        files.complete(str(path.parents[1]))
    path.write_bytes(whole)
    assert refused > 3 * taken > 0


def resumable():
    """What has a place in a stream of numbers."""
    loader = DataLoader(range(12), batch_sampler=GlobalBatchSampler(range(12), 4))
    return {"loader": loader, "sampler": DistributedSampler(range(9), 1, 0), "philox": np.random.Generator(np.random.Philox(0)),
            "mersenne": np.random.Generator(np.random.MT19937(0))}


@pytest.fixture(scope="module")
def under_way(tmp_path_factory):
    """A checkpoint within a pass over a loader: its manifest."""
    folder, things = tmp_path_factory.mktemp("under_way"), resumable()
    with Checkpointer(folder, **things) as saver:
        for _ in things["loader"]:
            saver.save(1)
            break
    return folder / "step-00000001" / "manifest.json"


@pytest.mark.parametrize("value", [-1, -10**9, 10**8, 2**63, "x", None, [], 0.5])
@pytest.mark.parametrize("field", [
    "random numpy 2", "philox stream buffer_pos", "mersenne stream state pos", "loader place sampler sample", "loader place sampler epoch",
    "loader place sampler seed", "loader place depth", "loader batches", "loader turn", "loader start numpy 2", "loader start default", "sampler sample",
    "sampler epoch", "sampler seed"])
def test_no_place_in_a_stream_leads_out_of_it(under_way, field, value):
    """NumPy takes any position in its numbers, and reads other memory there, or ends the process; a sampler would count from it."""
    whole, content = under_way.read_bytes(), json.loads(under_way.read_bytes())
    del content["crc32"]
    way = [int(key) if key.isdigit() else key for key in field.split()]
    where = ["trees"] if way[0] in content["trees"] else ["own", 0, "trees"]
    write_sealed(under_way, forged(content, (*where, *way), value))
    things = resumable()
    try:
        with pytest.raises(CheckpointError, match=f"{way[0]} cannot restore its saved state") if way[-1] not in ("seed", "epoch", "turn", "batches") or \
                not isinstance(value, int) or value < 0 else nullcontext():
            Checkpointer(under_way.parents[1], **things).restore()
    finally:
        under_way.write_bytes(whole)
    np.random.random(2), [things[name].random(2) for name in ("philox", "mersenne")]
    assert len(list(things["loader"])) in (2, 3) and len(list(things["sampler"])) == 9


@pytest.mark.parametrize("field, value, told", [
    (("step",), -1, "step is -1"), (("step",), 3.0, "step is 3.0"), (("step",), True, "step is True"), (("step",), "3", "step is '3'"),
    (("shards", 0, "file"), "../../other.safetensors", "shards[0].file is '../../other.safetensors'"),
    (("shards", 0, "file"), "/etc/passwd", "shards[0].file is '/etc/passwd'"), (("shards", 0, "bytes"), -1, "shards[0].bytes is -1"),
    (("ranks",), 0, "ranks is 0"), (("tensors", "model.module.0.weight", "shape"), [2**62, 2], "['model.module.0.weight'].shape is a list of 2"),
    (("tensors", "model.module.0.weight", "pieces", 0, "stop"), 1, "pieces ends at element 1 of 2"),
    (("metric",), 1e999, "metric is inf"), (("shards",), REMOVED, "shards is missing"), (("shards", 0, "more"), 1, "shards[0].more is unknown")])
def test_an_error_names_the_file_and_the_field(checkpoint, field, value, told):
    path, content, _, _ = checkpoint
    whole = path.read_bytes()
    content.pop("crc32", None)
    write_sealed(path, forged(content, field, value))
    with pytest.raises(CheckpointError) as caught:
        Checkpointer(path.parents[1], state={})
    path.write_bytes(whole)
    assert f"{path}: " in str(caught.value) and told in str(caught.value)


def test_a_manifest_of_many_ranks_takes_memory_by_its_length(tmp_path):
    """Not by the product of ranks and arrays."""
    with Checkpointer(tmp_path, state={"x": np.ones(1)}) as saver:
        saver.save(1)
    path = tmp_path / "step-00000001" / "manifest.json"
    content = json.loads(path.read_text())
    del content["crc32"]
    content |= {"ranks": 500, "own": content["own"] * 500, "shards": [{**content["shards"][0], "file": files.shard_name(r)} for r in range(500)]}
    content["tensors"] |= {f"t{number}": content["tensors"]["state.x"] for number in range(500)}
    tracemalloc.start()
    checked_manifest(str(path), content)
    assert tracemalloc.get_traced_memory()[1] < 1 << 20
    tracemalloc.stop()


def plant(path, how, target):
    """What is not a regular file of a folder: a FIFO, a folder, a link to a device, or to the target."""
    if how == "fifo":
        os.mkfifo(path)
    elif how == "folder":
        path.mkdir()
    else:
        path.symlink_to("/dev/zero" if how == "device" else target)


@pytest.mark.parametrize("name", ["rank-00000.safetensors", "manifest.json"])
@pytest.mark.parametrize("how", ["link out", "fifo", "device", "folder"])
def test_a_checkpoints_files_are_files_of_its_folder(name, how, tmp_path):
    with Checkpointer(tmp_path / "run", state={"x": np.ones(3)}) as saver:
        saver.save(1)
    path = tmp_path / "run" / "step-00000001" / name
    path.rename(tmp_path / "elsewhere")
    plant(path, how, tmp_path / "elsewhere")
    with pytest.raises(CheckpointError, match=name):
        Checkpointer(tmp_path / "run", state={"x": np.ones(3)}).restore()


def test_a_link_in_the_place_of_a_checkpoint_is_not_followed_to_delete(tmp_path):
    with Checkpointer(tmp_path / "other", state={"x": 1}) as saver:
        saver.save(1)
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "step-00000001").symlink_to(tmp_path / "other" / "step-00000001")
    with Checkpointer(tmp_path / "run", state={"x": 1}, keep=1) as saver:
        saver.save(2)
    assert (tmp_path / "other" / "step-00000001" / "manifest.json").exists() and not (tmp_path / "run" / "step-00000001").is_symlink()


# --- TCPStore -----------------------------------------------------------------------------------------------------------

PACK = struct.Struct("=q").pack
MALFORMED = [b"", b"\0", struct.pack("=qq", 8, -8), PACK(-1), PACK(2**62), PACK(-2**63), PACK(2**40) + b"x", PACK(16) + PACK(-16) + PACK(0), PACK(8) + PACK(1),
             PACK(11) + PACK(2) + b"get", PACK(5) + b"short", b"GET / HTTP/1.1\r\nHost: x\r\n\r\n", b"\x80\x04cos\nsystem\n", os.urandom(4096),
             *[tcp_store.pack([tcp_store.pack([part.encode() for part in parts])]) for parts in (
                 [], ["get"], ["get", "1"], ["get", "1", "-1"], ["get", "1", "2", "a"], ["get", "1", "99999999999999999999", "a"], ["get", "nan", "1", "a"],
                 ["get", "inf", "1", "a"], ["get", "-1", "1", "a"], ["get", "x", "1", "a"], ["get", "1", "x", "a"], ["get", "1", "²", "a"])],
             tcp_store.pack([tcp_store.pack([b"\xff", b"1", b"0"])]), tcp_store.pack([tcp_store.pack([b"set", b"1", b"1", b"\xff", b"v"])])]
NO_REQUEST = [("evil", ["k"], []), ("set", ["a", "b"], [b"x"]), ("add", ["n"], []), ("add", ["n", "m"], [b"1"]), ("add", ["n"], [b"9" * 5000]), ("add", ["n"], [b"x"]),
              ("append", [], [b"x"]), ("compare_set", ["k"], [b"x"]), ("delete", [], []), ("delete", ["a", "b"], []), ("count", ["k"], []), ("get", ["k"], [b"x"])]


def ours():
    """The threads that serve clients of stores."""
    return [thread for thread in threading.enumerate() if "process_request_thread" in thread.name]


def gone_within(seconds, but=0):
    until = time.monotonic() + seconds
    while len(ours()) > but and time.monotonic() < until:
        time.sleep(0.01)
    return len(ours()) <= but


@pytest.fixture(params=["token", "open"])
def server(request):
    """A server alone in this process: the client of its own has gone."""
    assert gone_within(5), ours()
    store = dist.TCPStore("127.0.0.1", 0, is_master=True, token=None if request.param == "token" else "", timeout=timedelta(seconds=5))
    store._socket.close()
    assert gone_within(5)
    return store


@pytest.mark.parametrize("data", MALFORMED, ids=lambda data: repr(data[:24]))
def test_malformed_bytes_end_their_connection_and_leave_nothing(server, data):
    """Of a client that then waits; and the server serves others."""
    with socket.create_connection((server.host, server.port), 5) as client:
        client.sendall(data)
        if len(data) < 8 or data.endswith(b"short"):         # a message that has begun: the client goes
            with suppress(OSError):
                client.shutdown(socket.SHUT_WR)
        while client.recv(4096):
            pass
        assert gone_within(5), ours()
    client = dist.TCPStore(server.host, server.port, token=server._token.decode(), timeout=timedelta(seconds=5))
    client.set("k", "v")
    assert client.get("k") == b"v"
    client._socket.close()


@pytest.mark.parametrize("request_, keys, values", NO_REQUEST)
def test_what_is_no_request_is_an_error(server, request_, keys, values):
    client = dist.TCPStore(server.host, server.port, token=server._token.decode(), timeout=timedelta(seconds=5))
    with pytest.raises(dist.DistStoreError):
        client._request(request_, keys, values)
    client.set("k", "v")
    assert client.get("k") == b"v" and client.num_keys() == 1
    client._socket.close()
    assert gone_within(5)


def test_a_client_that_goes_while_it_waits_leaves_no_thread(server):
    client = dist.TCPStore(server.host, server.port, token=server._token.decode(), timeout=timedelta(days=9999))
    tcp_store.send(client._socket, [b"get", b"1e9", b"1", b"never"])
    time.sleep(0.1)
    assert ours()
    client._socket.close()
    assert gone_within(5), ours()


def test_only_who_has_the_token_is_served(monkeypatch):
    monkeypatch.setenv("DPARALLEL_TOKEN", "of this job")
    server = dist.TCPStore("127.0.0.1", 0, is_master=True)
    dist.TCPStore("127.0.0.1", server.port).set("k", "v")
    for other in ("", "of another job", "of this jo", "of this job "):
        with pytest.raises(dist.DistNetworkError, match="token"):
            dist.TCPStore("127.0.0.1", server.port, token=other)
    monkeypatch.delenv("DPARALLEL_TOKEN")
    with pytest.raises(dist.DistNetworkError, match="has another token"):
        dist.TCPStore("127.0.0.1", server.port)      # this user's
    with pytest.raises(dist.DistNetworkError, match="has no token"):
        dist.TCPStore("127.0.0.1", dist.TCPStore("127.0.0.1", 0, is_master=True, token="").port)
    with pytest.raises(TypeError, match="token=3"):
        dist.TCPStore("127.0.0.1", server.port, token=3)


def test_a_server_without_the_token_learns_nothing_and_is_found_out():
    """One that another user has started at the port: what it receives is of no use, and what it answers is no proof."""
    received = []

    def impostor(listening):
        for answer in (b"", bytes(32), None):        # to the first the client comes back
            connection = listening.accept()[0]
            connection.sendall(b"dparallel: token" + bytes(32))
            received.append(connection.recv(4096))
            connection.sendall(received[-1][48:] if answer is None else answer)          # it sends back what it was sent
            connection.close()

    with socket.create_server(("127.0.0.1", 0)) as listening:
        thread = threading.Thread(target=impostor, args=(listening,))
        thread.start()
        for _ in range(2):
            with pytest.raises(dist.DistNetworkError, match="has another token"):
                dist.TCPStore("127.0.0.1", listening.getsockname()[1], token="secret")
        thread.join()
    assert all(b"secret" not in data and len(data) == 80 for data in received) and len(set(received)) == 3


def test_a_store_listens_at_the_named_host_only():
    server = dist.TCPStore("localhost", 0, is_master=True)
    assert server._server.server_address[0] == "127.0.0.1"
    for elsewhere in ("127.0.0.2", socket.gethostbyname(socket.gethostname())):
        if elsewhere != "127.0.0.1":
            with pytest.raises(OSError):
                socket.create_connection((elsewhere, server.port), 0.5)
    with pytest.raises(dist.DistNetworkError, match="192.0.2.77"):
        dist.TCPStore("192.0.2.77", 0, is_master=True)


def test_silent_connections_do_not_use_up_threads(monkeypatch):
    monkeypatch.setattr(tcp_store, "PROOF_SECONDS", 0.5)
    monkeypatch.setattr(tcp_store, "UNPROVED", 5)
    assert gone_within(5)
    monkeypatch.setattr(tcp_store, "PROOF_SECONDS", 60)             # they are closed for new ones, not for their age
    server = dist.TCPStore("127.0.0.1", 0, is_master=True)
    held = [socket.create_connection(("127.0.0.1", server.port)) for _ in range(40)]
    time.sleep(0.1)
    assert gone_within(5, but=6)
    begun = time.monotonic()
    for _ in range(5):
        dist.TCPStore("127.0.0.1", server.port, timeout=timedelta(seconds=10)).set("k", "v")
    assert server.get("k") == b"v" and time.monotonic() - begun < 5
    for connection in held:
        connection.close()


@pytest.mark.parametrize("slow", ["client", "server"])
def test_a_slow_proof_ends_in_time(slow, monkeypatch):
    """A byte now and then does not begin the time anew."""
    monkeypatch.setattr(tcp_store, "PROOF_SECONDS", 0.3)
    if slow == "client":
        server = dist.TCPStore("127.0.0.1", 0, is_master=True)
        with socket.create_connection(("127.0.0.1", server.port)) as client, suppress(OSError):
            begun = time.monotonic()
            while time.monotonic() < begun + 5:
                client.sendall(tcp_store.PROOF[int((time.monotonic() - begun) / 0.1):][:1] or b"x")
                time.sleep(0.1)
        assert time.monotonic() - begun < 2
        return
    with socket.create_server(("127.0.0.1", 0)) as listening:
        def answer():
            with listening.accept()[0] as connection, suppress(OSError):
                for byte in range(50):
                    connection.sendall(tcp_store.TOKEN[byte:byte + 1] or b"x")
                    time.sleep(0.1)
        thread = threading.Thread(target=answer)
        thread.start()
        begun = time.monotonic()
        with pytest.raises(dist.DistNetworkError, match="no server"):
            dist.TCPStore("127.0.0.1", listening.getsockname()[1], timeout=timedelta(0))
        assert time.monotonic() - begun < 2
        thread.join()


@pytest.mark.parametrize("data", [PACK(-8), PACK(8) + b"short", PACK(2**62), b"x", tcp_store.pack([b"one"]), tcp_store.pack([b"\xff", b""])])
def test_a_damaged_file_of_a_store_is_an_error(data, tmp_path):
    (tmp_path / "store").write_bytes(data)
    with pytest.raises(dist.DistStoreError, match="is not a file of a FileStore"):
        dist.FileStore(str(tmp_path / "store")).get("k")


@pytest.mark.parametrize("how", ["link", "fifo", "device", "folder"])
@pytest.mark.parametrize("when", ["before", "later"])
def test_a_planted_file_of_a_store_is_refused(how, when, tmp_path):
    """It would wait for a FIFO, or write into the file to which a link leads."""
    path, store = tmp_path / "store", None
    if when == "later":
        store = dist.FileStore(str(path))
        path.unlink()
    plant(path, how, tmp_path / "target")
    with pytest.raises(PermissionError, match="not a regular file"):
        (store or dist.FileStore(str(path))).set("k", "v")
    assert not (tmp_path / "target").exists()


# --- dprun's own folders ------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("how", ["link", 0o755, pytest.param("owner", marks=root)])
@pytest.mark.parametrize("spread", [True, False])
def test_top_reads_no_planted_folder(how, spread, tmp_path, monkeypatch):
    """It would show what another user wrote, wait for a FIFO, or empty the file to which `watched` links."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    folder, victim = tmp_path / "dprun-planted", tmp_path / "victim"
    victim.write_text("precious")
    planted_folder(folder, how)
    top.describe(str(folder), 1, 0, ["evil"], spread)
    (folder / "watched").symlink_to(victim)
    for asked in (None, str(os.getpid()), str(folder)):
        assert top.jobs(asked) == []
    folder = tmp_path / "dprun-fifo"
    folder.mkdir(mode=0o700)
    os.mkfifo(folder / "job")
    assert top.jobs() == [] and victim.read_text() == "precious"


@pytest.mark.parametrize("how", ["link", "fifo", 0o755, 0o770, pytest.param("owner", marks=root)])
def test_a_rank_writes_into_dpruns_folder_only(how, tmp_path):
    """On another host the name of that folder may have been planted."""
    planted_folder(tmp_path / "dprun-x", how)
    assert not rank.is_dpruns(str(tmp_path / "dprun-x")) and not rank.is_dpruns(str(tmp_path / "none")) and not rank.is_dpruns("")
    (tmp_path / "mine").mkdir(mode=0o700)
    assert rank.is_dpruns(str(tmp_path / "mine"))


@pytest.mark.parametrize("folder", ["", "planted"])
def test_a_rank_without_a_folder_of_dpruns_touches_none(folder, tmp_path):
    """On another host, or under mpirun alone: its marks and streams would be files of the current folder, which may be another user's."""
    planted = [tmp_path / f"0.{name}" for name in ("in", "out", "err", "running", "json", "crash")]
    for path in planted:
        path.write_text("theirs")
    script = tmp_path / "script.py"
    script.write_text("import os, sys\nprint('printed', sys.stdin.read())\nsys.stdout.flush()\nos._exit(3)")
    if folder:
        (tmp_path / folder).mkdir()
        (tmp_path / folder).chmod(0o777)
    done = subprocess.run([sys.executable, rank.__file__, str(script)], cwd=tmp_path, capture_output=True, text=True, timeout=60, input="ours",
                          env={**os.environ, "OMPI_COMM_WORLD_RANK": "0", rank.DIRECTORY: folder and str(tmp_path / folder)})
    assert (done.stdout, done.returncode) == ("printed ours\n", 3), done.stderr
    assert [path.read_text() for path in planted] == ["theirs"] * 6 and not (folder and list((tmp_path / folder).iterdir()))


@pytest.mark.parametrize("command", [mpirun.module("dparallel.observe.timeline", "--help"), mpirun.module("mpi4py", "--version")])
def test_no_module_of_the_current_folder_runs(command, tmp_path):
    for planted in ("json.py", "dparallel.py", "mpi4py.py", "numpy.py", "runpy.py"):
        (tmp_path / planted).write_text(f"open('taken', 'a').write({planted!r})")
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60, env={**os.environ, "PYTHONPATH": str(ROOT)})
    assert not (tmp_path / "taken").exists(), (tmp_path / "taken").read_text()
    assert done.returncode == 0, done.stderr


def test_modules_are_run_without_the_current_folder():
    """`python -m` in our own code would find another user's files first."""
    found = [f"{path.relative_to(ROOT)}: {line.strip()}" for path in sources() for line in path.read_text().splitlines()
             if re.search(r'executable, "-m"', line)]
    assert found == []


# --- what a running job, or a killed one, shows to others -----------------------------------------------------------------------------

JOB = """
import os, sys, time
import numpy as np
import autograd as ag
import dparallel, dparallel.distributed as dist
from autograd.utils.data import DataLoader
from dparallel import DistributedSampler, GlobalBatchSampler
from dparallel.checkpoint import Checkpointer

if "RANK" in os.environ and "OMPI_COMM_WORLD_RANK" not in os.environ:
    dist.init_process_group(init_method="env://")

@dparallel.survive
def train(run):
    comm = dparallel.world()
    model = dparallel.DataParallel(ag.nn.Linear(4, 4), comm=comm, shard=3)
    optimizer = ag.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    run.keep(model=model, optimizer=optimizer)
    checkpoint = Checkpointer(sys.argv[1], state={"x": np.ones(4)}, memory=True, comm=comm)
    for step in range(3):
        optimizer.zero_grad()
        model(ag.ones(2, 4)).sum().backward()
        optimizer.step()
        run.step()
        checkpoint.save(step)
    checkpoint.wait()
    server = dist.TCPStore("127.0.0.1", 0, is_master=True) if comm.rank == 0 else None
    port = comm.broadcast_object(server and server.port, 0)
    client = dist.TCPStore("127.0.0.1", port)
    with open(f"{sys.argv[1]}/ready-{comm.rank}", "w") as file:
        file.write(str(port))
    time.sleep(60)

train()
"""
KINDS = {"plain": [], "survive": ["--survive", "--grow", "--spares", "1"], "timeline": ["--report"], "torchrun": None}


ATTACK = """
import os, socket, sys
port, processes, *paths = sys.argv[1:]
def opened(path):
    try:
        os.close(os.open(path, os.O_RDONLY | os.O_NONBLOCK))
        print("opened", path)
    except OSError:
        pass
for path in paths:
    opened(path)
for process in processes.split(","):
    for name in ("environ", "mem", "fd/0", "fd/1", "maps"):
        try:
            data = open(f"/proc/{process}/{name}", "rb", 0).read(1)
            print(*[("read", process, name)] * bool(data), end="")       # of one that has ended there is nothing
        except OSError:
            pass
try:
    with socket.create_connection(("127.0.0.1", int(port)), 5) as client:
        client.recv(4096)
        client.sendall(b"dparallel: proof" + bytes(64))
        while piece := client.recv(4096):
            print(*[("answered", piece)] * any(piece), end="")           # zeros are the refusal
except OSError:
    pass
"""


def as_another_user(code, *arguments):
    """What a program of another user prints; None where this one can't start any."""
    command = ["setpriv", f"--reuid={OTHER}", f"--regid={OTHER}", "--clear-groups", sys.executable, "-c"]
    try:
        subprocess.run([*command, ""], check=True, timeout=60, stderr=subprocess.DEVNULL)
    except (OSError, subprocess.CalledProcessError):
        return None
    return subprocess.run([*command, code, *arguments], capture_output=True, text=True, timeout=60, check=True).stdout


def reachable(path, below):
    """Whether another user can get at a file: neither it nor a folder above it is closed. below: folders that are everybody's."""
    path = Path(path)
    while path not in below:
        try:
            status = path.lstat()
        except FileNotFoundError:                    # gone since it was listed
            return ""
        if status.st_uid != os.geteuid():
            return f"{path} belongs to {status.st_uid}"
        if not status.st_mode & 0o077:
            return ""
        path = path.parent
        if path == path.parent:
            return f"{path}: above all"
    return f"{path} has a reachable file in it"


def family(process):
    """A process and its descendants."""
    parents = {}
    for name in os.listdir("/proc"):
        with suppress(OSError):
            if name.isdigit():
                parents[int(name)] = int(Path(f"/proc/{name}/stat").read_text().rpartition(")")[2].split()[1])
    found = {process}
    for _ in parents:
        found |= {one for one, parent in parents.items() if parent in found}
    return found


def listening(processes):
    """(program, address) of the sockets on which processes listen, and the paths of their Unix sockets and open files."""
    inodes, paths = {}, set()
    for process in processes:
        with suppress(OSError):
            for descriptor in os.listdir(f"/proc/{process}/fd"):
                target = os.readlink(f"/proc/{process}/fd/{descriptor}")
                inodes[target.removeprefix("socket:[").rstrip("]")] = Path(f"/proc/{process}/comm").read_text().strip()
                paths |= {target} if target.startswith(("/tmp", "/dev/shm", "/run", "/var")) and "(deleted)" not in target else set()
    found = set()
    for table in ("tcp", "tcp6"):
        for line in Path(f"/proc/net/{table}").read_text().splitlines()[1:]:
            words = line.split()
            if words[3] == "0A" and words[9] in inodes:
                address = bytes.fromhex(words[1].partition(":")[0])
                found.add((inodes[words[9]], socket.inet_ntop(socket.AF_INET, address[::-1]) if table == "tcp" else "IPv6"))
    for line in Path("/proc/net/unix").read_text().splitlines()[1:]:
        words = line.split()
        if words[6] in inodes and len(words) > 7 and words[7].startswith("/"):
            paths.add(words[7])
    return found, paths


@pytest.mark.skipif(not os.path.isdir("/dev/shm") or not os.path.isdir("/proc/self/fd"), reason="reads Linux's /proc")
@pytest.mark.parametrize("kind", KINDS)
def test_what_a_job_shows_to_others(kind, tmp_path):
    """While it runs, and after its launcher was killed: nothing of it can be reached by another user, in /tmp or in /dev/shm."""
    try:
        mpi = mpirun.find()
    except mpirun.LaunchError:
        pytest.skip("no mpirun")
    if mpi.family != "openmpi" or not mpirun.survives(mpi):
        pytest.skip("another MPI: docs/security.md says what of this holds there")
    temporary = Path(tempfile.mkdtemp(prefix="t", dir="/tmp"))       # short: sockets lie in it
    temporary.chmod(0o1777)
    (tmp_path / "run").mkdir()
    (tmp_path / "job.py").write_text(JOB)
    env = {**os.environ, "PYTHONPATH": str(ROOT), "TMPDIR": str(temporary), "XDG_CACHE_HOME": str(tmp_path / "cache"), "DPARALLEL_STALL_SECONDS": "0"}
    script = [str(tmp_path / "job.py"), str(tmp_path / "run")]
    if KINDS[kind] is None:
        env |= {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "29517", "WORLD_SIZE": "2"}
        jobs = [subprocess.Popen([sys.executable, *script], env={**env, "RANK": str(number)}, cwd=tmp_path, stderr=subprocess.PIPE, text=True)
                for number in range(2)]
    else:
        jobs = [subprocess.Popen([sys.executable, "-m", "launch", "-q", "-n", "2", *KINDS[kind], *script], env=env, cwd=tmp_path,
                                 stderr=subprocess.PIPE, text=True)]
    processes, mine = set(), set()
    try:
        until = time.monotonic() + 100
        while len(list((tmp_path / "run").glob("ready-*"))) < 2 or not (port := (tmp_path / "run" / "ready-0").read_text()):
            assert all(job.poll() is None for job in jobs) and time.monotonic() < until, [job.communicate() for job in jobs if job.poll() is not None]
            time.sleep(0.1)
        processes = set().union(*(family(job.pid) for job in jobs))
        sockets, paths = listening(processes)
        others = {(program, address) for program, address in sockets if address != "127.0.0.1"}
        assert {program for program, _ in others} <= {"prterun"}, sockets             # mpirun itself: docs/security.md
        assert any(program != "prterun" for program, _ in sockets)                    # the store
        tokens = {line for process in processes for line in Path(f"/proc/{process}/environ").read_bytes().split(b"\0") if line.startswith(b"DPARALLEL_TOKEN=")}
        assert len(tokens) == (KINDS[kind] is not None)
        words = b"".join(Path(f"/proc/{process}/environ").read_bytes() for process in processes).decode(errors="replace")
        words += "".join(path.read_text() for path in (tmp_path / "run").glob(".identity-*"))
        mine = {Path("/dev/shm", name) for name in os.listdir("/dev/shm") if name.startswith(("dprun-", "dparallel-")) and name.split("-")[-1] in words}
        commands = b"".join(Path(f"/proc/{process}/cmdline").read_bytes() for process in processes)
        assert not any(token.partition(b"=")[2] in commands for token in tokens)
        memories = [path for process in processes for path in Path(f"/proc/{process}/fd").iterdir() if "memfd:dparallel" in os.readlink(path)]
        assert (memories or kind not in ("survive", "plain")) and not any(path.stat().st_mode & 0o077 for path in memories)
        for running in (True, False):
            left = {Path(top, name) for top, folders, files in os.walk(temporary) for name in (*folders, *files)} | mine
            everything = left | {Path(path) for path in paths if running and Path(path).exists() and tmp_path not in Path(path).parents}
            wrong = [reachable(path, {temporary, Path("/dev/shm"), Path("/tmp")}) for path in everything if path.exists()]
            assert not any(wrong), sorted(filter(None, wrong))
            assert left or not running
            assert as_another_user(ATTACK, port, ",".join(map(str, processes)), *map(str, everything)) in ("", None)
            for job in jobs:
                job.kill()
                job.wait()
    finally:
        for process in processes | {job.pid for job in jobs}:
            with suppress(OSError):
                os.kill(process, signal.SIGKILL)
        for path in [temporary, *mine]:              # no other job's
            shutil.rmtree(path, ignore_errors=True)


def test_ranks_of_mpirun_alone_listen_nowhere(tmp_path):
    """world() chooses Open MPI's transports on one host as dprun does; workers of a DataLoader need no socket either."""
    try:
        mpi = mpirun.find()
    except mpirun.LaunchError:
        pytest.skip("no mpirun")
    if mpi.family != "openmpi" or not mpirun.survives(mpi):
        pytest.skip("another MPI: docs/security.md says what of this holds there")
    (tmp_path / "job.py").write_text("""
import sys, time
from autograd.utils.data import DataLoader
from dparallel import world
comm = world()
batches = iter(DataLoader(range(1000), num_workers=2))
next(batches)
open(f"{sys.argv[1]}/ready-{comm.rank}", "w").close()
time.sleep(60)
""")
    root = ["--allow-run-as-root"] if os.geteuid() == 0 else []
    job = subprocess.Popen([mpi.path, *root, "--oversubscribe", "-n", "2", sys.executable, tmp_path / "job.py", tmp_path], cwd=tmp_path,
                           env={**os.environ, "PYTHONPATH": str(ROOT)}, start_new_session=True)
    try:
        until = time.monotonic() + 60
        while len(list(tmp_path.glob("ready-*"))) < 2:
            assert job.poll() is None and time.monotonic() < until
            time.sleep(0.1)
        sockets, _ = listening(family(job.pid))
        assert {program for program, _ in sockets} <= {"prterun", "mpirun"}, sockets
    finally:
        job.send_signal(signal.SIGINT)
        with suppress(subprocess.TimeoutExpired):
            job.wait(20)
        with suppress(OSError):
            os.killpg(job.pid, signal.SIGKILL)


@pytest.mark.parametrize("how", ["none", 0o755, "link", "file", pytest.param("owner", marks=root)])
def test_who_takes_the_users_folder_delays_it_only(how, tmp_path, monkeypatch):
    """The other folder is used: of the cache, or the temporary one."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    places = tmp_path / f"dparallel-{os.geteuid()}", tmp_path / "cache" / "dparallel"
    (tmp_path / "cache").mkdir()
    for first, other in (places, places[::-1]):
        if how != "none":
            planted_folder(first, how)
        found = private.user_folder(of_host=first == places[0])
        assert found == str(first if how == "none" else other) and os.stat(found).st_mode & 0o777 == 0o700
        for path in places:
            path.unlink() if path.is_symlink() or path.is_file() else shutil.rmtree(path, ignore_errors=True)
    if how != "none":
        for path in places:
            planted_folder(path, how)
        with pytest.raises(PermissionError, match="set XDG_CACHE_HOME or TMPDIR to a folder of your own"):
            private.user_folder()


def test_processes_of_one_user_share_a_token(tmp_path, monkeypatch):
    """Without one in the environment, as under mpirun alone; other users can't read it."""
    monkeypatch.delenv("DPARALLEL_TOKEN", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    server = dist.TCPStore("127.0.0.1", 0, is_master=True)
    code = f"import dparallel.distributed as dist; dist.TCPStore('127.0.0.1', {server.port}).set('k', 'v')"
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60, env={**os.environ, "PYTHONPATH": str(ROOT)})
    assert server.get("k") == b"v"
    file = tmp_path / "dparallel" / "token"
    assert file.stat().st_mode & 0o777 == 0o600 and private.WORD.fullmatch(file.read_text())
    file.write_text("f" * 32)
    with pytest.raises(dist.DistNetworkError, match="has another token"):
        dist.TCPStore("127.0.0.1", server.port)


class Command:
    """What runs when a pickle of it is read."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return open, (self.path, "w")


@pytest.mark.parametrize("kind", ["a pickle", "a file of torch.save()", "a module", "a module, of save()"])
@pytest.mark.parametrize("weights_only", [None, True, False])
def test_weights_from_elsewhere_run_no_code(kind, weights_only, tmp_path):
    """But for pickles of save(model), which weights_only=False asks for."""
    path, ran = tmp_path / "weights", tmp_path / "ran"
    if kind == "a file of torch.save()":
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("archive/data.pkl", pickle.dumps(Command(str(ran)), 2))
            archive.writestr("archive/version", "3")
    elif kind == "a module, of save()":
        with pytest.warns(UserWarning, match="has written a pickle"):
            ag.save({"x": Command(str(ran))}, path)
    else:
        path.write_bytes(pickle.dumps(ag.nn.Linear(2, 1) if kind == "a module" else Command(str(ran))))
    asked = kind == "a module, of save()" and weights_only is False
    with nullcontext() if asked else pytest.raises(pickle.UnpicklingError):
        ag.load(path, weights_only=weights_only)
    assert ran.exists() == asked


# --- the page -----------------------------------------------------------------------------------------------------------

def test_the_page_lists_what_is_unpickled():
    """Each file of ours that unpickles, how often, with a reason; and none that the page does not name."""
    listed = dict(re.findall(r"^\| `([\w/]+\.py)` \| (\d+) \| \w", (ROOT / "docs" / "security.md").read_text(), re.M))
    found = {str(path.relative_to(ROOT)): str(count) for path in sources()
             if (count := len(re.findall(r"(?:pickle\.(?:loads?|Unpickler)|marshal\.loads?|joblib\.load)\(|allow_pickle=True", path.read_text())))}
    assert found == listed


@pytest.mark.parametrize("step", [-1, 1.0, True, "1", None, float("nan")])
def test_steps_are_integers_of_0_or_more(step, tmp_path):
    with Checkpointer(tmp_path, state={"x": 1}) as checkpoint:
        checkpoint.save(1)
        for call in (checkpoint.save, lambda step: checkpoint.every(step, steps=1), *([] if step is None else [checkpoint.restore])):
            with pytest.raises(ValueError, match="a number of steps"):
                call(step)
        assert checkpoint.steps() == [1]
