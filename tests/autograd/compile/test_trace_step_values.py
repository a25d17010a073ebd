"""What depends on values in a traced step: computed anew by each replay, bitwise as the step does, or refused by name."""

import numpy as np
import pytest

import autograd as ag
import autograd.nn.functional as F
from autograd import optim
from autograd.compile import TraceError


def net(w, x):
    return ag.tanh(x @ w) @ w


def assigned(out, x):
    out[ag.arange(len(x))] = x
    out[0] = x.mean()
    return out


# each: (weights, rows, labels) -> loss, or (loss, more)
COMPUTED = {
    "sort": lambda w, x, y: ag.sort(net(w, x))[0][:, 0].sum(),
    "topk": lambda w, x, y: ag.topk(net(w, x), 2)[0].sum(),
    "accuracy": lambda w, x, y: (F.cross_entropy(net(w, x), y), (net(w, x).argmax(1) == y).float().mean()),
    "counts": lambda w, x, y: (net(w, x).sum(), (x > 0).sum(), (y == 1).sum(0), (x > 0).sum(1) * 1.5),
    "median": lambda w, x, y: net(w, x).median(dim=1)[0].sum(),
    "cummax": lambda w, x, y: net(w, x).cummax(dim=0)[0].sum(),
    "nll, all ignored": lambda w, x, y: F.nll_loss(net(w, x).log_softmax(1), ag.where(y > 1, y, -100)),
    "empty": lambda w, x, y: net(w, ag.empty_like(x).copy_(x) + ag.zeros_like(x)).sum(),
    "max": lambda w, x, y: net(w, x).max(dim=1)[0].sum(),
    "one index": lambda w, x, y: (net(w, x)[0].max(0)[0], net(w, x).argmax(), x[:, 0].argmin(0)),
    "written": lambda w, x, y: net(w, ag.zeros(len(x), 4).copy_(x) + ag.empty(len(x), 4).normal_()).sum(),
    "bernoulli": lambda w, x, y: (net(w, x) * ag.bernoulli(x.sigmoid())).sum(),
    "written in part": lambda w, x, y: (net(w, assigned(ag.empty(len(x), 4), x)) * ag.empty(4).bernoulli_(0.5)).sum(),
    "any": lambda w, x, y: (net(w, x).sum(), (x > 0).any(), ag.count_nonzero(x > 0)),
    "one_hot": lambda w, x, y: (net(w, x) * F.one_hot(y, 4).float()).sum(),
    "nanmean": lambda w, x, y: net(w, x).nanmean(),
    "where": lambda w, x, y: ag.where((y != 0).unsqueeze(1), net(w, x), 0.0).sum(),
    "masked_fill": lambda w, x, y: net(w, x).masked_fill((y == 0).unsqueeze(1), 0.0).sum(),
    "uniform_": lambda w, x, y: (net(w, x) * ag.empty_like(x).uniform_()).sum(),
    "rrelu": lambda w, x, y: F.rrelu(net(w, x), training=True).sum(),
    "dropout": lambda w, x, y: F.dropout(net(w, x)).sum(),
    "noise": lambda w, x, y: (net(w, x) * ag.randn_like(x)).sum(),
    "cosine": lambda w, x, y: F.cosine_similarity(net(w, x), x * (y[0] > 1).float()).sum(),
    "gaussian": lambda w, x, y: F.gaussian_nll_loss(net(w, x), x, net(w, x) ** 2),
    "bce": lambda w, x, y: F.binary_cross_entropy(net(w, x).sigmoid(), x.sigmoid()),
    "hinge": lambda w, x, y: F.hinge_embedding_loss(net(w, x)[:, 0], ag.where(y > 1, 1, -1)),
    "cosine_embedding": lambda w, x, y: F.cosine_embedding_loss(net(w, x), x, ag.where(y > 1, 1, -1)),
    "padding": lambda w, x, y: F.embedding(y, w, padding_idx=1).sum() + net(w, x).sum(),
    "ignored": lambda w, x, y: F.cross_entropy(net(w, x), y, ignore_index=2),
    "ignored, each": lambda w, x, y: F.cross_entropy(net(w, x), y, ignore_index=2, reduction="none").sum(),
    "ignored, smooth": lambda w, x, y: F.cross_entropy(net(w, x), y, ignore_index=2, label_smoothing=0.1),
    "classes": lambda w, x, y: F.cross_entropy(net(w, x), y, weight=ag.arange(4.0), label_smoothing=0.1),
    "classes, ignored": lambda w, x, y: F.cross_entropy(net(w, x), y - (y == 3).long(), ag.arange(1.0, 5), ignore_index=1),
    "half": lambda w, x, y: F.cross_entropy(net(w, x).half(), y, ag.arange(1.0, 5), label_smoothing=0.1).float(),
    "nll": lambda w, x, y: F.nll_loss(net(w, x).log_softmax(1), y, weight=ag.arange(1.0, 5)),
    "nll, ignored": lambda w, x, y: F.nll_loss(net(w, x).log_softmax(1), y, ignore_index=2, reduction="sum"),
    "images": lambda w, x, y: F.cross_entropy(net(w, x).T[None], y[None], ignore_index=2),
    "index_add": lambda w, x, y: ag.zeros(4, 4).index_add(0, y, net(w, x)).pow(2).sum(),
}
REFUSED = {
    "mask": (lambda w, x, y: net(w, x)[y != -100].sum(), "mask as an index"),
    "mask among indices": (lambda w, x, y: net(w, x)[y != -100, 0].sum(), "mask as an index"),
    "masked_select": (lambda w, x, y: net(w, x).masked_select(x < 9).sum(), "masked_select"),
    "nonzero": (lambda w, x, y: net(w, x)[ag.nonzero(x[:, 0] > -9)[:, 0]].sum(), "nonzero"),
    "equal": (lambda w, x, y: net(w, x).sum() * (2.0 if ag.equal(x, x) else 1.0), "equal"),
    "allclose": (lambda w, x, y: net(w, x).sum() * (2.0 if ag.allclose(x, x) else 1.0), "allclose"),
    "one_hot of all": (lambda w, x, y: net(w, x).sum() * F.one_hot(y).sum(), "one_hot"),
    "unique": (lambda w, x, y: net(w, x).sum() * ag.unique(y).sum(), "unique"),
    "repeats": (lambda w, x, y: ag.repeat_interleave(net(w, x), y, 0).sum(), "repeat_interleave"),
    "max_norm": (lambda w, x, y: F.embedding(y, w, max_norm=1.0).sum() + net(w, x).sum(), "max_norm"),
}


def stepping(loss_of):
    """A step on weights of its own."""
    w = ag.tensor(np.random.default_rng(0).standard_normal((4, 4)).astype(np.float32), requires_grad=True)
    optimizer = optim.SGD([w], lr=0.1)

    def step(x, y):
        optimizer.zero_grad()
        out = loss_of(w, x, y)
        (out[0] if isinstance(out, tuple) else out).backward()
        optimizer.step()
        return out

    return w, step


def batch(seed, rows):
    rng = np.random.default_rng(seed)
    return ag.tensor(rng.standard_normal((rows, 4)).astype(np.float32)), ag.tensor(rng.integers(0, 4, rows))


@pytest.mark.parametrize("rows", [1, 5])
@pytest.mark.parametrize("name", list(COMPUTED))
def test_computed_anew(name, rows):
    (w, slow), (v, step) = stepping(COMPUTED[name]), stepping(COMPUTED[name])
    fast = ag.trace_step(step, batch(0, rows))
    for seed in range(1, 8):
        outs = []
        for run in (slow, fast):
            ag.manual_seed(seed)
            out = run(*batch(seed, rows))
            outs.append([np.array(o.detach().numpy()) for o in (out if isinstance(out, tuple) else (out,))])
        for a, b in zip(*outs, strict=True):
            np.testing.assert_array_equal(a, b, strict=True)
        np.testing.assert_array_equal(w.array, v.array, strict=True)


def test_a_number_alone_as_an_argument():
    fast = ag.trace_step(lambda x, scale: x * scale, (ag.ones(3), ag.tensor(2.0)))
    np.testing.assert_array_equal(fast(ag.ones(3), ag.tensor(5.0)).numpy(), [5.0] * 3)


@pytest.mark.parametrize("array", [np.float32([1, -2, 3]), np.array([4, 0, 1]), np.array([True, False])])
def test_a_result_that_no_call_has_made(array):
    with pytest.raises(TraceError, match="tensor 1 of what the step returns is an array that has other values"):
        ag.trace_step(lambda x: (x + 1, ag.tensor((x.array > 0).sum())), ag.tensor(array))


def test_padded_targets():
    """Recorded with some that are ignored, a step is right for batches without, and where all are; wrong ones are refused."""
    (w, slow), (v, step) = [stepping(lambda w, x, y: F.cross_entropy(net(w, x), y)) for _ in range(2)]
    (x, y), none = batch(0, 5), ag.full((5,), -100)
    padded = ag.where(ag.arange(5) < 3, y, none)
    fast = ag.trace_step(step, (x, padded))
    for targets in (padded, y, ag.where(ag.arange(5) > 0, y, none), none):
        before = w.array.copy()
        np.testing.assert_array_equal(slow(x, targets).array, fast(x, targets).array, strict=True)
        np.testing.assert_array_equal(w.array, v.array, strict=True)
        assert targets is none or (before != w.array).any()
    with pytest.raises(IndexError, match="Target 7 is out of bounds for 4 classes"):
        fast(x, ag.full((5,), 7))


@pytest.mark.parametrize("name", list(REFUSED))
def test_refused_by_name(name):
    loss_of, text = REFUSED[name]
    w, step = stepping(loss_of)
    before = w.array.copy()
    with pytest.raises(TraceError, match=rf"test_trace_step_values\.py:\d+: .*{text}"):
        ag.trace_step(step, batch(0, 5))
    np.testing.assert_array_equal(before, w.array)
