"""A residual network (He et al. 2016, section 4.2) on colour images of 32 x 32 pixels in ten classes.

    python examples/cifar_resnet.py                                      digits on photographs, see below
    dprun -n 2 examples/cifar_resnet.py
    dprun -n 2 examples/cifar_resnet.py --data cifar-10-batches-bin --epochs 30 --depth 20 --width 16

--data is a folder with CIFAR-10's binary files (data_batch_1.bin ... test_batch.bin); those for Python are pickles, which
can run code, and are not read. Without it the images are made of real ones that scikit-learn carries, as MNIST-M's are
(Ganin & Lempitsky 2015): 1,797 handwritten digits, in white on darkened pieces of two photographs. Other digits, on other
parts of the photographs, are held out.

Batches, augmentation and, by SyncBatchNorm, the statistics of the layers are those of one process on any number of ranks.
"""

import argparse
import time
from pathlib import Path

import numpy as np

import autograd as ag
import autograd.nn.functional as F
from autograd import nn, optim
from autograd.utils.data import DataLoader, Dataset
from dparallel import (
    DataParallel,
    GlobalBatchSampler,
    Logger,
    SyncBatchNorm,
    assert_same_everywhere,
    evaluate,
    world,
)
from dparallel.metrics import Accuracy


class Block(nn.Module):
    """Two convolutions added to their input."""

    def __init__(self, channels, width, stride):
        super().__init__()
        self.conv1 = nn.Conv2d(channels, width, 3, stride, padding=1, bias=False)
        self.conv2 = nn.Conv2d(width, width, 3, padding=1, bias=False)
        self.bn1, self.bn2 = nn.BatchNorm2d(width), nn.BatchNorm2d(width)
        self.shortcut = nn.Identity() if channels == width and stride == 1 else nn.Sequential(
            nn.Conv2d(channels, width, 1, stride, bias=False), nn.BatchNorm2d(width))

    def forward(self, x):
        y = F.relu(self.bn1(self.conv1(x)))
        return F.relu(self.bn2(self.conv2(y)) + self.shortcut(x))


class ResNet(nn.Module):
    """6 n + 2 layers: a convolution, three stages of n blocks on 32 x 32, 16 x 16 and 8 x 8 pixels, a linear layer."""

    def __init__(self, depth, width, classes=10):
        super().__init__()
        if depth % 6 != 2:
            raise ValueError(f"--depth {depth}: 8, 14, 20, ... layers are possible")
        self.conv, self.bn = nn.Conv2d(3, width, 3, padding=1, bias=False), nn.BatchNorm2d(width)
        blocks, channels = [], width
        for stage in range(3):
            for number in range((depth - 2) // 6):
                blocks.append(Block(channels, width * 2 ** stage, 2 if stage and not number else 1))
                channels = width * 2 ** stage
        self.blocks, self.head = nn.Sequential(*blocks), nn.Linear(channels, classes)

    def forward(self, x):
        y = self.blocks(F.relu(self.bn(self.conv(x))))
        return self.head(F.adaptive_avg_pool2d(y, 1).flatten(1))


class Images(Dataset):
    """Bytes (n, 3, 32, 32) as numbers around 0, with their classes. augment: images are moved by up to 4 pixels; mirrored:
    and half of them mirrored. What is drawn depends on the epoch and the image, not on the rank."""

    def __init__(self, x, y, augment=False, mirrored=False):
        self.x, self.y, self.augment, self.mirrored, self.epoch = x, y, augment, mirrored, 0

    def __len__(self):
        return len(self.x)

    def __getitem__(self, i):
        x = (self.x[i].astype(np.float32) - 120) / 64
        if self.augment:
            rng = np.random.default_rng([self.epoch, i])
            top, left = rng.integers(0, 9, 2)
            x = np.pad(x, ((0, 0), (4, 4), (4, 4)))[:, top:top + 32, left:left + 32]
            if self.mirrored and rng.random() < 0.5:
                x = x[:, :, ::-1]
        return np.ascontiguousarray(x), self.y[i]


def cifar10(folder):
    """Images and classes to train on, and those held out, of CIFAR-10's files."""
    def read(name):
        rows = np.fromfile(Path(folder) / f"{name}.bin", np.uint8).reshape(-1, 1 + 3072)
        return rows[:, 1:], rows[:, 0]

    parts = [read(f"data_batch_{i}") for i in range(1, 6)], [read("test_batch")]
    joined = [[np.concatenate(arrays) for arrays in zip(*part, strict=True)] for part in parts]
    return [(x.reshape(-1, 3, 32, 32), y.astype(np.int64)) for x, y in joined]


def digits_on_photographs():
    """The same, made of scikit-learn's digits and photographs: 1,437 images, and 360 held out."""
    from sklearn.datasets import load_digits, load_sample_images
    images, y = load_digits(return_X_y=True)
    ink = F.interpolate(ag.from_numpy(images.reshape(-1, 1, 8, 8)) / 16, scale_factor=3, mode="bilinear")
    ink, rng, x = F.pad(ink, (4, 4, 4, 4)).numpy(), np.random.default_rng(0), np.empty((len(y), 3, 32, 32), np.uint8)
    order, cut, photographs = rng.permutation(len(y)), len(y) * 4 // 5, load_sample_images().images
    for i, row in enumerate(order):
        photograph = photographs[i % 2].transpose(2, 0, 1)               # (3, 427, 640); its right part for what is held out
        top, left = rng.integers(0, 427 - 32), rng.integers(0, 480 - 32) if i < cut else rng.integers(480, 640 - 32)
        x[i] = photograph[:, top:top + 32, left:left + 32] / 2 * (1 - ink[row]) + 255 * ink[row]
    return (x[:cut], y[order[:cut]]), (x[cut:], y[order[cut:]])


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", help="a folder with CIFAR-10's binary files")
    parser.add_argument("--depth", type=int, default=8, help="layers: 8, 14, 20, ...")
    parser.add_argument("--width", type=int, default=16, help="channels of the first stage")
    parser.add_argument("--epochs", type=int, default=8)
    parser.add_argument("--batch", type=int, default=64, help="images of a batch over all ranks")
    parser.add_argument("--lr", type=float, default=0.1, help="the largest learning rate")
    parser.add_argument("--rows", type=int, help="images to train on; by default all")
    parser.add_argument("--workers", type=int, default=0, help="threads that make batches")
    parser.add_argument("--log", help="write a line of figures for each epoch to this file (JSON lines)")
    options = parser.parse_args(arguments)
    comm = world()
    (x, y), held_out = cifar10(options.data) if options.data else digits_on_photographs()
    train = Images(x[:options.rows], y[:options.rows], augment=True, mirrored=bool(options.data))      # a mirrored 2 is no 2
    loader = DataLoader(train, batch_sampler=GlobalBatchSampler(train, options.batch), num_workers=options.workers)
    ag.manual_seed(0)
    net = SyncBatchNorm.convert_sync_batchnorm(ResNet(options.depth, options.width))
    model = DataParallel(net)
    optimizer = optim.SGD(model.parameters(), lr=options.lr, momentum=0.9, nesterov=True, weight_decay=5e-4)
    scheduler = optim.lr_scheduler.OneCycleLR(optimizer, options.lr, epochs=options.epochs, steps_per_epoch=len(loader))
    start = time.perf_counter()
    with Logger(every=len(loader), reduce={"images": "sum"}, jsonl=options.log) as log:
        for epoch in range(options.epochs):
            train.epoch = epoch
            for x, y in loader:
                loss = F.cross_entropy(model(x), y)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                scheduler.step()
                log(loss=loss, images=len(x), rows=len(x))
            result = log.now(evaluate(model, Images(*held_out), {"test_loss": F.cross_entropy, "accuracy": Accuracy()}))
    assert_same_everywhere(model)
    if comm.rank == 0:
        print(f"accuracy on {len(held_out[0]):,} held-out images: {result['accuracy']:.2%}, "
              f"after {time.perf_counter() - start:.0f} s on {comm.size} rank{'s' * (comm.size > 1)}")
    return model


if __name__ == "__main__":
    main()
