"""The reference of all public names: which page has which name, and their text for mkdocstrings.

Much of what is public is bound when it is first used, or made by a declaration of one line, so it cannot be read off the
sources. write() imports each name and writes, under build/reference, modules that look as if it had been written by hand:
`def exp(input: Tensor, *, out: Tensor | None = None) -> Tensor` with its docstring. mkdocstrings reads these.

pages.txt says which page has what. A name is described once, where it comes first; the other modules that have the same
object point there. A new public module must be in pages.txt: tests/test_site.py asks missing_modules().
"""

from __future__ import annotations

import ast
import importlib
import importlib.util
import inspect
import os
import pkgutil
import re
import shutil
import subprocess
import sys
import types
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from textwrap import dedent, indent
from typing import Any

from written import Written, plain

from tools.operations import title as title_of_family

ROOT = Path(__file__).parent.parent.parent
FOLDER = ROOT / "build/reference"                         # what mkdocstrings reads
HIDDEN = {"Any", "TYPE_CHECKING", "annotations"}


def read_pages() -> dict[str, tuple[str, list[str]]]:
    """The file pages.txt: page -> its title and entries."""
    found: dict[str, tuple[str, list[str]]] = {}
    entries: list[str] = []
    for line in (Path(__file__).parent / "pages.txt").read_text().splitlines():
        if line.startswith("        "):
            entries[-1] += f" {line.strip()}"
        elif line.startswith("    "):
            entries.append(line.strip())
        elif line and not line.startswith("#"):
            page, _, title = line.partition(": ")
            found[page] = title, (entries := [])
    return found


PAGES = read_pages()
INSIDE = PAGES.pop("inside")[1]


def public_names(module: types.ModuleType) -> list[str]:
    """`__all__`, or what the module defines itself."""
    found = getattr(module, "__all__", None)
    if found is None:
        found = [
            name
            for name, value in vars(module).items()
            if callable(value) and getattr(value, "__module__", "") == module.__name__
        ]
    return [name for name in dict.fromkeys(found) if not name.startswith("_") and name not in HIDDEN]


@cache
def load(name: str) -> types.ModuleType | None:
    """The module; None where a package that it needs is not installed."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        if "neither" in str(error) or isinstance(error, ModuleNotFoundError):
            return None
        raise


def missing_modules() -> list[str]:
    """Modules that are neither on a page nor inside."""
    claimed = {entry.partition(":")[0] for _, entries in PAGES.values() for entry in entries}
    found = []
    for module in pkgutil.walk_packages(importlib.import_module("autograd").__path__, "autograd."):
        inside = any(module.name == prefix or module.name.startswith(prefix.rstrip(".") + ".") for prefix in INSIDE)
        if not inside and module.name not in claimed and not any(part.startswith("_") for part in module.name.split(".")):
            found.append(module.name)
    for name in sorted(claimed):  # modules that are names of dparallel's
        module_ = load(name)
        inner = [getattr(module_, n).__name__ for n in public_names(module_) if inner_module(module_, n)] if module_ else []
        found += [path for path in inner if path.startswith("dparallel.") and path not in claimed]
    return found


class Section:
    """Some names of one module on a page: those described there, and those that point elsewhere."""

    def __init__(self, module: str, title: str, sentence: str, names: list[str]) -> None:
        self.module, self.title, self.sentence, self.names = module, title, sentence, names
        self.aliases: dict[str, str] = {}  # name: where the same object is described


class Reference:
    """All pages. described: dotted name -> the object; by_id finds where an object is described."""

    def __init__(self) -> None:
        self.pages: dict[str, tuple[str, list[Section]]] = {}
        self.described: dict[str, Any] = {}
        self.by_id: dict[int, str] = {}
        self.not_installed: list[str] = []
        for page, (title, entries) in PAGES.items():
            self.pages[page] = title, [section for entry in entries for section in self.sections(entry)]

    def sections(self, entry: str) -> Iterator[Section]:
        """The sections of an entry of PAGES."""
        name, _, chosen = entry.partition(": ")
        module = load(name)
        if module is None:
            self.not_installed.append(name)
            return
        if chosen.startswith("ops."):  # families of functions: a section each
            folder, homes = chosen, vars(module)["HOMES"]
            for home in dict.fromkeys(home for home in homes.values() if home == folder or home.startswith(f"{folder}.")):
                text = first_line(importlib.import_module(f"autograd.{home}"))
                names = [n for n, where in homes.items() if where == home]
                yield self.claimed(name, title_of_family(home.removeprefix("ops.")), text, names)
            return
        names = chosen.split() or [
            n for n in public_names(module) if f"{name}.{n}" not in self.described and not inner_module(module, n)
        ]
        if name == "autograd" and not chosen:
            names = [n for n in names if n not in module.HOMES or not module.HOMES[n].startswith("ops.")]
        yield self.claimed(name, name if not chosen else "", first_line(module) if not chosen else "", names)

    def claimed(self, module: str, title: str, sentence: str, names: list[str]) -> Section:
        """A section whose names are described here, but for those that another page has."""
        section = Section(module, title, sentence, [])
        for name in names:
            value, dotted = getattr(load(module), name), f"{module}.{name}"
            known = self.by_id.get(id(value)) if identified(value) else None
            if known and not known.startswith(f"{module}.{name}") and known.rpartition(".")[0] != module:
                section.aliases[name] = known
            elif dotted not in self.described:
                self.described[dotted] = value
                if identified(value):
                    self.by_id.setdefault(id(value), dotted)
                section.names.append(name)
        return section

    def markdown(self, page: str) -> str:
        """A page: a heading for each section, and what mkdocstrings is to show."""
        title, sections = self.pages[page]
        lines = [f"# {title}", ""]
        for section in sections:
            if section.title:
                lines += [
                    f"## {section.title}" + (f" {{ #{section.module} }}" if section.title == section.module else ""),
                    "",
                ]
                lines += [plain(section.sentence), ""] if section.sentence else []
            if section.names:
                members = "".join(f"\n        - {name}" for name in section.names)
                lines += [
                    f"::: {section.module}",
                    "    options:",
                    f"      heading_level: {2 if section.title else 1}",
                    f"      members:{members}",
                    "",
                ]
            if section.aliases:
                links = ", ".join(
                    f'<a id="{section.module}.{n}"></a>[`{n}`][{where}]' for n, where in section.aliases.items()
                )
                lines += [f"Described elsewhere: {links}.", ""]
        return "\n".join(lines)

    def index(self) -> str:
        """The page that names all pages, and the modules on each."""
        lines = [
            "# All names",
            "",
            f"{len(self.described)} names, written from the code. A name that several modules have is described once.",
            "The command that starts ranks is [dprun](dprun.md).",
            "",
        ]
        for page, (title, sections) in self.pages.items():
            lines += [f"## [{title}]({page}.md)", ""]
            for module in dict.fromkeys(section.module for section in sections):
                homes: dict[str, str] = {}
                for section in sections:
                    if section.module == module:
                        homes |= {name: f"{module}.{name}" for name in section.names} | section.aliases
                links = ", ".join(f"[{plain(name)}][{homes[name]}]" for name in sorted(homes, key=str.lower))
                lines += [f"`{module}`: {links}", ""] if links else []
        return "\n".join(lines)

    def anchors(self) -> set[str]:
        """The dotted names that the site must have a place for."""
        also = {
            f"{section.module}.{name}"
            for _, sections in self.pages.values()
            for section in sections
            for name in section.aliases
        }
        return {*self.described, *also}

    def imports(self, module: str, text: str) -> str:
        """Imports of the classes of other modules that the text names, so that annotations and bases lead to them."""
        named = set(re.findall(r"\b[A-Z]\w+", text)) - set(re.findall(r"^(?:class |def )?(\w+)[:(]", text, flags=re.M))
        homes: dict[str, list[str]] = {}
        for dotted, value in self.described.items():
            home, _, name = dotted.rpartition(".")
            if name in named and inspect.isclass(value):
                homes.setdefault(name, []).append(home)
        roots = sorted(set(re.findall(r"^class \w+\((\w+)\.", text, flags=re.M)))
        only = {name: found[0] for name, found in sorted(homes.items()) if len(found) == 1 and found[0] != module}
        lines = [f"import {root}\n" for root in roots]
        return "".join([*lines, *(f"from {home} import {name}\n" for name, home in only.items())])

    def write(self, folder: Path) -> None:
        """The modules that mkdocstrings reads."""
        shutil.rmtree(folder, ignore_errors=True)
        texts: dict[str, list[str]] = {}
        for dotted, value in self.described.items():
            module, _, name = dotted.rpartition(".")
            texts.setdefault(module, []).append(Written(load(module), self.by_id).definition(name, value))
        packages = {part for module in texts for part in parents(module)}
        for module in sorted({*texts, *packages}):
            path = folder / module.replace(".", "/")
            path = path / "__init__.py" if module in packages else path.with_suffix(".py")
            path.parent.mkdir(parents=True, exist_ok=True)
            text = "\n\n".join(texts.get(module, []))
            text = fitted(HEAD + self.imports(module, text) + text)
            ast.parse(text)
            path.write_text(text)


def fitted(text: str) -> str:
    """A module's text, with the statements of examples in lines of at most 80 columns: ruff breaks longer ones."""
    statements = re.findall(r"^ *>>> .*(?:\n *\.\.\. .*)*", text, flags=re.M)
    wide = [one for one in statements if max(len(line.strip()) for line in one.splitlines()) > 80]
    source = "".join(f'def f():\n    """\n{indent(dedent(one), "    ")}\n    """\n' for one in wide)
    settings = ["--config", "format.docstring-code-format=true", "--config", "format.docstring-code-line-length=76"]
    command = [sys.executable, "-m", "ruff", "format", "--isolated", *settings, "-"]
    done = subprocess.run(command, input=source, capture_output=True, text=True, check=True) if wide else None
    found = re.findall(r'    """\n(.*?)\n    """', done.stdout, flags=re.S) if done else []
    for old, new in zip(wide, found, strict=True):
        text = text.replace(old, indent(dedent(new), re.match(" *", old)[0]), 1)
    return text


@cache
def whole() -> Reference:
    """The reference of this process, written for mkdocstrings."""
    found = Reference()
    found.write(FOLDER)
    return found


@cache
def command() -> str:
    """The page of dprun: what its help says."""
    done = subprocess.run(
        [sys.executable, "-m", "launch", "--help-all"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "COLUMNS": "64", "NO_COLOR": "1"},
    )
    text = "# dprun\n\n`dprun` and `python -m launch` are the same. [Clusters](../clusters.md) has examples.\n\n"
    return f"{text}```text\n{done.stdout}```\n"


HEAD = "from __future__ import annotations\nfrom typing import Any, overload\n"


def parents(module: str) -> list[str]:
    """The packages above a module."""
    parts = module.split(".")
    return [".".join(parts[:k]) for k in range(1, len(parts))]


def inner_module(module: types.ModuleType, name: str) -> bool:
    """Whether a name is a module: it has a section of its own."""
    return isinstance(getattr(module, name), types.ModuleType)


def identified(value: Any) -> bool:
    """Whether two names of the object are names of one thing; numbers and dtypes have one identity by chance."""
    return inspect.isclass(value) or callable(value)


def first_line(module: Any) -> str:
    """The first paragraph of the module's docstring, in one line."""
    return " ".join((module.__doc__ or "").strip().split("\n\n")[0].split())
