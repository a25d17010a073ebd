"""Operations: one module per family, rules only.

A module ends in `__all__` (what is `autograd.<name>`), METHODS (which names are methods of Tensor too, by `<name>_method`
where that exists) and IN_PLACE (which have a form that ends in "_"). FAMILIES repeats these lists, since a family is
imported when one of its names is first used: all of them take as long as NumPy.
tests/autograd/test_later.py compares the two.

May import: base, core, kernels. Read first: pointwise/exponential.py.
"""

# family: its names. f is autograd.f; f. is x.f() too; f._ is x.f() and x.f_() too; .f is x.f() alone.
FAMILIES = {
    "creation.create": "as_tensor asarray from_dlpack from_numpy frombuffer .new_tensor scalar_tensor tensor",
    "creation.fill": "empty empty_like empty_permuted empty_strided full full_like .new_empty .new_empty_strided .new_full "
                     ".new_ones .new_zeros ones ones_like zeros zeros_like",
    "creation.sequence": "arange eye linspace logspace",
    "creation.types": "is_complex. is_conj. is_floating_point. is_inference. is_neg. is_nonzero. is_same_size. is_signed. "
                      "is_tensor numel result_type",
    "index": "argwhere. as_strided. as_strided_copy as_strided_scatter. diagonal_scatter. fill gather. index_add._ "
             "index_copy._ index_fill._ index_put._ index_reduce._ index_select. masked_fill._ masked_scatter._ "
             "masked_select. nonzero. nonzero_static. put._ repeat_interleave. scatter._ scatter_add._ scatter_reduce._ "
             "select_scatter. slice_copy slice_scatter. take. take_along_dim. unravel_index",
    "linalg.addmm": "addbmm._ addmm._ addmv._ addr._ baddbmm._ chain_matmul",
    "linalg.cholesky": "cholesky. cholesky_inverse. cholesky_solve.",
    "linalg.determinant": "det. logdet. slogdet.",
    "linalg.distances": "cdist cosine_similarity pairwise_distance pdist",
    "linalg.einsum": "einsum",
    "linalg.lowrank": "pca_lowrank svd_lowrank",
    "linalg.lu": "lu. lu_solve. lu_unpack",
    "linalg.matmul": "bmm. dot. ger. inner. matmul. mm. mv. outer. spmm vdot.",
    "linalg.matrix_functions": "matrix_exp. matrix_power.",
    "linalg.norms": "dist. frobenius_norm norm. nuclear_norm renorm._",
    "linalg.pinv": "pinverse.",
    "linalg.qr": "geqrf. orgqr. ormqr. qr.",
    "linalg.solve": "inverse. triangular_solve.",
    "linalg.svd": "svd.",
    "linalg.trace": "trace.",
    "linalg.vector_products": "cross. kron. tensordot vander",
    "nn.activation": "celu celu_ hardshrink. prelu. relu_ rrelu rrelu_ selu selu_ threshold threshold_",
    "nn.aten_names": "adaptive_max_pool1d alpha_dropout alpha_dropout_ batch_norm dropout dropout_ embedding "
                     "feature_alpha_dropout feature_alpha_dropout_ feature_dropout feature_dropout_ group_norm "
                     "instance_norm layer_norm max_pool1d_with_indices",
    "nn.bilinear": "bilinear",
    "nn.convolution": "conv1d conv2d conv3d conv_tbc conv_transpose1d conv_transpose2d conv_transpose3d convolution",
    "nn.grid_sample": "affine_grid_generator grid_sampler grid_sampler_2d grid_sampler_3d",
    "nn.normalization": "rms_norm",
    "nn.pixel_shuffle": "channel_shuffle pixel_shuffle pixel_unshuffle",
    "nn.pooling": "adaptive_avg_pool1d avg_pool1d max_pool1d max_pool2d max_pool3d",
    "nn.softmax": "log_softmax. logsumexp. softmax.",
    "pointwise.arithmetic": "add._ addcdiv._ addcmul._ div._ divide._ floor_divide._ fmod._ gcd._ lcm._ lerp._ mul._ "
                            "multiply._ remainder._ rsub sub._ subtract._ true_divide._",
    "pointwise.by_element": ".apply_ .map2_ .map_",
    "pointwise.comparison": "allclose. eq._ equal. ge._ greater._ greater_equal._ gt._ isclose. isfinite. isinf. isnan. "
                            "isneginf. isposinf. isreal. le._ less._ less_equal._ lt._ ne._ not_equal._",
    "pointwise.complex": "angle. complex conj. conj_physical._ imag polar real view_as_complex view_as_real",
    "pointwise.exponential": "exp2._ exp._ expm1._ log10._ log1p._ log2._ log._ logaddexp. logaddexp2. sigmoid._",
    "pointwise.logic": "bitwise_and._ bitwise_left_shift._ bitwise_not._ bitwise_or._ bitwise_right_shift._ bitwise_xor._ "
                       "logical_and._ logical_not._ logical_or._ logical_xor._",
    "pointwise.powers": "float_power._ frexp. hypot._ ldexp._ pow._ reciprocal._ rsqrt._ sqrt._ square._",
    "pointwise.rounding": "ceil._ fix._ floor._ frac._ round._ trunc._",
    "pointwise.sign": "abs._ absolute._ copysign._ heaviside._ neg._ negative._ nextafter._ positive. sgn._ sign._ signbit.",
    "pointwise.trigonometric": "acos._ acosh._ arccos._ arccosh._ arcsin._ arcsinh._ arctan2._ arctan._ arctanh._ asin._ "
                               "asinh._ atan2._ atan._ atanh._ cos._ cosh._ deg2rad._ rad2deg._ sin._ sinc._ sinh._ tan._ "
                               "tanh._",
    "pointwise.where": "clamp._ clamp_max._ clamp_min._ clip._ fmax. fmin. maximum. minimum. nan_to_num._ relu._ where.",
    "random.draw": "bernoulli. multinomial. normal poisson rand rand_like randint randint_like randn randn_like randperm",
    "random.inplace_random": ".bernoulli_ .cauchy_ .exponential_ .geometric_ .log_normal_ .normal_ .random_ .uniform_",
    "reductions.cumulative": "cummax. cummin. cumsum._ logcumsumexp.",
    "reductions.extremes": "amax. amin. aminmax. argmax. argmin. max. min.",
    "reductions.products": "cumprod._ prod.",
    "reductions.quantiles": "median. mode. nanmedian. nanquantile. quantile.",
    "reductions.reduce": "all. any. count_nonzero. mean. nanmean. nansum. sum. .sum_to_size",
    "reductions.sorting": "argsort. kthvalue. msort. sort. topk.",
    "reductions.variance": "std. std_mean var. var_mean",
    "shape": "adjoint. alias_copy atleast_1d atleast_2d atleast_3d block_diag broadcast_shapes broadcast_tensors "
             "broadcast_to. cartesian_prod cat chunk. clone. column_stack combinations concat concatenate .contiguous "
             "detach detach_copy diag. diag_embed. diagflat. diagonal. diagonal_copy dsplit. dstack .expand .expand_as "
             "expand_copy flatten. flip. fliplr. flipud. hsplit. hstack meshgrid moveaxis. movedim. narrow. narrow_copy. "
             "permute. permute_copy ravel. .repeat reshape. .reshape_as resolve_conj. resolve_neg. roll. rot90. row_stack "
             "select. select_copy split. split_copy split_with_sizes. split_with_sizes_copy squeeze. squeeze_copy stack "
             "swapaxes. swapdims. t. t_copy tensor_split. tile. transpose. transpose_copy tril._ tril_indices triu._ "
             "triu_indices unbind. unbind_copy unflatten. .unfold unfold_copy unsafe_chunk. unsafe_split. "
             "unsafe_split_with_sizes. unsqueeze. unsqueeze_copy .view .view_as view_copy vsplit. vstack",
    "shape.pad": "constant_pad_nd",
    "signal.stft": "istft. stft.",
    "signal.windows": "bartlett_window blackman_window hamming_window hann_window kaiser_window",
    "special.functions": "digamma._ erf._ erfc._ erfinv._ i0._ igamma._ igammac._ lgamma._ logit._ mvlgamma._ polygamma._ "
                         "xlogy._",
    "statistics.covariance": "corrcoef. cov.",
    "statistics.differences": "cumulative_trapezoid diff. gradient trapezoid trapz",
    "statistics.histograms": "bincount. bucketize histc. histogram. histogramdd searchsorted",
    "statistics.sets": "isin unique. unique_consecutive.",
}


def functions() -> dict[str, str]:
    """The family of each operation that is a function."""
    return {name: family for family, words in FAMILIES.items() for word in words.split() if (name := word.partition(".")[0])}


def methods() -> dict[str, str]:
    """The family of each operation that is a method of Tensor."""
    found = {}
    for family, words in FAMILIES.items():
        for name, dot, mark in (word.partition(".") for word in words.split()):
            if dot:
                found[name or mark] = family
            if name and mark:
                found[name + mark] = family
    return found
