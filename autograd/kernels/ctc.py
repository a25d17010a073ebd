"""Connectionist temporal classification on arrays: the probability of a label sequence, summed over its alignments.

Forward-backward recursions in logarithms (Graves, Fernandez, Gomez, Schmidhuber, "Connectionist temporal classification",
ICML 2006): states are the labels with a blank before, between and after them.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .logarithms import logaddexp

Array = np.ndarray[Any, Any]


def states_of(labels: Array, blank: int) -> tuple[Array, Array]:
    """labels (n, l) as states (n, 2 l + 1), and where one may come from two states before: no blank, no repetition."""
    states = np.full((labels.shape[0], 2 * labels.shape[1] + 1), blank)
    states[:, 1::2] = labels
    skips = np.zeros(states.shape, bool)
    skips[:, 3::2] = labels[:, 1:] != labels[:, :-1]
    return states, skips


def alphas(emissions: Array, skips: Array) -> Array:
    """log P(what is emitted up to time t, state s at t): (t, n, s), for emissions of the same shape."""
    out = np.full(emissions.shape, -np.inf, emissions.dtype)
    if len(out):
        out[0, :, :2] = emissions[0, :, :2]
    for t in range(1, len(out)):
        before = out[t - 1]
        total = before.copy()
        total[:, 1:] = logaddexp(total[:, 1:], before[:, :-1])
        total[:, 2:] = np.where(skips[:, 2:], logaddexp(total[:, 2:], before[:, :-2]), total[:, 2:])
        out[t] = total + emissions[t]
    return out


def betas(emissions: Array, skips: Array, lengths: Array, label_lengths: Array) -> Array:
    """log P(what is emitted from time t on, state s at t), each sample ending at its own length."""
    out = np.full(emissions.shape, -np.inf, emissions.dtype)
    n = np.arange(emissions.shape[1])
    last = 2 * label_lengths
    jumps = np.zeros(skips.shape, bool)
    jumps[:, :-2] = skips[:, 2:]
    for t in range(len(out) - 1, -1, -1):
        if t + 1 < len(out):
            after = out[t + 1]
            total = after.copy()
            total[:, :-1] = logaddexp(total[:, :-1], after[:, 1:])
            total[:, :-2] = np.where(jumps[:, :-2], logaddexp(total[:, :-2], after[:, 2:]), total[:, :-2])
            out[t] = total + emissions[t]
        ending = lengths == t + 1
        out[t, ending] = -np.inf
        out[t, n[ending], last[ending]] = emissions[t, n[ending], last[ending]]
        some = ending & (label_lengths > 0)
        out[t, n[some], last[some] - 1] = emissions[t, n[some], last[some] - 1]
    return out


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


def gradients(log_probs: Array, lengths: Array, label_lengths: Array, nll: Array, kept: Any) -> Array:
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
