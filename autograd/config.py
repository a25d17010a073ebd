"""show_config(): what this installation uses."""

from .observe.debug.config import Config, show_config

__all__ = ["Config", "show_config"]
