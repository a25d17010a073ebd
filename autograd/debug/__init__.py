"""Debugging aids: draw() shows a recorded graph, show_config() what this installation uses.

May import: base, core, kernels. Read first: drawing.py.
"""
