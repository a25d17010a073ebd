"""What the package dparallel provides under names of autograd, which reads this file and knows nothing of dparallel."""

PROVIDES = {
    "autograd.distributed": "dparallel.distributed",
    "autograd.nn.SyncBatchNorm": "dparallel.model.sync_batch_norm",
    "autograd.nn.parallel": "dparallel.distributed.parallel",
    "autograd.nn.parallel._functions": "dparallel.distributed.device_functions",
    "autograd.nn.parallel.comm": "dparallel.distributed.device_comm",
}
