"""Processes, by the names of torch.multiprocessing."""

from multiprocessing import *  # noqa: F403

from .compat.multiprocessing import *  # noqa: F403
from .compat.multiprocessing import __all__ as __all__
