"""Estimators beyond one fit: choice of k, classes, weights, bounds, networks."""

import types

import numpy as np
import pytest
from conftest import CV_ESTIMATORS, data_for
from sklearn.linear_model import GammaRegressor, PoissonRegressor
from sklearn.metrics import log_loss
from sklearn.model_selection import GridSearchCV, KFold, ShuffleSplit

import ksparse
from ksparse import _base, _certify, _core, _path, _precision, _search, _validation


def test_cross_validation_finds_the_planted_columns(regression):
    X, y, coef = regression
    model = ksparse.SparseLinearRegressionCV(ks=range(0, 12), rule="1se").fit(X, y)
    assert model.k_ == 4 and model.support_.tolist() == coef.nonzero()[0].tolist()
    assert model.path_.ks.tolist() == list(range(12))
    assert (np.diff(model.path_.objectives) <= 1e-15).all()
    assert model.score(X, y) > 0.95


@pytest.mark.parametrize("scoring", [None, "neg_log_loss", "accuracy"])
def test_cross_validation_agrees_with_grid_search(classification, scoring):
    X, y, _ = classification
    folds = KFold(4, shuffle=True, random_state=1)
    ours = ksparse.SparseLogisticRegressionCV(
        ks=[2, 4, 8], alphas=[1e-3, 1e-1], cv=folds, scoring=scoring, rule="best"
    ).fit(X, y)
    search = GridSearchCV(
        ksparse.SparseLogisticRegression(),
        {"alpha": [1e-1, 1e-3], "k": [2, 4, 8]},
        cv=folds,
        scoring=scoring or "neg_log_loss",
    ).fit(X, y)
    theirs = search.cv_results_["mean_test_score"] * (2.0 if scoring is None else 1.0)
    np.testing.assert_allclose(ours.cv_results_["mean_test_score"], theirs, rtol=0.02)
    best = np.argmax(ours.cv_results_["mean_test_score"])
    assert ours.cv_results_["rank_test_score"][best] == 1
    assert ours.cv_results_["params"][best] == {"k": ours.k_, "alpha": ours.alpha_, "select_alpha": ours.select_alpha_}
    assert set(search.cv_results_) - set(ours.cv_results_) <= {
        "mean_fit_time", "std_fit_time", "mean_score_time", "std_score_time"
    }


@pytest.mark.parametrize("estimator", CV_ESTIMATORS)
def test_any_splitter(estimator):
    X, y = data_for(estimator)
    for cv in (3, ShuffleSplit(2, random_state=0), [(np.arange(60), np.arange(60, 80))]):
        model = estimator(ks=[1, 2, 3], cv=cv).fit(X, y)
        assert model.k_ in (1, 2, 3) and model.support_.size == model.k_
    with pytest.raises(ValueError):
        estimator(rule="worst").fit(X, y)
    with pytest.raises(ValueError):
        estimator(cv=1).fit(X, y)


def test_more_classes_than_two():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 20))
    y = np.array(["a", "b", "c"])[np.argmax(X[:, [3, 7, 11]] + 0.1 * rng.normal(size=(300, 3)), axis=1)]
    model = ksparse.SparseLogisticRegression(k=3).fit(X, y)
    assert model.coef_.shape == (3, 20) and model.support_.tolist() == [3, 7, 11]
    assert (np.count_nonzero(model.coef_, axis=1) <= 3).all()
    assert model.score(X, y) > 0.9
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1)
    assert log_loss(y, model.predict_proba(X)) < 0.5
    assert len(model.objective_) == len(model.status_) == 3
    chosen = ksparse.SparseLogisticRegressionCV(ks=[1, 2, 3]).fit(X, y)
    assert len(chosen.path_) == 3 and chosen.score(X, y) > 0.9


def test_the_matrix_is_turned_once(monkeypatch):
    rng = np.random.default_rng(0)
    X = np.ascontiguousarray(rng.normal(size=(90, 6)))
    y = rng.integers(0, 3, 90)
    made = []

    def design(*arguments):
        made.append(_core.Design(*arguments))
        return made[-1]

    counting = types.SimpleNamespace(**{**vars(_core), "Design": design})
    for module in (_base, _certify, _path, _precision, _search, _validation):
        monkeypatch.setattr(module, "_core", counting)
    model = ksparse.SparseLogisticRegression(k=2, alpha=0.1).fit(X, y)
    for work in (
        lambda: ksparse.SparseLogisticRegression(k=2).fit(X, y),
        lambda: ksparse.SparseLogisticRegressionCV(ks=[1, 2], cv=3).fit(X, y),
        lambda: ksparse.path(ksparse.SparseLogisticRegression(), X, y, ks=[1, 2]),
        lambda: ksparse.certify(model, X, y),
        lambda: ksparse.SparsePrecisionCV(ks=[1, 2], cv=3).fit(X),
    ):
        made.clear()
        work()
        assert len(made) == 1


def test_a_cell_without_a_finite_score_never_wins(regression):
    X, y, _ = regression

    def scorer(model, X, y):
        return np.inf if model.support_.size == 3 else np.nan if model.support_.size == 2 else model.score(X, y)

    assert ksparse.SparseLinearRegressionCV(ks=[1, 2, 3, 4], scoring=scorer).fit(X, y).k_ == 4
    with pytest.raises(ValueError, match="finite score"):
        ksparse.SparseLinearRegressionCV(ks=[2, 3], scoring=scorer).fit(X, y)


def test_weights_are_repetitions(classification):
    X, y, _ = classification
    times = np.random.default_rng(0).integers(0, 4, len(y))
    weighted = ksparse.SparseLogisticRegression(k=4, alpha=1e-2).fit(X, y, times)
    repeated = ksparse.SparseLogisticRegression(k=4, alpha=1e-2).fit(np.repeat(X, times, axis=0), np.repeat(y, times))
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, rtol=1e-6, atol=1e-9)
    balanced = ksparse.SparseLogisticRegression(k=4, class_weight="balanced").fit(X, y)
    counts = {label: (y == label).sum() for label in (-1, 1)}
    by_hand = ksparse.SparseLogisticRegression(k=4).fit(X, y, [len(y) / (2 * counts[label]) for label in y])
    np.testing.assert_allclose(balanced.coef_, by_hand.coef_, rtol=1e-7)


def test_standardised_columns_come_back_in_their_own_units(regression):
    X, y, _ = regression
    scale = np.geomspace(1e-3, 1e3, X.shape[1])
    plain = ksparse.SparseLinearRegression(k=4, standardize=True).fit(X, y)
    other = ksparse.SparseLinearRegression(k=4, standardize=True).fit(X * scale + 5 * scale, y)
    assert plain.support_.tolist() == other.support_.tolist()
    np.testing.assert_allclose(other.coef_ * scale, plain.coef_, rtol=1e-6)
    np.testing.assert_allclose(other.predict(X * scale + 5 * scale), plain.predict(X), rtol=1e-6)


@pytest.mark.parametrize("solver", ["auto", "grahtp", "grasp", "fbs"])
def test_the_support_has_coefficients_only(regression, solver):
    X, y, _ = regression
    twice = np.hstack([X, X])  # of two columns that are the same one is enough
    for k in (4, 60):
        model = ksparse.SparseLinearRegression(k=k, alpha=1e-3, solver=solver).fit(twice, y)
        assert model.coef_[model.support_].all() and np.array_equal(np.flatnonzero(model.coef_), model.support_)
    # Without a ridge some of them have the coefficient 0.
    few = np.hstack([X[:, :4], X[:, :4], X[:, :2]])
    for k in (5, 7, 10):
        model = ksparse.SparseLinearRegression(k=k, alpha=0.0, solver=solver).fit(few, y)
        assert model.coef_[model.support_].all() and np.array_equal(np.flatnonzero(model.coef_), model.support_)


def test_keep_is_free_of_charge(regression):
    X, y, coef = regression
    useless = np.flatnonzero(coef == 0)[:2]
    model = ksparse.SparseLinearRegression(k=4, keep=useless).fit(X, y)
    assert set(model.support_) == set(useless) | set(coef.nonzero()[0])


@pytest.mark.parametrize("loss", ["squared_hinge", "hinge"])
def test_support_vector_machines(classification, loss):
    X, y, _ = classification
    model = ksparse.SparseSVC(k=4, loss=loss, alpha=1e-2).fit(X, y)
    assert model.support_.size <= 4 and model.score(X, y) > 0.7
    margin = y * model.decision_function(X)
    short = np.maximum(0, 1 - margin)
    mean = (short**2 / 2 if loss == "squared_hinge" else short).mean()
    np.testing.assert_allclose(model.objective_, mean + 0.5e-2 * (model.coef_**2).sum(), rtol=1e-9)
    with pytest.raises(ValueError, match="loss"):
        ksparse.SparseSVC(loss="cubed").fit(X, y)


def test_bounds_hold(classification):
    X, y, _ = classification
    model = ksparse.SparseLogisticRegression(k=4, alpha=0.05).fit(X, y)
    assert model.lower_bound_ == 0 and model.dual_gap_ == model.objective_
    certificate = ksparse.certify(model, X, y)
    assert 0 < certificate.lower_bound <= certificate.objective
    assert certificate.objective == pytest.approx(model.objective_, rel=1e-9)
    searched = ksparse.SparseLogisticRegression(k=4, alpha=0.05, certify=True).fit(X, y)
    assert searched.lower_bound_ == pytest.approx(certificate.lower_bound, rel=1e-6)
    assert searched.dual_gap_ == pytest.approx(searched.objective_ - searched.lower_bound_)
    dual = ksparse.SparseLogisticRegression(k=4, alpha=0.05, solver="diht").fit(X, y)
    assert 0 < dual.lower_bound_ <= model.objective_
    # No other model goes below the bound.
    for solver in ("fbs", "grahtp", "foba"):
        other = ksparse.SparseLogisticRegression(k=4, alpha=0.05, solver=solver).fit(X, y)
        assert other.objective_ >= certificate.lower_bound
    with pytest.raises(ValueError, match="alpha"):
        ksparse.certify(ksparse.SparseLinearRegression(k=2).fit(X, y), X, y)


def test_networks():
    X, truth = ksparse.datasets.make_network(3000, 12, random_state=2)
    edges = np.argwhere(np.triu(truth, 1))
    model = ksparse.SparsePrecision(k=len(edges)).fit(X)
    assert model.edges_.tolist() == edges.tolist()
    np.testing.assert_allclose(model.precision_ @ model.covariance_, np.eye(12), atol=1e-8)
    assert np.count_nonzero(np.triu(model.precision_, 1)) == len(edges)
    # Maximum likelihood: the covariance of every edge and every variance is that of the samples.
    S = np.cov(X.T, bias=True)
    on = np.eye(12, dtype=bool) | (model.precision_ != 0)
    np.testing.assert_allclose(model.covariance_[on], S[on], rtol=1e-4)
    scaled = ksparse.SparsePrecision(k=len(edges), standardize=True).fit(X * np.geomspace(0.01, 100, 12))
    assert scaled.edges_.tolist() == edges.tolist()
    chosen = ksparse.SparsePrecisionCV(ks=range(0, 2 * len(edges))).fit(X)
    assert len(chosen.edges_) == chosen.k_ >= len(edges)
    assert chosen.score(X) >= ksparse.SparsePrecision(k=0).fit(X).score(X)
    with pytest.warns(ksparse.KSparseWarning):
        assert len(ksparse.SparsePrecision(k=1000).fit(X).edges_) == 66
    for wrong in (X[:1], np.full((5, 3), np.nan), np.ones((5, 3))):
        with pytest.raises(ValueError):
            ksparse.SparsePrecision().fit(wrong)


@pytest.mark.parametrize("solver", ["auto", "exact", "fbs", "grahtp", "foba", "diht"])
def test_groups_are_in_or_out_as_a_whole(solver):
    X, y, _ = ksparse.datasets.make_regression(100, 12, 4, noise=0.5, random_state=2)
    labels = ["a"] * 3 + ["b"] * 4 + ["c"] * 2 + ["d", "e", "f"]
    model = ksparse.SparseLinearRegression(k=2, alpha=0.01, groups=labels, solver=solver).fit(X, y)
    for label in set(labels):
        columns = [j for j, other in enumerate(labels) if other == label]
        assert len(set(columns) & set(model.support_)) in (0, len(columns))
    lists = ksparse.SparseLinearRegression(k=2, alpha=0.01, groups=[[8, 7], range(3), [6, 3, 4, 5]], solver=solver)
    assert (lists.fit(X, y).coef_ == model.coef_).all()
    if solver == "exact":
        others = ksparse.SparseLinearRegression(k=2, alpha=0.01, groups=labels).fit(X, y)
        assert model.status_ == "optimal" and model.objective_ <= others.objective_ * (1 + 1e-9)
        assert model.dual_gap_ <= 2e-6 * model.objective_


def test_groups_of_one_are_no_groups():
    X, y, _ = ksparse.datasets.make_regression(60, 12, 4, noise=0.5, random_state=2)
    plain = ksparse.SparseLinearRegression(k=3).fit(X, y)
    assert (ksparse.SparseLinearRegression(k=3, groups=range(12)).fit(X, y).coef_ == plain.coef_).all()
    for wrong, match in [([[0, 1], [1, 2]], "overlap"), (["a"] * 5, "5 labels"), ([[0, 99]], "99"), ([[]], "nothing")]:
        with pytest.raises(ValueError, match=match):
            ksparse.SparseLinearRegression(k=3, groups=wrong).fit(X, y)
    same = ksparse.SparseLinearRegressionCV(groups=range(12)).fit(X, y)
    assert (same.coef_ == ksparse.SparseLinearRegressionCV().fit(X, y).coef_).all()


def counts(n=200):
    rng = np.random.default_rng(4)
    X = rng.normal(size=(n, 6))
    exposure = rng.uniform(0.5, 3.0, size=n)
    return X, rng.poisson(exposure * np.exp(0.3 + X[:, 1] - 0.5 * X[:, 4])), np.log(exposure)


def test_families_at_k_equal_to_p_are_those_of_scikit_learn():
    X, y, _ = counts()
    for ours, theirs, target in [
        (ksparse.SparsePoissonRegression, PoissonRegressor, y),
        (ksparse.SparseGammaRegression, GammaRegressor, y + 0.5),
    ]:
        model = ours(k=6, alpha=0.1).fit(X, target)
        reference = theirs(alpha=0.1, tol=1e-12, max_iter=10_000).fit(X, target)
        assert np.allclose(model.coef_, reference.coef_, atol=1e-6)
        assert np.isclose(model.intercept_, reference.intercept_, atol=1e-6)
        assert np.allclose(model.predict(X), reference.predict(X), atol=1e-5)


def test_offsets_are_exposures():
    X, y, offset = counts()
    model = ksparse.SparsePoissonRegression(k=2, alpha=0.01).fit(X, y, offset=offset)
    assert list(model.support_) == [1, 4]
    # A rate per exposure, weighted by it, is the same model: f differs by a constant factor of the mean.
    rate = PoissonRegressor(alpha=0.01 / np.exp(offset).mean(), tol=1e-12, max_iter=10_000)
    rate.fit(X[:, [1, 4]], y / np.exp(offset), sample_weight=np.exp(offset))
    assert np.allclose(model.coef_[[1, 4]], rate.coef_, atol=1e-6)
    assert np.allclose(model.predict(X, offset=offset), np.exp(offset) * model.predict(X))
    chosen = ksparse.SparsePoissonRegressionCV(ks=[1, 2, 3], alphas=[0.01]).fit(X, y, offset=offset)
    assert {1, 4} <= set(chosen.support_)
    with pytest.raises(ValueError, match="offset"):
        ksparse.SparseLogisticRegression().fit(X, y > 1, offset=offset)
    with pytest.raises(ValueError, match="not negative"):
        ksparse.SparsePoissonRegression().fit(X, y - 5.0)


def test_wild_targets_do_not_decide():
    X, y, coef = ksparse.datasets.make_regression(200, 30, 3, noise=0.3, random_state=7)
    wild = y.copy()
    wild[::17] += 1000.0
    model = ksparse.SparseRobustRegression(k=3).fit(X, wild)
    assert set(model.support_) == set(np.flatnonzero(coef))
    assert np.abs(model.coef_ - coef).max() < 0.3
    assert ksparse.SparseRobustRegression(k=3, width=0.5).fit(X, wild).score(X, y) > 0.9
