"""PyTorch's names, by dparallel: this folder is on the path where dparallel.torch_alias was imported."""

from dparallel.torch_alias.modules import fill

fill(globals())
