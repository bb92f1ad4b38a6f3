"""Estimators that choose k and the ridges by cross-validation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ._classifiers import SparseClassifier, hinge_name, positive_gamma
from ._docs import documented
from ._logistic import Probabilities
from ._regression import SparseLinearRegression, SparseRegression
from ._search import CrossValidated


class SparseRegressionCV(CrossValidated, SparseRegression):  # type: ignore[misc]
    """The constructor of regressions that choose k and alpha."""

    def __init__(
        self,
        ks: Any = None,
        *,
        alphas: Any = None,
        refit_alphas: Any = None,
        cv: Any = None,
        scoring: Any = None,
        rule: str = "lean",
        resamples: int = 0,
        ensemble: bool = False,
        solver: str = "auto",
        fit_intercept: bool = True,
        standardize: bool = False,
        keep: Any = None,
        groups: Any = None,
        tol: float | None = None,
        max_iter: int | None = None,
        time_limit: float | None = None,
        solver_options: Mapping[str, object] | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        certify: bool | int = False,
        device: str | None = None,
        verbose: int = 0,
    ) -> None:
        self.ks = ks
        self.alphas = alphas
        self.refit_alphas = refit_alphas
        self.cv = cv
        self.scoring = scoring
        self.rule = rule
        self.resamples = resamples
        self.ensemble = ensemble
        self.solver = solver
        self.fit_intercept = fit_intercept
        self.standardize = standardize
        self.keep = keep
        self.groups = groups
        self.tol = tol
        self.max_iter = max_iter
        self.time_limit = time_limit
        self.solver_options = solver_options
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.certify = certify
        self.device = device
        self.verbose = verbose


@documented
class SparseLinearRegressionCV(SparseRegressionCV, SparseLinearRegression):  # type: ignore[misc]
    """Least squares with at most k coefficients, k and the ridges chosen by cross-validation.

    The objective is that of `SparseLinearRegression`. Without arguments, k and two ridges are chosen: one
    under which the columns are selected, one under which their coefficients are fitted, from ranges that suit the data.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        Coefficients of the model chosen.
    intercept_ : float
        Its intercept.
    {attributes}

    Examples
    --------
    >>> from ksparse import SparseLinearRegressionCV, datasets
    >>> X, y, coef = datasets.make_regression(200, 50, 4, noise=0.5, random_state=1)
    >>> model = SparseLinearRegressionCV().fit(X, y)
    >>> model.k_, (model.frequencies_[coef != 0] == 1).all()
    (4, np.True_)
    """

    def _loss(self) -> tuple[str, float | None]:
        return "squared", None


class SparseClassifierCV(CrossValidated, SparseClassifier):  # type: ignore[misc]
    """The constructor of classifiers that choose k and the ridges."""

    def __init__(
        self,
        ks: Any = None,
        *,
        alphas: Any = None,
        refit_alphas: Any = None,
        cv: Any = None,
        scoring: Any = None,
        rule: str = "lean",
        resamples: int = 0,
        ensemble: bool = False,
        solver: str = "auto",
        fit_intercept: bool = True,
        standardize: bool = False,
        class_weight: Mapping[Any, float] | str | None = None,
        keep: Any = None,
        groups: Any = None,
        tol: float | None = None,
        max_iter: int | None = None,
        time_limit: float | None = None,
        solver_options: Mapping[str, object] | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        certify: bool | int = False,
        device: str | None = None,
        verbose: int = 0,
    ) -> None:
        self.ks = ks
        self.alphas = alphas
        self.refit_alphas = refit_alphas
        self.cv = cv
        self.scoring = scoring
        self.rule = rule
        self.resamples = resamples
        self.ensemble = ensemble
        self.solver = solver
        self.fit_intercept = fit_intercept
        self.standardize = standardize
        self.class_weight = class_weight
        self.keep = keep
        self.groups = groups
        self.tol = tol
        self.max_iter = max_iter
        self.time_limit = time_limit
        self.solver_options = solver_options
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.certify = certify
        self.device = device
        self.verbose = verbose


@documented
class SparseLogisticRegressionCV(Probabilities, SparseClassifierCV):  # type: ignore[misc]
    """Logistic regression with at most k coefficients, k and the ridges chosen by cross-validation.

    The objective is that of `SparseLogisticRegression`. Without arguments, k and two ridges are chosen: one
    under which the columns are selected, one under which their coefficients are fitted, from ranges that suit the
    data. With three classes and more, one choice is made for all of them.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    {attributes}

    Examples
    --------
    >>> from ksparse import SparseLogisticRegressionCV, datasets
    >>> X, y, coef = datasets.make_classification(500, 50, 4, random_state=3)
    >>> model = SparseLogisticRegressionCV(ks=range(1, 9), rule="1se").fit(X, y)
    >>> len(model.path_) == 8 and model.support_.size == model.k_
    True
    """

    def _loss(self) -> tuple[str, float | None]:
        return "logistic", None


@documented
class SparseSVCCV(SparseClassifierCV):
    """A linear support vector machine with at most k coefficients, k and the ridges chosen by cross-validation.

    The objective is that of `SparseSVC`; see `SparseLogisticRegressionCV` for the choice.

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
        loss: str = "squared_hinge",
        alphas: Any = None,
        refit_alphas: Any = None,
        cv: Any = None,
        scoring: Any = None,
        rule: str = "lean",
        resamples: int = 0,
        ensemble: bool = False,
        solver: str = "auto",
        fit_intercept: bool = True,
        standardize: bool = False,
        class_weight: Mapping[Any, float] | str | None = None,
        keep: Any = None,
        groups: Any = None,
        tol: float | None = None,
        max_iter: int | None = None,
        time_limit: float | None = None,
        solver_options: Mapping[str, object] | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        certify: bool | int = False,
        device: str | None = None,
        verbose: int = 0,
    ) -> None:
        super().__init__(
            ks,
            alphas=alphas,
            refit_alphas=refit_alphas,
            cv=cv,
            scoring=scoring,
            rule=rule,
            resamples=resamples,
            ensemble=ensemble,
            solver=solver,
            fit_intercept=fit_intercept,
            standardize=standardize,
            class_weight=class_weight,
            keep=keep,
            groups=groups,
            tol=tol,
            max_iter=max_iter,
            time_limit=time_limit,
            solver_options=solver_options,
            random_state=random_state,
            n_jobs=n_jobs,
            certify=certify,
            device=device,
            verbose=verbose,
        )
        self.loss = loss

    def _loss(self) -> tuple[str, float | None]:
        return hinge_name(self.loss), None


@documented
class SparseHuberClassifierCV(SparseClassifierCV):
    """A linear classifier by the smoothed hinge loss with at most k coefficients, k and the ridges chosen by
    cross-validation.

    The objective is that of `SparseHuberClassifier`; see `SparseLogisticRegressionCV` for the choice.

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
        gamma: float = 0.25,
        alphas: Any = None,
        refit_alphas: Any = None,
        cv: Any = None,
        scoring: Any = None,
        rule: str = "lean",
        resamples: int = 0,
        ensemble: bool = False,
        solver: str = "auto",
        fit_intercept: bool = True,
        standardize: bool = False,
        class_weight: Mapping[Any, float] | str | None = None,
        keep: Any = None,
        groups: Any = None,
        tol: float | None = None,
        max_iter: int | None = None,
        time_limit: float | None = None,
        solver_options: Mapping[str, object] | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        certify: bool | int = False,
        device: str | None = None,
        verbose: int = 0,
    ) -> None:
        super().__init__(
            ks,
            alphas=alphas,
            refit_alphas=refit_alphas,
            cv=cv,
            scoring=scoring,
            rule=rule,
            resamples=resamples,
            ensemble=ensemble,
            solver=solver,
            fit_intercept=fit_intercept,
            standardize=standardize,
            class_weight=class_weight,
            keep=keep,
            groups=groups,
            tol=tol,
            max_iter=max_iter,
            time_limit=time_limit,
            solver_options=solver_options,
            random_state=random_state,
            n_jobs=n_jobs,
            certify=certify,
            device=device,
            verbose=verbose,
        )
        self.gamma = gamma

    def _loss(self) -> tuple[str, float | None]:
        return "huber", positive_gamma(self.gamma)
