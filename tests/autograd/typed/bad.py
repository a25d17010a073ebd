"""Uses that type checkers must refuse, each on a line of its own that ends in "# bad": test_stubs.py."""

import numpy as np

import autograd as ag
import autograd.distributed as dist
import autograd.nn.functional as F
import dparallel
from autograd import nn, optim
from autograd.amp import GradScaler
from autograd.optim.lr_scheduler import CosineAnnealingLR, OneCycleLR, StepLR
from autograd.utils.data import DistributedSampler, RandomSampler, TensorDataset

x = ag.randn(3, 4)
x.nonsense()  # bad
x.nonsense  # bad
ag.nonsense  # bad
ag.nonsense(x)  # bad
F.nonsense(x)  # bad
nn.Nonsense()  # bad
ag.linalg.nonsense(x)  # bad
from autograd import nonsense  # bad

# arguments of wrong types
x + "1"  # bad
x @ None  # bad
x[1.5]  # bad
x["a"]  # bad
ag.exp("x")  # bad
ag.exp(x, out=3)  # bad
ag.add(x, "1")  # bad
x.sum(dim="rows")  # bad
x.reshape("2, 3")  # bad
x.clamp(min="0")  # bad
x.transpose(0, None)  # bad
ag.cat(x.item, dim=0)  # bad
ag.cat([x], dim="rows")  # bad
ag.zeros("3")  # bad
x.masked_fill("mask", 0)  # bad
F.cross_entropy(x, "labels")  # bad
F.conv2d(x, None)  # bad
ag.fft.fft("x")  # bad
ag.special.erf("x")  # bad
ag.linalg.inv(3)  # bad
x.requires_grad = "yes"  # bad
x.shape = (4, 3)  # bad

# wrong numbers and names of arguments
x.exp(1, 2)  # bad
x.exp(nonsense=1)  # bad
ag.exp()  # bad
ag.exp(x, y=1)  # bad
x.sum(dims=1)  # bad
x.add_(1, beta=2)  # bad
x.softmax()  # bad
ag.maximum(x)  # bad
F.relu(x, in_place=True)  # bad
nn.Linear(3, 4, biases=False)  # bad

x.trace(1)  # bad
ag.qr(x, out=x)  # bad
ag.linalg.lstsq(x)  # bad
ag.linalg.norm(x, dim="rows")  # bad
ag.exp_("x")  # bad
nn.Sequential(3)  # bad
x.type(ag.float64, "no")  # bad

# results
s: str = x.exp()  # bad
i: int = x.sum()  # bad
x.max().values  # bad
x.is_contiguous().sum()  # bad
x.size(0).sum()  # bad
x.size().sum()  # bad
ag.linalg.eigh(x).values  # bad
ag.linalg.svd(x).V  # bad
ag.adaptive_max_pool1d(x, 2).sum()  # bad


# what users misspell, forget, or give of another type
def misspelt(net: nn.Linear, opt: optim.Optimizer, comm: dparallel.Communicator) -> None:
    x.sumn()  # bad
    x.sum(axes=0)  # bad
    x.sum(0, keepdim="yes")  # bad
    x.mean(dim=1.5)  # bad
    x.to("cpu", "cuda", 3, 4, 5)  # bad
    x.view("a")  # bad
    x.reshape()  # bad
    x.permute("a", 1)  # bad
    x.unsqueeze()  # bad
    x.squeeze("a")  # bad
    x.expand(2.5)  # bad
    x.clone(memory_fmt=None)  # bad
    x.item(1)  # bad
    x.numpy(True)  # bad
    x.backward(retain=True)  # bad
    x.detach(True)  # bad
    x.requires_grad_(mode=1)  # bad
    x.register_hook(3)  # bad
    x.register_hook()  # bad
    x.max(dim=1).value  # bad
    x.max(dim=1).values()  # bad
    x.topk()  # bad
    x.topk("3")  # bad
    x.sort(desc=True)  # bad
    x.split()  # bad
    x.chunk("2")  # bad
    x.gather(1)  # bad
    x.scatter_(1, x)  # bad
    x.index_select(0, [0, 1])  # bad
    x.masked_fill(x > 0)  # bad
    x.clamp_(minimum=0)  # bad
    x.float("no")  # bad
    x.long().nonsense  # bad
    x.T()  # bad
    x.shape()  # bad
    x.dtype.nonsense  # bad
    x.device.kind  # bad
    x.grad.zero_()  # bad
    x.grad_fn.name()  # bad
    print(x < "a")  # bad
    x[object()]  # bad
    x[0] = "a"  # bad
    "a" + x  # bad
    None * x  # bad
    ag.zeros()  # bad
    ag.zeros(2, dtype=3)  # bad
    ag.zeros(2, dtyp=ag.float32)  # bad
    ag.tensor()  # bad
    ag.tensor([1], 3)  # bad
    ag.arange("3")  # bad
    ag.arange(0, 1, dtype=2.5)  # bad
    ag.randn(2.5)  # bad
    ag.randint(0, 3)  # bad
    ag.linspace(0)  # bad
    ag.stack(3)  # bad
    ag.cat([x, "a"])  # bad
    ag.cat([x], axis="a")  # bad
    ag.where(x > 0, "a", x)  # bad
    ag.einsum(3)  # bad
    ag.matmul(x)  # bad
    ag.exp(x, x)  # bad
    ag.max()  # bad
    ag.max(x, 1, 2, 3)  # bad
    ag.save()  # bad
    ag.load()  # bad
    ag.manual_seed("x")  # bad
    ag.set_grad_enabled()  # bad
    ag.autocast()  # bad
    ag.autograd.grad(x)  # bad
    ag.autograd.gradient(x, x)  # bad
    ag.linalg.norm()  # bad
    ag.linalg.solve(x)  # bad
    ag.linalg.svd(x).nonsense  # bad
    ag.fft.fft(x, norms="ortho")  # bad
    ag.nn.functional.relu()  # bad
    F.relu(x, inplac=True)  # bad
    F.softmax(x, dims=1)  # bad
    F.dropout(x, "0.5")  # bad
    F.cross_entropy(x)  # bad
    F.cross_entropy(x, x, reduce_="mean")  # bad
    F.mse_loss(x, x, reduction=3)  # bad
    F.conv2d(x)  # bad
    F.conv2d(x, x, strides=2)  # bad
    F.pad(x)  # bad
    F.pad(x, "a")  # bad
    F.interpolate(x, scale=2)  # bad
    F.layer_norm(x)  # bad
    F.embedding(x)  # bad
    F.one_hot(x, "a")  # bad
    F.max_pool2d(x)  # bad
    nn.Linear(3)  # bad
    nn.Linear("3", 4)  # bad
    nn.Linear(3, 4, dtype=4.5)  # bad
    nn.Conv2d(3, 4)  # bad
    nn.Conv2d(3, 4, kernel="3")  # bad
    nn.Conv2d(3, 4, "3")  # bad
    nn.BatchNorm2d()  # bad
    nn.Dropout("0.5")  # bad
    nn.LSTM(3)  # bad
    nn.LSTM(3, 4, layers=2)  # bad
    nn.Embedding(3)  # bad
    nn.MultiheadAttention(8)  # bad
    nn.TransformerEncoderLayer(8)  # bad
    nn.CrossEntropyLoss(weights=x)  # bad
    nn.CrossEntropyLoss(reduction=3)  # bad
    nn.ModuleList(3)  # bad
    nn.ModuleDict([1])  # bad
    nn.Parameter("a", 3, 4)  # bad
    net(x, x)  # bad
    net()  # bad
    net.to(dtype=3.5)  # bad
    net.load_state_dict()  # bad
    net.load_state_dict({}, stric=False)  # bad
    net.load_state_dict({}).missing  # bad
    net.register_buffer("a")  # bad
    net.register_buffer(3, x)  # bad
    net.train("yes")  # bad
    net.zero_grad(none=True)  # bad
    net.named_parameters(prefixes="a")  # bad
    net.apply(3)  # bad
    net.state_dict().nonsense()  # bad
    net.weight.dat  # bad
    nn.init.normal_(net.weight, stdev=1)  # bad
    nn.init.xavier_uniform_()  # bad
    nn.utils.clip_grad_norm_(net.parameters())  # bad
    nn.utils.clip_grad_norm_(net.parameters(), maxnorm=1.0)  # bad
    optim.Adam()  # bad
    optim.Adam(net.parameters(), beta=(0.9, 0.99))  # bad
    optim.Adam(net.parameters(), lr="1e-3")  # bad
    optim.SGD(net.parameters(), momentums=0.9)  # bad
    opt.steps()  # bad
    opt.zero_grad(sets=True)  # bad
    opt.step(3)  # bad
    opt.load_state_dict(3)  # bad
    opt.param_group[0]  # bad
    opt.add_param_group()  # bad
    CosineAnnealingLR(opt)  # bad
    CosineAnnealingLR(opt, tmax=3)  # bad
    CosineAnnealingLR(net, 3)  # bad
    StepLR(opt, step=3)  # bad
    OneCycleLR(opt, 0.1, total=3)  # bad
    StepLR(opt, 3).get_lr_()  # bad
    StepLR(opt, 3).get_last_lr().nonsense  # bad
    GradScaler(enable=True)  # bad
    GradScaler().scale()  # bad
    GradScaler().scale(x).nonsense()  # bad
    GradScaler().step()  # bad
    DistributedSampler()  # bad
    DistributedSampler([1], replicas=2)  # bad
    RandomSampler([1], replacing=True)  # bad
    TensorDataset(x)[0].nonsense  # bad
    dist.all_reduce()  # bad
    dist.all_reduce(x, operation=3)  # bad
    dist.all_gather(x)  # bad
    dist.broadcast(x, source=0)  # bad
    dist.init_process_group(backends="gloo")  # bad
    dist.all_reduce(x, async_op=True).waits()  # bad
    dist.ReduceOp.SUMM  # bad
    dist.new_group(rank=[0])  # bad
    dist.get_world_size().nonsense  # bad
    comm.allreduce()  # bad
    comm.allreduce([x], oper="sum")  # bad
    comm.broadcast(np.ones(1), roots=0)  # bad
    comm.send(np.ones(1))  # bad
    comm.size()  # bad
    dparallel.world(3, 4, 5)  # bad
    dparallel.run_ranks(2)  # bad
    dparallel.run_ranks("2", misspelt)  # bad
    dparallel.save_all()  # bad
    dparallel.survive()  # bad
    dparallel.evaluate()  # bad
    dparallel.Logger(files=3)  # bad
    dparallel.SyncBatchNorm(3, epsilon=1)  # bad
    ag.profiler.profile(recordshapes=True)  # bad
    ag.utils.checkpoint.checkpoint()  # bad
    ag.utils.data.default_collat([1])  # bad
    ag.device("cpu").types  # bad
    ag.float33  # bad
    ag.finfo(ag.float32).epsilon  # bad
    ag.Generator().seeds()  # bad
    ag.distributions.Normal(0)  # bad
    ag.distributions.Normal(0.0, 1.0).samples()  # bad
    ag.distributions.Normal(0.0, 1.0).sample().nonsense()  # bad
    ag.Size([1]).nonsense  # bad
    ag.nn.utils.rnn.pad_sequence([x], batch_firsts=True)  # bad
    ag.autograd.functional.jacobian(misspelt)  # bad
    ag.optim.swa_utils.AveragedModel()  # bad
    ag.func.functional_call(net)  # bad
    ag.random.nonsense()  # bad
    ag.special.nonsense(x)  # bad
    ag.backends.nonsense  # bad
    ag.cuda.nonsense()  # bad
    ag.multiprocessing.spawns()  # bad
    ag.jit.nonsense()  # bad
