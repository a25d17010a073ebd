"""What mkdocstrings reads of one name: its definition as source text, with the docstring as Markdown.

Signatures are those of the stub files (autograd/**/*.pyi), where there is one, else those of run time.
"""

from __future__ import annotations

import ast
import enum
import inspect
import re
import types
from collections.abc import Mapping
from functools import cache, cached_property
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent.parent


@cache
def stub(path: Path) -> dict[str, list[ast.FunctionDef]]:
    """name: its definitions in a stub file; of tensor_methods.pyi those of the class."""
    found: dict[str, list[ast.FunctionDef]] = {}
    for node in ast.parse(path.read_text()).body:
        for inner in node.body if isinstance(node, ast.ClassDef) else [node]:
            if isinstance(inner, ast.FunctionDef):
                found.setdefault(inner.name, []).append(inner)
    return found


def no_underscores(text: str) -> str:
    """A type as a reader knows it: the stubs call builtins _int, _bool beside dtypes of these names."""
    return re.sub(r"\b_(int|bool|float|complex|long|short)\b", r"\1", text)


class Written:
    """Definitions of one module's names as source text."""

    def __init__(self, module: Any, described: Mapping[int, str]) -> None:
        self.described = described  # id of an object: where it is described
        file = Path(module.__file__).with_suffix(".pyi")
        self.stub = stub(file) if file.exists() else {}

    def definition(self, name: str, value: Any) -> str:
        """A class, a function, or a value with its docstring."""
        if inspect.isclass(value) and not isinstance(value, types.GenericAlias):
            return self.class_(name, value)
        if callable(value) and not isinstance(value, type):
            text = self.function(name, value, self.stub.get(name, []))
            if text:
                return text
        return f"{name}: {kind(value)}\n" + doc(sentence_of_value(value), "")

    def function(self, name: str, value: Any, stubs: list[ast.FunctionDef], indent: str = "", marks: str = "") -> str:
        """The signature of the stub file, or that of run time."""
        text = doc(
            getattr(value, "__doc__", None)
            or next((ast.get_docstring(node) for node in stubs if ast.get_docstring(node)), "")
            or "",
            indent + "    ",
        )
        if stubs:
            heads = [
                no_underscores(f"({ast.unparse(node.args)})" + (f" -> {ast.unparse(node.returns)}" if node.returns else ""))
                for node in stubs
            ]
            if len(heads) == 1:
                return f"{marks}{indent}def {name}{heads[0]}:\n{text}"
            forms = "".join(f"{indent}@overload\n{indent}def {name}{head}: ...\n" for head in heads)
            return f"{forms}{marks}{indent}def {name}{max(heads, key=len)}:\n{text}"  # not shown; gives types, defaults
        head = signature(value)
        return f"{marks}{indent}def {name}{head}:\n{text}" if head else ""

    def class_(self, name: str, cls: type) -> str:
        """A class with its own public methods and those of bases that have no entry of their own."""
        known = self.described
        bases = [known[id(base)] for base in cls.__mro__[1:] if id(base) in known][:1]
        bases = [base if base.endswith(f".{name}") else base.rpartition(".")[2] for base in bases]
        lines = [f"class {name}({', '.join(bases)}):" if bases else f"class {name}:", doc(own_doc(cls), "    ")]
        stubs = stub(ROOT / "autograd/core/tensor_methods.pyi") if cls.__name__ == "Tensor" else {}
        if not issubclass(cls, enum.Enum) and not stubs:
            init = signature(cls, skip_self=True)
            text = own_doc(vars(cls).get("__init__"))
            if init and init != "(self)":
                lines.append(f"    def __init__{init.rpartition(' -> ')[0] or init}:\n{doc(text, '        ')}")
        members: dict[str, Any] = {}
        for base in cls.__mro__:
            ours = (base.__module__ or "").split(".")[0] in ("autograd", "dparallel")
            described = any(id(other) in known and issubclass(other, base) for other in cls.__mro__[1:])
            if base is cls or (ours and (stubs or not described)):
                for key, value in vars(base).items():
                    if not key.startswith("_"):
                        members.setdefault(key, getattr(cls, key) if type(value).__name__ == "LazyMethod" else value)
        annotated = getattr(cls, "__annotations__", {})
        for key in sorted(members) if stubs else members:
            lines.append(self.member(cls, key, members[key], stubs.get(key, []), annotated.get(key)))
        return "\n".join(filter(None, lines))

    def member(self, cls: type, name: str, value: Any, stubs: list[ast.FunctionDef], annotation: Any) -> str:
        """A method, a property or a described field of a class; "" for others."""
        marks = ""
        if isinstance(value, (property, cached_property)):
            getter = value.fget if isinstance(value, property) else value.func
            returns = inspect.signature(getter).return_annotation if getter else inspect.Signature.empty
            kind_ = returned(returns) or (
                no_underscores(ast.unparse(stubs[0].returns)) if stubs and stubs[0].returns else "Any"
            )
            return f"    @property\n    def {name}(self) -> {kind_}:\n{doc(own_doc(value), '        ')}"
        if isinstance(value, (staticmethod, classmethod)):
            marks, value = f"    @{type(value).__name__}\n", value.__func__
        if (
            isinstance(value, (types.GetSetDescriptorType, types.MemberDescriptorType))
            or type(value).__name__ == "getset_descriptor"
        ):
            return f"    {name}: Any\n{doc(own_doc(value), '    ')}" if own_doc(value) else ""
        if not callable(value) and not inspect.isroutine(value):
            return (
                f"    {name}: {no_underscores(annotation) if isinstance(annotation, str) else 'Any'}" if annotation else ""
            )
        return self.function(name, value, stubs, "    ", marks)


def returned(annotation: Any) -> str:
    """An annotation as text; "" for none."""
    if annotation is inspect.Signature.empty:
        return ""
    return no_underscores(annotation if isinstance(annotation, str) else inspect.formatannotation(annotation))


def own_doc(value: Any) -> str:
    """The docstring of the thing itself, none of a base or of its type."""
    if value is None:
        return ""
    text = vars(value).get("__doc__") if inspect.isclass(value) else getattr(value, "__doc__", None)
    return text if isinstance(text, str) else ""


def signature(value: Any, skip_self: bool = False) -> str:
    """The signature as source text, "" where there is none; defaults that are no literals are shown as "..."."""
    try:
        found = inspect.signature(value)
    except (TypeError, ValueError):
        return ""
    parameters = []
    for parameter in found.parameters.values():
        annotation = returned(parameter.annotation)
        default: Any = parameter.default
        if default is not inspect.Parameter.empty and not parses(repr(default)):
            default = Shown(getattr(default, "__name__", "..."))
        parameters.append(
            parameter.replace(
                annotation=Shown(annotation) if annotation and parses(annotation) else inspect.Parameter.empty,
                default=default,
            )
        )
    if skip_self:
        parameters.insert(
            0,
            inspect.Parameter(
                "self",
                inspect.Parameter.POSITIONAL_ONLY
                if any(p.kind is p.POSITIONAL_ONLY for p in parameters)
                else inspect.Parameter.POSITIONAL_OR_KEYWORD,
            ),
        )
    result = returned(found.return_annotation)
    text = str(inspect.Signature(parameters)) + (f" -> {result}" if result and parses(result) else "")
    return text if parses(f"def f{text}: ...") else ""


class Shown(str):
    """Text that a signature shows without quotes."""

    def __repr__(self) -> str:
        return str(self)


def parses(text: str) -> bool:
    """Whether it is Python."""
    try:
        ast.parse(text)
    except SyntaxError:
        return False
    return True


def kind(value: Any) -> str:
    """The type of a value, as its annotation."""
    name = type(value).__name__
    return name if name.isidentifier() else "Any"


def sentence_of_value(value: Any) -> str:
    """What there is to say about a constant: its docstring if the type is ours, else its value."""
    text = own_doc(type(value)) if type(value).__module__.startswith(("autograd", "dparallel")) else ""
    shown = repr(value)
    return (
        f"{text.strip().splitlines()[0]}\n\n"
        if text.strip()
        else (f"`{shown}`" if len(shown) < 80 and " at 0x" not in shown else "")
    )


def doc(text: str, indent: str) -> str:
    """A docstring as source text at this indentation; "..." for none, where a body is needed."""
    text = markdown_of(inspect.cleandoc(text)) if text else ""
    if not text:
        return f"{indent}..." if indent else ""
    return "\n".join(f"{indent}{line}" if line else "" for line in repr_lines(text))


def repr_lines(text: str) -> list[str]:
    """The text between triple quotes."""
    safe = text.replace("\\", "\\\\").replace('"""', r"\"\"\"")
    if safe.endswith('"'):
        safe += " "
    return ['"""' + safe.split("\n")[0], *safe.split("\n")[1:], '"""']


SECTION = re.compile(
    r"(Args|Arguments|Parameters|Keyword Args|Returns|Return|Raises|Yields|Warns|Attributes|Examples?|Shapes?|Notes?"
    r"|See also)(?: .*)?:$",
    re.I,
)


PAGE = re.compile(r"(?<![\w/])docs/((?:design/)?\w+)\.md\b")  # a page of the repository, in a docstring


def plain(line: str) -> str:
    """A line of a docstring as Markdown: what is outside `code` means itself, and names of pages are links."""
    parts = re.split(r"(`+[^`]*`+)", line)
    return "".join(part if k % 2 else PAGE.sub(r"[\1.md](../\1.md)", escaped(part)) for k, part in enumerate(parts))


def escaped(text: str) -> str:
    """Text without a character that means something in Markdown. Python-Markdown knows no backslash before "<"."""
    marks = r"[\[\]*]|(?<!\w)_+|_+(?!\w)|^>"
    return re.sub(marks, lambda match: "".join(f"\\{mark}" for mark in match[0]), text).replace("<", "&lt;")


# what stands beside it already: "Default: 0." of an argument, and "Returns: A bool."
SAID = re.compile(
    r" Default: (?:-?[\d.e+-]*\d|True|False|None|\"\w*\")\.$|^Returns:\n    (?:An? )?[\w.]+\.(?:\n(?!    )|\Z)", re.M
)


def markdown_of(text: str) -> str:
    """A docstring as Markdown. Blocks of ">>>" and indented blocks become code; other lines mean what they say."""
    text = SAID.sub("", text)
    lines, out, k, fenced, in_section = text.split("\n"), [], 0, False, False
    while k < len(lines):
        line = lines[k]
        bare = line.strip()
        depth = len(line) - len(line.lstrip())
        if bare.startswith("```"):
            fenced = not fenced
            out.append(line)
        elif fenced or not bare:
            out.append(line)
        elif bare.startswith(">>>"):
            block = []
            while k < len(lines) and lines[k].strip():
                block.append(lines[k][depth:] if lines[k][:depth].isspace() or not depth else lines[k].lstrip())
                k += 1
            block = [row for line in block for row in comment_above(line)]
            pad = " " * depth if in_section else ""
            if out and out[-1].strip() and not SECTION.fullmatch(out[-1].strip()):
                out.append("")
            out += [f"{pad}```pycon", *(pad + row for row in block), f"{pad}```", ""]
            continue
        elif depth == 0:
            in_section = bool(SECTION.fullmatch(bare))
            out.append(bare if in_section else escaped_start(plain(line)))
        elif in_section:
            head, colon, rest = line.partition(": ")  # "x: what it is": names of arguments stay as they are
            out.append(f"{head}{colon}{plain(rest)}" if colon and depth == 4 else plain(line))
        elif depth >= 4 and not (out and out[-1].strip() and not out[-1].startswith("    ")):
            out.append(line)  # an indented block after an empty line is code
        else:
            out.append(" " * depth + plain(line.lstrip()) if re.match(r"\s*[-*] ", line) else plain(line.lstrip()))
        k += 1
    return "\n".join(out).strip()


def comment_above(line: str) -> list[str]:
    """A line of an example that is too wide for a page, with its comment above it."""
    code, mark, comment = line.rpartition("  # ")
    if len(line) <= 80 or not mark:
        return [line]
    start = re.match(r"(?:>>>|\.\.\.)? *", code)[0]
    return [f"{start}# {comment}", code.rstrip()]


def escaped_start(line: str) -> str:
    """A line that is no heading and no numbered list by accident."""
    return re.sub(r"^(#|\d+\.(?= ))", r"\\\1", line)
