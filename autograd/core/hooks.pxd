from .graph cimport Node
from .tensor cimport result

cpdef before_node(current, Node node, g)
cpdef observe(current, Node node, g)
cpdef deliver_observed(current, leaf, bint owned)
