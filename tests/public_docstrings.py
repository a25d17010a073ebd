"""Which public names lack a part of their docstring: `python tests/public_docstrings.py [ROOM]` prints them by room.

A complete docstring has a summary; "Args:", which names every argument; "Raises:", where the function itself raises; and an
example. test_public_docstrings.py demands that nothing lacks, and runs the examples.
"""

from __future__ import annotations

import ast
import doctest
import importlib
import importlib.util
import inspect
import re
import sys
import textwrap
import types
import warnings
from pathlib import Path

ROOT = Path(__file__).parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "autograd")]

ROOMS = ["autograd", "autograd.Tensor", "autograd.nn", "autograd.nn.functional", "autograd.nn.init", "autograd.nn.utils",
         "autograd.nn.utils.rnn", "autograd.nn.utils.parametrize", "autograd.nn.utils.parametrizations",
         "autograd.nn.utils.prune", "autograd.optim", "autograd.optim.lr_scheduler", "autograd.optim.swa_utils",
         "autograd.linalg", "autograd.fft", "autograd.special", "autograd.signal.windows", "autograd.random",
         "autograd.utils.data", "autograd.utils.checkpoint", "autograd.utils.flop_counter", "autograd.utils.summary",
         "autograd.utils.hooks", "autograd.utils.tensorboard", "autograd.profiler", "autograd.amp", "autograd.graph",
         "autograd.functional", "autograd.forward_ad", "autograd.func", "autograd.nn.attention", "autograd.distributions",
         "dparallel", "dparallel.Communicator", "dparallel.hooks", "dparallel.metrics",
         "dparallel.checkpoint", "dparallel.testing", "dparallel.survival", "dparallel.distributed",
         "autograd.distributed", "autograd.jit", "autograd.cuda", "autograd.cpu", "autograd.compiler", "dparallel.sharding",
         "autograd.accelerator", "autograd.fx", "autograd.hub", "autograd.onnx", "autograd.serialization", "autograd.multiprocessing", "autograd.utils.module_tracker"]
# Fields of Tensor that the engine uses. They have no "_", since compiled code reads them faster so, and a field of a
# compiled class can't have a docstring.
FIELDS = {"accumulate_grad", "accumulator", "array", "base", "collects", "counter", "dual", "edge", "hooks", "made_at",
          "tracked", "view_from"}
NEED_COMPILED_CORE = {"autograd.profiler.predict_memory"}
# Names whose examples need a package or system that need not be there: they run where it is.
NEEDS = {"dparallel.NeuralNetClassifier": "sklearn", "dparallel.NeuralNetRegressor": "sklearn",
         "dparallel.distributed.FileStore": "fcntl"}


def public(room):
    """(name, object) of the public functions, classes, methods and properties of a room."""
    package, _, name = room.partition(".")
    owner = importlib.import_module(room) if not name[:1].isupper() else getattr(importlib.import_module(package), name)
    if inspect.isclass(owner):
        for name in dir(owner):
            value = inspect.getattr_static(owner, name)
            if not name.startswith("_") and not (name in FIELDS and owner.__name__ == "Tensor"):
                if type(value).__name__ == "LazyMethod":
                    value = getattr(owner, name)
                if inspect.isroutine(value) or isinstance(value, property) or inspect.isdatadescriptor(value):
                    yield name, value
        return
    names = getattr(owner, "__all__", None) or [name for name in dir(owner) if not name.startswith("_")]
    for name in names:
        value = getattr(owner, name)
        home = getattr(value, "__module__", "") or ""
        if isinstance(value, types.ModuleType) or not callable(value) or not home.startswith(("autograd", "dparallel")):
            continue
        if not hasattr(value, "__name__") or (not hasattr(owner, "__all__") and home != owner.__name__):
            continue
        yield name, value


def parts(doc):
    """{title: text} of a docstring: "" is what stands before the sections."""
    found = re.split(r"^(Args|Attributes|Returns|Yields|Raises|Example):\n", doc, flags=re.M)
    return {"": found[0], **dict(zip(found[1::2], found[2::2], strict=True))}


def arguments(value):
    """The names of a function's or a class's arguments."""
    from make_stubs import full_signature
    if isinstance(value, property) or (inspect.isdatadescriptor(value) and not inspect.isroutine(value)):
        return []
    if isinstance(value, (staticmethod, classmethod)):
        value = value.__func__
    if inspect.isclass(value):
        if issubclass(value, BaseException) or issubclass(value, tuple):
            return []
        if "__init__" not in {name for c in value.__mro__[:-1] for name in vars(c)}:
            return []
        value = value.__init__
    try:
        signature = full_signature(value)
    except (TypeError, ValueError):
        return []
    return [name for name, p in signature.parameters.items()
            if name not in ("self", "cls") and p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]


def raises(value):
    """Whether the source of a function, or of a class's __init__, has a raise of a named error."""
    if inspect.isclass(value) and "__init__" not in vars(value):
        return False
    function = value.__init__ if inspect.isclass(value) else value.fget if isinstance(value, property) else value
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(inspect.unwrap(function))))
    except (OSError, TypeError, SyntaxError):
        return False
    return any(isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call) and isinstance(node.exc.func, ast.Name)
               and node.exc.func.id[0].isupper() for node in ast.walk(tree))


def lacking(name, value):
    """What the docstring of a public name lacks, in words."""
    doc = inspect.getdoc(value) or ""
    found = parts(doc)
    if not found[""].strip():
        return ["all"]
    missing = []
    own = arguments(value)
    told = found.get("Args", "")
    if method := next(iter(own), None):              # the first argument of a method is the tensor
        own = own[1:] if method == "input" and not re.search(r"^ {4}input\b", told, re.M) else own
    unsaid = [a for a in own if not a.startswith("_") and not re.search(rf"^ {{4}}\**(\w+, )*{a}(, \w+)*( \(|:)", told, re.M)]
    if unsaid:
        missing.append("Args of " + ", ".join(unsaid))
    if raises(value) and "Raises" not in found:
        missing.append("Raises")
    if ">>>" not in found.get("Example", ""):
        missing.append("Example")
    return missing


def report(rooms=ROOMS):
    """{room: {name: what it lacks}}, and the number of names."""
    result, seen, count = {}, {}, 0
    for room in rooms:
        try:
            names = list(public(room))
        except ImportError:                          # tensorboard without its package
            continue
        for name, value in names:
            count += 1
            if id(value) in seen:
                continue
            seen[id(value)] = value
            if missing := lacking(name, value):
                result.setdefault(room, {})[name] = missing
    return result, count


def examples(rooms=ROOMS):
    """(name, docstring) of each distinct docstring with an example that can run here."""
    seen = set()
    for room in rooms:
        try:
            names = list(public(room))
        except ImportError:
            continue
        for name, value in names:
            doc = inspect.getdoc(value) or ""
            needed = NEEDS.get(f"{room}.{name}")
            if ">>>" in doc and doc not in seen and (needed is None or importlib.util.find_spec(needed)):
                seen.add(doc)
                yield f"{room}.{name}", doc


def failures(rooms):
    """What doctest says of the examples that do not print what they say; "" if all do."""
    import autograd as ag
    from autograd.base.extensions import in_use
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE, verbose=False)
    text = []
    for name, doc in examples(rooms):
        if in_use or name not in NEED_COMPILED_CORE:
            test = doctest.DocTestParser().get_doctest(doc, {"ag": ag, "__name__": "__main__"}, name, name, 0)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                runner.run(test, out=text.append)
    return "".join(text)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    found, count = report(sys.argv[1:] or ROOMS)
    for room, names in found.items():
        print(f"{room}: {len(names)}")
        for name, missing in names.items():
            print(f"    {name}: {'; '.join(missing)}")
    print(f"{count} public names, {sum(map(len, found.values()))} lack something")
