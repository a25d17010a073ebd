"""compile() and its companions, by the names of torch.compiler."""

from .compat.compiler import allow_in_graph, disable, is_compiling, is_dynamo_compiling, is_exporting
from .compile import compile, reset

__all__ = ["allow_in_graph", "compile", "disable", "is_compiling", "is_dynamo_compiling", "is_exporting", "reset"]
