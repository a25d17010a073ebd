"""The layers, by kind, in files that have PyTorch's names: model code imports from these paths."""

from . import utils
from .activation import *
from .adaptive import *
from .attention import *
from .batchnorm import *
from .channelshuffle import *
from .container import *
from .conv import *
from .distance import *
from .dropout import *
from .flatten import *
from .fold import *
from .instancenorm import *
from .lazy import *
from .linear import *
from .linear_cross_entropy import *
from .loss import *
from .module import *
from .normalization import *
from .padding import *
from .parameter_container import *
from .pixelshuffle import *
from .pooling import *
from .rnn import *
from .sparse import *
from .transformer import *
from .upsampling import *

__all__ = [name for name in dir() if name[0].isupper()] + ["utils"]
