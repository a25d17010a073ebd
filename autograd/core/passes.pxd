from .engine cimport BackwardPass
from .graph cimport Node
