"""PyTorch's own sample inputs (see opinfo.py): values, gradients and tangents of every operation that both have."""

import pytest

pytest.importorskip("torch")
pytest.importorskip("expecttest")                    # what PyTorch's table of operations needs

import opinfo

DIFFERENT = {                                        # where PyTorch's result is wrong, or cannot be had
    "as_strided_scatter": "PyTorch passes gradients to elements that were overwritten",
    "bfloat16": "needs the package ml_dtypes",
    "chalf": "NumPy has no complex numbers of two float16",
    "logcumsumexp": "PyTorch's tangents lose digits where exp overflows",
    "max_unpool": "where two elements go to one place, PyTorch's tangents take one, its gradients give to both",
    "special.bessel_j0": "PyTorch has only seven digits at some arguments",
    "special.bessel_j1": "PyTorch has only seven digits at some arguments",
    "special.bessel_y1": "PyTorch has only seven digits at some arguments",
    "to_sparse": "there are no sparse tensors",
    "triangular_solve": "PyTorch's tangents read the triangle that is not used",
}
# Internal operations of PyTorch, and what nobody has asked for.
ABSENT = """_softmax_backward_data native_group_norm native_layer_norm native_batch_norm _native_batch_norm_legit
    _batch_norm_with_update _upsample_bilinear2d_aa max_pool2d_with_indices_backward slice _unsafe_masked_index
    _unsafe_masked_index_put_accumulate _chunk_cat native_dropout_backward hash_tensor _segment_reduce linalg.ldl_factor
    linalg.ldl_factor_ex linalg.ldl_solve""".split()
OTHER_REACH = {                                      # where a second derivative ends up in another way than PyTorch's
    "nn.functional.linear_cross_entropy": "PyTorch's chunks lose the second derivative",
    "polar": "PyTorch divides by the magnitude, which rounding errors come from",
    "nn.functional.grid_sample": "for the input alone: None in PyTorch, zeros here",
    "grid_sampler_2d": "as grid_sample",
    "grid_sampler_3d": "as grid_sample",
    "linalg.det": "of an empty matrix: no graph in PyTorch",
}
SAMPLES = 3
KNOWN = [op for op in opinfo.PLAIN if op.name not in ABSENT and not any(name in op.name for name in DIFFERENT)
         and not op.name.startswith("masked.")]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("op", KNOWN, ids=lambda op: f"{op.name} {op.variant_test_name}".strip())
def test_as_pytorch(op):
    failures = opinfo.run(op, "float64", orders=2, forward=True, limit=SAMPLES, kinds=("function", "lambda"))
    assert not failures, "\n".join(" ".join(failure) for failure in failures)


COMPLEX_DIFFERENT = {
    "logaddexp": "complex numbers are refused", "uniform": "complex numbers are refused",
    "pca_lowrank": "singular vectors of complex matrices have a free phase"}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("op", [op for op in KNOWN if opinfo.torch.complex128 in op.dtypes and op.name not in COMPLEX_DIFFERENT],
                         ids=lambda op: f"{op.name} {op.variant_test_name}".strip())
def test_complex_numbers_as_pytorch(op):
    failures = opinfo.run(op, "complex128", orders=2, forward=False, limit=1, kinds=("function", "lambda"))
    assert not failures, "\n".join(" ".join(failure) for failure in failures)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("op", [op for op in KNOWN if op.supports_gradgrad and op.name not in OTHER_REACH],
                         ids=lambda op: f"{op.name} {op.variant_test_name}".strip())
def test_second_derivatives_that_are_zero(op):
    """Under create_graph gradients are functions of what PyTorch's are functions of, be it with derivative zero."""
    failures = opinfo.check_reach(op, limit=1)
    assert not failures, "\n".join(" ".join(failure) for failure in failures)


def test_what_is_absent_is_absent():
    """The lists above shrink with what is missing."""
    for name in ABSENT:
        assert opinfo.resolve(name) is None, f"{name} is here now: take it from the list"
