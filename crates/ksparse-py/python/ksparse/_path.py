"""All k of a sequence."""

from __future__ import annotations

import numbers
from collections.abc import Callable, Mapping
from typing import Any

from sklearn.base import clone
from sklearn.utils import check_scalar

from . import _core
from ._base import Callback, SparseLinearModel
from ._minimize import as_function, function_search
from ._progress import Watcher
from ._results import PathResult, path_result
from ._search import KS
from ._validation import as_design, check_alpha, check_ks, countable


def path(
    problem: SparseLinearModel | Callable[[Any], Any],
    X: Any = None,
    y: Any = None,
    *,
    ks: Any = None,
    sample_weight: Any = None,
    dim: int | None = None,
    grad: Any = None,
    hess: Any = None,
    solver: str = "auto",
    keep: Any = None,
    nonnegative: bool = False,
    bounds: Any = None,
    total: float | None = None,
    tol: float | None = None,
    max_iter: int | None = None,
    solver_options: Mapping[str, object] | None = None,
    random_state: Any = None,
    stop_at: float | None = None,
    callback: Callback | None = None,
    verbose: int = 0,
) -> PathResult | list[PathResult]:
    """Solutions for every k of a sequence, each started from its neighbours: the objective never rises with k.

    Parameters
    ----------
    problem : estimator or callable
        An estimator of this package (``path(SparseLogisticRegression(alpha=1e-3), X, y, ks=range(20))``), whose
        parameters hold for all k and which is left unfitted; or a function, as for `minimize` (``path(fun, dim=100,
        grad=grad, ks=range(20))``).
    X, y : array-like
        The data, for an estimator.
    ks : array-like or None, default=None
        The values of k (ints, or shares of the columns). None is 1, 2, 3, 4, 6, 8, 11, 16, 23, 32, 45, 64 as far as
        there are columns.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights, for an estimator.
    dim, grad, hess, solver, keep, nonnegative, bounds, total, tol, max_iter, solver_options, random_state
        For a function: as for `minimize`. An estimator has its own.
    stop_at : float or None, default=None
        End with the first k whose objective is at most this: a residual that is small enough.
    callback : callable, default=None
        Called once per iteration with a `Progress`; returning True or raising StopIteration ends the path with what is
        solved by then.
    verbose : int, default=0
        1 shows the progress on stderr.

    Returns
    -------
    path : PathResult
        For three classes and more, a list of them, one per class.

    Examples
    --------
    >>> import ksparse
    >>> X, y, coef = ksparse.datasets.make_regression(100, 30, 3, noise=0.1, random_state=1)
    >>> path = ksparse.path(ksparse.SparseLinearRegression(), X, y, ks=[1, 2, 3, 6])
    >>> [support.size for support in path.supports]
    [1, 2, 3, 6]
    """
    if isinstance(problem, SparseLinearModel):
        if X is None or y is None:
            raise TypeError("the path of an estimator needs X and y.")
        return _estimator_path(problem, X, y, ks, sample_weight, stop_at, callback, verbose)
    if not callable(problem):
        raise TypeError(f"path takes an estimator of this package or a function, got {type(problem).__name__}.")
    if X is not None or y is not None or dim is None:
        raise TypeError("the path of a function needs dim, and neither X nor y.")
    function, _ = as_function(problem, dim, grad, hess)
    search = function_search(
        solver, tol, max_iter, None, solver_options, random_state, keep, function["dim"], nonnegative, bounds, total
    )
    chosen = check_ks(ks, function["dim"], KS)
    watcher = Watcher("path", verbose, callback, function["dim"])
    solutions = _core.minimize_path(function, search, chosen, watcher.callback(), _number(stop_at))
    watcher.close(f"{len(solutions)} of {len(chosen)} k")
    return path_result(chosen, solutions, function["dim"])


def _estimator_path(
    estimator: SparseLinearModel,
    X: Any,
    y: Any,
    ks: Any,
    sample_weight: Any,
    stop_at: float | None,
    callback: Callback | None,
    verbose: int,
) -> PathResult | list[PathResult]:
    estimator = clone(estimator)
    X, targets, weights = estimator._prepare(X, y, sample_weight)
    n_features = X.shape[1]
    search = estimator._search(n_features)
    chosen = check_ks(ks, countable(n_features, search["groups"]), KS)
    alpha = check_alpha(getattr(estimator, "alpha", 0.0))
    design = as_design(X, search["threads"], estimator.device)
    names = getattr(estimator, "feature_names_in_", None)
    watcher = Watcher("path", verbose, callback, n_features)
    paths = []
    for target in targets:
        data = estimator._data(design, target, weights)
        solutions = _core.grids(data, search, chosen, [alpha], None, watcher.callback(), _number(stop_at))[0][0]
        paths.append(path_result(chosen, solutions, n_features, alpha, names))
    watcher.close(f"{sum(map(len, paths))} of {len(chosen) * len(paths)} k")
    return paths[0] if len(paths) == 1 else paths


def _number(stop_at: float | None) -> float | None:
    return None if stop_at is None else float(check_scalar(stop_at, "stop_at", numbers.Real))
