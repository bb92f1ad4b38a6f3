"""Networks: precision matrices with at most k edges."""

from __future__ import annotations

import numbers
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.covariance import EmpiricalCovariance
from sklearn.model_selection import KFold, check_cv
from sklearn.utils import check_scalar

from . import _core
from ._base import Callback, advise
from ._minimize import function_search
from ._names import OtherNames
from ._parameters import Edges, Size, Sizes, parameters
from ._progress import Watcher
from ._search import _ranks
from ._validation import as_matrix, check_k, seed, thread_count, validate

if TYPE_CHECKING:
    from typing_extensions import Self

    from ._core import Network, Samples, Search

Floats = NDArray[np.float64]

#: What k counts here.
PAIRS = "pairs of variables"


@parameters
class _Samples(OtherNames, EmpiricalCovariance, Edges):  # type: ignore[misc]
    """From samples to the core, and back."""

    store_precision = True
    assume_centered: bool = False

    def _samples(self, X: Floats, search: Search) -> Samples:
        return {
            "design": _core.Design(as_matrix(X), search["threads"]),
            "centred": bool(self.assume_centered),
            "standardize": bool(self.standardize),
            "precomputed": bool(getattr(self, "precomputed", False)),
            "inner": self.inner,
            "xi": None if self.xi is None else float(check_scalar(self.xi, "xi", numbers.Real)),
            "eigenvalue_bounds": None if self.eigenvalue_bounds is None else _pair(self.eigenvalue_bounds),
        }

    def _search(self) -> Search:
        search = function_search(
            self.solver, self.tol, self.max_iter, self.time_limit, self.solver_options, self.random_state, None, 1
        )
        return {**search, "threads": thread_count(self.n_jobs)}

    def _store(self, found: Network) -> None:
        self.location_, self.precision_ = found["location"], found["precision"]
        self.covariance_ = np.linalg.inv(self.precision_)
        self.covariance_ = (self.covariance_ + self.covariance_.T) / 2
        self.edges_, self.partial_correlations_ = found["edges"], found["partial_correlations"]
        self.n_iter_, self.n_refits_ = max(1, found["n_iter"]), found["n_refits"]
        self.objective_, self.status_, self.trace_ = found["objective"], found["status"], found["trace"]
        advise(found)


@parameters
class SparsePrecision(_Samples, Size):
    """The precision matrix (inverse covariance) of Gaussian samples with at most k edges.

    Minimises ``-log det O + trace(S O)``, S the covariance of the samples, over precision matrices O with at most k
    non-zero pairs off the diagonal: the network of the strongest conditional dependences, by maximum likelihood and
    without shrinkage.

    Parameters
    ----------
    k : int, float or None, default=None
        The number of edges. A float in (0, 1] is a share of all pairs. None is as many as there are variables, or all
        pairs where there are fewer. An int above the number of pairs warns and means all of them.
    solver : str, default='auto'
        One of ``ksparse.SOLVERS`` that needs no samples. 'auto' goes by the number of variables, as the command does.
    standardize : bool, default=True
        Whether to choose the edges on the scale of correlations. The matrices come back in the units of X.
    assume_centered : bool, default=False
        Whether the means are known to be 0.
    precomputed : bool, default=False
        Whether `fit` is given a covariance or correlation matrix (symmetric, its diagonal positive) instead of samples.
    inner : {'newton', 'adm'} or None, default=None
        How f is minimised on a set of edges: 'adm' is the alternating direction method of the paper. None is 'newton',
        or 'adm' as published.
    xi : float or None, default=None
        Keep the eigenvalues of O between ``alpha = 1 / (||S|| + p xi)`` and ``beta = (p - alpha tr S) / xi``. None is
        0.01 of the mean variance, or 0.01 as published.
    eigenvalue_bounds : (float, float) or None, default=None
        Keep them between these two instead.
    tol, max_iter, time_limit, solver_options, random_state, n_jobs
        As for the other estimators. With ``solver_options={'published': True}`` every search starts at alpha I, as the
        paper's does.
    warm_start : bool, default=False
        Whether to start from the last fit.
    verbose : int, default=0
        1 shows the progress on stderr.

    Attributes
    ----------
    precision_ : ndarray of shape (n_features, n_features)
        The precision matrix.
    covariance_ : ndarray of shape (n_features, n_features)
        Its inverse.
    location_ : ndarray of shape (n_features,)
        The means.
    edges_ : ndarray of shape (n_edges, 2)
        The pairs i < j whose entry is not 0, in lexicographic order.
    partial_correlations_ : ndarray of shape (n_edges,)
        The correlation of each pair given all others.
    objective_ : float
        ``-log det O + trace(S O)`` (of the correlation matrix, with `standardize`).
    n_iter_, n_refits_, status_, trace_
        As for the other estimators.
    n_features_in_, feature_names_in_
        The variables.

    Examples
    --------
    >>> import ksparse
    >>> X, precision = ksparse.datasets.make_network(2000, 10, random_state=3)
    >>> model = ksparse.SparsePrecision(k=6).fit(X)
    >>> model.edges_.shape
    (6, 2)
    """

    precomputed: bool = False
    warm_start: bool = False

    def fit(self, X: Any, y: Any = None, *, callback: Callback | None = None) -> Self:
        """Fit the network.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples, one per row; with `precomputed` a covariance matrix of shape (n_features, n_features).
        y : ignored
        callback : callable, default=None
            Called once per iteration with a `Progress`; returning True or raising StopIteration ends the fit.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        X = validate(self, X, dtype=np.float64, ensure_min_samples=2, ensure_min_features=2)
        p = X.shape[1]
        if self.precomputed and X.shape[0] != p:
            raise ValueError(f"precomputed=True takes a square covariance matrix; the shape of X is {X.shape}.")
        k = check_k(self.k, p * (p - 1) // 2, PAIRS) if self.k is not None else min(p, p * (p - 1) // 2)
        watcher = Watcher(type(self).__name__, self.verbose, callback, p * (p + 1) // 2)
        search = self._search()
        last = getattr(self, "precision_", None)
        start = last if self.warm_start and last is not None and last.shape == (p, p) else None
        found = _core.precision_path(self._samples(X, search), search, [k], start, watcher.callback())[0]
        watcher.close(found["message"])
        self._store(found)
        return self


def _pair(bounds: Any) -> tuple[float, float]:
    values = [float(bound) for bound in np.atleast_1d(bounds)]
    if len(values) != 2:
        raise ValueError(f"eigenvalue_bounds must be a pair (alpha, beta), got {bounds!r}.")
    return values[0], values[1]


@parameters
class SparsePrecisionCV(_Samples, Sizes):
    """`SparsePrecision` with the number of edges chosen by the likelihood of samples held out.

    Parameters
    ----------
    ks : array-like or None, default=None
        The numbers of edges to compare (ints, or shares of all pairs). None is 0, p/2, p, 3p/2, 2p, 3p and 4p, as far
        as there are pairs.
    cv : int, splitter or iterable, default=5
        How rows are split; folds of a number are shuffled by `random_state`.
    rule : {'best', '1se'}, default='best'
        'best' takes the best mean; '1se' the fewest edges within one standard error of it.
    solver, standardize, assume_centered, inner, xi, eigenvalue_bounds, solver_options
        As for `SparsePrecision`.
    tol, max_iter, time_limit, random_state, n_jobs, verbose
        As for `SparsePrecision`.

    Attributes
    ----------
    k_ : int
        The number of edges chosen.
    best_score_ : float
        Its mean log-likelihood per sample held out.
    cv_results_ : dict of ndarray
        For each k: params, param_k, mean_test_score, std_test_score, rank_test_score, std_error (of the mean) and
        split0_test_score, split1_test_score, ...
    precision_, covariance_, location_, edges_, partial_correlations_
        Of the network chosen, as for `SparsePrecision`.
    objective_, n_iter_, n_refits_, status_, trace_
        Of its search.

    Examples
    --------
    >>> import ksparse
    >>> X, precision = ksparse.datasets.make_network(500, 10, random_state=3)
    >>> model = ksparse.SparsePrecisionCV(ks=range(12)).fit(X)
    >>> len(model.edges_) == model.k_
    True
    """

    cv: Any = 5

    def fit(self, X: Any, y: Any = None, *, callback: Callback | None = None) -> Self:
        """Choose the number of edges, and fit the network of that choice to all samples.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples, one per row.
        y : ignored
        callback : callable, default=None
            Called once per iteration with a `Progress`; returning True or raising StopIteration ends the search.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        if self.rule not in ("best", "1se"):
            raise ValueError(f"rule must be 'best' or '1se', got {self.rule!r}.")
        X = validate(self, X, dtype=np.float64, ensure_min_samples=2, ensure_min_features=2)
        n, p = X.shape
        ks = self._numbers(p)
        watcher = Watcher(type(self).__name__, self.verbose, callback, p * (p + 1) // 2)
        search = self._search()
        cv = self.cv
        if isinstance(cv, numbers.Integral):
            count = int(check_scalar(int(cv), "cv", int, min_val=2))
            cv = KFold(min(count, n), shuffle=True, random_state=seed(self.random_state))
        splits = check_cv(cv).split(X)
        folds = [(np.asarray(train, dtype=np.int64), np.asarray(test, dtype=np.int64)) for train, test in splits]
        samples = self._samples(X, search)
        found = _core.precision_scores(samples, search, ks, folds, watcher.callback())
        scores = np.array([row for row in found if row is not None])
        if not scores.size:
            raise RuntimeError(
                "Cross-validation was stopped before a fold was finished: there is nothing to choose from."
            )
        top = self._choose(scores, [float(len(test)) for row, (_, test) in zip(found, folds) if row is not None], ks)
        path = _core.precision_path(samples, search, ks[: top + 1], None, watcher.callback())
        watcher.close(f"chose k={self.k_}")
        self._store(path[-1])
        return self

    def _numbers(self, p: int) -> list[int]:
        pairs = p * (p - 1) // 2
        if self.ks is None:
            return sorted({k for k in (0, p // 2, p, 3 * p // 2, 2 * p, 3 * p, 4 * p) if k <= pairs})
        ks = sorted({check_k(k, pairs, PAIRS) for k in np.atleast_1d(np.asarray(self.ks, dtype=object))})
        if not ks:
            raise ValueError("ks must hold at least one k.")
        return ks

    def _choose(self, scores: Floats, sizes: Sequence[float], ks: Sequence[int]) -> int:
        found = _core.choose([(k, 0.0) for k in ks], scores, sizes, self.rule)
        top, mean = found["index"], found["mean"]
        self.k_, self.best_score_ = int(ks[top]), float(mean[top])
        self.cv_results_ = {
            "params": [{"k": k} for k in ks],
            "param_k": np.array(ks),
            "mean_test_score": mean,
            "std_test_score": scores.std(axis=0),
            "rank_test_score": _ranks(mean),
            "std_error": found["std_error"],
            **{f"split{fold}_test_score": row for fold, row in enumerate(scores)},
        }
        return top
