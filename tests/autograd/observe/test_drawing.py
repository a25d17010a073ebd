"""draw(): the graph as text, as dot and as pictures; which module a node belongs to."""

import copy
import pickle
import re
import shutil

import pytest

import autograd as ag
from autograd import nn

needs_dot = pytest.mark.skipif(shutil.which("dot") is None, reason="needs Graphviz' program dot: apt install graphviz")

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


def colours(dot):
    """label -> colour, of the nodes that have one by their module."""
    return {label.replace("\\n", " "): colour for label, colour in re.findall(r'label="([^"]*)"[^\]]*fillcolor=("[^"]*")', dot)}


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(3, 4)
        self.block = nn.Sequential(nn.Tanh(), nn.Linear(4, 2, bias=False))
        self.scale = nn.Parameter(ag.ones(2))

    def forward(self, x):
        return self.block(self.first(x)).relu() * self.scale


def test_modules_by_parameters():
    """Of a tensor alone: nodes that read parameters, themselves or through a transposition."""
    net = Net()
    dot = ag.draw(net(ag.ones(5, 3)).sum(), net).dot
    found = colours(dot)
    assert found["first.weight [4, 3]"] == found["first.bias [4]"] == next(c for label, c in found.items() if label.endswith(" first"))
    assert found["scale [2]"] == next(c for label, c in found.items() if label.startswith("Mul") and label.endswith(" Net"))
    assert found["block.1.weight [2, 4]"] == next(c for label, c in found.items() if label.endswith(" block.1"))
    assert len(set(found.values())) == 3 and not [label for label in found if label.startswith(("Tanh", "Relu", "Sum"))]
    assert colours(ag.draw(net(ag.ones(5, 3)), list(net.named_parameters())).dot).keys() == found.keys() - {"scale [2]"} - {
        label for label in found if label.endswith(" Net")}
    assert colours(ag.draw(net(ag.ones(5, 3))).dot) == {}


def test_modules_by_a_function():
    """Of a function: each node's module, by hooks that are gone afterwards, also after an error."""
    net = Net()
    net.train()
    drawing = ag.draw(lambda: net(ag.ones(5, 3)).sum(), net)
    found = colours(drawing.dot)
    owner = {label.split()[0]: label.split()[-1] for label in found if "Backward" in label}
    assert owner["TanhBackward0"] == "block.0" and owner["ReluBackward0"] == owner["MulBackward0"] == "Net"
    assert "SumBackward0" not in owner and drawing == ag.draw(net(ag.ones(5, 3)).sum(), net)
    with pytest.raises(ZeroDivisionError):
        ag.draw(lambda: net(ag.ones(5, 3)) / (1 // 0), net)
    assert not any(module._forward_hooks or module._forward_pre_hooks for module in net.modules())
    assert str(ag.draw(lambda: [net(ag.ones(1, 3)), ag.ones(2)], net)).startswith("(no graph) [2]")
    for wrong in (3, None, lambda: 3):
        with pytest.raises(TypeError, match="takes Tensors, not"):
            ag.draw(wrong, net)
    with pytest.raises(TypeError, match="a Module tells"):
        ag.draw(lambda: net(ag.ones(5, 3)))
    for model in (net, nn.Sequential(net), nn.ModuleList([net])):
        with pytest.raises(TypeError, match=r"draw\(lambda: model\(x\), model\)"):
            ag.draw(model)


@needs_dot
def test_pictures(tmp_path):
    net = Net()
    drawing = ag.draw(lambda: net(ag.ones(5, 3)).sum(), net)
    svg = drawing.save(tmp_path / "loss.svg").read_text()
    assert svg.startswith("<?xml") and "block.1.weight" in svg and svg.count("<polygon") > 5 and "TanhBackward0" in svg
    assert drawing.save(str(tmp_path / "loss.PNG")).read_bytes().startswith(b"\x89PNG") and drawing.picture("pdf").startswith(b"%PDF")
    assert drawing._repr_mimebundle_()["image/svg+xml"].startswith("<?xml")
    odd = ag.ones(1, requires_grad=True)
    text = ag.draw(odd * odd, {'a&lt;"\\N\n<b>\u00e9': odd}).picture().decode()
    assert "a&amp;lt;&quot;\\N" in text and "&lt;b&gt;" in text and "\u00e9" in text


def test_texts_are_saved_without_graphviz(tmp_path, monkeypatch):
    y, W = example()
    drawing = ag.draw(y, {"W": W})
    monkeypatch.setenv("PATH", str(tmp_path))
    for name in ("a.svg", "a.png"):
        with pytest.raises(RuntimeError, match="apt install graphviz"):
            drawing.save(tmp_path / name)
        assert not (tmp_path / name).exists()
    assert drawing.save(tmp_path / "a.dot").read_text() == drawing.dot + "\n" == ag.draw(y, {"W": W}, format="dot") + "\n"
    assert drawing.save(tmp_path / "a.txt").read_text() == TEXT + "\n"
    assert drawing._repr_mimebundle_() == {"text/plain": TEXT}
    with pytest.raises(ValueError, match=r"ends in \.svg"):
        drawing.save(tmp_path / "a.jpg")
    with pytest.raises(ValueError, match="svg, png, pdf"):
        drawing.picture("jpg")
    for again in (copy.deepcopy(drawing), pickle.loads(pickle.dumps(drawing))):
        assert again == TEXT and again.dot == drawing.dot and again.nodes == 7


def test_dot_that_fails_or_takes_long_leaves_the_text(tmp_path, monkeypatch):
    y, _ = example()
    fake = tmp_path / "dot"
    fake.write_text("#!/bin/sh\necho no such thing >&2\nexit 3\n")
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin:/usr/bin")
    with pytest.raises(RuntimeError, match="on 7 nodes with code 3: no such thing"):
        ag.draw(y).picture()
    assert list(ag.draw(y)._repr_mimebundle_()) == ["text/plain"]
    fake.write_text("#!/bin/sh\nexec sleep 20\n")
    with pytest.raises(RuntimeError, match=r"more than 0\.1 s"):
        ag.draw(y).picture(timeout=0.1)


def test_functions_with_other_arguments():
    """As BackwardSignal, which every DataParallel of several ranks records."""
    class Scaled(ag.Function):
        @staticmethod
        def forward(ctx, number, x, y):
            ctx.number = number
            return x * number + y.sum()

        @staticmethod
        def backward(ctx, g):
            return None, g * ctx.number, g.sum().expand(3)

    x = ag.ones(2, requires_grad=True)
    assert str(ag.draw(Scaled.apply(2.0, x.exp(), ag.ones(3)))).splitlines() == ["ScaledBackward [2]", "ExpBackward0 [2]", "leaf [2]"]
