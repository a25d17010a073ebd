"""Training mode on some ranks, evaluation mode on others: an error on all ranks where the module's collectives differ."""

import pytest

import autograd as ag
from autograd import nn
from dparallel import CollectiveError, DataParallel, SyncBatchNorm, convert_sync_batchnorm

NETS = {"synchronised": lambda: nn.Sequential(nn.Linear(3, 4), SyncBatchNorm(4)),
        "two": lambda: convert_sync_batchnorm(nn.Sequential(nn.BatchNorm1d(3), nn.Linear(3, 4), nn.BatchNorm1d(4))),
        "buffers": lambda: nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4)),
        "shared": lambda: nn.Sequential(nn.Linear(3, 4), SyncBatchNorm(4, track_running_stats=False))}
PASSES = {"backward": lambda y: y.sum().backward(), "create_graph": lambda y: y.sum().backward(create_graph=True)}


def x(comm):
    return ag.randn(comm.rank + 2, 3)


@pytest.mark.parametrize("run", PASSES)
@pytest.mark.parametrize("buffers", [True, False])
@pytest.mark.parametrize("net", NETS)
def test_one_rank_in_evaluation_mode(comm, net, buffers, run):
    if comm.size == 1 or (net == "buffers" and not buffers):
        return
    model = DataParallel(NETS[net](), comm=comm, broadcast_buffers=buffers)
    PASSES[run](model(x(comm)))
    if comm.rank == comm.size - 1:
        model.eval()
    with pytest.raises(CollectiveError, match=rf"(?s)eval\(\) on some ranks, in train\(\) on others.*rank {comm.size - 1}: (for|back)ward_in_evaluation_mode\(\)"):
        PASSES[run](model(x(comm)))
    model.zero_grad()
    model.train()
    PASSES[run](model(x(comm)))


def test_one_layer_in_evaluation_mode_on_one_rank(comm):
    if comm.size == 1:
        return
    for layer in (0, 2):
        model = DataParallel(NETS["two"](), comm=comm)
        if comm.rank == 0:
            model.module[layer].eval()
        with pytest.raises(CollectiveError):
            model(x(comm)).sum().backward()


def test_autograd_grad_in_evaluation_mode_on_one_rank(comm):
    if comm.size == 1:
        return
    model = DataParallel(NETS["synchronised"](), comm=comm)
    if comm.rank == 0:
        model.eval()
    with pytest.raises(CollectiveError, match=r"rank 0: backward_in_evaluation_mode\(\)"):
        ag.grad(model(x(comm)).sum(), list(model.parameters()))


@pytest.mark.parametrize("net", NETS)
def test_all_ranks_in_evaluation_mode_train_with_fixed_statistics(comm, net):
    """Also with other numbers of forward passes that are for looking only."""
    model = DataParallel(NETS[net](), comm=comm)
    model.eval()
    for _ in range(2):
        model(x(comm)).sum().backward()
    for _ in range(comm.rank):
        model(x(comm))
    with model.no_sync():
        model(x(comm)).sum().backward()
    model(x(comm)).sum().backward()
    with model.join(enable=net == "buffers"):
        for _ in range(comm.rank + 1 if net == "buffers" else 1):
            model(x(comm)).sum().backward()
