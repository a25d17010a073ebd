"""HIPS's package `autograd` beside ours: each installed over the other, either uninstalled, theirs in another folder."""

import importlib.metadata
import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
THEIRS = {                                           # as far as we meet it: what is imported when, and by which name
    "__init__.py": "from autograd.core import primitive_with_deprecation_warnings as primitive\n"
                   "from .differential_operators import grad, elementwise_grad\n",
    "core.py": "from .tracer import primitive\ndef make_vjp(f): return 'theirs'\nclass Node: pass\n"
               "primitive_with_deprecation_warnings = primitive\n",
    "tracer.py": "def primitive(f): return f\n",
    "differential_operators.py": "from .core import make_vjp\ndef grad(f): return make_vjp(f)\nelementwise_grad = grad\n",
    "extend.py": "from .core import Node, make_vjp\nfrom .tracer import primitive\n",
    "numpy/__init__.py": "from autograd.extend import primitive\nfrom .numpy_wrapper import *\n",
    "numpy/numpy_wrapper.py": "from numpy import tanh\n",
}
METADATA = {"dparallel-0.1.0": "Name: dparallel\nVersion: 0.1.0\n",
            "autograd-1.9.1": "Name: autograd\nVersion: 1.9.1\n",
            "lifelines-0.30": "Name: lifelines\nVersion: 0.30\nRequires-Dist: autograd>=1.5\n",
            "other-1": "Name: other\nVersion: 1\nRequires-Dist: Autograd; extra == 'x'\n"}

THREADS = """
import sys, threading, time
class Slow:
    def find_spec(self, name, path=None, target=None):
        if name == "autograd.version":               # late in our __init__.py
            time.sleep(0.2)
sys.meta_path.insert(0, Slow())
first = threading.Thread(target=__import__, args=("dparallel.autograd",))
first.start()
while "dparallel.autograd" not in sys.modules:
    time.sleep(0.001)
from dparallel.autograd import tensor                # waits, and gets the whole module
from dparallel.autograd.nn import Linear
first.join()
sys.meta_path.remove(next(finder for finder in sys.meta_path if isinstance(finder, Slow)))
"""
BOTH = THREADS + """
import pickle, sys
import dparallel.autograd as ag, dparallel
import dparallel.autograd.nn.functional as F
from dparallel.autograd import nn
import autograd, autograd.numpy, autograd.extend
assert autograd.grad(0) == "theirs" and autograd is not ag and "Node" in vars(autograd.core)
from autograd.core import primitive
assert primitive(3) == 3, primitive
x = ag.tensor([1.0, 2.0], requires_grad=True)
(x * x).sum().backward()
assert x.grad.tolist() == [2, 4] and type(x) is ag.Tensor and type(x).__module__ == "autograd.core.tensor"
model = dparallel.DataParallel(nn.Linear(2, 1))
model(ag.ones(3, 2)).sum().backward()
assert F is nn.functional is sys.modules["autograd.nn.functional"]
data = pickle.dumps((x.detach(), nn.Linear(2, 2), ag.Size([1])))
assert isinstance(pickle.loads(data)[0], ag.Tensor)
assert ag.show_config()["compiled core"] == COMPILED
import numpy
assert numpy.sum(ag.ones(2)) == 2
for name in ("tensor", "Tensor", "no_grad", "float32", "cat"):
    try:
        getattr(autograd, name)
    except ImportError as error:
        assert "HIPS's autograd 1.9.1" in str(error) and "lifelines 0.30" in str(error) and "other" not in str(error), error
        assert MEND in str(error) and "To have both: `import dparallel.autograd as ag` in scripts" in str(error), error
    else:
        raise AssertionError(name)
assert not hasattr(autograd, "nonsense") and not hasattr(autograd, "np")
import autograd.nn
assert autograd.nn is nn
"""
OURS = THREADS + """
import autograd as ag, dparallel, importlib, pickle
import dparallel.autograd.nn
assert dparallel.autograd.nn.__spec__.name == "autograd.nn" and importlib.reload(dparallel.autograd.nn.init) is ag.nn.init
assert dparallel.autograd is ag and dparallel.autograd.nn is ag.nn and ag.tensor([1.0]).tolist() == [1.0]
assert not hasattr(ag.core, "nonsense")
try:
    import autograd.numpy
except ImportError as error:
    assert all(text in str(error) for text in OVER), error
else:
    raise AssertionError
"""
BROKEN = """
try:
    import dparallel
except ImportError as error:
    assert "overwritten autograd/__init__.py; needed by" in str(error), error
    assert "dparallel. It cannot be imported: ModuleNotFoundError(" in str(error) and "named 'future'" in str(error), error
else:
    raise AssertionError
"""
OVER = {"ours over theirs": ("has overwritten autograd/__init__.py of HIPS's autograd 1.9.1; needed by lifelines 0.30",
                             "both: `pip install --force-reinstall --no-deps autograd==1.9.1`, and `import dpar"),
        "ours before theirs": ("/site), which Python finds before HIPS's autograd 1.9.1", "; needed by lifelines 0.30. To have both: put ",
                               "/before before ", "/site on the path, and `import dparallel.autograd as ag` in")}
GONE = """
import autograd
assert not hasattr(autograd, "tensor")
for name in ("dparallel", "dparallel.autograd", "autograd.nn"):
    try:
        __import__(name)
    except ImportError as error:
        assert "uninstalling HIPS's autograd deletes it. To have dparallel's: `pip install --force" in str(error), error
    else:
        raise AssertionError(name)
"""


def write(folder, files):
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)


def installed(folder):
    """Ours as a wheel has it, by links."""
    for package in ("autograd", "dparallel", "dparallel/autograd"):
        (folder / package).mkdir(parents=True)
        for path in (ROOT / package).iterdir():
            if path.name != "__pycache__" and path != ROOT / "dparallel" / "autograd":
                (folder / package / path.name).symlink_to(path)
    for package in ("launch", "dprun.py", "autograd_plugins"):
        (folder / package).symlink_to(ROOT / package)
    shutil.copy(ROOT / "autograd" / "__init__.py", folder / "dparallel" / "autograd" / "whole_init.py")


@pytest.mark.parametrize("state", ["ours", "theirs over ours", "ours over theirs", "uninstalled", "theirs before ours", "theirs broken", "ours before theirs"])
def test_states(state, tmp_path):
    site, before = tmp_path / "site", tmp_path / "before"
    installed(site)
    init = site / "autograd" / "__init__.py"
    if state in ("theirs over ours", "theirs broken", "uninstalled"):
        init.unlink()
    if state in ("theirs over ours", "theirs broken"):
        write(site / "autograd", {**THEIRS, "tracer.py": "import future\n"} if "broken" in state else THEIRS)
    elif state == "ours over theirs":
        write(site / "autograd", {name: text for name, text in THEIRS.items() if name != "__init__.py"})
    elif state in ("theirs before ours", "ours before theirs"):
        write(before / "autograd", THEIRS)
    if state not in ("ours", "uninstalled"):
        write(before if state == "ours before theirs" else site, {f"{name}.dist-info/METADATA": f"Metadata-Version: 2.1\n{text}" for name, text in METADATA.items()})
        (tmp_path / "my copy").mkdir()
        url = f"file://{tmp_path}/my%20copy"           # what pip notes for `pip install FOLDER`
        write(site, {"dparallel-0.1.0.dist-info/direct_url.json": f'{{"dir_info": {{}}, "url": "{url}"}}'})
    code = GONE if state == "uninstalled" else BROKEN if "broken" in state else OURS.replace("OVER", repr(OVER.get(state, ()))) if "ours" in (
        state, state.split()[0]) else BOTH
    import autograd
    code = code.replace("COMPILED", str(autograd.show_config()["compiled core"]))
    code = code.replace("MEND", repr("`pip uninstall -y autograd`. To have both" if state == "theirs before ours" else
                                     f"`pip uninstall -y autograd`, then `pip install --force-reinstall --no-deps '{tmp_path}/my copy'`. To"))
    packages = sysconfig.get_path("purelib")         # without -S the path of an editable installation of ours would be there
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, (site, before, packages) if state == "ours before theirs" else (before, site, packages)))}
    done = subprocess.run([sys.executable, "-S", "-c", code], env=environment, cwd=tmp_path, capture_output=True, text=True)
    assert not done.returncode, done.stderr


def test_published_package_is_as_assumed():
    """Where HIPS's is installed: `__init__.py` alone is in both, and no name of its core but one is a module of ours."""
    try:
        files = [str(file) for file in importlib.metadata.files("autograd")]
    except importlib.metadata.PackageNotFoundError:
        pytest.skip("HIPS's autograd is not installed")
    ours = {str(path.relative_to(ROOT)) for path in (ROOT / "autograd").rglob("*.py")}
    assert ours & set(files) == {"autograd/__init__.py"}
    text = next(file for file in importlib.metadata.files("autograd") if str(file) == "autograd/core.py").read_text()
    names = set(compile(text, "core.py", "exec").co_names)
    assert names & {path.stem for path in (ROOT / "autograd" / "core").iterdir()} == {"primitive"}


def test_dprun_check_tells(tmp_path, monkeypatch):
    """`dprun --check` prints these lines."""
    from launch import installation
    installed(tmp_path)
    monkeypatch.setattr(installation, "AUTOGRAD", str(tmp_path / "autograd"))
    monkeypatch.setattr(installation, "NATIVE", str(tmp_path / "other"))
    write(tmp_path / "autograd", {name: text for name, text in THEIRS.items() if name != "__init__.py"})
    monkeypatch.setattr(sys, "path", [str(tmp_path)])
    monkeypatch.delitem(sys.modules, "autograd")
    first, second = installation.faults()
    assert first.startswith("`autograd` is dparallel's here: installed later") and second.startswith("autograd's core is not")
    write(tmp_path / "other", {f"failed{installation.EXTENSION_SUFFIXES[0]}.txt": "no gcc\n"})
    assert "is not compiled (no gcc)" in installation.not_compiled()
