"""make kills in a short form, and its checker on planted mistakes."""

import re
import shutil
import sys
from pathlib import Path

import numpy as np
import pytest

from launch import mpirun

SURVIVAL = Path(__file__).parent.parent / "survival"
sys.path.insert(0, str(SURVIVAL))

import kills  # noqa: E402
from journal import History, Reader  # noqa: E402
from killing import Blow, Killer, Outcome, Plan, Recovery  # noqa: E402
from moments import Moments, claimed, page  # noqa: E402
from tasks import start  # noqa: E402
from undisturbed import Undisturbed, difference, total, weights_problems  # noqa: E402

pytestmark = pytest.mark.jobs
ROWS, BATCH, STEPS, DEATH = 251, 60, 15, 7           # three epochs of the MLP; the step in which a rank dies


def run_with_a_death(first=DEATH):
    """The lines of three ranks, of which one dies in a step, and of the two others, which begin again with `first`."""
    lines, clock = [], iter(range(10**6))

    def write(what, process, attempt, **fields):
        lines.append({"what": what, "process": process, "attempt": attempt, "time": float(next(clock)), **fields})

    def begin(attempt, processes, step):
        for rank, process in enumerate(processes):
            write("member", process, attempt, rank=rank, size=len(processes))
            write("kept", process, attempt, rank=rank, first=step, buffers=0.0)

    def batches(attempt, processes, steps):
        for step in steps:
            order = np.random.default_rng(step // 5).permutation(ROWS)[step % 5 * BATCH:][:BATCH]
            for rank, (process, ids) in enumerate(zip(processes, np.array_split(order, len(processes)), strict=True)):
                write("batch", process, attempt, step=step, rank=rank, size=len(processes), epoch=step // 5, ids=ids.tolist())
                if (attempt, step) != (0, DEATH):
                    write("stepped", process, attempt, step=step, rank=rank)

    begin(0, [10, 11, 12], 0)
    batches(0, [10, 11, 12], range(DEATH + 1))
    begin(1, [10, 12], first)
    batches(1, [10, 12], range(first, STEPS))
    for rank, process in enumerate([10, 12]):
        write("end", process, 1, rank=rank, steps=STEPS)
    return lines


def batch(lines, step, attempt, rank):
    return next(line for line in lines if line["what"] == "batch" and (line["step"], line["attempt"], line["rank"]) == (step, attempt, rank))


@pytest.mark.parametrize("first", [DEATH, DEATH + 1])
def test_a_run_that_went_on_is_right(first):
    history = History(run_with_a_death(first), ROWS)
    assert not history.problems and (history.lost, history.doubled, len(history.steps)) == (0, 0, STEPS)
    assert [len(step.shares) for step in history.steps] == [3] * first + [2] * (STEPS - first)
    attempt, at = history.recovery(11)
    assert attempt == 1 and at == batch(history.lines, first, 1, 1)["time"] and history.redone() == 0
    assert history.growth(1, 3) == np.inf and history.growth(0, 3) == batch(history.lines, 0, 0, 2)["time"]


def lose(lines):
    batch(lines, 9, 1, 1)["ids"].pop()


def double(lines):
    batch(lines, 9, 1, 1)["ids"].append(batch(lines, 6, 0, 1)["ids"][0])


def lose_the_dead(lines):
    """The step in which a rank died is not done again."""
    for line in [line for line in lines if line["attempt"] == 1]:
        if line["what"] == "kept":
            line["first"] = DEATH + 1
        elif line.get("step") == DEATH:
            lines.remove(line)
    lines.remove(batch(lines, DEATH, 0, 1))


def double_the_others(lines):
    """The others go on with a batch whose samples they had in a finished step."""
    for line in lines:
        if line["what"] == "kept" and line["attempt"] == 1:
            line["first"] += 1
        elif line["attempt"] == 1 and "step" in line:
            line["step"] += 1
        elif line["what"] == "end":
            line["steps"] += 1


def forget_a_rank(lines):
    for line in [line for line in lines if line["what"] == "batch" and line["attempt"] == 1 and line["rank"] == 1]:
        lines.remove(line)


def disagree(lines):
    next(line for line in lines if line["what"] == "kept" and line["attempt"] == 1)["first"] = DEATH - 1


def end_early(lines):
    next(line for line in lines if line["what"] == "end")["steps"] = STEPS - 1


@pytest.mark.parametrize("mistake, lost, doubled, words", [
    (lose, 1, 0, "epoch 1: samples"), (double, 0, 1, "doubled"), (lose_the_dead, 20, 0, r"step 7 of attempt 0: ranks \[0, 2\] of \[3\]"),
    (double_the_others, 0, BATCH, "epoch 1"), (forget_a_rank, 190, 0, "ranks \\[0\\] of \\[2\\]"),
    (disagree, 60, 0, r"attempt 1: ranks have first = \[6, 7\]"), (end_early, 0, 0, r"the run ended after \[14, 15\] steps")])
def test_planted_mistakes_of_samples_are_found(mistake, lost, doubled, words):
    lines = run_with_a_death()
    mistake(lines)
    history = History(lines, ROWS)
    assert any(re.search(words, problem) for problem in history.problems), history.problems
    assert (history.lost, history.doubled) == (lost, doubled)


def test_a_step_that_is_done_again_twice():
    lines = run_with_a_death()
    lines.insert(0, {"what": "stepped", "process": 10, "attempt": 0, "step": DEATH + 1, "rank": 0, "time": -1.0})
    assert History(lines, ROWS).redone() == 2


@pytest.fixture
def ended(tmp_path):
    """A folder with the weights of a right run, its history, and a way to change the weights of a process."""
    history = History(run_with_a_death(), ROWS)
    right = Undisturbed("mlp", history.steps, {0: 0.0, 1: 0.0})
    for process in (10, 12):
        np.savez(tmp_path / f"{process}.npz", **right.weights, **right.state)

    def change(process, by, name="2.weight"):
        found = dict(np.load(tmp_path / f"{process}.npz"))
        found[name][..., -1:] += by
        np.savez(tmp_path / f"{process}.npz", **found)

    return tmp_path, history, change


@pytest.mark.parametrize("processes, by, found", [
    ((), 0, []), ((10, 12), 2e-16, []), ((10, 12), 2e-12, ["rank 0 ended with weights 2.0e-12 away", "rank 1 ended with weights 2.0e-12 away"]),
    ((12,), 2e-16, ["away from rank 0's"]), ((10, 12), np.nan, ["rank 0 ended with weights inf", "inf", "inf", "inf"])])
def test_wrong_weights_are_found(ended, processes, by, found):
    folder, history, change = ended
    for process in processes:
        change(process, by)
    _, problems = weights_problems(folder, "mlp", history)
    assert len(problems) == len(found) and all(words in problem for words, problem in zip(found, problems, strict=True)), problems


def test_a_wrong_state_of_the_optimiser_is_found(ended):
    folder, history, change = ended
    change(10, 1e-11, "optimizer 2 exp_avg")
    assert ["optimiser's state 1.0e-11 away" in problem for problem in weights_problems(folder, "mlp", history)[1]] == [True]
    found = dict(np.load(folder / "10.npz"))
    found["optimizer 2 step"] = found["optimizer 2 step"].reshape(1)
    np.savez(folder / "10.npz", **found)
    assert "state inf away" in weights_problems(folder, "mlp", history)[1][0]


def test_steps_that_count_differently_have_other_weights(ended):
    folder, history, _ = ended
    history.steps[9] = history.steps[9]._replace(shares=history.steps[8].shares)
    assert weights_problems(folder, "mlp", history)[1]
    history.steps.pop()
    assert weights_problems(folder, "mlp", history)[0] > 1e-6


def test_buffers_are_those_of_rank_0():
    """Each rank's batch norm has seen its own rows; the next step begins with rank 0's, the next attempt with any rank's."""
    history = History(run_with_a_death(), ROWS)
    steps = [step._replace(shares=tuple([n % 187 for n in share] for share in step.shares)) for step in history.steps]
    net = start("cnn")[0]
    begun = {0: total({name: value.numpy() for name, value in net.named_buffers()})}
    before = Undisturbed("cnn", steps[:DEATH], begun).buffers
    assert set(before) == {10, 11, 12} and difference(before[10], before[12]) > 1e-6
    ended = [Undisturbed("cnn", steps, {**begun, 1: total(before[process])}) for process in (10, 12)]
    assert not ended[0].problems and not ended[1].problems and set(ended[0].weights) | set(before[10]) == set(net.state_dict())
    assert difference(ended[0].buffers[10], ended[1].buffers[10]) > 1e-6 and difference(ended[0].weights, ended[1].weights) < 1e-15
    assert Undisturbed("cnn", steps, {**begun, 1: total(before[10]) + 1e-10}).problems == ["attempt 1 began with buffers that no rank had"]


# --- the killer -----------------------------------------------------------------------------------------------------------------

SCRIPT = """
import faulthandler, json, os, signal, sys, time
from pathlib import Path
sys.path.insert(0, {survival!r})
from journal import Journal
from moments import Moments
folder, how = Path(sys.argv[1]), sys.argv[2]
journal, moments = Journal(folder), Moments(folder)
faulthandler.register(signal.SIGUSR2, open(folder / f"{{os.getpid()}}.stack", "w"))
journal.write("member", attempt=0, rank=0, size=1)
journal.write("kept", attempt=0, rank=0, first=0)
for step in range(200):
    moments.look()
    journal.write("batch", attempt=0, step=step, rank=0, size=1, epoch=step, ids=list(range({rows})))
    moments.at("batch")
    time.sleep(0.02 if how != "hangs" or step < 3 else 600)
    if how == "fails" and step == 3:
        sys.exit(3)
    if (folder / "enough").exists():
        break
journal.write("end", attempt=0, rank=0, steps=step + 1)
"""


@pytest.fixture
def killer(tmp_path):
    """killer(how, blows) runs a process without ranks that does as it is told, in place of a job."""
    (tmp_path / "script.py").write_text(SCRIPT.format(survival=str(SURVIVAL), rows=ROWS))

    def run(how, *blows):
        made = Killer(Plan("mlp", size=1, blows=[*blows]), quiet=1.5)
        made.command = [sys.executable, str(tmp_path / "script.py"), str(made.folder), how]
        outcome = made.run()
        assert not made.known()                      # nothing is left
        shutil.rmtree(made.folder)
        return outcome

    return run


def test_hangs_and_failures_of_jobs_are_found(killer):
    hang = killer("hangs")
    assert "nothing for" in hang.hang and "after 'batch'" in hang.hang and not hang.good
    assert killer("fails").failed == "exit code 3"
    wrong = killer("works")                          # all steps, and no weights
    assert not wrong.failed and wrong.lost == wrong.doubled == 0 and wrong.steps > 3 and not wrong.good


def test_a_killed_job_is_no_recovery(killer):
    outcome = killer("works", Blow("random time", signals=[(0.1, 0)]))
    assert "exit code -9" in outcome.failed and outcome.recoveries[0].seconds == np.inf
    assert outcome.recoveries[0].deaths[0].moment == "batch"
    ordered = killer("works", Blow("batch", orders=[{"moment": "batch", "rank": 0, "times": 2}]))
    assert "exit code -9" in ordered.failed and ordered.recoveries[0].deaths[0].rank == 0


def test_orders_are_followed_once(tmp_path, monkeypatch):
    killed = []
    monkeypatch.setattr("os.kill", lambda process, number: killed.append(number))
    (tmp_path / "orders.json").write_text('[{"number": 5, "moment": "forward", "rank": 1, "times": 1}]')
    moments = Moments(tmp_path)
    moments.look()
    for rank, name in [(1, "batch"), (0, "forward"), (1, "forward"), (1, "forward"), (1, "forward")]:
        moments.rank = rank
        assert len(killed) == (claimed(tmp_path, 5) is not None)
        moments.at(name)
    assert killed == [9] and claimed(tmp_path, 5)["rank"] == 1 and page(tmp_path, moments.process) == "forward"


def test_lines_that_are_not_whole_wait(tmp_path):
    reader, file = Reader(tmp_path), tmp_path / "7.lines"
    file.write_text('{"what": "up"}\n{"wh')
    assert reader.more() == [{"process": 7, "what": "up"}]
    file.write_text('{"what": "up"}\n{"what": "end"}\n')
    assert reader.more() == [{"process": 7, "what": "end"}] and not reader.more()


# --- the command ------------------------------------------------------------------------------------------------------------------

def test_plans_have_all_kinds_and_leave_a_rank():
    planned = kills.plans(300, 0)
    deaths = [plan.deaths for plan in planned]
    assert 300 <= sum(deaths) < 310 and all(plan.grow or n < plan.size for plan, n in zip(planned, deaths, strict=True))
    names = {blow.name.removeprefix("recovery: ") for plan in planned for blow in plan.blows}
    assert names == {*kills.KINDS, "first construction"}
    assert {(plan.task, plan.shard) for plan in planned} == {(task, shard) for task in kills.TASKS for shard in kills.SHARDS}
    assert all(order["rank"] < plan.size for plan in planned for blow in plan.blows for order in blow.orders)


def outcome(*seconds, grown=1.0, **changes):
    deaths = [[], []]
    grows = Outcome(Plan("mlp", grow=True), [Recovery("batch", deaths[0], 3.0, grown)], distance=1e-16)
    return [grows, Outcome(Plan("mlp"), [Recovery("forward", deaths[0], one) for one in seconds], distance=1e-16, **changes)]


@pytest.mark.parametrize("changes, right", [({}, True), ({"hang": "x"}, False), ({"failed": "x"}, False), ({"lost": 1}, False), ({"doubled": 1}, False),
                                            ({"problems": ["x"]}, False), ({"grown": 5.5}, False), ({"grown": np.inf}, False)])
def test_goals(changes, right):
    found = kills.figures(outcome(0.1, 0.2, 1.9, **changes))
    assert kills.reached(found) is right and found["median"] == 0.2 and found["worst"] == 1.9
    assert not kills.reached(kills.figures(outcome(0.4, 0.4))) and not kills.reached(kills.figures(outcome(0.1, 0.1, 2.1)))
    assert "| forward | 0 | 0 | 200 | 1900 |" in kills.report(outcome(0.1, 0.2, 1.9, **changes))


# --- the short form ---------------------------------------------------------------------------------------------------------------

def lacking():
    """Why jobs here end with their first rank; "" if they do not."""
    try:
        mpi = mpirun.find()
    except mpirun.LaunchError as error:
        return str(error)
    return "" if mpirun.survives(mpi) else f"{mpi.name} has no ULFM"


@pytest.mark.skipif(bool(lacking()), reason=lacking())
@pytest.mark.parametrize("plan", kills.short(), ids=lambda plan: plan.name)
def test_a_job_whose_ranks_are_killed_goes_on(plan):
    found = Killer(plan).run()
    assert found.good and sum(len(one.deaths) for one in found.recoveries) == plan.deaths, kills.told(found)
