"""What the processor can do, as NumPy found it."""

from numpy._core._multiarray_umath import __cpu_features__


def get_cpu_capability() -> str:
    """The widest vector instructions that NumPy uses: "AVX512", "AVX2" or "DEFAULT"."""
    found = [name for name, feature in (("AVX512", "AVX512F"), ("AVX2", "AVX2")) if __cpu_features__.get(feature)]
    return (*found, "DEFAULT")[0]
