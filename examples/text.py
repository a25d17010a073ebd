"""Text that every machine has: the source of Python's own standard library, as numbers of characters."""

import argparse
import textwrap
import typing
from pathlib import Path

import numpy as np

import autograd as ag

MODULES = (textwrap, argparse, typing)


class Text:
    """Characters as numbers, and batches of pieces of the text with the same pieces one character later."""

    def __init__(self):
        text = "".join(Path(module.__file__).read_text() for module in MODULES)
        text = "".join(c for c in text if c in "\n" or " " <= c <= "~")
        self.letters = sorted(set(text))
        number = {c: i for i, c in enumerate(self.letters)}
        self.data = np.array([number[c] for c in text])

    def batch(self, rows, length, step, comm):
        """(rows, length) numbers and their successors: this rank's share of a batch that all ranks draw alike."""
        starts = np.random.default_rng([7, step]).integers(0, len(self.data) - length - 1, rows)
        pieces = self.data[comm.share(starts)[:, None] + np.arange(length + 1)]
        return ag.tensor(pieces[:, :-1]), ag.tensor(pieces[:, 1:])

    def words(self, numbers):
        """Numbers as text."""
        return "".join(self.letters[i] for i in numbers)
