"""Nested containers as leaves and a structure, by the names of PyTorch's torch.utils._pytree.

Containers are tuples, lists, dicts, namedtuples, OrderedDicts, defaultdicts, deques and registered classes, matched by exact
type, as in PyTorch. Everything else, None too, is a leaf."""

from __future__ import annotations

from collections import OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple


class NodeDef(NamedTuple):
    """How a class of containers comes apart and together."""

    flatten: Callable[[Any], tuple[list[Any], Any]]
    unflatten: Callable[[Iterable[Any], Any], Any]


class TreeSpec:
    """The structure of a tree: the containers without their leaves."""

    def __init__(self, type: Any, context: Any, children: list[TreeSpec]) -> None:
        self.type, self.context, self.children_specs = type, context, children
        self.num_nodes: int = 1 + sum(child.num_nodes for child in children)
        self.num_leaves: int = 1 if type is None else sum(child.num_leaves for child in children)
        self.num_children = len(children)

    def is_leaf(self) -> bool:
        """Whether the whole tree is one leaf."""
        return self.type is None

    def unflatten(self, leaves: Iterable[Any]) -> Any:
        """The tree with other leaves."""
        values = list(leaves)
        if len(values) != self.num_leaves:
            raise ValueError(f"treespec.unflatten(leaves): `leaves` has length {len(values)} but the spec refers to a "
                             f"pytree that holds {self.num_leaves} items")
        return self._take(iter(values))

    def _take(self, leaves: Any) -> Any:
        if self.type is None:
            return next(leaves)
        return SUPPORTED_NODES[self.type].unflatten([child._take(leaves) for child in self.children_specs], self.context)

    def flatten_up_to(self, tree: Any) -> list[Any]:
        """The subtrees of a tree that stand where this structure has leaves."""
        if self.type is None:
            return [tree]
        if node_type(tree) is not self.type:
            raise ValueError(f"Type mismatch; expected {self.type!r}, but got {type(tree)!r}.")
        children, context = SUPPORTED_NODES[self.type].flatten(tree)
        if len(children) != self.num_children or (context != self.context and set(context) != set(self.context)):
            raise ValueError(f"Node mismatch; expected {self.context!r} with {self.num_children} children, but got "
                             f"{context!r} with {len(children)}.")
        if isinstance(tree, dict) and context != self.context:           # another order of the same keys
            children = [tree[key] for key in self.context]
        pairs = zip(self.children_specs, children, strict=True)
        return [leaf for spec, child in pairs for leaf in spec.flatten_up_to(child)]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TreeSpec) and (self.type, self.context, self.children_specs) == (
            other.type, other.context, other.children_specs)

    def __hash__(self) -> int:
        return hash((self.type, self.num_nodes, self.num_leaves))

    def __repr__(self) -> str:
        return "*" if self.type is None else f"TreeSpec({self.type.__name__}, {self.context}, {self.children_specs})"


class LeafSpec(TreeSpec):
    """The structure of a leaf."""

    def __init__(self) -> None:
        super().__init__(None, None, [])


SUPPORTED_NODES: dict[Any, NodeDef] = {
    tuple: NodeDef(lambda x: (list(x), None), lambda values, _: tuple(values)),
    list: NodeDef(lambda x: (list(x), None), lambda values, _: list(values)),
    dict: NodeDef(lambda x: _dict_flatten(x), lambda values, keys: _dict_unflatten(values, keys)),
    OrderedDict: NodeDef(lambda x: _dict_flatten(x), lambda values, keys: OrderedDict(_dict_unflatten(values, keys))),
    defaultdict: NodeDef(lambda x: (list(x.values()), [x.default_factory, list(x)]),
                         lambda values, made: defaultdict(made[0], zip(made[1], values, strict=True))),
    deque: NodeDef(lambda x: (list(x), x.maxlen), deque),
    NamedTuple: NodeDef(lambda x: (list(x), type(x)), lambda values, cls: cls(*values)),
}


Context = Any


def _dict_flatten(d: dict[Any, Any]) -> tuple[list[Any], Any]:
    """The values and keys of a dict, for classes that are registered as it is."""
    return list(d.values()), list(d)


def _dict_flatten_with_keys(d: dict[Any, Any]) -> tuple[list[tuple[Any, Any]], Any]:
    """The pairs and keys of a dict."""
    return list(d.items()), list(d)


def _dict_unflatten(values: Iterable[Any], context: Any) -> dict[Any, Any]:
    """A dict of values and keys."""
    return dict(zip(context, values, strict=True))


def node_type(tree: Any) -> Any:
    """The key of SUPPORTED_NODES for a container; None for a leaf."""
    kind = type(tree)
    if kind in SUPPORTED_NODES:
        return kind
    return NamedTuple if issubclass(kind, tuple) and hasattr(kind, "_fields") else None


def register_pytree_node(cls: Any, flatten_fn: Callable[[Any], Any], unflatten_fn: Callable[[Any, Any], Any],
                         **settings: Any) -> None:
    """Make a class of containers part of trees: flatten_fn(x) gives (children, context), unflatten_fn takes them. PyTorch's
    other settings have no effect."""
    if cls in SUPPORTED_NODES:
        raise ValueError(f"{cls} is already registered as pytree node.")
    SUPPORTED_NODES[cls] = NodeDef(flatten_fn, unflatten_fn)


_register_pytree_node = register_pytree_node


def tree_flatten(tree: Any, is_leaf: Callable[[Any], bool] | None = None) -> tuple[list[Any], TreeSpec]:
    """The leaves of a tree, and its structure. is_leaf: whether a container counts as a leaf."""
    kind = None if is_leaf is not None and is_leaf(tree) else node_type(tree)
    if kind is None:
        return [tree], LeafSpec()
    children, context = SUPPORTED_NODES[kind].flatten(tree)
    leaves, specs = [], []
    for child in children:
        found, spec = tree_flatten(child, is_leaf)
        leaves += found
        specs.append(spec)
    return leaves, TreeSpec(kind, context, specs)


def tree_unflatten(leaves: Iterable[Any], treespec: TreeSpec) -> Any:
    """The tree of a structure and leaves."""
    return treespec.unflatten(leaves)


def tree_leaves(tree: Any, is_leaf: Callable[[Any], bool] | None = None) -> list[Any]:
    """The leaves of a tree."""
    return tree_flatten(tree, is_leaf)[0]


tree_iter = tree_leaves


def tree_structure(tree: Any, is_leaf: Callable[[Any], bool] | None = None) -> TreeSpec:
    """The structure of a tree."""
    return tree_flatten(tree, is_leaf)[1]


def tree_map(func: Callable[..., Any], tree: Any, *rests: Any, is_leaf: Callable[[Any], bool] | None = None) -> Any:
    """The tree of func(leaf, *leaves of the other trees)."""
    leaves, spec = tree_flatten(tree, is_leaf)
    return spec.unflatten(map(func, leaves, *[spec.flatten_up_to(rest) for rest in rests]))


def tree_map_(func: Callable[..., Any], tree: Any, *rests: Any, is_leaf: Callable[[Any], bool] | None = None) -> Any:
    """Call func for each leaf; the tree itself."""
    tree_map(func, tree, *rests, is_leaf=is_leaf)
    return tree


def map_only(type_or_types_or_pred: Any, /) -> Callable[[Callable[[Any], Any]], Callable[[Any], Any]]:
    """A decorator of functions of a leaf: leaves of other types pass unchanged."""
    matches = type_or_types_or_pred if not isinstance(type_or_types_or_pred, (type, tuple)) and callable(
        type_or_types_or_pred) else lambda x: isinstance(x, type_or_types_or_pred)
    return lambda func: lambda x: func(x) if matches(x) else x


def tree_map_only(type_or_types_or_pred: Any, /, func: Callable[[Any], Any], tree: Any,
                  is_leaf: Callable[[Any], bool] | None = None) -> Any:
    """The tree with func(leaf) for the leaves of some types."""
    return tree_map(map_only(type_or_types_or_pred)(func), tree, is_leaf=is_leaf)


def tree_all(pred: Callable[[Any], bool], tree: Any, is_leaf: Callable[[Any], bool] | None = None) -> bool:
    """Whether pred holds for all leaves."""
    return all(map(pred, tree_leaves(tree, is_leaf)))


def tree_any(pred: Callable[[Any], bool], tree: Any, is_leaf: Callable[[Any], bool] | None = None) -> bool:
    """Whether pred holds for any leaf."""
    return any(map(pred, tree_leaves(tree, is_leaf)))


def tree_all_only(types: Any, /, pred: Callable[[Any], bool], tree: Any) -> bool:
    """Whether pred holds for all leaves of some types."""
    return all(pred(leaf) for leaf in tree_leaves(tree) if isinstance(leaf, types))


def tree_any_only(types: Any, /, pred: Callable[[Any], bool], tree: Any) -> bool:
    """Whether pred holds for any leaf of some types."""
    return any(pred(leaf) for leaf in tree_leaves(tree) if isinstance(leaf, types))


__all__ = ["SUPPORTED_NODES", "LeafSpec", "NodeDef", "TreeSpec", "_register_pytree_node", "map_only", "register_pytree_node",
           "tree_all", "tree_all_only", "tree_any", "tree_any_only", "tree_flatten", "tree_iter", "tree_leaves", "tree_map",
           "tree_map_", "tree_map_only", "tree_structure", "tree_unflatten"]
