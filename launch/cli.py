"""The command line of dprun."""

from __future__ import annotations

import argparse
import contextlib
import importlib.machinery
import importlib.util
import math
import os
import re
import shlex
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, NoReturn

from . import mpirun, private, slurm, timelines
from .hosts import answering, hosts_of, ranks_on
from .installation import faults
from .job import RENEWED, Job, run
from .mpirun import LaunchError, Mpi, changes_for, command, find, is_local, limits, memory_folder, remote, session, survives
from .prediction import check_prediction, recording, report, sizes
from .rank import DIRECTORY, INSTALL
from .report import progress
from .restarts import Restarts, States
from .top import describe, top

PREEMPTED = 75                                       # dparallel's: the ranks ended on request
WINDOWS = ("dprun has no mpirun to start on Windows. Supported there is one process, `python script.py`, with "
           "DataParallel on local devices (device_ids=[0, 1]) or ranks as threads (dparallel.run_ranks). MPI ranks need "
           "Linux, macOS or WSL")
DEFAULT_GRACE = 30.0                                 # torchrun's, and Slurm's KillWait
MOST_SPARES = 8
DEFAULT_STALL, STALLS = 60.0, 10                     # dparallel's: seconds; multiple at which a stall ends the job
TOPICS = {"common": "what most jobs need", "hosts": "where ranks run", "failures": "ranks that die, jobs that must end",
          "stalls": "ranks that wait", "timelines": "what ranks do, and when", "predictions": "the step on more ranks",
          "launching": "mpirun and the ranks' Python"}
INTERPRETER = re.compile(r"python[\d.]*(\.exe)?")      # what mpirun, but not dprun, is given before a script


def positive(text: str) -> int:
    """An integer of at least 1."""
    try:
        number = int(text)
    except ValueError:
        number = 0
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a positive number")
    return number


def number(text: str) -> int:
    """An integer of at least 0."""
    return 0 if text.strip() == "0" else positive(text)


def seconds(text: str) -> float:
    """A time above 0."""
    try:
        number = float(text)
    except ValueError:
        number = 0.0
    if not 0 < number < math.inf:
        raise argparse.ArgumentTypeError(f"{text!r} is not a positive number of seconds")
    return number


def steps(text: str) -> str:
    """The first step and the one after the last."""
    first, colon, last = text.partition(":")
    if not (colon and first.isdigit() and last.isdigit() and int(first) < int(last)):
        raise argparse.ArgumentTypeError(f"{text!r} must be the first step and the one after the last, such as 20:40")
    return text


def limit(text: str) -> str:
    """A time of at least 0, unparsed."""
    if text.strip("0.") or not text.strip("."):      # no zero
        seconds(text)
    return text


class Parser(argparse.ArgumentParser):
    """An argument parser whose errors are one line."""

    def error(self, message: str) -> NoReturn:
        """Print the error and how to see the options."""
        self.exit(2, f"dprun: {message}; see dprun --help\n")


class Alone(argparse.Action):
    """An option that is a command of its own: it must come first, without dprun's other options."""

    def __call__(self, parser: argparse.ArgumentParser, *rest: Any) -> NoReturn:
        """Raise an error: the option did not come first."""
        parser.error(f"{self.option_strings[0]} stands alone: dprun {self.option_strings[0]} [{self.metavar}] [--once]")


class Help(argparse.Action):
    """--help, --help TOPIC and --help-all."""

    def __call__(self, shown: argparse.ArgumentParser, namespace: argparse.Namespace, value: Any, option: str | None = None,
                 ) -> NoReturn:
        """Print the help and exit."""
        topics = () if option == "--help-all" else (value if value in TOPICS else "common",)
        parser(topics).print_help()
        shown.exit()


def parser(topics: Sequence[str] = ()) -> argparse.ArgumentParser:
    """The options of dprun; arguments after the script belong to the script. Its help shows some topics, default all."""
    names: dict[str, list[str]] = {}

    def topic(name: str) -> Callable[..., None]:
        group = p.add_argument_group(f"{name} ({TOPICS[name]})")

        def add(*options: str, **given: Any) -> None:
            names.setdefault(name, []).append(options[0])
            group.add_argument(*options, **given if name in (topics or TOPICS) else {**given, "help": argparse.SUPPRESS})

        return add

    p = Parser(prog="dprun", description="Run a Python script on N MPI ranks, as: dprun -n 2 train.py --epochs 5",
               usage="dprun -n N [options] SCRIPT [arguments of the script]\n       dprun --top [JOB]", allow_abbrev=False,
               add_help=False, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = topic("common")
    add("-n", "--np", type=positive, metavar="N",
        help="number of ranks (in a Slurm allocation: its tasks)")
    add("-m", action="store_true", dest="module", help="SCRIPT is a module name, as for python -m")
    add("--threads", type=positive, metavar="T",
        help="threads per rank (default: cores / ranks on a host, at least 1, unless OMP_NUM_THREADS is set)")
    add("--tag", action="store_true",
        help="prefix every line of output with [rank] (across hosts: with mpirun's tags)")
    add("--timeout", type=seconds, metavar="SECONDS", help="end the job after this time, with exit code 124")
    add("--check", action="store_true",
        help="check every collective, and end the job on a deadlock (DPARALLEL_CHECK=1); at the start, report "
             "each rank's host and cores, and limitations of this MPI")
    add("-q", "--quiet", action="store_true", help="do not print at the start what runs and when a stall ends it")
    add("--verbose", action="store_true", help="also show what mpirun prints about ranks that have ended")
    add = topic("hosts")
    add("-H", "--hosts", metavar="HOST[:SLOTS],...", help="hosts to run on")
    add("--hostfile", metavar="FILE", help="file of hosts to run on")
    add("--ssh", metavar="COMMAND", help="the command that starts ranks on other hosts (default: ssh)")
    add("--bind", choices=("none", "core", "socket"),
        help="bind each rank to --threads cores, or to a socket; --check shows it (default: none)")
    add("-x", action="append", default=[], metavar="NAME[=VALUE]", dest="exports",
        help="environment variable for the ranks")
    add("--print-sbatch", action="store_true", help="print a Slurm batch script that runs this command")
    add = topic("failures")
    add("--restarts", type=number, default=0, metavar="N",
        help="restart a failed job at most N times, on the hosts that still respond; stop after two jobs "
             "in a row without progress (dparallel.report_progress)")
    add("--survive", action="store_true",
        help="if a rank dies, continue with the others: for scripts that train under dparallel.survive, "
             "with Open MPI 5")
    add("--grow", action="store_true",
        help="with --survive: also start spare processes, which wait; one replaces each rank that dies")
    add("--spares", type=positive, metavar="S",
        help=f"number of spares (default with --grow: as many as ranks, at most {MOST_SPARES})")
    add("--frozen", type=limit, metavar="SECONDS",
        help="with --survive: kill a rank without a sign of life for this time, such as a stopped one; 0: never "
             "(default: 30)")
    add("--min-n", type=positive, default=1, metavar="K",
        help="the smallest number of ranks to continue or restart with")
    add("--grace", type=seconds, metavar="SECONDS",
        help="time for ranks in dparallel.graceful_exit() to finish a step and save after SIGTERM or SIGUSR1 "
             f"(default: {DEFAULT_GRACE:g}); a second SIGTERM ends them at once")
    add("--requeue", action="store_true",
        help="in a Slurm job whose ranks ended on request (exit code 75): scontrol requeue")
    add = topic("stalls")
    add("--stall", type=limit, metavar="SECONDS",
        help="report every rank's position after one has waited this long; 0: never (default: 60)")
    add("--stall-abort", action=argparse.BooleanOptionalAction,
        help="end the job then; --no-stall-abort: never (default: after ten times as long)")
    add = topic("timelines")
    add("--top", action=Alone, nargs="?", metavar="JOB",
        help="show the progress of a running job's ranks each second: steps, loss, waiting, memory. JOB is the "
             "process number of its dprun, or its folder; default: the only job, or a list. --once: show it once")
    add("--timeline", metavar="FILE",
        help="record a timeline of all ranks into FILE (.json.gz or .json), for ui.perfetto.dev; also if the "
             "job dies or stalls, or dprun gets SIGUSR2")
    add("--steps", type=steps, metavar="A:B", help="with --timeline: only steps A to B - 1 of the optimizer")
    add("--report", action="store_true",
        help="report at the end which ranks waited for which, and why; SCRIPT may be a timeline")
    add("--json", metavar="FILE", dest="report_json", help="with --report: write it into FILE as JSON")
    add("--html", metavar="FILE", dest="report_html", help="with --report: write it into FILE as a page")
    add = topic("predictions")
    add("--predict", type=sizes, metavar="N,N,...",
        help="record some steps on -n ranks (default: 2), end the job, and predict the step on that many ranks")
    add("--network", metavar="TEXT",
        help="with --predict: the cluster, as latency=10us,bandwidth=25Gbit/s,ranks_per_host=8,topology=fat-tree "
             "(or torus), or a .json file; missing values are measured")
    add("--plot", metavar="FILE", help="with --predict: write a plot, .svg or .html, or all numbers, .json")
    add("--keep", metavar="FOLDER",
        help="with --predict: keep the recording there, for python -m dparallel.prediction")
    add = topic("launching")
    add("--torch-alias", action="store_true",
        help="`import torch` imports dparallel on the ranks and in their child processes: for scripts written "
             "for PyTorch")
    add("--mpirun", metavar="PATH", help="the mpirun to use")
    add("--mpi-args", default="", metavar="ARGS", help="additional arguments for mpirun, in one string")
    add("--dry-run", action="store_true", help="print the command and its environment, run nothing")
    for name, given in (("-h", {"nargs": "?", "metavar": "TOPIC"}), ("--help-all", {"nargs": 0})):
        p.add_argument(name, *["--help"] * (name == "-h"), action=Help, help=argparse.SUPPRESS, **given)
    p.add_argument("script", metavar="SCRIPT", help=argparse.SUPPRESS)
    p.add_argument("args", nargs=argparse.REMAINDER, metavar="...", help=argparse.SUPPRESS)
    if topics:
        p.epilog = "\n".join(["dprun --help TOPIC and dprun --help-all explain the others:", *(
            f"  {name:11} {' '.join(names[name])}" for name in TOPICS if name not in topics)])
    return p


def main(argv: Sequence[str] | None = None) -> int:
    """Run dprun. Returns the job's exit code, or 2 if nothing could be started."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    try:
        if arguments[:1] == ["--top"]:
            return top(arguments[1:])
        options = parser().parse_args(arguments)
        if options.print_sbatch:
            arguments.remove("--print-sbatch")
            print(slurm.script(options, without_np(arguments), options.grace or DEFAULT_GRACE), end="")
            return 0
        return start(options)
    except LaunchError as error:
        print(f"dprun: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:                        # before there was a job; afterwards Job handles it
        return 130


def without_np(arguments: list[str]) -> list[str]:
    """dprun's arguments without the number of ranks, which the allocation defines."""
    own = len(arguments) - len(parser().parse_args(arguments).args)
    at = next((i for i, word in enumerate(arguments[:own]) if word in ("-n", "--np")), -1)
    return arguments if at < 0 else arguments[:at] + arguments[at + 2:]


def start(options: argparse.Namespace) -> int:
    """Check what can be checked, then run the job, and restart it if it fails and restarts were requested."""
    if timelines.is_report(options):
        return timelines.report(options.script, options)
    if sys.platform == "win32":
        raise LaunchError(WINDOWS)
    found = slurm.allocation()
    check_prediction(options)
    if options.np is None and options.predict and found is None:
        options.np = 2
    if options.np is None:
        if found is None:
            parser().error("the following arguments are required: -n/--np")
        options.np = sum(hosts.slots or 1 for hosts in hosts_of(options))
    times = slurm.started_by_srun()
    if times > 1:
        raise LaunchError(f"srun has started dprun {times} times; start it once, in the batch script or with "
                          "salloc: it starts the ranks on the hosts of the allocation")
    check(options)
    mpi = find(options.mpirun)
    check_survival(options, mpi)
    if options.predict and not options.dry_run:
        with recording(options) as folder:
            ended = run_once(options, mpi, Restarts(0), {})
            return ended.code or report(options, folder)
    if options.dry_run:
        changes = changes_for(options)
        print(" ".join(f"{name}={shlex.quote(value)}" for name, value in sorted(changes.items())),
              shlex.join(command(mpi, options, sorted(changes))))
        return 0
    with contextlib.closing(States()) as states:
        return run_all(options, mpi, states, found is not None and not (options.hosts or options.hostfile))


def run_all(options: argparse.Namespace, mpi: Mpi, states: States, by_slurm: bool) -> int:
    """Run the job and its restarts. Returns the exit code of the last one."""
    restarts, ranks, hosts = Restarts(options.restarts), options.np, hosts_of(options)
    while True:
        ended = run_once(options, mpi, restarts, states.next() if options.grow else {})
        if ended.code == RENEWED and options.grow:
            states.keep()
            print(f"dprun: no spare is left: the job continues in a new one, with {options.np} ranks", file=sys.stderr,
                  flush=True)
            continue
        if ended.code in (0, 2, PREEMPTED) or ended.asked:
            break
        refusal = restarts.refusal(ended.reached)
        if refusal:
            if refusal.strip():
                print(f"dprun: no restart: {refusal}", file=sys.stderr)
            break
        delay, restarts.count = restarts.delay, restarts.count + 1
        print(f"dprun: the job restarts in {delay:g} s (restart {restarts.count} of {restarts.limit})",
              file=sys.stderr, flush=True)
        time.sleep(delay)
        if remote(options):
            left = answering(hosts, options.ssh or "ssh", by_slurm)
            options.np = ranks_on(left, hosts, ranks)
            if not left or options.np < options.min_n:
                print(f"dprun: no restart: {len(left)} of {len(hosts)} hosts respond", file=sys.stderr)
                break
            if len(left) < len(hosts):
                options.hosts = ",".join(host.name + (f":{host.slots}" if host.slots else "") for host in left)
                options.hostfile = None
                print(f"dprun: {len(left)} of {len(hosts)} hosts respond: {options.np} of {ranks} ranks", file=sys.stderr)
    if ended.code == PREEMPTED and options.requeue and (wrong := slurm.requeue()):
        print(f"dprun: {wrong}", file=sys.stderr)
    return ended.code


class Ended(NamedTuple):
    """How a job ended: its exit code, whether by a signal to dprun or its time limit, and the last step it has saved."""

    code: int
    asked: bool
    reached: int | None


def run_once(options: argparse.Namespace, mpi: Mpi, restarts: Restarts, states: Mapping[str, str]) -> Ended:
    """Run one job. states: the variables that name the states passed between jobs under --grow."""
    changes = {**changes_for(options), **states, "TORCHELASTIC_RESTART_COUNT": str(restarts.count),
               "TORCHELASTIC_MAX_RESTARTS": str(restarts.limit), "DPARALLEL_TOKEN": private.token()}
    try:
        made = tempfile.TemporaryDirectory(prefix="dprun-", ignore_cleanup_errors=True)
    except OSError as error:
        raise LaunchError(f"no folder for temporary files ({error}); set TMPDIR to one that can be written") from error
    with made as folder, memory_folder() as memory:
        own = {} if remote(options) else session(folder, memory.path if is_local(options) else "", changes)
        words = [*["-m"] * options.module, options.script, *options.args]
        describe(folder, options.np, options.spares, words, remote(options))
        recorded = timelines.Recorded(options, folder, restarts.count) if options.timeline or options.report else None
        if recorded is not None:
            changes |= recorded.environment
        line = command(mpi, options, sorted(changes))
        if not options.quiet:
            print(f"dprun: {opening(options, mpi)}", file=sys.stderr, flush=True)
            cores, ranks = mpirun.cores(), options.np + options.spares
            if ranks > cores and is_local(options):
                print(f"dprun: {ranks} ranks share {cores} core{'s' * (cores > 1)} (oversubscription): at most {cores} run "
                      f"at a time, so timings mean little; -n {cores} gives each rank a core", file=sys.stderr, flush=True)
            if options.check:
                print(*(f"dprun: with {mpi.name} {line}" for line in limits(mpi)),
                      *(f"dprun: {line}" for line in faults()), sep="\n", file=sys.stderr, flush=True)
        job = Job(line, {**changes, **own, DIRECTORY: folder}, folder, options.timeout, mpi=mpi, grace=grace(changes),
                  spread=remote(options), survives=options.survive, recorded=recorded, lock=memory.lock,
                  verbose=options.verbose, ssh=options.ssh or "ssh",
                  hosts=hosts_of(options) if options.hosts or options.hostfile else ())
        code = run(job, mpi, options.np + options.spares, options.tag)
        if recorded is not None:
            recorded.finish()
        return Ended(code, job.signal is not None or job.timed_out, progress(folder))


def opening(options: argparse.Namespace, mpi: Mpi) -> str:
    """The message at the start."""
    hosts = len({host.name for host in hosts_of(options)}) if remote(options) else 1
    limit = float(options.stall or os.environ.get("DPARALLEL_STALL_SECONDS") or DEFAULT_STALL)
    never = not limit or options.stall_abort is False
    ends = limit * (1 if options.stall_abort or (options.check and options.stall) else STALLS)
    spares = f"and {options.spares} spare{'s' * (options.spares > 1)} " if options.spares else ""
    return (f"{options.np} rank{'s' * (options.np > 1)} {spares}{f'on {hosts} hosts ' if hosts > 1 else ''}by {mpi.name}; "
            + ("no stall ends the job" if never else f"a stall of {ends:g} s ends the job (--stall, --no-stall-abort)"))


def grace(changes: Mapping[str, str]) -> float:
    """The seconds that ranks have to end, from their environment."""
    text = changes.get("DPARALLEL_GRACE_SECONDS") or os.environ.get("DPARALLEL_GRACE_SECONDS")
    try:
        return seconds(text) if text else DEFAULT_GRACE
    except argparse.ArgumentTypeError as error:
        raise LaunchError(f"DPARALLEL_GRACE_SECONDS: {error}") from error


def check_survival(options: argparse.Namespace, mpi: Mpi) -> None:
    """Check the options of --survive and set the number of spares. LaunchError if they conflict or this MPI can't do it."""
    if not options.survive:
        for name in ("grow", "spares", "frozen"):
            if getattr(options, name) not in (None, False):
                raise LaunchError(f"--{name} requires --survive")
        options.spares = 0
        return
    if not survives(mpi):
        raise LaunchError(f"--survive requires Open MPI 5, but this is {mpi.name}: a job there ends with its first rank: "
                          "use "
                          "--restarts N and a dparallel.checkpoint.Checkpointer")
    if options.min_n > options.np:
        raise LaunchError(f"--min-n {options.min_n} exceeds the number of ranks, {options.np}")
    options.spares = options.spares or (min(options.np, MOST_SPARES) if options.grow else 0)


def check(options: argparse.Namespace) -> None:
    """LaunchError if the script, or what it requires, does not exist; nothing is imported."""
    if options.module:
        top = options.script.partition(".")[0]
        known = top in sys.builtin_module_names or importlib.machinery.PathFinder.find_spec(top, [os.getcwd(), *sys.path])
        if not known:
            raise LaunchError(f"no module {top!r} for {sys.executable}; pass one that python -m finds, or a script")
    elif INTERPRETER.fullmatch(os.path.basename(options.script)):
        raise LaunchError(f"{options.script!r} is an interpreter; dprun itself runs scripts with {sys.executable}: "
                          f"dprun -n {options.np} {shlex.join(options.args) or 'script.py'}")
    elif not os.path.isfile(options.script):
        raise LaunchError(f"no script {options.script!r} in {os.getcwd()}; pass the path of a Python file, or -m MODULE")
    if options.hostfile and not os.path.isfile(options.hostfile):
        raise LaunchError(f"no host file {options.hostfile!r} in {os.getcwd()}; pass a file with one host per line")
    if importlib.util.find_spec("mpi4py") is None:
        raise LaunchError(f"mpi4py is not installed for {sys.executable}; {INSTALL}")
