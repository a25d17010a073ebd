"""Helpers outside of the tables of operations (cases/, opinfo.py): complex numbers, the ends of the range, empty and 0-d input, float16.

The test finds helpers by itself: each public function is in a table of operations, has a row here, or a reason. A row is run on
every kind of input beside PyTorch; where the two differ, ours must be what float64 or complex128 gives.
"""

import importlib
import importlib.util
import pkgutil
import types
import warnings

import numpy as np
import pytest

pytest.importorskip("torch")
pytest.importorskip("expecttest")

import opinfo
import torch
from cases import CASES

import autograd as ag

# Rooms and doors without helpers of numbers, and where they are tested instead.
ELSEWHERE = {
    "devices, and how they are set": "accelerator backends cpu cuda mps xpu",
    "exporters, compilers, other processes; test_package_names.py": "compiler fx hub jit library multiprocessing onnx overrides",
    "tests/dparallel, test_odd_inputs_on_ranks.py": "distributed nn.parallel utils.data.distributed",
    "test_profiler.py, test_flop_counter.py, test_tensorboard.py": "profiler utils.flop_counter utils.tensorboard",
    "types and tables": "nn.common_types ops types version",
    "formulas of optimisers, test_optimizers.py": "optim.radam",
}


def public_modules():
    """The modules that PyTorch has too, shorter names first."""
    found = {""}
    for info in pkgutil.walk_packages(ag.__path__, "autograd.", onerror=lambda name: None):
        path = info.name.partition(".")[2]
        parts = path.split(".")
        if parts[0] == "autograd" or any(part.startswith("_") for part in parts):
            continue
        if any(path == other or path.startswith(f"{other}.") for names in ELSEWHERE.values() for other in names.split()):
            continue
        if any(has_module(f"{root}.{path}") for root in ("torch", "torch.autograd")):
            found.add(path)
    return sorted(found, key=lambda path: (path.count("."), path))


def has_module(name):
    try:
        return importlib.util.find_spec(name) is not None
    except ModuleNotFoundError:
        return False


for path in ("torch.nn.utils.prune", "torch.nn.utils.stateless", "torch.nn.grad", "autograd.nn.utils.prune"):      # not imported by themselves
    importlib.import_module(path)
INF = float("inf")
BASE = np.array([3.0, -4.0, 0.5, 0.0, 2.0, -1.0])
KINDS = {"plain": BASE, "complex": (BASE + 1j * np.array([1, 7, 0, 5, -8, 0])).astype(np.complex64), "complex128": BASE * 1j + 1,
         "huge": (BASE * 1e30).astype(np.float32), "tiny": (BASE * 1e-30).astype(np.float32), "float16": BASE.astype(np.float16),
         "float16 large": (BASE * 8000).astype(np.float16), "infinite": np.array([INF, 1.0, -INF, 0.0, 2.0, 3.0]), "nan": np.array([1.0, np.nan, 2.0, 0, 1, 3]),
         "empty": np.zeros(0, np.float32), "0-d": np.float32(3.0), "integers": np.arange(6), "bool": np.array([True, False, True, True, False, False])}


# --- what a row is made of: a call of (library, tensor) -------------------------------------------------------------------

def leaf(t, x, shape=None):
    """A parameter whose gradient is x."""
    p = t.nn.Parameter(t.zeros_like(x), requires_grad=x.is_floating_point() or x.is_complex())
    p.grad = x.clone()
    return p


def clipped(clip):
    def call(t, x):
        p, q = leaf(t, x), t.nn.Parameter(t.zeros(2))
        out = clip(t.nn.utils, [p, q])
        return out, p.grad

    return call


def linear(t, x, rows=2):
    """A layer whose weight is x, as a matrix of two rows."""
    layer = t.nn.Linear(3, 2, bias=False)
    layer.weight = t.nn.Parameter(x.reshape(rows, -1).clone(), requires_grad=x.is_floating_point() or x.is_complex())
    return layer


def pruned(prune):
    def call(t, x):
        layer = linear(t, x)
        prune(t.nn.utils.prune, layer)
        return layer.weight_mask, layer.weight

    return call


def derivative(name, *more):
    def call(t, x):
        found = getattr(t.func, name)(lambda x: (x * x * x).sum().real if x.is_complex() else (x * x * x).sum(), *more)(x)
        return found

    return call


def of_functional(name, *values):
    return lambda t, x: getattr(t.autograd.functional, name)(lambda x: (x * x * x.conj()).sum(), x, *[v(t, x) for v in values])


def filled(fill):
    def call(t, x):
        out = x.clone().reshape(-1)
        fill(t.nn.init, out)
        return out

    return call


def matrix(t, x):
    return x.reshape(2, 3) if x.numel() == 6 else x


def window(name):
    return lambda t, x: getattr(t, name)(x.numel(), dtype=x.dtype)


def frequencies(name):
    return lambda t, x: getattr(t.fft, name)(x.numel(), 0.5, dtype=x.dtype)


def averaged(make):
    def call(t, x):
        return make(t.optim.swa_utils)(x.clone(), x.clone() * 2, t.tensor(3))

    return call


def averaged_lists(make):
    def call(t, x):
        mine, theirs = [x.clone(), x.clone()], [x * 2, x * 3]
        make(t.optim.swa_utils)(mine, theirs, t.tensor(3))
        return mine

    return call


def kl(first, second):
    return lambda t, x: t.distributions.kl_divergence(first(t, x), second(t, x))


def normal(t, x, scale=1.0):
    return t.distributions.Normal(x, scale, validate_args=False)


def dual(t, x):
    forward_ad = t.autograd.forward_ad if t is torch else t.forward_ad
    with forward_ad.dual_level():
        return list(forward_ad.unpack_dual(forward_ad.make_dual(x, x) * forward_ad.make_dual(x, x)))


def packed(t, x):
    rnn = t.nn.utils.rnn
    return rnn.pad_packed_sequence(rnn.pack_padded_sequence(x.reshape(3, 2), [3, 2]))


def images(t, x):
    return x.reshape(1, 1, 6)


def in_space(n, x):
    """A row of numbers, or its shape, as one sample of n dimensions."""
    return (1, 1, *[1] * (n - 1), *x) if isinstance(x, tuple) else x.reshape(1, 1, *[1] * (n - 1), 6)


def boxes(t, x):
    return x.reshape(1, 1, 2, 3).repeat(1, 1, 2, 2)


F = "nn.functional."
ROWS = {
    "nn.utils.clip_grad_norm_": [clipped(lambda u, ps, order=order: u.clip_grad_norm_(ps, 1.0, norm_type=order)) for order in (2, 1, 3, INF, 0.5)],
    "nn.utils.clip_grad_norm": [clipped(lambda u, ps: u.clip_grad_norm(ps, 1.0))],
    "nn.utils.clip_grad_value_": [clipped(lambda u, ps: u.clip_grad_value_(ps, 1.0))],
    "nn.utils.clip_grads_with_norm_": [clipped(lambda u, ps: u.clip_grads_with_norm_(ps, 1.0, u.get_total_norm([ps[0].grad])))],
    "nn.utils.get_total_norm": [lambda t, x, order=order: t.nn.utils.get_total_norm([x, t.ones(2)], order) for order in (2, 1, 3, INF, -INF)],
    "nn.utils.parameters_to_vector": [lambda t, x: t.nn.utils.parameters_to_vector([x, x])],
    "nn.utils.vector_to_parameters": [lambda t, x: (p := t.zeros_like(x), t.nn.utils.vector_to_parameters(x.reshape(-1), [p]))[0]],
    "nn.utils.weight_norm": [lambda t, x, d=d: t.nn.utils.weight_norm(linear(t, x), dim=d).weight for d in (0, None)],
    "nn.utils.remove_weight_norm": [lambda t, x: t.nn.utils.remove_weight_norm(t.nn.utils.weight_norm(linear(t, x))).weight],
    "nn.utils.parametrizations.weight_norm": [lambda t, x: t.nn.utils.parametrizations.weight_norm(linear(t, x)).weight],
    **{f"nn.utils.{name}": [lambda t, x, name=name, more=more: list(getattr(t.nn.utils, name)(
        x.reshape(2, 3, *more), None, t.ones(2, dtype=x.dtype), 4 * t.ones(2, dtype=x.dtype), 1e-5, t.ones(2, dtype=x.dtype), t.ones(2, dtype=x.dtype)))]
       for name, more in (("fuse_conv_bn_weights", (1,)), ("fuse_linear_bn_weights", ()))},
    "nn.utils.rnn.pad_sequence": [lambda t, x: t.nn.utils.rnn.pad_sequence([x, x[:2]], padding_value=1)],
    "nn.utils.rnn.unpad_sequence": [lambda t, x: t.nn.utils.rnn.unpad_sequence(x.reshape(3, 2), t.tensor([3, 2]))],
    "nn.utils.rnn.pack_padded_sequence": [packed], "nn.utils.rnn.pad_packed_sequence": [packed],
    "nn.utils.rnn.pack_sequence": [lambda t, x: t.nn.utils.rnn.pack_sequence([x, x[:2]]).data],
    "nn.utils.rnn.unpack_sequence": [lambda t, x: t.nn.utils.rnn.unpack_sequence(t.nn.utils.rnn.pack_sequence([x, x[:2]]))],
    "nn.utils.rnn.invert_permutation": [lambda t, x: t.nn.utils.rnn.invert_permutation(t.argsort(x.real if x.is_complex() else x))],
    "nn.utils.prune.l1_unstructured": [pruned(lambda p, layer, n=n: p.l1_unstructured(layer, "weight", n)) for n in (2, 0.5)],
    "nn.utils.prune.ln_structured": [pruned(lambda p, layer, n=n: p.ln_structured(layer, "weight", 1, n, 1)) for n in (1, 2, INF)],
    "nn.utils.prune.identity": [pruned(lambda p, layer: p.identity(layer, "weight"))],
    "nn.utils.prune.custom_from_mask": [pruned(lambda p, layer: p.custom_from_mask(layer, "weight", layer.weight.detach() != 0))],
    "nn.utils.prune.global_unstructured": [pruned(lambda p, layer: p.global_unstructured([(layer, "weight")], p.L1Unstructured, amount=3))],
    "nn.utils.prune.remove": [lambda t, x: (p := t.nn.utils.prune, layer := linear(t, x), p.identity(layer, "weight"), p.remove(layer, "weight"))[1].weight],
    "nn.utils.stateless.functional_call": [lambda t, x: t.nn.utils.stateless.functional_call(linear(t, x), {"weight": x.reshape(2, -1)}, (x.reshape(2, -1),))],
    "func.functional_call": [lambda t, x: t.func.functional_call(linear(t, x), {"weight": x.reshape(2, -1)}, (x.reshape(2, -1),))],
    "nn.init.constant_": [filled(lambda i, x, v=v: i.constant_(x, v)) for v in (0.5, 1e300, 70000.0)],
    "nn.init.ones_": [filled(lambda i, x: i.ones_(x))], "nn.init.zeros_": [filled(lambda i, x: i.zeros_(x))],
    "nn.init.eye_": [lambda t, x: t.nn.init.eye_(matrix(t, x.clone()))],
    "nn.init.dirac_": [lambda t, x: t.nn.init.dirac_(x.clone().reshape(3, 2, 1))],
    "nn.init.calculate_gain": [lambda t, x: t.tensor(t.nn.init.calculate_gain("leaky_relu", float(x.reshape(-1)[0].real)))],
    **{name: [window(name)] for name in ("bartlett_window", "blackman_window", "hamming_window", "hann_window", "kaiser_window")},
    **{f"fft.{name}": [frequencies(name)] for name in ("fftfreq", "rfftfreq")},
    **{name: [lambda t, x, name=name: t.tensor(getattr(t, name)(x))] for name in (
        "is_complex", "is_floating_point", "is_nonzero", "is_signed", "is_tensor", "is_conj", "is_neg", "is_inference", "numel")},
    "is_same_size": [lambda t, x: t.tensor(t.is_same_size(x, x.reshape(-1)))],
    "result_type": [lambda t, x, y=y: t.zeros(1, dtype=t.result_type(x, y)) for y in (1, 1.5, 1j, True)],
    "promote_types": [lambda t, x, d=d: t.zeros(1, dtype=t.promote_types(x.dtype, getattr(t, d))) for d in ("float32", "int64", "complex64", "bool")],
    "can_cast": [lambda t, x, d=d: t.tensor(t.can_cast(x.dtype, getattr(t, d))) for d in ("float32", "int64", "complex64", "bool")],
    "detach": [lambda t, x: t.detach(x)], "detach_copy": [lambda t, x: t.detach_copy(x)],
    "from_dlpack": [lambda t, x: t.from_dlpack(x)], "tensor": [lambda t, x: t.tensor(x.tolist(), dtype=x.dtype)],
    "from_numpy": [lambda t, x: t.from_numpy(x.numpy())], "frombuffer": [lambda t, x: t.frombuffer(bytearray(x.numpy().tobytes()), dtype=x.dtype)],
    "frobenius_norm": [lambda t, x: t.frobenius_norm(matrix(t, x), (0, 1) if x.numel() == 6 else ())],
    "mvlgamma": [lambda t, x: t.mvlgamma(x.abs() + 2, 2)], "polygamma": [lambda t, x, n=n: t.polygamma(n, x) for n in (0, 1, 2)],
    "conv_tbc": [lambda t, x: t.conv_tbc(x.reshape(3, 1, 2), x.reshape(1, 2, 3), x.reshape(2, 3)[0])],
    F + "conv_tbc": [lambda t, x: t.nn.functional.conv_tbc(x.reshape(3, 1, 2), x.reshape(1, 2, 3), x.reshape(2, 3)[0])],
    **{f"nn.grad.conv{n}d_{what}": [lambda t, x, n=n, what=what: getattr(t.nn.grad, f"conv{n}d_{what}")(
        *((in_space(n, (6,)), in_space(n, x)[..., :2]) if what == "input" else (in_space(n, x), in_space(n, (2,)))), in_space(n, x)[..., :5])]
       for n in (1, 2, 3) for what in ("input", "weight")},
    "testing.assert_close": [lambda t, x: (t.testing.assert_close(x, x.clone(), equal_nan=True), x)[1], lambda t, x: t.testing.assert_close(x, x * 3)],
    "convolution": [lambda t, x: t.convolution(images(t, x), x.reshape(1, 1, 6)[..., :2], None, [1], [0], [1], False, [0], 1)],
    "affine_grid_generator": [lambda t, x: t.affine_grid_generator(x.reshape(1, 2, 3), (1, 1, 2, 2), True)],
    "grid_sampler": [lambda t, x: t.grid_sampler(x.reshape(1, 1, 2, 3), x.reshape(1, 1, 3, 2), 0, 0, True)],
    **{F + name: [lambda t, x, name=name: list(getattr(t.nn.functional, name)(images(t, x), 2))] for name in ("max_pool1d_with_indices", "adaptive_max_pool1d_with_indices")},
    "max_pool1d_with_indices": [lambda t, x: list(t.max_pool1d_with_indices(images(t, x), 2))],
    **{F + name: [lambda t, x, name=name: list(getattr(t.nn.functional, name)(boxes(t, x), 2))] for name in ("max_pool2d_with_indices", "adaptive_max_pool2d_with_indices")},
    **{F + name: [lambda t, x, name=name: list(getattr(t.nn.functional, name)(boxes(t, x).reshape(1, 1, 2, 2, 6), 2))] for name in (
        "max_pool3d_with_indices", "adaptive_max_pool3d_with_indices")},
    "special.gammainc": [lambda t, x: t.special.gammainc(x.abs() + 1, x.abs())], "special.gammaincc": [lambda t, x: t.special.gammaincc(x.abs() + 1, x.abs())],
    "optim.swa_utils.get_ema_avg_fn": [averaged(lambda s: s.get_ema_avg_fn(0.9))], "optim.swa_utils.get_swa_avg_fn": [averaged(lambda s: s.get_swa_avg_fn())],
    "optim.swa_utils.get_ema_multi_avg_fn": [averaged_lists(lambda s: s.get_ema_multi_avg_fn(0.9))],
    "optim.swa_utils.get_swa_multi_avg_fn": [averaged_lists(lambda s: s.get_swa_multi_avg_fn())],
    "distributions.kl_divergence": [kl(lambda t, x: normal(t, x), lambda t, x: normal(t, 0 * x)), kl(lambda t, x: normal(t, 0 * x), lambda t, x: normal(t, x)),
                                    kl(lambda t, x: t.distributions.Bernoulli(logits=x, validate_args=False), lambda t, x: t.distributions.Bernoulli(logits=x / 2, validate_args=False)),
                                    kl(lambda t, x: t.distributions.Categorical(logits=x, validate_args=False), lambda t, x: t.distributions.Categorical(logits=-x, validate_args=False))],
    "forward_ad.make_dual": [dual], "forward_ad.unpack_dual": [dual],
    **{f"func.{name}": [derivative(name)] for name in ("grad", "grad_and_value", "hessian", "jacfwd", "jacrev")},
    "func.jvp": [lambda t, x: list(t.func.jvp(lambda x: x * x, (x,), (x,)))], "func.vjp": [lambda t, x: t.func.vjp(lambda x: x * x, x)[1](x)[0]],
    "func.linearize": [lambda t, x: t.func.linearize(lambda x: x * x, x)[1](x)], "func.vmap": [lambda t, x: t.func.vmap(lambda x: x * x)(x)], "vmap": [lambda t, x: t.vmap(lambda x: x * x)(x)],
    **{f"functional.{name}": [of_functional(name)] for name in ("jacobian", "hessian")},
    **{f"functional.{name}": [of_functional(name, lambda t, x: x)] for name in ("jvp", "hvp", "vhp")}, "functional.vjp": [of_functional("vjp", lambda t, x: (x * x * x.conj()).sum())],
    "utils.data.default_collate": [lambda t, x: t.utils.data.default_collate([x, x])], "utils.data.default_convert": [lambda t, x: t.utils.data.default_convert({"x": x.numpy()})["x"]],
    "utils.checkpoint.checkpoint": [lambda t, x: t.utils.checkpoint.checkpoint(lambda x: x * x, x, use_reentrant=False)],
    "utils.checkpoint.checkpoint_sequential": [lambda t, x: t.utils.checkpoint.checkpoint_sequential([t.nn.Identity(), t.nn.Identity()], 2, x, use_reentrant=False)],
    "utils.checkpoint.detach_variable": [lambda t, x: t.utils.checkpoint.detach_variable((x,))[0]],
}

# Helpers without a row, and why: one line for each kind.
REASONS = {
    "names of classes, no numbers: test_package_names.py": "serialization.clear_safe_globals serialization.get_safe_globals",
    "its result is random; test_random.py, test_nn_init.py": """alpha_dropout draw feature_alpha_dropout feature_dropout feature_dropout_ poisson rand randperm rrelu
        nn.functional.dropout1d nn.functional.gumbel_softmax nn.functional.fractional_max_pool2d_with_indices
        nn.functional.fractional_max_pool3d_with_indices nn.init.kaiming_normal nn.init.kaiming_normal_ nn.init.kaiming_uniform
        nn.init.kaiming_uniform_ nn.init.orthogonal nn.init.orthogonal_ nn.init.sparse nn.init.sparse_ nn.init.trunc_normal_ nn.init.xavier_normal
        nn.init.xavier_normal_ nn.init.xavier_uniform nn.init.xavier_uniform_ nn.utils.prune.random_unstructured
        nn.utils.prune.random_structured utils.data.random_split""",
    "an older name of the one that ends in _": "nn.init.constant nn.init.dirac",
    "a setting, or the state of something, no tensor": """amp.is_autocast_available are_deterministic_algorithms_enabled
        autocast_decrement_nesting autocast_increment_nesting clear_autocast_cache fork_rng forward_ad.enter_dual_level
        forward_ad.exit_dual_level func.stack_module_state get_autocast_dtype get_default_device get_default_dtype
        get_float32_matmul_precision get_num_interop_threads get_num_threads get_printoptions get_rng_state initial_seed
        is_anomaly_check_nan_enabled is_anomaly_enabled is_autocast_available is_autocast_cache_enabled is_autocast_enabled is_grad_enabled
        is_inference_mode_enabled is_multithreading_enabled manual_seed nn.attention.sdpa_kernel random.default_generator random.fork_rng
        random.get_rng_state random.initial_seed random.manual_seed random.seed random.set_rng_state random.use_generator seed
        set_anomaly_enabled set_autocast_cache_enabled set_autocast_dtype set_autocast_enabled set_default_device set_default_dtype
        set_default_tensor_type set_float32_matmul_precision set_flush_denormal set_num_interop_threads set_num_threads set_printoptions
        set_rng_state show_config use_deterministic_algorithms utils.checkpoint.set_checkpoint_debug_enabled
        utils.checkpoint.set_checkpoint_early_stop utils.data.get_worker_info get_autocast_cpu_dtype get_autocast_gpu_dtype
        get_autocast_ipu_dtype get_autocast_xla_dtype is_autocast_cpu_enabled is_autocast_ipu_enabled is_autocast_xla_enabled
        set_autocast_cpu_dtype set_autocast_cpu_enabled set_autocast_gpu_dtype set_autocast_ipu_dtype set_autocast_ipu_enabled
        set_autocast_xla_dtype set_autocast_xla_enabled""",
    "of modules, nodes or classes, whatever their numbers are": """amp.custom_bwd amp.custom_fwd compile distributions.register_kl
        function.once_differentiable nn.utils.fuse_conv_bn_eval nn.utils.fuse_linear_bn_eval graph.get_gradient_edge graph.increment_version graph.register_multi_grad_hook nn.init.fans nn.parameter.is_lazy
        nn.utils.parametrize.cached nn.utils.parametrize.is_parametrized nn.utils.parametrize.register_parametrization
        nn.utils.parametrize.remove_parametrizations nn.utils.parametrize.transfer_parametrizations_and_params
        nn.utils.parametrize.type_before_parametrizations nn.utils.prune.is_pruned nn.utils.skip_init once_differentiable trace_step
        utils.checkpoint.check_backward_validity utils.checkpoint.noop_context_fn""",
    "hooks on all modules or optimisers; test_hooks.py, test_optimizer_base.py": """nn.modules.module.register_module_backward_hook
        nn.modules.module.register_module_buffer_registration_hook nn.modules.module.register_module_forward_hook
        nn.modules.module.register_module_forward_pre_hook nn.modules.module.register_module_full_backward_hook
        nn.modules.module.register_module_full_backward_pre_hook nn.modules.module.register_module_module_registration_hook
        nn.modules.module.register_module_parameter_registration_hook optim.optimizer.evaluate
        optim.optimizer.register_optimizer_step_post_hook optim.optimizer.register_optimizer_step_pre_hook""",
    "of names, datasets or types, no numbers": """nn.modules.utils.consume_prefix_in_state_dict_if_present optim.optimizer.ParamsT
        utils.data.dataset.items_of utils.data.sampler.draw_seed distributions.independent.summed""",
    "files; test_save_load.py": """load save serialization.load serialization.save serialization.add_safe_globals serialization.safe_globals""",
    "checked by what it is for, test_ops.py": "backward grad gradcheck gradgradcheck",
    "a power iteration or QR with a free sign; test_parametrize.py": """nn.utils.spectral_norm nn.utils.remove_spectral_norm
        nn.utils.parametrizations.spectral_norm nn.utils.parametrizations.orthogonal""",
    "a module's statistics; test_averaged_models.py": "optim.swa_utils.update_bn",
    "sparse matrices, which are not here": "spmm",
    "the operation of nn.functional by another name, its own row": "batch_norm dropout embedding instance_norm",
}
REASON_OF = {name: reason for reason, names in REASONS.items() for name in names.split()}


def helpers():
    """The dotted names of public functions that no table of operations has."""
    tables = {op.name for op in opinfo.PLAIN} | {alias.name for op in opinfo.PLAIN for alias in op.aliases}
    tables |= {name.rpartition("nn.functional.")[2] for name in tables} | {case.name.split()[0] for case in CASES}
    seen = set()
    for path in public_modules():
        module = importlib.import_module(f"autograd.{path}".rstrip("."))
        for name in getattr(module, "__all__", None) or dir(module):
            found = getattr(module, name, None)
            if name.startswith("_") or isinstance(found, (type, types.ModuleType)) or not callable(found) or name.endswith("Tensor"):
                continue
            if path and not hasattr(module, "__all__") and getattr(found, "__module__", None) != module.__name__:
                continue                             # imported there
            full = f"{path}.{name}".lstrip(".")
            in_place = name.endswith("_") and (hasattr(ag.Tensor, name) or name.rstrip("_") in tables)
            in_place |= name.endswith("_") and f"{path}.{name.rstrip('_')}".lstrip(".") in tables
            if full not in tables and name not in tables and not in_place and id(found) not in seen:
                seen.add(id(found))
                yield full


def test_every_helper_has_a_row_or_a_reason():
    """Fails with the names that have neither: add a row to ROWS, or a line to REASONS."""
    found = set(helpers())
    assert not {name for name in found if name not in ROWS and name not in REASON_OF}
    assert not set(ROWS) & set(REASON_OF)


def test_no_reason_outlives_its_helper():
    for name in [*ROWS, *REASON_OF]:
        place = ag
        for part in name.split("."):
            place = getattr(place, part, None) or importlib.import_module(f"{place.__name__}.{part}")
        assert callable(place), name


def outcome(t, call, data):
    """The arrays that a call gives, or its error."""
    make = ag.tensor if t is ag else torch.tensor
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return arrays(call(t, make(data)), t)
        except (RuntimeError, TypeError, ValueError, IndexError, AssertionError, NotImplementedError, OverflowError, KeyError) as error:
            assert not isinstance(error, (AssertionError, KeyError)) or t is torch or str(error), error
            return error


def arrays(found, t):
    if isinstance(found, t.Tensor):
        return [found.detach().resolve_conj().numpy() if t is torch else found.detach().numpy()]
    return [a for part in (found.values() if isinstance(found, dict) else found or ()) for a in arrays(part, t)]


def near(ours, theirs, half):
    """Whether two lists of arrays agree; in half precision to its last digits."""
    return len(ours) == len(theirs) and all(
        a.shape == b.shape and np.allclose(a, b, rtol=5e-3 if half else 2e-5, atol=np.abs(b[np.isfinite(b)]).max(initial=0) * (2e-3 if half else 1e-6),
                                           equal_nan=True) for a, b in zip(ours, theirs))


WIDE = {"f": np.float64, "c": np.complex128}
REFUSED = "PyTorch has no kernel, or refuses; ours is right"
BETTER = {                                           # (name, kind): why ours is another result than PyTorch's, in every precision
    **{(f"nn.utils.{name}", "empty"): "a gradient without elements does not count" for name in ("clip_grad_norm_", "get_total_norm")},
    **{(f"nn.utils.{name}weight_norm", kind): REFUSED for name in ("", "remove_", "parametrizations.") for kind in ("complex", "complex128")},
    **{(f"nn.grad.conv{n}d_{what}", kind): REFUSED for n in (1, 2, 3) for what in ("input", "weight") for kind in ("complex", "complex128")},
    **{("polygamma", kind): "PyTorch misses poles by rounding" for kind in ("plain", "huge", "infinite")},
    **{("convolution", kind): REFUSED for kind in ("complex", "complex128")}, ("functional.hessian", "empty"): REFUSED,
    **{(f"fft.{name}", kind): REFUSED for name in ("fftfreq", "rfftfreq") for kind in ("complex", "complex128")},
    ("optim.swa_utils.get_swa_multi_avg_fn", "integers"): "counters among the buffers are averaged too", ("mvlgamma", "bool"): REFUSED,
    ("nn.utils.fuse_conv_bn_weights", "integers"): "integers are no weights: the factor 1/2 is rounded to 0",
    **{(name, "empty"): "refused: no sample shows the shapes" for name in ("vmap", "func.vmap")},
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ROWS)
def test_beside_pytorch(name, kind):
    data = np.asarray(KINDS[kind])
    for number, call in enumerate(ROWS[name]):
        ours, theirs = outcome(ag, call, data), outcome(torch, call, data)
        if isinstance(theirs, Exception) and isinstance(ours, Exception):
            continue
        with np.errstate(all="ignore"):
            if not isinstance(ours, Exception) and not isinstance(theirs, Exception) and [a.dtype for a in ours] == [b.dtype for b in theirs] and near(
                    ours, theirs, data.dtype.itemsize == 2):
                continue
            wide = outcome(torch, call, data.astype(WIDE.get(data.dtype.kind, data.dtype)))
            if not isinstance(ours, Exception) and not isinstance(wide, Exception) and near(
                    ours, [w.astype(a.dtype) for a, w in zip(ours, wide)], data.dtype.itemsize == 2):
                continue
        assert (name, kind) in BETTER, f"call {number}: {ours!r}; PyTorch: {theirs!r}"
