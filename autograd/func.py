"""Functions of modules, by the names of torch.func."""

from .nn.utils.functional_call import functional_call

__all__ = ["functional_call"]
