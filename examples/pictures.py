"""What the examples draw: a curve, a page of images."""

import matplotlib

matplotlib.use("Agg")
from matplotlib import pyplot


def curve(path, values, title, label, log=True):
    """A curve over batches as a picture file."""
    pyplot.figure(figsize=(6, 4))
    (pyplot.semilogy if log else pyplot.plot)(values, linewidth=0.8)
    pyplot.xlabel("batch")
    pyplot.ylabel(label)
    pyplot.title(title)
    pyplot.tight_layout()
    pyplot.savefig(path, dpi=120)
    pyplot.close()


def page(path, images, title, columns=8):
    """Grey images (n, h, w) in rows as a picture file."""
    rows = -(-len(images) // columns)
    figure, axes = pyplot.subplots(rows, columns, figsize=(columns, rows + 0.4), squeeze=False)
    for ax in axes.flat:
        ax.axis("off")
    for ax, image in zip(axes.flat, images, strict=False):
        ax.imshow(image, cmap="gray_r")
    figure.suptitle(title)
    figure.savefig(path, dpi=100)
    pyplot.close(figure)
