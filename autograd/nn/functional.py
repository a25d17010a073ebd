"""The operations of layers as functions, under PyTorch's names."""

from ..base import docstrings as _docstrings
from ..ops.index import one_hot
from ..ops.linalg.distances import cosine_similarity, pairwise_distance, pdist
from ..ops.linalg.matmul import linear
from ..ops.nn.activation import (
    celu,
    celu_,
    elu,
    elu_,
    gelu,
    glu,
    hardshrink,
    hardsigmoid,
    hardswish,
    hardtanh,
    hardtanh_,
    leaky_relu,
    leaky_relu_,
    logsigmoid,
    mish,
    prelu,
    relu,
    relu6,
    relu_,
    rrelu,
    rrelu_,
    selu,
    selu_,
    silu,
    softplus,
    softshrink,
    softsign,
    tanhshrink,
    threshold,
    threshold_,
)
from ..ops.nn.aten_names import (
    adaptive_max_pool1d_with_indices,
    adaptive_max_pool2d_with_indices,
    adaptive_max_pool3d_with_indices,
    fractional_max_pool2d_with_indices,
    fractional_max_pool3d_with_indices,
    max_pool1d_with_indices,
    max_pool2d_with_indices,
    max_pool3d_with_indices,
)
from ..ops.nn.attention import multi_head_attention_forward, scaled_dot_product_attention
from ..ops.nn.bilinear import bilinear
from ..ops.nn.binary_cross_entropy import (
    binary_cross_entropy,
    binary_cross_entropy_with_logits,
    multilabel_soft_margin_loss,
    soft_margin_loss,
)
from ..ops.nn.convolution import conv1d, conv2d, conv3d, conv_tbc, conv_transpose1d, conv_transpose2d, conv_transpose3d
from ..ops.nn.cross_entropy import cross_entropy, linear_cross_entropy, nll_loss
from ..ops.nn.ctc_loss import ctc_loss
from ..ops.nn.dropout import alpha_dropout, dropout, dropout1d, dropout2d, dropout3d, feature_alpha_dropout
from ..ops.nn.embedding import embedding, embedding_bag
from ..ops.nn.fold import fold, unfold
from ..ops.nn.functional_softmax import gumbel_softmax, log_softmax, softmax, softmin
from ..ops.nn.grid_sample import affine_grid, grid_sample
from ..ops.nn.interpolation import interpolate, upsample, upsample_bilinear, upsample_nearest
from ..ops.nn.loss import gaussian_nll_loss, huber_loss, kl_div, l1_loss, mse_loss, poisson_nll_loss, smooth_l1_loss
from ..ops.nn.margin_loss import (
    cosine_embedding_loss,
    hinge_embedding_loss,
    margin_ranking_loss,
    multi_margin_loss,
    multilabel_margin_loss,
    triplet_margin_loss,
    triplet_margin_with_distance_loss,
)
from ..ops.nn.normalization import (
    batch_norm,
    group_norm,
    instance_norm,
    layer_norm,
    local_response_norm,
    normalize,
    rms_norm,
)
from ..ops.nn.pixel_shuffle import channel_shuffle, pixel_shuffle, pixel_unshuffle
from ..ops.nn.pooling import (
    adaptive_avg_pool1d,
    adaptive_avg_pool2d,
    adaptive_avg_pool3d,
    adaptive_max_pool1d,
    adaptive_max_pool2d,
    adaptive_max_pool3d,
    avg_pool1d,
    avg_pool2d,
    avg_pool3d,
    fractional_max_pool2d,
    fractional_max_pool3d,
    lp_pool1d,
    lp_pool2d,
    lp_pool3d,
    max_pool1d,
    max_pool2d,
    max_pool3d,
    max_unpool1d,
    max_unpool2d,
    max_unpool3d,
)
from ..ops.pointwise.exponential import sigmoid
from ..ops.pointwise.trigonometric import tanh
from ..ops.shape.pad import pad

__all__ = [name for name, value in sorted(globals().items()) if callable(value) and not name.startswith("_")]

_docstrings.attach(globals(), "nn", "nn.functional.")
