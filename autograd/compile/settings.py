"""Settings of a compiled function: the arguments of compile(), checked."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from .programs.engines import Engine, engines

MODES = (None, "default", "reduce-overhead", "max-autotune", "max-autotune-no-cudagraphs")
BACKENDS = ("inductor", "python", "eager")


class Settings(NamedTuple):
    """What a Compiled needs of them."""

    fullgraph: bool = False
    engines: tuple[Engine, ...] = ()
    quiet: bool = False                              # no warnings: of the parts of a function


def checked(fullgraph: bool, dynamic: bool | None, backend: str | Callable[..., Any], mode: str | None,
            options: dict[str, Any] | None) -> Settings:
    """The settings; ValueError, RuntimeError or NotImplementedError as compile() says."""
    if dynamic:
        raise NotImplementedError("compile(dynamic=True): a program has fixed shapes; other shapes get their own")
    if callable(backend):
        raise NotImplementedError(f"compile(backend={backend!r}): a callable, since there is no FX graph to pass to it")
    if backend not in BACKENDS:
        raise ValueError(f"compile(backend={backend!r}): one of {', '.join(map(repr, BACKENDS))}")
    if mode not in MODES:
        raise ValueError(f"compile(mode={mode!r}): one of {', '.join(map(repr, MODES[1:]))}")
    if mode is not None and options:
        raise RuntimeError("Either mode or options can be specified, but both can't be specified at the same time.")
    unknown = [name for name in options or () if name != "bitwise"]
    if unknown:
        raise RuntimeError(f"compile(options=...): unknown option {unknown[0]!r}; there is 'bitwise'")
    return Settings(bool(fullgraph), engines(backend == "python" or bool((options or {}).get("bitwise"))))


__all__ = ["Settings", "checked"]
