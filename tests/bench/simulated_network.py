"""Collectives on simulated networks: how much longer they take than their schedules of rounds say.

    python tests/bench/simulated_network.py [--quick] [--write]

Needs SimGrid's smpicc and smpirun (Debian: python3-simgrid and libsimgrid-dev, 3.32). Simulates each algorithm's rounds
(dparallel/observe/prediction/schedules.py) as messages on fat trees with full bisection and on cubic tori, one rank a host, links of
12.5 GB/s and 1 us, and divides by the time of the same rounds with the simulator's own exchange of one pair. --write puts the
ratios, and those at sizes and numbers of hosts between (which the tests hold the interpolation against), into
dparallel/observe/prediction/contention.json; about 5 minutes. The protocols' factors are SimGrid's defaults.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

from runs import HERE, ROOT

from dparallel.observe.prediction.network import Network, contention
from dparallel.observe.prediction.schedules import Round, Schedule, schedule

TABLE = ROOT / "dparallel" / "observe" / "prediction" / "contention.json"
BANDWIDTH, LATENCY = 12.5e9, 1e-6                        # of one link
SIZES = (1 << 14, 1 << 17, 1 << 20, 1 << 23, 100_000_000)
RING_SIZES = tuple(1 << k for k in range(13, 29))        # its ratio depends on bytes / hosts, with steps
HOSTS = {"fat-tree": (16, 64, 512, 4096), "torus": (8, 64, 512, 4096)}
RING_HOSTS = (64,)
BETWEEN = {"fat-tree": ((256, 4 << 20), (1024, 25 << 20), (128, 1 << 18), (4096, 25 << 20)),
           "torus": ((128, 4 << 20), (1024, 25 << 20), (4096, 25 << 20))}
PAIR_SIZES = tuple(1 << k for k in range(4, 28, 2))
ALGORITHMS = ("rabenseifner", "recursive doubling", "ring")
MOST_ROUNDS = 96                                         # of a ring, whose rounds are alike
LIMIT = 240                                              # seconds of one simulation
SETTINGS = ("smpi/privatization:no", "smpi/simulate-computation:no", "contexts/stack-size:64",
            "smpi/shared-malloc-blocksize:134217728", "smpi/shared-malloc:global")


def shape(hosts: int) -> tuple[int, int, int]:
    """Three dimensions of a torus, as even as they get."""
    a = round(hosts ** (1 / 3))
    while hosts % a:
        a -= 1
    b = round((hosts // a) ** 0.5)
    while (hosts // a) % b:
        b -= 1
    return a, b, hosts // a // b


def platform(topology: str, hosts: int) -> str:
    """SimGrid's description of the network."""
    if topology == "torus":
        kind, parameters = "TORUS", ",".join(map(str, shape(hosts)))
    elif hosts <= 16:
        kind, parameters = "FAT_TREE", f"1;{hosts};1;1"
    else:
        kind, parameters = "FAT_TREE", f"2;16,{hosts // 16};1,16;1,1"
    return f"""<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <cluster id="all" prefix="h" suffix="" radical="0-{hosts - 1}" speed="1Gf" bw="{BANDWIDTH:.0f}Bps" lat="{LATENCY}s"
           topology="{kind}" topo_parameters="{parameters}" sharing_policy="SPLITDUPLEX"/>
</platform>
"""


class Simulator:
    """smpirun on one topology of so many hosts."""

    def __init__(self, folder: Path, topology: str, hosts: int) -> None:
        self.program = folder / "rounds"
        if not self.program.exists():
            subprocess.run(["smpicc", "-O2", str(HERE / "simulated_network.c"), "-o", str(self.program)], check=True)
        self.folder, self.topology, self.hosts = folder, topology, hosts
        self.platform = folder / f"{topology}{hosts}.xml"
        self.platform.write_text(platform(topology, hosts))

    def seconds(self, rounds: Schedule, on: list[int] | None = None) -> float:
        """Simulated seconds of the rounds, on all hosts or on some."""
        numbers = list(range(self.hosts)) if on is None else on
        hostfile = self.folder / f"{self.topology}{self.hosts}.hosts"
        hostfile.write_text("".join(f"h{n}\n" for n in numbers))
        words = [f"{r.distance}:{max(1, round(r.nbytes))}:{int(r.xor)}:{r.times}:{r.at_once}" for r in rounds]
        done = subprocess.run(["smpirun", "-np", str(len(numbers)), "-platform", str(self.platform), "-hostfile", str(hostfile),
                               *[f"--cfg={s}" for s in SETTINGS], "--log=root.thres:critical", str(self.program), *words],
                              capture_output=True, text=True, timeout=LIMIT)
        if done.returncode:
            raise RuntimeError(f"smpirun ended with {done.returncode}: {done.stderr[-800:]}")
        return float(done.stdout.split()[-1])

    def pair(self) -> list[tuple[float, float]]:
        """Bytes, and seconds in which two hosts exchange as many: neighbours on a torus, over the top of a fat tree."""
        other = 16 if self.topology == "fat-tree" and self.hosts > 16 else 1
        return [(n, self.seconds([Round(1, n, xor=True)], [0, other])) for n in PAIR_SIZES]


def available() -> bool:
    """Whether SimGrid is installed."""
    return shutil.which("smpicc") is not None and shutil.which("smpirun") is not None


def network_of(topology: str, pair: list[tuple[float, float]]) -> Network:
    """The simulated network as a table of pairs; Hockney's two numbers by its ends."""
    (_, alpha), (n, whole) = pair[0], pair[-1]
    return Network(latency=alpha, bandwidth=n / (whole - alpha), overhead=0.0, reduction=1e30, topology=topology, exchange=pair)


def rounds_of(algorithm: str, hosts: int, nbytes: float) -> Schedule:
    """The rounds to be simulated: of equal ones no more than MOST_ROUNDS."""
    out, left = [], MOST_ROUNDS
    for r in schedule("allreduce", hosts, nbytes, algorithm):
        if left:
            out.append(r._replace(times=min(r.times, left)))
            left -= out[-1].times
    return out


def ratio(simulator: Simulator, network: Network, algorithm: str, nbytes: float) -> float:
    """Simulated over computed time."""
    rounds = rounds_of(algorithm, simulator.hosts, nbytes)
    return simulator.seconds(rounds) / sum(network.round_seconds(r, simulator.hosts) for r in rounds)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="64 hosts only")
    parser.add_argument("--algorithm", action="append", choices=ALGORITHMS, help="these only; the others stay as they are")
    parser.add_argument("--write", action="store_true", help=f"into {TABLE.relative_to(ROOT)}")
    options = parser.parse_args()
    if not available():
        raise SystemExit("smpicc and smpirun are not installed: apt-get install python3-simgrid libsimgrid-dev")
    algorithms = options.algorithm or list(ALGORITHMS)
    found: dict[str, Any] = {"made_by": "tests/bench/simulated_network.py, SimGrid 3.32, links of 12.5 GB/s and 1 us",
                             "ratios": {topology: {} for topology in HOSTS}, "pairs": {}, "between": []}
    if options.algorithm:
        found = json.loads(TABLE.read_text())
        found["between"] = [b for b in found["between"] if b[2] not in algorithms]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for topology, counts in HOSTS.items():
            pair = Simulator(folder, topology, 64).pair()
            network = network_of(topology, pair)
            scale = network.latency * network.bandwidth
            print(f"{topology}: {network.latency * 1e6:.2f} us, {network.bandwidth / 1e9:.2f} GB/s", flush=True)
            found["pairs"][topology] = [[n, float(f"{s:.4g}")] for n, s in pair]
            table = found["ratios"][topology]
            for algorithm in algorithms:
                table[algorithm] = {}
                for hosts in (64,) if options.quick else RING_HOSTS if algorithm == "ring" else counts:
                    simulator, points = Simulator(folder, topology, hosts), []
                    for nbytes in RING_SIZES if algorithm == "ring" else SIZES:
                        start = time.perf_counter()
                        try:
                            points.append([round(nbytes / scale, 4), round(ratio(simulator, network, algorithm, nbytes), 4)])
                        except subprocess.TimeoutExpired:
                            print(f"{topology} {hosts} {algorithm} {nbytes}: over {LIMIT} s", flush=True)
                            continue
                        print(f"{topology} {hosts} {algorithm} {nbytes}: {points[-1][1]:.3f} "
                              f"({time.perf_counter() - start:.1f} s)", flush=True)
                    if points:
                        table[algorithm][str(hosts)] = points
            for hosts, nbytes in () if options.quick else BETWEEN[topology]:
                for algorithm in algorithms:
                    value = ratio(Simulator(folder, topology, hosts), network, algorithm, nbytes)
                    found["between"].append([topology, hosts, algorithm, nbytes, round(nbytes / scale, 4), round(value, 4)])
                    print(f"between: {found['between'][-1]}", flush=True)
    if options.write:
        TABLE.write_text(json.dumps(found, indent=None, separators=(",", ":")).replace('],"', '],\n"') + "\n")
        contention.__globals__["simulated"].cache_clear()
        for topology, hosts, algorithm, nbytes, size, value in found["between"]:
            said, *_ = contention(topology, algorithm, hosts, size)
            print(f"{topology} {hosts} {algorithm} {nbytes}: simulated {value:.3f}, interpolated {said:.3f}")


if __name__ == "__main__":
    main()
