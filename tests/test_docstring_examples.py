"""The examples of docstrings print what they say, with the compiled core and on each kind of processor."""

import subprocess
import sys
from pathlib import Path

import public_docstrings
import pytest

pytestmark = pytest.mark.processor
ROOT = Path(__file__).parent.parent
PROFILER = ["autograd.profiler", "autograd.cpu", "autograd.autograd.profiler"]     # autograd.cpu has its names of memory, too


def test_examples_print_what_they_say(only_what_is_new):
    text = public_docstrings.failures([room for room in public_docstrings.ROOMS if room not in PROFILER])
    assert not text, text


def test_examples_of_the_profiler_print_what_they_say():
    """In a process of their own: they record all threads, and look at all objects, of which a run of tests has many."""
    code = f"import public_docstrings; print(public_docstrings.failures({PROFILER}))"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT / "tests", text=True, capture_output=True)
    assert done.returncode == 0 and not done.stdout.strip(), done.stdout + done.stderr
