"""Predict how training scales, and whether a batch fits in memory: the names of observe/prediction, and its command."""

import sys

from .observe.prediction import HookProgram as HookProgram
from .observe.prediction import Network as Network
from .observe.prediction import Option as Option
from .observe.prediction import Point as Point
from .observe.prediction import Prediction as Prediction
from .observe.prediction import StepTrace as StepTrace
from .observe.prediction import __all__ as __all__
from .observe.prediction import measure_network as measure_network
from .observe.prediction import predict as predict

if __name__ == "__main__":
    from .observe.prediction.__main__ import main
    sys.exit(main())
