"""Probability distributions for policies and variational autoencoders, with PyTorch's names.

May import: base, core, ops. Read first: distribution.py."""

from ..base import docstrings as _docstrings
from . import constraints, kl
from .bernoulli import Bernoulli
from .categorical import Categorical, OneHotCategorical
from .distribution import Distribution
from .independent import Independent
from .kl import kl_divergence, register_kl
from .normal import Normal
from .uniform import Uniform

__all__ = ["Bernoulli", "Categorical", "Distribution", "Independent", "Normal", "OneHotCategorical", "Uniform",
           "constraints", "kl", "kl_divergence", "register_kl"]

_docstrings.complete(globals(), "distributions", "distributions.")
