"""torch.autograd.anomaly_mode: see autograd.anomaly_mode."""

from ..anomaly_mode import *
from ..anomaly_mode import __all__ as __all__
