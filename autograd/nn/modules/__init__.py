"""The layers, by kind, in files that have PyTorch's names: model code imports from these paths."""

from . import activation, attention, batchnorm, conv, instancenorm, lazy, linear, linear_cross_entropy, loss, utils
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

# PyTorch has these classes in other files than this package: model code imports them from there
for _home in (batchnorm, conv, instancenorm, linear):
    vars(_home).update({_name: vars(lazy)[_name] for _name in lazy.__all__
                        if hasattr(_home, _name.removeprefix("Lazy"))})
activation.MultiheadAttention = attention.MultiheadAttention  # type: ignore[attr-defined]
loss.LinearCrossEntropyLoss = linear_cross_entropy.LinearCrossEntropyLoss  # type: ignore[attr-defined]

__all__ = [name for name in dir() if name[0].isupper()] + ["utils"]
