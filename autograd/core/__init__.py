"""The core: how a call becomes a node of the graph, and how a backward pass goes through the nodes. Compiled by Cython.

May import: base, kernels, spans. Read first: graph.py, then recording.py and engine.py."""

import sys as _sys

from ..base import name_collision as _name_collision

if _name_collision.is_ours(_sys.modules[__name__.rpartition(".")[0]]):
    __getattr__ = _name_collision.asked
    _sys.meta_path.append(_name_collision.Missing())       # type: ignore[arg-type]
else:
    _name_collision.host(_sys.modules[__name__])
