"""Local devices: what replicas share with the module, named devices, bound cores."""

import os

import numpy as np
import pytest
from raised import raises

import autograd as ag
from autograd import gradcheck, gradgradcheck, nn
from autograd.base import thread_pool
from autograd.core.parallel import run_lanes
from dparallel import DataParallel, Devices, parallel_apply, replicate
from dparallel.replicas.replicate import SharedBroadcast

pytestmark = pytest.mark.local
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
        raises(ValueError, "read-only", second.weight.mul_, 2)
    assert (net.weight.array == before).all() and (first.weight.array == before).all()


def test_a_step_between_forward_and_backward_is_noticed():
    net = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2))
    y = DataParallel(net, devices=2)(ag.randn(6, 3))
    with ag.no_grad():
        net[2].weight.add_(1)
    raises(RuntimeError, "modified by an inplace operation", lambda: y.sum().backward())


def test_detached_replicas_lead_nowhere():
    assert not any(p.requires_grad for replica in replicate(nn.Linear(3, 2), [0, 1], detach=True)
                   for p in (replica.weight, replica.bias))


class Partly(nn.Module):
    """One layer that nothing uses, a frozen one, one that only a replica with large numbers uses."""

    def __init__(self):
        super().__init__()
        self.used, self.never, self.frozen, self.some = (nn.Linear(2, 2, dtype=ag.float64) for _ in range(4))
        self.frozen.requires_grad_(False)

    def forward(self, x):
        y = self.frozen(self.used(x))
        return self.some(y) if x.array.max() > 5 else y


@pytest.mark.parametrize("size", [1, 2, 3])
def test_what_replicas_do_not_use_gets_no_gradient(size):
    net = Partly()
    assert [replica.frozen.weight.requires_grad for replica in replicate(net, size)] == [False] * size
    x = ag.zeros(6, 2, dtype=ag.float64)
    DataParallel(net, devices=size)(x).sum().backward()
    assert net.never.weight.grad is None and net.frozen.weight.grad is None and net.some.weight.grad is None
    x[5, 1] = 7
    net.zero_grad()
    DataParallel(net, devices=size)(x).sum().backward()
    rows = 6 // size                                 # of the last replica, which uses all of its layers
    expected = net.frozen(net.used(x[6 - rows:])).sum(0)
    np.testing.assert_allclose(net.some.weight.grad[0].tolist(), expected.tolist(), rtol=1e-12)


def test_many_gradients_of_half_precision_are_rounded_once():
    x = ag.zeros(1, dtype=ag.float16, requires_grad=True)
    views = SharedBroadcast.apply(x, count=3, root=0)
    parts = [2048, 1, 1]                             # one by one 2048 + 1 is 2048 again
    sum(v * p for v, p in zip(views, parts, strict=True)).backward()
    assert x.grad.item() == 2050


@pytest.mark.parametrize("count", [1, 2, 3])
def test_replicas_differentiate_to_any_order(count):
    ag.manual_seed(0)
    a, b = (ag.randn(2, 3, dtype=ag.float64, requires_grad=True) for _ in range(2))

    def product(a, b):
        views = SharedBroadcast.apply(a, b, count=count, root=0)
        return sum((i + 1) * views[i] ** 2 * views[count + i].sin() for i in range(count))

    assert gradcheck(product, (a, b), check_forward_ad=True)
    assert gradgradcheck(product, (a, b))


@pytest.mark.parametrize("wrong", [0, -1, True, [], [0, 0], [0, -1], "two", 1.5])
def test_devices_are_a_number_or_different_numbers(wrong):
    raises(ValueError, "devices", Devices, wrong)


def test_errors_name_the_device_as_the_user_does():
    def fails(x):
        raise ZeroDivisionError("no")

    with pytest.raises(ZeroDivisionError, match="in replica 1 on device 7: no"):
        parallel_apply([lambda x: x, fails], [1, 2], devices=Devices([4, 7]))


@pytest.mark.skipif(not LINUX, reason="binding needs sched_setaffinity")
def test_bound_devices_run_on_their_cores_forward_and_backward():
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
@pytest.mark.parametrize("wrong, text", [([0], "1 entries for 2 devices"), ([0, 10**6], "this process may use"),
                                         ([[], 0], "requests")])
def test_wrong_cores_are_refused(wrong, text):
    raises(ValueError, text, Devices, 2, cores=wrong)


def test_lanes_nest_and_are_used_again():
    for _ in range(3):
        inner = [lambda k=k: run_lanes([lambda j=j: (k, j) for j in range(3)]) for k in range(3)]
        assert run_lanes(inner) == [[(k, j) for j in range(3)] for k in range(3)]


@pytest.mark.skipif(not LINUX, reason="binding needs sched_setaffinity")
def test_a_lane_wakes_beside_its_caller_not_behind_it():
    allowed = os.sched_getaffinity(0)
    if len(allowed) < 2 or thread_pool.this_core() < 0:
        pytest.skip("one core, or no way to tell")
    worker = thread_pool.Worker()
    here = worker.core = min(allowed)
    worker.crowded, taken = True, {here}
    worker.keep_off(taken)
    assert os.sched_getaffinity(worker.thread.native_id) == {worker.core} and taken == {here, worker.core}
    thread_pool.workers.idle.append(worker)                        # the next job takes it
    assert run_lanes([lambda: 0, lambda: os.sched_getaffinity(0)])[1] == allowed


@pytest.mark.skipif(not LINUX, reason="binding needs sched_setaffinity")
def test_a_lane_that_was_moved_works_though_its_cores_are_gone():
    worker = thread_pool.Worker()
    worker.allowed = {10**4}
    thread_pool.workers.idle.append(worker)
    assert run_lanes([lambda: 0, lambda: 1]) == [0, 1] and worker.allowed is None


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_lanes_work_after_a_fork():
    run_lanes([lambda: 1, lambda: 2])
    child = os.fork()
    if child == 0:
        os._exit(0 if run_lanes([lambda: 1, lambda: 2]) == [1, 2] else 1)
    assert os.waitpid(child, 0)[1] == 0
