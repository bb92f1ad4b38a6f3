"""Least squares from moments."""

import numpy as np
import pytest

import ksparse


def moments(X, y):
    return X.T @ X, X.T @ y, y @ y, len(y)


@pytest.mark.parametrize(("n", "p"), [(80, 12), (8, 12)])
def test_the_fit_is_that_of_the_rows(n, p):
    random = np.random.default_rng(0)
    X = random.normal(size=(n, p)) + 3
    y = 2 + X[:, 1] - 2 * X[:, 5] + 0.1 * random.normal(size=n)
    for k in (1, 2, 3):
        plain = ksparse.SparseLinearRegression(k=k, alpha=0.01, fit_intercept=False).fit(X, y)
        model = ksparse.SparseLinearRegression(k=k, alpha=0.01).fit_moments(*moments(X, y))
        np.testing.assert_allclose(model.coef_, plain.coef_, atol=1e-6)
        np.testing.assert_allclose(model.objective_, plain.objective_, rtol=1e-8)
        rows = ksparse.SparseLinearRegression(k=k, alpha=0.01).fit(X, y)
        means = {"means": X.mean(axis=0), "target_mean": y.mean()}
        model = ksparse.SparseLinearRegression(k=k, alpha=0.01).fit_moments(*moments(X, y), **means)
        np.testing.assert_allclose(model.coef_, rows.coef_, atol=1e-6)
        np.testing.assert_allclose(model.predict(X), rows.predict(X), atol=1e-6)
        np.testing.assert_array_equal(model.support_, rows.support_)


def test_names_bounds_and_proofs_work_as_with_rows():
    pandas = pytest.importorskip("pandas")
    random = np.random.default_rng(1)
    X = pandas.DataFrame(random.normal(size=(60, 5)), columns=list("abcde"))
    y = X["b"] - 2 * X["d"] + 0.1 * random.normal(size=60)
    model = ksparse.SparseLinearRegression(k=1, alpha=0.1, nonnegative=True).fit_moments(*moments(X, y))
    assert list(model.feature_names_in_[model.support_]) == ["b"]
    exact = ksparse.SparseLinearRegression(k=2, alpha=0.1, solver="exact").fit_moments(*moments(X, y))
    np.testing.assert_array_equal(exact.support_, [1, 3])


def test_what_no_rows_have_is_refused():
    model = ksparse.SparseLinearRegression(k=1)
    for gram, cross, square, n, words in [
        ([[1.0, 2.0]], [0.0, 0.0], 1.0, 5, "square matrix"),
        ([[1.0, 2.0], [2.0, 1.0]], [0.0, 0.0], 1.0, 5, "no rows have these moments"),
        ([[1.0, 0.1], [0.3, 1.0]], [0.0, 0.0], 1.0, 5, "not symmetric"),
        ([[1.0]], [0.0], 1.0, 0, "at least 1"),
        ([[1.0]], [np.nan], 1.0, 3, "not finite"),
    ]:
        with pytest.raises(ValueError, match=words):
            model.fit_moments(gram, cross, square, n)
    with pytest.raises(ValueError, match="standardize needs rows"):
        ksparse.SparseLinearRegression(k=1, standardize=True).fit_moments([[1.0]], [0.0], 1.0, 3)
