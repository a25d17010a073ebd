"""Tracer: the Interceptor of calls that records the calls of a running step as a program.

It keeps the arrays of the recorded run, which are the memory that replays write to.
"""

from __future__ import annotations

from ..core.interceptors import Interceptor, install, remove
from ..core.modes import modes
from .backward import Backward
from .calls import Value
from .effects import Effects
from .gradients import Gradients
from .nests import Nest


class Tracer(Backward, Effects, Interceptor):
    """Records the calls of one thread from `with tracer:` on."""

    sees_calls = True

    def __init__(self, apart: bool = False) -> None:
        super().__init__(apart)
        self.gradients: Gradients = Gradients(self)
        self.returned: Nest = Nest(())               # what the step returned
        self.results: list[Value] = []               # of the tensors in it

    def __enter__(self) -> Tracer:
        install(self)
        self._casts = modes.autocast_cache           # casts made before the step, which the program does not make
        modes.autocast_cache = None if self._casts is None else {}
        return self

    def __exit__(self, *exception: object) -> None:
        modes.autocast_cache = self._casts
        remove(self)
