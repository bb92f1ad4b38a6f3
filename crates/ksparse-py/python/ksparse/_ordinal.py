"""Classes that have an order: proportional odds."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from ._docs import documented
from ._joint import JointCrossValidated, SparseJointClassifier
from ._parameters import JointFit, parameters


@parameters
class _Ordinal(SparseJointClassifier):
    """Fits and predictions of ordered classes."""

    _KIND = "ordinal"
    levels: Any = None

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        # Classes that lie around each other have no order that a line could show.
        tags.classifier_tags.poor_score = True
        return tags

    def _ordered(self, found: NDArray[Any], codes: NDArray[np.intp]) -> tuple[NDArray[Any], NDArray[np.intp]]:
        return (found, codes) if self.levels is None else _in_order(self.levels, found, codes)

    def _set_models(self, models: Any, dtype: Any) -> None:
        super()._set_models(models, dtype)
        self.coef_ = self.coef_[0]
        self.thresholds_ = np.asarray(self._thresholds, dtype=np.float64)
        # The cut points stand in its place.
        self.intercept_ = 0.0

    def linear_predictor(self, X: Any) -> NDArray[Any]:
        """What the cut points divide: the larger, the higher the class.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        z : ndarray of shape (n_samples,)
        """
        scores: NDArray[Any] = self._scores(X)[:, 0]
        return scores

    def predict_proba(self, X: Any) -> NDArray[Any]:
        """Probabilities of the classes.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes)
            In the order of ``classes_``.
        """
        z = self._scores(X).astype(np.float64)
        below, above = expit(self.thresholds_ - z), expit(z - self.thresholds_)
        first, last = below[:, :1], above[:, -1:]
        # s(a) - s(b) = s(a) s(-b) (1 - exp(b - a)): nothing cancels.
        between = below[:, 1:] * above[:, :-1] * -np.expm1(-np.diff(self.thresholds_))
        probabilities: NDArray[Any] = np.hstack([first, between, last])
        return probabilities

    def predict_log_proba(self, X: Any) -> NDArray[Any]:
        """Logarithms of the probabilities of the classes.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        logarithms : ndarray of shape (n_samples, n_classes)
        """
        with np.errstate(divide="ignore"):
            logarithms: NDArray[Any] = np.log(self.predict_proba(X))
        return logarithms


def _in_order(levels: Any, found: NDArray[Any], codes: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """The classes as listed, and the place of every row's among them."""
    known, listed = found.tolist(), list(levels)
    if len(set(listed)) < len(listed):
        raise ValueError(f"levels name a label twice: {listed!r}.")
    if missing := [label for label in known if label not in listed]:
        raise ValueError(f"levels leave out {missing[0]!r}, which is in y: name every label, the lowest first.")
    if unknown := [label for label in listed if label not in known]:
        raise ValueError(f"levels name {unknown[0]!r}, which no row of y has: leave it out.")
    order = np.array([known.index(label) for label in listed])
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    return found[order], place[codes]


@documented
@parameters
class SparseOrdinalRegression(_Ordinal, JointFit):
    """Proportional odds for ordered classes, on at most k columns.

    Minimises, over coefficients w with at most k non-zeros and cut points t_0 < t_1 < ...::

        f(w, t) = -(1 / n) sum_i log P(y_i)  +  (alpha / 2) ||w||^2,      P(y <= c) = 1 / (1 + exp(x'w - t_c))

    Attributes
    ----------
    thresholds_ : ndarray of shape (n_classes - 1,)
        The cut points between each class and the next.

    Examples
    --------
    >>> import numpy as np
    >>> from ksparse import SparseOrdinalRegression
    >>> X = np.random.default_rng(0).normal(size=(200, 10))
    >>> y = np.digitize(2 * X[:, 3] - X[:, 6], [-1, 1])
    >>> SparseOrdinalRegression(k=2, alpha=1e-3).fit(X, y).support_
    array([3, 6])
    """


@documented
@parameters
class SparseOrdinalRegressionCV(JointCrossValidated, _Ordinal):
    """Proportional odds for ordered classes on at most k columns, k and the ridges chosen by
    cross-validation.

    The objective is that of `SparseOrdinalRegression`.

    Attributes
    ----------
    thresholds_ : ndarray of shape (n_classes - 1,)
        The cut points between each class and the next.
    """
