"""Checks of an installed dparallel, in the environment of the Python that runs this: `python tests/installed.py [--pure]`.

cibuildwheel runs it for each wheel, and tests/release.py in bare environments without a compiler. Nothing of this checkout
is imported.
"""

import os
import platform
import subprocess
import sys
import tempfile
import warnings
from importlib import metadata
from pathlib import Path

sys.path[:] = [folder for folder in sys.path if not (Path(folder or ".") / "tests" / "installed.py").exists()
               and Path(folder).resolve() != Path(__file__).resolve().parent]
pure = "--pure" in sys.argv
with warnings.catch_warnings(record=True) as said:
    warnings.simplefilter("always")
    import autograd as ag
told = [str(warning.message) for warning in said if "core was not compiled" in str(warning.message)]
assert len(told) == pure, told                       # once: with the first import
assert ag.show_config()["compiled core"] is not pure and ("not compiled" in ag.show_config()) is pure, ag.show_config()

import dparallel  # noqa: E402
import dparallel.autograd as same  # noqa: E402
from autograd import nn, optim  # noqa: E402

assert same is ag and same.nn is nn
assert {dparallel.__version__, ag.__version__, metadata.version("dparallel")} == {ag.__version__}
about = metadata.metadata("dparallel")
assert "](docs/" not in about.get_payload() and "](https://" in about.get_payload(), "the index's page has links into the repository"
assert about["License-Expression"] == "MIT" and about.get_all("License-File") == ["LICENSE"], about
assert Path(ag.__file__).with_name("py.typed").exists() and Path(ag.__file__).with_suffix(".pyi").exists()

ag.manual_seed(0)
x = ag.randn(64, 2)
y = (x.norm(dim=1) < 1).long()
model = dparallel.DataParallel(nn.Sequential(nn.Linear(2, 16), nn.Tanh(), nn.Linear(16, 2)))
optimizer = optim.AdamW(model.parameters(), lr=0.05)
losses = []
for _ in range(60):
    loss = nn.functional.cross_entropy(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    losses.append(loss.item())
assert losses[-1] < losses[0] / 2, losses

# loops: of every level in the wheel, and each that this processor has runs when it is chosen
FOLDER = Path(ag.__file__).parent / "native"
levels = ["baseline", "avx2", "avx512"] if platform.machine().lower() in ("x86_64", "amd64") else ["baseline"]
assert [level for level in levels if [*(FOLDER / level).glob("loops.*")]] == ([] if pure else levels)
used = ag.show_config()["compiled loops"]
assert used.startswith("not used" if pure else "in use"), used
assert pure or all(file.stat().st_size < 2**20 for file in FOLDER.glob("*/loops.*")), "loops with debugging information?"
for level in [] if pure else levels[:1 + next(k for k, level in enumerate(levels) if level in used)]:
    said_by = subprocess.run([sys.executable, "-c", "import autograd as ag; ag.ones(100).half(); print(ag.show_config())"], check=True,
                             env={**os.environ, "AUTOGRAD_LOOPS": level}, cwd=FOLDER, capture_output=True, text=True).stdout
    assert f"in use, {level}" in said_by, said_by
with tempfile.TemporaryDirectory() as folder:
    ag.save(model.state_dict(), f"{folder}/model.safetensors")
    model.load_state_dict(ag.load(f"{folder}/model.safetensors"))
    again = subprocess.run([sys.executable, "-W", "always", "-c", "import autograd"], cwd=folder, capture_output=True, text=True)
    assert not again.stderr, again.stderr            # what was said is not said again
    dprun = subprocess.run([sys.executable, "-m", "dprun", "--help"], cwd=folder, capture_output=True, text=True)
    assert "usage: dprun" in dprun.stdout, dprun
print("dparallel", ag.__version__, "on Python", sys.version.split()[0], "compiled" if not pure else "pure", "works; loops:", used)
