"""The models that are timed, written once for both libraries: `t` is autograd or torch. make(t) gives (module, batch, loss,
optimizer) for one rank; weights and data are the same in both, drawn by NumPy.
"""

import functools

import numpy as np


def seeded(t, model):
    """The same weights in both libraries: small random ones, no biases, norms as they are made."""
    rng = np.random.default_rng(0)
    state = model.state_dict()
    for name, value in state.items():
        if value.ndim > 1:
            fan = int(np.prod(value.shape[1:]))
            state[name] = t.from_numpy((rng.standard_normal(tuple(value.shape)) / np.sqrt(fan)).astype(np.float32))
        elif "bias" in name:
            state[name] = t.zeros(value.shape)
    model.load_state_dict(state)
    return model


def batch(t, shape, classes, rank, size, integers=False):
    """This rank's rows of a batch of size * shape[0] rows, and their labels."""
    rng = np.random.default_rng(1)
    rows = shape[0] * size
    x = rng.integers(0, classes, (rows, *shape[1:])) if integers else rng.standard_normal((rows, *shape[1:])).astype(np.float32)
    y = rng.integers(0, classes, (rows, *shape[1:]) if integers else rows)
    return t.from_numpy(x[rank::size].copy()), t.from_numpy(y[rank::size].copy())


def classify(t):
    return lambda model, x, y: t.nn.functional.cross_entropy(model(x), y)


def adamw(t):
    return lambda parameters: t.optim.AdamW(parameters, lr=1e-3)


def mlp(t, rank, size):
    """MLP 64-128-64-10, 64 rows, AdamW."""
    nn = t.nn
    model = nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 64), nn.ReLU(), nn.Linear(64, 10))
    return model, batch(t, (64, 64), 10, rank, size), classify(t), adamw(t)


def mlp_large(t, rank, size, rows=128):
    """MLP 784-512-512-10, 128 rows, AdamW."""
    nn = t.nn
    model = nn.Sequential(nn.Linear(784, 512), nn.ReLU(), nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, 10))
    return model, batch(t, (rows, 784), 10, rank, size), classify(t), adamw(t)


def cnn(t, rank, size):
    """CNN 1-32-64 3x3, pool, 9216-128-10, 28x28, 64 images, AdamW."""
    nn = t.nn
    model = nn.Sequential(nn.Conv2d(1, 32, 3), nn.ReLU(), nn.Conv2d(32, 64, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(),
                          nn.Linear(9216, 128), nn.ReLU(), nn.Linear(128, 10))
    return model, batch(t, (64, 1, 28, 28), 10, rank, size), classify(t), adamw(t)


def resnet20(t, rank, size):
    """ResNet-20 in its CIFAR form (He et al. 2015, section 4.2), 32 images, SGD with momentum."""
    nn, F = t.nn, t.nn.functional

    class Block(nn.Module):
        def __init__(self, narrow, wide, stride):
            super().__init__()
            self.conv1 = nn.Conv2d(narrow, wide, 3, stride, 1, bias=False)
            self.bn1 = nn.BatchNorm2d(wide)
            self.conv2 = nn.Conv2d(wide, wide, 3, 1, 1, bias=False)
            self.bn2 = nn.BatchNorm2d(wide)
            self.stride, self.grow = stride, wide - narrow

        def forward(self, x):
            y = self.bn2(self.conv2(F.relu(self.bn1(self.conv1(x)))))
            if self.grow:                            # identity short cuts, with zeros for new channels (option A)
                x = F.pad(x[:, :, ::2, ::2], (0, 0, 0, 0, self.grow // 2, self.grow // 2))
            return F.relu(y + x)

    class ResNet20(nn.Module):
        def __init__(self):
            super().__init__()
            self.conv, self.bn = nn.Conv2d(3, 16, 3, 1, 1, bias=False), nn.BatchNorm2d(16)
            widths = [(16, 16, 1)] * 3 + [(16, 32, 2)] + [(32, 32, 1)] * 2 + [(32, 64, 2)] + [(64, 64, 1)] * 2
            self.blocks = nn.Sequential(*[Block(*width) for width in widths])
            self.out = nn.Linear(64, 10)

        def forward(self, x):
            y = self.blocks(F.relu(self.bn(self.conv(x))))
            return self.out(F.adaptive_avg_pool2d(y, 1).flatten(1))

    def sgd(parameters):
        return t.optim.SGD(parameters, lr=0.01, momentum=0.9)

    return ResNet20(), batch(t, (32, 3, 32, 32), 10, rank, size), classify(t), sgd


def gpt(t, rank, size):
    """GPT: 4 layers, 128 wide, 4 heads, context 64, 12 sequences of 65 characters, AdamW."""
    nn, F = t.nn, t.nn.functional
    wide, heads, context, kinds = 128, 4, 64, 65

    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.norm1, self.norm2 = nn.LayerNorm(wide), nn.LayerNorm(wide)
            self.qkv, self.out = nn.Linear(wide, 3 * wide), nn.Linear(wide, wide)
            self.up, self.down = nn.Linear(wide, 4 * wide), nn.Linear(4 * wide, wide)

        def forward(self, x):
            rows, steps, _ = x.shape
            q, k, v = (part.view(rows, steps, heads, wide // heads).transpose(1, 2)
                       for part in self.qkv(self.norm1(x)).split(wide, dim=2))
            y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
            x = x + self.out(y.transpose(1, 2).reshape(rows, steps, wide))
            return x + self.down(F.gelu(self.up(self.norm2(x))))

    class GPT(nn.Module):
        def __init__(self):
            super().__init__()
            self.tokens, self.places = nn.Embedding(kinds, wide), nn.Embedding(context, wide)
            self.blocks, self.norm = nn.Sequential(*[Block() for _ in range(4)]), nn.LayerNorm(wide)
            self.head = nn.Linear(wide, kinds, bias=False)

        def forward(self, ids):
            return self.head(self.norm(self.blocks(self.tokens(ids) + self.places(t.arange(ids.shape[1])))))

    def loss(model, x, y):
        return F.cross_entropy(model(x).reshape(-1, kinds), y.reshape(-1))

    return GPT(), batch(t, (12, context), kinds, rank, size, integers=True), loss, adamw(t)


def lstm(t, rank, size):
    """LSTM 64-128, 32 steps, 16 sequences, AdamW."""
    nn = t.nn

    class Reader(nn.Module):
        def __init__(self):
            super().__init__()
            self.lstm, self.out = nn.LSTM(64, 128, batch_first=True), nn.Linear(128, 10)

        def forward(self, x):
            return self.out(self.lstm(x)[0][:, -1])

    return Reader(), batch(t, (16, 32, 64), 10, rank, size), classify(t), adamw(t)


MODELS = {"mlp 64-128-64-10": mlp, "mlp 784-512-512-10": mlp_large, "cnn 28x28": cnn, "resnet-20": resnet20, "gpt": gpt,
          "lstm": lstm}
LOCAL = {"mlp 784-512-512-10, 512 rows": functools.partial(mlp_large, rows=512)}          # for local devices
