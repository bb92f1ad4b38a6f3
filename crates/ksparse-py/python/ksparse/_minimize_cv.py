"""The choice of k for a function of one's own, by rows held out or by a price per coordinate."""

from __future__ import annotations

import numbers
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_scalar

from . import _core
from ._looks import compared
from ._minimize import as_function, as_number, function_search
from ._progress import Watcher
from ._results import MinimizeResult, Progress, minimize_result, path_result
from ._search import CRITERIA, KS, _ranks, splits_of
from ._validation import check_ks

Rows = NDArray[np.int64]


def minimize_cv(
    fun: Callable[[Any, Rows], Any],
    n_samples: int,
    dim: int,
    ks: Any = None,
    grad: Callable[[Any, Rows], Any] | bool | str | None = None,
    hess: Callable[[Any, Rows], Any] | str | None = None,
    *,
    cv: Any = None,
    scoring: Callable[[Any, Rows], float] | None = None,
    rule: str = "best",
    keep: Any = None,
    solver: str = "auto",
    nonnegative: bool = False,
    bounds: Any = None,
    total: float | None = None,
    tol: float | None = None,
    max_iter: int | None = None,
    time_limit: float | None = None,
    solver_options: Mapping[str, object] | None = None,
    random_state: Any = None,
    callback: Callable[[Progress], object] | None = None,
    verbose: int = 0,
) -> MinimizeResult:
    """Choose k for a function of your own that is a mean over samples, and minimise it over all of them.

    Parameters
    ----------
    fun : callable
        ``fun(x, rows)`` is the mean loss of x over the samples with these numbers, or a pair of that and its gradient.
    n_samples : int
        How many samples there are.
    dim : int
        The number of variables.
    ks : array-like or None, default=None
        The k to compare. None is 1, 2, 3, 4, 6, 8, 11, 16, 23, 32, 45, 64 as far as there are variables.
    grad, hess : callable, bool, str or None, default=None
        As for `minimize`; functions of x and rows.
    cv : int, splitter, iterable, str or None, default=None
        As for the estimators: how samples are split, or 'aic', 'bic', 'ebic', 'gic' for a criterion on all of them,
        for which `fun` must be a mean negative log-likelihood.
    scoring : callable or None, default=None
        ``scoring(x, rows)`` is how well x does on samples held out, of which more is better. None is minus `fun`.
    rule : {'best', 'lean', '1se'}, default='best'
        Which k wins: the best mean, the smallest k within a tenth of a standard error, or within one.
    solver, keep, nonnegative, bounds, total, tol, max_iter, time_limit, solver_options, random_state, callback, verbose
        As for `minimize`. The time limit is that of every single search.

    Returns
    -------
    result : MinimizeResult
        As of `minimize`, on all samples, with ``k``, ``path`` (every k on all samples) and ``cv_results``.

    Examples
    --------
    >>> import numpy as np, ksparse
    >>> X, y, coef = ksparse.datasets.make_regression(100, 20, 3, noise=0.5, random_state=1)
    >>> def loss(w, rows):
    ...     r = X[rows] @ w - y[rows]
    ...     return 0.5 * np.mean(r**2), X[rows].T @ r / len(rows)
    >>> chosen = ksparse.minimize_cv(loss, n_samples=100, dim=20, ks=[1, 2, 3, 4, 5])
    >>> chosen.k, bool((chosen.support == np.flatnonzero(coef)).all())
    (3, True)
    """
    n = int(check_scalar(n_samples, "n_samples", numbers.Integral, min_val=2))
    if rule not in ("best", "lean", "1se"):
        raise ValueError(f"rule must be 'best', 'lean' or '1se', got {rule!r}.")
    search = function_search(
        solver, tol, max_iter, time_limit, solver_options, random_state, keep, dim, nonnegative, bounds, total
    )
    chosen_ks = check_ks(ks, int(dim), KS)
    watcher = Watcher("minimize_cv", verbose, callback, int(dim))
    calls = 0

    def path(rows: Rows) -> Any:
        nonlocal calls
        of_rows = [None if f is None else _bound(f, rows) for f in (fun, grad, hess)]
        function, counted = as_function(of_rows[0], dim, of_rows[1], of_rows[2])
        if counted.own_gradient:
            function["value_and_gradient"] = compared(function["value_and_gradient"])
        solutions = _core.minimize_path(function, search, chosen_ks, watcher.callback())
        calls += counted.calls
        return solutions

    everything = np.arange(n, dtype=np.int64)
    if isinstance(cv, str):
        if cv not in CRITERIA:
            raise ValueError(f"cv must be a number of folds, a splitter, splits or one of {CRITERIA}, got {cv!r}.")
        solutions = path(everything)
        prices = [_core.criterion_penalty(cv, n, dim, int(np.count_nonzero(one["coef"]))) for one in solutions]
        mean = -np.array([2 * n * one["objective"] + price for one, price in zip(solutions, prices)])
        if not np.isfinite(mean).all():
            raise ValueError("fun is not finite at the solution of some k: there is no criterion to compare by.")
        index, results = int(np.argmax(mean)), {}
    else:
        splits = splits_of(cv, random_state, np.empty((n, 0)), None)
        scores, sizes = np.empty((len(splits), len(chosen_ks))), []
        for row, (training, held_out) in zip(scores, splits):
            found = path(training)
            if len(found) < len(chosen_ks):
                raise RuntimeError("The search was stopped before the folds were done: there is nothing to choose by.")
            for place, solution in enumerate(found):
                x = np.zeros(dim)
                x[solution["support"]] = solution["coef"]
                row[place] = _score(fun, scoring, x, held_out)
            sizes.append(float(len(held_out)))
        if not np.isfinite(scores).all():
            bad = chosen_ks[int(np.argwhere(~np.isfinite(scores))[0][1])]
            raise ValueError(f"the score of k = {bad} is not finite: check scoring (or fun) on the rows held out.")
        choice = _core.choose([(k, 0.0) for k in chosen_ks], scores, sizes, rule)
        index, mean = choice["index"], choice["mean"]
        results = {"std_test_score": scores.std(axis=0), "std_error": choice["std_error"]}
        results |= {f"split{fold}_test_score": row for fold, row in enumerate(scores)}
        solutions = path(everything)
    watcher.close(f"chose k={chosen_ks[index]}")
    if len(solutions) <= index:
        raise RuntimeError(f"The search was stopped before k = {chosen_ks[index]}, which was chosen, was reached.")
    result = minimize_result(solutions[index], int(dim), calls)
    result.k = chosen_ks[index]
    result.path = path_result(chosen_ks, solutions, int(dim))
    result.cv_results = {
        "params": [{"k": k} for k in chosen_ks],
        "param_k": np.array(chosen_ks),
        "mean_test_score": np.asarray(mean),
        "rank_test_score": _ranks(np.asarray(mean)),
        **results,
    }
    return result


def _bound(function: Any, rows: Rows) -> Any:
    """A function of x and rows as one of x; words and True stay what they are."""
    return (lambda x: function(x, rows)) if callable(function) else function


def _score(fun: Any, scoring: Any, x: NDArray[np.float64], rows: Rows) -> float:
    if scoring is not None:
        return as_number(scoring(x, rows))
    value = fun(x, rows)
    return -as_number(value[0] if isinstance(value, (tuple, list)) else value)
