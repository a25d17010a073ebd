"""The scenarios in PyTorch, on 2 ranks over gloo: `python ddp_in_torch.py RANK FOLDER`. See test_ddp_beside_torch."""

import sys
from pathlib import Path

import numpy as np
import torch
from ddp_scenarios import make, scenarios
from torch.nn.parallel import DistributedDataParallel


def main(rank, folder):
    torch.distributed.init_process_group("gloo", init_method=f"file://{folder}/meet", rank=rank, world_size=2)

    def hook(state, bucket):
        work = torch.distributed.all_reduce(bucket.buffer() / 2, async_op=True)
        return work.get_future().then(lambda future: future.value()[0])

    found = scenarios(lambda: DistributedDataParallel(make(torch, torch.from_numpy)), hook,
                      lambda params: torch.optim.SGD(params, lr=0.1, momentum=0.9), torch.from_numpy, rank)
    np.savez(Path(folder) / f"{rank}.npz", **{f"{k}:{i}": v for k, vs in found.items() for i, v in enumerate(vs)})
    torch.distributed.destroy_process_group()


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2])
