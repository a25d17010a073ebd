"""Damaged files: each byte changed, each length cut. The answer is an error that names the file, or the right values."""

import io
import json
import pickle
import tracemalloc
import zipfile
import zlib

import numpy as np
import pytest
from both import needs_torch, torch

import autograd as ag
from autograd import nn
from autograd.serialization import safetensors
from autograd.serialization.torch_pickle import unpickle


def state(t):
    shared = t.arange(4)
    return {"w": t.arange(6.0).reshape(2, 3), "h": {3: [shared, shared[1:3], 2.5, "text", None], "e": t.zeros(0, 2)}}


def ours():
    buffer = io.BytesIO()
    ag.save(state(ag), buffer)
    return buffer.getvalue()


def plain():
    """A safetensors file without our structure, so without checksums."""
    return built({"w": ("F32", [2, 3], [0, 24]), "h": ("I64", [4], [24, 56])}, np.arange(14, dtype="<f4").tobytes())


def built(entries, data=b"", metadata=None, text=None, length=None):
    header = {n: dict(zip(("dtype", "shape", "data_offsets"), e)) if isinstance(e, tuple) else e for n, e in entries.items()}
    header = {"__metadata__": metadata} | header if metadata else header
    text = json.dumps(header).encode() if text is None else text
    return (len(text) if length is None else length).to_bytes(8, "little") + text + data


def of_torch(**how):
    buffer = io.BytesIO()
    torch.save(state(torch), buffer, **how)
    return buffer.getvalue()


FILES = {"ours": (ours, True), "plain": (plain, False)}
if torch is not None:
    FILES |= {"torch zip": (of_torch, True), "torch legacy": (lambda: of_torch(_use_new_zipfile_serialization=False), False)}


def told(value):
    """A state as text, to compare."""
    if isinstance(value, ag.Tensor):
        return f"{value.dtype}{tuple(value.shape)}{value.tolist()}"
    if isinstance(value, dict):
        return {k: told(v) for k, v in value.items()}
    return [told(v) for v in value] if isinstance(value, list) else value


def outcome(data):
    try:
        return told(ag.load(io.BytesIO(data)))
    except (RuntimeError, pickle.UnpicklingError) as error:
        assert str(error).startswith("<BytesIO>: ") and len(str(error)) > 20
        return "error"


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", FILES)
def test_each_byte_changed(name):
    make, checked = FILES[name]
    data, rng = bytearray(make()), np.random.default_rng(0)
    right = outcome(bytes(data))
    assert right != "error"
    errors = 0
    for at, before in enumerate(data):
        for now in {before ^ 1 << rng.integers(8), int(rng.integers(256)), before ^ 0x20} - {before}:
            data[at] = now
            found = outcome(bytes(data))
            assert not checked or found in ("error", right), (at, before, now)
            errors += found == "error"
        data[at] = before
    assert errors > len(data) / 4


@pytest.mark.parametrize("name", FILES)
def test_each_length_cut(name):
    data = FILES[name][0]()
    right = outcome(data)
    assert all(outcome(data[:end]) in ("error", right) for end in range(len(data)))
    assert all(outcome(data[:end]) == "error" for end in range(len(data) - 30)) and outcome(data[100:]) == "error"


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", FILES)
def test_stretches_overwritten(name):
    make, checked = FILES[name]
    data, rng = make(), np.random.default_rng(1)
    right = outcome(data)
    for _ in range(300):
        start, count = int(rng.integers(len(data))), int(rng.integers(2, 40))
        wrong = data[:start] + [rng.bytes(count), bytes(count), b"\xff" * count, data[:count]][rng.integers(4)] + data[start + count:]
        assert outcome(wrong) in ("error", right) or not checked


def zip_of(data):
    """One of PyTorch's archives with another pickle in it, and right checksums."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(of_torch())) as old, zipfile.ZipFile(out, "w") as new:
        for record in old.infolist():
            new.writestr(record.filename, data if record.filename.endswith("data.pkl") else old.read(record))
    return out.getvalue()


def our_structure(text):
    """One of our files with another structure in it, and a right checksum."""
    data = ours()
    start = 8 + int.from_bytes(data[:8], "little")
    header = json.loads(data[8:start])
    header["__metadata__"] |= {"autograd.structure": text, "autograd.structure.crc32": f"{zlib.crc32(text.encode()):08x}"}
    return built(header, data[start:])


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", [pytest.param("pickle", marks=needs_torch), "structure"])
def test_wrong_contents_with_right_checksums(name):
    """What is behind the checksums is as careful as they are: a file can be made to have the right ones."""
    rng = np.random.default_rng(3)
    if name == "pickle":
        with zipfile.ZipFile(io.BytesIO(of_torch())) as archive:
            data, make = archive.read("archive/data.pkl"), zip_of
    else:
        text = ours()
        header = json.loads(text[8:8 + int.from_bytes(text[:8], "little")])
        data = header["__metadata__"]["autograd.structure"].encode()
        make = lambda wrong: our_structure(wrong.decode("latin-1"))
    right = outcome(make(data))
    found = []
    for _ in range(700):
        wrong = bytearray(data)
        for _ in range(rng.integers(1, 4)):
            at = rng.integers(len(wrong))
            wrong[at] = data[rng.integers(len(data))] if rng.integers(2) else rng.integers(128)
        found.append(outcome(make(bytes(wrong))))
    assert right != "error" and found.count("error") > 300


@pytest.mark.parametrize("name", FILES)
def test_mapped(name, tmp_path):
    """The same with the file mapped: values are not checked there, but nothing crashes."""
    data, rng, file = FILES[name][0](), np.random.default_rng(2), tmp_path / "f"
    for _ in range(300):
        wrong = bytearray(data[:rng.integers(len(data) + 1)] if rng.integers(2) else data)
        if wrong:
            wrong[rng.integers(len(wrong))] = rng.integers(256)
        file.write_bytes(wrong)
        try:
            told(ag.load(file, mmap=True))
        except (RuntimeError, pickle.UnpicklingError) as error:
            assert str(error).startswith(str(file))


T = ("F32", [2], [0, 8])
LATER = '{"version":2}'
HEADERS = {
    "empty file": (b"", "empty"), "too short": (b"\x01\0\0", "truncated"), "text": (b"hello world, this is text", "neither"),
    "header cut": (built({}, length=100), "header should end at 108"), "header too long": (b"\xff" * 8 + b"{" * 20, "header would be"),
    "no JSON": (built({}, text=b"{\"a\":"), "Expecting value"), "no UTF-8": (built({}, text=b"{\"\xff\": 1}"), "utf-8"),
    "no object": (built({}, text=b"{}  []"), "Extra data"), "NaN": (built({}, text=b"{\"a\": NaN}"), "NaN"),
    "deep": (built({}, text=b"{\"a\":" + b"[" * 100_000), "nested too deeply"),
    "overlap": (built({"a": T, "b": ("F32", [2], [4, 12])}, bytes(12)), "'b' overlaps 'a'"),
    "same place": (built({"a": T, "b": T}, bytes(8)), "'b' overlaps 'a'"),
    "gap": (built({"a": T, "b": ("F32", [2], [12, 20])}, bytes(20)), "'b' leaves a gap after 'a'"),
    "gap at the start": (built({"a": ("F32", [2], [4, 12])}, bytes(12)), "'a' leaves a gap after the header"),
    "truncated": (built({"a": T}, bytes(7)), "truncated"), "trailing": (built({"a": T}, bytes(9)), "strange bytes behind"),
    "unknown dtype": (built({"a": ("Q9", [2], [0, 8])}, bytes(8)), "'a' is of the type 'Q9'"),
    "float8": (built({"a": ("F8_E4M3", [8], [0, 8])}, bytes(8)), "F8_E4M3"), "dtype a number": (built({"a": (3, [2], [0, 8])}, bytes(8)), "type 3"),
    "dtype a list": (built({"a": ([], [2], [0, 8])}, bytes(8)), r"type \[\]"),
    "wrong shape": (built({"a": ("F32", [3], [0, 8])}, bytes(8)), "needs 12 bytes, but has 8"),
    "negative shape": (built({"a": ("F32", [-2], [0, 8])}, bytes(8)), "shape of 'a'"), "shape of text": (built({"a": ("F32", "2", [0, 8])}, bytes(8)), "shape of 'a'"),
    "shape of bool": (built({"a": ("F32", [2, True], [0, 8])}, bytes(8)), "shape of 'a'"), "shape of floats": (built({"a": ("F32", [2.0], [0, 8])}, bytes(8)), "shape of 'a'"),
    "huge shape": (built({"a": ("F32", [2 ** 62, 0], [0, 0])}), "."), "many dimensions": (built({"a": ("F32", [1] * 70, [0, 4])}, bytes(4)), "."),
    "one offset": (built({"a": ("F32", [2], [8])}, bytes(8)), "data_offsets"), "turned offsets": (built({"a": ("F32", [2], [8, 0])}, bytes(8)), "data_offsets"),
    "no offsets": (built({"a": {"dtype": "F32", "shape": [2]}}, bytes(8)), "must have dtype"), "a number": (built({"a": 3}), "must have dtype"),
    "name twice": (built({}, bytes(8), text=b'{"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}'), "'a' appears twice"),
    "field twice": (built({}, bytes(8), text=b'{"a":{"dtype":"F32","dtype":"I32","shape":[2],"data_offsets":[0,8]}}'), "'dtype' appears twice"),
    "metadata twice": (built({}, text=b'{"__metadata__":{"k":"1","k":"2"}}'), "'k' appears twice"), "metadata of numbers": (built({}, metadata={"k": 1}), "strings only"),
    "metadata a list": (built({}, metadata=["k"]), "strings only"),
    "no checksum": (built({}, metadata={"autograd.structure": "{}"}), "checksum"), "no structure": (built({}, metadata={"autograd.structure.crc32": "00000001"}), "checksum"),
    "a later version": (built({}, metadata={"autograd.structure": LATER, "autograd.structure.crc32": f"{zlib.crc32(LATER.encode()):08x}"}), "of version 2"),
}


@pytest.mark.parametrize("name", HEADERS)
def test_wrong_headers(name, tmp_path):
    data, message = HEADERS[name]
    file = tmp_path / "weights.safetensors"
    file.write_bytes(data)
    for where in (file, str(file)):
        with pytest.raises(RuntimeError, match=f"weights.safetensors: .*{message}"):
            ag.load(where)


@pytest.mark.parametrize("name", HEADERS)
def test_the_package_refuses_them_too(name):
    """Ours is the stricter reader; what the package takes all the same is listed here."""
    numpy = pytest.importorskip("safetensors.numpy")
    taken = {"name twice", "metadata twice", "no checksum", "no structure", "a later version", "many dimensions", "huge shape"}
    try:
        numpy.load(HEADERS[name][0])
    except Exception:
        return
    assert name in taken


def test_a_changed_tensor_is_named(tmp_path):
    """A header that another program rewrote: what no longer fits the structure is told."""
    numpy = pytest.importorskip("safetensors.numpy")
    text = ours()
    metadata = json.loads(text[8:8 + int.from_bytes(text[:8], "little")])["__metadata__"]
    arrays = {"w": np.arange(6, dtype="f4").reshape(2, 3), "h.3.0": np.arange(4), "h.3.1": np.arange(1, 3), "h.e": np.zeros((0, 2), "f4")}
    assert told(ag.load(io.BytesIO(numpy.save(arrays, metadata)))) == told(state(ag))
    for wrong, message in (({"w": arrays["w"].T.copy()}, r"'w' is F32 of shape \[3, 2\]"), ({"x": arrays["w"]}, r"not those of its structure: \['x'\]"),
                           ({"h.3.0": np.arange(1, 5)}, "checksum"), ({"w": arrays["w"].astype("i4")}, "'w' is I32")):
        with pytest.raises(RuntimeError, match=message):
            ag.load(io.BytesIO(numpy.save(arrays | wrong, metadata)))


def test_a_module_is_untouched_after_a_failed_load(tmp_path):
    model, file = nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3)) if hasattr(nn, "BatchNorm1d") else nn.Linear(2, 3), tmp_path / "f"
    before = {k: v.numpy().copy() for k, v in model.state_dict().items()}
    name = next(iter(before))
    ag.save({k: v * 2 for k, v in model.state_dict().items()}, file)
    data = file.read_bytes()
    for wrong in (data[:-1], data[:-4] + b"\xff" + data[-3:], data[:20] + b"!" + data[21:]):
        file.write_bytes(wrong)
        with pytest.raises(RuntimeError, match=str(file)):
            model.load_state_dict(ag.load(file))
    for change in ({name: ag.ones(7)}, {"strange": ag.ones(1)}):
        ag.save({**{k: v * 2 for k, v in model.state_dict().items()}, **change}, file)
        with pytest.raises(RuntimeError, match=f"{next(iter(change))}"):
            model.load_state_dict(ag.load(file))
    assert all(np.array_equal(v.numpy(), before[k]) for k, v in model.state_dict().items())


# --- what a file makes of few bytes ------------------------------------------------------------------------------------

MEMO = {name: bytes([113, number]) for number, name in enumerate("abcdefgh")}          # BINPUT
GET = {name: bytes([104, number]) for number, name in enumerate("abcdefgh")}           # BINGET


def named(module, name):
    return b"c" + f"{module}\n{name}\n".encode()


def text(value):
    return b"X" + len(value).to_bytes(4, "little") + value.encode()


def integer(value):
    data = value.to_bytes(value.bit_length() // 8 + 1, "little", signed=True)
    return b"\x8b" + len(data).to_bytes(4, "little") + data                            # LONG4


def numbers(*values):
    return b"(" + b"".join(integer(v) for v in values) + b"t"


NEGATED = b"}" + text("neg") + b"\x88s"
STORAGE = b"(" + text("storage") + named("torch", "ComplexFloatStorage") + text("0") + text("cpu") + integer(128) + b"tQ"


def rebuilt(size, stride, marks=NEGATED, offset=0):
    return b"(" + STORAGE + integer(offset) + size + stride + b"\x89" + named("collections", "OrderedDict") + b")R" + marks + b"t"


def doubled(depth, start=b"K\x01"):
    """A tuple of a tuple twice, and so on."""
    return start + b"q\x20h\x20\x86" * depth


TENSOR = named("torch._utils", "_rebuild_tensor_v2")
LIST = b"]" + b"(" + b"K\x01" * 5000 + b"e"
GREEDY = {
    "a tensor negated again and again": b"(" + TENSOR + MEMO["a"] + rebuilt(numbers(128), numbers(1)) + MEMO["b"] + b"00" + (GET["a"] + GET["b"] + b"R") * 3000 + b"l.",
    "a negated tensor of no steps": TENSOR + rebuilt(numbers(2**33), numbers(0)) + b"R.",
    "a conjugate of no steps": TENSOR + rebuilt(numbers(2**20, 2**13), numbers(0, 0), b"}" + text("conj") + b"\x88s") + b"R.",
    "a shape of many large numbers": TENSOR + rebuilt(numbers(*[2**30000] * 60), numbers(*[1] * 60)) + b"R.",
    "a shape of many dimensions": TENSOR + rebuilt(numbers(*[1] * 5000), numbers(*[1] * 5000)) + b"R.",
    "a text encoded again and again": b"(" + named("_codecs", "encode") + MEMO["a"] + text("x" * 10000) + text("latin1") + b"\x86" + MEMO["b"] + b"00" + (
        GET["a"] + GET["b"] + b"R") * 3000 + b"l.",
    "sets of one list": b"(" + named("builtins", "frozenset") + MEMO["a"] + LIST + b"\x85" + MEMO["b"] + b"00" + (GET["a"] + GET["b"] + b"R") * 3000 + b"l.",
    "dicts of one list": b"(" + named("collections", "OrderedDict") + MEMO["a"] + b"](" + (text("k") + b"K\x01\x86") * 3000 + b"e\x85" + MEMO["b"] + b"00" + (
        GET["a"] + GET["b"] + b"R") * 3000 + b"l.",
    "one state of many tensors": b"(" + named("torch._utils", "_rebuild_parameter_with_state") + MEMO["a"] + b"(" + TENSOR + rebuilt(numbers(128), numbers(1), b"N") + b"R\x88N}("
        + b"".join(text(f"a{i}") + b"N" for i in range(1000)) + b"ut" + MEMO["b"] + b"00" + (GET["a"] + GET["b"] + b"R") * 3000 + b"l.",
    "a key of doubled tuples": b"}" + doubled(22) + b"K\x01s.", "a dict of a key of doubled tuples": b"(" + doubled(22) + b"K\x01d.",
    "a set of doubled tuples": b"\x8f(" + doubled(22) + b"\x90.", "a frozenset of doubled tuples": b"(" + doubled(22) + b"\x91.",
    "a set made of doubled tuples": named("builtins", "set") + b"](" + doubled(22) + b"e\x85R.",
    "a key of deep tuples": b"}" + b"K\x01" + b"\x85" * 100000 + b"K\x01s.",
    "a storage of doubled tuples": doubled(20) + b"Q.", "a storage of doubled lists": b"K\x01" + b"q\x20]h\x20ah\x20a" * 20 + b"Q.",
    "a doubled shape": TENSOR + rebuilt(doubled(20), numbers(1)) + b"R.", "a doubled mark": TENSOR + rebuilt(numbers(1), numbers(1), b"}" + text("x") + doubled(20) + b"s") + b"R."}


def zipped(pickled):
    """PyTorch's zip format without checksums."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, data in {"data.pkl": b"\x80\x02" + pickled, "byteorder": b"little", "data/0": bytes(1024), "version": b"3"}.items():
            archive.writestr(f"archive/{name}", data)
    data = bytearray(buffer.getvalue())
    for start, field in ((b"PK\x03\x04", 14), (b"PK\x01\x02", 16)):
        at = data.find(start)
        while at >= 0:
            data[at + field:at + field + 4] = bytes(4)
            at = data.find(start, at + 1)
    return bytes(data)


def measured(data):
    """(the outcome, the most bytes that were held at a time)."""
    tracemalloc.start()
    try:
        return outcome(data), tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", GREEDY)
def test_time_and_memory_are_bounded_by_the_files_size(name, monkeypatch):
    """Small files that ask for much. Work is counted in steps, memory in bytes."""
    data, spent = zipped(GREEDY[name]), []
    spend = unpickle.Machine.spend
    monkeypatch.setattr(unpickle.Machine, "spend", lambda self, work: (spent.append(work), spend(self, work)))
    monkeypatch.setitem(globals(), "told", lambda value: None)           # it may have 2**33 numbers
    found, most = measured(data)
    assert most < 100 * len(data) + 2**20 and sum(spent) < 10 * len(data) + 20000
    assert found == "error" or "no steps" in name or name == "a tensor negated again and again"     # one copy for all


def test_a_negated_view_of_no_steps_is_one():
    value = ag.load(io.BytesIO(zipped(GREEDY["a negated tensor of no steps"])))
    assert value.shape == (2**33,) and value.stride() == (0,) and value[5].item() == 0


@needs_torch
def test_conjugates_and_negatives_share_memory_where_they_lie_alike():
    x = torch.arange(6.0).reshape(2, 3) * (1 + 2j)
    buffer = io.BytesIO()
    torch.save([x.conj(), x.conj()[1], x.conj().T, x, x.conj()], buffer)
    buffer.seek(0)
    found = ag.load(buffer)
    for mine, theirs in zip(found, [x.conj(), x.conj()[1], x.conj().T, x, x.conj()]):
        np.testing.assert_array_equal(mine.numpy(), theirs.resolve_conj().resolve_neg().numpy())
    assert np.shares_memory(found[0].numpy(), found[4].numpy())


def test_legacy_lists_of_storages_hold_texts():
    head = b"\x80\x02\x8a\x0al\xfc\x9cF\xf9 j\xa8P\x19." + b"\x80\x02M\xe9\x03." + b"\x80\x02}."
    found, most = measured(head + b"\x80\x02K\x01." + b"\x80\x02](" + doubled(22) + b"e.")
    assert found == "error" and most < 2**20


@pytest.mark.parametrize("header", [
    lambda: "{" + ", ".join(f'"{i}": 1' for i in range(20000)) + ', "19999": 1}',
    lambda: json.dumps({"w": {"dtype": "F32", "shape": [10**4000] * 500, "data_offsets": [0, 0]}}),
    lambda: json.dumps({"w": {"dtype": "F32", "shape": [1] * 10000, "data_offsets": [0, 4]}})])
def test_headers_are_read_in_linear_time(header, monkeypatch):
    """By what is not done: no product of the numbers of a shape that no array has, no counting of each name."""
    monkeypatch.setattr(safetensors.math, "prod", lambda shape: pytest.fail("multiplied"))
    found, most = measured(built({}, text=header().encode()))
    assert found == "error" and most < 2**25


def test_large_tensors_are_compared_beside_each_other(tmp_path):
    """Each of several above 1 MiB, whose checksums threads compare while the next one is read."""
    path, given = tmp_path / "large.safetensors", {f"w{i}": ag.arange(300_000 + i, dtype=ag.float32) for i in range(4)}
    given["view"] = given["w1"][10:20]
    ag.save(given, path)
    for name, value in ag.load(path).items():
        assert value.tolist() == given[name].tolist()
    for place in (0.2, 0.5, 0.9):
        data = bytearray(path.read_bytes())
        data[int(place * len(data))] ^= 1
        damaged = tmp_path / "damaged.safetensors"
        damaged.write_bytes(data)
        with pytest.raises(RuntimeError, match="damaged.safetensors: the 12000.. bytes at .* do not match their checksum"):
            ag.load(damaged)
