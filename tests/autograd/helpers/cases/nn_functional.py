"""Rows for torch.nn.functional: activations, normalization, embedding, attention, losses."""

import numpy as np

from .row import Case, F, labels


def ints(t, values):
    return t.from_numpy(np.array(values))


def signs(t, *shape):
    return t.from_numpy(np.where(np.random.default_rng(7).random(shape) < 0.5, -1, 1))


def f(name, call, shapes=((3, 4),), **settings):
    return Case(f"F.{name}", call, list(shapes), **settings)


def act(name, options=None, kinks=(), **settings):
    options = options or {}
    return f(f"{name} {options or ''}", lambda t, x: getattr(F(t), name)(x, **options), kinks=kinks, **settings)


ACTIVATIONS = [
    act("gelu"), act("gelu", {"approximate": "tanh"}), act("silu"), act("mish"), act("softplus", {"beta": 2.0}),
    act("softplus", {"beta": 3.0, "threshold": 4.0}, (4 / 3,)), act("logsigmoid"), act("softsign"), act("tanhshrink"),
    act("elu", {"alpha": 1.5}, (0,)), act("selu", kinks=(0,)), act("celu", {"alpha": 0.5}, (0,)), act("glu"), act("glu", {"dim": 1}),
    act("relu", kinks=(0,)), act("relu6", kinks=(0,)), act("hardtanh", {"min_val": -1.2, "max_val": 0.4}, (-1.2, 0.4)),
    act("hardswish", kinks=(-3, 3), domain=(-4, 4)), act("hardshrink", {"lambd": 0.7}, (-0.7, 0.7)),
    act("softshrink", {"lambd": 0.3}, (-0.3, 0.3)), act("threshold", {"threshold": 0.2, "value": 5.0}, (0.2,)),
    act("leaky_relu", {"negative_slope": 0.3}, (0,)), act("rrelu", kinks=(0,)), act("softmin", {"dim": 0}), act("softmax", {"dim": 1}),
    f("prelu channels", lambda t, x, w: F(t).prelu(x, w), [(2, 3, 4), (3,)], kinks=(0,)),
    f("prelu one", lambda t, x, w: F(t).prelu(x, w), [(4,), (1,)], kinks=(0,))]
for name in ("elu", "selu", "celu", "silu", "mish", "hardtanh", "relu6", "hardswish", "leaky_relu", "relu", "rrelu"):
    ACTIVATIONS.append(f(f"{name} inplace", lambda t, x, name=name: getattr(F(t), name)(x * 1.5, inplace=True), kinks=(0, 4, -2, 2 / 3, -2 / 3)))
ACTIVATIONS.append(f("threshold_", lambda t, x: F(t).threshold_(x * 1.0, 0.1, 3.0), kinks=(0.1,)))

C3 = [(4, 3, 5), (3,), (3,)]


def running(t):
    return t.from_numpy(np.array([0.1, -0.2, 0.3])), t.from_numpy(np.array([0.5, 1.5, 1.0]))


NORMS = [
    f("batch_norm", lambda t, x, w, b: F(t).batch_norm(x, None, None, w, b, True), C3),
    f("batch_norm plain", lambda t, x: F(t).batch_norm(x, None, None, training=True, eps=0.1), [(5, 3)]),
    f("batch_norm weight eval", lambda t, x, w, b: F(t).batch_norm(x, *running(t), w, b, False), C3),
    f("instance_norm", lambda t, x, w, b: F(t).instance_norm(x, None, None, w, b), C3),
    f("layer_norm", lambda t, x, w, b: F(t).layer_norm(x, (5,), w, b), [(2, 3, 5), (5,), (5,)]),
    f("layer_norm two dims", lambda t, x, w, b: F(t).layer_norm(x, (3, 5), w, b), [(2, 3, 5), (3, 5), (3, 5)]),
    f("layer_norm plain", lambda t, x: F(t).layer_norm(x, [5], eps=0.01), [(4, 5)]),
    f("group_norm", lambda t, x, w, b: F(t).group_norm(x, 2, w, b), [(2, 4, 3), (4,), (4,)]),
    f("rms_norm", lambda t, x, w: F(t).rms_norm(x, (5,), w, eps=0.01), [(2, 3, 5), (5,)]),
    f("local_response_norm", lambda t, x: F(t).local_response_norm(x, 3, 0.5, 0.75, 1.2), [(2, 5, 3)]),
    f("normalize", lambda t, x: F(t).normalize(x, dim=1)), f("normalize p=3", lambda t, x: F(t).normalize(x, 3.0, 0), kinks=(0,)),
    f("normalize p=inf", lambda t, x: F(t).normalize(x, float("inf")), distinct=True, kinks=(0,)),
    f("cosine_similarity", lambda t, x, y: F(t).cosine_similarity(x, y, 1), [(3, 4), (1, 4)]),
    f("pairwise_distance", lambda t, x, y: F(t).pairwise_distance(x, y), [(3, 4), (4,)]),
    f("pairwise_distance p=1", lambda t, x, y: F(t).pairwise_distance(x, y, 1.0, keepdim=True), [(3, 4), (3, 4)]),
    f("bilinear", lambda t, x, y, w, b: F(t).bilinear(x, y, w, b), [(2, 3), (2, 4), (5, 3, 4), (5,)])]

TABLE = [
    f("embedding", lambda t, w: F(t).embedding(ints(t, [[1, 2, 1], [0, 4, 4]]), w), [(5, 3)])]

QKV = [(2, 3, 4), (2, 5, 4), (2, 5, 3)]
ATTENTION = [
    f("sdpa", lambda t, q, k, v: F(t).scaled_dot_product_attention(q, k, v), QKV),
    f("sdpa causal", lambda t, q, k, v: F(t).scaled_dot_product_attention(q, k, v, is_causal=True, scale=0.3), QKV),
    f("sdpa mask", lambda t, q, k, v, m: F(t).scaled_dot_product_attention(q, k, v, m), [*QKV, (3, 5)]),
    f("sdpa bool mask", lambda t, q, k, v: F(t).scaled_dot_product_attention(q, k, v, t.from_numpy(np.tri(3, 5, 1) > 0)), QKV),
    f("sdpa gqa", lambda t, q, k, v: F(t).scaled_dot_product_attention(q, k, v, enable_gqa=True), [(1, 4, 3, 2), (1, 2, 5, 2), (1, 2, 5, 3)]),
    f("multi_head", lambda t, q, k, w, b, o: F(t).multi_head_attention_forward(
        q, k, k, 2, 2, w, b, None, None, False, 0.0, o, None)[0], [(2, 2, 2), (3, 2, 2), (6, 2), (6,), (2, 2)])]

PAIR = [(5, 4), (5, 4)]


def loss(name, options=None, shapes=PAIR, **settings):
    options = options or {}
    return f(f"{name} {options or ''}", lambda t, *xs: getattr(F(t), name)(*xs, **options), shapes, **settings)


def weight(t, *values):
    return t.from_numpy(np.array(values))


LOSSES = [loss(name, {"reduction": r}) for name in ("mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss") for r in ("none", "mean", "sum")]
LOSSES += [
    loss("smooth_l1_loss", {"beta": 0.3}), loss("huber_loss", {"delta": 0.4, "reduction": "sum"}),
    f("mse_loss weight", lambda t, x, y, w: F(t).mse_loss(x, y, weight=w), [*PAIR, (5, 4)]),
    f("cross_entropy images sum", lambda t, x: F(t).cross_entropy(x, labels(t, 2, 3, 2), reduction="sum"), [(2, 4, 3, 2)]),
    f("cross_entropy none weight", lambda t, x: F(t).cross_entropy(x, labels(t, 5), weight(t, 1.0, 2, 0.5, 3), reduction="none"), [(5, 4)]),
    f("nll_loss weight images", lambda t, x: F(t).nll_loss(x, labels(t, 2, 3), weight(t, 1.0, 2, 0.5, 3), ignore_index=1), [(2, 4, 3)]),
    f("linear_cross_entropy", lambda t, x, w, b: F(t).linear_cross_entropy(x, w, labels(t, 5), linear_bias=b), [(5, 3), (4, 3), (4,)]),
    loss("binary_cross_entropy", domain=(0.1, 0.9)), loss("binary_cross_entropy_with_logits"),
    f("bce_with_logits pos_weight", lambda t, x, y: F(t).binary_cross_entropy_with_logits(
        x, y, weight(t, 0.5), pos_weight=weight(t, 1.0, 2, 0.5, 3)), PAIR),
    loss("kl_div", {"reduction": "batchmean"}, domain=(0.1, 0.9)), loss("kl_div", {"log_target": True, "reduction": "sum"}),
    loss("poisson_nll_loss", {"full": True}, domain=(1.2, 3)), loss("poisson_nll_loss", {"log_input": False}, domain=(0.2, 3)),
    loss("gaussian_nll_loss", {"full": True}, [(5, 4), (5, 4), (5, 1)], domain=(0.2, 3)),
    f("soft_margin_loss", lambda t, x: F(t).soft_margin_loss(x, signs(t, 5, 4) * 1.0), [(5, 4)]),
    f("hinge_embedding_loss", lambda t, x: F(t).hinge_embedding_loss(x, signs(t, 5, 4), 0.5), [(5, 4)], kinks=(0.5,)),
    f("margin_ranking_loss", lambda t, x, y: F(t).margin_ranking_loss(x, y, signs(t, 5, 4), 0.2), PAIR),
    f("cosine_embedding_loss", lambda t, x, y: F(t).cosine_embedding_loss(x, y, signs(t, 5), 0.1), PAIR),
    f("multilabel_soft_margin_loss", lambda t, x: F(t).multilabel_soft_margin_loss(x, labels(t, 5, 4, classes=2)), [(5, 4)]),
    loss("triplet_margin_loss", shapes=[(5, 4)] * 3), loss("triplet_margin_loss", {"p": 3.0, "swap": True, "reduction": "none"}, [(5, 4)] * 3),
    loss("triplet_margin_with_distance_loss", {"margin": 2.0}, [(5, 4)] * 3)]

# PyTorch has no second derivative of these: test_nn_functional.py runs them.
FIRST = [
    act("hardsigmoid", kinks=(-3, 3), domain=(-4, 4)),
    f("multi_margin_loss", lambda t, x: F(t).multi_margin_loss(x, labels(t, 5)), [(5, 4)], distinct=True),
    f("multi_margin_loss p=2 weight", lambda t, x: F(t).multi_margin_loss(x, labels(t, 5), 2, 0.5, weight(t, 1.0, 2, 0.5, 3), reduction="none"), [(5, 4)]),
    f("multilabel_margin_loss", lambda t, x: F(t).multilabel_margin_loss(x, ints(t, [[3, 0, -1, 1], [2, -1, 0, 0]])), [(2, 4)], distinct=True),
    f("multi_head extra", lambda t, x, w, b, kb, vb, o: F(t).multi_head_attention_forward(
        x, x, x, 4, 2, w, b, kb, vb, True, 0.0, o, None, need_weights=False)[0],
      [(3, 2, 4), (12, 4), (12,), (1, 1, 4), (1, 1, 4), (4, 4)]),
    f("embedding_bag sum", lambda t, w, s: F(t).embedding_bag(
        ints(t, [1, 2, 1, 4, 0]), w, ints(t, [0, 2, 2]), mode="sum", per_sample_weights=s), [(5, 3), (5,)], second=False),
    f("embedding_bag mean", lambda t, w: F(t).embedding_bag(ints(t, [[1, 2, 1], [0, 4, 4]]), w), [(5, 3)], second=False),
    f("embedding_bag max", lambda t, w: F(t).embedding_bag(
        ints(t, [1, 2, 1, 4, 0]), w, ints(t, [0, 2, 2, 5]), mode="max", include_last_offset=True), [(5, 3)], distinct=True, second=False)]

CASES = ACTIVATIONS + NORMS + TABLE + ATTENTION + LOSSES
