"""Best-subset packages: abess, fastsparsegams (the fork of L0Learn with a Python package), scikit-learn's OMP."""

from __future__ import annotations

from typing import Callable

import numpy as np

from judge import Regression
from problem import Problem

Fit = Callable[[], np.ndarray]


def abess(problem: Problem, **settings) -> Fit:
    import abess as package

    x = np.ascontiguousarray(problem.x) if problem.dense else problem.x
    model, y = (package.LogisticRegression, (problem.y > 0).astype(int)) if problem.logistic else (
        package.LinearRegression, problem.y)

    def fit() -> np.ndarray:
        fitted = model(support_size=problem.k, fit_intercept=False, thread=1, **settings).fit(x, y)
        return np.ravel(fitted.coef_) / problem.scale

    return fit


def omp(problem: Problem) -> Fit:
    from sklearn.linear_model import OrthogonalMatchingPursuit

    x = np.asfortranarray(problem.x)

    def fit() -> np.ndarray:
        return OrthogonalMatchingPursuit(n_nonzero_coefs=problem.k, fit_intercept=False).fit(x, problem.y).coef_

    return fit


def l0learn(problem: Problem, **settings) -> Fit:
    """The end of its path, where the support reaches k, cut to the k largest coefficients.

    With several ridges (L0L2) there is a path for each, and the support with the lowest objective after a refit is
    taken: timed, since a user must do it too. The packages' scale of the loss is 1: theirs are `scale` times the
    coefficients of the problem.
    """
    import fastsparsegams

    x = np.asfortranarray(problem.x) if problem.dense else problem.x
    loss = "Logistic" if problem.logistic else "SquaredError"

    def fit() -> np.ndarray:
        path = fastsparsegams.fit(x, problem.y, loss=loss, max_support_size=problem.k, intercept=False, **settings)
        ends = [np.ravel(coefficients[:, -1].toarray()) / problem.scale for coefficients in path.coeffs]
        ends = [largest(w, problem.k) for w in ends]
        sizes = ", ".join(str(sizes[-1]) for sizes in path.support_size)
        problem.notes.append(f"{sizes} non-zeros at the end of the path")
        return min(ends, key=lambda w: refit_value(problem, w)) if len(ends) > 1 else ends[0]

    return fit


def largest(w: np.ndarray, k: int) -> np.ndarray:
    """All but the k largest entries set to zero."""
    kept = np.zeros_like(w)
    order = np.argsort(-np.abs(w), kind="stable")[:k]
    kept[order] = w[order]
    return kept


def refit_value(problem: Problem, w: np.ndarray) -> float:
    restricted = Regression(problem, np.flatnonzero(w))
    return restricted.value(restricted.minimise())


SOLVERS: dict[str, Callable[[Problem], Fit]] = {
    "abess": abess,
    "abess-wide": lambda problem: abess(problem, exchange_num=max(1, problem.k // 2), important_search=0),
    "abess-approx": lambda problem: abess(problem, approximate_Newton=True),
    "omp": omp,
    "l0learn-l0": lambda problem: l0learn(problem, penalty="L0"),
    "l0learn-l0l2": lambda problem: l0learn(problem, penalty="L0L2", num_gamma=5),
    "l0learn-psi": lambda problem: l0learn(problem, penalty="L0L2", num_gamma=5, algorithm="CDPSI"),
}
