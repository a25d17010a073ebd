"""Tensor: a NumPy array, its gradient, and the edge to the node that made it. Operators are bound in binding.py."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from copy import deepcopy
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from ..base import arrays, dtypes
from ..base.errors import warn_user
from ..base.hidden import Hidden
from ..base.size import Size
from ..kernels.blocks import owns_memory
from ..kernels.halves import add_to, array_of, copy_into
from .graph import Edge, Node, NodeHooks, RemovableHandle, demand_fresh, once, shared_counter
from .modes import DUAL, GRAD, modes
from .primitive import grad_assigned, value_read, watchers
from .versions import InferenceCounter, fresh_counter, inferring

ndarray = np.ndarray
T = TypeVar("T", bound="TensorBase")

MSG_NUMPY = "Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead."
MSG_NON_LEAF_GRAD = (
    "The .grad attribute of a Tensor that is not a leaf Tensor is being accessed. Its .grad attribute won't be "
    "populated during backward(). Call .retain_grad() on the tensor first if you want it."
)
MSG_FLAG_NON_LEAF = (
    "you can only change requires_grad flags of leaf variables. If you want to use a computed variable in a subgraph "
    "that doesn't require differentiation use var_no_grad = var.detach()."
)
MSG_DEEPCOPY = (
    "Only Tensors created explicitly by the user (graph leaves) support the deepcopy protocol at the moment. "
    "Copy tensor.detach() instead."
)


class TensorBase:
    """The fields of a Tensor and its methods that are not operations; a C struct in the compiled core, see tensor.pxd.

    `array` is the NumPy array. `tracked` has the bit GRAD if gradients, and the bit DUAL if tangents, flow to or through the
    tensor. `edge` is (node, output number) of the call that created it, None for a leaf. `counter` counts the writes to
    memory shared with aliases (None while there are none); `base` is the tensor of which this one is a view."""

    __slots__ = ("__dict__", "__weakref__", "array", "counter", "edge", "tracked")

    array: Any
    edge: Edge | None
    tracked: int
    counter: Any
    hooks: NodeHooks | None = None    # from here on rare attributes, stored in __dict__ if they are not None
    accumulator: Any = None
    base: Any = None
    dual: Any = None                  # (level, tangent): see forward_mode.py
    view_from: str = ""               # of a view that must not be written to: its origin, see views.VIEWS_FROM
    made_at: Any = None               # of a view created in inference mode: the version of its memory then
    collects: bool = False            # of such a view: whether requires_grad was set on it, so that it gets a gradient
    _grad: Any = None

    # --- properties ---------------------------------------------------------------------------------------------

    @property
    def shape(self) -> Size:
        """Sizes of the dimensions, a Size."""
        return Size(self.array.shape)

    @property
    def dtype(self) -> dtypes.TensorDType:
        """The element type, which NumPy accepts as a dtype."""
        return dtypes.of_tensors[self.array.dtype]

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return self.array.ndim

    @property
    def is_leaf(self) -> bool:
        """Whether no recorded operation made this tensor."""
        if self.made_at is not None:
            demand_fresh(self)
        return self.edge is None

    @property
    def grad_fn(self) -> Node | None:
        """The node that made this tensor; None for a leaf."""
        if self.made_at is not None:
            demand_fresh(self)
        return None if self.edge is None else self.edge[0]

    @property
    def output_nr(self) -> int:
        """Which output of grad_fn this tensor is."""
        return 0 if self.edge is None else self.edge[1]

    @property
    def _version(self) -> int:
        return 0 if self.counter is None else self.counter.version()

    @property
    def requires_grad(self) -> bool:
        """Whether gradients flow to or through this tensor. It can be set on leaves of floating point or complex dtype."""
        return bool(self.tracked & GRAD)

    @requires_grad.setter
    def requires_grad(self, flag: bool) -> None:
        if self.edge is not None:
            if not flag:
                raise RuntimeError(MSG_FLAG_NON_LEAF)
            return
        if flag and self.array.dtype.kind not in "fcV":
            raise RuntimeError("only Tensors of floating point and complex dtype can require gradients, "
                               f"this one is {self.array.dtype}")
        if self.made_at is not None:                 # a view created in inference mode: so does its base
            self.collects = bool(flag)
            flag = flag or bool(self.base.tracked & GRAD)
        self.tracked = (self.tracked & DUAL) | bool(flag)
        if self.counter is not None:
            for reference in self.counter.views:
                view = reference()
                if view is not None and view.made_at is not None and view.base is self:
                    view.tracked = (view.tracked & DUAL) | (bool(flag) or view.collects)

    def requires_grad_(self: T, requires_grad: bool = True) -> T:
        """Set requires_grad, return self."""
        self.requires_grad = requires_grad
        return self

    @property
    def grad(self) -> Tensor | None:
        """The gradient collected by backward() so far: same shape and dtype; None before the first."""
        if self.edge is not None and self._grad is None and not self.retains_grad:
            warn_user(MSG_NON_LEAF_GRAD)
        return self._grad

    @grad.setter
    def grad(self, value: Tensor | None) -> None:
        if value is not None:
            if not isinstance(value, Tensor):
                raise TypeError(f"assigned grad expected to be a Tensor or None but got grad of type "
                                f"{type(value).__name__}")
            if value is self:
                raise RuntimeError("can't assign a Tensor as its own grad")
            if value.array.shape != self.array.shape:
                raise RuntimeError(f"attempting to assign a gradient of size {list(value.shape)} to a tensor of size "
                                   f"{list(self.shape)}. Please ensure that the gradient and the tensor are the same "
                                   "size")
            if value.array.dtype != self.array.dtype:
                raise RuntimeError(f"attempting to assign a gradient with dtype {value.dtype} to a tensor with dtype "
                                   f"{self.dtype}. Please ensure that the gradient and the tensor have the same dtype")
        self._grad = value
        if watchers:
            grad_assigned(self, value)

    @grad.deleter
    def grad(self) -> None:
        """`del x.grad` is `x.grad = None`."""
        self.grad = None

    def accumulate_grad(self, g: Any, create: bool, owned: bool = False) -> None:
        """Add g (an array; a Tensor if `create`) to .grad: in place, or as a new Tensor if it must keep a graph.

        owned: there is no other reference to the array g, so .grad may keep it."""
        held = self._grad
        if create:
            self._grad = g if held is None else held + g
        elif held is None and self.hooks is not None and self.hooks.grad_buffer is not None:
            buffer = self.hooks.grad_buffer
            if g is not buffer:                      # a rule may have written there, see grad_buffers.buffer_for
                if g.dtype is buffer.dtype:
                    buffer[...] = g                  # which costs less than copyto
                else:
                    copy_into(buffer, g)
            self._grad = result(buffer)
        elif held is None:
            self._grad = result(g if owned and type(g) is ndarray and owns_memory(g) and g.dtype is self.array.dtype
                                else np.array(g) if g.dtype is self.array.dtype else array_of(g, self.array.dtype))
        else:
            if arrays.is_float16(g):
                add_to(held.array, g)
            else:
                np.add(held.array, g, out=held.array)
            if held.counter is not None or held.edge is not None:
                shared_counter(held).value += 1

    # --- detaching, conversion to NumPy ----------------------------------------------------------------------------

    def detach(self) -> Tensor:
        """A leaf on the same memory that requires no gradient; both see writes to either."""
        if not isinstance(self, TensorBase):
            raise no_tensor(self, "detach")
        alias = result(self.array)
        alias.counter = shared_counter(self)
        return alias

    @property
    def data(self) -> Tensor:
        """A leaf on the same memory whose writes are not counted. Assignment replaces the memory."""
        alias = result(self.array)
        alias.counter = self.counter if isinstance(self.counter, InferenceCounter) else None
        if self.array.ndim > 2:                     # neither may move in view(), see ops/shape/views.py
            shared_counter(self)
            shared_counter(alias)
        return alias

    @data.setter
    def data(self, value: Tensor) -> None:
        if not isinstance(value, TensorBase):
            raise TypeError(f"data must be a Tensor, not {type(value).__name__}")
        if self.tracked & GRAD and value.array.dtype.kind not in "fcV":
            raise RuntimeError("data set to a tensor that requires gradients must be floating point or complex dtype, not "
                               f"{value.array.dtype}")
        shared_counter(self).value += 1             # values saved from the old memory are no longer this tensor's
        self.array = value.array

    def numpy(self, *, force: bool = False) -> np.ndarray[Any, Any]:
        """The array itself, without a copy. RuntimeError if a gradient would be lost (the tensor requires grad and recording
        is on), unless `force`."""
        if watchers:
            value_read("numpy()")
        if not force and self.tracked & modes.recording & GRAD:
            raise RuntimeError(MSG_NUMPY)
        if self.array.ndim > 2:
            shared_counter(self)                    # it may not move in view() any more, see ops/shape/views.py
        return np.asarray(self.array)               # also for an AbsentArray

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        array = self.numpy()
        return np.array(array_of(array, dtype) if dtype is not None and copy is not False else array, dtype, copy=copy)

    def item(self) -> Any:
        """The one element, as a Python number."""
        if not isinstance(self, TensorBase):
            raise no_tensor(self, "item")
        if watchers:
            value_read("item() or float()")
        if self.array.size != 1:
            raise RuntimeError(f"a Tensor with {self.array.size} elements cannot be converted to Scalar")
        return self.array.item()

    def tolist(self) -> Any:
        """The elements as nested lists."""
        if not isinstance(self, TensorBase):
            raise no_tensor(self, "tolist")
        if watchers:
            value_read("tolist()")
        return self.array.tolist()

    def size(self, dim: Any = None) -> Any:
        """The shape, or one dimension of it."""
        if not isinstance(self, TensorBase):
            raise no_tensor(self, "size")
        return Size(self.array.shape) if dim is None else self.array.shape[dim]

    def dim(self) -> int:
        """The number of dimensions."""
        if not isinstance(self, TensorBase):
            raise no_tensor(self, "dim")
        return self.array.ndim

    def numel(self) -> int:
        """The number of elements."""
        if not isinstance(self, TensorBase):
            raise no_tensor(self, "numel")
        return self.array.size

    def __len__(self) -> int:
        if self.array.ndim == 0:
            raise TypeError("len() of a 0-d tensor")
        return len(self.array)

    def __bool__(self) -> bool:
        if watchers:
            value_read("a branch (bool())")
        if self.array.size != 1:
            raise RuntimeError(f"Boolean value of Tensor with {self.array.size} values is ambiguous")
        return bool(self.array.item())

    def __float__(self) -> float:
        return float(self.item())

    def __int__(self) -> int:
        return int(self.item())

    def __index__(self) -> int:
        if watchers:
            value_read("index()")
        if self.array.dtype.kind not in "iub" or self.array.size != 1:
            raise TypeError("only integer tensors of a single element can be converted to an index")
        return int(self.array.item())

    def __contains__(self, value: Any) -> bool:
        if watchers:
            value_read("`in`")
        if not isinstance(value, (TensorBase, int, float, complex, np.generic)):
            raise RuntimeError(f"Tensor.__contains__ only supports Tensor or scalar, but you passed in a {type(value)}.")
        return bool(np.any(self.array == (value.array if isinstance(value, Tensor) else value)))

    def __deepcopy__(self, memo: dict[int, Any]) -> Tensor:
        if self.edge is not None:
            raise RuntimeError(MSG_DEEPCOPY)
        if id(self) not in memo:
            copied = memo[id(self)] = TensorBase.__new__(type(self))
            base = self.base
            if base is None or base.edge is not None:
                start(copied, self.array.copy("K"))
            else:                                    # copies of views of the same memory share memory again
                copy = base.__deepcopy__(memo)
                array = moved_to(self.array, base.array, copy.array)
                start(copied, self.array.copy("K") if array is None else array)
                if array is not None:
                    copied.counter = shared_counter(copy)
            copied.tracked = self.tracked & GRAD
            if self._grad is not None:
                copied._grad = self._grad.__deepcopy__(memo)
            if type(self) is not Parameter:          # whose copies have none in PyTorch either
                for name, value in attributes(self).items():
                    setattr(copied, name, deepcopy(value, memo))
        return memo[id(self)]

    def __reduce__(self) -> Any:
        made = restore, (type(self), self.array, self.requires_grad)     # of a tensor with a graph a leaf, as in PyTorch
        users = attributes(self)
        return (*made, users) if users else made

    def __repr__(self) -> str:
        text = np.array2string(self.array, separator=", ", precision=4, prefix="tensor(")
        if self.array.dtype not in (np.float32, np.int64, np.bool_):
            text += f", dtype={self.array.dtype}"
        if self.edge is not None:
            text += f", grad_fn=<{self.edge[0].name()}>"
        elif self.requires_grad:
            text += ", requires_grad=True"
        return f"tensor({text})"

    # --- hooks -------------------------------------------------------------------------------------------------------

    def register_hook(self, hook: Callable[[Tensor], Any]) -> RemovableHandle:
        """Call hook(grad) each time the gradient of this tensor is computed; a returned Tensor replaces it."""
        if not self.requires_grad:
            raise RuntimeError("cannot register a hook on a tensor that doesn't require gradient")
        hooks, number = (ensure_hooks(self), 0) if self.edge is None else (self.edge[0].ensure_hooks(), self.edge[1])
        return RemovableHandle(hooks.tensor.setdefault(number, {}), hook)

    def register_post_accumulate_grad_hook(self, hook: Callable[[Tensor], Any]) -> RemovableHandle:
        """Call hook(leaf) after backward() has added to the leaf's .grad."""
        if not self.requires_grad:
            raise RuntimeError("cannot register a hook on a tensor that doesn't require gradient")
        if self.edge is not None:
            raise RuntimeError("post accumulate grad hooks cannot be registered on non-leaf tensors")
        return RemovableHandle(ensure_hooks(self).post, hook)

    def retain_grad(self) -> None:
        """Let backward() set .grad on this non-leaf tensor too."""
        if not self.requires_grad:
            raise RuntimeError("can't retain_grad on Tensor that has requires_grad=False")
        if self.edge is not None:
            node, number = self.edge
            node.ensure_hooks().retain[number] = weakref.ref(self)

    @property
    def retains_grad(self) -> bool:
        """Whether retain_grad() was called on this non-leaf tensor."""
        if self.edge is None or self.edge[0].hooks is None:
            return False
        kept = self.edge[0].hooks.retain.get(self.edge[1])
        return kept is not None and kept() is self


if TYPE_CHECKING:                     # operators, methods and the constructor are bound from one table, in binding.py
    from .tensor_methods import TensorMethods
else:
    TensorMethods = TensorBase


class Tensor(TensorMethods):
    """An n-dimensional array that records how it was computed.

    The constructor is PyTorch's: Tensor() is empty; Tensor(2, 3) is uninitialized memory of that shape; Tensor([1, 2]) and
    Tensor(array) have these values in the default dtype; Tensor(tensor) shares the tensor's memory and dtype. For data use
    `autograd.tensor(values)`, which keeps the kind of the values (integers stay integers) and accepts a dtype."""

    __array_ufunc__ = None            # ndarray * tensor calls Tensor.__rmul__
    __hash__ = object.__hash__        # by identity, although == compares elements


class Parameter(Tensor):
    """A leaf that a Module registers as a parameter; it requires grad by default."""

    __slots__ = ()

    def __init__(self, data: Any = None, requires_grad: bool = True) -> None:
        if data is None:
            data = np.zeros(0, dtypes.default.dtype)
        start(self, data.array if isinstance(data, Tensor) else np.asarray(data))
        if requires_grad:
            self.requires_grad = True

    def __repr__(self) -> str:
        return f"Parameter containing:\n{super().__repr__()}"


class AccumulateGrad(Node):
    """The graph's end at a leaf: adds arriving gradients to `variable.grad`."""

    __slots__ = ("variable",)

    is_leaf = True

    def __init__(self, variable: Any) -> None:
        self.seq = 2**64 - 1                         # PyTorch's number; leaves are not in the order
        self.edges, self.outputs = (), 1
        self.saved = self.meta = self.hooks = self.lane = None
        self.variable: Tensor = variable

    def run(self, g: Any, create: bool) -> Any:
        """Add g to the leaf's gradient."""
        self.variable.accumulate_grad(g, create)
        return ()


def no_tensor(value: Any, name: str) -> TypeError:
    """The error of Tensor.name(value) for a value that is not a Tensor. Compiled methods do not check `self`, and would
    crash: map(Tensor.item, [1.0])."""
    return TypeError(f"Tensor.{name}() requires a Tensor, not {type(value).__name__}")


def edge_of(tensor: Any) -> Edge | None:
    """The edge from `tensor` to its origin; None if it requires no gradient."""
    if tensor.edge is not None or not tensor.tracked & GRAD:
        return tensor.edge
    accumulator = tensor.accumulator
    if accumulator is not None:
        accumulator = accumulator()
    if accumulator is None:
        if tensor.made_at is not None:               # as in PyTorch it requires a gradient, but never gets one
            demand_fresh(tensor)
            if not tensor.collects:
                return None
        with once:
            accumulator = tensor.accumulator() if tensor.accumulator is not None else None
            if accumulator is None:
                accumulator = AccumulateGrad(tensor)
                tensor.accumulator = weakref.ref(accumulator)     # weak: the node owns the leaf, not the leaf the node
    return accumulator, 0


_made = Tensor                    # in a compiled core a C variable of type `type`


def start(tensor: TensorBase, array: Any) -> None:
    """Fill the slots of a new leaf."""
    tensor.array = array
    tensor.edge = None
    tensor.counter = fresh_counter() if inferring else None
    tensor.tracked = False


def result(array: Any) -> Tensor:
    """A new untracked Tensor around an operation's result; NumPy scalars become 0-d arrays."""
    if type(array) is not ndarray:
        if type(array) is Hidden:
            return array.tensor()                    # of vmap(): see batching.py
        if not (isinstance(array, ndarray) and getattr(array, "part_of", None)):         # keep dparallel's SliceArray
            array = np.asarray(array)
    tensor: Tensor = _made.__new__(_made)
    tensor.array = array
    tensor.edge = None
    tensor.counter = fresh_counter() if inferring else None
    tensor.tracked = False
    return tensor


def moved_to(view: Any, base: Any, copy: Any) -> Any:
    """The elements of a copy of `base` that correspond to a view of base; None if their layouts do not match."""
    offset = view.__array_interface__["data"][0] - base.__array_interface__["data"][0]
    if view.dtype != base.dtype or copy.strides != base.strides or offset < 0 or offset % view.itemsize or (
            min((*view.strides, *copy.strides), default=0) < 0):
        return None
    strided = np.lib.stride_tricks.as_strided
    return strided(strided(copy, (copy.size,), (copy.itemsize,))[offset // view.itemsize:], view.shape, view.strides)


OWN = frozenset(["_grad", "accumulator", "averaged_by", "base", "collects", "dual", "hooks", "joins", "made_at", "shard",
                 "shown", "view_from"])


def attributes(tensor: TensorBase) -> dict[str, Any]:
    """The attributes that users have assigned, such as x.tag = 1, without the library's own."""
    held: dict[str, Any] = getattr(tensor, "__dict__", {})
    return {name: value for name, value in held.items() if name not in OWN} if held else held


def restore(cls: Any, array: Any, tracked: bool) -> Tensor:
    """Recreate a leaf from its pickled parts."""
    tensor: Tensor = TensorBase.__new__(cls)
    start(tensor, dtypes.common(array))
    tensor.tracked = tracked
    return tensor


def ensure_hooks(leaf: TensorBase) -> NodeHooks:
    """A leaf's hooks, created on first use; `post` holds the post-accumulate hooks."""
    if leaf.hooks is None:
        leaf.hooks = NodeHooks()
    return leaf.hooks
