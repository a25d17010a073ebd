"""Transforms of functions: jacobian() and the other derivatives, torch.func's, forward mode, and gradcheck, a check by
finite differences.

May import: base, core, ops. Read first: functional.py.
"""
