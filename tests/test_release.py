"""What a release rests on: CONTRIBUTING.md, "A release". The whole of it is `make release`; the long test here runs it."""

import importlib.util
import re
import subprocess
import sys
from pathlib import Path

import pytest

tomllib = pytest.importorskip("tomllib", reason="Python 3.10 has no tomllib")
sys.path.insert(0, str(Path(__file__).parent))
import release  # noqa: E402

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())


def test_metadata():
    """License as an SPDX expression and without its old classifier; Pythons, URLs; builds pinned; one place of the version."""
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
    assert all(re.match(r"\w+==[\d.]+", requirement) for requirement in PROJECT["build-system"]["requires"])
    assert about["dynamic"] == ["version", "readme"] and "version" not in about
    import autograd
    import dparallel
    version = (ROOT / "autograd" / "base" / "version.py").read_text()
    assert f'__version__ = "{autograd.__version__}"' in version and dparallel.__version__ == autograd.__version__


def test_readme_names_every_extra():
    text = (ROOT / "README.md").read_text() + (ROOT / "CONTRIBUTING.md").read_text()
    for extra in PROJECT["project"]["optional-dependencies"].keys() - {"test", "docs"}:
        assert re.search(rf"`\.\[{extra}\]` \|.*\| \d+ more \|", text), extra


def test_what_the_sdist_must_have_is_there():
    assert [name for name in release.IN_SDIST if not (ROOT / name).exists()] == []


@pytest.mark.parametrize("words", [["--short"], []], ids=["sdist", "all"])
def test_recipe(words, tmp_path):
    """Up to the upload. Minutes: where the tools are installed (`make release` does that)."""
    lacking = [name for name in release.TOOLS if importlib.util.find_spec(name) is None]
    if lacking:
        pytest.skip(f"the packages {', '.join(lacking)} are not installed")
    done = subprocess.run([sys.executable, str(ROOT / "tests" / "release.py"), "--out", str(tmp_path), *words],
                          capture_output=True, text=True)
    assert not done.returncode and "now: twine upload" in done.stdout, done.stdout + done.stderr
