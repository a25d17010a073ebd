"""ONNX, by the names of torch.onnx: nothing is exported."""

from .compat.onnx import export, is_in_onnx_export

__all__ = ["export", "is_in_onnx_export"]
