"""HIPS's autograd, another package named autograd: which of the two is installed here, and the error about it.

Both distributions install `autograd/__init__.py`; HIPS's also has `autograd/core.py` where ours has `autograd/core/`. pip
overwrites files without a warning. The other files do not collide. docs/design/namesake.md has the solution and what was
tried. This module imports the standard library only, since launch/installation.py runs it by its path."""

import importlib
import importlib.util
import os
import re
import sys
from importlib.util import module_from_spec, spec_from_file_location
from types import ModuleType
from typing import Any

FOLDER = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
MARK = '__distribution__ = "dparallel"'              # in our autograd/__init__.py
MSG_THEIRS = "`autograd` is {other} here, not dparallel's: installed later, it has overwritten autograd/__init__.py"
MSG_APART = "`autograd` is {other} here ({file}), which Python finds before dparallel's"
MSG_OURS = "`autograd` is dparallel's here: installed later, it has overwritten autograd/__init__.py of {other}"
MSG_BEHIND = "`autograd` is dparallel's here ({ours}), which Python finds before {other} ({theirs})"
MSG_ORDER = (". To have both: put {theirs} before {ours} on the path, and `import dparallel.autograd as ag` in scripts for "
             "dparallel")
MSG_GONE = "dparallel's autograd/__init__.py is not there any more: uninstalling HIPS's autograd deletes it"
MSG_NEEDED = "; needed by {names}"
MSG_MEND = (". To have dparallel's: {commands}. To have both: {both}`import dparallel.autograd as ag` in scripts for "
            "dparallel")
MSG_OTHER = "`autograd` is {file} here, which Python finds before dparallel's: rename it, or take its folder from the path"
MODULES = "builtins differential_operators extend misc numpy scipy test_util tracer util wrap_util".split()    # HIPS's alone
AGAIN = "`pip install --force-reinstall --no-deps {source}`"


def is_ours(package: ModuleType) -> bool:
    """Whether a module is this package, and not HIPS's."""
    return hasattr(package, "__distribution__")


def public() -> ModuleType:
    """The module with this package's names: `autograd`, or `dparallel.autograd` where HIPS's has that name."""
    package = sys.modules["autograd"]
    return package if is_ours(package) else importlib.import_module("dparallel.autograd")


def fault() -> str:
    """What is wrong, what needs HIPS's package, and the commands that mend it; "" if all is well."""
    spec = importlib.util.find_spec("autograd")
    file, version = (spec.origin if spec else None), _version()
    theirs = os.path.exists(os.path.join(FOLDER, "core.py"))
    other = f"HIPS's autograd {version}".rstrip()
    if file is None:
        what = MSG_GONE
    elif _marked(file):
        if not theirs:
            return ""
        what = MSG_OURS.format(other=other)
    elif os.path.dirname(file) == FOLDER:
        what = MSG_THEIRS.format(other=other)
    elif os.path.exists(os.path.join(os.path.dirname(file), "differential_operators.py")):
        what = MSG_APART.format(other=other, file=file)
    else:
        return MSG_OTHER.format(file=file)
    needed = MSG_NEEDED.format(names=", ".join(found)) if (found := needs()) else ""
    apart = file is not None and os.path.dirname(file) != FOLDER
    commands = ["`pip uninstall -y autograd`"] if version else []
    if not apart:
        commands.append(AGAIN.format(source=source("dparallel")))
    elif not commands:
        commands.append(f"take {os.path.dirname(os.path.dirname(str(file)))} from the path")
    whole = apart or what.startswith(MSG_THEIRS.format(other=other))
    both = "" if whole else AGAIN.format(source=source("autograd")) + ", and "
    return what + needed + MSG_MEND.format(commands=", then ".join(commands), both=both)


def behind() -> str:
    """The same where HIPS's package is whole, in a folder that Python looks into later; "" if it is not."""
    version = _version()
    theirs = str(importlib.import_module("importlib.metadata").distribution("autograd").locate_file("")) if version else ""
    if not os.path.exists(os.path.join(theirs, "autograd", "differential_operators.py")) or not version:
        return ""
    ours, theirs = os.path.dirname(FOLDER), os.path.abspath(theirs)
    what = MSG_BEHIND.format(ours=ours, other=f"HIPS's autograd {version}", theirs=theirs)
    needed = MSG_NEEDED.format(names=", ".join(found)) if (found := needs()) else ""
    return what + needed + MSG_ORDER.format(ours=ours, theirs=theirs)


class Missing:
    """The last finder: it says why a module of HIPS's is not found, where theirs is installed."""

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> None:
        """None, or ImportError."""
        package, _, name = fullname.partition(".")
        if package == "autograd" and name in MODULES and (text := fault() or behind()):
            raise ImportError(text)


def source(name: str) -> str:
    """What pip is to install again: the folder, archive or repository that it had a distribution from, or for one from an
    index its name and, if it is not ours, its version."""
    metadata, urls, quote = map(importlib.import_module, ("importlib.metadata", "urllib.parse", "shlex"))
    try:
        found = metadata.distribution(name)
    except metadata.PackageNotFoundError:
        return name
    about = importlib.import_module("json").loads(found.read_text("direct_url.json") or "{}")
    url = about.get("url", "")
    if "vcs_info" in about:
        return str(quote.quote(f"{about['vcs_info']['vcs']}+{url}@{about['vcs_info']['commit_id']}"))
    path = urls.unquote(url.removeprefix("file://"))
    if not url or (url.startswith("file://") and not os.path.exists(path)):
        return name if name == "dparallel" else f"{name}=={found.version}"
    return ("-e " if about.get("dir_info", {}).get("editable") else "") + str(quote.quote(path))


def needs() -> list[str]:
    """The installed distributions that depend on HIPS's, with their versions."""
    found = set()
    for distribution in importlib.import_module("importlib.metadata").distributions():       # 10 ms: only here
        for requirement in distribution.requires or ():
            name = re.match(r"\s*([\w.-]+)", requirement)
            if name and re.sub(r"[-_.]+", "-", name[1]).lower() == "autograd" and "extra ==" not in requirement:
                found.add(f"{distribution.metadata['Name']} {distribution.version}")
    return sorted(found)


def _version() -> str:
    """The version of the installed distribution autograd; "" if there is none."""
    metadata = importlib.import_module("importlib.metadata")
    try:
        return str(metadata.version("autograd"))
    except metadata.PackageNotFoundError:
        return ""


def _marked(file: str) -> bool:
    with open(file, encoding="utf-8", errors="replace") as text:
        return MARK in text.read()


def host(core: ModuleType) -> None:
    """Put HIPS's core.py in the place of our core/__init__.py, which Python found first for the `.core` of HIPS's
    autograd/__init__.py. Our modules stay its submodules. ImportError if there is no HIPS's package."""
    file = os.path.join(FOLDER, "core.py")
    if not os.path.exists(file):
        raise ImportError(fault())
    spec = spec_from_file_location(core.__name__, file)
    assert spec is not None and spec.loader is not None
    theirs = sys.modules[core.__name__] = module_from_spec(spec)
    spec.loader.exec_module(theirs)
    share(sys.modules["autograd"], theirs)


def share(package: ModuleType, core: ModuleType) -> None:
    """Let HIPS's `autograd` and `autograd.core` have our modules too, and say where they are asked for our other names."""
    package.__path__ = [*dict.fromkeys([*package.__path__, FOLDER])]
    core.__path__ = [os.path.join(FOLDER, "core")]
    kept = dict(vars(core))
    __import__("autograd.base.extensions")           # first of all: it says which modules are compiled
    __import__("autograd.core.primitive")
    vars(core).update(kept)                          # a function of theirs is named as this module of ours

    def missing(name: str) -> Any:
        if any(os.path.exists(os.path.join(FOLDER, name + end)) for end in (".py", "/__init__.py")):
            return importlib.import_module(f"autograd.{name}")
        with open(os.path.join(FOLDER, "__init__.pyi"), encoding="utf-8") as text:
            if re.search(rf"^(def |class |from .* import .* as |){re.escape(name)}[(:\s]", text.read(), re.M):
                raise ImportError(f"autograd.{name}: {fault()}")
        raise AttributeError(f"module 'autograd' has no attribute {name!r}")

    vars(package).setdefault("__getattr__", missing)


def asked(name: str) -> Any:
    """A name that our `autograd.core` does not have: ImportError if it is one of HIPS's core.py."""
    file = os.path.join(FOLDER, "core.py")
    if os.path.exists(file) and not os.path.exists(os.path.join(FOLDER, "core", f"{name}.py")):
        with open(file, encoding="utf-8") as text:
            if re.search(rf"\b{re.escape(name)}\b", text.read()):
                raise ImportError(fault())
    raise AttributeError(f"module 'autograd.core' has no attribute {name!r}")
