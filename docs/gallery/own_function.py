"""A function of your own

Quantile regression, smoothed: the 90th percentile of y from 3 of 30 columns, by `minimize` with a value and a gradient.
"""

import ksparse
import matplotlib.pyplot as plt
import numpy as np

rng = np.random.default_rng(3)
X = np.column_stack([np.ones(400), rng.normal(size=(400, 30))])
y = X[:, [5, 12]] @ [1.0, -1.0] + (0.3 + 0.5 * (X[:, 20] > 0)) * rng.normal(size=400)
level, width = 0.9, 0.1


def fun(w):
    """The tilted absolute residual, its corner rounded over `width`, and its gradient."""
    r = (y - X @ w) / width
    soft = np.logaddexp(0, r)
    slope = level - 1 + 1 / (1 + np.exp(-r))
    value = width * np.mean(soft + (level - 1) * r)
    return value, -(X.T @ slope) / len(y)


# The column of ones is in at no charge.
result = ksparse.minimize(fun, k=3, dim=31, keep=[0], solver="grahtp")
print("columns", *result.support, f"  {np.mean(y < X @ result.x):.3f} of the targets are below")

figure, ax = plt.subplots(figsize=(6, 4.5), layout="constrained")
ax.scatter(X @ result.x, y, s=12, alpha=0.6)
ax.axline((0, 0), slope=1, color="C1", label="predicted 90th percentile")
ax.set(xlabel="prediction", ylabel="y", title="Nine of ten targets below the line")
ax.legend(frameon=False)
