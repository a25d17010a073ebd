"""Counts code and docstring lines of each room; ARCHITECTURE.md holds the budget, tests/test_size.py the rooms to it.

    python -m tools.size [--write]

Code is a line with a token that is neither a comment nor part of a docstring. Files that git does not have do not count.
--write: put the present counts into the table. A room that grows by more than 5 % needs that, and a reason in the commit.
"""

from __future__ import annotations

import argparse
import ast
import io
import re
import subprocess
import tokenize
from pathlib import Path

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "ARCHITECTURE.md"
PACKAGES = ("autograd", "dparallel", "launch")
MARKS = "<!-- size -->\n", "<!-- /size -->"
SKIPPED = (tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER)


def counted(text: str) -> tuple[int, int]:
    """Lines of code and of docstrings of a source."""
    documented: set[int] = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)) and ast.get_docstring(node, False):
            documented.update(range(node.body[0].lineno, (node.body[0].end_lineno or 0) + 1))
    code: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in SKIPPED:
            code.update(range(token.start[0], token.end[0] + 1))
    return len(code - documented), len(documented)


def sources() -> list[Path]:
    """The packages' Python files that git has or would take."""
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", "--", *(f"{name}/*.py" for name in PACKAGES)],
                            cwd=ROOT, capture_output=True, text=True, check=True)
    return [ROOT / name for name in sorted(set(listed.stdout.splitlines())) if (ROOT / name).exists()]


def rooms() -> dict[str, tuple[int, int]]:
    """Room: its lines of code and of docstrings. What lies right under a package counts for the package."""
    found: dict[str, tuple[int, int]] = {}
    for path in sources():
        parts = path.relative_to(ROOT).parts
        room = "/".join(parts[:2]) if len(parts) > 2 else parts[0]
        code, documented = counted(path.read_text(encoding="utf-8"))
        before = found.get(room, (0, 0))
        found[room] = before[0] + code, before[1] + documented
    return found


def budget() -> dict[str, tuple[int, int]]:
    """The table of ARCHITECTURE.md."""
    table = PAGE.read_text(encoding="utf-8").partition(MARKS[0])[2].partition(MARKS[1])[0]
    return {room: (int(code.replace(",", "")), int(documented.replace(",", "")))
            for room, code, documented in re.findall(r"^\| ([\w/]+) \| ([\d,]+) \| ([\d,]+) \|$", table, re.M)}


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true")
    found = rooms()
    total = tuple(map(sum, zip(*found.values(), strict=True)))
    rows = [f"| {room} | {code:,} | {documented:,} |\n" for room, (code, documented) in found.items()]
    table = "".join(["| Room | Code | Docstrings |\n|---|---:|---:|\n", *rows, f"\nIn all {total[0]:,} and {total[1]:,}.\n"])
    print(table, end="")
    if parser.parse_args().write:
        before, mark, rest = PAGE.read_text(encoding="utf-8").partition(MARKS[0])
        PAGE.write_text(before + mark + table + MARKS[1] + rest.partition(MARKS[1])[2], encoding="utf-8")


if __name__ == "__main__":
    main()
