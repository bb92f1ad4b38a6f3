"""Estimators whose target is more than a number per row: what they share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from . import _core
from ._base import Callback, SparseLinearModel
from ._progress import Watcher
from ._search import KS, _ranks, _ridges, splits_of
from ._validation import as_design, check_alpha, check_k, check_ks, seed

if TYPE_CHECKING:
    from ._core import JointData, JointModel


class SparseJointModel(SparseLinearModel):
    """At most k columns, one linear predictor of them per output; subclasses say what is observed."""

    #: k counts columns, whatever the number of outputs.
    groups = None
    warm_start = False

    def __init__(
        self,
        k: int | float | None = None,
        *,
        solver: str = "auto",
        alpha: float = 1e-5,
        fit_intercept: bool = True,
        standardize: bool = False,
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
        self.keep = keep
        self.tol = tol
        self.max_iter = max_iter
        self.time_limit = time_limit
        self.solver_options = solver_options
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.device = device
        self.verbose = verbose

    def _observed(self, kind: str, weights: NDArray[np.float64] | None, **given: Any) -> JointData:
        """A description for the core, without the design."""
        data: Any = dict.fromkeys(("time", "event", "entry", "strata", "classes", "responses"))
        data.update(kind=kind, weights=weights, ties="efron", count=1, standardize=bool(self.standardize))
        data.update(intercept=bool(getattr(self, "fit_intercept", False)), **given)
        described: JointData = data
        return described

    def _fit(self, X: Any, data: JointData, labels: Any, groups: Any, callback: Callback | None) -> None:
        """One fit. (What splits need is for those who choose.)"""
        n_features = X.shape[1]
        search = self._search(n_features)
        data["design"] = as_design(X, search["threads"], self.device)
        k, alpha = check_k(self.k, n_features), check_alpha(self.alpha)
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
        self.support_ = found["support"]
        self._baselines = found["baselines"]
        self._thresholds = found["thresholds"]


class JointCrossValidated:
    """The choice of k and alpha beside such an estimator."""

    ks: Any
    alphas: Any
    cv: Any
    scoring: Any
    rule: str
    random_state: Any
    verbose: int

    def _fit(self: Any, X: Any, data: JointData, labels: Any, groups: Any, callback: Callback | None) -> None:
        if self.rule not in ("best", "lean", "1se"):
            raise ValueError(f"rule must be 'best', 'lean' or '1se', got {self.rule!r}.")
        if self.scoring is not None and self.scoring not in self._SCORES:
            raise ValueError(f"scoring must be one of {self._SCORES} or None, got {self.scoring!r}.")
        n_features = X.shape[1]
        search = self._search(n_features)
        ks = None if self.ks is None else check_ks(self.ks, n_features, KS)
        classes = labels is not None and len(np.unique(labels)) > 1
        splits = splits_of(self, X, labels, classes, groups)
        data["design"] = as_design(X, search["threads"], self.device)
        watcher = Watcher(type(self).__name__, self.verbose, callback, n_features)
        alphas = _ridges(self.alphas, "alphas")
        found = _core.choose_joint(
            data, search, ks, alphas, splits, self.scoring, self.rule, watcher.callback()
        )
        watcher.close(f"chose k={found['k']}, alpha={found['alpha']:g}")
        self.k_, self.alpha_ = found["k"], found["alpha"]
        mean, scores = found["mean"], found["scores"]
        self.best_score_ = float(mean[found["index"]])
        cells = zip(found["ks"].tolist(), found["alphas"].tolist())
        self.cv_results_ = {
            "params": [{"k": k, "alpha": alpha} for k, alpha in cells],
            "param_k": found["ks"],
            "param_alpha": found["alphas"],
            "mean_test_score": mean,
            "std_test_score": scores.std(axis=1),
            "rank_test_score": _ranks(mean),
            "std_error": found["std_error"],
            **{f"split{split}_test_score": scores[:, split] for split in range(scores.shape[1])},
        }
        self._keep_model(found, X.dtype)
