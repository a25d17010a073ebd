"""Written by docs/write_docstrings.py: do not edit."""

TEXTS: dict[str, str] = {
"as_tensor": """`data` as a Tensor: itself, or on the same memory, where it is one, or an array or another library's tensor
(PyTorch's, a DataFrame), of the right dtype already.

Args:
    data (Tensor or number or sequence): Number, nested sequence, array or tensor.
    dtype (dtype): Of the result; None: it follows from the other arguments, or is the default
        dtype.
    device (device): The CPU, under any of its names.

Returns:
    Tensor.

Example:
    >>> import numpy as np
    >>> a = np.zeros(2)
    >>> x = ag.as_tensor(a)
    >>> a[0] = 7
    >>> x
    tensor([7., 0.], dtype=float64)""",
"asarray": """obj (a Tensor, array, buffer, DLPack object, number or nested list) as a Tensor. copy: always (True), never (False:
ValueError where needed), or where needed.

Args:
    obj (Tensor or number or sequence): Tensor, array, buffer, DLPack object, number or nested
        sequence.
    dtype (dtype): Of the result; None: it follows from the other arguments, or is the default
        dtype.
    device (device): The CPU, under any of its names.
    copy (bool): True: always; False: never, with a ValueError where there is no other way;
        None: where it is needed.
    requires_grad (bool): Whether gradients are to be collected for the result. Default: False.

Returns:
    Tensor.

Raises:
    ValueError: can't alias arbitrary sequence into a tensor.
    ValueError: can't alias tensor with dtype '{source.dtype}' into dtype '{wanted}'.

Example:
    >>> ag.asarray([1.0, 2.0])
    tensor([1., 2.])""",
"from_dlpack": """A Tensor on the memory of another library's tensor, handed over by the DLPack protocol.

Args:
    ext_tensor: An object with __dlpack__(), or a capsule that one has made, in the CPU's
        memory.
    device (device): The CPU, under any of its names.
    copy (bool): True: always; False: never, with a ValueError where there is no other way;
        None: where it is needed.

Returns:
    Tensor.

Example:
    >>> import numpy as np
    >>> ag.from_dlpack(np.arange(3))
    tensor([0, 1, 2])""",
"from_numpy": """A Tensor that shares the array's memory.

Args:
    array: Of any shape, of a dtype that tensors have.

Returns:
    Tensor.

Raises:
    TypeError: expected np.ndarray (got {...}).
    ValueError: given numpy array has byte order different from the native byte order.

Example:
    >>> import numpy as np
    >>> a = np.array([1.0, 2.0])
    >>> x = ag.from_numpy(a)
    >>> x[0] = 5
    >>> a
    array([5., 2.])""",
"frombuffer": """A vector on the memory of a bytes-like object: `count` elements (-1: all) from byte `offset` on.

Args:
    buffer: bytes-like object.
    dtype (dtype): Of the result; None: it follows from the other arguments, or is the default
        dtype.
    count (int): Number of elements; -1 for all. Default: -1.
    offset (int): The first byte. Default: 0.
    requires_grad (bool): Whether gradients are to be collected for the result. Default: False.

Returns:
    Tensor.

Raises:
    ValueError: both buffer length ({length}) and count ({count}) must not be 0.
    ValueError: offset ({offset} bytes) must be non-negative and no greater than buffer length
        ({length} bytes) minus 1.
    ValueError: buffer length ({...} bytes) after offset ({offset} bytes) must be a multiple of
        element size ({size}).
    ValueError: requested buffer length ({count} * {size} bytes) after offset ({offset} bytes)
        must not be greater than actual buffer length ({length} bytes).

Example:
    >>> ag.frombuffer(b"\\x01\\x02\\x03", dtype=ag.uint8, offset=1)
    tensor([2, 3], dtype=uint8)""",
"scalar_tensor": """A 0-d tensor of one number, of the default dtype.

Args:
    s (number or Tensor): The number.
    dtype (dtype): Of the result; None: it follows from the other arguments, or is the default
        dtype.
    layout (layout): Only strided.
    device (device): The CPU, under any of its names.
    pin_memory (bool): Only False. Default: False.
    requires_grad (bool): Whether gradients are to be collected for the result. Default: False.

Returns:
    Tensor.

Example:
    >>> ag.scalar_tensor(2.5)
    tensor(2.5000)""",
"tensor": """A new leaf with a copy of `data` (numbers, nested lists, arrays, also other libraries': as_tensor() and from_dlpack()
share their memory). Python floats get the default dtype.

Args:
    data (Tensor or number or sequence): Number, nested sequence of numbers, array or tensor;
        copied.
    dtype (dtype): Of the result; None: it follows from the other arguments, or is the default
        dtype.
    device (device): The CPU, under any of its names.
    requires_grad (bool): Whether gradients are to be collected for the result. Default: False.
    pin_memory (bool): Only False. Default: False.

Returns:
    Tensor.

Raises:
    ValueError: the rows of `data` differ in length.

Example:
    >>> ag.tensor([[1, 2], [3, 4]])
    tensor([[1, 2],
            [3, 4]])
    >>> ag.tensor([1.5, 2], requires_grad=True)
    tensor([1.5000, 2.0000], requires_grad=True)""",
"empty": """Memory as it is found.

Args:
    *sizes (int or Tensor or ints): Sizes of the dimensions, also as one sequence.
    size (int or Tensor or ints): Sizes of the dimensions.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.
    dtype (dtype): Of the result; None: it follows from the other arguments, or is the default
        dtype.
    layout (layout): Only strided.
    device (device): The CPU, under any of its names.
    pin_memory (bool): Only False. Default: False.
    requires_grad (bool): Whether gradients are to be collected for the result. Default: False.
    memory_format (memory_format): Order of the elements in memory.

Returns:
    Tensor.

Example:
    >>> ag.empty(2, 3).shape
    Size([2, 3])""",
"empty_like": """Memory as it is found, of input's shape and dtype.

Args:
    input (Tensor): Of any shape; any dtype.
    dtype (dtype): Of the result; None: it follows from the other arguments, or is the default
        dtype.
    layout (layout): Only strided.
    device (device): The CPU, under any of its names.
    pin_memory (bool): Only False. Default: False.
    requires_grad (bool): Whether gradients are to be collected for the result. Default: False.
    memory_format (memory_format): Order of the elements in memory.

Returns:
    Tensor.

Example:
    >>> ag.empty_like(ag.ones(2, 3)).shape
    Size([2, 3])""",
"empty_permuted": """Memory as it is found, with the dimensions in the order physical_layout, the outermost first.

Args:
    size (ints): Sizes of the dimensions.
    physical_layout (ints): The dimensions in the order of memory, the outermost first.
    dtype (dtype): Of the result; None: it follows from the other arguments, or is the default
        dtype.
    layout (layout): Only strided.
    device (device): The CPU, under any of its names.
    pin_memory (bool): Only False. Default: False.
    requires_grad (bool): Whether gradients are to be collected for the result. Default: False.

Returns:
    Tensor.

Raises:
    RuntimeError: Number of dimensions in size does not match the length of the physical_layout.
    RuntimeError: Dimension out of range (expected to be between 0 and {...}, but got {order}).
    RuntimeError: Duplicate dim not allowed: physical_layout = {order}.

Example:
    >>> ag.empty_permuted((2, 3, 4), (0, 2, 1)).stride()
    (12, 1, 3)""",
"empty_strided": """Memory as it is found, where one step along dimension i is stride[i] elements.

Args:
    size (ints): Sizes of the dimensions.
    stride (ints): For each dimension the step in memory, in elements.
    dtype (dtype): Of the result; None: it follows from the other arguments, or is the default
        dtype.
    layout (layout): Only strided.
    device (device): The CPU, under any of its names.
    pin_memory (bool): Only False. Default: False.
    requires_grad (bool): Whether gradients are to be collected for the result. Default: False.

Returns:
    Tensor.

Raises:
    RuntimeError: dimensionality of sizes ({...}) must match dimensionality of strides ({...}).
    RuntimeError: empty_strided: strides must not be negative, got {...}.

Example:
    >>> ag.empty_strided((2, 3), (1, 2)).stride()
    (1, 2)""",
"full": """fill_value everywhere; the dtype is that of tensor(fill_value).

Args:
    size (int or ints): Sizes of the dimensions.
    fill_value (Tensor or number): The number.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.
    dtype (dtype): Of the result; None: it follows from the other arguments, or is the default
        dtype.
    layout (layout): Only strided.
    device (device): The CPU, under any of its names.
    pin_memory (bool): Only False. Default: False.
    requires_grad (bool): Whether gradients are to be collected for the result. Default: False.

Returns:
    Tensor.

Raises:
    TypeError: full(): argument 'size' (position 1) must be tuple of ints, not {...}.

Example:
    >>> ag.full((2, 2), 3.5)
    tensor([[3.5000, 3.5000],
            [3.5000, 3.5000]])""",
"full_like": """fill_value in input's shape and dtype.

Args:
    input (Tensor): Of any shape; any dtype.
    fill_value (number): The number.
    dtype (dtype): Of the result; None: it follows from the other arguments, or is the default
        dtype.
    layout (layout): Only strided.
    device (device): The CPU, under any of its names.
    pin_memory (bool): Only False. Default: False.
    requires_grad (bool): Whether gradients are to be collected for the result. Default: False.
    memory_format (memory_format): Order of the elements in memory.

Returns:
    Tensor.

Example:
    >>> ag.full_like(ag.zeros(2), 7)
    tensor([7., 7.])""",
"ones": """A tensor of ones.

Args:
    *sizes (int or Tensor or ints): Sizes of the dimensions, also as one sequence.
    size (int or Tensor or ints): Sizes of the dimensions.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.
    dtype (dtype): Of the result; None: it follows from the other arguments, or is the default
        dtype.
    layout (layout): Only strided.
    device (device): The CPU, under any of its names.
    pin_memory (bool): Only False. Default: False.
    requires_grad (bool): Whether gradients are to be collected for the result. Default: False.

Returns:
    Tensor.

Example:
    >>> ag.ones(2, 3)
    tensor([[1., 1., 1.],
            [1., 1., 1.]])""",
"ones_like": """Ones of input's shape and dtype.

Args:
    input (Tensor): Of any shape; any dtype.
    dtype (dtype): Of the result; None: it follows from the other arguments, or is the default
        dtype.
    layout (layout): Only strided.
    device (device): The CPU, under any of its names.
    pin_memory (bool): Only False. Default: False.
    requires_grad (bool): Whether gradients are to be collected for the result. Default: False.
    memory_format (memory_format): Order of the elements in memory.

Returns:
    Tensor.

Example:
    >>> ag.ones_like(ag.tensor([1.0, 2.0]))
    tensor([1., 1.])""",
"zeros": """A tensor of zeros.

Args:
    *sizes (int or Tensor or ints): Sizes of the dimensions, also as one sequence.
    size (ints): Sizes of the dimensions.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.
    dtype (dtype): Of the result; None: it follows from the other arguments, or is the default
        dtype.
    layout (layout): Only strided.
    device (device): The CPU, under any of its names.
    pin_memory (bool): Only False. Default: False.
    requires_grad (bool): Whether gradients are to be collected for the result. Default: False.

Returns:
    Tensor.

Example:
    >>> ag.zeros(2, 3)
    tensor([[0., 0., 0.],
            [0., 0., 0.]])
    >>> ag.zeros((2,), dtype=ag.int64)
    tensor([0, 0])""",
"zeros_like": """Zeros of input's shape and dtype.

Args:
    input (Tensor): Of any shape; any dtype.
    dtype (dtype): Of the result; None: it follows from the other arguments, or is the default
        dtype.
    layout (layout): Only strided.
    device (device): The CPU, under any of its names.
    pin_memory (bool): Only False. Default: False.
    requires_grad (bool): Whether gradients are to be collected for the result. Default: False.
    memory_format (memory_format): Order of the elements in memory.

Returns:
    Tensor.

Example:
    >>> ag.zeros_like(ag.tensor([1, 2]))
    tensor([0, 0])""",
"arange": """start, start + step, ... below end; arange(end) starts at 0. Integers give int64.

Args:
    start (int or Tensor): The first number; 0 if only one is given.
    end: The limit, which is not included.
    step: Distance of two numbers; not 0. Default: 1.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.
    dtype (dtype): Of the result; None: it follows from the other arguments, or is the default
        dtype.
    layout (layout): Only strided.
    device (device): The CPU, under any of its names.
    pin_memory (bool): Only False. Default: False.
    requires_grad (bool): Whether gradients are to be collected for the result. Default: False.

Returns:
    Tensor.

Raises:
    NotImplementedError: "arange_cpu" not implemented for 'Bool'.
    RuntimeError: step must be nonzero.
    RuntimeError: unsupported range: {start} -> {end}.
    RuntimeError: upper bound and lower bound inconsistent with step sign: arange({start},
        {end}, {step}).
    RuntimeError: step must be nonzero, as an integer too.

Example:
    >>> ag.arange(5)
    tensor([0, 1, 2, 3, 4])
    >>> ag.arange(1, 2, 0.25)
    tensor([1.0000, 1.2500, 1.5000, 1.7500])""",
"eye": """Ones on the diagonal of an (n, m) matrix, zeros elsewhere.

Args:
    n (int): Number of rows.
    m (int): Number of columns; n if None.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.
    dtype (dtype): Of the result; None: it follows from the other arguments, or is the default
        dtype.
    layout (layout): Only strided.
    device (device): The CPU, under any of its names.
    pin_memory (bool): Only False. Default: False.
    requires_grad (bool): Whether gradients are to be collected for the result. Default: False.

Returns:
    Tensor.

Raises:
    RuntimeError: {name} must be greater or equal to 0, got {size}.

Example:
    >>> ag.eye(2, 3)
    tensor([[1., 0., 0.],
            [0., 1., 0.]])""",
"linspace": """`steps` numbers from start to end, both included.

Args:
    start (Tensor or number): The first number.
    end (Tensor or number): The last number.
    steps (int): How many; 0 or more.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.
    dtype (dtype): Of the result; None: it follows from the other arguments, or is the default
        dtype.
    layout (layout): Only strided.
    device (device): The CPU, under any of its names.
    pin_memory (bool): Only False. Default: False.
    requires_grad (bool): Whether gradients are to be collected for the result. Default: False.

Returns:
    Tensor.

Raises:
    RuntimeError: number of steps must be non-negative.
    RuntimeError: {name} only supports 0-dimensional start and end tensors, but got {side} with
        {value.ndim} dimension(s).
    RuntimeError: {name}(): the complex sequence from {a} to {b} can't be safely cast to passed
        dtype {dtype}.

Example:
    >>> ag.linspace(0, 1, 5)
    tensor([0.0000, 0.2500, 0.5000, 0.7500, 1.0000])""",
"logspace": """base to the power of `steps` numbers from start to end, both included.

Args:
    start (Tensor or number): The first exponent.
    end (Tensor or number): The last exponent.
    steps (int): How many; 0 or more.
    base (float): The base. Default: 10.0.
    out (Tensor): Tensor that the result is written to; it gets the result's shape.
    dtype (dtype): Of the result; None: it follows from the other arguments, or is the default
        dtype.
    layout (layout): Only strided.
    device (device): The CPU, under any of its names.
    pin_memory (bool): Only False. Default: False.
    requires_grad (bool): Whether gradients are to be collected for the result. Default: False.

Returns:
    Tensor.

Raises:
    RuntimeError: number of steps must be non-negative.
    RuntimeError: {name} only supports 0-dimensional start and end tensors, but got {side} with
        {value.ndim} dimension(s).
    RuntimeError: {name}(): the complex sequence from {a} to {b} can't be safely cast to passed
        dtype {dtype}.

Example:
    >>> ag.logspace(0, 3, 4)
    tensor([   1.,   10.,  100., 1000.])""",
"is_complex": """Whether the dtype is complex.

Args:
    input (Tensor): Of any shape; any dtype.

Returns:
    A Python bool.

Example:
    >>> ag.is_complex(ag.tensor([1j]))
    True""",
"is_conj": """False: conj() computes its values at once.

Args:
    input (Tensor): Of any shape; any dtype.

Returns:
    A Python bool.

Example:
    >>> ag.is_conj(ag.tensor([1j]).conj())
    False""",
"is_floating_point": """Whether the dtype is float16, bfloat16, float32 or float64.

Args:
    input (Tensor): Of any shape; any dtype.

Returns:
    A Python bool.

Example:
    >>> ag.is_floating_point(ag.tensor([1, 2]))
    False""",
"is_inference": """Whether the tensor was made in inference mode (or is a view of one that was).

Args:
    input (Tensor): Of any shape; any dtype.

Returns:
    A Python bool.

Raises:
    TypeError: input is no Tensor.

Example:
    >>> with ag.inference_mode():
    ...     x = ag.ones(2)
    >>> ag.is_inference(x)
    True""",
"is_neg": """False: negative parts of conjugates are computed at once.

Args:
    input (Tensor): Of any shape; any dtype.

Returns:
    A Python bool.

Example:
    >>> ag.is_neg(ag.tensor([1.0]))
    False""",
"is_nonzero": """Whether the one element is not 0.

Args:
    input (Tensor): Of one element; any dtype.

Returns:
    A Python bool.

Raises:
    RuntimeError: Boolean value of Tensor with no values is ambiguous.
    RuntimeError: Boolean value of Tensor with more than one value is ambiguous.

Example:
    >>> ag.is_nonzero(ag.tensor([0.5]))
    True""",
"is_same_size": """Whether the shapes are equal.

Args:
    input (Tensor): Of any shape; any dtype.
    other (Tensor): Number, or tensor of a shape that broadcasts with input's.

Returns:
    A Python bool.

Example:
    >>> ag.is_same_size(ag.ones(2), ag.ones(3))
    False""",
"is_signed": """Whether the dtype has negative numbers.

Args:
    input (Tensor): Of any shape; any dtype.

Returns:
    A Python bool.

Example:
    >>> ag.is_signed(ag.ones(1, dtype=ag.uint8))
    False""",
"is_tensor": """Whether obj is a Tensor.

Args:
    obj (Tensor or number): Any object.

Returns:
    A Python bool.

Example:
    >>> ag.is_tensor([1, 2]), ag.is_tensor(ag.tensor([1, 2]))
    (False, True)""",
"numel": """The number of elements.

Args:
    input (Tensor): Of any shape; any dtype.

Returns:
    A Python int.

Example:
    >>> ag.numel(ag.ones(2, 3))
    6""",
"result_type": """The dtype of an arithmetic operation on two tensors or numbers.

Args:
    tensor1 (Tensor or number): Tensor or number; any dtype.
    tensor2 (Tensor or number): Tensor or number.

Returns:
    The dtype.

Raises:
    TypeError: result_type() takes Tensors and numbers, not {...}.

Example:
    >>> ag.result_type(ag.tensor([1, 2]), 1.5)
    torch.float32""",
"Tensor.new_tensor": """A new leaf with a copy of data, of this tensor's dtype.

Args:
    data (Tensor or number or sequence): Number, nested sequence, array or tensor; copied.
    dtype (dtype): Of the result; None: it follows from the other arguments, or is the default
        dtype.
    device (device): The CPU, under any of its names.
    requires_grad (bool): Whether gradients are to be collected for the result. Default: False.
    layout (layout): Only strided.
    pin_memory (bool): Only False. Default: False.

Returns:
    Tensor.

Example:
    >>> ag.tensor([1.0]).new_tensor([1, 2])
    tensor([1., 2.])""",
"Tensor.new_empty": """Memory as it is found, of this tensor's dtype.

Args:
    *sizes (int or Tensor or ints): Sizes of the dimensions, also as one sequence.
    size (int or Tensor or ints): Sizes of the dimensions.
    dtype (dtype): Of the result; None: it follows from the other arguments, or is the default
        dtype.
    layout (layout): Only strided.
    device (device): The CPU, under any of its names.
    pin_memory (bool): Only False. Default: False.
    requires_grad (bool): Whether gradients are to be collected for the result. Default: False.

Returns:
    Tensor.

Example:
    >>> ag.tensor([1.0]).new_empty(2, 3).shape
    Size([2, 3])""",
"Tensor.new_empty_strided": """Memory as it is found, of this tensor's dtype, in these strides.

Args:
    size (ints): Sizes of the dimensions.
    stride (ints): For each dimension the step in memory, in elements.
    dtype (dtype): Of the result; None: it follows from the other arguments, or is the default
        dtype.
    layout (layout): Only strided.
    device (device): The CPU, under any of its names.
    pin_memory (bool): Only False. Default: False.
    requires_grad (bool): Whether gradients are to be collected for the result. Default: False.

Returns:
    Tensor.

Example:
    >>> ag.tensor([1.0]).new_empty_strided((2, 3), (1, 2)).stride()
    (1, 2)""",
"Tensor.new_full": """fill_value in this tensor's dtype.

Args:
    size (ints): Sizes of the dimensions.
    fill_value (Tensor or number): The number.
    dtype (dtype): Of the result; None: it follows from the other arguments, or is the default
        dtype.
    layout (layout): Only strided.
    device (device): The CPU, under any of its names.
    pin_memory (bool): Only False. Default: False.
    requires_grad (bool): Whether gradients are to be collected for the result. Default: False.

Returns:
    Tensor.

Example:
    >>> ag.tensor([1.0]).new_full((2,), 7)
    tensor([7., 7.])""",
"Tensor.new_ones": """Ones of this tensor's dtype.

Args:
    *sizes (int or Tensor or ints): Sizes of the dimensions, also as one sequence.
    size (int or Tensor or ints): Sizes of the dimensions.
    dtype (dtype): Of the result; None: it follows from the other arguments, or is the default
        dtype.
    layout (layout): Only strided.
    device (device): The CPU, under any of its names.
    pin_memory (bool): Only False. Default: False.
    requires_grad (bool): Whether gradients are to be collected for the result. Default: False.

Returns:
    Tensor.

Example:
    >>> ag.zeros(1, dtype=ag.float64).new_ones(2)
    tensor([1., 1.], dtype=float64)""",
"Tensor.new_zeros": """Zeros of this tensor's dtype.

Args:
    *sizes (int or Tensor or ints): Sizes of the dimensions, also as one sequence.
    size (int or Tensor or ints): Sizes of the dimensions.
    dtype (dtype): Of the result; None: it follows from the other arguments, or is the default
        dtype.
    layout (layout): Only strided.
    device (device): The CPU, under any of its names.
    pin_memory (bool): Only False. Default: False.
    requires_grad (bool): Whether gradients are to be collected for the result. Default: False.

Returns:
    Tensor.

Example:
    >>> ag.ones(1, dtype=ag.int64).new_zeros(2)
    tensor([0, 0])""",
}
for _pair in """Tensor.is_complex:is_complex Tensor.is_conj:is_conj Tensor.is_floating_point:is_floating_point
    Tensor.is_inference:is_inference Tensor.is_neg:is_neg Tensor.is_nonzero:is_nonzero
    Tensor.is_same_size:is_same_size Tensor.is_signed:is_signed""".split():
    TEXTS[_pair.partition(":")[0]] = TEXTS[_pair.partition(":")[2]]
