"""The profiler: what it sees and how it is counted, beside PyTorch's own profiler on the same model."""

import gzip
import json
import threading
import time
import warnings

import numpy as np
import pytest

import autograd as ag
from autograd import nn
from autograd.compile import trace_step
from autograd.core.modes import GRAD, modes
from autograd.core.operation import Operation
from autograd.core.parallel import run_lanes
from autograd.profiler import ProfilerAction, ProfilerActivity, profile, record_function, schedule, tensorboard_trace_handler
from autograd.spans import spans
from autograd.utils.checkpoint import checkpoint
from autograd.utils.data import DataLoader

TWO = ag.ones(2)
ENGINE = "autograd::engine::evaluate_function: "
LEAF = "torch::autograd::AccumulateGrad"


def step(lib, net, optimizer):
    x = lib.ones(3, 4)
    out = net(x)
    (out * out).sum().backward()
    optimizer.step()
    optimizer.zero_grad()


def model(lib, nn):
    net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))
    return net, lib.optim.SGD(net.parameters(), lr=0.1)


def profiled(run, **settings):
    with profile(**settings) as prof:
        run()
    return prof


def counts(prof):
    return {e.key: e.count for e in prof.key_averages()}


def names(prof):
    return [e.name for e in prof.events()]


@pytest.fixture
def ours():
    net, optimizer = model(ag, nn)
    return lambda: step(ag, net, optimizer)


# --- beside PyTorch ---------------------------------------------------------------------------------------------------

def torch_profiled(**settings):
    torch = pytest.importorskip("torch")
    net, optimizer = model(torch, torch.nn)
    step(torch, net, optimizer)
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU], **settings) as prof:
        step(torch, net, optimizer)
    return prof


def test_names_and_counts_are_pytorchs(ours):
    theirs, found = counts(torch_profiled()), counts(profiled(ours))
    shared = ["aten::addmm", "aten::relu", "Optimizer.step#SGD.step", "Optimizer.zero_grad#SGD.zero_grad", LEAF, ENGINE + LEAF,
              *(prefix + f"{name}Backward0" for name in ("Addmm", "Relu", "Mul", "Sum") for prefix in ("", ENGINE))]
    assert {name: found.get(name) for name in shared} == {name: theirs[name] for name in shared}


@pytest.mark.parametrize("settings, grouping, options", [
    ({}, {}, {}), ({"record_shapes": True}, {"group_by_input_shape": True}, {}), ({}, {}, {"time_unit": "ms", "header": "a title"}),
    ({}, {}, {"top_level_events_only": True, "row_limit": 2})])
def test_tables_have_pytorchs_columns(ours, settings, grouping, options):
    theirs = torch_profiled(**settings).key_averages(**grouping).table(sort_by="self_cpu_time_total", **options).splitlines()
    found = profiled(ours, **settings).key_averages(**grouping).table(sort_by="self_cpu_time_total", **options).splitlines()
    title = next(n for n, line in enumerate(theirs) if line.split()[0] == "Name")
    assert found[title].split() == theirs[title].split() and found[title - 1].startswith("---")
    assert found[-1].split(":")[0] == theirs[-1].split(":")[0] == "Self CPU time total"
    if "row_limit" in options:
        assert len(found) == len(theirs)


def test_public_names_are_pytorchs():
    torch = pytest.importorskip("torch")
    import autograd.autograd.profiler as door
    from autograd import profiler
    assert door.record_function is profiler.record_function and ag.autograd.profiler is door
    missing = set(torch.profiler.__all__) - set(profiler.__all__)
    assert missing == {"ExecutionTraceObserver"}
    theirs = {n for n in vars(torch.autograd.profiler_util.FunctionEvent(0, "n", 0, 0, 1)) if not n.startswith("_")}
    event = profiled(lambda: ag.ones(2) * 2).events()[0]
    of_devices = {"device_resource_id", "kernels", "activity_type", "flow_id", "flow_type", "flow_start", "external_id",
                  "linked_correlation_id", "event_metadata", "python_id", "python_parent_id", "python_module_id",
                  "self_cpu_percent", "total_cpu_percent", "total_device_percent", "structured_input_strides"}
    assert {n for n in theirs if not hasattr(event, n)} == of_devices


# --- what it sees -----------------------------------------------------------------------------------------------------

class Double(ag.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, g):
        return g * 2


CALLS = {"aten::exp": lambda x: x.exp(), "aten::mul": lambda x: x * x, "aten::transpose": lambda x: x.transpose(0, 1),
         "aten::sum": lambda x: x.sum(), "Double": Double.apply, "aten::eq": lambda x: x == 1, "aten::addmm": lambda x: nn.functional.linear(x, x, x[0]),
         "aten::argmax": lambda x: x.argmax(), "aten::split": lambda x: x.split(1)[0], "aten::randn": lambda x: ag.randn(3)}


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("requires_grad", [False, True])
def test_every_kind_of_call_is_one_event(name, requires_grad):
    x = ag.ones(2, 2, requires_grad=requires_grad)
    prof = profiled(lambda: CALLS[name](x))
    found = [e for e in prof.events() if e.name == name]
    assert len(found) == 1 and found[0].cpu_parent is None
    made = CALLS[name](x).grad_fn
    assert (found[0].sequence_nr >= 0) == (made is not None)


def test_backward_events_know_their_forward_call():
    x = ag.ones(2, requires_grad=True)

    def run():
        (x.exp() * 3).sum().backward()

    events = profiled(run, with_stack=True, record_shapes=True).events()
    by_name = {e.name: e for e in events}
    for forward, backward in (("aten::exp", "ExpBackward0"), ("aten::mul", "MulBackward0"), ("aten::sum", "SumBackward0")):
        ran, made = by_name[backward], by_name[forward]
        assert ran.forward is made and ran.sequence_nr == made.sequence_nr >= 0 and ran.fwd_thread == made.thread
        assert ran.cpu_parent is by_name[ENGINE + backward] and ran.cpu_parent.cpu_parent is by_name["autograd::backward"]
        assert ran.scope == 1 and made.scope == 0
        assert ran.stack == made.stack and any("test_profiler.py(" in frame and frame.endswith(": run") for frame in made.stack)
    assert by_name["MulBackward0"].input_shapes == [[2]] and by_name["aten::mul"].input_shapes == [[2], []]
    assert by_name[LEAF].input_shapes == [[2]] and by_name[LEAF].forward is None


def test_second_order_backward():
    x = ag.ones(2, requires_grad=True)

    def run():
        g, = ag.grad((x * x * x).sum(), x, create_graph=True)
        g.sum().backward()

    prof = profiled(run)
    first, second = [e for e in prof.events() if e.name == "autograd::backward"]
    made_in_first = {e.sequence_nr for e in prof.events() if e.name.startswith("aten::") and e.sequence_nr >= 0
                     and first.time_range.start <= e.time_range.start <= first.time_range.end}
    ran_in_second = {e.sequence_nr for e in prof.events() if e.scope == 1 and e.time_range.start > second.time_range.start and e.forward}
    assert made_in_first and made_in_first <= ran_in_second


def test_checkpoint_runs_forward_again_inside_backward():
    x = ag.ones(2, requires_grad=True)
    prof = profiled(lambda: checkpoint(lambda x: x.exp().sin(), x, use_reentrant=False).sum().backward())
    exps = [e for e in prof.events() if e.name == "aten::exp"]
    backward = next(e for e in prof.events() if e.name == "autograd::backward")
    assert len(exps) == 2 and exps[0].time_range.end < backward.time_range.start < exps[1].time_range.start < backward.time_range.end
    assert counts(prof)["ExpBackward0"] == 1


def test_modules_optimisers_and_loaders(ours):
    def run():
        ours()
        for _ in DataLoader([1, 2, 3]):
            pass

    prof = profiled(run, with_modules=True)
    found = names(prof)
    assert [n for n in found if n.startswith("nn.Module")] == [
        "nn.Module: Sequential_0", "nn.Module: Linear_0", "nn.Module: ReLU_0", "nn.Module: Linear_1"]
    assert found.count("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__") == 4       # the last one finds the end
    addmms = [e for e in prof.events() if e.name == "aten::addmm"]
    assert [e.modules for e in addmms] == [["nn.Module: Sequential_0", f"nn.Module: Linear_{n}"] for n in (0, 1)]
    backward = [e for e in prof.events() if e.name == "AddmmBackward0"]
    assert [e.modules for e in backward] == [e.modules for e in reversed(addmms)]
    assert "nn.Module: Linear_0" in counts(prof)


def test_modules_are_transparent_unless_asked_for(ours):
    prof = profiled(lambda: record_function("all")(ours)())
    events = prof.events()
    assert not any("nn.Module" in e.name for e in events)
    outer = events[0]
    assert outer.name == "all" and {e.cpu_parent for e in events if e.name == "aten::addmm"} == {outer}
    assert sum(e.self_cpu_time_total for e in events) == pytest.approx(outer.cpu_time_total)


def test_loader_workers_and_a_wait():
    prof = profiled(lambda: list(DataLoader(list(range(4)), num_workers=1)))
    assert names(prof).count("enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__") == 5


def test_threads_have_rows_of_their_own():
    x = ag.ones(2, requires_grad=True)
    with profile() as prof:
        y = x.exp()
        thread = threading.Thread(target=lambda: y.sin().sum().backward(), name="other")
        thread.start()
        thread.join()
    events = {e.name: e for e in prof.events()}
    assert events["aten::exp"].thread == 1 and events["aten::sin"].thread == 2
    assert events["ExpBackward0"].thread == 2 and events["ExpBackward0"].fwd_thread == 1


def test_lanes_forward_and_backward():
    xs = [ag.ones(2, requires_grad=True) for _ in range(2)]

    def run():
        ys = run_lanes([lambda x=x: x.exp() for x in xs])
        (ys[0] + ys[1]).sum().backward()

    prof = profiled(run, with_modules=True)
    events = prof.events()
    for name in ("aten::exp", "ExpBackward0"):
        found = [e for e in events if e.name == name]
        assert len(found) == 2 and len({e.thread for e in found}) == 2
    lanes = [e for e in events if e.name.startswith("lane ")]
    assert sorted(e.name for e in lanes) == ["lane 0", "lane 0", "lane 1", "lane 1"]          # forward and backward
    assert {e.cpu_parent for e in events if e.name == "aten::exp"} < set(lanes)


def test_a_replay_is_seen():
    x = ag.ones(2, requires_grad=True)

    def body(y):
        x.grad = None
        (x * y).sum().backward()

    fast = ag.trace_step(body, ag.ones(2))
    before = x.grad
    prof = profiled(lambda: fast(ag.ones(2) * 3))
    found = counts(prof)
    assert found["autograd::replay"] == 1 and sum(count for name, count in found.items() if name.startswith("replay::")) > 1
    assert all(e.cpu_parent.name == "autograd::replay" for e in prof.events() if e.name == "replay::multiply")
    assert x.grad.tolist() == [3, 3] and before is None
    with profile() as prof:
        traced = ag.trace_step(body, ag.ones(2))
    traced(ag.ones(2) * 2)
    assert x.grad.tolist() == [2, 2] and counts(prof)["aten::mul"] > 1


# --- record_function --------------------------------------------------------------------------------------------------

def test_record_function_is_a_block_and_a_decorator():
    @record_function("named")
    def double(x):
        """Twice."""
        return x * 2

    with profile() as prof, record_function("block", "epoch 3") as block:
        assert double(ag.ones(2)).tolist() == [2, 2]
    assert double.__name__ == "double" and double.__doc__ == "Twice." and block.name == "block"
    events = {e.name: e for e in prof.events()}
    assert events["named"].cpu_parent is events["block"] and events["aten::mul"].cpu_parent is events["named"]
    assert events["block"].is_user_annotation and events["block"].scope == 7 and events["block"].text == "epoch 3"
    assert not events["aten::mul"].is_user_annotation


def test_one_block_entered_twice():
    block = record_function("again")
    with profile() as prof, block:
        with block:
            TWO.exp()
        TWO.log()
    TWO.sin()
    outer, inner, exp, log = prof.events()
    assert inner.cpu_parent is outer and exp.cpu_parent is inner and log.cpu_parent is outer and outer.cpu_parent is None


def test_record_function_without_a_profiler_does_nothing():
    with record_function("unseen"):
        prof = profiled(lambda: ag.ones(2) + 1)
    assert "unseen" not in names(prof)


def test_blocks_that_are_open_when_recording_starts_or_stops():
    prof = profile()
    with record_function("before"):
        prof.start()
        inside = record_function("open")
        inside.__enter__()
        TWO.exp()
        prof.stop()
    inside.__exit__(None, None, None)
    events = {e.name: e for e in prof.events()}
    assert set(events) == {"open", "aten::exp"}
    assert events["aten::exp"].cpu_parent is events["open"] and events["open"].time_range.end >= events["aten::exp"].time_range.end


def test_an_exception_ends_what_it_leaves():
    x, y = ag.ones(2, requires_grad=True), ag.ones(3)
    with pytest.raises(RuntimeError, match="size"), profile() as prof:
        with record_function("block"):
            with pytest.raises(RuntimeError):
                x @ y
            with pytest.raises(RuntimeError):
                _ = x + y
            x.register_hook(lambda g: 1 / 0)
            with pytest.raises(ZeroDivisionError):
                x.exp().sum().backward()
            x.sin()
        _ = x + y
    assert not spans.recorders and modes.recording == GRAD
    events = prof.events()
    assert next(e for e in events if e.name == "aten::sin").cpu_parent is events[0]
    assert [e.name for e in events if e.cpu_parent is None] == ["block", "aten::add"]
    assert all(e.cpu_parent is None or e.time_range.end <= e.cpu_parent.time_range.end for e in events)


# --- recording --------------------------------------------------------------------------------------------------------

def test_one_profiler_at_a_time():
    with profile() as outer:
        with pytest.raises(RuntimeError, match="records already"), profile():
            pass
        TWO.exp()
    assert names(outer) == ["aten::exp"] and not spans.recorders


def test_a_disabled_profiler_records_nothing():
    with profile(False) as outer, profile() as prof:
        TWO.exp()
    assert names(prof) == ["aten::exp"]
    with pytest.raises(AssertionError, match="has not recorded anything"):
        outer.key_averages()


def test_schedules_are_pytorchs():
    torch = pytest.importorskip("torch")
    for settings in ({"wait": 1, "warmup": 1, "active": 2, "repeat": 2}, {"wait": 0, "warmup": 1, "active": 1},
                     {"wait": 2, "warmup": 0, "active": 3, "skip_first": 4}, {"wait": 3, "warmup": 1, "active": 1, "skip_first": 1, "skip_first_wait": 1}):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ours, theirs = schedule(**settings), torch.profiler.schedule(**settings)
        assert [ours(n).name for n in range(30)] == [theirs(n).name for n in range(30)]
    with pytest.raises(AssertionError, match="Invalid profiler schedule arguments"):
        schedule(wait=0, warmup=0, active=0)


def test_a_schedule_records_some_steps():
    ready = []
    with profile(schedule=schedule(wait=1, warmup=1, active=2, repeat=2), on_trace_ready=lambda p: ready.append((p.step_num, counts(p)))) as prof:
        for n in range(10):
            for _ in range(n):
                TWO.exp()
            prof.step()
    assert ready == [(4, {"ProfilerStep*": 2, "aten::exp": 5}), (8, {"ProfilerStep*": 2, "aten::exp": 13})]
    assert {(e.name, e.trace_name) for e in prof.events() if e.is_user_annotation} == {
        ("ProfilerStep*", "ProfilerStep#6"), ("ProfilerStep*", "ProfilerStep#7")}


def test_events_of_all_cycles_are_kept_if_asked():
    with profile(schedule=schedule(wait=0, warmup=1, active=1), acc_events=True) as prof:
        for _ in range(6):
            TWO.exp()
            prof.step()
    assert [e.trace_name for e in prof.events()] == ["ProfilerStep#1", "aten::exp", "ProfilerStep#3", "aten::exp",
                                                     "ProfilerStep#5", "aten::exp"]


def test_odd_schedules_warn():
    actions = [ProfilerAction.RECORD, ProfilerAction.NONE, ProfilerAction.WARMUP, ProfilerAction.NONE]
    with profile(schedule=actions.__getitem__) as prof:
        with pytest.warns(UserWarning, match="RECORD followed by NONE"):
            prof.step()
        prof.step()
        with pytest.warns(UserWarning, match="WARMUP followed by NONE"):
            prof.step()


def test_more_spans_than_a_block_and_a_ring_that_keeps_the_newest():
    number = spans.number_of("many", spans.USER)

    def fill(limit):
        recorder = spans.Recorder(limit)
        recorder.start()
        outer = spans.begin(number)
        for _ in range(3 * spans.BLOCK):
            spans.end(spans.begin(number))
        spans.end(outer)
        recorder.stop()
        from autograd.observe.profiler.collect import END, PARENT, START, threads_of
        thread, = threads_of(recorder)
        assert (thread.spans[:, END] >= thread.spans[:, START]).all()
        return thread.spans[:, PARENT]

    kept = fill(None)
    assert len(kept) == 3 * spans.BLOCK + 1 and kept[0] == -1 and (kept[1:] == 0).all()
    kept = fill(spans.BLOCK)
    assert spans.BLOCK <= len(kept) <= 2 * spans.BLOCK and (kept == -1).all()


def test_arguments_that_mean_nothing_here_are_refused_or_warned_of():
    for settings in ({"experimental_config": 1}, {"execution_trace_observer": 1}, {"post_processing_timeout_s": 1.0}, {"use_cpu": False},
                     {"activities": [{ProfilerActivity.CPU: []}]}):
        with pytest.raises(NotImplementedError, match="profile"):
            profile(**settings)
    with pytest.warns(UserWarning, match="CUDA is not available"):
        assert profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]).activities == {ProfilerActivity.CPU}
    with pytest.raises(AssertionError, match="No valid profiler activities"):
        profile(activities=[])
    with pytest.raises(ValueError, match="more than once"):
        profile(activities=[ProfilerActivity.CPU] * 2)


# --- tables and files -------------------------------------------------------------------------------------------------

def test_averages_are_sums_over_calls(ours):
    prof = profiled(lambda: [ours() for _ in range(3)], record_shapes=True)
    events, averages = prof.events(), {e.key: e for e in prof.key_averages()}
    addmm = averages["aten::addmm"]
    each = [e for e in events if e.name == "aten::addmm"]
    assert addmm.count == len(each) == 6 and addmm.cpu_time_total == pytest.approx(sum(e.cpu_time_total for e in each))
    assert addmm.cpu_time == pytest.approx(addmm.cpu_time_total / 6) and addmm.input_shapes == ""
    shapes = {str(e.input_shapes): e.count for e in prof.key_averages(group_by_input_shape=True) if e.key == "aten::addmm"}
    assert shapes == {"[[3, 4], [8, 4], [8]]": 3, "[[3, 8], [2, 8], [2]]": 3}
    assert prof.total_average().count == len(events) and prof.total_average().self_cpu_time_total == pytest.approx(prof.self_cpu_time_total)
    with pytest.raises(AttributeError, match="speed"):
        prof.key_averages().table(sort_by="speed")
    for error, words, settings in (
            (ValueError, "time_unit", {"time_unit": "h"}), (TypeError, "sort_by=0.*name of an attribute", {"sort_by": 0}),
            (TypeError, "cpu_children'.*cannot be ordered", {"sort_by": "cpu_children"}),
            (TypeError, "row_limit='3'", {"row_limit": "3"}), (TypeError, "max_src_column_width=2.5", {"max_src_column_width": 2.5}),
            (ValueError, "max_name_column_width=-5", {"max_name_column_width": -5})):
        with pytest.raises(error, match=words):
            prof.key_averages().table(**settings)
    for wrong in (-1, "a"):
        with pytest.raises(TypeError, match="group_by_stack_n"):
            prof.key_averages(group_by_stack_n=wrong)
    assert prof.key_averages().table(header=5).splitlines()[1] == "5"
    assert str(prof.key_averages()).startswith("---")


def test_callers_apart():
    x = ag.ones(2)

    def one():
        return x.exp()

    def two():
        return x.exp()

    prof = profiled(lambda: (one(), two(), two()), with_stack=True)
    found = {e.stack[0].split(": ")[1]: e.count for e in prof.key_averages(group_by_stack_n=1)}
    assert found == {"one": 1, "two": 2}
    assert "Source Location" in prof.key_averages(group_by_stack_n=2).table()


def test_flops_are_pytorchs():
    torch = pytest.importorskip("torch")
    found = {}
    for lib, library_nn, prof in ((ag, nn, profile(with_flops=True)), (torch, torch.nn, torch.profiler.profile(with_flops=True))):
        x, image = lib.ones(3, 4), lib.ones(2, 4, 9, 9)
        layers = library_nn.Linear(4, 5), library_nn.Conv2d(4, 6, 3, stride=2, padding=1, groups=2, bias=False)
        with prof, lib.no_grad():
            layers[0](x)
            layers[1](image)
            x @ lib.ones(4, 7)
            lib.ones(2, 3, 4).bmm(lib.ones(2, 4, 5))
            x * x
            x + x
        found[lib] = {e.key: e.flops for e in prof.key_averages() if e.flops}
    assert found[ag].pop("aten::convolution") == found[torch].pop("aten::conv2d")
    found[torch]["aten::mm"] += found[torch].pop("aten::bmm")                    # here one operation makes both products
    assert found[ag] == found[torch]
    assert "Total FLOPs" in prof.key_averages().table()


compiled = pytest.mark.skipif("not __import__('autograd').show_config()['compiled core']", reason="the core is not compiled")


@compiled
def test_memory_is_that_of_arrays(tmp_path, only_what_is_new):
    x, kept = ag.ones(1000, requires_grad=True), []

    def run():
        kept.append(x.exp())                         # 4 kB that stay
        with record_function("block"):
            x.sin()                                  # released in the block, by nobody's operation
        kept[0].sum().backward()
        thread = threading.Thread(target=lambda: kept.append(np.ones(500, np.float32)))
        thread.start()
        thread.join()

    prof = profiled(run, profile_memory=True)
    events = {e.name: e for e in prof.events()}
    assert 4000 <= events["aten::exp"].cpu_memory_usage < 4100 and 4000 <= events["aten::sin"].cpu_memory_usage < 4100
    assert abs(events["block"].cpu_memory_usage) < 100 and events["block"].self_cpu_memory_usage < -3900
    assert 4000 <= events["autograd::backward"].cpu_memory_usage < 4200                     # x.grad
    assert sum(e.cpu_memory_usage for e in prof.events() if e.name == "[memory]") > 1900                # ones(500)
    held = sum(e.a for e in prof._all_events() if e.kind == spans.MEMORY)
    assert 10000 <= held < 10600 and max(e.b for e in prof._all_events() if e.kind == spans.MEMORY) >= held
    table = prof.key_averages().table(sort_by="self_cpu_memory_usage")
    assert "CPU Mem" in table and "KB" in table
    prof.export_memory_timeline(str(tmp_path / "m.json"))
    times, sizes = json.loads((tmp_path / "m.json").read_text())
    assert len(times) == len(sizes) and times == sorted(times) and {len(s) for s in sizes} == {9}
    assert sizes[-1][5] >= 4000 and sizes[-1][6] >= 4000
    prof.export_memory_timeline(str(tmp_path / "m.raw.json.gz"))
    raw = json.loads(gzip.decompress((tmp_path / "m.raw.json.gz").read_bytes()))
    assert sum(size for _, _, size, _ in raw) == sum(sizes[-1]) and {action for _, action, _, _ in raw} <= {1, 2, 4}
    prof.export_memory_timeline(str(tmp_path / "m.html"))
    page = (tmp_path / "m.html").read_text()
    assert page.count("<polygon") == 8 and "ACTIVATION (at most 0.0" in page
    with pytest.raises(NotImplementedError, match="cuda:0"):
        prof.export_memory_timeline("x", "cuda:0")
    with pytest.raises(ValueError, match="profile_memory=True"):
        profiled(lambda: None).export_memory_timeline("x")


@compiled
def test_memory_is_counted_only_while_it_is_profiled(only_what_is_new):
    prof = profile(profile_memory=True)
    prof.start()
    a = np.ones(100)
    with pytest.raises(RuntimeError, match="records already"):
        profile(profile_memory=True).start()
    prof.stop()
    count = len(prof._all_events())
    del a
    np.ones(100)
    assert len(prof._all_events()) == count
    again = profiled(lambda: np.ones(1000), profile_memory=True)
    assert any(e.a == 8000 for e in again._all_events())


def test_memory_needs_the_compiled_core():
    if ag.show_config()["compiled core"]:
        pytest.skip("the core is compiled")
    with pytest.raises(NotImplementedError, match="profile_memory=True"):
        profile(profile_memory=True).start()
    assert not spans.recorders


def test_stacks_for_a_flame_graph(tmp_path):
    x = ag.ones(200, 200)

    def named():
        return x @ x

    prof = profiled(named, with_stack=True)
    prof.export_stacks(str(tmp_path / "stacks.txt"))
    line = (tmp_path / "stacks.txt").read_text().splitlines()[-1]
    frames, value = line.rsplit(" ", 1)
    assert int(value) > 0 and any(frame.endswith(":_named") for frame in frames.split(";"))
    with pytest.raises(ValueError, match="metric should be one of"):
        prof.export_stacks(str(tmp_path / "x"), "cuda")
    with pytest.raises(ValueError, match="with_stack=True"):
        profiled(named).export_stacks(str(tmp_path / "x"))


def test_a_chrome_trace_has_all_events_and_arrows(ours, tmp_path):
    prof = profiled(ours, record_shapes=True, with_stack=True)
    prof.add_metadata("note", 'a "text"')
    prof.add_metadata_json("sizes", "[1, 2]")
    prof.export_chrome_trace(str(tmp_path / "trace.json"))
    prof.export_chrome_trace(str(tmp_path / "trace.json.gz"))
    text = (tmp_path / "trace.json").read_text()
    trace = json.loads(text)
    assert json.loads(gzip.decompress((tmp_path / "trace.json.gz").read_bytes()))["traceEvents"] == trace["traceEvents"]
    assert trace["note"] == 'a "text"' and trace["sizes"] == [1, 2] and trace["distributedInfo"]["rank"] == 0 and trace["record_shapes"] == 1
    assert abs(trace["baseTimeNanoseconds"] - time.time_ns()) < 60e9 and text.index('"rank": 0') < 200
    slices = [e for e in trace["traceEvents"] if e["ph"] == "X"]
    shown = [e["name"] for e in slices]
    assert [n for n in shown if not n.startswith("nn.Module")] == names(prof) and "nn.Module: Linear_1" in shown
    starts, ends = ([e for e in trace["traceEvents"] if e["ph"] == ph] for ph in "sf")
    runs = [e for e in prof.events() if e.scope == 1 and e.forward is not None]
    assert len(starts) == len(ends) == len(runs) == 5 and {e["id"] for e in starts} == {e["id"] for e in ends}
    addmm = next(e for e in slices if e["name"] == "aten::addmm")
    assert addmm["cat"] == "cpu_op" and addmm["args"]["Input Dims"] == [[3, 4], [8, 4], [8]] and "Call stack" in addmm["args"]
    assert addmm["args"]["Module Hierarchy"] == "Sequential_0.Linear_0" and addmm["args"]["Sequence number"] >= 0
    assert all(e["dur"] >= 0 for e in slices)


def test_a_handler_writes_a_file_a_cycle(tmp_path):
    with profile(schedule=schedule(wait=0, warmup=1, active=1), on_trace_ready=tensorboard_trace_handler(str(tmp_path / "log"), "me", True)) as prof:
        for _ in range(4):
            TWO.exp()
            prof.step()
    files = list((tmp_path / "log").iterdir())
    assert len(files) == 2 and all(f.name.startswith("me.") and f.name.endswith(".pt.trace.json.gz") for f in files)


def test_spans_in_flight_overlap(tmp_path):
    with profile() as prof:
        start = time.perf_counter_ns()
        TWO.exp()
        for n in range(2):
            spans.complete(f"bucket {n}", spans.FLIGHT, start + n, time.perf_counter_ns() + n, 1024, n)
    found = [e for e in prof.events() if e.is_async]
    assert [(e.name, e.a, e.b) for e in found] == [("bucket 0", 1024, 0), ("bucket 1", 1024, 1)]
    assert all(e.cpu_parent is None and e.self_cpu_time_total == 0 for e in found)
    prof.export_chrome_trace(str(tmp_path / "t.json"))
    trace = json.loads((tmp_path / "t.json").read_text())["traceEvents"]
    assert [e["ph"] for e in trace if e["name"].startswith("bucket")] == ["b", "e", "b", "e"]


def test_results_are_the_same_under_a_profiler():
    def run():
        ag.manual_seed(0)
        net, optimizer = model(ag, nn)
        step(ag, net, optimizer)
        return np.concatenate([p.detach().numpy().ravel() for p in net.parameters()])

    plain = run()
    with profile(record_shapes=True, with_stack=True):
        under = run()
    assert (plain == under).all()


NAMED = [
    (lambda: ag.zeros(2), "zeros"), (lambda: ag.ones(2), "ones"), (lambda: ag.empty(2), "empty"), (lambda: ag.full((2,), 1.), "full"),
    (lambda: ag.ones_like(TWO), "ones_like"), (lambda: ag.arange(3), "arange"), (lambda: ag.linspace(0, 1, 3), "linspace"),
    (lambda: ag.eye(2), "eye"), (lambda: ag.normal(0., 1., (2,)), "normal"), (lambda: TWO.to(ag.float64), "_to_copy"),
    (lambda: ag.zeros(2).copy_(TWO), "copy_"), (lambda: ag.zeros(2).fill_(1), "fill_"), (lambda: ag.ones(2).zero_(), "zero_"),
    (lambda: ag.zeros(2).add_(TWO), "add_"), (lambda: ag.zeros(2).uniform_(), "uniform_"), (lambda: TWO.unique(), "_unique2"),
    (lambda: TWO.nonzero(), "nonzero"), (lambda: TWO.any(), "any"), (lambda: TWO.all(), "all"),
    (lambda: TWO.count_nonzero(), "count_nonzero"), (lambda: ag.arange(3).sum(), "sum"),
    (lambda: nn.functional.one_hot(ag.tensor([0, 1])), "one_hot"), (lambda: nn.functional.prelu(TWO, TWO[:1]), "_prelu_kernel"),
    (lambda: nn.functional.cross_entropy(ag.eye(2), ag.tensor([0, 1])), "cross_entropy_loss"),
    (lambda: nn.functional.embedding(ag.tensor([0]), ag.eye(2)), "embedding"),
]


def test_operations_have_pytorchs_names():
    for call, name in NAMED:
        found = names(profiled(call, record_shapes=True))
        assert f"aten::{name}" in found and not {"aten::not_implemented", "aten::_found"} & set(found), (name, found)


OWN_NAMES = {"aten::convolution_backward_input", "aten::convolution_backward_weight", "aten::recurrence", "aten::recurrent",
             "aten::standardize", "aten::picked"}           # the last: the base class of sort, topk, max and others


def test_all_names_of_operations_are_pytorchs():
    torch = pytest.importorskip("torch")
    theirs = {schema.name for schema in torch._C._jit_get_all_schemas()}
    operations, ours = Operation.__subclasses__(), set()
    while operations:
        operation = operations.pop()
        operations += operation.__subclasses__()
        if operation.__module__.startswith("autograd."):         # not those of other tests
            ours.add(spans.names[operation.span][0])
    assert len(ours) > 100 and ours - theirs - OWN_NAMES == set()


def test_paths_may_be_of_pathlib(tmp_path):
    prof = profiled(lambda: TWO.exp(), with_stack=True)
    prof.export_chrome_trace(tmp_path / "é.json.gz")
    prof.export_stacks(tmp_path / "stacks.txt")
    prof.export_hta(tmp_path / "hta")
    assert json.loads(gzip.decompress((tmp_path / "é.json.gz").read_bytes()))["traceEvents"]
    assert len(list((tmp_path / "hta").iterdir())) == 1
    assert prof.key_averages().table(row_limit=None) == prof.key_averages().table(row_limit=-1)


@compiled
def test_memory_beside_a_traced_step(only_what_is_new):
    model = nn.Linear(3, 2)
    step = trace_step(lambda x: model(x).sum().backward(), [ag.ones(4, 3)])
    with profile(profile_memory=True) as prof:
        step(ag.ones(4, 3))
    assert "autograd::replay" in names(prof) and prof.memory_peak().nbytes > 0
