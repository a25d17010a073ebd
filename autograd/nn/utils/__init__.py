"""What is done to modules and their parameters, under PyTorch's names."""

from . import parametrizations, parametrize, rnn, stateless
from .init import skip_init
from .spectral_norm import remove_spectral_norm, spectral_norm
from .weight_norm import remove_weight_norm, weight_norm

__all__ = ["parametrizations", "parametrize", "remove_spectral_norm", "remove_weight_norm", "rnn", "skip_init",
           "spectral_norm", "stateless", "weight_norm"]
