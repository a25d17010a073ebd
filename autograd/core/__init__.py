"""The core: how a call becomes a node of the graph, and how a backward pass goes through the nodes. Compiled by Cython.

May import: base, kernels. Read first: graph.py, then function.py and engine.py.
"""

import sys as _sys

from ..base import namesake as _namesake

if _namesake.is_ours(_sys.modules[__name__.rpartition(".")[0]]):
    __getattr__ = _namesake.asked
    _sys.meta_path.append(_namesake.Missing())       # type: ignore[arg-type]
else:
    _namesake.host(_sys.modules[__name__])
