"""Several classes from the same columns: multinomial regression."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray
from scipy.special import log_softmax, softmax

from ._docs import documented
from ._joint import JointCrossValidated, SparseJointClassifier
from ._parameters import JointFit, Intercept, parameters


class _Multinomial(SparseJointClassifier, Intercept):
    """Fits and predictions of classes."""

    _KIND = "multinomial"

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
@parameters
class SparseMultinomialRegression(_Multinomial, JointFit):
    """Multinomial logistic regression on at most k columns.

    Minimises, over a row of coefficients per class, all of them over the same k columns::

        f(W) = (1 / n) sum_i (log sum_c exp(x_i'w_c + b_c) - x_i'w_(y_i) - b_(y_i))  +  (alpha / 2) ||W||^2

    `SparseLogisticRegression` chooses k columns for every class apart, one class against the rest.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from ksparse import SparseMultinomialRegression
    >>> X, y = load_iris(return_X_y=True)
    >>> model = SparseMultinomialRegression(k=2, alpha=1e-3).fit(X, y)
    >>> model.support_, model.score(X, y) > 0.95
    (array([2, 3]), True)
    """


@documented
@parameters
class SparseMultinomialRegressionCV(JointCrossValidated, _Multinomial):
    """Multinomial logistic regression on at most k columns, k and the ridges chosen by
    cross-validation.

    The objective is that of `SparseMultinomialRegression`.
    """
