"""torch.utils.module_tracker's names: observe/module_tracker."""

from ..observe.module_tracker import ModuleTracker

__all__ = ["ModuleTracker"]
