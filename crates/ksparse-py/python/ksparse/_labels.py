"""Labels of classes: told apart, numbered, weighed."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import compute_class_weight
from sklearn.utils.multiclass import check_classification_targets

from ._validation import check_weights


def numbered(y: Any, who: str = "This solver") -> tuple[NDArray[Any], NDArray[np.intp]]:
    """The classes in their order, and the number of every sample's."""
    check_classification_targets(y)
    classes, codes = np.unique(y, return_inverse=True)
    if len(classes) < 2:
        raise ValueError(
            f"{who} needs samples of at least 2 classes in the data, but the data contains only one class: "
            f"{classes[0]}"
        )
    return classes, codes


def weighed(
    class_weight: Any, classes: NDArray[Any], codes: NDArray[np.intp], y: Any, sample_weight: Any
) -> NDArray[np.float64] | None:
    """Sample weights times those of the classes, by scikit-learn's rules, 'balanced' included."""
    weights = check_weights(sample_weight, len(codes))
    if class_weight is None:
        return weights
    factors = compute_class_weight(class_weight, classes=classes, y=y)
    return np.ascontiguousarray(factors[codes] * (1.0 if weights is None else weights))
