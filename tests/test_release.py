"""What a release rests on: CONTRIBUTING.md, "A release". The whole of it is `make release`; the long test here runs it."""

import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

tomllib = pytest.importorskip("tomllib", reason="Python 3.10 has no tomllib")
sys.path.insert(0, str(Path(__file__).parent.parent))
from tools import release  # noqa: E402

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())


def test_metadata():
    """License as an SPDX expression and without its old classifier; Pythons, URLs; builds have lower bounds, CI's have pins; one place of the version."""
    about = PROJECT["project"]
    assert about["license"] == "MIT" and about["license-files"] == ["LICENSE"] and (ROOT / "LICENSE").exists()
    classifiers = about["classifiers"]
    assert not any(name.startswith("License") for name in classifiers) and classifiers == sorted(classifiers)
    pythons = [name.rpartition(" ")[2] for name in classifiers if re.search(r":: 3\.\d+$", name)]
    wheels = PROJECT["tool"]["cibuildwheel"]
    assert [f"cp{python.replace('.', '')}-*" for python in pythons] == wheels["build"].split()
    assert about["requires-python"] == f">={pythons[0]}" and {"Source", "Issues", "Changelog"} <= about["urls"].keys()
    assert wheels["linux"]["archs"] == ["x86_64", "aarch64"] and wheels["macos"]["archs"] == ["x86_64", "arm64"]
    assert "tests/installed.py" in wheels["test-command"]
    bounds = [re.fullmatch(r"(\w+)>=([\d.]+)", requirement) for requirement in PROJECT["build-system"]["requires"]]
    assert all(bounds) and f"setuptools.__version__.partition(\".\")[0]) < {bounds[0][2]}" in (ROOT / "setup.py").read_text()
    if (ROOT / ".ci").exists():                      # not in the sdist
        pins = dict(re.findall(r"^(\w+)==([\d.]+)", (ROOT / ".ci" / "constraints.txt").read_text(), re.M))
        assert {bound[1] for bound in bounds} == pins.keys()
    assert about["dynamic"] == ["version", "readme"] and "version" not in about
    import autograd
    import dparallel
    version = (ROOT / "autograd" / "base" / "version.py").read_text()
    assert f'__version__ = "{autograd.__version__}"' in version and dparallel.__version__ == autograd.__version__


def test_a_page_names_every_extra():
    text = (ROOT / "docs/installing.md").read_text()
    for extra in PROJECT["project"]["optional-dependencies"].keys() - {"test", "docs", "yardstick"}:
        assert re.search(rf"`\.\[{extra}\]` \|.*\| \d+ more \|", text), extra


def test_what_the_sdist_must_have_is_there():
    assert [name for name in release.IN_SDIST if not (ROOT / name).exists()] == []


def test_a_build_has_nothing_of_an_earlier_one(tmp_path):
    """In a checkout `pip install .` finds the last one's build/lib. What it adds beside HIPS's package is there."""
    stale = [tmp_path / "lib" / name for name in ("autograd/core/gone.py", "dparallel/autograd/gone.pyi")]
    for path in stale:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("")
    subprocess.run([sys.executable, "setup.py", "-q", "egg_info", "-e", tmp_path, "build_py", "-d", tmp_path / "lib"],
                   cwd=ROOT, check=True, env={**os.environ, "DPARALLEL_PURE": "1"})        # extensions are no part of this, and take 90 s
    assert not any(path.exists() for path in stale)
    assert {path.name for path in (tmp_path / "lib").iterdir()} == {"autograd", "autograd_plugins", "dparallel", "dprun.py", "launch"}
    copy = tmp_path / "lib" / "dparallel" / "autograd"
    assert (copy / "whole_init.py").read_text() == (ROOT / "autograd" / "__init__.py").read_text()
    assert (copy / "nn" / "functional.pyi").read_text() == "from autograd.nn.functional import *\n"
    assert (tmp_path / "lib" / "autograd" / "core" / "graph.pxd").exists() and not list(tmp_path.rglob("*.so"))


@pytest.mark.parametrize("words", [["--short"], []], ids=["sdist", "all"])
def test_recipe(words, tmp_path):
    """Up to the upload. Minutes: where the tools are installed (`make release` does that)."""
    lacking = [name for name in release.TOOLS if importlib.util.find_spec(name) is None]
    if lacking:
        pytest.skip(f"the packages {', '.join(lacking)} are not installed")
    done = subprocess.run([sys.executable, "-m", "tools.release", "--out", str(tmp_path), *words],
                          capture_output=True, text=True)
    assert not done.returncode and "now: twine upload" in done.stdout, done.stdout + done.stderr
