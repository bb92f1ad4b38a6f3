"""Solvers on correlated columns

Twelve of 600 columns matter, neighbours correlated: how many of the twelve each solver finds, from easy to hard.
"""

import ksparse
import matplotlib.pyplot as plt
import numpy as np

correlations = [0.5, 0.8, 0.9, 0.95]
figure, ax = plt.subplots(figsize=(7, 4), layout="constrained")
for solver in ("auto", "grasp", "grahtp", "foba", "fbs"):
    hits = []
    for correlation in correlations:
        draws = []
        for seed in (1, 2):
            X, y, truth = ksparse.datasets.make_regression(150, 600, 12, correlation=correlation, noise=0.3,
                                                           random_state=seed)  # fmt: skip
            model = ksparse.SparseLinearRegression(k=12, solver=solver).fit(X, y)
            draws.append(np.count_nonzero(truth[model.support_]))
        hits.append(np.mean(draws))
    ax.plot(correlations, hits, marker="o", markersize=4, label=solver, linewidth=2.5 if solver == "auto" else 1.2)
    print(f"{solver:7s}", *(f"{hit:5.1f}" for hit in hits))
ax.set(xlabel="correlation of neighbours", ylabel="true columns found, of 12", title="Mean of two draws")
ax.legend(frameon=False)
