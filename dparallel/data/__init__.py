"""Which samples a rank gets: samplers that split a data set, or a global batch, over ranks.

May import: comm. Read first: samplers.py.
"""
