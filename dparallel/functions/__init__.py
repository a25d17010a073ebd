"""The collective Functions: autograd Functions whose backward calls their partner's apply.

A communicator joins `size` ranks; this process holds one of them (an MPI rank, a thread) or all (local devices). Read the
tensors of all ranks as one long vector, where a rank without a part holds an empty tensor of shape (0,). Then a collective
is a linear map, and its backward is the adjoint under the inner product summed over ranks:

    Broadcast <-> Reduce    Scatter <-> Gather    AllGather <-> ReduceScatter    AllReduce and AllToAll <-> themselves

(Reduce, AllReduce and ReduceScatter also of means, products, maxima and minima, see reductions.py). So gradients are those
of the SUM of all ranks' losses. Only DataParallel divides.

`F.start(...)` is `F.apply(...)` without waiting: it returns a Pending, whose wait() is recorded; see partnered.py.
`dim` is the dimension of the rows (negative: from the end). It must be the same on all ranks, as must root, op and dtype.

Arguments and results of ranks (`*xs`, pieces, copies) are one for each local rank: a bare Tensor if the process holds one
rank, a tuple if it holds several. `comm` defaults to dparallel.world().

May import: comm. Read first: this page, then collective.py.
"""

from .alltoall import AllToAll
from .broadcast_reduce import Broadcast, Reduce
from .collective import Collective, as_tuple
from .messages import Irecv, Isend, Recv, Send, Wait, join
from .partnered import Pending
from .permute import Barrier, Permute, SendRecv
from .reductions import AllGather, AllReduce, ReduceScatter
from .scan import Scan
from .scatter_gather import Gather, Scatter

__all__ = ["AllGather", "AllReduce", "AllToAll", "Barrier", "Broadcast", "Collective", "Gather", "Irecv", "Isend", "Pending",
           "Permute", "Recv", "Reduce", "ReduceScatter", "Scan", "Scatter", "Send", "SendRecv", "Wait", "as_tuple", "join"]
