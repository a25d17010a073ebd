"""compile() and its companions, by the names of torch.compiler."""

from .compat.compiler import allow_in_graph, disable, is_compiling, is_dynamo_compiling, is_exporting, reset
from .compile import compile

__all__ = ["allow_in_graph", "compile", "disable", "is_compiling", "is_dynamo_compiling", "is_exporting", "reset"]
