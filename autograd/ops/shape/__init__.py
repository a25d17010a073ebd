# ruff: noqa: F401, F403
"""Operations that move elements without changing them: all linear, most of them views."""

from . import broadcast, copies, cut, diagonals, grid, join, order, rearrange, views, windows
from .borders import crop, pad_constant
from .broadcast import *
from .broadcast import expand, expand_as
from .copies import *
from .copies import contiguous
from .cut import *
from .cut import split_method
from .diagonals import *
from .dims import sizes, wrap_dim, wrap_dims
from .grid import *
from .join import *
from .order import *
from .order import H, T, mH, mT
from .rearrange import *
from .rearrange import repeat
from .views import *
from .views import reshape_as, view, view_as
from .windows import unfold

__all__ = [*broadcast.__all__, *copies.__all__, *cut.__all__, *diagonals.__all__, *grid.__all__, *join.__all__,
           *order.__all__, *rearrange.__all__, *views.__all__]
METHODS = [*broadcast.METHODS, *copies.METHODS, *cut.METHODS, *diagonals.METHODS, *order.METHODS, *rearrange.METHODS,
           *views.METHODS, *windows.METHODS]
IN_PLACE = diagonals.IN_PLACE
PROPERTIES = order.PROPERTIES
