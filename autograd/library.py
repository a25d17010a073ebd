"""torch.library: operators that packages define in Python."""

from .compat.library import custom_op, impl_abstract, register_autograd, register_fake

__all__ = ["custom_op", "impl_abstract", "register_autograd", "register_fake"]
