"""Ranks, local devices and the network: `make scaling`, or `python tests/bench/scaling.py [--quick] [--json FILE]`.

Measured: weak scaling from one rank to two (as many rows each), one local device to two, gradient sums against a bare MPI
Allreduce, and what the smallest synchronised step costs. 4 and 8 ranks and devices share the cores, so only their results
are looked at. Writes docs/scaling.md, unless --case chooses; about 6 minutes on two idle cores, 1 with --quick.
"""

from __future__ import annotations

import json
import sys
from typing import Any

from rows import SCALING
from run import arguments, chosen, table
from runs import HERE, ROOT, last_line, launched
from table import conditions, markdown

PAGE = ROOT / "docs" / "scaling.md"
BELOW = "## Simulated networks"          # from here on the page is prediction.py's, and people's
PLACES = (1, 2, 4, 8)
EXACT = 1e-12                            # of weights in float64
SHARE, BEYOND = 0.9, 20.0                # of a bare Allreduce's bandwidth; us beyond a bare one


def results_of_many() -> list[dict[str, Any]]:
    """The largest difference to one process, for each number of ranks and of devices."""
    script = str(HERE / "agree.py")
    out = []
    for places in PLACES:
        ranks = launched([script], places)["differences"]
        devices = last_line([sys.executable, script, "--devices", str(places)])["differences"]
        out.append({"places": places, "ranks": max(ranks.values()), "devices": max(devices.values())})
        print(f"{places} ranks {out[-1]['ranks']:.1e}, {places} devices {out[-1]['devices']:.1e} from one process", flush=True)
        if max(out[-1]["ranks"], out[-1]["devices"]) > EXACT:
            raise SystemExit(f"{places} places do not give the weights of one process: {ranks}, {devices}")
    return out


def network(seconds: float, rounds: int, busy: bool) -> dict[str, Any]:
    """The run with the median share of bandwidth, and so with latency."""
    found = [launched([str(HERE / "network.py"), "--seconds", str(seconds), *["--fastest"] * busy], 2) for _ in range(rounds)]
    middle = rounds // 2
    cases = range(len(found[0]["bandwidth"]))
    return {"bandwidth": [sorted((f["bandwidth"][i] for f in found), key=lambda b: b["share"])[middle] for i in cases],
            "latency": sorted((f["latency"] for f in found), key=lambda r: r["beyond_us"])[middle]}


def network_text(found: dict[str, Any]) -> str:
    """The table, and a sentence on latency."""
    lines = ["| gradients of | bytes | buckets | ours, us | bare, us | share of bare bandwidth (to reach 0.9) |", "|---|---:|---:|---:|---:|---:|"]
    for b in found["bandwidth"]:
        lines.append(f"| {b['case']} | {b['bytes']:,} | {b['buckets']} | {b['ours_us']:.0f} | {b['bare_us']:.0f} | {b['share']:.2f}"
                     f"{' *' * (b['share'] < SHARE)} |")
    r = found["latency"]
    lines += ["", f"A step (forward and backward) of {r['case']} takes {r['bare_us']:.0f} us without DataParallel, {r['wrapped_us']:.0f} us "
              f"with it; a bare Allreduce of its gradients {r['allreduce_us']:.0f} us: {r['beyond_us']:.0f} us beyond it (to reach: "
              f"{BEYOND:.0f}){' *' * (r['beyond_us'] > BEYOND)}. Of them the exchange itself, from the first bucket's leaving to sums in "
              f".grad, takes {r['exchange_us']:.0f} us; the others are work for it in forward and backward."]
    return "\n".join(lines)


def page(result: dict[str, Any]) -> str:
    """docs/scaling.md."""
    many = [f"| {m['places']} | {m['ranks']:.1e} | {m['devices']:.1e} |" for m in result["places"]]
    return "\n".join([
        "# Scaling", "",
        "What was measured: the first three sections, and the left columns of the last table. What was simulated: the networks of "
        "64 to 4,096 hosts. What was predicted: the last table's right columns, and the replay of PyTorch's published steps.", "",
        "The first three sections are made by `python tests/bench/scaling.py` (`make scaling`). A star: not reached yet.", conditions(result), "",
        "## From one to two, measured", "",
        "Ranks: one rank's time over two ranks', each with as many rows, so 1 is perfect; two cores also share memory and "
        "caches, which no software undoes. Devices: one device's time over two devices' (threads), with the same 512 rows.", "",
        markdown(result, "scaling", ("1 place", "2 places", "speed")), "",
        "![One rank's time over two ranks'](pictures/one_to_two.svg)", "",
        "## The network", "",
        "Two ranks. Ours: all buckets as DataParallel starts and collects them, without computation to hide behind; bare: one "
        "blocking MPI Allreduce of the same bytes in place. In turn in one job, medians, the slower rank.", "",
        network_text(result["network"]), "",
        "## More places than cores, for their results only", "",
        "Largest difference of any weight to one process with all rows, after three steps in float64 of two MLPs and an LSTM; "
        "4 and 8 share two cores, so their times would say nothing.", "",
        "| places | ranks | local devices |", "|---:|---:|---:|", *many, "",
        "Bitwise the same weights on any of these: `DataParallel(..., reproducible=V)`, see [data_parallel.md](data_parallel.md). "
        "A picture of one step's overlap: `dprun -n 2 --timeline run.json.gz train.py`.", ""])


def main() -> None:
    options = arguments(__doc__).parse_args()
    rounds = options.rounds or (2 if options.quick else 5)
    seconds = 0.15 if options.quick else 0.5
    result = table(chosen(SCALING, options.case), rounds, seconds, options.busy)
    if not options.case:
        result["network"] = network(2 * seconds, min(rounds, 3), options.busy)
        print(network_text(result["network"]))
        result["places"] = results_of_many()
        _, mark, below = PAGE.read_text().partition(BELOW)
        PAGE.write_text(page(result) + "\n" + mark + below)
    if options.json:
        options.json.write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
