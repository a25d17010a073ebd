from ..spans cimport spans
from .engine cimport BackwardPass
from .graph cimport Node
from .tensor cimport TensorBase, edge_of, result
