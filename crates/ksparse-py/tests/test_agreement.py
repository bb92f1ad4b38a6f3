"""The same answers as scikit-learn, where the problems are the same; the same as the library's own."""

import json
import os
import subprocess
from pathlib import Path

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression, LogisticRegression, OrthogonalMatchingPursuit, Ridge
from sklearn.svm import LinearSVC

import ksparse

REFERENCE = json.loads((Path(__file__).parents[2] / "ksparse/tests/data/front_doors.json").read_text())


@pytest.mark.parametrize("seed", range(5))
def test_forward_selection_is_orthogonal_matching_pursuit(seed):
    X, y, _ = ksparse.datasets.make_regression(100, 60, 6, correlation=0.7, noise=0.5, random_state=seed)
    X = X / np.linalg.norm(X, axis=0)  # matching pursuit compares correlations, forward selection gradients
    ours = ksparse.SparseLinearRegression(k=6, solver="fbs", fit_intercept=False).fit(X, y)
    theirs = OrthogonalMatchingPursuit(n_nonzero_coefs=6, fit_intercept=False).fit(X, y)
    assert ours.support_.tolist() == theirs.coef_.nonzero()[0].tolist()
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("C", [0.1, 10.0])
def test_logistic_regression_at_k_equal_to_p(classification, C):
    X, y, _ = classification
    n, p = X.shape
    ours = ksparse.SparseLogisticRegression(k=p, alpha=1 / (n * C)).fit(X, y)
    theirs = LogisticRegression(C=C, tol=1e-10, max_iter=10_000, solver="newton-cholesky").fit(X, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-8)


def test_squared_hinge_at_k_equal_to_p(classification):
    X, y, _ = classification
    n, p = X.shape
    ours = ksparse.SparseSVC(k=p, alpha=1e-2, fit_intercept=False).fit(X, y)
    # scikit-learn: 1/2 |w|^2 + C sum max(0, 1 - m)^2; ours times 1 / alpha.
    theirs = LinearSVC(C=1 / (2 * n * 1e-2), fit_intercept=False, dual=False, tol=1e-10, max_iter=100_000).fit(X, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("alpha", [0.0, 0.05])
def test_refit_on_the_support(regression, alpha):
    X, y, _ = regression
    n = len(y)
    weights = np.random.default_rng(1).uniform(0.5, 2, n)
    ours = ksparse.SparseLinearRegression(k=4, alpha=alpha).fit(X, y, weights)
    part = X[:, ours.support_]
    refit = Ridge(alpha=alpha * weights.sum()) if alpha else LinearRegression()
    refit.fit(part, y, weights)
    np.testing.assert_allclose(ours.coef_[ours.support_], refit.coef_, rtol=1e-8)
    np.testing.assert_allclose(ours.intercept_, refit.intercept_, rtol=1e-7)
    residual = y - ours.predict(X)
    objective = (weights @ residual**2) / (2 * weights.sum()) + alpha / 2 * (ours.coef_ @ ours.coef_)
    np.testing.assert_allclose(ours.objective_, objective, rtol=1e-12)


def test_refit_on_the_support_logistic(text):
    X, y, _ = text
    ours = ksparse.SparseLogisticRegression(k=10, alpha=1e-3).fit(X, y)
    theirs = LogisticRegression(C=1 / (len(y) * 1e-3), tol=1e-10, solver="newton-cholesky", max_iter=1000)
    theirs.fit(X[:, ours.support_].toarray(), y)
    np.testing.assert_allclose(ours.coef_[0, ours.support_], theirs.coef_[0], rtol=1e-6, atol=1e-8)


def simulated(case):
    make = ksparse.datasets.make_regression if case["loss"] == "squared" else ksparse.datasets.make_classification
    return make(case["n"], case["p"], case["planted"], correlation=case["rho"], random_state=case["seed"])


@pytest.mark.parametrize("case", REFERENCE, ids=lambda case: case["name"])
def test_same_answer_as_the_library(case):
    estimator = {
        "squared": ksparse.SparseLinearRegression,
        "logistic": ksparse.SparseLogisticRegression,
        "squared-hinge": ksparse.SparseSVC,
        "huber": ksparse.SparseHuberClassifier,
    }[case["loss"]]
    X, y, _ = simulated(case)
    model = estimator(k=case["k"], alpha=case["alpha"], solver=case["solver"]).fit(X, y)
    assert model.support_.tolist() == case["support"]
    assert abs(model.objective_ - case["objective"]) <= 1e-10 * abs(case["objective"])
    np.testing.assert_allclose(np.ravel(model.coef_)[model.support_], case["coefficients"], rtol=1e-6)


#: The command as the environment names it (the script `test` does), or as cargo builds it.
NAMED = os.environ.get("KSPARSE_COMMAND")
COMMAND = Path(NAMED or Path(__file__).parents[3] / "target/debug/ksparse")


@pytest.mark.skipif(not NAMED and not COMMAND.exists(), reason="the command has not been built: cargo build --package ksparse-cli")
@pytest.mark.parametrize("case", REFERENCE, ids=lambda case: case["name"])
def test_same_answer_as_the_command(case, tmp_path):
    X, y, _ = simulated(case)
    np.save(tmp_path / "data.npy", X)
    (tmp_path / "target.txt").write_text("\n".join(repr(float(value)) for value in y))
    options = ["-k", case["k"], "--loss", case["loss"], "--lambda", case["alpha"], "--solver", case["solver"], "--huber-gamma", 0.25]
    line = [COMMAND, "fit", tmp_path / "data.npy", "--target-file", tmp_path / "target.txt", "--json", *options]
    found = json.loads(subprocess.run([str(word) for word in line], capture_output=True, text=True, check=True).stdout)
    assert found["support"] == case["support"]
    assert abs(found["objective"] - case["objective"]) <= 1e-10 * abs(case["objective"])
