"""dparallel's public functions of tensors: complex numbers, the ends of the range, empty and 0-d tensors, float16, nan; on 2 ranks.

The test finds them by itself: each has a row, which gives what NumPy gives in double precision, or a reason.
"""

import types

import numpy as np
import pytest

import autograd as ag
import dparallel
from dparallel import run_ranks

BASE = np.array([3.0, -4.0, 0.5, 0.0, 2.0, -1.0])
KINDS = {"plain": BASE, "complex": (BASE + 1j * BASE[::-1]).astype(np.complex64), "complex128": BASE * 1j + 1, "huge": (BASE * 1e30).astype(np.float32),
         "tiny": (BASE * 1e-30).astype(np.float32), "float16": BASE.astype(np.float16), "infinite": np.array([np.inf, 1.0, -np.inf, 0.0]),
         "nan": np.array([np.nan, 1.0]), "empty": np.zeros(0, np.float32), "0-d": np.float32(3.0), "integers": np.arange(6), "bool": np.array([True, False])}


def clipped(comm, x):
    p = ag.nn.Parameter(ag.zeros_like(x), requires_grad=x.is_floating_point() or x.is_complex())
    p.grad = x
    return [dparallel.clip_grad_norm_([p], 1e30, comm=comm)]


def both_norms(x):
    return [np.sqrt(2 * np.sum(np.abs(x) ** 2))]


def objects(comm, x):
    everywhere, mine = [None, None], [x if comm.rank == 0 else None]
    dparallel.all_gather_object(everywhere, x, comm)
    dparallel.broadcast_object_list(mine, 0, comm)
    at_root, scattered = [None, None] if comm.rank == 0 else None, [None]
    dparallel.gather_object(x, at_root, 0, comm)
    dparallel.scatter_object_list(scattered, [x, x] if comm.rank == 0 else None, 0, comm)
    return [*everywhere, *mine, *scattered, *(at_root or [x, x])]


def same(comm, x):
    dparallel.verify(x, comm)
    dparallel.assert_same_everywhere(x, comm)
    return [x]


def at_root(call):
    """What a call gives on the root; nothing on the other rank."""
    return lambda comm, x: [v for v in [call(comm, x)] if comm.rank == 0]


ROWS = {                                             # a call of (comm, tensor), and what it gives, of the wide array; [] on a rank without a result
    "clip_grad_norm_": (clipped, both_norms), "all_gather_object": (objects, lambda x: [x] * 6), "broadcast_object_list": (objects, lambda x: [x] * 6),
    "gather_object": (objects, lambda x: [x] * 6), "scatter_object_list": (objects, lambda x: [x] * 6), "verify": (same, lambda x: [x]),
    "assert_same_everywhere": (same, lambda x: [x]), "broadcast": (lambda comm, x: dparallel.broadcast(x if comm.rank == 0 else None, comm), lambda x: [x]),
    "broadcast_coalesced": (lambda comm, x: dparallel.broadcast_coalesced([x, x * 1], comm)[0], lambda x: [x, x]),
    "reduce_add": (at_root(lambda comm, x: dparallel.reduce_add([x], comm)), lambda x: [x + x]),
    "reduce_add_coalesced": (at_root(lambda comm, x: dparallel.reduce_add_coalesced([[x]], comm)[0]), lambda x: [x + x]),
    "scatter": (lambda comm, x: dparallel.scatter(x if comm.rank == 0 else None, comm, sizes=[len(x), 0])[:1 - comm.rank], lambda x: [x]),
    "gather": (at_root(lambda comm, x: dparallel.gather([x], comm)), lambda x: [np.concatenate([np.atleast_1d(x)] * 2)]),
    "gather_for_metrics": (lambda comm, x: [dparallel.gather_for_metrics(x, comm=comm)], lambda x: [np.concatenate([np.atleast_1d(x)] * 2)]),
    "join": (lambda comm, x: [dparallel.join(x, None)], lambda x: [x]),
}
REASONS = {
    "of modules, files, jobs or functions, whatever their numbers are": """choose_allreduce convert_sync_batchnorm data_parallel evaluate from_mpi import_module
        linear_scaling load_all main_process notebook_launcher on_main_process parallel_apply predict print_once rank_zero_only replicate
        report_progress run_ranks save_all scatter_kwargs stall_limit survive world""",
    "a checker of derivatives, which needs double precision; test_checkers.py": "check_adjoint",
}
REASON_OF = {name: reason for reason, names in REASONS.items() for name in names.split()}
REFUSED = {("clip_grad_norm_", "integers"), ("clip_grad_norm_", "bool"), ("scatter", "0-d"), ("join", "integers"), ("join", "bool")}


def test_every_helper_has_a_row_or_a_reason():
    """Fails with the names that have neither: add a row to ROWS, or a line to REASONS."""
    functions = {name for name in dir(dparallel) if not name.startswith("_") and callable(getattr(dparallel, name))
                 and not isinstance(getattr(dparallel, name), (type, types.ModuleType))}
    assert not {name for name in functions if name not in ROWS and name not in REASON_OF}
    assert not [name for name in [*ROWS, *REASON_OF] if not callable(getattr(dparallel, name))]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ROWS)
def test_values(name, kind):
    data, (call, expected) = np.asarray(KINDS[kind]), ROWS[name]

    def run(comm):
        if (name, kind) in REFUSED:
            with pytest.raises((RuntimeError, TypeError, ValueError, IndexError)):
                call(comm, ag.tensor(data))
            return
        with np.errstate(all="ignore"):
            wide = data.astype({"f": np.float64, "c": np.complex128}.get(data.dtype.kind, data.dtype))
            found, truth = call(comm, ag.tensor(data)), expected(wide)
            if not found and comm.rank:
                return                               # the root has it
            for a, b in zip(found, truth, strict=True):
                np.testing.assert_allclose(a.detach().numpy(), np.asarray(b).astype(a.numpy().dtype), rtol=2e-3 if data.dtype == np.float16 else 1e-5)

    run_ranks(2, run)
