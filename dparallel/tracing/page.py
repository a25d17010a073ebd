"""The report as a page."""

from __future__ import annotations

import html
from typing import Any

from .report import text_of


def page(data: dict[str, Any]) -> str:
    """A page of one file, without anything from elsewhere."""
    return f"<!doctype html><meta charset=utf-8><title>dparallel report</title><pre>{html.escape(text_of(data))}</pre>\n"
