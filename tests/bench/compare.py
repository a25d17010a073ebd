"""Two files of run.py or scaling.py (--json): `python tests/bench/compare.py old.json new.json`. Exit status 1 if a row got
worse beyond the spread of both measurements, uses a tenth more memory, or is missing."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

MEMORY = 1.1
NOISE = 0.03                             # what few rounds may differ by, however close they are together


def verdict(old: dict[str, Any], new: dict[str, Any]) -> str:
    """"worse", "better" or "same": the medians differ by more than noise and lie outside each other's 10th to 90th percentile."""
    if abs(new["ratio"] / old["ratio"] - 1) <= NOISE or old["low"] <= new["ratio"] <= old["high"] or new["low"] <= old["ratio"] <= new["high"]:
        return "same"
    return "better" if (new["ratio"] > old["ratio"]) == old["at_least"] else "worse"


def more_memory(old: dict[str, Any], new: dict[str, Any]) -> bool:
    """Beyond a tenth."""
    return bool(old["memory"] and new["memory"] and new["memory"] > MEMORY * old["memory"])


def compared(old: dict[str, Any], new: dict[str, Any]) -> list[tuple[str, str, bool]]:
    """(title, what is to be said, whether it is a regression) of each row of either."""
    before, after = ({r["title"]: r for r in result["rows"]} for result in (old, new))
    out = []
    for title in [*before, *(title for title in after if title not in before)]:
        if title not in after:
            out.append((title, "missing", True))
        elif title not in before:
            out.append((title, f"new: {after[title]['ratio']:.2f}", False))
        else:
            a, b = before[title], after[title]
            word, memory = verdict(a, b), more_memory(a, b)
            text = f"{a['ratio']:.2f} ({a['low']:.2f} to {a['high']:.2f}) -> {b['ratio']:.2f} ({b['low']:.2f} to {b['high']:.2f}) {word}"
            if memory:
                text += f", memory {a['memory']:.2f} -> {b['memory']:.2f} worse"
            out.append((title, text, memory or word == "worse"))
    return out


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("old", type=Path)
    parser.add_argument("new", type=Path)
    options = parser.parse_args()
    try:
        old, new = (json.loads(path.read_text()) for path in (options.old, options.new))
    except (OSError, ValueError) as error:
        parser.error(f"not a file of run.py or scaling.py (--json): {error}")
    for part in ("processor", "python", "torch"):
        if old["machine"][part] != new["machine"][part]:
            print(f"note: {part} was {old['machine'][part]}, is {new['machine'][part]}")
    found = compared(old, new)
    for title, text, bad in found:
        print(f"{'!' if bad else ' '} {title:34} {text}")
    worse = sum(bad for *_, bad in found)
    print(f"{worse} regression{'s' * (worse != 1)} in {len(found)} rows")
    return 1 if worse else 0


if __name__ == "__main__":
    raise SystemExit(main())
