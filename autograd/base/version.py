"""The version of PyTorch whose interface this is: model code compares it before it uses newer names."""

__version__ = "2.13.0+numpy"
cuda = hip = None
debug = False
