"""Text in a notebook's HTML. The standard library's html takes 2 ms to import."""

from __future__ import annotations


def escaped(text: str) -> str:
    """A text that HTML shows as it is."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace('"', "&quot;").replace("'", "&#x27;")
