"""The core: how a call becomes a node of the graph, and how a backward pass goes through the nodes. Compiled by Cython.

May import: base, kernels. Read first: graph.py, then function.py and engine.py.
"""
