"""Rows for the operations that move elements: views, joins, cuts, diagonals, windows, padding."""

from .row import Case, F

ONE = [(name, lambda t, x, name=name, args=args: getattr(t, name)(x, *args), shape) for name, args, shape in [
    ("ravel", (), (2, 3)), ("unflatten", (1, (2, -1)), (3, 4)), ("squeeze", ((0, 2),), (1, 3, 1)), ("swapaxes", (0, 2), (2, 3, 4)),
    ("swapdims", (0, 1), (2, 3)), ("movedim", ((0, 1), (2, 0)), (2, 3, 4)), ("moveaxis", (0, -1), (2, 3, 4)),
    ("adjoint", (), (2, 3, 4)), ("atleast_3d", (), (2, 3)), ("broadcast_to", ((2, 3, 4),), (3, 1)), ("fliplr", (), (2, 3)),
    ("flipud", (), (2, 3)), ("roll", (2,), (2, 3)), ("roll", ((1, -1), (0, 1)), (2, 3)), ("rot90", (), (2, 3)),
    ("rot90", (2,), (2, 3)), ("rot90", (3, (1, 2)), (2, 3, 4)), ("tile", ((2, 2),), (3,)), ("repeat_interleave", (2,), (2, 3)),
    ("repeat_interleave", (3, 1), (2, 3)), ("tril", (), (3, 4)), ("triu", (1,), (2, 3, 4)), ("diag", (1,), (3,)),
    ("diag", (-1,), (3, 4)), ("diag_embed", (1, 0, 2), (2, 3)), ("diagflat", (), (2, 2)), ("diagonal", (1, 0, 2), (3, 2, 4)),
    ("select", (1, -1), (2, 3)), ("narrow", (1, 1, 2), (3, 4)), ("combinations", (), (4,)), ("unfold_copy", (0, 3, 2), (7,)), ("t_copy", (), (2, 3)), ("split_copy", (2,), (4, 3))]]

CASES = [Case(f"{name} {shape}", lambda t, x, call=call: joined(t, call(t, x)), [shape]) for name, call, shape in ONE]


def joined(t, y):
    """Several outputs as one."""
    return t.cat([v.reshape(-1) * (i + 1) for i, v in enumerate(y)]) if isinstance(y, (tuple, list)) else y


CASES += [Case(name, lambda t, x, call=call: joined(t, call(t, x)), [shape]) for name, call, shape in [
    ("view_as", lambda t, x: x.view_as(t.zeros(3, 4)), (2, 6)), ("reshape_as", lambda t, x: x.t().reshape_as(t.zeros(2, 6)), (3, 4)),
    ("H", lambda t, x: x.H, (3, 4)), ("mH", lambda t, x: x.mH, (2, 3, 4)), ("T of 3 dimensions", lambda t, x: x.permute(2, 1, 0), (2, 3, 4)),
    ("as_strided", lambda t, x: t.as_strided(x.contiguous(), (2, 2), (1, 2), 1), (6,)),
    ("as_strided overlapping", lambda t, x: t.as_strided(x.contiguous(), (3, 2), (1, 1)), (2, 3)),
    ("repeat", lambda t, x: x.repeat(2, 1, 3), (2, 2)), ("repeat none", lambda t, x: x.repeat(0, 2), (2, 2)),
    ("unfold", lambda t, x: x.unfold(1, 3, 2), (2, 7)), ("unfold overlapping", lambda t, x: x.unfold(0, 2, 1), (4, 2)),
    ("hsplit", lambda t, x: t.hsplit(x, 2), (2, 4)), ("vsplit", lambda t, x: t.vsplit(x, [1]), (3, 2)),
    ("dsplit", lambda t, x: t.dsplit(x, 2), (2, 2, 4)), ("tensor_split", lambda t, x: t.tensor_split(x, 3, 1)[1:], (2, 7)),
    ("split unused", lambda t, x: t.split(x, 2)[1], (5, 2)), ("unbind unused", lambda t, x: t.unbind(x, 1)[1], (2, 3)),
    ("unbind", lambda t, x: t.unbind(x), (3, 2)), ("split one", lambda t, x: t.split(x, 5), (5, 2)),
    ("atleast_2d", lambda t, x: t.atleast_2d([x, x]), (3,)), ("meshgrid", lambda t, x: t.meshgrid(x, x * 2, indexing="xy"), (3,)),
    ("cartesian_prod", lambda t, x: t.cartesian_prod(x, x * 2), (3,)), ("clone channels", lambda t, x: x.clone(memory_format=t.channels_last), (1, 2, 3, 2)),
    *[(f"pad {mode} {pad}", lambda t, x, mode=mode, pad=pad: F(t).pad(x, pad, mode), shape) for mode, pad, shape in [
        ("constant", (1, 2), (2, 3)), ("constant", (-1, 2, 1, -1), (3, 4)), ("reflect", (2, 1), (1, 4)), ("reflect", (1, 2, 2, 0), (1, 3, 4)),
        ("replicate", (2, 1), (2, 3)), ("replicate", (1, -1, 1, 2), (1, 2, 3)), ("circular", (2, 3), (1, 3)),
        ("circular", (1, 1, 1, 0, 0, 1), (1, 2, 2, 2))]]]]

CASES += [Case(name, call, shapes) for name, call, shapes in [
    ("hstack", lambda t, x, y: t.hstack([x, y]), [(2, 3), (2, 1)]), ("vstack", lambda t, x, y: t.vstack([x, y]), [(3,), (2, 3)]),
    ("dstack", lambda t, x, y: t.dstack([x, y]), [(2, 3), (2, 3)]), ("column_stack", lambda t, x, y: t.column_stack([x, y]), [(2,), (2, 3)]),
    ("block_diag", lambda t, x, y: t.block_diag(x, y, x), [(2, 3), (2,)]), ("stack dim 1", lambda t, x, y: t.stack([x, y, x], 1), [(2, 3), (2, 3)]),
    ("cat of three", lambda t, x, y: t.cat([x, y, x.t()], 1), [(2, 2), (2, 3)]),
    ("broadcast_tensors", lambda t, x, y: joined(t, t.broadcast_tensors(x, y)), [(3, 1), (2,)])]]
