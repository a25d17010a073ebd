"""What other packages are told of Tensors when they are imported (base/neighbours.py): einops, tensorboardX.

May import: base, core, ops, nn. Read first: einops.py.
"""
