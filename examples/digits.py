"""A classifier of handwritten digits, trained on the shares of each batch that all ranks hold.

    python examples/digits.py                    one process, no MPI
    python examples/digits.py --devices 2        two local devices, replicas in threads
    dprun -n 2 examples/digits.py                two MPI ranks (or 3, or 20), each with its share

The data are the 1,797 images of 8 x 8 pixels of the UCI set that scikit-learn carries. With --dtype float64 the curve of
losses is the same in all of them to 1e-10, for the batches are the same and the gradient is the whole batch's.
"""

import argparse
import json
import time

import numpy as np
from sklearn.datasets import load_digits
from tqdm import tqdm

import autograd as ag
import autograd.nn.functional as F
from autograd import nn, optim
from dparallel import DataParallel, Devices, assert_same_everywhere, world


def data(dtype):
    """Images (n, 64) in 0..1 and their digits, shuffled: four fifths to train on, one fifth held out."""
    images, digits = load_digits(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(images))
    x, y = (images / 16).astype(dtype)[order], digits.astype(np.int64)[order]
    cut = len(x) * 4 // 5
    return x[:cut], y[:cut], x[cut:], y[cut:]


def train(model, optimizer, x, y, options, comm):
    """Train; the loss of every batch, over all rows, and the samples per second."""
    curve, start = [], time.perf_counter()
    bar = tqdm(range(options.epochs), disable=comm.rank != 0, desc="epochs")
    for epoch in bar:
        order = np.random.default_rng([1, epoch]).permutation(len(x))
        for first in range(0, len(x), options.batch):
            batch = order[first:first + options.batch]                       # the same on every rank
            rows = comm.share(batch)
            optimizer.zero_grad()
            loss = F.cross_entropy(model(ag.from_numpy(x[rows])), ag.from_numpy(y[rows]))
            loss.backward()
            optimizer.step()
            mine = loss.item() * len(rows) if len(rows) else 0.0
            curve.append(comm.total(mine) / len(batch))
        bar.set_postfix(loss=f"{curve[-1]:.4f}")
    return curve, options.epochs * len(x) / (time.perf_counter() - start)


def accuracy(model, x, y, comm):
    """The share of held-out images that are recognised, each counted once: ranks take every size-th."""
    rows = comm.share(np.arange(len(x)))
    with ag.no_grad():
        right = (model(ag.from_numpy(x[rows])).argmax(1).numpy() == y[rows]).sum()
    return comm.total(float(right)) / len(x)


def plot(curve, path):
    """The training curve as a picture."""
    import matplotlib
    matplotlib.use("Agg")
    from matplotlib import pyplot
    pyplot.figure(figsize=(6, 4))
    pyplot.semilogy(curve, linewidth=0.8)
    pyplot.xlabel("batch")
    pyplot.ylabel("cross entropy")
    pyplot.title("Digits: training loss")
    pyplot.tight_layout()
    pyplot.savefig(path, dpi=120)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--devices", type=int, help="local devices instead of MPI ranks")
    parser.add_argument("--epochs", type=int, default=30)
    parser.add_argument("--batch", type=int, default=64, help="rows of a batch over all ranks")
    parser.add_argument("--lr", type=float, default=3e-3)
    parser.add_argument("--dtype", choices=["float32", "float64"], default="float32")
    parser.add_argument("--plot", default="digits.png", help="where the training curve goes; empty for nowhere")
    parser.add_argument("--curve", help="write the losses to this JSON file")
    options = parser.parse_args()

    comm = Devices(options.devices) if options.devices else world()
    x, y, x_test, y_test = data(options.dtype)
    ag.manual_seed(0)
    net = nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 64), nn.ReLU(), nn.Linear(64, 10))
    model = DataParallel(net.to(np.dtype(options.dtype)), comm=comm)
    optimizer = optim.AdamW(model.parameters(), lr=options.lr)
    curve, speed = train(model, optimizer, x, y, options, comm)
    model.eval()
    share_right = accuracy(model, x_test, y_test, comm)
    assert_same_everywhere(model, comm)
    if comm.rank == 0:
        print(f"accuracy on {len(x_test)} held-out images: {share_right:.2%}")
        print(f"{speed:,.0f} samples per second on {comm.size} {'rank' if comm.size == 1 else 'ranks'} ({comm.kind})")
        print(f"checked: all {comm.size} ranks hold bitwise the same weights" if comm.kind == "mpi" else
              "one process: there is one copy of the weights")
        if options.curve:
            with open(options.curve, "w") as file:
                json.dump(curve, file)
        if options.plot:
            plot(curve, options.plot)
            print(f"training curve: {options.plot}")


if __name__ == "__main__":
    main()
