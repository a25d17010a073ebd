"""Channels in another order."""

from __future__ import annotations

from typing import Any

from .. import functional as F
from ..module import Module
from .shown import shown


class ChannelShuffle(Module):
    """Channel g * k + i moves to i * groups + g, of groups of k channels: each new neighbour is of another group."""

    def __init__(self, groups: int) -> None:
        self.groups = groups

    def forward(self, input: Any) -> Any:
        """channel_shuffle."""
        return F.channel_shuffle(input, self.groups)

    def extra_repr(self) -> str:
        """The number of groups."""
        return shown(self, "groups")


__all__ = ["ChannelShuffle"]
