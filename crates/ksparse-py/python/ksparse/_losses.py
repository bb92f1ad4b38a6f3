"""The losses on predictions held out."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def deviance(loss: str, parameter: float | None, z: Floats, y: Floats, weights: Floats | None) -> float:
    """Twice the mean loss, summed over the predictors (columns of z and y); infinite for infinite predictions."""
    if not np.isfinite(z).all():
        return float("inf")
    margin = y * z
    short = np.maximum(0.0, 1.0 - margin)
    if loss == "squared":
        values = (y - z) ** 2 / 2
    elif loss == "logistic":
        values = np.logaddexp(0.0, -margin)
    elif loss == "squared-hinge":
        values = short**2 / 2
    elif loss == "hinge":
        values = short
    else:
        gamma = 0.25 if parameter is None else parameter
        values = np.where(short > gamma, short - gamma / 2, short**2 / (2 * gamma))
    return float(2.0 * np.average(values, axis=0, weights=weights).sum())
