"""Groups: curves that are in as a whole

Each of ten variables comes as five columns of a spline; k counts variables. Two of them matter, by a curve.
"""

import ksparse
import matplotlib.pyplot as plt
import numpy as np
from sklearn.preprocessing import SplineTransformer

rng = np.random.default_rng(2)
Z = rng.uniform(-2, 2, size=(250, 10))
y = np.sin(2 * Z[:, 1]) + 0.5 * Z[:, 6] ** 2 + 0.3 * rng.normal(size=250)
spline = SplineTransformer(n_knots=6, degree=3, include_bias=False).fit(Z)
X = spline.transform(Z)
groups = np.repeat(np.arange(10), X.shape[1] // 10)
model = ksparse.SparseLinearRegression(k=2, alpha=1e-4, groups=groups).fit(X, y)
selected = np.unique(groups[model.support_])
print("variables", *selected)

figure, axes = plt.subplots(1, len(selected), figsize=(8, 3.5), layout="constrained")
grid = np.linspace(-2, 2, 200)
truths = {1: np.sin(2 * grid), 6: 0.5 * grid**2}
for ax, variable in zip(axes, selected):
    at = np.zeros((200, 10))
    at[:, variable] = grid
    own = groups == variable
    curve = spline.transform(at)[:, own] @ model.coef_[own]
    ax.plot(grid, curve - curve.mean(), label="fitted")
    ax.plot(grid, truths[variable] - truths[variable].mean(), linestyle="--", label="true")
    ax.set(xlabel=f"variable {variable}", title="")
    ax.legend(frameon=False)
