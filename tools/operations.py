"""docs/operations.md: every function, method and in-place form, by family, read off the code."""

import inspect
import re
from importlib import import_module
from itertools import groupby
from pathlib import Path

import autograd as ag
from autograd import ops
from autograd.tensor_api import binding, conversion

PAGE = Path(__file__).parent.parent / "docs" / "operations.md"
# Namespaces beside the top level: those that exist.
SPACES = ("special", "linalg", "fft", "signal.windows", "nn.functional", "random")
INTRO = """# Operations

Written by the build from the code. `f` is a function `autograd.f(x)`, `m` a method
`x.m()`, `i` an in-place method `x.m_()`.
"""

# families whose title is not their module's name in words
TITLES = {"linalg": "linear algebra", "nn": "neural networks", "pointwise": "elementwise", "index": "indexing", "shape": "shapes",
          "signal": "spectra", "special": "special functions", "special.functions": "error, gamma, Bessel", "creation.create": "from data",
          "creation.fill": "of one value", "linalg.addmm": "products added", "linalg.cholesky": "Cholesky", "linalg.lowrank": "low rank",
          "linalg.lu": "LU", "linalg.pinv": "least squares", "linalg.qr": "QR", "linalg.svd": "singular values",
          "nn.aten_names": "under torch's own names", "pointwise.by_element": "Python functions", "pointwise.where": "choices",
          "random.draw": "new tensors", "random.inplace_random": "in place", "reductions.reduce": "sums and means", "shape.pad": "padding",
          "signal.stft": "short-time Fourier transform"}

FORMULAS = {"_is_view": "whether the tensor is a view of another"}         # what has no docstring


def first_sentence(thing, name=""):
    """The first sentence of a docstring, or the formula of this name, in one line."""
    text = " ".join((inspect.getdoc(thing) or FORMULAS.get(name, "")).split("\n\n")[0].split())
    return re.split(r"(?<!\b[A-Z])\. ", text)[0].rstrip(".").replace("|", "\\|")    # not after an initial


def title(name):
    """The title of a family, a module below autograd.ops, or of a folder of families."""
    words = TITLES.get(name, name.rpartition(".")[2].replace("_", " "))
    return words[0].upper() + words[1:]


def family(module, level):
    """A section for one module of operations: its title and docstring, and a row for each name."""
    functions, methods = set(getattr(module, "__all__", ())), set(getattr(module, "METHODS", ()))
    in_place = set(getattr(module, "IN_PLACE", ()))
    names = sorted(name for name in functions | methods | in_place if not belongs_elsewhere(name, module))
    if not names:
        return ""
    groups = {"f": functions, "m": methods, "i": in_place}
    rows = [f"| `{name}` | {' '.join(kind for kind, group in groups.items() if name in group)} "
            f"| {first_sentence(getattr(module, name), name)} |" for name in names]
    head = f"{first_sentence(module)}.\n\n| Name | Forms | |\n|---|---|---|"
    return section(title(module.__name__.removeprefix(f"{ops.__name__}.")), head, rows, level)


def belongs_elsewhere(name, module):
    """Whether the module only passes on what another module of operations defines."""
    home = getattr(getattr(module, name), "__module__", "")
    return (home.startswith(ops.__name__) and not home.split(".")[-1].startswith("_")
            and not f"{home}.".startswith(f"{module.__name__}."))


def section(title, head, rows, level=2):
    """A heading and a table."""
    return "\n".join([f"{'#' * level} {title}", "", head, *rows, ""])


def families():
    """The sections of all modules of operations, below headings of their folders."""
    names = sorted({*ops.families()[0].values(), *ops.families()[1].values()})
    for folder, inner in groupby(names, lambda name: name.partition(".")[0]):
        inner = list(inner)
        if folder not in inner:
            yield f"## {title(folder)}\n"
        yield from (family(import_module(f"{ops.__name__}.{name}"), 2 if name == folder else 3) for name in inner)


def namespace(name):
    """A section for autograd.<name>; empty if there is none."""
    space = ag
    for part in name.split("."):
        space = getattr(space, part, None)
        if space is None:
            return ""
    listed = getattr(space, "__all__", None) or [n for n, v in vars(space).items() if inspect.isfunction(v) and n[0] != "_"
                                                 and v.__module__ == space.__name__]
    rows = [f"| `{n}` | {first_sentence(getattr(space, n), n)} |" for n in sorted(listed)]
    return section(f"autograd.{name}", "| Name | |\n|---|---|", rows)


def page():
    """The whole text."""
    bound = {**conversion.METHODS, **binding.OPERATORS}
    rest = [f"| `{n}` | {first_sentence(f, n)} |" for n, f in sorted(bound.items()) if not n.startswith("__")]
    properties = ", ".join(f"`{n}`" for n in sorted(conversion.PROPERTIES))
    methods = section("Methods that are no functions", "| Name | |\n|---|---|", rest)
    parts = [INTRO, *families(), methods, f"Properties: {properties}.\n", *map(namespace, SPACES)]
    return "\n".join(part for part in parts if part)


def files():
    """The page: {path: text}."""
    return {PAGE: page()}
