"""docs/security.md, sentence by sentence: what another user of the host can plant, reach and read."""

import os
import socket
from pathlib import Path

import pytest

from dparallel.checkpoint import Checkpointer, CheckpointError, memory
from launch import private, restarts

OTHER = 65534                                        # nobody
root = pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can make files of another user")


# --- planted files ------------------------------------------------------------------------------------------------------

def planted_folder(path, how):
    """A folder as another user could have made it."""
    if how == "link":
        path.with_suffix(".target").mkdir(mode=0o700)
        path.symlink_to(path.with_suffix(".target"))
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
    for module in (memory.private, private):         # dprun.private and launch.private
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
    with pytest.raises(CheckpointError, match="is not used|did not make it"):
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
    with pytest.raises(CheckpointError, match="no regular file"):
        restored(tmp_path / "run")
    assert not (tmp_path / "elsewhere").exists()


# --- what a job leaves to the next one ----------------------------------------------------------------------------------

def test_the_names_of_states_are_random_and_given_by_dprun(shm):
    states = restarts.States()
    first = states.next()
    assert first["DPARALLEL_SURVIVE_FROM"] == "" and len(first["DPARALLEL_SURVIVE_STATE"]) == 32
    states.keep()
    second = states.next()
    assert second["DPARALLEL_SURVIVE_FROM"] == first["DPARALLEL_SURVIVE_STATE"] != second["DPARALLEL_SURVIVE_STATE"]
    (shm / (private.LEFT + second["DPARALLEL_SURVIVE_STATE"])).mkdir()
    states.close()
    assert list(Path(shm).iterdir()) == []
