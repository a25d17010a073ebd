"""The operations of layers as functions, under PyTorch's names."""

from ..ops.conv import conv2d, max_pool2d
from ..ops.elementwise import leaky_relu, relu, silu, softplus
from ..ops.exponential import sigmoid
from ..ops.linalg import linear
from ..ops.loss import binary_cross_entropy_with_logits, cross_entropy, l1_loss, mse_loss, nll_loss
from ..ops.reduce import log_softmax, softmax
from ..ops.trigonometric import tanh

__all__ = ["binary_cross_entropy_with_logits", "conv2d", "cross_entropy", "l1_loss", "leaky_relu", "linear",
           "log_softmax", "max_pool2d", "mse_loss", "nll_loss", "relu", "sigmoid", "silu", "softmax", "softplus",
           "tanh"]
