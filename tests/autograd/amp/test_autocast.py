"""autocast and GradScaler on the CPU, beside PyTorch's: dtypes of results, values, gradients, state, errors."""

import contextlib
import copy
import functools
import io
import pickle
import re
import threading
import warnings

import numpy as np
import pytest

import autograd as ag
from autograd import forward_ad
from autograd.core.modes import modes
from autograd.core.parallel import run_lanes
from autograd.utils.checkpoint import checkpoint

pytest.importorskip("ml_dtypes")
torch = pytest.importorskip("torch")
HALVES = ("bfloat16", "float16")
BASE = np.random.default_rng(0).standard_normal((5, 3, 4)).astype("f4")

# x is float32, y autocast's dtype, both (5, 3, 4). Results have PyTorch's dtypes, whichever function is asked.
ROWS = """
    x[0] @ x[0].T | x[0] @ y[0].T | x @ x[0].T | x[0,0] @ x[0].T | t.mm(x[0],x[0].T) | t.bmm(x,x.mT) | x[0].matmul(x[0,0])
    t.addmm(t.zeros(3,3),x[0],x[0].T) | x.double() @ x.double().mT | F.linear(x,t.ones(2,4),t.ones(2)) | F.linear(x,t.ones(4))
    F.conv1d(x,t.ones(2,3,2),t.ones(2)) | F.conv3d(x[None,None],t.ones(2,1,1,1,1)) | F.conv_transpose1d(x,t.ones(3,2,2))
    F.conv_transpose2d(x[None],t.ones(5,2,1,1),t.ones(2)) | F.conv_transpose3d(x[None,None],t.ones(1,1,1,1,1))
    F.conv2d(y[None],t.ones(2,5,1,1),t.ones(2),padding="same") | F.conv1d(x,t.ones(2,3,1),padding="same")
    F.conv3d(x[None,None],t.ones(2,1,1,1,1),padding="same") | t.cat([x,y]) | t.stack([x,y]) | t.stack([y,y]) | t.cat([y,y],1)
    t.cat([x.double(),y]) | t.stack([x.long(),y]) | t.cat([x.long(),x.long()]) | t.cat([t.complex(x,x),y]) | y.prod()
    F.l1_loss(y,y) | F.hinge_embedding_loss(y,y) | F.poisson_nll_loss(y,y) | F.margin_ranking_loss(y,y,y) | F.soft_margin_loss(y,y)
    F.multi_margin_loss(y[0],t.tensor([1,2,3])) | F.multilabel_margin_loss(y[0],t.ones(3,4).long()) | t.fft.fft2(y) | t.fft.fftn(y)
    F.binary_cross_entropy_with_logits(y,y,pos_weight=x[0,0]) | t.fft.ifft(y) | t.fft.ifft2(y) | t.fft.ifftn(y) | t.fft.hfft(y)
    t.fft.irfft(y) | t.fft.irfft2(y) | t.fft.irfftn(y) | t.fft.rfft(y) | t.fft.rfft2(y) | t.fft.rfftn(y) | t.fft.ihfft(y)
    L.tensorinv(t.eye(4,dtype=half).reshape(2,2,2,2)) | L.tensorsolve(t.eye(4,dtype=half),t.ones(4)) | L.inv_ex(y[...,:3])
    L.solve(y[...,:3],x) | t.triangular_solve(y[0],y[0,:,:3]) | L.cholesky_ex(t.eye(3,dtype=half)) | L.eigvalsh(y[...,:3])
    t.lu_solve(t.ones(3,1),*t.lu(y[0,:,:3])) | F.fractional_max_pool3d(y[None],2,output_size=1) | F.adaptive_max_pool2d(y,2)
    F.max_unpool3d(y[None],t.arange(60).reshape(1,5,3,4),1) | t.grid_sampler_2d(t.ones(2,1,4,4,dtype=half),t.ones(2,4,4,2),0,0,True)
    t.grid_sampler_3d(t.ones(2,1,4,4,4,dtype=half),t.ones(2,4,4,4,3),0,0,True) | t.dot(x[0,0],x[0,0]) | t.kron(y[0],y[0])
    x * y | x.addcmul(y,y) | t.relu(y) | y.sigmoid() | F.log_softmax(y,-1) | y.mean() | y.std() | y.cumsum(0) | y.to(t.float32) | y[0]
    t.mm(x[0],x[0].T,out=t.empty(3,3)) | t.matmul(x[0],x[0].T,out=t.empty(3,3)) | t.zeros(3,3).addmm_(x[0],x[0].T)
    t.cat([x,y],out=t.empty(0)) | t.mv(x[0],t.ones(4),out=t.ones(3)) | F.mse_loss(y,x,reduction="none")
    t.prod(y,0,out=t.empty(3,4)) | t.prod(y,0) | t.prod(y,0,dtype=half) | t.prod(y,0,dtype=t.float64) | t.prod(y)
    t.prod(x,dtype=half) | t.sum(y) | t.softmax(y,0) | F.layer_norm(y,(4,),t.ones(4)) | F.layer_norm(y,(4,))
    F.group_norm(y,1,t.ones(3)) | F.batch_norm(y,t.zeros(3),t.ones(3),t.ones(3),t.ones(3),True)
    F.batch_norm(y,t.zeros(3),t.ones(3),t.ones(3),t.ones(3),False) | F.instance_norm(y,None,None,t.ones(3),t.ones(3))
    F.rms_norm(y,(4,),t.ones(4)) | F.embedding(t.tensor([1]),t.ones(3,3)) | F.prelu(x,t.ones(1))
    F.pad(y,(1,1),mode="reflect") | F.pad(y,(1,1),mode="replicate") | F.pad(y,(1,1,1,1),mode="reflect")
    F.pad(y[None],(1,1,1,1,1,1),mode="reflect") | F.pad(y[None],(1,1,1,1,1,1),mode="replicate")
    F.pad(y,(1,1),mode="circular") | F.pad(y,(1,1)) | F.binary_cross_entropy(x.sigmoid(),x.sigmoid())
    F.binary_cross_entropy(y.sigmoid(),y.sigmoid()) | F.binary_cross_entropy(y.sigmoid(),x.sigmoid())
    F.gaussian_nll_loss(y,x,x**2) | F.gaussian_nll_loss(y,y,y**2) | F.multilabel_soft_margin_loss(y[0],x[0])
    F.multilabel_soft_margin_loss(y[0],y[0]) | F.cosine_similarity(y,x) | F.cosine_similarity(y,y)
    F.pairwise_distance(y,y) | F.triplet_margin_with_distance_loss(y,x,x) | F.triplet_margin_with_distance_loss(y,y,y)
    F.triplet_margin_loss(y,y,y) | F.cosine_embedding_loss(y[0],y[0],y[0,:,0]) | L.norm(y) | L.vector_norm(y)
    L.matrix_norm(y) | L.matrix_norm(x,2) | L.det(x[:, :, :3]) | t.lu(y) | L.matrix_exp(x[...,:3])
    L.matrix_exp(y[...,:3]) | L.pinv(x) | t.pinverse(y) | L.matrix_power(x[...,:3],2) | L.matrix_power(x[...,:3],1)
    L.matrix_power(x[...,:3],0) | L.matrix_power(x[...,:3],-1) | L.inv(y[...,:3]) | t.inverse(y[...,:3])
    t.istft(t.stft(t.ones(1000),100,return_complex=True),100) | t.stft(t.ones(1000,dtype=half),100,return_complex=True)
    t.hstack([x,y]) | t.vstack([x,y]) | t.dstack([x,y]) | t.column_stack([x,y]) | t.block_diag(x[0],y[0]) | t.fft.fft(y)
    t.fft.rfftfreq(4) | t.fft.fftshift(y) | F.max_unpool1d(*F.max_pool1d(y,2,return_indices=True),2)
    F.fold(t.ones(1,4,9,dtype=half),(4,4),2) | t.cumprod(y,0) | t.var(y) | y+x | t.where(x>0,x,y)
    F.affine_grid(t.ones(2,2,3),(2,1,4,4)) | F.affine_grid(t.ones(2,3,4),(2,1,4,4,4))
    F.grid_sample(t.ones(2,1,4,4,dtype=half),t.ones(2,4,4,2)) | F.bilinear(x,x,t.ones(2,4,4))
    t.einsum("ij,jk",x[0],x[0].T) | t.einsum("ij->",x[0]) | t.einsum("ij,ij->ij",x[0],x[0])
    t.einsum("ij,ij->j",x[0],x[0]) | t.einsum("i,j->ij",x[0,0],x[0,0]) | t.einsum("ij,j,k->k",x[0],x[0,0],x[0,0])
    t.einsum("i,i->",x[0,0],x[0,0]) | t.tensordot(x[0],x[0],2) | t.tensordot(x[0],x[0],0) | L.multi_dot([x[0],x[0].T])
    L.multi_dot([x[0,0],x[0].T]) | L.multi_dot([x[0],x[0].T,x[0]]) | t.chain_matmul(x[0]) | t.cov(x[0]) | t.corrcoef(x[0])
    t.cov(x[0,0]) | L.vecdot(x,x) | L.matmul(x[0],x[0].T) | t.mv(x[0],x[0,0]) | t.inner(x,x) | t.vdot(x[0,0],x[0,0])
    t.addmv(x[0,:,0],x[0],x[0,0]) | t.addr(x[0],x[0,:,0],x[0,0]) | t.outer(x[0,0],x[0,0])
    F.linear_cross_entropy(x[0],t.ones(6,4),t.tensor([1,2,3])) | F.cross_entropy(y[0],t.tensor([1,2,3]))
    F.nll_loss(y[0],t.tensor([1,2,3])) | F.nll_loss(y,t.ones(5,4).long()) | F.smooth_l1_loss(y,y) | F.huber_loss(y,y)
    F.kl_div(y,y) | F.pdist(x[0]) | t.cdist(y,y) | t.dist(x,x) | F.avg_pool3d(y[None],2) | F.avg_pool2d(y,2)
    F.max_pool3d(y[None],2) | F.max_pool3d(y[None],2,return_indices=True) | F.max_pool2d(y,2)
    F.adaptive_max_pool3d(y[None],2) | F.adaptive_avg_pool3d(y[None],2) | F.adaptive_avg_pool2d(y,2)
    F.adaptive_avg_pool3d(y[None],1) | F.lp_pool3d(y[None],2,2) | F.fractional_max_pool2d(y,2,output_size=2)
    F.interpolate(y[None],scale_factor=2) | F.max_unpool2d(*F.max_pool2d(y,2,return_indices=True),2) | t.trace(y[0])
    t.polar(y,y) | t.view_as_complex(y[...,:2].contiguous()) | t.quantile(y,0.5) | t.quantile(y,t.tensor(0.5))
    t.nanquantile(y,0.5) | t.median(y) | t.cholesky(t.eye(3,dtype=half)) | L.cholesky(t.eye(3,dtype=half))
    t.cholesky_inverse(t.eye(3,dtype=half)) | t.cholesky_solve(t.eye(3,dtype=half),t.eye(3)) | t.geqrf(y[0])
    t.orgqr(y[0].T,x[0,:,0]) | t.ormqr(y[0].T,x[0,:,0],x[0].T) | L.householder_product(y[0].T,x[0,:,0])
    t.renorm(y,2,0,1.0) | t.nn.utils.spectral_norm(t.nn.Linear(4,4))(x)
    t.nn.utils.parametrizations.spectral_norm(t.nn.Linear(4,4))(x) | t.nn.utils.weight_norm(t.nn.Linear(4,4))(x)
    t.nn.Bilinear(4,4,2)(x,x) | t.nn.EmbeddingBag(4,4)(t.tensor([[1,2]])) | L.cond(y[...,:3]) | L.matrix_rank(y)
    L.lstsq(y,y) | L.eigh(y[...,:3]) | L.eig(y[...,:3]) | L.eigvals(y[...,:3]) | L.svdvals(y) | L.svd(y) | t.svd(y)
    L.qr(y) | t.qr(y) | t.addcmul(y,y,y) | t.addbmm(t.zeros(3,3),x,x.mT) | t.baddbmm(t.zeros(3,3),x,x.mT)
    F.conv2d(x[None],t.ones(2,5,1,1),t.ones(2)) | F.conv_tbc(x,t.ones(1,4,2),t.ones(2))
    F.scaled_dot_product_attention(x,x,x,t.zeros(3,3)) | F.scaled_dot_product_attention(x,x,x,t.ones(3,3).bool())
    F.unfold(y[None],2) | t.index_copy(x,0,t.tensor([1]),y[:1]) | t.index_copy(y,0,t.tensor([1]),x[:1])
    t.index_add(x,0,t.tensor([1]),x[:1]) | t.searchsorted(x[0,0].sort()[0],y[0])
    F.ctc_loss(t.randn(5,3,4,dtype=half).log_softmax(-1),t.ones(3,2).long(),t.tensor([5]*3),t.tensor([2]*3)) | F.glu(y)
    F.gelu(y) | x.exp() | t.nn.RNN(4,6)(x)[0]
"""
ROWS = [row.strip() for line in ROWS.strip().splitlines() for row in line.split(" | ")]
NOT_HERE = """_addmm_activation _convolution.deprecated _grid_sampler_2d_cpu_fallback _native_multi_head_attention mkldnn_rnn_layer
    fake_quantize_per_tensor_affine _lu_with_info""".split()      # of these the last two are nn.LSTM's and lu's


def kinds(value):
    """The dtypes of a result, nested as it is."""
    if value is None:
        return None
    if hasattr(value, "dtype"):
        return str(value.dtype).removeprefix("torch.")
    return [kinds(v) for v in value]


def result_of(t, row, name):
    x, half = t.tensor(BASE), getattr(t, name)
    names = {"t": t, "F": t.nn.functional, "L": t.linalg, "x": x, "y": x.to(half), "half": half}
    with t.autocast("cpu", half):
        return eval(row, names)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("row", ROWS)
def test_dtypes_of_results(row):
    for name in HALVES:
        mine, theirs = (kinds(result_of(t, row, name)) for t in (ag, torch))
        assert mine == theirs, name


def test_rows_call_all_that_pytorch_casts():
    listed = torch._C._dispatch_get_registrations_for_dispatch_key("AutocastCPU")
    listed = {name.removeprefix("aten::") for name in listed}.difference(NOT_HERE)
    called = set(re.findall(r"[.](\w+)\(", " ".join(ROWS)))
    same = {"cross_entropy_loss": "cross_entropy", "grid_sampler": "grid_sample", "nll_loss2d": "nll_loss",
            "multilabel_margin_loss_forward": "multilabel_margin_loss"}
    for name in sorted(listed):
        name = name.partition(".")[0].removeprefix("fft_").removeprefix("linalg_")
        padded = re.fullmatch("(reflect|replicat)ion_pad.d", name)
        assert padded or same.get(name, name) in called, f"no row calls {name}"


def test_functions_of_arrays_and_the_default_are_left_alone():
    with ag.autocast("cpu"):
        assert ag.linalg.matmul(BASE[0], BASE[0].T).dtype == np.float32      # derivative rules hand over arrays
    x = ag.tensor(BASE)
    assert (x @ x.mT).dtype == ag.float32
    with ag.autocast("cpu"), pytest.raises(RuntimeError, match="float16"):
        ag.cat([x.half(), x.bfloat16()])
    with torch.autocast("cpu"), pytest.raises(RuntimeError):
        torch.cat([torch.ones(1).half(), torch.ones(1).bfloat16()])


LAYERS = [(kind, settings) for kind, more in {
    "LSTM": [{}, {"proj_size": 2}, {"num_layers": 2, "bidirectional": True}, {"bias": False}], "GRU": [{}, {"bidirectional": True}],
    "RNN": [{}, {"num_layers": 2}]}.items() for settings in more]


@functools.cache
def has_lstm(name):
    """Whether PyTorch's oneDNN has an LSTM of these numbers on this processor: float16 on none, bfloat16 from AVX-512 on."""
    try:
        with torch.autocast("cpu", getattr(torch, name)):
            torch.nn.LSTM(4, 6)(torch.zeros(2, 1, 4))
    except RuntimeError:
        return False
    return True


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind, settings", LAYERS, ids=str)
@pytest.mark.parametrize("name", HALVES)
def test_recurrent_layers(kind, settings, name):
    ours, theirs = (getattr(t.nn, kind)(4, 6, **settings) for t in (ag, torch))
    ours.load_state_dict({k: ag.tensor(v.numpy()) for k, v in theirs.state_dict().items()})
    if kind == "LSTM" and "proj_size" not in settings and not has_lstm(name):
        pytest.skip("PyTorch asks oneDNN for what it can't do")
    depth = settings.get("num_layers", 1) * (2 if settings.get("bidirectional") else 1)
    for given in (None, "float32", name):
        for of_input in ("float32", name):
            found = []
            for t, layer in ((ag, ours), (torch, theirs)):
                x, h = t.tensor(BASE).to(getattr(t, of_input)), None
                if given:
                    h = [t.zeros(depth, 3, n, dtype=getattr(t, given)) for n in (settings.get("proj_size", 6), 6)]
                    h = tuple(h) if kind == "LSTM" else h[0]
                packed = t.nn.utils.rnn.pack_padded_sequence(x, [5, 4, 2])
                with t.autocast("cpu", getattr(t, name)):
                    out, other = layer(x, h), layer(packed, h)
                found.append((kinds(out), kinds((other[0].data, other[1])), out[0].detach().float().numpy()))
            assert found[0][:2] == found[1][:2], (given, of_input)
            np.testing.assert_allclose(found[0][2], found[1][2], atol=3e-2)


@pytest.mark.parametrize("kind", ["LSTMCell", "GRUCell", "RNNCell"])
def test_recurrent_cells(kind):
    for name in HALVES:
        for given in (None, "float32", name):
            mine, theirs = (_of_cell(t, kind, name, given) for t in (ag, torch))
            assert mine == theirs, (name, given)


def _of_cell(t, kind, name, given):
    h = None if given is None else t.zeros(3, 6, dtype=getattr(t, given))
    with t.autocast("cpu", getattr(t, name)):
        return kinds(getattr(t.nn, kind)(4, 6)(t.tensor(BASE[0]), (h, h) if h is not None and kind == "LSTMCell" else h))


# --- training ----------------------------------------------------------------------------------------------------------

def mlp(n):
    return n.Sequential(n.Linear(12, 16), n.LayerNorm(16), n.GELU(), n.Dropout(0.0), n.Linear(16, 16), n.ReLU(), n.Linear(16, 5))


def lstm(n):
    class Net(n.Module):
        def __init__(self):
            super().__init__()
            self.body, self.head = n.LSTM(12, 8, batch_first=True), n.Linear(8, 5)

        def forward(self, x):
            return self.head(self.body(x)[0][:, -1])

    return Net()


def transformer(n):
    class Net(n.Module):
        def __init__(self):
            super().__init__()
            self.body = n.TransformerEncoderLayer(12, 2, 16, 0.0, batch_first=True)
            self.head = n.Linear(12, 5)

        def forward(self, x):
            return self.head(self.body(x).mean(1))

    return Net()


def convolutions(n):
    return n.Sequential(n.Conv2d(3, 8, 3, padding=1), n.BatchNorm2d(8), n.ReLU(), n.MaxPool2d(2), n.Conv2d(8, 8, 3), n.GELU(),
                        n.AdaptiveAvgPool2d(1), n.Flatten(), n.Linear(8, 5))


MODELS = {mlp: (8, 12), convolutions: (8, 3, 8, 8), lstm: (8, 6, 12), transformer: (8, 6, 12)}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", HALVES)
@pytest.mark.parametrize("make", MODELS, ids=lambda f: f.__name__)
def test_training(make, name):
    """Activations and losses have PyTorch's dtypes, losses, gradients and weights nearly its values; gradients are float32."""
    if make is lstm and not has_lstm(name):
        pytest.skip("PyTorch asks oneDNN for what it can't do")
    theirs, ours = make(torch.nn), make(ag.nn)
    ours.load_state_dict({k: ag.tensor(v.numpy()) for k, v in theirs.state_dict().items()})
    rng = np.random.default_rng(1)
    xs, ys = rng.standard_normal((4, *MODELS[make])).astype("f4"), rng.integers(0, 5, (4, 8))
    found = {}
    for t, net in ((ag, ours), (torch, theirs)):
        seen, losses, norms = [], [], []
        for number, module in enumerate(net.modules()):
            module.register_forward_hook(lambda m, a, out, number=number: seen.append((number, kinds(out))) if number else None)
        optimizer, scaler = t.optim.SGD(net.parameters(), 0.1, momentum=0.9), t.amp.GradScaler("cpu", init_scale=1024.0)
        for x, y in zip(xs, ys, strict=True):
            optimizer.zero_grad()
            with t.autocast("cpu", getattr(t, name)):
                loss = t.nn.functional.cross_entropy(net(t.tensor(x)), t.tensor(y))
            scaler.scale(loss).backward()
            scaler.unscale_(optimizer)
            norms.append(t.nn.utils.clip_grad_norm_(net.parameters(), 1.0).item())
            assert {kinds(p.grad) for p in net.parameters()} == {"float32"}
            scaler.step(optimizer)
            scaler.update()
            losses.append(loss.item())
        found[t] = seen, losses, norms, [p.detach().numpy() for p in net.parameters()], scaler.state_dict(), loss.dtype
    mine, other = found[ag], found[torch]
    assert mine[0] == other[0] and mine[4] == other[4] and kinds(ag.zeros(1, dtype=mine[5])) == "float32"
    np.testing.assert_allclose(mine[1], other[1], rtol=2e-2)
    np.testing.assert_allclose(mine[2], other[2], rtol=6e-2)
    for a, b in zip(mine[3], other[3], strict=True):
        np.testing.assert_allclose(a, b, atol=2e-2)


@pytest.mark.parametrize("call", [
    lambda t, x, y: x @ y, lambda t, x, y: t.nn.functional.linear(x, y.T, y[0]), lambda t, x, y: x.view(8, 8, 64) @ y,
    lambda t, x, y: t.nn.functional.conv1d(x.view(8, 8, 64), y.view(8, 8, 64)[:, :, :5], y[0, :8]),
    lambda t, x, y: t.nn.functional.scaled_dot_product_attention(x, y, y)], ids=["matmul", "linear", "stack", "conv", "attention"])
def test_products_of_halves_are_rounded_once(call):
    """Forward and back within PyTorch's distance of the exact ones: they are sums in float32."""
    arrays = [np.random.default_rng(n).standard_normal((64, 64)).astype("f2") for n in range(2)]
    found = []
    for t, dtype in ((ag, ag.float16), (torch, torch.float16), (torch, torch.float64)):
        x, y = (t.tensor(a).to(dtype).requires_grad_() for a in arrays)
        out = call(t, x, y)
        assert out.dtype == dtype
        (out * out.detach()).sum(dtype=t.float64).backward()
        found.append([z.detach().double().numpy() for z in (out, x.grad, y.grad)])
    for mine, theirs, exact in zip(*found, strict=True):
        off = np.abs(theirs - exact).max()
        assert np.abs(mine - exact).max() <= 2 * off + 2e-3 * np.abs(exact).max()


@pytest.mark.parametrize("inside", [True, False], ids=["backward inside", "backward outside"])
@pytest.mark.parametrize("name", HALVES)
def test_derivatives_of_two_orders(name, inside):
    """Through the casts, in float32 again at the leaves."""
    def run(t):
        F = t.nn.functional
        x = t.tensor(BASE[0])
        w, v = t.tensor(BASE[1] / 2).requires_grad_(), t.tensor(BASE[2, :, :3].copy()).requires_grad_()
        with t.autocast("cpu", getattr(t, name)):
            h = t.tanh(F.linear(x, w))
            loss = F.mse_loss(h @ v, t.zeros(3, 3)) + t.cat([h, x], 1).prod(1).sum() + (w.view(4, 3) @ h).exp().mean()
            if inside:
                first = t.autograd.grad(loss, (w, v), create_graph=True)
        first = first if inside else t.autograd.grad(loss, (w, v), create_graph=True)
        second = t.autograd.grad(sum((g * g).sum() for g in first), (w, v))
        return [kinds(z) for z in (h, loss, *first, *second)], [z.detach().float().numpy() for z in (loss, *first, *second)]

    mine, theirs = run(ag), run(torch)
    assert mine[0] == theirs[0] == [name] + ["float32"] * 5
    for a, b in zip(mine[1], theirs[1], strict=True):
        np.testing.assert_allclose(a, b, atol=0.03 * np.abs(b).max())


def test_forward_mode_and_no_grad():
    w, x = ag.tensor(BASE[0], requires_grad=True), ag.tensor(BASE[1])
    with ag.autocast("cpu"):
        with ag.no_grad():
            assert not (x @ w.T).requires_grad       # and no cast without a graph is left for what follows
        with ag.inference_mode():
            assert (x @ w.T).dtype == ag.bfloat16
        assert (x @ w.T).requires_grad
        with forward_ad.dual_level():
            y = forward_ad.make_dual(w.detach(), ag.ones(3, 4))
            tangent = forward_ad.unpack_dual(x @ y.T).tangent
    assert tangent.dtype == ag.bfloat16
    np.testing.assert_allclose(tangent.float().numpy(), (BASE[1] @ np.ones((4, 3))).astype("f4"), atol=5e-2)


# --- casts of weights -----------------------------------------------------------------------------------------------------

def casts(loss):
    """How many casts of leaves there are in a graph."""
    seen, todo = set(), [loss.grad_fn]
    while todo:
        node = todo.pop()
        if node is not None and node not in seen:
            seen.add(node)
            todo += [n for n, _ in node.next_functions]
    return sum(node.name().startswith("ToCopy") and "Accumulate" in node.next_functions[0][0].name() for node in seen)


def test_a_weight_is_cast_once_in_the_outermost_block():
    for t in (ag, torch):
        w, x = t.tensor(BASE[0]).requires_grad_(), t.tensor(BASE[1])
        for cached, expected in ((True, 1), (False, 2)):
            with t.autocast("cpu", cache_enabled=cached):
                first = t.nn.functional.linear(x, w)
                with t.autocast("cpu", cache_enabled=cached):
                    second = t.nn.functional.linear(x.to(t.bfloat16), w)
                with t.autocast("cpu", enabled=False):
                    assert t.nn.functional.linear(x, w).dtype == t.float32
                total = first.sum() + second.sum()
            assert casts(total) == expected
            total.backward()
        with t.autocast("cpu"):
            a = t.nn.functional.linear(x.to(t.bfloat16), w).sum()
            t.clear_autocast_cache()
            assert casts(a + t.nn.functional.linear(x.to(t.bfloat16), w).sum()) == 2


def test_backward_twice_through_one_cast():
    w, x = ag.tensor(BASE[0], requires_grad=True), ag.tensor(BASE[1])
    with ag.autocast("cpu"):
        for times in (1, 2):
            (x @ w.T).sum().backward()
            np.testing.assert_allclose(w.grad.numpy(), times * np.tile(BASE[1].sum(0), (3, 1)), rtol=2e-2)


@pytest.mark.parametrize("write", [
    lambda w, o: w.mul_(2), lambda w, o: w.copy_(w * 2), lambda w, o: setattr(w, "data", w.data * 2), lambda w, o: o.step(),
    lambda w, o: ag.nn.init.normal_(w)], ids=["mul_", "copy_", "data", "step", "init"])
def test_a_weight_written_in_the_block_is_cast_again(write):
    w, x = ag.nn.Parameter(ag.tensor(BASE[0])), ag.tensor(BASE[1])
    optimizer = ag.optim.SGD([w], 0.5)
    with ag.autocast("cpu"):
        (x @ w.T).sum().backward()
        with ag.no_grad():
            write(w, optimizer)
        y = x @ w.T
    np.testing.assert_allclose(y.detach().float().numpy(), BASE[1] @ w.detach().numpy().T, atol=5e-2)


def test_nothing_is_kept_after_the_block():
    with ag.autocast("cpu"):
        ag.tensor(BASE[0], requires_grad=True) @ ag.tensor(BASE[1]).T
        assert len(modes.autocast_cache) == 1
    assert modes.autocast_cache is None and modes.autocast_depth == 0 and modes.autocast is None
    ag.set_autocast_enabled("cpu", True)             # without a block nobody would say when they may go
    try:
        assert (ag.tensor(BASE[0], requires_grad=True) @ ag.tensor(BASE[1]).T).dtype == ag.bfloat16
        assert modes.autocast_cache is None
    finally:
        ag.set_autocast_enabled("cpu", False)


def test_a_dtype_whose_package_is_missing_leaves_autocast_off(monkeypatch):
    def missing(dtype):
        raise ModuleNotFoundError("bfloat16 needs the package ml_dtypes: pip install ml_dtypes")

    monkeypatch.setattr("autograd.core.casting.as_dtype", missing)
    with pytest.raises(ModuleNotFoundError, match="ml_dtypes"):
        ag.set_autocast_enabled("cpu", True)
    assert not ag.is_autocast_enabled("cpu")


# --- state, threads, decorators -------------------------------------------------------------------------------------------

def states(t):
    yield t.is_autocast_enabled(), t.is_autocast_enabled("cpu"), t.get_autocast_dtype("cpu"), t.get_autocast_dtype("cuda")
    yield t.is_autocast_cache_enabled(), [t.amp.is_autocast_available(d) for d in ("cpu", "cuda", "mps", "xpu", "meta", "hpu", "hip")]
    with t.autocast("cpu", dtype=t.float16, cache_enabled=False):
        yield t.is_autocast_enabled("cpu"), t.get_autocast_dtype("cpu"), t.is_autocast_cache_enabled()
        yield t.autocast_increment_nesting(), t.autocast_decrement_nesting()
        with t.autocast("cpu", enabled=False):
            yield t.is_autocast_enabled("cpu"), t.get_autocast_dtype("cpu"), t.is_autocast_cache_enabled(), kinds(t.ones(2, 2) @ t.ones(2, 2))
        with contextlib.suppress(KeyError), t.autocast("cpu", dtype=t.bfloat16):
            yield kinds(t.ones(2, 2) @ t.ones(2, 2))
            raise KeyError
        yield kinds(t.ones(2, 2) @ t.ones(2, 2))
    yield t.is_autocast_enabled("cpu"), t.get_autocast_dtype("cpu"), t.is_autocast_cache_enabled()
    t.set_autocast_enabled("cpu", True)
    t.set_autocast_dtype("cpu", t.float16)
    yield kinds(t.ones(2, 2) @ t.ones(2, 2))
    t.set_autocast_enabled("cpu", False)
    t.set_autocast_dtype("cpu", t.bfloat16)
    yield t.is_autocast_cpu_enabled(), t.get_autocast_cpu_dtype(), t.get_autocast_gpu_dtype()
    t.set_autocast_enabled("cuda", True)
    yield t.is_autocast_enabled(), kinds(t.ones(2, 2) @ t.ones(2, 2))
    t.set_autocast_enabled("cuda", False)
    with warnings.catch_warnings(record=True) as given:
        warnings.simplefilter("always")
        with t.autocast("cpu", dtype=t.float64):
            yield kinds(t.ones(2, 2) @ t.ones(2, 2)), t.get_autocast_dtype("cpu")
        with t.autocast("cuda"), t.autocast("cpu:0"):
            yield kinds(t.ones(2, 2) @ t.ones(2, 2)), t.is_autocast_enabled("cuda")
        with t.cpu.amp.autocast(dtype=t.float16):
            yield kinds(t.ones(2, 2) @ t.ones(2, 2))
    yield [w.category for w in given if w.category is UserWarning]


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_state():
    for mine, theirs in zip(list(states(ag)), list(states(torch)), strict=True):
        assert str(mine) == str(theirs)


@pytest.mark.parametrize("wrong", [
    lambda t: t.autocast("meta"), lambda t: t.autocast("nonsense"), lambda t: t.autocast(0), lambda t: t.autocast(t.device("cpu")),
    lambda t: t.autocast(), lambda t: t.set_autocast_enabled("cpu", 1), lambda t: t.set_autocast_dtype("cpu", "bfloat16"),
    lambda t: t.autocast("cpu")(3), lambda t: t.is_autocast_enabled("meta"), lambda t: t.get_autocast_dtype("meta"),
    lambda t: t.amp.custom_fwd(lambda x: x), lambda t: t.amp.custom_fwd(lambda x: x, device_type=3),
    lambda t: t.amp.GradScaler("cpu", growth_factor=1.0), lambda t: t.amp.GradScaler("cpu", backoff_factor=1.0),
    lambda t: t.amp.GradScaler("cpu").scale(3), lambda t: t.amp.GradScaler("cpu").update(),
    lambda t: t.amp.GradScaler("cpu").load_state_dict({})])
def test_errors(wrong):
    with pytest.raises(Exception) as theirs:
        wrong(torch)
    with pytest.raises(theirs.type):
        wrong(ag)


def test_decorators():
    @ag.autocast("cpu", ag.float16)
    def product(n):
        return product(n - 1) if n else (ag.ones(2, 2) @ ag.ones(2, 2)).dtype

    @ag.autocast("cpu")
    def each():
        yield (ag.ones(2, 2) @ ag.ones(2, 2)).dtype

    assert product(2) == ag.float16 and list(each()) == [ag.bfloat16] and not ag.is_autocast_enabled("cpu")
    again = ag.autocast("cpu")
    with again, again:
        assert (ag.ones(2, 2) @ ag.ones(2, 2)).dtype == ag.bfloat16
    assert not ag.is_autocast_enabled("cpu")


def test_each_thread_has_its_own_and_lanes_their_callers():
    w = ag.tensor(BASE[0], requires_grad=True)
    with ag.autocast("cpu"):
        kept = w @ w.T
        found = run_lanes([lambda: (w @ w.T).sum(), lambda: (w @ w.T).sum()])
        other = []
        thread = threading.Thread(target=lambda: other.append((w @ w.T).dtype))
        thread.start()
        thread.join()
    assert [f.dtype for f in found] == [ag.bfloat16] * 2 and other == [ag.float32]
    (found[0] + found[1] + kept.sum()).backward()
    np.testing.assert_allclose(w.grad.numpy(), 3 * 2 * np.tile(BASE[0].sum(0), (3, 1)), rtol=5e-2)


@pytest.mark.parametrize("reentrant", [True, False])
def test_checkpoint_runs_again_as_it_ran(reentrant):
    seen = []

    def piece(x):
        y = ag.nn.functional.linear(ag.tanh(ag.nn.functional.linear(x, w)), w)
        seen.append(y.dtype)
        return y

    grads = []
    for run in (piece, lambda x: checkpoint(piece, x, use_reentrant=reentrant)):
        w, x = (ag.tensor(BASE[:2, 0].copy()[i:i + 1].repeat(4, 0), requires_grad=True) for i in (0, 1))
        with ag.autocast("cpu", ag.float16):
            loss = run(x).float().sum()
        loss.backward()                              # outside of the block
        grads.append((x.grad.tolist(), w.grad.tolist()))
    assert grads[0][0] == grads[1][0] and set(seen) == {np.dtype("float16")}
    np.testing.assert_allclose(grads[0][1], grads[1][1], rtol=2e-3)


@pytest.mark.parametrize("name", HALVES)
def test_a_traced_step(name):
    def steps(around):
        ag.manual_seed(0)
        net = ag.nn.Linear(4, 512)                   # large enough for float16 products in float32
        optimizer = ag.optim.SGD(net.parameters(), 0.1)

        def step(x):
            optimizer.zero_grad()
            with contextlib.nullcontext() if around else ag.autocast("cpu", getattr(ag, name)):
                loss = net(x).square().mean() + net(-0.7 * x + 1).exp().mean()
            loss.backward()
            optimizer.step()
            return loss

        return step

    xs = [ag.tensor(b) for b in BASE]
    for around in (False, True):
        with ag.autocast("cpu", getattr(ag, name)) if around else contextlib.nullcontext():
            plain, replay = steps(around), ag.trace_step(steps(around), xs[0])
            assert [plain(x).item() for x in xs] == [replay(x).item() for x in xs]


@pytest.mark.parametrize("cast_inputs", [None, "float32"])
@pytest.mark.parametrize("on", [True, False])
def test_functions_of_the_users(cast_inputs, on):
    def run(t):
        seen = []

        class Product(t.autograd.Function):
            @staticmethod
            @t.amp.custom_fwd(device_type="cpu", cast_inputs=cast_inputs and getattr(t, cast_inputs))
            def forward(ctx, x, w):
                ctx.save_for_backward(x, w)
                y = x @ w.t()
                seen.append((kinds(x), kinds(y), t.is_autocast_enabled("cpu")))
                return y

            @staticmethod
            @t.amp.custom_bwd(device_type="cpu")
            def backward(ctx, g):
                x, w = ctx.saved_tensors
                gx, gw = g @ w, g.t() @ x
                seen.append((kinds(g), kinds(gx), t.is_autocast_enabled("cpu")))
                return gx, gw

        x, w = t.tensor(BASE[0]).requires_grad_(), t.tensor(BASE[1]).requires_grad_()
        with t.autocast("cpu", enabled=on):
            y = Product.apply(x * 1, w)
        y.float().sum().backward()
        return seen, kinds((x.grad, w.grad)), x.grad.tolist()

    mine, theirs = run(ag), run(torch)
    assert mine[:2] == theirs[:2]
    np.testing.assert_allclose(mine[2], theirs[2], rtol=2e-2)


# --- GradScaler -------------------------------------------------------------------------------------------------------

GRADIENTS = [1.0, 2.0, np.inf, 1.0, np.nan, 1.0, 1.0, 1.0, 1.0, -np.inf, 1.0, 3.0]


@pytest.mark.parametrize("kind", ["SGD", "Adam"])
def test_a_run_of_the_scaler(kind):
    """Scale, weights and state after each step, with overflows on the way, and through a saved state."""
    found = []
    for t in (ag, torch):
        w = t.tensor([1.0, -2.0]).requires_grad_()
        optimizer = getattr(t.optim, kind)([{"params": [w]}, {"params": [t.tensor([5.0]).requires_grad_()]}], 0.1)
        scaler = t.amp.GradScaler("cpu", init_scale=8.0, growth_factor=2.0, backoff_factor=0.25, growth_interval=2)
        seen = [scaler.get_scale(), scaler.is_enabled(), scaler.state_dict()]
        for number, g in enumerate(GRADIENTS):
            optimizer.zero_grad()
            losses = scaler.scale([(w * g).sum(), (w.sum() * 2,)])
            (losses[0] + losses[1][0]).backward()
            if number % 3 == 1:
                scaler.unscale_(optimizer)
                seen.append(w.grad.tolist())
            scaler.step(optimizer)
            scaler.update(*([float(number)] if number == 5 else [t.tensor(16.0)] if number == 6 else []))
            seen += [w.tolist(), scaler.state_dict()]
            if number == 7:
                state, scaler = scaler.state_dict(), t.amp.GradScaler("cpu", init_scale=2.0)
                scaler.load_state_dict(state)
            if number == 8:
                scaler = pickle.loads(pickle.dumps(scaler))
        scaler.set_growth_factor(3.0), scaler.set_backoff_factor(0.1), scaler.set_growth_interval(7)
        seen.append((scaler.get_growth_factor(), scaler.get_backoff_factor(), scaler.get_growth_interval(), scaler._scale.dtype))
        found.append(seen)
    for mine, theirs in zip(*found, strict=True):
        if isinstance(mine, list):
            np.testing.assert_allclose(mine, theirs, rtol=1e-6, atol=1e-6)
        else:
            assert str(mine) == str(theirs)


def protocol(number):
    def run(t):
        w = t.tensor([1.0], dtype=t.float16 if number == 4 else t.float32).requires_grad_()
        optimizer, scaler = t.optim.SGD([w], 0.1), t.amp.GradScaler("cpu", init_scale=2.0)
        if number == 0:
            return scaler.unscale_(optimizer)
        if number == 1:
            return scaler.step(optimizer)
        scaler.scale((w * 3).sum()).backward()
        if number == 2:
            return scaler.unscale_(optimizer), scaler.unscale_(optimizer)
        if number == 3:
            return scaler.step(optimizer), scaler.unscale_(optimizer)
        if number == 4:
            return scaler.unscale_(optimizer)
        if number == 5:
            return scaler.step(optimizer), scaler.step(optimizer)
        if number == 6:
            return scaler.step(optimizer, closure=lambda: None)
        if number == 7:
            return scaler.update()
        if number == 8:
            return scaler.step(t.optim.SGD([t.ones(1).requires_grad_()], 0.1))
        if number == 9:
            return scaler.step(optimizer), pickle.dumps(scaler)
        if number == 10:
            return scaler.update(t.ones(2))
        if number == 11:
            return scaler.update(t.ones(1).requires_grad_())
        return scaler.load_state_dict(t.amp.GradScaler("cpu", enabled=False).state_dict())

    return run


@pytest.mark.parametrize("number", range(13))
def test_the_scalers_protocol(number):
    with pytest.raises(Exception) as theirs:
        protocol(number)(torch)
    with pytest.raises(theirs.type) as mine:
        protocol(number)(ag)
    start = str(theirs.value)[:30]
    assert number >= 10 or str(mine.value).startswith(start)


def test_a_scaler_that_is_off():
    w = ag.ones(2, requires_grad=True)
    optimizer = ag.optim.SGD([w], 0.5)
    with pytest.warns(UserWarning, match="Disabling"):
        scalers = [ag.GradScaler(), ag.GradScaler("cpu", enabled=False)]
    for scaler in scalers:
        optimizer.zero_grad()
        scaler.scale(w.sum()).backward()
        scaler.unscale_(optimizer)
        scaler.step(optimizer)
        scaler.update()
        assert scaler.get_scale() == 1.0 and not scaler.is_enabled() and scaler.state_dict() == {}
    assert w.tolist() == [0.0, 0.0]


def test_an_optimizer_that_unscales_by_itself():
    seen = []

    def make(t, argument):
        class Own(t.optim.SGD):
            _step_supports_amp_scaling = True

            if argument:
                def step(self, closure=None, grad_scaler=None):
                    seen.append((t, grad_scaler.get_scale()))
            else:
                def step(self, closure=None):
                    seen.append((t, float(self.grad_scale), float(self.found_inf)))

        return Own

    for argument in (False, True):
        for t in (ag, torch):
            w = t.ones(1).requires_grad_()
            optimizer, scaler = make(t, argument)([w], 0.1), t.amp.GradScaler("cpu", init_scale=4.0)
            for factor in (1.0,) if argument else (1.0, np.inf):
                scaler.scale((w * factor).sum()).backward()
                with pytest.warns(FutureWarning) if argument else contextlib.nullcontext():
                    scaler.step(optimizer)
                if not argument:
                    scaler.update()
    mine, theirs = ([s[1:] for s in seen if s[0] is t] for t in (ag, torch))
    assert mine == theirs == [(4.0, 0.0), (4.0, 1.0), (4.0,)]


def test_saved_with_the_model():
    scaler = ag.GradScaler("cpu", init_scale=32.0)
    file = io.BytesIO()
    ag.save({"scaler": scaler.state_dict()}, file)
    file.seek(0)
    other = copy.deepcopy(ag.GradScaler("cpu"))
    other.load_state_dict(ag.load(file)["scaler"])
    assert other.state_dict() == scaler.state_dict() and other.get_scale() == 32.0


def test_a_trace_refuses_the_scaler():
    w = ag.nn.Linear(2, 2)
    optimizer, scaler = ag.optim.SGD(w.parameters(), 0.1), ag.GradScaler("cpu")

    def step(x):
        scaler.scale(w(x).sum()).backward()
        scaler.step(optimizer)
        scaler.update()

    with pytest.raises(RuntimeError, match="GradScaler"):
        ag.trace_step(step, ag.ones(3, 2))
