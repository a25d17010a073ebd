"""Blame for waits: hand-made runs with answers to the nanosecond. Planted trainings: tests/launch/test_planted.py."""

import numpy as np
import pytest

from autograd.spans.spans import COUNTER, FLIGHT, MESSAGE, PASS, USER
from dparallel.observe.timeline.blame import Blame
from dparallel.observe.timeline.report import Report
from dparallel.observe.timeline.run import Rank, Run, Spans, Thread

MS = 1_000_000
KINDS = {"forward": ("DataParallel.forward", PASS), "backward": ("DataParallel.backward", PASS), "sum": ("dparallel::allreduce", MESSAGE),
         "wait": ("dparallel::wait", MESSAGE), "flight": ("bucket 0", FLIGHT), "send": ("dparallel::send", MESSAGE), "recv": ("dparallel::recv", MESSAGE),
         "loader": ("enumerate(DataLoader)#x.__next__", USER), "optimizer": ("Optimizer.step#SGD.step", USER), "delay": ("[run delay]", COUNTER),
         "collector": ("garbage collection", USER)}
NAMES = [name for name, _ in KINDS.values()]
FIRST = 1 << 40


def made(*ranks, began=None):
    """A run of hand-made spans: of each rank a list of (what, start, end, a, b), in ms; b below 1 << 40 is on communicator 1."""
    found = []
    for number, rows in enumerate(ranks):
        table = sorted([[NAMES.index(KINDS[what][0]), KINDS[what][1], round(start * MS), round(end * MS), -1, round(a), round(b) + FIRST * (b > 0)]
                        for what, start, end, a, b in [(*row, 0, 0)[:5] for row in rows]], key=lambda row: row[2])
        spans = Spans(*np.array(table, np.int64).reshape(-1, 7).T)
        info = {"rank": number, "host": "here", "began": 0 if began is None else round(began[number] * MS), "steps": None, "bound": 0, "process": 1}
        found.append(Rank(number, info, [Thread(1, "MainThread", True, spans)]))
    return Run(NAMES, found, len(ranks))


def waits(run, rank):
    """(late, waiting, transfer, causes) of a rank's waits, in ms."""
    return [(wait.late, wait.waiting / MS, wait.transfer / MS, {cause: time / MS for cause, time in wait.causes.items()})
            for wait in Blame(run).waits[rank]]


def test_what_the_late_one_did_longer_is_the_cause():
    run = made([("sum", 0, 1, 0, 1), ("loader", 1, 2), ("forward", 2, 5), ("sum", 5, 15.5, 0, 2)],
               [("sum", 0, 1, 0, 1), ("loader", 1, 6), ("forward", 6, 15), ("sum", 15, 15.5, 0, 2)])
    assert waits(run, 0)[1] == (1, 10, 0.5, {(1, "loader"): 4, (1, "forward"): 6})
    assert waits(run, 1)[1] == (-1, 0, 0.5, {})


def test_only_what_is_longer_counts_and_in_sum_it_is_the_waiting():
    run = made([("sum", 0, 1, 0, 1), ("loader", 1, 4), ("forward", 4, 5), ("sum", 5, 11, 0, 2)],         # 2 ms longer in its loader
               [("sum", 0, 1, 0, 1), ("loader", 1, 2), ("forward", 2, 11), ("sum", 11, 11, 0, 2)])
    assert waits(run, 0)[-1] == (1, 6, 0, {(1, "forward"): 6})


def test_what_other_processes_took_is_no_parts_time():
    counter = [("delay", 0, 0, 0), ("delay", 1, 1, 0), ("delay", 6, 6, 1 * MS), ("delay", 15, 15, 5 * MS), ("delay", 16, 16, 5 * MS)]
    run = made([("sum", 0, 1, 0, 1), ("loader", 1, 2), ("forward", 2, 5), ("sum", 5, 15, 0, 2)],
               [("sum", 0, 1, 0, 1), ("loader", 1, 6), ("forward", 6, 15), ("sum", 15, 15, 0, 2), *counter])
    assert waits(run, 0)[1] == (1, 10, 0, {(1, "loader"): 3, (1, "forward"): 2, (1, "other process"): 5})


def test_blame_goes_on_to_where_the_delay_arose():
    """Rank 1 waits for rank 0's message, rank 2 for rank 1's."""
    run = made([("sum", 0, 1, 0, 1), ("forward", 1, 9), ("send", 9, 9, 8, 3), ("sum", 9, 20, 0, 2)],
               [("sum", 0, 1, 0, 1), ("wait", 1, 9.5), ("recv", 9.4, 9.4, 8, 3), ("backward", 9.5, 12), ("send", 12, 12, 8, 4), ("sum", 12, 20, 0, 2)],
               [("sum", 0, 1, 0, 1), ("wait", 1, 12), ("recv", 12, 12, 8, 4), ("backward", 12, 20), ("sum", 20, 20, 0, 2)])
    assert waits(run, 1)[1] == (0, 8, 0.5, {(0, "forward"): 8})
    late, waiting, transfer, causes = waits(run, 2)[1]
    assert (late, waiting, transfer) == (1, 11, 0) and causes == {(1, "backward"): 2.5, (0, "forward"): 8, (1, "wait"): 0.5}
    assert waits(run, 0)[1][0] == 2


def test_messages_meet_too():
    """Ranks 0 and 1 never meet in a collective: since rank 0 has waited for rank 1's message, and not since the begin of the run, what
    both did is compared."""
    run = made([("forward", 0, 30), ("wait", 30, 40), ("recv", 40, 40, 8, 1), ("loader", 40, 45), ("send", 45, 45, 8, 2)],
               [("forward", 0, 5), ("backward", 5, 40), ("send", 40, 40, 8, 1), ("loader", 40, 42), ("wait", 42, 45), ("recv", 45, 45, 8, 2)])
    assert waits(run, 1) == [(0, 3, 0, {(0, "loader"): 3})]
    assert waits(run, 0) == [(1, 10, 0, {(1, "backward"): 10})]


def test_who_computes_holds_up_a_sum_in_flight():
    """MPI goes on in calls only: rank 0 waits until rank 1, which has started the sum, waits for it."""
    run = made([("sum", 0, 1, 0, 1), ("flight", 1, 12, 8, 2), ("wait", 1.5, 12, 0, 2)],
               [("sum", 0, 1, 0, 1), ("flight", 1, 12, 8, 2), ("forward", 1.5, 11), ("wait", 11, 12, 0, 2)])
    assert waits(run, 0)[1] == (1, 9.5, 1, {(1, "forward"): 9.5})
    run = made([("sum", 0, 1, 0, 1), ("flight", 1, 12, 8, 2), ("wait", 1.5, 5, 0, 2)],                   # here it did not need rank 1
               [("sum", 0, 1, 0, 1), ("flight", 1, 12, 8, 2), ("forward", 1.5, 11), ("wait", 11, 12, 0, 2)])
    assert waits(run, 0)[1] == (-1, 0, 3.5, {})


def test_who_leaves_later_is_at_the_end_of_a_slow_link():
    run = made([("sum", 0, 1, 0, 1), ("forward", 1, 3), ("sum", 3, 8, 0, 2)], [("sum", 0, 6, 0, 1), ("forward", 6, 8), ("sum", 8, 8, 0, 2)])
    assert waits(run, 0)[1] == (1, 5, 0, {(1, "wait"): 5})


def test_who_does_not_run_after_all_have_come():
    counter = [("delay", 0, 0, 0), ("delay", 2, 2, 0), ("delay", 9, 9, 6 * MS)]
    run = made([("sum", 0, 10, 0, 1)], [("sum", 2, 9, 0, 1), *counter])
    assert waits(run, 0)[-1] == (1, 8, 2, {(1, "start"): 2, (1, "other process"): 6})


def test_more_rows_are_the_rows_fault():
    run = made([("sum", 0, 1, 0, 1), ("forward", 1, 3, 4), ("sum", 3, 9, 0, 2)], [("sum", 0, 1, 0, 1), ("forward", 1, 9, 16), ("sum", 9, 9, 0, 2)])
    assert waits(run, 0)[1] == (1, 6, 0, {(1, "rows"): 6})
    run = made([("sum", 0, 1, 0, 1), ("forward", 1, 3, 4), ("sum", 3, 9, 0, 2)], [("sum", 0, 1, 0, 1), ("forward", 1, 9, 8), ("sum", 9, 9, 0, 2)])
    assert waits(run, 0)[1] == (1, 6, 0, {(1, "rows"): 2, (1, "forward"): 4})              # 8 rows at the other's pace take 4 ms, not 8


def test_a_late_start():
    run = made([("sum", 3, 10.5, 0, 1)], [("sum", 10, 10.5, 0, 1)], began=(0, 9))
    assert waits(run, 0) == [(1, 7, 0.5, {(1, "start"): 7})]


def test_groups_pass_blame_on():
    run = made([("sum", 0, 1, 0, 1), ("collector", 1, 9), ("sum", 9, 9, 0, FIRST + 2)],
               [("sum", 0, 1, 0, 1), ("forward", 1, 2), ("sum", 2, 9, 0, FIRST + 2), ("sum", 9, 9, 0, 2 * FIRST + 3)],
               [("sum", 0, 1, 0, 1), ("forward", 1, 2), ("sum", 2, 9, 0, 2 * FIRST + 3)])
    assert waits(run, 1)[1] == (0, 7, 0, {(0, "collector"): 7})
    assert waits(run, 2)[1] == (1, 7, 0, {(0, "collector"): 7})


def test_the_starts_of_collectives_in_flight_compare_calls_and_count_by_themselves():
    run = made([("sum", 0, 5, 0, 1), ("flight", 5, 8, 8, 1), ("wait", 6, 8, 0, 1)], [("sum", 4, 5, 0, 1), ("flight", 5, 8, 8, 1), ("wait", 6, 8, 0, 1)])
    assert waits(run, 0) == [(1, 4, 1, {(1, "start"): 4}), (-1, 0, 2, {})]


def test_steps_and_causes_of_a_report():
    rows = [[], []]
    for step in range(5):
        at = 20 * step
        rows[0] += [("loader", at, at + 1), ("forward", at + 1, at + 3), ("sum", at + 3, at + 15, 0, step + 1), ("optimizer", at + 15, at + 16, step, 7)]
        rows[1] += [("loader", at, at + 1), ("forward", at + 1, at + 14), ("sum", at + 14, at + 15, 0, step + 1), ("optimizer", at + 15, at + 16, step, 7)]
    data = Report(made(*rows)).data
    assert data["steps"]["count"] == 5 and (data["steps"]["first"], data["steps"]["last"]) == (0, 4)
    (cause,) = data["causes"]
    assert (cause["rank"], cause["part"], cause["share"], cause["waiting_ms"]) == (1, "forward", 1.0, {"0": pytest.approx(11.0)})
    assert data["per_rank"][0]["waiting_ms"] == pytest.approx(11) and data["per_rank"][1]["waiting_ms"] == 0
    assert data["per_rank"][0]["exposed_ms"] == pytest.approx(1) and data["per_rank"][0]["parts_ms"]["forward"] == pytest.approx(2)


def test_steps_of_ranks_that_died_and_of_those_that_came():
    """Rank 1 dies after step 2, which is done again; rank 2 was a spare."""
    def rows(first, last, at):
        return [(what, at + 20 * (n - first) + a, at + 20 * (n - first) + b, n - first, 7) for n in range(first, last)
                for what, a, b in (("forward", 0, 10), ("optimizer", 15, 19))]

    run = made(rows(0, 4, 0) + rows(2, 5, 200), rows(0, 3, 0), [("wait", 0, 190), *rows(2, 5, 200)], [("wait", 0, 260)])
    for rank, members in zip(run.ranks, [[[0, 0, 0], [190 * MS, 1, 2]], [[0, 0, 0]], [[190 * MS, 1, 2]], []], strict=True):
        rank.info.update(memberships=members, died=rank.rank == 1)
    data = Report(run).data
    assert [row["steps"] for row in data["per_rank"]] == [5, 2, 3] and data["spares"] == [3]
    assert data["deaths"] == [{"rank": 1, "seconds": 0.19, "step": 2, "left": 2}]
    assert data["steps"]["count"] == 5 and data["series"]["ms"][2:] == [19, 20, 20] and data["per_rank"][0]["parts_ms"]["optimizer"] == 4


@pytest.mark.parametrize("last", [0, 1])
def test_two_optimizers_in_turn_are_one_step(last):
    """All ranks take the one that ends a step, whatever its number, and though one has stepped once more."""
    rows = [("optimizer", 20 * n + 5 * o, 20 * n + 5 * o + 4, n, 7 if o == last else 9) for n in range(9) for o in range(2)]
    data = Report(made(rows, rows[:-1], rows[1:])).data
    assert data["steps"]["count"] == 8 and [row["step_ms"] for row in data["per_rank"]] == pytest.approx([18] * 3)


def test_where_ranks_are_that_stand_still():
    run = made([("forward", 0, 5), ("wait", 5, 9000)], [("forward", 0, 5), ("backward", 5, 6)], [("forward", 0, 5)])
    for rank, finished in zip(run.ranks, (False, False, True), strict=True):
        rank.info.update(until=9000 * MS, finished=finished)
    report = Report(run)
    assert report.data["unfinished"] == [{"rank": 0, "part": "wait", "seconds": 8.995, "name": "dparallel::wait"},
                                         {"rank": 1, "part": "script", "seconds": 8.994, "name": ""}]
    assert "rank 1: 9.0 s in the script's own code" in report.text()
