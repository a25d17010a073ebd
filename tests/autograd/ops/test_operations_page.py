"""The page of operations says of each name what it computes."""

import re
from pathlib import Path


def test_the_page_of_operations_says_what_each_name_computes():
    page = (Path(__file__).parents[3] / "docs" / "operations.md").read_text()
    assert page.count("\n| `") > 700
    blank = re.findall(r"^\| `(\w+)`.*[^\\]\|\s*\|$", page, re.M)
    assert not blank, f"no docstring, and no formula in tools/operations.py: {blank}"
