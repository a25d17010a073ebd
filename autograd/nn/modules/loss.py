"""Losses: modules around one function each. reduction is "mean", "sum" or "none"."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ...core.tensor import Tensor
from ...ops.nn.loss_reduction import chosen
from .. import functional as F
from ..module import Module
from .distance import PairwiseDistance


class Loss(Module):
    """Base of all losses: `reduction`, or the deprecated size_average and reduce, which are translated to it."""

    def __init__(self, size_average: bool | None = None, reduce: bool | None = None, reduction: str = "mean") -> None:
        super().__init__()
        self.reduction: str = reduction if size_average is None and reduce is None else chosen("mean", size_average, reduce)


_Loss = Loss


class _WeightedLoss(_Loss):
    """A loss with a buffer `weight`: one number per class, or per element."""

    weight: Tensor | None

    def __init__(self, weight: Tensor | None = None, size_average: bool | None = None, reduce: bool | None = None,
                 reduction: str = "mean") -> None:
        super().__init__(size_average, reduce, reduction)
        self.register_buffer("weight", weight)


# --- distances --------------------------------------------------------------------------------------------------------

class L1Loss(_Loss):
    """Absolute error |input - target|."""

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """input, target of shapes that broadcast -> a scalar, or that shape if reduction is "none"."""
        return F.l1_loss(input, target, reduction=self.reduction)


class MSELoss(_Loss):
    """Squared error (input - target)^2."""

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """input, target of shapes that broadcast -> a scalar, or that shape if reduction is "none"."""
        return F.mse_loss(input, target, reduction=self.reduction)


class SmoothL1Loss(_Loss):
    """With d = input - target: d^2 / (2 beta) where |d| < beta, |d| - beta / 2 elsewhere. Girshick 2015 (arXiv:1504.08083).
    """

    def __init__(self, size_average: bool | None = None, reduce: bool | None = None, reduction: str = "mean",
                 beta: float = 1.0) -> None:
        super().__init__(size_average, reduce, reduction)
        self.beta = beta

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """input, target of shapes that broadcast -> a scalar, or that shape if reduction is "none"."""
        return F.smooth_l1_loss(input, target, reduction=self.reduction, beta=self.beta)


class HuberLoss(_Loss):
    """With d = input - target: d^2 / 2 where |d| < delta, delta * (|d| - delta / 2) elsewhere."""

    def __init__(self, reduction: str = "mean", delta: float = 1.0) -> None:
        super().__init__(reduction=reduction)
        self.delta = delta

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """input, target of shapes that broadcast -> a scalar, or that shape if reduction is "none"."""
        return F.huber_loss(input, target, reduction=self.reduction, delta=self.delta)


class GaussianNLLLoss(_Loss):
    """(log(var) + (input - target)^2 / var) / 2, with var at least eps; full=True adds log(2 pi) / 2. Nix & Weigend 1994."""

    def __init__(self, *, full: bool = False, eps: float = 1e-6, reduction: str = "mean") -> None:
        super().__init__(reduction=reduction)
        self.full: bool = full
        self.eps: float = eps

    def forward(self, input: Tensor, target: Tensor, var: Tensor) -> Tensor:
        """input, target of one shape; var of that shape, without its last dimension, or 1 there -> a scalar, or input's
        shape if reduction is "none"."""
        return F.gaussian_nll_loss(input, target, var, full=self.full, eps=self.eps, reduction=self.reduction)


class PoissonNLLLoss(_Loss):
    """exp(input) - target * input; with log_input=False input - target * log(input + eps). full=True adds Stirling's
    approximation of log(target!)."""

    def __init__(self, log_input: bool = True, full: bool = False, size_average: bool | None = None, eps: float = 1e-8,
                 reduce: bool | None = None, reduction: str = "mean") -> None:
        super().__init__(size_average, reduce, reduction)
        self.log_input: bool = log_input
        self.full: bool = full
        self.eps: float = eps

    def forward(self, log_input: Tensor, target: Tensor) -> Tensor:
        """log_input, target of one shape -> a scalar, or that shape if reduction is "none"."""
        return F.poisson_nll_loss(log_input, target, log_input=self.log_input, full=self.full, eps=self.eps,
                                  reduction=self.reduction)


class KLDivLoss(_Loss):
    """Kullback-Leibler divergence target * (log(target) - input); the input holds log probabilities."""

    def __init__(self, size_average: bool | None = None, reduce: bool | None = None, reduction: str = "mean",
                 log_target: bool = False) -> None:
        super().__init__(size_average, reduce, reduction)
        self.log_target = log_target

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """input, target of one shape -> a scalar, or that shape if reduction is "none"; "batchmean" divides the sum by the
        number of rows."""
        return F.kl_div(input, target, reduction=self.reduction, log_target=self.log_target)


# --- classes ----------------------------------------------------------------------------------------------------------

class NLLLoss(_WeightedLoss):
    """Negative log likelihood -input[target] of log probabilities (n, c, ...), weighted by class; ignores `ignore_index`."""

    def __init__(self, weight: Tensor | None = None, size_average: bool | None = None, ignore_index: int = -100,
                 reduce: bool | None = None, reduction: str = "mean") -> None:
        super().__init__(weight, size_average, reduce, reduction)
        self.ignore_index = ignore_index

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """input (n, c, ...) of log-probabilities, target (n, ...) of class numbers -> a scalar, or target's shape if
        reduction is "none"."""
        return F.nll_loss(input, target, weight=self.weight, ignore_index=self.ignore_index, reduction=self.reduction)


class CrossEntropyLoss(_WeightedLoss):
    """-log softmax(input)[target], or -sum(target * log softmax(input)) for target probabilities; label_smoothing mixes the
    target with the uniform distribution."""

    def __init__(self, weight: Tensor | None = None, size_average: bool | None = None, ignore_index: int = -100,
                 reduce: bool | None = None, reduction: str = "mean", label_smoothing: float = 0.0) -> None:
        super().__init__(weight, size_average, reduce, reduction)
        self.ignore_index: int = ignore_index
        self.label_smoothing: float = label_smoothing

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """input (n, c, ...) of scores, target (n, ...) of class numbers or (n, c, ...) of probabilities -> a scalar, or
        shape (n, ...) if reduction is "none"."""
        return F.cross_entropy(input, target, weight=self.weight, ignore_index=self.ignore_index,
                               reduction=self.reduction, label_smoothing=self.label_smoothing)


class BCELoss(_WeightedLoss):
    """-target * log(input) - (1 - target) * log(1 - input); logs are clamped to -100."""

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """input, target of one shape, input in [0, 1] -> a scalar, or that shape if reduction is "none"."""
        return F.binary_cross_entropy(input, target, weight=self.weight, reduction=self.reduction)


class BCEWithLogitsLoss(_Loss):
    """BCELoss of sigmoid(input), computed without overflow; pos_weight multiplies the first term."""

    weight: Tensor | None
    pos_weight: Tensor | None

    def __init__(self, weight: Tensor | None = None, size_average: bool | None = None, reduce: bool | None = None,
                 reduction: str = "mean", pos_weight: Tensor | None = None) -> None:
        super().__init__(size_average, reduce, reduction)
        self.register_buffer("weight", weight)
        self.register_buffer("pos_weight", pos_weight)

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """input, target of one shape -> a scalar, or that shape if reduction is "none"."""
        return F.binary_cross_entropy_with_logits(input, target, self.weight, pos_weight=self.pos_weight,
                                                  reduction=self.reduction)


class MultiLabelSoftMarginLoss(_WeightedLoss):
    """The mean of BCEWithLogitsLoss over the classes."""

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """input, target (n, c) -> a scalar, or shape (n,) if reduction is "none"."""
        return F.multilabel_soft_margin_loss(input, target, weight=self.weight, reduction=self.reduction)


class SoftMarginLoss(_Loss):
    """log(1 + exp(-target * input)), for targets 1 and -1."""

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """input, target of one shape -> a scalar, or that shape if reduction is "none"."""
        return F.soft_margin_loss(input, target, reduction=self.reduction)


class CTCLoss(_Loss):
    """-log of the probability of label sequences, over all alignments. Graves et al. 2006."""

    def __init__(self, blank: int = 0, reduction: str = "mean", zero_infinity: bool = False) -> None:
        super().__init__(reduction=reduction)
        self.blank: int = blank
        self.zero_infinity: bool = zero_infinity

    def forward(self, log_probs: Tensor, targets: Tensor, input_lengths: Tensor | Sequence[int],
                target_lengths: Tensor | Sequence[int]) -> Tensor:
        """log_probs (t, n, c), targets (n, s) or concatenated, input_lengths (n,), target_lengths (n,) -> a scalar, or shape
        (n,) if reduction is "none"."""
        return F.ctc_loss(log_probs, targets, input_lengths, target_lengths, self.blank, self.reduction,
                          self.zero_infinity)


# --- margins ----------------------------------------------------------------------------------------------------------

class HingeEmbeddingLoss(_Loss):
    """input where target is 1, max(0, margin - input) where it is -1."""

    def __init__(self, margin: float = 1.0, size_average: bool | None = None, reduce: bool | None = None,
                 reduction: str = "mean") -> None:
        super().__init__(size_average, reduce, reduction)
        self.margin = margin

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """input, target of one shape -> a scalar, or that shape if reduction is "none"."""
        return F.hinge_embedding_loss(input, target, margin=self.margin, reduction=self.reduction)


class CosineEmbeddingLoss(_Loss):
    """1 - cos(input1, input2) where target is 1, max(0, cos(input1, input2) - margin) where it is -1."""

    def __init__(self, margin: float = 0.0, size_average: bool | None = None, reduce: bool | None = None,
                 reduction: str = "mean") -> None:
        super().__init__(size_average, reduce, reduction)
        self.margin = margin

    def forward(self, input1: Tensor, input2: Tensor, target: Tensor) -> Tensor:
        """input1, input2 (n, d), target (n,) of 1 and -1 -> a scalar, or shape (n,) if reduction is "none"."""
        return F.cosine_embedding_loss(input1, input2, target, margin=self.margin, reduction=self.reduction)


class MarginRankingLoss(_Loss):
    """max(0, -target * (input1 - input2) + margin): target 1 ranks input1 above input2, -1 below."""

    def __init__(self, margin: float = 0.0, size_average: bool | None = None, reduce: bool | None = None,
                 reduction: str = "mean") -> None:
        super().__init__(size_average, reduce, reduction)
        self.margin = margin

    def forward(self, input1: Tensor, input2: Tensor, target: Tensor) -> Tensor:
        """input1, input2, target of shapes that broadcast -> a scalar, or that shape if reduction is "none"."""
        return F.margin_ranking_loss(input1, input2, target, margin=self.margin, reduction=self.reduction)


class MultiLabelMarginLoss(_Loss):
    """The sum over labels i and other classes j of max(0, 1 - input[i] + input[j]), divided by the number of classes."""

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """input (n, c); target (n, c), each row its class numbers first, then -1 -> a scalar, or shape (n,) if reduction is
        "none"."""
        return F.multilabel_margin_loss(input, target, reduction=self.reduction)


class MultiMarginLoss(_WeightedLoss):
    """The sum over classes j other than the target of max(0, margin - input[target] + input[j])^p, divided by the number of
    classes."""

    def __init__(self, p: int = 1, margin: float = 1.0, weight: Tensor | None = None, size_average: bool | None = None,
                 reduce: bool | None = None, reduction: str = "mean") -> None:
        super().__init__(weight, size_average, reduce, reduction)
        if p not in (1, 2):
            raise ValueError("only p == 1 and p == 2 supported")
        if weight is not None and weight.ndim != 1:
            raise ValueError(f"MultiMarginLoss: expected weight to be None or 1D tensor, got {weight.ndim}D instead")
        self.p = p
        self.margin: float = margin

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """input (n, c), target (n,) of class numbers -> a scalar, or shape (n,) if reduction is "none"."""
        return F.multi_margin_loss(input, target, p=self.p, margin=self.margin, weight=self.weight,
                                   reduction=self.reduction)


class TripletMarginLoss(_Loss):
    """max(0, d(anchor, positive) - d(anchor, negative) + margin), d the p-norm of the difference; swap=True uses the smaller
    of d(anchor, negative) and d(positive, negative). Balntas et al. 2016."""

    def __init__(self, margin: float = 1.0, p: float = 2.0, eps: float = 1e-6, swap: bool = False,
                 size_average: bool | None = None, reduce: bool | None = None, reduction: str = "mean") -> None:
        super().__init__(size_average, reduce, reduction)
        if margin <= 0:
            raise ValueError(f"TripletMarginLoss: expected margin to be greater than 0, got {margin} instead")
        self.margin: float = margin
        self.p: float = p
        self.eps: float = eps
        self.swap: bool = swap

    def forward(self, anchor: Tensor, positive: Tensor, negative: Tensor) -> Tensor:
        """anchor, positive, negative (n, d) -> a scalar, or shape (n,) if reduction is "none"."""
        return F.triplet_margin_loss(anchor, positive, negative, margin=self.margin, p=self.p, eps=self.eps,
                                     swap=self.swap, reduction=self.reduction)


class TripletMarginWithDistanceLoss(_Loss):
    """TripletMarginLoss with a distance given as a function of two tensors or as a module."""

    distance_function: Callable[[Tensor, Tensor], Tensor]

    def __init__(self, *, distance_function: Callable[[Any, Any], Any] | None = None, margin: float = 1.0,
                 swap: bool = False, reduction: str = "mean") -> None:
        super().__init__(reduction=reduction)
        if margin <= 0:
            raise ValueError(f"TripletMarginWithDistanceLoss: expected margin to be greater than 0, got {margin} instead")
        self.distance_function = PairwiseDistance() if distance_function is None else distance_function
        self.margin: float = margin
        self.swap: bool = swap

    def forward(self, anchor: Tensor, positive: Tensor, negative: Tensor) -> Tensor:
        """anchor, positive, negative (n, ...) -> a scalar, or the distance's shape if reduction is "none"."""
        return F.triplet_margin_with_distance_loss(anchor, positive, negative, distance_function=self.distance_function,
                                                   margin=self.margin, swap=self.swap, reduction=self.reduction)


class NLLLoss2d(NLLLoss):
    """Older name of NLLLoss for images."""


__all__ = ["BCELoss", "BCEWithLogitsLoss", "CTCLoss", "CosineEmbeddingLoss", "CrossEntropyLoss", "GaussianNLLLoss",
           "HingeEmbeddingLoss", "HuberLoss", "KLDivLoss", "L1Loss", "MSELoss", "MarginRankingLoss", "MultiLabelMarginLoss",
           "MultiLabelSoftMarginLoss", "MultiMarginLoss", "NLLLoss", "NLLLoss2d", "PoissonNLLLoss", "SmoothL1Loss",
           "SoftMarginLoss", "TripletMarginLoss", "TripletMarginWithDistanceLoss"]
