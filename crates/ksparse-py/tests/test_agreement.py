"""The same answers as scikit-learn, where the problems are the same; the same as the library's own."""

import json
import os
import subprocess
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone
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


needs_command = pytest.mark.skipif(
    not NAMED and not COMMAND.exists(), reason="the command has not been built: cargo build --package ksparse-cli"
)


def command(*words):
    """What the command prints as JSON."""
    done = subprocess.run([str(word) for word in (COMMAND, *words, "--json")], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def saved(folder, X, y=None):
    """The data as files, and the words that name them."""
    np.save(folder / "data.npy", X)
    if y is None:
        return [folder / "data.npy"]
    (folder / "target.txt").write_text("\n".join(repr(float(value)) for value in y))
    return [folder / "data.npy", "--target-file", folder / "target.txt"]


@needs_command
@pytest.mark.parametrize("case", REFERENCE, ids=lambda case: case["name"])
def test_same_answer_as_the_command(case, tmp_path):
    X, y, _ = simulated(case)
    options = ["-k", case["k"], "--loss", case["loss"], "--lambda", case["alpha"], "--solver", case["solver"]]
    found = command("fit", *saved(tmp_path, X, y), *options)
    assert found["support"] == case["support"]
    assert abs(found["objective"] - case["objective"]) <= 1e-10 * abs(case["objective"])


#: Every loss of every estimator, with the command's name for it.
LOSSES = {
    "squared": ksparse.SparseLinearRegression(),
    "logistic": ksparse.SparseLogisticRegression(),
    "squared-hinge": ksparse.SparseSVC(),
    "hinge": ksparse.SparseSVC(loss="hinge"),
    "huber": ksparse.SparseHuberClassifier(),
}


@needs_command
@pytest.mark.parametrize("solver", ["auto", "grahtp", "diht"])
@pytest.mark.parametrize("loss", LOSSES)
def test_every_estimator_is_the_command(loss, solver, tmp_path):
    if (loss, solver) == ("hinge", "grahtp"):
        return  # needs a smooth loss
    make = ksparse.datasets.make_regression if loss == "squared" else ksparse.datasets.make_classification
    X, y, _ = make(150, 40, 5, correlation=0.6, random_state=4)
    model = clone(LOSSES[loss]).set_params(k=5, alpha=0.05, standardize=True, solver=solver).fit(X, y)
    options = ["-k", 5, "--loss", loss, "--lambda", 0.05, "--standardize", "--solver", solver]
    found = command("fit", *saved(tmp_path, X, y), *options)
    assert found["support"] == model.support_.tolist()
    assert found["objective"] == pytest.approx(model.objective_, rel=1e-10)
    assert found["status"] == model.status_


@needs_command
@pytest.mark.parametrize("loss", ["squared", "logistic"])
def test_the_choice_of_the_command(loss, tmp_path):
    make = ksparse.datasets.make_regression if loss == "squared" else ksparse.datasets.make_classification
    X, y, _ = make(160, 50, 5, correlation=0.4, random_state=2)
    model = ksparse.SparseLinearRegressionCV() if loss == "squared" else ksparse.SparseLogisticRegressionCV()
    model.fit(X, y)
    found = command("path", *saved(tmp_path, X, y), "--loss", loss)["chosen"]
    assert (found["k"], found["lambda"]) == (model.k_, model.alpha_)
    assert found["support"] == np.flatnonzero(model.coef_.ravel()).tolist()


@needs_command
@pytest.mark.parametrize("p", [15, 60])
def test_the_network_of_the_command(p, tmp_path):
    X, _ = ksparse.datasets.make_network(200, p, random_state=1)
    X = X * np.geomspace(0.1, 10, p)
    for options, parameters in ([], {}), (["--original-units"], {"standardize": False}):
        model = ksparse.SparsePrecision(k=p, **parameters).fit(X)
        found = command("graph", *saved(tmp_path, X), "-k", p, *options)
        assert [edge["nodes"] for edge in found["edges"]] == model.edges_.tolist()
        assert found["objective"] == pytest.approx(model.objective_, rel=1e-10)
        assert found["status"] == model.status_
        partial = [edge["partial_correlation"] for edge in found["edges"]]
        np.testing.assert_allclose(model.partial_correlations_, partial, rtol=1e-8)


@needs_command
@pytest.mark.parametrize("p", [15, 60])
def test_the_discriminant_of_the_command(p, tmp_path):
    X, _ = ksparse.datasets.make_network(200, p, random_state=2)
    y = np.where(np.random.default_rng(0).random(200) < 0.4, 1.0, -1.0)
    X = X + 0.5 * y[:, None] * np.linspace(-1, 1, p)
    means = np.array([X[y == label].mean(axis=0) for label in (-1, 1)])
    # What is left within the classes is what the rule's network is fitted to.
    within = X - means[(y > 0).astype(int)]
    network = ksparse.SparsePrecision(k=p, assume_centered=True).fit(within)
    found = command("lda", *saved(tmp_path, X, y), "-k", p)
    assert found["edges"] == len(network.edges_)
    np.testing.assert_allclose(found["rule"]["directions"], means @ network.precision_, rtol=1e-7, atol=1e-9)
