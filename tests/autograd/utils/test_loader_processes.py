"""Worker processes: the same batches as worker threads, in shared memory, with nothing left behind."""

import gc
import itertools
import mmap
import os
import pickle
import signal
import subprocess
import sys
import time
import warnings
from pathlib import Path

import loader_data as data
import numpy as np
import pytest

import autograd as ag
from autograd.utils.data import DataLoader, processes, shared

ROOT = Path(__file__).parents[3]
METHODS = ["fork", "forkserver", "spawn"]
pytestmark = [pytest.mark.young,
              pytest.mark.filterwarnings("ignore:This DataLoader will create", "ignore:.*fork", "ignore:This process")]


def loader(dataset, batch_size=4, context="forkserver", **settings):
    return DataLoader(dataset, batch_size, **{"num_workers": 2, "multiprocessing_context": context, **settings})


def plain(batch):
    """The bits of a batch."""
    return [plain(part) for part in batch] if isinstance(batch, (list, tuple)) else \
        (batch.numpy().tobytes(), batch.shape, batch.dtype) if isinstance(batch, ag.Tensor) else batch


def memory_of(array):
    """The object whose memory an array uses."""
    while isinstance(array, (np.ndarray, memoryview)):
        array = array.base if isinstance(array, np.ndarray) else array.obj
    return array


def passes(dataset, context, resumed=None, **settings):
    """Two passes; if `resumed` another loader, of the context `resumed`, goes on after three batches of the first."""
    ag.manual_seed(5)
    first = loader(dataset, context=context, **settings)
    if resumed == "no":
        return [plain(list(first)), plain(list(first))]
    head = [plain(batch) for batch in itertools.islice(first, 3)]
    state = first.state_dict()
    del first
    ag.manual_seed(9)
    second = loader(dataset, context=resumed, **settings)
    second.load_state_dict(state)
    return [head + plain(list(second)), plain(list(second))]


@pytest.fixture(scope="module")
def expected():
    return {name: passes(dataset, None, "no", **settings) for name, (dataset, settings) in TABLE.items()}


TABLE = {"items": (data.Noisy(), {"shuffle": True}), "persistent": (data.Noisy(), {"shuffle": True, "persistent_workers": True}),
         "small items": (data.Noisy(3), {"drop_last": True}), "stream": (data.NoisyStream(), {}),
         "three workers": (data.Noisy(), {"num_workers": 3, "prefetch_factor": 3})}


@pytest.mark.parametrize("name, context, resumed", [("items", "spawn", "no"), *(
    (name, *pair) for name in TABLE for pair in (("fork", "no"), ("forkserver", "no"), (None, "forkserver"), ("forkserver", None)))])
def test_batches_random_numbers_and_resumption_are_those_of_threads(expected, name, context, resumed):
    dataset, settings = TABLE[name]
    found = passes(dataset, context, resumed, **settings)
    assert found[0] == expected[name][0]
    if resumed == "no":
        assert found[1] == expected[name][1] != found[0]


@pytest.mark.parametrize("context", ["fork", "forkserver"])
def test_batches_are_in_shared_memory_which_is_used_again_when_they_are_freed(context):
    ld = loader(data.Noisy(), context=context, num_workers=1, persistent_workers=True)
    seen, held = set(), []
    for number in range(4):
        for big, *_ in ld:
            assert isinstance(memory_of(big.numpy()), mmap.mmap) and big.numpy().flags.writeable
            if number == 0 and len(held) < 2:
                held.append(big[1, 5:])                      # a view keeps the whole batch
            address = big.data_ptr()
            seen.add(address)
            assert big[:, 0].tolist() == big[:, -1].tolist()
        held_values = [view.tolist() for view in held]
        if number == 0:
            first = held_values
        assert held_values == first
    assert len(seen) <= 8                                     # of 24 batches: 2 held, 2 ahead, the loop's
    again = held[0]
    again += 1
    assert again[0].item() == first[0][0] + 1


def test_a_held_pass_stays():
    batches = list(loader(data.Noisy(), 1))
    assert [batch[0][0, 0].item() for batch in batches] == list(range(data.N))
    assert len({batch[0].data_ptr() for batch in batches}) == data.N


def test_a_worker_may_keep_its_batches():
    for part, whole, text in loader(data.Noisy(), collate_fn=data.Remembering(), prefetch_factor=1):
        assert (part.numpy() == whole.numpy()[1:]).all() and np.shares_memory(part.numpy(), whole.numpy())
        assert len(text) == 200_000
        del part, whole
    copied = next(iter(loader(data.Noisy(), collate_fn=data.own_collate)))
    assert isinstance(copied, np.ndarray) and isinstance(memory_of(copied), mmap.mmap)
    assert copied[:, 7].tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize("context", METHODS)
def test_each_worker_has_its_own_copy_of_the_datasets_arrays(context):
    dataset = data.Rows()
    before = dataset.array.copy()
    assert [row[0].item() for row in loader(dataset, None, context)] == [0, 5000, 2, 3, 4, 5, 6, 7]
    assert (dataset.array == before).all()


def test_the_datasets_arrays_are_sent_once():
    parcel = shared.Parcel(data.Rows())
    parts = [parcel.__reduce__() for _ in range(2)]
    assert parts[0][1][1] is parts[1][1][1] and parts[0][1][2] == [(0, 320_000)] and len(parts[0][1][0]) < 1000
    assert os.fstat(parcel.file.fd).st_size == 320_000


def test_a_memory_mapped_array_is_sent_by_the_name_of_its_file(tmp_path):
    whole = np.arange(40_000.0).reshape(8, 5000)
    np.save(tmp_path / "rows.npy", whole)
    for mode in ("r", "r+", "c"):
        rows = np.load(tmp_path / "rows.npy", mmap_mode=mode)
        for part, by_name in ((rows, True), (rows[2:, ::-1][:, ::-1], True), (rows[3], True), (rows[:, 1:], False), (rows + 1, False), (rows[:0], False)):
            parcel = shared.Parcel([part])
            arrived = pickle.loads(shared.dumps(parcel.value, [], shared._file_of)) if by_name and mode != "c" else None
            assert arrived is None or (isinstance(arrived[0], np.memmap) and arrived[0].mode == mode and (arrived[0] == part).all())
            parcel.__reduce__()
            assert (parcel.file is None) == (arrived is not None or part.size == 0 or not part.flags.c_contiguous)
    assert [row.numpy()[7] for row in loader([np.load(tmp_path / "rows.npy", mmap_mode="r")[i] for i in range(8)], None)] == whole[:, 7].tolist()


def test_workers_use_one_thread_and_start_no_mpi():
    pids, threads, numbers, mpi = zip(*loader(data.Worker(), None), strict=True)
    assert numbers == (0, 1) and threads == (1, 1) and mpi == ("0", "0") and len({*pids, os.getpid()}) == 3
    assert "MPI4PY_RC_INITIALIZE" not in os.environ


def test_a_killed_worker_is_an_error():
    it = iter(loader(data.Dying(data.kill_self), 2))
    with pytest.raises(RuntimeError, match=r"DataLoader worker \(pid \d+\) exited unexpectedly with exit code -9: it was killed"):
        list(it)
    with pytest.raises(KeyError, match=r"(?s)Caught KeyError in DataLoader worker process 0.*raise_error.*no such item"):
        list(loader(data.Dying(data.raise_error), 2))


def test_signals_to_all_processes_of_a_job_do_not_end_workers():
    it = iter(loader(data.Slow(0.02), None))
    pids = {next(it), next(it)}
    for name in processes.PREEMPTION:
        for pid in pids:
            os.kill(pid, getattr(signal, name))
    assert len(list(it)) == 38


def test_what_cannot_be_sent_is_named_before_a_worker_starts():
    with pytest.raises((AttributeError, TypeError, shared.pickle.PicklingError), match="top level of a module, or use worker threads"):
        iter(loader(data.Noisy(), collate_fn=lambda items: items))


def without_memory():
    raise OSError("no memory files here")


def test_without_shared_memory_batches_are_sent_through_pipes(monkeypatch, expected):
    dataset, settings = TABLE["items"]
    monkeypatch.setattr(shared.SharedFile, "extend", None)
    monkeypatch.setattr(shared.SharedFile, "__init__", lambda self: without_memory())
    ag.manual_seed(5)
    with pytest.warns(UserWarning, match="through pipes, which is slower than shared memory: no memory files here") as caught:
        assert plain(list(loader(dataset, **settings))) == expected["items"][0]
    assert len({str(w.message) for w in caught}) == 1
    monkeypatch.undo()
    ag.manual_seed(5)
    with pytest.warns(UserWarning, match="through pipes"):
        assert plain(list(loader(dataset, worker_init_fn=data.no_files, **settings))) == expected["items"][0]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert len(list(loader(dataset))) == 6


def test_a_temporary_file_takes_the_place_of_a_memfd(monkeypatch, expected):
    """macOS has no memfd."""
    monkeypatch.delattr(os, "memfd_create", raising=False)
    dataset, settings = TABLE["items"]
    ag.manual_seed(5)
    batches = list(loader(dataset, context="fork", **settings))
    assert plain(batches) == expected["items"][0] and isinstance(memory_of(batches[0][0].numpy()), mmap.mmap)


def alive(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def run(script, *args, **settings):
    environment = {**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'tests/autograd/helpers'}"}
    return subprocess.Popen([sys.executable, "-W", "ignore", *args, script], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                            env=environment, **settings)


@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="requires /proc")
@pytest.mark.parametrize("context", METHODS)
def test_no_worker_outlives_a_killed_parent(tmp_path, context):
    script = tmp_path / "train.py"
    script.write_text("from autograd.utils.data import DataLoader\nfrom loader_data import Slow\nif __name__ == '__main__':\n"
                      f"    it = iter(DataLoader(Slow(30), None, num_workers=2, multiprocessing_context='{context}'))\n"
                      "    print(*[p.pid for p in it.crew.processes], flush=True)\n    next(it)\n")
    before = set(os.listdir("/dev/shm"))
    parent = run(script)
    pids = [int(pid) for pid in parent.stdout.readline().split()]
    assert len(pids) == 2
    time.sleep(0.5)
    parent.kill()
    parent.wait()
    end = time.monotonic() + 120
    while any(map(alive, pids)) and time.monotonic() < end:
        time.sleep(0.05)
    assert not any(map(alive, pids))
    assert not [name for name in set(os.listdir("/dev/shm")) - before if name.startswith(("psm_", "autograd", "mp-", "sem.mp"))]


SCRIPT = """
from autograd.utils.data import DataLoader
class Data:
    def __len__(self): return 4
    def __getitem__(self, index): return index
{guard}print(list(DataLoader(Data(), None, num_workers=1, multiprocessing_context="{context}")))
"""


@pytest.mark.parametrize("guard, args, words", [
    ("if __name__ == '__main__': ", (), "[0, 1, 2, 3]"), ("", (), 'under `if __name__ == "__main__":`'),
    ("", ("-c",), "cannot be unpickled there")], ids=["guarded", "unguarded", "no file"])
def test_scripts(tmp_path, guard, args, words):
    """A class of the script is found in workers if the script can be imported."""
    text = SCRIPT.format(guard=guard, context="forkserver")
    if not args:
        (tmp_path / "train.py").write_text(text)
        text = str(tmp_path / "train.py")
    out, err = run(text, *args).communicate(timeout=200)
    assert words in out + err


def test_ctrl_c_ends_a_pass_and_its_workers(tmp_path):
    (tmp_path / "train.py").write_text("import os, signal\nfrom autograd.utils.data import DataLoader\nfrom loader_data import Slow\n"
                                       "if __name__ == '__main__':\n"
                                       "    it = iter(DataLoader(Slow(), None, num_workers=2, multiprocessing_context='forkserver'))\n"
                                       "    print(*[p.pid for p in it.crew.processes])\n    next(it)\n"
                                       "    try:\n        for number, _ in enumerate(it):\n            if number == 3:\n"
                                       "                os.killpg(0, signal.SIGINT)\n"
                                       "    except KeyboardInterrupt:\n        print('interrupted', flush=True)\n        raise\n")
    process = run(tmp_path / "train.py", start_new_session=True)
    out, err = process.communicate(timeout=200)
    assert "interrupted" in out and err.count("Traceback") == 1 and err.rstrip().endswith("KeyboardInterrupt")
    assert not any(alive(int(pid)) for pid in out.split()[:2])


def test_nothing_is_left_behind():
    before = len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else 0
    for _ in range(3):
        batch = next(iter(loader(data.Noisy())))
        gc.collect()
    assert batch[0][1, 1].item() == 1                        # its memory outlives the loader
    del batch
    gc.collect()
    if before:
        assert len(os.listdir("/proc/self/fd")) <= before
