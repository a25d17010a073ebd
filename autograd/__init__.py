"""Differentiable arrays on NumPy, with PyTorch's names: `import autograd as ag` where a script says `import torch`.

What every tensor needs is imported here. The rest is imported when somebody asks for it, see LATER: `import autograd` takes
less than half the time so.
"""

import sys
import warnings
from importlib import import_module
from math import e, inf, nan, pi
from typing import TYPE_CHECKING, Any

from numpy import dtype

from . import compiled  # first of all: it says which modules are compiled

# isort: split
from . import dtypes, function, graph, graph_api, lanes, operators, ops, tensor_types, version
from . import random as random
from .anomaly_mode import (
    detect_anomaly,
    is_anomaly_check_nan_enabled,
    is_anomaly_enabled,
    set_anomaly_enabled,
    set_detect_anomaly,
)
from .derivatives import backward, grad
from .devices import (
    channels_last,
    channels_last_3d,
    contiguous_format,
    device,
    get_default_device,
    layout,
    memory_format,
    preserve_format,
    set_default_device,
    sparse_bsc,
    sparse_bsr,
    sparse_coo,
    sparse_csc,
    sparse_csr,
    strided,
)
from .dtypes import bool_ as bool
from .dtypes import (
    can_cast,
    complex64,
    complex128,
    finfo,
    float16,
    float32,
    float64,
    get_default_dtype,
    iinfo,
    int8,
    int16,
    int32,
    int64,
    promote_types,
    set_default_dtype,
    uint8,
    uint16,
    uint32,
    uint64,
)
from .engine import is_checkpoint_valid as _is_checkpoint_valid
from .function import Function, once_differentiable
from .inference import inference_mode, is_inference_mode_enabled
from .mode import (
    enable_grad,
    is_grad_enabled,
    is_multithreading_enabled,
    no_grad,
    set_grad_enabled,
    set_multithreading_enabled,
)
from .printing import get_printoptions, set_printoptions
from .random import Generator, fork_rng, get_rng_state, initial_seed, manual_seed, seed, set_rng_state
from .settings import *
from .size import Size
from .tensor import Parameter, Tensor
from .tensor_types import set_default_tensor_type
from .variable import Variable
from .version import __version__

# module: those of its names that are names of this package. Operations follow below.
LATER = {
    "amp": "GradScaler autocast",
    "amp.autocast_mode": "autocast_decrement_nesting autocast_increment_nesting clear_autocast_cache get_autocast_cpu_dtype "
                         "get_autocast_dtype get_autocast_gpu_dtype get_autocast_ipu_dtype get_autocast_xla_dtype "
                         "is_autocast_available is_autocast_cache_enabled is_autocast_cpu_enabled is_autocast_enabled "
                         "is_autocast_ipu_enabled is_autocast_xla_enabled set_autocast_cache_enabled "
                         "set_autocast_cpu_dtype set_autocast_cpu_enabled set_autocast_dtype set_autocast_enabled "
                         "set_autocast_gpu_dtype set_autocast_ipu_dtype set_autocast_ipu_enabled set_autocast_xla_dtype "
                         "set_autocast_xla_enabled",
    "compiler": "compile",
    "config": "show_config",
    "drawing": "draw",
    "gradient_checks": "GradcheckError gradcheck gradgradcheck",
    "serialization": "load save",
    "trace_or_sum": "trace",
    "variable": "Variable",
}
# these are names themselves
MODULES = {"accelerator", "amp", "anomaly_mode", "autograd", "backends", "compiler", "config", "cpu", "cuda",
           "distributed", "distributions", "drawing", "fft", "forward_ad", "func", "functional", "fx", "grad_mode", "hub",
           "jit", "linalg", "multiprocessing", "nn", "optim", "serialization", "signal", "special", "utils", "variable"}
if TYPE_CHECKING:
    from .amp import GradScaler, autocast
    from .amp.autocast_mode import *
    from .compiler import compile
    from .config import show_config
    from .drawing import draw
    from .gradient_checks import GradcheckError, gradcheck, gradgradcheck
    from .ops.activation import *
    from .ops.addmm import *
    from .ops.arithmetic import *
    from .ops.average_pooling import *
    from .ops.bilinear import *
    from .ops.choice import *
    from .ops.cholesky import *
    from .ops.comparison import *
    from .ops.complex import *
    from .ops.convolution import *
    from .ops.covariance import *
    from .ops.create import *
    from .ops.cumulative import *
    from .ops.determinant import *
    from .ops.differences import *
    from .ops.distance import *
    from .ops.distances import *
    from .ops.draw import *
    from .ops.einsum import *
    from .ops.exponential import *
    from .ops.extremes import *
    from .ops.fill import *
    from .ops.histograms import *
    from .ops.index import *
    from .ops.logic import *
    from .ops.low_level import *
    from .ops.lowrank import *
    from .ops.lu import *
    from .ops.matmul import *
    from .ops.matrix_functions import *
    from .ops.max_pooling import *
    from .ops.normalization import *
    from .ops.norms import *
    from .ops.pad import *
    from .ops.piecewise import *
    from .ops.pinv import *
    from .ops.pooling_pairs import *
    from .ops.powers import *
    from .ops.products import *
    from .ops.qr import *
    from .ops.quantiles import *
    from .ops.rearranging import *
    from .ops.reduce import *
    from .ops.rounding import *
    from .ops.sampling import *
    from .ops.sequence import *
    from .ops.sets import *
    from .ops.shape import *
    from .ops.sign import *
    from .ops.softmax import *
    from .ops.solve import *
    from .ops.sorting import *
    from .ops.special import *
    from .ops.stft import *
    from .ops.svd import *
    from .ops.triangle import *
    from .ops.trigonometric import *
    from .ops.types import *
    from .ops.variance import *
    from .ops.vector_products import *
    from .ops.windows import *
    from .serialization import load, save
    from .trace_or_sum import trace  # type: ignore[assignment]     # of a matrix it is that of ops.triangle
    from .variable import Variable

float, double, half, int, long, short = float32, float64, float16, int32, int64, int16
cfloat, cdouble, newaxis = complex64, complex128, None
default_generator = random.default_generator()
for _name in graph_api.__all__:                 # autograd.graph holds the graph itself and, above it, these
    setattr(graph, _name, getattr(graph_api, _name))
globals().update(tensor_types.types())          # FloatTensor, LongTensor and the others
# log(0) is -inf and 0/0 is nan without a word, as in PyTorch; NumPy's other warnings in our modules are of this kind too.
warnings.filterwarnings("ignore", category=RuntimeWarning, module=r"autograd(\.|$)")

HOMES = {name: f"ops.{family}" for name, family in ops.functions().items()}
HOMES.update((name, module) for module, names in LATER.items() for name in names.split())
for _name in ("mode", "tensor"):
    del globals()[_name]                        # the modules, in the place of operations
__all__ = [name for name in dir() if not name.startswith("_") and name not in (
    "Any", "HOMES", "LATER", "MODULES", "TYPE_CHECKING", "import_module", "sys", "warnings")] + [*MODULES, *HOMES]


def __getattr__(name: str) -> Any:
    """Names that wait to be asked for; the in-place methods as functions, relu_(x); and bfloat16, of the package ml_dtypes
    if it is there.
    """
    if name in MODULES:
        return import_module(f".{name}", __name__)
    if name in HOMES:
        value = globals()[name] = getattr(import_module(f".{HOMES[name]}", __name__), name)
        return value
    if name.endswith("_") and not name.startswith("_") and hasattr(Tensor, name):
        return getattr(Tensor, name)
    if name == "bfloat16":
        return dtypes.bfloat16_or_name()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *MODULES, *HOMES})
