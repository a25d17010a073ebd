"""Written by tests/autograd/make_stubs.py from what is bound at run time: do not edit."""

from ..base.types import DTypeLike
from ..base.types import Number
from ..base.types import SizeLike
from ..core.tensor import Tensor
from collections.abc import Callable
from collections.abc import Sequence
from typing import Any
from typing import Literal
from typing import overload

__all__ = ["adaptive_avg_pool1d", "adaptive_avg_pool2d", "adaptive_avg_pool3d", "adaptive_max_pool1d", "adaptive_max_pool1d_with_indices", "adaptive_max_pool2d", "adaptive_max_pool2d_with_indices", "adaptive_max_pool3d", "adaptive_max_pool3d_with_indices", "affine_grid", "alpha_dropout", "avg_pool1d", "avg_pool2d", "avg_pool3d", "batch_norm", "bilinear", "binary_cross_entropy", "binary_cross_entropy_with_logits", "celu", "celu_", "channel_shuffle", "conv1d", "conv2d", "conv3d", "conv_tbc", "conv_transpose1d", "conv_transpose2d", "conv_transpose3d", "cosine_embedding_loss", "cosine_similarity", "cross_entropy", "ctc_loss", "dropout", "dropout1d", "dropout2d", "dropout3d", "elu", "elu_", "embedding", "embedding_bag", "feature_alpha_dropout", "fold", "fractional_max_pool2d", "fractional_max_pool2d_with_indices", "fractional_max_pool3d", "fractional_max_pool3d_with_indices", "gaussian_nll_loss", "gelu", "glu", "grid_sample", "group_norm", "gumbel_softmax", "hardshrink", "hardsigmoid", "hardswish", "hardtanh", "hardtanh_", "hinge_embedding_loss", "huber_loss", "instance_norm", "interpolate", "kl_div", "l1_loss", "layer_norm", "leaky_relu", "leaky_relu_", "linear", "linear_cross_entropy", "local_response_norm", "log_softmax", "logsigmoid", "lp_pool1d", "lp_pool2d", "lp_pool3d", "margin_ranking_loss", "max_pool1d", "max_pool1d_with_indices", "max_pool2d", "max_pool2d_with_indices", "max_pool3d", "max_pool3d_with_indices", "max_unpool1d", "max_unpool2d", "max_unpool3d", "mish", "mse_loss", "multi_head_attention_forward", "multi_margin_loss", "multilabel_margin_loss", "multilabel_soft_margin_loss", "nll_loss", "normalize", "one_hot", "pad", "pairwise_distance", "pdist", "pixel_shuffle", "pixel_unshuffle", "poisson_nll_loss", "prelu", "relu", "relu6", "relu_", "rms_norm", "rrelu", "rrelu_", "scaled_dot_product_attention", "selu", "selu_", "sigmoid", "silu", "smooth_l1_loss", "soft_margin_loss", "softmax", "softmin", "softplus", "softshrink", "softsign", "tanh", "tanhshrink", "threshold", "threshold_", "triplet_margin_loss", "triplet_margin_with_distance_loss", "unfold", "upsample", "upsample_bilinear", "upsample_nearest"]

def adaptive_avg_pool1d(input: Tensor, output_size: SizeLike) -> Tensor:
    """The means over output_size windows that cover input (n, c, l) or (c, l) evenly."""
def adaptive_avg_pool2d(input: Tensor, output_size: int | Sequence[int | None] | None) -> Tensor:
    """The means over output_size (h', w') windows that cover input (n, c, h, w) or (c, h, w) evenly; None: as input."""
def adaptive_avg_pool3d(input: Tensor, output_size: int | Sequence[int | None] | None) -> Tensor:
    """The means over output_size (d', h', w') windows that cover input (n, c, d, h, w) evenly; None: as input."""
@overload
def adaptive_max_pool1d(input: Tensor, output_size: int | Sequence[int | None] | None, return_indices: Literal[False]=False) -> Tensor:
    """The maxima over output_size windows that cover input (n, c, l) or (c, l) evenly."""
@overload
def adaptive_max_pool1d(input: Tensor, output_size: int | Sequence[int | None] | None, *, return_indices: Literal[True]) -> tuple[Tensor, Tensor]:
    """The maxima over output_size windows that cover input (n, c, l) or (c, l) evenly."""
@overload
def adaptive_max_pool1d(input: Tensor, output_size: int | Sequence[int | None] | None, return_indices: bool=False) -> Tensor | tuple[Tensor, Tensor]:
    """The maxima over output_size windows that cover input (n, c, l) or (c, l) evenly."""
def adaptive_max_pool1d_with_indices(input: Tensor, output_size: SizeLike) -> tuple[Tensor, Tensor]:
    """adaptive_max_pool1d with the places of the maxima: (values, indices)."""
@overload
def adaptive_max_pool2d(input: Tensor, output_size: int | Sequence[int | None] | None, return_indices: Literal[False]=False) -> Tensor:
    """The maxima over output_size (h', w') windows that cover input (n, c, h, w) or (c, h, w) evenly; None: as input."""
@overload
def adaptive_max_pool2d(input: Tensor, output_size: int | Sequence[int | None] | None, *, return_indices: Literal[True]) -> tuple[Tensor, Tensor]:
    """The maxima over output_size (h', w') windows that cover input (n, c, h, w) or (c, h, w) evenly; None: as input."""
@overload
def adaptive_max_pool2d(input: Tensor, output_size: int | Sequence[int | None] | None, return_indices: bool=False) -> Tensor | tuple[Tensor, Tensor]:
    """The maxima over output_size (h', w') windows that cover input (n, c, h, w) or (c, h, w) evenly; None: as input."""
def adaptive_max_pool2d_with_indices(input: Tensor, output_size: int | Sequence[int | None] | None) -> tuple[Tensor, Tensor]:
    """adaptive_max_pool2d with the places of the maxima: (values, indices)."""
@overload
def adaptive_max_pool3d(input: Tensor, output_size: int | Sequence[int | None] | None, return_indices: Literal[False]=False) -> Tensor:
    """The maxima over output_size (d', h', w') windows that cover input (n, c, d, h, w) evenly; None: as input."""
@overload
def adaptive_max_pool3d(input: Tensor, output_size: int | Sequence[int | None] | None, *, return_indices: Literal[True]) -> tuple[Tensor, Tensor]:
    """The maxima over output_size (d', h', w') windows that cover input (n, c, d, h, w) evenly; None: as input."""
@overload
def adaptive_max_pool3d(input: Tensor, output_size: int | Sequence[int | None] | None, return_indices: bool=False) -> Tensor | tuple[Tensor, Tensor]:
    """The maxima over output_size (d', h', w') windows that cover input (n, c, d, h, w) evenly; None: as input."""
def adaptive_max_pool3d_with_indices(input: Tensor, output_size: int | Sequence[int | None] | None) -> tuple[Tensor, Tensor]:
    """adaptive_max_pool3d with the places of the maxima: (values, indices)."""
def affine_grid(theta: Tensor, size: Sequence[int], align_corners: bool | None = None) -> Tensor:
    """The grid for grid_sample that theta (n, 2, 3) makes of size (n, c, h, w); or theta (n, 3, 4), size (n, c, d, h, w)."""
def alpha_dropout(input: Tensor, p: float = 0.5, training: bool = False, inplace: bool = False) -> Tensor:
    """Dropout that keeps mean 0 and variance 1, for networks of selu."""
def avg_pool1d(input: Tensor, kernel_size: SizeLike, stride: SizeLike | None = None, padding: SizeLike = 0, ceil_mode: bool = False, count_include_pad: bool = True) -> Tensor:
    """The mean under each window of input (n, c, l) or (c, l); stride defaults to the window."""
def avg_pool2d(input: Tensor, kernel_size: SizeLike, stride: SizeLike | None = None, padding: SizeLike = 0, ceil_mode: bool = False, count_include_pad: bool = True, divisor_override: int | None = None, *, out: Tensor | None = None) -> Tensor:
    """The mean under each window of input (n, c, h, w) or (c, h, w); stride defaults to the window."""
def avg_pool3d(input: Tensor, kernel_size: SizeLike, stride: SizeLike | None = None, padding: SizeLike = 0, ceil_mode: bool = False, count_include_pad: bool = True, divisor_override: int | None = None, *, out: Tensor | None = None) -> Tensor:
    """The mean under each window of input (n, c, d, h, w) or (c, d, h, w); stride defaults to the window."""
def batch_norm(input: Tensor, running_mean: Tensor | None, running_var: Tensor | None, weight: Tensor | None = None, bias: Tensor | None = None, training: bool = False, momentum: float = 0.1, eps: float = 1e-05) -> Tensor:
    """Each channel (dimension 1) standardized, times weight, plus bias."""
def bilinear(input1: Tensor, input2: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """out[..., k] = input1 weight[k] input2 + bias[k]: input1 (..., i), input2 (..., j), weight (k, i, j)."""
def binary_cross_entropy(input: Tensor, target: Tensor, weight: Tensor | None = None, size_average: bool | None = None, reduce: bool | None = None, reduction: str = 'mean') -> Tensor:
    """-(target log(input) + (1 - target) log(1 - input)), input being probabilities."""
def binary_cross_entropy_with_logits(input: Tensor, target: Tensor, weight: Tensor | None = None, size_average: bool | None = None, reduce: bool | None = None, reduction: str = 'mean', pos_weight: Tensor | None = None) -> Tensor:
    """binary_cross_entropy(sigmoid(input), target), without overflow; pos_weight multiplies the part of target."""
def celu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """input where positive, alpha (exp(input / alpha) - 1) elsewhere."""
def celu_(input: Tensor, alpha: float = 1.0) -> Tensor:
    """celu, in place."""
def channel_shuffle(input: Tensor, groups: int) -> Tensor:
    """input (n, c, ...) with its channels dealt out: the first of every group, then the second of every group, ..."""
def conv1d(input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: SizeLike = 1, padding: SizeLike | str = 0, dilation: SizeLike = 1, groups: int = 1) -> Tensor:
    """Cross-correlation of input (n, c, l) or (c, l) with weight (m, c / groups, k), plus bias (m,)."""
def conv2d(input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: SizeLike = 1, padding: SizeLike | str = 0, dilation: SizeLike = 1, groups: int = 1) -> Tensor:
    """Cross-correlation of input (n, c, h, w) or (c, h, w) with weight (m, c / groups, kh, kw), plus bias (m,)."""
def conv3d(input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: SizeLike = 1, padding: SizeLike | str = 0, dilation: SizeLike = 1, groups: int = 1) -> Tensor:
    """Cross-correlation of input (n, c, d, h, w) or (c, d, h, w) with weight (m, c / groups, kd, kh, kw), plus bias (m,)."""
def conv_tbc(input: Tensor, weight: Tensor, bias: Tensor, pad: int = 0) -> Tensor:
    """conv1d on input (time, batch, channels) with weight (kernel, channels, outputs)."""
def conv_transpose1d(input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: SizeLike = 1, padding: SizeLike = 0, output_padding: SizeLike = 0, groups: int = 1, dilation: SizeLike = 1) -> Tensor:
    """The adjoint of conv1d: input (n, m, l) or (m, l), weight (m, c / groups, k) -> (n, c, l'), plus bias (c,)."""
def conv_transpose2d(input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: SizeLike = 1, padding: SizeLike = 0, output_padding: SizeLike = 0, groups: int = 1, dilation: SizeLike = 1) -> Tensor:
    """The adjoint of conv2d: input (n, m, h, w) or (m, h, w), weight (m, c / groups, kh, kw) -> (n, c, h', w')."""
def conv_transpose3d(input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: SizeLike = 1, padding: SizeLike = 0, output_padding: SizeLike = 0, groups: int = 1, dilation: SizeLike = 1) -> Tensor:
    """The adjoint of conv3d: input (n, m, d, h, w), weight (m, c / groups, kd, kh, kw) -> (n, c, d', h', w')."""
def cosine_embedding_loss(input1: Tensor, input2: Tensor, target: Tensor, margin: float = 0, size_average: bool | None = None, reduce: bool | None = None, reduction: str = 'mean') -> Tensor:
    """1 - cos(input1, input2) where target is 1, max(0, cos - margin) where it is -1."""
def cosine_similarity(x1: Tensor, x2: Tensor, dim: int = 1, eps: float = 1e-08) -> Tensor:
    """x1 . x2 / (max(|x1|, eps) max(|x2|, eps)) along dim; the gradient is that of the quotient without max."""
def cross_entropy(input: Tensor, target: Tensor, weight: Tensor | None = None, size_average: bool | None = None, ignore_index: int = -100, reduce: bool | None = None, reduction: str = 'mean', label_smoothing: float = 0.0) -> Tensor:
    """-log softmax(input)[target]: input (n, c, ...) or (c,), target class numbers (n, ...) or probabilities as input."""
def ctc_loss(log_probs: Tensor, targets: Tensor, input_lengths: Tensor | Sequence[int], target_lengths: Tensor | Sequence[int], blank: int = 0, reduction: str = 'mean', zero_infinity: bool = False) -> Tensor:
    """-log of the probability of each label sequence, summed over all alignments."""
def dropout(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Each element is 0 with probability p, else divided by 1 - p; input itself if not training."""
def dropout1d(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Whole channels of (n, c, length) or (c, length) are 0 with probability p."""
def dropout2d(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Whole channels of (n, c, h, w) are 0 with probability p; three dimensions are taken as (n, c, length)."""
def dropout3d(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Whole channels of (n, c, d, h, w), or (c, d, h, w), are 0 with probability p."""
def elu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """input where positive, alpha (exp(input) - 1) elsewhere."""
def elu_(input: Tensor, alpha: float = 1.0) -> Tensor:
    """elu, in place."""
def embedding(input: Tensor, weight: Tensor, padding_idx: int | None = None, max_norm: float | None = None, norm_type: float = 2.0, scale_grad_by_freq: bool = False, sparse: bool = False) -> Tensor:
    """The rows of weight (rows, d) that input (any shape, integers) names: shape (*input.shape, d)."""
def embedding_bag(input: Tensor, weight: Tensor, offsets: Tensor | None = None, max_norm: float | None = None, norm_type: float = 2, scale_grad_by_freq: bool = False, mode: str = 'mean', sparse: bool = False, per_sample_weights: Tensor | None = None, include_last_offset: bool = False, padding_idx: int | None = None) -> Tensor:
    """The sum, mean or maximum of rows of weight, bag by bag: (bags, d)."""
def feature_alpha_dropout(input: Tensor, p: float = 0.5, training: bool = False, inplace: bool = False) -> Tensor:
    """alpha_dropout of whole channels."""
def fold(input: Tensor, output_size: SizeLike, kernel_size: SizeLike, dilation: SizeLike = 1, padding: SizeLike = 0, stride: SizeLike = 1) -> Tensor:
    """Columns (n, c * kh * kw, windows), or without n, added up to (n, c, *output_size) where unfold takes them."""
@overload
def fractional_max_pool2d(input: Tensor, kernel_size: SizeLike, output_size: SizeLike | None=None, output_ratio: float | Sequence[float] | None=None, return_indices: Literal[False]=False, _random_samples: Tensor | None=None) -> Tensor:
    """The maxima under windows set out in steps of random lengths: input (n, c, h, w) or (c, h, w) to output_size."""
@overload
def fractional_max_pool2d(input: Tensor, kernel_size: SizeLike, output_size: SizeLike | None=None, output_ratio: float | Sequence[float] | None=None, *, return_indices: Literal[True], _random_samples: Tensor | None=None) -> tuple[Tensor, Tensor]:
    """The maxima under windows set out in steps of random lengths: input (n, c, h, w) or (c, h, w) to output_size."""
@overload
def fractional_max_pool2d(input: Tensor, kernel_size: SizeLike, output_size: SizeLike | None=None, output_ratio: float | Sequence[float] | None=None, return_indices: bool=False, _random_samples: Tensor | None=None) -> Tensor | tuple[Tensor, Tensor]:
    """The maxima under windows set out in steps of random lengths: input (n, c, h, w) or (c, h, w) to output_size."""
def fractional_max_pool2d_with_indices(input: Tensor, kernel_size: SizeLike, output_size: SizeLike | None = None, output_ratio: float | Sequence[float] | None = None, _random_samples: Tensor | None = None) -> tuple[Tensor, Tensor]:
    """fractional_max_pool2d with the places of the maxima: (values, indices)."""
@overload
def fractional_max_pool3d(input: Tensor, kernel_size: SizeLike, output_size: SizeLike | None=None, output_ratio: float | Sequence[float] | None=None, return_indices: Literal[False]=False, _random_samples: Tensor | None=None) -> Tensor:
    """The maxima under windows set out in steps of random lengths: input (n, c, d, h, w) or (c, d, h, w) to output_size."""
@overload
def fractional_max_pool3d(input: Tensor, kernel_size: SizeLike, output_size: SizeLike | None=None, output_ratio: float | Sequence[float] | None=None, *, return_indices: Literal[True], _random_samples: Tensor | None=None) -> tuple[Tensor, Tensor]:
    """The maxima under windows set out in steps of random lengths: input (n, c, d, h, w) or (c, d, h, w) to output_size."""
@overload
def fractional_max_pool3d(input: Tensor, kernel_size: SizeLike, output_size: SizeLike | None=None, output_ratio: float | Sequence[float] | None=None, return_indices: bool=False, _random_samples: Tensor | None=None) -> Tensor | tuple[Tensor, Tensor]:
    """The maxima under windows set out in steps of random lengths: input (n, c, d, h, w) or (c, d, h, w) to output_size."""
def fractional_max_pool3d_with_indices(input: Tensor, kernel_size: SizeLike, output_size: SizeLike | None = None, output_ratio: float | Sequence[float] | None = None, _random_samples: Tensor | None = None) -> tuple[Tensor, Tensor]:
    """fractional_max_pool3d with the places of the maxima: (values, indices)."""
def gaussian_nll_loss(input: Tensor, target: Tensor, var: Tensor, full: bool = False, eps: float = 1e-06, reduction: str = 'mean') -> Tensor:
    """(log(var) + (input - target)^2 / var) / 2, var at least eps; full adds log(2 pi) / 2."""
def gelu(input: Tensor, approximate: str = 'none', *, out: Tensor | None = None) -> Tensor:
    """input * P(standard normal < input); approximate "tanh" takes a formula with tanh for it."""
def glu(input: Tensor, dim: int = -1) -> Tensor:
    """The first half of input along dim, times the sigmoid of the second half."""
def grid_sample(input: Tensor, grid: Tensor, mode: str = 'bilinear', padding_mode: str = 'zeros', align_corners: bool | None = None) -> Tensor:
    """input (n, c, h, w) at the points of grid (n, h', w', 2), whose last dimension holds x and y from -1 to 1."""
def group_norm(input: Tensor, num_groups: int, weight: Tensor | None = None, bias: Tensor | None = None, eps: float = 1e-05) -> Tensor:
    """The channels (dimension 1) in `num_groups` groups, each standardized with all its positions, sample by sample."""
def gumbel_softmax(logits: Tensor, tau: float = 1, hard: bool = False, eps: float = 1e-10, dim: int = -1) -> Tensor:
    """A soft sample of a category: softmax((logits + Gumbel noise) / tau)."""
def hardshrink(input: Tensor, lambd: float = 0.5, *, out: Tensor | None = None) -> Tensor:
    """input where beyond [-lambd, lambd], 0 within."""
def hardsigmoid(input: Tensor, inplace: bool = False) -> Tensor:
    """input / 6 + 1 / 2, limited to [0, 1]."""
def hardswish(input: Tensor, inplace: bool = False) -> Tensor:
    """input * hardsigmoid(input)."""
def hardtanh(input: Tensor, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False) -> Tensor:
    """input limited to [min_val, max_val]."""
def hardtanh_(input: Tensor, min_val: float = -1.0, max_val: float = 1.0) -> Tensor:
    """hardtanh, in place."""
def hinge_embedding_loss(input: Tensor, target: Tensor, margin: float = 1.0, size_average: bool | None = None, reduce: bool | None = None, reduction: str = 'mean') -> Tensor:
    """input where target is 1, max(0, margin - input) where it is -1."""
def huber_loss(input: Tensor, target: Tensor, reduction: str = 'mean', delta: float = 1.0, weight: Tensor | None = None) -> Tensor:
    """d^2 / 2 where d = |input - target| < delta, delta (d - delta / 2) elsewhere."""
def instance_norm(input: Tensor, running_mean: Tensor | None = None, running_var: Tensor | None = None, weight: Tensor | None = None, bias: Tensor | None = None, use_input_stats: bool = True, momentum: float = 0.1, eps: float = 1e-05) -> Tensor:
    """Each channel of each sample standardized by itself; use_input_stats=False: by the running statistics."""
def interpolate(input: Tensor, size: SizeLike | None = None, scale_factor: float | Sequence[float] | None = None, mode: str = 'nearest', align_corners: bool | None = None, recompute_scale_factor: bool | None = None, antialias: bool = False) -> Tensor:
    """input (n, c, *plane) in another size, given as `size` or by `scale_factor`, for planes of 1 to 3 dimensions."""
def kl_div(input: Tensor, target: Tensor, size_average: bool | None = None, reduce: bool | None = None, reduction: str = 'mean', log_target: bool = False) -> Tensor:
    """target (log(target) - input), input being log probabilities, target too if log_target."""
def l1_loss(input: Tensor, target: Tensor, size_average: bool | None = None, reduce: bool | None = None, reduction: str = 'mean', weight: Tensor | None = None) -> Tensor:
    """|input - target|; weight multiplies each element, and the mean is over the weights."""
def layer_norm(input: Tensor, normalized_shape: Sequence[int], weight: Tensor | None = None, bias: Tensor | None = None, eps: float = 1e-05) -> Tensor:
    """The last dimensions, of `normalized_shape`, standardized together; times weight, plus bias."""
def leaky_relu(input: Tensor, negative_slope: float = 0.01, inplace: bool = False) -> Tensor:
    """input where positive, negative_slope * input elsewhere."""
def leaky_relu_(input: Tensor, negative_slope: float = 0.01) -> Tensor:
    """leaky_relu, in place."""
def linear(input: Tensor, weight: Tensor, bias: Tensor | None = None, *, out: Tensor | None = None) -> Tensor:
    """input @ weight^T + bias: input (..., k), weight (m, k), bias (m,) -> (..., m)."""
def linear_cross_entropy(input: Tensor, linear_weight: Tensor, target: Tensor, *, linear_bias: Tensor | None = None, weight: Tensor | None = None, reduction: str = 'mean', ignore_index: int | None = None, label_smoothing: float = 0.0, options: Any | None = None) -> Tensor:
    """cross_entropy(linear(input, linear_weight, linear_bias), target), for input (n, k) or (k,), linear_weight (c, ..., k)."""
def local_response_norm(input: Tensor, size: int, alpha: float = 0.0001, beta: float = 0.75, k: float = 1.0) -> Tensor:
    """input / (k + alpha * mean of the squares of `size` neighbouring channels) ** beta."""
def log_softmax(input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: DTypeLike = None) -> Tensor:
    """log(softmax(input)), computed without losing small ones."""
def logsigmoid(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """log(sigmoid(input)), without overflow."""
def lp_pool1d(input: Tensor, norm_type: float, kernel_size: SizeLike, stride: SizeLike | None = None, ceil_mode: bool = False) -> Tensor:
    """(sum of x^p)^(1/p) under each window of input (n, c, l) or (c, l), with p = norm_type."""
def lp_pool2d(input: Tensor, norm_type: float, kernel_size: SizeLike, stride: SizeLike | None = None, ceil_mode: bool = False) -> Tensor:
    """(sum of x^p)^(1/p) under each window of input (n, c, h, w) or (c, h, w), with p = norm_type."""
def lp_pool3d(input: Tensor, norm_type: float, kernel_size: SizeLike, stride: SizeLike | None = None, ceil_mode: bool = False) -> Tensor:
    """(sum of x^p)^(1/p) under each window of input (n, c, d, h, w) or (c, d, h, w), with p = norm_type."""
def margin_ranking_loss(input1: Tensor, input2: Tensor, target: Tensor, margin: float = 0, size_average: bool | None = None, reduce: bool | None = None, reduction: str = 'mean') -> Tensor:
    """max(0, -target (input1 - input2) + margin): target 1 wants input1 the larger, -1 input2."""
@overload
def max_pool1d(input: Tensor, kernel_size: SizeLike, stride: SizeLike | None=None, padding: SizeLike=0, dilation: SizeLike=1, ceil_mode: bool=False, return_indices: Literal[False]=False) -> Tensor:
    """The largest element under each window of input (n, c, l) or (c, l); stride defaults to the window."""
@overload
def max_pool1d(input: Tensor, kernel_size: SizeLike, stride: SizeLike | None=None, padding: SizeLike=0, dilation: SizeLike=1, ceil_mode: bool=False, *, return_indices: Literal[True]) -> tuple[Tensor, Tensor]:
    """The largest element under each window of input (n, c, l) or (c, l); stride defaults to the window."""
@overload
def max_pool1d(input: Tensor, kernel_size: SizeLike, stride: SizeLike | None=None, padding: SizeLike=0, dilation: SizeLike=1, ceil_mode: bool=False, return_indices: bool=False) -> Tensor | tuple[Tensor, Tensor]:
    """The largest element under each window of input (n, c, l) or (c, l); stride defaults to the window."""
def max_pool1d_with_indices(input: Tensor, kernel_size: SizeLike, stride: SizeLike | None = None, padding: SizeLike = 0, dilation: SizeLike = 1, ceil_mode: bool = False) -> tuple[Tensor, Tensor]:
    """max_pool1d with the places of the maxima: (values, indices)."""
@overload
def max_pool2d(input: Tensor, kernel_size: SizeLike, stride: SizeLike | None=None, padding: SizeLike=0, dilation: SizeLike=1, ceil_mode: bool=False, return_indices: Literal[False]=False) -> Tensor:
    """The largest element under each window of input (n, c, h, w) or (c, h, w); stride defaults to the window."""
@overload
def max_pool2d(input: Tensor, kernel_size: SizeLike, stride: SizeLike | None=None, padding: SizeLike=0, dilation: SizeLike=1, ceil_mode: bool=False, *, return_indices: Literal[True]) -> tuple[Tensor, Tensor]:
    """The largest element under each window of input (n, c, h, w) or (c, h, w); stride defaults to the window."""
@overload
def max_pool2d(input: Tensor, kernel_size: SizeLike, stride: SizeLike | None=None, padding: SizeLike=0, dilation: SizeLike=1, ceil_mode: bool=False, return_indices: bool=False) -> Tensor | tuple[Tensor, Tensor]:
    """The largest element under each window of input (n, c, h, w) or (c, h, w); stride defaults to the window."""
def max_pool2d_with_indices(input: Tensor, kernel_size: SizeLike, stride: SizeLike | None = None, padding: SizeLike = 0, dilation: SizeLike = 1, ceil_mode: bool = False) -> tuple[Tensor, Tensor]:
    """max_pool2d with the places of the maxima: (values, indices)."""
@overload
def max_pool3d(input: Tensor, kernel_size: SizeLike, stride: SizeLike | None=None, padding: SizeLike=0, dilation: SizeLike=1, ceil_mode: bool=False, return_indices: Literal[False]=False) -> Tensor:
    """The largest element under each window of input (n, c, d, h, w) or (c, d, h, w); stride defaults to the window."""
@overload
def max_pool3d(input: Tensor, kernel_size: SizeLike, stride: SizeLike | None=None, padding: SizeLike=0, dilation: SizeLike=1, ceil_mode: bool=False, *, return_indices: Literal[True]) -> tuple[Tensor, Tensor]:
    """The largest element under each window of input (n, c, d, h, w) or (c, d, h, w); stride defaults to the window."""
@overload
def max_pool3d(input: Tensor, kernel_size: SizeLike, stride: SizeLike | None=None, padding: SizeLike=0, dilation: SizeLike=1, ceil_mode: bool=False, return_indices: bool=False) -> Tensor | tuple[Tensor, Tensor]:
    """The largest element under each window of input (n, c, d, h, w) or (c, d, h, w); stride defaults to the window."""
def max_pool3d_with_indices(input: Tensor, kernel_size: SizeLike, stride: SizeLike | None = None, padding: SizeLike = 0, dilation: SizeLike = 1, ceil_mode: bool = False) -> tuple[Tensor, Tensor]:
    """max_pool3d with the places of the maxima: (values, indices)."""
def max_unpool1d(input: Tensor, indices: Tensor, kernel_size: SizeLike, stride: SizeLike | None = None, padding: SizeLike = 0, output_size: int | Sequence[int | None] | None = None) -> Tensor:
    """Zeros with input (n, c, l) or (c, l) put where max_pool1d says it found it."""
def max_unpool2d(input: Tensor, indices: Tensor, kernel_size: SizeLike, stride: SizeLike | None = None, padding: SizeLike = 0, output_size: Sequence[int] | None = None) -> Tensor:
    """Zeros with input (n, c, h, w) or (c, h, w) put where max_pool2d says it found it."""
def max_unpool3d(input: Tensor, indices: Tensor, kernel_size: SizeLike, stride: SizeLike | None = None, padding: SizeLike = 0, output_size: int | Sequence[int | None] | None = None) -> Tensor:
    """Zeros with input (n, c, d, h, w) or (c, d, h, w) put where max_pool3d says it found it."""
def mish(input: Tensor, inplace: bool = False) -> Tensor:
    """input * tanh(softplus(input))."""
def mse_loss(input: Tensor, target: Tensor, size_average: bool | None = None, reduce: bool | None = None, reduction: str = 'mean', weight: Tensor | None = None) -> Tensor:
    """(input - target)^2; weight multiplies each element, and the mean is over the weights."""
def multi_head_attention_forward(query: Tensor, key: Tensor, value: Tensor, embed_dim_to_check: int, num_heads: int, in_proj_weight: Tensor | None, in_proj_bias: Tensor | None, bias_k: Tensor | None, bias_v: Tensor | None, add_zero_attn: bool, dropout_p: float, out_proj_weight: Tensor, out_proj_bias: Tensor | None, training: bool = True, key_padding_mask: Tensor | None = None, need_weights: bool = True, attn_mask: Tensor | None = None, use_separate_proj_weight: bool = False, q_proj_weight: Tensor | None = None, k_proj_weight: Tensor | None = None, v_proj_weight: Tensor | None = None, static_k: Tensor | None = None, static_v: Tensor | None = None, average_attn_weights: bool = True, is_causal: bool = False) -> tuple[Tensor, Tensor]:
    """(output, attention weights or None): query (l, n, e), key and value (s, n, e), or without n."""
def multi_margin_loss(input: Tensor, target: Tensor, p: int = 1, margin: float = 1.0, weight: Tensor | None = None, size_average: bool | None = None, reduce: bool | None = None, reduction: str = 'mean') -> Tensor:
    """sum over classes j other than the target of max(0, margin - input[target] + input[j])^p, over their number."""
def multilabel_margin_loss(input: Tensor, target: Tensor, size_average: bool | None = None, reduce: bool | None = None, reduction: str = 'mean') -> Tensor:
    """sum over labels y and classes j that are no labels of max(0, 1 - input[y] + input[j]), over the number of classes."""
def multilabel_soft_margin_loss(input: Tensor, target: Tensor, weight: Tensor | None = None, size_average: bool | None = None, reduce: bool | None = None, reduction: str = 'mean') -> Tensor:
    """binary_cross_entropy_with_logits, the mean over classes (the last dimension)."""
def nll_loss(input: Tensor, target: Tensor, weight: Tensor | None = None, size_average: bool | None = None, ignore_index: int = -100, reduce: bool | None = None, reduction: str = 'mean') -> Tensor:
    """-input[i, target[i]], weighted by class; input (n, c, ...) log probabilities, target (n, ...) class numbers."""
def normalize(input: Tensor, p: float = 2.0, dim: int | Sequence[int] = 1, eps: float = 1e-12, *, out: Tensor | None = None) -> Tensor:
    """input / max(norm along dim, eps)."""
def one_hot(tensor: Tensor, num_classes: int = -1) -> Tensor:
    """For each class number a row of num_classes (-1: the largest number + 1) zeros, with a one at that number."""
def pad(input: Tensor, pad: Sequence[int], mode: str = 'constant', value: Number | None = None) -> Tensor:
    """input padded: pad holds (before, after) for the last dimension, then for the one before it, and so on."""
def pairwise_distance(x1: Tensor, x2: Tensor, p: float = 2.0, eps: float = 1e-06, keepdim: bool = False) -> Tensor:
    """The p-norm of x1 - x2 + eps along the last dimension."""
def pdist(input: Tensor, p: float = 2.0) -> Tensor:
    """The p-norm distances of all pairs of rows of a matrix, (0, 1), (0, 2), ..., (1, 2), ...: a vector."""
def pixel_shuffle(input: Tensor, upscale_factor: int) -> Tensor:
    """input (..., c * r^2, h, w) -> (..., c, h * r, w * r): r^2 channels become the pixels of a block."""
def pixel_unshuffle(input: Tensor, downscale_factor: int) -> Tensor:
    """input (..., c, h * r, w * r) -> (..., c * r^2, h, w): the inverse of pixel_shuffle."""
def poisson_nll_loss(input: Tensor, target: Tensor, log_input: bool = True, full: bool = False, size_average: bool | None = None, eps: float = 1e-08, reduce: bool | None = None, reduction: str = 'mean') -> Tensor:
    """exp(input) - target input, or input - target log(input + eps) if not log_input."""
def prelu(input: Tensor, weight: Tensor) -> Tensor:
    """leaky_relu with a learned slope: one for all, or one for each channel (dimension 1)."""
def relu(input: Tensor, inplace: bool = False) -> Tensor:
    """max(input, 0) of each element; nan stays."""
def relu6(input: Tensor, inplace: bool = False) -> Tensor:
    """input limited to [0, 6]."""
def relu_(input: Tensor) -> Tensor:
    """relu, in place."""
def rms_norm(input: Tensor, normalized_shape: Sequence[int], weight: Tensor | None = None, eps: float | None = None) -> Tensor:
    """The last dimensions over the square root of their mean square; times weight. eps: the dtype's own if None."""
def rrelu(input: Tensor, lower: float = 0.125, upper: float = 0.3333333333333333, training: bool = False, inplace: bool = False) -> Tensor:
    """leaky_relu; while training each element below 0 has a random slope from [lower, upper], else the middle one."""
def rrelu_(input: Tensor, lower: float = 0.125, upper: float = 0.3333333333333333, training: bool = False) -> Tensor:
    """rrelu, in place."""
def scaled_dot_product_attention(query: Tensor, key: Tensor, value: Tensor, attn_mask: Tensor | None = None, dropout_p: float = 0.0, is_causal: bool = False, scale: float | None = None, enable_gqa: bool = False) -> Tensor:
    """softmax(query key^T scale + mask) value: query (..., l, e), key (..., s, e), value (..., s, d) -> (..., l, d)."""
def selu(input: Tensor, inplace: bool = False) -> Tensor:
    """1.0507 elu(input, 1.6733): keeps mean 0 and variance 1."""
def selu_(input: Tensor) -> Tensor:
    """selu, in place."""
def sigmoid(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """1 / (1 + exp(-input))."""
def silu(input: Tensor, inplace: bool = False) -> Tensor:
    """input * sigmoid(input)."""
def smooth_l1_loss(input: Tensor, target: Tensor, size_average: bool | None = None, reduce: bool | None = None, reduction: str = 'mean', beta: float = 1.0) -> Tensor:
    """d^2 / (2 beta) where d = |input - target| < beta, d - beta / 2 elsewhere."""
def soft_margin_loss(input: Tensor, target: Tensor, size_average: bool | None = None, reduce: bool | None = None, reduction: str = 'mean') -> Tensor:
    """log(1 + exp(-target input)), targets 1 and -1."""
def softmax(input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: DTypeLike = None) -> Tensor:
    """exp(input) over its sum along `dim`."""
def softmin(input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: DTypeLike = None) -> Tensor:
    """softmax() of the negated input along `dim`."""
def softplus(input: Tensor, beta: float = 1, threshold: float = 20, *, out: Tensor | None = None) -> Tensor:
    """log(1 + exp(beta * input)) / beta; input itself where beta * input is above threshold."""
def softshrink(input: Tensor, lambd: float = 0.5, *, out: Tensor | None = None) -> Tensor:
    """input moved by lambd towards 0, and 0 within [-lambd, lambd]."""
def softsign(input: Tensor) -> Tensor:
    """input / (1 + |input|)."""
def tanh(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The hyperbolic tangent."""
def tanhshrink(input: Tensor) -> Tensor:
    """input - tanh(input)."""
def threshold(input: Tensor, threshold: float, value: float, inplace: bool = False) -> Tensor:
    """input where above threshold, value elsewhere."""
def threshold_(input: Tensor, threshold: float, value: float) -> Tensor:
    """threshold, in place."""
def triplet_margin_loss(anchor: Tensor, positive: Tensor, negative: Tensor, margin: float = 1.0, p: float = 2, eps: float = 1e-06, swap: bool = False, size_average: bool | None = None, reduce: bool | None = None, reduction: str = 'mean') -> Tensor:
    """max(0, |anchor - positive| - |anchor - negative| + margin); swap takes the negative's nearer distance of two."""
def triplet_margin_with_distance_loss(anchor: Tensor, positive: Tensor, negative: Tensor, *, distance_function: Callable[[Any, Any], Any] | None = None, margin: float = 1.0, swap: bool = False, reduction: str = 'mean') -> Tensor:
    """triplet_margin_loss with a distance of your own: distance_function(a, b)."""
def unfold(input: Tensor, kernel_size: SizeLike, dilation: SizeLike = 1, padding: SizeLike = 0, stride: SizeLike = 1) -> Tensor:
    """The patches of input (n, c, h, w) or (c, h, w) as columns (n, c * kh * kw, windows)."""
def upsample(input: Tensor, size: SizeLike | None = None, scale_factor: float | Sequence[float] | None = None, mode: str = 'nearest', align_corners: bool | None = None) -> Tensor:
    """The old name of interpolate."""
def upsample_bilinear(input: Tensor, size: SizeLike | None = None, scale_factor: float | Sequence[float] | None = None) -> Tensor:
    """The old name of interpolate(mode="bilinear", align_corners=True)."""
def upsample_nearest(input: Tensor, size: SizeLike | None = None, scale_factor: float | Sequence[float] | None = None) -> Tensor:
    """The old name of interpolate(mode="nearest")."""
