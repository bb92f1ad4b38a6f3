"""Data that several tests share."""

import os

import numpy as np
import pytest

os.environ.setdefault("MPLBACKEND", "Agg")

import ksparse

ESTIMATORS = [
    ksparse.SparseLinearRegression,
    ksparse.SparseLogisticRegression,
    ksparse.SparseSVC,
    ksparse.SparseHuberClassifier,
    ksparse.SparseRobustRegression,
    ksparse.SparsePoissonRegression,
    ksparse.SparseGammaRegression,
]
CV_ESTIMATORS = [
    ksparse.SparseLinearRegressionCV,
    ksparse.SparseLogisticRegressionCV,
    ksparse.SparseSVCCV,
    ksparse.SparseHuberClassifierCV,
    ksparse.SparseRobustRegressionCV,
    ksparse.SparsePoissonRegressionCV,
    ksparse.SparseGammaRegressionCV,
]


@pytest.fixture
def regression():
    return ksparse.datasets.make_regression(120, 40, 4, correlation=0.5, noise=0.3, random_state=2)


@pytest.fixture
def classification():
    return ksparse.datasets.make_classification(200, 30, 4, correlation=0.3, random_state=5)


@pytest.fixture
def text():
    return ksparse.datasets.make_text(400, 900, mean_tokens=30, random_state=3)


def data_for(estimator, rng=None):
    """A small problem this estimator can fit."""
    rng = rng or np.random.default_rng(0)
    X = rng.normal(size=(80, 12))
    z = X[:, 1] - 2 * X[:, 5] + 0.1 * rng.normal(size=80)
    if "Classifier" in estimator.__name__ or "SVC" in estimator.__name__ or "Logistic" in estimator.__name__:
        return X, np.where(z > 0, "yes", "no")
    if "Poisson" in estimator.__name__:
        return X, np.floor(np.exp(0.3 * z + 3))
    return X, (np.exp(0.5 * z) if "Gamma" in estimator.__name__ else z)
