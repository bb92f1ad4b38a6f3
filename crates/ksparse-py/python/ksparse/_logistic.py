"""Logistic regression with at most k coefficients per class."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit
from sklearn.utils.validation import check_is_fitted

from ._classifiers import SparseClassifier
from ._docs import documented
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
class SparseLogisticRegression(Probabilities, SparseClassifier):
    """Logistic regression with at most k coefficients.

    Minimises, over coefficients w with at most k non-zeros and an intercept b, for labels y_i = -1 and +1::

        f(w) = (1 / n) sum_i log(1 + exp(-scale y_i (x_i'w + b)))  +  (alpha / 2) ||w||^2

    (a weighted mean, if there are weights). scikit-learn's ``LogisticRegression(C=C)`` is this at k = n_features and
    alpha = 1 / (n C). Three classes and more: one against the rest, each class with k coefficients of its own.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    {attributes}

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

    def __init__(
        self,
        k: int | float | None = None,
        *,
        scale: float = 1.0,
        solver: str = "auto",
        alpha: float = 1e-5,
        fit_intercept: bool = True,
        standardize: bool = False,
        class_weight: Mapping[Any, float] | str | None = None,
        keep: Any = None,
        groups: Any = None,
        nonnegative: bool = False,
        bounds: Any = None,
        tol: float | None = None,
        max_iter: int | None = None,
        time_limit: float | None = None,
        solver_options: Mapping[str, object] | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        warm_start: bool = False,
        certify: bool | int = False,
        device: str | None = None,
        verbose: int = 0,
    ) -> None:
        super().__init__(
            k,
            solver=solver,
            alpha=alpha,
            fit_intercept=fit_intercept,
            standardize=standardize,
            class_weight=class_weight,
            keep=keep,
            groups=groups,
            nonnegative=nonnegative,
            bounds=bounds,
            tol=tol,
            max_iter=max_iter,
            time_limit=time_limit,
            solver_options=solver_options,
            random_state=random_state,
            n_jobs=n_jobs,
            warm_start=warm_start,
            certify=certify,
            device=device,
            verbose=verbose,
        )
        self.scale = scale

    def _loss(self) -> tuple[str, float | None]:
        return "logistic", positive_scale(self.scale)
