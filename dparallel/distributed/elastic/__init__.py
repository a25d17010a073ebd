"""torch.distributed.elastic: the decorator of scripts for torchrun. Ranks that die: `dprun --survive`, dparallel.survive."""

from . import multiprocessing

__all__ = ["multiprocessing"]
