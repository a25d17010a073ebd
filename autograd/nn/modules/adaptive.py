"""Adaptive softmax: cheap for frequent classes, for very many classes. Grave et al. 2017 (arXiv:1609.04309)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ...base.types import Array, DeviceLike, DTypeLike
from ...core.primitive import value_read
from ...core.tensor import Tensor
from ...ops.creation.fill import empty
from ...ops.shape import cat
from .. import functional as F
from ..module import Module
from .container import ModuleList, Sequential
from .linear import Linear


class _ASMoutput(NamedTuple):
    """The log probability of each target, and the mean loss."""

    output: Tensor
    loss: Tensor


class AdaptiveLogSoftmaxWithLoss(Module):
    """Log-softmax over classes sorted by decreasing frequency, divided at `cutoffs` into a head and clusters.

    Cluster i projects the input to in_features / div_value^(i + 1) features."""

    def __init__(self, in_features: int, n_classes: int, cutoffs: Sequence[int], div_value: float = 4.0,
                 head_bias: bool = False, device: DeviceLike = None, dtype: DTypeLike = None) -> None:
        super().__init__()
        cutoffs = list(cutoffs)
        if not cutoffs:
            raise ValueError("cutoffs should be a sequence of length larger than 0")
        if cutoffs != sorted(set(cutoffs)) or cutoffs[0] <= 0 or cutoffs[-1] > n_classes - 1 or any(
                int(c) != c for c in cutoffs):
            raise ValueError("cutoffs should be a sequence of unique, positive integers sorted in an increasing order, "
                             f"where each value is between 1 and n_classes-1, got {cutoffs}")
        self.in_features: int = in_features
        self.n_classes: int = n_classes
        self.cutoffs: list[int] = [*cutoffs, n_classes]
        self.div_value: float = div_value
        self.head_bias: bool = head_bias
        self.shortlist_size: int = self.cutoffs[0]
        self.n_clusters: int = len(self.cutoffs) - 1
        self.head_size: int = self.shortlist_size + self.n_clusters
        kind: dict[str, Any] = {"device": device, "dtype": dtype}
        self.head: Linear = Linear(in_features, self.head_size, bias=head_bias, **kind)
        self.tail: ModuleList = ModuleList()
        for i in range(self.n_clusters):
            inner = int(in_features // div_value ** (i + 1))
            classes = self.cutoffs[i + 1] - self.cutoffs[i]
            self.tail.append(Sequential(Linear(in_features, inner, bias=False, **kind),
                                        Linear(inner, classes, bias=False, **kind)))

    def reset_parameters(self) -> None:
        """Initialise all weights again, as the constructor does."""
        for layer in (self.head, *(part for cluster in self.tail for part in cluster.children())):
            layer.reset_parameters()

    def forward(self, input_: Tensor, target_: Tensor) -> _ASMoutput:
        """input_ (n, in_features), target_ (n,) of class numbers -> (output, loss): the log-probability of each
        target, and minus their mean. Without n both are scalars."""
        self._check(input_, target_)
        value_read("AdaptiveLogSoftmaxWithLoss")
        single = target_.ndim == 0
        input, targets = (input_.unsqueeze(0) if single else input_), target_.array.reshape(-1)
        if targets.size and (targets.min() < 0 or targets.max() >= self.n_classes):
            raise RuntimeError(f"Target values should be in [0, {self.n_classes - 1}], but values in range "
                               f"[{targets.min()}, {targets.max()}] were found. ")
        cluster = np.searchsorted(self.cutoffs, targets, "right")           # 0 is the head
        in_head = np.where(cluster == 0, targets, self.shortlist_size + cluster - 1)
        output = F.log_softmax(self.head(input), dim=1)[np.arange(len(targets)), in_head]
        for i, part in enumerate(self.tail):
            rows = np.flatnonzero(cluster == i + 1)
            if rows.size:
                local = F.log_softmax(part(input[rows]), dim=1)[np.arange(rows.size), targets[rows] - self.cutoffs[i]]
                output = output.index_add(0, _numbers(rows), local)
        loss = (-output).mean()
        return _ASMoutput(output.squeeze(0) if single else output, loss)

    def _check(self, input: Tensor, target: Tensor) -> None:
        if target.ndim not in (0, 1):
            raise RuntimeError("0D or 1D target tensor expected, multi-target not supported")
        if input.ndim != target.ndim + 1:
            raise RuntimeError(f"{target.ndim}D target tensor expects {target.ndim + 1}D input tensors, but found inputs "
                               f"with size {list(input.shape)}.")
        if target.ndim and len(input) != len(target):
            raise RuntimeError("Input and target should have the same size in the batch dimension.")

    def log_prob(self, input: Tensor) -> Tensor:
        """The log probabilities of all classes: (n, n_classes)."""
        head = F.log_softmax(self.head(input), dim=1)
        tails = [F.log_softmax(part(input), dim=1) + head[:, self.shortlist_size + i].unsqueeze(1)
                 for i, part in enumerate(self.tail)]
        return cat([head[:, :self.shortlist_size], *tails], dim=1)

    def predict(self, input: Tensor) -> Tensor:
        """The most probable class of each row: (n,), of int64. The clusters are evaluated only if the head selects one of
        them for some row."""
        head = self.head(input)
        best = head.argmax(dim=1)
        value_read("AdaptiveLogSoftmaxWithLoss.predict()")
        if bool((best.array < self.shortlist_size).all()):
            return best
        return self.log_prob(input).argmax(dim=1)


def _numbers(rows: Array) -> Tensor:
    out = empty(rows.size, dtype="int64")
    out.array[...] = rows
    return out


__all__ = ["AdaptiveLogSoftmaxWithLoss"]
