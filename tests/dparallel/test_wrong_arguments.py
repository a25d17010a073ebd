"""Wrong arguments of public functions: the error says which argument, with its value, and not what went wrong inside."""

import numpy as np
import pytest

import autograd as ag
import dparallel
from autograd import nn
from autograd.utils import data
from autograd.utils.checkpoint import checkpoint_sequential
from autograd.utils.flop_counter import FlopCounterMode
from autograd.utils.summary import summary

MODEL = nn.Sequential(nn.Linear(2, 2), nn.Tanh())
X = ag.ones(1, 2)
CASES = [
    (lambda: checkpoint_sequential(MODEL, 0, X, use_reentrant=False), ValueError, r"segments=0\): a whole number of at least 1"),
    (lambda: checkpoint_sequential(MODEL, "2", X, use_reentrant=False), TypeError, r"segments='2'\)"),
    (lambda: checkpoint_sequential(MODEL, 3, X, use_reentrant=False), ValueError, r"segments=3\): there are 2 functions"),
    (lambda: dparallel.Devices(1 << 70), ValueError, "at most 65,536"),
    (lambda: data.DistributedSampler([1], "2", 0), TypeError, "num_replicas='2'"),
    (lambda: data.DistributedSampler([1], 2, 0).load_state_dict({}), ValueError, "seed, epoch and sample"),
    (lambda: data.DataLoader([1], num_workers=None), TypeError, "num_workers=None"),
    (lambda: data.DataLoader([1], timeout="long"), TypeError, "timeout='long'"),
    (lambda: data.default_collate([]), IndexError, r"a list of items, of at least one, not \[\]"),
    (lambda: FlopCounterMode(custom_mapping=-1), TypeError, "custom_mapping=-1"),
    (lambda: ag.profiler.profile(activities=0), TypeError, "activities=0"),
    (lambda: ag.profiler.profile(schedule=0), TypeError, "schedule=0"),
    (lambda: ag.profiler.profile(schedule=lambda step: 1), TypeError, r"schedule\(0\) returned 1"),
    (lambda: dparallel.evaluate(MODEL, [], "loss"), TypeError, "metrics='loss'"),
    (lambda: dparallel.gather_for_metrics(X, loader=3), TypeError, "loader=3"),
    (lambda: dparallel.predict("trace.json", sizes=None), TypeError, "sizes=None"),
    (lambda: dparallel.predict("trace.json", sizes=[2], least_efficiency=None), TypeError, "least_efficiency=None"),
    (lambda: dparallel.PostLocalSGDOptimizer(None, None), TypeError, "optim=None"),
    (lambda: dparallel.convert_sync_batchnorm(None), TypeError, "module=None"),
    (lambda: dparallel.replicate("net", 2), TypeError, "a Module, not str"),
    (lambda: dparallel.clip_grad_norm_("weights", 1.0), TypeError, r"not of str: give model.parameters\(\)"),
    (lambda: dparallel.clip_grad_norm_(MODEL.parameters(), None), TypeError, "max_norm=None"),
    (lambda: dparallel.Logger(every=2.5), TypeError, r"every=2.5\): a whole number of at least 1"),
    (lambda: dparallel.Logger(every=np.ones(2, int)), TypeError, "every=array"),
    (lambda: dparallel.Devices(1).persistent_sum(None, "float32"), TypeError, "size=None"),
    (lambda: dparallel.DataParallel(nn.Linear(2, 2))([1.0, 2.0]), TypeError, "must be a Tensor, not list"),
    (lambda: ag.optim.SGD(None, lr=0.1), TypeError, "iterable of Tensors or dicts, but got NoneType"),
    (lambda: ag.optim.Adam([X], lr="fast"), TypeError, r"optimizer\(lr='fast'\)"),
    (lambda: ag.optim.AdamW([X], betas=0.9), TypeError, r"betas=0.9\): two numbers"),
    (lambda: ag.optim.lr_scheduler.CyclicLR(ag.optim.SGD([X], lr=0.1, momentum=0.9), 0.1, 0.2, 0), ValueError, "step_size_up=0"),
    (lambda: summary(None), TypeError, r"summary\(model=None\)"),
    (lambda: dparallel.metrics.reduce_metrics(None), TypeError, "values=None"),
    (lambda: dparallel.metrics.Recall("3"), TypeError, "num_classes='3'"),
    (lambda: ag.optim.SGD([X], lr=0.1).load_state_dict({}), KeyError, "param_groups, state: load_state_dict"),
    (lambda: ag.optim.SGD([X], lr=0.1).add_param_group({"lr": 1}), KeyError, "params: .* this one has"),
]


@pytest.mark.parametrize("call, kind, text", CASES, ids=[text for _, _, text in CASES])
def test_the_error_names_the_argument(call, kind, text):
    with pytest.raises(kind, match=text):
        call()
