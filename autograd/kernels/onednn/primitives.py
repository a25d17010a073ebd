"""oneDNN's primitives: memory descriptors, primitives compiled for one shape, and how they run on memory.

Compiling takes 1 to 5 ms, so callers keep what they make, the 512 last used ones. What a primitive needs while it runs
(memory objects, a stream, scratch memory) is taken by one thread at a time: several may run the same primitive.
"""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable
from functools import lru_cache
from math import prod
from typing import Any, TypeVar

from .. import choose, threads
from .library import onednn
from .openmp import using

Pointer = ctypes.c_void_p
Dims: type[ctypes.Array[ctypes.c_int64]] = ctypes.c_int64 * 12
KEPT = 512                                           # primitives of a kind that are kept
ROOM = 1 << 26                                       # bytes of scratch memory above which a thread does not keep it
FLOAT, ANY = 3, 1                                    # dnnl_f32, dnnl_format_tag_any
TRAINING, BACKWARD = 64, 128                         # dnnl_prop_kind_t
SRC, DST, WEIGHTS, BIAS, WORKSPACE, SCRATCH = 1, 17, 33, 41, 64, 80      # what an argument is: DNNL_ARG_...
DIFF_SRC, DIFF_DST, DIFF_WEIGHTS, DIFF_BIAS = 129, 145, 161, 169


once: threading.Lock = threading.Lock()
Function = TypeVar("Function", bound=Callable[..., Any])


def cached(function: Function) -> Function:
    """A cache of what a function makes for so many threads, emptied when another number is set."""
    found: Any = lru_cache(maxsize=KEPT)(function)
    threads.thread_settings.changed.append(found.cache_clear)
    return found  # type: ignore[no-any-return]


class width:
    """Around making primitives: they run on several threads if they make so many multiplications. A primitive has memory
    for the threads that it was made for, so it runs with these."""

    def __init__(self, work: int, least: int = threads.WIDE) -> None:
        self.count: int = threads.number() if work >= least else 1

    def __enter__(self) -> None:
        self.before: int = onednn.library.get_threads()
        onednn.library.set_threads(self.count)
        _making.count = self.count

    def __exit__(self, *exception: object) -> None:
        onednn.library.set_threads(self.before)
        _making.count = 1


class _Making(threading.local):
    """For how many threads this thread makes primitives."""

    count = 1


_making = _Making()


class Refused(Exception):
    """oneDNN has no quick primitive for this, or could not run it."""


class Argument(ctypes.Structure):
    """oneDNN's struct dnnl_exec_arg_t: which argument, and its memory object."""

    _fields_ = (("arg", ctypes.c_int), ("memory", Pointer))


def create(name: str, *rest: Any) -> Any:
    """The handle of what the library's function `name` makes. Refused if it does not."""
    handle = Pointer()
    status = getattr(onednn.library, name)(ctypes.byref(handle), *rest)
    if status:
        raise Refused(f"{name}: status {status}")
    return handle


@lru_cache(maxsize=1)
def _engine() -> Any:
    return create("dnnl_engine_create", 1, ctypes.c_size_t(0))


def engine() -> Any:
    """The processor. One for all: a primitive of one engine refuses memory of another, and lru_cache alone would let two
    threads that come first make one each."""
    with once:
        return _engine()


@lru_cache(maxsize=1)
def attributes() -> Any:
    """Scratch memory is given by the caller: the library's own would belong to a primitive, which threads share."""
    attr = create("dnnl_primitive_attr_create")
    onednn.library.dnnl_primitive_attr_set_scratchpad_mode(attr, 1)
    return attr


@lru_cache(maxsize=1024)
def dims(sizes: tuple[int, ...]) -> Any:
    """Sizes as C takes them."""
    return Dims(*sizes)


class Description:
    """A memory descriptor of float32: a shape and its strides in elements; None: in an order of the library's choice.

    It is to be passed itself, never its handle alone: two threads may make the same one, and the cache keeps only one.
    """

    def __init__(self, shape: tuple[int, ...], strides: tuple[int, ...] | None) -> None:
        self.destroy: Any = onednn.library.dnnl_memory_desc_destroy  # within reach also when the interpreter ends
        count, sizes = len(shape), dims(shape)
        self.handle: Any = (create("dnnl_memory_desc_create_with_tag", count, sizes, FLOAT, ANY) if strides is None else
                              create("dnnl_memory_desc_create_with_strides", count, sizes, FLOAT, dims(strides)))

    def __del__(self) -> None:
        if hasattr(self, "handle"):
            self.destroy(self.handle)

    @property
    def _as_parameter_(self) -> Any:
        """What ctypes passes."""
        return self.handle


@lru_cache(maxsize=KEPT)
def described(shape: tuple[int, ...], order: str) -> Description:
    """The descriptor of a dense array that lies by "rows", with the channels (dimension 1) "last", or in "any" order."""
    if order == "any":
        return Description(shape, None)
    axes = list(range(len(shape)))
    if order == "last":
        axes = [0, *axes[2:], 1]
    strides, step = [0] * len(shape), 1
    for axis in reversed(axes):
        strides[axis] = step
        step *= shape[axis]
    return Description(shape, tuple(strides))


class Primitive:
    """A primitive compiled from its descriptor, which it takes over; run() is given the address of each of `arguments`."""

    def __init__(self, descriptor: Any, *arguments: int) -> None:
        self._free: list[Call] = []
        self.threads: int = _making.count
        self.library: Any = onednn.library         # within reach also when the interpreter ends
        self.descriptor: Any = descriptor
        self.handle: Any = None
        self.arguments: tuple[int, ...] = arguments
        name = ctypes.c_char_p()
        self.library.dnnl_primitive_desc_query(descriptor, 8, 0, ctypes.byref(name))
        self.name: str = (name.value or b"").decode()
        if choose.reference(self.name):
            raise Refused("only the reference implementation")
        self.handle = create("dnnl_primitive_create", descriptor)
        self.room: int = self.bytes(SCRATCH)
        if self.room:
            self.arguments = (*arguments, SCRATCH)

    def wants(self, what: int) -> Any:
        """The memory descriptor of an argument, as the primitive takes it."""
        return Pointer(self.library.dnnl_primitive_desc_query_md(self.descriptor, 255, what))

    def bytes(self, what: int) -> int:
        """How much memory an argument takes."""
        return int(self.library.dnnl_memory_desc_get_size(self.wants(what)))

    def takes(self, what: int, given: Description) -> bool:
        """Whether an argument may lie as `given` says."""
        return bool(self.library.dnnl_memory_desc_equal(self.wants(what), given))

    def run(self, room: int, *addresses: int) -> None:
        """Run on memory at these addresses, in the order of the arguments; scratch memory is at `room`."""
        try:
            call = self._free.pop()
        except IndexError:
            call = Call(self)
        call((*addresses, room) if self.room else addresses)
        self._free.append(call)

    def __del__(self) -> None:
        self._free.clear()
        if self.handle is not None:
            self.library.dnnl_primitive_destroy(self.handle)
        self.library.dnnl_primitive_desc_destroy(self.descriptor)


class Call:
    """One thread's way into a primitive: a stream, and memory objects for its arguments."""

    def __init__(self, primitive: Primitive) -> None:
        self.library: Any = primitive.library
        self.handle: Any = primitive.handle
        self.threads: int = primitive.threads
        self.memories: list[Any] = []
        self.stream: Any = create("dnnl_stream_create", engine(), 1)
        for what in primitive.arguments:
            self.memories.append(create("dnnl_memory_create", primitive.wants(what), engine(), None))
        self.place: Any = self.library.dnnl_memory_set_data_handle
        self.execute: Any = self.library.dnnl_primitive_execute
        self.placed: tuple[int, ...] = (0,) * len(self.memories)
        pairs = [Argument(what, memory) for what, memory in zip(primitive.arguments, self.memories, strict=True)]
        self.list: ctypes.Array[Argument] = (Argument * len(pairs))(*pairs)

    def __call__(self, addresses: tuple[int, ...]) -> None:
        if addresses != self.placed:                 # malloc gives a loop the same memory again
            for memory, address, before in zip(self.memories, addresses, self.placed, strict=True):
                if address != before:
                    self.place(memory, address)
            self.placed = addresses
        if self.threads == 1 and self.library.single:
            status = self.execute(self.handle, self.stream, len(self.memories), self.list)
        else:
            status = using(self.library, self.threads, self.execute, self.handle, self.stream, len(self.memories),
                           self.list)
        if status:
            raise Refused(f"dnnl_primitive_execute: status {status}")

    def __del__(self) -> None:
        for memory in self.memories:
            self.library.dnnl_memory_destroy(memory)
        if hasattr(self, "stream"):
            self.library.dnnl_stream_destroy(self.stream)


@cached
def reorder(shape: tuple[int, ...], source: str, target: str) -> Primitive:
    """What copies a dense array from one order of memory into another."""
    with width(prod(shape), threads.WIDE_PASS):
        return reordering(described(shape, source), described(shape, target))


def reordering(source: Any, target: Any) -> Primitive:
    """What copies memory from one descriptor to another (SRC and DST)."""
    descriptor = create("dnnl_reorder_primitive_desc_create", source, engine(), target, engine(), attributes())
    return Primitive(descriptor, SRC, DST)


# --- scratch memory ------------------------------------------------------------------------------------------------------

class _Scratch(threading.local):
    """A thread's scratch memory, which grows to what was needed most."""

    memory: Any = None


_scratch = _Scratch()


class scratch:
    """`with scratch(100, 200) as (a, b):` addresses of stretches of so many bytes, on lines of the cache."""

    def __init__(self, *sizes: int) -> None:
        self.sizes = sizes

    def __enter__(self) -> list[int]:
        total = sum(self.sizes) + 64 * (len(self.sizes) + 1)
        self.memory, _scratch.memory = _scratch.memory, None     # not visible to nested calls
        if self.memory is None or len(self.memory) < total:
            self.memory = (ctypes.c_char * total)()
        address = -(-ctypes.addressof(self.memory) // 64) * 64
        places = []
        for size in self.sizes:
            places.append(address)
            address += -(-size // 64) * 64
        return places

    def __exit__(self, *exception: object) -> None:
        if len(self.memory) <= ROOM:
            _scratch.memory = self.memory
