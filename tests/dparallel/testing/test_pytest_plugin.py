"""The pytest plugin, by pytests of its own: variants, isolation, time limits, one traceback, no orphans, jobs of the user."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from dparallel.testing.ranks.worlds import requested_ranks

pytestmark = pytest.mark.jobs
ROOT = Path(__file__).parents[3]
pytest_plugins = ["pytester"]
HEAD = "import os, time, pytest, numpy as np\nfrom dparallel import world\n"


@pytest.fixture
def user(pytester, monkeypatch):
    """A user's project; the plugin as their pytest finds it once dparallel is installed."""
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")]))
    monkeypatch.setenv("PYTEST_ADDOPTS", "-p launch.pytest_plugin -p no:cacheprovider --color=no")
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    pytester.makeini("[pytest]\n")

    def run(text, *args, name="test_user.py"):
        if "hypothesis" not in text:                     # its plugin takes 1 s to import, in the session and in each rank
            args = ("-p", "no:hypothesispytest", *args)
        (pytester.path / name).write_text(HEAD + text)
        return pytester.runpytest_subprocess("-v", *args, timeout=240)

    run.pytester = pytester
    return run


def processes(marker):
    found = []
    for name in os.listdir("/proc"):
        try:
            if name.isdigit() and marker.encode() in (Path("/proc") / name / "environ").read_bytes():
                found.append(int(name))
        except OSError:
            pass
    return found


def gone(marker, seconds=60):
    end = time.monotonic() + seconds
    while processes(marker) and time.monotonic() < end:
        time.sleep(0.1)
    return not processes(marker)


def test_one_marker_runs_a_test_everywhere(user, monkeypatch):
    monkeypatch.setenv("RANKS_MARK", "everywhere")
    done = user("""
@pytest.fixture(scope="module")
def numbers():
    return [1.0, 2.0]

class TestIt:
    @pytest.mark.ranks
    @pytest.mark.parametrize("k", [1, 3])
    def test_sum(self, comm, k, numbers, tmp_path):
        total = comm.allreduce([np.array(numbers) * k for _ in comm.held])[0]
        assert total.tolist() == [k * comm.size, 2 * k * comm.size]

@pytest.mark.ranks(2, kinds=["network", "mpi"])
def test_rank(comm):
    assert comm.kind in ("threads", "network", "mpi") and comm.size == 2

def test_plain():
    pass

@pytest.mark.ranks(2, kinds="mpi")
def test_skipped(comm):
    pytest.skip("why not")

@pytest.mark.ranks(2, kinds="mpi")
@pytest.mark.skipif(True, reason="never")
def test_left_out(comm):
    assert False

@pytest.mark.xfail
@pytest.mark.ranks(2, kinds="mpi")
def test_expected(comm):
    assert comm.rank == 0
""")
    done.assert_outcomes(passed=18 + 2 + 1, skipped=2, xfailed=1)
    done.stdout.fnmatch_lines(["*TestIt::test_sum[[]mpi-3-1[]] PASSED*"])
    assert gone("RANKS_MARK=everywhere")


def test_failures_crashes_and_hangs_are_failures_of_one_test(user, monkeypatch):
    monkeypatch.setenv("RANKS_MARK", "isolation")
    done = user("""
@pytest.mark.ranks(2, kinds=("threads", "mpi"))
def test_fails(comm):
    print("printed before")
    comm.barrier()
    assert comm.rank == 0, "planted"

@pytest.mark.ranks(2, kinds="mpi")
def test_crashes(comm):
    if comm.rank == 1:
        os._exit(3)
    comm.barrier()

def where_it_hangs(comm):
    if comm.rank == 0:
        time.sleep(600)
    comm.barrier()

@pytest.mark.ranks(2, kinds=("devices", "threads", "mpi"), timeout=3)
def test_hangs(comm):
    where_it_hangs(comm)

@pytest.mark.ranks(2, kinds="mpi")
def test_good(comm):
    comm.barrier()
""")
    done.assert_outcomes(passed=1, failed=6)
    text = done.stdout.str()
    part = text[text.index("_ test_fails[mpi-2] _"):text.index("_ test_crashes[mpi-2] _")]
    assert part.count("AssertionError: planted") == 1 and part.count("rank 1 of 2 failed") == 1 and "printed before" in part
    assert "rank 1 of 2: AssertionError: planted" in text[text.index("short test summary"):]
    part = text[text.index("_ test_crashes[mpi-2] _"):]
    assert "ended in test_user.py::test_crashes[mpi-2], with exit code 3" in part
    part = text[text.index("_ test_hangs[mpi-2] _"):text.index("short test summary")]
    assert "took longer than 3 s on 2 ranks" in part and "rank 0 is at" in part and "in barrier" in part and "/pluggy/" not in part
    for kind in ("devices", "threads"):
        part = text[text.index(f"_ test_hangs[{kind}-2] _"):]
        assert "took longer than 3 s" in part[:300] and "time.sleep(600)" in part[:1200]
    assert gone("RANKS_MARK=isolation")


def test_an_async_test_does_not_pass_without_running(user):
    done = user("""
@pytest.mark.ranks(2, kinds=("threads", "mpi"))
async def test_never_awaited(comm):
    assert False
""")
    done.assert_outcomes(failed=2)
    done.stdout.fnmatch_lines(["*test_never_awaited[[]*[]] is `async def`, which no rank would run*"])


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_nothing_is_left_of_an_interrupted_session(user, monkeypatch, number):
    marker = f"RANKS_MARK=interrupted-{int(number)}"
    monkeypatch.setenv(*marker.split("="))
    path = user.pytester.path
    (path / "test_user.py").write_text(HEAD + """
@pytest.mark.ranks(2, kinds="mpi")
def test_waits(comm):
    open(f"begun-{comm.rank}", "w").close()
    time.sleep(600)
""")
    hears = lambda: signal.signal(signal.SIGINT, signal.SIG_DFL)       # also where this suite itself runs in the background
    session = subprocess.Popen([sys.executable, "-m", "pytest"], cwd=path, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                               preexec_fn=hears)
    end = time.monotonic() + 120
    while not ((path / "begun-0").exists() and (path / "begun-1").exists()) and session.poll() is None and time.monotonic() < end:
        time.sleep(0.1)
    assert session.poll() is None, session.communicate()[0]
    assert len(processes(marker)) >= 5                   # pytest, dprun, mpirun, two ranks
    session.send_signal(number)
    output, _ = session.communicate(timeout=200)
    assert number == signal.SIGKILL or "KeyboardInterrupt" in output, output
    assert gone(marker)


def test_the_first_failure_ends_what_other_ranks_would_wait_for(user, monkeypatch):
    """-x, a failing fixture, a rank that alone can't import, and a mistake of the marker."""
    monkeypatch.setenv("CI", "1")                        # where pytest's summary repeats the whole of a message
    done = user("""
if world().rank == 1:
    raise ImportError("planted")
@pytest.mark.ranks(2, kinds="mpi")
def test_a(comm):
    comm.barrier()
@pytest.mark.ranks(2, kinds="mpi")
def test_b(comm):
    comm.barrier()
@pytest.fixture
def broken():
    assert False, "broken fixture"
@pytest.mark.ranks(1, kinds=("threads", "mpi"))
def test_c(comm, broken):
    pass
""")
    done.assert_outcomes(failed=2, errors=2)
    text = done.stdout.str()
    assert text.count("ImportError: planted") == 1 and "rank 1 of 2: can't collect" in text
    assert "2 MPI ranks could not begin, see test_user.py::test_a[mpi-2]" in text
    assert text.count("AssertionError: broken fixture") >= 2


class Marked:
    """What the plugin asks of a test about its marker."""

    nodeid = "test_a"

    def __init__(self, *sizes, **settings):
        self.marker = pytest.mark.ranks(*sizes, **settings).mark

    def get_closest_marker(self, name):
        return self.marker


@pytest.mark.parametrize("marked, words", [(Marked(0), "sizes are whole numbers"), (Marked(2, kind="mpi"), "no argument 'kind'"),
                                           (Marked(2.5), "sizes are whole numbers"), (Marked(kinds="gpu"), "kinds are some of"),
                                           (Marked(timeout=-1), "timeout is a number"), (Marked(timeout="soon"), "soon")])
def test_a_wrong_marker_is_named(marked, words, pytestconfig):
    with pytest.raises(pytest.UsageError, match=f"test_a: @pytest.mark.ranks.*{words}"):
        requested_ranks(marked, pytestconfig)


def test_a_wrong_marker_ends_collection(user):
    done = user("@pytest.mark.ranks(0)\ndef test_a(comm):\n    pass\n", "--collect-only")
    assert done.ret != 0 and "test_user.py::test_a: @pytest.mark.ranks: sizes are whole" in done.stdout.str() + done.stderr.str()
    done = user("@pytest.mark.ranks\ndef test_a(world):\n    pass\n", "--collect-only")
    assert done.ret != 0 and "is for tests with an argument `comm`" in done.stdout.str() + done.stderr.str()


def test_the_users_own_job(user):
    """Under mpirun marked tests run on the real ranks, where the size is right; others are left out."""
    path = user.pytester.path
    (path / "test_user.py").write_text(HEAD + """
@pytest.mark.ranks
def test_any(comm):
    assert comm.kind == "mpi" and comm.size == 2
@pytest.mark.ranks(3)
def test_three(comm):
    assert False
def test_serial():
    assert False
""")
    done = subprocess.run([sys.executable, "-m", "launch", "-n", "2", "--threads", "1", "-m", "pytest", "-v"], cwd=path,
                          capture_output=True, text=True, timeout=240)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("1 passed, 1 skipped, 1 deselected") == 1 and "test_any[mpi-2]" in done.stdout


def test_hypothesis_runs_each_example_on_all_ranks(user):
    pytest.importorskip("hypothesis")
    done = user("""
from hypothesis import assume, given, settings, strategies as st
from dparallel.testing.strategies import pieces, shapes
SETTINGS = settings(deadline=None, max_examples=10, database=None, derandomize=True)

@pytest.mark.ranks(2)
@SETTINGS
@given(n=st.integers(1, 5), data=pieces(2))
def test_same(comm, n, data):
    assume(n != 3)
    everyone = comm.allgather_object([(n, data)] * len(comm.held))
    assert all(other == everyone[0] for other in everyone)
    assert comm.allreduce([np.ones(n) for _ in comm.held])[0].tolist() == [2.0] * n

@pytest.mark.ranks(2, kinds=("threads", "mpi"))
@SETTINGS
@given(n=st.integers(0, 100))
def test_one_rank_fails(comm, n):
    assert n < 10 or comm.rank == 0, f"too large on rank {comm.rank}"
    comm.barrier()
""")
    done.assert_outcomes(passed=3, failed=2)
    text = done.stdout.str()
    part = text[text.index("_ test_one_rank_fails[mpi-2] _"):text.index("short test summary")]
    assert "too large on rank 1" in part and "n=10" in part          # the smallest example, found on all ranks together


def test_what_ranks_cannot_share_is_refused(user):
    pytest.importorskip("hypothesis")
    done = user("""
from hypothesis import given, strategies as st

@pytest.mark.ranks(2, kinds=("threads", "mpi"))
@given(later=st.data())
def test_draws(comm, later):
    later.draw(st.integers())

@pytest.fixture
def rank_of_pair(comm):
    return comm.rank if comm.size == 2 else None

@pytest.mark.ranks(2, kinds=("threads",))
def test_fixture(rank_of_pair, comm):
    pass
""")
    done.assert_outcomes(failed=2, errors=1)
    text = done.stdout.str()
    assert text.count("TypeError: later=st.data() draws inside the test") >= 2
    assert "AttributeError: World(kind='threads', size=2) has no 'rank': fixtures get the kind and size" in text


def test_asserts_of_the_library_are_not_rewritten():
    """pytest marks what it has rewritten by a name, as in this file."""
    assert "@pytest_ar" in globals()
    assert not [name for name, module in sys.modules.items() if name.split(".")[0] in ("autograd", "dparallel") and "@pytest_ar" in vars(module)
                and name != "dparallel.testing.ranks.plugin"]


def test_the_door_imports_nothing(user):
    done = user("def test_plain():\n    pass\n", name="test_door.py")
    done.assert_outcomes(passed=1)
    code = "import sys, launch.pytest_plugin; assert not {'numpy', 'autograd', 'dparallel', 'mpi4py', 'pytest'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)
