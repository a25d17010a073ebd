"""Learning rate schedulers: call scheduler.step() after each epoch (or batch) of optimizer.step()."""

from ...base import docstrings as _docstrings
from .combined import ChainedScheduler, SequentialLR
from .cosine import CosineAnnealingLR, CosineAnnealingWarmRestarts
from .cyclic import CyclicLR
from .factors import ConstantLR, LinearLR, PolynomialLR
from .lambdas import LambdaLR, MultiplicativeLR
from .one_cycle import OneCycleLR
from .plateau import ReduceLROnPlateau
from .scheduler import EPOCH_DEPRECATION_WARNING, LRScheduler
from .steps import ExponentialLR, MultiStepLR, StepLR

_LRScheduler = LRScheduler           # the name that it had before PyTorch 2.0, which older code subclasses

__all__ = ["EPOCH_DEPRECATION_WARNING", "ChainedScheduler", "ConstantLR", "CosineAnnealingLR", "CosineAnnealingWarmRestarts",
           "CyclicLR", "ExponentialLR", "LRScheduler", "LambdaLR", "LinearLR", "MultiStepLR", "MultiplicativeLR",
           "OneCycleLR", "PolynomialLR", "ReduceLROnPlateau", "SequentialLR", "StepLR"]

_docstrings.complete(globals(), "optim", "optim.lr_scheduler.")
