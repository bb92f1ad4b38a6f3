"""Native to scikit-learn: its own checks, its meta-estimators, copies of all kinds."""

import io
import pickle

import joblib
import numpy as np
import pytest
from conftest import CV_ESTIMATORS, ESTIMATORS, data_for
from sklearn.base import clone
from sklearn.feature_selection import SelectFromModel
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import ksparse


# A small grid and a short search, since every check fits it several times; in shares of the columns: some checks have
# only one or two.
GRID = {"ks": (0.1, 0.4), "alphas": (1e-3, 1e-1), "cv": 3, "solver_options": {"effort": "quick"}}
CHECKED = [
    *(estimator() for estimator in ESTIMATORS),
    *(estimator(**GRID) for estimator in CV_ESTIMATORS),
    ksparse.SparseMultinomialRegression(),
    # A column serves all classes at once: some checks have two, and both are needed.
    ksparse.SparseMultinomialRegressionCV(**{**GRID, "ks": (0.1, 1.0)}),
    ksparse.SparseOrdinalRegression(),
    ksparse.SparseOrdinalRegressionCV(**GRID),
    ksparse.SparseMultiTaskRegression(),
    ksparse.SparseMultiTaskRegressionCV(**GRID),
    ksparse.SparsePrecision(),
    ksparse.SparseLDA(),
    ksparse.SparsePrecisionCV(ks=(0.2, 0.6), cv=3),
]


def what_cannot_hold(estimator):
    """Checks of transformers pass targets of 0 whatever an estimator says of its targets; that weights are repeated
    rows is checked on some ten rows of noise, where the search may end at one of several supports that fit nearly as
    well (no exchange improves any of them)."""
    noise = {
        "SparseMultiTaskRegression": ("dense", "sparse"),
        "SparseRobustRegression": ("dense", "sparse"),
        "SparseLinearRegression": ("sparse",),
    }
    if storages := noise.get(type(estimator).__name__, ()):
        names = [f"check_sample_weight_equivalence_on_{storage}_data" for storage in storages]
        return dict.fromkeys(names, "one of several supports that fit noise")
    if not type(estimator).__name__.startswith("SparseGamma"):
        return {}
    return dict.fromkeys(
        (
            "check_transformer_data_not_an_array",
            "check_transformer_general",
            "check_transformer_preserve_dtypes",
            "check_transformer_n_iter",
        ),
        "a target of 0, which a gamma distribution does not have",
    )


@parametrize_with_checks(CHECKED, expected_failed_checks=what_cannot_hold)
def test_scikit_learns_own_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_pipeline_grid_search_and_scores(estimator):
    X, y = data_for(estimator)
    pipeline = make_pipeline(StandardScaler(), estimator())
    name = pipeline.steps[-1][0]
    search = GridSearchCV(pipeline, {f"{name}__k": [1, 2, 4], f"{name}__alpha": [1e-3, 1e-1]}, n_jobs=2, cv=3).fit(X, y)
    assert search.best_score_ > 0.8
    assert cross_val_score(estimator(k=2), X, y, cv=3, n_jobs=2).min() > 0.7


JOINT = ["SparseMultinomialRegressionCV", "SparseOrdinalRegressionCV", "SparseMultiTaskRegressionCV"]


@pytest.mark.parametrize("name", [*(one.__name__ for one in CV_ESTIMATORS), *JOINT, "SparsePrecisionCV"])
def test_results_have_the_keys_of_a_grid_search(name):
    chooser, plain = getattr(ksparse, name), getattr(ksparse, name.removesuffix("CV"))
    X, y = data_for(chooser)
    y = np.column_stack([y, -y]) if "MultiTask" in name else np.digitize(y, [-1, 1]) if name in JOINT else y
    ours = chooser(ks=[1, 2], cv=3).fit(X, y).cv_results_
    theirs = GridSearchCV(plain(), {"k": [1, 2]}, cv=3).fit(X, y).cv_results_
    assert {key for key in theirs if not key.endswith("_time")} <= set(ours)
    params = ours["params"]
    assert all(len(column) == len(params) for column in ours.values())
    for key in params[0]:
        assert ours[f"param_{key}"].tolist() == [cell[key] for cell in params]
    assert ours["rank_test_score"][np.argmax(ours["mean_test_score"])] == 1
    splits = [column for key, column in ours.items() if key.startswith("split")]
    np.testing.assert_allclose(ours["std_test_score"], np.std(splits, axis=0))


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_too_large_a_k_does_not_end_a_grid_search(estimator):
    X, y = data_for(estimator)
    with pytest.warns(ksparse.KSparseWarning, match="k=50 is more than the 12 features"):
        search = GridSearchCV(estimator(), {"k": [2, 50]}, error_score="raise", cv=3).fit(X, y)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()


@pytest.mark.parametrize("estimator", ESTIMATORS + CV_ESTIMATORS)
def test_copies(estimator):
    X, y = data_for(estimator)
    fitted = estimator(random_state=3).fit(X, y)
    assert clone(fitted).get_params() == fitted.get_params()
    file = io.BytesIO()
    joblib.dump(fitted, file)
    file.seek(0)
    for copy in (pickle.loads(pickle.dumps(fitted)), joblib.load(file), clone(fitted).fit(X, y)):
        np.testing.assert_array_equal(copy.coef_, fitted.coef_)
        np.testing.assert_array_equal(copy.predict(X), fitted.predict(X))


def test_fits_in_threads_and_processes(regression):
    X, y, _ = regression
    expected = ksparse.SparseLinearRegression(4).fit(X, y).coef_
    for backend in ("threading", "loky", "multiprocessing"):
        fits = joblib.Parallel(n_jobs=2, backend=backend)(
            joblib.delayed(ksparse.SparseLinearRegression(4).fit)(X, y) for _ in range(4)
        )
        for fit in fits:
            np.testing.assert_array_equal(fit.coef_, expected)


def test_selects_features(regression):
    pandas = pytest.importorskip("pandas")
    X, y, coef = regression
    frame = pandas.DataFrame(X, columns=[f"gene{j}" for j in range(X.shape[1])])
    model = ksparse.SparseLinearRegression(k=4).fit(frame, y)
    assert model.support_.tolist() == coef.nonzero()[0].tolist()
    assert model.get_support().nonzero()[0].tolist() == model.support_.tolist()
    assert model.get_feature_names_out().tolist() == [f"gene{j}" for j in model.support_]
    chosen = model.set_output(transform="pandas").transform(frame)
    assert chosen.columns.tolist() == model.get_feature_names_out().tolist()
    by_importance = SelectFromModel(ksparse.SparseLinearRegression(k=4), threshold=1e-12).fit(frame, y)
    assert by_importance.get_support().tolist() == model.get_support().tolist()


@pytest.mark.parametrize("classes", [0, 2, 3])
def test_coefficients_may_be_sparse(regression, classes):
    X, y, _ = regression
    if classes:
        y = np.digitize(y, np.quantile(y, np.arange(1, classes) / classes))
        model = ksparse.SparseLogisticRegression(k=4).fit(X, y)
    else:
        model = ksparse.SparseLinearRegression(k=4).fit(X, y)
    dense, predicted = model.coef_, model.predict(X)
    assert model.sparsify() is model and model.coef_.format == "csr" and model.coef_.nnz == np.count_nonzero(dense)
    np.testing.assert_array_equal(model.predict(X), predicted)
    np.testing.assert_array_equal(model.densify().coef_, dense)


def test_html_repr():
    assert "SparseLogisticRegression" in ksparse.SparseLogisticRegression(k=3)._repr_html_()


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_default_k_never_warns(estimator, recwarn):
    X, y = data_for(estimator)
    for columns in (1, 3, 12):
        assert estimator().fit(X[:, :columns], y).support_.size <= columns
    assert not [warning for warning in recwarn if issubclass(warning.category, ksparse.KSparseWarning)]


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_k_may_be_a_share(estimator):
    X, y = data_for(estimator)
    assert estimator(k=0.25).fit(X, y).support_.size == 3
    assert estimator(k=1.0).fit(X, y).support_.size == 12
    assert estimator(k=0.01).fit(X, y).support_.size == 1
    for wrong, error in ((-1, ValueError), (1.5, ValueError), (0.0, ValueError), ("many", TypeError)):
        with pytest.raises(error, match="k"):
            estimator(k=wrong).fit(X, y)
