"""Which public names lack a part of their docstring: `python tests/public_docstrings.py [ROOM]` prints them by room.

A complete docstring has a summary; "Args:", which names every argument; "Raises:", where the function itself raises; and an
example. A function without arguments needs a summary alone, which names the errors that it raises. So does a twin, which
refers to a function with all its arguments ("see x()"); Args and Raises of a function that is referred to count. Of a method,
the docstrings of the bases' methods of its name count too, and an example of the class that uses it; arguments that the class
documents (Communicator's) need not be repeated. A layer's forward() documents its arguments as "input (n, c) -> (n, d)", and
the class's example calls the layer. Examples run with ag, np and dparallel imported.
test_public_docstrings.py demands that nothing lacks, and test_docstring_examples.py runs the examples.
"""

from __future__ import annotations

import ast
import doctest
import functools
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
sys.path[:0] = [str(ROOT), str(ROOT / "docs" / "site")]

from reference import PAGES  # noqa: E402

ROOMS = [*dict.fromkeys(entry.partition(":")[0] for _, entries in PAGES.values() for entry in entries), "autograd.Tensor",
         "dparallel.Communicator", "dparallel.sharding"]         # all modules of the reference, and the two largest classes
# Fields of Tensor that the engine uses. They have no "_", since compiled code reads them faster so, and a field of a
# compiled class can't have a docstring.
FIELDS = {"accumulate_grad", "accumulator", "array", "base", "collects", "counter", "dual", "edge", "hooks", "made_at",
          "tracked", "view_from"}
# Public methods that are no user's to call: the engine, an optimiser's step or a collective does. A summary is enough.
INSIDE = {f"{owner}.{name}" for owner, names in {
    "Node": "run run_in_place joined custom_push sources ensure_hooks", "FunctionNode": "run custom_push sources",
    "Function": "records", "TensorBase": "accumulate_grad",
    "Elementwise": "arrays numbers rates update runs formula check_state", "OneByOne": "update", "Optimizer": "check_state",
    **dict.fromkeys(("ASGD", "Adadelta", "Adafactor", "Adagrad", "Adam", "Adamax", "LAMB", "LARS", "Muon", "NAdam", "RAdam",
                     "RMSprop", "Rprop", "SGD"), "arrays numbers rates formula update"),
    "CyclicLR": "scale_fn", "SWALR": "anneal_func", "ReduceLROnPlateau": "is_better", "SequentialLR": "recursive_undo",
    "RNNBase": "check_input get_expected_hidden_size check_hidden_size check_forward_args permute_hidden",
    "LSTM": "get_expected_cell_size check_forward_args permute_hidden", "MultiheadAttention": "merge_masks",
    "TransformerEncoderLayer": "activation_relu_or_gelu",
    "_BatchNorm": "normalize", "SyncBatchNorm": "normalize", "ntuple.<locals>": "parse",
    "ConcatDataset": "cumsum", "DistributedSampler": "begin_pass",
    "DataLoader": "end_of_dataloader check_worker_number_rationality multiprocessing_context",
    "GradBucket": "refuse_complex", "ProcessGroup": "issue settle raise_on_all_ranks",
    "Send": "token forward backward", "Recv": "complete records forward backward",
    "PowerSGDState": "count initial_q", "HierarchicalState": "levels", "GlobalBatchSampler": "order mine",
    "Logger": "join_hook join_device join_process_group", "Checkpointer": "give_up", "Run": "begin leave",
    "Network": "joined calls_of round_seconds", **dict.fromkeys(("F1Score", "Precision", "Recall"), "score"),
    **dict.fromkeys(("AllGather", "AllReduce", "AllToAll", "Broadcast", "Gather", "Permute", "Reduce", "ReduceScatter",
                     "Scan", "Scatter", "SendRecv"), "forward issue"),
    **dict.fromkeys(("Barrier", "CopyToRanks", "ReduceFromRanks"), "forward backward"), "Reduction": "combine",
    "ZeroRedundancyOptimizer": "stepped_by", "ParameterSlice": "joins norm_over_ranks", "DataParallel": "before_recording",
}.items() for name in names.split()}
INSIDE |= {"_function_rule", "adam", "sgd"}            # Function.batched, which vmap looks up; Adam.update, SGD.update
INSIDE_BASES = ("Interceptor", "Collective", "Partnered", "Reducer", "ShardedReducer")   # all methods but apply() and start()
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


def methods(owner):
    """(name, method or property) that a class, or a base of it in these packages, defines, beside those of rooms."""
    seen = set()
    for cls in owner.__mro__:
        if cls.__module__.startswith(("autograd", "dparallel")) and cls.__name__ not in ("Tensor", "Communicator"):
            for name, value in vars(cls).items():
                function = getattr(value, "__func__", value)
                slot = type(value).__name__ in ("member_descriptor", "getset_descriptor", "_tuplegetter", "attribute")
                if name.startswith("_") or name in seen or slot or inspect.isclass(value):
                    continue
                seen.add(name)
                if inspect.isroutine(function) or isinstance(value, (property, functools.cached_property)):
                    yield name, getattr(value, "func", function)


def parts(doc):
    """{title: text} of a docstring: "" is what stands before the sections."""
    found = re.split(r"^(Args|Attributes|Returns|Yields|Raises|Example):\n", doc, flags=re.M)
    return {"": found[0], **dict(zip(found[1::2], found[2::2], strict=True))}


def arguments(value):
    """The names of a function's or a class's arguments."""
    from tools.stubs import full_signature
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


def seen_functions(value, doc):
    """The functions of the same class, module or package that a docstring refers to: "see x()"."""
    function = getattr(value, "__func__", value)
    home = getattr(function, "__module__", None) or ""
    scope = getattr(function, "__qualname__", "").rpartition(".")[0]
    for seen in re.findall(r"\b(?:[Ss]ee|[Aa]s(?: for)?)\s((?:\w+\.)*\w+)\(\)", doc):
        for module, path in ((home, f"{scope}.{seen}"), (home, seen), (home.rpartition(".")[0], seen)):
            found = functools.reduce(lambda found, part: getattr(found, part, None), path.strip(".").split("."),
                                     sys.modules.get(module))
            if callable(found) and found is not value:
                yield found


def lacking(name, value, owner=None):
    """What the docstring of a public name lacks, in words. owner: the class of a method, whose docstring has Args too."""
    doc = inspect.getdoc(value) or ""
    found = parts(doc)
    if not found[""].strip():
        return ["all"]
    name = name.rpartition(".")[2]
    if name.startswith("start_") and f"see {name.removeprefix('start_')}()" in doc:
        return []
    twins = list(seen_functions(value, doc))
    if any({*arguments(value)} <= {*arguments(twin)} for twin in twins):
        return []
    missing = []
    own = arguments(value)
    classes = [other for other in (value, *twins) if inspect.isclass(other) and inspect.isroutine(other.__init__)]
    others = [parts(inspect.getdoc(other) or "")
              for other in (*twins, owner, *(other.__init__ for other in classes)) if other is not None]
    told = "\n".join(other.get("Args", "") for other in (found, *others))
    if method := next(iter(own), None):              # the first argument of a method is the tensor
        own = own[1:] if method == "input" and not re.search(r"^ {4}input\b", told, re.M) else own
    unsaid = [a for a in own if not a.startswith("_") and not re.search(rf"^ {{4}}\**(\w+, )*{a}(, \w+)*( \(|:)", told, re.M)]
    if unsaid:
        missing.append("Args of " + ", ".join(unsaid))
    simple = not inspect.isclass(value) and not own
    named = any("Raises" in part for part in (found, *others)) or (simple and re.search(r"[A-Z]\w*(Error|Warning|Exit)\b", doc))
    if raises(value) and not named:
        missing.append("Raises")
    if not simple and ">>>" not in found.get("Example", ""):
        missing.append("Example")
    return missing


def method_lacks(owner, name, value):
    """What the docstring of a method lacks, where bases' docstrings of it count, and examples of the class that use it."""
    bases = [vars(cls).get(name) for cls in owner.__mro__]
    docs = [inspect.cleandoc(doc) for doc in [value.__doc__, *(getattr(base, "__doc__", None) for base in bases)] if doc]
    missing = lacking(name, value)
    if not docs or missing in (["all"], []):
        return ["all"] if not docs else []
    classes = [inspect.cleandoc(cls.__doc__ or "") for cls in owner.__mro__]
    told = "\n".join(parts(doc).get("Args", "") for doc in docs + classes)
    layer = name == "forward" and "__call__" in {n for cls in owner.__mro__ for n in vars(cls)}
    own = [a for a in arguments(value) if not re.search(rf"^ {{4}}\**(\w+, )*{a}(, \w+)*( \(|:)", told, re.M)]
    own = [a for a in own if not (layer and re.search(rf"\b{a}\b", docs[0]))]       # "input (n, c) -> (n, d)"
    left = [f"Args of {', '.join(own)}"] if own else []
    if "Raises" in missing and not any("Raises" in parts(doc) for doc in docs):
        left.append("Raises")
    shown = "".join(re.findall(r"^ *(?:>>>|\.\.\.)(.*\n?)", "\n".join(docs + classes), re.M))
    if "Example" in missing and not re.search(rf"\.{name}\b" + (r"|\)\(|\w\(" if layer else ""), shown):
        left.append("Example")
    return left


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
            owner = getattr(importlib.import_module(room.rpartition(".")[0]), room.rpartition(".")[2]) \
                if room.rpartition(".")[2][:1].isupper() else None
            if missing := lacking(name, value, owner):
                result.setdefault(room, {})[name] = missing
            for method, function in methods(value) if inspect.isclass(value) else ():
                if id(function) not in seen:
                    count += 1
                    seen[id(function)] = function
                    own = getattr(getattr(function, "fget", function), "__qualname__", f"{name}.{method}")
                    inside = own in INSIDE or any(
                        cls.__name__ in INSIDE_BASES and method in vars(cls) and method not in ("apply", "start")
                        for cls in value.__mro__)
                    missing = method_lacks(value, method, function)
                    if missing and (missing == ["all"] or not inside):
                        result.setdefault(room, {})[own] = missing
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
            needed = NEEDS.get(f"{room}.{name}")
            if needed is not None and not importlib.util.find_spec(needed):
                continue
            docs = {name: value, **{f"{name}.{key}": found for key, found in (methods(value) if inspect.isclass(value) else ())}}
            for shown, found in docs.items():
                doc = inspect.getdoc(found) or ""
                if ">>>" in doc and doc not in seen:
                    seen.add(doc)
                    yield f"{room}.{shown}", doc


def failures(rooms):
    """What doctest says of the examples that do not print what they say; "" if all do."""
    import numpy as np

    import autograd as ag
    import dparallel
    from autograd.base.extensions import in_use
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE, verbose=False)
    text = []
    for name, doc in examples(rooms):
        if in_use or name not in NEED_COMPILED_CORE:
            test = doctest.DocTestParser().get_doctest(doc, {"ag": ag, "np": np, "dparallel": dparallel, "__name__": "__main__"}, name, name, 0)
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
