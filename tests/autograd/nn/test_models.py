"""Compact models in PyTorch's idioms: the same text run with our modules and with PyTorch's, from the same weights."""

import math

import numpy as np
import pytest

import autograd as ag

torch = pytest.importorskip("torch", reason="PyTorch, the yardstick, is not installed")
MODELS = []


def model(function):
    MODELS.append(function)
    return function


@model
def gpt(t):
    nn, F = t.nn, t.nn.functional

    class Attention(nn.Module):
        def __init__(self, width, heads, context):
            super().__init__()
            self.heads = heads
            self.qkv, self.proj = nn.Linear(width, 3 * width), nn.Linear(width, width)
            self.register_buffer("bias", t.tril(t.ones(context, context)).view(1, 1, context, context))

        def forward(self, x):
            B, T, C = x.size()
            q, k, v = self.qkv(x).split(C, dim=2)
            q, k, v = (z.view(B, T, self.heads, C // self.heads).transpose(1, 2) for z in (q, k, v))
            att = (q @ k.transpose(-2, -1)) * (1.0 / math.sqrt(k.size(-1)))
            att = F.softmax(att.masked_fill(self.bias[:, :, :T, :T] == 0, float("-inf")), dim=-1)
            return self.proj((att @ v).transpose(1, 2).contiguous().view(B, T, C))

    class GPT(nn.Module):
        def __init__(self):
            super().__init__()
            self.transformer = nn.ModuleDict({"wte": nn.Embedding(11, 8), "wpe": nn.Embedding(6, 8), "h": nn.ModuleList([
                nn.ModuleDict({"ln": nn.LayerNorm(8), "attn": Attention(8, 2, 6), "mlp": nn.Sequential(nn.Linear(8, 16), nn.GELU(), nn.Linear(16, 8))})
                for _ in range(2)]), "ln_f": nn.LayerNorm(8)})
            self.lm_head = nn.Linear(8, 11, bias=False)
            self.transformer.wte.weight = self.lm_head.weight             # tied

        def forward(self, idx):
            x = self.transformer.wte(idx) + self.transformer.wpe(t.arange(0, idx.size(1), dtype=t.long, device=idx.device))
            for block in self.transformer.h:
                x = x + block.attn(block.ln(x))
                x = x + block.mlp(x)
            return self.lm_head(self.transformer.ln_f(x))

    return GPT(), [t.tensor(np.random.default_rng(0).integers(0, 11, (3, 6)))]


@model
def resnet(t):
    nn, F = t.nn, t.nn.functional

    class Block(nn.Module):
        def __init__(self, a, b, stride=1):
            super().__init__()
            self.conv1, self.bn1 = nn.Conv2d(a, b, 3, stride, 1, bias=False), nn.BatchNorm2d(b)
            self.conv2, self.bn2 = nn.Conv2d(b, b, 3, 1, 1, bias=False), nn.BatchNorm2d(b)
            self.downsample = nn.Sequential(nn.Conv2d(a, b, 1, stride, bias=False), nn.BatchNorm2d(b)) if stride != 1 or a != b else None

        def forward(self, x):
            identity = x
            out = F.relu(self.bn1(self.conv1(x)), inplace=True)
            out = self.bn2(self.conv2(out))
            if self.downsample is not None:
                identity = self.downsample(x)
            out += identity
            return F.relu(out)

    net = nn.Sequential(nn.Conv2d(3, 4, 3, padding=1, bias=False), nn.BatchNorm2d(4), nn.ReLU(inplace=True), Block(4, 4), Block(4, 8, 2), nn.AdaptiveAvgPool2d((1, 1)), nn.Flatten(1),
                        nn.Linear(8, 5))
    for m in net.modules():
        if isinstance(m, nn.Conv2d):
            nn.init.kaiming_normal_(m.weight, mode="fan_out", nonlinearity="relu")
    return net, [t.from_numpy(np.random.default_rng(1).standard_normal((4, 3, 8, 8)))]


@model
def language_model(t):
    nn = t.nn

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.encoder, self.rnn = nn.Embedding(9, 6), nn.LSTM(6, 5, 2, dropout=0.0)
            self.gru = nn.GRU(5, 4, bidirectional=True)
            self.decoder = nn.Linear(8, 9)

        def init_hidden(self, bsz):
            weight = next(self.parameters())
            return weight.new_zeros(2, bsz, 5), weight.new_zeros(2, bsz, 5)

        def forward(self, x):
            output, (h, _) = self.rnn(self.encoder(x), self.init_hidden(x.size(1)))
            output, _ = self.gru(output)
            return t.nn.functional.log_softmax(self.decoder(output).view(-1, 9), dim=1) + h.sum() * 0.1

    return Net(), [t.tensor(np.random.default_rng(2).integers(0, 9, (5, 3)))]


@model
def unet(t):
    nn = t.nn

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.inc = nn.Sequential(nn.Conv2d(1, 4, 3, padding=1), nn.GroupNorm(2, 4), nn.SiLU())
            self.down = nn.Sequential(nn.MaxPool2d(2), nn.Conv2d(4, 8, 3, padding=1), nn.ReLU(inplace=True))
            self.up = nn.ConvTranspose2d(8, 4, kernel_size=2, stride=2)
            self.outc = nn.Conv2d(8, 2, 1)

        def forward(self, x):
            x1 = self.inc(x)
            x2 = self.up(self.down(x1))
            dy, dx = x1.size()[2] - x2.size()[2], x1.size()[3] - x2.size()[3]
            x2 = t.nn.functional.pad(x2, [dx // 2, dx - dx // 2, dy // 2, dy - dy // 2])
            return self.outc(t.cat([x2, x1], dim=1))

    return Net(), [t.from_numpy(np.random.default_rng(3).standard_normal((2, 1, 7, 9)))]


@model
def encoder_decoder(t):
    nn = t.nn

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.body = nn.Transformer(d_model=8, nhead=2, num_encoder_layers=1, num_decoder_layers=1, dim_feedforward=16, dropout=0.0, batch_first=True)
            self.query = nn.Parameter(t.zeros(4, 8))
            self.box = nn.Linear(8, 4)

        def forward(self, x):
            q = self.query.unsqueeze(0).repeat(x.shape[0], 1, 1) + 0.1
            return self.box(self.body(x, q, tgt_mask=nn.Transformer.generate_square_subsequent_mask(4).to(x.dtype))).sigmoid()

    return Net(), [t.from_numpy(np.random.default_rng(4).standard_normal((2, 5, 8)))]


@model
def graph_network(t):
    class GraphConvolution(t.nn.Module):
        def __init__(self, a, b):
            super().__init__()
            self.weight, self.bias = t.nn.Parameter(t.FloatTensor(a, b)), t.nn.Parameter(t.FloatTensor(b))
            stdv = 1.0 / math.sqrt(self.weight.size(1))
            self.weight.data.uniform_(-stdv, stdv)
            self.bias.data.uniform_(-stdv, stdv)

        def forward(self, x, adj):
            return t.matmul(adj, t.mm(x, self.weight)) + self.bias

    class GCN(t.nn.Module):
        def __init__(self):
            super().__init__()
            self.gc1, self.gc2 = GraphConvolution(6, 5), GraphConvolution(5, 3)

        def forward(self, x, adj):
            x = t.nn.functional.relu(self.gc1(x, adj))
            return t.nn.functional.log_softmax(self.gc2(x, adj), dim=1)

    rng = np.random.default_rng(5)
    adj = (rng.random((7, 7)) < 0.4) + np.eye(7)
    return GCN(), [t.from_numpy(rng.standard_normal((7, 6))), t.from_numpy(adj / adj.sum(1, keepdims=True))]


def trained(t, make, state, optimizer):
    """Output and gradients at first, and weights after three steps, as arrays."""
    net, inputs = make(t)
    net.double()
    net.load_state_dict({k: t.from_numpy(v.copy()) for k, v in state.items()})
    optim = optimizer(t, net)
    results = []
    for step in range(3):
        out = net(*inputs)
        loss = (out * t.cos(t.arange(out.numel(), dtype=t.float64)).reshape(out.shape)).mean() + (out ** 2).mean()
        optim.zero_grad()
        loss.backward()
        if step == 0:
            results += [out.detach().numpy().copy(), *(p.grad.numpy().copy() for p in net.parameters())]
        optim.step()
    return results + [v.detach().numpy() for v in net.state_dict().values()]


@pytest.mark.parametrize("optimizer", [lambda t, net: t.optim.SGD(net.parameters(), lr=0.1, momentum=0.9),
                                       lambda t, net: t.optim.AdamW(net.parameters(), lr=1e-2)], ids=["SGD", "AdamW"])
@pytest.mark.parametrize("make", MODELS, ids=lambda f: f.__name__)
def test_the_same_as_pytorch(make, optimizer):
    torch.manual_seed(0)
    net = make(torch)[0].double()
    state = {k: v.detach().numpy().copy() for k, v in net.state_dict().items()}
    ours, theirs = trained(ag, make, state, optimizer), trained(torch, make, state, optimizer)
    assert list(make(ag)[0].state_dict()) == list(state) and len(ours) == len(theirs) > 5
    for number, (a, b) in enumerate(zip(ours, theirs)):
        np.testing.assert_allclose(a, b, rtol=1e-7, atol=1e-9, err_msg=str(number))


def test_distributions_like_pytorch():
    for name, arguments in [("Normal", ([0.0, 1.0], [1.0, 0.5])), ("Bernoulli", ([0.2, 0.9],)), ("Categorical", ([[0.2, 0.3, 0.5]],)), ("Uniform", ([0.0, 1.0], [2.0, 3.0]))]:
        made = [getattr(t.distributions, name)(*[t.tensor(a, dtype=t.float64) for a in arguments]) for t in (ag, torch)]
        value = {"Normal": [0.3, 2.0], "Bernoulli": [1.0, 0.0], "Categorical": [2], "Uniform": [0.5, 1.5]}[name]
        for read in (lambda d, t: d.entropy(), lambda d, t: d.log_prob(t.tensor(value, dtype=t.int64 if name == "Categorical" else t.float64))):
            a, b = (read(d, t) for d, t in zip(made, (ag, torch)))
            np.testing.assert_allclose(a.numpy(), b.numpy(), rtol=1e-12)
        assert made[0].sample((5,)).shape == tuple(made[1].sample((5,)).shape)
