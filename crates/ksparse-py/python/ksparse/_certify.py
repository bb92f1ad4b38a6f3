"""How far a fit can be from the best model of its size."""

from __future__ import annotations

import numbers
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_scalar
from sklearn.utils.validation import check_is_fitted

from . import _core
from ._base import MORE_TIME, SparseLinearModel
from ._validation import as_design, check_alpha, check_k


@dataclass(frozen=True)
class Certificate:
    """What is proven about a fit.

    Attributes
    ----------
    objective : float
        f at the fit.
    lower_bound : float
        No model with at most k coefficients has a lower f.
    gap : float
        Their difference: the fit is at most this far from the best.
    relative_gap : float
        The gap as a share of the objective.
    certified : bool
        Whether the relative gap is within the tolerance: the fit is proven optimal, to that tolerance.
    relaxation : float
        No bound of this kind goes beyond it, however long one searches.
    conditions : dict
        The conditions of sparse strong duality at the fit, under which the bound closes: ``stationarity``, the largest
        gradient on its columns; ``smallest_inside``, its smallest coefficient in size; ``largest_outside``, the largest
        gradient elsewhere over alpha; ``separated``, whether the second is no less than the third; ``imbalance``, what
        the dual vector misses the sum 0 by that an intercept asks for.
    message : str
        The same in a sentence.
    seconds : float
        Time spent.
    history : dict of ndarray
        Bound and relaxation after every epoch, with the seconds.
    """

    objective: float
    lower_bound: float
    gap: float
    relative_gap: float
    certified: bool
    relaxation: float
    conditions: dict[str, float]
    message: str
    seconds: float
    history: dict[str, NDArray[np.float64]]

    def __repr__(self) -> str:
        return f"Certificate({self.message})"


def certify(
    estimator: SparseLinearModel,
    X: Any,
    y: Any,
    sample_weight: Any = None,
    *,
    tol: float = 1e-6,
    max_epochs: int = 100,
    time_limit: float | None = None,
) -> Certificate | list[Certificate]:
    """A proven bound on how far a fitted model is from the best one with at most k coefficients.

    The problem is NP-hard, so no solver knows that its answer is the best. But duality gives numbers that no model of
    that size goes below; the largest that can be found is compared with the fit. A gap of nearly 0 proves the fit
    optimal; a wide one proves nothing against it: the bound may be weak, as it is for a tiny alpha or strongly
    correlated columns.

    Parameters
    ----------
    estimator : fitted estimator
        With a positive alpha.
    X, y, sample_weight : array-like
        The data it was fitted to.
    tol : float, default=1e-6
        A relative gap up to this counts as a proof.
    max_epochs : int, default=100
        At most so many rounds of ascent; 0 takes the bound the fit itself gives.
    time_limit : float or None, default=None
        At most so many seconds.

    Returns
    -------
    certificate : Certificate
        For three classes and more, a list of them, one per class.

    Examples
    --------
    >>> import ksparse
    >>> X, y, coef = ksparse.datasets.make_classification(300, 40, 5, correlation=0.5, random_state=3)
    >>> model = ksparse.SparseLogisticRegression(k=5, alpha=0.05).fit(X, y)
    >>> ksparse.certify(model, X, y).lower_bound <= model.objective_
    True
    """
    if not isinstance(estimator, SparseLinearModel):
        raise TypeError(f"certify takes a fitted linear estimator of this package, got {type(estimator).__name__}.")
    check_is_fitted(estimator)
    max_epochs = int(check_scalar(max_epochs, "max_epochs", numbers.Integral, min_val=0))
    tol = float(check_scalar(tol, "tol", numbers.Real, min_val=0.0))
    alpha = check_alpha(getattr(estimator, "alpha_", getattr(estimator, "alpha", 0.0)))
    if alpha == 0:
        raise ValueError("A bound needs a ridge: fit with a positive alpha.")
    k = check_k(getattr(estimator, "k_", getattr(estimator, "k", None)), estimator.n_features_in_)
    rows, intercepts = estimator._rows(), np.ravel(estimator.intercept_)
    X, targets, weights = clone(estimator)._prepare(X, y, sample_weight)
    if X.shape[1] != rows.shape[1] or len(targets) != len(rows):
        raise ValueError(
            f"The estimator was fitted to {rows.shape[1]} features and other classes than these data have."
        )
    search = estimator._search(X.shape[1])
    design = as_design(X, search["threads"], estimator.device)
    search["time_limit"] = None if time_limit is None else float(time_limit)
    found = []
    for target, coef, intercept in zip(targets, rows, intercepts):
        support = np.flatnonzero(coef)
        model = support.tolist(), coef[support].astype(np.float64).tolist(), float(intercept)
        data = estimator._data(design, target, weights)
        found.append(Certificate(**_core.certify(data, search, k, alpha, model, tol, max_epochs)))
        if time_limit is not None and not found[-1].certified and found[-1].seconds >= time_limit:
            warnings.warn(f"The time limit was reached: {MORE_TIME}.", ConvergenceWarning, stacklevel=2)
    return found[0] if len(found) == 1 else found
