"""Several responses from the same columns: least squares."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import MultiOutputMixin, RegressorMixin

from ._base import Callback
from ._docs import documented
from ._joint import JointCrossValidated, SparseJointModel
from ._parameters import JointFit, Intercept, parameters
from ._validation import TAKES, check_weights, validate

if TYPE_CHECKING:
    from typing_extensions import Self


class _MultiTask(MultiOutputMixin, RegressorMixin, SparseJointModel, Intercept):  # type: ignore[misc]
    """Fits and predictions of several responses."""

    _SCORES = ("mse", "deviance")

    def fit(  # type: ignore[override]
        self, X: Any, y: Any, sample_weight: Any = None, *, groups: Any = None, callback: Callback | None = None
    ) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The data.
        y : array-like of shape (n_samples, n_targets)
            The responses; of shape (n_samples,) where there is one.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights; integers mean repeated samples.
        groups : array-like of shape (n_samples,), default=None
            For splitters that keep groups of samples together.
        callback : callable, default=None
            Called once per iteration with a `Progress`; returning True or raising StopIteration ends the fit.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        X, y = validate(self, X, y, multi_output=True, y_numeric=True, **TAKES)
        self._single, y = y.ndim == 1, y.reshape(X.shape[0], -1)
        responses = np.ascontiguousarray(y.T, dtype=np.float64).ravel()
        weights = check_weights(sample_weight, X.shape[0])
        data = self._observed("responses", weights, responses=responses, count=y.shape[1])
        self._fit(X, data, None, groups, callback)
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict the responses.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        y : ndarray of shape (n_samples, n_targets)
        """
        scores = self._scores(X)
        return scores[:, 0] if self._single else scores

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.single_output = False
        return tags

    def _more_tags(self) -> dict[str, Any]:
        return {**super()._more_tags(), "multioutput_only": True}


@documented
@parameters
class SparseMultiTaskRegression(_MultiTask, JointFit):
    """Least squares for several responses on at most k columns.

    Minimises, over a row of coefficients per response, all of them over the same k columns::

        f(W) = (1 / 2n) sum_i ||y_i - W x_i - b||^2  +  (alpha / 2) ||W||^2

    Attributes
    ----------
    coef_ : ndarray of shape (n_targets, n_features)
        Coefficients, in at most k columns beside those kept.
    intercept_ : ndarray of shape (n_targets,)
        The intercepts.

    Examples
    --------
    >>> import numpy as np
    >>> from ksparse import SparseMultiTaskRegression
    >>> random = np.random.default_rng(1)
    >>> X = random.normal(size=(100, 50))
    >>> Y = X[:, [7, 30]] @ random.normal(size=(2, 4)) + 0.1 * random.normal(size=(100, 4))
    >>> SparseMultiTaskRegression(k=2).fit(X, Y).support_
    array([ 7, 30])
    """

    alpha: float = 0.0


@documented
@parameters
class SparseMultiTaskRegressionCV(JointCrossValidated, _MultiTask):
    """Least squares for several responses on at most k columns, k and the ridges chosen by
    cross-validation.

    The objective is that of `SparseMultiTaskRegression`.

    Attributes
    ----------
    coef_ : ndarray of shape (n_targets, n_features)
        Coefficients of the model chosen.
    intercept_ : ndarray of shape (n_targets,)
        The intercepts.
    """
