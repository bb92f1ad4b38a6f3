"""Classes that have an order: proportional odds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit
from sklearn.base import ClassifierMixin
from sklearn.utils import compute_class_weight
from sklearn.utils.multiclass import check_classification_targets

from ._base import Callback
from ._docs import documented
from ._joint import JointCrossValidated, SparseJointModel
from ._validation import TAKES, check_weights, validate

if TYPE_CHECKING:
    from typing_extensions import Self


class _Ordinal(ClassifierMixin, SparseJointModel):  # type: ignore[misc]
    """Fits and predictions of ordered classes."""

    _SCORES = ("deviance", "error")
    class_weight: Mapping[Any, float] | str | None
    levels: Any

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        # Classes that lie around each other have no order that a line could show.
        tags.classifier_tags.poor_score = True
        return tags

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
        found, codes = np.unique(y, return_inverse=True)
        if len(found) < 2:
            raise ValueError(
                "This solver needs samples of at least 2 classes in the data, but the data contains only one class: "
                f"{found[0]!r}"
            )
        self.classes_, codes = (found, codes) if self.levels is None else _in_order(self.levels, found, codes)
        weights = check_weights(sample_weight, X.shape[0])
        if self.class_weight is not None:
            factors = compute_class_weight(self.class_weight, classes=self.classes_, y=y)
            weights = np.ascontiguousarray(factors[codes] * (1.0 if weights is None else weights))
        classes = np.ascontiguousarray(codes, dtype=np.int64)
        data = self._observed("ordinal", weights, classes=classes, count=len(self.classes_))
        self._fit(X, data, codes, groups, callback)
        return self

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

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict class labels: the most probable.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        y : ndarray of shape (n_samples,)
        """
        # The probabilities first: they say if there is no model yet.
        best = self.predict_proba(X).argmax(axis=1)
        labels: NDArray[Any] = self.classes_[best]
        return labels


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
class SparseOrdinalRegression(_Ordinal):
    """Proportional odds for ordered classes, on at most k columns.

    Minimises, over coefficients w with at most k non-zeros and cut points t_0 < t_1 < ...::

        f(w, t) = -(1 / n) sum_i log P(y_i)  +  (alpha / 2) ||w||^2,      P(y <= c) = 1 / (1 + exp(x'w - t_c))

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    {attributes}
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

    def __init__(
        self,
        k: int | float | None = None,
        *,
        solver: str = "auto",
        alpha: float = 1e-5,
        standardize: bool = False,
        levels: Any = None,
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
        self.standardize = standardize
        self.levels = levels
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
class SparseOrdinalRegressionCV(JointCrossValidated, _Ordinal):
    """Proportional odds for ordered classes on at most k columns, k and alpha chosen by cross-validation.

    The objective is that of `SparseOrdinalRegression`.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    {attributes}
    thresholds_ : ndarray of shape (n_classes - 1,)
        The cut points between each class and the next.
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
        standardize: bool = False,
        levels: Any = None,
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
        self.standardize = standardize
        self.levels = levels
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
