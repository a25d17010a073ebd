"""Prediction: the player on graphs with known answers, costs against published formulas and simulations, and bad input."""

import json
import math
import shutil
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from raised import raises

import autograd as ag
import dparallel
from autograd import nn, optim
from dparallel import DataParallel, run_ranks
from dparallel.observe.prediction.hook_programs import builtin_programs
from dparallel.observe.prediction.measure_step import StepRecorder
from dparallel.observe.prediction.network import Cost, Point, contention, interpolated, quantity, simulated
from dparallel.observe.prediction.predict import memory_of, predict_one
from dparallel.observe.prediction.quiet import quietest
from dparallel.observe.prediction.schedules import ALGORITHMS, chosen, schedule
from dparallel.observe.prediction.simulate import bucket_bytes, bucket_groups, expected_maximum, graph_of, play
from dparallel.observe.prediction.steps import ParameterTrace, SyncTrace, Task
from dparallel.prediction import HookProgram, Network, Option, StepTrace
from dparallel.sharding.memory import model_memory

BENCH = Path(__file__).parents[2] / "bench"
MIB = 1 << 20


def trace_of(sizes=(1000, 2000, 3000), backward=0.03, **values):
    """Layers whose gradients arrive from the last to the first at even times."""
    count = len(sizes)
    parameters = [ParameterTrace(f"{i}.weight", (n,), "float32", 0.01 * i / count, backward * (count - i) / count)
                  for i, n in enumerate(sizes)]
    known = {"ranks": 2, "ranks_per_host": 2, "forward": 0.01, "backward": backward, "finish": 0.0, "after": 0.004, "optimizer": 0.002,
             "measured": 0.05, "spread": 0.0, "jitter": 0.0, "quiet": 9, "steps": 9, "passes": 1, "parameters": parameters,
             "units": [[p.name] for p in parameters], "optimizer_bytes": 8000}
    return StepTrace(**{**known, **values})


def fixed(seconds, cpu=0.0):
    return lambda collective, nbytes: Cost(seconds, seconds, seconds, cpu, "measured")


COMPUTE, START, WAIT = (lambda s: Task("compute", "", s)), (lambda n: Task("start", n, 0.0, "allreduce", 8)), (lambda n: Task("wait", n))
GRAPHS = {                                               # tasks, seconds of a collective, its share of the processor, the step
    "hidden": ([START("a"), COMPUTE(5), WAIT("a")], 3, 0.0, 5),
    "exposed": ([START("a"), COMPUTE(2), WAIT("a")], 3, 0.0, 3),
    "one after another": ([START("a"), START("b"), COMPUTE(1), WAIT("b"), WAIT("a")], 3, 0.0, 6),
    "departs later than the one before ends": ([START("a"), COMPUTE(5), START("b"), WAIT("a"), WAIT("b")], 3, 0.0, 8),
    "all work of the processor": ([START("a"), COMPUTE(5), WAIT("a")], 3, 1.0, 8),
    "half of it": ([START("a"), COMPUTE(5), WAIT("a")], 3, 0.5, 6.5),
    "half, and exposed": ([START("a"), COMPUTE(1), WAIT("a")], 3, 0.5, 3),
    "called": ([COMPUTE(1), Task("call", "a", 0.0, "allreduce", 8), COMPUTE(1)], 3, 0.0, 5),
    "nobody waits": ([START("a"), COMPUTE(1)], 3, 0.0, 3),
    "nothing": ([], 3, 0.0, 0)}


@pytest.mark.parametrize("name", GRAPHS)
def test_known_graphs(name):
    tasks, seconds, cpu, step = GRAPHS[name]
    played = play(tasks, fixed(seconds, cpu))
    assert played.seconds == pytest.approx(step) and played.compute == sum(t.seconds for t in tasks)
    assert played.exposed == pytest.approx(step - played.compute)
    for before, after in zip(played.flights, played.flights[1:]):
        assert before.departed <= before.started <= before.ended <= after.started + 1e-12


def test_a_wait_without_a_start_is_an_error():
    raises(ValueError, "'b', which was not started", lambda: play([START("a"), WAIT("b")], fixed(1)))


# --- costs ----------------------------------------------------------------------------------------------------------------

ALPHA, RATE, ADD = 1e-5, 1e9, 4e9
FLAT = Network(latency=ALPHA, bandwidth=RATE, reduction=ADD, overhead=0.0, call=0.0, mpi="mpich")


def total(collective, ranks, n, algorithm, network=FLAT):
    return sum(network.round_seconds(r, ranks) for r in schedule(collective, ranks, n, algorithm))


@pytest.mark.parametrize("p", [2, 4, 8, 64, 1024])
def test_schedules_are_the_published_formulas(p):
    """Thakur, Rabenseifner and Gropp 2005: alpha, beta and gamma terms for powers of two."""
    n, lg, a, b, g = 1e6, math.log2(p), ALPHA, 1 / RATE, 1 / ADD
    formulas = {
        ("allreduce", "recursive doubling"): lg * (a + n * b + n * g),
        ("allreduce", "rabenseifner"): 2 * lg * a + 2 * (p - 1) / p * n * b + (p - 1) / p * n * g,
        ("allreduce", "ring"): 2 * (p - 1) * a + 2 * (p - 1) / p * n * b + (p - 1) / p * n * g,
        ("reduce_scatter", "recursive halving"): lg * a + (p - 1) / p * n * b + (p - 1) / p * n * g,
        ("reduce_scatter", "pairwise"): (p - 1) * a + (p - 1) / p * n * b + (p - 1) / p * n * g,
        ("reduce_scatter", "tree and scatter"): lg * (a + n * b + n * g) + a + (p - 1) / p * n * b,
        ("allgather", "recursive doubling"): lg * a + (p - 1) / p * n * b,
        ("allgather", "ring"): (p - 1) * a + (p - 1) / p * n * b,
        ("allgather", "linear"): a + (p - 1) / p * n * b,
        ("alltoall", "linear"): a + (p - 1) / p * n * b,
        ("alltoall", "pairwise"): (p - 1) * a + (p - 1) / p * n * b,
        ("broadcast", "binomial"): lg * (a + n * b)}
    assert set(formulas) == {(c, algorithm) for c, algorithms in ALGORITHMS.items() for algorithm in algorithms}
    for (collective, algorithm), seconds in formulas.items():
        assert total(collective, p, n, algorithm) == pytest.approx(seconds), algorithm


def test_other_numbers_of_ranks():
    n, a, b, g = 1e6, ALPHA, 1 / RATE, 1 / ADD
    assert total("allreduce", 6, n, "recursive doubling") == pytest.approx(2 * (a + n * b + n * g) + (a + n * b + n * g) + a + n * b)
    assert total("allgather", 6, n, "recursive doubling") == pytest.approx(3 * a + 5 / 6 * n * b)
    assert total("broadcast", 5, n, "binomial") == pytest.approx(3 * (a + n * b))
    assert schedule("allreduce", 1, n, "ring") == []
    for collective, algorithms in ALGORITHMS.items():
        for algorithm in algorithms:
            for p in (3, 7, 100, 1000):
                assert total(collective, p, n, algorithm) > 0


def test_ranks_of_a_host_share_its_link():
    network = replace(FLAT, ranks_per_host=4, local_latency=0.0, local_bandwidth=1e12, reduction=1e30)
    flat = replace(FLAT, reduction=1e30)
    n = 1e6
    assert total("allreduce", 16, n, "recursive doubling", network) == pytest.approx(2 * (ALPHA + 4 * n / RATE), rel=1e-3)
    assert total("allreduce", 16, n, "ring", network) == pytest.approx(total("allreduce", 16, n, "ring", flat), rel=1e-3)
    assert total("allreduce", 4, n, "ring", network) < 1e-4


def test_measured_tables_are_used_where_they_were_measured():
    points = [Point(1000, 1e-5, 0.9e-5, 1.2e-5, 0.5), Point(1e6, 1e-3, 0.9e-3, 1.3e-3, 1.0)]
    network = replace(FLAT, ranks_per_host=2, measured={"allreduce": {2: points}})
    cost = network.cost("allreduce", 2, 500500)
    assert cost.seconds == pytest.approx(5.05e-4) and cost.cpu == pytest.approx(0.75) and cost.source == "measured"
    assert cost.low < cost.seconds < cost.high
    assert network.cost("allreduce", 2, 2e6).seconds == pytest.approx(2e-3, rel=0.01)       # beyond it, as it goes on
    assert network.cost("allreduce", 2, 1).seconds == 1e-5                                  # below it, constant
    hosts = replace(FLAT, measured={"allreduce": {4: [Point(n, 2 * FLAT.cost("allreduce", 4, n).seconds, 0, 0) for n in (1e5, 1e6)]}})
    assert hosts.cost("allreduce", 4, 1e6).source == "measured"
    scaled, plain = hosts.cost("allreduce", 64, 1e6), FLAT.cost("allreduce", 64, 1e6)
    assert scaled.source == "extrapolated" and scaled.seconds == pytest.approx(2 * plain.seconds)   # calibrated


@pytest.mark.parametrize("collective", ALGORITHMS)
@pytest.mark.parametrize("topology", ["fat-tree", "torus", "unknown"])
def test_costs_rise_with_bytes_and_with_worse_networks(collective, topology):
    network = replace(FLAT, topology=topology)
    for ranks in (2, 5, 64, 300, 4096, 20000):
        costs = [network.cost(collective, ranks, n) for n in (1, 1e3, 1e5, 1e7, 1e9)]
        assert all(0 < c.low <= c.seconds <= c.high < math.inf and 0 <= c.cpu <= 1 for c in costs)
        assert costs[-1].seconds > costs[1].seconds
        worse = replace(network, latency=2 * ALPHA, bandwidth=RATE / 2)
        assert worse.cost(collective, ranks, 1e7).seconds == pytest.approx(2 * costs[3].seconds, rel=0.6)
        assert worse.cost(collective, ranks, 1e7).seconds > costs[3].seconds
    assert network.cost(collective, 1, 1e6).seconds == 0


def test_algorithms_by_size():
    assert chosen("allreduce", 8, 1000) == "recursive doubling" and chosen("allreduce", 8, 1e6) == "rabenseifner"
    assert chosen("reduce_scatter", 8, 1e6) == "tree and scatter" and chosen("reduce_scatter", 8, 1e6, "mpich") == "pairwise"
    assert {c: chosen(c, 8, 1e6, "nccl") for c in ("allreduce", "allgather", "alltoall")} == {
        "allreduce": "ring", "allgather": "ring", "alltoall": "pairwise"}
    assert [chosen("alltoall", 8, 1e6, mpi) for mpi in ("openmpi", "mpich")] == ["linear", "pairwise"]
    assert [chosen("allgather", 8, 1e6, mpi) for mpi in ("openmpi", "mpich")] == ["linear", "ring"]
    raises(ValueError, "'alltwo' must be one of allreduce", schedule, "alltwo", 2, 8, "ring")
    raises(ValueError, "'snake' of allreduce must be one of", schedule, "allreduce", 2, 8, "snake")


# --- simulations ----------------------------------------------------------------------------------------------------------

def test_the_simulated_table_is_whole():
    table = simulated()["ratios"]
    assert set(table) == {"fat-tree", "torus"}
    for topology, algorithms in table.items():
        for algorithm, by_hosts in algorithms.items():
            assert {"64"} if algorithm == "ring" else {"64", "512", "4096"} <= set(by_hosts), (topology, algorithm)
            assert all(0.2 < ratio < 20 for points in by_hosts.values() for _, ratio in points)


def test_formulas_are_named_only_where_simulations_agree():
    for topology, algorithms in simulated()["ratios"].items():
        for algorithm, by_hosts in algorithms.items():
            for hosts, points in by_hosts.items():
                for size, ratio in points:
                    said, low, high, source = contention(topology, algorithm, int(hosts), size)
                    assert said == pytest.approx(ratio) and low == high == 1.0
                    assert source == ("formula" if abs(ratio - 1) <= 0.05 else "simulated")
    assert contention("fat-tree", "rabenseifner", 4096, 1100)[3] == "formula"        # large buckets on full bisection
    assert contention("torus", "recursive doubling", 4096, 1100)[3] == "simulated"
    assert contention("torus", "rabenseifner", 32768, 1100)[3] == "extrapolated"     # beyond what was simulated
    ratio, _, high, source = contention("unknown", "recursive doubling", 4096, 1100)
    assert source == "described" and ratio * high == pytest.approx(contention("torus", "recursive doubling", 4096, 1100)[0])


@pytest.mark.parametrize("case", simulated()["between"], ids=lambda c: "-".join(map(str, c[:4])))
def test_between_the_simulated_points(case):
    topology, hosts, algorithm, _, size, ratio = case
    assert contention(topology, algorithm, hosts, size)[0] == pytest.approx(ratio, rel=0.1)


@pytest.mark.skipif(not (shutil.which("smpirun") and shutil.which("smpicc")), reason="needs SimGrid's smpirun and smpicc")
def test_the_table_is_what_simgrid_says():
    sys.path.insert(0, str(BENCH))
    import simulated_network
    with tempfile.TemporaryDirectory() as folder:
        simulator = simulated_network.Simulator(Path(folder), "torus", 64)
        network = simulated_network.network_of("torus", [tuple(p) for p in simulated()["pairs"]["torus"]])
        size = 1 << 20
        found = simulated_network.ratio(simulator, network, "recursive doubling", size)
    assert found == pytest.approx(contention("torus", "recursive doubling", 64, size / (network.latency * network.bandwidth))[0], rel=0.02)


# --- descriptions ---------------------------------------------------------------------------------------------------------

def test_descriptions():
    network = Network.parse("latency=10us, bandwidth=25Gbit/s,ranks_per_host=8,topology=fat-tree,reduction=8GB/s")
    assert network.latency == pytest.approx(1e-5) and network.bandwidth == 25e9 / 8 and network.ranks_per_host == 8
    assert Network.from_dict(json.loads(json.dumps(network.as_dict()))) == network
    measured = replace(network, measured={"allreduce": {2: [Point(8, 1e-6, 1e-6, 2e-6, 1.0)]}}, exchange=[(8.0, 1e-6)])
    again = Network.from_dict(json.loads(json.dumps(measured.as_dict())))
    assert again.measured == measured.measured and again.cost("allreduce", 2, 8) == measured.cost("allreduce", 2, 8)
    assert Network.parse("") == Network() and quantity("1.5ms") == 1.5e-3


BAD = {"latency=10Gbit/s": "units s, ms", "bandwidth=10us": "B/s", "bandwidth=0": "no message would ever arrive",
       "latency=-1us": "-1us", "speed=4": "'speed' not known; a description has assumed, bandwidth", "topology=ring": "must be one of fat-tree",
       "fast": "neither NAME=VALUE", "ranks_per_host=0": "at least 1", "mpi=mvapich": "must be one of openmpi, mpich, nccl", "missing.json": "missing.json",
       "ranks_per_host=two": "at least 1", "latency=fast": "'fast'"}


BAD_FILES = {'[1]': "a JSON object", '5': "a JSON object", '{"exchange": 5}': "a list of", '{"exchange": [[8]]}': "not enough values",
             '{"exchange": [[9, 1], [8, 1]]}': "bytes must rise", '{"measured": {"sum": {"two": [[8, 1, 1, 1]]}}}': "'two'",
             '{"measured": {"sums": {}}}': "'sums' is none of", '{"measured": {"sum": {"2": []}}}': "points of rising", '{"assumed": 5}': "texts",
             '{"latency": null}': "None", '{"calls": {"sum": "fast"}}': "'fast'", '{"ranks_per_host": "8"}': "'8'", '{': "Expecting",
             '{"bandwidth": NaN}': "nan", '{"speed": 1}': "'speed' not known"}


def test_bad_network_files(tmp_path):
    for number, (content, said) in enumerate(BAD_FILES.items()):
        path = tmp_path / f"{number}.json"
        path.write_text(content)
        with pytest.raises(ValueError, match=said) as error:
            Network.parse(str(path))
        assert str(path) in str(error.value)
    (tmp_path / "bytes.json").write_bytes(b"\xff\xfe")
    raises(ValueError, r"bytes\.json", lambda: Network.parse(str(tmp_path / "bytes.json")))
    raises(ValueError, "latency is there twice", Network.parse, "latency=1us,latency=2us")


@pytest.mark.parametrize("text", BAD)
def test_bad_descriptions(text):
    raises(ValueError, BAD[text], Network.parse, text)


# --- graphs of steps ------------------------------------------------------------------------------------------------------

def test_a_step_on_one_rank_is_its_computation():
    trace = trace_of()
    for option in (Option(1), Option(1, shard="parameters"), Option(1, 1.0, "fp16")):
        assert play(graph_of(trace, option), fixed(9)).seconds == pytest.approx(trace.compute)


def test_buckets_leave_when_their_last_gradient_is_there():
    trace = trace_of(sizes=(MIB, MIB, MIB), backward=0.03)                # gradients of 4 MiB at 10, 20, 30 ms
    tasks = graph_of(trace, Option(2, 4.0))
    played = play(tasks, fixed(0.004))
    assert [f.departed for f in played.flights] == pytest.approx([0.02, 0.03, 0.04])
    assert played.seconds == pytest.approx(0.01 + 0.03 + 0.004 + 0.004) and played.exposed == pytest.approx(0.004)
    one = play(graph_of(trace, Option(2, 100.0)), fixed(0.012))
    assert [f.departed for f in one.flights] == pytest.approx([0.02, 0.04])       # the first holds 1 MiB at most: it ends with its first
    late = play(graph_of(replace(trace, parameters=[replace(p, ready=0.03) for p in trace.parameters]), Option(2, 4.0)), fixed(0.004))
    assert late.exposed == pytest.approx(0.012)                               # nothing hides what leaves at the end


def test_an_unused_parameter_leaves_at_the_end():
    trace = trace_of(sizes=(MIB, MIB, MIB))
    unused = replace(trace, parameters=[*trace.parameters[:2], replace(trace.parameters[2], ready=0.0)])
    groups = bucket_groups(unused, 4.0)
    assert [g[0].name for g in groups] == ["1.weight", "0.weight", "2.weight"]
    assert play(graph_of(unused, Option(2, 4.0)), fixed(0.001)).flights[-1].departed == pytest.approx(0.04)


def test_synchronised_batch_norm():
    """Its collectives, in all kinds of steps: what they send, and when."""
    syncs = [SyncTrace(8, 4, 0.0025), SyncTrace(16, 4, 0.006)]
    trace = trace_of(syncs=syncs)                            # used at 0, 3.3, 6.7 ms; gradients at 30, 20, 10 ms
    for option in (Option(4), Option(4, shard="optimizer"), Option(4, shard="parameters"), Option(4, None, "mine")):
        programs = {"mine": HookProgram(lambda state, bucket: bucket.comm.start_allreduce([bucket.array]))}
        sent = {f.name: f for f in play(graph_of(trace, option, programs), fixed(1e-9)).flights if "header" not in f.name}
        assert [sent[f"statistics {i}"].nbytes for i in (0, 1)] == [4 * 8 * 17, 4 * 8 * 33]
        assert [sent[f"slopes {i}"].nbytes for i in (0, 1)] == [3 * 8 * 4, 3 * 16 * 4]
        assert [sent[f"statistics {i}"].departed for i in (0, 1)] == pytest.approx([0.0025, 0.006], abs=1e-6)
        assert [sent[f"slopes {i}"].departed for i in (1, 0)] == pytest.approx([0.02, 0.03], abs=1e-6)
        if option.hook or option.shard == "optimizer":      # ranks meet where these leave: at the end
            assert min(f.departed for n, f in sent.items() if n.startswith(("bucket", "unit"))) >= 0.04
    twice = replace(trace, passes=2, syncs=[*syncs, *(s._replace(used=s.used + 0.003) for s in syncs)])
    assert sum("slopes" in f.name and "header" not in f.name for f in play(graph_of(twice, Option(4)), fixed(1e-9)).flights) == 4

    def body(comm):
        module = nn.Sequential(nn.Linear(6, 8), dparallel.SyncBatchNorm(8), nn.Linear(8, 16), nn.BatchNorm1d(16))
        model = DataParallel(dparallel.SyncBatchNorm.convert_sync_batchnorm(module), comm=comm)
        optimizer = optim.SGD(model.parameters(), lr=0.1)
        recorder = StepRecorder(model, 6, 2)
        while not recorder.done:
            optimizer.zero_grad()
            model(ag.randn(4, 6)).square().mean().backward()
            optimizer.step()
        return recorder.trace()

    for ranks in (1, 2):
        found = run_ranks(ranks, body)[0]
        assert [s[:2] for s in found.syncs] == [(8, 4), (16, 4)] and 0 < found.syncs[0].used < found.syncs[1].used < found.forward * 1.5
        assert any("SyncBatchNorm" in note for note in found.notes) == (ranks == 1)
        assert StepTrace.from_dict(json.loads(json.dumps(found.as_dict()))).syncs == found.syncs


@pytest.mark.parametrize("shard", ["optimizer", "gradients", "parameters"])
@pytest.mark.parametrize("ranks", [2, 3, 8])
def test_sharded_steps(shard, ranks):
    for sizes in ((1000,), (1000, 2000)):                    # fewer units than may be under way
        assert play(graph_of(trace_of(sizes=sizes), Option(ranks, shard=shard)), fixed(1e-9)).flights
    trace = trace_of()
    played = play(graph_of(trace, Option(ranks, shard=shard)), fixed(1e-9))
    assert played.compute == pytest.approx(trace.compute - trace.optimizer * (1 - 1 / ranks))     # the optimiser has a share
    sent = {c: sum(f.nbytes for f in played.flights if f.collective == c) for c in ("reduce_scatter", "allgather")}
    agreements = sum(f.nbytes for f in played.flights if "agreement" in f.name)
    assert sent["reduce_scatter"] == trace.gradient_bytes
    assert sent["allgather"] - agreements == trace.gradient_bytes * (2 if shard == "parameters" else 1)
    assert play(graph_of(trace, Option(ranks, shard=shard)), fixed(0.01)).seconds > played.seconds


def test_each_optimizer_brings_together_what_it_has_changed():
    def values(**known):
        return [f.nbytes for f in play(graph_of(trace_of(**known), Option(4, 0.002, shard="optimizer")), fixed(1e-9)).flights
                if f.name.startswith("values") and "header" not in f.name]

    assert values() == values(optimizers=[["0.weight", "1.weight", "2.weight"]]) == [4000, 8000, 12000]     # three units
    assert values(optimizers=[["0.weight", "2.weight"], ["1.weight", "2.weight"], []]) == [4000, 12000, 8000, 12000]


def test_accumulated_passes():
    trace = trace_of(passes=3)
    assert play(graph_of(trace, Option(2)), fixed(0.001)).seconds > trace.compute
    raises(NotImplementedError, "3 forward passes", lambda: graph_of(trace, Option(2, shard="parameters")))
    assert [f.nbytes for f in play(graph_of(trace_of(passes=3, buffer_bytes=64), Option(2)), fixed(0.001)).flights
            if f.name == "buffers"] == [64] * 3


def test_memory_is_the_librarys():
    trace, net = trace_of(other_bytes=5), [p.named()[1] for p in trace_of().parameters]
    for shard in (None, "optimizer", "gradients", "parameters"):
        found = memory_of(trace, Option(8, shard=shard))
        assert model_memory(net, None, world_size=8, shard=shard).items() - {("optimizer state", 0)} <= found.items()
        assert found["optimizer state"] == (1000 if shard else 8000) and found["activations and the rest"] == 5
    assert memory_of(trace, Option(1, shard="parameters")) == memory_of(trace, Option(1))


# --- comm hooks -----------------------------------------------------------------------------------------------------------

def messages(name, group, ranks):
    start, finish = builtin_programs()[name].tasks(group, ranks, "bucket 0")
    return [(t.collective, t.nbytes) for t in [*start, *finish] if t.kind == "start"], start, finish


def test_what_hooks_send():
    group = trace_of(sizes=(4096,)).parameters
    for ranks in (2, 8, 64):
        sent, start, finish = messages("fp16", group, ranks)
        assert sent == [("alltoall", 8192), ("allgather", 8192)]               # in 16 bits
        assert [t.kind for t in start if t.kind in ("start", "wait")] == ["start"]
        assert [t.kind for t in finish if t.kind in ("start", "wait")] == ["wait", "start", "wait"]   # the second at the end
    assert messages("topk", group, 8)[0][0][1] == 4 * messages("topk", group, 2)[0][0][1]     # every rank's own are gathered


def test_a_hook_of_low_rank_sends_less():
    matrix = [ParameterTrace("w", (300, 200), "float32", 0.0, 0.01)]
    sent, *_ = messages("powerSGD", matrix, 4)
    assert sum(n for _, n in sent) < 60000 * 4 / 20


def test_own_hooks():
    def twice(state, bucket):
        handle = bucket.comm.start_allreduce([bucket.array / bucket.comm.size])
        return handle.then(lambda h: bucket.comm.start_allreduce([h.value()[0]]).then(lambda g: g.value()[0]))

    start, finish = HookProgram(twice).tasks(trace_of(sizes=(100,)).parameters, 16, "bucket 0")
    assert [t.nbytes for t in [*start, *finish] if t.kind == "start"] == [400, 400]
    tasks = graph_of(trace_of(), Option(4, None, "mine"), {"mine": HookProgram(twice)})
    assert play(tasks, fixed(0.01)).exposed > 0.01
    with pytest.raises(ValueError, match="'other' must be one of 'mine'"):
        graph_of(trace_of(), Option(4, None, "other"), {"mine": HookProgram(twice)})

    def by_size(state, bucket):
        return bucket.comm.start_allreduce([bucket.array]) if bucket.comm.size > 2 else bucket.array

    with pytest.raises(NotImplementedError, match="by_size behaves differently"):
        HookProgram(by_size).tasks(trace_of().parameters, 4, "bucket 0")


# --- recording ------------------------------------------------------------------------------------------------------------

def net():
    return nn.Sequential(nn.Linear(40, 300), nn.ReLU(), nn.Linear(300, 300), nn.ReLU(), nn.Linear(300, 10))


def training(comm, steps, accumulate=1, cap=0.1, **settings):
    """A model that has been recorded, and its recorder."""
    module = net()
    model = DataParallel(module, comm=comm, bucket_cap_mb=cap, **settings)
    optimizer = optim.Adam(module.parameters())
    recorder = StepRecorder(model, 6, 2)
    x = ag.randn(8, 40)
    for _ in range(steps):
        optimizer.zero_grad()
        for _ in range(accumulate - 1):
            with model.no_sync():
                model(x).square().mean().backward()
        model(x).square().mean().backward()
        optimizer.step()
        if recorder.done:
            break
    return model, recorder, x


@pytest.mark.parametrize("cap", [0.001, 0.1, 0.5, 25.0])
def test_buckets_are_those_that_the_library_makes(cap):
    def body(comm):
        model, recorder, _ = training(comm, 500, cap=cap)
        trace = recorder.trace()
        return ([[p.name for p in group] for group in bucket_groups(trace, cap)], [b.names for b in model._sum.reducer.buckets],
                bucket_bytes(bucket_groups(trace, cap)), [b.buffer.nbytes for b in model._sum.reducer.buckets])

    for predicted, real, sent, buffers in run_ranks(2, body):
        assert predicted == real and sent == buffers


@pytest.mark.parametrize("ranks", [1, 2, 3])
def test_a_recorded_step(ranks):
    def body(comm):
        _, recorder, _ = training(comm, 500)
        trace = recorder.trace()
        recorder.stop()
        return trace

    traces = run_ranks(ranks, body)
    assert all(t == traces[0] for t in traces)                            # the same on all ranks
    trace = traces[0]
    assert trace.ranks == ranks and trace.passes == 1 and len(trace.parameters) == 6 and trace.steps >= 6
    assert trace.forward > 0 and trace.backward > 0 and trace.after >= trace.optimizer > 0
    ready = [p.ready for p in trace.parameters]
    assert max(ready) <= trace.backward and min(ready) > 0 and max(ready[4:]) < min(ready[:2])    # the last layer's come first
    assert trace.parameters[0].used < trace.parameters[4].used
    assert trace.optimizer_bytes >= 2 * trace.gradient_bytes and trace.optimizers == [[p.name for p in trace.parameters]]
    again = StepTrace.from_dict(json.loads(json.dumps(trace.as_dict())))
    assert again.as_dict() == json.loads(json.dumps(trace.as_dict())) | {"parameters": again.as_dict()["parameters"]}


def test_recording_changes_nothing():
    def body(comm, watched):
        ag.manual_seed(0)
        module = net()
        model = DataParallel(module, comm=comm, bucket_cap_mb=0.1)
        optimizer = optim.SGD(module.parameters(), lr=0.1)
        recorder = StepRecorder(model, 4, 2) if watched else None
        x = ag.ones(4, 40) * (comm.rank + 1)
        for number in range(9):
            optimizer.zero_grad()
            model(x).square().mean().backward()
            optimizer.step()
            if number == 6 and recorder is not None:
                recorder.stop()
        assert model._sum.reducer.watch is None and type(model._sum.reducer.departure).__name__ == "Departure"
        return [p.array.copy() for p in module.parameters()]

    for rank in range(2):
        for a, b in zip(run_ranks(2, body, True)[rank], run_ranks(2, body, False)[rank]):
            np.testing.assert_array_equal(a, b)


def test_passes_inside_no_sync_are_before_the_summed_one():
    def body(comm):
        return training(comm, 500, accumulate=3)[1].trace()

    assert run_ranks(2, body)[0].passes == 3


def test_evaluation_between_steps_is_no_step():
    def body(comm):
        model, recorder, x = training(comm, 3)
        before = recorder.count
        with ag.no_grad():
            model(x)
        return recorder.count - before

    assert run_ranks(2, body) == [0, 0]


def test_what_cannot_be_traced():
    def refused(make, error, words):
        raises(error, words, lambda: StepRecorder(make(), 6))

    refused(lambda: net(), TypeError, "takes a DataParallel")
    refused(lambda: DataParallel(net(), devices=2), NotImplementedError, "local devices")
    refused(lambda: DataParallel(net(), comm=dparallel.Devices(2)), NotImplementedError, "local devices")
    refused(lambda: DataParallel(net(), comm=dparallel.Devices(1), batch="own", reproducible=4), NotImplementedError, "reproducible")
    model = DataParallel(net(), comm=dparallel.Devices(1), batch="own")
    raises(ValueError, "steps=1 must be a whole number of at least 2", StepRecorder, model, 1)
    recorder = StepRecorder(model, 6)
    raises(RuntimeError, "0 complete training steps were recorded", recorder.trace)


def test_quiet_steps_are_taken():
    seconds, lost = [1.0] * 20 + [9.0] * 5, [0.0] * 20 + [0.5] * 5
    assert list(quietest(seconds, lost)[0]) == list(range(20)) and quietest(seconds, lost)[1]
    kept, quiet = quietest([1.0] * 9, [0.9, 0.1, 0.5, 0.2, 0.9, 0.9, 0.3, 0.9, 0.9])
    assert sorted(kept) == [1, 3, 6] and not quiet


# --- predictions ----------------------------------------------------------------------------------------------------------

def test_predict_from_a_model():
    def body(comm):
        module = net()
        model = DataParallel(module, comm=comm)
        optimizer = optim.SGD(module.parameters(), lr=0.1)

        def step():
            optimizer.zero_grad()
            model(ag.ones(4, 40)).square().mean().backward()
            optimizer.step()

        found = dparallel.predict(model, step, sizes=[1, comm.size, 5, 64], steps=4, warmup=2, hooks=["", "fp16"])
        assert model._sum.reducer is None or model._sum.reducer.watch is None
        return found

    for ranks in (1, 2):
        found = run_ranks(ranks, body)[0]
        assert found.sizes == sorted({1, ranks, 5, 64})
        for point in found.points:
            assert 0 <= point.low < point.seconds < point.high and 0 < point.efficiency <= 1.0001
            assert point.compute <= point.seconds * (1 + 1e-9) and point.total_memory > 0
        assert "the network between hosts" in str(found) and "ranks" in str(found) and found.recommendation()


CHEAP, SLOW = (Network.parse(f"latency=5us,bandwidth={rate},topology=fat-tree") for rate in ("100Gbit/s", "100Mbit/s"))


def test_predictions_and_advice(tmp_path):
    trace = trace_of(sizes=(4 * MIB, 4 * MIB), spread=0.01, jitter=0.01)
    trace.save(tmp_path / "trace.json")
    fast = dparallel.predict(trace, sizes=[1, 8, 64], network=CHEAP)
    slow = dparallel.predict(tmp_path / "trace.json", sizes=[8, 64], network=SLOW)
    for ranks in (8, 64):
        assert slow.best(ranks).seconds > fast.best(ranks).seconds and slow.default(ranks).seconds >= slow.best(ranks).seconds
        assert slow.best(ranks).efficiency < 0.3 < fast.best(ranks).efficiency
    assert "Up to 64 ranks pay" in fast.recommendation()[0] and "At 8 ranks efficiency falls" in slow.recommendation()[0]
    assert slow.best(8).option.hook in ("fp16", "bf16") and any("16" in line for line in slow.recommendation())
    assert fast.points[0].option.ranks == 1 and fast.points[0].exposed == 0
    for point in fast.points[1:]:
        assert set(point.errors) >= {"the network", "the model", "spread of the traced steps"} and point.errors["the model"] > 0
    for name in ("p.svg", "p.html", "p.json"):
        fast.save(tmp_path / name)
    assert (tmp_path / "p.svg").read_text().startswith("<svg") and "nan" not in (tmp_path / "p.svg").read_text()
    assert json.loads((tmp_path / "p.json").read_text())["points"][0]["option"]["ranks"] == 1
    raises(ValueError, r"\.svg", lambda: fast.save(tmp_path / "p.png"))
    raises(ValueError, "ranks=7 was not predicted", fast.best, 7)


def test_planted_changes_are_seen():
    """What should make a step longer does: more jitter, a slower network, late gradients, ranks that share cores."""
    trace, programs = trace_of(sizes=(4 * MIB, 4 * MIB)), {}
    base = predict_one(trace, CHEAP, Option(64), programs)
    assert predict_one(replace(trace, jitter=0.1), CHEAP, Option(64), programs).seconds == pytest.approx(
        base.seconds + 0.1 * expected_maximum(64) * trace.compute, rel=0.02)
    assert predict_one(trace, SLOW, Option(64), programs).exposed > 10 * base.exposed
    late = replace(trace, parameters=[replace(p, ready=trace.backward) for p in trace.parameters])
    assert predict_one(late, SLOW, Option(64), programs).seconds > predict_one(trace, SLOW, Option(64), programs).seconds
    crowded = replace(CHEAP, ranks_per_host=8, cores_per_host=2)
    assert predict_one(trace, crowded, Option(64), programs).compute == pytest.approx(4 * base.compute)
    wide = predict_one(replace(trace, spread=0.3), CHEAP, Option(64), programs)
    assert wide.error > 3 * base.error and wide.errors["spread of the traced steps"] > 0.25


def test_the_slowest_of_many():
    rng = np.random.default_rng(0)
    for n in (2, 8, 64, 512):
        assert expected_maximum(n) == pytest.approx(rng.standard_normal((4000, n)).max(1).mean(), rel=0.03)
    assert expected_maximum(1) == 0.0


def test_bad_questions():
    trace = trace_of()
    for sizes, error in (([], ValueError), ([0], ValueError), ("8", TypeError), (8, TypeError), ([2.5], TypeError)):
        raises(error, "sizes=", dparallel.predict, trace, sizes=sizes)
    raises(ValueError, "least_efficiency=2", dparallel.predict, trace, least_efficiency=2)
    raises(TypeError, "network= is a Network", dparallel.predict, trace, network=5)
    with pytest.raises(TypeError, match="step is a function"):
        dparallel.predict(DataParallel(net(), comm=dparallel.Devices(1), batch="own"))
    with pytest.raises(ValueError, match="no backward pass"):
        dparallel.predict(DataParallel(net(), comm=dparallel.Devices(1), batch="own"), lambda: None)
    for nothing in ({"hooks": []}, {"shards": []}, {"hooks": ["fp16"], "shards": ["optimizer"]}):
        raises(ValueError, "leave nothing to predict for 8, 64, 512 ranks", lambda: dparallel.predict(trace, **nothing))
    raises(ValueError, "3 forward passes", lambda: dparallel.predict(trace_of(passes=3), shards=["parameters"], hooks=[""]))
    raises(ValueError, "bucket_cap_mb=-1", dparallel.predict, trace, bucket_cap_mb=[-1])
    raises(ValueError, "hook='zip' must be one of", dparallel.predict, trace, hooks=["zip"])
    raises(ValueError, "shard='half' must be one of", dparallel.predict, trace, shards=["half"])
    raises(NotImplementedError, "hook='fp16' with shard='gradients'", Option, 2, None, "fp16", "gradients")
    raises(ValueError, "version 2 is needed", StepTrace.from_dict, {"version": 0})


def test_bad_traces(tmp_path):
    for content in ("{", "5", "{}", '{"version": 2}', '{"version": 2, "parameters": [], "syncs": [], "speed": 1}'):
        (tmp_path / "trace.json").write_text(content)
        raises(ValueError, r"trace\.json' is not a step trace", lambda: dparallel.predict(tmp_path / "trace.json"))


def test_tables_between_points():
    assert [interpolated([(1.0, 10.0), (3.0, 30.0)], x) for x in (0.5, 1, 2, 3, 4)] == [10, 10, 20, 30, 40]
    assert interpolated([(1.0, 10.0)], 7) == 10


# --- a slow network ---------------------------------------------------------------------------------------------------------

def test_a_slow_network_takes_its_time():
    def body(comm):
        model = DataParallel(net(), comm=comm, bucket_cap_mb=0.1)
        x, times = ag.ones(2, 40), []
        for number in range(4):
            if number == 2:
                dparallel.testing.slow_network(model, 0.02, 1e9)
            model.zero_grad()
            start = time.perf_counter()
            model(x).square().mean().backward()
            times.append(time.perf_counter() - start)
        return times[3], len(model._sum.reducer.buckets), model.module[0].weight.grad.array.copy()

    (first, buckets, gradient), (second, _, other) = run_ranks(2, body)
    assert buckets > 1 and min(first, second) >= 0.02 * buckets
    np.testing.assert_array_equal(gradient, other)


def test_what_cannot_be_slowed_down():
    def body(comm):
        model = DataParallel(net(), comm=comm)
        raises(ValueError, "bandwidth=0", dparallel.testing.slow_network, model, 0.1, 0)
        model.register_comm_hook(None, dparallel.hooks.fp16_compress_hook)
        raises(NotImplementedError, "HookTransport", dparallel.testing.slow_network, model, 0.1, 1e9)

    run_ranks(2, body)
    raises(TypeError, "requires a DataParallel over several ranks", lambda: dparallel.testing.slow_network(net(), 0.1, 1e9))


def test_the_traced_models_own_bucket_size():
    trace = trace_of(sizes=(MIB, MIB, MIB), cap_mb=4.0)
    assert bucket_groups(trace, None) == bucket_groups(trace, 4.0) != bucket_groups(trace, 100.0)

    def body(comm):
        return [training(comm, 500, cap=cap)[1].trace().cap_mb for cap in (None, 0.25)]

    assert run_ranks(2, body) == [[None, 0.25]] * 2


def test_a_described_host_is_not_the_measured_one():
    """Sums of two ranks on one host are no sums of two hosts."""
    from dparallel.observe.prediction.measuring import rising

    points = [Point(1, 2e-6, 1e-6, 3e-6), Point(10, 9e-6, 8e-6, 9e-6), Point(100, 5e-6, 4e-6, 6e-6)]
    assert [p.seconds for p in rising(points)] == pytest.approx([2e-6, 7e-6, 7e-6])
    found = run_ranks(2, lambda comm: dparallel.prediction.measure_network(comm, 1024))[0]
    assert set(found.measured["sum"]) == {2} and found.assumed and found.cores_per_host >= 1 and (found.calls["meet"] > 0 if found.calls else "idle machine" in found.assumed[-1])
    described = run_ranks(2, lambda comm: dparallel.prediction.measure_network(comm, 1024, Network(topology="torus")))[0]
    assert described.topology == "torus" and not any("one host" in line for line in described.assumed) and described.cores_per_host is None
