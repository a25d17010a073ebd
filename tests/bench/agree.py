"""N ranks or N local devices against one process with all their rows: the largest difference of weights, a JSON line.

    dprun -n 4 --threads 1 tests/bench/agree.py            python tests/bench/agree.py --devices 4

Three steps in float64, so that a wrong row or weight stands out from rounding; any number of ranks on any number of cores.
"""

from __future__ import annotations

import argparse
import json
from typing import Any

import numpy as np
from models import MODELS, seeded

import autograd
from autograd.nn import SyncBatchNorm
from dparallel import DataParallel, world

CASES = ("mlp 64-128-64-10", "mlp 784-512-512-10", "lstm")


def trained(case: str, rows: tuple[Any, Any], steps: int, wrap: Any) -> list[Any]:
    """The weights after training on these rows."""
    module, _, loss_of, _ = MODELS[case](autograd, 0, 1)
    module = SyncBatchNorm.convert_sync_batchnorm(seeded(autograd, module)).double()
    model = wrap(module)
    optimizer = autograd.optim.SGD(module.parameters(), lr=0.05, momentum=0.9)
    x, y = rows
    for _ in range(steps):
        optimizer.zero_grad()
        loss_of(model, x.double(), y).backward()
        optimizer.step()
    return [p.detach().numpy().copy() for p in module.parameters()]


def difference(case: str, comm: Any, devices: int | None) -> float:
    """Between all ranks and one, on rank 0."""
    size = devices or comm.size
    shares = [MODELS[case](autograd, rank, size)[1] for rank in range(size)]
    everything = tuple(autograd.cat(list(parts)) for parts in zip(*shares, strict=True))
    if devices:
        found = trained(case, everything, 3, lambda module: DataParallel(module, devices=devices))
    else:
        found = trained(case, shares[comm.rank], 3, lambda module: DataParallel(module, comm=comm))
    if comm.rank:
        return 0.0
    alone = trained(case, everything, 3, lambda module: module)
    return max(float(np.abs(a - b).max()) for a, b in zip(found, alone, strict=True))


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--devices", type=int)
    options = parser.parse_args()
    comm = world()
    found = {case: difference(case, comm, options.devices) for case in CASES}
    if comm.rank == 0:
        print(json.dumps({"size": options.devices or comm.size, "differences": found}), flush=True)


if __name__ == "__main__":
    main()
