from .graph cimport Node
from .tensor cimport TensorBase

cpdef begin_node(Node node, dict state, tuple edges)
cpdef record(Node node, dict state, tuple edges, tuple inputs, tuple outs)
