"""Logger: figures of a training, of all ranks' rows, for the console, files, TensorBoard, Weights & Biases and MLflow.

Read first: logger.py.
"""

from autograd.base.docstrings import attach_to_modules

from .logger import Logger

attach_to_modules("dparallel.observe")
__all__ = ["Logger"]
