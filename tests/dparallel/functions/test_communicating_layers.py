"""Layers that communicate in backward, where ranks have their gradients at different moments: no rank waits for another."""

import numpy as np
import pytest

import autograd as ag
from autograd import nn, optim
from dparallel import AllReduce, DataParallel, SyncBatchNorm, hooks

WAYS = [{}, {"hook": hooks.allreduce_hook}, {"mixed_precision": "bfloat16"}, {"shard": 1}, {"shard": 2}, {"shard": 3},
        {"shard": 2, "mixed_precision": "bfloat16"}, {"shard": 3, "mixed_precision": "bfloat16"}]


class Branches(nn.Module):
    """A branch of each rank before and after a batch normalisation over all ranks."""

    def __init__(self, norm=SyncBatchNorm):
        super().__init__()
        self.after = nn.ModuleList([nn.Sequential(*[nn.Linear(3, 3) for _ in range(4)]) for _ in range(2)])
        self.before = nn.ModuleList([nn.Sequential(nn.Linear(3, 3), nn.Linear(3, 3)) for _ in range(2)])
        self.norm, self.mid = norm(3), nn.Linear(3, 3)

    def forward(self, parts, ways):
        hidden = self.norm(self.mid(ag.cat([self.before[way](x) for x, way in zip(parts, ways, strict=True)])))
        pieces = hidden.split([len(x) for x in parts])
        return ag.cat([self.after[way](x) for x, way in zip(pieces, ways, strict=True)])


def rows(rank, size, empty):
    x = np.random.default_rng(rank).standard_normal((0 if empty and rank == size - 1 else 2 + rank, 3))
    return ag.from_numpy(x.astype(np.float32))


@pytest.mark.parametrize("hook_and_shard", WAYS, ids=str)
@pytest.mark.parametrize(("branches", "micro"), [(True, 1), (False, 2)])
def test_ranks_with_other_branches_or_no_rows(comm, hook_and_shard, micro, branches):
    """With branches of their own ranks fill other buckets; a rank without rows counts nothing in a second micro-batch."""
    options = dict(hook_and_shard)
    hook = options.pop("hook", None)
    model = DataParallel(Branches(), comm=comm, average="rows", bucket_cap_mb=1e-4, find_unused_parameters=True, **options)
    if hook:
        model.register_comm_hook(None, hook)
    alone = Branches(nn.BatchNorm1d)
    alone.load_state_dict(model.state_dict())
    ways = [rank % 2 if branches else 0 for rank in range(comm.size)]
    parts = [rows(rank, comm.size, comm.size > 1) for rank in range(comm.size)]
    total = sum(len(x) for x in parts)
    many, one = optim.SGD(model.parameters(), lr=0.1), optim.SGD(alone.parameters(), lr=0.1)
    for _ in range(2):
        many.zero_grad()
        one.zero_grad()
        for number in range(micro):
            with model.no_sync(number < micro - 1), model.weighted(len(parts[comm.rank])):
                y = model([parts[comm.rank]], ways[comm.rank:comm.rank + 1])
                (y ** 2).sum(1).sum().div(max(len(y), 1)).backward()
            ((alone(parts, ways) ** 2).sum() / total / micro).backward()
        many.step()
        one.step()
    exact = "mixed_precision" not in options
    whole = model.state_dict()
    for name, value in alone.state_dict().items():
        np.testing.assert_allclose(whole[name].numpy(), value.numpy(), atol=1e-5 if exact else 3e-2, err_msg=name)


def test_a_hook_beside_the_users_own_collectives(comm):
    """A collective in the loss runs where the hook's do: the last rank's bucket, full before it, must not overtake it."""
    class Two(nn.Module):
        def __init__(self):
            super().__init__()
            self.low, self.high = nn.Linear(2, 2), nn.ModuleList([nn.Linear(2, 2), nn.Linear(2, 2)])

        def forward(self, x, comm):
            return self.high[int(comm.rank == comm.size - 1)](AllReduce.apply(self.low(x), comm=comm))

    model = DataParallel(Two(), comm=comm, average="ranks", bucket_cap_mb=1e-5, find_unused_parameters=True)
    model.register_comm_hook(None, hooks.allreduce_hook)
    x = ag.ones(1, 2)
    for _ in range(2):
        model.zero_grad()
        model(x, comm).sum().backward()
        low = sum(model.module.high[int(rank == comm.size - 1)].weight.sum(0) for rank in range(comm.size))
        np.testing.assert_allclose(model.module.low.bias.grad.numpy(), low.detach().numpy(), rtol=1e-5)
