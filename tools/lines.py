"""The line numbers in docs/backward.md: a reference names a function and its file, and may name a statement in it.

    `BackwardPass.run` [autograd/core/engine.py:144](../autograd/core/engine.py): `grads = node.run(g, create)`

Blocks of the page, such as commands for a debugger, have the same numbers.
"""

from __future__ import annotations

import ast
import re
from pathlib import Path

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "backward.md"
REFERENCE = re.compile(r"`([\w.]+)` \[([\w/]+\.py):(\d+)\]\(\.\./\2\)(?:: `([^`]+)`)?")


def line_of(path: str, name: str, statement: str = "") -> int:
    """The line of a function or class of a file, or of the first line in it that contains the statement."""
    text = (ROOT / path).read_text(encoding="utf-8")
    scope: ast.AST = ast.parse(text)
    for part in name.split("."):
        found = [node for node in ast.iter_child_nodes(scope)
                 if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and node.name == part]
        if not found:
            raise ValueError(f"docs/backward.md: {path} has no {name}")
        scope = found[-1]                            # the others are overloads
    assert isinstance(scope, (ast.FunctionDef, ast.ClassDef))
    for number, line in enumerate(text.splitlines()[:scope.end_lineno][scope.lineno - 1:], scope.lineno):
        if statement in line:
            return number
    raise ValueError(f"docs/backward.md: {name} in {path} has no line with {statement!r}")


def files() -> dict[Path, str]:
    """The page with the present numbers."""
    if not PAGE.exists():                            # a source distribution without pages
        return {}
    text = PAGE.read_text(encoding="utf-8")
    moved = {f"{path}:{old}": f"{path}:{line_of(path, name, statement)}"
             for name, path, old, statement in reversed(REFERENCE.findall(text))}
    text = re.sub(r"^b (\S+:\d+)$", lambda match: f"b {moved[match[1]]}", text, flags=re.M)
    return {PAGE: REFERENCE.sub(lambda match: match[0].replace(
        f"{match[2]}:{match[3]}]", f"{match[2]}:{line_of(match[2], match[1], match[4] or '')}]", 1), text)}


__all__ = ["files", "line_of"]
