"""Write the loops of this folder as two Cython modules: the loops, which setup.py compiles for several processors, and the
functions that Python calls, which it compiles once.

A loop is a Python function whose annotations are C types. Arrays are `floats`, `doubles`, `ints` (64 bits) and `halves` (16
bits), numbers `int` (64 bits), `int32`, `uint32`, `uint64`, `float` (32 bits) and `double`. A public function that returns
None or an `answer` becomes a function of NumPy arrays, which releases the GIL; the others are inlined. A function of `reals`
and `real` is made twice, NAME and NAME_double. A variable without an annotation has the widest type of what is assigned to
it.

Literals, sqrt, floor, fabs and fma are single precision, but in a function whose annotations mention double they are double.
Module constants are computed here. polynomial(x, COEFFICIENTS), the highest power first, becomes Horner's scheme.
"""

from __future__ import annotations

import ast
import copy
import runpy
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

POINTERS = {"floats": "float", "doubles": "double", "ints": "int64_t", "halves": "uint16_t"}
TYPES = {"int": "int64_t", "int32": "int32_t", "uint32": "uint32_t", "uint64": "uint64_t",
         "address": "size_t", "answer": "int64_t"}
HEAD = """# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, nonecheck=False
# cython: binding=False, always_allow_keywords=False, embedsignature=False, auto_pickle=False, emit_code_comments=False
from libc.stdint cimport int32_t, int64_t, uint16_t, uint32_t, uint64_t

cdef extern from "scalars.h" nogil:
    ctypedef float *floats
    ctypedef double *doubles
    ctypedef int64_t *ints
    ctypedef uint16_t *halves
    const float INFINITY
"""
HELPERS, KERNEL = "functions", "kernel"           # the module of functions that Python does not call; what the others return
# loops that Python also calls as NAME_of(x, dim, size, ...): they make their results, in one call instead of five
OF_DIMENSION = ("running_sums", "running_products", "running_places", "first_extremes", "ordered", "most_frequent", "gather",
                "scatter", "softmax", "log_softmax", "cross_entropy", "logcumsumexp", "multi_margin",
                "multilabel_margin", "picked_sum", "quotient_of_sum", "middle_of_all", "layer_norm")
# loops whose addresses Python can ask for: addresses()["lstm"]. Compiled steps call them without Python
BY_ADDRESS = ("lstm", "lstm_backward", "gru", "gru_backward", "group_norm", "group_norm_backward")
SIZES = {"blocks": "s[0]", "rows": "s[0]", "n": "s[1]", "inner": "s[2]", "count": "s[3]", "k": "s[3]"}
CALLS = """from numpy cimport NPY_CORDER, NPY_DOUBLE, NPY_FLOAT, NPY_INT64, PyArray_CheckExact, PyArray_DATA, PyArray_DIMS
from numpy cimport PyArray_EMPTY, PyArray_ISCARRAY_RO, PyArray_ISWRITEABLE, PyArray_NDIM, PyArray_NewCopy, PyArray_SIZE
from numpy cimport PyArray_TYPE, import_array, ndarray, npy_intp

import_array()
in_pieces = None                     # see pieces.py
cdef enum:
    WIDE = 1 << 19                   # as there


def level_of_processor():
    return level()


cdef ndarray made(ndarray x, int64_t dim, int64_t size, int kind):
    # a new array of x's sizes, but for `size` elements along dim; -1 is x's size, -2 leaves dim out, and -3 all dims
    cdef npy_intp shape[64]
    cdef int k, ndim = 0
    for k in range(PyArray_NDIM(x) if size != -3 else 0):
        if k != dim or size != -2:
            shape[ndim] = size if k == dim and size >= 0 else PyArray_DIMS(x)[k]
            ndim += 1
    return PyArray_EMPTY(ndim, shape, kind, 0)


cdef ndarray room_for(int64_t *s):
    # memory for two sums of what lies behind a dimension, and for 2 MANY numbers more than a row has
    cdef npy_intp size = s[1] + 2 * s[2] + 1024
    return PyArray_EMPTY(1, &size, NPY_DOUBLE, 0)


def room(ndarray x, int64_t last, bint places):
    # np.empty(x.shape, x.dtype) in a third of its time; with `last` elements in the last dimension if that is not negative,
    # of int64 if `places`
    return made(x, PyArray_NDIM(x) - 1, last, NPY_INT64 if places else PyArray_TYPE(x))


cdef int kind_of(x) except -1:
    # the type of an array in order of memory, else 0. The flags of one that replay watches raise an error, see kernels_for()
    if not PyArray_CheckExact(x):
        return x.dtype.num in (NPY_FLOAT, NPY_DOUBLE) and x.flags.carray and False
    return PyArray_TYPE(x) if PyArray_ISCARRAY_RO(x) else 0


cdef int sizes_along(x, int64_t dim, int64_t size, int64_t *s) except -1:
    # the type of an array that loops take, or 0; s: what lies before, along, and behind dim, and what results have along it
    cdef int k, kind = kind_of(x)
    if (kind != NPY_FLOAT and kind != NPY_DOUBLE) or not PyArray_ISWRITEABLE(x) or not PyArray_SIZE(x):
        return 0
    s[0] = s[2] = 1
    for k in range(PyArray_NDIM(x)):
        if k == dim:
            s[1] = PyArray_DIMS(x)[k]
        else:
            s[0 if k < dim else 2] *= PyArray_DIMS(x)[k]
    s[3] = 1 if size == -2 else s[1] if size < 0 else size
    return kind


cdef bint has(x, int kind, int64_t size) except -1:
    # whether an array is of this type and size
    return kind_of(x) == kind and PyArray_SIZE(x) == size


cdef bint fits(index, ndarray x, int64_t dim, int64_t *s) except -1:
    # whether an index is of int64, and has x's sizes but for dim
    cdef int k
    if kind_of(index) != NPY_INT64 or PyArray_NDIM(index) != PyArray_NDIM(x):
        return False
    for k in range(PyArray_NDIM(x)):
        if k != dim and PyArray_DIMS(index)[k] != PyArray_DIMS(x)[k]:
            return False
    s[3] = PyArray_DIMS(index)[dim]
    return s[3] > 0


"""


class Inline(ast.NodeTransformer):
    """Constants in place of their names."""

    def __init__(self, constants: dict[str, object]) -> None:
        self.constants = constants

    def visit_Name(self, node: ast.Name) -> ast.AST:
        """The value, if it is a number."""
        value = self.constants.get(node.id)
        return ast.Constant(value) if isinstance(value, (int, float)) and isinstance(node.ctx, ast.Load) else node


class Body(ast.NodeTransformer):
    """A function's statements with typed literals, and polynomials written out."""

    def __init__(self, constants: dict[str, object], variables: Variables, precise: list[str], twice: set[str]) -> None:
        self.constants, self.variables, self.double, self.twice = constants, variables, variables.double, twice
        self.precise = {name: name + "f" * (not self.double) + "_" * (name == "fma") for name in precise}

    def typed(self, *parts: ast.expr) -> list[ast.expr]:
        """Expressions that meet in one operation: whole literals have the precision of the others."""
        kinds = {self.variables.type_of(part) for part in parts}
        for k in ({"float", "double"} & kinds and range(len(parts))) or ():
            if isinstance(parts[k], ast.Constant):
                parts[k].value = float(parts[k].value)       # type: ignore[attr-defined]
        return [self.visit(part) for part in parts]

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        """Both sides, typed."""
        node.left, node.right = self.typed(node.left, node.right)
        return node

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        """All sides, typed."""
        node.left, *node.comparators = self.typed(node.left, *node.comparators)
        return node

    def visit_IfExp(self, node: ast.IfExp) -> ast.AST:
        """Both choices, typed."""
        node.test = self.visit(node.test)
        node.body, node.orelse = self.typed(node.body, node.orelse)
        return node

    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        """A number of the function's precision, or a whole one."""
        return ast.Call(ast.Name("f64" if self.double else "f32"), [node], []) if isinstance(node.value, float) else node

    def visit_Name(self, node: ast.Name) -> ast.AST:
        """A function of two precisions is that of this one."""
        return ast.Name({"inf": "INFINITY", **self.precise}.get(node.id, node.id), node.ctx)

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        """x[i:] is a pointer."""
        if isinstance(node.slice, ast.Slice) and node.slice.lower:
            return ast.BinOp(self.visit(node.value), ast.Add(), self.visit(node.slice.lower))
        return self.generic_visit(node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST | None:
        """An assignment without its type."""
        return ast.Assign([node.target], self.visit(node.value), lineno=0) if node.value else None

    def visit_Call(self, node: ast.Call) -> ast.AST:
        """polynomial() is written out."""
        name = ast.unparse(node.func)
        if name != "polynomial":
            called = name + "_double" * (name in self.twice)
            if self.variables.results.get(name) == KERNEL:
                called = f"loop_{called}"
            node.func = node.func if called == name else ast.Name(called, ast.Load())
            return self.generic_visit(node)
        coefficients: Any = self.constants[ast.unparse(node.args[1])]
        x, value = self.visit(node.args[0]), self.visit(ast.Constant(float(coefficients[0])))
        for c in coefficients[1:]:
            value = ast.Call(ast.Name(self.precise["fma"]), [value, x, self.visit(ast.Constant(float(c)))], [])
        return value


def c_type(name: str) -> str:
    """A type as Cython has it."""
    return TYPES.get(name, name)


def typed(annotation: ast.expr | None, real: str) -> str:
    """An annotation's type, where `real` is one of two."""
    name = ast.unparse(annotation) if annotation else "None"
    return {"real": real, "reals": f"{real}s", "None": "void"}.get(name, name)


def declaration(node: ast.FunctionDef, real: str) -> str:
    """A function of scalars.h; of those that exist in two precisions float32's has an f behind its name."""
    kinds = [typed(a.annotation, real) for a in node.args.args]
    kinds = [f"const {POINTERS[kind]} *" if kind in POINTERS and a.arg != "c" else c_type(kind)
             for kind, a in zip(kinds, node.args.args, strict=True)]
    name = node.name + "f" * (is_real(node) and real == "float") + "_" * (node.name == "fma")
    return f"    {c_type(typed(node.returns, real))} {name}({', '.join(kinds)})\n"


def is_real(node: ast.FunctionDef) -> bool:
    """Whether a function is made for two precisions."""
    return any(typed(a.annotation, "?") in ("?", "?s") for a in node.args.args)


def in_both(node: ast.FunctionDef) -> list[Any]:
    """A function of scalars.h; one of `reals` as two, NAME of floats and NAME_double of doubles."""
    if not any(typed(a.annotation, "") == "s" for a in node.args.args):
        return [node]
    text = ast.unparse(node)
    return ast.parse(text.replace("real", "float") + "\n" + text.replace("real", "double").replace("(", "_double(", 1)).body


WIDTH = ("int32", "uint32", "int", "uint64", "float", "double")    # types of numbers, each wider than those before


class Variables:
    """The types of a function's variables."""

    def __init__(self, body: list[ast.stmt], arguments: list[tuple[str, str]], results: dict[str, str],
                 double: bool) -> None:
        self.results, self.double = results, double
        self.types = dict(arguments)
        parts = [part for statement in body for part in ast.walk(statement)]
        for part in parts:
            if isinstance(part, ast.AnnAssign):
                self.types[ast.unparse(part.target)] = ast.unparse(part.annotation)
        given = set(self.types)
        before: dict[str, str] = {}
        while before != self.types:
            before = dict(self.types)
            for part in parts:
                if isinstance(part, ast.For):
                    self.types[ast.unparse(part.target)] = "int"
                for target, value in pairs(part):
                    if isinstance(target, ast.Name) and target.id not in given:
                        kinds = {self.types.get(target.id), self.type_of(value)} - {None}
                        self.types.update({target.id: widest(kinds)} if kinds else {})
        self.own = {name: kind for name, kind in self.types.items() if name not in dict(arguments)}

    def type_of(self, node: ast.expr) -> str | None:
        """An expression's type; None while a variable's is not known."""
        if isinstance(node, ast.Constant):
            return "int" if isinstance(node.value, int) else "double" if self.double else "float"
        if isinstance(node, ast.Name):
            return "float" if node.id == "inf" else self.types.get(node.id)
        if isinstance(node, ast.Subscript):
            kind = self.types[ast.unparse(node.value)]
            if isinstance(node.slice, ast.Slice):
                return kind
            return kind.removesuffix("s") if kind in ("floats", "doubles") else "int"
        if isinstance(node, ast.Call):
            name = ast.unparse(node.func)
            found = self.results.get(name)
            return ("double" if self.double else "float") if found == "real" else "int" if name in ("min", "max") else found
        if isinstance(node, (ast.Compare, ast.BoolOp)):
            return "int"
        parts = ([node.left, node.right] if isinstance(node, ast.BinOp) else [node.body, node.orelse]
                 if isinstance(node, ast.IfExp) else [node.operand])         # type: ignore[attr-defined]
        kinds = {self.type_of(part) for part in parts}
        return None if None in kinds else widest(kinds)


def widest(kinds: Iterable[str | None]) -> str:
    """The type in which numbers of these are computed."""
    return max((kind for kind in kinds if kind), key=WIDTH.index)


def pairs(node: ast.AST) -> list[tuple[ast.expr, ast.expr]]:
    """What a statement assigns, and to what."""
    if isinstance(node, ast.AugAssign):
        return [(node.target, node.value)]
    if not isinstance(node, ast.Assign):
        return []
    [target] = node.targets
    if isinstance(target, ast.Tuple):
        assert isinstance(node.value, ast.Tuple)
        return list(zip(target.elts, node.value.elts, strict=True))
    return [(target, node.value)]


def result_of(node: ast.FunctionDef, module: str) -> str:
    """What a function returns; KERNEL if Python calls it."""
    found = typed(node.returns, "real")
    return KERNEL if found in ("void", "answer") and not node.name.startswith("_") and module != HELPERS else found


def precisions(node: ast.FunctionDef) -> tuple[str, ...]:
    """What `real` is, once or twice."""
    return ("float", "double") if is_real(node) else ("float",)


def name_of(node: ast.FunctionDef, real: str) -> str:
    """A function's name, where `real` is one of two."""
    return node.name + "_double" * (is_real(node) and real == "double")


def function(node: ast.FunctionDef, constants: dict[str, object], precise: list[str], results: dict[str, str],
             real: str, twice: set[str]) -> str:
    """A function in Cython. twice: those of which it calls the double one."""
    arguments = [(a.arg, typed(a.annotation, real)) for a in node.args.args]
    result, name = typed(node.returns, real), name_of(node, real)
    kernel = results[node.name] == KERNEL
    mentioned = {kind for _, kind in arguments} | {result} | {
        ast.unparse(part.annotation) for part in ast.walk(node) if isinstance(part, ast.AnnAssign)}
    body = [Inline(constants).visit(part) for part in copy.deepcopy(node).body[1:]]      # the first is the docstring
    called = results | {other: results[f"{other}_double"] for other in twice if f"{other}_double" in results}
    variables = Variables(body, arguments, called, bool(mentioned & {"double", "doubles"}))
    statements = [Body(constants, variables, precise, twice).visit(part) for part in body]
    taken = ", ".join(f"{c_type(kind)} {argument}" for argument, kind in arguments)
    inner = f"loop_{name}" if kernel else name
    known_as = "" if kernel else f' "inline_{name}"'
    return (f"cdef {'public' if kernel else 'inline'} {c_type(result)} {inner}{known_as}({taken}) noexcept nogil:\n"
            + "".join(f"    cdef {c_type(kind)} {variable}\n" for variable, kind in variables.own.items())
            + "".join("    " + line + "\n" for part in statements if part is not None
                      for line in ast.unparse(ast.fix_missing_locations(part)).splitlines()) + "\n")

def call(node: ast.FunctionDef, real: str) -> tuple[str, str]:
    """A kernel's declaration, and the function that Python calls. Keyword arguments would double the code."""
    kinds = [(a.arg, typed(a.annotation, real)) for a in node.args.args]
    result, name = typed(node.returns, real), name_of(node, real)
    declared = ", ".join(f"{c_type(kind)} {argument}" for argument, kind in kinds)
    taken = ", ".join(f"{'ndarray' if kind in POINTERS else c_type(kind)} {argument}" for argument, kind in kinds)
    given = ", ".join(f"<{POINTERS[kind]} *> PyArray_DATA({argument})" if kind in POINTERS else argument
                      for argument, kind in kinds)
    head = f"def {name}({taken}, /):\n"
    return f"    {c_type(result)} loop_{name}({declared})\n", (
        f"{head}    with nogil:\n        loop_{name}({given})\n\n" if result == "void" else
        f"{head}    cdef int64_t answer\n    with nogil:\n        answer = loop_{name}({given})\n    return answer\n\n")


def of_dimension(node: ast.FunctionDef) -> str:
    """NAME_of(arrays, dim, size, settings) of a loop, which makes its results, of `size` elements along dim (see made(); of
    as many as an index has); None if it does not take the arrays. A loop whose first array is `out` writes to that, or to a
    copy of it."""
    kinds = {a.arg: typed(a.annotation, "real") for a in node.args.args}
    arrays = [name for name, kind in kinds.items() if kind == "reals" or kind in POINTERS]
    x, over, (like, size) = arrays[0], arrays[0] == "out", ("index", -1) if "index" in arrays else (arrays[0], "size")
    fresh = dict.fromkeys(("out", "tops", "sums"), f"made({like}, dim, {size}, kind)")
    fresh |= {"places": f"made({like}, dim, {size}, NPY_INT64)", "slope": f"made({like}, dim, -1, kind)"}
    fresh |= {"out": fresh["slope"], "means": fresh["tops"], "scales": fresh["tops"]} if "means" in arrays else {}
    fits = {"index": f"not fits(index, {x}, dim, s)", "src": "not has(src, kind, PyArray_SIZE(index))",
            "t": "not has(t, NPY_INT64, s[0])", "labels": "not has(labels, NPY_INT64, PyArray_SIZE(x))",
            **{name: f"({name} is not None and not has({name}, kind, s[1]))" for name in ("weight", "bias")}}
    given = [name for name in arrays if name == x or name in fits]
    settings = [f"{c_type(kind.replace('real', 'double'))} {name}" for name, kind in kinds.items()
                if name not in arrays and name not in SIZES] + ["bint copied"] * over
    unfit = ["not kind" if is_real(node) else "kind != NPY_FLOAT", *["s[2] != 1"] * ("inner" not in kinds),
             *[fits[name] for name in given if name != x]]
    lines = ["cdef int64_t s[4], failed = 0", f"cdef int kind = sizes_along({x}, dim, {size}, s)",
             f"if {' or '.join(unfit)}:", "    return None",
             *["if copied:", "    out = PyArray_NewCopy(out, NPY_CORDER)"] * over]
    for name in arrays:
        lines += [f"{name} = {fresh.get(name, 'room_for(s)')}"] * (name not in given)
        array = f"{name} if {name} is not None else {x}" if name in ("weight", "bias") else name
        lines.append(f"cdef void *at_{name} = PyArray_DATA(<ndarray> ({array}))")
    taken = ", ".join(SIZES.get(name, name) for name in kinds)
    lines += [f"if PyArray_SIZE(<ndarray> {x}) >= WIDE:",
              f"    name = '{node.name}_double' if kind == NPY_DOUBLE else '{node.name}'",
              f"    failed = bool(getattr(in_pieces, name)({taken}))"]
    for k, real in enumerate(precisions(node)):
        values = ", ".join(f"<{POINTERS[kind.replace('real', real)]} *> at_{name}" if name in arrays else
                           SIZES.get(name, name) for name, kind in kinds.items())
        lines += ["else:" if k or not is_real(node) else "elif kind == NPY_FLOAT:", "    with nogil:",
                  f"        {'failed = ' * (typed(node.returns, real) == 'answer')}loop_{name_of(node, real)}({values})"]
    results = ", ".join([name for name in fresh if name in arrays])
    taken = ", ".join([*given, "int64_t dim", *["int64_t size"] * (size == "size"), *settings])
    lines.append(f"return None if failed else ({results})")
    return f"def {node.name}_of({taken}, /):\n    " + "\n    ".join(lines) + "\n\n"


def prototype(node: ast.FunctionDef, real: str) -> str:
    """A line of C that has compilers inline a function however large it is: a loop with a call stays scalar."""
    taken = ", ".join(c_type(typed(a.annotation, real)) for a in node.args.args)
    return f"    ALWAYS {c_type(typed(node.returns, real))} inline_{name_of(node, real)}({taken});\n"


def functions(path: Path) -> list[ast.FunctionDef]:
    """The functions of a module."""
    return [node for node in ast.parse(path.read_text(encoding="utf-8")).body if isinstance(node, ast.FunctionDef)]


def constants_of(path: Path, known: dict[str, object]) -> dict[str, object]:
    """The constants of a module, and those that are known already."""
    found = dict(known)
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, (ast.Assign, ast.Import)) or (isinstance(node, ast.ImportFrom) and not node.level):
            exec(compile(ast.Module([node], []), path.name, "exec"), found)
    return found


def translated(folder: Path, modules: Sequence[str]) -> tuple[str, str]:
    """The Cython modules: `kernels`, whose header the other includes, and `loops`."""
    known = runpy.run_path(str(folder.parent / "coefficients.py"))       # importing it would import autograd, not yet built
    names = [made for node in functions(folder / "scalars.py") for made in in_both(node)]
    results = {node.name: typed(node.returns, "real") for node in names}
    names = [node for node in names if node.name != "polynomial"]        # which is written out
    precise = [node.name for node in names if is_real(node)]
    text, prototypes, declarations, calls, of_dimensions = "", "", "", "", ""
    twice: set[str] = set()
    for path in [folder / f"{module}.py" for module in modules]:
        constants = constants_of(path, known)
        results |= {node.name: result_of(node, path.stem) for node in functions(path)}
        twice |= {node.name for node in functions(path) if is_real(node)}
        twice |= {name for name in results if f"{name}_double" in results}
        for node in functions(path):
            of_dimensions += of_dimension(node) if node.name in OF_DIMENSION else ""
            for real in precisions(node):
                text += function(node, constants, precise, results, real, twice if real == "double" else set())
                if results[node.name] != KERNEL:
                    prototypes += prototype(node, real)
                    continue
                declared, called = call(node, real)
                declarations += declared
                calls += called
    entries = ", ".join(f'"{name}": <size_t> <void *> loop_{name}' for name in BY_ADDRESS)
    of_dimensions += f"def addresses():\n    return {{{entries}}}\n"
    head = HEAD + "".join(declaration(node, real) for node in names for real in precisions(node))
    return (f'{head}\ncdef extern from *:\n    """\n{prototypes}    """\n\n{text}',
            f'{head}\ncdef extern from "kernels.h" nogil:\n{declarations}\n{CALLS}{calls}{of_dimensions}')
