"""vitals: what this process tells of its training to those who watch the job (`dprun --top`)."""

from __future__ import annotations


class Vitals:
    """loss: the last that a Logger was given on this process; None before."""

    def __init__(self) -> None:
        self.loss: float | None = None


vitals = Vitals()

__all__ = ["Vitals", "vitals"]
