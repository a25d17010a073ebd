"""PyTorch's names of operations, as its profiler shows them."""

from __future__ import annotations

import re

ATEN = {                                             # names that differ in PyTorch
    "to_copy": "_to_copy", "cross_entropy": "cross_entropy_loss", "smooth_l1loss": "smooth_l1_loss",
    "prelu_kernel": "_prelu_kernel", "fused_rms_norm": "_fused_rms_norm", "euclidean_dist": "_euclidean_dist",
    "normal_cdf": "special_ndtr", "ctc_loss_backward": "_ctc_loss_backward", "unique": "_unique2",
    "not_implemented": "alias", "uniform": "uniform_", "exponential": "exponential_", "geometric": "geometric_",
    "cauchy": "cauchy_", "log_normal": "log_normal_", "keep_mask": "bernoulli_",
    "fft_c2c": "_fft_c2c", "fft_r2c": "_fft_r2c", "fft_c2r": "_fft_c2r", "sparse_mm": "_sparse_mm",
    # operations with a name per number of dimensions in PyTorch: the one for images
    "avg_pool": "avg_pool2d", "max_unpool": "max_unpool2d", "reflection_pad": "reflection_pad2d",
    "max_pool_with_indices": "max_pool2d_with_indices", "upsample": "upsample_bilinear2d",
    "max_pool_with_indices_backward": "max_pool2d_with_indices_backward",
    # operations that PyTorch calls instead
    "index_backward": "_index_put_impl_", "split_backward": "cat", "unbind_backward": "stack", "copy_slices": "copy_",
    "copy_slices_mask": "zero_", "as_strided_add": "as_strided_scatter", "view_scatter": "slice_scatter",
    # functions of arrays: the nearest operation
    "_found": "empty", "_whole": "sum", "_present": "isfinite", "_count": "count_nonzero", "_all": "all", "_any": "any",
    "_missing": "clamp_min", "_slopes": "uniform_", "_floors": "where", "_shares": "bincount", "_in_range": "aminmax",
    "_sum": "sum", "_middle": "median", "_which_count": "ne", "_zeroed": "masked_fill", "_class_weights": "index_select",
    "_weights": "index_select", "_not_ignored": "ne", "_probabilities": "aminmax", "_not_negative": "lt",
    "_noise": "exponential_", "_picked": "argmax", "_normal_of_numbers": "normal", "_normal_of_tensors": "normal_",
    "_ones": "bernoulli_", "_counts": "random_", "_drawn": "random_", "_one_hot": "one_hot"}


def aten_name(name: str) -> str:
    """PyTorch's name of the operation whose nodes are named `<Name>Backward0`, such as max_pool2d_with_indices."""
    name = re.sub(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name).lower()
    return ATEN.get(name, name)
