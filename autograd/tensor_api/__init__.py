"""What makes an array type of Tensor: its operators and methods, conversion, in-place forms, printing, NumPy's protocols.

May import: base, core, ops. Read first: binding.py.
"""
