"""bfloat16 tensors, which are differentiable where the package ml_dtypes is: values, gradients and dtypes as PyTorch's."""

import copy
import io

import numpy as np
import pytest

import autograd as ag
from autograd import forward_ad, nn

pytest.importorskip("ml_dtypes")
torch = pytest.importorskip("torch")
BF = ag.bfloat16
EPS = 2.0 ** -8                                       # half a step between neighbours, relative


def wide(x):
    return x.detach().float().numpy()


def draw(*shapes, positive=False):
    rng = np.random.default_rng(len(shapes))
    arrays = [rng.standard_normal(shape).astype("f4") for shape in shapes]
    return [np.abs(a) + 0.5 for a in arrays] if positive else arrays


def leaves(arrays):
    return ([ag.tensor(a).to(BF).requires_grad_() for a in arrays],
            [torch.tensor(a).bfloat16().requires_grad_() for a in arrays])


def close(mine, theirs, exact):
    """Not further from the exact value than PyTorch's, up to a rounding."""
    assert mine.dtype == BF and mine.shape == tuple(theirs.shape)
    scale = np.maximum(np.abs(wide(exact)), 1e-2 * np.abs(wide(exact)).max(initial=0))
    off, allowed = np.abs(wide(mine) - wide(exact)), np.abs(wide(theirs) - wide(exact))
    assert (off <= 2 * allowed.max(initial=0) + 2 * EPS * scale).all()


def compare(f, *shapes, positive=True):
    """f(module, *bfloat16 leaves): values and gradients beside PyTorch's, and its float64 results of the same numbers."""
    mine, theirs = leaves(draw(*shapes, positive=positive))
    doubles = [x.detach().double().requires_grad_() for x in theirs]
    y, z, exact = f(ag, *mine), f(torch, *theirs), f(torch, *doubles)
    close(y, z, exact)
    (u,) = draw(tuple(z.shape))
    y.backward(ag.tensor(u).to(BF))
    z.backward(torch.tensor(u).bfloat16())
    exact.backward(torch.tensor(u).bfloat16().double())
    for a, b, c in zip(mine, theirs, doubles, strict=True):
        close(a.grad, b.grad, c.grad)


F = {ag: nn.functional, torch: torch.nn.functional}
ONE = {
    "exp": lambda t, x: x.exp(), "log": lambda t, x: x.log(), "tanh": lambda t, x: x.tanh(), "sqrt": lambda t, x: x.sqrt(),
    "sigmoid": lambda t, x: t.sigmoid(x), "erf": lambda t, x: t.erf(x), "relu": lambda t, x: t.relu(x - 1),
    "gelu": lambda t, x: F[t].gelu(x), "numbers": lambda t, x: 2.5 * x - 1 / x + x ** 3, "int64": lambda t, x: x * t.arange(5),
    "bool": lambda t, x: x * (t.arange(5) > 2), "0-d float32": lambda t, x: x * t.tensor(2.5), "sum": lambda t, x: x.sum(),
    "sum of a dim": lambda t, x: x.sum(0), "mean": lambda t, x: x.mean(1, keepdim=True), "prod": lambda t, x: x.prod(1),
    "var": lambda t, x: x.var(1), "norm": lambda t, x: x.norm(), "cumsum": lambda t, x: x.cumsum(0),
    "softmax": lambda t, x: F[t].softmax(x, 1), "cross_entropy": lambda t, x: F[t].cross_entropy(x, t.arange(7) % 5),
    "max": lambda t, x: x.max(1).values, "sort": lambda t, x: x.sort(0)[0], "clamp": lambda t, x: x.clamp(0.7, 1.2),
    "where": lambda t, x: t.where(x > 1, x, 0.0), "T": lambda t, x: x.T * 2, "slice": lambda t, x: x[1:4, ::2],
    "index": lambda t, x: x[t.tensor([1, 1, 3])], "mask": lambda t, x: x[x > 1], "cat": lambda t, x: t.cat([x, x * 2]),
    "unfold": lambda t, x: x.unfold(0, 3, 1), "expand": lambda t, x: x[0].expand(600, 5), "view": lambda t, x: x.view(5, 7),
    "clone": lambda t, x: x.clone(), "add_": lambda t, x: (x * 1).add_(x, alpha=2), "lerp": lambda t, x: t.lerp(x, x * 2, 0.3),
    "through float32": lambda t, x: x.float().exp().to(t.bfloat16), "rms_norm": lambda t, x: F[t].rms_norm(x, (5,)),
    "layer_norm": lambda t, x: F[t].layer_norm(x, (5,)), "max_pool": lambda t, x: F[t].max_pool1d(x[None], 2)}


@pytest.mark.parametrize("name", ONE)
def test_one_operand(name):
    compare(ONE[name], (7, 5))


MORE = {
    "add": (lambda t, x, y: x + y, (3000, 2), (2,)), "mul": (lambda t, x, y: x * y, (7, 5), (5,)),
    "div": (lambda t, x, y: x / y, (7, 1), (5,)), "pow": (lambda t, x, y: x ** y, (7, 5), (7, 5)),
    "maximum": (lambda t, x, y: t.maximum(x, y), (7, 5), (7, 5)), "matmul": (lambda t, x, y: x @ y, (7, 300), (300, 3)),
    "mv": (lambda t, x, y: x @ y, (7, 300), (300,)), "dot": (lambda t, x, y: x @ y, (300,), (300,)),
    "bmm": (lambda t, x, y: t.bmm(x, y), (2, 7, 30), (2, 30, 3)),
    "linear": (lambda t, x, w, b: F[t].linear(x, w, b), (700, 30), (9, 30), (9,)),
    "conv2d": (lambda t, x, w, b: F[t].conv2d(x, w, b, padding=1), (2, 3, 8, 8), (4, 3, 3, 3), (4,)),
    "batch_norm": (lambda t, x, w, b: F[t].batch_norm(x, None, None, w, b, True), (50, 5), (5,), (5,)),
    "attention": (lambda t, q, k, v: F[t].scaled_dot_product_attention(q, k, v), (2, 5, 8), (2, 6, 8), (2, 6, 4)),
    "mse_loss": (lambda t, x, y: F[t].mse_loss(x, y), (70, 65), (70, 65))}


@pytest.mark.parametrize("name", MORE)
def test_more_operands(name):
    compare(MORE[name][0], *MORE[name][1:], positive=False) if name != "pow" else compare(*MORE[name])


def test_sums_are_made_in_float32():
    """Counted in bfloat16, ones add up to 256."""
    x, b = ag.ones(3008, 1, dtype=BF, requires_grad=True), ag.ones(1, dtype=BF, requires_grad=True)
    y = x + b
    y.sum().backward()
    assert x.sum().item() == 3008 == b.grad.item() and b.grad.dtype == x.grad.dtype == BF
    assert (x.T @ x).item() == 3008 and x.mean().item() == 1.0


@pytest.mark.parametrize("wider", ["float32", "float64", "float16"])
def test_casts_both_ways(wider):
    x = ag.tensor([1.5, 2.0], dtype=getattr(ag, wider), requires_grad=True)
    y = x.to(BF)
    z = y.to(x.dtype)
    (z * z).sum().backward()
    assert y.requires_grad and z.dtype == x.grad.dtype == x.dtype and x.grad.tolist() == [3.0, 4.0]
    (y * x).sum().backward()
    assert (y * x).dtype == ("float32" if wider == "float16" else wider) and x.grad.tolist() == [6.0, 8.0]
    half = ag.tensor([1.5, 2.0], dtype=BF, requires_grad=True)
    (half.float() + half.half() + half.double()).sum().backward()
    assert half.grad.dtype == BF and half.grad.tolist() == [3.0, 3.0]


def test_dtypes_of_what_has_no_gradient():
    x = ag.tensor([1.0, 2.0], dtype=BF)
    assert (x > 1).tolist() == [False, True] and (x == x).dtype == (x < 1.5).dtype == ag.bool and x.argmax().item() == 1
    assert ag.exp(x, out=ag.empty(2, dtype=BF)).dtype == BF and ag.isnan(x, out=ag.empty(2, dtype=ag.bool)).dtype == ag.bool
    with pytest.raises(NotImplementedError, match=r"bfloat16.*no complex"):
        ag.fft.rfft(x)
    with pytest.raises(NotImplementedError, match=r"bfloat16.*no complex"):
        ag.linalg.eigvals(ag.ones(2, 2, dtype=BF))
    assert x.requires_grad_().to(ag.complex64).requires_grad


def test_more_derivatives():
    x = ag.tensor([1.0, 2.0], dtype=BF, requires_grad=True)
    (g,) = ag.autograd.grad((x ** 3).sum(), x, create_graph=True)
    (h,) = ag.autograd.grad(g.sum(), x)
    assert g.dtype == h.dtype == BF and g.tolist() == [3.0, 12.0] and h.tolist() == [6.0, 12.0]
    with forward_ad.dual_level():
        y = forward_ad.make_dual(x.detach(), ag.ones(2, dtype=BF))
        tangent = forward_ad.unpack_dual((y * y).float().to(BF).sum()).tangent
    assert tangent.dtype == BF and tangent.item() == 6.0


def test_a_function_of_the_users():
    class Square(ag.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx, g):
            return 2 * ctx.saved_tensors[0] * g

    x = ag.tensor([1.0, 3.0], dtype=BF, requires_grad=True)
    y = Square.apply(x)
    y.sum().backward()
    assert y.dtype == x.grad.dtype == BF and x.grad.tolist() == [2.0, 6.0]


def test_writes_and_views():
    x = ag.tensor([1.0, 1.0, 1.0], dtype=BF, requires_grad=True)
    z = x * 1
    z[0] = x[1] * 2
    z[1:].mul_(3)
    (z * z).sum().backward()
    assert x.grad.tolist() == [0.0, 26.0, 18.0]
    y = ag.ones(300, dtype=BF, requires_grad=True)
    y.unfold(0, 280, 1).sum().backward()
    assert y.grad[150].item() == 21.0
    z = x * 2
    with ag.no_grad():
        z.add_(1)                                    # what is wanted of z was rounded into other memory
    assert z.tolist() == [3.0, 3.0, 3.0]


def test_default_dtype():
    ag.set_default_dtype(BF)
    try:
        x = ag.tensor([1, 2])
        for y in (x.exp(), x / 2, x / x, x * 1.5, ag.rsqrt(x), nn.Linear(2, 2)(ag.rand(3, 2))):
            assert y.dtype == BF
    finally:
        ag.set_default_dtype(ag.float32)


@pytest.mark.parametrize("make", [
    lambda n: n.Linear(8, 3), lambda n: n.Sequential(n.Linear(8, 16), n.LayerNorm(16), n.GELU(), n.Linear(16, 3)),
    lambda n: n.LSTM(8, 4), lambda n: n.BatchNorm1d(8)], ids=["linear", "mlp", "lstm", "batch_norm"])
def test_modules(make):
    ours, theirs = make(nn), make(torch.nn)
    theirs.load_state_dict({k: torch.tensor(v.numpy(force=True)) for k, v in ours.state_dict().items()})
    ours, theirs = ours.bfloat16(), theirs.bfloat16()
    x, u = draw((40, 8), (40, 8))
    out = [m(t.tensor(x).to(t.bfloat16)) for t, m in ((ag, ours), (torch, theirs))]
    y, z = (o[0] if isinstance(o, tuple) else o for o in out)
    y.backward(ag.tensor(u[:, :y.shape[1]]).to(BF))
    z.backward(torch.tensor(u[:, :y.shape[1]]).bfloat16())
    pairs = [(y, z), *((p.grad, q.grad) for p, q in zip(ours.parameters(), theirs.parameters(), strict=True)),
             *((p, q) for p, q in zip(ours.buffers(), theirs.buffers(), strict=True) if q.is_floating_point())]
    for a, b in pairs:
        assert a.dtype == BF and np.allclose(wide(a), wide(b), rtol=8 * EPS, atol=8 * EPS * np.abs(wide(b)).max())


@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize("make", [lambda n: n.BatchNorm1d(8), lambda n: n.LayerNorm(8), lambda n: n.GroupNorm(2, 8),
                                  lambda n: n.RMSNorm(8)], ids=["batch", "layer", "group", "rms"])
def test_norms_in_float32(make, training):
    """PyTorch gives the dtype of the input, where the weights are wider; so here, also of float16."""
    for half in ("bfloat16", "float16"):
        found = []
        for t in (ag, torch):
            module = make(t.nn).train(training)
            x = t.tensor(draw((20, 8))[0]).to(getattr(t, half)).requires_grad_()
            y = module(x)
            (y * y.detach() ** 2).sum().backward()
            found.append([y, x.grad, module.weight.grad])
        (mine, theirs), dtypes = found, [half, half, "float32"]
        assert [a.dtype.name for a in mine] == dtypes
        for a, b in zip(mine, theirs, strict=True):
            assert np.allclose(wide(a), wide(b), rtol=4 * EPS, atol=4 * EPS * np.abs(wide(b)).max())


OPTIMISERS = {"SGD": {"lr": 0.1, "momentum": 0.9, "weight_decay": 0.01}, "Adam": {"lr": 0.01}, "AdamW": {"lr": 0.01},
              "Adagrad": {}, "RMSprop": {}, "Adadelta": {"lr": 0.5}, "NAdam": {}, "Adafactor": {}}


@pytest.mark.parametrize("name", OPTIMISERS)
def test_optimisers(name):
    mine, theirs = leaves(draw((6, 600), (5,)))
    steps = [getattr(t.optim, name)(ps, **OPTIMISERS[name]) for t, ps in ((ag, mine), (torch, theirs))]
    before = [wide(p) for p in mine]
    for _ in range(3):
        for optimizer, ps in zip(steps, (mine, theirs), strict=True):
            optimizer.zero_grad()
            sum(((p - 0.3) ** 2).sum() for p in ps).backward()
            optimizer.step()
    for p, q, start in zip(mine, theirs, before, strict=True):
        moved = np.abs(wide(q) - start).max()
        assert p.dtype == BF and np.allclose(wide(p), wide(q), rtol=4 * EPS, atol=0.1 * moved) and moved > 0
    state = steps[0].state[mine[0]]
    assert all(v.dtype == BF for v in state.values() if v.ndim)
    again = getattr(ag.optim, name)(mine, **OPTIMISERS[name])
    again.load_state_dict(steps[0].state_dict())
    assert all(again.state[mine[0]][k].tolist() == v.tolist() for k, v in state.items())


def test_lbfgs_begins_with_the_whole_sum():
    x = ag.ones(2000, dtype=BF, requires_grad=True)
    optimizer = ag.optim.LBFGS([x], lr=1, max_iter=1)
    optimizer.step(lambda: (optimizer.zero_grad(), loss := (x * 8).sum(), loss.backward())[1])
    assert abs(optimizer.state[x]["t"] * 16000 - 1) < EPS


@pytest.mark.parametrize("order", [2.0, 1.0, float("inf")])
def test_clipping(order):
    x = ag.ones(3000, dtype=BF, requires_grad=True)
    x.sum().backward()
    norm = nn.utils.clip_grad_norm_([x], 1.0, order)
    exact = np.linalg.norm(np.ones(3000), order)
    assert norm.dtype == x.grad.dtype == BF and abs(norm.item() / exact - 1) < EPS
    assert abs(x.grad[0].item() * exact - 1) < 4 * EPS


def test_copies_files_and_random_numbers():
    x = ag.tensor([1.0, 2.0], dtype=BF, requires_grad=True)
    memory = io.BytesIO()
    ag.save({"x": x}, memory)
    memory.seek(0)
    for y in (copy.deepcopy(x), ag.load(memory)["x"]):
        assert y.requires_grad and y.dtype == BF and y.tolist() == [1.0, 2.0]
    assert 0 <= ag.zeros(100, dtype=BF).random_().max().item() <= 256


def test_trace():
    def made():
        ag.manual_seed(0)
        model = nn.Sequential(nn.Linear(4, 3), nn.Tanh(), nn.Linear(3, 1)).to(BF)
        optimizer = ag.optim.SGD(model.parameters(), lr=0.1)

        def step(x):
            optimizer.zero_grad()
            loss = (model(x) ** 2).mean()
            loss.backward()
            optimizer.step()
            return loss

        return model, step

    x = ag.tensor(draw((5, 4))[0]).to(BF)
    (plain, step), (replayed, recorded) = made(), made()
    recorded = ag.trace_step(recorded, (x,))
    for _ in range(3):
        assert step(x).item() == recorded(x).item()
    assert all(p.tolist() == q.tolist() for p, q in zip(plain.parameters(), replayed.parameters(), strict=True))
