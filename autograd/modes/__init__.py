"""Modes and hooks of a thread: anomaly detection, inference mode, hooks on saved tensors, random number generators.

May import: base, core. Read first: saved_tensor_hooks.py."""
