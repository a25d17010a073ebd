"""Rows for the operations that the first models needed."""

from .row import Case, F, labels

POSITIVE = (0.2, 3.0)
UNARY = [Case(name, lambda t, x, name=name: getattr(t, name)(x), [(3, 4)], domain, kinks=kinks) for name, domain, kinks in [
    ("neg", (-2, 2), ()), ("exp", (-2, 2), ()), ("expm1", (-2, 2), ()), ("log", POSITIVE, ()), ("log1p", POSITIVE, ()),
    ("sqrt", POSITIVE, ()), ("rsqrt", POSITIVE, ()), ("reciprocal", POSITIVE, ()), ("square", (-2, 2), ()),
    ("sin", (-3, 3), ()), ("cos", (-3, 3), ()), ("tanh", (-2, 2), ()), ("sigmoid", (-4, 4), ()), ("relu", (-2, 2), (0,)),
    ("abs", (-2, 2), (0,))]]

SHAPES2 = [[(3, 4), (3, 4)], [(3, 1), (2, 1, 4)], [(), (3,)], [(2, 3), ()], [(0, 3), (3,)], [(1,), (4, 1)]]
BINARY = [Case(f"{name}{shapes}", lambda t, x, y, name=name: getattr(t, name)(x, y), shapes, domain)
          for name, domain in [("add", (-2, 2)), ("sub", (-2, 2)), ("mul", (-2, 2)), ("div", POSITIVE), ("pow", POSITIVE)]
          for shapes in SHAPES2]

REDUCE = [Case(f"{name} dim={dim} keepdim={keepdim} {shape}",
               lambda t, x, name=name, dim=dim, keepdim=keepdim:
               getattr(t, name)(x) if dim is None else getattr(t, name)(x, dim=dim, keepdim=keepdim), [shape], distinct=True)
          for name in ("sum", "mean", "amax", "amin", "logsumexp", "var", "std")
          for shape, dim, keepdim in [((3, 4), None, False), ((3, 4), 1, False), ((2, 3, 4), (0, 2), True), ((5,), 0, False),
                                      ((2, 3, 4), -1, True)]
          if not (name in ("logsumexp", "amax", "amin") and dim is None)]

SHAPE = [Case(name, call, [shape]) for name, call, shape in [
    ("reshape", lambda t, x: t.reshape(x, (4, -1)), (2, 3, 2)), ("view", lambda t, x: x.view(6, 2), (3, 4)),
    ("reshape of transpose", lambda t, x: x.t().reshape(-1), (3, 4)), ("transpose", lambda t, x: t.transpose(x, 0, -1), (2, 3, 4)),
    ("permute", lambda t, x: x.permute(2, 0, 1), (2, 3, 4)), ("movedim", lambda t, x: t.movedim(x, 0, 2), (2, 3, 4)),
    ("flatten", lambda t, x: t.flatten(x, 1), (2, 3, 4)), ("squeeze", lambda t, x: t.squeeze(x), (1, 3, 1)),
    ("squeeze dim", lambda t, x: t.squeeze(x, 0), (1, 3, 1)), ("unsqueeze", lambda t, x: t.unsqueeze(x, -1), (3, 4)),
    ("expand", lambda t, x: x.expand(5, -1, 4), (3, 1)), ("flip", lambda t, x: t.flip(x, (0, 1)), (3, 4)),
    ("clone", lambda t, x: t.clone(x), (3, 4)), ("contiguous", lambda t, x: x.t().contiguous(), (3, 4)),
    ("narrow", lambda t, x: t.narrow(x, 1, 1, 2), (3, 4)), ("split", lambda t, x: t.cat(t.split(x, 3)[::-1]), (7, 2)),
    ("split sizes", lambda t, x: t.split(x, [1, 4], 1)[1], (2, 5)), ("chunk", lambda t, x: t.cat(t.chunk(x, 3, 1)[1:], 1), (2, 7)),
    ("unbind", lambda t, x: t.stack(t.unbind(x, 1)), (2, 3)), ("T", lambda t, x: x.T, (3, 4)), ("mT", lambda t, x: x.mT, (2, 3, 4))]]
SHAPE += [
    Case("cat", lambda t, x, y: t.cat([x, y], 1), [(3, 2), (3, 4)]), Case("stack", lambda t, x, y: t.stack([x, y], -1), [(3, 2), (3, 2)]),
    Case("cat with empty", lambda t, x, y: t.cat([x, y]), [(0,), (3, 2)])]

INDEX = [Case(f"index {name}", call, [(4, 5)]) for name, call in [
    ("int", lambda t, x: x[2]), ("negative", lambda t, x: x[-1, 1]), ("slice", lambda t, x: x[1:, ::2]),
    ("none, ellipsis", lambda t, x: x[None, ..., 1]), ("list", lambda t, x: x[[0, 2, 2]]),
    ("tensor", lambda t, x: x[t.tensor([1, 1, 3])]), ("pairs", lambda t, x: x[t.tensor([0, 1, 1]), t.tensor([2, 2, 2])]),
    ("bool", lambda t, x: x[x > 0]), ("mixed", lambda t, x: x[:, t.tensor([0, 0, 4])]),
    ("select", lambda t, x: t.index_select(x, 1, t.tensor([3, 3, 0]))),
    ("gather", lambda t, x: t.gather(x, 1, t.tensor([[0, 0], [1, 2], [4, 4], [3, 0]])))]]

LINALG = [Case(f"matmul {a} {b}", lambda t, x, y: t.matmul(x, y), [a, b]) for a, b in [
    ((3, 4), (4, 2)), ((4,), (4,)), ((4,), (4, 3)), ((3, 4), (4,)), ((2, 3, 4), (4, 5)), ((2, 3, 4), (2, 4, 5)),
    ((2, 1, 3, 4), (5, 4, 2)), ((4,), (2, 4, 3)), ((2, 3, 4), (4,)), ((0, 4), (4, 3)), ((3, 0), (0, 2))]]
LINALG += [
    Case("linear", lambda t, x, w, b: F(t).linear(x, w, b), [(5, 3), (4, 3), (4,)]),
    Case("linear 3d", lambda t, x, w, b: F(t).linear(x, w, b), [(2, 5, 3), (4, 3), (4,)]),
    Case("linear 1d", lambda t, x, w, b: F(t).linear(x, w, b), [(3,), (4, 3), (4,)]),
    Case("linear without bias", lambda t, x, w: F(t).linear(x, w), [(5, 3), (4, 3)]),
    Case("linear of no rows", lambda t, x, w, b: F(t).linear(x, w, b), [(0, 3), (4, 3), (4,)])]

CHOICE = [
    Case("max", lambda t, x: t.max(x), [(3, 4)], distinct=True), Case("min", lambda t, x: t.min(x), [(3, 4)], distinct=True),
    Case("max dim", lambda t, x: t.max(x, 1)[0], [(3, 4)], distinct=True),
    Case("min dim keep", lambda t, x: t.min(x, 0, keepdim=True)[0], [(3, 4)], distinct=True),
    Case("maximum", lambda t, x, y: t.maximum(x, y), [(3, 4), (4,)]), Case("minimum", lambda t, x, y: t.minimum(x, y), [(3, 4), (4,)]),
    Case("where", lambda t, x, y: t.where(x > y, x * x, y), [(3, 4), (4,)]),
    Case("clamp", lambda t, x: t.clamp(x, -1.0, 0.5), [(3, 4)], kinks=(-1.0, 0.5)), Case("clamp min", lambda t, x: x.clamp(min=0.1), [(6,)], kinks=(0.1,))]

SOFT = [
    Case("softmax", lambda t, x: t.softmax(x, 1), [(3, 4)]), Case("log_softmax", lambda t, x: t.log_softmax(x, 0), [(3, 4)]),
    Case("log_softmax 3d", lambda t, x: F(t).log_softmax(x, 1), [(2, 3, 4)]), Case("softmax 0-d", lambda t, x: t.softmax(x, 0), [()]),
    Case("silu", lambda t, x: F(t).silu(x), [(3, 4)]), Case("softplus", lambda t, x: F(t).softplus(x), [(3, 4)]),
    Case("leaky_relu", lambda t, x: F(t).leaky_relu(x, 0.2), [(3, 4)], kinks=(0,))]

LOSS = [Case(f"cross_entropy {options}", lambda t, x, options=options: F(t).cross_entropy(x, labels(t, 5), **options), [(5, 4)])
        for options in [{}, {"reduction": "sum"}, {"reduction": "none"}, {"ignore_index": 1}, {"label_smoothing": 0.1},
                        {"label_smoothing": 0.2, "reduction": "none", "ignore_index": 2}]]
LOSS += [
    Case("cross_entropy weight", lambda t, x: F(t).cross_entropy(x, labels(t, 5), t.tensor([1.0, 2, 0.5, 3], dtype=t.float64)), [(5, 4)]),
    Case("cross_entropy weight smooth", lambda t, x: F(t).cross_entropy(
        x, labels(t, 5), t.tensor([1.0, 2, 0.5, 3], dtype=t.float64), label_smoothing=0.3), [(5, 4)]),
    Case("cross_entropy images", lambda t, x: F(t).cross_entropy(x, labels(t, 2, 3)), [(2, 4, 3)]),
    Case("cross_entropy one row", lambda t, x: F(t).cross_entropy(x, labels(t, 1)[0]), [(4,)]),
    Case("cross_entropy soft", lambda t, x, y: F(t).cross_entropy(x, t.softmax(y, 1)), [(5, 4), (5, 4)]),
    Case("nll_loss", lambda t, x: F(t).nll_loss(x, labels(t, 5), reduction="sum"), [(5, 4)]),
    Case("mse_loss", lambda t, x, y: F(t).mse_loss(x, y), [(5, 4), (5, 4)]),
    Case("l1_loss", lambda t, x, y: F(t).l1_loss(x, y), [(5, 4), (5, 4)])]

CASES = UNARY + BINARY + REDUCE + SHAPE + INDEX + LINALG + CHOICE + SOFT + LOSS
