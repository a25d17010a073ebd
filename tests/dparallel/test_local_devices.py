"""Local devices: what replicas share with the module, named places, bound cores."""

import os

import numpy as np
import pytest

import autograd as ag
from autograd import nn
from autograd.lanes import run_lanes
from dparallel import DataParallel, Devices, parallel_apply, replicate

LINUX = hasattr(os, "sched_setaffinity")


def test_replicas_look_into_the_modules_memory():
    net = nn.Linear(3, 2)
    for replica in replicate(net, Devices(3)):
        assert np.shares_memory(replica.weight.array, net.weight.array)
        assert replica.weight.requires_grad and not replica.weight.is_leaf


def test_only_the_first_replica_may_write():
    net = nn.Linear(3, 2)
    first, second = replicate(net, 2)
    with ag.no_grad():
        first.weight.mul_(2)
        before = net.weight.array.copy()
        with pytest.raises(ValueError, match="read-only"):
            second.weight.mul_(2)
    assert (net.weight.array == before).all() and (first.weight.array == before).all()


def test_a_step_between_forward_and_backward_is_noticed():
    net = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2))
    y = DataParallel(net, devices=2)(ag.randn(6, 3))
    with ag.no_grad():
        net[2].weight.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()


def test_detached_replicas_lead_nowhere():
    assert not any(p.requires_grad for replica in replicate(nn.Linear(3, 2), [0, 1], detach=True)
                   for p in (replica.weight, replica.bias))


@pytest.mark.parametrize("wrong", [0, -1, True, [], [0, 0], [0, -1], "two", 1.5])
def test_devices_are_a_number_or_different_numbers(wrong):
    with pytest.raises(ValueError, match="places"):
        Devices(wrong)


def test_errors_name_the_place_as_the_user_does():
    def fails(x):
        raise ZeroDivisionError("no")

    with pytest.raises(ZeroDivisionError, match="in replica 1 on place 7: no"):
        parallel_apply([lambda x: x, fails], [1, 2], devices=Devices([4, 7]))


@pytest.mark.skipif(not LINUX, reason="binding needs sched_setaffinity")
def test_bound_places_run_on_their_cores_forward_and_backward():
    allowed = sorted(os.sched_getaffinity(0))
    cores = [[allowed[0]], [allowed[-1]]]
    seen = []

    class Watch(ag.Function):
        @staticmethod
        def forward(ctx, x):
            seen.append(os.sched_getaffinity(0))
            return x * 2

        @staticmethod
        def backward(ctx, g):
            seen.append(os.sched_getaffinity(0))
            return g * 2

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.Linear(3, 2)

        def forward(self, x):
            return Watch.apply(self.layer(x))

    model = DataParallel(Net(), comm=Devices(2, cores=cores))
    model(ag.randn(4, 3)).sum().backward()
    assert sorted(map(sorted, seen)) == sorted(cores * 2)
    assert os.sched_getaffinity(0) == set(allowed)


@pytest.mark.skipif(not LINUX, reason="binding needs sched_setaffinity")
@pytest.mark.parametrize("wrong, text", [([0], "1 entries for 2 places"), ([0, 10**6], "this process may use"),
                                         ([[], 0], "asks for")])
def test_wrong_cores_are_refused(wrong, text):
    with pytest.raises(ValueError, match=text):
        Devices(2, cores=wrong)


def test_lanes_nest_and_are_used_again():
    for _ in range(3):
        inner = [lambda k=k: run_lanes([lambda j=j: (k, j) for j in range(3)]) for k in range(3)]
        assert run_lanes(inner) == [[(k, j) for j in range(3)] for k in range(3)]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_lanes_work_after_a_fork():
    run_lanes([lambda: 1, lambda: 2])
    child = os.fork()
    if child == 0:
        os._exit(0 if run_lanes([lambda: 1, lambda: 2]) == [1, 2] else 1)
    assert os.waitpid(child, 0)[1] == 0
