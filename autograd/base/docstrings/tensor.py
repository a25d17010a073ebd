"""Written by docs/write_docstrings.py: do not edit."""

TEXTS: dict[str, str] = {
"Tensor.H": """The conjugate transpose of one matrix.

Returns:
    Tensor (n, m) of a matrix (m, n).

Raises:
    RuntimeError: tensor.H is only supported on matrices (2-D tensors).

Example:
    >>> ag.tensor([[1, 2j]]).H
    tensor([[1.-0.j],
            [0.-2.j]])""",
"Tensor.T": """The property x.T: the transpose of a matrix; other numbers of dimensions are reversed, with a
warning.

Returns:
    Tensor with its sizes in reverse order, a view.

Example:
    >>> ag.tensor([[1, 2], [3, 4]]).T
    tensor([[1, 3],
            [2, 4]])""",
"Tensor.as_strided_": """As_strided, of this very tensor: its shape changes. Returns self.

Args:
    size (ints): The shape.
    stride (ints): For each dimension the step in memory, in elements.
    storage_offset (int): The first element.

Returns:
    Tensor.

Raises:
    RuntimeError: {name}: the result would need other memory.

Example:
    >>> ag.tensor([1, 2, 3]).as_strided_((2, 2), (1, 1))
    tensor([[1, 2],
            [2, 3]])""",
"Tensor.backward": """Add d(self)/d(leaf) to .grad of every leaf behind this tensor; see autograd.backward.

Args:
    gradient (Tensor): d(loss)/d(self), of this tensor's shape; 1 for a tensor of one element if
        None.
    retain_graph (bool): Whether saved values are kept for another pass; create_graph's value if
        None.
    create_graph (bool): Whether the pass is recorded, for second derivatives. Default: False.
    inputs (Tensor or Tensors): Tensors whose .grad is to be set; all leaves if None.

Raises:
    RuntimeError: this tensor needs no gradient, it has several elements and `gradient` is None,
        or saved values are freed.

Example:
    >>> x = ag.tensor([1.0, 2.0]).requires_grad_()
    >>> (x * x).sum().backward()
    >>> x.grad
    tensor([2., 4.])""",
"Tensor.bfloat16": """This tensor as bfloat16.

Args:
    memory_format (memory_format): Order of the elements in memory.

Returns:
    Tensor.

Raises:
    ImportError: the package ml_dtypes is not installed.

Example:
    >>> ag.tensor([1, 2]).bfloat16()
    tensor([1., 2.], dtype=bfloat16)""",
"Tensor.bool": """This tensor as bool.

Args:
    memory_format (memory_format): Order of the elements in memory.

Returns:
    Tensor.

Example:
    >>> ag.tensor([0, 2]).bool()
    tensor([False,  True])""",
"Tensor.byte": """This tensor as uint8.

Args:
    memory_format (memory_format): Order of the elements in memory.

Returns:
    Tensor.

Example:
    >>> ag.tensor([1.0, 2.0]).byte()
    tensor([1, 2], dtype=uint8)""",
"Tensor.cdouble": """This tensor as complex128.

Args:
    memory_format (memory_format): Order of the elements in memory.

Returns:
    Tensor.

Example:
    >>> ag.tensor([1.0, 2.0]).cdouble()
    tensor([1.+0.j, 2.+0.j], dtype=complex128)""",
"Tensor.cfloat": """This tensor as complex64.

Args:
    memory_format (memory_format): Order of the elements in memory.

Returns:
    Tensor.

Example:
    >>> ag.tensor([1.0, 2.0]).cfloat()
    tensor([1.+0.j, 2.+0.j])""",
"Tensor.char": """This tensor as int8.

Args:
    memory_format (memory_format): Order of the elements in memory.

Returns:
    Tensor.

Example:
    >>> ag.tensor([1.0, 2.0]).char()
    tensor([1, 2], dtype=int8)""",
"Tensor.copy_": """Write `src` (broadcast, cast) into this tensor's memory. Returns self.

Args:
    src (Tensor or number or sequence): Tensor, array or number, of a shape that broadcasts to
        this one.
    non_blocking (bool): Has no effect. Default: False.

Returns:
    Tensor.

Example:
    >>> x = ag.zeros(2)
    >>> x.copy_(ag.tensor([1, 2]))
    tensor([1., 2.])""",
"Tensor.cpu": """This tensor itself, which is in the CPU's memory already.

Returns:
    Tensor.

Example:
    >>> ag.tensor([1.0]).cpu()
    tensor([1.])""",
"Tensor.cuda": """Raises NotImplementedError: tensors live in the CPU's memory.

Args:
    device (device): The CPU, under any of its names.
    non_blocking (bool): Has no effect. Default: False.
    memory_format (memory_format): Order of the elements in memory.

Returns:
    Tensor.

Raises:
    NotImplementedError: cuda(device={device}): tensors live in the CPU's memory.

Example:
    >>> ag.tensor([1.0]).cuda()
    Traceback (most recent call last):
        ...
    NotImplementedError: cuda(device=None): tensors live in the CPU's memory; leave cuda() out""",
"Tensor.data_ptr": """The address of the first element; 0 for a tensor without elements.

Returns:
    A Python int.

Example:
    >>> x = ag.tensor([1.0, 2.0])
    >>> x[1:].data_ptr() - x.data_ptr()
    4""",
"Tensor.dense_dim": """The number of dimensions: all are dense.

Returns:
    A Python int.

Example:
    >>> ag.ones(2, 3).dense_dim()
    2""",
"Tensor.detach": """The same memory as a leaf that needs no gradient; writes to either are seen by both.

Returns:
    Tensor of the same shape and dtype.

Example:
    >>> x = ag.ones(2, requires_grad=True)
    >>> (2 * x).detach()
    tensor([2., 2.])""",
"Tensor.detach_": """In place: the same memory as a leaf that needs no gradient; writes to either are seen by both.

Returns:
    This tensor.

Raises:
    RuntimeError: this tensor is a leaf that needs a gradient, and recording is on; or the
        result has another shape, or a dtype that can't be cast to this tensor's.

Example:
    >>> x = ag.ones(2, requires_grad=True)
    >>> (2 * x).detach_()
    tensor([2., 2.])""",
"Tensor.device": """The device, which is the CPU.

Returns:
    A device.

Example:
    >>> ag.tensor([1.0]).device
    device(type='cpu')""",
"Tensor.dim": """The number of dimensions.

Returns:
    A Python int.

Example:
    >>> ag.ones(2, 3).dim()
    2""",
"Tensor.dim_order": """The dimensions from the one with the largest step in memory to the one with the smallest.

Returns:
    A tuple of ints.

Example:
    >>> ag.ones(2, 3).T.dim_order()
    (1, 0)""",
"Tensor.double": """This tensor as float64.

Args:
    memory_format (memory_format): Order of the elements in memory.

Returns:
    Tensor.

Example:
    >>> ag.tensor([1, 2]).double()
    tensor([1., 2.], dtype=float64)""",
"Tensor.element_size": """Bytes of one element.

Returns:
    A Python int.

Example:
    >>> ag.ones(3, dtype=ag.float64).element_size()
    8""",
"Tensor.fill_": """Write one number everywhere. Returns self.

Args:
    value (Tensor or number): Number or 0-d tensor.

Returns:
    Tensor.

Raises:
    RuntimeError: fill_ only supports 0-dimension value tensor but got tensor with {value.ndim}
        dimensions.

Example:
    >>> ag.zeros(2).fill_(7)
    tensor([7., 7.])""",
"Tensor.fill_diagonal_": """Write one number to the main diagonal: to the elements whose indices are all equal. Returns self.

wrap: of a matrix with more rows than columns, begin another diagonal below the last, after an empty row.
RuntimeError for less than two dimensions, and for more than two that differ in length.

Args:
    fill_value (float): The number.
    wrap (bool): For matrices of more rows than columns: whether the diagonal begins again.
        Default: False.

Returns:
    Tensor.

Raises:
    RuntimeError: fill_diagonal_: dimensions must be larger than 1.
    RuntimeError: fill_diagonal_: all dimensions of input must be of equal length, not {...}.

Example:
    >>> ag.zeros(2, 2).fill_diagonal_(1)
    tensor([[1., 0.],
            [0., 1.]])""",
"Tensor.float": """This tensor as float32.

Args:
    memory_format (memory_format): Order of the elements in memory.

Returns:
    Tensor.

Example:
    >>> ag.tensor([1, 2]).float()
    tensor([1., 2.])""",
"Tensor.get_device": """-1: the CPU.

Returns:
    A Python int.

Example:
    >>> ag.tensor([1.0]).get_device()
    -1""",
"Tensor.half": """This tensor as float16.

Args:
    memory_format (memory_format): Order of the elements in memory.

Returns:
    Tensor.

Example:
    >>> ag.tensor([1, 2]).half()
    tensor([1., 2.], dtype=float16)""",
"Tensor.imag": """The imaginary part, a view. RuntimeError for a real tensor.

Returns:
    Tensor of the same shape, floating point.

Raises:
    RuntimeError: imag is not implemented for tensors with non-complex dtypes, here
        {input.dtype}.

Example:
    >>> ag.tensor([1 + 2j]).imag
    tensor([2.])""",
"Tensor.int": """This tensor as int32.

Args:
    memory_format (memory_format): Order of the elements in memory.

Returns:
    Tensor.

Example:
    >>> ag.tensor([1.7, -1.7]).int()
    tensor([ 1, -1], dtype=int32)""",
"Tensor.is_contiguous": """Whether the elements are contiguous in memory, in the order of `memory_format`.

Args:
    memory_format (memory_format): Order of the elements in memory.

Returns:
    A Python bool.

Example:
    >>> ag.ones(2, 3).T.is_contiguous()
    False""",
"Tensor.is_cpu": """True: tensors live in the CPU's memory.

Returns:
    A Python bool.

Example:
    >>> ag.tensor([1.0]).is_cpu
    True""",
"Tensor.is_cuda": """False: no tensor lives in the memory of a CUDA device.

Returns:
    A Python bool.

Example:
    >>> ag.tensor([1.0]).is_cuda
    False""",
"Tensor.is_ipu": """False: no tensor lives in the memory of an IPU.

Returns:
    A Python bool.

Example:
    >>> ag.tensor([1.0]).is_ipu
    False""",
"Tensor.is_maia": """False: no tensor lives in the memory of a MAIA device.

Returns:
    A Python bool.

Example:
    >>> ag.tensor([1.0]).is_maia
    False""",
"Tensor.is_meta": """False: every tensor has memory.

Returns:
    A Python bool.

Example:
    >>> ag.tensor([1.0]).is_meta
    False""",
"Tensor.is_mkldnn": """False: no tensor is in oneDNN's own layout.

Returns:
    A Python bool.

Example:
    >>> ag.tensor([1.0]).is_mkldnn
    False""",
"Tensor.is_mps": """False: no tensor lives in the memory of an MPS device.

Returns:
    A Python bool.

Example:
    >>> ag.tensor([1.0]).is_mps
    False""",
"Tensor.is_mtia": """False: no tensor lives in the memory of an MTIA device.

Returns:
    A Python bool.

Example:
    >>> ag.tensor([1.0]).is_mtia
    False""",
"Tensor.is_nested": """False: there are no nested tensors.

Returns:
    A Python bool.

Example:
    >>> ag.tensor([1.0]).is_nested
    False""",
"Tensor.is_pinned": """False: no accelerator, no pinned memory.

Returns:
    A Python bool.

Example:
    >>> ag.tensor([1.0]).is_pinned()
    False""",
"Tensor.is_quantized": """False: there are no quantized tensors.

Returns:
    A Python bool.

Example:
    >>> ag.tensor([1.0]).is_quantized
    False""",
"Tensor.is_set_to": """Whether both are the same elements of the same memory.

Args:
    tensor (Tensor): The other tensor.

Returns:
    A Python bool.

Example:
    >>> x = ag.tensor([1.0, 2.0])
    >>> x.is_set_to(x.view(2)), x.is_set_to(x.clone())
    (True, False)""",
"Tensor.is_shared": """False: no other process sees this memory.

Returns:
    A Python bool.

Example:
    >>> ag.tensor([1.0]).is_shared()
    False""",
"Tensor.is_sparse": """False: every tensor is dense.

Returns:
    A Python bool.

Example:
    >>> ag.tensor([1.0]).is_sparse
    False""",
"Tensor.is_sparse_csr": """False: every tensor is dense.

Returns:
    A Python bool.

Example:
    >>> ag.tensor([1.0]).is_sparse_csr
    False""",
"Tensor.is_vulkan": """False: no tensor lives in the memory of a Vulkan device.

Returns:
    A Python bool.

Example:
    >>> ag.tensor([1.0]).is_vulkan
    False""",
"Tensor.is_xla": """False: no tensor lives in the memory of an XLA device.

Returns:
    A Python bool.

Example:
    >>> ag.tensor([1.0]).is_xla
    False""",
"Tensor.is_xpu": """False: no tensor lives in the memory of an XPU device.

Returns:
    A Python bool.

Example:
    >>> ag.tensor([1.0]).is_xpu
    False""",
"Tensor.item": """The one element, as a Python number.

Returns:
    A Python number.

Raises:
    RuntimeError: the tensor has not one element.

Example:
    >>> ag.tensor(2.5).item()
    2.5""",
"Tensor.itemsize": """Bytes of one element.

Returns:
    A Python int.

Example:
    >>> ag.ones(3, dtype=ag.float64).itemsize
    8""",
"Tensor.layout": """How elements are stored: strided.

Returns:
    A layout.

Example:
    >>> ag.tensor([1.0]).layout
    autograd.strided""",
"Tensor.long": """This tensor as int64.

Args:
    memory_format (memory_format): Order of the elements in memory.

Returns:
    Tensor.

Example:
    >>> ag.tensor([1.7, -1.7]).long()
    tensor([ 1, -1])""",
"Tensor.mH": """The conjugate transpose of each matrix; of real ones mT.

Returns:
    Tensor (..., n, m) of (..., m, n).

Raises:
    RuntimeError: tensor.{name} is only supported on matrices or batches of matrices.

Example:
    >>> ag.tensor([[1, 2j]]).mH
    tensor([[1.-0.j],
            [0.-2.j]])""",
"Tensor.mT": """input with its last two dimensions exchanged, a view.

Returns:
    Tensor (..., n, m) of (..., m, n), a view.

Raises:
    RuntimeError: tensor.{name} is only supported on matrices or batches of matrices.

Example:
    >>> ag.tensor([[1, 2], [3, 4]]).mT
    tensor([[1, 3],
            [2, 4]])""",
"Tensor.nbytes": """Bytes of all elements.

Returns:
    A Python int.

Example:
    >>> ag.ones(3, dtype=ag.float64).nbytes
    24""",
"Tensor.ndimension": """The number of dimensions.

Returns:
    A Python int.

Example:
    >>> ag.ones(2, 3).ndimension()
    2""",
"Tensor.nelement": """The number of elements.

Returns:
    A Python int.

Example:
    >>> ag.ones(2, 3).nelement()
    6""",
"Tensor.new": """x.new(2, 3), x.new(size=(2, 3)), x.new([1, 2]): what Tensor(...) makes, in this tensor's dtype.

Args:
    *data (Tensor or number or sequence): Sizes, or numbers as a nested list.
    size (int or ints): Sizes of the dimensions.
    device (device): The CPU, under any of its names.

Returns:
    Tensor.

Example:
    >>> ag.tensor([1.0]).new([1, 2])
    tensor([1., 2.])""",
"Tensor.numel": """The number of elements.

Returns:
    A Python int.

Example:
    >>> ag.ones(2, 3).numel()
    6""",
"Tensor.numpy": """The array itself, memory shared. Refused when a gradient would be lost: the tensor requires grad, and recording is
on; unless `force`.

Args:
    force (bool): Whether a copy without the graph is returned where the tensor needs a
        gradient. Default: False.

Returns:
    An array of the same shape and dtype.

Raises:
    RuntimeError: the tensor needs a gradient, and force is False.

Example:
    >>> ag.tensor([1.0, 2.0]).numpy()
    array([1., 2.], dtype=float32)""",
"Tensor.pin_memory": """Raises RuntimeError: there is no accelerator to copy to.

Returns:
    Tensor.

Raises:
    RuntimeError: pin_memory() needs an accelerator to copy to.

Example:
    >>> ag.tensor([1.0]).pin_memory()
    Traceback (most recent call last):
        ...
    RuntimeError: pin_memory() needs an accelerator to copy to; tensors here live in the CPU's memory""",
"Tensor.real": """The real part, a view; a real tensor as it is.

Returns:
    Tensor of the same shape; floating point for complex dtypes.

Example:
    >>> ag.tensor([1 + 2j]).real
    tensor([1.])""",
"Tensor.register_hook": """Call hook(grad) each time the gradient of this tensor is computed; a returned Tensor replaces it.

Args:
    hook (Callable[[Tensor], Any]): Called with the gradient; what it returns, if not None,
        replaces it.

Returns:
    A handle, whose remove() takes the hook away.

Raises:
    RuntimeError: the tensor needs no gradient.

Example:
    >>> x = ag.tensor([1.0, 2.0]).requires_grad_()
    >>> handle = x.register_hook(lambda g: 10 * g)
    >>> x.sum().backward()
    >>> x.grad
    tensor([10., 10.])""",
"Tensor.register_post_accumulate_grad_hook": """Call hook(leaf) after backward() has added to the leaf's .grad.

Args:
    hook (Callable[[Tensor], Any]): Called with the leaf.

Returns:
    A handle, whose remove() takes the hook away.

Raises:
    RuntimeError: the tensor needs no gradient, or is no leaf.

Example:
    >>> x = ag.tensor([1.0, 2.0]).requires_grad_()
    >>> handle = x.register_post_accumulate_grad_hook(lambda leaf: print(leaf.grad))
    >>> x.sum().backward()
    tensor([1., 1.])""",
"Tensor.requires_grad_": """Set requires_grad, return self.

Args:
    requires_grad (bool): Whether gradients are to be collected for the result. Default: True.

Returns:
    This tensor.

Raises:
    RuntimeError: requires_grad is False and the tensor is no leaf; or its dtype is neither
        floating point nor complex.

Example:
    >>> ag.tensor([1.0, 2.0]).requires_grad_()
    tensor([1., 2.], requires_grad=True)""",
"Tensor.resize_": """Resize this tensor in place; elements keep their order in memory, further ones are uninitialised.
Returns self.

Args:
    *sizes (int or Tensor or ints): Sizes of the dimensions, also as one sequence.
    memory_format (memory_format): contiguous_format (the default), channels_last or
        channels_last_3d.

Returns:
    Tensor.

Raises:
    RuntimeError: the tensor requires grad; a size is negative; memory_format is
        preserve_format.
    RuntimeError: cannot resize variables that require grad.
    RuntimeError: Trying to create tensor with negative dimension: {...}.
    RuntimeError: Unsupported memory format: resize_() takes contiguous_format, channels_last or
        channels_last_3d.

Example:
    >>> ag.tensor([1.0, 2.0, 3.0]).resize_(2)
    tensor([1., 2.])""",
"Tensor.resize_as_": """resize_ to the shape of another tensor, and with preserve_format to its memory format. Returns self.

Args:
    the_template (Tensor): Tensor of the shape wanted.
    memory_format (memory_format): As for resize_; preserve_format: that of the template.

Returns:
    Tensor.

Example:
    >>> ag.tensor([1.0, 2.0, 3.0]).resize_as_(ag.ones(2))
    tensor([1., 2.])""",
"Tensor.retain_grad": """Let backward() set .grad on this non-leaf tensor too.

Raises:
    RuntimeError: the tensor needs no gradient.

Example:
    >>> x = ag.tensor([1.0, 2.0]).requires_grad_()
    >>> y = 3 * x
    >>> y.retain_grad()
    >>> y.sum().backward()
    >>> y.grad
    tensor([1., 1.])""",
"Tensor.set_": """Let this tensor show the memory of another tensor or of a storage. Returns self.

Without a source it becomes empty. Of a storage, or with a size, the elements are those from `storage_offset` on, in
`size` (all, by default) and `stride` (contiguous, by default).

Args:
    source (int or ints): Tensor or storage whose memory to show; without one the tensor becomes
        empty.
    storage_offset (int): Number of the first element in that memory. Default: 0.
    size (int or Tensor or ints): The new shape; by default the source's.
    stride (int or ints): The new strides, in elements; by default those of a contiguous tensor.

Returns:
    Tensor.

Raises:
    RuntimeError: the tensor requires grad, the dtypes differ, or the elements are not all in
        the source's memory.
    RuntimeError: set_(): the tensor requires grad.
    NotImplementedError: set_() of a view: give the view a new name, as in y = source.view(...).
    TypeError: set_(): argument 'source' must be Tensor or a storage, not {...}.
    RuntimeError: Could not set tensor of type {given.dtype} to a tensor of type {self.dtype}.
    NotImplementedError: set_(): the source requires grad.

Example:
    >>> x, y = ag.zeros(0), ag.tensor([1.0, 2.0, 3.0, 4.0])
    >>> x.set_(y, 1, (2,))
    tensor([2., 3.])""",
"Tensor.short": """This tensor as int16.

Args:
    memory_format (memory_format): Order of the elements in memory.

Returns:
    Tensor.

Example:
    >>> ag.tensor([1.7, -1.7]).short()
    tensor([ 1, -1], dtype=int16)""",
"Tensor.size": """The shape, or one dimension of it.

Args:
    dim (int): Dimension or dimensions; all if None.

Returns:
    A Size, or a Python int.

Example:
    >>> ag.ones(2, 3).size(), ag.ones(2, 3).size(1)
    (Size([2, 3]), 3)""",
"Tensor.sparse_dim": """0: no dimension is sparse.

Returns:
    A Python int.

Example:
    >>> ag.tensor([1.0]).sparse_dim()
    0""",
"Tensor.squeeze_": """Squeeze, of this very tensor: its shape changes. Returns self.

Args:
    dim (int or ints): The dimensions; all of size 1 if None.
    axis (int or ints): NumPy's name of `dim`.

Returns:
    Tensor.

Raises:
    RuntimeError: {name}: the result would need other memory.

Example:
    >>> ag.ones(1, 2).squeeze_()
    tensor([1., 1.])""",
"Tensor.storage": """The elements of the memory that this tensor is a view of.

Returns:
    A TypedStorage.

Example:
    >>> ag.tensor([1.0, 2.0])[1:].storage().tolist()
    [1.0, 2.0]""",
"Tensor.storage_offset": """How many elements before the first one belong to the memory that this tensor is a view of.

Returns:
    A Python int.

Example:
    >>> ag.tensor([1.0, 2.0, 3.0])[1:].storage_offset()
    1""",
"Tensor.stride": """The strides in elements: how far apart neighbours along each dimension, or along `dim`, are in
memory.

Args:
    dim (int): Dimension or dimensions; all if None.

Returns:
    A tuple of ints, or an int.

Example:
    >>> ag.ones(2, 3).stride()
    (3, 1)""",
"Tensor.swapaxes_": """Swapaxes, of this very tensor: its shape changes. Returns self.

Args:
    axis0 (int): The one dimension.
    axis1 (int): The other.

Returns:
    Tensor.

Raises:
    RuntimeError: {name}: the result would need other memory.

Example:
    >>> ag.tensor([[1, 2], [3, 4]]).swapaxes_(0, 1)
    tensor([[1, 3],
            [2, 4]])""",
"Tensor.swapdims_": """Swapdims, of this very tensor: its shape changes. Returns self.

Args:
    dim0 (int): The one dimension.
    dim1 (int): The other.

Returns:
    Tensor.

Raises:
    RuntimeError: {name}: the result would need other memory.

Example:
    >>> ag.tensor([[1, 2], [3, 4]]).swapdims_(0, 1)
    tensor([[1, 3],
            [2, 4]])""",
"Tensor.t_": """The transpose of a matrix, of this very tensor: its shape changes. Returns self.

Returns:
    Tensor.

Raises:
    RuntimeError: {name}: the result would need other memory.

Example:
    >>> ag.tensor([[1, 2], [3, 4]]).t_()
    tensor([[1, 3],
            [2, 4]])""",
"Tensor.to": """This tensor in another dtype: to(dtype), to(device, dtype), to(other), each with non_blocking and copy after it.

Itself where nothing is to be changed, unless `copy`.

Args:
    *args (int or Tensor or ints): a dtype, a device and a dtype, or another tensor.
    dtype (dtype): Of the result; None: it follows from the other arguments, or is the default
        dtype.
    device (device): The CPU, under any of its names.
    non_blocking (bool): Has no effect. Default: False.
    copy (bool): Whether a copy is made even if nothing changes. Default: False.
    memory_format (memory_format): Order of the elements in memory.

Returns:
    Tensor.

Raises:
    TypeError: to() takes (dtype), (device, dtype) or (other), non_blocking and copy, not
        {args}.

Example:
    >>> ag.tensor([1, 2]).to(ag.float64)
    tensor([1., 2.], dtype=float64)""",
"Tensor.to_dense": """The tensor itself: it is dense, and conjugates and negatives are computed at once.

Args:
    *args (int or Tensor or ints): Have no effect.

Returns:
    Tensor.

Example:
    >>> ag.tensor([1, 2]).to_dense()
    tensor([1, 2])""",
"Tensor.tolist": """The elements as nested lists.

Returns:
    Nested lists of Python numbers; of a 0-d tensor a number.

Example:
    >>> ag.tensor([[1, 2], [3, 4]]).tolist()
    [[1, 2], [3, 4]]""",
"Tensor.transpose_": """Transpose, of this very tensor: its shape changes. Returns self.

Args:
    dim0 (int): The one dimension.
    dim1 (int): The other.

Returns:
    Tensor.

Raises:
    RuntimeError: {name}: the result would need other memory.

Example:
    >>> ag.tensor([[1, 2], [3, 4]]).transpose_(0, 1)
    tensor([[1, 3],
            [2, 4]])""",
"Tensor.type": """PyTorch's name of the type, such as "torch.FloatTensor"; with `dtype` (a dtype or such a name) the
tensor as that.

Args:
    dtype (dtype): a dtype, or a name such as "torch.LongTensor"; None asks for the name.
    non_blocking (bool): Has no effect. Default: False.

Returns:
    The name, or a Tensor.

Raises:
    ValueError: invalid type: '{dtype}'.

Example:
    >>> ag.tensor([1.0]).type()
    'torch.FloatTensor'
    >>> ag.tensor([1, 2]).type("torch.FloatTensor")
    tensor([1., 2.])""",
"Tensor.type_as": """This tensor in the dtype of another.

Args:
    other (Tensor or number): Tensor of the dtype wanted.

Returns:
    Tensor.

Example:
    >>> ag.tensor([1, 2]).type_as(ag.tensor([1.0]))
    tensor([1., 2.])""",
"Tensor.unsqueeze_": """Unsqueeze, of this very tensor: its shape changes. Returns self.

Args:
    dim (int): Where the new dimension is.
    axis (int): NumPy's name of `dim`.

Returns:
    Tensor.

Raises:
    RuntimeError: {name}: the result would need other memory.

Example:
    >>> ag.tensor([1, 2]).unsqueeze_(0)
    tensor([[1, 2]])""",
"Tensor.untyped_storage": """The bytes of the memory that this tensor is a view of.

Returns:
    An UntypedStorage.

Example:
    >>> ag.tensor([1.0, 2.0]).untyped_storage().nbytes()
    8""",
"Tensor.zero_": """Write zeros. Returns self.

Returns:
    Tensor.

Example:
    >>> ag.tensor([1.0, 2.0]).zero_()
    tensor([0., 0.])""",
}
