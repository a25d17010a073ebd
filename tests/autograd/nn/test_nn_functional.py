"""torch.nn.functional: what the table of operations does not reach: modes, in-place forms, state, randomness, errors."""

import copy
import warnings

import numpy as np
import pytest
from both import needs_torch, torch
from cases.nn_functional import FIRST, NORMS, ints

import autograd as ag
import autograd.nn.functional as F

pytestmark = pytest.mark.quick


def both(call, *arrays, **options):
    """The values and gradients of call(t, *tensors) for ours and PyTorch's."""
    out = []
    for t in (ag, torch):
        xs = [t.from_numpy(np.array(a)) for a in arrays]
        for x in xs:
            if np.asarray(x.detach().numpy()).dtype.kind == "f":
                x.requires_grad_()
        y = call(t, *xs)
        u = np.random.default_rng(0).standard_normal(tuple(y.shape))
        y.backward(t.from_numpy(np.asarray(u)))
        out.append([y.detach().numpy(), *(None if x.grad is None else x.grad.numpy() for x in xs)])
    for a, b in zip(*out):
        assert (a is None) == (b is None)
        if a is not None:
            np.testing.assert_allclose(a, b, rtol=1e-7, atol=1e-10, **options)
            assert a.dtype == b.dtype


def rand(*shape, seed=1):
    return np.random.default_rng(seed).standard_normal(shape)


@needs_torch
@pytest.mark.parametrize("case", FIRST, ids=str)
def test_first_derivatives(case):
    xs = [ag.tensor(a, requires_grad=True) for a in case.inputs()]
    ag.gradcheck(lambda *xs: case.call(ag, *xs), xs)
    both(case.call, *case.inputs(seed=1))


HOT = [c for c in NORMS if "norm" in c.name and "normalize" not in c.name]


@pytest.mark.parametrize("name, call, shapes", [
    *[(c.name, c.call, c.shapes) for c in HOT],
    ("gelu", lambda t, x: F.gelu(x), [(3, 4)]), ("gelu tanh", lambda t, x: F.gelu(x, "tanh"), [(3, 4)]),
    ("softmax", lambda t, x: F.softmax(x, 1), [(3, 4)]), ("mse", lambda t, x, y: F.mse_loss(x, y), [(3, 4), (3, 4)]),
    ("cross_entropy", lambda t, x: F.cross_entropy(x, ints(t, [0, 3, -100])), [(3, 4)]),
    ("cross_entropy none", lambda t, x: F.cross_entropy(x, ints(t, [0, 3, 1]), reduction="none"), [(3, 4)]),
    ("sdpa", lambda t, q, k, v, m: F.scaled_dot_product_attention(q, k, v, m), [(3, 4), (5, 4), (5, 2), (3, 5)])], ids=lambda v: v if isinstance(v, str) else "")
def test_the_rule_for_arrays_and_the_rule_for_tensors_agree(name, call, shapes):
    grads = []
    for create in (False, True):
        xs = [ag.tensor(rand(*s), requires_grad=True) for s in shapes]
        y = call(ag, *xs)
        grads.append(ag.grad(y, xs, ag.tensor(rand(*y.shape, seed=2)), create_graph=create))
    for a, b in zip(*grads):
        np.testing.assert_allclose(a.numpy(), b.detach().numpy(), rtol=1e-11, atol=1e-13)


# --- activations -------------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("name, settings", [
    ("relu", ()), ("relu6", ()), ("elu", (0.5,)), ("selu", ()), ("celu", (2.0,)), ("silu", ()), ("mish", ()), ("hardtanh", (-0.5, 0.5)),
    ("hardsigmoid", ()), ("hardswish", ()), ("leaky_relu", (0.2,)), ("threshold", (0.1, 9.0)), ("rrelu", ()), ("dropout", (0.5,)),
    ("alpha_dropout", (0.5, True)), ("feature_alpha_dropout", (0.5, True)), ("dropout1d", (0.5,)), ("dropout2d", (0.5,)), ("dropout3d", (0.5,))])
@pytest.mark.filterwarnings("ignore:dropout")
def test_in_place_forms_write_into_their_input(name, settings):
    function = getattr(F, name)
    leaf = ag.tensor(rand(2, 3, 4), requires_grad=True)
    ag.manual_seed(3)
    plain = function(leaf, *settings)
    plain.sum().backward()
    expected, leaf.grad = leaf.grad.numpy().copy(), None
    x = leaf * 1
    ag.manual_seed(3)
    y = function(x, *settings, inplace=True)
    assert y is x and y._version > 0
    np.testing.assert_array_equal(y.detach().numpy(), plain.detach().numpy())
    y.sum().backward()
    np.testing.assert_allclose(leaf.grad.numpy(), expected, rtol=1e-12)
    with pytest.raises(RuntimeError, match="leaf"):
        function(leaf, *settings, inplace=True)


@needs_torch
@pytest.mark.parametrize("name, options", [
    ("relu", {}), ("relu6", {}), ("hardtanh", {}), ("hardsigmoid", {}), ("hardswish", {}), ("hardshrink", {}), ("softshrink", {}), ("threshold", {"threshold": 0.5, "value": 2.0}),
    ("leaky_relu", {}), ("elu", {"alpha": 2.0}), ("selu", {}), ("celu", {}), ("softplus", {}), ("logsigmoid", {}), ("silu", {}), ("mish", {}), ("gelu", {})])
def test_corners_and_extremes_like_pytorch(name, options):
    values = np.array([0.0, -0.0, 0.5, -0.5, 1, -1, 3, -3, 6, 40, -40, 800, -800.0])
    both(lambda t, x: getattr(t.nn.functional, name)(x, **options), values)


def test_activations_refuse_integers_unless_pytorch_takes_them():
    with pytest.raises(NotImplementedError, match="int64"):
        F.silu(ag.tensor([1, 2]))
    assert F.hardtanh(ag.tensor([-3, 0, 3])).tolist() == [-1, 0, 1] and F.threshold(ag.tensor([0, 5]), 1, 7).tolist() == [7, 5]


def test_rrelu_and_gumbel_softmax_are_drawn_from_the_default_generator():
    x = ag.tensor(rand(1000))
    ag.manual_seed(0)
    a = F.rrelu(x, 0.1, 0.2, training=True)
    ag.manual_seed(0)
    assert a.tolist() == F.rrelu(x, 0.1, 0.2, training=True).tolist()
    slopes = (a.numpy() / x.numpy())[x.numpy() < 0]
    assert 0.1 <= slopes.min() < slopes.max() <= 0.2
    hard = F.gumbel_softmax(ag.zeros(500, 4, requires_grad=True), hard=True)
    assert set(hard.detach().numpy().ravel().tolist()) == {0, 1} and hard.requires_grad
    assert abs(hard.detach().numpy().mean(0) - 0.25).max() < 0.1


def test_softmax_chooses_a_dimension_with_a_warning():
    x = ag.tensor(rand(2, 3))
    for function in (F.softmax, F.softmin, F.log_softmax):
        with pytest.warns(UserWarning, match="Implicit dimension"):
            assert function(x).tolist() == function(x, 1).tolist()
    assert F.softmax(ag.tensor([1, 2]), 0, dtype=ag.float64).dtype == ag.float64


# --- dropout -----------------------------------------------------------------------------------------------------------

def test_dropout_keeps_the_mean_and_whole_channels_go_together():
    ag.manual_seed(0)
    x = ag.ones(64, 32, 8, 8)
    for function, per_channel in ((F.dropout, False), (F.dropout2d, True)):
        y = function(x, 0.25).numpy()
        assert abs(y.mean() - 1) < 0.05 and np.allclose(np.unique(y), [0, 4 / 3])
        assert (np.ptp(y, axis=(2, 3)) == 0).all() == per_channel
    z = F.alpha_dropout(ag.randn(200, 200), 0.3, training=True).numpy()
    assert abs(z.mean()) < 0.05 and abs(z.std() - 1) < 0.05
    assert F.dropout(x, training=False) is x and not F.dropout(x, 1.0).numpy().any()
    with pytest.raises(ValueError, match="between 0 and 1"):
        F.dropout(x, 1.5)
    with pytest.raises(RuntimeError, match="2D or 3D"):
        F.dropout1d(x)


# --- normalization -----------------------------------------------------------------------------------------------------

@needs_torch
@pytest.mark.parametrize("function", ["batch_norm", "instance_norm"])
def test_running_statistics_like_pytorch(function):
    stats = []
    for t in (ag, torch):
        mean, var = t.from_numpy(np.array([0.5, -1.0, 2.0])), t.from_numpy(np.array([1.0, 2.0, 0.5]))
        for seed in range(2):
            x = t.from_numpy(rand(4, 3, 5, seed=seed))
            getattr(t.nn.functional, function)(x, mean, var, None, None, True, 0.3)
        y = getattr(t.nn.functional, function)(x, mean, var, None, None, False)
        stats.append([mean.numpy(), var.numpy(), y.numpy()])
    for a, b in zip(*stats):
        np.testing.assert_allclose(a, b, rtol=1e-12)


@needs_torch
@pytest.mark.parametrize("shape", [(0, 3), (0, 3, 4), (2, 3, 0), (0, 3, 2, 2)])
@pytest.mark.parametrize("function", ["batch_norm", "instance_norm"])
def test_an_empty_batch_leaves_running_statistics_alone(function, shape):
    if function == "instance_norm" and shape[0] == 0:
        mean, var = ag.full((3,), 5.0), ag.full((3,), 7.0)           # PyTorch has an IndexError there
        if len(shape) > 2:
            assert F.instance_norm(ag.zeros(shape), mean, var).shape == shape and mean.tolist() == [5] * 3 and var.tolist() == [7] * 3
        return
    stats = []
    for t in (ag, torch):
        mean, var, x = t.full((3,), 5.0), t.full((3,), 7.0), t.zeros(*shape, requires_grad=True)
        if function == "instance_norm" and len(shape) < 3:
            return
        weight = t.ones(3, requires_grad=True)
        y = getattr(t.nn.functional, function)(x, mean, var, weight, None, True, 0.3)
        y.sum().backward()
        stats.append([mean.tolist(), var.tolist(), tuple(y.shape), tuple(x.grad.shape), weight.grad.tolist()])
    assert stats[0] == stats[1]


def test_running_statistics_count_as_written_to():
    mean, var = ag.zeros(3), ag.ones(3)
    F.batch_norm(ag.randn(4, 3), mean, var, training=True)
    assert mean._version == 1 and var._version == 1 and mean.numpy().any()


@pytest.mark.parametrize("call, error, words", [
    (lambda: F.batch_norm(ag.ones(1, 3), None, None, training=True), ValueError, "more than 1 value per channel"),
    (lambda: F.batch_norm(ag.ones(2, 3), ag.zeros(4), ag.ones(4)), RuntimeError, "should contain 3 elements not 4"),
    (lambda: F.batch_norm(ag.ones(2, 3), None, None), RuntimeError, "running_mean and running_var"),
    (lambda: F.instance_norm(ag.ones(2, 3, 1)), ValueError, "more than 1 spatial element"),
    (lambda: F.layer_norm(ag.ones(2, 3), (4,)), RuntimeError, r"normalized_shape=\[4\]"),
    (lambda: F.layer_norm(ag.ones(2, 3), 3), TypeError, "tuple of ints"),
    (lambda: F.group_norm(ag.ones(2, 3, 4), 2), RuntimeError, "divisible by num_groups"),
    (lambda: F.prelu(ag.ones(2, 3), ag.ones(2)), RuntimeError, "channel size = 3"),
    (lambda: F.glu(ag.ones(3)), RuntimeError, "must be even"),
    (lambda: F.celu(ag.ones(3), 0.0), RuntimeError, "alpha"),
    (lambda: F.softshrink(ag.ones(3), -1.0), RuntimeError, "lambda"),
    (lambda: F.gelu(ag.ones(3), approximate="x"), RuntimeError, "approximate"),
    (lambda: F.embedding(ag.tensor([5]), ag.ones(5, 2)), IndexError, "out of range"),
    (lambda: F.embedding_bag(ag.tensor([0, 1]), ag.ones(5, 2), ag.tensor([0, 1]), include_last_offset=True), RuntimeError,
     r"offsets\[-1\] must be the length of input, 2, not 1"),
    (lambda: F.embedding_bag(ag.tensor([0]), ag.ones(5, 2), ag.tensor([1])), RuntimeError, r"offsets\[0\]"),
    (lambda: F.embedding_bag(ag.tensor([0]), ag.ones(5, 2)), ValueError, "offsets"),
    (lambda: F.embedding(ag.tensor([0]), ag.ones(())), RuntimeError, "must be 2-D"),
    (lambda: F.embedding(ag.tensor([0]), ag.ones(5, 2), padding_idx=5), AssertionError, "within num_embeddings"),
    (lambda: F.embedding_bag(ag.tensor([[4, 5]]), ag.ones(5, 2)), RuntimeError, "found idx to be 5"),
    (lambda: F.embedding_bag(ag.tensor([[-1, 5]]), ag.ones(5, 2), padding_idx=0), RuntimeError, "found idx to be -1"),
    (lambda: F.embedding_bag(ag.tensor([[0]]), ag.ones(5, 2), padding_idx=-6), RuntimeError, "-5 through 4, but got -6"),
    (lambda: F.embedding_bag(ag.tensor([[0]]), ag.ones(5, 2), mode="sum", per_sample_weights=ag.ones(1, 1).double()), RuntimeError,
     "same type as weight"),
    (lambda: F.scaled_dot_product_attention(ag.ones(2, 3), ag.ones(2, 3), ag.ones(2, 3), ag.ones(2, 2), is_causal=True), RuntimeError, "is_causal"),
    (lambda: F.mse_loss(ag.ones(2), ag.ones(3)), RuntimeError, "must match"),
    (lambda: F.mse_loss(ag.ones(2), ag.ones(2), reduction="x"), ValueError, "not a valid value"),
    (lambda: F.binary_cross_entropy(ag.ones(2) * 2, ag.ones(2)), RuntimeError, "between 0 and 1"),
    (lambda: F.binary_cross_entropy_with_logits(ag.ones(2), ag.ones(1)), ValueError, "must be the same"),
    (lambda: F.cross_entropy(ag.ones(2, 3), ag.tensor([0, 3])), IndexError, "out of bounds"),
    (lambda: F.cross_entropy(ag.ones(2, 3), ag.tensor([0, 1]), label_smoothing=2.0), RuntimeError, "label_smoothing"),
    (lambda: F.nll_loss(ag.ones(2, 3), ag.tensor([0, 1]), ag.ones(3, requires_grad=True)), RuntimeError, "weight"),
    (lambda: F.huber_loss(ag.ones(2), ag.ones(2), delta=0), RuntimeError, "delta"),
    (lambda: F.triplet_margin_loss(ag.ones(2, 3), ag.ones(2, 3), ag.ones(2, 3), margin=-1), ValueError, "margin"),
    (lambda: F.ctc_loss(ag.zeros(4, 1, 3), ag.tensor([[1]]), (5,), (1,)), RuntimeError, "at most 4"),
    (lambda: F.multi_margin_loss(ag.ones(2, 3), ag.tensor([0, 1]), p=3), ValueError, "p == 1")])
@pytest.mark.filterwarnings("ignore:Using a target size")
def test_errors(call, error, words):
    with pytest.raises(error, match=words):
        call()


# --- embedding ---------------------------------------------------------------------------------------------------------

@needs_torch
@pytest.mark.parametrize("options", [
    {}, {"padding_idx": 1}, {"padding_idx": -1}, {"scale_grad_by_freq": True}, {"padding_idx": 0, "scale_grad_by_freq": True}])
def test_embedding_gradients_like_pytorch(options):
    both(lambda t, w: t.nn.functional.embedding(ints(t, [[1, 2, 1], [4, 0, 1]]), w, **options), rand(5, 3))


@needs_torch
@pytest.mark.parametrize("mode", ["sum", "mean", "max"])
@pytest.mark.parametrize("options", [{}, {"padding_idx": 2}, {"scale_grad_by_freq": True}, {"include_last_offset": True}])
def test_bags_like_pytorch(mode, options):
    if mode == "max" and "scale_grad_by_freq" in options:
        return
    offsets = [0, 2, 2, 5, 6] if "include_last_offset" in options else [0, 2, 2, 5]
    both(lambda t, w: t.nn.functional.embedding_bag(ints(t, [1, 2, 1, 4, 4, 2]), w, ints(t, offsets), mode=mode, **options), rand(5, 3))


@needs_torch
@pytest.mark.parametrize("mode", ["sum", "mean", "max"])
@pytest.mark.parametrize("padding_idx", [None, 1, 2])
@pytest.mark.parametrize("offsets", [[0], [0, 6], [0, 6, 6], [0, 0, 6], [0, 0, 0, 6, 6, 6], [0, 2, 4]])
@pytest.mark.parametrize("last", [False, True])
def test_empty_bags_like_pytorch(mode, padding_idx, offsets, last):
    """First, last and all bags empty."""
    offsets = [*offsets, 6] if last else offsets
    indices = np.array([1, 2, 1, 4, 4, 2])
    for weights in ([], [rand(6)]) if mode == "sum" else ([],):
        both(lambda t, w, *p: t.nn.functional.embedding_bag(
            t.from_numpy(indices.copy()), w, ints(t, offsets), mode=mode, include_last_offset=last, padding_idx=padding_idx,
            **({"per_sample_weights": p[0]} if p else {})), rand(5, 3), *weights)


@pytest.mark.parametrize("mode", ["sum", "mean", "max"])
def test_no_bags(mode):
    """Indices that are in no bag count nowhere; PyTorch does the same (and crashes for max)."""
    w = ag.ones(5, 3, requires_grad=True)
    out = F.embedding_bag(ag.tensor([1, 2]), w, ag.tensor([], dtype=ag.int64), mode=mode,
                          per_sample_weights=ag.ones(2) if mode == "sum" else None)
    out.sum().backward()
    assert out.shape == (0, 3) and not w.grad.any()


def test_sparse_gradients_are_dense_and_said_once():
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("default")
        layer = ag.nn.Embedding(5, 2, sparse=True)
        for _ in range(2):
            layer(ag.tensor([1, 1])).sum().backward()
            ag.nn.EmbeddingBag(5, 2, sparse=True)(ag.tensor([[1, 1]]))
    assert layer.weight.grad.tolist() == [[0, 0], [4, 4], [0, 0], [0, 0], [0, 0]]
    assert [str(w.message)[:11] for w in said] == ["sparse=True"]


@needs_torch
@pytest.mark.parametrize("function", ["embedding", "embedding_bag"])
def test_max_norm_scales_the_rows_that_are_used(function):
    table = []
    for t in (ag, torch):
        w = t.from_numpy(rand(5, 3).copy())
        getattr(t.nn.functional, function)(ints(t, [[1, 2, 1]]), w, max_norm=0.7)
        table.append(w.numpy())
    np.testing.assert_allclose(*table, rtol=1e-12)
    assert np.linalg.norm(table[0][[1, 2]], axis=1).max() < 0.71 and np.array_equal(table[0][3], rand(5, 3)[3])


# --- attention ---------------------------------------------------------------------------------------------------------

@needs_torch
def test_a_row_without_keys_is_zero():
    mask = np.array([[True, False], [False, False]])
    both(lambda t, q, k, v: t.nn.functional.scaled_dot_product_attention(q, k, v, t.from_numpy(mask)), rand(2, 3), rand(2, 3, seed=2), rand(2, 3, seed=3))


@needs_torch
@pytest.mark.parametrize("need_weights, average", [(True, True), (True, False), (False, True)])
@pytest.mark.parametrize("masks", ["none", "bool", "float", "three"])
def test_multi_head_masks_like_pytorch(need_weights, average, masks):
    padding = np.array([[False, True, False], [False, False, False]])
    square = np.triu(np.ones((3, 3), bool), 1)
    attn = {"none": None, "bool": square, "float": np.where(square, -np.inf, 0.5), "three": np.broadcast_to(square, (4, 3, 3)).copy()}[masks]
    pad = {"none": None, "bool": padding, "float": np.where(padding, -np.inf, 0.0), "three": padding}[masks]

    def call(t, x, w, b, o, ob, kb, vb):
        out, weights = t.nn.functional.multi_head_attention_forward(
            x, x, x, 4, 2, w, b, kb, vb, True, 0.0, o, ob, key_padding_mask=None if pad is None else t.from_numpy(pad),
            need_weights=need_weights, attn_mask=None if attn is None else t.from_numpy(attn), average_attn_weights=average)
        return out if weights is None else t.cat([out.reshape(-1), weights.reshape(-1)])

    both(call, rand(3, 2, 4), rand(12, 4), rand(12), rand(4, 4), rand(4), rand(1, 1, 4), rand(1, 1, 4, seed=5))


@needs_torch
def test_multi_head_with_separate_weights_and_without_a_batch():
    both(lambda t, q, k, v, wq, wk, wv, o: t.nn.functional.multi_head_attention_forward(
        q, k, v, 4, 2, None, None, None, None, False, 0.0, o, None, use_separate_proj_weight=True, q_proj_weight=wq, k_proj_weight=wk,
        v_proj_weight=wv)[0], rand(3, 4), rand(5, 2), rand(5, 6), rand(4, 4), rand(4, 2), rand(4, 6), rand(4, 4))


def test_attention_dropout_is_drawn_anew_and_keeps_the_mean():
    ag.manual_seed(0)
    q, v = ag.zeros(100, 4, 8), ag.ones(100, 50, 3)
    out = F.scaled_dot_product_attention(q, ag.zeros(100, 50, 8), v, dropout_p=0.5)
    assert abs(out.numpy().mean() - 1) < 0.05 and out.numpy().std() > 0.05


# --- losses ------------------------------------------------------------------------------------------------------------

@needs_torch
@pytest.mark.parametrize("name", ["mse_loss", "l1_loss", "smooth_l1_loss", "soft_margin_loss", "binary_cross_entropy_with_logits", "kl_div", "poisson_nll_loss"])
@pytest.mark.parametrize("legacy", [{"size_average": True}, {"size_average": False}, {"reduce": False}, {"size_average": False, "reduce": True}])
@pytest.mark.filterwarnings("ignore")
def test_the_deprecated_reductions_still_work(name, legacy):
    both(lambda t, x: getattr(t.nn.functional, name)(x, t.from_numpy(abs(rand(3, 4, seed=4))), **legacy), rand(3, 4))
    with pytest.warns(UserWarning, match="size_average and reduce"):
        F.mse_loss(ag.ones(2), ag.ones(2), **legacy)


@needs_torch
@pytest.mark.parametrize("reduction", ["none", "mean", "sum"])
@pytest.mark.parametrize("options", [
    {}, {"ignore_index": 2}, {"label_smoothing": 0.2}, {"weight": True}, {"weight": True, "ignore_index": 2, "label_smoothing": 0.3}])
@pytest.mark.parametrize("shape", [(5, 4), (2, 4, 3), (4,), (0, 4)])
def test_cross_entropy_like_pytorch(reduction, options, shape):
    target = np.random.default_rng(0).integers(0, 4, shape[:1] + shape[2:] if len(shape) > 1 else ())

    def call(t, x):
        settings = {k: t.from_numpy(np.array([1.0, 2, 0.5, 3])) if k == "weight" else v for k, v in options.items()}
        return t.nn.functional.cross_entropy(x, ints(t, target), reduction=reduction, **settings)

    both(call, rand(*shape))


def test_cross_entropy_of_ignored_targets_only_is_nan():
    x = ag.tensor(rand(2, 3), requires_grad=True)
    assert np.isnan(F.cross_entropy(x, ag.tensor([-100, -100])).item())


def test_cross_entropy_in_half_precision_does_not_overflow():
    x = ag.tensor(np.full((4, 5000), 8.0), dtype=ag.float16, requires_grad=True)
    loss = F.cross_entropy(x, ag.tensor([0, 1, 2, 3]))
    loss.backward()
    assert abs(loss.item() - np.log(5000)) < 0.01 and x.grad.dtype == ag.float16


def test_shapes_that_broadcast_are_warned_of():
    with pytest.warns(UserWarning, match="different to the input size"):
        F.mse_loss(ag.ones(3, 1), ag.ones(3))


@needs_torch
@pytest.mark.parametrize("form", ["padded", "joined", "one"])
@pytest.mark.parametrize("reduction", ["none", "mean", "sum"])
def test_ctc_like_pytorch(form, reduction):
    lengths, label_lengths = (6, 5, 7), (2, 0, 3)
    padded = np.array([[1, 1, 9], [9, 9, 9], [3, 2, 2]]) % 5

    def call(t, x):
        logp = t.nn.functional.log_softmax(x, -1)
        if form == "one":
            return t.nn.functional.ctc_loss(logp[:, 0], ints(t, padded[0, :2]), ints(t, 6), ints(t, 2), reduction=reduction)
        targets = padded if form == "padded" else np.concatenate([row[:n] for row, n in zip(padded, label_lengths)])
        return t.nn.functional.ctc_loss(logp, ints(t, targets), lengths, label_lengths, blank=0 if form == "padded" else 4, reduction=reduction)

    both(call, rand(7, 3, 5))


@needs_torch
def test_ctc_of_impossible_labels():
    for zero in (False, True):
        values = []
        for t in (ag, torch):
            x = t.from_numpy(rand(2, 1, 4)).requires_grad_()
            loss = t.nn.functional.ctc_loss(t.log_softmax(x, 2), ints(t, [[1, 1]]), (2,), (2,), zero_infinity=zero)
            loss.backward()
            values.append((loss.item(), x.grad.numpy()))
        assert values[0][0] == values[1][0] == (0 if zero else np.inf)
        if zero:
            np.testing.assert_array_equal(values[0][1], values[1][1])


@pytest.mark.parametrize("name", ["cross_entropy", "nll_loss"])
@pytest.mark.parametrize("smoothing", [{}, {"label_smoothing": 0.1}])
@pytest.mark.parametrize("create_graph", [False, True])
def test_a_mean_over_nothing_gives_no_gradient(name, smoothing, create_graph):
    """As PyTorch: the loss is nan, but a batch of ignored targets does not spoil the weights."""
    if smoothing and name == "nll_loss":
        return
    x = ag.tensor(rand(4, 3), requires_grad=True)
    loss = getattr(F, name)(x, ag.full((4,), -100), **smoothing)
    assert np.isnan(loss.item())
    (g,) = ag.grad(loss, [x], create_graph=create_graph)
    assert g.tolist() == [[0.0] * 3] * 4


@pytest.mark.parametrize("call", [
    lambda x, y: ag.matmul(x, y.mT), lambda x, y: F.scaled_dot_product_attention(x, y, y),
    lambda x, y: F.linear(x, y), lambda x, y: F.scaled_dot_product_attention(x, x, x, dropout_p=1.5)])
def test_shapes_that_do_not_fit_are_runtime_errors(call):
    with pytest.raises(RuntimeError, match="must match the size|must be a matrix|between 0 and 1"):
        call(ag.zeros(2, 3, 4), ag.zeros(3, 3, 4))


def test_ctc_refuses_a_second_derivative():
    x = ag.tensor(rand(4, 1, 3), requires_grad=True)
    loss = F.ctc_loss(ag.log_softmax(x, 2), ag.tensor([[1]]), (4,), (1,))
    (g,) = ag.grad(loss, [x], create_graph=True)
    with pytest.raises(NotImplementedError, match="ctc_loss"):
        g.sum().backward()


def test_top_level_forms_have_their_own_order_of_arguments():
    w = ag.tensor(rand(5, 3))
    assert ag.embedding(w, ag.tensor([1, 2])).tolist() == F.embedding(ag.tensor([1, 2]), w).tolist()
    x = ag.tensor(rand(4, 3))
    y = ag.batch_norm(x, None, None, ag.zeros(3), ag.ones(3), True, 0.1, 1e-5, False)
    assert y.tolist() == F.batch_norm(x, None, None, training=True).tolist()
    assert x.hardshrink(0.3).tolist() == F.hardshrink(x, 0.3).tolist() and ag.celu(x).tolist() == F.celu(x).tolist()


def test_inputs_are_left_alone():
    xs = [ag.tensor(rand(3, 4, seed=i)) for i in range(2)]
    before = copy.deepcopy(xs)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in ("mse_loss", "l1_loss", "huber_loss", "smooth_l1_loss", "kl_div", "cosine_similarity", "pairwise_distance", "gelu", "softplus"):
            getattr(F, name)(*(xs if "loss" in name or name in ("kl_div", "cosine_similarity", "pairwise_distance") else xs[:1]))
    assert [x.tolist() for x in xs] == [x.tolist() for x in before]


@pytest.mark.parametrize("shape", [(4, 5), (64, 50)])                 # NumPy, and kernels
@pytest.mark.parametrize("loss", [F.cross_entropy, lambda x, t, **how: F.nll_loss(F.log_softmax(x, 1), t, **how)])
def test_what_is_ignored_may_be_infinite(loss, shape):
    """Ignored targets count as class 0 inside; its logits may be masked with -inf, and ignored rows may be nan."""
    logits, target = rand(*shape).astype(np.float32), np.full(shape[0], 1)
    target[1] = -100
    expected = float(loss(ag.tensor(np.delete(logits, 1, 0)), ag.tensor(np.delete(target, 1))))
    logits[1] = np.nan
    assert float(loss(ag.tensor(logits), ag.tensor(target))) == pytest.approx(expected, rel=1e-5)
    assert loss(ag.tensor(logits), ag.tensor(target), reduction="none").tolist()[1] == 0
    logits = rand(*shape).astype(np.float32)
    logits[:, 0] = -np.inf
    x = ag.tensor(logits, requires_grad=True)
    made = loss(x, ag.tensor(target))
    made.backward()
    assert np.isfinite(made.item()) and np.isfinite(x.grad.numpy()).all() and not x.grad.numpy()[1].any()


def test_padding_gets_no_gradient_whatever_comes():
    w = ag.tensor(rand(3, 2), requires_grad=True)
    (g,) = ag.grad(F.embedding(ag.tensor([0, 1, 0]), w, padding_idx=0), [w], ag.tensor([[np.nan] * 2, [1.0, 2.0], [np.inf] * 2]).double())
    assert g.tolist() == [[0, 0], [1, 2], [0, 0]]


@pytest.mark.parametrize("call", [
    lambda t, F, x: F.batch_norm(x, t.zeros(2), t.ones(2)), lambda t, F, x: F.grid_sample(x, t.zeros(1, 2, 2, 2), align_corners=True)],
    ids=["batch_norm by running statistics", "grid_sample of the input alone"])
def test_a_gradient_that_does_not_depend_on_x_is_a_function_of_it(call):
    """As in PyTorch, where these are one operation: a second pass is no error (and gives None there, zeros here)."""
    for t, functional in ((ag, F), *([(torch, torch.nn.functional)] if torch else [])):
        x = t.ones(1, 2, 3, 3, requires_grad=True)
        (g,) = t.autograd.grad(call(t, functional, x).sum(), x, create_graph=True)
        (g ** 2).sum().backward()
        assert x.grad is None or not x.grad.any()
