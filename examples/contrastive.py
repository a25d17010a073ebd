"""Contrastive learning (SimCLR, Chen et al. 2020) over the embeddings of all ranks: no labels, only two views of each image.

    python examples/contrastive.py
    dprun -n 2 examples/contrastive.py

Each image's two views shall be close to each other and far from all other images of the batch, also from those that
other ranks hold. So the loss of a rank's rows depends on every rank's embeddings, which AllGather brings.

What people get wrong. The embedding z_i of one rank is in the loss of its own rows, and, as one of the others to be far
from, in the loss of every other rank's rows. Its gradient is the sum of all these terms.

 1. An all-gather without a gradient (or with the own rows pasted in) has only the first: the model is trained on another
    loss than the one printed, and no error says so.
 2. A hand-written "gather layer" whose backward returns the own slice of the gradient, without the sum over ranks, has
    the terms that this rank computed and none of the others'. Tests with one and the same loss on every rank pass.
    AllGather.backward here is ReduceScatter: the sum over ranks, cut. It is exact, whatever each rank's loss is.
 3. The mean over ranks on top of that. After AllGather's backward z's gradient is complete: that of the SUM of all ranks'
    losses. So let that sum be the loss you want (each rank its own rows' terms, divided by the number of rows on ALL
    ranks), and let DataParallel add up and not divide: average="sum". Its other ways to average weigh each rank's
    gradient as if only that rank's rows were behind it, which is right for equal shares and wrong for any other.
"""

import argparse

import numpy as np
import pictures
from sklearn.datasets import load_digits
from tqdm import tqdm

import autograd as ag
import autograd.nn.functional as F
from autograd import nn, optim
from dparallel import AllGather, DataParallel, world


def data(dtype=np.float32):
    """Images (n, 8, 8) in 0..1 and their digits, shuffled: four fifths to train on, one fifth held out."""
    images, digits = load_digits(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(images))
    x, y = (images / 16).astype(dtype).reshape(-1, 8, 8)[order], digits[order]
    cut = len(x) * 4 // 5
    return x[:cut], y[:cut], x[cut:], y[cut:]


def view(image, rng):
    """The image moved by up to a pixel, its contrast changed, with noise."""
    moved = np.roll(np.pad(image, 1), rng.integers(-1, 2, 2), (0, 1))[1:-1, 1:-1]
    return moved * rng.uniform(0.7, 1.3) + rng.normal(0, 0.15, image.shape)


def views(x, rows, epoch):
    """Two views of each image, (rows, 64) each. What is drawn depends on the image and the epoch, not on the rank."""
    pairs = [[view(x[row], np.random.default_rng([epoch, row, which])) for row in rows] for which in (0, 1)]
    return [np.array(views, x.dtype).reshape(len(rows), 64) for views in pairs]


def contrastive_loss(a, b, comm, temperature=0.2):
    """This rank's part of the NT-Xent loss of embeddings a and b, (rows, width) each, two views of this rank's images.

    The parts of all ranks add up to the mean over all rows of all ranks; their number of rows may differ.
    """
    a, b = F.normalize(a, dim=1), F.normalize(b, dim=1)
    everyone = ag.cat([AllGather.apply(a, comm=comm), AllGather.apply(b, comm=comm)])       # all a, then all b
    counts = comm.rows([a.array])
    total, first = sum(counts), sum(counts[:comm.rank])
    own = np.arange(first, first + len(a))                                    # where this rank's rows are in each half
    loss = 0.0
    for z, here, partner in ((a, own, own + total), (b, own + total, own)):
        scores = z @ everyone.T / temperature
        itself = ag.from_numpy(here[:, None] == np.arange(2 * total))
        scores = scores.masked_fill(itself, -float("inf"))                    # an image is not compared with itself
        loss = loss + F.cross_entropy(scores, ag.from_numpy(partner), reduction="sum")
    return loss / (2 * total)


def encoder(dtype=np.float32):
    """Images (n, 64) to embeddings (n, 32). No batch norm: it would see this rank's rows only."""
    net = nn.Sequential(nn.Linear(64, 256), nn.ReLU(), nn.Linear(256, 128), nn.ReLU(), nn.Linear(128, 32))
    return net.to(np.dtype(dtype))


def accuracy(model, x, y, x_test, y_test, comm):
    """How many held-out images have the digit of the nearest training image, nearest by embedding."""
    with ag.no_grad():
        known, mine = (F.normalize(model(ag.from_numpy(part.reshape(-1, 64))), dim=1).numpy()
                       for part in (x, comm.share(x_test)))
    return comm.total(float((y[(mine @ known.T).argmax(1)] == comm.share(y_test)).sum())) / len(x_test)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--epochs", type=int, default=30)
    parser.add_argument("--batch", type=int, default=256, help="images of a batch over all ranks")
    parser.add_argument("--rows", type=int, default=1437, help="images to train on")
    parser.add_argument("--plot", default="contrastive.png", help="where the picture goes; empty for nowhere")
    options = parser.parse_args()
    comm = world()
    ag.manual_seed(0)
    x, y, x_test, y_test = data()
    x, y = x[:options.rows], y[:options.rows]
    model = DataParallel(encoder(), average="sum")                            # see 3. above
    before = accuracy(model, x, y, x_test, y_test, comm)
    optimizer = optim.AdamW(model.parameters(), lr=2e-3)
    losses = []
    bar = tqdm(range(options.epochs), disable=comm.rank != 0, desc="epochs")
    for epoch in bar:
        order = np.random.default_rng([1, epoch]).permutation(len(x))
        for start in range(0, len(x), options.batch):
            rows = comm.share(order[start:start + options.batch])             # shares may differ by one
            a, b = views(x, rows, epoch)
            optimizer.zero_grad()
            z = model(ag.from_numpy(np.concatenate([a, b])))
            loss = contrastive_loss(z[:len(rows)], z[len(rows):], comm)
            loss.backward()
            optimizer.step()
            losses.append(comm.total(loss.item()))
        bar.set_postfix(loss=f"{losses[-1]:.4f}")
    after = accuracy(model, x, y, x_test, y_test, comm)
    if comm.rank == 0:
        print(f"loss of the first batch: {losses[0]:.6f}, of the last: {losses[-1]:.6f}")
        print(f"held-out images whose nearest neighbour is the same digit: {after:.2%}; with random weights {before:.2%}")
        if options.plot:
            pictures.curve(options.plot, losses, "Contrastive learning on digits", "NT-Xent loss", log=False)


if __name__ == "__main__":
    main()
