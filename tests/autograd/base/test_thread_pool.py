"""The thread pool: pieces of work and lanes on it. Large loops in pieces have the same bits for any number of threads."""

import ast
import contextlib
import functools
import os
import threading
import time
from pathlib import Path

import numpy as np
import pytest

import autograd as ag
import autograd.nn.functional as F
from autograd import nn, optim
from autograd.base.thread_pool import share, workers
from autograd.core.parallel import on_fresh_stack, run_lanes
from autograd.kernels import threads
from autograd.kernels.loops import loops, pieces

needs_loops = pytest.mark.skipif(loops.library is None, reason="loops are not compiled here, or switched off")
NUMBERS = (1, 2, 3, 7)


@contextlib.contextmanager
def number_of_threads(count):
    before, threads.thread_settings.number = threads.number(), count
    try:
        yield
    finally:
        threads.thread_settings.number = before


# --- the pool ------------------------------------------------------------------------------------------------------------

def settled():
    """Whether no worker is busy any more, once those on their way back have arrived."""
    deadline = time.monotonic() + 10
    while workers._busy and time.monotonic() < deadline:
        time.sleep(0.001)
    return not workers._busy


class Gauge:
    """How many threads are inside at a time, at most."""

    def __init__(self):
        self.lock, self.inside, self.most = threading.Lock(), 0, 0

    def __call__(self):
        with self.lock:
            self.inside += 1
            self.most = max(self.most, self.inside)
        time.sleep(0.002)
        with self.lock:
            self.inside -= 1


@pytest.mark.parametrize("count", NUMBERS)
def test_no_more_threads_than_the_limit_work(count):
    for start in (lambda gauge: share([gauge] * 20, count),
                  lambda gauge: share([lambda: share([gauge] * 5, count)] * 4, count)):
        gauge = Gauge()
        start(gauge)
        assert 1 <= gauge.most <= count and gauge.inside == 0
    gauge = Gauge()
    run_lanes([lambda: share([gauge] * 10, count)] * 2)
    assert gauge.most <= max(2, count)
    gauge = Gauge()
    on_fresh_stack(lambda: share([gauge] * 10, count))
    assert gauge.most <= count


def test_every_piece_is_made_once_however_often():
    for count in range(200):
        made = []
        share([lambda k=k: made.append(k) for k in range(count % 9 + 1)], 4)
        assert sorted(made) == list(range(count % 9 + 1))


def test_workers_are_used_again():
    share([lambda: time.sleep(0.01)] * 3, 3)
    run_lanes([lambda: 1] * 3)
    before = threading.active_count()
    for _ in range(20):
        share([lambda: time.sleep(0.001)] * 3, 3)
        run_lanes([lambda: time.sleep(0.001)] * 3)
    assert threading.active_count() <= before + 1            # one may still be on its way back


def test_an_error_in_a_piece_is_raised_in_the_caller():
    for place in range(6):
        calls = [(lambda: 1 // 0) if k == place else (lambda: time.sleep(0.001)) for k in range(6)]
        with pytest.raises(ZeroDivisionError):
            share(calls, 3)
    run_lanes([lambda: share([lambda: None] * 4, 3)] * 3)


def test_where_no_thread_can_be_started_the_caller_works(monkeypatch):
    def refuse():
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(workers, "take", refuse)
    made = []
    share([lambda k=k: made.append(k) for k in range(5)], 3)
    assert sorted(made) == list(range(5)) and settled()


def test_many_threads_share_at_once():
    made, lock = [0], threading.Lock()

    def count():
        with lock:
            made[0] += 1

    users = [threading.Thread(target=lambda: [share([count] * 5, 3) for _ in range(50)]) for _ in range(6)]
    for user in users:
        user.start()
    for user in users:
        user.join(60)
    assert made == [1500]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.parametrize("place", ["outside", "in a lane", "in a piece"])
def test_pieces_after_a_fork(place):
    def child():
        pid = os.fork()
        if not pid:
            made = []
            share([lambda k=k: made.append(k) for k in range(8)], 3)
            same = sorted(made) == list(range(8)) and run_lanes([lambda: 1, lambda: 2]) == [1, 2]
            os._exit(0 if same and ag.get_num_threads() == 1 else 1)
        assert os.waitpid(pid, 0)[1] == 0

    share([lambda: time.sleep(0.001)] * 4, 3)
    {"outside": child, "in a lane": lambda: run_lanes([int, child]), "in a piece": lambda: share([child] * 2, 2)}[place]()


# --- loops in pieces -------------------------------------------------------------------------------------------------------

# Of each loop: its arrays, by what they have for each item, and settings. x: an item's n numbers; t: one; n: more than n for all;
# m: as many as lie behind the middle (blocks of 5 x 3); o: those of an item; i: numbers of places below 5.
ROWS, BLOCKS = (16,), (5, 3)
RATES = (0.9, 0.1, 0.99, 0.01, 1.1, 1e-3, 0.01)
CASES = {
    "adam": ("tttt", (0.99, 0.1, -1.0, *RATES)), "sgd": ("tt", (0.1, 0.2, 1.0)),
    "sgd_momentum": ("ttt", (0.1, 0.2, -1.0, 0.9, 0.8, 1)), "softplus": ("tt", (1.5, 2.0)),
    "softplus_backward": ("ttt", (1.5, 2.0)), "elu": ("tt", (1.5, 0.5, 0.7)), "elu_backward": ("ttt", (1.5, 0.5, 0.7)),
    "leaky_relu": ("tt", (0.1,)), "leaky_relu_backward": ("ttt", (0.1,)), "hardtanh": ("tt", (-0.5, 0.6)),
    "hardtanh_backward": ("ttt", (-0.5, 0.6)),
    "to_half_double": ("tnt", ()), "from_half_double": ("tnt", ()),
    "softmax": ("xx", ROWS), "softmax_backward": ("xxx", ROWS), "power_sums": ("xntt", (*ROWS, 0)), "log_softmax": ("xnx", ROWS),
    "log_softmax_backward": ("xxx", ROWS), "cross_entropy_backward": ("xttttx", ROWS),
    "attention_backward": ("xx", (*ROWS, 0.3)), "layer_norm": ("xnnxtt", (*ROWS, 7, 1e-5)), "words": ("xx", (*ROWS, -1)),
    "running_norm": ("xnnnx", (3, 5, 4)),
    "leading": ("xttn", (*ROWS, 1, 0, 1.0)), "ordered": ("xtt", (*ROWS, 3, 1, -1, 0)), "most_frequent": ("xtt", ROWS),
    "multi_margin": ("xtt", (*ROWS, 1, 0.5)), "multi_margin_backward": ("xttx", (*ROWS, 2, 0.5)), "sums": ("xmo", BLOCKS), "middle_power_sums": ("xnmoo", BLOCKS),
    "logsumexp_backward": ("xoox", BLOCKS), "running_sums": ("xmx", (*BLOCKS, 1)), "running_products": ("xx", BLOCKS),
    "running_places": ("xxx", (*BLOCKS, -1.0)), "extremes": ("xo", (*BLOCKS, -1.0)), "gather": ("xxx", (5, 5, 3)),
    "scatter": ("xxx", (5, 5, 3, 1)), "first_extremes": ("xoo", (*BLOCKS, -1.0)), "logcumsumexp": ("xnx", BLOCKS),
    "smooth_l1": ("tt", (0.5,)), "smooth_l1_backward": ("ttt", (0.5,)),
    "smooth_l1_slopes": ("ttt", (0.5, 3.0)), "multilabel_margin": ("xxtx", ROWS),
    "cross_entropy": ("xtnttt", ROWS),
    "attention_softmax": ("xtt", (1, 16, -1, 0.3)), "attention_again": ("xtt", (1, 16, -1, 0.3))}
TABLE = {**pieces.BY_MEMORY, **pieces.BY_ARITHMETIC}
KINDS = {"floats": np.float32, "reals": np.float32, "doubles": np.float64, "ints": np.int64, "halves": np.uint16}


@functools.cache
def signatures():
    """The types of each loop's arguments, from the sources."""
    folder = Path(pieces.__file__).parent
    found = {node.name: [ast.unparse(a.annotation) for a in node.args.args] for path in folder.glob("*.py")
             for node in ast.parse(path.read_text()).body if isinstance(node, ast.FunctionDef)}
    return {f"{name}_double": [kind.replace("reals", "doubles") for kind in kinds] for name, kinds in found.items()
            if "reals" in kinds} | found


def arguments(name, items, seed=0):
    letters, settings = CASES.get(name) or CASES.get(name.removesuffix("_double")) or ("t" * len(TABLE[name]), ())
    sizes = {"x": 16 if settings[:1] == (16,) or "attention" in name else 15, "t": 1, "o": 3}
    rng, arrays = np.random.default_rng(seed), []
    for letter, kind in zip(letters, signatures()[name], strict=False):
        size = 4096 if letter == "n" else 3 if letter == "m" else items * sizes[letter]
        x = rng.standard_normal(size) * 2 if kind != "ints" else rng.integers(0, 5, size)
        arrays.append(np.abs(x).astype(KINDS[kind]) if "adam" in name else x.astype(KINDS[kind]))
    return arrays, (items, *settings)


def test_all_loops_that_are_cut_are_tested():
    found = signatures()
    for name, kinds in TABLE.items():
        types = [kind for kind in found[name] if kind in KINDS]
        assert len(types) == len(kinds) and found[name][:len(types)] == types and found[name][len(types)] == "int", name
        assert name.removesuffix("_double") in CASES or len(found[name]) == len(kinds) + 1, f"{name} has settings: add it to CASES"


@needs_loops
@pytest.mark.parametrize("name", [*TABLE, "attention_softmax", "attention_again"])
def test_the_same_bits_for_any_number_of_threads(name, monkeypatch):
    monkeypatch.setattr(pieces, "PIECE", 256)
    monkeypatch.setattr(pieces, "PASS", 256)
    item = arguments(name, 1)[0][0].size
    cut = getattr(pieces.InPieces(loops.library), name)
    calls = []
    monkeypatch.setattr(pieces, "share", lambda some, count: (calls.append(len(some)), share(some, count)))
    scratch = [k for k, kind in enumerate(TABLE.get(name, "")) if kind == pieces.SCRATCH]
    for items in {1, 1023 // item, 1024 // item + 1, 2000 // item, 8000 // item + 3}:
        whole, rest = arguments(name, items)
        getattr(loops.library, name)(*whole, *rest)
        for count in NUMBERS:
            arrays, _ = arguments(name, items)
            calls.clear()
            with number_of_threads(count):
                cut(*arrays, *rest)
            cuts = [made for made in calls if made > 1]
            assert len(cuts) == (items * item >= 1024 and count > 1), (items, count, calls)
            for k, (a, b) in enumerate(zip(arrays, whole, strict=True)):
                assert k in scratch or a.tobytes() == b.tobytes(), (items, count, k)


@needs_loops
@pytest.mark.parametrize("matrices, first", [(1, 0), (1, 5), (40, 0), (3, -1)])
def test_causal_attention_in_pieces(matrices, first, monkeypatch):
    monkeypatch.setattr(pieces, "PIECE", 256)
    cut, whole = pieces.InPieces(loops.library), loops.library
    rng = np.random.default_rng(0)
    scores = rng.standard_normal((matrices, 120, 16)).astype(np.float32)
    for count in NUMBERS:
        found = [(scores.copy(), *np.zeros((2, matrices, 120), np.float32)) for _ in range(4)]
        with number_of_threads(count):
            for library, (s, tops, sums), (again, *_) in ((whole, *found[:2]), (cut, *found[2:])):
                library.attention_softmax(s, tops, sums, matrices, 120, 16, first, 0.3)
                library.attention_again(again, tops, sums, matrices, 120, 16, first, 0.3)
        for a, b in zip(found[0] + found[1], found[2] + found[3], strict=True):
            assert a.tobytes() == b.tobytes()


def norms(function, *shapes):
    def run():
        rng = np.random.default_rng(0)
        tensors = [ag.tensor(rng.standard_normal(shape).astype(np.float32) + 1, requires_grad=True) for shape in shapes]
        out = function(*tensors)
        return [out.detach().numpy(), *[g.numpy() for g in ag.grad((out * out.detach().flip(0)).sum(), tensors)]]
    return run


def step():
    rng = np.random.default_rng(0)
    p = nn.Parameter(ag.tensor(rng.standard_normal((1 << 20) + 33).astype(np.float32)))
    for make in (optim.Adam, lambda some, lr: optim.SGD(some, lr=lr, momentum=0.9)):
        optimizer = make([p], lr=0.1)
        p.grad = ag.tensor(rng.standard_normal(p.numel()).astype(np.float32))
        optimizer.step()
    return [p.detach().numpy(), p.detach().half().numpy(), p.detach().half().float().numpy()]


WHOLE = {
    "layer norm": norms(lambda x, w, b: F.layer_norm(x, (256,), w, b), (2100, 256), (256,), (256,)),
    "rms norm": norms(lambda x, w: F.rms_norm(x, (2048,), w), (300, 2048), (2048,)),
    "layer norm of few rows": norms(lambda x: F.layer_norm(x, (1 << 18,)), (2, 1 << 18)),
    "batch norm": norms(lambda x, w, b: F.batch_norm(x, None, None, w, b, training=True), (20, 32, 30, 30), (32,), (32,)),
    "group norm": norms(lambda x, w, b: F.group_norm(x, 4, w, b), (20, 32, 30, 30), (32,), (32,)),
    "group norm of one": norms(lambda x, w: F.group_norm(x, 4, w), (1, 32, 150, 150), (32,)),
    "instance norm": norms(lambda x: F.instance_norm(x), (3, 16, 120, 120)),
    "cross entropy": norms(lambda x: F.cross_entropy(x, ag.arange(2200) % 300, reduction="none"), (2200, 300)),
    "gelu": norms(F.gelu, (1 << 19,)), "sigmoid": norms(ag.sigmoid, ((1 << 20) + 1,)),
    "channels last": norms(lambda x: F.silu(x.to(memory_format=ag.channels_last)), (20, 32, 30, 30)),
    "cumsum": norms(lambda x: x.cumsum(1), (700, 1000)), "optimizers": step, "lgamma": norms(ag.lgamma, ((1 << 19) + 5,)),
    "erf": norms(ag.erf, (1 << 19,)), "erfinv": norms(lambda x: ag.erfinv(x / 6), (1 << 19,)), "digamma": norms(lambda x: ag.digamma(x) * x, (1 << 19,)),
    "log_softmax": norms(lambda x: F.log_softmax(x, 1), (2200, 300))}


@needs_loops
@pytest.mark.parametrize("name", WHOLE)
def test_operations_have_the_same_bits_for_any_number_of_threads(name):
    with number_of_threads(1):
        expected = WHOLE[name]()
    for count in NUMBERS[1:]:
        with number_of_threads(count):
            found = WHOLE[name]()
            inside = run_lanes([WHOLE[name], WHOLE[name]]) if count == 3 else []
        for values in (found, *inside):
            assert [a.tobytes() for a in values] == [a.tobytes() for a in expected], count


@needs_loops
def test_layer_norm_in_pieces_agrees_with_the_whole(monkeypatch):
    quick = WHOLE["layer norm"]()
    monkeypatch.setattr(pieces, "MOST", 1)
    for a, b in zip(quick, WHOLE["layer norm"](), strict=True):
        np.testing.assert_allclose(a, b, rtol=2e-6, atol=1e-4)


@needs_loops
def test_an_error_of_a_loop_is_the_callers(monkeypatch):
    monkeypatch.setattr(pieces, "PIECE", 16)
    cut = pieces.InPieces(loops.library)
    with number_of_threads(3), pytest.raises(TypeError):
        cut.gelu(np.ones(100, np.float32), np.ones(100, np.float32), 100, "one too many")
    assert settled()
