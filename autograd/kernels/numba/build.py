"""python -m autograd.kernels.numba.build FILE: compile all kernels for this processor. Run by loading.py, in a process of
its own: numba and LLVM take 130 MB and half a second, of which the training process sees nothing.
"""

from __future__ import annotations

import hashlib
import json
import multiprocessing
import os
import sys
from concurrent.futures import ProcessPoolExecutor
from typing import Any

import llvmlite.binding as llvm
from numba import types

from . import activations, elementwise, float64, group_norm, indexing, recurrent, reductions, rows
from .linking import link
from .processor import config, njit
from .signatures import DOUBLE, SIGNATURES

CONTRACT, SUMS = {"contract"}, {"contract", "reassoc"}       # fused multiply-add; sums by vectors
FLOATS: Any = types.CPointer(types.CPointer(types.float32))
DOUBLES: Any = types.CPointer(types.CPointer(types.float64))
TYPES: dict[str, Any] = {"a": FLOATS, "d": DOUBLES, "i": types.CPointer(types.CPointer(types.int64)),
         "h": types.CPointer(types.CPointer(types.uint16)), "n": types.int64, "f": types.float32, "e": types.float64}
PLAIN = {"a": "ptr", "d": "ptr", "i": "ptr", "h": "ptr", "n": "i64", "f": "float", "e": "double"}
OPTIONS = ("-disable-loop-idiom-all",            # no calls of memset and memcpy, which the linker would have to find
           "-hoist-runtime-checks=false",        # one check of overlap for all rows fails where gates lie side by side
           "-runtime-memory-check-threshold=1000", "-vectorize-memory-check-threshold=1000")     # many arrays are all right

WORKERS = 4                                      # processes that compile

# of recurrent.py: the address of dnnl_sgemm, or of what is called like it; "N" is 78
MULTIPLY = """
define void @multiply(i64 %sgemm, i64 %m, i64 %n, i64 %k, ptr %a, i64 %start, ptr %b, float %beta, ptr %c, i64 %to) {
  %function = inttoptr i64 %sgemm to ptr
  %x = getelementptr float, ptr %a, i64 %start
  %z = getelementptr float, ptr %c, i64 %to
  %status = call i32 %function(i8 signext 78, i8 signext 78, i64 %m, i64 %n, i64 %k, float 1.0, ptr %x, i64 %k, ptr %b,
                               i64 %n, float %beta, ptr %z, i64 %n)
  ret void
}
"""


def compiled(name: str) -> tuple[str, str]:
    """A kernel's name within its module of LLVM, and the text of that module, which shows no other name."""
    single = name.removesuffix("_double")
    plain = single if single in DOUBLE else name     # gelu's is a function of its own
    home = next(module for module in (activations, float64, elementwise, recurrent, group_norm, reductions, indexing, rows)
                if plain in vars(module))
    fast = set() if plain != name else SUMS if home in (group_norm, reductions, rows) else CONTRACT
    function = njit(vars(home)[plain], fastmath=fast, error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True)
    arguments = tuple(TYPES[kind] for kind in SIGNATURES[name])
    function.compile(arguments)
    result = function.overloads[arguments]
    inner, module = result.fndesc.mangled_name, result.library._final_module
    for part in module.functions:                    # numba numbers what it inlines, in each process from 1
        if part.name != inner and not part.is_declaration:
            part.linkage = "internal"
    return inner, str(module)


def entry(name: str, inner: str) -> str:
    """A function of plain arguments that calls numba's, which also takes places for a result and an exception."""
    kinds = [PLAIN[kind] for kind in SIGNATURES[name]]
    given = ", ".join(f"{kind} %a{k}" for k, kind in enumerate(kinds))
    return (f"declare i32 @{inner}(ptr, ptr, {', '.join(kinds)})\n"
            f"define void @{name}({given}) {{\n"
            f"  %none = alloca ptr\n  %status = call i32 @{inner}(ptr %none, ptr null, {given})\n  ret void\n}}\n")


def build() -> tuple[bytes, dict[str, int]]:
    """The machine code of all kernels, and where each begins."""
    for option in OPTIONS:
        llvm.set_option("autograd", option)
    llvm.add_symbol("multiply", 1)                   # numba makes each kernel ready to run here, where none is run
    workers = min(len(SIGNATURES), WORKERS, len(os.sched_getaffinity(0)))
    with ProcessPoolExecutor(workers, multiprocessing.get_context("fork")) as pool:
        made = list(pool.map(compiled, SIGNATURES, chunksize=4))
    text = MULTIPLY + "".join(entry(name, inner) for name, (inner, _) in zip(SIGNATURES, made, strict=True))
    whole = llvm.parse_assembly(f'target triple = "{llvm.get_process_triple()}"\n' + text)
    for _, module in made:
        whole.link_in(llvm.parse_assembly(module))
    machine = llvm.Target.from_triple(llvm.get_process_triple()).create_target_machine(
        cpu=config.CPU_NAME or llvm.get_host_cpu_name(), features=config.CPU_FEATURES, opt=3, reloc="pic", codemodel="small")
    image, places = link(machine.emit_object(whole))
    return image, {name: places[name] for name in SIGNATURES}


def main() -> None:
    """Write the file: a line of JSON (where each kernel begins), the code from the next page on, a checksum of all that."""
    image, places = build()
    head = json.dumps(places).encode() + b"\n"
    path = sys.argv[1]
    with open(f"{path}.part", "wb") as file:
        content = head + b"\0" * (-len(head) % 4096) + image
        file.write(content + hashlib.sha256(content).digest())
        os.fchmod(file.fileno(), 0o600)
    os.replace(f"{path}.part", path)


if __name__ == "__main__":
    main()
