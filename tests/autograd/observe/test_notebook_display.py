"""What a notebook shows of tensors, modules, summaries and drawings. Everything that is text stays text."""

import re
from html.parser import HTMLParser

import pytest

import autograd as ag
from autograd import nn
from autograd.utils.summary import summary


class Tags(HTMLParser):
    """The tags of a text, each closed in its order."""

    def __init__(self, text):
        super().__init__()
        self.open, self.seen, self.data = [], [], ""
        self.feed(text)
        self.close()
        assert not self.open, self.open

    def handle_starttag(self, tag, attributes):
        self.open.append(tag)
        self.seen.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.data += data


class Evil(nn.Module):
    def extra_repr(self):
        return "<script>alert('x')</script> & \"more\""

    def forward(self, x):
        return x


EvilTensor = type("<b>Evil", (ag.Tensor,), {})


def model():
    net = nn.Sequential(nn.Linear(3, 4), nn.Sequential(nn.BatchNorm1d(4), nn.Tanh()), Evil())
    net[0].weight.requires_grad_(False)
    return net


@pytest.mark.parametrize("tensor, about", [
    (ag.ones(3, 4), "Tensor [3, 4] float32"), (ag.tensor(1.5, requires_grad=True) * 2, "Tensor [] float32, requires_grad"),
    (nn.Parameter(ag.ones(2, dtype=ag.float64)), "Parameter [2] float64, requires_grad"), (ag.zeros(0, 3), "Tensor [0, 3] float32"),
    (ag.ones(500, 500), "Tensor [500, 500] float32"), (nn.LazyLinear(3).weight, "UninitializedParameter"),
    (ag.tensor([True, False]), "Tensor [2] bool"),
])
def test_tensors(tensor, about):
    tags = Tags(tensor._repr_html_())
    assert tags.seen == ["div", "code", "pre"] and tags.data == about + repr(tensor) and len(tags.data) < 1000


def test_modules():
    net = model()
    tags = Tags(net._repr_html_())
    assert set(tags.seen) == {"details", "summary", "code", "small", "div", "b"} and tags.seen.count("details") == 4
    assert "24 parameters, 12 not trained" in tags.data and "weight [4, 3] float32" in tags.data and "running_mean [4] float32, buffer" in tags.data
    assert "Evil(<script>alert('x')</script> & \"more\")" in tags.data and net._repr_html_().count(" open>") == 1
    assert "parameters not known yet" in nn.Sequential(nn.LazyLinear(2))._repr_html_() and "not known yet" in nn.LazyLinear(2)._repr_html_()
    tied = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 2))
    tied[1].weight = tied[0].weight
    assert "<small>8 parameters</small>" in tied._repr_html_()                # each once
    shared = nn.Linear(2, 2)
    assert nn.Sequential(shared, shared)._repr_html_().count("Linear(") == 2  # a module with two names twice, as in print()
    assert "1 parameter<" in nn.PReLU()._repr_html_()


def test_summaries(capsys):
    found = summary(model(), input_size=(2, 3))
    assert Tags(found._repr_html_()).data == repr(found)


def test_ipython_shows_them():
    formatters = pytest.importorskip("IPython.core.formatters")
    shown = formatters.DisplayFormatter().format
    net = model()
    for thing in (ag.ones(2), net, summary(net, input_size=(2, 3), verbose=0)):
        data, _ = shown(thing)
        assert set(data) == {"text/plain", "text/html"} and data["text/plain"] == repr(thing)
    data, _ = shown(ag.draw(net(ag.ones(2, 3)).sum(), net))
    assert "0.bias [4]" in data["text/plain"] and set(data) <= {"text/plain", "image/svg+xml"}


def test_a_notebook():
    """A kernel's word, if there is one to be had."""
    nbformat, nbclient = pytest.importorskip("nbformat"), pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    cells = ["import autograd as ag\nfrom autograd import nn\nnet = nn.Linear(2, 1)\nnet", "net.weight", "ag.draw(lambda: net(ag.ones(1, 2)).sum(), net)"]
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    nbclient.NotebookClient(notebook, timeout=60).execute()
    outputs = [cell.outputs[0].data for cell in notebook.cells]
    assert outputs[0]["text/html"].startswith("<details") and "Parameter [1, 2] float32" in outputs[1]["text/html"]
    assert re.match(r"SumBackward0 \[\]\n", outputs[2]["text/plain"])
