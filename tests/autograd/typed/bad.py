"""Uses that type checkers must refuse, each on a line of its own that ends in "# bad": test_stubs.py."""

import autograd as ag
import autograd.nn.functional as F
from autograd import nn

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
