"""Functions of torch that return their argument, or raise that the feature is missing; modules of torch's names pass them
on.

May import: base, core, ops, torch_names. Read first: compiler.py."""
