"""Models with at most k non-zero coefficients, found directly under that constraint.

Everything refers to one objective, a mean and not a sum::

    f(w) = ( sum_i c_i loss(x_i'w + b, y_i) ) / ( sum_i c_i )  +  (alpha / 2) ||w||^2,      ||w||_0 <= k

with sample weights c and an intercept b that is neither penalised nor counted in k.

Estimators: `SparseLinearRegression`, `SparseRobustRegression`, `SparsePoissonRegression`, `SparseGammaRegression`,
`SparseLogisticRegression`, `SparseSVC`, `SparseHuberClassifier`, `SparseMultinomialRegression`,
`SparseOrdinalRegression` (classes in an order), `SparseMultiTaskRegression` (several responses), `SparseCoxRegression`
(survival times), `SparsePrecision` (networks), `SparseLDA` (classes by such a network), and their ``...CV`` versions,
which choose k and alpha. A function of your own: `minimize`, and `minimize_cv`, which chooses k. All k of a sequence:
`path`. How far from the best a fit can be: `certify`. What the theorems promise: `theory`. Pictures: `plot_path`,
`plot_graph`, `plot_gap`.
"""

from . import datasets
from ._certify import Certificate, certify
from ._classifiers import SparseHuberClassifier, SparseSVC
from ._core import SOLVERS, __version__
from ._cox import SparseCoxRegression, SparseCoxRegressionCV
from ._cv import (
    SparseHuberClassifierCV,
    SparseLinearRegressionCV,
    SparseLogisticRegressionCV,
    SparseSVCCV,
)
from ._families import (
    SparseGammaRegression,
    SparseGammaRegressionCV,
    SparsePoissonRegression,
    SparsePoissonRegressionCV,
    SparseRobustRegression,
    SparseRobustRegressionCV,
)
from ._lda import SparseLDA
from ._logistic import SparseLogisticRegression
from ._minimize import minimize
from ._minimize_cv import minimize_cv
from ._multi_task import SparseMultiTaskRegression, SparseMultiTaskRegressionCV
from ._multinomial import SparseMultinomialRegression, SparseMultinomialRegressionCV
from ._ordinal import SparseOrdinalRegression, SparseOrdinalRegressionCV
from ._path import path
from ._plot import plot_gap, plot_graph, plot_path
from ._precision import SparsePrecision, SparsePrecisionCV
from ._regression import SparseLinearRegression
from ._results import MinimizeResult, PathResult, Progress
from ._theory import theory
from ._validation import KSparseWarning

__all__ = [
    "SOLVERS",
    "Certificate",
    "KSparseWarning",
    "MinimizeResult",
    "PathResult",
    "Progress",
    "SparseCoxRegression",
    "SparseCoxRegressionCV",
    "SparseGammaRegression",
    "SparseGammaRegressionCV",
    "SparseHuberClassifier",
    "SparseHuberClassifierCV",
    "SparseLDA",
    "SparseLinearRegression",
    "SparseLinearRegressionCV",
    "SparseLogisticRegression",
    "SparseLogisticRegressionCV",
    "SparseMultiTaskRegression",
    "SparseMultiTaskRegressionCV",
    "SparseMultinomialRegression",
    "SparseMultinomialRegressionCV",
    "SparseOrdinalRegression",
    "SparseOrdinalRegressionCV",
    "SparsePoissonRegression",
    "SparsePoissonRegressionCV",
    "SparsePrecision",
    "SparsePrecisionCV",
    "SparseRobustRegression",
    "SparseRobustRegressionCV",
    "SparseSVC",
    "SparseSVCCV",
    "__version__",
    "certify",
    "datasets",
    "minimize",
    "minimize_cv",
    "path",
    "plot_gap",
    "plot_graph",
    "plot_path",
    "theory",
]
