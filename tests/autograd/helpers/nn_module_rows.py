"""Modules to compare with PyTorch's: one call that makes it, read with `nn` and `t` either way, and its inputs.

An input is a shape (normal numbers that need a gradient), a string that starts with "*" (a NumPy expression whose value
needs a gradient), another string (its value as it is: a tensor if an array), or a dict of such for keyword arguments.
"""

import re

WEIGHT = "t.tensor([0.5, 2.0, 1.0, 0.25])"
LABELS, SIGNS, CHANCES = "rng.integers(0, 4, 5)", "rng.choice([-1, 1], 5)", "rng.random((5, 4))"


def reductions(call, *inputs):
    """The call with each reduction."""
    return [(re.sub(r"\bR\b", f"reduction={r!r}", call), *inputs) for r in ("mean", "sum", "none")]


LINEAR = [
    ("Identity(3, x=4)", (2, 3)), ("Linear(3, 4)", (5, 3)), ("Linear(3, 4, bias=False)", (2, 5, 3)), ("Linear(3, 4, True, 'cpu', t.float64)", (3,)),
    ("Linear(3, 1)", (2, 0, 3)), ("Bilinear(3, 4, 5)", (2, 3), (2, 4)), ("Bilinear(3, 4, 5, bias=False)", (2, 6, 3), (2, 6, 4)),
    ("Flatten()", (2, 3, 4)), ("Flatten(0)", (2, 3, 4)), ("Flatten(1, 2)", (2, 3, 4, 5)), ("Flatten(-2)", (2, 3, 4)),
    ("Unflatten(1, (2, 3))", (2, 6, 2)), ("Unflatten(-1, [2, -1])", (2, 6)), ("Unflatten(dim=0, unflattened_size=t.Size([2, 1]))", (2, 6)),
    ("Embedding(6, 3)", "rng.integers(0, 6, (2, 4))"), ("Embedding(6, 3, padding_idx=1)", "rng.integers(0, 6, (2, 4))"),
    ("Embedding(6, 3, padding_idx=-2, scale_grad_by_freq=True)", "rng.integers(0, 6, (2, 9))"), ("Embedding(6, 3, max_norm=1.0)", "rng.integers(0, 6, 7)"),
    ("Embedding(6, 3, max_norm=1.0, norm_type=1.5, dtype=t.float64)", "rng.integers(0, 6, 7)"),
    ("Embedding(2, 3, _weight=t.tensor([[1., 2., 3.], [4., 5., 6.]]))", "rng.integers(0, 2, 4)"),
    ("Embedding.from_pretrained(t.tensor([[1., 2., 3.], [4., 5., 6.]]))", "rng.integers(0, 2, 4)"),
    ("Embedding.from_pretrained(t.tensor([[1., 2., 3.], [4., 5., 6.]]), freeze=False, padding_idx=0)", "rng.integers(0, 2, 4)"),
    ("EmbeddingBag(6, 3)", "rng.integers(0, 6, (2, 4))"), ("EmbeddingBag(6, 3, mode='sum')", "rng.integers(0, 6, 7)", "np.array([0, 2, 2])"),
    ("EmbeddingBag(6, 3, mode='max')", "rng.integers(0, 6, 7)", "np.array([0, 3])"), ("EmbeddingBag(6, 3, 1.0, 1.0, False, 'sum')", "rng.integers(0, 6, 7)", "np.array([0, 3])"),
    ("EmbeddingBag(6, 3, mode='sum', padding_idx=2)", "rng.integers(0, 6, (3, 4))", {"per_sample_weights": (3, 4)}),
    ("EmbeddingBag(6, 3, include_last_offset=True)", "rng.integers(0, 6, 7)", "np.array([0, 3, 7])"),
    ("EmbeddingBag.from_pretrained(t.tensor([[1., 2., 3.], [4., 5., 6.]]))", "rng.integers(0, 2, (2, 3))"),
    ("EmbeddingBag.from_pretrained(t.tensor([[1., 2., 3.], [4., 5., 6.]]), False, mode='max', padding_idx=0)", "rng.integers(0, 2, (2, 3))"),
    ("CosineSimilarity()", (2, 3, 4), (2, 3, 4)), ("CosineSimilarity(dim=-1, eps=1e-3)", (2, 3), (2, 3)),
    ("PairwiseDistance()", (2, 3), (2, 3)), ("PairwiseDistance(1.0, 1e-3, True)", (2, 3), (2, 3)), ("PairwiseDistance(p=float('inf'))", (2, 3), (2, 3)),
    ("PixelShuffle(2)", (1, 8, 2, 3)), ("PixelUnshuffle(2)", (2, 4, 6)), ("ChannelShuffle(2)", (1, 6, 2, 2)),
]

ACTIVATION = [(call, (3, 4, 2)) for call in (
    "ReLU()", "ReLU6()", "SELU()", "SiLU()", "Mish()", "Hardsigmoid()", "Hardswish()", "Hardtanh()", "Hardtanh(-0.5, 0.25)", "Hardtanh(min_value=-3, max_value=1)",
    "Threshold(0.1, 20)", "LeakyReLU()", "LeakyReLU(0.3)", "ELU()", "ELU(alpha=0.5)", "CELU()", "CELU(2)", "PReLU()", "PReLU(4, 0.1)", "PReLU(4, dtype=t.float64)",
    "GLU()", "GLU(1)", "GELU()", "GELU('tanh')", "Hardshrink()", "Hardshrink(0.9)", "Softshrink()", "Softshrink(lambd=0.1)", "Softplus()", "Softplus(2, 1.5)",
    "Sigmoid()", "Tanh()", "LogSigmoid()", "Softsign()", "Tanhshrink()", "Softmin(0)", "Softmax(dim=-1)", "LogSoftmax(1)", "Softmax2d()", "Softmax()", "LogSoftmax()", "Softmin()",
    "ReLU(True)", "ReLU6(inplace=True)", "SELU(True)", "SiLU(True)", "Mish(True)", "Hardsigmoid(True)", "Hardswish(True)", "Hardtanh(-2, 1.5, True)", "Threshold(0.1, 2, True)",
    "LeakyReLU(0.2, True)", "ELU(1.5, inplace=True)", "CELU(inplace=True)", "CELU(0.5)")]

CONVOLUTION = [
    ("Conv1d(4, 6, 3)", (2, 4, 9)), ("Conv1d(4, 6, (3,), stride=2, padding=1, groups=2, bias=False)", (2, 4, 9)), ("Conv1d(4, 4, 2, padding='same', dilation=3, groups=4)", (2, 4, 9)),
    ("Conv1d(2, 3, 4, padding='same', padding_mode='reflect')", (2, 2, 9)), ("Conv1d(2, 3, 3, padding=2, padding_mode='circular', stride=2)", (2, 9)), ("Conv1d(2, 3, 3, padding='valid', padding_mode='replicate')", (2, 2, 9)),
    ("Conv2d(3, 4, 3)", (2, 3, 6, 5)), ("Conv2d(3, 4, (2, 3), (1, 2), (1, 0), (2, 1))", (2, 3, 6, 7)), ("Conv2d(4, 6, 3, padding=1, groups=2, bias=False)", (4, 6, 5)),
    ("Conv2d(3, 4, [3, 2], padding='same')", (2, 3, 6, 5)), ("Conv2d(3, 4, 3, padding=(1, 2), padding_mode='reflect')", (2, 3, 6, 5)), ("Conv2d(3, 4, 3, 2, 1, padding_mode='replicate')", (2, 3, 6, 5)),
    ("Conv2d(3, 4, 3, padding=(2, 1), padding_mode='circular', dilation=(1, 2))", (2, 3, 6, 5)), ("Conv2d(3, 3, 1, dtype=t.float64, device='cpu')", (1, 3, 2, 2)),
    ("Conv3d(2, 3, 2)", (1, 2, 4, 3, 4)), ("Conv3d(2, 4, (1, 2, 3), (1, 2, 1), (0, 1, 1), groups=2)", (1, 2, 4, 3, 4)), ("Conv3d(2, 2, 3, padding=1, padding_mode='circular')", (1, 2, 4, 3, 4)),
    ("ConvTranspose1d(4, 6, 3)", (2, 4, 5)), ("ConvTranspose1d(4, 6, 3, stride=3, padding=1, output_padding=2, groups=2, bias=False)", (2, 4, 5)), ("ConvTranspose1d(4, 6, 3, 2, dilation=2)", (4, 5), {"output_size": "(14,)"}),
    ("ConvTranspose2d(4, 3, 3)", (2, 4, 3, 4)), ("ConvTranspose2d(4, 6, (2, 3), (2, 1), (1, 0), (1, 0), 2, False, (1, 2))", (2, 4, 3, 4)), ("ConvTranspose2d(4, 3, 3, 2)", (2, 4, 3, 4), {"output_size": "[2, 3, 8, 9]"}),
    ("ConvTranspose2d(4, 3, 3, stride=2, padding=1)", (2, 4, 3, 4), "(6, 7)"), ("ConvTranspose3d(2, 3, 2)", (1, 2, 3, 2, 3)), ("ConvTranspose3d(2, 4, 2, (2, 1, 2), 1, (1, 0, 0), groups=2)", (2, 3, 2, 3)),
    ("Unfold(2)", (2, 3, 4, 5)), ("Unfold((2, 3), dilation=(2, 1), padding=1, stride=(1, 2))", (2, 3, 4, 5)), ("Fold((4, 5), 2)", (2, 8, 12)), ("Fold(output_size=4, kernel_size=(2, 2), padding=1, stride=2, dilation=1)", (2, 8, 9)),
]

POOLING = [
    ("MaxPool1d(2)", (2, 3, 7)), ("MaxPool1d(3, 2, 1, 2, ceil_mode=True)", (2, 3, 8)), ("MaxPool1d(2, return_indices=True)", (3, 7)),
    ("MaxPool2d(2)", (2, 3, 6, 5)), ("MaxPool2d((3, 2), stride=(2, 1), padding=(1, 0), ceil_mode=True)", (2, 3, 6, 5)), ("MaxPool2d(2, 2, 1, 2, True)", (3, 6, 5)), ("MaxPool3d(2)", (1, 2, 4, 4, 5)), ("MaxPool3d(2, (1, 2, 2), 1, return_indices=True)", (1, 2, 4, 4, 5)),
    ("AvgPool1d(2)", (2, 3, 7)), ("AvgPool1d((3,), 2, 1, True, False)", (2, 3, 8)), ("AvgPool2d(2)", (2, 3, 6, 5)), ("AvgPool2d((3, 2), 1, (1, 0), count_include_pad=False)", (2, 3, 6, 5)), ("AvgPool2d(3, 2, 1, True, True, 5)", (2, 3, 6, 5)),
    ("AvgPool3d(2)", (1, 2, 4, 4, 5)), ("AvgPool3d((2, 1, 3), 2, (1, 0, 1), divisor_override=3)", (1, 2, 4, 4, 5)),
    ("LPPool1d(2, 3)", "*rng.random((2, 3, 7)) + 0.1"), ("LPPool1d(1.5, 2, 1, ceil_mode=True)", "*rng.random((2, 3, 7)) + 0.1"), ("LPPool2d(2, (2, 3), stride=2)", "*rng.random((2, 3, 6, 7)) + 0.1"), ("LPPool3d(3, 2)", "*rng.random((1, 2, 4, 4, 4)) + 0.1"),
    ("AdaptiveAvgPool1d(3)", (2, 3, 7)), ("AdaptiveAvgPool2d(1)", (2, 3, 6, 5)), ("AdaptiveAvgPool2d((None, 3))", (2, 3, 6, 5)), ("AdaptiveAvgPool3d((2, 3, None))", (1, 2, 4, 4, 5)),
    ("AdaptiveMaxPool1d(3)", (2, 3, 7)), ("AdaptiveMaxPool2d((2, 3), True)", (2, 3, 6, 5)), ("AdaptiveMaxPool2d((None, 2))", (3, 6, 5)), ("AdaptiveMaxPool3d(2, return_indices=True)", (1, 2, 4, 4, 5)),
    ("FractionalMaxPool2d(2, output_size=(3, 2), _random_samples=t.tensor([[[.1, .6], [.3, .9]]]))", (1, 2, 7, 6)), ("FractionalMaxPool2d((2, 3), output_ratio=0.5, return_indices=True, _random_samples=t.tensor([[[.1, .6], [.3, .9]]]))", (1, 2, 7, 8)),
    ("FractionalMaxPool3d(2, output_ratio=(.5, .5, .7), _random_samples=t.tensor([[[.1, .6, .2], [.3, .9, .8]]]))", (1, 2, 6, 6, 6)),
    ("MaxUnpool1d(2)", (1, 2, 3), "np.array([[[0, 3, 4], [1, 2, 5]]])"), ("MaxUnpool2d((2, 2), stride=2)", (1, 1, 2, 2), "np.array([[[[0, 3], [8, 15]]]])"), ("MaxUnpool2d(3, 2, 1)", (1, 1, 2, 2), "np.array([[[[0, 3], [8, 15]]]])", "(4, 4)"),
    ("MaxUnpool3d(2)", (1, 1, 1, 2, 1), "np.array([[[[[0], [7]]]]])"),
    ("Upsample(3)", (1, 2, 5)), ("Upsample((4, 7))", (1, 2, 3, 5)), ("Upsample(scale_factor=2)", (1, 2, 3, 4, 2)), ("Upsample(scale_factor=(2, 1.5), mode='bilinear')", (1, 2, 3, 4)), ("Upsample(scale_factor=1.7, mode='linear', recompute_scale_factor=True)", (1, 2, 5)),
    ("Upsample(size=5, mode='bicubic', align_corners=True)", (1, 2, 3, 4)), ("Upsample(scale_factor=2, mode='trilinear', align_corners=False)", (1, 1, 2, 3, 2)), ("UpsamplingNearest2d(scale_factor=3)", (1, 2, 3, 2)), ("UpsamplingBilinear2d(size=(4, 5))", (1, 2, 3, 2)), ("UpsamplingBilinear2d(scale_factor=2)", (1, 2, 3, 2)),
] + [(f"{kind}Pad{n}d({padding}{', 3.5' if kind == 'Constant' else ''})", (2, 3, 4, 5, 4)[:n + 1 + batch]) for n in (1, 2, 3) for batch in (0, 1) for kind in ("Constant", "Zero", "Reflection", "Replication", "Circular")
     for padding in (1, (2, 1, 0, 2, 1, 1)[:2 * n])] + [("ZeroPad2d((-1, 2, 0, -1))", (1, 2, 3, 4)), ("ConstantPad2d(padding=(1, 0), value=2)", (1, 2, 3, 4))]

NORM = [
    ("BatchNorm1d(3)", (4, 3)), ("BatchNorm1d(3, 1e-3, 0.3)", (4, 3, 5)), ("BatchNorm1d(3, momentum=None)", (4, 3)), ("BatchNorm1d(3, affine=False)", (4, 3)), ("BatchNorm1d(3, track_running_stats=False)", (4, 3)), ("BatchNorm1d(3, bias=False)", (4, 3)),
    ("BatchNorm2d(3)", (4, 3, 2, 5)), ("BatchNorm2d(3, affine=False, track_running_stats=False)", (4, 3, 2, 5)), ("BatchNorm2d(3, dtype=t.float64)", (1, 3, 2, 5)), ("BatchNorm3d(2, momentum=0.0)", (3, 2, 2, 3, 2)),
    ("InstanceNorm1d(3)", (2, 3, 5)), ("InstanceNorm1d(3, affine=True, track_running_stats=True)", (2, 3, 5)), ("InstanceNorm1d(3)", (3, 5)), ("InstanceNorm2d(3, 1e-2, 0.4, True)", (2, 3, 4, 5)), ("InstanceNorm2d(3, track_running_stats=True)", (3, 4, 5)),
    ("InstanceNorm2d(7)", (2, 3, 4, 5)), ("InstanceNorm3d(2, affine=True, bias=False)", (2, 2, 2, 3, 2)), ("LayerNorm(4)", (2, 3, 4)), ("LayerNorm((3, 4), 1e-3)", (2, 3, 4)), ("LayerNorm([4], elementwise_affine=False)", (2, 4)), ("LayerNorm(4, bias=False)", (2, 4)),
    ("LayerNorm(t.Size([3, 4]))", (2, 3, 4)), ("GroupNorm(2, 4)", (3, 4, 5)), ("GroupNorm(4, 4, 1e-2, False)", (3, 4, 2, 2)), ("GroupNorm(1, 4, bias=False)", (3, 4)), ("RMSNorm(4)", (2, 3, 4)), ("RMSNorm((3, 4), 1e-2)", (2, 3, 4)), ("RMSNorm([4], elementwise_affine=False)", (2, 4)),
    ("LocalResponseNorm(2)", (2, 5, 3)), ("LocalResponseNorm(3, 0.5, 0.6, 2.0)", (2, 5, 3, 3)),
]

DRAWN = [(f"{kind}({how})", shape) for kind, shape in (("Dropout", (4, 3)), ("Dropout1d", (2, 3, 4)), ("Dropout2d", (2, 3, 4, 4)), ("Dropout3d", (2, 3, 2, 2, 2)), ("AlphaDropout", (4, 3)), ("FeatureAlphaDropout", (2, 3, 4)))
         for how in ("", "0.2", "p=0.7, inplace=True")] + [("RReLU()", (3, 4)), ("RReLU(0.1, 0.2, inplace=True)", (3, 4)), ("FractionalMaxPool2d(2, 3)", (1, 2, 7, 7))]

LOSS = [
    *reductions("L1Loss(R)", (5, 4), (5, 4)), *reductions("MSELoss(R)", (5, 4), CHANCES), *reductions("SmoothL1Loss(R, beta=0.5)", (5, 4), (5, 4)), *reductions("HuberLoss(R, delta=0.5)", (5, 4), (5, 4)), ("SmoothL1Loss()", (5,), (5,)), ("HuberLoss('sum', 2.0)", (5,), (5,)),
    *reductions("NLLLoss(R)", (5, 4), LABELS), *reductions(f"NLLLoss({WEIGHT}, ignore_index=1, R)", (5, 4), LABELS), ("NLLLoss()", (2, 4, 3), "rng.integers(0, 4, (2, 3))"), ("NLLLoss2d()", (2, 4, 3, 2), "rng.integers(0, 4, (2, 3, 2))"),
    *reductions("CrossEntropyLoss(R)", (5, 4), LABELS), *reductions(f"CrossEntropyLoss(weight={WEIGHT}, ignore_index=2, label_smoothing=0.1, R)", (5, 4), LABELS), ("CrossEntropyLoss()", (5, 4), CHANCES), ("CrossEntropyLoss(label_smoothing=0.2)", (2, 4, 3), "rng.integers(0, 4, (2, 3))"),
    *reductions("BCELoss(R)", "*rng.random((5, 4))", CHANCES), (f"BCELoss({WEIGHT})", "*rng.random((5, 4))", CHANCES), *reductions("BCEWithLogitsLoss(R)", (5, 4), CHANCES), (f"BCEWithLogitsLoss({WEIGHT}, pos_weight={WEIGHT})", (5, 4), CHANCES),
    *reductions("KLDivLoss(R)", (5, 4), CHANCES), ("KLDivLoss(reduction='batchmean', log_target=True)", (5, 4), (5, 4)), *reductions("PoissonNLLLoss(R)", (5, 4), CHANCES), ("PoissonNLLLoss(False, True)", "*rng.random((5, 4))", "rng.integers(0, 4, (5, 4)) * 1.0"),
    *reductions("GaussianNLLLoss(R)", (5, 4), (5, 4), "*rng.random((5, 4)) + 0.1"), ("GaussianNLLLoss(full=True, eps=1e-2)", (5, 4), (5, 4), "*rng.random((5, 1)) + 0.1"), *reductions("SoftMarginLoss(R)", (5,), SIGNS), *reductions("MultiLabelSoftMarginLoss(R)", (5, 4), "rng.integers(0, 2, (5, 4)) * 1.0"),
    (f"MultiLabelSoftMarginLoss({WEIGHT})", (5, 4), "rng.integers(0, 2, (5, 4)) * 1.0"), *reductions("MultiMarginLoss(R)", (5, 4), LABELS), (f"MultiMarginLoss(2, 0.5, {WEIGHT})", (5, 4), LABELS), *reductions("MultiLabelMarginLoss(R)", (2, 4), "np.array([[3, 0, -1, 1], [2, -1, 0, 0]])"),
    *reductions("HingeEmbeddingLoss(R)", (5,), SIGNS), ("HingeEmbeddingLoss(margin=0.3)", (5,), SIGNS), *reductions("CosineEmbeddingLoss(R)", (5, 4), (5, 4), SIGNS), ("CosineEmbeddingLoss(0.2)", (5, 4), (5, 4), SIGNS), *reductions("MarginRankingLoss(R)", (5,), (5,), SIGNS), ("MarginRankingLoss(0.4)", (5,), (5,), SIGNS),
    *reductions("TripletMarginLoss(R)", (5, 4), (5, 4), (5, 4)), ("TripletMarginLoss(2.0, 1.0, 1e-3, True)", (5, 4), (5, 4), (5, 4)), *reductions("TripletMarginWithDistanceLoss(R)", (5, 4), (5, 4), (5, 4)),
    ("TripletMarginWithDistanceLoss(distance_function=nn.CosineSimilarity(), margin=0.5, swap=True)", (5, 4), (5, 4), (5, 4)), *reductions("CTCLoss(R)", "*log_softmax(rng.standard_normal((7, 2, 4)))", "np.array([[1, 2, 2], [3, 1, 0]])", "np.array([7, 6])", "np.array([3, 2])"),
    ("CTCLoss(blank=3, zero_infinity=True)", "*log_softmax(rng.standard_normal((4, 2, 4)))", "np.array([[1, 2, 2], [2, 1, 0]])", "np.array([4, 3])", "np.array([3, 2])"),
    ("AdaptiveLogSoftmaxWithLoss(8, 12, [3, 6])", (5, 8), "np.array([0, 3, 11, 7, 2])"), ("AdaptiveLogSoftmaxWithLoss(8, 12, [5], div_value=2.0, head_bias=True)", (5, 8), "np.array([0, 3, 4, 1, 2])"), ("AdaptiveLogSoftmaxWithLoss(8, 12, [3, 6], 1.5)", (8,), "np.array(7)"),
    *reductions("LinearCrossEntropyLoss(3, 4, R)", (5, 3), LABELS), (f"LinearCrossEntropyLoss(3, 4, bias=True, weight={WEIGHT}, ignore_index=1, label_smoothing=0.1)", (5, 3), LABELS), ("LinearCrossEntropyLoss(3, 4, out_features=(2,))", (5, 3), "rng.integers(0, 4, (5, 2))"),
    ("MSELoss(size_average=False)", (5,), (5,)), ("L1Loss(reduce=False)", (5,), (5,)), ("CrossEntropyLoss(None, False)", (5, 4), LABELS),
]

CONTAINER = [
    ("Sequential()", (2, 3)), ("Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Sequential(nn.Linear(4, 2), nn.BatchNorm1d(2)))", (5, 3)), ("Sequential(OrderedDict([('first', nn.Linear(3, 4)), ('second', nn.Tanh())]))", (5, 3)),
    ("Sequential(nn.Conv2d(1, 2, 3, padding=1), nn.BatchNorm2d(2), nn.GELU(), nn.MaxPool2d(2), nn.Flatten(), nn.LayerNorm(8), nn.Linear(8, 3), nn.LogSoftmax(1))", (2, 1, 4, 4)),
]

ROWS = [*LINEAR, *ACTIVATION, *CONVOLUTION, *POOLING, *NORM, *LOSS, *CONTAINER]
