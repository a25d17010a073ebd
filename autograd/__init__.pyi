"""Written by tests/autograd/make_stubs.py from what is bound at run time: do not edit."""

import numpy as np
from . import accelerator as accelerator
from . import amp as amp
from . import anomaly_mode as anomaly_mode
from . import autograd as autograd
from . import backends as backends
from . import base as base
from . import compiler as compiler
from . import config as config
from . import core as core
from . import cpu as cpu
from . import cuda as cuda
from . import distributed as distributed
from . import distributions as distributions
from . import drawing as drawing
from . import fft as fft
from . import forward_ad as forward_ad
from . import func as func
from . import function as function
from . import functional as functional
from . import fx as fx
from . import grad_mode as grad_mode
from . import graph as graph
from . import hub as hub
from . import jit as jit
from . import kernels as kernels
from . import library as library
from . import linalg as linalg
from . import mps as mps
from . import multiprocessing as multiprocessing
from . import nn as nn
from . import onnx as onnx
from . import ops as ops
from . import optim as optim
from . import overrides as overrides
from . import profiler as profiler
from . import random as random
from . import serialization as serialization
from . import signal as signal
from . import special as special
from . import storage as storage
from . import tensor_api as tensor_api
from . import testing as testing
from . import types as types
from . import utils as utils
from . import variable as variable
from . import version as version
from . import xpu as xpu
from .amp import GradScaler as GradScaler
from .amp import autocast as autocast
from .amp.autocast_mode import autocast_decrement_nesting as autocast_decrement_nesting
from .amp.autocast_mode import autocast_increment_nesting as autocast_increment_nesting
from .amp.autocast_mode import clear_autocast_cache as clear_autocast_cache
from .amp.autocast_mode import get_autocast_cpu_dtype as get_autocast_cpu_dtype
from .amp.autocast_mode import get_autocast_dtype as get_autocast_dtype
from .amp.autocast_mode import get_autocast_gpu_dtype as get_autocast_gpu_dtype
from .amp.autocast_mode import get_autocast_ipu_dtype as get_autocast_ipu_dtype
from .amp.autocast_mode import get_autocast_xla_dtype as get_autocast_xla_dtype
from .amp.autocast_mode import is_autocast_available as is_autocast_available
from .amp.autocast_mode import is_autocast_cache_enabled as is_autocast_cache_enabled
from .amp.autocast_mode import is_autocast_cpu_enabled as is_autocast_cpu_enabled
from .amp.autocast_mode import is_autocast_enabled as is_autocast_enabled
from .amp.autocast_mode import is_autocast_ipu_enabled as is_autocast_ipu_enabled
from .amp.autocast_mode import is_autocast_xla_enabled as is_autocast_xla_enabled
from .amp.autocast_mode import set_autocast_cache_enabled as set_autocast_cache_enabled
from .amp.autocast_mode import set_autocast_cpu_dtype as set_autocast_cpu_dtype
from .amp.autocast_mode import set_autocast_cpu_enabled as set_autocast_cpu_enabled
from .amp.autocast_mode import set_autocast_dtype as set_autocast_dtype
from .amp.autocast_mode import set_autocast_enabled as set_autocast_enabled
from .amp.autocast_mode import set_autocast_gpu_dtype as set_autocast_gpu_dtype
from .amp.autocast_mode import set_autocast_ipu_dtype as set_autocast_ipu_dtype
from .amp.autocast_mode import set_autocast_ipu_enabled as set_autocast_ipu_enabled
from .amp.autocast_mode import set_autocast_xla_dtype as set_autocast_xla_dtype
from .amp.autocast_mode import set_autocast_xla_enabled as set_autocast_xla_enabled
from .base.devices import device as device
from .base.devices import get_default_device as get_default_device
from .base.devices import layout as layout
from .base.devices import memory_format as memory_format
from .base.devices import set_default_device as set_default_device
from .base.dtypes import TensorDType
from .base.dtypes import TensorDType as dtype
from .base.dtypes import can_cast as can_cast
from .base.dtypes import finfo as finfo
from .base.dtypes import get_default_dtype as get_default_dtype
from .base.dtypes import iinfo as iinfo
from .base.dtypes import promote_types as promote_types
from .base.dtypes import set_default_dtype as set_default_dtype
from .base.size import Size as Size
from .base.types import Array
from .base.types import DTypeLike
from .base.types import DeviceLike
from .base.types import Dims
from .base.types import Layout
from .base.types import MemoryFormat
from .base.types import Number
from .base.types import SizeLike
from .compat.compiler import compile as compile
from .core.anomaly import detect_anomaly as detect_anomaly
from .core.anomaly import is_anomaly_check_nan_enabled as is_anomaly_check_nan_enabled
from .core.anomaly import is_anomaly_enabled as is_anomaly_enabled
from .core.anomaly import set_anomaly_enabled as set_anomaly_enabled
from .core.anomaly import set_detect_anomaly as set_detect_anomaly
from .core.backward import backward as backward
from .core.backward import grad as grad
from .core.function import Function as Function
from .core.function import once_differentiable as once_differentiable
from .core.inference import inference_mode as inference_mode
from .core.inference import is_inference_mode_enabled as is_inference_mode_enabled
from .core.modes import enable_grad as enable_grad
from .core.modes import is_grad_enabled as is_grad_enabled
from .core.modes import is_multithreading_enabled as is_multithreading_enabled
from .core.modes import no_grad as no_grad
from .core.modes import set_grad_enabled as set_grad_enabled
from .core.modes import set_multithreading_enabled as set_multithreading_enabled
from .core.random import Generator as Generator
from .core.random import fork_rng as fork_rng
from .core.random import get_rng_state as get_rng_state
from .core.random import initial_seed as initial_seed
from .core.random import manual_seed as manual_seed
from .core.random import seed as seed
from .core.random import set_rng_state as set_rng_state
from .core.tensor import Parameter as Parameter
from .core.tensor import Tensor as Tensor
from .core.types import TensorOrArray
from .core.types import TensorOrNumber
from .debug.config import show_config as show_config
from .debug.drawing import draw as draw
from .kernels.settings import are_deterministic_algorithms_enabled as are_deterministic_algorithms_enabled
from .kernels.settings import get_float32_matmul_precision as get_float32_matmul_precision
from .kernels.settings import get_num_interop_threads as get_num_interop_threads
from .kernels.settings import get_num_threads as get_num_threads
from .kernels.settings import set_float32_matmul_precision as set_float32_matmul_precision
from .kernels.settings import set_flush_denormal as set_flush_denormal
from .kernels.settings import set_num_interop_threads as set_num_interop_threads
from .kernels.settings import set_num_threads as set_num_threads
from .kernels.settings import use_deterministic_algorithms as use_deterministic_algorithms
from .ops.linalg.determinant import SlogDet
from .ops.linalg.lu import Plu
from .ops.linalg.qr import Geqrf
from .ops.linalg.qr import LinalgQr
from .ops.linalg.solve import TriangularSolve
from .ops.linalg.svd import SvdResult
from .ops.pointwise.powers import MantissaExponent
from .ops.reductions.extremes import MinMax
from .ops.reductions.take_along import ValuesIndices
from .ops.statistics.histograms import Histogram
from .ops.statistics.histograms import HistogramDD
from .replay.trace import trace_step as trace_step
from .serialization import load as load
from .serialization import save as save
from .storage import TypedStorage as TypedStorage
from .storage import UntypedStorage as UntypedStorage
from .tensor_api.printing import get_printoptions as get_printoptions
from .tensor_api.printing import set_printoptions as set_printoptions
from .tensor_api.tensor_types import TensorType
from .tensor_api.tensor_types import set_default_tensor_type as set_default_tensor_type
from .tensor_api.variable import Variable as Variable
from .transforms.gradcheck import GradcheckError as GradcheckError
from .transforms.gradcheck import gradcheck as gradcheck
from .transforms.gradcheck import gradgradcheck as gradgradcheck
from .transforms.vmap import vmap as vmap
from .version import __version__ as __version__
from builtins import bool as _bool
from builtins import float as _float
from builtins import int as _int
from collections.abc import Callable
from collections.abc import Sequence
from math import e as e
from math import inf as inf
from math import nan as nan
from math import pi as pi
from types import EllipsisType
from typing import Any
from typing import Literal
from typing import TypeGuard
from typing import overload

BoolTensor: TensorType
ByteTensor: TensorType
CharTensor: TensorType
DoubleTensor: TensorType
FloatTensor: TensorType
HalfTensor: TensorType
IntTensor: TensorType
LongTensor: TensorType
ShortTensor: TensorType
def abs(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The absolute value; of a complex number its modulus."""
def abs_(input: Tensor, /) -> Tensor:
    """In place: the absolute value; of a complex number its modulus."""
def absolute(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The absolute value; of a complex number its modulus."""
def absolute_(input: Tensor, /) -> Tensor:
    """In place: the absolute value; of a complex number its modulus."""
def acos(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The arc cosine, in radians."""
def acos_(input: Tensor, /) -> Tensor:
    """In place: the arc cosine, in radians."""
def acosh(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The inverse hyperbolic cosine."""
def acosh_(input: Tensor, /) -> Tensor:
    """In place: the inverse hyperbolic cosine."""
def adaptive_avg_pool1d(input: Tensor, output_size: SizeLike) -> Tensor:
    """The means over output_size windows that cover input (n, c, l) or (c, l) evenly."""
def adaptive_max_pool1d(input: Tensor, output_size: SizeLike) -> tuple[Tensor, Tensor]:
    """(values, indices) of the maxima over output_size windows: torch.adaptive_max_pool1d, unlike nn.functional's."""
def add(input: TensorOrArray | Number, other: TensorOrArray | Number, alpha: Number = 1, *, out: Tensor | None = None) -> Tensor:
    """input + alpha * other."""
def add_(input: Tensor, /, other: TensorOrArray | Number, alpha: Number = 1) -> Tensor:
    """In place: input + alpha * other."""
def addbmm(input: Tensor, batch1: Tensor, batch2: Tensor, *, beta: Number = 1, alpha: Number = 1, out: Tensor | None = None) -> Tensor:
    """beta * input + alpha * the sum of all batch1[i] @ batch2[i]."""
def addbmm_(input: Tensor, /, batch1: Tensor, batch2: Tensor, *, beta: Number = 1, alpha: Number = 1) -> Tensor:
    """In place: beta * input + alpha * the sum of all batch1[i] @ batch2[i]."""
def addcdiv(input: Tensor, tensor1: Tensor, tensor2: Tensor, *, value: Number = 1, out: Tensor | None = None) -> Tensor:
    """input + value * tensor1 / tensor2, for floating tensors."""
def addcdiv_(input: Tensor, /, tensor1: Tensor, tensor2: Tensor, *, value: Number = 1) -> Tensor:
    """In place: input + value * tensor1 / tensor2, for floating tensors."""
def addcmul(input: Tensor, tensor1: Tensor, tensor2: Tensor, *, value: _float = 1, out: Tensor | None = None) -> Tensor:
    """input + value * tensor1 * tensor2."""
def addcmul_(input: Tensor, /, tensor1: Tensor, tensor2: Tensor, *, value: _float = 1) -> Tensor:
    """In place: input + value * tensor1 * tensor2."""
def addmm(input: Tensor, mat1: Tensor, mat2: Tensor, *, beta: Number = 1, alpha: Number = 1, out: Tensor | None = None) -> Tensor:
    """beta * input + alpha * (mat1 @ mat2)."""
def addmm_(input: Tensor, /, mat1: Tensor, mat2: Tensor, *, beta: Number = 1, alpha: Number = 1) -> Tensor:
    """In place: beta * input + alpha * (mat1 @ mat2)."""
def addmv(input: Tensor, mat: Tensor, vec: Tensor, *, beta: Number = 1, alpha: Number = 1, out: Tensor | None = None) -> Tensor:
    """beta * input + alpha * (mat @ vec)."""
def addmv_(input: Tensor, /, mat: Tensor, vec: Tensor, *, beta: Number = 1, alpha: Number = 1) -> Tensor:
    """In place: beta * input + alpha * (mat @ vec)."""
def addr(input: Tensor, vec1: Tensor, vec2: Tensor, *, beta: Number = 1, alpha: Number = 1, out: Tensor | None = None) -> Tensor:
    """beta * input + alpha * outer(vec1, vec2)."""
def addr_(input: Tensor, /, vec1: Tensor, vec2: Tensor, *, beta: Number = 1, alpha: Number = 1) -> Tensor:
    """In place: beta * input + alpha * outer(vec1, vec2)."""
def adjoint(input: Tensor) -> Tensor:
    """The conjugate transpose of each matrix: mH as a method."""
def affine_grid_generator(theta: Tensor, size: Sequence[_int], align_corners: _bool) -> Tensor:
    """affine_grid without its checks."""
def alias_copy(input: Tensor, *, out: Tensor | None=None) -> Tensor:
    """alias() as a copy."""
def all(input: Tensor, dim: Dims = None, keepdim: _bool = False, *, out: Tensor | None = None, axis: Dims | None = None, keepdims: _bool | None = None) -> Tensor:
    """Whether all elements are true."""
def allclose(input: Tensor, other: Tensor, rtol: _float = 1e-05, atol: _float = 1e-08, equal_nan: _bool = False) -> _bool:
    """Whether all elements are close, see isclose."""
def alpha_dropout(input: Tensor, p: _float, train: _bool) -> Tensor:
    """Dropout that keeps mean 0 and variance 1, for networks of selu."""
def alpha_dropout_(input: Tensor, p: _float, train: _bool) -> Tensor:
    """alpha_dropout, in place."""
def amax(input: Tensor, dim: Dims = None, keepdim: _bool = False, *, out: Tensor | None = None, axis: Dims | None = None, keepdims: _bool | None = None) -> Tensor:
    """The largest element over `dim`; equal ones share the gradient."""
def amin(input: Tensor, dim: Dims = None, keepdim: _bool = False, *, out: Tensor | None = None, axis: Dims | None = None, keepdims: _bool | None = None) -> Tensor:
    """The smallest element over `dim`; equal ones share the gradient."""
def aminmax(input: Tensor, *, dim: _int | None = None, keepdim: _bool = False, out: Sequence[Tensor] | None = None, axis: _int | None = None, keepdims: _bool | None = None) -> MinMax:
    """The smallest and the largest element, of all or along one `dim`."""
def angle(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The argument of complex numbers, in (-pi, pi]; for real ones 0, or pi where negative."""
def any(input: Tensor, dim: Dims = None, keepdim: _bool = False, *, out: Tensor | None = None, axis: Dims | None = None, keepdims: _bool | None = None) -> Tensor:
    """Whether any element is true."""
def apply_(input: Tensor, /, callable: Callable[[Any], Any]) -> Tensor:
    """Replace each element by callable(element). Returns self."""
@overload
def arange(end: Number | Tensor, *, out: Tensor | None=None, dtype: DTypeLike=None, layout: Layout | None=None, device: DeviceLike=None, pin_memory: _bool=False, requires_grad: _bool=False) -> Tensor:
    """start, start + step, ... below end; arange(end) starts at 0. Integers give int64."""
@overload
def arange(start: Number | Tensor, end: Number | Tensor, step: Number | Tensor=1, *, out: Tensor | None=None, dtype: DTypeLike=None, layout: Layout | None=None, device: DeviceLike=None, pin_memory: _bool=False, requires_grad: _bool=False) -> Tensor:
    """start, start + step, ... below end; arange(end) starts at 0. Integers give int64."""
def arccos(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The arc cosine, in radians."""
def arccos_(input: Tensor, /) -> Tensor:
    """In place: the arc cosine, in radians."""
def arccosh(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The inverse hyperbolic cosine."""
def arccosh_(input: Tensor, /) -> Tensor:
    """In place: the inverse hyperbolic cosine."""
def arcsin(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The arc sine, in radians."""
def arcsin_(input: Tensor, /) -> Tensor:
    """In place: the arc sine, in radians."""
def arcsinh(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The inverse hyperbolic sine."""
def arcsinh_(input: Tensor, /) -> Tensor:
    """In place: the inverse hyperbolic sine."""
def arctan(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The arc tangent, in radians."""
def arctan2(input: Tensor, other: Tensor | Number | Array | np.generic, *, out: Tensor | None = None) -> Tensor:
    """The angle of the point (other, input), in radians, from -pi to pi."""
def arctan2_(input: Tensor, /, other: Tensor | Number | Array | np.generic) -> Tensor:
    """In place: the angle of the point (other, input), in radians, from -pi to pi."""
def arctan_(input: Tensor, /) -> Tensor:
    """In place: the arc tangent, in radians."""
def arctanh(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The inverse hyperbolic tangent."""
def arctanh_(input: Tensor, /) -> Tensor:
    """In place: the inverse hyperbolic tangent."""
def argmax(input: Tensor, dim: _int | None = None, keepdim: _bool = False, *, out: Tensor | None = None, axis: _int | None = None, keepdims: _bool | None = None) -> Tensor:
    """The index of the first largest element, of all or along `dim`."""
def argmin(input: Tensor, dim: _int | None = None, keepdim: _bool = False, *, out: Tensor | None = None, axis: _int | None = None, keepdims: _bool | None = None) -> Tensor:
    """The index of the first smallest element, of all or along `dim`."""
def argsort(input: Tensor, dim: _int = -1, descending: _bool = False, *, stable: _bool = False, out: Tensor | None = None, axis: _int | None = None) -> Tensor:
    """Where the elements along `dim` are found in order; always stable."""
def argwhere(input: Tensor) -> Tensor:
    """The indices of elements that are not 0, a row for each."""
def as_strided(input: Tensor, size: Sequence[_int], stride: Sequence[_int], storage_offset: _int | None = None) -> Tensor:
    """input's memory seen with this size, stride and offset, all in elements. A view."""
def as_strided_(input: Tensor, /, size: Sequence[_int], stride: Sequence[_int], storage_offset: _int | None = None) -> Tensor:
    """input's memory seen with this size, stride and offset, all in elements. A view."""
def as_strided_copy(input: Tensor, size: Sequence[_int], stride: Sequence[_int], storage_offset: _int | None = None, *, out: Tensor | None = None) -> Tensor:
    """as_strided() as a copy."""
def as_strided_scatter(input: Tensor, src: Tensor, size: Sequence[_int], stride: Sequence[_int], storage_offset: _int | None = None) -> Tensor:
    """input with what as_strided() shows of it replaced by src."""
def as_tensor(data: Tensor | Number | Array | np.generic | Sequence[Any], dtype: DTypeLike = None, device: DeviceLike = None) -> Tensor:
    """`data` as a Tensor: itself, or on the same memory, where it is one, or an array or another library's tensor (PyTorch's, a DataFrame), of the right dtype already."""
def asarray(obj: Tensor | Number | Array | np.generic | Sequence[Any], *, dtype: DTypeLike = None, device: DeviceLike = None, copy: _bool | None = None, requires_grad: _bool = False) -> Tensor:
    """obj (a Tensor, array, buffer, DLPack object, number or nested list) as a Tensor. copy: always (True), never (False: ValueError where needed), or where needed."""
def asin(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The arc sine, in radians."""
def asin_(input: Tensor, /) -> Tensor:
    """In place: the arc sine, in radians."""
def asinh(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The inverse hyperbolic sine."""
def asinh_(input: Tensor, /) -> Tensor:
    """In place: the inverse hyperbolic sine."""
def atan(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The arc tangent, in radians."""
def atan2(input: Tensor, other: Tensor | Number | Array | np.generic, *, out: Tensor | None = None) -> Tensor:
    """The angle of the point (other, input), in radians, from -pi to pi."""
def atan2_(input: Tensor, /, other: Tensor | Number | Array | np.generic) -> Tensor:
    """In place: the angle of the point (other, input), in radians, from -pi to pi."""
def atan_(input: Tensor, /) -> Tensor:
    """In place: the arc tangent, in radians."""
def atanh(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The inverse hyperbolic tangent."""
def atanh_(input: Tensor, /) -> Tensor:
    """In place: the inverse hyperbolic tangent."""
@overload
def atleast_1d(input: Tensor, /) -> Tensor:
    """Each tensor with one dimension or more."""
@overload
def atleast_1d(first: Tensor, second: Tensor, /, *tensors: Tensor) -> tuple[Tensor, ...]:
    """Each tensor with one dimension or more."""
@overload
def atleast_1d(tensors: Sequence[Tensor], /) -> tuple[Tensor, ...]:
    """Each tensor with one dimension or more."""
@overload
def atleast_2d(input: Tensor, /) -> Tensor:
    """Each tensor with two dimensions or more: a vector becomes a row."""
@overload
def atleast_2d(first: Tensor, second: Tensor, /, *tensors: Tensor) -> tuple[Tensor, ...]:
    """Each tensor with two dimensions or more: a vector becomes a row."""
@overload
def atleast_2d(tensors: Sequence[Tensor], /) -> tuple[Tensor, ...]:
    """Each tensor with two dimensions or more: a vector becomes a row."""
@overload
def atleast_3d(input: Tensor, /) -> Tensor:
    """Each tensor with three dimensions or more: (n,) becomes (1, n, 1), and (m, n) becomes (m, n, 1)."""
@overload
def atleast_3d(first: Tensor, second: Tensor, /, *tensors: Tensor) -> tuple[Tensor, ...]:
    """Each tensor with three dimensions or more: (n,) becomes (1, n, 1), and (m, n) becomes (m, n, 1)."""
@overload
def atleast_3d(tensors: Sequence[Tensor], /) -> tuple[Tensor, ...]:
    """Each tensor with three dimensions or more: (n,) becomes (1, n, 1), and (m, n) becomes (m, n, 1)."""
def avg_pool1d(input: Tensor, kernel_size: SizeLike, stride: SizeLike | None = None, padding: SizeLike = 0, ceil_mode: _bool = False, count_include_pad: _bool = True) -> Tensor:
    """The mean under each window of input (n, c, l) or (c, l); stride defaults to the window."""
def baddbmm(input: Tensor, batch1: Tensor, batch2: Tensor, *, beta: Number = 1, alpha: Number = 1, out: Tensor | None = None) -> Tensor:
    """beta * input[i] + alpha * (batch1[i] @ batch2[i])."""
def baddbmm_(input: Tensor, /, batch1: Tensor, batch2: Tensor, *, beta: Number = 1, alpha: Number = 1) -> Tensor:
    """In place: beta * input[i] + alpha * (batch1[i] @ batch2[i])."""
def bartlett_window(window_length: _int, periodic: _bool = True, *, dtype: DTypeLike = None, layout: Layout | None = None, device: DeviceLike = None, pin_memory: _bool = False, requires_grad: _bool = False) -> Tensor:
    """A triangle: 1 - |2 i / n - 1|."""
def batch_norm(input: Tensor, weight: Tensor | None, bias: Tensor | None, running_mean: Tensor, running_var: Tensor, training: _bool, momentum: _float, eps: _float, cudnn_enabled: _bool = False) -> Tensor:
    """Each channel standardized; see nn.functional.batch_norm."""
def bernoulli(input: Tensor, p: Tensor | _float | None = None, *, generator: Generator | None = None, out: Tensor | None = None) -> Tensor:
    """1 with the probabilities in input, else 0; with `p` that is the probability everywhere, and input gives the shape."""
def bernoulli_(input: Tensor, /, p: TensorOrNumber = 0.5, *, generator: Generator | None = None) -> Tensor:
    """In place: 1 with the probabilities in input, else 0; with `p` that is the probability everywhere, and input gives the shape."""
bfloat16: TensorDType
def bilinear(input1: Tensor, input2: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """out[..., k] = input1 weight[k] input2 + bias[k]: input1 (..., i), input2 (..., j), weight (k, i, j)."""
def bincount(input: Tensor, weights: Tensor | None = None, minlength: _int = 0) -> Tensor:
    """How often 0, 1, 2, ... occur in a vector, or the sums of their weights; at least `minlength` of them."""
def bitwise_and(input: Tensor | Number, other: Tensor | Number | Array | np.generic, *, out: Tensor | None = None) -> Tensor:
    """input & other, of integers or bools."""
def bitwise_and_(input: Tensor, /, other: Tensor | Number | Array | np.generic) -> Tensor:
    """In place: input & other, of integers or bools."""
def bitwise_left_shift(input: Tensor | Number, other: Tensor | Number | Array | np.generic, *, out: Tensor | None = None) -> Tensor:
    """input << other."""
def bitwise_left_shift_(input: Tensor, /, other: Tensor | Number | Array | np.generic) -> Tensor:
    """In place: input << other."""
def bitwise_not(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """~input, of integers or bools."""
def bitwise_not_(input: Tensor, /) -> Tensor:
    """In place: ~input, of integers or bools."""
def bitwise_or(input: Tensor | Number, other: Tensor | Number | Array | np.generic, *, out: Tensor | None = None) -> Tensor:
    """input | other, of integers or bools."""
def bitwise_or_(input: Tensor, /, other: Tensor | Number | Array | np.generic) -> Tensor:
    """In place: input | other, of integers or bools."""
def bitwise_right_shift(input: Tensor | Number, other: Tensor | Number | Array | np.generic, *, out: Tensor | None = None) -> Tensor:
    """input >> other."""
def bitwise_right_shift_(input: Tensor, /, other: Tensor | Number | Array | np.generic) -> Tensor:
    """In place: input >> other."""
def bitwise_xor(input: Tensor | Number, other: Tensor | Number | Array | np.generic, *, out: Tensor | None = None) -> Tensor:
    """input ^ other, of integers or bools."""
def bitwise_xor_(input: Tensor, /, other: Tensor | Number | Array | np.generic) -> Tensor:
    """In place: input ^ other, of integers or bools."""
def blackman_window(window_length: _int, periodic: _bool = True, *, dtype: DTypeLike = None, layout: Layout | None = None, device: DeviceLike = None, pin_memory: _bool = False, requires_grad: _bool = False) -> Tensor:
    """0.42 - 0.5 cos(2 pi i / n) + 0.08 cos(4 pi i / n)."""
def block_diag(*tensors: Tensor) -> Tensor:
    """A matrix with the tensors as blocks along its diagonal, zeros elsewhere; vectors count as rows."""
def bmm(input: Tensor, mat2: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The products of two stacks of matrices, (b, n, k) and (b, k, m)."""
bool: TensorDType
def broadcast_shapes(*shapes: SizeLike) -> tuple[_int, ...]:
    """The shape that tensors of these shapes broadcast to. RuntimeError if there is none."""
def broadcast_tensors(*tensors: Tensor) -> tuple[Tensor, ...]:
    """The tensors, each expanded to the shape that all broadcast to."""
def broadcast_to(input: Tensor, size: Sequence[_int]) -> Tensor:
    """input repeated to `size`, a view."""
def bucketize(input: Tensor | Number, boundaries: Tensor, *, out_int32: _bool = False, right: _bool = False, out: Tensor | None = None) -> Tensor:
    """The number of the bin between sorted `boundaries` that each element falls in; right: bins own their left edge."""
def cartesian_prod(*tensors: Tensor) -> Tensor:
    """All tuples with one element of each vector, as rows."""
def cat(tensors: Sequence[Tensor], dim: _int = 0, *, axis: _int | None = None, out: Tensor | None = None) -> Tensor:
    """Tensors put end to end along `dim`; their other sizes agree. Legacy empty vectors, shape (0,), are left out."""
def cauchy_(input: Tensor, /, median: _float = 0.0, sigma: _float = 1.0, *, generator: Generator | None = None) -> Tensor:
    """Draws from the Cauchy distribution, written into this tensor's memory; returns self."""
def cdist(x1: Tensor, x2: Tensor, p: _float = 2.0, compute_mode: str = 'use_mm_for_euclid_dist_if_necessary') -> Tensor:
    """The p-norm distance of each row of x1 (..., n, d) from each row of x2 (..., m, d): (..., n, m)."""
cdouble: TensorDType
def ceil(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The smallest integer that is not below input."""
def ceil_(input: Tensor, /) -> Tensor:
    """In place: the smallest integer that is not below input."""
def celu(input: Tensor, alpha: _float = 1.0, inplace: _bool = False) -> Tensor:
    """input where positive, alpha (exp(input / alpha) - 1) elsewhere."""
def celu_(input: Tensor, alpha: _float = 1.0) -> Tensor:
    """celu, in place."""
cfloat: TensorDType
def chain_matmul(*matrices: Tensor, out: Tensor | None = None) -> Tensor:
    """multi_dot(matrices), under its older name."""
def channel_shuffle(input: Tensor, groups: _int) -> Tensor:
    """input (n, c, ...) with its channels dealt out: the first of every group, then the second of every group, ..."""
channels_last: memory_format
channels_last_3d: memory_format
def cholesky(input: Tensor, upper: _bool = False, *, out: Tensor | None = None) -> Tensor:
    """linalg.cholesky, under its older name."""
def cholesky_inverse(input: Tensor, upper: _bool = False, *, out: Tensor | None = None) -> Tensor:
    """The inverse of A, from its Cholesky factor."""
@overload
def cholesky_solve(input: Tensor, L: Tensor, upper: _bool = False, *, out: Tensor | None = None) -> Tensor:
    """X with A @ X = input, from the Cholesky factor of A."""
@overload
def cholesky_solve(input: Tensor, *, input2: Tensor, upper: _bool = False, out: Tensor | None = None) -> Tensor:
    """X with A @ X = input, from the Cholesky factor of A."""
def chunk(input: Tensor, chunks: _int, dim: _int = 0) -> tuple[Tensor, ...]:
    """input cut along `dim` in at most `chunks` pieces of equal size, the last smaller."""
def clamp(input: Tensor, min: Tensor | Number | Array | np.generic | None = None, max: Tensor | Number | Array | np.generic | None = None, *, out: Tensor | None = None) -> Tensor:
    """input limited to [min, max]: numbers, or tensors that broadcast; one may be left out."""
def clamp_(input: Tensor, /, min: Tensor | Number | Array | np.generic | None = None, max: Tensor | Number | Array | np.generic | None = None) -> Tensor:
    """In place: input limited to [min, max]: numbers, or tensors that broadcast; one may be left out."""
def clamp_max(input: Tensor, max: TensorOrNumber, *, out: Tensor | None = None) -> Tensor:
    """input, but at most max."""
def clamp_max_(input: Tensor, /, max: TensorOrNumber) -> Tensor:
    """In place: input, but at most max."""
def clamp_min(input: Tensor, min: TensorOrNumber, *, out: Tensor | None = None) -> Tensor:
    """input, but at least min."""
def clamp_min_(input: Tensor, /, min: TensorOrNumber) -> Tensor:
    """In place: input, but at least min."""
def clip(input: Tensor, min: Tensor | Number | Array | np.generic | None = None, max: Tensor | Number | Array | np.generic | None = None, *, out: Tensor | None = None) -> Tensor:
    """input limited to [min, max]: numbers, or tensors that broadcast; one may be left out."""
def clip_(input: Tensor, /, min: Tensor | Number | Array | np.generic | None = None, max: Tensor | Number | Array | np.generic | None = None) -> Tensor:
    """In place: input limited to [min, max]: numbers, or tensors that broadcast; one may be left out."""
def clone(input: Tensor, *, memory_format: MemoryFormat | None = None) -> Tensor:
    """A copy of input that gradients flow through."""
def column_stack(tensors: Sequence[Tensor], *, out: Tensor | None = None) -> Tensor:
    """Tensors put side by side, vectors as columns."""
def combinations(input: Tensor, r: _int = 2, with_replacement: _bool = False) -> Tensor:
    """All choices of r elements of a vector, in order, as rows."""
def complex(real: Tensor, imag: Tensor, *, out: Tensor | None = None) -> Tensor:
    """real + i imag."""
complex128: TensorDType
complex64: TensorDType
def concat(tensors: Sequence[Tensor], dim: _int = 0, *, axis: _int | None = None, out: Tensor | None = None) -> Tensor:
    """Tensors put end to end along `dim`; their other sizes agree. Legacy empty vectors, shape (0,), are left out."""
def concatenate(tensors: Sequence[Tensor], dim: _int = 0, *, axis: _int | None = None, out: Tensor | None = None) -> Tensor:
    """Tensors put end to end along `dim`; their other sizes agree. Legacy empty vectors, shape (0,), are left out."""
def conj(input: Tensor) -> Tensor:
    """a - ib for a + ib; a real tensor as it is. Computed at once: there is no lazy conjugate bit here."""
def conj_physical(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """conj(input), as new memory."""
def conj_physical_(input: Tensor, /) -> Tensor:
    """In place: conj(input), as new memory."""
def constant_pad_nd(input: Tensor, pad: Sequence[_int], value: Number = 0) -> Tensor:
    """input with `value` put round it: pad holds (before, after) for the last dimension, then for the one before it, and so on. Negative numbers cut off."""
contiguous_format: memory_format
def conv1d(input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: SizeLike = 1, padding: SizeLike | str = 0, dilation: SizeLike = 1, groups: _int = 1) -> Tensor:
    """Cross-correlation of input (n, c, l) or (c, l) with weight (m, c / groups, k), plus bias (m,)."""
def conv2d(input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: SizeLike = 1, padding: SizeLike | str = 0, dilation: SizeLike = 1, groups: _int = 1) -> Tensor:
    """Cross-correlation of input (n, c, h, w) or (c, h, w) with weight (m, c / groups, kh, kw), plus bias (m,)."""
def conv3d(input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: SizeLike = 1, padding: SizeLike | str = 0, dilation: SizeLike = 1, groups: _int = 1) -> Tensor:
    """Cross-correlation of input (n, c, d, h, w) or (c, d, h, w) with weight (m, c / groups, kd, kh, kw), plus bias (m,)."""
def conv_tbc(input: Tensor, weight: Tensor, bias: Tensor, pad: _int = 0) -> Tensor:
    """conv1d on input (time, batch, channels) with weight (kernel, channels, outputs)."""
def conv_transpose1d(input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: SizeLike = 1, padding: SizeLike = 0, output_padding: SizeLike = 0, groups: _int = 1, dilation: SizeLike = 1) -> Tensor:
    """The adjoint of conv1d: input (n, m, l) or (m, l), weight (m, c / groups, k) -> (n, c, l'), plus bias (c,)."""
def conv_transpose2d(input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: SizeLike = 1, padding: SizeLike = 0, output_padding: SizeLike = 0, groups: _int = 1, dilation: SizeLike = 1) -> Tensor:
    """The adjoint of conv2d: input (n, m, h, w) or (m, h, w), weight (m, c / groups, kh, kw) -> (n, c, h', w')."""
def conv_transpose3d(input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: SizeLike = 1, padding: SizeLike = 0, output_padding: SizeLike = 0, groups: _int = 1, dilation: SizeLike = 1) -> Tensor:
    """The adjoint of conv3d: input (n, m, d, h, w), weight (m, c / groups, kd, kh, kw) -> (n, c, d', h', w')."""
def convolution(input: Tensor, weight: Tensor, bias: Tensor | None, stride: SizeLike, padding: SizeLike | str, dilation: SizeLike, transposed: _bool, output_padding: SizeLike, groups: _int) -> Tensor:
    """conv1d to conv3d, or their transposed forms, as the number of weight's dimensions says."""
def copy_(input: Tensor, /, src: Tensor | Number | Array | np.generic | Sequence[Any], non_blocking: _bool = False) -> Tensor:
    """Write `src` (broadcast, cast) into this tensor's memory. Returns self."""
def copysign(input: Tensor, other: Tensor | Number | Array | np.generic, *, out: Tensor | None = None) -> Tensor:
    """The magnitude of input with the sign of other."""
def copysign_(input: Tensor, /, other: Tensor | Number | Array | np.generic) -> Tensor:
    """In place: the magnitude of input with the sign of other."""
def corrcoef(input: Tensor) -> Tensor:
    """The covariance of each pair of rows over the product of their standard deviations."""
def cos(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The cosine of an angle in radians."""
def cos_(input: Tensor, /) -> Tensor:
    """In place: the cosine of an angle in radians."""
def cosh(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The hyperbolic cosine."""
def cosh_(input: Tensor, /) -> Tensor:
    """In place: the hyperbolic cosine."""
def cosine_similarity(x1: Tensor, x2: Tensor, dim: _int = 1, eps: _float = 1e-08) -> Tensor:
    """x1 . x2 / (max(|x1|, eps) max(|x2|, eps)) along dim; the gradient is that of the quotient without max."""
def count_nonzero(input: Tensor, dim: Dims = None, *, out: Tensor | None = None, axis: Dims | None = None) -> Tensor:
    """How many elements, of all or over `dim`, are not 0."""
def cov(input: Tensor, *, correction: _int = 1, fweights: Tensor | None = None, aweights: Tensor | None = None) -> Tensor:
    """The covariance of each pair of rows: products of distances from the means, averaged over columns."""
def cross(input: Tensor, other: Tensor, dim: _int | None = None, *, out: Tensor | None = None) -> Tensor:
    """The cross product of vectors of 3 elements along `dim`, by default the first dimension of that size."""
@overload
def cummax(input: Tensor, dim: _int, *, out: Sequence[Tensor] | None = None) -> ValuesIndices:
    """The largest of the first 1, 2, ... elements along `dim`, and its index (of equal ones the last)."""
@overload
def cummax(input: Tensor, *, axis: _int, out: Sequence[Tensor] | None = None) -> ValuesIndices:
    """The largest of the first 1, 2, ... elements along `dim`, and its index (of equal ones the last)."""
@overload
def cummin(input: Tensor, dim: _int, *, out: Sequence[Tensor] | None = None) -> ValuesIndices:
    """The smallest of the first 1, 2, ... elements along `dim`, and its index (of equal ones the last)."""
@overload
def cummin(input: Tensor, *, axis: _int, out: Sequence[Tensor] | None = None) -> ValuesIndices:
    """The smallest of the first 1, 2, ... elements along `dim`, and its index (of equal ones the last)."""
@overload
def cumprod(input: Tensor, dim: _int, *, dtype: DTypeLike = None, out: Tensor | None = None) -> Tensor:
    """The products of the first 1, 2, ... elements along `dim`; integers and booleans multiply in int64."""
@overload
def cumprod(input: Tensor, *, axis: _int, dtype: DTypeLike = None, out: Tensor | None = None) -> Tensor:
    """The products of the first 1, 2, ... elements along `dim`; integers and booleans multiply in int64."""
def cumprod_(input: Tensor, /, dim: _int, *, dtype: DTypeLike = None) -> Tensor:
    """In place: the products of the first 1, 2, ... elements along `dim`; integers and booleans multiply in int64."""
@overload
def cumsum(input: Tensor, dim: _int, *, dtype: DTypeLike = None, out: Tensor | None = None) -> Tensor:
    """The sums of the first 1, 2, ... elements along `dim`; integers and booleans add up in int64."""
@overload
def cumsum(input: Tensor, *, axis: _int, dtype: DTypeLike = None, out: Tensor | None = None) -> Tensor:
    """The sums of the first 1, 2, ... elements along `dim`; integers and booleans add up in int64."""
def cumsum_(input: Tensor, /, dim: _int, *, dtype: DTypeLike = None) -> Tensor:
    """In place: the sums of the first 1, 2, ... elements along `dim`; integers and booleans add up in int64."""
def cumulative_trapezoid(y: Tensor, x: Tensor | None = None, *, dx: Number | None = None, dim: _int = -1) -> Tensor:
    """The integrals up to each sample but the first along `dim`, by the trapezoidal rule."""
default_generator: Generator
def deg2rad(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Degrees to radians."""
def deg2rad_(input: Tensor, /) -> Tensor:
    """In place: degrees to radians."""
@overload
def det(A: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The determinant of each square matrix."""
@overload
def det(*, input: Tensor, out: Tensor | None = None) -> Tensor:
    """The determinant of each square matrix."""
def detach(input: Tensor) -> Tensor:
    """The same memory as a tensor without history."""
def detach_(input: Tensor, /) -> Tensor:
    """In place: the same memory as a leaf that needs no gradient; writes to either are seen by both."""
def detach_copy(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """detach() as a copy."""
def diag(input: Tensor, diagonal: _int = 0, *, out: Tensor | None = None) -> Tensor:
    """Of a vector the matrix with that diagonal, of a matrix a copy of its diagonal."""
def diag_embed(input: Tensor, offset: _int = 0, dim1: _int = -2, dim2: _int = -1) -> Tensor:
    """Matrices, in dimensions dim1 and dim2, with input's last dimension as diagonals and zeros elsewhere."""
def diagflat(input: Tensor, offset: _int = 0) -> Tensor:
    """The matrix with all elements of input on its diagonal."""
def diagonal(input: Tensor, offset: _int = 0, dim1: _int = 0, dim2: _int = 1) -> Tensor:
    """The diagonals of the matrices in dimensions dim1 and dim2, as the last dimension. A view."""
def diagonal_copy(input: Tensor, offset: _int = 0, dim1: _int = 0, dim2: _int = 1, *, out: Tensor | None = None) -> Tensor:
    """diagonal() as a copy."""
def diagonal_scatter(input: Tensor, src: Tensor, offset: _int = 0, dim1: _int = 0, dim2: _int = 1) -> Tensor:
    """input with a diagonal replaced by src."""
def diff(input: Tensor, n: _int = 1, dim: _int = -1, prepend: Tensor | None = None, append: Tensor | None = None, *, axis: _int | None = None, out: Tensor | None = None) -> Tensor:
    """The n-th difference of neighbours along `dim`, with `prepend` and `append` joined on before; bool: whether unequal."""
def digamma(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The derivative of lgamma."""
def digamma_(input: Tensor, /) -> Tensor:
    """In place: the derivative of lgamma."""
def dist(input: Tensor, other: Tensor, p: _float = 2, *, out: Tensor | None = None) -> Tensor:
    """The p-norm of input - other, which broadcast."""
def div(input: Tensor, other: TensorOrArray | Number, *, rounding_mode: str | None = None, out: Tensor | None = None) -> Tensor:
    """input / other, as it is or rounded to an integer: "trunc" towards 0, "floor" down."""
def div_(input: Tensor, /, other: TensorOrArray | Number, *, rounding_mode: str | None = None) -> Tensor:
    """In place: input / other, as it is or rounded to an integer: "trunc" towards 0, "floor" down."""
def divide(input: Tensor, other: TensorOrArray | Number, *, rounding_mode: str | None = None, out: Tensor | None = None) -> Tensor:
    """input / other, as it is or rounded to an integer: "trunc" towards 0, "floor" down."""
def divide_(input: Tensor, /, other: TensorOrArray | Number, *, rounding_mode: str | None = None) -> Tensor:
    """In place: input / other, as it is or rounded to an integer: "trunc" towards 0, "floor" down."""
def dot(input: Tensor, tensor: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The sum of input * tensor, for two vectors."""
double: TensorDType
def dropout(input: Tensor, p: _float, train: _bool) -> Tensor:
    """Each element is 0 with probability p, else divided by 1 - p; input itself if not training."""
def dropout_(input: Tensor, p: _float, train: _bool) -> Tensor:
    """dropout, in place."""
def dsplit(input: Tensor, indices_or_sections: SizeLike) -> tuple[Tensor, ...]:
    """tensor_split() along the third dimension, in equal parts."""
def dstack(tensors: Sequence[Tensor], *, out: Tensor | None = None) -> Tensor:
    """Tensors put behind each other, along the third dimension."""
@overload
def einsum(equation: str, *operands: Tensor | Sequence[Tensor]) -> Tensor:
    """The sum of the product of the operands over all labels that the output does not have."""
@overload
def einsum(operand: Tensor, sublist: Sequence[_int | EllipsisType], /, *args: Tensor | Sequence[_int | EllipsisType]) -> Tensor:
    """The sum of the product of the operands over all labels that the output does not have."""
def embedding(weight: Tensor, indices: Tensor, padding_idx: _int = -1, scale_grad_by_freq: _bool = False, sparse: _bool = False) -> Tensor:
    """The rows of weight that indices name; see nn.functional.embedding. No padding for a negative padding_idx."""
def empty(size: _int | Tensor | Sequence[_int], *more: _int | Tensor | Sequence[_int], out: Tensor | None = None, dtype: DTypeLike = None, layout: Layout | None = None, device: DeviceLike = None, pin_memory: _bool = False, requires_grad: _bool = False, memory_format: MemoryFormat | None = None) -> Tensor:
    """Memory as it is found."""
def empty_like(input: Tensor, *, dtype: DTypeLike = None, layout: Layout | None = None, device: DeviceLike = None, pin_memory: _bool = False, requires_grad: _bool = False, memory_format: MemoryFormat | None = None) -> Tensor:
    """Memory as it is found, of input's shape and dtype."""
def empty_permuted(size: Sequence[_int], physical_layout: Sequence[_int], *, dtype: DTypeLike = None, layout: Layout | None = None, device: DeviceLike = None, pin_memory: _bool = False, requires_grad: _bool = False) -> Tensor:
    """Memory as it is found, with the dimensions in the order physical_layout, the outermost first."""
def empty_strided(size: Sequence[_int], stride: Sequence[_int], *, dtype: DTypeLike = None, layout: Layout | None = None, device: DeviceLike = None, pin_memory: _bool = False, requires_grad: _bool = False) -> Tensor:
    """Memory as it is found, where one step along dimension i is stride[i] elements."""
def eq(input: Tensor, other: Tensor | Number | Array | np.generic, *, out: Tensor | None = None) -> Tensor:
    """input == other."""
def eq_(input: Tensor, /, other: Tensor | Number | Array | np.generic) -> Tensor:
    """In place: input == other."""
def equal(input: Tensor, other: Tensor) -> _bool:
    """Whether the two have the same shape and elements."""
def erf(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The error function, 2 / sqrt(pi) times the integral of exp(-t^2) from 0 to x."""
def erf_(input: Tensor, /) -> Tensor:
    """In place: the error function, 2 / sqrt(pi) times the integral of exp(-t^2) from 0 to x."""
def erfc(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """1 - erf(x), accurate where that is near 0."""
def erfc_(input: Tensor, /) -> Tensor:
    """In place: 1 - erf(x), accurate where that is near 0."""
def erfinv(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The inverse of erf."""
def erfinv_(input: Tensor, /) -> Tensor:
    """In place: the inverse of erf."""
def exp(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """e to the power of input."""
def exp2(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """2 to the power of input."""
def exp2_(input: Tensor, /) -> Tensor:
    """In place: 2 to the power of input."""
def exp_(input: Tensor, /) -> Tensor:
    """In place: e to the power of input."""
def expand_copy(input: Tensor, size: _int | Tensor | Sequence[_int], *more: _int | Tensor | Sequence[_int], implicit: _bool = False, out: Tensor | None = None) -> Tensor:
    """expand() as a copy."""
def expm1(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """exp(input) - 1, accurate near 0."""
def expm1_(input: Tensor, /) -> Tensor:
    """In place: exp(input) - 1, accurate near 0."""
def exponential_(input: Tensor, /, lambd: _float = 1.0, *, generator: Generator | None = None) -> Tensor:
    """Draws from the exponential distribution, written into this tensor's memory; returns self."""
def eye(n: _int, m: _int | None = None, *, out: Tensor | None = None, dtype: DTypeLike = None, layout: Layout | None = None, device: DeviceLike = None, pin_memory: _bool = False, requires_grad: _bool = False) -> Tensor:
    """Ones on the diagonal of an (n, m) matrix, zeros elsewhere."""
def feature_alpha_dropout(input: Tensor, p: _float, train: _bool) -> Tensor:
    """alpha_dropout of whole channels."""
def feature_alpha_dropout_(input: Tensor, p: _float, train: _bool) -> Tensor:
    """feature_alpha_dropout, in place."""
def feature_dropout(input: Tensor, p: _float, train: _bool) -> Tensor:
    """dropout of whole channels, dimension 1."""
def feature_dropout_(input: Tensor, p: _float, train: _bool) -> Tensor:
    """feature_dropout, in place."""
def fill(input: Tensor, value: TensorOrNumber) -> Tensor:
    """`value`, a number or a 0-d Tensor, in input's shape and dtype: fill_() as a new tensor."""
def fill_(input: Tensor, /, value: TensorOrNumber | None) -> Tensor:
    """Write one number everywhere. Returns self."""
def fill_diagonal_(input: Tensor, /, fill_value: _float, wrap: _bool = False) -> Tensor:
    """Write one number to the main diagonal: to the elements whose indices are all equal. Returns self."""
def fix(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Rounded towards 0."""
def fix_(input: Tensor, /) -> Tensor:
    """In place: rounded towards 0."""
def flatten(input: Tensor, start_dim: _int = 0, end_dim: _int = -1) -> Tensor:
    """Dimensions start_dim to end_dim as one."""
def flip(input: Tensor, dims: _int | Tensor | Sequence[_int], *more: _int | Tensor | Sequence[_int]) -> Tensor:
    """A copy of input, reversed along dims."""
def fliplr(input: Tensor) -> Tensor:
    """A copy of input, reversed along its second dimension."""
def flipud(input: Tensor) -> Tensor:
    """A copy of input, reversed along its first dimension."""
float: TensorDType
float16: TensorDType
float32: TensorDType
float64: TensorDType
def float_power(input: Tensor | Number, exponent: Tensor | Number | Array | np.generic, *, out: Tensor | None = None) -> Tensor:
    """input ** exponent in double precision, whatever their dtypes."""
def float_power_(input: Tensor, /, exponent: Tensor | Number | Array | np.generic) -> Tensor:
    """In place: input ** exponent in double precision, whatever their dtypes."""
def floor(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The largest integer that is not above input."""
def floor_(input: Tensor, /) -> Tensor:
    """In place: the largest integer that is not above input."""
def floor_divide(input: Tensor, other: Tensor | Number | Array | np.generic, *, out: Tensor | None = None) -> Tensor:
    """input / other, rounded down."""
def floor_divide_(input: Tensor, /, other: Tensor | Number | Array | np.generic) -> Tensor:
    """In place: input / other, rounded down."""
def fmax(input: Tensor, other: Tensor | Number | Array | np.generic, *, out: Tensor | None = None) -> Tensor:
    """The larger of two; where one is nan, the other."""
def fmin(input: Tensor, other: Tensor | Number | Array | np.generic, *, out: Tensor | None = None) -> Tensor:
    """The smaller of two; where one is nan, the other."""
def fmod(input: Tensor, other: Tensor | Number | Array | np.generic, *, out: Tensor | None = None) -> Tensor:
    """The remainder of input / other, with the sign of input."""
def fmod_(input: Tensor, /, other: Tensor | Number | Array | np.generic) -> Tensor:
    """In place: the remainder of input / other, with the sign of input."""
def frac(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """input - trunc(input)."""
def frac_(input: Tensor, /) -> Tensor:
    """In place: input - trunc(input)."""
def frexp(input: Tensor, *, out: Sequence[Tensor] | None = None) -> MantissaExponent:
    """(mantissa, exponent) with input = mantissa * 2**exponent and 0.5 <= |mantissa| < 1."""
def frobenius_norm(input: Tensor, dim: Dims = None, keepdim: _bool = False, *, out: Tensor | None = None) -> Tensor:
    """The square root of the sum of squares over `dim`."""
def from_dlpack(ext_tensor: object, *, device: DeviceLike = None, copy: _bool | None = None) -> Tensor:
    """A Tensor on the memory of another library's tensor, handed over by the DLPack protocol."""
def from_numpy(array: Array) -> Tensor:
    """A Tensor that shares the array's memory."""
def frombuffer(buffer: object, *, dtype: DTypeLike, count: _int = -1, offset: _int = 0, requires_grad: _bool = False) -> Tensor:
    """A vector on the memory of a bytes-like object: `count` elements (-1: all) from byte `offset` on."""
def full(size: SizeLike, fill_value: TensorOrNumber, *, out: Tensor | None = None, dtype: DTypeLike = None, layout: Layout | None = None, device: DeviceLike = None, pin_memory: _bool = False, requires_grad: _bool = False) -> Tensor:
    """fill_value everywhere; the dtype is that of tensor(fill_value)."""
def full_like(input: Tensor, fill_value: Number, *, dtype: DTypeLike = None, layout: Layout | None = None, device: DeviceLike = None, pin_memory: _bool = False, requires_grad: _bool = False, memory_format: MemoryFormat | None = None) -> Tensor:
    """fill_value in input's shape and dtype."""
def gather(input: Tensor, dim: _int, index: Tensor, *, sparse_grad: _bool = False, out: Tensor | None = None) -> Tensor:
    """out[i, j] = input[index[i, j], j] for dim 0, and so on; index has the shape of the result."""
def gcd(input: Tensor, other: Tensor | Number | Array | np.generic, *, out: Tensor | None = None) -> Tensor:
    """The greatest common divisor."""
def gcd_(input: Tensor, /, other: Tensor | Number | Array | np.generic) -> Tensor:
    """In place: the greatest common divisor."""
def ge(input: Tensor, other: Tensor | Number | Array | np.generic, *, out: Tensor | None = None) -> Tensor:
    """input >= other."""
def ge_(input: Tensor, /, other: Tensor | Number | Array | np.generic) -> Tensor:
    """In place: input >= other."""
def geometric_(input: Tensor, /, p: _float, *, generator: Generator | None = None) -> Tensor:
    """Numbers of trials up to the first success, written into this tensor's memory; returns self."""
def geqrf(input: Tensor, *, out: Sequence[Tensor] | None = None) -> Geqrf:
    """(a, tau): R in the upper triangle of a, the Householder vectors below it, and their factors. Without gradient."""
def ger(input: Tensor, vec2: Tensor, *, out: Tensor | None = None) -> Tensor:
    """All products of elements of two vectors, as a matrix."""
def gradient(input: Tensor, *, spacing: Sequence[Tensor] | _float | None = 1, dim: _int | Sequence[_int] | None = None, edge_order: _int = 1) -> tuple[Tensor, ...]:
    """The derivative of samples along each of `dim` (all), by central differences; edges of order 1 or 2."""
def greater(input: Tensor, other: Tensor | Number | Array | np.generic, *, out: Tensor | None = None) -> Tensor:
    """input > other."""
def greater_(input: Tensor, /, other: Tensor | Number | Array | np.generic) -> Tensor:
    """In place: input > other."""
def greater_equal(input: Tensor, other: Tensor | Number | Array | np.generic, *, out: Tensor | None = None) -> Tensor:
    """input >= other."""
def greater_equal_(input: Tensor, /, other: Tensor | Number | Array | np.generic) -> Tensor:
    """In place: input >= other."""
def grid_sampler(input: Tensor, grid: Tensor, interpolation_mode: _int, padding_mode: _int, align_corners: _bool) -> Tensor:
    """grid_sample with its modes as numbers: bilinear, nearest, bicubic; zeros, border, reflection."""
def grid_sampler_2d(input: Tensor, grid: Tensor, interpolation_mode: _int, padding_mode: _int, align_corners: _bool) -> Tensor:
    """grid_sampler of input (n, c, h, w)."""
def grid_sampler_3d(input: Tensor, grid: Tensor, interpolation_mode: _int, padding_mode: _int, align_corners: _bool) -> Tensor:
    """grid_sampler of input (n, c, d, h, w)."""
def group_norm(input: Tensor, num_groups: _int, weight: Tensor | None = None, bias: Tensor | None = None, eps: _float = 1e-05, cudnn_enabled: _bool = True) -> Tensor:
    """Groups of channels standardized; see nn.functional.group_norm."""
def gt(input: Tensor, other: Tensor | Number | Array | np.generic, *, out: Tensor | None = None) -> Tensor:
    """input > other."""
def gt_(input: Tensor, /, other: Tensor | Number | Array | np.generic) -> Tensor:
    """In place: input > other."""
half: TensorDType
def hamming_window(window_length: _int, periodic: _bool = True, alpha: _float = 0.54, beta: _float = 0.46, *, dtype: DTypeLike = None, layout: Layout | None = None, device: DeviceLike = None, pin_memory: _bool = False, requires_grad: _bool = False) -> Tensor:
    """alpha - beta cos(2 pi i / n)."""
def hann_window(window_length: _int, periodic: _bool = True, *, dtype: DTypeLike = None, layout: Layout | None = None, device: DeviceLike = None, pin_memory: _bool = False, requires_grad: _bool = False) -> Tensor:
    """1/2 - 1/2 cos(2 pi i / n)."""
def hardshrink(input: Tensor, lambd: _float = 0.5, *, out: Tensor | None = None) -> Tensor:
    """input where beyond [-lambd, lambd], 0 within."""
def heaviside(input: Tensor, values: Tensor, *, out: Tensor | None = None) -> Tensor:
    """0 where input is negative, 1 where it is positive, `values` where it is 0."""
def heaviside_(input: Tensor, /, values: Tensor) -> Tensor:
    """In place: 0 where input is negative, 1 where it is positive, `values` where it is 0."""
def histc(input: Tensor, bins: _int = 100, min: _float = 0, max: _float = 0, *, out: Tensor | None = None) -> Tensor:
    """How many elements fall in each of `bins` equal bins from min to max, by default those of the elements."""
def histogram(input: Tensor, bins: TensorOrNumber = 100, *, range: Sequence[_float] | None = None, weight: Tensor | None = None, density: _bool = False, out: Sequence[Tensor] | None = None) -> Histogram:
    """(hist, bin_edges): the elements counted into `bins` equal bins over `range`, or between the edges `bins`."""
def histogramdd(input: Tensor, bins: _int | Sequence[_int] | Sequence[Tensor], *, range: Sequence[_float] | None = None, weight: Tensor | None = None, density: _bool = False) -> HistogramDD:
    """(hist, bin_edges) of points (..., d) in d dimensions; bins: one number, or a number or a vector of edges for each."""
def hsplit(input: Tensor, indices_or_sections: SizeLike) -> tuple[Tensor, ...]:
    """tensor_split() along the second dimension (of vectors the first), in equal parts."""
def hstack(tensors: Sequence[Tensor], *, out: Tensor | None = None) -> Tensor:
    """Tensors put side by side: along the second dimension, vectors along their only one."""
def hypot(input: Tensor, other: Tensor | Number | Array | np.generic, *, out: Tensor | None = None) -> Tensor:
    """sqrt(input^2 + other^2), without overflow."""
def hypot_(input: Tensor, /, other: Tensor | Number | Array | np.generic) -> Tensor:
    """In place: sqrt(input^2 + other^2), without overflow."""
def i0(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The modified Bessel function of the first kind, of order 0."""
def i0_(input: Tensor, /) -> Tensor:
    """In place: the modified Bessel function of the first kind, of order 0."""
def igamma(input: Tensor, other: Tensor | Number | Array | np.generic, *, out: Tensor | None = None) -> Tensor:
    """The regularised lower incomplete gamma function P(input, other)."""
def igamma_(input: Tensor, /, other: Tensor | Number | Array | np.generic) -> Tensor:
    """In place: the regularised lower incomplete gamma function P(input, other)."""
def igammac(input: Tensor, other: Tensor | Number | Array | np.generic, *, out: Tensor | None = None) -> Tensor:
    """The regularised upper incomplete gamma function, 1 - igamma(input, other)."""
def igammac_(input: Tensor, /, other: Tensor | Number | Array | np.generic) -> Tensor:
    """In place: the regularised upper incomplete gamma function, 1 - igamma(input, other)."""
def imag(input: Tensor) -> Tensor:
    """The imaginary part, a view. RuntimeError for a real tensor."""
def index_add(input: Tensor, dim: _int, index: Tensor, source: Tensor, *, alpha: Number = 1, out: Tensor | None = None) -> Tensor:
    """input with alpha * source[i] added to its slice index[i] along `dim`."""
def index_add_(input: Tensor, /, dim: _int, index: Tensor, source: Tensor, *, alpha: Number = 1) -> Tensor:
    """In place: input with alpha * source[i] added to its slice index[i] along `dim`."""
def index_copy(input: Tensor, dim: _int, index: Tensor, source: Tensor, *, out: Tensor | None = None) -> Tensor:
    """input with its slice index[i] along `dim` replaced by source[i]."""
def index_copy_(input: Tensor, /, dim: _int, index: Tensor, source: Tensor) -> Tensor:
    """In place: input with its slice index[i] along `dim` replaced by source[i]."""
def index_fill(input: Tensor, dim: _int, index: Tensor, value: Tensor | Number, *, out: Tensor | None = None) -> Tensor:
    """input with its slices `index` along `dim` filled with one number."""
def index_fill_(input: Tensor, /, dim: _int, index: Tensor, value: Tensor | Number) -> Tensor:
    """In place: input with its slices `index` along `dim` filled with one number."""
def index_put(input: Tensor, indices: Sequence[Tensor], values: TensorOrNumber | None, accumulate: _bool = False, *, out: Tensor | None = None) -> Tensor:
    """input with input[indices] replaced by values, or with values added there if `accumulate`."""
def index_put_(input: Tensor, /, indices: Sequence[Tensor], values: TensorOrNumber | None, accumulate: _bool = False) -> Tensor:
    """In place: input with input[indices] replaced by values, or with values added there if `accumulate`."""
def index_reduce(input: Tensor, dim: _int, index: Tensor, source: Tensor, reduce: str, *, include_self: _bool = True, out: Tensor | None = None) -> Tensor:
    """input with its slice index[i] along `dim` reduced ("prod", "mean", "amax", "amin") with source[i]."""
def index_reduce_(input: Tensor, /, dim: _int, index: Tensor, source: Tensor, reduce: str, *, include_self: _bool = True) -> Tensor:
    """In place: input with its slice index[i] along `dim` reduced ("prod", "mean", "amax", "amin") with source[i]."""
def index_select(input: Tensor, dim: _int, index: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The slices of input along `dim` that the vector `index` names, in its order."""
def inner(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Products of all vectors along the last dimensions: shape input.shape[:-1] + other.shape[:-1]."""
def instance_norm(input: Tensor, weight: Tensor, bias: Tensor | None, running_mean: Tensor | None, running_var: Tensor | None, use_input_stats: _bool, momentum: _float, eps: _float, cudnn_enabled: _bool = False) -> Tensor:
    """Each channel of each sample standardized; see nn.functional.instance_norm."""
int: TensorDType
int16: TensorDType
int32: TensorDType
int64: TensorDType
int8: TensorDType
def inverse(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """linalg.inv() under its older name."""
def is_complex(input: Tensor) -> _bool:
    """Whether the dtype is complex."""
def is_conj(input: Tensor) -> _bool:
    """False: conj() computes its values at once."""
def is_floating_point(input: Tensor) -> _bool:
    """Whether the dtype is float16, bfloat16, float32 or float64."""
def is_inference(input: Tensor) -> _bool:
    """Whether the tensor was made in inference mode (or is a view of one that was)."""
def is_neg(input: Tensor) -> _bool:
    """False: negative parts of conjugates are computed at once."""
def is_nonzero(input: Tensor) -> _bool:
    """Whether the one element is not 0."""
def is_same_size(input: Tensor, other: Tensor) -> _bool:
    """Whether the shapes are equal."""
def is_signed(input: Tensor) -> _bool:
    """Whether the dtype has negative numbers."""
def is_tensor(obj: object) -> TypeGuard[Tensor]:
    """Whether obj is a Tensor."""
def isclose(input: Tensor, other: Tensor, rtol: _float = 1e-05, atol: _float = 1e-08, equal_nan: _bool = False) -> Tensor:
    """Whether |input - other| <= atol + rtol * |other|, or the two are equal; nan equals nan if `equal_nan`."""
def isfinite(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Whether each element is neither infinite nor nan."""
def isin(elements: TensorOrNumber, test_elements: TensorOrNumber, *, assume_unique: _bool = False, invert: _bool = False, out: Tensor | None = None) -> Tensor:
    """Whether each of `elements` is among `test_elements`; one of them may be a number. assume_unique is a hint only."""
def isinf(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Whether each element is infinite."""
def isnan(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Whether each element is nan."""
def isneginf(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Whether each element is -inf."""
def isposinf(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Whether each element is +inf."""
def isreal(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Whether the imaginary part of each element is 0."""
def istft(input: Tensor, n_fft: _int, hop_length: _int | None = None, win_length: _int | None = None, window: Tensor | None = None, center: _bool = True, normalized: _bool = False, onesided: _bool | None = None, length: _int | None = None, return_complex: _bool = False) -> Tensor:
    """The signal whose stft() is nearest to input: the windows' signals added up, divided by the sum of squared windows."""
def kaiser_window(window_length: _int, periodic: _bool = True, beta: _float = 12.0, *, dtype: DTypeLike = None, layout: Layout | None = None, device: DeviceLike = None, pin_memory: _bool = False, requires_grad: _bool = False) -> Tensor:
    """I0(beta sqrt(1 - (2 i / n - 1)^2)) / I0(beta), with the modified Bessel function I0."""
def kron(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The Kronecker product: each element of input times all of other."""
def kthvalue(input: Tensor, k: _int, dim: _int = -1, keepdim: _bool = False, *, out: Sequence[Tensor] | None = None, axis: _int | None = None, keepdims: _bool | None = None) -> ValuesIndices:
    """The k-th smallest along `dim`, counted from 1, and where it is."""
def layer_norm(input: Tensor, normalized_shape: SizeLike, weight: Tensor | None = None, bias: Tensor | None = None, eps: _float = 1e-05, cudnn_enable: _bool = True) -> Tensor:
    """The last dimensions standardized; see nn.functional.layer_norm."""
def lcm(input: Tensor, other: Tensor | Number | Array | np.generic, *, out: Tensor | None = None) -> Tensor:
    """The least common multiple."""
def lcm_(input: Tensor, /, other: Tensor | Number | Array | np.generic) -> Tensor:
    """In place: the least common multiple."""
def ldexp(input: Tensor, other: TensorOrNumber, *, out: Tensor | None = None) -> Tensor:
    """input * 2**other; other may be fractional."""
def ldexp_(input: Tensor, /, other: TensorOrNumber) -> Tensor:
    """In place: input * 2**other; other may be fractional."""
def le(input: Tensor, other: Tensor | Number | Array | np.generic, *, out: Tensor | None = None) -> Tensor:
    """input <= other."""
def le_(input: Tensor, /, other: Tensor | Number | Array | np.generic) -> Tensor:
    """In place: input <= other."""
def lerp(input: Tensor, end: Tensor, weight: TensorOrNumber, *, out: Tensor | None = None) -> Tensor:
    """input + weight * (end - input); weight is a number or a tensor."""
def lerp_(input: Tensor, /, end: Tensor, weight: TensorOrNumber) -> Tensor:
    """In place: input + weight * (end - input); weight is a number or a tensor."""
def less(input: Tensor, other: Tensor | Number | Array | np.generic, *, out: Tensor | None = None) -> Tensor:
    """input < other."""
def less_(input: Tensor, /, other: Tensor | Number | Array | np.generic) -> Tensor:
    """In place: input < other."""
def less_equal(input: Tensor, other: Tensor | Number | Array | np.generic, *, out: Tensor | None = None) -> Tensor:
    """input <= other."""
def less_equal_(input: Tensor, /, other: Tensor | Number | Array | np.generic) -> Tensor:
    """In place: input <= other."""
def lgamma(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The logarithm of the absolute value of the gamma function."""
def lgamma_(input: Tensor, /) -> Tensor:
    """In place: the logarithm of the absolute value of the gamma function."""
def linspace(start: TensorOrNumber, end: TensorOrNumber, steps: _int, *, out: Tensor | None = None, dtype: DTypeLike = None, layout: Layout | None = None, device: DeviceLike = None, pin_memory: _bool = False, requires_grad: _bool = False) -> Tensor:
    """`steps` numbers from start to end, both included."""
def log(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The natural logarithm."""
def log10(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The logarithm to the base 10."""
def log10_(input: Tensor, /) -> Tensor:
    """In place: the logarithm to the base 10."""
def log1p(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """log(1 + input), accurate near 0."""
def log1p_(input: Tensor, /) -> Tensor:
    """In place: log(1 + input), accurate near 0."""
def log2(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The logarithm to the base 2."""
def log2_(input: Tensor, /) -> Tensor:
    """In place: the logarithm to the base 2."""
def log_(input: Tensor, /) -> Tensor:
    """In place: the natural logarithm."""
def log_normal_(input: Tensor, /, mean: _float = 1.0, std: _float = 2.0, *, generator: Generator | None = None) -> Tensor:
    """Draws whose logarithms are normal, written into this tensor's memory; returns self."""
@overload
def log_softmax(input: Tensor, dim: _int, dtype: DTypeLike = None, *, out: Tensor | None = None) -> Tensor:
    """log(softmax(input, dim)), computed without losing small ones."""
@overload
def log_softmax(input: Tensor, *, axis: _int, dtype: DTypeLike = None, out: Tensor | None = None) -> Tensor:
    """log(softmax(input, dim)), computed without losing small ones."""
def logaddexp(input: Tensor, other: Tensor | Number | Array | np.generic, *, out: Tensor | None = None) -> Tensor:
    """log(exp(input) + exp(other)), without overflow."""
def logaddexp2(input: Tensor, other: Tensor | Number | Array | np.generic, *, out: Tensor | None = None) -> Tensor:
    """log2(2^input + 2^other), without overflow."""
@overload
def logcumsumexp(input: Tensor, dim: _int, *, out: Tensor | None = None) -> Tensor:
    """log of the running sum of exp(input) along `dim`, without overflow."""
@overload
def logcumsumexp(input: Tensor, *, axis: _int, out: Tensor | None = None) -> Tensor:
    """log of the running sum of exp(input) along `dim`, without overflow."""
def logdet(input: Tensor) -> Tensor:
    """The logarithm of the determinant of each square matrix: nan where it is negative."""
def logical_and(input: Tensor, other: Tensor | Number | Array | np.generic, *, out: Tensor | None = None) -> Tensor:
    """Whether both are true (not 0)."""
def logical_and_(input: Tensor, /, other: Tensor | Number | Array | np.generic) -> Tensor:
    """In place: whether both are true (not 0)."""
def logical_not(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Whether false (0)."""
def logical_not_(input: Tensor, /) -> Tensor:
    """In place: whether false (0)."""
def logical_or(input: Tensor, other: Tensor | Number | Array | np.generic, *, out: Tensor | None = None) -> Tensor:
    """Whether one is true (not 0)."""
def logical_or_(input: Tensor, /, other: Tensor | Number | Array | np.generic) -> Tensor:
    """In place: whether one is true (not 0)."""
def logical_xor(input: Tensor, other: Tensor | Number | Array | np.generic, *, out: Tensor | None = None) -> Tensor:
    """Whether exactly one is true (not 0)."""
def logical_xor_(input: Tensor, /, other: Tensor | Number | Array | np.generic) -> Tensor:
    """In place: whether exactly one is true (not 0)."""
def logit(input: Tensor, eps: _float | None = None, *, out: Tensor | None = None) -> Tensor:
    """log(x / (1 - x)), the inverse of sigmoid; with eps, x is first clamped to [eps, 1 - eps]."""
def logit_(input: Tensor, /, eps: _float | None = None) -> Tensor:
    """In place: log(x / (1 - x)), the inverse of sigmoid; with eps, x is first clamped to [eps, 1 - eps]."""
def logspace(start: TensorOrNumber, end: TensorOrNumber, steps: _int, base: _float = 10.0, *, out: Tensor | None = None, dtype: DTypeLike = None, layout: Layout | None = None, device: DeviceLike = None, pin_memory: _bool = False, requires_grad: _bool = False) -> Tensor:
    """base to the power of `steps` numbers from start to end, both included."""
@overload
def logsumexp(input: Tensor, dim: Dims, keepdim: _bool = False, *, out: Tensor | None = None, keepdims: _bool | None = None) -> Tensor:
    """log of the sum of exp(input) over `dim`, without overflow."""
@overload
def logsumexp(input: Tensor, *, axis: Dims, keepdim: _bool = False, out: Tensor | None = None, keepdims: _bool | None = None) -> Tensor:
    """log of the sum of exp(input) over `dim`, without overflow."""
long: TensorDType
def lt(input: Tensor, other: Tensor | Number | Array | np.generic, *, out: Tensor | None = None) -> Tensor:
    """input < other."""
def lt_(input: Tensor, /, other: Tensor | Number | Array | np.generic) -> Tensor:
    """In place: input < other."""
def lu(input: Tensor, pivot: _bool = True, get_infos: _bool = False, *, out: Sequence[Tensor] | None = None) -> tuple[Tensor, ...]:
    """(LU, pivots), and info if get_infos: linalg.lu_factor_ex, under its older name."""
def lu_solve(input: Tensor, LU_data: Tensor, LU_pivots: Tensor, *, out: Tensor | None = None) -> Tensor:
    """linalg.lu_solve, under its older name and order."""
def lu_unpack(LU_data: Tensor, LU_pivots: Tensor, unpack_data: _bool = True, unpack_pivots: _bool = True, *, out: Sequence[Tensor] | None = None) -> Plu:
    """(P, L, U) from what lu_factor returns; empty tensors for what is not asked for."""
def map2_(input: Tensor, /, x: Tensor, y: Tensor, callable: Callable[[Any, Any, Any], Any]) -> Tensor:
    """Replace each element by callable(element, element of x, element of y). Returns self."""
def map_(input: Tensor, /, tensor: Tensor, callable: Callable[[Any, Any], Any]) -> Tensor:
    """Replace each element by callable(element, element of tensor). Returns self."""
def masked_fill(input: Tensor, mask: Tensor, value: TensorOrNumber, *, out: Tensor | None = None) -> Tensor:
    """input, but `value` (a number or a 0-d Tensor) where the mask holds."""
def masked_fill_(input: Tensor, /, mask: Tensor, value: TensorOrNumber) -> Tensor:
    """In place: input, but `value` (a number or a 0-d Tensor) where the mask holds."""
def masked_scatter(input: Tensor, mask: Tensor, source: Tensor, *, out: Tensor | None = None) -> Tensor:
    """input, but the elements of source, one after the other, where the mask holds."""
def masked_scatter_(input: Tensor, /, mask: Tensor, source: Tensor) -> Tensor:
    """In place: input, but the elements of source, one after the other, where the mask holds."""
def masked_select(input: Tensor, mask: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The elements of input where the mask holds, in one dimension; the two broadcast."""
def matmul(input: TensorOrArray, other: TensorOrArray, *, out: Tensor | None = None) -> Tensor:
    """The matrix product as Python's @: vectors are rows on the left, columns on the right; leading sizes broadcast."""
def matrix_exp(input: Tensor) -> Tensor:
    """The exponential of each square matrix."""
def matrix_power(input: Tensor, n: _int, *, out: Tensor | None = None) -> Tensor:
    """Each square matrix multiplied n times with itself; the inverse's power for negative n."""
@overload
def max(input: Tensor, *, out: Tensor | None=None) -> Tensor:
    """The largest of all elements; with `dim`, (values, indices) along it; with a Tensor, elementwise."""
@overload
def max(input: Tensor, dim: _int, keepdim: _bool=False, *, out: Sequence[Tensor] | None=None) -> ValuesIndices:
    """The largest of all elements; with `dim`, (values, indices) along it; with a Tensor, elementwise."""
@overload
def max(input: Tensor, *, axis: _int, keepdims: _bool=False) -> ValuesIndices:
    """The largest of all elements; with `dim`, (values, indices) along it; with a Tensor, elementwise."""
@overload
def max(input: Tensor, other: Tensor, *, out: Tensor | None=None) -> Tensor:
    """The largest of all elements; with `dim`, (values, indices) along it; with a Tensor, elementwise."""
@overload
def max_pool1d(input: Tensor, kernel_size: SizeLike, stride: SizeLike | None=None, padding: SizeLike=0, dilation: SizeLike=1, ceil_mode: _bool=False, return_indices: Literal[False]=False) -> Tensor:
    """The largest element under each window of input (n, c, l) or (c, l); stride defaults to the window."""
@overload
def max_pool1d(input: Tensor, kernel_size: SizeLike, stride: SizeLike | None=None, padding: SizeLike=0, dilation: SizeLike=1, ceil_mode: _bool=False, *, return_indices: Literal[True]) -> tuple[Tensor, Tensor]:
    """The largest element under each window of input (n, c, l) or (c, l); stride defaults to the window."""
@overload
def max_pool1d(input: Tensor, kernel_size: SizeLike, stride: SizeLike | None=None, padding: SizeLike=0, dilation: SizeLike=1, ceil_mode: _bool=False, return_indices: _bool=False) -> Tensor | tuple[Tensor, Tensor]:
    """The largest element under each window of input (n, c, l) or (c, l); stride defaults to the window."""
def max_pool1d_with_indices(input: Tensor, kernel_size: SizeLike, stride: SizeLike | None = None, padding: SizeLike = 0, dilation: SizeLike = 1, ceil_mode: _bool = False) -> tuple[Tensor, Tensor]:
    """max_pool1d with the places of the maxima: (values, indices)."""
@overload
def max_pool2d(input: Tensor, kernel_size: SizeLike, stride: SizeLike | None=None, padding: SizeLike=0, dilation: SizeLike=1, ceil_mode: _bool=False, return_indices: Literal[False]=False) -> Tensor:
    """The largest element under each window of input (n, c, h, w) or (c, h, w); stride defaults to the window."""
@overload
def max_pool2d(input: Tensor, kernel_size: SizeLike, stride: SizeLike | None=None, padding: SizeLike=0, dilation: SizeLike=1, ceil_mode: _bool=False, *, return_indices: Literal[True]) -> tuple[Tensor, Tensor]:
    """The largest element under each window of input (n, c, h, w) or (c, h, w); stride defaults to the window."""
@overload
def max_pool2d(input: Tensor, kernel_size: SizeLike, stride: SizeLike | None=None, padding: SizeLike=0, dilation: SizeLike=1, ceil_mode: _bool=False, return_indices: _bool=False) -> Tensor | tuple[Tensor, Tensor]:
    """The largest element under each window of input (n, c, h, w) or (c, h, w); stride defaults to the window."""
@overload
def max_pool3d(input: Tensor, kernel_size: SizeLike, stride: SizeLike | None=None, padding: SizeLike=0, dilation: SizeLike=1, ceil_mode: _bool=False, return_indices: Literal[False]=False) -> Tensor:
    """The largest element under each window of input (n, c, d, h, w) or (c, d, h, w); stride defaults to the window."""
@overload
def max_pool3d(input: Tensor, kernel_size: SizeLike, stride: SizeLike | None=None, padding: SizeLike=0, dilation: SizeLike=1, ceil_mode: _bool=False, *, return_indices: Literal[True]) -> tuple[Tensor, Tensor]:
    """The largest element under each window of input (n, c, d, h, w) or (c, d, h, w); stride defaults to the window."""
@overload
def max_pool3d(input: Tensor, kernel_size: SizeLike, stride: SizeLike | None=None, padding: SizeLike=0, dilation: SizeLike=1, ceil_mode: _bool=False, return_indices: _bool=False) -> Tensor | tuple[Tensor, Tensor]:
    """The largest element under each window of input (n, c, d, h, w) or (c, d, h, w); stride defaults to the window."""
def maximum(input: Tensor, other: Tensor | Number | Array | np.generic, *, out: Tensor | None = None) -> Tensor:
    """The larger of two; nan where one is nan."""
def mean(input: Tensor, dim: Dims = None, keepdim: _bool = False, *, dtype: DTypeLike = None, out: Tensor | None = None, axis: Dims = None, keepdims: _bool = False) -> Tensor:
    """The mean of all elements, or over the dimensions `dim`; floating point only."""
@overload
def median(input: Tensor, *, out: Tensor | None=None) -> Tensor:
    """The middle element, the lower of two, of all or as (values, indices) along `dim`; nan where there is one."""
@overload
def median(input: Tensor, dim: _int, keepdim: _bool=False, *, out: Sequence[Tensor] | None=None) -> ValuesIndices:
    """The middle element, the lower of two, of all or as (values, indices) along `dim`; nan where there is one."""
@overload
def median(input: Tensor, *, axis: _int, keepdims: _bool=False) -> ValuesIndices:
    """The middle element, the lower of two, of all or as (values, indices) along `dim`; nan where there is one."""
def meshgrid(*tensors: Tensor | Sequence[Tensor], indexing: str | None = None) -> tuple[Tensor, ...]:
    """Vectors as grids: the i-th result holds the i-th vector along dimension i; "xy" exchanges the first two. Views."""
@overload
def min(input: Tensor, *, out: Tensor | None=None) -> Tensor:
    """The smallest of all elements; with `dim`, (values, indices) along it; with a Tensor, elementwise."""
@overload
def min(input: Tensor, dim: _int, keepdim: _bool=False, *, out: Sequence[Tensor] | None=None) -> ValuesIndices:
    """The smallest of all elements; with `dim`, (values, indices) along it; with a Tensor, elementwise."""
@overload
def min(input: Tensor, *, axis: _int, keepdims: _bool=False) -> ValuesIndices:
    """The smallest of all elements; with `dim`, (values, indices) along it; with a Tensor, elementwise."""
@overload
def min(input: Tensor, other: Tensor, *, out: Tensor | None=None) -> Tensor:
    """The smallest of all elements; with `dim`, (values, indices) along it; with a Tensor, elementwise."""
def minimum(input: Tensor, other: Tensor | Number | Array | np.generic, *, out: Tensor | None = None) -> Tensor:
    """The smaller of two; nan where one is nan."""
def mm(input: Tensor, mat2: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The product of two matrices: no broadcasting."""
def mode(input: Tensor, dim: _int = -1, keepdim: _bool = False, *, out: Sequence[Tensor] | None = None, axis: _int | None = None, keepdims: _bool | None = None) -> ValuesIndices:
    """The most frequent value along `dim`, the smallest of equally frequent ones, and its last index."""
def moveaxis(input: Tensor, source: _int | Sequence[_int], destination: _int | Sequence[_int]) -> Tensor:
    """input with dimensions moved from `source` to `destination` (integers, or as many in each), the others in order."""
def movedim(input: Tensor, source: _int | Sequence[_int], destination: _int | Sequence[_int]) -> Tensor:
    """input with dimensions moved from `source` to `destination` (integers, or as many in each), the others in order."""
def msort(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The elements in order along the first dimension."""
def mul(input: Tensor, other: Tensor | Number | Array | np.generic, *, out: Tensor | None = None) -> Tensor:
    """input * other."""
def mul_(input: Tensor, /, other: Tensor | Number | Array | np.generic) -> Tensor:
    """In place: input * other."""
def multinomial(input: Tensor, num_samples: _int, replacement: _bool = False, *, generator: Generator | None = None, out: Tensor | None = None) -> Tensor:
    """num_samples indices from each row of weights; without replacement each index at most once."""
def multiply(input: Tensor, other: Tensor | Number | Array | np.generic, *, out: Tensor | None = None) -> Tensor:
    """input * other."""
def multiply_(input: Tensor, /, other: Tensor | Number | Array | np.generic) -> Tensor:
    """In place: input * other."""
def mv(input: Tensor, vec: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The product of a matrix and a vector."""
def mvlgamma(input: Tensor, p: _int, *, out: Tensor | None = None) -> Tensor:
    """log of the multivariate gamma function of dimension p: lgamma(x) + ... + lgamma(x - (p - 1) / 2) + constant."""
def mvlgamma_(input: Tensor, /, p: _int) -> Tensor:
    """In place: log of the multivariate gamma function of dimension p: lgamma(x) + ... + lgamma(x - (p - 1) / 2) + constant."""
def nan_to_num(input: Tensor, nan: _float | None = None, posinf: _float | None = None, neginf: _float | None = None, *, out: Tensor | None = None) -> Tensor:
    """input with nan replaced by `nan` (0), infinities by `posinf` and `neginf` (the largest finite numbers)."""
def nan_to_num_(input: Tensor, /, nan: _float | None = None, posinf: _float | None = None, neginf: _float | None = None) -> Tensor:
    """In place: input with nan replaced by `nan` (0), infinities by `posinf` and `neginf` (the largest finite numbers)."""
def nanmean(input: Tensor, dim: Dims = None, keepdim: _bool = False, *, dtype: DTypeLike = None, out: Tensor | None = None, axis: Dims | None = None, keepdims: _bool | None = None) -> Tensor:
    """The mean of the elements that are not nan; nan where there are none."""
@overload
def nanmedian(input: Tensor, *, out: Tensor | None=None) -> Tensor:
    """The middle element of those that are not nan, the lower of two, of all or as (values, indices) along `dim`."""
@overload
def nanmedian(input: Tensor, dim: _int, keepdim: _bool=False, *, out: Sequence[Tensor] | None=None) -> ValuesIndices:
    """The middle element of those that are not nan, the lower of two, of all or as (values, indices) along `dim`."""
@overload
def nanmedian(input: Tensor, *, axis: _int, keepdims: _bool=False) -> ValuesIndices:
    """The middle element of those that are not nan, the lower of two, of all or as (values, indices) along `dim`."""
def nanquantile(input: Tensor, q: Tensor | _float, dim: _int | None = None, keepdim: _bool = False, *, interpolation: str = 'linear', out: Tensor | None = None, axis: _int | None = None, keepdims: _bool | None = None) -> Tensor:
    """quantile() of the elements that are not nan."""
def nansum(input: Tensor, dim: Dims = None, keepdim: _bool = False, *, dtype: DTypeLike = None, out: Tensor | None = None, axis: Dims | None = None, keepdims: _bool | None = None) -> Tensor:
    """The sum of the elements that are not nan."""
def narrow(input: Tensor, dim: _int, start: _int | Tensor, length: _int) -> Tensor:
    """Elements start to start + length of dimension `dim`, a view. start may be a 0-d integer Tensor."""
def narrow_copy(input: Tensor, dim: _int, start: _int | Tensor, length: _int, *, out: Tensor | None = None) -> Tensor:
    """narrow() as a copy."""
def ne(input: Tensor, other: Tensor | Number | Array | np.generic, *, out: Tensor | None = None) -> Tensor:
    """input != other."""
def ne_(input: Tensor, /, other: Tensor | Number | Array | np.generic) -> Tensor:
    """In place: input != other."""
def neg(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """-input."""
def neg_(input: Tensor, /) -> Tensor:
    """In place: -input."""
def negative(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """-input."""
def negative_(input: Tensor, /) -> Tensor:
    """In place: -input."""
newaxis: None
def nextafter(input: Tensor, other: Tensor | Number | Array | np.generic, *, out: Tensor | None = None) -> Tensor:
    """The next floating point number after input in the direction of other."""
def nextafter_(input: Tensor, /, other: Tensor | Number | Array | np.generic) -> Tensor:
    """In place: the next floating point number after input in the direction of other."""
@overload
def nonzero(input: Tensor, *, out: Tensor | None=None, as_tuple: Literal[False]=False) -> Tensor:
    """The indices of elements that are not 0: a row for each, or with `as_tuple` a vector for each dimension."""
@overload
def nonzero(input: Tensor, *, out: None=None, as_tuple: Literal[True]) -> tuple[Tensor, ...]:
    """The indices of elements that are not 0: a row for each, or with `as_tuple` a vector for each dimension."""
def nonzero_static(input: Tensor, *, size: _int, fill_value: _int = -1, out: Tensor | None = None) -> Tensor:
    """nonzero() with `size` rows: cut off, or filled up with fill_value."""
def norm(input: Tensor, p: _float | str | None = 'fro', dim: Dims = None, keepdim: _bool = False, dtype: DTypeLike = None, *, out: Tensor | None = None) -> Tensor:
    """The vector norm of order p over `dim`; "fro" is 2; "nuc" is the sum of singular values of matrices."""
def normal(mean: TensorOrNumber, std: TensorOrNumber = 1.0, size: Sequence[_int] | None = None, *, generator: Generator | None = None, out: Tensor | None = None, dtype: DTypeLike = None, layout: Layout | None = None, device: DeviceLike = None, pin_memory: _bool = False, requires_grad: _bool = False) -> Tensor:
    """Normal numbers; mean and std are tensors (or one of them a number), or numbers, and then `size` is needed."""
def normal_(input: Tensor, /, mean: _float = 0.0, std: _float = 1.0, *, generator: Generator | None = None) -> Tensor:
    """Draws from the normal distribution, written into this tensor's memory; returns self."""
def not_equal(input: Tensor, other: Tensor | Number | Array | np.generic, *, out: Tensor | None = None) -> Tensor:
    """input != other."""
def not_equal_(input: Tensor, /, other: Tensor | Number | Array | np.generic) -> Tensor:
    """In place: input != other."""
def nuclear_norm(input: Tensor, dim: Sequence[_int] = ..., keepdim: _bool = False, *, out: Tensor | None = None) -> Tensor:
    """The sum of the singular values of each matrix."""
def numel(input: Tensor) -> _int:
    """The number of elements."""
def ones(size: _int | Tensor | Sequence[_int], *more: _int | Tensor | Sequence[_int], out: Tensor | None = None, dtype: DTypeLike = None, layout: Layout | None = None, device: DeviceLike = None, pin_memory: _bool = False, requires_grad: _bool = False) -> Tensor:
    """A tensor of ones."""
def ones_like(input: Tensor, *, dtype: DTypeLike = None, layout: Layout | None = None, device: DeviceLike = None, pin_memory: _bool = False, requires_grad: _bool = False, memory_format: MemoryFormat | None = None) -> Tensor:
    """Ones of input's shape and dtype."""
def orgqr(input: Tensor, input2: Tensor, *, out: Tensor | None = None) -> Tensor:
    """linalg.householder_product, under its older name."""
def ormqr(input: Tensor, tau: Tensor, other: Tensor, left: _bool = True, transpose: _bool = False, *, out: Tensor | None = None) -> Tensor:
    """Q @ other (or other @ Q, or with Q^H) for the square Q of the reflections in input and tau."""
def outer(input: Tensor, vec2: Tensor, *, out: Tensor | None = None) -> Tensor:
    """All products of elements of two vectors, as a matrix."""
def pairwise_distance(x1: Tensor, x2: Tensor, p: _float = 2.0, eps: _float = 1e-06, keepdim: _bool = False) -> Tensor:
    """The p-norm of x1 - x2 + eps along the last dimension."""
def pca_lowrank(A: Tensor, q: _int | None = None, center: _bool = True, niter: _int = 2) -> tuple[Tensor, Tensor, Tensor]:
    """svd_lowrank of A with the mean of its rows taken off: the first q principal components are the columns of V."""
def pdist(input: Tensor, p: _float = 2.0) -> Tensor:
    """The p-norm distances of all pairs of rows of a matrix, (0, 1), (0, 2), ..., (1, 2), ...: a vector."""
def permute(input: Tensor, dims: _int | Tensor | Sequence[_int], *more: _int | Tensor | Sequence[_int]) -> Tensor:
    """input with its dimensions in the order `dims`, a view."""
def permute_copy(input: Tensor, dims: _int | Tensor | Sequence[_int], *more: _int | Tensor | Sequence[_int], out: Tensor | None = None) -> Tensor:
    """permute() as a copy."""
def pinverse(input: Tensor, rcond: _float = 1e-15, *, out: Tensor | None = None) -> Tensor:
    """linalg.pinv with rtol=rcond."""
def pixel_shuffle(input: Tensor, upscale_factor: _int) -> Tensor:
    """input (..., c * r^2, h, w) -> (..., c, h * r, w * r): r^2 channels become the pixels of a block."""
def pixel_unshuffle(input: Tensor, downscale_factor: _int) -> Tensor:
    """input (..., c, h * r, w * r) -> (..., c * r^2, h, w): the inverse of pixel_shuffle."""
def poisson(input: Tensor, generator: Generator | None = None) -> Tensor:
    """Numbers of events whose expectation is input."""
def polar(abs: Tensor, angle: Tensor, *, out: Tensor | None = None) -> Tensor:
    """abs * (cos(angle) + i sin(angle))."""
def polygamma(n: _int, input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The n-th derivative of digamma at input."""
def polygamma_(input: Tensor, /, n: _int) -> Tensor:
    """In place: the n-th derivative of digamma at this tensor."""
def positive(input: Tensor) -> Tensor:
    """input itself; RuntimeError for booleans, which have no sign."""
def pow(input: TensorOrArray | Number, exponent: TensorOrArray | Number, *, out: Tensor | None = None) -> Tensor:
    """input ** exponent, one of them a Tensor."""
def pow_(input: Tensor, /, exponent: TensorOrArray | Number) -> Tensor:
    """In place: input ** exponent, one of them a Tensor."""
def prelu(input: Tensor, weight: Tensor) -> Tensor:
    """leaky_relu with a learned slope: one for all, or one for each channel (dimension 1)."""
preserve_format: memory_format
def prod(input: Tensor, dim: _int | None = None, keepdim: _bool = False, *, dtype: DTypeLike = None, out: Tensor | None = None, axis: _int | None = None, keepdims: _bool | None = None) -> Tensor:
    """The product of all elements, or along one `dim`; integers and booleans multiply in int64."""
def put(input: Tensor, index: Tensor, source: Tensor, accumulate: _bool = False, *, out: Tensor | None = None) -> Tensor:
    """input with the elements that index numbers, as if it were one row, replaced by source; or added to."""
def put_(input: Tensor, /, index: Tensor, source: Tensor, accumulate: _bool = False) -> Tensor:
    """In place: input with the elements that index numbers, as if it were one row, replaced by source; or added to."""
def qr(input: Tensor, some: _bool = True, *, out: Sequence[Tensor] | None = None) -> LinalgQr:
    """linalg.qr, under its older name: reduced, or complete."""
def quantile(input: Tensor, q: TensorOrNumber, dim: _int | None = None, keepdim: _bool = False, *, interpolation: str = 'linear', out: Tensor | None = None, axis: _int | None = None, keepdims: _bool | None = None) -> Tensor:
    """The values below which the parts q of all elements lie, or of those along `dim`; several q come first."""
def rad2deg(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Radians to degrees."""
def rad2deg_(input: Tensor, /) -> Tensor:
    """In place: radians to degrees."""
def rand(size: _int | Tensor | Sequence[_int], *more: _int | Tensor | Sequence[_int], generator: Generator | None = None, out: Tensor | None = None, dtype: DTypeLike | None = None, layout: Layout | None = None, device: DeviceLike = None, pin_memory: _bool = False, requires_grad: _bool = False) -> Tensor:
    """Uniform on [0, 1)."""
def rand_like(input: Tensor, *, generator: Generator | None = None, dtype: DTypeLike = None, layout: Layout | None = None, device: DeviceLike = None, pin_memory: _bool = False, requires_grad: _bool = False, memory_format: MemoryFormat | None = None) -> Tensor:
    """Uniform on [0, 1), of input's shape and dtype."""
@overload
def randint(high: _int, size: Sequence[_int], *, generator: Generator | None=None, out: Tensor | None=None, dtype: DTypeLike=None, layout: Layout | None=None, device: DeviceLike=None, pin_memory: _bool=False, requires_grad: _bool=False) -> Tensor:
    """Integers from low to high - 1; randint(high, size) starts at 0."""
@overload
def randint(low: _int, high: _int, size: Sequence[_int], *, generator: Generator | None=None, out: Tensor | None=None, dtype: DTypeLike=None, layout: Layout | None=None, device: DeviceLike=None, pin_memory: _bool=False, requires_grad: _bool=False) -> Tensor:
    """Integers from low to high - 1; randint(high, size) starts at 0."""
@overload
def randint_like(input: Tensor, high: _int | Tensor, *, generator: Generator | None=None, dtype: DTypeLike=None, layout: Layout | None=None, device: DeviceLike=None, pin_memory: _bool=False, requires_grad: _bool=False, memory_format: MemoryFormat | None=None) -> Tensor:
    """Integers from low to high - 1, of input's shape and dtype; randint_like(input, high) starts at 0."""
@overload
def randint_like(input: Tensor, low: _int, high: _int, *, generator: Generator | None=None, dtype: DTypeLike=None, layout: Layout | None=None, device: DeviceLike=None, pin_memory: _bool=False, requires_grad: _bool=False, memory_format: MemoryFormat | None=None) -> Tensor:
    """Integers from low to high - 1, of input's shape and dtype; randint_like(input, high) starts at 0."""
def randn(size: _int | Tensor | Sequence[_int], *more: _int | Tensor | Sequence[_int], generator: Generator | None = None, out: Tensor | None = None, dtype: DTypeLike = None, layout: Layout | None = None, device: DeviceLike = None, pin_memory: _bool = False, requires_grad: _bool = False) -> Tensor:
    """Normal with mean 0 and variance 1."""
def randn_like(input: Tensor, *, generator: Generator | None = None, dtype: DTypeLike = None, layout: Layout | None = None, device: DeviceLike = None, pin_memory: _bool = False, requires_grad: _bool = False, memory_format: MemoryFormat | None = None) -> Tensor:
    """Normal with mean 0 and variance 1, of input's shape and dtype."""
@overload
def random_(input: Tensor, /, *, generator: Generator | None=None) -> Tensor:
    """Random integers, written into this tensor's memory; returns self."""
@overload
def random_(input: Tensor, /, to: _int, *, generator: Generator | None=None) -> Tensor:
    """Random integers, written into this tensor's memory; returns self."""
@overload
def random_(input: Tensor, /, from_: _int, to: _int | None, *, generator: Generator | None=None) -> Tensor:
    """Random integers, written into this tensor's memory; returns self."""
def randperm(n: _int, *, generator: Generator | None = None, out: Tensor | None = None, dtype: DTypeLike = None, layout: Layout | None = None, device: DeviceLike = None, pin_memory: _bool = False, requires_grad: _bool = False) -> Tensor:
    """The numbers 0 to n - 1 in random order."""
def ravel(input: Tensor) -> Tensor:
    """All elements in one dimension, contiguous: input itself if it is both."""
def real(input: Tensor) -> Tensor:
    """The real part, a view; a real tensor as it is."""
def reciprocal(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """1 / input."""
def reciprocal_(input: Tensor, /) -> Tensor:
    """In place: 1 / input."""
def relu(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """input where positive, 0 elsewhere."""
def relu_(input: Tensor) -> Tensor:
    """relu, in place."""
def remainder(input: Tensor | Number, other: Tensor | Number | Array | np.generic, *, out: Tensor | None = None) -> Tensor:
    """The remainder of input / other, with the sign of other."""
def remainder_(input: Tensor, /, other: Tensor | Number | Array | np.generic) -> Tensor:
    """In place: the remainder of input / other, with the sign of other."""
@overload
def renorm(input: Tensor, p: _float, dim: _int, maxnorm: _float, *, out: Tensor | None = None) -> Tensor:
    """Each slice of input at one place of `dim` scaled down to p-norm `maxnorm`, if its norm is larger."""
@overload
def renorm(input: Tensor, p: _float, *, axis: _int, maxnorm: _float, out: Tensor | None = None) -> Tensor:
    """Each slice of input at one place of `dim` scaled down to p-norm `maxnorm`, if its norm is larger."""
def renorm_(input: Tensor, /, p: _float, dim: _int, maxnorm: _float) -> Tensor:
    """In place: each slice of input at one place of `dim` scaled down to p-norm `maxnorm`, if its norm is larger."""
def repeat_interleave(input: Tensor, repeats: TensorOrNumber | None = None, dim: _int | None = None, *, output_size: _int | None = None) -> Tensor:
    """Each slice of input along `dim` (each element without it) repeated: a number of times for all, or one for each."""
def requires_grad_(input: Tensor, /, requires_grad: _bool = True) -> Tensor:
    """Set requires_grad, return self."""
def reshape(input: Tensor, shape: _int | Tensor | Sequence[_int], *more: _int | Tensor | Sequence[_int]) -> Tensor:
    """The elements of input, in order, in another shape; one size may be -1. A view where the memory allows it."""
def resize_(input: Tensor, /, *sizes: _int | Tensor | Sequence[_int], memory_format: MemoryFormat | None = None) -> Tensor:
    """Resize this tensor in place; elements keep their order in memory, further ones are uninitialised. Returns self."""
def resize_as_(input: Tensor, /, the_template: Tensor, memory_format: MemoryFormat | None = None) -> Tensor:
    """resize_ to the shape of another tensor, and with preserve_format to its memory format. Returns self."""
def resolve_conj(input: Tensor) -> Tensor:
    """The input itself: conjugation is never lazy here."""
def resolve_neg(input: Tensor) -> Tensor:
    """The input itself: negation is never lazy here."""
def result_type(tensor1: TensorOrNumber, tensor2: TensorOrNumber) -> TensorDType:
    """The dtype of an arithmetic operation on two tensors or numbers."""
def rms_norm(input: Tensor, normalized_shape: Sequence[_int], weight: Tensor | None = None, eps: _float | None = None) -> Tensor:
    """The last dimensions over the square root of their mean square; times weight. eps: the dtype's own if None."""
def roll(input: Tensor, shifts: SizeLike, dims: SizeLike | None = ...) -> Tensor:
    """input moved on by `shifts` along dims, what leaves at the end comes in at the start; without dims as one row."""
def rot90(input: Tensor, k: _int = 1, dims: Sequence[_int] = ...) -> Tensor:
    """A copy of input, turned k times by 90 degrees from the first of two dims towards the second."""
def round(input: Tensor, *, decimals: _int = 0, out: Tensor | None = None) -> Tensor:
    """The nearest integer, the even one of two; with `decimals`, the nearest multiple of 10**-decimals."""
def round_(input: Tensor, /, *, decimals: _int = 0) -> Tensor:
    """In place: the nearest integer, the even one of two; with `decimals`, the nearest multiple of 10**-decimals."""
def row_stack(tensors: Sequence[Tensor], *, out: Tensor | None = None) -> Tensor:
    """Tensors put on top of each other, vectors as rows."""
def rrelu(input: Tensor, lower: _float = 0.125, upper: _float = 0.3333333333333333, training: _bool = False, inplace: _bool = False) -> Tensor:
    """leaky_relu; while training each element below 0 has a random slope from [lower, upper], else the middle one."""
def rrelu_(input: Tensor, lower: _float = 0.125, upper: _float = 0.3333333333333333, training: _bool = False) -> Tensor:
    """rrelu, in place."""
def rsqrt(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """1 / sqrt(input)."""
def rsqrt_(input: Tensor, /) -> Tensor:
    """In place: 1 / sqrt(input)."""
def rsub(input: Tensor, other: TensorOrNumber, alpha: Number = 1) -> Tensor:
    """other - alpha * input."""
def scalar_tensor(s: Number | Tensor, *, dtype: DTypeLike = None, layout: Layout | None = None, device: DeviceLike = None, pin_memory: _bool = False, requires_grad: _bool = False) -> Tensor:
    """A 0-d tensor of one number, of the default dtype."""
@overload
def scatter(input: Tensor, dim: _int, index: Tensor, src: Tensor | Number | Array | np.generic, *, reduce: str | None=None, out: Tensor | None=None) -> Tensor:
    """input with src[i, j] (or one number) written to [index[i, j], j] for dim 0, and so on."""
@overload
def scatter(input: Tensor, dim: _int, index: Tensor, *, value: Tensor | Number, reduce: str | None=None, out: Tensor | None=None) -> Tensor:
    """input with src[i, j] (or one number) written to [index[i, j], j] for dim 0, and so on."""
def scatter_(input: Tensor, /, dim: _int, index: Tensor, src: TensorOrNumber | None = None, *, value: Tensor | Number | None = None, reduce: str | None = None) -> Tensor:
    """In place: input with src[i, j] (or one number) written to [index[i, j], j] for dim 0, and so on."""
def scatter_add(input: Tensor, dim: _int, index: Tensor, src: Tensor, *, out: Tensor | None = None) -> Tensor:
    """input with src[i, j] added at [index[i, j], j] for dim 0, and so on."""
def scatter_add_(input: Tensor, /, dim: _int, index: Tensor, src: Tensor) -> Tensor:
    """In place: input with src[i, j] added at [index[i, j], j] for dim 0, and so on."""
def scatter_reduce(input: Tensor, dim: _int, index: Tensor, src: Tensor, reduce: str, *, include_self: _bool = True, out: Tensor | None = None) -> Tensor:
    """Each element of input reduced ("sum", "prod", "mean", "amax", "amin") with those of src that index sends to it."""
def scatter_reduce_(input: Tensor, /, dim: _int, index: Tensor, src: Tensor, reduce: str, *, include_self: _bool = True) -> Tensor:
    """In place: each element of input reduced ("sum", "prod", "mean", "amax", "amin") with those of src that index sends to it."""
def searchsorted(sorted_sequence: Tensor, input: Tensor | Number, *, out_int32: _bool = False, right: _bool = False, side: str | None = None, sorter: Tensor | None = None, out: Tensor | None = None) -> Tensor:
    """Where in each row of sorted_sequence the elements of input belong: before equal ones, or behind them (right)."""
def select(input: Tensor, dim: _int, index: _int) -> Tensor:
    """The slice number `index` of dimension `dim`, which is removed. A view."""
def select_copy(input: Tensor, dim: _int, index: _int, *, out: Tensor | None = None) -> Tensor:
    """select() as a copy."""
def select_scatter(input: Tensor, src: Tensor, dim: _int, index: _int) -> Tensor:
    """input with its slice number `index` along `dim` replaced by src."""
def selu(input: Tensor, inplace: _bool = False) -> Tensor:
    """1.0507 elu(input, 1.6733): keeps mean 0 and variance 1."""
def selu_(input: Tensor) -> Tensor:
    """selu, in place."""
def set_(input: Tensor, /, source: _int | Sequence[_int] | None = None, storage_offset: _int = 0, size: _int | Tensor | Sequence[_int] | None = None, stride: SizeLike | None = None) -> Tensor:
    """Let this tensor show the memory of another tensor or of a storage. Returns self."""
def sgn(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The sign of a real number, z / |z| of a complex one; 0 at 0."""
def sgn_(input: Tensor, /) -> Tensor:
    """In place: the sign of a real number, z / |z| of a complex one; 0 at 0."""
short: TensorDType
def sigmoid(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """1 / (1 + exp(-input))."""
def sigmoid_(input: Tensor, /) -> Tensor:
    """In place: 1 / (1 + exp(-input))."""
def sign(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """-1, 0 or 1."""
def sign_(input: Tensor, /) -> Tensor:
    """In place: -1, 0 or 1."""
def signbit(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Whether the sign bit is set, of -0.0 too."""
def sin(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The sine of an angle in radians."""
def sin_(input: Tensor, /) -> Tensor:
    """In place: the sine of an angle in radians."""
def sinc(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """sin(pi input) / (pi input), 1 at 0."""
def sinc_(input: Tensor, /) -> Tensor:
    """In place: sin(pi input) / (pi input), 1 at 0."""
def sinh(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The hyperbolic sine."""
def sinh_(input: Tensor, /) -> Tensor:
    """In place: the hyperbolic sine."""
def slice_copy(input: Tensor, dim: _int = 0, start: _int | None = None, end: _int | None = None, step: _int = 1, *, out: Tensor | None = None) -> Tensor:
    """A copy of input's slices start to end along `dim`, each step-th."""
def slice_scatter(input: Tensor, src: Tensor, dim: _int = 0, start: _int | None = None, end: _int | None = None, step: _int = 1, *, out: Tensor | None = None) -> Tensor:
    """input with its slices start to end along `dim`, each step-th, replaced by src."""
@overload
def slogdet(A: Tensor, *, out: Sequence[Tensor] | None = None) -> SlogDet:
    """(sign, logabsdet) of each square matrix: the determinant is sign * exp(logabsdet)."""
@overload
def slogdet(*, input: Tensor, out: Sequence[Tensor] | None = None) -> SlogDet:
    """(sign, logabsdet) of each square matrix: the determinant is sign * exp(logabsdet)."""
@overload
def softmax(input: Tensor, dim: _int, dtype: DTypeLike = None, *, out: Tensor | None = None) -> Tensor:
    """exp(input) over its sum along `dim`: positive, adding up to 1."""
@overload
def softmax(input: Tensor, *, axis: _int, dtype: DTypeLike = None, out: Tensor | None = None) -> Tensor:
    """exp(input) over its sum along `dim`: positive, adding up to 1."""
def sort(input: Tensor, dim: _int = -1, descending: _bool = False, *, stable: _bool | None = False, axis: _int | None = None, out: Sequence[Tensor] | None = None) -> ValuesIndices:
    """The elements along `dim` in order and where they were; always stable, nan the largest."""
sparse_bsc: layout
sparse_bsr: layout
sparse_coo: layout
sparse_csc: layout
sparse_csr: layout
@overload
def split(tensor: Tensor, split_size_or_sections: _int | Sequence[_int], dim: _int = 0, *, axis: _int | None = None) -> tuple[Tensor, ...]:
    """The tensor cut along `dim` in pieces of one size (the last may be smaller), or of the sizes given."""
@overload
def split(tensor: Tensor, *, split_size: _int | Sequence[_int], dim: _int = 0, axis: _int | None = None) -> tuple[Tensor, ...]:
    """The tensor cut along `dim` in pieces of one size (the last may be smaller), or of the sizes given."""
def split_copy(tensor: Tensor, split_size_or_sections: _int | Sequence[_int], dim: _int = 0, *, axis: _int | None = None, out: Sequence[Tensor] | None = None) -> tuple[Tensor, ...]:
    """split() as a copy."""
def split_with_sizes(input: Tensor, split_sizes: Sequence[_int], dim: _int = 0) -> tuple[Tensor, ...]:
    """input cut along `dim` in pieces of the sizes given."""
def split_with_sizes_copy(input: Tensor, split_sizes: Sequence[_int], dim: _int = 0, *, out: Sequence[Tensor] | None = None) -> tuple[Tensor, ...]:
    """split_with_sizes() as a copy."""
def spmm(input: Tensor, mat2: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The product of two matrices: no broadcasting."""
def sqrt(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The square root."""
def sqrt_(input: Tensor, /) -> Tensor:
    """In place: the square root."""
def square(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """input * input."""
def square_(input: Tensor, /) -> Tensor:
    """In place: input * input."""
def squeeze(input: Tensor, dim: _int | tuple[_int, ...] | None = None, *, axis: _int | tuple[_int, ...] | None = None) -> Tensor:
    """input without its dimensions of size 1, or without those of `dim` that have size 1. A view."""
def squeeze_(input: Tensor, /, dim: _int | tuple[_int, ...] | None = None, *, axis: _int | tuple[_int, ...] | None = None) -> Tensor:
    """input without its dimensions of size 1, or without those of `dim` that have size 1. A view."""
def squeeze_copy(input: Tensor, dim: _int | tuple[_int, ...] | None = None, *, axis: _int | tuple[_int, ...] | None = None, out: Tensor | None = None) -> Tensor:
    """squeeze() as a copy."""
def stack(tensors: Sequence[Tensor], dim: _int = 0, *, axis: _int | None = None, out: Tensor | None = None) -> Tensor:
    """Tensors of one shape side by side along a new dimension."""
def std(input: Tensor, dim: Dims | _bool = None, unbiased: _bool | None = None, keepdim: _bool = False, *, correction: _float | None = None, out: Tensor | None = None, axis: Dims | _bool | None = None, keepdims: _bool | None = None) -> Tensor:
    """The square root of the variance."""
def std_mean(input: Tensor, dim: Dims | _bool = None, unbiased: _bool | None = None, keepdim: _bool = False, *, correction: _float | None = None, out: Sequence[Tensor] | None = None, axis: Dims | _bool | None = None, keepdims: _bool | None = None) -> tuple[Tensor, Tensor]:
    """The standard deviation and the mean."""
def stft(input: Tensor, n_fft: _int, hop_length: _int | None = None, win_length: _int | None = None, window: Tensor | None = None, center: _bool = True, pad_mode: str = 'reflect', normalized: _bool = False, onesided: _bool | None = None, return_complex: _bool | None = None, align_to_window: _bool | None = None) -> Tensor:
    """The Fourier transforms of windows of n_fft points, one each hop_length, of (..., L): (..., frequencies, windows)."""
strided: layout
def sub(input: TensorOrArray | Number, other: TensorOrArray | Number, alpha: Number = 1, *, out: Tensor | None = None) -> Tensor:
    """input - alpha * other."""
def sub_(input: Tensor, /, other: TensorOrArray | Number, alpha: Number = 1) -> Tensor:
    """In place: input - alpha * other."""
def subtract(input: TensorOrArray | Number, other: TensorOrArray | Number, alpha: Number = 1, *, out: Tensor | None = None) -> Tensor:
    """input - alpha * other."""
def subtract_(input: Tensor, /, other: TensorOrArray | Number, alpha: Number = 1) -> Tensor:
    """In place: input - alpha * other."""
def sum(input: Tensor, dim: Dims = None, keepdim: _bool = False, *, dtype: DTypeLike | None = None, out: Tensor | None = None, axis: Dims = None, keepdims: _bool = False) -> Tensor:
    """The sum of all elements, or over the dimensions `dim`; integers and booleans add up in int64."""
def svd(input: Tensor, some: _bool = True, compute_uv: _bool = True, *, out: Sequence[Tensor] | None = None) -> SvdResult:
    """(U, S, V) with input = U @ diag(S) @ V^H; without compute_uv, U and V are zeros."""
def svd_lowrank(A: Tensor, q: _int | None = 6, niter: _int | None = 2, M: Tensor | None = None) -> tuple[Tensor, Tensor, Tensor]:
    """(U, S, V) with A - M nearly U @ diag(S) @ V^H, of rank q; `niter` rounds make it more exact."""
def swapaxes(input: Tensor, axis0: _int, axis1: _int) -> Tensor:
    """transpose() under NumPy's name."""
def swapaxes_(input: Tensor, /, axis0: _int, axis1: _int) -> Tensor:
    """transpose() under NumPy's name."""
def swapdims(input: Tensor, dim0: _int, dim1: _int) -> Tensor:
    """input with two dimensions exchanged, a view."""
def swapdims_(input: Tensor, /, dim0: _int, dim1: _int) -> Tensor:
    """input with two dimensions exchanged, a view."""
def t(input: Tensor) -> Tensor:
    """The transpose of a matrix; vectors and scalars as they are. A view."""
def t_(input: Tensor, /) -> Tensor:
    """The transpose of a matrix; vectors and scalars as they are. A view."""
def t_copy(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """t() as a copy."""
def take(input: Tensor, index: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The elements of input that index numbers, as if it were one row; the result has index's shape."""
def take_along_dim(input: Tensor, indices: TensorOrArray, dim: _int | None = None, *, out: Tensor | None = None) -> Tensor:
    """gather() whose index broadcasts against input; without dim on all elements as one row. Indices may be negative."""
def tan(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The tangent of an angle in radians."""
def tan_(input: Tensor, /) -> Tensor:
    """In place: the tangent of an angle in radians."""
def tanh(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The hyperbolic tangent."""
def tanh_(input: Tensor, /) -> Tensor:
    """In place: the hyperbolic tangent."""
def tensor(data: Tensor | Number | Array | np.generic | Sequence[Any], *, dtype: DTypeLike = None, device: DeviceLike = None, requires_grad: _bool = False, pin_memory: _bool = False) -> Tensor:
    """A new leaf with a copy of `data` (numbers, nested lists, arrays, also other libraries': as_tensor() and from_dlpack() share their memory). Python floats get the default dtype."""
def tensor_split(input: Tensor, indices_or_sections: _int | Tensor | Sequence[_int], dim: _int = 0) -> tuple[Tensor, ...]:
    """input cut along `dim` in that many pieces, the first ones longer by one; or before each of the indices."""
def tensordot(a: Tensor, b: Tensor, dims: _int | Sequence[_int] | Sequence[Sequence[_int]] | Tensor = 2, *, out: Tensor | None = None) -> Tensor:
    """The sum of products over the last `dims` dimensions of a and the first of b, or over the two lists in `dims`."""
def threshold(input: Tensor, threshold: _float, value: _float, inplace: _bool = False) -> Tensor:
    """input where above threshold, value elsewhere."""
def threshold_(input: Tensor, threshold: _float, value: _float) -> Tensor:
    """threshold, in place."""
def tile(input: Tensor, dims: _int | Tensor | Sequence[_int], *more: _int | Tensor | Sequence[_int]) -> Tensor:
    """repeat() with ones put before dims that are fewer than input's."""
def topk(input: Tensor, k: _int, dim: _int = -1, largest: _bool = True, sorted: _bool = True, *, axis: _int | None = None, out: Sequence[Tensor] | None = None) -> ValuesIndices:
    """The k largest (or smallest) along `dim`, the first of them first, and where they were."""
@overload
def trace(input: Tensor) -> Tensor:
    """The sum of a matrix's diagonal. Of a function it is trace_step(), with a DeprecationWarning."""
@overload
def trace(input: Callable[..., Any], example_inputs: Any=(), *, check: _bool=True) -> Any:
    """The sum of a matrix's diagonal. Of a function it is trace_step(), with a DeprecationWarning."""
def transpose(input: Tensor, dim0: _int, dim1: _int) -> Tensor:
    """input with two dimensions exchanged, a view."""
def transpose_(input: Tensor, /, dim0: _int, dim1: _int) -> Tensor:
    """input with two dimensions exchanged, a view."""
def transpose_copy(input: Tensor, dim0: _int, dim1: _int, *, out: Tensor | None = None) -> Tensor:
    """transpose() as a copy."""
def trapezoid(y: Tensor, x: Tensor | None = None, *, dx: _float | None = None, dim: _int = -1) -> Tensor:
    """The integral of samples y along `dim` by the trapezoidal rule; at places x, or dx (1) apart."""
def trapz(y: Tensor, x: Tensor | None = None, *, dx: Number | None = None, dim: _int = -1) -> Tensor:
    """trapezoid() by its older name."""
def triangular_solve(input: Tensor, A: Tensor, upper: _bool = True, transpose: _bool = False, unitriangular: _bool = False, *, out: Sequence[Tensor] | None = None) -> TriangularSolve:
    """(X, A) with A @ X = input, or A^T @ X = input; the older form of linalg.solve_triangular."""
def tril(input: Tensor, diagonal: _int = 0, *, out: Tensor | None = None) -> Tensor:
    """The elements on and below a diagonal of each matrix, zeros above."""
def tril_(input: Tensor, /, diagonal: _int = 0) -> Tensor:
    """In place: the elements on and below a diagonal of each matrix, zeros above."""
def tril_indices(row: _int, col: _int, offset: _int = 0, *, dtype: DTypeLike = None, device: DeviceLike = None, layout: Layout | None = None) -> Tensor:
    """The places on and below a diagonal of a (row, col) matrix: two rows of indices."""
def triu(input: Tensor, diagonal: _int = 0, *, out: Tensor | None = None) -> Tensor:
    """The elements on and above a diagonal of each matrix, zeros below."""
def triu_(input: Tensor, /, diagonal: _int = 0) -> Tensor:
    """In place: the elements on and above a diagonal of each matrix, zeros below."""
def triu_indices(row: _int, col: _int, offset: _int = 0, *, dtype: DTypeLike = None, device: DeviceLike = None, layout: Layout | None = None) -> Tensor:
    """The places on and above a diagonal of a (row, col) matrix: two rows of indices."""
def true_divide(input: Tensor, other: Tensor | Number | Array | np.generic, *, out: Tensor | None = None) -> Tensor:
    """input / other."""
def true_divide_(input: Tensor, /, other: Tensor | Number | Array | np.generic) -> Tensor:
    """In place: input / other."""
def trunc(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Rounded towards 0."""
def trunc_(input: Tensor, /) -> Tensor:
    """In place: rounded towards 0."""
uint16: TensorDType
uint32: TensorDType
uint64: TensorDType
uint8: TensorDType
def unbind(input: Tensor, dim: _int = 0, *, axis: _int | None = None) -> tuple[Tensor, ...]:
    """The slices of input along `dim`, views."""
def unbind_copy(input: Tensor, dim: _int = 0, *, axis: _int | None = None, out: Sequence[Tensor] | None = None) -> tuple[Tensor, ...]:
    """unbind() as a copy."""
def unflatten(input: Tensor, dim: _int, sizes: Sequence[_int]) -> Tensor:
    """One dimension cut into several of the given sizes; one may be -1."""
def unfold_copy(input: Tensor, dimension: _int, size: _int, step: _int, *, out: Tensor | None = None) -> Tensor:
    """unfold() as a copy."""
def uniform_(input: Tensor, /, from_: _float = 0.0, to: _float = 1.0, *, generator: Generator | None = None, **named: _float) -> Tensor:
    """Draws from the uniform distribution, written into this tensor's memory; returns self."""
@overload
def unique(input: Tensor, sorted: _bool=True, return_inverse: Literal[False]=False, return_counts: Literal[False]=False, dim: _int | None=None) -> Tensor:
    """The distinct elements, or slices along `dim`, in order; with where each element went and how often each came."""
@overload
def unique(input: Tensor, sorted: _bool=True, return_inverse: _bool=False, return_counts: _bool=False, dim: _int | None=None) -> tuple[Tensor, ...]:
    """The distinct elements, or slices along `dim`, in order; with where each element went and how often each came."""
@overload
def unique_consecutive(input: Tensor, return_inverse: Literal[False]=False, return_counts: Literal[False]=False, dim: _int | None=None) -> Tensor:
    """The first of each run of equal elements, or slices along `dim`; with the run of each and the lengths of the runs."""
@overload
def unique_consecutive(input: Tensor, return_inverse: _bool=False, return_counts: _bool=False, dim: _int | None=None) -> tuple[Tensor, ...]:
    """The first of each run of equal elements, or slices along `dim`; with the run of each and the lengths of the runs."""
def unravel_index(indices: Tensor, shape: SizeLike) -> tuple[Tensor, ...]:
    """Indices into a flattened tensor of `shape`, converted to one index for each dimension."""
def unsafe_chunk(input: Tensor, chunks: _int, dim: _int = 0) -> tuple[Tensor, ...]:
    """chunk(), whose results may be written to, as unsafe_split's."""
def unsafe_split(tensor: Tensor, split_size: SizeLike, dim: _int = 0) -> tuple[Tensor, ...]:
    """split(), whose results may be written to; writes reach the tensor's memory, and its graph knows nothing of them."""
def unsafe_split_with_sizes(input: Tensor, split_sizes: Sequence[_int], dim: _int = 0) -> tuple[Tensor, ...]:
    """split_with_sizes(), whose results may be written to, as unsafe_split's."""
@overload
def unsqueeze(input: Tensor, dim: _int) -> Tensor:
    """input with a dimension of size 1 put in at `dim`. A view."""
@overload
def unsqueeze(input: Tensor, *, axis: _int) -> Tensor:
    """input with a dimension of size 1 put in at `dim`. A view."""
def unsqueeze_(input: Tensor, /, dim: _int | None = None, *, axis: _int | None = None) -> Tensor:
    """input with a dimension of size 1 put in at `dim`. A view."""
def unsqueeze_copy(input: Tensor, dim: _int | None = None, *, axis: _int | None = None, out: Tensor | None = None) -> Tensor:
    """unsqueeze() as a copy."""
def vander(x: Tensor, N: _int | None = None, increasing: _bool = False) -> Tensor:
    """The matrix of the powers of a vector's elements, N of them (by default as many as elements), from the highest on."""
def var(input: Tensor, dim: Dims | _bool = None, unbiased: _bool | None = None, keepdim: _bool = False, *, correction: _float | None = None, out: Tensor | None = None, axis: Dims | _bool | None = None, keepdims: _bool | None = None) -> Tensor:
    """The variance: squared distances from the mean, added up, over (count - correction)."""
def var_mean(input: Tensor, dim: Dims | _bool = None, unbiased: _bool | None = None, keepdim: _bool = False, *, correction: _float | None = None, out: Sequence[Tensor] | None = None, axis: Dims | _bool | None = None, keepdims: _bool | None = None) -> tuple[Tensor, Tensor]:
    """The variance and the mean."""
def vdot(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The sum of conj(input) * other, for two vectors."""
def view_as_complex(input: Tensor) -> Tensor:
    """Pairs of real numbers along the last dimension as complex ones; a view."""
def view_as_real(input: Tensor) -> Tensor:
    """Complex numbers as pairs of real ones, along a new last dimension; a view."""
@overload
def view_copy(input: Tensor, size: _int | Tensor | Sequence[_int], *more: _int | Tensor | Sequence[_int], out: Tensor | None=None) -> Tensor:
    """view() as a copy."""
@overload
def view_copy(input: Tensor, dtype: TensorDType | np.dtype[Any] | type, *, out: Tensor | None=None) -> Tensor:
    """view() as a copy."""
def vsplit(input: Tensor, indices_or_sections: SizeLike) -> tuple[Tensor, ...]:
    """tensor_split() along the first dimension, in equal parts."""
def vstack(tensors: Sequence[Tensor], *, out: Tensor | None = None) -> Tensor:
    """Tensors put on top of each other, vectors as rows."""
@overload
def where(condition: Tensor, input: Tensor | Number | Array | np.generic, other: Tensor | Number | Array | np.generic, *, out: Tensor | None=None) -> Tensor:
    """input where condition holds, other elsewhere; the three broadcast, input and other may be numbers."""
@overload
def where(condition: Tensor) -> tuple[Tensor, ...]:
    """input where condition holds, other elsewhere; the three broadcast, input and other may be numbers."""
def xlogy(input: Tensor | Number, other: Tensor | Number | Array | np.generic, *, out: Tensor | None = None) -> Tensor:
    """input log(other), 0 where input is 0."""
def xlogy_(input: Tensor, /, other: Tensor | Number | Array | np.generic) -> Tensor:
    """In place: input log(other), 0 where input is 0."""
def zero_(input: Tensor, /) -> Tensor:
    """Write zeros. Returns self."""
def zeros(size: _int | Tensor | Sequence[_int], *more: _int | Tensor | Sequence[_int], out: Tensor | None = None, dtype: DTypeLike = None, layout: Layout | None = None, device: DeviceLike = None, pin_memory: _bool = False, requires_grad: _bool = False) -> Tensor:
    """A tensor of zeros."""
def zeros_like(input: Tensor, *, dtype: DTypeLike = None, layout: Layout | None = None, device: DeviceLike = None, pin_memory: _bool = False, requires_grad: _bool = False, memory_format: MemoryFormat | None = None) -> Tensor:
    """Zeros of input's shape and dtype."""
