"""LLVM in a process of its own: text on standard input; an object file, or a library where a linker is at hand, as output.

    python compiler.py OUTPUT [FOLDER_OF_LLVMLITE]

It imports llvmlite alone, so that LLVM's 100 MB of memory never belong to a rank. OUTPUT "-" is standard output, for the
object file. Else OUTPUT.so or OUTPUT.o appears at once and complete, a digest of its contents at its end.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile

NO_FILE = 3                          # the exit status if the output can't be written


def compiled(text: str, level: int = 3) -> bytes:
    """The object file of LLVM's text, for this processor, optimized at this level."""
    import llvmlite.binding as llvm

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    module = llvm.parse_assembly(text)
    target = llvm.Target.from_default_triple()
    features = llvm.get_host_cpu_features().flatten()
    machine = target.create_target_machine(cpu=llvm.get_host_cpu_name(), features=features, opt=level, reloc="pic",
                                           codemodel="default")
    module.triple, module.data_layout = llvm.get_process_triple(), str(machine.target_data)
    options = llvm.PipelineTuningOptions(speed_level=level)
    options.loop_vectorization = options.loop_interleaving = options.loop_unrolling = True
    options.slp_vectorization = False
    builder = llvm.create_pass_builder(machine, options)
    builder.getModulePassManager().run(module, builder)
    made: bytes = machine.emit_object(module)
    return made


def linked(made: bytes, folder: str) -> bytes | None:
    """A shared library with this object file; None if no linker makes one."""
    name = os.path.join(folder, "made")
    with open(name + ".o", "wb") as file:
        file.write(made)
    for linker, more in (("ld", []), ("cc", ["-nostartfiles"]), ("clang", ["-nostartfiles"])):
        path = shutil.which(linker)
        if path is None:
            continue
        done = subprocess.run([path, "-shared", "-o", name + ".so", name + ".o", *more], capture_output=True, check=False)
        if not done.returncode:
            with open(name + ".so", "rb") as file:
                return file.read()
    return None


def write(path: str, contents: bytes) -> None:
    """Make a file that is complete when it can be seen: contents and their digest."""
    folder, name = os.path.split(path)
    handle, temporary = tempfile.mkstemp(prefix=name, suffix=".tmp", dir=folder)
    try:
        with open(handle, "wb") as file:
            file.write(contents + hashlib.sha256(contents).digest())
        os.replace(temporary, path)
    except OSError:
        os.unlink(temporary)
        raise


def main(output: str, folder: str = "") -> None:
    """Compile standard input."""
    if folder:
        sys.path.append(folder)
    made = compiled(sys.stdin.read())
    if output == "-":
        sys.stdout.buffer.write(made)
        return
    with tempfile.TemporaryDirectory() as work:
        library = linked(made, work)
    write(output + (".o" if library is None else ".so"), made if library is None else library)


if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
    except OSError as error:
        print(error, file=sys.stderr)
        sys.exit(NO_FILE)
