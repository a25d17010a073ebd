"""Binds operations to the class Tensor: operators and methods, conversions, in-place forms, printing, NumPy's protocols.

May import: base, core, kernels, modes, ops, spans. Read first: binding.py."""
