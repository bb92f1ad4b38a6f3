"""What the theorems behind the methods say about a problem."""

from __future__ import annotations

from typing import Any

from sklearn.base import clone

from . import _core
from ._base import SparseLinearModel
from ._validation import as_design, check_alpha, check_k


def theory(estimator: SparseLinearModel, X: Any, y: Any, sample_weight: Any = None) -> dict[str, Any]:
    """What the theorems on GraHTP, FGraHTP, DIHT and SDIHT promise on these data, or that they promise nothing.

    Parameters
    ----------
    estimator : linear estimator of this package
        Its loss, k, alpha, `fit_intercept` and `standardize` say which problem; it need not be fitted.
    X, y, sample_weight : array-like
        The data. Two classes at most.

    Returns
    -------
    survey : dict
        ``theorem_1`` and ``theorem_2``: the curvature of f along directions of s = 2k and s = 3k non-zeros (``m``,
        ``M``, whether ``exact``) and Condition C (``zeta``, ``rho``; None where it does not hold). ``step``: that of
        Theorem 1. ``grahtp`` and ``fgrahtp``: the ``factor`` by which an iteration shrinks the distance to a target of
        k non-zeros, for which ``steps``, and the ``gradient_weight`` of what is left. ``dual_ascent``: ``c1``, ``c2``,
        the ``first_step``, and from how many steps on the bound says more than the domain. What a theorem does not
        cover has the key ``vacuous`` instead, with the reason.

    Examples
    --------
    >>> import ksparse
    >>> X, y, coef = ksparse.datasets.make_regression(400, 12, 2, random_state=5)
    >>> model = ksparse.SparseLinearRegression(k=2, fit_intercept=False)
    >>> ksparse.theory(model, X, y)["theorem_2"]["exact"]
    True
    """
    if not isinstance(estimator, SparseLinearModel):
        raise TypeError(f"theory takes a linear estimator of this package, got {type(estimator).__name__}.")
    own = clone(estimator)
    X, targets, weights = own._prepare(X, y, sample_weight)
    if len(targets) > 1:
        raise ValueError("theory is about one linear predictor: take two of the classes.")
    search = own._search(X.shape[1])
    data = own._data(as_design(X, search["threads"], own.device), targets[0], weights)
    return _core.theory(data, check_k(own.k, X.shape[1]), check_alpha(own.alpha))
