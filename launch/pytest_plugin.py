"""pytest's entry point. It loads the plugin proper, and with it dparallel, at the first test that is marked `ranks`.

So a pytest run without such a test has no overhead. Standard library only: hooks are found by their names.
"""

from __future__ import annotations

from typing import Any

from .rank import SIZES, announced

PLUGIN = "dparallel.testing.ranks.plugin"
MARKER = ("ranks(*sizes, kinds=('devices', 'threads', 'mpi'), timeout=60, isolated=False): run the test, which has an "
          "argument `comm`, on communicators of these sizes (1, 2, 3) and kinds, also 'network'; see docs/testing.md")
OPTIONS = (("ranks_sizes", "sizes that @pytest.mark.ranks stands for", "args", ["1", "2", "3"]),
           ("ranks_kinds", "kinds that @pytest.mark.ranks stands for", "args", ["devices", "threads", "mpi"]),
           ("ranks_timeout", "seconds for one test that is marked ranks", "string", "60"),
           ("ranks_isolated", "start a job of MPI ranks for each test, not one for many", "bool", False))


def pytest_addoption(parser: Any, pluginmanager: Any) -> None:
    """The options of pytest's ini file."""
    for name, words, kind, default in OPTIONS:
        parser.addini(name, words, kind, default)
    # pytest rewrites all modules of a package that has a plugin: 581 here, 1.3 s once and 0.35 s at each start
    getattr(pluginmanager.rewrite_hook, "_must_rewrite", set()).difference_update({"autograd", "dparallel"})


def pytest_configure(config: Any) -> None:
    """Register the marker and the loader."""
    config.addinivalue_line("markers", MARKER)
    config.pluginmanager.register(Door(config), "dparallel-door")


class Door:
    """Loads the plugin at the first marked test, or at the first file that can't be imported and may have some."""

    def __init__(self, config: Any) -> None:
        self.config = config

    def plugin(self) -> Any:
        """The plugin proper."""
        self.config.pluginmanager.import_plugin(PLUGIN)
        return self.config.pluginmanager.get_plugin(PLUGIN)

    def pytest_generate_tests(self, metafunc: Any) -> None:
        """A variant for each kind and number of ranks."""
        if metafunc.definition.get_closest_marker("ranks") is not None:
            self.plugin().parametrize(metafunc)

    def pytest_collectreport(self, report: Any) -> None:
        """On one rank of many, the others would wait for a test that this one can't collect."""
        loaded = self.config.pluginmanager.has_plugin(PLUGIN)
        if report.failed and not loaded and announced(SIZES) > 0 and "mark.ranks" in source(report):
            self.plugin()
            self.config.pluginmanager.get_plugin("dparallel-ranks").pytest_collectreport(report)


def source(report: Any) -> str:
    """The text of the file that a report is about."""
    try:
        with open(str(report.fspath), encoding="utf-8", errors="replace") as file:
            return file.read()
    except OSError:
        return ""
