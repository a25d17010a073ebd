"""Weights in and out: save() and load()."""

from .files import load, save

__all__ = ["load", "save"]
