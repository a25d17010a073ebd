"""trace_step(): replays are bitwise the step, over many steps, for models of all kinds; what can't be recorded is refused."""

import gc
import tracemalloc

import numpy as np
import pytest

import autograd as ag
import autograd.nn.functional as F
from autograd import nn, optim
from autograd.compile import TraceError

STEPS = 20


def mlp():
    return nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Linear(8, 8), nn.Tanh(), nn.Linear(8, 4)), (5, 6), None


def convnet():
    return nn.Sequential(nn.Conv2d(1, 3, 3), nn.BatchNorm2d(3), nn.ReLU(), nn.MaxPool2d(2), nn.Dropout(0.3), nn.Flatten(),
                         nn.Linear(27, 4)), (5, 1, 8, 8), None


class TinyGPT(nn.Module):
    def __init__(self):
        super().__init__()
        self.tokens, self.places = nn.Embedding(7, 8), nn.Embedding(6, 8)
        self.norm, self.qkv, self.out = nn.LayerNorm(8), nn.Linear(8, 24), nn.Linear(8, 8)
        self.up, self.down, self.head = nn.Linear(8, 16), nn.Linear(16, 8), nn.Linear(8, 4, bias=False)

    def forward(self, ids):
        x = self.tokens(ids) + self.places(ag.arange(ids.shape[1]))
        q, k, v = (p.view(5, 6, 2, 4).transpose(1, 2) for p in self.qkv(self.norm(x)).split(8, dim=2))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True, dropout_p=0.1)
        x = x + self.out(y.transpose(1, 2).reshape(5, 6, 8))
        return self.head(x + self.down(F.gelu(self.up(x))))[:, -1]


class Reader(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm, self.out = nn.LSTM(3, 5, batch_first=True), nn.Linear(5, 4)

    def forward(self, x):
        return self.out(self.lstm(x)[0][:, -1])


MODELS = {"mlp": mlp, "convnet": convnet, "gpt": lambda: (TinyGPT(), (5, 6), 7), "lstm": lambda: (Reader(), (5, 4, 3), None)}
OPTIMIZERS = {
    "adamw": lambda p: optim.AdamW(p, lr=1e-2),
    "sgd": lambda p: optim.SGD(p, lr=0.1, momentum=0.9, dampening=0.1, weight_decay=1e-3),
    "rmsprop": lambda p: optim.RMSprop(p, lr=1e-3),
    "lamb": lambda p: optim.LAMB(p, lr=1e-3),
}


def batches(shape, kinds, dtype, steps=STEPS):
    rng = np.random.default_rng(0)
    return [(ag.tensor(rng.integers(0, kinds, shape)) if kinds else ag.tensor(rng.standard_normal(shape).astype(dtype)),
             ag.tensor(rng.integers(0, 4, shape[0]))) for _ in range(steps)]


class Training:
    """A model, its optimiser and a step, from one seed."""

    def __init__(self, model="mlp", optimizer="adamw", dtype=np.float32):
        ag.manual_seed(3)
        self.model, shape, kinds = MODELS[model]()
        if dtype == np.float64:
            self.model.double()
        self.optimizer = OPTIMIZERS[optimizer](self.model.parameters())
        self.batches = batches(shape, kinds, dtype)

    def step(self, x, y):
        self.optimizer.zero_grad()
        loss = F.cross_entropy(self.model(x), y)
        loss.backward()
        self.optimizer.step()
        return loss

    def state(self):
        held = {**self.model.state_dict(), **{f"grad {n}": p.grad for n, p in self.model.named_parameters()}}
        for number, of_one in self.optimizer.state_dict()["state"].items():
            held |= {f"{number} {name}": value for name, value in of_one.items()}
        return {name: None if t is None else np.array(t.detach().numpy()) for name, t in held.items()}


def assert_same(one, two):
    assert one.keys() == two.keys()
    for name, value in one.items():
        if value is None:
            assert two[name] is None, name
        else:
            np.testing.assert_array_equal(value, two[name], strict=True, err_msg=name)


def run(training, step):
    ag.manual_seed(7)
    return [np.array(step(x, y).detach().numpy()) for x, y in training.batches]


def compared(make, wrap=lambda training: training.step, **options):
    """The losses and all states of eager steps and of replays are bitwise the same."""
    plain, traced = make(), make()
    step = ag.trace_step(wrap(traced), traced.batches[0], **options)
    assert_same(make().state(), traced.state())          # tracing changed nothing
    assert not traced.optimizer.state
    np.testing.assert_array_equal(run(plain, wrap(plain)), run(traced, step), strict=True)
    assert_same(plain.state(), traced.state())
    return step


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("optimizer", ["adamw", "sgd"])
@pytest.mark.parametrize("model", list(MODELS))
def test_twenty_steps(model, optimizer, dtype):
    compared(lambda: Training(model, optimizer, dtype))


@pytest.mark.parametrize("optimizer", list(OPTIMIZERS))
def test_optimizers(optimizer):
    compared(lambda: Training("mlp", optimizer))


def test_scheduler_inside():
    def wrap(training):
        scheduler = optim.lr_scheduler.ExponentialLR(training.optimizer, 0.8)

        def step(x, y):
            loss = training.step(x, y)
            scheduler.step()
            return loss

        return step

    compared(Training, wrap)


def test_learning_rate_changed_between_calls():
    plain, traced = Training(), Training()
    fast = ag.trace_step(traced.step, traced.batches[0])
    for training, step in ((plain, plain.step), (traced, fast)):
        scheduler = optim.lr_scheduler.StepLR(training.optimizer, 2, 0.5)
        for x, y in training.batches:
            step(x, y)
            scheduler.step()
    assert_same(plain.state(), traced.state())


def test_accumulation_clipping_and_zeros():
    def wrap(training):
        def step(x, y):
            training.optimizer.zero_grad(set_to_none=False)
            for part in (slice(0, 2), slice(2, 5)):
                F.cross_entropy(training.model(x[part]), y[part]).backward()
            nn.utils.clip_grad_norm_(training.model.parameters(), 0.1)
            training.optimizer.step()
            with ag.no_grad():
                return F.cross_entropy(training.model(x), y)

        return step

    compared(Training, wrap)


def test_gradients_that_add_up_between_calls():
    def wrap(training):
        def step(x, y):
            loss = F.cross_entropy(training.model(x), y)
            loss.backward()
            return loss

        return step

    compared(Training, wrap)


def test_ignored_targets_are_asked_about():
    training = Training()
    fast = ag.trace_step(training.step, training.batches[0])
    x, y = training.batches[1]
    y[2] = -100
    with pytest.raises(TraceError, match="branch that depends on values"):
        fast(x, y)


def chain(x, w, multiply):
    def step():
        x.grad = w.grad = None
        y = x
        for _ in range(20):
            y = multiply(y, w)
        y.sum().backward()
        return w.grad.sum()

    return step


class Transparent(ag.Function):
    @staticmethod
    def forward(ctx, a, b):
        ctx.save_for_backward(a, b)
        return a * b

    @staticmethod
    def backward(ctx, g):
        a, b = ctx.saved_tensors
        return g * b, g * a


class InNumPy(ag.Function):
    calls = 0

    @staticmethod
    def forward(ctx, a, b):
        InNumPy.calls += 1
        ctx.save_for_backward(a, b)
        return ag.from_numpy(a.numpy(force=True) * b.numpy(force=True))

    @staticmethod
    def backward(ctx, g):
        a, b = ctx.saved_tensors
        return g * b, g * a


@pytest.mark.parametrize("multiply", [lambda a, b: a * b, Transparent.apply, InNumPy.apply])
@pytest.mark.parametrize("dtype", [ag.float32, ag.float64])
def test_chain(multiply, dtype):
    def leaves():
        return [ag.linspace(0.9, 1.1, 8, dtype=dtype).requires_grad_() for _ in range(2)]

    plain, traced = leaves(), leaves()
    slow, fast = chain(*plain, multiply), ag.trace_step(chain(*traced, multiply))
    for _ in range(3):
        for w in (plain[1], traced[1]):
            with ag.no_grad():
                w.mul_(1.01)
        np.testing.assert_array_equal(slow().numpy(), fast().numpy(), strict=True)
        np.testing.assert_array_equal(plain[1].grad.numpy(), traced[1].grad.numpy())


def test_functions_in_numpy_are_called_again():
    x, w = (ag.ones(3).requires_grad_() for _ in range(2))
    fast = ag.trace_step(chain(x, w, InNumPy.apply))
    before = InNumPy.calls
    fast()
    assert InNumPy.calls == before + 20


def test_functions_with_an_apply_of_their_own():
    class Scaled(ag.Function):
        @classmethod
        def apply(cls, x, factor):
            return super().apply(x * factor)

        @staticmethod
        def forward(ctx, x):
            return ag.from_numpy(np.tanh(x.detach().numpy()))

        @staticmethod
        def backward(ctx, g):
            return 3 * g

    w = ag.ones(4).requires_grad_()

    def step(x):
        w.grad = None
        Scaled.apply(x * w, 2.0).sum().backward()
        return w.grad.sum()

    fast = ag.trace_step(step, ag.ones(4))
    for x in (ag.linspace(-1, 1, 4), ag.linspace(0, 2, 4)):
        np.testing.assert_array_equal(step(x).numpy(), fast(x).numpy(), strict=True)


def test_random_numbers_are_drawn_again():
    def step(x):
        return x + ag.randn(3), ag.rand_like(x) * ag.randint(0, 9, (3,))

    fast = ag.trace_step(step, ag.zeros(3))
    ag.manual_seed(1)
    expected = [step(ag.ones(3)) for _ in range(3)]
    ag.manual_seed(1)
    got = [fast(ag.ones(3)) for _ in range(3)]
    for one, two in zip(expected, got, strict=True):
        for a, b in zip(one, two, strict=True):
            np.testing.assert_array_equal(a.numpy(), b.numpy())


def test_memory_made_in_the_step_begins_anew():
    def step(x):
        total = ag.zeros(3)
        total += x
        total[0] = 5.0
        return total

    fast = ag.trace_step(step, ag.ones(3))
    for _ in range(2):
        assert fast(ag.ones(3)).tolist() == [5.0, 1.0, 1.0]


def test_hooks_and_grad():
    w = ag.ones(3).requires_grad_()

    def step(x):
        y = w * x
        y.register_hook(lambda g: g * 2)
        z = (y * y).sum()
        (g,) = ag.grad(z, w)
        return g, z

    fast = ag.trace_step(step, ag.ones(3))
    for x in (ag.arange(3.0), ag.ones(3)):
        for a, b in zip(step(x), fast(x), strict=True):
            assert a.tolist() == b.tolist()


def test_forms_of_arguments_and_results():
    def step(batch, scale):
        return {"out": [batch["x"] * scale, None], "n": 3}

    fast = ag.trace_step(step, ({"x": ag.ones(2)}, 2.0))
    assert fast({"x": ag.full((2,), 3.0)}, 2.0)["out"][0].tolist() == [6.0, 6.0]
    with pytest.raises(TraceError, match="form"):
        fast({"x": ag.ones(2)}, 3.0)


READS = {
    "item": lambda loss: loss * loss.item(), "float": lambda loss: loss * float(loss), "bool": lambda loss: loss if loss > 0 else -loss,
    "tolist": lambda loss: loss.tolist(), "numpy": lambda loss: loss.detach().numpy(), "int": lambda loss: int(loss),
}


@pytest.mark.parametrize("read", list(READS))
def test_reading_a_value_names_the_line(read):
    training = Training()

    def step(x, y):
        return READS[read](training.step(x, y))

    before = training.state()
    with pytest.raises(TraceError, match=r"test_trace_step\.py:\d+: .* reads a value"):
        ag.trace_step(step, training.batches[0])
    assert_same(before, training.state())


def test_other_refusals():
    x = ag.ones(4).requires_grad_()
    state = {"count": 0.0}

    def counting(y):
        state["count"] += 1.0
        return y * state["count"]

    def unseen(y):
        return y + ag.from_numpy(np.sqrt(y.array))

    def twice(y):
        (x * x * y).sum().backward(create_graph=True)
        x.grad = None

    def checkpointed(y):
        return ag.utils.checkpoint.checkpoint(lambda z: z * x, y, use_reentrant=False).sum()

    for step, match in ((counting, "second time|then"), (unseen, "outside of recorded calls"), (twice, "create_graph"),
                        (checkpointed, "checkpoint")):
        with pytest.raises(TraceError, match=match):
            ag.trace_step(step, ag.ones(4))
    with pytest.raises(TraceError, match="require gradients"):
        ag.trace_step(lambda y: y, x)


def test_what_changed_since_is_noticed():
    training = Training("convnet")
    fast = ag.trace_step(training.step, training.batches[0])
    x, y = training.batches[1]
    for bad in ((x[:3], y[:3]), (x.double(), y)):
        with pytest.raises(TraceError, match="was recorded with"):
            fast(*bad)
    training.model.eval()
    with pytest.raises(TraceError, match="training was True"):
        fast(x, y)
    training.model.train()
    weight = training.model[0].weight
    weight.requires_grad = False
    with pytest.raises(TraceError, match="requires_grad"):
        fast(x, y)
    weight.requires_grad = True
    weight.data = weight.data.clone()
    with pytest.raises(TraceError, match="memory was replaced"):
        fast(x, y)


def test_check_finds_what_was_not_recorded():
    w = ag.ones(3)
    first = []

    def step(x):
        if len(first) < 3:
            first.append(None)
        w.array[...] += 1.0                          # on the plain array: unseen
        return x * w

    with pytest.raises(TraceError, match="differs"):
        ag.trace_step(step, ag.ones(3))


def test_program_text_and_the_matrix_trace():
    training = Training()
    fast = ag.trace_step(training.step, training.batches[0])
    text = fast.program()
    assert text.startswith("def replay():") and "Optimizer.zero_grad" in text and "test_trace_step.py:" in text
    assert ag.trace(ag.eye(3)).item() == 3.0
    with pytest.warns(DeprecationWarning, match="trace_step"):
        former = ag.trace(training.step, training.batches[0])          # its name until 0.1.0
    assert type(former) is type(fast) and former.program().startswith("def replay():")


def test_replays_keep_no_memory():
    training = Training()
    fast = ag.trace_step(training.step, training.batches[0])
    tracemalloc.start()
    try:
        for _ in range(20):
            fast(*training.batches[1])
        gc.collect()
        before = tracemalloc.get_traced_memory()[0]
        for _ in range(200):
            fast(*training.batches[1])
        gc.collect()
        assert tracemalloc.get_traced_memory()[0] - before < 10_000
    finally:
        tracemalloc.stop()


def test_tied_frozen_and_two_optimisers():
    def make():
        training = Training()
        training.model[4].weight.requires_grad = False
        training.tied = nn.Parameter(ag.ones(4))
        training.second = optim.SGD([training.tied], lr=0.1)
        return training

    def wrap(training):
        def step(x, y):
            training.optimizer.zero_grad()
            training.second.zero_grad()
            out = training.model(x) * training.tied + training.tied
            loss = F.cross_entropy(out, y) + 0.01 * (training.tied * training.tied).sum()
            loss.backward()
            training.optimizer.step()
            training.second.step()
            return loss

        return step

    compared(make, wrap)


@pytest.mark.parametrize("name", ["nll_loss", "mse_loss", "smooth_l1_loss", "binary_cross_entropy_with_logits"])
def test_losses_and_layers(name):
    ag.manual_seed(0)
    net = nn.Sequential(nn.Linear(3, 4), nn.LayerNorm(4), nn.GELU(), nn.Linear(4, 3), nn.LogSoftmax(1))

    def step(x, y):
        net.zero_grad()
        out = net(x)
        loss = getattr(F, name)(out, y)
        loss.backward()
        return loss, net[0].weight.grad

    rng = np.random.default_rng(0)
    data = [(ag.tensor(rng.standard_normal((5, 3)).astype(np.float32)),
             ag.tensor(rng.integers(0, 3, 5) if name == "nll_loss" else rng.random((5, 3)).astype(np.float32))) for _ in range(3)]
    fast = ag.trace_step(step, data[0])
    for batch in data:
        expected = [np.array(t.detach().numpy()) for t in step(*batch)]
        for a, b in zip(expected, fast(*batch), strict=True):
            np.testing.assert_array_equal(a, b.numpy(), strict=True)
