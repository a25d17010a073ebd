"""Compiles the core of autograd with Cython where that and a C compiler are there; else all is pure Python.

DPARALLEL_PURE=1 in the environment leaves it pure. What is compiled, and how it is found: autograd/base/extensions.py.
"""

import importlib
import importlib.util
import os
import platform
import re
import shutil
import subprocess
import sys
import sysconfig
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import setuptools
from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext
from setuptools.command.build_py import build_py

if int(setuptools.__version__.partition(".")[0]) < 77:       # the first that reads pyproject.toml's license: PEP 639
    sys.exit(f"dparallel is built with setuptools 77 or later, and this is {setuptools.__version__}: "
             "`pip install -U setuptools`, or leave out --no-build-isolation")


def of_base(*names):
    """Modules of autograd/base, without importing autograd: that needs what is yet to be built."""
    spec = importlib.util.spec_from_file_location("base", Path(__file__).parent / "autograd" / "base" / "__init__.py")
    sys.modules["base"] = importlib.util.module_from_spec(spec)
    return [importlib.import_module(f"base.{name}") for name in names]


def module_at(path):
    """A module of a package that can't be imported yet."""
    spec = importlib.util.spec_from_file_location(Path(path).stem, Path(__file__).parent / path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def say(line):
    """Show how far the build is: under `pip install -v`, and by tools/install.py."""
    print(f"dparallel: {line}", flush=True)


def why(error):
    """The reason in one line. A compiler's command is long, and what it has said pip shows with -v only."""
    cause = error.args[0] if error.args else None
    if isinstance(cause, subprocess.CalledProcessError):
        return f"{cause.cmd[0]} ended with exit code {cause.returncode}: `pip install -v` shows what it said"
    if isinstance(cause, FileNotFoundError):
        return f"there is no C compiler {cause.filename or os.environ.get('CC') or sysconfig.get_config_var('CC')}"
    return " ".join(f"{error!r:.300}".split())


environment, extensions = of_base("environment", "extensions")
# no pickling beside our own; AttributeError, not a crash, for attributes of None. Annotations type the C code only where a
# file asks for it in its first line: they also type arguments, and more strictly than Python means them (no subclasses)
DIRECTIVES = {"language_level": 3, "annotation_typing": False, "auto_pickle": False, "nonecheck": True}
# `autograd.core.graph` is compiled to autograd/native/core/graph.*.so: Python would always prefer a file beside graph.py
EXTENSIONS = [Extension(f"autograd.native.{name}", [f"autograd/{name.replace('.', '/')}.py"],
                        extra_compile_args=[] if os.name == "nt" else ["-O2", "-g0"]) for name in extensions.CORE]
# gcc: of -O2 what Cython's code gains from. A chain of operations runs as many instructions, compiling takes 0.7 of the time
LESS = ["-O1", "-freorder-blocks-algorithm=stc", "-freorder-blocks-and-partition", "-freorder-functions",
        "-foptimize-sibling-calls", "-fpeephole2", "-fcaller-saves", "-fstrict-aliasing", "-finline-small-functions",
        "-findirect-inlining", "-finline-functions", "-fthread-jumps", "-ftree-vrp", "-fexpensive-optimizations",
        "-fcse-follow-jumps", "-fipa-ra"]
# kernels/loops: three times on x86-64, each linked with the same object of functions that Python calls. No -ffast-math: nan
# and inf stay what they are, and the compiler fuses nothing; without traps and errno, choices and roots become vectors
LOOPS = [] if os.name == "nt" else [Extension(
    f"autograd.native.{level}.loops", [f"build/loops/{level}/kernels.c"],
    include_dirs=["autograd/kernels/loops", "build/loops"],
    extra_compile_args=["-O3", "-g0", "-fvisibility=hidden", "-ffp-contract=off", "-fno-math-errno", "-fno-trapping-math",
                        "-Wno-psabi", *options])
    for level, options in {"baseline": [], "avx2": ["-mavx2", "-mfma", "-mf16c"], "avx512": [
        "-mavx2", "-mfma", "-mf16c", "-mavx512f", "-mavx512bw", "-mavx512dq", "-mavx512vl", "-mavx512vbmi2",
        "-mprefer-vector-width=512"]}.items() if level == "baseline" or platform.machine().lower() in ("x86_64", "amd64")]


class BuildCore(build_ext):
    """build_ext that goes on without extensions where they can't be built, and says so in one line."""

    def run(self):
        """Translate, compile, and note what the extensions were made from."""
        folder = Path(self.get_ext_fullpath("autograd.native.core.graph")).parent.parent
        stamp, note = Path(extensions.stamp(str(folder))), Path(extensions.note(str(folder)))
        for extension in self.extensions:
            Path(self.get_ext_fullpath(extension.name)).parent.mkdir(parents=True, exist_ok=True)
        for file in (stamp, note):
            file.unlink(missing_ok=True)
        try:
            self.parallel = self.parallel or (os.cpu_count() or 1) + 1        # one more: one at a time is in Cython
            super().run()
            stamp.write_text(extensions.appearance() + extensions.fingerprint())
        except (Exception, SystemExit) as error:      # whatever a compiler or Cython does not like: it works without
            reason = why(error)
            print(f"dparallel: autograd's core is not compiled, and slower for it: {reason}", file=sys.stderr)
            note.write_text(reason, encoding="utf-8")      # the first import reports it
            self.extensions = []
            wheel = self.distribution.command_obj.get("bdist_wheel")
            if wheel is not None:                     # in the wheel's name, which pip shows: the above it hides
                wheel.build_number = "0not_compiled"

    def build_extensions(self):
        """Translate and compile, the longest first. A level of loops that the compiler does not know is left out."""
        def knows(*options):
            command = [*self.compiler.compiler_so, *options, "-fsyntax-only", "-x", "c", os.devnull]
            return not subprocess.run(command, capture_output=True, check=False).returncode

        import numpy
        for extension in self.extensions:
            extension.include_dirs = [*extension.include_dirs, numpy.get_include()]
            extension.define_macros = [("NPY_NO_DEPRECATED_API", "NPY_1_7_API_VERSION"),
                                       ("NPY_TARGET_VERSION", "NPY_2_0_API_VERSION")]      # the oldest that it runs with
        core = self.extensions[:len(extensions.CORE)]
        loops = [e for e in self.extensions[len(core):]
                 if knows(*[option for option in e.extra_compile_args if option.startswith("-m")])]
        if loops and knows("-fno-thread-jumps"):          # gcc: jumps around a choice keep it from becoming a vector's
            for extension in loops:
                extension.extra_compile_args.append("-fno-thread-jumps")
        self.less = LESS if os.name != "nt" and knows(*LESS) else []
        for extension in core:
            extension.extra_compile_args += self.less
        core.sort(key=lambda extension: -os.path.getsize(extension.sources[0]))
        self.extensions = [*core[:1], *reversed(loops), *core[1:]]        # the loops wait for what Python calls
        say(f"compiling autograd's core and loops: {len(self.extensions)} extensions")
        self.cython, self.finished = threading.Lock(), 0
        with ThreadPoolExecutor(1) as pool:
            self.calls = pool.submit(self.compile_calls, loops[0]) if loops else None
            super().build_extensions()

    def build_extension(self, extension):
        """Python to C, and that to an extension."""
        if extension.name.endswith(".loops"):
            extension.extra_objects = self.calls.result()
            Path(extension.sources[0]).parent.mkdir(exist_ok=True)       # setuptools names objects after their sources
            shutil.copy("build/loops/kernels.c", extension.sources[0])
        else:
            plain = Extension(extension.name.replace(".native", ""), extension.sources)
            extension.sources = self.translate(plain, build_dir="build/core", compiler_directives=DIRECTIVES, force=True)
        super().build_extension(extension)
        self.finished += 1
        say(f"compiled {extension.name} ({self.finished} of {len(self.extensions)})")

    def compile_calls(self, like):
        """Write the loops in C, and compile what Python calls, which is the same for all levels. Its objects."""
        translate, folder = module_at("autograd/kernels/loops/translate.py"), Path("build/loops")
        folder.mkdir(parents=True, exist_ok=True)
        texts = translate.translated(Path("autograd/kernels/loops"), extensions.LOOPS)
        for name, text in zip(("kernels", "loops"), texts, strict=True):      # the second includes the first one's header
            (folder / f"{name}.pyx").write_text(text, encoding="utf-8")
            sources = self.translate(Extension(name, [f"build/loops/{name}.pyx"]), force=True)
        return self.compiler.compile(sources, self.build_temp, like.define_macros, like.include_dirs,
                                     extra_postargs=["-O2", "-g0", *self.less])

    def translate(self, extension, **options):
        """The C of an extension. Cython is not made for threads."""
        from Cython.Build import cythonize
        with self.cython:
            return cythonize([extension], quiet=True, **options)[0].sources


class BuildPy(build_py):
    """build_py, with the files that tools/write.py writes; and a copy of autograd/__init__.py: docs/design/namesake.md."""

    def run(self):
        """Write, copy. Where nothing can be written, docstrings are short and checkers see less."""
        root = Path(__file__).parent
        if not self.editable_mode:                    # build/lib*: wheels would have what an earlier build has left there
            shutil.rmtree(self.build_lib, ignore_errors=True)
        say("writing docstrings and stubs")
        writing = subprocess.Popen([sys.executable, "-m", "tools.write"], cwd=root, text=True, stdout=subprocess.PIPE,
                                   stderr=subprocess.STDOUT, env={**os.environ, "PYTHONSAFEPATH": ""})
        if self.distribution.has_ext_modules():
            self.run_command("build_ext")             # meanwhile
        said, _ = writing.communicate()
        if writing.returncode:
            print(f"dparallel: tools/write.py failed, docstrings and stubs are not complete: "
                  f"{said.strip().rpartition(chr(10))[2]}", file=sys.stderr)
        super().run()
        if not self.editable_mode:
            shutil.copy(root / "autograd" / "__init__.py", Path(self.build_lib) / "dparallel" / "autograd" / "whole_init.py")


def readme():
    """README.md for an index's page: with addresses in the place of links to files, which would lead nowhere there."""
    source = re.search(r'^Source = "(.*)"', (Path(__file__).parent / "pyproject.toml").read_text(encoding="utf-8"), re.M)[1]
    text = (Path(__file__).parent / "README.md").read_text(encoding="utf-8")
    text = re.sub(r"!\[(.*?)\]\((?!https?:)", rf"![\1]({source}/raw/main/", text)
    return re.sub(r"\]\((?!https?:|#)", f"]({source}/blob/main/", text)


setup(long_description=readme(), long_description_content_type="text/markdown",
      ext_modules=[] if environment.environment.pure else EXTENSIONS + LOOPS,
      cmdclass={"build_ext": BuildCore, "build_py": BuildPy})
