"""Primitives: kernels by oneDNN or by compiled loops, which a native program calls as they do, without Python.

A kernel that takes the arrays of the recorded step is one call there (recording/inline.py). These functions say what it
makes of them: memory in the order that the library requires, and calls of C functions by address.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from math import prod
from typing import Any

import numpy as np

from ...base.types import Array
from ...kernels import group_norm, recurrent_fused
from ...kernels.loops import loops
from ...kernels.loops.group_norm import OUTPUT, SHIFTED, SUMS, WEIGHTED
from ...kernels.loops.pieces import LINE
from ...kernels.memory_format import strides_last
from ...kernels.onednn import convolution, pooling, resampling
from ...kernels.onednn import primitives as dnn
from ..native.libraries import address_of, threads_setter
from ..recording.calls import laid_alike
from .ir import Handle, Ref, Storage
from .operands import Operands, c_strides

MADE = {dnn.DST, dnn.DIFF_SRC, dnn.DIFF_WEIGHTS, dnn.DIFF_BIAS, dnn.SCRATCH}     # arguments that a primitive writes to


# --- operands -------------------------------------------------------------------------------------------------------------

def laid(low: Operands, x: Any, order: str = "rows") -> Ref:
    """An operand, or a copy of it, that lies by "rows" or with the channels "last"."""
    ref: Ref = x if isinstance(x, Ref) else low.ref(x)
    strides = c_strides(ref.shape) if order == "rows" else strides_last(ref.shape, 1)
    if laid_alike(ref.shape, ref.strides, strides):
        return ref
    return low.put("map", "copy", Ref(Storage(prod(ref.shape), ref.dtype), 0, ref.shape, strides), [ref])


def order_of(array: Array) -> str:
    """How an array lies that is dense in one of the two orders."""
    return "rows" if array.flags.c_contiguous else "last"


def room(low: Operands, size: int, dtype: Any = np.uint8) -> Ref:
    """Memory for numbers of a call's own."""
    return low.temporary((size,), dtype)


def threads(count: int) -> list[tuple[Any, ...]]:
    """The call that sets the number of threads of the next one."""
    setter = threads_setter()
    return [(setter, np.int32(count))] if setter else []


# --- calls ----------------------------------------------------------------------------------------------------------------

def run(low: Operands, primitive: dnn.Primitive, *refs: Ref) -> None:
    """A primitive of oneDNN on its arguments in order."""
    if primitive.room:
        refs = *refs, room(low, primitive.room)
    call, library, what = dnn.Call(primitive), primitive.library, primitive.arguments
    place, execute = map(address_of, (library.dnnl_memory_set_data_handle, library.dnnl_primitive_execute))
    calls = [*threads(primitive.threads),
             *((place, Handle(memory.value), ref) for memory, ref in zip(call.memories, refs, strict=True)),
             (execute, Handle(primitive.handle.value), Handle(call.stream.value), np.int32(len(refs)),
              Handle(ctypes.addressof(call.list)))]
    made = MADE | ({dnn.WORKSPACE} if dnn.DST in what else set())
    low.primitive(calls, [r for w, r in zip(what, refs, strict=True) if w in made],
                  [r for w, r in zip(what, refs, strict=True) if w not in made], primitive, call)


def run_pass(low: Operands, plan: convolution.Pass | None, first: Ref, weight: Ref, *rest: Ref) -> None:
    """A pass of a convolution, and the reorder of its weight."""
    assert plan is not None
    if plan.copying is None:
        run(low, plan.primitive, first, weight, *rest)
        return
    place = room(low, plan.sizes[0])
    if plan.weight == dnn.WEIGHTS:
        run(low, plan.copying, weight, place)
    run(low, plan.primitive, first, place, *rest)
    if plan.weight != dnn.WEIGHTS:
        run(low, plan.copying, place, weight)


def loop(low: Operands, name: str, made: Sequence[Ref], changed: Sequence[Ref], *arguments: Any) -> None:
    """A compiled loop. It writes `made`, and reads and writes `changed`."""
    ins = [x for x in arguments if isinstance(x, Ref) and not any(x is r for r in made)]
    low.primitive([*threads(1), (loops.library.addresses()[name], *arguments)], [*made, *changed], ins)


# --- convolution and windows ----------------------------------------------------------------------------------------------

def conv(low: Operands, args: list[Any], outs: list[Array], settings: dict[str, Any]) -> None:
    """Lower a call of kernels.onednn.convolution.conv()."""
    given, weight, bias, geometry, groups = args
    x, weight = laid(low, given, "last"), laid(low, weight)
    vectors = [] if bias is None else [laid(low, bias)]
    plan = convolution.planned("forward", x.shape, weight.shape, bool(vectors), geometry, groups)
    run_pass(low, plan, x, weight, low.target(outs[0]), *vectors)


def conv_input(low: Operands, args: list[Any], outs: list[Array], settings: dict[str, Any]) -> None:
    """Lower a call of kernels.onednn.convolution.conv_input()."""
    g, weight, _, geometry, groups = args
    g, weight = laid(low, g, "last"), laid(low, weight)
    plan = convolution.planned("input", outs[0].shape, weight.shape, False, geometry, groups)
    run_pass(low, plan, g, weight, low.target(outs[0]))


def conv_weight(low: Operands, args: list[Any], outs: list[Array], settings: dict[str, Any]) -> None:
    """Lower a call of kernels.onednn.convolution.conv_weight()."""
    g, x, geometry, groups, bias = args
    g, x = laid(low, g, "last"), laid(low, x, "last")
    plan = convolution.planned("weight", x.shape, outs[0].shape, bias, geometry, groups)
    weight, *total = map(low.target, outs)
    run_pass(low, plan, x, weight, g, *total)


def mean_windows(low: Operands, args: list[Any], outs: list[Array], settings: dict[str, Any]) -> None:
    """Lower a call of kernels.onednn.pooling.mean_windows()."""
    x, geometry, what = args
    order = order_of(x.array)
    plan: Any = pooling.planned(what, x.array.shape, geometry, order)
    run(low, plan[0], laid(low, x, order), low.target(outs[0]))


def mean_windows_back(low: Operands, args: list[Any], outs: list[Array], settings: dict[str, Any]) -> None:
    """Lower a call of kernels.onednn.pooling.mean_windows_back()."""
    g, _, geometry, what, order = args
    plan: Any = pooling.planned(what, outs[0].shape, geometry, order)
    run(low, plan[1], laid(low, g, order), low.target(outs[0]))


def max_windows_back(low: Operands, args: list[Any], outs: list[Array], settings: dict[str, Any]) -> None:
    """Lower a call of kernels.onednn.pooling.max_windows_back()."""
    g, codes, _, geometry = args
    order = "last" if codes.array.ndim > 2 and laid_alike(
        codes.array.shape, codes.array.strides, strides_last(codes.array.shape, 1)) else "rows"
    plan: Any = pooling.planned(pooling.MAXIMUM, outs[0].shape, geometry, order)
    run(low, plan[1], laid(low, g, order), low.target(outs[0]), laid(low, codes, order))


def linear(low: Operands, args: list[Any], outs: list[Array], settings: dict[str, Any]) -> None:
    """Lower a call of kernels.onednn.resampling.linear()."""
    x = laid(low, args[0], "last")
    plan: Any = resampling.planned(x.shape, args[1])
    run(low, plan[0], x, low.target(outs[0]))


def linear_back(low: Operands, args: list[Any], outs: list[Array], settings: dict[str, Any]) -> None:
    """Lower a call of kernels.onednn.resampling.linear_back()."""
    g = laid(low, args[0], "last")
    plan: Any = resampling.planned(outs[0].shape, g.shape[2:])
    run(low, plan[1], g, low.target(outs[0]))


# --- normalization --------------------------------------------------------------------------------------------------------

def normalized(low: Operands, args: list[Any], outs: list[Array], settings: dict[str, Any]) -> None:
    """Lower a call of kernels.group_norm.forward()."""
    given, weight, bias, groups, eps = args
    x = laid(low, given, "last")
    vectors = [x if v is None else laid(low, v) for v in (weight, bias)]
    made, sizes, parts = [low.target(a) for a in outs], group_norm._sizes(outs[0], groups), SUMS | OUTPUT
    own = rooms(low, sizes)
    loop(low, "group_norm", [*made, *own], [], x, *vectors, *made, *own, *sizes,
         parts | WEIGHTED * (weight is not None) | SHIFTED * (bias is not None), np.float32(eps))


def normalized_back(low: Operands, args: list[Any], outs: list[Array], settings: dict[str, Any]) -> None:
    """Lower a call of kernels.group_norm.backward()."""
    g, x, weight, means, scales = args
    shape = means.array.shape
    g, x, means, scales = laid(low, g, "last"), laid(low, x, "last"), laid(low, means), laid(low, scales)
    sizes = group_norm._sizes(outs[0], shape[1] if len(shape) == 2 else group_norm.BATCH)
    made, own = [low.target(a) for a in outs], rooms(low, sizes)
    loop(low, "group_norm_backward", [*made, *own], [], g, x, x if weight is None else laid(low, weight), means, scales,
         *made, *own, *sizes, SUMS | OUTPUT | WEIGHTED * (weight is not None))


def rooms(low: Operands, sizes: tuple[int, ...]) -> list[Ref]:
    """The loops' own memory, as in kernels.group_norm._run()."""
    width, channels = sizes[4:6]
    return [room(low, 4 * channels + 2 * width + LINE, np.float64), room(low, 4 * width + LINE, np.float32)]


# --- recurrent layers -----------------------------------------------------------------------------------------------------

def turned(x: Ref) -> Ref:
    """A matrix transposed."""
    return Ref(x.storage, x.offset, x.shape[::-1], x.strides[::-1])


def steps_and(low: Operands, steps: Any, *numbers: int) -> list[Any]:
    """The last arguments: (start, stop) of the steps, their number, other numbers, and oneDNN's product."""
    return [low.ref(recurrent_fused.table(steps)), len(steps), *numbers, Handle(recurrent_fused.sgemm())]


def lstm(low: Operands, args: list[Any], outs: list[Array], settings: dict[str, Any]) -> None:
    """Lower a call of kernels.recurrent_fused.lstm_forward()."""
    *changed, weight, steps = args
    gates, h, c = map(low.ref, changed)
    weight = laid(low, turned(low.ref(weight)))
    out, before, cells, tanhs = made = [low.target(a) for a in outs]
    loop(low, "lstm", made, [gates, h, c], gates, h, c, weight, before, cells, tanhs, out,
         *steps_and(low, steps, c.shape[1]))


def lstm_back(low: Operands, args: list[Any], outs: list[Array], settings: dict[str, Any]) -> None:
    """Lower a call of kernels.recurrent_fused.lstm_backward()."""
    g, gh, gc, (_, cells, gates, tanhs), weight, steps = args
    gh, gc, d, weight, gates = low.ref(gh), low.ref(gc), low.target(outs[0]), laid(low, weight), low.ref(gates)
    loop(low, "lstm_backward", [d], [gh, gc], gates, low.ref(cells), low.ref(tanhs), gates if g is None else laid(low, g),
         gh, gc, weight, d, *steps_and(low, steps[::-1], gc.shape[1], int(g is not None)))


def gru(low: Operands, args: list[Any], outs: list[Array], settings: dict[str, Any]) -> None:
    """Lower a call of kernels.recurrent_fused.gru_forward()."""
    gates, h, weight, bias, steps = args
    gates, h, weight = low.ref(gates), low.ref(h), laid(low, turned(low.ref(weight)))
    n = h.shape[1]
    bias = low.put("map", "copy", room(low, n, h.dtype), [0]) if bias is None else laid(low, bias)
    out, before, inner = (low.target(a) for a in outs)
    made = [before, inner, out, part := low.temporary((h.shape[0], 3 * n), h.dtype)]
    loop(low, "gru", made, [gates, h], gates, h, weight, part, bias, before, inner, out, *steps_and(low, steps, n))


def gru_back(low: Operands, args: list[Any], outs: list[Array], settings: dict[str, Any]) -> None:
    """Lower a call of kernels.recurrent_fused.gru_backward()."""
    g, gh, (before, gates, inner), weight, steps = args
    whole, d = map(low.target, outs)
    gh, gates, before, weight = low.ref(gh), low.ref(gates), low.ref(before), laid(low, weight)
    rows, n = before.shape
    through = low.temporary((rows, n), d.dtype)
    loop(low, "gru_backward", [d, through], [gh], gates, before, low.ref(inner), gates if g is None else laid(low, g), gh,
         weight, d, through, *steps_and(low, steps[::-1], n, int(g is not None)))
    for source, start in ((Ref(d.storage, d.offset, (rows, 2 * n), d.strides), 0), (through, 2 * n)):
        low.put("map", "copy", Ref(whole.storage, whole.offset + start, source.shape, whole.strides), [source])


PRIMITIVES: dict[Any, Callable[..., None]] = {
    convolution.conv: conv, convolution.conv_input: conv_input, convolution.conv_weight: conv_weight,
    pooling.mean_windows: mean_windows, pooling.mean_windows_back: mean_windows_back,
    pooling.max_windows_back: max_windows_back, resampling.linear: linear, resampling.linear_back: linear_back,
    group_norm.forward: normalized, group_norm.backward: normalized_back,
    recurrent_fused.lstm_forward: lstm, recurrent_fused.lstm_backward: lstm_back,
    recurrent_fused.gru_forward: gru, recurrent_fused.gru_backward: gru_back,
}
__all__ = ["PRIMITIVES"]
