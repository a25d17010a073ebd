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
    """Write figures of a run to log_dir, for `tensorboard --logdir runs`.

    Tensors are taken with or without gradients; `global_step` is the place on the horizontal axis, `walltime` the time in
    seconds if it is not now. After close() the next call begins a new file. A method raises a TypeError where a tag is no
    text or global_step no whole number, and an OSError where the file cannot be written.

    Args:
        log_dir (str or PathLike): The folder. Default: runs/DATE_HOST with `comment` behind it.
        comment (str): The end of the default folder's name. Default: "".
        purge_step (int): TensorBoard forgets what an earlier run, which ended early, wrote from this step on. Default: None.
        max_queue (int): How many events may wait to be written. It holds, since each is written at once. Default: 10.
        flush_secs (int): How many seconds they may wait. It holds, for the same reason. Default: 120.
        filename_suffix (str): The end of the files' names. Default: "".
        all_ranks (bool): In a job of several ranks rank 0 alone writes, and the methods of others do nothing; True: each
            rank writes, to log_dir/rank_N. Default: False.

    Raises:
        TypeError: purge_step is no whole number, max_queue or flush_secs no number, or filename_suffix no text.
        OSError: the folder cannot be made or written.

    Example:
        >>> import os, tempfile
        >>> from autograd.utils.tensorboard import SummaryWriter
        >>> folder = tempfile.mkdtemp()
        >>> with SummaryWriter(folder) as writer:
        ...     for step in range(3):
        ...         writer.add_scalar("loss", 1 / (step + 1), step)
        >>> len(os.listdir(folder))
        1
        >>> writer = SummaryWriter(folder, filename_suffix=".more")
        >>> writer.get_logdir() == folder
        True
        >>> writer.add_scalars("losses", {"train": 0.5, "test": 0.6}, 3)       # each is a run of its own
        >>> sorted(name for name in os.listdir(folder) if os.path.isdir(os.path.join(folder, name)))
        ['losses_test', 'losses_train']
        >>> writer.add_tensor("weights", ag.ones(2, 3))
        >>> writer.add_histogram("gradients", ag.randn(100), 3, max_bins=10)
        >>> writer.add_histogram_raw("counts", min=0, max=2, num=3, sum=3, sum_squares=5, bucket_limits=[1, 2],
        ...                          bucket_counts=[1, 2])
        >>> writer.add_pr_curve("curve", labels=ag.tensor([0, 1, 1]), predictions=ag.tensor([0.2, 0.4, 0.9]))
        >>> writer.add_pr_curve_raw("computed", [2, 1], [1, 0], [0, 1], [0, 1], [2 / 3, 1], [1, 0.5], num_thresholds=2)
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
        >>> writer.add_onnx_graph("model.onnx")
        Traceback (most recent call last):
        NotImplementedError: SummaryWriter.add_onnx_graph() is not implemented: there is no reader of ONNX files here
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
        """Where the files are."""
        return self.log_dir

    # --- figures --------------------------------------------------------------------------------------------------------

    @writes
    def add_scalar(self, tag: str, scalar_value: Any, global_step: Any = None, walltime: float | None = None,
                   new_style: bool = False, double_precision: bool = False) -> None:
        """Write a number.

        Args:
            tag (str): The name of the plot.
            scalar_value (float or Tensor): The number, of any numeric dtype; a tensor of one element.
            global_step (int): The place on the horizontal axis. Default: None.
            walltime (float): When it was, in seconds since 1970. Default: now.
            new_style (bool): Whether it is written as a tensor, as TensorFlow 2 does. Default: False.
            double_precision (bool): With new_style, whether this tensor is float64 in place of float32. Default: False.

        Raises:
            TypeError: scalar_value is no number.
            ValueError: it has more than one element.
        """
        self._add(messages.scalar(tag, scalar_value, new_style, double_precision), global_step, walltime)

    @writes
    def add_scalars(self, main_tag: str, tag_scalar_dict: Mapping[str, Any], global_step: Any = None,
                    walltime: float | None = None) -> None:
        """Write numbers that are shown in one plot, each as a run of its own in a folder of log_dir.

        Args:
            main_tag (str): The name of the plot, and the beginning of the folders' names.
            tag_scalar_dict (dict[str, float or Tensor]): The numbers by the end of their folder's name.
            global_step (int): The place on the horizontal axis. Default: None.
            walltime (float): When it was, in seconds since 1970. Default: now.

        Raises:
            TypeError: tag_scalar_dict is no dictionary, or a value no number.
            ValueError: a value has more than one element.
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
            tag (str): The name that it is shown under.
            tensor (Tensor): Of any shape; float64, another floating-point dtype (written as float32), integers or bool.
            global_step (int): The place on the horizontal axis. Default: None.
            walltime (float): When it was, in seconds since 1970. Default: now.

        Raises:
            TypeError: it holds no numbers, or complex ones.
        """
        self._add(messages.of_plugin(tag, "tensor", tensor=messages.tensor_message(array_of(tensor))), global_step, walltime)

    @writes
    def add_histogram(self, tag: str, values: Any, global_step: Any = None, bins: Any = "tensorflow",
                      walltime: float | None = None, max_bins: int | None = None) -> None:
        """Write how values are distributed.

        Args:
            tag (str): The name of the plot.
            values (Tensor): Real numbers, in any shape.
            global_step (int): The place on the horizontal axis. Default: None.
            bins (str, int or list[float]): "tensorflow": limits that grow by a factor of 1.1; or what np.histogram takes.
                Default: "tensorflow".
            walltime (float): When it was, in seconds since 1970. Default: now.
            max_bins (int): The largest number of bins: neighbours are put together. Default: as many as there are.

        Raises:
            TypeError: values are no numbers.
            ValueError: there are no values, some are not finite, all lie outside of the bins, or max_bins is below 1.
        """
        self._add(messages.histogram(tag, values, bins, max_bins), global_step, walltime)

    @writes
    def add_histogram_raw(self, tag: str, min: float, max: float, num: int, sum: float, sum_squares: float,
                          bucket_limits: Any, bucket_counts: Any, global_step: Any = None,
                          walltime: float | None = None) -> None:
        """Write a histogram that has been computed.

        Args:
            tag (str): The name of the plot.
            min (float): The smallest value.
            max (float): The largest value.
            num (int): How many values there are.
            sum (float): Their sum.
            sum_squares (float): The sum of their squares.
            bucket_limits (Tensor or list[float]): The right limit of each bin.
            bucket_counts (Tensor or list[int]): How many values are in each bin.
            global_step (int): The place on the horizontal axis. Default: None.
            walltime (float): When it was, in seconds since 1970. Default: now.

        Raises:
            ValueError: add_histogram_raw: {n} limits for {m} counts.
        """
        if len(bucket_limits) != len(bucket_counts):
            raise ValueError(f"add_histogram_raw: {len(bucket_limits)} limits for {len(bucket_counts)} counts")
        made = messages.histogram_message(tag, min, max, num, sum, sum_squares, bucket_limits, bucket_counts)
        self._add(made, global_step, walltime)

    @writes
    def add_pr_curve(self, tag: str, labels: Any, predictions: Any, global_step: Any = None, num_thresholds: int = 127,
                     weights: Any = None, walltime: float | None = None) -> None:
        """Write precision and recall of predictions for thresholds from 0 to 1.

        Args:
            tag (str): The name of the plot.
            labels (Tensor): 1 (or True) for a member of the class, else 0; of any shape.
            predictions (Tensor): As many probabilities, in [0, 1].
            global_step (int): The place on the horizontal axis. Default: None.
            num_thresholds (int): How many thresholds there are, at least 1; 127 if it is larger. Default: 127.
            weights (Tensor or float): How much each prediction counts. Default: 1.
            walltime (float): When it was, in seconds since 1970. Default: now.

        Raises:
            ValueError: labels and predictions differ in number, a prediction lies outside of [0, 1], or num_thresholds is
                below 1.
        """
        thresholds = min(num_thresholds, 127)
        rows = messages.precision_and_recall(labels, predictions, thresholds, weights)
        self._add(messages.curve(tag, rows, thresholds), global_step, walltime)

    @writes
    def add_pr_curve_raw(self, tag: str, true_positive_counts: Any, false_positive_counts: Any, true_negative_counts: Any,
                         false_negative_counts: Any, precision: Any, recall: Any, global_step: Any = None,
                         num_thresholds: int = 127, weights: Any = None, walltime: float | None = None) -> None:
        """Write a curve that has been computed, with one figure of each kind for each threshold.

        Args:
            tag (str): The name of the plot.
            true_positive_counts (Tensor or list[float]): Members of the class above the threshold.
            false_positive_counts (Tensor or list[float]): Others above it.
            true_negative_counts (Tensor or list[float]): Others below it.
            false_negative_counts (Tensor or list[float]): Members below it.
            precision (Tensor or list[float]): The share of members among those above.
            recall (Tensor or list[float]): The share of those above among the members.
            global_step (int): The place on the horizontal axis. Default: None.
            num_thresholds (int): How many thresholds there are; 127 if it is larger. Default: 127.
            weights: Not implemented.
            walltime (float): When it was, in seconds since 1970. Default: now.

        Raises:
            NotImplementedError: weights are given: counts have their weights already.
            ValueError: the six differ in shape.
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
        """Write an image of 1, 3 or 4 colours.

        Args:
            tag (str): The name of the image.
            img_tensor (Tensor): uint8 from 0 to 255, or numbers from 0 to 1, in the shape that dataformats says.
            global_step (int): The place on the horizontal axis. Default: None.
            walltime (float): When it was, in seconds since 1970. Default: now.
            dataformats (str): The order of the dimensions: of the letters HW, CHW or NCHW. Default: 'CHW'.

        Raises:
            TypeError: the image holds no numbers.
            ValueError: dataformats is no order of these letters, or the shape does not fit it or has no pixels, or the
                colours are not 1, 3 or 4.
            ImportError: Pillow is not installed.

        Example:
            >>> import tempfile
            >>> from autograd.utils.tensorboard import SummaryWriter
            >>> with SummaryWriter(tempfile.mkdtemp()) as writer:
            ...     writer.add_image("noise", ag.rand(3, 8, 8))
            ...     writer.add_image("grey", ag.rand(8, 8), dataformats="HW")
        """
        self._add(messages.image(tag, messages.picture(array_of(img_tensor), dataformats)), global_step, walltime)

    @writes
    def add_images(self, tag: str, img_tensor: Any, global_step: Any = None, walltime: float | None = None,
                   dataformats: str = "NCHW") -> None:
        """Write a batch of images as one image, eight in a row.

        Args:
            tag (str): The name of the image.
            img_tensor (Tensor or list[Tensor]): uint8 from 0 to 255, or numbers from 0 to 1, in the shape that dataformats
                says; or a list of images of one shape.
            global_step (int): The place on the horizontal axis. Default: None.
            walltime (float): When it was, in seconds since 1970. Default: now.
            dataformats (str): The order of the dimensions; for a list, with or without N, the first. Default: 'NCHW'.

        Raises:
            TypeError: the image holds no numbers.
            ValueError: dataformats is no order of these letters, or the shape does not fit it or has no pixels, or the
                colours are not 1, 3 or 4.
            ImportError: Pillow is not installed.

        Example:
            >>> import tempfile
            >>> from autograd.utils.tensorboard import SummaryWriter
            >>> with SummaryWriter(tempfile.mkdtemp()) as writer:
            ...     writer.add_images("batch", ag.rand(4, 3, 8, 8))
        """
        if isinstance(img_tensor, (list, tuple)):
            img_tensor = np.stack([array_of(x) for x in img_tensor])
            dataformats = dataformats if len(dataformats) == 4 else f"N{dataformats}"
        self._add(messages.image(tag, messages.picture(array_of(img_tensor), dataformats)), global_step, walltime)

    @writes
    def add_figure(self, tag: str, figure: Any, global_step: Any = None, close: bool = True,
                   walltime: float | None = None) -> None:
        """Write a figure of matplotlib, or a list of figures of one size, eight in a row, as an image.

        Args:
            tag (str): The name of the image.
            figure (Figure or list[Figure]): What is drawn.
            global_step (int): The place on the horizontal axis. Default: None.
            close (bool): Whether pyplot forgets the figures afterwards. Default: True.
            walltime (float): When it was, in seconds since 1970. Default: now.

        Raises:
            TypeError: add_figure(): a figure of matplotlib, or a list of them, not {type}.
            ValueError: the figures differ in size.
            ImportError: matplotlib or Pillow is not installed.

        Example:
            >>> import tempfile
            >>> from matplotlib.figure import Figure
            >>> from autograd.utils.tensorboard import SummaryWriter
            >>> figure = Figure()
            >>> line = figure.subplots().plot([1, 2, 3])
            >>> with SummaryWriter(tempfile.mkdtemp()) as writer:
            ...     writer.add_figure("line", figure)
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
        """Write an image with red rectangles.

        Args:
            tag (str): The name of the image.
            img_tensor (Tensor): uint8 from 0 to 255, or numbers from 0 to 1, in the shape that dataformats says.
            box_tensor (Tensor): Rows (left, top, right, bottom) in pixels, shape (n, 4).
            global_step (int): The place on the horizontal axis. Default: None.
            walltime (float): When it was, in seconds since 1970. Default: now.
            rescale (float): What the image's and the boxes' sizes are multiplied by. Default: 1.
            dataformats (str): The order of the image's dimensions: of the letters HW, CHW or NCHW. Default: 'CHW'.
            labels (list[str] or str): A text for each box. Default: None.

        Raises:
            TypeError: the image or the boxes hold no numbers.
            ValueError: boxes are no rows of 4 numbers, labels differ from them in number, or the image's shape does not fit
                dataformats.
            ImportError: Pillow is not installed.

        Example:
            >>> import tempfile
            >>> from autograd.utils.tensorboard import SummaryWriter
            >>> with SummaryWriter(tempfile.mkdtemp()) as writer:
            ...     writer.add_image_with_boxes("found", ag.rand(3, 32, 32), ag.tensor([[4, 4, 20, 28]]), labels=["cat"])
        """
        pixels = messages.picture(array_of(img_tensor), dataformats)
        drawn = messages.with_boxes(pixels, array_of(box_tensor), rescale, [labels] if isinstance(labels, str) else labels)
        self._add(messages.image(tag, drawn), global_step, walltime)

    @writes
    def add_video(self, tag: str, vid_tensor: Any, global_step: Any = None, fps: float = 4,
                  walltime: float | None = None) -> None:
        """Write videos, side by side, as an animated GIF.

        Args:
            tag (str): The name of the video.
            vid_tensor (Tensor): Shape (batch, time, 1 or 3 or 4 colours, height, width); uint8, or numbers from 0 to 1.
            global_step (int): The place on the horizontal axis. Default: None.
            fps (float): Frames a second. Default: 4.
            walltime (float): When it was, in seconds since 1970. Default: now.

        Raises:
            TypeError: the video holds no numbers.
            ValueError: it has not five dimensions, or not 1, 3 or 4 colours.
            ImportError: Pillow is not installed.

        Example:
            >>> import tempfile
            >>> from autograd.utils.tensorboard import SummaryWriter
            >>> with SummaryWriter(tempfile.mkdtemp()) as writer:
            ...     writer.add_video("noise", ag.rand(1, 5, 3, 8, 8), fps=10)
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
        """Write points in space, and triangles between them.

        Args:
            tag (str): The name that it is shown under.
            vertices (Tensor): The points, shape (batch, n, 3).
            colors (Tensor): Their colours, shape (batch, n, 3), from 0 to 255. Default: None.
            faces (Tensor): Triangles, numbers of three points each, shape (batch, m, 3). Default: None.
            config_dict (dict[str, Any]): What the page's three.js is set to. Default: None.
            global_step (int): The place on the horizontal axis. Default: None.
            walltime (float): When it was, in seconds since 1970. Default: now.

        Raises:
            TypeError: one of them holds no numbers.
            ValueError: add_mesh: {which} has the shape (batch, n, 3), not {shape}.
        """
        parts = {"VERTEX": vertices, "FACE": faces, "COLOR": colors}
        arrays = {name: array_of(part) for name, part in parts.items() if part is not None}
        self._add(messages.mesh(tag, arrays, config_dict), global_step, walltime)

    @writes
    def add_audio(self, tag: str, snd_tensor: Any, global_step: Any = None, sample_rate: int = 44100,
                  walltime: float | None = None) -> None:
        """Write one channel of sound, as a wave file of 16 bits.

        Args:
            tag (str): The name of the sound.
            snd_tensor (Tensor): Samples in [-1, 1], else clipped; one dimension beside those of size 1.
            global_step (int): The place on the horizontal axis. Default: None.
            sample_rate (int): Samples a second. Default: 44100.
            walltime (float): When it was, in seconds since 1970. Default: now.

        Raises:
            TypeError: the samples are no numbers.
            ValueError: add_audio: expected one channel, a vector, but got the shape {shape}.
        """
        self._add(messages.audio(tag, snd_tensor, sample_rate), global_step, walltime)

    @writes
    def add_text(self, tag: str, text_string: str, global_step: Any = None, walltime: float | None = None) -> None:
        """Write a text, which is shown as Markdown.

        Args:
            tag (str): The name of the text.
            text_string (str): The text.
            global_step (int): The place on the horizontal axis. Default: None.
            walltime (float): When it was, in seconds since 1970. Default: now.

        Raises:
            TypeError: add_text({tag}): a text, not {type}.
        """
        self._add(messages.text(tag, text_string), global_step, walltime)

    # --- graphs and charts ----------------------------------------------------------------------------------------------

    @writes
    def add_graph(self, model: Any, input_to_model: Any = None, verbose: bool = False,
                  use_strict_trace: bool = True) -> None:
        """Write the graph of model(input_to_model); the model runs once. What needs gradients is shown.

        Args:
            model (Module): The model.
            input_to_model (Tensor or list): The input, or a list or a tuple of all inputs.
            verbose (bool): Whether the graph is printed too. Default: False.
            use_strict_trace (bool): Has no effect: outputs may be lists and dictionaries either way. Default: True.

        Raises:
            TypeError: input_to_model is missing.
            ValueError: the output depends on no parameter that requires a gradient, and on no floating-point input.
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
        """Set which scalars share a chart. Call it once.

        Args:
            layout (dict[str, dict[str, list]]): {category: {title: ["Multiline", [tags]]}}; ["Margin", [value, lower,
                upper]] shows a value with its bounds.

        Raises:
            ValueError: a chart is neither of the two forms.
        """
        self._add(messages.custom_scalars(layout), None, None)

    @writes
    def add_custom_scalars_multilinechart(self, tags: list[str], category: str = "default",
                                          title: str = "untitled") -> None:
        """Set one chart with the scalars of several tags.

        Args:
            tags (list[str]): The scalars' tags.
            category (str): The heading above the chart. Default: 'default'.
            title (str): The chart's title. Default: 'untitled'.
        """
        self._add(messages.custom_scalars({category: {title: ["Multiline", tags]}}), None, None)

    @writes
    def add_custom_scalars_marginchart(self, tags: list[str], category: str = "default",
                                       title: str = "untitled") -> None:
        """Set one chart of a value with its bounds.

        Args:
            tags (list[str]): Three tags: of the value, of the lower bound and of the upper one.
            category (str): The heading above the chart. Default: 'default'.
            title (str): The chart's title. Default: 'untitled'.

        Raises:
            ValueError: there are not three tags.
        """
        self._add(messages.custom_scalars({category: {title: ["Margin", tags]}}), None, None)

    # --- runs and vectors -----------------------------------------------------------------------------------------------

    @writes
    def add_hparams(self, hparam_dict: Mapping[str, Any], metric_dict: Mapping[str, Any],
                    hparam_domain_discrete: Mapping[str, list[Any]] | None = None, run_name: str | None = None,
                    global_step: Any = None) -> None:
        """Write what this run was set to and what came of it, to be compared with others; as a run in a folder of log_dir.

        Args:
            hparam_dict (dict[str, Any]): Numbers, texts, bools or tensors of one element, by name; None is left out.
            metric_dict (dict[str, float or Tensor]): The figures that runs are compared by; each is written as a scalar too.
            hparam_domain_discrete (dict[str, list]): All values that a setting can have. Default: None.
            run_name (str): The folder's name. Default: the time.
            global_step (int): The place on the horizontal axis. Default: None.

        Raises:
            TypeError: one of the two is no dictionary, a setting is of another type, or hparam_domain_discrete has a value
                of another type or a name that hparam_dict has not.
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
        """Write vectors for TensorBoard's projector.

        Args:
            mat (Tensor): The vectors, its rows: shape (n, d).
            metadata (list): A label for each vector, or with metadata_header a list of labels for each. Default: None.
            label_img (Tensor): An image for each, shape (n, colours, height, width); it needs Pillow. Default: None.
            global_step (int): Names the folder. Default: 0.
            tag (str): The name of the vectors. Default: 'default'.
            metadata_header (list[str]): The names of the labels' columns. Default: None.

        Raises:
            ValueError: mat is no matrix, metadata or label_img differ from it in number, or a row of metadata has more or
                fewer columns than metadata_header.
            ImportError: there is a label_img, and Pillow is not installed.
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
        """Nothing is left to do: what was added is in the files."""

    def close(self) -> None:
        """End the files."""
        while self._files:
            self._files.popitem()[1].close()

    def __enter__(self) -> SummaryWriter:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def add_onnx_graph(self, onnx_model_file: Any) -> NoReturn:
        """Refused: there is no reader of ONNX files here.

        Args:
            onnx_model_file (str): Not read.

        Raises:
            NotImplementedError: always.
        """
        raise NotImplementedError("SummaryWriter.add_onnx_graph() is not implemented: there is no reader of ONNX files here")


__all__ = ["SummaryWriter"]
