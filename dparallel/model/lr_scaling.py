"""The linear scaling rule of the learning rate for large batches (Goyal et al. 2017, "Accurate, Large Minibatch SGD",
arXiv:1706.02677)."""

from __future__ import annotations

import math

from autograd.optim import Optimizer
from autograd.optim.lr_scheduler import ConstantLR, LinearLR, LRScheduler


def linear_scaling(optimizer: Optimizer, size: float, warmup_steps: int = 0) -> LRScheduler:
    """Apply the linear scaling rule with gradual warm-up: if the minibatch is multiplied by k, multiply the learning rate by
    k.

    The learning rate of every parameter group is multiplied by k = size. With warmup_steps it rises from the old rate in
    equal steps (the paper: over 5 epochs): call step() of the returned LRScheduler after each of the optimizer's steps. It
    can be combined with other schedulers in ChainedScheduler or SequentialLR.
    """
    if not 0 < size < math.inf:
        raise ValueError(f"linear_scaling: size={size}, the ratio of batch sizes, must be a positive number")
    if warmup_steps < 0:
        raise ValueError(f"linear_scaling: warmup_steps={warmup_steps} is 0 or more")
    for group in optimizer.param_groups:
        if isinstance(group["lr"], (int, float)):
            group["lr"] = group["lr"] * size
        else:
            group["lr"].array[...] *= size
        if "initial_lr" in group:
            group["initial_lr"] = group["initial_lr"] * size
    if size <= 1 or not warmup_steps:
        return ConstantLR(optimizer, factor=1.0, total_iters=1)
    return LinearLR(optimizer, start_factor=1 / size, total_iters=warmup_steps)
