"""matplotlib accepts matrices of Tensors by columns (plot, hist, boxplot), as it does PyTorch's, and bfloat16 as
float32."""

from __future__ import annotations

from .values import given_values

for name in ("_unpack_to_numpy", "_safe_first_finite", "safe_masked_invalid"):
    given_values("matplotlib.cbook", name)
