"""Transformers of attention and two-layer perceptrons. Vaswani et al. 2017 (arXiv:1706.03762)."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from ...base.types import DeviceLike, DTypeLike
from ...core.modes import is_grad_enabled
from ...core.primitive import primitive, shortcut
from ...core.tensor import Tensor, result
from ...ops.creation.fill import full
from ...ops.pointwise.where import where
from ...ops.shape import triu, unsqueeze
from .. import functional as F
from .. import init
from ..module import Module
from .attention import MultiheadAttention, added
from .container import ModuleList
from .dropout import Dropout
from .linear import Linear
from .normalization import LayerNorm

MSG_NESTED = "enable_nested_tensor is True, but self.use_nested_tensor is False because "


def activation_of(activation: Any) -> Callable[..., Any]:
    """The activation function of a name, or the given function."""
    if not isinstance(activation, str):
        return activation
    if activation not in ("relu", "gelu"):
        raise RuntimeError(f"activation should be relu/gelu, not {activation}")
    return F.relu if activation == "relu" else F.gelu


def causal_mask(size: int, device: DeviceLike = None, dtype: DTypeLike = None) -> Tensor:
    """(size, size): -inf above the diagonal, 0 elsewhere."""
    return triu(full((size, size), float("-inf"), dtype=dtype, device=device), 1)


def is_causal_mask(mask: Tensor | None, is_causal: bool | None, size: int) -> bool:
    """is_causal; if that is None, whether the mask is the causal one."""
    if is_causal is not None or mask is None:
        return is_causal is True
    return tuple(mask.shape) == (size, size) and _is_causal(mask.array)


@shortcut
def _is_causal(mask: np.ndarray[Any, Any]) -> bool:
    """Whether a square mask is the causal one."""
    return np.array_equal(mask, causal_mask(len(mask), dtype=mask.dtype).array)


def _length(x: Tensor, batch_first: bool) -> int:
    return int(x.shape[1 if x.ndim == 3 and batch_first else 0])


def _copies(module: Module, count: int) -> ModuleList:
    return ModuleList([copy.deepcopy(module) for _ in range(count)])


class TransformerEncoderLayer(Module):
    """x + attention(x), then x + linear2(activation(linear1(x))), each followed (norm_first: preceded) by a LayerNorm."""

    self_attn: MultiheadAttention

    def __init__(self, d_model: int, nhead: int, dim_feedforward: int = 2048, dropout: float = 0.1,
                 activation: str | Callable[..., Any] = F.relu, layer_norm_eps: float = 1e-5, batch_first: bool = False,
                 norm_first: bool = False, bias: bool = True, device: DeviceLike = None, dtype: DTypeLike = None) -> None:
        super().__init__()
        factory: dict[str, Any] = {"device": device, "dtype": dtype}
        self.self_attn = MultiheadAttention(d_model, nhead, dropout, bias, batch_first=batch_first, **factory)
        self.linear1: Linear = Linear(d_model, dim_feedforward, bias=bias, **factory)
        self.dropout: Dropout = Dropout(dropout)
        self.linear2: Linear = Linear(dim_feedforward, d_model, bias=bias, **factory)
        self.norm_first = norm_first
        self.norm1: LayerNorm = LayerNorm(d_model, eps=layer_norm_eps, bias=bias, **factory)
        self.norm2: LayerNorm = LayerNorm(d_model, eps=layer_norm_eps, bias=bias, **factory)
        self.dropout1: Dropout = Dropout(dropout)
        self.dropout2: Dropout = Dropout(dropout)
        self.activation: Callable[[Tensor], Tensor] = activation_of(activation)

    @property
    def activation_relu_or_gelu(self) -> int:
        """1 for relu, 2 for gelu, 0 for any other."""
        name = type(self.activation).__name__
        return (1 if self.activation is F.relu or name == "ReLU" else 2 if self.activation is F.gelu or name == "GELU"
                else 0)

    def forward(self, src: Tensor, src_mask: Tensor | None = None, src_key_padding_mask: Tensor | None = None,
                is_causal: bool = False) -> Tensor:
        """src (s, n, d_model), (n, s, d_model) if batch_first, or (s, d_model) -> the same shape."""
        x = src
        masks = added(src_mask, src.dtype), added(src_key_padding_mask, src.dtype)
        if self.norm_first:
            x = x + self._sa_block(self.norm1(x), *masks, is_causal=is_causal)
            return x + self._ff_block(self.norm2(x))
        x = self.norm1(x + self._sa_block(x, *masks, is_causal=is_causal))
        return self.norm2(x + self._ff_block(x))

    def _sa_block(self, x: Tensor, attn_mask: Tensor | None, key_padding_mask: Tensor | None,
                  is_causal: bool = False) -> Tensor:
        out, _ = self.self_attn(x, x, x, attn_mask=attn_mask, key_padding_mask=key_padding_mask, need_weights=False,
                                is_causal=is_causal)
        return self.dropout1(out)

    def _ff_block(self, x: Tensor) -> Tensor:
        return self.dropout2(self.linear2(self.dropout(self.activation(self.linear1(x)))))


class TransformerEncoder(Module):
    """A stack of `num_layers` copies of an encoder layer, with an optional final norm.

    Like PyTorch's, padding positions are 0 before `norm` in evaluation without gradients, where it skips padding."""

    def __init__(self, encoder_layer: Module, num_layers: int, norm: Module | None = None, enable_nested_tensor: bool = True,
                 mask_check: bool = True) -> None:
        super().__init__()
        self.layers: ModuleList = _copies(encoder_layer, num_layers)
        self.num_layers = num_layers
        self.norm = norm
        self.enable_nested_tensor: bool = enable_nested_tensor
        self.mask_check: bool = mask_check
        reason = _why_not_nested(encoder_layer)
        if enable_nested_tensor and reason:
            warnings.warn(MSG_NESTED + reason, stacklevel=2)
        self.use_nested_tensor: bool = enable_nested_tensor and not reason

    def forward(self, src: Tensor, mask: Tensor | None = None, src_key_padding_mask: Tensor | None = None,
                is_causal: bool | None = None) -> Tensor:
        """src and mask as src and src_mask of TransformerEncoderLayer -> src's shape."""
        x = src
        padding, mask = (added(m, src.dtype) for m in (src_key_padding_mask, mask))
        first: Any = self.layers[0]
        causal = is_causal_mask(mask, is_causal, _length(src, first.self_attn.batch_first))
        for layer in self.layers:
            x = layer(x, src_mask=mask, is_causal=causal, src_key_padding_mask=padding)
        if padding is not None and mask is None and src.ndim == 3 and self._may_leave_padding_out(src):
            x = where(unsqueeze(result(_counted(padding.array)), -1), x, np.zeros((), x.dtype))
        return x if self.norm is None else self.norm(x)

    def _may_leave_padding_out(self, src: Tensor) -> bool:
        """Whether PyTorch would compute without padding that is at the end."""
        first: Any = self.layers[0]
        if not self.use_nested_tensor or first.training:
            return False
        return not (is_grad_enabled() and (src.requires_grad or any(p.requires_grad for p in first.parameters())))


@primitive
def _counted(padding: Any) -> Any:
    """The mask of what is no padding, if padding comes last in each row; else a mask of ones."""
    counted = padding == 0
    return counted if (counted[:, :-1] >= counted[:, 1:]).all() else np.ones_like(counted)


def _why_not_nested(layer: Any) -> str:
    """The reason for which PyTorch would not use nested tensors; "" if there is none."""
    name = "encoder_layer"
    if not isinstance(layer, TransformerEncoderLayer):
        return f"{name} was not TransformerEncoderLayer"
    attention = layer.self_attn
    reasons = {
        f"{name}.norm_first was True": layer.norm_first,
        f"{name}.self_attn.batch_first was not True(use batch_first for better inference performance)":
            not attention.batch_first,
        f"{name}.self_attn._qkv_same_embed_dim was not True": not attention._qkv_same_embed_dim,
        f"{name}.self_attn was passed bias=False": attention.in_proj_bias is None,
        f"{name}.activation_relu_or_gelu was not True": not layer.activation_relu_or_gelu,
        f"{name}.norm1.eps was not equal to {name}.norm2.eps": layer.norm1.eps != layer.norm2.eps,
        f"{name}.self_attn.num_heads is odd": attention.num_heads % 2 == 1}
    return next((reason for reason, holds in reasons.items() if holds), "")


class TransformerDecoderLayer(Module):
    """Self-attention, attention to `memory` and a feedforward network, each a residual block.

    A LayerNorm follows each block, or with norm_first precedes it."""

    self_attn: MultiheadAttention
    multihead_attn: MultiheadAttention

    def __init__(self, d_model: int, nhead: int, dim_feedforward: int = 2048, dropout: float = 0.1,
                 activation: str | Callable[..., Any] = F.relu, layer_norm_eps: float = 1e-5, batch_first: bool = False,
                 norm_first: bool = False, bias: bool = True, device: DeviceLike = None, dtype: DTypeLike = None) -> None:
        super().__init__()
        factory: dict[str, Any] = {"device": device, "dtype": dtype}
        self.self_attn = MultiheadAttention(d_model, nhead, dropout, bias, batch_first=batch_first, **factory)
        self.multihead_attn = MultiheadAttention(d_model, nhead, dropout, bias, batch_first=batch_first, **factory)
        self.linear1: Linear = Linear(d_model, dim_feedforward, bias=bias, **factory)
        self.dropout: Dropout = Dropout(dropout)
        self.linear2: Linear = Linear(dim_feedforward, d_model, bias=bias, **factory)
        self.norm_first = norm_first
        self.norm1: LayerNorm = LayerNorm(d_model, eps=layer_norm_eps, bias=bias, **factory)
        self.norm2: LayerNorm = LayerNorm(d_model, eps=layer_norm_eps, bias=bias, **factory)
        self.norm3: LayerNorm = LayerNorm(d_model, eps=layer_norm_eps, bias=bias, **factory)
        self.dropout1: Dropout = Dropout(dropout)
        self.dropout2: Dropout = Dropout(dropout)
        self.dropout3: Dropout = Dropout(dropout)
        self.activation: Callable[[Tensor], Tensor] = activation_of(activation)

    def forward(self, tgt: Tensor, memory: Tensor, tgt_mask: Tensor | None = None, memory_mask: Tensor | None = None,
                tgt_key_padding_mask: Tensor | None = None, memory_key_padding_mask: Tensor | None = None,
                tgt_is_causal: bool = False, memory_is_causal: bool = False) -> Tensor:
        """tgt (t, n, d_model), memory (s, n, d_model), n first if batch_first, or without n -> tgt's shape."""
        x = tgt
        own = tgt_mask, tgt_key_padding_mask, tgt_is_causal
        other = memory, memory_mask, memory_key_padding_mask, memory_is_causal
        if self.norm_first:
            x = x + self._sa_block(self.norm1(x), *own)
            x = x + self._mha_block(self.norm2(x), *other)
            return x + self._ff_block(self.norm3(x))
        x = self.norm1(x + self._sa_block(x, *own))
        x = self.norm2(x + self._mha_block(x, *other))
        return self.norm3(x + self._ff_block(x))

    def _sa_block(self, x: Tensor, attn_mask: Tensor | None, key_padding_mask: Tensor | None,
                  is_causal: bool = False) -> Tensor:
        out, _ = self.self_attn(x, x, x, attn_mask=attn_mask, key_padding_mask=key_padding_mask, is_causal=is_causal,
                                need_weights=False)
        return self.dropout1(out)

    def _mha_block(self, x: Tensor, mem: Tensor, attn_mask: Tensor | None, key_padding_mask: Tensor | None,
                   is_causal: bool = False) -> Tensor:
        out, _ = self.multihead_attn(x, mem, mem, attn_mask=attn_mask, key_padding_mask=key_padding_mask,
                                     is_causal=is_causal, need_weights=False)
        return self.dropout2(out)

    def _ff_block(self, x: Tensor) -> Tensor:
        return self.dropout3(self.linear2(self.dropout(self.activation(self.linear1(x)))))


class TransformerDecoder(Module):
    """A stack of `num_layers` copies of a decoder layer, with an optional final norm."""

    def __init__(self, decoder_layer: Module, num_layers: int, norm: Module | None = None) -> None:
        super().__init__()
        self.layers: ModuleList = _copies(decoder_layer, num_layers)
        self.num_layers = num_layers
        self.norm = norm

    def forward(self, tgt: Tensor, memory: Tensor, tgt_mask: Tensor | None = None, memory_mask: Tensor | None = None,
                tgt_key_padding_mask: Tensor | None = None, memory_key_padding_mask: Tensor | None = None,
                tgt_is_causal: bool | None = None, memory_is_causal: bool = False) -> Tensor:
        """tgt (t, n, d_model), memory (s, n, d_model), n first if batch_first, or without n -> tgt's shape."""
        x = tgt
        first: Any = self.layers[0]
        causal = is_causal_mask(tgt_mask, tgt_is_causal, _length(tgt, first.self_attn.batch_first))
        for layer in self.layers:
            x = layer(x, memory, tgt_mask=tgt_mask, memory_mask=memory_mask, tgt_key_padding_mask=tgt_key_padding_mask,
                      memory_key_padding_mask=memory_key_padding_mask, tgt_is_causal=causal,
                      memory_is_causal=memory_is_causal)
        return x if self.norm is None else self.norm(x)


class Transformer(Module):
    """An encoder and a decoder, each ended by a LayerNorm; matrices are initialized by Xavier's uniform distribution."""

    def __init__(self, d_model: int = 512, nhead: int = 8, num_encoder_layers: int = 6, num_decoder_layers: int = 6,
                 dim_feedforward: int = 2048, dropout: float = 0.1, activation: str | Callable[..., Any] = F.relu,
                 custom_encoder: Any = None, custom_decoder: Any = None, layer_norm_eps: float = 1e-5,
                 batch_first: bool = False, norm_first: bool = False, bias: bool = True, device: DeviceLike = None,
                 dtype: DTypeLike = None) -> None:
        super().__init__()
        sizes = (d_model, nhead, dim_feedforward, dropout, activation, layer_norm_eps, batch_first, norm_first, bias)
        factory: dict[str, Any] = {"device": device, "dtype": dtype}
        if custom_encoder is None:
            norm = LayerNorm(d_model, eps=layer_norm_eps, bias=bias, **factory)
            custom_encoder = TransformerEncoder(TransformerEncoderLayer(*sizes, **factory), num_encoder_layers, norm)
        if custom_decoder is None:
            norm = LayerNorm(d_model, eps=layer_norm_eps, bias=bias, **factory)
            custom_decoder = TransformerDecoder(TransformerDecoderLayer(*sizes, **factory), num_decoder_layers, norm)
        self.encoder: Module = custom_encoder
        self.decoder: Module = custom_decoder
        self._reset_parameters()
        self.d_model: int = d_model
        self.nhead: int = nhead
        self.batch_first: bool = batch_first

    def forward(self, src: Tensor, tgt: Tensor, src_mask: Tensor | None = None, tgt_mask: Tensor | None = None,
                memory_mask: Tensor | None = None, src_key_padding_mask: Tensor | None = None,
                tgt_key_padding_mask: Tensor | None = None, memory_key_padding_mask: Tensor | None = None,
                src_is_causal: bool | None = None, tgt_is_causal: bool | None = None,
                memory_is_causal: bool = False) -> Tensor:
        """src (s, n, d_model), tgt (t, n, d_model), n first if batch_first, or without n -> the decoder's output, of
        tgt's shape."""
        dim = 0 if self.batch_first else 1
        if src.ndim == 3 and src.shape[dim] != tgt.shape[dim]:
            raise RuntimeError("the batch number of src and tgt must be equal")
        if src.shape[-1] != self.d_model or tgt.shape[-1] != self.d_model:
            raise RuntimeError("the feature number of src and tgt must be equal to d_model")
        memory = self.encoder(src, mask=src_mask, src_key_padding_mask=src_key_padding_mask, is_causal=src_is_causal)
        return self.decoder(tgt, memory, tgt_mask=tgt_mask, memory_mask=memory_mask,
                            tgt_key_padding_mask=tgt_key_padding_mask, memory_key_padding_mask=memory_key_padding_mask,
                            tgt_is_causal=tgt_is_causal, memory_is_causal=memory_is_causal)

    @staticmethod
    def generate_square_subsequent_mask(sz: int, device: DeviceLike = None, dtype: DTypeLike = None) -> Tensor:
        """(sz, sz): -inf above the diagonal, 0 elsewhere."""
        return causal_mask(sz, device, dtype)

    def _reset_parameters(self) -> None:
        for p in self.parameters():
            if p.ndim > 1:
                init.xavier_uniform_(p)


__all__ = ["Transformer", "TransformerDecoder", "TransformerDecoderLayer", "TransformerEncoder", "TransformerEncoderLayer"]
