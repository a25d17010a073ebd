"""Operations: one module per family, rules only.

A module ends in `__all__` (what is `autograd.<name>`), METHODS (which names are methods of Tensor too, by `<name>_method`
where that exists) and IN_PLACE (which have a form that ends in "_"). A family is imported when one of its names is first
used: importing all of them takes as long as NumPy. The build writes _families.py, which says where each name is
(tools/write.py); a checkout that was not built imports all families at once.

May import: base, core, kernels, modes. Read first: pointwise/exponential.py."""

import functools
import importlib
import pkgutil


@functools.cache
def families() -> tuple[dict[str, str], dict[str, str]]:
    """The family of each operation that is a function, and of each that is a method of Tensor."""
    try:
        built = importlib.import_module("._families", __name__)
    except ModuleNotFoundError:
        return listed()
    return built.FUNCTIONS, built.METHODS


def listed() -> tuple[dict[str, str], dict[str, str]]:
    """families(), from the lists at the end of each module. A package that lists names stands for the modules in it."""
    functions: dict[str, str] = {}
    methods: dict[str, str] = {}
    whole: list[str] = []
    for info in pkgutil.walk_packages(__path__, f"{__name__}."):
        if info.name.endswith("._families"):
            continue
        module, family = importlib.import_module(info.name), info.name.removeprefix(f"{__name__}.")
        offered = getattr(module, "__all__", [])
        if family.rpartition(".")[0] in whole and set(offered) <= functions.keys():
            continue
        if info.ispkg and offered:
            whole.append(family)
        functions.update(dict.fromkeys(sorted(offered), family))
        methods.update(dict.fromkeys(sorted({*getattr(module, "METHODS", ()),
                                             *(f"{name}_" for name in getattr(module, "IN_PLACE", ()))}), family))
    return functions, methods
