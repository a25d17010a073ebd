"""NativeProgram: a recorded step as native code, with the interface of Program."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import prod
from typing import Any

import numpy as np

from ...base.refcounts import holders
from ...base.types import Array
from ...core.engine import running
from ...core.tensor import Tensor, result
from ...kernels.addresses import address
from ...spans.spans import OPERATION, PASS, begin, end, number_of, profilers, record_function
from ..errors import TraceError
from ..lowering.ir import Ref, Storage
from ..lowering.lower import Lowering
from ..lowering.python_call import PythonCall, laid_as, view_of
from ..native import Native
from ..recording.calls import Value, root_of
from ..recording.tracer import Tracer


class NativeProgram:
    """What a compiled step runs: checks, native stretches and calls of Python in order, gradients bound to .grad."""

    def __init__(self, tracer: Tracer, results: list[Value], fresh: set[int], inputs: Sequence[Array] = ()) -> None:
        """inputs: the arguments of the recording. For the others see Program."""
        low = Lowering(tracer, results)
        self.python = low.python
        self._pinned = low.pinned
        self.moving: set[Storage] = set()            # storages bound to other memory in each run
        self._memory: dict[Storage, Array] = {}      # what they are bound to
        calls = [*low.first, *(op.function for op in low.ops if isinstance(op.function, PythonCall))]
        for call in calls:
            self.moving.update(ref.storage for ref in call.outs.values())
        owned = {ref.storage for ref in low.grads.values() if ref is not None} - set(low.added.values())
        self._inputs = [(a, low.storage_of(a)) for a in inputs]
        held = {s for _, s in self._inputs if s is not None} | set(low.added.values()) | owned
        self.moving |= held
        self._results = [(ref, not (ref.storage in held or ref.storage.outside or ref.storage.size != prod(ref.shape)))
                         for ref in low.results]
        for ref, new in self._results:               # written to memory that the caller gets
            if new:
                ref.storage.array = np.empty(ref.storage.size, ref.storage.dtype)
                self.moving.add(ref.storage)
        self.native = Native(low.ops)
        self._added, self._needed = low.added, low.needed
        self._gradients = low.grads
        self._bound: dict[Tensor, Tensor] = {}       # gradients of ours that others hold, or did before
        self._owned = [(leaf, ref) for leaf, ref in low.grads.items() if ref is not None and ref.storage in owned]
        self._first = low.first
        self._plan = low.plan
        self._begins = [(v.array, first) for v, first in tracer.outside if v.number in tracer.written and v.number in fresh]
        self._passes = any(call.label == "begin_pass" for call in tracer.calls)
        for call in calls:
            call.prepare(self)

    # --- memory -------------------------------------------------------------------------------------------------------

    def array(self, ref: Ref) -> Array:
        """The array of a Ref."""
        memory = self._memory.get(ref.storage, ref.storage.array)
        return self.native.array(ref) if memory is None else view_of(memory, ref)

    def bind(self, storage: Storage, memory: Array) -> None:
        """Let a Storage be this memory from now on."""
        memory = memory if memory.flags.c_contiguous else memory.ravel("K")
        self._memory[storage] = memory
        self.native.bind(storage, memory)

    def rebind(self, ref: Ref, made: Any) -> None:
        """Let the Storage of a Ref be the memory of `made`, which a call of Python gave for it; or copy it."""
        made = np.asarray(made)
        root, size = root_of(made), made.itemsize
        if (ref.storage not in self._pinned
                and root.size == ref.storage.size and made.dtype == root.dtype == ref.storage.dtype and laid_as(made, ref)
                and (made is root or address(made) - address(root) == ref.offset * size)):
            self.bind(ref.storage, root)
        else:
            np.copyto(self.array(ref), made)

    # --- gradients ----------------------------------------------------------------------------------------------------

    def publish(self, gradients: dict[Tensor, Ref | None]) -> None:
        """Let .grad of each leaf be the program's gradient."""
        for leaf, ref in gradients.items():
            if ref is None:
                leaf._grad = None
                continue
            bound = self._bound.get(leaf)
            if bound is None:
                bound = self._bound[leaf] = result(self.array(ref))
            if leaf._grad is not bound:
                leaf._grad = bound

    def bind_buffers(self, gradients: dict[Tensor, Ref]) -> None:
        """Let .grad of each leaf be its buffer, which holds the program's gradient unless the buffer is another by now."""
        for leaf, ref in gradients.items():
            buffer = leaf.hooks.grad_buffer  # type: ignore[union-attr]
            made = self.array(ref)
            if address(buffer) != address(made):
                np.copyto(buffer, made)
            leaf._grad = result(buffer)

    def fetch(self, gradients: dict[Tensor, Ref | None]) -> None:
        """Read gradients again that Python may have bound to other memory."""
        for leaf, ref in gradients.items():
            if ref is not None and leaf._grad is not None and leaf._grad is not self._bound.get(leaf):
                np.copyto(self.array(ref), leaf._grad.array)

    def _take_gradients(self) -> None:
        """Gradients of former runs that someone holds stay theirs: the program gets new memory."""
        if self._bound and self._owned:
            leaves = [leaf for leaf, _ in self._owned]
            tensors = [self._bound[leaf] for leaf in leaves]
            arrays = [t.array for t in tensors]
            held = [1 + (leaf._grad is t) for leaf, t in zip(leaves, tensors, strict=True)]
            if holders(tensors) != held or holders(arrays) != [1] * len(arrays):
                for (leaf, ref), bound in zip(self._owned, tensors, strict=True):
                    self.bind(ref.storage, np.empty(ref.storage.size, ref.storage.dtype))
                    del self._bound[leaf], bound
        for leaf, storage in self._added.items():
            grad = leaf._grad
            if grad is not None and grad.array.flags.c_contiguous and grad.array.dtype == storage.dtype:
                memory = grad.array
                self._bound[leaf] = grad
            else:
                memory = np.zeros(leaf.array.shape, storage.dtype) if grad is None else np.array(grad.array, storage.dtype)
                self._bound[leaf] = result(memory)
            self.bind(storage, memory)

    # --- runs ---------------------------------------------------------------------------------------------------------

    def run(self, arguments: Iterable[Array] = ()) -> list[Array]:
        """Run on these arguments, of the recorded shapes and dtypes; the arrays that the step returns."""
        for (recorded, storage), given in zip(self._inputs, arguments):  # noqa: B905 - none: those of the recording
            if storage is None:
                continue
            if given.strides == recorded.strides and given.flags.aligned:
                self.bind(storage, given)
            else:
                np.copyto(recorded, given)
                self.bind(storage, recorded)
        for leaf in self._needed:
            if leaf._grad is None:                   # an optimizer leaves it out
                raise TraceError(f"replay: the .grad of a leaf of shape {list(leaf.array.shape)} is None")
        for call in self._first:
            call()
        if self._plan is not None and not self._plan.read_rates():
            raise TraceError("replay: the optimizer's state or settings were changed: trace the step again")
        for array, first in self._begins:
            np.copyto(array, first)
        if self._owned or self._added:
            self._take_gradients()
        for ref, new in self._results:
            if new:
                self.bind(ref.storage, np.empty(ref.storage.size, ref.storage.dtype))
        with record_function("autograd::replay", None, PASS):
            depth = len(running.passes)
            try:
                self.native.run() if not profilers else self._spanned()
            finally:
                if self._passes:
                    del running.passes[depth:]
        self.publish(self._gradients)
        return [self.array(ref) if new else np.array(self.array(ref)) for ref, new in self._results]

    def _spanned(self) -> None:
        """Run with each loop, product and call as a span."""
        for label, part in self.native.apart():
            token = begin(number_of(f"replay::{label}", OPERATION))
            try:
                part()
            finally:
                end(token)

    @property
    def source(self) -> str:
        """The loops, products and calls, as text."""
        return "# native\n" + "".join(f"# {label}\n" for label, _ in self.native.apart())
