"""Every public name says what it computes, its arguments, its errors, and shows an example: test_docstring_examples.py runs it."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import public_docstrings

ROOT = Path(__file__).parent.parent


def test_no_public_name_lacks_a_part():
    found, count = public_docstrings.report()
    assert count > 3000 and not found, f"python tests/public_docstrings.py: {found}"


def test_the_check_sees_what_lacks():
    def bare(x, y):
        raise ValueError("no")

    assert public_docstrings.lacking("bare", bare) == ["all"]
    bare.__doc__ = "The sum.\n\nArgs:\n    x: one.\n"
    assert public_docstrings.lacking("bare", bare) == ["Args of y", "Raises", "Example"]
    bare.__doc__ += "    y (int): two.\n\nRaises:\n    ValueError: always.\n\nExample:\n    >>> bare\n"
    assert public_docstrings.lacking("bare", bare) == []


def test_one_line_is_enough_without_arguments_and_for_a_twin():
    def start_sum(x):
        """Start a sum."""

    def clear():
        """Clear it."""
        raise RuntimeError("no")

    assert public_docstrings.lacking("start_sum", start_sum) == ["Args of x", "Example"]
    start_sum.__doc__ = "Start a sum: see sum()."
    assert public_docstrings.lacking("start_sum", start_sum) == []
    start_sum.__doc__ = "Start a sum: see other()."                      # no twin of this name
    assert public_docstrings.lacking("start_sum", start_sum) == ["Args of x", "Example"]
    assert public_docstrings.lacking("clear", clear) == ["Raises"]
    clear.__doc__ = "Clear it. RuntimeError if it is empty."
    assert public_docstrings.lacking("clear", clear) == []


def total(x):
    """A twin for the test below."""


def more(x, y):
    """See total()."""


def test_a_twin_has_the_arguments_of_its_twin():
    assert public_docstrings.lacking("more", more) == ["Args of x, y", "Example"]            # total() has no y
    assert public_docstrings.lacking("total", total) == ["Args of x", "Example"]
    more.__signature__ = public_docstrings.inspect.signature(total)
    assert public_docstrings.lacking("more", more) == []


def test_a_class_documents_arguments_of_its_methods():
    class Pair:
        """Two numbers.

        Args:
            x: one.
        """

        def add(self, x, y):
            """Add.

            Example:
                >>> 1
            """

    assert public_docstrings.lacking("add", Pair.add, Pair) == ["Args of y"]
    assert public_docstrings.lacking("add", Pair.add) == ["Args of x, y"]


def test_the_check_sees_what_methods_lack():
    class Base:
        """Has an example.

        Example:
            >>> Base().twice(1), Base().half
        """

        def twice(self, x):
            """Two of x.

            Args:
                x: one.
            """

    class Derived(Base):
        """Nothing of its own."""

        def twice(self, x, y):
            """Two of x and y."""
            raise ValueError("no")

        def other(self):
            pass

    lacks = public_docstrings.method_lacks
    assert lacks(Base, "twice", Base.twice) == []
    assert lacks(Derived, "twice", Derived.twice) == ["Args of y", "Raises"]
    assert lacks(Derived, "other", Derived.other) == ["all"]
    Derived.other.__doc__ = "Another."
    assert lacks(Derived, "other", Derived.other) == []


def test_what_the_build_writes_is_complete_and_current():
    done = subprocess.run([sys.executable, "-m", "tools.write", "--check"], cwd=ROOT, text=True, capture_output=True)
    assert done.returncode == 0, f"run python -m tools.write\n{done.stdout}{done.stderr}"
    tracked = subprocess.run(["git", "ls-files", "*.pyi", "autograd/base/docstrings", "*/_docstrings.py", "docs/operations.md"], cwd=ROOT, text=True,
                             capture_output=True)
    assert tracked.returncode or tracked.stdout.split() == ["autograd/base/docstrings/__init__.py"]


def test_a_checkout_that_was_not_built_has_all_names(tmp_path):
    """On PYTHONPATH: with the docstrings of the code."""
    shutil.copytree(ROOT / "autograd", tmp_path / "autograd", ignore=shutil.ignore_patterns("*.so", "*.pyi", "_families.py", "__pycache__"))
    shutil.rmtree(tmp_path / "autograd/native", ignore_errors=True)
    for path in (tmp_path / "autograd/base/docstrings").glob("[a-z]*.py"):
        path.unlink()
    code = """if True:
        import sys, autograd as ag, autograd.nn.functional, autograd.linalg, autograd.fft, autograd.special
        names = {f"{name}.{n}" for name in ("", "Tensor", "nn.functional", "linalg", "fft", "special")
                 for n in dir(eval(f"ag.{name}".rstrip(".")))}
        print(ag.__file__, ag.ones(2).add_(1).sum().item(), *sorted(names), sep="\\n")"""
    bare, built = (subprocess.run([sys.executable, "-c", code], cwd=folder, text=True, capture_output=True, check=True,
                                  env={**os.environ, "DPARALLEL_PURE": "1"}).stdout.splitlines() for folder in (tmp_path, ROOT))
    assert bare[0].startswith(str(tmp_path)) and built[0].startswith(str(ROOT)) and bare[1] == "4.0"
    assert bare[2:] == built[2:] and len(bare) > 1500


def test_docstrings_are_there_before_anything_was_called():
    names = ["add", "Tensor.add_", "Tensor.T", "nn.functional.relu", "linalg.inv", "Tensor.max"]
    code = "import autograd as ag\n" + "\n".join(f"assert 'Example:' in ag.{name}.__doc__, {name!r}" for name in names)
    names = ["distributed.send", "Logger", "predict", "Checkpointer", "gather_for_metrics", "timeline"]
    code += "\nimport dparallel, dparallel.checkpoint\ndparallel.Checkpointer = dparallel.checkpoint.Checkpointer\n" + "\n".join(
        f"assert 'Example:' in dparallel.{name}.__doc__, {name!r}" for name in names)
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True)
