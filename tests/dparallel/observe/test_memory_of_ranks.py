"""Memory of ranks: buckets count once, sums agree with the system on ranks that share them, and predictions hold."""

import functools
import gc
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

import autograd as ag
from autograd import nn, optim
from autograd.observe.profiler.inventory import take_inventory
from dparallel import DataParallel, run_ranks

ROOT = Path(__file__).parents[3]
pytestmark = [pytest.mark.young, pytest.mark.usefixtures("only_what_is_new")]
linux = pytest.mark.skipif(not Path("/proc/self/smaps").exists(), reason="the system says nothing of memory")
no_mpi = pytest.mark.skipif("OMPI_COMM_WORLD_SIZE" in os.environ, reason="starts ranks itself")
compiled = pytest.mark.skipif("not __import__('autograd').show_config()['compiled core']", reason="the core is not compiled")


SCRIPT = """
import json, sys
sys.path.insert(0, "tests/autograd/helpers")
from memory_models import *
from dparallel import DataParallel
model, x = MODELS["cnn"](4)
model = DataParallel(model)
optimizer = optim.Adam(model.parameters())
if ag.show_config()["compiled core"]:
    found = model.predict_memory(x, lambda y: y.pow(2).mean(), optimizer, batch_size=128)
    print(json.dumps({"nbytes": found.nbytes, "host": found.host_bytes, "ranks": found.ranks_per_host, "text": model.memory_summary(),
                      "buckets": found.by_use["gradient buckets"]}), flush=True)
del model, optimizer
main("wide", 16)
"""


@functools.cache
def ranks(kind):
    """What each of two ranks prints as JSON when both train a CNN, or when they predict what it takes and train a wide MLP."""
    pytest.importorskip("mpi4py")
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / "script.py"
        script.write_text(SCRIPT)
        program = ["tests/autograd/helpers/memory_models.py", "cnn", "128"] if kind == "cnn" else [str(script)]
        done = subprocess.run([sys.executable, "-m", "launch", "-n", "2", "--threads", "1", *program], capture_output=True, text=True,
                              cwd=ROOT, timeout=250)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]


@linux
@no_mpi
@pytest.mark.parametrize("kind", ["wide", "cnn"])
def test_sums_agree_where_ranks_share_buckets(kind):
    found = [each for each in ranks(kind) if "snapshots" in each]
    assert len(found) == 2
    for one in found:
        for snapshot in one["snapshots"]:
            assert abs(sum(snapshot["by_use"].values()) - snapshot["resident"]) < 0.1 * snapshot["resident"], snapshot
        last = one["snapshots"][-1]
        weights = one["weights"]
        assert last["by_use"]["gradient buckets"] == pytest.approx(weights, rel=0.01) and last["by_use"]["gradients"] == 0
        assert last["by_use"]["shared memory"] >= weights // 2               # a rank writes its half of the other's buckets
        if kind == "wide":
            off = abs(sum(last["by_use"].values()) - last["by_use"]["gradient buckets"] - last["resident"])
            assert off > 0.1 * last["resident"]                             # the comparison would see that they are missing
    host = sum(one["snapshots"][-1]["proportional"] for one in found)
    assert host < sum(one["snapshots"][-1]["resident"] for one in found) - found[0]["weights"] // 2


@linux
@no_mpi
@compiled
def test_predictions_on_ranks():
    predicted = [each for each in ranks("wide") if "nbytes" in each]
    real = ranks("cnn")
    assert len(predicted) == len(real) == 2
    for one in predicted:
        assert one["ranks"] == 2 and abs(one["nbytes"] - real[0]["peak"]) < 0.15 * real[0]["peak"]
        assert one["buckets"] == pytest.approx(real[0]["weights"], rel=0.01)
    assert sorted(one["text"][:32] for one in predicted) == ["Rank 0 of 2; 2 on this host.\n|==", "Rank 1 of 2; 2 on this host.\n|=="]


def test_gradients_in_buckets_count_once():
    gc.collect()

    def body(comm):
        model = DataParallel(nn.Linear(300, 300), comm=comm)
        comm.barrier()
        before = take_inventory(whole=False).by_use if comm.rank == 0 else None
        comm.barrier()
        model(ag.ones(2, 300)).sum().backward()
        comm.barrier()
        after = take_inventory(whole=False).by_use if comm.rank == 0 else None
        comm.barrier()
        return before, after

    before, after = run_ranks(2, body)[0]
    assert after["gradients"] == before["gradients"] and after["gradient buckets"] == before["gradient buckets"]
    assert after["gradient buckets"] >= 2 * 300 * 301 * 4


@pytest.mark.parametrize("shard", ["optimizer", "gradients", "parameters"])
def test_sharded_models(shard):
    gc.collect()                                             # models of other tests, which would be collected in between

    def body(comm):
        before = take_inventory(whole=False).by_use if comm.rank == 0 else None
        comm.barrier()
        model = DataParallel(nn.Sequential(nn.Linear(300, 300), nn.Linear(300, 300)), comm=comm, shard=shard)
        optimizer = optim.Adam(model.parameters())
        for _ in range(2):
            model(ag.ones(2, 300)).sum().backward()
            optimizer.step()
        comm.barrier()
        after = take_inventory(whole=False).by_use if comm.rank == 0 else None
        comm.barrier()
        with pytest.raises(NotImplementedError, match="model_memory"):
            model.predict_memory(ag.ones(2, 300), batch_size=4)
        return before, after

    before, after = run_ranks(2, body)[0]                    # threads of one process: what both ranks have together
    weights = 2 * 300 * 301 * 4
    grown = {use: after[use] - before[use] for use in before}
    assert grown["optimizer state"] == pytest.approx(2 * weights, rel=0.01)          # halves, on two ranks
    assert grown["parameters"] == pytest.approx(weights if shard == "parameters" else 2 * weights, rel=0.6)
    assert grown["gradients"] + grown["gradient buckets"] >= (1 if shard != "optimizer" else 2) * weights * 0.99
