"""docs/backward.md: the debugger stops where the page says and shows what it shows; the table names what is in PyTorch and here."""

import inspect
import json
import mmap
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))
from tools import lines  # noqa: E402

PAGE = lines.PAGE.read_text()
PURE = {**os.environ, "DPARALLEL_PURE": "1", "PYTHONPATH": str(ROOT)}


def blocks(heading, kind):
    section = PAGE.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    return re.findall(rf"^```{kind}\n(.*?)^```", section, re.S | re.M)


@pytest.mark.quick
def test_line_numbers_are_present():
    assert lines.files()[lines.PAGE] == PAGE, "run python -m tools.write"
    assert len(lines.REFERENCE.findall(PAGE)) == 22


@pytest.mark.quick
def test_lines_are_found_and_rewritten(monkeypatch, tmp_path):
    source = tmp_path / "a.py"
    source.write_text("def f():\n    one\n    two\n\n\nclass A:\n    def f(self):\n        two\n")
    page = tmp_path / "page.md"
    page.write_text("`A.f` [a.py:1](../a.py): `two`, `f` [a.py:9](../a.py)\n```pdb\nb a.py:9\n```\n")
    monkeypatch.setattr(lines, "ROOT", tmp_path)
    monkeypatch.setattr(lines, "PAGE", page)
    assert lines.files() == {page: "`A.f` [a.py:8](../a.py): `two`, `f` [a.py:1](../a.py)\n```pdb\nb a.py:1\n```\n"}
    for name, statement in (("B", ""), ("f", "three")):
        with pytest.raises(ValueError, match=r"docs/backward\.md: "):
            lines.line_of("a.py", name, statement)
    monkeypatch.setattr(lines, "PAGE", tmp_path / "none.md")
    assert lines.files() == {}


def test_the_debugger_shows_what_the_page_shows(tmp_path):
    (program,), (commands,), (shown,) = (blocks("In a debugger", kind) for kind in ("python", "pdb", "console"))
    (tmp_path / "loss.py").write_text(program)
    (line,) = blocks("In a debugger", "bash")
    assert line == "DPARALLEL_PURE=1 python -m pdb loss.py\n"
    done = subprocess.run([sys.executable, *line.split()[2:]], input=commands, cwd=tmp_path, env=PURE, text=True,
                          capture_output=True, timeout=120)
    output = re.sub(r"\((?:Pdb|com)\) ", "", done.stdout)
    stops = re.findall(r"^b (\S+):(\d+)$", commands, re.M)
    for number, (path, line) in enumerate(stops, 1):
        assert f"Breakpoint {number} at {ROOT / path}:{line}\n" in output, output + done.stderr
    assert output.partition(f"{stops[-1][0]}:{stops[-1][1]}\n")[2].partition("The program finished")[0] == shown


def test_every_stop_of_the_table_is_reached_with_its_variables(tmp_path):
    """By sys.settrace() at the file and line that each row names."""
    (program,) = blocks("In a debugger", "python")
    rows = [row for row in PAGE.partition("## In a debugger")[2].partition("```bash")[0].splitlines() if lines.REFERENCE.search(row)]
    stops = {}
    for row in rows:
        _, path, line, statement = lines.REFERENCE.search(row).groups()
        names = [name for name in re.findall(r"`([\w.]+)`", row.rpartition(" | ")[2]) if name not in ("up", "step", ".grad", "held")]
        stops[f"{ROOT / path}:{line}"] = names, statement
    assert len(stops) == 5
    script = f"""
import json, linecache, sys
stops = {stops!r}
seen = {{}}
def trace(frame, event, arg):
    key = f"{{frame.f_code.co_filename}}:{{frame.f_lineno}}"
    if event == "line" and key in stops:
        names, statement = stops[key]
        assert statement in linecache.getline(*key.rsplit(":", 1)[:1], frame.f_lineno)
        for name in names:
            eval(name, frame.f_globals, frame.f_locals)
        seen[key] = seen.get(key, 0) + 1
    return trace
import autograd
sys.settrace(trace)
exec({program!r})
sys.settrace(None)
print(json.dumps(seen))
"""
    done = subprocess.run([sys.executable, "-c", script], env=PURE, text=True, capture_output=True, timeout=120, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    # nodes; the pass; nodes; edges that lead to a node or leaf; leaves
    assert list(json.loads(done.stdout).values()) == [4, 1, 4, 5, 2]


def test_names_of_the_table_are_at_these_lines():
    """Found by inspect in the sources, which the compiled core hides."""
    named = [(name, path, int(line)) for name, path, line, statement in lines.REFERENCE.findall(
        PAGE.partition("## Where PyTorch's C++ is here")[2]) if not statement]
    assert len(named) == 17
    script = f"""
import importlib, inspect
for name, path, line in {named!r}:
    thing = importlib.import_module(path.removesuffix(".py").replace("/", "."))
    for part in name.split("."):
        thing = inspect.getattr_static(thing, part)
    assert inspect.getsourcelines(thing)[1] == line, (name, path, inspect.getsourcelines(thing)[1], line)
"""
    done = subprocess.run([sys.executable, "-c", script], env=PURE, text=True, capture_output=True, timeout=120)
    assert done.returncode == 0, done.stderr


def test_names_of_the_table_are_pytorchs():
    torch = pytest.importorskip("torch")
    table = PAGE.partition("## Where PyTorch's C++ is here")[2].partition("\n## ")[0]
    names = [name for row in table.splitlines() if row.startswith("| `") for name in re.findall(r"`(\w[\w:()]+)`", row.split(" | ")[0])]
    assert len(names) == 15
    missing = {"".join(f"{len(part)}{part}" for part in name.split("::") if part != "operator()") + "clE" * ("()" in name)
               if "::" in name else name for name in names}              # as mangled names have them: 6PyNode5apply
    folder = Path(inspect.getfile(torch)).parent / "lib"
    for library in [*folder.glob("libtorch_python.*"), *folder.glob("libtorch_cpu.*")]:
        with open(library, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as text:
            missing -= {symbol for symbol in missing if text.find(symbol.encode()) >= 0}
    assert not missing


def test_the_steps_in_the_architecture(tmp_path):
    """They stop in the functions that they name, in the order of the list above them."""
    (block,) = re.findall(r"^```text\n\$ DPARALLEL_PURE=1 (.*?)^```", (ROOT / "ARCHITECTURE.md").read_text(), re.S | re.M)
    commands = re.findall(r"^\(Pdb\) (.*?)(?:  .*)?$", block, re.M)
    assert len(commands) == 9
    (tmp_path / "loss.py").write_text("import autograd as ag\nx, w = ag.ones(2, requires_grad=True), ag.ones(2, requires_grad=True)\n"
                                      "y = x * w\ny.sum().backward()\n")
    done = subprocess.run([sys.executable, "-m", "pdb", "loss.py"], input="\n".join([*commands, *["continue"] * 7]), cwd=tmp_path,
                          env=PURE, text=True, capture_output=True, timeout=120)
    named = [command.rpartition(".")[2] for command in commands if command.startswith("break")]
    stops = re.findall(r"^(?:\(Pdb\) )?> \S+\(\d+\)(\w+)\(\)$", done.stdout.partition("Breakpoint 4")[2], re.M)
    node, begin, add, leaf = named
    # two calls, and between them the frame that `where` marks as a stop; the seed and the product's gradient; the leaves
    assert stops == [node, node, node, begin, add, add, add, leaf, add, leaf], done.stdout + done.stderr
    assert "MulBackward0 ((<AccumulateGrad object" in done.stdout
