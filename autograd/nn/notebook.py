"""html_of(): a module as a notebook shows it, a tree that opens and closes, with the numbers of parameters."""

from __future__ import annotations

from typing import Any

from ..base.notebook import escaped
from .parameter import is_lazy

OPEN = 2                                             # levels that are open at first


def html_of(module: Any, name: str = "", depth: int = 0) -> str:
    """A module with those below it; its own parameters and buffers have lines."""
    text = escaped(f"{module._get_name()}({module.extra_repr()})")
    line = f"<b>{escaped(name)}</b> " * bool(name) + f"<code>{text}</code> <small>{counts(module)}</small>"
    own = [(key, about(p)) for key, p in module.named_parameters(recurse=False)]
    own += [(key, f"{about(p)}, buffer") for key, p in module.named_buffers(recurse=False)]
    inside = [f"<div style=\"margin-left: 1.5em\">{escaped(key)} <small>{escaped(text)}</small></div>" for key, text in own]
    inside += [html_of(child, key, depth + 1) for key, child in module._modules.items() if child is not None]
    if not inside:
        return f"<div style=\"margin-left: 1.5em\">{line}</div>"
    return (f"<details style=\"margin-left: {1.5 * bool(depth)}em\"{' open' * (depth < OPEN - 1)}><summary>{line}</summary>"
            + "".join(inside) + "</details>")


def counts(module: Any) -> str:
    """How many parameters, once each, and how many of them are not trained."""
    parameters = list(module.parameters())
    if any(is_lazy(p) for p in parameters):
        return "parameters not known yet"
    total = sum(p.numel() for p in parameters)
    fixed = total - sum(p.numel() for p in parameters if p.requires_grad)
    return f"{total:,} parameter{'s' * (total != 1)}" + (f", {fixed:,} not trained" if fixed else "")


def about(p: Any) -> str:
    """A parameter's or buffer's shape and dtype."""
    return "not known yet" if is_lazy(p) else f"{list(p.shape)} {p.dtype.name}"
