"""Spectra of short windows of a signal, and the signal of such spectra (D. Griffin and J. Lim, Signal estimation from
modified short-time Fourier transform, IEEE Trans. ASSP 32 (1984))."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from ...core.casting import casts_float32
from ...core.tensor import Tensor, result
from ..pointwise.arithmetic import mul
from ..pointwise.complex import as_complex, view_as_real
from ..shape import narrow, transpose, unfold, unsqueeze
from ..shape.pad import constant_pad_nd, pad
from ..shape.sliding import overlapped
from .fft import fft, ifft, irfft, rfft

MSG_COMPLEX = "Cannot have onesided output if window or input is complex"


def _demand(holds: bool, name: str, text: str) -> None:
    if not holds:
        raise RuntimeError(f"{name}: {text}")


def _settings(name: str, n_fft: int, hop_length: int | None, win_length: int | None,
              window: Tensor | None) -> tuple[int, int]:
    """The hop and the window's length, checked."""
    hop = n_fft // 4 if hop_length is None else hop_length
    length = n_fft if win_length is None else win_length
    _demand(hop > 0, name, f"expected hop_length > 0, but got hop_length={hop}")
    _demand(0 < length <= n_fft, name, f"expected 0 < win_length <= n_fft, but got win_length={length}, n_fft={n_fft}")
    if window is None:
        warnings.warn("A window was not provided. A rectangular window will be applied, which is known to cause spectral "
                      "leakage. Other windows such as hann_window can reduce it.", UserWarning, stacklevel=4)
    else:
        _demand(tuple(window.shape) == (length,), name, f"expected a 1D window tensor of size equal to win_length={length}, "
                                                        f"but got window with size {list(window.shape)}")
    return hop, length


def _centred(window: Tensor | None, length: int, n_fft: int, dtype: np.dtype[Any]) -> Tensor:
    """The window with zeros on both sides; ones if there is none."""
    if window is None:
        window = result(np.ones(length, dtype))
    left = (n_fft - length) // 2
    return constant_pad_nd(window, (left, n_fft - length - left)) if length < n_fft else window


@casts_float32
def stft(input: Tensor, n_fft: int, hop_length: int | None = None, win_length: int | None = None,
         window: Tensor | None = None, center: bool = True, pad_mode: str = "reflect", normalized: bool = False,
         onesided: bool | None = None, return_complex: bool | None = None, align_to_window: bool | None = None) -> Tensor:
    """The Fourier transforms of windows of n_fft points, one each hop_length, of (..., L): (..., frequencies, windows).

    center: the signal is padded so that window t is centred at t * hop_length. onesided: the frequencies above n_fft / 2,
    which mirror the others, are left out (what real signals get by default)."""
    if align_to_window:
        raise NotImplementedError("stft: align_to_window is not implemented; pad the signal instead")
    complex_input = input.dtype.kind == "c" or (window is not None and window.dtype.kind == "c")
    if return_complex is None and not complex_input:
        raise RuntimeError("stft requires the return_complex parameter be given for real inputs, and will further require "
                           "that return_complex=True in a future PyTorch release.")
    _demand(input.dtype.kind in "fcV", "stft", f"expected a tensor of floating point or complex values, not {input.dtype}")
    _demand(input.ndim in (1, 2), "stft", f"expected a 1D or 2D tensor, not one of shape {list(input.shape)}")
    if onesided and complex_input:
        raise RuntimeError(MSG_COMPLEX)
    x = input if input.ndim == 2 else unsqueeze(input, 0)
    if center:
        x = pad(unsqueeze(x, 0), (n_fft // 2, n_fft // 2), pad_mode)[0]
    _demand(0 < n_fft <= x.shape[-1], "stft", f"expected 0 < n_fft <= {x.shape[-1]}, but got n_fft={n_fft}")
    hop, length = _settings("stft", n_fft, hop_length, win_length, window)
    frames = unfold(x, -1, n_fft, hop)
    if window is not None or length < n_fft:
        frames = mul(frames, _centred(window, length, n_fft, np.abs(np.empty(0, x.dtype)).dtype))
    transform = fft if complex_input or onesided is False else rfft
    out = transpose(transform(frames, norm="ortho" if normalized else None), 1, 2)
    out = out if input.ndim == 2 else out[0]
    return out if return_complex or (return_complex is None and complex_input) else view_as_real(out)


def istft(input: Tensor, n_fft: int, hop_length: int | None = None, win_length: int | None = None,
          window: Tensor | None = None, center: bool = True, normalized: bool = False, onesided: bool | None = None,
          length: int | None = None, return_complex: bool = False) -> Tensor:
    """The signal whose stft() is nearest to input: the windows' signals added up, divided by the sum of squared windows."""
    _demand(isinstance(input, Tensor) and input.dtype.kind == "c", "istft", "requires a complex-valued input tensor, what "
                                                                           "stft gives with return_complex=True.")
    _demand(input.array.size > 0, "istft", "input tensor cannot be empty.")
    _demand(input.ndim in (2, 3), "istft", f"expected a tensor with 2 or 3 dimensions, not {input.ndim}")
    bins = input.shape[-2]
    half = bins != n_fft if onesided is None else onesided
    expected = n_fft // 2 + 1 if half else n_fft
    _demand(bins == expected, "istft", f"expected the frequency dimension (3rd to the last) of the input tensor to match "
                                       f"n_fft={n_fft} when onesided={half}: {expected}, but got {bins}")
    hop, size = _settings("istft", n_fft, hop_length, win_length, window)
    _demand(hop <= size, "istft", f"expected 0 < hop_length <= win_length, but got hop_length={hop}, win_length={size}")
    complex_window = window is not None and window.dtype.kind == "c"
    if half and (return_complex or complex_window):
        raise RuntimeError(MSG_COMPLEX)
    _demand(return_complex or not complex_window, "istft", "complex windows are incompatible with return_complex=False")
    norm = "ortho" if normalized else None
    spectra = transpose(input if input.ndim == 3 else unsqueeze(input, 0), 1, 2)
    if return_complex:
        frames = ifft(spectra, norm=norm)
    else:                                            # a real signal is known from the lower half of its frequencies
        frames = irfft(spectra[..., :n_fft // 2 + 1], n_fft, norm=norm)
    weights = _centred(window, size, n_fft, np.abs(np.empty(0, input.dtype)).dtype)
    out = _joined(mul(frames, weights), mul(weights, weights), hop, n_fft // 2 if center else 0, length)
    return out if input.ndim == 3 else out[0]


def _joined(frames: Tensor, squares: Tensor, hop: int, start: int, length: int | None) -> Tensor:
    """Overlapping frames added up and divided by the sum of the squared windows, from `start` on."""
    batch, count, n_fft = frames.shape
    total = n_fft + hop * (count - 1)
    signal = overlapped(frames, (batch, total), 1, n_fft, hop)
    envelope = overlapped(squares.expand(1, count, n_fft), (1, total), 1, n_fft, hop)
    end = total - start if length is None else min(start + length, total)
    signal, envelope = narrow(signal, 1, start, end - start), narrow(envelope, 1, start, end - start)
    low = np.abs(envelope.array).min(initial=np.inf)
    _demand(low > 1e-11, "istft", f"window overlap add min: {low}; the sum of the squared windows must not be 0 anywhere")
    signal = signal / (as_complex(envelope) if signal.dtype.kind == "c" else envelope)
    if length is not None and length > end - start:
        warnings.warn("The length of signal is shorter than the length parameter. Result is being padded with zeros in the "
                      "tail. Please check your center and hop_length settings.", UserWarning, stacklevel=4)
        signal = constant_pad_nd(signal, (0, length - (end - start)))
    return signal


__all__ = ["istft", "stft"]
METHODS = ["istft", "stft"]
