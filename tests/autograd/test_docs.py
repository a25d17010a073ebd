"""The page of operations is the one that the code writes, and says of each name what it computes."""

import re
import runpy
from pathlib import Path

DOCS = Path(__file__).parents[2] / "docs"


def test_the_page_of_operations_is_current():
    written = runpy.run_path(str(DOCS / "write_operations.py"))
    page = written["page"]()
    assert (DOCS / "operations.md").read_text() == page, "run python docs/write_operations.py"
    blank = re.findall(r"^\| `(\w+)`.*[^\\]\|\s*\|$", page, re.M)
    assert not blank, f"no docstring, and no formula in docs/write_operations.py: {blank}"
