"""What the papers have, from Python: the methods as published, starts, dual vectors, scales, networks, theorems."""

import inspect
import warnings

import numpy as np
import pytest
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

import ksparse
from ksparse import _core

OPTIONS = {}
for solver, option, _, _, value in _core.SOLVER_OPTIONS:
    OPTIONS.setdefault(solver, {})[option] = value
PUBLISHED = sorted(solver for solver, options in OPTIONS.items() if "published" in options)


def read(value):
    return {"true": True, "false": False}.get(value, value)


@pytest.mark.parametrize("solver", PUBLISHED)
def test_the_word_is_the_options_it_stands_for(solver, regression):
    X, y, _ = regression
    spelled = {option: read(value) for option, value in OPTIONS[solver].items() if value is not None}

    def fit(options):
        model = ksparse.SparseLinearRegression(
            k=4, alpha=0.5, fit_intercept=False, solver=solver, solver_options=options
        )
        return model.fit(X, y)

    published, by_hand, own = fit({"published": True}), fit(spelled), fit(None)
    np.testing.assert_array_equal(published.coef_, by_hand.coef_)
    assert published.n_iter_ == by_hand.n_iter_
    if spelled:
        pairs = [(published.trace_[key], own.trace_[key]) for key in ("objective", "step")]
        assert not all(np.array_equal(*pair, equal_nan=True) for pair in [*pairs, (published.coef_, own.coef_)])


def test_methods_of_our_own_have_no_published_form(regression):
    X, y, _ = regression
    assert {"auto", "exact", "model-search", "working-set"} == set(ksparse.SOLVERS) - set(PUBLISHED)
    with pytest.raises(ValueError, match="published"):
        ksparse.SparseLinearRegression(solver_options={"published": True}).fit(X, y)


def test_every_option_is_documented():
    text = inspect.getdoc(ksparse.SparseLinearRegression)
    for solver, options in OPTIONS.items():
        for option in options:
            assert f"``{option}``" in text, (solver, option)


def test_iterations_and_refits_are_counted_apart(regression):
    X, y, _ = regression
    model = ksparse.SparseLinearRegression(k=4, solver="grahtp", solver_options={"published": True}).fit(X, y)
    assert model.n_refits_ == model.n_iter_ + 1 == model.trace_["refits"][-1]
    own = ksparse.SparseLinearRegression(k=4, solver="grahtp").fit(X, y)
    assert own.n_refits_ > own.n_iter_ + 1


def test_the_trace_has_the_step_as_it_was_set(regression):
    X, y, _ = regression
    for solver, step in (("htp", 1e-4), ("iht", 1e-4), ("diht", 3.0)):
        model = ksparse.SparseLinearRegression(
            k=4, alpha=0.5, solver=solver, solver_options={"step": step}, max_iter=5, tol=0
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # five iterations are too few for some
            model.fit(X, y)
        np.testing.assert_allclose(model.trace_["step"], step, rtol=1e-12)


def test_a_fit_starts_where_it_is_told_to(classification):
    X, y, _ = ksparse.datasets.make_regression(60, 200, 10, correlation=0.9, random_state=2)
    best = ksparse.SparseLinearRegression(k=10).fit(X, y)
    one = ksparse.SparseLinearRegression(k=10, solver="grahtp", solver_options={"published": True}, max_iter=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # whether it moves from there or not
        near = one.fit(X, y, coef_init=best.coef_, intercept_init=best.intercept_).objective_
    assert near == pytest.approx(best.objective_, rel=1e-9)
    with pytest.warns(UserWarning, match="max_iter"):
        assert one.fit(X, y).objective_ > near
    with pytest.raises(ValueError, match="coef_init must have the shape"):
        one.fit(X, y, coef_init=np.ones(3))
    with pytest.raises(ValueError, match="goes with coef_init"):
        one.fit(X, y, intercept_init=1.0)
    X, y, coef = classification
    ksparse.SparseLogisticRegression(k=4).fit(X, y, coef_init=coef)


def test_the_dual_vector_proves_the_bound(regression):
    X, y, _ = regression
    model = ksparse.SparseLinearRegression(k=4, alpha=0.5, fit_intercept=False, solver="diht").fit(X, y)
    a = model.dual_vector_
    u = -(X.T @ a) / (0.5 * len(y))
    w = np.where(np.abs(u) >= np.sort(np.abs(u))[-4], u, 0)
    value = -np.mean(a**2 / 2 + a * y) - 0.25 * (w @ w)
    assert value == pytest.approx(model.lower_bound_, rel=1e-9)
    assert ksparse.SparseLinearRegression(k=4).fit(X, y).dual_vector_ is None


def test_the_conditions_of_strong_duality(regression):
    X, y, _ = regression
    model = ksparse.SparseLinearRegression(k=4, alpha=0.5, fit_intercept=False).fit(X, y)
    found = ksparse.certify(model, X, y).conditions
    gradient = X.T @ (X @ model.coef_ - y) / len(y) + 0.5 * model.coef_
    outside = np.delete(np.abs(gradient), model.support_).max() / 0.5
    assert found["largest_outside"] == pytest.approx(outside)
    assert found["smallest_inside"] == pytest.approx(np.abs(model.coef_[model.support_]).min())
    assert found["stationarity"] < 1e-8 and found["separated"] == (found["smallest_inside"] >= outside)


def test_losses_have_the_scales_of_the_papers(regression, classification):
    X, y, _ = regression
    usual = ksparse.SparseLinearRegression(k=4, alpha=0.1).fit(X, y)
    paper = ksparse.SparseLinearRegression(k=4, alpha=0.2, scale=2).fit(X, y)
    np.testing.assert_allclose(paper.coef_, usual.coef_)
    assert paper.objective_ == pytest.approx(2 * usual.objective_)
    X, y, _ = classification
    usual = ksparse.SparseLogisticRegression(k=4, alpha=0.1).fit(X, y)
    paper = ksparse.SparseLogisticRegression(k=4, alpha=0.4, scale=2).fit(X, y)
    np.testing.assert_allclose(2 * paper.coef_, usual.coef_, rtol=1e-6)
    np.testing.assert_allclose(paper.predict_proba(X), usual.predict_proba(X), rtol=1e-5)
    with pytest.raises(ValueError, match="scale"):
        ksparse.SparseLogisticRegression(scale=0).fit(X, y)


def test_a_network_as_published():
    X, _ = ksparse.datasets.make_network(300, 10, random_state=3)
    options = {"published": True, "step": 0.05}
    published = ksparse.SparsePrecision(k=8, solver="grahtp", solver_options=options).fit(X)
    newton = ksparse.SparsePrecision(k=8, solver="grahtp", solver_options=options, inner="newton").fit(X)
    assert len(published.edges_) == 8
    np.testing.assert_allclose(published.precision_, newton.precision_, atol=1e-5)
    np.testing.assert_allclose(published.trace_["step"], 0.05)
    bounded = ksparse.SparsePrecision(k=8, eigenvalue_bounds=(0.8, 1.5)).fit((X - X.mean(0)) / X.std(0))
    values = np.linalg.eigvalsh(bounded.precision_)
    assert values.min() > 0.799 and values.max() < 1.501
    assert ksparse.SparsePrecision(k=8, xi=1e-3).fit(X).objective_ < bounded.objective_
    for wrong in ({"inner": "qr"}, {"xi": -1.0}, {"eigenvalue_bounds": (2, 1)}, {"eigenvalue_bounds": 3}):
        with pytest.raises(ValueError):
            ksparse.SparsePrecision(k=8, **wrong).fit(X)
    with pytest.raises(ValueError, match="give one of them"):
        ksparse.SparsePrecision(k=8, xi=0.1, eigenvalue_bounds=(1, 2)).fit(X)


def test_a_covariance_matrix_in_place_of_samples():
    X, _ = ksparse.datasets.make_network(300, 10, random_state=3)
    from_samples = ksparse.SparsePrecision(k=8, standardize=False).fit(X)
    covariance = np.cov(X.T, bias=True)
    precomputed = ksparse.SparsePrecision(k=8, precomputed=True).fit(covariance)
    np.testing.assert_allclose(precomputed.precision_, from_samples.precision_, rtol=1e-6, atol=1e-8)
    np.testing.assert_array_equal(precomputed.edges_, from_samples.edges_)
    with pytest.raises(ValueError, match="square covariance"):
        ksparse.SparsePrecision(k=8, precomputed=True).fit(X)
    with pytest.raises(ValueError, match="symmetric"):
        ksparse.SparsePrecision(k=8, precomputed=True).fit(covariance + np.triu(np.ones((10, 10)), 1))


def test_discriminant_analysis():
    rng = np.random.default_rng(0)
    X, _ = ksparse.datasets.make_network(600, 6, random_state=3)
    y = rng.integers(0, 3, size=600)
    X = X + np.array([[0.0] * 6, [1.5] * 6, [-1.5, 1.5] * 3])[y]
    # All pairs are edges: the classical rule.
    full = ksparse.SparseLDA(k=15).fit(X, y)
    classical = LinearDiscriminantAnalysis(solver="lsqr").fit(X, y)
    assert (full.predict(X) == classical.predict(X)).mean() > 0.995
    np.testing.assert_allclose(full.predict_proba(X), classical.predict_proba(X), atol=0.02)
    sparse = ksparse.SparseLDA(k=4, solver="grahtp", solver_options={"published": True, "step": 0.05}).fit(X, y)
    assert len(sparse.network_.edges_) == 4 and sparse.score(X, y) > 0.8
    np.testing.assert_allclose(sparse.predict_proba(X).sum(axis=1), 1)
    words = np.array(["low", "high", "middle"])[y]
    assert set(ksparse.SparseLDA(k=4).fit(X, words).predict(X)) == {"low", "high", "middle"}
    with pytest.raises(ValueError, match="one class"):
        ksparse.SparseLDA(k=4).fit(X, np.zeros(600))


def test_theorems_say_what_they_promise_and_what_not(classification):
    X, y, _ = ksparse.datasets.make_regression(400, 12, 2, random_state=5)
    survey = ksparse.theory(ksparse.SparseLinearRegression(k=2, fit_intercept=False), X, y)
    eigenvalues = np.linalg.eigvalsh(X.T @ X / len(y))
    level = survey["theorem_2"]
    assert level["exact"] and level["s"] == 6
    assert eigenvalues[0] <= level["m"] <= level["M"] <= eigenvalues[-1]
    assert survey["grahtp"]["factor"] < 1 and "lambda" in survey["dual_ascent"]["vacuous"]
    fit = ksparse.SparseLinearRegression(k=2, fit_intercept=False, solver="grahtp", solver_options={"step": "theory"})
    assert fit.fit(X, y).trace_["step"][0] == pytest.approx(survey["step"])
    X, y, _ = classification
    huber = ksparse.SparseHuberClassifier(k=4, gamma=1.0, alpha=20.0, fit_intercept=False)
    assert ksparse.theory(huber, X, y)["dual_ascent"]["c1"] > 0
    with pytest.raises(TypeError, match="linear estimator"):
        ksparse.theory(ksparse.SparsePrecision(), X, y)
