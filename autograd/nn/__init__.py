"""Modules, layers, losses; nn.functional; initialisation; utilities of modules.

May import: base, core, kernels, modes, ops, spans. Read first: module.py."""

from typing import TYPE_CHECKING, Any

from ..base import docstrings as _docstrings
from ..core.tensor import Parameter as Parameter
from . import attention, common_types, functional, grad, init, modules, parallel, parameter, utils
from .module import Module as Module
from .modules.activation import *
from .modules.adaptive import *
from .modules.attention import *
from .modules.batchnorm import *
from .modules.channelshuffle import *
from .modules.container import *
from .modules.conv import *
from .modules.distance import *
from .modules.dropout import *
from .modules.flatten import *
from .modules.fold import *
from .modules.instancenorm import *
from .modules.lazy import *
from .modules.linear import *
from .modules.linear_cross_entropy import *
from .modules.loss import *
from .modules.normalization import *
from .modules.padding import *
from .modules.parameter_container import *
from .modules.pixelshuffle import *
from .modules.pooling import *
from .modules.rnn import *
from .modules.sparse import *
from .modules.transformer import *
from .modules.upsampling import *
from .parameter import Buffer as Buffer
from .parameter import UninitializedBuffer as UninitializedBuffer
from .parameter import UninitializedParameter as UninitializedParameter

__all__ = [name for name in dir() if not name.startswith("_") and name not in ("Any", "TYPE_CHECKING")]
__all__ += ["DataParallel"]

_docstrings.complete(globals(), "layers", "nn.")

if TYPE_CHECKING:
    from .parallel import DataParallel as DataParallel
else:
    def __getattr__(name: str) -> Any:
        """DataParallel, which a plugin may provide: imported on first use."""
        if name == "DataParallel":
            return getattr(parallel, name)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

    def __dir__() -> list[str]:
        return sorted({*globals(), *__all__})
