"""Graph convolutions (Kipf & Welling 2017) in two ways to use ranks: one graph cut over them, and many graphs in batches.

    python examples/graph_net.py club            which side will each member of a karate club take when it splits?
    dprun -n 2 examples/graph_net.py club        (Zachary 1977; the sides of two of the 34 members are given)
    dprun -n 2 examples/graph_net.py digits      which digit is a graph of the pixels that have ink?

club: each rank has some of the members, and the ties that lead to them. Before each layer AllGather brings the features of
all members; its backward pass sends each rank the sum of the gradients that all ranks have for its members. The loss is a
sum over the members whose side is given, divided by their number on all ranks, so DataParallel adds up: average="sum".

digits: a batch of graphs is one large graph of separate parts: their nodes one after the other, the numbers of nodes in
their edges moved up, and for each node the number of its graph. Ranks have as many graphs as others, or nearly, of more
or fewer nodes. The loss is a mean over graphs: rows of what forward is given first are graphs, which is what counts.
"""

import argparse

import numpy as np

import autograd as ag
import autograd.nn.functional as F
from autograd import nn, optim
from autograd.utils.data import DataLoader, Dataset
from dparallel import AllGather, DataParallel, GlobalBatchSampler, Logger, assert_same_everywhere, evaluate, world
from dparallel.metrics import Accuracy


class GraphConv(nn.Module):
    """The sum over the edges that lead to a node of weight * features of where they come from, through a linear layer."""

    def __init__(self, features, width):
        super().__init__()
        self.linear = nn.Linear(features, width)

    def forward(self, x, edges, weights, nodes):
        """Features (m, features) of nodes, edges (2, e) from them to the `nodes` nodes of the result, (nodes, width)."""
        messages = self.linear(x)[edges[0]] * weights[:, None]
        return messages.new_zeros(nodes, messages.shape[1]).index_add(0, edges[1], messages)


def normalised(edges, nodes):
    """The edges (2, e) in both directions, and from each node to itself; and their weights 1 / sqrt(degree * degree)."""
    loops = np.tile(np.arange(nodes), (2, 1))
    edges = np.concatenate([edges, edges[::-1], loops], 1)
    degree = np.bincount(edges[1], minlength=nodes)
    return edges, (1 / np.sqrt(degree[edges[0]] * degree[edges[1]])).astype(np.float32)


# --- one graph, cut over ranks ------------------------------------------------------------------------------------------


class Club(nn.Module):
    """Two convolutions; this rank's members, from those of all ranks. Nothing is known of a member but who it is."""

    def __init__(self, members, width, comm):
        super().__init__()
        self.comm = comm
        self.conv1, self.conv2 = GraphConv(members, width), GraphConv(width, 2)

    def forward(self, x, edges, weights):
        n = len(x)
        x = F.relu(self.conv1(AllGather.apply(x, comm=self.comm), edges, weights, n))
        return self.conv2(AllGather.apply(x, comm=self.comm), edges, weights, n)


def club(options, comm):
    import networkx
    graph = networkx.karate_club_graph()
    sides = np.array([graph.nodes[i]["club"] != "Mr. Hi" for i in graph], np.int64)
    edges, weights = normalised(np.array(graph.edges).T, len(sides))
    ends = np.linspace(0, len(sides), comm.size + 1).astype(int)
    first, last = ends[comm.rank], ends[comm.rank + 1]                   # this rank's members
    mine = (edges[1] >= first) & (edges[1] < last)                       # and the ties that lead to them
    edges, weights = ag.from_numpy(edges[:, mine] - [[0], [first]]), ag.from_numpy(weights[mine])
    known = [i - first for i in (0, 33) if first <= i < last]            # the instructor and the president
    x, y = ag.eye(len(sides))[first:last], ag.from_numpy(sides[first:last])

    ag.manual_seed(0)
    model = DataParallel(Club(len(sides), options.width, comm), average="sum")
    optimizer = optim.Adam(model.parameters(), lr=options.lr, weight_decay=5e-4)
    with Logger(every=50) as log:
        for _ in range(options.steps):
            optimizer.zero_grad()
            loss = F.cross_entropy(model(x, edges, weights)[known], y[known], reduction="sum")
            (loss / 2).backward()
            optimizer.step()
            log(loss=loss / max(1, len(known)), rows=len(known))
    with ag.no_grad():
        right = comm.total((model(x, edges, weights).argmax(1) == y).sum().item())
    if comm.rank == 0:
        print(f"club: {right:.0f} of {len(sides)} members are where they went")
    return model


# --- many graphs, in batches --------------------------------------------------------------------------------------------


class Pixels(Dataset):
    """The digits of scikit-learn as graphs: a node for each of the 8 x 8 pixels with ink in it (ink, row, column), an edge
    between those that touch, also at a corner."""

    def __init__(self, images, digits):
        self.graphs = []
        for image, digit in zip(images, digits, strict=True):
            places = np.argwhere(image > 0)
            x = np.column_stack([image[tuple(places.T)] / 8 - 1, places / 3.5 - 1]).astype(np.float32)
            a, b = np.nonzero(np.triu(abs(places[:, None] - places).max(2) == 1))
            self.graphs.append((x, *normalised(np.stack([a, b]), len(x)), digit))

    def __len__(self):
        return len(self.graphs)

    def __getitem__(self, i):
        return self.graphs[i]


def one_graph(graphs):
    """Graphs -> (nodes of each graph, features, edges, weights), digits: what DataLoader calls with the items of a batch."""
    xs, edges, weights, digits = zip(*graphs, strict=True)
    counts = np.array([len(x) for x in xs])
    firsts = np.cumsum(counts) - counts
    edges = np.concatenate([e + first for e, first in zip(edges, firsts, strict=True)], 1)
    parts = counts, np.concatenate(xs), edges, np.concatenate(weights)
    return tuple(ag.from_numpy(part) for part in parts), ag.tensor(digits)


class Readout(nn.Module):
    """Convolutions, each added to its input; the mean and the maximum over the nodes of each graph; two linear layers."""

    def __init__(self, features, width, classes, layers=4):
        super().__init__()
        self.first = nn.Linear(features, width)
        self.convs = nn.ModuleList(GraphConv(width, width) for _ in range(layers))
        self.own = nn.ModuleList(nn.Linear(width, width) for _ in range(layers))
        self.head = nn.Sequential(nn.Linear(2 * width, width), nn.ReLU(), nn.Linear(width, classes))

    def forward(self, batch):
        counts, x, edges, weights = batch
        y = F.relu(self.first(x))
        for conv, own in zip(self.convs, self.own, strict=True):
            y = y + F.relu(conv(y, edges, weights, len(y)) + own(y))
        which = ag.repeat_interleave(ag.arange(len(counts)), counts)[:, None].expand_as(y)
        empty = y.new_zeros(len(counts), y.shape[1])
        pooled = [empty.scatter_reduce(0, which, y, kind, include_self=False) for kind in ("mean", "amax")]
        return self.head(ag.cat(pooled, 1))


def digits(options, comm):
    from sklearn.datasets import load_digits
    images, y = load_digits(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(y))
    train, test = (Pixels(images[part].reshape(-1, 8, 8), y[part]) for part in np.split(order, [len(y) * 4 // 5]))
    train.graphs = train.graphs[:options.graphs]
    loader = DataLoader(train, batch_sampler=GlobalBatchSampler(train, options.batch, comm=comm), collate_fn=one_graph)
    held_out = DataLoader(test, batch_sampler=GlobalBatchSampler(test, 360, comm=comm, shuffle=False), collate_fn=one_graph)
    ag.manual_seed(0)
    model = DataParallel(Readout(3, options.width, 10))
    optimizer = optim.AdamW(model.parameters(), lr=options.lr)
    scheduler = optim.lr_scheduler.OneCycleLR(optimizer, options.lr, epochs=options.epochs, steps_per_epoch=len(loader))
    with Logger(every=len(loader), reduce={"nodes": "sum"}) as log:
        for _ in range(options.epochs):
            for batch, y in loader:
                loss = F.cross_entropy(model(batch), y)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                scheduler.step()
                log(loss=loss, nodes=len(batch[1]), rows=len(y))
        accuracy = log.now(evaluate(model, held_out, {"accuracy": Accuracy()}))["accuracy"]
    if comm.rank == 0:
        print(f"digits: {accuracy:.2%} of {len(test)} held-out graphs are recognised")
    return model


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("task", choices=["club", "digits"])
    parser.add_argument("--width", type=int, default=48)
    parser.add_argument("--lr", type=float, default=5e-3)
    parser.add_argument("--steps", type=int, default=200, help="club: steps of training")
    parser.add_argument("--epochs", type=int, default=20, help="digits: how often to go through the graphs")
    parser.add_argument("--batch", type=int, default=32, help="digits: graphs of a batch over all ranks")
    parser.add_argument("--graphs", type=int, help="digits: how many to train on; by default all")
    options = parser.parse_args(arguments)
    model = (club if options.task == "club" else digits)(options, world())
    assert_same_everywhere(model)
    return model


if __name__ == "__main__":
    main()
