"""Connectionist temporal classification on arrays: the probability of a label sequence, summed over its alignments.

Forward-backward recursions in logarithms (Graves, Fernandez, Gomez, Schmidhuber, "Connectionist temporal classification",
ICML 2006): states are the labels with a blank before, between and after them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..base.types import Array
from .logarithms import logaddexp


def states_of(labels: Array, blank: int) -> tuple[Array, Array]:
    """labels (n, l) as states (n, 2 l + 1), and where one may come from two states before: no blank, no repetition."""
    states = np.full((labels.shape[0], 2 * labels.shape[1] + 1), blank)
    states[:, 1::2] = labels
    skips = np.zeros(states.shape, bool)
    skips[:, 3::2] = labels[:, 1:] != labels[:, :-1]
    return states, skips


def either(a: Array, b: Array, c: Array) -> Array:
    """log(exp(a) + exp(b) + exp(c))."""
    top = np.maximum(np.maximum(a, b), c)
    np.maximum(top, np.finfo(top.dtype).min, out=top)              # infinities have no difference
    total = np.exp(a - top)
    total += np.exp(b - top)
    total += np.exp(c - top)
    np.log(total, out=total)
    total += top
    return total


def alphas(emissions: Array, skips: Array) -> Array:
    """log P(what is emitted up to time t, state s at t): (t, n, s), for emissions of the same shape."""
    steps, n, states = emissions.shape
    out = np.full((steps, n, states + 2), -np.inf, emissions.dtype)          # two states more, in front, that none is in
    closed = np.where(skips, 0, -np.inf).astype(emissions.dtype)
    if steps:
        out[0, :, 2:4] = emissions[0, :, :2]
    with np.errstate(divide="ignore"):
        for t in range(1, steps):
            before = out[t - 1]
            np.add(either(before[:, 2:], before[:, 1:-1], before[:, :-2] + closed), emissions[t], out=out[t, :, 2:])
    return out[:, :, 2:]


def betas(emissions: Array, skips: Array, lengths: Array, label_lengths: Array) -> Array:
    """log P(what is emitted from time t on, state s at t), each sample ending at its own length."""
    steps, size, states = emissions.shape
    out = np.full((steps, size, states + 2), -np.inf, emissions.dtype)       # two states more, behind
    n, last = np.arange(size), 2 * label_lengths
    closed = np.full(skips.shape, -np.inf, emissions.dtype)
    closed[:, :-2][skips[:, 2:]] = 0
    with np.errstate(divide="ignore"):
        for t in range(steps - 1, -1, -1):
            if t + 1 < steps:
                after = out[t + 1]
                np.add(either(after[:, :-2], after[:, 1:-1], after[:, 2:] + closed), emissions[t], out=out[t, :, :-2])
            ending = lengths == t + 1
            if ending.any():
                out[t, ending] = -np.inf
                out[t, n[ending], last[ending]] = emissions[t, n[ending], last[ending]]
                some = ending & (label_lengths > 0)
                out[t, n[some], last[some] - 1] = emissions[t, n[some], last[some] - 1]
    return out[:, :, :-2]


def losses(log_probs: Array, labels: Array, lengths: Array, label_lengths: Array, blank: int) -> tuple[Array, Any]:
    """-log P(labels) for log_probs (t, n, c), labels (n, l), by sample; and what gradients() needs of it."""
    states, skips = states_of(labels, blank)
    n = np.arange(len(states))
    emissions = log_probs[:, n[:, None], states]
    forward = alphas(emissions, skips)
    at = np.maximum(lengths - 1, 0)
    if len(forward):
        end = forward[at, n, 2 * label_lengths]
        before = np.where(label_lengths > 0, forward[at, n, np.maximum(2 * label_lengths - 1, 0)], -np.inf)
        total = logaddexp(end, before)
    else:
        total = np.zeros(len(states), log_probs.dtype)
    empty = np.where(label_lengths == 0, 0.0, -np.inf)             # nothing emitted: fine where nothing is asked for
    out = -np.where(lengths == 0, empty, total).astype(log_probs.dtype)
    return out, (states, skips, emissions, forward)


def gradients(log_probs: Array, lengths: Array, label_lengths: Array, nll: Array, kept: Sequence[Array]) -> Array:
    """d loss / d logits (t, n, c), where log_probs = log_softmax(logits): P(class) - P(class | labels), by time."""
    states, skips, emissions, forward = kept
    backward = betas(emissions, skips, lengths, label_lengths)
    posterior = np.exp(forward + backward - emissions + nll[:, None])
    posterior = np.where(np.isneginf(forward) | np.isneginf(backward), np.zeros((), log_probs.dtype), posterior)
    classes = (states[:, :, None] == np.arange(log_probs.shape[2])).astype(log_probs.dtype)
    by_class = np.matmul(posterior.transpose(1, 0, 2), classes).transpose(1, 0, 2)
    inside = np.arange(len(log_probs))[:, None] < lengths
    with np.errstate(invalid="ignore"):
        out = np.exp(log_probs) - by_class
        out[:, np.isinf(nll)] = np.nan
    return np.where(inside[:, :, None], out, np.zeros((), log_probs.dtype))
