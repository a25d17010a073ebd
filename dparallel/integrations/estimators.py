"""NeuralNetClassifier and NeuralNetRegressor: a module as an estimator of scikit-learn, trained by DataParallel on all
ranks.

Arguments are named as in skorch. A constructor keeps its arguments, and fit() sets attributes that end in "_", so clone(),
cross_val_score(), GridSearchCV and pipelines work. All ranks call fit() with the same rows; each trains on its share.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from autograd.base.docstrings import attach_to_modules
from autograd.kernels.choose import rows_alike
from autograd.nn import CrossEntropyLoss, HuberLoss, L1Loss, Module, MSELoss, NLLLoss, SmoothL1Loss
from autograd.nn import functional as F
from autograd.utils.data import DataLoader, TensorDataset

from .. import autograd as ag
from ..autograd import optim
from ..comm import Communicator, communicator
from ..data.batches import GlobalBatchSampler
from ..model.data_parallel import DataParallel

if TYPE_CHECKING:
    BaseEstimator: Any = object
    ClassifierMixin: Any = object
    RegressorMixin: Any = object
else:
    try:
        base = import_module("sklearn.base")
        BaseEstimator, ClassifierMixin, RegressorMixin = base.BaseEstimator, base.ClassifierMixin, base.RegressorMixin
    except ModuleNotFoundError:                      # `from dparallel import *` works without it, estimators do not
        BaseEstimator, ClassifierMixin, RegressorMixin = (type(name, (), {}) for name in ("Base", "Classifier", "Regressor"))

Array = np.ndarray[Any, Any]
MSG_FEW = "the module has {outputs} outputs for {classes} classes; its last layer needs one for each"
PREFIXES = ("module__", "optimizer__", "criterion__")
TILE = 192                           # rows: a multiple of what kernels of products (3, 16) and of loops (64) take at a time


class NeuralNet(BaseEstimator):
    """The base of both estimators."""

    def __init__(self, module: Any, *, criterion: Any = None, optimizer: Callable[..., Any] = optim.SGD, lr: float = 0.01,
                 max_epochs: int = 10, batch_size: int = 128, shuffle: bool = True, warm_start: bool = False,
                 verbose: int = 0, random_state: Any = None, comm: Communicator | None = None, **kwargs: Any) -> None:
        if not hasattr(BaseEstimator, "_get_param_names"):
            raise ModuleNotFoundError(f"{type(self).__name__} needs scikit-learn: pip install scikit-learn")
        self.module, self.criterion, self.optimizer, self.lr = module, criterion, optimizer, lr
        self.max_epochs, self.batch_size, self.shuffle, self.warm_start = max_epochs, batch_size, shuffle, warm_start
        self.verbose, self.random_state, self.comm = verbose, random_state, comm
        for name, value in kwargs.items():
            if not name.startswith(PREFIXES):
                raise TypeError(f"{type(self).__name__}() got an unexpected keyword argument {name!r}; arguments of the "
                                f"module, the optimizer and the criterion begin with {', '.join(PREFIXES)}")
            setattr(self, name, value)

    # --- parameters: those of the constructor, and module__..., optimizer__..., criterion__... --------------------------

    def _prefixed(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name.startswith(PREFIXES)}

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The constructor's arguments, those with prefixes too."""
        return {**{name: getattr(self, name) for name in self._get_param_names()}, **self._prefixed()}

    def set_params(self, **params: Any) -> Any:
        """Set some of the constructor's arguments. Returns self."""
        for name, value in params.items():
            if name not in self._get_param_names() and not name.startswith(PREFIXES):
                raise ValueError(f"Invalid parameter {name!r} for estimator {type(self).__name__}. Valid parameters are: "
                                 f"{sorted(self.get_params())!r}, and names that begin with {', '.join(PREFIXES)}.")
            setattr(self, name, value)
        return self

    def _settings(self, prefix: str) -> dict[str, Any]:
        return {name.removeprefix(prefix): value for name, value in self._prefixed().items() if name.startswith(prefix)}

    # --- training ---------------------------------------------------------------------------------------------------------

    def initialize(self, x: ag.Tensor) -> None:
        """Make the module (or a copy), the criterion and the optimizer; lazy layers see some rows. fit() calls it."""
        if self.random_state is not None:
            ag.manual_seed(int(self._seed()))
        if isinstance(self.module, Module):
            settings = self._settings("module__")
            if settings:
                names = ", ".join("module__" + name for name in settings)
                raise TypeError(f"{names}: pass the class of the module, not an instance")
            net = copy.deepcopy(self.module)
        else:
            net = self.module(**self._settings("module__"))
        if isinstance(self.criterion, Module):
            if settings := self._settings("criterion__"):
                names = ", ".join("criterion__" + name for name in settings)
                raise TypeError(f"{names}: pass the class of the criterion, not an instance")
            self.criterion_ = copy.deepcopy(self.criterion)
        else:
            self.criterion_ = (self.criterion or self._criterion)(**self._settings("criterion__"))
        net.eval()
        with ag.no_grad():
            net(x[:2])
        self.module_ = net
        comm = communicator(self.comm)
        self.model_ = net if comm.size == 1 else DataParallel(net, comm=comm)
        self.optimizer_ = self.optimizer(net.parameters(), lr=self.lr, **self._settings("optimizer__"))
        self.history_: list[float] = []

    def _seed(self) -> int:
        state = self.random_state
        if isinstance(state, (int, np.integer)):
            return int(state)
        return int(import_module("sklearn.utils").check_random_state(state).randint(2**31))

    def _check(self, epochs: int) -> None:
        """Check the arguments that fit() uses."""
        for name, value, least in (("batch_size", self.batch_size, 1), ("max_epochs", epochs, 0)):
            if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < least:
                raise ValueError(f"{type(self).__name__}: {name}={value!r}; a whole number from {least} on is expected")

    def _weights(self, x: ag.Tensor, sample_weight: Any) -> list[ag.Tensor]:
        """The rows' weights with a mean of 1, as one more column of the data set; none if there are none."""
        if sample_weight is None:
            return []
        if not hasattr(self.criterion_, "reduction"):
            raise TypeError(f"sample_weight needs a criterion with a reduction; {type(self.criterion_).__name__} has none")
        given = sample_weight.detach().numpy() if isinstance(sample_weight, ag.Tensor) else sample_weight
        check = import_module("sklearn.utils.validation")._check_sample_weight
        weights = check(given, x.numpy(), dtype=np.float64)
        if weights.min() < 0 or not weights.any():
            raise ValueError(f"sample_weight: negative weights, or all are 0: from {weights.min()} to {weights.max()}")
        return [ag.tensor((weights / weights.mean()).astype(np.float32))]

    def _loss(self, output: ag.Tensor, targets: ag.Tensor, weights: list[ag.Tensor]) -> ag.Tensor:
        """The mean loss of rows, each multiplied by its weight."""
        if not weights:
            return self.criterion_(output, targets)  # type: ignore[no-any-return]
        each = copy.copy(self.criterion_)
        each.reduction = "none"
        losses = each(output, targets)
        return ((losses.flatten(1).mean(1) if losses.ndim > 1 else losses) * weights[0]).mean()

    def _epochs(self, x: ag.Tensor, y: ag.Tensor, sample_weight: Any, epochs: int) -> None:
        """Train; appends each epoch's mean loss over this rank's rows to history_."""
        comm = communicator(self.comm)
        rows = max(min(self.batch_size, len(x)), comm.size)
        seed = int(np.random.randint(2**31)) if self.random_state is None else self._seed()
        sampler = GlobalBatchSampler(x, rows, comm=comm, shuffle=self.shuffle,
                                     seed=seed if comm.alone else comm.broadcast_object(seed, 0))
        sampler.set_epoch(len(self.history_))
        loader: DataLoader[Any] = DataLoader(TensorDataset(x, y, *self._weights(x, sample_weight)), batch_sampler=sampler)
        self.module_.train()
        for _ in range(epochs):
            total, count = 0.0, 0
            for inputs, targets, *weights in loader:
                self.optimizer_.zero_grad()
                loss = self._loss(self._shaped(self.model_(inputs), targets), targets, weights)
                loss.backward()
                self.optimizer_.step()
                total, count = total + loss.item() * len(inputs), count + len(inputs)
            self.history_.append(total / max(count, 1))
            if self.verbose and 0 in comm.held:
                print(f"epoch {len(self.history_)}: loss {self.history_[-1]:.4f}", flush=True)
        self.module_.eval()
        if isinstance(self.model_, DataParallel):
            self.model_.synchronise_buffers()        # predict() is each rank's own

    def _shaped(self, output: ag.Tensor, targets: ag.Tensor) -> ag.Tensor:
        return output

    def _rows(self, X: Any, reset: bool) -> ag.Tensor:
        """X, checked by scikit-learn, as float32; other floating dtypes are kept."""
        validation = import_module("sklearn.utils.validation")
        if not hasattr(validation, "validate_data"):
            version = import_module("sklearn").__version__
            raise ImportError(f"{type(self).__name__} needs scikit-learn 1.6 or later, not {version}")
        validate = validation.validate_data
        X = X.detach().numpy() if isinstance(X, ag.Tensor) else X
        array = validate(self, X, reset=reset, dtype=[np.float32, np.float64], allow_nd=True)
        return ag.tensor(array.astype(np.float32, copy=False))

    def _outputs(self, X: Any, then: Callable[[ag.Tensor], ag.Tensor] = lambda outputs: outputs) -> ag.Tensor:
        """then(outputs of the module) for all rows.

        In batches of one shape, the last filled up with row 0: kernels compute the last rows of a product differently, and a
        prediction must not depend on its position.
        """
        import_module("sklearn.utils.validation").check_is_fitted(self, "module_")
        x = self._rows(X, False)
        n, size = len(x), max(self.batch_size, 1)
        if x.ndim == 2 and n:
            batches = -(-n // (-(-size // TILE) * TILE))
            size = -(-n // (batches * TILE)) * TILE
            x = ag.cat([x, x[:1].expand(batches * size - n, -1)])
        self.module_.eval()
        with ag.no_grad(), rows_alike():
            return ag.cat([then(self.module_(rows)) for rows in ag.split(x, size)])[:n]

    def __getstate__(self) -> dict[str, Any]:
        """The state for pickle and joblib, with the module and without the ranks' buckets."""
        state = super().__getstate__() if hasattr(BaseEstimator, "__getstate__") else dict(vars(self))
        return {**state, "model_": state["module_"]} if "module_" in state else state


class NeuralNetClassifier(ClassifierMixin, NeuralNet):
    """A module whose outputs are one score for each class, as a classifier of scikit-learn."""

    _criterion = CrossEntropyLoss

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """Train from the start (with warm_start, continue). Returns self."""
        self._train(X, y, None, sample_weight, self.max_epochs, go_on=self.warm_start)
        return self

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Any:
        """Train one more epoch. Returns self."""
        self._train(X, y, classes, sample_weight, 1, go_on=True)
        return self

    def _train(self, X: Any, y: Any, classes: Any, sample_weight: Any, epochs: int, go_on: bool) -> None:
        self._check(epochs)
        fitted = go_on and hasattr(self, "module_")
        if y is None:
            raise ValueError(f"This {type(self).__name__} estimator requires y to be passed, but the target y is None.")
        x = self._rows(X, not fitted)
        validation, multiclass = import_module("sklearn.utils.validation"), import_module("sklearn.utils.multiclass")
        y = validation.column_or_1d(y.detach().numpy() if isinstance(y, ag.Tensor) else y, warn=True)
        multiclass.check_classification_targets(y)
        validation.check_consistent_length(x.numpy(), y)
        if not fitted:
            self.classes_ = np.unique(y) if classes is None else np.unique(classes)
            if len(self.classes_) < 2:
                raise ValueError(f"{type(self).__name__} can't be trained on one class only: {self.classes_.tolist()}")
            self.initialize(x)
        place = np.searchsorted(self.classes_, y)
        wrong = (place >= len(self.classes_)) | (self.classes_[np.minimum(place, len(self.classes_) - 1)] != y)
        if wrong.any():
            raise ValueError(f"classes {np.unique(np.asarray(y)[wrong]).tolist()} are none of {self.classes_.tolist()}, "
                             "with which training began; pass all classes to the first partial_fit()")
        self._epochs(x, ag.tensor(place), sample_weight, epochs)

    def _shaped(self, output: ag.Tensor, targets: ag.Tensor) -> ag.Tensor:
        """The outputs, at least one for each class."""
        if output.ndim > 1 and output.shape[1] < len(self.classes_):
            raise ValueError(MSG_FEW.format(outputs=output.shape[1], classes=len(self.classes_)))
        return output

    def predict_proba(self, X: Any) -> Array:
        """The probability of each class for each row: softmax of the outputs; exp of the log-probabilities of NLLLoss."""
        def probabilities(outputs: ag.Tensor) -> ag.Tensor:
            if outputs.shape[-1] < len(self.classes_):
                raise ValueError(MSG_FEW.format(outputs=outputs.shape[-1], classes=len(self.classes_)))
            outputs = outputs[..., :len(self.classes_)]  # a last layer may be larger: the rest are no classes
            return outputs.exp() if isinstance(self.criterion_, NLLLoss) else F.softmax(outputs, -1)

        return self._outputs(X, probabilities).numpy()

    def predict(self, X: Any) -> Array:
        """The class with the largest score for each row."""
        best = self.predict_proba(X).argmax(-1)
        return self.classes_[best]


class NeuralNetRegressor(RegressorMixin, NeuralNet):
    """A module with numeric outputs, as scikit-learn's regressor. Attributes and errors are NeuralNetClassifier's."""

    _criterion = MSELoss

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """Train from the start (with warm_start, continue). Returns self."""
        self._train(X, y, sample_weight, self.max_epochs, go_on=self.warm_start)
        return self

    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """Train one more epoch. Returns self."""
        self._train(X, y, sample_weight, 1, go_on=True)
        return self

    def _train(self, X: Any, y: Any, sample_weight: Any, epochs: int, go_on: bool) -> None:
        self._check(epochs)
        fitted = go_on and hasattr(self, "module_")
        if y is None:
            raise ValueError(f"This {type(self).__name__} estimator requires y to be passed, but the target y is None.")
        x = self._rows(X, not fitted)
        validation = import_module("sklearn.utils.validation")
        y = y.detach().numpy() if isinstance(y, ag.Tensor) else y
        y = validation.check_array(y, ensure_2d=False, dtype=np.float32, input_name="y", estimator=self)
        validation.check_consistent_length(x.numpy(), y)
        y = validation.column_or_1d(y, warn=True) if y.ndim == 2 and y.shape[1] == 1 else y
        if not fitted:
            self.initialize(x)
        self._epochs(x, ag.tensor(y), sample_weight, epochs)

    def _shaped(self, output: ag.Tensor, targets: ag.Tensor) -> ag.Tensor:
        """One output as a vector if the targets are one."""
        output = output.squeeze(-1) if output.ndim == targets.ndim + 1 and output.shape[-1] == 1 else output
        by_element = isinstance(self.criterion_, (MSELoss, L1Loss, SmoothL1Loss, HuberLoss))
        if output.shape != targets.shape and (by_element or output.ndim == targets.ndim):             # which would broadcast
            raise ValueError(f"the module gives outputs of shape {list(output.shape)} for targets of shape "
                             f"{list(targets.shape)}; its last layer needs one output for each column of y")
        return output

    def predict(self, X: Any) -> Array:
        """The outputs for each row; of a module with one output a vector."""
        outputs = self._outputs(X)
        return (outputs.squeeze(-1) if outputs.ndim == 2 and outputs.shape[1] == 1 else outputs).numpy()


attach_to_modules("dparallel.integrations")
