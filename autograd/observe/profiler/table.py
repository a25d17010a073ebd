"""The table of events as a text, in PyTorch's columns."""

from __future__ import annotations

import math
import numbers
from collections.abc import Sequence
from typing import Any

WIDTH = 12                                           # of a column of numbers
UNITS = {"s": 1e6, "ms": 1e3, "us": 1.0}
FLOPS = ("FLOPs", "KFLOPs", "MFLOPs", "GFLOPs", "TFLOPs", "PFLOPs")


def table(events: Sequence[Any], *, sort_by: str | None, row_limit: int | None, src_width: int | None,
          name_width: int | None, shapes_width: int | None, header: str | None, top_level_only: bool,
          time_unit: str | None, memory: bool, flops: bool, footer: str = "") -> str:
    """The table; see EventList.table."""
    if time_unit is not None and time_unit not in UNITS:
        raise ValueError(f"table(time_unit={time_unit!r}): expected one of {list(UNITS)}")
    check_settings(row_limit=row_limit, max_src_column_width=src_width, max_name_column_width=name_width,
                   max_shapes_column_width=shapes_width)
    if not events:
        return ""
    if sort_by is not None:
        events = sorted_by(events, sort_by)
    total = sum(e.self_cpu_time_total for e in events)
    shapes = any(e.input_shapes for e in events)
    stacks = [entry for e in events for entry in e.stack or ()]
    counted = [e.flops for e in events if e.flops > 0] if flops else []
    power = min(int(math.log10(min(counted)) / 3), len(FLOPS) - 1) if counted else 0

    columns = [(within(max(len(e.key) for e in events) + 4, name_width), ">", "Name")]
    columns += [(WIDTH, ">", title) for title in ("Self CPU %", "Self CPU", "CPU total %", "CPU total", "CPU time avg")]
    columns += [(WIDTH, ">", title) for title in ("CPU Mem", "Self CPU Mem", "CPU Mem Peak")] if memory else []
    columns += [(WIDTH, ">", "# of Calls")]
    if shapes:
        columns.append((within(max(len(str(e.input_shapes)) for e in events) + 4, shapes_width), ">", "Input Shapes"))
    columns += [(WIDTH, ">", f"Total {FLOPS[power]}")] if counted else []
    columns += [(within(max(map(len, stacks)) + 4, src_width), "<", "Source Location")] if stacks else []
    layout = "".join(f"{{: {side}{width}}}  " for width, side, _ in columns)
    rule = "".join("-" * width + "  " for width, _, _ in columns)
    double = "=" * (len(rule) - 2)

    lines = []
    if header is not None:
        lines += [double, str(header)]
    if top_level_only:
        lines += [double, "This report only display top-level ops statistics"]
    lines += [rule, layout.format(*[title for _, _, title in columns]), rule]
    shown = [e for e in events if not top_level_only or e.cpu_parent is None]
    for e in shown if row_limit is None or row_limit < 0 else shown[:row_limit]:
        name = e.key if name_width is None or len(e.key) < name_width - 3 else e.key[:name_width - 3] + "..."
        row = [name, share(e.self_cpu_time_total, total), in_time(e.self_cpu_time_total, time_unit),
               "0" if e.is_async else share(e.cpu_time_total, total), in_time(e.cpu_time_total, time_unit),
               in_time(e.cpu_time, time_unit)]
        if memory:
            row += [in_bytes(e.cpu_memory_usage), in_bytes(e.self_cpu_memory_usage), in_bytes(e.cpu_memory_peak)]
        row += [str(e.count)]
        row += [str(e.input_shapes)[:shapes_width]] if shapes else []
        row += [f"{e.flops / 1000 ** power:8.3f}" if e.flops > 0 else "--"] if counted else []
        if stacks:
            lines.append(layout.format(*row, end_of(e.stack[0], src_width) if e.stack else ""))
            lines += [layout.format(*[""] * len(row), end_of(entry, src_width)) for entry in e.stack[1:]]
            lines.append(layout.format(*[""] * len(columns)))
        else:
            lines.append(layout.format(*row))
    return "\n".join([*lines, rule, f"Self CPU time total: {in_time(total, time_unit)}", *([footer] if footer else []), ""])


def check_settings(row_limit: Any, **widths: Any) -> None:
    """TypeError for a number of rows or a width that is not an integer, ValueError for a width below 0."""
    for name, value in (("row_limit", row_limit), *widths.items()):
        if value is not None and not isinstance(value, numbers.Integral):
            raise TypeError(f"table({name}={value!r}): a whole number or None is needed, not {type(value).__name__}")
        if value is not None and value < 0 and name in widths:
            raise ValueError(f"table({name}={value}): a width is at least 0; None: as wide as need be")


def sorted_by(events: Sequence[Any], sort_by: str) -> Sequence[Any]:
    """The events sorted by an orderable attribute, the largest first. PyTorch's names of devices are equivalent."""
    known = "events have self_cpu_time_total, cpu_time_total, cpu_time, self_cpu_memory_usage, count and others"
    if not isinstance(sort_by, str):
        raise TypeError(f"table(sort_by={sort_by!r}): the name of an attribute is needed; {known}")
    attribute = sort_by.replace("cuda", "device").replace("xpu", "device").replace("privateuse1", "device")
    if not hasattr(events[0], attribute):
        raise AttributeError(f"table(sort_by={sort_by!r}): events have no such attribute; {known}")
    try:
        return sorted(events, key=lambda e: getattr(e, attribute), reverse=True)
    except TypeError as error:
        raise TypeError(f"table(sort_by={sort_by!r}): this attribute cannot be ordered; {known}") from error


def within(width: int, most: int | None) -> int:
    """A width, at most the largest allowed one."""
    return width if most is None else min(width, most)


def in_time(us: float, unit: str | None) -> str:
    """Microseconds as a text, in a suitable unit unless one is given."""
    unit = unit or ("s" if us >= 1e6 else "ms" if us >= 1e3 else "us")
    return f"{us / UNITS[unit]:.3f}{unit}"


def share(us: float, total: float) -> str:
    """A part of the total in percent."""
    return f"{us * 100 / total:.2f}%" if total else "NaN"


def in_bytes(count: int) -> str:
    """Bytes as a text."""
    for power, unit in ((3, "GB"), (2, "MB"), (1, "KB")):
        if abs(count) >= 1024 ** power:
            return f"{count / 1024 ** power:.2f} {unit}"
    return f"{count} B"


def end_of(path: str, width: int | None) -> str:
    """A text, of which only the end is shown if it is too long."""
    if width is None or len(path) <= width:
        return path
    return "..." + path[len(path) - width + 3:]
