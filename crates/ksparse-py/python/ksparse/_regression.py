"""Regressions with at most k coefficients: least squares, and the family of numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import RegressorMixin

from ._base import Prepared, SparseLinearModel
from ._docs import documented
from ._validation import TAKES, check_offset, check_weights, validate


class SparseRegression(RegressorMixin, SparseLinearModel):  # type: ignore[misc]
    """One linear predictor of a number."""

    def _prepare(self, X: Any, y: Any, sample_weight: Any) -> Prepared:
        X, y = validate(self, X, y, y_numeric=True, **TAKES)
        return X, [np.ascontiguousarray(y, dtype=np.float64)], check_weights(sample_weight, X.shape[0])

    def _set_models(self, models: Sequence[Any], dtype: Any) -> None:
        super()._set_models(models, dtype)
        self.coef_, self.intercept_ = self.coef_[0], self.intercept_[0]

    def predict(self, X: Any, offset: Any = None) -> NDArray[Any]:
        """Predict the target.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        offset : array-like of shape (n_samples,), default=None
            What is added to the linear predictor.

        Returns
        -------
        y : ndarray of shape (n_samples,)
            In the precision the model was fitted in.
        """
        scores = self._scores(X)[:, 0]
        added = check_offset(offset, scores.shape[0])
        return self._mean(scores if added is None else scores + added.astype(scores.dtype))

    def _mean(self, scores: NDArray[Any]) -> NDArray[Any]:
        """What is expected of y at a linear predictor."""
        return scores


@documented
class SparseLinearRegression(SparseRegression):
    """Least squares with at most k coefficients.

    Minimises, over coefficients w with at most k non-zeros and an intercept b::

        f(w) = (1 / 2n) sum_i (y_i - x_i'w - b)^2  +  (alpha / 2) ||w||^2

    (a weighted mean, if there are sample weights).

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        Coefficients, at most k of them not zero beside those kept.
    intercept_ : float
        The intercept.
    {attributes}

    Examples
    --------
    >>> from ksparse import SparseLinearRegression, datasets
    >>> X, y, coef = datasets.make_regression(200, 1000, 10, correlation=0.9, noise=0.5, random_state=1)
    >>> model = SparseLinearRegression(k=10).fit(X, y)
    >>> bool((model.support_ == coef.nonzero()[0]).all())
    True
    >>> model.status_
    'support-stable'
    """

    def _loss(self) -> tuple[str, float | None]:
        return "squared", None
