"""Shrinkage: the best k beside the lasso

Both are asked for ten columns of 500. The lasso shrinks what it keeps; k columns without a ridge are not shrunk.
"""

import ksparse
import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import lars_path

X, y, truth = ksparse.datasets.make_regression(120, 500, 10, correlation=0.5, noise=0.8, random_state=5)
model = ksparse.SparseLinearRegression(k=10).fit(X, y)
_, _, lasso = lars_path(X - X.mean(0), y - y.mean(), method="lasso")
# The last point of the lasso's path with ten columns.
lasso = lasso[:, np.flatnonzero((lasso != 0).sum(axis=0) == 10)[-1]]

figure, ax = plt.subplots(figsize=(8, 4), layout="constrained")
columns = np.flatnonzero((truth != 0) | (model.coef_ != 0) | (lasso != 0))
place = np.arange(len(columns))
ax.bar(place - 0.2, model.coef_[columns], 0.4, label="k = 10")
ax.bar(place + 0.2, lasso[columns], 0.4, label="lasso, ten columns")
ax.scatter(place, truth[columns], marker="_", s=500, color="C3", label="truth", zorder=3)
ax.axhline(0, color="0.5", linewidth=0.8)
ax.set_xticks(place, columns, rotation=90)
ax.set(xlabel="column", ylabel="coefficient", title="Ten columns of 500")
ax.legend(frameon=False, loc="upper left", bbox_to_anchor=(1, 1))
for name, coef in (("k = 10", model.coef_), ("lasso", lasso)):
    print(f"{name:7s} {int((truth[coef != 0] != 0).sum())} true columns, error {np.linalg.norm(coef - truth):.2f}")
