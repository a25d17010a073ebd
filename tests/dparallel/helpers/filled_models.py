"""filled(): a model whose parameters are the same numbers on every rank, whatever the default generator has given."""

import numpy as np

import autograd as ag


def filled(net):
    """The model, each parameter filled from a generator seeded with its place."""
    for number, p in enumerate(net.parameters()):
        p.data = ag.tensor(np.random.default_rng(number).standard_normal(p.shape))
    return net
