"""The graphical lasso of scikit-learn and of skglm, with a search for the penalty that leaves k edges."""

from __future__ import annotations

from typing import Callable

import numpy as np

from lasso import search
from problem import Problem

Fit = Callable[[], np.ndarray]


def glasso(problem: Problem, solve: Callable[[np.ndarray, float], np.ndarray]) -> Fit:
    """`solve` gives the precision matrix of a covariance at a penalty. Only the k largest edges are kept."""
    covariance = np.cov(np.asarray(problem.x), rowvar=False, bias=True)
    strongest = float(np.abs(np.triu(covariance, 1)).max())
    upper = np.triu_indices(len(covariance), 1)

    def fit() -> np.ndarray:
        found = covariance

        def edges(penalty: float) -> np.ndarray:
            nonlocal found
            found = solve(covariance, penalty)
            return found[upper]

        search(problem, strongest, edges, weakest=1e-2)
        order = np.argsort(-np.abs(found[upper]), kind="stable")[: problem.k]
        kept = np.diag(np.diag(found))
        i, j = upper[0][order], upper[1][order]
        kept[i, j] = kept[j, i] = found[i, j]
        return kept

    return fit


def sklearn_glasso(covariance: np.ndarray, penalty: float) -> np.ndarray:
    from sklearn.covariance import graphical_lasso

    return graphical_lasso(covariance, alpha=penalty)[1]


def skglm_glasso(covariance: np.ndarray, penalty: float) -> np.ndarray:
    from skglm.covariance import GraphicalLasso

    return GraphicalLasso(alpha=penalty).fit(covariance, mode="precomputed").precision_


SOLVERS: dict[str, Callable[[Problem], Fit]] = {
    "sklearn-glasso": lambda problem: glasso(problem, sklearn_glasso),
    "skglm-glasso": lambda problem: glasso(problem, skglm_glasso),
}
