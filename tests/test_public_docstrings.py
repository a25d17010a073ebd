"""Every public name says what it computes, its arguments, its errors, and shows an example, which runs."""

import doctest
import subprocess
import sys
import warnings
from pathlib import Path

import public_docstrings

ROOT = Path(__file__).parent.parent


def test_no_further_public_name_lacks_a_part():
    found, count = public_docstrings.report()
    more = {room: names for room, names in found.items() if len(names) > public_docstrings.OPEN.get(room, 0)}
    assert count > 1500 and not more, f"python tests/public_docstrings.py: {more}"


def test_the_check_sees_what_lacks():
    def bare(x, y):
        raise ValueError("no")

    assert public_docstrings.lacking("bare", bare) == ["all"]
    bare.__doc__ = "The sum.\n\nArgs:\n    x: one.\n"
    assert public_docstrings.lacking("bare", bare) == ["Args of y", "Raises", "Example"]
    bare.__doc__ += "    y (int): two.\n\nRaises:\n    ValueError: always.\n\nExample:\n    >>> bare\n"
    assert public_docstrings.lacking("bare", bare) == []


def test_examples_print_what_they_say():
    import autograd as ag

    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE, verbose=False)
    text, failed = [], []
    for name, doc in public_docstrings.examples():
        if "Example:" not in doc:                    # one that does not claim to run, of a name that is counted in OPEN
            continue
        test = doctest.DocTestParser().get_doctest(doc, {"ag": ag}, name, name, 0)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if runner.run(test, out=text.append).failed:
                failed.append(name)
    assert not failed, "".join(text)


def test_the_generated_docstrings_are_current():
    done = subprocess.run([sys.executable, "-W", "ignore", "docs/write_docstrings.py", "--check"], cwd=ROOT, text=True,
                          capture_output=True)
    assert done.returncode == 0, f"run python docs/write_docstrings.py\n{done.stdout}{done.stderr}"


def test_docstrings_are_there_before_anything_was_called():
    names = ["add", "Tensor.add_", "Tensor.T", "nn.functional.relu", "linalg.inv", "Tensor.max", "Tensor.shape"]
    code = "import autograd as ag\n" + "\n".join(f"assert 'Example:' in ag.{name}.__doc__, {name!r}" for name in names)
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True)
