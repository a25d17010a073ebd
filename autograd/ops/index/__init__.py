# ruff: noqa: F401, F403
"""Indexing: x[...] in PyTorch's forms, and reading and writing of elements by number, position or mask."""

from . import gather_scatter, index_functions, masked, positions, strided, take_put, view_scatter
from .assignment import IndexPut, assign, demand_one_dtype, index_put
from .forms import is_basic, parts_of, plain
from .gather_scatter import *
from .index_functions import *
from .indexing import getitem
from .masked import *
from .positions import *
from .positions import one_hot
from .strided import *
from .strided import memory_of
from .take_put import *
from .view_scatter import *

__all__ = [*gather_scatter.__all__, *index_functions.__all__, "index_put", *masked.__all__, *positions.__all__,
           *strided.__all__, *take_put.__all__, *view_scatter.__all__]
METHODS = [*gather_scatter.METHODS, *index_functions.METHODS, "index_put", *masked.METHODS, *positions.METHODS,
           *strided.METHODS, *take_put.METHODS, *view_scatter.METHODS]
IN_PLACE = [*gather_scatter.IN_PLACE, *index_functions.IN_PLACE, "index_put", *masked.IN_PLACE, *take_put.IN_PLACE]
