"""40 MB by autograd/serialization/safetensors.py and by the package: python tests/bench/safetensors_package.py FOLDER"""

import os
import sys
import time
import zlib
from pathlib import Path

import numpy as np
from safetensors.numpy import load_file, save_file

sys.path.insert(0, str(Path(__file__).parent.parent.parent))
from autograd.serialization.safetensors import blocks, raw, read_header
from autograd.serialization.source import Source

rng = np.random.default_rng(0)
ARRAYS = {f"{i}.weight": rng.standard_normal((1000, 1000)).astype(np.float32) for i in range(10)}


def synchronise(path):
    with open(path, "rb+") as file:
        os.fsync(file.fileno())


def write(path):
    with open(path, "wb") as file:
        file.writelines(blocks(ARRAYS, {}))


def read(path):
    found = {}
    with Source(path) as source:
        for name, entry in read_header(source)[0].items():
            found[name] = np.empty(entry.shape, entry.kind)
            source.fill(found[name].reshape(-1).view(np.uint8), entry.start)
    return found


def main(folder):
    ours, theirs = f"{folder}/ours.safetensors", f"{folder}/package.safetensors"
    rows = {
        "write": (lambda: write(ours), lambda: save_file(ARRAYS, theirs)),
        "write and synchronise": (lambda: (write(ours), synchronise(ours)), lambda: (save_file(ARRAYS, theirs), synchronise(theirs))),
        "read": (lambda: read(ours), lambda: load_file(theirs)),
        "checksums": (lambda: [zlib.crc32(raw(array)) for array in ARRAYS.values()],),
    }
    best = {name: [float("inf")] * len(pair) for name, pair in rows.items()}
    for _ in range(15):
        for name, pair in rows.items():
            for which, function in enumerate(pair):
                start = time.perf_counter()
                function()
                best[name][which] = min(best[name][which], 1e3 * (time.perf_counter() - start))
    for name, times in best.items():
        print(f"{name}: " + ", ".join(f"{who} {ms:.1f} ms" for who, ms in zip(("ours", "package"), times, strict=False)))


if __name__ == "__main__":
    main(sys.argv[1])
