from .graph cimport Node
from .tensor cimport edge_of, result
