"""`import torch` means this library where a script, a command or dprun says so: in a process of its own, as here is PyTorch."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
SCRIPT = '''
import sys
import torch
assert torch._C.device is torch.device and torch.onnx.symbolic_helper.parse_args("v")(print) is print
assert "torch.fx" not in sys.modules and torch.fx.node.Node and not hasattr(torch.fx, "nothing")
import torch.nn.functional as F
import torch.distributed as dist
from torch import nn
from torch.utils.data import DataLoader
from torch.autograd.gradcheck import gradcheck
from importlib.metadata import version
from importlib.util import find_spec
from packaging.version import Version
import autograd, dparallel

assert torch.__version__ == "2.13.0" == version("torch") == torch.version.__version__ and autograd.__version__ != "2.13.0"
assert torch.__version__ >= (2, 1) and torch.__version__ < "2.20" and Version(torch.__version__) < Version("2.13.1")
assert torch.__version__ > Version("2.9") and torch.torch_version.TorchVersion("2.13.0rc1") < torch.__version__
assert find_spec("torch") and find_spec("torch.nn") and find_spec("torch.nowhere") is None
assert nn is autograd.nn and F is autograd.nn.functional and dist is dparallel.distributed and torch.Tensor is autograd.Tensor
assert torch.autograd.gradcheck is gradcheck is autograd.gradcheck
from torch._tensor import Tensor
from torch._C import device
from torch.functional import einsum
from torch._C import _log_api_usage_once
assert Tensor is torch.Tensor and device is torch.device and einsum is torch.einsum and torch.functional.norm is torch.norm
print(sys.argv[1:])
'''
ABSENT = '''
import abc
import contextlib
import importlib
import pickle
import torch
from typing import NamedTuple
import torch.nowhere.deep as deep
from torch.distributed.nowhere import Remote
from torch.nn import Nowhere

def fails(error, function, words=""):
    try:
        function()
    except error as raised:
        assert words in str(raised), raised
    else:
        raise AssertionError(f"no {error}")

def annotated(x: Remote | None, y: "deep.Name" = None) -> Remote[int]: ...
class Derived(torch.nn.Module, Nowhere): ...
class Abstract(Nowhere, abc.ABC, flag=True): ...
class OfFields(NamedTuple):
    field: Remote | None = None
assert not isinstance(3, Remote) and {Remote: 1}[Remote] == 1
fails(NotImplementedError, lambda: Remote(1), "torch.distributed.nowhere.Remote is not in dparallel")
fails(NotImplementedError, lambda: Derived(), "torch.nn.Nowhere is not in dparallel: Derived needs it")
fails(NotImplementedError, lambda: Abstract(), "torch.nn.Nowhere is not in dparallel: Abstract needs it")
assert pickle.loads(pickle.dumps(Remote)) is Remote and OfFields().field is None
fails(NotImplementedError, lambda: Remote.method(), "has no 'method'")
fails(NotImplementedError, lambda: deep.call(), "torch.nowhere.deep.call")
assert not hasattr(Remote, "method") and not hasattr(torch, "nowhere_at_all") and not hasattr(torch.nn, "Nowhere")
fails(AttributeError, lambda: torch.nn.Nowhere, "Nowhere")
fails(ModuleNotFoundError, lambda: importlib.import_module("torch.other"))
found = []
try:
    from torch.nn import Fused
except (ImportError, AttributeError):
    found.append("except")
try:
    import torch.fused
except Exception:
    found.append("module")
with contextlib.suppress(ImportError):
    from torch.nn.functional import (
        relu,
        fused,
    )
    found.append("not reached")
try:
    from torch.nn import Other
except ValueError:
    pass
def function():
    from torch import inside
    return inside
try:
    function()
except ImportError:
    found.append("not reached")
assert found == ["except", "module"], found
'''


def run(tmp_path, text, *command, code=0):
    """The output of a script under a command that ends in "{}", or is run by this Python."""
    script = tmp_path / "script.py"
    script.write_text(text)
    done = subprocess.run([sys.executable, *command, str(script), "a", "-b"], capture_output=True, text=True, cwd=tmp_path,
                          timeout=100)
    assert done.returncode == code, done.stdout + done.stderr
    return done.stderr if code else done.stdout


@pytest.mark.parametrize("way", ["command", "line", "dprun"])
def test_torch_means_this_library(tmp_path, way):
    if way == "line":
        assert run(tmp_path, "import dparallel.torch_alias\n" + SCRIPT) == "['a', '-b']\n"
    elif way == "command":
        assert run(tmp_path, SCRIPT, "-m", "dparallel.torch_alias") == "['a', '-b']\n"
    else:
        assert run(tmp_path, SCRIPT, "-m", "launch", "-q", "-n", "2", "--torch-alias") == "['a', '-b']\n" * 2


def test_a_module_is_run_too(tmp_path):
    (tmp_path / "module.py").write_text(SCRIPT)
    assert run(tmp_path, "", "-m", "dparallel.torch_alias", "-m", "module").startswith("['")


def test_absent_names_fail_when_they_are_used(tmp_path):
    run(tmp_path, ABSENT, "-m", "dparallel.torch_alias")


def test_children_inherit_it(tmp_path):
    text = '''
import multiprocessing, subprocess, sys, threading
import torch
def child(queue):
    import torch
    queue.put(torch.__file__)
if __name__ == "__main__":
    import torch.multiprocessing as mp
    for method in ("spawn", "fork"):
        context = multiprocessing.get_context(method)
        queue = context.Queue()
        process = context.Process(target=child, args=(queue,))
        process.start()
        assert queue.get(timeout=60) == torch.__file__
        process.join()
    print(subprocess.run([sys.executable, "-c", "import torch; print(torch.__file__)"], capture_output=True, text=True).stdout)
'''
    assert "torch_alias" in run(tmp_path, text, "-m", "dparallel.torch_alias")


def test_nothing_else_installs_it(tmp_path):
    text = "import autograd, dparallel, dparallel.distributed, sys; assert not any('torch_alias' in x for x in sys.path + [*sys.modules])"
    run(tmp_path, text)


def test_another_torch_that_is_imported_is_an_error(tmp_path):
    (tmp_path / "torch.py").write_text("")
    assert "PyTorch itself was imported before, from" in run(tmp_path, "import torch, dparallel.torch_alias", code=1)


def test_the_metadata_has_the_level():
    from autograd.base.version import torch_level
    text = (ROOT / f"dparallel/torch_alias/path/torch-{torch_level}.dist-info/METADATA").read_text()
    assert f"\nVersion: {torch_level}\n" in text
