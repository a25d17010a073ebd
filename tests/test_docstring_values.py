"""Docstrings are true: functions and layers accept every kind of value that their docstring admits, and raise what it promises.

The call of a docstring's own example is made again with one argument replaced: by numbers and sequences where its type says
so, True and False, each quoted word, None, and tensors of each dtype that the text names. One candidate of each kind must be
accepted; of words, bools and None every one. Errors are provoked by a wrong dtype, dimension, word or number.
"""

import ast
import builtins
import inspect
import re
import sys
import warnings
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

import autograd as ag
from tools.docstrings import public_classes, public_functions, statements
from tools.stubs import full_signature

NUMBERS, WRONG = (1, 0, 2, 4, 0.5, -1), (0, -1, -2.0, 1.5, 10 ** 6, "bogus", (), (0, 0, 0), None, ag.ones(7, 7, 7))
DTYPES = {"bool": "bool", "integers": "int64", "int64": "int64", "floating point": "float32", "complex": "complex64",
          "any dtype": "bool int64 float32 complex64"}
# Arguments that are accepted only together with others, and calls for values that the example's call does not accept.
WITH = {"keepdim": {"dim": 0}, "keepdims": {"dim": 0}, "requires_grad": {"dtype": ag.float32}, "center": {"sym": False},
        "nesterov": {"momentum": 0.9}}
ALSO = """istft(ag.ones(4, 5, dtype=ag.complex64), 4, onesided=False, return_complex=True, window=ag.ones(4))
    nn.functional.multi_head_attention_forward(*[ag.ones(3, 1, 2)] * 3, 2, 1, ag.ones(6, 2), None, None, None, False, 0.,\
 ag.eye(2), None, attn_mask=ag.zeros(3, 3), q_proj_weight=ag.eye(2), k_proj_weight=ag.eye(2), v_proj_weight=ag.eye(2))
    optim.lr_scheduler.OneCycleLR(ag.optim.SGD([ag.ones(1, requires_grad=True)], momentum=0.9), 1.0, epochs=2, steps_per_epoch=2)
    nn.MultiheadAttention(2, 1, kdim=1, vdim=1)(ag.ones(3, 1, 2), ag.ones(3, 1, 1), ag.ones(3, 1, 1))
    instance_norm(ag.ones(1, 1, 2), None, None, ag.zeros(1), ag.ones(1), True, 0.1, 1e-5); Tensor.split(ag.arange(2), 2)
    nn.functional.interpolate(ag.ones(1, 1, 2, 2, 2), scale_factor=2, mode="trilinear"); permute_copy(ag.ones(2), (0,))
    batch_norm(ag.ones(2, 1), None, None, ag.zeros(1), ag.ones(1), True, 0.1, 1e-5); linalg.solve(ag.eye(2), ag.eye(2))
    nn.functional.upsample(ag.ones(1, 1, 2, 2), scale_factor=2, mode="bilinear"); linalg.solve_ex(ag.eye(2), ag.eye(2))
    nn.TransformerDecoderLayer(2, 1, 4)(ag.ones(3, 3, 2), ag.ones(3, 3, 2)); utils.data.DataLoader([1], num_workers=1)
    nn.functional.instance_norm(ag.ones(1, 1, 2), ag.zeros(1), ag.ones(1)); frombuffer(bytes(16), dtype=ag.float32)
    nn.functional.scaled_dot_product_attention(*[ag.ones(1, 2, 3, 4)] * 3); permute(ag.ones(2), (0,))
    nn.Upsample(scale_factor=2, mode="trilinear")(ag.ones(1, 1, 2, 2, 2)); split(ag.arange(2), 2); frombuffer(bytes(16))
    nn.Transformer(2, 1, 1, 1, 4)(ag.ones(3, 3, 2), ag.ones(3, 3, 2)); utils.data.WeightedRandomSampler([1.0, 1.0], 1)
    nn.Upsample(scale_factor=2, mode="bilinear")(ag.ones(1, 1, 2, 2)); ormqr(*ag.geqrf(ag.ones(2, 2)), ag.ones(2, 2))
    nn.functional.batch_norm(ag.ones(2, 1), ag.zeros(1), ag.ones(1)); randint(5, size=(1,)); asarray(ag.ones(2))
    linalg.lu_solve(*ag.linalg.lu_factor(ag.eye(2)), ag.eye(2))
    linalg.solve_triangular(ag.eye(2), ag.eye(2), upper=True); tensordot(ag.ones(2, 2), ag.ones(2, 2), dims=([1], [0]))""".replace("\n", ";").split(";")


def sections(doc):
    """The arguments {name: (kind, text)}, errors [(type, text)] and example lines of a docstring."""
    found = dict(re.findall(r"^(Args|Raises|Example):\n((?:    .*\n?|\n(?=    ))*)", doc, re.M))
    args, raises = (re.sub(r"^ {4}", "", re.sub(r"\n {5,}", " ", found.get(title, "")), flags=re.M) for title in ("Args", "Raises"))
    arguments = {name: (kind, text) for name, kind, text in re.findall(r"^\**(\w+)(?: \(([^:]*)\))?: (.*)", args, re.M)}
    return arguments, re.findall(r"^(\w+): (.*)", raises, re.M), re.findall(r"^    ((?:>>>|\.\.\.) .*)", found.get("Example", ""), re.M)


class Call:
    """The example of a function, to be run with some of the arguments of its first call replaced."""

    def __init__(self, path, function, lines, which=0):
        self.function, self.signature = function, full_signature(function.__init__ if inspect.isclass(function) else function)
        self.blocks, self.bound, self.none, at, seen = [], None, [None] * inspect.isclass(function), None, 0      # none: self
        for block in statements(lines):
            tree = ast.parse("\n".join(block))
            for node in ast.walk(tree):
                if at is None and isinstance(node, ast.Call) and (ast.unparse(node.func) == f"ag.{path}" or (
                        path.startswith("Tensor.") and isinstance(node.func, ast.Attribute) and node.func.attr == path[7:])):
                    if (seen := seen + 1) <= which:
                        continue
                    if ast.unparse(node.func) != f"ag.{path}":
                        node.args.insert(0, node.func.value)
                    node.func, at = ast.Name("probed", ast.Load()), len(self.blocks)
            self.blocks.append(compile(ast.fix_missing_locations(tree), path, "exec"))
        if at is not None and not inspect.isclass(function):
            self.blocks = self.blocks[:at + 1]
        self.error = self.run() if at is not None else "no call"

    def run(self, change=lambda arguments: arguments):
        """None, or the error of the example with its arguments changed."""
        def probed(*args, **settings):
            bound = self.signature.bind(*self.none, *args, **settings)
            self.bound = dict(bound.arguments)
            bound.arguments = change(dict(bound.arguments))
            return self.function(*bound.args[len(self.none):], **bound.kwargs)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                space = {"ag": ag, "probed": probed}
                for block in self.blocks:
                    exec(block, space)
        except Exception as error:
            return error
        return None

    def with_value(self, name, value):
        """The error with an argument replaced, added, or given in place of another."""
        error = self.run(lambda arguments: arguments | {name: value})
        if error is not None and name in WITH and (also := {k: v for k, v in WITH[name].items() if k in self.signature.parameters}):
            error = self.run(lambda arguments: also | arguments | {name: value})
        others = [other for other in list(self.bound)[1:] if other != name] if error is not None else []
        if any(self.run(lambda arguments, o=o: {k: v for k, v in arguments.items() if k != o} | {name: value}) is None for o in others):
            return None
        return None if isinstance(error, AttributeError) and "tuple" in str(error) else error     # (values, indices).shape

    def cast(self, dtype, name=None):
        """The error with tensors in another dtype: argument `name`, or all of the first tensor's dtype."""
        flat = [v for a in self.bound.values() for v in (a if type(a) in (list, tuple) else [a])]
        of = self.bound[name].dtype if name else next(v for v in flat if isinstance(v, ag.Tensor)).dtype

        def to(v):
            if isinstance(v, ag.Tensor) and v.dtype == of:
                return v.detach().to(dtype)
            return type(v)(map(to, v)) if type(v) in (list, tuple) else v
        return self.run(lambda arguments: {key: to(v) if name in (None, key) else v for key, v in arguments.items()})


def admitted(kind, text, parameter, base):
    """Lists of candidates, of which one each must be accepted, for an argument that the docstring describes so."""
    if only := re.search(r"\bonly (True|False|None|\d+)\b", text, re.I):
        return [[ast.literal_eval(only[1])]]
    kinds = {part.strip() for part in re.split(r" or |, ", kind)}
    own = [base] if type(base) in (list, tuple) else []
    numbers = [n for n in (*(base if own else [base])[:1], *NUMBERS) if isinstance(n, (int, float)) and type(n) is not bool]
    lists = [[word] for word in re.findall(r'"([\w-]+)"', text)]
    lists += [[None]] if kinds & {"None", "optional"} or re.search(r"\bif None\b|\bNone[:,]", text) else []
    if parameter.kind is parameter.VAR_POSITIONAL:
        return lists
    lists += [numbers] if kinds & {"int", "float", "number"} and not isinstance(base, ag.Tensor) else []
    lists += [own + [(n,) * d for n in numbers for d in (1, 2, 3, 4, 6)]] if kinds & {"ints", "tuple", "tuple of ints"} else []
    lists += [[True], [False]] if "bool" in kinds else []
    return lists + ([[ag.float32, ag.int64, ag.complex64]] if "dtype" in kinds else [])


def calls_of(path, function):
    """The calls of a function that its docstring's example, ALSO and the constructor of an optimizer make."""
    lines = sections(inspect.getdoc(function) or "")[2]
    also = [line.strip() for line in ALSO if line.strip().startswith(f"{path}(")]
    also += [f"{path}([ag.ones(2, requires_grad=True)])"] if path.startswith("optim.") else []
    calls = [Call(path, function, lines, which) for which in range(4)] + [Call(path, function, [f">>> ag.{line}"]) for line in also]
    return [call for call in calls if call.error is None]


def false_values(path, calls):
    """What is not so in the docstring of one function or class."""
    arguments, errors, _ = sections(inspect.getdoc(calls[0].function))
    found, parameters = [], calls[0].signature.parameters
    for name, (kind, text) in ((name, said) for name, said in arguments.items() if name in parameters):
        base = calls[0].bound.get(name, parameters[name].default)
        for values in admitted(kind, text, parameters[name], base):
            if all(call.with_value(name, value) is not None for value in values for call in calls):
                error = calls[0].with_value(name, values[0])
                found.append(f"{path}: {name}={values[0]!r}: {type(error).__name__}: {str(error)[:90]}")
        said = text.partition("; integers are converted")[0] if isinstance(calls[0].bound.get(name), ag.Tensor) else ""
        for word in " ".join(dtypes for words, dtypes in DTYPES.items() if re.search(rf"\b{words}\b", said)).split():
            dtype = getattr(ag, word)
            if calls[0].cast(dtype, name) is not None and (error := calls[0].cast(dtype)) is not None:
                found.append(f"{path}: {name} of {word}: {type(error).__name__}: {str(error)[:90]}")
    return found + [f"{path}: no {kind}: {text}" for kind, text in errors if not_raised(calls[0], kind, text)]


def not_raised(call, kind, text):
    """Whether an error that can be provoked mechanically does not come."""
    of = getattr(builtins, kind, None) or getattr(ag, kind, Exception)
    if text.startswith("the dtype is "):
        words = re.findall("bool|integers|floating point|complex", text)
        return not all(isinstance(call.cast(getattr(ag, DTYPES[word])), of) for word in words)
    if "`dim` is out of range" in text:
        return not isinstance(call.run(lambda arguments: arguments | {"dim": 99}), of)
    if re.search(r"must be|should be (?!provided)|has to be|is not|Invalid|xpected|unknown", text) and not re.search(r"type|implemented|input", text):
        names = [name for name in call.signature.parameters if re.search(rf"\b{name}\b", text)]
        return bool(names) and not any(isinstance(call.with_value(name, value), of) for name in names for value in WRONG)
    return False


def test_docstrings_are_true():
    """All operations, methods, layers, optimizers, datasets."""
    functions = {id(f): (path, getattr(ag.Tensor, path[7:]) if path.startswith("Tensor.") else f)
                 for _, path, f in [*public_functions(ag), *public_classes(ag)][::-1] if not isinstance(f, property)}
    called = [(path, calls) for path, function in functions.values() if (calls := calls_of(path, function))]
    assert len(called) > 1000
    found = [line for path, calls in called for line in false_values(path, calls)]
    assert not found, "\n".join(found)


def test_the_check_finds_what_is_false():
    def max_pool2d(input, kernel_size, padding=0):
        """Args:
    padding (int or tuple of ints): A size, "same" or "valid"; 0 if None.

Raises:
    KeyError: kernel_size must be positive.
    TypeError: padding must be an int.

Example:
    >>> ag.max_pool2d(ag.ones(1, 4, 4), 2)
"""
        return ag.max_pool2d(input, kernel_size, padding=padding)

    found = [re.split(r": [A-Z]|\.$", line)[0] for line in false_values("F", calls_of("max_pool2d", max_pool2d))]
    assert found == ["F: padding='same'", "F: padding='valid'", "F: padding=None", "F: no KeyError: kernel_size must be positive"]

