"""How a step is recorded: a Tracer of its calls, and what becomes of each kind of call."""
