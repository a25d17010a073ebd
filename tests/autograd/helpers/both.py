"""For tests that run with our library and with PyTorch, where that is installed: see the argument `lib` in conftest.py."""

import pytest

import autograd as ag

try:
    import torch

    torch.set_num_threads(1)                         # on busy cores its threads wait for each other: 0.1 s for each small call
except ImportError:
    torch = None

LIBS = [ag] if torch is None else [ag, torch]
needs_torch = pytest.mark.skipif(torch is None, reason="PyTorch, the yardstick, is not installed")


def leaf(lib, *values):
    return lib.tensor(list(values), dtype=lib.float64, requires_grad=True)


def function(lib, forward, backward=None, name="F", **extra):
    """A Function of this library from plain functions."""
    body = {"forward": staticmethod(forward), **extra}
    if backward is not None:
        body["backward"] = staticmethod(backward)
    return type(name, (lib.autograd.Function,), body)
