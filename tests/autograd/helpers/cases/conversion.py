"""Rows for conversions: dtype, memory format, copies."""

from .row import Case

FORMATS = ("contiguous_format", "channels_last", "preserve_format")
CASES = [Case(name, call, [(2, 3)]) for name, call in [
    ("to and back", lambda t, x: x.to(t.float64).to("cpu", x.dtype)), ("to other", lambda t, x: x.to(x.detach())), ("to copy", lambda t, x: x.to(x.dtype, copy=True)), ("type", lambda t, x: x.type(x.dtype)),
    ("type_as", lambda t, x: x.type_as(x)), ("cpu", lambda t, x: x.cpu()), ("as_tensor", lambda t, x: t.as_tensor(x)),
    ("asarray", lambda t, x: t.asarray(x * 2, requires_grad=True))]]
CASES += [Case(f"to {name}", lambda t, x, name=name: x.to(memory_format=getattr(t, name)), [(2, 3, 4, 2)]) for name in FORMATS]
