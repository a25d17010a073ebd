"""Logger: figures of a training, of all ranks' rows, for the console, files, TensorBoard, Weights & Biases and MLflow.

Read first: logger.py.
"""

from .logger import Logger

__all__ = ["Logger"]
