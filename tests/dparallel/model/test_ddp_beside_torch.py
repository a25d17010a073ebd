"""DataParallel beside PyTorch's DistributedDataParallel over gloo, on 2 ranks: the same text, the same numbers."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from ddp_scenarios import make, scenarios

import autograd as ag
from autograd import optim
from dparallel import DataParallel, run_ranks

SCRIPT = Path(__file__).parents[1] / "helpers" / "ddp_in_torch.py"


def test_the_same_numbers(tmp_path):
    pytest.importorskip("torch")
    ranks = [subprocess.Popen([sys.executable, str(SCRIPT), str(rank), str(tmp_path)], stderr=subprocess.PIPE, text=True,
                              env={**os.environ, "OMP_NUM_THREADS": "1"}) for rank in range(2)]

    def body(comm):
        def hook(state, bucket):
            handle = comm.start_allreduce([(bucket.buffer() / 2).numpy()])
            return handle.then(lambda future: future.value()[0])

        return scenarios(lambda: DataParallel(make(ag, ag.from_numpy), comm=comm, average="ranks"), hook,
                         lambda params: optim.SGD(params, lr=0.1, momentum=0.9), ag.from_numpy, comm.rank)

    ours = run_ranks(2, body)
    for rank in ranks:
        _, text = rank.communicate(timeout=200)
        assert rank.returncode == 0, text
    for rank, found in enumerate(ours):
        theirs = np.load(tmp_path / f"{rank}.npz")
        assert {key.split(":")[0] for key in theirs} == set(found)
        for key in theirs:
            name, number = key.split(":")
            np.testing.assert_allclose(found[name][int(number)], theirs[key], rtol=1e-12, atol=1e-12, err_msg=f"{rank} {key}")
