"""Every public name says what it computes, its arguments, its errors, and shows an example, which runs."""

import subprocess
import sys
from pathlib import Path

import public_docstrings

ROOT = Path(__file__).parent.parent
PROFILER = ["autograd.profiler", "autograd.cpu", "autograd.autograd.profiler"]     # autograd.cpu has its names of memory, too


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
    assert lacks(Derived, "other", Derived.other) == ["Example"]


def test_examples_print_what_they_say():
    text = public_docstrings.failures([room for room in public_docstrings.ROOMS if room not in PROFILER])
    assert not text, text


def test_examples_of_the_profiler_print_what_they_say():
    """In a process of their own: they record all threads, and look at all objects, of which a run of tests has many."""
    code = f"import public_docstrings; print(public_docstrings.failures({PROFILER}))"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT / "tests", text=True, capture_output=True)
    assert done.returncode == 0 and not done.stdout.strip(), done.stdout + done.stderr


def test_the_generated_docstrings_are_current():
    done = subprocess.run([sys.executable, "-W", "ignore", "docs/write_docstrings.py", "--check"], cwd=ROOT, text=True,
                          capture_output=True)
    assert done.returncode == 0, f"run python docs/write_docstrings.py\n{done.stdout}{done.stderr}"


def test_docstrings_are_there_before_anything_was_called():
    names = ["add", "Tensor.add_", "Tensor.T", "nn.functional.relu", "linalg.inv", "Tensor.max", "Tensor.shape"]
    code = "import autograd as ag\n" + "\n".join(f"assert 'Example:' in ag.{name}.__doc__, {name!r}" for name in names)
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True)
