"""torch.utils.flop_counter's names: observe/flop_counter."""

from ..observe.flop_counter import FlopCounterMode, flop_registry, register_flop_formula

__all__ = ["FlopCounterMode", "flop_registry", "register_flop_formula"]
