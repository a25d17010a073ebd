"""NeuralNetClassifier and NeuralNetRegressor in scikit-learn as it is published."""

import pickle

import numpy as np
import pytest
from raised import raises

import autograd as ag
from autograd import nn, optim
from autograd.kernels.onednn import onednn

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

pytestmark = pytest.mark.processor
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


@pytest.mark.skipif(onednn.library is None, reason="OpenBLAS's kernels for Haswell add up 6 of 12 rows otherwise")
@pytest.mark.parametrize("kind", [NeuralNetClassifier, NeuralNetRegressor])
@pytest.mark.parametrize("hidden, rows, batch", [(16, 150, 32), (33, 333, 128), (257, 61, 16)])
def test_a_prediction_does_not_depend_on_the_place_of_its_row(kind, hidden, rows, batch):
    rng = np.random.default_rng(0)
    x, order = rng.standard_normal((rows, 20)).astype(np.float32), rng.permutation(rows)
    net = kind(Net, module__hidden=hidden, module__outputs=3, batch_size=batch, max_epochs=1, random_state=0)
    net.fit(x, np.arange(rows) % 3 if kind is NeuralNetClassifier else x[:, :3])
    predict = net.predict_proba if kind is NeuralNetClassifier else net.predict
    whole = predict(x)
    np.testing.assert_array_equal(predict(x[order]), whole[order])
    np.testing.assert_allclose(np.concatenate([predict(x[k:k + 1]) for k in (0, rows - 1)]), whole[[0, -1]], rtol=1e-5, atol=1e-6)


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
                              (lambda: first.predict(X[:, :2]), ValueError, "2 features"), (lambda: NeuralNetClassifier(nn.Linear(4, 2)).fit(X, Y), ValueError, "has 2 outputs for 3 classes"),
                              (lambda: classifier().fit(X, Y * 0), ValueError, "one class only"), (lambda: classifier(batch_size=0).fit(X, Y), ValueError, "batch_size=0"),
                              (lambda: classifier(max_epochs=-1).fit(X, Y), ValueError, "max_epochs=-1"), (lambda: NeuralNetRegressor(nn.Linear(4, 1)).fit(X, X[:, :2]), ValueError, r"\[128, 1\] for targets of shape \[128, 2\]"),
                              (lambda: NeuralNetRegressor(nn.Linear(4, 2), batch_size=2).fit(X, X[:, 0]), ValueError, r"\[2, 2\] for targets of shape \[2\]"),
                              (lambda: classifier(criterion=nn.NLLLoss(), criterion__reduction="sum").fit(X, Y), TypeError, "criterion__reduction: pass the class"),
                              (lambda: classifier().fit(X, Y, np.zeros(150)), ValueError, "all are 0|non-zero"), (lambda: classifier().fit(X, Y, -np.ones(150)), ValueError, "negative")]:
        raises(kind, words, call)


def test_training_goes_on():
    net = classifier(max_epochs=2)
    for _ in range(10):
        net.partial_fit(X[:140:3], NAMES[:140:3], classes=np.unique(NAMES))
    assert len(net.history_) == 10 and net.score(X, NAMES) > 0.8
    raises(ValueError, r"\['rose'\] are none of", lambda: net.partial_fit(X[:1], ["rose"]))
    warm = classifier(max_epochs=2, warm_start=True)
    assert len(warm.fit(X, Y).fit(X, Y).history_) == 4 and len(classifier(max_epochs=2).fit(X, Y).history_) == 2
    given = nn.Linear(4, 3)
    before = given.weight.detach().clone()
    NeuralNetClassifier(given, max_epochs=1).fit(ag.tensor(X), ag.tensor(Y))       # of tensors; the module that was given stays
    assert ag.equal(given.weight, before)
    two = NeuralNetRegressor(nn.Linear(4, 2), max_epochs=2).fit(X, X[:, :2])
    assert two.predict(X).shape == (150, 2) and NeuralNetRegressor(nn.Linear(4, 1), max_epochs=2).fit(X, X[:, 0]).predict(X).shape == (150,)


def test_sample_weight():
    """A row of weight 2 counts as two rows, on all ranks together."""
    from dparallel import run_ranks

    rng = np.random.default_rng(0)
    weight, y = rng.integers(0, 3, 31), np.arange(31) % 2
    twice = np.repeat(np.arange(31), weight)

    def train(comm):
        settings = {"comm": comm, "max_epochs": 8, "batch_size": 200, "lr": 0.5}
        first, second = nn.Linear(4, 2), nn.Linear(4, 1)
        for p in (*first.parameters(), *second.parameters()):
            p.data.fill_(0.1)
        classes, numbers = NeuralNetClassifier(first, criterion=nn.CrossEntropyLoss(), **settings), NeuralNetRegressor(second, **{**settings, "lr": 0.001})
        return [net.fit(rows, target, given).module_.weight.detach().numpy() for net, target in ((classes, y), (numbers, X[:31, 0]))
                for rows, target, given in ((X[:31], target, weight), (X[twice], target[twice], None), (X[:31], target, None))]

    for weighted, repeated, plain, *more in [found for size in (1, 3) for found in run_ranks(size, train)]:
        np.testing.assert_allclose(weighted, repeated, rtol=1e-4)
        np.testing.assert_allclose(more[0], more[1], rtol=1e-4)
        assert abs(weighted - plain).max() > 1e-3 < abs(more[0] - more[2]).max() * 100
    from sklearn.ensemble import AdaBoostClassifier
    assert AdaBoostClassifier(classifier(max_epochs=3), n_estimators=2).fit(X, NAMES).score(X, NAMES) > 0.5


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
    many, truth = rng.standard_normal((23, 3)), rng.standard_normal((23, 3))
    truth[:, 1] = 2.0                                                     # of equal targets 0, where they are met 1
    many[:, 2] = truth[:, 2]
    for kind in ("uniform_average", "variance_weighted", "raw_values"):
        metric = metrics.R2Score(multioutput=kind)
        for rows in (slice(0, 5), slice(5, 5), slice(5, 23)):
            metric.update(many[rows], truth[rows])
        np.testing.assert_allclose(metric.compute(Devices(1)), theirs.r2_score(truth, many, multioutput=kind), rtol=1e-9)
    binary = metrics.F1Score(2, average=None)
    binary.update(ag.sigmoid(ag.tensor(scores[:, 0])), targets > 1)      # probabilities
    np.testing.assert_allclose(binary.compute(Devices(1))[1], theirs.f1_score(targets > 1, scores[:, 0] > 0), rtol=1e-12)
    rare = metrics.AUROC(average=None)
    rare.update(scores[:3], np.zeros(3, int))
    assert np.isnan(rare.compute(Devices(1))).all()


OURS = {"check_no_attributes_set_in_init": "arguments with prefixes are attributes", "check_do_not_raise_errors_in_init_or_set_params": "names are checked at once",
        "check_sample_weight_equivalence_on_dense_data": "a row of weight 0 has its place in a batch"}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("estimator", [classifier(module__outputs=8), NeuralNetRegressor(Net, module__outputs=1, optimizer=optim.Adam, lr=0.05, max_epochs=30, random_state=0, batch_size=16)],
                         ids=["classifier", "regressor"])
def test_scikit_learns_own_checks(estimator):
    estimator.set_params(max_epochs=10, lr=0.1, batch_size=16)
    found = check_estimator(estimator, on_fail=None, expected_failed_checks=OURS)
    assert [(one["check_name"], one["exception"]) for one in found if one["status"] == "failed"] == [] and len(found) > 45
