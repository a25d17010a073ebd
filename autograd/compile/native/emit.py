"""The text of LLVM: one function per group and product, and one per stretch that calls them in order.

Functions take pointers to the first element that they touch; a stretch reads these from one table, so the text holds no
address. Functions with the same text are one function.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..lowering.ir import Handle, Ref, Storage
from .formulas import FORMULAS, definition
from .fuse import Group, Place, collapsed, place_of
from .libraries import Gemms
from .normal import Bound, Operand, Product, Work
from .values import SUFFIX, TYPES, Values, constant, identity, kind_of

BLOCK = 4096                         # elements that vectors add up before their sum goes into a float64
ROWS = 256                           # rows whose sums of columns are added up apart
TINY = 2000                          # multiplications up to which a product is a loop here
CELL = {**TYPES, "b1": "i8"}         # in memory
INTRINSICS = {"fmuladd": 3, "sqrt": 1, "fabs": 1, "floor": 1, "ceil": 1, "rint": 1, "trunc": 1,
              "copysign": 2, "maximum": 2, "minimum": 2, "maxnum": 2, "minnum": 2}
EXTREMES = {"maximum": "maxnum", "minimum": "minnum"}
TAIL = """attributes #0 = { nounwind noinline "prefer-vector-width"="512" }
attributes #1 = { nounwind noinline optnone }
attributes #2 = { nounwind willreturn memory(none) }
"""


class Function(Values):
    """The lines of one function. Loops count from 0 and run at least once."""

    cut = False
    outside: Any = ()

    def __init__(self, contract: bool) -> None:
        super().__init__(contract)
        self.label = "entry"
        self.allocas: list[str] = []
        self.loops: list[tuple[int, Any]] = []
        self.pointers: dict[Any, str] = {}           # storages and libraries' functions -> names of arguments
        self.start: dict[Any, int] = {}              # the first element that is touched
        self.digits: dict[Any, str] = {}

    def text(self) -> str:
        """All but the name."""
        kinds = [f"ptr noalias %{p}" for p in self.pointers.values()] + [f"ptr {p}" for p in self.functions.values()]
        kinds += ["ptr %outside"] if self.outside else []
        kinds += ["i64 %first", "i64 %count"] if self.cut else []
        return f"({', '.join(kinds)}) #0 {{\nentry:\n{self.body()}\n  ret void\n}}\n"

    def body(self) -> str:
        """The lines of the body."""
        return "\n".join([*self.allocas, *self.lines])

    def open(self, count: Any) -> str:
        """Begin a loop; its index."""
        self.count += 1
        k = self.count
        self.lines += [f"  br label %h{k}", f"h{k}:", f"  %i{k} = phi i64 [0, %{self.label}], [%n{k}, %l{k}]"]
        self.loops.append((k, count))
        self.label = f"h{k}"
        return f"%i{k}"

    def close(self) -> None:
        """End the innermost loop."""
        k, count = self.loops.pop()
        self.lines += [f"  br label %l{k}", f"l{k}:", f"  %n{k} = add nuw nsw i64 %i{k}, 1",
                       f"  %c{k} = icmp ult i64 %n{k}, {count}", f"  br i1 %c{k}, label %h{k}, label %e{k}", f"e{k}:"]
        self.label = f"e{k}"

    def when(self, value: str, kind: str = "ptr", nothing: str = "null") -> int:
        """Begin code that runs if a pointer is not null, or a number not 0."""
        self.count += 1
        k = self.count
        self.lines += [f"  %c{k} = icmp ne {kind} {value}, {nothing}", f"  br i1 %c{k}, label %w{k}, label %o{k}", f"w{k}:"]
        return k

    def otherwise(self, k: int) -> None:
        """End the first branch."""
        self.lines += [f"  br label %o{k}", f"o{k}:"]
        self.label = f"o{k}"

    def blocks(self, count: int, size: int) -> tuple[str, str]:
        """Begin a loop over blocks; the first index of a block, and its length."""
        first = self.times(self.open(-(-count // size)), size)
        left = self.put(f"sub nsw i64 {count}, {first}")
        short = self.put(f"icmp ult i64 {left}, {size}")
        return first, self.put(f"select i1 {short}, i64 {left}, i64 {size}")

    def variable(self, kind: str, count: int = 1) -> str:
        """Memory for numbers."""
        self.count += 1
        self.allocas.append(f"  %a{self.count} = alloca {TYPES[kind]}, i64 {count}")
        return f"%a{self.count}"

    def get(self, variable: str, kind: str) -> str:
        """The number in it."""
        return self.put(f"load {TYPES[kind]}, ptr {variable}")

    def set(self, variable: str, kind: str, value: str) -> None:
        """Write the variable's value."""
        self.lines.append(f"  store {TYPES[kind]} {value}, ptr {variable}")

    def times(self, index: str, factor: int) -> str:
        """index * factor."""
        if index == "0" or not factor:
            return "0"
        return index if factor == 1 else self.put(f"mul nsw i64 {index}, {factor}")

    def plus(self, a: str, b: str) -> str:
        """a + b."""
        return b if a == "0" else a if b == "0" else self.put(f"add nsw i64 {a}, {b}")

    def row(self, i: str, terms: Any, rows: int) -> str:
        """The distance of row i; quotients are computed once a row."""
        at = "0"
        for q, n, stride in terms if i != "0" else ():
            key = q, n
            if key not in self.digits:
                v = i if q == 1 else self.put(f"udiv i64 {i}, {q}")
                self.digits[key] = v if q * n == rows else self.put(f"urem i64 {v}, {n}")
            at = self.plus(at, self.times(self.digits[key], stride))
        return at

    def load(self, kind: str, pointer: str, at: str) -> str:
        """An element that is read."""
        v = self.put(f"load {CELL[kind]}, ptr {self.element(kind, pointer, at)}, align {kind[1]}")
        return self.put(f"icmp ne i8 {v}, 0") if kind == "b1" else v

    def store(self, kind: str, value: str, pointer: str, at: str) -> None:
        """Write an element."""
        if kind == "b1":
            value = self.put(f"zext i1 {value} to i8")
        self.lines.append(f"  store {CELL[kind]} {value}, ptr {self.element(kind, pointer, at)}, align {kind[1]}")

    def element(self, kind: str, pointer: str, at: str) -> str:
        """The address of an element."""
        return pointer if at == "0" else self.put(f"getelementptr inbounds {CELL[kind]}, ptr {pointer}, i64 {at}", "p")

    def combine(self, name: str, kind: str, a: str, b: str, free: bool = True) -> str:
        """One step of a reduction; free: in any order."""
        flags = ("reassoc nsz " if free else "") + self.contract
        if kind[0] == "f" and name in ("add", "multiply"):
            return self.put(f"f{name[:3]} {flags}{TYPES[kind]} {a}, {b}")
        if kind[0] == "f" and name in ("maximum", "minimum"):
            return self.intrinsic(name, kind, a, b)
        return self.function(name, (kind, kind, kind), [None, None], a, b)


class Loops(Function):
    """The function of a group. `cut`: of the rows, or of the columns of one row, from %first on, %count of them."""

    def __init__(self, group: Group, in_memory: Any, contract: bool, cut: bool = False) -> None:
        super().__init__(contract)
        self.cut = cut
        self.group = group
        operands = [x for w in group.works for x in (*w.ins, w.out) if isinstance(x, Operand)]
        for x in (*operands, *[x.index for x in operands if x.index is not None]):
            if x.storage.outside or x.storage in in_memory:
                self.pointers.setdefault(x.storage, f"s{len(self.pointers)}")
                self.start[x.storage] = min(self.start.get(x.storage, x.offset), x.offset)
        self.known: dict[Any, str] = {}              # values of the inner loop
        self.row_known: dict[Any, str] = {}
        self.bases: dict[Any, str] = {}              # pointers to the row
        self.outside: dict[tuple[Operand, Work], str] = {}       # whether an index was outside of its dimension
        self.nan: dict[Work, str] = {}               # whether a maximum or minimum has met nan
        steps = group.steps()
        totals = {w: self.sums(w) for _, w in steps if w.how == "total"}
        long = group.rows > ROWS and group.columns <= BLOCK
        self.partial = {w: self.variable("f4", group.columns) for _, w in steps if long and w.how == "columns"
                        and w.kinds[-1] == "f4" and w.name == "add" and not group.places[w][1][1]}
        self.i = self.begin()
        for at in range(max(at for at, _ in steps) + 1):
            here = [w for a, w in steps if a == at]
            if here:
                (self.columns if at % 2 == 0 else self.once)(here, totals)
        self.end()
        for w, sums in totals.items():
            self.finish(w, sums)
        for number, flag in enumerate(self.outside.values()):
            self.allocas.append(f"  store i64 0, ptr {flag}")
            k = self.when(self.get(flag, "i8"), "i64", "0")
            self.store("i8", "1", "%outside", str(number))
            self.otherwise(k)

    # --- rows -------------------------------------------------------------------------------------------------------------

    def begin(self) -> str:
        """Open the loop over rows, or, for long sums of columns, over blocks of rows; the row."""
        rows = self.group.rows
        if self.cut and rows > 1:
            return self.plus("%first", self.open("%count"))
        if not self.partial:
            return self.open(rows) if rows > 1 else "0"
        block, count = self.blocks(rows, ROWS)
        j = self.open(self.group.columns)
        for buffer in self.partial.values():
            self.store("f4", constant(0, "f4"), buffer, j)
        self.close()
        return self.plus(block, self.open(count))

    def end(self) -> None:
        """Close the open loop."""
        if self.group.rows > 1:
            self.close()
        if self.partial:
            j = self.open(self.group.columns)
            for w, buffer in self.partial.items():
                place = self.group.places[w][1]
                base, at = self.base(w.out.storage, "f4", place), self.times(j, place[2])
                total = self.combine("add", "f4", self.load("f4", base, at), self.load("f4", buffer, j), False)
                self.store("f4", total, base, at)
            self.close()
            self.close()

    # --- reductions -------------------------------------------------------------------------------------------------------

    def sums(self, work: Work) -> tuple[str, str, str]:
        """Variables of a reduction: of vectors, of their sums, and the latter's kind."""
        kind = work.kinds[-1]
        wide = "f8" if kind == "f4" and work.name == "add" else kind
        out = self.variable(kind), self.variable(wide), wide
        self.set(out[0], kind, constant(identity(work.name, kind), kind))
        self.set(out[1], wide, constant(identity(work.name, wide), wide))
        if kind[0] == "f" and work.name in EXTREMES:
            self.nan[work] = self.variable("b1")
            self.set(self.nan[work], "b1", "false")
        return out

    def add(self, work: Work, sums: tuple[str, str, str], v: str) -> None:
        """One step of a reduction, in any order."""
        part, kind = sums[0], work.kinds[-1]
        if work in self.nan:                         # apart from the extreme: 0.16 instead of 0.24 ms for a softmax
            missing = self.put(f"fcmp uno {TYPES[kind]} {v}, {v}")
            self.set(self.nan[work], "b1", self.put(f"or i1 {self.get(self.nan[work], 'b1')}, {missing}"))
            t, name = TYPES[kind], f"llvm.{EXTREMES[work.name]}.{SUFFIX[kind]}"
            self.set(part, kind, self.put(f"call nnan nsz {t} @{name}({t} {self.get(part, kind)}, {t} {v})"))
            return
        self.set(part, kind, self.combine(work.name, kind, self.get(part, kind), v))

    def gather(self, work: Work, sums: tuple[str, str, str]) -> None:
        """Add the vectors' sum to the whole, and start anew."""
        part, whole, wide = sums
        kind = work.kinds[-1]
        v = self.get(part, kind)
        if work in self.nan:
            v = self.select(self.get(self.nan[work], "b1"), kind, constant(np.nan, kind), v)
            self.set(self.nan[work], "b1", "false")
        v = self.convert(v, kind, wide)
        self.set(whole, wide, self.combine(work.name, wide, self.get(whole, wide), v, False))
        self.set(part, kind, constant(identity(work.name, kind), kind))

    def finish(self, work: Work, sums: tuple[str, str, str]) -> None:
        """The result of a reduction."""
        _, whole, wide = sums
        v = self.convert(self.get(whole, wide), wide, work.kinds[-1])
        self.write(work, v, "0")

    # --- rows and columns -------------------------------------------------------------------------------------------------

    def columns(self, works: list[Work], totals: Any) -> None:
        """An inner loop."""
        rows = {w: self.sums(w) for w in works if w.how == "row"}
        sums = [(w, rows.get(w) or totals[w]) for w in works if w.how in ("row", "total")]
        for w in works:                              # what the row decides is computed before
            for x, p in zip((*w.ins, w.out), (*self.group.places[w][0], self.group.places[w][1]), strict=True):
                if isinstance(x, Operand) and p is not None:
                    self.prepare(x, p, w)
        n = self.group.columns
        block = None
        if n > BLOCK and any(w.kinds[-1][0] == "f" and w.name == "add" for w, _ in sums):
            block, count = self.blocks(n, BLOCK)
            j = self.plus(block, self.open(count))
        elif self.cut and self.group.rows == 1:
            j = self.plus("%first", self.open("%count"))
        else:
            j = self.open(n) if n > 1 else "0"
        for w in works:
            v = self.value(w, j)
            if w.how == "map":
                self.write(w, v, j)
            elif w.how in ("row", "total"):
                self.add(w, rows.get(w) or totals[w], v)
            else:
                self.accumulate(w, v, j)
        if n > 1:
            self.close()
        for w, s in sums:
            self.gather(w, s)
        if block is not None:
            self.close()
        self.known.clear()
        for w, s in rows.items():
            self.finish(w, s)

    def once(self, works: list[Work], totals: Any) -> None:
        """Code of a row."""
        for w in works:
            v = self.value(w, "0")
            if w.how == "map":
                self.write(w, v, "0")
            else:
                _, whole, wide = totals[w]
                v = self.convert(v, w.kinds[-1], wide)
                self.set(whole, wide, self.combine(w.name, wide, self.get(whole, wide), v, False))

    def value(self, work: Work, j: str) -> str:
        """What an operation computes, in the kind of its result."""
        places, _ = self.group.places[work]
        args: list[str] = []
        numbers: list[Any] = []
        kinds = work.kinds if work.how == "map" else work.kinds[:1] * len(work.ins)
        for x, p, kind in zip(work.ins, places, kinds, strict=False):
            if isinstance(x, Operand) and p is not None:
                args.append(self.convert(self.read(x, p, work, j), x.kind, kind))
                numbers.append(None)
            else:
                args.append(constant(x, kind))
                numbers.append(x)
        if work.how != "map":
            return args[0]
        before = self.contract
        self.contract = "" if work.exact else before
        v = self.function(work.name, work.kinds, numbers, *args)
        self.contract = before
        return self.convert(v, work.kinds[-1], work.out.kind)

    # --- memory -----------------------------------------------------------------------------------------------------------

    def base(self, storage: Storage, kind: str, place: Place) -> str:
        """The pointer to the row."""
        offset, terms, _ = place
        key = storage, offset, terms
        if key not in self.bases:
            at = self.plus(self.row(self.i, terms, self.group.rows), str(offset - self.start[storage]))
            self.bases[key] = self.element(kind, "%" + self.pointers[storage], at)
        return self.bases[key]

    def index_place(self, x: Operand, work: Work) -> Place:
        """Where the index of an operand lies."""
        level = self.group.level[work]
        place = place_of(x, work.shape, self.group.rows, self.group.columns if level == 2 else 1)
        assert place is not None
        return place

    def prepare(self, x: Operand, place: Place, work: Work) -> None:
        """Compute pointers of the row, and read what its elements share."""
        if x.index is not None:
            self.prepare(x.index, self.index_place(x.index, work), work)
        if x.storage in self.pointers:
            self.base(x.storage, x.kind, place)
            if not place[2] and x is not work.out and x.index is None:
                self.read(x, place, work, "0")
            elif (x.index is not None and not self.index_place(x.index, work)[2]
                  and x.index.storage not in self.group.writes):
                self.shift(x, work, "0")

    def shift(self, x: Operand, work: Work, j: str) -> str:
        """The distance that an index makes."""
        assert x.index is not None
        place = self.index_place(x.index, work)
        key = x, work
        where = self.known if place[2] else self.row_known
        if key not in where:
            v = self.convert(self.read(x.index, place, work, j), x.index.kind, "i8")
            if x.index.kind != "u1":
                below = self.put(f"icmp slt i64 {v}, 0")
                v = self.put(f"add nsw i64 {v}, {self.select(below, 'i8', str(x.length), '0')}")
            outside = self.put(f"icmp uge i64 {v}, {x.length}")
            flag = self.outside.setdefault(key, self.variable("i8"))
            self.set(flag, "i8", self.put(f"or i64 {self.get(flag, 'i8')}, {self.put(f'zext i1 {outside} to i64')}"))
            for name, end in (("less", 0), ("greater", x.length - 1)):           # never outside of the memory
                v = self.select(self.compare(name, "i8", v, str(end)), "i8", str(end), v)
            where[key] = self.times(v, x.factor)
        return where[key]

    def at(self, x: Operand, place: Place, work: Work, j: str) -> str:
        """The distance of an element from its row's start."""
        at = self.times(j, place[2])
        return at if x.index is None else self.plus(self.shift(x, work, j), at)

    def read(self, x: Operand, place: Place, work: Work, j: str) -> str:
        """An element: a value at hand, or from memory."""
        key = x.storage, place, x.index
        for known in (self.known, self.row_known):
            if key in known:
                return known[key]
        v = self.load(x.kind, self.base(x.storage, x.kind, place), self.at(x, place, work, j))
        (self.row_known if not place[2] and x.index is None else self.known)[key] = v
        return v

    def write(self, work: Work, v: str, j: str) -> None:
        """Keep a result, and store it if it is read elsewhere."""
        x, place = work.out, self.group.places[work][1]
        inner = self.group.level[work] == 2 and work.how == "map"
        (self.known if inner else self.row_known)[x.storage, place, None] = v
        if x.storage in self.pointers:
            self.store(x.kind, v, self.base(x.storage, x.kind, place), self.times(j, place[2]))

    def accumulate(self, work: Work, v: str, j: str) -> None:
        """Combine a value with the element where it goes."""
        x, place = work.out, self.group.places[work][1]
        base, at = self.base(x.storage, x.kind, place), self.at(x, place, work, j)
        if work in self.partial:
            base, at = self.partial[work], j
        old = self.load(x.kind, base, at)
        self.store(x.kind, v if work.name == "copy" else self.combine(work.name, x.kind, old, v, False), base, at)


class Matrices(Function):
    """The function of a product, or of a stack of them. Its last arguments are the libraries' functions."""

    def __init__(self, product: Product, contract: bool, threads: int) -> None:
        super().__init__(contract)
        out, a, b = product.out, product.a, product.b
        (m, n), k = out.shape[-2:], a.shape[-1]
        self.kind = kind_of(out.dtype)
        lead = out.shape[:-2]
        rows = int(np.prod(lead, dtype=np.int64))
        self.gemms = Gemms(product) if m * n * k > TINY else None
        self.i = self.open(rows) if rows > 1 else "0"
        where = []
        for name, x in (("o", out), ("a", a), ("b", b)):
            missing = len(lead) - (len(x.shape) - 2)
            strides = (0,) * missing + tuple([0 if d == 1 else s for d, s in zip(x.shape[:-2], x.strides, strict=False)])
            dims = [(d, s) for d, s in zip(lead, strides, strict=True) if d != 1]
            terms, q = [], 1
            for d, s in reversed(collapsed(tuple([d for d, _ in dims]), tuple([s for _, s in dims]))):
                if s:
                    terms.append((q, d, s))
                q *= d
            where.append(self.element(self.kind, f"%{name}", self.row(self.i, terms, rows)))
        if self.gemms is None or not self.gemms.libraries:
            self.gemms = None
            self.loop(where, out, a, b)
        else:
            self.gemms.call(self, where, threads)
        if rows > 1:
            self.close()

    def text(self) -> str:
        """All but the name."""
        more = "".join(f", ptr %{name}" for name in self.gemms.arguments()) if self.gemms is not None else ""
        return f"(ptr noalias %o, ptr %a, ptr %b{more}) #0 {{\nentry:\n{self.body()}\n  ret void\n}}\n"

    def loop(self, where: list[str], out: Ref, a: Ref, b: Ref) -> None:
        """A small product."""
        (m, n), k, kind = out.shape[-2:], a.shape[-1], self.kind
        at = [x.strides[-2:] for x in (out, a, b)]
        t = TYPES[kind]

        def element(which: int, i: str, j: str) -> str:
            return self.plus(self.times(i, at[which][0]), self.times(j, at[which][1]))

        def term(i: str, l: str, j: str) -> str:
            return self.put(f"fmul {self.contract}{t} {self.load(kind, where[1], element(1, i, l))}, "
                            f"{self.load(kind, where[2], element(2, l, j))}")

        i = self.open(m)
        if at[2][1] == 1 and n > 1:                  # out[i] += a[i, l] b[l]
            j = self.open(n)
            self.store(kind, term(i, "0", j), where[0], element(0, i, j))
            self.close()
            if k > 1:
                l = self.plus(self.open(k - 1), "1")
                j = self.open(n)
                old = self.load(kind, where[0], element(0, i, j))
                self.store(kind, self.combine("add", kind, old, term(i, l, j), False), where[0], element(0, i, j))
                self.close()
                self.close()
        else:
            j = self.open(n)
            total = self.variable(kind)
            self.set(total, kind, constant(0, kind))
            l = self.open(k)
            self.set(total, kind, self.combine("add", kind, self.get(total, kind), term(i, l, j)))
            self.close()
            self.store(kind, self.get(total, kind), where[0], element(0, i, j))
            self.close()
        self.close()


class Calls(Function):
    """The function of a primitive. Its arguments are pointers: `pointers` has (storage, offset) or (Handle, address)."""

    def __init__(self, item: Bound) -> None:
        super().__init__(False)
        for function, *arguments in item.calls:
            taken = ", ".join(map(self.argument, arguments))
            self.lines.append(f"  call void {self.pointer(Handle(function))}({taken})")

    def argument(self, x: Any) -> str:
        """An argument of a C function with its type."""
        if isinstance(x, Ref | Handle):
            return f"ptr {self.pointer(x)}"
        kind = "i8" if isinstance(x, int) else kind_of(x.dtype)
        return f"{TYPES[kind]} {constant(x, kind)}"

    def pointer(self, x: Ref | Handle) -> str:
        """The name of a pointer."""
        key = (x, x.address) if isinstance(x, Handle) else (x.storage, x.offset)
        return self.pointers.setdefault(key, f"%p{len(self.pointers)}")

    def text(self) -> str:
        """All but the name."""
        return f"({', '.join(f'ptr {p}' for p in self.pointers.values())}) #0 {{\nentry:\n{self.body()}\n  ret void\n}}\n"


def module(functions: dict[str, str], stretches: list[list[str]]) -> str:
    """The whole text: `functions`, text without name -> name, and calls of each stretch."""
    bodies = "".join(f"define void @{name}{text}" for text, name in functions.items())
    used = [definition(name, kind) for name in FORMULAS for kind in SUFFIX if f"@{name}_{kind}(" in bodies]
    steps = ""
    for n, lines in enumerate(stretches):
        more = ", i64 %first, i64 %count" if "%first" in lines[-1] else ""
        steps += f"define void @step{n}(ptr %table{more}) #1 {{\n" + "\n".join(lines) + "\n  ret void\n}\n"
    text = "".join(used) + bodies + steps
    declared = [f"declare {t} @llvm.{name}.{SUFFIX[kind]}({', '.join([t] * count)})\n" for kind, t in list(TYPES.items())[:2]
                for name, count in INTRINSICS.items() if f"@llvm.{name}.{SUFFIX[kind]}(" in text]
    return "".join(declared) + text + TAIL
