"""Penalties: a search for the strength that leaves k non-zeros, in scikit-learn, liblinear, skglm and celer.

The search is part of the fit, since it is what a user who wants k features must do; the judge's refit is not. The scale
of the loss does not matter to a search: log(1 + exp(-2 m(w))) is log(1 + exp(-m(2 w))).
"""

from __future__ import annotations

from typing import Callable

import numpy as np

from problem import Problem
from subset import largest

Fit = Callable[[], np.ndarray]


def search(problem: Problem, strongest: float, solve: Callable[[float], np.ndarray], weakest: float = 1e-4) -> float:
    """The strength that leaves k to 1.02 k non-zeros, by bisection of its logarithm from `weakest` x `strongest` on;
    where none does, the weakest that leaves fewer than k."""
    low, high = np.log(weakest * strongest), np.log(strongest)
    for fits in range(1, 31):
        middle = (low + high) / 2
        count = np.count_nonzero(solve(float(np.exp(middle))))
        if problem.k <= count <= 1.02 * problem.k or high - low < 1e-4:
            break
        low, high = (low, middle) if count < problem.k else (middle, high)
    problem.notes.append(f"{count} non-zeros after {fits} fits")
    return float(np.exp(middle))


def searched(problem: Problem, solve: Callable[[float], np.ndarray]) -> Fit:
    """A fit that searches: `solve` takes a strength in the units of the mean loss, beyond the largest gradient at 0 all
    is 0."""
    strongest = float(np.abs(problem.x.T @ problem.y).max()) / len(problem.y) / (2.0 if problem.logistic else 1.0)
    last = np.zeros(0)

    def remembered(strength: float) -> np.ndarray:
        nonlocal last
        last = solve(strength)
        return last

    def fit() -> np.ndarray:
        search(problem, strongest, remembered)
        return largest(last, problem.k) / problem.scale

    return fit


def sklearn_logistic(problem: Problem, **settings) -> Callable[[float], np.ndarray]:
    from sklearn.linear_model import LogisticRegression

    x = np.asarray(problem.x) if problem.dense else problem.x.tocsr()
    n = len(problem.y)

    def solve(strength: float) -> np.ndarray:
        model = LogisticRegression(l1_ratio=1, C=1.0 / (n * strength), fit_intercept=False, **settings)
        return model.fit(x, problem.y).coef_.ravel()

    return solve


def liblinear(problem: Problem) -> Callable[[float], np.ndarray]:
    """The original, through its own Python interface."""
    from liblinear.liblinearutil import parameter, problem as rows, train

    x = np.ascontiguousarray(problem.x) if problem.dense else problem.x.tocsr()
    data, n = rows(problem.y, x), len(problem.y)

    def solve(strength: float) -> np.ndarray:
        w = np.array(train(data, parameter(f"-s 6 -c {1.0 / (n * strength)} -q")).get_decfun()[0])
        return np.pad(w, (0, x.shape[1] - len(w)))

    return solve


def skglm(problem: Problem, convex: bool) -> Callable[[float], np.ndarray]:
    import skglm as package
    from skglm.datafits import Logistic
    from skglm.penalties import MCPenalty
    from skglm.solvers import AndersonCD

    x = np.asfortranarray(problem.x) if problem.dense else problem.x

    def model(strength: float):
        if convex:
            kind = package.SparseLogisticRegression if problem.logistic else package.Lasso
            return kind(alpha=strength, fit_intercept=False)
        if problem.logistic:
            solver = AndersonCD(fit_intercept=False)
        return package.GeneralizedLinearEstimator(Logistic(), MCPenalty(strength, gamma=3.0), solver)
        return package.MCPRegression(alpha=strength, fit_intercept=False)

    return lambda strength: np.ravel(model(strength).fit(x, problem.y).coef_)


def celer(problem: Problem) -> Callable[[float], np.ndarray]:
    import celer as package

    x = np.asfortranarray(problem.x) if problem.dense else problem.x
    n = len(problem.y)

    def solve(strength: float) -> np.ndarray:
        if problem.logistic:
            model = package.LogisticRegression(C=1.0 / (n * strength), fit_intercept=False)
        else:
            model = package.Lasso(alpha=strength, fit_intercept=False)
        return np.ravel(model.fit(x, problem.y).coef_)

    return solve


def liblinear_at_k(problem: Problem, tolerance: float) -> Fit:
    """One fit of scikit-learn's liblinear at a strength that leaves about k non-zeros, found before the clock
    starts."""
    solve = sklearn_logistic(problem, solver="liblinear", tol=tolerance, max_iter=1000)
    strongest = float(np.abs(problem.x.T @ problem.y).max()) / len(problem.y) / 2.0
    strength = search(problem, strongest, solve)
    found = problem.notes[-1]

    def fit() -> np.ndarray:
        problem.notes.append(found)
        return largest(solve(strength), problem.k) / problem.scale

    return fit


SOLVERS: dict[str, Callable[[Problem], Fit]] = {
    "sklearn-liblinear": lambda problem: searched(problem, sklearn_logistic(problem, solver="liblinear", tol=1e-2)),
    "sklearn-saga": lambda problem: searched(problem, sklearn_logistic(problem, solver="saga")),
    "liblinear": lambda problem: searched(problem, liblinear(problem)),
    "skglm-l1": lambda problem: searched(problem, skglm(problem, convex=True)),
    "skglm-mcp": lambda problem: searched(problem, skglm(problem, convex=False)),
    "celer": lambda problem: searched(problem, celer(problem)),
    "liblinear-at-k": lambda problem: liblinear_at_k(problem, tolerance=1e-2),
    "liblinear-at-k-1e-4": lambda problem: liblinear_at_k(problem, tolerance=1e-4),
}
