"""What all linear estimators share."""

from __future__ import annotations

import numbers
import warnings
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_selection import SelectorMixin
from sklearn.utils import check_scalar
from sklearn.utils.validation import check_is_fitted

from . import _core
from ._categories import expanded
from ._device import DeviceMatrix
from ._names import OtherNames
from ._parameters import Columns
from ._progress import Watcher
from ._results import Progress
from ._validation import (
    TAKES,
    Names,
    as_design,
    check_alpha,
    check_bounds,
    check_total,
    check_groups,
    check_k,
    check_keep,
    check_offset,
    check_penalty_factors,
    countable,
    seed,
    thread_count,
    validate,
)

if TYPE_CHECKING:
    from typing_extensions import Self

    from ._core import Data, Design, Model, Search

Callback = Callable[[Progress], object]
#: Support, coefficients and intercept.
Start = tuple[list[int], list[float], float]
Prepared = tuple[Any, list[NDArray[np.float64]], NDArray[np.float64] | None]

#: What would help where that is worth a warning, by the core's name for it.
ADVICE = {
    "more-iterations": "increase max_iter, or start again from here with warm_start=True",
    "shorter-step": "the step is too long: leave it to the solver, or shorten it",
    "add-ridge": "the classes are separable and the coefficients grow without end: use a positive alpha",
}
#: The same where time was up, of a fit and of a bound.
MORE_TIME = "this is the best found by then; increase time_limit"


def advise(found: Any) -> None:
    """Warns of a search that was not finished, saying what would help."""
    advice = MORE_TIME if found["status"] == "time-limit" else ADVICE.get(found["remedy"])
    if advice is not None:
        warnings.warn(f"{found['message']}: {advice}.", ConvergenceWarning, stacklevel=4)


class SparseLinearModel(OtherNames, SelectorMixin, BaseEstimator, Columns):  # type: ignore[misc]
    """At most k coefficients of a linear predictor; subclasses choose the loss and say what a prediction is."""

    # What not all of them have.
    k: int | float | None
    alpha: float
    fit_intercept: bool
    groups: Any
    warm_start: bool
    #: Columns of words of a data frame are taken, as indicators.
    _takes_words = True

    # The loss, by the core's name, and its parameter.

    def _loss(self) -> tuple[str, float | None]:
        raise NotImplementedError

    # Problems for the core.

    def _data(
        self,
        design: Design,
        target: NDArray[np.float64],
        weights: NDArray[np.float64] | None,
        offset: NDArray[np.float64] | None = None,
    ) -> Data:
        loss, parameter = self._loss()
        return {
            "design": design,
            "target": target,
            "weights": weights,
            "offset": offset,
            "loss": loss,
            "loss_parameter": parameter,
            "intercept": bool(self.fit_intercept),
            "standardize": bool(self.standardize),
            "penalty_factors": self._penalties(),
        }

    def _penalties(self) -> NDArray[np.float64] | None:
        """What alpha is multiplied by for each column."""
        return check_penalty_factors(self.penalty_factors, self.n_features_in_, Names(self))

    def _search(self, n_features: int) -> Search:
        if not isinstance(self.solver, str):
            raise TypeError(f"solver must be a string, got {type(self.solver).__name__}.")
        options = {} if self.solver_options is None else dict(self.solver_options)
        time_limit = self.time_limit
        if time_limit is not None:
            time_limit = float(check_scalar(time_limit, "time_limit", numbers.Real, min_val=0.0))
        max_iter = self.max_iter
        if max_iter is not None:
            max_iter = int(check_scalar(max_iter, "max_iter", numbers.Integral, min_val=1))
        return {
            "solver": self.solver,
            "tol": None if self.tol is None else float(check_scalar(self.tol, "tol", numbers.Real, min_val=0.0)),
            "max_iter": max_iter,
            "time_limit": time_limit,
            "options": options,
            "keep": check_keep(self.keep, n_features, Names(self)),
            "groups": check_groups(self.groups, n_features, Names(self)),
            "bounds": check_bounds(
                getattr(self, "nonnegative", False), getattr(self, "bounds", None), n_features, Names(self)
            ),
            "total": check_total(getattr(self, "total", None)),
            "threads": thread_count(self.n_jobs),
            "seed": seed(self.random_state),
        }

    def _epochs(self) -> int:
        """How long to look for a lower bound."""
        certify = getattr(self, "certify", False)
        if isinstance(certify, bool):
            return 100 * int(certify)
        return int(check_scalar(certify, "certify", int, min_val=0))

    # Fitting.

    def _prepare(self, X: Any, y: Any, sample_weight: Any) -> Prepared:
        """Checked data, a target for every linear predictor to fit, and sample weights."""
        raise NotImplementedError

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        offset: Any = None,
        coef_init: Any = None,
        intercept_init: Any = None,
        callback: Callback | None = None,
    ) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The data. float32 and float64 in Fortran order and CSC matrices are read where they lie; other layouts are
            copied once.
        y : array-like of shape (n_samples,)
            The target: numbers for regression, labels (numbers or strings) for classification.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights; integers mean repeated samples. Those of `class_weight` are multiplied in.
        offset : array-like of shape (n_samples,), default=None
            What is added to the linear predictor of every sample, the logarithm of an exposure for example. For
            regressions.
        coef_init : array-like of shape (n_features,) or (n_classes, n_features), default=None
            Where the search starts, in the units of X: cut to the k largest. None is zero, or the last fit with
            `warm_start`.
        intercept_init : float or array-like of shape (n_classes,), default=None
            The intercept there, 0 where it is left out.
        callback : callable, default=None
            Called once per iteration with a `Progress`; returning True or raising StopIteration ends the fit with the
            best point so far.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        X, targets, weights = self._prepare(X, y, sample_weight)
        added = check_offset(offset, X.shape[0])
        n_features = X.shape[1]
        search = self._search(n_features)
        design = as_design(X, search["threads"], self.device)
        k, alpha = check_k(self.k, countable(n_features, search["groups"])), check_alpha(self.alpha)
        starts = self._starts(len(targets), n_features, coef_init, intercept_init)
        models = []
        for row, target in enumerate(targets):
            watcher = Watcher(type(self).__name__, self.verbose, callback, n_features)
            data, start = self._data(design, target, weights, added), starts[row]
            models.append(_core.fit(data, search, k, alpha, start, watcher.callback(), self._epochs()))
            watcher.close(models[-1]["message"])
        self._store(models, X.dtype)
        return self

    def _starts(self, rows: int, n_features: int, coef: Any, intercept: Any) -> list[Start | None]:
        """Where each search starts: as given, or as `_start` has it."""
        if coef is None:
            if intercept is not None:
                raise ValueError("intercept_init goes with coef_init: give both, or neither.")
            return [self._start(row, n_features) for row in range(rows)]
        given = np.atleast_2d(np.asarray(coef, dtype=np.float64))
        shifts = np.zeros(rows) if intercept is None else np.ravel(np.asarray(intercept, dtype=np.float64))
        if given.shape != (rows, n_features) or shifts.shape != (rows,):
            raise ValueError(
                f"coef_init must have the shape {(rows, n_features)} and intercept_init {(rows,)}; they have "
                f"{given.shape} and {shifts.shape}."
            )
        supports = [np.flatnonzero(row) for row in given]
        return [(s.tolist(), row[s].tolist(), float(b)) for s, row, b in zip(supports, given, shifts)]

    def _start(self, row: int, n_features: int) -> Start | None:
        """The last fit as a starting point, where it is wanted and fits."""
        if not self.warm_start or not hasattr(self, "coef_"):
            return None
        coef = self._rows()
        if coef.shape[1] != n_features or row >= coef.shape[0]:
            return None
        support = np.flatnonzero(coef[row])
        return support.tolist(), coef[row, support].astype(np.float64).tolist(), float(np.ravel(self.intercept_)[row])

    def _store(self, models: Sequence[Model], dtype: Any) -> None:
        """Fitted attributes, and a warning if a search was not finished."""
        self._set_models(models, dtype)
        single = len(models) == 1
        self.n_iter_ = max(1, *(model["n_iter"] for model in models), 1)
        self.n_refits_ = sum(model["n_refits"] for model in models)
        self.objective_ = models[0]["objective"] if single else np.array([model["objective"] for model in models])
        bounds = [model.get("lower_bound", 0.0) for model in models]
        self.lower_bound_ = bounds[0] if single else np.array(bounds)
        self.dual_gap_ = np.maximum(self.objective_ - self.lower_bound_, 0.0) if not single else max(
            0.0, self.objective_ - self.lower_bound_
        )
        self.status_ = models[0]["status"] if single else [model["status"] for model in models]
        self.dual_vector_ = models[0]["dual_vector"] if single else [model["dual_vector"] for model in models]
        self.trace_ = models[0]["trace"] if single else [model["trace"] for model in models]
        held = [model["at_bounds"] for model in models if "at_bounds" in model]
        if held:
            self.at_bounds_ = np.unique(np.concatenate(held))
        elif hasattr(self, "at_bounds_"):
            del self.at_bounds_
        for model in models:
            advise(model)

    def _set_models(self, models: Sequence[Model], dtype: Any) -> None:
        """What predictions need: a row of coefficients per model."""
        coef = np.zeros((len(models), self.n_features_in_), dtype=dtype)
        for row, model in zip(coef, models):
            row[model["support"]] = model["coef"]
        self.coef_: NDArray[Any] = coef
        self.intercept_: Any = np.array([model["intercept"] for model in models], dtype=dtype)
        # Of columns that are the same some have the coefficient 0.
        self.support_ = np.flatnonzero(coef.any(axis=0))

    def _rows(self) -> NDArray[Any]:
        """The coefficients, a row per model."""
        coef: Any = self.coef_
        return coef.toarray() if sp.issparse(coef) else np.atleast_2d(coef)

    def sparsify(self) -> Self:
        """Keep `coef_` as a sparse matrix, a row per model, as linear models of scikit-learn do; predictions stay.

        Returns
        -------
        self
        """
        check_is_fitted(self)
        if not sp.issparse(self.coef_):
            self._dense_shape = self.coef_.shape
            self.coef_ = sp.csr_matrix(np.atleast_2d(self.coef_))
        return self

    def densify(self) -> Self:
        """Keep `coef_` as an array again.

        Returns
        -------
        self
        """
        check_is_fitted(self)
        if sp.issparse(self.coef_):
            self.coef_ = self._rows().reshape(self._dense_shape)
        return self

    # Predicting.

    def _scores(self, X: Any) -> NDArray[Any]:
        """The linear predictor, a column per model."""
        check_is_fitted(self)
        X = validate(self, X, reset=False, **TAKES)
        coef, support = self._rows(), self.support_
        if isinstance(X, DeviceMatrix):
            there: NDArray[Any] = X.scores(support, coef) + np.ravel(self.intercept_).astype(coef.dtype)
            return there
        # Only the columns in use are read, unless taking them out costs more than it saves.
        if not (sp.issparse(X) and X.format == "csr") and 4 * support.size < X.shape[1]:
            X, coef = X[:, support], coef[:, support]
        scores: NDArray[Any] = np.asarray(X @ coef.T) + np.ravel(self.intercept_).astype(coef.dtype)
        return scores

    def transform(self, X: Any) -> Any:
        """The columns in use; of a column of words its indicators."""
        check_is_fitted(self)
        return super().transform(expanded(self, X, reset=False))

    def _get_support_mask(self) -> NDArray[np.bool_]:
        check_is_fitted(self)
        mask = np.zeros(self.n_features_in_, dtype=bool)
        mask[self.support_] = True
        return mask

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.required = True
        return tags

    # Tags before scikit-learn 1.6.
    def _more_tags(self) -> dict[str, Any]:
        return {"requires_y": True, "preserves_dtype": [np.float64, np.float32]}
