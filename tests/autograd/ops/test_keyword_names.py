"""Arguments by PyTorch's names, and by NumPy's, which PyTorch takes too."""

import numpy as np
import pytest

import autograd as ag

X = np.arange(6.0).reshape(2, 3) + 1
torch = pytest.importorskip("torch")
ALONG = """sum mean prod amax amin max min argmax argmin std var median all any logsumexp nansum count_nonzero cumsum cumprod
    cummax cummin logcumsumexp softmax log_softmax sort argsort squeeze unsqueeze unbind diff aminmax mode""".split()
CALLS = {
    "pow": lambda t, x: t.pow(x, exponent=2), "x.pow": lambda t, x: x.pow(exponent=x), "number": lambda t, x: t.pow(2, x),
    "cat": lambda t, x: t.cat(tensors=[x, x], axis=1), "stack": lambda t, x: t.stack([x, x], axis=1),
    "split": lambda t, x: x.split(split_size=2, dim=1)[1], "det": lambda t, x: t.det(input=x[:, :2]),
    "cholesky_solve": lambda t, x: t.cholesky_solve(x, input2=t.eye(2, dtype=t.float64)),
    "hermite": lambda t, x: t.special.hermite_polynomial_h(x, n=2), "vander": lambda t, x: t.vander(x[0], N=2, increasing=True),
    "vander 1": lambda t, x: t.vander(x[0]), "vander 0": lambda t, x: t.vander(x[0], N=1), "detach": lambda t, x: t.detach(x),
    "frobenius": lambda t, x: t.frobenius_norm(x, 1, True), "nuclear": lambda t, x: t.nuclear_norm(x), "fill": lambda t, x: t.fill(x, 3),
    "empty": lambda t, x: t.cumulative_trapezoid(x[:0], dim=0), "float_power": lambda t, x: t.float_power(x, exponent=2j),
    "square": lambda t, x: t.square(x > 2), "topk": lambda t, x: x.topk(k=2, dim=1, largest=False, sorted=True)[0],
    # numbers by position: PyTorch deprecates them before the last tensor
    "add 3": lambda t, x: t.add(x, 2, 3), "add between": lambda t, x: t.add(x, 2, x), "add method": lambda t, x: x.add(2, x), "add_": lambda t, x: x.clone().add_(2, x),
    "sub 3": lambda t, x: t.sub(x, 2, 3), "sub between": lambda t, x: t.sub(x, 2, x), "rsub": lambda t, x: t.rsub(x, 1, 2), "subtract": lambda t, x: t.sub(x, 0.5, x),
    "addmm": lambda t, x: t.addmm(2, x[:, :2], 3, x, x.T), "addmm beta": lambda t, x: t.addmm(2, x[:, :2], x, x.T), "addmm method": lambda t, x: x[:, :2].addmm(2, 3, x, x.T),
    "addmm_": lambda t, x: x[:, :2].clone().addmm_(2, 3, x, x.T), "addmv": lambda t, x: t.addmv(2, x[:, 0], 3, x, x[0]), "addr": lambda t, x: t.addr(2, x, 3, x[:, 0], x[0]),
    "addbmm": lambda t, x: t.addbmm(2, x[:, :2], 3, x[None], x.T[None]), "baddbmm": lambda t, x: t.baddbmm(2, x[None, :, :2], 3, x[None], x.T[None]),
    "addcmul": lambda t, x: t.addcmul(x, 2, x, x), "addcdiv": lambda t, x: t.addcdiv(x, 2, x, x), "addcmul_": lambda t, x: x.clone().addcmul_(2, x, x),
    # differences with inf: a weight of 0 must not meet it
    **{f"gradient {h} {order}": lambda t, x, h=h, order=order: t.gradient(t.tensor([1, np.inf, 3, -np.inf, 5, 8], dtype=t.float64), spacing=h, edge_order=order)
       for h in (1, 2.5, np.inf, 0.0) for order in (1, 2)},
    "gradient of places": lambda t, x: t.gradient(t.tensor([1.0, np.inf, 3, 4]), spacing=[t.tensor([0.0, 1, 3, np.inf])]),
    # nothing written, and nothing read
    **{f"{name} of none": lambda t, x, name=name, args=args: getattr(x, name)(1, t.zeros(0, dtype=t.int64), *[a(t) for a in args])
       for name, args in (("index_add", [lambda t: t.zeros(2, 0, dtype=t.float64)]), ("index_copy", [lambda t: t.zeros(2, 0, dtype=t.float64)]),
                          ("index_add_", [lambda t: t.zeros(2, 0, dtype=t.float64)]), ("index_fill", [lambda t: 3.0]), ("index_select", []),
                          ("index_reduce", [lambda t: t.zeros(2, 0, dtype=t.float64), lambda t: "prod"]))},
    "scatter_add of none": lambda t, x: x.scatter_add(1, t.zeros(2, 0, dtype=t.int64), t.zeros(2, 0, dtype=t.float64)),
}


def arrays(t, value):
    return [v.detach().numpy() for v in (value if isinstance(value, (tuple, list)) else [value])]


def compare(call):
    mine, theirs = (arrays(t, call(t, t.tensor(X, dtype=t.float64))) for t in (ag, torch))
    assert len(mine) == len(theirs)
    for a, b in zip(mine, theirs):
        assert a.dtype == b.dtype
        np.testing.assert_allclose(a, b)


@pytest.mark.parametrize("name", ALONG)
def test_axis(name):
    compare(lambda t, x: getattr(t, name)(input=x if name not in ("all", "any") else x > 2, axis=1))
    compare(lambda t, x: getattr(x, name)(dim=-1))


@pytest.mark.filterwarnings("ignore:.*deprecated")
@pytest.mark.parametrize("name", CALLS)
def test_calls(name):
    compare(CALLS[name])


def test_stft():
    signal = np.random.default_rng(0).standard_normal((2, 40))
    for settings in ({}, {"center": False}, {"hop_length": 3, "win_length": 6, "window": True}, {"normalized": True}, {"onesided": False}):
        spectra = []
        for t in (ag, torch):
            x = t.tensor(signal, dtype=t.float64)
            own = {k: t.hann_window(6, dtype=t.float64) if k == "window" else v for k, v in settings.items()}
            y = t.stft(x, 8, **{"window": t.hann_window(8, dtype=t.float64), **own}, return_complex=True)
            spectra.append(y.numpy())
            if own.get("center", True):
                back = t.istft(y, 8, **{"window": t.hann_window(8, dtype=t.float64), **own}, length=36)
                np.testing.assert_allclose(back.numpy(), signal[:, :36], atol=1e-12)
        np.testing.assert_allclose(*spectra, atol=1e-12)
    with pytest.raises(RuntimeError, match="return_complex"):
        ag.stft(ag.ones(20), 8)
    with pytest.raises(RuntimeError, match="overlap add min"):
        ag.istft(ag.ones(5, 3, dtype=ag.complex64), 8, window=ag.zeros(8))


def test_tangents_are_constants():
    with ag.forward_ad.dual_level():
        y = ag.forward_ad.make_dual(ag.ones(3), ag.ones(3)).exp()
        assert not y.requires_grad and not ag.forward_ad.unpack_dual(y).tangent.requires_grad
