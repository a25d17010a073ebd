"""Clocks of several hosts: planted offsets and drifts are found, within the bound that is written down."""

import time

import numpy as np
import pytest

from dparallel.observe.timeline.clocks import Clock, Offset, best, compare_clocks


@pytest.mark.parametrize("offset", [0, 123_456_789, -5_000_000_000_000])
def test_the_middle_of_the_fastest_rounds_counts(offset):
    rng = np.random.default_rng(0)
    rounds = []
    for sent in range(0, 200_000_000, 1_000_000):
        there, back = (10_000 + round(float(x)) for x in rng.exponential(20_000, 2))
        rounds.append((sent, sent + there + offset, sent + there + back))
    found = best(rounds)
    assert abs(found.offset - offset) <= found.bound
    assert 10_000 <= found.bound < 14_000                        # half of the fastest round of 200


def test_an_uneven_way_is_within_the_bound():
    """All goes by one way only: what is wrong then is half of the round trip, which is the bound."""
    found = best([(sent, sent + 30_000 + 777, sent + 30_000) for sent in range(0, 10_000_000, 50_000)])
    assert found.bound == 15_000 and found.offset - 777 == 15_000


@pytest.mark.parametrize("drift", [0.0, 80e-6, -1e-3])
def test_offset_and_drift_between_measurements(drift):
    """Of a clock that shows t * (1 + drift) + 1 s at rank 0's time t."""
    true = np.arange(0, 100_000_000_000, 7_777_777_777, dtype=np.int64)
    shown = np.rint(true * (1 + drift)).astype(np.int64) + 1_000_000_000
    measured = [Offset(int(shown[i]), int(true[i] - shown[i]), 40) for i in (2, 6, 10)]
    clock = Clock(measured)
    assert clock.measured and clock.bound == 40
    assert np.abs(clock.aligned(shown) - true).max() <= 2          # before the first and after the last, too
    assert clock.drift == pytest.approx(-drift / (1 + drift), abs=1e-9)


def test_drift_of_one_measurement_is_that_of_the_systems_clocks():
    system = [(0, 10**18), (10_000_000_000, 10**18 + 10_001_000_000)]        # this clock loses 100 ppm
    reference = [(0, 10**18), (10_000_000_000, 10**18 + 10_000_000_000)]
    clock = Clock([Offset(0, 500, 20)], system, reference)
    assert not clock.measured and clock.drift == pytest.approx(1e-4)
    assert clock.aligned(np.array([10_000_000_000])).tolist() == [10_001_000_500]
    assert Clock([Offset(0, 500, 20)]).aligned(np.array([7])).tolist() == [507]


def test_disturbed_measurements_are_not_used():
    clock = Clock([Offset(0, 100, 50), Offset(1000, 90_000, 40_000), Offset(2000, 300, 60)])
    assert clock.aligned(np.array([1000])).tolist() == [1200] and clock.bound == 60


def test_one_host_needs_no_offsets(on_ranks):
    on_ranks(lambda comm: pytest.fail("measured") if compare_clocks(comm) is not None else None)


def test_planted_offsets_of_hosts_are_found(comm):
    """Each second rank is on another host whose clock is hours off and gains 300 ppm."""
    if comm.size == 1:
        return
    begin = time.perf_counter_ns()
    far = comm.rank % 2

    def now():
        true = time.perf_counter_ns()
        return true + far * (3_600_000_000_000 + (true - begin) * 300 // 1_000_000)

    offsets = []
    for _ in range(2):
        found = compare_clocks(comm, now, ("far" if far else "near", "boot"))
        offsets.append(found)
        time.sleep(0.02)
    for offset in offsets:
        true = offset.at - far * 3_600_000_000_000                   # but for the drift since `begin`: of the first rank of a host
        assert abs(offset.offset + far * 3_600_000_000_000) <= offset.bound + far * (abs(true - begin) * 3e-4 + 20_000) + 1
    if not far:
        assert offsets[0].offset == 0 == offsets[0].bound
    clock = Clock(offsets)
    assert clock.bound >= max(offset.bound for offset in offsets if offset.bound <= 4 * min(o.bound for o in offsets) + 1000)
