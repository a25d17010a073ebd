"""A checksum of a model's weights that is summed over ranks with the gradients, and shows whether ranks have diverged.

It is sent as single bits, one per element of the message: the sum of a bit over N ranks is 0 or N if all ranks agree. So the
comparison is exact in every dtype that can count ranks, needs no message, and has the same result on all ranks.
"""

from __future__ import annotations

import warnings
import zlib
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..comm import CollectiveError, Communicator
from .verification import abbreviated, first_difference

Array = np.ndarray[Any, Any]

FIRST, EVERY = 16, 8                 # each of the first passes is checked, and later every 8th: 2 us a step of a small MLP
BITS = 32
WIDE = 509                           # words of a row; a prime, so that rows of a matrix that are exchanged are noticed
SMALL = 4 * 8 * WIDE                 # bytes. zlib's crc32 reads 4 to 7 GB/s, NumPy's sum over rows 60 GB/s from the cache
ROOM = 2 + BITS                      # elements of a message: see WeightCheck.fill()
SAMPLE = 64                          # elements at each end of an array that sample() reads

MSG_DIFFERENT = ("{owner}: the weights are not the same on all ranks in backward pass {passes}: {difference}. Each rank "
                 "must load the same values and take the same optimizer steps. verify_every=0 turns this check off, "
                 "parameters_to_ignore lists parameters that may differ")
MSG_UNEVEN = ("{owner}: the weights of the ranks have diverged since join(), which synchronizes weights, but not the state "
              "of optimizers: {difference}. After join(), load one rank's optimizer.state_dict() on all. Reported once")
MSG_HOOKS = ("{owner}: in backward pass {passes} tensor hooks replaced gradients on some ranks only ({some}; none on: "
             "{others}): register the same hooks on all ranks. verify_every=0 turns this check off")


def crc_of(array: Array, crc: int = 0) -> int:
    """The checksum of an array's elements, continued from an earlier checksum."""
    if not array.flags.c_contiguous:
        array = np.ascontiguousarray(array)
    data = array.reshape(-1).view(np.uint8)
    if data.nbytes >= SMALL:
        rows = data.nbytes // (8 * WIDE)
        whole = rows * 8 * WIDE
        crc = zlib.crc32(np.add.reduce(data[:whole].view(np.uint64).reshape(rows, WIDE), axis=0), crc)
        data = data[whole:]
    return zlib.crc32(data.data, crc)


def bits_of(number: int) -> Array:
    """The bits of a checksum, as an array of zeros and ones."""
    return np.unpackbits(np.array([number], np.uint32).view(np.uint8))


class WeightCheck:
    """Compares the weights of a model over ranks in some of its backward passes.

    owner: begins the message. named: the parameters that all ranks hold whole and equal, with their names.
    """

    def __init__(self, owner: str, named: Sequence[tuple[str, Any]]) -> None:
        self.owner: str = owner
        self.named: list[tuple[str, Any]] = list(named)
        self.passes: int = 0                         # that are complete; the same number on all ranks
        self.on: bool = True                         # False after stop()
        self.due: bool = True                        # whether the running pass is checked
        self.uneven: bool = False                    # join() has left optimizers with different states
        self._hooks: list[str] = []                  # that replaced gradients in the checked pass

    def stop(self) -> None:
        """Compare no further passes: ranks have different gradients, as in local SGD."""
        self.on = self.due = False

    def _end_pass(self) -> bool:
        """Count a pass. Returns whether it is checked."""
        due = self.due
        self.passes += 1
        self.due = self.on and (self.passes < FIRST or self.passes % EVERY == 0)
        return due

    def checksum(self) -> int:
        """The checksum of all weights of this rank."""
        crc = 0
        for _, p in self.named:
            array = p.array
            crc = (zlib.crc32(array, crc) if array.nbytes < SMALL and array.flags.c_contiguous and array.dtype.kind != "V"
                   else crc_of(array, crc))
        return crc

    def fill(self, room: Array, replaced: Sequence[tuple[Any, Any]] = ()) -> None:
        """If this pass is checked, write 1, whether hooks replaced gradients, and the bits of the weights (zeros if not
        compared) into the ROOM elements of a message. replaced: those of the BackwardPass."""
        if self.due:
            self._hooks = [self._described(hook, node) for hook, node in replaced] if replaced else []
            room[0], room[1], room[2:] = 1, bool(replaced), bits_of(self.checksum())

    def compare(self, room: Array, comm: Communicator, alike: Callable[[], bool]) -> None:
        """CollectiveError, on all ranks, if weights differ, or hooks replaced gradients on some ranks only (which may be,
        unless alike(): all ranks have used the same parameters). Collective only then."""
        if not self._end_pass():
            return
        ranks = comm.size
        here, hooks, *sums = room.tolist()
        room[...] = 0
        if here == ranks and not same(sums, ranks):
            self._explain(comm)
        if here == ranks and hooks not in (0, ranks) and alike():
            found = comm.allgather_object([abbreviated(list(dict.fromkeys(self._hooks)))])
            raise CollectiveError(MSG_HOOKS.format(
                owner=self.owner, passes=self.passes,
                some="; ".join(f"on rank {rank}: {text}" for rank, text in enumerate(found) if text),
                others=", ".join(str(rank) for rank, text in enumerate(found) if not text)))

    def _described(self, hook: Any, node: Any) -> str:
        """A hook, and the tensor whose gradient it has replaced."""
        names = [name for name, p in self.named if p is getattr(node, "variable", None)]
        what = names[0] if names else f"the output of {node.name()}"
        return f"{getattr(hook, '__qualname__', type(hook).__name__)} on {what}"

    def gather(self, comm: Communicator) -> None:
        """Compare in a separate collective, if this pass is checked: for passes whose messages have no room."""
        if self._end_pass() and len(set(comm.allgather([np.array([self.checksum()])])[0].tolist())) > 1:
            self._explain(comm)

    def _explain(self, comm: Communicator) -> None:
        """CollectiveError, on all ranks, with the parameters that differ; after join() a warning. Collective."""
        difference = first_difference([(name, _one_nan(p.array)) for name, p in self.named], comm)
        if difference and self.uneven:
            self.stop()
            warnings.warn(MSG_UNEVEN.format(owner=self.owner, difference=difference), UserWarning, stacklevel=2)
        elif difference:
            raise CollectiveError(MSG_DIFFERENT.format(owner=self.owner, passes=self.passes, difference=difference))


def same(sums: Sequence[float], ranks: int) -> bool:
    """Whether all ranks had the same bits, by their sums."""
    return all(n in (0, ranks) for n in sums)


def sample(arrays: Sequence[Array]) -> Array:
    """The bits of the checksum of a few elements of each array."""
    crc = 0
    for array in arrays:
        crc = crc_of(array[:SAMPLE], crc_of(array[-SAMPLE:], crc))
    return bits_of(crc)


def _one_nan(array: Array) -> Array:
    """The array with one kind of nan: which one a sum of several leaves has depends on their order."""
    wrong = array != array
    return np.where(wrong, np.array(np.nan, array.dtype), array) if wrong.any() else array
