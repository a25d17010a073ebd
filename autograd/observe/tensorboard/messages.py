"""The messages in TensorBoard's files, made of arrays: protocol buffers of tensorboard or tensorboardX, which are the same.

What each message holds is defined by the plugin of TensorBoard that shows it: tensorboard/plugins/*/summary.py, metadata.py.
"""

from __future__ import annotations

import io
import json
import wave
from collections.abc import Mapping
from importlib import import_module
from typing import Any

import numpy as np

from ...core.tensor import Tensor

# what is installed, and its modules: checksums of records, and protocol buffers of events and of the plugins' data
BACKENDS = {
    "tensorboard": ("tensorboard.compat.tensorflow_stub.pywrap_tensorflow", "tensorboard.compat.proto.",
                    "tensorboard.plugins.hparams.api_pb2", "tensorboard.plugins.{0}.plugin_data_pb2",
                    "tensorboard.plugins.custom_scalar.layout_pb2"),
    "tensorboardX": ("tensorboardX.record_writer", "tensorboardX.proto.", "tensorboardX.proto.api_pb2",
                     "tensorboardX.proto.plugin_{0}_pb2", "tensorboardX.proto.layout_pb2"),
}


class Protocol:
    """The classes of messages of one of the packages, and its checksum of records."""

    def __init__(self, backend: str) -> None:
        records, proto, hparams, plugin, layout = BACKENDS[backend]
        self.checksum: Any = import_module(records).masked_crc32c
        self.event: Any = import_module(f"{proto}event_pb2")
        self.summary: Any = import_module(f"{proto}summary_pb2")
        self.tensor: Any = import_module(f"{proto}tensor_pb2")
        self.shape: Any = import_module(f"{proto}tensor_shape_pb2")
        self.graph: Any = import_module(f"{proto}graph_pb2")
        self.nodes: Any = import_module(f"{proto}node_def_pb2")
        self.attributes: Any = import_module(f"{proto}attr_value_pb2")
        self.versions: Any = import_module(f"{proto}versions_pb2")
        self.hparams_api: Any = import_module(hparams)
        self.hparams, self.curve, self.text, self.mesh = (
            import_module(plugin.format(name)) for name in ("hparams", "pr_curve", "text", "mesh"))
        self.layout: Any = import_module(layout)


def installed() -> Protocol:
    """The installed package. ImportError if there is none."""
    for backend in BACKENDS:
        try:
            return Protocol(backend)
        except ModuleNotFoundError as error:
            if (error.name or "").partition(".")[0] != backend:
                raise
    raise ImportError("autograd.utils.tensorboard writes files with one of the packages tensorboard and tensorboardX, and "
                      "neither is installed: pip install tensorboard")


protocol: Protocol = installed()


def array_of(value: Any) -> Any:
    """A tensor, a number or a list as an array. TypeError if it holds no numbers."""
    if isinstance(value, Tensor):
        array = (value.float() if value.dtype.kind == "V" else value).detach().numpy()
    else:
        array = np.asarray(value)
    if array.dtype.kind not in "fiubc":
        raise TypeError(f"expected a tensor, an array or a number, but got {type(value).__name__}: {value!r}")
    return array


def number_of(value: Any) -> float:
    """The one element of a tensor, or a number."""
    array = array_of(value).squeeze()
    if array.ndim:
        raise ValueError(f"expected one number, but got a tensor of shape {list(array.shape)}")
    return float(array)


def of_plugin(tag: str, plugin: str, content: bytes = b"", tensor: Any = None) -> Any:
    """A summary that a plugin shows."""
    summary = protocol.summary
    data = summary.SummaryMetadata.PluginData(plugin_name=plugin, content=content)
    metadata = summary.SummaryMetadata(plugin_data=data)
    return summary.Summary(value=[summary.Summary.Value(tag=tag, metadata=metadata, tensor=tensor)])


def tensor_message(array: Any) -> Any:
    """An array with its shape."""
    kinds = {"f": ("DT_FLOAT", "float_val", np.float32), "i": ("DT_INT64", "int64_val", np.int64),
             "u": ("DT_INT64", "int64_val", np.int64), "b": ("DT_BOOL", "bool_val", np.bool_)}
    if array.dtype.kind not in kinds:
        raise TypeError(f"a tensor of {array.dtype} can't be written: view it as real numbers first")
    dtype, field, kind = ("DT_DOUBLE", "double_val", np.float64) if array.dtype == np.float64 else kinds[array.dtype.kind]
    dims = [protocol.shape.TensorShapeProto.Dim(size=n) for n in array.shape]
    return protocol.tensor.TensorProto(dtype=dtype, tensor_shape=protocol.shape.TensorShapeProto(dim=dims),
                                       **{field: array.astype(kind).reshape(-1).tolist()})


def scalar(tag: str, value: Any, new_style: bool, double_precision: bool) -> Any:
    """A number, as a field of its own or (new_style) as a tensor."""
    number = number_of(value)
    if new_style:
        made = tensor_message(np.asarray(number, np.float64 if double_precision else np.float32))
        return of_plugin(tag, "scalars", tensor=made)
    summary = protocol.summary.Summary
    return summary(value=[summary.Value(tag=tag, simple_value=number)])


# --- histograms and curves ----------------------------------------------------------------------------------------------

def exponential_bins() -> list[float]:
    """The limits that TensorFlow's histograms have: 1e-12 times powers of 1.1, below 1e20, on both sides of 0."""
    positive = [1e-12]
    while positive[-1] * 1.1 < 1e20:
        positive.append(positive[-1] * 1.1)
    return [-x for x in reversed(positive)] + [0.0] + positive


def histogram(tag: str, values: Any, bins: Any, max_bins: int | None) -> Any:
    """The number of values in each bin. One empty bin on the left has the first limit, because bins are identified by their
    right limits. max_bins: neighbours are merged until there are no more than this."""
    if max_bins is not None and max_bins < 1:
        raise ValueError(f"add_histogram({tag!r}, max_bins={max_bins}): at least 1")
    x = array_of(values).reshape(-1).astype(np.float64)
    if not x.size:
        raise ValueError(f"add_histogram({tag!r}): there are no values")
    if not np.isfinite(x).all():
        raise ValueError(f"add_histogram({tag!r}): {int((~np.isfinite(x)).sum())} of {x.size} values are not finite")
    counts, limits = np.histogram(x, bins=exponential_bins() if bins == "tensorflow" else bins)
    if max_bins is not None and len(counts) > max_bins:
        edges = np.unique(np.linspace(0, len(counts), max_bins + 1).astype(int))
        counts, limits = np.add.reduceat(counts, edges[:-1]), limits[edges]
    filled = np.flatnonzero(counts)
    if not filled.size:
        raise ValueError(f"add_histogram({tag!r}): all values lie outside of the bins from {limits[0]} to {limits[-1]}")
    first, last = filled[0], filled[-1]
    return histogram_message(tag, x.min(), x.max(), x.size, x.sum(), x @ x, limits[first:last + 2],
                             np.concatenate([[0], counts[first:last + 1]]))


def histogram_message(tag: str, minimum: Any, maximum: Any, count: Any, total: Any, squares: Any, limits: Any,
                      counts: Any) -> Any:
    """A message with a computed histogram."""
    summary = protocol.summary
    made = summary.HistogramProto(min=float(minimum), max=float(maximum), num=float(count), sum=float(total),
                                  sum_squares=float(squares), bucket_limit=array_of(limits).tolist(),
                                  bucket=array_of(counts).tolist())
    return summary.Summary(value=[summary.Summary.Value(tag=tag, histo=made)])


def precision_and_recall(labels: Any, predictions: Any, thresholds: int, weights: Any) -> Any:
    """True and false positives, true and false negatives, precision and recall for each threshold from 0 to 1."""
    truth, p = array_of(labels).reshape(-1).astype(np.float64), array_of(predictions).reshape(-1)
    if truth.shape != p.shape:
        raise ValueError(f"add_pr_curve: {truth.size} labels for {p.size} predictions")
    if thresholds < 1:
        raise ValueError(f"add_pr_curve(num_thresholds={thresholds}): at least 1")
    if p.size and not (p.min() >= 0 and p.max() <= 1):
        raise ValueError(f"add_pr_curve: predictions must lie in [0, 1], but are from {p.min()} to {p.max()}")
    w = np.ones_like(truth) if weights is None else np.broadcast_to(array_of(weights).reshape(-1), truth.shape)
    places = np.floor(p * (thresholds - 1)).astype(int)
    positive, negative = (np.bincount(places, of * w, thresholds) for of in (truth, 1 - truth))
    tp, fp = np.cumsum(positive[::-1])[::-1], np.cumsum(negative[::-1])[::-1]
    tn, fn = fp[0] - fp, tp[0] - tp
    return np.stack([tp, fp, tn, fn, tp / np.maximum(1e-7, tp + fp), tp / np.maximum(1e-7, tp + fn)])


def curve(tag: str, rows: Any, thresholds: int) -> Any:
    """The rows of precision_and_recall()."""
    content = protocol.curve.PrCurvePluginData(version=0, num_thresholds=thresholds).SerializeToString()
    return of_plugin(tag, "pr_curves", content, tensor_message(np.asarray(rows, np.float32)))


# --- pictures, sound, text ------------------------------------------------------------------------------------------------

def picture(array: Any, dataformats: str) -> Any:
    """An image, or a batch of them side by side, eight in a row, as (height, width, colours) of uint8."""
    order = dataformats.upper()
    if sorted(order) not in (sorted("HW"), sorted("CHW"), sorted("NCHW")):
        raise ValueError(f"dataformats must be an order of HW, CHW or NCHW, but is {dataformats!r}")
    if array.ndim != len(order):
        raise ValueError(f"dataformats={dataformats!r} is for {len(order)} dimensions, but the image has the shape "
                         f"{list(array.shape)}")
    x = array.transpose([order.index(c) for c in "NCHW" if c in order])
    x = x[None, None] if x.ndim == 2 else x[None] if x.ndim == 3 else x
    if x.shape[1] not in (1, 3, 4):
        raise ValueError(f"an image has 1, 3 or 4 colours, but this one has {x.shape[1]}: shape {list(array.shape)}, "
                         f"dataformats={dataformats!r}")
    if not x.size:
        raise ValueError(f"an image has pixels, but this one has the shape {list(array.shape)}")
    x = side_by_side(np.repeat(x, 3, 1) if x.shape[1] == 1 else x, 8)
    return x if x.dtype == np.uint8 else (x.astype(np.float32) * 255).clip(0, 255).astype(np.uint8)


def side_by_side(x: Any, columns: int) -> Any:
    """Images (n, c, h, w) in rows of `columns`: (rows h, columns w, c), black where there is none."""
    n, c, h, w = x.shape
    columns = min(n, columns)
    rows = -(-n // columns)
    grid = np.zeros((rows * columns, c, h, w), x.dtype)
    grid[:n] = x
    return grid.reshape(rows, columns, c, h, w).transpose(0, 3, 1, 4, 2).reshape(rows * h, columns * w, c)


def pillows_image() -> Any:
    """Pillow's module of images."""
    try:
        return import_module("PIL.Image")
    except ImportError as error:
        raise ImportError("images are written with Pillow, which is not installed: pip install pillow") from error


def png(pixels: Any) -> bytes:
    """(height, width, colours) as a PNG."""
    file = io.BytesIO()
    pillows_image().fromarray(pixels).save(file, "PNG")
    return file.getvalue()


def gif(frames: Any, fps: float) -> bytes:
    """(time, height, width, colours) as an animated GIF."""
    pillow = pillows_image()
    file = io.BytesIO()
    first, *rest = [pillow.fromarray(frame) for frame in frames]
    first.save(file, "GIF", save_all=True, append_images=rest, duration=1000 / fps, loop=0)
    return file.getvalue()


def with_boxes(pixels: Any, boxes: Any, rescale: float, labels: list[str] | None) -> Any:
    """(height, width, colours) with rectangles, rows (left, top, right, bottom) of boxes, and a label in each."""
    if boxes.ndim != 2 or boxes.shape[1] != 4:
        raise ValueError(f"add_image_with_boxes: boxes are rows of 4 numbers, but have the shape {list(boxes.shape)}")
    if labels is not None and len(labels) != len(boxes):
        raise ValueError(f"add_image_with_boxes: {len(labels)} labels for {len(boxes)} boxes")
    drawn = pillows_image().fromarray(pixels)
    drawn = drawn.resize((round(drawn.width * rescale), round(drawn.height * rescale)))
    draw = import_module("PIL.ImageDraw").Draw(drawn)
    for number, box in enumerate((boxes * rescale).tolist()):
        draw.rectangle(box, outline="red")
        if labels is not None:
            draw.text((box[0] + 2, box[1] + 1), labels[number], fill="red")
    return np.asarray(drawn)


def image(tag: str, pixels: Any, encoded: bytes | None = None) -> Any:
    """(height, width, colours) of uint8; or of this size, and `encoded`."""
    summary = protocol.summary.Summary
    made = summary.Image(height=pixels.shape[0], width=pixels.shape[1], colorspace=pixels.shape[2],
                         encoded_image_string=png(pixels) if encoded is None else encoded)
    return summary(value=[summary.Value(tag=tag, image=made)])


def figure_pixels(figure: Any) -> Any:
    """A figure of matplotlib as (height, width, 3)."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    if not hasattr(figure, "canvas"):                # matplotlib would create an empty one for None
        raise TypeError(f"add_figure(): a figure of matplotlib, or a list of them, not {type(figure).__name__}")
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    return np.asarray(canvas.buffer_rgba())[:, :, :3].copy()


def audio(tag: str, sound: Any, sample_rate: int) -> Any:
    """Samples in [-1, 1], clipped, as 16 bits in a wave file."""
    samples = array_of(sound).squeeze()
    if samples.ndim != 1:
        raise ValueError(f"add_audio: expected one channel, a vector, but got the shape {list(samples.shape)}")
    pcm = (samples.clip(-1, 1) * 32767).astype("<i2")
    file = io.BytesIO()
    with wave.open(file, "wb") as out:
        out.setnchannels(1)
        out.setsampwidth(2)
        out.setframerate(sample_rate)
        out.writeframes(pcm.tobytes())
    summary = protocol.summary.Summary
    made = summary.Audio(sample_rate=sample_rate, num_channels=1, length_frames=len(pcm),
                         encoded_audio_string=file.getvalue(), content_type="audio/wav")
    return summary(value=[summary.Value(tag=tag, audio=made)])


def text(tag: str, words: str) -> Any:
    """A text, shown as Markdown by TensorBoard."""
    if not isinstance(words, str):
        raise TypeError(f"add_text({tag!r}): a text, not {type(words).__name__}")
    shape = protocol.shape.TensorShapeProto(dim=[protocol.shape.TensorShapeProto.Dim(size=1)])
    made = protocol.tensor.TensorProto(dtype="DT_STRING", string_val=[words.encode()], tensor_shape=shape)
    return of_plugin(f"{tag}/text_summary", "text", protocol.text.TextPluginData(version=0).SerializeToString(), made)


def mesh(tag: str, parts: Mapping[str, Any], settings: Mapping[str, Any] | None) -> Any:
    """Points (batch, n, 3) as VERTEX, and if given their colours as COLOR and triangles between them as FACE."""
    data, summary = protocol.mesh.MeshPluginData, protocol.summary
    kinds = {name: data.ContentType.Value(name) for name in parts}
    values = []
    for name, array in parts.items():
        if array.ndim != 3 or array.shape[2] != 3:
            raise ValueError(f"add_mesh: {name} has the shape (batch, n, 3), not {list(array.shape)}")
        content = data(version=0, name=tag, content_type=kinds[name], shape=array.shape,
                       json_config=json.dumps(settings or {}))
        if "components" in data.DESCRIPTOR.fields_by_name:       # not in tensorboardX' older form
            content.components = sum(1 << kind for kind in kinds.values())
        metadata = summary.SummaryMetadata(plugin_data=summary.SummaryMetadata.PluginData(
            plugin_name="mesh", content=content.SerializeToString()))
        values.append(summary.Summary.Value(tag=f"{tag}_{name}", metadata=metadata, tensor=tensor_message(array)))
    return summary.Summary(value=values)


def custom_scalars(layout: Mapping[str, Mapping[str, Any]]) -> Any:
    """{category: {title: ["Multiline" or "Margin", tags]}}; a margin has the tags of its value, lower and upper bound."""
    proto, categories = protocol.layout, []
    for category, charts in layout.items():
        made = []
        for title, (kind, tags) in charts.items():
            if kind.lower() == "multiline":
                made.append(proto.Chart(title=title, multiline=proto.MultilineChartContent(tag=tags)))
            elif kind.lower() == "margin" and len(tags) == 3:
                series = proto.MarginChartContent.Series(value=tags[0], lower=tags[1], upper=tags[2])
                made.append(proto.Chart(title=title, margin=proto.MarginChartContent(series=[series])))
            else:
                raise ValueError(f"add_custom_scalars: {title!r} is ['Multiline', tags] or ['Margin', [value, lower, "
                                 f"upper]], not {[kind, tags]!r}")
        categories.append(proto.Category(title=category, chart=made))
    made_text = proto.Layout(category=categories).SerializeToString()
    tensor = protocol.tensor.TensorProto(dtype="DT_STRING", string_val=[made_text],
                                         tensor_shape=protocol.shape.TensorShapeProto())
    return of_plugin("custom_scalars__config__", "custom_scalars", tensor=tensor)


# --- hyperparameters ------------------------------------------------------------------------------------------------------

def hyperparameters(settings: Mapping[str, Any], metrics: Mapping[str, Any],
                    domains: Mapping[str, list[Any]] | None) -> list[Any]:
    """The settings of a run, the metrics by which it is compared, and its normal end."""
    api, data = protocol.hparams_api, protocol.hparams
    start, infos = data.SessionStartInfo(), []
    for name, given in settings.items():
        if given is None:
            continue
        value = number_of(given) if isinstance(given, (Tensor, np.ndarray, np.generic)) else given
        kind = ("bool" if isinstance(value, bool) else "number" if isinstance(value, (int, float))
                else "string" if isinstance(value, str) else None)
        if kind is None:
            raise TypeError(f"add_hparams: {name!r} is {type(value).__name__}, but must be a number, text, bool or tensor")
        setattr(start.hparams[name], f"{kind}_value", value)
        info = api.HParamInfo(name=name, type=f"DATA_TYPE_{'FLOAT64' if kind == 'number' else kind.upper()}")
        for other in (domains or {}).get(name, ()):
            if not isinstance(other, type(value)):
                raise TypeError(f"add_hparams: {other!r} in hparam_domain_discrete[{name!r}] is no {type(value).__name__}")
            setattr(info.domain_discrete.values.add(), f"{kind}_value", other)
        infos.append(info)
    if unknown := set(domains or {}) - set(settings):
        raise TypeError(f"add_hparams: hparam_domain_discrete has {sorted(unknown)}, which hparam_dict has not")
    judged = [api.MetricInfo(name=api.MetricName(tag=tag)) for tag in metrics]
    experiment = api.Experiment(hparam_infos=infos, metric_infos=judged)
    ended = data.SessionEndInfo(status=api.Status.Value("STATUS_SUCCESS"))
    return [of_plugin(f"_hparams_/{tag}", "hparams", data.HParamsPluginData(version=0, **{tag: made}).SerializeToString())
            for tag, made in (("experiment", experiment), ("session_start_info", start), ("session_end_info", ended))]
