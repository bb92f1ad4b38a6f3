"""Cox regression of survival times."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted

from . import _core
from ._base import Callback
from ._docs import AT_TIMES, described, documented
from ._joint import JointCrossValidated, SparseJointModel
from ._parameters import JointFit, parameters
from ._validation import TAKES, check_weights, validate

if TYPE_CHECKING:
    from typing_extensions import Self


def survival(y: Any) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Times and events: of a structured array as scikit-survival has it, or of two columns, time and event."""
    y = y.to_records(index=False) if hasattr(y, "to_records") and not _numeric(y) else np.asarray(y)
    if y.dtype.names is not None:
        fields = {name: y.dtype[name].name for name in y.dtype.names}
        events = [name for name in fields if y.dtype[name].kind == "b"]
        times = [name for name in fields if y.dtype[name].kind in "fiu"]
        if len(fields) != 2 or len(events) != 1 or len(times) != 1:
            raise ValueError(
                "y must have two fields, a boolean one (whether the event happened) and a number (the time), got "
                f"{fields}: make the event one with a comparison, as y['event'] == 'died'."
            )
        time, event = y[times[0]], y[events[0]]
    elif y.ndim == 2 and y.shape[1] == 2:
        time, event = y[:, 0], y[:, 1]
        known = np.isin(event, [0, 1])
        if not known.all():
            raise ValueError(
                f"The events in the second column of y must be 0 (censored) or 1, got {event[~known][0]} in row "
                f"{int(np.flatnonzero(~known)[0])}: the first column is the time."
            )
    else:
        raise ValueError(
            "y must be a structured array of events and times, as of scikit-survival, or an array of two columns, "
            f"time and event (0 or 1), got shape {y.shape}."
        )
    time = check_array(time, ensure_2d=False, dtype=np.float64, order="C", input_name="time")
    return np.ascontiguousarray(time), np.ascontiguousarray(event, dtype=bool)


def _numeric(frame: Any) -> bool:
    """Whether no column of a data frame is boolean."""
    return all(kind.kind != "b" for kind in frame.dtypes)


@parameters
class _Cox(SparseJointModel):
    """Fits and predictions of survival times."""

    _SCORES = ("concordance", "deviance")
    ties: str = "efron"

    def fit(  # type: ignore[override]
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        entry: Any = None,
        strata: Any = None,
        groups: Any = None,
        callback: Callback | None = None,
    ) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The data.
        y : structured array of shape (n_samples,), or array-like of shape (n_samples, 2)
            Survival times: a boolean field (whether the event happened) and a field of times, as scikit-survival has
            it; or two columns, the time and the event (1, or 0 where the row is censored).
        sample_weight : array-like of shape (n_samples,), default=None
            Weights. With ties='breslow' integers mean repeated samples.
        entry : array-like of shape (n_samples,), default=None
            When watching began, if not at 0: before the time it ended.
        strata : array-like of shape (n_samples,), default=None
            Labels of strata, each with a baseline hazard of its own.
        groups : array-like of shape (n_samples,), default=None
            For splitters that keep groups of samples together.
        callback : callable, default=None
            Called once per iteration with a `Progress`; returning True or raising StopIteration ends the fit.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        X = validate(self, X, **TAKES)
        time, event = survival(y)
        if len(time) != X.shape[0]:
            raise ValueError(f"X has {X.shape[0]} rows and y {len(time)}.")
        weights = check_weights(sample_weight, X.shape[0])
        if entry is not None:
            entry = check_array(entry, ensure_2d=False, dtype=np.float64, order="C", input_name="entry")
        self.strata_, codes = None, None
        if strata is not None:
            self.strata_, codes = np.unique(np.asarray(strata), return_inverse=True)
            codes = np.ascontiguousarray(codes, dtype=np.int64)
        data = self._observed("cox", weights, time=time, event=event, entry=entry, strata=codes, ties=self.ties)
        self._fit(X, data, event, groups, callback)
        self.coef_ = self.coef_[0]
        self.intercept_ = X.dtype.type(0)
        self.unique_times_ = np.unique(np.concatenate([times for times, _, _ in self._baselines]))
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict risks: the logarithm of the hazard beside the baseline's, the linear predictor.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        risk : ndarray of shape (n_samples,)
            Higher means sooner.
        """
        scores: NDArray[Any] = self._scores(X)[:, 0]
        return scores

    @described(AT_TIMES.format(result="hazard"))
    def predict_cumulative_hazard_function(self, X: Any, times: Any = None, strata: Any = None) -> NDArray[Any]:
        """Predict the cumulative hazard, by Breslow's estimate of the baseline."""
        risk = self.predict(X).astype(np.float64)
        times = self.unique_times_ if times is None else np.asarray(times, dtype=np.float64)
        codes = self._strata_of(strata, len(risk))
        hazard = np.zeros((len(risk), len(times)))
        for code, (steps, values, reference) in enumerate(self._baselines):
            rows = codes == code
            reached = np.concatenate([[0.0], values])[np.searchsorted(steps, times, side="right")]
            hazard[rows] = np.exp(risk[rows] - reference)[:, None] * reached
        return hazard

    @described(AT_TIMES.format(result="survival"))
    def predict_survival_function(self, X: Any, times: Any = None, strata: Any = None) -> NDArray[Any]:
        """Predict the probability that nothing has happened by some times."""
        survival: NDArray[Any] = np.exp(-self.predict_cumulative_hazard_function(X, times, strata))
        return survival

    def _strata_of(self, strata: Any, rows: int) -> NDArray[np.intp]:
        check_is_fitted(self)
        if self.strata_ is None:
            return np.zeros(rows, dtype=np.intp)
        if strata is None:
            raise ValueError("The model was fitted with strata, each with a baseline of its own: give strata=.")
        strata = np.asarray(strata)
        unknown = ~np.isin(strata, self.strata_)
        if unknown.any():
            raise ValueError(f"{strata[unknown][0]!r} is none of the strata the model was fitted with.")
        codes: NDArray[np.intp] = np.searchsorted(self.strata_, strata)
        return codes

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Harrell's concordance: the share of comparable pairs that the risks order as the times do.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        y : structured array of shape (n_samples,), or array-like of shape (n_samples, 2)
            Survival times, as in `fit`.
        sample_weight : array-like of shape (n_samples,), default=None
            A pair counts the product of its weights.

        Returns
        -------
        concordance : float
        """
        time, event = survival(y)
        risk = np.ascontiguousarray(self.predict(X), dtype=np.float64)
        return _core.concordance(risk, time, event, None, check_weights(sample_weight, len(time)))


@documented
@parameters
class SparseCoxRegression(_Cox, JointFit):
    """Cox regression of survival times with at most k coefficients.

    Minimises, over coefficients w with at most k non-zeros::

        f(w) = (1 / n) sum over events i of (log sum_j exp(x_j'w) - x_i'w)  +  (alpha / 2) ||w||^2

    where j runs over those at risk when i has its event: minus the mean partial log-likelihood. There is no intercept:
    the baseline hazard takes it up.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        Coefficients, at most k of them not zero beside those kept.
    intercept_ : float
        0.
    unique_times_ : ndarray
        The times of events.
    strata_ : ndarray or None
        The labels of the strata.

    Examples
    --------
    >>> import numpy as np
    >>> from ksparse import SparseCoxRegression
    >>> random = np.random.default_rng(1)
    >>> X = random.normal(size=(200, 30))
    >>> life, end = random.exponential(np.exp(-X[:, 3] + 0.8 * X[:, 8])), random.uniform(0, 4, size=200)
    >>> y = np.rec.fromarrays([life <= end, np.minimum(life, end)], names="event,time")
    >>> model = SparseCoxRegression(k=2).fit(X, y)
    >>> model.support_, model.score(X, y) > 0.75
    (array([3, 8]), True)
    """


@documented
@parameters
class SparseCoxRegressionCV(JointCrossValidated, _Cox):
    """Cox regression of survival times with at most k coefficients, k and the ridges chosen by
    cross-validation.

    The objective is that of `SparseCoxRegression`.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        Coefficients of the model chosen.
    intercept_ : float
        0.
    unique_times_ : ndarray
        The times of events.
    strata_ : ndarray or None
        The labels of the strata.
    """
