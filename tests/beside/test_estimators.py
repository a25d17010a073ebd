"""NeuralNetClassifier and NeuralNetRegressor in scikit-learn as it is published."""

import pickle

import numpy as np
import pytest

import autograd as ag
from autograd import nn, optim

sklearn = pytest.importorskip("sklearn", reason="scikit-learn is not installed")
from sklearn import metrics as theirs  # noqa: E402
from sklearn.base import clone, is_classifier, is_regressor  # noqa: E402
from sklearn.datasets import load_iris  # noqa: E402
from sklearn.exceptions import NotFittedError  # noqa: E402
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score  # noqa: E402
from sklearn.pipeline import make_pipeline  # noqa: E402
from sklearn.preprocessing import StandardScaler  # noqa: E402
from sklearn.utils.estimator_checks import check_estimator  # noqa: E402

from dparallel import NeuralNetClassifier, NeuralNetRegressor, assert_same_everywhere, metrics  # noqa: E402
from dparallel.comm import Devices  # noqa: E402

X, Y = load_iris(return_X_y=True)
NAMES = np.array(["setosa", "versicolor", "virginica"])[Y]


class Net(nn.Module):
    def __init__(self, hidden=8, outputs=3):
        super().__init__()
        self.layers = nn.Sequential(nn.LazyLinear(hidden), nn.Tanh(), nn.Linear(hidden, outputs))

    def forward(self, x):
        return self.layers(x)


def classifier(**changes):
    return NeuralNetClassifier(Net, **{"module__hidden": 16, "optimizer": optim.Adam, "lr": 0.03, "max_epochs": 12, "batch_size": 32, "random_state": 0, **changes})


def test_validation_and_search():
    assert cross_val_score(make_pipeline(StandardScaler(), classifier()), X, NAMES, cv=3).min() > 0.85
    grid = GridSearchCV(classifier(max_epochs=6), {"lr": [1e-5, 0.03], "module__hidden": [4, 16]}, cv=2).fit(X, NAMES)
    best = grid.best_estimator_
    assert grid.best_params_["lr"] == 0.03 and best.module_.layers[2].weight.shape == (3, grid.best_params_["module__hidden"])
    assert best.predict(X[:1]).tolist() == ["setosa"] and best.classes_.tolist() == ["setosa", "versicolor", "virginica"] and best.n_features_in_ == 4
    np.testing.assert_allclose(best.predict_proba(X).sum(1), 1, rtol=1e-5)
    again = pickle.loads(pickle.dumps(best))
    np.testing.assert_array_equal(again.predict_proba(X), best.predict_proba(X))
    width = NeuralNetRegressor(Net, module__outputs=1, optimizer=optim.Adam, lr=0.05, max_epochs=20, random_state=0)
    assert cross_val_score(width, X[:, :3], X[:, 3], cv=KFold(3, shuffle=True, random_state=0)).min() > 0.7
    assert is_classifier(best) and is_regressor(NeuralNetRegressor(Net))


def test_parameters():
    net = classifier(optimizer__weight_decay=0.1)
    twin = clone(net)
    assert twin.get_params() == net.get_params() and twin is not net and not hasattr(twin, "module_")
    assert twin.set_params(lr=0.5, module__hidden=3, criterion__label_smoothing=0.1).get_params()["module__hidden"] == 3
    twin.fit(X, Y)
    assert twin.optimizer_.param_groups[0]["lr"] == 0.5 and twin.optimizer_.param_groups[0]["weight_decay"] == 0.1 and twin.criterion_.label_smoothing == 0.1
    first, second = classifier().fit(X, Y), classifier().fit(X, Y)
    assert ag.equal(first.module_.layers[0].weight, second.module_.layers[0].weight) and len(first.history_) == 12 and first.history_[-1] < first.history_[0]
    assert "module__hidden=16" in repr(net).replace("\n", "").replace(" ", "")
    for call, kind, words in [(lambda: NeuralNetClassifier(Net, hidden=3), TypeError, "unexpected keyword argument 'hidden'.*module__"), (lambda: net.set_params(rate=1), ValueError, "Invalid parameter 'rate'"),
                              (lambda: net.predict(X), NotFittedError, "not fitted"), (lambda: NeuralNetClassifier(nn.Linear(4, 3), module__hidden=1).fit(X, Y), TypeError, "module__hidden: pass the class"),
                              (lambda: first.predict(X[:, :2]), ValueError, "2 features"), (lambda: NeuralNetClassifier(nn.Linear(4, 2)).fit(X, Y).predict(X), (ValueError, IndexError), "2 outputs|out of|Target"),
                              (lambda: classifier().fit(X, Y * 0), ValueError, "one class only")]:
        with pytest.raises(kind, match=words):
            call()


def test_training_goes_on():
    net = classifier(max_epochs=2)
    for _ in range(10):
        net.partial_fit(X[:140:3], NAMES[:140:3], classes=np.unique(NAMES))
    assert len(net.history_) == 10 and net.score(X, NAMES) > 0.8
    with pytest.raises(ValueError, match=r"\['rose'\] are none of"):
        net.partial_fit(X[:1], ["rose"])
    warm = classifier(max_epochs=2, warm_start=True)
    assert len(warm.fit(X, Y).fit(X, Y).history_) == 4 and len(classifier(max_epochs=2).fit(X, Y).history_) == 2
    given = nn.Linear(4, 3)
    before = given.weight.detach().clone()
    NeuralNetClassifier(given, max_epochs=1).fit(ag.tensor(X), ag.tensor(Y))       # of tensors; the module that was given stays
    assert ag.equal(given.weight, before)
    two = NeuralNetRegressor(nn.Linear(4, 2), max_epochs=2).fit(X, X[:, :2])
    assert two.predict(X).shape == (150, 2) and NeuralNetRegressor(nn.Linear(4, 1), max_epochs=2).fit(X, X[:, 0]).predict(X).shape == (150,)


def test_on_ranks():
    """Each rank trains on its share of the same rows, and has the same estimator afterwards, that of one rank."""
    from dparallel import run_ranks

    def train(comm):
        ag.manual_seed(0)
        net = NeuralNetClassifier(nn.Linear(4, 3), comm=comm, max_epochs=2, batch_size=30, random_state=None, shuffle=False, optimizer__momentum=0.5)
        net.module.weight.data.fill_(0.1)
        net.module.bias.data.fill_(0.0)
        net.fit(X, Y)
        assert_same_everywhere(list(net.module_.parameters()), comm)
        return net.module_.weight.detach().numpy(), pickle.loads(pickle.dumps(net.set_params(comm=None))).predict(X)

    (alone, _), = run_ranks(1, train)
    for weights, _ in run_ranks(3, train):
        np.testing.assert_allclose(weights, alone, rtol=1e-4)


def test_metrics_are_scikit_learns():
    rng = np.random.default_rng(0)
    scores, targets, values, right = rng.standard_normal((23, 4)).round(1), rng.integers(0, 4, 23), rng.standard_normal(23) + 1e6, rng.standard_normal(23) + 1e6
    make = {"matrix": metrics.ConfusionMatrix(4), "f1": metrics.F1Score(4), "f1 micro": metrics.F1Score(4, average="micro"), "f1 weighted": metrics.F1Score(4, average="weighted"),
            "f1 each": metrics.F1Score(4, average=None), "precision": metrics.Precision(4), "recall": metrics.Recall(4, ignore_index=2), "auroc": metrics.AUROC(), "binary": metrics.AUROC(),
            "mse": metrics.MeanSquaredError(), "rmse": metrics.MeanSquaredError(squared=False), "mae": metrics.MeanAbsoluteError(), "r2": metrics.R2Score()}
    found = scores.argmax(1)
    kept = targets != 2
    expected = {
        "matrix": theirs.confusion_matrix(targets, found), "f1": theirs.f1_score(targets, found, average="macro"), "f1 micro": theirs.f1_score(targets, found, average="micro"),
        "f1 weighted": theirs.f1_score(targets, found, average="weighted"), "f1 each": theirs.f1_score(targets, found, average=None),
        "precision": theirs.precision_score(targets, found, average="macro"), "recall": theirs.recall_score(targets[kept], found[kept], average="macro", zero_division=0),
        "auroc": np.mean([theirs.roc_auc_score(k == targets, scores[:, k]) for k in range(4)]), "binary": theirs.roc_auc_score(targets > 1, scores[:, 0]),
        "mse": theirs.mean_squared_error(right, values), "rmse": theirs.mean_squared_error(right, values) ** 0.5, "mae": theirs.mean_absolute_error(right, values),
        "r2": theirs.r2_score(right, values)}
    for name, value in expected.items():
        metric = make[name]
        metric.update(*((values, right) if name in ("mse", "rmse", "mae", "r2") else (scores[:, 0], targets > 1) if name == "binary" else (scores, targets)))
        np.testing.assert_allclose(metric.compute(Devices(1)), value, rtol=1e-9, err_msg=name)
    binary = metrics.F1Score(2, average=None)
    binary.update(ag.sigmoid(ag.tensor(scores[:, 0])), targets > 1)      # probabilities
    np.testing.assert_allclose(binary.compute(Devices(1))[1], theirs.f1_score(targets > 1, scores[:, 0] > 0), rtol=1e-12)
    rare = metrics.AUROC(average=None)
    rare.update(scores[:3], np.zeros(3, int))
    assert np.isnan(rare.compute(Devices(1))).all()


OURS = {"check_no_attributes_set_in_init": "arguments with prefixes are attributes", "check_do_not_raise_errors_in_init_or_set_params": "names are checked at once",
        "check_dict_unchanged": "", "check_sample_weights_invariance": ""}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("estimator", [classifier(module__outputs=8), NeuralNetRegressor(Net, module__outputs=1, optimizer=optim.Adam, lr=0.05, max_epochs=30, random_state=0, batch_size=16)],
                         ids=["classifier", "regressor"])
def test_scikit_learns_own_checks(estimator):
    estimator.set_params(max_epochs=10, lr=0.1, batch_size=16)
    found = check_estimator(estimator, on_fail=None, expected_failed_checks=OURS)
    assert [(one["check_name"], one["exception"]) for one in found if one["status"] == "failed"] == [] and len(found) > 45
