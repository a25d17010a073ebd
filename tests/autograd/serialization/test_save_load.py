"""save() and load(): what goes in comes out; the package safetensors reads and writes the same files."""

import argparse
import collections
import dataclasses
import enum
import io
import json
import os
import pathlib
import pickle
import threading
import types

import numpy as np
import pytest
from both import needs_torch, torch

import autograd as ag
from autograd import nn

pytestmark = pytest.mark.quick

KINDS = [ag.float16, ag.float32, ag.float64, ag.int8, ag.int16, ag.int32, ag.int64, ag.uint8, ag.uint16, ag.uint32,
         ag.uint64, ag.bool, ag.complex64]
VALUES = [None, True, False, 0, -1, 2 ** 63, 2 ** 64 - 1, -2 ** 63, 2 ** 64, -10 ** 40, 0.1, -0.0, 1e-320,
          float("inf"), -float("inf"), "", "täxt\n\0", "\ud800", [], (), {}, set(), [1, [2, (3,)]], (1,), {"a": {"b": [{}]}},
          {1: 2, "1": 3, (1, "x"): 4, None: 5, 2.5: 6, False: 7}, {"$": 1}, {"$": "tensor", "name": "w"}, {1, 2}, frozenset("ab"),
          1 + 2j, complex(float("inf"), -0.0), b"", b"\0\xff", ag.Size((2, 3)), ag.float32, ag.device("cpu"), ag.device("cpu", 0),
          collections.OrderedDict([("b", 1), ("a", 2)]), collections.OrderedDict([(2, 1), (1, 2)]), collections.Counter("aab"),
          argparse.Namespace(), argparse.Namespace(lr=0.1, betas=(0.9, 0.99), **{"$": [1]}),
          np.float64(0.1), np.float32(0.1), np.int8(-1), np.bool_(True), np.complex128(1 - 2j)]


def again(state, **how):
    buffer = io.BytesIO()
    ag.save(state, buffer)
    buffer.seek(0)
    return ag.load(buffer, **how)


def same(a, b):
    """Whether two states are alike: classes, order of keys, dtypes, bits."""
    if isinstance(a, (ag.Tensor, np.ndarray)):
        assert type(a) is type(b) and a.dtype == b.dtype and tuple(a.shape) == tuple(b.shape)
        assert isinstance(a, np.ndarray) or (a.requires_grad == b.requires_grad and b.is_leaf)
        x, y = (np.asarray(t.array if isinstance(t, ag.Tensor) else t, order="C") for t in (a, b))
        assert x.tobytes() == y.tobytes() and y.flags.writeable and y.flags.aligned
        return True
    assert type(a) is type(b), (a, b)
    if isinstance(a, dict):
        assert list(map(repr, a)) == list(map(repr, b))
        return all(same(x, y) for x, y in zip(a.values(), b.values(), strict=True))
    if isinstance(a, (list, tuple)):
        assert len(a) == len(b)
        return all(same(x, y) for x, y in zip(a, b))
    assert repr(a) == repr(b) if not isinstance(a, (set, frozenset)) else a == b
    return True


def header_of(file):
    data = pathlib.Path(file).read_bytes()
    return json.loads(data[8:8 + int.from_bytes(data[:8], "little")])


@pytest.mark.parametrize("value", VALUES, ids=lambda v: repr(v)[:30])
def test_plain_values(value):
    assert same(value, again(value)) and same({"k": [value]}, again({"k": [value]}))


def test_huge_numbers():
    assert again([10 ** 5000, -10 ** 5000]) == [10 ** 5000, -10 ** 5000]


@pytest.mark.parametrize("dtype", KINDS, ids=str)
@pytest.mark.parametrize("shape", [(), (0,), (3, 0, 2), (1,), (2, 3, 4)], ids=str)
def test_tensors(dtype, shape):
    t = ag.tensor(np.random.default_rng(0).integers(0, 2, shape)).to(dtype)
    assert same(t, again(t)) and same({"a": t, "b": [t.numpy().copy()]}, again({"a": t, "b": [t.numpy().copy()]}))


def test_bfloat16():
    pytest.importorskip("ml_dtypes")
    t = ag.tensor([1.0, -2.5, 3e38]).bfloat16()
    assert same({"t": t, "d": ag.bfloat16, "n": t.numpy()[0]}, again({"t": t, "d": ag.bfloat16, "n": t.numpy()[0]}))


def test_bfloat16_without_ml_dtypes(monkeypatch, tmp_path):
    """A file of bfloat16 numbers, made by hand, comes as float32, and says so once."""
    monkeypatch.setitem(__import__("sys").modules, "ml_dtypes", None)
    text = json.dumps({n: {"dtype": "BF16", "shape": [2], "data_offsets": [at, at + 4]} for n, at in (("a", 0), ("b", 4))}).encode()
    file = tmp_path / "f"
    file.write_bytes(len(text).to_bytes(8, "little") + text + np.array([0x3F80, 0xC020, 0x7F80, 0x0001], "<u2").tobytes())
    with pytest.warns(UserWarning, match="float32, because the package ml_dtypes") as warned:
        found = ag.load(file)
    assert len(warned) == 1 and found["a"].dtype == ag.float32 and found["a"].tolist() == [1.0, -2.5]
    assert found["b"].tolist() == [float("inf"), float(np.uint32(1 << 16).view(np.float32))]


def test_kinds_of_tensors():
    w = ag.randn(3, requires_grad=True)
    state = {"parameter": nn.Parameter(ag.ones(2)), "frozen": nn.Parameter(ag.ones(2), requires_grad=False), "leaf": w,
             "column": ag.arange(6).reshape(2, 3).T, "flipped": np.arange(4)[::-1], "big": np.arange(3, dtype=">i4")}
    found = again({**state, "computed": (w * 2), "buffer": nn.Buffer(ag.ones(1))})
    assert found["computed"].requires_grad and found["computed"].is_leaf and type(found["buffer"]) is ag.Tensor
    assert found["big"].tolist() == [0, 1, 2] and found["big"].dtype == np.int32
    assert all(same(found[k], state[k]) for k in state if k != "big")


def test_names_in_the_file(tmp_path):
    """A dict of tensors keeps its names; a nested state has dotted ones, and clashes are numbered."""
    t, file = ag.ones(2), tmp_path / "f.safetensors"
    ag.save({"a.b": t, "": t * 2, "ü": t * 3, "\ud800": t * 4}, file)
    assert [k for k in header_of(file) if k != "__metadata__"] == ["a.b", "", "ü", "\\ud800"]
    assert list(ag.load(file)) == ["a.b", "", "ü", "\ud800"]
    state = {"a.b": t, "a": {"b": t * 2, "c": [t * 3, {0: t * 4}]}, (1, 2): t * 5, "__metadata__": t * 6}
    ag.save(state, file)
    assert [k for k in header_of(file) if k != "__metadata__"] == ["a.b", "a.b_2", "a.c.0", "a.c.1.0", "tuple", "__metadata___2"]
    assert same(state, ag.load(file)) and header_of(file)["__metadata__"]["format"] == "pt"


def trained():
    ag.manual_seed(0)
    net = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2))
    optimizer = ag.optim.AdamW(net.parameters(), lr=0.1)
    step(net, optimizer)
    return net, optimizer


def step(net, optimizer):
    optimizer.zero_grad()
    net(ag.arange(6.0).reshape(2, 3)).pow(2).sum().backward()
    optimizer.step()


@pytest.mark.parametrize("mmap", [None, True, False])
def test_a_checkpoint_goes_on(tmp_path, mmap):
    net, optimizer = trained()
    ag.save({"model": net.state_dict(), "optimizer": optimizer.state_dict(), "epoch": 3}, tmp_path / "c.pt")
    other, its_optimizer = trained()
    found = ag.load(tmp_path / "c.pt", mmap=mmap)
    other.load_state_dict(found["model"])
    its_optimizer.load_state_dict(found["optimizer"])
    assert found["epoch"] == 3 and list(found["optimizer"]["state"]) == [0, 1, 2, 3]
    for _ in range(3):
        step(net, optimizer)
        step(other, its_optimizer)
    assert all(np.array_equal(a.array, b.array) for a, b in zip(net.parameters(), other.parameters(), strict=True))


# --- shared memory ----------------------------------------------------------------------------------------------------------

def test_shared_memory_is_shared_again():
    whole = ag.arange(12.0).reshape(3, 4)
    state = {"row": whole[1], "whole": whole, "turned": whole.T, "every": whole.reshape(-1)[::5], "copy": whole.clone()}
    found = again(state)
    assert same(state, found)
    version = found["row"]._version
    found["whole"].zero_()
    assert all(not found[k].numpy().any() for k in ("row", "turned", "every")) and found["copy"].numpy().any()
    assert found["row"]._version > version


def test_parts_without_the_whole():
    whole = ag.arange(10.0)
    found = again([whole[:6], whole[4:]])
    found[0][4] = -1
    assert found[1][0].item() == -1 and found[1].tolist()[1:] == [5, 6, 7, 8, 9]


def test_neighbours_in_one_buffer_are_not_sharing():
    """The parameters of a flat optimizer lie end to end."""
    whole = ag.arange(10.0)
    found = again([whole[:5], whole[5:]])
    assert all(t.array.base is None for t in found)


def test_one_object_twice():
    w = nn.Parameter(ag.ones(2))
    found = again({"a": w, "b": [w], "c": w.detach()})
    assert found["a"] is found["b"][0] and found["a"] is not found["c"]
    found["c"][0] = 5
    assert found["a"].tolist() == [5, 1]


def test_tied_weights(tmp_path):
    net = nn.Sequential(nn.Linear(3, 3), nn.Linear(3, 3))
    net[1].weight = net[0].weight
    ag.save(net.state_dict(), tmp_path / "f")
    assert [k for k in header_of(tmp_path / "f") if k != "__metadata__"] == ["0.weight", "0.bias", "1.weight", "1.bias"]
    found = ag.load(tmp_path / "f")
    found["0.weight"].zero_()
    assert not found["1.weight"].numpy().any()


# --- refused -----------------------------------------------------------------------------------------------------------------

@dataclasses.dataclass
class Options:
    lr: float = 0.1


class Colour(enum.IntEnum):
    RED = 1


Pair = collections.namedtuple("Pair", "a b")
CIRCLE = []
CIRCLE.append(CIRCLE)
REFUSED = {
    "circle": (CIRCLE, "holds itself"), "complex128": (ag.ones(2, dtype=ag.complex128), "complex128.*view_as_real"),
    "objects": (np.array([None]), "elements are object"), "function": (lambda: 0, "function.*nor can it be pickled.*its name"),
    "lock": (threading.Lock(), "lock.*nor can it be pickled.*made of"),
    "path to it": ({"k": {ag.float32: {1: iter([]).__class__.__call__}}}, r"obj\['list'\]\[1\]\['k'\]\[torch.float32\]\[1\] is a method"),
}
PICKLED = {
    "dataclass": (Options(), r"Options: .*asdict"), "enum": (Colour.RED, r"Colour.*\.value"), "pair": (Pair(1, 2), r"Pair.*tuple\(\)"),
    "function": (len, "builtin_function.*its name"), "operation": (ag.relu, "obj.*its name"),
    "namespace": (types.SimpleNamespace(a=1), r"SimpleNamespace.*vars\(\)"), "range": (range(3), "range.*made of"),
    "defaultdict": (collections.defaultdict(list), r"defaultdict.*dict\(\)"), "longdouble": (np.longdouble(1), "longdouble"),
    "path": (pathlib.PurePath("x"), "Path"), "str": (np.str_("a"), r"str_.*str\(\)"), "class": (Options, "type.*name"),
    "beside tensors": ({"w": Options()}, r"obj\['list'\]\[1\]\['w'\] is a .*Options"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_objects_that_no_file_can_hold_are_refused(name, tmp_path):
    value, message = REFUSED[name]
    with pytest.raises(TypeError, match=f"(?s)save: .*{message}"):
        ag.save({"ok": ag.ones(2), "list": [1, value]}, tmp_path / "f")
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("name", PICKLED)
def test_other_objects_are_pickled_with_a_warning(name, tmp_path):
    value, message = PICKLED[name]
    with pytest.warns(UserWarning, match=f"(?s)save.. has written a pickle, for .*{message}"):
        ag.save({"ok": ag.ones(2), "list": [1, value]}, tmp_path / "f")
    with pytest.raises(pickle.UnpicklingError, match="weights_only=False"):
        ag.load(tmp_path / "f")
    found = ag.load(tmp_path / "f", weights_only=False)
    assert found["list"] == [1, value] and found["ok"].tolist() == [1, 1]


def test_an_optimizer_and_its_schedule_are_pickled(tmp_path):
    """As PyTorch does; together with the parameters, which stay theirs."""
    w = ag.ones(1).requires_grad_()
    optimizer = ag.optim.SGD([w], lr=1, momentum=0.9)
    schedule = ag.optim.lr_scheduler.StepLR(optimizer, 1)
    with pytest.warns(UserWarning, match=r"obj\['o'\] is a .*SGD.*state_dict\(\)"):
        ag.save({"w": w, "o": optimizer, "s": schedule}, tmp_path / "f")
    found = ag.load(tmp_path / "f", weights_only=False)
    (found["w"] * 2).sum().backward()
    found["o"].step()
    found["s"].step()
    assert found["w"].tolist() == [-1] and found["o"].param_groups[0]["lr"] == 0.1


def test_arguments(tmp_path):
    file = tmp_path / "f"
    ag.save({"a": ag.ones(2)}, str(file), pickle_module=pickle, pickle_protocol=4)
    for how in ({"pickle_module": json}, {"_use_new_zipfile_serialization": False}):
        with pytest.raises(NotImplementedError, match=next(iter(how))):
            ag.save(1, file, **how)
    for how in ({}, {"map_location": "cpu"}, {"map_location": ag.device("cpu")}, {"map_location": {"cuda:0": "cpu"}},
                {"map_location": {"cuda:0": "cuda:1"}}, {"map_location": {"cpu": "cpu", "cuda:0": "cuda:3"}}, {"map_location": {}},
                {"map_location": lambda storage, place: storage}, {"weights_only": True}, {"weights_only": False},
                {"pickle_module": pickle}, {"encoding": "utf-8"}, {"mmap": True}):
        assert ag.load(file, **how)["a"].tolist() == [1, 1]
    for how in ({"map_location": "cuda"}, {"map_location": {"cpu": "cuda:1"}}, {"map_location": lambda storage, place: storage.cuda()},
                {"map_location": lambda storage, place: 1}, {"pickle_module": json}, {"encoding": "latin1"}, {"fix_imports": False}):
        with pytest.raises((NotImplementedError, AttributeError), match="cuda|map_location|pickle_module|encoding|fix_imports"):
            ag.load(file, **how)
    with pytest.raises(RuntimeError, match="mmap=True needs the name"):
        ag.load(io.BytesIO(file.read_bytes()), mmap=True)
    for wrong, error in ((3, TypeError), (io.StringIO("x"), TypeError), (tmp_path / "none", FileNotFoundError), (tmp_path, OSError)):
        with pytest.raises(error):
            ag.load(wrong)
    for wrong, error in ((3, TypeError), (io.StringIO(), TypeError), (tmp_path / "none" / "f", FileNotFoundError)):
        with pytest.raises(error):
            ag.save({"a": ag.ones(1)}, wrong)


# --- the file itself -----------------------------------------------------------------------------------------------------------

def test_mapped_tensors_leave_the_file_alone(tmp_path):
    file = tmp_path / "f"
    ag.save({"a": ag.arange(5.0), "b": ag.arange(3)}, file)
    before = file.read_bytes()
    found = ag.load(file, mmap=True)
    assert type(found["a"].array) is np.ndarray and found["a"].array.base is not None
    found["a"].mul_(2)
    ag.save({"a": ag.zeros(5)}, file)                 # another file in its place: the mapped one lives on
    assert found["a"].tolist() == [0, 2, 4, 6, 8] and found["b"].tolist() == [0, 1, 2] and file.read_bytes() != before


@pytest.mark.parametrize("fault", ["write", "fsync", "replace"])
def test_a_failed_save_leaves_the_old_file(tmp_path, monkeypatch, fault):
    file = tmp_path / "f"
    ag.save({"a": ag.ones(3)}, file)

    def broken(*args):
        raise OSError(28, "No space left on device")

    if fault == "write":
        monkeypatch.setattr("autograd.serialization.files.blocks", lambda *a: (broken() if i else b"begun" for i in range(2)))
    else:
        monkeypatch.setattr(os, fault, broken)
    with pytest.raises(OSError, match="No space"):
        ag.save({"a": ag.zeros(3)}, file)
    monkeypatch.undo()
    assert ag.load(file)["a"].tolist() == [1, 1, 1] and os.listdir(tmp_path) == ["f"]


def test_modes_links_and_special_files(tmp_path):
    file, link = tmp_path / "f", tmp_path / "link"
    ag.save([1], file)
    assert file.stat().st_mode & 0o777 == 0o666 & ~umask()
    file.chmod(0o640)
    link.symlink_to(file)
    ag.save([2], link)
    assert link.is_symlink() and ag.load(file) == [2] and file.stat().st_mode & 0o777 == 0o640
    pipe, found = tmp_path / "pipe", []
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: found.append(pipe.read_bytes()))
    reader.start()
    ag.save([3], pipe)
    reader.join()
    assert ag.load(io.BytesIO(found[0])) == [3] and sorted(os.listdir(tmp_path)) == ["f", "link", "pipe"]


def umask():
    mask = os.umask(0)
    os.umask(mask)
    return mask


def test_deep_nesting_is_an_error_not_a_crash():
    deep = []
    for _ in range(100_000):
        deep = [deep]
    with pytest.raises(RecursionError):
        ag.save(deep, io.BytesIO())


# --- the package safetensors ---------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("dtype", KINDS, ids=str)
def test_the_package_reads_ours(dtype, tmp_path):
    numpy = pytest.importorskip("safetensors.numpy")
    state = {"x.y": ag.arange(6).reshape(2, 3).to(dtype), "s": ag.tensor(1).to(dtype), "e": ag.zeros(0, 2).to(dtype), "o": ag.ones(1).to(ag.int8)}
    ag.save(state, tmp_path / "f")
    found = numpy.load_file(tmp_path / "f")
    assert found.keys() == state.keys()
    for k, v in state.items():
        assert found[k].dtype == v.dtype and np.array_equal(found[k], v.numpy()) and found[k].shape == v.shape


@pytest.mark.parametrize("mmap", [False, True])
@pytest.mark.parametrize("dtype", KINDS, ids=str)
def test_we_read_the_packages(dtype, mmap, tmp_path):
    numpy = pytest.importorskip("safetensors.numpy")
    state = {"x": np.arange(6).reshape(2, 3).astype(dtype), "s": np.array(1, dtype), "e": np.zeros((0, 2), dtype), "o": np.ones(3, np.int8)}
    numpy.save_file(state, tmp_path / "f", {"any": "thing"})
    found = ag.load(tmp_path / "f", mmap=mmap)
    assert found.keys() == state.keys() and all(same(ag.tensor(v), found[k]) for k, v in state.items())


@needs_torch
def test_models_of_pytorch_and_back(tmp_path):
    st = pytest.importorskip("safetensors.torch")

    def net(t):
        return t.nn.Sequential(t.nn.Linear(3, 4), t.nn.Linear(4, 4), t.nn.Linear(4, 4))

    theirs, ours, third = net(torch), net(ag), net(torch)
    theirs[2].weight = theirs[1].weight
    st.save_model(theirs, tmp_path / "f")             # leaves one of the tied weights out
    ours.load_state_dict(ag.load(tmp_path / "f"))
    ag.save(ours.state_dict(), tmp_path / "g")
    third.load_state_dict(st.load_file(tmp_path / "g"))
    x = torch.randn(2, 3)
    assert torch.equal(theirs(x), third(x))
    half = {"h": torch.randn(3, 2).bfloat16()}
    st.save_file(half, tmp_path / "h")
    pytest.importorskip("ml_dtypes")
    ag.save(ag.load(tmp_path / "h"), tmp_path / "i")
    assert torch.equal(st.load_file(tmp_path / "i")["h"], half["h"])


@pytest.mark.parametrize("wrap", [lambda net: net, lambda net: {"other": ag.optim.SGD(net.parameters(), lr=1), "net": net}, lambda net: [3, net]],
                         ids=["module", "dict", "list"])
def test_a_whole_module_is_a_pickle_that_is_read_where_the_caller_says_so(tmp_path, wrap):
    net = nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3))
    net(ag.randn(4, 2)).sum().backward()
    with pytest.warns(UserWarning, match=r"written a pickle.*weights_only=False.*state_dict") as caught:
        ag.save(wrap(net), tmp_path / "f")
    assert len(caught) == 1 and caught[0].filename == __file__
    for settings in ({}, {"weights_only": True}, {"weights_only": None}):
        with pytest.raises(pickle.UnpicklingError, match="weights_only=False"):
            ag.load(tmp_path / "f", **settings)
    found = ag.load(tmp_path / "f", weights_only=False)
    found = found["net"] if isinstance(found, dict) else found[1] if isinstance(found, list) else found
    x = ag.randn(5, 2)
    assert ag.equal(found.eval()(x), net.eval()(x))
    data = bytearray((tmp_path / "f").read_bytes())
    data[-20] ^= 1
    (tmp_path / "f").write_bytes(data)
    with pytest.raises(RuntimeError, match="damaged"):
        ag.load(tmp_path / "f", weights_only=False)
