"""Classifiers with at most k coefficients per class."""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils import check_scalar
from sklearn.utils.validation import check_is_fitted

from ._base import Prepared, SparseLinearModel
from ._docs import documented
from ._labels import numbered, weighed
from ._parameters import ClassWeight, Fit, parameters
from ._validation import TAKES, validate


class SparseClassifier(ClassifierMixin, SparseLinearModel, ClassWeight):  # type: ignore[misc]
    """Two classes by one linear predictor, more by one against the rest for each class."""

    def _prepare(self, X: Any, y: Any, sample_weight: Any) -> Prepared:
        X, y = validate(self, X, y, **TAKES)
        self.classes_, codes = numbered(y)
        weights = weighed(self.class_weight, self.classes_, codes, y, sample_weight)
        # -1 and +1: for the second class if there are two, for each class against the others if there are more.
        positive = range(1, 2) if len(self.classes_) == 2 else range(len(self.classes_))
        return X, [np.where(codes == code, 1.0, -1.0) for code in positive], weights

    def decision_function(self, X: Any) -> NDArray[Any]:
        """Confidence scores: the linear predictor.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        scores : ndarray of shape (n_samples,) or (n_samples, n_classes)
            For two classes, positive means ``classes_[1]``.
        """
        scores = self._scores(X)
        return scores[:, 0] if len(self.classes_) == 2 else scores

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict class labels.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        y : ndarray of shape (n_samples,)
        """
        check_is_fitted(self)
        scores = self.decision_function(X)
        codes = (scores > 0).astype(int) if scores.ndim == 1 else scores.argmax(axis=1)
        labels: NDArray[Any] = self.classes_[codes]
        return labels


@documented
@parameters
class SparseSVC(SparseClassifier, Fit):
    """A linear support vector machine with at most k coefficients.

    Minimises, over coefficients w with at most k non-zeros and an intercept b, for labels y_i = -1 and +1::

        f(w) = (1 / n) sum_i l(y_i (x_i'w + b))  +  (alpha / 2) ||w||^2

    with ``l(m) = max(0, 1 - m)^2 / 2`` (squared hinge) or ``l(m) = max(0, 1 - m)`` (hinge). Three classes and more: one
    against the rest, each class with k coefficients of its own.

    Examples
    --------
    >>> from ksparse import SparseSVC, datasets
    >>> X, y, coef = datasets.make_classification(500, 200, 5, random_state=3)
    >>> SparseSVC(k=5).fit(X, y).coef_.shape
    (1, 200)
    """

    loss: str = "squared_hinge"

    def _loss(self) -> tuple[str, float | None]:
        return hinge_name(self.loss), None


@documented
@parameters
class SparseHuberClassifier(SparseClassifier, Fit):
    """A linear classifier by the smoothed hinge loss, with at most k coefficients.

    Minimises, over coefficients w with at most k non-zeros and an intercept b, for labels y_i = -1 and +1::

        f(w) = (1 / n) sum_i l(y_i (x_i'w + b))  +  (alpha / 2) ||w||^2

    with ``l(m)`` = 0 for m >= 1, ``1 - m - gamma / 2`` for m < 1 - gamma, and ``(1 - m)^2 / (2 gamma)`` between. Three
    classes and more: one against the rest, each class with k coefficients of its own.

    Examples
    --------
    >>> from ksparse import SparseHuberClassifier, datasets
    >>> X, y, coef = datasets.make_classification(500, 200, 5, random_state=3)
    >>> SparseHuberClassifier(k=5, gamma=0.5).fit(X, y).support_.size
    5
    """

    gamma: float = 0.25

    def _loss(self) -> tuple[str, float | None]:
        return "huber", positive_gamma(self.gamma)


def hinge_name(loss: Any) -> str:
    """The core's name of a hinge loss."""
    if loss not in ("squared_hinge", "hinge"):
        raise ValueError(f"loss must be 'squared_hinge' or 'hinge', got {loss!r}.")
    return str(loss).replace("_", "-")


def positive_gamma(gamma: Any) -> float:
    """The width of the smoothed hinge."""
    return float(check_scalar(gamma, "gamma", numbers.Real, min_val=0.0, include_boundaries="neither"))
