"""char_gpt, cifar_resnet and graph_net for a few steps each, one after the other, in one process or on all ranks of a job.

    dprun -n 2 tests/examples/large_examples.py FOLDER      writes FOLDER/results.json
"""

import contextlib
import importlib
import io
import json
import re
import shutil
import sys
from pathlib import Path

import autograd as ag
from dparallel import world

sys.path.insert(0, str(Path(__file__).parents[2] / "examples"))
char_gpt, cifar_resnet, graph_net = map(importlib.import_module, ("char_gpt", "cifar_resnet", "graph_net"))
GPT = ("--width", 32, "--layers", 2, "--heads", 2, "--context", 32, "--batch", 15, "--warmup", 4, "--lr", 1e-2, "--log-every", 5,
       "--eval-rows", 30, "--length", 40)


def said(example, *arguments):
    """What the example says, and the weights that it ends with, which are the same on all ranks. On one thread: two wait for
    each other where other tests keep the cores busy, in small convolutions for minutes."""
    threads = ag.get_num_threads()
    ag.set_num_threads(1)
    try:
        with contextlib.redirect_stdout(io.StringIO()) as out:
            model = example.main([str(a) for a in arguments])
    finally:
        ag.set_num_threads(threads)
    weights = b"".join(p.detach().numpy().tobytes() for p in model.parameters())
    assert all(other == weights for other in world().allgather_object([weights])), "weights differ between ranks"
    return out.getvalue(), weights


def losses(text):
    """The losses in the lines of a Logger."""
    return [float(number) for number in re.findall(r" (?:test_)?loss ([\d.]+)", text)]


def results(folder):
    """Losses, which are those of one process on any number of ranks, and what is said at the end. The folder is one for all."""
    comm = world()
    found = {"gpt": losses(said(char_gpt, *GPT, "--steps", 10, "--out", folder / "gpt")[0])}
    # with all that has a state: the scale of the loss, dropout, the optimiser, the schedule
    mixed = (*GPT, "--steps", 10, "--eval-every", 5, "--dtype", "float16", "--dropout", 0.1, "--out", folder / "mixed")
    text, weights = said(char_gpt, *mixed)
    comm.barrier()
    if comm.rank == 0:
        shutil.rmtree(folder / "mixed" / "step-00000010")
    comm.barrier()
    again, resumed = said(char_gpt, *mixed, "--resume")
    assert (again[-40:], resumed) == (text[-40:], weights), "the run that goes on after step 5 is another one"
    found["goes on"] = [losses(text), losses(again)]
    found["resnet"] = losses(said(cifar_resnet, "--width", 4, "--batch", 64, "--rows", 181, "--epochs", 2)[0])
    text = said(graph_net, "club", "--steps", 20, "--lr", 3e-2)[0]
    found["club"] = losses(text) + [int(number) for number in re.findall(r"club: (\d+) of 34", text)]
    found["digits"] = losses(said(graph_net, "digits", "--width", 32, "--batch", 25, "--graphs", 90, "--epochs", 2)[0])
    return found


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    found = results(folder)
    if world().rank == 0:
        (folder / "results.json").write_text(json.dumps(found))
