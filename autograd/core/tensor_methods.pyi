"""Written by tests/autograd/make_stubs.py from what is bound at run time: do not edit."""

import numpy as np
from ..base.devices import device as _device
from ..base.dtypes import TensorDType
from ..base.size import Size
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
from ..ops.linalg.qr import LinalgQr
from ..ops.linalg.solve import TriangularSolve
from ..ops.linalg.svd import SvdResult
from ..ops.pointwise.powers import MantissaExponent
from ..ops.reductions.extremes import MinMax
from ..ops.reductions.take_along import ValuesIndices
from ..ops.statistics.histograms import Histogram
from ..tensor_api.storage import TypedStorage
from ..tensor_api.storage import UntypedStorage
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
        """The property x.T: the transpose of a matrix; other numbers of dimensions are reversed, with a"""
    def __abs__(self) -> Tensor: ...
    def __add__(self, other: Tensor | Number | Array | np.generic) -> Tensor: ...
    def __and__(self, other: Tensor | Number | Array | np.generic) -> Tensor: ...
    def __array_function__(self, function: Callable[..., Any], types: Iterable[_type], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """A public function of NumPy that is no ufunc."""
    def __complex__(self) -> complex: ...
    def __copy__(self) -> Tensor:
        """copy.copy(): a leaf on the same memory, of its class."""
    def __delitem__(self, other: Tensor | Number | Array | np.generic) -> Tensor: ...
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
    def __init__(self, *data: Tensor | Number | Array | np.generic | Sequence[Any], device: DeviceLike=None) -> None:
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
    def __setitem__(self, index: _int | slice | EllipsisType | Tensor | Array | list[Any] | range | tuple[Any, ...] | None, value: Tensor | Number | Array | np.generic | list[Any] | tuple[Any, ...]) -> None:
        """x[index] = value, recorded if value or x is tracked."""
    def __sub__(self, other: Tensor | Number | Array | np.generic) -> Tensor: ...
    def __truediv__(self, other: Tensor | Number | Array | np.generic) -> Tensor: ...
    def __xor__(self, other: Tensor | Number | Array | np.generic) -> Tensor: ...
    @property
    def _base(self) -> Tensor | None: ...
    def _is_view(self) -> _bool: ...
    def _repr_html_(self) -> str:
        """What a notebook shows: type, shape and dtype, and below the text that print() shows, which leaves out many values."""
    def _typed_storage(self) -> TypedStorage:
        """The elements of the memory that this tensor is a view of."""
    def abs(self) -> Tensor:
        """The absolute value; of a complex number its modulus."""
    def abs_(self) -> Self:
        """In place: the absolute value; of a complex number its modulus."""
    def absolute(self) -> Tensor:
        """The absolute value; of a complex number its modulus."""
    def absolute_(self) -> Self:
        """In place: the absolute value; of a complex number its modulus."""
    def acos(self) -> Tensor:
        """The arc cosine, in radians."""
    def acos_(self) -> Self:
        """In place: the arc cosine, in radians."""
    def acosh(self) -> Tensor:
        """The inverse hyperbolic cosine."""
    def acosh_(self) -> Self:
        """In place: the inverse hyperbolic cosine."""
    def add(self, other: TensorOrArray | Number, alpha: Number = 1, *, out: Tensor | None = None) -> Tensor:
        """input + alpha * other."""
    def add_(self, other: TensorOrArray | Number, alpha: Number = 1) -> Self:
        """In place: input + alpha * other."""
    def addbmm(self, batch1: Tensor, batch2: Tensor, *, beta: Number = 1, alpha: Number = 1) -> Tensor:
        """beta * input + alpha * the sum of all batch1[i] @ batch2[i]."""
    def addbmm_(self, batch1: Tensor, batch2: Tensor, *, beta: Number = 1, alpha: Number = 1) -> Self:
        """In place: beta * input + alpha * the sum of all batch1[i] @ batch2[i]."""
    def addcdiv(self, tensor1: Tensor, tensor2: Tensor, *, value: Number = 1) -> Tensor:
        """input + value * tensor1 / tensor2, for floating tensors."""
    def addcdiv_(self, tensor1: Tensor, tensor2: Tensor, *, value: Number = 1) -> Self:
        """In place: input + value * tensor1 / tensor2, for floating tensors."""
    def addcmul(self, tensor1: Tensor, tensor2: Tensor, *, value: _float = 1) -> Tensor:
        """input + value * tensor1 * tensor2."""
    def addcmul_(self, tensor1: Tensor, tensor2: Tensor, *, value: _float = 1) -> Self:
        """In place: input + value * tensor1 * tensor2."""
    def addmm(self, mat1: Tensor, mat2: Tensor, *, beta: Number = 1, alpha: Number = 1) -> Tensor:
        """beta * input + alpha * (mat1 @ mat2)."""
    def addmm_(self, mat1: Tensor, mat2: Tensor, *, beta: Number = 1, alpha: Number = 1) -> Self:
        """In place: beta * input + alpha * (mat1 @ mat2)."""
    def addmv(self, mat: Tensor, vec: Tensor, *, beta: Number = 1, alpha: Number = 1) -> Tensor:
        """beta * input + alpha * (mat @ vec)."""
    def addmv_(self, mat: Tensor, vec: Tensor, *, beta: Number = 1, alpha: Number = 1) -> Self:
        """In place: beta * input + alpha * (mat @ vec)."""
    def addr(self, vec1: Tensor, vec2: Tensor, *, beta: Number = 1, alpha: Number = 1) -> Tensor:
        """beta * input + alpha * outer(vec1, vec2)."""
    def addr_(self, vec1: Tensor, vec2: Tensor, *, beta: Number = 1, alpha: Number = 1) -> Self:
        """In place: beta * input + alpha * outer(vec1, vec2)."""
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
    def arccos(self) -> Tensor:
        """The arc cosine, in radians."""
    def arccos_(self) -> Self:
        """In place: the arc cosine, in radians."""
    def arccosh(self) -> Tensor:
        """The inverse hyperbolic cosine."""
    def arccosh_(self) -> Self:
        """In place: the inverse hyperbolic cosine."""
    def arcsin(self) -> Tensor:
        """The arc sine, in radians."""
    def arcsin_(self) -> Self:
        """In place: the arc sine, in radians."""
    def arcsinh(self) -> Tensor:
        """The inverse hyperbolic sine."""
    def arcsinh_(self) -> Self:
        """In place: the inverse hyperbolic sine."""
    def arctan(self) -> Tensor:
        """The arc tangent, in radians."""
    def arctan2(self, other: Tensor | Number | Array | np.generic) -> Tensor:
        """The angle of the point (other, input), in radians, from -pi to pi."""
    def arctan2_(self, other: Tensor | Number | Array | np.generic) -> Self:
        """In place: the angle of the point (other, input), in radians, from -pi to pi."""
    def arctan_(self) -> Self:
        """In place: the arc tangent, in radians."""
    def arctanh(self) -> Tensor:
        """The inverse hyperbolic tangent."""
    def arctanh_(self) -> Self:
        """In place: the inverse hyperbolic tangent."""
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
    def asin(self) -> Tensor:
        """The arc sine, in radians."""
    def asin_(self) -> Self:
        """In place: the arc sine, in radians."""
    def asinh(self) -> Tensor:
        """The inverse hyperbolic sine."""
    def asinh_(self) -> Self:
        """In place: the inverse hyperbolic sine."""
    def atan(self) -> Tensor:
        """The arc tangent, in radians."""
    def atan2(self, other: Tensor | Number | Array | np.generic) -> Tensor:
        """The angle of the point (other, input), in radians, from -pi to pi."""
    def atan2_(self, other: Tensor | Number | Array | np.generic) -> Self:
        """In place: the angle of the point (other, input), in radians, from -pi to pi."""
    def atan_(self) -> Self:
        """In place: the arc tangent, in radians."""
    def atanh(self) -> Tensor:
        """The inverse hyperbolic tangent."""
    def atanh_(self) -> Self:
        """In place: the inverse hyperbolic tangent."""
    def backward(self, gradient: Tensor | None = None, retain_graph: _bool | None = None, create_graph: _bool = False, inputs: Tensor | Sequence[Tensor] | None = None) -> None:
        """Add d(self)/d(leaf) to .grad of every leaf behind this tensor; see autograd.backward."""
    def baddbmm(self, batch1: Tensor, batch2: Tensor, *, beta: Number = 1, alpha: Number = 1) -> Tensor:
        """beta * input[i] + alpha * (batch1[i] @ batch2[i])."""
    def baddbmm_(self, batch1: Tensor, batch2: Tensor, *, beta: Number = 1, alpha: Number = 1) -> Self:
        """In place: beta * input[i] + alpha * (batch1[i] @ batch2[i])."""
    def bernoulli(self, p: Tensor | _float | None = None, *, generator: Generator | None = None) -> Tensor:
        """1 with the probabilities in input, else 0; with `p` that is the probability everywhere, and input gives the shape."""
    def bernoulli_(self, p: TensorOrNumber = 0.5, *, generator: Generator | None = None) -> Self:
        """In place: 1 with the probabilities in input, else 0; with `p` that is the probability everywhere, and input gives the shape."""
    def bfloat16(self, memory_format: MemoryFormat | None = ...) -> Tensor:
        """This tensor as bfloat16."""
    def bincount(self, weights: Tensor | None = None, minlength: _int = 0) -> Tensor:
        """How often 0, 1, 2, ... occur in a vector, or the sums of their weights; at least `minlength` of them."""
    def bitwise_and(self, other: Tensor | Number | Array | np.generic) -> Tensor:
        """input & other, of integers or bools."""
    def bitwise_and_(self, other: Tensor | Number | Array | np.generic) -> Self:
        """In place: input & other, of integers or bools."""
    def bitwise_left_shift(self, other: Tensor | Number | Array | np.generic) -> Tensor:
        """input << other."""
    def bitwise_left_shift_(self, other: Tensor | Number | Array | np.generic) -> Self:
        """In place: input << other."""
    def bitwise_not(self) -> Tensor:
        """~input, of integers or bools."""
    def bitwise_not_(self) -> Self:
        """In place: ~input, of integers or bools."""
    def bitwise_or(self, other: Tensor | Number | Array | np.generic) -> Tensor:
        """input | other, of integers or bools."""
    def bitwise_or_(self, other: Tensor | Number | Array | np.generic) -> Self:
        """In place: input | other, of integers or bools."""
    def bitwise_right_shift(self, other: Tensor | Number | Array | np.generic) -> Tensor:
        """input >> other."""
    def bitwise_right_shift_(self, other: Tensor | Number | Array | np.generic) -> Self:
        """In place: input >> other."""
    def bitwise_xor(self, other: Tensor | Number | Array | np.generic) -> Tensor:
        """input ^ other, of integers or bools."""
    def bitwise_xor_(self, other: Tensor | Number | Array | np.generic) -> Self:
        """In place: input ^ other, of integers or bools."""
    def bmm(self, mat2: Tensor) -> Tensor:
        """The products of two stacks of matrices, (b, n, k) and (b, k, m)."""
    def bool(self, memory_format: MemoryFormat | None = ...) -> Tensor:
        """This tensor as bool."""
    def broadcast_to(self, size: Sequence[_int]) -> Tensor:
        """input repeated to `size`, a view."""
    def byte(self, memory_format: MemoryFormat | None = ...) -> Tensor:
        """This tensor as uint8."""
    def cauchy_(self, median: _float = 0.0, sigma: _float = 1.0, *, generator: Generator | None = None) -> Self:
        """Draws from the Cauchy distribution, written into this tensor's memory; returns self."""
    def cdouble(self, memory_format: MemoryFormat | None = ...) -> Tensor:
        """This tensor as complex128."""
    def ceil(self) -> Tensor:
        """The smallest integer that is not below input."""
    def ceil_(self) -> Self:
        """In place: the smallest integer that is not below input."""
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
        """In place: input limited to [min, max]: numbers, or tensors that broadcast; one may be left out."""
    def clamp_max(self, max: TensorOrNumber) -> Tensor:
        """input, but at most max."""
    def clamp_max_(self, max: TensorOrNumber) -> Self:
        """In place: input, but at most max."""
    def clamp_min(self, min: TensorOrNumber) -> Tensor:
        """input, but at least min."""
    def clamp_min_(self, min: TensorOrNumber) -> Self:
        """In place: input, but at least min."""
    def clip(self, min: Tensor | Number | Array | np.generic | None = None, max: Tensor | Number | Array | np.generic | None = None) -> Tensor:
        """input limited to [min, max]: numbers, or tensors that broadcast; one may be left out."""
    def clip_(self, min: Tensor | Number | Array | np.generic | None = None, max: Tensor | Number | Array | np.generic | None = None) -> Self:
        """In place: input limited to [min, max]: numbers, or tensors that broadcast; one may be left out."""
    def clone(self, *, memory_format: MemoryFormat | None = None) -> Tensor:
        """A copy of input that gradients flow through."""
    def conj(self) -> Tensor:
        """a - ib for a + ib; a real tensor as it is. Computed at once: there is no lazy conjugate bit here."""
    def conj_physical(self) -> Tensor:
        """conj(input), as new memory."""
    def conj_physical_(self) -> Self:
        """In place: conj(input), as new memory."""
    def contiguous(self, memory_format: MemoryFormat | None = ...) -> Tensor:
        """input itself if its memory is in the order asked for, else a copy."""
    def copy_(self, src: Tensor | Number | Array | np.generic | Sequence[Any], non_blocking: _bool = False) -> Self:
        """Write `src` (broadcast, cast) into this tensor's memory. Returns self."""
    def copysign(self, other: Tensor | Number | Array | np.generic) -> Tensor:
        """The magnitude of input with the sign of other."""
    def copysign_(self, other: Tensor | Number | Array | np.generic) -> Self:
        """In place: the magnitude of input with the sign of other."""
    def corrcoef(self) -> Tensor:
        """The covariance of each pair of rows over the product of their standard deviations."""
    def cos(self) -> Tensor:
        """The cosine of an angle in radians."""
    def cos_(self) -> Self:
        """In place: the cosine of an angle in radians."""
    def cosh(self) -> Tensor:
        """The hyperbolic cosine."""
    def cosh_(self) -> Self:
        """In place: the hyperbolic cosine."""
    def count_nonzero(self, dim: Dims = None, *, axis: Dims | None = None) -> Tensor:
        """How many elements, of all or over `dim`, are not 0."""
    def cov(self, *, correction: _int = 1, fweights: Tensor | None = None, aweights: Tensor | None = None) -> Tensor:
        """The covariance of each pair of rows: products of distances from the means, averaged over columns."""
    def cpu(self) -> Tensor:
        """This tensor itself, which is in the CPU's memory already."""
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
        """In place: the products of the first 1, 2, ... elements along `dim`; integers and booleans multiply in int64."""
    @overload
    def cumsum(self, dim: _int, *, dtype: DTypeLike = None) -> Tensor:
        """The sums of the first 1, 2, ... elements along `dim`; integers and booleans add up in int64."""
    @overload
    def cumsum(self, *, axis: _int, dtype: DTypeLike = None) -> Tensor:
        """The sums of the first 1, 2, ... elements along `dim`; integers and booleans add up in int64."""
    def cumsum_(self, dim: _int, *, dtype: DTypeLike = None) -> Self:
        """In place: the sums of the first 1, 2, ... elements along `dim`; integers and booleans add up in int64."""
    def data_ptr(self) -> _int:
        """The address of the first element; 0 for a tensor without elements."""
    def deg2rad(self) -> Tensor:
        """Degrees to radians."""
    def deg2rad_(self) -> Self:
        """In place: degrees to radians."""
    def dense_dim(self) -> _int:
        """The number of dimensions: all are dense."""
    def det(self) -> Tensor:
        """The determinant of each square matrix."""
    def detach_(self) -> Self:
        """In place: the same memory as a leaf that needs no gradient; writes to either are seen by both."""
    @property
    def device(self) -> _device:
        """The device, which is the CPU."""
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
    def digamma(self) -> Tensor:
        """The derivative of lgamma."""
    def digamma_(self) -> Self:
        """In place: the derivative of lgamma."""
    def dim_order(self) -> tuple[_int, ...]:
        """The dimensions from the one with the largest step in memory to the one with the smallest."""
    def dist(self, other: Tensor, p: _float = 2) -> Tensor:
        """The p-norm of input - other, which broadcast."""
    def div(self, other: TensorOrArray | Number, *, rounding_mode: str | None = None) -> Tensor:
        """input / other, as it is or rounded to an integer: "trunc" towards 0, "floor" down."""
    def div_(self, other: TensorOrArray | Number, *, rounding_mode: str | None = None) -> Self:
        """In place: input / other, as it is or rounded to an integer: "trunc" towards 0, "floor" down."""
    def divide(self, other: TensorOrArray | Number, *, rounding_mode: str | None = None) -> Tensor:
        """input / other, as it is or rounded to an integer: "trunc" towards 0, "floor" down."""
    def divide_(self, other: TensorOrArray | Number, *, rounding_mode: str | None = None) -> Self:
        """In place: input / other, as it is or rounded to an integer: "trunc" towards 0, "floor" down."""
    def dot(self, tensor: Tensor) -> Tensor:
        """The sum of input * tensor, for two vectors."""
    def double(self, memory_format: MemoryFormat | None = ...) -> Tensor:
        """This tensor as float64."""
    def dsplit(self, indices_or_sections: SizeLike) -> tuple[Tensor, ...]:
        """tensor_split() along the third dimension, in equal parts."""
    def element_size(self) -> _int:
        """Bytes of one element."""
    def eq(self, other: Tensor | Number | Array | np.generic) -> Tensor:
        """input == other."""
    def eq_(self, other: Tensor | Number | Array | np.generic) -> Self:
        """In place: input == other."""
    def equal(self, other: Tensor) -> _bool:
        """Whether the two have the same shape and elements."""
    def erf(self) -> Tensor:
        """The error function, 2 / sqrt(pi) times the integral of exp(-t^2) from 0 to x."""
    def erf_(self) -> Self:
        """In place: the error function, 2 / sqrt(pi) times the integral of exp(-t^2) from 0 to x."""
    def erfc(self) -> Tensor:
        """1 - erf(x), accurate where that is near 0."""
    def erfc_(self) -> Self:
        """In place: 1 - erf(x), accurate where that is near 0."""
    def erfinv(self) -> Tensor:
        """The inverse of erf."""
    def erfinv_(self) -> Self:
        """In place: the inverse of erf."""
    def exp(self) -> Tensor:
        """e to the power of input."""
    def exp2(self) -> Tensor:
        """2 to the power of input."""
    def exp2_(self) -> Self:
        """In place: 2 to the power of input."""
    def exp_(self) -> Self:
        """In place: e to the power of input."""
    def expand(self, size: _int | Tensor | Sequence[_int], *more: _int | Tensor | Sequence[_int], implicit: _bool = False) -> Tensor:
        """input repeated along dimensions of size 1 to `size` (-1: as it is), a view."""
    def expand_as(self, other: Tensor) -> Tensor:
        """input repeated to the shape of `other`."""
    def expm1(self) -> Tensor:
        """exp(input) - 1, accurate near 0."""
    def expm1_(self) -> Self:
        """In place: exp(input) - 1, accurate near 0."""
    def exponential_(self, lambd: _float = 1.0, *, generator: Generator | None = None) -> Self:
        """Draws from the exponential distribution, written into this tensor's memory; returns self."""
    def fill_(self, value: TensorOrNumber | None) -> Self:
        """Write one number everywhere. Returns self."""
    def fill_diagonal_(self, fill_value: _float, wrap: _bool = False) -> Self:
        """Write one number to the main diagonal: to the elements whose indices are all equal. Returns self."""
    def fix(self) -> Tensor:
        """Rounded towards 0."""
    def fix_(self) -> Self:
        """In place: rounded towards 0."""
    def flatten(self, start_dim: _int = 0, end_dim: _int = -1) -> Tensor:
        """Dimensions start_dim to end_dim as one."""
    def flip(self, dims: _int | Tensor | Sequence[_int], *more: _int | Tensor | Sequence[_int]) -> Tensor:
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
        """In place: input ** exponent in double precision, whatever their dtypes."""
    def floor(self) -> Tensor:
        """The largest integer that is not above input."""
    def floor_(self) -> Self:
        """In place: the largest integer that is not above input."""
    def floor_divide(self, other: Tensor | Number | Array | np.generic, *, out: Tensor | None = None) -> Tensor:
        """input / other, rounded down."""
    def floor_divide_(self, other: Tensor | Number | Array | np.generic) -> Self:
        """In place: input / other, rounded down."""
    def fmax(self, other: Tensor | Number | Array | np.generic) -> Tensor:
        """The larger of two; where one is nan, the other."""
    def fmin(self, other: Tensor | Number | Array | np.generic) -> Tensor:
        """The smaller of two; where one is nan, the other."""
    def fmod(self, other: Tensor | Number | Array | np.generic) -> Tensor:
        """The remainder of input / other, with the sign of input."""
    def fmod_(self, other: Tensor | Number | Array | np.generic) -> Self:
        """In place: the remainder of input / other, with the sign of input."""
    def frac(self) -> Tensor:
        """input - trunc(input)."""
    def frac_(self) -> Self:
        """In place: input - trunc(input)."""
    def frexp(self) -> MantissaExponent:
        """(mantissa, exponent) with input = mantissa * 2**exponent and 0.5 <= |mantissa| < 1."""
    def gather(self, dim: _int, index: Tensor, *, sparse_grad: _bool = False) -> Tensor:
        """out[i, j] = input[index[i, j], j] for dim 0, and so on; index has the shape of the result."""
    def gcd(self, other: Tensor | Number | Array | np.generic) -> Tensor:
        """The greatest common divisor."""
    def gcd_(self, other: Tensor | Number | Array | np.generic) -> Self:
        """In place: the greatest common divisor."""
    def ge(self, other: Tensor | Number | Array | np.generic) -> Tensor:
        """input >= other."""
    def ge_(self, other: Tensor | Number | Array | np.generic) -> Self:
        """In place: input >= other."""
    def geometric_(self, p: _float, *, generator: Generator | None = None) -> Self:
        """Numbers of trials up to the first success, written into this tensor's memory; returns self."""
    def geqrf(self) -> Geqrf:
        """(a, tau): R in the upper triangle of a, the Householder vectors below it, and their factors. Without gradient."""
    def ger(self, vec2: Tensor) -> Tensor:
        """All products of elements of two vectors, as a matrix."""
    def get_device(self) -> _int:
        """-1: the CPU."""
    def greater(self, other: Tensor | Number | Array | np.generic) -> Tensor:
        """input > other."""
    def greater_(self, other: Tensor | Number | Array | np.generic) -> Self:
        """In place: input > other."""
    def greater_equal(self, other: Tensor | Number | Array | np.generic) -> Tensor:
        """input >= other."""
    def greater_equal_(self, other: Tensor | Number | Array | np.generic) -> Self:
        """In place: input >= other."""
    def gt(self, other: Tensor | Number | Array | np.generic) -> Tensor:
        """input > other."""
    def gt_(self, other: Tensor | Number | Array | np.generic) -> Self:
        """In place: input > other."""
    def half(self, memory_format: MemoryFormat | None = ...) -> Tensor:
        """This tensor as float16."""
    def hardshrink(self, lambd: _float = 0.5) -> Tensor:
        """input where beyond [-lambd, lambd], 0 within."""
    def heaviside(self, values: Tensor) -> Tensor:
        """0 where input is negative, 1 where it is positive, `values` where it is 0."""
    def heaviside_(self, values: Tensor) -> Self:
        """In place: 0 where input is negative, 1 where it is positive, `values` where it is 0."""
    def histc(self, bins: _int = 100, min: _float = 0, max: _float = 0) -> Tensor:
        """How many elements fall in each of `bins` equal bins from min to max, by default those of the elements."""
    def histogram(self, bins: TensorOrNumber = 100, *, range: Sequence[_float] | None = None, weight: Tensor | None = None, density: _bool = False) -> Histogram:
        """(hist, bin_edges): the elements counted into `bins` equal bins over `range`, or between the edges `bins`."""
    def hsplit(self, indices_or_sections: SizeLike) -> tuple[Tensor, ...]:
        """tensor_split() along the second dimension (of vectors the first), in equal parts."""
    def hypot(self, other: Tensor | Number | Array | np.generic) -> Tensor:
        """sqrt(input^2 + other^2), without overflow."""
    def hypot_(self, other: Tensor | Number | Array | np.generic) -> Self:
        """In place: sqrt(input^2 + other^2), without overflow."""
    def i0(self) -> Tensor:
        """The modified Bessel function of the first kind, of order 0."""
    def i0_(self) -> Self:
        """In place: the modified Bessel function of the first kind, of order 0."""
    def igamma(self, other: Tensor | Number | Array | np.generic) -> Tensor:
        """The regularised lower incomplete gamma function P(input, other)."""
    def igamma_(self, other: Tensor | Number | Array | np.generic) -> Self:
        """In place: the regularised lower incomplete gamma function P(input, other)."""
    def igammac(self, other: Tensor | Number | Array | np.generic) -> Tensor:
        """The regularised upper incomplete gamma function, 1 - igamma(input, other)."""
    def igammac_(self, other: Tensor | Number | Array | np.generic) -> Self:
        """In place: the regularised upper incomplete gamma function, 1 - igamma(input, other)."""
    @property
    def imag(self) -> Tensor:
        """The imaginary part, a view. RuntimeError for a real tensor."""
    @imag.setter
    def imag(self, value: Tensor | Number | Array | np.generic) -> None: ...
    def index_add(self, dim: _int, index: Tensor, source: Tensor, *, alpha: Number = 1) -> Tensor:
        """input with alpha * source[i] added to its slice index[i] along `dim`."""
    def index_add_(self, dim: _int, index: Tensor, source: Tensor, *, alpha: Number = 1) -> Self:
        """In place: input with alpha * source[i] added to its slice index[i] along `dim`."""
    def index_copy(self, dim: _int, index: Tensor, source: Tensor) -> Tensor:
        """input with its slice index[i] along `dim` replaced by source[i]."""
    def index_copy_(self, dim: _int, index: Tensor, source: Tensor) -> Self:
        """In place: input with its slice index[i] along `dim` replaced by source[i]."""
    def index_fill(self, dim: _int, index: Tensor, value: Tensor | Number) -> Tensor:
        """input with its slices `index` along `dim` filled with one number."""
    def index_fill_(self, dim: _int, index: Tensor, value: Tensor | Number) -> Self:
        """In place: input with its slices `index` along `dim` filled with one number."""
    def index_put(self, indices: Sequence[Tensor], values: TensorOrNumber | None, accumulate: _bool = False) -> Tensor:
        """input with input[indices] replaced by values, or with values added there if `accumulate`."""
    def index_put_(self, indices: Sequence[Tensor], values: TensorOrNumber | None, accumulate: _bool = False) -> Self:
        """In place: input with input[indices] replaced by values, or with values added there if `accumulate`."""
    def index_reduce(self, dim: _int, index: Tensor, source: Tensor, reduce: str, *, include_self: _bool = True) -> Tensor:
        """input with its slice index[i] along `dim` reduced ("prod", "mean", "amax", "amin") with source[i]."""
    def index_reduce_(self, dim: _int, index: Tensor, source: Tensor, reduce: str, *, include_self: _bool = True) -> Self:
        """In place: input with its slice index[i] along `dim` reduced ("prod", "mean", "amax", "amin") with source[i]."""
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
    def is_cpu(self) -> _bool:
        """True: tensors live in the CPU's memory."""
    @property
    def is_cuda(self) -> _bool:
        """False: no tensor lives in the memory of a CUDA device."""
    def is_floating_point(self) -> _bool:
        """Whether the dtype is float16, bfloat16, float32 or float64."""
    def is_inference(self) -> _bool:
        """Whether the tensor was made in inference mode (or is a view of one that was)."""
    @property
    def is_ipu(self) -> _bool:
        """False: no tensor lives in the memory of an IPU."""
    @property
    def is_maia(self) -> _bool:
        """False: no tensor lives in the memory of a MAIA device."""
    @property
    def is_meta(self) -> _bool:
        """False: every tensor has memory."""
    @property
    def is_mkldnn(self) -> _bool:
        """False: no tensor is in oneDNN's own layout."""
    @property
    def is_mps(self) -> _bool:
        """False: no tensor lives in the memory of an MPS device."""
    @property
    def is_mtia(self) -> _bool:
        """False: no tensor lives in the memory of an MTIA device."""
    def is_neg(self) -> _bool:
        """False: negative parts of conjugates are computed at once."""
    @property
    def is_nested(self) -> _bool:
        """False: there are no nested tensors."""
    def is_nonzero(self) -> _bool:
        """Whether the one element is not 0."""
    def is_pinned(self) -> _bool:
        """False: no accelerator, no pinned memory."""
    @property
    def is_quantized(self) -> _bool:
        """False: there are no quantized tensors."""
    def is_same_size(self, other: Tensor) -> _bool:
        """Whether the shapes are equal."""
    def is_set_to(self, tensor: Tensor) -> _bool:
        """Whether both are the same elements of the same memory."""
    def is_shared(self) -> _bool:
        """False: no other process sees this memory."""
    def is_signed(self) -> _bool:
        """Whether the dtype has negative numbers."""
    @property
    def is_sparse(self) -> _bool:
        """False: every tensor is dense."""
    @property
    def is_sparse_csr(self) -> _bool:
        """False: every tensor is dense."""
    @property
    def is_vulkan(self) -> _bool:
        """False: no tensor lives in the memory of a Vulkan device."""
    @property
    def is_xla(self) -> _bool:
        """False: no tensor lives in the memory of an XLA device."""
    @property
    def is_xpu(self) -> _bool:
        """False: no tensor lives in the memory of an XPU device."""
    def isclose(self, other: Tensor, rtol: _float = 1e-05, atol: _float = 1e-08, equal_nan: _bool = False) -> Tensor:
        """Whether |input - other| <= atol + rtol * |other|, or the two are equal; nan equals nan if `equal_nan`."""
    def isfinite(self) -> Tensor:
        """Whether each element is neither infinite nor nan."""
    def isinf(self) -> Tensor:
        """Whether each element is infinite."""
    def isnan(self) -> Tensor:
        """Whether each element is nan."""
    def isneginf(self) -> Tensor:
        """Whether each element is -inf."""
    def isposinf(self) -> Tensor:
        """Whether each element is +inf."""
    def isreal(self) -> Tensor:
        """Whether the imaginary part of each element is 0."""
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
    def layout(self) -> Layout:
        """How elements are stored: strided."""
    def lcm(self, other: Tensor | Number | Array | np.generic) -> Tensor:
        """The least common multiple."""
    def lcm_(self, other: Tensor | Number | Array | np.generic) -> Self:
        """In place: the least common multiple."""
    def ldexp(self, other: TensorOrNumber) -> Tensor:
        """input * 2**other; other may be fractional."""
    def ldexp_(self, other: TensorOrNumber) -> Self:
        """In place: input * 2**other; other may be fractional."""
    def le(self, other: Tensor | Number | Array | np.generic) -> Tensor:
        """input <= other."""
    def le_(self, other: Tensor | Number | Array | np.generic) -> Self:
        """In place: input <= other."""
    def lerp(self, end: Tensor, weight: TensorOrNumber) -> Tensor:
        """input + weight * (end - input); weight is a number or a tensor."""
    def lerp_(self, end: Tensor, weight: TensorOrNumber) -> Self:
        """In place: input + weight * (end - input); weight is a number or a tensor."""
    def less(self, other: Tensor | Number | Array | np.generic) -> Tensor:
        """input < other."""
    def less_(self, other: Tensor | Number | Array | np.generic) -> Self:
        """In place: input < other."""
    def less_equal(self, other: Tensor | Number | Array | np.generic) -> Tensor:
        """input <= other."""
    def less_equal_(self, other: Tensor | Number | Array | np.generic) -> Self:
        """In place: input <= other."""
    def lgamma(self) -> Tensor:
        """The logarithm of the absolute value of the gamma function."""
    def lgamma_(self) -> Self:
        """In place: the logarithm of the absolute value of the gamma function."""
    def log(self) -> Tensor:
        """The natural logarithm."""
    def log10(self) -> Tensor:
        """The logarithm to the base 10."""
    def log10_(self) -> Self:
        """In place: the logarithm to the base 10."""
    def log1p(self) -> Tensor:
        """log(1 + input), accurate near 0."""
    def log1p_(self) -> Self:
        """In place: log(1 + input), accurate near 0."""
    def log2(self) -> Tensor:
        """The logarithm to the base 2."""
    def log2_(self) -> Self:
        """In place: the logarithm to the base 2."""
    def log_(self) -> Self:
        """In place: the natural logarithm."""
    def log_normal_(self, mean: _float = 1.0, std: _float = 2.0, *, generator: Generator | None = None) -> Self:
        """Draws whose logarithms are normal, written into this tensor's memory; returns self."""
    @overload
    def log_softmax(self, dim: _int, dtype: DTypeLike = None) -> Tensor:
        """log(softmax(input, dim)), computed without losing small ones."""
    @overload
    def log_softmax(self, *, axis: _int, dtype: DTypeLike = None) -> Tensor:
        """log(softmax(input, dim)), computed without losing small ones."""
    def logaddexp(self, other: Tensor | Number | Array | np.generic) -> Tensor:
        """log(exp(input) + exp(other)), without overflow."""
    def logaddexp2(self, other: Tensor | Number | Array | np.generic) -> Tensor:
        """log2(2^input + 2^other), without overflow."""
    @overload
    def logcumsumexp(self, dim: _int) -> Tensor:
        """log of the running sum of exp(input) along `dim`, without overflow."""
    @overload
    def logcumsumexp(self, *, axis: _int) -> Tensor:
        """log of the running sum of exp(input) along `dim`, without overflow."""
    def logdet(self) -> Tensor:
        """The logarithm of the determinant of each square matrix: nan where it is negative."""
    def logical_and(self, other: Tensor | Number | Array | np.generic) -> Tensor:
        """Whether both are true (not 0)."""
    def logical_and_(self, other: Tensor | Number | Array | np.generic) -> Self:
        """In place: whether both are true (not 0)."""
    def logical_not(self) -> Tensor:
        """Whether false (0)."""
    def logical_not_(self) -> Self:
        """In place: whether false (0)."""
    def logical_or(self, other: Tensor | Number | Array | np.generic) -> Tensor:
        """Whether one is true (not 0)."""
    def logical_or_(self, other: Tensor | Number | Array | np.generic) -> Self:
        """In place: whether one is true (not 0)."""
    def logical_xor(self, other: Tensor | Number | Array | np.generic) -> Tensor:
        """Whether exactly one is true (not 0)."""
    def logical_xor_(self, other: Tensor | Number | Array | np.generic) -> Self:
        """In place: whether exactly one is true (not 0)."""
    def logit(self, eps: _float | None = None) -> Tensor:
        """log(x / (1 - x)), the inverse of sigmoid; with eps, x is first clamped to [eps, 1 - eps]."""
    def logit_(self, eps: _float | None = None) -> Self:
        """In place: log(x / (1 - x)), the inverse of sigmoid; with eps, x is first clamped to [eps, 1 - eps]."""
    @overload
    def logsumexp(self, dim: Dims, keepdim: _bool = False, *, keepdims: _bool | None = None) -> Tensor:
        """log of the sum of exp(input) over `dim`, without overflow."""
    @overload
    def logsumexp(self, *, axis: Dims, keepdim: _bool = False, keepdims: _bool | None = None) -> Tensor:
        """log of the sum of exp(input) over `dim`, without overflow."""
    def long(self, memory_format: MemoryFormat | None = ...) -> Tensor:
        """This tensor as int64."""
    def lt(self, other: Tensor | Number | Array | np.generic) -> Tensor:
        """input < other."""
    def lt_(self, other: Tensor | Number | Array | np.generic) -> Self:
        """In place: input < other."""
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
        """In place: input, but `value` (a number or a 0-d Tensor) where the mask holds."""
    def masked_scatter(self, mask: Tensor, source: Tensor) -> Tensor:
        """input, but the elements of source, one after the other, where the mask holds."""
    def masked_scatter_(self, mask: Tensor, source: Tensor) -> Self:
        """In place: input, but the elements of source, one after the other, where the mask holds."""
    def masked_select(self, mask: Tensor) -> Tensor:
        """The elements of input where the mask holds, in one dimension; the two broadcast."""
    def matmul(self, other: TensorOrArray) -> Tensor:
        """The matrix product as Python's @: vectors are rows on the left, columns on the right; leading sizes broadcast."""
    def matrix_exp(self) -> Tensor:
        """The exponential of each square matrix."""
    def matrix_power(self, n: _int) -> Tensor:
        """Each square matrix multiplied n times with itself; the inverse's power for negative n."""
    @overload
    def max(self) -> Tensor:
        """The largest of all elements; with `dim`, (values, indices) along it; with a Tensor, elementwise."""
    @overload
    def max(self, dim: _int, keepdim: _bool=False) -> ValuesIndices:
        """The largest of all elements; with `dim`, (values, indices) along it; with a Tensor, elementwise."""
    @overload
    def max(self, *, axis: _int, keepdims: _bool=False) -> ValuesIndices:
        """The largest of all elements; with `dim`, (values, indices) along it; with a Tensor, elementwise."""
    @overload
    def max(self, other: Tensor) -> Tensor:
        """The largest of all elements; with `dim`, (values, indices) along it; with a Tensor, elementwise."""
    def maximum(self, other: Tensor | Number | Array | np.generic) -> Tensor:
        """The larger of two; nan where one is nan."""
    def mean(self, dim: Dims = None, keepdim: _bool = False, *, dtype: DTypeLike = None, axis: Dims = None, keepdims: _bool = False) -> Tensor:
        """The mean of all elements, or over the dimensions `dim`; floating point only."""
    @overload
    def median(self) -> Tensor:
        """The middle element, the lower of two, of all or as (values, indices) along `dim`; nan where there is one."""
    @overload
    def median(self, dim: _int, keepdim: _bool=False) -> ValuesIndices:
        """The middle element, the lower of two, of all or as (values, indices) along `dim`; nan where there is one."""
    @overload
    def median(self, *, axis: _int, keepdims: _bool=False) -> ValuesIndices:
        """The middle element, the lower of two, of all or as (values, indices) along `dim`; nan where there is one."""
    @overload
    def min(self) -> Tensor:
        """The smallest of all elements; with `dim`, (values, indices) along it; with a Tensor, elementwise."""
    @overload
    def min(self, dim: _int, keepdim: _bool=False) -> ValuesIndices:
        """The smallest of all elements; with `dim`, (values, indices) along it; with a Tensor, elementwise."""
    @overload
    def min(self, *, axis: _int, keepdims: _bool=False) -> ValuesIndices:
        """The smallest of all elements; with `dim`, (values, indices) along it; with a Tensor, elementwise."""
    @overload
    def min(self, other: Tensor) -> Tensor:
        """The smallest of all elements; with `dim`, (values, indices) along it; with a Tensor, elementwise."""
    def minimum(self, other: Tensor | Number | Array | np.generic) -> Tensor:
        """The smaller of two; nan where one is nan."""
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
    def mul(self, other: Tensor | Number | Array | np.generic, *, out: Tensor | None = None) -> Tensor:
        """input * other."""
    def mul_(self, other: Tensor | Number | Array | np.generic) -> Self:
        """In place: input * other."""
    def multinomial(self, num_samples: _int, replacement: _bool = False, *, generator: Generator | None = None) -> Tensor:
        """num_samples indices from each row of weights; without replacement each index at most once."""
    def multiply(self, other: Tensor | Number | Array | np.generic) -> Tensor:
        """input * other."""
    def multiply_(self, other: Tensor | Number | Array | np.generic) -> Self:
        """In place: input * other."""
    def mv(self, vec: Tensor) -> Tensor:
        """The product of a matrix and a vector."""
    def mvlgamma(self, p: _int) -> Tensor:
        """log of the multivariate gamma function of dimension p: lgamma(x) + ... + lgamma(x - (p - 1) / 2) + constant."""
    def mvlgamma_(self, p: _int) -> Self:
        """In place: log of the multivariate gamma function of dimension p: lgamma(x) + ... + lgamma(x - (p - 1) / 2) + constant."""
    def nan_to_num(self, nan: _float | None = None, posinf: _float | None = None, neginf: _float | None = None) -> Tensor:
        """input with nan replaced by `nan` (0), infinities by `posinf` and `neginf` (the largest finite numbers)."""
    def nan_to_num_(self, nan: _float | None = None, posinf: _float | None = None, neginf: _float | None = None) -> Self:
        """In place: input with nan replaced by `nan` (0), infinities by `posinf` and `neginf` (the largest finite numbers)."""
    def nanmean(self, dim: Dims = None, keepdim: _bool = False, *, dtype: DTypeLike = None, axis: Dims | None = None, keepdims: _bool | None = None) -> Tensor:
        """The mean of the elements that are not nan; nan where there are none."""
    @overload
    def nanmedian(self) -> Tensor:
        """The middle element of those that are not nan, the lower of two, of all or as (values, indices) along `dim`."""
    @overload
    def nanmedian(self, dim: _int, keepdim: _bool=False) -> ValuesIndices:
        """The middle element of those that are not nan, the lower of two, of all or as (values, indices) along `dim`."""
    @overload
    def nanmedian(self, *, axis: _int, keepdims: _bool=False) -> ValuesIndices:
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
    def nbytes(self) -> _int:
        """Bytes of all elements."""
    def ndimension(self) -> _int:
        """The number of dimensions."""
    def ne(self, other: Tensor | Number | Array | np.generic) -> Tensor:
        """input != other."""
    def ne_(self, other: Tensor | Number | Array | np.generic) -> Self:
        """In place: input != other."""
    def neg(self) -> Tensor:
        """-input."""
    def neg_(self) -> Self:
        """In place: -input."""
    def negative(self) -> Tensor:
        """-input."""
    def negative_(self) -> Self:
        """In place: -input."""
    def nelement(self) -> _int:
        """The number of elements."""
    def new(self, size: _int | Tensor | Sequence[_int], *more: _int | Tensor | Sequence[_int], device: DeviceLike = None) -> Tensor:
        """x.new(2, 3), x.new(size=(2, 3)), x.new([1, 2]): what Tensor(...) makes, in this tensor's dtype."""
    def new_empty(self, size: _int | Tensor | Sequence[_int], *more: _int | Tensor | Sequence[_int], dtype: DTypeLike = None, layout: Layout | None = None, device: DeviceLike = None, pin_memory: _bool = False, requires_grad: _bool = False) -> Tensor:
        """Memory as it is found, of this tensor's dtype."""
    def new_empty_strided(self, size: Sequence[_int], stride: Sequence[_int], *, dtype: DTypeLike = None, layout: Layout | None = None, device: DeviceLike = None, pin_memory: _bool = False, requires_grad: _bool = False) -> Tensor:
        """Memory as it is found, of this tensor's dtype, in these strides."""
    def new_full(self, size: Sequence[_int], fill_value: TensorOrNumber, *, dtype: DTypeLike = None, layout: Layout | None = None, device: DeviceLike = None, pin_memory: _bool = False, requires_grad: _bool = False) -> Tensor:
        """fill_value in this tensor's dtype."""
    def new_ones(self, size: _int | Tensor | Sequence[_int], *more: _int | Tensor | Sequence[_int], dtype: DTypeLike = None, layout: Layout | None = None, device: DeviceLike = None, pin_memory: _bool = False, requires_grad: _bool = False) -> Tensor:
        """Ones of this tensor's dtype."""
    def new_tensor(self, data: Tensor | Number | Array | np.generic | Sequence[Any], *, dtype: DTypeLike = None, device: DeviceLike = None, requires_grad: _bool = False, layout: Layout | None = None, pin_memory: _bool = False) -> Tensor:
        """A new leaf with a copy of data, of this tensor's dtype."""
    def new_zeros(self, size: _int | Tensor | Sequence[_int], *more: _int | Tensor | Sequence[_int], dtype: DTypeLike = None, layout: Layout | None = None, device: DeviceLike = None, pin_memory: _bool = False, requires_grad: _bool = False) -> Tensor:
        """Zeros of this tensor's dtype."""
    def nextafter(self, other: Tensor | Number | Array | np.generic) -> Tensor:
        """The next floating point number after input in the direction of other."""
    def nextafter_(self, other: Tensor | Number | Array | np.generic) -> Self:
        """In place: the next floating point number after input in the direction of other."""
    @overload
    def nonzero(self, *, as_tuple: Literal[False]=False) -> Tensor:
        """The indices of elements that are not 0: a row for each, or with `as_tuple` a vector for each dimension."""
    @overload
    def nonzero(self, *, as_tuple: Literal[True]) -> tuple[Tensor, ...]:
        """The indices of elements that are not 0: a row for each, or with `as_tuple` a vector for each dimension."""
    def nonzero_static(self, *, size: _int, fill_value: _int = -1) -> Tensor:
        """nonzero() with `size` rows: cut off, or filled up with fill_value."""
    def norm(self, p: _float | str | None = 'fro', dim: Dims = None, keepdim: _bool = False, dtype: DTypeLike = None) -> Tensor:
        """The vector norm of order p over `dim`; "fro" is 2; "nuc" is the sum of singular values of matrices."""
    def normal_(self, mean: _float = 0.0, std: _float = 1.0, *, generator: Generator | None = None) -> Self:
        """Draws from the normal distribution, written into this tensor's memory; returns self."""
    def not_equal(self, other: Tensor | Number | Array | np.generic) -> Tensor:
        """input != other."""
    def not_equal_(self, other: Tensor | Number | Array | np.generic) -> Self:
        """In place: input != other."""
    def orgqr(self, input2: Tensor) -> Tensor:
        """linalg.householder_product, under its older name."""
    def ormqr(self, tau: Tensor, other: Tensor, left: _bool = True, transpose: _bool = False) -> Tensor:
        """Q @ other (or other @ Q, or with Q^H) for the square Q of the reflections in input and tau."""
    def outer(self, vec2: Tensor) -> Tensor:
        """All products of elements of two vectors, as a matrix."""
    def permute(self, dims: _int | Tensor | Sequence[_int], *more: _int | Tensor | Sequence[_int]) -> Tensor:
        """input with its dimensions in the order `dims`, a view."""
    def pin_memory(self) -> Tensor:
        """Raises RuntimeError: there is no accelerator to copy to."""
    def pinverse(self, rcond: _float = 1e-15) -> Tensor:
        """linalg.pinv with rtol=rcond."""
    def polygamma(self, n: _int) -> Tensor:
        """The n-th derivative of digamma at this tensor."""
    def polygamma_(self, n: _int) -> Self:
        """In place: the n-th derivative of digamma at this tensor."""
    def positive(self) -> Tensor:
        """input itself; RuntimeError for booleans, which have no sign."""
    def pow(self, exponent: TensorOrArray | Number) -> Tensor:
        """input ** exponent, one of them a Tensor."""
    def pow_(self, exponent: TensorOrArray | Number) -> Self:
        """In place: input ** exponent, one of them a Tensor."""
    def prelu(self, weight: Tensor) -> Tensor:
        """leaky_relu with a learned slope: one for all, or one for each channel (dimension 1)."""
    def prod(self, dim: _int | None = None, keepdim: _bool = False, *, dtype: DTypeLike = None, axis: _int | None = None, keepdims: _bool | None = None) -> Tensor:
        """The product of all elements, or along one `dim`; integers and booleans multiply in int64."""
    def put(self, index: Tensor, source: Tensor, accumulate: _bool = False) -> Tensor:
        """input with the elements that index numbers, as if it were one row, replaced by source; or added to."""
    def put_(self, index: Tensor, source: Tensor, accumulate: _bool = False) -> Self:
        """In place: input with the elements that index numbers, as if it were one row, replaced by source; or added to."""
    def qr(self, some: _bool = True) -> LinalgQr:
        """linalg.qr, under its older name: reduced, or complete."""
    def quantile(self, q: TensorOrNumber, dim: _int | None = None, keepdim: _bool = False, *, interpolation: str = 'linear', axis: _int | None = None, keepdims: _bool | None = None) -> Tensor:
        """The values below which the parts q of all elements lie, or of those along `dim`; several q come first."""
    def rad2deg(self) -> Tensor:
        """Radians to degrees."""
    def rad2deg_(self) -> Self:
        """In place: radians to degrees."""
    @overload
    def random_(self, *, generator: Generator | None=None) -> Self:
        """Random integers, written into this tensor's memory; returns self."""
    @overload
    def random_(self, to: _int, *, generator: Generator | None=None) -> Self:
        """Random integers, written into this tensor's memory; returns self."""
    @overload
    def random_(self, from_: _int, to: _int | None, *, generator: Generator | None=None) -> Self:
        """Random integers, written into this tensor's memory; returns self."""
    def ravel(self) -> Tensor:
        """All elements in one dimension, contiguous: input itself if it is both."""
    @property
    def real(self) -> Tensor:
        """The real part, a view; a real tensor as it is."""
    @real.setter
    def real(self, value: Tensor | Number | Array | np.generic) -> None: ...
    def reciprocal(self) -> Tensor:
        """1 / input."""
    def reciprocal_(self) -> Self:
        """In place: 1 / input."""
    def relu(self) -> Tensor:
        """input where positive, 0 elsewhere."""
    def relu_(self) -> Self:
        """In place: input where positive, 0 elsewhere."""
    def remainder(self, other: Tensor | Number | Array | np.generic) -> Tensor:
        """The remainder of input / other, with the sign of other."""
    def remainder_(self, other: Tensor | Number | Array | np.generic) -> Self:
        """In place: the remainder of input / other, with the sign of other."""
    @overload
    def renorm(self, p: _float, dim: _int, maxnorm: _float) -> Tensor:
        """Each slice of input at one place of `dim` scaled down to p-norm `maxnorm`, if its norm is larger."""
    @overload
    def renorm(self, p: _float, *, axis: _int, maxnorm: _float) -> Tensor:
        """Each slice of input at one place of `dim` scaled down to p-norm `maxnorm`, if its norm is larger."""
    def renorm_(self, p: _float, dim: _int, maxnorm: _float) -> Self:
        """In place: each slice of input at one place of `dim` scaled down to p-norm `maxnorm`, if its norm is larger."""
    def repeat(self, repeats: _int | Tensor | Sequence[_int], *more: _int | Tensor | Sequence[_int]) -> Tensor:
        """Copies of input side by side: repeats[i] of them along dimension i, counted from the end."""
    def repeat_interleave(self, repeats: TensorOrNumber | None = None, dim: _int | None = None, *, output_size: _int | None = None) -> Tensor:
        """Each slice of input along `dim` (each element without it) repeated: a number of times for all, or one for each."""
    def reshape(self, shape: _int | Tensor | Sequence[_int], *more: _int | Tensor | Sequence[_int]) -> Tensor:
        """The elements of input, in order, in another shape; one size may be -1. A view where the memory allows it."""
    def reshape_as(self, other: Tensor) -> Tensor:
        """input in the shape of `other`."""
    def resize_(self, *sizes: _int | Tensor | Sequence[_int], memory_format: MemoryFormat | None = None) -> Self:
        """Resize this tensor in place; elements keep their order in memory, further ones are uninitialised. Returns self."""
    def resize_as_(self, the_template: Tensor, memory_format: MemoryFormat | None = None) -> Self:
        """resize_ to the shape of another tensor, and with preserve_format to its memory format. Returns self."""
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
        """In place: the nearest integer, the even one of two; with `decimals`, the nearest multiple of 10**-decimals."""
    def rsqrt(self) -> Tensor:
        """1 / sqrt(input)."""
    def rsqrt_(self) -> Self:
        """In place: 1 / sqrt(input)."""
    @overload
    def scatter(self, dim: _int, index: Tensor, src: Tensor | Number | Array | np.generic, *, reduce: str | None=None) -> Tensor:
        """input with src[i, j] (or one number) written to [index[i, j], j] for dim 0, and so on."""
    @overload
    def scatter(self, dim: _int, index: Tensor, *, value: Tensor | Number, reduce: str | None=None) -> Tensor:
        """input with src[i, j] (or one number) written to [index[i, j], j] for dim 0, and so on."""
    @overload
    def scatter_(self, dim: _int, index: Tensor, src: Tensor | Number | Array | np.generic, *, reduce: str | None=None) -> Self:
        """In place: input with src[i, j] (or one number) written to [index[i, j], j] for dim 0, and so on."""
    @overload
    def scatter_(self, dim: _int, index: Tensor, *, value: Tensor | Number, reduce: str | None=None) -> Self:
        """In place: input with src[i, j] (or one number) written to [index[i, j], j] for dim 0, and so on."""
    def scatter_add(self, dim: _int, index: Tensor, src: Tensor) -> Tensor:
        """input with src[i, j] added at [index[i, j], j] for dim 0, and so on."""
    def scatter_add_(self, dim: _int, index: Tensor, src: Tensor) -> Self:
        """In place: input with src[i, j] added at [index[i, j], j] for dim 0, and so on."""
    def scatter_reduce(self, dim: _int, index: Tensor, src: Tensor, reduce: str, *, include_self: _bool = True) -> Tensor:
        """Each element of input reduced ("sum", "prod", "mean", "amax", "amin") with those of src that index sends to it."""
    def scatter_reduce_(self, dim: _int, index: Tensor, src: Tensor, reduce: str, *, include_self: _bool = True) -> Self:
        """In place: each element of input reduced ("sum", "prod", "mean", "amax", "amin") with those of src that index sends to it."""
    def select(self, dim: _int, index: _int) -> Tensor:
        """The slice number `index` of dimension `dim`, which is removed. A view."""
    def select_scatter(self, src: Tensor, dim: _int, index: _int) -> Tensor:
        """input with its slice number `index` along `dim` replaced by src."""
    def set_(self, source: _int | Sequence[_int] | None = None, storage_offset: _int = 0, size: _int | Tensor | Sequence[_int] | None = None, stride: SizeLike | None = None) -> Self:
        """Let this tensor show the memory of another tensor or of a storage. Returns self."""
    def sgn(self) -> Tensor:
        """The sign of a real number, z / |z| of a complex one; 0 at 0."""
    def sgn_(self) -> Self:
        """In place: the sign of a real number, z / |z| of a complex one; 0 at 0."""
    def short(self, memory_format: MemoryFormat | None = ...) -> Tensor:
        """This tensor as int16."""
    def sigmoid(self) -> Tensor:
        """1 / (1 + exp(-input))."""
    def sigmoid_(self) -> Self:
        """In place: 1 / (1 + exp(-input))."""
    def sign(self) -> Tensor:
        """-1, 0 or 1."""
    def sign_(self) -> Self:
        """In place: -1, 0 or 1."""
    def signbit(self) -> Tensor:
        """Whether the sign bit is set, of -0.0 too."""
    def sin(self) -> Tensor:
        """The sine of an angle in radians."""
    def sin_(self) -> Self:
        """In place: the sine of an angle in radians."""
    def sinc(self) -> Tensor:
        """sin(pi input) / (pi input), 1 at 0."""
    def sinc_(self) -> Self:
        """In place: sin(pi input) / (pi input), 1 at 0."""
    def sinh(self) -> Tensor:
        """The hyperbolic sine."""
    def sinh_(self) -> Self:
        """In place: the hyperbolic sine."""
    @overload
    def size(self, dim: None=None) -> Size:
        """The shape, or one dimension of it."""
    @overload
    def size(self, dim: _int) -> _int:
        """The shape, or one dimension of it."""
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
    def sqrt(self) -> Tensor:
        """The square root."""
    def sqrt_(self) -> Self:
        """In place: the square root."""
    def square(self) -> Tensor:
        """input * input."""
    def square_(self) -> Self:
        """In place: input * input."""
    def squeeze(self, dim: _int | tuple[_int, ...] | None = None, *, axis: _int | tuple[_int, ...] | None = None) -> Tensor:
        """input without its dimensions of size 1, or without those of `dim` that have size 1. A view."""
    def squeeze_(self, dim: _int | tuple[_int, ...] | None = None, *, axis: _int | tuple[_int, ...] | None = None) -> Self:
        """input without its dimensions of size 1, or without those of `dim` that have size 1. A view."""
    def std(self, dim: Dims | _bool = None, unbiased: _bool | None = None, keepdim: _bool = False, *, correction: _float | None = None, axis: Dims | _bool | None = None, keepdims: _bool | None = None) -> Tensor:
        """The square root of the variance."""
    def stft(self, n_fft: _int, hop_length: _int | None = None, win_length: _int | None = None, window: Tensor | None = None, center: _bool = True, pad_mode: str = 'reflect', normalized: _bool = False, onesided: _bool | None = None, return_complex: _bool | None = None, align_to_window: _bool | None = None) -> Tensor:
        """The Fourier transforms of windows of n_fft points, one each hop_length, of (..., L): (..., frequencies, windows)."""
    def storage(self) -> TypedStorage:
        """The elements of the memory that this tensor is a view of."""
    def storage_offset(self) -> _int:
        """How many elements before the first one belong to the memory that this tensor is a view of."""
    @overload
    def stride(self) -> tuple[_int, ...]:
        """The strides in elements: how far apart neighbours along each dimension, or along `dim`, are in memory."""
    @overload
    def stride(self, dim: _int) -> _int:
        """The strides in elements: how far apart neighbours along each dimension, or along `dim`, are in memory."""
    def sub(self, other: TensorOrArray | Number, alpha: Number = 1, *, out: Tensor | None = None) -> Tensor:
        """input - alpha * other."""
    def sub_(self, other: TensorOrArray | Number, alpha: Number = 1) -> Self:
        """In place: input - alpha * other."""
    def subtract(self, other: TensorOrArray | Number, alpha: Number = 1) -> Tensor:
        """input - alpha * other."""
    def subtract_(self, other: TensorOrArray | Number, alpha: Number = 1) -> Self:
        """In place: input - alpha * other."""
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
    def tan(self) -> Tensor:
        """The tangent of an angle in radians."""
    def tan_(self) -> Self:
        """In place: the tangent of an angle in radians."""
    def tanh(self) -> Tensor:
        """The hyperbolic tangent."""
    def tanh_(self) -> Self:
        """In place: the hyperbolic tangent."""
    def tensor_split(self, indices_or_sections: _int | Tensor | Sequence[_int], dim: _int = 0) -> tuple[Tensor, ...]:
        """input cut along `dim` in that many pieces, the first ones longer by one; or before each of the indices."""
    def tile(self, dims: _int | Tensor | Sequence[_int], *more: _int | Tensor | Sequence[_int]) -> Tensor:
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
    def trace(self) -> Tensor:
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
        """In place: the elements on and below a diagonal of each matrix, zeros above."""
    def triu(self, diagonal: _int = 0) -> Tensor:
        """The elements on and above a diagonal of each matrix, zeros below."""
    def triu_(self, diagonal: _int = 0) -> Self:
        """In place: the elements on and above a diagonal of each matrix, zeros below."""
    def true_divide(self, other: Tensor | Number | Array | np.generic, *, out: Tensor | None = None) -> Tensor:
        """input / other."""
    def true_divide_(self, other: Tensor | Number | Array | np.generic) -> Self:
        """In place: input / other."""
    def trunc(self) -> Tensor:
        """Rounded towards 0."""
    def trunc_(self) -> Self:
        """In place: rounded towards 0."""
    @overload
    def type(self, dtype: None=None, non_blocking: _bool=False) -> str:
        """PyTorch's name of the type, such as "torch.FloatTensor"; with `dtype` (a dtype or such a name) the tensor as that."""
    @overload
    def type(self, dtype: TensorDType | np.dtype[Any] | _type | str, non_blocking: _bool=False) -> Tensor:
        """PyTorch's name of the type, such as "torch.FloatTensor"; with `dtype` (a dtype or such a name) the tensor as that."""
    def type_as(self, other: Tensor | Number | Array | np.generic) -> Tensor:
        """This tensor in the dtype of another."""
    def unbind(self, dim: _int = 0, *, axis: _int | None = None) -> tuple[Tensor, ...]:
        """The slices of input along `dim`, views."""
    def unflatten(self, dim: _int, sizes: Sequence[_int]) -> Tensor:
        """One dimension cut into several of the given sizes; one may be -1."""
    def unfold(self, dimension: _int, size: _int, step: _int) -> Tensor:
        """The windows of `size` elements, one each `step`, along a dimension: they come as the last dimension. A view."""
    def uniform_(self, from_: _float = 0.0, to: _float = 1.0, *, generator: Generator | None = None, **named: _float) -> Self:
        """Draws from the uniform distribution, written into this tensor's memory; returns self."""
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
    @overload
    def unsqueeze(self, dim: _int) -> Tensor:
        """input with a dimension of size 1 put in at `dim`. A view."""
    @overload
    def unsqueeze(self, *, axis: _int) -> Tensor:
        """input with a dimension of size 1 put in at `dim`. A view."""
    @overload
    def unsqueeze_(self, dim: _int) -> Self:
        """input with a dimension of size 1 put in at `dim`. A view."""
    @overload
    def unsqueeze_(self, *, axis: _int) -> Self:
        """input with a dimension of size 1 put in at `dim`. A view."""
    def untyped_storage(self) -> UntypedStorage:
        """The bytes of the memory that this tensor is a view of."""
    def var(self, dim: Dims | _bool = None, unbiased: _bool | None = None, keepdim: _bool = False, *, correction: _float | None = None, axis: Dims | _bool | None = None, keepdims: _bool | None = None) -> Tensor:
        """The variance: squared distances from the mean, added up, over (count - correction)."""
    def vdot(self, other: Tensor) -> Tensor:
        """The sum of conj(input) * other, for two vectors."""
    @overload
    def view(self, size: _int | Tensor | Sequence[_int], *more: _int | Tensor | Sequence[_int]) -> Tensor:
        """reshape() that never copies: RuntimeError where the memory layout does not allow it. view(dtype): the same bytes read as another dtype, without a gradient."""
    @overload
    def view(self) -> Tensor:
        """reshape() that never copies: RuntimeError where the memory layout does not allow it. view(dtype): the same bytes read as another dtype, without a gradient."""
    @overload
    def view(self, dtype: TensorDType | np.dtype[Any] | _type) -> Tensor:
        """reshape() that never copies: RuntimeError where the memory layout does not allow it. view(dtype): the same bytes read as another dtype, without a gradient."""
    def view_as(self, other: Tensor) -> Tensor:
        """input seen in the shape of `other`."""
    def vsplit(self, indices_or_sections: SizeLike) -> tuple[Tensor, ...]:
        """tensor_split() along the first dimension, in equal parts."""
    def where(self, condition: Tensor, other: Tensor | Number | Array | np.generic) -> Tensor:
        """This tensor where condition holds, other elsewhere."""
    def xlogy(self, other: Tensor | Number | Array | np.generic) -> Tensor:
        """input log(other), 0 where input is 0."""
    def xlogy_(self, other: Tensor | Number | Array | np.generic) -> Self:
        """In place: input log(other), 0 where input is 0."""
    def zero_(self) -> Self:
        """Write zeros. Returns self."""
