"""Random numbers: generators with a seed, one default generator, its state in and out."""

from __future__ import annotations

import secrets
from typing import Any

import numpy as np


class Generator:
    """A stream of random numbers. `numpy` is the numpy.random.Generator (PCG64) that draws them.

    The numbers differ from PyTorch's for the same seed; they are the same on every machine and rank.
    """

    def __init__(self, device: str = "cpu") -> None:
        if device != "cpu":
            raise NotImplementedError(f"Generator(device={device!r}): only 'cpu'")
        self.seed()

    def manual_seed(self, seed: int) -> Generator:
        """Start the stream of this seed (any integer; negative ones wrap at 2^64)."""
        self._seed = int(seed) % 2**64
        self.numpy = np.random.Generator(np.random.PCG64(self._seed))
        return self

    def seed(self) -> int:
        """Start a stream of a seed that nobody can guess; returns it."""
        return self.manual_seed(secrets.randbits(63)).initial_seed()

    def initial_seed(self) -> int:
        """The seed of the stream."""
        return self._seed

    def get_state(self) -> dict[str, Any]:
        """Where the stream stands, for set_state."""
        return dict(self.numpy.bit_generator.state)

    def set_state(self, state: dict[str, Any]) -> None:
        """Go on from where get_state was called."""
        self.numpy.bit_generator.state = state


_default = Generator()


def default_generator() -> Generator:
    """The generator used where none is passed."""
    return _default


def manual_seed(seed: int) -> Generator:
    """Seed the default generator; returns it."""
    return _default.manual_seed(seed)


def initial_seed() -> int:
    """The default generator's seed."""
    return _default.initial_seed()
