"""A failed job has one report: the rank's own, or one line, instead of what mpirun and MPI print about it."""

import os
import re
import selectors
import subprocess
import sys
import threading

import pytest
from test_dprun import ROOT, dprun, environment

from launch import cli, mpirun, streams
from launch.hosts import Host, is_here, silent
from launch.messages import Messages

BOILERPLATE = re.compile(r"MPI_ABORT|prterun|mpirun's|Epoll|BAD TERMINATION|Abort\(|-{60}|={60}|[^\n\x20-\x7e]")
SCRIPT = """
import ctypes, os, signal, sys
import autograd as ag
from autograd import nn
from dparallel import DataParallel, world
comm = world()
model = DataParallel(nn.Sequential(nn.Linear(3, 2)), comm=comm)
def train(columns):
    model(ag.ones(4, columns)).sum().backward()
if comm.rank == 1:
    if sys.argv[1] == "raise": train(4)
    if sys.argv[1] == "kill": os.kill(os.getpid(), signal.SIGKILL)
    if sys.argv[1] == "crash": ctypes.string_at(0)
    if sys.argv[1] == "abort": __import__("mpi4py.MPI").MPI.COMM_WORLD.Abort(7)
    if sys.argv[1] == "C": ctypes.CDLL(None)._exit(77)
train(3)
"""


@pytest.fixture
def script(tmp_path):
    path = tmp_path / "script.py"
    path.write_text(SCRIPT)
    return path


@pytest.mark.parametrize("what, code, wanted", [
    ("raise", 1, [r"Traceback \(most recent call last\):", r'  File ".*/script.py", line 11, in <module>', r'    if sys.argv\[1\] == "raise": train\(4\)',
                  r'  File ".*/script.py", line 9, in train', r"    model\(ag.ones\(4, columns\)\).sum\(\).backward\(\)",
                  r"  inside autograd/nn/module.py:\d+, dparallel/model/data_parallel.py:\d+, .*autograd/ops/linalg/matmul.py:\d+",
                  r"RuntimeError: mat1 and mat2 shapes cannot be multiplied \(4x4 and 3x2\)", "dprun: rank 1 of 2 failed with exit code 1"]),
    ("kill", 137, [r"dprun: rank 1 of 2 was ended by signal 9 \(SIGKILL\), as by the kernel if memory ran out.*"]),
    ("crash", 139, ["Fatal Python error: Segmentation fault", "", r"Stack \(most recent call first\):", r'  File ".*ctypes.*", line \d+ in string_at',
                    r'  File ".*/script.py", line 13 in <module>', "dprun: rank 1 of 2 crashed"]),
    ("abort", 7, ["dprun: rank 1 of 2 called MPI_Abort with code 7.*"]),
    ("C", 77, ["dprun: (rank 1 of 2|a rank) ended with exit code 77, without a traceback.*"])])
def test_all_that_a_failed_job_prints(script, what, code, wanted):
    done = dprun("-n", 2, script, what)
    lines = [line for line in done.stderr.splitlines() if not re.fullmatch(r"[ ~^]+|  rank \d .*", line)]    # code's marks; positions
    assert done.returncode == code and not done.stdout, done
    assert len(lines) == len(wanted) and all(re.fullmatch(*pair) for pair in zip(wanted, lines, strict=True)), done.stderr
    assert not BOILERPLATE.search(done.stderr), done.stderr


def test_the_report_begins_a_line_below_a_progress_bar(tmp_path):
    (tmp_path / "bar.py").write_text("import sys\nsys.stderr.write('step 3 [==  ]')\nsys.stdout.write('half')\nsys.exit(sys.argv[1])\n")
    done = dprun("-n", 1, tmp_path / "bar.py", "no data")
    assert done.stdout == "half" and done.stderr == "step 3 [==  ]\nno data\ndprun: rank 0 of 1 failed with exit code 1\n"


def test_the_traceback_of_a_loaders_worker_is_reported_once(tmp_path):
    (tmp_path / "rows.py").write_text("from autograd.utils.data import DataLoader, Dataset\nclass Rows(Dataset):\n    def __len__(self):\n"
                                      "        return 2\n    def __getitem__(self, row):\n        raise OSError('no row')\n"
                                      "list(DataLoader(Rows(), num_workers=1))\n")
    text = dprun("-n", 1, tmp_path / "rows.py").stderr
    assert text.count("Traceback") == 2 and text.count("OSError: no row\n") == 1 and "direct cause" not in text
    assert text.index("list(DataLoader(") < text.index("Original Traceback (most recent call last):\n" f'  File "{tmp_path}/rows.py"')


def test_verbose_shows_mpiruns_messages_too(script):
    done = dprun("-n", 2, "--verbose", script, "kill")
    assert re.search(r"noticed that process rank 1|BAD TERMINATION", done.stdout + done.stderr) and "rank 1 of 2 was ended by signal 9" in done.stderr


def test_more_ranks_than_cores_are_said_to_share_them(tmp_path):
    def start(ranks):
        return subprocess.run([sys.executable, "-m", "launch", "-n", str(ranks), "-m", "platform"], capture_output=True, text=True, timeout=200,
                              env=environment()).stderr.splitlines()
    cores = mpirun.cores()
    one, more = start(1), start(cores + 1)
    assert len(one) == 1 and len(more) == 2
    assert re.match(rf"dprun: {cores + 1} ranks share {cores} cores? \(oversubscription\): .*; -n {cores} gives each rank a core", more[1])


def test_a_host_that_can_not_be_reached_is_named(script, tmp_path):
    ssh = tmp_path / "ssh"
    ssh.write_text('#!/bin/sh\ncase "$*" in *-oConnectTimeout=10*) ;; *) sleep 300 ;; esac\n'                  # a network that drops packets
                   'echo "ssh: connect to host there port 22: Connection refused" >&2\nexit 255\n')
    ssh.chmod(0o755)
    done = dprun("-n", 2, "-H", "localhost:1,10.77.0.9:1", "--ssh", ssh, script, "")
    last = done.stderr.splitlines()[-1]
    assert done.returncode not in (0, 124)
    assert last == f"dprun: host 10.77.0.9 can't be reached by {ssh} (Connection refused); `{ssh} 10.77.0.9 true` must succeed"
    assert not BOILERPLATE.search(done.stderr) and "Traceback" not in done.stderr, done.stderr
    assert silent([Host("127.0.0.2"), Host("localhost"), Host("10.77.0.9")], "false") == {"10.77.0.9": ""}
    assert is_here("127.0.0.2") and not is_here("10.77.0.9")


RULE = "-" * 74 + "\n"
ABORT = RULE + "MPI_ABORT was invoked on rank 1 in communicator MPI_COMM_WORLD\n  Proc: [[1,1],1]\n  Errorcode: 3\n\nNOTE: invoking ...\n" + RULE


def passed(monkeypatch, pieces, **given):
    """What a stream shows of these pieces, and the messages."""
    shown, messages = [], Messages(**given)
    monkeypatch.setattr(streams, "write", lambda target, data: shown.append(data))
    stream = streams.Stream(b"", 2, messages)
    for piece in pieces:
        streams.emit(stream, piece.encode())
    return b"".join([*shown, bytes(stream.rest)]).decode(), messages


def test_messages_are_found_in_pieces_and_other_text_passes(monkeypatch):
    text = "one\n" + ABORT + "\0" + "two\n" + RULE + "| a table of the user's |\n" + RULE + "[warn] Epoll MOD(1) on fd 20 failed.\n" + "the rest"
    wanted = "one\ntwo\n" + RULE + "| a table of the user's |\n" + RULE + "the rest"
    for size in (1, 7, 80, 1000):
        said, messages = passed(monkeypatch, [text[k:k + size] for k in range(0, len(text), size)])
        assert said == wanted and messages.text().startswith(ABORT) and messages.death({})["rank"] == "1"
    assert passed(monkeypatch, [text], verbose=True)[0] == text.replace("\0", "")
    assert passed(monkeypatch, [text[:150]])[0] == text[:150]               # a message that does not end
    assert Messages().death({}) == {}


@pytest.mark.parametrize("line, held", [
    ("[dp1:22093] plm:ssh: Warning: setpgid(22097,22097) failed in parent with errno=Permission denied(13)", True),
    ("[dp1:22093] plm:rsh: Warning: setpgid(22097,22097) failed in child with errno=Permission denied(13)", True),
    ("[dp1:22093] *** Process received signal ***", True), ("[warn] Epoll MOD(1) on fd 20 failed.", True),
    ("[mpiexec@dp1] match_arg (lib/utils/args.c:163): unrecognized argument", True), ("[proxy:0@dp1] HYD_pmcd: read error", True),
    ("Abort(7) on node 1 (rank 1 in comm 0): application called MPI_Abort", True),
    ("YOUR APPLICATION TERMINATED WITH THE EXIT STRING: Killed (signal 9)", True),
    ("[dp1:22093] my own words", False), ("plm:ssh: Warning: said by the user", False), ("see [a:1] *** and [b:2] plm:ssh: Warning: x", False)])
def test_lines_of_the_launcher_are_held_back_and_those_of_the_user_pass(monkeypatch, line, held):
    said, messages = passed(monkeypatch, ["before\n", f"{line}\n", "after\n"])
    assert said == ("before\nafter\n" if held else f"before\n{line}\nafter\n")
    assert messages.text() == (f"{line}\n" if held else "")
    assert passed(monkeypatch, [f"{line}\n"], verbose=True)[0] == f"{line}\n"


OPTIONS = re.compile(r"^  (-[\w-]+)", re.M)


def test_the_help_is_a_screen_and_the_topics_have_the_rest(monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "80")

    def said(*words):
        with pytest.raises(SystemExit) as ended:
            cli.main(list(words))
        assert ended.value.code == 0
        return capsys.readouterr().out

    short, whole = said("--help"), said("--help-all")
    assert short == said("-h") and 24 <= len(short.splitlines()) <= 40
    assert short.startswith("usage: dprun -n N [options] SCRIPT") and OPTIONS.findall(short)[:2] == ["-n", "-m"]
    parts = {name: OPTIONS.findall(said("--help", name)) for name in cli.TOPICS}
    assert sorted(option for part in parts.values() for option in part) == sorted(OPTIONS.findall(whole)) and len(parts["hosts"]) > 4
    assert all(re.search(rf"(?<!\S){option}(?![\w-])", short) for part in parts.values() for option in part)
    assert whole == cli.parser().format_help()


def test_the_reference_has_all_options():
    sys.path.insert(0, str(ROOT / "docs/site"))
    try:
        assert "--survive" in __import__("reference").command()
    finally:
        sys.path.remove(str(ROOT / "docs/site"))


@pytest.mark.parametrize("pieces, shown", [
    ((b"75 steps", b"\n"), b"75 steps\n"), ((b"75 steps",), b"75 steps"), ((b"a\n", b"\n"), b"a\n\n"),
    ((b"[x] NBC_Progress: an error 7\n", b"\n"), b""), ((b"a\n[x] NBC_Progress: an error 7\n\n",), b"a\n")])
def test_the_end_of_output_has_no_empty_line_more(pieces, shown):
    (source, end), (read, target) = os.pipe(), os.pipe()
    os.set_blocking(source, False)
    stream = streams.Stream(b"", target, Messages())
    for piece in pieces:                                             # each read by itself, as from a rank that writes without a buffer
        streams.emit(stream, piece)
    with selectors.DefaultSelector() as selector:
        selector.register(source, selectors.EVENT_READ, stream)
        ended = threading.Event()
        ended.set()
        streams.copy(selector, ended)
    os.close(target)
    assert os.read(read, 1000) == shown and (target in stream.messages.unfinished) is (not shown.endswith(b"\n") and shown != b"")
    for descriptor in (source, end, read):
        os.close(descriptor)
