"""notebook_launcher(): a function that a cell has defined, on MPI ranks. In a notebook where nbclient and ipykernel are."""

import importlib.util
import os
import pickle
import re
import sys
import textwrap
import threading

import pytest
from raised import raises

import autograd as ag
import dparallel
from dparallel import RankFailure, notebook_launcher
from dparallel.integrations.notebook import RankTraceback, reraise
from dparallel.integrations.notebook_rank import leave

pytestmark = pytest.mark.jobs
needs_cloudpickle = pytest.mark.skipif(importlib.util.find_spec("cloudpickle") is None, reason="cloudpickle is not installed")


def cell(text, **names):
    """What a cell defines: functions whose module is __main__, and which nobody can import."""
    space = {"__name__": "__main__", **names}
    exec(textwrap.dedent(text), space)
    return space


@needs_cloudpickle
def test_a_function_of_a_cell(capfd):
    space = cell("""
        class Rates:
            def __init__(self, lr):
                self.lr = lr

        def train(x, rates=None):
            comm = dparallel.world()
            print("rank", comm.rank, "of", comm.size)
            return rates, weight * x * comm.total(1.0), comm.rank, sys.path
        """, dparallel=dparallel, weight=ag.tensor([1.0, 2.0]), sys=__import__("sys"))
    rates, value, rank, path = notebook_launcher(space["train"], 2, (3.0,), {"rates": space["Rates"](0.5)})
    assert type(rates) is space["Rates"] and rates.lr == 0.5 and value.tolist() == [6.0, 12.0] and rank == 0
    assert not set(space["sys"].path) - set(path)                          # what can be imported here can be there
    assert sorted(capfd.readouterr().out.splitlines()) == ["rank 0 of 2", "rank 1 of 2"]


@needs_cloudpickle
def test_what_a_rank_raises(capfd):
    space = cell("""
        def failing():
            if dparallel.world().rank == 1:
                raise KeyError("lr")
            dparallel.world().barrier()
        """, dparallel=dparallel)
    with pytest.raises(KeyError, match="lr") as caught:
        notebook_launcher(space["failing"], 2, threads=1, timeout=60)
    assert type(caught.value.__cause__) is RankTraceback and "rank 1: Traceback" in str(caught.value.__cause__) and "in failing" in str(caught.value.__cause__)
    assert "notebook_rank" not in str(caught.value.__cause__)              # from the user's function on


@needs_cloudpickle
def test_a_rank_that_is_killed_is_reported_once(capfd):
    space = cell("def killed(): os.kill(os.getpid(), 9)", os=os)
    with pytest.raises(RankFailure, match="signal 9") as caught:
        notebook_launcher(space["killed"], 1, threads=1, timeout=60)
    assert capfd.readouterr().err.count("signal 9") == 1                   # above what IPython shows of the exception
    assert caught.value._render_traceback_() == ["RankFailure: notebook_launcher: the job of 1 ranks ended with exit code 137"]


class Odd(Exception):
    def __init__(self, a, b):
        super().__init__(a)


def test_an_exception_that_can_not_be_made_again(tmp_path):
    for error, kind in ((Odd("no", 2), RankFailure), (KeyError(lambda: 1), RankFailure), (ValueError("no"), ValueError)):
        leave(tmp_path / "error", error, pickle)
        with pytest.raises(kind) as caught:
            reraise(3, (tmp_path / "error").read_bytes())
        assert type(error).__name__ in str(caught.value if kind is RankFailure else repr(caught.value)) and (kind is ValueError or caught.value.rank == 3)


@needs_cloudpickle
def test_what_is_refused(monkeypatch):
    for call, kind, words in [(lambda: notebook_launcher(print, (1,)), TypeError, r"n=\(1,\).*args=\(...\)"), (lambda: notebook_launcher(print, 0), TypeError, "n=0"),
                              (lambda: notebook_launcher(3, 2), TypeError, "must be a function"), (lambda: notebook_launcher(print, 2, 0.1), TypeError, "args=0.1.*a tuple"),
                              (lambda: notebook_launcher(cell("def f(): return x", x=threading.Lock())["f"], 2), TypeError, "'f', its arguments or what it uses.*lock")]:
        raises(kind, words, call)
    monkeypatch.setenv("OMPI_COMM_WORLD_SIZE", "3")
    raises(RuntimeError, "one of 3 MPI ranks: ranks start no others", notebook_launcher, print, 2)


@needs_cloudpickle
def test_in_a_notebook(tmp_path):
    nbformat = pytest.importorskip("nbformat", reason="nbformat is not installed")
    nbclient = pytest.importorskip("nbclient", reason="nbclient is not installed")
    pytest.importorskip("ipykernel", reason="ipykernel is not installed")
    cells = ["import dparallel, autograd as ag\nscale = ag.tensor(2.0)", """
def train(x):
    comm = dparallel.world()
    dparallel.print_once("training on", comm.size)
    return float(comm.total(comm.rank + 1.0) * scale * x)
dparallel.notebook_launcher(train, 2, (10,))""", """
import os
def broken(deep):
    if deep: return broken(deep - 1)
    raise ZeroDivisionError("in the cell")
def killed():
    os.kill(os.getpid(), 9)""", "dparallel.notebook_launcher(broken, 2, (0,))", "dparallel.notebook_launcher(broken, 1, (90,))",
             "dparallel.notebook_launcher(killed, 1)"]
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(text) for text in cells])
    nbclient.NotebookClient(book, timeout=120, allow_errors=True, resources={"metadata": {"path": str(tmp_path)}}).execute()
    streams = "".join(out["text"] for out in book.cells[1].outputs if out["output_type"] == "stream" and out["name"] == "stdout")
    assert streams == "training on 2\n"
    assert [out["data"]["text/plain"] for out in book.cells[1].outputs if out["output_type"] == "execute_result"] == ["60.0"]
    def shown(number):
        """The error of a cell; all that the cell shows is short, and has no control characters but colours."""
        text = ["\n".join(out.get("traceback") or [out["text"]]) for out in book.cells[number].outputs]
        plain = re.sub(r"\x1b\[[\d;]*m", "", "\n".join(part.strip("\n") for part in text if part.strip()))
        assert len(plain.splitlines()) <= 15 and not re.search(r"[^\n\x20-\x7e\u2500-\u257f]", plain), plain
        return plain

    assert 'ZeroDivisionError: in the cell' in shown(3) and '    raise ZeroDivisionError("in the cell")' in shown(3), shown(3)
    assert 'ZeroDivisionError: in the cell' in shown(4) and "in broken" in shown(4), shown(4)
    assert "RankFailure" in shown(5) and shown(5).count("signal 9") == 1, shown(5)
    assert [out["ename"] for cell in book.cells[3:] for out in cell.outputs if out["output_type"] == "error"] == [
        "ZeroDivisionError", "ZeroDivisionError", "RankFailure"]


def test_ipyparallel(tmp_path, monkeypatch):
    """Engines that mpirun has started are ranks: dparallel.world() is of all of them."""
    ipp = pytest.importorskip("ipyparallel", reason="ipyparallel is not installed")
    for name, value in (("PATH", os.pathsep.join([os.path.dirname(sys.executable), os.environ["PATH"]])), ("OMPI_ALLOW_RUN_AS_ROOT", "1"),
                        ("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"), ("PRTE_ALLOW_RUN_AS_ROOT", "1"), ("PRTE_ALLOW_RUN_AS_ROOT_CONFIRM", "1")):
        monkeypatch.setenv(name, value)
    with ipp.Cluster(engines="mpi", n=2, cluster_id=str(os.getpid()), profile_dir=str(tmp_path), log_level=40) as client:
        view = client[:]
        view["weight"] = ag.ones(2)                                        # tensors travel
        view.execute("import dparallel; comm = dparallel.world(); found = comm.size, comm.total(1.0), weight * 2", block=True)
        for size, total, doubled in view["found"]:
            assert (size, total, doubled.tolist()) == (2, 2.0, [2.0, 2.0])
