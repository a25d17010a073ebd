"""Who may import whom. Arrows point down only; see ARCHITECTURE.md."""

import ast
import importlib
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGES = ("autograd", "dparallel", "launch")

# Every module belongs to the longest prefix that matches. A module may import from its own layer's prefix or from lower
# layers of what it names here.
LAYERS = """
autograd.plugins autograd.compiled autograd.arrays autograd.version autograd.kernels autograd.complaints autograd.dtypes autograd.size autograd.devices
launch autograd.frames autograd.settings
autograd.mode autograd.traced autograd.backends autograd.accelerator autograd.compiler autograd.distributed
autograd.hub autograd.multiprocessing autograd.fx
autograd.counters
autograd.lanes autograd.graph
autograd.tensor
autograd.saved autograd.hooks autograd.random autograd.inference autograd.edges autograd.anomaly_mode
dparallel.comm
autograd.function_variants
autograd.walk
autograd.engine
autograd.tangent
autograd.recorded
autograd.operation
autograd.views autograd.roots autograd.casting
autograd.function autograd.derivatives autograd.graph_api autograd.variable autograd.grad_mode
autograd.ops
autograd.tensor_types autograd.amp
autograd.inplace autograd.functional autograd.forward_ad autograd.attributes autograd.cuda autograd.cpu
autograd.printing autograd.drawing autograd.config
autograd.numpy_functions
autograd.numpy_protocol
autograd.operators autograd.gradcheck autograd.trace_or_sum
autograd.operators autograd.gradient_checks
autograd.autograd autograd._utils
autograd.nn autograd.utils autograd.signal autograd.fft autograd.linalg autograd.special
autograd.optim autograd.tracing autograd.jit autograd.distributions autograd.func autograd.serialization
autograd
dparallel.vectors
dparallel.functions dparallel.tree dparallel.within dparallel.sampling dparallel.metrics dparallel.clipping dparallel.recipes
dparallel.local_sgd dparallel.entries
dparallel.scatter_gather dparallel.coalesced dparallel.objects dparallel.replicate dparallel.parallel_apply dparallel.buckets
dparallel.weights dparallel.synchronised dparallel.join dparallel.verification dparallel.model_state dparallel.arguments
dparallel.sync_batch_norm dparallel.replicated dparallel.pass_ends
dparallel.bucket_hook dparallel.sharing dparallel.sink dparallel.unused dparallel.logbook dparallel.local dparallel.tree_reduce
dparallel.batches
dparallel.transport dparallel.graph_passes dparallel.join_model dparallel.virtual_shards
dparallel.hooks
dparallel.reducer dparallel.wire
dparallel.skipping dparallel.sharding
dparallel.data_parallel dparallel.testing
dparallel.evaluation
dparallel.distributed
dparallel
"""
LAYER = {name: number for number, line in enumerate(LAYERS.splitlines()) for name in line.split()}
NAMES = list(LAYER)
INNER_IMPORTS = {("dparallel/comm/given.py", "mpi")}          # world() alone starts MPI


def modules():
    return sorted(p for package in PACKAGES for p in (ROOT / package).rglob("*.py"))


def name_of(path):
    parts = list(path.relative_to(ROOT).with_suffix("").parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def layer_of(name):
    return LAYER[max((n for n in NAMES if name == n or name.startswith(n + ".")), key=len)]


def prefix_of(name):
    return max((n for n in NAMES if name == n or name.startswith(n + ".")), key=len)


def exists(name):
    base = ROOT.joinpath(*name.split("."))
    return base.with_suffix(".py").exists() or (base / "__init__.py").exists()


def imports(path):
    """(module, imported name or None, inside a function) for every import of one of our packages, or of anything."""
    tree = ast.parse(path.read_text())
    inside = {id(c) for f in ast.walk(tree) if isinstance(f, (ast.FunctionDef, ast.AsyncFunctionDef))
              for c in ast.walk(f)}
    here = name_of(path).split(".")
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.name, None, id(node) in inside
        elif isinstance(node, ast.ImportFrom):
            base = here if path.name == "__init__.py" else here[:-1]
            stem = ".".join(base[:len(base) - node.level + 1] if node.level else []) if node.level else ""
            full = ".".join(part for part in (stem, node.module or "") if part)
            for alias in node.names:
                target = f"{full}.{alias.name}"
                yield (target, None, id(node) in inside) if exists(target) else (full, alias.name, id(node) in inside)


@pytest.mark.parametrize("path", modules(), ids=lambda p: str(p.relative_to(ROOT)))
def test_imports_point_down(path):
    me = name_of(path)
    for target, name, inside in imports(path):
        root = target.split(".")[0]
        if name is not None and name.startswith("_") and not name.startswith("__"):
            assert root not in PACKAGES, f"{me} imports the private {name} of {target}"
        if root not in PACKAGES:
            continue
        assert not (me.startswith("autograd") and root != "autograd"), f"{me} imports {target}"
        assert not inside or (str(path.relative_to(ROOT)), target.split(".")[-1]) in INNER_IMPORTS, \
            f"{me} imports {target} inside a function"
        if prefix_of(target) != prefix_of(me):
            assert layer_of(target) < layer_of(me), f"{me} (layer {layer_of(me)}) imports {target} ({layer_of(target)})"


def test_no_cycles():
    graph = {name_of(p): {t for t, _, inside in imports(p) if t.split(".")[0] in PACKAGES and not inside}
             for p in modules()}
    done, active = set(), []

    def visit(name):
        if name in done or name not in graph:
            return
        assert name not in active, f"cycle: {' -> '.join([*active, name])}"
        active.append(name)
        for target in graph[name] - {name}:
            visit(target)
        active.pop()
        done.add(name)

    for name in graph:
        visit(name)


def test_one_file_imports_mpi4py():
    users = {str(p.relative_to(ROOT)) for p in modules() if any(t.split(".")[0] == "mpi4py" for t, _, _ in imports(p))}
    assert users == {"dparallel/comm/mpi.py"}


def test_launch_is_standard_library_only():
    for path in (ROOT / "launch").glob("*.py"):
        for target, _, _ in imports(path):
            root = target.split(".")[0]
            assert root == "launch" or root in sys.stdlib_module_names, f"{path.name} imports {target}"


@pytest.mark.parametrize("kind", ["__all__", "METHODS", "IN_PLACE"])
def test_each_operation_has_one_home(kind):
    """Two modules that offer one name would hide each other's, in the order of imports."""
    home = {}
    for path in sorted((ROOT / "autograd" / "ops").rglob("*.py")):
        if path.name != "__init__.py":                   # packages add up what their modules offer
            module = importlib.import_module(name_of(path))
            for name in getattr(module, kind, ()) if not path.stem.startswith("_") else ():
                assert name not in home, f"{kind}: {name} is in {home[name]} and in {module.__name__}"
                assert hasattr(module, name), f"{kind}: {module.__name__} has no {name}"
                home[name] = module.__name__


def test_no_nameless_files():
    for path in modules():
        assert path.stem not in ("utils", "misc", "common", "helpers"), path


def test_importing_does_not_start_mpi():
    import subprocess
    code = "import sys, dparallel; assert not any(m.startswith('mpi4py') for m in sys.modules), 'mpi4py was imported'"
    subprocess.run([sys.executable, "-c", code], check=True)
