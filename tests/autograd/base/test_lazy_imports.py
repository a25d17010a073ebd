"""What is imported when it is first used: the tables say the truth, and nobody sees a difference."""

import functools
import importlib
import inspect
import operator
import pickle
import pkgutil
import pydoc
import subprocess
import sys

import pytest

import autograd as ag
from autograd import ops
from autograd.tensor_api.binding import LazyMethod

# Each of these would cost a program of plain tensors 1 to 10 ms for nothing.
HEAVY = ("autograd.nn", "autograd.optim", "autograd.utils", "autograd.serialization", "autograd.ops.linalg.svd", "autograd.ops.signal.fft",
         "autograd.ops.nn.convolution", "autograd.kernels.loops.translate", "numpy.random", "dataclasses", "hashlib", "logging",
         "pathlib", "queue", "secrets", "subprocess", "mpi4py")


def run(code):
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


@pytest.mark.parametrize("family", sorted({*ops.families()[0].values(), *ops.families()[1].values()}))
def test_names_are_those_of_the_family(family):
    """Also where a module of the package has the name: autograd.mode."""
    module = importlib.import_module(f"autograd.ops.{family}")
    functions, methods = ops.families()
    for name in (name for name, home in functions.items() if home == family and ag.HOMES[name] == f"ops.{home}"):
        assert getattr(ag, name) is getattr(module, name)            # trace() takes steps too
    for name in (name for name, home in methods.items() if home == family):
        assert callable(getattr(ag.Tensor, name)) and type(vars(ag.Tensor)[name]) is not LazyMethod


def test_import_of_what_every_tensor_needs_alone():
    code = f"""
import numpy, sys
before = set(sys.modules)
import autograd
print(*[name for name in {HEAVY} if name in sys.modules and name not in before])"""
    assert run(code) == []


def test_plain_arithmetic_imports_no_more():
    code = """
import sys, autograd as ag
x = ag.tensor([1.0, 2.0], requires_grad=True)
before = set(sys.modules)
((x * 2 + x @ x - x[0]) / 3).sum().reshape(1).backward()
print(*sorted(name for name in set(sys.modules) - before if not name.startswith("autograd.base.docstrings.")))"""
    assert run(code) == []                           # docstrings are data: 0.1 ms for a room

RARE = ("autograd.distributions", "autograd.ops.special", "autograd.ops.signal", "autograd.ops.statistics",
        "autograd.serialization.torch_pickle", "autograd.kernels.orthogonal", "autograd.kernels.bessel")


def test_training_imports_no_rare_family():
    code = f"""
import io, sys
import autograd as ag
from autograd import nn, optim
net = nn.Sequential(nn.Conv2d(1, 2, 3), nn.BatchNorm2d(2), nn.ReLU(), nn.Flatten(), nn.Linear(8, 3))
o = optim.Adam(net.parameters())
nn.functional.cross_entropy(net(ag.randn(4, 1, 4, 4)), ag.tensor([0, 1, 2, 0])).backward()
o.step()
file = io.BytesIO()
ag.save(net.state_dict(), file)
file.seek(0)
net.load_state_dict(ag.load(file))
print(*[name for name in sys.modules if name.startswith({RARE})])"""
    assert run(code) == []


UNUSED = ("argparse", "autograd.observe", "autograd.utils", "dparallel.data", "dparallel.distributed", "dparallel.evaluation", "dparallel.observe",
          "dparallel.testing", "dprun.cli", "html", "logging", "multiprocessing", "pathlib", "subprocess", "tempfile", "mpi4py")


def test_training_with_dparallel_imports_what_it_uses():
    """The names that a script without them does not pay for; each rank and each worker process imports the package."""
    code = f"""
import sys, autograd as ag
from autograd import nn, optim
from dparallel import DataParallel, world
model = DataParallel(nn.Linear(2, 1), comm=world())
o = optim.SGD(model.parameters(), lr=0.1)
model(ag.ones(3, 2)).sum().backward()
o.step()
print(*[name for name in {UNUSED} if name in sys.modules])"""
    assert run(code) == []


@pytest.mark.parametrize("first", ["dparallel.DataParallel", "dparallel.distributed.get_rank", "dparallel.evaluation.metrics",
                                   "dparallel.data.samplers", "dparallel.observe", "dparallel.testing.adjoint", "dparallel.metrics.Mean"])
def test_names_of_dparallel_do_not_depend_on_what_was_used_first(first):
    """All are there, with docstrings; names of modules stay modules."""
    code = f"""
import types
import dparallel
{first}
from dparallel import *
import dparallel.distributed as dist
assert dist is distributed and dparallel.evaluate is evaluate and isinstance(dparallel.evaluation.evaluate, types.ModuleType)
assert set(dparallel.__all__) <= set(dir(dparallel))
print(*[name for name in dparallel.__all__ if not getattr(dparallel, name).__doc__])
print(*[name for name, found in vars(dist).items() if callable(found) and name in dist.__all__ and not found.__doc__])"""
    assert run(code) == []


def test_a_replaced_method_stays():
    """Somebody replaces a method before its family is imported."""
    assert run("""
import autograd as ag
from autograd.tensor_api.binding import LazyMethod
x = ag.eye(2)
assert type(vars(ag.Tensor)["slogdet"]) is LazyMethod
ag.Tensor.det = lambda self: "mine"
assert len(x.slogdet()) == 2 and type(vars(ag.Tensor)["slogdet"]) is not LazyMethod
print(x.det())""") == ["mine"]


def test_a_subclass_calls_super():
    assert run("""
import autograd as ag
class Mine(ag.Tensor):
    def det(self):
        return 2 * super().det()
x = Mine([[3.0]])
print(x.det().item())""") == ["6.0"]


def test_names_that_are_there_and_not():
    assert set(ag.__all__) <= set(dir(ag)) and {"nn", "svd", "tensor", "mode", "save", "gradcheck"} <= set(ag.__all__)
    assert all(hasattr(ag, name) for name in ag.__all__)
    with pytest.raises(AttributeError, match="module 'autograd' has no attribute 'nonsense'"):
        _ = ag.nonsense
    with pytest.raises(AttributeError, match="'Tensor' object has no attribute 'nonsense'"):
        _ = ag.ones(1).nonsense
    with pytest.raises(ImportError):
        from autograd import nonsense  # noqa: F401


@pytest.mark.parametrize("line", ["from autograd import *; nn, svd, tensor(1.0)", "import autograd.nn; autograd.nn.Linear",
                                  "from autograd import nn, optim; nn.Linear", "from autograd.autograd import functional",
                                  "import autograd.autograd.forward_ad", "from autograd.nn import functional as F; F.relu",
                                  "import autograd as ag; ag.svd(ag.eye(2)); ag.eye(2).relu_()",
                                  "import autograd; autograd.mode(autograd.ones(2))"])
def test_ways_to_import(line):
    run(line)


def test_help_and_pickle():
    text = run("import autograd, pydoc; print('slogdet(' in pydoc.plain(pydoc.render_doc(autograd.Tensor)), "
               "'svd(' in pydoc.plain(pydoc.render_doc(autograd.svd)))")
    assert text == ["True", "True"]
    assert "determinant" in pydoc.plain(pydoc.render_doc(ag.Tensor.det)).lower()
    assert inspect.signature(ag.Tensor.svd).parameters and pickle.loads(pickle.dumps(ag.svd)) is ag.svd


@pytest.mark.parametrize("path", ["", "Tensor", "nn.functional", "special", "linalg", "fft"])
def test_functions_are_pickled_by_name(path):
    """A module that has one for an attribute, such as `self.act = torch.relu`, is saved whole by save(module, f)."""
    space, failed = operator.attrgetter(path)(ag) if path else ag, []
    for name in dir(space):
        function = getattr(space, name, None)
        if name.startswith("_") or not callable(function):
            continue
        try:
            found = pickle.loads(pickle.dumps(function))
        except (pickle.PicklingError, AttributeError):
            found = None
        if found is not function and not isinstance(function, functools.partial):
            failed.append(name)
    assert not failed


def test_a_generator_draws_from_its_seed_whenever_it_is_made():
    first, second = ag.Generator().manual_seed(7), ag.Generator().manual_seed(7)
    state = first.get_state()
    assert ag.rand(3, generator=first).tolist() == ag.rand(3, generator=second).tolist()
    assert ag.rand(3, generator=first.set_state(state)).tolist() == ag.rand(3, generator=second.manual_seed(7)).tolist()
    assert pickle.loads(pickle.dumps(second)).get_state().tolist() == second.get_state().tolist()
    assert ag.Generator().initial_seed() != ag.Generator().initial_seed()
    with pytest.raises(AttributeError, match="nonsense"):
        _ = first.nonsense


@pytest.mark.parametrize("kind", ["__all__", "METHODS", "IN_PLACE"])
def test_each_operation_has_one_home(kind):
    """Two modules that offer one name would hide each other's, in the order of imports."""
    home = {}
    for info in pkgutil.walk_packages(ops.__path__, "autograd.ops."):
        module = importlib.import_module(info.name)
        if not info.ispkg and not info.name.rpartition(".")[2].startswith("_"):
            for offered in getattr(module, kind, ()):
                assert home.setdefault(offered, info.name) == info.name, f"{kind}: {offered} is also in {home[offered]}"
                assert hasattr(module, offered)
    assert len(home) > 100
