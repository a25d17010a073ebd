"""Uses that type checkers must accept: test_stubs.py. assert_type is checked by them alone."""

from collections.abc import Iterator

import numpy as np
from typing_extensions import assert_type

import autograd as ag
import autograd.nn.functional as F
from autograd import Tensor, nn, optim
from autograd.utils.data import DataLoader, TensorDataset

x = ag.randn(3, 4, requires_grad=True)
y = ag.tensor([[1.0, 2.0], [3.0, 4.0]], dtype=ag.float64)
n = ag.arange(12).reshape(3, 4)

# operators: tensors, numbers, arrays, on either side
assert_type(x * 2 + 1, Tensor)
assert_type(2 ** x - 1 / x, Tensor)
assert_type(-x @ x.T, Tensor)
assert_type(x + np.ones((3, 4), np.float32), Tensor)
assert_type((x > 0) & (x < 1) | ~(x == 2), Tensor)
assert_type(x[0, 1:, None][..., 0], Tensor)
assert_type(x[x > 0], Tensor)
x.data[0] = 1.0
x.data[[0, 1]] = ag.zeros(2, 4)
z = x.detach().clone()
z += 1
z *= x.detach()
rows: Iterator[Tensor] = iter(x)

# methods: arguments, results
assert_type(x.exp().sum(dim=1, keepdim=True), Tensor)
assert_type(x.sum(axis=(0, 1), keepdims=True), Tensor)
assert_type(x.mean(), Tensor)
assert_type(x.max(), Tensor)
assert_type(x.max(1).values, Tensor)
values, indices = x.max(dim=1)
assert_type(x.topk(2).indices, Tensor)
assert_type(x.reshape(2, 6).view(-1).permute(0), Tensor)
assert_type(x.view((4, 3)).transpose(0, 1), Tensor)
assert_type(x.split(1), tuple[Tensor, ...])
assert_type(x.shape[0], int)
assert_type(x.stride(), tuple[int, ...])
assert_type(x.to(ag.float64).to("cpu", ag.float32).to(dtype=ag.float16), Tensor)
assert_type(x.float().long().bool(), Tensor)
assert_type(x.is_contiguous(), bool)
assert_type(z.add_(1, alpha=2).clamp_(0, 1).zero_(), Tensor)
assert_type(x.masked_fill(x > 0, float("-inf")), Tensor)
assert_type(x.softmax(dim=-1), Tensor)
assert_type(x.softmax(axis=-1), Tensor)
assert_type(n.gather(1, n % 4), Tensor)
assert_type(x.slogdet().logabsdet, Tensor)
assert_type(x.type(), str)
x.backward(ag.ones_like(x))
x.sum().backward(retain_graph=True)
x.requires_grad_().register_hook(lambda g: g * 2)
assert_type(x.real.device, ag.device)
assert_type(nn.Parameter(x).grad, Tensor | None)
y.new_zeros(2, 3).fill_(1).item()

# functions
assert_type(ag.exp(x, out=ag.empty(3, 4)), Tensor)
assert_type(ag.maximum(x, x * 2), Tensor)
assert_type(ag.add(x, 1, alpha=2), Tensor)
assert_type(ag.where(x > 0, x, 0.0), Tensor)
assert_type(ag.cat([x, x], dim=1), Tensor)
assert_type(ag.stack((x, x)), Tensor)
assert_type(ag.einsum("ij,kj->ik", x, x), Tensor)
assert_type(ag.zeros(2, 3) + ag.ones((2, 3)) + ag.full((2, 3), 1.5), Tensor)
assert_type(ag.arange(0, 1, 0.1, dtype=ag.float32), Tensor)
assert_type(ag.randint(0, 10, (3,)), Tensor)
assert_type(ag.linalg.norm(x, dim=1), Tensor)
assert_type(ag.linalg.svd(x).S, Tensor)
assert_type(ag.fft.rfft(x), Tensor)
assert_type(ag.special.erf(x), Tensor)
assert_type(ag.is_grad_enabled(), bool)
assert_type(ag.nonzero(x, as_tuple=True), tuple[Tensor, ...])
ag.manual_seed(0)
with ag.no_grad():
    gradients: tuple[Tensor, ...] = ag.autograd.grad(x.sum(), [x])

# layers, optimisers, data
net = nn.Sequential(nn.Conv2d(1, 4, 3, padding=1), nn.ReLU(), nn.Flatten(), nn.Linear(64, 10))
optimizer = optim.Adam(net.parameters(), lr=1e-3)
for images, labels in DataLoader(TensorDataset(ag.randn(8, 1, 4, 4), ag.zeros(8).long()), batch_size=4, shuffle=True):
    loss = F.cross_entropy(net(images), labels, label_smoothing=0.1)
    assert_type(loss, Tensor)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
assert_type(F.relu(F.conv2d(ag.randn(1, 1, 4, 4), ag.randn(2, 1, 3, 3), padding="same")), Tensor)
assert_type(F.max_pool2d(ag.randn(1, 1, 4, 4), 2), Tensor)
assert_type(F.scaled_dot_product_attention(x, x, x), Tensor)
