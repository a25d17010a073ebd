"""Draws the pictures of docs/backward.md: `python docs/site/pictures.py`, with Graphviz' program dot.

A picture is the Drawing that the block of code above it has called `picture`. Its text for dot lies in the file as a
comment, so that a test can tell, without Graphviz, whether the picture is still that of the graph (tests/test_site.py).
"""

from __future__ import annotations

import contextlib
import io
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

DOCS = Path(__file__).parent.parent


def drawings() -> Iterator[tuple[Path, Any]]:
    """(file, Drawing) of each picture of the page."""
    names: dict[str, Any] = {"__name__": "backward"}
    for code, picture in re.findall(
        r"^```python\n(.*?)^```|^!\[.*?\]\((.*?)\)", (DOCS / "backward.md").read_text(), re.S | re.M
    ):
        if code:
            with contextlib.redirect_stdout(io.StringIO()):
                exec(compile(code, "backward.md", "exec"), names)
        else:
            yield DOCS / picture, names["picture"]


def comment(drawing: Any) -> str:
    """The drawing's text for dot, as a comment in XML."""
    return f"<!-- {drawing.dot.replace('->', '>')} -->\n"


if __name__ == "__main__":
    for path, drawing in drawings():
        drawing.save(path)
        text = path.read_text()
        path.write_text(text.replace("<!-- Generated", comment(drawing) + "<!-- Generated", 1))
        print(path)
