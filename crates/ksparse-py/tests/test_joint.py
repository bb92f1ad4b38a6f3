"""Survival times, several classes and several responses."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import KFold

import ksparse


def survival(n=150, p=12, seed=0):
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, p))
    life = random.exponential(np.exp(-1.5 * X[:, 2] + X[:, 7]))
    end = random.uniform(0.1, 3, size=n)
    time = np.round(np.minimum(life, end) + 0.01, 2)
    return X, np.rec.fromarrays([life <= end, time], names="event,time")


def classes(n=150, p=12, seed=0):
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, p))
    score = 2 * X[:, 2] - 2 * X[:, 7] + 0.3 * random.normal(size=n)
    return X, np.array(["low", "middle", "high"])[np.digitize(score, [-1, 1])]


def ordered(n=150, p=12, seed=0):
    X, y = classes(n, p, seed)
    return X, np.array([{"low": 1, "middle": 2, "high": 3}[label] for label in y])


def responses(n=120, p=12, seed=0):
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, p))
    return X, X[:, [2, 7]] @ random.normal(size=(2, 3)) + 50 + 0.1 * random.normal(size=(n, 3))


KINDS = [
    (ksparse.SparseCoxRegression, ksparse.SparseCoxRegressionCV, survival),
    (ksparse.SparseMultinomialRegression, ksparse.SparseMultinomialRegressionCV, classes),
    (ksparse.SparseOrdinalRegression, ksparse.SparseOrdinalRegressionCV, ordered),
    (ksparse.SparseMultiTaskRegression, ksparse.SparseMultiTaskRegressionCV, responses),
]


@pytest.mark.parametrize(("estimator", "chooser", "make"), KINDS)
def test_finds_the_columns_and_chooses_them(estimator, chooser, make):
    X, y = make()
    model = estimator(k=2, alpha=1e-3).fit(X, y)
    np.testing.assert_array_equal(model.support_, [2, 7])
    assert model.score(X, y) > 0.75
    sparse = estimator(k=2, alpha=1e-3).fit(sp.csr_array(X), y)
    np.testing.assert_allclose(sparse.coef_, model.coef_, atol=1e-8)
    again = clone(model).fit(X, y)
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    chosen = chooser(ks=range(5), alphas=[1e-3, 1e-2], cv=4, rule="1se").fit(X, y)
    assert set(chosen.support_) >= {2, 7} and chosen.k_ <= 3
    # Five of each ridge, the model without columns once.
    assert len(chosen.cv_results_["params"]) == 9
    whole = chooser(cv=4, resamples=5).fit(X, y)
    assert set(whole.support_) >= {2, 7} and whole.frequencies_[[2, 7]].min() > 0.5
    paths = whole.path_ if isinstance(whole.path_, list) else [whole.path_]
    assert len(paths) == whole.coef_.reshape(-1, X.shape[1]).shape[0] and whole.k_ in paths[0].ks
    assert whole.select_alpha_ > 0 and {"param_alpha", "param_select_alpha"} <= set(whole.cv_results_)
    together = chooser(cv=4, ensemble=True, resamples=5).fit(X, y)
    assert together.support_.size >= whole.support_.size and together.score(X, y) > 0.6
    own = chooser(ks=[1, 2], cv=KFold(3, shuffle=True, random_state=1)).fit(X, y)
    assert own.cv_results_["split2_test_score"].shape == own.cv_results_["mean_test_score"].shape
    with pytest.raises(ValueError, match="scoring must be one of"):
        chooser(scoring="loudness").fit(X, y)
    kept = estimator(k=1, keep=[0]).fit(X, y)
    assert 0 in kept.support_ and kept.support_.size == 2


@pytest.mark.parametrize(("estimator", "chooser", "make"), KINDS)
def test_threads_change_nothing_and_callbacks_are_called(estimator, chooser, make):
    X, y = make()
    seen = []
    one = estimator(k=3, n_jobs=1).fit(X, y, callback=seen.append)
    two = estimator(k=3, n_jobs=2).fit(X, y)
    np.testing.assert_array_equal(one.coef_, two.coef_)
    assert seen


def test_survival_in_two_forms_with_strata_and_late_entries():
    X, y = survival()
    columns = np.column_stack([y.time, y.event])
    model = ksparse.SparseCoxRegression(k=2).fit(X, y)
    np.testing.assert_array_equal(ksparse.SparseCoxRegression(k=2).fit(X, columns).coef_, model.coef_)
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"died": y.event, "days": y.time})
    np.testing.assert_array_equal(ksparse.SparseCoxRegression(k=2).fit(X, frame).coef_, model.coef_)
    strata = np.where(X[:, 0] > 0, "a", "b")
    apart = ksparse.SparseCoxRegression(k=2, ties="breslow").fit(X, y, strata=strata, entry=0.3 * y.time)
    np.testing.assert_array_equal(apart.support_, [2, 7])
    curves = apart.predict_survival_function(X, strata=strata)
    assert curves.shape == (len(X), len(apart.unique_times_))
    assert (np.diff(curves, axis=1) <= 0).all() and ((0 <= curves) & (curves <= 1)).all()
    with pytest.raises(ValueError, match="give strata="):
        apart.predict_survival_function(X)
    with pytest.raises(ValueError, match="none of the strata"):
        apart.predict_survival_function(X, strata=["c"] * len(X))


def test_breslow_by_its_definition():
    X, y = survival(60, 9)
    time, event = np.array(y.time), np.array(y.event)
    model = ksparse.SparseCoxRegression(k=2, ties="breslow").fit(X, y)
    risk = np.exp(X @ model.coef_)
    steps = [event[time == t].sum() / risk[time >= t].sum() for t in model.unique_times_]
    expected = np.exp(-np.outer(risk, np.cumsum(steps)))
    np.testing.assert_allclose(model.predict_survival_function(X), expected, rtol=1e-10)
    loss = sum(np.log(risk[time >= time[i]].sum()) - np.log(risk[i]) for i in np.flatnonzero(event)) / 60
    np.testing.assert_allclose(model.objective_, loss + 0.5 * model.alpha * (model.coef_**2).sum(), rtol=1e-10)
    assert (model.predict_survival_function(X, times=[0.0]) == 1).all()


def test_at_all_columns_the_models_are_scikit_learns():
    X, y = classes(200, 9)
    alpha = 0.01
    ours = ksparse.SparseMultinomialRegression(k=9, alpha=alpha).fit(X, y)
    theirs = LogisticRegression(C=1 / (alpha * 200), tol=1e-12, max_iter=10000, solver="newton-cg").fit(X, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-6)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-6)
    np.testing.assert_allclose(np.exp(ours.predict_log_proba(X)), ours.predict_proba(X), atol=1e-12)
    X, y = responses(100, 9)
    ours = ksparse.SparseMultiTaskRegression(k=9, alpha=alpha).fit(X, y)
    theirs = Ridge(alpha=alpha * 100).fit(X, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-8)
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), atol=1e-8)


def test_ordered_classes_have_the_probabilities_of_their_definition():
    X, y = ordered()
    model = ksparse.SparseOrdinalRegression(k=2, alpha=1e-3).fit(X, y)
    upto = 1 / (1 + np.exp(model.linear_predictor(X)[:, None] - model.thresholds_))
    expected = np.diff(np.hstack([np.zeros((len(X), 1)), upto, np.ones((len(X), 1))]), axis=1)
    np.testing.assert_allclose(model.predict_proba(X), expected, atol=1e-12)
    loss = -np.log(expected[np.arange(len(X)), y - 1]).mean()
    np.testing.assert_allclose(model.objective_, loss + 0.5e-3 * (model.coef_**2).sum(), rtol=1e-9)
    words = np.array(["low", "middle", "high"])[y - 1]
    named = ksparse.SparseOrdinalRegression(k=2, alpha=1e-3, levels=["low", "middle", "high"]).fit(X, words)
    np.testing.assert_array_equal(named.coef_, model.coef_)
    assert (named.predict(X) == words).mean() > 0.9
    for levels, complaint in [
        (["low", "high"], "leave out 'middle'"),
        (["low", "middle", "high", "top"], "name 'top'"),
        (["low", "low", "middle", "high"], "twice"),
    ]:
        refuse(ksparse.SparseOrdinalRegression(levels=levels), X, words, complaint)


def test_class_weights_are_sample_weights():
    X, y = classes()
    weights = {"low": 1.0, "middle": 3.0, "high": 2.0}
    by_class = ksparse.SparseMultinomialRegression(k=2, class_weight=weights).fit(X, y)
    by_row = ksparse.SparseMultinomialRegression(k=2).fit(X, y, sample_weight=[weights[label] for label in y])
    np.testing.assert_array_equal(by_class.coef_, by_row.coef_)


def refuse(estimator, X, y, words, **more):
    with pytest.raises(ValueError, match=words):
        estimator.fit(X, y, **more)


def test_what_cannot_be_is_refused_with_a_remedy():
    X, y = survival(30, 9)
    cox = ksparse.SparseCoxRegression(k=1)
    columns = np.column_stack([y.time, y.event]).astype(float)
    refuse(cox, X, np.column_stack([y.time, np.full(30, 2)]), "must be 0 .censored. or 1")
    refuse(cox, X, np.column_stack([y.time, np.zeros(30)]), "all 30 rows are censored")
    refuse(cox, X, np.column_stack([y.time - 10, y.event]), "positive times")
    refuse(cox, X, y.time, "two columns, time and event")
    refuse(cox, X, columns[:10], "X has 30 rows and y 10")
    refuse(cox, X, y, "enters at", entry=y.time)
    refuse(ksparse.SparseCoxRegression(ties="neither"), X, y, "efron, breslow")
    three = np.rec.fromarrays([y.event, y.time, y.time], names="a,b,c")
    refuse(cox, X, three, "two fields")
    missing = columns.copy()
    missing[3, 0] = np.nan
    refuse(cox, X, missing, "NaN")
    refuse(ksparse.SparseMultinomialRegression(), X, np.zeros(30), "one class")
    one = ksparse.SparseMultiTaskRegression(k=2).fit(X, y.time)
    np.testing.assert_allclose(one.predict(X), ksparse.SparseLinearRegression(k=2).fit(X, y.time).predict(X))
    labels = np.array(["a", "b"] * 14 + ["c", "a"])
    with pytest.warns(UserWarning):
        refuse(ksparse.SparseMultinomialRegressionCV(ks=[1], cv=3), X, labels, "class 2 of 3 has no row")
