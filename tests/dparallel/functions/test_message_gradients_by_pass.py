"""Which pass brings the gradient of a message depends on the order of calls: not on references, the collector, or time."""

import gc

import numpy as np
import pytest

import autograd as ag
from dparallel import AllReduce, Irecv, Isend, Recv, Send, join, run_ranks
from dparallel.testing import Network

# --- random programs: on ranks as in one process, whatever is held ---------------------------------------------------------


class Program:
    """A list of instructions, in an order in which one process can run them: (what, rank, ...). Values have numbers."""

    def __init__(self, seed, size):
        self.rng, self.size, self.lines, self.count = np.random.default_rng([seed, size]), size, [], 0
        self.explicit = bool(self.rng.integers(3) == 0)
        for _ in range(int(self.rng.integers(1, 4))):
            self.step()

    def chance(self, share):
        return bool(self.rng.random() < share)

    def pick(self, items):
        return items[int(self.rng.integers(len(items)))]

    def new(self):
        self.count += 1
        return self.count

    def step(self):
        """Forward, in one or two batches, each with its own graph; then passes."""
        size, batches = self.size, 2 if self.explicit else 1
        values = {(rank, batch): [0] for rank in range(size) for batch in range(batches)}      # 0 is the parameter
        sent = {(rank, batch): [] for rank in range(size) for batch in range(batches)}
        own = {key: [] for key in sent}              # received with own_pass=True
        idle = {rank: [] for rank in range(size)}    # received, and not used
        flying = []

        def receive():
            source, dest, batch, message = flying.pop(0)
            value, use = self.new(), self.chance(0.65)
            self.lines.append(("recv", dest, source, message, value, use and self.explicit, self.chance(0.3)))
            if use:
                values[dest, batch].append(value)
            else:
                idle[dest].append(value)
            if use and self.explicit:
                own[dest, batch].append(value)

        for _ in range(int(self.rng.integers(3, 12))):
            rank, batch, what = int(self.rng.integers(size)), int(self.rng.integers(batches)), self.rng.random()
            if what < 0.35:
                value = self.new()
                self.lines.append(("op", rank, self.pick(values[rank, batch]), self.pick(values[rank, batch]), value))
                values[rank, batch].append(value)
            elif what < 0.7:
                dest, message = int(self.rng.integers(size)), self.new()
                self.lines.append(("send", rank, dest, self.pick(values[rank, batch]), message, self.chance(0.3)))
                flying.append((rank, dest, batch, message))
                sent[rank, batch].append(message)
            elif flying:
                receive()
        while flying:
            receive()
        for batch in range(batches):
            for rank in range(size):
                free = not self.explicit and not sent[rank, 0]         # its passes wait for nobody
                if free and self.chance(0.4):
                    self.lines.append(("pass", rank, [0], [], "backward"))
                some = [value for value in values[rank, batch] if value in own[rank, batch] or self.chance(0.5)]
                joined = sent[rank, batch] if self.explicit else []
                self.lines.append(("pass", rank, some, joined, self.pick(["backward", "backward", "grad"])))
                if free and idle[rank] and self.chance(0.5):           # what was not used until now
                    self.lines.append(("pass", rank, idle[rank][:1], [], "backward"))
        if self.chance(0.5):
            self.lines += [("meet", rank) for rank in range(size)]

    def one_process(self):
        ws = [weight(rank) for rank in range(self.size)]
        values, losses, on_their_way = {(rank, 0): w for rank, w in enumerate(ws)}, [], {}
        for what, rank, *rest in self.lines:
            if what == "op":
                a, b, value = rest
                values[rank, value] = values[rank, a].sin() * values[rank, b]
            elif what == "send":
                on_their_way[rest[2]] = values[rank, rest[1]]
            elif what == "recv":
                values[rank, rest[2]] = on_their_way[rest[1]]
            elif what == "pass":
                losses += [loss_of(values[rank, value], value) for value in rest[0]]
        (sum(losses) + 0 * sum(w.sum() for w in ws)).backward()
        return [w.grad.numpy() for w in ws]

    def on_a_rank(self, comm, held, collect):
        """This rank's gradient. held: whether all that it made stays alive, and values are used in place or dropped."""
        w, rng = weight(comm.rank), np.random.default_rng(collect)
        values, tokens, kept, last = {0: w}, {}, [], {}
        for line, (_, rank, *rest) in enumerate(self.lines):           # where each value is used last
            if rank == comm.rank:
                last.update(dict.fromkeys(used(self.lines[line][0], rest), line))
        w.grad = ag.zeros(2, dtype=ag.float64)
        for line, (what, rank, *rest) in enumerate(self.lines):
            if rank != comm.rank:
                continue
            if what == "op":
                a, b, value = rest
                values[value] = values[a].sin() * values[b]
            elif what == "send":
                dest, value, message, started = rest
                ends = {"dest": dest, "comm": comm, "own_pass": self.explicit}
                token = Isend.apply(values[value], **ends).wait() if started else Send.apply(values[value], **ends)
                if self.explicit:
                    tokens[message] = token
                kept.append(token)
                del token
            elif what == "recv":
                source, _, value, own, started = rest
                ends = {"source": source, "comm": comm, "own_pass": own}
                y = Irecv.apply(**ends).wait() if started else Recv.apply(**ends)
                values[value] = y
                kept.append(y)
                del y
            elif what == "pass":
                some, joined, how = rest
                loss = sum((loss_of(values[value], value) for value in some), start=(0 * w).sum())
                for message in joined:
                    loss = join(loss, tokens.pop(message))
                if how == "grad":
                    w.grad += ag.grad(loss, w)[0]
                else:
                    loss.backward()
                kept.append(loss)
                del loss
            elif what == "meet":
                assert comm.total(1.0) == comm.size
            if not held:
                kept.clear()
                for value in [value for value in values if value and last.get(value, -1) <= line]:
                    del values[value]
            if collect and rng.random() < 0.05:
                gc.collect()
        return w.grad.numpy()


def used(what, rest):
    return rest[:2] if what == "op" else [rest[1]] if what == "send" else rest[0] if what == "pass" else []


def weight(rank):
    return ag.tensor(np.random.default_rng([rank, 3]).standard_normal(2), requires_grad=True)


def loss_of(value, number):
    return ((1 + number % 3) * value ** 2).sum()


def agree(program, comm, held, collect, expected):
    np.testing.assert_allclose(program.on_a_rank(comm, held, collect), expected[comm.rank], rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("held", [False, True])
@pytest.mark.parametrize("size", [2, 3])
def test_random_programs_equal_one_process_whatever_is_held(size, held):
    for seed in range(25):
        program = Program(seed, size)
        expected = program.one_process()
        try:
            run_ranks(size, lambda comm: agree(program, comm, held, seed % 3, expected), timeout=20,
                      network=Network(seed, delay=0.0001) if seed % 10 == 0 else None)
        except BaseException as error:
            raise AssertionError(f"seed {seed}: {program.lines}") from error


@pytest.mark.parametrize("held", [False, True])
def test_random_programs_on_ranks(comm, held):
    for seed in range(200, 208):
        program = Program(seed, comm.size)
        agree(program, comm, held, seed % 3, program.one_process())


# --- ordinary programs, with all variables alive and with none -------------------------------------------------------------


def ones(comm, factor=1.0):
    return ag.full((2,), factor * (comm.rank + 1), dtype=ag.float64, requires_grad=True)


def two_received_one_used(comm, keep, joined=False):
    """Rank 1 uses the second; then both meet, by a collective of arrays."""
    w = ones(comm)
    if comm.rank == 0:
        tokens = keep([Send.apply(w * factor, dest=1, comm=comm) for factor in (2, 3)])
        (join((w * 1).sum(), *tokens) if joined else (w * 1).sum()).backward()
        return w, 1 + 3 * 2
    if comm.rank == 1:
        ys = [keep(Recv.apply(source=0, comm=comm)) for _ in range(2)]
        (ys[1] * w).sum().backward()
        return w, 3
    return w, None


def the_other_used(comm, keep):
    """The first is used; rank 1 looks at the other one, in a graph that no pass has."""
    w = ones(comm)
    if comm.rank == 0:
        keep([Send.apply(w * factor, dest=1, comm=comm) for factor in (2, 3)])
        w.sum().backward()
        return w, 1 + 2 * 2
    if comm.rank == 1:
        y = Recv.apply(source=0, comm=comm)
        keep((Recv.apply(source=0, comm=comm) * w).sum())
        (y * w).sum().backward()
        return w, 2
    return w, None


def a_ring(comm, keep):
    """Each rank sends two tensors on, and uses one that comes; several steps, all of whose tensors stay."""
    w, size = ones(comm), comm.size
    right, left = (comm.rank + 1) % size, (comm.rank - 1) % size
    for _ in range(3):
        keep([Send.apply(w * factor, dest=right, comm=comm) for factor in (2, 3)])
        ys = [keep(Recv.apply(source=left, comm=comm)) for _ in range(2)]
        (ys[comm.rank % 2] * (comm.rank + 1)).sum().backward()
        del ys
    return w, 3 * (right + 1) * (2, 3)[right % 2]


def nothing_used(comm, keep):
    """The others receive, and call backward on something else."""
    w = ones(comm)
    if comm.rank == 0:
        keep([Send.apply(w * 2, dest=rank, comm=comm) for rank in range(1, comm.size)])
        w.sum().backward()
        return w, 1
    keep(Recv.apply(source=0, comm=comm))
    (w * 5).sum().backward()
    return w, 5


def a_later_pass(comm, keep):
    """As a discriminator's pass, and then the generator's, which alone reaches what was received."""
    w = ones(comm)
    if comm.rank == 0:
        keep(Send.apply(w * 2, dest=1, comm=comm))
        w.sum().backward()
        return w, 1 + 2 * 2
    if comm.rank == 1:
        y = keep(Recv.apply(source=0, comm=comm))
        (y.detach() * w).sum().backward()
        (y * 2).sum().backward()
        return w, 2
    return w, None


def a_batch_at_a_time(comm, keep):
    """All batches forward, then each one's pass, on both ranks, in different orders."""
    w = ones(comm)
    if comm.rank == 0:
        tokens = keep([Send.apply(w * (batch + 1), dest=1, comm=comm) for batch in range(3)])
        for batch in (2, 0, 1):
            tokens[batch].sum().backward()
        return w, 2 * (1 + 2 + 3)
    if comm.rank == 1:
        losses = keep([(keep(Recv.apply(source=0, comm=comm)) * w).sum() for _ in range(3)])
        for batch in (1, 2, 0):
            losses[batch].backward()
        return w, 1 + 2 + 3
    return w, None


def one_pass_for_all_batches(comm, keep):
    """The sender's one pass gets the gradients of the receiver's three."""
    w = ones(comm)
    if comm.rank == 0:
        tokens = keep([Send.apply(w * (batch + 1), dest=1, comm=comm) for batch in range(3)])
        join(w.sum(), tokens).backward()
        return w, 1 + 2 * (1 + 2 + 3)
    if comm.rank == 1:
        ys = keep([Recv.apply(source=0, comm=comm) for _ in range(3)])
        for y in ys:
            (y * w).sum().backward()
        return w, 1 + 2 + 3
    return w, None


def one_forward_one_backward(comm, keep, batches=5):
    """The schedule of pipelines: each stage has as many batches under way as stages follow it."""
    w, stage, last = ones(comm), comm.rank, comm.rank == comm.size - 1
    under_way = []

    def forward(batch):
        x = keep(Recv.apply(source=stage - 1, comm=comm)) if stage else ag.ones(2, dtype=ag.float64) * (batch + 1)
        under_way.append(keep((x * w).sum() if last else Send.apply(x * w, dest=stage + 1, comm=comm)))

    for batch in range(batches):
        forward(batch)
        if batch >= comm.size - 1 - stage:
            under_way.pop(0).sum().backward()
    while under_way:
        under_way.pop(0).sum().backward()
    product = np.prod(np.arange(1.0, comm.size + 1))
    return w, sum(range(1, batches + 1)) * product / (stage + 1)


def two_sends_of_one_graph(comm, keep):
    """The pass of one token frees what the other one needs: it has both."""
    w = ones(comm)
    if comm.rank == 0:
        h = w * w
        _, second = (keep(Send.apply(h.sin() * 0 + h * factor, dest=1, comm=comm)) for factor in (2, 3))
        second.sum().backward()
        return w, 2 * (2 + 3) * 2
    if comm.rank == 1:
        ys = keep([Recv.apply(source=0, comm=comm) for _ in range(2)])
        ((ys[0] + ys[1]) * w).sum().backward()
        return w, 5
    return w, None


def kept_and_walked_again(comm, keep):
    """retain_graph on all ranks: a pass that reaches it, one that does not, and one that does."""
    w, size = ones(comm), comm.size
    right, left = (comm.rank + 1) % size, (comm.rank - 1) % size
    keep(Send.apply(w * 2, dest=right, comm=comm))
    y = keep(Recv.apply(source=left, comm=comm))
    loss = keep((y * (comm.rank + 1)).sum())
    loss.backward(retain_graph=True)
    (w * 0).sum().backward()
    loss.backward()
    return w, 2 * 2 * (right + 1)


def one_side_has_more_passes(comm, keep):
    """Passes of no message, before, between and after."""
    w, size = ones(comm), comm.size
    right, left = (comm.rank + 1) % size, (comm.rank - 1) % size
    for _ in range(2):
        for _ in range(comm.rank):
            (w * 1).sum().backward()
        keep(Send.apply(w * 2, dest=right, comm=comm))
        y = keep(Recv.apply(source=left, comm=comm))
        (y * (comm.rank + 1)).sum().backward()
        del y
        for _ in range(size - comm.rank):
            (w * 1).sum().backward()
        AllReduce.apply(w, comm=comm).sum().backward()
    return w, 2 * (2 * (right + 1) + size + size)


PROGRAMS = [two_received_one_used, the_other_used, a_ring, nothing_used, a_later_pass, a_batch_at_a_time, one_pass_for_all_batches,
            one_forward_one_backward, two_sends_of_one_graph, kept_and_walked_again, one_side_has_more_passes,
            pytest.param(lambda comm, keep: two_received_one_used(comm, keep, joined=True), id="two_received_one_used, joined")]


@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize("held", [False, True])
def test_ordinary_programs_whatever_is_held(comm, program, held):
    if comm.size == 1:
        return
    kept = []

    def keep(x):
        if held:
            kept.append(x)
        return x

    w, expected = program(comm, keep)
    if not held:
        gc.collect()
    if expected is None:
        assert w.grad is None
    else:
        np.testing.assert_allclose(w.grad.numpy(), expected)
    assert comm.total(1.0) == comm.size


def test_what_was_answered_with_zeros_is_refused_afterwards():
    """Not lost without a word: the error names the message, its line and what to do; with own_pass=True it waits."""
    def body(comm, own_pass):
        w = ag.ones(2, dtype=ag.float64, requires_grad=True)
        if comm.rank == 0:
            Send.apply(w * 2, dest=1, comm=comm)
            if own_pass:
                comm.barrier()
                w.sum().backward()
            else:
                w.sum().backward()
                comm.barrier()
            assert w.grad.tolist() == [7.0 if own_pass else 1.0] * 2
        else:
            y = Recv.apply(source=0, comm=comm, own_pass=own_pass)
            w.sum().backward()
            comm.barrier()
            if own_pass:
                (y * 3).sum().backward()
            else:
                with pytest.raises(RuntimeError, match=r"Recv: message 0 from rank 0 at .*test_message_gradients_by_pass.py:\d+.*own_pass=True"):
                    (y * 3).sum().backward()

    for own_pass in (False, True):
        run_ranks(2, body, own_pass)


@pytest.mark.threads(2)
def test_join_reserves_a_message_for_the_pass_it_belongs_to(comm):
    """Two graphs at once on all ranks, whose passes wait: each message has its own."""
    w, other = ones(comm), 1 - comm.rank
    tokens = [Send.apply(w * factor, dest=other, comm=comm) for factor in (2, 3)]
    ys = [Recv.apply(source=other, comm=comm) for _ in range(2)]
    losses = [join((y * 10 ** n).sum(), token, y) for n, (y, token) in enumerate(zip(ys, tokens, strict=True))]
    assert [ag.grad(loss, w)[0].tolist() for loss in losses] == [[2.0] * 2, [30.0] * 2]
