"""Random number generators: seeds, the default generator, and saving and restoring its state."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

import numpy as np

from ..base.devices import CPU, device
from ..core.primitive import drawn, primitive, watchers
from ..core.tensor import Tensor, result


class Generator:
    """A stream of random numbers. `numpy` is the numpy.random.Generator (PCG64) that draws them, made when it is first
    used: importing numpy.random takes 5 ms.

    The numbers differ from PyTorch's for the same seed; they are the same on every machine and rank."""

    device = CPU
    numpy: np.random.Generator

    def __init__(self, device: Any = "cpu") -> None:
        if _type(device) != "cpu":
            raise NotImplementedError(f"Generator(device={str(device)!r}): only 'cpu'")
        self.seed()

    def manual_seed(self, seed: int) -> Generator:
        """Seed the stream (an integer of 64 bits; negative ones wrap at 2^64)."""
        if not -2**63 <= int(seed) < 2**64:
            raise ValueError(f"Overflow when unpacking long long: the seed {seed} is not between -2**63 and 2**64 - 1")
        self._seed = int(seed) % 2**64
        vars(self).pop("numpy", None)
        return self

    if not TYPE_CHECKING:                            # for checkers there is `numpy` alone
        def __getattr__(self, name: str) -> Any:
            if name != "numpy" or "_seed" not in vars(self):
                raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
            return vars(self).setdefault("numpy", np.random.Generator(np.random.PCG64(self._seed)))

    def seed(self) -> int:
        """Seed the stream from the operating system's entropy; returns the seed."""
        return self.manual_seed(int.from_bytes(os.urandom(8), "little") >> 1).initial_seed()

    def initial_seed(self) -> int:
        """The seed of the stream."""
        return self._seed

    def get_state(self) -> Tensor:
        """The state of the stream, for set_state: a vector of uint8."""
        state: Any = self.numpy.bit_generator.state
        words = (state["state"]["state"], state["state"]["inc"], self._seed, state["has_uint32"], state["uinteger"])
        packed = b"".join(int(word).to_bytes(size, "little") for word, size in zip(words, SIZES, strict=True))
        return result(np.frombuffer(packed, np.uint8).copy())

    def set_state(self, new_state: Tensor) -> Generator:
        """Restore the state that get_state returned."""
        if not isinstance(new_state, Tensor) or new_state.dtype != np.uint8:
            raise TypeError(f"expected a ByteTensor, but got {getattr(new_state, 'dtype', type(new_state).__name__)}")
        packed = new_state.array.tobytes()
        if len(packed) != sum(SIZES):
            raise RuntimeError(f"RNG state is wrong size: {len(packed)} bytes, not {sum(SIZES)}")
        words, start = [], 0
        for size in SIZES:
            words.append(int.from_bytes(packed[start:start + size], "little"))
            start += size
        self.numpy.bit_generator.state = {"bit_generator": "PCG64", "state": {"state": words[0], "inc": words[1]},
                                          "has_uint32": words[3], "uinteger": words[4]}
        self._seed = words[2]
        return self

    def clone_state(self) -> Generator:
        """A new generator with the same state."""
        return Generator().set_state(self.get_state())

    def __getstate__(self) -> dict[str, Any]:
        return {"state": self.get_state().array}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.seed()
        self.set_state(result(state["state"]))


class Branch(Generator):
    """A stream for work that runs in parallel with other work. It is seeded at its first draw, from the parent's state and
    `number`. The parent must not draw meanwhile, and must draw something afterwards if a branch was `used`."""

    used: bool = False

    def __init__(self, parent: Generator, number: int) -> None:
        self._parent, self._number, self._seed = parent, number, parent.initial_seed()

    def manual_seed(self, seed: int) -> Generator:
        """Seed this branch only."""
        super().manual_seed(seed)
        self.numpy = np.random.Generator(np.random.PCG64(self._seed))
        return self

    @property
    def numpy(self) -> np.random.Generator:          # type: ignore[override]
        """The NumPy generator, seeded from the parent's state and this branch's number at the first draw."""
        if not self.used:
            state = int.from_bytes(self._parent.get_state().array.tobytes(), "little")
            self.numpy = np.random.Generator(np.random.PCG64([state, self._number]))
        return self._stream

    @numpy.setter
    def numpy(self, stream: np.random.Generator) -> None:
        self._stream, self.used = stream, True


@contextlib.contextmanager
def branches(count: int) -> Iterator[list[Branch]]:
    """A block around work in `count` threads. Each thread draws from its own branch by using_generator(), so the numbers do
    not depend on which thread draws first."""
    parent = default_generator()
    made = [Branch(parent, number) for number in range(count)]
    try:
        yield made
    finally:
        if any(branch.used for branch in made):
            parent.numpy.integers(2**63)


SIZES = (16, 16, 8, 1, 4)            # bytes of: PCG64's state and increment, the seed, whether half a word is left, that


def _type(where: Any) -> str:
    return device(where).type


_default = Generator()
_own: ContextVar[Generator | None] = ContextVar("own generator", default=None)


def default_generator() -> Generator:
    """The generator used where none is passed: this thread's own if it has one, else the process's."""
    return _own.get() or _default


def use_generator(generator: Generator) -> None:
    """Draw from `generator` where none is passed, in this thread only: see using_generator()."""
    _own.set(generator)


class using_generator:
    """A block in which this thread draws from `generator` (the default one if None) where none is passed.

    Args:
        generator (Generator): Source of random numbers.

    Example:
        >>> with ag.random.using_generator(ag.Generator().manual_seed(0)):
        ...     x = ag.rand(2)
    """

    def __init__(self, generator: Generator) -> None:
        self._generator = generator

    def __enter__(self) -> None:
        self._token = _own.set(self._generator)

    def __exit__(self, *exception: object) -> None:
        _own.reset(self._token)


def drawing(generator: Generator | None) -> np.random.Generator:
    """The NumPy generator of `generator`, or of the default generator, for a draw."""
    if watchers:
        drawn()
    if generator is None:
        return default_generator().numpy
    if not isinstance(generator, Generator):
        raise TypeError(f"argument 'generator' must be a Generator, not {type(generator).__name__}")
    return generator.numpy


@primitive
def keep_mask(shape: tuple[int, ...], p: float) -> Any:
    """A mask that is True with probability 1 - p, for dropout."""
    return drawing(None).random(shape, np.float32) >= p


def manual_seed(seed: int) -> Generator:
    """Seed the default generator; returns it."""
    return default_generator().manual_seed(seed)


def seed() -> int:
    """Seed the default generator from the operating system's entropy; returns the seed."""
    return default_generator().seed()


def initial_seed() -> int:
    """The default generator's seed."""
    return default_generator().initial_seed()


def get_rng_state() -> Tensor:
    """The state of the default generator: a vector of uint8."""
    return default_generator().get_state()


def set_rng_state(new_state: Tensor) -> None:
    """Restore the default generator's state from get_rng_state()."""
    default_generator().set_state(new_state)


@contextlib.contextmanager
def fork_rng(devices: Any = None, enabled: bool = True, device_type: str = "cpu") -> Iterator[None]:
    """Context manager and decorator that restores the default generator's state on exit."""
    if devices or device_type not in ("cpu", "cuda"):
        raise NotImplementedError(f"fork_rng(devices={devices!r}, device_type={device_type!r}): there is the CPU only")
    state = get_rng_state()
    try:
        yield
    finally:
        if enabled:
            set_rng_state(state)
