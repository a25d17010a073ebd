"""The short examples for a few steps each, one after the other, in one process or on all ranks of a job.

    dprun -n 2 tests/examples/short_runs.py FOLDER      draws FOLDER/NAME.png for each
"""

import runpy
import sys
from pathlib import Path

BRIEF = {"vae": ("--epochs", 2), "wgan_gp": ("--steps", 12), "cartpole": ("--rounds", 8), "lbfgs": ("--steps", 5),
         "contrastive": ("--epochs", 2, "--rows", 300)}

if __name__ == "__main__":
    folder, examples = Path(sys.argv[1]), Path(__file__).parents[2] / "examples"
    sys.path.insert(0, str(examples))
    for name, brief in BRIEF.items():
        sys.argv = [f"{name}.py", *map(str, brief), "--plot", str(folder / f"{name}.png")]
        runpy.run_path(str(examples / f"{name}.py"), run_name="__main__")
