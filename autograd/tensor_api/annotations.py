"""The names of torch.types, for annotations."""

import os
from builtins import bool as _bool
from builtins import bytes as _bytes
from builtins import complex as _complex
from builtins import float as _float
from builtins import int as _int
from builtins import str as _str
from collections.abc import Sequence
from typing import IO, Any, Union

from numpy import dtype as _dtype

from ..base.devices import device as _device
from ..base.devices import layout as _layout
from ..base.size import Size
from ..core.tensor import Tensor
from .storage import UntypedStorage as Storage

Number = Union[_int, _float, _bool]                             # noqa: UP007
_size = Union[Size, list[_int], tuple[_int, ...]]               # noqa: UP007
Device = Union[_device, _str, _int, None]                       # noqa: UP007
FileLike = Union[_str, os.PathLike[_str], IO[_bytes]]           # noqa: UP007
_Number = (_bool, _int, _float)
_TensorOrTensors = Union[Tensor, Sequence[Tensor]]              # noqa: UP007

__all__ = ["Any", "Device", "FileLike", "Number", "Size", "Storage", "Tensor", "_bool", "_bytes", "_complex", "_device",
           "_dtype", "_float", "_int", "_layout", "_size", "_str"]
