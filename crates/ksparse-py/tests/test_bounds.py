"""Signs and boxes of coefficients."""

import numpy as np
import pytest
from scipy.optimize import lsq_linear, nnls

import ksparse


def data(n=80, p=6, seed=0):
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, p))
    return X, X @ [2.0, -3.0, 0.5, 0.0, 1.0, -0.2] + 0.1 * random.normal(size=n)


def test_at_all_columns_it_is_scipys():
    X, y = data()
    ours = ksparse.SparseLinearRegression(k=6, nonnegative=True, fit_intercept=False).fit(X, y)
    np.testing.assert_allclose(ours.coef_, nnls(X, y)[0], atol=1e-8)
    lower, upper = np.full(6, -1.0), np.array([1.0, 1.0, 0.3, 1.0, 2.0, 0.0])
    ours = ksparse.SparseLinearRegression(k=6, bounds=(lower, upper), fit_intercept=False).fit(X, y)
    np.testing.assert_allclose(ours.coef_, lsq_linear(X, y, (lower, upper), tol=1e-14).x, atol=1e-6)
    assert {0, 1, 2} <= set(ours.at_bounds_)


@pytest.mark.parametrize(
    "estimator", [ksparse.SparseLinearRegression, ksparse.SparseLogisticRegression, ksparse.SparsePoissonRegression]
)
def test_coefficients_stay_within_bounds(estimator):
    X, y = data()
    if estimator is ksparse.SparseLogisticRegression:
        y = np.where(y > 0, "yes", "no")
    elif estimator is ksparse.SparsePoissonRegression:
        y = np.round(np.exp(0.3 * y))
    for standardize in (False, True):
        model = estimator(k=3, alpha=0.01, bounds={1: (0, None), 0: (None, 0.2)}, standardize=standardize).fit(X, y)
        coef = np.ravel(model.coef_)
        assert coef[1] >= 0 and coef[0] <= 0.2 + 1e-12
    signs = estimator(k=3, alpha=0.01, nonnegative=True).fit(X, y)
    assert (signs.coef_ >= 0).all() and np.count_nonzero(signs.coef_) <= 3


def test_bounds_that_cannot_be_are_refused():
    X, y = data()
    for bounds, words in [
        ((1, 2), "leave out 0"),
        ((2, 1), "above its upper bound"),
        ({0: (2, 1)}, "above its upper bound"),
        (3, "must be a pair"),
        ((np.nan, 1), "not a number"),
    ]:
        with pytest.raises(ValueError, match=words):
            ksparse.SparseLinearRegression(k=2, bounds=bounds).fit(X, y)
    with pytest.raises(ValueError, match="solver='auto'"):
        ksparse.SparseLinearRegression(k=2, nonnegative=True, solver="iht").fit(X, y)
    assert not hasattr(ksparse.SparseLinearRegression(k=2).fit(X, y), "at_bounds_")


@pytest.mark.parametrize(
    "estimator",
    [ksparse.SparseMultinomialRegression, ksparse.SparseOrdinalRegression, ksparse.SparseMultiTaskRegression],
)
def test_several_outputs_stay_within_bounds_and_come_in_groups(estimator):
    X, y = data()
    several = estimator is ksparse.SparseMultiTaskRegression
    target = np.column_stack([y, -y]) if several else np.digitize(y, [-2.0, 2.0])
    free = estimator(k=3, alpha=0.01).fit(X, target)
    for standardize in (False, True):
        model = estimator(k=3, alpha=0.01, bounds=(-0.2, 0.3), standardize=standardize).fit(X, target)
        assert model.coef_.min() >= -0.2 - 1e-12 and model.coef_.max() <= 0.3 + 1e-12
        assert model.objective_ >= free.objective_ or standardize
        assert set(model.at_bounds_) <= set(model.support_) and len(model.at_bounds_)
    grouped = estimator(k=1, alpha=0.01, groups=[[0, 1], [2, 3], [4, 5]]).fit(X, target)
    assert list(grouped.support_) == [0, 1]
    with pytest.raises(ValueError, match="solver='auto'"):
        estimator(k=2, nonnegative=True, solver="iht").fit(X, target)
    assert not hasattr(free, "at_bounds_")


@pytest.mark.parametrize("estimator", [ksparse.SparseLinearRegressionCV, ksparse.SparseLogisticRegressionCV])
def test_a_choice_stays_within_bounds(estimator):
    X, y = data()
    if estimator is ksparse.SparseLogisticRegressionCV:
        y = np.where(y > 0, "yes", "no")
    chosen = estimator(nonnegative=True, bounds={0: (None, 0.5)}).fit(X, y)
    coef = np.ravel(chosen.coef_)
    assert chosen.k_ > 0 and (coef >= 0).all() and coef[0] <= 0.5 + 1e-9 and set(chosen.at_bounds_) <= {0}
    assert (chosen.path_.coefs.data >= 0).all()
    with pytest.raises(ValueError, match="solver='auto'"):
        estimator(nonnegative=True, solver="iht").fit(X, y)


def test_paths_and_functions_stay_within_bounds():
    X, y = data()
    path = ksparse.path(ksparse.SparseLinearRegression(nonnegative=True), X, y, ks=[1, 2, 3])
    assert (path.coefs.data >= 0).all()
    loss = lambda w: (((X @ w - y) ** 2).mean() / 2, X.T @ (X @ w - y) / len(y))  # noqa: E731
    found = ksparse.minimize(loss, k=6, dim=6, nonnegative=True)
    np.testing.assert_allclose(found.x, nnls(X, y)[0], atol=1e-5)
    boxed = ksparse.minimize(loss, k=2, dim=6, bounds=(-1, 1), hess=lambda w: X.T @ X / len(y))
    model = ksparse.SparseLinearRegression(k=2, alpha=0.0, bounds=(-1, 1), fit_intercept=False).fit(X, y)
    np.testing.assert_allclose(boxed.x, model.coef_, atol=1e-6)
    steps = ksparse.path(loss, dim=6, ks=[1, 2], bounds=(-1, 1))
    assert (np.abs(steps.coefs.data) <= 1 + 1e-12).all()


def test_groups_are_chosen_as_wholes():
    random = np.random.default_rng(1)
    X = random.normal(size=(120, 12))
    y = X[:, [3, 4, 5]] @ [1.0, -1.0, 0.5] + 0.3 * random.normal(size=120)
    chosen = ksparse.SparseLinearRegressionCV(groups=np.repeat(range(4), 3)).fit(X, y)
    assert chosen.k_ == 1 and chosen.support_.tolist() == [3, 4, 5]
    priced = ksparse.SparseLinearRegressionCV(groups=np.repeat(range(4), 3), cv="bic").fit(X, y)
    assert priced.k_ == 1 and priced.support_.tolist() == [3, 4, 5]
    classes = ksparse.SparseMultinomialRegressionCV(groups=np.repeat(range(4), 3), nonnegative=True, cv=3)
    found = classes.fit(X, np.digitize(y, [-0.5, 0.5]))
    assert (found.coef_ >= 0).all() and len(found.support_) % 3 == 0


def test_coefficients_add_up():
    X, y = data()
    for standardize in (False, True):
        model = ksparse.SparseLinearRegression(k=3, total=1.0, standardize=standardize).fit(X, y)
        assert abs(model.coef_.sum() - 1.0) < 1e-8 and np.count_nonzero(model.coef_) == 3
    # A portfolio of all: least squares under the constraint, by its equations.
    both = np.block([[X.T @ X / len(y), np.ones((6, 1))], [np.ones((1, 6)), np.zeros((1, 1))]])
    expected = np.linalg.solve(both, np.append(X.T @ y / len(y), 1.0))[:6]
    found = ksparse.SparseLinearRegression(k=6, alpha=0.0, total=1.0, fit_intercept=False).fit(X, y)
    np.testing.assert_allclose(found.coef_, expected, atol=1e-7)
    loss = lambda w: (((X @ w - y) ** 2).mean() / 2, X.T @ (X @ w - y) / len(y))  # noqa: E731
    by_function = ksparse.minimize(loss, k=6, dim=6, total=1.0)
    np.testing.assert_allclose(by_function.x, expected, atol=1e-4)
    long = ksparse.minimize(loss, k=2, dim=6, total=1.0, nonnegative=True, hess=lambda w: X.T @ X / len(y))
    model = ksparse.SparseLinearRegression(k=2, alpha=0.0, total=1.0, nonnegative=True, fit_intercept=False).fit(X, y)
    np.testing.assert_allclose(long.x, model.coef_, atol=1e-6)
    assert (long.x >= 0).all() and abs(long.x.sum() - 1) < 1e-8
    with pytest.raises(ValueError, match="add up to"):
        ksparse.SparseLinearRegression(k=2, total=1.0, bounds=(0, 0.3)).fit(X, y)
    with pytest.raises(ValueError, match="finite"):
        ksparse.SparseLinearRegression(k=2, total=np.inf).fit(X, y)


@pytest.mark.parametrize("more", [{}, {"nonnegative": True}, {"standardize": True}, {"bounds": (-0.2, 0.4)}])
def test_every_k_of_a_path_adds_up(more):
    X, y = data()
    model = ksparse.SparseLinearRegression(alpha=0.01, total=1.0, **more)
    path = ksparse.path(model, X, y, ks=[3, 4, 5])
    assert (np.diff(path.objectives) <= 0).all()
    for k, coef, objective in zip(path.ks, path.coefs.toarray().T, path.objectives):
        assert abs(coef.sum() - 1.0) < 1e-9 and np.count_nonzero(coef) <= k
        alone = ksparse.SparseLinearRegression(k=int(k), alpha=0.01, total=1.0, **more).fit(X, y)
        assert abs(alone.objective_ - objective) < 1e-7 * objective
    with pytest.raises(ValueError, match="begin with k = "):
        ksparse.path(model, X, y, ks=[0, 1])


def test_choices_add_up():
    X, y = data()
    for more in ({}, {"nonnegative": True}, {"standardize": True}, {"cv": "bic"}, {"groups": [0, 0, 1, 1, 2, 3]}):
        chosen = ksparse.SparseLinearRegressionCV(total=1.0, **more).fit(X, y)
        assert chosen.k_ > 0 and abs(chosen.coef_.sum() - 1.0) < 1e-9, more
    labels = ksparse.SparseLogisticRegressionCV(total=0.5, cv=3).fit(X, y > np.median(y))
    assert abs(labels.coef_.sum() - 0.5) < 1e-9
    with pytest.raises(ValueError, match="widen the bounds"):
        ksparse.SparseLinearRegressionCV(total=1.0, bounds=(0, 0.1)).fit(X, y)


def test_functions_of_ones_own_add_up_for_every_k():
    X, y = data()
    loss = lambda w, rows: (  # noqa: E731
        ((X[rows] @ w - y[rows]) ** 2).mean() / 2, X[rows].T @ (X[rows] @ w - y[rows]) / len(rows)
    )
    every = np.arange(len(y))
    path = ksparse.path(lambda w: loss(w, every), dim=6, ks=[1, 2, 3], total=1.0)
    for k, coef, objective in zip(path.ks, path.coefs.toarray().T, path.objectives):
        alone = ksparse.SparseLinearRegression(k=int(k), alpha=0.0, total=1.0, fit_intercept=False).fit(X, y)
        assert abs(coef.sum() - 1.0) < 1e-5 and abs(alone.objective_ - objective) < 1e-4 * objective
    chosen = ksparse.minimize_cv(loss, n_samples=len(y), dim=6, ks=[1, 2, 3], cv=3, total=1.0)
    assert abs(chosen.x.sum() - 1.0) < 1e-5
