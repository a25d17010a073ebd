"""Support for Tensors in einops, matplotlib, pandas and tensorboardX, which base/third_party.py registers on import.

May import: base, core, ops, nn. Read first: einops.py."""
