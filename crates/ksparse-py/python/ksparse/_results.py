"""What comes back beside estimators."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.optimize import OptimizeResult

if TYPE_CHECKING:
    from ._core import Solution


class MinimizeResult(OptimizeResult):  # type: ignore[misc]
    """What `minimize` found, in the manner of SciPy: a dictionary whose keys are attributes too.

    Attributes
    ----------
    x : ndarray of shape (dim,)
        The point.
    fun : float
        The function there.
    support : ndarray of int
        The coordinates that may be non-zero, ascending.
    success : bool
        Whether the method came to its own end.
    status : str
        Why it stopped, in a word.
    message : str
        The same for people.
    nit : int
        Iterations.
    nfev : int
        Evaluations of the function.
    trace : dict of ndarray
        One entry per iteration: objective, step, seconds, coordinates that entered and left.
    """


def minimize_result(solution: Solution, dim: int, nfev: int) -> MinimizeResult:
    """A solution of the core as SciPy's users expect it."""
    x = np.zeros(dim)
    x[solution["support"]] = solution["coef"]
    return MinimizeResult(
        x=x,
        fun=solution["objective"],
        support=solution["support"],
        success=solution["converged"],
        status=solution["status"],
        message=solution["message"],
        nit=solution["n_iter"],
        nfev=nfev,
        trace=solution["trace"],
    )


@dataclass(frozen=True)
class Progress:
    """What a callback is told once per iteration.

    Attributes
    ----------
    iteration : int
        Iterations done.
    objective : float
        f at the current point.
    support : ndarray of int
        Columns in use.
    coef : ndarray
        Their coefficients, in the units the solver works in (of the standardised columns, if they are).
    entered : int
        Columns that came in with this iteration.
    step : float or None
        The step length, where the method has one.
    seconds : float
        Since the solver began.
    k, alpha, fold, done, total : int, float, int, int, int, or None
        On paths and in cross-validation: what is being solved, and how much of it is done.
    """

    iteration: int
    objective: float
    support: NDArray[np.int64]
    coef: NDArray[np.float64]
    entered: int
    step: float | None
    seconds: float
    k: int | None = None
    alpha: float | None = None
    fold: int | None = None
    done: int | None = None
    total: int | None = None


def reporter(callback: Callable[[Progress], object], n_features: int) -> Callable[[dict[str, Any]], object]:
    """A callback for the core from one for users: the intercept, a last coordinate to the core, is left out."""

    def report(raw: dict[str, Any]) -> object:
        columns = raw["support"] < n_features
        return callback(Progress(**{**raw, "support": raw["support"][columns], "coef": raw["coef"][columns]}))

    return report


@dataclass(frozen=True, eq=False)
class PathResult(Sequence[Any]):
    """Solutions for a sequence of k, ascending.

    Attributes
    ----------
    ks : ndarray of int
        The values of k.
    objectives : ndarray
        f for each of them: it never rises with k.
    supports : list of ndarray
        The columns in use.
    coefs : scipy.sparse.csc_array of shape (n_features, len(ks))
        The coefficients, a column per k.
    intercepts : ndarray
        The intercepts.
    statuses : list of str
        Why each search stopped.
    alpha : float or None
        The ridge, where there is one.
    feature_names : ndarray or None
        Names of the columns.
    """

    ks: NDArray[np.int64]
    objectives: NDArray[np.float64]
    supports: list[NDArray[np.int64]]
    coefs: sp.csc_array
    intercepts: NDArray[np.float64]
    statuses: list[str]
    alpha: float | None = None
    feature_names: NDArray[Any] | None = None

    def __len__(self) -> int:
        return len(self.ks)

    def __getitem__(self, position: Any) -> Any:
        """k, objective, support and coefficients at a position."""
        if isinstance(position, slice):
            return [self[i] for i in range(*position.indices(len(self)))]
        column = range(len(self))[position]
        return self.ks[column], self.objectives[column], self.supports[column], self.coef(int(self.ks[column]))

    def __iter__(self) -> Iterator[Any]:
        return (self[i] for i in range(len(self)))

    def coef(self, k: int) -> NDArray[np.float64]:
        """All coefficients of the solution for this k."""
        places = np.flatnonzero(self.ks == k)
        if places.size == 0:
            raise KeyError(f"k={k} is not on this path; it has {', '.join(map(str, self.ks))}")
        dense: NDArray[np.float64] = self.coefs[:, [places[0]]].toarray().ravel()
        return dense

    def __repr__(self) -> str:
        return f"PathResult(ks={self.ks.tolist()}, objectives={np.array2string(self.objectives, precision=6)})"


def path_result(
    ks: Sequence[int],
    solutions: Sequence[Any],
    n_features: int,
    alpha: float | None = None,
    feature_names: NDArray[Any] | None = None,
) -> PathResult:
    """A path of the core, its coefficients as the columns of one sparse matrix."""
    solutions = list(solutions)
    pointers = np.cumsum([0, *(len(s["support"]) for s in solutions)])
    rows = np.concatenate([s["support"] for s in solutions]) if solutions else np.zeros(0, dtype=np.int64)
    values = np.concatenate([s["coef"] for s in solutions]) if solutions else np.zeros(0)
    return PathResult(
        ks=np.asarray(list(ks)[: len(solutions)], dtype=np.int64),
        objectives=np.array([s["objective"] for s in solutions]),
        supports=[s["support"] for s in solutions],
        coefs=sp.csc_array((values, rows, pointers), shape=(n_features, len(solutions))),
        intercepts=np.array([s.get("intercept", 0.0) for s in solutions]),
        statuses=[s["status"] for s in solutions],
        alpha=alpha,
        feature_names=feature_names,
    )
