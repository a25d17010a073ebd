"""Two versions: of these packages, and of the PyTorch whose interface autograd has."""

__version__ = "0.1.0"                # of autograd, dparallel and launch; pyproject.toml and dparallel read it here
torch_level = "2.13.0"               # what model code that compares torch.__version__ is to compare instead
cuda = hip = None
debug = False
