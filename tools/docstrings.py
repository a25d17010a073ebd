"""The docstrings of public names that have an entry in docs/docstrings/*.txt: autograd/base/docstrings/*.py.

A docstring is the summary in the code or in docs/docstrings/*.txt, followed by sections that are built here: arguments with
their types and defaults, dtypes and errors found by calling the example with other inputs, and errors that the code raises.
docs/docstrings/README describes the tables.
"""

from __future__ import annotations

import ast
import contextlib
import fnmatch
import inspect
import io
import re
import sys
import textwrap
import warnings
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path

import numpy as np

ROOT = Path(__file__).parent.parent
TABLES = ROOT / "docs" / "docstrings"
OUT = ROOT / "autograd" / "base" / "docstrings"
FILES = sorted({path.stem for path in TABLES.glob("*.txt")} - {"arguments"}
               | {"fft", "random", "signal", "special", "statistics"})
WIDTH = 96


@dataclass
class Entry:
    """What a table says of one name, or of a family of names."""

    summary: str = ""
    arguments: dict[str, str] = field(default_factory=dict)
    returns: str = ""
    errors: list[str] = field(default_factory=list)
    example: list[str] = field(default_factory=list)
    kinds: dict[str, str] = field(default_factory=dict)      # types that annotations do not say
    attributes: list[str] = field(default_factory=list)
    file: str = ""


def read_tables(folder=TABLES):
    """{name: Entry} of all tables, and [(patterns, Entry)] of the families in their order; the last has all names."""
    entries, families = {}, []
    for path in sorted(folder.glob("*.txt"), key=lambda path: (path.stem == "arguments", path.name)):
        entry = Entry()
        for line in path.read_text().splitlines():
            text = line.strip()
            if not text:
                continue
            if line.startswith("family: "):
                entry = Entry()
                families.append((text.removeprefix("family: ").split(), entry))
            elif line[0] != " ":
                name, _, summary = text.partition(":")
                if name in entries:
                    raise ValueError(f"{path.name}: {name} is there twice")
                entry = entries[name] = Entry(summary.strip(), file=path.stem)
            elif text.startswith((">>>", "...")):
                entry.example.append(text[:3] + line.split(text[:3], 1)[1])
            elif text.startswith(". "):
                entry.attributes.append(text[2:])
            elif text.startswith("|"):
                entry.example.append(text[2:])
            elif text.startswith("->"):
                entry.returns = text[2:].strip()
            elif text.startswith("!"):
                entry.errors.append(text[1:].strip())
            elif found := re.fullmatch(r"(\*{0,2}\w+(?:, \*{0,2}\w+)*\??)(?: \((.*?)\))?: (.*)", text):
                name, kind, entry.arguments[name] = found.groups()
                if kind:
                    entry.kinds[name] = kind
            else:
                raise ValueError(f"{path.name}: {text}")
    return entries, families


# --- the public names ----------------------------------------------------------------------------------------------------

DOORS = {"linalg": "linalg", "fft": "fft", "special": "special", "signal.windows": "signal", "nn.functional": "nn"}


def public_functions(ag):
    """(file, path, function) of all operations, methods of Tensor and properties, under each of their names."""
    Tensor = ag.Tensor
    functions, lazy = ag.ops.families()
    for name, family in functions.items():
        # trace is another function, whose docstring is in the code
        if getattr(ag, name) is getattr(import_module(f"autograd.ops.{family}"), name):
            yield family.split(".")[0], name, getattr(ag, name)
    for name, family in lazy.items():
        yield family.split(".")[0], f"Tensor.{name}", getattr(Tensor, name)
    for name in dir(Tensor):
        value = inspect.getattr_static(Tensor, name)
        if name in dir(Tensor.__mro__[1]) and not callable(value):
            continue                                 # properties of the compiled class, whose docstrings can't be set
        if name not in lazy and not name.startswith("_") and (inspect.isroutine(value) or isinstance(value, property)):
            yield "tensor", f"Tensor.{name}", value
    for door, file in DOORS.items():
        module = import_module(f"autograd.{door}")
        for name in module.__all__:
            value = getattr(module, name)
            if callable(value) and not inspect.isclass(value):
                yield file, f"{door}.{name}", value


def public_classes(ag):
    """(file, path, class) of all layers, optimizers, schedulers, datasets and samplers."""
    for door, file in (("nn", "layers"), ("optim", "optim"), ("optim.lr_scheduler", "optim"), ("optim.swa_utils", "optim"),
                       ("utils.data", "data")):
        module = import_module(f"autograd.{door}")
        for name in module.__all__:
            value = getattr(module, name)
            if inspect.isclass(value) and value.__module__.startswith(f"autograd.{door}."):
                yield file, f"{door}.{name}", value


# --- what a declaration knows ----------------------------------------------------------------------------------------------

SHORT = {"TensorOrNumber": "Tensor | number", "TensorOrArray": "Tensor", "Operand": "Tensor", "Number": "number",
         "SizeLike": "int or tuple of ints", "Dims": "int or tuple of ints", "DTypeLike": "dtype", "DeviceLike": "device",
         "Sequence[int]": "tuple of ints", "Sequence[Any]": "sequence", "Array": "", "np.generic": "", "None": "", "Any": "",
         "MemoryFormat": "memory_format", "Layout": "layout", "np.dtype[Any]": "dtype", "Sequence[Tensor]": "Tensors",
         "tuple[int, ...]": "tuple of ints", "tuple[Tensor, ...]": "Tensors",
         "Argnums": "int or tuple of ints", "Iterator[Tensor]": "Tensors", "ValuesIndices": "(Tensor, Tensor)", "object": ""}


def type_text(annotation, name, path):
    """An annotation in words; "" where it says nothing."""
    from .stubs import PARAMETERS, annotated
    text = annotated(annotation)
    if text in ("", "Any", "object", "Operand"):
        text = PARAMETERS.get(f"{path.rpartition('.')[2]}.{name}", PARAMETERS.get(name, text if text == "Operand" else ""))
    if not text and name in ("input", "A", "x", "tensor", "self"):
        text = "Tensor"
    parts = []
    for part in re.split(r" \| (?![^\[]*\])", text):
        for short in re.split(r" \| | or ", SHORT.get(part, "callable" if part.startswith("Callable[") else part)):
            if short and short not in parts:
                parts.append(short)
    return " or ".join(parts)


def signature_of(function):
    """The signature with the arguments that decorators add; None for a property."""
    from .stubs import full_signature
    if isinstance(function, property):
        return None
    return full_signature(function)


def default_text(value):
    """The text about a default; "" if the description has it, or there is none."""
    if value is inspect.Parameter.empty or value is None or isinstance(value, (tuple, type)) or not isinstance(
            value, (bool, int, float, str)):
        return ""
    return f"Default: {value!r}."


def kin(path, families):
    """The families of a name: a pattern with dots is of its path; a form of a function belongs to the function's."""
    name = path.rpartition(".")[2].removesuffix("_copy").removesuffix("_with_indices")
    return [entry for patterns, entry in families if any(
        fnmatch.fnmatchcase(path if "." in pattern else name, pattern) and pattern.count(".") in (0, path.count("."))
        for pattern in patterns)]


def named(name, p, path, entry, families):
    """(text, type if the table has one) of an argument: the entry's, or that of the first family that has it."""
    for table in (entry, *kin(path, families)):
        for key in (f"{name}?" if p.default is None else "", name):
            if key in table.arguments:
                return table.arguments[key], table.kinds.get(key, "")
    return "", ""


def own_errors(function):
    """Errors that a function, or a private function beside it that it calls, raises: the first sentences of their texts."""
    function = inspect.unwrap(function.fget if isinstance(function, property) else function)
    module = sys.modules.get(getattr(function, "__module__", ""), None)
    if module is None or module.__name__.startswith(("autograd.core", "autograd.spans")):       # compiled: no source, the table says it
        return []
    try:
        trees = [ast.parse(textwrap.dedent(inspect.getsource(function)))]
    except (OSError, TypeError, SyntaxError):
        return []
    for node in ast.walk(trees[0]):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id.startswith("_"):
            helper = getattr(module, node.func.id, None)
            if inspect.isfunction(helper) and helper is not function:
                with contextlib.suppress(OSError, SyntaxError):
                    trees.append(ast.parse(textwrap.dedent(inspect.getsource(helper))))
    found = []
    for tree in trees:
        for node in ast.walk(tree):
            if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call) and isinstance(node.exc.func, ast.Name):
                text = message(node.exc.args[0], module) if node.exc.args else ""
                said = f"{node.exc.func.id}: {text}"
                words = re.findall(r"[a-z]{2,}", re.sub(r"{[^}]*}", "", text))
                if node.exc.func.id[0].isupper() and len(words) > 1 and said not in found:
                    found.append(said)
    return found[:6]


def message(node, module):
    """The first sentence of an error's text, with {names} for what it shows."""
    if isinstance(node, ast.Name):
        text = str(getattr(module, node.id, ""))
    elif isinstance(node, ast.Constant):
        text = str(node.value)
    elif isinstance(node, ast.JoinedStr):
        text = "".join(str(v.value) if isinstance(v, ast.Constant) else shown(v.value) for v in node.values)
    elif isinstance(node, ast.BinOp):
        text = message(node.left, module) + message(node.right, module)
    else:
        return ""
    text = re.split(r"(?<=[a-z\])}])\. |; ", " ".join(text.split()))[0].rstrip(".")
    return text if len(text) < 200 else text[:text.rfind(" ", 0, 190)] + " ..."


def shown(node):
    """A value in an error's text: its name where that is short."""
    text = ast.unparse(node)
    return "{" + text + "}" if re.fullmatch(r"[\w.]{1,20}", text) else "{...}"


# --- examples --------------------------------------------------------------------------------------------------------------

def spelled(line, path):
    """A line of a table as Python: @ is the function, t[...] a tensor."""
    line = line.replace("@(", f"ag.{path}(")
    while (found := re.search(r"(?<![\w.\]])t(?=\[)", line)) is not None:
        depth, end = 0, found.end()
        for end in range(found.end(), len(line)):
            depth += {"[": 1, "]": -1}.get(line[end], 0)
            if not depth:
                break
        inner = re.sub(r"(?<=\d)\.(?=[,\]\s])", ".0", line[found.end():end + 1])
        line = f"{line[:found.start()]}ag.tensor({inner}){line[end + 1:]}"
    return line


def statements(lines):
    """The statements of an example, each a list of lines without prompts."""
    found = []
    for line in lines:
        if line.startswith(">>>"):
            found.append([line[4:]])
        else:
            found[-1].append(line[4:])
    return found


def played(lines, namespace):
    """The example with what Python prints, where the table does not say it."""
    if not all(line.startswith((">>>", "...")) for line in lines):
        return lines
    text = []
    for block in statements(lines):
        text += [f">>> {block[0]}", *(f"... {line}" for line in block[1:])]
        out = io.StringIO()
        try:
            with contextlib.redirect_stdout(out):
                exec(compile("\n".join(block) + "\n", "<example>", "single"), namespace)
        except ModuleNotFoundError:                  # a package that the build does not have: no output
            pass
        except Exception as error:
            out.write(f"Traceback (most recent call last):\n    ...\n{type(error).__name__}: {error}\n")
        text += out.getvalue().rstrip("\n").split("\n") if out.getvalue() else []
    return text


class Probe:
    """Calls of the function of an example with other inputs than its own: which dtypes it takes, what it refuses."""

    def __init__(self, ag, function, lines, path):
        self.ag, self.function, self.ready, self.made = ag, function, False, None
        namespace = {"ag": ag}
        blocks = statements(lines)
        with contextlib.redirect_stdout(io.StringIO()):
            for block in blocks:
                call = self.call_in("\n".join(block), path)
                if call is not None:
                    values = [eval(ast.unparse(a.value if isinstance(a, ast.Starred) else a), namespace) for a in call.args]
                    self.arguments = [v for a, value in zip(call.args, values, strict=True)
                                      for v in (value if isinstance(a, ast.Starred) else [value])]
                    self.settings = {k.arg: eval(ast.unparse(k.value), namespace) for k in call.keywords}
                    self.ready = True
                    return
                exec(compile("\n".join(block) + "\n", "<example>", "single"), namespace)

    @staticmethod
    def call_in(text, path):
        """The call of ag.<path> in a statement."""
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Call) and ast.unparse(node.func) == f"ag.{path}":
                return node
        return None

    def attempt(self, change=lambda v: v, **settings):
        """(result, None) or (None, error) of the call with its tensors changed."""
        def changed(v):
            if isinstance(v, self.ag.Tensor):
                return change(v)
            return type(v)(map(changed, v)) if type(v) in (list, tuple) else v
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                named = {k: changed(v) for k, v in self.settings.items()}
                return self.function(*map(changed, self.arguments), **named | settings), None
        except Exception as error:
            return None, error

    def first(self):
        """The first tensor among the arguments."""
        flat = [v for a in self.arguments for v in (a if type(a) in (list, tuple) else [a])]
        return next((v for v in flat if isinstance(v, self.ag.Tensor)), None)

    def dtypes(self):
        """(what to say of dtypes, errors) from calls with inputs of other dtypes."""
        ag, first = self.ag, self.first()
        if first is None:
            return "", []
        kinds = {"bool": ag.bool, "integers": ag.int64, "floating point": ag.float32, "complex": ag.complex64}
        results = {}
        for kind, dtype in kinds.items():
            results[kind] = self.attempt(lambda v, to=dtype: v.detach().to(to) if v.dtype == first.dtype else v)
        taken = [kind for kind, (_, error) in results.items() if error is None]
        if not taken:
            return "", []
        words = ", ".join(taken[:-1]) + (" or " if len(taken) > 1 else "") + taken[-1] if len(taken) < 4 else "any dtype"
        made = results["integers"][0]
        if isinstance(made, ag.Tensor) and made.dtype.kind == "f":
            words += "; integers are converted to floating point"
        by_error = {}
        for kind, (_, error) in results.items():
            if error is not None and type(error) is not AssertionError:
                by_error.setdefault(type(error).__name__, []).append(kind)
        if isinstance(made, ag.Tensor) or taken:
            self.made = next(r for r, error in results.values() if error is None)
        return words, [f"{name}: the dtype is {' or '.join(kinds)}" for name, kinds in by_error.items()]

    def refusals(self, parameters):
        """Errors of calls with a wrong dimension, shapes that do not broadcast, and out= of a tensor with a gradient."""
        ag, found, first = self.ag, [], self.first()
        if first is None:
            return found
        if "dim" in parameters:
            names = list(parameters)
            place = names.index("dim")
            keep = self.arguments
            if place < len(keep) and parameters["dim"].kind is not inspect.Parameter.KEYWORD_ONLY:
                self.arguments = [*keep[:place], 99, *keep[place + 1:]]
                _, error = self.attempt()
            else:
                _, error = self.attempt(dim=99)
            self.arguments = keep
            if isinstance(error, IndexError):
                found.append("IndexError: `dim` is out of range")
        tensors = [v for v in self.arguments if isinstance(v, ag.Tensor)]
        if len(tensors) == 2 and tensors[0].shape == tensors[1].shape and tensors[0].ndim == 1:
            both = iter([3, 4])
            _, error = self.attempt(lambda v: ag.ones(next(both), dtype=v.dtype))
            if error is not None:
                found.append(f"{type(error).__name__}: the shapes do not match")
        if "out" in parameters and first.dtype.kind == "f":
            _, error = self.attempt(lambda v: v.detach().requires_grad_() if v.dtype.kind == "f" else v, out=ag.empty(0))
            if isinstance(error, RuntimeError):
                found.append("RuntimeError: `out` is given, and an operand requires grad")
        return found


# --- a docstring -----------------------------------------------------------------------------------------------------------

def wrapped(first, rest=""):
    """A line of a section, its later lines indented."""
    return textwrap.wrap(first + rest, WIDTH, initial_indent="    ", subsequent_indent="        ",
                         break_long_words=False, break_on_hyphens=False)


def argument(name, p, kind, text):
    """The lines of an argument."""
    mark = {p.VAR_POSITIONAL: "*", p.VAR_KEYWORD: "**"}.get(p.kind, "")
    default = default_text(p.default)
    text = f"{text[0].upper()}{text[1:]}" if text and re.match(r"[a-z]{2,}[ ,;:]", text) else text
    head = f"{mark}{name}{f' ({kind})' if kind else ''}"
    return wrapped(f"{head}: {text.rstrip('.')}.", f" {default}" if default else "")


def written(ag, value, path, entries, families, lacking):
    """The docstring of a class, or of a function that is no operation: the code's summary, and what the tables say."""
    entry = entries[path]
    doc = inspect.cleandoc(value.__doc__ or "")
    if re.search(r"^(Args|Raises|Example):$", doc, re.M):
        lacking.append(f"{path}: the docstring in the code has sections, and so has a table")
    arguments, function = [], value.__init__ if inspect.isclass(value) else value
    signature = signature_of(function)
    families = sorted(families, key=lambda family: "." not in family[0][0])        # those of paths first
    owner = path.rpartition(".")[0]
    above = [(of, entries.get(of, Entry())) for of in (path, *overridden(ag, path), *([owner] if owner in entries else []))]
    for name, p in ({} if signature is None else signature.parameters).items():
        text, kind = next((found for of in above if (found := named(name, p, *of, families))[0]), ("", ""))
        if p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD):
            if text and text != families[-1][1].arguments.get(name):
                arguments += argument(name, p, kind, text)
        elif text:
            arguments += argument(name, p, kind or type_text(p.annotation, name, path), text)
        elif name not in ("self", "cls") and name[0] != "_" and not re.search(rf"\b{name}\b", doc):
            lacking.append(f"{path}: nothing about {name}")
    errors = [*entry.errors, *(error for table in kin(path, families) for error in table.errors)] or own_errors(function)
    example = played([spelled(line, path) for line in entry.example], {"ag": ag, "np": np})
    parts = {"Args": arguments, "Returns": wrapped(f"{entry.returns.rstrip('.')}.") if entry.returns else [],
             "Raises": [line for error in errors for line in wrapped(f"{error.rstrip('.')}.".replace("!.", "!"))],
             "Example": [f"    {line}" if line else "    <BLANKLINE>" for line in example]}
    return "\n".join([doc, *(line for title, lines in parts.items() if lines for line in ("", f"{title}:", *lines))])


def overridden(ag, path):
    """The paths of a method in the bases of its class."""
    owner, _, method = path.rpartition(".")
    bases = cls.__mro__[1:] if inspect.isclass(cls := named_object(ag, owner)) else ()
    return [f"{owner.rpartition('.')[0]}.{base.__name__}.{method}" for base in bases]


def named_object(ag, path):
    """The function, class or property at a path below autograd; None if there is none."""
    found = ag
    for i, part in enumerate(parts := path.split(".")):
        if inspect.isclass(found):
            found = next((vars(cls)[part] for cls in found.__mro__ if part in vars(cls)), None)
            found = getattr(found, "__func__", found)
        elif (following := getattr(found, part, None)) is None:
            with contextlib.suppress(ModuleNotFoundError):
                following = import_module(f"autograd.{'.'.join(parts[:i + 1])}")
            found = following
        else:
            found = following
    return found


DTYPES = re.compile(r"\b(dtype|floating point|int64|integers?|bool|complex)\b")


def docstring(ag, function, path, paths, entries, families, lacking):
    """The whole docstring of a function known under `paths`, of which `path` has the entry."""
    entry = entries[path]
    doc = inspect.getdoc(function) or ""
    if entry.summary:
        doc = entry.summary[0].upper() + entry.summary[1:] if entry.summary[0].islower() and " " in entry.summary and not (
            entry.summary.startswith(("input", "e to the", "exp", "log", "sin", "sqrt", "scaled"))) else entry.summary
    doc = "\n\n".join(part for part in doc.strip().split("\n\n") if not entry.example or not part.startswith(">>>"))
    if doc and doc[-1] not in ".!?:" and ">>>" not in doc:
        doc += "."
    if not doc:
        lacking.append(f"{path}: no summary")
    lines = [*textwrap.wrap(doc, WIDTH + 4)] if "\n" not in doc else doc.splitlines()
    example = played([spelled(line, path) for line in entry.example], {"ag": ag})
    if not example and ">>>" not in doc:
        lacking.append(f"{path}: no example")
    signature = signature_of(function)
    parameters = {} if signature is None else dict(signature.parameters)
    base = path.removesuffix("_copy").removesuffix("_with_indices")
    if base != path:                                 # a form of another function, whose table has the arguments
        behind = entries.get(base) or entries.get(f"Tensor.{base}") or Entry()
        entry = Entry(entry.summary, {**behind.arguments, **entry.arguments},
                      entry.returns or behind.returns.replace("views", "tensors"), entry.errors, entry.example,
                      {**behind.kinds, **entry.kinds})
    if "settings" in parameters and path.endswith("_copy"):
        of = getattr(ag, base, None) or getattr(ag.Tensor, base, None)
        own = dict(signature_of(of).parameters) if of is not None else {"input": parameters["input"]}
        parameters = {**own, "out": parameters["out"]}
    errors, words = list(entry.errors), ""
    if entry.example and not path.startswith("Tensor."):
        probe = Probe(ag, function, [spelled(line, path) for line in entry.example], path)
        if probe.ready:
            words, refused = probe.dtypes()
            errors += refused + probe.refusals(parameters)
    told = "NotImplementedError: the dtype" in "".join(errors)
    errors += [error for error in own_errors(function) if not (told and "not implemented for" in error)]
    arguments, first = [], True
    for name, p in parameters.items():
        if name == "self" or (name == "input" and all(other.startswith("Tensor.") for other in paths)):
            first = False
            continue
        text, kind = named(name, p, path, entry, families)
        wrapper = any(q.kind is q.VAR_KEYWORD for q in parameters.values())
        if p.kind is p.VAR_POSITIONAL and wrapper and name not in entry.arguments:
            continue
        if not text and not (p.kind is p.VAR_KEYWORD and path.startswith("Tensor.")):
            lacking.append(f"{path}: nothing about {name}")
        if first and words and not DTYPES.search(text):
            text += f"; {words}"
        first = False
        if p.kind is p.VAR_KEYWORD and not text:     # a wrapper, whose arguments are those of the table
            arguments += [line for each, said in entry.arguments.items() if each not in parameters
                          for line in wrapped(f"{each}: {said[0].upper()}{said[1:]}.")]
            continue
        arguments += argument(name, p, kind or type_text(p.annotation, name, path), text)
    if arguments:
        lines += ["", "Args:", *arguments]
    annotation = "" if signature is None else type_text(signature.return_annotation, "", path)
    nothing = signature is not None and signature.return_annotation in (None, "None")
    returned = entry.returns or ("" if nothing else annotation or "Tensor")
    if not entry.returns and returned == "Tensor" and hasattr(function, "node") and words:
        shape = "the input's shape" if "other" not in parameters else "the broadcast shape"
        returned = f"Tensor of {shape}" + (", bool" if probe.made.dtype.kind == "b" else "")
    if annotation in ("", "Tensor") and returned.startswith("(") and "tuple" not in returned and not re.match(
            r"\((values|sign|Q|U|P|solution|hist|LU|output|std|var|mean)", returned):
        returned = f"Tensor {returned}"
    if returned and not re.match(r"(Tensor|an? |this|the |nested|nothing|\()", returned):
        returned = f"Tensor, {returned}"
    if returned:
        lines += ["", "Returns:", *wrapped(f"{returned[0].upper()}{returned[1:]}.")]
    if errors:
        lines += ["", "Raises:", *[line for error in dict.fromkeys(errors) for line in wrapped(f"{error}.")]]
    if example:
        lines += ["", "Example:", *[f"    {line}" if line else "    <BLANKLINE>" for line in example]]
    return "\n".join(lines)


def in_place(ag, name, base_path, base_text, entries, lacking):
    """The docstring of x.<name>(), the in-place form of an operation whose docstring is base_text."""
    entry = entries.get(f"Tensor.{name}")
    base = entries[base_path]
    if entry is not None and entry.example:
        lines = [spelled(line, f"Tensor.{name}") for line in entry.example]
    else:
        lines = written_in_place([spelled(line, base_path) for line in base.example], base_path, name)
        if not lines:
            lacking.append(f"Tensor.{name}: needs an example of its own")
    shown = played(lines, {"ag": ag})
    if any(line.startswith("Traceback") for line in shown):
        lacking.append(f"Tensor.{name}: its example raises {shown[-1]}")
    summary, _, rest = base_text.partition("\n\n")
    summary = " ".join(summary.split())
    text = f"In place: {summary[0].lower() + summary[1:] if re.match(r'[A-Z][a-z-]* ', summary) else summary}"
    sections = dict(re.findall(r"^(Args|Raises):\n((?:    .*\n?)+)", rest, re.M))
    items = {title: re.findall(r"^    \S.*(?:\n     .*)*", sections.get(title, ""), re.M) for title in ("Args", "Raises")}
    keep = [item for item in items["Args"] if not re.match(r" *(input|self|out|axis|keepdims)\b", item)]
    errors = [line for error in entry.errors for line in wrapped(f"{error}.")] if entry is not None and entry.errors else [
        item for item in items["Raises"] if "`out`" not in item]
    errors += wrapped("RuntimeError: this tensor is a leaf that requires grad while grad mode is enabled; or the result has "
                      "another shape, or a dtype that cannot be cast to this tensor's.")
    lines = [*textwrap.wrap(text, WIDTH + 4), *(["", "Args:", *keep] if keep else []), "", "Returns:", "    This tensor.",
             "", "Raises:", *errors, "", "Example:", *[f"    {line}" for line in shown]]
    return "\n".join(lines)


def written_in_place(lines, path, name):
    """An example ag.f(x, ...) as x.f_(...): the last call of it."""
    blocks = statements(lines)
    last = max((i for i, block in enumerate(blocks) if f"ag.{path}(" in "\n".join(block)), default=None)
    if last is None:
        return []
    node = ast.parse("\n".join(blocks[last])).body[0]
    for call in ast.walk(node):
        if isinstance(call, ast.Call) and ast.unparse(call.func) == f"ag.{path}":
            own = ast.unparse(call.args[0])
            if (path == "pow" and own.isdigit()) or (not own.isidentifier() and not own.startswith("ag.")):
                continue
            new = ast.Call(ast.Attribute(ast.Name("x"), name), call.args[1:], call.keywords)
            before = [f">>> {line}" for block in blocks[:last] for line in block
                      if line.startswith(("x =", "import")) and own.isidentifier()]
            return [*before, *([] if own == "x" else [f">>> x = {own}"]), f">>> {ast.unparse(new)}"]
    return []


def texts():
    """({file: {path: text}}, what is lacking). Functions have the docstrings of the code before, and these after."""
    import autograd as ag
    entries, families = read_tables()
    names = list(public_functions(ag))
    objects, paths = {}, {}
    for _, path, function in names:
        objects[id(function)] = function
        paths.setdefault(id(function), []).append(path)
    lacking, made = [], {}
    entry_names = {path for _, path, _ in names}
    for key, known in paths.items():
        ours = [p for p in known if p in entries]
        path = next((p for p in ours if entries[p].example), ours[0] if ours else None)
        if path is not None and path.endswith("_") and path.startswith("Tensor.") and not (
                entries[path].summary or entries[path].arguments) and path[:-1] in entry_names:
            path = None                              # the in-place form of an operation, with an example of its own
        if path is None:
            if known[0].endswith("_") and known[0].startswith("Tensor."):
                continue
            lacking.append(f"{known[0]}: no entry")
            continue
        ag.manual_seed(0)
        made[key] = docstring(ag, objects[key], path, known, entries, families, lacking)
    by_path = {path: made[key] for key, known in paths.items() if key in made for path in known}
    entry_of = {p: next((q for q in known if q in entries and entries[q].example), p)
                for known in paths.values() for p in known}
    for key, known in paths.items():
        if key in made:
            continue
        if not (known[0].endswith("_") and known[0].startswith("Tensor.")):
            continue
        name = known[0].removeprefix("Tensor.")
        base = next((p for p in (f"Tensor.{name[:-1]}", name[:-1]) if p in by_path), None)
        if base is None:
            lacking.append(f"{known[0]}: no entry")
            continue
        ag.manual_seed(0)
        made[key] = in_place(ag, name, entry_of[base], by_path[base], entries, lacking)
    files = {file: {} for file in FILES}
    for file, path, function in names:
        if id(function) in made:
            with contextlib.suppress(AttributeError):        # of a compiled class
                function.__doc__ = made[id(function)]
            first = next((p for p in paths[id(function)] if p in files[file]), None)
            files[file][path] = made[id(function)] if first is None else first
    classes = {path: (file, cls) for file, path, cls in public_classes(ag)}
    for path, (file, cls) in classes.items():
        if path in entries:
            ag.manual_seed(0)
            files[file][path] = written(ag, cls, path, entries, families, lacking)
            cls.__doc__ = files[file][path]
    for path in [*entries]:
        if path in entry_names or path in classes:
            continue
        value = named_object(ag, path)
        if value is None:
            lacking.append(f"{path}: in a table, but no public name")
            continue
        ag.manual_seed(0)
        files[entries[path].file][path] = written(ag, value, path, entries, families, lacking)
    internal = {"Tensor.accumulate_grad"}            # of the engine; the others begin with "_"
    lacking = [line for line in lacking if line.partition(":")[0] not in internal]
    return files, lacking


def module_text(content):
    """The source of one module: texts, and names that share the text of another."""
    lines = ['"""Written by tools/write.py: do not edit."""', "", "TEXTS: dict[str, str] = {"]
    shared = []
    for path, text in content.items():
        if text in content:
            shared.append((path, text))
            continue
        body = text.replace("\\", "\\\\").replace('"""', '\\"\\"\\"')
        if body.endswith('"'):
            body = body[:-1] + '\\"'
        lines.append(f'"{path}": """{body}""",')
    lines += ["}"]
    if shared:
        pairs = " ".join(f"{path}:{other}" for path, other in shared)
        lines += textwrap.wrap(pairs, 118, initial_indent='for _pair in """', subsequent_indent="    ",
                               break_long_words=False, break_on_hyphens=False)
        lines[-1] += '""".split():'
        lines += ['    TEXTS[_pair.partition(":")[0]] = TEXTS[_pair.partition(":")[2]]']
    return "\n".join(lines) + "\n"


def files():
    """({path: text} of the modules, what is lacking)."""
    made, lacking = texts()
    return {OUT / f"{file}.py": module_text(content) for file, content in made.items()}, lacking
