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
