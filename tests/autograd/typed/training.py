"""A training script as users write it, under mypy's and pyright's strict rules, which find nothing in it but the lines
that end in "# bad": test_stubs.py. assert_type is checked by them alone."""
# pyright: strict
# mypy: disallow-any-generics, disallow-subclassing-any, disallow-untyped-calls, disallow-untyped-decorators
# mypy: disallow-incomplete-defs, warn-return-any, warn-redundant-casts, warn-unused-ignores, no-implicit-reexport
# mypy: strict-equality, extra-checks

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from typing_extensions import assert_type

import autograd as ag
import autograd.distributed as dist
import autograd.nn.functional as F
import dparallel
from autograd import Tensor, nn, optim
from autograd.autograd.function import FunctionCtx
from autograd.distributed.optim import ZeroRedundancyOptimizer
from autograd.multiprocessing import cpu_count, get_context
from autograd.nn.parallel import DistributedDataParallel
from autograd.optim.lr_scheduler import LRScheduler
from autograd.utils.data import (
    ConcatDataset,
    DataLoader,
    Dataset,
    IterableDataset,
    Sampler,
    Subset,
    TensorDataset,
    random_split,
)
from dparallel import Communicator, DataParallel


class Cube(ag.Function):
    @staticmethod
    def forward(ctx: FunctionCtx, x: Tensor, scale: float) -> Tensor:
        ctx.save_for_backward(x)
        return scale * x ** 3

    @staticmethod
    def backward(ctx: FunctionCtx, g: Tensor) -> tuple[Tensor, None]:
        (x,) = ctx.saved_tensors
        return 3 * g * x ** 2, None


class Net(nn.Module):
    def __init__(self, classes: int) -> None:
        super().__init__()
        self.convolution = nn.Conv2d(1, 4, 3, padding=1)
        self.norm = nn.BatchNorm2d(4)
        self.head = nn.Sequential(nn.Flatten(), nn.Linear(4 * 8 * 8, classes))
        self.scale = nn.Parameter(ag.ones(()))

    def forward(self, images: Tensor, smooth: bool = False) -> Tensor:
        hidden = F.relu(self.norm(self.convolution(images)))
        assert_type(self.head(hidden), Tensor)
        return self.head(hidden) * (self.scale if smooth else 1)


class Pair(nn.Module):
    def forward(self, x: Tensor) -> tuple[Tensor, int]:
        return x, 1


class Digits(Dataset[tuple[Tensor, int]]):
    def __init__(self, count: int) -> None:
        self.images = np.zeros((count, 1, 8, 8), np.float32)

    def __len__(self) -> int:
        return len(self.images)

    def __getitem__(self, index: int) -> tuple[Tensor, int]:
        return ag.from_numpy(self.images[index]), index % 10


class Lines(IterableDataset[str]):
    def __iter__(self) -> Iterator[str]:
        return iter(["one", "two"])


class Backwards(Sampler[int]):
    def __init__(self, source: Sequence[object]) -> None:
        self.source = source

    def __iter__(self) -> Iterator[int]:
        return iter(range(len(self.source) - 1, -1, -1))

    def __len__(self) -> int:
        return len(self.source)


class Plain(optim.Optimizer):
    def __init__(self, params: Iterator[nn.Parameter], lr: float = 0.1) -> None:
        super().__init__(params, {"lr": lr})

    @ag.no_grad()
    def step(self, closure: Callable[[], object] | None = None) -> None:
        for group in self.param_groups:
            for p in group["params"]:
                if p.grad is not None:
                    p.sub_(group["lr"] * p.grad)


class Warmup(LRScheduler):
    def get_lr(self) -> list[float]:
        return [base * min(1.0, (self.last_epoch + 1) / 5) for base in self.base_lrs]


def accuracy(model: nn.Module, loader: DataLoader[tuple[Tensor, int]]) -> float:
    model.eval()
    right = count = 0
    with ag.no_grad():
        for images, labels in loader:
            right += int((model(images).argmax(dim=1) == labels).sum().item())
            count += len(labels)
    model.train()
    return right / count


def train(comm: Communicator, epochs: int) -> float:
    ag.manual_seed(0)
    net = Net(10).to("cpu").train()
    assert_type(net, Net)
    model = DataParallel(net, comm)
    digits = Digits(64)
    training, held_out = random_split(digits, [48, 16])
    loader = DataLoader(training, batch_size=8, shuffle=True)
    optimizer = optim.AdamW(model.parameters(), lr=1e-3, weight_decay=0.01)
    schedule = optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=epochs)
    warmup = Warmup(optimizer)
    scaler = ag.amp.GradScaler("cpu", enabled=False)
    loss = ag.zeros(())
    for _ in range(epochs):
        for images, labels in loader:
            optimizer.zero_grad()
            with ag.autocast("cpu", dtype=ag.bfloat16, enabled=False):
                loss = F.cross_entropy(model(images), labels)
            scaler.scale(loss).backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            scaler.step(optimizer)
            scaler.update()
        schedule.step()
        warmup.step()
    if comm.rank == 0:
        ag.save(net.state_dict(), "net.pt")
    return accuracy(net, DataLoader(held_out, batch_size=8))


def pad(lines: list[str]) -> Tensor:
    return ag.zeros(len(lines))


def what_loaders_give(untyped: Dataset) -> None:
    digits, tensors = Digits(8), TensorDataset(ag.zeros(8, 2), ag.zeros(8))
    assert_type(next(iter(DataLoader(digits, 4, shuffle=True))), list[Tensor])
    assert_type(next(iter(DataLoader(tensors, batch_size=4, drop_last=True))), list[Tensor])
    assert_type(next(iter(DataLoader(Lines(), collate_fn=pad))), Tensor)
    assert_type(next(iter(DataLoader(digits, batch_size=None))), Any)
    assert_type(next(iter(DataLoader(untyped, 4))), Any)
    assert_type(ConcatDataset([digits, digits])[0], tuple[Tensor, int])
    assert_type(Subset(digits, [0])[0], tuple[Tensor, int])
    held: DataLoader[tuple[Tensor, int]] = DataLoader(digits, collate_fn=len)
    assert_type(next(iter(held)), Any)
    for images, labels in DataLoader(random_split(digits, [4, 4])[0], 2):
        assert_type(images, Tensor)
        labels.nonsense()  # bad
    DataLoader(digits, batchsize=4)  # bad
    DataLoader(digits, batch_size="4")  # bad
    DataLoader(digits).nonsense()  # bad


@ag.no_grad()
def quietly(x: Tensor, times: int = 1) -> Tensor:
    return x * times


@ag.no_grad
def bare(x: Tensor) -> Tensor:
    return x


@ag.compile(mode="max-autotune")
def compiled(x: Tensor) -> Tensor:
    return x


def decorated(net: Net, x: Tensor) -> None:
    assert_type(quietly(x, times=2), Tensor)
    assert_type(compiled(x), Tensor)
    print(bare(x))
    assert_type(ag.compile(net).scale, nn.Parameter)
    assert_type(ag.compile(net)(x), Tensor)
    print(cpu_count(), get_context("spawn"))
    quietly(x, 2, 3)  # bad
    quietly("x")  # bad
    quietly(x).nonsense()  # bad
    compiled("x")  # bad


def hooks_and_states(net: Net, x: Tensor) -> None:
    output, (h, c) = nn.LSTM(3, 4, batch_first=True)(x)
    assert_type(output, Tensor)
    packed = nn.utils.rnn.pack_padded_sequence(x, [2, 1], batch_first=True)
    assert_type(nn.utils.rnn.pad_packed_sequence(nn.GRU(3, 4)(packed)[0])[0], Tensor)
    print(h.shape, c.shape, net.norm.weight.data, nn.Linear(3, 4).bias.data.zero_())
    net.register_forward_hook(lambda module, args, output: None)
    net.register_full_backward_hook(lambda module, g_in, g_out: None).remove()
    optimizer = optim.SGD([{"params": list(net.parameters())}], lr=0.1)
    optim.lr_scheduler.LambdaLR(optimizer, lambda epoch: 0.9 ** epoch).step()
    for layer in nn.ModuleList([net]):
        assert_type(layer, nn.Module)
    net.register_full_backward_hook(lambda module: None)  # bad
    optim.lr_scheduler.LambdaLR(optimizer, 0.9)  # bad
    nn.GRU(3, 4)(x)[1].nonsense()  # bad
    nn.LSTM(3, 4)(x)[1][0].nonsense()  # bad


def main() -> None:
    comm = dparallel.world()
    assert_type(comm.rank, int)
    print(f"{train(comm, epochs=2):.3f}")
    x = ag.randn(2, 3, requires_grad=True)
    assert_type(Net(10)(ag.randn(1, 1, 8, 8), smooth=True), Tensor)
    assert_type(Pair()(x), tuple[Tensor, int])
    assert_type(nn.Linear(3, 4)(x), Tensor)
    assert_type(nn.Linear(3, 4).weight, nn.Parameter)
    print(comm.allreduce([np.ones(3)])[0].dtype)
    assert_type(comm.start_allreduce([np.ones(3)]).wait()[0].ndim, int)
    assert_type(comm.start_send(np.ones(3), 0).wait(), None)
    assert_type(comm.start_allgather([np.ones(3)]).then(lambda handle: len(handle.value())).wait(), int)
    assert_type(DataParallel(Pair(), comm)(x), tuple[Tensor, int])
    assert_type(DataParallel(Net(10), comm=comm).module.scale, nn.Parameter)
    assert_type(nn.DataParallel(nn.Linear(3, 4), devices=2)(x), Tensor)
    dist.init_process_group("gloo")
    assert_type(dist.get_rank(), int)
    wrapped = DistributedDataParallel(Net(10), bucket_cap_mb=10)
    assert_type(wrapped(x), Tensor)
    assert_type(wrapped.module, Net)
    ZeroRedundancyOptimizer(wrapped.parameters(), optim.SGD, lr=0.1).step()
    Plain(Net(10).parameters()).step()
    Cube.apply(x, 2.0)
    print(len(Digits(3)), list(Lines()), list(Backwards("abc")))

    # what is not there
    Net(10)(x).nonsense()  # bad
    Net(10)(x, sharp=True)  # bad
    Net(10)("x")  # bad
    nn.Linear(3, 4)(x).nonsense()  # bad
    nn.Sequential(nn.Linear(3, 4))(x).nonsense()  # bad
    nn.Linear(3, 4).weight.nonsense()  # bad
    next(Net(10).parameters()).nonsense()  # bad
    nn.MaxPool2d(2)(x).nonsense()  # bad
    nn.LSTM(3, 4)(x)[0].nonsense()  # bad
    nn.CrossEntropyLoss()(x, x).nonsense()  # bad
    nn.CrossEntropyLoss()(x)  # bad
    Net(10).eval().scale.nonsense()  # bad
    x.exp().nonsense()  # bad
    x[0].nonsense()  # bad
    (x + 1).nonsense()  # bad
    (1 - x).nonsense()  # bad
    (x @ x).nonsense()  # bad
    (x == 1).nonsense()  # bad
    F.relu(x).nonsense()  # bad
    ag.cat([x]).nonsense()  # bad
    x.T.nonsense()  # bad
    x.data.nonsense()  # bad
    next(iter(x)).nonsense()  # bad
    ag.linalg.inv(x).nonsense()  # bad
    ag.autograd.grad(x, x)[0].nonsense()  # bad
    optim.SGD(x.item)  # bad
    optim.SGD([x], learning_rate=1.0)  # bad
    comm.nonsense()  # bad
    comm.rank + "0"  # bad
    comm.start_allreduce([np.ones(3)])[0]  # bad
    comm.start_allreduce([np.ones(3)]).wait().sum()  # bad
    comm.start_gather([np.ones(3)]).wait().nonsense()  # bad
    dparallel.nonsense()  # bad
    DataParallel(Net(10), comm)(x).nonsense()  # bad
    DataParallel(Net(10), comms=comm)  # bad
    DataParallel(comm)  # bad
    wrapped(x).nonsense()  # bad
    wrapped.module(x, sharp=True)  # bad
    DistributedDataParallel(Net(10), bucket_cap=10)  # bad
    dist.nonsense()  # bad
    dist.get_rank() + "0"  # bad


if __name__ == "__main__":
    main()
