"""check_location(): the argument `map_location`, which must leave tensors in the CPU's memory."""

from __future__ import annotations

from typing import Any

from ..base.devices import check


def check_location(map_location: Any) -> None:
    """NotImplementedError unless a device, a dict of places, or a function of (storage, place) leaves what is on the CPU
    there. A dict's entries for other places are for files that hold tensors of those: here such tensors come to the CPU."""
    if map_location is None:
        return
    if isinstance(map_location, dict):
        if "cpu" in map_location:                    # tensors are on the CPU; PyTorch too ignores entries for other devices
            check(map_location["cpu"])
    elif callable(map_location):
        storage = object()                           # represents any storage: the function must return it unchanged
        if map_location(storage, "cpu") not in (storage, None):
            raise NotImplementedError("map_location: the function does not return the storage that it is passed; "
                                      "tensors are in the CPU's memory")
    else:
        check(map_location)
