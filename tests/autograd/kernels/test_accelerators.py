"""Accelerated kernels agree with NumPy, and their absence is no error."""

import functools
import logging
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import autograd as ag
from autograd.kernels.accelerators import Accelerator, is_enabled
from autograd.kernels.onednn import onednn
from autograd.kernels.products import column_sums, product

needs_onednn = pytest.mark.skipif(onednn.library is None, reason="oneDNN is not installed or switched off")


@functools.cache
def numbers(rows, columns):
    """Drawn once: 4 million numbers for the largest take longer than all products with them."""
    return np.random.default_rng([rows, columns]).standard_normal((2 * rows, 2 * columns)).astype(np.float32)


def matrices(rows, columns, layout):
    x = numbers(rows, columns)
    return {"rows": np.ascontiguousarray(x[:rows, :columns]), "columns": np.asfortranarray(x[:rows, :columns]),
            "part": x[:rows, :columns], "every second": x[::2, ::2], "upside down": x[:rows, :columns][::-1],
            "repeated": np.broadcast_to(x[:1, :columns], (rows, columns))}[layout]


@pytest.mark.parametrize("left", ["rows", "columns", "part", "every second", "upside down", "repeated"])
@pytest.mark.parametrize("right", ["rows", "columns", "part", "repeated"])
@pytest.mark.parametrize("rows, inner, columns", [(64, 128, 96), (1, 1024, 1024), (1024, 1, 1024), (700, 800, 1)])
@pytest.mark.parametrize("avx512", [True, False])
def test_products_agree_with_numpy(left, right, rows, inner, columns, avx512, monkeypatch):
    if onednn.library is not None:
        monkeypatch.setattr(onednn.library, "avx512", avx512)
    x, y = matrices(rows, inner, left), matrices(inner, columns, right)
    expected = x.astype(np.float64) @ y.astype(np.float64)
    bound = 1e-6 * inner ** 0.5 * np.abs(x).max() * np.abs(y).max() * 4 + 1e-5 * np.abs(expected)
    assert (np.abs(product(x, y) - expected) <= bound).all()
    out = np.full((rows, columns), np.nan, np.float32)
    assert product(x, y, out) is out and (np.abs(out - expected) <= bound).all()


@pytest.mark.parametrize("dtype", [np.float64, np.complex64, np.int64, np.float16])
def test_other_dtypes_are_numpys(dtype):
    x = np.arange(100 * 90).reshape(100, 90).astype(dtype)
    assert (product(x, x.T) == x @ x.T).all()


def test_stacks_of_matrices():
    x, y = np.random.default_rng(0).standard_normal((2, 3, 80, 80)).astype(np.float32)
    np.testing.assert_allclose(product(x, y), x @ y, rtol=1e-4, atol=1e-4)


@needs_onednn
def test_nans_and_infinities_pass():
    x = np.ones((128, 128), np.float32)
    x[3, 4], x[5, 6] = np.nan, np.inf
    found = product(x, np.ones((128, 128), np.float32))
    assert np.isnan(found[3]).all() and np.isinf(found[5]).all() and np.isfinite(found[7]).all()


def test_a_broken_accelerator_is_said_so_once(monkeypatch):
    said = []
    monkeypatch.setattr(logging.getLogger("autograd"), "warning", lambda text, *values: said.append(text % values))
    monkeypatch.setenv("AUTOGRAD_ACCELERATORS", "all")

    def broken():
        raise OSError("no such library")

    accelerator = Accelerator("onednn", broken, lambda: "here", "`pip install x` brings it", "NumPy is used instead")
    assert accelerator.state() == "not loaded yet, here"
    assert accelerator.library is None and accelerator.library is None
    assert [line.count("no such library") for line in said] == [1] and accelerator.state() == "not used (OSError: no such library)"


@pytest.mark.parametrize("value, expected", [("all", True), ("off", False), ("loops", False), ("onednn", True),
                                             ("loops, onednn", True), ("", False), ("0", False)])
def test_the_switch(monkeypatch, value, expected):
    monkeypatch.setenv("AUTOGRAD_ACCELERATORS", value)
    assert is_enabled("onednn") is expected


def test_a_wrong_switch_is_an_error(monkeypatch):
    monkeypatch.setenv("AUTOGRAD_ACCELERATORS", "mkl")
    with pytest.raises(ValueError, match="'mkl' is not one of loops, onednn"):
        is_enabled("loops")


def test_switched_off_for_a_process():
    script = ("import autograd as ag; x = ag.ones(200, 200); print((x @ x)[0, 0].item());"
              "from autograd.kernels.onednn import onednn; print(onednn.state())")
    done = subprocess.run([sys.executable, "-c", script], env={**os.environ, "AUTOGRAD_ACCELERATORS": "off"}, text=True,
                          capture_output=True, check=True)
    assert done.stdout.split("\n")[:2] == ["200.0", "not used (switched off by AUTOGRAD_ACCELERATORS)"] and done.stderr == ""


def test_what_is_in_use_is_shown():
    shown = ag.show_config()
    assert (shown["autograd"], shown["interface"]) == (ag.__version__, f"PyTorch {ag.version.torch_level}")
    assert shown["numpy"] == np.__version__ and {"autograd", "python", "blas", "threads", "compiled loops", "onednn"} <= set(shown)
    assert f"numpy: {np.__version__}" in str(shown).splitlines()


KEPT = "from autograd.kernels.malloc import freed_memory_is_kept as kept; print(kept)"


@pytest.mark.parametrize("name, value", [("MALLOC_ARENA_MAX", "2"), ("GLIBC_TUNABLES", "glibc.malloc.check=0")])
def test_the_users_own_allocator_settings_win(name, value):
    done = subprocess.run([sys.executable, "-c", KEPT], env={**os.environ, name: value}, text=True, capture_output=True)
    assert done.stdout == "False\n", done.stderr


FLAT = """
import resource, sys
sys.path.insert(0, "tests/bench")
import trainings, autograd
step, batch = trainings.training(autograd, sys.argv[1], "autograd")
def resident():
    return int(open("/proc/self/statm").read().split()[1]) * resource.getpagesize() / 2**20
for _ in range(int(sys.argv[2]) // 4):
    step(*batch)
before = resident()
for _ in range(int(sys.argv[2])):
    step(*batch)
print(resident() - before)
"""


@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="Linux")
@pytest.mark.parametrize("case, steps", [("mlp 64-128-64-10", 1000), ("lstm", 200), ("gpt", 20)])
def test_memory_stays_flat(case, steps):
    """In one of three runs: the system may back memory by huge pages meanwhile, 2 MB each, and a leak shows every time."""
    grown = []
    while len(grown) < 3 and (not grown or grown[-1] >= 2):
        done = subprocess.run([sys.executable, "-c", FLAT, case, str(steps)], text=True, capture_output=True, check=True,
                              cwd=ROOT)
        grown.append(float(done.stdout))
    assert grown[-1] < 2, grown


def test_column_sums_of_halves_do_not_lose_rows():
    x = np.full((5000, 3), 0.1, np.float16)
    assert (column_sums(x) == np.float16(5000 * np.float32(np.float16(0.1)))).all() and column_sums(x).dtype == np.float16
    assert (column_sums(np.ones((7, 2), np.int64)) == 7).all()


# --- where oneDNN is looked for: an interpreter whose site-packages hold what the test puts there ---------------

ROOT = Path(__file__).parents[3]
ENVIRONMENT = {name: value for name, value in os.environ.items() if not name.startswith(("OMPI_", "PMI", "AUTOGRAD_", "PYTHON"))}
USES = """
import autograd as ag
print(ag.show_config()["onednn"])
x = ag.ones(200, 200)
print((x @ x)[0, 0].item())
print(ag.show_config()["onednn"])
"""


def bare(tmp_path, *folders, code=USES, **environment):
    """The lines that code prints, and what it says on standard error."""
    links = tmp_path / "packages"
    links.mkdir(exist_ok=True)
    for path in [Path(np.__file__).parent, Path(np.__file__).parents[1] / "numpy.libs", ROOT / "autograd"]:
        if path.exists() and not (links / path.name).exists():
            (links / path.name).symlink_to(path)
    roots = os.pathsep.join(str(path) for path in (*folders, links))
    done = subprocess.run([sys._base_executable, "-S", "-c", code], text=True, capture_output=True, cwd=tmp_path,
                          env={**ENVIRONMENT, "PYTHONPATH": roots, **environment})
    assert not done.returncode, done.stderr
    return done.stdout.splitlines(), done.stderr


def installed(site, record, library=None, content=None):
    """A distribution as pip leaves it: its folder of metadata, and its library."""
    folder = site / "onednn_cpu_gomp-2023.2.0.dist-info"
    folder.mkdir(parents=True)
    (folder / "METADATA").write_text("Metadata-Version: 2.1\nName: onednn-cpu-gomp\nVersion: 2023.2.0\n")
    if record:
        (folder / "RECORD").write_text(f"{record},sha256=x,1\n")
    if library is not None:
        library.parent.mkdir(parents=True, exist_ok=True)
        if content is None:
            library.symlink_to(onednn.library._name)
        else:
            library.write_text(content)
    return site


@needs_onednn
@pytest.mark.parametrize("site, record, library", [
    ("user/lib/python3.11/site-packages", "../../libdnnl.so.3", "user/lib/libdnnl.so.3"),                # --user, --prefix
    ("usr/lib/python3/dist-packages", "../../../share/dnnl/libdnnl.so.3", "usr/share/dnnl/libdnnl.so.3"),
    ("conda/lib/python3.11/site-packages", None, "conda/lib/libdnnl.so.3"),                              # no list of files
    ("target", "libs/libdnnl.so.3", "target/libs/libdnnl.so.3")])
def test_onednn_is_found_beside_its_distribution(tmp_path, site, record, library):
    found = installed(tmp_path / site, record, tmp_path / library)
    lines, said = bare(tmp_path, found)
    assert lines[:3] == [f"not loaded yet, {tmp_path / library}", "200.0", f"in use, {tmp_path / library}"] and said == ""


@pytest.mark.parametrize("record, content, reason", [
    (None, None, "no libdnnl.so.3, the library of oneDNN; `pip install onednn-cpu-gomp`"),
    ("../libdnnl.so.3", None, "onednn-cpu-gomp 2023.2.0 is installed, but not its libdnnl.so.3, which `pip install --target` leaves out"),
    ("libdnnl.so.3", "not a library", "OSError")])
def test_one_line_says_what_is_missing_and_what_brings_it(tmp_path, record, content, reason):
    site = tmp_path / "target"
    if record:
        installed(site, record, site / "libdnnl.so.3" if content else None, content)
    lines, said = bare(tmp_path, site)
    assert said.count("\n") == 1 and said.startswith(f"autograd: onednn is not used ({reason}") and "AUTOGRAD_ACCELERATORS=off" in said
    assert lines[1] == "200.0" and lines[2].startswith(f"not used ({reason}")
    assert content or lines[0] == lines[2]


@pytest.mark.parametrize("environment", [{"AUTOGRAD_ACCELERATORS": "off"}, {"AUTOGRAD_ACCELERATORS": "loops"}, {"PMI_RANK": "1"},
                                         {"SLURM_PROCID": "3"}, {"RANK": "1"}, {"OMPI_COMM_WORLD_RANK": "2"}])
def test_no_line_where_it_is_switched_off_or_another_rank_says_it(tmp_path, environment):
    assert bare(tmp_path, **environment)[1] == ""
