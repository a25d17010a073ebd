"""What the wrapper does between two passes leaves saved values as they were: gradients are those of each rank's own passes."""

import copy
import warnings
import weakref

import numpy as np
import pytest
from raised import raises

import autograd as ag
import autograd.nn.functional as F
from autograd import nn
from autograd.core.overwrites import keep_saved, overwrite
from autograd.utils.checkpoint import checkpoint
from dparallel import DataParallel, Devices


class WithBuffer(nn.Module):
    """use(h, buffers) of a layer's output; `change` says what becomes of the buffer in each call, from the call's number."""

    def __init__(self, use, change=None):
        super().__init__()
        self.fc = nn.Linear(3, 2).double()
        with ag.no_grad():
            for n, p in enumerate(self.fc.parameters()):
                p.copy_(ag.from_numpy(np.random.default_rng(n).standard_normal(tuple(p.shape))))
        self.register_buffer("scale", ag.tensor([[1.0, 2.0]], dtype=ag.float64))
        self.use, self.change, self.calls = use, change, 0

    def forward(self, x):
        self.calls += 1
        before = self.use == "new"
        if before:
            self.change(self)
        y = USES[self.use](self.fc(x), self.scale)
        if self.change is not None and not before:
            self.change(self)
        return y


def own_function():
    class Times(ag.Function):
        @staticmethod
        def forward(ctx, h, b):
            ctx.save_for_backward(b)
            return h * b

        @staticmethod
        def backward(ctx, g):
            (b,) = ctx.saved_tensors
            return g * b, None

    return Times


USES = {"mul": lambda h, b: h * b, "matmul": lambda h, b: h @ b.T, "view": lambda h, b: h * b[0], "where": lambda h, b: ag.where(b > 1, h, h * b),
        "norm": lambda h, b: F.batch_norm(h, b[0], b[0] + 1, training=False), "function": lambda h, b: own_function().apply(h, b),
        "div": lambda h, b: (h / b).tanh(), "einsum": lambda h, b: ag.einsum("ij,kj->ik", h, b), "new": lambda h, b: h * b,
        "checkpoint": lambda h, b: checkpoint(lambda h, b: (h * b).sin(), h, b, use_reentrant=False),
        "reentrant": lambda h, b: checkpoint(lambda h, b: (h * b).sin(), h, b, use_reentrant=True)}


def own_rank(net, rank):
    """The buffer becomes another one on each rank, as an average of its rows would."""
    net.scale = net.scale + 1.0 + rank


def data_of(net, rank):
    """The same without a write that the counters see, as EMA updates through .data are."""
    net.scale.data = net.scale + 1.0 + rank


WRAPPERS = {"rows": lambda net, comm: DataParallel(net, comm=comm),
            **{stage: lambda net, comm, stage=stage: DataParallel(net, comm=comm, shard=stage)
               for stage in ("optimizer", "gradients", "parameters")},
            "reproducible": lambda net, comm: DataParallel(net, comm=comm, reproducible=2 * comm.size)}


def batch(rank, k):
    return ag.from_numpy(np.random.default_rng([rank, k]).standard_normal((2, 3)))


def loss(model, rank, calls):
    return sum((model(batch(rank, k)) * (k + 1)).sin().mean() for k in range(calls))


def whole_gradients(model, net):
    """The gradients, whole, also where they are in slices."""
    found = []
    for p in model.parameters():
        if not hasattr(p, "shard"):
            found.append(p.grad.numpy())
            continue
        flat = np.zeros(int(np.prod(p.shard.shape)))
        if p.grad is not None and p.numel():
            flat[p.shard.start:p.shard.stop] = p.grad.numpy().reshape(-1)
        found.append(model.comm.allreduce([flat])[0].reshape(p.shard.shape))
    return found


@pytest.mark.parametrize("wrapper", WRAPPERS)
@pytest.mark.parametrize("use", USES)
def test_saved_buffers(comm, wrapper, use):
    """Two forward passes before one backward: rank 0's buffers overwrite the others' in between."""
    if wrapper == "reproducible" and comm.size & (comm.size - 1):
        return
    for changes in (False, True) if use != "new" else (True,):
        def net_of(rank, size, changes=changes):
            return WithBuffer(use, (lambda net: own_rank(net, rank)) if changes else None)

        # what each rank computes in its own process, with rank 0's buffer at the start of each pass
        scales = [ag.tensor([[1.0, 2.0]], dtype=ag.float64) + k for k in range(2)]
        expected = []
        for rank in range(comm.size):
            net = net_of(rank, comm.size)
            total = 0
            for k in range(2):
                net.scale = scales[k if changes else 0]
                total = total + (net(batch(rank, k)) * (k + 1)).sin().mean()
            total.backward()
            expected.append([p.grad.numpy() for p in net.parameters()])
        net = net_of(comm.rank, comm.size)
        model = WRAPPERS[wrapper](net, comm)
        loss(model, comm.rank, 2).backward()
        for g, parts in zip(whole_gradients(model, net), zip(*expected, strict=True), strict=True):
            np.testing.assert_allclose(g, sum(parts) / comm.size, rtol=1e-12, atol=1e-12)


def on_root(net, rank):
    """The buffer becomes another one on rank 0 only: on the others its memory is overwritten, which nodes have saved."""
    if rank == 0:
        net.scale = net.scale + 1.0


@pytest.mark.parametrize("wrapper", WRAPPERS)
@pytest.mark.parametrize("use", ["mul", "where", "matmul", "checkpoint", "identity hooks", "on cpu", "no_grad in between"])
def test_derivatives_taken_between_two_passes(comm, wrapper, use):
    """A gradient with create_graph, of which nodes save what the first pass saved, is differentiated after the second pass."""
    if wrapper == "reproducible" and comm.size & (comm.size - 1):
        return

    def penalty(model, rank, k):
        x = batch(rank, k).requires_grad_()
        hooks = {"identity hooks": lambda: ag.graph.saved_tensors_hooks(lambda x: x, lambda x: x), "on cpu": ag.graph.save_on_cpu}
        with hooks.get(use, ag.enable_grad)():
            y = model(x)
        if use == "no_grad in between":
            with ag.no_grad():
                model(x)
        (g,) = ag.autograd.grad(y.sum() if "hooks" not in use else y.sin().sum(), x, create_graph=True)
        return (y ** 2).mean() + (g ** 2).sum()

    def net_of(rank):
        return WithBuffer(use if use in USES else "mul", lambda net: on_root(net, rank))

    nets = [net_of(rank) for rank in range(comm.size)]
    totals = [0] * comm.size
    for k in range(2):
        scale = nets[0].scale
        for rank, net in enumerate(nets):
            net.scale = scale.clone()
            totals[rank] = totals[rank] + penalty(net, rank, k)
    for total in totals:
        total.backward()
    net = net_of(comm.rank)
    model = WRAPPERS[wrapper](net, comm)
    (penalty(model, comm.rank, 0) + penalty(model, comm.rank, 1)).backward()
    for g, parts in zip(whole_gradients(model, net), zip(*[net.parameters() for net in nets], strict=True), strict=True):
        np.testing.assert_allclose(g, sum(p.grad.numpy() for p in parts) / comm.size, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize(("wrapper", "write"), [(w, write) for w in WRAPPERS for write in ("buffer", "output", "argument")
                                                if write == "buffer" or w != "reproducible"])      # whose shards are copies
def test_writes_of_the_user_are_found(comm, wrapper, write):
    if wrapper == "reproducible" and comm.size & (comm.size - 1):
        return
    net = WithBuffer("div")
    model = WRAPPERS[wrapper](net, comm)
    x = batch(comm.rank, 0)
    model(x).sum().backward()
    model.zero_grad()
    net.scale.add_(1)                            # between two steps
    y = model(x)
    {"buffer": net.scale, "argument": x, "output": y}[write].add_(1)
    raises(RuntimeError, "modified by an inplace operation", lambda: y.sum().backward())


def test_writes_inside_a_sharded_module_are_as_elsewhere(comm):
    """In stage 3 what forward saves goes through hooks, which know writes to outputs too."""
    class InPlace(nn.Sequential):
        def forward(self, x):
            h = super().forward(x).exp()
            h.mul_(2).add_(1)
            return h

    class Wrong(nn.Sequential):
        def forward(self, x):
            h = super().forward(x).exp()
            y = h * 2
            h.add_(1)
            return y + h

    layers = nn.Linear(3, 2).double(), nn.ReLU(inplace=True), nn.Dropout(0.0, inplace=True)
    model = DataParallel(InPlace(*layers), comm=comm, shard="parameters")
    raises(RuntimeError, "modified by an inplace operation", lambda: model(batch(comm.rank, 0)).sum().backward())
    model = DataParallel(nn.Sequential(*copy.deepcopy(nn.Sequential(nn.Linear(3, 2).double(), *layers[1:]))), comm=comm,
                         shard="parameters")
    model(batch(comm.rank, 0)).sum().backward()
    model = DataParallel(Wrong(nn.Linear(3, 2).double()), comm=comm, shard="parameters")
    raises(RuntimeError, "modified by an inplace operation", lambda: model(batch(comm.rank, 0)).sum().backward())


def test_what_nodes_keep():
    """overwrite() on memory that nodes saved before it was watched, and after; by views; as an output; twice."""
    b, x = ag.tensor([1.0, 2.0]), ag.ones(2, requires_grad=True)
    first = x * b
    keep_saved([b])
    alias, view = b.detach(), b[1:]
    ys = [first, x * b, x[1:] * view, (x * alias).exp()]
    expected = np.array([1 + 1 + np.e, 2 + 2 + 2 + 2 * np.exp(2)])
    overwrite([b], [np.array([5.0, 6.0], np.float32)])
    ys += [x * b, x[1:] * view]
    overwrite([b, view], [np.array([7.0, 8.0], np.float32), np.array([8.0], np.float32)])
    ys.append(x * b)
    assert alias.tolist() == [7, 8] and view.tolist() == [8] and b._version == 2
    sum(y.sum() for y in ys).backward()
    np.testing.assert_allclose(x.grad.numpy(), expected + [5 + 7, 6 + 6 + 8], rtol=1e-6)
    overwrite([b], [np.array([7.0, 8.0], np.float32)])
    assert b._version == 2                           # nothing has changed

    y = x * b
    overwrite([b], [np.array([1.0, 1.0], np.float32)])
    z = x * b
    b.add_(1)
    y.sum().backward()                               # its values are those that it saved
    raises(RuntimeError, "version 4; expected version 3", lambda: z.sum().backward())
    y = x * b
    b.add_(1)
    overwrite([b], [np.array([1.0, 1.0], np.float32)])
    raises(RuntimeError, "version 6; expected version 4", lambda: y.sum().backward())


def test_second_derivatives_of_what_was_kept():
    b, x = ag.tensor([2.0, 3.0], dtype=ag.float64), ag.tensor([1.0, 2.0], dtype=ag.float64, requires_grad=True)
    keep_saved([b])
    y = (x * b) ** 3
    overwrite([b], [np.zeros(2)])
    (g,) = ag.autograd.grad(y.sum(), x, create_graph=True)
    (h,) = ag.autograd.grad(g.sum(), x)
    assert g.tolist() == [24, 324] and h.tolist() == [48, 324]


def test_kept_values_live_as_long_as_the_nodes():
    b, x = ag.tensor(np.ones(1000)), ag.ones(1000, dtype=ag.float64, requires_grad=True)
    keep_saved([b])
    b.add_(1)
    y = x * b
    version = weakref.ref(y.grad_fn.versions[2])
    overwrite([b], [np.zeros(1000)])
    assert version().content.nbytes == 8000
    del y
    assert version() is None and b.counter.kept.first is None
    overwrite([b], [np.ones(1000)])                  # nobody has saved it: nothing is copied
    assert b.counter.kept.current(b._version) is None


# --- passes that are never differentiated -------------------------------------------------------------------------------

def swap(net):
    kept = net.fc.weight
    net.fc.weight = nn.Parameter(ag.zeros(2, 3, dtype=ag.float64))
    return lambda: setattr(net.fc, "weight", kept)


def take(net):
    kept = net.fc.bias
    net.fc.bias = None
    return lambda: setattr(net.fc, "bias", kept)


def add(net):
    net.extra = nn.Parameter(ag.ones(1))
    return lambda: delattr(net, "extra")


@pytest.mark.parametrize("wrapper", ["rows", "optimizer", "gradients", "reproducible"])
@pytest.mark.parametrize("change", [swap, take, add])
def test_a_forward_of_a_changed_model_is_its_own(comm, wrapper, change):
    """The model is changed for one forward pass: only a backward pass from that one is an error."""
    if wrapper == "reproducible" and comm.size & (comm.size - 1):
        return
    net, one = WithBuffer("mul"), WithBuffer("mul")
    model = WRAPPERS[wrapper](net, comm)
    for turn in range(2):
        model.zero_grad()
        back = change(net)
        y = model(batch(comm.rank, 1))
        back()
        loss(model, comm.rank, 1).backward()
        if not turn:
            for r in range(comm.size):
                (loss(one, r, 1) / comm.size).backward()
        for g, p in zip(whole_gradients(model, net), one.parameters(), strict=True):
            np.testing.assert_allclose(g, p.grad.numpy(), rtol=1e-12)
        if wrapper == "rows" and comm.size > 1:
            raises(RuntimeError, "after the model was wrapped", lambda: y.sum().backward())


def test_a_weight_that_can_not_be_counts_in_its_own_block(comm):
    model = DataParallel(WithBuffer("mul"), comm=comm)
    with model.weighted(float("nan")):
        y = model(batch(comm.rank, 0))           # never differentiated
    loss(model, comm.rank, 1).backward()
    if comm.size > 1:
        raises(RuntimeError, "a weight must be finite", lambda: y.sum().backward())
        with model.no_sync(), model.weighted(-1):
            loss(model, comm.rank, 1).backward()
        raises(RuntimeError, "a weight must be finite", lambda: loss(model, comm.rank, 1).backward())
        loss(model, comm.rank, 1).backward()


@pytest.mark.parametrize("wrapper", ["rows", "nn", "reproducible"])
@pytest.mark.parametrize("prefix", ["", "module."])
def test_functional_call(comm, wrapper, prefix):
    """By names with and without "module."; gradients by the given tensors stay on the rank."""
    if wrapper == "reproducible" and comm.size & (comm.size - 1):
        return
    net, one = WithBuffer("mul"), WithBuffer("mul")
    model = nn.DataParallel(net, comm=comm) if wrapper == "nn" else WRAPPERS[wrapper](net, comm)
    given = {prefix + name: p.detach() * 2 for name, p in one.named_parameters()}
    bare = {name.removeprefix("module."): p for name, p in given.items()}
    x = batch(comm.rank, 0)

    def call(model, tensors):
        return ag.func.functional_call(model, tensors, (x,)).sin().mean()

    for _ in range(2):
        with ag.no_grad():
            assert call(model, given).allclose(call(one, bare))
        if wrapper != "reproducible":            # which averages over ranks in the graph
            gradients, expected = ag.func.grad(call, argnums=1)(model, given), ag.func.grad(call, argnums=1)(one, bare)
            tangents = [ag.func.jvp(lambda tensors, m=m: call(m, tensors), (tensors,), (tensors,))[1]
                        for m, tensors in ((model, given), (one, bare))]
            assert tangents[0].allclose(tangents[1])
            assert all(gradients[prefix + name].allclose(g) for name, g in expected.items())
        model.zero_grad()
        loss(model, comm.rank, 1).backward()
    one.zero_grad()
    for r in range(comm.size):
        (loss(one, r, 1) / comm.size).backward()
    for p, q in zip(model.parameters(), one.parameters(), strict=True):
        np.testing.assert_allclose(p.grad.numpy(), q.grad.numpy(), rtol=1e-12)
    raises(RuntimeError, "Unexpected key.*nothing", ag.func.functional_call, model, {"nothing": x}, (x,), strict=True)
    twice = DataParallel(DataParallel(WithBuffer("mul"), comm=comm), comm=comm)
    assert call(twice, given).allclose(call(one, bare))
    if wrapper == "rows":
        assigned = {f"{prefix}scale": ag.zeros(1, 2, dtype=ag.float64)}
        net.change = lambda net: own_rank(net, 0)
        ag.func.functional_call(model, assigned, (x,))
        assert assigned[f"{prefix}scale"].tolist() == [[1, 1]] and net.scale.tolist() == [[1, 2]]


def test_functional_call_of_a_sharded_model_says_what_to_do(comm):
    model = DataParallel(WithBuffer("mul"), comm=comm, shard="optimizer")
    if comm.size > 1:
        with pytest.raises(NotImplementedError, match="its parameters are slices; call model.module"):
            ag.func.functional_call(model, dict(model.named_parameters()), (batch(0, 0),))


@pytest.mark.parametrize("use_reentrant", [True, False])
def test_an_argument_of_a_checkpoint_that_was_written_to(use_reentrant):
    x, b = ag.ones(2, requires_grad=True), ag.ones(2)
    y = checkpoint(lambda x, b: (x * b).sin(), x, b, use_reentrant=use_reentrant)
    b.add_(1)
    raises(RuntimeError, "modified by an inplace operation.*is at version 1; expected version 0", lambda: y.sum().backward())


@pytest.mark.parametrize("name", ["jacrev", "jacfwd", "hessian"])
def test_transforms_over_local_devices(name):
    """A backward pass over replicas in threads has no batched rule: vmap() loops."""
    model, one, x = DataParallel(WithBuffer("mul"), comm=Devices(2)), WithBuffer("mul"), batch(0, 0)

    def transformed(module):
        return getattr(ag.func, name)(lambda x: (module(x) ** 3).sum() if name == "hessian" else module(x))(x)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")              # that it loops
        assert transformed(model).allclose(transformed(one))
