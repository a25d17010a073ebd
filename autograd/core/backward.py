"""backward() and grad(), as users call them."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from . import backward_arguments as given
from .passes import run_backward
from .tensor import Tensor, result

MSG_UNUSED = ("The differentiated Tensor at index {index} appears to not have been used in the graph. Set "
              "allow_unused=True if this is the desired behavior.")

MSG_CYCLE = ("Using backward() with create_graph=True will create a reference cycle between the parameter and its gradient "
             "which can cause a memory leak. We recommend using autograd.grad when creating the graph to avoid this. If you "
             "have to use this function, make sure to reset the .grad fields of your parameters to None after use to break "
             "the cycle and avoid the leak.")


def backward(tensors: Any, grad_tensors: Any = None, retain_graph: bool | None = None, create_graph: bool = False,
             grad_variables: Any = None, inputs: Any = None) -> None:
    """Add d(sum of <tensor, grad>)/d(leaf) to .grad of every leaf that the tensors were computed from.

    tensors: Tensors or GradientEdges. grad_tensors: one per tensor, of its shape; None stands for 1 and needs a tensor
    of one element. retain_graph (default: create_graph) keeps saved values for another pass. create_graph records the
    backward pass itself, so that its results can be differentiated again. inputs: accumulate into these tensors only
    (non-leaves too; a dict stands for its values). grad_variables: grad_tensors' old name.
    """
    if grad_variables is not None:
        warnings.warn("`grad_variables` is deprecated. Use `grad_tensors` instead.", FutureWarning, stacklevel=2)
        if grad_tensors is not None:
            raise RuntimeError("`grad_tensors` and `grad_variables` (deprecated) arguments both passed to `backward()`. "
                               "Please only use `grad_tensors`.")
        grad_tensors = grad_variables
    targets = None
    if inputs is not None:
        wanted = given.wanted(inputs, "backward")
        targets = given.targets(wanted)
        for tensor in wanted:
            if isinstance(tensor, Tensor):
                tensor.retain_grad()
    edges, seeds = given.seeds(given.listed(tensors), grad_tensors)
    if create_graph:
        warnings.warn(MSG_CYCLE, UserWarning, stacklevel=3)
    run_backward(edges, seeds, create_graph if retain_graph is None else retain_graph, create_graph, targets, True)


def grad(outputs: Any, inputs: Any, grad_outputs: Any = None, retain_graph: bool | None = None,
         create_graph: bool = False, only_inputs: bool = True, allow_unused: bool | None = None,
         is_grads_batched: bool = False, materialize_grads: bool = False) -> Any:
    """The gradients of the sum of <output, grad_output> with respect to each of inputs, as a tuple; .grad is untouched.

    inputs may be a dict, the gradients then are too. An input that the outputs do not depend on is an error; with
    allow_unused its gradient is None, with materialize_grads zeros. is_grads_batched: each of grad_outputs is a stack
    along its first dimension, and so is each gradient; the pass runs once per row. The other arguments are backward()'s.
    """
    if materialize_grads and allow_unused is False:
        raise ValueError("Expected allow_unused to be True or not passed when materialize_grads=True, but got: "
                         "allow_unused=False.")
    if not only_inputs:
        warnings.warn("only_inputs argument is deprecated and is ignored now (defaults to True). To accumulate gradient "
                      "for other parts of the graph, please use autograd.backward.", FutureWarning, stacklevel=2)
    wanted = given.wanted(inputs, "grad")
    edges, seeds = given.seeds(given.listed(outputs), grad_outputs, is_grads_batched)
    targets = given.targets(wanted)
    keep = create_graph if retain_graph is None else retain_graph
    if is_grads_batched:
        rows = given.batches(seeds)
        found = given.stacked([run_backward(edges, row, keep or row is not rows[-1], create_graph, targets, False)
                               for row in rows], wanted)
    else:
        found = run_backward(edges, seeds, keep, create_graph, targets, False)
    for index, g in enumerate(found):
        if g is None and materialize_grads:
            if not isinstance(wanted[index], Tensor):
                raise RuntimeError("materialize_grads cannot be used when the given input is a GradientEdge")
            found[index] = result(np.zeros_like(wanted[index].array))
            found[index].tracked = create_graph
        elif g is None and not allow_unused:
            raise RuntimeError(MSG_UNUSED.format(index=index))
    return dict(zip(inputs, found, strict=True)) if isinstance(inputs, dict) else tuple(found)


__all__ = ["backward", "grad"]
