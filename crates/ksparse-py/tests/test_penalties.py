"""A ridge of its own for every column: the column in other units."""

import numpy as np
import pytest
import scipy.sparse as sp

import ksparse

FACTORS = np.array([1.0, 4.0, 0.25, 1.0, 9.0, 1.0, 0.01, 1.0])


def data(kind="number", n=90, seed=0):
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, 8))
    z = 2.0 * X[:, 1] - X[:, 2] + 1.5 * X[:, 4] + 0.5 * random.normal(size=n)
    if kind == "class":
        return X, np.where(z > 0, "yes", "no")
    if kind == "classes":
        return X, np.digitize(z, [-1.0, 1.0])
    if kind == "count":
        return X, np.round(np.exp(0.3 * z))
    if kind == "responses":
        return X, np.column_stack([z, X[:, 2] - z])
    if kind == "survival":
        return X, np.rec.fromarrays([z > -2.0, np.exp(-0.3 * z)], names="event,time")
    return X, z


ESTIMATORS = [
    (ksparse.SparseLinearRegression, "number"),
    (ksparse.SparseRobustRegression, "number"),
    (ksparse.SparseLogisticRegression, "class"),
    (ksparse.SparseLogisticRegression, "classes"),
    (ksparse.SparseSVC, "class"),
    (ksparse.SparsePoissonRegression, "count"),
    (ksparse.SparseMultinomialRegression, "classes"),
    (ksparse.SparseOrdinalRegression, "classes"),
    (ksparse.SparseMultiTaskRegression, "responses"),
    (ksparse.SparseCoxRegression, "survival"),
]


@pytest.mark.parametrize("estimator, kind", ESTIMATORS)
def test_a_factor_is_a_unit(estimator, kind):
    X, y = data(kind)
    with_factors = estimator(k=3, alpha=0.1, penalty_factors=FACTORS).fit(X, y)
    in_units = estimator(k=3, alpha=0.1).fit(X / np.sqrt(FACTORS), y)
    np.testing.assert_array_equal(with_factors.support_, in_units.support_)
    np.testing.assert_allclose(with_factors.objective_, in_units.objective_, rtol=1e-7)
    np.testing.assert_allclose(with_factors.coef_ * np.sqrt(FACTORS), in_units.coef_, atol=1e-4)
    plain = estimator(k=3, alpha=0.1).fit(X, y)
    assert np.any(np.abs(with_factors.coef_ - plain.coef_) > 1e-3)


def test_names_sparse_data_choices_and_bounds_go_with_them():
    pandas = pytest.importorskip("pandas")
    X, y = data()
    frame = pandas.DataFrame(X, columns=list("abcdefgh"))
    named = ksparse.SparseLinearRegression(k=3, alpha=0.1, penalty_factors={"b": 4.0, "e": 9.0}).fit(frame, y)
    numbered = ksparse.SparseLinearRegression(k=3, alpha=0.1, penalty_factors={1: 4.0, 4: 9.0}).fit(X, y)
    np.testing.assert_array_equal(named.coef_, numbered.coef_)
    thin = ksparse.SparseLinearRegression(k=3, alpha=0.1, penalty_factors={1: 4.0, 4: 9.0}).fit(sp.csc_matrix(X), y)
    np.testing.assert_allclose(thin.coef_, named.coef_, atol=1e-8)
    chosen = ksparse.SparseLinearRegressionCV(alphas=[0.1], ks=[1, 2, 3], cv=3, penalty_factors=FACTORS).fit(X, y)
    in_units = ksparse.SparseLinearRegressionCV(alphas=[0.1], ks=[1, 2, 3], cv=3).fit(X / np.sqrt(FACTORS), y)
    assert chosen.k_ == in_units.k_ and abs(chosen.best_score_ - in_units.best_score_) < 1e-7
    certified = ksparse.SparseLinearRegression(k=3, alpha=0.5, certify=True, penalty_factors=FACTORS).fit(X, y)
    exact = ksparse.SparseLinearRegression(k=3, alpha=0.5, solver="exact", penalty_factors=FACTORS).fit(X, y)
    assert certified.lower_bound_ <= exact.objective_ + 1e-12 <= certified.objective_ + 2e-12
    boxed = ksparse.SparseLinearRegression(k=3, alpha=0.1, bounds=(-0.3, 0.5), penalty_factors=FACTORS).fit(X, y)
    assert boxed.coef_.min() >= -0.3 - 1e-12 and boxed.coef_.max() <= 0.5 + 1e-12 and len(boxed.at_bounds_)
    moments = ksparse.SparseLinearRegression(k=3, alpha=0.1, penalty_factors=FACTORS, fit_intercept=False)
    by_rows = moments.fit(X, y).coef_
    np.testing.assert_allclose(moments.fit_moments(X.T @ X, X.T @ y, y @ y, len(y)).coef_, by_rows, atol=1e-7)


def test_factors_that_cannot_be_are_refused():
    X, y = data()
    for factors, words in [
        ([1.0, 2.0], "one number per column"),
        ([0.0] * 8, "1e-6"),
        ({3: -1.0}, "column 3"),
        ({"age": 2.0}, "penalty_factors names 'age'"),
        ({9: 2.0}, "penalty_factors names column 9"),
        ([np.nan] * 8, "positive"),
    ]:
        with pytest.raises(ValueError, match=words):
            ksparse.SparseLinearRegression(k=2, penalty_factors=factors).fit(X, y)
    with pytest.raises(TypeError, match="penalty_factors"):
        ksparse.SparseLinearRegression(k=2, penalty_factor=[1.0] * 8)
