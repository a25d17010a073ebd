"""torch.types: names of types for annotations."""

from .tensor_api.annotations import (
    Device,
    FileLike,
    Number,
    Size,
    Storage,
    Tensor,
    _bool,
    _bytes,
    _complex,
    _device,
    _dtype,
    _float,
    _int,
    _layout,
    _Number,
    _size,
    _str,
    _TensorOrTensors,
)

__all__ = ["Device", "FileLike", "Number", "Size", "Storage", "Tensor", "_Number", "_TensorOrTensors", "_bool", "_bytes",
           "_complex", "_device", "_dtype", "_float", "_int", "_layout", "_size", "_str"]
