"""Datasets for worker processes, which import this module: it imports no test tools."""

import os
import random
import signal
import time

import numpy as np

import autograd as ag
from autograd.utils.data import Dataset, IterableDataset, default_collate, get_worker_info

N = 23


class Noisy(Dataset):
    """Large items, with numbers drawn from every stream that a worker may draw from."""

    def __init__(self, big=3000):
        self.big = big

    def __len__(self):
        return N

    def __getitem__(self, index):
        return np.full(self.big, index, np.float32), ag.rand(2000), random.random(), np.random.standard_normal(700), f"item {index}"


class NoisyStream(IterableDataset):
    def __iter__(self):
        info = get_worker_info()
        for index in range(info.id, N, info.num_workers):
            yield index, ag.rand(1500), random.random()


class Rows(Dataset):
    """Rows of an array in memory. A worker may write to its own copy."""

    def __init__(self, rows=8, size=5000):
        self.array = np.arange(rows * size, dtype=np.float64).reshape(rows, size)
        self.tensor = ag.tensor(self.array[:, 0])

    def __len__(self):
        return len(self.array)

    def __getitem__(self, index):
        row = self.array[index].copy()
        self.array[:] = -1 - get_worker_info().id
        self.array[(index + 2) % len(self.array)] = index + 2        # this worker's next
        return row


class Worker(Dataset):
    """What a worker process is like."""

    def __len__(self):
        return 2

    def __getitem__(self, index):
        return os.getpid(), ag.get_num_threads(), get_worker_info().id, os.environ.get("MPI4PY_RC_INITIALIZE")


class Slow(Dataset):
    def __init__(self, seconds=0.05):
        self.seconds = seconds

    def __len__(self):
        return 40

    def __getitem__(self, index):
        end = time.monotonic() + self.seconds
        while time.monotonic() < end:
            time.sleep(0.01)
        return os.getpid()


class Dying(Dataset):
    def __init__(self, fail):
        self.fail = fail

    def __len__(self):
        return 8

    def __getitem__(self, index):
        if index == 5:
            self.fail()
        return index


def kill_self():
    os.kill(os.getpid(), signal.SIGKILL)


def raise_error():
    raise KeyError("no such item")


class Remembering:
    """A collate_fn that keeps its batches, and checks that nobody else writes to them; makes one that it does not use."""

    def __init__(self):
        self.kept = []

    def __call__(self, items):
        default_collate([item[0] * 2 for item in items])
        batch = default_collate([item[0] for item in items])
        assert all((tensor.numpy() == copy).all() for tensor, copy in self.kept)
        self.kept.append((batch, batch.numpy().copy()))
        return batch[1:], batch, "a" * 200_000


def no_files(number):
    """A worker_init_fn after which the shared file cannot grow."""
    import resource
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))


def own_collate(items):
    return np.stack([item[0] for item in items])
