"""SummaryWriter: what TensorBoard's own reader finds in its files, written by either package."""

import importlib
import io
import signal
import sys
import wave
from pathlib import Path

import numpy as np
import pytest

import autograd as ag
from autograd import nn

BACKENDS = ("tensorboard", "tensorboardX")


def test_without_either_package(monkeypatch):
    for name in [n for n in sys.modules if n.startswith(("autograd.utils.tensorboard", *BACKENDS))]:
        monkeypatch.delitem(sys.modules, name)
    for name in BACKENDS:
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(ImportError, match="neither is installed: pip install tensorboard"):
        importlib.import_module("autograd.utils.tensorboard")


@pytest.fixture(params=BACKENDS)
def writer(request, tmp_path, monkeypatch):
    """A writer by one of the packages."""
    pytest.importorskip(request.param)
    from autograd.observe.tensorboard import messages
    from autograd.utils.tensorboard import SummaryWriter

    monkeypatch.setattr(messages, "protocol", messages.Protocol(request.param))
    with SummaryWriter(tmp_path / "run") as made:
        yield made


def read(writer, folder=""):
    """What TensorBoard reads."""
    reader = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")
    found = reader.EventAccumulator(f"{writer.get_logdir()}/{folder}", size_guidance={reader.TENSORS: 0})
    return found.Reload()


def metadata(reader, tag):
    return reader.SummaryMetadata(tag).plugin_data


def test_scalars(writer):
    x = ag.tensor([[2.0]], requires_grad=True)
    writer.add_scalar("loss", x, 1, walltime=5.0)
    writer.add_scalar("loss", np.float64(0.25), ag.tensor(2))
    writer.add_scalar("half", ag.tensor(1.5, dtype=ag.float16))
    writer.add_scalar("exact", 0.1, new_style=True, double_precision=True)
    reader = read(writer)
    assert [(e.step, e.value) for e in reader.Scalars("loss")] == [(1, 2.0), (2, 0.25)]
    assert reader.Scalars("loss")[0].wall_time == 5.0 and reader.Scalars("half")[0].value == 1.5
    assert metadata(reader, "exact").plugin_name == "scalars"
    assert reader.Tensors("exact")[0].tensor_proto.double_val == [0.1]
    writer.add_scalars("both", {"a": 1, "b": x}, 3)
    assert [read(writer, f"both_{tag}").Scalars("both")[0].value for tag in "ab"] == [1.0, 2.0]
    with pytest.raises(ValueError, match=r"expected one number, but got a tensor of shape \[2\]"):
        writer.add_scalar("loss", ag.ones(2))
    with pytest.raises(TypeError, match="expected a tensor"):
        writer.add_scalar("loss", "high")


def test_histograms(writer):
    values = ag.tensor([-1.0, 0.5, 0.5, 2.0])
    writer.add_histogram("plain", values, 1, bins=[-2, 0, 1, 3, 9])
    writer.add_histogram("tensorflow", values)
    writer.add_histogram("few", ag.arange(100).float(), bins=10, max_bins=5)
    writer.add_histogram_raw("raw", 0, 2, 3, 4.0, 5.0, [1, 2], ag.tensor([1, 2]))
    reader = read(writer)
    plain = reader.Histograms("plain")[0].histogram_value
    assert plain.bucket_limit == [-2, 0, 1, 3] and plain.bucket == [0, 1, 2, 1]
    assert (plain.min, plain.max, plain.num, plain.sum, plain.sum_squares) == (-1, 2, 4, 2, 5.5)
    whole = reader.Histograms("tensorflow")[0].histogram_value
    assert sum(whole.bucket) == 4 and whole.bucket[0] == 0 and whole.bucket_limit[-1] > 2 > whole.bucket_limit[-2]
    few = reader.Histograms("few")[0].histogram_value
    assert few.bucket == [0] + [20] * 5 and few.bucket_limit[1] == pytest.approx(19.8)
    assert reader.Histograms("raw")[0].histogram_value.bucket_limit == [1, 2]
    for wrong, words in ((ag.ones(0), "no values"), (ag.tensor([1.0, float("nan")]), "1 of 2 values are not finite")):
        with pytest.raises(ValueError, match=words):
            writer.add_histogram("wrong", wrong)
    with pytest.raises(ValueError, match="outside of the bins from 0 to 1"):
        writer.add_histogram("wrong", ag.tensor([5.0]), bins=[0, 1])


def test_tensorflow_bins_are_pytorchs(writer):
    """Values near every power of ten fall into PyTorch's bins."""
    theirs = pytest.importorskip("torch.utils.tensorboard.summary")
    values = np.concatenate([10.0 ** np.arange(-13, 20), -(10.0 ** np.arange(-13, 20)), [0.0]]) * 1.03
    writer.add_histogram("x", values)
    ours, expected = read(writer).Histograms("x")[0].histogram_value, theirs.make_histogram(values, torch_bins())
    assert list(expected.bucket) == ours.bucket and list(expected.bucket_limit) == ours.bucket_limit


def torch_bins():
    """The loop in torch.utils.tensorboard.SummaryWriter.__init__: v *= 1.1 from 1e-12 while v < 1e20."""
    v, positive = 1e-12, []
    while v < 1e20:
        positive.append(v)
        v *= 1.1
    return [-x for x in positive[::-1]] + [0] + positive


def pixels(event):
    image = pytest.importorskip("PIL.Image")
    return np.asarray(image.open(io.BytesIO(event.encoded_image_string)))


def test_images_and_figures(writer):
    pytest.importorskip("PIL")
    colours = ag.tensor(np.arange(3 * 2 * 4).reshape(3, 2, 4), dtype=ag.uint8)
    writer.add_image("chw", colours, 1)
    writer.add_image("hwc", colours.permute(1, 2, 0), dataformats="HWC")
    writer.add_image("grey", ag.full((2, 4), 0.5), dataformats="HW")
    writer.add_images("batch", ag.stack([ag.zeros(1, 2, 4), ag.ones(1, 2, 4)]))
    writer.add_images("list", [ag.zeros(3, 2, 4), ag.ones(3, 2, 4)], dataformats="CHW")
    reader = read(writer)
    expected = colours.numpy().transpose(1, 2, 0)
    assert all(np.array_equal(pixels(reader.Images(tag)[0]), expected) for tag in ("chw", "hwc"))
    assert (pixels(reader.Images("grey")[0]) == 127).all()
    for tag in ("batch", "list"):
        event = reader.Images(tag)[0]
        assert (event.height, event.width) == (2, 8) and (pixels(event)[:, 4:] == 255).all() and not pixels(event)[:, :4].any()
    for shape, formats, words in (((2, 2), "CHW", "for 3 dimensions"), ((2, 4, 4), "CHW", "has 2"), ((3, 4, 4), "CHH", "order of")):
        with pytest.raises(ValueError, match=words):
            writer.add_image("wrong", ag.ones(*shape), dataformats=formats)
    pyplot = pytest.importorskip("matplotlib.pyplot")
    for i, figures in enumerate((pyplot.figure(figsize=(2, 1), dpi=50), [pyplot.figure(figsize=(2, 1), dpi=50) for _ in range(2)])):
        writer.add_figure("plot", figures, i)
    assert [(e.height, e.width) for e in read(writer).Images("plot")] == [(50, 100), (50, 200)]
    assert not pyplot.get_fignums()
    with pytest.raises(TypeError, match="a figure of matplotlib"):
        writer.add_figure("plot", None)


def test_text_sound_and_tensors(writer):
    writer.add_text("note", "**bold** ü", 2)
    writer.add_audio("tone", ag.tensor([[0.0, 1.0, -2.0]]), sample_rate=8000)
    for dtype in (ag.float32, ag.float64, ag.int64, ag.uint8, ag.bool):
        writer.add_tensor(str(dtype), ag.tensor([[0, 1], [1, 1]]).to(dtype))
    reader = read(writer)
    assert reader.Tensors("note/text_summary")[0].tensor_proto.string_val == ["**bold** ü".encode()]
    assert metadata(reader, "note/text_summary").plugin_name == "text"
    sound = reader.Audio("tone")[0]
    with wave.open(io.BytesIO(sound.encoded_audio_string)) as file:
        assert np.frombuffer(file.readframes(3), "<i2").tolist() == [0, 32767, -32767] and file.getframerate() == 8000
    from tensorboard.util import tensor_util

    for dtype in (ag.float32, ag.float64, ag.int64, ag.uint8, ag.bool):
        assert tensor_util.make_ndarray(reader.Tensors(str(dtype))[0].tensor_proto).tolist() == [[0, 1], [1, 1]]
    with pytest.raises(TypeError, match="can't be written"):
        writer.add_tensor("z", ag.ones(2, dtype=ag.complex64))
    with pytest.raises(ValueError, match="expected one channel"):
        writer.add_audio("wrong", ag.ones(2, 2))


def test_precision_and_recall(writer):
    labels, predictions = ag.tensor([1, 0, 1, 1, 0, 1]), ag.tensor([0.9, 0.8, 0.3, 0.6, 0.1, 1.0])
    writer.add_pr_curve("curve", labels, predictions, 4, num_thresholds=11)
    reader = read(writer)
    from tensorboard.util import tensor_util

    assert metadata(reader, "curve").plugin_name == "pr_curves"
    rows = tensor_util.make_ndarray(reader.Tensors("curve")[0].tensor_proto)
    for place, threshold in enumerate(np.arange(11) / 10):
        chosen = np.floor(predictions.numpy() * 10) >= place
        tp, fp = (chosen & (labels.numpy() == 1)).sum(), (chosen & (labels.numpy() == 0)).sum()
        assert rows[:4, place].tolist() == [tp, fp, 2 - fp, 4 - tp], threshold
        assert rows[4:, place] == pytest.approx([tp / max(tp + fp, 1), tp / 4])
    writer.add_pr_curve_raw("raw", *rows, num_thresholds=11)
    assert np.array_equal(tensor_util.make_ndarray(read(writer).Tensors("raw")[0].tensor_proto), rows)
    for p, words in ((ag.ones(5), "6 labels for 5"), (ag.full((6,), 1.5), r"must lie in \[0, 1\]")):
        with pytest.raises(ValueError, match=words):
            writer.add_pr_curve("wrong", labels, p)


def test_hyperparameters(writer):
    writer.add_hparams({"lr": 0.1, "nesterov": True, "name": "sgd", "none": None, "decay": ag.tensor(0.5)},
                       {"accuracy": ag.tensor(0.75)}, {"name": ["sgd", "adam"]}, run_name="trial", global_step=7)
    reader = read(writer, "trial")
    assert [(e.step, e.value) for e in reader.Scalars("accuracy")] == [(7, 0.75)]
    from tensorboard.plugins.hparams import metadata as parse

    start = parse.parse_session_start_info_plugin_data(metadata(reader, "_hparams_/session_start_info").content).hparams
    assert (start["lr"].number_value, start["nesterov"].bool_value, start["name"].string_value) == (0.1, True, "sgd")
    assert start["decay"].number_value == 0.5 and "none" not in start
    experiment = parse.parse_experiment_plugin_data(metadata(reader, "_hparams_/experiment").content)
    assert [m.name.tag for m in experiment.metric_infos] == ["accuracy"]
    assert [list(i.domain_discrete) for i in experiment.hparam_infos if i.name == "name"] == [["sgd", "adam"]]
    assert parse.parse_session_end_info_plugin_data(metadata(reader, "_hparams_/session_end_info").content).status == 1
    for settings, domains, words in (({"a": [1]}, None, "'a' is list"), ({"a": 1}, {"b": [1]}, "has \\['b'\\]"),
                                     ({"a": 1}, {"a": ["x"]}, "is no int"), ([], None, "must be a dictionary")):
        with pytest.raises(TypeError, match=words):
            writer.add_hparams(settings, {}, domains)


def test_embeddings(writer, tmp_path):
    pytest.importorskip("PIL")
    pytest.importorskip("tensorboard")
    writer.add_embedding(ag.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]), ["a", "b", "c"], ag.ones(3, 3, 2, 4), 7, "x/y")
    writer.add_embedding(ag.ones(1, 2), [[1, "one"]], metadata_header=["number", "word"])
    run = tmp_path / "run"
    from google.protobuf import text_format
    from tensorboard.plugins.projector.projector_config_pb2 import ProjectorConfig

    config = text_format.Parse((run / "projector_config.pbtxt").read_text(), ProjectorConfig()).embeddings
    assert [e.tensor_name for e in config] == ["x/y:00007", "default:00000"]
    assert (run / config[0].tensor_path).read_text() == "1.0\t2.0\n3.0\t4.0\n5.0\t6.0\n"
    assert (run / config[0].metadata_path).read_text() == "a\nb\nc\n"
    assert (run / config[1].metadata_path).read_text() == "number\tword\n1\tone\n"
    assert list(config[0].sprite.single_image_dim) == [4, 2]
    from PIL import Image

    sprite = np.asarray(Image.open(run / config[0].sprite.image_path))
    assert sprite.shape == (4, 8, 3) and sprite[:2].all() and not sprite[2:, 4:].any()
    for settings, words in (({"mat": ag.ones(2)}, "must be a matrix"), ({"metadata": ["a"]}, "1 metadata for 2"),
                            ({"metadata": [[1], [2, 3]], "metadata_header": ["n"]}, "has 1 columns")):
        with pytest.raises(ValueError, match=words):
            writer.add_embedding(**{"mat": ag.ones(2, 2), **settings})


class Branches(nn.Module):
    """Two layers in a container, one that is used twice, and an output of several tensors."""

    def __init__(self):
        super().__init__()
        self.inner = nn.Sequential(nn.Linear(3, 4), nn.ReLU())
        self.head = nn.Linear(4, 2)

    def forward(self, x, number):
        y = self.inner(x)
        return {"out": self.head(y) + self.head(y * number), "parts": y.split(2, 1)}


def test_graphs(writer, capsys):
    writer.add_graph(Branches(), [ag.ones(5, 3), ag.tensor(2)], verbose=True)
    assert "Branches/inner/0" in capsys.readouterr().out
    nodes = {node.name: node for node in read(writer).Graph().node}
    assert {"input/0", "Branches/inner/0/weight", "Branches/head/bias", "Branches/inner/1/Relu", "Branches/Mul", "Branches/Add",
            "output/0", "output/2"} <= nodes.keys()
    assert {"Branches/head/Addmm", "Branches/head/Addmm_1"} <= nodes.keys()
    assert set(nodes["Branches/inner/0/Addmm"].input) >= {"input/0", "Branches/inner/0/bias"}
    assert nodes["output/2"].input[0].endswith(":1") and nodes["output/0"].input == ["Branches/Add"]
    assert all(source.split(":")[0] in nodes for node in nodes.values() for source in node.input)
    shape = nodes["Branches/inner/0/weight"].attr["_output_shapes"].list.shape[0]
    assert [dim.size for dim in shape.dim] == [4, 3] and nodes["input/0"].op == "Input"


def test_videos_meshes_boxes_and_charts(writer):
    image = pytest.importorskip("PIL.Image")
    video = np.zeros((2, 5, 3, 8, 6), np.uint8)
    video[1, 3] = 255
    writer.add_video("video", video, 1, fps=10)
    writer.add_image_with_boxes("boxes", ag.zeros(3, 10, 12), ag.tensor([[1.0, 2.0, 5.0, 6.0]]), 1, rescale=2, labels=["a"])
    writer.add_mesh("mesh", ag.rand(2, 4, 3), colors=np.full((2, 4, 3), 255, np.uint8), faces=[[[0, 1, 2]], [[1, 2, 3]]],
                    config_dict={"camera": {"fov": 50}}, global_step=2)
    writer.add_custom_scalars({"losses": {"both": ["Multiline", ["train", "test"]], "band": ["Margin", ["mean", "low", "high"]]}})
    reader = read(writer)
    shown = image.open(io.BytesIO(reader.Images("video")[0].encoded_image_string))
    assert shown.format == "GIF" and shown.n_frames >= 3 and shown.size == (12, 8)
    shown.seek(1)
    pixels = np.asarray(shown.convert("RGB"))
    assert pixels[:, 6:].min() == 255 and pixels[:, :6].max() == 0
    pixels = np.asarray(image.open(io.BytesIO(reader.Images("boxes")[0].encoded_image_string)))
    assert pixels.shape == (20, 24, 3) and (pixels[4, 2:11] == [255, 0, 0]).all() and (pixels[15:] == 0).all()
    data = pytest.importorskip("tensorboard.plugins.mesh.metadata")
    for part, values in (("VERTEX", 24), ("FACE", 6), ("COLOR", 24)):
        content = data.parse_plugin_metadata(metadata(reader, f"mesh_{part}").content)
        tensor = reader.Tensors(f"mesh_{part}")[0].tensor_proto
        assert content.name == "mesh" and content.components in (14, 0) and content.shape[0] == 2      # 0: by tensorboardX
        assert len(tensor.float_val or tensor.int64_val) == values
    layouts = pytest.importorskip("tensorboard.plugins.custom_scalar.layout_pb2")
    layout = layouts.Layout.FromString(reader.Tensors("custom_scalars__config__")[0].tensor_proto.string_val[0])
    both, band = layout.category[0].chart
    assert list(both.multiline.tag) == ["train", "test"] and band.margin.series[0].upper == "high"


def test_one_rank_writes(writer, tmp_path, monkeypatch):
    make = type(writer)
    monkeypatch.setenv("OMPI_COMM_WORLD_RANK", "1")
    silent = make(tmp_path / "silent")
    silent.add_scalar("loss", 1.0)
    silent.add_hparams({}, {})
    silent.add_embedding(ag.ones(2, 2))
    silent.flush()
    silent.close()
    assert not (tmp_path / "silent").exists()
    with make(tmp_path / "all", all_ranks=True) as each:
        each.add_scalar("loss", 1.0)
        assert each.get_logdir() == str(tmp_path / "all" / "rank_1")
        assert read(each).Scalars("loss")[0].value == 1.0


def test_files_begin_again(writer, tmp_path, monkeypatch):
    reader = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")
    make = type(writer)
    monkeypatch.chdir(tmp_path)
    with make(comment="_x") as named:
        assert named.get_logdir().startswith("runs/") and named.get_logdir().endswith("_x")
    for step in range(4):
        writer.add_scalar("loss", step, step)
    writer.close()
    with make(writer.get_logdir(), purge_step=2, filename_suffix=".again") as again:
        again.add_scalar("loss", 7.0, 2)
    found = reader.EventAccumulator(writer.get_logdir()).Reload()
    assert [(e.step, e.value) for e in found.Scalars("loss")] == [(0, 0), (1, 1), (2, 7)]


def test_what_is_refused(writer):
    with pytest.raises(NotImplementedError, match="add_onnx_graph"):
        writer.add_onnx_graph(None)
    image, boxes = np.zeros((3, 8, 8)), np.zeros((2, 4))
    for name, error, args in (
            ("add_graph", "input_to_model is a tensor", (nn.Linear(2, 2),)),
            ("add_graph", "has no graph", (nn.Identity(), ag.tensor([1]))),
            ("add_video", r"not \[3, 8, 8\]", ("video", image)),
            ("add_mesh", "VERTEX has the shape", ("mesh", boxes)),
            ("add_image_with_boxes", "rows of 4 numbers", ("boxes", image, boxes[0])),
            ("add_image_with_boxes", "1 labels for 2 boxes", ("boxes", image, boxes, 0, None, 1, "CHW", ["a"])),
            ("add_image", r"has the shape \[3, 0, 8\]", ("image", image[:, :0])),
            ("add_text", "a text, not int", ("text", 3)),
            ("add_scalar", r"tag=5\): a text is needed", (5, 1.0)),
            ("add_scalar", "tag=None", (None, 1.0)),
            ("add_scalar", "global_step='x'", ("loss", 1.0, "x")),
            ("add_scalars", "a dict of numbers", ("loss", [1.0])),
            ("add_histogram", "max_bins=0", ("histogram", boxes, 0, 10, None, 0)),
            ("add_pr_curve", "num_thresholds=0", ("curve", [0, 1], [0.0, 1.0], 0, 0)),
            ("add_custom_scalars", "'Margin'", ({"a": {"b": ["Margin", ["x"]]}},))):
        with pytest.raises((TypeError, ValueError), match=error):
            getattr(writer, name)(*args)
    for wrong in ({"purge_step": "a"}, {"max_queue": None}, {"flush_secs": "a"}, {"filename_suffix": 3}):
        with pytest.raises(TypeError, match=next(iter(wrong))):
            type(writer)(writer.get_logdir(), **wrong)


def test_a_full_disk_tears_no_record(writer):
    resource = pytest.importorskip("resource")       # a limit on files' sizes is met as a full disk is
    writer.add_scalar("loss", 1.0, 1)
    size = len(b"".join(path.read_bytes() for path in Path(writer.get_logdir()).iterdir()))
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    before = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size + 10, hard))
    try:
        with pytest.raises(OSError, match="events.out"):
            writer.add_scalar("loss", 2.0, 2)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        signal.signal(signal.SIGXFSZ, before)
    writer.add_scalar("loss", 3.0, 3)
    assert [e.step for e in read(writer).Scalars("loss")] == [1, 3]
