"""Groups of ranks: split, groups in groups, hosts, the user's own communicators, sums in two levels, DataParallel on a part."""

import socket

import numpy as np
import pytest
from raised import raises

import autograd as ag
import autograd.nn.functional as F
from autograd import nn
from dparallel import (
    AllReduce,
    CollectiveError,
    DataParallel,
    Devices,
    Hierarchical,
    RankFailure,
    Recv,
    Scan,
    Send,
    SendRecv,
    check_adjoint,
    choose_allreduce,
    from_mpi,
    run_ranks,
)
from dparallel.comm import communicator

pytestmark = pytest.mark.quick


def test_split_by_color_and_key(comm):
    for colors, key in ((2, 1), (3, -1), (1, 0)):
        mine = comm.rank % colors
        group = comm.split(mine, key * comm.rank)
        members = [p for p in range(comm.size) if p % colors == mine][::-1 if key < 0 else 1]
        assert (group.size, group.rank, group.kind) == (len(members), members.index(comm.rank), comm.kind)
        assert group.allgather([np.array(comm.rank)])[0].tolist() == members
        assert group.shift([np.array(comm.rank)])[0] == members[group.rank - 1]
        group.barrier()
        group.free()
        group.free()
    assert comm.total(1.0) == comm.size


def test_no_member_gets_none(comm):
    for none in (None, -32766):                  # MPI.UNDEFINED
        group = comm.split(7 if comm.rank else none)
        assert (group is None) == (comm.rank == 0)
        if group is not None:
            assert group.size == comm.size - 1 and group.total(1.0) == comm.size - 1


def test_groups_in_groups_beside_each_other_with_messages_and_gradients(comm):
    """Other groups are elsewhere at the time, and one has more to do."""
    half = comm.split(comm.rank % 2, -comm.rank)
    quarter, twin = half.split(half.rank // 2), half.duplicate()
    rng = np.random.default_rng(comm.rank)
    for _ in range(1 + comm.rank % 2):
        for group in (half, quarter, twin):
            check_adjoint(lambda x, g=group: AllReduce.apply(x, comm=g), [rng.standard_normal(3)], group, rng)
            check_adjoint(lambda x, g=group: SendRecv.apply(x, comm=g), [rng.standard_normal(3)], group, rng)
            check_adjoint(lambda x, g=group: Scan.apply(x, comm=g, reverse=True), [rng.standard_normal(3)], group, rng)

            def ring(x, g=group):
                Send.apply(x, comm=g, dest=(g.rank + 1) % g.size)
                return Recv.apply(comm=g, source=(g.rank - 1) % g.size)

            check_adjoint(ring, [rng.standard_normal(3)], group, rng)
    assert comm.total(1.0) == comm.size
    for group in (quarter, twin, half):
        group.free()


def test_local_devices_split_by_a_list():
    comm = Devices(5)
    groups = comm.split([1, None, 0, 1, 1])
    assert groups[1] is None and groups[0] is groups[3] is groups[4] and groups[0].size == 3 and groups[2].size == 1
    assert comm.split(3).size == 5 and comm.split(None) is None
    assert comm.node().size == 5 and comm.leaders().size == 1 and comm.node() is comm.node()


def test_wrong_colors_are_an_error_everywhere(comm):
    for color, key, text in (("red", 0, "color of rank 0 is 'red', not an integer or None"), (0, 0.5, "key of rank 0 is 0.5")):
        raises(CollectiveError, text, lambda: comm.split(*((color, key) if comm.rank == 0 else (1, 1))))
    assert comm.total(1.0) == comm.size


def test_mistakes_inside_a_group(comm):
    group = comm.split(comm.rank // 2)
    raises(CollectiveError, "invalid input|different", lambda: group.broadcast(np.ones(2), root=2 + group.rank))
    assert group.total(1.0) == group.size


def test_a_rank_that_leaves_its_group():
    def body(comm):
        group = comm.split(comm.rank // 2)
        if comm.rank != 3:
            group.barrier()

    raises(RankFailure, "rank 2 waits in barrier.., but rank 3 has returned", run_ranks, 4, body)


def test_node_and_leaders(comm):
    hosts = comm.allgather_object([socket.gethostname()] * len(comm.held))    # mostly one, but tests may run on several
    here = [rank for rank, host in enumerate(hosts) if host == socket.gethostname()]
    assert comm.node() is comm.node() and comm.node().size == len(here)
    assert comm.node().rank == here.index(comm.rank)
    leaders = comm.leaders()
    assert (leaders is None) == (comm.rank != here[0]) and (leaders is None or leaders.size == len(set(hosts)))
    own = comm.split_node()
    assert own is not comm.node() and own.total(1.0) == len(here)
    own.free()


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int64", "bool", "complex128"])
def test_sums_in_two_levels(comm, dtype):
    for share in (1, 2, 3):
        node = comm.split(comm.rank // share)
        two = Hierarchical(comm, node)
        x = (np.arange(7) % 3 + comm.rank).astype(dtype)
        for op in ("sum", "prod") + (("max", "min") if dtype != "complex128" else ()):
            for got in (two.allreduce([x], op)[0], two.start_allreduce([x], op).wait()[0]):
                expected = comm.allreduce([x], op)[0]
                assert got.dtype == x.dtype
                np.testing.assert_allclose(got, expected, rtol=1e-3 if dtype == "float16" else 1e-6)
                same = comm.allgather([np.frombuffer(got.tobytes(), np.uint8)[None]])[0]
                assert (same == same[0]).all()
        if dtype not in ("bool",):
            y, z = x.copy(), x.copy()
            handle = two.start_sum_in_place([y])
            two.sum_in_place([z])
            handle.wait()
            assert y.tolist() == z.tolist() == comm.allreduce([x])[0].tolist() and handle.done()
        raises(CollectiveError, "op 'median'", two.allreduce, [x], "median")
        assert two.total(1.0) == comm.size and two.split(0).size == comm.size
        two.free()
        node.free()


def test_the_choice_is_the_same_everywhere(comm):
    chosen = choose_allreduce(comm, 1000, repeats=2)
    assert set(comm.allgather_object([type(chosen).__name__])) <= {type(chosen).__name__}
    assert chosen.allreduce([np.ones(2)])[0].tolist() == [comm.size] * 2


def gradients(comm, rows, wrap):
    net = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2)).double()
    with ag.no_grad():
        for number, p in enumerate(net.parameters()):
            p.copy_(ag.from_numpy(np.random.default_rng(number).standard_normal(p.shape)))
    model = wrap(net)
    x = np.random.default_rng(1).standard_normal((12, 3))[rows]
    F.mse_loss(model(ag.from_numpy(x)), ag.from_numpy(x[:, :2] ** 2)).backward()
    return [p.grad.numpy() for p in net.parameters()]


@pytest.mark.parametrize("kind", ["group", "two levels"])
def test_data_parallel_on_a_part_of_the_ranks(comm, kind):
    group = comm.split(comm.rank % 2)
    used = Hierarchical(group, group.split(group.rank // 2)) if kind == "two levels" else group
    rows = np.array_split(np.arange(12), group.size)[group.rank]
    for got, expected in zip(gradients(group, rows, lambda net: DataParallel(net, comm=used)),
                             gradients(group, slice(None), lambda net: net), strict=True):
        np.testing.assert_allclose(got, expected, rtol=1e-10, atol=1e-12)


@pytest.mark.mpi
def test_the_users_communicators():
    from mpi4py import MPI
    base = MPI.COMM_WORLD.Split(MPI.COMM_WORLD.rank % 2)
    comm = from_mpi(base)
    assert comm.size == base.size and comm.comm != base
    request = base.Irecv(np.empty(1), MPI.ANY_SOURCE, MPI.ANY_TAG)
    comm.shift([np.ones(3)])
    comm.send(np.ones(1), comm.rank)
    comm.recv(comm.rank)
    assert not request.Test()
    request.Cancel()
    request.Wait()
    x = ag.ones(2, requires_grad=True)
    y = AllReduce.apply(x, comm=base)                # a duplicate, made once
    y.sum().backward()
    assert x.grad.tolist() == [base.size] * 2 and communicator(base) is communicator(base)
    assert y.grad_fn.settings["comm"] is communicator(base)
    rows = np.array_split(np.arange(12), base.size)[base.rank]
    for got, expected in zip(gradients(comm, rows, lambda net: DataParallel(net, comm=base)),
                             gradients(comm, slice(None), lambda net: net), strict=True):
        np.testing.assert_allclose(got, expected, rtol=1e-10, atol=1e-12)
    comm.free()
    base.Free()                                      # and with it the duplicate
    assert communicator(MPI.COMM_WORLD) is communicator(None) and communicator(None).split(MPI.UNDEFINED) is None
    raises(TypeError, "requires an mpi4py communicator, not int", from_mpi, 3)
    for make in (communicator, from_mpi):
        raises(TypeError, "is no communicator of this rank", make, MPI.COMM_NULL)
    if MPI.COMM_WORLD.size > 1:
        half = MPI.COMM_WORLD.Split(MPI.COMM_WORLD.rank % 2)
        between = half.Create_intercomm(0, MPI.COMM_WORLD, 1 - MPI.COMM_WORLD.rank % 2)
        for make in (communicator, from_mpi):
            raises(TypeError, "is no communicator of this rank", make, between)


@pytest.mark.mpi
def test_what_was_freed_says_so():
    group = communicator(None).split(0)
    within = group.node()
    group.free()
    group.free()
    for comm in (group, within):
        for use in (comm.barrier, lambda comm=comm: AllReduce.apply(ag.ones(2), comm=comm), lambda comm=comm: comm.split(0),
                    lambda comm=comm: comm.send(np.ones(1), 0)):
            raises(RuntimeError, r"was freed with free\(\)", use)
