"""Regressions with at most k coefficients: least squares, and the family of numbers."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import RegressorMixin, clone

from . import _core
from ._base import Callback, Prepared, SparseLinearModel
from ._docs import documented
from ._parameters import Fit, parameters
from ._validation import TAKES, check_offset, check_weights, positive_scale, validate

if TYPE_CHECKING:
    from typing_extensions import Self


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


@parameters
class RegressionFit(Fit):
    """The parameters of a regression at a given k."""

    alpha: float = 0.0


@documented
@parameters
class SparseLinearRegression(SparseRegression, RegressionFit):
    """Least squares with at most k coefficients.

    Minimises, over coefficients w with at most k non-zeros and an intercept b::

        f(w) = (scale / 2n) sum_i (y_i - x_i'w - b)^2  +  (alpha / 2) ||w||^2

    (a weighted mean, if there are sample weights).

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

    scale: float = 1.0

    def _loss(self) -> tuple[str, float | None]:
        return "squared", positive_scale(self.scale)

    def fit_moments(
        self,
        gram: Any,
        cross: Any,
        square: float,
        n_samples: int,
        *,
        means: Any = None,
        target_mean: float = 0.0,
        callback: Callback | None = None,
    ) -> Self:
        """Fit the model to moments of the data instead of the data: what a database or a cluster can add up.

        Parameters
        ----------
        gram : array-like of shape (n_features, n_features)
            X'X.
        cross : array-like of shape (n_features,)
            X'y.
        square : float
            y'y.
        n_samples : int
            The number of rows they are sums over.
        means : array-like of shape (n_features,), default=None
            The means of the columns; without them no intercept is fitted.
        target_mean : float, default=0.0
            The mean of y, beside `means`.
        callback : callable, default=None
            As in `fit`.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        if self.standardize:
            raise ValueError("standardize needs rows: divide the moments by the deviations of the columns instead.")
        names = gram.columns if hasattr(gram, "columns") else None
        table = np.asarray(gram, dtype=np.float64)
        if table.ndim != 2 or table.shape[0] != table.shape[1]:
            raise ValueError(f"gram must be a square matrix, X'X; its shape is {table.shape}.")
        products = np.ascontiguousarray(cross, dtype=np.float64).ravel()
        centred = means is not None and self.fit_intercept
        centres = np.ascontiguousarray(means, dtype=np.float64).ravel() if centred else None
        given = None if centres is None else (centres, float(target_mean))
        x, y = _core.rows_of_moments(table.ravel(), products, float(square), int(n_samples), given)
        rows: Any = x.reshape(table.shape[0], -1).T
        if names is not None:
            pandas = sys.modules.get("pandas")
            rows = rows if pandas is None else pandas.DataFrame(rows, columns=names)
        fitted = clone(self).set_params(fit_intercept=False).fit(rows, y, callback=callback)
        for name, value in vars(fitted).items():
            if name.endswith("_"):
                setattr(self, name, value)
        if centres is not None:
            self.intercept_ = float(target_mean) - float(centres @ self.coef_)
        return self
