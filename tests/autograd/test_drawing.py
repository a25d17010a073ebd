"""draw(): the graph as text and as dot."""

import pytest

import autograd as ag

TEXT = """\
AddBackward0 []
- SumBackward0 []
  MulBackward0 [5, 4]
  - ExpBackward0 [5, 4] #1
    MmBackward0 [5, 4]
    W [3, 4]
  - ExpBackward0 [5, 4] (above, #1)
- MeanBackward0 []
  ExpBackward0 [5, 4] (above, #1)"""


def example():
    W = ag.ones(3, 4, requires_grad=True)
    h = (ag.ones(5, 3) @ W).exp()
    return (h * h).sum() + h.mean(), W


def test_text():
    y, W = example()
    assert ag.draw(y, {"W": W}) == TEXT == ag.draw(y, [("W", W)])
    assert ag.draw(example()[0]) == TEXT.replace("W [", "leaf [")            # stable from one graph to the next
    assert ag.draw([y, ag.ones(2)]) == "(no graph) [2]\n" + ag.draw(y)
    y.backward()
    assert ag.draw(y).count("\n") == TEXT.count("\n")                        # also when saved values are gone


def test_dot():
    y, W = example()
    text = ag.draw(y, {'"W"': W}, format="dot")
    assert text.startswith("digraph {") and text.endswith("}") and 'label="\\"W\\"\\n[3, 4]"' in text
    assert text.count(" -> ") == 9 and "fillcolor=lightblue" in text and "n0 -> y0;" in text
    assert text == ag.draw(example()[0], format="dot").replace("leaf", '\\"W\\"')


def test_modules_name_leaves_and_depth_does_not_matter():
    net = ag.nn.Sequential(ag.nn.Linear(3, 4), ag.nn.Tanh(), ag.nn.Linear(4, 2))
    assert "0.weight [4, 3]" in ag.draw(net(ag.ones(5, 3)).sum(), net)
    x = ag.ones(1, requires_grad=True)
    for _ in range(5000):
        x = x * 1.0
    assert len(ag.draw(x).splitlines()) == 5001
    with pytest.raises(ValueError, match="format"):
        ag.draw(x, format="png")
    with pytest.raises(TypeError, match="Tensors"):
        ag.draw([1])
