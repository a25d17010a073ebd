"""A reference for native programs: the same operations one by one in NumPy."""

import numpy as np

from autograd.compile.lowering.ir import Ref


class Interpreter:
    """Run operations on arrays of its own: copies of the outside ones, one for each storage."""

    def __init__(self, ops):
        self.ops = ops
        self.memory = {s: np.zeros(s.size, s.dtype) if s.array is None else s.array.ravel("K").copy()
                       for op in ops for s in op.reads() | op.writes()}

    def view(self, x):
        """An operand as an array or a number."""
        if not isinstance(x, Ref):
            return x
        flat = self.memory[x.storage]
        return np.lib.stride_tricks.as_strided(flat[x.offset:], x.shape, [s * x.dtype.itemsize for s in x.strides])

    def run(self):
        """Make every operation."""
        for op in self.ops:
            ins = [self.view(x) for x in op.ins]
            with np.errstate(all="ignore"):
                if op.kind == "call":
                    op.function()
                    continue
                value = getattr(self, op.kind)(op, *ins)
                self.view(op.out)[...] = np.asarray(value).astype(op.out.dtype)

    def map(self, op, *ins):
        if op.name == "copy":
            return ins[0]
        if op.name == "select":
            return np.where(*ins)
        if op.name == "erf":
            import math
            return np.vectorize(math.erf, otypes="d")(ins[0])
        return getattr(np, op.name)(*ins)

    def reduce(self, op, x):
        dtype = {"dtype": np.float64} if op.out.dtype == np.float32 and op.name == "add" else {"dtype": op.out.dtype}
        kept = len(op.out.shape)
        initial = {"initial": np.array({"maximum": -np.inf, "minimum": np.inf}[op.name]).astype(x.dtype)} if (
            op.name in ("maximum", "minimum") and x.dtype.kind == "f") else {}
        return getattr(np, op.name).reduce(x, tuple(range(kept, x.ndim)), **dtype, **initial)

    def take(self, op, table, index):
        return np.take_along_axis(table, index[..., None].astype(int), -1)[..., 0]

    def gather(self, op, table, index):
        return table[index]

    def scatter(self, op, rows, index):
        out = np.zeros(op.out.shape, op.out.dtype)
        np.add.at(out, index, rows)
        return out

    def update(self, op, values, index):
        out = self.view(op.out).copy()
        if op.name == "copy":
            out[index] = values
        else:
            getattr(np, op.name).at(out, index, values)
        return out

    def scan(self, op, x):
        return getattr(np, op.name).accumulate(x, 0, dtype=op.out.dtype)

    def product(self, op, a, b, *bias):
        y = a.astype(np.float64) @ b.astype(np.float64)
        return y + bias[0] if bias else y
