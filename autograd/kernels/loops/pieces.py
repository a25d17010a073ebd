"""Large loops in pieces for the thread pool. This module alone knows how the arrays of a loop are cut.

A loop's arguments are its arrays, the number of its items (elements, rows, or blocks), and settings. Items do not depend on
each other, so a piece is a call of the loop for a range of them. The bits of the results are the same for any number of
threads: a piece never splits an item, and sums over items are made in pieces that depend on sizes only.

A piece costs 6 us of processor time, and waking up a worker 40 us before it begins. Measured on two cores of an AMD EPYC.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from ...base.thread_pool import share
from ...base.types import Array
from .. import threads
from .rows import OF_BIAS, OF_WEIGHT

PIECE = 1 << 17                      # elements of a piece: 20 to 40 us
PASS = 1 << 19                       # the same for loops bound by memory, of which a million elements take 70 us, and for
                                     # sums over items: two threads take 1.2 to 1.7 times as long for half as many
LINE = 64                            # numbers between what two pieces write: no cache line is of both
LEAST = 4                            # pieces from which it pays
WIDE = LEAST * PIECE                 # elements from which loops may be cut
MOST = 8                             # pieces of sums over items: each requires memory of its own
ACROSS, WHOLE, SCRATCH = "/=+"       # an array is cut by items; each piece reads all of it; each piece has its own

# the arrays of each loop that is cut
BY_MEMORY = {
    "adam": "////", "sgd": "//", "sgd_momentum": "///", "to_half": "//", "from_half": "//", "to_half_double": "/+/",
    "from_half_double": "/+/", "to_bfloat16": "//", "from_bfloat16": "//", "relu": "//", "relu_backward": "///",
    "relu_over": "//", "leaky_relu": "//", "leaky_relu_backward": "///", "hardtanh": "//", "hardtanh_backward": "///",
    "hardswish": "//", "hardswish_backward": "///", "hardsigmoid": "//", "hardsigmoid_backward": "///", "smooth_l1": "//",
    "smooth_l1_backward": "///", "smooth_l1_slopes": "///", "layer_norm": "/==///", "running_norm": "/===/"}
BY_ARITHMETIC = {
    "gelu": "//", "gelu_backward": "///", "gelu_tanh": "//", "gelu_tanh_backward": "///", "sigmoid": "//", "silu": "//",
    "silu_backward": "///", "mish": "//", "mish_backward": "///", "softplus": "//", "softplus_backward": "///", "elu": "//",
    "elu_backward": "///", "logit_loss": "///",
    "softmax": "//", "softmax_backward": "///", "power_sums": "/+//", "log_softmax_backward": "///",
    "cross_entropy_backward": "//////", "attention_backward": "//", "words": "//", "leading": "///+",
    "ordered": "///", "most_frequent": "///", "multi_margin": "///", "multi_margin_backward": "////",
    "sums": "/+/", "middle_power_sums": "/++//", "logsumexp_backward": "////", "running_sums": "/+/",
    "running_products": "//", "first_extremes": "///", "running_places": "///", "extremes": "//", "gather": "///",
    "scatter": "///", "log_gamma": "//", "digamma": "//", "error_function": "//", "inverse_error_function": "//",
    "complementary_error_function": "//", "logcumsumexp": "/+/", "multilabel_margin": "////", "cross_entropy": "//+///",
    "log_softmax": "/+/"}
OF_BOTH = {*BY_MEMORY, *BY_ARITHMETIC} - {            # the others are of float32 alone
    "to_half", "from_half", "to_half_double", "from_half_double", "to_bfloat16", "from_bfloat16", "attention_backward",
    "words", "sums", "middle_power_sums", "logsumexp_backward", "extremes", "running_norm"}
for table in (BY_MEMORY, BY_ARITHMETIC):
    table |= {f"{name}_double": kinds for name, kinds in table.items() if name in OF_BOTH}


class InPieces:
    """The loops of one level, by name. Loops that can be cut run in pieces."""

    def __init__(self, library: Any) -> None:
        self.library = library

    def __getattr__(self, name: str) -> Any:
        loop = getattr(self.library, name)
        if name in SPECIAL:
            loop = partial(SPECIAL[name], loop)
        elif name in BY_MEMORY:
            loop = partial(in_pieces, loop, BY_MEMORY[name], PASS)
        elif name in BY_ARITHMETIC:
            loop = partial(in_pieces, loop, BY_ARITHMETIC[name], PIECE)
        setattr(self, name, loop)
        return loop


def in_pieces(loop: Callable[..., Any], kinds: str, piece: int, *args: Any) -> Any:
    """loop(*args), in pieces of at least so many elements; of the pieces' answers one that is not 0."""
    arrays, items, settings = args[:len(kinds)], args[len(kinds)], args[len(kinds) + 1:]
    count = pieces_of(arrays[0].size, items, twice_the_threads(), piece)
    if count == 1:
        return loop(*args)
    return run([partial(loop, *parts, stop - start, *settings) for start, stop, parts in cut(kinds, arrays, items, count)])


def twice_the_threads() -> int:
    """The most pieces of a loop: a thread that has a core to itself runs more of them. 1 for one thread."""
    count = threads.number()
    return count if count == 1 else 2 * count


def pieces_of(size: int, items: int, most: int, piece: int) -> int:
    """The number of pieces for so many elements, which make up so many items; 1 where it does not pay."""
    return max(1, min(size // piece, items, most)) if size >= LEAST * piece else 1


def cut(kinds: str, arrays: tuple[Array, ...], items: int, count: int) -> Iterator[tuple[int, int, list[Array]]]:
    """The first and last item of each piece, and its arrays."""
    flat = [array.reshape(-1) for array in arrays]
    sizes = [array.size // items for array in arrays]
    for k in range(count):
        start, stop = items * k // count, items * (k + 1) // count
        yield start, stop, [array[start * size:stop * size] if kind == ACROSS else np.empty_like(array) if kind == SCRATCH
                            else array for kind, array, size in zip(kinds, flat, sizes, strict=True)]


def run(calls: list[Callable[[], Any]]) -> Any:
    """Make the calls on as many threads as may work; of their answers one that is not 0."""
    answers: list[Any] = []
    share([lambda call=call: answers.append(call()) for call in calls], threads.number())      # type: ignore[misc]
    return next(filter(None, answers), None)


# --- loops that are cut in their own way --------------------------------------------------------------------------------

def _attention(loop: Any, s: Array, tops: Array, sums: Array, matrices: int, rows: int, n: int, first: int,
               scale: float) -> None:
    """By rows; of several causal matrices, whose rows differ, by matrices."""
    if first >= 0 and matrices > 1:
        in_pieces(loop, "///", PIECE, s, tops, sums, matrices, rows, n, first, scale)
        return
    items = matrices * rows
    count = pieces_of(s.size, items, twice_the_threads(), PIECE)
    run([partial(loop, *parts, 1, stop - start, n, first if first < 0 else first + start, scale)
         for start, stop, parts in cut("///", (s, tops, sums), items, count)])


def _layer_norm_backward(loop: Any, g: Array, x: Array, weight: Array, means: Array, scales: Array, gx: Array, gw: Array,
                         gb: Array, totals: Array, rows: int, n: int, parts: int) -> None:
    """The gradients of weight and bias are sums over rows: those of the pieces are added up in float64."""
    count = pieces_of(x.size, rows, MOST, PASS)
    if count == 1:
        loop(g, x, weight, means, scales, gx, gw, gb, totals, rows, n, parts)
        return
    own_totals, own = np.zeros((count, 2 * n + LINE))[:, :2 * n], np.zeros((2, count, n + LINE), x.dtype)[:, :, :n]
    across = cut("//=//" + ("/" if gx is not x else "="), (g, x, weight, means, scales, gx), rows, count)
    run([partial(loop, *arrays, *own[:, k], own_totals[k], stop - start, n, parts)
         for k, (start, stop, arrays) in enumerate(across)])
    totals[:] = own_totals.sum(0)
    if parts & OF_WEIGHT:
        gw.reshape(-1)[:] = totals[:n]
    if parts & OF_BIAS:
        gb.reshape(-1)[:] = totals[n:]


SPECIAL: dict[str, Callable[..., None]] = {"attention_softmax": _attention, "attention_again": _attention,
                                           "layer_norm_backward": _layer_norm_backward,
                                           "layer_norm_backward_double": _layer_norm_backward}

__all__ = ["MOST", "PIECE", "WIDE", "InPieces", "cut", "in_pieces", "pieces_of", "run"]
