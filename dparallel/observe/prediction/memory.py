"""The bytes of one rank by category, for a number of ranks and a stage of sharding."""

from __future__ import annotations

from ...sharding.memory import model_memory
from .simulate import STAGES, Option
from .steps import StepTrace


def memory_of(trace: StepTrace, option: Option) -> dict[str, int]:
    """Parameters, gradients and optimizer state as model_memory() counts them; activations as traced. "units on their way":
    the two units that stage 3 has gathered, and as many gradients that stages 2 and 3 have not sent yet."""
    shard = option.shard if option.ranks > 1 else None
    parameters = [p.named()[1] for p in trace.parameters]
    found = model_memory(parameters, None, world_size=option.ranks, shard=shard)
    state = trace.optimizer_bytes
    sizes = {p.name: p.nbytes for p in trace.parameters}
    units = sorted((sum(sizes[name] for name in unit) for unit in trace.units), reverse=True) or [sum(sizes.values())]
    ways = max(0, STAGES.index(shard) - 1)           # values and gradients, or gradients only
    return {**found, "optimizer state": -(-state // option.ranks) if shard else state,
            "units on their way": ways * sum(units[:2]), "activations and the rest": trace.other_bytes}
