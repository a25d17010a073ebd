"""ChannelShuffle: a fixed permutation of the channels."""

from __future__ import annotations

from ...core.tensor import Tensor
from .. import functional as F
from ..module import Module


class ChannelShuffle(Module):
    """Permute channels between groups: with groups of k channels, channel g * k + i moves to i * groups + g, so that
    neighbours come from different groups. Zhang et al. 2017 (arXiv:1707.01083)."""

    _shown = "groups"

    def __init__(self, groups: int) -> None:
        super().__init__()
        self.groups = groups

    def forward(self, input: Tensor) -> Tensor:
        """input (n, c, ...), c a multiple of groups -> the same shape."""
        return F.channel_shuffle(input, self.groups)


__all__ = ["ChannelShuffle"]
