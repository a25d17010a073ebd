"""What einops, matplotlib, pandas and tensorboardX are told of Tensors when they are imported (base/third_party.py).

May import: base, core, ops, nn. Read first: einops.py.
"""
