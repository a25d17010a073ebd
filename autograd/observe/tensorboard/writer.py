"""SummaryWriter: figures of a run in files that TensorBoard shows; PyTorch's methods and arguments."""

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

from ...base.environment import environment
from . import messages
from .files import EventFile
from .graph import graph_of
from .messages import array_of, number_of

F = TypeVar("F", bound=Callable[..., Any])


def writes(method: F) -> F:
    """A method that does nothing on ranks that do not write. If its first argument is a tag, that must be a text."""
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

    After close() the next call starts a new file. In a job of several ranks only rank 0 writes.

    Args:
        log_dir (str or PathLike): Directory of the files. Default: runs/DATE_HOST with `comment` appended.
        comment (str): Suffix of the default directory. Default: "".
        purge_step (int): TensorBoard discards events of an earlier, crashed run from this step on. Default: None.
        max_queue (int): No effect: each event is written at once. Default: 10.
        flush_secs (int): No effect: each event is written at once. Default: 120.
        filename_suffix (str): Suffix of the file names. Default: "".
        all_ranks (bool): If True, each rank writes, to log_dir/rank_N. Default: False.
        tag (str): In all methods: identifier of the data. Other types raise TypeError.
        global_step (int): In all methods: step of the data. Other types raise TypeError. Default: None.
        walltime (float): In all methods: seconds after the epoch of the event. Default: now.

    Raises:
        TypeError: `purge_step` is not an int, `max_queue` or `flush_secs` not a number, or `filename_suffix` not a str.
        OSError: The directory or a file cannot be written.

    Example:
        >>> import os, tempfile
        >>> from autograd.utils.tensorboard import SummaryWriter
        >>> with SummaryWriter(tempfile.mkdtemp()) as writer:
        ...     for step in range(3):
        ...         writer.add_scalar("loss", 1 / (step + 1), step)
        >>> assert os.listdir(writer.get_logdir())
        >>> writer.add_scalars("losses", {"train": 0.5, "test": 0.6}, 3)         # each is a run of its own
        >>> writer.add_tensor("weights", ag.ones(2, 3))
        >>> writer.add_histogram("gradients", ag.randn(100), 3, max_bins=10)
        >>> writer.add_histogram_raw("counts", 0, 2, 3, 3, 5, bucket_limits=[1, 2], bucket_counts=[1, 2])
        >>> writer.add_pr_curve("curve", labels=ag.tensor([0, 1, 1]), predictions=ag.tensor([0.2, 0.4, 0.9]))
        >>> writer.add_pr_curve_raw("computed", [2, 1], [1, 0], [0, 1], [0, 1], [2 / 3, 1], [1, 0.5], num_thresholds=2)
        >>> writer.add_image("grey", ag.rand(8, 8), dataformats="HW")
        >>> writer.add_images("batch", ag.rand(4, 3, 8, 8))
        >>> writer.add_image_with_boxes("found", ag.rand(3, 32, 32), ag.tensor([[4, 4, 20, 28]]), labels=["cat"])
        >>> writer.add_video("noise", ag.rand(1, 5, 3, 8, 8), fps=10)
        >>> writer.add_audio("tone", (ag.arange(800) / 10).sin(), sample_rate=8000)
        >>> writer.add_text("note", "**learning rate**: 0.1")
        >>> writer.add_mesh("triangle", ag.tensor([[[0.0, 0, 0], [1, 0, 0], [0, 1, 0]]]), faces=ag.tensor([[[0, 1, 2]]]))
        >>> writer.add_graph(ag.nn.Linear(3, 2), ag.ones(1, 3))
        >>> writer.add_custom_scalars({"both": {"losses": ["Multiline", ["losses/train", "losses/test"]]}})
        >>> writer.add_custom_scalars_multilinechart(["losses/train", "losses/test"])
        >>> writer.add_custom_scalars_marginchart(["mean", "lower", "upper"])
        >>> writer.add_hparams({"lr": 0.1}, {"accuracy": 0.9}, run_name="first")
        >>> writer.add_embedding(ag.randn(3, 2), metadata=["a", "b", "c"])
        >>> writer.flush()
        >>> writer.close()
    """

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
        """The file of a directory, begun if there is none."""
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
        """Write a scalar.

        Args:
            scalar_value (float or Tensor): Value to save.
            new_style (bool): If True, writes a tensor, as TensorFlow 2 does. Default: False.
            double_precision (bool): With `new_style`: if True, writes float64 instead of float32. Default: False.

        Raises:
            TypeError: `scalar_value` is not a number.
            ValueError: `scalar_value` has more than one element.
        """
        self._add(messages.scalar(tag, scalar_value, new_style, double_precision), global_step, walltime)

    @writes
    def add_scalars(self, main_tag: str, tag_scalar_dict: Mapping[str, Any], global_step: Any = None,
                    walltime: float | None = None) -> None:
        """Write scalars to one plot, each as a run in a directory of log_dir.

        Args:
            main_tag (str): Parent name of the tags.
            tag_scalar_dict (dict): Values by tag.

        Raises:
            TypeError: `tag_scalar_dict` is not a dict of numbers.
            ValueError: A value has more than one element.
        """
        if not isinstance(tag_scalar_dict, Mapping):
            raise TypeError(f"add_scalars({main_tag!r}): a dict of numbers by their names is needed, not "
                            f"{type(tag_scalar_dict).__name__}")
        for tag, value in tag_scalar_dict.items():
            directory = os.path.join(self.log_dir, f"{main_tag.replace('/', '_')}_{tag}")
            self._add(messages.scalar(main_tag, value, False, False), global_step, walltime, directory)

    @writes
    def add_tensor(self, tag: str, tensor: Any, global_step: Any = None, walltime: float | None = None) -> None:
        """Write all elements of a tensor.

        Args:
            tensor (Tensor): float64, other floating point (written as float32), integers or bool.

        Raises:
            TypeError: The values are not numbers, or are complex.
        """
        self._add(messages.of_plugin(tag, "tensor", tensor=messages.tensor_message(array_of(tensor))), global_step, walltime)

    @writes
    def add_histogram(self, tag: str, values: Any, global_step: Any = None, bins: Any = "tensorflow",
                      walltime: float | None = None, max_bins: int | None = None) -> None:
        """Write a histogram.

        Args:
            values (Tensor): Real values.
            bins (str or int or list): "tensorflow" (limits grow by a factor of 1.1), or an argument of np.histogram.
            max_bins (int): Maximum number of bins; adjacent ones are merged. Default: None.

        Raises:
            TypeError: `values` are not numbers.
            ValueError: `values` are empty, not finite or all outside the bins, or `max_bins` is below 1.
        """
        self._add(messages.histogram(tag, values, bins, max_bins), global_step, walltime)

    @writes
    def add_histogram_raw(self, tag: str, min: float, max: float, num: int, sum: float, sum_squares: float,
                          bucket_limits: Any, bucket_counts: Any, global_step: Any = None,
                          walltime: float | None = None) -> None:
        """Write a precomputed histogram.

        Args:
            min (float): Minimum value.
            max (float): Maximum value.
            num (int): Number of values.
            sum (float): Sum of the values.
            sum_squares (float): Sum of squares.
            bucket_limits (Tensor or list): Upper limit of each bucket.
            bucket_counts (Tensor or list): Number of values in each bucket.

        Raises:
            ValueError: There are not as many limits as counts.
        """
        if len(bucket_limits) != len(bucket_counts):
            raise ValueError(f"add_histogram_raw: {len(bucket_limits)} limits for {len(bucket_counts)} counts")
        made = messages.histogram_message(tag, min, max, num, sum, sum_squares, bucket_limits, bucket_counts)
        self._add(made, global_step, walltime)

    @writes
    def add_pr_curve(self, tag: str, labels: Any, predictions: Any, global_step: Any = None, num_thresholds: int = 127,
                     weights: Any = None, walltime: float | None = None) -> None:
        """Write a precision-recall curve.

        Args:
            labels (Tensor): Binary labels.
            predictions (Tensor): Probabilities in [0, 1], one per label.
            num_thresholds (int): Number of thresholds, from 1 to 127. Default: 127.
            weights (Tensor or float): Weight of each prediction. Default: 1.

        Raises:
            ValueError: The sizes differ, a prediction is outside [0, 1], or `num_thresholds` is below 1.
        """
        thresholds = min(num_thresholds, 127)
        rows = messages.precision_and_recall(labels, predictions, thresholds, weights)
        self._add(messages.curve(tag, rows, thresholds), global_step, walltime)

    @writes
    def add_pr_curve_raw(self, tag: str, true_positive_counts: Any, false_positive_counts: Any, true_negative_counts: Any,
                         false_negative_counts: Any, precision: Any, recall: Any, global_step: Any = None,
                         num_thresholds: int = 127, weights: Any = None, walltime: float | None = None) -> None:
        """Write a precomputed precision-recall curve: one value of each kind per threshold.

        Args:
            true_positive_counts (Tensor or list): Number of true positives.
            false_positive_counts (Tensor or list): Number of false positives.
            true_negative_counts (Tensor or list): Number of true negatives.
            false_negative_counts (Tensor or list): Number of false negatives.
            precision (Tensor or list): Precision.
            recall (Tensor or list): Recall.
            num_thresholds (int): Number of thresholds, at most 127. Default: 127.
            weights: Only None: counts are weighted already.

        Raises:
            NotImplementedError: `weights` is given.
            ValueError: The six differ in shape.
        """
        if weights is not None:
            raise NotImplementedError("add_pr_curve_raw(weights=...): counts have their weights already")
        rows = np.stack([array_of(x) for x in (true_positive_counts, false_positive_counts, true_negative_counts,
                                               false_negative_counts, precision, recall)])
        self._add(messages.curve(tag, rows, min(num_thresholds, 127)), global_step, walltime)

    # --- pictures, sound, text ------------------------------------------------------------------------------------------

    @writes
    def add_image(self, tag: str, img_tensor: Any, global_step: Any = None, walltime: float | None = None,
                  dataformats: str = "CHW") -> None:
        """Write an image of 1, 3 or 4 channels.

        Args:
            img_tensor (Tensor): uint8 in [0, 255], or numbers in [0, 1], laid out as `dataformats`.
            dataformats (str): Order of the dimensions: a permutation of HW, CHW or NCHW. Default: 'CHW'.

        Raises:
            TypeError: The image does not contain numbers.
            ValueError: `dataformats` is invalid, the shape does not match it, or the channels are not 1, 3 or 4.
            ImportError: Pillow is not installed.
        """
        self._add(messages.image(tag, messages.picture(array_of(img_tensor), dataformats)), global_step, walltime)

    @writes
    def add_images(self, tag: str, img_tensor: Any, global_step: Any = None, walltime: float | None = None,
                   dataformats: str = "NCHW") -> None:
        """Write a batch of images as one image, eight per row; errors are those of add_image().

        Args:
            img_tensor (Tensor or list): Images as for add_image(), or a list of images of one shape.
            dataformats (str): Order of the dimensions; N may be omitted for a list. Default: 'NCHW'.
        """
        if isinstance(img_tensor, (list, tuple)):
            img_tensor = np.stack([array_of(x) for x in img_tensor])
            dataformats = dataformats if len(dataformats) == 4 else f"N{dataformats}"
        self._add(messages.image(tag, messages.picture(array_of(img_tensor), dataformats)), global_step, walltime)

    @writes
    def add_figure(self, tag: str, figure: Any, global_step: Any = None, close: bool = True,
                   walltime: float | None = None) -> None:
        """Write matplotlib figures as an image, eight per row.

        Args:
            figure (Figure or list): Figure, or figures of one size.
            close (bool): If True, closes the figures. Default: True.

        Raises:
            TypeError: `figure` is not a matplotlib figure or a list of them.
            ValueError: The figures differ in size.
            ImportError: matplotlib or Pillow is not installed.

        Example:
            >>> import tempfile
            >>> from matplotlib.figure import Figure
            >>> from autograd.utils.tensorboard import SummaryWriter
            >>> with SummaryWriter(tempfile.mkdtemp()) as writer:
            ...     writer.add_figure("empty", Figure())
        """
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
        """Write an image with red bounding boxes; errors of the image are those of add_image().

        Args:
            img_tensor (Tensor): Image as for add_image().
            box_tensor (Tensor): Boxes (left, top, right, bottom) in pixels, shape (N, 4).
            rescale (float): Factor by which image and boxes are enlarged. Default: 1.
            dataformats (str): Order of the image's dimensions. Default: 'CHW'.
            labels (list or str): Label of each box. Default: None.

        Raises:
            TypeError: The boxes are not numbers.
            ValueError: Boxes do not have 4 columns, or there are not as many labels as boxes.
        """
        pixels = messages.picture(array_of(img_tensor), dataformats)
        drawn = messages.with_boxes(pixels, array_of(box_tensor), rescale, [labels] if isinstance(labels, str) else labels)
        self._add(messages.image(tag, drawn), global_step, walltime)

    @writes
    def add_video(self, tag: str, vid_tensor: Any, global_step: Any = None, fps: float = 4,
                  walltime: float | None = None) -> None:
        """Write videos, side by side, as an animated GIF.

        Args:
            vid_tensor (Tensor): Shape (N, T, C, H, W) with 1, 3 or 4 channels; uint8, or numbers in [0, 1].
            fps (float): Frames per second. Default: 4.

        Raises:
            TypeError: The video does not contain numbers.
            ValueError: `vid_tensor` does not have five dimensions, or not 1, 3 or 4 channels.
            ImportError: Pillow is not installed.
        """
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
        """Write a mesh or a point cloud.

        Args:
            vertices (Tensor): 3D coordinates of the vertices, shape (B, N, 3).
            colors (Tensor): Color of each vertex in [0, 255], shape (B, N, 3). Default: None.
            faces (Tensor): Vertex indices of each triangle, shape (B, M, 3). Default: None.
            config_dict (dict): Configuration of three.js. Default: None.

        Raises:
            TypeError: A tensor does not contain numbers.
            ValueError: A tensor does not have this shape.
        """
        parts = {"VERTEX": vertices, "FACE": faces, "COLOR": colors}
        arrays = {name: array_of(part) for name, part in parts.items() if part is not None}
        self._add(messages.mesh(tag, arrays, config_dict), global_step, walltime)

    @writes
    def add_audio(self, tag: str, snd_tensor: Any, global_step: Any = None, sample_rate: int = 44100,
                  walltime: float | None = None) -> None:
        """Write one channel of audio as a 16-bit wave file.

        Args:
            snd_tensor (Tensor): Samples, clipped to [-1, 1]; one dimension besides those of size 1.
            sample_rate (int): Sample rate in Hz. Default: 44100.

        Raises:
            TypeError: The samples are not numbers.
            ValueError: `snd_tensor` has more than one channel.
        """
        self._add(messages.audio(tag, snd_tensor, sample_rate), global_step, walltime)

    @writes
    def add_text(self, tag: str, text_string: str, global_step: Any = None, walltime: float | None = None) -> None:
        """Write text, which TensorBoard renders as Markdown.

        Args:
            text_string (str): Text to save.

        Raises:
            TypeError: `text_string` is not a str.
        """
        self._add(messages.text(tag, text_string), global_step, walltime)

    # --- graphs and charts ----------------------------------------------------------------------------------------------

    @writes
    def add_graph(self, model: Any, input_to_model: Any = None, verbose: bool = False,
                  use_strict_trace: bool = True) -> None:
        """Write the graph of the operations that require gradients; runs the model once.

        Args:
            model (Module): Model to draw.
            input_to_model (Tensor or list): Input, or a list or tuple of inputs.
            verbose (bool): If True, also prints the graph. Default: False.
            use_strict_trace (bool): No effect: outputs may be lists and dicts. Default: True.

        Raises:
            TypeError: `input_to_model` is missing.
            ValueError: The output depends on no parameter that requires grad and on no floating point input.
        """
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
        """Define charts of several scalars; call it once per writer.

        Args:
            layout (dict): {category: {title: ["Multiline", [tags]]}}; ["Margin", [value, lower, upper]] draws bounds.

        Raises:
            ValueError: A chart has neither of the two forms.
        """
        self._add(messages.custom_scalars(layout), None, None)

    @writes
    def add_custom_scalars_multilinechart(self, tags: list[str], category: str = "default",
                                          title: str = "untitled") -> None:
        """Define one chart of several scalars.

        Args:
            tags (list): Tags of the scalars.
            category (str): Category of the chart. Default: 'default'.
            title (str): Title of the chart. Default: 'untitled'.
        """
        self._add(messages.custom_scalars({category: {title: ["Multiline", tags]}}), None, None)

    @writes
    def add_custom_scalars_marginchart(self, tags: list[str], category: str = "default",
                                       title: str = "untitled") -> None:
        """Define one chart of a value with its bounds.

        Args:
            tags (list): Tags of the value, its lower and its upper bound.
            category (str): Category of the chart. Default: 'default'.
            title (str): Title of the chart. Default: 'untitled'.

        Raises:
            ValueError: There are not three tags.
        """
        self._add(messages.custom_scalars({category: {title: ["Margin", tags]}}), None, None)

    # --- runs and vectors -----------------------------------------------------------------------------------------------

    @writes
    def add_hparams(self, hparam_dict: Mapping[str, Any], metric_dict: Mapping[str, Any],
                    hparam_domain_discrete: Mapping[str, list[Any]] | None = None, run_name: str | None = None,
                    global_step: Any = None) -> None:
        """Write hyperparameters and metrics for comparison with other runs, as a run in a directory of log_dir.

        Args:
            hparam_dict (dict): Numbers, strings, bools or one-element tensors by name; None is skipped.
            metric_dict (dict): Metrics by name, also written as scalars.
            hparam_domain_discrete (dict): All values that a hyperparameter can have. Default: None.
            run_name (str): Name of the directory. Default: the time.

        Raises:
            TypeError: An argument is not a dict, a value has another type, or `hparam_domain_discrete` has an unknown name.
        """
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
        """Write vectors for TensorBoard's projector, to a directory named by `global_step`.

        Args:
            mat (Tensor): Vectors, shape (N, D).
            metadata (list): Label of each vector, or with `metadata_header` a list of labels. Default: None.
            label_img (Tensor): Image of each vector, shape (N, C, H, W); requires Pillow. Default: None.
            metadata_header (list): Names of the columns of `metadata`. Default: None.

        Raises:
            ValueError: `mat` is not a matrix, or the sizes of `metadata`, `label_img` or `metadata_header` do not match.
            ImportError: `label_img` is given, and Pillow is not installed.
        """
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
            side = math.ceil(len(images) ** 0.5)     # TensorBoard wants as many rows as columns
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
        """Not implemented: there is no reader of ONNX files.

        Args:
            onnx_model_file (str): Ignored.

        Raises:
            NotImplementedError: Always.

        Example:
            >>> ag.utils.tensorboard.SummaryWriter.add_onnx_graph(None, "model.onnx")
            Traceback (most recent call last):
            NotImplementedError: SummaryWriter.add_onnx_graph() is not implemented: there is no reader of ONNX files here
        """
        raise NotImplementedError("SummaryWriter.add_onnx_graph() is not implemented: there is no reader of ONNX files here")
