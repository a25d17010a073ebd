"""Modules and layers."""

from ..tensor import Parameter
from . import functional, init, utils
from .attention import MultiheadAttention
from .container import ModuleList, Sequential
from .held import Buffer
from .layers import Conv2d, CrossEntropyLoss, Flatten, Linear, MaxPool2d, MSELoss, ReLU, Sigmoid, Tanh
from .module import Module
from .modules.container import ModuleDict
from .modules.dropout import Dropout
from .modules.normalization import LayerNorm
from .recurrent import GRU, LSTM, RNN, RNNBase
from .recurrent_cells import GRUCell, LSTMCell, RNNCell, RNNCellBase
from .transformer import (
           Transformer,
           TransformerDecoder,
           TransformerDecoderLayer,
           TransformerEncoder,
           TransformerEncoderLayer,
)

__all__ = ["Buffer", "Conv2d", "CrossEntropyLoss", "Flatten", "Linear", "MSELoss", "MaxPool2d", "Module", "ModuleList",
           "Parameter", "ReLU", "Sequential", "Sigmoid", "Tanh", "functional", "init", "utils"]
__all__ += ["GRU", "LSTM", "RNN", "GRUCell", "LSTMCell", "RNNBase", "RNNCell", "RNNCellBase"]
__all__ += ["Dropout", "LayerNorm", "ModuleDict", "MultiheadAttention", "Transformer", "TransformerDecoder",
            "TransformerDecoderLayer", "TransformerEncoder", "TransformerEncoderLayer"]
