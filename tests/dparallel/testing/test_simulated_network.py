"""The simulated network: what is right passes on it for every seed, mistakes of order that plain threads let pass do not."""

import numpy as np
import pytest
from raised import raises

import autograd as ag
from autograd import nn
from dparallel import AllReduce, CollectiveError, DataParallel, RankFailure, run_ranks
from dparallel.testing import Network, NetworkError, check_adjoint, gradcheck

SEEDS = range(6)


def going_on_with_what_is_done_first(comm):
    """The mistake: each rank asks its handles for done(), and starts the follow-up of the first that is."""
    xs = [np.full(3, 10.0 ** i * (comm.rank + 1)) for i in range(3)]
    handles = dict(enumerate([comm.start_allreduce([x]) for x in xs]))
    comm.barrier()                       # so that on plain threads all are done when the first is looked at
    results = {}
    while handles:
        for i, handle in list(handles.items()):
            if handle.done():
                results[i] = comm.allreduce([handle.wait()[0] * (i + 1)])[0][0]
                del handles[i]
    return [results[i] for i in range(3)]


def follow_ups_in_order(comm):
    xs = [np.full(3, 10.0 ** i * (comm.rank + 1)) for i in range(3)]
    handles = [comm.start_allreduce([x]) for x in xs]
    while not all(handle.done() for handle in handles):
        pass
    return [comm.allreduce([handle.wait()[0] * (i + 1)])[0][0] for i, handle in enumerate(handles)]


@pytest.mark.parametrize("size", [2, 3])
def test_a_planted_ordering_mistake_passes_on_plain_threads_and_not_here(size):
    total = size * (size + 1) // 2
    right = [10.0 ** i * total * size * (i + 1) for i in range(3)]
    assert all(values == right for values in run_ranks(size, going_on_with_what_is_done_first))
    caught = 0
    for seed in SEEDS:
        assert all(values == right for values in run_ranks(size, follow_ups_in_order, network=Network(seed)))
        caught += any(values != right for values in run_ranks(size, going_on_with_what_is_done_first, network=Network(seed)))
    assert caught >= len(SEEDS) - 2


def test_a_seed_is_a_network():
    """What ranks see is the same each time with one seed, and something else with another."""
    def order(comm):
        handles = {i: comm.start_allreduce([np.ones(1)]) for i in range(4)}
        seen = []
        while handles:
            for i in list(handles):
                if handles[i].done():
                    seen.append(i)
                    handles.pop(i).wait()
        return seen

    orders = [run_ranks(3, order, network=Network(seed)) for seed in SEEDS]
    assert orders == [run_ranks(3, order, network=Network(seed)) for seed in SEEDS]
    assert len({str(order) for order in orders}) > 1
    assert any(ranks[0] != ranks[1] for ranks in orders)             # ranks see another order, too
    assert run_ranks(3, order, network=Network(reorder=0)) == [[0, 1, 2, 3]] * 3


def change_what_is_sent(comm):
    x = np.ones(3)
    handle = comm.start_allreduce([x])
    x *= 2
    return handle.wait()[0].tolist()


def write_to_a_sum_under_way(comm):
    x = np.ones(3)
    handle = comm.start_sum_in_place([x])
    x += 1
    handle.wait()
    return None


def test_touching_arrays_before_wait():
    assert run_ranks(2, change_what_is_sent) == [[2.0] * 3] * 2      # as threads: nothing to be seen
    with pytest.raises(NetworkError, match=r"rank \d: allreduce.*changed before wait"):
        run_ranks(2, change_what_is_sent, network=Network())
    run_ranks(2, write_to_a_sum_under_way)
    raises(NetworkError, "written to before wait", lambda: run_ranks(2, write_to_a_sum_under_way, network=Network()))


@pytest.mark.parametrize("dtype", ["float32", "int32", "complex64", "bool"])
def test_a_sum_read_before_wait_is_no_number_anybody_expects(dtype):
    def read_early(comm):
        x = np.ones(2, dtype)
        handle = comm.start_sum_in_place([x])
        early = x.copy()
        handle.wait()
        return early, x

    for early, final in run_ranks(2, read_early, network=Network()):
        assert not np.any(early == 1) and not np.any(early == 2) and final.tolist() == (np.ones(2, dtype) + np.ones(2, dtype)).tolist()


@pytest.mark.parametrize("seed", SEEDS)
def test_what_is_right_passes(seed):
    rng = np.random.default_rng(0)
    data, target = rng.standard_normal((12, 4)), rng.standard_normal((12, 1))

    def train(comm):
        net = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1)).double()
        weights = np.random.default_rng(3)               # the default generator is shared by threads
        with ag.no_grad():
            for p in net.parameters():
                p.copy_(ag.tensor(weights.standard_normal(p.shape)))
        model = DataParallel(net, comm=comm, bucket_cap_mb=1e-4)
        x, y = ag.tensor(data[comm.rank::comm.size]), ag.tensor(target[comm.rank::comm.size])
        for _ in range(2):
            loss = ((model(x) - y) ** 2).mean()
            loss.backward()
        group = comm.duplicate()
        check_adjoint(lambda x: AllReduce.apply(x, comm=group), [np.ones(3) * comm.rank], group)
        assert gradcheck(lambda x: AllReduce.apply(x * x, comm=comm), [ag.ones(2, dtype=ag.float64, requires_grad=True)], comm)
        return [p.grad.numpy().copy() for p in net.parameters()]

    plain = run_ranks(3, train)
    for ours in run_ranks(3, train, network=Network(seed)):
        for a, b in zip(ours, plain[0]):
            np.testing.assert_allclose(a, b, rtol=1e-12)


def test_failures_are_as_on_plain_threads():
    def other_collectives(comm):
        return comm.barrier() if comm.rank else comm.allreduce([np.ones(1)])

    def one_leaves(comm):
        return comm.barrier() if comm.rank else None

    raises(CollectiveError, "different collectives", lambda: run_ranks(2, other_collectives, network=Network()))
    raises(RankFailure, "rank 0 has returned", lambda: run_ranks(2, one_leaves, network=Network()))
    raises(ValueError, "delay=-1", Network, delay=-1)


def test_what_nobody_waits_for_leaves_at_the_end():
    def check(comm):
        handle = comm.start_allreduce([np.ones(1)])
        return handle.wait()[0].item() if comm.rank else None

    assert run_ranks(2, check, network=Network(reorder=0)) == [None, 2.0]
