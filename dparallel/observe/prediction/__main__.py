"""Predicts from a recorded step: the second half of `dprun --predict`, and for other questions about the same recording.

    python -m dparallel.prediction FOLDER --sizes 8,64,512 [--plot FILE]

FOLDER has trace.json and network.json, as `dprun --predict ... --keep FOLDER` leaves them.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from .network import Network
from .predict import HOOKS, predict


def caps(text: str) -> list[float | None]:
    """Numbers of MiB; 0 for the default."""
    return [float(part) or None for part in text.split(",")]


def sizes(text: str) -> list[int]:
    """Numbers of ranks, separated by commas."""
    return [int(part) for part in text.split(",")]


def main() -> int:
    """Print the prediction; the exit code."""
    parser = argparse.ArgumentParser(prog="python -m dparallel.prediction", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--sizes", type=sizes, default=[8, 64, 512], help="numbers of ranks (default: 8,64,512)")
    parser.add_argument("--network", help="a description or a .json file instead of the measured network")
    parser.add_argument("--caps", type=caps, default=[None, 1.0, 25.0],
                        help="bucket_cap_mb, 0: the default (default: 0,1,25)")
    parser.add_argument("--hooks", default="fp16,bf16", help="comm hooks (default: fp16,bf16)")
    parser.add_argument("--plot", metavar="FILE", help=".svg, .html, or .json for all numbers")
    options = parser.parse_args()
    try:
        network = Network.parse(options.network or str(options.folder / "network.json"))
        hooks = ["", *filter(None, options.hooks.split(","))] if options.hooks != "fp16,bf16" else list(HOOKS)
        found = predict(options.folder / "trace.json", sizes=options.sizes, network=network,
                        bucket_cap_mb=options.caps, hooks=hooks)
        print(found)
        if options.plot:
            found.save(options.plot)
    except (OSError, ValueError) as error:
        print(f"dprun: --predict: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
