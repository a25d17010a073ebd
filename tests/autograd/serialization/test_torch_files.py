"""load() of files that torch.save() wrote: as torch.load() reads them; of anything but data by refusal."""

import argparse
import collections
import io
import itertools
import os
import pickle
import warnings
import zipfile

import numpy as np
import pytest

import autograd as ag
from autograd import nn

torch = pytest.importorskip("torch")
FORMS = [pytest.param({}, id="zip"), pytest.param({"_use_new_zipfile_serialization": False}, id="legacy")]
DTYPES = ["float16", "float32", "float64", "int8", "int16", "int32", "int64", "uint8", "bool", "complex64", "complex128"]
UNTYPED = ["uint16", "uint32", "uint64"]


def saved(obj, **how):
    buffer = io.BytesIO()
    torch.save(obj, buffer, **how)
    return buffer.getvalue()


def given(obj, **how):
    return ag.load(io.BytesIO(saved(obj, **how)))


def same(theirs, ours):
    """Whether our value is what PyTorch's is."""
    if isinstance(theirs, torch.Tensor):
        assert isinstance(ours, nn.Parameter) == isinstance(theirs, torch.nn.Parameter)
        assert str(theirs.dtype) == f"torch.{ours.dtype.name}" and theirs.shape == tuple(ours.shape)
        assert theirs.requires_grad == ours.requires_grad and ours.array.flags.aligned
        x = theirs.detach().resolve_conj().resolve_neg()
        x = x.float().numpy() if theirs.dtype is torch.bfloat16 else x.numpy()
        return np.array_equal(x, ours.detach().numpy().astype(x.dtype), equal_nan=True)
    if isinstance(theirs, (torch.Size, torch.device, torch.dtype)):
        return str(theirs).replace("torch.", "") == str(ours).replace("torch.", "") and isinstance(ours, getattr(ag, type(theirs).__name__))
    assert type(theirs) is type(ours)
    if isinstance(theirs, dict):
        assert list(theirs) == list(ours) and getattr(theirs, "_metadata", 0) == getattr(ours, "_metadata", 0)
        return all(same(a, b) for a, b in zip(theirs.values(), ours.values()))
    if isinstance(theirs, (list, tuple)):
        return len(theirs) == len(ours) and all(same(a, b) for a, b in zip(theirs, ours))
    return theirs == ours


def states():
    torch.manual_seed(0)
    x = torch.randn(4, 6)
    net = torch.nn.Sequential(torch.nn.Conv2d(1, 2, 3), torch.nn.BatchNorm2d(2), torch.nn.LSTM(3, 2, 2))
    optimizer = torch.optim.AdamW(net[:2].parameters(), amsgrad=True)
    net[1](net[0](torch.randn(2, 1, 5, 5))).sum().backward()
    optimizer.step()
    scheduler = torch.optim.lr_scheduler.MultiStepLR(optimizer, [1, 1, 3])
    yield "state_dict", net.state_dict()
    yield "parameters", dict(net.named_parameters())
    yield "checkpoint", {"model": net.state_dict(), "optimizer": optimizer.state_dict(), "scheduler": scheduler.state_dict(), "epoch": 3}
    yield "one tensor", x
    yield "strides", [x.T, x[::2, 1::3], x[1], x[:, 2], x.expand(2, 4, 6), x[1:1], torch.tensor(3.0), x.unsqueeze(1), x.permute(1, 0)[2:4]]
    yield "channels last", torch.randn(2, 3, 4, 5).to(memory_format=torch.channels_last)
    yield "empty", [torch.zeros(0), torch.zeros(3, 0, 2), torch.zeros(0, dtype=torch.bool), {}, [], (), set(), ""]
    yield "kinds", [torch.ones(2, requires_grad=True), torch.nn.Parameter(torch.ones(1)), torch.nn.Parameter(torch.ones(1, dtype=torch.int8), False)]
    yield "values", [None, True, -1, 255, 65536, -2 ** 31, 2 ** 31, 2 ** 70, -2 ** 2100, 1.5, float("inf"), "täxt\n", b"\0\xff", 1 + 2j, {1, 2}, (1, (2, [3]), {})]
    yield "keys", {1: 1, "a": 2, (1, 2): 3, None: 4, 2.5: 5}
    yield "containers", [collections.OrderedDict(a=1), collections.Counter("aab"), argparse.Namespace(lr=0.1, betas=[0.9]), argparse.Namespace(), torch.Size([2, 3]), torch.device("cpu"), torch.float16, torch.int64]
    yield "many", {f"k{i}": torch.full((2,), float(i)) for i in range(300)}
    yield "marks", [torch.tensor([1 + 2j]).conj(), torch.tensor([1 + 2j]).imag, torch.tensor([1 + 2j]).conj().imag]
    yield "long", {"text": "x" * 300, "list": list(range(2000))}
    buffer = torch.nn.Buffer(torch.ones(2), persistent=False)
    named = torch.ones(1)
    named.note = "x"
    yield "attributes", [buffer, named]
    for d in DTYPES:
        yield d, torch.arange(6).reshape(2, 3).to(getattr(torch, d))


STATES = dict(states())


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", STATES)
def test_every_kind_of_file(name, form):
    assert same(STATES[name], given(STATES[name], **form))


@pytest.mark.parametrize("protocol", [2, 3, 4, 5])
def test_pickle_protocols(protocol):
    for state in STATES.values():
        assert same(state, given(state, pickle_protocol=protocol))


@pytest.mark.parametrize("dtype", UNTYPED)
def test_types_without_storages_of_their_own(dtype):
    t = torch.arange(6).reshape(2, 3).to(getattr(torch, dtype))
    assert same([t, t.T], given([t, t.T]))


def test_bfloat16():
    pytest.importorskip("ml_dtypes")
    t = torch.randn(3, 4).bfloat16()
    state = {"t": t, "p": torch.nn.Parameter(t.T, False), "d": torch.bfloat16}
    assert same({k: state[k] for k in "tp"}, {k: given(state)[k] for k in "tp"}) and given(state)["d"] == ag.bfloat16


@pytest.mark.parametrize("form", FORMS)
def test_bfloat16_without_ml_dtypes(monkeypatch, form):
    monkeypatch.setitem(__import__("sys").modules, "ml_dtypes", None)
    t = torch.randn(3, 4).bfloat16()
    with pytest.warns(UserWarning, match="loaded as float32") as warned:
        found = given([t, t.T[1:]], **form)
    assert len(warned) == 1 and same([t.float(), t.T[1:].float()], found)


def test_attributes_come_too():
    buffer, named = given(STATES["attributes"])
    assert type(buffer) is nn.Buffer and buffer.persistent is False and named.note == "x"


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("first", [0, 1, 2])
def test_shared_storages(form, first):
    whole = torch.arange(12.0).reshape(3, 4)
    state = [whole, whole[1], torch.nn.Parameter(whole.T), whole.clone()]
    state = state[first:] + state[:first]
    found = given(state, **form)
    found = found[-first:] + found[:-first] if first else found
    version = found[1]._version
    found[0].zero_()
    assert not found[1].numpy().any() and not found[2].detach().numpy().any() and found[3].numpy().any()
    assert found[1]._version > version


def test_what_is_not_shared_owns_its_memory():
    assert all(t.array.base is None for t in given(STATES["state_dict"]).values())


def swapped(data, big):
    """The archive with the storages' bytes in the other order."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(out, "w") as new:
        for record in old.infolist():
            content = old.read(record)
            key = record.filename.split("data/")[-1]
            if key in big:
                content = np.frombuffer(content, f"u{big[key]}").byteswap().tobytes()
            new.writestr(record.filename, b"big" if record.filename.endswith("byteorder") else content)
    return out.getvalue()


@pytest.mark.parametrize("mmap", [False, True])
def test_big_endian(tmp_path, mmap):
    x = torch.arange(6.0)
    state = [x, x[2:4], torch.tensor([1 + 2j]), torch.arange(3), torch.ones(2, dtype=torch.bool), torch.arange(3).to(torch.uint16)]
    (tmp_path / "f").write_bytes(swapped(saved(state), {"0": 4, "1": 4, "2": 8, "4": 2}))
    found = ag.load(tmp_path / "f", mmap=mmap)
    assert same(state, found)
    found[0].zero_()
    assert not found[1].numpy().any()


def test_files_without_checksums():
    """PyTorch writes zeros in their place when it is told to."""
    torch.serialization.set_crc32_options(False)
    try:
        data = saved(STATES["checkpoint"])
    finally:
        torch.serialization.set_crc32_options(True)
    assert same(STATES["checkpoint"], ag.load(io.BytesIO(data)))


@pytest.mark.parametrize("form", FORMS)
def test_mapped(tmp_path, form):
    torch.save(STATES["checkpoint"], tmp_path / "f", **form)
    before = (tmp_path / "f").read_bytes()
    found = ag.load(tmp_path / "f", mmap=True)
    assert same(STATES["checkpoint"], found)
    for t in found["model"].values():
        t.zero_()
    assert (tmp_path / "f").read_bytes() == before


def test_a_training_goes_on(tmp_path):
    """Weights and optimizer from PyTorch's checkpoint: the next steps are PyTorch's."""
    def net(t):
        return t.nn.Sequential(t.nn.Linear(3, 4), t.nn.Tanh(), t.nn.Linear(4, 2))

    def step(t, model, optimizer):
        optimizer.zero_grad()
        (model(t.arange(6.0).reshape(2, 3) / 5) ** 2).sum().backward()
        optimizer.step()

    theirs, ours = net(torch), net(ag)
    optimizers = [torch.optim.AdamW(theirs.parameters(), lr=0.1), ag.optim.AdamW(ours.parameters(), lr=0.1)]
    step(torch, theirs, optimizers[0])
    torch.save({"model": theirs.state_dict(), "optimizer": optimizers[0].state_dict()}, tmp_path / "c.pth")
    found = ag.load(tmp_path / "c.pth", map_location="cpu", weights_only=True)
    ours.load_state_dict(found["model"])
    optimizers[1].load_state_dict(found["optimizer"])
    for _ in range(3):
        step(torch, theirs, optimizers[0])
        step(ag, ours, optimizers[1])
    for a, b in zip(theirs.parameters(), ours.parameters(), strict=True):
        assert np.allclose(a.detach().numpy(), b.detach().numpy(), rtol=1e-5, atol=1e-6)


def test_wrong_shapes_leave_the_module_alone(tmp_path):
    torch.save(torch.nn.Linear(3, 5).state_dict(), tmp_path / "f")
    model = nn.Linear(3, 4)
    before = [p.numpy(force=True).copy() for p in model.parameters()]
    with pytest.raises(RuntimeError, match="size mismatch for weight"):
        model.load_state_dict(ag.load(tmp_path / "f"))
    assert all(np.array_equal(a, p.array) for a, p in zip(before, model.parameters(), strict=True))


# --- refused -------------------------------------------------------------------------------------------------------------------

class Mine:
    def __init__(self):
        self.x = 1


class Runs:
    def __init__(self, *call):
        self.call = call

    def __reduce__(self):
        return self.call


REFUSED = {
    "class": (Mine(), r"test_torch_files\.Mine"), "system": (Runs(os.system, ("true",)), "(posix|nt).system"),
    "eval": (Runs(eval, ("1",)), "builtins.eval"), "getattr": (Runs(getattr, (1, "real")), "builtins.getattr"),
    "module": (torch.nn.Linear(1, 1), "Linear|module"), "numpy scalar": (np.float64(1), "scalar"),
    "numpy array": (np.ones(2), "reconstruct"), "range": (range(3), "range"), "sparse": (torch.eye(2).to_sparse(), "sparse"),
    "defaultdict": (collections.defaultdict(list, a=1), "defaultdict"), "storage": ([torch.ones(2).untyped_storage()], "storage"),
    "a class itself": (collections.OrderedDict, "OrderedDict as a value"), "a function itself": (torch._utils._rebuild_tensor_v2, "as a value"),
    "bytearray": (bytearray(b"x"), "bytearray"), "float8": (torch.ones(2).to(torch.float8_e4m3fn), "float8"),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("weights_only", [None, False])
@pytest.mark.parametrize("name", REFUSED)
def test_anything_else_is_refused_by_name(name, form, weights_only):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            data = saved({"ok": torch.ones(2), "it": REFUSED[name][0]}, **form)
        except (RuntimeError, AttributeError):
            pytest.skip("PyTorch does not write it in this form")
    with pytest.raises(pickle.UnpicklingError, match=f"<BytesIO>: .*({REFUSED[name][1]})"):
        ag.load(io.BytesIO(data), weights_only=weights_only)


def built(target, state):
    """A pickle that sets attributes of whatever a name stands for."""
    return b"\x80\x02c" + target.replace(" ", "\n").encode() + b"\n" + pickle.dumps(state, 2)[2:-1] + b"b."


ATTACKS = {
    "attributes of a class": built("collections OrderedDict", {"x": 1}), "slots of a class": built("torch device", (None, {"x": 1})),
    "attributes of a function": built("torch._utils _rebuild_tensor_v2", {"x": 1}),
    "attributes of a dict": b"\x80\x02ccollections\nOrderedDict\n)R" + pickle.dumps({"items": 1}, 2)[2:-1] + b"b.",
    "call of a dtype": b"\x80\x02ctorch\nfloat32\n)R.", "call of a mention": b"\x80\x02ctorch\nTensor\n)R.", "call of text": b"\x80\x02X\x01\x00\x00\x00a)R.",
    "append to a tuple": b"\x80\x02)K\x01a.", "setitem of a list": b"\x80\x02]K\x01K\x02s.", "empty stack": b"\x80\x02.", "popped": b"\x80\x0200.",
    "mark": b"\x80\x02t.", "below a mark": b"\x80\x02K\x01(\x85.", "memo": b"\x80\x02h\x05.", "odd": b"\x80\x02}(K\x01u.", "unhashable": b"\x80\x02}]K\x01s.",
    "no end": b"\x80\x02]", "huge memo": b"\x80\x02]r\xff\xff\xff\xff.", "huge string": b"\x80\x04\x8d\xff\xff\xff\xff\xff\xff\xff\x7f.",
    "huge bytes": b"\x80\x05\x96\xff\xff\xff\xff\xff\x00\x00\x00.", "extension": b"\x80\x02\x82\x01.", "instance": b"\x80\x02(i__main__\nX\n.",
    "deep": b"\x80\x02" + b"]" * 50_000 + b"a" * 49_999 + b".", "persistent": b"\x80\x02K\x01Q.", "no storage": b"\x80\x02(X\x07\x00\x00\x00storageK\x01K\x02K\x03K\x04tQ.",
    "rebuild of nothing": b"\x80\x02ctorch._utils\n_rebuild_tensor_v2\n)R.", "parameter of nothing": b"\x80\x02ctorch._utils\n_rebuild_parameter\n(NNNtR.",
    "nested call": b"\x80\x02ctorch._tensor\n_rebuild_from_type_v2\n(cbuiltins\nset\nN))tR.", "not in a module": b"\x80\x04X\x00\x00\x00\x00N\x93.",
}


@pytest.mark.parametrize("name", ATTACKS)
def test_hostile_pickles(name):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("a/data.pkl", ATTACKS[name])
    held = dict(vars(collections.OrderedDict)), dict(vars(ag.device))
    if name in ("huge memo", "deep"):                 # harmless: a dict holds the memo, and lists may be deep
        ag.load(io.BytesIO(out.getvalue()))
    else:
        with pytest.raises((RuntimeError, pickle.UnpicklingError), match="<BytesIO>: "):
            ag.load(io.BytesIO(out.getvalue()))
    assert held == (dict(vars(collections.OrderedDict)), dict(vars(ag.device)))


TENSORS = {"beyond the end": (0, (3,), (1,)), "offset": (2, (1,), (1,)), "strides": (0, (2,), (2,)), "negative": (0, (-1,), (1,)),
           "negative stride": (1, (2,), (-1,)), "negative offset": (-1, (1,), (1,)), "lengths": (0, (1, 1), (1,)), "huge": (0, (2 ** 62, 2 ** 62), (1, 1)),
           "huge stride": (0, (2,), (2 ** 62,)), "many dimensions": (0, (1,) * 70, (1,) * 70), "bool": (0, (True,), (1,)), "text": ("0", (1,), (1,))}


@pytest.mark.parametrize("name", TENSORS)
def test_tensors_stay_in_their_storage(name):
    """A pickle that asks for more than the storage of two numbers has."""
    class Hostile:
        def __reduce__(self):
            offset, size, stride = TENSORS[name]
            return torch._utils._rebuild_tensor_v2, (torch.ones(2).storage(), offset, size, stride, False, collections.OrderedDict())

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        data = saved(Hostile())
    with pytest.raises(RuntimeError, match="<BytesIO>: "):
        ag.load(io.BytesIO(data))


def test_other_archives(tmp_path):
    np.savez(tmp_path / "a.npz", x=np.ones(2))
    with pytest.raises(RuntimeError, match=r"numpy\.load"):
        ag.load(tmp_path / "a.npz")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.jit.script(torch.nn.Linear(1, 1)).save(str(tmp_path / "s.pt"))
    with pytest.raises(pickle.UnpicklingError, match="TorchScript"):
        ag.load(tmp_path / "s.pt")
    with zipfile.ZipFile(io.BytesIO(saved(torch.ones(2)))) as old, zipfile.ZipFile(tmp_path / "p", "w", zipfile.ZIP_DEFLATED) as new:
        for record in old.infolist():
            new.writestr(record.filename, old.read(record))
    with pytest.raises(RuntimeError, match="compressed"):
        ag.load(tmp_path / "p")
    with pytest.raises(pickle.UnpicklingError, match=r"none of torch\.save"):
        ag.load(io.BytesIO(pickle.dumps({"a": 1})))


def test_random_states():
    """Nested states drawn at random, through all three formats."""
    rng = np.random.default_rng(0)

    def draw(depth):
        kind = rng.integers(0, 8 if depth else 4)
        if kind < 2:
            t = torch.from_numpy(rng.standard_normal(rng.integers(0, 4, rng.integers(0, 4))))
            return t.to(getattr(torch, DTYPES[rng.integers(0, len(DTYPES) - 1)])).T if t.ndim == 2 else t
        if kind < 4:
            return [None, True, 3, 2.5, "x"][rng.integers(0, 5)]
        items = [draw(depth - 1) for _ in range(rng.integers(0, 4))]
        return [items, tuple(items), dict(zip("abcd", items)), dict(enumerate(items))][kind - 4]

    for _, form in itertools.product(range(40), ({}, {"_use_new_zipfile_serialization": False})):
        state = draw(4)
        found = given(state, **form)
        assert same(state, found)
        buffer = io.BytesIO()
        ag.save(found, buffer)
        buffer.seek(0)
        assert same(state, ag.load(buffer))
