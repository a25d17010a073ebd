"""SummaryWriter, by the name that it has in `torch.utils.tensorboard`. Importing this needs tensorboard or tensorboardX."""

from .writer import SummaryWriter

__all__ = ["SummaryWriter"]
