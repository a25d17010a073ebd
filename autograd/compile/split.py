"""split(): a function whose statements run in Python where they must, and in compiled parts between."""

from __future__ import annotations

import ast
import inspect
import textwrap
import types
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any

SIMPLE = (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Import, ast.ImportFrom)
SCOPES = (ast.Nonlocal, ast.Global)
JUMPS = (ast.Return, ast.Yield, ast.YieldFrom, ast.Await)


def split(function: Any, lines: Collection[int], names: Collection[str],
          compiled: Callable[[Any], Callable[..., Any]]) -> Callable[..., Any] | None:
    """The function with these lines of its file, and statements with these names, in Python. Runs of other statements
    become functions of the local variables that they read, which `compiled` wraps. None if that is impossible."""
    if isinstance(function, types.MethodType):
        made = split(function.__func__, lines, names, compiled)
        return None if made is None else types.MethodType(made, function.__self__)
    if not isinstance(function, types.FunctionType) or function.__code__.co_cellvars:
        return None
    code = function.__code__
    try:
        text, first = inspect.getsourcelines(code)
        tree = ast.parse(textwrap.dedent("".join(text)))
    except (OSError, SyntaxError):
        return None
    step = tree.body[0]
    if len(tree.body) != 1 or not isinstance(step, ast.FunctionDef) or step.name != code.co_name:
        return None
    ast.increment_lineno(tree, first - 1)
    scopes = [s for s in step.body if isinstance(s, SCOPES)]
    body = [s for s in step.body if not isinstance(s, SCOPES)]
    outer = {name for s in scopes for name in s.names}
    given = [a.arg for a in ast.walk(step.args) if isinstance(a, ast.arg)]
    groups: list[tuple[bool, list[ast.stmt]]] = []   # (in Python, statements)
    for number, statement in enumerate(body):
        plain = (any(statement.lineno <= line <= (statement.end_lineno or 0) for line in lines)
                 or not names_of([statement]).isdisjoint(names) or not any(
                     isinstance(n, (ast.Call, ast.BinOp, ast.Subscript)) for n in ast.walk(statement))
                 or (any(isinstance(n, JUMPS) for n in ast.walk(statement))
                     and not (number == len(body) - 1 and isinstance(statement, ast.Return))))
        if groups and groups[-1][0] == plain:
            groups[-1][1].append(statement)
        else:
            groups.append((plain, [statement]))
    if all(plain for plain, _ in groups):
        return None
    parts: list[ast.FunctionDef] = []
    new: list[ast.stmt] = [*scopes]
    bound, sure = set(given), set(given)             # local variables that may have, and that have, a value
    for number, (plain, statements) in enumerate(groups):
        later = names_of(s for _, rest in groups[number + 1:] for s in rest)
        stored, assigned = stored_in(statements) - outer, assigned_in(statements) - outer
        if plain:
            new += statements
        else:
            reads, gives = sorted(names_of(statements) & bound), sorted(stored & later)
            if not sure.issuperset(reads) or not (sure | assigned).issuperset(gives):
                return None
            parts.append(part(f"__part_{len(parts)}", scopes, statements, reads, gives))
            new.append(call_of(parts[-1].name, reads, gives, isinstance(statements[-1], ast.Return)))
        bound |= stored
        sure |= assigned
    return rebuilt(function, step, new, parts, compiled)


def names_of(statements: Iterable[ast.stmt]) -> set[str]:
    """The variables and attributes in statements."""
    return {n.id if isinstance(n, ast.Name) else n.attr for s in statements for n in ast.walk(s)
            if isinstance(n, (ast.Name, ast.Attribute))}


def stored_in(statements: Iterable[ast.stmt]) -> set[str]:
    """The variables that statements may assign."""
    nodes = [n for s in statements for n in ast.walk(s)]
    return {n.id for n in nodes if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load)} | {
        (n.asname or n.name).partition(".")[0] for n in nodes if isinstance(n, ast.alias)}


def assigned_in(statements: Iterable[ast.stmt]) -> set[str]:
    """The variables that statements assign in any case."""
    found: set[str] = set()
    for s in statements:
        if isinstance(s, SIMPLE):
            found |= stored_in([s])
        elif isinstance(s, ast.With):
            found |= assigned_in(s.body) | {n.id for item in s.items for n in ast.walk(item) if isinstance(n, ast.Name)
                                            and isinstance(n.ctx, ast.Store)}
    return found


def names_tuple(names: Sequence[str], context: ast.expr_context) -> ast.Tuple:
    """A tuple of variables."""
    return ast.Tuple([ast.Name(name, context) for name in names], context)


def part(name: str, scopes: Sequence[ast.stmt], statements: Sequence[ast.stmt], reads: Sequence[str],
         gives: Sequence[str]) -> ast.FunctionDef:
    """A function of statements: def name(reads): ...; return gives."""
    body = [*scopes, *statements]
    if not isinstance(body[-1], ast.Return):
        body.append(ast.Return(names_tuple(gives, ast.Load())))
    return definition(name, reads, body)


def definition(name: str, arguments: Sequence[str], body: Sequence[ast.stmt]) -> ast.FunctionDef:
    """A function definition."""
    made: Any = ast.parse(f"def {name}({', '.join(arguments)}): pass").body[0]
    made.body = list(body)
    return made                                      # type: ignore[no-any-return]


def call_of(name: str, reads: Sequence[str], gives: Sequence[str], returns: bool) -> ast.stmt:
    """The statement that calls a part."""
    call = ast.Call(ast.Name(name, ast.Load()), [ast.Name(x, ast.Load()) for x in reads], [])
    if returns:
        return ast.Return(call)
    return ast.Assign([names_tuple(gives, ast.Store())], call) if gives else ast.Expr(call)


def rebuilt(function: types.FunctionType, step: ast.FunctionDef, body: list[ast.stmt], parts: Sequence[ast.FunctionDef],
            compiled: Callable[[Any], Callable[..., Any]]) -> Any:
    """The function with another body and the parts that it calls, all with its closure, globals and defaults."""
    code = function.__code__
    step.decorator_list, step.returns, step.body = [], None, body
    step.args.defaults, step.args.kw_defaults = [], [None] * len(step.args.kwonlyargs)
    for argument in [n for n in ast.walk(step.args) if isinstance(n, ast.arg)]:
        argument.annotation = None
    around = definition("around", [*code.co_freevars, *(p.name for p in parts)], [*parts, step])
    module = ast.fix_missing_locations(ast.Module([around], []))
    inner = compile(module, code.co_filename, "exec").co_consts[0].co_consts
    codes = {c.co_name: c for c in inner if isinstance(c, types.CodeType)}
    cells = dict(zip(code.co_freevars, function.__closure__ or (), strict=True))

    def made(name: str) -> types.FunctionType:
        free = codes[name].co_freevars
        return types.FunctionType(codes[name], function.__globals__, name, None, tuple([cells[x] for x in free]))

    for p in parts:
        of_part = made(p.name)
        of_part.__module__ = function.__module__
        of_part.__qualname__ = f"{function.__qualname__}, lines {p.body[0].lineno} to {p.body[-2].end_lineno}" if len(
            p.body) > 1 else function.__qualname__
        cells[p.name] = types.CellType(compiled(of_part))
    whole = made(step.name)
    whole.__defaults__, whole.__kwdefaults__, whole.__module__ = (
        function.__defaults__, function.__kwdefaults__, function.__module__)
    return whole


__all__ = ["split"]
