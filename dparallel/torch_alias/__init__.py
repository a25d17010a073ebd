"""`import torch` means this library: `import dparallel.torch_alias` at the top of a script that is written for PyTorch.

The same without an edit: `python -m dparallel.torch_alias script.py` and `dprun --torch-alias script.py`. All three put the
folder `path` on the path, which has a package torch; child processes inherit it. Nothing else imports this module.

May import: autograd, same_modules. Read first: modules.py.
"""

from __future__ import annotations

import os
import sys

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "path")


def install() -> None:
    """Put FOLDER before other packages on this process's path, and on that of its children.

    Raises:
        ImportError: If another torch was imported before.
    """
    other = getattr(sys.modules.get("torch"), "__file__", None)
    if other and not other.startswith(FOLDER):
        raise ImportError(f"dparallel.torch_alias: PyTorch itself was imported before, from {other}; import "
                          "dparallel.torch_alias first, or run the script by `python -m dparallel.torch_alias`")
    if FOLDER not in sys.path:
        sys.path.insert(1, FOLDER)                   # behind the script's folder, as PYTHONPATH
    paths = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    if FOLDER not in paths:
        os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [FOLDER, *paths]))


install()
