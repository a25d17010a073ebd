"""Ranks, local devices and the network: `make scaling`, or `python tests/bench/scaling.py [--quick] [--json FILE]`.

Measured: weak scaling from one rank to two (as many rows each), one local device to two, gradient sums against a bare MPI
Allreduce, and what the smallest synchronised step costs. 4 and 8 ranks and devices share the cores, so only their results
are compared. Writes a part of docs/benchmarks.md, unless --cases chooses; about 6 minutes on two idle cores, 1 with --quick.
"""

from __future__ import annotations

import json
import sys
from typing import Any

from rows import SCALING
from run import arguments, chosen, table
from runs import HERE, ROOT, last_line, launched
from table import conditions, markdown, write_between

PAGE = ROOT / "docs" / "benchmarks.md"
SIZES = (1, 2, 4, 8)
EXACT = 1e-12                            # of weights in float64
SHARE, BEYOND = 0.9, 20.0                # of a bare Allreduce's bandwidth; us beyond a bare one


def results_of_many() -> list[dict[str, Any]]:
    """The largest difference to one process, for each number of ranks and of devices."""
    script = str(HERE / "agree.py")
    out = []
    for size in SIZES:
        ranks = launched([script], size)["differences"]
        devices = last_line([sys.executable, script, "--devices", str(size)])["differences"]
        out.append({"size": size, "ranks": max(ranks.values()), "devices": max(devices.values())})
        print(f"{size} ranks {out[-1]['ranks']:.1e}, {size} devices {out[-1]['devices']:.1e} from one process", flush=True)
        if max(out[-1]["ranks"], out[-1]["devices"]) > EXACT:
            raise SystemExit(f"{size} ranks or devices do not give the weights of one process: {ranks}, {devices}")
    return out


def network(seconds: float, rounds: int, busy: bool) -> dict[str, Any]:
    """The run with the median share of bandwidth, and so with latency."""
    found = [launched([str(HERE / "network.py"), "--seconds", str(seconds), *["--fastest"] * busy], 2) for _ in range(rounds)]
    middle = rounds // 2
    cases = range(len(found[0]["bandwidth"]))
    return {"allreduce_us": found[middle]["allreduce_us"], "bandwidth": [sorted((f["bandwidth"][i] for f in found), key=lambda b: b["share"])[middle] for i in cases],
            "latency": sorted((f["latency"] for f in found), key=lambda r: r["beyond_us"])[middle]}


def network_text(found: dict[str, Any]) -> str:
    """The table, and a sentence on latency."""
    lines = ["| gradients of | bytes | buckets | ours, us | bare, us | share of bare bandwidth (to reach 0.9) |", "|---|---:|---:|---:|---:|---:|"]
    for b in found["bandwidth"]:
        lines.append(f"| {b['case']} | {b['bytes']:,} | {b['buckets']} | {b['ours_us']:.0f} | {b['bare_us']:.0f} | {b['share']:.2f}"
                     f"{' *' * (b['share'] < SHARE)} |")
    lines += ["", "| allreduce of | checked, us | `AllReduce`, us | bare, us | bare, new result, us |", "|---|---:|---:|---:|---:|"]
    for a in found["allreduce_us"]:
        lines.append(f"| {a['bytes']:,} bytes | " + " | ".join(f"{a[k][1]:.1f} ({a[k][0]:.1f} to {a[k][2]:.1f})"
                                                            for k in ("ours", "function", "bare", "bare_new")) + " |")
    r = found["latency"]
    lines += ["", f"A step (forward and backward) of {r['case']} takes {r['bare_us']:.0f} us without DataParallel and {r['wrapped_us']:.0f} us "
              f"with it. A bare Allreduce of its gradients takes {r['allreduce_us']:.0f} us, so the overhead is {r['beyond_us']:.0f} us"
              f"{' *' * (r['beyond_us'] > BEYOND)} (to reach: {BEYOND:.0f}). The exchange itself, from the first launch to sums in .grad, "
              f"takes {r['exchange_us']:.0f} us; the rest is spent in forward and backward."]
    return "\n".join(lines)


def page(result: dict[str, Any]) -> str:
    """The part of docs/benchmarks.md."""
    many = [f"| {m['size']} | {m['ranks']:.1e} | {m['devices']:.1e} |" for m in result["sizes"]]
    return "\n".join([
        conditions(result), "", "### One to two", "", markdown(result, "scaling", ("one", "two", "speedup")), "",
        "![One rank's time over two ranks'](pictures/one_to_two.svg)", "", "### Network", "",
        "Two ranks. *Ours* launches and awaits all buckets of DataParallel, without overlapping computation. *Bare* is one blocking, in-place",
        "MPI Allreduce of the same bytes. They alternate in one job; medians of the slower rank.", "",
        network_text(result["network"]), "", "### More ranks than cores", "",
        "Largest difference of any weight from one process with all rows, after three steps of two MLPs and an LSTM in float64. 4 and 8 ranks",
        "share two cores, so times are not shown.", "", "| number | ranks | local devices |", "|---:|---:|---:|", *many])


def main() -> None:
    options = arguments(__doc__).parse_args()
    rounds = options.rounds or (2 if options.quick else 5)
    seconds = 0.15 if options.quick else 0.5
    result = table(chosen(SCALING, options.cases), rounds, seconds, options.busy)
    if not options.cases:
        result["network"] = network(2 * seconds, min(rounds, 3), options.busy)
        print(network_text(result["network"]))
        result["sizes"] = results_of_many()
        write_between(PAGE, "scaling", page(result))
    if options.json:
        options.json.write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
