"""Discrete Fourier transforms under the names of torch.fft."""

from .base import docstrings as _docstrings
from .ops.signal.fft import (
           fft,
           fft2,
           fftfreq,
           fftn,
           fftshift,
           hfft,
           hfft2,
           hfftn,
           ifft,
           ifft2,
           ifftn,
           ifftshift,
           ihfft,
           ihfft2,
           ihfftn,
           irfft,
           irfft2,
           irfftn,
           rfft,
           rfft2,
           rfftfreq,
           rfftn,
)

__all__ = ["fft", "fft2", "fftfreq", "fftn", "fftshift", "hfft", "hfft2", "hfftn", "ifft", "ifft2", "ifftn", "ifftshift",
           "ihfft", "ihfft2", "ihfftn", "irfft", "irfft2", "irfftn", "rfft", "rfft2", "rfftfreq", "rfftn"]

_docstrings.attach(globals(), "fft", "fft.")
