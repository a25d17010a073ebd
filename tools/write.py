"""Writes what a program can write: docstrings, stub files, where each operation is, docs/operations.md, line numbers.

    python -m tools.write [--check]

Installing runs it: wheels, editable installs (setup.py). Run it again after adding a public name, or changing a signature or
a docstring. git has none of these files but docs/backward.md, of which only the line numbers are written. --check: name files that
differ and what docstrings lack, and write nothing.
"""

from __future__ import annotations

import argparse
import importlib
import os
import sys
import warnings
from pathlib import Path

ROOT = Path(__file__).parent.parent
DOORS = ROOT / "dparallel" / "autograd"


def bare_autograd() -> None:
    """Import autograd as in a checkout that was never built: functions have the docstrings of the code."""
    assert "autograd" not in sys.modules
    os.environ["DPARALLEL_PURE"] = "1"               # what a compiled core says of itself differs
    from . import docstrings
    hidden = dict.fromkeys(["autograd.ops._families", *(f"autograd.base.docstrings.{room}" for room in docstrings.FILES)])
    sys.modules.update(hidden)                       # type: ignore[arg-type]       # None: not found
    importlib.import_module("autograd")


def families() -> dict[Path, str]:
    """The module autograd/ops/_families.py."""
    from autograd import ops
    text = '"""Written by tools/write.py: do not edit."""\n'
    for name, table in zip(("FUNCTIONS", "METHODS"), ops.listed(), strict=True):
        text += f"\n{name} = {{\n" + "".join(f'    "{key}": "{table[key]}",\n' for key in sorted(table)) + "}\n"
    return {ROOT / "autograd" / "ops" / "_families.py": text}


def doors(stubs: list[Path]) -> dict[Path, str]:
    """A stub under dparallel/autograd for each module of autograd, which passes its names on: docs/design/namesake.md."""
    package = ROOT / "autograd"
    files = {*package.rglob("[!_]*.py"), *package.glob("*/**/__init__.py"), *stubs} - {
        package / "__init__.pyi", *(package / "base" / "docstrings").glob("[!_]*.py")}
    made = {}
    for file in sorted({file.with_suffix("") for file in files}):
        module = ".".join(file.relative_to(ROOT).parts).removesuffix(".__init__")
        made[(DOORS / file.relative_to(package)).with_suffix(".pyi")] = f"from {module} import *\n"
    return made


def files() -> tuple[dict[Path, str], list[str]]:
    """All files with their texts, and what the docstrings lack."""
    bare_autograd()
    from . import docstrings, lines, operations, sections, stubs
    made, lacking = docstrings.files()
    ours, unused = sections.files()
    pyi = stubs.files()
    return {**families(), **made, **ours, **pyi, **operations.files(), **lines.files(), **doors(list(pyi))}, lacking + unused


def replace(path: Path, text: str) -> None:
    """Write a file at once: another build may read it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    draft.write_text(text, encoding="utf-8")
    draft.replace(path)


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    check = parser.parse_args().check
    warnings.simplefilter("ignore")                  # of examples
    made, lacking = files()
    changed = [path for path, text in made.items() if not path.exists() or path.read_text(encoding="utf-8") != text]
    gone = {*DOORS.rglob("*.pyi"), *(ROOT / "autograd").rglob("*.pyi"),
            *(ROOT / "autograd" / "base" / "docstrings").glob("[a-z]*.py"), *(ROOT / "dparallel").glob("*/_docstrings.py")} - made.keys()
    if not check:
        for path in changed:
            replace(path, made[path])
        for path in gone:
            path.unlink(missing_ok=True)
    print(*(path.relative_to(ROOT) for path in [*changed, *gone]), *lacking, sep="\n")
    raise SystemExit(bool(check and (lacking or changed or gone)))


if __name__ == "__main__":
    main()
