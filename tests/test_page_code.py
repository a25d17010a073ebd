"""Each block of Python on the pages of docs runs, in order, one namespace a page; sketches find what they leave out in STAGE.

Blocks that print are compared with what the page says by test_site.py and dparallel/test_testing_pages.py, the tutorials by
test_tutorial.py, the README by launch/test_readme.py, CONTRIBUTING's by test_recipes.py: ELSEWHERE.
"""

import contextlib
import importlib.util
import io
import re
import shlex
import shutil
import sys
import tokenize
import types
from pathlib import Path

import pytest

import autograd as ag
from launch.cli import parser

ROOT = Path(__file__).parent.parent
PAGES = {path.relative_to(ROOT).as_posix(): path.read_text() for path in sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"),
                                                                                 ROOT / "examples/README.md"])}
ELSEWHERE = {"README.md", "CONTRIBUTING.md", *(page for page in PAGES if page.startswith("docs/tutorial")), "docs/testing.md",
             "docs/convention.md", "docs/backward.md", "docs/writing_functions.md", "docs/distributed.md", "docs/integrations.md",
             "docs/porting.md"}
OPTIONS = parser().format_help() + " --once"
# what a sketch leaves out, small
STAGE = """
import numpy as np
import autograd as ag
import autograd.nn.functional as F
import dparallel
from autograd import nn, optim
from autograd.nn.utils import clip_grad_norm_
from autograd.utils.data import DataLoader, TensorDataset
from dparallel import *
from dparallel.checkpoint import Checkpointer
from dparallel.metrics import Accuracy

ag.manual_seed(0)
comm = world()
class Net(nn.Module):
    def __init__(self, hidden=4):
        super().__init__()
        self.layer1 = nn.Linear(3, hidden)
        self.layer2 = nn.Linear(hidden, 3)
    def forward(self, input):
        return self.layer2(self.layer1(input).relu())
net = model = Net()
x, y = ag.randn(4, 3), ag.tensor([0, 1, 2, 0])
data = test_set = TensorDataset(ag.randn(8, 3), ag.arange(8) % 3)
loader = DataLoader(data, batch_size=4)
optimizer = optim.SGD(net.parameters(), lr=0.1)
scheduler = optim.lr_scheduler.StepLR(optimizer, 1)
scaler = ag.GradScaler("cpu")
loss_of = lambda output: output.square().mean()
accuracy, test_rows, first, steps = 0.5, [0], 0, 1
def train_step(x, y):
    loss = F.cross_entropy(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss
def train(*_):
    return float(train_step(x, y))
def step(*_):
    train()
"""
# page: what it leaves out beside
MORE = {
    "docs/data_parallel.md": "micro_batches, last = [(x, y, ag.ones(4))] * 2, 1\n"
                             "def token_mean(z, y, mask): return (F.cross_entropy(z, y, reduction='none') * mask).sum() / mask.sum()\n"
                             "plain = loss_of\ndef loss_of(z, y=None): return plain(z)",
    "docs/collectives.md": "weights, other = [x], ag.relu\nargs, kwargs = (x,), {'mask': x}\nnet = Net()\n"
                           "def terms_of_my_rows(z, everyone): return (z @ everyone.t()).logsumexp(1)",
    "docs/comm_hooks.md": "model = DataParallel(Net())",
    "docs/checkpoints.md": "checkpoint = None",
    "docs/large_batches.md": "net = nn.Sequential(nn.Linear(3, 3), nn.BatchNorm1d(3))",
    "docs/profiling.md": "plain = loss_of\ndef loss_of(z, y=None): return plain(z)\nclass Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
                        "        self.layer1 = nn.Conv2d(1, 2, 3)\n    def forward(self, x): return self.layer1(x.reshape(-1, 1, 28, 28)).mean((2, 3))\n"
                        "model = Net()\nx, y = ag.randn(4, 1, 28, 28), ag.tensor([0, 1, 0, 1])\nloader = [(x, y)]\n"
                        "optimizer = optim.SGD(model.parameters(), lr=0.1)\nloss = plain(model(x))",
    "docs/surviving.md": "plain = data\ndef build():\n    return model, optimizer, DataLoader(plain, batch_sampler=GlobalBatchSampler(plain, 4))\n"
                         "def step(model, optimizer, x, y): train_step(x, y)",
    "docs/reproducible.md": "model = None",
}


def blocks(page):
    return re.findall(r"^```python\n(.*?)^```", PAGES[page], re.S | re.M)


@pytest.mark.parametrize("page", [page for page, text in PAGES.items() if "```python\n" in text and page not in ELSEWHERE])
def test_the_code_of_the_page_runs(page, tmp_path, monkeypatch, only_what_is_new):
    monkeypatch.chdir(tmp_path)
    module = types.ModuleType("page")
    monkeypatch.setitem(sys.modules, "page", module)           # classes can be pickled
    names = vars(module)
    exec(STAGE + MORE.get(page, ""), names)
    for number, block in enumerate(blocks(page)):
        if "tensorboard" in block and not any(map(importlib.util.find_spec, ("tensorboard", "tensorboardX"))):
            continue
        if re.search(r"\bdraw\(", block) and shutil.which("dot") is None:
            continue
        if re.search("(profile|predict)_memory", block) and not ag.show_config()["compiled core"]:
            continue
        with contextlib.redirect_stdout(io.StringIO()):
            exec(compile(block, f"{page}, block {number}", "exec"), names)


@pytest.mark.parametrize("page", [page for page, text in PAGES.items() if "```python" in text])
def test_code_is_as_wide_as_a_page_of_the_site(page):
    """80 columns; comments above their lines, not at the right. tests/site/look.py measures pages in a browser."""
    for block in re.findall(r"^```python\n(.*?)^```", PAGES[page], re.S | re.M):
        assert max(map(len, block.splitlines())) <= 80, max(block.splitlines(), key=len)
        with contextlib.suppress(tokenize.TokenError, SyntaxError):  # a sketch
            for token in tokenize.generate_tokens(io.StringIO(block).readline):
                assert token.type != tokenize.COMMENT or not token.line[:token.start[1]].strip(), token.line


def test_drawings_are_as_wide_as_a_page_of_the_site():
    drawings = [block for text in PAGES.values() for block in re.findall(r"^```text\n(.*?)^```", text, re.S | re.M) if re.search(r"[│└─]|  \| ", block)]
    assert len(drawings) > 4
    for drawing in drawings:
        assert max(map(len, drawing.splitlines())) <= 96, max(drawing.splitlines(), key=len)


def commands(text):
    """Lines, and code spans, that start dprun."""
    outside = re.sub(r"^```.*?^```", "", text, flags=re.S | re.M)
    return [re.findall(pattern, outside) for pattern in (r"(?m)^    (dprun [^\n]*)", r"`(dprun [^`\n]*)`")]


@pytest.mark.parametrize("page", [page for page, text in PAGES.items() if any(commands(text))])
def test_commands_have_options_that_are_there(page):
    lines, spans = commands(PAGES[page])
    for line in lines:
        words = shlex.split(line.partition(" > ")[0], comments=True)[1:]
        if words[0] != "--top":                                      # stands alone
            assert parser().parse_args([*words, *["train.py"] * (words[-1] == "--once")]).script, line
    for span in spans:
        for option in re.findall(r"(?<= )--?[a-z][\w-]*", re.split(r" [\w/]+\.py| -m ", span)[0]):
            assert re.search(rf"(?<![\w-]){option}(?![\w-])", OPTIONS), f"{page}: {span}"


def test_options_of_programs_are_in_their_sources():
    """`python tests/bench/run.py --json X`: the file, or what it imports from beside it, knows "--json"."""
    seen = 0
    for page, text in PAGES.items():
        for name, options in re.findall(r"(?:python|dprun[^`\n]*?)\s((?:tests|docs|examples)/[\w/]+\.py)((?:\s[^`\s#]+)*)", text):
            if not (ROOT / name).exists():                           # a recipe makes it: test_documents.py
                continue
            source = (ROOT / name).read_text()
            source += "".join(path.read_text() for path in (ROOT / name).parent.glob("*.py") if f"import {path.stem}" in source or f"from {path.stem} " in source)
            for option in re.findall(r"(?<!\S)--[a-z][\w-]*", options):
                assert f'"{option}"' in source, f"{page}: {name} {option}"
                seen += 1
    assert seen > 10, seen


def test_extras_that_pip_is_to_install_exist():
    known = set(re.findall(r"(?m)^(\w+) = \[", (ROOT / "pyproject.toml").read_text().partition("[project.optional-dependencies]")[2].partition("\n[")[0]))
    named = {extra for text in PAGES.values() for found in re.findall(r"pip install (?:-e )?'[\w./]*\[([\w,]+)\]'", text) for extra in found.split(",")}
    assert {"mpi", "fast"} <= named <= known, named - known
