"""Embedding and EmbeddingBag: lookup tables of vectors."""

from __future__ import annotations

from typing import Any

from ...base.arguments import whole_numbers
from ...base.types import DeviceLike, DTypeLike
from ...core.tensor import Parameter, Tensor
from ...ops.creation.fill import empty
from ...ops.nn.embedding import checked_padding_idx, warn_dense
from .. import functional as F
from .. import init
from ..module import Module


class _Table(Module):
    """Base of Embedding and EmbeddingBag: the weight (num_embeddings, embedding_dim)."""

    weight: Parameter
    num_embeddings: int
    embedding_dim: int
    padding_idx: int | None

    def _make(self, num_embeddings: int, embedding_dim: int, padding_idx: int | None, sparse: bool, weight: Tensor | None,
              freeze: bool, device: DeviceLike, dtype: DTypeLike) -> None:
        whole_numbers(type(self).__name__, num_embeddings=num_embeddings, embedding_dim=embedding_dim)
        warn_dense(sparse)
        self.num_embeddings, self.embedding_dim = num_embeddings, embedding_dim
        self.padding_idx = checked_padding_idx(padding_idx, num_embeddings, "embedding")
        if weight is None:
            self.weight = Parameter(empty((num_embeddings, embedding_dim), device=device, dtype=dtype),
                                    requires_grad=not freeze)
            self.reset_parameters()
        elif list(weight.shape) != [num_embeddings, embedding_dim]:
            raise AssertionError("Shape of weight does not match num_embeddings and embedding_dim")
        else:
            self.weight = Parameter(weight, requires_grad=not freeze)

    def reset_parameters(self) -> None:
        """Draw the weight from N(0, 1) and set the row padding_idx to 0."""
        init.normal_(self.weight)
        if self.padding_idx is not None:
            init.zeros_(self.weight.detach()[self.padding_idx])


class Embedding(_Table):
    """A lookup table: the row of `weight` for each index of the input."""

    def __init__(self, num_embeddings: int, embedding_dim: int, padding_idx: int | None = None,
                 max_norm: float | None = None, norm_type: float = 2.0, scale_grad_by_freq: bool = False,
                 sparse: bool = False, _weight: Tensor | None = None, _freeze: bool = False, device: DeviceLike = None,
                 dtype: DTypeLike = None) -> None:
        super().__init__()
        self.max_norm: float | None = max_norm
        self.norm_type: float = norm_type
        self.scale_grad_by_freq: bool = scale_grad_by_freq
        self.sparse: bool = sparse
        self._make(num_embeddings, embedding_dim, padding_idx, sparse, _weight, _freeze, device, dtype)

    @classmethod
    def from_pretrained(cls, embeddings: Tensor, freeze: bool = True, padding_idx: int | None = None,
                        max_norm: float | None = None, norm_type: float = 2.0, scale_grad_by_freq: bool = False,
                        sparse: bool = False) -> Any:
        """An Embedding of the given rows (num_embeddings, embedding_dim); they are not trained if freeze."""
        if embeddings.ndim != 2:
            raise AssertionError("Embeddings parameter is expected to be 2-dimensional")
        rows, columns = embeddings.shape
        return cls(rows, columns, _weight=embeddings, _freeze=freeze, padding_idx=padding_idx, max_norm=max_norm,
                   norm_type=norm_type, scale_grad_by_freq=scale_grad_by_freq, sparse=sparse)

    def forward(self, input: Tensor) -> Tensor:
        """input (...) of int32 or int64 -> (..., embedding_dim)."""
        return F.embedding(input, self.weight, self.padding_idx, self.max_norm, self.norm_type, self.scale_grad_by_freq,
                           self.sparse)

    def extra_repr(self) -> str:
        text = f"{self.num_embeddings}, {self.embedding_dim}"
        text += f", padding_idx={self.padding_idx}" if self.padding_idx is not None else ""
        text += f", max_norm={self.max_norm}" if self.max_norm is not None else ""
        text += f", norm_type={self.norm_type}" if self.norm_type != 2 else ""
        return text + (", scale_grad_by_freq=True" if self.scale_grad_by_freq else "")


class EmbeddingBag(_Table):
    """The sum, mean or maximum of the rows of each bag of indices: (bags, length) -> (bags, embedding_dim).

    A vector of indices is divided into bags at `offsets`; padding_idx is excluded from its bag."""

    def __init__(self, num_embeddings: int, embedding_dim: int, max_norm: float | None = None, norm_type: float = 2.0,
                 scale_grad_by_freq: bool = False, mode: str = "mean", sparse: bool = False, _weight: Tensor | None = None,
                 include_last_offset: bool = False, padding_idx: int | None = None, device: DeviceLike = None,
                 dtype: DTypeLike = None) -> None:
        super().__init__()
        self.max_norm: float | None = max_norm
        self.norm_type: float = norm_type
        self.scale_grad_by_freq: bool = scale_grad_by_freq
        self.mode: str = mode
        self.sparse: bool = sparse
        self.include_last_offset: bool = include_last_offset
        self._make(num_embeddings, embedding_dim, padding_idx, sparse, _weight, False, device, dtype)

    @classmethod
    def from_pretrained(cls, embeddings: Tensor, freeze: bool = True, max_norm: float | None = None, norm_type: float = 2.0,
                        scale_grad_by_freq: bool = False, mode: str = "mean", sparse: bool = False,
                        include_last_offset: bool = False, padding_idx: int | None = None) -> Any:
        """An EmbeddingBag of the given rows (num_embeddings, embedding_dim); they are not trained if freeze."""
        if embeddings.ndim != 2:
            raise AssertionError("Embeddings parameter is expected to be 2-dimensional")
        rows, columns = embeddings.shape
        bag = cls(rows, columns, _weight=embeddings, max_norm=max_norm, norm_type=norm_type,
                  scale_grad_by_freq=scale_grad_by_freq, mode=mode, sparse=sparse, include_last_offset=include_last_offset,
                  padding_idx=padding_idx)
        bag.weight.requires_grad = not freeze
        return bag

    def forward(self, input: Tensor, offsets: Tensor | None = None, per_sample_weights: Tensor | None = None) -> Tensor:
        """input (bags, n), or (total,) cut at `offsets` -> (bags, embedding_dim). per_sample_weights, of input's shape,
        multiply the rows; only for mode "sum"."""
        return F.embedding_bag(input, self.weight, offsets, self.max_norm, self.norm_type, self.scale_grad_by_freq,
                               self.mode, self.sparse, per_sample_weights, self.include_last_offset, self.padding_idx)

    def extra_repr(self) -> str:
        text = f"{self.num_embeddings}, {self.embedding_dim}"
        text += f", max_norm={self.max_norm}" if self.max_norm is not None else ""
        text += f", norm_type={self.norm_type}" if self.norm_type != 2 else ""
        text += ", scale_grad_by_freq=True" if self.scale_grad_by_freq else ""
        text += f", mode={self.mode!r}"
        return text + (f", padding_idx={self.padding_idx}" if self.padding_idx is not None else "")


__all__ = ["Embedding", "EmbeddingBag"]
