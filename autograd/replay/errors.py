"""TraceError, which trace_step() and replays raise."""


class TraceError(RuntimeError):
    """A step can't be recorded, or what was recorded does not fit what it is called with."""


__all__ = ["TraceError"]
