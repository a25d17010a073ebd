"""Losses: modules around one function each. reduction is "mean", "sum" or "none"."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ...core.tensor import Tensor
from ...ops.nn.loss import chosen
from .. import functional as F
from ..module import Module
from .distance import PairwiseDistance


class Loss(Module):
    """Base of all losses: `reduction`, or the deprecated size_average and reduce, which are translated to it."""

    def __init__(self, size_average: bool | None = None, reduce: bool | None = None, reduction: str = "mean") -> None:
        self.reduction: str = reduction if size_average is None and reduce is None else chosen("mean", size_average, reduce)


_Loss = Loss


class _WeightedLoss(_Loss):
    """A loss with a weight, a buffer: one number for each class, or for each element."""

    weight: Tensor | None

    def __init__(self, weight: Tensor | None = None, size_average: bool | None = None, reduce: bool | None = None,
                 reduction: str = "mean") -> None:
        super().__init__(size_average, reduce, reduction)
        self.register_buffer("weight", weight)


# --- distances --------------------------------------------------------------------------------------------------------

class L1Loss(_Loss):
    """The absolute error |input - target|.

    Args:
        size_average (bool): Deprecated: reduction says it.
        reduce (bool): Deprecated: reduction says it.
        reduction (str): "none", "mean" or "sum". Default: 'mean'.

    Example:
        >>> ag.nn.L1Loss()(ag.tensor([1.0, 2.0]), ag.tensor([1.0, 4.0]))
        tensor(1.)
    """

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """input, target of shapes that broadcast -> a scalar, or that shape if reduction is "none"."""
        return F.l1_loss(input, target, reduction=self.reduction)


class MSELoss(_Loss):
    """The squared error (input - target)^2.

    Args:
        size_average (bool): Deprecated: reduction says it.
        reduce (bool): Deprecated: reduction says it.
        reduction (str): "none", "mean" or "sum". Default: 'mean'.

    Example:
        >>> ag.nn.MSELoss()(ag.tensor([1.0, 2.0]), ag.tensor([1.0, 4.0]))
        tensor(2.)
    """

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """input, target of shapes that broadcast -> a scalar, or that shape if reduction is "none"."""
        return F.mse_loss(input, target, reduction=self.reduction)


class SmoothL1Loss(_Loss):
    """With d = input - target: d^2 / (2 beta) where |d| < beta, |d| - beta / 2 elsewhere. Girshick 2015
    (arXiv:1504.08083).

    Args:
        size_average (bool): Deprecated: reduction says it.
        reduce (bool): Deprecated: reduction says it.
        reduction (str): "none", "mean" or "sum". Default: 'mean'.
        beta (float): Where the parabola ends. Default: 1.0.

    Example:
        >>> ag.nn.SmoothL1Loss()(ag.tensor([0.0, 3.0]), ag.tensor([0.5, 0.0]))
        tensor(1.3125)
    """

    def __init__(self, size_average: bool | None = None, reduce: bool | None = None, reduction: str = "mean",
                 beta: float = 1.0) -> None:
        super().__init__(size_average, reduce, reduction)
        self.beta = beta

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """input, target of shapes that broadcast -> a scalar, or that shape if reduction is "none"."""
        return F.smooth_l1_loss(input, target, reduction=self.reduction, beta=self.beta)


class HuberLoss(_Loss):
    """With d = input - target: d^2 / 2 where |d| < delta, delta * (|d| - delta / 2) elsewhere.

    Args:
        reduction (str): "none", "mean" or "sum". Default: 'mean'.
        delta (float): Where the parabola ends. Default: 1.0.

    Example:
        >>> ag.nn.HuberLoss()(ag.tensor([0.0, 3.0]), ag.tensor([0.5, 0.0]))
        tensor(1.3125)
    """

    def __init__(self, reduction: str = "mean", delta: float = 1.0) -> None:
        super().__init__(reduction=reduction)
        self.delta = delta

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """input, target of shapes that broadcast -> a scalar, or that shape if reduction is "none"."""
        return F.huber_loss(input, target, reduction=self.reduction, delta=self.delta)


class GaussianNLLLoss(_Loss):
    """(log(var) + (input - target)^2 / var) / 2, with var at least eps; full=True adds log(2 pi) / 2. Nix & Weigend
    1994.

    Args:
        full (bool): Whether the constant is added. Default: False.
        eps (float): The smallest variance. Default: 1e-06.
        reduction (str): "none", "mean" or "sum". Default: 'mean'.

    Example:
        >>> ag.nn.GaussianNLLLoss()(ag.tensor([1.0, 2.0]), ag.tensor([1.0, 3.0]), ag.tensor([1.0, 1.0]))
        tensor(0.2500)
    """

    def __init__(self, *, full: bool = False, eps: float = 1e-6, reduction: str = "mean") -> None:
        super().__init__(reduction=reduction)
        self.full: bool = full
        self.eps: float = eps

    def forward(self, input: Tensor, target: Tensor, var: Tensor) -> Tensor:
        """input, target of one shape; var of that shape, without its last dimension, or 1 there -> a scalar, or
        input's shape if reduction is "none".
        """
        return F.gaussian_nll_loss(input, target, var, full=self.full, eps=self.eps, reduction=self.reduction)


class PoissonNLLLoss(_Loss):
    """exp(input) - target * input; with log_input=False input - target * log(input + eps). full=True adds Stirling's
    approximation of log(target!).

    Args:
        log_input (bool): Whether the input holds logarithms. Default: True.
        full (bool): Whether the constant is added. Default: False.
        size_average (bool): Deprecated: reduction says it.
        eps (float): Keeps divisions by 0 away. Default: 1e-08.
        reduce (bool): Deprecated: reduction says it.
        reduction (str): "none", "mean" or "sum". Default: 'mean'.

    Example:
        >>> ag.nn.PoissonNLLLoss()(ag.tensor([0.0, 1.0]), ag.tensor([1.0, 2.0]))
        tensor(0.8591)
    """

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
    """target * (log(target) - input), where input holds log-probabilities; with log_target=True the target does, too.

    Args:
        size_average (bool): Deprecated: reduction says it.
        reduce (bool): Deprecated: reduction says it.
        reduction (str): "none", "mean" or "sum". Default: 'mean'.
        log_target (bool): Whether the target holds log probabilities. Default: False.

    Example:
        >>> ag.nn.KLDivLoss(reduction="batchmean")(ag.tensor([[0.5, 0.5]]).log(), ag.tensor([[0.25, 0.75]]))
        tensor(0.1308)
    """

    def __init__(self, size_average: bool | None = None, reduce: bool | None = None, reduction: str = "mean",
                 log_target: bool = False) -> None:
        super().__init__(size_average, reduce, reduction)
        self.log_target = log_target

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """input, target of one shape -> a scalar, or that shape if reduction is "none"; "batchmean" divides the sum by
        the number of rows.
        """
        return F.kl_div(input, target, reduction=self.reduction, log_target=self.log_target)


# --- classes ----------------------------------------------------------------------------------------------------------

class NLLLoss(_WeightedLoss):
    """-input[target], of log probabilities (n, c, ...), weighted by class; targets equal to ignore_index do not count.

    Args:
        weight (Tensor): Factor of each class.
        size_average (bool): Deprecated: reduction says it.
        ignore_index (int): Class number that does not count. Default: -100.
        reduce (bool): Deprecated: reduction says it.
        reduction (str): "none", "mean" or "sum". Default: 'mean'.

    Example:
        >>> ag.nn.NLLLoss()(ag.tensor([[2.0, 0.0], [0.0, 3.0]]).log_softmax(1), ag.tensor([0, 1]))
        tensor(0.0878)
    """

    def __init__(self, weight: Tensor | None = None, size_average: bool | None = None, ignore_index: int = -100,
                 reduce: bool | None = None, reduction: str = "mean") -> None:
        super().__init__(weight, size_average, reduce, reduction)
        self.ignore_index = ignore_index

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """input (n, c, ...) of log-probabilities, target (n, ...) of class numbers -> a scalar, or target's shape if
        reduction is "none".
        """
        return F.nll_loss(input, target, weight=self.weight, ignore_index=self.ignore_index, reduction=self.reduction)


class CrossEntropyLoss(_WeightedLoss):
    """-log softmax(input)[target], or -sum(target * log softmax(input)) for target probabilities; label_smoothing
    mixes the target with the uniform distribution.

    Args:
        weight (Tensor): Factor of each class.
        size_average (bool): Deprecated: reduction says it.
        ignore_index (int): Class number that does not count. Default: -100.
        reduce (bool): Deprecated: reduction says it.
        reduction (str): "none", "mean" or "sum". Default: 'mean'.
        label_smoothing (float): Part of the target that is spread over all classes. Default: 0.0.

    Example:
        >>> ag.nn.CrossEntropyLoss()(ag.tensor([[2.0, 0.0, 0.0], [0.0, 3.0, 0.0]]), ag.tensor([0, 1]))
        tensor(0.1672)
    """

    def __init__(self, weight: Tensor | None = None, size_average: bool | None = None, ignore_index: int = -100,
                 reduce: bool | None = None, reduction: str = "mean", label_smoothing: float = 0.0) -> None:
        super().__init__(weight, size_average, reduce, reduction)
        self.ignore_index: int = ignore_index
        self.label_smoothing: float = label_smoothing

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """input (n, c, ...) of scores, target (n, ...) of class numbers or (n, c, ...) of probabilities -> a scalar,
        or shape (n, ...) if reduction is "none".
        """
        return F.cross_entropy(input, target, weight=self.weight, ignore_index=self.ignore_index,
                               reduction=self.reduction, label_smoothing=self.label_smoothing)


class BCELoss(_WeightedLoss):
    """-target * log(input) - (1 - target) * log(1 - input); logs are clamped to -100.

    Args:
        weight (Tensor): Factor of each element.
        size_average (bool): Deprecated: reduction says it.
        reduce (bool): Deprecated: reduction says it.
        reduction (str): "none", "mean" or "sum". Default: 'mean'.

    Example:
        >>> ag.nn.BCELoss()(ag.tensor([0.9, 0.1]), ag.tensor([1.0, 0.0]))
        tensor(0.1054)
    """

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """input, target of one shape, input in [0, 1] -> a scalar, or that shape if reduction is "none"."""
        return F.binary_cross_entropy(input, target, weight=self.weight, reduction=self.reduction)


class BCEWithLogitsLoss(_Loss):
    """BCELoss of sigmoid(input), computed without overflow; pos_weight multiplies the first term.

    Args:
        weight (Tensor): Factor of each element.
        size_average (bool): Deprecated: reduction says it.
        reduce (bool): Deprecated: reduction says it.
        reduction (str): "none", "mean" or "sum". Default: 'mean'.
        pos_weight (Tensor): Factor of the positive part, one for each class.

    Example:
        >>> ag.nn.BCEWithLogitsLoss()(ag.tensor([2.0, -2.0]), ag.tensor([1.0, 0.0]))
        tensor(0.1269)
    """

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
    """The mean of BCEWithLogitsLoss over the classes.

    Args:
        weight (Tensor): Factor of each class.
        size_average (bool): Deprecated: reduction says it.
        reduce (bool): Deprecated: reduction says it.
        reduction (str): "none", "mean" or "sum". Default: 'mean'.

    Example:
        >>> ag.nn.MultiLabelSoftMarginLoss()(ag.tensor([[2.0, -2.0]]), ag.tensor([[1.0, 0.0]]))
        tensor(0.1269)
    """

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """input, target (n, c) -> a scalar, or shape (n,) if reduction is "none"."""
        return F.multilabel_soft_margin_loss(input, target, weight=self.weight, reduction=self.reduction)


class SoftMarginLoss(_Loss):
    """log(1 + exp(-target * input)), for targets 1 and -1.

    Args:
        size_average (bool): Deprecated: reduction says it.
        reduce (bool): Deprecated: reduction says it.
        reduction (str): "none", "mean" or "sum". Default: 'mean'.

    Example:
        >>> ag.nn.SoftMarginLoss()(ag.tensor([2.0, -2.0]), ag.tensor([1.0, -1.0]))
        tensor(0.1269)
    """

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """input, target of one shape -> a scalar, or that shape if reduction is "none"."""
        return F.soft_margin_loss(input, target, reduction=self.reduction)


class CTCLoss(_Loss):
    """-log of the probability of label sequences, over all alignments. Graves et al. 2006.

    Args:
        blank (int): Number of the blank label. Default: 0.
        reduction (str): "none", "mean" or "sum". Default: 'mean'.
        zero_infinity (bool): Whether infinite losses become 0. Default: False.

    Example:
        >>> ag.nn.CTCLoss()(ag.zeros(4, 1, 3).log_softmax(2), ag.tensor([[1, 2]]), ag.tensor([4]), ag.tensor([2]))
        tensor(0.8432)
    """

    def __init__(self, blank: int = 0, reduction: str = "mean", zero_infinity: bool = False) -> None:
        super().__init__(reduction=reduction)
        self.blank: int = blank
        self.zero_infinity: bool = zero_infinity

    def forward(self, log_probs: Tensor, targets: Tensor, input_lengths: Tensor | Sequence[int],
                target_lengths: Tensor | Sequence[int]) -> Tensor:
        """log_probs (t, n, c), targets (n, s) or concatenated, input_lengths (n,), target_lengths (n,) -> a scalar, or
        shape (n,) if reduction is "none".
        """
        return F.ctc_loss(log_probs, targets, input_lengths, target_lengths, self.blank, self.reduction,
                          self.zero_infinity)


# --- margins ----------------------------------------------------------------------------------------------------------

class HingeEmbeddingLoss(_Loss):
    """input where target is 1, max(0, margin - input) where it is -1.

    Args:
        margin (float): The margin. Default: 1.0.
        size_average (bool): Deprecated: reduction says it.
        reduce (bool): Deprecated: reduction says it.
        reduction (str): "none", "mean" or "sum". Default: 'mean'.

    Example:
        >>> ag.nn.HingeEmbeddingLoss()(ag.tensor([0.5, 0.5]), ag.tensor([1.0, -1.0]))
        tensor(0.5000)
    """

    def __init__(self, margin: float = 1.0, size_average: bool | None = None, reduce: bool | None = None,
                 reduction: str = "mean") -> None:
        super().__init__(size_average, reduce, reduction)
        self.margin = margin

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """input, target of one shape -> a scalar, or that shape if reduction is "none"."""
        return F.hinge_embedding_loss(input, target, margin=self.margin, reduction=self.reduction)


class CosineEmbeddingLoss(_Loss):
    """1 - cos(input1, input2) where target is 1, max(0, cos(input1, input2) - margin) where it is -1.

    Args:
        margin (float): The margin. Default: 0.0.
        size_average (bool): Deprecated: reduction says it.
        reduce (bool): Deprecated: reduction says it.
        reduction (str): "none", "mean" or "sum". Default: 'mean'.

    Example:
        >>> ag.nn.CosineEmbeddingLoss()(ag.tensor([[1.0, 0.0]]), ag.tensor([[1.0, 1.0]]), ag.tensor([1.0]))
        tensor(0.2929)
    """

    def __init__(self, margin: float = 0.0, size_average: bool | None = None, reduce: bool | None = None,
                 reduction: str = "mean") -> None:
        super().__init__(size_average, reduce, reduction)
        self.margin = margin

    def forward(self, input1: Tensor, input2: Tensor, target: Tensor) -> Tensor:
        """input1, input2 (n, d), target (n,) of 1 and -1 -> a scalar, or shape (n,) if reduction is "none"."""
        return F.cosine_embedding_loss(input1, input2, target, margin=self.margin, reduction=self.reduction)


class MarginRankingLoss(_Loss):
    """max(0, -target * (input1 - input2) + margin): target 1 ranks input1 above input2, -1 below.

    Args:
        margin (float): The margin. Default: 0.0.
        size_average (bool): Deprecated: reduction says it.
        reduce (bool): Deprecated: reduction says it.
        reduction (str): "none", "mean" or "sum". Default: 'mean'.

    Example:
        >>> ag.nn.MarginRankingLoss()(ag.tensor([1.0, 2.0]), ag.tensor([2.0, 1.0]), ag.tensor([1.0, 1.0]))
        tensor(0.5000)
    """

    def __init__(self, margin: float = 0.0, size_average: bool | None = None, reduce: bool | None = None,
                 reduction: str = "mean") -> None:
        super().__init__(size_average, reduce, reduction)
        self.margin = margin

    def forward(self, input1: Tensor, input2: Tensor, target: Tensor) -> Tensor:
        """input1, input2, target of shapes that broadcast -> a scalar, or that shape if reduction is "none"."""
        return F.margin_ranking_loss(input1, input2, target, margin=self.margin, reduction=self.reduction)


class MultiLabelMarginLoss(_Loss):
    """The sum over labels i and other classes j of max(0, 1 - input[i] + input[j]), divided by the number of classes.

    Args:
        size_average (bool): Deprecated: reduction says it.
        reduce (bool): Deprecated: reduction says it.
        reduction (str): "none", "mean" or "sum". Default: 'mean'.

    Example:
        >>> ag.nn.MultiLabelMarginLoss()(ag.tensor([[1.0, 0.0, 0.0]]), ag.tensor([[0, -1, 0]]))
        tensor(0.)
    """

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """input (n, c); target (n, c), each row its class numbers first, then -1 -> a scalar, or shape (n,) if
        reduction is "none".
        """
        return F.multilabel_margin_loss(input, target, reduction=self.reduction)


class MultiMarginLoss(_WeightedLoss):
    """The sum over classes j other than the target of max(0, margin - input[target] + input[j])^p, divided by the
    number of classes.

    Args:
        p (int): 1 or 2. Default: 1.
        margin (float): The margin. Default: 1.0.
        weight (Tensor): Factor of each class.
        size_average (bool): Deprecated: reduction says it.
        reduce (bool): Deprecated: reduction says it.
        reduction (str): "none", "mean" or "sum". Default: 'mean'.

    Raises:
        ValueError: only p == 1 and p == 2 supported.
        ValueError: MultiMarginLoss: expected weight to be None or 1D tensor, got {weight.ndim}D instead.

    Example:
        >>> ag.nn.MultiMarginLoss()(ag.tensor([[1.0, 0.0]]), ag.tensor([0]))
        tensor(0.)
    """

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
    """max(0, d(anchor, positive) - d(anchor, negative) + margin), d the p-norm of the difference; swap=True uses the
    smaller of d(anchor, negative) and d(positive, negative). Balntas et al. 2016.

    Args:
        margin (float): The margin. Default: 1.0.
        p (float): The order of the norm. Default: 2.0.
        eps (float): Keeps divisions by 0 away. Default: 1e-06.
        swap (bool): Whether the positive's distance from the negative counts, where it is smaller. Default: False.
        size_average (bool): Deprecated: reduction says it.
        reduce (bool): Deprecated: reduction says it.
        reduction (str): "none", "mean" or "sum". Default: 'mean'.

    Raises:
        ValueError: TripletMarginLoss: expected margin to be greater than 0, got {margin} instead.

    Example:
        >>> ag.nn.TripletMarginLoss(margin=6.)(ag.tensor([[0.0, 0.0]]), ag.tensor([[0.0, 1.0]]), ag.tensor([[3.0, 4.0]]))
        tensor(2.0000)
    """

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
    """TripletMarginLoss with a distance given as a function of two tensors or as a module.

    Args:
        distance_function (Callable[[Any, Any], Any]): Of two tensors (n, ...) -> (n,); pairwise_distance if None.
        margin (float): The margin. Default: 1.0.
        swap (bool): Whether the positive's distance from the negative counts, where it is smaller. Default: False.
        reduction (str): "none", "mean" or "sum". Default: 'mean'.

    Raises:
        ValueError: TripletMarginWithDistanceLoss: expected margin to be greater than 0, got {margin} instead.

    Example:
        >>> loss = ag.nn.TripletMarginWithDistanceLoss(margin=6.)
        >>> loss(ag.tensor([[0.0, 0.0]]), ag.tensor([[0.0, 1.0]]), ag.tensor([[3.0, 4.0]]))
        tensor(2.0000)
    """

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
    """The older name of NLLLoss for images.

    Args:
        weight (Tensor): Factor of each class.
        size_average (bool): Deprecated: reduction says it.
        ignore_index (int): Class number that does not count. Default: -100.
        reduce (bool): Deprecated: reduction says it.
        reduction (str): "none", "mean" or "sum". Default: 'mean'.

    Example:
        >>> ag.nn.NLLLoss2d()(ag.zeros(1, 2, 3, 3).log_softmax(1), ag.zeros(1, 3, 3, dtype=ag.int64))
        tensor(0.6931)
    """


__all__ = ["BCELoss", "BCEWithLogitsLoss", "CTCLoss", "CosineEmbeddingLoss", "CrossEntropyLoss", "GaussianNLLLoss",
           "HingeEmbeddingLoss", "HuberLoss", "KLDivLoss", "L1Loss", "MSELoss", "MarginRankingLoss", "MultiLabelMarginLoss",
           "MultiLabelSoftMarginLoss", "MultiMarginLoss", "NLLLoss", "NLLLoss2d", "PoissonNLLLoss", "SmoothL1Loss",
           "SoftMarginLoss", "TripletMarginLoss", "TripletMarginWithDistanceLoss"]
