"""Processor seconds of scikit-learn's graphical lasso: `graphical_lasso.py SAMPLES fit|path K`, JSON to standard
output.

`fit`: the best of three fits at a penalty that leaves about K edges; the search for it is not timed. `path`: 20
penalties in geometric progression from the least that leaves no edge to a hundredth of it, each fitted from scratch as
`GraphicalLassoCV` does within a fold.
"""

from __future__ import annotations

import json
import sys
import time
import warnings

import numpy as np
from sklearn.covariance import GraphicalLasso

warnings.simplefilter("ignore")


def edges(samples: np.ndarray, penalty: float) -> int:
    """How many edges a penalty leaves."""
    precision = GraphicalLasso(alpha=penalty).fit(samples).precision_
    return int(np.count_nonzero(np.triu(precision, 1)))


def main() -> None:
    """See the head of this file."""
    samples, task, k = np.loadtxt(sys.argv[1], ndmin=2), sys.argv[2], int(sys.argv[3])
    strongest = float(np.abs(np.triu(np.cov(samples, rowvar=False, bias=True), 1)).max())
    if task == "fit":
        low, high = 0.01 * strongest, strongest
        for _ in range(12):
            penalty = float(np.sqrt(low * high))
            low, high = (low, penalty) if edges(samples, penalty) < k else (penalty, high)
        seconds, found = float("inf"), 0
        for _ in range(3):
            start = time.process_time()
            found = edges(samples, low)
            seconds = min(seconds, time.process_time() - start)
        print(json.dumps({"seconds": seconds, "edges": found}))
        return
    start = time.process_time()
    failed = 0
    for penalty in np.geomspace(strongest, 0.01 * strongest, 20):
        try:
            GraphicalLasso(alpha=penalty).fit(samples)
        except FloatingPointError:
            failed += 1
    print(json.dumps({"seconds": time.process_time() - start, "failed_fits": failed}))


if __name__ == "__main__":
    main()
