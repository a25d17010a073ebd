"""Scripts in the style of PyTorch's tutorials and of well-known training repositories, with `import autograd as torch`
in the place of `import torch` and nothing else changed: started by dprun, by multiprocessing, and as torchrun starts them."""

import os
import re
import shlex
import signal
import subprocess
import sys
import textwrap
import threading
import warnings
from pathlib import Path

import pytest

from dparallel.comm import launched_size
from launch import mpirun

try:
    mpirun.find()
except mpirun.LaunchError:
    pytest.skip("no mpirun", allow_module_level=True)
if launched_size():
    pytest.skip("starts jobs of its own", allow_module_level=True)

ROOT = Path(__file__).parents[3]

# The tutorial "Getting started with DistributedDataParallel": its processes come from multiprocessing.
TUTORIAL = """
    import os, sys, tempfile
    import autograd as torch
    import autograd.distributed as dist
    import autograd.nn as nn
    import autograd.optim as optim
    import autograd.multiprocessing as mp
    from autograd.nn.parallel import DistributedDataParallel as DDP

    def setup(rank, world_size):
        os.environ['MASTER_ADDR'] = 'localhost'
        os.environ['MASTER_PORT'] = sys.argv[1]
        dist.init_process_group("gloo", rank=rank, world_size=world_size)

    def cleanup():
        dist.destroy_process_group()

    class ToyModel(nn.Module):
        def __init__(self):
            super(ToyModel, self).__init__()
            self.net1 = nn.Linear(10, 10)
            self.relu = nn.ReLU()
            self.net2 = nn.Linear(10, 5)

        def forward(self, x):
            return self.net2(self.relu(self.net1(x)))

    def demo_checkpoint(rank, world_size):
        setup(rank, world_size)
        torch.manual_seed(rank)
        ddp_model = DDP(ToyModel())
        CHECKPOINT_PATH = os.path.join(tempfile.gettempdir(), f"model{sys.argv[1]}.checkpoint")
        if rank == 0:
            torch.save(ddp_model.state_dict(), CHECKPOINT_PATH)
        dist.barrier()
        ddp_model.load_state_dict(torch.load(CHECKPOINT_PATH, map_location='cpu', weights_only=True))
        loss_fn = nn.MSELoss()
        optimizer = optim.SGD(ddp_model.parameters(), lr=0.001)
        optimizer.zero_grad()
        outputs = ddp_model(torch.randn(20, 10))
        labels = torch.randn(20, 5)
        loss_fn(outputs, labels).backward()
        optimizer.step()
        total = sum(p.sum().item() for p in ddp_model.parameters())
        same = [None] * world_size
        dist.all_gather_object(same, total)
        assert len(set(same)) == 1
        dist.barrier()
        if rank == 0:
            os.remove(CHECKPOINT_PATH)
        print(f"trained on rank {rank} of {dist.get_world_size()}.", flush=True)
        cleanup()

    if __name__ == "__main__":
        n = 2
        mp.spawn(demo_checkpoint, args=(n,), nprocs=n, join=True)
"""

# nanoGPT's: torchrun's variables from os.environ, gradient accumulation by require_backward_grad_sync.
NANO = """
    import os, math
    import autograd as torch
    from autograd.nn import functional as F
    from autograd.nn.parallel import DistributedDataParallel as DDP
    from autograd.distributed import init_process_group, destroy_process_group

    backend = 'gloo'
    gradient_accumulation_steps = 4
    ddp = int(os.environ.get('RANK', -1)) != -1
    if ddp:
        init_process_group(backend=backend)
        ddp_rank = int(os.environ['RANK'])
        ddp_local_rank = int(os.environ['LOCAL_RANK'])
        ddp_world_size = int(os.environ['WORLD_SIZE'])
        master_process = ddp_rank == 0
        seed_offset = ddp_rank
        assert gradient_accumulation_steps % ddp_world_size == 0
        gradient_accumulation_steps //= ddp_world_size
    else:
        master_process, seed_offset, ddp_world_size = True, 0, 1
    torch.manual_seed(1337 + seed_offset)
    model = torch.nn.Sequential(torch.nn.Embedding(16, 8), torch.nn.Linear(8, 16))
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    if ddp:
        model = DDP(model, device_ids=None)
    raw_model = model.module if ddp else model

    def get_batch():
        x = torch.randint(16, (4, 6))
        return x, (x + 1) % 16

    X, Y = get_batch()
    first = None
    for iter_num in range(20):
        for micro_step in range(gradient_accumulation_steps):
            if ddp:
                model.require_backward_grad_sync = (micro_step == gradient_accumulation_steps - 1)
            logits = model(X)
            loss = F.cross_entropy(logits.view(-1, logits.size(-1)), Y.view(-1)) / gradient_accumulation_steps
            X, Y = get_batch()
            loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        first = first or loss.item()
    assert loss.item() < first
    both = [torch.zeros(8, 16).t() for _ in range(ddp_world_size)]
    torch.distributed.all_gather(both, raw_model[1].weight.detach())
    assert all(torch.equal(b, both[0]) for b in both)
    print(f"trained on rank {ddp_rank} of {ddp_world_size}.", flush=True)
    destroy_process_group()
"""

# The imagenet example's: argparse, init_method="env://", DistributedSampler, meters that are reduced, a checkpoint of rank 0.
IMAGENET = """
    import argparse, os, time
    import autograd as torch
    import autograd.nn as nn
    import autograd.nn.parallel
    import autograd.distributed as dist
    from autograd.distributed.elastic.multiprocessing.errors import record
    import autograd.optim
    import autograd.multiprocessing as mp
    import autograd.utils.data
    import autograd.utils.data.distributed
    from autograd.optim.lr_scheduler import StepLR
    from autograd.utils.data import TensorDataset

    parser = argparse.ArgumentParser()
    parser.add_argument('--world-size', default=-1, type=int)
    parser.add_argument('--rank', default=-1, type=int)
    parser.add_argument('--dist-url', default='env://', type=str)
    parser.add_argument('--dist-backend', default='nccl', type=str)
    parser.add_argument('--epochs', default=2, type=int)
    parser.add_argument('-b', '--batch-size', default=8, type=int)

    class AverageMeter:
        def __init__(self):
            self.sum, self.count = 0.0, 0

        def update(self, val, n=1):
            self.sum += val * n
            self.count += n

        def all_reduce(self):
            total = torch.tensor([self.sum, self.count], dtype=torch.float32, device=torch.device("cpu"))
            dist.all_reduce(total, dist.ReduceOp.SUM, async_op=False)
            self.sum, self.count = total.tolist()

    @record
    def main():
        args = parser.parse_args()
        if args.dist_url == "env://" and args.world_size == -1:
            args.world_size = int(os.environ["WORLD_SIZE"])
        args.distributed = args.world_size > 1
        if args.distributed:
            if args.dist_url == "env://" and args.rank == -1:
                args.rank = int(os.environ["RANK"])
            dist.init_process_group(backend=args.dist_backend, init_method=args.dist_url, world_size=args.world_size,
                                    rank=args.rank)
        torch.manual_seed(0)
        model = nn.Sequential(nn.Conv2d(1, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.Flatten(), nn.Linear(64, 2))
        model = nn.SyncBatchNorm.convert_sync_batchnorm(model)
        if torch.cuda.is_available():
            model.cuda()
        elif args.distributed:
            model = torch.nn.parallel.DistributedDataParallel(model)
        criterion = nn.CrossEntropyLoss()
        optimizer = torch.optim.SGD(model.parameters(), 0.05, momentum=0.9, weight_decay=1e-4)
        scheduler = StepLR(optimizer, step_size=30, gamma=0.1)
        images = torch.randn(64, 1, 6, 6)
        dataset = TensorDataset(images, (images.mean(dim=(1, 2, 3)) > 0).long())
        sampler = torch.utils.data.distributed.DistributedSampler(dataset) if args.distributed else None
        loader = torch.utils.data.DataLoader(dataset, batch_size=args.batch_size, shuffle=(sampler is None),
                                             num_workers=0, pin_memory=False, sampler=sampler)
        for epoch in range(args.epochs):
            sampler.set_epoch(epoch)
            losses = AverageMeter()
            for images, target in loader:
                loss = criterion(model(images), target)
                losses.update(loss.item(), images.size(0))
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
            scheduler.step()
            losses.all_reduce()
            assert losses.count == 64
        if args.rank == 0:
            assert all(key.startswith('module.') for key in model.state_dict())
        print(f"trained on rank {args.rank} of {dist.get_world_size()}.", flush=True)

    if __name__ == '__main__':
        main()
"""

# "Writing distributed applications with PyTorch": processes by hand, messages, init by a file.
PROCESSES = """
    import os, sys
    import autograd as torch
    import autograd.distributed as dist
    import autograd.multiprocessing as mp

    def run(rank, size):
        tensor = torch.zeros(1)
        if rank == 0:
            tensor += 1
            req = dist.isend(tensor=tensor, dst=1)
        else:
            req = dist.irecv(tensor=tensor, src=0)
        req.wait()
        assert tensor[0] == 1
        group = dist.new_group([0, 1])
        dist.all_reduce(tensor, op=dist.ReduceOp.SUM, group=group)
        assert tensor[0] == 2
        print(f"trained on rank {rank} of {size}.", flush=True)

    def init_process(rank, size, fn, backend='gloo'):
        dist.init_process_group(backend, init_method=sys.argv[2], rank=rank, world_size=size)
        fn(rank, size)

    if __name__ == "__main__":
        size = 2
        processes = []
        mp.set_start_method(sys.argv[3])
        for rank in range(size):
            p = mp.Process(target=init_process, args=(rank, size, run))
            p.start()
            processes.append(p)
        for p in processes:
            p.join()
        assert [p.exitcode for p in processes] == [0, 0]
"""

FAILING = """
    import os, sys
    import autograd as torch
    import autograd.distributed as dist
    dist.init_process_group()
    if dist.get_rank() == 1:
        if sys.argv[2] == "raise":
            raise KeyError("planted")
        os._exit(3)
    dist.barrier()
"""
DONE = ["trained on rank 0 of 2.", "trained on rank 1 of 2."]


@pytest.fixture
def script(tmp_path):
    def write(text):
        path = tmp_path / "script.py"
        path.write_text(textwrap.dedent(text))
        return str(path)
    return write


def surroundings(tmp_path):
    here = mpirun.outer()
    here = {name: value for name, value in here.items() if name not in ("RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE")}
    return {**here, "PYTHONPATH": str(ROOT), "TMPDIR": str(tmp_path), "OMP_NUM_THREADS": "1"}


def port():
    return str(20000 + os.getpid() % 20000)


def python(tmp_path, *args):
    return subprocess.run([sys.executable, *args], env=surroundings(tmp_path), cwd=tmp_path, capture_output=True, text=True,
                          timeout=120)


def as_torchrun(tmp_path, *args, size=2):
    started = [subprocess.Popen([sys.executable, *args], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                env={**surroundings(tmp_path), "RANK": str(rank), "WORLD_SIZE": str(size), "LOCAL_RANK": str(rank),
                                     "LOCAL_WORLD_SIZE": str(size), "PYTHONFAULTHANDLER": "1", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port()})
               for rank in range(size)]
    timer = threading.Timer(100, lambda: [process.send_signal(signal.SIGABRT) for process in started if process.poll() is None])
    timer.start()                                    # a hang ends with the stacks of all ranks
    try:
        texts = [process.communicate(timeout=120)[0] for process in started]
    finally:
        timer.cancel()
    return [process.returncode for process in started], "".join(texts)


def trained(output):
    return sorted({line for line in DONE if line in output})


def test_the_command_of_porting_changes_the_imports(script):
    """It makes of PyTorch's scripts those that are run here."""
    command = re.search(r"^    (sed .*) train\.py$", (ROOT / "docs/porting.md").read_text(), re.M)[1]
    lines = "    import torch  # first\nimport torch.nn as nn\nimport torch as th\nfrom torch import nn\nimport torchvision\n# import torch\n"
    lines += "import os, torch\nimport torch, torchvision, torch.nn as nn, torch as th  # torch\nimport torch; torch.ones(2)\n"
    lines += "from einops.layers.torch import Rearrange\nfrom safetensors.torch import load_file\n"
    path = script("".join(re.sub(r"(?m)^( *)import autograd as torch$", r"\1import torch", textwrap.dedent(text))
                          .replace("import autograd", "import torch").replace("from autograd", "from torch")
                          for text in (TUTORIAL, NANO, IMAGENET, PROCESSES)) + lines)
    subprocess.run([*shlex.split(command), path], check=True)
    assert Path(path).read_text() == "".join(map(textwrap.dedent, (TUTORIAL, NANO, IMAGENET, PROCESSES))) + (
        "    import autograd as torch  # first\nimport autograd.nn as nn\nimport autograd as th\nfrom autograd import nn\n"
        "import torchvision\n# import torch\n"
        "import os, autograd as torch\nimport autograd as torch, torchvision, autograd.nn as nn, autograd as th  # autograd as torch\n"
        "import autograd as torch; torch.ones(2)\n"
        "from einops.layers.autograd import Rearrange\nfrom safetensors.torch import load_file\n")


@pytest.mark.parametrize("text", [NANO, IMAGENET], ids=["nanoGPT", "imagenet"])
def test_by_dprun(script, tmp_path, text):
    done = python(tmp_path, "-m", "launch", "-n", "2", script(text))
    assert not done.returncode and trained(done.stdout) == DONE, done.stdout + done.stderr


@pytest.mark.parametrize("text", [NANO, IMAGENET], ids=["nanoGPT", "imagenet"])
def test_as_torchrun_starts_them(script, tmp_path, text):
    codes, output = as_torchrun(tmp_path, script(text))
    if -signal.SIGABRT in codes:                     # once in some 60 runs on busy cores, cause unknown (2026-11-27)
        warnings.warn(f"ranks hung for 100 s; tried again:\n{output}", stacklevel=1)
        codes, output = as_torchrun(tmp_path, script(text))
    assert codes == [0, 0] and trained(output) == DONE, output


@pytest.mark.parametrize("text, args", [(TUTORIAL, ()), (PROCESSES, ("tcp://127.0.0.1:{port}", "fork")),
                                        (PROCESSES, ("file://{folder}/meet", "spawn"))], ids=["spawn", "tcp fork", "file spawn"])
def test_by_multiprocessing(script, tmp_path, text, args):
    args = [arg.format(port=port(), folder=tmp_path) for arg in args]
    done = python(tmp_path, script(text), port(), *args)
    assert not done.returncode and trained(done.stdout) == DONE, done.stdout + done.stderr


@pytest.mark.parametrize("how", ["raise", "exit"])
def test_a_rank_that_fails_ends_all(script, tmp_path, how):
    codes, output = as_torchrun(tmp_path, script(FAILING), "x", how)
    assert all(codes), output
    assert "planted" in output or how == "exit"


def test_where_ranks_can_not_be_joined(tmp_path):
    """One error on each rank, soon, that says how to start; never trainings on their own."""
    codes, output = as_torchrun(tmp_path, "-c", "import mpi4py.MPI\n" + textwrap.dedent(NANO))
    assert codes == [1, 1] and output.count("RuntimeError: init_process_group: MPI is already running") == 2 and "dprun -n 2" in output

    no_mpirun = ("import launch.mpirun as m, shutil, sys; shutil.which = lambda *a, **k: None\n" + textwrap.dedent(NANO))
    codes, output = as_torchrun(tmp_path, "-c", no_mpirun)
    assert codes == [1, 1] and output.count("rank 0 can't start one: no mpirun found") >= 2, output
    script = "import autograd.distributed as d; d.init_process_group(rank=0, world_size=2, init_method={!r})"
    for method, words in ((None, "neither an MPI launcher nor MASTER_ADDR"), ("tcp://192.0.2.1:29500", "on several hosts")):
        done = python(tmp_path, "-c", script.format(method))
        assert done.returncode == 1 and words in done.stderr and "dprun -n 2" in done.stderr, done.stderr
    done = python(tmp_path, "-c", "import datetime as t, autograd.distributed as d; d.init_process_group(rank=1, world_size=2, "
                                  "init_method='tcp://127.0.0.1:9', timeout=t.timedelta(seconds=0.3))")
    assert done.returncode == 1 and "waited 0.3 s for the others" in done.stderr, done.stderr


def test_the_variables_that_dprun_sets(tmp_path):
    """Those of torchrun, but for its own store and error file."""
    names = ("RANK WORLD_SIZE LOCAL_RANK LOCAL_WORLD_SIZE MASTER_ADDR MASTER_PORT GROUP_RANK GROUP_WORLD_SIZE ROLE_NAME ROLE_RANK "
             "ROLE_WORLD_SIZE TORCHELASTIC_RESTART_COUNT TORCHELASTIC_MAX_RESTARTS")
    (tmp_path / "script.py").write_text(
        f"import os\nfrom dparallel import world\nassert os.environ['TORCHELASTIC_RUN_ID'] and world().size == 2\n"
        f"print(*[os.environ[name] for name in {names.split()}], flush=True)")
    done = python(tmp_path, "-m", "launch", "-n", "2", "script.py")
    assert sorted(line for line in done.stdout.splitlines() if line.strip()) == [
        f"{rank} 2 {rank} 2 127.0.0.1 29500 0 1 default {rank} 2 0 0" for rank in range(2)], done.stdout + done.stderr
