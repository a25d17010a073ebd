"""Where tensors live and how they lie in memory: the names that PyTorch's arguments take, of which few are possible here."""

from __future__ import annotations

from typing import Any

import numpy as np

TYPES = ("cpu", "cuda", "ipu", "xpu", "mkldnn", "opengl", "opencl", "ideep", "hip", "ve", "fpga", "maia", "xla", "lazy",
         "vulkan", "mps", "meta", "hpu", "mtia", "privateuseone")


class device:
    """A device for tensors. Any of PyTorch's can be named; only "cpu" can be used."""

    __slots__ = ("index", "type")

    type: str
    index: int | None

    def __init__(self, type: Any, index: int | None = None) -> None:
        if isinstance(type, device):
            type, index = type.type, type.index
        if not isinstance(type, str):
            raise TypeError(f"device(): argument 'type' must be str, not {type.__class__.__name__}")
        name, colon, number = type.partition(":")
        if name not in TYPES:
            raise RuntimeError(f"Expected one of {', '.join(TYPES)} device type at start of device string: {name}")
        if colon:
            if index is not None:
                raise RuntimeError(f"type (string) must not include an index because index was passed explicitly: {type}")
            if not number.isdigit():
                raise RuntimeError(f"Invalid device string: '{type}'")
            index = int(number)
        self.type, self.index = name, index

    def __eq__(self, other: object) -> bool:
        return isinstance(other, device) and (self.type, self.index) == (other.type, other.index)

    def __hash__(self) -> int:
        return hash((self.type, self.index))

    def __str__(self) -> str:
        return self.type if self.index is None else f"{self.type}:{self.index}"

    def __repr__(self) -> str:
        return f"device(type='{self.type}'" + (")" if self.index is None else f", index={self.index})")

    def __reduce__(self) -> Any:
        return device, (self.type, self.index)

    def __enter__(self) -> device:
        """`with device("cpu"):`, where tensors are made anyway; NotImplementedError for another one."""
        check(self)
        return self

    def __exit__(self, *exception: object) -> None:
        """Nothing to put back."""


CPU = device("cpu")


class Constant:
    """One of a few named values, such as strided."""

    __slots__ = ("name",)

    name: str

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return f"autograd.{self.name}"

    def __reduce__(self) -> str:
        return self.name


class layout(Constant):
    """How the elements of a tensor are stored. Only `strided`, the dense one, can be used."""

    __slots__ = ()


class memory_format(Constant):
    """The order of the dimensions in memory."""

    __slots__ = ()


strided: layout = layout("strided")
sparse_coo: layout = layout("sparse_coo")
sparse_csr: layout = layout("sparse_csr")
sparse_csc: layout = layout("sparse_csc")
sparse_bsr: layout = layout("sparse_bsr")
sparse_bsc: layout = layout("sparse_bsc")
contiguous_format: memory_format = memory_format("contiguous_format")
preserve_format: memory_format = memory_format("preserve_format")
channels_last: memory_format = memory_format("channels_last")
channels_last_3d: memory_format = memory_format("channels_last_3d")


def check(device_: Any = None, layout_: Any = None, pin_memory: bool = False) -> None:
    """Refuse, by name, what is not the CPU's ordinary memory. An integer names an accelerator."""
    if device_ is not None and (isinstance(device_, int) or (device_ != "cpu" and device(device_).type != "cpu")):
        name = device_ if isinstance(device_, int) else str(device_)
        raise NotImplementedError(f"device={name!r}: tensors live in the CPU's memory; leave device out or pass 'cpu'")
    if layout_ is not None and layout_ is not strided:
        if not isinstance(layout_, layout):
            raise TypeError(f"argument 'layout' must be a layout such as strided, not {type(layout_).__name__}")
        raise NotImplementedError(f"layout={layout_}: only dense (strided) tensors are implemented")
    if pin_memory:
        raise RuntimeError("pin_memory=True needs an accelerator to copy to; tensors here live in the CPU's memory")


def get_default_device() -> device:
    """The device on which tensors are made: always the CPU."""
    return CPU


def set_default_device(device: Any) -> None:
    """The CPU, or None for it; NotImplementedError for another device."""
    check(device)


def check_format(format: Any) -> None:
    """TypeError unless it is None or a memory_format."""
    if format is not None and not isinstance(format, memory_format):
        raise TypeError(f"argument 'memory_format' must be a memory_format, not {type(format).__name__}")


def in_format(shape: tuple[int, ...], dtype: Any, format: Any) -> Any:
    """An empty array of `shape` whose memory is in the order that `format` says."""
    if format is channels_last or format is channels_last_3d:
        rank = 4 if format is channels_last else 5
        if len(shape) != rank:
            raise RuntimeError(f"required rank {rank} tensor to use {format.name} format")
        return np.moveaxis(np.empty((shape[0], *shape[2:], shape[1]), dtype), -1, 1)
    if format is preserve_format:
        raise RuntimeError("unsupported memory format option Preserve: there is no tensor whose format to preserve")
    return np.empty(shape, dtype)
