"""Estimators whose target is more than a number per row: what they share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin

from . import _core
from ._base import Callback, SparseLinearModel
from ._labels import numbered, weighed
from ._parameters import ClassWeight, JointChoice
from ._progress import Watcher
from ._search import Comparing, splits_of
from ._validation import (
    TAKES,
    as_design,
    check_alpha,
    check_k,
    countable,
    validate,
)

if TYPE_CHECKING:
    from typing_extensions import Self

    from ._core import JointData, JointModel


class SparseJointModel(SparseLinearModel):
    """At most k columns, one linear predictor of them per output; subclasses say what is observed."""

    # k counts columns, or groups of them, whatever the number of outputs.
    warm_start = False

    def _observed(self, kind: str, weights: NDArray[np.float64] | None, **given: Any) -> JointData:
        """A description for the core, without the design."""
        data: Any = dict.fromkeys(("time", "event", "entry", "strata", "classes", "responses"))
        data.update(kind=kind, weights=weights, ties="efron", count=1, standardize=bool(self.standardize))
        data.update(penalty_factors=self._penalties())
        data.update(intercept=bool(getattr(self, "fit_intercept", False)), **given)
        described: JointData = data
        return described

    def _fit(self, X: Any, data: JointData, labels: Any, groups: Any, callback: Callback | None) -> None:
        """One fit. (What splits need is for those who choose.)"""
        n_features = X.shape[1]
        search = self._search(n_features)
        data["design"] = as_design(X, search["threads"], self.device)
        k, alpha = check_k(self.k, countable(n_features, search["groups"])), check_alpha(self.alpha)
        watcher = Watcher(type(self).__name__, self.verbose, callback, n_features)
        found = _core.fit_joint(data, search, k, alpha, watcher.callback())
        watcher.close(found["message"])
        self._keep_model(found, X.dtype)

    def _keep_model(self, found: JointModel, dtype: Any) -> None:
        """Fitted attributes, and a warning if the search was not finished."""
        self._store([found], dtype)  # type: ignore[list-item]
        # No bound is known.
        del self.lower_bound_, self.dual_gap_

    def _set_models(self, models: Any, dtype: Any) -> None:
        (found,) = models
        coef = np.zeros((found["coef"].shape[0], self.n_features_in_), dtype=dtype)
        coef[:, found["support"]] = found["coef"]
        self.coef_ = coef
        self.intercept_ = np.asarray(found["intercept"], dtype=dtype)
        self.support_ = np.flatnonzero(coef.any(axis=0))
        self._baselines = found["baselines"]
        self._thresholds = found["thresholds"]


class SparseJointClassifier(ClassifierMixin, SparseJointModel, ClassWeight):  # type: ignore[misc]
    """Classes of which all probabilities are modelled together."""

    _SCORES = ("deviance", "error")
    #: The loss, by the core's name.
    _KIND: str

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
        self.classes_, codes = self._ordered(*numbered(y))
        weights = weighed(self.class_weight, self.classes_, codes, y, sample_weight)
        classes = np.ascontiguousarray(codes, dtype=np.int64)
        data = self._observed(self._KIND, weights, classes=classes, count=len(self.classes_))
        self._fit(X, data, codes, groups, callback)
        return self

    def _ordered(self, found: NDArray[Any], codes: NDArray[np.intp]) -> tuple[NDArray[Any], NDArray[np.intp]]:
        """The classes and the samples' in another order than that of the labels."""
        return found, codes

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

    def predict_proba(self, X: Any) -> NDArray[Any]:
        """Probabilities of the classes."""
        raise NotImplementedError


class JointCrossValidated(Comparing, JointChoice):
    """The choice of k and the ridges beside such an estimator."""

    def _fit(self: Any, X: Any, data: JointData, labels: Any, groups: Any, callback: Callback | None) -> None:
        self._check_rule()
        if self.scoring is not None and self.scoring not in self._SCORES:
            raise ValueError(f"scoring must be one of {self._SCORES} or None, got {self.scoring!r}.")
        n_features = X.shape[1]
        search = self._search(n_features)
        comparison = self._comparison(countable(n_features, search["groups"]))
        classes = labels is not None and len(np.unique(labels)) > 1
        splits = splits_of(self.cv, self.random_state, X, labels, classes, groups)
        data["design"] = as_design(X, search["threads"], self.device)
        watcher = Watcher(type(self).__name__, self.verbose, callback, n_features)
        found = _core.choose_joint(data, search, comparison, splits, self.scoring, watcher.callback())
        watcher.close("; ".join([f"chose k={found['k']}, alpha={found['alpha']:g}", *found["edges"]]))
        self._describe(found)
        (predictor,) = found["predictors"]
        self._keep_model(predictor, X.dtype)
        self._keep_average([predictor], X.dtype)
