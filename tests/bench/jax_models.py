"""The cases of trainings.py for JAX: forward passes as functions of a state dict, and whole steps under jax.jit.

They are written as JAX is fastest on a CPU: channels last, the layers of a recurrence by lax.scan, pooling without overlap
by a reshape, buffers donated. A form is model(p, new, *inputs): p holds weights and buffers by PyTorch's names, and a
training pass writes running statistics into `new` (None: evaluation).
"""

import os

os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"

import functools

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax, nn

jax.config.update("jax_cpu_enable_async_dispatch", False)          # its thread would cost 20 us a step
jax.config.update("jax_enable_x64", True)                          # or it would turn float64 into float32


def linear(p, name, x):
    y = x @ p[f"{name}.weight"].T
    return y + p[f"{name}.bias"] if f"{name}.bias" in p else y


def mlp(p, new, x, name="{}", layers=(0, 2, 4), last=True):
    for layer in layers:
        x = linear(p, name.format(layer), x)
        x = x if last and layer == layers[-1] else nn.relu(x)
    return x


def conv(p, name, x, stride=1, padding=0):
    y = lax.conv_general_dilated(x, p[f"{name}.weight"], (stride, stride), [(padding, padding)] * 2,
                                 dimension_numbers=("NHWC", "HWIO", "NHWC"))
    return y + p[f"{name}.bias"] if f"{name}.bias" in p else y


def batch_norm(p, new, name, x):
    mean, var = p[f"{name}.running_mean"], p[f"{name}.running_var"]
    if new is not None:
        before, count = (mean, var), x.size // x.shape[-1]
        mean, var = x.mean((0, 1, 2)), x.var((0, 1, 2))
        new[f"{name}.running_mean"] = 0.9 * before[0] + 0.1 * mean
        new[f"{name}.running_var"] = 0.9 * before[1] + 0.1 * var * (count / (count - 1))
    return (x - mean) * (lax.rsqrt(var + 1e-5) * p[f"{name}.weight"]) + p[f"{name}.bias"]


def layer_norm(p, name, x):
    mean, var = x.mean(-1, keepdims=True), x.var(-1, keepdims=True)
    return (x - mean) * lax.rsqrt(var + 1e-5) * p[f"{name}.weight"] + p[f"{name}.bias"]


def halved(x):
    """Maximum pooling 2 x 2."""
    n, h, w, c = x.shape
    return x.reshape(n, h // 2, 2, w // 2, 2, c).max((2, 4))


def cnn(p, new, x):
    x = halved(nn.relu(conv(p, "2", nn.relu(conv(p, "0", x)))))
    x = x.transpose(0, 3, 1, 2).reshape(len(x), -1)
    return mlp(p, new, x, layers=(6, 8))


def resnet20(p, new, x):
    x = nn.relu(batch_norm(p, new, "bn", conv(p, "conv", x, 1, 1)))
    for number in range(9):
        name, grow = f"blocks.{number}", number in (3, 6)
        y = nn.relu(batch_norm(p, new, f"{name}.bn1", conv(p, f"{name}.conv1", x, 2 if grow else 1, 1)))
        y = batch_norm(p, new, f"{name}.bn2", conv(p, f"{name}.conv2", y, 1, 1))
        if grow:
            more = x.shape[-1] // 2
            x = jnp.pad(x[:, ::2, ::2], [(0, 0)] * 3 + [(more, more)])
        x = nn.relu(y + x)
    return linear(p, "out", x.mean((1, 2)))


def resnet18(p, new, x):
    x = nn.relu(batch_norm(p, new, "bn", conv(p, "conv", x, 2, 3)))
    x = lax.reduce_window(x, -jnp.inf, lax.max, (1, 3, 3, 1), (1, 2, 2, 1), [(0, 0), (1, 1), (1, 1), (0, 0)])
    for number in range(8):
        name, stride = f"blocks.{number}", 2 if number in (2, 4, 6) else 1
        y = nn.relu(batch_norm(p, new, f"{name}.bn1", conv(p, f"{name}.conv1", x, stride, 1)))
        y = batch_norm(p, new, f"{name}.bn2", conv(p, f"{name}.conv2", y, 1, 1))
        if stride == 2:
            x = batch_norm(p, new, f"{name}.short.1", conv(p, f"{name}.short.0", x, 2))
        x = nn.relu(y + x)
    return linear(p, "out", x.mean((1, 2)))


def unet(p, new, x):
    def twice(name, x):
        for first in (0, 3):
            x = nn.relu(batch_norm(p, new, f"{name}.{first + 1}", conv(p, f"{name}.{first}", x, 1, 1)))
        return x

    def doubled(name, x):
        """The transposed convolution, whose stride is its kernel's size."""
        n, h, w, _ = x.shape
        return jnp.einsum("nijc,aboc->niajbo", x, p[f"{name}.weight"]).reshape(n, 2 * h, 2 * w, -1) + p[f"{name}.bias"]

    first = twice("down1", x)
    second = twice("down2", halved(first))
    y = doubled("up2", twice("bottom", halved(second)))
    y = doubled("up1", twice("join2", jnp.concatenate([second, y], -1)))
    return conv(p, "out", twice("join1", jnp.concatenate([first, y], -1)))


def transformer(p, x, layers, heads, causal):
    for number in range(layers):
        name = f"blocks.{number}"
        q, k, v = (part.reshape(*x.shape[:2], heads, -1)
                   for part in jnp.split(linear(p, f"{name}.qkv", layer_norm(p, f"{name}.norm1", x)), 3, -1))
        x = x + linear(p, f"{name}.out", nn.dot_product_attention(q, k, v, is_causal=causal).reshape(x.shape))
        y = nn.gelu(linear(p, f"{name}.up", layer_norm(p, f"{name}.norm2", x)), approximate=False)
        x = x + linear(p, f"{name}.down", y)
    return layer_norm(p, "norm", x)


def gpt(p, new, ids, layers=4, heads=4):
    x = p["tokens.weight"][ids] + p["places.weight"][:ids.shape[1]]
    return linear(p, "head", transformer(p, x, layers, heads, True))


def vit(p, new, x):
    x = conv(p, "patches", x, 8).reshape(len(x), 64, -1)
    x = jnp.concatenate([jnp.broadcast_to(p["first"], (len(x), 1, x.shape[-1])), x], 1) + p["places"]
    return linear(p, "head", transformer(p, x, 12, 3, False)[:, 0])


def recurrence(p, layer, x):
    """One LSTM layer of steps x rows x features."""
    inputs = x @ p[f"lstm.weight_ih_l{layer}"].T + p[f"lstm.bias_ih_l{layer}"] + p[f"lstm.bias_hh_l{layer}"]
    weight = p[f"lstm.weight_hh_l{layer}"]

    def cell(carry, gates):
        h, c = carry
        i, f, g, o = jnp.split(gates + h @ weight.T, 4, -1)
        c = nn.sigmoid(f) * c + nn.sigmoid(i) * jnp.tanh(g)
        h = nn.sigmoid(o) * jnp.tanh(c)
        return (h, c), h

    start = jnp.zeros((x.shape[1], weight.shape[1]), x.dtype)
    return lax.scan(cell, (start, start), inputs)[1]


def lstm(p, new, x):
    return linear(p, "out", recurrence(p, 0, x.swapaxes(0, 1))[-1])


def lstm_language(p, new, ids):
    x = recurrence(p, 1, recurrence(p, 0, p["words.weight"][ids.T]))
    return linear(p, "out", x.swapaxes(0, 1))


def dlrm(p, new, numbers, ids):
    x = mlp(p, new, numbers, "bottom.{}", (0, 2, 4, 6), last=False)
    rows = jnp.stack([x, *(p[f"tables.{table}.weight"][ids[:, table]].sum(1) for table in range(ids.shape[1]))], 1)
    left, right = np.tril_indices(rows.shape[1], -1)
    pairs = jnp.matmul(rows, rows.swapaxes(1, 2))[:, left, right]
    return mlp(p, new, jnp.concatenate([x, pairs], 1), "top.{}")[:, 0]


def pinn(p, new, x):
    for layer in (0, 2):
        x = jnp.tanh(linear(p, layer, x))
    return linear(p, 4, x)[..., 0]


FORMS = {"mlp 64-128-64-10": mlp, "mlp 784-512-512-10": mlp, "cnn 28x28": cnn, "resnet-20": resnet20, "gpt": gpt, "lstm": lstm,
         "resnet-18": resnet18, "vit-tiny": vit, "gpt 6x384": functools.partial(gpt, layers=6, heads=6),
         "lstm language model": lstm_language, "dlrm": dlrm, "u-net": unet, "pinn": pinn}


def loss_of(form, p, new, *batch):
    """Cross-entropy over the last dimension, or of one logit a row; the residual of Burgers' equation."""
    if form is pinn:
        points, along = batch[0], jnp.zeros_like(batch[0]).at[:, 0].set(1)
        d, second = jax.jvp(jax.grad(lambda x: form(p, new, x).sum()), (points,), (along,))
        return ((d[:, 1] + form(p, new, points) * d[:, 0] - 0.01 * second[:, 0]) ** 2).mean()
    z, y = form(p, new, *batch[:-1]), batch[-1]
    if form is dlrm:
        return (jnp.maximum(z, 0) - z * y + jnp.log1p(jnp.exp(-jnp.abs(z)))).mean()
    return -jnp.take_along_axis(nn.log_softmax(z), y[..., None], -1).mean()


def sgd(p, g, state, lr, momentum):
    buffer = momentum * state["buffer"] + g
    return p - lr * buffer, {"buffer": buffer}


def adamw(p, g, state, count, lr, betas, eps, weight_decay):
    first = betas[0] * state["first"] + (1 - betas[0]) * g
    second = betas[1] * state["second"] + (1 - betas[1]) * g * g
    p = p * (1 - lr * weight_decay)
    return p - lr / (1 - betas[0] ** count) * first / (jnp.sqrt(second / (1 - betas[1] ** count)) + eps), {"first": first, "second": second}


def training(case, module, batch, optimizer):
    """(step, no arguments) of a case, with the weights and the mode of autograd's `module` and the settings of its optimizer."""
    form = FORMS[case]
    state = {name: value.numpy() for name, value in module.state_dict().items() if value.ndim}
    state = {name: jnp.asarray(a.transpose(2, 3, 1, 0) if a.ndim == 4 else a) for name, a in state.items()}
    batch = [x.numpy() if x.is_floating_point() else x.numpy().astype(np.int32) for x in batch]
    batch = [jnp.asarray(x.transpose(0, 2, 3, 1) if x.ndim == 4 else x) for x in batch]
    if not module.training:
        forward = jax.jit(lambda p, *inputs: form(p, None, *inputs))
        return lambda: forward(state, *batch[:-1]).block_until_ready(), ()
    weights = {name: state.pop(name) for name, _ in module.named_parameters()}
    settings = optimizer.defaults
    if "betas" in settings:
        slots = ("first", "second")
        settings = {name: settings[name] for name in ("lr", "betas", "eps", "weight_decay")}
    else:
        slots, settings = ("buffer",), {name: settings[name] for name in ("lr", "momentum")}
    moments = {name: {slot: jnp.zeros_like(w) for slot in slots} for name, w in weights.items()}

    @functools.partial(jax.jit, donate_argnums=(0, 1, 2, 3))
    def update(weights, buffers, moments, count, *batch):
        def loss(weights):
            new = {}
            return loss_of(form, {**buffers, **weights}, new, *batch), new

        (value, new), gradients = jax.value_and_grad(loss, has_aux=True)(weights)
        count = count + 1
        rule = functools.partial(adamw, count=count) if "betas" in settings else sgd
        both = {name: rule(w, gradients[name], moments[name], **settings) for name, w in weights.items()}
        return value, {name: w for name, (w, _) in both.items()}, {**buffers, **new}, {name: m for name, (_, m) in both.items()}, count

    held = weights, state, moments, jnp.zeros((), next(iter(weights.values())).dtype)

    def step():
        nonlocal held
        value, *held = update(*held, *batch)
        return value.block_until_ready()

    return step, ()


@jax.custom_vjp
def multiply(a, b):
    return a * b


multiply.defvjp(lambda a, b: (a * b, (a, b)), lambda saved, g: (g * saved[1], g * saved[0]))


def chain(own):
    """100 products of 8 numbers, forward and backward; own: by a function with a derivative of its own."""
    start = jnp.asarray(np.linspace(0.9, 1.1, 8).astype(np.float32))
    product = multiply if own else jnp.multiply

    def value(x, w):
        y = x
        for _ in range(100):
            y = product(y, w)
        return y.sum()

    @jax.jit
    def both(x, w):
        gradients = jax.grad(value, (0, 1))(x, w)
        return gradients[1].sum(), gradients

    return lambda: both(start, start)[0].block_until_ready()
