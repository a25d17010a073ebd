"""Anomaly mode: where the forward call stands whose backward failed or made NaN."""

import threading
import warnings

import pytest
from both import function, leaf

import autograd as ag
from autograd.core.modes import GRAD, modes
from autograd.core.versions import Counter

pytestmark = pytest.mark.quick
ENABLED = "Anomaly Detection has been enabled"


def broken(lib):
    def fails(ctx, g):
        raise KeyError("planted")
    return function(lib, lambda ctx, x: x * 1, fails, name="Broken").apply


def the_guilty_line(lib, x):
    return broken(lib)(x)


@pytest.mark.filterwarnings(f"ignore:{ENABLED}")
def test_an_error_shows_where_the_forward_call_was(lib):
    x = leaf(lib, 1.0)
    with lib.autograd.detect_anomaly():
        y = the_guilty_line(lib, x).sum()
        with pytest.raises(KeyError, match="planted"), \
                pytest.warns(UserWarning, match=r"(?s)Error detected in BrokenBackward.*the_guilty_line"):
            y.backward()
    y = the_guilty_line(lib, x).sum()
    with lib.autograd.detect_anomaly(), pytest.raises(KeyError), \
            pytest.warns(UserWarning, match="No forward pass information available"):
        y.backward()


@pytest.mark.filterwarnings("ignore")
def test_nan_names_the_node_and_the_output(lib):
    x, w = leaf(lib, 0.0), leaf(lib, 2.0)
    with lib.autograd.detect_anomaly():
        y = (x.sqrt() * 0).sum()
        with pytest.raises(RuntimeError, match="Function 'SqrtBackward0' returned nan values in its 0th output"):
            y.backward()
    second = function(lib, lambda ctx, a, b: a * b, lambda ctx, g: (g, g * float("nan")), name="Second").apply
    with lib.autograd.detect_anomaly(), pytest.raises(RuntimeError, match="'SecondBackward' returned nan.* 1th output"):
        second(x, w).sum().backward()
    with lib.autograd.detect_anomaly(check_nan=False):
        second(x, w).sum().backward()
    second(x, w).sum().backward()


@pytest.mark.filterwarnings(f"ignore:{ENABLED}")
def test_double_backward_shows_both_calls(lib):
    x = leaf(lib, 1.0)
    inner = broken(lib)

    def outer_line(x):
        return function(lib, lambda ctx, x: x * 1, lambda ctx, g: inner(g), name="Outer").apply(x)

    with lib.autograd.detect_anomaly():
        u = lib.ones(1, dtype=lib.float64, requires_grad=True)
        (g,) = lib.autograd.grad(outer_line(x), x, u, create_graph=True)
        with pytest.raises(KeyError), pytest.warns(UserWarning) as log:
            g.sum().backward()
    first, second = (str(w.message) for w in log)
    assert "Error detected in BrokenBackward" in first and "induced by OuterBackward" in second and "outer_line" in second


def test_blocks_and_switches(lib):
    a = lib.autograd
    assert not lib.is_anomaly_enabled()
    with pytest.warns(UserWarning, match=ENABLED), a.detect_anomaly():
        assert lib.is_anomaly_enabled() and lib.is_anomaly_check_nan_enabled()
        with a.set_detect_anomaly(False):
            assert not lib.is_anomaly_enabled()
        assert lib.is_anomaly_enabled()
        with a.set_detect_anomaly(True, check_nan=False):
            assert not lib.is_anomaly_check_nan_enabled()
    assert not lib.is_anomaly_enabled() and lib.is_anomaly_check_nan_enabled()
    a.set_detect_anomaly(True)
    assert lib.is_anomaly_enabled()
    seen = []
    t = threading.Thread(target=lambda: seen.append(lib.is_anomaly_enabled()))
    t.start()
    t.join()
    assert seen == [True]                            # for all threads
    a.set_detect_anomaly(False)


def test_nothing_is_left_when_it_is_off():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with ag.autograd.detect_anomaly():
            assert modes.recording > GRAD
            y = leaf(ag, 1.0) * 2
            assert "traceback_" in y.grad_fn.metadata
    assert modes.recording == GRAD
    assert (leaf(ag, 1.0) * 2).grad_fn.metadata == {}


def spoiled(write):
    """The error of a backward pass after write(h), where h is a saved output."""
    h = ag.ones(3, requires_grad=True).exp()
    with ag.no_grad():
        write(h)
    with pytest.raises(RuntimeError, match="modified by an inplace operation") as caught:
        h.sum().backward()
    return str(caught.value)


def in_a_library(h):
    return h.mul_(2)


@pytest.mark.filterwarnings("ignore:Error detected", f"ignore:{ENABLED}")
@pytest.mark.parametrize("write", [in_a_library, lambda h: h.copy_(ag.zeros(3)), lambda h: h.detach().zero_(), lambda h: h[1:].add_(1),
                                   lambda h: ag.nn.init.zeros_(h.detach())])
def test_an_in_place_error_names_the_line_of_the_write_or_how_to_find_it(write):
    line = f"It was overwritten at {__file__}:{write.__code__.co_firstlineno + (write is in_a_library)}: "
    slot = vars(Counter)["value"]
    assert "run the step in autograd.detect_anomaly()" in spoiled(write)
    with ag.autograd.detect_anomaly():
        assert line in spoiled(write) and "detect_anomaly" not in spoiled(write)
        with ag.autograd.set_detect_anomaly(False):
            assert line not in spoiled(write)
    assert line not in spoiled(write) and vars(Counter)["value"] is slot               # a write costs nothing more
    assert type(slot).__name__ == "member_descriptor"


@pytest.mark.filterwarnings("ignore:Error detected")
def test_the_line_of_an_optimizers_write():
    w = ag.ones(3, requires_grad=True)
    optimizer = ag.optim.SGD([w], lr=0.1)
    with ag.autograd.set_detect_anomaly(True):
        loss = (w * w).sum()
        w.grad = ag.ones(3)
        optimizer.step()
        with pytest.raises(RuntimeError, match=rf"overwritten at {__file__}:\d+: optimizer.step\(\)"):
            loss.backward()
