"""SummaryWriter: values of a run in files for TensorBoard; PyTorch's methods and arguments."""

from __future__ import annotations

import functools
import inspect
import json
import math
import os
import socket
import time
from collections.abc import Callable, Mapping
from numbers import Integral, Real
from pathlib import Path
from typing import Any, NoReturn, TypeVar

import numpy as np

from ...base import docstrings as _docstrings
from ...base.environment import environment
from . import messages
from .files import EventFile
from .graph import graph_of
from .messages import array_of, number_of

F = TypeVar("F", bound=Callable[..., Any])


def writes(method: F) -> F:
    """Decorate a method that does nothing on ranks that do not write. If its first argument is a tag, that must be a
    string."""
    first = list(inspect.signature(method).parameters)[1:2]
    tagged = first[0] if first and first[0] in ("tag", "main_tag") else None

    @functools.wraps(method)
    def asked(self: SummaryWriter, *args: Any, **settings: Any) -> Any:
        if tagged is not None:
            tag = args[0] if args else settings.get(tagged, "")
            if not isinstance(tag, str):
                raise TypeError(f"{method.__name__}({tagged}={tag!r}): a text is needed, not {type(tag).__name__}")
        return method(self, *args, **settings) if self.enabled else None

    return asked  # type: ignore[return-value]


class SummaryWriter:
    """Write scalars, images and other data of a run to event files in log_dir, for `tensorboard --logdir runs`.

    After close() the next call starts a new file. In a job of several ranks only rank 0 writes."""

    def __init__(self, log_dir: str | os.PathLike[str] | None = None, comment: str = "", purge_step: int | None = None,
                 max_queue: int = 10, flush_secs: int = 120, filename_suffix: str = "", *, all_ranks: bool = False) -> None:
        if purge_step is not None and not isinstance(purge_step, Integral):
            raise TypeError(f"SummaryWriter(purge_step={purge_step!r}): a whole number or None is needed")
        for name, value in (("max_queue", max_queue), ("flush_secs", flush_secs)):
            if not isinstance(value, Real):
                raise TypeError(f"SummaryWriter({name}={value!r}): a number is needed")
        if not isinstance(filename_suffix, str):
            raise TypeError(f"SummaryWriter(filename_suffix={filename_suffix!r}): a text is needed")
        directory = os.fspath(log_dir) if log_dir else os.path.join(
            "runs", f"{time.strftime('%b%d_%H-%M-%S')}_{socket.gethostname()}{comment}")
        self.log_dir: str = os.path.join(directory, f"rank_{environment.rank}") if all_ranks else directory
        self.enabled: bool = all_ranks or environment.first_rank
        self.purge_step = purge_step
        self.max_queue: int = max_queue
        self.flush_secs: int = flush_secs
        self.filename_suffix = filename_suffix
        self._files: dict[str, EventFile] = {}             # by directory
        self._embeddings: list[str] = []             # entries of the projector's configuration
        if self.enabled:
            self._file(self.log_dir)

    def _file(self, directory: str) -> EventFile:
        """The file of a directory, created if there is none."""
        if directory not in self._files:
            file = self._files[directory] = EventFile(directory, self.filename_suffix, messages.protocol.checksum)
            event = messages.protocol.event
            file.add(event.Event(wall_time=time.time(), file_version="brain.Event:2"))
            if self.purge_step is not None and directory == self.log_dir:
                file.add(event.Event(wall_time=time.time(), step=self.purge_step,
                                     session_log=event.SessionLog(status=event.SessionLog.START)))
                self.purge_step = None
        return self._files[directory]

    def _add(self, summary: Any, step: Any, walltime: float | None, directory: str | None = None) -> None:
        """Write a summary."""
        event = messages.protocol.event.Event(summary=summary, wall_time=time.time() if walltime is None else walltime)
        if step is not None:
            try:
                event.step = int(step)
            except (TypeError, ValueError, OverflowError) as error:
                raise TypeError(f"global_step={step!r}: a whole number is needed, at most 2**63 - 1 in size") from error
        self._file(directory or self.log_dir).add(event)

    def get_logdir(self) -> str:
        """The directory of the files."""
        return self.log_dir

    # --- figures --------------------------------------------------------------------------------------------------------

    @writes
    def add_scalar(self, tag: str, scalar_value: Any, global_step: Any = None, walltime: float | None = None,
                   new_style: bool = False, double_precision: bool = False) -> None:
        """Write a scalar."""
        self._add(messages.scalar(tag, scalar_value, new_style, double_precision), global_step, walltime)

    @writes
    def add_scalars(self, main_tag: str, tag_scalar_dict: Mapping[str, Any], global_step: Any = None,
                    walltime: float | None = None) -> None:
        """Write scalars to one plot, each as a run in a directory of log_dir."""
        if not isinstance(tag_scalar_dict, Mapping):
            raise TypeError(f"add_scalars({main_tag!r}): a dict of numbers by their names is needed, not "
                            f"{type(tag_scalar_dict).__name__}")
        for tag, value in tag_scalar_dict.items():
            directory = os.path.join(self.log_dir, f"{main_tag.replace('/', '_')}_{tag}")
            self._add(messages.scalar(main_tag, value, False, False), global_step, walltime, directory)

    @writes
    def add_tensor(self, tag: str, tensor: Any, global_step: Any = None, walltime: float | None = None) -> None:
        """Write all elements of a tensor."""
        self._add(messages.of_plugin(tag, "tensor", tensor=messages.tensor_message(array_of(tensor))), global_step, walltime)

    @writes
    def add_histogram(self, tag: str, values: Any, global_step: Any = None, bins: Any = "tensorflow",
                      walltime: float | None = None, max_bins: int | None = None) -> None:
        """Write a histogram."""
        self._add(messages.histogram(tag, values, bins, max_bins), global_step, walltime)

    @writes
    def add_histogram_raw(self, tag: str, min: float, max: float, num: int, sum: float, sum_squares: float,
                          bucket_limits: Any, bucket_counts: Any, global_step: Any = None,
                          walltime: float | None = None) -> None:
        """Write a precomputed histogram."""
        if len(bucket_limits) != len(bucket_counts):
            raise ValueError(f"add_histogram_raw: {len(bucket_limits)} limits for {len(bucket_counts)} counts")
        made = messages.histogram_message(tag, min, max, num, sum, sum_squares, bucket_limits, bucket_counts)
        self._add(made, global_step, walltime)

    @writes
    def add_pr_curve(self, tag: str, labels: Any, predictions: Any, global_step: Any = None, num_thresholds: int = 127,
                     weights: Any = None, walltime: float | None = None) -> None:
        """Write a precision-recall curve."""
        thresholds = min(num_thresholds, 127)
        rows = messages.precision_and_recall(labels, predictions, thresholds, weights)
        self._add(messages.curve(tag, rows, thresholds), global_step, walltime)

    @writes
    def add_pr_curve_raw(self, tag: str, true_positive_counts: Any, false_positive_counts: Any, true_negative_counts: Any,
                         false_negative_counts: Any, precision: Any, recall: Any, global_step: Any = None,
                         num_thresholds: int = 127, weights: Any = None, walltime: float | None = None) -> None:
        """Write a precomputed precision-recall curve: one value of each kind per threshold."""
        if weights is not None:
            raise NotImplementedError("add_pr_curve_raw(weights=...): counts have their weights already")
        rows = np.stack([array_of(x) for x in (true_positive_counts, false_positive_counts, true_negative_counts,
                                               false_negative_counts, precision, recall)])
        self._add(messages.curve(tag, rows, min(num_thresholds, 127)), global_step, walltime)

    # --- pictures, sound, text ------------------------------------------------------------------------------------------

    @writes
    def add_image(self, tag: str, img_tensor: Any, global_step: Any = None, walltime: float | None = None,
                  dataformats: str = "CHW") -> None:
        """Write an image of 1, 3 or 4 channels."""
        self._add(messages.image(tag, messages.picture(array_of(img_tensor), dataformats)), global_step, walltime)

    @writes
    def add_images(self, tag: str, img_tensor: Any, global_step: Any = None, walltime: float | None = None,
                   dataformats: str = "NCHW") -> None:
        """Write a batch of images as one image, eight per row; errors are those of add_image()."""
        if isinstance(img_tensor, (list, tuple)):
            img_tensor = np.stack([array_of(x) for x in img_tensor])
            dataformats = dataformats if len(dataformats) == 4 else f"N{dataformats}"
        self._add(messages.image(tag, messages.picture(array_of(img_tensor), dataformats)), global_step, walltime)

    @writes
    def add_figure(self, tag: str, figure: Any, global_step: Any = None, close: bool = True,
                   walltime: float | None = None) -> None:
        """Write matplotlib figures as an image, eight per row."""
        figures = list(figure) if isinstance(figure, (list, tuple)) else [figure]
        self._add(messages.image(tag, messages.picture(np.stack([messages.figure_pixels(f) for f in figures]), "NHWC")),
                  global_step, walltime)
        if close:
            from matplotlib import pyplot

            for f in figures:
                pyplot.close(f)

    @writes
    def add_image_with_boxes(self, tag: str, img_tensor: Any, box_tensor: Any, global_step: Any = None,
                             walltime: float | None = None, rescale: float = 1, dataformats: str = "CHW",
                             labels: Any = None) -> None:
        """Write an image with red bounding boxes; errors of the image are those of add_image()."""
        pixels = messages.picture(array_of(img_tensor), dataformats)
        drawn = messages.with_boxes(pixels, array_of(box_tensor), rescale, [labels] if isinstance(labels, str) else labels)
        self._add(messages.image(tag, drawn), global_step, walltime)

    @writes
    def add_video(self, tag: str, vid_tensor: Any, global_step: Any = None, fps: float = 4,
                  walltime: float | None = None) -> None:
        """Write videos, side by side, as an animated GIF."""
        video = array_of(vid_tensor)
        if video.ndim != 5:
            raise ValueError("add_video: a video has the shape (batch, time, colours, height, width), not "
                             f"{list(video.shape)}")
        frames = np.stack([messages.picture(video[:, time], "NCHW") for time in range(video.shape[1])])
        self._add(messages.image(tag, frames[0], messages.gif(frames, fps)), global_step, walltime)

    @writes
    def add_mesh(self, tag: str, vertices: Any, colors: Any = None, faces: Any = None,
                 config_dict: Mapping[str, Any] | None = None, global_step: Any = None,
                 walltime: float | None = None) -> None:
        """Write a mesh or a point cloud."""
        parts = {"VERTEX": vertices, "FACE": faces, "COLOR": colors}
        arrays = {name: array_of(part) for name, part in parts.items() if part is not None}
        self._add(messages.mesh(tag, arrays, config_dict), global_step, walltime)

    @writes
    def add_audio(self, tag: str, snd_tensor: Any, global_step: Any = None, sample_rate: int = 44100,
                  walltime: float | None = None) -> None:
        """Write one channel of audio as a 16-bit wave file."""
        self._add(messages.audio(tag, snd_tensor, sample_rate), global_step, walltime)

    @writes
    def add_text(self, tag: str, text_string: str, global_step: Any = None, walltime: float | None = None) -> None:
        """Write text, which TensorBoard renders as Markdown."""
        self._add(messages.text(tag, text_string), global_step, walltime)

    # --- graphs and charts ----------------------------------------------------------------------------------------------

    @writes
    def add_graph(self, model: Any, input_to_model: Any = None, verbose: bool = False,
                  use_strict_trace: bool = True) -> None:
        """Write the graph of the operations that require gradients; runs the model once."""
        if input_to_model is None:
            raise TypeError("add_graph: input_to_model is a tensor, or a list of the model's inputs, and not None")
        inputs = tuple(input_to_model) if isinstance(input_to_model, (list, tuple)) else (input_to_model,)
        graph = graph_of(model, inputs)
        if verbose:
            print(graph)
        event = messages.protocol.event.Event(wall_time=time.time(), graph_def=graph.SerializeToString())
        self._file(self.log_dir).add(event)

    @writes
    def add_custom_scalars(self, layout: Mapping[str, Mapping[str, Any]]) -> None:
        """Define charts of several scalars; call it once per writer."""
        self._add(messages.custom_scalars(layout), None, None)

    @writes
    def add_custom_scalars_multilinechart(self, tags: list[str], category: str = "default",
                                          title: str = "untitled") -> None:
        """Define one chart of several scalars."""
        self._add(messages.custom_scalars({category: {title: ["Multiline", tags]}}), None, None)

    @writes
    def add_custom_scalars_marginchart(self, tags: list[str], category: str = "default",
                                       title: str = "untitled") -> None:
        """Define one chart of a value with its bounds."""
        self._add(messages.custom_scalars({category: {title: ["Margin", tags]}}), None, None)

    # --- runs and vectors -----------------------------------------------------------------------------------------------

    @writes
    def add_hparams(self, hparam_dict: Mapping[str, Any], metric_dict: Mapping[str, Any],
                    hparam_domain_discrete: Mapping[str, list[Any]] | None = None, run_name: str | None = None,
                    global_step: Any = None) -> None:
        """Write hyperparameters and metrics for comparison with other runs, as a run in a directory of log_dir."""
        for name, value in (("hparam_dict", hparam_dict), ("metric_dict", metric_dict)):
            if not isinstance(value, Mapping):
                raise TypeError(f"add_hparams: {name} must be a dictionary, but is {type(value).__name__}")
        made = messages.hyperparameters(hparam_dict, metric_dict, hparam_domain_discrete)
        made += [messages.scalar(tag, value, False, False) for tag, value in metric_dict.items()]
        directory = os.path.join(self.log_dir, run_name or str(time.time()))
        for summary in made:
            self._add(summary, global_step, None, directory)
        self._files.pop(directory).close()

    @writes
    def add_embedding(self, mat: Any, metadata: list[Any] | None = None, label_img: Any = None, global_step: Any = None,
                      tag: str = "default", metadata_header: list[str] | None = None) -> None:
        """Write vectors for TensorBoard's projector, to a directory named by `global_step`."""
        vectors = array_of(mat)
        if vectors.ndim != 2:
            raise ValueError(f"add_embedding: mat must be a matrix (n, d), but has the shape {list(vectors.shape)}")
        images = None if label_img is None else array_of(label_img)
        for name, given in (("metadata", metadata), ("label_img", images)):
            if given is not None and len(given) != len(vectors):
                raise ValueError(f"add_embedding: {len(given)} {name} for {len(vectors)} vectors")
        step = f"{0 if global_step is None else int(number_of(global_step)):05d}"
        folder = Path(step, "".join(f"%{ord(c):02x}" if c in "%/\\" else c for c in tag))
        place = Path(self.log_dir, folder)
        place.mkdir(parents=True, exist_ok=True)
        entry = {"tensor_name": f"{tag}:{step}", "tensor_path": str(folder / "tensors.tsv")}
        rows = ["\t".join(map(str, row)) for row in vectors.tolist()]
        (place / "tensors.tsv").write_text("\n".join(rows) + "\n", encoding="utf-8")
        if metadata is not None:
            entry["metadata_path"] = str(folder / "metadata.tsv")
            lines = [metadata_header, *metadata] if metadata_header else [[label] for label in metadata]
            if wrong := [line for line in lines if len(line) != len(lines[0])]:
                raise ValueError(f"add_embedding: metadata_header has {len(lines[0])} columns, but {wrong[0]!r} has others")
            rows = ["\t".join(map(str, line)) for line in lines]
            (place / "metadata.tsv").write_text("\n".join(rows) + "\n", encoding="utf-8")
        text = [f"  {key}: {json.dumps(value)}" for key, value in entry.items()]
        if images is not None:
            side = math.ceil(len(images) ** 0.5)     # TensorBoard requires as many rows as columns
            filled = np.concatenate([images, np.zeros((side * side - len(images), *images.shape[1:]), images.dtype)])
            grid = messages.side_by_side(filled, side)
            (place / "sprite.png").write_bytes(messages.png(messages.picture(grid, "HWC")))
            text += ["  sprite {", f"    image_path: {json.dumps(str(folder / 'sprite.png'))}",
                     f"    single_image_dim: {images.shape[3]}", f"    single_image_dim: {images.shape[2]}", "  }"]
        self._embeddings.append("embeddings {\n" + "\n".join(text) + "\n}\n")
        Path(self.log_dir, "projector_config.pbtxt").write_text("".join(self._embeddings), encoding="utf-8")

    # --- the end --------------------------------------------------------------------------------------------------------

    def flush(self) -> None:
        """No effect: every event is written at once."""

    def close(self) -> None:
        """Close the files."""
        while self._files:
            self._files.popitem()[1].close()

    def __enter__(self) -> SummaryWriter:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def add_onnx_graph(self, onnx_model_file: Any) -> NoReturn:
        """Not implemented: ONNX files cannot be read."""
        raise NotImplementedError("SummaryWriter.add_onnx_graph() is not implemented: ONNX files cannot be read")


_docstrings.complete(globals(), "tensorboard", "utils.tensorboard.")
