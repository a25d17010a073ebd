"""The operations of layers as functions, under PyTorch's names."""

from ..ops.conv import conv2d, max_pool2d
from ..ops.elementwise import leaky_relu, relu, sigmoid, silu, softplus, tanh
from ..ops.loss import binary_cross_entropy_with_logits, cross_entropy, l1_loss, mse_loss, nll_loss
from ..ops.matmul import bilinear, linear
from ..ops.reduce import log_softmax, softmax

__all__ = ["bilinear", "binary_cross_entropy_with_logits", "conv2d", "cross_entropy", "l1_loss", "leaky_relu", "linear",
           "log_softmax", "max_pool2d", "mse_loss", "nll_loss", "relu", "sigmoid", "silu", "softmax", "softplus",
           "tanh"]
