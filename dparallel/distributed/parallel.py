"""The names of torch.nn.parallel, which autograd.nn.parallel imports. As in PyTorch, the names of parameters and states of
DataParallel and DistributedDataParallel begin with "module.".
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from autograd.nn import Module

from ..autograd import Tensor
from ..comm import Communicator
from ..model.config import Config
from ..model.data_parallel import DataParallel as Wrapper
from ..model.data_parallel import Wrapped_co
from ..model.gradient_sum import GradientSum
from ..pytree import scatter_gather as trees
from ..pytree.scatter_gather import gather
from ..pytree.tree import is_namedtuple
from ..replicas.local import data_parallel
from ..replicas.parallel_apply import parallel_apply
from ..replicas.replicate import replicate
from .device_functions import Scatter
from .groups import is_member, member_of

if TYPE_CHECKING:
    from ..model.data_parallel import Wrapped


def scatter(inputs: Any, target_gpus: Any, dim: int = 0) -> Any:
    """Split each tensor of a tree along dim, as chunk() does, for local devices.

    0-d tensors and other objects go to every device. There are as many parts as the tensor with the fewest has.
    """
    if isinstance(target_gpus, (Communicator, int)):
        return trees.scatter(inputs, target_gpus, dim)
    return _parts(inputs, target_gpus, dim)


def _parts(tree: Any, devices: Sequence[Any], dim: int) -> Any:
    if isinstance(tree, Tensor) and tree.ndim:
        found = Scatter.apply(devices, None, dim, tree)
        return found if isinstance(found, tuple) else (found,)
    if isinstance(tree, (tuple, list)) and tree:
        rows = zip(*[_parts(item, devices, dim) for item in tree], strict=False)
        return [type(tree)(*row) if is_namedtuple(tree) else type(tree)(row) for row in rows]
    if isinstance(tree, dict) and tree:
        rows = zip(*[_parts(item, devices, dim) for item in tree.values()], strict=False)
        return [type(tree)(zip(tree, row, strict=True)) for row in rows]
    return [tree for _ in devices]


def scatter_kwargs(inputs: tuple[Any, ...], kwargs: dict[str, Any] | None, target_gpus: Any,
                   dim: int = 0) -> tuple[tuple[Any, ...], tuple[dict[str, Any], ...]]:
    """scatter() of a call's arguments: a tuple of positional and a tuple of keyword arguments for each part (maybe
    empty)."""
    if isinstance(target_gpus, (Communicator, int)):
        return trees.scatter_kwargs(inputs, kwargs, target_gpus, dim)
    args = scatter(tuple(inputs), target_gpus, dim) if inputs else []
    named = scatter(dict(kwargs), target_gpus, dim) if kwargs else []
    more = len(args) - len(named)
    return (*args, *[()] * -more), (*named, *[{} for _ in range(more)])


class DataParallel(Wrapper[Wrapped_co]):
    """dparallel.DataParallel, with PyTorch's names of parameters, buffers and states, which begin with "module."."""

    if TYPE_CHECKING:                                # mypy infers Wrapped_co from a `self` of this class only
        def __init__(self: DataParallel[Wrapped], module: Wrapped, device_ids: Any = None, output_device: int | None = None,
                     dim: int = 0, **kwargs: Any) -> None: ...
    else:                                            # the attributes of the base
        @functools.wraps(Wrapper.__init__)
        def __init__(self, *args: Any, **kwargs: Any) -> None:
            if kwargs.get("shard"):
                raise NotImplementedError(f"nn.DataParallel(shard={kwargs['shard']!r}): use dparallel.DataParallel")
            super().__init__(*args, **kwargs)

        named_parameters = Module.named_parameters
        named_buffers = Module.named_buffers
        state_dict = Module.state_dict
        load_state_dict = Module.load_state_dict


class DistributedDataParallel(DataParallel[Wrapped_co]):
    """Train `module` on every rank of process_group: backward() sets .grad, on every rank, to the mean of the ranks'
    gradients.

    All ranks have equal weights, whatever their batches; dparallel.DataParallel weights by rows. The arguments are
    PyTorch's; for those not listed, see DataParallel().
    """

    def __init__(self: DistributedDataParallel[Wrapped], module: Wrapped, device_ids: Sequence[Any] | None = None,
                 output_device: Any = None, dim: int = 0,
                 broadcast_buffers: bool | None = None, init_sync: bool = True, process_group: Any = None,
                 bucket_cap_mb: float | None = None, find_unused_parameters: bool = False, check_reduction: bool = False,
                 gradient_as_bucket_view: bool = False, static_graph: bool = False,
                 delay_all_reduce_named_params: Any = None, param_to_hook_all_reduce: Any = None,
                 mixed_precision: Any = None, device_mesh: Any = None, skip_all_reduce_unused_params: bool = False,
                 bucket_cap_mb_list: Any = None, batched_grad_copy: bool = False,
                 forward_sync_buffers: bool | None = None) -> None:
        if not is_member(process_group):
            raise RuntimeError("DistributedDataParallel: this rank is not in the process group")
        pg: Any = member_of(process_group, "DistributedDataParallel")
        with pg.raise_on_all_ranks("DistributedDataParallel"):
            if device_ids or output_device is not None:
                raise ValueError("DistributedDataParallel device_ids and output_device arguments only work with GPU "
                                 f"modules, but got device_ids {device_ids}, output_device {output_device}; the only "
                                 "device is the CPU: pass None")
        self.gradient_as_bucket_view = gradient_as_bucket_view           # _gradient_sum() reads it, in super().__init__()
        super().__init__(module, dim=dim, process_group=pg, batch="own", average="ranks",
                         bucket_cap_mb=bucket_cap_mb, broadcast_buffers=broadcast_buffers, init_sync=init_sync,
                         find_unused_parameters=find_unused_parameters, check_reduction=check_reduction,
                         gradient_as_bucket_view=None, static_graph=static_graph,
                         delay_all_reduce_named_params=delay_all_reduce_named_params,
                         param_to_hook_all_reduce=param_to_hook_all_reduce, mixed_precision=mixed_precision,
                         forward_sync_buffers=forward_sync_buffers, device_mesh=device_mesh,
                         skip_all_reduce_unused_params=skip_all_reduce_unused_params,
                         bucket_cap_mb_list=bucket_cap_mb_list, batched_grad_copy=batched_grad_copy)
        self.process_group: Any = pg
        self.device_ids: None = None
        self.output_device: None = None
        self._synchronizing = True

    def _gradient_sum(self, config: Config[Any]) -> GradientSum:
        """DataParallel's, with separate gradients unless gradient_as_bucket_view; autograd.grad() stays local."""
        return GradientSum(config, type(self).__name__, self._watch, self._buffer_sync, self._unused, averages_grad=False,
                           grad_in_bucket=self.gradient_as_bucket_view)

    @property
    def require_backward_grad_sync(self) -> bool:
        """Whether backward() synchronizes gradients; False in no_sync(). Scripts may assign it before forward."""
        reducer = self._sum.reducer
        return self._synchronizing if reducer is None else reducer.enabled

    @require_backward_grad_sync.setter
    def require_backward_grad_sync(self, value: bool) -> None:
        self._synchronizing = bool(value)
        reducer = self._sum.needed_reducer()
        if reducer is not None:
            reducer.enabled = self._synchronizing


__all__ = ["DataParallel", "DistributedDataParallel", "data_parallel", "gather", "parallel_apply", "replicate", "scatter",
           "scatter_kwargs"]
