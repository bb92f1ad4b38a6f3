"""Linear discriminant analysis with a precision matrix of k edges."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from ._labels import numbered
from ._names import OtherNames
from ._parameters import Edges, Size, parameters
from ._precision import SparsePrecision
from ._validation import validate

if TYPE_CHECKING:
    from typing_extensions import Self


@parameters
class SparseLDA(OtherNames, ClassifierMixin, BaseEstimator, Edges, Size):  # type: ignore[misc]
    """Classes by their means and a shared precision matrix of at most k edges.

    The score of class l is ``x'O m_l - m_l'O m_l / 2 + log pi_l``, with means m_l, frequencies pi_l and a precision
    matrix O that minimises ``-log det O + trace(S O)`` for the covariance S within classes; the largest score wins.

    Parameters
    ----------
    k : int, float or None, default=None
        The number of edges, as for `SparsePrecision`. ``GridSearchCV`` chooses one.
    solver, standardize, inner, xi, eigenvalue_bounds, solver_options
        As for `SparsePrecision`.
    tol, max_iter, time_limit, random_state, n_jobs, verbose
        As for `SparsePrecision`.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Class labels.
    means_ : ndarray of shape (n_classes, n_features)
        The means of the classes.
    priors_ : ndarray of shape (n_classes,)
        Their frequencies.
    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features)
        What `decision_function` multiplies X by: for two classes, the difference of the scores.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        What it adds.
    precision_ : ndarray of shape (n_features, n_features)
        O, in the units of X.
    n_iter_ : int
        Iterations of the search for it.
    network_ : SparsePrecision
        How it was found: edges, status, trace.
    n_features_in_, feature_names_in_
        The variables.

    Examples
    --------
    >>> import numpy as np
    >>> import ksparse
    >>> X, precision = ksparse.datasets.make_network(400, 6, random_state=3)
    >>> y = np.arange(400) % 2
    >>> model = ksparse.SparseLDA(k=4).fit(X + 2 * y[:, None], y)
    >>> len(model.network_.edges_), bool(model.score(X + 2 * y[:, None], y) > 0.9)
    (4, True)
    """

    def fit(self, X: Any, y: Any) -> Self:
        """Fit the rule.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples, one per row.
        y : array-like of shape (n_samples,)
            Their classes.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        X, y = validate(self, X, y, dtype=np.float64, ensure_min_samples=2, ensure_min_features=2)
        self.classes_, codes = numbered(y, "SparseLDA")
        counts = np.bincount(codes)
        self.priors_ = counts / counts.sum()
        self.means_ = np.array([X[codes == code].mean(axis=0) for code in range(len(self.classes_))])
        own = self.get_params(deep=False)
        self.network_ = SparsePrecision(assume_centered=True, **own).fit(X - self.means_[codes])
        self.precision_, self.n_iter_ = self.network_.precision_, self.network_.n_iter_
        directions = self.means_ @ self.precision_
        offsets = np.log(self.priors_) - 0.5 * np.sum(directions * self.means_, axis=1)
        if len(self.classes_) == 2:
            directions, offsets = directions[1:] - directions[:1], offsets[1:] - offsets[:1]
        self.coef_, self.intercept_ = directions, offsets
        return self

    def decision_function(self, X: Any) -> NDArray[Any]:
        """The scores of the classes.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        scores : ndarray of shape (n_samples,) or (n_samples, n_classes)
            For two classes their difference: positive means ``classes_[1]``.
        """
        check_is_fitted(self)
        X = validate(self, X, reset=False, dtype=np.float64)
        scores: NDArray[Any] = X @ self.coef_.T + self.intercept_
        return scores[:, 0] if len(self.classes_) == 2 else scores

    def predict(self, X: Any) -> NDArray[Any]:
        """The class with the largest score; ties go to the first.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        y : ndarray of shape (n_samples,)
        """
        scores = self.decision_function(X)
        codes = (scores > 0).astype(int) if scores.ndim == 1 else scores.argmax(axis=1)
        labels: NDArray[Any] = self.classes_[codes]
        return labels

    def predict_proba(self, X: Any) -> NDArray[Any]:
        """The probabilities of the classes under the Gaussian model.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes)
        """
        scores = self.decision_function(X)
        if scores.ndim == 1:
            scores = np.column_stack([np.zeros_like(scores), scores])
        chances: NDArray[Any] = softmax(scores, axis=1)
        return chances
