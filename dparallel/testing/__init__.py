"""Checkers for authors of collectives: gradients over ranks, a simulated network, a pytest plugin (docs/testing.md).

May import: comm, consistency, functions, pytree, reduction. Read first: adjoint.py.
"""

from autograd.base.docstrings import attach_to_modules

from ..comm import Devices, run_ranks
from ..consistency.verification import assert_same_everywhere
from .adjoint import check_adjoint
from .differences import GradcheckError, gradcheck, gradgradcheck
from .factors import explain_factor
from .network import Network, NetworkError
from .slow_network import slow_network

attach_to_modules("dparallel.testing")
__all__ = ["Devices", "GradcheckError", "Network", "NetworkError", "assert_same_everywhere", "check_adjoint",
           "explain_factor", "gradcheck", "gradgradcheck", "run_ranks", "slow_network"]
