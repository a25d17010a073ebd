"""torch.utils.tensorboard's names: observe/tensorboard."""

from ..observe.tensorboard import SummaryWriter

__all__ = ["SummaryWriter"]
