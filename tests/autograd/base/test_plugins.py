"""What autograd finds of another package: lazily, in any order of imports, installed or by PYTHONPATH; and without one."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
USES = {
    "dist": "import autograd.distributed as dist; assert dist.is_available() and dist.__name__ == 'dparallel.distributed'",
    "attribute": "import autograd; assert autograd.distributed.is_available()",
    "from": "from autograd.distributed import init_process_group, ReduceOp, TCPStore",
    "nn": "from autograd.distributed.nn.functional import all_reduce; import autograd.distributed.nn as n, dparallel; "
          "assert n is dparallel.distributed.nn",
    "ddp": "from autograd.nn.parallel import DistributedDataParallel as D; import dparallel; "
           "assert D is dparallel.DistributedDataParallel is dparallel.distributed.DistributedDataParallel",
    "ddp file": "from autograd.nn.parallel.distributed import DistributedDataParallel as D; import autograd as torch; "
                "assert D is torch.nn.parallel.DistributedDataParallel",
    "dp": "import autograd, autograd.nn as nn; m = nn.DataParallel(nn.Linear(2, 2)); import dparallel; "
          "assert isinstance(m, dparallel.DataParallel) and list(m.state_dict())[0] == 'module.weight'",
    "scatter": "from autograd.nn.parallel.scatter_gather import scatter_kwargs; from autograd.nn.parallel import gather",
    "sync": "import autograd; m = autograd.nn.SyncBatchNorm(3); import dparallel; assert type(m) is dparallel.SyncBatchNorm",
    "convert": "import autograd; m = autograd.nn.SyncBatchNorm.convert_sync_batchnorm(autograd.nn.BatchNorm2d(3)); "
               "import dparallel; assert type(m) is dparallel.SyncBatchNorm",
    "algorithms": "from autograd.distributed.optim import ZeroRedundancyOptimizer; from autograd.distributed.algorithms.join "
                  "import Join; from autograd.distributed.algorithms.ddp_comm_hooks import default_hooks as d, powerSGD_hook "
                  "as p; from autograd.distributed.algorithms.ddp_comm_hooks.default_hooks import fp16_compress_hook; "
                  "import dparallel; assert p.PowerSGDState is dparallel.hooks.PowerSGDState and Join is dparallel.Join",
    "sampler": "from autograd.utils.data.distributed import DistributedSampler as D; import autograd.distributed as dist; "
               "dist.init_process_group('gloo'); assert len(D(range(10))) == 10",
}
WITHOUT = """
import autograd, autograd.nn as nn
assert not autograd.distributed.is_available() and not autograd.distributed.is_initialized()
assert list(nn.DataParallel(nn.Linear(2, 2)).state_dict()) == ["module.weight", "module.bias"]
isinstance(nn.Linear(2, 2), nn.parallel.DistributedDataParallel)
for use in (lambda: nn.parallel.DistributedDataParallel(nn.Linear(2, 2)), lambda: nn.SyncBatchNorm(3),
            lambda: autograd.distributed.init_process_group, lambda: nn.DataParallel(nn.Linear(2, 2), device_ids=[0, 1]),
            lambda: nn.parallel.scatter):
    try:
        use()
    except (NotImplementedError, AttributeError) as error:
        assert "autograd_plugins" in str(error), error
    else:
        raise AssertionError("no error")
"""


def run(code, path, tmp_path):
    """In a process that finds packages only there, and in Python's own folders."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("OMPI", "PMI", "PYTHONPATH"))}
    done = subprocess.run([sys.executable, "-c", code], env={**environment, "PYTHONPATH": str(path)}, cwd=tmp_path,
                          capture_output=True, text=True)
    assert not done.returncode, done.stderr


@pytest.mark.parametrize("first", ["", "import dparallel; "], ids=["dparallel later", "dparallel first"])
def test_in_any_order_of_imports(first, tmp_path):
    """All uses, each with nothing imported before it that the others import: they are forked off one process."""
    code = "\n".join([
        "import os, autograd", first,
        f"for name, use in {USES!r}.items():",
        "    if (child := os.fork()) == 0:",
        "        try: exec(use, {}); os._exit(0)",
        "        except BaseException: import traceback; traceback.print_exc(); os._exit(1)",
        "    assert os.waitpid(child, 0)[1] == 0, name"])
    run(code, ROOT, tmp_path)


def test_nothing_is_looked_for_before_it_is_used(tmp_path):
    run("import sys, autograd, autograd.nn, autograd.nn.parallel, autograd.optim; "
        "assert not {'dparallel', 'autograd_plugins', 'importlib.metadata', 'autograd.distributed'} & set(sys.modules)",
        ROOT, tmp_path)


def test_importing_dparallel_does_not_start_mpi(tmp_path):
    run("import sys, dparallel; assert not any(m.startswith('mpi4py') for m in sys.modules)", ROOT, tmp_path)


def test_autograd_alone(tmp_path):
    """A copy of the package without its plugins; those that are installed are taken off the path."""
    (tmp_path / "alone").mkdir()
    shutil.copytree(ROOT / "autograd", tmp_path / "alone" / "autograd", ignore=shutil.ignore_patterns("__pycache__"))
    out_of_the_way = ("import os, sys; sys.path[:] = [p for p in sys.path if not os.path.isdir(os.path.join(p, 'autograd_plugins'))]\n"
                      "sys.meta_path[:] = [f for f in sys.meta_path if 'editable' not in repr(f)]; "
                      "sys.path_hooks[:] = [h for h in sys.path_hooks if 'editable' not in repr(h)]; "
                      "sys.path_importer_cache.clear()\n")
    run(out_of_the_way + WITHOUT, tmp_path / "alone", tmp_path)


def test_two_plugins_for_one_name_are_an_error(tmp_path):
    folder = tmp_path / "autograd_plugins"
    folder.mkdir()
    (folder / "other.py").write_text("PROVIDES = {'autograd.nn.SyncBatchNorm': 'other:Norm'}\n")
    run("import autograd\ntry: autograd.nn.SyncBatchNorm(3)\nexcept RuntimeError as e: assert 'two plugins' in str(e), e\n"
        "else: raise AssertionError", os.pathsep.join([str(tmp_path), str(ROOT)]), tmp_path)
