"""Derivatives of whole functions: jacobian() and its kin, forward mode, and gradcheck, which compares with differences.

May import: base, core, ops. Read first: functional.py.
"""
