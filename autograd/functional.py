"""Derivatives of functions, by the names of torch.autograd.functional."""

from .transforms.functional import hessian, hvp, jacobian, jvp, vhp, vjp

__all__ = ["hessian", "hvp", "jacobian", "jvp", "vhp", "vjp"]
