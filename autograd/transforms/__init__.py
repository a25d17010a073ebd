"""Transforms of functions: jacobian() and the other derivatives, torch.func's, vmap, forward mode, and gradcheck, a check by
finite differences.

May import: base, core, modes, ops, spans, tensor_api. Read first: functional.py."""
