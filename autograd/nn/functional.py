"""The operations of layers as functions, under PyTorch's names."""

from ..ops.conv import conv2d, max_pool2d
from ..ops.distances import pdist
from ..ops.elementwise import leaky_relu, relu, sigmoid, silu, softplus, tanh
from ..ops.index import one_hot
from ..ops.linalg import linear
from ..ops.loss import binary_cross_entropy_with_logits, cross_entropy, l1_loss, mse_loss, nll_loss
from ..ops.pad import pad
from ..ops.softmax import functional_log_softmax as log_softmax
from ..ops.softmax import functional_softmax as softmax
from ..ops.softmax import softmin

__all__ = [name for name in dir() if not name.startswith("_")]
from ..ops.average_pooling import (
    adaptive_avg_pool1d,
    adaptive_avg_pool2d,
    adaptive_avg_pool3d,
    avg_pool1d,
    avg_pool2d,
    avg_pool3d,
    lp_pool1d,
    lp_pool2d,
    lp_pool3d,
)
from ..ops.convolution import (
    conv1d,
    conv2d,
    conv3d,
    conv_tbc,
    conv_transpose1d,
    conv_transpose2d,
    conv_transpose3d,
)
from ..ops.elementwise import leaky_relu, relu, sigmoid, silu, softplus, tanh
from ..ops.interpolation import interpolate, upsample, upsample_bilinear, upsample_nearest
from ..ops.linalg import linear
from ..ops.loss import binary_cross_entropy_with_logits, cross_entropy, l1_loss, mse_loss, nll_loss
from ..ops.max_pooling import (
    adaptive_max_pool1d,
    adaptive_max_pool2d,
    adaptive_max_pool3d,
    fractional_max_pool2d,
    fractional_max_pool3d,
    max_pool1d,
    max_pool2d,
    max_pool3d,
    max_unpool1d,
    max_unpool2d,
    max_unpool3d,
)
from ..ops.pooling_pairs import (
    adaptive_max_pool1d_with_indices,
    adaptive_max_pool2d_with_indices,
    adaptive_max_pool3d_with_indices,
    fractional_max_pool2d_with_indices,
    fractional_max_pool3d_with_indices,
    max_pool1d_with_indices,
    max_pool2d_with_indices,
    max_pool3d_with_indices,
)
from ..ops.rearranging import channel_shuffle, fold, pixel_shuffle, pixel_unshuffle, unfold
from ..ops.reduce import log_softmax, softmax
from ..ops.sampling import affine_grid, grid_sample

__all__ = ["adaptive_avg_pool1d", "adaptive_avg_pool2d", "adaptive_avg_pool3d", "adaptive_max_pool1d",
           "adaptive_max_pool1d_with_indices", "adaptive_max_pool2d", "adaptive_max_pool2d_with_indices",
           "adaptive_max_pool3d", "adaptive_max_pool3d_with_indices", "affine_grid", "avg_pool1d", "avg_pool2d",
           "avg_pool3d", "binary_cross_entropy_with_logits", "channel_shuffle", "conv1d", "conv2d", "conv3d",
           "conv_tbc", "conv_transpose1d", "conv_transpose2d", "conv_transpose3d", "cross_entropy", "fold",
           "fractional_max_pool2d", "fractional_max_pool2d_with_indices", "fractional_max_pool3d",
           "fractional_max_pool3d_with_indices", "grid_sample", "interpolate", "l1_loss", "leaky_relu", "linear",
           "log_softmax", "lp_pool1d", "lp_pool2d", "lp_pool3d", "max_pool1d", "max_pool1d_with_indices",
           "max_pool2d", "max_pool2d_with_indices", "max_pool3d", "max_pool3d_with_indices", "max_unpool1d",
           "max_unpool2d", "max_unpool3d", "mse_loss", "nll_loss", "pixel_shuffle", "pixel_unshuffle", "relu",
           "sigmoid", "silu", "softmax", "softplus", "tanh", "unfold", "upsample", "upsample_bilinear",
           "upsample_nearest"]
