"""What is done with PyTorch's DistributedDataParallel and with DataParallel alike; see test_ddp_beside_torch."""

import numpy as np

FEATURES = 4


def make(t, to_tensor):
    net = t.nn.Sequential(t.nn.Linear(FEATURES, 5), t.nn.Tanh(), t.nn.Linear(5, 2)).double()
    for number, p in enumerate(net.parameters()):
        p.data = to_tensor(np.random.default_rng(number).standard_normal(tuple(p.shape)))
    return net


def piece(rank, step):
    return np.random.default_rng([rank, step]).standard_normal((3, FEATURES))


def scenarios(wrap, average_hook, optimizer_of, to_tensor, rank):
    """The same text for both libraries: name -> gradients or weights."""
    found = {}

    def loss_of(model, step):
        return (model(to_tensor(piece(rank, step))) ** 2).mean()

    def values(model, grads=True):
        return [(p.grad if grads else p).detach().numpy().copy() for p in model.parameters()]

    model = wrap()
    loss_of(model, 0).backward()
    found["mean"] = values(model)
    loss_of(model, 1).backward()
    found["kept"] = values(model)
    model.zero_grad()
    with model.no_sync():
        (loss_of(model, 0) / 2).backward()
    (loss_of(model, 1) / 2).backward()
    found["accumulated"] = values(model)
    model = wrap()
    model.register_comm_hook(None, average_hook)
    loss_of(model, 0).backward()
    found["hook"] = values(model)
    for initial in (True, False):
        model = wrap()
        optimizer = optimizer_of(model.parameters())
        with model.join(divide_by_initial_world_size=initial):
            for step in range(1 + 2 * rank):
                optimizer.zero_grad()
                loss_of(model, step).backward()
                optimizer.step()
        found[f"join {initial}"] = values(model, False)
    model = wrap()
    with model.no_sync():
        loss_of(model, 0).backward()
    found["local"] = values(model)
    return found
