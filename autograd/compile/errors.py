"""TraceError, which trace_step() and replays raise."""


class TraceError(RuntimeError):
    """A step cannot be recorded, or a recording does not fit the arguments of a call."""


__all__ = ["TraceError"]
