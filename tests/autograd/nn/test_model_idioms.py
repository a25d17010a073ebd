"""Habits of model files beside PyTorch: view() of results, older constructors,
import paths, decorators, devices."""

import contextlib
import importlib
import itertools
import sys

import numpy as np
import pytest

import autograd as ag

torch = pytest.importorskip("torch", reason="PyTorch, the yardstick, is not installed")

# What PyTorch gives row by row from inputs in any order: model code takes view() of it.
IN_ROWS = {
    "cat": lambda t, x: t.cat([x, x], 1), "stack": lambda t, x: t.stack([x, x], 1), "masked_fill": lambda t, x: x.masked_fill(x > 3, 0),
    "softmax": lambda t, x: t.softmax(x, -1), "log_softmax": lambda t, x: t.log_softmax(x, 1), "sum": lambda t, x: x.sum(1),
    "mean": lambda t, x: x.mean(-1, keepdim=True), "prod": lambda t, x: x.prod(1), "amax": lambda t, x: x.amax(1), "max": lambda t, x: x.max(1)[0],
    "var": lambda t, x: x.var(1), "std": lambda t, x: x.std(-1), "norm": lambda t, x: x.norm(dim=1, keepdim=True), "any": lambda t, x: (x > 1).any(1),
    "logsumexp": lambda t, x: x.logsumexp(1), "median": lambda t, x: x.median(1)[0], "cumsum": lambda t, x: x.cumsum(1), "cumprod": lambda t, x: x.cumprod(1),
    "cummax": lambda t, x: x.cummax(1)[0], "roll": lambda t, x: x.roll(1, 1), "tril": lambda t, x: x.tril(), "pad": lambda t, x: t.nn.functional.pad(x, (1, 0)),
    "layer_norm": lambda t, x: t.nn.functional.layer_norm(x, (x.shape[-1],)), "group_norm": lambda t, x: t.nn.functional.group_norm(x, 1),
    "batch_norm": lambda t, x: t.nn.functional.batch_norm(x, None, None, training=True), "linear": lambda t, x: t.nn.functional.linear(x, t.ones(5, x.shape[-1], dtype=x.dtype)),
    "batch_norm, evaluation": lambda t, x: t.nn.functional.batch_norm(x, t.zeros(x.shape[1], dtype=x.dtype), t.ones(x.shape[1], dtype=x.dtype)),
    "matmul": lambda t, x: x @ x.transpose(-1, -2), "attention": lambda t, x: t.nn.functional.scaled_dot_product_attention(x, x, x), "cdist": lambda t, x: t.cdist(x, x),
    "avg_pool2d": lambda t, x: t.nn.functional.avg_pool2d(x, 1), "conv2d": lambda t, x: t.nn.functional.conv2d(x, t.ones(2, x.shape[1], 1, 1, dtype=x.dtype)),
}


@pytest.mark.parametrize("name", IN_ROWS)
def test_results_lie_row_by_row(name):
    values = np.random.default_rng(0).standard_normal((2, 4, 6, 4))
    for order in itertools.permutations(range(4)):
        mine, theirs = (IN_ROWS[name](t, t.tensor(values).permute(*order)) for t in (ag, torch))
        assert mine.is_contiguous() or not theirs.is_contiguous(), order
        np.testing.assert_allclose(mine.numpy(), theirs.numpy(), rtol=1e-12, atol=1e-12)


ARRAY = np.arange(6.0).reshape(2, 3)
MADE = [
    lambda t: t.Tensor([1, 2]), lambda t: t.Tensor(ARRAY), lambda t: t.Tensor((3, 4)), lambda t: t.Tensor(range(3)), lambda t: t.Tensor([t.tensor(1.0), 2]),
    lambda t: t.Tensor(t.zeros(2, dtype=t.int64)), lambda t: t.Tensor(), lambda t: t.LongTensor([1, 2]), lambda t: t.LongTensor([1.5]), lambda t: t.LongTensor(ARRAY),
    lambda t: t.FloatTensor(ARRAY), lambda t: t.FloatTensor(np.arange(3)), lambda t: t.BoolTensor([0, 2]), lambda t: t.ByteTensor([3]), lambda t: t.DoubleTensor([1]),
    lambda t: t.ones(2, dtype=t.float64).new([1, 2]), lambda t: t.ones(2).type(t.LongTensor), lambda t: t.ones(2).type("torch.DoubleTensor"),
    lambda t: t.autograd.Variable(t.ones(2)), lambda t: t.Tensor(2, 3).fill_(1), lambda t: t.FloatTensor(2, 3).fill_(1), lambda t: t.ones(1).new(2, 1).fill_(4),
    lambda t: t.spmm(t.ones(2, 3), t.ones(3, 2)), lambda t: t.cat(t.ones(4, 2).split(split_size=3, dim=0)), lambda t: t.clamp(t.arange(4.0), 1, t.tensor(2.0)),
    lambda t: t.einsum("ij,k->ijk", t.ones(2, 3), t.ones(2, dtype=t.float64)), lambda t: t.empty(0, dtype=t.float16 if t.float32 in (t.float16, t.bfloat16) else t.float32),
]
WRONG = [lambda t: t.Tensor(2.5), lambda t: t.Tensor("a"), lambda t: t.Tensor(None), lambda t: t.Tensor(True), lambda t: t.LongTensor(t.ones(2)), lambda t: t.cuda.FloatTensor([1.0]),
         lambda t: t.autograd.Variable([1.0]), lambda t: t.clamp(t.ones(2), 0, t.ones(2))]


@pytest.mark.parametrize("number", range(len(MADE)))
def test_older_ways_to_make_tensors(number):
    mine, theirs = MADE[number](ag), MADE[number](torch)
    assert tuple(mine.shape) == tuple(theirs.shape) and str(mine.dtype) == str(theirs.dtype)
    np.testing.assert_array_equal(mine.numpy(), theirs.numpy())


@pytest.mark.parametrize("number", range(len(WRONG)))
def test_wrong_ways_to_make_tensors(number):
    with pytest.raises(Exception) as theirs:
        WRONG[number](torch)
    with pytest.raises(theirs.type):
        WRONG[number](ag)


def test_types_of_tensors():
    for t in (ag, torch):
        assert isinstance(t.ones(2), t.FloatTensor) and not isinstance(t.ones(2), (t.LongTensor, t.cuda.FloatTensor))
        assert isinstance(t.ones(2), t.autograd.Variable)
        x = t.ones(2)
        t.Tensor(x)[0] = 3
        assert x.tolist() == [3, 1]


PATHS = """autograd:Function,Variable,grad,backward autograd.function:Function autograd.functional:vjp,jacobian autograd.grad_mode:no_grad
    autograd.variable:Variable nn.parallel:DataParallel,DistributedDataParallel nn.attention:SDPBackend,sdpa_kernel nn.parameter:Parameter
    nn.modules.batchnorm:_BatchNorm nn.modules.conv:_ConvNd nn.modules.utils:_pair nn.modules.module:Module nn.init:trunc_normal_ nn.utils.rnn:pad_sequence
    cuda.amp:autocast,GradScaler cpu.amp:autocast,GradScaler amp:autocast,GradScaler,custom_fwd,custom_bwd amp.autocast_mode:autocast amp.grad_scaler:GradScaler,OptState backends.cudnn:benchmark,is_available jit:script,ignore,Final jit.annotations:List,Optional
    utils.checkpoint:checkpoint utils.data.distributed:DistributedSampler utils.model_zoo:load_url hub:load_state_dict_from_url
    distributions.categorical:Categorical distributions.normal:Normal distributed:is_available multiprocessing:spawn,Queue compiler:is_compiling fx:wrap
    _utils:_flatten_dense_tensors,_unflatten_dense_tensors optim.lr_scheduler:LambdaLR optim.optimizer:Optimizer""".split()


@pytest.mark.parametrize("path", PATHS)
def test_import_paths(path):
    module, names = path.split(":")
    for package in ("autograd", "torch"):
        found = importlib.import_module(f"{package}.{module}")
        assert all(hasattr(found, name) for name in names.split(","))
    if module.startswith("autograd"):                # the same objects, not a second copy of the core
        assert importlib.import_module("autograd.autograd").Function is ag.Function


def test_models_of_a_local_folder(tmp_path):
    """hub.load(source="local") runs a function of hubconf.py, with the folder on the path for its imports."""
    (tmp_path / "helper_of_hubconf.py").write_text("WIDTH = 3\n")
    (tmp_path / "hubconf.py").write_text("import helper_of_hubconf\ndependencies = ['numpy']\nnumber = 3\n"
                                         "def net(lib, *, depth=1):\n    return [lib.nn.Linear(helper_of_hubconf.WIDTH, 2) for _ in range(depth)]\n")
    (tmp_path / "lacks").mkdir()
    (tmp_path / "lacks" / "hubconf.py").write_text("dependencies = ['numpy', 'no_such_package']\ndef net(): pass\n")
    for t in (ag, torch):
        before = list(sys.path)
        assert len(t.hub.load(str(tmp_path), "net", t, source="local", depth=2)) == 2
        for folder, name, how, error, words in (
                (tmp_path, "number", {"source": "local"}, RuntimeError, "Cannot find callable number"), (tmp_path, "none", {"source": "local"}, RuntimeError, "none"),
                (tmp_path / "lacks", "net", {"source": "local"}, RuntimeError, "no_such_package"), (tmp_path / "no", "net", {"source": "local"}, FileNotFoundError, "hubconf"),
                (tmp_path, "net", {"source": "nowhere"}, ValueError, "Unknown source")):
            with pytest.raises(error, match=words):
                t.hub.load(str(folder), name, **how)
        assert sys.path == before
    with pytest.raises(NotImplementedError, match="no code is downloaded"):
        ag.hub.load("pytorch/vision", "resnet18")


def test_nothing_hangs_on_an_accelerator():
    for t in (ag, torch):
        device = t.device("cuda" if t.cuda.is_available() else "mps" if t.backends.mps.is_available() else "cpu")
        with contextlib.suppress(RuntimeError):      # torch.testing, if it was imported, forbids setting PyTorch's flags
            t.backends.cudnn.benchmark = True
        t.cuda.manual_seed_all(1)
        t.cuda.empty_cache()
        with pytest.warns(UserWarning, match="Disabling"), t.autocast("cuda", dtype=t.float16):
            x = t.ones(2, 2, device=device) @ t.ones(2, 2).to(device, non_blocking=True)
        assert x.dtype == t.float32 and x.device == device and t.accelerator.current_accelerator() is None
        with pytest.raises(AssertionError):
            t.cuda.current_device()


def test_decorators_that_compile_give_the_function_back():
    def f(x):
        return x + 1

    for decorate in (ag.jit.script, ag.jit.ignore, ag.jit.ignore(), ag.jit.unused):
        assert decorate(f) is f
    for decorate in (ag.compile, ag.compile(mode="max-autotune"), ag.compiler.disable, ag.compiler.disable()):
        assert decorate(f).__wrapped__ is f and decorate(f)(ag.ones(1)).item() == 2
    assert not (ag.jit.is_scripting() or ag.jit.is_tracing() or ag.compiler.is_compiling())


def test_lists_of_modules_with_none_in_them():
    lists = [t.nn.ModuleList([None, t.nn.Linear(2, 2), None, t.nn.Identity()]) for t in (ag, torch)]
    mine, theirs = ([(len(m), [x is None for x in m], list(m.state_dict()), m[2] is None, len(m[1:])) for m in lists])
    assert mine == theirs


def test_data_parallel_without_gpus():
    nets = [t.nn.DataParallel(t.nn.Linear(2, 2)) for t in (ag, torch)]
    assert list(nets[0].state_dict()) == list(nets[1].state_dict())
    assert nets[0](ag.ones(3, 2)).shape == (3, 2)


def test_model_code_compares_the_level_of_pytorch():
    """`torch.__version__ >= "2.0"` is written `torch.version.torch_level >= "2.0"`; __version__ is this package's."""
    assert tuple(map(int, ag.version.torch_level.split("."))) >= (2, 0, 0)
    assert torch.__version__.startswith(ag.version.torch_level) and ag.__version__ != ag.version.torch_level
