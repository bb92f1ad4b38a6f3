"""Data with a sparse truth, seeded: the same numbers as the library's own simulations, whatever the machine's
threads."""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils import check_scalar

from . import _core
from ._validation import seed

Floats = NDArray[np.float64]

__all__ = ["make_classification", "make_network", "make_regression", "make_text"]


def _size(value: Any, name: str, least: int = 1) -> int:
    return int(check_scalar(value, name, numbers.Integral, min_val=least))


def _sizes(n_samples: Any, n_features: Any, n_informative: Any) -> tuple[int, int, int]:
    n, p = _size(n_samples, "n_samples"), _size(n_features, "n_features")
    return n, p, _size(n_informative, "n_informative", 0)


def _seed(random_state: Any) -> int:
    """An integer is the seed itself: the same data as the Rust library's for that seed."""
    return int(random_state) if isinstance(random_state, numbers.Integral) else seed(random_state)


def _coef(raw: dict[str, Any], n_features: int) -> Floats:
    coef = np.zeros(n_features)
    coef[raw["support"]] = raw["coef"]
    return coef


def _with_truth(raw: dict[str, Any], n_features: int) -> tuple[Floats, Floats, Floats]:
    return raw["samples"].T, raw["target"], _coef(raw, n_features)


def make_regression(
    n_samples: int = 200,
    n_features: int = 1000,
    n_informative: int = 10,
    *,
    correlation: float = 0.0,
    noise: float = 0.5,
    random_state: Any = 0,
) -> tuple[Floats, Floats, Floats]:
    """Gaussian rows, coefficients of random sign and size U(1, 2) at random places, gaussian noise.

    Parameters
    ----------
    n_samples, n_features, n_informative : int
        Sizes.
    correlation : float, default=0
        Columns i and j have correlation ``correlation ** |i - j|``; 0.9 is hard.
    noise : float, default=0.5
        Standard deviation of the noise.
    random_state : int or RandomState, default=0
        An int is the seed of the library's generator.

    Returns
    -------
    X : ndarray of shape (n_samples, n_features), in Fortran order
    y : ndarray of shape (n_samples,)
    coef : ndarray of shape (n_features,)
        The truth.
    """
    n, p, k = _sizes(n_samples, n_features, n_informative)
    return _with_truth(_core.simulate_linear(n, p, k, float(correlation), float(noise), _seed(random_state)), p)


def make_classification(
    n_samples: int = 500,
    n_features: int = 1000,
    n_informative: int = 10,
    *,
    correlation: float = 0.0,
    random_state: Any = 0,
) -> tuple[Floats, Floats, Floats]:
    """Gaussian rows, coefficients N(0, 1) at random places, labels -1 and +1 with ``P(y = 1) = 1 / (1 + exp(-2 x'w))``.

    Parameters
    ----------
    n_samples, n_features : int
        Rows and columns.
    n_informative : int
        How many columns have a coefficient.
    correlation : float, default=0
        Columns i and j have correlation ``correlation ** |i - j|``.
    random_state : int or RandomState, default=0
        An int is the seed of the library's generator.

    Returns
    -------
    X : ndarray of shape (n_samples, n_features), in Fortran order
    y : ndarray of shape (n_samples,)
    coef : ndarray of shape (n_features,)
        The truth.
    """
    n, p, k = _sizes(n_samples, n_features, n_informative)
    return _with_truth(_core.simulate_logistic(n, p, k, float(correlation), _seed(random_state)), p)


def make_text(
    n_samples: int = 20_000, n_features: int = 47_236, *, mean_tokens: float = 80.0, random_state: Any = 0
) -> tuple[sp.csc_matrix, Floats, Floats]:
    """Bags of words with tf-idf values and unit rows, labels -1 and +1 from a sparse logistic model.

    The defaults have the shape of rcv1.binary: some 75 entries a row.

    Parameters
    ----------
    n_samples, n_features : int
        Documents and words.
    mean_tokens : float, default=80
        Mean length of a document.
    random_state : int or RandomState, default=0
        An int is the seed of the library's generator.

    Returns
    -------
    X : scipy.sparse.csc_matrix of shape (n_samples, n_features)
    y : ndarray of shape (n_samples,)
    coef : ndarray of shape (n_features,)
        The truth.
    """
    n, p = _size(n_samples, "n_samples"), _size(n_features, "n_features")
    raw = _core.simulate_text(n, p, float(mean_tokens), _seed(random_state))
    X = sp.csc_matrix((raw["data"], raw["indices"], raw["indptr"]), shape=(n, p))
    return X, raw["target"], _coef(raw, p)


def make_network(n_samples: int = 100, n_features: int = 30, *, random_state: Any = 0) -> tuple[Floats, Floats]:
    """Gaussian samples whose precision matrix is sparse: each pair is an edge with probability 0.1.

    Parameters
    ----------
    n_samples, n_features : int
        Sizes.
    random_state : int or RandomState, default=0
        An int is the seed of the library's generator.

    Returns
    -------
    X : ndarray of shape (n_samples, n_features), in Fortran order
    precision : ndarray of shape (n_features, n_features)
        The truth.
    """
    n, p = _size(n_samples, "n_samples"), _size(n_features, "n_features")
    raw = _core.simulate_precision(n, p, _seed(random_state))
    return raw["samples"].T, raw["precision"]
