"""Estimators that choose k and the ridges by cross-validation."""

from __future__ import annotations

from ._classifiers import SparseClassifier, hinge_name, positive_gamma
from ._docs import documented
from ._logistic import Probabilities
from ._parameters import parameters
from ._regression import SparseRegression
from ._search import CrossValidated


@documented
@parameters
class SparseLinearRegressionCV(CrossValidated, SparseRegression):  # type: ignore[misc]
    """Least squares with at most k coefficients, k and the ridges chosen by cross-validation.

    The objective is that of `SparseLinearRegression`. Without arguments, k and two ridges are chosen: one
    under which the columns are selected, one under which their coefficients are fitted, from ranges that suit the data.

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


@documented
@parameters
class SparseLogisticRegressionCV(Probabilities, CrossValidated, SparseClassifier):  # type: ignore[misc]
    """Logistic regression with at most k coefficients, k and the ridges chosen by cross-validation.

    The objective is that of `SparseLogisticRegression`. Without arguments, k and two ridges are chosen: one
    under which the columns are selected, one under which their coefficients are fitted, from ranges that suit the
    data. With three classes and more, one choice is made for all of them.

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
@parameters
class SparseSVCCV(CrossValidated, SparseClassifier):  # type: ignore[misc]
    """A linear support vector machine with at most k coefficients, k and the ridges chosen by cross-validation.

    The objective is that of `SparseSVC`; see `SparseLogisticRegressionCV` for the choice.
    """

    loss: str = "squared_hinge"

    def _loss(self) -> tuple[str, float | None]:
        return hinge_name(self.loss), None


@documented
@parameters
class SparseHuberClassifierCV(CrossValidated, SparseClassifier):  # type: ignore[misc]
    """A linear classifier by the smoothed hinge loss with at most k coefficients, k and the ridges chosen by
    cross-validation.

    The objective is that of `SparseHuberClassifier`; see `SparseLogisticRegressionCV` for the choice.
    """

    gamma: float = 0.25

    def _loss(self) -> tuple[str, float | None]:
        return "huber", positive_gamma(self.gamma)
