"""Regressions of counts, of positive numbers, and of numbers some of which are wild."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_scalar

from ._base import Prepared
from ._docs import documented
from ._parameters import parameters
from ._regression import RegressionFit, SparseRegression
from ._search import CrossValidated


class LogLink:
    """The mean is the exponential of the linear predictor."""

    def _mean(self, scores: NDArray[Any]) -> NDArray[Any]:
        mean: NDArray[Any] = np.exp(scores)
        return mean

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.target_tags.positive_only = True
        return tags

    def _more_tags(self) -> dict[str, Any]:
        return {**super()._more_tags(), "requires_positive_y": True}  # type: ignore[misc]


@parameters
class Width:
    """The width of the robust loss: given, or by the spread of the target."""

    width: float | None = None

    def _loss(self) -> tuple[str, float | None]:
        return "robust", self._width

    def _prepare(self, X: Any, y: Any, sample_weight: Any) -> Prepared:
        X, targets, weights = super()._prepare(X, y, sample_weight)  # type: ignore[misc]
        if self.width is None:
            # 1.345 deviations, the deviation by the median of the distances from the median.
            spread = 1.4826 * float(np.median(np.abs(targets[0] - np.median(targets[0]))))
            self._width = 1.345 * spread if spread > 0 else 1.345
        else:
            bounds = {"min_val": 0.0, "include_boundaries": "neither"}
            self._width = float(check_scalar(self.width, "width", (int, float), **bounds))
        return X, targets, weights


@documented
@parameters
class SparsePoissonRegression(LogLink, SparseRegression, RegressionFit):
    """Poisson regression of counts with at most k coefficients.

    Minimises, over coefficients w with at most k non-zeros and an intercept b, with z_i = x_i'w + b::

        f(w) = (1 / n) sum_i (exp(z_i) - y_i z_i + y_i log y_i - y_i)  +  (alpha / 2) ||w||^2

    which is half the mean deviance of counts with mean exp(z). An offset in `fit` is the logarithm of an exposure.

    Examples
    --------
    >>> import numpy as np
    >>> from ksparse import SparsePoissonRegression
    >>> X = np.random.default_rng(1).normal(size=(200, 30))
    >>> y = np.random.default_rng(2).poisson(np.exp(X[:, 3] - 0.5 * X[:, 8]))
    >>> SparsePoissonRegression(k=2).fit(X, y).support_
    array([3, 8])
    """

    alpha: float = 1e-5

    def _loss(self) -> tuple[str, float | None]:
        return "poisson", None


@documented
@parameters
class SparseGammaRegression(LogLink, SparseRegression, RegressionFit):
    """Gamma regression of positive numbers with at most k coefficients.

    Minimises, over coefficients w with at most k non-zeros and an intercept b, with z_i = x_i'w + b::

        f(w) = (1 / n) sum_i (y_i exp(-z_i) + z_i - 1 - log y_i)  +  (alpha / 2) ||w||^2

    which is half the mean deviance of gamma numbers with mean exp(z).
    """

    def _loss(self) -> tuple[str, float | None]:
        return "gamma", None


@documented
@parameters
class SparseRobustRegression(Width, SparseRegression, RegressionFit):
    """Huber's robust regression with at most k coefficients.

    Minimises, over coefficients w with at most k non-zeros and an intercept b, with z_i = x_i'w + b::

        f(w) = (1 / n) sum_i l(y_i - z_i)  +  (alpha / 2) ||w||^2

    with ``l(r) = r^2 / 2`` within the width and ``width |r| - width^2 / 2`` beyond: wild targets do not decide.
    """


@documented
@parameters
class SparsePoissonRegressionCV(LogLink, CrossValidated, SparseRegression):  # type: ignore[misc]
    """Poisson regression of counts with at most k coefficients, k and alpha chosen by cross-validation.

    The objective is that of `SparsePoissonRegression`. Every fold solves the whole grid of k and alpha, each solution
    from its neighbours; the folds run in parallel.
    """

    def _loss(self) -> tuple[str, float | None]:
        return "poisson", None


@documented
@parameters
class SparseGammaRegressionCV(LogLink, CrossValidated, SparseRegression):  # type: ignore[misc]
    """Gamma regression of positive numbers with at most k coefficients, k and alpha chosen by cross-validation.

    The objective is that of `SparseGammaRegression`. Every fold solves the whole grid of k and alpha, each solution
    from its neighbours; the folds run in parallel.
    """

    def _loss(self) -> tuple[str, float | None]:
        return "gamma", None


@documented
@parameters
class SparseRobustRegressionCV(Width, CrossValidated, SparseRegression):  # type: ignore[misc]
    """Huber's robust regression with at most k coefficients, k and alpha chosen by cross-validation.

    The objective is that of `SparseRobustRegression`. Every fold solves the whole grid of k and alpha, each solution
    from its neighbours; the folds run in parallel.
    """
