"""Drawing: a drawn graph as text, and as a picture that Graphviz' program `dot` makes."""

from __future__ import annotations

import contextlib
import os
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ...core.graph import Node
from ...core.tensor import Tensor
from .owners import Owners

PICTURES = ("svg", "png", "pdf")
LARGEST = 1000                                       # the most nodes of a picture in a notebook (0.13 s for layers in a row)
PATIENCE = 10.0                                      # seconds to wait for the picture: a leaf that all nodes read takes long
MSG_NO_DOT = ("Graphviz' program `dot` is needed for pictures, and is not on the PATH ({error}): apt install graphviz, brew "
              "install graphviz, or conda install graphviz. The text for it: draw(..., format=\"dot\")")


class Drawing(str):
    """The text of a drawn graph. `dot` is the same for Graphviz."""

    dot: str
    nodes: int

    def __new__(cls, text: str, dot: str, nodes: int) -> Drawing:
        """A text with its other form, and the number of nodes in it."""
        self = super().__new__(cls, text)
        self.dot, self.nodes = dot, nodes
        return self

    def __getnewargs__(self) -> tuple[str, str, int]:            # type: ignore[override]
        return str(self), self.dot, self.nodes

    def __repr__(self) -> str:                       # a terminal shows the graph, not a quoted text
        return str(self)

    def picture(self, format: str = "svg", timeout: float | None = None) -> bytes:
        """The graph as "svg", "png" or "pdf". RuntimeError with the remedy if Graphviz is not installed, or if it takes
        more than `timeout` seconds."""
        if format not in PICTURES:
            raise ValueError(f"a picture is one of {', '.join(PICTURES)}, not {format!r}")
        try:
            done = subprocess.run(["dot", f"-T{format}"], input=self.dot.encode(), capture_output=True, timeout=timeout)
        except subprocess.TimeoutExpired as error:
            raise RuntimeError(f"Graphviz' dot takes more than {timeout:g} s for {self.nodes} nodes") from error
        except OSError as error:
            raise RuntimeError(MSG_NO_DOT.format(error=error)) from error
        if done.returncode:
            said = done.stderr.decode(errors="replace").strip()[:500] or "it crashed, as on graphs that are too large for it"
            raise RuntimeError(f"Graphviz' dot failed on {self.nodes} nodes with code {done.returncode}: {said}")
        return done.stdout

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the graph in the format of the file's suffix: .svg, .png, .pdf; .dot or .gv for Graphviz, .txt as text."""
        target = Path(path)
        kind = target.suffix[1:].lower()
        if kind in PICTURES:
            target.write_bytes(self.picture(kind))
        elif kind in ("dot", "gv", "txt"):
            target.write_text((str(self) if kind == "txt" else self.dot) + "\n", encoding="utf-8")
        else:
            raise ValueError(f"save({os.fspath(path)!r}): a name that ends in .{', .'.join(PICTURES)}, .dot, .gv or .txt")
        return target

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        """The notebook's view: the picture, or the text if there is no Graphviz or the graph is large."""
        shown = {"text/plain": str(self)}
        if self.nodes <= LARGEST:
            with contextlib.suppress(RuntimeError):          # the text must suffice
                shown["image/svg+xml"] = self.picture("svg", PATIENCE).decode()
        return shown


def as_dot(outputs: Sequence[Tensor], nodes: Sequence[Node], labels: Mapping[int, str], owners: Owners) -> str:
    """Boxes joined by arrows from inputs to results. Leaves, results and boxes of a module are filled; modules are named
    below."""
    numbers = {id(node): number for number, node in enumerate(nodes)}
    colours = {name: f'"{number / len(owners.all):.3f} 0.30 1.000"' for number, name in enumerate(owners.all)}
    lines = ["digraph {", "  node [shape=box, fontname=monospace];"]
    for node in nodes:
        owner, text = owners.of(node), quoted(labels[id(node)]).replace(" [", "\\n[", 1)
        fill = ", style=filled, fillcolor=lightblue" if node.is_leaf else ""
        if owner:
            style = "filled" if node.is_leaf else '"filled,rounded"'
            fill = f", style={style}, fillcolor={colours[owner]}"
            text += "" if node.is_leaf else f"\\n{quoted(owner)}"
        lines.append(f'  n{numbers[id(node)]} [label="{text}"{fill}];')
    for number, out in enumerate(outputs):
        lines.append(f'  y{number} [label="{list(out.shape)}", style=filled, fillcolor=lightgreen];')
        if out.edge is not None:
            lines.append(f"  n{numbers[id(out.edge[0])]} -> y{number};")
    for node in nodes:
        lines += [f"  n{numbers[id(edge[0])]} -> n{numbers[id(node)]};" for edge in node.edges if edge is not None]
    return "\n".join([*lines, "}"])


def quoted(text: str) -> str:
    """A text escaped for a label of dot: quotation marks, backslashes, ends of lines and entities."""
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("&", "&amp;")
