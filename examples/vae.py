"""A variational autoencoder of the digits (Kingma & Welling 2013, arXiv:1312.6114), and digits that it dreams.

    python examples/vae.py
    dprun -n 2 examples/vae.py
"""

import argparse

import numpy as np
import pictures
from sklearn.datasets import load_digits
from tqdm import tqdm

import autograd as ag
import autograd.nn.functional as F
from autograd import nn, optim
from dparallel import DataParallel, world


class VAE(nn.Module):
    """64 pixels -> mean and log variance of `code` numbers -> 64 pixels."""

    def __init__(self, code=8):
        super().__init__()
        self.code = code
        self.encoder = nn.Sequential(nn.Linear(64, 128), nn.SiLU(), nn.Linear(128, 2 * code))
        self.decoder = nn.Sequential(nn.Linear(code, 128), nn.SiLU(), nn.Linear(128, 64))

    def forward(self, x):
        mean, log_variance = self.encoder(x).chunk(2, 1)
        z = mean + ag.randn_like(mean) * (0.5 * log_variance).exp()
        return self.decoder(z), mean, log_variance


def bound(scores, x, mean, log_variance):
    """Minus the evidence lower bound, per image."""
    pixels = F.binary_cross_entropy_with_logits(scores, x, reduction="none").sum(1)
    distance = 0.5 * (mean ** 2 + log_variance.exp() - 1 - log_variance).sum(1)
    return (pixels + distance).mean()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--epochs", type=int, default=40)
    parser.add_argument("--batch", type=int, default=64, help="rows of a batch over all ranks")
    parser.add_argument("--plot", default="vae.png", help="where the picture goes; empty for nowhere")
    options = parser.parse_args()
    comm = world()
    images = (load_digits().data / 16).astype(np.float32)
    ag.manual_seed(0)
    net = VAE()
    model = DataParallel(net)
    optimizer = optim.Adam(model.parameters(), lr=2e-3)
    losses = []
    ag.manual_seed(comm.rank)                        # each rank has noise of its own
    bar = tqdm(range(options.epochs), disable=comm.rank != 0, desc="epochs")
    for epoch in bar:
        order = np.random.default_rng(epoch).permutation(len(images))
        for first in range(0, len(order), options.batch):
            batch = order[first:first + options.batch]
            x = ag.from_numpy(images[comm.share(batch)])
            optimizer.zero_grad()
            scores, mean, log_variance = model(x)
            loss = bound(scores, x, mean, log_variance)
            loss.backward()
            optimizer.step()
            losses.append(comm.total(loss.item() * len(x)) / len(batch))
        bar.set_postfix(bound=f"{losses[-1]:.2f}")
    if comm.rank == 0:
        print(f"minus the evidence lower bound: {np.mean(losses[-20:]):.2f} nats per image, at first {losses[0]:.2f}")
        with ag.no_grad():
            dreams = net.decoder(ag.randn(32, net.code)).sigmoid().numpy().reshape(-1, 8, 8)
        if options.plot:
            pictures.page(options.plot, dreams, "Digits of a VAE")


if __name__ == "__main__":
    main()
