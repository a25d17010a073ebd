"""Written by tests/autograd/make_stubs.py from what is bound at run time: do not edit."""

import numpy as np
from ..base.devices import device as _device
from ..base.types import Array
from ..base.types import DTypeLike
from ..base.types import DeviceLike
from ..base.types import Dims
from ..base.types import Layout
from ..base.types import MemoryFormat
from ..base.types import Number
from ..base.types import SizeLike
from .random import Generator
from .tensor import Tensor
from .tensor import TensorBase
from .types import TensorOrArray
from .types import TensorOrNumber
from ..ops.linalg.determinant import SlogDet
from ..ops.linalg.qr import Geqrf
from ..ops.linalg.solve import TriangularSolve
from ..ops.linalg.svd import SvdResult
from ..ops.pointwise.powers import MantissaExponent
from ..ops.reductions.extremes import MinMax
from ..ops.reductions.take_along import ValuesIndices
from ..ops.statistics.histograms import Histogram
from builtins import bool as _bool
from builtins import float as _float
from builtins import int as _int
from builtins import type as _type
from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Sequence
from types import EllipsisType
from typing import Any
from typing import Literal
from typing import overload
from typing_extensions import Self

class TensorMethods(TensorBase):
    """The operators, methods and properties that tensor_api/binding.py binds to Tensor."""

    @property
    def H(self) -> Tensor:
        """The conjugate transpose of one matrix."""
    @property
    def T(self) -> Tensor:
        """The property x.T: the transpose of a matrix; other numbers of dimensions are reversed, with a warning."""
    def __abs__(self) -> Tensor: ...
    def __add__(self, other: Tensor | Number | Array | np.generic) -> Tensor: ...
    def __and__(self, other: Tensor | Number | Array | np.generic) -> Tensor: ...
    def __array_function__(self, function: Callable[..., Any], types: Iterable[_type], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """A public function of NumPy that is no ufunc."""
    def __complex__(self) -> complex: ...
    def __copy__(self) -> Tensor:
        """copy.copy(): a leaf on the same memory, of its class."""
    def __dlpack__(self, *, stream: _int | None = None, max_version: Sequence[_int] | None = None, dl_device: tuple[_int, _int] | None = None, copy: _bool | None = None) -> Any:
        """The memory as a DLPack capsule, for other libraries; refused where a gradient would be lost."""
    def __dlpack_device__(self) -> tuple[_int, _int]:
        """(1, 0): the CPU."""
    def __eq__(self, other: Tensor | Number | Array | np.generic) -> Tensor: ...  # type: ignore[override]
    def __floordiv__(self, other: Tensor | Number | Array | np.generic) -> Tensor: ...
    def __format__(self, spec: str) -> str:
        """format(tensor, ".3f") and the like, of a tensor of no dimensions; others take no format."""
    def __ge__(self, other: Tensor | Number | Array | np.generic) -> Tensor: ...
    def __getitem__(self, index: _int | slice | EllipsisType | Tensor | Array | list[Any] | range | tuple[Any, ...] | None) -> Tensor:
        """x[index]: integers, slices, None and ... give views; integer and bool Tensors, arrays and lists give copies."""
    def __gt__(self, other: Tensor | Number | Array | np.generic) -> Tensor: ...
    def __iadd__(self, other: Tensor | Number | Array | np.generic) -> Self: ...
    def __iand__(self, other: Tensor | Number | Array | np.generic) -> Self: ...
    def __ifloordiv__(self, other: Tensor | Number | Array | np.generic) -> Self: ...
    def __ilshift__(self, other: Tensor | Number | Array | np.generic) -> Self: ...
    def __imod__(self, other: Tensor | Number | Array | np.generic) -> Self: ...
    def __imul__(self, other: Tensor | Number | Array | np.generic) -> Self: ...
    def __init__(self, *data: Tensor | Number | Array | Sequence[Any], device: DeviceLike=None) -> None:
        """Tensor(2, 3): memory of that shape, as it is found. Tensor([1, 2]), Tensor(array): these values in the default dtype. Tensor(tensor): the same memory."""
    def __invert__(self) -> Tensor: ...
    def __ior__(self, other: Tensor | Number | Array | np.generic) -> Self: ...
    def __ipow__(self, other: Tensor | Number | Array | np.generic) -> Self: ...
    def __irshift__(self, other: Tensor | Number | Array | np.generic) -> Self: ...
    def __isub__(self, other: Tensor | Number | Array | np.generic) -> Self: ...
    def __iter__(self) -> Iterator[Tensor]:
        """The slices along the first dimension."""
    def __itruediv__(self, other: Tensor | Number | Array | np.generic) -> Self: ...
    def __ixor__(self, other: Tensor | Number | Array | np.generic) -> Self: ...
    def __le__(self, other: Tensor | Number | Array | np.generic) -> Tensor: ...
    def __lshift__(self, other: Tensor | Number | Array | np.generic) -> Tensor: ...
    def __lt__(self, other: Tensor | Number | Array | np.generic) -> Tensor: ...
    def __matmul__(self, other: Tensor | Number | Array | np.generic) -> Tensor: ...
    def __mod__(self, other: Tensor | Number | Array | np.generic) -> Tensor: ...
    def __mul__(self, other: Tensor | Number | Array | np.generic) -> Tensor: ...
    def __ne__(self, other: Tensor | Number | Array | np.generic) -> Tensor: ...  # type: ignore[override]
    def __neg__(self) -> Tensor: ...
    def __or__(self, other: Tensor | Number | Array | np.generic) -> Tensor: ...
    def __pos__(self) -> Tensor: ...
    def __pow__(self, other: Tensor | Number | Array | np.generic) -> Tensor: ...
    def __radd__(self, other: Tensor | Number | Array | np.generic) -> Tensor: ...
    def __rand__(self, other: Tensor | Number | Array | np.generic) -> Tensor: ...
    def __rdiv__(self, other: Tensor | Number | Array | np.generic) -> Tensor: ...
    def __repr__(self) -> str:
        """tensor(...) with what is not obvious: size of an empty one, dtype, grad_fn or requires_grad, tangent."""
    def __reversed__(self) -> Tensor: ...
    def __rfloordiv__(self, other: Tensor | Number | Array | np.generic) -> Tensor: ...
    def __rlshift__(self, other: Tensor | Number | Array | np.generic) -> Tensor: ...
    def __rmatmul__(self, other: Tensor | Number | Array | np.generic) -> Tensor: ...
    def __rmod__(self, other: Tensor | Number | Array | np.generic) -> Tensor: ...
    def __rmul__(self, other: Tensor | Number | Array | np.generic) -> Tensor: ...
    def __ror__(self, other: Tensor | Number | Array | np.generic) -> Tensor: ...
    def __rpow__(self, other: Tensor | Number | Array | np.generic) -> Tensor: ...
    def __rrshift__(self, other: Tensor | Number | Array | np.generic) -> Tensor: ...
    def __rshift__(self, other: Tensor | Number | Array | np.generic) -> Tensor: ...
    def __rsub__(self, other: Tensor | Number | Array | np.generic) -> Tensor: ...
    def __rtruediv__(self, other: Tensor | Number | Array | np.generic) -> Tensor: ...
    def __rxor__(self, other: Tensor | Number | Array | np.generic) -> Tensor: ...
    def __setitem__(self, index: _int | slice | EllipsisType | Tensor | Array | list[Any] | range | tuple[Any, ...] | None, value: Tensor | Number | Array | np.generic | Sequence[Any]) -> None:
        """x[index] = value, recorded if value or x is tracked."""
    def __sub__(self, other: Tensor | Number | Array | np.generic) -> Tensor: ...
    def __truediv__(self, other: Tensor | Number | Array | np.generic) -> Tensor: ...
    def __xor__(self, other: Tensor | Number | Array | np.generic) -> Tensor: ...
    @property
    def _base(self) -> Tensor | None: ...
    def _is_view(self) -> _bool: ...
    def _repr_html_(self) -> str:
        """What a notebook shows: type, shape and dtype, and below the text that print() shows, which leaves out many values."""
    def abs(self) -> Tensor: ...
    def abs_(self) -> Self:
        """abs, written into this tensor's memory. Returns self."""
    def absolute(self) -> Tensor: ...
    def absolute_(self) -> Self:
        """absolute, written into this tensor's memory. Returns self."""
    def acos(self) -> Tensor: ...
    def acos_(self) -> Self:
        """acos, written into this tensor's memory. Returns self."""
    def acosh(self) -> Tensor: ...
    def acosh_(self) -> Self:
        """acosh, written into this tensor's memory. Returns self."""
    def add(self, other: TensorOrArray | Number, *, alpha: Number = 1) -> Tensor:
        """input + alpha * other."""
    def add_(self, other: TensorOrArray | Number, *, alpha: Number = 1) -> Self:
        """add, written into this tensor's memory. Returns self."""
    def addbmm(self, batch1: Tensor, batch2: Tensor, *, beta: Number = 1, alpha: Number = 1) -> Tensor:
        """beta * input + alpha * the sum of all batch1[i] @ batch2[i]."""
    def addbmm_(self, batch1: Tensor, batch2: Tensor, *, beta: Number = 1, alpha: Number = 1) -> Self:
        """addbmm, written into this tensor's memory. Returns self."""
    def addcdiv(self, tensor1: Tensor, tensor2: Tensor, *, value: Number = 1) -> Tensor:
        """input + value * tensor1 / tensor2, for floating tensors."""
    def addcdiv_(self, tensor1: Tensor, tensor2: Tensor, *, value: Number = 1) -> Self:
        """addcdiv, written into this tensor's memory. Returns self."""
    def addcmul(self, tensor1: Tensor, tensor2: Tensor, *, value: _float = 1) -> Tensor:
        """input + value * tensor1 * tensor2."""
    def addcmul_(self, tensor1: Tensor, tensor2: Tensor, *, value: _float = 1) -> Self:
        """addcmul, written into this tensor's memory. Returns self."""
    def addmm(self, mat1: Tensor, mat2: Tensor, *, beta: Number = 1, alpha: Number = 1) -> Tensor:
        """beta * input + alpha * (mat1 @ mat2)."""
    def addmm_(self, mat1: Tensor, mat2: Tensor, *, beta: Number = 1, alpha: Number = 1) -> Self:
        """addmm, written into this tensor's memory. Returns self."""
    def addmv(self, mat: Tensor, vec: Tensor, *, beta: Number = 1, alpha: Number = 1) -> Tensor:
        """beta * input + alpha * (mat @ vec)."""
    def addmv_(self, mat: Tensor, vec: Tensor, *, beta: Number = 1, alpha: Number = 1) -> Self:
        """addmv, written into this tensor's memory. Returns self."""
    def addr(self, vec1: Tensor, vec2: Tensor, *, beta: Number = 1, alpha: Number = 1) -> Tensor:
        """beta * input + alpha * outer(vec1, vec2)."""
    def addr_(self, vec1: Tensor, vec2: Tensor, *, beta: Number = 1, alpha: Number = 1) -> Self:
        """addr, written into this tensor's memory. Returns self."""
    def adjoint(self) -> Tensor:
        """The conjugate transpose of each matrix: mH as a method."""
    def all(self, dim: Dims = None, keepdim: _bool = False, *, axis: Dims | None = None, keepdims: _bool | None = None) -> Tensor:
        """Whether all elements are true."""
    def allclose(self, other: Tensor, rtol: _float = 1e-05, atol: _float = 1e-08, equal_nan: _bool = False) -> _bool:
        """Whether all elements are close, see isclose."""
    def amax(self, dim: Dims = None, keepdim: _bool = False, *, axis: Dims | None = None, keepdims: _bool | None = None) -> Tensor:
        """The largest element over `dim`; equal ones share the gradient."""
    def amin(self, dim: Dims = None, keepdim: _bool = False, *, axis: Dims | None = None, keepdims: _bool | None = None) -> Tensor:
        """The smallest element over `dim`; equal ones share the gradient."""
    def aminmax(self, *, dim: _int | None = None, keepdim: _bool = False, axis: _int | None = None, keepdims: _bool | None = None) -> MinMax:
        """The smallest and the largest element, of all or along one `dim`."""
    def angle(self) -> Tensor:
        """The argument of complex numbers, in (-pi, pi]; for real ones 0, or pi where negative."""
    def any(self, dim: Dims = None, keepdim: _bool = False, *, axis: Dims | None = None, keepdims: _bool | None = None) -> Tensor:
        """Whether any element is true."""
    def apply_(self, callable: Callable[[Any], Any]) -> Self:
        """Replace each element by callable(element). Returns self."""
    def arccos(self) -> Tensor: ...
    def arccos_(self) -> Self:
        """arccos, written into this tensor's memory. Returns self."""
    def arccosh(self) -> Tensor: ...
    def arccosh_(self) -> Self:
        """arccosh, written into this tensor's memory. Returns self."""
    def arcsin(self) -> Tensor: ...
    def arcsin_(self) -> Self:
        """arcsin, written into this tensor's memory. Returns self."""
    def arcsinh(self) -> Tensor: ...
    def arcsinh_(self) -> Self:
        """arcsinh, written into this tensor's memory. Returns self."""
    def arctan(self) -> Tensor: ...
    def arctan2(self, other: Tensor | Number | Array | np.generic) -> Tensor: ...
    def arctan2_(self, other: Tensor | Number | Array | np.generic) -> Self:
        """arctan2, written into this tensor's memory. Returns self."""
    def arctan_(self) -> Self:
        """arctan, written into this tensor's memory. Returns self."""
    def arctanh(self) -> Tensor: ...
    def arctanh_(self) -> Self:
        """arctanh, written into this tensor's memory. Returns self."""
    def argmax(self, dim: _int | None = None, keepdim: _bool = False, *, axis: _int | None = None, keepdims: _bool | None = None) -> Tensor:
        """The index of the first largest element, of all or along `dim`."""
    def argmin(self, dim: _int | None = None, keepdim: _bool = False, *, axis: _int | None = None, keepdims: _bool | None = None) -> Tensor:
        """The index of the first smallest element, of all or along `dim`."""
    def argsort(self, dim: _int = -1, descending: _bool = False, *, stable: _bool = False, axis: _int | None = None) -> Tensor:
        """Where the elements along `dim` are found in order; always stable."""
    def argwhere(self) -> Tensor:
        """The indices of elements that are not 0, a row for each."""
    def as_strided(self, size: Sequence[_int], stride: Sequence[_int], storage_offset: _int | None = None) -> Tensor:
        """input's memory seen with this size, stride and offset, all in elements. A view."""
    def as_strided_(self, size: Sequence[_int], stride: Sequence[_int], storage_offset: _int | None = None) -> Self:
        """input's memory seen with this size, stride and offset, all in elements. A view."""
    def as_strided_scatter(self, src: Tensor, size: Sequence[_int], stride: Sequence[_int], storage_offset: _int | None = None) -> Tensor:
        """input with what as_strided() shows of it replaced by src."""
    def asin(self) -> Tensor: ...
    def asin_(self) -> Self:
        """asin, written into this tensor's memory. Returns self."""
    def asinh(self) -> Tensor: ...
    def asinh_(self) -> Self:
        """asinh, written into this tensor's memory. Returns self."""
    def atan(self) -> Tensor: ...
    def atan2(self, other: Tensor | Number | Array | np.generic) -> Tensor: ...
    def atan2_(self, other: Tensor | Number | Array | np.generic) -> Self:
        """atan2, written into this tensor's memory. Returns self."""
    def atan_(self) -> Self:
        """atan, written into this tensor's memory. Returns self."""
    def atanh(self) -> Tensor: ...
    def atanh_(self) -> Self:
        """atanh, written into this tensor's memory. Returns self."""
    def backward(self, gradient: Tensor | None = None, retain_graph: _bool | None = None, create_graph: _bool = False, inputs: Tensor | Sequence[Tensor] | None = None) -> None:
        """Add d(self)/d(leaf) to .grad of every leaf behind this tensor; see autograd.backward."""
    def baddbmm(self, batch1: Tensor, batch2: Tensor, *, beta: Number = 1, alpha: Number = 1) -> Tensor:
        """beta * input[i] + alpha * (batch1[i] @ batch2[i])."""
    def baddbmm_(self, batch1: Tensor, batch2: Tensor, *, beta: Number = 1, alpha: Number = 1) -> Self:
        """baddbmm, written into this tensor's memory. Returns self."""
    def bernoulli(self, p: Tensor | _float | None = None, *, generator: Generator | None = None) -> Tensor:
        """1 with the probabilities in input, else 0; with `p` that is the probability everywhere, and input gives the shape."""
    def bernoulli_(self, p: TensorOrNumber = 0.5, *, generator: Generator | None = None) -> Self:
        """bernoulli, written into this tensor's memory. Returns self."""
    def bfloat16(self, memory_format: MemoryFormat | None = ...) -> Tensor:
        """This tensor as bfloat16."""
    def bincount(self, weights: Tensor | None = None, minlength: _int = 0) -> Tensor:
        """How often 0, 1, 2, ... occur in a vector, or the sums of their weights; at least `minlength` of them."""
    def bitwise_and(self, other: Tensor | Number | Array | np.generic) -> Tensor: ...
    def bitwise_and_(self, other: Tensor | Number | Array | np.generic) -> Self:
        """bitwise_and, written into this tensor's memory. Returns self."""
    def bitwise_left_shift(self, other: Tensor | Number | Array | np.generic) -> Tensor: ...
    def bitwise_left_shift_(self, other: Tensor | Number | Array | np.generic) -> Self:
        """bitwise_left_shift, written into this tensor's memory. Returns self."""
    def bitwise_not(self) -> Tensor: ...
    def bitwise_not_(self) -> Self:
        """bitwise_not, written into this tensor's memory. Returns self."""
    def bitwise_or(self, other: Tensor | Number | Array | np.generic) -> Tensor: ...
    def bitwise_or_(self, other: Tensor | Number | Array | np.generic) -> Self:
        """bitwise_or, written into this tensor's memory. Returns self."""
    def bitwise_right_shift(self, other: Tensor | Number | Array | np.generic) -> Tensor: ...
    def bitwise_right_shift_(self, other: Tensor | Number | Array | np.generic) -> Self:
        """bitwise_right_shift, written into this tensor's memory. Returns self."""
    def bitwise_xor(self, other: Tensor | Number | Array | np.generic) -> Tensor: ...
    def bitwise_xor_(self, other: Tensor | Number | Array | np.generic) -> Self:
        """bitwise_xor, written into this tensor's memory. Returns self."""
    def bmm(self, mat2: Tensor) -> Tensor:
        """The products of two stacks of matrices, (b, n, k) and (b, k, m)."""
    def bool(self, memory_format: MemoryFormat | None = ...) -> Tensor:
        """This tensor as bool."""
    def broadcast_to(self, size: Sequence[_int]) -> Tensor:
        """input repeated to `size`, a view."""
    def byte(self, memory_format: MemoryFormat | None = ...) -> Tensor:
        """This tensor as uint8."""
    def cauchy_(self, median: _float = 0.0, sigma: _float = 1.0, *, generator: Generator | None = None) -> Self:
        """cauchy, written into this tensor's memory. Returns self."""
    def cdouble(self, memory_format: MemoryFormat | None = ...) -> Tensor:
        """This tensor as complex128."""
    def ceil(self) -> Tensor: ...
    def ceil_(self) -> Self:
        """ceil, written into this tensor's memory. Returns self."""
    def cfloat(self, memory_format: MemoryFormat | None = ...) -> Tensor:
        """This tensor as complex64."""
    def char(self, memory_format: MemoryFormat | None = ...) -> Tensor:
        """This tensor as int8."""
    def cholesky(self, upper: _bool = False) -> Tensor:
        """linalg.cholesky, under its older name."""
    def cholesky_inverse(self, upper: _bool = False) -> Tensor:
        """The inverse of A, from its Cholesky factor."""
    @overload
    def cholesky_solve(self, L: Tensor, upper: _bool = False) -> Tensor:
        """X with A @ X = input, from the Cholesky factor of A."""
    @overload
    def cholesky_solve(self, *, input2: Tensor, upper: _bool = False) -> Tensor:
        """X with A @ X = input, from the Cholesky factor of A."""
    def chunk(self, chunks: _int, dim: _int = 0) -> tuple[Tensor, ...]:
        """input cut along `dim` in at most `chunks` pieces of equal size, the last smaller."""
    def clamp(self, min: Tensor | Number | Array | np.generic | None = None, max: Tensor | Number | Array | np.generic | None = None) -> Tensor:
        """input limited to [min, max]: numbers, or tensors that broadcast; one may be left out."""
    def clamp_(self, min: Tensor | Number | Array | np.generic | None = None, max: Tensor | Number | Array | np.generic | None = None) -> Self:
        """clamp, written into this tensor's memory. Returns self."""
    def clamp_max(self, max: TensorOrNumber) -> Tensor:
        """input, but at most max."""
    def clamp_max_(self, max: TensorOrNumber) -> Self:
        """clamp_max, written into this tensor's memory. Returns self."""
    def clamp_min(self, min: TensorOrNumber) -> Tensor:
        """input, but at least min."""
    def clamp_min_(self, min: TensorOrNumber) -> Self:
        """clamp_min, written into this tensor's memory. Returns self."""
    def clip(self, min: Tensor | Number | Array | np.generic | None = None, max: Tensor | Number | Array | np.generic | None = None) -> Tensor:
        """input limited to [min, max]: numbers, or tensors that broadcast; one may be left out."""
    def clip_(self, min: Tensor | Number | Array | np.generic | None = None, max: Tensor | Number | Array | np.generic | None = None) -> Self:
        """clip, written into this tensor's memory. Returns self."""
    def clone(self, *, memory_format: MemoryFormat | None = None) -> Tensor:
        """A copy of input that gradients flow through."""
    def conj(self) -> Tensor:
        """a - ib for a + ib; a real tensor as it is. Computed at once: there is no lazy conjugate bit here."""
    def conj_physical(self) -> Tensor:
        """conj(input), as new memory."""
    def conj_physical_(self) -> Self:
        """conj_physical, written into this tensor's memory. Returns self."""
    def contiguous(self, memory_format: MemoryFormat | None = ...) -> Tensor:
        """input itself if its memory is in the order asked for, else a copy."""
    def copy_(self, src: Tensor | Number | Array | np.generic | Sequence[Any], non_blocking: _bool = False) -> Self:
        """Write `src` (broadcast, cast) into this tensor's memory. Returns self."""
    def copysign(self, other: Tensor | Number | Array | np.generic) -> Tensor: ...
    def copysign_(self, other: Tensor | Number | Array | np.generic) -> Self:
        """copysign, written into this tensor's memory. Returns self."""
    def corrcoef(self) -> Tensor:
        """The covariance of each pair of rows over the product of their standard deviations."""
    def cos(self) -> Tensor: ...
    def cos_(self) -> Self:
        """cos, written into this tensor's memory. Returns self."""
    def cosh(self) -> Tensor: ...
    def cosh_(self) -> Self:
        """cosh, written into this tensor's memory. Returns self."""
    def count_nonzero(self, dim: Dims = None, *, axis: Dims | None = None) -> Tensor:
        """How many elements, of all or over `dim`, are not 0."""
    def cov(self, *, correction: _int = 1, fweights: Tensor | None = None, aweights: Tensor | None = None) -> Tensor:
        """The covariance of each pair of rows: products of distances from the means, averaged over columns."""
    def cpu(self) -> Tensor: ...
    def cross(self, other: Tensor, dim: _int | None = None) -> Tensor:
        """The cross product of vectors of 3 elements along `dim`, by default the first dimension of that size."""
    def cuda(self, device: DeviceLike = None, non_blocking: _bool = False, memory_format: MemoryFormat | None = ...) -> Tensor:
        """Raises NotImplementedError: tensors live in the CPU's memory."""
    @overload
    def cummax(self, dim: _int) -> ValuesIndices:
        """The largest of the first 1, 2, ... elements along `dim`, and its index (of equal ones the last)."""
    @overload
    def cummax(self, *, axis: _int) -> ValuesIndices:
        """The largest of the first 1, 2, ... elements along `dim`, and its index (of equal ones the last)."""
    @overload
    def cummin(self, dim: _int) -> ValuesIndices:
        """The smallest of the first 1, 2, ... elements along `dim`, and its index (of equal ones the last)."""
    @overload
    def cummin(self, *, axis: _int) -> ValuesIndices:
        """The smallest of the first 1, 2, ... elements along `dim`, and its index (of equal ones the last)."""
    @overload
    def cumprod(self, dim: _int, *, dtype: DTypeLike = None) -> Tensor:
        """The products of the first 1, 2, ... elements along `dim`; integers and booleans multiply in int64."""
    @overload
    def cumprod(self, *, axis: _int, dtype: DTypeLike = None) -> Tensor:
        """The products of the first 1, 2, ... elements along `dim`; integers and booleans multiply in int64."""
    def cumprod_(self, dim: _int, *, dtype: DTypeLike = None) -> Self:
        """cumprod, written into this tensor's memory. Returns self."""
    @overload
    def cumsum(self, dim: _int, *, dtype: DTypeLike = None) -> Tensor:
        """The sums of the first 1, 2, ... elements along `dim`; integers and booleans add up in int64."""
    @overload
    def cumsum(self, *, axis: _int, dtype: DTypeLike = None) -> Tensor:
        """The sums of the first 1, 2, ... elements along `dim`; integers and booleans add up in int64."""
    def cumsum_(self, dim: _int, *, dtype: DTypeLike = None) -> Self:
        """cumsum, written into this tensor's memory. Returns self."""
    def data_ptr(self) -> _int:
        """The address of the first element; 0 for a tensor without elements."""
    def deg2rad(self) -> Tensor: ...
    def deg2rad_(self) -> Self:
        """deg2rad, written into this tensor's memory. Returns self."""
    def dense_dim(self) -> _int:
        """The number of dimensions: all are dense."""
    def det(self) -> Tensor:
        """The determinant of each square matrix."""
    def detach_(self) -> Self:
        """Detach this tensor from its graph, in place. Returns self."""
    @property
    def device(self) -> _device: ...
    def diag(self, diagonal: _int = 0) -> Tensor:
        """Of a vector the matrix with that diagonal, of a matrix a copy of its diagonal."""
    def diag_embed(self, offset: _int = 0, dim1: _int = -2, dim2: _int = -1) -> Tensor:
        """Matrices, in dimensions dim1 and dim2, with input's last dimension as diagonals and zeros elsewhere."""
    def diagflat(self, offset: _int = 0) -> Tensor:
        """The matrix with all elements of input on its diagonal."""
    def diagonal(self, offset: _int = 0, dim1: _int = 0, dim2: _int = 1) -> Tensor:
        """The diagonals of the matrices in dimensions dim1 and dim2, as the last dimension. A view."""
    def diagonal_scatter(self, src: Tensor, offset: _int = 0, dim1: _int = 0, dim2: _int = 1) -> Tensor:
        """input with a diagonal replaced by src."""
    def diff(self, n: _int = 1, dim: _int = -1, prepend: Tensor | None = None, append: Tensor | None = None, *, axis: _int | None = None) -> Tensor:
        """The n-th difference of neighbours along `dim`, with `prepend` and `append` joined on before; bool: whether unequal."""
    def digamma(self) -> Tensor: ...
    def digamma_(self) -> Self:
        """digamma, written into this tensor's memory. Returns self."""
    def dim_order(self) -> tuple[_int, ...]:
        """The dimensions from the one with the largest step in memory to the one with the smallest."""
    def dist(self, other: Tensor, p: _float = 2) -> Tensor:
        """The p-norm of input - other, which broadcast."""
    def div(self, other: TensorOrArray | Number, *, rounding_mode: str | None = None) -> Tensor:
        """input / other, as it is or rounded to an integer: "trunc" towards 0, "floor" down."""
    def div_(self, other: TensorOrArray | Number, *, rounding_mode: str | None = None) -> Self:
        """div, written into this tensor's memory. Returns self."""
    def divide(self, other: TensorOrArray | Number, *, rounding_mode: str | None = None) -> Tensor:
        """input / other, as it is or rounded to an integer: "trunc" towards 0, "floor" down."""
    def divide_(self, other: TensorOrArray | Number, *, rounding_mode: str | None = None) -> Self:
        """divide, written into this tensor's memory. Returns self."""
    def dot(self, tensor: Tensor) -> Tensor:
        """The sum of input * tensor, for two vectors."""
    def double(self, memory_format: MemoryFormat | None = ...) -> Tensor:
        """This tensor as float64."""
    def dsplit(self, indices_or_sections: SizeLike) -> tuple[Tensor, ...]:
        """tensor_split() along the third dimension, in equal parts."""
    def element_size(self) -> _int:
        """Bytes of one element."""
    def eq(self, other: Tensor | Number | Array | np.generic) -> Tensor: ...
    def eq_(self, other: Tensor | Number | Array | np.generic) -> Self:
        """eq, written into this tensor's memory. Returns self."""
    def equal(self, other: Tensor) -> _bool:
        """Whether the two have the same shape and elements."""
    def erf(self) -> Tensor: ...
    def erf_(self) -> Self:
        """erf, written into this tensor's memory. Returns self."""
    def erfc(self) -> Tensor: ...
    def erfc_(self) -> Self:
        """erfc, written into this tensor's memory. Returns self."""
    def erfinv(self) -> Tensor: ...
    def erfinv_(self) -> Self:
        """erfinv, written into this tensor's memory. Returns self."""
    def exp(self) -> Tensor: ...
    def exp2(self) -> Tensor: ...
    def exp2_(self) -> Self:
        """exp2, written into this tensor's memory. Returns self."""
    def exp_(self) -> Self:
        """exp, written into this tensor's memory. Returns self."""
    def expand(self, *args: _int | Tensor | Sequence[_int], size: _int | Tensor | Sequence[_int] | None = None, implicit: _bool = False) -> Tensor:
        """input repeated along dimensions of size 1 to `size` (-1: as it is), a view."""
    def expand_as(self, other: Tensor) -> Tensor:
        """input repeated to the shape of `other`."""
    def expm1(self) -> Tensor: ...
    def expm1_(self) -> Self:
        """expm1, written into this tensor's memory. Returns self."""
    def exponential_(self, lambd: _float = 1.0, *, generator: Generator | None = None) -> Self:
        """exponential, written into this tensor's memory. Returns self."""
    def fill_(self, value: TensorOrNumber | None) -> Self:
        """Write one number everywhere. Returns self."""
    def fill_diagonal_(self, fill_value: _float, wrap: _bool = False) -> Self:
        """Write one number to the main diagonal: to the elements whose indices are all equal. Returns self."""
    def fix(self) -> Tensor: ...
    def fix_(self) -> Self:
        """fix, written into this tensor's memory. Returns self."""
    def flatten(self, start_dim: _int = 0, end_dim: _int = -1) -> Tensor:
        """Dimensions start_dim to end_dim as one."""
    def flip(self, *args: _int | Tensor | Sequence[_int], dims: Sequence[_int] | None = None) -> Tensor:
        """A copy of input, reversed along dims."""
    def fliplr(self) -> Tensor:
        """A copy of input, reversed along its second dimension."""
    def flipud(self) -> Tensor:
        """A copy of input, reversed along its first dimension."""
    def float(self, memory_format: MemoryFormat | None = ...) -> Tensor:
        """This tensor as float32."""
    def float_power(self, exponent: Tensor | Number | Array | np.generic) -> Tensor:
        """input ** exponent in double precision, whatever their dtypes."""
    def float_power_(self, exponent: Tensor | Number | Array | np.generic) -> Self:
        """float_power, written into this tensor's memory. Returns self."""
    def floor(self) -> Tensor: ...
    def floor_(self) -> Self:
        """floor, written into this tensor's memory. Returns self."""
    def floor_divide(self, other: Tensor | Number | Array | np.generic) -> Tensor: ...
    def floor_divide_(self, other: Tensor | Number | Array | np.generic) -> Self:
        """floor_divide, written into this tensor's memory. Returns self."""
    def fmax(self, other: Tensor | Number | Array | np.generic) -> Tensor: ...
    def fmin(self, other: Tensor | Number | Array | np.generic) -> Tensor: ...
    def fmod(self, other: Tensor | Number | Array | np.generic) -> Tensor: ...
    def fmod_(self, other: Tensor | Number | Array | np.generic) -> Self:
        """fmod, written into this tensor's memory. Returns self."""
    def frac(self) -> Tensor: ...
    def frac_(self) -> Self:
        """frac, written into this tensor's memory. Returns self."""
    def frexp(self) -> MantissaExponent:
        """(mantissa, exponent) with input = mantissa * 2**exponent and 0.5 <= |mantissa| < 1."""
    def gather(self, dim: _int, index: Tensor, *, sparse_grad: _bool = False) -> Tensor:
        """out[i, j] = input[index[i, j], j] for dim 0, and so on; index has the shape of the result."""
    def gcd(self, other: Tensor | Number | Array | np.generic) -> Tensor: ...
    def gcd_(self, other: Tensor | Number | Array | np.generic) -> Self:
        """gcd, written into this tensor's memory. Returns self."""
    def ge(self, other: Tensor | Number | Array | np.generic) -> Tensor: ...
    def ge_(self, other: Tensor | Number | Array | np.generic) -> Self:
        """ge, written into this tensor's memory. Returns self."""
    def geometric_(self, p: _float, *, generator: Generator | None = None) -> Self:
        """geometric, written into this tensor's memory. Returns self."""
    def geqrf(self) -> Geqrf:
        """(a, tau): R in the upper triangle of a, the Householder vectors below it, and their factors. Without gradient."""
    def ger(self, vec2: Tensor) -> Tensor:
        """All products of elements of two vectors, as a matrix."""
    def get_device(self) -> _int:
        """-1: the CPU."""
    def greater(self, other: Tensor | Number | Array | np.generic) -> Tensor: ...
    def greater_(self, other: Tensor | Number | Array | np.generic) -> Self:
        """greater, written into this tensor's memory. Returns self."""
    def greater_equal(self, other: Tensor | Number | Array | np.generic) -> Tensor: ...
    def greater_equal_(self, other: Tensor | Number | Array | np.generic) -> Self:
        """greater_equal, written into this tensor's memory. Returns self."""
    def gt(self, other: Tensor | Number | Array | np.generic) -> Tensor: ...
    def gt_(self, other: Tensor | Number | Array | np.generic) -> Self:
        """gt, written into this tensor's memory. Returns self."""
    def half(self, memory_format: MemoryFormat | None = ...) -> Tensor:
        """This tensor as float16."""
    def hardshrink(self, lambd: _float = 0.5) -> Tensor:
        """input where beyond [-lambd, lambd], 0 within."""
    def heaviside(self, values: Tensor) -> Tensor:
        """0 where input is negative, 1 where it is positive, `values` where it is 0."""
    def heaviside_(self, values: Tensor) -> Self:
        """heaviside, written into this tensor's memory. Returns self."""
    def histc(self, bins: _int = 100, min: _float = 0, max: _float = 0) -> Tensor:
        """How many elements fall in each of `bins` equal bins from min to max, by default those of the elements."""
    def histogram(self, bins: TensorOrNumber = 100, *, range: Sequence[_float] | None = None, weight: Tensor | None = None, density: _bool = False) -> Histogram:
        """(hist, bin_edges): the elements counted into `bins` equal bins over `range`, or between the edges `bins`."""
    def hsplit(self, indices_or_sections: SizeLike) -> tuple[Tensor, ...]:
        """tensor_split() along the second dimension (of vectors the first), in equal parts."""
    def hypot(self, other: Tensor | Number | Array | np.generic) -> Tensor: ...
    def hypot_(self, other: Tensor | Number | Array | np.generic) -> Self:
        """hypot, written into this tensor's memory. Returns self."""
    def i0(self) -> Tensor: ...
    def i0_(self) -> Self:
        """i0, written into this tensor's memory. Returns self."""
    def igamma(self, other: Tensor | Number | Array | np.generic) -> Tensor: ...
    def igamma_(self, other: Tensor | Number | Array | np.generic) -> Self:
        """igamma, written into this tensor's memory. Returns self."""
    def igammac(self, other: Tensor | Number | Array | np.generic) -> Tensor: ...
    def igammac_(self, other: Tensor | Number | Array | np.generic) -> Self:
        """igammac, written into this tensor's memory. Returns self."""
    @property
    def imag(self) -> Tensor:
        """The imaginary part, a view. RuntimeError for a real tensor."""
    @imag.setter
    def imag(self, value: Tensor | Number | Array | np.generic) -> None: ...
    def index_add(self, dim: _int, index: Tensor, source: Tensor, *, alpha: Number = 1) -> Tensor:
        """input with alpha * source[i] added to its slice index[i] along `dim`."""
    def index_add_(self, dim: _int, index: Tensor, source: Tensor, *, alpha: Number = 1) -> Self:
        """index_add, written into this tensor's memory. Returns self."""
    def index_copy(self, dim: _int, index: Tensor, source: Tensor) -> Tensor:
        """input with its slice index[i] along `dim` replaced by source[i]."""
    def index_copy_(self, dim: _int, index: Tensor, source: Tensor) -> Self:
        """index_copy, written into this tensor's memory. Returns self."""
    def index_fill(self, dim: _int, index: Tensor, value: Tensor | Number) -> Tensor:
        """input with its slices `index` along `dim` filled with one number."""
    def index_fill_(self, dim: _int, index: Tensor, value: Tensor | Number) -> Self:
        """index_fill, written into this tensor's memory. Returns self."""
    def index_put(self, indices: Sequence[Tensor], values: TensorOrNumber | None, accumulate: _bool = False) -> Tensor:
        """input with input[indices] replaced by values, or with values added there if `accumulate`."""
    def index_put_(self, indices: Sequence[Tensor], values: TensorOrNumber | None, accumulate: _bool = False) -> Self:
        """index_put, written into this tensor's memory. Returns self."""
    def index_reduce(self, dim: _int, index: Tensor, source: Tensor, reduce: str, *, include_self: _bool = True) -> Tensor:
        """input with its slice index[i] along `dim` reduced ("prod", "mean", "amax", "amin") with source[i]."""
    def index_reduce_(self, dim: _int, index: Tensor, source: Tensor, reduce: str, *, include_self: _bool = True) -> Self:
        """index_reduce, written into this tensor's memory. Returns self."""
    def index_select(self, dim: _int, index: Tensor) -> Tensor:
        """The slices of input along `dim` that the vector `index` names, in its order."""
    def inner(self, other: Tensor) -> Tensor:
        """Products of all vectors along the last dimensions: shape input.shape[:-1] + other.shape[:-1]."""
    def int(self, memory_format: MemoryFormat | None = ...) -> Tensor:
        """This tensor as int32."""
    def inverse(self) -> Tensor:
        """linalg.inv() under its older name."""
    def is_complex(self) -> _bool:
        """Whether the dtype is complex."""
    def is_conj(self) -> _bool:
        """False: conj() computes its values at once."""
    def is_contiguous(self, memory_format: MemoryFormat | None = ...) -> _bool:
        """Whether the elements are contiguous in memory, in the order of `memory_format`."""
    @property
    def is_cpu(self) -> _bool: ...
    @property
    def is_cuda(self) -> _bool: ...
    def is_floating_point(self) -> _bool:
        """Whether the dtype is float16, bfloat16, float32 or float64."""
    def is_inference(self) -> _bool:
        """Whether the tensor was made in inference mode (or is a view of one that was)."""
    @property
    def is_ipu(self) -> _bool: ...
    @property
    def is_maia(self) -> _bool: ...
    @property
    def is_meta(self) -> _bool: ...
    @property
    def is_mkldnn(self) -> _bool: ...
    @property
    def is_mps(self) -> _bool: ...
    @property
    def is_mtia(self) -> _bool: ...
    def is_neg(self) -> _bool:
        """False: negative parts of conjugates are computed at once."""
    @property
    def is_nested(self) -> _bool: ...
    def is_nonzero(self) -> _bool:
        """Whether the one element is not 0."""
    def is_pinned(self) -> _bool:
        """False: no accelerator, no pinned memory."""
    @property
    def is_quantized(self) -> _bool: ...
    def is_same_size(self, other: Tensor) -> _bool:
        """Whether the shapes are equal."""
    def is_set_to(self, tensor: Tensor) -> _bool:
        """Whether both are the same elements of the same memory."""
    def is_shared(self) -> _bool:
        """False: no other process sees this memory."""
    def is_signed(self) -> _bool:
        """Whether the dtype has negative numbers."""
    @property
    def is_sparse(self) -> _bool: ...
    @property
    def is_sparse_csr(self) -> _bool: ...
    @property
    def is_vulkan(self) -> _bool: ...
    @property
    def is_xla(self) -> _bool: ...
    @property
    def is_xpu(self) -> _bool: ...
    def isclose(self, other: Tensor, rtol: _float = 1e-05, atol: _float = 1e-08, equal_nan: _bool = False) -> Tensor:
        """Whether |input - other| <= atol + rtol * |other|, or the two are equal; nan equals nan if `equal_nan`."""
    def isfinite(self) -> Tensor: ...
    def isinf(self) -> Tensor: ...
    def isnan(self) -> Tensor: ...
    def isneginf(self) -> Tensor: ...
    def isposinf(self) -> Tensor: ...
    def isreal(self) -> Tensor: ...
    def istft(self, n_fft: _int, hop_length: _int | None = None, win_length: _int | None = None, window: Tensor | None = None, center: _bool = True, normalized: _bool = False, onesided: _bool | None = None, length: _int | None = None, return_complex: _bool = False) -> Tensor:
        """The signal whose stft() is nearest to input: the windows' signals added up, divided by the sum of squared windows."""
    @property
    def itemsize(self) -> _int:
        """Bytes of one element."""
    def kron(self, other: Tensor) -> Tensor:
        """The Kronecker product: each element of input times all of other."""
    def kthvalue(self, k: _int, dim: _int = -1, keepdim: _bool = False, *, axis: _int | None = None, keepdims: _bool | None = None) -> ValuesIndices:
        """The k-th smallest along `dim`, counted from 1, and where it is."""
    @property
    def layout(self) -> Layout: ...
    def lcm(self, other: Tensor | Number | Array | np.generic) -> Tensor: ...
    def lcm_(self, other: Tensor | Number | Array | np.generic) -> Self:
        """lcm, written into this tensor's memory. Returns self."""
    def ldexp(self, other: TensorOrNumber) -> Tensor:
        """input * 2**other; other may be fractional."""
    def ldexp_(self, other: TensorOrNumber) -> Self:
        """ldexp, written into this tensor's memory. Returns self."""
    def le(self, other: Tensor | Number | Array | np.generic) -> Tensor: ...
    def le_(self, other: Tensor | Number | Array | np.generic) -> Self:
        """le, written into this tensor's memory. Returns self."""
    def lerp(self, end: Tensor, weight: TensorOrNumber) -> Tensor:
        """input + weight * (end - input); weight is a number or a tensor."""
    def lerp_(self, end: Tensor, weight: TensorOrNumber) -> Self:
        """lerp, written into this tensor's memory. Returns self."""
    def less(self, other: Tensor | Number | Array | np.generic) -> Tensor: ...
    def less_(self, other: Tensor | Number | Array | np.generic) -> Self:
        """less, written into this tensor's memory. Returns self."""
    def less_equal(self, other: Tensor | Number | Array | np.generic) -> Tensor: ...
    def less_equal_(self, other: Tensor | Number | Array | np.generic) -> Self:
        """less_equal, written into this tensor's memory. Returns self."""
    def lgamma(self) -> Tensor: ...
    def lgamma_(self) -> Self:
        """lgamma, written into this tensor's memory. Returns self."""
    def log(self) -> Tensor: ...
    def log10(self) -> Tensor: ...
    def log10_(self) -> Self:
        """log10, written into this tensor's memory. Returns self."""
    def log1p(self) -> Tensor: ...
    def log1p_(self) -> Self:
        """log1p, written into this tensor's memory. Returns self."""
    def log2(self) -> Tensor: ...
    def log2_(self) -> Self:
        """log2, written into this tensor's memory. Returns self."""
    def log_(self) -> Self:
        """log, written into this tensor's memory. Returns self."""
    def log_normal_(self, mean: _float = 1.0, std: _float = 2.0, *, generator: Generator | None = None) -> Self:
        """log_normal, written into this tensor's memory. Returns self."""
    @overload
    def log_softmax(self, dim: _int, dtype: DTypeLike = None) -> Tensor:
        """log(softmax(input, dim)), computed without losing small ones."""
    @overload
    def log_softmax(self, *, axis: _int, dtype: DTypeLike = None) -> Tensor:
        """log(softmax(input, dim)), computed without losing small ones."""
    def logaddexp(self, other: Tensor | Number | Array | np.generic) -> Tensor: ...
    def logaddexp2(self, other: Tensor | Number | Array | np.generic) -> Tensor: ...
    @overload
    def logcumsumexp(self, dim: _int) -> Tensor:
        """log of the running sum of exp(input) along `dim`, without overflow."""
    @overload
    def logcumsumexp(self, *, axis: _int) -> Tensor:
        """log of the running sum of exp(input) along `dim`, without overflow."""
    def logdet(self) -> Tensor:
        """The logarithm of the determinant of each square matrix: nan where it is negative."""
    def logical_and(self, other: Tensor | Number | Array | np.generic) -> Tensor: ...
    def logical_and_(self, other: Tensor | Number | Array | np.generic) -> Self:
        """logical_and, written into this tensor's memory. Returns self."""
    def logical_not(self) -> Tensor: ...
    def logical_not_(self) -> Self:
        """logical_not, written into this tensor's memory. Returns self."""
    def logical_or(self, other: Tensor | Number | Array | np.generic) -> Tensor: ...
    def logical_or_(self, other: Tensor | Number | Array | np.generic) -> Self:
        """logical_or, written into this tensor's memory. Returns self."""
    def logical_xor(self, other: Tensor | Number | Array | np.generic) -> Tensor: ...
    def logical_xor_(self, other: Tensor | Number | Array | np.generic) -> Self:
        """logical_xor, written into this tensor's memory. Returns self."""
    def logit(self, eps: _float | None = None) -> Tensor:
        """log(x / (1 - x)), the inverse of sigmoid; with eps, x is first clamped to [eps, 1 - eps]."""
    def logit_(self, eps: _float | None = None) -> Self:
        """logit, written into this tensor's memory. Returns self."""
    def logsumexp(self, dim: Dims, keepdim: _bool = False, *, keepdims: _bool | None = None) -> Tensor:
        """log of the sum of exp(input) over `dim`, without overflow."""
    def long(self, memory_format: MemoryFormat | None = ...) -> Tensor:
        """This tensor as int64."""
    def lt(self, other: Tensor | Number | Array | np.generic) -> Tensor: ...
    def lt_(self, other: Tensor | Number | Array | np.generic) -> Self:
        """lt, written into this tensor's memory. Returns self."""
    def lu(self, pivot: _bool = True, get_infos: _bool = False) -> tuple[Tensor, ...]:
        """(LU, pivots), and info if get_infos: linalg.lu_factor_ex, under its older name."""
    def lu_solve(self, LU_data: Tensor, LU_pivots: Tensor) -> Tensor:
        """linalg.lu_solve, under its older name and order."""
    @property
    def mH(self) -> Tensor:
        """The conjugate transpose of each matrix; of real ones mT."""
    @property
    def mT(self) -> Tensor:
        """input with its last two dimensions exchanged, a view."""
    def map2_(self, x: Tensor, y: Tensor, callable: Callable[[Any, Any, Any], Any]) -> Self:
        """Replace each element by callable(element, element of x, element of y). Returns self."""
    def map_(self, tensor: Tensor, callable: Callable[[Any, Any], Any]) -> Self:
        """Replace each element by callable(element, element of tensor). Returns self."""
    def masked_fill(self, mask: Tensor, value: TensorOrNumber) -> Tensor:
        """input, but `value` (a number or a 0-d Tensor) where the mask holds."""
    def masked_fill_(self, mask: Tensor, value: TensorOrNumber) -> Self:
        """masked_fill, written into this tensor's memory. Returns self."""
    def masked_scatter(self, mask: Tensor, source: Tensor) -> Tensor:
        """input, but the elements of source, one after the other, where the mask holds."""
    def masked_scatter_(self, mask: Tensor, source: Tensor) -> Self:
        """masked_scatter, written into this tensor's memory. Returns self."""
    def masked_select(self, mask: Tensor) -> Tensor:
        """The elements of input where the mask holds, in one dimension; the two broadcast."""
    def matmul(self, other: TensorOrArray) -> Tensor:
        """The matrix product as Python's @: vectors are rows on the left, columns on the right; leading sizes broadcast."""
    def matrix_exp(self) -> Tensor:
        """The exponential of each square matrix."""
    def matrix_power(self, n: _int) -> Tensor:
        """Each square matrix multiplied n times with itself; the inverse's power for negative n."""
    @overload
    def max(self, *, out: Tensor | None=None) -> Tensor:
        """The largest of all elements; with `dim`, (values, indices) along it; with a Tensor, elementwise."""
    @overload
    def max(self, dim: _int, keepdim: _bool=False, *, out: tuple[Tensor, Tensor] | None=None) -> ValuesIndices:
        """The largest of all elements; with `dim`, (values, indices) along it; with a Tensor, elementwise."""
    @overload
    def max(self, *, axis: _int, keepdims: _bool=False) -> ValuesIndices:
        """The largest of all elements; with `dim`, (values, indices) along it; with a Tensor, elementwise."""
    @overload
    def max(self, other: Tensor, *, out: Tensor | None=None) -> Tensor:
        """The largest of all elements; with `dim`, (values, indices) along it; with a Tensor, elementwise."""
    def maximum(self, other: Tensor | Number | Array | np.generic) -> Tensor: ...
    def mean(self, dim: Dims = None, keepdim: _bool = False, *, dtype: DTypeLike = None, axis: Dims = None, keepdims: _bool = False) -> Tensor:
        """The mean of all elements, or over the dimensions `dim`; floating point only."""
    @overload
    def median(self) -> Tensor:
        """The middle element, the lower of two, of all or as (values, indices) along `dim`; nan where there is one."""
    @overload
    def median(self, dim: _int, keepdim: _bool=False) -> ValuesIndices:
        """The middle element, the lower of two, of all or as (values, indices) along `dim`; nan where there is one."""
    @overload
    def min(self, *, out: Tensor | None=None) -> Tensor:
        """The smallest of all elements; with `dim`, (values, indices) along it; with a Tensor, elementwise."""
    @overload
    def min(self, dim: _int, keepdim: _bool=False, *, out: tuple[Tensor, Tensor] | None=None) -> ValuesIndices:
        """The smallest of all elements; with `dim`, (values, indices) along it; with a Tensor, elementwise."""
    @overload
    def min(self, *, axis: _int, keepdims: _bool=False) -> ValuesIndices:
        """The smallest of all elements; with `dim`, (values, indices) along it; with a Tensor, elementwise."""
    @overload
    def min(self, other: Tensor, *, out: Tensor | None=None) -> Tensor:
        """The smallest of all elements; with `dim`, (values, indices) along it; with a Tensor, elementwise."""
    def minimum(self, other: Tensor | Number | Array | np.generic) -> Tensor: ...
    def mm(self, mat2: Tensor) -> Tensor:
        """The product of two matrices: no broadcasting."""
    def mode(self, dim: _int = -1, keepdim: _bool = False, *, axis: _int | None = None, keepdims: _bool | None = None) -> ValuesIndices:
        """The most frequent value along `dim`, the smallest of equally frequent ones, and its last index."""
    def moveaxis(self, source: _int | Sequence[_int], destination: _int | Sequence[_int]) -> Tensor:
        """input with dimensions moved from `source` to `destination` (integers, or as many in each), the others in order."""
    def movedim(self, source: _int | Sequence[_int], destination: _int | Sequence[_int]) -> Tensor:
        """input with dimensions moved from `source` to `destination` (integers, or as many in each), the others in order."""
    def msort(self) -> Tensor:
        """The elements in order along the first dimension."""
    def mul(self, other: Tensor | Number | Array | np.generic) -> Tensor: ...
    def mul_(self, other: Tensor | Number | Array | np.generic) -> Self:
        """mul, written into this tensor's memory. Returns self."""
    def multinomial(self, num_samples: _int, replacement: _bool = False, *, generator: Generator | None = None) -> Tensor:
        """num_samples indices from each row of weights; without replacement each index at most once."""
    def multiply(self, other: Tensor | Number | Array | np.generic) -> Tensor: ...
    def multiply_(self, other: Tensor | Number | Array | np.generic) -> Self:
        """multiply, written into this tensor's memory. Returns self."""
    def mv(self, vec: Tensor) -> Tensor:
        """The product of a matrix and a vector."""
    def mvlgamma(self, p: _int) -> Tensor:
        """log of the multivariate gamma function of dimension p: lgamma(x) + ... + lgamma(x - (p - 1) / 2) + constant."""
    def mvlgamma_(self, p: _int) -> Self:
        """mvlgamma, written into this tensor's memory. Returns self."""
    def nan_to_num(self, nan: _float | None = None, posinf: _float | None = None, neginf: _float | None = None) -> Tensor:
        """input with nan replaced by `nan` (0), infinities by `posinf` and `neginf` (the largest finite numbers)."""
    def nan_to_num_(self, nan: _float | None = None, posinf: _float | None = None, neginf: _float | None = None) -> Self:
        """nan_to_num, written into this tensor's memory. Returns self."""
    def nanmean(self, dim: Dims = None, keepdim: _bool = False, *, dtype: DTypeLike = None, axis: Dims | None = None, keepdims: _bool | None = None) -> Tensor:
        """The mean of the elements that are not nan; nan where there are none."""
    @overload
    def nanmedian(self) -> Tensor:
        """The middle element of those that are not nan, the lower of two, of all or as (values, indices) along `dim`."""
    @overload
    def nanmedian(self, dim: _int, keepdim: _bool=False) -> ValuesIndices:
        """The middle element of those that are not nan, the lower of two, of all or as (values, indices) along `dim`."""
    def nanquantile(self, q: Tensor | _float, dim: _int | None = None, keepdim: _bool = False, *, interpolation: str = 'linear', axis: _int | None = None, keepdims: _bool | None = None) -> Tensor:
        """quantile() of the elements that are not nan."""
    def nansum(self, dim: Dims = None, keepdim: _bool = False, *, dtype: DTypeLike = None, axis: Dims | None = None, keepdims: _bool | None = None) -> Tensor:
        """The sum of the elements that are not nan."""
    def narrow(self, dim: _int, start: _int | Tensor, length: _int) -> Tensor:
        """Elements start to start + length of dimension `dim`, a view. start may be a 0-d integer Tensor."""
    def narrow_copy(self, dim: _int, start: _int | Tensor, length: _int) -> Tensor:
        """narrow() as a copy."""
    @property
    def nbytes(self) -> _int: ...
    def ndimension(self) -> _int:
        """The number of dimensions."""
    def ne(self, other: Tensor | Number | Array | np.generic) -> Tensor: ...
    def ne_(self, other: Tensor | Number | Array | np.generic) -> Self:
        """ne, written into this tensor's memory. Returns self."""
    def neg(self) -> Tensor: ...
    def neg_(self) -> Self:
        """neg, written into this tensor's memory. Returns self."""
    def negative(self) -> Tensor: ...
    def negative_(self) -> Self:
        """negative, written into this tensor's memory. Returns self."""
    def nelement(self) -> _int:
        """The number of elements."""
    def new(self, *data: Tensor | Number | Array | Sequence[Any], device: DeviceLike = None) -> Tensor:
        """x.new(2, 3), x.new([1, 2]): what Tensor(...) makes, in this tensor's dtype."""
    def new_empty(self, *sizes: _int | Tensor | Sequence[_int], size: _int | Tensor | Sequence[_int] | None = None, dtype: DTypeLike = None, layout: Layout | None = None, device: DeviceLike = None, pin_memory: _bool = False, requires_grad: _bool = False) -> Tensor:
        """Memory as it is found, of this tensor's dtype."""
    def new_empty_strided(self, size: Sequence[_int], stride: Sequence[_int], *, dtype: DTypeLike = None, layout: Layout | None = None, device: DeviceLike = None, pin_memory: _bool = False, requires_grad: _bool = False) -> Tensor:
        """Memory as it is found, of this tensor's dtype, in these strides."""
    def new_full(self, size: Sequence[_int], fill_value: TensorOrNumber, *, dtype: DTypeLike = None, layout: Layout | None = None, device: DeviceLike = None, pin_memory: _bool = False, requires_grad: _bool = False) -> Tensor:
        """fill_value in this tensor's dtype."""
    def new_ones(self, *sizes: _int | Tensor | Sequence[_int], size: _int | Tensor | Sequence[_int] | None = None, dtype: DTypeLike = None, layout: Layout | None = None, device: DeviceLike = None, pin_memory: _bool = False, requires_grad: _bool = False) -> Tensor:
        """Ones of this tensor's dtype."""
    def new_tensor(self, data: Tensor | Number | Array | Sequence[Any], *, dtype: DTypeLike = None, device: DeviceLike = None, requires_grad: _bool = False, layout: Layout | None = None, pin_memory: _bool = False) -> Tensor:
        """A new leaf with a copy of data, of this tensor's dtype."""
    def new_zeros(self, *sizes: _int | Tensor | Sequence[_int], size: _int | Tensor | Sequence[_int] | None = None, dtype: DTypeLike = None, layout: Layout | None = None, device: DeviceLike = None, pin_memory: _bool = False, requires_grad: _bool = False) -> Tensor:
        """Zeros of this tensor's dtype."""
    def nextafter(self, other: Tensor | Number | Array | np.generic) -> Tensor: ...
    def nextafter_(self, other: Tensor | Number | Array | np.generic) -> Self:
        """nextafter, written into this tensor's memory. Returns self."""
    @overload
    def nonzero(self, *, out: Tensor | None=None, as_tuple: Literal[False]=False) -> Tensor:
        """The indices of elements that are not 0: a row for each, or with `as_tuple` a vector for each dimension."""
    @overload
    def nonzero(self, *, as_tuple: Literal[True]) -> tuple[Tensor, ...]:
        """The indices of elements that are not 0: a row for each, or with `as_tuple` a vector for each dimension."""
    def nonzero_static(self, *, size: _int, fill_value: _int = -1) -> Tensor:
        """nonzero() with `size` rows: cut off, or filled up with fill_value."""
    def norm(self, p: _float | str | None = 'fro', dim: Dims = None, keepdim: _bool = False, dtype: DTypeLike = None) -> Tensor:
        """The vector norm of order p over `dim`; "fro" is 2; "nuc" is the sum of singular values of matrices."""
    def normal_(self, mean: _float = 0.0, std: _float = 1.0, *, generator: Generator | None = None) -> Self:
        """normal, written into this tensor's memory. Returns self."""
    def not_equal(self, other: Tensor | Number | Array | np.generic) -> Tensor: ...
    def not_equal_(self, other: Tensor | Number | Array | np.generic) -> Self:
        """not_equal, written into this tensor's memory. Returns self."""
    def orgqr(self, input2: Tensor) -> Tensor:
        """linalg.householder_product, under its older name."""
    def ormqr(self, tau: Tensor, other: Tensor, left: _bool = True, transpose: _bool = False) -> Tensor:
        """Q @ other (or other @ Q, or with Q^H) for the square Q of the reflections in input and tau."""
    def outer(self, vec2: Tensor) -> Tensor:
        """All products of elements of two vectors, as a matrix."""
    def permute(self, *args: _int | Tensor | Sequence[_int], dims: _int | Sequence[_int] | None = None) -> Tensor:
        """input with its dimensions in the order `dims`, a view."""
    def pin_memory(self) -> Tensor:
        """Raises RuntimeError: there is no accelerator to copy to."""
    def pinverse(self, rcond: _float = 1e-15) -> Tensor:
        """linalg.pinv with rtol=rcond."""
    def polygamma(self, n: _int) -> Tensor:
        """The n-th derivative of digamma at this tensor."""
    def polygamma_(self, n: _int) -> Self:
        """polygamma, written into this tensor's memory. Returns self."""
    def positive(self) -> Tensor:
        """input itself; RuntimeError for booleans, which have no sign."""
    def pow(self, exponent: TensorOrArray | Number) -> Tensor:
        """input ** exponent, one of them a Tensor."""
    def pow_(self, exponent: TensorOrArray | Number) -> Self:
        """pow, written into this tensor's memory. Returns self."""
    def prelu(self, weight: Tensor) -> Tensor:
        """leaky_relu with a learned slope: one for all, or one for each channel (dimension 1)."""
    def prod(self, dim: _int | None = None, keepdim: _bool = False, *, dtype: DTypeLike = None, axis: _int | None = None, keepdims: _bool | None = None) -> Tensor:
        """The product of all elements, or along one `dim`; integers and booleans multiply in int64."""
    def put(self, index: Tensor, source: Tensor, accumulate: _bool = False) -> Tensor:
        """input with the elements that index numbers, as if it were one row, replaced by source; or added to."""
    def put_(self, index: Tensor, source: Tensor, accumulate: _bool = False) -> Self:
        """put, written into this tensor's memory. Returns self."""
    def qr(self, some: _bool = True) -> tuple[Tensor, Tensor]:
        """linalg.qr, under its older name: reduced, or complete."""
    def quantile(self, q: TensorOrNumber, dim: _int | None = None, keepdim: _bool = False, *, interpolation: str = 'linear', axis: _int | None = None, keepdims: _bool | None = None) -> Tensor:
        """The values below which the parts q of all elements lie, or of those along `dim`; several q come first."""
    def rad2deg(self) -> Tensor: ...
    def rad2deg_(self) -> Self:
        """rad2deg, written into this tensor's memory. Returns self."""
    def random_(self, *args: _int | Tensor | Sequence[_int], to: _int | None = None, generator: Generator | None = None, **named: Any) -> Self:
        """random, written into this tensor's memory. Returns self."""
    def ravel(self) -> Tensor:
        """All elements in one dimension: input itself if it has one and lies in order."""
    @property
    def real(self) -> Tensor:
        """The real part, a view; a real tensor as it is."""
    @real.setter
    def real(self, value: Tensor | Number | Array | np.generic) -> None: ...
    def reciprocal(self) -> Tensor: ...
    def reciprocal_(self) -> Self:
        """reciprocal, written into this tensor's memory. Returns self."""
    def relu(self) -> Tensor: ...
    def relu_(self) -> Self:
        """relu, written into this tensor's memory. Returns self."""
    def remainder(self, other: Tensor | Number | Array | np.generic) -> Tensor: ...
    def remainder_(self, other: Tensor | Number | Array | np.generic) -> Self:
        """remainder, written into this tensor's memory. Returns self."""
    @overload
    def renorm(self, p: _float, dim: _int, maxnorm: _float) -> Tensor:
        """Each slice of input at one place of `dim` scaled down to p-norm `maxnorm`, if its norm is larger."""
    @overload
    def renorm(self, p: _float, *, axis: _int, maxnorm: _float) -> Tensor:
        """Each slice of input at one place of `dim` scaled down to p-norm `maxnorm`, if its norm is larger."""
    def renorm_(self, p: _float, dim: _int, maxnorm: _float) -> Self:
        """renorm, written into this tensor's memory. Returns self."""
    def repeat(self, *args: _int | Tensor | Sequence[_int], repeats: Sequence[_int] | None = None) -> Tensor:
        """Copies of input side by side: repeats[i] of them along dimension i, counted from the end."""
    def repeat_interleave(self, repeats: TensorOrNumber | None = None, dim: _int | None = None, *, output_size: _int | None = None) -> Tensor:
        """Each slice of input along `dim` (each element without it) repeated: a number of times for all, or one for each."""
    def reshape(self, *args: _int | Tensor | Sequence[_int], shape: Sequence[_int] | None = None) -> Tensor:
        """The elements of input, in order, in another shape; one size may be -1. A view where the memory allows it."""
    def reshape_as(self, other: Tensor) -> Tensor:
        """input in the shape of `other`."""
    def resize_(self, *sizes: _int | Tensor | Sequence[_int], memory_format: MemoryFormat | None = None) -> Self:
        """Resize this tensor in place; elements keep their order, further ones are uninitialised. Returns self."""
    def resize_as_(self, the_template: Tensor, memory_format: MemoryFormat | None = None) -> Self:
        """resize_ to the shape of another tensor. Returns self."""
    def resolve_conj(self) -> Tensor:
        """The input itself: conjugation is never lazy here."""
    def resolve_neg(self) -> Tensor:
        """The input itself: negation is never lazy here."""
    def roll(self, shifts: SizeLike, dims: SizeLike | None = ...) -> Tensor:
        """input moved on by `shifts` along dims, what leaves at the end comes in at the start; without dims as one row."""
    def rot90(self, k: _int = 1, dims: Sequence[_int] = ...) -> Tensor:
        """A copy of input, turned k times by 90 degrees from the first of two dims towards the second."""
    def round(self, *, decimals: _int = 0) -> Tensor:
        """The nearest integer, the even one of two; with `decimals`, the nearest multiple of 10**-decimals."""
    def round_(self, *, decimals: _int = 0) -> Self:
        """round, written into this tensor's memory. Returns self."""
    def rsqrt(self) -> Tensor: ...
    def rsqrt_(self) -> Self:
        """rsqrt, written into this tensor's memory. Returns self."""
    def scatter(self, dim: _int, index: Tensor, src: TensorOrNumber | None = None, *, value: Tensor | Number | None = None, reduce: str | None = None) -> Tensor:
        """input with src[i, j] (or one number) written to [index[i, j], j] for dim 0, and so on."""
    def scatter_(self, dim: _int, index: Tensor, src: TensorOrNumber | None = None, *, value: Tensor | Number | None = None, reduce: str | None = None) -> Self:
        """scatter, written into this tensor's memory. Returns self."""
    def scatter_add(self, dim: _int, index: Tensor, src: Tensor) -> Tensor:
        """input with src[i, j] added at [index[i, j], j] for dim 0, and so on."""
    def scatter_add_(self, dim: _int, index: Tensor, src: Tensor) -> Self:
        """scatter_add, written into this tensor's memory. Returns self."""
    def scatter_reduce(self, dim: _int, index: Tensor, src: Tensor, reduce: str, *, include_self: _bool = True) -> Tensor:
        """Each element of input reduced ("sum", "prod", "mean", "amax", "amin") with those of src that index sends to it."""
    def scatter_reduce_(self, dim: _int, index: Tensor, src: Tensor, reduce: str, *, include_self: _bool = True) -> Self:
        """scatter_reduce, written into this tensor's memory. Returns self."""
    def select(self, dim: _int, index: _int) -> Tensor:
        """The slice number `index` of dimension `dim`, which is removed. A view."""
    def select_scatter(self, src: Tensor, dim: _int, index: _int) -> Tensor:
        """input with its slice number `index` along `dim` replaced by src."""
    def sgn(self) -> Tensor:
        """The sign of a real number, z / |z| of a complex one; 0 at 0."""
    def sgn_(self) -> Self:
        """sgn, written into this tensor's memory. Returns self."""
    def short(self, memory_format: MemoryFormat | None = ...) -> Tensor:
        """This tensor as int16."""
    def sigmoid(self) -> Tensor: ...
    def sigmoid_(self) -> Self:
        """sigmoid, written into this tensor's memory. Returns self."""
    def sign(self) -> Tensor: ...
    def sign_(self) -> Self:
        """sign, written into this tensor's memory. Returns self."""
    def signbit(self) -> Tensor: ...
    def sin(self) -> Tensor: ...
    def sin_(self) -> Self:
        """sin, written into this tensor's memory. Returns self."""
    def sinc(self) -> Tensor: ...
    def sinc_(self) -> Self:
        """sinc, written into this tensor's memory. Returns self."""
    def sinh(self) -> Tensor: ...
    def sinh_(self) -> Self:
        """sinh, written into this tensor's memory. Returns self."""
    def slice_scatter(self, src: Tensor, dim: _int = 0, start: _int | None = None, end: _int | None = None, step: _int = 1) -> Tensor:
        """input with its slices start to end along `dim`, each step-th, replaced by src."""
    def slogdet(self) -> SlogDet:
        """(sign, logabsdet) of each square matrix: the determinant is sign * exp(logabsdet)."""
    @overload
    def softmax(self, dim: _int, dtype: DTypeLike = None) -> Tensor:
        """exp(input) over its sum along `dim`: positive, adding up to 1."""
    @overload
    def softmax(self, *, axis: _int, dtype: DTypeLike = None) -> Tensor:
        """exp(input) over its sum along `dim`: positive, adding up to 1."""
    def sort(self, dim: _int = -1, descending: _bool = False, *, stable: _bool | None = False, axis: _int | None = None) -> ValuesIndices:
        """The elements along `dim` in order and where they were; always stable, nan the largest."""
    def sparse_dim(self) -> _int:
        """0: no dimension is sparse."""
    def split(self, split_size: _int | Sequence[_int], dim: _int = 0) -> tuple[Tensor, ...]:
        """split(), whose argument the method calls otherwise."""
    def split_with_sizes(self, split_sizes: Sequence[_int], dim: _int = 0) -> tuple[Tensor, ...]:
        """input cut along `dim` in pieces of the sizes given."""
    def sqrt(self) -> Tensor: ...
    def sqrt_(self) -> Self:
        """sqrt, written into this tensor's memory. Returns self."""
    def square(self) -> Tensor: ...
    def square_(self) -> Self:
        """square, written into this tensor's memory. Returns self."""
    def squeeze(self, dim: _int | tuple[_int, ...] | None = None, *, axis: _int | tuple[_int, ...] | None = None) -> Tensor:
        """input without its dimensions of size 1, or without those of `dim` that have size 1. A view."""
    def squeeze_(self, dim: _int | tuple[_int, ...] | None = None, *, axis: _int | tuple[_int, ...] | None = None) -> Self:
        """input without its dimensions of size 1, or without those of `dim` that have size 1. A view."""
    def std(self, dim: Dims | _bool = None, unbiased: _bool | None = None, keepdim: _bool = False, *, correction: _float | None = None, axis: Dims | _bool | None = None, keepdims: _bool | None = None) -> Tensor:
        """The square root of the variance."""
    def stft(self, n_fft: _int, hop_length: _int | None = None, win_length: _int | None = None, window: Tensor | None = None, center: _bool = True, pad_mode: str = 'reflect', normalized: _bool = False, onesided: _bool | None = None, return_complex: _bool | None = None, align_to_window: _bool | None = None) -> Tensor:
        """The Fourier transforms of windows of n_fft points, one each hop_length, of (..., L): (..., frequencies, windows)."""
    def storage_offset(self) -> _int:
        """How many elements before the first one belong to the memory that this tensor is a view of."""
    @overload
    def stride(self) -> tuple[_int, ...]:
        """The strides in elements: how far apart neighbours along each dimension, or along `dim`, are in memory."""
    @overload
    def stride(self, dim: _int) -> _int:
        """The strides in elements: how far apart neighbours along each dimension, or along `dim`, are in memory."""
    def sub(self, other: TensorOrArray | Number, *, alpha: Number = 1) -> Tensor:
        """input - alpha * other."""
    def sub_(self, other: TensorOrArray | Number, *, alpha: Number = 1) -> Self:
        """sub, written into this tensor's memory. Returns self."""
    def subtract(self, other: TensorOrArray | Number, *, alpha: Number = 1) -> Tensor:
        """input - alpha * other."""
    def subtract_(self, other: TensorOrArray | Number, *, alpha: Number = 1) -> Self:
        """subtract, written into this tensor's memory. Returns self."""
    def sum(self, dim: Dims = None, keepdim: _bool = False, *, dtype: DTypeLike | None = None, axis: Dims = None, keepdims: _bool = False) -> Tensor:
        """The sum of all elements, or over the dimensions `dim`; integers and booleans add up in int64."""
    def sum_to_size(self, *size: _int | Tensor | Sequence[_int]) -> Tensor:
        """input summed over the dimensions that broadcasting would add to, or repeat in, a tensor of `size`."""
    def svd(self, some: _bool = True, compute_uv: _bool = True) -> SvdResult:
        """(U, S, V) with input = U @ diag(S) @ V^H; without compute_uv, U and V are zeros."""
    def swapaxes(self, axis0: _int, axis1: _int) -> Tensor:
        """transpose() under NumPy's name."""
    def swapaxes_(self, axis0: _int, axis1: _int) -> Self:
        """transpose() under NumPy's name."""
    def swapdims(self, dim0: _int, dim1: _int) -> Tensor:
        """input with two dimensions exchanged, a view."""
    def swapdims_(self, dim0: _int, dim1: _int) -> Self:
        """input with two dimensions exchanged, a view."""
    def t(self) -> Tensor:
        """The transpose of a matrix; vectors and scalars as they are. A view."""
    def t_(self) -> Self:
        """The transpose of a matrix; vectors and scalars as they are. A view."""
    def take(self, index: Tensor) -> Tensor:
        """The elements of input that index numbers, as if it were one row; the result has index's shape."""
    def take_along_dim(self, indices: TensorOrArray, dim: _int | None = None) -> Tensor:
        """gather() whose index broadcasts against input; without dim on all elements as one row. Indices may be negative."""
    def tan(self) -> Tensor: ...
    def tan_(self) -> Self:
        """tan, written into this tensor's memory. Returns self."""
    def tanh(self) -> Tensor: ...
    def tanh_(self) -> Self:
        """tanh, written into this tensor's memory. Returns self."""
    def tensor_split(self, indices_or_sections: _int | Tensor | Sequence[_int], dim: _int = 0) -> tuple[Tensor, ...]:
        """input cut along `dim` in that many pieces, the first ones longer by one; or before each of the indices."""
    def tile(self, *args: _int | Tensor | Sequence[_int], dims: _int | Sequence[_int] | None = None) -> Tensor:
        """repeat() with ones put before dims that are fewer than input's."""
    @overload
    def to(self, device: DeviceLike, dtype: DTypeLike=None, non_blocking: _bool=False, copy: _bool=False, *, memory_format: MemoryFormat | None=...) -> Tensor:
        """This tensor in another dtype: to(dtype), to(device, dtype), to(other), each with non_blocking and copy after it."""
    @overload
    def to(self, dtype: DTypeLike, non_blocking: _bool=False, copy: _bool=False, *, memory_format: MemoryFormat | None=...) -> Tensor:
        """This tensor in another dtype: to(dtype), to(device, dtype), to(other), each with non_blocking and copy after it."""
    @overload
    def to(self, other: Tensor, non_blocking: _bool=False, copy: _bool=False, *, memory_format: MemoryFormat | None=...) -> Tensor:
        """This tensor in another dtype: to(dtype), to(device, dtype), to(other), each with non_blocking and copy after it."""
    @overload
    def to(self, *, dtype: DTypeLike=None, device: DeviceLike=None, non_blocking: _bool=False, copy: _bool=False, memory_format: MemoryFormat | None=...) -> Tensor:
        """This tensor in another dtype: to(dtype), to(device, dtype), to(other), each with non_blocking and copy after it."""
    def to_dense(self, *args: _int | Tensor | Sequence[_int]) -> Tensor:
        """The tensor itself: it is dense, and conjugates and negatives are computed at once."""
    def topk(self, k: _int, dim: _int = -1, largest: _bool = True, sorted: _bool = True, *, axis: _int | None = None) -> ValuesIndices:
        """The k largest (or smallest) along `dim`, the first of them first, and where they were."""
    @overload
    def trace(self) -> Tensor:
        """The sum of a matrix's diagonal."""
    @overload
    def trace(self, example_inputs: Any=(), *, check: _bool=True) -> Any:
        """The sum of a matrix's diagonal."""
    def transpose(self, dim0: _int, dim1: _int) -> Tensor:
        """input with two dimensions exchanged, a view."""
    def transpose_(self, dim0: _int, dim1: _int) -> Self:
        """input with two dimensions exchanged, a view."""
    def triangular_solve(self, A: Tensor, upper: _bool = True, transpose: _bool = False, unitriangular: _bool = False) -> TriangularSolve:
        """(X, A) with A @ X = input, or A^T @ X = input; the older form of linalg.solve_triangular."""
    def tril(self, diagonal: _int = 0) -> Tensor:
        """The elements on and below a diagonal of each matrix, zeros above."""
    def tril_(self, diagonal: _int = 0) -> Self:
        """tril, written into this tensor's memory. Returns self."""
    def triu(self, diagonal: _int = 0) -> Tensor:
        """The elements on and above a diagonal of each matrix, zeros below."""
    def triu_(self, diagonal: _int = 0) -> Self:
        """triu, written into this tensor's memory. Returns self."""
    def true_divide(self, other: Tensor | Number | Array | np.generic) -> Tensor: ...
    def true_divide_(self, other: Tensor | Number | Array | np.generic) -> Self:
        """true_divide, written into this tensor's memory. Returns self."""
    def trunc(self) -> Tensor: ...
    def trunc_(self) -> Self:
        """trunc, written into this tensor's memory. Returns self."""
    @overload
    def type(self) -> str:
        """PyTorch's name of the type, such as "torch.FloatTensor"; with `dtype` (a dtype or such a name) the tensor as that."""
    @overload
    def type(self, dtype: DTypeLike, non_blocking: _bool=False) -> Tensor:
        """PyTorch's name of the type, such as "torch.FloatTensor"; with `dtype` (a dtype or such a name) the tensor as that."""
    def type_as(self, other: Tensor | Number | Array | np.generic) -> Tensor: ...
    def unbind(self, dim: _int = 0, *, axis: _int | None = None) -> tuple[Tensor, ...]:
        """The slices of input along `dim`, views."""
    def unflatten(self, dim: _int, sizes: Sequence[_int]) -> Tensor:
        """One dimension cut into several of the given sizes; one may be -1."""
    def unfold(self, dimension: _int, size: _int, step: _int) -> Tensor:
        """The windows of `size` elements, one each `step`, along a dimension: they come as the last dimension. A view."""
    def uniform_(self, from_: _float = 0.0, to: _float = 1.0, *, generator: Generator | None = None, **named: _float) -> Self:
        """uniform, written into this tensor's memory. Returns self."""
    @overload
    def unique(self, sorted: _bool=True, return_inverse: Literal[False]=False, return_counts: Literal[False]=False, dim: _int | None=None) -> Tensor:
        """The distinct elements, or slices along `dim`, in order; with where each element went and how often each came."""
    @overload
    def unique(self, sorted: _bool=True, return_inverse: _bool=False, return_counts: _bool=False, dim: _int | None=None) -> tuple[Tensor, ...]:
        """The distinct elements, or slices along `dim`, in order; with where each element went and how often each came."""
    @overload
    def unique_consecutive(self, return_inverse: Literal[False]=False, return_counts: Literal[False]=False, dim: _int | None=None) -> Tensor:
        """The first of each run of equal elements, or slices along `dim`; with the run of each and the lengths of the runs."""
    @overload
    def unique_consecutive(self, return_inverse: _bool=False, return_counts: _bool=False, dim: _int | None=None) -> tuple[Tensor, ...]:
        """The first of each run of equal elements, or slices along `dim`; with the run of each and the lengths of the runs."""
    def unsafe_chunk(self, chunks: _int, dim: _int = 0) -> tuple[Tensor, ...]:
        """chunk(), whose results may be written to, as unsafe_split's."""
    def unsafe_split(self, split_size: SizeLike, dim: _int = 0) -> tuple[Tensor, ...]:
        """split(), whose results may be written to; writes reach the tensor's memory, and its graph knows nothing of them."""
    def unsafe_split_with_sizes(self, split_sizes: Sequence[_int], dim: _int = 0) -> tuple[Tensor, ...]:
        """split_with_sizes(), whose results may be written to, as unsafe_split's."""
    def unsqueeze(self, dim: _int | None = None, *, axis: _int | None = None) -> Tensor:
        """input with a dimension of size 1 put in at `dim`. A view."""
    def unsqueeze_(self, dim: _int | None = None, *, axis: _int | None = None) -> Self:
        """input with a dimension of size 1 put in at `dim`. A view."""
    def untyped_storage(self) -> Any:
        """Raises NotImplementedError: the memory of a tensor is its NumPy array, x.array."""
    def var(self, dim: Dims | _bool = None, unbiased: _bool | None = None, keepdim: _bool = False, *, correction: _float | None = None, axis: Dims | _bool | None = None, keepdims: _bool | None = None) -> Tensor:
        """The variance: squared distances from the mean, added up, over (count - correction)."""
    def vdot(self, other: Tensor) -> Tensor:
        """The sum of conj(input) * other, for two vectors."""
    def view(self, *args: _int | Tensor | Sequence[_int], size: _int | Tensor | Sequence[_int] | None = None, dtype: DTypeLike = None) -> Tensor:
        """reshape() that never copies: RuntimeError where the memory layout does not allow it. view(dtype): the same bytes read as another dtype, without a gradient."""
    def view_as(self, other: Tensor) -> Tensor:
        """input seen in the shape of `other`."""
    def vsplit(self, indices_or_sections: SizeLike) -> tuple[Tensor, ...]:
        """tensor_split() along the first dimension, in equal parts."""
    @overload
    def where(self, input: Tensor | Number | Array | np.generic, other: Tensor | Number | Array | np.generic, *, out: Tensor | None=None) -> Tensor:
        """This tensor where condition holds, other elsewhere."""
    @overload
    def where(self) -> tuple[Tensor, ...]:
        """This tensor where condition holds, other elsewhere."""
    def xlogy(self, other: Tensor | Number | Array | np.generic) -> Tensor: ...
    def xlogy_(self, other: Tensor | Number | Array | np.generic) -> Self:
        """xlogy, written into this tensor's memory. Returns self."""
    def zero_(self) -> Self:
        """Write zeros. Returns self."""
