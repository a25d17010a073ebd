"""Gradients of each sample of a batch: vmap(grad(loss)) here, PyTorch's, and a loop of backward passes here.

    python tests/bench/per_sample.py

One thread, CPU time, rounds interleaved; the gradients are compared first. Prints the table of docs/vmap.md. Without PyTorch
its column is empty.
"""

import os

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(name, "1")

import argparse  # noqa: E402
import importlib.util  # noqa: E402
import statistics  # noqa: E402
import time  # noqa: E402

import numpy as np  # noqa: E402

import autograd as ag  # noqa: E402

LIBS = [ag]
if importlib.util.find_spec("torch"):
    import torch

    torch.set_num_threads(1)
    LIBS.append(torch)


def mlp(nn):
    return nn.Sequential(nn.Linear(784, 256), nn.ReLU(), nn.Linear(256, 128), nn.ReLU(), nn.Linear(128, 10))


def conv_net(nn):
    return nn.Sequential(nn.Conv2d(1, 16, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(16, 32, 3, padding=1), nn.ReLU(),
                         nn.MaxPool2d(2), nn.Flatten(), nn.Linear(32 * 7 * 7, 10))


def norms(nn):
    return nn.Sequential(nn.Conv2d(1, 16, 3, stride=2, padding=1), nn.GroupNorm(4, 16), nn.GELU(), nn.Flatten(),
                         nn.Linear(16 * 14 * 14, 64), nn.LayerNorm(64), nn.GELU(), nn.Linear(64, 10))


def encoder(nn):
    return nn.Sequential(nn.Embedding(100, 32), nn.TransformerEncoderLayer(32, 4, 64, 0.0, batch_first=True), nn.Flatten(),
                         nn.Linear(32 * 16, 10))


MODELS = {"MLP 784-256-128-10": (mlp, (784,)), "two convolutions, 28 x 28": (conv_net, (1, 28, 28)),
          "convolution, group and layer norm": (norms, (1, 28, 28)), "embedding, attention": (encoder, (16,))}


def of_samples(lib, model, parameters):
    """vmap(grad(loss)) of a library, as a function of a batch."""
    def loss(parameters, x, y):
        return lib.nn.functional.cross_entropy(lib.func.functional_call(model, parameters, (x[None],)), y[None])
    gradients = lib.func.vmap(lib.func.grad(loss), in_dims=(None, 0, 0))
    return lambda x, y: gradients(parameters, x, y)


def in_a_loop(model):
    """A backward pass for each sample here."""
    named = dict(model.named_parameters())

    def gradients(x, y):
        rows = []
        for number in range(len(x)):
            loss = ag.nn.functional.cross_entropy(model(x[number:number + 1]), y[number:number + 1])
            rows.append(ag.grad(loss, list(named.values())))
        return dict(zip(named, [ag.stack(column) for column in zip(*rows, strict=True)], strict=True))
    return gradients


def measured(build, shape, samples, rounds):
    """Median CPU seconds of each way."""
    rng = np.random.default_rng(0)
    x = rng.integers(0, 100, (samples, *shape)) if len(shape) == 1 and shape[0] < 100 else (
        rng.standard_normal((samples, *shape)).astype(np.float32))
    y = rng.integers(0, 10, samples)
    ours = build(ag.nn)
    values = {name: p.numpy(force=True).copy() for name, p in ours.named_parameters()}
    ways = []
    for lib in LIBS:
        model = ours if lib is ag else build(lib.nn)
        parameters = {name: lib.from_numpy(value) for name, value in values.items()}
        batch = lib.from_numpy(x), lib.from_numpy(y)
        ways.append((of_samples(lib, model, parameters), batch))
    ways.append((in_a_loop(ours), (ag.from_numpy(x), ag.from_numpy(y))))
    found = [call(*batch) for call, batch in ways]
    for other in found[1:]:
        for name, g in found[0].items():
            np.testing.assert_allclose(g.numpy(), other[name].numpy(), rtol=2e-3, atol=2e-5, err_msg=name)
    times = [[] for _ in ways]
    for _ in range(rounds):
        for (call, batch), seconds in zip(ways, times, strict=True):
            begin = time.process_time()
            call(*batch)
            seconds.append(time.process_time() - begin)
    return [statistics.median(seconds) for seconds in times]


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--samples", type=int, default=64)
    parser.add_argument("--rounds", type=int, default=15)
    options = parser.parse_args()
    print(f"| gradients of {options.samples} samples | ours, ms | PyTorch, ms | ours / PyTorch | a loop here / ours |")
    print("|---|---:|---:|---:|---:|")
    for title, (build, shape) in MODELS.items():
        ours, *theirs, loop = measured(build, shape, options.samples, options.rounds)
        beside = f"{1e3 * theirs[0]:.1f} | {ours / theirs[0]:.2f}" if theirs else " | "
        print(f"| {title} | {1e3 * ours:.1f} | {beside} | {loop / ours:.1f} |", flush=True)


if __name__ == "__main__":
    main()
