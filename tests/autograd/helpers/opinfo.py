"""Runs PyTorch's own sample inputs (its OpInfo table: `op_db`) through autograd, and compares with PyTorch.

    python tests/autograd/helpers/opinfo.py add nn.functional.gelu         # these operations; none: all of them
    python tests/autograd/helpers/opinfo.py --family linalg. --dtype float32

For each operation and sample: the function, the method and the in-place form; values, shapes and dtypes, gradients for
random output gradients, gradients of those, tangents (forward mode), and error inputs (an error must be raised).
"""

from __future__ import annotations

import argparse
import collections
import contextlib
import functools
import io
import itertools
import random
import sys
import types
import warnings

import numpy as np
import torch

import autograd as ag

with contextlib.redirect_stderr(io.StringIO()):
    from torch.testing._internal import common_utils
    from torch.testing._internal.common_methods_invocations import op_db
    from torch.testing._internal.opinfo import core


def seed(number=common_utils.SEED):
    """Seed the CPU's generators alone: for the GPUs' torch.manual_seed() formats the stack three times, up to 10 ms under pytest."""
    torch.default_generator.manual_seed(number)
    random.seed(number)
    np.random.seed(number)


common_utils.set_rng_seed = seed
common_utils.extract_test_fn = core.extract_test_fn = lambda: None       # it reads the source of every caller: 6/7 of the time here
torch.set_num_threads(1)                                 # see both.py
STORAGES = {}                                            # while error inputs are made: PyTorch's storages and our copies
DTYPES = {getattr(torch, name): name for name in (
    "bool uint8 int8 int16 int32 int64 float16 float32 float64 complex64 complex128").split()}
# Random numbers, or memory as it is found: shapes and dtypes are compared only.
UNKNOWN_VALUES = set("""bernoulli cauchy empty empty_like empty_permuted empty_strided exponential geometric log_normal
    multinomial new_empty new_empty_strided normal rand_like randint randint_like randn randn_like uniform""".split())
DRAWN = ("dropout", "rrelu", "scaled_dot_product_attention", "multi_head_attention_forward", "fractional_max_pool2d",
         "fractional_max_pool3d", "svd_lowrank")             # random for most settings
TOLERANCES = {"float16": 2e-2, "float32": 2e-4, "complex64": 2e-4}
FIRST_ONLY = ("linear_cross_entropy",)                   # PyTorch has no second derivative, whatever its table says
# What takes out=, by PyTorch's own declarations: out=None must be accepted.
TAKES_OUT = {s.name.removeprefix("aten::") for s in torch._C._jit_get_all_schemas() if "out" in s.overload_name}
PLAIN = [op for op in op_db if not op.name.startswith(("_refs", "torch.ops", "jiterator", "sparse"))]


def ours(value, requires_grad=None):
    """A PyTorch argument as ours."""
    if isinstance(value, torch.Tensor):
        array = value.detach().resolve_conj().resolve_neg().numpy()
        array = in_storage(value.detach()) if STORAGES and value.numel() else array.copy(order="K")
        tensor = ag.from_numpy(array)
        if value.requires_grad if requires_grad is None else requires_grad and array.dtype.kind in "fc":
            tensor.requires_grad_()
        return tensor
    if value is torch.bfloat16:
        raise NotImplementedError("bfloat16 needs the package ml_dtypes")
    if isinstance(value, torch.dtype):
        return getattr(ag, DTYPES[value])
    if isinstance(value, torch.device):
        return "cpu"
    if isinstance(value, torch.Size):
        return tuple(value)
    if isinstance(value, (torch.layout, torch.memory_format)):
        return getattr(ag, str(value).removeprefix("torch."))
    if isinstance(value, (list, tuple)) and not hasattr(value, "_fields"):
        return type(value)(ours(v, requires_grad) for v in value)
    if isinstance(value, dict):
        return {k: ours(v, requires_grad) for k, v in value.items()}
    if isinstance(value, torch.nn.PairwiseDistance):
        return ag.nn.functional.pairwise_distance
    if isinstance(value, slice):
        return slice(*(ours(v) for v in (value.start, value.stop, value.step)))
    return value


def in_storage(value):
    """The tensor's copy, sharing memory with the copies of those that share it: some errors are about that."""
    key, width = value.untyped_storage().data_ptr(), value.element_size()
    if (key, value.dtype) not in STORAGES:
        STORAGES[key, value.dtype] = value.as_strided((value.untyped_storage().nbytes() // width,), (1,), 0).numpy().copy()
    memory = STORAGES[key, value.dtype][value.storage_offset():]
    return np.lib.stride_tricks.as_strided(memory, tuple(value.shape), [s * width for s in value.stride()])


def flat(value, kind):
    """The tensors of a nested output."""
    if isinstance(value, kind):
        return [value]
    if isinstance(value, (list, tuple)):
        return [t for v in value for t in flat(v, kind)]
    return []


def resolve(name):
    """ag's function of a dotted name, or None."""
    found = ag
    for part in name.split("."):
        found = getattr(found, part, None)
    return found


def forms(op):
    """(kind, PyTorch's callable, ours) for each form in which PyTorch has the operation."""
    function = resolve(op.name)
    if getattr(op.op, "__name__", "") == "<lambda>":         # the same text, with our functions for PyTorch's
        yield "lambda", op.op, types.FunctionType(op.op.__code__, {**op.op.__globals__, "torch": ag}, "op", op.op.__defaults__,
                                                  op.op.__closure__)
    elif callable(function):
        yield "function", op.op, function
    elif op.method_variant is not None and (op.op is op.method_variant or function is not None):
        pass                                                 # torch.cfloat is a dtype
    else:
        yield "function", op.op, None
    for kind, variant in (("method", op.method_variant), ("in place", op.inplace_variant)):
        if variant is not None and getattr(variant, "__name__", "") not in ("<lambda>", ""):
            yield kind, variant, getattr(ag.Tensor, variant.__name__, None)


def same(mine, theirs, what, dtype, close=True, tolerance=1e-8):
    """AssertionError unless the tensors agree."""
    assert len(mine) == len(theirs), f"{what}: {len(mine)} outputs, not {len(theirs)}"
    for a, b in zip(mine, theirs):
        tolerance = max(TOLERANCES.get(d, tolerance) for d in (dtype, DTYPES.get(getattr(b, "dtype", None))))
        if b is None or a is None:
            left = [v.detach().numpy(force=True) for v in (a, b) if v is not None]      # rounding errors are no gradients
            assert all(np.allclose(v, 0, atol=tolerance) for v in left), f"{what}: {a} against {b}"
            continue
        x, y = a.detach().numpy(), b.detach().resolve_conj().resolve_neg().numpy(force=True)
        assert x.shape == y.shape, f"{what}: shape {x.shape}, not {y.shape}"
        assert x.dtype == y.dtype, f"{what}: dtype {x.dtype}, not {y.dtype}"
        tolerance = max(tolerance, TOLERANCES.get(str(y.dtype), 1e-8)) if dtype not in TOLERANCES else tolerance
        if close:
            tolerance = max(tolerance, 2e-4 if y.dtype in ("float32", "complex64") else 0)       # of a float32 argument
            np.testing.assert_allclose(x, y, rtol=tolerance, atol=tolerance, err_msg=what)


def drawn(op, sample):
    """Whether the result is random."""
    if not op.name.endswith(DRAWN) and not op.name.endswith(("dropout2d", "dropout3d")):
        return False
    settings = sample.kwargs
    if "fractional" in op.name:
        return settings.get("_random_samples") is None
    if op.name == "svd_lowrank":
        return "M" in settings                           # an input of full rank: the result is an approximation
    if op.name.endswith("attention_forward"):
        return bool(sample.args[9]) and settings.get("training", True)
    if op.name.endswith("dot_product_attention"):
        return bool(settings.get("dropout_p"))
    return settings.get("training", "alpha" not in op.name) and settings.get("p", 0.5) not in (0.0, 1.0)


def with_our_names(f):
    """A function of PyTorch's table, with our functions where it says torch."""
    if not isinstance(f, types.FunctionType):
        return f
    renamed = types.FunctionType(f.__code__, {**f.__globals__, "torch": ag}, "f", f.__defaults__, f.__closure__)
    renamed.__kwdefaults__ = f.__kwdefaults__
    return renamed


def check(kind, theirs_call, our_call, sample, dtype, orders, values=True, free=False):
    """Values, gradients, second gradients and tangents of one sample."""
    tracked = orders > 0
    def arguments(t):
        out = [sample.input, *sample.args], sample.kwargs
        if t is ag:
            return ours(out[0], None), ours(out[1], None)
        clone = lambda v: torch.utils._pytree.tree_map(
            lambda x: x.detach().clone(memory_format=torch.preserve_format).requires_grad_(x.requires_grad) if isinstance(x, torch.Tensor) else x, v)
        return clone(list(out[0])), clone(out[1])
    outs = {}
    for t, call in ((torch, theirs_call), (ag, our_call)):
        args, kwargs = arguments(t)
        leaves = [x for x in flat([args, list(kwargs.values())], t.Tensor) if x.requires_grad]
        if t is ag:                                      # a write before the call changes nothing, but the counts of writes
            with ag.no_grad():
                for x in leaves:
                    x.mul_(1)
        if kind == "in place":
            args[0] = args[0].clone()
        if kind == "function" and isinstance(theirs_call, types.BuiltinFunctionType) and theirs_call.__name__ in TAKES_OUT:
            kwargs = {**kwargs, "out": None}
        try:
            y = call(*args, **kwargs)
        except Exception as error:
            if t is torch:                               # such as in-place forms of another dtype: not ours to have
                return
            raise error
        if free:                                             # signs and phases of vectors are anybody's choice
            process = sample.output_process_fn_grad
            y = process(y) if t is torch else with_our_names(process)(y)
        outs[t] = (flat(y, t.Tensor) if t is torch else flat(y, ag.Tensor)), leaves, y
        for z in outs[t][0]:
            z.detach()                                   # an alias of an output does not count as a write
    (theirs, their_leaves, raw), (mine, our_leaves, our_raw) = outs[torch], outs[ag]
    if not theirs and not isinstance(raw, (list, tuple)):
        assert our_raw == raw or our_raw != our_raw, f"value {our_raw!r}, not {raw!r}"
    same(mine, theirs, "value", dtype, values)
    if not tracked or not values:
        return
    assert [x.requires_grad for x in mine] == [x.requires_grad for x in theirs], "requires_grad differs: " + str(
        [x.requires_grad for x in theirs])
    picked = [i for i, y in enumerate(theirs) if y.requires_grad]
    if not picked or not their_leaves:
        return
    rng = np.random.default_rng(0)
    def noise(y):
        n = rng.standard_normal(tuple(y.shape))
        n = n + 1j * rng.standard_normal(tuple(y.shape)) if y.dtype.is_complex else n
        return n.astype(DTYPES[y.dtype])
    us = [noise(theirs[i]) for i in picked]
    grads = {}
    for t, (ys, leaves) in {torch: (theirs, their_leaves), ag: (mine, our_leaves)}.items():
        seeds = [t.from_numpy(np.array(u)).requires_grad_() for u in us]
        try:
            first = t.autograd.grad([ys[i] for i in picked], leaves, seeds, create_graph=orders > 1, allow_unused=True)
        except NotImplementedError:
            if t is torch:
                return
            raise
        grads[t] = [first, leaves, seeds]
    same(grads[ag][0], grads[torch][0], "gradient", dtype)
    if orders < 2:
        return
    chosen = [i for i, g in enumerate(grads[torch][0]) if g is not None and g.requires_grad]
    weights = [noise(grads[torch][0][i]) for i in chosen]
    if not chosen or any(grads[ag][0][i] is None for i in chosen):
        return
    second = {}
    for t, (first, leaves, seeds) in grads.items():
        try:
            second[t] = t.autograd.grad([first[i] for i in chosen], [*leaves, *seeds],
                                        [t.from_numpy(np.array(w)) for w in weights], allow_unused=True)
        except RuntimeError as error:
            if t is torch and (isinstance(error, NotImplementedError) or "is not implemented" in str(error)):
                return                                   # PyTorch has no second derivative here
            raise
    same(second[ag], second[torch], "second gradient", dtype)


def reached(t, call, sample, alone):
    """Of the first gradients under create_graph: which are functions of something; and for each what a second pass makes of
    the sum of its squares, at each leaf: None, "zeros" or "numbers". alone: the number of the only leaf, None for all."""
    args, kwargs = [sample.input, *sample.args], sample.kwargs
    if t is ag:
        args, kwargs = ours(args), ours(kwargs)
    else:
        args, kwargs = torch.utils._pytree.tree_map(
            lambda x: x.detach().clone().requires_grad_(x.requires_grad) if isinstance(x, torch.Tensor) else x, (args, kwargs))
    leaves = [x for x in flat([args, list(kwargs.values())], t.Tensor) if x.requires_grad]
    if alone is not None:
        if len(leaves) < 2 or alone >= len(leaves):
            return None
        for number, x in enumerate(leaves):
            x.requires_grad_(number == alone)
        leaves = [leaves[alone]]
    ys = [y for y in flat(call(*args, **kwargs), t.Tensor) if y.requires_grad]
    if not ys or not leaves:
        return None
    grads = t.autograd.grad(ys, leaves, [t.ones_like(y).detach() for y in ys], create_graph=True, allow_unused=True)
    found = []
    for g in grads:
        if g is None or not g.requires_grad:
            found.append(g is not None and g.requires_grad)
            continue
        total = (t.view_as_real(g) if str(g.dtype).endswith(("complex64", "complex128")) else g).square().sum()
        second = t.autograd.grad(total, leaves, allow_unused=True, retain_graph=True)
        found.append([None if s is None else "zeros" if np.all(abs(s.detach().numpy(force=True)) < 1e-9) else "numbers"
                      for s in second])
    return found


def check_reach(op, limit):
    """Differences from PyTorch in what reached() says, for all leaves and for each alone."""
    seed(0)
    failures = []
    for kind, theirs, mine in forms(op):
        for sample in itertools.islice(op.sample_inputs("cpu", torch.float64, requires_grad=True), limit):
            for alone in (None, 0, 1, 2):
                if kind not in ("function", "lambda") or drawn(op, sample):
                    continue
                try:
                    expected = reached(torch, theirs, sample, alone)
                except RuntimeError:                     # PyTorch has no second derivative here
                    continue
                found = reached(ag, mine, sample, alone)
                if found != expected:
                    failures.append((kind, brief(sample), f"leaf {alone}: {found}, not {expected}"))
    return failures


def check_forward_mode(op, op_call, our_call, sample, dtype, free):
    """Tangents of one sample, for random tangents of all differentiable inputs."""
    outs = {}
    keep = lambda y: y
    for t, fw, call in ((torch, torch.autograd.forward_ad, op_call), (ag, ag.forward_ad, our_call)):
        shaped = op.gradcheck_wrapper.__name__.endswith(("hermitian_input", "positive_diagonal"))
        if shaped:                                       # what the operation reads is symmetric, or a triangle
            call = functools.partial(op.gradcheck_wrapper if t is torch else with_our_names(op.gradcheck_wrapper), call)
        process = keep if not free else sample.output_process_fn_grad if t is torch else with_our_names(
            sample.output_process_fn_grad)
        rng = np.random.default_rng(1)
        with fw.dual_level():
            def dual(x):
                if not isinstance(x, torch.Tensor) or not x.requires_grad:
                    return x if t is torch else ours(x, False)
                tangent = torch.from_numpy(np.asarray(rng.standard_normal(tuple(x.shape)))).to(x.dtype)
                primal = x.detach().clone()
                return fw.make_dual(primal, tangent) if t is torch else fw.make_dual(ours(primal), ours(tangent))
            def walk(v):
                if isinstance(v, (list, tuple)) and not hasattr(v, "_fields") and not isinstance(v, torch.Size):
                    return type(v)(walk(x) for x in v)
                return {k: walk(x) for k, x in v.items()} if isinstance(v, dict) else dual(v)
            try:
                y = process(call(*[walk(a) for a in [sample.input, *sample.args]], **walk(sample.kwargs)))
            except RuntimeError:
                if t is torch:                           # it needs the storage that a clone does not have
                    return
                raise
            outs[t] = [fw.unpack_dual(x).tangent for x in flat(y, t.Tensor)]
    assert not any(x.requires_grad for x in outs[ag] if x is not None), "a tangent requires grad"
    same(outs[ag], outs[torch], "tangent", dtype, tolerance=1e-7)


def run(op, dtype, orders, forward, limit, kinds):
    """All samples of one operation: a list of (form, sample, what went wrong)."""
    torch_dtype = getattr(torch, dtype)
    grad = torch_dtype in op.supported_backward_dtypes("cpu") if hasattr(op, "supported_backward_dtypes") else True
    if torch_dtype not in op.supported_dtypes("cpu"):
        return []
    grad = grad and op.supports_autograd and torch_dtype.is_floating_point | torch_dtype.is_complex
    twice = op.supports_gradgrad and not op.name.endswith(FIRST_ONLY)
    orders = min(orders, 2 if twice else 1) if grad else 0
    failures = []
    seed(0)
    samples = list(itertools.islice(op.sample_inputs("cpu", torch_dtype, requires_grad=bool(orders)), limit))
    for kind, theirs, mine in forms(op):
        if kind.split()[0] not in kinds:
            continue
        if mine is None:
            failures.append((kind, "-", "MISSING"))
            continue
        for number, sample in enumerate(samples):
            if kind == "in place" and sample.broadcasts_input:
                continue
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    known = op.name not in UNKNOWN_VALUES and not drawn(op, sample)
                    free = op.name.endswith(("eig", "eigh", "svd", "lowrank"))
                    check(kind, theirs, mine, sample, dtype, orders, known, free)
                    if forward and kind in ("function", "lambda") and orders and op.supports_forward_ad and known:
                        check_forward_mode(op, theirs, mine, sample, dtype, free)
            except KeyboardInterrupt:
                raise
            except BaseException as error:
                text = " ".join(str(error).split())[:170]
                failures.append((kind, f"#{number} {brief(sample)}", f"{type(error).__name__}: {text}"))
    if "error" in kinds and op.error_inputs_func is not None:
        failures += errors(op)
    return failures


def errors(op):
    """Error inputs that ours takes without a word."""
    silent = []
    function = resolve(op.name)
    for number, bad in enumerate(op.error_inputs("cpu") if function else ()):
        s = bad.sample_input
        try:
            op.op(s.input, *s.args, **s.kwargs)
        except Exception:
            pass
        else:
            continue
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                STORAGES["on"] = True
                args, kwargs = ours([s.input, *s.args]), ours(s.kwargs)
                function(*args, **kwargs)
        except (RuntimeError, TypeError, ValueError, IndexError, NotImplementedError):
            continue
        except Exception as error:
            silent.append(("error", f"#{number} {brief(s)}", f"{type(error).__name__}: {error}"))
        else:
            silent.append(("error", f"#{number} {brief(s)}", f"no error, where PyTorch says: {str(bad.error_regex)[:80]}"))
        finally:
            STORAGES.clear()
    return silent


def brief(sample):
    """A sample in a few characters."""
    def show(v):
        if isinstance(v, torch.Tensor):
            return f"T{list(v.shape)}" + ("" if v.dtype.is_floating_point else str(v.dtype)[6:])
        if isinstance(v, (list, tuple)):
            return "[" + ",".join(map(show, v)) + "]"
        return str(v)
    return f"{show(sample.input)} {show(list(sample.args))} { {k: show(v) for k, v in sample.kwargs.items()} if sample.kwargs else ''}"[:150]


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("names", nargs="*")
    p.add_argument("--family", default="", help="only names that begin so")
    p.add_argument("--dtype", default="float64")
    p.add_argument("--orders", type=int, default=2)
    p.add_argument("--limit", type=int, default=40, help="samples per operation")
    p.add_argument("--forward", action="store_true", help="forward mode too")
    p.add_argument("--kinds", default="function,method,in,lambda,error")
    p.add_argument("--show", type=int, default=3, help="failures to show per operation")
    o = p.parse_args()
    count = collections.Counter()
    for op in PLAIN:
        if (o.names and op.name not in o.names) or not op.name.startswith(o.family):
            continue
        try:
            failures = run(op, o.dtype, o.orders, o.forward, o.limit, o.kinds.split(","))
        except Exception as error:
            failures = [("harness", "", f"{type(error).__name__}: {str(error)[:150]}")]
        label = op.name + (f" ({op.variant_test_name})" if op.variant_test_name else "")
        state = "ok" if not failures else "missing" if all(f[2] == "MISSING" for f in failures) else "FAIL"
        count[state] += 1
        if failures:
            print(f"{state:8}{label}: {len(failures)}")
            for failure in failures[:o.show] if state == "FAIL" else ():
                print("        ", *failure)
    print(dict(count))
    return 1 if count["FAIL"] else 0


if __name__ == "__main__":
    sys.exit(main())
