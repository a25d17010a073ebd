"""The benchmark models, written once for autograd and PyTorch: `t` is either library. make(t, rank, size) returns (module,
batch, loss, optimizer) of one rank; NumPy draws the same weights and data for both. jax_models.py has JAX's forms.
"""

import functools
import itertools

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


def next_token(t):
    """Cross-entropy of each position of (rows, steps, kinds)."""
    return lambda model, x, y: t.nn.functional.cross_entropy(model(x).flatten(0, 1), y.flatten())


def adamw(t):
    return lambda parameters: t.optim.AdamW(parameters, lr=1e-3)


def sgd(t):
    return lambda parameters: t.optim.SGD(parameters, lr=0.01, momentum=0.9)


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

    return ResNet20(), batch(t, (32, 3, 32, 32), 10, rank, size), classify(t), sgd(t)


def transformer(t, layers, wide, heads, causal):
    """The blocks of GPT-2 and ViT."""
    nn, F = t.nn, t.nn.functional

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
            y = F.scaled_dot_product_attention(q, k, v, is_causal=causal)
            x = x + self.out(y.transpose(1, 2).reshape(rows, steps, wide))
            return x + self.down(F.gelu(self.up(self.norm2(x))))

    return nn.Sequential(*[Block() for _ in range(layers)])


def gpt(t, rank, size, layers=4, wide=128, heads=4, context=64, rows=12):
    """GPT: 4 layers, 128 wide, 4 heads, context 64, 12 sequences of 65 characters, AdamW."""
    nn, kinds = t.nn, 65

    class GPT(nn.Module):
        def __init__(self):
            super().__init__()
            self.tokens, self.places = nn.Embedding(kinds, wide), nn.Embedding(context, wide)
            self.blocks, self.norm = transformer(t, layers, wide, heads, causal=True), nn.LayerNorm(wide)
            self.head = nn.Linear(wide, kinds, bias=False)

        def forward(self, ids):
            return self.head(self.norm(self.blocks(self.tokens(ids) + self.places(t.arange(ids.shape[1])))))

    return GPT(), batch(t, (rows, context), kinds, rank, size, integers=True), next_token(t), adamw(t)


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


def resnet18(t, rank, size):
    """ResNet-18 (He et al. 2015), 8 images of 64 x 64, 200 classes, SGD with momentum."""
    nn, F = t.nn, t.nn.functional

    class Block(nn.Module):
        def __init__(self, narrow, wide, stride):
            super().__init__()
            self.conv1, self.bn1 = nn.Conv2d(narrow, wide, 3, stride, 1, bias=False), nn.BatchNorm2d(wide)
            self.conv2, self.bn2 = nn.Conv2d(wide, wide, 3, 1, 1, bias=False), nn.BatchNorm2d(wide)
            self.short = nn.Identity() if stride == 1 else nn.Sequential(
                nn.Conv2d(narrow, wide, 1, stride, bias=False), nn.BatchNorm2d(wide))

        def forward(self, x):
            y = self.bn2(self.conv2(F.relu(self.bn1(self.conv1(x)))))
            return F.relu(y + self.short(x))

    class ResNet18(nn.Module):
        def __init__(self):
            super().__init__()
            self.conv, self.bn = nn.Conv2d(3, 64, 7, 2, 3, bias=False), nn.BatchNorm2d(64)
            widths = [(64, 64, 1), (64, 64, 1), (64, 128, 2), (128, 128, 1), (128, 256, 2), (256, 256, 1), (256, 512, 2), (512, 512, 1)]
            self.blocks, self.out = nn.Sequential(*[Block(*width) for width in widths]), nn.Linear(512, 200)

        def forward(self, x):
            x = F.max_pool2d(F.relu(self.bn(self.conv(x))), 3, 2, 1)
            return self.out(F.adaptive_avg_pool2d(self.blocks(x), 1).flatten(1))

    return ResNet18(), batch(t, (8, 3, 64, 64), 200, rank, size), classify(t), sgd(t)


def vit(t, rank, size):
    """ViT-tiny (Touvron et al. 2020): 12 layers, 192 wide, 3 heads, 4 images of 64 x 64 in 8 x 8 patches, AdamW."""
    nn, wide = t.nn, 192

    class ViT(nn.Module):
        def __init__(self):
            super().__init__()
            self.patches = nn.Conv2d(3, wide, 8, 8)
            self.first, self.places = nn.Parameter(t.zeros(1, 1, wide)), nn.Parameter(t.zeros(1, 65, wide))
            self.blocks, self.norm = transformer(t, 12, wide, 3, causal=False), nn.LayerNorm(wide)
            self.head = nn.Linear(wide, 200)

        def forward(self, x):
            x = self.patches(x).flatten(2).transpose(1, 2)
            x = t.cat([self.first.expand(x.shape[0], 1, wide), x], dim=1) + self.places
            return self.head(self.norm(self.blocks(x))[:, 0])

    return ViT(), batch(t, (4, 3, 64, 64), 200, rank, size), classify(t), adamw(t)


def gpt_large(t, rank, size):
    """nanoGPT's model for characters: 6 layers, 384 wide, 6 heads, here 4 sequences of 128, AdamW."""
    return gpt(t, rank, size, layers=6, wide=384, heads=6, context=128, rows=4)


def lstm_language(t, rank, size):
    """The small language model of Zaremba et al. 2014: 2 LSTM layers 200 wide, 10,000 words, 20 sequences of 35 words, SGD."""
    nn, kinds = t.nn, 10_000

    class Language(nn.Module):
        def __init__(self):
            super().__init__()
            self.words, self.out = nn.Embedding(kinds, 200), nn.Linear(200, kinds)
            self.lstm = nn.LSTM(200, 200, num_layers=2, batch_first=True)

        def forward(self, x):
            return self.out(self.lstm(self.words(x))[0])

    return Language(), batch(t, (20, 35), kinds, rank, size, integers=True), next_token(t), sgd(t)


def dlrm(t, rank, size):
    """DLRM (Naumov et al. 2019): 13 numbers and 26 tables of 1,000 rows of 16, 4 rows summed of each, 128 samples, SGD."""
    nn, F, tables = t.nn, t.nn.functional, 26

    def layers(*widths):
        parts = [part for pair in itertools.pairwise(widths) for part in (nn.Linear(*pair), nn.ReLU())]
        return nn.Sequential(*parts[:-1] if widths[-1] == 1 else parts)

    class DLRM(nn.Module):
        def __init__(self):
            super().__init__()
            self.bottom, self.top = layers(13, 512, 256, 64, 16), layers(367, 512, 256, 1)
            self.tables = nn.ModuleList([nn.EmbeddingBag(1000, 16, mode="sum") for _ in range(tables)])
            left, right = np.tril_indices(tables + 1, -1)
            self.left, self.right = t.from_numpy(left), t.from_numpy(right)

        def forward(self, numbers, ids):
            x = self.bottom(numbers)
            rows = t.stack([x, *(table(ids[:, number]) for number, table in enumerate(self.tables))], dim=1)
            pairs = t.bmm(rows, rows.transpose(1, 2))[:, self.left, self.right]
            return self.top(t.cat([x, pairs], dim=1)).squeeze(1)

    def loss(model, numbers, ids, y):
        return F.binary_cross_entropy_with_logits(model(numbers, ids), y.to(numbers.dtype))

    numbers, y = batch(t, (128, 13), 2, rank, size)
    ids, _ = batch(t, (128, tables, 4), 1000, rank, size, integers=True)
    return DLRM(), (numbers, ids, y), loss, sgd(t)


def unet(t, rank, size):
    """U-Net (Ronneberger et al. 2015) with batch normalization, 16 to 64 channels, 4 images of 64 x 64, AdamW."""
    nn, F = t.nn, t.nn.functional

    def twice(narrow, wide):
        return nn.Sequential(nn.Conv2d(narrow, wide, 3, 1, 1, bias=False), nn.BatchNorm2d(wide), nn.ReLU(),
                             nn.Conv2d(wide, wide, 3, 1, 1, bias=False), nn.BatchNorm2d(wide), nn.ReLU())

    class UNet(nn.Module):
        def __init__(self):
            super().__init__()
            self.down1, self.down2, self.bottom = twice(1, 16), twice(16, 32), twice(32, 64)
            self.up2, self.join2 = nn.ConvTranspose2d(64, 32, 2, 2), twice(64, 32)
            self.up1, self.join1 = nn.ConvTranspose2d(32, 16, 2, 2), twice(32, 16)
            self.out = nn.Conv2d(16, 2, 1)

        def forward(self, x):
            first = self.down1(x)
            second = self.down2(F.max_pool2d(first, 2))
            y = self.up2(self.bottom(F.max_pool2d(second, 2)))
            y = self.up1(self.join2(t.cat([second, y], dim=1)))
            return self.out(self.join1(t.cat([first, y], dim=1)))

    x, _ = batch(t, (4, 1, 64, 64), 2, rank, size)
    _, y = batch(t, (4, 64, 64), 2, rank, size, integers=True)
    return UNet(), (x, y), classify(t), adamw(t)


def pinn(t, rank, size):
    """Burgers' equation by a physics-informed MLP 2-32-32-1 (Raissi et al. 2019): second derivatives in the loss, 256 points, AdamW."""
    nn = t.nn
    model = nn.Sequential(nn.Linear(2, 32), nn.Tanh(), nn.Linear(32, 32), nn.Tanh(), nn.Linear(32, 1))

    def residual(model, points, _):
        points = points.detach().requires_grad_()
        u = model(points)
        first, = t.autograd.grad(u.sum(), points, create_graph=True)
        second, = t.autograd.grad(first[:, 0].sum(), points, create_graph=True)
        return ((first[:, 1] + u[:, 0] * first[:, 0] - 0.01 * second[:, 0]) ** 2).mean()

    return model, batch(t, (256, 2), 2, rank, size), residual, adamw(t)


MODELS = {"mlp 64-128-64-10": mlp, "mlp 784-512-512-10": mlp_large, "cnn 28x28": cnn, "resnet-20": resnet20, "gpt": gpt,
          "lstm": lstm}
LOCAL = {"mlp 784-512-512-10, 512 rows": functools.partial(mlp_large, rows=512)}          # for local devices
ALONE = {**MODELS, "resnet-18": resnet18, "vit-tiny": vit, "gpt 6x384": gpt_large, "lstm language model": lstm_language, "dlrm": dlrm,
         "u-net": unet, "pinn": pinn}                                  # measured on one rank
INFERENCE, FLOAT64 = ", inference", ", float64"      # ends of the names of cases
VARIATIONS = [name + end for name, end in (("mlp 64-128-64-10", INFERENCE), ("resnet-18", INFERENCE), ("gpt", INFERENCE),
                                           ("mlp 784-512-512-10", FLOAT64), ("gpt", FLOAT64))]
