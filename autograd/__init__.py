"""Differentiable arrays on NumPy, with PyTorch's names: `import autograd as ag` where a script says `import torch`.

What every tensor needs is imported here. The rest is imported on first use, see LATER: `import autograd` takes
less than half the time so."""

import sys
import warnings
from importlib import import_module
from math import e, inf, nan, pi
from typing import Any

__distribution__ = "dparallel"                       # HIPS's autograd has the same name: base/name_collision.py

from .base import extensions  # first of all: it says which modules are compiled

# isort: split
from . import function, graph, random, version
from .base import docstrings as _docstrings
from .base import dtypes, third_party
from .base.devices import (
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
from .base.dtypes import TensorDType as dtype
from .base.dtypes import can_cast, finfo, get_default_dtype, iinfo, promote_types, set_default_dtype
from .base.size import Size
from .compile import compile
from .core.backward import backward, grad
from .core.engine import is_checkpoint_valid as _is_checkpoint_valid
from .core.function import Function, once_differentiable
from .core.modes import (
    enable_grad,
    is_grad_enabled,
    is_multithreading_enabled,
    no_grad,
    set_grad_enabled,
    set_multithreading_enabled,
)
from .core.tensor import Parameter, Tensor
from .kernels.settings import *
from .modes.anomaly import (
    detect_anomaly,
    is_anomaly_check_nan_enabled,
    is_anomaly_enabled,
    set_anomaly_enabled,
    set_detect_anomaly,
)
from .modes.inference import inference_mode, is_inference_mode_enabled
from .modes.random import Generator, fork_rng, get_rng_state, initial_seed, manual_seed, seed, set_rng_state
from .ops import families as _families
from .tensor_api import binding as _binding
from .tensor_api.printing import get_printoptions, set_printoptions
from .tensor_api.tensor_types import set_default_tensor_type
from .tensor_api.tensor_types import types as _tensor_types
from .tensor_api.variable import Variable
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
    "observe.debug.config": "show_config",
    "observe.debug.drawing": "draw",
    "transforms.vmap": "vmap",
    "transforms.gradcheck": "GradcheckError gradcheck gradgradcheck",
    "serialization": "load save",
    "storage": "TypedStorage UntypedStorage",
    "compile.former_name": "trace",
    "compile.trace": "trace_step",
}
# these are names themselves
MODULES = {"accelerator", "amp", "anomaly_mode", "autograd", "backends", "compiler", "config", "cpu", "cuda",
           "distributed", "distributions", "drawing", "fft", "forward_ad", "func", "functional", "fx", "grad_mode", "hub",
           "jit", "library", "linalg", "mps", "multiprocessing", "nn", "onnx", "optim", "overrides", "profiler",
           "serialization", "signal", "special", "storage", "testing", "types", "utils", "variable", "xpu"}

float16, float32, float64, complex64, complex128 = map(dtype, ("float16", "float32", "float64", "complex64", "complex128"))
int8, int16, int32, int64, bool = map(dtype, ("int8", "int16", "int32", "int64", "bool"))
uint8, uint16, uint32, uint64 = map(dtype, ("uint8", "uint16", "uint32", "uint64"))
float, double, half, int, long, short = float32, float64, float16, int32, int64, int16
cfloat, cdouble, newaxis = complex64, complex128, None
default_generator = random.default_generator()
third_party.register()
_docstrings.complete(globals(), "core", "")
globals().update(_tensor_types("torch"))   # FloatTensor, LongTensor and the others
# log(0) is -inf and 0/0 is nan without a word, as in PyTorch; NumPy's other warnings in our modules are of this kind too.
warnings.filterwarnings("ignore", category=RuntimeWarning, module=r"autograd(\.|$)")

HOMES = {name: f"ops.{family}" for name, family in _families()[0].items()}
HOMES.update((name, module) for module, names in LATER.items() for name in names.split())
__all__ = [name for name in dir() if not name.startswith("_") and name not in (
    "Any", "HOMES", "LATER", "MODULES", "import_module", "sys", "third_party", "warnings")]
__all__ += [*MODULES, *HOMES]


def __getattr__(name: str) -> Any:
    """Names that wait to be asked for; the in-place methods as functions, relu_(x); and bfloat16, of the package ml_dtypes
    if it is there."""
    if name in MODULES:
        return import_module(f".{name}", __name__)
    if name in HOMES:
        value = globals()[name] = getattr(import_module(f".{HOMES[name]}", __name__), name)
        if HOMES[name].startswith("ops."):
            _docstrings.attach({name: value}, HOMES[name].split(".")[1], "")
        return value
    if name.endswith("_") and not name.startswith("_") and hasattr(Tensor, name):
        return getattr(Tensor, name)
    if name.startswith("_foreach_"):
        value = globals()[name] = import_module(".compat.foreach", __name__).foreach(name)
        return value
    if name.startswith("_check"):
        return getattr(import_module(".compat.checks", __name__), name)
    if name == "bfloat16":
        return dtypes.of_tensors[dtypes.bfloat16_or_name()]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    in_place = (name for name in dir(Tensor) if name.endswith("_") and not name.startswith("_"))
    return sorted({*globals(), *MODULES, *HOMES, *in_place})
