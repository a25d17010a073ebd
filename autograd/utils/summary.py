"""torchinfo's names: observe/summary."""

from ..observe.summary import LayerInfo, ModelStatistics, summary

__all__ = ["LayerInfo", "ModelStatistics", "summary"]
