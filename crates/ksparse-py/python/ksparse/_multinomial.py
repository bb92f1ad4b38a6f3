"""Several classes from the same columns: multinomial regression."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_softmax, softmax
from sklearn.base import ClassifierMixin
from sklearn.utils import compute_class_weight
from sklearn.utils.multiclass import check_classification_targets

from ._base import Callback
from ._docs import documented
from ._joint import JointCrossValidated, SparseJointModel
from ._validation import TAKES, check_weights, validate

if TYPE_CHECKING:
    from typing_extensions import Self


class _Multinomial(ClassifierMixin, SparseJointModel):  # type: ignore[misc]
    """Fits and predictions of classes."""

    _SCORES = ("deviance", "error")
    class_weight: Mapping[Any, float] | str | None

    def fit(  # type: ignore[override]
        self, X: Any, y: Any, sample_weight: Any = None, *, groups: Any = None, callback: Callback | None = None
    ) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The data.
        y : array-like of shape (n_samples,)
            Labels, numbers or strings.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights; integers mean repeated samples. Those of `class_weight` are multiplied in.
        groups : array-like of shape (n_samples,), default=None
            For splitters that keep groups of samples together.
        callback : callable, default=None
            Called once per iteration with a `Progress`; returning True or raising StopIteration ends the fit.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        X, y = validate(self, X, y, **TAKES)
        check_classification_targets(y)
        self.classes_, codes = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            raise ValueError(
                "This solver needs samples of at least 2 classes in the data, but the data contains only one class: "
                f"{self.classes_[0]!r}"
            )
        weights = check_weights(sample_weight, X.shape[0])
        if self.class_weight is not None:
            factors = compute_class_weight(self.class_weight, classes=self.classes_, y=y)
            weights = np.ascontiguousarray(factors[codes] * (1.0 if weights is None else weights))
        classes = np.ascontiguousarray(codes, dtype=np.int64)
        data = self._observed("multinomial", weights, classes=classes, count=len(self.classes_))
        self._fit(X, data, codes, groups, callback)
        return self

    def decision_function(self, X: Any) -> NDArray[Any]:
        """The linear predictors.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        scores : ndarray of shape (n_samples,) or (n_samples, n_classes)
            One per class; for two classes the difference, positive for ``classes_[1]``.
        """
        scores = self._scores(X)
        return scores[:, 1] - scores[:, 0] if len(self.classes_) == 2 else scores

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict class labels.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        y : ndarray of shape (n_samples,)
        """
        # The predictors first: they say if there is no model yet.
        best = self._scores(X).argmax(axis=1)
        labels: NDArray[Any] = self.classes_[best]
        return labels

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
        probabilities: NDArray[Any] = softmax(self._scores(X), axis=1)
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
        logarithms: NDArray[Any] = log_softmax(self._scores(X), axis=1)
        return logarithms


@documented
class SparseMultinomialRegression(_Multinomial):
    """Multinomial logistic regression on at most k columns.

    Minimises, over a row of coefficients per class, all of them over the same k columns::

        f(W) = (1 / n) sum_i (log sum_c exp(x_i'w_c + b_c) - x_i'w_(y_i) - b_(y_i))  +  (alpha / 2) ||W||^2

    `SparseLogisticRegression` chooses k columns for every class apart, one class against the rest.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    {attributes}

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from ksparse import SparseMultinomialRegression
    >>> X, y = load_iris(return_X_y=True)
    >>> model = SparseMultinomialRegression(k=2, alpha=1e-3).fit(X, y)
    >>> model.support_, model.score(X, y) > 0.95
    (array([2, 3]), True)
    """

    def __init__(
        self,
        k: int | float | None = None,
        *,
        solver: str = "auto",
        alpha: float = 1e-5,
        fit_intercept: bool = True,
        standardize: bool = False,
        class_weight: Mapping[Any, float] | str | None = None,
        keep: Any = None,
        tol: float | None = None,
        max_iter: int | None = None,
        time_limit: float | None = None,
        solver_options: Mapping[str, object] | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        device: str | None = None,
        verbose: int = 0,
    ) -> None:
        self.k = k
        self.solver = solver
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.standardize = standardize
        self.class_weight = class_weight
        self.keep = keep
        self.tol = tol
        self.max_iter = max_iter
        self.time_limit = time_limit
        self.solver_options = solver_options
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.device = device
        self.verbose = verbose


@documented
class SparseMultinomialRegressionCV(JointCrossValidated, _Multinomial):
    """Multinomial logistic regression on at most k columns, k and alpha chosen by cross-validation.

    The objective is that of `SparseMultinomialRegression`.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    {attributes}
    """

    def __init__(
        self,
        ks: Any = None,
        *,
        alphas: Any = None,
        cv: Any = None,
        scoring: str | None = None,
        rule: str = "best",
        solver: str = "auto",
        fit_intercept: bool = True,
        standardize: bool = False,
        class_weight: Mapping[Any, float] | str | None = None,
        keep: Any = None,
        tol: float | None = None,
        max_iter: int | None = None,
        time_limit: float | None = None,
        solver_options: Mapping[str, object] | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        device: str | None = None,
        verbose: int = 0,
    ) -> None:
        self.ks = ks
        self.alphas = alphas
        self.cv = cv
        self.scoring = scoring
        self.rule = rule
        self.solver = solver
        self.fit_intercept = fit_intercept
        self.standardize = standardize
        self.class_weight = class_weight
        self.keep = keep
        self.tol = tol
        self.max_iter = max_iter
        self.time_limit = time_limit
        self.solver_options = solver_options
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.device = device
        self.verbose = verbose
