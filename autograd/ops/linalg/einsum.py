"""Contract: the product of two tensors with labelled dimensions, summed over labels. Under einsum, tensordot and inner.

einsum: sums of products of tensors, by the letters of their dimensions. Each pair is one Contract."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...base.types import Array
from ...core.batching import Level
from ...core.casting import casting, lower
from ...core.operation import Operation
from ...core.tensor import Tensor
from ...core.types import Context, Gradients, TensorOrArray
from ...kernels.products import product
from ..pointwise.cast import promoted
from ..pointwise.complex import conj
from ..reductions.reduce import sum
from ..shape import diagonal, permute, reshape
from .matmul import one_dtype

Labels = tuple[int, ...]


def contracted(x: Array, y: Array, left: Labels, right: Labels, output_labels: Labels) -> Array:
    """The sum of x * y over the labels that are not among the output's, as matrix products of arrays.

    Labels in both and in `output_labels` number the matrices; labels in both but not there are summed. A label stands once
    on each side, and every label is in `output_labels` or on both sides."""
    batch = [n for n in output_labels if n in left and n in right]
    summed = [n for n in left if n not in output_labels]
    rows, columns = [n for n in output_labels if n not in right], [n for n in output_labels if n not in left]
    sizes = {**dict(zip(left, x.shape, strict=True)), **dict(zip(right, y.shape, strict=True))}
    x = np.transpose(x, [left.index(n) for n in (*batch, *rows, *summed)])
    y = np.transpose(y, [right.index(n) for n in (*batch, *summed, *columns)])
    groups = [tuple(sizes[n] for n in group) for group in (batch, rows, summed, columns)]
    heads, shape_rows, shape_summed, shape_columns = groups
    if not summed:                                   # no sum: a product of aligned arrays is quicker than matrices
        out = x.reshape((*heads, *shape_rows, *(1,) * len(columns))) * y.reshape((*heads, *(1,) * len(rows), *shape_columns))
    else:
        k = _product(shape_summed)
        a = x.reshape(*heads, _product(shape_rows), k)
        b = y.reshape(*heads, k, _product(shape_columns))
        if not rows and not columns:
            out = np.vecdot(np.conj(a[..., 0, :]), b[..., 0])
        else:
            out = product(a, b)
        out = np.reshape(out, (*heads, *shape_rows, *shape_columns))
    order = [*batch, *rows, *columns]
    return np.transpose(out, [order.index(n) for n in output_labels])


def _product(sizes: tuple[int, ...]) -> int:
    n = 1
    for size in sizes:
        n *= size
    return n


class Contract(Operation, name="Bmm"):
    """contracted(x, y): its derivatives are contractions of the gradient with the other side."""

    @staticmethod
    def batched(level: Level, call: Any, args: Any, settings: Any) -> Any:
        """The samples have a label of their own."""
        sample = max([*settings["left"], *settings["right"]], default=-1) + 1
        left, right = [((sample, *settings[side]) if level.has(x) else settings[side])
                       for side, x in zip(("left", "right"), args, strict=True)]
        return call(level.raw(args[0]), level.raw(args[1]), left=left, right=right,
                    output_labels=(sample, *settings["output_labels"]))

    @staticmethod
    def forward(ctx: Context, x: Array, y: Array, *, left: Labels, right: Labels, output_labels: Labels) -> Array:
        ctx.save(x, y)
        ctx.labels = left, right, output_labels
        return contracted(x, y, left, right, output_labels)

    @staticmethod
    def backward(ctx: Context, g: TensorOrArray) -> Gradients:
        """Contractions of the gradient with the other factor, to the labels of each input."""
        x, y = ctx.values
        left, right, output_labels = ctx.labels
        return (Contract.apply(g, conj(y), left=output_labels, right=right, output_labels=left) if ctx.needs(0) else None,
                Contract.apply(conj(x), g, left=left, right=output_labels, output_labels=right) if ctx.needs(1) else None)


LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
DOTS = -1                                            # stands for ... until the number of its dimensions is known
Term = tuple[int, ...]


def einsum(*args: Any) -> Tensor:
    """The sum of the product of the operands over all labels that the output does not have.

    einsum("ij,jk->ik", x, y); without "->" the output has the labels that stand once, in alphabetical order. "..." stands
    for any dimensions, which broadcast; a label twice in one operand takes its diagonal. Or with lists of numbers in 0..51:
    einsum(x, [0, 1], y, [1, 2], [0, 2])."""
    if not args:
        raise ValueError("einsum(): must specify the equation string and at least one operand, or at least one operand "
                         "and its subscripts list")
    if isinstance(args[0], str):
        operands = list(args[1]) if len(args) == 2 and isinstance(args[1], (list, tuple)) else list(args[1:])
        terms, output = _equation(args[0])
    else:
        operands = list(args[0:len(args) - len(args) % 2:2])
        terms = tuple(_sublist(t) for t in args[1::2])
        output = _sublist(args[-1]) if len(args) % 2 else None
    if not operands or not all(isinstance(x, Tensor) for x in operands):
        raise RuntimeError("einsum(): must provide at least one operand, and every operand as a Tensor")
    labels, out = _resolved(terms, output, tuple(x.ndim for x in operands))
    pairs = _fitted([_diagonal(x, term, i) for i, (x, term) in enumerate(zip(operands, labels, strict=True))], operands)
    if len(pairs) == 1:
        return _single(*pairs[0], out)
    sizes = {n: size for x, term in pairs for n, size in zip(term, x.shape, strict=True)}
    while len(pairs) > 1:
        i, j = _cheapest([set(term) for _, term in pairs], set(out), sizes) if len(pairs) > 2 else (0, 1)
        second, first = pairs.pop(j), pairs.pop(i)
        pairs.append(_pair(first, second, out, {n for _, term in pairs for n in term}))
    return _single(*pairs[0], out)


@functools.lru_cache(maxsize=512)
def _equation(equation: str) -> tuple[tuple[Term, ...], Term | None]:
    """The terms of an equation as numbers of letters, and of its output, None if it has no arrow."""
    left, arrow, right = equation.replace(" ", "").partition("->")
    return tuple(_letters(t) for t in left.split(",")), _letters(right) if arrow else None


def _letters(term: str) -> Term:
    before, dots, after = term.partition("...")
    for c in before + after:
        if c not in LETTERS:
            raise RuntimeError(f"einsum(): invalid subscript '{c}' given in the term '{term}', subscripts must be in "
                               "[a-zA-Z], with at most one ellipsis '...' a term")
    return (*map(LETTERS.index, before), *((DOTS,) if dots else ()), *map(LETTERS.index, after))


def _sublist(values: Any) -> Term:
    if not isinstance(values, (list, tuple)):
        raise RuntimeError("einsum(): in the sublist format every operand is followed by the list of its subscripts, "
                           f"not by {type(values).__name__}")
    for n in values:
        if n is not Ellipsis and not (isinstance(n, int) and 0 <= n < len(LETTERS)):
            raise RuntimeError(f"einsum(): subscript {n} in the subscript list is not within the valid range [0, 52)")
    return tuple(DOTS if n is Ellipsis else n for n in values)


@functools.lru_cache(maxsize=512)
def _resolved(terms: tuple[Term, ...], output: Term | None, ndims: tuple[int, ...]) -> tuple[list[Labels], Labels]:
    """The labels of each dimension of the operands, and of the output: "..." spelled out, from 52 on."""
    if len(terms) != len(ndims):
        raise RuntimeError(f"einsum(): {'more' if len(ndims) > len(terms) else 'fewer'} operands were provided "
                           f"({len(ndims)}) than specified in the equation ({len(terms)})")
    hidden = 0
    for i, (term, ndim) in enumerate(zip(terms, ndims, strict=True)):
        named = len(term) - (DOTS in term)
        if (named > ndim) if DOTS in term else (named != ndim):
            raise RuntimeError(f"einsum(): the number of subscripts in the equation ({named}) does not match the number of "
                               f"dimensions ({ndim}) for operand {i}" + " and no ellipsis was given" * (DOTS not in term))
        hidden = max(hidden, ndim - named if DOTS in term else 0)
    dots = tuple(range(52, 52 + hidden))
    labels = [_spelled(term, dots[hidden - (ndim - len(term) + 1):]) for term, ndim in zip(terms, ndims, strict=True)]
    every = [n for term in labels for n in term]
    if output is None:
        return labels, (*dots, *sorted(n for n in set(every) if n < 52 and every.count(n) == 1))
    out = _spelled(output, dots)
    for n in out:
        if out.count(n) > 1:
            raise RuntimeError(f"einsum(): output subscript {LETTERS[n % 52]} appears more than once in the output")
        if n not in every:
            raise RuntimeError(f"einsum(): output subscript {LETTERS[n % 52]} does not appear in the equation for any input "
                               "operand")
    return labels, out


def _spelled(term: Term, dots: Labels) -> Labels:
    if DOTS not in term:
        return term
    place = term.index(DOTS)
    return (*term[:place], *dots, *term[place + 1:])


def _diagonal(x: Tensor, labels: Labels, operand: int) -> tuple[Any, Labels]:
    """x with one dimension for each label."""
    while len(set(labels)) < len(labels):
        n = next(n for n in labels if labels.count(n) > 1)
        i = labels.index(n)
        j = labels.index(n, i + 1)
        if x.shape[i] != x.shape[j]:
            raise RuntimeError(f"einsum(): subscript {LETTERS[n % 52]} is repeated for operand {operand} but the sizes "
                               f"don't match, {x.shape[j]} != {x.shape[i]}")
        x = diagonal(x, 0, i, j)
        labels = (*(m for place, m in enumerate(labels) if place not in (i, j)), n)
    return x, labels


def _fitted(pairs: list[tuple[Any, Labels]], operands: Sequence[Any]) -> list[tuple[Any, Labels]]:
    """The operands without dimensions of size 1 that broadcast: those factors do not depend on the label."""
    sizes: dict[int, int] = {}
    for x, labels in pairs:
        for n, size in zip(labels, x.shape, strict=True):
            if sizes.setdefault(n, size) == 1:
                sizes[n] = size
            elif size not in (1, sizes[n]):
                shapes = ", ".join(f"{list(x.shape)}" for x in operands)
                name = LETTERS[n] if n < 52 else "..."
                raise RuntimeError(f"einsum(): operands do not broadcast with remapped shapes: {shapes} disagree "
                                   f"about {name}")
    out = []
    for x, labels in pairs:
        matching = [sizes[n] == size for n, size in zip(labels, x.shape, strict=True)]
        if not all(matching):
            x = reshape(x, tuple(itertools.compress(x.shape, matching)))
            labels = tuple(itertools.compress(labels, matching))
        out.append((x, labels))
    return out


def _without(x: Tensor, labels: Labels, wanted: Any) -> tuple[Any, Labels]:
    """x summed over the labels that no other operand and no output has."""
    places = tuple(i for i, n in enumerate(labels) if n not in wanted)
    if not places:
        return x, labels
    return sum(x, places, dtype=x.dtype), tuple(n for n in labels if n in wanted)


def _single(x: Tensor, labels: Labels, out: Labels) -> Tensor:
    """One operand that is left, summed and in the output's order."""
    x, labels = _without(x, labels, out)
    return permute(x, tuple(labels.index(n) for n in out)) if labels != out else x


def _pair(first: tuple[Any, Labels], second: tuple[Any, Labels], out: Labels, others: set[int]) -> tuple[Any, Labels]:
    """The product of two operands, summed over what only they have."""
    wanted = others.union(out)
    x, left = _without(*first, wanted.union(second[1]))
    y, right = _without(*second, wanted.union(left))
    summed = not wanted.issuperset((*left, *right))
    if casting.used and summed:                           # a product of matrices then, which autocast lowers
        x, y = lower(x, y)
    if x.dtype != y.dtype:                           # where nothing is summed it is a product by element, which promotes
        x, y = one_dtype(x, y) if summed else promoted(x, y)
    either = {n for n in (*left, *right) if n in wanted}
    output_labels = out if either == set(out) else tuple(dict.fromkeys(n for n in (*left, *right) if n in wanted))
    return Contract.apply(x, y, left=left, right=right, output_labels=output_labels), output_labels


def _cheapest(terms: list[set[int]], out: set[int], sizes: dict[int, int]) -> tuple[int, int]:
    """Which two operands to multiply next: those whose product is smallest, compared with what it replaces."""
    def volume(labels: set[int]) -> int:
        n = 1
        for label in labels:
            n *= sizes[label]
        return n

    def cost(pair: tuple[int, int]) -> tuple[int, int]:
        i, j = pair
        others = out.union(*(t for k, t in enumerate(terms) if k not in pair))
        both = terms[i] | terms[j]
        return volume(both & others) - volume(terms[i]) - volume(terms[j]), volume(both)

    return min(itertools.combinations(range(len(terms)), 2), key=cost)

__all__ = ["einsum"]
