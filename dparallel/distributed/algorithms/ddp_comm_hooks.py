"""torch.distributed.algorithms.ddp_comm_hooks: its files are dparallel.hooks, which has all hooks."""

import sys

from ... import hooks

default_hooks = powerSGD_hook = quantization_hooks = post_localSGD_hook = hooks
for _name in ("default_hooks", "powerSGD_hook", "quantization_hooks", "post_localSGD_hook"):
    sys.modules[f"{__name__}.{_name}"] = hooks

__all__ = ["default_hooks", "post_localSGD_hook", "powerSGD_hook", "quantization_hooks"]
