"""Modules and layers."""

from ..tensor import Parameter
from . import functional, init, utils
from .container import ModuleList, Sequential
from .held import Buffer
from .layers import Conv2d, CrossEntropyLoss, Flatten, Linear, MaxPool2d, MSELoss, ReLU, Sigmoid, Tanh
from .module import Module
from .recurrent import GRU, LSTM, RNN, RNNBase
from .recurrent_cells import GRUCell, LSTMCell, RNNCell, RNNCellBase

__all__ = ["Buffer", "Conv2d", "CrossEntropyLoss", "Flatten", "Linear", "MSELoss", "MaxPool2d", "Module", "ModuleList",
           "Parameter", "ReLU", "Sequential", "Sigmoid", "Tanh", "functional", "init", "utils"]
__all__ += ["GRU", "LSTM", "RNN", "GRUCell", "LSTMCell", "RNNBase", "RNNCell", "RNNCellBase"]
