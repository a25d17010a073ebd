"""What the profiler sees of ranks and replicas: collectives, messages, buckets, and the lanes of local devices."""

import numpy as np
import pytest

import autograd as ag
from autograd import nn
from autograd.profiler import profile
from autograd.spans.spans import FLIGHT, MESSAGE
from dparallel import DataParallel, Devices, run_ranks
from dparallel import functions as F


def test_collectives_and_messages_have_their_bytes():
    def body(comm):
        comm.allreduce([np.ones(8)])
        handle = comm.start_allgather([np.ones(2)])
        handle.wait()
        if comm.rank == 0:
            comm.send(np.ones(4, np.float32), 1)
        else:
            comm.recv(0)

    with profile() as prof:
        run_ranks(2, body)
    events = prof.events()
    by_rank = {}
    assert [e.name for e in events if e.kind == FLIGHT] == 2 * ["dparallel::allgather"]
    events = [e for e in events if e.kind != FLIGHT]
    for event in events:
        by_rank.setdefault(event.thread, []).append((event.name, event.a))
    sent, received = sorted(by_rank.values(), key=lambda found: ("dparallel::send", 16) not in found)
    assert [event for event in sent if event[0] != "dparallel::wait"] == [
        ("dparallel::allreduce", 64), ("dparallel::allgather", 16), ("dparallel::send", 16)]
    assert [event for event in received if event[0] != "dparallel::wait"] == [("dparallel::allreduce", 64), ("dparallel::allgather", 16),
                                                                              ("dparallel::recv", 16)]
    assert any(name == "dparallel::wait" for name, _ in received)
    assert all(e.kind == MESSAGE for e in events if e.name.startswith("dparallel::"))


def test_collectives_with_derivatives_are_linked():
    def body(comm):
        x = ag.ones(2, requires_grad=True)
        F.AllReduce.apply(x, comm=comm).sum().backward()

    with profile() as prof:
        run_ranks(2, body)
    found = [e for e in prof.events() if e.name == "AllReduceBackward"]
    assert len(found) == 2 and all(e.forward.name == "AllReduce" and e.forward.thread == e.thread for e in found)
    inside = [e for e in prof.events() if e.name == "dparallel::allreduce"]
    assert len(inside) == 4


def test_buckets_in_flight():
    def body(comm):
        model = DataParallel(nn.Sequential(nn.Linear(3, 4), nn.Linear(4, 2)), comm=comm)
        for _ in range(2):
            model(ag.ones(2, 3)).sum().backward()

    with profile() as prof:
        run_ranks(2, body)
    flights = [e for e in prof.events() if e.kind == FLIGHT]
    assert len(flights) % 4 == 0 and flights and {e.name for e in flights} >= {"bucket 0"}
    assert all(e.a >= 4 * 26 and e.cpu_time_total > 0 for e in flights if e.name == "bucket 0")


@pytest.mark.parametrize("modules", [False, True])
def test_replicas_on_local_devices(modules):
    model = DataParallel(nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2)), comm=Devices(2))
    model(ag.ones(4, 3)).sum().backward()
    with profile(with_modules=modules, record_shapes=True) as prof:
        model(ag.ones(4, 3)).sum().backward()
    events = prof.events()
    for name, count in (("aten::addmm", 4), ("AddmmBackward0", 4), ("aten::relu", 2)):
        found = [e for e in events if e.name == name]
        assert len(found) == count and len({e.thread for e in found}) == 2
    assert all(e.forward.name == "aten::addmm" for e in events if e.name == "AddmmBackward0")
    assert {str(e.input_shapes[0]) for e in events if e.name == "aten::addmm"} == {"[2, 3]", "[2, 4]"}
    if modules:
        lanes = {e.name for e in events if e.name.startswith("lane ")}
        assert lanes == {"lane 0", "lane 1"}
