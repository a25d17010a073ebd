# ruff: noqa: F401, F403
"""Indexing: x[...] in PyTorch's forms, and elements picked and put by number, place or mask."""

from . import along, flat, masks, parts, positions, rows, strided
from .along import *
from .assignment import IndexPut, assign, demand_one_dtype, index_put
from .flat import *
from .forms import is_basic, plain
from .getitem import getitem
from .masks import *
from .parts import *
from .positions import *
from .positions import one_hot
from .rows import *
from .strided import *

__all__ = [*along.__all__, *flat.__all__, *masks.__all__, *parts.__all__, *positions.__all__, "index_put", *rows.__all__,
           *strided.__all__]
METHODS = [*along.METHODS, *flat.METHODS, *masks.METHODS, *parts.METHODS, *positions.METHODS, "index_put", *rows.METHODS,
           *strided.METHODS]
IN_PLACE = [*along.IN_PLACE, *flat.IN_PLACE, *masks.IN_PLACE, "index_put", *rows.IN_PLACE]
