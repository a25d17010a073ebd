"""PyTorch DDP's published steps beside the replay of the same step: `python tests/bench/published_ddp.py`.

The step: ResNet-50, 32 images, as PyTorch's own benchmark gives it for one V100 with DDP (0.100 s, benchmarks/distributed/ddp/
README.md), its backward twice its forward, gradients arriving in proportion to the multiplications of the layers. The network:
servers of eight V100s joined by NVLink, four 100 Gbit/s links a server, rings. For 256 GPUs (Li et al., VLDB 2020) the step
was twice that of one GPU; printed is what the same replay needs for that.
"""

from __future__ import annotations

import math
from dataclasses import replace

from dparallel.observe.prediction.predict import predict_one
from dparallel.observe.prediction.steps import ParameterTrace
from dparallel.prediction import Network, Option, StepTrace

STEP, FORWARD = 0.100, 1 / 3
PUBLISHED = {2: 0.103, 4: 0.103, 8: 0.104, 16: 0.104}            # medians, bucket_cap_mb=25
# a ring step between V100s over NVLink: 10 us and about 40 GB/s of the ring's bandwidth; over InfiniBand 4 x 12.5 GB/s
SERVERS = Network(latency=10e-6, bandwidth=50e9, overhead=0.0, call=0.0, ranks_per_host=8, local_latency=5e-6, local_bandwidth=40e9,
                  reduction=200e9, topology="fat-tree", mpi="nccl")
ONE_LINK = replace(SERVERS, bandwidth=12.5e9)


def layers() -> list[tuple[str, tuple[int, ...], float]]:
    """Parameters of ResNet-50 (He et al. 2015) in order of registration, with the multiplications of their layers."""
    out: list[tuple[str, tuple[int, ...], float]] = []

    def conv(name: str, inputs: int, outputs: int, kernel: int, pixels: int) -> None:
        out.append((f"{name}.weight", (outputs, inputs, kernel, kernel), inputs * outputs * kernel**2 * pixels**2))
        out.extend((f"{name}.norm.{part}", (outputs,), 4.0 * outputs * pixels**2) for part in ("weight", "bias"))

    conv("stem", 3, 64, 7, 112)
    inputs = 64
    for stage, (width, blocks, pixels) in enumerate(((64, 3, 56), (128, 4, 28), (256, 6, 14), (512, 3, 7))):
        for block in range(blocks):
            name = f"{stage}.{block}"
            conv(f"{name}.1", inputs, width, 1, pixels)
            conv(f"{name}.2", width, width, 3, pixels)
            conv(f"{name}.3", width, 4 * width, 1, pixels)
            if block == 0:
                conv(f"{name}.shortcut", inputs, 4 * width, 1, pixels)
            inputs = 4 * width
    out.append(("head.weight", (1000, 2048), 2048e3))
    out.append(("head.bias", (1000,), 1e3))
    return out


def resnet50() -> StepTrace:
    """The step on one GPU."""
    found = layers()
    total, before, parameters = sum(work for *_, work in found), 0.0, []
    forward, backward = STEP * FORWARD * 0.97, STEP * (1 - FORWARD) * 0.97
    for name, shape, work in found:
        parameters.append(ParameterTrace(name, shape, "float32", forward * before / total, backward * (1 - before / total)))
        before += work
    return StepTrace(ranks=1, ranks_per_host=1, forward=forward, backward=backward, finish=0.0, after=0.03 * STEP,
                     optimizer=0.03 * STEP, measured=STEP, spread=0.0, jitter=0.0, quiet=1, steps=1, passes=1,
                     parameters=parameters)


def main() -> None:
    trace = resnet50()
    print(f"parameters {sum(math.prod(p.shape) for p in trace.parameters) / 1e6:.2f} million")

    def step(network: Network, ranks: int) -> float:
        return predict_one(trace, network, Option(ranks, 25.0), {}).seconds

    for ranks, published in PUBLISHED.items():
        print(f"{ranks:4} GPUs: published {published:.3f} s, replayed {step(SERVERS, ranks):.4f} s "
              f"({step(SERVERS, ranks) / published - 1:+.1%})")
    print(f" 256 GPUs: four links {step(SERVERS, 256):.3f} s, one link of 100 Gbit/s {step(ONE_LINK, 256):.3f} s")
    low, high = 1e8, 12.5e9
    while high / low > 1.01:
        middle = math.sqrt(low * high)
        low, high = (middle, high) if step(replace(ONE_LINK, bandwidth=middle), 256) > 2 * STEP else (low, middle)
    print(f" 256 GPUs in twice the step of one: {low * 8e-9:.1f} Gbit/s a server have to reach the rings, without stragglers")
    for every in (2, 4, 8):
        print(f"summed every {every} steps only: {1 - ((every - 1) * STEP + 2 * STEP) / every / (2 * STEP):.0%} less, were all of "
              "the doubling communication")


if __name__ == "__main__":
    main()
