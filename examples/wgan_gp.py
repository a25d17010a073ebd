"""A Wasserstein GAN with gradient penalty on the digits (Gulrajani et al. 2017, arXiv:1704.00028): second derivatives.

    python examples/wgan_gp.py
    dprun -n 2 examples/wgan_gp.py
"""

import argparse
import itertools

import numpy as np
import pictures
from sklearn.datasets import load_digits
from tqdm import tqdm

import autograd as ag
from autograd import nn, optim
from dparallel import DataParallel, world


def network(*widths):
    """Linear layers with leaky ReLUs between them."""
    layers = []
    for a, b in itertools.pairwise(widths):
        layers += [nn.Linear(a, b), nn.LeakyReLU(0.2)]
    return nn.Sequential(*layers[:-1])


def penalty(critic, real, fake):
    """(|gradient of the critic| - 1)^2 at points between real and fake images."""
    mix = ag.rand(len(real), 1)
    points = (mix * real + (1 - mix) * fake).requires_grad_()
    (gradient,) = ag.autograd.grad(critic(points).sum(), [points], create_graph=True)
    return ((gradient.norm(2, dim=1) - 1) ** 2).mean()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=600)
    parser.add_argument("--batch", type=int, default=64, help="rows of a batch over all ranks")
    parser.add_argument("--plot", default="wgan_gp.png", help="where the picture goes; empty for nowhere")
    options = parser.parse_args()
    comm = world()
    images = (load_digits().data / 8 - 1).astype(np.float32)
    ag.manual_seed(0)
    make, judge = network(16, 128, 128, 64), network(64, 128, 128, 1)
    generator, critic = DataParallel(make), DataParallel(judge)
    to_make = optim.Adam(generator.parameters(), lr=5e-4, betas=(0.5, 0.9))
    to_judge = optim.Adam(critic.parameters(), lr=5e-4, betas=(0.5, 0.9))
    ag.manual_seed(comm.rank)                        # each rank has noise of its own
    distances = []
    bar = tqdm(range(options.steps), disable=comm.rank != 0)
    for step in bar:
        rows = comm.share(np.random.default_rng(step).choice(len(images), options.batch, replace=False))
        real = ag.from_numpy(images[rows])
        with ag.no_grad():
            fake = make(ag.randn(len(rows), 16)).tanh()
        to_judge.zero_grad()
        distance = critic(real).mean() - critic(fake).mean()
        (10 * penalty(critic, real, fake) - distance).backward()
        to_judge.step()
        distances.append(distance.item())
        if step % 3 == 2:
            to_make.zero_grad()
            loss = -critic(generator(ag.randn(len(rows), 16)).tanh()).mean()
            loss.backward()
            to_make.step()
            judge.zero_grad()
        bar.set_postfix(distance=f"{distances[-1]:.3f}")
    if comm.rank == 0:
        print(f"Wasserstein distance that the critic sees: {np.mean(distances[-20:]):.3f}, "
              f"at its largest {max(distances):.3f}")
        with ag.no_grad():
            dreams = make(ag.randn(32, 16)).tanh().numpy().reshape(-1, 8, 8)
        if options.plot:
            pictures.page(options.plot, dreams, "Digits of a WGAN-GP")


if __name__ == "__main__":
    main()
