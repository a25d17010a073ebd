"""Modules and layers."""

from ..tensor import Parameter
from . import functional, init, utils
from .container import ModuleList, Sequential
from .held import Buffer
from .layers import Conv2d, CrossEntropyLoss, Flatten, Linear, MaxPool2d, MSELoss, ReLU, Sigmoid, Tanh
from .module import Module

__all__ = ["Buffer", "Conv2d", "CrossEntropyLoss", "Flatten", "Linear", "MSELoss", "MaxPool2d", "Module", "ModuleList",
           "Parameter", "ReLU", "Sequential", "Sigmoid", "Tanh", "functional", "init",
           "utils"]
