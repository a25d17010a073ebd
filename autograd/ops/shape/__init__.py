# ruff: noqa: F401, F403
"""Operations that move elements without changing them: all linear, most of them views."""

from . import broadcast, copies, diagonals, flip_roll_repeat, grid, join, sliding, splitting, transposes, views
from .broadcast import *
from .broadcast import expand, expand_as
from .constant_pad import crop, pad_constant
from .copies import *
from .copies import contiguous, layout_of
from .diagonals import *
from .dims import sizes, wrap_dim, wrap_dims
from .flip_roll_repeat import *
from .flip_roll_repeat import repeat
from .grid import *
from .join import *
from .sliding import unfold
from .splitting import *
from .splitting import split_method
from .transposes import *
from .transposes import H, T, mH, mT
from .views import *
from .views import reshape_as, view, view_as

__all__ = [*broadcast.__all__, *copies.__all__, *diagonals.__all__, *flip_roll_repeat.__all__, *grid.__all__, *join.__all__,
           *splitting.__all__, *transposes.__all__, *views.__all__]
METHODS = [*broadcast.METHODS, *copies.METHODS, *diagonals.METHODS, *flip_roll_repeat.METHODS, *sliding.METHODS,
           *splitting.METHODS, *transposes.METHODS, *views.METHODS]
IN_PLACE = diagonals.IN_PLACE
PROPERTIES = transposes.PROPERTIES
