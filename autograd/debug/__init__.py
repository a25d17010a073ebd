"""To look at what is there: draw() shows a graph, show_config() what this installation uses.

May import: base, core, kernels. Read first: drawing.py.
"""
