"""The documentation: pictures, plots, names in tables, environment variables, and what `make docs` makes of the code.

The tutorial is run by test_tutorial.py. The site itself is built by `make docs`, and looked at by `make site` (tests/site/look.py).
"""

import contextlib
import importlib.util
import io
import re
import shutil
import sys
from pathlib import Path

import pytest

import autograd as ag
import dparallel
import dparallel.checkpoint
from autograd import nn

ROOT = Path(__file__).parent.parent
sys.path[:0] = [str(ROOT / "docs/site"), str(ROOT / "tests/site"), str(ROOT / "tests")]

import look  # noqa: E402
import pictures  # noqa: E402
import plots  # noqa: E402
import public_docstrings  # noqa: E402
import reference  # noqa: E402
import written  # noqa: E402

PRINTED = {"writing_functions.md": 2, "backward.md": 6, "porting.md": 4}


@pytest.mark.parametrize("page", PRINTED)
def test_the_page_prints_what_it_says(page):
    """Of a diff, what is left after it runs; what was there before is Python too."""
    names, printed, compared = {"__name__": "page"}, "", 0
    for kind, text in re.findall(r"```(\w+)\n(.*?)```", (ROOT / "docs" / page).read_text(), re.S):
        if kind == "text":
            assert printed == text
            compared += 1
        elif kind in ("python", "diff"):             # the others: test_backward_page.py
            if kind == "diff":
                before, text = ("".join(line[1:] for line in text.splitlines(True) if line[0] != other) for other in "+-")
                compile(before, page, "exec")
            with contextlib.redirect_stdout(io.StringIO()) as out:
                exec(compile(text, page, "exec"), names)
            printed = out.getvalue()
    assert compared == PRINTED[page]


def test_pictures_are_of_the_graphs_on_the_page():
    drawn = list(pictures.drawings())
    assert len(drawn) == 4
    for path, drawing in drawn:
        assert pictures.comment(drawing) in path.read_text(), "run python docs/site/pictures.py"


@pytest.mark.parametrize("name", plots.PLOTS)
def test_plots_are_of_the_tables(name):
    assert (ROOT / f"docs/pictures/{name}.svg").read_text() == plots.PLOTS[name](), "run python docs/site/plots.py"


def test_every_picture_is_on_a_page():
    shown = {picture for page in (ROOT / "docs").glob("*.md") for picture in re.findall(r"!\[.+?\]\(pictures/(.*?)\)", page.read_text())}
    assert shown == {path.name for path in (ROOT / "docs/pictures").iterdir()}


def right_hand_names():
    """(row, code span) of what is ours in the tables of porting.md: all columns but the first."""
    for line in (ROOT / "docs/porting.md").read_text().splitlines():
        if line.startswith("|") and not line.startswith("|---"):
            for cell in line.strip("|").split("|")[1:]:
                for span in re.findall(r"`([^`]+)`", cell):
                    yield line, span


def test_names_in_the_tables_of_porting_exist():
    """Each name and each keyword argument that is written as a call."""
    import dparallel.distributed as dist
    from launch.cli import parser
    model = dparallel.DataParallel(nn.Linear(1, 1), comm=dparallel.Devices(1))
    known = {"dparallel": dparallel, "dist": dist, "ag": ag, "autograd": ag, "nn": nn, "model": model, "comm": dparallel.Communicator,
             "loader": ag.utils.data.DataLoader, "run": importlib.import_module("dparallel.survival.run").Run, "net": nn.Module,
             "DataParallel": dparallel.DataParallel, "Checkpointer": dparallel.checkpoint.Checkpointer, "loss": ag.Tensor,
             "handle": dparallel.AllReduce.start(ag.ones(1), comm=dparallel.Devices(1))}
    attributes = {"comm": {"rank", "size"}}                          # set by the instance
    options, seen = parser().format_help(), 0
    for line, span in right_hand_names():
        if span.startswith("dprun"):
            for option in re.findall(r"(?<= )--?[\w-]+", span):
                assert re.search(rf"(?<![\w-]){option}\b", options), f"{option}: {line}"
            seen += 1
        for root, path in re.findall(rf"(?<![\w.\"])({'|'.join(known)})((?:\.\w+)*)", span):
            thing, owner = known[root], None
            for part in path.split(".")[1:]:
                if part in attributes.get(root, ()) or (root == "comm" and path.startswith(".node.")):
                    break
                owner, thing = thing, getattr(thing, part) if hasattr(thing, part) else importlib.import_module(f"{thing.__name__}.{part}")
            seen += owner is not None or root == "DataParallel"
        for call in re.findall(r"DataParallel\([^)]*?(\w+)=", span):
            assert call in dparallel.model.config.Config.__dataclass_fields__ or call in str(__import__("inspect").signature(dparallel.DataParallel)), line
    assert seen > 90, seen


def test_names_of_pytorch_in_porting_exist():
    torch = pytest.importorskip("torch")
    import torch.distributed as dist
    for line in (ROOT / "docs/porting.md").read_text().split("\n## Horovod")[0].splitlines():
        for root, path in re.findall(r"(?<![\w.])(dist|nn|torch)((?:\.\w+)+)", line.split("|")[1] if line.startswith("|") else ""):
            thing = {"dist": dist, "nn": torch.nn, "torch": torch}[root]
            for part in path.split(".")[1:]:
                thing = getattr(thing, part)


def test_horovods_calls_do_here_what_they_do_there():
    """The right column's calls give what Horovod's documentation says of the left ones: means, unless op= says otherwise."""
    rows = [line.split("|")[1:3] for line in (ROOT / "docs/porting.md").read_text().splitlines() if line.startswith("| `hvd")]
    calls = dict(pair for left, right in rows for pair in zip(re.findall(r"`(hvd\.\w+)\(", left), re.findall(r"`([^`]*\([^`]*\))`", right)))

    def rank(comm):
        def run(name):
            call = calls[f"hvd.{name}"].partition("= ")[2] or calls[f"hvd.{name}"]
            found = eval(call.replace(")", ", comm=comm)") if "apply(" in call or "start(" in call else call,
                         {"dparallel": dparallel, "comm": comm, "x": ag.tensor([1.0, 2.0]) * (comm.rank + 1), "obj": comm.rank, "splits": [1, 1]})
            found = found.wait() if name == "allreduce_async" else found
            return found.tolist() if isinstance(found, ag.Tensor) else found
        return {name: run(name) for name in expected[comm.rank]}

    both = {"allreduce": [1.5, 3.0], "allreduce_async": [1.5, 3.0], "allgather": [1.0, 2.0, 2.0, 4.0], "broadcast": [1.0, 2.0],
            "broadcast_object": 0, "allgather_object": [0, 1]}
    expected = [{**both, "alltoall": [1.0, 2.0], "reducescatter": [1.5]}, {**both, "alltoall": [2.0, 4.0], "reducescatter": [3.0]}]
    assert dparallel.run_ranks(2, rank) == expected


def test_every_environment_variable_is_on_the_page():
    """Names in the code: quoted, and of a kind that is a variable's."""
    page = (ROOT / "docs/environment.md").read_text()
    kinds = "AUTOGRAD|DPARALLEL|DPRUN|OMP|MKL|OPENBLAS|NUMEXPR|PMI|PMIX|OMPI|MPI|MV2|SLURM|SLURMD|PBS|LSB|LSF|FLUX|PALS|JSM|MASTER|LOCAL|" \
            "TORCHELASTIC|WORLD|GROUP|ROLE|HYDRA|XDG|GOMP|GLIBC|NO"
    no_variables = {"AUTOGRAD_DETAIL", "NO_LOOP"}                    # a colour's key, a name of autograd.kernels.loops
    for package in ("autograd", "dparallel", "launch"):
        for path in (ROOT / package).rglob("*.py"):
            for name in re.findall(rf'"((?:{kinds})_[A-Z0-9_]*[A-Z0-9])"', path.read_text()):
                family = name.startswith(("OMPI_", "PMIX_", "PRTE_")) and path.parent.name == "launch"
                assert name in page or name in no_variables or family, f"{path.relative_to(ROOT)}: {name} is not in docs/environment.md"


def test_environment_variables_on_the_page_are_in_the_code_with_their_defaults():
    from dparallel.comm import preemption
    from dparallel.comm.watchdog import stall
    from launch import cli, rank
    page = (ROOT / "docs/environment.md").read_text()
    code = "".join(path.read_text() for package in ("autograd", "dparallel", "launch") for path in (ROOT / package).rglob("*.py"))
    others = {"NO_COLOR", "TORCHELASTIC_ERROR_FILE"}                 # Python's own, in dprun --help; said to be not set
    for name in set(re.findall(r"\b[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+\b", page)) - others:
        assert name in code, f"docs/environment.md: {name} is not in the code"
    defaults = {row[0]: row[-1] for line in page.splitlines() if line.startswith("| ") for row in [[c.strip() for c in line.strip("|").split("|")]]}
    assert float(defaults["DPARALLEL_STALL_SECONDS"]) == cli.DEFAULT_STALL and "ten times" in defaults["DPARALLEL_STALL_ABORT"] and cli.STALLS == 10
    assert float(defaults["DPARALLEL_GRACE_SECONDS"]) == cli.DEFAULT_GRACE == preemption.GRACE
    assert float(defaults["DPARALLEL_FROZEN_SECONDS"]) == stall.FROZEN and '"29500"' in Path(rank.__file__).read_text()
    assert defaults["MASTER_ADDR, MASTER_PORT"] == "first host, 29500"


def test_every_public_module_has_a_page_in_the_reference():
    assert not reference.missing_modules(), "name them in docs/site/pages.txt"


def test_the_reference_has_every_public_name(tmp_path):
    found = reference.Reference()
    for room in public_docstrings.ROOMS:
        if not room.rpartition(".")[2][0].isupper() and reference.load(room):
            names = {f"{room}.{name}" for name, _ in public_docstrings.public(room) if not name.startswith("_")}
            assert names <= found.anchors(), names - found.anchors()
    names = {f"{module.__name__}.{name}" for module in (ag, nn, dparallel, dparallel.testing, dparallel.checkpoint) for name in module.__all__
             if not isinstance(getattr(module, name), type(ag)) and not name.startswith("_")} - {"autograd.dtypes", "autograd.extensions"}
    assert names <= found.anchors(), names - found.anchors()
    found.write(tmp_path)                                            # what is written parses
    wide = [line for path in tmp_path.rglob("*.py") for line in re.findall(r"^ *((?:>>>|\.\.\.) .*)", path.read_text(), re.M) if len(line) > 80]
    assert not [line for line in wide if "ranks_per_host" not in line]                     # a long string
    text = (tmp_path / "autograd/__init__.py").read_text()
    assert re.search(r"^def exp\(input: Tensor, \*, out: Tensor \| None=None\) -> Tensor:$", text, re.M)
    assert re.search(r"^    def relu_\(self\)", text, re.M) and "LazyMethod" not in text and "whose family" not in text


def test_docstrings_become_markdown():
    said = written.markdown_of("x[0] and *args, a_b, `x[0]*y`.\n\nArgs:\n    x: a <list>, 1 * 2\n\nExample:\n    >>> f(x)\n    [1]\n\n    >>> g(x)")
    assert said == ("x\\[0\\] and \\*args, a_b, `x[0]*y`.\n\nArgs:\n    x: a &lt;list>, 1 \\* 2\n\nExample:\n    ```pycon\n    >>> f(x)\n    [1]\n    ```\n\n\n"
                    "    ```pycon\n    >>> g(x)\n    ```")


def test_the_look_finds_planted_faults(tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "index.html").write_text('<h1 id="top">x</h1><a href="a/b.html#there">1</a><a href="a/b.html#nowhere">2</a><a href="#top">3</a>'
                                         '<a href="https://elsewhere">4</a><img src="none.svg">')
    (tmp_path / "a/b.html").write_text('<h2 id="there"></h2><a href="../index.html#top">5</a><a href="../c.html">6</a>')
    assert look.links(tmp_path) == ["a/b.html: no file ../c.html", "index.html: no place a/b.html#nowhere", "index.html: no file none.svg"]
    good = {"wide": [], "cut": [], "said": [], "left": [], "unloaded": [], "contrast": [[0.9, 9.0], [0.02, 8.0]]}
    hit = ["http://127.0.0.1/reference/data_parallel.html?h=x#dparallel.DataParallel", "http://127.0.0.1/a.html"]
    seen = {"results": {"a": {"360": good}}, "found": hit, "schemes": ["slate", "default"], "words": {"a": ["b", hit]}}
    assert look.judged(seen) == []
    for fault in ({"wide": ["400 pixels"]}, {"cut": ["900 pixels in 800: x"]}, {"said": ["error: x"]}, {"left": ["https://x"]}, {"unloaded": ["x.svg"]}, {"contrast": [[0.9, 2.0], [0.02, 8.0]]}):
        assert len(look.judged({**seen, "results": {"a": {"360": {**good, **fault}}}})) == 1
    assert len(look.judged({**seen, "found": [], "schemes": ["slate"]})) == 2 and len(look.judged({**seen, "words": {"a": ["b", []]}})) == 1


@pytest.mark.skipif(look.chromium() is None, reason="no chromium")
def test_the_look_finds_code_and_tables_that_are_cut(tmp_path):
    """Lines of 80 columns fit a laptop's screen, and one of 125 does not; on a phone both are cut unless they wrap."""
    style = "article { width: 60vw; font: 13.6px monospace } div { overflow-x: auto } code { display: block; overflow: auto }"
    page = "<!doctype html><style>{}</style><article><h1>x</h1><pre><code>{}</code></pre><div class=md-typeset__scrollwrap><table><td>{}</table></div></article>"
    for name, rule, code, cell in (("fits", "@media (max-width: 600px) { pre > code { white-space: pre-wrap; overflow-wrap: anywhere } }", 80, "x"),
                                   ("cut", "", 125, "x" * 400)):
        (tmp_path / f"{name}.html").write_text(page.format(style + rule, "x" * code, cell))
    shutil.copy(tmp_path / "fits.html", tmp_path / "index.html")
    seen = look.browse(tmp_path, ["fits.html", "cut.html"], look.chromium())["results"]
    assert [len(seen[page][width]["cut"]) for page in ("fits.html", "cut.html") for width in ("390", "1366")] == [0, 0, 2, 2], seen
