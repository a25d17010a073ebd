"""summary() prints torchinfo's table; mult-adds are FlopCounterMode's."""

import difflib
import re

import pytest

import autograd as ag
from autograd import nn
from autograd.utils.summary import summary

EVERY = ("input_size", "output_size", "num_params", "params_percent", "kernel_size", "mult_adds", "trainable")


def small(nn):
    """A frozen layer, an activation that is called twice, and a parameter of its own."""
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.conv = nn.Sequential(nn.Conv2d(1, 8, 3, bias=False), nn.ReLU(), nn.MaxPool2d(2))
            self.blocks = nn.ModuleList([nn.ModuleList([nn.Linear(8 * 13 * 13, 20, bias=False)]), nn.Linear(20, 20, bias=False)])
            self.act = nn.ReLU()
            self.scale = nn.Parameter(self.blocks[1].weight[0] * 2)
            self.conv[0].weight.requires_grad_(False)

        def forward(self, x, times=1):
            x = self.act(self.conv(x)).flatten(1)
            return self.blocks[1](self.act(self.blocks[0][0](x))) * self.scale * times

    return Net()


CASES = {
    "plain": (small, {"input_size": (2, 1, 28, 28)}),
    "every column": (small, {"input_size": (2, 1, 28, 28), "col_names": EVERY, "row_settings": ("depth", "var_names")}),
    "not deep, in ASCII": (small, {"input_size": (2, 1, 28, 28), "depth": 2, "col_width": 16, "row_settings": ("ascii_only",)}),
    "parameters": (small, {"input_size": (2, 1, 28, 28), "verbose": 2, "col_names": ("kernel_size", "num_params")}),
    "without input": (small, {}), "a batch of one": (small, {"input_size": (1, 28, 28), "batch_dim": 0, "times": 2}),
    "LSTM": (lambda nn: nn.LSTM(3, 4, batch_first=True), {"input_size": (2, 5, 3)}),
    "transformer": (lambda nn: nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 16, batch_first=True), 2),
                    {"input_size": (2, 5, 8), "mode": "train"}),
    "two inputs": (lambda nn: nn.Bilinear(3, 4, 5), {"input_size": [(2, 3), (2, 4)]}),
}


@pytest.mark.parametrize("case", CASES)
def test_the_table_is_torchinfos(case, capsys):
    torch = pytest.importorskip("torch")
    torchinfo = pytest.importorskip("torchinfo")
    make, settings = CASES[case]
    settings = {"verbose": 0, **settings}
    lines = []
    for lib, library_nn in ((torchinfo, torch.nn), (None, nn)):
        found = (lib.summary if lib else summary)(make(library_nn), **settings)
        text = str(found).replace("Units.MEGABYTES", "M")
        if case in ("LSTM", "transformer"):          # torchinfo's figures count elements of weights once a sample there
            text = re.sub(r"Total mult-adds.*", "", text)
        # a ModuleList that is interrupted by other rows is listed twice, by torchinfo with the second index both times
        lines.append([re.sub(r"(ModuleList.*: 1-)5( .*?)(\(recursive\) *)+", r"\1 5 again", line) for line in text.split("\n")])
    differences = [line for line in difflib.ndiff(*lines) if line[0] in "+-" and "ModuleList" not in line]
    assert not differences and len(lines[0]) == len(lines[1])


def test_totals_and_rows(capsys):
    model = small(nn)
    before = [m.training for m in model.modules()]
    model.conv.eval()
    found = summary(model, input_size=(2, 1, 28, 28), verbose=1)
    assert capsys.readouterr().out == f"{found}\n"
    assert [m.training for m in model.conv.modules()] == [False] * 4 and model.training and all(before)
    assert (found.total_params, found.trainable_params) == (72 + 27040 + 400 + 20, 27040 + 400 + 20)
    assert found.total_mult_adds == 2 * (72 * 26 * 26 + 27040 + 400)
    assert found.total_input == 2 * 28 * 28 * 4 and found.total_param_bytes == 4 * found.total_params
    assert found.total_output_bytes == 2 * 4 * 2 * (8 * 26 * 26 + 20 + 20)
    names = [f"{row.class_name}: {row.depth}-{row.depth_index}" for row in found.summary_list]
    assert names == ["Net: 0-1", "Sequential: 1-1", "Conv2d: 2-1", "ReLU: 2-2", "MaxPool2d: 2-3", "ReLU: 1-2", "ModuleList: 1-3",
                     "ModuleList: 2-4", "Linear: 3-1", "ReLU: 1-4", "ModuleList: 1-5", "Linear: 2-5"]
    assert "Total mult-adds (M): 0.15" in str(found)


def test_inputs(capsys):
    embedding = nn.Sequential(nn.Embedding(10, 4), nn.Linear(4, 2))
    for settings in ({"input_size": (2, 3), "dtypes": [ag.int64]}, {"input_data": ag.tensor([[1, 2, 3]] * 2)},
                     {"input_data": [ag.tensor([[1, 2, 3]] * 2)]}, {"input_data": {"input": ag.tensor([[1, 2, 3]] * 2)}}):
        found = summary(embedding, verbose=0, **settings)
        assert [row.output_size for row in found.summary_list] == [[2, 3, 2], [2, 3, 4], [2, 3, 2]]
        assert found.total_input == 48 and found.total_mult_adds == 2 * 3 * 8
    assert capsys.readouterr().out == ""


def test_a_module_below_two_others():
    """Its parameters count once, and in no row of theirs."""
    shared = nn.Linear(3, 3, bias=False)
    model = nn.Sequential(nn.Sequential(shared), nn.Sequential(shared, nn.Linear(3, 2, bias=False)))
    found = summary(model, input_size=(1, 3), verbose=0)
    assert found.total_params == 15
    assert [row.own_params for row in found.summary_list] == [0, 0, 9, 0, 9, 6]
    assert str(found).count("(recursive)") == 1


def test_lazy_and_pruned_layers():
    lazy = nn.Sequential(nn.LazyLinear(4), nn.Linear(4, 2))
    assert summary(lazy, input_size=(2, 3), verbose=0).total_params == 16 + 10
    layer = nn.Linear(4, 5, bias=False)
    nn.utils.prune.l1_unstructured(layer, "weight", amount=5)
    found = summary(layer, input_size=(2, 4), verbose=0)
    assert found.total_params == 15 and found.summary_list[0].parameters[0].name == "weight"


def test_errors():
    model = nn.Linear(3, 2)
    x = ag.ones(1, 3)
    for settings, error, words in (
            ({"input_size": (1, 3), "input_data": x}, RuntimeError, "Only one of"),
            ({"col_names": ("output_size",)}, ValueError, "You must pass input_data or input_size"),
            ({"col_names": ("colour",)}, ValueError, "col_names: 'colour' is none of"),
            ({"mode": "test"}, ValueError, "mode: 'test'"), ({"verbose": 3}, ValueError, "verbose: 3"),
            ({"row_settings": ("wide",)}, ValueError, "row_settings: 'wide'"), ({"col_width": 0}, ValueError, "col_width=0"),
            ({"input_size": 3}, TypeError, "input_size must be a shape"), ({"input_size": (0, 3)}, ValueError, "positive"),
            ({"input_size": (1, 3), "dtypes": [ag.float32] * 2}, ValueError, "dtypes: 2 for 1"),
            ({"input_data": x, "batch_dim": 0}, NotImplementedError, "batch_dim=0"),
            ({"cache_forward_pass": True}, NotImplementedError, "cache_forward_pass"),
            ({"device": "cuda"}, NotImplementedError, "device='cuda'"),
            ({"input_size": (1, 4)}, RuntimeError, r"failed with RuntimeError: mat1 and mat2.*\[1, 4\] and reached Linear: 0")):
        with pytest.raises(error, match=words):
            summary(model, **{"verbose": 0, **settings})
    assert model(x).shape == (1, 2)                  # hooks are gone
