"""The page of operations is the one that the code writes."""

import runpy
from pathlib import Path

DOCS = Path(__file__).parents[2] / "docs"


def test_the_page_of_operations_is_current():
    page = runpy.run_path(str(DOCS / "write_operations.py"))["page"]()
    assert (DOCS / "operations.md").read_text() == page, "run python docs/write_operations.py"
