"""torch.autograd.graph: see autograd.graph."""

from ..graph import *
from ..graph import __all__ as __all__
from ..tensor_api.variable import _engine_run_backward as _engine_run_backward
