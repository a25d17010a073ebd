"""DataParallel: one module trained on the shares of a batch that many places hold, as if one process had the whole."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from autograd import Tensor, is_grad_enabled
from autograd.graph import shared_counter
from autograd.nn import Module

from .comm import CollectiveError, Communicator, Devices, even_split, world
from .functions import Gather, Scatter, as_tuple
from .parallel_apply import parallel_apply
from .reducer import ForwardCall, Reducer, Sink
from .replicate import replicate
from .sharding import ShardedReducer, stage_of
from .tree import leaves, rebuilt, tensors
from .verification import first_difference, verify

BATCHES = ("own", "root")
AVERAGES = ("rows", "ranks", "sum")


class DataParallel(Module):
    """`module` over all places of `comm` (default: the ranks of this job).

    batch="own" (the default over ranks): each rank calls it with its own rows and makes its own loss; backward() leaves
    in .grad, on every rank, the gradient of the mean over the rows of all ranks. batch="root" (always so on local
    devices): the root's rows are scattered, replicas of the module run in parallel, outputs are gathered on the root,
    which makes the loss; other ranks get an empty tensor y and call y.sum().backward() when the root calls backward.

    devices=n stands for comm=Devices(n); dim is the dimension that is scattered and gathered. average says what each
    rank's loss is, for batch="own": "rows", a mean over its rows (ranks count by their rows: uneven batches are exact,
    a rank may have none); "ranks", a mean of which all ranks count alike; "sum", a sum over rows. Rows are counted
    along `dim` of the first tensor argument of forward. bucket_cap_mb is the size of gradient messages.

    shard="optimizer", "gradients" or "parameters" (or 1, 2, 3) leaves each rank a slice of the optimiser's state, of these
    and the gradients, or of these and the parameters: docs/sharding.md. parameters() then gives this rank's slices.
    verify_every=k compares the weights of all ranks every k-th training forward (a hash; CollectiveError where they differ).

    >>> model = DataParallel(Net())
    >>> loss = F.cross_entropy(model(x), y)          # this rank's rows
    >>> loss.backward()                              # gradients of the whole batch, on every rank
    """

    def __init__(self, module: Module, device_ids: Sequence[int] | None = None, output_device: int | None = None,
                 dim: int = 0, *, comm: Communicator | None = None, devices: int | None = None, batch: str | None = None,
                 average: str = "rows", bucket_cap_mb: float = 25, broadcast_buffers: bool = True,
                 init_sync: bool = True, shard: str | int | None = None, shard_units: Any = None,
                 verify_every: int = 0) -> None:
        if device_ids is not None:
            if devices is not None or list(device_ids) != list(range(len(device_ids))):
                raise ValueError(f"device_ids={device_ids}: local devices are numbered 0, 1, ...; pass devices=n")
            devices = len(device_ids)
        if output_device not in (None, 0):
            raise NotImplementedError(f"output_device={output_device}: outputs are gathered on device 0")
        if devices is not None and comm is not None:
            raise ValueError("pass devices=n or comm=, not both")
        self.module = module
        self.comm = (Devices(devices) if devices is not None else world()) if comm is None else comm
        local = len(self.comm.held) > 1 or isinstance(self.comm, Devices)
        self.batch = batch or ("root" if local else "own")
        if self.batch not in BATCHES or average not in AVERAGES:
            raise ValueError(f"batch={batch!r} is one of {BATCHES}, average={average!r} one of {AVERAGES}")
        if self.batch == "own" and len(self.comm.held) > 1:
            raise ValueError("batch='own' needs one place per process; on local devices the batch is scattered")
        if bucket_cap_mb <= 0:
            raise ValueError(f"bucket_cap_mb={bucket_cap_mb} must be positive")
        self.dim, self.average, self.broadcast_buffers = dim, average, broadcast_buffers
        self.shard, self.shard_units, self.bucket_cap_mb = stage_of(shard), shard_units, bucket_cap_mb
        if not isinstance(verify_every, int) or verify_every < 0:
            raise ValueError(f"verify_every={verify_every!r} is a number of forward passes, or 0 for never")
        self.verify_every, self._forwards = verify_every, 0
        if self.shard and self.batch != "own":
            raise NotImplementedError(f"shard={shard!r} needs batch='own': slices lie on ranks, not on local "
                                      "devices")
        if not any(p.requires_grad for p in module.parameters()) and self.batch == "own":
            raise RuntimeError("DataParallel is not needed when a module doesn't have any parameter that requires a "
                               "gradient.")
        self._reducer: Reducer | None = None
        if self.comm.size > 1 and not local:
            verify(module, self.comm, what="DataParallel")
            if init_sync:
                broadcast_state(module, self.comm)
        if self.batch == "own":
            self._reducer = self._make_reducer() if self.comm.size > 1 else None

    def _make_reducer(self) -> Reducer:
        if self.shard:
            return ShardedReducer(self.module, self.comm, self.bucket_cap_mb, self.average, self.shard, self.shard_units)
        trained = [(name, p) for name, p in self.module.named_parameters() if p.requires_grad]
        return Reducer(trained, self.comm, self.bucket_cap_mb, self.average)

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """The module's output for this rank's rows; with batch="root", for all rows, on the root."""
        if self.batch == "own":
            return self._forward_own(args, kwargs)
        if self.comm.size == 1:
            return self.module(*args, **kwargs)
        return self._forward_scattered(args, kwargs)

    def _forward_own(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        reducer = self._reducer
        if reducer is None:
            return self.module(*args, **kwargs)
        if not is_grad_enabled():
            return self._run(args, kwargs)
        if self.verify_every:
            self._verify_weights()
        call = ForwardCall(self._rows((args, kwargs)))
        if self.training and self.broadcast_buffers:
            broadcast_tensors(list(self.module.buffers()), self.comm)
        output = self._run(args, kwargs)
        return rebuilt(output, lambda y: Sink.apply(y, reducer=reducer, call=call)
                       if isinstance(y, Tensor) and y.requires_grad else y)

    def _verify_weights(self) -> None:
        self._forwards += 1
        if self._forwards % self.verify_every == 0 and self.shard < 3:          # in stage 3 no rank has what another has
            difference = first_difference(list(self.module.named_parameters()), self.comm)
            if difference:
                raise CollectiveError(f"the weights are not the same on all ranks before forward {self._forwards}: "
                                      f"{difference}")

    def _run(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        with self._reducer.forward() if isinstance(self._reducer, ShardedReducer) else contextlib.nullcontext():
            return self.module(*args, **kwargs)

    @contextlib.contextmanager
    def summon_full_params(self, writeback: bool = True) -> Iterator[None]:
        """In the block the parameters of `module` are whole, however it is sharded; all ranks enter it together.

        writeback: changes made in place in the block stay (all ranks make the same). It matters for shard="parameters"; in
        the other stages parameters are always whole and changes stay.

        >>> with model.summon_full_params(): print(model.module.weight)
        """
        with self._reducer.summon(writeback) if isinstance(self._reducer, ShardedReducer) else contextlib.nullcontext():
            yield

    def _rows(self, arguments: Any) -> float:
        """How many rows this call works on; not asked for where ranks do not count by rows."""
        if self.average != "rows":
            return 1.0
        found = tensors(arguments)
        if not found or not found[0].ndim:
            raise ValueError(f"average={self.average!r} counts rows, but forward() got no tensor with a dimension; "
                             "pass average='ranks'")
        return float(found[0].shape[self.dim])

    def _forward_scattered(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Scatter, replicate, run in parallel, gather."""
        inputs = scatter((args, kwargs), self.comm, dim=self.dim)
        replicas = replicate(self.module, self.comm)
        outputs = parallel_apply(replicas, [i[0] for i in inputs], [i[1] for i in inputs], self.comm.held)
        return gather(outputs, self.comm, dim=self.dim)

    @contextlib.contextmanager
    def no_sync(self, when: bool = True) -> Iterator[None]:
        """Backward passes inside add up gradients on this rank only (if `when`); the next one outside sums them all."""
        if self._reducer is None:
            yield
            return
        before, self._reducer.enabled = self._reducer.enabled, self._reducer.enabled and not when
        try:
            yield
        finally:
            self._reducer.enabled = before

    # --- state under the module's own names -------------------------------------------------------------------------

    def named_parameters(self, prefix: str = "", recurse: bool = True,
                         remove_duplicate: bool = True) -> Iterator[tuple[str, Any]]:
        """The module's parameters, names without a prefix; if sharded, this rank's slices of them."""
        if isinstance(self._reducer, ShardedReducer):
            return self._reducer.named_slices(prefix, recurse, remove_duplicate)
        return self.module.named_parameters(prefix, recurse, remove_duplicate)

    def state_dict(self, *args: Any, destination: Any = None, prefix: str = "", keep_vars: bool = False) -> Any:
        """The module's state, whole, names without a prefix. With shard="parameters" all ranks call it together."""
        with self.summon_full_params(writeback=False):
            return self.module.state_dict(*args, destination=destination, prefix=prefix, keep_vars=keep_vars)

    def load_state_dict(self, state_dict: Any, strict: bool = True, assign: bool = False) -> Any:
        """Load names with or without PyTorch's prefix "module."."""
        bare = {key.removeprefix("module."): value for key, value in state_dict.items()}
        if assign and isinstance(self._reducer, ShardedReducer):
            raise NotImplementedError("load_state_dict(assign=True): a sharded module keeps its memory; use assign=False")
        with self.summon_full_params():
            own = self.module.state_dict(keep_vars=True)
            return self.module.load_state_dict(state_dict if set(state_dict) & set(own) else bare, strict, assign)


def scatter(inputs: Any, comm: Communicator, root: int = 0, dim: int = 0) -> list[Any]:
    """root's nest of tensors cut along dim: one nest for each place held here. What is no tensor goes along as it is.

    ValueError, naming both, if two tensors have different numbers of rows. Over ranks every one passes the same nest of
    tensors; only the root's values count (others may pass None for each tensor, or empty ones).
    """
    rows = {path: value.shape[dim] for path, value in leaves(inputs)
            if isinstance(value, Tensor) and value.ndim and root in comm.held}
    problem = ""
    if len(set(rows.values())) > 1:
        first, other = next(iter(rows.items())), next(i for i in rows.items() if i[1] != next(iter(rows.values())))
        problem = (f"scatter: {first[0] or 'the input'} has {first[1]} rows along dim {dim}, {other[0]} has {other[1]}; "
                   "tensors of one batch have equally many")
    layout = comm.broadcast_object((problem, [isinstance(v, Tensor) and v.ndim > 0 for _, v in leaves(inputs)]), root) \
        if len(comm.held) < comm.size else (problem, None)
    if layout[0]:
        raise ValueError(layout[0])
    flags = iter(layout[1]) if layout[1] is not None else None
    pieces: list[tuple[Any, ...]] = []
    for _, value in leaves(inputs):
        cut = next(flags) if flags is not None else isinstance(value, Tensor) and value.ndim > 0
        given = value if isinstance(value, Tensor) else None
        pieces.append(as_tuple(Scatter.apply(given, comm=comm, root=root, dim=dim)) if cut
                      else (value,) * len(comm.held))
    nests = []
    for i in range(len(comm.held)):
        position = iter(range(len(pieces)))
        nests.append(rebuilt(inputs, functools.partial(_next_piece, pieces, position, i)))
    return nests


def _next_piece(pieces: list[tuple[Any, ...]], position: Iterator[int], place: int, _: Any) -> Any:
    """The piece of one place for the next leaf of a nest."""
    return pieces[next(position)][place]


def gather(outputs: Sequence[Any], comm: Communicator, root: int = 0, dim: int = 0) -> Any:
    """The nests of all places as one, tensors joined along dim on root (0-d ones as a vector), empty ones elsewhere."""
    columns = [[value for _, value in leaves(output)] for output in outputs]
    if any(len(column) != len(columns[0]) for column in columns):
        raise ValueError(f"gather: the outputs have {[len(c) for c in columns]} leaves; all places must give the same "
                         "nest")
    joined = []
    for values in zip(*columns, strict=True):
        if isinstance(values[0], Tensor):
            joined.append(Gather.apply(*values, comm=comm, root=root, dim=dim))
        elif all(v is None for v in values):
            joined.append(None)
        else:
            raise TypeError(f"gather: outputs are tensors and None in tuples, lists and dicts, not "
                            f"{type(values[0]).__name__}")
    position = iter(joined)
    return rebuilt(outputs[0], lambda _: next(position))


def broadcast_state(module: Module, comm: Communicator, root: int = 0) -> None:
    """Overwrite parameters and buffers with root's."""
    broadcast_tensors([*module.parameters(), *module.buffers()], comm, root)


def broadcast_tensors(values: list[Tensor], comm: Communicator, root: int = 0) -> None:
    """Overwrite tensors, the same list on every rank, with root's values: one message per dtype."""
    by_dtype: dict[Any, list[Tensor]] = {}
    for t in values:
        by_dtype.setdefault(t.dtype, []).append(t)
    for group in by_dtype.values():
        flat = comm.broadcast(np.concatenate([t.array.reshape(-1) for t in group]), root)[0]
        start = 0
        for t in group:
            np.copyto(t.array, flat[start:start + t.array.size].reshape(t.shape))
            shared_counter(t).value += 1
            start += t.array.size


__all__ = ["DataParallel", "even_split", "gather", "scatter"]
