"""The benchmarks' own arithmetic: no test here times anything."""

import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import autograd as ag

BENCH = Path(__file__).parent / "bench"
sys.path.insert(0, str(BENCH))

import caught  # noqa: E402
import checkpoint  # noqa: E402
import compare  # noqa: E402
import prediction  # noqa: E402
import rows  # noqa: E402
import run  # noqa: E402
import runs  # noqa: E402
import table  # noqa: E402
import trainings  # noqa: E402

ROW = rows.Row("a case", "import", runs.Run("chain"), runs.Run("chain", "torch"), 0.7)


def measured(*times, check=1.0, memory=50.0):
    return [{"time": time, "check": [check], "memory": memory} for time in times]


def figures(ratio, low, high, at_least=False, memory=0.2, title="a case"):
    return {"title": title, "ratio": ratio, "low": low, "high": high, "at_least": at_least, "memory": memory}


def test_percentiles_lie_between_the_sorted_values():
    values = [3.0, 1.0, 2.0, 5.0, 4.0]
    assert [table.percentile(values, p) for p in (0, 0.1, 0.5, 1)] == pytest.approx([1, 1.4, 3, 5])
    assert table.percentile([7.0], 0.9) == 7.0


def test_a_row_is_the_median_of_the_rounds_ratios():
    found = table.summary(ROW, measured(1e-3, 2e-3, 9e-3), measured(2e-3, 2e-3, 3e-3, memory=200.0))
    assert found["ratio"] == pytest.approx(1.0) and found["low"] == pytest.approx(0.6) and found["memory"] == pytest.approx(0.25)
    assert not table.reached(found) and table.reached({**found, "at_least": True})
    assert "1.00" in table.line(found) and "<= 0.7*" in table.line(found)


@pytest.mark.parametrize("other", [1.1, float("nan")])
def test_a_fast_wrong_answer_is_no_result(other):
    with pytest.raises(SystemExit, match="the results differ"):
        table.summary(ROW, measured(1e-3), measured(2e-3, check=other))


def test_tables_and_markers():
    result = {"rows": [table.summary(ROW, measured(1e-3), measured(2e-3)), table.summary(ROW, measured(2e-3), measured(2e-3))]}
    lines = table.markdown(result, "import", ("ours", "theirs", "ratio")).splitlines()
    assert len({line.count("|") for line in lines}) == 1
    assert "| 0.50 |" in lines[2] and "| 1.00 * |" in lines[3]
    text = "x\n<!-- bench: begin -->\nold\n<!-- bench: end -->\ny"
    once = table.replaced(text, "bench", r"a \1 new")
    assert once == table.replaced(once, "bench", r"a \1 new") == "x\n<!-- bench: begin -->\na \\1 new\n<!-- bench: end -->\ny"
    with pytest.raises(ValueError, match="bench: begin"):
        table.replaced("nothing", "bench", "")


def test_the_page_keeps_what_other_processors_gave():
    def sections(page):
        return dict(re.findall(r"<!-- bench (.*?): begin -->\n(.*?)<!-- bench \1: end -->", page, re.S))

    page = run.PAGE.read_text()
    before = sections(page)
    assert before
    measured_on = {"python": "3", "numpy": "2", "torch": "2", "jax": "none", "mpi": "none", "cores": 2, "accelerators": "none", "date": "today",
                   "commit": "abc", "load": 0.0}
    found = [table.summary(ROW, measured(1e-3), measured(2e-3))]
    for kind in [*before, "Some, RISC"]:
        maker, vectors = kind.split(", ")
        result = {"machine": {**measured_on, "processor": f"{maker} 1", "vectors": vectors}, "rounds": 1, "busy": False, "rows": found}
        once = run.written(page, result)
        assert once == run.written(once, result)
        after = sections(once)
        assert "commit abc" in after.pop(kind) and after == {name: text for name, text in before.items() if name != kind}
    with pytest.raises(SystemExit, match="which vectors"):
        run.kind_of({"processor": "AMD EPYC"})


@pytest.mark.parametrize(("old", "new", "at_least", "word"), [
    ((0.7, 0.6, 0.8), (0.9, 0.85, 1.0), False, "worse"), ((0.7, 0.6, 0.8), (0.9, 0.69, 1.0), False, "same"),
    ((0.7, 0.7, 0.7), (0.71, 0.71, 0.71), False, "same"),
    ((0.7, 0.6, 0.8), (0.5, 0.45, 0.55), False, "better"), ((1.8, 1.7, 1.9), (1.5, 1.4, 1.6), True, "worse"),
    ((1.8, 1.7, 1.9), (2.5, 2.4, 2.6), True, "better")])
def test_worse_is_beyond_both_spreads(old, new, at_least, word):
    assert compare.verdict(figures(*old, at_least), figures(*new, at_least)) == word


def test_compare_tells_regressions_by_its_exit_status(tmp_path):
    about = {"machine": {"processor": "p", "python": "3", "torch": "2"}}
    files = {"old": [figures(0.7, 0.6, 0.8), figures(1, 1, 1, title="gone")], "good": [figures(0.7, 0.6, 0.8), figures(1, 1, 1, title="gone")],
             "fat": [figures(0.7, 0.6, 0.8, memory=0.3), figures(1, 1, 1, title="gone")], "short": [figures(0.7, 0.6, 0.8)]}
    for name, found in files.items():
        (tmp_path / name).write_text(json.dumps({**about, "rows": found}))
    status = {name: subprocess.run([sys.executable, str(BENCH / "compare.py"), str(tmp_path / "old"), str(tmp_path / name)],
                                   capture_output=True).returncode for name in files}
    assert status == {"old": 0, "good": 0, "fat": 1, "short": 1}


def test_rows_are_chosen_by_parts_of_their_names():
    titles = [row.title for row in rows.ROWS]
    assert len(set(titles)) == len(titles) == 29 and len(run.chosen(rows.ROWS, ["gpt", "chain through"])) == 6
    with pytest.raises(SystemExit, match="no row has nonsense"):
        run.chosen(rows.ROWS, ["nonsense"])


def test_without_torch_the_command_says_so():
    hidden = "import importlib.util as u, runpy, sys; f = u.find_spec; u.find_spec = lambda n, *a: None if n == 'torch' else f(n, *a)"
    code = f"{hidden}; sys.argv = ['run.py']; sys.path.insert(0, {str(BENCH)!r}); runpy.run_path({str(BENCH / 'run.py')!r}, run_name='__main__')"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=runs.environment())
    assert done.returncode == 1 and "pip install torch" in done.stderr and "Traceback" not in done.stderr


def test_kernels_are_caught_with_their_arithmetic():
    x, w = (ag.ones(4, 4).requires_grad_() for _ in range(2))
    with caught.catching() as found:
        (x @ w).sum().backward()
        forward_and_backward = found.taken()
        ag.nn.functional.conv2d(ag.ones(1, 2, 5, 5), ag.ones(3, 2, 3, 3))
        convolution, = found.taken()
    assert [call.flops for call in forward_and_backward] == [2 * 4**3] * 3
    assert convolution.flops == 2 * (3 * 3 * 3) * (2 * 3 * 3)
    assert isinstance(np.matmul, np.ufunc)
    convolution.repeat()


def test_a_convolutions_passes_are_caught_each():
    """Also where one kernel makes the gradients of weight and bias, or hands the work to another."""
    conv = ag.nn.Conv2d(2, 3, 3)
    x = ag.randn(4, 2, 8, 8).requires_grad_()
    with caught.catching() as found:
        conv(x).sum().backward()
        calls = found.taken()
    assert [call.flops for call in calls] == [2 * (4 * 3 * 6 * 6) * (2 * 3 * 3)] * 3
    for call in calls:
        call.repeat()


def test_a_contest_divides_the_best_of_ours_by_the_best_other():
    row = rows.Contest("a case", "chain")
    found = {"autograd": measured(4e-3, 4e-3, 4e-3), "compiled": measured(1e-3, 2e-3, 3e-3, memory=20.0), "tuned": measured(9e-3, 9e-3, 9e-3),
             "jax": measured(2e-3, 2e-3, 2e-3)}
    r = table.contest(row, found, {"inductor": "no C++ compiler"})
    assert (r["ours"], r["other"], r["ratio"], r["memory"]) == ("compiled", "jax", 1.0, 0.4)
    text = table.contest_line(r)
    assert "compiled / JAX" in text and "inductor: no C++ compiler" in text
    lines = table.contest_table([r, {**r, "title": "another", "ratio": 0.25}]).splitlines()
    assert len({line.count("|") for line in lines}) == 1 and "| 2.00 | JAX | 1.00 |" in lines[2] and "**0.50**" in lines[-1]
    with pytest.raises(SystemExit, match="the results differ"):
        table.contest(row, {**found, "jax": measured(2e-3, check=1.1)}, {})
    with pytest.raises(SystemExit, match="nothing to compare: tuned: killed"):
        table.contest(row, {"autograd": found["autograd"]}, {"tuned": "killed"})


def test_a_library_is_left_out_by_name(monkeypatch):
    monkeypatch.setattr(runs.shutil, "which", lambda name: None)
    monkeypatch.setattr(runs.importlib.util, "find_spec", lambda name: None)
    assert [runs.absent(name) for name in ("inductor", "jax", "tuned")] == ["no C++ compiler", "not installed", ""]


@pytest.mark.parametrize("case", ["mlp 64-128-64-10", "lstm"])
@pytest.mark.parametrize("other", ["torch", "jax"])
def test_models_agree_with_other_libraries(case, other):
    """In two steps: the forms of models.py with PyTorch, and those of jax_models.py, which are written for JAX alone."""
    library = pytest.importorskip(other)
    step, batch = trainings.training(ag, case, "autograd")
    theirs, arguments = trainings.training(ag if other == "jax" else library, case, other)
    for _ in range(2):
        assert theirs(*arguments).item() == pytest.approx(step(*batch).item(), rel=1e-4)


@pytest.mark.parametrize("kind, gates", [("LSTM", 4), ("GRU", 3)])
def test_products_inside_compiled_recurrent_layers_are_counted(kind, gates):
    """32 steps of 16 rows, 64 to 128: of the input, of the state, and twice their gradients, but none of the input's."""
    layer, x = getattr(ag.nn, kind)(64, 128), ag.randn(32, 16, 64)
    with caught.catching() as calls:
        layer(x)[0].sum().backward()
    found = calls.taken()
    rows_, wide = 32 * 16, gates * 128
    assert sum(call.flops for call in found) == 2 * rows_ * wide * (64 + 128) * 2 + 2 * rows_ * wide * 128
    for call in found:
        call.repeat()


def test_a_page_has_one_roof():
    import roofline
    cases = [{"case": "a", "step": [1e-3] * 3, "alone": [5e-4] * 3, "calls": 2, "torch": None, "flops": 10**8, "hottest": [], "peak": 1e11},
             {"case": "b", "step": [1e-3] * 3, "alone": [5e-4] * 3, "calls": 2, "torch": 3e-3, "flops": 10**8, "hottest": [], "peak": 2e11}]
    lines = roofline.page(cases, "here").splitlines()
    assert sum("| 0.500 |" in line for line in lines) == 2 and "at 200 GFLOP/s" in "".join(lines)


def test_a_block_with_a_save_is_compared_with_the_blocks_beside_it():
    found = {"plain": [1.0, 1.0, 3.0], "saving": [1.1, 2.0], "calls": [0.01] * 2, "in_call": [0.005] * 2, "steps": [0.5] * 3,
             "beside_plain": [0.1] * 3, "beside_saving": [0.11] * 2}
    assert checkpoint.ratios(found) == pytest.approx([1.1, 1.0]) and checkpoint.processor_share(found) == pytest.approx(0.03)
    assert checkpoint.row("disk", found, 50) == "| Checkpointer | 5.00 (1.0 to 9.0) | 3.00 | 10.0 | 5.0 | 20.0 |"


def test_predictions_beside_measurements():
    """A job that is twice as slow as the traced one, a network that is known, and a disturbed case, which does not count."""
    from dparallel.observe.prediction.network import Point
    from dparallel.observe.prediction.steps import ParameterTrace
    from dparallel.prediction import Network, StepTrace

    trace = StepTrace(ranks=2, ranks_per_host=2, forward=0.01, backward=0.02, finish=0.0, after=0.01, optimizer=0.01, measured=0.04,
                      spread=0.0, jitter=0.0, quiet=9, steps=9, passes=1, parameters=[ParameterTrace("w", (1000,), "float32", 0.0, 0.02)],
                      units=[["w"]])
    network = Network(measured={"sum": {2: [Point(1.0, 0.005, 0.005, 0.005, 1.0), Point(1e9, 0.005, 0.005, 0.005, 1.0)]}}, ranks_per_host=2).as_dict()

    def job(bare, **cases):
        found = {name: {"seconds": seconds, "quiet": quiet, "steps": 9} for name, (seconds, quiet) in cases.items()}
        return {"network": network, "models": {"gpt": {"cases": {"bare": {"seconds": bare, "quiet": 9, "steps": 9}, **found},
                                                       "beside": {"seconds": 0.04}, "trace": trace.as_dict()}}}

    found = {"shared memory": job(0.04, default=(0.045, 9)), "TCP": job(0.08, default=(0.085, 9), **{"1 MiB": (0.5, 0)}),
             "4 ranks on 2 cores": job(0.08, default=(0.01, 9))}
    lines = prediction.rows(found)
    assert [(line["job"], line["choice"]) for line in lines] == [("shared memory", "default"), ("TCP", "default"), ("TCP", "1 MiB")]
    assert [line["shared memory"]["error"] for line in lines[:2]] == pytest.approx([0, 0], abs=1e-9)
    assert lines[1]["shared memory"]["factor"] == 2 and "1 rank" not in lines[1]
    text = prediction.text(lines)
    assert "| TCP | 2 ranks | 1 | 0.0% | 0.0% | 1 of 1 |" in text and "none: left out" in prediction.cases(lines) and " *" not in text
    lines[0]["shared memory"]["error"] = 0.3
    assert "| shared memory | 2 ranks | 1 | 30.0% * |" in prediction.text(lines)


def test_a_slow_network_is_as_slow_as_it_says():
    from dparallel.observe.prediction.network import Network, Point
    fast = Network(measured={"sum": {2: [Point(1e6, 1e-3, 1e-3, 1e-3, 1.0), Point(1e7, 1e-1, 1e-1, 1e-1, 1.0)]}}, ranks_per_host=2)
    slow = prediction.network_of("slow, 1 Gbit/s", {"network": fast.as_dict()})
    first, second = slow.measured["sum"][2]
    assert first.seconds == pytest.approx(50e-6 + 8e-3) and first.cpu == pytest.approx(1e-3 / first.seconds)
    assert second.seconds == 1e-1 and second.cpu == 1.0                  # what is there is slower
    assert prediction.network_of("TCP", {"network": fast.as_dict()}).measured == fast.measured
