"""Logistic regression with at most k coefficients per class."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit
from sklearn.utils.validation import check_is_fitted

from ._classifiers import SparseClassifier
from ._docs import documented
from ._parameters import Fit, parameters
from ._validation import positive_scale


class Probabilities:
    """Probabilities of a logistic model."""

    classes_: NDArray[Any]

    def predict_proba(self, X: Any) -> NDArray[Any]:
        """Class probabilities.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes)
            For three classes and more, those of each class against the rest, divided by their sum.
        """
        check_is_fitted(self)
        chances = expit(getattr(self, "scale", 1.0) * self.decision_function(X))  # type: ignore[attr-defined]
        if chances.ndim == 1:
            return np.column_stack([1 - chances, chances])
        total = chances.sum(axis=1, keepdims=True)
        # All classes improbable to the last digit: none is preferred.
        shares: NDArray[Any] = np.where(total > 0, chances / np.where(total > 0, total, 1), 1 / chances.shape[1])
        return shares.astype(chances.dtype)

    def predict_log_proba(self, X: Any) -> NDArray[Any]:
        """Logarithms of the class probabilities.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        log_probabilities : ndarray of shape (n_samples, n_classes)
        """
        with np.errstate(divide="ignore"):
            logarithms: NDArray[Any] = np.log(self.predict_proba(X))
        return logarithms


@documented
@parameters
class SparseLogisticRegression(Probabilities, SparseClassifier, Fit):
    """Logistic regression with at most k coefficients.

    Minimises, over coefficients w with at most k non-zeros and an intercept b, for labels y_i = -1 and +1::

        f(w) = (1 / n) sum_i log(1 + exp(-scale y_i (x_i'w + b)))  +  (alpha / 2) ||w||^2

    (a weighted mean, if there are weights). scikit-learn's ``LogisticRegression(C=C)`` is this at k = n_features and
    alpha = 1 / (n C). Three classes and more: one against the rest, each class with k coefficients of its own.

    Examples
    --------
    >>> from ksparse import SparseLogisticRegression, datasets
    >>> X, y, coef = datasets.make_classification(500, 200, 5, random_state=3)
    >>> model = SparseLogisticRegression(k=5).fit(X, y)
    >>> model.support_.size
    5
    >>> model.predict_proba(X).shape
    (500, 2)
    """

    scale: float = 1.0

    def _loss(self) -> tuple[str, float | None]:
        return "logistic", positive_scale(self.scale)
