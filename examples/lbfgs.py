"""A linear model of the progress of diabetes (442 patients, Efron et al. 2004), fitted by LBFGS to least squares.

    python examples/lbfgs.py
    dprun -n 2 examples/lbfgs.py
"""

import argparse

import numpy as np
import pictures
from sklearn.datasets import load_diabetes
from tqdm import tqdm

import autograd as ag
import autograd.nn.functional as F
from autograd import nn, optim
from dparallel import DataParallel, world


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=10)
    parser.add_argument("--plot", default="lbfgs.png", help="where the picture goes; empty for nowhere")
    options = parser.parse_args()
    comm = world()
    x, y = load_diabetes(return_X_y=True)
    x, y = (x - x.mean(0)) / x.std(0), ((y - y.mean()) / y.std())[:, None]
    rows = comm.share(np.arange(len(x)))
    mine, target = ag.from_numpy(x[rows]), ag.from_numpy(y[rows])
    ag.manual_seed(0)
    net = nn.Linear(x.shape[1], 1).double()
    model = DataParallel(net)
    optimizer = optim.LBFGS(model.parameters(), line_search_fn="strong_wolfe")
    losses = []

    def closure():
        optimizer.zero_grad()
        loss = F.mse_loss(model(mine), target)
        loss.backward()
        losses.append(comm.total(loss.item() * len(rows)) / len(x))
        return losses[-1]                            # of all rows: every rank takes the same steps

    for _ in tqdm(range(options.steps), disable=comm.rank != 0, desc="steps"):
        optimizer.step(closure)
    best, *_ = np.linalg.lstsq(np.hstack([x, np.ones((len(x), 1))]), y, rcond=None)
    found = np.concatenate([net.weight.detach().numpy()[0], net.bias.detach().numpy()])
    if comm.rank == 0:
        distance = abs(found - best[:, 0]).max()
        print(f"mean squared error {losses[-1]:.6f}; largest distance from the exact solution {distance:.1e}")
        if options.plot:
            pictures.curve(options.plot, losses, "LBFGS", "mean squared error")


if __name__ == "__main__":
    main()
