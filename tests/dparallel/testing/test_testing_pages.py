"""The code of docs/testing.md and docs/convention.md runs, and prints what the pages say."""

import contextlib
import io
import os
import re
from pathlib import Path

import pytest

pytestmark = pytest.mark.jobs
ROOT = Path(__file__).parents[3]
pytest_plugins = ["pytester"]


def blocks(page):
    return re.findall(r"```(\w+)\n(.*?)```", (ROOT / "docs" / page).read_text(), re.S)


def plain(text):
    """Without the digits of numbers, which may differ in the last ones."""
    return re.sub(r"-?\d+\.\d+(e-?\d+)?", "#", text).split("\n")


@pytest.mark.parametrize("page", ["testing.md", "convention.md"])
def test_the_page_prints_what_it_says(page):
    names, printed, compared = {}, "", 0
    for kind, text in blocks(page):
        if kind == "text":
            assert plain(printed) == plain(text), printed
            compared += 1
        elif kind == "python" and not text.startswith("# test_"):
            with contextlib.redirect_stdout(io.StringIO()) as out:
                exec(compile(text, page, "exec"), names)
            printed = out.getvalue()
    assert compared == {"testing.md": 4, "convention.md": 2}[page]


def test_the_pages_tests_pass(pytester, monkeypatch):
    pytest.importorskip("hypothesis")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")]))
    for kind, text in blocks("testing.md"):
        if kind == "python" and text.startswith("# test_"):
            (pytester.path / text.split("\n")[0][2:]).write_text(text)
    done = pytester.runpytest_subprocess("-p", "launch.pytest_plugin", "-p", "no:cacheprovider", timeout=240)
    done.assert_outcomes(passed=9 + 6 + 2)
